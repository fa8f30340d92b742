/* metis_graph.h - the dataflow graph as METIS is given it: undirected, with integer weights. Knows nothing of METIS's
 * headers.
 *
 * Vertices: nodes that cost something, in order of number. Weight: the time on the fastest device (or on the CPU),
 *           times @rate.
 * Edges:    between two vertices that exchange values: the sum of the transfer times of all arcs between them. An
 *           output that three nodes read is three arcs here, although the machine copies it once: that is METIS's view.
 * Weights:  scaled so that the largest is 1000 and rounded up, so none is 0; less where n · 1000 would not fit.
 * Memory:   dfp_metis_graph_free() returns it.
 */
#ifndef DFP_METIS_GRAPH_H
#define DFP_METIS_GRAPH_H

#include "partition/model/model.h"

#define DFP_METIS_LARGEST_WEIGHT 1000

struct dfp_metis_graph {
    int32_t n, n_edges;                 /* each edge counted once; it stands twice in `adjacent` */
    int32_t *first;                     /* n + 1 */
    int32_t *adjacent, *edge_weight;    /* 2 * n_edges, a vertex's in order of first meeting */
    int32_t *vertex_weight;
    uint32_t *node;                     /* of a vertex */
};

/* What an edge's weight is the time of: a copy over the host's link, or from a device to another. */
enum dfp_edges { DFP_EDGES_HOST, DFP_EDGES_DEVICES };

int dfp_metis_graph_make(const struct dfp_model *model, enum dfp_vertex_weight weight, enum dfp_edges edges,
                         struct dfp_metis_graph *graph, struct df_error *error);
void dfp_metis_graph_free(struct dfp_metis_graph *graph);

/* The part of `graph` whose vertices have side[v] == which; node[] still names nodes. */
int dfp_metis_graph_extract(const struct dfp_metis_graph *graph, const int32_t *side, int32_t which,
                            struct dfp_metis_graph *part, struct df_error *error);

/* Share of the work that each unit should get, by the thesis's ratio over the movable nodes; sums to 1. Several devices
 * divide the devices' share in inverse proportion to their own total times. With nothing movable: all for the host. */
void dfp_target_shares(const struct dfp_model *model, enum dfp_ratio ratio, double *share);

#endif
