/* gp_metis.c - initial placements for the policy gp by METIS, for gp_starts.c: the partition of Wu's thesis, and further bisections with other shares and
 * weights. Other cuts balance the host's time and the devices' time as two constraints. The devices' part is split among several devices. Finally METIS finds
 * clusters of neighbours, which refinement moves together.
 *
 * Sides:    METIS's labels are arbitrary. If both shares are nearly equal, both assignments are tried.
 * Shares:   a share of less than 2 % may give an empty part, so it is raised to 2 %.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "partition/cut/metis_call.h"
#include "runtime/base/error.h"

#define SMALLEST_SHARE 0.02
#define LARGEST_WEIGHT 1000

/* ---- sides to places ---- */

/* Vertices with side[v] == host_side go to the host, the others to devices if they can run there. */
static int try_sides(struct dfp_search *search, const struct dfp_metis_graph *graph, const int32_t *side,
                     int32_t host_side, struct df_error *error)
{
    const struct dfp_compact *c = &search->compact;
    int code = dfp_place_all(&c->model, 0, search->place, error);
    if (code)
        return code;
    for (int32_t v = 0; v < graph->n; v++) {
        uint32_t node = graph->node[v], devices = c->allowed[node] & ~1u;
        if (side[v] != host_side && devices)
            search->place[node] = (uint16_t)__builtin_ctz(devices);
    }
    dfp_place_free_nodes(&c->model, search->place);
    if (c->n_units > 2)
        code = dfp_list_split(search, error);
    if (!code)
        dfp_search_try(search, true);
    return code;
}

/* ---- one weight ---- */

static double clamped(double share)
{
    return share < SMALLEST_SHARE ? SMALLEST_SHARE : share > 1 - SMALLEST_SHARE ? 1 - SMALLEST_SHARE : share;
}

/* Whether the host has more to do than the devices, in the placement that was evaluated last. */
static bool host_carries_more(const struct dfp_search *search)
{
    const struct dfp_compact *c = &search->compact;
    double devices_s = 0;
    for (uint32_t u = 1; u < c->n_units; u++)
        devices_s += search->state.load_s[u] / c->workers[u] / (c->n_units - 1);
    return search->state.load_s[0] / c->workers[0] > devices_s;
}

/* The host's share begins with the thesis's ratio with host time per worker. It is bisected until host and devices
 * carry the same. */
static int single_cuts(struct dfp_search *search, enum dfp_vertex_weight weight, uint32_t n_cuts, int32_t *side,
                       struct df_error *error)
{
    const struct dfp_compact *c = &search->compact;
    struct dfp_metis_graph graph;
    double shares[DF_MAX_UNITS], low = 0, high = 1;
    int code = dfp_metis_graph_make(&c->model, weight, DFP_EDGES_HOST, &graph, error);
    if (code)
        return code;
    dfp_target_shares(&c->model, DFP_RATIO_PER_WORKER, shares);
    for (uint32_t i = 0; i < n_cuts && graph.n > 1 && !code; i++) {
        double share = clamped(i ? (low + high) / 2 : shares[0]);
        const float targets[2] = { (float)share, (float)(1 - share) };
        const struct dfp_metis_cut cut = { .n_parts = 2, .n_weights = 1, .share = targets,
                                           .seed = search->options->seed + i };
        code = dfp_metis_call(&graph, &cut, side, error);
        if (!code && fabs(share - 0.5) < 0.1) /* then the labels say little: the other way round is tried, too */
            code = try_sides(search, &graph, side, 1, error);
        if (!code)
            code = try_sides(search, &graph, side, 0, error);
        if (!code && host_carries_more(search))
            high = share;
        else
            low = share;
    }
    dfp_metis_graph_free(&graph);
    return code;
}

/* ---- two weights ---- */

/* The host's share of all host time, and of all devices' time, in the solution of the area bound. Some nodes cost the
 * same on both sides; in a graph of few kernels most do. They go to the host in part, until the host has its share. */
