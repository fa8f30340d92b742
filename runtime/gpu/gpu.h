/* gpu.h - one GPU of a run: its device, the cache of its memory, and the worker thread that owns both. The worker takes the GPU's jobs from the policy,
 * copies their inputs in, launches them, and reports their completion to the engine. This room knows the engine, the policies' view, the memory manager and
 * device.h, but no back end. start/run.c creates and destroys it, start/run_workers.c starts the worker, and start/session.c settles it after each call.
 *
 * Threads:  create, destroy and stats are called by the thread that starts and ends the run. In between, dfr_gpu_main() is the worker. settle is called by
 *           the thread that calls a session.
 */
#ifndef DFR_GPU_H
#define DFR_GPU_H

#include "runtime/engine/engine.h"

/* Opens the device of `unit`, and creates its memory pool and cache. */
int dfr_gpu_create(struct df_run *run, uint32_t unit, struct dfr_gpu **gpu, struct df_error *error);
/* Called after the policy was created: with a policy that knows its order, eviction uses each block's next use. */
int dfr_gpu_know_order(struct dfr_gpu *gpu, struct df_error *error);
/* Enables copies to its peers. gpus: all of the run's, by unit. */
void dfr_gpu_connect(struct dfr_gpu *gpu, struct dfr_gpu *const *gpus);
void dfr_gpu_destroy(struct dfr_gpu *gpu);
/* When a launch last loaded code or was recorded; 0: never. Called by its worker only. */
double dfr_gpu_steady_s(const struct dfr_gpu *gpu);
/* How long the job that completes now took; < 0: unknown, because it waited for copies or for code. Called by its worker only. */
double dfr_gpu_took_s(const struct dfr_gpu *gpu);
/* How long the GPU stays busy with its worker's current jobs, if these use all its slots; else 0. Called by its worker only. */
double dfr_gpu_busy_s(const struct dfr_gpu *gpu);
void dfr_gpu_stats(const struct dfr_gpu *gpu, struct df_memory_stats *stats);
/* Sets the trace rows of its copies, before the worker starts. peer is NULL if it has no peers. */
void dfr_gpu_rows(struct dfr_gpu *gpu, struct dfr_trace_row *h2d, struct dfr_trace_row *d2h,
                  struct dfr_trace_row *peer);

/* Between two calls of a session: waits until the device is idle and its worker has processed all messages, so that no copy accesses the caller's memory any
 * more. forget: drops recorded launches, since kernels' scalars change. Returns at once if the run has stopped. */
void dfr_gpu_settle(struct dfr_gpu *gpu, bool forget);

void *dfr_gpu_main(void *worker);       /* its struct dfr_worker */

#endif
