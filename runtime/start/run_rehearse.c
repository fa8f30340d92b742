/* run_rehearse.c - the start of a rehearsed run (runtime/rehearse/): rejects what cannot be rehearsed, and sets up its
 * machine, the units for each node, the time scale, the waits in place of kernel calls, and nodes that cost nothing.
 * run.c, run_machine.c and admit.c call these steps, and program/args_device.c the check of options.
 */
#include "runtime/start/run_rehearse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/engine/live.h"
#include "runtime/engine/log.h"
#include "runtime/rehearse/rehearsal.h"
#include "runtime/start/back_ends.h"

#define START_S 50e-3                   /* real seconds until nominal time 0, in which threads start, */
#define START_THREAD_S 50e-6            /* and for each of them */

/* ---- what cannot be rehearsed ---- */

/* These need kernels that are called. NULL: none of them is asked for. */
static const char *option_of_kernels(const struct df_options *o)
{
    return o->check_variants  ? "--check"
           : o->n_dumps       ? "--dump"
           : o->n_record_jobs ? "--record-job"
           : o->poison        ? "--poison"
           : o->watchdog_s > 0 ? "--watchdog"
           : o->serial        ? "--serial"
           : o->learn         ? "--learn"
           : o->n_buffers     ? "a buffer of the caller's" : NULL;
}

int dfr_rehearse_options(const struct df_options *o, struct df_error *error)
{
    const char *why = option_of_kernels(o);

    if (o->rehearse == 0)
        return DF_OK;
    if (!(o->rehearse > 0 && o->rehearse < INFINITY) && o->rehearse != DF_REHEARSE)
        return dfr_error(error, DF_E_ARGUMENT, "--rehearse: the scale is a number above 0");
    if (why)
        return dfr_error(error, DF_E_ARGUMENT, "--rehearse calls no kernel: it does not go with %s", why);
    if (o->device != DF_DEVICE_AUTO && o->device != DF_DEVICE_NONE)
        return dfr_error(error, DF_E_ARGUMENT, "--rehearse has the platform's devices: it does not go with --device, "
                                               "except for auto and none");
    return DF_OK;
}

int dfr_rehearse_admit(const struct df_run *run, struct df_error *error)
{
    const struct df_options *o = &run->options;
    int status = dfr_rehearse_options(o, error);

    if (status != DF_OK)
        return status;
    for (uint32_t v = 0; v < run->graph->n_nodes && o->waves < 0; v++)
        if (run->graph->kernels[run->graph->nodes[v].kernel].traits & DF_STREAM)
            return dfr_error(error, DF_E_REFUSED, "--rehearse calls no kernel, so nobody knows when a stream ends: say how "
                                                  "many waves to run, as in --waves=100");
    return DF_OK;
}

/* ---- the machine ---- */

int dfr_rehearse_machine(struct df_run *run, const struct df_platform *described, struct df_error *error)
{
    struct df_platform *p = &run->machine.platform;

    if (described && described->n_units > 0)
        *p = *described;
    else
        df_platform_default(p, 0);
    if (run->options.device == DF_DEVICE_NONE)
        p->n_units = 1;
    run->devices.host = &dfr_rehearse_ops;
    run->memory.untouched = true;
    run->machine.n_gpus = p->n_units - 1;
    for (uint32_t u = 1; u < p->n_units; u++) {
        uint64_t *bytes = &p->units[u].memory_bytes, limit = run->options.gpu_mem_bytes;
        if (p->units[u].workers != 1)
            return dfr_error(error, DF_E_REFUSED, "unit '%s' of platform '%s' has %u workers: only devices with one "
                                                  "worker can be rehearsed", p->units[u].name, p->name,
                             (unsigned)p->units[u].workers);
        if (limit && (*bytes == 0 || limit < *bytes))
            *bytes = limit;
        run->devices.ops[u] = run->devices.host;
        run->devices.number[u] = u - 1;
        run->devices.ops[u]->describe(u - 1, &p->units[u], error);
        run->devices.limit_bytes[u] = *bytes;
        if (p->units[u].unified)
            df_unit_unify(&p->units[u]);
    }
    return DF_OK;
}

