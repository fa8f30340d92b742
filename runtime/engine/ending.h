/* ending.h - the reasons for which a run ends at or before its last wave: failures, a request to end early, and the
 * ends of streams.
 *
 * Failures: the first failure stops the run: workers take no further jobs. df_run_wait() returns its status and
 *           message.
 * Limit:    the number of waves, firing.limit, is known from the start or lowered when streams end. A request to end
 *           early lowers it to the first wave that has not begun.
 * Threads:  any thread may call fail, stop and end_early. The other functions are for the worker that ends a job.
 */
#ifndef DFR_ENDING_H
#define DFR_ENDING_H

#include "runtime/engine/engine.h"

/* ---- stopping ---- */

/* Stops the run for that reason. Only the first call has an effect. */
void dfr_engine_stop(struct df_run *run, enum dfr_stop how);
void dfr_engine_fail(struct df_run *run, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As dfr_engine_fail(), of a job, whose node and wave precede the message. If several jobs fail before all workers have stopped,
 * the one of the earliest wave is reported, and within a wave the first node's. */
void dfr_engine_fail_job(struct df_run *run, uint64_t job, int64_t wave, const char *message);
/* Wakes the thread that feeds the run, which may be waiting for this event. */
void dfr_engine_tell_feeder(struct df_run *run);

/* Evaluates what a job's kernel returned. *ended: the stream has ended. Returns false if the job failed, which fails the run. */
bool dfr_engine_succeeded(struct df_run *run, const struct df_call *call, int code, bool *ended);

/* ---- the number of waves ---- */

/* Returns the limit as far as it is known; with several passes it counts rounds. */
int64_t dfr_engine_waves(const struct df_run *run);
/* Returns firing.limit. Waits while a request to end early is computing it. */
int64_t dfr_engine_limit(struct df_run *run);
/* Returns whether the wave may begin in the slot, whose previous wave has ended. */
bool dfr_engine_may_begin(struct df_run *run, uint32_t slot, int64_t wave);
/* Ends the run early: waves up to the last one in flight are completed, so that the completed waves have no gap, and no later wave begins. Returns false
 * for a run with several passes, in which no wave is complete before the last pass. Not for runs that are fed, nor for sessions. */
bool dfr_engine_end_early(struct df_run *run);
/* Returns whether the request set the limit, and not the end of a stream or --waves. */
bool dfr_engine_is_early(const struct df_run *run);

/* ---- the ends of streams ---- */

/* The stream `node` ended before `wave`. Lowers the limit to new_limit if it is higher. */
void dfr_engine_lower_limit(struct df_run *run, int64_t wave, uint32_t node, int64_t new_limit);
/* Logs once that streams differ in length. `what`: "has more than" or "ended after" so many waves. */
void dfr_engine_tell_unlike(struct df_run *run, uint32_t node, int64_t waves, const char *what);
/* For a run with several passes: a kernel returned `code`. Returns DF_SKIP if that is the end of a stream. Fails if the stream has more waves
 * than can be kept. */
int dfr_engine_stream_said(struct df_run *run, struct df_call *call, int code);
/* For a run with options.apart: a kernel returned DF_END. Returns DF_SKIP if it is a stream. */
int dfr_engine_ended_apart(struct df_run *run, const struct df_call *call);

#endif
