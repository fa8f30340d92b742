/* passes.c - assigns the parts of divided accs to passes, and finds what must be kept between passes (passes.h). The start of a run (start/passes.c), the
 * simulator, the planners and dfc's explanations call it. */
#include "runtime/graph/passes.h"

#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/graph/plan.h"

#define TOKENS 3u                       /* of what parts read: so many are in a device's memory beside the parts */
#define LINE 64u

bool dfr_is_part_of_acc(const struct df_graph *g, uint32_t v)
{
    return g->nodes[v].part != DF_NONE && g->parts[g->nodes[v].part].n > 1 && df_node_n_acc(g, v) > 0 &&
           df_node_n_out(g, v) == df_node_n_acc(g, v);
}

uint32_t dfr_passes_most(const struct df_graph *g)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (dfr_is_part_of_acc(g, v) && g->parts[g->nodes[v].part].n > n)
            n = g->parts[g->nodes[v].part].n;
    return n;
}

uint32_t dfr_passes_hint(const struct df_graph *g)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (dfr_is_part_of_acc(g, v) && g->parts[g->nodes[v].part].passes)
            return g->parts[g->nodes[v].part].passes;
    return 0;
}

bool dfr_acc_is_gathered(const struct df_graph *g, uint32_t y)
{
    const struct df_value *value = &g->values[y];
    bool gathered = value->n_readers > 0 && df_value_is_acc(g, y) && dfr_is_part_of_acc(g, value->producer);
    for (uint32_t i = 0; i < value->n_readers; i++)
        gathered &= df_node_is_ranges(g, g->readers[value->first_reader + i].node);
    return gathered;
}

/* ---- what comes again ---- */

static bool may_be_called_again(const struct df_graph *g, uint32_t v, enum dfr_source source, const bool *again)
{
    const struct df_kernel *k = &g->kernels[g->nodes[v].kernel];
    const uint32_t *in = g->in_value + g->nodes[v].first_in;
    if (g->nodes[v].flags & DF_NODE_ONCE || df_node_n_acc(g, v) > 0 || df_node_n_in(g, v) == 0)
        return source == DFR_SOURCE_GIVEN || (source == DFR_SOURCE_BY_TRAIT && k->traits & DF_RESTART);
    for (uint32_t i = 0; i < df_node_n_in(g, v); i++)
        if (!df_value_is_once(g, in[i]) && !again[g->values[in[i]].producer])
            return false;
    return !(k->traits & DF_ORDERED);
}

/* Notes the nodes that make the value, if they may be called again. Nodes are in topological order. */
static void note_called(const struct df_graph *g, struct dfr_again *a, const bool *again)
{
    for (uint32_t v = g->n_nodes; v-- > 0;)
        for (uint32_t i = 0; a->called[v] && i < df_node_n_in(g, v); i++) {
            uint32_t producer = g->values[g->in_value[g->nodes[v].first_in + i]].producer;
            a->called[producer] |= again[producer];
        }
}

static void note_read(const struct df_graph *g, uint32_t v, struct dfr_again *a, const bool *again)
{
    uint64_t offset;
    for (uint32_t k = 0; k < df_node_n_in(g, v); k++) {
        uint32_t x = df_value_root(g, g->in_value[g->nodes[v].first_in + k], &offset), producer = g->values[x].producer;
        uint64_t bytes = (g->values[x].bytes + LINE - 1) / LINE * LINE;
        if (df_value_is_once(g, x) || a->kept[x])
            continue;
        a->kept[x] = true;
        a->read_bytes += bytes;
        a->kept_bytes += again[producer] ? 0 : bytes;
        a->called[producer] |= again[producer];
    }
}

int dfr_again_find(const struct df_graph *g, const uint8_t *sources, struct dfr_again *a, struct df_error *error)
{
    bool *again = calloc((size_t)g->n_nodes + 1, sizeof *again);
    *a = (struct dfr_again){ .kept = calloc((size_t)g->n_values + 1, sizeof *a->kept),
                             .called = calloc((size_t)g->n_nodes + 1, sizeof *a->called) };
    if (!again || !a->kept || !a->called) {
        free(again);
        return dfr_error_memory(error);
    }
    for (uint32_t v = 0; v < g->n_nodes; v++)
        again[v] = may_be_called_again(g, v, sources ? (enum dfr_source)sources[v] : DFR_SOURCE_BY_TRAIT, again);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (dfr_is_part_of_acc(g, v))
            note_read(g, v, a, again);
    note_called(g, a, again);
    for (uint32_t x = 0; x < g->n_values; x++)
        a->kept[x] &= !again[g->values[x].producer];
    free(again);
    return DF_OK;
}

void dfr_again_free(struct dfr_again *a)
{
    free(a->kept);
    free(a->called);
}

