/* min_cut.h - the cheapest way to split vertices in two sides, with prices for pairs that are split: maximum flow by
 * Dinic's algorithm (1970). No recursion; whole numbers only, so that every machine gets the same cut.
 *
 * Use:      make() with room, arcs in any order, then as often as wanted: capacities by dfp_cut_set(), dfp_cut_solve().
 * Memory:   allocated by make(), returned by free().
 * Threads:  one at a time per network.
 */
#ifndef DFP_MIN_CUT_H
#define DFP_MIN_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/df.h"

#define DFP_CUT_NEVER (INT64_C(1) << 60) /* capacity of what must not be cut; sums of the others stay below it */

struct dfp_cut {
    uint32_t n_vertices, n_arcs;        /* an arc and its reverse are 2k and 2k + 1 */
    uint32_t source, sink;
    uint32_t *to, *next;                /* of an arc; next of the same vertex */
    int64_t *capacity, *rest;
    uint32_t *first, *current, *level;  /* of a vertex */
    uint32_t *queue, *path;
    uint8_t *on_source_side;            /* after solve(): of a vertex; the least such set */
    uint64_t steps;                     /* arcs looked at by all solve() so far */
    void *block;
};

int dfp_cut_make(struct dfp_cut *cut, uint32_t n_vertices, uint32_t most_arcs, uint32_t source, uint32_t sink,
                 struct df_error *error);
void dfp_cut_free(struct dfp_cut *cut);

/* Gives the arc's number, for dfp_cut_set(). */
uint32_t dfp_cut_arc(struct dfp_cut *cut, uint32_t from, uint32_t to);
/* What it costs that `from` is on the source's side and `to` on the sink's; `back`: the other way round. */
void dfp_cut_set(struct dfp_cut *cut, uint32_t arc, int64_t capacity, int64_t back);

/* The cost of the cheapest cut; -1: not found within so many steps. */
int64_t dfp_cut_solve(struct dfp_cut *cut, uint64_t most_steps);

#endif
