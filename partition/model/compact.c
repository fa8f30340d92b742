/* compact.c - builds the compact form of a problem, arrays that gp, the list schedulers, the bound and `dfc simulate`
 * read instead of the graph, and repeats it for several waves (compact.h).
 */
#include <stdlib.h>
#include <string.h>

#include "partition/model/compact.h"
#include "runtime/base/error.h"

static bool allocate(struct dfp_compact *c, const struct df_graph *g)
{
    size_t n = (size_t)g->n_nodes + 1, m = (size_t)g->n_values + 1, r = (size_t)g->n_readers + 1;
    c->time_s = malloc(n * c->n_units * sizeof *c->time_s);
    c->width = malloc(n * sizeof *c->width);
    c->is_free = malloc(n);
    c->first_out = malloc(n * sizeof *c->first_out);
    c->producer = malloc(m * sizeof *c->producer);
    c->is_empty = malloc(m);
    c->first_reader = malloc(m * sizeof *c->first_reader);
    c->reader = malloc(r * sizeof *c->reader);
    c->first_in = malloc(n * sizeof *c->first_in);
    c->in = malloc(r * sizeof *c->in);
    c->to_s = malloc(m * c->n_units * sizeof *c->to_s);
    c->from_s = malloc(m * c->n_units * sizeof *c->from_s);
    c->peer_s = c->has_peers ? malloc(m * c->n_units * sizeof *c->peer_s) : NULL;
    c->movable = malloc(n * sizeof *c->movable);
    c->source = malloc(n * sizeof *c->source);
    c->initial_reader = malloc(r * sizeof *c->initial_reader);
    c->initial_value = malloc(r * sizeof *c->initial_value);
    c->allowed = malloc(n * sizeof *c->allowed);
    return c->time_s && c->width && c->is_free && c->first_out && c->producer && c->is_empty && c->first_reader &&
           c->reader && c->first_in && c->in && c->to_s && c->from_s && c->movable && c->source &&
           c->initial_reader && c->initial_value && c->allowed && (c->peer_s || !c->has_peers);
}

static int fill_nodes(struct dfp_compact *c, struct df_error *error)
{
    const struct df_graph *g = c->model.problem->graph;
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        c->is_free[v] = dfp_node_is_free(g, v);
        c->width[v] = (uint16_t)dfp_model_workers(&c->model, v, 0);
        c->allowed[v] = 0;
        for (uint32_t u = 0; u < c->n_units; u++) {
            double time_s = dfp_model_time_s(&c->model, v, u);
            c->time_s[(size_t)v * c->n_units + u] = isnan(time_s) ? INFINITY : time_s;
            if (!isnan(time_s))
                c->allowed[v] |= 1u << u;
        }
        if (!c->allowed[v])
            return dfp_refuse(&c->model, v, error);
        c->n_costed += !c->is_free[v];
        if (c->allowed[v] & (c->allowed[v] - 1))
            c->movable[c->n_movable++] = v;
    }
    return DF_OK;
}

/* A value's readers are in no promised order, and a node may be there several times. mark[node] == value says that the
 * node is listed already. */
static void fill_arcs(struct dfp_compact *c, uint32_t *mark)
{
    const struct df_graph *g = c->model.problem->graph;
    const struct df_platform *platform = c->model.problem->platform;
    uint32_t n_readers = 0, n_in = 0;
    memset(mark, 0xff, c->n_nodes * sizeof *mark);
    for (uint32_t v = 0; v < c->n_values; v++) {
        const struct df_value *value = &g->values[v];
        c->producer[v] = value->producer;
        c->is_empty[v] = !value->bytes;
        c->first_reader[v] = n_readers;
        for (uint32_t r = value->first_reader; r < value->first_reader + value->n_readers; r++)
            if (mark[g->readers[r].node] != v) {
                mark[g->readers[r].node] = v;
                c->reader[n_readers++] = g->readers[r].node;
            }
        for (uint32_t u = 0; u < c->n_units; u++) {
            c->to_s[(size_t)v * c->n_units + u] = dfp_copy_time_s(platform, 0, u, value->bytes);
            c->from_s[(size_t)v * c->n_units + u] = dfp_copy_time_s(platform, u, 0, value->bytes);
            if (c->has_peers)
                c->peer_s[(size_t)v * c->n_units + u] =
                    c->peers[u] && value->bytes ? df_link_time_s(&platform->units[u].peer, value->bytes) : 0;
        }
    }
    c->first_reader[c->n_values] = n_readers;
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        const uint32_t *in = g->in_value + g->nodes[v].first_in;
        c->first_in[v] = n_in;
        for (uint32_t i = 0; i < df_node_n_in(g, v); i++) {
            uint32_t k = c->first_in[v];
            while (k < n_in && c->in[k] != in[i])
                k++;
            if (k == n_in)
                c->in[n_in++] = in[i];
        }
        c->first_out[v] = g->nodes[v].first_out;
    }
    c->first_in[c->n_nodes] = n_in;
    c->first_out[c->n_nodes] = c->n_values;
}

