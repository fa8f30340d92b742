/* run.c - a run from its start to its end: makes everything in df_run_start(), returns everything in df_run_wait(). */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/threads/bind.h"
#include "runtime/engine/buffers.h"
#include "runtime/threads/clock.h"
#include "runtime/engine/crash.h"
#include "runtime/engine/direct.h"
#include "runtime/base/error.h"
#include "runtime/engine/gang.h"
#include "runtime/inspect/check_variants.h"
#include "runtime/gpu/gpu.h"
#include "runtime/inspect/inspect.h"
#include "runtime/start/learn.h"
#include "runtime/start/run_machine.h"
#include "runtime/start/run_impl.h"
#include "runtime/graph/scalars.h"
#include "runtime/start/size.h"
#include "runtime/engine/tokens.h"
#include "runtime/engine/walk.h"
#include "runtime/engine/worker.h"

#define SPINS 64                        /* looks for work before sleeping, where each worker has a core */

void df_options_default(struct df_options *options)
{
    *options = (struct df_options){ .device = DF_DEVICE_AUTO, .emu_check = 1, .waves = -1,
                                    .log_level = DF_LOG_WARNING, .guard = 1 };
}

/* ---- steps of the start ---- */

static bool has_streams(const struct df_graph *g)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (g->kernels[g->nodes[v].kernel].traits & DF_STREAM)
            return true;
    return false;
}

static void set_limit(struct df_run *run)
{
    int64_t waves = run->options.waves;
    if (waves < 0)
        waves = has_streams(run->graph) ? INT64_MAX : 1;
    atomic_init(&run->firing.limit, waves);
}

static int make_wakes(struct df_run *run, struct df_error *error)
{
    run->threads.wakes = aligned_alloc(64, run->machine.n_units * sizeof *run->threads.wakes);
    if (!run->threads.wakes)
        return dfr_error_memory(error);
    memset(run->threads.wakes, 0, run->machine.n_units * sizeof *run->threads.wakes);
    return DF_OK;
}

static double now_s(void *arg)
{
    (void)arg;
    return dfr_clock_s();
}

static void wake_unit(void *arg, uint32_t unit)
{
    dfr_wake_one(&((struct df_run *)arg)->threads.wakes[unit]);
}

static double steady_s(void *arg, uint32_t unit)
{
    const struct df_run *run = arg;
    return unit > 0 ? dfr_gpu_steady_s(run->devices.gpus[unit]) : 0;
}

static int make_policy(struct df_run *run, struct df_error *error)
{
    run->choice.view = (struct dfr_view){ .graph = run->graph,
                                   .platform = &run->machine.platform,
                                   .n_slots = run->inflight,
                                   .n_workers = run->machine.n_workers,
                                   .unit_of = run->machine.unit_of,
                                   .first_worker = run->machine.first_worker,
                                   .able = run->choice.able,
                                   .time_s = run->choice.time_s,
                                   .locality = run->options.locality,
                                   .seed = 1,
                                   .now_s = now_s,
                                   .wave = dfr_run_wave_of,
                                   .holders = dfr_holders,
                                   .stage = dfr_stage,
                                   .wake = wake_unit,
                                   .steady_s = steady_s,
                                   .settled = dfr_settled,
                                   .guard = run->options.guard,
                                   .arg = run };
    if (dfr_direct_applies(run))
        return dfr_direct_create(run, error);
    int status = run->choice.policy->create(run->choice.policy, &run->choice.view, run->plan.own ? run->plan.own : run->options.plan,
                                     &run->choice.state, error);
    return status == DF_OK && dfr_walk_applies(run) ? dfr_walk_create(run, error) : status;
}

static void init_worker(struct df_run *run, struct dfr_worker *w, uint32_t index, uint32_t unit)
{
    w->run = run;
    w->index = index;
    w->unit = unit;
    w->call.run = run;
    w->call.threads = 1;
    w->call.job = DFR_NO_JOB;
    w->first_s = w->last_s = -1;
    w->kept = w->ready = DFR_NO_JOB;
    w->alone = run->machine.n_workers == 1;
}

static int make_workers(struct df_run *run, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    uint64_t tmp_bytes = 0, n_ports = 1, bytes;

    run->threads.workers = aligned_alloc(64, run->machine.n_workers * sizeof *run->threads.workers);
    if (!run->threads.workers)
        return dfr_error_memory(error);
    memset(run->threads.workers, 0, run->machine.n_workers * sizeof *run->threads.workers);
    for (uint32_t k = 0; k < g->n_kernels; k++)
        n_ports = g->kernels[k].n_ports > n_ports ? g->kernels[k].n_ports : n_ports;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (run->choice.able[v] & 1 && (bytes = g->works[g->nodes[v].work].tmp_bytes) > tmp_bytes)
            tmp_bytes = bytes;
    for (uint32_t i = 0; i < run->machine.n_workers; i++) {
        struct dfr_worker *w = &run->threads.workers[i];
        init_worker(run, w, i, run->machine.unit_of[i]);
        if (i >= run->machine.n_cpu_workers)
            continue;
        w->ports = calloc(n_ports, sizeof *w->ports);
        w->tmp = tmp_bytes ? aligned_alloc(4096, (tmp_bytes + 4095) / 4096 * 4096) : NULL;
        if (!w->ports || (tmp_bytes && !w->tmp))
            return dfr_error_memory(error);
    }
    init_worker(run, &run->threads.starter, DFR_NOBODY, UINT32_MAX);
    return DF_OK;
}

