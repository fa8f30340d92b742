/* rehearsal.c - when jobs begin and end in a rehearsed run, and how late the threads are that wait for it
 * (rehearsal.h). */
#include "runtime/rehearse/rehearsal.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/rehearse/turns.h"

#define STEPS 16                        /* buckets of lateness for each power of two of microseconds */
#define BUCKETS (STEPS * 32)

/* What happens at one moment: devices see what has ended there, jobs of the host end, by wave and node, and workers take jobs;
 * of each kind those of devices come first, but for further jobs that devices take ahead. */
#define SEE UINT64_C(0)
#define END (UINT64_C(1) << 62)
#define TAKE (UINT64_C(2) << 62)
#define TAKE_ON_HOST (UINT64_C(3) << 62)
#define TAKE_AHEAD (UINT64_C(7) << 61)
#define WAVES (UINT64_C(1) << 30)       /* the order of END has room for so many waves */

struct dfr_rehearsal {
    struct dfr_nominal nominal;
    struct dfr_turns *turns;
    const struct df_graph *graph;
    uint32_t n_slots;
    _Atomic double *cause_s, *end_s;    /* by job: slot * n_nodes + node; once nodes have slot n_slots */
    _Atomic int64_t *wave;              /* by slot */
    uint64_t *next;                     /* by job: the lists of dfr_rehearsal_push() */
    _Atomic double told_s[DF_MAX_UNITS];
    double asked_s[DF_MAX_UNITS];       /* of a device's worker, its own: the moment at which it last asked for a job */
    double called_s[DF_MAX_UNITS];      /* of a device's worker, its own: it was called for then, and has not yet looked */
    _Atomic double last_s;              /* the latest end of a job */
    _Atomic double joined_s, parted_s;  /* of the gang */
    _Atomic uint64_t late[BUCKETS];     /* wake-ups, by lateness */
    _Atomic uint64_t n_late;            /* those later than DFR_LATE_S */
    _Atomic double worst_s;
};

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

int dfr_rehearsal_create(const struct df_graph *graph, uint32_t n_slots, uint32_t n_workers, double scale,
                         struct dfr_rehearsal **rehearsal, struct df_error *error)
{
    struct dfr_rehearsal *r = calloc(1, sizeof *r);
    size_t n = ((size_t)n_slots + 1) * graph->n_nodes + 1;

    if (!r)
        return dfr_error_memory(error);
    r->nominal.scale = scale;
    r->graph = graph;
    r->n_slots = n_slots;
    for (int u = 0; u < DF_MAX_UNITS; u++)
        r->called_s[u] = r->asked_s[u] = INFINITY;
    r->cause_s = calloc(n, sizeof *r->cause_s); /* all bits zero: 0.0 */
    r->end_s = calloc(n, sizeof *r->end_s);
    r->wave = calloc((size_t)n_slots + 1, sizeof *r->wave);
    r->next = calloc(n, sizeof *r->next);
    r->turns = dfr_turns_create(n_workers, &r->nominal);
    if (!r->cause_s || !r->end_s || !r->wave || !r->next || !r->turns) {
        dfr_rehearsal_destroy(r);
        return dfr_error_memory(error);
    }
    *rehearsal = r;
    return DF_OK;
}

void dfr_rehearsal_destroy(struct dfr_rehearsal *r)
{
    if (!r)
        return;
    free((void *)r->cause_s);
    free((void *)r->end_s);
    free((void *)r->wave);
    free(r->next);
    dfr_turns_destroy(r->turns);
    free(r);
}

void dfr_rehearsal_begin(struct dfr_rehearsal *r, double ahead_s)
{
    r->nominal.origin_s = dfr_clock_s() + ahead_s;
}

void dfr_rehearsal_enter(struct dfr_rehearsal *r, uint32_t worker)
{
    dfr_nominal_enter(&r->nominal);
    dfr_turns_enter(r->turns, worker);
}

const struct dfr_nominal *dfr_rehearsal_nominal(const struct dfr_rehearsal *r)
{
    return &r->nominal;
}

/* ---- times ---- */

/* What these times belong to is handed from thread to thread with release and acquire by whoever calls (the counters of
 * releases, the policy's queue). So the times themselves need no order. */
static double load(const _Atomic double *x)
{
    return atomic_load_explicit((_Atomic double *)x, memory_order_relaxed);
}

static void store(_Atomic double *x, double value)
{
    atomic_store_explicit(x, value, memory_order_relaxed);
}

static void raise(_Atomic double *x, double value)
{
    double old = load(x);
    while (old < value && !atomic_compare_exchange_weak_explicit(x, &old, value, memory_order_relaxed,
                                                                 memory_order_relaxed))
        ;
}

