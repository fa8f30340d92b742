/* items.c - priority queues of items, one binary heap per processor type (items.h), for sender.c and receiver.c. */
#include "runtime/stream/items.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"

enum { FIRST_CAPACITY = 16 };

void dfr_items_init(struct dfr_items *s, uint32_t n_types, uint32_t present, bool sorted)
{
    *s = (struct dfr_items){ .n_types = n_types, .present = present, .sorted = sorted, .free = DFR_NO_SLOT };
}

void dfr_items_free(struct dfr_items *s)
{
    for (uint32_t t = 0; t < DFR_STREAM_TYPES; t++) {
        free(s->orders[t].heap);
        free(s->orders[t].place);
        free(s->orders[t].key);
    }
    free(s->slots);
    free(s->buckets);
    *s = (struct dfr_items){ .free = DFR_NO_SLOT };
}

/* ---- memory ---- */

static bool resize(void **array, size_t n, size_t item_bytes)
{
    void *more = realloc(*array, n * item_bytes);
    if (more)
        *array = more;
    return more;
}

static uint32_t bucket_of(const struct dfr_items *s, uint64_t id)
{
    return (uint32_t)dfr_random_finish(id) & (s->n_buckets - 1);
}

static void hash(struct dfr_items *s, uint32_t slot)
{
    uint32_t *bucket = &s->buckets[bucket_of(s, s->slots[slot].item.id)];
    s->slots[slot].next = *bucket;
    *bucket = slot;
}

static bool grow(struct dfr_items *s)
{
    uint32_t more = s->capacity ? 2 * s->capacity : FIRST_CAPACITY;
    bool good = resize((void **)&s->slots, more, sizeof *s->slots) && resize((void **)&s->buckets, more, sizeof *s->buckets);
    for (uint32_t t = 0; good && t < s->n_types; t++) {
        struct dfr_item_order *order = &s->orders[t];
        good = resize((void **)&order->heap, more, sizeof *order->heap) && resize((void **)&order->place, more, sizeof *order->place) &&
               resize((void **)&order->key, more, sizeof *order->key);
    }
    if (!good)
        return false;                   /* what has grown is larger than it need be */
    for (uint32_t slot = s->capacity; slot < more; slot++) {
        s->slots[slot] = (struct dfr_item_slot){ .next = slot + 1 < more ? slot + 1 : s->free };
        for (uint32_t t = 0; t < s->n_types; t++)
            s->orders[t].place[slot] = DFR_NO_SLOT;
    }
    s->free = s->capacity;
    s->n_buckets = more;
    memset(s->buckets, 0xff, more * sizeof *s->buckets); /* DFR_NO_SLOT */
    for (uint32_t slot = 0; slot < s->capacity; slot++)
        if (s->slots[slot].used)
            hash(s, slot);
    s->capacity = more;
    return true;
}

/* ---- a heap ---- */

static bool before(const struct dfr_items *s, const struct dfr_item_order *order, uint32_t a, uint32_t b)
{
    return order->key[a] != order->key[b] ? order->key[a] > order->key[b] : s->slots[a].age < s->slots[b].age;
}

static void put(struct dfr_item_order *order, uint32_t place, uint32_t slot)
{
    order->heap[place] = slot;
    order->place[slot] = place;
}

/* Puts the slot where it belongs, beginning at a place that is free. */
static void settle(const struct dfr_items *s, struct dfr_item_order *order, uint32_t place, uint32_t slot)
{
    for (; place > 0 && before(s, order, slot, order->heap[(place - 1) / 2]); place = (place - 1) / 2)
        put(order, place, order->heap[(place - 1) / 2]);
    for (uint32_t child; (child = 2 * place + 1) < order->n; place = child) {
        child += child + 1 < order->n && before(s, order, order->heap[child + 1], order->heap[child]);
        if (!before(s, order, order->heap[child], slot))
            break;
        put(order, place, order->heap[child]);
    }
    put(order, place, slot);
}

