/* gpu_blame.c - attributes an error that a device call reports: to the job that the call was made for, to a copy, or to some earlier launch, since devices
 * may report faults late. The worker's files call it and fail the run with the message. */
#include <stdio.h>

#include "runtime/engine/ending.h"
#include "runtime/gpu/gpu_impl.h"

static void blame(struct dfr_gpu *gpu, uint64_t job, const char *others, const char *why)
{
    char name[DFR_GPU_NAME_BYTES];
    df_node_name(gpu->run->graph, dfr_job_node(job), name, sizeof name);
    dfr_engine_fail(gpu->run, DF_E_DEVICE, "node '%s', wave %lld%s: %s", name, (long long)dfr_told_wave(gpu->run, job, dfr_job_wave(gpu->run, job)),
                    others, why);
}

/* A fault is reported at a later call, whoever makes that call. It was made by a job that was launched and is not
 * known to have ended, or by `caller`, whose host code may have waited for its own kernels. This names the first such
 * job, and how many others it may have been. false: there is no job but `caller`, or it is known which job it was
 * (--sync-kernels). */
static bool blame_launched(struct dfr_gpu *gpu, const struct gpu_job *caller, const struct df_error *error)
{
    const struct dfr_device_ops *ops = gpu->device->ops;
    char others[64] = "", why[sizeof error->text + 64];
    uint32_t n = 0;
    uint64_t first = 0;

    if (!ops->faulted || !ops->faulted(gpu->device) || gpu->run->options.sync_kernels)
        return false;
    for (uint32_t i = 0; i < gpu->n_jobs; i++) {
        const struct gpu_job *j = &gpu->jobs[gpu->order[i]];
        if (j->state == GPU_LAUNCHED && n++ == 0)
            first = j->job;
    }
    if (n == 0)
        return false;
    n += caller && caller->state != GPU_LAUNCHED && caller->call.failed;
    if (n > 1)
        snprintf(others, sizeof others, ", or one of %u more in flight", n - 1);
    snprintf(why, sizeof why, "%s%s", error->text, n > 1 ? "; --sync-kernels tells which" : "");
    blame(gpu, first, others, why);
    return true;
}

void dfr_gpu_job_failed(struct dfr_gpu *gpu, const struct gpu_job *j, const struct df_error *error)
{
    if (blame_launched(gpu, j, error))
        return;
    if (j->call.failed)
        dfr_engine_fail_job(gpu->run, j->job, j->call.wave, j->call.message);
    blame(gpu, j->job, "", error->text);
}

/* The wave is that of the block's slot: a reader of the block keeps that wave from ending. */
void dfr_gpu_copies_failed(struct dfr_gpu *gpu, const struct df_error *error)
{
    const struct df_graph *g = gpu->run->graph;
    uint32_t n_others, block = dfm_cache_culprit(gpu->cache, &n_others), slot = block / g->n_values;
    char name[DFR_GPU_NAME_BYTES], others[64] = "";

    if (blame_launched(gpu, NULL, error))
        return;
    if (block == DFM_NONE) {
        dfr_engine_fail(gpu->run, DF_E_DEVICE, "%s", error->text);
        return;
    }
    df_node_name(g, g->values[dfm_space_value(gpu->run->memory.space, block)].producer, name, sizeof name);
    if (n_others > 0)
        snprintf(others, sizeof others, ", or another of %u tokens", n_others + 1);
    dfr_engine_fail(gpu->run, DF_E_DEVICE, "node '%s', wave %lld, copying what it made%s: %s", name,
                    (long long)dfr_told_wave(gpu->run, dfr_job(slot, 0), dfr_job_wave(gpu->run, dfr_job(slot, 0))), others, error->text);
}
