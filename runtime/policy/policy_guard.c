/* policy_guard.c - implements the monitor of policy_guard.h, which policy_static.c asks for gp: the drift of measured against expected times, the load of each
 * unit, and the three rules that move jobs.
 *
 * States of a job:
 *     1  away       not in the policy
 *     2  queued     `amount_s` of it is in its unit's `queued_s`
 *     3  taken      `taker` has it; it counts in that worker's `jobs`
 *     1 -> 2 push; 2 -> 2 it moves; 2 -> 3 pop; 3 -> 2 it is pushed back; 2, 3 -> 1 done (from 2: it was prefetching).
 *
 * Only the thread that holds the job changes its record, so the record needs no atomics: the queue in which it waits passes it on.
 */
#include "runtime/policy/policy_guard.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum state { AWAY, QUEUED, TAKEN };

struct job {
    double amount_s;                    /* its corrected time when it was queued */
    double taken_s;
    uint32_t taker;
    uint8_t state, unit;
    bool clean;                         /* its data was there when it was taken */
    bool moved;                         /* it was reconsidered, and moved */
};

struct drift {
    _Atomic double expected_s, measured_s;
};

struct worker {
    _Alignas(64) _Atomic double until_s;/* when it is expected to be free */
    _Atomic double last_s;              /* the end of its last job */
    _Atomic uint32_t jobs;              /* jobs that it has taken and not yet done */
};

struct unit {
    _Alignas(64) _Atomic double queued_s;
    struct drift drift;
};

struct dfr_guard {
    const struct dfr_view *view;
    const struct dfr_places *places;
    uint32_t n_units;
    struct unit *units;
    struct worker *workers;
    struct drift *works;                /* [unit * n_works + work] */
    struct job *jobs;                   /* [slot * n_nodes + node] */
    _Atomic double off_s, expected_s;   /* sums of |measured - expected| and of expected */
};

/* ---- making ---- */

void dfr_guard_destroy(struct dfr_guard *g)
{
    if (!g)
        return;
    free(g->units);
    free(g->workers);
    free(g->works);
    free(g->jobs);
    free(g);
}

static void clear_drift(struct drift *drift)
{
    atomic_init(&drift->expected_s, 0.0);
    atomic_init(&drift->measured_s, 0.0);
}

static void clear(struct dfr_guard *g)
{
    atomic_init(&g->off_s, 0.0);
    atomic_init(&g->expected_s, 0.0);
    for (uint32_t u = 0; u < g->n_units; u++) {
        atomic_init(&g->units[u].queued_s, 0.0);
        clear_drift(&g->units[u].drift);
    }
    for (uint32_t w = 0; w < g->view->n_workers; w++) {
        atomic_init(&g->workers[w].until_s, 0.0);
        atomic_init(&g->workers[w].last_s, 0.0);
        atomic_init(&g->workers[w].jobs, 0);
    }
    for (size_t i = 0; i < (size_t)g->n_units * g->view->graph->n_works; i++)
        clear_drift(&g->works[i]);
}

struct dfr_guard *dfr_guard_create(const struct dfr_view *view, const struct dfr_places *places)
{
    size_t n_jobs = ((size_t)view->n_slots + 1) * view->graph->n_nodes;
    struct dfr_guard *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->view = view;
    g->places = places;
    g->n_units = view->platform->n_units;
    g->units = aligned_alloc(64, g->n_units * sizeof *g->units);
    g->workers = aligned_alloc(64, view->n_workers * sizeof *g->workers);
    g->works = malloc(((size_t)g->n_units * view->graph->n_works + 1) * sizeof *g->works);
    g->jobs = calloc(n_jobs + 1, sizeof *g->jobs);
    if (!g->units || !g->workers || !g->works || !g->jobs) {
        dfr_guard_destroy(g);
        return NULL;
    }
    clear(g);
    return g;
}

/* ---- sums ---- */

static double load(const _Atomic double *x)
{
    return atomic_load_explicit((_Atomic double *)x, memory_order_relaxed);
}

static void add(_Atomic double *sum, double x)
{
    double old = load(sum);
    while (!atomic_compare_exchange_weak_explicit(sum, &old, old + x, memory_order_relaxed, memory_order_relaxed))
        ;
}

