/* direct.c - the worker of a direct run: its loop over jobs, which is as short as it can be, and what it does when it
 * has none. */
#include "runtime/engine/direct.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/base/error.h"
#include "runtime/engine/firing.h"
#include "runtime/engine/tokens.h"
#include "runtime/engine/worker.h"

#define FIRST_NAP_NS 50000
#define LONGEST_NAP_NS 1000000
#define LONGEST_WATCH_S 50e-6
#define LARGE_NODES (1u << 17)          /* from here on their records are more than a second level cache holds */
#define WINDOW 32

/* ---- making ---- */

bool dfr_direct_applies(const struct df_run *run)
{
    if (!run->memory.tokens || run->watch.trace || !run->choice.policy->any_worker)
        return false;
    for (uint32_t k = 0; k < run->graph->n_works; k++)
        if (run->graph->works[k].threads > 1 && run->machine.n_cpu_workers > 1)
            return false;               /* gangs are gathered by worker.c */
    return true;
}

/* All jobs that are ready before the workers start go to the first; the others rob it. */
int dfr_direct_create(struct df_run *run, struct df_error *error)
{
    run->threads.piles = aligned_alloc(64, run->machine.n_workers * sizeof *run->threads.piles);
    if (!run->threads.piles)
        return dfr_error_memory(error);
    memset(run->threads.piles, 0, run->machine.n_workers * sizeof *run->threads.piles);
    for (uint32_t i = 0; i < run->machine.n_workers; i++) {
        if (!dfr_pile_create(&run->threads.piles[i], (uint64_t)run->graph->n_nodes * run->inflight))
            return dfr_error_memory(error);
        run->threads.workers[i].pile = &run->threads.piles[i];
    }
    run->threads.starter.pile = &run->threads.piles[0];
    run->threads.fences = run->machine.n_workers > 1 && !dfr_pile_prepare();
    atomic_init(&run->threads.n_active, 1);
    return DF_OK;
}

void dfr_direct_destroy(struct df_run *run)
{
    for (uint32_t i = 0; run->threads.piles && i < run->machine.n_workers; i++)
        dfr_pile_destroy(&run->threads.piles[i]);
    free(run->threads.piles);
}

/* ---- with jobs ---- */

