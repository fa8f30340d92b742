/* emu.c - the device back end "emu", an emulated GPU made of host threads; the runtime calls it through the table at the end. It has its own memory, streams,
 * events and copy engines with the timing of a described link, so that every path of the runtime and the memory manager runs on machines without a GPU. Its
 * jobs run the cpu variants.
 *
 * This file implements the operations of device.h; the table is at its end. emu_engine.c executes them, emu_check.c protects the device's memory, and
 * emu_host.c allocates and registers host memory.
 *
 * By default a machine has one such GPU. A platform may describe more: up to DFR_EMU_MAX can be opened, each with its own memory, of the size that the
 * platform gives, else 1 GiB, but at most a quarter of the machine's.
 */
#include "runtime/emu/emu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/base/cgroup.h"
#include "runtime/base/error.h"

#define DFR_EMU_MAX 4
#define DEFAULT_MEMORY_BYTES (UINT64_C(1) << 30)
#define MAX_COMPUTE_STREAMS 1024

static struct dfr_emu_device *emu_of(struct dfr_device *device)
{
    return (struct dfr_emu_device *)device;
}

/* ---- failing on purpose ---- */

/* Counts a call. true: it is the one that is to fail. *number: its number among the calls of its kind. */
static bool is_planned(struct dfr_emu_device *emu, enum dfr_emu_call call, uint64_t *number)
{
    *number = ++emu->calls[call];
    return *number == emu->trial.fail[call];
}

static int failure(const struct dfr_emu_device *emu, enum dfr_emu_call call, uint64_t number, struct df_error *error)
{
    if (call == DFR_EMU_CALL_ALLOC)
        return dfr_error(error, DF_E_MEMORY, "%s: out of memory at alloc %llu, as asked for", emu->name,
                         (unsigned long long)number);
    return dfr_error(error, DF_E_DEVICE, "%s: %s %llu failed, as asked for", emu->name, dfr_emu_call_name(call),
                     (unsigned long long)number);
}

static int fails(struct dfr_emu_device *emu, enum dfr_emu_call call, struct df_error *error)
{
    uint64_t number;

    return is_planned(emu, call, &number) ? failure(emu, call, number, error) : DF_OK;
}

static int late_failure(const struct dfr_emu_device *emu, struct df_error *error)
{
    return failure(emu, emu->failed_call, emu->failed_number, error);
}

/* ---- what there is ---- */

static uint32_t emu_count(struct df_error *error)
{
    (void)error;
    return 1;
}

static int check_index(uint32_t index, struct df_error *error)
{
    if (index < DFR_EMU_MAX)
        return DF_OK;
    return dfr_error(error, DF_E_DEVICE, "emu%u: there are at most %d emulated GPUs", index, DFR_EMU_MAX);
}

static int emu_describe(uint32_t index, struct df_unit *unit, struct df_error *error)
{
    uint64_t quarter = dfr_memory_bytes() / 4;
    int status = check_index(index, error);

    if (status != DF_OK)
        return status;
    snprintf(unit->name, sizeof unit->name, "emu%u", index);
    if (unit->memory_bytes == 0)
        unit->memory_bytes = quarter < DEFAULT_MEMORY_BYTES ? quarter : DEFAULT_MEMORY_BYTES;
    return DF_OK;
}

/* ---- open and close ---- */

/* A link without a stated bandwidth takes its latency alone. Else df_link_time_s() would divide by zero. */
static void complete_link(struct df_link *link)
{
    if (!(link->bytes_per_s > 0))
        link->bytes_per_s = INFINITY;
    if (!(link->latency_s >= 0))
        link->latency_s = 0;
}

