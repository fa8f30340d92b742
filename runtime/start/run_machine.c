/* run_machine.c - determines the machine of a run: its devices, the number of workers, the times of works on it; and makes a plan for it, or checks a locked
 * one. df_run_start() calls these steps; admit.c, size.c and passes.c ask for times and places. df_main(), libraries and ranks ask for the machine that a run
 * would have.
 */
#include "runtime/start/run_machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/threads/bind.h"
#include "runtime/threads/host.h"
#include "runtime/base/error.h"
#include "runtime/device/devices.h"
#include "runtime/engine/log.h"
#include "runtime/policy/policy_default.h"
#include "runtime/start/back_ends.h"
#include "runtime/start/given.h"
#include "runtime/start/run_rehearse.h"

/* ---- devices ---- */

/* Units of class gpu are CUDA's or the emulator's devices, and OpenCL's if no others are left for these. Units of other classes are OpenCL's. */
static bool is_of(const struct df_unit *unit, bool gpu)
{
    return unit->cls != DF_CLASS_CPU && (unit->cls == DF_CLASS_GPU) == gpu;
}

static uint32_t count_described(const struct df_platform *p, bool gpu)
{
    uint32_t n = 0;
    for (uint32_t u = 1; p && u < p->n_units; u++)
        n += is_of(&p->units[u], gpu);
    return n;
}

static const struct df_unit *described_unit(const struct df_platform *p, bool gpu, uint32_t index)
{
    const struct df_unit *last = NULL;
    for (uint32_t u = 1; p && u < p->n_units; u++)
        if (is_of(&p->units[u], gpu)) {
            last = &p->units[u];
            if (index-- == 0)
                break;
        }
    return last;                        /* a device beyond those described counts as like the last one */
}

/* The described unit that the run's unit u is like. */
static const struct df_unit *like(const struct df_run *run, const struct df_platform *p, uint32_t u)
{
    uint32_t others = 0, n = count_described(p, false);
    for (uint32_t v = 1; v < u; v++)
        others += run->devices.ops[v]->runs_opencl && others < n;
    if (run->devices.ops[u]->runs_opencl && others < n)
        return described_unit(p, false, others);
    return described_unit(p, true, run->devices.index[u] - others);
}

/* Gives the chosen devices their units. */
static void number_devices(struct df_run *run, const struct dfr_devices *chosen)
{
    run->machine.n_gpus = chosen->n;
    for (uint32_t i = 0; i < chosen->n; i++) {
        run->devices.ops[i + 1] = chosen->of[i].ops;
        run->devices.number[i + 1] = chosen->of[i].number;
        run->devices.index[i + 1] = chosen->of[i].index;
        run->devices.inexact[i + 1] = chosen->of[i].inexact.text[0] != '\0';
        if (run->devices.inexact[i + 1])
            dfr_log(run, DF_LOG_WARNING, "%s", chosen->of[i].inexact.text);
        if (!run->devices.host || (!run->devices.host->host_register && chosen->of[i].ops->host_register))
            run->devices.host = chosen->of[i].ops;
    }
    if (chosen->n > 0 && chosen->n_left_out > 0)
        dfr_log(run, DF_LOG_INFO, "%u of %u devices left out; the last: %s", chosen->n_left_out, chosen->present,
                chosen->left_out.text);
}

/* The program's plan, if it is one that a run obeys. */
static const struct df_plan *locked_plan(const struct df_run *run)
{
    const struct df_plan *plan = run->options.plan;
    return plan && plan->locked && plan->n_nodes == run->graph->n_nodes ? plan : NULL;
}

/* A locked plan is for its own units: further devices take no part. */
static void leave_out_unlocked(const struct df_run *run, struct dfr_devices *chosen)
{
    const struct df_plan *plan = run->choice.policy ? NULL : locked_plan(run);
    const uint32_t n = plan ? plan->platform.n_units - 1 : chosen->n;
    if (chosen->n > n) {
        dfr_log(run, DF_LOG_INFO, "%u of %u devices take no part: the plan is locked", chosen->n - n, chosen->n);
        chosen->n = n;
    }
}

