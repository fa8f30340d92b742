/* single.c - placements with everything on one unit, the baseline of every partition, as partitioners of the table in planner/placers.c and as starts of gp;
 * and the placement of nodes without cost, for partitioners that leave them open.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/model/model.h"
#include "runtime/base/error.h"

int dfp_place_all(const struct dfp_model *model, uint32_t unit, uint16_t *place, struct df_error *error)
{
    uint32_t n = model->problem->graph->n_nodes;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t at = unit;
        if (isnan(dfp_model_time_s(model, v, unit)))
            at = dfp_model_fastest(model, v, false);
        if (at == DF_NONE)
            return dfp_refuse(model, v, error);
        place[v] = (uint16_t)at;
    }
    return DF_OK;
}

/* Nodes are taken in order of numbers, so a node's producers have their final place before it. Its readers count with
 * the place that they have at that moment. */
void dfp_place_free_nodes(const struct dfp_model *model, uint16_t *place)
{
    const struct df_graph *g = model->problem->graph;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (!dfp_node_is_free(g, v))
            continue;
        double exchanged[DF_MAX_UNITS] = { 0 };
        const struct df_node *node = &g->nodes[v];
        uint32_t n_in = df_node_n_in(g, v), n_out = df_node_n_out(g, v);
        for (uint32_t i = 0; i < n_in; i++) {
            const struct df_value *value = &g->values[g->in_value[node->first_in + i]];
            exchanged[place[value->producer]] += (double)value->bytes;
        }
        for (uint32_t o = node->first_out; o < node->first_out + n_out; o++)
            for (uint32_t r = 0; r < g->values[o].n_readers; r++)
                exchanged[place[g->readers[g->values[o].first_reader + r].node]] += (double)g->values[o].bytes;
        uint32_t best = place[v];
        for (uint32_t u = 0; u < model->n_units; u++)
            if (exchanged[u] > exchanged[best] && !isnan(dfp_model_time_s(model, v, u)))
                best = u;
        place[v] = (uint16_t)best;
    }
}

/* Jobs go by their numbers, as the policies all-cpu and all-gpu run them: priorities are all 0. */
static int solve_all(const struct dfp_problem *problem, const struct dfp_partitioner *partitioner,
                     const struct dfp_options *options, struct dfp_result *result, struct df_error *error)
{
    int code = partitioner->run(problem, options, result->place, error);
    if (code)
        return code;
    memset(result->priority, 0, problem->graph->n_nodes * sizeof *result->priority);
    return dfp_lower_bound(problem, &result->lower_bound_s, error);
}

static int run_all_cpu(const struct dfp_problem *problem, const struct dfp_options *options, uint16_t *place,
                       struct df_error *error)
{
    (void)options;
    struct dfp_model model;
    int code = dfp_model_init(&model, problem, error);
    return code ? code : dfp_place_all(&model, 0, place, error);
}

static int solve_all_cpu(const struct dfp_problem *problem, const struct dfp_options *options,
                         struct dfp_result *result, struct df_error *error)
{
    return solve_all(problem, &dfp_partitioner_all_cpu, options, result, error);
}

static int run_all_gpu(const struct dfp_problem *problem, const struct dfp_options *options, uint16_t *place,
                       struct df_error *error)
{
    (void)options;
    struct dfp_model model;
    int code = dfp_model_init(&model, problem, error);
    if (!code)
        code = dfp_place_all(&model, 0, place, error);
    for (uint32_t v = 0; v < problem->graph->n_nodes && !code; v++)
        for (uint32_t u = model.n_units; u-- > 1;)
            if (!isnan(dfp_model_time_s(&model, v, u)))
                place[v] = (uint16_t)u; /* the first device that can run it, as in a run */
    return code;
}

static int solve_all_gpu(const struct dfp_problem *problem, const struct dfp_options *options,
                         struct dfp_result *result, struct df_error *error)
{
    return solve_all(problem, &dfp_partitioner_all_gpu, options, result, error);
}

const struct dfp_partitioner dfp_partitioner_all_cpu = {
    "all-cpu", "everything on the CPU; what only a GPU can run there", run_all_cpu, solve_all_cpu
};
const struct dfp_partitioner dfp_partitioner_all_gpu = {
    "all-gpu", "everything on the first GPU that can run it; what only the CPU can run there", run_all_gpu, solve_all_gpu
};