static void call_kernel(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    uint32_t node = dfr_job_node(job), slot = dfr_job_slot(job);
    struct dfr_pile *pile = w->pile;
    void *const *ports;
    int code;

    w->call.job = job;
    w->call.wave = dfr_job_wave(run, job);
    ports = run->firing.nodes[node].flags & DFR_N_TMP ? dfr_worker_ports(run, w, job) : dfr_tokens_ports(run, node, slot);
    dfr_pile_leave(pile);
    code = dfr_worker_call(run, w, ports);
    dfr_pile_enter(pile, run->threads.fences);
    atomic_store_explicit(&pile->n_done, atomic_load_explicit(&pile->n_done, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    /* acquire: all that those did who have no jobs any more */
    w->alone = atomic_load_explicit(&run->threads.n_active, memory_order_acquire) == 1;
    if (code == DF_OK && !w->call.failed)
        dfr_released(run, w, node, slot, w->call.wave);
    else
        dfr_engine_done(run, w, &w->call, code, 0);
}

static void wake_a_robber(struct df_run *run)
{
    if (run->threads.fences)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst); /* the sleeper's barrier does the rest (pile.h) */
    if (dfr_wake_is_wanted(&run->threads.wakes[0]))
        dfr_wake_one(&run->threads.wakes[0]);
}

/* Runs jobs until there are none. */
static void run_pile(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    while (!dfr_stopped(run)) {
        call_kernel(run, w, job);
        job = w->kept;
        w->kept = DFR_NO_JOB;
        if (job == DFR_NO_JOB && !dfr_pile_pop(w->pile, &job))
            return;
        if (dfr_pile_size(w->pile) > 0)
            wake_a_robber(run);         /* there is more than it runs next */
    }
}

/* ---- with jobs, in a graph larger than the caches ----
 *
 * There a job's record, its list of successors and their counters are each a wait for memory, one after the other. So
 * the newest job is not run at once: it takes the place of one in the window of the newest WINDOW jobs, which are run
 * in turn, and on its way there its memory is asked for, a step at a time. */

static void ask_for_successors(const struct df_run *run, uint64_t job)
{
    __builtin_prefetch(run->firing.successors + run->firing.nodes[dfr_job_node(job)].first_successor);
}

static void ask_for_counters(const struct df_run *run, uint64_t job)
{
    const struct dfr_node *n = &run->firing.nodes[dfr_job_node(job)];
    const struct dfr_pending *pending = dfr_pending_of(run, dfr_job_slot(job));
    uint32_t end = n[1].first_successor < n->first_successor + 4 ? n[1].first_successor : n->first_successor + 4;

    for (uint32_t s = n->first_successor; s < end; s++)
        __builtin_prefetch(&pending[run->firing.successors[s]], 1);
}

static bool pop_in_turn(const struct df_run *run, struct dfr_pile *p, uint64_t *turn, uint64_t *job)
{
    uint64_t high = atomic_load_explicit(&p->high, memory_order_relaxed), n = dfr_pile_size(p), first, soon;

    if (n == 0)
        return false;
    n = n < WINDOW ? n : WINDOW;
    first = high - n;
    if (*turn < first || *turn >= high)
        *turn = first;
    *job = p->jobs[*turn & p->mask];
    p->jobs[*turn & p->mask] = p->jobs[--high & p->mask];
    atomic_store_explicit(&p->high, high, memory_order_relaxed);
    ++*turn;
    if (n == WINDOW) {
        soon = *turn + WINDOW / 2;
        ask_for_successors(run, p->jobs[(soon < high ? soon : soon - (WINDOW - 1)) & p->mask]);
        soon = *turn + WINDOW / 4;
        ask_for_counters(run, p->jobs[(soon < high ? soon : soon - (WINDOW - 1)) & p->mask]);
    }
    return true;
}

static void run_large(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    uint64_t turn = 0;

    while (!dfr_stopped(run)) {
        call_kernel(run, w, job);
        if (w->kept != DFR_NO_JOB && dfr_pile_size(w->pile) == 0) {
            job = w->kept;
        } else {
            if (w->kept != DFR_NO_JOB) {
                __builtin_prefetch(&run->firing.nodes[dfr_job_node(w->kept)]);
                dfr_pile_push(w->pile, w->kept);
            }
            if (!pop_in_turn(run, w->pile, &turn, &job))
                return;
        }
        w->kept = DFR_NO_JOB;
        if (dfr_pile_size(w->pile) > 0)
            wake_a_robber(run);         /* there is more than it runs next */
    }
}

/* ---- without ---- */

/* Somebody who has jobs to rob; NULL: nobody. */
static struct dfr_pile *find_victim(const struct df_run *run, const struct dfr_worker *w)
{
    for (uint32_t i = 1, v = w->index; i < run->machine.n_workers; i++) {
        v = v + 1 < run->machine.n_workers ? v + 1 : 0;
        if (dfr_pile_size(&run->threads.piles[v]) > 0)
            return &run->threads.piles[v];
    }
    return NULL;
}

/* Are its jobs long enough to be shared? A victim that ends none while it is in none says nothing of them: it has not
 * begun, or lost its core. */
static bool is_worth_it(const struct df_run *run, struct dfr_pile *victim)
{
    uint64_t before = atomic_load_explicit(&victim->n_done, memory_order_relaxed), done;
    double first_s = dfr_clock_s(), begin_s = first_s, now_s;

    do {
        for (int i = 0; i < 16; i++)
            dfr_relax();
        now_s = dfr_clock_s();
        if (dfr_pile_size(victim) == 0 || dfr_stopped(run) || now_s - first_s > LONGEST_WATCH_S)
            return false;
        done = atomic_load_explicit(&victim->n_done, memory_order_relaxed);
        if (done == before && atomic_load_explicit(&victim->inside, memory_order_relaxed))
            begin_s = now_s;
    } while (now_s - begin_s < DFR_WATCH_S);
    return (double)(done - before) * DFR_WORTH_S <= now_s - begin_s;
}

/* Who pushed jobs has woken one worker, which is this one: where there is more than it runs next, here or anywhere, it
 * wakes the next. */
static bool rob(struct df_run *run, struct dfr_worker *w, struct dfr_pile *victim)
{
    atomic_fetch_add_explicit(&run->threads.n_active, 1, memory_order_acq_rel);
    if (dfr_pile_rob(w->pile, victim, run->threads.fences)) {
        if (dfr_pile_size(w->pile) > 1 || find_victim(run, w))
            wake_a_robber(run);
        return true;
    }
    atomic_fetch_sub_explicit(&run->threads.n_active, 1, memory_order_acq_rel);
    return false;
}

static void sleep_until_there_is_more(struct df_run *run, struct dfr_worker *w)
{
    struct dfr_wake *wake = &run->threads.wakes[0];
    uint32_t key = dfr_wake_announce(wake);

    dfr_pile_barrier(run->threads.fences);      /* pairs with wake_a_robber()'s look at the sleepers after its push */
    if (dfr_stopped(run) || find_victim(run, w))
        dfr_wake_cancel(wake, key);
    else
        dfr_wake_sleep(wake, key, -1);
}

/* What a worker has learned about being without jobs. */
struct leisure {
    bool long_jobs;                     /* those it had last were worth it: it robs again without watching */
    bool short_jobs;                    /* they were not, or those that it watched: it takes a nap first */
    int64_t nap_ns;
};

static void take_nap(struct df_run *run, uint32_t key, struct leisure *l)
{
    dfr_wake_nap(&run->threads.wakes[0], key, l->nap_ns);
    l->nap_ns = 2 * l->nap_ns < LONGEST_NAP_NS ? 2 * l->nap_ns : LONGEST_NAP_NS;
    l->short_jobs = false;
}

/* Gets jobs; false: the run ends. */
static bool get_jobs(struct df_run *run, struct dfr_worker *w, struct leisure *l)
{
    uint32_t looks = 0;

    while (!dfr_stopped(run)) {
        uint32_t key = dfr_wake_key(&run->threads.wakes[0]);
        struct dfr_pile *victim = find_victim(run, w);
        if (!victim && looks++ >= run->threads.spins) {
            sleep_until_there_is_more(run, w);
            looks = 0;
        } else if (!victim) {
            for (int i = 0; i < 16; i++)
                dfr_relax();
        } else if (l->short_jobs) {
            take_nap(run, key, l);
        } else if (l->long_jobs || is_worth_it(run, victim)) {
            l->long_jobs = false;
            if (rob(run, w, victim))
                return true;
        } else {
            l->short_jobs = dfr_pile_size(victim) > 0;
        }
    }
    return false;
}

/* ---- both ---- */

static void run_jobs(struct df_run *run, struct dfr_worker *w, struct leisure *l)
{
    uint64_t job, before = w->jobs;
    double begin_s = dfr_clock_s();

    if (dfr_pile_pop(w->pile, &job)) {
        if (run->graph->n_nodes < LARGE_NODES)
            run_pile(run, w, job);
        else
            run_large(run, w, job);
    }
    w->jobs = atomic_load_explicit(&w->pile->n_done, memory_order_relaxed);
    w->last_s = dfr_clock_s();
    w->busy_s += w->last_s - begin_s;
    if (w->first_s < 0)
        w->first_s = begin_s;
    l->long_jobs = w->last_s - begin_s > (double)(w->jobs - before) * DFR_WORTH_S;
    l->short_jobs = !l->long_jobs;
    if (l->long_jobs)
        l->nap_ns = FIRST_NAP_NS;
    /* release: what this worker did, to whoever finds itself alone */
    atomic_fetch_sub_explicit(&run->threads.n_active, 1, memory_order_acq_rel);
}

void *dfr_direct_main(void *arg)
{
    struct dfr_worker *w = arg;
    struct df_run *run = w->run;
    struct leisure leisure = { .nap_ns = FIRST_NAP_NS };

    if (run->machine.cores)
        dfr_cores_bind(run->machine.cores, w->index);
    if (w->index > 0 && !get_jobs(run, w, &leisure))
        return NULL;
    do
        run_jobs(run, w, &leisure);
    while (get_jobs(run, w, &leisure));
    return NULL;
}
