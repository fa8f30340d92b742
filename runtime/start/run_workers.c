/* run_workers.c - creates, starts and joins the threads of a run: the words they sleep on, their records, and the choice of their main loop. run.c calls these
 * functions, and frees what they allocate. session.c runs its calls here; subgraph/part.c, record/resumable.c and program/interrupted.c wait for a run's
 * threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/pages.h"
#include "runtime/engine/crash.h"
#include "runtime/engine/ending.h"
#include "runtime/engine/gang.h"
#include "runtime/engine/list.h"
#include "runtime/engine/steal.h"
#include "runtime/engine/worker.h"
#include "runtime/gpu/gpu.h"
#include "runtime/inspect/inspect.h"
#include "runtime/rehearse/rehearsal.h"
#include "runtime/start/run_impl.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/host.h"

#define SPINS 64                        /* if each worker has a core: how often it looks for work before it sleeps */

int dfr_run_make_wakes(struct df_run *run, struct df_error *error)
{
    run->threads.wakes = aligned_alloc(64, run->machine.n_units * sizeof *run->threads.wakes);
    if (!run->threads.wakes)
        return dfr_error_memory(error);
    memset(run->threads.wakes, 0, run->machine.n_units * sizeof *run->threads.wakes);
    return DF_OK;
}

static void init_worker(struct df_run *run, struct dfr_worker *w, uint32_t index, uint32_t unit)
{
    w->run = run;
    w->index = index;
    w->unit = unit;
    w->call.run = run;
    w->call.threads = 1;
    w->call.opened = &w->opened;
    if (unit == 0 && run->machine.n_cpu_workers > 1 && !run->options.serial)
        w->call.pieces = &w->pieces;
    w->call.job = DFR_NO_JOB;
    w->first_s = w->last_s = -1;
    w->kept = w->ready = DFR_NO_JOB;
    w->free_jobs = DFR_NO_JOB;
    w->alone = run->machine.n_workers == 1 && !run->feed.slots; /* the feeder releases jobs, too */
    w->calls = run->calls.on && index == 0;
}

int dfr_run_make_workers(struct df_run *run, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    const bool frees = run->firing.free_next; /* any of them may end a job that takes none */
    uint64_t tmp_bytes = 0, n_ports = 1, bytes;

    run->threads.workers = aligned_alloc(64, run->machine.n_workers * sizeof *run->threads.workers);
    if (!run->threads.workers)
        return dfr_error_memory(error);
    memset(run->threads.workers, 0, run->machine.n_workers * sizeof *run->threads.workers);
    for (uint32_t k = 0; k < g->n_kernels; k++)
        n_ports = g->kernels[k].n_ports > n_ports ? g->kernels[k].n_ports : n_ports;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (run->options.rehearse == 0 && run->choice.able[v] & 1 &&
            (bytes = df_node_tmp_bytes(g, v, DF_ON_HOST)) > tmp_bytes)
            tmp_bytes = bytes;
    if (run->options.node_stats && g->n_loops > 0 && !(run->rounds = calloc(g->n_loops, sizeof *run->rounds)))
        return dfr_error_memory(error);
    for (uint32_t i = 0; i < run->machine.n_workers; i++) {
        struct dfr_worker *w = &run->threads.workers[i];
        init_worker(run, w, i, run->machine.unit_of[i]);
        if (run->options.node_stats && !(w->node_stats = calloc((size_t)g->n_nodes + 1, sizeof *w->node_stats)))
            return dfr_error_memory(error);
        if (i >= run->machine.n_cpu_workers && !frees)
            continue;
        w->ports = calloc(n_ports, sizeof *w->ports);
        w->tmp = tmp_bytes ? dfr_pages_alloc(tmp_bytes) : NULL;
        if (!w->ports || (tmp_bytes && !w->tmp))
            return dfr_error_memory(error);
    }
    init_worker(run, &run->threads.starter, DFR_NOBODY, UINT32_MAX);
    if (frees && !(run->threads.starter.ports = calloc(n_ports, sizeof(void *))))
        return dfr_error_memory(error);
    return DF_OK;
}

