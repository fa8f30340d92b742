/* simulate_data.c - the data of a simulation: which memories hold a token, the copies that move it, and the jobs that wait for it. simulate.c, simulate_fire.c
 * and simulate_room.c call it; policies prefetch through struct dfr_view.
 *
 * Copies:   Engines serve in the order of requests, and requests come in the order of time. So the end of a copy is
 *           known when the copy is asked for, unless the host's memory is shared (simulate_share.c). A token goes from
 *           device to device directly if a peer has it and the host does not; else it goes through the host, and stays
 *           there.
 * Sending:  The tokens of a placed policy go to the memories of all their readers as soon as they are produced. For
 *           other policies they go when the policy prefetches for a job, or when a worker takes one. A prefetch sends to
 *           a device what the host has then, as in a run. It waits while many copies to that device are under way
 *           (struct sim_inbox); what a worker loads does not.
 * Put off:  A device that ends a job first sees whether there is room now for the job that it has taken, and asks for that
 *           one's inputs. Only then it looks at what was asked of it meanwhile (gpu/gpu_worker.c). So what the end of its own
 *           job asks it to send to the host is put off if a job waits for room there.
 */
#include <stdlib.h>

#include "memmgr/cache.h"
#include "runtime/base/array.h"
#include "runtime/graph/passes.h"
#include "runtime/simulate/simulate_impl.h"

static void count_copy(struct dfr_simulation *r, uint32_t from, uint32_t to, uint64_t bytes, double time_s)
{
    *(from == 0 ? &r->h2d_bytes : to == 0 ? &r->d2h_bytes : &r->peer_bytes) += bytes;
    *(from == 0 ? &r->h2d_copies : to == 0 ? &r->d2h_copies : &r->peer_copies) += 1;
    (from == 0 ? r->h2d_busy_s : to == 0 ? r->d2h_busy_s : r->peer_busy_s)[from ? from : to] += time_s;
}

/* One copy between the host and a device, or between peers. */
static void copy(struct sim *s, uint32_t block, uint32_t from, uint32_t to)
{
    uint32_t value = block % s->graph->n_values, slot = block / s->graph->n_values, device = from ? from : to;
    uint32_t engine = from && to ? 2 : s->platform->units[device].engines == 1 ? 0 : to != 0;
    uint64_t bytes = s->graph->values[value].bytes;
    double end_s = s->now_s;
    struct dfr_event arrival = { .time_s = end_s, .order = sim_order(s, slot, s->graph->values[value].producer),
                                 .arrives = block, .unit = to, .from = from, .slot = slot, .life = s->blocks[block].life };
    s->blocks[block].coming |= 1u << to;
    s->inboxes[to].n_coming += from == 0;
    if (bytes && sim_shares(s) && !(from && to)) {
        sim_share_copy(s, from, to, sim_wave(s, slot), arrival);
        return;
    }
    if (bytes) {
        double *free_s = &s->engine_free_s[device][engine];
        double start_s = *free_s > s->now_s ? *free_s : s->now_s;
        double time_s = df_platform_copy_s(s->platform, from, to, bytes) * sim_copy_rate(s, value);
        *free_s = end_s = start_s + time_s;
        count_copy(s->result, from, to, sim_copy_bytes(s, value), time_s);
        if (s->result->copied)
            s->result->copied(s->result->arg, from, to, value, sim_wave(s, slot), start_s, end_s);
    }
    arrival.time_s = end_s + (bytes ? df_handover_s(s->platform, from, to) : 0);
    dfr_event_add(&s->events, arrival);
}

/* A copy ends whose end was not known when it was asked for. */
static void end_copy(struct sim *s, const struct dfr_event *event)
{
    struct sim_copy copy = sim_share_copied(s, event);
    uint32_t value = event->arrives % s->graph->n_values;
    count_copy(s->result, copy.from, copy.to, sim_copy_bytes(s, value), s->now_s - copy.begin_s);
    if (s->result->copied)
        s->result->copied(s->result->arg, copy.from, copy.to, value, copy.wave, copy.begin_s, s->now_s);
}

/* Unified devices have the host's memory. */
static uint32_t memory_of(const struct sim *s, uint32_t unit)
{
    return s->on_host >> unit & 1 ? 0 : unit;
}

/* The block's `wanted` has bit 0 meanwhile. */
static void put_off(struct sim *s, uint32_t block)
{
    if (DFR_ARRAY_ROOM(s->put_off, s->n_put_off, s->put_off_capacity))
        s->put_off[s->n_put_off++] = (struct sim_prefetch){ block, s->blocks[block].life };
    else
        s->out_of_memory = true;
    s->blocks[block].wanted |= 1;
}

static bool is_put_off(const struct sim *s, uint32_t from)
{
    return !s->place && from > 0 && from == s->ending && s->rooms[from] && s->rooms[from]->claims;
}

