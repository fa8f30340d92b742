/* gp_list.c - initial placements for the policy gp by list scheduling, for gp_starts.c; gp_lin.c and gp_metis.c divide the devices' nodes among several devices
 * with it. Nodes are taken in an order of urgency, and each is placed on the unit that minimizes
 *
 *     EFT + λ · OCT + κ · price[unit] · time
 *
 * EFT is the earliest finish time, OCT the entry of the optimistic cost table. Known members of this family are HEFT
 * (λ = κ = 0, order by mean upward rank; Topcuoglu et al. 2002), PEFT (λ = 1, κ = 0, order by mean OCT; Arabnejad and
 * Barbosa 2014), and what dmda decides (order in which nodes become ready). κ charges a node for the time that it takes
 * from others on a unit in demand. The prices are those of the area bound.
 *
 * Gaps:     workers take nodes in the order of assignment, and no gaps are filled. Only the placement is wanted; the
 *           evaluator makes its own timetable for it.
 * Copies:   if a rule says `engines`, copies queue for the copy engines; else they overlap.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "partition/model/urgent.h"
#include "runtime/base/error.h"

enum order { BY_RANK, BY_OCT, BY_READY };

struct rule {
    enum order order;
    double lambda, kappa;
    bool engines;
};

static const struct rule rules[] = {    /* large graphs take the first N_CHEAP only */
    { BY_RANK, 0, 0, true },    { BY_RANK, 0, 1, true },  { BY_READY, 0, 0, true }, { BY_RANK, 1, 0, true },
    { BY_RANK, 0, 0, false },   { BY_OCT, 1, 0, false },  { BY_OCT, 1, 0, true },   { BY_RANK, 0, 0.3, true },
    { BY_RANK, 0, 3, true },    { BY_RANK, 0, 8, true },  { BY_RANK, 1, 0.3, true }, { BY_RANK, 1, 1, true },
    { BY_RANK, 1, 3, true },    { BY_RANK, 1, 8, true },  { BY_READY, 1, 0, true }, { BY_READY, 0, 1, true },
};
enum { N_RULES = sizeof rules / sizeof *rules, N_CHEAP = 2 };

struct list {
    const struct dfp_search *search;
    const struct dfp_compact *c;
    const uint32_t *allowed;
    uint16_t *place;
    double *oct_s;                      /* [node * n_units + unit] */
    double *mean_oct_s;
    double *there_s;                    /* [value * n_units + unit]: when the value is there; INFINITY: not sent yet */
    double *worker_free_s;              /* of all workers; those of unit u begin at first_worker[u] */
    uint32_t first_worker[DF_MAX_UNITS + 1];
    double engine_free_s[DF_MAX_UNITS][3];
    uint32_t *missing;
    struct dfp_urgents ready;
};

/* ---- order ---- */

static void become_ready(struct list *l, const struct rule *rule, uint32_t node)
{
    const struct dfp_compact *c = l->c;
    double urgency = rule->order == BY_OCT ? l->mean_oct_s[node] : l->search->average_rank_s[node];
    if (rule->order == BY_READY) {
        urgency = 0;
        for (uint32_t i = c->first_in[node]; i < c->first_in[node + 1]; i++) {
            uint32_t value = c->in[i];
            double made_s = l->there_s[(size_t)value * c->n_units + l->place[c->producer[value]]];
            urgency = -made_s < urgency ? -made_s : urgency;
        }
    }
    dfp_urgents_push(&l->ready, urgency, node);
}

/* ---- finish times ---- */

/* When the value can be on `unit`. With `commit`, the copies are booked on their engines. */
static double fetch(struct list *l, uint32_t value, uint32_t unit, bool engines, bool commit)
{
    const struct dfp_compact *c = l->c;
    double *there = l->there_s + (size_t)value * c->n_units;
    if (there[unit] < INFINITY)
        return there[unit];
    uint32_t home = l->place[c->producer[value]];
    double at_s = there[0];
    if (c->peers[home] >> unit & 1) {
        double *sends_s = &l->engine_free_s[home][2];
        double begin_s = engines && *sends_s > there[home] ? *sends_s : there[home];
        double end_s = begin_s + dfp_compact_peer_s(c, value, home, unit);
        if (commit)
            *sends_s = there[unit] = end_s;
        return end_s;
    }
    if (!(at_s < INFINITY)) {           /* it is only on a device: it must come to the host first */
        double *free_s = &l->engine_free_s[home][0];
        double start_s = engines && *free_s > there[home] ? *free_s : there[home];
        at_s = start_s + dfp_compact_copy_s(c, value, home, 0);
        if (commit) {
            *free_s = at_s;
            there[0] = at_s;
        }
    }
    if (!unit)
        return at_s;
    double *free_s = &l->engine_free_s[unit][c->shared_engine[unit] ? 0 : 1];
    double start_s = engines && *free_s > at_s ? *free_s : at_s;
    double end_s = start_s + dfp_compact_copy_s(c, value, 0, unit);
    if (commit) {
        *free_s = end_s;
        there[unit] = end_s;
    }
    return end_s;
}

/* The worker of the unit that is free first. */
static double *first_free(struct list *l, uint32_t unit)
{
    double *best = &l->worker_free_s[l->first_worker[unit]];
    for (uint32_t w = l->first_worker[unit] + 1; w < l->first_worker[unit + 1]; w++)
        if (l->worker_free_s[w] < *best)
            best = &l->worker_free_s[w];
    return best;
}

