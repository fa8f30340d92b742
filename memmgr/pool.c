/* pool.c - a best-fit allocator whose records lie beside the managed range (pool.h). The cache of a device (cache.c,
 * unified.c) and the memory plan (partition/memory/) allocate from it.
 *
 * Every byte of the range belongs to exactly one record, which is free or used. Records are linked in order of offset,
 * and two neighbours are never both free. Free records are in a tree ordered by (size, offset); its first element that
 * is not smaller than a request is the best fit. Used records are in a tree ordered by offset, where dfm_pool_free()
 * finds them. At most max_blocks records are used, and between two used ones lies at most one free record. So 2 *
 * max_blocks + 1 records always suffice.
 *
 * The trees are treaps (Seidel & Aragon 1996): binary search trees that are also heaps by a priority. The priority is
 * hashed from the record's index. So the depth is logarithmic whatever the order of calls, and two runs do the same.
 */
#include "memmgr/pool.h"

#include <assert.h>
#include <stdlib.h>

#define NONE UINT32_MAX

struct record {
    uint64_t offset, bytes;
    uint32_t before, after;             /* neighbours by offset; `after` also links spare records */
    uint32_t left, right;               /* subtrees, in the tree of free or of used records */
    uint32_t priority;
    bool used;
};

struct tree {
    uint32_t root;
    bool by_size;
};

struct dfm_pool {
    uint64_t capacity, alignment;
    uint64_t used, peak;
    uint32_t n_used, max_blocks;
    uint32_t first, last;               /* the record at offset 0; the record at the end */
    uint32_t spare;                     /* the first in the list of records that have no range */
    struct tree free_tree, used_tree;
    struct record *records;
};

/* ---- trees ---- */

static bool goes_before(const struct dfm_pool *pool, const struct tree *tree, uint32_t a, uint32_t b)
{
    const struct record *x = &pool->records[a], *y = &pool->records[b];

    if (tree->by_size && x->bytes != y->bytes)
        return x->bytes < y->bytes;
    return x->offset < y->offset;
}

/* Splits the subtree `from` into the records before `pivot` and those after it. */
static void tree_split(struct dfm_pool *pool, const struct tree *tree, uint32_t from, uint32_t pivot, uint32_t *before,
                       uint32_t *after)
{
    while (from != NONE) {
        struct record *r = &pool->records[from];

        if (goes_before(pool, tree, from, pivot)) {
            *before = from;
            before = &r->right;
            from = r->right;
        } else {
            *after = from;
            after = &r->left;
            from = r->left;
        }
    }
    *before = NONE;
    *after = NONE;
}

static void tree_insert(struct dfm_pool *pool, struct tree *tree, uint32_t index)
{
    struct record *added = &pool->records[index];
    uint32_t *link = &tree->root;

    while (*link != NONE && pool->records[*link].priority >= added->priority)
        link = goes_before(pool, tree, index, *link) ? &pool->records[*link].left : &pool->records[*link].right;
    tree_split(pool, tree, *link, index, &added->left, &added->right);
    *link = index;
}

static void tree_remove(struct dfm_pool *pool, struct tree *tree, uint32_t index)
{
    uint32_t *link = &tree->root;
    uint32_t left, right;

    while (*link != index)
        link = goes_before(pool, tree, index, *link) ? &pool->records[*link].left : &pool->records[*link].right;
    left = pool->records[index].left;
    right = pool->records[index].right;
    while (left != NONE && right != NONE) {
        struct record *l = &pool->records[left], *r = &pool->records[right];

        if (l->priority >= r->priority) {
            *link = left;
            link = &l->right;
            left = l->right;
        } else {
            *link = right;
            link = &r->left;
            right = r->left;
        }
    }
    *link = left != NONE ? left : right;
}

/* The smallest free record of at least `bytes`; of equals the one with the lowest offset. NONE: there is none. */
static uint32_t best_fit(const struct dfm_pool *pool, uint64_t bytes)
{
    uint32_t at = pool->free_tree.root, best = NONE;

    while (at != NONE) {
        const struct record *r = &pool->records[at];

        if (r->bytes >= bytes) {
            best = at;
            at = r->left;
        } else {
            at = r->right;
        }
    }
    return best;
}

static uint32_t find_used(const struct dfm_pool *pool, uint64_t offset)
{
    uint32_t at = pool->used_tree.root;

    while (at != NONE && pool->records[at].offset != offset)
        at = offset < pool->records[at].offset ? pool->records[at].left : pool->records[at].right;
    return at;
}

/* ---- records ---- */

static uint32_t record_take(struct dfm_pool *pool, uint64_t offset, uint64_t bytes)
{
    uint32_t index = pool->spare;
    struct record *r = &pool->records[index];

    pool->spare = r->after;
    r->offset = offset;
    r->bytes = bytes;
    r->used = false;
    return index;
}

static void record_give(struct dfm_pool *pool, uint32_t index)
{
    pool->records[index].after = pool->spare;
    pool->spare = index;
}

