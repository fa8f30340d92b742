/* rehearsal.c - waits in place of kernels, and how late the threads wake (rehearsal.h). The start of a run creates it, makes its threads take part and reports
 * on it (start/run….c); rehearse_device.c waits here for devices. */
#include "runtime/rehearse/rehearsal.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/threads/clock.h"

#define STEPS 16                        /* buckets of lateness for each power of two of microseconds */
#define BUCKETS (STEPS * 32)

struct dfr_rehearsal {
    struct dfr_nominal nominal;
    _Atomic double last_s;              /* the latest end */
    _Atomic uint64_t late[BUCKETS];     /* wake-ups, by lateness */
    _Atomic uint64_t n_late;            /* those later than DFR_LATE_S */
    _Atomic double worst_s;
    const struct dfr_policy *policy;    /* the run's own */
    struct dfr_policy settling;         /* the same one, whose pop() is the one below */
    uint32_t n_cpu_workers;
};

static _Thread_local struct dfr_rehearsal *entered;

/* ---- making ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int dfr_rehearsal_scale(const double *job_s, uint32_t n_nodes, double run_s, double *scale, struct df_error *error)
{
    double *sorted = malloc(((size_t)n_nodes + 1) * sizeof *sorted);
    uint32_t n = 0;

    if (!sorted)
        return dfr_error_memory(error);
    for (uint32_t v = 0; v < n_nodes; v++)
        if (job_s[v] > 0)
            sorted[n++] = job_s[v];
    qsort(sorted, n, sizeof *sorted, compare);
    *scale = n ? DFR_REHEARSED_JOB_S / sorted[n / 2] : 1;
    if (run_s > 0)
        *scale = fmin(*scale, DFR_REHEARSED_RUN_S / run_s);
    free(sorted);
    return DF_OK;
}

int dfr_rehearsal_create(double scale, struct dfr_rehearsal **rehearsal, struct df_error *error)
{
    struct dfr_rehearsal *r = calloc(1, sizeof *r);

    if (!r)
        return dfr_error_memory(error);
    r->nominal.scale = scale;
    *rehearsal = r;
    return DF_OK;
}

void dfr_rehearsal_destroy(struct dfr_rehearsal *r)
{
    free(r);
}

void dfr_rehearsal_begin(struct dfr_rehearsal *r, double ahead_s)
{
    r->nominal.origin_s = dfr_clock_s() + ahead_s;
}

void dfr_rehearsal_enter(struct dfr_rehearsal *r)
{
    entered = r;
    dfr_nominal_enter(r ? &r->nominal : NULL);
}

/* ---- waiting ---- */

static double load(const _Atomic double *x)
{
    return atomic_load_explicit((_Atomic double *)x, memory_order_relaxed);
}

static void raise(_Atomic double *x, double value)
{
    double old = load(x);
    while (old < value && !atomic_compare_exchange_weak_explicit(x, &old, value, memory_order_relaxed,
                                                                 memory_order_relaxed))
        ;
}

static void count_late(struct dfr_rehearsal *r, double late_s)
{
    double bucket = STEPS * log2(1 + 1e6 * fmax(late_s, 0));

    atomic_fetch_add_explicit(&r->late[bucket < BUCKETS ? (unsigned)bucket : BUCKETS - 1], 1, memory_order_relaxed);
    if (late_s > DFR_LATE_S)
        atomic_fetch_add_explicit(&r->n_late, 1, memory_order_relaxed);
    raise(&r->worst_s, late_s);
}

void dfr_rehearsal_wait(double seconds)
{
    count_late(entered, dfr_nominal_sleep(dfr_clock_s() + seconds, 0));
    raise(&entered->last_s, dfr_clock_s());
}

void dfr_rehearsal_see(double end_s, bool slept)
{
    double late_s = slept ? -dfr_nominal_left_s(end_s) : 0;

    if (slept)
        count_late(entered, late_s);
    dfr_nominal_move(end_s);
    if (late_s > DFR_LATE_S)
        dfr_nominal_catch_up();
    raise(&entered->last_s, end_s);
}

static bool settled_pop(void *state, uint32_t worker, uint64_t *job)
{
    double late_s = worker < entered->n_cpu_workers ? dfr_nominal_sleep(dfr_clock_s(), DFR_SETTLE_S) : 0;

    if (late_s > 0)
        count_late(entered, late_s);
    return entered->policy->pop(state, worker, job);
}

const struct dfr_policy *dfr_rehearsal_policy(struct dfr_rehearsal *r, const struct dfr_policy *policy, uint32_t n_cpu_workers)
{
    r->policy = policy;
    r->settling = *policy;
    r->settling.pop = settled_pop;
    r->n_cpu_workers = n_cpu_workers;
    return &r->settling;
}

/* ---- lateness ---- */

/* The lateness that this part of all wake-ups does not exceed: the upper edge of its bucket. */
static double quantile_s(const struct dfr_rehearsal *r, uint64_t n, double part)
{
    uint64_t below = 0;
    unsigned b = 0;

    while (b < BUCKETS - 1 && (below += r->late[b]) < part * (double)n)
        b++;
    return fmin(1e-6 * (exp2((b + 1.0) / STEPS) - 1), load(&r->worst_s));
}

void dfr_rehearsal_stats(const struct dfr_rehearsal *r, struct df_stats *stats)
{
    struct df_rehearsal_stats *s = &stats->rehearsal;

    s->scale = r->nominal.scale;
    for (unsigned b = 0; b < BUCKETS; b++)
        s->waits += r->late[b];
    s->late_median_s = quantile_s(r, s->waits, 0.5);
    s->late_99_s = quantile_s(r, s->waits, 0.99);
    s->late_worst_s = load(&r->worst_s);
    s->n_late = r->n_late;
    stats->makespan_s = load(&r->last_s);
}
