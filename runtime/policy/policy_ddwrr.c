/* policy_ddwrr.c - policy "ddwrr": demand-driven dynamic weighted round-robin of Anthill (Teodoro et al. 2010, 5.2). Ready jobs wait in one queue per
 * kernel (a filter in Anthill). An idle worker visits, round-robin, the queues with a job that it can run, and takes the job with the highest weight for
 * itself. The table of policies (policy.c) lists it.
 *
 * Weight:   How much faster the job is here than anywhere else: the shortest time on another class of units, divided by the time here. For a device beside
 *           a CPU this is the speedup, and for the CPU its inverse. Only the order of the weights matters. A job that no other class can run has infinite
 *           weight. Ties are broken by node number.
 * Turns:    Each worker has its own round-robin position, just after the kernel that it last took from. `--dl` works as in locality.h.
 */
#include <math.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/policy/sorted.h"

struct ddwrr {
    struct dfr_sorted sorted;
    uint32_t n_kernels;
    uint32_t *turns;                    /* the kernels, twice over: the entries from turns[k] on are in order from k */
    _Atomic uint32_t *turn;             /* by worker; only its own thread uses it */
};

static uint32_t place_by_weight(const struct dfr_view *view, const struct dfr_groups *groups, uint32_t group,
                                uint32_t node, double *key)
{
    const struct df_graph *g = view->graph;
    const double *time_s = view->time_s + g->nodes[node].work;
    double here_s = time_s[(size_t)groups->unit[group] * g->n_works], elsewhere_s = INFINITY;

    for (uint32_t i = 0; i < groups->n; i++)
        if (i != group && view->able[node] >> groups->unit[i] & 1)
            elsewhere_s = fmin(elsewhere_s, time_s[(size_t)groups->unit[i] * g->n_works]);
    *key = here_s > 0 ? elsewhere_s / here_s : elsewhere_s > 0 ? INFINITY : 1;
    return g->nodes[node].kernel;
}

static void ddwrr_destroy(void *state)
{
    struct ddwrr *d = state;
    dfr_sorted_destroy(&d->sorted);
    free(d->turns);
    free(d->turn);
    free(d);
}

static int ddwrr_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                        void **state, struct df_error *error)
{
    uint32_t n = view->graph->n_kernels;
    struct ddwrr *d = calloc(1, sizeof *d);
    int status;

    (void)policy;
    (void)plan;
    if (!d)
        return dfr_error_memory(error);
    status = dfr_sorted_create(&d->sorted, view, n, place_by_weight, error);
    if (status != DF_OK) {
        free(d);
        return status;
    }
    d->n_kernels = n;
    d->turns = malloc(((size_t)n * 2 + 1) * sizeof *d->turns);
    d->turn = malloc((view->n_workers + 1) * sizeof *d->turn);
    if (!d->turns || !d->turn) {
        ddwrr_destroy(d);
        return dfr_error_memory(error);
    }
    for (uint32_t i = 0; i < 2 * n; i++)
        d->turns[i] = i % n;
    for (uint32_t w = 0; w < view->n_workers; w++)
        atomic_init(&d->turn[w], 0);
    *state = d;
    return DF_OK;
}

static enum dfr_pushed ddwrr_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    struct ddwrr *d = state;
    return dfr_sorted_push(&d->sorted, job, by, lone, units);
}

static bool ddwrr_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct ddwrr *d = state;
    uint32_t turn = atomic_load_explicit(&d->turn[worker], memory_order_relaxed), taken;

    if (!dfr_sorted_pop(&d->sorted, worker, d->turns + turn, d->n_kernels, &taken, job))
        return false;
    if (taken < d->n_kernels)
        atomic_store_explicit(&d->turn[worker], (turn + taken + 1) % d->n_kernels, memory_order_relaxed);
    return true;
}

const struct dfr_policy dfr_policy_ddwrr = {
    .name = "ddwrr", .summary = "turns over the kernels' queues; a worker takes the job that suits it best (Anthill)",
    .pull = true, .locality = true, .create = ddwrr_create, .destroy = ddwrr_destroy, .push = ddwrr_push, .pop = ddwrr_pop,
};
