/* skips.c - records which tokens are empty, in which waves and passes nodes fire, and how often kernels were skipped (skips.h), for the engine, the workers of
 * GPUs and the start of a run. record/ and ranks/ ask which nodes fire late, and which keep something from wave to wave. */
#include "runtime/skips/skips.h"

#include <stdlib.h>
#include <string.h>
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
    if (s->late) {
        s->number = calloc(n_slots, sizeof *s->number);
        atomic_init(&s->any, true);
        return s->number ? DF_OK : dfr_error_memory(error);
    }
    if (s->passes) {
        s->passes->n_slots = n_slots - 1;
        s->passes->round = calloc(n_slots, sizeof *s->passes->round);
        atomic_init(&s->any, true);
    }
    return s->passes && !s->passes->round ? dfr_error_memory(error) : DF_OK;
}

int dfr_skips_make_passes(struct dfr_skips *s, const struct df_graph *graph, const bool *kept, uint32_t n, int64_t waves,
                          int64_t stride, struct df_error *error)
{
    struct dfr_passes *p = s->passes = calloc(1, sizeof *p);
    uint32_t n_kept = 0;

    if (!p)
        return dfr_error_memory(error);
    *p = (struct dfr_passes){ .n = n, .waves = waves, .most_waves = waves, .stride = stride,
                              .of_node = calloc((size_t)graph->n_nodes + 1, sizeof *p->of_node),
                              .kept = malloc(((size_t)graph->n_values + 1) * sizeof *p->kept) };
    for (uint32_t x = 0; p->kept && x < graph->n_values; x++)
        p->kept[x] = kept[x] ? n_kept++ : DF_NONE;
    p->was_empty = calloc((size_t)n_kept * (size_t)waves + 1, 1);
    return p->of_node && p->kept && p->was_empty ? DF_OK : dfr_error_memory(error);
}

void dfr_skips_destroy(struct dfr_skips *s)
{
    if (s->passes) {
        free(s->passes->of_node);
        free(s->passes->kept);
        free(s->passes->was_empty);
        free((void *)s->passes->round);
        free(s->passes);
    }
    free(s->late);
    free((void *)s->number);
    if (s->counts)
        munmap(s->counts, s->bytes);
}

/* ---- waves that are done ---- */

/* What fires once has fired before the first wave. A sink that goes on where it was would write its token a second time. Other
 * once nodes fire again: waves may read what they make. Final nodes have not fired yet. */
static bool fires_again(const struct df_graph *g, uint32_t v)
{
    const bool sink = df_node_n_out(g, v) == 0 && g->kernels[g->nodes[v].kernel].traits & DF_RESUME;
    return g->nodes[v].flags & DF_NODE_ONCE && (!sink || df_node_is_final(g, v));
}

/* What the node reads is needed in the waves in which it fires. Who reads an acc fires after the last wave, and needs none of it again. */
static void need_inputs(const struct df_graph *g, uint32_t v, int64_t *late)
{
    for (uint32_t k = 0; k < df_node_n_in(g, v); k++) {
        const uint32_t x = g->in_value[g->nodes[v].first_in + k], producer = g->values[x].producer;
        if (!df_value_is_acc(g, x) && late[producer] > late[v])
            late[producer] = late[v];
    }
}

static bool is_read(const struct df_graph *g, uint32_t v)
{
    bool read = false;
    for (uint32_t y = g->nodes[v].first_out; y < g->nodes[v].first_out + df_node_n_out(g, v); y++)
        read |= g->values[y].n_readers > 0;
    return read;
}

/* The first wave in which the node must fire, whatever others need of it. */
static int64_t needs_itself(const struct df_graph *g, uint32_t v, int64_t done, const int64_t *accs_first)
{
    if (fires_again(g, v))
        return 0;
    if (dfr_node_keeps(g, v))
        return accs_first && dfr_node_keeps_accs(g, v) ? accs_first[v] : 0;
    return is_read(g, v) ? INT64_MAX : done;
}

void dfr_find_late(const struct df_graph *g, int64_t done, int64_t *accs_first, int64_t *late)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        late[v] = needs_itself(g, v, done, accs_first);
    for (uint32_t v = g->n_nodes; v-- > 0;) { /* readers have larger numbers */
        if (accs_first && late[v] < accs_first[v])
            late[v] = accs_first[v] = 0;
        need_inputs(g, v, late);
    }
}

int dfr_skips_make_late(struct dfr_skips *s, const struct df_graph *g, int64_t done, const int64_t *accs_first, struct df_error *error)
{
    int64_t *first = malloc(((size_t)g->n_nodes + 1) * sizeof *first);

    s->late = malloc(((size_t)g->n_nodes + 1) * sizeof *s->late);
    if (!s->late || !first) {
        free(first);
        return dfr_error_memory(error);
    }
    memcpy(first, accs_first ? accs_first : s->late, accs_first ? g->n_nodes * sizeof *first : 0);
    dfr_find_late(g, done, accs_first ? first : NULL, s->late);
    free(first);
    return DF_OK;
}

bool dfr_node_keeps_accs(const struct df_graph *g, uint32_t v)
{
    const struct df_kernel *k = &g->kernels[g->nodes[v].kernel];
    return k->n_acc > 0 && !(k->traits & DF_ORDERED && !(k->traits & DF_RESUME));
}

bool dfr_node_keeps(const struct df_graph *g, uint32_t v)
{
    const struct df_kernel *k = &g->kernels[g->nodes[v].kernel];
    return k->n_acc > 0 || (k->traits & (DF_ORDERED | DF_STREAM) && !(k->traits & DF_RESUME) && !(g->nodes[v].flags & DF_NODE_ONCE));
}

