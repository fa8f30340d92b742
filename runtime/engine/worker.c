/* worker.c - the main loop of a CPU worker's thread (worker.h), which start/run_workers.c starts; the thread that calls a session also acts as one. After a
 * failure, start/run_workers.c has it drain earlier waves. list.c and gpu/gpu_worker.c use dfr_job_timed() to record a job's time. */
#include "runtime/engine/worker.h"

#include "runtime/engine/crash.h"
#include "runtime/engine/firing.h"
#include "runtime/engine/gang.h"
#include "runtime/engine/latency.h"
#include "runtime/engine/ports.h"
#include "runtime/engine/steal.h"
#include "runtime/engine/tokens.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"

#define LARGE_NODES (1u << 17)          /* the records of so many nodes are more than a second level cache holds */
#define WINDOW 32                       /* jobs in the window of pop_in_turn() */

/* What is known of a run before its first job. The loop is compiled once for each kind of run. */
struct kind {
    bool lean;                          /* worker.h */
    bool large;                         /* lean, and the graph has LARGE_NODES or more */
};

/* ---- gangs ---- */

static inline bool gang_gathers(const struct df_run *run)
{
    return run->threads.gang && dfr_gang_gathers(run->threads.gang);
}

/* A job that the policy has left to this worker cannot be given back. So the worker runs it first. While a gang
 * gathers, no other job is left to it (engine.c). */
static inline bool may_join(const struct df_run *run, const struct dfr_worker *w)
{
    return gang_gathers(run) && (w->deque || w->kept == DFR_NO_JOB);
}

/* Waits until the gang's job is over; gives the seconds. Meanwhile others may steal all of this worker's jobs, the one
 * that it would run next included. dfr_gang_join() wakes somebody who looks for them. */
static double join_gang(struct df_run *run, struct dfr_worker *w)
{
    double begin_s = dfr_clock_s();

    if (w->deque) {
        if (w->kept != DFR_NO_JOB)
            dfr_deque_push(w->deque, w->kept);
        w->kept = DFR_NO_JOB;
        dfr_deque_leave(w->deque);
    }
    dfr_gang_join(run->threads.gang, w);
    if (w->deque)
        dfr_deque_enter(w->deque, run->threads.fences);
    return dfr_clock_s() - begin_s;
}

static bool lead_gang(struct df_run *run, struct dfr_worker *w)
{
    double begin_s = dfr_clock_s();
    bool complete;

    complete = dfr_gang_lead(run->threads.gang, w, w->call.threads);
    w->busy_s -= dfr_clock_s() - begin_s;
    return complete;
}

/* Workers that the job may use, this one included. */
static uint32_t threads_of(const struct df_run *run, uint64_t job)
{
    uint32_t threads = run->graph->works[run->graph->nodes[dfr_job_node(job)].work].threads;
    return threads < run->machine.n_cpu_workers ? threads : run->machine.n_cpu_workers;
}

/* ---- one job ---- */

struct dfr_trace_event *dfr_job_timed(struct dfr_worker *w, const struct df_call *call, double begin_s, double end_s)
{
    const struct df_graph *g = w->run->graph;
    uint32_t node = dfr_job_node(call->job);

    if (w->node_stats)
        df_node_stats_add(&w->node_stats[node], w->unit > 0, end_s - begin_s);
    if (w->run->watch.latency)
        dfr_latency_job(w->run, call->job, w->unit, begin_s, end_s);
    return w->row ? dfr_trace_add(w->row, node, dfr_traced_wave(w->run, call->job, call->wave), begin_s, end_s,
                                  g->works[g->nodes[node].work].job_bytes)
                  : NULL;
}

/* Its kernel is not called. That needs no gang, and takes no time. */
static bool is_left_out(const struct df_run *run, uint64_t job)
{
    return dfr_skips_leaves_out(&run->skips, dfr_job_slot(job), dfr_job_node(job));
}

