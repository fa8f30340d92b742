/* policy_dmda.c - policies "dmda", "dmdas" and "dmdar" (StarPU's deque model, data aware): each job that becomes ready is assigned to the worker with the
 * earliest expected finish, max(worker free, data there) + execution time, and its inputs are sent there at once. The family differs in which of a unit's
 * assigned jobs a worker takes (unit_queue.h). The table of policies (policy.c) lists them:
 *
 * "dmda"   the oldest.
 * "dmdas"  the one with the highest priority, which is its upward rank.
 * "dmdar"  of the oldest jobs, the one with the least data still to come.
 *
 * Workers:  The workers of a unit share memory and speed, so a job waits in its unit's queue. The worker that it was assigned to matters only for the
 *           estimates: each unit has as many *lanes* as workers, and a job is appended to the lane that is free first.
 * Links:    The estimates track when each link is expected to be free, per direction, and when tokens in transit are expected to arrive.
 * Errors:   When a job ends, its lane's estimate is recomputed: the lane is free after the expected times of its remaining jobs, counted from now. The
 *           order in which they end therefore does not matter, and a delay is not counted again for later jobs. Concurrent assignments may miss each other,
 *           which costs precision only.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/policy/unit_queue.h"

struct dmda_lane {
    _Alignas(64) _Atomic double free_s; /* expected */
    _Atomic double left_s;              /* the times of the jobs that are assigned and not yet done */
    _Atomic uint32_t jobs;              /* so many are */
};

struct dmda_link {
    _Alignas(64) _Atomic double in_free_s, out_free_s;
};

struct dmda {
    const struct dfr_view *view;
    uint32_t n_units;
    struct dfr_unit_queue *queues[DF_MAX_UNITS];
    struct dmda_lane *lanes;            /* as many as workers: view->first_worker[unit] … */
    struct dmda_link *links;            /* by unit */
    uint32_t *lane;                     /* by job */
    /* [block * n_units + unit]: expected arrival; a time in the past: nothing is under way */
    _Atomic double *there_s;
};

/* ---- making ---- */

static void dmda_destroy(void *state)
{
    struct dmda *d = state;
    for (uint32_t u = 0; u < d->n_units; u++)
        dfr_unit_queue_destroy(d->queues[u]);
    free(d->lanes);
    free(d->links);
    free(d->lane);
    free(d->there_s);
    free(d);
}

static bool make_queues(struct dmda *d, enum dfr_unit_order order)
{
    double *priority = order == DFR_BY_PRIORITY ? dfr_upward_rank(d->view) : NULL;
    bool good = order != DFR_BY_PRIORITY || priority;

    for (uint32_t u = 0; good && u < d->n_units; u++)
        good = (d->queues[u] = dfr_unit_queue_create(d->view, u, order, priority)) != NULL;
    free(priority);
    return good;
}

/* Nodes that fire once have a slot of their own, after the others. */
static bool make_estimates(struct dmda *d)
{
    const struct dfr_view *view = d->view;
    size_t n_slots = (size_t)view->n_slots + 1, n_jobs = n_slots * view->graph->n_nodes + 1;
    size_t n_there = n_slots * view->graph->n_values * d->n_units + 1;

    d->lanes = aligned_alloc(64, view->n_workers * sizeof *d->lanes);
    d->links = aligned_alloc(64, d->n_units * sizeof *d->links);
    d->lane = malloc(n_jobs * sizeof *d->lane);
    d->there_s = calloc(n_there, sizeof *d->there_s); /* all bits zero: 0.0 */
    if (!d->lanes || !d->links || !d->lane || !d->there_s)
        return false;
    for (uint32_t w = 0; w < view->n_workers; w++) {
        atomic_init(&d->lanes[w].free_s, 0.0);
        atomic_init(&d->lanes[w].left_s, 0.0);
        atomic_init(&d->lanes[w].jobs, 0);
    }
    for (uint32_t u = 0; u < d->n_units; u++) {
        atomic_init(&d->links[u].in_free_s, 0.0);
        atomic_init(&d->links[u].out_free_s, 0.0);
    }
    return true;
}

static int dmda_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                       void **state, struct df_error *error)
{
    struct dmda *d = calloc(1, sizeof *d);

    (void)plan;
    if (!d)
        return dfr_error_memory(error);
    d->view = view;
    d->n_units = view->platform->n_units;
    if (!make_queues(d, (enum dfr_unit_order)policy->variant) || (d->n_units > 1 && !make_estimates(d))) {
        dmda_destroy(d);
        return dfr_error_memory(error);
    }
    *state = d;
    return DF_OK;
}

