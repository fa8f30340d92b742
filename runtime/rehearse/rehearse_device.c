/* rehearse_device.c - the devices of a rehearsed run (rehearsal.h): a back end that computes nothing, copies nothing and
 * touches no memory. Its commands take nominal time only.
 *
 * Engines:  as those of emu.h: one for each direction of copies, or one for both if the unit has one engine; one for
 *           peer copies; one for all compute streams. An engine does one command at a time. Among the next commands of
 *           its streams it takes the one that can begin first, and of those the one that was given first.
 * States of a command: 1 given  2 begun. A command begins when its engine and its stream are free and the events that
 *           its stream waits for have happened. From then on its end is known, so it leaves its stream's list. Nothing
 *           runs in between: each look at the device begins what could begin up to now (look()).
 * Memory:   the pool and the host's memory are addresses that nobody may touch: a page fault ends the program.
 * Threads:  the device's worker alone uses it while the run goes on. No thread is made.
 */
#include "runtime/rehearse/rehearse_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/rehearse/rehearsal.h"

#define UNKNOWN_MEMORY_BYTES (UINT64_C(1) << 42) /* of a device whose memory the platform does not say */

struct event {
    uint64_t number;                    /* of its last record; 0: it was never recorded, which counts as complete */
    bool known, seen;                   /* its end is known; the worker has seen that it was complete */
    bool counted;                       /* its lateness is: the worker was awake, and then waited for its turn */
    struct event *next;                 /* of its device */
    double begin_s, end_s;              /* of the command before it; if known */
};

enum kind { TIMED, RECORD, WAIT };

struct command {
    enum kind kind;
    double given_s, seconds;            /* TIMED */
    uint64_t order;                     /* TIMED: among all of the device */
    struct event *event;                /* RECORD, WAIT */
    uint64_t number;                    /* of the event's record */
    bool known;                         /* WAIT: until when is known */
    double until_s;
};

struct stream {
    struct command *list;               /* those that have not begun: list[first … n) */
    uint32_t first, n, engine;
    size_t capacity;
    double free_s;                      /* when all that has begun is done */
    double begin_s, end_s;              /* of the last timed command that has begun */
};

struct rehearsed {
    struct dfr_device base;
    struct df_unit unit;
    struct dfr_rehearsal *rehearsal;
    void *pool;
    uint64_t pool_bytes, order;
    uint32_t number;                    /* of the unit */
    struct event *events;               /* all of the device */
    double limit_s;                     /* what ends after this is not shown yet (shown_s()) */
    bool sleeps;                        /* the worker sleeps for what it sees next, so it may wake late */
    uint32_t n_streams;
    struct stream *streams;
    double engine_free_s[4];
};

enum { ENGINE_H2D, ENGINE_D2H, ENGINE_PEER, ENGINE_COMPUTE };

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

    for (uint32_t s = 0; d->streams && s < d->n_streams; s++)
        free(d->streams[s].list);
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

    if (!d)
        return dfr_error_memory(error);
    d->base.ops = &dfr_rehearse_ops;
    d->unit = *config->unit;
    d->rehearsal = config->rehearsal;
    d->number = index + 1;
    d->limit_s = INFINITY;
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

/* ---- time goes on ---- */

/* The end of a record is known now: whoever waits for it knows how long. */
static void resolve(struct rehearsed *d, const struct event *event, uint64_t number, double end_s)
{
    for (uint32_t s = 0; s < d->n_streams; s++)
        for (uint32_t i = d->streams[s].first; i < d->streams[s].n; i++) {
            struct command *c = &d->streams[s].list[i];
            if (c->kind == WAIT && c->event == event && c->number == number) {
                c->known = true;
                c->until_s = end_s;
            }
        }
}

static struct command *next_command(struct stream *s)
{
    return s->first < s->n ? &s->list[s->first] : NULL;
}

static void begun(struct stream *s)
{
    if (++s->first == s->n)
        s->first = s->n = 0;
}

