/* layout.c - assigns planned offsets from a list of segments (layout.h). The memory plan (partition/memory/) calls it.
 *
 * Every byte below the end belongs to exactly one segment. A *run* is a sequence of adjacent segments that may be taken. A new tenant takes segments from
 * the start of a run; the rest of the last one stays with its previous tenant. So a placement adds at most one segment.
 */
#include "memmgr/layout.h"

#include <stdlib.h>

#define NONE UINT32_MAX
#define MAX_TENANTS (UINT32_C(1) << 30)
#define MAX_BESIDE 64u                  /* segments that are looked at on each side of one that was offered by number */

struct segment {
    uint64_t offset, bytes;
    uint32_t before, after;             /* neighbours; `after` also links spare records */
    uint32_t tenant;
    uint32_t last_step;                 /* of the tenant */
    bool offered;
};

struct dfm_layout {
    uint64_t alignment, bytes;
    uint32_t n_segments, max_tenants;   /* n_segments: records in use or spare; those after them were never used */
    uint32_t first, last, spare;        /* segments: at offset 0, at the end; the first spare record */
    uint32_t n_offered, before_step;
    uint32_t *offered;                  /* segments that were offered; one that was taken since has lost its flag */
    uint32_t *of_tenant;                /* of a tenant: its segment; NONE: it has none, or lost all of it to others */
    struct segment *segments;
};

uint64_t dfm_layout_rounded(uint64_t bytes, uint64_t alignment)
{
    uint64_t units = bytes / alignment + (bytes % alignment != 0);
    units += units == 0;
    return units > UINT64_MAX / alignment ? UINT64_MAX : units * alignment;
}

struct dfm_layout *dfm_layout_create(uint64_t alignment, uint32_t max_tenants)
{
    struct dfm_layout *l = max_tenants <= MAX_TENANTS && alignment > 0 ? calloc(1, sizeof *l) : NULL;
    size_t n = (size_t)max_tenants + 1;

    if (!l)
        return NULL;
    l->alignment = alignment;
    l->max_tenants = max_tenants;
    l->first = l->last = l->spare = NONE;
    l->segments = malloc(n * sizeof *l->segments);
    l->offered = malloc(n * sizeof *l->offered);
    l->of_tenant = malloc(n * sizeof *l->of_tenant);
    if (!l->segments || !l->offered || !l->of_tenant) {
        dfm_layout_destroy(l);
        return NULL;
    }
    for (uint32_t t = 0; t < max_tenants; t++)
        l->of_tenant[t] = NONE;
    return l;
}

void dfm_layout_destroy(struct dfm_layout *l)
{
    if (!l)
        return;
    free(l->segments);
    free(l->offered);
    free(l->of_tenant);
    free(l);
}

uint64_t dfm_layout_bytes(const struct dfm_layout *l)
{
    return l->bytes;
}

/* ---- segments ---- */

static uint32_t segment_new(struct dfm_layout *l, uint64_t offset, uint64_t bytes)
{
    uint32_t s = l->spare;
    if (s != NONE)
        l->spare = l->segments[s].after;
    else
        s = l->n_segments++;
    l->segments[s] = (struct segment){ .offset = offset, .bytes = bytes, .before = NONE, .after = NONE, .tenant = NONE };
    return s;
}

static void link_between(struct dfm_layout *l, uint32_t before, uint32_t s, uint32_t after)
{
    l->segments[s].before = before;
    l->segments[s].after = after;
    *(before == NONE ? &l->first : &l->segments[before].after) = s;
    *(after == NONE ? &l->last : &l->segments[after].before) = s;
}

/* ---- offers ---- */

bool dfm_layout_offer(struct dfm_layout *l, uint32_t tenant)
{
    uint32_t s = l->of_tenant[tenant];

    if (s == NONE)
        return false;
    if (!l->segments[s].offered) {
        l->segments[s].offered = true;
        l->offered[l->n_offered++] = s;
    }
    return true;
}

void dfm_layout_withdraw(struct dfm_layout *l)
{
    for (uint32_t i = 0; i < l->n_offered; i++)
        l->segments[l->offered[i]].offered = false;
    l->n_offered = 0;
    l->before_step = 0;
}

void dfm_layout_offer_before(struct dfm_layout *l, uint32_t step)
{
    l->before_step = step;
}

static bool is_free(const struct dfm_layout *l, uint32_t s)
{
    return s != NONE && (l->segments[s].offered || l->segments[s].last_step < l->before_step);
}

