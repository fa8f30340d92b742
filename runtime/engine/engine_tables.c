/* engine_tables.c - builds and frees the tables of the firing rule for start/run.c, before and after a run: for each node, the number of releases that its job
 * waits for, and the kind of the node. engine.c applies the rule; engine.h explains the terms.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/engine/buffers.h"
#include "runtime/engine/call.h"
#include "runtime/engine/ports.h"
#include "runtime/threads/large.h"

static bool same_phase(const struct df_graph *g, uint32_t v, uint32_t w)
{
    return ((g->nodes[v].flags ^ g->nodes[w].flags) & (DF_NODE_ONCE | DF_NODE_FINAL)) == 0;
}

/* Does a node of the same phase read what the node makes? What a node of every wave makes is read in every wave, unless it is
 * an acc's. */
static bool has_reader(const struct df_run *run, uint32_t node)
{
    const struct df_graph *g = run->graph;
    uint32_t first = g->nodes[node].first_out;
    bool every_wave = !(g->nodes[node].flags & DF_NODE_ONCE);
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        for (uint32_t i = 0; i < g->values[y].n_readers; i++)
            if (every_wave ? !df_value_is_acc(g, y)
                           : same_phase(g, node, g->readers[g->values[y].first_reader + i].node))
                return true;
    return false;
}

static uint32_t read_outputs(const struct df_graph *g, uint32_t node)
{
    uint32_t first = g->nodes[node].first_out, n = 0;
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        n += g->values[y].n_readers > 0 && !df_value_is_acc(g, y);
    return n;
}

/* The number of inputs that are made in the node's own phase. */
static uint32_t waited_inputs(const struct df_graph *g, uint32_t node)
{
    const uint32_t *in = g->in_value + g->nodes[node].first_in;
    uint32_t n_in = df_node_n_in(g, node), n = 0;
    if (g->nodes[node].flags & DF_NODE_ONCE)
        for (uint32_t k = 0; k < n_in; k++)
            n += same_phase(g, node, g->values[in[k]].producer);
    else
        for (uint32_t k = 0; k < n_in; k++)
            n += !df_value_is_once(g, in[k]);
    return n;
}

/* Gives in *need the number of releases that make the node's job ready. A once node that reads nothing is released when
 * the run starts, and each final node is released once more when the waves have ended. */
static void describe_node(struct df_run *run, uint32_t v, uint32_t *need)
{
    const struct df_graph *g = run->graph;
    const struct df_kernel *kernel = &g->kernels[g->nodes[v].kernel];
    struct dfr_node *n = &run->firing.nodes[v];
    uint32_t depth = g->nodes[v].depth;

    *need = waited_inputs(g, v);
    n->flags = (kernel->flags & DF_KERNEL_COPY ? DFR_N_COPY : 0) |
               (df_node_tmp_bytes(g, v, DF_ON_HOST) ? DFR_N_TMP : 0) | (df_node_is_ranges(g, v) ? DFR_N_FREE : 0);
    n->work = dfr_buffers_spare(run, v) ? g->n_works : g->nodes[v].work;
    n[1].first_port = n->first_port + kernel->n_ports;
    if (g->nodes[v].flags & DF_NODE_ONCE) {
        bool final = df_node_is_final(g, v);
        n->flags |= DFR_N_ONCE | (final ? DFR_N_FINAL : 0) | (has_reader(run, v) ? 0 : DFR_N_TERMINAL);
        *need += final || *need == 0;
        return;
    }
    if (!has_reader(run, v))
        n->flags |= DFR_N_TERMINAL;
    if (*need == 0) {
        n->flags |= DFR_N_SOURCE | (kernel->traits & DF_STREAM ? DFR_N_STREAM : 0);
        *need += 1;
    }
    if (depth > 0 && depth < run->inflight && read_outputs(g, v) > 0) {
        n->flags |= DFR_N_BOUNDED | DFR_N_IN_ORDER;
        *need += read_outputs(g, v);
    }
    if (df_kernel_in_order(kernel))
        n->flags |= DFR_N_IN_ORDER;
    if (n->flags & DFR_N_IN_ORDER)
        *need += 1;
}

/* The outputs of a node lie side by side, and so do their readers: a node's successors are a range. A node releases only
 * nodes of its phase, because those of later phases do not wait for it alone. */
