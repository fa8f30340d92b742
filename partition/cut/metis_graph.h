/* metis_graph.h - the dataflow graph in METIS's form: undirected, with integer weights. gp_thesis.c and gp/gp_metis.c cut it,
 * metis_text.c prints it; `dfc partition` (compiler/commands/cmd_partition.c) asks for the target shares.
 *
 * This room partitions graphs, with METIS and by minimum cuts. It has the partitioner "gp-thesis", and provides starts for gp.
 * It knows partition/model. Only metis_call.c knows METIS's header.
 *
 * Vertices: the nodes that cost something, in order of number. A vertex's weight is the node's time on the fastest
 *           device (or on the CPU), times @rate.
 * Edges:    one between any two vertices that exchange values. Its weight is the sum of the transfer times of all arcs
 *           between them. A value that three nodes read is three arcs here, although the machine copies it once; METIS
 *           cannot see that.
 * Weights:  scaled so that the largest is 1000, and rounded up, so none is 0. For very large graphs the largest is
 *           less, since the sum of n weights must stay below 2^30.
 * Memory:   dfp_metis_graph_free() returns a graph.
 */
#ifndef DFP_METIS_GRAPH_H
#define DFP_METIS_GRAPH_H

#include "partition/model/model.h"

#define DFP_METIS_LARGEST_WEIGHT 1000

struct dfp_metis_graph {
    int32_t n, n_edges;                 /* each edge counts once here; it stands twice in adjacent[] */
    int32_t *first;                     /* n + 1: where a vertex's edges begin */
    int32_t *adjacent, *edge_weight;    /* 2 * n_edges; a vertex's edges are in the order in which they were met */
    int32_t *vertex_weight;
    uint32_t *node;                     /* of a vertex: the node of the dataflow graph */
};

/* An edge's weight is the time of copies over the host's link, or of copies from one device to another. */
enum dfp_edges { DFP_EDGES_HOST, DFP_EDGES_DEVICES };

int dfp_metis_graph_make(const struct dfp_model *model, enum dfp_vertex_weight weight, enum dfp_edges edges,
                         struct dfp_metis_graph *graph, struct df_error *error);
void dfp_metis_graph_free(struct dfp_metis_graph *graph);

/* The part of `graph` whose vertices have side[v] == which. Its node[] still names nodes of the dataflow graph. */
int dfp_metis_graph_extract(const struct dfp_metis_graph *graph, const int32_t *side, int32_t which,
                            struct dfp_metis_graph *part, struct df_error *error);

/* The share of the work that each unit should get; the shares sum to 1. The host's share is the thesis's ratio over the
 * nodes that both the host and a device can run. Several devices divide the rest in inverse proportion to their own
 * total times. If no node can move, the host gets all. */
void dfp_target_shares(const struct dfp_model *model, enum dfp_ratio ratio, double *share);

#endif