static void count(struct drift *drift, double expected_s, double measured_s)
{
    add(&drift->expected_s, expected_s);
    add(&drift->measured_s, measured_s);
}

static bool is_known(const struct drift *drift)
{
    return load(&drift->expected_s) > 0;
}

static double factor(const struct drift *drift)
{
    return load(&drift->measured_s) / load(&drift->expected_s);
}

/* ---- estimates ---- */

static struct job *record(const struct dfr_guard *g, uint64_t job)
{
    return &g->jobs[(size_t)dfr_job_slot(job) * g->view->graph->n_nodes + dfr_job_node(job)];
}

static size_t work_index(const struct dfr_guard *g, uint32_t unit, uint32_t node)
{
    return (size_t)unit * g->view->graph->n_works + g->view->graph->nodes[node].work;
}

static double time_s(const struct dfr_guard *g, uint32_t unit, uint32_t node)
{
    size_t i = work_index(g, unit, node);
    const struct drift *drift = is_known(&g->works[i]) ? &g->works[i] : &g->units[unit].drift;
    return g->view->time_s[i] * (is_known(drift) ? factor(drift) : 1);
}

static double left_s(const struct dfr_guard *g, uint32_t worker, double now)
{
    const struct worker *w = &g->workers[worker];
    if (atomic_load_explicit((_Atomic uint32_t *)&w->jobs, memory_order_relaxed) == 0)
        return 0;
    return fmax(0, load(&w->until_s) - now);
}

static double queued_s(const struct dfr_guard *g, uint32_t unit)
{
    return load(&g->units[unit].queued_s);
}

/* What is queued for the unit, without the job itself: a job whose data was sent to a unit is queued there until it has come. The caller holds the job. */
static double queued_without_s(const struct dfr_guard *g, uint64_t job, uint32_t unit)
{
    const struct job *j = record(g, job);
    return queued_s(g, unit) - (j->state == QUEUED && j->unit == unit ? j->amount_s : 0);
}

/* The time until a worker of the unit can begin what comes behind jobs of queued_s. */
static double wait_s(const struct dfr_guard *g, uint32_t unit, double queued_s, double now)
{
    uint32_t first = g->view->first_worker[unit], end = g->view->first_worker[unit + 1];
    double all_s = fmax(0, queued_s), least_s = INFINITY;

    for (uint32_t w = first; w < end; w++) {
        double s = left_s(g, w, now);
        all_s += s;
        least_s = fmin(least_s, s);
    }
    return queued_s > 1e-12 ? fmax(least_s, all_s / (end - first)) : least_s; /* sums of floating numbers do not come
                                                                               * back to 0 exactly */
}

/* The time to bring the job's inputs to the unit. */
static double data_s(const struct dfr_guard *g, uint64_t job, uint32_t unit)
{
    const struct df_graph *graph = g->view->graph;
    uint32_t node = dfr_job_node(job);
    double s = 0;

    for (uint32_t k = 0; k < df_node_n_needs(graph, node); k++) {
        uint32_t holders = g->view->holders(g->view->arg, job, k);
        uint64_t bytes = graph->values[df_node_need(graph, node, k)].bytes;
        if (bytes && !(holders >> unit & 1))
            s += df_platform_copy_s(g->view->platform, holders ? (uint32_t)__builtin_ctz(holders) : 0, unit, bytes);
    }
    return s;
}

/* The time to send the job's outputs to where their readers are planned: to peers directly, else to the host once, and
 * on from there. */
static double out_s(const struct dfr_guard *g, uint64_t job, uint32_t unit)
{
    const struct df_graph *graph = g->view->graph;
    const struct df_platform *platform = g->view->platform;
    uint32_t node = dfr_job_node(job), first = graph->nodes[node].first_out, peers = df_platform_peers(platform, unit);
    double s = 0;

    for (uint32_t y = first; y < first + df_node_n_out(graph, node); y++) {
        const struct df_value *value = &graph->values[y];
        uint32_t away = 0;
        for (uint32_t i = 0; value->bytes && !(value->flags & DF_VALUE_ACC) && i < value->n_readers; i++)
            away |= 1u << dfr_places_of(g->places, dfr_job_slot(job), graph->readers[value->first_reader + i].node);
        away &= ~(1u << unit);
        if (away & ~peers && unit > 0)
            s += df_platform_copy_s(platform, unit, 0, value->bytes);
        for (uint32_t u = 1; u < g->n_units; u++)
            if (away >> u & 1)
                s += df_platform_copy_s(platform, peers >> u & 1 ? unit : 0, u, value->bytes);
    }
    return s;
}

