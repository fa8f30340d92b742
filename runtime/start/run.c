/* run.c - starts and ends a run: df_run_start() creates all of its components, and df_run_wait() frees them and fills the statistics (public df.h). df_main(),
 * sessions (session.c), parts on ranks (subgraph/part.c), dfc's rehearsals and programs that embed a run call it; it also sets the default options. prepare()
 * lists the steps of the start in order; run_impl.h says in which files some of them are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/isa.h"
#include "runtime/engine/buffers.h"
#include "runtime/engine/call.h"
#include "runtime/engine/ending.h"
#include "runtime/engine/gang.h"
#include "runtime/engine/latency.h"
#include "runtime/engine/list.h"
#include "runtime/engine/live.h"
#include "runtime/engine/log.h"
#include "runtime/engine/steal.h"
#include "runtime/engine/tokens.h"
#include "runtime/gpu/gpu.h"
#include "runtime/graph/scalars.h"
#include "runtime/inspect/check_variants.h"
#include "runtime/inspect/inspect.h"
#include "runtime/start/back_ends.h"
#include "runtime/io/state.h"
#include "runtime/start/learn.h"
#include "runtime/start/passes.h"
#include "runtime/start/run_impl.h"
#include "runtime/start/run_machine.h"
#include "runtime/rehearse/rehearsal.h"
#include "runtime/start/run_rehearse.h"
#include "runtime/start/size.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/host.h"

void df_options_default(struct df_options *options)
{
    *options = (struct df_options){ .device = DF_DEVICE_AUTO, .emu_check = 1, .waves = -1,
                                    .log_level = DF_LOG_WARNING, .guard = 1 };
}

/* ---- steps of the start ---- */

static void set_limit(struct df_run *run)
{
    int64_t waves = run->options.waves;
    if (waves < 0)
        waves = run->options.feed || df_graph_has_streams(run->graph) ? INT64_MAX : 1;
    atomic_init(&run->firing.limit, waves);
    atomic_init(&run->firing.early_waves, -1);
}

static double now_s(void *arg)
{
    (void)arg;
    return dfr_clock_s();
}

static void wake_unit(void *arg, uint32_t unit)
{
    dfr_wake_unit(arg, unit);
}

static double steady_s(void *arg, uint32_t unit)
{
    const struct df_run *run = arg;
    return unit > 0 ? dfr_gpu_steady_s(run->devices.gpus[unit]) : 0;
}

static bool left_out(void *arg, uint64_t job)
{
    const struct df_run *run = arg;
    return dfr_skips_leaves_out(&run->skips, dfr_job_slot(job), dfr_job_node(job));
}

static double took_s(void *arg, uint32_t unit)
{
    const struct df_run *run = arg;
    return dfr_gpu_took_s(run->devices.gpus[unit]);
}

/* In several passes, policies count rounds, which grow from pass to pass: what comes in the next pass comes later. */
static int64_t round_of(void *arg, uint32_t slot)
{
    return ((const struct df_run *)arg)->firing.slots[slot].wave;
}

/* Devices have one worker each. */
static double busy_s(void *arg, uint32_t worker)
{
    const struct df_run *run = arg;
    return dfr_gpu_busy_s(run->devices.gpus[run->machine.unit_of[worker]]);
}

