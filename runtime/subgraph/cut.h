/* cut.h - cuts a graph into three, for many processes: what comes first and what comes last of each wave is on the first
 * rank, and what lies between can run anywhere. part.c cuts the graph of a run on ranks with it, groups.c and
 * compiler/cluster/scale.c ask only which node is where.
 *
 * Places:   HEAD has what fires once, and the sources that are streams or ordered. TAIL has what must see all waves in order:
 *           nodes with inputs that are ordered, sinks, accs, and all that reads of these; and final nodes. BODY has the rest,
 *           and sources and sinks with @worker.
 *           Tokens go from HEAD to BODY and TAIL, and from BODY to TAIL, and never back.
 * Words:    A value *crosses* if a node at another place than its producer's reads it. Views (graph/graph.h) move nothing. So each
 *           place that reads ranges has the view itself, and the whole crosses. An inserted copy is where its reader is.
 * Graph:    The graph of a place has its nodes, as they are in the whole graph, names included. What they read from
 *           elsewhere is made by *given* nodes, sources without variants. Such a node stands for the node that makes the
 *           values, has its name, and has those of its outputs that are read here. The caller gives what they make
 *           (df_buffer.given).
 * Memory:   dfr_cut_free() returns a cut. The whole graph must live as long, and so must its functions.
 * Threads:  none of this is called by several at once.
 * Errors:   DF_E_MEMORY; DF_E_REFUSED: the graph cannot be cut, and the message says why.
 */
#ifndef DFR_CUT_H
#define DFR_CUT_H

#include "runtime/graph/graph.h"

enum { DFR_HEAD, DFR_BODY, DFR_TAIL, DFR_PLACES };
enum { DFR_ELSEWHERE = 255 };           /* a place that is not cut: what is there is given to the others, views included */

struct dfr_cut {
    struct df_graph *graph;             /* of one place */
    uint32_t *node;                     /* by node of this graph: the node of the whole graph */
    uint32_t *value;                    /* by value of this graph: the value of the whole graph */
    uint32_t n_given;                   /* nodes that are given */
};

/* Writes the place of each node, by its traits, as the head of this file says. */
void dfr_cut_places(const struct df_graph *graph, uint8_t *place);
/* Moves nodes to later places until no token goes back, each copy is with its reader, and parts of one whole are together. Places may be more than three: numbers up
 * to `tail`, of which 0 is HEAD and the last one TAIL (groups.h). What is @worker must be at none of both. */
int dfr_cut_settle(const struct df_graph *graph, uint8_t *place, uint8_t tail, struct df_error *error);

/* Makes the graph of one place. place: by node, as dfr_cut_settle() left it. */
int dfr_cut_make(const struct df_graph *graph, const uint8_t *place, unsigned which, struct dfr_cut *cut, struct df_error *error);
/* Which values does place `which` read that are made elsewhere? reads: by value, written. DF_E_MEMORY. */
int dfr_cut_reads(const struct df_graph *graph, const uint8_t *place, unsigned which, bool *reads, struct df_error *error);
void dfr_cut_free(struct dfr_cut *cut);

/* The kernels of given nodes have the highest numbers. */
static inline bool dfr_cut_is_given(const struct dfr_cut *cut, uint32_t node)
{
    return cut->graph->nodes[node].kernel >= cut->graph->n_kernels - cut->n_given;
}

#endif
