/* emu_trial.h - fault injection for the emulated GPUs: calls that fail, slow copies and kernels, and the most adverse orders of events that device.h
 * permits. For tests; programs have no option for it. emu.c asks for the faults when it opens a device; it and emu_engine.c carry them out.
 *
 * Words:    a *trial* is the set of faults that the emulated GPUs are to inject.
 * Asking:   by the environment, DF_EMU_TRIAL="fail=copy:3,slow=4:1,reorder=7", which each device reads when it is
 *           opened; or by dfr_emu_trial_use() in a test that has libdf in its own process.
 *               fail=CALL:N     the N-th such call on each device fails. It may be given several times
 *               slow=FACTOR     copies and kernels take so many times as long; slow=FACTOR:GPU, on that device alone
 *               reorder=SEED    what no order is promised for comes in another order
 * Failing:  a call fails where it is made. A *late* copy or launch is accepted and fails when it is executed, as on a real GPU: from then on the device
 *           executes nothing more, and an event after it reports the failure.
 * Reorder:  engines execute any stream whose next command can start. Copies move their bytes at either end of their time. Short pauses are inserted before
 *           commands, and before their completion is reported. So a user of the device can rely only on what follows from stream order and waits.
 * Threads:  a device's calls are counted by its worker alone. Each engine has random numbers of its own.
 */
#ifndef DFR_EMU_TRIAL_H
#define DFR_EMU_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/df.h"

#define DFR_EMU_TRIAL_VARIABLE "DF_EMU_TRIAL"

enum dfr_emu_call { DFR_EMU_CALL_OPEN, DFR_EMU_CALL_ALLOC, DFR_EMU_CALL_COPY, DFR_EMU_CALL_LAUNCH, DFR_EMU_CALL_EVENT,
                    DFR_EMU_CALL_WAIT, DFR_EMU_CALL_QUERY, DFR_EMU_CALL_LATE_COPY, DFR_EMU_CALL_LATE_LAUNCH,
                    DFR_EMU_CALLS };

struct dfr_emu_trial {                  /* all 0: nothing */
    uint64_t fail[DFR_EMU_CALLS];       /* by kind of call: the number of the one that fails, from 1 */
    double slow_factor;
    int slow_device;                    /* -1: all devices are slow */
    uint64_t reorder_seed;
};

/* Gets the trial for a device that is opened now. Fails with DF_E_ARGUMENT if the environment variable is malformed. */
int dfr_emu_trial_now(struct dfr_emu_trial *trial, struct df_error *error);

/* For tests: devices opened from now on use this trial (borrowed) in place of the environment's; NULL: the environment's again. Not while another thread opens
 * a device. */
void dfr_emu_trial_use(const struct dfr_emu_trial *trial);

/* Parses the text of the variable. */
int dfr_emu_trial_parse(const char *text, struct dfr_emu_trial *trial, struct df_error *error);

const char *dfr_emu_call_name(enum dfr_emu_call call);

#endif
