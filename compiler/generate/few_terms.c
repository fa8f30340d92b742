/* few_terms.c - prints for rows.c and reduce.c the row functions for each small number of terms of sums, of which the number is known only at run time: 1 to
 * 16.
 *
 * Why:      with few terms the loops around the columns (around.c) execute more instructions for their arrays of partial results than for the terms. Written out, a
 *           column keeps them in registers, as those of a constant number of terms.
 * Chosen:   in a formula, all of whose reductions over columns have the same range, an extent or a param at an end of it, and terms that are soon computed. The terms
 *           are named by the range's first value and a number, so MAIN has the bounds of the whole range.
 */
#include "compiler/generate/reduce.h"

#define MOST_REDUCTIONS 3               /* of a formula, and of those that are computed with it */
#define MOST_OPERATIONS 4               /* of a term */

static bool is_same(const struct dff_range *a, const struct dff_range *b)
{
    return a->slot == b->slot && a->from == b->from && a->to == b->to;
}

/* Operations of a value, beside those of indices. `most` + 1: more, or one of them takes long. */
static unsigned operations(const struct dff_node *n, unsigned most)
{
    unsigned all = n->kind == DFF_OP || n->kind == DFF_CONVERT;
    if (dfg_holds_long(n))
        return most + 1;
    for (uint32_t k = 0; k < n->n_args && n->kind != DFF_READ && n->kind != DFF_TABLE && all <= most; k++)
        all += n->args[k] ? operations(n->args[k], most - all) : 0;
    return all;
}

/* Can the reduction be written out once the number of its terms is known? */
static bool may_be_few(const struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_range *range = n->ranges;
    bool may = n->n_ranges == 1 && !dfg_range_is_fixed(range) && !(range->from->slots | range->to->slots) && dfg_is_of_columns(g, n, dfg_channel_slots(g)) && !dfg_is_best(n) &&
               !(dfg_has_lanes(n) && dfg_condition_of(n)) && dfg_reads_rows(g, n);
    for (uint32_t k = 0; k < n->n_args && may; k++)
        may = !n->args[k] || operations(n->args[k], MOST_OPERATIONS) <= MOST_OPERATIONS;
    return may;
}

/* The range of all reductions over columns. NULL: there is none, or one of them may not be written out. */
static const struct dff_range *find_range(const struct dfg_gen *g)
{
    const struct dff_range *range = NULL;
    unsigned reductions = 0;
    for (unsigned i = 0; i < g->kernel->n_nodes; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        const bool reduces = n->kind == DFF_REDUCE, calls = n->kind == DFF_OP && n->op >= DFF_EXP && n->op <= DFF_TANH;
        if (!g->facts[i].uses || !(n->slots >> (unsigned)g->column & 1) || !(reduces || calls))
            continue;
        if (calls || !may_be_few(g, n) || (range && !is_same(range, n->ranges)))
            return NULL;
        range = n->ranges;
        reductions++;
    }
    return reductions <= MOST_REDUCTIONS ? range : NULL;
}

const struct dff_range *dfg_few_range(struct dfg_gen *g)
{
    const struct dff_range *range = NULL;
    struct dfg_block scratch;
    int64_t modulus;
    if (g->sum || g->stage.phases || !dfg_has_many_columns(g))
        return NULL;
    if (dfg_open(g, &scratch, -1, NULL) && dfg_residues(g, &modulus) < 0)
        range = find_range(g);
    dfg_drop(g, &scratch);
    return range;
}

bool dfg_is_few(const struct dfg_gen *g, const struct dff_node *n)
{
    return g->few.terms && n->n_ranges == 1 && is_same(g->few.range, n->ranges) && n->slots >> (unsigned)g->column & 1;
}

bool dfg_few_open(struct dfg_gen *g, struct dfg_block *term, unsigned k)
{
    const bool good = dfg_open_shared(g, term, (int)g->few.range->slot, g->few.first);
    dfg_set_ends(term, g->few.range, k);
    return good;
}

bool dfg_few_open_text(struct dfg_gen *g, struct dfg_block *block, const struct dff_range *range, unsigned terms)
{
    const char *from = dfg_index(g, range->from).c;
    g->few = (struct dfg_few){ terms, range, dfg_new_name(g) };
    const bool good = dfg_open(g, block, (int)range->slot, g->few.first);
    dfg_set_ends(block, range, 0);
    if (good)
        dfg_line(g, block, "const int64_t %s = %s;", g->few.first, from);
    return good;
}

void dfg_few_close_text(struct dfg_gen *g, struct dfg_block *block)
{
    dfg_close(g, block, "");
    g->few.terms = 0;
}