/* The time after which the job would have ended on the unit, if it waits there for waits_s, and its readers would have
 * its data. */
static double finish_s(const struct dfr_guard *g, uint64_t job, uint32_t unit, double waits_s)
{
    uint32_t node = dfr_job_node(job);
    return fmax(waits_s, data_s(g, job, unit)) + time_s(g, unit, node) + 2 * out_s(g, job, unit);
}

/* ---- the rules ---- */

bool dfr_guard_is_alarmed(const struct dfr_guard *g)
{
    return load(&g->off_s) > DFR_GUARD_ALARM * load(&g->expected_s);
}

static bool is_measured(const struct dfr_guard *g, uint32_t node, uint32_t unit)
{
    return is_known(&g->works[work_index(g, unit, node)]);
}

/* The unit with the earliest finish, if that is not `home` and is sooner by the margin. At home the job waits for
 * waits_s (less than 0: as long as the jobs queued there make it wait). measured_only: only if its work was measured on
 * one of the two units. */
static uint32_t better_unit(const struct dfr_guard *g, uint64_t job, uint32_t home, double waits_s, bool measured_only)
{
    uint32_t node = dfr_job_node(job), best = home;
    double now = g->view->now_s(g->view->arg), home_time_s = time_s(g, home, node);
    double home_s, best_s;

    if (waits_s < 0)
        waits_s = wait_s(g, home, queued_without_s(g, job, home), now);
    home_s = best_s = finish_s(g, job, home, waits_s);
    for (uint32_t u = 0; u < g->n_units; u++) {
        bool measured = is_measured(g, node, home) || is_measured(g, node, u);
        double s, margin = measured ? DFR_GUARD_MARGIN : DFR_GUARD_MARGIN_UNMEASURED;
        if (u == home || !(g->view->able[node] >> u & 1) || (measured_only && !measured))
            continue;
        s = finish_s(g, job, u, wait_s(g, u, queued_without_s(g, job, u), now));
        if (s < best_s && s + margin * fmax(home_time_s, time_s(g, u, node)) < home_s) {
            best = u;
            best_s = s;
        }
    }
    return best;
}

bool dfr_guard_may_leave(const struct dfr_guard *g, uint64_t job, uint32_t unit)
{
    uint32_t able = g->view->able[dfr_job_node(job)];
    return (able & (able - 1)) != 0 && g->view->settled(g->view->arg, job, unit);
}

uint32_t dfr_guard_choose(const struct dfr_guard *g, uint64_t job)
{
    uint32_t planned = dfr_places_of_job(g->places, job);
    bool may = dfr_guard_is_alarmed(g) && dfr_guard_may_leave(g, job, planned);
    return may ? better_unit(g, job, planned, -1, true) : planned;
}

uint32_t dfr_guard_reconsider(struct dfr_guard *g, uint64_t job, uint32_t unit)
{
    struct job *j = record(g, job);
    uint32_t better;
    if (!dfr_guard_is_alarmed(g) || j->moved || !dfr_guard_may_leave(g, job, unit))
        return unit;
    better = better_unit(g, job, unit, 0, false);
    j->moved = better != unit;          /* only once, so that it cannot go to and fro */
    return better;
}

bool dfr_guard_takes(const struct dfr_guard *g, uint64_t job, uint32_t from, uint32_t worker)
{
    uint32_t node = dfr_job_node(job), unit = g->view->unit_of[worker];
    double now, begins_s;
    if (!(g->view->able[node] >> unit & 1) || !dfr_guard_may_leave(g, job, from))
        return false;
    now = g->view->now_s(g->view->arg);
    begins_s = wait_s(g, from, queued_s(g, from) - time_s(g, from, node), now); /* it is queued there itself */
    return finish_s(g, job, unit, left_s(g, worker, now)) < begins_s + 2 * out_s(g, job, from);
}