static int make_policy(struct df_run *run, struct df_error *error)
{
    run->choice.view = (struct dfr_view){ .graph = run->graph,
                                   .platform = &run->machine.platform,
                                   .n_slots = run->inflight,
                                   .unit_of_slot = run->options.unit_of_slot,
                                   .n_workers = run->machine.n_workers,
                                   .unit_of = run->machine.unit_of,
                                   .first_worker = run->machine.first_worker,
                                   .able = run->choice.able,
                                   .time_s = run->choice.time_s,
                                   .locality = run->options.locality,
                                   .seed = 1,
                                   .now_s = now_s,
                                   .pass_of = run->skips.passes ? run->skips.passes->of_node : NULL,
                                   .pass_waves = run->skips.passes ? &run->skips.passes->waves : NULL,
                                   .pass_stride = run->skips.passes ? run->skips.passes->stride : 0,
                                   .wave = round_of,
                                   .holders = dfr_holders,
                                   .prefetch = dfr_prefetch,
                                   .wake = wake_unit,
                                   .steady_s = steady_s,
                                   .took_s = took_s, .left_out = left_out,
                                   .busy_s = run->options.prefetch ? busy_s : NULL,
                                   .settled = dfr_settled,
                                   .comes = dfr_comes,
                                   .guard = run->options.guard,
                                   .arg = run };
    return dfr_run_make_loop(run, run->plan.own ? run->plan.own : run->options.plan, error);
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
    dfr_buffers_pin(run);
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++) {
        int status = dfr_gpu_create(run, u, &run->devices.gpus[u], error);
        if (status != DF_OK)
            return status;
        run->memory.space->n_caches = u;
    }
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        dfr_gpu_connect(run->devices.gpus[u], run->devices.gpus);
    return DF_OK;
}

static void run_free(struct df_run *run)
{
    dfr_inspect_destroy(run);           /* first, because the watchdog's thread looks at the run */
    dfr_live_destroy(run);
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        dfr_gpu_destroy(run->devices.gpus[u]);
    if (run->choice.state)
        run->choice.policy->destroy(run->choice.state);
    for (uint32_t i = 0; run->threads.workers && i < run->machine.n_workers; i++) {
        dfr_opened_close(&run->threads.workers[i].opened, run->graph);
        free(run->threads.workers[i].ports);
        free(run->threads.workers[i].node_stats);
        free(run->threads.workers[i].tmp);
    }
    free(run->threads.starter.ports);
    free((void *)run->rounds);
    free(run->threads.workers);
    free(run->threads.wakes);
    free(run->devices.missing);
    free(run->devices.taker);
    free(run->devices.ahead);
    free(run->devices.waiter_node);
    free(run->devices.acc_job);
    if (run->devices.arrived)
        dfr_queue_destroy(run->devices.arrived);
    dfr_gang_destroy(run->threads.gang);
    dfr_cores_destroy(run->machine.cores);
    dfr_engine_destroy(run);
    dfm_space_destroy(run->memory.space);
    free(run->memory.own_line);
    free(run->memory.ranges);
    free(run->firing.free_next);
    free(run->feed.slots);
    dfr_tokens_destroy(run->memory.tokens);
    dfr_steal_destroy(run);
    dfr_list_destroy(run->threads.list);
    dfr_list_destroy(run->calls.list);
    dfr_buffers_destroy(run);
    dfr_passes_destroy(run);
    free(run->memory.scalars);
    free(run->choice.able);
    free(run->choice.time_s);
    dfr_trace_destroy(run->watch.trace);
    dfr_latency_destroy(run->watch.latency);
    dfr_rooms_free(run);
    dfr_rehearsal_destroy(run->rehearsal);
    dfr_plan_free(run->plan.own);
    free(run);
}

/* ---- the start ---- */

static void say_why(struct df_run *run, const char *why)
{
    snprintf(run->choice.why, sizeof run->choice.why, "%s", why);
}

/* Finds the policy that was asked for. If none was, dfr_machine_plan() chooses one later. */
static int find_policy(struct df_run *run, struct df_error *error)
{
    if (run->options.serial) {
        run->choice.policy = &dfr_policy_serial;
        say_why(run, run->options.check_variants ? "--check=variants runs one job at a time" : "--serial");
        run->options.policy = run->choice.policy->name; /* so that no plan's policy takes its place */
        run->options.workers = run->options.inflight = run->options.gpu_jobs = 1;
    } else if (run->options.policy) {
        run->choice.policy = dfr_policy_find(run->options.policy, error);
        say_why(run, "asked for");
        return run->choice.policy ? DF_OK : DF_E_ARGUMENT;
    } else if (run->options.unit_of_slot) {
        run->choice.policy = &dfr_policy_by_worker;
        say_why(run, "each wave is for the worker that requested it");
    }
    return DF_OK;
}