/* The first segment of the run that contains the offered segment s. NONE: another offered segment comes before s in
 * this run, so the run is looked at when that one is. */
static uint32_t run_start(const struct dfm_layout *l, uint32_t s)
{
    for (uint32_t i = 0; i < MAX_BESIDE; i++) {
        uint32_t before = l->segments[s].before;
        if (!is_free(l, before))
            return s;
        if (l->segments[before].offered)
            return NONE;
        s = before;
    }
    return s;
}

/* The bytes of the run that begins with `s`. *at_end: the run ends at the end of the range. */
static uint64_t run_bytes(const struct dfm_layout *l, uint32_t s, bool *at_end)
{
    uint64_t bytes = 0;
    for (uint32_t beside = 0; is_free(l, s) && beside < 2 * MAX_BESIDE; s = l->segments[s].after) {
        bytes += l->segments[s].bytes;
        beside = l->segments[s].offered ? 0 : beside + 1;
    }
    *at_end = s == NONE;
    return bytes;
}

/* The first segment of the best run. If no run is large enough: of the run at the end, which must be made longer; NONE:
 * there is no run at the end. */
static uint32_t best_run(const struct dfm_layout *l, uint64_t bytes)
{
    uint32_t best = NONE, end = NONE;
    uint64_t best_bytes = UINT64_MAX;

    for (uint32_t i = 0; i < l->n_offered; i++) {
        uint32_t s = l->offered[i];
        bool at_end;
        if (!l->segments[s].offered || (s = run_start(l, s)) == NONE)
            continue;
        uint64_t run = run_bytes(l, s, &at_end);
        if (at_end)
            end = s;
        if (run >= bytes && (run < best_bytes ||
                             (run == best_bytes && l->segments[s].offset < l->segments[best].offset))) {
            best = s;
            best_bytes = run;
        }
    }
    return best != NONE ? best : end;
}

/* ---- placing ---- */

/* Takes `bytes` from the start of the run at `s`, or the whole run if it is shorter. Gives the segments before and
 * after what was taken. */
static void take_run(struct dfm_layout *l, uint32_t s, uint64_t bytes, uint32_t *before, uint32_t *after)
{
    *before = l->segments[s].before;
    while (s != NONE && bytes > 0) {
        struct segment *x = &l->segments[s];
        if (x->bytes > bytes) {
            x->offset += bytes;         /* the rest stays with its tenant */
            x->bytes -= bytes;
            break;
        }
        uint32_t next = x->after;
        bytes -= x->bytes;
        l->of_tenant[x->tenant] = NONE;
        x->offered = false;
        x->after = l->spare;
        l->spare = s;
        s = next;
    }
    *after = s;
}

bool dfm_layout_place(struct dfm_layout *l, uint32_t tenant, uint64_t bytes, uint32_t last_step, uint64_t *offset)
{
    uint64_t rounded = dfm_layout_rounded(bytes, l->alignment), at = l->bytes;
    uint32_t before = l->last, after = NONE, s;
    const uint32_t run = best_run(l, rounded);

    if (run != NONE)
        at = l->segments[run].offset;
    if (rounded == UINT64_MAX || at > UINT64_MAX - rounded)
        return false;
    if (run != NONE)
        take_run(l, run, rounded, &before, &after);
    s = segment_new(l, at, rounded);
    l->segments[s].tenant = tenant;
    l->segments[s].last_step = last_step;
    l->of_tenant[tenant] = s;
    link_between(l, before, s, after);
    if (at + rounded > l->bytes)
        l->bytes = at + rounded;
    *offset = at;
    return true;
}

/* ---- the check ---- */

bool dfm_layout_check(const struct dfm_layout *l)
{
    uint64_t at = 0;
    uint32_t before = NONE, n = 0, n_owned = 0, n_spare = 0;

    for (uint32_t s = l->first; s != NONE; before = s, s = l->segments[s].after) {
        const struct segment *x = &l->segments[s];
        if (x->offset != at || x->bytes == 0 || x->bytes % l->alignment != 0 || x->before != before ||
            x->tenant >= l->max_tenants || l->of_tenant[x->tenant] != s || ++n > l->n_segments)
            return false;
        at += x->bytes;
    }
    for (uint32_t t = 0; t < l->max_tenants; t++)
        n_owned += l->of_tenant[t] != NONE;
    for (uint32_t s = l->spare; s != NONE && n_spare <= l->n_segments; s = l->segments[s].after)
        n_spare++;
    return l->last == before && at == l->bytes && n_owned == n && n + n_spare == l->n_segments;
}