/* Calls the kernel of w->call in a run of any kind. false: the run stopped before the call. */
static bool call_any(struct df_run *run, struct dfr_worker *w, int *code)
{
    struct df_call *call = &w->call;
    void *const *ports = dfr_ports(run, w, call->job);
    double begin_s;

    call->failed = false;
    call->threads = run->threads.gang && !is_left_out(run, call->job) ? threads_of(run, call->job) : 1;
    if (w->deque)
        dfr_deque_leave(w->deque);
    if (call->threads > 1 && !lead_gang(run, w))
        return false;
    begin_s = dfr_times_jobs(w) ? dfr_clock_s() : 0;
    *code = !ports ? DF_FAILED : run->watch.call ? run->watch.call(run, w) : dfr_call_kernel(run, w, ports);
    if (dfr_times_jobs(w) && !is_left_out(run, call->job))
        dfr_job_timed(w, call, begin_s, dfr_clock_s());
    if (call->threads > 1)
        dfr_gang_end(run->threads.gang);
    if (w->deque)
        dfr_deque_enter(w->deque, run->threads.fences);
    return true;
}

static inline int call_lean(struct df_run *run, struct dfr_worker *w, struct dfr_deque *deque, uint32_t node,
                            uint32_t slot)
{
    void *const *ports = run->firing.nodes[node].flags & DFR_N_TMP ? dfr_ports(run, w, w->call.job)
                                                                    : dfr_tokens_ports(run, node, slot);
    int code;

    dfr_deque_leave(deque);
    code = dfr_call_kernel(run, w, ports);
    dfr_deque_enter(deque, run->threads.fences);
    return code;
}

static inline __attribute__((always_inline)) void run_job(struct df_run *run, struct dfr_worker *w,
                                                          struct dfr_deque *deque, uint64_t job, struct kind kind)
{
    uint32_t node = dfr_job_node(job), slot = dfr_job_slot(job);
    int code;

    w->call.job = job;
    w->call.wave = dfr_job_wave(run, job);
    if (kind.lean)
        code = call_lean(run, w, deque, node, slot);
    else if (!call_any(run, w, &code))
        return;
    if (kind.lean || deque) {
        atomic_store_explicit(&deque->n_done, atomic_load_explicit(&deque->n_done, memory_order_relaxed) + 1,
                              memory_order_relaxed);
        /* acquire: all that those workers did which have no jobs any more */
        w->alone = atomic_load_explicit(&run->threads.n_active, memory_order_acquire) == 1;
    } else {
        w->jobs++;
    }
    if (kind.lean && __builtin_expect(code == DF_OK && !w->call.failed, 1))
        dfr_released(run, w, node, slot, w->call.wave);
    else
        dfr_engine_done(run, w, &w->call, code, 0);
}

/* ---- the next job, from the policy ---- */

/* Jobs whose data is on the way do not keep a worker from other jobs. But a policy that decides late gives a job to
 * whoever asks first. So that jobs are not drawn to the host which a device would take sooner, no more prefetch than
 * workers are without a job: each of them waits for one. */
static bool enough_prefetching(const struct df_run *run, const struct dfr_worker *w)
{
    struct df_run *r = (struct df_run *)run;
    uint32_t others;

    if (!run->choice.policy->pull)
        return false;
    others = atomic_load_explicit(&r->devices.n_busy, memory_order_seq_cst) - w->busy;
    return atomic_load_explicit(&r->devices.n_prefetching, memory_order_seq_cst) + others >= run->machine.n_cpu_workers;
}

static void set_put_off(struct df_run *run, struct dfr_worker *w, bool put_off)
{
    if (w->put_off == put_off)
        return;
    w->put_off = put_off;
    atomic_fetch_add_explicit(&run->devices.n_put_off, put_off ? 1u : -1u, memory_order_seq_cst);
}

/* Does the worker leave the policy's jobs to others? It says so, and then looks again. Whoever makes enough_prefetching() false
 * changes that first, and then looks for workers that were put off. So none of them sleeps beside a job. */
static bool is_put_off(struct df_run *run, struct dfr_worker *w)
{
    set_put_off(run, w, enough_prefetching(run, w));
    if (w->put_off)
        set_put_off(run, w, enough_prefetching(run, w));
    return w->put_off;
}

static void wake_put_off(struct df_run *run)
{
    if (atomic_load_explicit(&run->devices.n_put_off, memory_order_seq_cst) > 0)
        dfr_wake_unit(run, 0);
}

