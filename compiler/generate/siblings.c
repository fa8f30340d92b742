/* siblings.c - finds for kernel.c the formulas of one port that a single row function can compute, because they differ
 * only in constants in place of indices: o[y, x, 0] = …; o[y, x, 1] = …; Their loops are the same, and the planes of a
 * picture usually share values: a colour transform reads all channels for each plane. In one loop these are read and
 * computed once. GPU code and slow.c take each formula alone.
 */
#include "compiler/count/one_pass.h"
#include "compiler/generate/gen.h"

void dfg_formula_alone(struct dfg_gen *g, const struct dff_formula *formula)
{
    g->formula = g->siblings[0] = formula;
    g->n_siblings = 1;
}

/* Do both write the same row of the port, in the same loops? */
static bool has_same_loops(const struct dff_formula *a, const struct dff_formula *b, unsigned lead)
{
    bool same = a->port == b->port;
    for (unsigned d = 0; d < a->rank && same; d++)
        same = a->is_index[d] == b->is_index[d] && (a->is_index[d] || d >= lead || a->at[d] == b->at[d]);
    return same;
}

void dfg_siblings_find(struct dfg_gen *g, const struct dff_formula *formulas, unsigned n, bool *done)
{
    struct dff_one_pass pass;
    const int column = dff_column(g->kernel, g->formula);
    for (unsigned i = 0; i < n && g->n_siblings < DFG_MOST_SIBLINGS; i++) {
        if (done[i] || !has_same_loops(g->formula, &formulas[i], column > 0 ? (unsigned)column : 0) ||
            dff_one_pass(g->kernel, &formulas[i], &pass) != DFF_PASS_NONE)
            continue;
        g->siblings[g->n_siblings++] = &formulas[i];
        done[i] = true;
    }
}
