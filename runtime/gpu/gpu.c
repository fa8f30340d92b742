/* gpu.c - creates and destroys the state of one GPU in a run: its device, the cache of its memory, and its job records; and gives its statistics and the rows
 * of its trace. df_run_start() and df_run_wait() call it (start/run.c, start/run_trace.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/threads/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/pages.h"
#include "runtime/gpu/gpu_impl.h"
#include "runtime/inspect/inspect.h"
#include "runtime/engine/ending.h"
#include "runtime/engine/log.h"

static void gpu_wakeup(void *arg)
{
    dfr_wake_one(arg);
}

/* A copy has ended that is traced. Its wave is that of the block's slot: a reader of the block keeps that wave from
 * ending. */
static void copied(void *arg, enum dfr_copy kind, uint32_t block, uint64_t bytes, double begin_s, double end_s)
{
    struct dfr_gpu *gpu = arg;
    struct dfr_trace_row *row = kind == DFR_COPY_H2D   ? gpu->h2d_row
                                : kind == DFR_COPY_D2H ? gpu->d2h_row
                                                       : gpu->peer_row;
    uint32_t slot = block / gpu->run->graph->n_values;

    if (row)
        dfr_trace_add(row, dfm_space_value(gpu->run->memory.space, block),
                      dfr_traced_wave(gpu->run, dfr_job(slot, 0), dfr_job_wave(gpu->run, dfr_job(slot, 0))), gpu->origin_s + begin_s, gpu->origin_s + end_s, bytes);
}

static void arrived(void *arg, uint32_t waiter)
{
    struct dfr_gpu *gpu = arg;
    struct df_run *run = gpu->run;
    dfr_arrived(run, &run->threads.workers[run->machine.first_worker[gpu->unit]], waiter);
}

static void on_host(void *arg, uint32_t block)
{
    const struct dfr_gpu *gpu = arg;
    dfr_prefetch_onward(gpu->run, block, gpu->unit);
}

/* --poison: memory was given back. */
static void freed(void *arg, void *address, uint64_t bytes)
{
    struct dfr_gpu *gpu = arg;
    struct df_error error;
    if (dfr_inspect_freed(gpu->run, gpu->device, address, bytes, &error) != DF_OK)
        dfr_engine_fail(gpu->run, DF_E_DEVICE, "%s", error.text);
}

static void answered(void *arg, uint32_t memory)
{
    dfr_wake_unit(((struct dfr_gpu *)arg)->run, memory);
}

static uint64_t next_use(void *arg, uint32_t block)
{
    return dfr_next_use_of(((struct dfr_gpu *)arg)->next_use, block);
}

/* The page of a value that is made once: the same in each row that has one. */
static uint32_t once_page(const struct dfr_room *room, uint32_t n_values, uint32_t value)
{
    uint32_t page = DF_NONE;
    for (uint32_t row = 0; row < room->n_rows && page == DF_NONE; row++)
        page = room->page[(size_t)row * n_values + value];
    return page;
}

/* The block's offset in this device's memory; UINT64_MAX: it has no place there. It is called only if the room has
 * places. Any thread may call it, for a block that is alive: then the wave of the block's slot does not change. */
static uint64_t place(void *arg, uint32_t block)
{
    const struct dfr_gpu *gpu = arg;
    const struct df_run *run = gpu->run;
    const struct dfr_room *room = &run->devices.rooms[gpu->unit];
    uint32_t n_values = run->graph->n_values, slot = block / n_values, value = block % n_values, page;

    if (slot == dfr_once_slot(run)) {
        page = once_page(room, n_values, value);
    } else {
        uint32_t row = room->n_rows > 1 ? (uint32_t)(run->firing.slots[slot].wave % room->n_rows) : 0;
        page = room->page[(size_t)row * n_values + value];
    }
    return page == DF_NONE ? UINT64_MAX : slot * room->slot_bytes + (uint64_t)page * DF_PAGE_BYTES;
}

static uint32_t most_ports(const struct df_graph *g)
{
    uint32_t most = 1;
    for (uint32_t k = 0; k < g->n_kernels; k++)
        most = g->kernels[k].n_ports > most ? g->kernels[k].n_ports : most;
    return most;
}

static int make_job(struct dfr_gpu *gpu, struct gpu_job *j, uint32_t n_ports, struct df_error *error)
{
    j->claim.pieces = calloc(n_ports, sizeof *j->claim.pieces);
    j->ports = calloc(n_ports, sizeof *j->ports);
    j->ranges = calloc(n_ports, sizeof *j->ranges);
    j->name = calloc(1, DFR_GPU_NAME_BYTES);
    if (!j->claim.pieces || !j->ports || !j->ranges || !j->name)
        return dfr_error_memory(error);
    return gpu->device->ops->event_create(gpu->device, &j->event, error);
}

