/* topo.c - topological sorting of arbitrary arcs, for the compiler (declarations, elaboration, fusion) and finish.c;
 * returns a cycle if there is no order. */
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/builder.h"
#include "runtime/base/binary_heap.h"

/* ---- a heap of numbers, smallest first ---- */

#define smallest_before(a, b) (*(a) < *(b))
DFR_HEAP(smallest, uint32_t)

/* ---- a cycle among the items that never became ready ---- */

/* An item on a cycle. Going backwards from an item that waits to one that it waits for never ends, so it comes round.
 * Gives the item with the smallest number of that round. before[] is scratch of n. */
static uint32_t item_on_cycle(uint32_t n, const uint32_t *offsets, const uint32_t *targets, const uint32_t *waits_for,
                              uint32_t *before)
{
    uint32_t item = DF_NONE;
    for (uint32_t v = n; v-- > 0;) {
        if (!waits_for[v])
            continue;
        item = v;
        for (uint32_t i = offsets[v]; i < offsets[v + 1]; i++)
            before[targets[i]] = v;     /* read only for a target that waits; v itself waits */
    }
    for (uint32_t steps = 0; steps < n; steps++) /* after n steps we are on the round for certain */
        item = before[item];
    uint32_t smallest = item;
    for (uint32_t v = before[item]; v != item; v = before[v])
        if (v < smallest)
            smallest = v;
    return smallest;
}

/* A breadth-first search from `start` until it meets `start` again; writes the way. queue[] and before[] are scratch of
 * n. */
static void shortest_cycle(uint32_t n, const uint32_t *offsets, const uint32_t *targets, uint32_t start,
                           uint32_t *queue, uint32_t *before, uint32_t *cycle, uint32_t *n_cycle)
{
    uint32_t head = 0, tail = 0, last = start;
    for (uint32_t v = 0; v < n; v++)
        before[v] = DF_NONE;
    queue[tail++] = start;
    for (bool found = false; !found && head < tail;) {
        uint32_t v = queue[head++];
        for (uint32_t i = offsets[v]; i < offsets[v + 1] && !found; i++) {
            uint32_t t = targets[i];
            if (t == start) {
                last = v;
                found = true;
            } else if (before[t] == DF_NONE) {
                before[t] = v;
                queue[tail++] = t;
            }
        }
    }
    uint32_t length = 1;
    for (uint32_t v = last; v != start; v = before[v])
        length++;
    *n_cycle = length;
    for (uint32_t v = last; v != start; v = before[v])
        cycle[--length] = v;
    cycle[0] = start;
}

int df_topological_order(uint32_t n, const uint32_t *offsets, const uint32_t *targets, uint32_t *order,
                         uint32_t *cycle, uint32_t *n_cycle)
{
    uint32_t *waits_for = calloc((size_t)n + 1, sizeof *waits_for);
    uint32_t *heap = malloc(((size_t)n + 1) * sizeof *heap);
    int rc = DF_OK;
    if (!waits_for || !heap) {
        rc = DF_E_MEMORY;
        goto done;
    }
    uint32_t n_heap = 0, n_order = 0;
    for (uint32_t i = 0; n && i < offsets[n]; i++)
        waits_for[targets[i]]++;
    for (uint32_t v = 0; v < n; v++)
        if (!waits_for[v])
            smallest_put(heap, n_heap++, v);
    while (n_heap) {
        uint32_t v = smallest_take(heap, n_heap--);
        order[n_order++] = v;
        for (uint32_t i = offsets[v]; i < offsets[v + 1]; i++)
            if (--waits_for[targets[i]] == 0)
                smallest_put(heap, n_heap++, targets[i]);
    }
    if (n_order < n) {
        uint32_t start = item_on_cycle(n, offsets, targets, waits_for, heap);
        shortest_cycle(n, offsets, targets, start, order, heap, cycle, n_cycle);
        rc = DF_E_CYCLE;
    }
done:
    free(waits_for);
    free(heap);
    return rc;
}
