/* victims.h - which of the blocks that nobody is using goes when room is needed: the one whose next use is furthest in
 * the future (Belady); of equals, the one that was used longest ago. Where nothing is known of next uses all are equal,
 * and that is LRU.
 *
 * Words:    an *item* is a number below n_items, in here from add() to remove(); its next use is fixed meanwhile. Uses
 *           have numbers in the order of time; DFM_NEVER: there is none.
 * Memory:   create() allocates all that can be needed. A heap in arrays: first() is O(1), the rest O(log n); an item
 *           that is added with the latest use of all, as under LRU every one is, is O(1).
 * Threads:  one at a time.
 */
#ifndef DFM_VICTIMS_H
#define DFM_VICTIMS_H

#include <stdbool.h>
#include <stdint.h>

#define DFM_NEVER UINT64_MAX
#define DFM_NO_VICTIM UINT32_MAX

struct dfm_victim {
    uint64_t next_use, used;            /* `used` counts additions: the smaller, the longer ago */
    uint32_t item;
};

struct dfm_victims {
    uint32_t n;
    struct dfm_victim *heap;            /* the first is the next to go */
    uint32_t *place;                    /* by item: where in the heap; DFM_NO_VICTIM: it is not */
    uint32_t n_items;
    uint64_t clock;
};

bool dfm_victims_create(struct dfm_victims *victims, uint32_t n_items); /* false: no memory; destroy() is due anyway */
void dfm_victims_destroy(struct dfm_victims *victims);                  /* one that is all zero, too */

static inline bool dfm_victims_has(const struct dfm_victims *v, uint32_t item)
{
    return v->place[item] != DFM_NO_VICTIM;
}
static inline uint32_t dfm_victims_first(const struct dfm_victims *v)
{
    return v->n > 0 ? v->heap[0].item : DFM_NO_VICTIM;
}

void dfm_victims_add(struct dfm_victims *victims, uint32_t item, uint64_t next_use); /* one that is not in */
void dfm_victims_remove(struct dfm_victims *victims, uint32_t item);                 /* one that is */

bool dfm_victims_check(const struct dfm_victims *victims); /* for asserts and tests */

#endif
