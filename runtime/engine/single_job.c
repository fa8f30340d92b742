/* single_job.c - runs a single job outside a run (single_job.h): fills in its call, and runs its gpu variant on a
 * device opened for this purpose. The measuring mode (measure/) and --check=variants use it. The emulator runs the cpu
 * variant instead of the gpu variant.
 */
#include "runtime/engine/single_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/device/devices.h"
#include "runtime/engine/call.h"
#include "runtime/engine/ports.h"
#include "runtime/threads/clock.h"

#define ALIGNMENT 256u

/* ---- a call ---- */

void dfr_single_call(struct df_run *run, const struct dfr_single_job *job, struct df_call *call)
{
    memset(call, 0, sizeof *call);
    call->run = run;
    call->job = dfr_job(job->slot, job->node);
    call->wave = job->wave;
    call->opened = job->opened;
    call->threads = run->graph->works[run->graph->nodes[job->node].work].threads;
}

int dfr_single_outcome(const struct df_run *run, const struct dfr_single_job *job, const struct df_call *call,
                       struct df_error *error)
{
    const struct df_graph *g = run->graph;
    char name[256];
    bool stream = g->kernels[g->nodes[job->node].kernel].traits & DF_STREAM;
    bool skips = job->code == DF_SKIP && !(g->nodes[job->node].flags & DF_NODE_ONCE);
    if (!call->failed && (job->code == DF_OK || skips || (job->code == DF_END && stream)))
        return DF_OK;
    df_node_name(g, job->node, name, sizeof name);
    if (call->failed)
        return dfr_error(error, DF_E_KERNEL, "node '%s', wave %lld: %s", name, (long long)job->wave, call->message);
    return dfr_error(error, DF_E_KERNEL, "node '%s', wave %lld: it gave %d", name, (long long)job->wave, job->code);
}

/* ---- memory ---- */

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Does a job change what the port holds? Then the device keeps a copy of it for the next launch. */
static bool changes(unsigned mode)
{
    return mode == DF_INOUT || mode == DF_ACC;
}

uint64_t dfr_single_gpu_need(const struct df_graph *graph, uint32_t work)
{
    const struct df_work *w = &graph->works[work];
    const struct df_kernel *kernel = &graph->kernels[w->kernel];
    uint64_t need = 0;
    for (unsigned p = 0; p < kernel->n_ports; p++) {
        uint64_t bytes = aligned(graph->port_bytes[w->first_port + p]);
        need += changes(graph->kports[kernel->first_port + p].mode) ? 2 * bytes : bytes;
    }
    return need;
}

bool dfr_single_gpu_fits(const struct dfr_single_gpu *gpu, uint32_t work)
{
    return dfr_single_gpu_need(gpu->run->graph, work) <= gpu->pool_bytes;
}

const char *dfr_single_gpu_name(const struct dfr_single_gpu *gpu)
{
    return gpu->unit.name;
}

/* ---- open and close ---- */

static bool allocate(struct dfr_single_gpu *gpu)
{
    const struct df_graph *g = gpu->run->graph;
    size_t n_ports = 1, n_dims = 1;
    for (uint32_t k = 0; k < g->n_kernels; k++) {
        n_ports = g->kernels[k].n_ports > n_ports ? g->kernels[k].n_ports : n_ports;
        n_dims = g->kernels[k].n_dims > n_dims ? g->kernels[k].n_dims : n_dims;
    }
    gpu->places = calloc(n_ports, sizeof *gpu->places);
    gpu->ranges = calloc(n_ports, sizeof *gpu->ranges);
    gpu->dims = calloc(n_dims, sizeof *gpu->dims);
    return gpu->places && gpu->ranges && gpu->dims;
}

static int open_device(struct dfr_single_gpu *gpu, uint64_t pool_bytes, struct df_error *error)
{
    uint64_t limit = gpu->unit.memory_bytes, wanted = aligned(pool_bytes) + gpu->spare_bytes;
    uint32_t number = gpu->run->devices.number[1];
    struct dfr_device_config config = { .unit = &gpu->unit, .compute_streams = 1, .times = true,
                                        .check = gpu->run->options.emu_check, .cores = gpu->run->machine.cores };
    bool others;
    int status = dfr_devices_memory(gpu->ops, &gpu->run->options, gpu->run->graph, number, &limit, &others, error);

    if (status != DF_OK)
        return status;
    const uint64_t segment = gpu->ops->segment_bytes ? gpu->ops->segment_bytes(number) : 0;
    if (segment && (limit == 0 || segment < limit))
        limit = segment;
    gpu->pool_bytes = limit == 0 || wanted < limit ? wanted : limit;
    if (gpu->pool_bytes < ALIGNMENT)
        gpu->pool_bytes = ALIGNMENT;
    config.pool_bytes = gpu->pool_bytes;
    return gpu->ops->open(number, &config, &gpu->device, error);
}

