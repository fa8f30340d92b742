/* scale.c - the predictions of `dfc scale`, for scale_command.c: simulates a wave on one machine of each type, and then
 * the run on many of them (scale.h). The rest of the room uses its simulation of a wave and its counts of machines,
 * too.
 */
#include "compiler/cluster/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/subgraph/cut.h"
#include "runtime/policy/policy.h"
#include "runtime/simulate/simulate.h"

uint32_t dfc_scale_declared(const struct dfc_cluster *cluster)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < cluster->n_types; t++)
        n += cluster->types[t].count;
    return n;
}

/* ---- one machine ---- */

/* The least time of a node's work on any class; 0: none is known. */
static double least_time_s(const struct dfp_problem *problem, uint32_t work)
{
    double least_s = HUGE_VAL;
    for (uint32_t c = 0; c < problem->graph->n_classes; c++) {
        double time_s = problem->times->time_s[c * problem->graph->n_works + work];
        least_s = time_s < least_s ? time_s : least_s; /* false for NaN: it cannot run there */
    }
    return least_s == HUGE_VAL ? 0 : least_s;
}

/* Adds up what is on rank 0, and takes it out of the machine's times. */
static void take_out(const struct dfp_problem *problem, const uint8_t *place, double *time_s, struct dfc_scale *scale)
{
    const struct df_graph *g = problem->graph;
    scale->head_s = scale->tail_s = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t work = g->nodes[v].work;
        if (place[v] == DFR_BODY)
            continue;
        if (!(g->nodes[v].flags & DF_NODE_ONCE))
            *(place[v] == DFR_HEAD ? &scale->head_s : &scale->tail_s) += g->nodes[v].rate * least_time_s(problem, work);
        for (uint32_t c = 0; c < g->n_classes; c++)
            if (!isnan(time_s[c * g->n_works + work]))
                time_s[c * g->n_works + work] = 0;
    }
}

static void count_bytes(const struct df_graph *g, const uint8_t *place, struct dfc_scale *scale)
{
    scale->give_bytes = scale->result_bytes = 0;
    for (uint32_t x = 0; x < g->n_values; x++) {
        const struct df_value *value = &g->values[x];
        uint8_t from = place[value->producer], to = 0;
        for (uint32_t i = 0; i < value->n_readers; i++)
            to |= (uint8_t)(1u << place[g->readers[value->first_reader + i].node]);
        if (df_value_is_once(g, x))
            continue;
        if (from == DFR_HEAD && to >> DFR_BODY & 1)
            scale->give_bytes += (double)value->bytes;
        if (from == DFR_BODY && to >> DFR_TAIL & 1)
            scale->result_bytes += (double)value->bytes;
    }
}

static int simulate(const struct dfp_problem *problem, const struct df_times *times, const char *policy, const struct df_plan *plan,
                    uint32_t inflight, uint32_t waves, double *makespan_s, struct df_error *error)
{
    const struct dfr_simulate_options options = { .policy = policy, .plan = plan, .waves = waves, .inflight = inflight };
    struct dfr_simulation simulation = { 0 };
    int code = dfr_simulate(problem->graph, problem->platform, times, &options, &simulation, error);
    *makespan_s = simulation.makespan_s;
    return code;
}

int dfc_scale_measure(const struct dfp_problem *problem, const struct df_times *times, const char *policy, const struct dfp_options *options,
                      uint32_t inflight, double *every_s, double *latency_s, struct df_error *error)
{
    struct dfp_problem body = *problem;
    struct df_plan *plan = NULL;
    double few_s = 0, many_s = 0;
    uint32_t few = 4 * inflight, many = 3 * few;
    body.times = times;
    const struct dfr_policy *p = dfr_policy_find(policy, error);
    int code = !p ? DF_E_ARGUMENT : p->needs_plan ? dfp_plan_make(&body, policy, options, &plan, error) : DF_OK;
    if (code == DF_OK)
        code = simulate(&body, times, policy, plan, inflight, few, &few_s, error);
    if (code == DF_OK)
        code = simulate(&body, times, policy, plan, inflight, many, &many_s, error);
    if (code == DF_OK)
        code = simulate(&body, times, policy, plan, 1, 1, latency_s, error);
    dfr_plan_free(plan);
    *every_s = fmax((many_s - few_s) / (many - few), 1e-9);
    *latency_s = fmax(*latency_s, *every_s);
    return code;
}