static int make_streams(struct dfr_emu_device *emu, uint32_t compute_streams, struct df_error *error)
{
    if (compute_streams == 0 || compute_streams > MAX_COMPUTE_STREAMS)
        return dfr_error(error, DF_E_ARGUMENT, "%s: %u compute streams asked for; 1 to %d are possible", emu->name,
                         compute_streams, MAX_COMPUTE_STREAMS);
    emu->n_streams = DFR_STREAM_COMPUTE + compute_streams;
    emu->streams = calloc(emu->n_streams, sizeof *emu->streams);
    emu->rings = calloc((size_t)emu->n_streams * DFR_EMU_RING, sizeof *emu->rings);
    if (emu->streams == NULL || emu->rings == NULL)
        return dfr_error_memory(error);
    for (uint32_t s = 0; s < emu->n_streams; s++) {
        emu->streams[s].ring = emu->rings + (size_t)s * DFR_EMU_RING;
        atomic_init(&emu->streams[s].done, 0);
        atomic_init(&emu->streams[s].good, 0);
    }
    return DF_OK;
}

static int make_pool(struct dfr_emu_device *emu, uint64_t bytes, bool check, struct df_error *error)
{
    int status = fails(emu, DFR_EMU_CALL_ALLOC, error);

    if (status != DF_OK)
        return status;
    emu->pool = dfr_emu_pool_alloc(bytes);
    if (emu->pool == NULL)
        return dfr_error(error, DF_E_MEMORY, "%s: cannot reserve its pool of %llu bytes", emu->name,
                         (unsigned long long)bytes);
    emu->pool_bytes = dfr_emu_whole_pages(bytes);
    return check ? dfr_emu_check_create(emu->pool, emu->pool_bytes, emu->name, &emu->check, error) : DF_OK;
}

/* Frees everything but the engines. Called after a failed open, too. */
static void free_all(struct dfr_emu_device *emu)
{
    dfr_emu_check_destroy(emu->check);
    dfr_emu_host_free(emu->pool, emu->pool_bytes);
    free(emu->rings);
    free(emu->streams);
    pthread_cond_destroy(&emu->progress);
    pthread_mutex_destroy(&emu->lock);
    free(emu);
}

extern const struct dfr_device_ops dfr_emu_ops;

static int set_trial(struct dfr_emu_device *emu, struct df_error *error)
{
    int status = dfr_emu_trial_now(&emu->trial, error);

    emu->slow = 1;
    atomic_init(&emu->failed, false);
    if (emu->trial.slow_factor > 0 &&
        (emu->trial.slow_device < 0 || (uint32_t)emu->trial.slow_device == emu->index))
        emu->slow = emu->trial.slow_factor;
    return status;
}

static int emu_open(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                    struct df_error *error)
{
    struct dfr_emu_device *emu;
    int status = check_index(index, error);

    if (status != DF_OK)
        return status;
    emu = calloc(1, sizeof *emu);
    if (emu == NULL)
        return dfr_error_memory(error);
    emu->base.ops = &dfr_emu_ops;
    snprintf(emu->name, sizeof emu->name, "emu%u", index);
    emu->index = index;
    emu->unit = *config->unit;
    status = set_trial(emu, error);
    complete_link(&emu->unit.h2d);
    complete_link(&emu->unit.d2h);
    emu->sends = emu->unit.peer.bytes_per_s > 0;
    complete_link(&emu->unit.peer);
    emu->wakeup = config->wakeup;
    emu->wakeup_arg = config->wakeup_arg;
    emu->cores = config->cores;
    emu->core = config->core;
    pthread_mutex_init(&emu->lock, NULL);
    pthread_cond_init(&emu->progress, NULL);
    emu->opened_s = dfr_clock_s();
    if (status == DF_OK)
        status = fails(emu, DFR_EMU_CALL_OPEN, error);
    if (status == DF_OK)
        status = make_streams(emu, config->compute_streams, error);
    if (status == DF_OK)
        status = make_pool(emu, config->pool_bytes, config->check, error);
    if (status == DF_OK)
        status = dfr_emu_engines_start(emu, error);
    if (status != DF_OK) {
        free_all(emu);
        return status;
    }
    *device = &emu->base;
    return DF_OK;
}

static void emu_close(struct dfr_device *device)
{
    struct dfr_emu_device *emu = emu_of(device);

    dfr_emu_engines_stop(emu);
    free_all(emu);
}