int dfr_single_gpu_open(struct df_run *run, const struct dfr_device_ops *ops, uint64_t pool_bytes,
                        uint64_t spare_bytes, struct dfr_single_gpu **result, struct df_error *error)
{
    struct dfr_single_gpu *gpu = calloc(1, sizeof *gpu);
    int status;

    if (!gpu)
        return dfr_error_memory(error);
    gpu->run = run;
    gpu->ops = ops;
    gpu->spare_bytes = spare_bytes;
    gpu->unit = (struct df_unit){ .cls = DF_CLASS_GPU, .workers = 1, .engines = 2, .h2d = { .bytes_per_s = INFINITY },
                                  .d2h = { .bytes_per_s = INFINITY } };
    status = allocate(gpu) ? ops->describe(run->devices.number[1], &gpu->unit, error) : dfr_error_memory(error);
    if (status == DF_OK)
        status = open_device(gpu, pool_bytes, error);
    if (status == DF_OK)
        status = ops->event_create(gpu->device, &gpu->event, error);
    if (status != DF_OK) {
        dfr_single_gpu_close(gpu);
        return status;
    }
    *result = gpu;
    return DF_OK;
}

void dfr_single_gpu_close(struct dfr_single_gpu *gpu)
{
    if (!gpu)
        return;
    if (gpu->event) {
        gpu->ops->drain(gpu->device, NULL);
        gpu->ops->event_destroy(gpu->device, gpu->event);
    }
    dfr_opened_close(&gpu->opened, gpu->run->graph);
    for (uint32_t i = 0; i < gpu->n_ends; i++)
        gpu->ops->event_destroy(gpu->device, gpu->ends[i]);
    if (gpu->device)
        gpu->ops->close(gpu->device);
    free(gpu->places);
    free(gpu->ranges);
    free(gpu->dims);
    free(gpu);
}

/* ---- one job on the device ---- */

int dfr_single_copy(struct dfr_single_gpu *gpu, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                    struct df_error *error)
{
    return bytes ? gpu->ops->copy(gpu->device, kind, to, from, bytes, DFR_SINGLE_STREAM, error) : DF_OK;
}

static int finish(struct dfr_single_gpu *gpu, struct df_error *error)
{
    int status = gpu->ops->event_record(gpu->device, gpu->event, DFR_SINGLE_STREAM, error);
    return status == DF_OK ? dfr_event_wait(gpu->device, gpu->event, 0, error) : status;
}

struct job_ports {                      /* the ports of one work, and their sizes */
    unsigned n;
    const struct df_kport *ports;
    const uint64_t *bytes;
};

static struct job_ports ports_of(const struct df_graph *g, const struct dfr_single_job *job)
{
    const struct df_work *work = &g->works[g->nodes[job->node].work];
    const struct df_kernel *kernel = &g->kernels[work->kernel];
    return (struct job_ports){ kernel->n_ports, g->kports + kernel->first_port, g->port_bytes + work->first_port };
}

int dfr_single_gpu_bring(struct dfr_single_gpu *gpu, const struct dfr_single_job *job, struct df_error *error)
{
    struct job_ports p = ports_of(gpu->run->graph, job);
    unsigned char *at = gpu->ops->pool(gpu->device);
    int status = DF_OK;

    for (unsigned i = 0; i < p.n && status == DF_OK; i++) {
        enum df_mode mode = p.ports[i].mode;
        gpu->places[i] = at;
        at += aligned(p.bytes[i]);
        if (mode == DF_IN || (mode == DF_OUT && job->outputs_too)) {
            status = dfr_single_copy(gpu, DFR_COPY_H2D, gpu->places[i], job->ports[i], p.bytes[i], error);
        } else if (changes(mode)) {
            status = dfr_single_copy(gpu, DFR_COPY_H2D, at, job->ports[i], p.bytes[i], error);
            at += aligned(p.bytes[i]);
        }
    }
    return status == DF_OK ? finish(gpu, error) : status;
}

int dfr_single_restore(struct dfr_single_gpu *gpu, const struct dfr_single_job *job, struct df_error *error)
{
    struct job_ports p = ports_of(gpu->run->graph, job);
    int status = DF_OK;

    for (unsigned i = 0; i < p.n && status == DF_OK; i++)
        if (changes(p.ports[i].mode))
            status = dfr_single_copy(gpu, DFR_COPY_D2D, gpu->places[i],
                                     (unsigned char *)gpu->places[i] + aligned(p.bytes[i]), p.bytes[i], error);
    return status;
}