static bool is_late(const struct dfr_skips *s, uint32_t slot, uint32_t node)
{
    return s->late && atomic_load_explicit(&s->number[slot], memory_order_relaxed) < s->late[node];
}

static const uint8_t *bytes_of(const struct dfr_skips *s, uint32_t slot)
{
    return s->empty + (size_t)slot * s->graph->n_values;
}

/* ---- passes ---- */

static int64_t round_of(const struct dfr_passes *p, uint32_t slot)
{
    return atomic_load_explicit(&p->round[slot], memory_order_relaxed);
}

void dfr_skips_end(struct dfr_skips *s, int64_t wave)
{
    int64_t waves = dfr_passes_waves(s->passes);

    while (wave < waves && !atomic_compare_exchange_weak_explicit(&s->passes->waves, &waves, wave, memory_order_relaxed,
                                                                  memory_order_relaxed))
        ;
}

bool dfr_skips_passes_over(const struct dfr_skips *s, uint32_t slot, uint32_t node)
{
    const struct dfr_passes *p = s->passes;

    if (is_late(s, slot, node))
        return true;
    if (!p || slot >= p->n_slots || s->graph->nodes[node].flags & DF_NODE_ONCE)
        return false;
    if (round_of(p, slot) % p->stride >= dfr_passes_waves(p))
        return true;
    return p->of_node[node] != DF_NONE && p->of_node[node] != (uint64_t)(round_of(p, slot) / p->stride);
}

bool dfr_skips_comes_again(const struct dfr_skips *s, uint32_t slot, uint32_t value)
{
    const struct dfr_passes *p = s->passes;

    if (!p || slot >= p->n_slots || p->kept[value] == DF_NONE || round_of(p, slot) < p->stride ||
        round_of(p, slot) % p->stride >= dfr_passes_waves(p))
        return false;
    return !p->was_empty[(uint64_t)p->kept[value] * (uint64_t)p->most_waves + (uint64_t)(round_of(p, slot) % p->stride)];
}

/* Notes in pass 0 whether a token that comes again is empty. */
static void note_kept(struct dfr_skips *s, uint32_t slot, uint32_t value, bool empty)
{
    struct dfr_passes *p = s->passes;

    if (p && slot < p->n_slots && p->kept[value] != DF_NONE && round_of(p, slot) < dfr_passes_waves(p))
        p->was_empty[(uint64_t)p->kept[value] * (uint64_t)p->most_waves + (uint64_t)round_of(p, slot)] = empty;
}

/* ---- jobs ---- */

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

    if (dfr_skips_passes_over(s, slot, node))
        return true;
    if (s->graph->kernels[s->graph->nodes[node].kernel].flags & DF_KERNEL_COPY) /* and so is a select: all */
        return dfr_skips_first(s, slot, node) == DF_NONE;
    const bool takes_zeros = s->graph->kernels[s->graph->nodes[node].kernel].traits & DF_ZERO_EXTENTS;
    for (uint32_t k = 0; k < df_node_n_in(s->graph, node); k++)
        if (bytes_of(s, slot)[in[k]] && !(takes_zeros && bytes_of(s, slot)[in[k]] == DFR_ZEROS))
            return true;
    return false;
}

bool dfr_skips_has_zeros(const struct dfr_skips *s, uint32_t slot, uint32_t node)
{
    const uint32_t *in = s->graph->in_value + s->graph->nodes[node].first_in;
    bool zeros = false;

    if (dfr_skips_passes_over(s, slot, node))
        return false;
    for (uint32_t k = 0; k < df_node_n_in(s->graph, node); k++) {
        if (bytes_of(s, slot)[in[k]] == DFR_EMPTY)
            return false;
        zeros |= bytes_of(s, slot)[in[k]] == DFR_ZEROS;
    }
    return zeros;
}

static void set_output(struct dfr_skips *s, uint32_t slot, uint32_t value, enum dfr_empty how)
{
    uint8_t *byte = &s->empty[(size_t)slot * s->graph->n_values + value];
    const uint8_t now = how && !dfr_skips_comes_again(s, slot, value) ? how : DFR_FULL;

    note_kept(s, slot, value, how);
    if (*byte != now && !df_value_is_acc(s->graph, value)) /* what is said twice is written once: somebody may be reading it. An acc is as it was */
        __atomic_store_n(byte, now, __ATOMIC_RELAXED);
}

void dfr_skips_set(struct dfr_skips *s, uint32_t slot, uint32_t node, bool empty)
{
    uint32_t first = s->graph->nodes[node].first_out;

    for (uint32_t y = first; y < first + df_node_n_out(s->graph, node); y++)
        set_output(s, slot, y, !empty ? DFR_FULL : bytes_of(s, slot)[y] == DFR_ZEROS ? DFR_ZEROS : DFR_EMPTY);
}

void dfr_skips_set_left_out(struct dfr_skips *s, uint32_t slot, uint32_t node, uint64_t zeros)
{
    uint32_t first = s->graph->nodes[node].first_out;

    for (uint32_t i = 0; i < df_node_n_out(s->graph, node); i++)
        set_output(s, slot, first + i, i < 64 && zeros >> i & 1 ? DFR_ZEROS : DFR_EMPTY);
}

void dfr_skips_set_one(struct dfr_skips *s, uint32_t slot, uint32_t value, enum dfr_empty how)
{
    note_kept(s, slot, value, true);
    s->empty[(size_t)slot * s->graph->n_values + value] = (uint8_t)how;
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