/* The record after `index`; NONE: `index` is the last. */
static void set_after(struct dfm_pool *pool, uint32_t index, uint32_t after)
{
    pool->records[index].after = after;
    *(after == NONE ? &pool->last : &pool->records[after].before) = index;
}

/* Joins `right` to its neighbour `left`; neither is in a tree. */
static void record_join(struct dfm_pool *pool, uint32_t left, uint32_t right)
{
    struct record *l = &pool->records[left], *r = &pool->records[right];

    l->bytes += r->bytes;
    set_after(pool, left, r->after);
    record_give(pool, right);
}

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

struct dfm_pool *dfm_pool_create(uint64_t bytes, uint64_t alignment, uint32_t max_blocks)
{
    struct dfm_pool *pool;
    uint64_t n_records = 2 * (uint64_t)max_blocks + 1;

    if (alignment == 0 || n_records >= NONE)
        return NULL;
    pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    pool->records = calloc(n_records, sizeof *pool->records);
    if (pool->records == NULL) {
        free(pool);
        return NULL;
    }
    for (uint32_t i = 0; i < n_records; i++) {
        pool->records[i].priority = hash(i);
        pool->records[i].after = i + 1 < n_records ? i + 1 : NONE;
    }
    pool->capacity = bytes - bytes % alignment;
    pool->alignment = alignment;
    pool->max_blocks = max_blocks;
    pool->free_tree = (struct tree){NONE, true};
    pool->used_tree = (struct tree){NONE, false};
    pool->first = pool->last = NONE;
    if (pool->capacity > 0) {
        pool->first = pool->last = record_take(pool, 0, pool->capacity);
        pool->records[pool->first].before = NONE;
        pool->records[pool->first].after = NONE;
        tree_insert(pool, &pool->free_tree, pool->first);
    }
    return pool;
}

void dfm_pool_destroy(struct dfm_pool *pool)
{
    if (pool == NULL)
        return;
    free(pool->records);
    free(pool);
}

/* Even 0 bytes take one unit, so that every block has an offset of its own. If rounding up would overflow, it gives
 * UINT64_MAX, which fits nowhere. */
uint64_t dfm_pool_rounded(const struct dfm_pool *pool, uint64_t bytes)
{
    uint64_t units = bytes / pool->alignment + (bytes % pool->alignment != 0);

    if (units == 0)
        units = 1;
    return units > UINT64_MAX / pool->alignment ? UINT64_MAX : units * pool->alignment;
}

/* Cuts the record `index` down to `bytes`, and makes the rest of it a free record. */
static void split_rest(struct dfm_pool *pool, uint32_t index, uint64_t bytes)
{
    struct record *taken = &pool->records[index];
    uint32_t rest;

    if (taken->bytes == bytes)
        return;
    rest = record_take(pool, taken->offset + bytes, taken->bytes - bytes);
    set_after(pool, rest, taken->after);
    set_after(pool, index, rest);
    taken->bytes = bytes;
    tree_insert(pool, &pool->free_tree, rest);
}

/* Makes the first `bytes` of a free record used. The record is in no tree before. */
static void take_record(struct dfm_pool *pool, uint32_t index, uint64_t bytes)
{
    split_rest(pool, index, bytes);
    pool->records[index].used = true;
    tree_insert(pool, &pool->used_tree, index);
    pool->n_used++;
    pool->used += bytes;
    if (pool->used > pool->peak)
        pool->peak = pool->used;
}

bool dfm_pool_alloc(struct dfm_pool *pool, uint64_t bytes, uint64_t *offset)
{
    uint64_t rounded = dfm_pool_rounded(pool, bytes);
    uint32_t index = best_fit(pool, rounded);

    if (index == NONE || pool->n_used == pool->max_blocks)
        return false;
    tree_remove(pool, &pool->free_tree, index);
    take_record(pool, index, rounded);
    *offset = pool->records[index].offset;
    return true;
}

/* The record that contains this offset. It is the last used record that begins at or below the offset, or the one after
 * that. */
static uint32_t find_around(const struct dfm_pool *pool, uint64_t offset)
{
    uint32_t at = pool->used_tree.root, last = NONE;

    while (at != NONE) {
        if (pool->records[at].offset <= offset) {
            last = at;
            at = pool->records[at].right;
        } else {
            at = pool->records[at].left;
        }
    }
    if (last == NONE)
        return pool->first;
    return offset < pool->records[last].offset + pool->records[last].bytes ? last : pool->records[last].after;
}

