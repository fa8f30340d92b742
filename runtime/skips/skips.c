/* skips.c - the record of empty tokens (skips.h). */
#include "runtime/skips/skips.h"

#include <sys/mman.h>

#include "runtime/base/error.h"

int dfr_skips_create(struct dfr_skips *s, const struct df_graph *graph, uint32_t n_slots, struct df_error *error)
{
    size_t counts_bytes = ((size_t)graph->n_nodes + 1) * sizeof *s->counts;

    s->graph = graph;
    s->bytes = counts_bytes + (size_t)graph->n_values * n_slots;
    s->counts = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->counts == MAP_FAILED) {
        s->counts = NULL;
        return dfr_error_memory(error);
    }
    s->empty = (uint8_t *)s->counts + counts_bytes;
    return DF_OK;
}

void dfr_skips_destroy(struct dfr_skips *s)
{
    if (s->counts)
        munmap(s->counts, s->bytes);
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

bool dfr_skips_some_are_empty(const struct dfr_skips *s, uint32_t slot, uint32_t node)
{
    const uint32_t *in = s->graph->in_value + s->graph->nodes[node].first_in;

    if (s->graph->kernels[s->graph->nodes[node].kernel].flags & DF_KERNEL_COPY) /* and so is a select: all */
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
        if (bytes[y] != empty && !df_value_is_acc(s->graph, y)) /* what is said twice is written once: somebody may be
                                                                 * reading it. An acc is as it was */
            bytes[y] = empty;
}

void dfr_skips_set_one(struct dfr_skips *s, uint32_t slot, uint32_t value)
{
    s->empty[(size_t)slot * s->graph->n_values + value] = 1;
    atomic_store_explicit(&s->any, true, memory_order_relaxed);
}

void dfr_skips_count(struct dfr_skips *s, uint32_t node, bool left_out)
{
    struct dfr_skip_count *count = &s->counts[node];

    atomic_fetch_add_explicit(left_out ? &count->left_out : &count->skipped, 1, memory_order_relaxed);
}

void dfr_skips_add(const struct dfr_skips *s, struct df_node_skips *sums)
{
    for (uint32_t v = 0; dfr_skips_any(s) && v < s->graph->n_nodes; v++) {
        sums[v].skipped += atomic_load_explicit(&s->counts[v].skipped, memory_order_relaxed);
        sums[v].left_out += atomic_load_explicit(&s->counts[v].left_out, memory_order_relaxed);
    }
}
