/* measure_gpu.c - a gpu variant fired once for the flow, and repeated until its mean is known, on a GPU of the
 * measurement's own (engine/single_job.h). The emulator runs the cpu variant instead.
 */
#include "runtime/measure/measure_impl.h"

const char *dfr_measure_gpu_name(const struct dfr_measure *m)
{
    return m->emulated ? DFR_KEY_EMULATOR : m->gpu ? dfr_single_gpu_name(m->gpu) : "gpu";
}

/* A callback of the sampler, too. */
static int launch(void *arg, double *seconds, struct df_error *error)
{
    struct dfr_measure_job *job = arg;
    int status;

    dfr_measure_call_begins(job, DF_CLASS_GPU);
    status = dfr_single_gpu_launch(job->m->gpu, &job->job, seconds, error);
    dfr_measure_call_ended(job->m);
    return status;
}

int dfr_measure_fire_gpu(struct dfr_measure_job *job, double *seconds, struct df_error *error)
{
    struct dfr_single_gpu *gpu = job->m->gpu;
    int status = dfr_single_gpu_bring(gpu, &job->job, error);
    if (status == DF_OK)
        status = launch(job, seconds, error);
    return status == DF_OK ? dfr_single_gpu_fetch(gpu, &job->job, error) : status;
}

int dfr_measure_repeat_gpu(struct dfr_measure_job *job, struct dfr_sample *sample, struct df_error *error)
{
    double warm_up;                     /* of the first launch, which may load code */
    int status = dfr_single_gpu_bring(job->m->gpu, &job->job, error);
    if (status == DF_OK)
        status = launch(job, &warm_up, error);
    if (status == DF_OK)
        status = dfr_sample_until(&job->m->sampler, launch, job, sample, error);
    return status;
}
