/* rehearse_device.c - the devices of a rehearsed run (rehearsal.h): a back end that start/run_rehearse.c takes in place of the real one. It computes nothing,
 * copies nothing and touches no memory. Its commands take nominal time only.
 *
 * Engines:  as those of emu/emu.h: one for each direction of copies, or one for both if the unit has one engine; one for
 *           peer copies; one for all compute streams. An engine does one command at a time.
 * Times:    The begin and end of a command are fixed when it is given: it begins when its stream and its engine are free and
 *           the events that its stream waits for have happened. It goes before a command that was given earlier only if
 *           it fits into the time that the engine was to be idle before that one. Copies within a device take no time.
 * Memory:   the pool and the host's memory are addresses that nobody may touch: a page fault ends the program.
 * Threads:  the device's worker, which has entered the rehearsal, alone uses it while the run goes on. No thread is made.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/base/error.h"
#include "runtime/device/device.h"
#include "runtime/rehearse/rehearsal.h"
#include "runtime/threads/clock.h"

#define UNKNOWN_MEMORY_BYTES (UINT64_C(1) << 42) /* of a device whose memory the platform does not say */

struct event {
    struct event *next;                 /* of its device */
    bool recorded;                      /* false: it counts as complete */
    bool seen;                          /* the worker has seen that it was complete */
    double begin_s, end_s;              /* of the command before it */
};

struct stream {
    uint32_t engine;
    double begin_s, free_s;             /* of its last command; when all that it was given is done */
};

struct engine {
    double free_s;                      /* when all that it was given is done */
    double idle_s, idle_end_s;          /* before its last command it is idle in this time */
};

enum { ENGINE_H2D, ENGINE_D2H, ENGINE_PEER, ENGINE_COMPUTE, N_ENGINES };

struct rehearsed {
    struct dfr_device base;
    struct df_unit unit;
    void *pool;
    uint64_t pool_bytes;
    struct event *events;               /* all of the device */
    bool sleeps;                        /* the worker sleeps for what it sees next, so it may wake late */
    uint32_t n_streams;
    struct stream *streams;
    struct engine engines[N_ENGINES];
};

extern const struct dfr_device_ops dfr_rehearse_ops; /* for the table of back ends */

static struct rehearsed *of(struct dfr_device *device)
{
    return (struct rehearsed *)device;
}

/* ---- memory ---- */

static void *reserve(uint64_t bytes, struct df_error *error)
{
    void *memory = mmap(NULL, bytes ? bytes : 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory != MAP_FAILED)
        return memory;
    dfr_error(error, DF_E_MEMORY, "cannot reserve addresses for %llu bytes", (unsigned long long)bytes);
    return NULL;
}

static void unreserve(void *memory, uint64_t bytes)
{
    if (memory)
        munmap(memory, bytes ? bytes : 1);
}

static void *pool(struct dfr_device *device)
{
    return of(device)->pool;
}

/* ---- what there is ---- */

static uint32_t count(struct df_error *error)
{
    (void)error;
    return DF_MAX_UNITS - 1;            /* as many as the platform describes */
}

static int describe(uint32_t index, struct df_unit *unit, struct df_error *error)
{
    (void)index, (void)error;
    if (unit->memory_bytes == 0)
        unit->memory_bytes = UNKNOWN_MEMORY_BYTES;
    return DF_OK;
}

/* ---- open and close ---- */

static void close_device(struct dfr_device *device)
{
    struct rehearsed *d = of(device);

    free(d->streams);
    unreserve(d->pool, d->pool_bytes);
    free(d);
}

static uint32_t engine_of(const struct rehearsed *d, uint32_t stream)
{
    if (stream >= DFR_STREAM_COMPUTE)
        return ENGINE_COMPUTE;
    if (stream == DFR_STREAM_PEER)
        return ENGINE_PEER;
    return stream == DFR_STREAM_H2D || d->unit.engines == 1 ? ENGINE_H2D : ENGINE_D2H;
}

static int open_device(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                       struct df_error *error)
{
    struct rehearsed *d = calloc(1, sizeof *d);

    (void)index;
    if (!d)
        return dfr_error_memory(error);
    d->base.ops = &dfr_rehearse_ops;
    d->unit = *config->unit;
    d->n_streams = DFR_STREAM_COMPUTE + config->compute_streams;
    d->streams = calloc(d->n_streams, sizeof *d->streams);
    d->pool_bytes = config->pool_bytes;
    d->pool = d->streams ? reserve(d->pool_bytes, error) : NULL;
    if (!d->pool) {
        int status = d->streams ? DF_E_MEMORY : dfr_error_memory(error);
        close_device(&d->base);
        return status;
    }
    for (uint32_t s = 0; s < d->n_streams; s++)
        d->streams[s].engine = engine_of(d, s);
    *device = &d->base;
    return DF_OK;
}

/* ---- commands ---- */

