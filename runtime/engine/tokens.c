/* tokens.c - lays out tokens at fixed addresses, and prepares the pointers for every job's ports (tokens.h). start/run_memory.c calls it before a run; engine.c
 * and list.c call it when a wave begins; ports.c and record/checkpoint.c look up accs. */
#include "runtime/engine/tokens.h"

#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/base/pages.h"
#include "runtime/engine/buffers.h"

#define ALIGNMENT DFM_LINE
#define PLANNED_BYTES (64 << 10)        /* a plan's bytes of a wave: four such waves stay in a second level cache */
#define MOST_BYTES (UINT64_C(1) << 20)  /* side by side: what stays in the caches, */
#define MOST_BYTES_A_VALUE 256          /* or is little for each value */

/* Bytes of the value's place. Even a value without bytes has an address of its own. */
static uint64_t rounded_bytes(const struct df_value *x)
{
    return x->bytes ? (x->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

const struct df_plan *dfr_tokens_plan(const struct df_run *run)
{
    const struct df_plan *plan = run->plan.own ? run->plan.own : run->options.plan;
    uint64_t wave_bytes;

    if (!plan || !plan->layout.any_line || plan->layout.n_values != run->graph->n_values)
        return NULL;
    wave_bytes = plan->memory[0].wave_bytes;
    return wave_bytes <= plan->layout.by_size_bytes || wave_bytes <= PLANNED_BYTES ? plan : NULL;
}

static bool are_small(const struct df_run *run)
{
    const struct df_graph *g = run->graph;
    uint64_t bytes = 0, most = MOST_BYTES_A_VALUE * (uint64_t)g->n_values;

    for (uint32_t x = 0; x < g->n_values; x++) {
        if (dfr_buffers_lent(run, x) || g->values[x].whole != DF_NONE)
            continue;
        if (g->values[x].bytes > MOST_BYTES || bytes > most + MOST_BYTES)
            return false;
        bytes += rounded_bytes(&g->values[x]);
    }
    return bytes <= most || bytes * run->inflight <= MOST_BYTES;
}

/* Serial runs have planned places of their own (start/run_memory.c), and inspect.h finds a job's tokens as blocks. */
static bool wants_blocks(const struct df_options *o)
{
    return o->serial || o->check_variants || o->poison || o->n_dumps > 0 || o->n_record_jobs > 0 || o->replay || o->watchdog_s > 0;
}

static bool are_fixed(const struct df_run *run)
{
    if (run->machine.n_gpus > 0 || run->memory.untouched || wants_blocks(&run->options))
        return false;
    for (uint32_t v = 0; v < run->graph->n_nodes; v++)
        if (run->firing.nodes[v].flags & DFR_N_BOUNDED)
            return false;
    return dfr_tokens_plan(run) || are_small(run);
}

uint64_t dfr_tokens_lay_out(const struct df_run *run, uint64_t *offset, bool once)
{
    const struct df_graph *g = run->graph;
    uint64_t bytes = 0;

    for (uint32_t x = 0; x < g->n_values; x++) {
        if (df_value_is_once(g, x) != once || dfr_buffers_lent(run, x) || g->values[x].whole != DF_NONE)
            continue;
        if (g->values[x].taken_from != DF_NONE) {
            offset[x] = offset[g->values[x].taken_from];
            continue;
        }
        offset[x] = bytes;
        bytes += rounded_bytes(&g->values[x]);
    }
    for (uint32_t x = 0; x < g->n_values; x++) {
        uint64_t from, root = df_value_root(g, x, &from);
        if (root != x && df_value_is_once(g, x) == once && !dfr_buffers_lent(run, (uint32_t)root))
            offset[x] = offset[root] + from;
    }
    return bytes;
}

static void find_places(const struct df_run *run, uint64_t *offset, uint64_t *slot_bytes, uint64_t *once_bytes)
{
    const struct df_plan *plan = dfr_tokens_plan(run);

    if (!plan) {
        *slot_bytes = dfr_tokens_lay_out(run, offset, false);
        *once_bytes = dfr_tokens_lay_out(run, offset, true);
        return;
    }
    *slot_bytes = plan->memory[0].wave_bytes;
    *once_bytes = plan->memory[0].once_bytes;
    for (uint32_t x = 0; x < run->graph->n_values; x++) {
        uint64_t from;
        offset[x] = (uint64_t)plan->layout.any_line[df_value_root(run->graph, x, &from)] * DFM_LINE;
        offset[x] += from;
    }
}

/* The value that a port reads or makes. */
static uint32_t value_at(const struct df_graph *g, const struct df_node *node, const struct df_kport *port)
{
    return port->in_slot >= 0 ? g->in_value[node->first_in + (uint32_t)port->in_slot]
                              : node->first_out + (uint32_t)port->out_slot;
}

/* The lent memory that the value lies in, and from which byte on. NULL: it lies in none. */
static const struct dfm_lent *lent_at(const struct df_run *run, uint32_t x, uint64_t *from)
{
    return dfr_buffers_lent(run, df_value_root(run->graph, x, from));
}

static void point_ports(const struct df_run *run, struct dfr_tokens *t, const uint64_t *offset, uint64_t slot_bytes)
{
    const struct df_graph *g = run->graph;
    unsigned char *once_memory = t->memory + slot_bytes * run->inflight;

    for (uint32_t s = 0; s < run->inflight; s++)
        for (uint32_t v = 0; v < g->n_nodes; v++) {
            const struct df_node *node = &g->nodes[v];
            const struct df_kernel *kernel = &g->kernels[node->kernel];
            void **ports = t->ports + (size_t)s * t->n_ports + run->firing.nodes[v].first_port;
            for (uint32_t p = 0; p < kernel->n_ports; p++) {
                const struct df_kport *port = &g->kports[kernel->first_port + p];
                uint64_t from;
                uint32_t x;
                if (port->mode == DF_TMP) {
                    ports[p] = NULL;
                    continue;
                }
                x = value_at(g, node, port);
                if (lent_at(run, x, &from)) { /* that of a value made before wave 0 stays; others are set later */
                    ports[p] = (unsigned char *)dfm_lent_at(lent_at(run, x, &from), 0) + from;
                    continue;
                }
                ports[p] = (df_value_is_once(g, x) ? once_memory : t->memory + slot_bytes * s) + offset[x];
            }
        }
}

/* Does the memory of the port's value change with the wave, or with the call of a session? */
static bool is_set_later(const struct df_run *run, const struct df_node *node, const struct df_kport *port)
{
    uint64_t from;
    uint32_t x;
    if (port->mode == DF_TMP)
        return false;
    x = value_at(run->graph, node, port);
    return lent_at(run, x, &from) &&
           (df_value_is_acc(run->graph, x) ||
            (run->firing.nodes[run->graph->values[x].producer].flags & DFR_N_PHASE) != DFR_N_ONCE);
}

/* Notes in `list` each port that is to be set for each wave, and gives their number. If `list` is NULL, only counts. */
static uint32_t list_lent(const struct df_run *run, struct dfr_lent_port *list)
{
    const struct df_graph *g = run->graph;
    uint32_t n = 0;

    for (uint32_t v = 0; run->memory.buffers && v < g->n_nodes; v++) {
        const struct df_node *node = &g->nodes[v];
        const struct df_kernel *kernel = &g->kernels[node->kernel];
        for (uint32_t p = 0; p < kernel->n_ports; p++) {
            const struct df_kport *port = &g->kports[kernel->first_port + p];
            if (!is_set_later(run, node, port))
                continue;
            if (list) {
                list[n] = (struct dfr_lent_port){ .port = run->firing.nodes[v].first_port + p,
                                                  .final = node->flags & DF_NODE_FINAL };
                list[n].lent = lent_at(run, value_at(g, node, port), &list[n].offset);
            }
            n++;
        }
    }
    return n;
}

void dfr_tokens_begin(const struct df_run *run, uint32_t slot, int64_t wave)
{
    const struct dfr_tokens *t = run->memory.tokens;
    wave = dfr_skips_wave(&run->skips, wave);
    for (uint32_t i = 0; i < t->n_lent; i++)
        t->ports[(size_t)slot * t->n_ports + t->lent[i].port] =
            (unsigned char *)dfm_lent_at(t->lent[i].lent, wave) + t->lent[i].offset;
}

void dfr_tokens_begin_final(const struct df_run *run)
{
    const struct dfr_tokens *t = run->memory.tokens;
    for (uint32_t i = 0; i < t->n_lent; i++)
        if (t->lent[i].final)
            t->ports[t->lent[i].port] = (unsigned char *)dfm_lent_at(t->lent[i].lent, 0) + t->lent[i].offset;
}

void *dfr_tokens_acc(const struct df_run *run, uint32_t value)
{
    const struct df_graph *g = run->graph;
    const struct df_value *v = &g->values[value];
    const struct df_kport *ports = g->kports + g->kernels[g->nodes[v->producer].kernel].first_port;
    uint32_t p = v->slot;               /* its port has this index or a higher one */
    uint64_t from;

    if (lent_at(run, value, &from))     /* a part of an acc lies in the lent memory of the whole */
        return (unsigned char *)dfm_lent_at(lent_at(run, value, &from), 0) + from;
    while (ports[p].out_slot != v->slot)
        p++;
    return dfr_tokens_ports(run, v->producer, 0)[p];
}

int dfr_tokens_create(const struct df_run *run, struct dfr_tokens **result, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    struct dfr_tokens *t;
    uint64_t *offset, slot_bytes, once_bytes;

    if (!are_fixed(run))
        return DF_OK;
    t = calloc(1, sizeof *t);
    offset = malloc(((size_t)g->n_values + 1) * sizeof *offset);
    if (!t || !offset)
        goto no_memory;
    find_places(run, offset, &slot_bytes, &once_bytes);
    t->bytes = slot_bytes * run->inflight + once_bytes + ALIGNMENT;
    t->n_ports = run->firing.nodes[g->n_nodes].first_port;
    t->ports = malloc(((size_t)t->n_ports * run->inflight + 1) * sizeof *t->ports);
    t->memory = dfr_pages_reserve_guarded(t->bytes);
    t->n_lent = list_lent(run, NULL);
    t->lent = malloc(((size_t)t->n_lent + 1) * sizeof *t->lent);
    if (!t->ports || !t->memory || !t->lent)
        goto no_memory;
    point_ports(run, t, offset, slot_bytes);
    list_lent(run, t->lent);
    free(offset);
    *result = t;
    return DF_OK;

no_memory:
    free(offset);
    dfr_tokens_destroy(t);
    return dfr_error_memory(error);
}

void dfr_tokens_destroy(struct dfr_tokens *t)
{
    if (!t)
        return;
    if (t->memory)
        dfr_pages_return(t->memory, t->bytes);
    free(t->ports);
    free(t->lent);
    free(t);
}
