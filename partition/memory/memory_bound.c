/* memory_bound.c - a lower bound on the bytes of any memory plan: how many bytes are live at once. memory.c calls it.
 *
 * Take a set of nodes that have run, together with all their predecessors. Then all nodes that are ready may run at the
 * same time. So what the set made and is still to be read is live together with what the ready nodes write. The bound
 * is the largest such moment in three orders: by number, each node as early as possible, and each node as late as
 * possible. Each of them is a schedule that can happen, so no plan that holds in any order has fewer bytes. Some other
 * order may have a larger moment.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/memory/memory.h"
#include "runtime/base/error.h"

struct walk {
    const struct df_graph *g;
    const struct dfp_memory *m;
    uint32_t *order, *level;
    uint32_t *waits_for;                /* of a node: number of arcs from nodes that have not run */
    uint32_t *left;                     /* of a tenant: number of ends that have not run */
    uint64_t *writes;                   /* of a node: bytes of the tenants that it writes first */
    uint64_t held, ready, most;         /* bytes still to be read; bytes that ready nodes write; the most of both */
};

static bool once(const struct df_graph *g, uint32_t node)
{
    return g->nodes[node].flags & DF_NODE_ONCE;
}

static uint32_t producer_of_input(const struct df_graph *g, uint32_t node, uint32_t k)
{
    return g->values[g->in_value[g->nodes[node].first_in + k]].producer;
}

static void begin(struct walk *w)
{
    const struct df_graph *g = w->g;
    w->held = w->ready = 0;
    for (uint32_t t = 0; t < w->m->n_wave; t++) {
        const struct dfp_tenant *tenant = &w->m->tenants[t];
        w->left[t] = 0;
        for (uint32_t x = tenant->last; x != DF_NONE; x = tenant->shared ? w->m->next[x] : DF_NONE)
            w->left[t] += g->values[x].n_readers ? g->values[x].n_readers : 1;
    }
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        w->waits_for[v] = 0;
        for (uint32_t k = 0; k < df_node_n_in(g, v); k++)
            w->waits_for[v] += !once(g, producer_of_input(g, v, k));
        if (!w->waits_for[v] && !once(g, v))
            w->ready += w->writes[v];
    }
    w->most = w->ready > w->most ? w->ready : w->most;
}

static void end_of(struct walk *w, uint32_t value)
{
    uint32_t t = w->m->of_value[value];
    if (t < w->m->n_wave && (w->m->tenants[t].shared || w->m->tenants[t].last == value) && --w->left[t] == 0)
        w->held -= w->m->tenants[t].bytes;
}

/* The node ends: its inputs may end, its outputs are held, and its readers may become ready. */
static void end_node(struct walk *w, uint32_t v)
{
    const struct df_graph *g = w->g;
    uint32_t first = g->nodes[v].first_out;
    w->ready -= w->writes[v];
    w->held += w->writes[v];
    for (uint32_t k = 0; k < df_node_n_in(g, v); k++)
        end_of(w, g->in_value[g->nodes[v].first_in + k]);
    for (uint32_t y = first; y < first + df_node_n_out(g, v); y++) {
        const struct df_value *value = &g->values[y];
        if (value->n_readers == 0)
            end_of(w, y);
        for (uint32_t r = value->first_reader; r < value->first_reader + value->n_readers; r++)
            if (--w->waits_for[g->readers[r].node] == 0)
                w->ready += w->writes[g->readers[r].node];
    }
    if (w->held + w->ready > w->most)
        w->most = w->held + w->ready;
}

static void run(struct walk *w)
{
    begin(w);
    for (uint32_t i = 0; i < w->g->n_nodes; i++)
        if (!once(w->g, w->order[i]))
            end_node(w, w->order[i]);
}

/* ---- orders ---- */

/* Sorts the nodes by level, and by number within a level. count[n_nodes + 2] is scratch. */
static void order_by_level(struct walk *w, uint32_t *count)
{
    uint32_t n = w->g->n_nodes;
    memset(count, 0, ((size_t)n + 2) * sizeof *count);
    for (uint32_t v = 0; v < n; v++)
        count[w->level[v] + 1]++;
    for (uint32_t l = 0; l < n; l++)
        count[l + 1] += count[l];
    for (uint32_t v = 0; v < n; v++)
        w->order[count[w->level[v]]++] = v;
}

static void levels_from_sources(struct walk *w)
{
    for (uint32_t v = 0; v < w->g->n_nodes; v++) {
        w->level[v] = 0;
        for (uint32_t k = 0; k < df_node_n_in(w->g, v); k++) {
            uint32_t after = w->level[producer_of_input(w->g, v, k)] + 1;
            w->level[v] = after > w->level[v] ? after : w->level[v];
        }
    }
}

static void levels_to_sinks(struct walk *w)
{
    uint32_t n = w->g->n_nodes;
    for (uint32_t v = 0; v < n; v++)
        w->level[v] = n - 1;
    for (uint32_t v = n; v-- > 0;)
        for (uint32_t k = 0; k < df_node_n_in(w->g, v); k++) {
            uint32_t *before = &w->level[producer_of_input(w->g, v, k)];
            *before = *before < w->level[v] ? *before : w->level[v] - 1;
        }
}

int dfp_memory_bound(const struct df_graph *g, struct dfp_memory *m, struct df_error *error)
{
    struct walk w = { .g = g, .m = m };
    size_t n = (size_t)g->n_nodes + 2;
    uint32_t *count = malloc(n * sizeof *count);
    w.order = malloc(n * sizeof *w.order);
    w.level = malloc(n * sizeof *w.level);
    w.waits_for = malloc(n * sizeof *w.waits_for);
    w.left = malloc(((size_t)m->n_wave + 1) * sizeof *w.left);
    w.writes = calloc(n, sizeof *w.writes);
    int code = DF_OK;
    if (!count || !w.order || !w.level || !w.waits_for || !w.left || !w.writes) {
        code = dfr_error_memory(error);
    } else {
        for (uint32_t t = 0; t < m->n_wave; t++)
            w.writes[dfp_tenant_writer(g, &m->tenants[t])] += m->tenants[t].bytes;
        for (uint32_t v = 0; v < g->n_nodes; v++)
            w.order[v] = v;
        run(&w);
        levels_from_sources(&w);
        order_by_level(&w, count);
        run(&w);
        levels_to_sinks(&w);
        order_by_level(&w, count);
        run(&w);
        m->any_bound_bytes = w.most;
    }
    free(count);
    free(w.order);
    free(w.level);
    free(w.waits_for);
    free(w.left);
    free(w.writes);
    return code;
}
