/* evaluate.c - the evaluator: simulates one wave under a static placement in virtual time, and so predicts the makespan that a plan states. Planners,
 * partition/planner/plan_report.c, --emit=plan and `dfc explain` call it.
 *
 * Model:    the workers of a memory take the ready job of the highest priority, and never idle while a job is ready. A
 *           value is sent the moment it is produced, once to every memory that has a reader. From device to device it
 *           goes directly between peers. Else it goes through the host and stays there, too. Each device has a copy
 *           engine per direction, or one for both, and one more for what it sends to peers. Engines serve first come
 *           first served. A copy's data is there the hand-over time of its device after the copy has ended.
 * Events:   a job ends, or a copy arrives. Engines serve in order of request, and requests come in order of time. So
 *           the end of a copy is known when it is asked for. Events of one moment are taken in order of the node that
 *           caused them, then in the order in which they were made. Workers choose only after all events of that
 *           moment. The answer depends on nothing else.
 * Time 0:   the values of nodes without cost and without inputs are there before time 0. Of these values, those that
 *           the most urgent reader needs are sent first (highest priority, then lowest number).
 * Accs:     their values are sent when the wave has ended, and final nodes are jobs of it, too.
 * Once:     this wave is the first of a run, so nodes that fire once a run are jobs of it like the others.
 * Sharing:  if jobs share the bandwidth of the host's memory (runtime/simulate/simulate.h), or resources, the simulator gives the makespan
 *           and the units' busy times. The counts are the same.
 * Cost:     O((n + m) log n) time; no recursion; scratch arrays and a heap of events.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/model/model.h"
#include "partition/model/urgent.h"
#include "runtime/base/error.h"
#include "runtime/simulate/events.h"
#include "runtime/simulate/simulate.h"

struct simulation {
    struct dfp_model model;
    const struct df_graph *graph;
    const struct df_platform *platform;
    const uint16_t *place;
    const float *priority;              /* NULL: jobs go by number */
    struct dfp_evaluation *result;
    uint32_t *missing;                  /* inputs of a node that are not yet in its memory */
    uint32_t *reader_units;             /* of a value: bit u, a reader is on unit u */
    uint32_t *sent;                     /* of an initial value: bit u, its copy to or from unit u is asked for */
    struct dfp_urgents ready[DF_MAX_UNITS]; /* jobs of one memory whose inputs are all there */
    struct dfp_urgents first_readers;   /* readers of initial values, until those values are sent */
    uint32_t free_workers[DF_MAX_UNITS];
    uint32_t peers[DF_MAX_UNITS];
    double engine_free_s[DF_MAX_UNITS][3];
    struct dfr_event_queue events;
    uint32_t done, wave_left;           /* nodes that have ended; nodes of the wave that have not */
};

/* At time_s `node` ends (value DF_NONE), or its value arrives in the memory of `unit`. */
static void event_push(struct simulation *s, double time_s, uint32_t node, uint32_t value, uint32_t unit)
{
    dfr_event_add(&s->events, (struct dfr_event){ .time_s = time_s, .order = node, .arrives = value, .unit = unit });
}

static void ready_push(struct simulation *s, struct dfp_urgents *ready, uint32_t node)
{
    dfp_urgents_push(ready, s->priority ? (double)s->priority[node] : 0, node);
}

/* ---- what happens ---- */

static void become_ready(struct simulation *s, uint32_t node, double now_s)
{
    if (dfp_node_is_free(s->graph, node))
        event_push(s, now_s, node, DF_NONE, 0); /* it takes no worker and ends at once */
    else
        ready_push(s, &s->ready[s->place[node]], node);
}

/* Copies the value from the host to `device`, or back (to_device false). Its arrival is an event. A unified device has the
 * host's memory, so there is nothing to be copied. */
