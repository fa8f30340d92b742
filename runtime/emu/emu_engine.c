/* emu_engine.c - the engines of the emulated GPU: threads that execute the commands that emu.c enqueues, and take the time that a GPU's engines would take
 * (emu.h). emu.c starts and stops them.
 *
 * Time: a copy moves its bytes at once, and the engine then stays busy until the time of the link model has passed. A launch first waits for the unit's
 * launch_s, which includes the engine's own overhead and its wake-up, and then runs the cpu variant for as long as that takes. A slow device (emu_trial.h) takes
 * a multiple of either time.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/host.h"
#include "runtime/threads/prompt.h"
#include "runtime/engine/call.h"
#include "runtime/engine/crash.h"
#include "runtime/emu/emu.h"
#include "runtime/base/error.h"

#define LONGEST_PAUSE_S 200e-6          /* of a reordering device: longer than a worker's own pauses */
#define KERNEL_STACK_BYTES (8u << 20)   /* what a main thread has: a cpu variant may expect that */

static double now_s(const struct dfr_emu_device *device)
{
    return dfr_clock_s() - device->opened_s;
}

static void wait_until(const struct dfr_emu_device *device, double at_s)
{
    dfr_clock_wait_until(device->opened_s + at_s);
}

/* ---- bad luck, if it is asked for ---- */

uint64_t dfr_emu_draw(uint64_t *state)
{
    uint64_t x = *state;                /* xorshift64 */

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return x >> 11;
}

static uint64_t draw(struct dfr_emu_engine *engine)
{
    return dfr_emu_draw(&engine->random);
}

static bool toss(struct dfr_emu_engine *engine)
{
    return engine->random != 0 && draw(engine) % 2 == 0;
}

/* On a reordering device: one time in four, a pause of up to LONGEST_PAUSE_S. */
static void dawdle(struct dfr_emu_engine *engine)
{
    if (engine->random != 0 && draw(engine) % 4 == 0)
        wait_until(engine->device, now_s(engine->device) + (double)(draw(engine) % 1000) * 1e-3 * LONGEST_PAUSE_S);
}

/* ---- commands ---- */

/* Opens the ends of the copy that lie in pools. Both ends may lie in the same pool. */
static void move_bytes(struct dfr_emu_check *from_check, struct dfr_emu_check *to_check, void *to, const void *from,
                       uint64_t bytes)
{
    if (from_check != NULL)
        dfr_emu_check_open(from_check, from, bytes, false);
    if (to_check != NULL) {
        dfr_emu_check_open(to_check, to, bytes, true);
        dfr_emu_check_forget(to_check, to, bytes);
    }
    memcpy(to, from, bytes);
    if (to_check != NULL)
        dfr_emu_check_close(to_check, to, bytes, true);
    if (from_check != NULL)
        dfr_emu_check_close(from_check, from, bytes, false);
}

/* A batch takes the latency once. */
static double link_time_s(const struct df_link *link, const struct dfr_emu_command *command)
{
    return command->follows ? (double)command->copy.bytes / link->bytes_per_s : df_link_time_s(link, command->copy.bytes);
}

static double copy_time_s(const struct dfr_emu_device *device, const struct dfr_emu_command *command)
{
    uint64_t bytes = command->copy.bytes;

    switch (command->copy.kind) {
    case DFR_COPY_H2D:
        return link_time_s(&device->unit.h2d, command);
    case DFR_COPY_D2H:
        return link_time_s(&device->unit.d2h, command);
    case DFR_COPY_PEER:
        return fmax(df_link_time_s(&device->unit.peer, bytes),
                    df_link_time_s(&command->copy.receiver->unit.peer, bytes));
    case DFR_COPY_D2D:
        break;
    }
    return 0;
}

/* The commands of a replay or a batch count as one, which began with its first. */
static void begin(struct dfr_emu_stream *stream, const struct dfr_emu_command *command, double at_s)
{
    if (!command->follows)
        stream->begin_s = at_s;
    stream->worked = true;
}

