/* host_room.h - says whether the host has memory for one job. start/admit.c calls it before a run starts, and
 * measure/measure.c before a graph is measured.
 *
 * Why:      the system ends a process, or others, when memory is written that the machine does not have. So a job that
 *           cannot fit is refused before it runs.
 * Threads:  any.
 */
#ifndef DFR_HOST_ROOM_H
#define DFR_HOST_ROOM_H

#include "runtime/graph/graph.h"

/* Bytes of the machine's memory, swap included, or the memory limit of the process's control group if that is less. UINT64_MAX: the system does not say. */
uint64_t dfr_host_bytes(void);

/* DF_OK, or DF_E_REFUSED if one job of the work, run by the host, needs more than dfr_host_bytes(). The message names a
 * node of that work. */
int dfr_admit_host(const struct df_graph *graph, uint32_t work, struct df_error *error);

/* Always DF_E_REFUSED: "node 'N' (kernel 'K') cannot run: why". */
int dfr_refuse_node(const struct df_graph *graph, uint32_t node, const char *why, struct df_error *error);

#endif