uint64_t dfr_again_bytes(const struct dfr_again *a, int64_t waves)
{
    uint64_t bytes;
    return __builtin_mul_overflow(a->kept_bytes, (uint64_t)waves, &bytes) ? UINT64_MAX : bytes;
}

int dfr_again_admit(const struct df_graph *g, const struct dfr_again *a, int64_t waves, uint64_t host_bytes, struct df_error *error)
{
    uint64_t bytes = dfr_again_bytes(a, waves);
    uint32_t largest = DF_NONE;
    char name[256], need[16], have[16];
    if (bytes <= host_bytes)
        return DF_OK;
    for (uint32_t x = 0; x < g->n_values; x++)
        if (a->kept[x] && (largest == DF_NONE || g->values[x].bytes > g->values[largest].bytes))
            largest = x;
    df_node_name(g, g->values[largest].producer, name, sizeof name);
    return dfr_error(error, DF_E_REFUSED, "the parts of an acc do not fit in a device's memory together, and to keep what they read of "
                     "%lld waves for the later passes takes %s of host memory, of which %s may be used; 'restart' at the source of '%s' "
                     "keeps nothing, more device memory takes fewer passes, and --passes=1 copies the acc in each wave",
                     (long long)waves, dfr_text_bytes(bytes, need, sizeof need), dfr_text_bytes(host_bytes, have, sizeof have), name);
}

/* ---- passes ---- */

/* Is all that the view or join reads there in each pass? Else it would find nothing in the later ones, and say that its outputs are empty. */
static bool reads_again(const struct df_graph *g, uint32_t v, const struct dfr_again *again)
{
    const uint32_t *in = g->in_value + g->nodes[v].first_in;
    bool there = true;
    for (uint32_t k = 0; k < df_node_n_in(g, v); k++)
        there &= df_value_is_once(g, in[k]) || again->kept[in[k]] || again->called[g->values[in[k]].producer];
    return there;
}

uint32_t dfr_passes_of(const struct df_graph *g, uint32_t v, uint32_t n_passes, const struct dfr_again *again)
{
    const struct df_part_rows *part = &g->parts[g->nodes[v].part];
    if (dfr_is_part_of_acc(g, v))
        return (uint32_t)((uint64_t)part->number * (part->n < n_passes ? part->n : n_passes) / part->n);
    for (uint32_t y = g->nodes[v].first_out; y < g->nodes[v].first_out + df_node_n_out(g, v); y++)
        if (again->kept[y])             /* of a join, too: the parts of it do not come again */
            return 0;
    return again->called[v] || (df_node_is_ranges(g, v) && reads_again(g, v, again)) ? DF_NONE : 0;
}

/* What the parts of the largest pass take together. */
static uint64_t pass_bytes(const struct df_graph *g, uint32_t n_passes)
{
    uint64_t most = 0;
    for (uint32_t pass = 0; pass < n_passes; pass++) {
        uint64_t bytes = 0;
        for (uint32_t v = 0; v < g->n_nodes; v++)
            for (uint32_t i = 0; dfr_is_part_of_acc(g, v) && i < df_node_n_acc(g, v); i++)
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

/* UINT64_MAX: there is no memory to find out. */
static uint64_t tokens_bytes(const struct df_graph *g)
{
    struct dfr_again again;
    struct df_error error;
    uint64_t bytes = dfr_again_find(g, NULL, &again, &error) == DF_OK ? TOKENS * again.read_bytes : UINT64_MAX;
    dfr_again_free(&again);
    return bytes;
}

/* Is there room for so many times what the parts of a pass take, and for tokens? */
static bool has_room(const struct df_graph *g, const struct df_platform *platform, uint32_t n_passes, unsigned times)
{
    const uint64_t bytes = device_bytes(platform), tokens = tokens_bytes(g);
    return tokens <= bytes && times * pass_bytes(g, n_passes) <= bytes - tokens;
}

bool dfr_passes_overlap(const struct df_graph *g, const struct df_platform *platform, uint32_t n_passes)
{
    return n_passes == 1 || has_room(g, platform, n_passes, 2);
}

uint64_t dfr_passes_stride(const struct df_graph *g, bool overlap, uint32_t waves, uint32_t inflight)
{
    return ((uint64_t)waves + (overlap && !df_graph_has_streams(g) ? 1u : 2u) * inflight - 1) / inflight * inflight;
}

uint32_t dfr_passes_choose(const struct df_graph *g, const struct df_platform *platform, int64_t waves, uint32_t asked)
{
    uint32_t n = 1, most = dfr_passes_most(g);
    if (most == 0)
        return 1;
    asked = asked || waves <= 1 ? asked : dfr_passes_hint(g);
    if (asked || waves <= 1)
        return asked == 0 ? 1 : asked < most ? asked : most;
    while (n <= most && !has_room(g, platform, n, 1))
        n++;
    return n <= most ? n : 1;
}
