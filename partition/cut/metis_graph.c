/* metis_graph.c - builds METIS's weighted graph of a problem, and of one side of it, for gp_thesis.c, gp/gp_metis.c and metis_text.c, and computes the target
 * shares of the thesis, for `dfc partition`, too (metis_graph.h).
 */
#include "partition/cut/metis_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

struct building {
    const struct df_graph *graph;
    const struct df_platform *platform;
    enum dfp_edges edges;
    uint32_t *vertex_of;                /* of a node: its vertex; DF_NONE: it has none */
    int32_t *met_at;                    /* of a vertex: its position in the list that is being merged, or -1 */
    int32_t *neighbour;                 /* of each arc the vertex at its other end; one may be there repeatedly */
    double *arc_s;
    double *vertex_s;
    uint64_t *first;                    /* n + 1: where a vertex's arcs begin in neighbour[] and arc_s[] */
};

/* ---- weights ---- */

static double node_weight_s(const struct dfp_model *model, uint32_t node, enum dfp_vertex_weight weight)
{
    const struct df_graph *g = model->problem->graph;
    double time_s = weight == DFP_WEIGHT_CPU ? dfp_model_time_s(model, node, 0) : NAN;
    if (isnan(time_s)) {
        uint32_t device = dfp_model_fastest(model, node, true);
        time_s = dfp_model_time_s(model, node, device != DF_NONE ? device : 0);
    }
    return isnan(time_s) ? 0 : time_s * (double)g->nodes[node].rate;
}

/* One weight for both directions, which is their mean. The thesis measured that they differ by no more than 0.007 %. */
static double host_weight_s(const struct df_platform *platform, uint64_t bytes)
{
    if (platform->n_units < 2)
        return (double)bytes / DF_DEFAULT_BYTES_PER_S; /* there is no link: any price that grows with the bytes does */
    return (dfp_copy_time_s(platform, 0, 1, bytes) + dfp_copy_time_s(platform, 1, 0, bytes)) / 2;
}

/* The mean over all pairs of devices, some of which send to each other directly. */
static double devices_weight_s(const struct df_platform *platform, uint64_t bytes)
{
    double sum_s = 0;
    for (uint32_t from = 1; from < platform->n_units; from++)
        for (uint32_t to = 1; to < platform->n_units; to++)
            sum_s += dfp_copy_time_s(platform, from, to, bytes);
    return sum_s / ((platform->n_units - 1) * (platform->n_units - 2));
}

static double arc_weight_s(const struct building *b, uint64_t bytes)
{
    return b->edges == DFP_EDGES_DEVICES ? devices_weight_s(b->platform, bytes) : host_weight_s(b->platform, bytes);
}

/* Without peers a copy between devices is two copies over the host's link, one each way. So the weights for the host
 * are good for devices, too. */
static bool has_peers(const struct df_platform *platform)
{
    for (uint32_t u = 1; u < platform->n_units; u++)
        if (df_platform_peers(platform, u))
            return true;
    return false;
}

/* The largest weight is chosen so that the sum of all weights stays below 2^30, whatever METIS adds up. */
static double scale_for(double largest, int64_t count)
{
    double limit = DFP_METIS_LARGEST_WEIGHT;
    if (count && limit * (double)count > (double)(1 << 30))
        limit = (double)(1 << 30) / (double)count;
    return largest > 0 ? limit / largest : 0;
}

static int32_t scaled(double weight, double scale)
{
    double w = ceil(weight * scale * (1 - 1e-12));
    return w < 1 ? 1 : (int32_t)w;
}

/* ---- building ---- */

static bool next_arc(const struct building *b, uint32_t *value, uint32_t *reader, uint32_t *from, uint32_t *to)
{
    const struct df_graph *g = b->graph;
    for (; *value < g->n_values; ++*value, *reader = 0) {
        const struct df_value *v = &g->values[*value];
        *from = b->vertex_of[v->producer];
        while (*from != DF_NONE && *reader < v->n_readers) {
            *to = b->vertex_of[g->readers[v->first_reader + (*reader)++].node];
            if (*to != DF_NONE)
                return true;
        }
    }
    return false;
}

