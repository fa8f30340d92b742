/* simulate_run.c - df_simulate(), which df_main() calls for --device=sim: simulates the program's own graph, times and plan on the platform that the plan was
 * made for (or --platform). No kernel is called. Statistics and trace have the form of a real run's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/graph/passes.h"
#include "runtime/policy/policy.h"
#include "runtime/policy/policy_default.h"
#include "runtime/simulate/simulate.h"
#include "runtime/threads/host.h"
#include "runtime/trace/trace.h"

#define COPY_ROWS 3                     /* rows of a device: to it, from it, to peers */
#define TRACE_EVENTS (UINT64_C(1) << 22)

struct virtual_run {
    const struct df_graph *graph;
    struct df_platform platform;
    struct df_stats *stats;
    struct df_node_stats *node_stats;   /* by node; NULL: not asked for */
    struct dfr_trace *trace; /* NULL: none was asked for */
    uint32_t n_workers;                 /* workers are numbered unit by unit; their rows of the trace come first */
};

/* ---- the machine ---- */

static bool any_gpu_work(const struct df_graph *g)
{
    for (uint32_t k = 0; k < g->n_kernels; k++)
        if ((g->kernels[k].code_classes | g->kernels[k].cost_classes) >> DF_CLASS_GPU & 1)
            return true;
    return false;
}

/* Options mean what they mean for a real run: they narrow what the platform has. */
static void choose_platform(struct virtual_run *run, const struct df_options *options)
{
    struct df_platform *p = &run->platform;
    if (options->platform)
        *p = *options->platform;
    else if (options->plan)
        *p = options->plan->platform;
    else
        df_platform_default(p, any_gpu_work(run->graph));
    if (options->workers)
        p->units[0].workers = options->workers;
    for (uint32_t u = 1; u < p->n_units; u++) {
        struct df_unit *unit = &p->units[u];
        if (!unit->unified && options->gpu_mem_bytes &&
            (!unit->memory_bytes || options->gpu_mem_bytes < unit->memory_bytes))
            unit->memory_bytes = options->gpu_mem_bytes;
        if (options->gpu_jobs)
            unit->jobs = options->gpu_jobs == DF_FIND_JOBS ? 0 : options->gpu_jobs;
    }
}

/* The plan for this machine: the program's own if it was made for it, else a new one, which the caller frees. */
static int find_plan(const struct virtual_run *run, const struct df_options *options, const struct df_times *times,
                     const char *policy, struct df_plan **own, struct df_error *error)
{
    const struct df_plan *plan = options->plan;
    const bool own_policy = plan && plan->n_nodes == run->graph->n_nodes && !strcmp(plan->policy, policy);
    if (own_policy && plan->locked && plan->platform.n_units != run->platform.n_units)
        return dfr_error(error, DF_E_REFUSED, "the plan is locked for the units of platform '%s'", plan->platform.name);
    if (own_policy && (plan->locked || df_platform_alike(&plan->platform, &run->platform)))
        return DF_OK;
    if (!options->planner || !options->planner->make)
        return dfr_error(error, DF_E_REFUSED,
                         "policy '%s' needs a plan for this platform, and this program has no planner", policy);
    return options->planner->make(run->graph, &run->platform, times, policy, own, error);
}

/* ---- what is told while it runs ---- */

static void ran(void *arg, uint32_t worker, uint32_t node, uint32_t wave, double begin_s, double end_s)
{
    struct virtual_run *run = arg;
    if (worker < run->stats->n_workers) {
        run->stats->workers[worker].jobs++;
        run->stats->workers[worker].busy_s += end_s - begin_s;
        if (run->node_stats)
            df_node_stats_add(&run->node_stats[node], worker >= run->platform.units[0].workers, end_s - begin_s);
    }
    if (run->trace)
        dfr_trace_add(dfr_trace_row(run->trace, worker), node, wave, begin_s, end_s,
                      run->graph->works[run->graph->nodes[node].work].job_bytes);
}

static void copied(void *arg, uint32_t from, uint32_t to, uint32_t value, uint32_t wave, double begin_s, double end_s)
{
    struct virtual_run *run = arg;
    uint32_t unit = from ? from : to, row = from == 0 ? 0 : to == 0 ? 1 : 2;
    struct df_memory_stats *m = &run->stats->memories[unit - 1];
    uint64_t bytes = run->graph->values[value].bytes;
    *(row == 0 ? &m->h2d_copies : row == 1 ? &m->d2h_copies : &m->peer_copies) += 1;
    *(row == 0 ? &m->h2d_bytes : row == 1 ? &m->d2h_bytes : &m->peer_bytes) += bytes;
    if (run->trace)
        dfr_trace_add(dfr_trace_row(run->trace, run->n_workers + COPY_ROWS * (unit - 1) + row), value, wave, begin_s,
                      end_s, bytes);
}