static void copy(struct simulation *s, uint32_t value, uint32_t device, bool to_device, double now_s)
{
    const struct df_unit *unit = &s->platform->units[device];
    uint64_t bytes = unit->unified ? 0 : s->graph->values[value].bytes;
    double end_s = now_s;
    if (bytes) {
        double *free_s = &s->engine_free_s[device][unit->engines == 1 ? 0 : to_device];
        double start_s = *free_s > now_s ? *free_s : now_s;
        *free_s = end_s = start_s + df_link_time_s(to_device ? &unit->h2d : &unit->d2h, bytes);
        if (to_device) {
            s->result->h2d_bytes += bytes;
            s->result->h2d_copies++;
        } else {
            s->result->d2h_bytes += bytes;
            s->result->d2h_copies++;
        }
    }
    event_push(s, bytes ? end_s + unit->handover_s : end_s, s->graph->values[value].producer, value,
               to_device ? device : 0);
}

/* Copies the value directly from one device to its peer. */
static void copy_peer(struct simulation *s, uint32_t value, uint32_t from, uint32_t to, double now_s)
{
    uint64_t bytes = s->graph->values[value].bytes;
    double end_s = now_s;
    if (bytes) {
        double *free_s = &s->engine_free_s[from][2];
        double start_s = *free_s > now_s ? *free_s : now_s;
        *free_s = end_s = start_s + df_peer_time_s(s->platform, from, to, bytes);
        s->result->peer_bytes += bytes;
        s->result->peer_copies++;
    }
    event_push(s, bytes ? end_s + df_handover_s(s->platform, from, to) : end_s, s->graph->values[value].producer, value,
               to);
}

/* The value is now valid in the memory of `unit`: jobs there may become ready. */
static void deliver(struct simulation *s, uint32_t v, uint32_t unit, double now_s)
{
    const struct df_graph *g = s->graph;
    const struct df_value *value = &g->values[v];
    if (s->reader_units[v] & 1u << unit)
        for (uint32_t r = value->first_reader; r < value->first_reader + value->n_readers; r++) {
            uint32_t reader = g->readers[r].node;
            if (s->place[reader] == unit && !--s->missing[reader])
                become_ready(s, reader, now_s);
        }
}

/* Delivers the value, and asks for the copies that go on from here. */
static void arrive(struct simulation *s, uint32_t v, uint32_t unit, double now_s)
{
    uint32_t home = s->place[s->graph->values[v].producer], others = s->reader_units[v] & ~(1u << home);
    uint32_t peers = others & s->peers[home];
    others &= ~peers;
    deliver(s, v, unit, now_s);
    if (unit == 0) {
        for (uint32_t u = 1; u < s->model.n_units; u++)
            if (others & 1u << u)
                copy(s, v, u, true, now_s);
    } else if (unit == home) {
        if (others)
            copy(s, v, home, false, now_s);
        for (uint32_t u = 1; u < s->model.n_units; u++)
            if (peers & 1u << u)
                copy_peer(s, v, home, u, now_s);
    }
}

/* When the last node of the wave has ended, the values of accs are there. */
static void wave_node_ended(struct simulation *s, uint32_t node, double now_s)
{
    if (s->graph->nodes[node].flags & DF_NODE_ONCE || --s->wave_left > 0)
        return;
    for (uint32_t v = 0; v < s->graph->n_values; v++)
        if (df_value_is_acc(s->graph, v))
            arrive(s, v, s->place[s->graph->values[v].producer], now_s);
}

static void job_ends(struct simulation *s, uint32_t node, double now_s)
{
    uint32_t unit = s->place[node], first = s->graph->nodes[node].first_out, n_out = df_node_n_out(s->graph, node);
    s->done++;
    if (!dfp_node_is_free(s->graph, node))
        s->free_workers[unit] += dfp_model_workers(&s->model, node, unit);
    for (uint32_t v = first; v < first + n_out; v++)
        if (!df_value_is_acc(s->graph, v))
            arrive(s, v, unit, now_s);
    wave_node_ended(s, node, now_s);
}

/* The job of the highest priority goes first. If it needs more workers than are free, it waits for them, and no other
 * job overtakes it. */