void sim_request_put_off(struct sim *s)
{
    for (uint32_t i = 0; i < s->n_put_off; i++) {
        struct sim_block *b = &s->blocks[s->put_off[i].block];
        if (b->life != s->put_off[i].life || !(b->wanted & 1))
            continue;
        b->wanted &= ~1u;
        sim_request(s, s->put_off[i].block, 0);
    }
    s->n_put_off = 0;
}

void sim_request(struct sim *s, uint32_t block, uint32_t unit)
{
    struct sim_block *b = &s->blocks[block];
    unit = memory_of(s, unit);
    if ((b->valid | b->coming | b->wanted) >> unit & 1)
        return;
    if (unit == 0 && is_put_off(s, (uint32_t)__builtin_ctz(b->valid))) {
        put_off(s, block);
    } else if (unit == 0) {
        copy(s, block, (uint32_t)__builtin_ctz(b->valid), 0);
    } else if (b->valid & 1) {
        copy(s, block, 0, unit);
    } else if (b->valid & s->peers[unit]) {
        copy(s, block, (uint32_t)__builtin_ctz(b->valid & s->peers[unit]), unit);
    } else {
        b->wanted |= 1u << unit;
        sim_request(s, block, 0);
    }
}

/* ---- jobs that wait ---- */

/* Tells a job of a token. If this releases the job, nothing else is done for it: the job asks for what it loads
 * afterwards. */
static void tell(struct sim *s, uint32_t slot, uint32_t node, uint32_t unit, bool release, uint32_t by)
{
    struct sim_job *job = sim_job(s, slot, node);
    if (release) {
        sim_release(s, slot, node, by);
        return;
    }
    if (job->state != SIM_LOADING || job->unit != unit || --job->missing)
        return;
    job->state = SIM_LOADED;
    if (job->worker == DF_NONE)
        sim_event_end(s, slot, node, s->now_s);
}

/* Is it an acc's block, whose readers wait for the last wave? */
static bool still_changes(const struct sim *s, uint32_t block)
{
    return !s->final && df_value_is_acc(s->graph, block % s->graph->n_values);
}

/* An acc has come to the memory of `unit`. One job at most waits for it. */
static void tell_changer(struct sim *s, uint32_t block, uint32_t unit, uint32_t by)
{
    for (uint32_t i = 0; i < s->inflight; i++)
        tell(s, i, s->graph->values[block % s->graph->n_values].producer, unit, false, by);
}

/* Tells the readers of a block that it is in the memory of `unit`. With `release`, readers that were not released are:
 * those whose place is `unit`; all, if the policy is not placed. A once value may come to a further memory because
 * later waves are placed there; for that, only readers of the first waves waited. */
static void tell_readers(struct sim *s, uint32_t block, uint32_t unit, bool release, uint32_t by)
{
    const struct df_value *value = &s->graph->values[block % s->graph->n_values];
    uint32_t slot = block / s->graph->n_values, last = s->inflight < s->waves ? s->inflight : s->waves;
    if (still_changes(s, block)) {
        tell_changer(s, block, unit, by);
        return;
    }
    for (uint32_t r = value->first_reader; r < value->first_reader + value->n_readers; r++) {
        uint32_t node = s->graph->readers[r].node;
        uint32_t first = slot, end = slot + 1;
        if (slot == s->inflight && !sim_is_once(s, node)) {
            first = 0;                  /* a once value has readers in every slot */
            end = last;
        }
        for (uint32_t i = first; i < end; i++) {
            bool waits = slot != s->inflight || sim_is_once(s, node) || s->wave[i] == (int64_t)i;
            tell(s, i, node, unit, release && waits && (!s->place || sim_place(s, i, node) == unit), by);
        }
    }
}

/* ---- production and arrival ---- */

static uint32_t reader_units(const struct sim *s, uint32_t slot, const struct df_value *value)
{
    uint32_t units = 0;
    for (uint32_t r = value->first_reader; r < value->first_reader + value->n_readers; r++)
        units |= sim_passes_over(s, slot, s->graph->readers[r].node)
                     ? 1u : s->policy->units(s->policy_state, slot, s->graph->readers[r].node);
    return units;
}

/* If the memory is full, the readers there are released at once, and load the token when they are taken. */
static void send(struct sim *s, uint32_t block, uint32_t unit, uint32_t by)
{
    struct sim_block *b = &s->blocks[block];
    if (sim_room_prefetch(s, unit, block)) {
        sim_request(s, block, unit);
    } else if (!(b->released >> unit & 1)) {
        b->released |= 1u << unit;
        tell_readers(s, block, unit, true, by);
    }
}

