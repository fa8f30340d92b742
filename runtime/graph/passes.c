/* passes.c - the passes of a graph whose accs are divided (passes.h). */
#include "runtime/graph/passes.h"

#include <stdlib.h>

#include "runtime/graph/plan.h"

#define TOKENS 3u                       /* of what parts read: so many are in a device's memory beside the parts */
#define LINE 64u

static bool is_part(const struct df_graph *g, uint32_t v)
{
    return g->nodes[v].part != DF_NONE && g->parts[g->nodes[v].part].n > 1 && df_node_n_acc(g, v) > 0 &&
           df_node_n_out(g, v) == df_node_n_acc(g, v);
}

uint32_t dfr_passes_most(const struct df_graph *g)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (is_part(g, v) && g->parts[g->nodes[v].part].n > n)
            n = g->parts[g->nodes[v].part].n;
    return n;
}

uint32_t dfr_passes_of(const struct df_graph *g, uint32_t v, uint32_t n_passes, const bool *kept)
{
    const struct df_part_rows *part = &g->parts[g->nodes[v].part];
    if (is_part(g, v))
        return (uint32_t)((uint64_t)part->number * (part->n < n_passes ? part->n : n_passes) / part->n);
    for (uint32_t y = g->nodes[v].first_out; y < g->nodes[v].first_out + df_node_n_out(g, v); y++)
        if (kept[y])                    /* of a join, too: the parts of it do not come again */
            return 0;
    return df_node_is_ranges(g, v) ? DF_NONE : 0;
}

uint64_t dfr_passes_kept(const struct df_graph *g, bool *kept)
{
    uint64_t bytes = 0, offset;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        for (uint32_t k = 0; is_part(g, v) && k < df_node_n_in(g, v); k++) {
            uint32_t x = df_value_root(g, g->in_value[g->nodes[v].first_in + k], &offset);
            if (df_value_is_once(g, x) || kept[x])
                continue;
            bytes += (g->values[x].bytes + LINE - 1) / LINE * LINE;
            kept[x] = true;
        }
    return bytes;
}

/* What the parts of the largest pass take together. */
static uint64_t pass_bytes(const struct df_graph *g, uint32_t n_passes)
{
    uint64_t most = 0;
    for (uint32_t pass = 0; pass < n_passes; pass++) {
        uint64_t bytes = 0;
        for (uint32_t v = 0; v < g->n_nodes; v++)
            for (uint32_t i = 0; is_part(g, v) && i < df_node_n_acc(g, v); i++)
                if (dfr_passes_of(g, v, n_passes, NULL) == pass)
                    bytes += g->values[df_node_acc(g, v, i)].bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}

static uint64_t device_bytes(const struct df_platform *p)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t u = 1; u < p->n_units; u++)
        if (!p->units[u].unified && p->units[u].memory_bytes && p->units[u].memory_bytes < least)
            least = p->units[u].memory_bytes;
    return least;
}

static uint64_t tokens_bytes(const struct df_graph *g)
{
    bool *kept = calloc((size_t)g->n_values + 1, sizeof *kept);
    uint64_t bytes = kept ? TOKENS * dfr_passes_kept(g, kept) : 0;
    free(kept);
    return bytes;
}

uint32_t dfr_passes_choose(const struct df_graph *g, const struct df_platform *platform, int64_t waves, uint32_t asked)
{
    uint64_t bytes = device_bytes(platform), tokens;
    uint32_t n = 1, most = dfr_passes_most(g);
    if (most == 0)
        return 1;
    if (asked || waves <= 1)
        return asked == 0 ? 1 : asked < most ? asked : most;
    tokens = tokens_bytes(g);
    while (n <= most && (bytes < tokens || pass_bytes(g, n) > bytes - tokens))
        n++;
    return n <= most ? n : 1;
}