static void run_copy(struct dfr_emu_engine *engine, struct dfr_emu_stream *stream,
                     const struct dfr_emu_command *command)
{
    struct dfr_emu_device *device = engine->device;
    uint64_t bytes = command->copy.bytes;
    struct dfr_emu_device *receiver = command->copy.receiver ? command->copy.receiver : device;
    double time_s = device->slow * copy_time_s(device, command);
    bool last = toss(engine);           /* at the end: both ends of a copy belong to it until then */
    double begin_s = now_s(device);

    begin(stream, command, begin_s);
    if (bytes > 0 && !last)
        move_bytes(device->check, receiver->check, command->copy.to, command->copy.from, bytes);
    if (time_s > 0)
        wait_until(device, begin_s + time_s);
    if (last) {
        dawdle(engine);
        if (bytes > 0)
            move_bytes(device->check, receiver->check, command->copy.to, command->copy.from, bytes);
    }
    engine->free_s = stream->end_s = now_s(device);
}

static void end_launch(const struct dfr_launch *launch, int result)
{
    *launch->result = result;
    if (launch->broken != NULL && result != DF_OK && result != DF_END && result != DF_SKIP)
        atomic_store_explicit(launch->broken, true, memory_order_relaxed);
}

static void thread_ends(void *engine);

static void run_launch(struct dfr_emu_engine *engine, struct dfr_emu_stream *stream,
                       const struct dfr_emu_command *command)
{
    struct dfr_emu_device *device = engine->device;
    const struct dfr_launch *launch = &command->launch;
    double begin_s;

    if (engine->ended)
        return;
    if (launch->broken != NULL && atomic_load_explicit(launch->broken, memory_order_relaxed)) {
        stream->end_s = now_s(device);
        begin(stream, command, stream->end_s);
        return;
    }
    if (device->unit.launch_s > 0 && !command->follows)
        wait_until(device, fmax(engine->free_s, command->given_s) + device->slow * device->unit.launch_s);
    begin_s = now_s(device);
    begin(stream, command, begin_s);
    dfr_crash_call(launch->call);
    pthread_cleanup_push(thread_ends, engine);
    end_launch(launch, device->check != NULL
                           ? dfr_emu_check_call(device->check, launch, NULL)
                           : launch->fn(launch->call, NULL, launch->dims, launch->ports, launch->scalars));
    pthread_cleanup_pop(0);
    dfr_crash_call(NULL);
    if (device->slow > 1)
        wait_until(device, begin_s + device->slow * (now_s(device) - begin_s));
    engine->free_s = stream->end_s = now_s(device);
}

static void run_record(const struct dfr_emu_device *device, struct dfr_emu_stream *stream, struct dfr_emu_event *event,
                       uint64_t number)
{
    if (!stream->worked)                /* there is nothing before it whose times it could tell */
        stream->begin_s = stream->end_s = now_s(device);
    stream->worked = false;
    atomic_store_explicit(&event->begin_s, stream->begin_s, memory_order_relaxed);
    /* Not the time of now: other streams' work may have been carried out between this stream's last work and its
     * record. */
    atomic_store_explicit(&event->end_s, stream->end_s, memory_order_relaxed);
    atomic_store_explicit(&event->timed_number, number, memory_order_relaxed);
    atomic_fetch_sub_explicit(&event->in_flight, 1, memory_order_release); /* from here on *event may be freed */
}

/* The first late failure is the one that the device tells of. */
static void fail(struct dfr_emu_device *device, const struct dfr_emu_stream *stream,
                 const struct dfr_emu_command *command)
{
    pthread_mutex_lock(&device->lock);
    if (!device->failed) {
        device->failed_stream = (uint32_t)(stream - device->streams);
        device->failed_call = command->kind == DFR_EMU_COPY ? DFR_EMU_CALL_LATE_COPY : DFR_EMU_CALL_LATE_LAUNCH;
        device->failed_number = device->trial.fail[device->failed_call];
        atomic_store_explicit(&device->failed, true, memory_order_release);
    }
    pthread_mutex_unlock(&device->lock);
}

/* Records are carried out after a failure, too, because who destroys an event waits for them. */
static void run_command(struct dfr_emu_engine *engine, struct dfr_emu_stream *stream,
                        const struct dfr_emu_command *command, uint64_t number)
{
    struct dfr_emu_device *device = engine->device;

    dawdle(engine);
    if (command->fails)
        fail(device, stream, command);
    if (!atomic_load_explicit(&device->failed, memory_order_acquire))
        atomic_store_explicit(&stream->good, number, memory_order_release);
    else if (command->kind != DFR_EMU_RECORD)
        return;
    switch (command->kind) {
    case DFR_EMU_COPY:
        run_copy(engine, stream, command);
        break;
    case DFR_EMU_LAUNCH:
        run_launch(engine, stream, command);
        break;
    case DFR_EMU_RECORD:
        run_record(device, stream, command->record, number);
        break;
    case DFR_EMU_WAIT:
        engine->free_s = now_s(device); /* it could start, so what it waited for has happened */
        break;
    }
    dawdle(engine);
}