static void list_successors(struct df_run *run)
{
    const struct df_graph *g = run->graph;
    uint32_t n = 0;

    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t first = g->nodes[v].first_out;
        bool every_wave = !(run->firing.nodes[v].flags & DFR_N_ONCE);
        run->firing.nodes[v].first_successor = n;
        for (uint32_t y = first; y < first + df_node_n_out(g, v); y++)
            for (uint32_t i = 0; i < g->values[y].n_readers; i++) {
                uint32_t reader = g->readers[g->values[y].first_reader + i].node;
                if (every_wave ? !df_value_is_acc(g, y) : same_phase(g, v, reader))
                    run->firing.successors[n++] = reader;
            }
    }
    run->firing.nodes[g->n_nodes].first_successor = n;
}

static void describe_nodes(struct df_run *run)
{
    for (uint32_t v = 0; v < run->graph->n_nodes; v++) {
        uint32_t flags;
        describe_node(run, v, &run->firing.pending[v].need);
        flags = run->firing.nodes[v].flags;
        if (flags & DFR_N_ONCE && flags & DFR_N_FINAL) {
            run->firing.n_finals++;
            run->firing.n_final_terminals += (flags & DFR_N_TERMINAL) != 0;
            continue;
        }
        if (flags & DFR_N_ONCE) {
            run->firing.n_once++;
            run->firing.n_once_terminals += (flags & DFR_N_TERMINAL) != 0;
            continue;
        }
        run->firing.n_terminals += (flags & DFR_N_TERMINAL) != 0;
        run->firing.n_streams += (flags & DFR_N_STREAM) != 0;
        run->firing.n_sources += (flags & (DFR_N_SOURCE | DFR_N_STREAM)) == DFR_N_SOURCE;
    }
    for (uint32_t i = 0; i < dfr_buffers_count(run); i++) { /* a wave's end waits for kept values, too */
        uint32_t y = run->memory.buffers->value[i];
        uint32_t phase = run->firing.nodes[run->graph->values[y].producer].flags & DFR_N_PHASE;
        bool final = phase & DFR_N_FINAL || df_value_is_acc(run->graph, y);
        *(final   ? &run->firing.n_final_terminals
          : phase ? &run->firing.n_once_terminals
                  : &run->firing.n_terminals) += dfr_buffers_keep(run, y);
    }
    atomic_init(&run->firing.once_left, run->firing.n_once_terminals);
}

static void count_accs(struct df_run *run)
{
    uint32_t n_kernels = 0;
    for (uint32_t k = 0; k < run->graph->n_kernels; k++)
        n_kernels += run->graph->kernels[k].n_acc > 0;
    for (uint32_t v = 0; n_kernels > 0 && v < run->graph->n_nodes; v++)
        run->firing.n_accs += df_node_n_acc(run->graph, v);
}

static void list_finals(struct df_run *run)
{
    uint32_t n_finals = 0, n_accs = 0;
    for (uint32_t v = 0; run->firing.n_accs > 0 && v < run->graph->n_nodes; v++) {
        if (run->firing.nodes[v].flags & DFR_N_FINAL)
            run->firing.finals[n_finals++] = v;
        for (uint32_t i = 0; i < df_node_n_acc(run->graph, v); i++)
            run->firing.accs[n_accs++] = df_node_acc(run->graph, v, i);
    }
}

static void list_sources(struct df_run *run)
{
    uint32_t n_streams = 0, n_sources = 0;
    for (uint32_t v = 0; v < run->graph->n_nodes; v++)
        if (run->firing.nodes[v].flags & DFR_N_STREAM)
            run->firing.streams[n_streams++] = v;
        else if (run->firing.nodes[v].flags & DFR_N_SOURCE)
            run->firing.sources[n_sources++] = v;
}

/* Wave s is the first in slot s, so some of its jobs have fewer earlier jobs to wait for. */
static void init_pending(struct df_run *run)
{
    uint32_t n_nodes = run->graph->n_nodes;
    for (uint32_t s = 0; s < run->inflight; s++)
        for (uint32_t v = 0; v < n_nodes; v++) {
            uint32_t flags = run->firing.nodes[v].flags, need = run->firing.pending[v].need, left = need;
            struct dfr_pending *p = &run->firing.pending[(size_t)s * n_nodes + v];
            if (s == 0 && flags & DFR_N_IN_ORDER)
                left--;
            if (flags & DFR_N_BOUNDED && s < run->graph->nodes[v].depth)
                left -= read_outputs(run->graph, v);
            atomic_init(&p->left, left);
            p->need = need;
        }
}

