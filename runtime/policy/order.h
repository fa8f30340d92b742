/* order.h - a lock-free priority queue of ready jobs whose nodes have a fixed order. pop() always returns the most urgent job. The static policies, dmdas
 * and the sorted lists of the speedup policies use it.
 *
 * Words:    The *rank* of a node is its place in the order; 0 is the most urgent. Of one node's jobs, the one in the
 *           lowest slot comes first. With `by_wave`, all jobs of an older wave come before those of a newer wave, so
 *           waves end one after the other and the next can begin. If nodes came before waves, all waves in flight would
 *           reach their ends at the same time, and there would be nothing to do beside those ends.
 * Memory:   create() allocates all that can be needed. `nodes` (the members by rank) and `rank` (by node, filled in for
 *           the members) belong to the caller and are borrowed until destroy(). Several orders with different members
 *           may share one array `rank`.
 * Threads:  Any thread may call add, remove, pop, pop_where and first, several at once. One thread calls create and
 *           destroy.
 * Waking:   A thread that clears a bit that leads to jobs, and then finds that a job has arrived meanwhile, wakes the workers that take jobs from this
 *           order (view->wake): they may have looked at that moment, found nothing, and gone to sleep.
 * Progress: lock-free.
 * Waves:    view->wave() tells the wave of a slot. While waves overtake each other, the order between them is not
 *           exact.
 * Orders:   Everything is sequentially consistent: what was written before add() is seen after the pop() that takes the
 *           job. `newest` alone is relaxed, because it only says where a search begins.
 */
#ifndef DFR_ORDER_H
#define DFR_ORDER_H

#include "runtime/policy/policy.h"

#define DFR_ORDER_LOOKS 1024            /* some 10 us, when so many urgent jobs may not be taken yet */
#define DFR_ORDER_LEVELS 6              /* of 64 each: more than there can be jobs */

struct dfr_order {
    const struct df_graph *graph;
    const struct dfr_view *view;
    uint32_t n_slots, n_nodes;
    bool by_wave;
    uint32_t units;
    const uint32_t *nodes, *rank;
    _Atomic int64_t newest;             /* the newest wave of which a job came; the slot after this wave's slot has the
                                         * oldest wave */
    unsigned top;                       /* the level that has one word */
    uint64_t words_of[DFR_ORDER_LEVELS]; /* number of words of each level */
    _Atomic uint64_t *words[DFR_ORDER_LEVELS];
};

/* units: a bit for each unit whose workers take jobs from this order. false: no memory. */
bool dfr_order_create(struct dfr_order *order, const struct dfr_view *view, uint32_t units, bool by_wave,
                      const uint32_t *nodes, uint32_t n_nodes, uint32_t *rank);
void dfr_order_destroy(struct dfr_order *order); /* an order that is all zero, too */

void dfr_order_add(struct dfr_order *order, uint64_t job);
bool dfr_order_remove(struct dfr_order *order, uint64_t job);   /* returns true if the job was present and this call removed it */
/* Returns false if the order was empty at some moment during the call; see also Waking. */
bool dfr_order_pop(struct dfr_order *order, uint64_t *job);
/* Pops the most urgent job that may_take() accepts. Examines at most DFR_ORDER_LOOKS jobs; returns false if none of them is accepted. */
bool dfr_order_pop_where(struct dfr_order *order, bool (*may_take)(void *arg, uint64_t job), void *arg, uint64_t *job);
bool dfr_order_first(struct dfr_order *order, uint64_t *job);   /* peeks; may be out of date */

/* Finds the most urgent job at *place or after it, and moves *place just behind that job. Places begin at 0. Jobs that
 * come meanwhile may be missed. */
bool dfr_order_next(struct dfr_order *order, uint64_t *place, uint64_t *job);

/* Returns true if no job in the order is more urgent than this job of a member. May be out of date. */
bool dfr_order_is_first(struct dfr_order *order, uint64_t job);

/* Sorts nodes for create(): the highest key first; of equal keys the lowest number first. false: no memory. */
bool dfr_order_sort(uint32_t *nodes, uint32_t n_nodes, const double *key_of_node);

#endif
