/* gp_thesis.c - the partitioner "gp-thesis", from Wu's thesis, section 4.2: METIS cuts the graph so that little is transferred and each side gets its share of
 * the work, R_cpu = T_gpu / (T_gpu + T_cpu). The table of partitioners lists it (planner/placers.c), and gp takes its plans as starts.
 *
 * It is implemented as published, as a baseline for comparison; runs also execute it as published (runtime/policy/policy_thesis.c). It ignores precedence, and
 * the fact that one node may be 20 times faster on one side while its neighbour is not.
 *
 * The thesis leaves open which of METIS's algorithms and seeds it used, and which of a kernel's two times weighs a
 * vertex ("choosing either one would not ruin the policy"). Here the latter is --vertex-weight, the GPU's time by default.
 * Its weights are whole milliseconds; here the largest is 1000 (metis_graph.c), since many kernels take less than one.
 * It does not treat several GPUs: here the host's part is cut off first, then the GPUs' parts one after the other.
 *
 * Form:     METIS's recursive bisection, which is made for few parts. METIS's k-way form keeps the shares less well on
 *           small graphs, and leaves the smaller side empty more often. (On a Jacobi stencil of 320 nodes the makespan
 *           was then 1.6 times as long.)
 * METIS:    prints and misbehaves on graphs without vertices and on shares of 0, so it is never given any.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/cut/metis_call.h"
#include "runtime/base/error.h"
#include "runtime/simulate/simulate.h"

#define SMALLEST_SHARE 0.001

/* side[v] becomes 0 for a `share` of the weight, else 1. */
static int bisect(const struct dfp_metis_graph *graph, double share, uint32_t seed, int32_t *side,
                  struct df_error *error)
{
    if (graph->n < 2 || share <= 0 || share >= 1) {
        for (int32_t v = 0; v < graph->n; v++)
            side[v] = share < 0.5;
        return DF_OK;
    }
    share = share < SMALLEST_SHARE ? SMALLEST_SHARE : share > 1 - SMALLEST_SHARE ? 1 - SMALLEST_SHARE : share;
    const float targets[2] = { (float)share, (float)(1 - share) };
    const struct dfp_metis_cut cut = { .n_parts = 2, .n_weights = 1, .share = targets, .seed = seed };
    return dfp_metis_call(graph, &cut, side, error);
}

/* ---- from sides to places ---- */

/* Puts the node on the unit. If it cannot run there, it goes to the unit that runs it fastest: METIS knows no vertices
 * with a fixed part. */
static int put(const struct dfp_model *model, uint32_t node, uint32_t unit, uint16_t *place, struct df_error *error)
{
    if (isnan(dfp_model_time_s(model, node, unit)))
        unit = dfp_model_fastest(model, node, false);
    if (unit == DF_NONE)
        return dfp_refuse(model, node, error);
    place[node] = (uint16_t)unit;
    return DF_OK;
}

/* Divides the devices' part among all devices, one after the other. Takes and frees `rest`. */
static int split_devices(const struct dfp_model *model, const double *share, uint32_t seed,
                         struct dfp_metis_graph *rest, uint16_t *place, struct df_error *error)
{
    int code = DF_OK;
    for (uint32_t u = 1; u < model->n_units && !code; u++) {
        double left = 0;
        for (uint32_t w = u; w < model->n_units; w++)
            left += share[w];
        int32_t *side = calloc((size_t)rest->n + 1, sizeof *side);
        struct dfp_metis_graph next = { 0 };
        if (!side)
            code = dfr_error_memory(error);
        else if (u + 1 < model->n_units)
            code = bisect(rest, left > 0 ? share[u] / left : 1, seed, side, error);
        for (int32_t v = 0; v < rest->n && !code; v++)
            if (!side[v])
                code = put(model, rest->node[v], u, place, error);
        if (!code)
            code = dfp_metis_graph_extract(rest, side, 1, &next, error);
        free(side);
        dfp_metis_graph_free(rest);
        *rest = next;
    }
    dfp_metis_graph_free(rest);
    return code;
}

/* Places all nodes: the vertices of part 0 on the host, the others on devices. */
static int place_sides(const struct dfp_model *model, const struct dfp_metis_graph *graph, const int32_t *side,
                       const double *share, uint32_t seed, uint16_t *place, struct df_error *error)
{
    struct dfp_metis_graph devices = { 0 };
    int code = dfp_metis_graph_extract(graph, side, 1, &devices, error);
    for (int32_t v = 0; v < graph->n && !code; v++)
        if (!side[v])
            code = put(model, graph->node[v], 0, place, error);
    if (code) {
        dfp_metis_graph_free(&devices);
        return code;
    }
    if ((code = split_devices(model, share, seed, &devices, place, error)))
        return code;
    dfp_place_free_nodes(model, place);
    return DF_OK;
}

/* ---- the partitioner ---- */

static int run(const struct dfp_problem *problem, const struct dfp_options *options, uint16_t *place,
               struct df_error *error)
{
    struct dfp_model model;
    struct dfp_metis_graph graph;
    double share[DF_MAX_UNITS];
    int code = dfp_model_init(&model, problem, error);
    if (code || (code = dfp_place_all(&model, 0, place, error)) || model.n_units == 1)
        return code; /* nodes that are no vertices have their places now, and without devices all nodes have */
    if ((code = dfp_metis_graph_make(&model, options->vertex_weight, DFP_EDGES_HOST, &graph, error)))
        return code;
    int32_t *side = calloc((size_t)graph.n + 1, sizeof *side);
    dfp_target_shares(&model, options->ratio, share);
    if (!side)
        code = dfr_error_memory(error);
    else
        code = bisect(&graph, share[0], options->seed, side, error);
    if (!code)
        code = place_sides(&model, &graph, side, share, options->seed, place, error);
    free(side);
    dfp_metis_graph_free(&graph);
    return code;
}

/* Jobs run in the order in which they become ready, and data goes when they do, so only a simulated run says how long that
 * takes. Priorities are the order in which its jobs begin. */
static int solve(const struct dfp_problem *problem, const struct dfp_options *options, struct dfp_result *result,
                 struct df_error *error)
{
    uint32_t n = problem->graph->n_nodes;
    double *start_s = calloc((size_t)n + 1, sizeof *start_s);
    int code = start_s ? run(problem, options, result->place, error) : dfr_error_memory(error);
    struct df_plan plan = { .policy = "gp-thesis", .platform = *problem->platform, .n_nodes = n, .n_waves = 1,
                            .place = result->place };
    struct dfr_simulation run = { .start_s = start_s };
    if (!code)
        code = dfr_simulate(problem->graph, problem->platform, problem->times,
                            &(struct dfr_simulate_options){ .policy = plan.policy, .plan = &plan }, &run, error);
    for (uint32_t v = 0; v < n && !code; v++)
        result->priority[v] = (float)-start_s[v];
    free(start_s);
    result->makespan_s = run.makespan_s;
    result->simulated = true;
    return code ? code : dfp_lower_bound(problem, &result->lower_bound_s, error);
}

const struct dfp_partitioner dfp_partitioner_gp_thesis = {
    "gp-thesis", "METIS cuts the graph, shares by total times (Wu's thesis, 4.2)", run, solve
};
