/* simulate.c - the main loop of a simulation, dfr_simulate(), from moment to moment, and its workers, which take jobs from the policy and run them. The
 * planners, dfc and df_simulate() call it. simulate_impl.h lists the other parts.
 *
 * A worker takes a job and then waits for its data. It has one job at a time, or as many as its unit has jobs in flight; of those the oldest loaded one runs
 * next, alone. Cost: O((n + m) log n), plus a scan of the workers at each moment.
 */
#include "runtime/simulate/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/graph/passes.h"
#include "runtime/policy/order.h"
#include "runtime/simulate/simulate_impl.h"

#define TINY_S 1e-12                    /* a device with jobs is busy, whatever their times say */

/* ---- workers ---- */

static bool is_idle(const struct sim_worker *w)
{
    return w->n_taken == 0 && w->helps == DF_NONE;
}

/* A job with threads takes so many CPU workers. false: not so many are idle. */
static bool gather(struct sim *s, uint32_t leader, uint32_t threads)
{
    uint32_t n = 1;
    for (uint32_t w = s->first_worker[0]; w < s->first_worker[1] && n < threads; w++)
        n += w != leader && is_idle(&s->workers[w]);
    if (n < threads)
        return false;
    n = 1;
    for (uint32_t w = s->first_worker[0]; n < threads; w++)
        if (w != leader && is_idle(&s->workers[w])) {
            s->workers[w].helps = leader;
            n++;
        }
    return true;
}

static void try_claim(struct sim *s, uint64_t job)
{
    uint32_t unit = sim_job(s, dfr_job_slot(job), dfr_job_node(job))->unit;
    if (sim_room_claim(s, unit, job, false))
        sim_load(s, job);
}

static void take(struct sim *s, uint32_t w, uint64_t key)
{
    struct sim_worker *worker = &s->workers[w];
    struct sim_job *job = sim_job(s, dfr_job_slot(key), dfr_job_node(key));
    worker->taken[worker->n_taken++] = key;
    job->state = SIM_TAKEN;
    job->unit = (uint8_t)worker->unit;
    job->worker = w;
    try_claim(s, key);
}

/* Takes what the policy has for this worker. A CPU job that waits for workers goes before all others, and is not
 * overtaken. A placed policy has an order of its own, so it gets such a job back. */
static bool pop(struct sim *s, uint32_t w, uint64_t *job)
{
    uint32_t unit = s->workers[w].unit, units;
    if (unit == 0 && s->held) {
        *job = s->held_job;
    } else if (s->n_queued == 0 || !s->policy->pop(s->policy_state, w, job)) {
        return false;
    } else {
        s->n_queued--;
    }
    if (unit == 0 && !gather(s, w, sim_threads(s, dfr_job_node(*job), 0))) {
        if (s->place) {
            s->policy->push(s->policy_state, *job, DFR_NOBODY, false, &units);
            s->n_queued++;
        } else {
            s->held = true;
            s->held_job = *job;
        }
        return false;
    }
    if (unit == 0)
        s->held = false;
    return true;
}

static bool take_one(struct sim *s, uint32_t w)
{
    struct sim_worker *worker = &s->workers[w];
    uint64_t job;
    if (worker->n_taken >= worker->window || worker->helps != DF_NONE)
        return false;
    if (s->rooms[worker->unit] && s->rooms[worker->unit]->claims)
        return false;
    if (!pop(s, w, &job))
        return false;
    take(s, w, job);
    return true;
}

/* A launch takes no core. */
static struct sim_need need_of_job(const struct sim *s, uint32_t unit, uint32_t node, double time_s)
{
    struct sim_need need = { .threads = sim_threads(s, node, unit) };
    if (s->demand)
        need.memory = s->demand[(size_t)unit * s->graph->n_works + s->graph->nodes[node].work];
    if (s->sharing.cores && time_s > 0)
        need.computes = 1 - s->platform->units[unit].launch_s / time_s;
    return need;
}

/* The job ends after time_s, or later if it shares memory or cores with others. */
static void begin_job(struct sim *s, uint32_t unit, uint32_t slot, uint32_t node, double time_s)
{
    struct sim_need need = need_of_job(s, unit, node, time_s);
    struct dfr_event end = { .time_s = s->now_s + time_s, .order = sim_order(s, slot, node), .slot = slot,
                             .arrives = DF_NONE };
    if (!sim_frames(s, node) && (need.memory.bytes_per_s > 0 || need.memory.sensitivity > 0 || need.computes > 0))
        sim_share_begin(s, time_s, &need, &end);
    else
        dfr_event_add(&s->events, end);
}

