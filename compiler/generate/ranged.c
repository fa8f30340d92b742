/* ranged.c - hoists for rows.c values that depend on the range of a reduction but on no index of the formula, such as a
 * local function f[b] of which each element of an image uses all values. They are computed once per row, into an array
 * over the range, before the loop over columns.
 *
 * Chosen:   values that contain a reduction or a function of math.h, over ranges with constant bounds, in formulas with
 *           many columns. Cheaper values are recomputed as fast as they would be loaded. Not on GPUs, where a thread
 *           computes one element.
 * Range:    every reduction whose terms contain the value must have the same range, because nothing is proved about the
 *           value's reads outside it.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (32 << 10)           /* of all arrays: they are on the stack */

static bool is_costly(const struct dff_node *n)
{
    return n->kind == DFF_REDUCE || (n->kind == DFF_OP && n->op >= DFF_EXP && n->op <= DFF_TANH);
}

/* Marks the nodes of the formula's terms that hold `n`: they have larger numbers. */
static void mark_holders(const struct dfg_gen *g, const struct dff_node *n, bool *holds)
{
    memset(holds, 0, g->kernel->n_nodes * sizeof *holds);
    holds[n->id] = true;
    for (uint32_t i = n->id + 1; i < g->kernel->n_nodes; i++)
        for (uint32_t k = 0; k < g->kernel->nodes[i]->n_args; k++)
            holds[i] |= g->kernel->nodes[i]->args[k] && holds[g->kernel->nodes[i]->args[k]->id];
}

/* The range that gives the one slot that `n` depends on. NULL: there are several, or its ends are no numbers. */
static const struct dff_range *range_of(const struct dfg_gen *g, const struct dff_node *n, bool *holds)
{
    const struct dff_range *found = NULL;
    mark_holders(g, n, holds);
    for (uint32_t i = n->id + 1; i < g->kernel->n_nodes; i++) {
        const struct dff_node *reduce = g->kernel->nodes[i];
        for (uint32_t r = 0; holds[i] && reduce->kind == DFF_REDUCE && r < reduce->n_ranges; r++) {
            const struct dff_range *range = &reduce->ranges[r];
            if (n->slots != 1u << range->slot)
                continue;
            if (!dfg_range_is_fixed(range) || !dfg_range_has_values(range) ||
                (found && (found->from->i != range->from->i || found->to->i != range->to->i)))
                return NULL;
            found = range;
        }
    }
    return found;
}

/* Does the value depend on one slot, and on no index of the formula, and hold what takes long to compute? costly[]: of the nodes with smaller numbers. */
static bool is_ranged(const struct dfg_gen *g, const struct dff_node *n, bool *costly)
{
    uint32_t indices = (1u << g->formula->rank) - 1;
    if (g->sum)                         /* its terms are computed behind its condition, which may be why their reads are inside */
        indices |= 1u << g->sum->ranges[0].slot;
    costly[n->id] = is_costly(n) && n->slots;
    for (uint32_t k = 0; k < n->n_args; k++)
        costly[n->id] |= n->args[k] && n->args[k]->slots == n->slots && costly[n->args[k]->id];
    return costly[n->id] && n->slots && !(n->slots & (n->slots - 1)) && !(n->slots & indices) && g->facts[n->id].uses;
}

/* The element for the slot's value `name` + shift. */
static const char *element(struct dfg_gen *g, const char *array, const char *name, int64_t shift)
{
    return shift ? dfg_printf(g, "%s[%s %c %" PRId64 "]", array, name, shift < 0 ? '-' : '+', shift < 0 ? -shift : shift) : dfg_printf(g, "%s[%s]", array, name);
}

static void print_array(struct dfg_gen *g, const struct dff_node *n, const struct dff_range *range)
{
    struct dfg_block block;
    const char *name = dfg_new_name(g);
    dfg_line(g, g->block, "%s %s[%" PRId64 "];", dfg_type(n->type), name, range->to->i - range->from->i);
    const struct dfg_loop loop = dfg_loop_open(g, range, &block);
    if (!g->failed)
        dfg_line(g, &block, "%s = %s;", element(g, name, loop.name, -range->from->i), dfg_value(g, n).c);
    dfg_loop_close(g, &block, &loop);
    g->ranged[g->n_ranged++] = (struct dfg_ranged){ n, range->from->i, name };
}

void dfg_ranged_print(struct dfg_gen *g)
{
    const uint32_t n = g->kernel->n_nodes;
    if (g->gpu || !dfg_has_many_columns(g))
        return;
    bool *ranged = calloc(4 * (size_t)n + 1, sizeof *ranged);
    int64_t bytes = 0;
    g->failed |= !ranged;
    if (g->failed) {
        free(ranged);
        return;
    }
    bool *costly = ranged + n, *needed = costly + n, *holds = needed + n;
    for (uint32_t i = 0; i < n; i++)
        ranged[i] = is_ranged(g, g->kernel->nodes[i], costly);
    for (uint32_t i = 0; i < n; i++)    /* what another node needs that is no such value itself */
        for (uint32_t k = 0; g->facts[i].uses && !ranged[i] && k < g->kernel->nodes[i]->n_args; k++)
            if (g->kernel->nodes[i]->args[k])
                needed[g->kernel->nodes[i]->args[k]->id] = true;
    for (uint32_t i = 0; i < n && !g->failed && g->n_ranged < DFG_MAX_RANGED; i++) {
        const struct dff_range *range = ranged[i] && needed[i] ? range_of(g, g->kernel->nodes[i], holds) : NULL;
        const int64_t more = range ? (range->to->i - range->from->i) * dfg_type_bytes(g->kernel->nodes[i]->type) : 0;
        if (!range || bytes + more > MOST_BYTES)
            continue;
        bytes += more;
        print_array(g, g->kernel->nodes[i], range);
    }
    free(ranged);
}

bool dfg_ranged_has(const struct dfg_gen *g, const struct dff_node *n)
{
    bool has = false;
    for (unsigned i = 0; i < g->n_ranged; i++)
        has |= g->ranged[i].node == n;
    return has;
}

const char *dfg_ranged_value(struct dfg_gen *g, const struct dff_node *n)
{
    for (unsigned i = 0; i < g->n_ranged; i++) {
        const struct dfg_ranged *r = &g->ranged[i];
        if (r->node != n)
            continue;
        const struct dfg_block *block = dfg_block_of(g, n->slots);
        if (block->is_number)
            return dfg_printf(g, "%s[%" PRId64 "]", r->name, block->number - r->low);
        if (block->name)
            return element(g, r->name, block->name, block->shift - r->low);
    }
    return NULL;
}
