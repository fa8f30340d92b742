/* probe.c - which pictures of an index may be like the one that is looked for: multi-probe locality-sensitive hashing (Lv et al., VLDB 2007).
 *
 * Probes:   A region that is near may lie in the interval beside. So for each table the keys are looked up that come from the region's own
 *           numbers, and from those with some of them one more or one less. What is nearer to the border of its interval comes
 *           first: sets of changes come in the order of the sums of the squared distances from the borders.
 * Chosen:   For each region of the picture, the pictures with the nearest regions among those found.
 */
#include "emd.h"
#include "index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The index becomes tokens, once. */
int load_cpu(struct df_call *call, size_t *m, size_t r, size_t t, size_t *e, float *known, int64_t *keys, int32_t *ids, const char *path,
             int32_t bits, double width)
{
    struct index x;
    if (index_open(call, path, &x) != DF_OK)
        return DF_FAILED;
    int result = index_fits(call, path, &x, (int64_t)r, (int64_t)t, bits, width);
    const size_t bound[] = { *m, r, 15 };
    if (result == DF_OK && (size_t)x.head->images > *m)
        result = df_fail(call, "'%s' has %lld pictures, and memory is planned for %zu: give --images=%lld", path, (long long)x.head->images,
                         bound[0], (long long)x.head->images);
    if (result == DF_OK) {
        *m = (size_t)x.head->images;
        *e = (size_t)x.head->entries;
        memcpy(known, x.known, *m * r * 15 * sizeof *known);
        memcpy(keys, x.keys, t * *e * sizeof *keys);
        memcpy(ids, x.ids, t * *e * sizeof *ids);
    }
    index_close(&x);
    return result;
}

/* ---- the order of probes ---- */

struct change {
    float cost;                         /* the squared distance from the border */
    int number, by;                     /* which number becomes one more or one less */
};

struct set {
    float cost;
    uint64_t members;                   /* of the changes, which are in ascending order of their cost */
    int last;                           /* the greatest member */
};

struct heap {
    struct set *sets;
    size_t n;
};

static int by_cost(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return x->cost != y->cost ? (x->cost > y->cost) - (x->cost < y->cost) : 2 * x->number + (x->by > 0) - 2 * y->number - (y->by > 0);
}

static void push(struct heap *h, struct set s)
{
    size_t i = h->n++;
    for (; i > 0 && h->sets[(i - 1) / 2].cost > s.cost; i = (i - 1) / 2)
        h->sets[i] = h->sets[(i - 1) / 2];
    h->sets[i] = s;
}

static struct set pop(struct heap *h)
{
    const struct set top = h->sets[0], last = h->sets[--h->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        child += child + 1 < h->n && h->sets[child + 1].cost < h->sets[child].cost;
        if (h->sets[child].cost >= last.cost)
            break;
        h->sets[i] = h->sets[child];
    }
    h->sets[i] = last;
    return top;
}

/* No number may become both one more and one less. */
static int is_possible(uint64_t members, const struct change *changes, size_t n)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < n; i++)
        if (members >> i & 1) {
            if (seen >> changes[i].number & 1)
                return 0;
            seen |= 1u << changes[i].number;
        }
    return 1;
}

/* The keys of one table in the order in which they are to be looked up; at most n of them. How many there are. `sets` has room for n: a set
 * gives two others if it is possible, and then a key, else one. Without its last change each set is possible. */
static size_t probe_keys(size_t table, const float *at, size_t bits, struct set *sets, uint64_t *keys, size_t n)
{
    struct change changes[2 * MOST_BITS];
    int32_t numbers[MOST_BITS], other[MOST_BITS];
    struct heap heap = { sets, 0 };
    size_t found = 0;
    for (size_t i = 0; i < bits; i++) {
        numbers[i] = index_number(at[i]);
        const float low = at[i] - (float)numbers[i], high = 1 - low;
        changes[2 * i] = (struct change){ low * low, (int)i, -1 };
        changes[2 * i + 1] = (struct change){ high * high, (int)i, 1 };
    }
    qsort(changes, 2 * bits, sizeof *changes, by_cost);
    keys[found++] = index_key(table, numbers, bits);
    push(&heap, (struct set){ changes[0].cost, 1, 0 });
    while (found < n && heap.n > 0) {
        const struct set s = pop(&heap);
        const int next = s.last + 1, possible = is_possible(s.members, changes, 2 * bits);
        if (next < 2 * (int)bits)       /* the next change in place of the last one */
            push(&heap, (struct set){ s.cost - changes[s.last].cost + changes[next].cost, (s.members ^ 1ull << s.last) | 1ull << next, next });
        if (!possible)
            continue;
        if (next < 2 * (int)bits)       /* and besides it */
            push(&heap, (struct set){ s.cost + changes[next].cost, s.members | 1ull << next, next });
        memcpy(other, numbers, sizeof other);
        for (size_t i = 0; i < 2 * bits; i++)
            if (s.members >> i & 1)
                other[changes[i].number] += changes[i].by;
        keys[found++] = index_key(table, other, bits);
    }
    return found;
}