/* Finds the back ends, and which of their devices take part; 0: none. */
static int find_devices(struct df_run *run, const struct df_platform *platform, struct df_error *error)
{
    enum df_device_kind kind = run->options.device;
    bool optional = kind == DF_DEVICE_AUTO && !dfr_devices_named(&run->options);
    const struct dfr_back_ends ends = dfr_back_ends_for(&run->options);
    struct dfr_devices chosen;
    uint32_t n_described = count_described(platform, true);

    for (uint32_t k = 0; k < ends.n; k++)
        n_described += ends.ops[k]->runs_opencl ? count_described(platform, false) : 0;
    run->machine.n_gpus = 0;
    if (kind == DF_DEVICE_NONE)
        return DF_OK;
    if (ends.n == 0 || ends.lacks)
        return optional ? DF_OK : dfr_error(error, DF_E_DEVICE, "%s", ends.missing);
    int status = dfr_devices_choose(&ends, &run->options, run->graph, n_described, DF_MAX_UNITS - 1, &chosen, error);
    if (status != DF_OK)
        return status;
    const bool any = chosen.n > 0;
    leave_out_unlocked(run, &chosen);
    number_devices(run, &chosen);
    if (any)
        return DF_OK;
    if (!optional)
        return dfr_error(error, DF_E_DEVICE, "no %s device: %s", ends.ops[0]->name,
                         chosen.left_out.text[0] ? chosen.left_out.text : "none was found");
    /* Said aloud, so that a driver that is too old, say, is not found out by the time that the run takes. A GPU that is
     * there and cannot be used is a surprise, so it is a warning. */
    dfr_log(run, chosen.present > 0 ? DF_LOG_WARNING : DF_LOG_INFO, "runs on the CPU alone: %s", chosen.left_out.text);
    return DF_OK;
}

/* Fills unit u of the actual platform. Its link is the described one; its name and memory are what the device says, and
 * whether it is unified. An emulated GPU is unified, and has memory, as it was described. */
static int describe_gpu(struct df_run *run, const struct df_platform *platform, uint32_t u, struct df_error *error)
{
    struct df_unit *unit = &run->machine.platform.units[u];
    const struct df_unit *as = like(run, platform, u);

    if (as && run->devices.ops[u]->runs_cpu_code) {
        *unit = *as;
    } else if (as && !as->unified) {    /* else the default's links */
        *unit = *as;
        unit->memory_bytes = 0;
    }
    unit->cls = as ? as->cls : DF_CLASS_GPU;
    unit->workers = 1;
    return run->devices.ops[u]->describe(run->devices.number[u], unit, error);
}

static int limit_memory(struct df_run *run, uint32_t u, struct df_error *error)
{
    struct df_unit *unit = &run->machine.platform.units[u];
    uint64_t described = unit->memory_bytes;
    bool others;
    int status = dfr_devices_memory(run->devices.ops[u], &run->options, run->graph, run->devices.number[u],
                                    &unit->memory_bytes, &others, error);

    run->devices.limit_bytes[u] = unit->memory_bytes;
    if (unit->unified)
        df_unit_unify(unit);
    else if (status == DF_OK && others)
        dfr_log(run, DF_LOG_INFO, "%s: this run takes at most %.1f MiB of its memory, not %.1f: others use it",
                unit->name, (double)unit->memory_bytes / 1048576, (double)described / 1048576);
    return status;
}

static uint32_t choose_workers(const struct df_run *run)
{
    uint32_t cores = dfr_cores_count(), n = run->options.workers;
    if (n == 0 && run->options.rehearse != 0)
        n = run->machine.platform.units[0].workers;
    if (n == 0)
        n = cores > run->machine.n_gpus ? cores - run->machine.n_gpus : 1;
    return n < DF_MAX_WORKERS - DF_MAX_UNITS ? n : DF_MAX_WORKERS - DF_MAX_UNITS;
}

