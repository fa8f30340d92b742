/* order.h - ready jobs in a fixed order of their nodes: whoever takes one gets the most urgent, exactly.
 *
 * Words:    the *rank* of a node is its place in the order, 0 the most urgent. Of one node's jobs the one in the lowest
 *           slot comes first; or, by wave, all jobs of an older wave come before those of a newer one: so waves end one
 *           after the other and the next can begin, where nodes before waves would bring all that are in flight to
 *           their ends at the same time, and leave nothing to do beside those.
 * Memory:   create() allocates all that can be needed. `nodes` (the members by rank) and `rank` (by node, filled for
 *           the members) are the caller's and are borrowed until destroy(); several orders with different members may
 *           share one array `rank`.
 * Threads:  add, remove, pop and first from any thread at once; create and destroy from one.
 * Waking:   who clears a bit that leads to jobs, and finds that one has come meanwhile, wakes the workers that take
 *           jobs from here (view->wake): they may have looked just then, and gone to sleep.
 * Progress: lock-free.
 * Waves:    view->wave() tells which; where waves overtake each other, the order between them is not exact.
 * Orders:   everything is sequentially consistent: what was written before add() is seen after the pop() that takes it.
 */
#ifndef DFR_ORDER_H
#define DFR_ORDER_H

#include "runtime/policy/policy.h"

#define DFR_ORDER_LEVELS 6              /* of 64 each: more than there can be jobs */

struct dfr_order {
    const struct df_graph *graph;
    const struct dfr_view *view;
    uint32_t n_slots, n_nodes;
    bool by_wave;
    uint32_t units;
    const uint32_t *nodes, *rank;
    _Atomic int64_t newest;             /* wave of which a job came; the slot after its own has the oldest */
    unsigned top;                       /* the level of one word */
    uint64_t words_of[DFR_ORDER_LEVELS]; /* how many */
    _Atomic uint64_t *words[DFR_ORDER_LEVELS];
};

/* units: a bit for each whose workers take jobs from it. false: no memory. */
bool dfr_order_create(struct dfr_order *order, const struct dfr_view *view, uint32_t units, bool by_wave,
                      const uint32_t *nodes, uint32_t n_nodes, uint32_t *rank);
void dfr_order_destroy(struct dfr_order *order); /* one that is all zero, too */

void dfr_order_add(struct dfr_order *order, uint64_t job);
bool dfr_order_remove(struct dfr_order *order, uint64_t job);   /* true: it was in, and this call took it */
/* false: empty at some moment during the call, or see Waking. */
bool dfr_order_pop(struct dfr_order *order, uint64_t *job);
bool dfr_order_first(struct dfr_order *order, uint64_t *job);   /* a glance */

/* The most urgent job at *place or after it, which is then just behind that job; from 0 on. Jobs that come meanwhile
 * may be missed. */
bool dfr_order_next(struct dfr_order *order, uint64_t *place, uint64_t *job);

/* Is nothing in here more urgent than this job of a member? A glance. */
bool dfr_order_is_first(struct dfr_order *order, uint64_t job);

/* Sorts nodes for create(): the highest key first, of equals the lowest number. false: no memory. */
bool dfr_order_sort(uint32_t *nodes, uint32_t n_nodes, const double *key_of_node);

#endif