/* What the job may touch, as a run declares it. */
static void declare(struct dfr_single_gpu *gpu, const struct job_ports *p)
{
    for (unsigned i = 0; i < p->n; i++)
        gpu->ranges[i] = (struct dfr_range){ .address = gpu->places[i], .bytes = p->bytes[i],
                                             .writable = p->ports[i].mode != DF_IN,
                                             .port = df_graph_string(gpu->run->graph, p->ports[i].name) };
}

void dfr_single_prepare(struct dfr_single_gpu *gpu, struct dfr_single_job *job, struct dfr_single_launch *l)
{
    const struct df_graph *g = gpu->run->graph;
    const struct df_work *work = &g->works[g->nodes[job->node].work];
    const struct df_kernel *kernel = &g->kernels[work->kernel];
    struct job_ports p = ports_of(g, job);

    for (unsigned d = 0; d < kernel->n_dims; d++)
        gpu->dims[d] = g->dims[work->first_dim + d];
    dfr_single_call(gpu->run, job, &l->call);
    l->call.device = gpu->device;
    l->call.opened = &gpu->opened;
    l->call.stream = DFR_SINGLE_STREAM;
    df_node_name(g, job->node, l->name, sizeof l->name);
    declare(gpu, &p);
    l->copy_bytes = kernel->flags & DF_KERNEL_COPY ? g->port_bytes[work->first_port] : 0;
    l->copies = kernel->flags & DF_KERNEL_COPY;
    l->launch = (struct dfr_launch){
        .fn = dfr_wave_function(gpu->run, dfr_device_function(gpu->ops, &gpu->run->options,
                                                              &g->functions[work->kernel])),
        .call = &l->call,
        .dims = gpu->dims,
        .ports = gpu->places,
        .scalars = gpu->run->memory.scalars + work->first_scalar,
        .ranges = gpu->ranges,
        .n_ranges = p.n,
        .node_name = l->name
    };
}

int dfr_single_enqueue(struct dfr_single_gpu *gpu, struct dfr_single_launch *l, int *result, struct df_error *error)
{
    *result = DF_OK;
    l->launch.result = result;
    if (l->copies)
        return dfr_single_copy(gpu, DFR_COPY_D2D, gpu->places[1], gpu->places[0], l->copy_bytes, error);
    return gpu->ops->launch(gpu->device, &l->launch, DFR_SINGLE_STREAM, error);
}

int dfr_single_failed(struct dfr_single_gpu *gpu, const struct dfr_single_job *job, const struct dfr_single_launch *l,
                      int status, const struct df_error *why, struct df_error *error)
{
    gpu->ops->drain(gpu->device, NULL); /* call and name go away */
    return dfr_error(error, status, "node '%s', wave %lld: %.340s", l->name, (long long)job->wave, why->text);
}

int dfr_single_gpu_launch(struct dfr_single_gpu *gpu, struct dfr_single_job *job, double *seconds,
                          struct df_error *error)
{
    struct dfr_single_launch l;
    struct df_error why = { "" };
    int status = dfr_single_restore(gpu, job, error);

    if (status != DF_OK)
        return status;
    dfr_single_prepare(gpu, job, &l);
    double begin_s = dfr_clock_s(), event_begin_s, event_end_s;
    status = dfr_single_enqueue(gpu, &l, &job->code, &why);
    if (status == DF_OK)
        status = finish(gpu, &why);
    if (status != DF_OK)
        return dfr_single_failed(gpu, job, &l, status, &why, error);
    *seconds = dfr_clock_s() - begin_s;
    if (gpu->ops->event_times(gpu->device, gpu->event, &event_begin_s, &event_end_s))
        *seconds = event_end_s - event_begin_s;
    return dfr_single_outcome(gpu->run, job, &l.call, error);
}

int dfr_single_gpu_fetch(struct dfr_single_gpu *gpu, const struct dfr_single_job *job, struct df_error *error)
{
    struct job_ports p = ports_of(gpu->run->graph, job);
    int status = DF_OK;

    for (unsigned i = 0; i < p.n && status == DF_OK; i++)
        if (p.ports[i].mode == DF_OUT || changes(p.ports[i].mode))
            status = dfr_single_copy(gpu, DFR_COPY_D2H, job->ports[i], gpu->places[i], p.bytes[i], error);
    return status == DF_OK ? finish(gpu, error) : status;
}