bool dfm_pool_alloc_at(struct dfm_pool *pool, uint64_t offset, uint64_t bytes)
{
    uint64_t rounded = dfm_pool_rounded(pool, bytes);
    uint32_t index = find_around(pool, offset);
    struct record *r = index == NONE ? NULL : &pool->records[index];

    if (r == NULL || r->used || r->offset > offset || r->bytes - (offset - r->offset) < rounded ||
        pool->n_used == pool->max_blocks)
        return false;
    tree_remove(pool, &pool->free_tree, index);
    if (r->offset < offset) {           /* the record is split: what lies before the offset stays free */
        uint64_t before = offset - r->offset;
        uint32_t ours = record_take(pool, offset, r->bytes - before);
        set_after(pool, ours, r->after);
        set_after(pool, index, ours);
        r->bytes = before;
        tree_insert(pool, &pool->free_tree, index);
        index = ours;
    }
    take_record(pool, index, rounded);
    return true;
}

bool dfm_pool_alloc_above(struct dfm_pool *pool, uint64_t from, uint64_t bytes, uint64_t *offset)
{
    uint64_t rounded = dfm_pool_rounded(pool, bytes);

    for (uint32_t i = pool->last; i != NONE; i = pool->records[i].before) {
        const struct record *r = &pool->records[i];
        uint64_t end = r->offset + r->bytes, begin = r->offset > from ? r->offset : from;
        if (end <= from)
            break;
        if (r->used || end - begin < rounded)
            continue;
        *offset = end - rounded;
        return dfm_pool_alloc_at(pool, *offset, bytes);
    }
    return false;
}

void dfm_pool_free(struct dfm_pool *pool, uint64_t offset)
{
    uint32_t index = find_used(pool, offset), before, after;

    assert(index != NONE);              /* it is no offset of a block in use: the caller's mistake */
    tree_remove(pool, &pool->used_tree, index);
    pool->records[index].used = false;
    pool->n_used--;
    pool->used -= pool->records[index].bytes;
    after = pool->records[index].after;
    if (after != NONE && !pool->records[after].used) {
        tree_remove(pool, &pool->free_tree, after);
        record_join(pool, index, after);
    }
    before = pool->records[index].before;
    if (before != NONE && !pool->records[before].used) {
        tree_remove(pool, &pool->free_tree, before);
        record_join(pool, before, index);
        index = before;
    }
    tree_insert(pool, &pool->free_tree, index);
}

uint64_t dfm_pool_used(const struct dfm_pool *pool)
{
    return pool->used;
}

uint64_t dfm_pool_peak(const struct dfm_pool *pool)
{
    return pool->peak;
}

uint64_t dfm_pool_capacity(const struct dfm_pool *pool)
{
    return pool->capacity;
}

uint64_t dfm_pool_largest_free(const struct dfm_pool *pool)
{
    uint32_t at = pool->free_tree.root;

    if (at == NONE)
        return 0;
    while (pool->records[at].right != NONE)
        at = pool->records[at].right;
    return pool->records[at].bytes;
}

/* ---- the check ---- */

/* Whether a search from the root finds `index`, and priorities never grow on the way. */
static bool tree_holds(const struct dfm_pool *pool, const struct tree *tree, uint32_t index)
{
    uint32_t at = tree->root, above = UINT32_MAX;

    while (at != NONE && at != index) {
        if (pool->records[at].priority > above)
            return false;
        above = pool->records[at].priority;
        at = goes_before(pool, tree, index, at) ? pool->records[at].left : pool->records[at].right;
    }
    return at == index;
}

/* The number of records in a tree. The recursion is as deep as the tree, whose depth is logarithmic. */
static uint32_t tree_count(const struct dfm_pool *pool, uint32_t root, uint32_t budget)
{
    uint32_t count = 0;

    while (root != NONE && count <= budget) {
        count += 1 + tree_count(pool, pool->records[root].left, budget);
        root = pool->records[root].right;
    }
    return count;
}

bool dfm_pool_check(const struct dfm_pool *pool)
{
    uint32_t n_used = 0, n_free = 0, n_spare = 0, before = NONE;
    uint32_t n_records = 2 * pool->max_blocks + 1;
    uint64_t used = 0, at_offset = 0;
    bool before_free = false;

    for (uint32_t i = pool->first; i != NONE; i = pool->records[i].after) {
        const struct record *r = &pool->records[i];

        if (r->offset != at_offset || r->before != before || r->bytes == 0 || r->bytes % pool->alignment != 0)
            return false;
        if (!r->used && before_free)
            return false;
        if (!tree_holds(pool, r->used ? &pool->used_tree : &pool->free_tree, i))
            return false;
        n_used += r->used;
        n_free += !r->used;
        used += r->used ? r->bytes : 0;
        before_free = !r->used;
        before = i;
        at_offset += r->bytes;
        if (n_used + n_free > n_records)
            return false;
    }
    for (uint32_t i = pool->spare; i != NONE && n_spare <= n_records; i = pool->records[i].after)
        n_spare++;
    return at_offset == pool->capacity && before == pool->last && used == pool->used && n_used == pool->n_used &&
           used <= pool->peak && n_used + n_free + n_spare == n_records &&
           tree_count(pool, pool->used_tree.root, n_used) == n_used &&
           tree_count(pool, pool->free_tree.root, n_free) == n_free;
}