/* Makes the gang, if some node asks for several threads. Makes the cores to bind workers and emulated GPUs to, if there
 * are as many of both as cores, at least two, and no gang (bind.c). One CPU worker beside real GPUs is not bound. In a
 * session workers run on the caller's threads, which nobody binds. */
int dfr_run_make_gang_and_cores(struct df_run *run, struct df_error *error)
{
    uint32_t cores = dfr_cores_count(), threads = run->machine.n_cpu_workers + run->machine.n_gpus;
    bool emulated = run->machine.n_gpus > 0 && run->devices.ops[1]->runs_cpu_code, gangs = df_graph_has_gangs(run->graph);
    bool several = run->machine.n_cpu_workers > 1 || (emulated && cores > 1);

    if (gangs && run->machine.n_cpu_workers > 1) {
        run->threads.gang = dfr_gang_create();
        if (!run->threads.gang)
            return dfr_error_memory(error);
    }
    if (run->options.rehearse != 0)     /* its threads wait, and compute nothing */
        return DF_OK;
    if (!gangs && threads == cores && several && !run->calls.on)
        run->machine.cores = dfr_cores_create();
    run->threads.spins = threads <= cores ? SPINS : 0;
    return DF_OK;
}

/* ---- the loop ---- */

static void set_loop(struct df_run *run, enum dfr_loop loop, const char *why)
{
    run->threads.loop = loop;
    run->threads.loop_why = why;
}

static void choose_loop(struct df_run *run)
{
    bool alone = run->machine.n_workers == 1;

    if (run->options.rehearse != 0)
        set_loop(run, DFR_LOOP_POLICY, "a rehearsal asks the policy for each job");
    else if (run->feed.slots)
        set_loop(run, DFR_LOOP_POLICY, "the caller begins the waves");
    else if (alone && !run->watch.trace && !run->watch.latency && !run->options.serial && !dfr_inspect_wanted(run))
        set_loop(run, DFR_LOOP_LIST, "one worker has one order, found before the run");
    else if (run->machine.n_gpus == 0 && run->choice.policy->any_worker && !run->firing.resources)
        set_loop(run, DFR_LOOP_DEQUES, "the policy lets any worker run any job");
    else if (run->machine.n_gpus > 0)
        set_loop(run, DFR_LOOP_POLICY, "there are devices");
    else if (alone)
        set_loop(run, DFR_LOOP_POLICY, "each job is looked at");
    else
        set_loop(run, DFR_LOOP_POLICY, "the policy says who runs what, and in which order");
}

/* A run with deques does not ask its policy for jobs, so the policy has no state then. */
int dfr_run_make_loop(struct df_run *run, const struct df_plan *plan, struct df_error *error)
{
    int status;

    choose_loop(run);
    if (run->threads.loop == DFR_LOOP_LIST) {
        dfr_resources_destroy(run->firing.resources);
        run->firing.resources = NULL;
    }
    if (run->threads.loop == DFR_LOOP_DEQUES)
        return dfr_steal_create(run, error);
    status = run->choice.policy->create(run->choice.policy, &run->choice.view, plan, &run->choice.state, error);
    return status == DF_OK && run->threads.loop == DFR_LOOP_LIST ? dfr_list_create(run, error) : status;
}

/* ---- threads ---- */

void dfr_run_join(struct df_run *run)
{
    for (uint32_t i = 0; run->threads.workers && i < run->machine.n_workers; i++)
        if (run->threads.workers[i].started) {
            pthread_join(run->threads.workers[i].thread, NULL);
            run->threads.workers[i].started = false;
        }
}

bool dfr_run_join_for(struct df_run *run, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    const int64_t ns = until.tv_nsec + (int64_t)(seconds * 1e9);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    for (uint32_t i = 0; run->threads.workers && i < run->machine.n_workers; i++) {
        struct dfr_worker *w = &run->threads.workers[i];
        if (w->started && pthread_timedjoin_np(w->thread, NULL, &until) != 0)
            return false;
        w->started = false;
    }
    return true;
}

static void *(*thread_main(const struct df_run *run, uint32_t worker))(void *)
{
    if (run->outcome.drains)
        return dfr_worker_drain;
    if (worker >= run->machine.n_cpu_workers)
        return dfr_gpu_main;
    return run->threads.loop == DFR_LOOP_LIST ? dfr_list_main : dfr_worker_main;
}

