/* simulate_fire.c - the firing rule of a simulation, for simulate.c and simulate_data.c, as engine/engine.c implements it for threads: which job is ready when,
 * with several waves in flight, and what the end of a job releases.
 *
 * Needs:    A job needs a release for each input (placed policies: when the input is in the unit's memory). The job of
 *           a source needs the beginning of its wave. Jobs of `ordered`, `stream` and depth-bounded nodes need the end
 *           of the same node's job of the wave before. With @depth(n), n < inflight, a job needs for each output that
 *           is read that all readers have read the wave n before.
 * Final:    When the last wave has ended, the values of accs are there for their readers, as if they were made then. A job
 *           that changes an acc needs it in its unit's memory, but waits for it when it is taken.
 * Once:     What fires once is part of the first waves. Jobs of these waves wait for the values that they read, not for
 *           all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/simulate/simulate_impl.h"

/* ---- needs ---- */

static uint32_t read_outputs(const struct df_graph *g, uint32_t node)
{
    uint32_t n = 0, first = g->nodes[node].first_out;
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        n += g->values[y].n_readers > 0 && !df_value_is_acc(g, y);
    return n;
}

static bool is_bounded(const struct sim *s, uint32_t node)
{
    uint32_t depth = s->graph->nodes[node].depth;
    return depth && depth < s->inflight && !sim_is_once(s, node) && read_outputs(s->graph, node) > 0;
}

static bool is_in_order(const struct sim *s, uint32_t node)
{
    const struct df_kernel *kernel = &s->graph->kernels[s->graph->nodes[node].kernel];
    return !sim_is_once(s, node) && (df_kernel_in_order(kernel) || is_bounded(s, node));
}

static uint32_t once_inputs(const struct sim *s, uint32_t node)
{
    const struct df_graph *g = s->graph;
    uint32_t n = 0;
    for (uint32_t k = 0; k < df_node_n_in(g, node); k++)
        n += df_value_is_once(g, g->in_value[g->nodes[node].first_in + k]);
    return n;
}

/* Releases that the job needs in any wave but the first of its slot; once values are there by then. */
/* Does the node fire in each wave, and is nothing that it reads made in that wave? Then it waits for the wave's
 * beginning. It is a source, or the copy of a once value for a node that changes it. */
static bool begins_with_wave(const struct sim *s, uint32_t node)
{
    return !sim_is_once(s, node) && once_inputs(s, node) == df_node_n_in(s->graph, node);
}

static uint32_t later_need(const struct sim *s, uint32_t node)
{
    uint32_t n_in = df_node_n_in(s->graph, node);
    if (sim_is_once(s, node))
        return n_in;
    return (begins_with_wave(s, node) ? 1 : n_in - once_inputs(s, node)) + is_in_order(s, node) +
           (is_bounded(s, node) ? read_outputs(s->graph, node) : 0);
}

static uint32_t first_need(const struct sim *s, uint32_t slot, uint32_t node)
{
    uint32_t need = s->need[node];
    if (sim_is_once(s, node))
        return need;
    if (is_in_order(s, node) && slot == 0)
        need--;
    if (is_bounded(s, node) && slot < s->graph->nodes[node].depth)
        need -= read_outputs(s->graph, node);
    return need + once_inputs(s, node);
}

int sim_fire_create(struct sim *s, struct df_error *error)
{
    size_t n_nodes = s->graph->n_nodes;
    s->jobs = calloc((n_nodes + 1) * (s->inflight + 1), sizeof *s->jobs);
    s->need = malloc((n_nodes + 1) * sizeof *s->need);
    s->wave = calloc(s->inflight + 1, sizeof *s->wave);
    s->wave_left = calloc(s->inflight + 1, sizeof *s->wave_left);
    if (!s->jobs || !s->need || !s->wave || !s->wave_left)
        return dfr_error_memory(error);
    for (uint32_t v = 0; v < n_nodes; v++) {
        s->need[v] = later_need(s, v);
        s->n_once += sim_is_once(s, v);
    }
    s->n_wave_nodes = s->graph->n_nodes - s->n_once;
    for (uint32_t slot = 0; slot <= s->inflight; slot++)
        for (uint32_t v = 0; v < n_nodes; v++) {
            struct sim_job *job = sim_job(s, slot, v);
            job->pending = first_need(s, slot, v);
            job->worker = DF_NONE;
        }
    return dfr_resources_create(s->graph, s->inflight + 1, &s->resources, error);
}

/* ---- readiness ---- */

