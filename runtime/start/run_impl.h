/* run_impl.h - the steps of a run's start that are not in run.c itself. Private to run*.c. prepare() in run.c calls
 * them in order, and run_free() frees what they allocate.
 */
#ifndef DFR_RUN_IMPL_H
#define DFR_RUN_IMPL_H

#include "runtime/engine/engine.h"

/* run.c */
/* Opens devices, makes memory and the plan, and starts the threads. calls: the run is a session's (session.c). Its waves
 * come in calls, and so it has run nothing yet. */
int dfr_run_open(const struct df_graph *graph, const struct df_options *options, bool calls, struct df_run **run,
                 struct df_error *error);

/* run_memory.c */
int dfr_run_make_staging(struct df_run *run, struct df_error *error);
int dfr_run_make_tokens(struct df_run *run, struct df_error *error);
int64_t dfr_run_wave_of(void *run, uint32_t slot);    /* the wave that is in the slot, in its pass */

/* run_workers.c */
int dfr_run_make_wakes(struct df_run *run, struct df_error *error);
int dfr_run_make_workers(struct df_run *run, struct df_error *error);
int dfr_run_make_gang_and_cores(struct df_run *run, struct df_error *error);
int dfr_run_make_loop(struct df_run *run, const struct df_plan *plan, struct df_error *error);
int dfr_run_start_threads(struct df_run *run, struct df_error *error);
void dfr_run_join(struct df_run *run);
bool dfr_run_join_for(struct df_run *run, double seconds); /* false: it has not ended in that time */
/* After dfr_run_join(): if a job failed, runs what is left of earlier waves, so that the earliest failure is reported. */
void dfr_run_drain(struct df_run *run);
void dfr_run_call(struct df_run *run);                /* the waves of a session's call, on the calling thread too */

/* feed.c */
int dfr_feed_create(struct df_run *run, struct df_error *error);
/* The run has no wave of the next n numbers, so that the one behind them goes into another slot. For graphs in which no node sees the waves in order. */
void dfr_feed_skip(struct df_run *run, uint32_t n);

/* run_trace.c */
int dfr_run_make_trace(struct df_run *run, struct df_error *error);
void dfr_run_name_rows(struct df_run *run);

#endif