/* From options to a run whose threads can start. Each step needs what the steps before it leave. The comments say what
 * a step leaves. */
static int prepare(struct df_run *run, struct df_error *error)
{
    int status = DF_OK;

    const struct dfr_back_ends ends = dfr_back_ends_for(&run->options);
    if (run->options.check_variants)
        status = dfr_check_find(run, &ends, error);     /* devices.check_ops; the run is serial and on the host then */
    if (run->options.rehearse != 0)
        status = dfr_rehearse_admit(run, error);        /* or what it asks for cannot be rehearsed */
    if (status == DF_OK)
        status = dfr_isa_check(error);                  /* df_isa_level() */
    set_limit(run);                                     /* firing.limit: how many waves */
    if (status != DF_OK ||
        (status = find_policy(run, error)) != DF_OK ||          /* choice.policy, if one was asked for */
        (status = dfr_machine_find(run, error)) != DF_OK ||     /* machine.platform, devices.ops: what there is */
        (status = dfr_buffers_create(run, error)) != DF_OK ||   /* memory.buffers: the caller's arrays */
        (status = dfr_passes_create(run, error)) != DF_OK ||    /* skips.passes, if the waves go by several times; and then
                                                                 * perhaps memory.buffers of the run itself */
        (status = dfr_admit(run, error)) != DF_OK)              /* choice.able: who can run what; or a refusal */
        return status;
    dfr_machine_number(run);                            /* machine: units and workers have their numbers */
    if ((status = dfr_machine_plan(run, error)) != DF_OK ||     /* choice.time_s, choice.policy for good, plan */
        (status = dfr_size(run, error)) != DF_OK ||             /* inflight, devices.rooms: what memory is used for */
        (status = dfr_rehearse_create(run, error)) != DF_OK ||  /* rehearsal, if the run is one */
        (status = dfr_feed_create(run, error)) != DF_OK ||      /* feed, if the caller begins the waves */
        (status = dfr_engine_create(run, error)) != DF_OK ||    /* firing: counters, slots */
        (status = dfr_run_make_wakes(run, error)) != DF_OK ||   /* threads.wakes */
        (status = dfr_run_make_staging(run, error)) != DF_OK || /* devices: tables of data on its way */
        (status = dfr_run_make_tokens(run, error)) != DF_OK ||  /* memory.tokens, or memory.space */
        (status = dfr_run_make_trace(run, error)) != DF_OK ||   /* watch.trace */
        (status = dfr_latency_create(run, error)) != DF_OK ||   /* watch.latency */
        (status = dfr_run_make_workers(run, error)) != DF_OK || /* threads.workers */
        (status = dfr_run_make_gang_and_cores(run, error)) != DF_OK || /* threads.gang, machine.cores */
        (status = make_gpus(run, error)) != DF_OK ||            /* devices.gpus */
        (status = make_policy(run, error)) != DF_OK ||          /* choice.view, threads.loop; then a list, deques, or
                                                                 * choice.state */
        (status = tell_gpus_order(run, error)) != DF_OK ||      /* the GPUs know what comes next on them */
        (status = dfr_list_for_calls(run, error)) != DF_OK ||   /* calls.list, in a session */
        (status = dfr_live_create(run, error)) != DF_OK ||      /* live, if there are live sources */
        (status = dfr_inspect_create(run, error)) != DF_OK)     /* watch.inspect */
        return status;
    if (run->rehearsal)
        return DF_OK;                                           /* kernels are not called, so they get no arguments */
    if ((status = dfr_scalars_create(run->graph, run->options.args, &run->memory.scalars, error)) != DF_OK)
        return status;
    return dfr_engine_codes(run, error);                /* firing.codes: what kernels are called with */
}

