/* victims.c - a binary heap that tracks the index of each item, so that any item can be removed (victims.h). cache.c
 * and the simulated device memory (simulate/simulate_room.c) use it to choose what to evict. */
#include "memmgr/victims.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool goes_before(const struct dfm_victim *a, const struct dfm_victim *b)
{
    return a->next_use != b->next_use ? a->next_use > b->next_use : a->used < b->used;
}

static void put(struct dfm_victims *v, uint32_t at, struct dfm_victim victim)
{
    v->heap[at] = victim;
    v->place[victim.item] = at;
}

/* The index `at` is free: puts the victim there, or as far up or down from there as its order demands. */
static void settle(struct dfm_victims *v, uint32_t at, struct dfm_victim victim)
{
    while (at > 0 && goes_before(&victim, &v->heap[(at - 1) / 2])) {
        put(v, at, v->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (uint64_t child; (child = 2 * (uint64_t)at + 1) < v->n; at = (uint32_t)child) {
        if (child + 1 < v->n && goes_before(&v->heap[child + 1], &v->heap[child]))
            child++;
        if (!goes_before(&v->heap[child], &victim))
            break;
        put(v, at, v->heap[child]);
    }
    put(v, at, victim);
}

void dfm_victims_add(struct dfm_victims *v, uint32_t item, uint64_t next_use)
{
    assert(!dfm_victims_has(v, item));
    settle(v, v->n++, (struct dfm_victim){ next_use, v->clock++, item });
}

void dfm_victims_remove(struct dfm_victims *v, uint32_t item)
{
    uint32_t at = v->place[item];

    assert(at != DFM_NO_VICTIM);
    v->place[item] = DFM_NO_VICTIM;
    if (at < --v->n)
        settle(v, at, v->heap[v->n]);
}

bool dfm_victims_check(const struct dfm_victims *v)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < v->n_items; i++)
        n += dfm_victims_has(v, i);
    for (uint32_t at = 0; at < v->n; at++)
        if (v->heap[at].item >= v->n_items || v->place[v->heap[at].item] != at ||
            (at > 0 && goes_before(&v->heap[at], &v->heap[(at - 1) / 2])))
            return false;
    return n == v->n;
}

bool dfm_victims_create(struct dfm_victims *v, uint32_t n_items)
{
    *v = (struct dfm_victims){ .n_items = n_items };
    v->heap = malloc(((size_t)n_items + 1) * sizeof *v->heap);
    v->place = malloc(((size_t)n_items + 1) * sizeof *v->place);
    if (!v->heap || !v->place)
        return false;
    memset(v->place, 0xff, ((size_t)n_items + 1) * sizeof *v->place);
    return true;
}

void dfm_victims_destroy(struct dfm_victims *v)
{
    free(v->heap);
    free(v->place);
}