/* Sorts both directions of every arc by vertex, with a counting sort. */
static bool list_arcs(struct building *b, int32_t n)
{
    uint32_t value = 0, reader = 0, from, to;
    while (next_arc(b, &value, &reader, &from, &to)) {
        b->first[from + 1]++;
        b->first[to + 1]++;
    }
    for (int32_t v = 0; v < n; v++)
        b->first[v + 1] += b->first[v];
    uint64_t total = b->first[n];
    b->neighbour = malloc((total + 1) * sizeof *b->neighbour);
    b->arc_s = malloc((total + 1) * sizeof *b->arc_s);
    uint64_t *at = malloc(((size_t)n + 1) * sizeof *at);
    if (b->neighbour && b->arc_s && at) {
        memcpy(at, b->first, ((size_t)n + 1) * sizeof *at);
        value = reader = 0;
        while (next_arc(b, &value, &reader, &from, &to)) {
            double time_s = arc_weight_s(b, b->graph->values[value].bytes);
            b->neighbour[at[from]] = (int32_t)to;
            b->arc_s[at[from]++] = time_s;
            b->neighbour[at[to]] = (int32_t)from;
            b->arc_s[at[to]++] = time_s;
        }
    }
    bool good = b->neighbour && b->arc_s && at;
    free(at);
    return good;
}

/* Several arcs between two vertices become one edge. Both ends add the same numbers in the same order, so the two
 * copies of an edge stay equal. */
static void merge_arcs(struct building *b, struct dfp_metis_graph *graph, double *largest_s)
{
    int32_t n_out = 0;
    *largest_s = 0;
    for (int32_t v = 0; v < graph->n; v++) {
        int32_t begin = n_out;
        for (uint64_t i = b->first[v]; i < b->first[v + 1]; i++) {
            int32_t w = b->neighbour[i];
            if (b->met_at[w] < begin) {
                b->met_at[w] = n_out;
                b->neighbour[n_out] = w; /* n_out is never past i, so what is overwritten was read before */
                b->arc_s[n_out++] = b->arc_s[i];
            } else {
                b->arc_s[b->met_at[w]] += b->arc_s[i];
            }
        }
        for (int32_t i = begin; i < n_out; i++)
            *largest_s = b->arc_s[i] > *largest_s ? b->arc_s[i] : *largest_s;
        graph->first[v + 1] = n_out;
    }
    graph->n_edges = n_out / 2;
}

static int build(const struct dfp_model *model, enum dfp_vertex_weight weight, struct building *b,
                 struct dfp_metis_graph *graph, struct df_error *error)
{
    const struct df_graph *g = model->problem->graph;
    size_t n_nodes = g->n_nodes;
    b->vertex_of = malloc((n_nodes + 1) * sizeof *b->vertex_of);
    b->vertex_s = malloc((n_nodes + 1) * sizeof *b->vertex_s);
    b->first = calloc(n_nodes + 1, sizeof *b->first);
    b->met_at = malloc((n_nodes + 1) * sizeof *b->met_at);
    graph->node = malloc((n_nodes + 1) * sizeof *graph->node);
    graph->first = calloc(n_nodes + 1, sizeof *graph->first);
    graph->vertex_weight = malloc((n_nodes + 1) * sizeof *graph->vertex_weight);
    if (!b->vertex_of || !b->vertex_s || !b->first || !b->met_at || !graph->node || !graph->first ||
        !graph->vertex_weight)
        return dfr_error_memory(error);
    if (n_nodes > INT32_MAX / 4 || g->n_readers > INT32_MAX / 4)
        return dfr_error(error, DF_E_ARGUMENT, "the graph is too large for METIS, whose numbers have 32 bits");

    double largest_s = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        b->vertex_of[v] = dfp_node_is_free(g, v) ? DF_NONE : (uint32_t)graph->n;
        if (b->vertex_of[v] == DF_NONE)
            continue;
        double time_s = node_weight_s(model, v, weight);
        largest_s = time_s > largest_s ? time_s : largest_s;
        b->vertex_s[graph->n] = time_s;
        b->met_at[graph->n] = -1;
        graph->node[graph->n++] = v;
    }
    double scale = scale_for(largest_s, graph->n);
    for (int32_t v = 0; v < graph->n; v++)
        graph->vertex_weight[v] = scaled(b->vertex_s[v], scale);

    if (!list_arcs(b, graph->n))
        return dfr_error_memory(error);
    merge_arcs(b, graph, &largest_s);
    size_t n_out = (size_t)graph->n_edges * 2;
    graph->adjacent = malloc((n_out + 1) * sizeof *graph->adjacent);
    graph->edge_weight = malloc((n_out + 1) * sizeof *graph->edge_weight);
    if (!graph->adjacent || !graph->edge_weight)
        return dfr_error_memory(error);
    scale = scale_for(largest_s, (int64_t)n_out);
    for (size_t i = 0; i < n_out; i++) {
        graph->adjacent[i] = b->neighbour[i];
        graph->edge_weight[i] = scaled(b->arc_s[i], scale);
    }
    return DF_OK;
}

