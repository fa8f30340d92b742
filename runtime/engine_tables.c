/* engine_tables.c - what the firing rule needs to know of each node, found out once: how many releases its job waits
 * for, and what kind of node it is. The rule itself is engine.c's, the meaning of the words engine.h's.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/engine.h"
#include "runtime/error.h"

static bool has_reader(const struct df_run *run, uint32_t node, bool once_only)
{
    const struct df_graph *g = run->graph;
    uint32_t first = g->nodes[node].first_out;
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        for (uint32_t i = 0; i < g->values[y].n_readers; i++)
            if (!once_only || g->nodes[g->readers[g->values[y].first_reader + i].node].flags & DF_NODE_ONCE)
                return true;
    return false;
}

static uint32_t read_outputs(const struct df_graph *g, uint32_t node)
{
    uint32_t first = g->nodes[node].first_out, n = 0;
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        n += g->values[y].n_readers > 0;
    return n;
}

/* Inputs that come anew with each wave (of a once node: all). */
static uint32_t waited_inputs(const struct df_graph *g, uint32_t node)
{
    const uint32_t *in = g->in_value + g->nodes[node].first_in;
    bool once = g->nodes[node].flags & DF_NODE_ONCE;
    uint32_t n = 0;
    for (uint32_t k = 0; k < df_node_n_in(g, node); k++)
        n += once || !(g->nodes[g->values[in[k]].producer].flags & DF_NODE_ONCE);
    return n;
}

static void describe_node(struct df_run *run, uint32_t v)
{
    const struct df_graph *g = run->graph;
    const struct df_kernel *kernel = &g->kernels[g->nodes[v].kernel];
    struct dfr_node *n = &run->nodes[v];
    uint32_t depth = g->nodes[v].depth;

    n->need = waited_inputs(g, v);
    n->flags = kernel->flags & DF_KERNEL_COPY ? DFR_N_COPY : 0;
    if (g->nodes[v].flags & DF_NODE_ONCE) {
        n->flags |= DFR_N_ONCE | (has_reader(run, v, true) ? 0 : DFR_N_TERMINAL);
        return;
    }
    if (!has_reader(run, v, false))
        n->flags |= DFR_N_TERMINAL;
    if (n->need == 0) {
        n->flags |= DFR_N_SOURCE | (kernel->traits & DF_STREAM ? DFR_N_STREAM : 0);
        n->need++;
    }
    if (depth > 0 && depth < run->inflight && read_outputs(g, v) > 0) {
        n->flags |= DFR_N_BOUNDED | DFR_N_IN_ORDER;
        n->depth = depth;
        n->need += read_outputs(g, v);
    }
    if (kernel->traits & (DF_ORDERED | DF_STREAM))
        n->flags |= DFR_N_IN_ORDER;
    if (n->flags & DFR_N_IN_ORDER)
        n->need++;
}

static void list_nodes(struct df_run *run)
{
    for (uint32_t v = 0; v < run->graph->n_nodes; v++) {
        uint32_t flags;
        describe_node(run, v);
        flags = run->nodes[v].flags;
        if (flags & DFR_N_ONCE) {
            run->n_once++;
            run->n_once_terminals += (flags & DFR_N_TERMINAL) != 0;
            continue;
        }
        run->n_terminals += (flags & DFR_N_TERMINAL) != 0;
        if (flags & DFR_N_STREAM)
            run->streams[run->n_streams++] = v;
        else if (flags & DFR_N_SOURCE)
            run->sources[run->n_sources++] = v;
    }
    atomic_init(&run->once_left, run->n_once_terminals);
}

/* Wave s begins in slot s with nothing before it to wait for. */
static void init_pending(struct df_run *run)
{
    uint32_t n_nodes = run->graph->n_nodes;
    for (uint32_t s = 0; s <= run->inflight; s++)
        for (uint32_t v = 0; v < n_nodes; v++) {
            const struct dfr_node *n = &run->nodes[v];
            uint32_t count = n->need;
            if (s == 0 && n->flags & DFR_N_IN_ORDER)
                count--;
            if (n->flags & DFR_N_BOUNDED && s < n->depth)
                count -= read_outputs(run->graph, v);
            atomic_init(&run->pending[(size_t)s * n_nodes + v], count);
        }
}

int dfr_engine_create(struct df_run *run, struct df_error *error)
{
    size_t n_nodes = run->graph->n_nodes ? run->graph->n_nodes : 1;

    run->nodes = calloc(n_nodes, sizeof *run->nodes);
    run->pending = malloc(n_nodes * (run->inflight + 1) * sizeof *run->pending);
    run->slots = aligned_alloc(64, (run->inflight + 1) * sizeof *run->slots);
    run->streams = malloc(n_nodes * sizeof *run->streams);
    run->sources = malloc(n_nodes * sizeof *run->sources);
    if (!run->nodes || !run->pending || !run->slots || !run->streams || !run->sources)
        return dfr_error_memory(error);
    memset(run->slots, 0, (run->inflight + 1) * sizeof *run->slots);
    list_nodes(run);
    init_pending(run);
    if (run->n_once == run->graph->n_nodes)
        atomic_init(&run->limit, 0);    /* nothing to do in a wave */
    return DF_OK;
}

void dfr_engine_destroy(struct df_run *run)
{
    free(run->nodes);
    free(run->pending);
    free(run->slots);
    free(run->streams);
    free(run->sources);
}
