/* binary_heap.h - binary heaps in arrays. DFR_HEAP(NAME, TYPE) defines, for a function or macro `NAME_before(const TYPE *a, const TYPE *b)` that says whether a
 * comes out before b:
 *
 *   NAME_put(heap, n, item)   adds an item to n others; the array has room for it
 *   NAME_take(heap, n)        removes the first of n items, at least 1, and returns it
 *
 * Order:    a strict total order makes what comes out independent of how it was put in.
 * Cost:     O(log n) comparisons; nothing is allocated.
 * Users:    queues of events (virtual_time.h, partition/stages/run.c, partition/gp/gp_fast.c), of ready nodes (graph/topo.c, partition/model/urgent.h) and of
 *           flows (compiler/cluster/flows.c).
 */
#ifndef DFR_BINARY_HEAP_H
#define DFR_BINARY_HEAP_H

#include <stddef.h>

#define DFR_HEAP(NAME, TYPE)                                                            \
    static inline void NAME##_put(TYPE *heap, size_t n, TYPE item)                      \
    {                                                                                   \
        size_t i = n;                                                                   \
        for (; i && NAME##_before(&item, &heap[(i - 1) / 2]); i = (i - 1) / 2)          \
            heap[i] = heap[(i - 1) / 2];                                                \
        heap[i] = item;                                                                 \
    }                                                                                   \
    static inline TYPE NAME##_take(TYPE *heap, size_t n)                                \
    {                                                                                   \
        const TYPE first = heap[0], last = heap[--n];                                   \
        size_t i = 0;                                                                   \
        for (size_t child; (child = 2 * i + 1) < n; i = child) {                        \
            child += child + 1 < n && NAME##_before(&heap[child + 1], &heap[child]);    \
            if (!NAME##_before(&heap[child], &last))                                    \
                break;                                                                  \
            heap[i] = heap[child];                                                      \
        }                                                                               \
        heap[i] = last;                                                                 \
        return first;                                                                   \
    }

#endif