/* What the node's job of the wave in the slot takes on the unit. */
static double time_of_job(const struct sim *s, uint32_t unit, uint32_t slot, uint32_t node)
{
    const double launch_s = s->platform->units[unit].launch_s;
    double time_s = s->true_s[(size_t)unit * s->graph->n_works + s->graph->nodes[node].work];
    if (s->options->stretch && time_s > launch_s)
        time_s = launch_s + (time_s - launch_s) * s->options->stretch(s->options->stretch_arg, unit, node, sim_wave(s, slot));
    return time_s * sim_rate(s, node);
}

static void start(struct sim *s, uint32_t w)
{
    struct sim_worker *worker = &s->workers[w];
    for (uint32_t i = 0; i < worker->n_taken && !worker->running; i++) {
        uint32_t slot = dfr_job_slot(worker->taken[i]), node = dfr_job_node(worker->taken[i]);
        struct sim_job *job = sim_job(s, slot, node);
        if (job->state != SIM_LOADED)
            continue;
        const double time_s = sim_frames(s, node) ? dfr_frames_job_s(sim_frames(s, node), slot, s->wave[slot], s->now_s)
                                                  : time_of_job(s, worker->unit, slot, node);
        worker->running = true;
        worker->began_s = s->now_s;
        job->state = SIM_RUNNING;
        if (!sim_shares(s))
            s->result->busy_s[worker->unit] += time_s * sim_threads(s, node, worker->unit);
        if (s->result->start_s && sim_is_recorded(s, slot))
            s->result->start_s[node] = s->now_s;
        begin_job(s, worker->unit, slot, node, time_s);
    }
}

/* Devices' workers come first. Each worker takes one job in turn, until nobody finds any. */
static void run_workers(struct sim *s)
{
    uint32_t host = s->first_worker[1], n = s->n_workers;
    bool progress = true;
    for (uint32_t u = 1; u < s->n_units; u++)
        if (s->rooms[u] && s->rooms[u]->claims)
            try_claim(s, s->rooms[u]->claimant);
    sim_request_put_off(s);
    while (progress && (s->n_queued || s->held)) {
        progress = false;
        for (uint32_t i = 0; i < n; i++)
            progress |= take_one(s, i < n - host ? host + i : i - (n - host));
        progress |= s->woken;
        s->woken = false;
    }
    for (uint32_t w = 0; w < n; w++) {
        if (s->workers[w].n_taken < s->workers[w].window)
            dfr_flight_starved(&s->workers[w].flight);
        if (s->workers[w].n_taken && !s->workers[w].running)
            start(s, w);
    }
}

static void leave(struct sim *s, uint32_t w, uint64_t job)
{
    struct sim_worker *worker = &s->workers[w];
    uint32_t i = 0;
    while (worker->taken[i] != job)
        i++;
    worker->n_taken--;
    memmove(&worker->taken[i], &worker->taken[i + 1], (worker->n_taken - i) * sizeof *worker->taken);
    worker->running = false;
    if (sim_shares(s))
        s->result->busy_s[worker->unit] += (s->now_s - worker->began_s) *
                                           sim_threads(s, dfr_job_node(job), worker->unit);
    if (dfr_flight_ended(&worker->flight, s->now_s - worker->began_s, s->now_s))
        worker->window = worker->flight.jobs + s->prefetch;
    if (worker->unit == 0 && sim_threads(s, dfr_job_node(job), 0) > 1)
        for (uint32_t h = s->first_worker[0]; h < s->first_worker[1]; h++)
            if (s->workers[h].helps == w)
                s->workers[h].helps = DF_NONE;
}

/* ---- moments ---- */

static void happen(struct sim *s)
{
    struct dfr_event event = dfr_event_next(&s->events);
    uint32_t node = (uint32_t)event.order, worker;
    if (event.arrives != DF_NONE) {
        sim_copied(s, &event);
        return;
    }
    worker = sim_job(s, event.slot, node)->worker;
    s->ending = worker != DF_NONE ? s->workers[worker].unit : 0;
    if (worker != DF_NONE)
        leave(s, worker, dfr_job(event.slot, node));
    if (worker != DF_NONE && s->result->ran)
        s->result->ran(s->result->arg, worker, node, sim_wave(s, event.slot), s->workers[worker].began_s, s->now_s);
    sim_job_ends(s, event.slot, node);
}