/* A worker of a GPU has the GPU's name. On the host, and if a unit has several workers, they are numbered. */
static void name_worker(struct virtual_run *run, uint32_t u, uint32_t i, uint32_t worker)
{
    const struct df_unit *unit = &run->platform.units[u];
    char *name = run->stats->workers[worker].name;
    if (unit->workers > 1 || u == 0)
        snprintf(name, sizeof run->stats->workers[worker].name, "%.30s %u", u ? unit->name : "cpu", (unsigned)i);
    else
        snprintf(name, sizeof run->stats->workers[worker].name, "%.40s", unit->name);
    if (run->trace) {
        struct dfr_trace_row *row = dfr_trace_row(run->trace, worker);
        row->what = "job";
        row->process = u;
        memcpy(row->name, name, sizeof row->name);
    }
}

static void name_copies(struct virtual_run *run, uint32_t u)
{
    static const char *const what[] = { "h2d", "d2h", "peer" };
    static const char *const names[] = { "H2D copies", "D2H copies", "peer copies" };
    for (uint32_t r = 0; run->trace && r < (df_platform_peers(&run->platform, u) ? 3 : 2); r++) {
        struct dfr_trace_row *row = dfr_trace_row(run->trace, run->n_workers + COPY_ROWS * (u - 1) + r);
        row->what = what[r];
        row->process = u;
        snprintf(row->name, sizeof row->name, "%.30s %s", run->platform.units[u].name, names[r]);
    }
}

static int name_rows(struct virtual_run *run, const struct df_options *options, struct df_error *error)
{
    uint32_t n_units = run->platform.n_units, worker = 0;
    for (uint32_t u = 0; u < n_units; u++)
        run->n_workers += run->platform.units[u].workers;
    if (run->n_workers > DF_MAX_WORKERS)
        return dfr_error(error, DF_E_ARGUMENT, "%u workers are too many: at most %d are possible",
                         (unsigned)run->n_workers, DF_MAX_WORKERS);
    if (options->trace_path) {
        int status = dfr_trace_create(run->n_workers + COPY_ROWS * (n_units - 1), TRACE_EVENTS, &run->trace, error);
        if (status != DF_OK)
            return status;
    }
    run->stats->n_workers = run->n_workers;
    run->stats->n_memories = n_units - 1;
    for (uint32_t u = 0; u < n_units; u++) {
        for (uint32_t i = 0; i < run->platform.units[u].workers; i++)
            name_worker(run, u, i, worker++);
        if (u == 0)
            continue;
        memcpy(run->stats->memories[u - 1].name, run->platform.units[u].name, sizeof run->stats->memories[u - 1].name);
        run->stats->memories[u - 1].capacity_bytes = run->platform.units[u].memory_bytes;
        name_copies(run, u);
    }
    return DF_OK;
}

static int write_trace(const struct virtual_run *run, const char *path, struct df_error *error)
{
    const char *names[DF_MAX_UNITS];
    for (uint32_t u = 0; u < run->platform.n_units; u++)
        names[u] = run->platform.units[u].name;
    return dfr_trace_write(run->trace, run->graph, names, run->platform.n_units, 0, path, error);
}

/* ---- the run ---- */

/* As a real run: what was asked for, or what is faster under a policy that places jobs before the run. */
static uint32_t choose_passes(const struct virtual_run *run, const struct df_options *options, const struct dfr_policy *policy,
                              const struct df_times *times, uint32_t waves)
{
    const struct df_planner *planner = options->planner;
    return options->passes || !policy->needs_plan || !planner || !planner->passes || dfr_passes_most(run->graph) == 0 ||
                   !dfr_times_known(run->graph, times, &run->platform)
               ? options->passes
               : planner->passes(run->graph, &run->platform, times, waves);
}

/* Waves in flight as in a real run: as asked for, else as planned for, and no more than fit by the plan. */
static uint32_t choose_inflight(const struct virtual_run *run, const struct df_options *options,
                                const struct df_plan *plan, uint32_t waves, uint32_t passes)
{
    const bool once = dfr_passes_choose(run->graph, &run->platform, waves, passes) == 1;
    uint32_t planned = once && plan && plan->inflight ? plan->inflight : DF_DEFAULT_INFLIGHT;
    uint32_t wanted = options->inflight ? options->inflight : planned;
    wanted = wanted < waves ? wanted : waves;
    if (!once)
        return wanted;                  /* a pass leaves room for some tokens */
    return options->inflight || !plan ? wanted : dfr_plan_waves(plan, &run->platform, wanted);
}

/* A policy that places without a plan gets one for its memory, if the memory is limited and somebody can make a
 * plan. */
static bool has_plan(const struct virtual_run *run, const struct df_options *options, const struct dfr_policy *policy)
{
    bool limited = false;
    for (uint32_t u = 1; u < run->platform.n_units; u++)
        limited = limited || run->platform.units[u].memory_bytes;
    return policy->needs_plan || (limited && policy->units && options->planner && options->planner->make);
}