int dfr_run_open(const struct df_graph *graph, const struct df_options *options, bool calls, struct df_run **result,
                 struct df_error *error)
{
    struct df_run *run = dfr_run_new(graph);
    int status;

    if (!run)
        return dfr_error_memory(error);
    if (options && options->device == DF_DEVICE_SIM) {
        free(run);
        return dfr_error(error, DF_E_ARGUMENT, "device 'sim' is virtual time: df_simulate() runs it");
    }
    run->calls.on = calls;
    if (options)
        run->options = *options;
    else
        df_options_default(&run->options);
    status = prepare(run, error);
    if (status != DF_OK)
        goto free_run;
    dfr_run_name_rows(run);
    dfr_rehearse_begin(run);
    run->watch.started_s = dfr_clock_s();
    status = dfr_inspect_start(run, error);
    if (status != DF_OK)
        goto free_run;
    if (!run->threads.list && !calls)
        dfr_engine_start(run, &run->threads.starter);
    dfr_rehearsal_enter(NULL);
    status = dfr_run_start_threads(run, error);
    if (status != DF_OK)
        goto free_run;
    *result = run;
    return DF_OK;

free_run:
    run_free(run);
    return status;
}

int df_run_start(const struct df_graph *graph, const struct df_options *options, struct df_run **run,
                 struct df_error *error)
{
    struct dfr_host host;
    dfr_host_enter(&host);
    int status = dfr_run_open(graph, options, false, run, error);
    dfr_host_leave(&host);
    return status;
}

/* ---- the end ---- */

static void fill_stats(const struct df_run *run, struct df_stats *stats)
{
    static const char *const loops[] = { [DFR_LOOP_LIST] = "list", [DFR_LOOP_DEQUES] = "deques",
                                         [DFR_LOOP_POLICY] = "policy" };
    double first_s = INFINITY, last_s = 0;

    memset(stats, 0, sizeof *stats);
    snprintf(stats->policy, sizeof stats->policy, "%s", run->choice.policy->name);
    snprintf(stats->policy_why, sizeof stats->policy_why, "%s", run->choice.why);
    snprintf(stats->loop, sizeof stats->loop, "%s", loops[run->threads.loop]);
    snprintf(stats->loop_why, sizeof stats->loop_why, "%s", run->threads.loop_why);
    stats->passes = run->skips.passes ? run->skips.passes->n : 1;
    stats->waves = run->skips.passes ? (uint64_t)dfr_passes_waves(run->skips.passes) : (uint64_t)atomic_load(&run->firing.waves_done);
    stats->inflight = run->inflight;
    stats->n_workers = run->machine.n_workers;
    stats->n_memories = run->machine.n_gpus;
    dfr_live_stats(run, stats);
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
    if (run->rehearsal)
        dfr_rehearsal_stats(run->rehearsal, stats);
    dfr_latency_stats(run, &stats->latency);
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        dfr_gpu_stats(run->devices.gpus[u], &stats->memories[u - 1]);
}

static void add_node_stats(const struct df_run *run, struct df_node_stats *sums)
{
    for (uint32_t i = 0; i < run->machine.n_workers; i++)
        for (uint32_t v = 0; v < run->graph->n_nodes; v++) {
            if (dfr_buffers_spare(run, v))
                continue;               /* its output is given, so it is not called */
            const struct df_node_stats *s = &run->threads.workers[i].node_stats[v];
            sums[v].host_jobs += s->host_jobs;
            sums[v].host_s += s->host_s;
            sums[v].device_jobs += s->device_jobs;
            sums[v].device_s += s->device_s;
        }
    for (uint32_t v = 0; run->rounds && v < run->graph->n_nodes; v++) {
        const struct df_kernel *kernel = &run->graph->kernels[run->graph->nodes[v].kernel];
        if (kernel->flags & DF_KERNEL_LOOP)
            sums[v].rounds += run->rounds[kernel->loop];
    }
}