/* Makes gpu->host_tmp. */
static int make_host_tmp(struct dfr_gpu *gpu, struct df_error *error)
{
    const struct df_run *run = gpu->run;
    uint64_t most = 0;

    for (uint32_t v = 0; gpu->device->ops->runs_cpu_code && run->options.rehearse == 0 && v < run->graph->n_nodes; v++)
        if (run->choice.able[v] >> gpu->unit & 1 && df_node_tmp_bytes(run->graph, v, DF_ON_HOST) > most)
            most = df_node_tmp_bytes(run->graph, v, DF_ON_HOST);
    gpu->host_tmp = most ? dfr_pages_alloc(most) : NULL;
    return most && !gpu->host_tmp ? dfr_error_memory(error) : DF_OK;
}

static int open_device(struct dfr_gpu *gpu, struct df_error *error)
{
    struct df_run *run = gpu->run;
    struct dfr_device_config config = {
        .unit = &run->machine.platform.units[gpu->unit],
        .pool_bytes = run->devices.rooms[gpu->unit].pool_bytes,
        .compute_streams = run->devices.jobs,
        .check = run->options.emu_check,
        .times = run->watch.trace || run->options.node_stats || run->watch.latency,
        .wakeup = gpu_wakeup,
        .wakeup_arg = &run->threads.wakes[gpu->unit],
        .cores = run->machine.cores,
        .core = run->machine.n_cpu_workers + gpu->unit - 1,
    };
    gpu->origin_s = dfr_clock_s();
    return run->devices.ops[gpu->unit]->open(run->devices.number[gpu->unit], &config, &gpu->device, error);
}

/* As many bytes keep the first copy of a batch back for no longer than the link's latency. */
static uint64_t batch_bytes(const struct df_link *link)
{
    return link->threshold_bytes + (uint64_t)fmin(link->latency_s * link->bytes_per_s, 1 << 30);
}

static int make_cache(struct dfr_gpu *gpu, uint32_t n_ports, struct df_error *error)
{
    const struct dfr_room *room = &gpu->run->devices.rooms[gpu->unit];
    const struct dfr_device_ops *ops = gpu->device->ops;
    const uint64_t segment = ops->segment_bytes ? ops->segment_bytes(gpu->run->devices.number[gpu->unit]) : 0;
    const bool whole = segment == 0 || room->pool_bytes <= segment;
    struct dfm_cache_config config = {
        .space = gpu->run->memory.space,
        .memory = gpu->unit,
        .device = gpu->device,
        .pool_bytes = room->pool_bytes,
        .max_pieces = n_ports,
        .max_claims = gpu->capacity,
        .unified = gpu->run->machine.platform.units[gpu->unit].unified,
        .segment_bytes = whole ? 0 : segment,
        .place = room->page && whole ? place : NULL,
        .planned_bytes = room->planned_bytes,
        .scratch_bytes = room->scratch_bytes,
        .scratch_of_job_bytes = room->scratch_of_job_bytes,
        .next_use = gpu->by_next_use ? next_use : NULL,
        .arrived = arrived,
        .on_host = gpu->run->machine.n_gpus > 1 && gpu->run->choice.policy->units ? on_host : NULL,
        .answered = gpu->peers ? answered : NULL,
        .to_batch_bytes = batch_bytes(&gpu->run->machine.platform.units[gpu->unit].h2d),
        .from_batch_bytes = batch_bytes(&gpu->run->machine.platform.units[gpu->unit].d2h),
        .copied = gpu->run->watch.trace ? copied : NULL,
        .freed = gpu->run->options.poison ? freed : NULL,
        .arg = gpu,
    };
    return dfm_cache_create(&config, &gpu->cache, error);
}