/* Passes the records and waits at the head of the stream that need no engine. true: there was one. */
static bool pass(struct rehearsed *d, struct stream *s)
{
    struct command *c = next_command(s);

    if (!c || c->kind == TIMED || (c->kind == WAIT && !c->known))
        return false;
    if (c->kind == WAIT) {
        s->free_s = fmax(s->free_s, c->until_s);
    } else {
        if (c->event->number == c->number) { /* it was not recorded again since */
            c->event->known = true;
            c->event->begin_s = s->begin_s;
            c->event->end_s = s->free_s;
        }
        resolve(d, c->event, c->number, s->free_s);
    }
    begun(s);
    return true;
}

static double begin_s(const struct rehearsed *d, const struct stream *s, const struct command *c)
{
    return fmax(fmax(c->given_s, s->free_s), d->engine_free_s[s->engine]);
}

/* Begins the command that can begin first, if that is not after `now_s`. false: none. */
static bool begin_first(struct rehearsed *d, double now_s)
{
    struct stream *best = NULL;
    double best_s = INFINITY;

    for (uint32_t i = 0; i < d->n_streams; i++) {
        struct stream *s = &d->streams[i];
        const struct command *c = next_command(s);
        double at_s = c && c->kind == TIMED ? begin_s(d, s, c) : INFINITY;
        if (at_s < best_s || (at_s == best_s && best && c->order < next_command(best)->order)) {
            best = s;
            best_s = at_s;
        }
    }
    if (!best || best_s > now_s)
        return false;
    best->begin_s = best_s;
    best->end_s = best->free_s = d->engine_free_s[best->engine] = best_s + next_command(best)->seconds;
    begun(best);
    return true;
}

static void look(struct rehearsed *d, double now_s)
{
    bool progress;

    do {
        progress = false;
        for (uint32_t s = 0; s < d->n_streams; s++)
            while (pass(d, &d->streams[s]))
                progress = true;
        progress |= begin_first(d, now_s);
    } while (progress);
}

/* ---- commands ---- */

/* A command is given at the moment of the worker. A copy is not given before the message that asks for it (given_s): the
 * worker may read that one before its moment is as late. */
static int give(struct rehearsed *d, uint32_t stream, struct command command, struct df_error *error)
{
    struct stream *s = &d->streams[stream];

    if (stream >= d->n_streams)
        return dfr_error(error, DF_E_ARGUMENT, "%s: no stream %u", d->unit.name, stream);
    if (!DFR_ARRAY_ROOM(s->list, s->n, s->capacity))
        return dfr_error_memory(error);
    command.given_s = fmax(command.given_s, dfr_clock_s());
    command.order = ++d->order;
    if (command.kind == TIMED)
        d->limit_s = fmin(d->limit_s, command.given_s); /* its end may come before what would be shown next */
    s->list[s->n++] = command;
    return DF_OK;
}

static int copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                uint32_t stream, struct df_error *error)
{
    struct rehearsed *d = of(device);
    const struct df_link *link = kind == DFR_COPY_H2D ? &d->unit.h2d : &d->unit.d2h;

    (void)to, (void)from;
    return give(d, stream, (struct command){ .kind = TIMED, .given_s = dfr_rehearsal_told_s(d->rehearsal, d->number),
                                             .seconds = df_link_time_s(link, bytes) }, error);
}

/* As df_peer_time_s(). */
static int copy_peer(struct dfr_device *device, struct dfr_device *receiver, void *to, const void *from,
                     uint64_t bytes, uint32_t stream, struct df_error *error)
{
    struct rehearsed *d = of(device);
    double a_s = df_link_time_s(&d->unit.peer, bytes), b_s = df_link_time_s(&of(receiver)->unit.peer, bytes);

    (void)to, (void)from;
    return give(d, stream, (struct command){ .kind = TIMED, .given_s = dfr_rehearsal_told_s(d->rehearsal, d->number),
                                             .seconds = fmax(a_s, b_s) }, error);
}

static bool connect_peer(struct dfr_device *device, struct dfr_device *receiver)
{
    return of(device)->unit.peer.bytes_per_s > 0 && of(receiver)->unit.peer.bytes_per_s > 0;
}

static int launch(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream, struct df_error *error)
{
    return give(of(device), stream, (struct command){ .kind = TIMED, .seconds = launch->seconds }, error);
}

static int stream_wait(struct dfr_device *device, uint32_t stream, struct dfr_event *event, struct df_error *error)
{
    struct event *e = (struct event *)event;

    if (e->number == 0)
        return DF_OK;
    return give(of(device), stream, (struct command){ .kind = WAIT, .event = e, .number = e->number,
                                                      .known = e->known, .until_s = e->end_s }, error);
}

