/* worker.h - the loop of a CPU worker in runs with several workers, with devices, or with options that need to see each
 * job: takes a job, calls its kernel, releases the jobs that waited for it, and sleeps when there is none.
 *
 * Ready jobs:  are in each worker's deque, if the policy lets any worker take any job and the run has no devices
 *              (steal.h). Otherwise the policy has them.
 * Tokens:      they have fixed addresses (tokens.h), or are blocks on the heap (memmgr/space.h).
 * Lean:        a run with deques, fixed addresses and neither trace, inspection nor gangs needs only the kernel call
 *              and the firing rule. It gets a copy of the loop compiled from the same source without the other
 *              branches.
 * Times:       a worker is busy from when it has jobs until it has none, not counting the wait for a gang. With a trace
 *              or node statistics each call is timed individually.
 * See also:    list.h for a single worker; gpu/gpu_worker.c for a GPU.
 */
#ifndef DFR_WORKER_H
#define DFR_WORKER_H

#include "runtime/engine/engine.h"

void *dfr_worker_main(void *worker);    /* the thread of a CPU worker, a struct dfr_worker */
/* A call of a session: the calling thread works as this worker until the call's last wave has ended, or the run has
 * stopped. */
void dfr_worker_call(struct dfr_worker *worker);
/* A job has failed, and all workers have ended: runs on this thread the remaining jobs of the waves before the failed one, so that the failure of the
 * earliest wave is reported, whichever job ran first. */
void *dfr_worker_drain(void *worker);

/* ---- the times of single jobs: for the trace, --learn, df_options.node_stats and latencies ---- */

static inline bool dfr_times_jobs(const struct dfr_worker *w)
{
    return w->row || w->node_stats || w->run->watch.latency;
}

/* Records the time of the job of `call`. Returns its event in the worker's row of the trace; NULL: it has none. */
struct dfr_trace_event *dfr_job_timed(struct dfr_worker *w, const struct df_call *call, double begin_s, double end_s);

#endif