static void fill_initial(struct dfp_compact *c)
{
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        if (c->first_in[v] == c->first_in[v + 1])
            c->source[c->n_sources++] = v;
        for (uint32_t i = c->first_in[v]; i < c->first_in[v + 1]; i++) {
            uint32_t from = c->producer[c->in[i]];
            if (c->is_free[from] && c->first_in[from] == c->first_in[from + 1]) {
                c->initial_reader[c->n_initial] = v;
                c->initial_value[c->n_initial++] = c->in[i];
            }
        }
    }
}

int dfp_compact_make(const struct dfp_problem *problem, struct dfp_compact *compact, struct df_error *error)
{
    struct dfp_compact c = { .n_nodes = problem->graph->n_nodes, .n_values = problem->graph->n_values };
    int code = dfp_model_init(&c.model, problem, error);
    if (code)
        return code;
    c.n_units = c.model.n_units;
    c.host_workers = problem->platform->units[0].workers;
    for (uint32_t u = 0; u < c.n_units; u++) {
        c.workers[u] = problem->platform->units[u].workers;
        c.handover_s[u] = problem->platform->units[u].handover_s;
        c.shared_engine[u] = problem->platform->units[u].engines == 1;
        c.peers[u] = df_platform_peers(problem->platform, u);
        c.has_peers = c.has_peers || c.peers[u];
    }
    uint32_t *mark = malloc(((size_t)c.n_nodes + 1) * sizeof *mark);
    code = allocate(&c, problem->graph) && mark ? fill_nodes(&c, error) : dfr_error_memory(error);
    if (!code) {
        fill_arcs(&c, mark);
        fill_initial(&c);
    }
    free(mark);
    if (code)
        dfp_compact_free(&c);
    else
        *compact = c;
    return code;
}

static void scale_jobs(struct dfp_compact *c, uint32_t v, double factor)
{
    for (uint32_t u = 0; u < c->n_units; u++)
        c->time_s[(size_t)v * c->n_units + u] *= factor;
}

static void scale_copies(struct dfp_compact *c, uint32_t value, double factor)
{
    for (size_t i = (size_t)value * c->n_units; i < ((size_t)value + 1) * c->n_units; i++) {
        c->to_s[i] *= factor;
        c->from_s[i] *= factor;
        if (c->has_peers)
            c->peer_s[i] *= factor;
    }
}

static void scale_node(struct dfp_compact *c, uint32_t v, double factor)
{
    scale_jobs(c, v, factor);
    for (uint32_t x = c->first_out[v]; x < c->first_out[v + 1]; x++)
        scale_copies(c, x, factor);
}

void dfp_compact_apply_rates(struct dfp_compact *c, uint32_t n_waves)
{
    const struct df_graph *g = c->model.problem->graph;
    for (uint32_t v = 0; v < c->n_nodes; v++)
        scale_jobs(c, v, g->nodes[v].rate);
    for (uint32_t x = 0; x < c->n_values; x++)
        scale_copies(c, x, df_value_rate(g, x));
    dfp_compact_spread_once(c, n_waves);
}

void dfp_compact_spread_once(struct dfp_compact *c, uint32_t n_waves)
{
    for (uint32_t v = 0; v < c->n_nodes; v++)
        if (c->model.problem->graph->nodes[v].flags & DF_NODE_ONCE)
            scale_node(c, v, 1.0 / n_waves);
    for (uint32_t x = 0; x < c->n_values; x++)
        if (df_value_is_acc(c->model.problem->graph, x) && n_waves > 1)
            scale_copies(c, x, 1.0 / n_waves); /* it is read once, after the last wave */
}