/* ---- looking up ---- */

struct search {
    size_t images, regions, entries;
    const float *known;
    const int64_t *keys;
    const int32_t *ids;
    float *near;                        /* of each picture: how far its nearest region is; infinite if none was found */
    int32_t *found;                     /* the pictures that were found, n_found of them */
    size_t n_found;
};

static void look_up(struct search *s, const float *f, size_t table, uint64_t key)
{
    const int64_t *keys = s->keys + table * s->entries;
    size_t low = 0, high = s->entries;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (keys[middle] < (int64_t)key)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->entries && keys[low] == (int64_t)key; low++) {
        const int32_t id = s->ids[table * s->entries + low], image = id / (int32_t)s->regions;
        const float d = apart(f, s->known + 15 * (size_t)id);
        if (s->near[image] == INFINITY)
            s->found[s->n_found++] = image;
        s->near[image] = d < s->near[image] ? d : s->near[image];
    }
}

static int is_before(const struct search *s, int32_t a, int32_t b)
{
    return s->near[a] != s->near[b] ? s->near[a] < s->near[b] : a < b;
}

/* Puts the `much` nearest of the found pictures first, in any order. */
static void nearest_first(struct search *s, size_t much)
{
    for (size_t low = 0, high = s->n_found; high > low + 1 && low < much && much < high;) {
        const int32_t middle = s->found[low + (high - low) / 2];
        size_t at = low;
        s->found[low + (high - low) / 2] = s->found[high - 1];
        for (size_t i = low; i + 1 < high; i++)
            if (is_before(s, s->found[i], middle)) {
                const int32_t swap = s->found[i];
                s->found[i] = s->found[at];
                s->found[at++] = swap;
            }
        s->found[high - 1] = s->found[at];
        s->found[at] = middle;
        if (at < much)
            low = at + 1;
        else
            high = at;
    }
}

/* Looks for one region, marks the chosen pictures, and forgets the rest. */
static void choose(struct search *s, size_t much, uint8_t *chosen)
{
    nearest_first(s, much);
    for (size_t i = 0; i < s->n_found; i++) {
        chosen[s->found[i]] |= i < much;
        s->near[s->found[i]] = INFINITY;
    }
    s->n_found = 0;
}

/* The chosen pictures in ascending order. If there are fewer than are to be shown, the first ones of the index are added. */
int lookup_cpu(struct df_call *call, size_t n, size_t j, size_t m, size_t r, size_t t, size_t e, size_t *c, const float *f, const float *at,
              const float *known, const int64_t *keys, const int32_t *ids, float *near, int32_t *found, uint8_t *chosen, int32_t *which,
              int32_t probes, int32_t top)
{
    if (probes < 1 || probes > 100000)
        return df_fail(call, "--probes is from 1 to 100000");
    struct search s = { m, r, e, known, keys, ids, near, found, 0 };
    struct set *sets = malloc((size_t)probes * (sizeof *sets + sizeof(uint64_t)));
    if (!sets)
        return df_fail(call, "no memory for %d probes", (int)probes);
    uint64_t *probed = (uint64_t *)(sets + probes);
    size_t n_chosen = 0;
    memset(chosen, 0, m);
    for (size_t i = 0; i < m; i++)
        near[i] = INFINITY;
    for (size_t i = 0; i < n; i++) {
        for (size_t table = 0; table < t; table++) {
            const size_t n_probed = probe_keys(table, at + j * i + j / t * table, j / t, sets, probed, (size_t)probes);
            for (size_t k = 0; k < n_probed; k++)
                look_up(&s, f + 14 * i, table, probed[k]);
        }
        choose(&s, 2 * (size_t)top, chosen);
    }
    free(sets);
    for (size_t i = 0; i < m; i++)
        n_chosen += chosen[i];
    for (size_t i = 0; i < m && n_chosen < (size_t)top; i++) {
        n_chosen += !chosen[i];
        chosen[i] = 1;
    }
    size_t at_which = 0;
    for (size_t i = 0; i < m; i++)
        if (chosen[i])
            which[at_which++] = (int32_t)i;
    *c = at_which;
    return DF_OK;
}