int dfr_machine_find(struct df_run *run, struct df_error *error)
{
    const struct df_platform *described = run->options.platform;
    int status;

    if (!described && run->options.plan)
        described = &run->options.plan->platform;
    if (run->options.rehearse != 0)
        return dfr_rehearse_machine(run, described, error);
    status = find_devices(run, described, error);
    if (status != DF_OK)
        return status;
    df_platform_default(&run->machine.platform, run->machine.n_gpus);
    if (described && described->n_units > 0) {
        memcpy(run->machine.platform.name, described->name, sizeof run->machine.platform.name);
        memcpy(run->machine.platform.units[0].name, described->units[0].name,
               sizeof run->machine.platform.units[0].name);
        run->machine.platform.units[0].memory_bytes_per_s = described->units[0].memory_bytes_per_s;
        run->machine.platform.n_classes = described->n_classes;
        memcpy(run->machine.platform.class_names, described->class_names, sizeof described->class_names);
        if (run->options.device == DF_DEVICE_EMU && !run->options.also)
            run->machine.platform.units[0].cores = described->units[0].cores;
    }
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++) {
        status = describe_gpu(run, described, u, error);
        if (status != DF_OK)
            return status;
        status = limit_memory(run, u, error);
        if (status != DF_OK)
            return status;
    }
    return DF_OK;
}

void dfr_machine_number(struct df_run *run)
{
    run->machine.n_units = 1 + run->machine.n_gpus;
    run->machine.platform.n_units = run->machine.n_units;
    run->machine.on_host = df_platform_on_host(&run->machine.platform);
    run->machine.n_cpu_workers = choose_workers(run);
    run->machine.platform.units[0].workers = run->machine.n_cpu_workers;
    run->machine.n_workers = run->machine.n_cpu_workers + run->machine.n_gpus;
    for (uint32_t w = 0; w < run->machine.n_workers; w++)
        run->machine.unit_of[w] = w < run->machine.n_cpu_workers ? 0 : 1 + w - run->machine.n_cpu_workers;
    run->machine.first_worker[0] = 0;
    for (uint32_t u = 1; u <= run->machine.n_units; u++)
        run->machine.first_worker[u] = run->machine.n_cpu_workers + u - 1;
}

/* In virtual time there are no devices to look for. */
static void describe_virtual(const struct df_options *options, const struct df_platform *described, struct df_platform *platform)
{
    if (described)
        *platform = *described;
    else
        df_platform_default(platform, 0);
    if (options->workers)
        platform->units[0].workers = options->workers;
    for (uint32_t u = 1; u < platform->n_units; u++)
        if (options->gpu_mem_bytes && (!platform->units[u].memory_bytes || options->gpu_mem_bytes < platform->units[u].memory_bytes))
            platform->units[u].memory_bytes = options->gpu_mem_bytes;
}

struct df_run *dfr_run_new(const struct df_graph *graph)
{
    const size_t align = _Alignof(struct df_run);   /* more than calloc() promises */
    struct df_run *run = aligned_alloc(align, sizeof *run); /* the size is a multiple of it */
    if (run) {
        memset(run, 0, sizeof *run);
        run->graph = graph;
        run->forks = dfr_forks();
    }
    return run;
}

void dfr_machine_describe(const struct df_graph *graph, const struct df_options *options, struct df_platform *platform)
{
    const struct df_platform *described = options->platform ? options->platform : options->plan ? &options->plan->platform : NULL;
    struct df_run *run = options->device == DF_DEVICE_SIM ? NULL : dfr_run_new(graph);
    struct df_error error;
    if (run) {
        run->options = *options;
        run->options.log_level = DF_LOG_ERROR;  /* the run says it */
    }
    if (run && dfr_machine_find(run, &error) == DF_OK) {
        dfr_machine_number(run);
        *platform = run->machine.platform;
    } else {
        describe_virtual(options, described, platform);
    }
    free(run);
}

