/* gp_thesis.c - the partition of Wu's thesis, section 4.2: METIS cuts the graph so that little is transferred and each
 * side gets its share of the work, R_cpu = T_gpu / (T_gpu + T_cpu).
 *
 * It stays as it was published, so that others can be compared with it. It knows nothing of precedence. Nor does it
 * know that one node may be 20 times faster on one side while its neighbour is not. With several GPUs, the host's part
 * is cut off first, then the GPUs' parts one after the other.
 *
 * Form:     METIS's recursive bisection, which is made for few parts. METIS's k-way form keeps the shares less well on
 *           small graphs, and leaves the smaller side empty more often. (On a Jacobi stencil of 320 nodes the makespan
 *           was then 1.6 times as long.)
 * Sides:    which of the two sides is the host's follows from the share. With a share around a half, both ways round
 *           are about as near to it. Then the evaluator's prediction decides.
 * METIS:    prints and misbehaves on graphs without vertices and on shares of 0, so it is never given any.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/cut/metis_call.h"
#include "runtime/base/error.h"

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

/* Places all nodes: the vertices with side[v] == host_side on the host, the others on devices. */
static int place_sides(const struct dfp_model *model, const struct dfp_metis_graph *graph, const int32_t *side,
                       int32_t host_side, const double *share, uint32_t seed, uint16_t *place, struct df_error *error)
{
    struct dfp_metis_graph devices = { 0 };
    int code = dfp_metis_graph_extract(graph, side, !host_side, &devices, error);
    for (int32_t v = 0; v < graph->n && !code; v++)
        if (side[v] == host_side)
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

/* ---- which side is the host's ---- */

/* The side that is the host's, found by its weight alone, since METIS's labels say nothing else. -1: both sides are
 * about as near to the share. */
static int32_t host_side_by_share(const struct dfp_metis_graph *graph, const int32_t *side, double share)
{
    int64_t total = 0, of_side[2] = { 0, 0 };
    int32_t largest = 0;
    for (int32_t v = 0; v < graph->n; v++) {
        total += graph->vertex_weight[v];
        of_side[side[v]] += graph->vertex_weight[v];
        largest = graph->vertex_weight[v] > largest ? graph->vertex_weight[v] : largest;
    }
    double off[2], scale = 1 / (double)(total ? total : 1);
    for (int i = 0; i < 2; i++)
        off[i] = fabs((double)of_side[i] * scale - share);
    if (fabs(off[0] - off[1]) <= 0.03 + (double)largest * scale)
        return -1;                      /* within METIS's tolerance and the weight of the heaviest node */
    return off[1] < off[0];
}

static int predict(const struct dfp_problem *problem, const uint16_t *place, double *makespan_s, struct df_error *error)
{
    struct dfp_evaluation evaluation;
    float *rank = malloc(((size_t)problem->graph->n_nodes + 1) * sizeof *rank);
    if (!rank)
        return dfr_error_memory(error);
    dfp_upward_rank(problem, place, rank);
    int code = dfp_evaluate(problem, place, rank, &evaluation, error);
    free(rank);
    *makespan_s = code ? 0 : evaluation.makespan_s;
    return code;
}

/* Tries both ways round and takes the one that is predicted faster. If they are equal, METIS's labels decide. */
static int place_better(const struct dfp_model *model, const struct dfp_metis_graph *graph, const int32_t *side,
                        const double *share, uint32_t seed, uint16_t *place, struct df_error *error)
{
    size_t bytes = (size_t)model->problem->graph->n_nodes * sizeof *place;
    uint16_t *other = malloc(bytes + 1);
    double makespan_s[2];
    if (!other)
        return dfr_error_memory(error);
    memcpy(other, place, bytes);
    int code = place_sides(model, graph, side, 0, share, seed, place, error);
    if (!code)
        code = place_sides(model, graph, side, 1, share, seed, other, error);
    if (!code)
        code = predict(model->problem, place, &makespan_s[0], error);
    if (!code)
        code = predict(model->problem, other, &makespan_s[1], error);
    if (!code && makespan_s[1] < makespan_s[0])
        memcpy(place, other, bytes);
    free(other);
    return code;
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
    if (!code) {
        int32_t host_side = share[0] >= 1 ? 0 : host_side_by_share(&graph, side, share[0]);
        code = host_side < 0 ? place_better(&model, &graph, side, share, options->seed, place, error)
                             : place_sides(&model, &graph, side, host_side, share, options->seed, place, error);
    }
    free(side);
    dfp_metis_graph_free(&graph);
    return code;
}

const struct dfp_partitioner dfp_partitioner_gp_thesis = {
    "gp-thesis", "METIS cuts the graph, shares by total times (Wu's thesis, 4.2)", run, NULL
};
