/* items.h - the items of a stream, sorted once per processor type (DBSA's sorted queues): an item that is taken from
 * one queue disappears from all. sender.c and receiver.c keep theirs in it.
 *
 * Orders:   `sorted`: the highest weight first (stream.h), among equal ones the oldest; otherwise the oldest first. An
 *           item that a type cannot process is not in that type's queue. The queues are heaps that know the position of
 *           each item.
 * Slots:    an item has a slot from add() to drop(). It *waits* while it is in the queues. out() removes it from them,
 *           and back() re-inserts it as older than all others.
 * Memory:   grows by doubling; free() returns it.
 */
#ifndef DFR_STREAM_ITEMS_H
#define DFR_STREAM_ITEMS_H

#include "runtime/stream/stream.h"

#define DFR_NO_SLOT UINT32_MAX

struct dfr_item_slot {
    struct dfr_stream_item item;
    int64_t age;                        /* the smaller, the older */
    uint32_t mark;                      /* the owner's: on whose behalf, or to whom */
    uint32_t next;                      /* free slots; items of the same hash */
    bool used, waits;
};

struct dfr_items {
    uint32_t n_types, present;
    bool sorted;
    uint32_t capacity, n_used, n_waiting, free; /* `free`: the first free slot */
    int64_t newest, oldest;             /* ages */
    struct dfr_item_slot *slots;
    uint32_t *buckets, n_buckets;       /* by id: lists of slots; a power of two */
    struct dfr_item_order {
        uint32_t *heap, *place, n;      /* slots; by slot its place in the heap, DFR_NO_SLOT: it is not in it */
        double *key;                    /* by slot */
    } orders[DFR_STREAM_TYPES];
};

void dfr_items_init(struct dfr_items *items, uint32_t n_types, uint32_t present, bool sorted);
void dfr_items_free(struct dfr_items *items);

/* The slot of the new item; DFR_NO_SLOT: no memory. */
uint32_t dfr_items_add(struct dfr_items *items, const struct dfr_stream_item *item, uint32_t mark);
uint32_t dfr_items_find(const struct dfr_items *items, uint64_t id);  /* DFR_NO_SLOT: there is none */
uint32_t dfr_items_first(const struct dfr_items *items, uint32_t type); /* that waits; DFR_NO_SLOT: none for that type */
void dfr_items_out(struct dfr_items *items, uint32_t slot);
void dfr_items_back(struct dfr_items *items, uint32_t slot);
void dfr_items_drop(struct dfr_items *items, uint32_t slot);          /* that does not wait */
/* Do orders, places and counts agree? For tests. */
bool dfr_items_check(const struct dfr_items *items);

#endif
