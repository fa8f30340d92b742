/* shared_deque.c - implements a Chase-Lev work-stealing deque (shared_deque.h), for policy/policy_ws.c.
 *
 * Why an item is taken once: as long as more than one is inside, the owner takes at `high` and thieves at `low`. For
 * the last one the owner moves `low` with a compare-and-swap, as a thief does, so one of them gets it. The owner writes
 * `high` and then reads `low`; a thief reads `low` and then `high`. These four are sequentially consistent, so either
 * the owner sees that the thief was there, or the thief sees that the item is gone.
 *
 * Orders:   the store of `high` in push releases the item; a thief's load of `high` acquires it. A thief reads an item
 *           before its compare-and-swap of `low`: if that succeeds, nobody has used the place again meanwhile, because
 *           the owner pushes there only after `low` has moved on.
 */
#include "runtime/threads/shared_deque.h"

#include <stdlib.h>

bool dfr_shared_deque_create(struct dfr_shared_deque *d, uint32_t capacity)
{
    d->mask = (int64_t)capacity - 1;
    atomic_init(&d->low, 0);
    atomic_init(&d->high, 0);
    d->items = malloc(capacity * sizeof *d->items);
    for (uint32_t i = 0; d->items && i < capacity; i++)
        atomic_init(&d->items[i], 0);
    return d->items != NULL;
}

void dfr_shared_deque_destroy(struct dfr_shared_deque *d)
{
    free(d->items);
    d->items = NULL;
}

bool dfr_shared_deque_push(struct dfr_shared_deque *d, uint64_t item)
{
    int64_t high = atomic_load_explicit(&d->high, memory_order_relaxed);
    if (high - atomic_load_explicit(&d->low, memory_order_acquire) > d->mask)
        return false;
    atomic_store_explicit(&d->items[high & d->mask], item, memory_order_relaxed);
    atomic_store_explicit(&d->high, high + 1, memory_order_release);
    return true;
}

bool dfr_shared_deque_pop(struct dfr_shared_deque *d, uint64_t *item)
{
    int64_t high = atomic_load_explicit(&d->high, memory_order_relaxed) - 1, low;
    bool taken = true;

    atomic_store_explicit(&d->high, high, memory_order_seq_cst);
    low = atomic_load_explicit(&d->low, memory_order_seq_cst);
    if (low > high) {
        atomic_store_explicit(&d->high, high + 1, memory_order_relaxed);
        return false;
    }
    *item = atomic_load_explicit(&d->items[high & d->mask], memory_order_relaxed);
    if (low == high) {                  /* the last one: thieves may be at it */
        taken = atomic_compare_exchange_strong_explicit(&d->low, &low, low + 1, memory_order_seq_cst,
                                                        memory_order_relaxed);
        atomic_store_explicit(&d->high, high + 1, memory_order_relaxed);
    }
    return taken;
}

bool dfr_shared_deque_steal(struct dfr_shared_deque *d, uint64_t *item)
{
    for (;;) {
        int64_t low = atomic_load_explicit(&d->low, memory_order_seq_cst);
        if (low >= atomic_load_explicit(&d->high, memory_order_seq_cst))
            return false;
        *item = atomic_load_explicit(&d->items[low & d->mask], memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&d->low, &low, low + 1, memory_order_seq_cst, memory_order_relaxed))
            return true;
    }
}

uint32_t dfr_shared_deque_size(struct dfr_shared_deque *d)
{
    int64_t low = atomic_load_explicit(&d->low, memory_order_relaxed);
    int64_t high = atomic_load_explicit(&d->high, memory_order_relaxed);
    return high > low ? (uint32_t)(high - low) : 0;
}