static void loop(struct sim *s)
{
    sim_fire_start(s);
    sim_give_ready(s);
    double next_s;
    do {
        sim_share_ends(s);
        while (s->events.n && s->events.at[0].time_s == s->now_s) {
            happen(s);
            sim_give_ready(s);
            s->ending = 0;
        }
        run_workers(s);
        sim_share_rate(s);
        next_s = s->events.n ? fmin(s->events.at[0].time_s, s->sharing.next_s) : s->sharing.next_s;
        if (next_s < INFINITY)
            s->now_s = next_s;
    } while (next_s < INFINITY && !s->out_of_memory && !s->events.out_of_memory);
}

/* ---- before and after ---- */

static double now_s(void *arg)
{
    return ((struct sim *)arg)->now_s;
}

/* How long the jobs that a device has take one after the other, as far as policies are told. */
static double busy_s(void *arg, uint32_t w)
{
    struct sim *s = arg;
    const struct sim_worker *worker = &s->workers[w];
    double sum_s = 0;

    if (worker->n_taken < worker->flight.jobs)
        return 0;
    for (uint32_t i = 0; i < worker->n_taken; i++) {
        uint32_t slot = dfr_job_slot(worker->taken[i]), node = dfr_job_node(worker->taken[i]);
        double time_s = s->time_s[(size_t)worker->unit * s->graph->n_works + s->graph->nodes[node].work] * sim_rate(s, node);
        if (sim_job(s, slot, node)->state == SIM_RUNNING)
            time_s -= s->now_s - worker->began_s;
        sum_s += fmax(time_s, 0);
    }
    return fmax(sum_s, TINY_S);
}

/* A worker that had found nothing in this moment looks again. */
static void wake(void *arg, uint32_t unit)
{
    (void)unit;
    ((struct sim *)arg)->woken = true;
}

/* Sorts all nodes: the most urgent by the plan first; without a plan by number. */
static bool sort_urgent(struct sim *s)
{
    const struct df_plan *plan = s->policy->needs_plan ? s->options->plan : NULL;
    size_t n = s->graph->n_nodes;
    double *priority = calloc(n + 1, sizeof *priority);
    s->urgent = malloc((n + 1) * sizeof *s->urgent);
    bool good = priority && s->urgent;
    for (uint32_t v = 0; good && v < n; v++) {
        s->urgent[v] = v;
        priority[v] = plan && plan->priority ? plan->priority[v] : 0;
    }
    good = good && dfr_order_sort(s->urgent, (uint32_t)n, priority);
    free(priority);
    return good;
}

static int64_t wave_of(void *arg, uint32_t slot)
{
    return sim_wave(arg, slot);
}

static int make_policy(struct sim *s, struct df_error *error)
{
    uint32_t n = s->graph->n_nodes;
    s->view = (struct dfr_view){ .graph = s->graph,
                                 .platform = s->platform,
                                 .n_slots = s->inflight,
                                 .n_workers = s->n_workers,
                                 .seed = s->options->seed, .oldest_first = s->options->oldest_first,
                                 .locality = s->locality,
                                 .unit_of = s->unit_of,
                                 .first_worker = s->first_worker,
                                 .able = s->able,
                                 .time_s = s->time_s,
                                 .now_s = now_s,
                                 .wave = wave_of,
                                 .pass_of = s->pass_of, .pass_waves = &s->pass_waves, .pass_stride = s->stride,
                                 .holders = sim_holders,
                                 .prefetch = sim_prefetch,
                                 .wake = wake,
                                 .settled = sim_settled,
                                 .busy_s = s->prefetch ? busy_s : NULL,
                                 .guard = !s->options->no_guard,
                                 .arg = s };
    int status = s->policy->create(s->policy, &s->view, s->options->plan, &s->policy_state, error);
    if (status == DF_OK && !s->policy->units)
        return sim_room_know_order(s, error);
    if (status != DF_OK)
        return status;
    s->place = malloc(((size_t)n + 1) * (s->inflight + 1));
    return s->place && sort_urgent(s) ? sim_room_know_order(s, error) : dfr_error_memory(error);
}