static void area_shares(const struct dfp_search *search, const struct dfp_metis_graph *graph, const double *device_s,
                        double *host_share, double *device_share)
{
    enum { HOST, EITHER, DEVICES };
    const struct dfp_compact *c = &search->compact;
    double host[3] = { 0 }, device[3] = { 0 }, bound_s = search->area_s * c->workers[0];
    for (int32_t v = 0; v < graph->n; v++) {
        uint32_t node = graph->node[v];
        double host_s = dfp_compact_time_s(c, node, 0);
        if (!(c->allowed[node] & 1u) || !(device_s[v] < INFINITY)) {
            bound_s -= c->allowed[node] & 1u ? host_s : 0;
            continue;
        }
        double here = search->price[0] * host_s / c->workers[0];
        double there = (1 - search->price[0]) * device_s[v] / (c->n_units - 1);
        int side = fabs(here - there) <= 1e-6 * here ? EITHER : here < there ? HOST : DEVICES;
        host[side] += host_s;
        device[side] += device_s[v];
    }
    double part = host[EITHER] > 0 ? (bound_s - host[HOST]) / host[EITHER] : 0;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    double all_host = host[HOST] + host[EITHER] + host[DEVICES];
    double all_device = device[HOST] + device[EITHER] + device[DEVICES];
    *host_share = all_host > 0 ? (host[HOST] + part * host[EITHER]) / all_host : 0;
    *device_share = all_device > 0 ? (device[HOST] + part * device[EITHER]) / all_device : 0;
}

static int32_t scaled(double x, double largest)
{
    double w = largest > 0 ? x / largest * LARGEST_WEIGHT : 0;
    return w < 1 ? 1 : (int32_t)w;
}

static int double_cuts(struct dfp_search *search, uint32_t n_cuts, int32_t *side, struct df_error *error)
{
    static const double stretch[] = { 1, 1, 0.9, 1.1 };
    const struct dfp_compact *c = &search->compact;
    struct dfp_metis_graph graph;
    int code = dfp_metis_graph_make(&c->model, DFP_WEIGHT_GPU, DFP_EDGES_HOST, &graph, error);
    if (code)
        return code;
    int32_t *weight = malloc(((size_t)graph.n + 1) * 2 * sizeof *weight);
    double *device_s = malloc(((size_t)graph.n + 1) * sizeof *device_s), largest[2] = { 0, 0 };
    if (!weight || !device_s)
        code = dfr_error_memory(error);
    for (int32_t v = 0; v < graph.n && !code; v++) {
        double host_s = dfp_compact_time_s(c, graph.node[v], 0);
        device_s[v] = INFINITY;
        for (uint32_t u = 1; u < c->n_units; u++)
            if (dfp_compact_time_s(c, graph.node[v], u) < device_s[v])
                device_s[v] = dfp_compact_time_s(c, graph.node[v], u);
        if (host_s < INFINITY && host_s > largest[0])
            largest[0] = host_s;
        if (device_s[v] < INFINITY && device_s[v] > largest[1])
            largest[1] = device_s[v];
    }
    for (int32_t v = 0; v < graph.n && !code; v++) {
        double host_s = dfp_compact_time_s(c, graph.node[v], 0);
        weight[2 * v] = host_s < INFINITY ? scaled(host_s, largest[0]) : 1;
        weight[2 * v + 1] = device_s[v] < INFINITY ? scaled(device_s[v], largest[1]) : 1;
    }
    double host_share = 0, device_share = 0;
    if (!code)
        area_shares(search, &graph, device_s, &host_share, &device_share);
    for (uint32_t i = 0; i < n_cuts && i < sizeof stretch / sizeof *stretch && graph.n > 1 && !code; i++) {
        float h = (float)clamped(host_share * stretch[i]), d = (float)clamped(device_share * stretch[i]);
        const float targets[4] = { h, d, 1 - h, 1 - d };
        const struct dfp_metis_cut cut = { .n_parts = 2, .n_weights = 2, .vertex_weight = weight, .share = targets,
                                           .seed = search->options->seed + i };
        code = dfp_metis_call(&graph, &cut, side, error);
        if (!code)
            code = try_sides(search, &graph, side, 0, error);
    }
    free(weight);
    free(device_s);
    dfp_metis_graph_free(&graph);
    return code;
}

