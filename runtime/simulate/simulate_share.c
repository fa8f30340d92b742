/* simulate_share.c - processor sharing in virtual time, for simulate.c and simulate_data.c: jobs and copies that share the bandwidth of the host's memory, and
 * the host's cores with emulated devices (model in simulate.h).
 *
 * Rates:    whenever the set of jobs and copies in progress has changed at a moment, each one's stretch is recomputed from the sums of all needs. If it
 *           changes, the rest of the item proceeds at the new rate. Its end is stored, so that repeated evaluation gives the same value.
 * Ends:     are not in the event heap, since they move. They become events at the moment at which they fall.
 * Engines:  a copy's end is not known when the copy is asked for. So each engine has a queue, and begins the next copy
 *           when the one before it has arrived. Copies between peers do not touch the host's memory, and stay as they
 *           are without sharing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/simulate/simulate_impl.h"

#include "runtime/base/array.h"

/* ---- items ---- */

int sim_share_create(struct sim *s)
{
    struct sim_sharing *share = &s->sharing;
    share->next_s = INFINITY;
    share->shortage = (struct df_shortage){ 1, 1 };
    if (!dfr_times_shared(s->times, s->platform))
        return DF_OK;
    if (dfr_times_share_memory(s->times, s->platform))
        share->bytes_per_s = s->platform->units[0].memory_bytes_per_s;
    share->cores = s->platform->units[0].cores;
    share->items = malloc((s->n_workers + 2 * (size_t)s->n_units) * sizeof *share->items);
    return share->items ? DF_OK : DF_E_MEMORY;
}

void sim_share_destroy(struct sim *s)
{
    free(s->sharing.items);
    for (uint32_t u = 0; u < s->n_units; u++)
        for (int way = 0; way < 2; way++)
            free(s->sharing.engines[u][way].copies);
}

/* Adds the time since the last change to the mean shortage. */
static void count_shortage(struct sim_sharing *share, double now_s)
{
    double item_s = share->n * (now_s - share->changed_s);
    share->item_s += item_s;
    share->short_s.memory += item_s * share->shortage.memory;
    share->short_s.cores += item_s * share->shortage.cores;
    share->changed_s = now_s;
}

void sim_share_begin(struct sim *s, double time_s, const struct sim_need *need, const struct dfr_event *event)
{
    struct sim_sharing *share = &s->sharing;
    count_shortage(share, s->now_s);
    share->items[share->n++] = (struct sim_share){ .left_s = time_s, .since_s = s->now_s, .need = *need,
                                                   .event = *event };
    share->changed = true;
}

void sim_share_ends(struct sim *s)
{
    struct sim_sharing *share = &s->sharing;
    uint32_t n = 0;
    if (share->next_s > s->now_s)
        return;
    count_shortage(share, s->now_s);
    for (uint32_t i = 0; i < share->n; i++) {
        struct sim_share *item = &share->items[i];
        if (item->end_s > s->now_s) {
            share->items[n++] = *item;
            continue;
        }
        item->event.time_s = s->now_s;
        dfr_event_add(&s->events, item->event);
    }
    share->n = n;
    share->changed = true;
    share->next_s = INFINITY;
}

static struct df_shortage find_shortage(const struct sim_sharing *share)
{
    double bytes_per_s = 0, cores = 0;
    for (uint32_t i = 0; i < share->n; i++) {
        bytes_per_s += share->items[i].need.memory.bytes_per_s;
        cores += share->items[i].need.computes * share->items[i].need.threads;
    }
    return (struct df_shortage){ share->bytes_per_s > 0 ? fmax(1, bytes_per_s / share->bytes_per_s) : 1,
                                 share->cores > 0 ? fmax(1, cores / share->cores) : 1 };
}

