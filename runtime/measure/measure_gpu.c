/* measure_gpu.c - runs a gpu variant once for the flow, and repeatedly until its mean is known, for measure.c, on a GPU that is opened for the measurement
 * (engine/single_job.h). The emulator runs the cpu variant instead.
 *
 * Own time: the launch overhead, which the model adds separately (`launch` of a platform), must not be part of a
 *           variant's time. Short kernels are therefore launched several times behind a delay that keeps the GPU busy
 *           until the last one is enqueued. If the host cannot enqueue them in time, because the variant's host code
 *           waits for the GPU, single launches are timed instead, including the host's work.
 */
#include "runtime/measure/measure_impl.h"

#include <math.h>

#include "runtime/engine/single_impl.h"
#include "runtime/threads/clock.h"

#define SPARE_BYTES (UINT64_C(64) << 20)    /* a copy of that many bytes takes a GPU longer than its enqueuing takes */
#define BATCH_S 500e-6                  /* as many launches as take so long together */
#define ENQUEUE_S 20e-6                 /* the host may take so long for one launch, at least */
#define LONGEST_DELAY_S 8e-3
#define FLUSH_S 1.0                     /* on the emulator all flushes of a work together take about so long, */
#define FLUSH_BYTES_PER_S 2e9           /* as a slow core copies */

const char *dfr_measure_gpu_name(const struct dfr_measure *m)
{
    return m->emulated ? DFR_KEY_EMULATOR : m->gpu ? dfr_single_gpu_name(m->gpu) : "gpu";
}

uint64_t dfr_measure_cache(const struct df_run *run, const struct dfr_device_ops *ops)
{
    uint64_t bytes = ops->cache_bytes ? ops->cache_bytes(run->devices.number[1]) : 0;
    return bytes ? (bytes + 255) / 256 * 256 : SPARE_BYTES; /* more than what most have */
}

uint64_t dfr_measure_gpu_spare(const struct dfr_measure *m, const struct dfr_device_ops *ops)
{
    uint64_t others = m->wave_bytes < DFR_MEASURE_OTHERS ? m->wave_bytes : DFR_MEASURE_OTHERS;
    uint64_t half = ops->runs_cpu_code ? others / 2 : SPARE_BYTES; /* the emulator's clock sees nothing of the host */
    return 2 * (m->flush_bytes > half ? m->flush_bytes : half);
}

const char *dfr_measure_uncold(const struct dfr_measure *m, uint32_t work)
{
    return m->flush_bytes && m->flush_bytes > dfr_measure_most_flushed(m->gpu, work)
               ? "the device has no room for a buffer as large as its cache beside it"
               : NULL;
}

/* ---- one launch after the other ---- */

static int launch(struct dfr_measure_job *job, double *seconds, struct df_error *error)
{
    dfr_measure_call_begins(job, DF_CLASS_GPU);
    int status = dfr_single_gpu_launch(job->m->gpu, &job->job, seconds, error);
    dfr_measure_call_ended(job->m);
    return status;
}

/* ---- several behind a delay ---- */

struct batches {
    struct dfr_measure_job *job;
    struct dfr_measure_batch batch;
};

static int run_batch(struct batches *b, double *seconds, bool *full, struct df_error *error)
{
    dfr_measure_call_begins(b->job, DF_CLASS_GPU);
    int status = dfr_measure_batch(b->job->m->gpu, &b->job->job, &b->batch, seconds, full, error);
    dfr_measure_call_ended(b->job->m);
    return status;
}

/* A callback of the sampler. */
static int launch_batch(void *arg, double *seconds, struct df_error *error)
{
    bool full;
    return run_batch(arg, seconds, &full, error);
}

/* Makes the delay as long as the host needs; 0: it never is, because the host code waits for the GPU. */
static int fit_delay(struct batches *b, struct df_error *error)
{
    bool full = false;
    int status = DF_OK;

    while (status == DF_OK && !full && b->batch.delay_s > 0) {
        double ignored;
        status = run_batch(b, &ignored, &full, error);
        if (!full)
            b->batch.delay_s = 2 * b->batch.delay_s < LONGEST_DELAY_S ? 2 * b->batch.delay_s : 0;
    }
    return status;
}