static void *emu_pool(struct dfr_device *device)
{
    return emu_of(device)->pool;
}

/* ---- commands ---- */

static void worker_wait(struct dfr_emu_device *emu)
{
    emu->worker_waits = true;
    pthread_cond_wait(&emu->progress, &emu->lock);
    emu->worker_waits = false;
}

/* The engine that serves a stream. The compute engine is the last; before it are one or two for copies, and one for
 * peer copies if there are any. */
static struct dfr_emu_engine *engine_of(struct dfr_emu_device *emu, uint32_t stream)
{
    uint32_t e = 0;

    while (stream - emu->engines[e].first_stream >= emu->engines[e].n_streams)
        e++;
    return &emu->engines[e];
}

/* If the ring is full this waits for room, as a GPU's driver does. There will be room, because a command waits for
 * earlier ones only. *number: the command's number in its stream. */
static int enqueue(struct dfr_emu_device *emu, uint32_t stream, const struct dfr_emu_command *command, uint64_t *number,
                   struct df_error *error)
{
    struct dfr_emu_stream *s;
    struct dfr_emu_command *slot;
    struct dfr_emu_engine *engine;

    if (stream >= emu->n_streams)
        return dfr_error(error, DF_E_ARGUMENT, "%s: no stream %u", emu->name, stream);
    s = &emu->streams[stream];
    engine = engine_of(emu, stream);
    pthread_mutex_lock(&emu->lock);
    while (s->enqueued - atomic_load_explicit(&s->done, memory_order_acquire) == DFR_EMU_RING)
        worker_wait(emu);
    slot = &s->ring[s->enqueued % DFR_EMU_RING];
    *slot = *command;
    slot->order = ++emu->order;
    slot->given_s = dfr_clock_s() - emu->opened_s;
    *number = ++s->enqueued;
    if (engine->asleep)
        pthread_cond_signal(&engine->work);
    pthread_mutex_unlock(&emu->lock);
    return DF_OK;
}

/* Enqueues a copy or a launch; or adds it to the recording of its stream if there is one. */
static int give(struct dfr_emu_device *emu, struct dfr_emu_command *command, uint32_t stream, struct df_error *error)
{
    bool copy = command->kind == DFR_EMU_COPY;
    uint64_t number;
    int status;

    if (stream < emu->n_streams && emu->streams[stream].recording != NULL) {
        dfr_emu_record(emu->streams[stream].recording, command);
        return DF_OK;
    }
    status = fails(emu, copy ? DFR_EMU_CALL_COPY : DFR_EMU_CALL_LAUNCH, error);
    if (status != DF_OK)
        return status;
    command->fails = is_planned(emu, copy ? DFR_EMU_CALL_LATE_COPY : DFR_EMU_CALL_LATE_LAUNCH, &number);
    return enqueue(emu, stream, command, &number, error);
}

int dfr_emu_repeat(struct dfr_emu_device *emu, const struct dfr_emu_command *command, uint32_t stream,
                   struct df_error *error)
{
    struct dfr_emu_command again = *command;
    return give(emu, &again, stream, error);
}

static int enqueue_copy(struct dfr_device *device, enum dfr_copy kind, struct dfr_emu_device *receiver, void *to,
                        const void *from, uint64_t bytes, bool follows, uint32_t stream, struct df_error *error)
{
    struct dfr_emu_command command = {.kind = DFR_EMU_COPY, .follows = follows};

    command.copy.kind = kind;
    command.copy.to = to;
    command.copy.from = from;
    command.copy.bytes = bytes;
    command.copy.receiver = receiver;
    return give(emu_of(device), &command, stream, error);
}

