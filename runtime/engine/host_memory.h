/* host_memory.h - checks whether the host has enough memory for one job, and reads the size of the host's memory.
 * start/admit.c calls it before a run starts, measure/measure.c before a graph is measured, compiler/load/ when a graph
 * is loaded.
 *
 * Why:      if a process writes more memory than the machine has, the OOM killer ends it, or others. A job that cannot
 *           fit is therefore rejected before it runs.
 * Threads:  any.
 */
#ifndef DFR_HOST_MEMORY_H
#define DFR_HOST_MEMORY_H

#include "runtime/graph/graph.h"

/* Bytes of the machine's memory, swap included, or the memory limit of the process's control group if that is less. UINT64_MAX: the system does not say. */
uint64_t dfr_host_bytes(void);

/* DF_OK, or DF_E_REFUSED if one job of the work, run by the host, needs more than dfr_host_bytes(). The message names a
 * node of that work. */
int dfr_admit_host(const struct df_graph *graph, uint32_t work, struct df_error *error);

/* Always DF_E_REFUSED: "node 'N' (kernel 'K') cannot run: why". */
int dfr_refuse_node(const struct df_graph *graph, uint32_t node, const char *why, struct df_error *error);

#endif
