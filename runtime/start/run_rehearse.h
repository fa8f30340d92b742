/* run_rehearse.h - the steps of df_run_start() that are specific to rehearsed runs, and the check of their options.
 * options.rehearse requests a rehearsal; dfr_rehearse_create() creates run->rehearsal. run.c, run_machine.c and
 * admit.c call the steps, program/args_device.c the check.
 */
#ifndef DFR_RUN_REHEARSE_H
#define DFR_RUN_REHEARSE_H

#include "runtime/engine/engine.h"

/* Do the options go together? DF_E_ARGUMENT if not. */
int dfr_rehearse_options(const struct df_options *options, struct df_error *error);

/* DF_E_ARGUMENT, DF_E_REFUSED: something is asked for that cannot be rehearsed. */
int dfr_rehearse_admit(const struct df_run *run, struct df_error *error);

/* As dfr_machine_find(): the machine is the platform as it is described. */
int dfr_rehearse_machine(struct df_run *run, const struct df_platform *described, struct df_error *error);

/* The units that have a time for the node, a bit each. */
uint32_t dfr_rehearse_units(const struct df_run *run, const struct df_times *times, uint32_t node);

/* Makes run->rehearsal, and run->watch.call. Needs choice.time_s, choice.able and inflight. Does nothing if the run is
 * not rehearsed. */
int dfr_rehearse_create(struct df_run *run, struct df_error *error);

/* Called just before the run's threads start. The calling thread is in nominal time from then on. */
void dfr_rehearse_begin(struct df_run *run);

#endif