static int copy(struct dfr_device *device, enum dfr_copy kind, const struct dfr_transfer *t, bool follows,
                uint32_t stream, struct df_error *error)
{
    const void *host = kind == DFR_COPY_H2D ? t->from : kind == DFR_COPY_D2H ? t->to : NULL;

    if (host && dfr_emu_host_split(host, t->bytes))
        return dfr_error(error, DF_E_DEVICE, "%s: a copy of %llu bytes of which only some are registered",
                         emu_of(device)->name, (unsigned long long)t->bytes);
    return enqueue_copy(device, kind, NULL, t->to, t->from, t->bytes, follows, stream, error);
}

static int emu_copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                    uint32_t stream, struct df_error *error)
{
    return copy(device, kind, &(struct dfr_transfer){.to = to, .from = from, .bytes = bytes}, false, stream, error);
}

/* A reordering device begins with the last. */
static int emu_copy_batch(struct dfr_device *device, enum dfr_copy kind, const struct dfr_transfer *copies, uint32_t n,
                          uint32_t stream, struct df_error *error)
{
    bool reorders = emu_of(device)->trial.reorder_seed > 0;
    int status = DF_OK;

    for (uint32_t i = 0; i < n && status == DF_OK; i++)
        status = copy(device, kind, &copies[reorders ? n - 1 - i : i], i > 0, stream, error);
    return status;
}

static int emu_copy_peer(struct dfr_device *device, struct dfr_device *receiver, void *to, const void *from,
                         uint64_t bytes, uint32_t stream, struct df_error *error)
{
    return enqueue_copy(device, DFR_COPY_PEER, emu_of(receiver), to, from, bytes, false, stream, error);
}

static bool emu_connect(struct dfr_device *device, struct dfr_device *receiver)
{
    return emu_of(device)->sends && emu_of(receiver)->sends;
}

static int emu_launch(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream,
                      struct df_error *error)
{
    struct dfr_emu_command command = {.kind = DFR_EMU_LAUNCH};

    command.launch = *launch;
    return give(emu_of(device), &command, stream, error);
}

static int emu_stream_wait(struct dfr_device *device, uint32_t stream, struct dfr_event *event, struct df_error *error)
{
    struct dfr_emu_event *e = (struct dfr_emu_event *)event;
    struct dfr_emu_command command = {.kind = DFR_EMU_WAIT};
    uint64_t number;
    int status = fails(emu_of(device), DFR_EMU_CALL_WAIT, error);

    if (status != DF_OK)
        return status;
    /* No wait is needed for an event of the same stream, which has its order, nor for one that has happened already. */
    if (e->number == 0 || e->stream == stream || dfr_emu_happened(emu_of(device), e->stream, e->number))
        return DF_OK;
    command.wait.stream = e->stream;
    command.wait.number = e->number;
    return enqueue(emu_of(device), stream, &command, &number, error);
}

static int emu_drain(struct dfr_device *device, struct df_error *error)
{
    struct dfr_emu_device *emu = emu_of(device);

    pthread_mutex_lock(&emu->lock);
    for (uint32_t s = 0; s < emu->n_streams; s++) {
        while (!dfr_emu_happened(emu, s, emu->streams[s].enqueued))
            worker_wait(emu);
    }
    pthread_mutex_unlock(&emu->lock);
    return atomic_load_explicit(&emu->failed, memory_order_acquire) ? late_failure(emu, error) : DF_OK;
}

/* ---- events ---- */

static int emu_event_create(struct dfr_device *device, struct dfr_event **event, struct df_error *error)
{
    int status = fails(emu_of(device), DFR_EMU_CALL_ALLOC, error);
    struct dfr_emu_event *e;

    if (status != DF_OK)
        return status;
    e = calloc(1, sizeof *e);
    if (e == NULL)
        return dfr_error_memory(error);
    *event = (struct dfr_event *)e;
    return DF_OK;
}

/* An engine may still be about to write the event's times. This waits until it has. */
static void emu_event_destroy(struct dfr_device *device, struct dfr_event *event)
{
    struct dfr_emu_device *emu = emu_of(device);
    struct dfr_emu_event *e = (struct dfr_emu_event *)event;

    if (e == NULL)
        return;
    pthread_mutex_lock(&emu->lock);
    while (atomic_load_explicit(&e->in_flight, memory_order_acquire) > 0)
        worker_wait(emu);
    pthread_mutex_unlock(&emu->lock);
    free(e);
}