/* A plan may say that an online policy does better than the plan's own placement. */
static int follow_plan(struct sim *s, struct df_error *error)
{
    struct dfr_run_as as;
    int status = dfr_run_as_read(s->options->plan->run_as, &as, error);
    s->policy = as.policy ? as.policy : s->policy;
    s->locality |= as.locality;
    s->prefetch |= as.prefetch;
    return status;
}

static int choose_policy(struct sim *s, struct df_error *error)
{
    const struct df_plan *plan = s->options->plan;
    s->policy = dfr_policy_find(s->options->policy, error);
    if (!s->policy)
        return DF_E_ARGUMENT;
    s->locality = s->options->locality;
    s->prefetch = s->options->prefetch;
    if (!s->policy->needs_plan)
        return DF_OK;
    if (!plan)
        return dfr_error(error, DF_E_ARGUMENT, "policy '%s' places nodes by a plan, and none is given",
                         s->policy->name);
    if (plan->n_nodes != s->graph->n_nodes)
        return dfr_error(error, DF_E_ARGUMENT, "the plan was made for a graph of %u nodes; this graph has %u",
                         (unsigned)plan->n_nodes, (unsigned)s->graph->n_nodes);
    return s->n_passes > 1 ? DF_OK : follow_plan(s, error); /* as in runtime/start/run_machine.c */
}

/* Fills pass_of, and counts the waves of all passes. */
static int choose_passes(struct sim *s, struct df_error *error)
{
    const struct df_graph *g = s->graph;
    const uint64_t host_bytes = s->platform->units[0].memory_bytes;
    uint32_t n = dfr_passes_choose(g, s->platform, s->waves, s->options->passes);
    struct dfr_again again;
    int status = dfr_again_find(g, NULL, &again, error);
    if (status == DF_OK && n > 1 && host_bytes)
        status = dfr_again_admit(g, &again, s->waves, host_bytes / 2, error);
    s->pass_waves = s->waves;
    s->overlap = dfr_passes_overlap(g, s->platform, n);
    s->stride = (uint32_t)dfr_passes_stride(g, s->overlap, s->waves, s->inflight);
    s->n_passes = s->result->passes = n > 1 && s->stride <= UINT32_MAX / n ? n : 1;
    s->waves += s->stride * (s->n_passes - 1);
    s->pass_of = s->n_passes > 1 ? malloc(g->n_nodes * sizeof *s->pass_of) : NULL;
    for (uint32_t v = 0; status == DF_OK && s->pass_of && v < g->n_nodes; v++)
        s->pass_of[v] = dfr_passes_of(g, v, s->n_passes, &again);
    dfr_again_free(&again);
    return s->n_passes > 1 && !s->pass_of ? dfr_error_memory(error) : status;
}

static int check_options(struct sim *s, struct df_error *error)
{
    int status;
    s->waves = s->options->waves ? s->options->waves : 1;
    s->inflight = s->options->inflight ? s->options->inflight : 1;
    if (s->inflight > s->waves)
        s->inflight = s->waves;
    if ((status = choose_passes(s, error)) != DF_OK || (status = choose_policy(s, error)) != DF_OK)
        return status;
    if (((uint64_t)s->inflight + 1) * ((uint64_t)s->graph->n_values + 1) >= UINT32_MAX)
        return dfr_error(error, DF_E_ARGUMENT, "%u waves in flight of this graph are too many", (unsigned)s->inflight);
    s->n_blocks = (s->inflight + 1) * s->graph->n_values;
    return DF_OK;
}

/* Was the unit's memory planned for so many waves? Then nothing is evicted (size.c). */
static bool is_planned(const struct sim *s, uint32_t unit)
{
    const struct df_plan *plan = s->options->plan;
    uint64_t memory_bytes = s->platform->units[unit].memory_bytes;
    return plan && plan->devices.n && dfr_need_bytes(&plan->memory[unit], s->inflight) <= memory_bytes;
}

/* A placed policy's jobs are popped when their data is there already. To take more than one would only fix their order
 * too early, so the window is 1. If memory is short, the data may be gone again, so the window stays. */
static void narrow_windows(struct sim *s)
{
    for (uint32_t w = 0; w < s->n_workers && s->policy->units; w++)
        if (!s->rooms[s->workers[w].unit] || is_planned(s, s->workers[w].unit)) {
            s->workers[w].window = 1;
            dfr_flight_start(&s->workers[w].flight, 1, 1);
        }
}