/* ---- engines ---- */

static struct dfr_emu_command *next_command(struct dfr_emu_stream *stream)
{
    uint64_t done = atomic_load_explicit(&stream->done, memory_order_relaxed);

    return done == stream->enqueued ? NULL : &stream->ring[done % DFR_EMU_RING];
}

/* Records and waits take no time, so they never stand behind another stream's copy or launch. */
static bool takes_time(const struct dfr_emu_command *command)
{
    return command->kind == DFR_EMU_COPY || command->kind == DFR_EMU_LAUNCH;
}

static bool can_start(const struct dfr_emu_device *device, const struct dfr_emu_command *command)
{
    return command->kind != DFR_EMU_WAIT || dfr_emu_happened(device, command->wait.stream, command->wait.number);
}

/* Chooses among the streams whose next command can start: one whose command takes no time, else the one whose
 * command was enqueued first. A reordering device takes any. NULL: no stream can start. *idle: nothing is enqueued
 * at all. */
static struct dfr_emu_stream *choose_stream(struct dfr_emu_engine *engine, bool *idle)
{
    struct dfr_emu_device *device = engine->device;
    struct dfr_emu_stream *best = NULL;
    uint64_t best_order = UINT64_MAX;
    uint32_t n_able = 0;

    *idle = true;
    for (uint32_t i = 0; i < engine->n_streams; i++) {
        struct dfr_emu_stream *stream = &device->streams[engine->first_stream + i];
        const struct dfr_emu_command *command = next_command(stream);

        if (command == NULL)
            continue;
        *idle = false;
        if (!can_start(device, command))
            continue;
        if (engine->random != 0 ? draw(engine) % ++n_able != 0 : command->order >= best_order)
            continue;
        best = stream;
        best_order = takes_time(command) ? command->order : 0;
    }
    return best;
}

/* After a command of this kind: wakes whoever waits for it. The caller holds the lock, and still does afterwards; the
 * runtime's wakeup is called without the lock. */
static void announce(struct dfr_emu_device *device, enum dfr_emu_kind kind)
{
    if (device->worker_waits)
        pthread_cond_signal(&device->progress);
    if (kind != DFR_EMU_RECORD)
        return;
    for (uint32_t e = 0; e < device->n_engines; e++) {
        if (device->engines[e].asleep)
            pthread_cond_signal(&device->engines[e].work);
    }
    if (device->wakeup != NULL) {
        pthread_mutex_unlock(&device->lock);
        device->wakeup(device->wakeup_arg);
        pthread_mutex_lock(&device->lock);
    }
}

static void engine_sleep(struct dfr_emu_engine *engine)
{
    engine->asleep = true;
    pthread_cond_wait(&engine->work, &engine->device->lock);
    engine->asleep = false;
}

static uint64_t next_number(const struct dfr_emu_stream *stream)
{
    return atomic_load_explicit(&stream->done, memory_order_relaxed) + 1;
}

/* What the engine carries out now is done. The caller holds the lock. */
static void end_command(struct dfr_emu_engine *engine)
{
    enum dfr_emu_kind kind = engine->command->kind; /* from `done` on, its place in the ring may be taken */

    atomic_store_explicit(&engine->stream->done, next_number(engine->stream), memory_order_release);
    announce(engine->device, kind);
}

/* Carries out commands until the device closes. The caller holds the lock, and still does afterwards. */
static void carry_out(struct dfr_emu_engine *engine)
{
    struct dfr_emu_device *device = engine->device;

    for (;;) {
        bool idle;
        struct dfr_emu_stream *stream = choose_stream(engine, &idle);

        if (stream == NULL) {
            if (idle && device->closing)
                return;
            engine_sleep(engine);
            continue;
        }
        engine->stream = stream;
        engine->command = next_command(stream);
        pthread_mutex_unlock(&device->lock);
        run_command(engine, stream, engine->command, next_number(stream));
        pthread_mutex_lock(&device->lock);
        end_command(engine);
    }
}

/* A handler of pthread_cleanup_push(): the kernel that the engine runs has ended the engine's thread. The launch has
 * failed. The device still needs the engine, so the thread goes on as the engine in this handler. */