/* ---- the same graph several times side by side ---- */

static void repeat_nodes(struct dfp_compact *to, const struct dfp_compact *c, uint32_t i)
{
    uint32_t node = i * c->n_nodes, value = i * c->n_values, units = c->n_units;
    uint32_t n_in = c->first_in[c->n_nodes];
    memcpy(to->time_s + (size_t)node * units, c->time_s, (size_t)c->n_nodes * units * sizeof *c->time_s);
    memcpy(to->width + node, c->width, c->n_nodes * sizeof *c->width);
    memcpy(to->is_free + node, c->is_free, c->n_nodes);
    memcpy(to->allowed + node, c->allowed, c->n_nodes * sizeof *c->allowed);
    for (uint32_t v = 0; v <= c->n_nodes; v++) {
        to->first_out[node + v] = value + c->first_out[v];
        to->first_in[node + v] = i * n_in + c->first_in[v];
    }
    for (uint32_t k = 0; k < n_in; k++)
        to->in[i * n_in + k] = value + c->in[k];
    for (uint32_t k = 0; k < c->n_movable; k++)
        to->movable[to->n_movable++] = node + c->movable[k];
    for (uint32_t k = 0; k < c->n_sources; k++)
        to->source[to->n_sources++] = node + c->source[k];
}

static void repeat_values(struct dfp_compact *to, const struct dfp_compact *c, uint32_t i)
{
    uint32_t node = i * c->n_nodes, value = i * c->n_values, n_readers = c->first_reader[c->n_values];
    size_t n_times = (size_t)c->n_values * c->n_units;
    memcpy(to->is_empty + value, c->is_empty, c->n_values);
    memcpy(to->to_s + i * n_times, c->to_s, n_times * sizeof *c->to_s);
    memcpy(to->from_s + i * n_times, c->from_s, n_times * sizeof *c->from_s);
    if (c->has_peers)
        memcpy(to->peer_s + i * n_times, c->peer_s, n_times * sizeof *c->peer_s);
    for (uint32_t x = 0; x < c->n_values; x++)
        to->producer[value + x] = node + c->producer[x];
    for (uint32_t x = 0; x <= c->n_values; x++)
        to->first_reader[value + x] = i * n_readers + c->first_reader[x];
    for (uint32_t k = 0; k < n_readers; k++)
        to->reader[i * n_readers + k] = node + c->reader[k];
    for (uint32_t k = 0; k < c->n_initial; k++) {
        to->initial_reader[to->n_initial] = node + c->initial_reader[k];
        to->initial_value[to->n_initial++] = value + c->initial_value[k];
    }
}

int dfp_compact_repeat(const struct dfp_compact *c, uint32_t n, struct dfp_compact *repeated, struct df_error *error)
{
    struct df_graph size = { .n_nodes = n * c->n_nodes, .n_values = n * c->n_values,
                             .n_readers = n * c->first_reader[c->n_values] };
    struct dfp_compact to = { .model = c->model, .n_nodes = size.n_nodes, .n_values = size.n_values,
                              .n_units = c->n_units, .n_costed = n * c->n_costed, .host_workers = c->host_workers,
                              .has_peers = c->has_peers };
    memcpy(to.workers, c->workers, sizeof to.workers);
    memcpy(to.handover_s, c->handover_s, sizeof to.handover_s);
    memcpy(to.peers, c->peers, sizeof to.peers);
    memcpy(to.shared_engine, c->shared_engine, sizeof to.shared_engine);
    if (!allocate(&to, &size)) {
        dfp_compact_free(&to);
        return dfr_error_memory(error);
    }
    for (uint32_t i = 0; i < n; i++) {
        repeat_nodes(&to, c, i);
        repeat_values(&to, c, i);
    }
    *repeated = to;
    return DF_OK;
}

void dfp_compact_free(struct dfp_compact *c)
{
    free(c->time_s);
    free(c->width);
    free(c->is_free);
    free(c->first_out);
    free(c->producer);
    free(c->is_empty);
    free(c->first_reader);
    free(c->reader);
    free(c->first_in);
    free(c->in);
    free(c->to_s);
    free(c->from_s);
    free(c->peer_s);
    free(c->movable);
    free(c->source);
    free(c->initial_reader);
    free(c->initial_value);
    free(c->allowed);
    *c = (struct dfp_compact){ 0 };
}
