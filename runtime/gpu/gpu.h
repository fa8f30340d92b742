/* gpu.h - one GPU of a run: its device, its memory's cache, and the worker thread that owns both.
 *
 * Threads:  create, destroy and stats by the thread that makes and ends the run; dfr_gpu_main() is the worker in
 *           between.
 */
#ifndef DFR_GPU_H
#define DFR_GPU_H

#include "runtime/engine/engine.h"

/* Opens the device of `unit`, makes the pool and its bookkeeping. */
int dfr_gpu_create(struct df_run *run, uint32_t unit, struct dfr_gpu **gpu, struct df_error *error);
/* Once the policy is there: what its order says of eviction. */
int dfr_gpu_know_order(struct dfr_gpu *gpu, struct df_error *error);
/* Readies its copies to its peers; gpus: of the run, by unit. */
void dfr_gpu_connect(struct dfr_gpu *gpu, struct dfr_gpu *const *gpus);
void dfr_gpu_destroy(struct dfr_gpu *gpu);
/* When one of its launches last loaded code or was recorded; for its worker alone. 0: none has. */
double dfr_gpu_steady_s(const struct dfr_gpu *gpu);
void dfr_gpu_stats(const struct dfr_gpu *gpu, struct df_memory_stats *stats);
void dfr_gpu_rows(struct dfr_gpu *gpu, struct dfr_trace_row *h2d, struct dfr_trace_row *d2h,
                  struct dfr_trace_row *peer); /* before it starts; peer NULL: it has no peers */

void *dfr_gpu_main(void *worker);       /* its struct dfr_worker */

#endif
