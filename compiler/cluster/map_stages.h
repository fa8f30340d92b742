/* map_stages.h - from a graph and a cluster to a pipeline whose stages are mapped (partition/stages/pipeline.h).
 *
 * Stages:   those of runtime/stages/calls.h.
 * Times:    a stage on a machine takes what the graph takes there, from wave to wave, if all other stages take no time. This is
 *           simulated for each type of node, and divided by its `speed`.
 * Bytes:    a token counts at each boundary between its producer and its last reader, because stages between pass it on.
 * Serial:   a stage with an ordered kernel, a stream or an acc has no replicas.
 * Links:    between two machines the slower bandwidth and the longer latency of their two links to the network. Rank 0's link is the
 *           outside's.
 * Names:    a machine is its type's name, with .0, .1, … if there are several.
 */
#ifndef DFC_MAP_STAGES_H
#define DFC_MAP_STAGES_H

#include "compiler/declare/cluster_decl.h"
#include "partition/partition.h"
#include "partition/stages/pipeline.h"
#include "runtime/stages/calls.h"

struct dfc_map_input {
    struct dfp_pipeline pipeline;
    char **stages, **processors;        /* names, owned */
    uint32_t *type;                     /* by processor: its type of node */
};

/* A pipeline with names, bytes, links and serial marks, and no times yet. The cluster has at most DFP_MOST_PROCESSORS nodes. Errors as above. */
int dfc_map_input_new(const struct df_graph *graph, const struct dfr_stages *stages, const struct dfc_cluster *cluster,
                      struct dfc_map_input *input, struct df_error *error);
void dfc_map_input_free(struct dfc_map_input *input);
/* The times of all stages on the machines of a type, for which the problem is. Its graph is the one of the stages. */
int dfc_map_times(const struct dfp_problem *problem, const struct dfr_stages *stages, const char *policy, const struct dfp_options *options,
                  uint32_t inflight, uint32_t type, double speed, struct dfc_map_input *input, struct df_error *error);
/* After that of all types: works and speeds, which the heuristics count with. If a time is no product of both, the speeds are by the sum
 * of all stages' times, and works are means over processors. */
void dfc_map_finish(const struct dfc_cluster *cluster, struct dfc_map_input *input);

#endif
