/* measure_gpu.c - a gpu variant fired and repeated on a device of its own pool; on the emulator the cpu variant.
 *
 * Layout:   the ports of the work at hand lie one after the other from the start of the pool; behind an inout its
 *           input, from which it is restored within the device. One stream does everything, so order needs no events
 *           but the last.
 * Time:     the device's own from the launch's begin to its end where it can say it, else what the host sees.
 */
#include <math.h>
#include <stdlib.h>

#include "runtime/threads/clock.h"
#include "runtime/base/error.h"
#include "runtime/measure/measure_impl.h"

#define STREAM DFR_STREAM_COMPUTE
#define ALIGNMENT 256u

struct dfr_measure_gpu {
    const struct dfr_device_ops *ops;
    struct dfr_device *device;
    struct dfr_event *event;
    struct df_unit unit;
    uint64_t pool_bytes;
};

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

uint64_t dfr_measure_gpu_need(const struct df_graph *graph, uint32_t work)
{
    const struct df_work *w = &graph->works[work];
    const struct df_kernel *kernel = &graph->kernels[w->kernel];
    uint64_t need = 0;
    for (unsigned p = 0; p < kernel->n_ports; p++) {
        uint64_t bytes = aligned(graph->port_bytes[w->first_port + p]);
        need += graph->kports[kernel->first_port + p].mode == DF_INOUT ? 2 * bytes : bytes;
    }
    return need;
}

bool dfr_measure_gpu_fits(const struct dfr_measure *m, uint32_t work)
{
    return dfr_measure_gpu_need(m->graph, work) <= m->gpu->pool_bytes;
}

const char *dfr_measure_gpu_name(const struct dfr_measure *m)
{
    return m->emulated ? DFR_MEASURE_EMULATOR : m->gpu ? m->gpu->unit.name : "gpu";
}

/* ---- open and close ---- */

/* The largest pool that is allowed. */
static uint64_t pool_limit(const struct dfr_measure *m, const struct df_unit *unit)
{
    uint64_t limit = unit->memory_bytes ? unit->memory_bytes : UINT64_MAX;
    if (m->options->gpu_mem_bytes && m->options->gpu_mem_bytes < limit)
        limit = m->options->gpu_mem_bytes;
    return limit;
}

int dfr_measure_gpu_open(struct dfr_measure *m, const struct dfr_device_ops *ops, uint64_t pool_bytes,
                         struct df_error *error)
{
    struct dfr_measure_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return dfr_error_memory(error);
    gpu->ops = ops;
    gpu->unit = (struct df_unit){ .cls = DF_CLASS_GPU, .workers = 1, .engines = 2, .h2d = { .bytes_per_s = INFINITY },
                                  .d2h = { .bytes_per_s = INFINITY } };
    int status = ops->describe(0, &gpu->unit, error);
    if (status == DF_OK) {
        uint64_t limit = pool_limit(m, &gpu->unit);
        gpu->pool_bytes = pool_bytes < limit ? pool_bytes : limit;
        if (gpu->pool_bytes < ALIGNMENT)
            gpu->pool_bytes = ALIGNMENT;
        struct df_emu_trial trial = m->options->emu_trial;
        trial.slow_factor = 0;          /* times of a slowed device would be kept for others */
        struct dfr_device_config config = { .unit = &gpu->unit, .pool_bytes = gpu->pool_bytes, .compute_streams = 1,
                                            .trial = &trial };
        status = ops->open(0, &config, &gpu->device, error);
    }
    if (status == DF_OK) {
        status = ops->event_create(gpu->device, &gpu->event, error);
        if (status != DF_OK)
            ops->close(gpu->device);
    }
    if (status != DF_OK) {
        free(gpu);
        return status;
    }
    m->gpu = gpu;
    return DF_OK;
}

void dfr_measure_gpu_close(struct dfr_measure *m)
{
    struct dfr_measure_gpu *gpu = m->gpu;
    if (!gpu)
        return;
    gpu->ops->drain(gpu->device, NULL);
    gpu->ops->event_destroy(gpu->device, gpu->event);
    gpu->ops->close(gpu->device);
    free(gpu);
    m->gpu = NULL;
}

/* ---- one work on the device ---- */

static int copy(struct dfr_measure_gpu *gpu, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                struct df_error *error)
{
    return bytes ? gpu->ops->copy(gpu->device, kind, to, from, bytes, STREAM, error) : DF_OK;
}

static int finish(struct dfr_measure_gpu *gpu, struct df_error *error)
{
    int status = gpu->ops->event_record(gpu->device, gpu->event, STREAM, error);
    return status == DF_OK ? dfr_event_wait(gpu->device, gpu->event, 0, error) : status;
}

