/* urgent.h - a binary heap of ready nodes: the most urgent first, of equals the lowest number. The list schedulers (heft.c, gp/gp_list.c)
 * and the evaluator (evaluate.c) use it.
 *
 * Memory:   the array is the caller's, and has room for all nodes that can be in the heap at once.
 */
#ifndef DFP_URGENT_H
#define DFP_URGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/binary_heap.h"

struct dfp_urgent {
    double urgency;
    uint32_t node;
};

struct dfp_urgents {
    struct dfp_urgent *at;              /* at[0] is the first */
    uint32_t n;
};

static inline bool dfp_urgent_before(const struct dfp_urgent *a, const struct dfp_urgent *b)
{
    return a->urgency != b->urgency ? a->urgency > b->urgency : a->node < b->node;
}

DFR_HEAP(dfp_urgent, struct dfp_urgent)

static inline void dfp_urgents_push(struct dfp_urgents *heap, double urgency, uint32_t node)
{
    dfp_urgent_put(heap->at, heap->n++, (struct dfp_urgent){ urgency, node });
}

static inline uint32_t dfp_urgents_pop(struct dfp_urgents *heap)
{
    return dfp_urgent_take(heap->at, heap->n--).node;
}

#endif