static void list_ready(struct sim *s, uint32_t slot, uint32_t node, uint32_t by)
{
    if (DFR_ARRAY_ROOM(s->ready, s->n_ready, s->ready_capacity))
        s->ready[s->n_ready++] = (struct sim_ready){ sim_order(s, slot, node), dfr_job(slot, node), by };
    else
        s->out_of_memory = true;
}

/* A job that costs nothing takes no worker. It is on the host if it can be, and ends when its inputs are there. */
static void run_free(struct sim *s, uint32_t slot, uint32_t node)
{
    struct sim_job *job = sim_job(s, slot, node);
    job->unit = sim_passes_over(s, slot, node) ? 0
                : s->place ? (uint8_t)sim_place(s, slot, node) : (uint8_t)__builtin_ctz(s->able[node]);
    job->worker = DF_NONE;
    if (!sim_passes_over(s, slot, node))
        sim_room_claim(s, job->unit, dfr_job(slot, node), true);
    sim_load(s, dfr_job(slot, node));
    if (job->state != SIM_LOADED)
        return;
    if (s->begins && slot == s->begin_slot && df_node_n_in(s->graph, node) == 0 && !sim_passes_over(s, slot, node))
        sim_job_ends(s, slot, node);    /* its output was there before the wave */
    else
        sim_event_end(s, slot, node, s->now_s);
}

static void become_ready(struct sim *s, uint32_t slot, uint32_t node, uint32_t by)
{
    if (sim_is_free(s, node) || sim_passes_over(s, slot, node))
        run_free(s, slot, node);
    else if (!s->resources || dfr_resources_take(s->resources, dfr_job(slot, node)))
        list_ready(s, slot, node, by);
}

/* Gives back what the job used, and lists those that waited for it. */
static void give_resources(struct sim *s, uint64_t job, uint32_t by)
{
    dfr_resources_give(s->resources, job);
    while ((job = dfr_resources_next(s->resources)) != DFR_NO_WAITER)
        list_ready(s, dfr_job_slot(job), dfr_job_node(job), by);
}

void sim_release(struct sim *s, uint32_t slot, uint32_t node, uint32_t by)
{
    struct sim_job *job = sim_job(s, slot, node);
    if (--job->pending)
        return;
    job->pending = s->need[node];
    become_ready(s, slot, node, by);
}

static int by_order(const void *a, const void *b)
{
    const struct sim_ready *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Gives jobs to the policy in the order of release; if a wave began, in the order of nodes. A job never stays with the
 * worker that released it: queues cost nothing here, and whoever is idle takes the job. */
void sim_give_ready(struct sim *s)
{
    uint32_t n = s->n_ready, units;
    if (s->began && n > 1)
        qsort(s->ready, n, sizeof *s->ready, by_order);
    s->began = false;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t job = s->ready[i].job;
        sim_job(s, dfr_job_slot(job), dfr_job_node(job))->state = SIM_QUEUED;
        s->policy->push(s->policy_state, job, s->ready[i].by, false, &units);
        s->n_queued++;
    }
    s->n_ready = 0;
}

/* ---- waves ---- */

/* Sends the initial data that the nodes of a slot read, for the most urgent node first. Once nodes are served with the
 * first slot. */
static void send_initial(struct sim *s, uint32_t slot)
{
    const struct df_graph *g = s->graph;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        uint32_t v = s->urgent[i];
        const uint32_t *in = g->in_value + g->nodes[v].first_in;
        if (sim_is_once(s, v) && s->now_s > 0)
            continue;
        for (uint32_t k = 0; k < df_node_n_in(g, v); k++) {
            uint32_t producer = g->values[in[k]].producer;
            if (sim_is_free(s, producer) && df_node_n_in(g, producer) == 0 && !df_value_is_acc(g, in[k]))
                sim_send_to(s, sim_block_of(s, in[k], slot), sim_place(s, slot, v));
        }
    }
}

/* Writes down where a placed policy has the nodes of the wave that is now in the slot. */
static void place_slot(struct sim *s, uint32_t slot)
{
    for (uint32_t v = 0; s->place && v < s->graph->n_nodes; v++)
        s->place[(size_t)slot * s->graph->n_nodes + v] =
            sim_passes_over(s, slot, v) ? 0 : (uint8_t)__builtin_ctz(s->policy->units(s->policy_state, slot, v));
}