/* ---- times ---- */

/* The time of a work on a unit's class. NAN: not known. The stated default says that GPUs are quicker than cores. An
 * emulated one is not: it computes on a core. */
static double time_of(const struct df_run *run, const struct df_times *times, uint32_t unit, uint32_t cls, uint32_t work)
{
    size_t cpu = (size_t)DF_CLASS_CPU * times->n_works + work, i = (size_t)cls * times->n_works + work;
    if (cls >= times->n_classes)
        return NAN;
    bool emulated = unit > 0 && run->devices.ops[unit]->runs_cpu_code;
    bool as_cpu = emulated && cls == DF_CLASS_GPU && times->source[i] == DF_TIME_DEFAULT && !isnan(times->time_s[cpu]);
    return times->time_s[as_cpu ? cpu : i];
}

/* Seconds of each work on each unit, launch included. If the time is not known for the unit's class, another class's
 * time stands for it. */
static void fill_times(struct df_run *run, const struct df_times *times)
{
    uint32_t n_works = run->graph->n_works;
    for (uint32_t u = 0; u < run->machine.n_units; u++) {
        uint32_t cls = dfr_times_class(times, run->graph, &run->machine.platform, run->machine.platform.units[u].cls);
        for (uint32_t k = 0; k < n_works; k++) {
            double s = time_of(run, times, u, cls, k);
            for (uint32_t c = 0; isnan(s) && c < times->n_classes; c++)
                s = times->time_s[(size_t)c * n_works + k];
            s = isnan(s) ? DF_DEFAULT_LAUNCH_S : s;
            run->choice.time_s[(size_t)u * n_works + k] = s + run->machine.platform.units[u].launch_s;
        }
    }
}

static const struct df_times *known_times(const struct df_run *run)
{
    const struct df_plan *plan = run->options.plan;
    return plan && plan->times.time_s && plan->times.n_works == run->graph->n_works ? &plan->times : NULL;
}

int dfr_machine_times(const struct df_run *run, const struct df_times **times, struct df_times *own,
                      struct df_error *error)
{
    memset(own, 0, sizeof *own);
    *times = known_times(run);
    if (*times)
        return DF_OK;
    *times = own;
    return dfr_times_default(run->graph, run->options.emu_all, own, error);
}

/* ---- plan ---- */

/* Has unit u the memory that the plan was made for, or at least what the plan needs of it? */
static bool memory_serves(const struct df_plan *plan, uint32_t u, uint64_t has)
{
    uint64_t had = plan->platform.units[u].memory_bytes;
    if (had == 0 || has == had)
        return had > 0 || has >= plan->pool_bytes[u];
    return has < had && has >= dfr_need_bytes(&plan->memory[u], plan->inflight ? plan->inflight : 1);
}

static bool same_machine(const struct df_run *run, const struct df_plan *plan)
{
    const struct df_platform *was = &plan->platform, *is = &run->machine.platform;
    if (was->n_units != is->n_units || was->units[0].workers != choose_workers(run))
        return false;
    for (uint32_t u = 1; u < is->n_units; u++) {
        if (was->units[u].cls != is->units[u].cls || !df_unit_links_alike(&was->units[u], &is->units[u]) ||
            !(is->units[u].unified || memory_serves(plan, u, is->units[u].memory_bytes)))
            return false;
    }
    return true;
}

static bool usable(const struct df_run *run, const struct df_plan *plan)
{
    if (!plan || !plan->place || plan->n_nodes != run->graph->n_nodes)
        return false;
    return strcmp(plan->policy, run->choice.policy->name) == 0 && (plan->locked || same_machine(run, plan));
}

static int refuse(struct df_error *error, const char *why)
{
    return dfr_error(error, DF_E_REFUSED, "the plan is locked, and %s (--policy=NAME plans anew, and so does a program that is built without --lock)", why);
}