static bool take(struct df_run *run, struct dfr_worker *w, uint64_t *job)
{
    for (;;) {
        if (w->kept != DFR_NO_JOB) {
            *job = w->kept;
            w->kept = DFR_NO_JOB;
        } else if (run->devices.arrived && dfr_queue_pop(run->devices.arrived, job)) {
            if (dfr_end_kept(run, w, *job))
                continue;
            atomic_fetch_sub_explicit(&run->devices.n_prefetching, 1, memory_order_seq_cst);
            if (w->busy)                /* else it becomes busy now in place of the prefetch */
                wake_put_off(run);
            return true;
        } else if (is_put_off(run, w) || !run->choice.policy->pop(run->choice.state, w->index, job)) {
            return false;
        }
        if (run->machine.n_gpus == 0 || !dfr_prefetch(run, *job, 0)) /* else it waits for its data */
            return true;
    }
}

/* ---- the next job, from the worker's deque ---- */

/* The newest job, unless jobs may be long (steal.h). */
static inline bool pop_own(const struct df_run *run, struct dfr_worker *w, uint64_t *job)
{
    const bool may_be_long = run->threads.fences || atomic_load_explicit(&w->deque->fenced, memory_order_relaxed);

    if (may_be_long && run->inflight > 1 && dfr_deque_size(w->deque) > 0) {
        *job = dfr_steal_next(run, w);
        return true;
    }
    *job = w->kept;
    w->kept = DFR_NO_JOB;
    return *job != DFR_NO_JOB || dfr_deque_pop(w->deque, job);
}

/* In a graph larger than the caches, a job's record, its list of successors and their counters are three waits for
 * memory, one after the other. So the newest job is not run at once. The newest WINDOW jobs are the *window*: they are
 * run in turn, and the newest job takes the place of the one that runs. While a job waits for its turn, its memory is
 * prefetched, one step at a time. */

static void prefetch_successors(const struct df_run *run, uint64_t job)
{
    __builtin_prefetch(run->firing.successors + run->firing.nodes[dfr_job_node(job)].first_successor);
}

static void prefetch_counters(const struct df_run *run, uint64_t job)
{
    const struct dfr_node *n = &run->firing.nodes[dfr_job_node(job)];
    const struct dfr_pending *pending = dfr_pending_of(run, dfr_job_slot(job));
    uint32_t end = n[1].first_successor < n->first_successor + 4 ? n[1].first_successor : n->first_successor + 4;

    for (uint32_t s = n->first_successor; s < end; s++)
        __builtin_prefetch(&pending[run->firing.successors[s]], 1);
}

static bool pop_in_turn(const struct df_run *run, struct dfr_deque *p, uint64_t *turn, uint64_t *job)
{
    uint64_t high = atomic_load_explicit(&p->high, memory_order_relaxed), n = dfr_deque_size(p), first, soon;

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
        prefetch_successors(run, p->jobs[(soon < high ? soon : soon - (WINDOW - 1)) & p->mask]);
        soon = *turn + WINDOW / 4;
        prefetch_counters(run, p->jobs[(soon < high ? soon : soon - (WINDOW - 1)) & p->mask]);
    }
    return true;
}

static bool pop_large(struct df_run *run, struct dfr_worker *w, uint64_t *turn, uint64_t *job)
{
    uint64_t kept = w->kept;

    w->kept = DFR_NO_JOB;
    if (kept != DFR_NO_JOB && dfr_deque_size(w->deque) == 0) {
        *job = kept;
        return true;
    }
    if (kept != DFR_NO_JOB) {
        __builtin_prefetch(&run->firing.nodes[dfr_job_node(kept)]);
        dfr_deque_push(w->deque, kept);
    }
    return pop_in_turn(run, w->deque, turn, job);
}

/* ---- with jobs ---- */

static inline __attribute__((always_inline)) bool next_job(struct df_run *run, struct dfr_worker *w,
                                                           struct dfr_deque *deque, uint64_t *turn, uint64_t *job,
                                                           struct kind kind)
{
    if (!kind.lean && !deque)
        return take(run, w, job);
    if (!(kind.large ? pop_large(run, w, turn, job) : pop_own(run, w, job)))
        return false;
    if (dfr_deque_size(deque) > 0)
        dfr_steal_wake(run);            /* there are more jobs than the one that it runs next */
    return true;
}