/* Begins a wave. A wave that only makes initial data ends at once, and the wave after it begins. */
static void begin_wave(struct sim *s, uint32_t slot, int64_t wave)
{
    const struct df_graph *g = s->graph;
    do {
        s->wave[slot] = wave;
        place_slot(s, slot);
        s->wave_left[slot] = s->n_wave_nodes;
        s->begins = s->began = true;
        s->begin_slot = slot;
        for (uint32_t v = 0; v < g->n_nodes; v++)
            if (begins_with_wave(s, v))
                sim_release(s, slot, v, DFR_NOBODY);
        s->begins = false;
        wave += s->inflight;
        s->waves_ended += s->wave_left[slot] == 0;
    } while (s->wave_left[slot] == 0 && wave < (int64_t)s->waves);
    if (s->place)
        send_initial(s, slot);
}

void sim_fire_start(struct sim *s)
{
    for (uint32_t slot = 0; slot <= s->inflight; slot++) {
        s->wave[slot] = slot;           /* a once value may be told to a slot before the slot's wave begins */
        place_slot(s, slot);
    }
    sim_begin_accs(s);
    s->begins = s->began = true;
    s->begin_slot = s->inflight;
    for (uint32_t v = 0; v < s->graph->n_nodes; v++)
        if (sim_is_once(s, v) && s->need[v] == 0)
            become_ready(s, s->inflight, v, DFR_NOBODY);
    s->begins = false;
    for (uint32_t slot = 0; slot < s->inflight && slot < s->waves && s->n_wave_nodes; slot++)
        begin_wave(s, slot, slot);
    if (s->place && s->n_wave_nodes == 0)
        send_initial(s, 0);
}

/* ---- the end of a job ---- */

static void give_back(struct sim *s, uint32_t slot, uint32_t value, uint32_t by)
{
    uint32_t producer = s->graph->values[value].producer, block = sim_block_of(s, value, slot);
    if (sim_is_once(s, producer) || --s->blocks[block].left)
        return;                         /* once values stay */
    sim_drop(s, block);
    if (is_bounded(s, producer) && slot != s->inflight)
        sim_release(s, (uint32_t)((s->wave[slot] + s->graph->nodes[producer].depth) % s->inflight), producer, by);
}

static void record(struct sim *s, uint32_t slot, uint32_t node)
{
    const struct sim_job *job = sim_job(s, slot, node);
    if (!sim_is_recorded(s, slot) || sim_passes_over(s, slot, node))
        return;
    if (s->result->place)
        s->result->place[node] = job->unit;
    if (s->result->end_s)
        s->result->end_s[node] = s->now_s;
    if (s->result->start_s && job->worker == DF_NONE)
        s->result->start_s[node] = s->now_s;
    if (s->result->worker)
        s->result->worker[node] = job->worker;
}

void sim_job_ends(struct sim *s, uint32_t slot, uint32_t node)
{
    const struct df_graph *g = s->graph;
    struct sim_job *job = sim_job(s, slot, node);
    uint32_t unit = job->unit, worker = job->worker, by = worker == DF_NONE ? DFR_NOBODY : worker;
    s->done++;
    s->result->makespan_s = s->now_s;
    record(s, slot, node);
    const bool over = sim_passes_over(s, slot, node);
    if (worker == DF_NONE && s->result->passed && !over)
        s->result->passed(s->result->arg, unit, node, sim_wave(s, slot), s->now_s);
    job->state = SIM_WAITING;
    if (s->resources && !over && !sim_is_free(s, node))
        give_resources(s, dfr_job(slot, node), by);
    if (!over)
        sim_room_release(s, unit, dfr_job(slot, node));
    sim_produce(s, slot, node, unit, by);
    for (uint32_t k = 0; k < df_node_n_in(g, node); k++)
        give_back(s, slot, g->in_value[g->nodes[node].first_in + k], by);
    if (s->policy->done && worker != DF_NONE)
        s->policy->done(s->policy_state, dfr_job(slot, node), worker);
    if (slot == s->inflight)
        return;
    if (is_in_order(s, node))
        sim_release(s, (uint32_t)((s->wave[slot] + 1) % s->inflight), node, by);
    if (--s->wave_left[slot] > 0 || s->begins)
        return;
    s->waves_ended++;
    for (uint32_t i = 0; i < g->n_live; i++)
        dfr_frames_wave_ended(&s->frames[i], slot, s->now_s);
    if (s->wave[slot] + s->inflight < (int64_t)s->waves)
        begin_wave(s, slot, s->wave[slot] + s->inflight);
    else if (s->waves_ended == s->waves)
        sim_begin_final(s);
}