/* A command is given at the moment of the worker. */
static int give(struct rehearsed *d, uint32_t stream, double seconds, struct df_error *error)
{
    if (stream >= d->n_streams)
        return dfr_error(error, DF_E_ARGUMENT, "%s: no stream %u", d->unit.name, stream);
    struct stream *s = &d->streams[stream];
    struct engine *e = &d->engines[s->engine];
    const double ready_s = fmax(dfr_clock_s(), s->free_s);
    s->begin_s = fmax(ready_s, e->idle_s);
    if (s->begin_s + seconds <= e->idle_end_s) {
        e->idle_s = s->begin_s + seconds;
    } else {
        s->begin_s = fmax(ready_s, e->free_s);
        if (s->begin_s > e->free_s) {
            e->idle_s = e->free_s;
            e->idle_end_s = s->begin_s;
        }
        e->free_s = s->begin_s + seconds;
    }
    s->free_s = s->begin_s + seconds;
    return DF_OK;
}

static int copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                uint32_t stream, struct df_error *error)
{
    const struct df_unit *unit = &of(device)->unit;

    (void)to, (void)from;
    return give(of(device), stream, kind == DFR_COPY_D2D ? 0 : df_link_time_s(kind == DFR_COPY_H2D ? &unit->h2d : &unit->d2h, bytes),
                error);
}

/* As df_peer_time_s(). */
static int copy_peer(struct dfr_device *device, struct dfr_device *receiver, void *to, const void *from,
                     uint64_t bytes, uint32_t stream, struct df_error *error)
{
    (void)to, (void)from;
    return give(of(device), stream, fmax(df_link_time_s(&of(device)->unit.peer, bytes),
                                         df_link_time_s(&of(receiver)->unit.peer, bytes)), error);
}

static bool connect_peer(struct dfr_device *device, struct dfr_device *receiver)
{
    return of(device)->unit.peer.bytes_per_s > 0 && of(receiver)->unit.peer.bytes_per_s > 0;
}

static int launch(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream, struct df_error *error)
{
    return give(of(device), stream, launch->seconds, error);
}

static int stream_wait(struct dfr_device *device, uint32_t stream, struct dfr_event *event, struct df_error *error)
{
    const struct event *e = (const struct event *)event;
    struct stream *s = &of(device)->streams[stream];

    (void)error;
    if (e->recorded)
        s->free_s = fmax(s->free_s, e->end_s);
    return DF_OK;
}

/* Nothing is under way that touches memory, so nothing has to be waited for. */
static int drain(struct dfr_device *device, struct df_error *error)
{
    (void)error;
    for (struct event *e = of(device)->events; e; e = e->next)
        e->seen = true;
    return DF_OK;
}

/* ---- events ---- */

static int event_create(struct dfr_device *device, struct dfr_event **event, struct df_error *error)
{
    struct event *e = calloc(1, sizeof *e);

    if (!e)
        return dfr_error_memory(error);
    e->next = of(device)->events;
    of(device)->events = e;
    *event = (struct dfr_event *)e;
    return DF_OK;
}

static void event_destroy(struct dfr_device *device, struct dfr_event *event)
{
    struct event **e = &of(device)->events;

    while (*e != (struct event *)event)
        e = &(*e)->next;
    *e = (*e)->next;
    free(event);
}

static int event_record(struct dfr_device *device, struct dfr_event *event, uint32_t stream, struct df_error *error)
{
    struct event *e = (struct event *)event;
    const struct stream *s = &of(device)->streams[stream];

    (void)error;
    *e = (struct event){ .next = e->next, .recorded = true, .begin_s = s->begin_s, .end_s = fmax(s->free_s, dfr_clock_s()) };
    return DF_OK;
}

/* The worker's moment is not before an event that it has seen. */
static int event_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    struct rehearsed *d = of(device);
    struct event *e = (struct event *)event;

    (void)error;
    *complete = !e->recorded || e->end_s <= dfr_nominal_real_s();
    if (*complete && e->recorded && !e->seen) {
        dfr_rehearsal_see(e->end_s, d->sleeps);
        d->sleeps = false;
        e->seen = true;
    }
    return DF_OK;
}

static bool event_times(struct dfr_device *device, struct dfr_event *event, double *begin_s, double *end_s)
{
    const struct event *e = (const struct event *)event;

    (void)device;
    *begin_s = e->begin_s;
    *end_s = e->end_s;
    return e->recorded;
}

static double next_event_s(struct dfr_device *device)
{
    double next_s = INFINITY;

    for (const struct event *e = of(device)->events; e; e = e->next)
        if (e->recorded && !e->seen)
            next_s = fmin(next_s, e->end_s);
    next_s = fmax(dfr_nominal_left_s(next_s), 0);
    of(device)->sleeps = next_s > 0;
    return next_s;
}

static void *blas(struct dfr_device *device, uint32_t stream, struct df_error *error)
{
    (void)device, (void)stream;
    dfr_error(error, DF_E_DEVICE, "a rehearsal calls no kernel");
    return NULL;
}

const struct dfr_device_ops dfr_rehearse_ops = {
    .name = "rehearsed", .results_at_once = true,
    .count = count, .describe = describe, .open = open_device, .close = close_device, .pool = pool,
    .copy = copy, .copy_peer = copy_peer, .connect = connect_peer, .launch = launch,
    .event_create = event_create, .event_destroy = event_destroy, .event_record = event_record,
    .event_query = event_query, .stream_wait = stream_wait, .drain = drain,
    .host_alloc = reserve, .host_free = unreserve, .event_times = event_times, .blas = blas,
    .next_event_s = next_event_s,
};