void sim_share_rate(struct sim *s)
{
    struct sim_sharing *share = &s->sharing;
    if (!share->changed)
        return;
    share->shortage = find_shortage(share);
    share->next_s = INFINITY;
    for (uint32_t i = 0; i < share->n; i++) {
        struct sim_share *item = &share->items[i];
        double stretch = dfr_stretch(&item->need.memory, item->need.computes, &share->shortage);
        if (stretch != item->stretch) {
            if (item->stretch > 0)      /* it is 0 until the item is rated for the first time */
                item->left_s = fmax(0, item->left_s - (s->now_s - item->since_s) / item->stretch);
            item->since_s = s->now_s;
            item->stretch = stretch;
            item->end_s = s->now_s + item->left_s * stretch;
        }
        share->next_s = fmin(share->next_s, item->end_s);
    }
    share->changed = false;
}

struct df_shortage sim_share_mean_shortage(const struct sim *s)
{
    const struct sim_sharing *share = &s->sharing;
    if (!(share->item_s > 0))
        return (struct df_shortage){ 1, 1 };
    return (struct df_shortage){ share->short_s.memory / share->item_s, share->short_s.cores / share->item_s };
}

/* ---- copies ---- */

static struct sim_engine *engine_of(struct sim *s, uint32_t from, uint32_t to)
{
    uint32_t device = from ? from : to;
    return &s->sharing.engines[device][s->platform->units[device].engines == 1 ? 0 : to != 0];
}

/* Latency does not draw from memory; the rest does, at the rate of the link. A device's memory is the host's if the
 * device is emulated: then the copy reads and writes there, and a core does it as fast as its part of the bandwidth
 * allows. It waits for the rest of the link's time. */
static struct sim_need need_of_copy(const struct sim *s, uint64_t bytes, double time_s, double latency_s)
{
    double rate = (double)bytes / time_s, host_rate = s->platform->units[0].memory_bytes_per_s;
    struct sim_need need = { .threads = 1 };
    if (time_s > latency_s)
        need.memory = (struct df_demand){ (s->sharing.cores ? 2 : 1) * rate, (time_s - latency_s) / time_s };
    if (s->sharing.cores)
        need.computes = host_rate > 0 ? fmin(1, 2 * rate / (host_rate / s->sharing.cores)) : 1;
    return need;
}

static void begin_copy(struct sim *s, struct sim_engine *engine)
{
    struct sim_copy *copy = &engine->copies[engine->first];
    const struct df_unit *unit = &s->platform->units[copy->from ? copy->from : copy->to];
    uint32_t value = copy->event.arrives % s->graph->n_values;
    uint64_t bytes = s->graph->values[value].bytes;
    double time_s = df_platform_copy_s(s->platform, copy->from, copy->to, bytes);
    double latency_s = copy->from ? unit->d2h.latency_s : unit->h2d.latency_s;
    struct sim_need need = need_of_copy(s, bytes, time_s, latency_s);
    copy->begin_s = s->now_s;
    sim_share_begin(s, time_s * sim_copy_rate(s, value), &need, &copy->event);
}

void sim_share_copy(struct sim *s, uint32_t from, uint32_t to, uint32_t wave, struct dfr_event event)
{
    struct sim_engine *engine = engine_of(s, from, to);
    if (!DFR_RING_ROOM(engine->copies, engine->first, engine->n, engine->capacity)) {
        s->out_of_memory = true;
        return;
    }
    event.engine = true;
    event.from = from;
    engine->copies[(engine->first + engine->n++) % engine->capacity] =
        (struct sim_copy){ .from = from, .to = to, .wave = wave, .event = event };
    if (engine->n == 1)
        begin_copy(s, engine);
}

struct sim_copy sim_share_copied(struct sim *s, const struct dfr_event *event)
{
    struct sim_engine *engine = engine_of(s, event->from, event->unit);
    struct sim_copy copy = engine->copies[engine->first];
    engine->first = (engine->first + 1) % engine->capacity;
    if (--engine->n)
        begin_copy(s, engine);
    return copy;
}