/* Can each node run where the plan has it? */
static int check_places(const struct df_run *run, const struct df_plan *plan, struct df_error *error)
{
    for (uint64_t i = 0; i < (uint64_t)plan->n_nodes * plan->n_waves; i++) {
        const uint32_t v = (uint32_t)(i % plan->n_nodes), u = plan->place[i];
        char name[256], why[400];
        if (run->choice.able[v] >> u & 1 || df_node_is_ranges(run->graph, v) || run->graph->nodes[v].flags & DF_NODE_ZERO_COST)
            continue;
        df_node_name(run->graph, v, name, sizeof name);
        snprintf(why, sizeof why, "node '%s' cannot run on '%s' here, for want of code or memory", name, plan->platform.units[u].name);
        return refuse(error, why);
    }
    return DF_OK;
}

/* The locked plan stands on this machine, or the run is refused. Other workers, links and memories do not matter. gp's monitor would move jobs. */
static int obey(struct df_run *run, const struct df_plan *plan, struct df_error *error)
{
    const struct df_platform *was = &plan->platform, *is = &run->machine.platform;
    struct dfr_run_as as;
    char why[200];
    for (uint32_t u = 1; u < was->n_units; u++)
        if (u >= is->n_units || is->units[u].cls != was->units[u].cls) {
            snprintf(why, sizeof why, "this run has no unit '%s' of class %s", was->units[u].name, was->class_names[was->units[u].cls]);
            return refuse(error, why);
        }
    run->options.guard = 0;
    int status = dfr_run_as_read(plan->run_as, &as, error);
    return status == DF_OK && !as.policy ? check_places(run, plan, error) : status;
}

/* Nobody asked for a policy. */
static void choose_default(struct df_run *run, const struct dfr_given *given)
{
    const struct df_plan *plan = run->options.plan;
    struct dfr_default_facts facts = { .graph = given->graph,
                                       .times = given->times,
                                       .platform = &run->machine.platform,
                                       .n_workers = run->machine.n_cpu_workers,
                                       .n_devices = run->machine.n_gpus,
                                       .waves = run->options.waves,
                                       .plan = plan,
                                       .plan_fits = plan && same_machine(run, plan),
                                       .plans = plan && !plan->place && run->options.planner && run->options.planner->make };
    char why[DFR_WHY_SIZE - 16];

    if (locked_plan(run)) {
        run->choice.policy = dfr_policy_find(plan->policy, NULL);
        snprintf(run->choice.why, sizeof run->choice.why, "the program's plan is locked");
        return;
    }
    run->choice.policy = dfr_policy_find(dfr_policy_default(&facts, why, sizeof why), NULL);
    snprintf(run->choice.why, sizeof run->choice.why, "default: %s", why);
}

bool dfr_machine_is_placed(const struct df_run *run)
{
    const struct df_plan *plan = run->options.plan;
    return run->choice.policy ? run->choice.policy->needs_plan
           : locked_plan(run) ? dfr_policy_find(plan->policy, NULL)->needs_plan
                              : run->machine.n_gpus > 0 && plan && same_machine(run, plan) && dfr_plan_is_default(run->graph, plan, run->options.waves);
}

static int find_plan(struct df_run *run, const struct dfr_given *given, struct df_error *error)
{
    const struct df_planner *planner = run->options.planner;
    const struct df_plan *plan = run->options.plan;
    int status;

    if (!run->choice.policy)
        choose_default(run, given);
    if (locked_plan(run) && strcmp(plan->policy, run->choice.policy->name) == 0 && (status = obey(run, plan, error)) != DF_OK)
        return status;
    if (!run->choice.policy->needs_plan || usable(run, plan))
        return DF_OK;
    if (!planner || !planner->make)
        return dfr_error(error, DF_E_REFUSED,
                         "policy '%s' needs a plan, and %s; this program has no planner to make one (df_plan.h has it)",
                         run->choice.policy->name,
                         plan ? "the one it has is for another machine or policy" : "there is none");
    status = planner->make(given->graph, &run->machine.platform, given->times, run->choice.policy->name,
                           &run->plan.own, error);
    if (status != DF_OK)
        return status == DF_E_MEMORY ? status : DF_E_REFUSED;
    if (run->plan.own->n_nodes != run->graph->n_nodes)
        return dfr_error(error, DF_E_REFUSED, "the planner's plan is for another graph");
    if (plan)
        dfr_log(run, DF_LOG_INFO, "placed again for this machine: %u CPU workers, %u GPUs", run->machine.n_cpu_workers,
                run->machine.n_gpus);
    return DF_OK;
}