/* ---- all of them ---- */

static int thesis(struct dfp_search *search, struct df_error *error)
{
    struct dfp_options options = *search->options;
    int code = DF_OK;
    for (int ratio = 0; ratio < 2 && !code; ratio++) {
        options.ratio = ratio ? DFP_RATIO_PER_WORKER : DFP_RATIO_TOTAL;
        code = dfp_partitioner_gp_thesis.run(search->problem, &options, search->place, error);
        if (!code)
            dfp_search_try(search, true);
    }
    return code;
}

int dfp_metis_run(struct dfp_search *search, uint32_t n_single, uint32_t n_double, struct df_error *error)
{
    const struct dfp_compact *c = &search->compact;
    if (c->n_units < 2 || c->n_costed < 2)
        return DF_OK;
    int32_t *side = malloc(((size_t)c->n_nodes + 1) * sizeof *side);
    int code = side ? DF_OK : dfr_error_memory(error);
    if (!code && n_single)
        code = thesis(search, error);
    if (!code && n_double)
        code = double_cuts(search, n_double, side, error);
    if (!code && n_single)
        code = single_cuts(search, DFP_WEIGHT_GPU, (n_single + 1) / 2, side, error);
    if (!code && n_single > 1)
        code = single_cuts(search, DFP_WEIGHT_CPU, n_single / 2, side, error);
    free(side);
    return code;
}

/* ---- several devices ---- */

int dfp_metis_split(struct dfp_search *search, struct df_error *error)
{
    const struct dfp_compact *c = &search->compact;
    struct dfp_metis_graph graph, devices = { 0 };
    uint32_t n_devices = c->n_units - 1;
    int code = dfp_metis_graph_make(&c->model, DFP_WEIGHT_GPU, DFP_EDGES_DEVICES, &graph, error);
    if (code)
        return code;
    int32_t *part = malloc(((size_t)graph.n + 1) * sizeof *part);
    if (!part)
        code = dfr_error_memory(error);
    for (int32_t v = 0; v < graph.n && !code; v++)
        part[v] = search->place[graph.node[v]] != 0;
    if (!code)
        code = dfp_metis_graph_extract(&graph, part, 1, &devices, error);
    if (!code && devices.n >= 2 * (int32_t)n_devices) {
        const struct dfp_metis_cut cut = { .n_parts = n_devices, .n_weights = 1, .seed = search->options->seed };
        code = dfp_metis_call(&devices, &cut, part, error);
        for (int32_t v = 0; v < devices.n && !code; v++)
            if (c->allowed[devices.node[v]] & 1u << (part[v] + 1))
                search->place[devices.node[v]] = (uint16_t)(part[v] + 1);
    }
    free(part);
    dfp_metis_graph_free(&graph);
    dfp_metis_graph_free(&devices);
    return code;
}

/* ---- clusters ---- */

int dfp_metis_clusters(struct dfp_search *search, struct df_error *error)
{
    const struct dfp_compact *c = &search->compact;
    struct dfp_metis_graph graph;
    int code = dfp_metis_graph_make(&c->model, DFP_WEIGHT_GPU, DFP_EDGES_HOST, &graph, error);
    if (code)
        return code;
    int32_t *part = calloc((size_t)graph.n + 1, sizeof *part);
    search->cluster = malloc(((size_t)c->n_nodes + 1) * sizeof *search->cluster);
    search->n_clusters = (uint32_t)graph.n / 8;
    if (!part || !search->cluster) {
        code = dfr_error_memory(error);
    } else {
        memset(search->cluster, 0xff, c->n_nodes * sizeof *search->cluster);
        const struct dfp_metis_cut cut = { .n_parts = search->n_clusters, .n_weights = 1,
                                           .seed = search->options->seed, .kway = true };
        if (search->n_clusters > 1)
            code = dfp_metis_call(&graph, &cut, part, error);
        for (int32_t v = 0; v < graph.n && !code; v++)
            search->cluster[graph.node[v]] = part[v];
    }
    free(part);
    dfp_metis_graph_free(&graph);
    return code;
}
