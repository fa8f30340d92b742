/* heft.c - two published static list schedulers, HEFT and PEFT, which decide places and priorities before the run. The
 * table of partitioners lists them (planner/placers.c), and gp takes their plans as starts.
 *
 * "heft"  Topcuoglu, Hariri, Wu (2002): nodes are taken in the order of their upward rank with mean times. Each goes to
 *         the worker where it finishes earliest. It may fill a gap between jobs that were placed before.
 * "peft"  Arabnejad, Barbosa (2014): an optimistic cost table says how long the way to the end still is after a node on
 *         a worker, if all that follows is placed at its best. Of the nodes that are ready, the one with the highest
 *         mean entry is taken. It goes to the worker with the least sum of finish and entry.
 *
 * Both look at copies as published: a copy takes its time and never queues. Two things of the schedule are kept: each
 * node's unit, and as priority the order in which nodes begin. So a job that fills a gap goes before the job after the
 * gap, even if that one has a higher rank. The timetable is not kept, since a run has no fixed one (runtime/policy/policy_static.c).
 *
 * Gaps: each worker's jobs are *stretches* of busy time, in order of time. Two stretches become one if no job fits
 *       between them. A job that takes several CPU workers begins after all that these workers have to do.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/model/compact.h"
#include "partition/model/urgent.h"
#include "runtime/base/array.h"
#include "runtime/base/error.h"

struct stretch {
    double begin_s, end_s;
};

struct worker {
    struct stretch *busy;               /* in order of time */
    uint32_t n;
    size_t capacity;
};

struct heft {
    struct dfp_compact compact;
    uint16_t *place;
    double *rank_s;
    double *oct_s;                      /* [node * n_units + unit]; NULL: heft */
    double *end_s;                      /* of placed nodes */
    struct worker *workers;
    uint32_t first_worker[DF_MAX_UNITS + 1];
    double shortest_s[DF_MAX_UNITS];    /* the shortest job that the unit can run: no smaller gap is of use */
    uint32_t *missing;                  /* of a node: inputs whose producers are not placed yet */
    struct dfp_urgents ready;
};

/* ---- ranks ---- */

/* The mean over all pairs of workers; a pair of one unit's workers counts, with a copy time of 0. */
static double mean_copy_s(const struct dfp_compact *c, uint32_t value)
{
    double sum_s = 0, n = 0;
    for (uint32_t from = 0; from < c->n_units; from++)
        for (uint32_t to = 0; to < c->n_units; to++) {
            double pairs = (double)c->workers[from] * c->workers[to];
            sum_s += pairs * dfp_compact_copy_s(c, value, from, to);
            n += pairs;
        }
    return n > 0 ? sum_s / n : 0;
}

/* The mean entry of the optimistic cost table over the workers that can run the node. */
static void rank_optimistically(struct heft *h)
{
    const struct dfp_compact *c = &h->compact;
    dfp_compact_optimistic(c, h->oct_s);
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        double sum_s = 0, n = 0;
        for (uint32_t u = 0; u < c->n_units; u++) {
            if (c->allowed[v] >> u & 1) {
                sum_s += c->workers[u] * h->oct_s[(size_t)v * c->n_units + u];
                n += c->workers[u];
            }
        }
        h->rank_s[v] = n > 0 ? sum_s / n : 0;
    }
}

/* ---- ready nodes: the highest rank first, of equals the lowest number ---- */

static void push(struct heft *h, uint32_t node)
{
    dfp_urgents_push(&h->ready, h->rank_s[node], node);
}

/* ---- workers' time ---- */