static int emu_event_record(struct dfr_device *device, struct dfr_event *event, uint32_t stream, struct df_error *error)
{
    struct dfr_emu_event *e = (struct dfr_emu_event *)event;
    struct dfr_emu_command command = {.kind = DFR_EMU_RECORD, .record = e};
    uint64_t number;
    int status = fails(emu_of(device), DFR_EMU_CALL_EVENT, error);

    if (status != DF_OK)
        return status;
    atomic_fetch_add_explicit(&e->in_flight, 1, memory_order_relaxed);
    status = enqueue(emu_of(device), stream, &command, &number, error);
    if (status == DF_OK) {
        e->stream = stream;
        e->number = number;
    } else {
        atomic_fetch_sub_explicit(&e->in_flight, 1, memory_order_relaxed);
    }
    return status;
}

static int emu_event_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    struct dfr_emu_device *emu = emu_of(device);
    struct dfr_emu_event *e = (struct dfr_emu_event *)event;
    int status = fails(emu, DFR_EMU_CALL_QUERY, error);
    bool over;

    if (status != DF_OK)
        return status;
    over = dfr_emu_happened(emu, e->stream, e->number);
    /* `done` was acquired, and `good` is released before it: so the value of `good` is not older. */
    *complete = over && atomic_load_explicit(&emu->streams[e->stream].good, memory_order_relaxed) >= e->number;
    if (over && !*complete && e->stream == emu->failed_stream)
        return late_failure(emu, error);
    return DF_OK;
}

static bool emu_event_times(struct dfr_device *device, struct dfr_event *event, double *begin_s, double *end_s)
{
    struct dfr_emu_event *e = (struct dfr_emu_event *)event;

    if (e->number == 0 || !dfr_emu_happened(emu_of(device), e->stream, e->number) ||
        atomic_load_explicit(&e->timed_number, memory_order_relaxed) != e->number)
        return false;
    *begin_s = atomic_load_explicit(&e->begin_s, memory_order_relaxed);
    *end_s = atomic_load_explicit(&e->end_s, memory_order_relaxed);
    return true;
}

/* Cpu variants call a BLAS of the host by themselves, so they need none from here. */
static void *emu_blas(struct dfr_device *device, uint32_t stream, struct df_error *error)
{
    (void)stream;
    dfr_error(error, DF_E_DEVICE, "%s: an emulated GPU has no cuBLAS", emu_of(device)->name);
    return NULL;
}

/* It computes on the host's cores. */
static uint64_t emu_cache_bytes(uint32_t index)
{
    (void)index;
    return dfr_cache_bytes();
}

const struct dfr_device_ops dfr_emu_ops = {
    .name = "emu",
    .can_wakeup = true,
    .runs_cpu_code = true,
    .count = emu_count,
    .describe = emu_describe,
    .open = emu_open,
    .close = emu_close,
    .pool = emu_pool,
    .copy = emu_copy,
    .copy_batch = emu_copy_batch,
    .copy_peer = emu_copy_peer,
    .connect = emu_connect,
    .launch = emu_launch,
    .event_create = emu_event_create,
    .event_destroy = emu_event_destroy,
    .event_record = emu_event_record,
    .event_query = emu_event_query,
    .stream_wait = emu_stream_wait,
    .drain = emu_drain,
    .host_alloc = dfr_emu_host_alloc,
    .host_free = dfr_emu_host_free,
    .event_times = emu_event_times,
    .blas = emu_blas,
    .record_begin = dfr_emu_record_begin,
    .record_part = dfr_emu_record_part,
    .record_end = dfr_emu_record_end,
    .replay = dfr_emu_replay,
    .recording_destroy = dfr_emu_recording_destroy,
    .host_register = dfr_emu_host_register,
    .host_unregister = dfr_emu_host_unregister,
    .cache_bytes = emu_cache_bytes,
};