/* A handler of pthread_cleanup_push(): a kernel has ended this worker's thread. The others end as after any failure. */
static void thread_ends(void *run)
{
    const struct df_call *call = dfr_crash_thread_ends();

    if (call && call->job != DFR_NO_JOB)
        dfr_engine_fail_job(run, call->job, call->wave, dfr_crash_ended);
    else
        dfr_engine_fail(run, DF_E_KERNEL, "a worker's thread has ended; %s", dfr_crash_ended);
}

/* The thread of a session's call. The call does not return, and its arrays may be gone when the run is ended. */
static void caller_ends(void *run)
{
    ((struct df_run *)run)->calls.left = true;
    thread_ends(run);
}

static void *worker_thread(void *arg)
{
    struct dfr_worker *w = arg;
    struct dfr_crash_frame frame;
    dfr_crash_enter(&frame, w->index < w->run->machine.n_cpu_workers ? &w->call : NULL);
    if (w->run->rehearsal) {
        dfr_rehearsal_enter(w->run->rehearsal);
        dfr_nominal_be_prompt();
    }
    if (w->run->calls.on) {
        atomic_fetch_add(&w->run->calls.n_ready, 1);
        dfr_futex_wake(&w->run->calls.n_ready, 1);
    }
    pthread_cleanup_push(thread_ends, w->run);
    thread_main(w->run, w->index)(w);
    pthread_cleanup_pop(0);
    dfr_crash_leave(&frame);
    return NULL;
}

void dfr_run_call(struct df_run *run)
{
    struct dfr_worker *w = &run->threads.workers[0];
    const struct df_call *before = dfr_crash_call(&w->call);

    pthread_cleanup_push(caller_ends, run);
    if (run->threads.list)
        dfr_list_call(w);
    else if (dfr_list_short_call(w))
        run->calls.passed = 0;
    else
        dfr_worker_call(w);
    pthread_cleanup_pop(0);
    dfr_crash_call(before);
}

/* Of runs on the host alone whose waves are counted from 0 by the engine itself. The failure of a job in wave 0 is the earliest. Who has asked
 * for an end does not wait for earlier waves. */
static bool can_drain(const struct df_run *run)
{
    return run->outcome.failed && run->outcome.failed_wave > 0 && run->machine.n_gpus == 0 && run->threads.loop != DFR_LOOP_LIST && !run->threads.list &&
           !run->threads.gang && !run->feed.slots && !run->calls.left && !run->rehearsal && !run->skips.passes && !dfr_inspect_wanted(run) && !dfr_asked();
}

void dfr_run_drain(struct df_run *run)
{
    struct dfr_worker *w = &run->threads.workers[0];
    int64_t limit = atomic_load(&run->firing.limit);

    if (!can_drain(run))
        return;
    atomic_store(&run->firing.limit, limit < run->outcome.failed_wave ? limit : run->outcome.failed_wave); /* so no later wave begins */
    run->outcome.drains = true;
    w->started = dfr_thread_create(&w->thread, 0, true, worker_thread, w) == 0; /* without a thread, the failure stays */
    dfr_run_join(run);
}

/* A thread that begins allocates. In a session this comes before the first call. */
static void wait_until_ready(struct df_run *run)
{
    uint32_t n;

    while ((n = atomic_load(&run->calls.n_ready)) + 1 < run->machine.n_workers)
        dfr_futex_wait(&run->calls.n_ready, n, -1);
}

int dfr_run_start_threads(struct df_run *run, struct df_error *error)
{
    for (uint32_t i = run->calls.on ? 1 : 0; i < run->machine.n_workers; i++) {
        struct dfr_worker *w = &run->threads.workers[i];
        int code = dfr_thread_create(&w->thread, 0, run->calls.on, worker_thread, w);
        if (code != 0) {
            dfr_engine_stop(run, DFR_RUN_FAILED);
            dfr_run_join(run);
            return dfr_error(error, DF_E_MEMORY, "cannot make worker thread %u of %u: %s", i + 1,
                             run->machine.n_workers, strerror(code));
        }
        w->started = true;
    }
    if (run->calls.on)
        wait_until_ready(run);
    return DF_OK;
}