/* The first stretch that ends after t. */
static uint32_t first_after(const struct worker *w, double t)
{
    uint32_t low = 0, high = w->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (w->busy[middle].end_s > t)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* When a job can begin that is ready at ready_s and takes time_s. *at: the stretch before which it goes. */
static double find_gap(const struct worker *w, double ready_s, double time_s, uint32_t *at)
{
    double begin_s = ready_s;
    for (*at = first_after(w, ready_s); *at < w->n; ++*at) {
        if (begin_s + time_s <= w->busy[*at].begin_s)
            break;
        begin_s = fmax(begin_s, w->busy[*at].end_s);
    }
    return begin_s;
}

static bool occupy(struct worker *w, uint32_t at, double begin_s, double end_s, double least_s)
{
    bool joins = at > 0 && begin_s - w->busy[at - 1].end_s < least_s;
    bool joined = at < w->n && w->busy[at].begin_s - end_s < least_s;

    if (joins && joined) {
        w->busy[at - 1].end_s = w->busy[at].end_s;
        w->n--;
        memmove(&w->busy[at], &w->busy[at + 1], (w->n - at) * sizeof *w->busy);
    } else if (joins) {
        w->busy[at - 1].end_s = end_s;
    } else if (joined) {
        w->busy[at].begin_s = begin_s;
    } else {
        if (!DFR_ARRAY_ROOM(w->busy, w->n, w->capacity))
            return false;
        memmove(&w->busy[at + 1], &w->busy[at], (w->n - at) * sizeof *w->busy);
        w->busy[at] = (struct stretch){ begin_s, end_s };
        w->n++;
    }
    return true;
}

static double last_end_s(const struct worker *w)
{
    return w->n ? w->busy[w->n - 1].end_s : 0;
}

/* ---- placing ---- */

static double inputs_there_s(const struct heft *h, uint32_t node, uint32_t unit)
{
    const struct dfp_compact *c = &h->compact;
    double there_s = 0;
    for (uint32_t i = c->first_in[node]; i < c->first_in[node + 1]; i++) {
        uint32_t value = c->in[i], producer = c->producer[value];
        there_s = fmax(there_s, h->end_s[producer] + dfp_compact_copy_s(c, value, h->place[producer], unit));
    }
    return there_s;
}

struct slot {
    uint32_t worker, at;
    double begin_s;
};

/* The slot of the unit's worker that can begin the node first. */
static struct slot first_slot(const struct heft *h, uint32_t node, uint32_t unit)
{
    double there_s = inputs_there_s(h, node, unit), time_s = dfp_compact_time_s(&h->compact, node, unit);
    struct slot best = { .begin_s = INFINITY };
    for (uint32_t w = h->first_worker[unit]; w < h->first_worker[unit + 1]; w++) {
        struct slot slot = { .worker = w };
        slot.begin_s = find_gap(&h->workers[w], there_s, time_s, &slot.at);
        if (slot.begin_s < best.begin_s)
            best = slot;
    }
    return best;
}

/* Finds the `width` workers of the host that have finished their jobs first. Gives the time when all of them have. */
static double find_team(const struct heft *h, uint32_t width, uint32_t *team)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < h->first_worker[1]; w++) {
        uint32_t i;
        if (n == width && last_end_s(&h->workers[w]) >= last_end_s(&h->workers[team[n - 1]]))
            continue;
        n = n < width ? n + 1 : n;
        for (i = n - 1; i > 0 && last_end_s(&h->workers[w]) < last_end_s(&h->workers[team[i - 1]]); i--)
            team[i] = team[i - 1];
        team[i] = w;
    }
    return last_end_s(&h->workers[team[n - 1]]);
}

static double finish_s(const struct heft *h, uint32_t node, uint32_t unit)
{
    const struct dfp_compact *c = &h->compact;
    double time_s = dfp_compact_time_s(c, node, unit);
    uint32_t team[DF_MAX_WORKERS];
    if (c->is_free[node])
        return inputs_there_s(h, node, unit);
    if (unit == 0 && c->width[node] > 1)
        return fmax(inputs_there_s(h, node, unit), find_team(h, c->width[node], team)) + time_s;
    return first_slot(h, node, unit).begin_s + time_s;
}

static bool take_time(struct heft *h, uint32_t node, uint32_t unit)
{
    const struct dfp_compact *c = &h->compact;
    double end_s = h->end_s[node], begin_s = end_s - dfp_compact_time_s(c, node, unit);
    uint32_t team[DF_MAX_WORKERS], width = unit ? 1 : c->width[node];
    bool good = true;
    if (c->is_free[node])
        return true;
    if (width <= 1) {
        struct slot slot = first_slot(h, node, unit);
        return occupy(&h->workers[slot.worker], slot.at, slot.begin_s, end_s, h->shortest_s[unit]);
    }
    find_team(h, width, team);
    for (uint32_t i = 0; i < width && good; i++)
        good = occupy(&h->workers[team[i]], h->workers[team[i]].n, begin_s, end_s, h->shortest_s[unit]);
    return good;
}

static bool assign(struct heft *h, uint32_t node)
{
    const struct dfp_compact *c = &h->compact;
    double best_key = INFINITY;
    uint32_t best = DF_NONE;

    for (uint32_t u = 0; u < c->n_units; u++) {
        double end_s, key;
        if (!(c->allowed[node] >> u & 1))
            continue;
        end_s = finish_s(h, node, u);
        key = end_s + (h->oct_s ? h->oct_s[(size_t)node * c->n_units + u] : 0);
        if (best == DF_NONE || key < best_key) {
            best = u;
            best_key = key;
            h->end_s[node] = end_s;
        }
    }
    h->place[node] = (uint16_t)best;
    if (!take_time(h, node, best))
        return false;
    for (uint32_t value = c->first_out[node]; value < c->first_out[node + 1]; value++)
        for (uint32_t r = c->first_reader[value]; r < c->first_reader[value + 1]; r++)
            if (--h->missing[c->reader[r]] == 0)
                push(h, c->reader[r]);
    return true;
}

/* A node's priority is the time from its begin to the end of the schedule. After rounding to float it still puts no
 * node before one that it reads from: time grows along arcs, and equal priorities go by number. */