/* Sends on towards the other memories in which a placed policy has readers. */
static void send_on(struct sim *s, uint32_t block, uint32_t unit, uint32_t by)
{
    struct sim_block *b = &s->blocks[block];
    uint32_t others = reader_units(s, block / s->graph->n_values, &s->graph->values[block % s->graph->n_values]), now;
    others &= ~(b->valid | b->coming | b->released);
    now = unit == 0 ? others : unit == b->home ? others & s->peers[unit] : 0;
    if (unit == b->home && unit != 0 && others & ~now)
        sim_request(s, block, 0);       /* and from there on to the others */
    for (uint32_t u = 1; u < s->n_units; u++)
        if (now >> u & 1)
            send(s, block, u, by);
}

void sim_send_to(struct sim *s, uint32_t block, uint32_t unit)
{
    const struct sim_block *b = &s->blocks[block];
    if ((b->valid | b->coming | b->released) >> unit & 1)
        return;
    if (b->valid & 1 || b->valid & s->peers[unit])
        send(s, block, unit, DFR_NOBODY);
    else if (b->valid)
        sim_request(s, block, 0);       /* and from there on to the others */
}

/* The bytes are in the memory of `unit`: they were produced there, or copied. All units with this memory learn it. Readers
 * that have no place are released by the first of them. */
static void arrive(struct sim *s, uint32_t block, uint32_t unit, bool produced, uint32_t by)
{
    struct sim_block *b = &s->blocks[block];
    uint32_t units = unit == 0 ? s->on_host : 1u << unit, known = b->released;
    b->valid |= units;
    b->coming &= ~units;
    b->released |= units;
    sim_room_arrived(s, block, unit);
    for (uint32_t u = unit; units >> u; u++)
        if (units >> u & 1)
            tell_readers(s, block, u, s->place ? !(known >> u & 1) : produced && u == unit, by);
    if (unit == 0)
        for (uint32_t u = 1; b->wanted >> u; u++)
            if (b->wanted >> u & 1) {
                b->wanted &= ~(1u << u);
                copy(s, block, 0, u);
            }
    if (s->place && !s->begins && !still_changes(s, block))
        send_on(s, block, unit, by);
}

/* ---- prefetches ---- */

uint32_t sim_most_ahead(const struct df_graph *graph)
{
    uint32_t most = 0;
    for (uint32_t v = 0; v < graph->n_nodes; v++) {
        uint32_t n = df_node_n_in(graph, v) + df_node_n_out(graph, v);
        most = n > most ? n : most;
    }
    return dfm_link_capacity(most) / 2;
}

static void wait_for_link(struct sim *s, uint32_t block, uint32_t unit)
{
    struct sim_inbox *in = &s->inboxes[unit];
    if (DFR_ARRAY_ROOM(in->waiting, in->n, in->capacity))
        in->waiting[in->n++] = (struct sim_prefetch){ block, s->blocks[block].life };
    else
        s->out_of_memory = true;
}

/* Only what the host has waits. What another device has is asked for there. */
static void prefetch(struct sim *s, uint32_t block, uint32_t unit)
{
    if (unit > 0 && s->blocks[block].valid & 1 && s->inboxes[unit].n_coming > s->most_ahead)
        wait_for_link(s, block, unit);
    else if (sim_room_prefetch(s, unit, block))
        sim_request(s, block, unit);
}

static void prefetch_waiting(struct sim *s, uint32_t unit)
{
    struct sim_inbox *in = &s->inboxes[unit];
    while (in->first < in->n && in->n_coming <= s->most_ahead) {
        struct sim_prefetch next = in->waiting[in->first++];
        const struct sim_block *b = &s->blocks[next.block];
        if (b->life == next.life && !((b->valid | b->coming | b->wanted) >> unit & 1))
            prefetch(s, next.block, unit);
    }
    if (in->first == in->n)
        in->first = in->n = 0;
}

void sim_copied(struct sim *s, const struct dfr_event *event)
{
    bool to_device = event->unit > 0 && event->from == 0;
    struct dfr_event arrival = *event;
    arrival.time_s += df_handover_s(s->platform, event->from, event->unit);
    arrival.engine = false;
    if (event->engine)
        end_copy(s, event);
    if (event->engine && arrival.time_s > s->now_s) {
        dfr_event_add(&s->events, arrival);
        return;
    }
    if (s->blocks[event->arrives].life == event->life)
        arrive(s, event->arrives, event->unit, false, DFR_NOBODY);
    if (to_device) {
        s->inboxes[event->unit].n_coming--;
        prefetch_waiting(s, event->unit);
    }
}

/* A job has changed an acc. After its last wave a part goes to the host at once. */
static void change(struct sim *s, uint32_t slot, uint32_t value, uint32_t unit)
{
    uint32_t block = sim_block_of(s, value, slot);
    struct sim_block *b = &s->blocks[block];
    uint32_t memory = memory_of(s, unit);
    *b = (struct sim_block){ .valid = memory == 0 ? s->on_host : 1u << memory, .life = b->life + 1, .home = memory };
    sim_room_changed(s, block, memory);
    if (s->overlap && s->wave[slot] % s->stride == s->pass_waves - 1 && dfr_acc_is_gathered(s->graph, value))
        sim_request(s, block, 0);
}