static int tell_gpus_order(struct df_run *run, struct df_error *error)
{
    int status = DF_OK;
    for (uint32_t u = 1; u <= run->machine.n_gpus && status == DF_OK; u++)
        status = dfr_gpu_know_order(run->devices.gpus[u], error);
    return status;
}

static int make_gpus(struct df_run *run, struct df_error *error)
{
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++) {
        int status = dfr_gpu_create(run, u, &run->devices.gpus[u], error);
        if (status != DF_OK)
            return status;
        run->memory.space->n_caches = u;
    }
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        dfr_gpu_connect(run->devices.gpus[u], run->devices.gpus);
    dfr_buffers_pin(run);
    return DF_OK;
}

/* Gangs where some node asks for several threads; cores where the run has the machine to itself (bind.c). */
static int make_gang_and_cores(struct df_run *run, struct df_error *error)
{
    uint32_t cores = dfr_cores_count(), threads = run->machine.n_cpu_workers + run->machine.n_gpus;
    bool gangs = false;

    for (uint32_t k = 0; k < run->graph->n_works; k++)
        gangs = gangs || run->graph->works[k].threads > 1;
    if (gangs && run->machine.n_cpu_workers > 1) {
        run->threads.gang = dfr_gang_create();
        if (!run->threads.gang)
            return dfr_error_memory(error);
    }
    if (!gangs && threads == cores && run->machine.n_cpu_workers > 1)
        run->machine.cores = dfr_cores_create();
    run->threads.spins = threads <= cores ? SPINS : 0;
    return DF_OK;
}

static void join_threads(struct df_run *run)
{
    for (uint32_t i = 0; run->threads.workers && i < run->machine.n_workers; i++)
        if (run->threads.workers[i].started)
            pthread_join(run->threads.workers[i].thread, NULL);
}

static void *(*thread_main(const struct df_run *run, uint32_t worker))(void *)
{
    if (worker >= run->machine.n_cpu_workers)
        return dfr_gpu_main;
    return run->threads.walk ? dfr_walk_main : run->threads.piles ? dfr_direct_main : dfr_worker_main;
}

static void *worker_thread(void *arg)
{
    struct dfr_worker *w = arg;
    struct dfr_crash_frame frame;
    dfr_crash_enter(&frame, w->index < w->run->machine.n_cpu_workers ? &w->call : NULL);
    thread_main(w->run, w->index)(w);
    dfr_crash_leave(&frame);
    return NULL;
}

static int start_threads(struct df_run *run, struct df_error *error)
{
    for (uint32_t i = 0; i < run->machine.n_workers; i++) {
        struct dfr_worker *w = &run->threads.workers[i];
        int code = pthread_create(&w->thread, NULL, worker_thread, w);
        if (code != 0) {
            dfr_engine_stop(run, DFR_FAILED);
            join_threads(run);
            return dfr_error(error, DF_E_MEMORY, "cannot make worker thread %u of %u: %s", i + 1, run->machine.n_workers,
                             strerror(code));
        }
        w->started = true;
    }
    return DF_OK;
}

static void run_free(struct df_run *run)
{
    dfr_inspect_destroy(run);           /* the watchdog's thread looks at the run */
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        dfr_gpu_destroy(run->devices.gpus[u]);
    if (run->choice.state)
        run->choice.policy->destroy(run->choice.state);
    for (uint32_t i = 0; run->threads.workers && i < run->machine.n_workers; i++) {
        free(run->threads.workers[i].ports);
        free(run->threads.workers[i].tmp);
    }
    free(run->threads.workers);
    free(run->threads.wakes);
    free(run->devices.missing);
    free(run->devices.taker);
    free(run->devices.ahead);
    free(run->devices.waiter_node);
    if (run->devices.arrived)
        dfr_queue_destroy(run->devices.arrived);
    dfr_gang_destroy(run->threads.gang);
    dfr_cores_destroy(run->machine.cores);
    dfr_engine_destroy(run);
    dfm_space_destroy(run->memory.space);
    dfr_tokens_destroy(run->memory.tokens);
    dfr_direct_destroy(run);
    dfr_walk_destroy(run->threads.walk);
    dfr_buffers_destroy(run);
    free(run->memory.scalars);
    free(run->choice.able);
    free(run->choice.time_s);
    dfr_trace_destroy(run->watch.trace);
    dfr_rooms_free(run);
    dfr_plan_free(run->plan.own);
    free(run);
}

static void be_serial(struct df_run *run)
{
    run->choice.policy = &dfr_policy_serial;
    run->options.policy = run->choice.policy->name; /* asked for: no plan takes its place */
    run->options.workers = run->options.inflight = run->options.gpu_jobs = 1;
}