static void order_by_begin(const struct heft *h, float *priority)
{
    const struct dfp_compact *c = &h->compact;
    double last_s = 0;
    for (uint32_t v = 0; v < c->n_nodes; v++)
        last_s = fmax(last_s, h->end_s[v]);
    for (uint32_t v = 0; v < c->n_nodes; v++)
        priority[v] = (float)(last_s - h->end_s[v] + (c->is_free[v] ? 0 : dfp_compact_time_s(c, v, h->place[v])));
}

/* ---- the whole ---- */

static void heft_free(struct heft *h)
{
    for (uint32_t w = 0; h->workers && w < h->first_worker[h->compact.n_units]; w++)
        free(h->workers[w].busy);
    free(h->workers);
    free(h->rank_s);
    free(h->oct_s);
    free(h->end_s);
    free(h->missing);
    free(h->ready.at);
    dfp_compact_free(&h->compact);
}

static bool heft_make(struct heft *h, bool optimistic)
{
    const struct dfp_compact *c = &h->compact;
    size_t n = (size_t)c->n_nodes + 1;

    for (uint32_t u = 0; u < c->n_units; u++) {
        h->first_worker[u + 1] = h->first_worker[u] + c->workers[u];
        h->shortest_s[u] = INFINITY;
        for (uint32_t v = 0; v < c->n_nodes; v++)
            if (c->allowed[v] >> u & 1 && !c->is_free[v])
                h->shortest_s[u] = fmin(h->shortest_s[u], dfp_compact_time_s(c, v, u));
    }
    h->workers = calloc((size_t)h->first_worker[c->n_units] + 1, sizeof *h->workers);
    h->rank_s = malloc(n * sizeof *h->rank_s);
    h->oct_s = optimistic ? malloc(n * c->n_units * sizeof *h->oct_s) : NULL;
    h->end_s = malloc(n * sizeof *h->end_s);
    h->missing = malloc(n * sizeof *h->missing);
    h->ready.at = malloc(n * sizeof *h->ready.at);
    return h->workers && h->rank_s && h->end_s && h->missing && h->ready.at && (h->oct_s || !optimistic);
}

static bool schedule(struct heft *h)
{
    const struct dfp_compact *c = &h->compact;
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        h->missing[v] = c->first_in[v + 1] - c->first_in[v];
        if (h->missing[v] == 0)
            push(h, v);
    }
    while (h->ready.n)
        if (!assign(h, dfp_urgents_pop(&h->ready)))
            return false;
    return true;
}

static int solve(const struct dfp_problem *problem, bool optimistic, uint16_t *place, float *priority,
                 struct df_error *error)
{
    struct heft h = { .place = place };
    int code = dfp_compact_make(problem, &h.compact, error);
    bool good;

    if (code)
        return code;
    good = heft_make(&h, optimistic);
    if (good && optimistic)
        rank_optimistically(&h);
    else if (good)
        dfp_compact_mean_rank(&h.compact, mean_copy_s, h.rank_s);
    good = good && schedule(&h);
    if (good && priority)
        order_by_begin(&h, priority);
    heft_free(&h);
    return good ? DF_OK : dfr_error_memory(error);
}

static int run_heft(const struct dfp_problem *problem, const struct dfp_options *options, uint16_t *place,
                    struct df_error *error)
{
    (void)options;
    return solve(problem, false, place, NULL, error);
}

static int run_peft(const struct dfp_problem *problem, const struct dfp_options *options, uint16_t *place,
                    struct df_error *error)
{
    (void)options;
    return solve(problem, true, place, NULL, error);
}

/* Fills the whole result: places, priorities, the evaluated makespan and the bound. */
static int solve_whole(const struct dfp_problem *problem, bool optimistic, struct dfp_result *result,
                       struct df_error *error)
{
    struct dfp_evaluation evaluation;
    int code = solve(problem, optimistic, result->place, result->priority, error);
    if (!code)
        code = dfp_evaluate(problem, result->place, result->priority, &evaluation, error);
    if (!code)
        result->makespan_s = evaluation.makespan_s;
    result->evaluations = 1;
    return code ? code : dfp_lower_bound(problem, &result->lower_bound_s, error);
}

static int solve_heft(const struct dfp_problem *problem, const struct dfp_options *options, struct dfp_result *result,
                      struct df_error *error)
{
    (void)options;
    return solve_whole(problem, false, result, error);
}

static int solve_peft(const struct dfp_problem *problem, const struct dfp_options *options, struct dfp_result *result,
                      struct df_error *error)
{
    (void)options;
    return solve_whole(problem, true, result, error);
}

const struct dfp_partitioner dfp_partitioner_heft = {
    "heft", "the earliest finish for each node in order of upward rank (Topcuoglu et al.)", run_heft, solve_heft
};
const struct dfp_partitioner dfp_partitioner_peft = {
    "peft", "the earliest finish, looking ahead by an optimistic cost table (Arabnejad, Barbosa)", run_peft, solve_peft
};
