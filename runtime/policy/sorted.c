/* sorted.c - keeps each ready job in several sorted lists at once, from which one claim takes it (sorted.h), for ddwrr, pats, padas and pams.
 *
 * A job is offered first (offer.h) and then added to its lists. A worker that finds it in one list claims it, and removes it from all. If the claim comes before
 * the job was added to all lists, a stale entry remains. A worker that finds a stale entry cannot claim it, and removes it; if the job was offered again
 * meanwhile, the entry is put back. So every offered job is in all its lists, or the thread that adds it is about to do so; that thread wakes workers only
 * afterwards.
 */
#include "runtime/policy/sorted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

/* ---- groups ---- */

static bool alike(const struct dfr_view *view, uint32_t a, uint32_t b)
{
    const struct df_graph *g = view->graph;
    if (view->platform->units[a].cls != view->platform->units[b].cls)
        return false;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t work = g->nodes[v].work;
        if ((view->able[v] >> a & 1) != (view->able[v] >> b & 1))
            return false;
        if (view->able[v] >> a & 1 &&
            view->time_s[(size_t)a * g->n_works + work] != view->time_s[(size_t)b * g->n_works + work])
            return false;
    }
    return true;
}

void dfr_groups_find(struct dfr_groups *groups, const struct dfr_view *view)
{
    groups->n = 0;
    for (uint32_t u = 0; u < view->platform->n_units; u++) {
        uint32_t i = 0;
        while (i < groups->n && !alike(view, groups->unit[i], u))
            i++;
        if (i == groups->n)
            groups->unit[groups->n++] = u;
        groups->of[u] = i;
    }
}

static uint32_t units_of(const struct dfr_groups *groups, const struct dfr_view *view, uint32_t group)
{
    uint32_t units = 0;
    for (uint32_t u = 0; u < view->platform->n_units; u++)
        if (groups->of[u] == group)
            units |= 1u << u;
    return units;
}

/* ---- making ---- */

static bool make_lists(struct dfr_sorted *s, uint32_t group, dfr_sorted_place *place)
{
    const struct dfr_view *view = s->view;
    uint32_t n = view->graph->n_nodes, *nodes = s->nodes + (size_t)group * n, first = 0;
    uint32_t *list_of = s->list_of + (size_t)group * n, *count = calloc(s->n_lists + 1, sizeof *count);
    double *key = calloc((size_t)n + 1, sizeof *key);
    bool good = key && count;

    for (uint32_t v = 0; good && v < n; v++) {
        list_of[v] = DFR_UNLISTED;
        if (view->able[v] >> s->groups.unit[group] & 1)
            list_of[v] = place(view, &s->groups, group, v, &key[v]);
        if (list_of[v] != DFR_UNLISTED)
            count[list_of[v] + 1]++;
    }
    for (uint32_t l = 1; good && l <= s->n_lists; l++)
        count[l] += count[l - 1];       /* count[l]: where list l begins */
    for (uint32_t v = 0; good && v < n; v++)
        if (list_of[v] != DFR_UNLISTED)
            nodes[count[list_of[v]]++] = v;
    for (uint32_t l = 0; good && l < s->n_lists; first = count[l++])
        good = dfr_order_sort(nodes + first, count[l] - first, key) &&
               dfr_order_create(&s->lists[(size_t)group * s->n_lists + l], view, units_of(&s->groups, view, group),
                                false, nodes + first, count[l] - first, s->rank + (size_t)group * n);
    free(count);
    free(key);
    return good;
}

int dfr_sorted_create(struct dfr_sorted *s, const struct dfr_view *view, uint32_t n_lists, dfr_sorted_place *place,
                      struct df_error *error)
{
    size_t n;
    bool good;

    memset(s, 0, sizeof *s);
    s->view = view;
    s->n_lists = n_lists;
    dfr_groups_find(&s->groups, view);
    n = (size_t)s->groups.n * view->graph->n_nodes + 1;
    s->lists = calloc((size_t)s->groups.n * n_lists + 1, sizeof *s->lists);
    s->list_of = malloc(n * sizeof *s->list_of);
    s->nodes = malloc(n * sizeof *s->nodes);
    s->rank = malloc(n * sizeof *s->rank);
    good = s->lists && s->list_of && s->nodes && s->rank && dfr_offers_create(&s->offers, view);
    for (uint32_t group = 0; good && group < s->groups.n; group++)
        good = make_lists(s, group, place);
    if (!good) {
        dfr_sorted_destroy(s);
        return dfr_error_memory(error);
    }
    dfr_ahead_init(&s->ahead, view);
    return DF_OK;
}