/* Launches of this job can be enqueued while a GPU is busy, and that is of use. */
static bool can_wait(const struct dfr_measure_job *job)
{
    const struct dfr_measure *m = job->m;
    return !m->emulated && !(m->graph->kernels[m->graph->nodes[job->job.node].kernel].traits & DF_SYNC);
}

/* Bytes that are copied within the device before each launch. On the emulator they read and write as many bytes as other
 * tokens have there, as measure_cpu.c does with turns. */
static uint64_t flush_bytes(const struct dfr_measure_job *job)
{
    const struct dfr_measure *m = job->m;
    uint32_t work = m->graph->nodes[job->job.node].work;
    uint64_t half = dfr_measure_other_bytes(m, work) / 2, most = m->emulated ? dfr_measure_most_flushed(m->gpu, work) : 0;
    return m->flush_bytes ? m->flush_bytes : half < most ? half : most;
}

/* one_s: what a launch takes, host_s: what it takes the host. What takes so long that the host's share is no matter is
 * launched by itself. */
static struct batches plan_batches(struct dfr_measure_job *job, double one_s, double host_s)
{
    const struct dfr_measure *m = job->m;
    uint32_t most = m->sampler.max_runs / (m->sampler.min_runs > 0 ? m->sampler.min_runs : 1);
    double n = one_s > 0 ? ceil(BATCH_S / one_s) : DFR_SINGLE_MOST;
    bool waits = n > 1 && can_wait(job);
    double delay_s = 0;

    n = waits ? fmax(1, fmin(n, most < DFR_SINGLE_MOST ? most : DFR_SINGLE_MOST)) : 1;
    if (waits)
        delay_s = fmin((n + 1) * fmax(ENQUEUE_S, 2 * host_s), LONGEST_DELAY_S / 4);
    return (struct batches){ job, { (uint32_t)n, delay_s, !m->flush_bytes, flush_bytes(job) } };
}

int dfr_measure_fire_gpu(struct dfr_measure_job *job, double *seconds, struct df_error *error)
{
    struct dfr_single_gpu *gpu = job->m->gpu;
    struct batches one = { job, { .n = 1, .delay_s = can_wait(job) ? 4 * ENQUEUE_S : 0 } };
    int status = dfr_single_gpu_bring(gpu, &job->job, error);

    if (status == DF_OK)
        status = launch_batch(&one, seconds, error);
    return status == DF_OK ? dfr_single_gpu_fetch(gpu, &job->job, error) : status;
}

int dfr_measure_repeat_gpu(struct dfr_measure_job *job, struct dfr_sample *sample, struct df_error *error)
{
    struct dfr_sampler_options options = job->m->sampler;
    double one_s = 0, begin_s = 0;
    int status = dfr_single_gpu_bring(job->m->gpu, &job->job, error);

    for (int i = 0; i < 1 + can_wait(job) && status == DF_OK; i++) { /* the first launch may load code */
        begin_s = dfr_clock_s();
        status = launch(job, &one_s, error);
    }
    if (status != DF_OK)
        return status;
    struct batches batches = plan_batches(job, one_s, dfr_clock_s() - begin_s - one_s);
    options.max_runs /= batches.batch.n;
    options.max_s /= batches.batch.n;
    if (job->m->emulated && options.max_runs > 0)
        options.max_runs = (uint32_t)fmax(options.min_runs, fmin(options.max_runs, FLUSH_S * FLUSH_BYTES_PER_S /
                                                                                       (double)(batches.batch.flush_bytes + 1)));
    status = fit_delay(&batches, error);
    if (status == DF_OK)
        status = dfr_sample_until(&options, launch_batch, &batches, sample, error);
    sample->runs *= batches.batch.n;
    sample->dropped *= batches.batch.n;
    return status;
}