static void start_jobs(struct simulation *s, uint32_t unit, double now_s)
{
    struct dfp_urgents *ready = &s->ready[unit];
    while (ready->n) {
        uint32_t node = ready->at[0].node, workers = dfp_model_workers(&s->model, node, unit);
        if (workers > s->free_workers[unit])
            return;
        dfp_urgents_pop(ready);
        double time_s = dfp_model_time_s(&s->model, node, unit);
        s->free_workers[unit] -= workers;
        s->result->busy_s[unit] += time_s * workers;
        event_push(s, now_s + time_s, node, DF_NONE, 0);
    }
}

/* Sends a value that was there before time 0 towards the memory of `unit`, unless that was done already. A value on a
 * device goes directly to a peer; else it goes to the host first, and on from there when it arrives. */
static void send_initial(struct simulation *s, uint32_t v, uint32_t unit)
{
    uint32_t home = s->place[s->graph->values[v].producer];
    bool peer = s->peers[home] >> unit & 1;
    uint32_t way = 1u << (home && !peer ? home : unit);
    if (unit == home || s->sent[v] & way)
        return;
    s->sent[v] |= way;
    if (peer)
        copy_peer(s, v, home, unit, 0);
    else
        copy(s, v, home ? home : unit, !home, 0);
}

/* Is the value there before time 0? */
static bool is_initial(const struct simulation *s, uint32_t value)
{
    uint32_t node = s->graph->values[value].producer;
    return dfp_node_is_free(s->graph, node) && !df_node_n_in(s->graph, node) && !df_value_is_acc(s->graph, value);
}

/* Free sources end before time 0. Then their values are sent, in the order in which the readers are urgent. */
static void begin(struct simulation *s)
{
    const struct df_graph *g = s->graph;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (df_node_n_in(g, v))
            continue;
        if (!dfp_node_is_free(g, v)) {
            become_ready(s, v, 0);
            continue;
        }
        s->done++;
        for (uint32_t o = g->nodes[v].first_out; o < g->nodes[v].first_out + df_node_n_out(g, v); o++)
            if (!df_value_is_acc(g, o))
                deliver(s, o, s->place[v], 0);
        wave_node_ended(s, v, 0);
    }
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const uint32_t *in = g->in_value + g->nodes[v].first_in;
        uint32_t n_in = df_node_n_in(g, v), i = 0;
        while (i < n_in && !is_initial(s, in[i]))
            i++;
        if (i < n_in)
            ready_push(s, &s->first_readers, v);
    }
    while (s->first_readers.n) {
        uint32_t v = dfp_urgents_pop(&s->first_readers);
        const uint32_t *in = g->in_value + g->nodes[v].first_in;
        for (uint32_t i = 0; i < df_node_n_in(g, v); i++)
            if (is_initial(s, in[i]))
                send_initial(s, in[i], s->place[v]);
    }
}

static void run(struct simulation *s)
{
    double now_s = 0;
    begin(s);
    do {
        while (s->events.n && s->events.at[0].time_s == now_s) {
            struct dfr_event event = dfr_event_next(&s->events);
            if (event.arrives == DF_NONE)
                job_ends(s, (uint32_t)event.order, now_s);
            else
                arrive(s, event.arrives, event.unit, now_s);
        }
        for (uint32_t u = 0; u < s->model.n_units; u++)
            start_jobs(s, u, now_s);
        if (s->events.n)
            now_s = s->events.at[0].time_s;
    } while (s->events.n && !s->events.out_of_memory);
    s->result->makespan_s = now_s;
}

/* ---- before it starts ---- */

/* Finds which units read each value, and adds up the cut. */
static void count_cut(struct simulation *s)
{
    const struct df_graph *g = s->graph;
    for (uint32_t v = 0; v < g->n_values; v++) {
        const struct df_value *value = &g->values[v];
        uint32_t home = s->place[value->producer], units = 0;
        for (uint32_t r = value->first_reader; r < value->first_reader + value->n_readers; r++)
            units |= 1u << s->place[g->readers[r].node];
        s->reader_units[v] = units;
        for (uint32_t u = 0; u < s->model.n_units; u++)
            if (u != home && units & 1u << u) {
                s->result->cut_bytes += value->bytes;
                s->result->cut_s += dfp_copy_time_s(s->platform, home, u, value->bytes);
            }
    }
}