void sim_begin_accs(struct sim *s)
{
    for (uint32_t y = 0; y < s->graph->n_values; y++)
        if (df_value_is_acc(s->graph, y))
            s->blocks[sim_block_of(s, y, 0)].valid = (1u << s->n_units) - 1; /* each memory makes it by itself */
}

/* The acc's readers learn of it in each memory that has it. */
static void begin_final(struct sim *s, uint32_t value)
{
    uint32_t block = sim_block_of(s, value, 0), rest;
    struct sim_block *b = &s->blocks[block];
    b->left = s->graph->values[value].n_readers;
    b->released = 0;
    b->home = (uint32_t)__builtin_ctz(b->valid);
    for (rest = b->valid & 1 ? b->valid & ~s->on_host : b->valid; rest; rest &= rest - 1)
        if ((uint32_t)__builtin_ctz(rest) != b->home)
            arrive(s, block, (uint32_t)__builtin_ctz(rest), false, DFR_NOBODY);
    arrive(s, block, b->home, true, DFR_NOBODY);
}

void sim_begin_final(struct sim *s)
{
    for (uint32_t y = 0; y < s->graph->n_values; y++)
        if (df_value_is_acc(s->graph, y)) {
            s->final = s->began = true;
            begin_final(s, y);
        }
}

void sim_produce(struct sim *s, uint32_t slot, uint32_t node, uint32_t unit, uint32_t by)
{
    const struct df_graph *g = s->graph;
    uint32_t first = g->nodes[node].first_out;
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++) {
        uint32_t block = slot * g->n_values + y;
        struct sim_block *b = &s->blocks[block];
        if (df_value_is_acc(g, y)) {
            if (!sim_passes_over(s, slot, node))
                change(s, slot, y, unit);
            continue;
        }
        *b = (struct sim_block){ .left = g->values[y].n_readers, .life = b->life + 1, .home = memory_of(s, unit) };
        arrive(s, block, memory_of(s, unit), true, by);
        if (!b->left && slot != s->inflight)
            sim_drop(s, block);
    }
}

void sim_drop(struct sim *s, uint32_t block)
{
    struct sim_block *b = &s->blocks[block];
    sim_room_dropped(s, block);
    *b = (struct sim_block){ .life = b->life + 1 };
}

/* ---- what jobs ask for ---- */

void sim_load(struct sim *s, uint64_t key)
{
    const struct df_graph *g = s->graph;
    uint32_t node = dfr_job_node(key), slot = dfr_job_slot(key);
    struct sim_job *job = sim_job(s, slot, node);
    job->missing = 0;
    for (uint32_t k = 0; k < (sim_passes_over(s, slot, node) ? df_node_n_in(g, node) : df_node_n_needs(g, node)); k++) {
        uint32_t block = sim_block_of(s, df_node_need(g, node, k), slot);
        if (s->blocks[block].valid >> job->unit & 1)
            continue;
        job->missing++;
        sim_request(s, block, job->unit);
    }
    job->state = job->missing ? SIM_LOADING : SIM_LOADED;
}

uint32_t sim_holders(void *arg, uint64_t job, uint32_t k)
{
    struct sim *s = arg;
    const struct df_graph *g = s->graph;
    return s->blocks[sim_block_of(s, df_node_need(g, dfr_job_node(job), k), dfr_job_slot(job))].valid;
}

bool sim_settled(void *arg, uint64_t job, uint32_t unit)
{
    struct sim *s = arg;
    for (uint32_t k = 0; k < df_node_n_needs(s->graph, dfr_job_node(job)); k++)
        if (!(sim_holders(s, job, k) >> unit & 1))
            return false;
    return true;
}

bool sim_prefetch(void *arg, uint64_t job, uint32_t unit)
{
    struct sim *s = arg;
    const struct df_graph *g = s->graph;
    uint32_t node = dfr_job_node(job), slot = dfr_job_slot(job);
    bool in_place = s->place && sim_place(s, slot, node) == unit; /* inputs are there already: they released the job */
    for (uint32_t k = in_place ? df_node_n_in(g, node) : 0; k < df_node_n_needs(g, node); k++) {
        uint32_t block = sim_block_of(s, df_node_need(g, node, k), slot);
        const struct sim_block *b = &s->blocks[block];
        if (!((b->valid | b->coming | b->wanted) >> unit & 1) && (unit == 0 || b->valid & 1))
            prefetch(s, block, unit);   /* what only another device has is asked for when the job is taken: dfr_prefetch() */
    }
    return false;                       /* its worker waits for what is under way */
}