/* Runs jobs until there are none. */
static inline __attribute__((always_inline)) void run_jobs(struct df_run *run, struct dfr_worker *w, uint64_t job,
                                                           struct kind kind)
{
    struct dfr_deque *deque = w->deque; /* no kernel changes it, but the compiler cannot know */
    uint64_t turn = 0;

    do {
        run_job(run, w, deque, job, kind);
        if (!kind.lean && may_join(run, w))
            w->busy_s -= join_gang(run, w);
    } while (!dfr_stopped(run) && next_job(run, w, deque, &turn, &job, kind));
}

static __attribute__((noinline)) void run_lean(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    run_jobs(run, w, job, (struct kind){ .lean = true });
}

static __attribute__((noinline)) void run_lean_large(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    run_jobs(run, w, job, (struct kind){ .lean = true, .large = true });
}

static __attribute__((noinline)) void run_any(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    run_jobs(run, w, job, (struct kind){ .lean = false });
}

/* Only runs with devices count the workers that have jobs. */
static void set_busy(struct df_run *run, struct dfr_worker *w, bool busy)
{
    if (run->machine.n_gpus == 0)
        return;
    w->busy = busy;
    atomic_fetch_add_explicit(&run->devices.n_busy, busy ? 1u : -1u, memory_order_seq_cst);
    if (!busy)
        wake_put_off(run);
}

static void be_busy(struct df_run *run, struct dfr_worker *w, uint64_t job, struct dfr_idle *idle)
{
    uint64_t before = w->jobs;
    double begin_s = dfr_clock_s();

    set_busy(run, w, true);
    if (!w->deque || !run->memory.tokens || dfr_times_jobs(w) || run->threads.gang)
        run_any(run, w, job);
    else if (run->graph->n_nodes < LARGE_NODES)
        run_lean(run, w, job);
    else
        run_lean_large(run, w, job);
    if (w->deque)
        w->jobs = atomic_load_explicit(&w->deque->n_done, memory_order_relaxed);
    set_busy(run, w, false);
    w->last_s = dfr_clock_s();
    w->busy_s += w->last_s - begin_s;
    if (w->first_s < 0)
        w->first_s = begin_s;
    if (w->deque)
        dfr_steal_rest(run, idle, w->last_s - begin_s, w->jobs - before);
}

/* ---- without jobs ---- */

/* Has this worker nothing to look for any more? In a session the thread that calls returns when the call is over. The
 * other workers wait for the next call as they wait for jobs. */
static bool is_over(const struct df_run *run, const struct dfr_worker *w)
{
    struct df_run *r = (struct df_run *)run;
    /* seq_cst: after announcing its sleep, the worker sees this or is woken; acquire: all that the jobs wrote */
    return dfr_stopped(run) || (w->calls && atomic_load_explicit(&r->calls.over, memory_order_seq_cst));
}

/* The next worker, in turn, that offers pieces of its job. NULL: none of the others does. */
static struct dfr_worker *owner_of_pieces(struct df_run *run, const struct dfr_worker *w)
{
    for (uint32_t i = 1; i < run->machine.n_cpu_workers; i++) {
        struct dfr_worker *other = &run->threads.workers[(w->index + i) % run->machine.n_cpu_workers];
        if (dfr_pieces_offered(&other->pieces))
            return other;
    }
    return NULL;
}

/* Runs a piece of another worker's job. While it runs, that job is the one that crashes are told of. */
static void help(struct dfr_worker *w, struct dfr_worker *owner)
{
    const struct df_call *before = dfr_crash_call(&owner->call);
    double begin_s = dfr_clock_s();

    if (dfr_pieces_help(&owner->pieces))
        w->busy_s += dfr_clock_s() - begin_s;
    dfr_crash_call(before);
}

/* Sleeps until there may be a job. true: one was found at the last look, and *job is it. */
static bool sleep_or_take(struct df_run *run, struct dfr_worker *w, uint64_t *job)
{
    struct dfr_wake *wake = &run->threads.wakes[0];
    uint32_t key = dfr_wake_announce(wake);
    bool found = false;

    if (w->deque)
        dfr_deque_barrier(run->threads.fences); /* pairs with dfr_steal_wake(), which looks for sleepers after a push */
    if (is_over(run, w) || gang_gathers(run) || owner_of_pieces(run, w) ||
        (w->deque ? dfr_steal_victim(run, w) != NULL : (found = take(run, w, job))) ||
        is_over(run, w))                /* again: take() may have ended the call, and then nobody wakes this thread */
        dfr_wake_cancel(wake, key);
    else
        dfr_wake_sleep(wake, key, -1);
    return found;
}

