/* single.c - placements with everything on one unit, which every partition is measured against; and where nodes go that
 * cost nothing.
 */
#include <math.h>
#include <stdlib.h>

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

uint32_t dfp_best_device(const struct dfp_model *model)
{
    uint32_t n = model->problem->graph->n_nodes, best = DF_NONE, best_runs = 0;
    double best_s = INFINITY;
    for (uint32_t u = 1; u < model->n_units; u++) {
        uint32_t runs = 0;
        double total_s = 0;
        for (uint32_t v = 0; v < n; v++) {
            double time_s = dfp_model_time_s(model, v, u);
            if (!isnan(time_s)) {
                runs++;
                total_s += time_s;
            }
        }
        if (best == DF_NONE || runs > best_runs || (runs == best_runs && total_s < best_s)) {
            best = u;
            best_runs = runs;
            best_s = total_s;
        }
    }
    return best;
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

static int run_all_cpu(const struct dfp_problem *problem, const struct dfp_options *options, uint16_t *place,
                       struct df_error *error)
{
    (void)options;
    struct dfp_model model;
    int code = dfp_model_init(&model, problem, error);
    return code ? code : dfp_place_all(&model, 0, place, error);
}

static int run_all_gpu(const struct dfp_problem *problem, const struct dfp_options *options, uint16_t *place,
                       struct df_error *error)
{
    (void)options;
    struct dfp_model model;
    int code = dfp_model_init(&model, problem, error);
    if (code)
        return code;
    uint32_t device = dfp_best_device(&model);
    return dfp_place_all(&model, device == DF_NONE ? 0 : device, place, error);
}

const struct dfp_partitioner dfp_partitioner_all_cpu = {
    "all-cpu", "everything on the CPU; what only a GPU can run there", run_all_cpu, NULL
};
const struct dfp_partitioner dfp_partitioner_all_gpu = {
    "all-gpu", "everything on one GPU; what only the CPU can run there", run_all_gpu, NULL
};