uint32_t dfr_rehearse_units(const struct df_run *run, const struct df_times *times, uint32_t node)
{
    uint32_t units = 0;

    for (uint32_t u = 0; u <= run->machine.n_gpus; u++) {
        uint32_t cls = dfr_times_class(times, run->graph, &run->machine.platform, run->machine.platform.units[u].cls);
        if (cls != DF_NONE && !isnan(times->time_s[(size_t)cls * times->n_works + run->graph->nodes[node].work]))
            units |= 1u << u;
    }
    return units;
}

/* ---- the scale ---- */

static double least_s(const struct df_run *run, uint32_t node)
{
    double least = INFINITY;

    for (uint32_t u = 0; u < run->machine.n_units; u++)
        if (run->choice.able[node] >> u & 1)
            least = fmin(least, run->choice.time_s[(size_t)u * run->graph->n_works + run->graph->nodes[node].work]);
    return least < INFINITY ? least : 0;
}

/* At most so long takes a run that keeps its workers busy: its longest way, and the work that is not on it (Graham's
 * bound). Copies are left out. job_s gets each node's least time. */
static double most_s(const struct df_run *run, double *job_s, double *end_s)
{
    const struct df_graph *g = run->graph;
    int64_t waves = atomic_load(&((struct df_run *)run)->firing.limit);
    double way_s = 0, work_s = 0;

    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const uint32_t *in = g->in_value + g->nodes[v].first_in;
        end_s[v] = 0;
        for (uint32_t k = 0; k < df_node_n_in(g, v); k++)
            end_s[v] = fmax(end_s[v], end_s[g->values[in[k]].producer]);
        job_s[v] = least_s(run, v);
        end_s[v] += job_s[v];
        way_s = fmax(way_s, end_s[v]);
        work_s += job_s[v];
    }
    return (way_s + work_s / run->machine.n_workers) * (double)(waves > 0 ? waves : 1);
}

static int choose_scale(const struct df_run *run, double *scale, struct df_error *error)
{
    size_t n = run->graph->n_nodes;
    double *job_s = malloc((2 * n + 1) * sizeof *job_s);
    int status;

    if (!job_s)
        return dfr_error_memory(error);
    status = dfr_rehearsal_scale(job_s, (uint32_t)n, most_s(run, job_s, job_s + n), scale, error);
    free(job_s);
    return status;
}

/* run->watch.call: waits in place of the kernel. */
static int wait_for_kernel(struct df_run *run, struct dfr_worker *w)
{
    const uint32_t node = dfr_job_node(w->call.job);
    dfr_rehearsal_wait(run->live && run->graph->nodes[node].live ? dfr_live_job_s(run, w->call.job, w->call.wave)
                                                                 : run->choice.time_s[run->graph->nodes[node].work]);
    return DF_OK;
}

int dfr_rehearse_create(struct df_run *run, struct df_error *error)
{
    double scale = run->options.rehearse;
    int status = scale < 0 ? choose_scale(run, &scale, error) : DF_OK;

    if (scale == 0 || status != DF_OK)
        return status;
    run->watch.call = wait_for_kernel;
    dfr_log(run, DF_LOG_INFO, "rehearsal: one second takes %.4g s", scale);
    return dfr_rehearsal_create(scale, &run->rehearsal, error);
}

/* Nodes that cost nothing and run on the host take no worker, as in virtual time. */
static void free_nodes(struct df_run *run)
{
    for (uint32_t v = 0; v < run->graph->n_nodes; v++)
        if (run->graph->nodes[v].flags & DF_NODE_ZERO_COST && run->choice.able[v] & 1 &&
            (!run->choice.policy->units ||
             run->choice.policy->units(run->choice.state, dfr_is_once(run, v) ? dfr_once_slot(run) : 0, v) & 1))
            run->firing.nodes[v].flags |= DFR_N_FREE;
}

void dfr_rehearse_begin(struct df_run *run)
{
    if (!run->rehearsal)
        return;
    free_nodes(run);
    run->choice.policy = dfr_rehearsal_policy(run->rehearsal, run->choice.policy, run->machine.n_cpu_workers);
    dfr_rehearsal_begin(run->rehearsal, START_S + START_THREAD_S * run->machine.n_workers);
    dfr_rehearsal_enter(run->rehearsal);
}
