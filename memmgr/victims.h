/* victims.h - chooses which unpinned block is evicted when memory is needed: the one whose next use is furthest in the future (Belady); of equals, the
 * least recently used. If no next uses are known, all are equal, which gives LRU. cache.c and the simulated memory of devices
 * (runtime/simulate/simulate_room.c) use it; runtime/policy/next_use.c tells the next uses.
 *
 * Words:    an *item* is a number below n_items. It is present from add() to remove(), and its next use does not change in between. Uses are numbered in
 *           the order of time; DFM_NEVER means that there is no next use.
 * Memory:   create() allocates all that can be needed.
 * Cost:     a heap in arrays. first() is O(1), the rest is O(log n). Under LRU an added item is always the last to go,
 *           which is O(1).
 * Threads:  one at a time.
 */
#ifndef DFM_VICTIMS_H
#define DFM_VICTIMS_H

#include <stdbool.h>
#include <stdint.h>

#define DFM_NEVER UINT64_MAX
#define DFM_NO_VICTIM UINT32_MAX

struct dfm_victim {
    uint64_t next_use, used;            /* `used` numbers additions: the smaller, the longer ago it was used */
    uint32_t item;
};

struct dfm_victims {
    uint32_t n;
    struct dfm_victim *heap;            /* the first is the next to be evicted */
    uint32_t *place;                    /* of an item: its index in the heap; DFM_NO_VICTIM: it is not there */
    uint32_t n_items;
    uint64_t clock;
};

bool dfm_victims_create(struct dfm_victims *victims, uint32_t n_items); /* false: no memory; destroy() is still due */
void dfm_victims_destroy(struct dfm_victims *victims);                  /* allowed if all is zero */

static inline bool dfm_victims_has(const struct dfm_victims *v, uint32_t item)
{
    return v->place[item] != DFM_NO_VICTIM;
}
static inline uint32_t dfm_victims_first(const struct dfm_victims *v)
{
    return v->n > 0 ? v->heap[0].item : DFM_NO_VICTIM;
}

void dfm_victims_add(struct dfm_victims *victims, uint32_t item, uint64_t next_use); /* an item that is not in here */
void dfm_victims_remove(struct dfm_victims *victims, uint32_t item);                 /* an item that is in here */

bool dfm_victims_check(const struct dfm_victims *victims); /* for asserts and tests */

#endif