static int write_trace(const struct df_run *run, struct df_error *error)
{
    const char *names[DF_MAX_UNITS];
    if (run->options.trace_part && run->options.trace_part->file)
        dfr_trace_write_part(run->watch.trace, run->graph, run->options.trace_part);
    if (!run->options.trace_path)
        return DF_OK;
    for (uint32_t u = 0; u < run->machine.n_units; u++)
        names[u] = run->machine.platform.units[u].name;
    if (run->skips.passes)
        dfr_trace_passes(run->watch.trace, run->skips.passes->stride);
    return dfr_trace_write(run->watch.trace, run->graph, names, run->machine.n_units, run->watch.started_s,
                           run->options.trace_path, error);
}

/* The states end as after a failure. Files that have what all waves so far wrote are kept under other names (record/kernel_outputs.c). */
static int end_early(struct df_run *run, struct df_error *error)
{
    struct dfr_early *e = run->options.early;
    e->is_early = true;
    e->waves = atomic_load(&run->firing.early_waves);
    e->final_left = run->firing.n_finals > 0;
    return dfr_error(error, DF_E_STOPPED, "the run was stopped");
}

/* A sink that is left out in all waves writes no file, and nothing else would say why there is none. */
static void say_never_called(const struct df_run *run)
{
    const struct df_graph *g = run->graph;
    const uint64_t waves = (uint64_t)atomic_load(&run->firing.waves_done);
    char name[256];
    if (run->calls.on || run->feed.slots)
        return;                         /* other calls, or other processes, may have called it */
    for (uint32_t v = 0; dfr_skips_any(&run->skips) && !run->skips.passes && waves > 0 && v < g->n_nodes; v++) {
        if (df_node_n_out(g, v) > 0 || atomic_load(&run->skips.counts[v].left_out) < waves)
            continue;
        df_node_name(g, v, name, sizeof name);
        dfr_log(run, DF_LOG_WARNING, "node '%s' was not called: what it reads was empty in %s", name, waves == 1 ? "the only wave" : "all waves");
    }
}

static int wait_for_end(struct df_run *run, struct df_stats *stats, struct df_error *error)
{
    int status = DF_OK, trace_status;

    dfr_run_join(run);
    dfr_run_drain(run);
    if (!dfr_stopped(run))              /* the kernel made the system call that ends a thread */
        dfr_engine_fail(run, DF_E_KERNEL, "all workers' threads have ended before the last wave was done");
    dfr_live_end(run);
    dfr_inspect_end(run, atomic_load(&run->outcome.stop) != DFR_RUN_FAILED);
    if (stats)
        fill_stats(run, stats);
    if (run->options.node_stats)
        add_node_stats(run, run->options.node_stats);
    if (run->options.node_skips)
        dfr_skips_add(&run->skips, run->options.node_skips);
    if (atomic_load(&run->outcome.stop) == DFR_RUN_FAILED) {
        status = run->outcome.failure_status;
        if (error)
            *error = run->outcome.failure;
    }
    if (status == DF_OK && run->options.early && dfr_engine_is_early(run))
        status = end_early(run, error);
    if (status == DF_OK)
        say_never_called(run);
    status = dfr_states_end(run, status, error);
    trace_status = write_trace(run, status == DF_OK ? error : NULL);
    const int record_status = dfr_live_keep_record(run, status == DF_OK && trace_status == DF_OK ? error : NULL);
    trace_status = trace_status == DF_OK ? record_status : trace_status;
    if (status == DF_OK && trace_status == DF_OK && run->options.learn)
        status = dfr_learn_write(run, error);
    run_free(run);
    return status != DF_OK ? status : trace_status;
}

int df_run_wait(struct df_run *run, struct df_stats *stats, struct df_error *error)
{
    struct dfr_host host;
    if (run->forks != dfr_forks())
        return dfr_error(error, DF_E_ARGUMENT, "the run belongs to another process, from which this one was forked");
    dfr_host_enter(&host);
    int status = wait_for_end(run, stats, error);
    dfr_host_leave(&host);
    return status;
}