void dfr_sorted_destroy(struct dfr_sorted *s)
{
    for (size_t i = 0; s->lists && i < (size_t)s->groups.n * s->n_lists; i++)
        dfr_order_destroy(&s->lists[i]);
    free(s->lists);
    free(s->list_of);
    free(s->nodes);
    free(s->rank);
    dfr_offers_destroy(&s->offers);
}

/* ---- jobs ---- */

/* NULL: the group has the node in no list. */
static struct dfr_order *list_with(const struct dfr_sorted *s, uint32_t group, uint32_t node)
{
    uint32_t list = s->list_of[(size_t)group * s->view->graph->n_nodes + node];
    return list == DFR_UNLISTED ? NULL : &s->lists[(size_t)group * s->n_lists + list];
}

/* A lone job that nobody else can run stays with its worker: going through the lists would decide nothing. */
enum dfr_pushed dfr_sorted_push(struct dfr_sorted *s, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    uint32_t node = dfr_job_node(job), able = s->view->able[node];

    if (lone && able == 1u << s->view->unit_of[by])
        return DFR_KEPT;
    dfr_ahead_pushed(&s->ahead, job);
    dfr_offer_add(&s->offers, job);
    for (uint32_t group = 0; group < s->groups.n; group++) {
        struct dfr_order *list = list_with(s, group, node);
        if (list)
            dfr_order_add(list, job);
    }
    *units = able;
    return DFR_QUEUED;
}

static bool claim(struct dfr_sorted *s, uint64_t job)
{
    if (!dfr_offer_claim(&s->offers, job))
        return false;
    for (uint32_t group = 0; group < s->groups.n; group++) {
        struct dfr_order *list = list_with(s, group, dfr_job_node(job));
        if (list)
            dfr_order_remove(list, job);
    }
    return true;
}

/* The first offered job. Entries that are found and are not offered are removed. */
static bool first(struct dfr_sorted *s, struct dfr_order *list, uint64_t *job)
{
    while (dfr_order_first(list, job)) {
        if (dfr_offer_is_open(&s->offers, *job))
            return true;
        dfr_order_remove(list, *job);
        if (dfr_offer_is_open(&s->offers, *job))
            dfr_order_add(list, *job);
    }
    return false;
}

static bool best(struct dfr_sorted *s, uint32_t group, const uint32_t *order, uint32_t n, uint32_t *taken,
                 uint64_t *job)
{
    for (uint32_t i = 0; i < n; i++)
        if (first(s, &s->lists[(size_t)group * s->n_lists + (order ? order[i] : i)], job)) {
            *taken = i;
            return true;
        }
    return false;
}

/* The offered job that the unit prefers to q for its data (locality.h); q itself may be it. It looks at so many jobs at
 * most that a pop stays short. false: there is none. */
static bool find_near(struct dfr_sorted *s, uint32_t unit, uint64_t q, uint64_t *job)
{
    const struct dfr_view *view = s->view;
    struct dfr_order *lists = &s->lists[(size_t)s->groups.of[unit] * s->n_lists];
    double least = dfr_locality_least(view, unit, q), speedup, copy_s, best_s = INFINITY;
    bool found = false;
    uint64_t other;

    for (uint32_t l = 0, looks = 0; l < s->n_lists; l++)
        for (uint64_t place = 0; looks < DFR_ORDER_LOOKS && dfr_order_next(&lists[l], &place, &other); looks++) {
            speedup = dfr_speedup(view, dfr_job_node(other), unit);
            if (!(speedup >= least) || !dfr_offer_is_open(&s->offers, other) ||
                !dfr_locality_reuses(view, other, unit))
                continue;
            copy_s = dfr_locality_copy_s(view, other, unit);
            if (found && speedup == least && copy_s >= best_s)
                continue;
            found = true;
            least = speedup;
            best_s = copy_s;
            *job = other;
        }
    return found;
}

static bool take(struct dfr_sorted *s, uint32_t worker, const uint32_t *order, uint32_t n, uint32_t *taken, uint64_t *job)
{
    uint32_t unit = s->view->unit_of[worker];
    bool locality = s->view->locality && unit > 0;
    uint64_t near;

    while (best(s, s->groups.of[unit], order, n, taken, job)) {
        if (locality && dfr_ahead_awaits(&s->ahead, worker, dfr_locality_least(s->view, unit, *job)))
            return false;
        if (locality && find_near(s, unit, *job, &near) && near != *job && claim(s, near)) {
            *job = near;
            *taken = n;
            return true;
        }
        if (claim(s, *job))
            return true;
    }
    return false;
}

bool dfr_sorted_pop(struct dfr_sorted *s, uint32_t worker, const uint32_t *order, uint32_t n, uint32_t *taken,
                    uint64_t *job)
{
    if (!dfr_ahead_may(&s->ahead, worker) || !take(s, worker, order, n, taken, job))
        return false;
    dfr_ahead_taken(&s->ahead, *job, worker);
    return true;
}