int dfr_engine_create(struct df_run *run, struct df_error *error)
{
    int status;
    size_t n_nodes = run->graph->n_nodes ? run->graph->n_nodes : 1;

    run->firing.nodes = dfr_large_alloc((n_nodes + 1) * sizeof *run->firing.nodes);
    run->firing.pending = dfr_large_alloc(n_nodes * run->inflight * sizeof *run->firing.pending);
    if (!run->firing.nodes || !run->firing.pending)
        return dfr_error_memory(error);
    memset(run->firing.nodes, 0, (n_nodes + 1) * sizeof *run->firing.nodes);
    describe_nodes(run);
    count_accs(run);
    run->firing.successors = dfr_large_alloc(((size_t)run->graph->n_readers + 1) * sizeof *run->firing.successors);
    run->firing.slots = aligned_alloc(64, (run->inflight + 1) * sizeof *run->firing.slots);
    run->firing.streams = malloc(((size_t)run->firing.n_streams + 1) * sizeof *run->firing.streams);
    run->firing.sources = malloc(((size_t)run->firing.n_sources + 1) * sizeof *run->firing.sources);
    run->firing.finals = malloc(((size_t)run->firing.n_finals + 1) * sizeof *run->firing.finals);
    run->firing.accs = malloc(((size_t)run->firing.n_accs + 1) * sizeof *run->firing.accs);
    if (!run->firing.successors || !run->firing.slots || !run->firing.streams || !run->firing.sources ||
        !run->firing.finals || !run->firing.accs)
        return dfr_error_memory(error);
    memset(run->firing.slots, 0, (run->inflight + 1) * sizeof *run->firing.slots);
    list_sources(run);
    list_finals(run);
    list_successors(run);
    init_pending(run);
    if (dfr_skips_create(&run->skips, run->graph, run->inflight + 1, error) != DF_OK)
        return DF_E_MEMORY;
    if (!run->memory.untouched &&       /* else no kernel says what its extents are: all are the largest */
        (status = dfr_extents_create(run->graph, run->inflight, &run->extents, error)) != DF_OK)
        return status;
    if ((status = dfr_resources_create(run->graph, run->inflight + 1, &run->firing.resources, error)) != DF_OK)
        return status;
    if (run->firing.n_once == run->graph->n_nodes)
        atomic_init(&run->firing.limit, 0);    /* there is nothing to do in a wave */
    return DF_OK;
}

/* The cpu variant of a spared node (buffers.h), whose outputs are given. */
static int given(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)stream, (void)dims, (void)ports, (void)scalars;
    return dfr_call_given(call);
}

int dfr_engine_codes(struct df_run *run, struct df_error *error)
{
    const struct df_graph *g = run->graph;

    _Static_assert(sizeof(size_t) == sizeof(uint64_t), "dims of the graph are passed to kernels as they are");
    run->firing.codes = malloc(((size_t)g->n_works + 1) * sizeof *run->firing.codes);
    if (!run->firing.codes)
        return dfr_error_memory(error);
    for (uint32_t k = 0; k < g->n_works; k++)
        run->firing.codes[k] = (struct dfr_code){ .cpu = run->skips.passes || run->skips.late
                                                      ? dfr_call_or_leave_out
                                                      : dfr_wave_function(run, g->functions[g->works[k].kernel].cpu),
                                           .dims = (const size_t *)(g->dims + g->works[k].first_dim),
                                           .scalars = run->memory.scalars + g->works[k].first_scalar };
    for (uint32_t i = 0; run->live && i < run->firing.n_streams; i++)
        if (g->nodes[run->firing.streams[i]].live)
            run->firing.codes[g->nodes[run->firing.streams[i]].work].cpu = dfr_call_or_leave_out;
    run->firing.codes[g->n_works] = (struct dfr_code){ .cpu = given };
    return DF_OK;
}

void dfr_engine_destroy(struct df_run *run)
{
    dfr_skips_destroy(&run->skips);
    dfr_extents_destroy(run->extents);
    free(run->firing.nodes);
    free(run->firing.successors);
    free(run->firing.codes);
    free(run->firing.pending);
    free(run->firing.slots);
    free(run->firing.streams);
    free(run->firing.sources);
    free(run->firing.finals);
    free(run->firing.accs);
    dfr_resources_destroy(run->firing.resources);
}
