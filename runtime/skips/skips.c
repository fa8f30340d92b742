/* skips.c - the record of empty tokens (skips.h). */
#include "runtime/skips/skips.h"

#include <stdlib.h>

#include "runtime/base/error.h"

int dfr_skips_create(struct dfr_skips *s, const struct df_graph *graph, uint32_t n_slots, struct df_error *error)
{
    s->graph = graph;
    s->empty = calloc((size_t)graph->n_values * n_slots + 1, sizeof *s->empty);
    s->counts = calloc((size_t)graph->n_nodes + 1, sizeof *s->counts);
    return s->empty && s->counts ? DF_OK : dfr_error_memory(error);
}

void dfr_skips_destroy(struct dfr_skips *s)
{
    free(s->empty);
    free(s->counts);
}

static const uint8_t *bytes_of(const struct dfr_skips *s, uint32_t slot)
{
    return s->empty + (size_t)slot * s->graph->n_values;
}

uint32_t dfr_skips_first(const struct dfr_skips *s, uint32_t slot, uint32_t node)
{
    const uint32_t *in = s->graph->in_value + s->graph->nodes[node].first_in;

    for (uint32_t k = 0; k < df_node_n_in(s->graph, node); k++)
        if (!bytes_of(s, slot)[in[k]])
            return k;
    return DF_NONE;
}

bool dfr_skips_leaves_out(const struct dfr_skips *s, uint32_t slot, uint32_t node)
{
    const uint32_t *in = s->graph->in_value + s->graph->nodes[node].first_in;

    if (!dfr_skips_any(s) || df_node_n_in(s->graph, node) == 0)
        return false;
    if (s->graph->kernels[s->graph->nodes[node].kernel].flags & DF_KERNEL_COPY) /* and so is a select */
        return dfr_skips_first(s, slot, node) == DF_NONE;
    for (uint32_t k = 0; k < df_node_n_in(s->graph, node); k++)
        if (bytes_of(s, slot)[in[k]])
            return true;
    return false;
}

void dfr_skips_set(struct dfr_skips *s, uint32_t slot, uint32_t node, bool empty)
{
    uint8_t *bytes = s->empty + (size_t)slot * s->graph->n_values;
    uint32_t first = s->graph->nodes[node].first_out;

    for (uint32_t y = first; y < first + df_node_n_out(s->graph, node); y++)
        if (bytes[y] != empty)          /* what is said twice is written once: somebody may be reading it */
            bytes[y] = empty;
}

void dfr_skips_count(struct dfr_skips *s, uint32_t node, bool left_out)
{
    struct dfr_skip_count *count = &s->counts[node];

    atomic_fetch_add_explicit(left_out ? &count->left_out : &count->skipped, 1, memory_order_relaxed);
}
