/* steal.c - chooses a victim, decides whether its jobs are worth stealing, and steals them (steal.h), for the loop of a CPU worker (worker.c) in runs without
 * devices. start/ creates it. */
#include "runtime/engine/steal.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/threads/clock.h"

#define FIRST_NAP_NS 50000
#define LONGEST_NAP_NS 1000000
#define LENGTH_JOBS 16                  /* between two looks at how long jobs are */
#define MOST_SEEN 64                    /* of the jobs in a deque, the newest */
#define LONGEST_WATCH_S 50e-6           /* then the thief gives up, even if it has learned nothing */

/* All jobs that are ready before the workers start go to the first worker; the others steal them. */
int dfr_steal_create(struct df_run *run, struct df_error *error)
{
    run->threads.deques = aligned_alloc(64, run->machine.n_workers * sizeof *run->threads.deques);
    if (!run->threads.deques)
        return dfr_error_memory(error);
    memset(run->threads.deques, 0, run->machine.n_workers * sizeof *run->threads.deques);
    for (uint32_t i = 0; i < run->machine.n_workers; i++) {
        if (!dfr_deque_create(&run->threads.deques[i], (uint64_t)run->graph->n_nodes * run->inflight))
            return dfr_error_memory(error);
        run->threads.workers[i].deque = &run->threads.deques[i];
    }
    run->threads.starter.deque = &run->threads.deques[0];
    run->threads.fences = run->machine.n_workers > 1 && !dfr_deque_prepare();
    atomic_init(&run->threads.n_active, run->calls.on ? 0 : 1);
    return DF_OK;
}

void dfr_steal_destroy(struct df_run *run)
{
    for (uint32_t i = 0; run->threads.deques && i < run->machine.n_workers; i++)
        dfr_deque_destroy(&run->threads.deques[i]);
    free(run->threads.deques);
}

struct dfr_deque *dfr_steal_victim(const struct df_run *run, const struct dfr_worker *w)
{
    for (uint32_t i = 1, v = w->index; i < run->machine.n_workers; i++) {
        v = v + 1 < run->machine.n_workers ? v + 1 : 0;
        if (dfr_deque_size(&run->threads.deques[v]) > 0)
            return &run->threads.deques[v];
    }
    return NULL;
}

/* ---- the order of long jobs ---- */

/* Looks at the clock once in LENGTH_JOBS jobs. What the worker waited between two looks counts, too, and before the first look jobs are
 * taken to be long: a wrong answer costs LENGTH_JOBS jobs some nanoseconds each. */
static bool has_long_jobs(struct dfr_worker *w)
{
    uint64_t done = atomic_load_explicit(&w->deque->n_done, memory_order_relaxed);

    if (done - w->length.jobs >= LENGTH_JOBS) {
        double now_s = dfr_clock_s();
        w->length.are_long = now_s - w->length.since_s >= (double)(done - w->length.jobs) * DFR_LONG_S;
        w->length.since_s = now_s;
        w->length.jobs = done;
    }
    return w->length.are_long;
}

/* Takes a job out of its place. The newest one takes the place. */
static uint64_t take_at(struct dfr_deque *p, uint64_t at)
{
    uint64_t high = atomic_load_explicit(&p->high, memory_order_relaxed) - 1, job = p->jobs[at & p->mask];

    p->jobs[at & p->mask] = p->jobs[high & p->mask];
    atomic_store_explicit(&p->high, high, memory_order_relaxed);
    return job;
}

/* Ordered jobs go first, and then those of the oldest wave. */
static bool goes_before(const struct df_run *run, uint64_t a, uint64_t b)
{
    const uint32_t in_order = DFR_N_IN_ORDER | DFR_N_STREAM;
    const bool a_is = run->firing.nodes[dfr_job_node(a)].flags & in_order, b_is = run->firing.nodes[dfr_job_node(b)].flags & in_order;

    return a_is != b_is ? a_is : dfr_job_wave(run, a) < dfr_job_wave(run, b);
}

