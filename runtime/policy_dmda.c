/* policy_dmda.c - "dmda" (deque model, data aware): a job that becomes ready is assigned to the worker with the earliest
 * expected finish, max(worker free, data there) + execution time, and its data is sent there at once.
 *
 * Workers of one unit share memory and speed, so the assignment decides the unit, whose workers take its jobs first come
 * first served; which of them was meant shows only in the estimates. Estimates are sums of expected times, corrected when
 * a job is done: a worker that has nothing more to do is free now, whatever was expected.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/error.h"
#include "runtime/policy.h"

struct dmda_unit {
    _Alignas(64) struct dfr_queue *queue;
    _Atomic double queued_s;            /* expected time of the jobs assigned and not done */
    _Atomic double in_free_s, out_free_s; /* when its link is expected to be free, each way */
};

struct dmda {
    const struct dfr_view *view;
    struct dmda_unit *units;
    uint32_t n_units;
};

static void dmda_destroy(void *state)
{
    struct dmda *d = state;
    for (uint32_t u = 0; d->units && u < d->n_units; u++)
        if (d->units[u].queue)
            dfr_queue_destroy(d->units[u].queue);
    free(d->units);
    free(d);
}

static int dmda_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                       void **state, struct df_error *error)
{
    struct dmda *d = calloc(1, sizeof *d);

    (void)policy;
    (void)plan;
    if (!d)
        return dfr_error_memory(error);
    d->view = view;
    d->n_units = view->platform->n_units;
    d->units = aligned_alloc(64, d->n_units * sizeof *d->units);
    if (!d->units)
        goto no_memory;
    for (uint32_t u = 0; u < d->n_units; u++) {
        d->units[u].queue = NULL;
        atomic_init(&d->units[u].queued_s, 0.0);
        atomic_init(&d->units[u].in_free_s, 0.0);
        atomic_init(&d->units[u].out_free_s, 0.0);
    }
    for (uint32_t u = 0; u < d->n_units; u++) {
        uint64_t count = 0;
        for (uint32_t v = 0; v < view->graph->n_nodes; v++)
            count += view->able[v] >> u & 1;
        d->units[u].queue = dfr_queue_create((uint32_t)(count * view->n_slots));
        if (!d->units[u].queue)
            goto no_memory;
    }
    *state = d;
    return DF_OK;

no_memory:
    dmda_destroy(d);
    return dfr_error_memory(error);
}

