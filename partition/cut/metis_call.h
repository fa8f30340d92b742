/* metis_call.h - METIS itself, called so that it can neither stop the program nor disturb it.
 *
 * Threads:  any; one call at a time goes through, since METIS keeps its random state in libc's and catches signals
 *           while it runs. libc's random state is put back.
 * Errors:   DF_E_MEMORY, DF_E_ARGUMENT (METIS rejects the graph).
 */
#ifndef DFP_METIS_CALL_H
#define DFP_METIS_CALL_H

#include "partition/cut/metis_graph.h"

struct dfp_metis_cut {
    uint32_t n_parts;
    uint32_t n_weights;                 /* per vertex, 1 or 2 */
    const int32_t *vertex_weight;       /* [vertex * n_weights + k]; NULL: the graph's own, one */
    const float *share;                 /* [part * n_weights + k], each k sums to 1; none 0. NULL: equal */
    uint32_t seed;
    bool kway;                          /* METIS's k-way form, for many parts; else recursive bisection */
};

/* part[v] for the graph's vertices, of which there are at least 2, and twice as many as parts where these are more than
 * two. */
int dfp_metis_call(const struct dfp_metis_graph *graph, const struct dfp_metis_cut *cut, int32_t *part,
                   struct df_error *error);

#endif