static void thread_ends(void *arg)
{
    struct dfr_emu_engine *engine = arg;
    struct dfr_emu_device *device = engine->device;
    const struct dfr_launch *launch = &engine->command->launch;

    dfr_crash_thread_ends();
    dfr_crash_call(NULL);
    engine->ended = true;
    if (device->check != NULL)
        dfr_emu_check_abandon(device->check, launch);
    dfr_call_failed(launch->call, dfr_crash_ended);
    end_launch(launch, DF_FAILED);
    engine->stream->end_s = now_s(device);
    pthread_mutex_lock(&device->lock);
    end_command(engine);
    carry_out(engine);
    pthread_mutex_unlock(&device->lock);
}

static void *engine_main(void *arg)
{
    struct dfr_emu_engine *engine = arg;
    struct dfr_crash_frame frame;
    bool computes = engine->first_stream == DFR_STREAM_COMPUTE;

    dfr_crash_enter(&frame, NULL);      /* each launch tells crash.c which call it is */
    pthread_setname_np(pthread_self(), engine->name);
    dfr_prompt(!computes);              /* the latencies of links are a few µs, and copies run beside kernels */
    if (engine->device->cores != NULL && computes) /* copies take a core that is idle, if there is one */
        dfr_cores_bind(engine->device->cores, engine->device->core);
    pthread_mutex_lock(&engine->device->lock);
    carry_out(engine);
    pthread_mutex_unlock(&engine->device->lock);
    dfr_crash_leave(&frame);
    return NULL;
}

/* ---- start and stop ---- */

static void engine_define(struct dfr_emu_device *device, const char *name, uint32_t first_stream, uint32_t n_streams)
{
    struct dfr_emu_engine *engine = &device->engines[device->n_engines++];

    engine->device = device;
    engine->name = name;
    engine->first_stream = first_stream;
    engine->n_streams = n_streams;
    engine->asleep = engine->ended = false;
    if (device->trial.reorder_seed > 0) { /* never 0, and different for each engine of each device */
        engine->random = (device->trial.reorder_seed * 64 + device->index * 4 + device->n_engines) *
                         UINT64_C(0x9e3779b97f4a7c15) | 1;
        draw(engine);
    }
    pthread_cond_init(&engine->work, NULL);
}

static void stop_first(struct dfr_emu_device *device, uint32_t n_running)
{
    pthread_mutex_lock(&device->lock);
    device->closing = true;
    for (uint32_t e = 0; e < n_running; e++)
        pthread_cond_signal(&device->engines[e].work);
    pthread_mutex_unlock(&device->lock);
    for (uint32_t e = 0; e < n_running; e++)
        pthread_join(device->engines[e].thread, NULL);
    for (uint32_t e = 0; e < device->n_engines; e++)
        pthread_cond_destroy(&device->engines[e].work);
}

int dfr_emu_engines_start(struct dfr_emu_device *device, struct df_error *error)
{
    uint32_t started = 0;
    int failure = 0;

    /* Without a peer link, the stream for peer copies has no engine of its own: it lies behind D2H and is served with
     * it. */
    device->n_engines = 0;
    if (device->unit.engines == 1) {
        engine_define(device, "emu copies", DFR_STREAM_H2D, device->sends ? 2 : 3);
    } else {
        engine_define(device, "emu h2d", DFR_STREAM_H2D, 1);
        engine_define(device, "emu d2h", DFR_STREAM_D2H, device->sends ? 1 : 2);
    }
    if (device->sends)
        engine_define(device, "emu peer", DFR_STREAM_PEER, 1);
    engine_define(device, "emu compute", DFR_STREAM_COMPUTE, device->n_streams - DFR_STREAM_COMPUTE);

    while (started < device->n_engines && failure == 0) {
        struct dfr_emu_engine *engine = &device->engines[started];

        failure = dfr_thread_create(&engine->thread, KERNEL_STACK_BYTES, true, engine_main, engine);
        started += failure == 0;
    }
    if (failure != 0) {
        stop_first(device, started);
        return dfr_error(error, failure == ENOMEM ? DF_E_MEMORY : DF_E_DEVICE, "%s: cannot start a thread for its engines: %s", device->name,
                         strerror(failure));
    }
    return DF_OK;
}

void dfr_emu_engines_stop(struct dfr_emu_device *device)
{
    stop_first(device, device->n_engines);
}