static size_t index_of(const struct dfr_rehearsal *r, uint32_t slot, uint32_t node)
{
    return (size_t)slot * r->graph->n_nodes + node;
}

void dfr_rehearsal_ready(struct dfr_rehearsal *r, uint32_t slot, uint32_t node, bool now)
{
    const struct df_graph *g = r->graph;
    const uint32_t *in = g->in_value + g->nodes[node].first_in;
    double cause_s = 0;

    for (uint32_t k = 0; k < df_node_n_in(g, node); k++) {
        uint32_t producer = g->values[in[k]].producer;
        bool once = df_value_is_once(g, in[k]);
        if (df_value_is_acc(g, in[k])) {
            now = true;                 /* it waited for the last wave */
            continue;
        }
        cause_s = fmax(cause_s, load(&r->end_s[index_of(r, once ? r->n_slots : slot, producer)]));
        now = now || (once && slot != r->n_slots);  /* it may have waited for the wave, too */
    }
    if (now || df_node_n_in(g, node) == 0)
        cause_s = fmax(cause_s, dfr_nominal_moment_s());
    store(&r->cause_s[index_of(r, slot, node)], cause_s);
}

void dfr_rehearsal_arrived(struct dfr_rehearsal *r, uint32_t slot, uint32_t node)
{
    raise(&r->cause_s[index_of(r, slot, node)], dfr_nominal_moment_s());
}

double dfr_rehearsal_cause_s(const struct dfr_rehearsal *r, uint32_t slot, uint32_t node)
{
    return load(&r->cause_s[index_of(r, slot, node)]);
}

void dfr_rehearsal_take(const struct dfr_rehearsal *r, uint32_t slot, uint32_t node)
{
    dfr_nominal_move(dfr_rehearsal_cause_s(r, slot, node), true);
}

void dfr_rehearsal_begin_wave(struct dfr_rehearsal *r, uint32_t slot, int64_t wave)
{
    atomic_store_explicit(&r->wave[slot], wave, memory_order_relaxed);
}

/* The place of a job among all jobs of all waves. */
static uint64_t order_of(const struct dfr_rehearsal *r, uint32_t slot, uint32_t node)
{
    uint64_t wave = (uint64_t)atomic_load_explicit((_Atomic int64_t *)&r->wave[slot], memory_order_relaxed);
    return wave % WAVES << 32 | node;
}

void dfr_rehearsal_wait(struct dfr_rehearsal *r, uint32_t slot, uint32_t node, double seconds)
{
    double end_s = dfr_nominal_moment_s() + seconds, late_s;

    dfr_turns_announce(end_s, END | order_of(r, slot, node));
    late_s = dfr_nominal_sleep(&r->nominal, end_s, 0);
    dfr_turns_await();
    dfr_rehearsal_late(r, late_s);
    if (late_s > DFR_LATE_S)
        end_s = dfr_nominal_real_s(&r->nominal);
    dfr_nominal_move(end_s, false);
    dfr_rehearsal_ended(r, slot, node, end_s);
}

void dfr_rehearsal_ended(struct dfr_rehearsal *r, uint32_t slot, uint32_t node, double end_s)
{
    store(&r->end_s[index_of(r, slot, node)], end_s);
    raise(&r->last_s, end_s);
}

double dfr_rehearsal_end_s(const struct dfr_rehearsal *r)
{
    return load(&r->last_s);
}

/* ---- lists ---- */

static uint64_t *next_of(struct dfr_rehearsal *r, uint64_t job)
{
    return &r->next[index_of(r, (uint32_t)(job >> 32), (uint32_t)job)];
}

void dfr_rehearsal_push(struct dfr_rehearsal *r, uint64_t *first, uint64_t job)
{
    *next_of(r, job) = *first;
    *first = job;
}

uint64_t dfr_rehearsal_pop(struct dfr_rehearsal *r, uint64_t *first)
{
    uint64_t job = *first;
    if (job != DFR_NO_REHEARSED)
        *first = *next_of(r, job);
    return job;
}

/* Takes the first n jobs, or all if there are fewer, off *rest, and gives them as a list. */
static uint64_t split(struct dfr_rehearsal *r, uint64_t *rest, uint64_t n)
{
    uint64_t first = *rest, *last = &first;

    for (uint64_t i = 0; i < n && *last != DFR_NO_REHEARSED; i++)
        last = next_of(r, *last);
    *rest = *last;
    *last = DFR_NO_REHEARSED;
    return first;
}

static uint64_t order_of_job(const struct dfr_rehearsal *r, uint64_t job)
{
    return order_of(r, (uint32_t)(job >> 32), (uint32_t)job);
}