/* ---- estimates ---- */

static double load(_Atomic double *x)
{
    return atomic_load_explicit(x, memory_order_relaxed);
}

static void store(_Atomic double *x, double value)
{
    atomic_store_explicit(x, value, memory_order_relaxed);
}

static void add(_Atomic double *sum, double x)
{
    double old = load(sum);
    while (!atomic_compare_exchange_weak_explicit(sum, &old, old + x, memory_order_relaxed, memory_order_relaxed))
        ;
}

static size_t job_index(const struct dmda *d, uint64_t job)
{
    return (size_t)dfr_job_slot(job) * d->view->graph->n_nodes + dfr_job_node(job);
}

static uint32_t input_of(const struct dmda *d, uint64_t job, uint32_t k)
{
    const struct df_graph *g = d->view->graph;
    return df_node_need(g, dfr_job_node(job), k);
}

/* When a token that was sent to this unit is expected there. */
static _Atomic double *there(const struct dmda *d, uint64_t job, uint32_t value, uint32_t unit)
{
    const struct df_graph *g = d->view->graph;
    bool once = df_value_is_once(g, value);
    size_t slot = once ? d->view->n_slots : dfr_job_slot(job);
    return &d->there_s[(slot * g->n_values + value) * d->n_units + unit];
}

static double exec_s(const struct dmda *d, uint32_t unit, uint32_t node)
{
    return d->view->time_s[(size_t)unit * d->view->graph->n_works + d->view->graph->nodes[node].work];
}

/* When the host has the token. It may have to be sent to the host first; *out_free_s is then the time at which the link
 * of the unit that holds it is free. */
static double on_host_s(const struct dmda *d, uint64_t job, uint32_t value, uint32_t holders, double now,
                        double *out_free_s)
{
    uint32_t from = holders ? (uint32_t)__builtin_ctz(holders) : 0;
    double sent_s;

    if (from == 0)
        return now;
    if ((sent_s = load(there(d, job, value, 0))) > now)
        return sent_s;
    *out_free_s = fmax(now, load(&d->links[from].out_free_s)) +
                  df_link_time_s(&d->view->platform->units[from].d2h, d->view->graph->values[value].bytes);
    return *out_free_s;
}

/* When a peer that has the token has sent it. */
static double from_peer_s(struct dmda *d, uint64_t job, uint32_t value, uint32_t holders, uint32_t unit, double now,
                          bool send)
{
    uint32_t from = (uint32_t)__builtin_ctz(holders & df_platform_peers(d->view->platform, unit));
    double at_s = now + df_peer_time_s(d->view->platform, from, unit, d->view->graph->values[value].bytes);
    if (send)
        store(there(d, job, value, unit), at_s);
    return at_s;
}

/* Does the job read the same token in an earlier in slot too? It is sent once. */
static bool is_counted(const struct dmda *d, uint64_t job, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++)
        if (input_of(d, job, i) == input_of(d, job, k))
            return true;
    return false;
}

/* When all inputs of the job can be in the memory of `unit`. With `send`, the estimates expect them there from now
 * on. */
static double data_there_s(struct dmda *d, uint64_t job, uint32_t unit, double now, bool send)
{
    const struct df_unit *units = d->view->platform->units;
    double all_s = now, in_free_s = load(&d->links[unit].in_free_s);

    for (uint32_t k = 0; k < df_node_n_needs(d->view->graph, dfr_job_node(job)); k++) {
        uint32_t holders = d->view->holders(d->view->arg, job, k), value = input_of(d, job, k);
        double out_free_s = -1, at_s = now, sent_s = now;
        if (holders >> unit & 1 || d->view->graph->values[value].bytes == 0 || is_counted(d, job, k))
            continue;
        if (unit > 0 && (sent_s = load(there(d, job, value, unit))) > now) {
            all_s = fmax(all_s, sent_s);
            continue;
        }
        if (!(holders & 1) && holders & df_platform_peers(d->view->platform, unit)) {
            all_s = fmax(all_s, from_peer_s(d, job, value, holders, unit, now, send));
            continue;
        }
        at_s = on_host_s(d, job, value, holders, now, &out_free_s);
        if (send && out_free_s >= 0) {
            store(&d->links[__builtin_ctz(holders)].out_free_s, out_free_s);
            store(there(d, job, value, 0), out_free_s);
        }
        if (unit > 0) {
            in_free_s = at_s = fmax(at_s, in_free_s) + df_link_time_s(&units[unit].h2d,
                                                                      d->view->graph->values[value].bytes);
            if (send)
                store(there(d, job, value, unit), at_s);
        }
        all_s = fmax(all_s, at_s);
    }
    if (send)
        store(&d->links[unit].in_free_s, in_free_s);
    return all_s;
}

