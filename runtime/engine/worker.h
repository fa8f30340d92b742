/* worker.h - the loop that every CPU worker of a run with several workers, or with devices, runs: get a job, call its
 * kernel, release what waited for it, sleep when there is no job.
 *
 * Ready jobs:  in a deque of each worker, if the policy lets any worker take any job and the run has no devices (steal.h);
 *              otherwise the policy has them.
 * Tokens:      at fixed addresses (tokens.h), or blocks on the heap (memmgr/space.h).
 * Lean:        a run with deques, fixed addresses and neither trace, inspection nor gangs needs nothing but the call and
 *              the firing rule. It gets its own copy of the loop, compiled from the same text, without those branches.
 * Times:       a worker is busy from when it has jobs until it has none; waiting for a gang does not count. With a trace
 *              each call is timed by itself.
 * See also:    list.h, what a single worker does; gpu/gpu_worker.c, the loop of a GPU.
 */
#ifndef DFR_WORKER_H
#define DFR_WORKER_H

#include "runtime/engine/engine.h"

void *dfr_worker_main(void *worker);    /* struct dfr_worker */

#endif