/* A plan may say that an online policy does better than its own placement. It says so of waves that go by once. In several passes most of
 * the time parts wait for the tokens of the next waves, and only a placement says where these are to be sent ahead. */
static int follow_plan(struct df_run *run, struct df_error *error)
{
    const struct df_plan *plan = run->plan.own ? run->plan.own : run->options.plan;
    struct dfr_run_as as;
    if (!run->choice.policy->needs_plan)
        return DF_OK;
    run->plan.inflight = plan->inflight;
    if (run->skips.passes)
        return DF_OK;
    int status = dfr_run_as_read(plan->run_as, &as, error);
    if (status != DF_OK || !as.policy)
        return status;
    run->plan.online = true;
    snprintf(run->choice.why, sizeof run->choice.why, "the plan of %s found it%s%s%s better than any placement",
             run->choice.policy->name, as.locality || as.prefetch ? " with" : "", as.locality ? " --dl" : "",
             as.prefetch ? " --prefetch" : "");
    run->choice.policy = as.policy;
    run->options.locality |= as.locality;
    run->options.prefetch |= as.prefetch;
    return DF_OK;
}

int dfr_machine_places(struct df_run *run, const struct df_plan **result, struct df_error *error)
{
    const struct df_planner *planner = run->options.planner;
    const struct df_plan *plan = run->plan.own ? run->plan.own : run->options.plan;
    const struct df_times *times;
    struct df_times own;
    struct dfr_given given = { 0 };
    int status = DF_OK;

    *result = NULL;
    if (run->options.serial || !(run->choice.policy->units || run->choice.policy->needs_plan || run->plan.online))
        return DF_OK;
    if (!run->choice.policy->needs_plan && !run->plan.online && !usable(run, plan)) {
        if (!planner || !planner->make)
            return DF_OK;
        status = dfr_machine_times(run, &times, &own, error);
        if (status == DF_OK)
            status = dfr_given_make(run, times, &given, error);
        if (status == DF_OK) {          /* the run can do without a plan that cannot be made */
            status = planner->make(given.graph, &run->machine.platform, given.times, run->choice.policy->name,
                                   &run->plan.own, error);
            status = status == DF_E_MEMORY ? status : DF_OK;
        }
        dfr_given_free(&given);
        dfr_times_free(&own);
        plan = run->plan.own;
    }
    *result = plan;
    return status;
}

int dfr_machine_plan(struct df_run *run, struct df_error *error)
{
    const struct df_times *times;
    struct df_times own;
    struct dfr_given given = { 0 };
    int status;

    run->choice.time_s = malloc(((size_t)run->machine.n_units * run->graph->n_works + 1) * sizeof *run->choice.time_s);
    if (!run->choice.time_s)
        return dfr_error_memory(error);
    status = dfr_machine_times(run, &times, &own, error);
    if (status == DF_OK)
        status = dfr_given_make(run, times, &given, error);
    if (status == DF_OK) {
        fill_times(run, times);
        run->choice.times_known = dfr_times_known(given.graph, given.times, &run->machine.platform);
        status = find_plan(run, &given, error);
    }
    if (status == DF_OK)
        status = follow_plan(run, error);
    dfr_given_free(&given);
    dfr_times_free(&own);
    return status;
}
