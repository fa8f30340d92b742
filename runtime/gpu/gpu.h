/* gpu.h - one GPU of a run: its device, the cache of its memory, and the worker thread that owns both. This room
 * takes a GPU's jobs from the policy, brings their inputs there, launches them, and tells the engine of their ends.
 * It knows the engine, the policies' view, the memory manager and device.h, but no back end.
 *
 * Threads:  create, destroy and stats are called by the thread that makes and ends the run. In between,
 *           dfr_gpu_main() is the worker. settle is called by the thread that calls a session.
 */
#ifndef DFR_GPU_H
#define DFR_GPU_H

#include "runtime/engine/engine.h"

/* Opens the device of `unit`, and makes its pool and the bookkeeping of that. */
int dfr_gpu_create(struct df_run *run, uint32_t unit, struct dfr_gpu **gpu, struct df_error *error);
/* Called when the policy exists: learns from its order which blocks are needed when, for eviction. */
int dfr_gpu_know_order(struct dfr_gpu *gpu, struct df_error *error);
/* Readies the copies to its peers. gpus: all of the run's, by unit. */
void dfr_gpu_connect(struct dfr_gpu *gpu, struct dfr_gpu *const *gpus);
void dfr_gpu_destroy(struct dfr_gpu *gpu);
/* When one of its launches last loaded code or was recorded; 0: none has. For its worker alone. */
double dfr_gpu_steady_s(const struct dfr_gpu *gpu);
/* How long the job took that ends now; less than 0: it waited for copies or for code. For its worker alone. */
double dfr_gpu_took_s(const struct dfr_gpu *gpu);
/* How long the GPU is busy with the jobs that its worker has, if these are as many as run at once; else 0. Its worker asks. */
double dfr_gpu_busy_s(const struct dfr_gpu *gpu);
void dfr_gpu_stats(const struct dfr_gpu *gpu, struct df_memory_stats *stats);
/* The trace rows of its copies. Called before the worker starts. peer NULL: it has no peers. */
void dfr_gpu_rows(struct dfr_gpu *gpu, struct dfr_trace_row *h2d, struct dfr_trace_row *d2h,
                  struct dfr_trace_row *peer);

/* Between two calls of a session: waits until the device has nothing in flight, and its worker has seen all that jobs
 * left behind. So no copy reads or writes the caller's memory any more. forget: recorded launches are not used again,
 * since kernels' scalars change. Returns at once if the run has stopped. */
void dfr_gpu_settle(struct dfr_gpu *gpu, bool forget);

void *dfr_gpu_main(void *worker);       /* its struct dfr_worker */

#endif
