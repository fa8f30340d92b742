/* map_stages.h - converts a graph and a cluster into the pipeline that the mapping algorithms take
 * (partition/stages/pipeline.h). map_command.c calls it.
 *
 * Stages:   those of runtime/subgraph/pipeline_stages.h.
 * Times:    of a stage on a machine: the time per wave of the graph there if all other stages take no time. It is
 *           simulated for each type of node, and divided by the type's `speed`.
 * Bytes:    a token counts at each boundary between its producer and its last reader, because the stages in between
 *           pass it on.
 * Serial:   a stage with an ordered kernel, a stream or an acc cannot be replicated.
 * Links:    between two machines: the lower bandwidth and the longer latency of their two links to the network. Rank
 *           0's link is that to the outside.
 * Names:    a machine has the name of its type, with .0, .1, … if there are several.
 */
#ifndef DFC_MAP_STAGES_H
#define DFC_MAP_STAGES_H

#include "compiler/declare/cluster_decl.h"
#include "partition/partition.h"
#include "partition/stages/pipeline.h"
#include "runtime/subgraph/pipeline_stages.h"

struct dfc_map_input {
    struct dfp_pipeline pipeline;
    char **stages, **processors;        /* names, owned */
    uint32_t *type;                     /* by processor: its type of node */
};

/* Creates a pipeline with names, bytes, links and serial marks, but no times yet. The cluster has at most DFP_MOST_PROCESSORS nodes. */
int dfc_map_input_new(const struct df_graph *graph, const struct dfr_stages *stages, const struct dfc_cluster *cluster,
                      struct dfc_map_input *input, struct df_error *error);
void dfc_map_input_free(struct dfc_map_input *input);
/* Simulates the times of all stages on machines of one type. The problem is for that type, and its graph is that of the stages. */
int dfc_map_times(const struct dfp_problem *problem, const struct dfr_stages *stages, const char *policy, const struct dfp_options *options,
                  uint32_t inflight, uint32_t type, double speed, struct dfc_map_input *input, struct df_error *error);
/* To be called after dfc_map_times() for all types: derives the works of stages and speeds of processors that the heuristics use. If times
 * are not products of the two, speeds follow from the sum of all stages' times, and works are means over processors. */
void dfc_map_finish(const struct dfc_cluster *cluster, struct dfc_map_input *input);

#endif