uint32_t dfr_guard_idle_units(const struct dfr_guard *g)
{
    uint32_t units = 0;
    for (uint32_t w = 0; w < g->view->n_workers; w++)
        if (atomic_load_explicit(&g->workers[w].jobs, memory_order_relaxed) == 0)
            units |= 1u << g->view->unit_of[w];
    return units;
}

/* ---- what happens ---- */

/* Takes the job out of the sums that it counts in. */
static void leave(struct dfr_guard *g, struct job *j)
{
    if (j->state == QUEUED)
        add(&g->units[j->unit].queued_s, -j->amount_s);
    else if (j->state == TAKEN)
        atomic_fetch_sub_explicit(&g->workers[j->taker].jobs, 1, memory_order_relaxed);
    j->state = AWAY;
}

void dfr_guard_queued(struct dfr_guard *g, uint64_t job, uint32_t unit)
{
    struct job *j = record(g, job);
    if (j->state == AWAY)
        j->moved = false;
    leave(g, j);
    j->state = QUEUED;
    j->unit = (uint8_t)unit;
    j->amount_s = time_s(g, unit, dfr_job_node(job));
    add(&g->units[unit].queued_s, j->amount_s);
}

void dfr_guard_taken(struct dfr_guard *g, uint64_t job, uint32_t worker)
{
    struct job *j = record(g, job);
    struct worker *w = &g->workers[worker];
    uint32_t unit = g->view->unit_of[worker], node = dfr_job_node(job);
    double now = g->view->now_s(g->view->arg), loading_s = data_s(g, job, unit), from_s = now + loading_s;

    leave(g, j);
    if (atomic_fetch_add_explicit(&w->jobs, 1, memory_order_relaxed) > 0)
        from_s = fmax(from_s, load(&w->until_s));
    atomic_store_explicit(&w->until_s, from_s + time_s(g, unit, node), memory_order_relaxed);
    j->state = TAKEN;
    j->taker = worker;
    j->taken_s = now;
    j->clean = loading_s <= 0 && g->view->graph->works[g->view->graph->nodes[node].work].threads <= 1;
}

/* How long the job took, if others like it will take as long; else less than 0. A device's worker launches jobs behind
 * others without taking them. */
static double sample_s(const struct dfr_guard *g, const struct job *j, uint32_t worker, double now)
{
    uint32_t unit = g->view->unit_of[worker];
    bool ahead = j->state == AWAY && g->view->took_s && unit > 0, taken = j->state == TAKEN && j->taker == worker;
    double s = g->view->took_s && unit > 0 ? g->view->took_s(g->view->arg, unit)
                                           : now - fmax(j->taken_s, load(&g->workers[worker].last_s));

    if (taken && (!j->clean || (g->view->steady_s && j->taken_s < g->view->steady_s(g->view->arg, unit))))
        return -1;
    return taken || ahead ? s : -1;
}

static void measure(struct dfr_guard *g, uint32_t node, uint32_t unit, double measured_s)
{
    size_t i = work_index(g, unit, node);
    double expected_s = g->view->time_s[i];
    if (!(expected_s > 0))
        return;
    count(&g->works[i], expected_s, measured_s);
    count(&g->units[unit].drift, expected_s, measured_s);
    add(&g->off_s, fabs(measured_s - expected_s));
    add(&g->expected_s, expected_s);
}

void dfr_guard_done(struct dfr_guard *g, uint64_t job, uint32_t worker)
{
    struct job *j = record(g, job);
    double now = g->view->now_s(g->view->arg), s = sample_s(g, j, worker, now);

    if (s >= 0 && !g->view->graph->nodes[dfr_job_node(job)].live && /* such a job waits for a frame, and that is no drift */
        !(g->view->left_out && g->view->left_out(g->view->arg, job)))
        measure(g, dfr_job_node(job), g->view->unit_of[worker], s);
    atomic_store_explicit(&g->workers[worker].last_s, now, memory_order_relaxed);
    leave(g, j);
}
