/* metis_call.h - calls METIS so that it can neither end the program nor disturb its state. gp_thesis.c and gp/gp_metis.c call it.
 *
 * Threads:  any thread may call; a lock serializes calls. METIS uses libc's random state, which is restored afterwards, and handles signals while it runs.
 * Errors:   DF_E_MEMORY, DF_E_ARGUMENT (METIS rejects the graph).
 */
#ifndef DFP_METIS_CALL_H
#define DFP_METIS_CALL_H

#include "partition/cut/metis_graph.h"

struct dfp_metis_cut {
    uint32_t n_parts;
    uint32_t n_weights;                 /* per vertex, 1 or 2 */
    const int32_t *vertex_weight;       /* [vertex * n_weights + k]; NULL: the graph's own weights, one per vertex */
    const float *share;                 /* [part * n_weights + k]: sums to 1 for each k, none is 0. NULL: all equal */
    uint32_t seed;
    bool kway;                          /* METIS's k-way form, for many parts; else recursive bisection */
};

/* Fills part[v] for all vertices of the graph. It must have at least 2 vertices; for more than two parts it must have
 * at least twice as many vertices as parts. */
int dfp_metis_call(const struct dfp_metis_graph *graph, const struct dfp_metis_cut *cut, int32_t *part,
                   struct df_error *error);

#endif