static int check_places(struct simulation *s, struct df_error *error)
{
    char name[160];
    for (uint32_t v = 0; v < s->graph->n_nodes; v++) {
        uint32_t unit = s->place[v];
        if (unit >= s->model.n_units || isnan(dfp_model_time_s(&s->model, v, unit))) {
            df_node_name(s->graph, v, name, sizeof name);
            return dfr_error(error, DF_E_ARGUMENT, "node '%s' is placed on unit %u (%s), which cannot run it", name,
                             (unsigned)unit,
                             unit < s->model.n_units ? s->platform->units[unit].name : "not of this platform");
        }
        s->result->nodes[unit]++;
        s->missing[v] = df_node_n_in(s->graph, v);
        s->wave_left += !(s->graph->nodes[v].flags & DF_NODE_ONCE);
    }
    return DF_OK;
}

/* With sharing the simulator says when everything ends. As here, memories of devices have room for everything. */
static int share(const struct dfp_problem *problem, const uint16_t *place, const float *priority,
                 struct dfp_evaluation *result, struct df_error *error)
{
    struct df_platform platform = *problem->platform;
    struct df_plan plan = { .policy = "gp", .n_nodes = problem->graph->n_nodes, .n_waves = 1,
                            .place = (uint16_t *)(uintptr_t)place, .priority = (float *)(uintptr_t)priority };
    struct dfr_simulate_options options = { .policy = "gp", .plan = &plan, .waves = 1, .inflight = 1, .seed = 1,
                                            .no_guard = true };
    struct dfr_simulation run = { 0 };
    for (uint32_t u = 1; u < platform.n_units; u++)
        platform.units[u].memory_bytes = 0;
    plan.platform = platform;
    int code = dfr_simulate(problem->graph, &platform, problem->times, &options, &run, error);
    if (code)
        return code;
    result->makespan_s = run.makespan_s;
    memcpy(result->busy_s, run.busy_s, sizeof result->busy_s);
    return DF_OK;
}

int dfp_evaluate(const struct dfp_problem *problem, const uint16_t *place, const float *priority,
                 struct dfp_evaluation *evaluation, struct df_error *error)
{
    const struct df_graph *g = problem->graph;
    struct dfp_evaluation result = { 0 };
    struct simulation s = {
        .graph = g, .platform = problem->platform, .place = place, .priority = priority, .result = &result
    };
    int code = dfp_model_init(&s.model, problem, error);
    if (code)
        return code;
    uint32_t *scratch = malloc(((size_t)g->n_nodes + 2 * (size_t)g->n_values + 1) * sizeof *scratch);
    struct dfp_urgent *queue = malloc((2 * (size_t)g->n_nodes + 1) * sizeof *queue);
    s.first_readers.at = queue;
    if (!scratch || !queue) {
        code = dfr_error_memory(error);
        goto free_scratch;
    }
    s.missing = scratch;
    s.reader_units = scratch + g->n_nodes;
    s.sent = s.reader_units + g->n_values;
    memset(s.sent, 0, g->n_values * sizeof *s.sent);
    if ((code = check_places(&s, error)))
        goto free_scratch;
    count_cut(&s);
    queue += g->n_nodes;                /* the second half: each memory's queue has room for all nodes placed there */
    for (uint32_t u = 0; u < s.model.n_units; u++) {
        s.ready[u].at = queue;
        queue += result.nodes[u];
        s.free_workers[u] = problem->platform->units[u].workers;
        s.peers[u] = df_platform_peers(problem->platform, u);
    }
    run(&s);
    if (s.events.out_of_memory)
        code = dfr_error_memory(error);
    else if (s.done != g->n_nodes)
        code = dfr_error(error, DF_E_ARGUMENT, "%u of %u nodes never become ready: the graph is damaged",
                         (unsigned)(g->n_nodes - s.done), (unsigned)g->n_nodes);
    else if (dfr_times_shared(problem->times, problem->platform) || g->n_resources > 0)
        code = share(problem, place, priority, &result, error);
    if (!code)
        *evaluation = result;
    free(s.events.at);
free_scratch:
    free(scratch);
    free(s.first_readers.at);
    return code;
}
