/* emu_trial.h - an emulated GPU that misbehaves on purpose (struct df_emu_trial, df.h): calls that fail, work that is
 * slow, and an order of events that is as unlucky as the rules of device.h allow.
 *
 * Failing:  a call fails where it is made; a *late* copy or launch is accepted and fails when it is carried out, as on
 *           a real GPU: from there on the device carries out nothing more, and an event after it says so.
 * Reorder:  engines take any stream whose next command can start, copies move their bytes at one end of the time they
 *           take or the other, and short pauses lie before commands and before their ends are told. Only what follows
 *           from the streams' own order and their waits is left to rely on.
 * Threads:  dfr_emu_fails() is the device's worker's; each engine has random numbers of its own.
 */
#ifndef DFR_EMU_TRIAL_H
#define DFR_EMU_TRIAL_H

#include <stdbool.h>

#include "runtime/df.h"

/* "copy:3,late-launch:1" into trial->fail; "2.5" or "4:1" (device 1) into slow; a seed from 1. false: *error says
 * what is wrong, without the option's name. */
bool dfr_emu_trial_fail(const char *text, struct df_emu_trial *trial, struct df_error *error);
bool dfr_emu_trial_slow(const char *text, struct df_emu_trial *trial, struct df_error *error);
bool dfr_emu_trial_reorder(const char *text, struct df_emu_trial *trial, struct df_error *error);
bool dfr_emu_trial_is_set(const struct df_emu_trial *trial);

const char *dfr_emu_call_name(enum df_emu_call call);

#endif
