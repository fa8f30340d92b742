/* size.h - how much: waves in flight, and what each device's memory is divided into. size.c says by which rule.
 *
 * Memory:   dfr_size() fills run->devices.rooms, dfr_rooms_free() returns what they have.
 */
#ifndef DFR_SIZE_H
#define DFR_SIZE_H

#include "runtime/engine/engine.h"

/* Device memory for one job of a node: distinct inputs, outputs that take nothing over, scratch; whole pages. */
uint64_t dfr_job_paged_bytes(const struct df_graph *graph, uint32_t node);

/* Fills inflight, gpu_jobs, gpu_window and, for each GPU, its room. */
int dfr_size(struct df_run *run, struct df_error *error);
void dfr_rooms_free(struct df_run *run);

#endif
