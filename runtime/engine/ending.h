/* ending.h - what ends a run before or at its last wave: failures, a request to end early, and the ends of streams.
 *
 * Failures: the first failure stops the run: workers take no further jobs. df_run_wait() returns its status and text.
 * Limit:    the number of waves, firing.limit, is known from the start, or streams lower it when they end. A request to end
 *           early lowers it to the first wave that has not begun.
 * Threads:  any thread may call fail, stop and end_early. The others are for the worker that ends a job.
 */
#ifndef DFR_ENDING_H
#define DFR_ENDING_H

#include "runtime/engine/engine.h"

/* ---- stopping ---- */

/* The run ends now, for that reason. Only the first call counts. */
void dfr_engine_stop(struct df_run *run, enum dfr_stop how);
void dfr_engine_fail(struct df_run *run, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As dfr_engine_fail(), of a job, whose node and wave precede the message. If several jobs fail before all workers have stopped,
 * the one of the earliest wave is reported, and within a wave the first node's. */
void dfr_engine_fail_job(struct df_run *run, uint64_t job, int64_t wave, const char *message);
/* Something has happened that who feeds the run may wait for. */
void dfr_engine_tell_feeder(struct df_run *run);

/* Did the job succeed, whose kernel returned `code`? *ended: it was the end of a stream. false: the run has failed. */
bool dfr_engine_succeeded(struct df_run *run, const struct df_call *call, int code, bool *ended);

/* ---- the number of waves ---- */

/* The limit, as far as it is known, which counts rounds if there are several passes. */
int64_t dfr_engine_waves(const struct df_run *run);
/* As firing.limit, but waits while a request to end early decides on it. */
int64_t dfr_engine_limit(struct df_run *run);
/* May the wave begin in the slot, whose wave before has ended? */
bool dfr_engine_may_begin(struct df_run *run, uint32_t slot, int64_t wave);
/* Ends the waves early: the waves in flight end, and those between them, so that the waves that are done are the first ones. Nothing
 * fires after them. Returns false if no wave is complete before the last one: the waves go by several times. Not for runs that are fed, nor sessions. */
bool dfr_engine_end_early(struct df_run *run);
/* Did the request, and not the end of the waves, set the limit? */
bool dfr_engine_is_early(const struct df_run *run);

/* ---- the ends of streams ---- */

/* A stream, `node`, has no wave `wave`. Lowers the limit to new_limit, if it is higher. */
void dfr_engine_lower_limit(struct df_run *run, int64_t wave, uint32_t node, int64_t new_limit);
/* Logs once that streams differ in length. `what`: "has more than" or "ended after" so many waves. */
void dfr_engine_tell_unlike(struct df_run *run, uint32_t node, int64_t waves, const char *what);
/* For a run whose waves go by several times: a kernel returned `code`. Gives DF_SKIP if that is the end of a stream, and fails if the
 * stream has more waves than can be kept. */
int dfr_engine_stream_said(struct df_run *run, struct df_call *call, int code);
/* For a run with options.apart: a kernel returned DF_END. Gives DF_SKIP if it is a stream. */
int dfr_engine_ended_apart(struct df_run *run, const struct df_call *call);

#endif