static uint32_t first_free_lane(struct dmda *d, uint32_t unit)
{
    uint32_t best = d->view->first_worker[unit];
    for (uint32_t w = best + 1; w < d->view->first_worker[unit + 1]; w++)
        if (load(&d->lanes[w].free_s) < load(&d->lanes[best].free_s))
            best = w;
    return best;
}

/* ---- assignment ---- */

/* Ties go to the unit that released the job, else to the first unit. */
static uint32_t choose(struct dmda *d, uint64_t job, uint32_t by, double now)
{
    uint32_t node = dfr_job_node(job), able = d->view->able[node], best = DF_NONE;
    double best_s = INFINITY;

    if ((able & (able - 1)) == 0)
        return (uint32_t)__builtin_ctz(able);
    for (uint32_t u = 0; u < d->n_units; u++) {
        double finish_s;
        if (!(able >> u & 1))
            continue;
        finish_s = fmax(load(&d->lanes[first_free_lane(d, u)].free_s), data_there_s(d, job, u, now, false)) +
                   exec_s(d, u, node);
        if (best == DF_NONE || finish_s < best_s ||
            (finish_s == best_s && by != DFR_NOBODY && d->view->unit_of[by] == u)) {
            best = u;
            best_s = finish_s;
        }
    }
    return best;
}

static void assign(struct dmda *d, uint64_t job, uint32_t unit, double now)
{
    uint32_t index = first_free_lane(d, unit);
    struct dmda_lane *lane = &d->lanes[index];
    double time_s = exec_s(d, unit, dfr_job_node(job));

    d->lane[job_index(d, job)] = index;
    store(&lane->free_s, fmax(load(&lane->free_s), data_there_s(d, job, unit, now, true)) + time_s);
    add(&lane->left_s, time_s);
    atomic_fetch_add_explicit(&lane->jobs, 1, memory_order_relaxed);
}

static enum dfr_pushed dmda_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    struct dmda *d = state;
    uint32_t unit = 0;
    double now;

    if (d->n_units > 1) {               /* with one unit there is nothing to decide or to send */
        now = d->view->now_s(d->view->arg);
        unit = choose(d, job, by, now);
        assign(d, job, unit, now);
        if (d->view->prefetch(d->view->arg, job, unit))
            return DFR_PREFETCHING;
    }
    if (lone && d->view->unit_of[by] == unit && dfr_unit_queue_is_next(d->queues[unit], job))
        return DFR_KEPT;
    dfr_unit_queue_push(d->queues[unit], job);
    *units = 1u << unit;
    return DFR_QUEUED;
}

static void dmda_come(void *state, uint64_t job)
{
    struct dmda *d = state;
    dfr_unit_queue_push(d->queues[0], job);
}

static bool dmda_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct dmda *d = state;
    return dfr_unit_queue_pop(d->queues[d->view->unit_of[worker]], job);
}

static void dmda_done(void *state, uint64_t job, uint32_t worker)
{
    struct dmda *d = state;
    uint32_t index;
    struct dmda_lane *lane;

    (void)worker;
    if (d->n_units == 1)
        return;
    index = d->lane[job_index(d, job)];
    lane = &d->lanes[index];
    if (atomic_fetch_sub_explicit(&lane->jobs, 1, memory_order_relaxed) == 1)
        store(&lane->left_s, 0);        /* exactly: sums are rounded */
    else
        add(&lane->left_s, -exec_s(d, d->view->unit_of[index], dfr_job_node(job)));
    store(&lane->free_s, d->view->now_s(d->view->arg) + load(&lane->left_s));
}

#define DMDA_OPS .create = dmda_create, .destroy = dmda_destroy, .push = dmda_push, .come = dmda_come, .pop = dmda_pop, \
    .done = dmda_done

const struct dfr_policy dfr_policy_dmda = {
    .name = "dmda",
    .summary = "each ready job goes to the worker that is expected to end it first; its data is sent at once",
    .variant = DFR_IN_TURN, DMDA_OPS,
};

const struct dfr_policy dfr_policy_dmdas = {
    .name = "dmdas", .summary = "as dmda, and a worker takes the job with the longest way to the end of the graph",
    .variant = DFR_BY_PRIORITY, DMDA_OPS,
};

const struct dfr_policy dfr_policy_dmdar = {
    .name = "dmdar", .summary = "as dmda, and a worker takes the job with the least data still to come",
    .variant = DFR_READY_FIRST, DMDA_OPS,
};