static int make_frames(struct sim *s, struct df_error *error)
{
    int status = DF_OK;
    if (s->graph->n_live > 0 && s->n_passes > 1)
        return dfr_error(error, DF_E_REFUSED, "the waves go by %u times, and a source with @newest or @every gives each frame once: --passes=1", (unsigned)s->n_passes);
    for (uint32_t v = 0; s->graph->n_live > 0 && v < s->graph->n_nodes && status == DF_OK; v++)
        if (sim_frames(s, v))
            status = dfr_frames_create(sim_frames(s, v), s->graph, v, s->inflight, s->true_s[s->graph->nodes[v].work] * sim_rate(s, v), error);
    return status;
}

static int make(struct sim *s, struct df_error *error)
{
    int status = check_options(s, error);
    if (status == DF_OK)
        status = sim_machine_create(s, error);
    if (status == DF_OK)
        status = sim_fire_create(s, error);
    if (status == DF_OK)
        status = make_frames(s, error);
    if (status == DF_OK && sim_share_create(s) != DF_OK)
        status = dfr_error_memory(error);
    if (status != DF_OK)
        return status;
    s->most_ahead = sim_most_ahead(s->graph);
    s->blocks = calloc((size_t)s->n_blocks + 1, sizeof *s->blocks);
    if (!s->blocks)
        return dfr_error_memory(error);
    status = sim_room_create(s, error);
    narrow_windows(s);
    return status == DF_OK ? make_policy(s, error) : status;
}

static void unmake(struct sim *s)
{
    if (s->policy_state)
        s->policy->destroy(s->policy_state);
    sim_room_destroy(s);
    sim_share_destroy(s);
    free(s->demand);
    free(s->able);
    free(s->pass_of);
    free(s->time_s);
    free(s->true_s);
    for (uint32_t i = 0; i < s->graph->n_live; i++)
        dfr_frames_destroy(&s->frames[i]);
    free(s->taken);
    free(s->place);
    free(s->urgent);
    free(s->events.at);
    dfr_resources_destroy(s->resources);
    free(s->jobs);
    free(s->need);
    free(s->wave);
    free(s->wave_left);
    free(s->ready);
    free(s->blocks);
    free(s->put_off);
    for (uint32_t u = 0; u < DF_MAX_UNITS; u++)
        free(s->inboxes[u].waiting);
    free(s);
}

static int check_done(const struct sim *s, struct df_error *error)
{
    uint64_t all = (uint64_t)s->n_wave_nodes * s->waves + s->n_once;
    if (s->out_of_memory || s->events.out_of_memory)
        return dfr_error_memory(error);
    if (s->done != all)
        return dfr_error(error, DF_E_ARGUMENT,
                         "%llu of %llu jobs never ran: the graph is damaged, or policy '%s' lost them",
                         (unsigned long long)(all - s->done), (unsigned long long)all, s->policy->name);
    if (!sim_room_check(s))
        return dfr_error(error, DF_E_ARGUMENT, "internal error: the simulated memory of a device does not add up");
    return DF_OK;
}

/* Leaves what the caller gave, and clears what is counted. */
static void clear(struct dfr_simulation *result)
{
    struct dfr_simulation given = *result;
    *result = (struct dfr_simulation){ .place = given.place, .start_s = given.start_s, .end_s = given.end_s,
                                       .worker = given.worker, .copied = given.copied, .ran = given.ran,
                                       .passed = given.passed, .arg = given.arg };
}

int dfr_simulate(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times,
                 const struct dfr_simulate_options *options, struct dfr_simulation *result, struct df_error *error)
{
    struct sim *s = calloc(1, sizeof *s);
    if (!s)
        return dfr_error_memory(error);
    *s = (struct sim){ .graph = graph, .platform = platform, .times = times, .options = options, .result = result };
    clear(result);
    int status = make(s, error);
    if (status == DF_OK) {
        loop(s);
        result->shortage = sim_share_mean_shortage(s);
        for (uint32_t u = 1; u < s->n_units; u++)
            result->jobs[u] = s->workers[s->first_worker[u]].flight.jobs;
        for (uint32_t u = 1; u < s->n_units; u++)
            result->peak_bytes[u] = s->rooms[u] ? s->rooms[u]->most : 0;
        result->n_live = graph->n_live;
        for (uint32_t i = 0; i < graph->n_live; i++)
            dfr_frames_stats(&s->frames[i], &result->live[i]);
        status = check_done(s, error);
    }
    unmake(s);
    return status;
}