/* Gives the ports their places in m->scratch and brings the inputs there. */
static int bring_inputs(struct dfr_measure_job *job, struct df_error *error)
{
    struct dfr_measure *m = job->m;
    struct dfr_measure_gpu *gpu = m->gpu;
    const struct df_work *work = dfr_measure_work(job);
    const struct df_kernel *kernel = &m->graph->kernels[work->kernel];
    unsigned char *at = gpu->ops->pool(gpu->device);
    int status = DF_OK;
    for (unsigned p = 0; p < kernel->n_ports && status == DF_OK; p++) {
        uint64_t bytes = m->graph->port_bytes[work->first_port + p];
        enum df_mode mode = m->graph->kports[kernel->first_port + p].mode;
        m->scratch[p] = at;
        at += aligned(bytes);
        if (mode == DF_IN || (mode == DF_OUT && job->outputs_too)) {
            status = copy(gpu, DFR_COPY_H2D, m->scratch[p], m->ports[p], bytes, error);
        } else if (mode == DF_INOUT) {
            status = copy(gpu, DFR_COPY_H2D, at, m->ports[p], bytes, error);
            at += aligned(bytes);
        }
    }
    return status == DF_OK ? finish(gpu, error) : status;
}

/* One launch and its time: a callback of the sampler. */
static int launch(void *arg, double *seconds, struct df_error *error)
{
    struct dfr_measure_job *job = arg;
    struct dfr_measure *m = job->m;
    struct dfr_measure_gpu *gpu = m->gpu;
    const struct df_work *work = dfr_measure_work(job);
    const struct df_kernel *kernel = &m->graph->kernels[work->kernel];
    const struct df_functions *functions = &m->graph->functions[work->kernel];
    int status = DF_OK;
    for (unsigned p = 0; p < kernel->n_ports && status == DF_OK; p++) {
        uint64_t bytes = m->graph->port_bytes[work->first_port + p];
        if (m->graph->kports[kernel->first_port + p].mode == DF_INOUT)
            status =
                copy(gpu, DFR_COPY_D2D, m->scratch[p], (unsigned char *)m->scratch[p] + aligned(bytes), bytes, error);
    }
    if (status != DF_OK)
        return status;

    struct df_call call;
    dfr_measure_call(job, &call);
    call.device = gpu->device;
    call.stream = STREAM;
    char name[128];
    df_node_name(m->graph, job->node, name, sizeof name);
    struct dfr_launch l = { .fn = dfr_device_function(gpu->ops, m->options, functions),
                            .call = &call,
                            .dims = m->dims,
                            .ports = m->scratch,
                            .scalars = m->scalars + work->first_scalar,
                            .result = &job->code,
                            .node_name = name };
    double begin_s = dfr_clock_s(), event_begin_s, event_end_s;
    struct df_error why = { "" };
    job->code = DF_OK;
    if (kernel->flags & DF_KERNEL_COPY)
        status = copy(gpu, DFR_COPY_D2D, m->scratch[1], m->scratch[0], m->graph->port_bytes[work->first_port], &why);
    else
        status = gpu->ops->launch(gpu->device, &l, STREAM, &why);
    if (status == DF_OK)
        status = finish(gpu, &why);
    if (status != DF_OK) {
        gpu->ops->drain(gpu->device, NULL); /* call and name go away */
        return dfr_error(error, status, "node '%s', wave %lld: %.340s", name, (long long)job->wave, why.text);
    }
    *seconds = dfr_clock_s() - begin_s;
    if (gpu->ops->event_times(gpu->device, gpu->event, &event_begin_s, &event_end_s))
        *seconds = event_end_s - event_begin_s;
    return dfr_measure_outcome(job, &call, job->code, error);
}

int dfr_measure_fire_gpu(struct dfr_measure_job *job, double *seconds, struct df_error *error)
{
    struct dfr_measure *m = job->m;
    const struct df_work *work = dfr_measure_work(job);
    const struct df_kernel *kernel = &m->graph->kernels[work->kernel];
    int status = bring_inputs(job, error);
    if (status == DF_OK)
        status = launch(job, seconds, error);
    for (unsigned p = 0; p < kernel->n_ports && status == DF_OK; p++) {
        enum df_mode mode = m->graph->kports[kernel->first_port + p].mode;
        if (mode == DF_OUT || mode == DF_INOUT)
            status = copy(m->gpu, DFR_COPY_D2H, m->ports[p], m->scratch[p], m->graph->port_bytes[work->first_port + p],
                          error);
    }
    return status == DF_OK ? finish(m->gpu, error) : status;
}

int dfr_measure_repeat_gpu(struct dfr_measure_job *job, struct dfr_sample *sample, struct df_error *error)
{
    double warm_up;
    int status = bring_inputs(job, error);
    if (status == DF_OK)
        status = launch(job, &warm_up, error);
    if (status == DF_OK)
        status = dfr_sample_until(&job->m->sampler, launch, job, sample, error);
    return status;
}