/* Merges two sorted lists behind `end`; gives where the result ends. */
static uint64_t *merge(struct dfr_rehearsal *r, uint64_t *end, uint64_t a, uint64_t b)
{
    while (a != DFR_NO_REHEARSED || b != DFR_NO_REHEARSED) {
        bool take_a = b == DFR_NO_REHEARSED || (a != DFR_NO_REHEARSED && order_of_job(r, a) <= order_of_job(r, b));
        uint64_t *from = take_a ? &a : &b;
        *end = *from;
        end = next_of(r, *from);
        *from = *end;
    }
    return end;
}

/* Merge sort: sorted runs of 1, 2, 4, … jobs. */
void dfr_rehearsal_sort(struct dfr_rehearsal *r, uint64_t *first)
{
    uint64_t runs = 2;

    for (uint64_t n = 1; runs > 1; n *= 2) {
        uint64_t rest = *first, *end = first;
        for (runs = 0; rest != DFR_NO_REHEARSED; runs++) {
            uint64_t a = split(r, &rest, n), b = split(r, &rest, n);
            end = merge(r, end, a, b);
        }
        *end = DFR_NO_REHEARSED;
    }
}

/* ---- threads that meet ---- */

void dfr_rehearsal_tell(struct dfr_rehearsal *r, uint32_t unit)
{
    raise(&r->told_s[unit], dfr_nominal_moment_s());
}

double dfr_rehearsal_told_s(const struct dfr_rehearsal *r, uint32_t unit)
{
    return load(&r->told_s[unit]);
}

void dfr_rehearsal_call(struct dfr_rehearsal *r, uint32_t unit, uint32_t first, uint32_t n)
{
    for (uint32_t w = first; w < first + n; w++)
        dfr_turns_call(r->turns, w, dfr_nominal_moment_s(), unit == 0 ? TAKE_ON_HOST | w : SEE);
}

void dfr_rehearsal_listen(struct dfr_rehearsal *r, uint32_t unit)
{
    r->called_s[unit] = fmin(r->called_s[unit], dfr_turns_hear(true));
    dfr_nominal_move(load(&r->told_s[unit]), false);
}

bool dfr_rehearsal_settle(struct dfr_rehearsal *r, uint32_t unit, uint32_t worker, bool ahead)
{
    double moment_s = fmax(dfr_nominal_moment_s(), load(&r->told_s[unit])), late_s;

    if (unit == 0)
        dfr_turns_hear(false);
    dfr_turns_announce(moment_s, (unit == 0 ? TAKE_ON_HOST : ahead && r->asked_s[unit] == moment_s ? TAKE_AHEAD : TAKE) | worker);
    late_s = dfr_nominal_sleep(&r->nominal, moment_s, unit == 0 ? 2 * DFR_SETTLE_S : DFR_SETTLE_S);
    if (late_s > 0)                     /* it slept */
        dfr_rehearsal_late(r, late_s);
    dfr_turns_await();
    if (dfr_turns_called())
        return false;
    if (unit > 0)
        r->asked_s[unit] = moment_s;
    return true;
}

void dfr_rehearsal_idle(void)
{
    dfr_turns_idle();
}

double dfr_rehearsal_called_s(const struct dfr_rehearsal *r, uint32_t unit)
{
    return r->called_s[unit];
}

void dfr_rehearsal_expect(struct dfr_rehearsal *r, uint32_t unit, double at_s)
{
    r->called_s[unit] = INFINITY;
    dfr_turns_announce(at_s, SEE);
}

bool dfr_rehearsal_see(double at_s)
{
    dfr_turns_announce(at_s, SEE);
    return dfr_turns_await();
}

void dfr_rehearsal_gather(void)
{
    dfr_turns_hear(false);
    dfr_turns_announce(INFINITY, 0);
}

void dfr_rehearsal_join(struct dfr_rehearsal *r)
{
    raise(&r->joined_s, dfr_nominal_moment_s());
    dfr_rehearsal_gather();
}

void dfr_rehearsal_lead(const struct dfr_rehearsal *r)
{
    dfr_nominal_move(load(&r->joined_s), true);
}

void dfr_rehearsal_part(struct dfr_rehearsal *r, bool leader)
{
    if (leader)
        raise(&r->parted_s, dfr_nominal_moment_s());
    else
        dfr_nominal_move(load(&r->parted_s), false);
}

/* ---- lateness ---- */

void dfr_rehearsal_late(struct dfr_rehearsal *r, double late_s)
{
    double bucket = STEPS * log2(1 + 1e6 * fmax(late_s, 0));

    atomic_fetch_add_explicit(&r->late[bucket < BUCKETS ? (unsigned)bucket : BUCKETS - 1], 1, memory_order_relaxed);
    if (late_s > DFR_LATE_S)
        atomic_fetch_add_explicit(&r->n_late, 1, memory_order_relaxed);
    raise(&r->worst_s, late_s);
}

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
}