int dfp_metis_graph_make(const struct dfp_model *model, enum dfp_vertex_weight weight, enum dfp_edges edges,
                         struct dfp_metis_graph *graph, struct df_error *error)
{
    struct building b = { .graph = model->problem->graph, .platform = model->problem->platform };
    b.edges = has_peers(b.platform) ? edges : DFP_EDGES_HOST;
    *graph = (struct dfp_metis_graph){ 0 };
    int code = build(model, weight, &b, graph, error);
    free(b.vertex_of);
    free(b.vertex_s);
    free(b.first);
    free(b.met_at);
    free(b.neighbour);
    free(b.arc_s);
    if (code)
        dfp_metis_graph_free(graph);
    return code;
}

void dfp_metis_graph_free(struct dfp_metis_graph *graph)
{
    free(graph->first);
    free(graph->adjacent);
    free(graph->edge_weight);
    free(graph->vertex_weight);
    free(graph->node);
    *graph = (struct dfp_metis_graph){ 0 };
}

int dfp_metis_graph_extract(const struct dfp_metis_graph *graph, const int32_t *side, int32_t which,
                            struct dfp_metis_graph *part, struct df_error *error)
{
    size_t n = (size_t)graph->n + 1, m = (size_t)graph->n_edges * 2 + 1;
    *part = (struct dfp_metis_graph){ 0 };
    int32_t *number = malloc(n * sizeof *number);
    part->first = malloc(n * sizeof *part->first);
    part->vertex_weight = malloc(n * sizeof *part->vertex_weight);
    part->node = malloc(n * sizeof *part->node);
    part->adjacent = malloc(m * sizeof *part->adjacent);
    part->edge_weight = malloc(m * sizeof *part->edge_weight);
    if (!number || !part->first || !part->vertex_weight || !part->node || !part->adjacent || !part->edge_weight) {
        free(number);
        dfp_metis_graph_free(part);
        return dfr_error_memory(error);
    }
    for (int32_t v = 0; v < graph->n; v++)
        number[v] = side[v] == which ? part->n++ : -1;
    int32_t at = 0;
    for (int32_t v = 0; v < graph->n; v++) {
        if (number[v] < 0)
            continue;
        part->first[number[v]] = at;
        part->vertex_weight[number[v]] = graph->vertex_weight[v];
        part->node[number[v]] = graph->node[v];
        for (int32_t i = graph->first[v]; i < graph->first[v + 1]; i++)
            if (number[graph->adjacent[i]] >= 0) {
                part->adjacent[at] = number[graph->adjacent[i]];
                part->edge_weight[at++] = graph->edge_weight[i];
            }
    }
    part->first[part->n] = at;
    part->n_edges = at / 2;
    free(number);
    return DF_OK;
}

/* ---- target shares ---- */

void dfp_target_shares(const struct dfp_model *model, enum dfp_ratio ratio, double *share)
{
    const struct df_graph *g = model->problem->graph;
    const struct df_platform *platform = model->problem->platform;
    double host_s = 0, device_s = 0, own_s[DF_MAX_UNITS] = { 0 }, inverse = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t device = dfp_model_fastest(model, v, true);
        double cpu_s = dfp_model_time_s(model, v, 0), rate = (double)g->nodes[v].rate;
        if (dfp_node_is_free(g, v) || device == DF_NONE || isnan(cpu_s))
            continue;                   /* it cannot move, so it has no part in the ratio */
        host_s += cpu_s * rate;
        device_s += dfp_model_time_s(model, v, device) * rate;
        for (uint32_t u = 1; u < model->n_units; u++) {
            double time_s = dfp_model_time_s(model, v, u);
            own_s[u] += (isnan(time_s) ? cpu_s : time_s) * rate;
        }
    }
    for (uint32_t u = 0; u < model->n_units; u++)
        share[u] = u == 0;
    if (host_s <= 0 || device_s <= 0)
        return;
    for (uint32_t u = 1; u < model->n_units; u++)
        inverse += 1 / own_s[u];
    if (ratio == DFP_RATIO_PER_WORKER)
        host_s /= platform->units[0].workers;
    share[0] = device_s / (device_s + host_s);
    for (uint32_t u = 1; u < model->n_units; u++)
        share[u] = (1 - share[0]) / own_s[u] / inverse;
}