static int prepare(struct df_run *run, struct df_error *error)
{
    int (*const steps[])(struct df_run *, struct df_error *) = {
        dfr_buffers_create, dfr_machine_find, dfr_admit, NULL, dfr_machine_plan, dfr_size, dfr_engine_create,
        make_wakes, dfr_run_make_staging, dfr_run_make_tokens, dfr_run_make_trace, make_workers, make_gpus,
        make_policy, tell_gpus_order, make_gang_and_cores, dfr_inspect_create,
    };
    int status = run->options.check_variants ? dfr_check_find(run, error) : DF_OK;

    if (status != DF_OK)
        return status;
    set_limit(run);
    if (run->options.serial)
        be_serial(run);
    else
        run->choice.policy = dfr_policy_find(run->options.policy, error);
    if (!run->choice.policy)
        return DF_E_ARGUMENT;
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0] && status == DF_OK; i++) {
        if (steps[i])
            status = steps[i](run, error);
        else
            dfr_machine_number(run);
    }
    if (status == DF_OK)
        status = dfr_scalars_create(run->graph, run->options.args, &run->memory.scalars, error);
    return status == DF_OK ? dfr_engine_codes(run, error) : status;
}

int df_run_start(const struct df_graph *graph, const struct df_options *options, struct df_run **result,
                 struct df_error *error)
{
    struct df_run *run = aligned_alloc(64, (sizeof *run + 63) / 64 * 64);
    int status;

    if (!run)
        return dfr_error_memory(error);
    if (options && options->device == DF_DEVICE_SIM) {
        free(run);
        return dfr_error(error, DF_E_ARGUMENT, "device 'sim' is virtual time: df_simulate() runs it");
    }
    memset(run, 0, sizeof *run);
    run->graph = graph;
    if (options)
        run->options = *options;
    else
        df_options_default(&run->options);
    status = prepare(run, error);
    if (status != DF_OK)
        goto free_run;
    dfr_run_name_rows(run);
    run->watch.started_s = dfr_clock_s();
    status = dfr_inspect_start(run, error);
    if (status != DF_OK)
        goto free_run;
    if (!run->threads.walk)
        dfr_engine_start(run, &run->threads.starter);
    status = start_threads(run, error);
    if (status != DF_OK)
        goto free_run;
    *result = run;
    return DF_OK;

free_run:
    run_free(run);
    return status;
}

/* ---- the end ---- */

static void fill_stats(const struct df_run *run, struct df_stats *stats)
{
    double first_s = INFINITY, last_s = 0;

    memset(stats, 0, sizeof *stats);
    stats->waves = (uint64_t)atomic_load(&run->firing.waves_done);
    stats->inflight = run->inflight;
    stats->n_workers = run->machine.n_workers;
    stats->n_memories = run->machine.n_gpus;
    stats->pinned_bytes = run->memory.buffers ? run->memory.buffers->pinned_bytes : 0;
    if (run->memory.space && atomic_load(&run->outcome.stop) == DFR_FINISHED)
        stats->left_bytes = dfm_space_left_bytes(run->memory.space);
    for (uint32_t i = 0; i < run->machine.n_workers; i++) {
        const struct dfr_worker *w = &run->threads.workers[i];
        struct df_worker_stats *s = &stats->workers[i];
        if (i < run->machine.n_cpu_workers)
            snprintf(s->name, sizeof s->name, "cpu %u", i);
        else
            snprintf(s->name, sizeof s->name, "%s", run->machine.platform.units[w->unit].name);
        s->jobs = w->jobs;
        s->busy_s = w->busy_s;
        stats->jobs += w->jobs;
        if (w->jobs == 0)
            continue;
        first_s = fmin(first_s, w->first_s);
        last_s = fmax(last_s, w->last_s);
    }
    stats->makespan_s = stats->jobs ? last_s - first_s : 0;
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        dfr_gpu_stats(run->devices.gpus[u], &stats->memories[u - 1]);
}

static int write_trace(const struct df_run *run, struct df_error *error)
{
    const char *names[DF_MAX_UNITS];
    if (!run->options.trace_path)
        return DF_OK;
    for (uint32_t u = 0; u < run->machine.n_units; u++)
        names[u] = run->machine.platform.units[u].name;
    return dfr_trace_write(run->watch.trace, run->graph, names, run->machine.n_units, run->watch.started_s, run->options.trace_path, error);
}

int df_run_wait(struct df_run *run, struct df_stats *stats, struct df_error *error)
{
    int status = DF_OK, trace_status;

    join_threads(run);
    dfr_inspect_end(run, atomic_load(&run->outcome.stop) != DFR_FAILED);
    if (stats)
        fill_stats(run, stats);
    if (atomic_load(&run->outcome.stop) == DFR_FAILED) {
        status = run->outcome.failure_status;
        if (error)
            *error = run->outcome.failure;
    }
    trace_status = write_trace(run, status == DF_OK ? error : NULL);
    if (status == DF_OK && trace_status == DF_OK && run->options.learn)
        status = dfr_learn_write(run, error);
    run_free(run);
    return status != DF_OK ? status : trace_status;
}