static void list(struct dfr_items *s, uint32_t slot)
{
    for (uint32_t t = 0; t < s->n_types; t++) {
        struct dfr_item_order *order = &s->orders[t];
        double weight = dfr_stream_weight(&s->slots[slot].item, s->n_types, s->present, t);
        if (!(s->present >> t & 1) || weight < 0)
            continue;
        order->key[slot] = s->sorted ? weight : 1;
        settle(s, order, order->n++, slot);
    }
    s->slots[slot].waits = true;
    s->n_waiting++;
}

static void unlist(struct dfr_items *s, struct dfr_item_order *order, uint32_t slot)
{
    uint32_t place = order->place[slot];
    if (place == DFR_NO_SLOT)
        return;
    uint32_t last = order->heap[--order->n];
    order->place[slot] = DFR_NO_SLOT;
    if (last != slot)
        settle(s, order, place, last);
}

/* ---- items ---- */

uint32_t dfr_items_add(struct dfr_items *s, const struct dfr_stream_item *item, uint32_t mark)
{
    if (s->free == DFR_NO_SLOT && !grow(s))
        return DFR_NO_SLOT;
    uint32_t slot = s->free;
    s->free = s->slots[slot].next;
    s->slots[slot] = (struct dfr_item_slot){ .item = *item, .age = ++s->newest, .mark = mark, .used = true };
    s->n_used++;
    hash(s, slot);
    list(s, slot);
    return slot;
}

uint32_t dfr_items_find(const struct dfr_items *s, uint64_t id)
{
    uint32_t slot = s->n_buckets ? s->buckets[bucket_of(s, id)] : DFR_NO_SLOT;
    while (slot != DFR_NO_SLOT && s->slots[slot].item.id != id)
        slot = s->slots[slot].next;
    return slot;
}

uint32_t dfr_items_first(const struct dfr_items *s, uint32_t type)
{
    return s->orders[type].n ? s->orders[type].heap[0] : DFR_NO_SLOT;
}

void dfr_items_out(struct dfr_items *s, uint32_t slot)
{
    for (uint32_t t = 0; t < s->n_types; t++)
        unlist(s, &s->orders[t], slot);
    s->slots[slot].waits = false;
    s->n_waiting--;
}

void dfr_items_back(struct dfr_items *s, uint32_t slot)
{
    s->slots[slot].age = --s->oldest;
    list(s, slot);
}

void dfr_items_drop(struct dfr_items *s, uint32_t slot)
{
    uint32_t *at = &s->buckets[bucket_of(s, s->slots[slot].item.id)];
    while (*at != slot)
        at = &s->slots[*at].next;
    *at = s->slots[slot].next;
    s->slots[slot] = (struct dfr_item_slot){ .next = s->free };
    s->free = slot;
    s->n_used--;
}

static bool check_order(const struct dfr_items *s, uint32_t type)
{
    const struct dfr_item_order *order = &s->orders[type];
    uint32_t n = 0;
    for (uint32_t i = 0; i < order->n; i++)
        if (order->place[order->heap[i]] != i || !s->slots[order->heap[i]].waits || (i && before(s, order, order->heap[i], order->heap[(i - 1) / 2])))
            return false;
    for (uint32_t slot = 0; slot < s->capacity; slot++)
        n += s->slots[slot].waits && s->present >> type & 1 && dfr_stream_weight(&s->slots[slot].item, s->n_types, s->present, type) >= 0;
    return n == order->n;
}

bool dfr_items_check(const struct dfr_items *s)
{
    uint32_t n_used = 0, n_waiting = 0;
    for (uint32_t slot = 0; slot < s->capacity; slot++) {
        n_used += s->slots[slot].used;
        n_waiting += s->slots[slot].waits;
        if (s->slots[slot].used && dfr_items_find(s, s->slots[slot].item.id) == DFR_NO_SLOT)
            return false;
    }
    for (uint32_t t = 0; t < s->n_types; t++)
        if (!check_order(s, t))
            return false;
    return n_used == s->n_used && n_waiting == s->n_waiting;
}