static void add(_Atomic double *sum, double x)
{
    double old = atomic_load_explicit(sum, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(sum, &old, fmax(0.0, old + x), memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

static double load(_Atomic double *x)
{
    return atomic_load_explicit(x, memory_order_relaxed);
}

static double exec_s(const struct dmda *d, uint32_t unit, uint32_t node)
{
    return d->view->time_s[(size_t)unit * d->view->graph->n_works + d->view->graph->nodes[node].work];
}

/* When an input that no copy in unit's memory has can be there, coming from one of `holders`; *in_free and *out_free (of
 * the holder) go on as if it were sent. */
static double arrival_s(const struct dmda *d, uint32_t unit, uint32_t holders, uint64_t bytes, double now, double *in_free)
{
    const struct df_unit *units = d->view->platform->units;
    double at = now;

    if (!(holders & 1)) {               /* through the host */
        uint32_t from = holders ? (uint32_t)__builtin_ctz(holders) : 0;
        if (from > 0)
            at = fmax(at, load(&d->units[from].out_free_s)) + df_link_time_s(&units[from].d2h, bytes);
    }
    if (unit > 0) {
        at = fmax(at, *in_free) + df_link_time_s(&units[unit].h2d, bytes);
        *in_free = at;
    }
    return at;
}

/* When all inputs of the job can be in the memory of `unit`; *in_free: its link's state after that. */
static double data_there_s(const struct dmda *d, uint64_t job, uint32_t unit, double now, double *in_free)
{
    const struct df_graph *g = d->view->graph;
    const struct df_node *node = &g->nodes[dfr_job_node(job)];
    double there = now;

    *in_free = load(&d->units[unit].in_free_s);
    for (uint32_t k = 0; k < df_node_n_in(g, dfr_job_node(job)); k++) {
        uint32_t holders = d->view->holders(d->view->arg, job, k);
        if (holders >> unit & 1)
            continue;
        there = fmax(there, arrival_s(d, unit, holders, g->values[g->in_value[node->first_in + k]].bytes, now, in_free));
    }
    return there;
}

/* Ties go to the unit that released the job, else to the first. */
static uint32_t choose(struct dmda *d, uint64_t job, uint32_t by)
{
    uint32_t node = dfr_job_node(job), able = d->view->able[node], best = 0;
    double now = d->view->now_s(d->view->arg), best_s = INFINITY, best_in = 0;
    bool found = false;

    for (uint32_t u = 0; u < d->n_units; u++) {
        uint32_t workers = d->view->first_worker[u + 1] - d->view->first_worker[u];
        double in_free, finish;
        if (!(able >> u & 1))
            continue;
        finish = fmax(now + load(&d->units[u].queued_s) / workers, data_there_s(d, job, u, now, &in_free)) +
                 exec_s(d, u, node);
        if (!found || finish < best_s || (finish == best_s && by != DFR_NOBODY && d->view->unit_of[by] == u)) {
            found = true;
            best = u;
            best_s = finish;
            best_in = in_free;
        }
    }
    if (best > 0)
        atomic_store_explicit(&d->units[best].in_free_s, best_in, memory_order_relaxed);
    return best;
}

/* What leaves other memories for this job keeps their links busy. */
static void charge_links(struct dmda *d, uint64_t job, uint32_t unit)
{
    const struct df_graph *g = d->view->graph;
    const struct df_node *node = &g->nodes[dfr_job_node(job)];
    double now = d->view->now_s(d->view->arg);

    for (uint32_t k = 0; k < df_node_n_in(g, dfr_job_node(job)); k++) {
        uint32_t holders = d->view->holders(d->view->arg, job, k), from;
        double free_s;
        if (holders & 1 || holders >> unit & 1 || holders == 0)
            continue;
        from = (uint32_t)__builtin_ctz(holders);
        free_s = fmax(now, load(&d->units[from].out_free_s)) +
                 df_link_time_s(&d->view->platform->units[from].d2h, g->values[g->in_value[node->first_in + k]].bytes);
        atomic_store_explicit(&d->units[from].out_free_s, free_s, memory_order_relaxed);
    }
}

static bool is_single(uint32_t mask)
{
    return (mask & (mask - 1)) == 0;
}

static enum dfr_pushed dmda_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    struct dmda *d = state;
    uint32_t node = dfr_job_node(job), able = d->view->able[node], unit;

    if (d->n_units == 1) {              /* nothing to decide or to send */
        if (lone && dfr_queue_is_empty(d->units[0].queue))
            return DFR_KEPT;
        dfr_queue_push(d->units[0].queue, job);
        *units = 1;
        return DFR_QUEUED;
    }
    unit = is_single(able) ? (uint32_t)__builtin_ctz(able) : choose(d, job, by);
    charge_links(d, job, unit);
    add(&d->units[unit].queued_s, exec_s(d, unit, node));
    if (d->view->stage(d->view->arg, job, unit))
        return DFR_STAGED;
    if (lone && d->view->unit_of[by] == unit && dfr_queue_is_empty(d->units[unit].queue))
        return DFR_KEPT;
    dfr_queue_push(d->units[unit].queue, job); /* sized for every job that this unit can run: never full */
    *units = 1u << unit;
    return DFR_QUEUED;
}

static bool dmda_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct dmda *d = state;
    return dfr_queue_pop(d->units[d->view->unit_of[worker]].queue, job);
}

static void dmda_done(void *state, uint64_t job, uint32_t worker)
{
    struct dmda *d = state;
    uint32_t unit = d->view->unit_of[worker];
    if (d->n_units > 1)
        add(&d->units[unit].queued_s, -exec_s(d, unit, dfr_job_node(job)));
}

const struct dfr_policy dfr_policy_dmda = {
    .name = "dmda", .summary = "each ready job goes where it is expected to finish first, its data is sent at once",
    .create = dmda_create, .destroy = dmda_destroy, .push = dmda_push, .pop = dmda_pop, .done = dmda_done,
};