static void spin(void)
{
    for (int i = 0; i < 16; i++)
        dfr_relax();
}

/* Gets a job; false: the run ends. */
static bool get_job(struct df_run *run, struct dfr_worker *w, uint64_t *job, struct dfr_idle *idle)
{
    uint32_t looks = 0;

    if (w->deque && !dfr_stopped(run) && dfr_deque_pop(w->deque, job))
        return true;                    /* it was ready before the workers started */
    while (!is_over(run, w)) {
        uint32_t key = dfr_wake_key(&run->threads.wakes[0]);
        struct dfr_deque *victim = w->deque ? dfr_steal_victim(run, w) : NULL;
        struct dfr_worker *owner;
        if (gang_gathers(run)) {
            join_gang(run, w);
            looks = 0;
        } else if (victim) {
            if (dfr_steal(run, w, victim, key, idle))
                return dfr_deque_pop(w->deque, job);
        } else if (!w->deque && take(run, w, job)) {
            return true;
        } else if ((owner = owner_of_pieces(run, w))) {
            help(w, owner);
            looks = 0;
        } else if (looks++ < run->threads.spins) {
            spin();
        } else if (sleep_or_take(run, w, job)) {
            return true;
        } else {
            looks = 0;
        }
    }
    return false;
}

void *dfr_worker_main(void *arg)
{
    struct dfr_worker *w = arg;
    struct df_run *run = w->run;
    struct dfr_idle idle = { .long_jobs = false };
    uint64_t job;

    if (run->machine.cores)
        dfr_cores_bind(run->machine.cores, w->index);
    while (get_job(run, w, &job, &idle))
        be_busy(run, w, job, &idle);
    return NULL;
}

/* ---- after a failure ---- */

static bool take_left(struct df_run *run, struct dfr_worker *w, uint64_t *job)
{
    if (!w->deque)
        return take(run, w, job);
    *job = w->kept;
    w->kept = DFR_NO_JOB;
    return *job != DFR_NO_JOB || dfr_deque_pop(w->deque, job);
}

/* Jobs of the other waves are dropped. No job of an earlier wave waits for them. */
void *dfr_worker_drain(void *arg)
{
    struct df_run *run = ((struct dfr_worker *)arg)->run;
    uint64_t job;
    bool found;

    do {
        found = false;
        for (uint32_t i = 0; i < run->machine.n_cpu_workers; i++)
            while (take_left(run, &run->threads.workers[i], &job)) {
                struct dfr_worker *w = &run->threads.workers[i];
                found = true;
                if (dfr_job_slot(job) == dfr_once_slot(run) || dfr_job_wave(run, job) >= run->outcome.failed_wave)
                    continue;
                dfr_crash_call(&w->call);
                run_job(run, w, w->deque, job, (struct kind){ .lean = false });
            }
    } while (found);
    return NULL;
}

/* ---- sessions ---- */

/* The call's first jobs. Another worker may already have stolen them all. */
static void take_first(struct df_run *run, struct dfr_worker *w, struct dfr_idle *idle)
{
    uint64_t job;

    if (dfr_deque_pop(w->deque, &job))
        be_busy(run, w, job, idle);
    else
        atomic_fetch_sub_explicit(&run->threads.n_active, 1, memory_order_acq_rel);
}

void dfr_worker_call(struct dfr_worker *w)
{
    struct df_run *run = w->run;
    struct dfr_idle idle = { .long_jobs = false };
    uint64_t job;

    if (w->deque) {
        dfr_deque_enter(w->deque, run->threads.fences);
        atomic_fetch_add_explicit(&run->threads.n_active, 1, memory_order_acq_rel);
        w->alone = run->machine.n_workers == 1;
    }
    dfr_engine_start(run, w);
    if (w->deque)
        take_first(run, w, &idle);
    while (get_job(run, w, &job, &idle))
        be_busy(run, w, job, &idle);
    if (w->deque) {
        run->calls.short_jobs = idle.short_jobs;
        dfr_deque_leave(w->deque);
    }
}