/* Nothing is under way that touches memory, so nothing has to be waited for. */
static int drain(struct dfr_device *device, struct df_error *error)
{
    (void)device, (void)error;
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

    *e = (struct event){ .number = e->number + 1, .next = e->next };
    return give(of(device), stream, (struct command){ .kind = RECORD, .event = e, .number = e->number }, error);
}

/* Up to when the worker sees what has happened. A worker that wakes late finds several ends in the past. It sees the first
 * of them alone, and does all that follows from it, before next_event_s() lets it see the second: so it chooses its jobs
 * as a worker that was in time. If another thread has called it, it looks first at what that thread has made known. */
static double shown_s(const struct rehearsed *d)
{
    double seen_s = fmin(d->limit_s, dfr_rehearsal_called_s(d->rehearsal, d->number));

    return fmin(dfr_nominal_real_s(dfr_rehearsal_nominal(d->rehearsal)), seen_s);
}

/* The worker's moment is not before an event that it has seen. */
static int event_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    struct rehearsed *d = of(device);
    struct event *e = (struct event *)event;
    const struct dfr_nominal *nominal = dfr_rehearsal_nominal(d->rehearsal);
    double now_s = shown_s(d);

    (void)error;
    look(d, now_s);
    *complete = e->number == 0 || (e->known && e->end_s <= now_s);
    if (*complete && e->known && !e->seen) {
        if (!e->counted && d->sleeps)
            dfr_rehearsal_late(d->rehearsal, (dfr_nominal_real_s(nominal) - e->end_s) * nominal->scale);
        e->counted = true;
        d->sleeps = false;
        if (!dfr_rehearsal_see(e->end_s)) {
            *complete = false;
            return DF_OK;
        }
        e->seen = true;
        dfr_nominal_move(e->end_s, false);
    }
    return DF_OK;
}

static bool event_times(struct dfr_device *device, struct dfr_event *event, double *event_begin_s, double *event_end_s)
{
    struct event *e = (struct event *)event;

    (void)device;
    if (e->number == 0 || !e->known)
        return false;
    *event_begin_s = e->begin_s;
    *event_end_s = e->end_s;
    return true;
}

/* What the worker can see next: the first event that it has not seen, or the beginning of a command that is given for
 * later. All others wait for one of these. Nothing after it is shown until this is called again. */
static double next_event_s(struct dfr_device *device)
{
    struct rehearsed *d = of(device);
    const struct dfr_nominal *nominal = dfr_rehearsal_nominal(d->rehearsal);
    double next_s = INFINITY;

    look(d, shown_s(d));
    for (const struct event *e = d->events; e; e = e->next)
        if (e->known && !e->seen)
            next_s = fmin(next_s, e->end_s);
    for (uint32_t i = 0; i < d->n_streams; i++) {
        const struct command *c = next_command(&d->streams[i]);
        if (c && c->kind == TIMED)
            next_s = fmin(next_s, begin_s(d, &d->streams[i], c));
    }
    d->limit_s = next_s;
    d->sleeps = next_s > dfr_nominal_real_s(nominal);
    dfr_rehearsal_expect(d->rehearsal, d->number, next_s);
    return fmax(next_s - dfr_nominal_real_s(nominal), 0) * nominal->scale;
}

static void *blas(struct dfr_device *device, uint32_t stream, struct df_error *error)
{
    (void)device, (void)stream;
    dfr_error(error, DF_E_DEVICE, "a rehearsal calls no kernel");
    return NULL;
}

const struct dfr_device_ops dfr_rehearse_ops = {
    .name = "rehearsed", .runs_cpu_code = true, .results_at_once = true,
    .count = count, .describe = describe, .open = open_device, .close = close_device, .pool = pool,
    .copy = copy, .copy_peer = copy_peer, .connect = connect_peer, .launch = launch,
    .event_create = event_create, .event_destroy = event_destroy, .event_record = event_record,
    .event_query = event_query, .stream_wait = stream_wait, .drain = drain,
    .host_alloc = reserve, .host_free = unreserve, .event_times = event_times, .blas = blas,
    .next_event_s = next_event_s,
};