int dfc_scale_look(const struct dfp_problem *problem, const char *policy, const struct dfp_options *options, uint32_t inflight,
                   uint32_t type, struct dfc_scale *scale, struct df_error *error)
{
    const struct df_graph *g = problem->graph;
    size_t n_times = (size_t)g->n_classes * g->n_works;
    uint8_t *place = malloc(g->n_nodes + 1);
    struct df_times times = *problem->times;
    double *time_s = malloc((n_times + 1) * sizeof *time_s);
    int code = place && time_s ? DF_OK : dfr_error_memory(error);
    if (code == DF_OK) {
        for (size_t i = 0; i < n_times; i++)
            time_s[i] = problem->times->time_s[i] / scale->cluster->types[type].speed;
        times.time_s = time_s;
        dfr_cut_places(g, place);
        code = dfr_cut_settle(g, place, DFR_TAIL, error);
    }
    if (code == DF_OK) {
        take_out(problem, place, time_s, scale);
        count_bytes(g, place, scale);
        code = dfc_scale_measure(problem, &times, policy, options, inflight, &scale->every_s[type], &scale->latency_s[type], error);
    }
    free(time_s);
    free(place);
    return code;
}

/* ---- many machines ---- */

/* What is left goes to the largest remainders. */
void dfc_scale_share(const struct dfc_cluster *cluster, uint32_t nodes, uint32_t *n)
{
    double all = dfc_scale_declared(cluster), remainder[DFC_MOST_NODE_TYPES];
    uint32_t left = nodes;
    for (uint32_t t = 0; t < cluster->n_types; t++) {
        double exact = nodes * (cluster->types[t].count / all);
        n[t] = (uint32_t)floor(exact + 1e-9);
        remainder[t] = exact - n[t];
        left -= n[t];
    }
    for (; left > 0; left--) {
        uint32_t most = 0;
        for (uint32_t t = 1; t < cluster->n_types; t++)
            most = remainder[t] > remainder[most] + 1e-12 ? t : most;
        n[most]++;
        remainder[most] = -1;
    }
}

/* What was used most, as a share of what it could give. */
static const char *find_limit(const struct dfc_manager_setup *setup, const struct dfc_scale_row *row)
{
    const struct dfc_manager_result *r = &row->result;
    double nodes = 0, made = (double)row->waves / r->makespan_s;
    for (uint32_t t = 0; t < setup->n_types; t++)
        nodes = fmax(nodes, r->busy[t]);
    const struct { const char *name; double busy; } all[] = {
        { "nodes", nodes }, { "rank 0's thread", r->manager_busy }, { "rank 0's sources", made * setup->head_s },
        { "rank 0's sinks", made * setup->tail_s }, { "rank 0's link", fmax(r->out_busy, r->in_busy) },
        { "the network", r->switch_busy }, { "the file system", r->files_busy } };
    size_t most = 0;
    for (size_t i = 1; i < sizeof all / sizeof *all; i++)
        most = all[i].busy > all[most].busy ? i : most;
    return all[most].name;
}

/* Machines share parts: rank 0 does nothing for a wave. */
static void share_parts(const struct dfc_scale *scale, unsigned number, struct dfc_manager_setup *setup, struct dfc_scale_row *row)
{
    if (scale->shares.n_parts == 0 || !scale->shares.rows[number])
        return;
    setup->shares = scale->shares.rows[number];
    setup->n_shares = row->shares = scale->shares.n[number];
    setup->head_s = setup->tail_s = setup->give_bytes = setup->write_bytes = 0;
}

int dfc_scale_run(const struct dfc_scale *scale, unsigned number, uint32_t nodes, struct dfc_scale_row *row, struct df_error *error)
{
    const struct dfc_cluster *cluster = scale->cluster;
    uint32_t n[DFC_MOST_NODE_TYPES];
    double rate = 0;
    *row = (struct dfc_scale_row){ .nodes = nodes, .waves = scale->weak ? scale->waves * nodes : scale->waves };
    struct dfc_manager_setup setup = { .waves = row->waves, .window = scale->window, .inflight = scale->inflight,
                                 .vary = scale->vary, .seed = scale->seed,
                                 .head_s = scale->head_s, .tail_s = scale->tail_s, .handle_s = cluster->message_s,
                                 .give_bytes = scale->give_bytes, .result_bytes = scale->result_bytes,
                                 .read_bytes = scale->read_bytes, .write_bytes = scale->write_bytes,
                                 .latency_s = cluster->link.latency_s, .manager_bytes_per_s = cluster->link.bytes_per_s,
                                 .switch_bytes_per_s = cluster->total_bytes_per_s,
                                 .files_bytes_per_s = cluster->files_bytes_per_s };
    share_parts(scale, number, &setup, row);
    dfc_scale_share(cluster, nodes, n);
    for (uint32_t t = 0; t < cluster->n_types; t++) {
        setup.types[setup.n_types++] = (struct dfc_machines){ n[t], scale->every_s[t], scale->latency_s[t],
                                                              cluster->types[t].link.bytes_per_s };
        rate += n[t] / (setup.shares ? scale->shares.whole_s[t] : scale->every_s[t]);
    }
    row->ideal_s = (double)row->waves / rate;
    int code = dfc_manager_simulate(&setup, &row->result, error);
    if (code == DF_OK)
        row->limit = find_limit(&setup, row);
    return code;
}
