/* urgent.h - a binary heap of nodes that are ready: the most urgent first, of equals the lowest number. List schedulers
 * and the evaluator keep their ready nodes in it.
 *
 * Memory:   the array is the caller's, and has room for all nodes that can be in the heap at once.
 */
#ifndef DFP_URGENT_H
#define DFP_URGENT_H

#include <stdbool.h>
#include <stdint.h>

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

static inline void dfp_urgents_push(struct dfp_urgents *heap, double urgency, uint32_t node)
{
    struct dfp_urgent item = { urgency, node };
    uint32_t i = heap->n++;
    for (; i && dfp_urgent_before(&item, &heap->at[(i - 1) / 2]); i = (i - 1) / 2)
        heap->at[i] = heap->at[(i - 1) / 2];
    heap->at[i] = item;
}

static inline uint32_t dfp_urgents_pop(struct dfp_urgents *heap)
{
    uint32_t top = heap->at[0].node, i = 0;
    struct dfp_urgent last = heap->at[--heap->n];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= heap->n)
            break;
        if (child + 1 < heap->n && dfp_urgent_before(&heap->at[child + 1], &heap->at[child]))
            child++;
        if (!dfp_urgent_before(&heap->at[child], &last))
            break;
        heap->at[i] = heap->at[child];
        i = child;
    }
    heap->at[i] = last;
    return top;
}

#endif