/* As a real run on this machine chooses; but here a plan for another machine is made again. */
static const char *choose_default(struct virtual_run *run, const struct df_options *options, const struct df_times *times)
{
    struct dfr_default_facts facts = { .graph = run->graph,
                                       .times = times,
                                       .n_workers = run->platform.units[0].workers,
                                       .n_devices = run->platform.n_units - 1,
                                       .waves = options->waves,
                                       .plan = options->plan,
                                       .plan_fits = options->plan != NULL };
    char why[sizeof run->stats->policy_why - 16];
    if (options->plan && options->plan->locked) {
        snprintf(run->stats->policy_why, sizeof run->stats->policy_why, "the program's plan is locked");
        return options->plan->policy;
    }
    const char *name = dfr_policy_default(&facts, why, sizeof why);

    snprintf(run->stats->policy_why, sizeof run->stats->policy_why, "default: %s", why);
    return name;
}

static int simulate(struct virtual_run *run, const struct df_options *options, const struct df_times *times,
                    struct df_error *error)
{
    struct dfr_simulation result = { .ran = ran, .copied = copied, .arg = run };
    struct df_plan *own = NULL;
    const char *name = options->policy;
    snprintf(run->stats->policy_why, sizeof run->stats->policy_why, "asked for");
    if (!name)
        name = choose_default(run, options, times);
    const struct dfr_policy *policy = dfr_policy_find(name, error);
    if (!policy)
        return DF_E_ARGUMENT;
    bool planned = has_plan(run, options, policy);
    int status = planned ? find_plan(run, options, times, policy->name, &own, error) : DF_OK;
    if (status == DF_OK) {
        uint32_t waves = options->waves > 0 ? (uint32_t)fmin((double)options->waves, UINT32_MAX) : 1;
        const struct df_plan *plan = own ? own : planned ? options->plan : NULL;
        const uint32_t passes = choose_passes(run, options, policy, times, waves);
        struct dfr_simulate_options how = { .policy = policy->name,
                                            .plan = plan,
                                            .waves = waves,
                                            .passes = passes,
                                            .inflight = choose_inflight(run, options, plan, waves, passes),
                                            .seed = 1,
                                            .find_jobs = options->gpu_jobs == DF_FIND_JOBS,
                                            .no_guard = !options->guard,
                                            .evict = options->evict };
        status = dfr_simulate(run->graph, &run->platform, times, &how, &result, error);
        snprintf(run->stats->policy, sizeof run->stats->policy, "%s", policy->name);
        run->stats->waves = waves;
        run->stats->passes = result.passes;
        run->stats->inflight = how.inflight;
        for (uint32_t u = 1; u < run->platform.n_units; u++)
            run->stats->memories[u - 1].jobs = result.jobs[u];
        for (uint32_t u = 1; u < run->platform.n_units; u++)
            run->stats->memories[u - 1].peak_bytes = result.peak_bytes[u];
    }
    run->stats->n_live = result.n_live;
    memcpy(run->stats->live, result.live, sizeof result.live);
    run->stats->makespan_s = result.makespan_s;
    for (uint32_t w = 0; w < run->stats->n_workers; w++)
        run->stats->jobs += run->stats->workers[w].jobs;
    if (run->platform.n_units == 2) /* the simulator counts them over all devices */
        run->stats->memories[0].evictions = result.evictions;
    if (status == DF_OK && run->trace)
        status = write_trace(run, options->trace_path, error);
    dfr_plan_free(own);
    return status;
}

static int simulate_whole(const struct df_graph *graph, const struct df_options *options, struct df_stats *stats,
                          struct df_error *error)
{
    struct virtual_run *run = calloc(1, sizeof *run);
    struct df_stats *scratch = stats ? stats : calloc(1, sizeof *scratch);
    struct df_times own = { 0 };
    int status = run && scratch ? DF_OK : dfr_error_memory(error);
    if (status == DF_OK) {
        memset(scratch, 0, sizeof *scratch);
        run->graph = graph;
        run->stats = scratch;
        run->node_stats = options->node_stats;
        choose_platform(run, options);
        status = name_rows(run, options, error);
    }
    bool given = options->plan && options->plan->times.n_works == graph->n_works;
    if (status == DF_OK && !given)
        status = dfr_times_default(graph, options->emu_all, &own, error);
    if (status == DF_OK)
        status = simulate(run, options, given ? &options->plan->times : &own, error);
    dfr_times_free(&own);
    if (run)
        dfr_trace_destroy(run->trace);
    if (!stats)
        free(scratch);
    free(run);
    return status;
}

int df_simulate(const struct df_graph *graph, const struct df_options *options, struct df_stats *stats, struct df_error *error)
{
    struct dfr_host host;
    dfr_host_enter(&host);
    int status = simulate_whole(graph, options, stats, error);
    dfr_host_leave(&host);
    return status;
}