static double finish(struct list *l, const struct rule *rule, uint32_t node, uint32_t unit, bool commit)
{
    const struct dfp_compact *c = l->c;
    double start_s = 0, time_s = dfp_compact_time_s(c, node, unit);
    for (uint32_t i = c->first_in[node]; i < c->first_in[node + 1]; i++) {
        double there_s = fetch(l, c->in[i], unit, rule->engines, commit);
        start_s = there_s > start_s ? there_s : start_s;
    }
    if (c->is_free[node])
        return start_s;
    double *free_s = first_free(l, unit);
    start_s = *free_s > start_s ? *free_s : start_s;
    if (commit)
        for (uint32_t k = unit ? 1 : c->width[node]; k > 0; k--) {
            *free_s = start_s + time_s; /* a job with several workers takes those that are free first */
            free_s = first_free(l, unit);
        }
    return start_s + time_s;
}

static void assign(struct list *l, const struct rule *rule, uint32_t node)
{
    const struct dfp_compact *c = l->c;
    const double *price = l->search->price;
    uint32_t best = DF_NONE;
    double best_key = INFINITY;
    for (uint32_t u = 0; u < c->n_units; u++) {
        if (!(l->allowed[node] & 1u << u))
            continue;
        double key = finish(l, rule, node, u, false);
        if (rule->lambda > 0)
            key += rule->lambda * l->oct_s[(size_t)node * c->n_units + u];
        key += rule->kappa * price[u] / c->workers[u] * dfp_compact_time_s(c, node, u);
        if (best == DF_NONE || key < best_key) {
            best = u;
            best_key = key;
        }
    }
    l->place[node] = (uint16_t)best;
    double end_s = finish(l, rule, node, best, true);
    for (uint32_t value = c->first_out[node]; value < c->first_out[node + 1]; value++) {
        l->there_s[(size_t)value * c->n_units + best] = end_s;
        for (uint32_t r = c->first_reader[value]; r < c->first_reader[value + 1]; r++)
            if (!--l->missing[c->reader[r]])
                become_ready(l, rule, c->reader[r]);
    }
}

static void schedule(struct list *l, const struct rule *rule)
{
    const struct dfp_compact *c = l->c;
    for (size_t i = 0; i < (size_t)c->n_values * c->n_units; i++)
        l->there_s[i] = INFINITY;
    for (uint32_t w = 0; w < l->first_worker[c->n_units]; w++)
        l->worker_free_s[w] = 0;
    memset(l->engine_free_s, 0, sizeof l->engine_free_s);
    l->ready.n = 0;
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        l->missing[v] = c->first_in[v + 1] - c->first_in[v];
        if (!l->missing[v])
            become_ready(l, rule, v);
    }
    while (l->ready.n)
        assign(l, rule, dfp_urgents_pop(&l->ready));
}

/* ---- tables ---- */

/* The mean is over units, not over workers as PEFT's own is. */
static void fill_oct(struct list *l)
{
    const struct dfp_compact *c = l->c;
    dfp_compact_optimistic(c, l->oct_s);
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        double sum_s = 0;
        uint32_t n_able = 0;
        for (uint32_t u = 0; u < c->n_units; u++)
            if (c->allowed[v] & 1u << u) {
                sum_s += l->oct_s[(size_t)v * c->n_units + u];
                n_able++;
            }
        l->mean_oct_s[v] = sum_s / n_able;
    }
}

static void list_free(struct list *l)
{
    free(l->oct_s);
    free(l->mean_oct_s);
    free(l->there_s);
    free(l->worker_free_s);
    free(l->missing);
    free(l->ready.at);
}

static int list_make(struct list *l, const struct dfp_search *search, struct df_error *error)
{
    const struct dfp_compact *c = &search->compact;
    size_t n = (size_t)c->n_nodes + 1;
    *l = (struct list){ .search = search, .c = c, .allowed = c->allowed, .place = search->place };
    for (uint32_t u = 0; u < c->n_units; u++)
        l->first_worker[u + 1] = l->first_worker[u] + c->workers[u];
    l->oct_s = malloc(n * c->n_units * sizeof *l->oct_s);
    l->mean_oct_s = malloc(n * sizeof *l->mean_oct_s);
    l->there_s = malloc(((size_t)c->n_values + 1) * c->n_units * sizeof *l->there_s);
    l->worker_free_s = malloc(l->first_worker[c->n_units] * sizeof *l->worker_free_s);
    l->missing = malloc(n * sizeof *l->missing);
    l->ready.at = malloc(n * sizeof *l->ready.at);
    if (l->oct_s && l->mean_oct_s && l->there_s && l->worker_free_s && l->missing && l->ready.at)
        return DF_OK;
    list_free(l);
    return dfr_error_memory(error);
}

int dfp_list_run(struct dfp_search *search, bool all, struct df_error *error)
{
    struct list l;
    int code = list_make(&l, search, error);
    if (code)
        return code;
    if (all)
        fill_oct(&l);
    for (size_t i = 0; i < (all ? N_RULES : N_CHEAP); i++) {
        schedule(&l, &rules[i]);
        dfp_search_try(search, false);
    }
    list_free(&l);
    return DF_OK;
}

/* ---- one device or another ---- */

/* A node on the host stays there; any other may go to any device that can run it. */
int dfp_list_split(struct dfp_search *search, struct df_error *error)
{
    const struct dfp_compact *c = &search->compact;
    struct list l;
    uint32_t *allowed = malloc(((size_t)c->n_nodes + 1) * sizeof *allowed);
    int code = allowed ? list_make(&l, search, error) : dfr_error_memory(error);
    if (!code) {
        for (uint32_t v = 0; v < c->n_nodes; v++)
            allowed[v] = search->place[v] ? c->allowed[v] & ~1u : 1;
        l.allowed = allowed;
        schedule(&l, &rules[0]);
        list_free(&l);
    }
    free(allowed);
    return code;
}
