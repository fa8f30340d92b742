/* size.h - determines the number of waves in flight, and the layout of each device's memory; size.c describes the
 * rules. The start of a run calls it.
 *
 * Memory:   dfr_size() fills run->devices.rooms; dfr_rooms_free() frees it.
 */
#ifndef DFR_SIZE_H
#define DFR_SIZE_H

#include "runtime/engine/engine.h"

/* Device memory for one job of a node, in bytes of whole pages: each distinct input, the outputs that do not take
 * over an input's memory, and scratch. */
uint64_t dfr_job_paged_bytes(const struct df_graph *graph, uint32_t node);

/* What of that is in the unit's own memory: on a unified device the scratch alone. */
uint64_t dfr_job_own_bytes(const struct df_run *run, uint32_t unit, uint32_t node);

/* Fills run->inflight; of run->devices, jobs, jobs_found and window; and each GPU's room. */
int dfr_size(struct df_run *run, struct df_error *error);
void dfr_rooms_free(struct df_run *run);

#endif
