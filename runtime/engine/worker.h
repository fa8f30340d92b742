/* worker.h - the loop that every CPU worker runs in a run with several workers, with devices, or with options that want
 * to see each job. A worker gets a job, calls its kernel, releases what waited for it, and sleeps when there is no job.
 *
 * Ready jobs:  they lie in a deque of each worker, if the policy lets any worker take any job and the run has no
 *              devices (steal.h). Otherwise the policy has them.
 * Tokens:      they have fixed addresses (tokens.h), or are blocks on the heap (memmgr/space.h).
 * Lean:        a run with deques, fixed addresses and neither trace, inspection nor gangs needs nothing but the call
 *              and the firing rule. It gets its own copy of the loop, compiled from the same text, without those
 *              branches.
 * Times:       a worker is busy from when it has jobs until it has none. Waiting for a gang does not count. With a
 *              trace or statistics of nodes each call is timed by itself.
 * See also:    list.h, what a single worker does; gpu/gpu_worker.c, the loop of a GPU.
 */
#ifndef DFR_WORKER_H
#define DFR_WORKER_H

#include "runtime/engine/engine.h"

void *dfr_worker_main(void *worker);    /* the thread of a CPU worker, a struct dfr_worker */
/* A call of a session: the calling thread works as this worker until the call's last wave has ended, or the run has
 * stopped. */
void dfr_worker_call(struct dfr_worker *worker);
/* A job has failed, and all workers have ended: runs on this thread what is left of the waves before the one that failed. So the failure of the
 * earliest wave is reported, whichever job ran first. */
void *dfr_worker_drain(void *worker);

/* ---- the times of single jobs: for the trace, --learn and df_options.node_stats ---- */

static inline bool dfr_times_jobs(const struct dfr_worker *w)
{
    return w->row || w->node_stats;
}

/* Notes what the job of `call` took. Gives its event in the worker's row of the trace; NULL: it has none. */
struct dfr_trace_event *dfr_job_timed(struct dfr_worker *w, const struct df_call *call, double begin_s, double end_s);

#endif
