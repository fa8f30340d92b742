/* min_cut.h - minimum cuts: splits the vertices of a network into two sides so that the total price of the pairs on different sides is minimal. It is
 * computed as a maximum flow by Dinic's algorithm (1970), without recursion, in integers, so that every machine gets the same cut. gp/gp_rate.c
 * computes the cheapest placement of a wave with it.
 *
 * Use:      dfp_cut_make() says how many arcs there will be, dfp_cut_arc() adds them in any order. After that,
 *           dfp_cut_set() sets capacities and dfp_cut_solve() finds the cut, as often as wanted.
 * Memory:   make() allocates all of it, free() returns it.
 * Threads:  one thread at a time for a network.
 */
#ifndef DFP_MIN_CUT_H
#define DFP_MIN_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/df.h"

#define DFP_CUT_NEVER (INT64_C(1) << 60) /* capacity of an arc that must not be cut; all others must sum to less */

struct dfp_cut {
    uint32_t n_vertices, n_arcs;        /* an arc and its reverse have the numbers 2k and 2k + 1 */
    uint32_t source, sink;
    uint32_t *to, *next;                /* of an arc: the vertex at its end; the next arc from the same vertex */
    int64_t *capacity, *rest;           /* of an arc: as set; what the flow leaves of it */
    uint32_t *first, *current, *level;  /* of a vertex: its first arc; the arc tried now; distance from the source */
    uint32_t *queue, *path;             /* scratch: vertices; arcs from the source on */
    uint8_t *on_source_side;            /* of a vertex, after solve(); of all cheapest cuts this side is the smallest */
    uint64_t steps;                     /* arcs that all calls of solve() have looked at so far */
    void *block;
};

int dfp_cut_make(struct dfp_cut *cut, uint32_t n_vertices, uint32_t most_arcs, uint32_t source, uint32_t sink,
                 struct df_error *error);
void dfp_cut_free(struct dfp_cut *cut);

/* Adds an arc. Gives its number, for dfp_cut_set(). */
uint32_t dfp_cut_arc(struct dfp_cut *cut, uint32_t from, uint32_t to);
/* capacity: what it costs if the arc's `from` is on the source's side and its `to` on the sink's side. back: what the
 * other way round costs. */
void dfp_cut_set(struct dfp_cut *cut, uint32_t arc, int64_t capacity, int64_t back);

/* The cost of the cheapest cut; -1: it was not found within so many steps. */
int64_t dfp_cut_solve(struct dfp_cut *cut, uint64_t most_steps);

#endif