int dfr_gpu_create(struct df_run *run, uint32_t unit, struct dfr_gpu **result, struct df_error *error)
{
    uint32_t n_ports = most_ports(run->graph);
    struct dfr_gpu *gpu = calloc(1, sizeof *gpu);
    int status;

    if (!gpu)
        return dfr_error_memory(error);
    gpu->run = run;
    gpu->unit = unit;
    gpu->window = run->devices.window;
    gpu->capacity = gpu->window + (run->devices.ahead ? DFR_GPU_AHEAD : 0);
    dfr_flight_start(&gpu->flight, run->devices.jobs_found ? DF_GPU_JOBS : run->devices.jobs, run->devices.jobs);
    gpu->peers = dfr_peers(run, unit);
    status = dfr_next_use_wanted(run->options.evict, run->choice.policy, &gpu->by_next_use, error);
    gpu->by_next_use = gpu->by_next_use && !run->devices.rooms[unit].fits;
    if (status == DF_OK)
        status = open_device(gpu, error);
    if (status == DF_OK)
        status = make_cache(gpu, n_ports, error);
    if (status == DF_OK)
        status = make_host_tmp(gpu, error);
    if (status != DF_OK)
        goto fail;
    gpu->jobs = calloc(gpu->capacity, sizeof *gpu->jobs);
    gpu->order = calloc(gpu->capacity, sizeof *gpu->order);
    gpu->stream_jobs = calloc(run->devices.jobs, sizeof *gpu->stream_jobs);
    gpu->opened = calloc(run->devices.jobs, sizeof *gpu->opened);
    gpu->stream_looked = calloc(run->devices.jobs, sizeof *gpu->stream_looked);
    gpu->loaded = gpu->device->ops->loads_late ? calloc((size_t)run->devices.jobs * run->graph->n_kernels + 1, 1)
                                               : NULL;
    gpu->flying = run->devices.ahead ? calloc((size_t)run->graph->n_nodes * (run->inflight + 1) + 1, 1) : NULL;
    if (!gpu->jobs || !gpu->order || !gpu->stream_jobs || !gpu->opened || !gpu->stream_looked || (run->devices.ahead && !gpu->flying) ||
        (gpu->device->ops->loads_late && !gpu->loaded)) {
        status = dfr_error_memory(error);
        goto fail;
    }
    status = dfr_gpu_recordings_create(gpu, error);
    for (uint32_t i = 0; i < gpu->capacity && status == DF_OK; i++)
        status = make_job(gpu, &gpu->jobs[i], n_ports, error);
    if (status != DF_OK)
        goto fail;
    run->memory.space->caches[unit] = gpu->cache;
    *result = gpu;
    return DF_OK;

fail:
    dfr_gpu_destroy(gpu);
    return status;
}

int dfr_gpu_know_order(struct dfr_gpu *gpu, struct df_error *error)
{
    struct df_run *run = gpu->run;

    if (!gpu->by_next_use)
        return DF_OK;
    gpu->next_use = dfr_next_use_create(&run->choice.view, run->choice.policy, run->choice.state, gpu->unit);
    return gpu->next_use ? DF_OK : dfr_error_memory(error);
}

void dfr_gpu_connect(struct dfr_gpu *gpu, struct dfr_gpu *const *gpus)
{
    const struct df_unit *units = gpu->run->machine.platform.units;
    for (uint32_t rest = gpu->peers; rest; rest &= rest - 1) {
        uint32_t u = (uint32_t)__builtin_ctz(rest);
        if (!gpu->device->ops->connect(gpu->device, gpus[u]->device))
            dfr_log(gpu->run, DF_LOG_INFO,
                    "'%s' does not reach '%s' as the platform says: copies go by way of the host",
                    units[gpu->unit].name, units[u].name);
    }
}

void dfr_gpu_destroy(struct dfr_gpu *gpu)
{
    if (!gpu)
        return;
    for (uint32_t i = 0; gpu->jobs && i < gpu->capacity; i++) {
        free(gpu->jobs[i].claim.pieces);
        free(gpu->jobs[i].ports);
        free(gpu->jobs[i].ranges);
        free(gpu->jobs[i].name);
        if (gpu->jobs[i].event)
            gpu->device->ops->event_destroy(gpu->device, gpu->jobs[i].event);
    }
    dfr_gpu_recordings_destroy(gpu);
    dfm_cache_destroy(gpu->cache);
    dfr_next_use_destroy(gpu->next_use);
    if (gpu->device)
        gpu->device->ops->close(gpu->device);
    free(gpu->host_tmp);
    free(gpu->jobs);
    free(gpu->order);
    free(gpu->stream_jobs);
    free(gpu->opened);
    free(gpu->stream_looked);
    free(gpu->flying);
    free(gpu->loaded);
    free(gpu);
}

double dfr_gpu_steady_s(const struct dfr_gpu *gpu)
{
    return gpu->steady_s;
}

void dfr_gpu_stats(const struct dfr_gpu *gpu, struct df_memory_stats *stats)
{
    dfm_cache_stats(gpu->cache, stats);
    stats->jobs = gpu->flight.jobs;
    stats->inexact = gpu->run->devices.inexact[gpu->unit];
    snprintf(stats->evict, sizeof stats->evict, "%s", gpu->run->devices.rooms[gpu->unit].fits ? "none"
                                                      : gpu->by_next_use             ? "belady" : "lru");
    stats->replayed = gpu->n_replayed;
    snprintf(stats->name, sizeof stats->name, "%s", gpu->run->machine.platform.units[gpu->unit].name);
}

void dfr_gpu_rows(struct dfr_gpu *gpu, struct dfr_trace_row *h2d, struct dfr_trace_row *d2h,
                  struct dfr_trace_row *peer)
{
    gpu->peer_row = peer;
    gpu->h2d_row = h2d;
    gpu->d2h_row = d2h;
}
