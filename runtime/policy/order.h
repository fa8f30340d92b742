/* order.h - ready jobs in a fixed order of their nodes. Whoever takes a job gets the most urgent one, exactly.
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
 * Waking:   If a thread clears a bit that leads to jobs, and finds that a job has come meanwhile, it wakes the workers
 *           that take jobs from here (view->wake). They may have looked at that very moment, found nothing, and gone to
 *           sleep.
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
bool dfr_order_remove(struct dfr_order *order, uint64_t job);   /* true: the job was in the order, and this call took
                                                                 * it */
/* false: the order was empty at some moment during the call, or see Waking. */
bool dfr_order_pop(struct dfr_order *order, uint64_t *job);
/* Takes the most urgent of those jobs of which may_take() says yes. It looks at DFR_ORDER_LOOKS jobs at most. false:
 * there was none among them. */
bool dfr_order_pop_where(struct dfr_order *order, bool (*may_take)(void *arg, uint64_t job), void *arg, uint64_t *job);
bool dfr_order_first(struct dfr_order *order, uint64_t *job);   /* a glance */

/* Finds the most urgent job at *place or after it, and moves *place just behind that job. Places begin at 0. Jobs that
 * come meanwhile may be missed. */
bool dfr_order_next(struct dfr_order *order, uint64_t *place, uint64_t *job);

/* Is nothing in the order more urgent than this job of a member? A glance that may be out of date. */
bool dfr_order_is_first(struct dfr_order *order, uint64_t job);

/* Sorts nodes for create(): the highest key first; of equal keys the lowest number first. false: no memory. */
bool dfr_order_sort(uint32_t *nodes, uint32_t n_nodes, const double *key_of_node);

#endif
