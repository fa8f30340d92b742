/* policy_eager.c - policies "eager" and "ddfcfs": first come, first served, without using times. With `--dl` (locality.h) a device prefers a job that reads
 * its last job's outputs to the oldest job. The table of policies (policy.c) lists them.
 *
 * "eager"   One central queue: an idle worker takes the oldest job that it can run. It is the baseline, and the FCFS of
 *           the papers.
 * "ddfcfs"  Demand-driven, first come first served, of Anthill (Teodoro et al. 2010, 3): a queue for each kernel (a
 *           filter there). An idle worker takes turns over the queues that have a job it can run, and takes the oldest
 *           job of the queue. Each worker has its own turn, and goes on after the kernel that it took from last.
 *
 * A queue is one FIFO for each set of units that can run some of its jobs, so that a worker never finds a job that it
 * cannot run.
 */
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/policy/ahead.h"
#include "runtime/policy/locality.h"

enum { EAGER, DDFCFS };

struct fcfs {
    const struct dfr_view *view;
    struct dfr_ready ready;
    _Atomic uint32_t *turn;             /* by worker; only its own thread uses it */
    struct dfr_offers offers;           /* with --dl only */
    struct dfr_locality locality;
    struct dfr_ahead ahead;
};

static void fcfs_destroy(void *state)
{
    struct fcfs *f = state;
    dfr_ready_destroy(&f->ready);
    free(f->turn);
    dfr_offers_destroy(&f->offers);
    free(f);
}

static int fcfs_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                       void **state, struct df_error *error)
{
    struct fcfs *f = calloc(1, sizeof *f);
    int status;

    (void)plan;
    if (!f)
        return dfr_error_memory(error);
    f->view = view;
    f->turn = malloc((view->n_workers + 1) * sizeof *f->turn);
    if (!f->turn || (view->locality && !dfr_offers_create(&f->offers, view)))
        status = dfr_error_memory(error);
    else
        status = dfr_ready_create(&f->ready, view, policy->variant == DDFCFS, error);
    if (status != DF_OK) {
        fcfs_destroy(f);
        return status;
    }
    for (uint32_t w = 0; w < view->n_workers; w++)
        atomic_init(&f->turn[w], 0);
    dfr_locality_init(&f->locality, view, &f->offers);
    dfr_ahead_init(&f->ahead, view);
    *state = f;
    return DF_OK;
}

/* A lone job stays with the worker that released it, if only that worker's unit can run it anyway: going through the
 * queue would cost more than it decides. */
static enum dfr_pushed fcfs_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    struct fcfs *f = state;
    uint32_t able = f->view->able[dfr_job_node(job)];

    if (lone && able == 1u << f->view->unit_of[by])
        return DFR_KEPT;
    dfr_ahead_pushed(&f->ahead, job);
    if (dfr_offer_list(&f->offers, job))
        dfr_ready_push(&f->ready, job);
    *units = able;
    return DFR_QUEUED;
}

/* Takes the oldest job of a kind that has not been taken otherwise. */
static bool pop_kind(struct fcfs *f, uint32_t kind, uint32_t unit, uint64_t *job)
{
    while (dfr_ready_pop(&f->ready, kind, unit, job))
        if (dfr_offer_unlist(&f->offers, *job))
            return true;
    return false;
}

static bool take(struct fcfs *f, uint32_t worker, uint64_t *job)
{
    uint32_t unit = f->view->unit_of[worker], n = f->ready.n_kinds;
    uint32_t kind = atomic_load_explicit(&f->turn[worker], memory_order_relaxed);

    while (f->view->locality && dfr_locality_find(&f->locality, unit, job))
        if (dfr_offer_claim(&f->offers, *job))
            return true;
    for (uint32_t i = 0; i < n; i++, kind = kind + 1 < n ? kind + 1 : 0)
        if (pop_kind(f, kind, unit, job)) {
            if (n > 1)
                atomic_store_explicit(&f->turn[worker], (kind + 1) % n, memory_order_relaxed);
            return true;
        }
    return false;
}

static bool fcfs_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct fcfs *f = state;

    if (!dfr_ahead_may(&f->ahead, worker) || dfr_ahead_awaits(&f->ahead, worker, 0) || !take(f, worker, job))
        return false;
    dfr_ahead_taken(&f->ahead, *job, worker);
    return true;
}

static void fcfs_done(void *state, uint64_t job, uint32_t worker)
{
    struct fcfs *f = state;
    dfr_locality_done(&f->locality, job, f->view->unit_of[worker]);
}

#define FCFS_OPS .pull = true, .locality = true, .create = fcfs_create, .destroy = fcfs_destroy, .push = fcfs_push, .pop = fcfs_pop, \
                 .done = fcfs_done

const struct dfr_policy dfr_policy_eager = {
    .name = "eager", .summary = "a free worker takes the oldest ready job that it can run", .variant = EAGER, FCFS_OPS,
};

const struct dfr_policy dfr_policy_ddfcfs = {
    .name = "ddfcfs", .summary = "turns over the kernels' queues; a worker takes the oldest job (Anthill)",
    .variant = DDFCFS, FCFS_OPS,
};