uint64_t dfr_steal_next(const struct df_run *run, struct dfr_worker *w)
{
    struct dfr_deque *p = w->deque;
    uint64_t low = atomic_load_explicit(&p->low, memory_order_relaxed), newest, first;

    if (w->kept != DFR_NO_JOB)
        dfr_deque_push(p, w->kept);
    w->kept = DFR_NO_JOB;
    newest = first = atomic_load_explicit(&p->high, memory_order_relaxed) - 1;
    if (has_long_jobs(w))
        for (uint64_t at = newest; at-- > low && newest - at <= MOST_SEEN;)
            if (goes_before(run, p->jobs[at & p->mask], p->jobs[first & p->mask]))
                first = at;
    return take_at(p, first);
}

/* ---- thieves ---- */

/* Are the victim's jobs long enough to be shared? A victim that ends no job although it is in no kernel says nothing of
 * its jobs: it has not begun, or it lost its core. */
static bool is_worth_it(const struct df_run *run, struct dfr_deque *victim)
{
    uint64_t before = atomic_load_explicit(&victim->n_done, memory_order_relaxed), done;
    double first_s = dfr_clock_s(), begin_s = first_s, now_s;

    do {
        for (int i = 0; i < 16; i++)
            dfr_relax();
        now_s = dfr_clock_s();
        if (dfr_deque_size(victim) == 0 || dfr_stopped(run) || now_s - first_s > LONGEST_WATCH_S)
            return false;
        done = atomic_load_explicit(&victim->n_done, memory_order_relaxed);
        if (done == before && atomic_load_explicit(&victim->inside, memory_order_relaxed))
            begin_s = now_s;
    } while (now_s - begin_s < DFR_WATCH_S);
    return (double)(done - before) * DFR_WORTH_S <= now_s - begin_s;
}

/* The worker that pushed jobs has woken one worker, which is this one. If there is more than this worker runs next,
 * here or anywhere, it wakes the next. */
static bool take_half(struct df_run *run, struct dfr_worker *w, struct dfr_deque *victim)
{
    atomic_fetch_add_explicit(&run->threads.n_active, 1, memory_order_acq_rel);
    if (dfr_deque_steal(w->deque, victim, run->threads.fences)) {
        if (dfr_deque_size(w->deque) > 1 || dfr_steal_victim(run, w))
            dfr_steal_wake(run);
        return true;
    }
    atomic_fetch_sub_explicit(&run->threads.n_active, 1, memory_order_acq_rel);
    return false;
}

static void take_nap(struct df_run *run, uint32_t key, struct dfr_idle *idle)
{
    int64_t nap_ns = idle->nap_ns ? idle->nap_ns : FIRST_NAP_NS;
    dfr_wake_nap(&run->threads.wakes[0], key, nap_ns);
    idle->nap_ns = 2 * nap_ns < LONGEST_NAP_NS ? 2 * nap_ns : LONGEST_NAP_NS;
    idle->short_jobs = false;
}

bool dfr_steal(struct df_run *run, struct dfr_worker *w, struct dfr_deque *victim, uint32_t key, struct dfr_idle *idle)
{
    if (idle->short_jobs) {
        take_nap(run, key, idle);
    } else if (idle->long_jobs || is_worth_it(run, victim)) {
        idle->long_jobs = false;
        return take_half(run, w, victim);
    } else {
        idle->short_jobs = dfr_deque_size(victim) > 0;
    }
    return false;
}

void dfr_steal_rest(struct df_run *run, struct dfr_idle *idle, double busy_s, uint64_t n_jobs)
{
    idle->long_jobs = busy_s > (double)n_jobs * DFR_WORTH_S;
    idle->short_jobs = !idle->long_jobs;
    if (idle->long_jobs)
        idle->nap_ns = 0;
    /* release: what this worker did, to whoever finds itself alone */
    atomic_fetch_sub_explicit(&run->threads.n_active, 1, memory_order_acq_rel);
}
