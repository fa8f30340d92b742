/* pairs.c - which formulas have a function that computes two rows at once.
 *
 * A window over rows reads most rows again for the next one. Of both rows in one loop, compilers read each element once, and
 * compute once what both have in common: the sum of a row, say, of a sum of such sums.
 */
#include "compiler/generate/gen.h"

#include <string.h>

#define MOST_STATEMENTS 100             /* of a row: more would be more values than a processor has registers */

/* Is it made of operations that take much longer than a read? */
static bool has_functions(const struct dfg_gen *g)
{
    for (unsigned i = 0; i < g->kernel->n_nodes; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        if (g->facts[n->id].uses && n->kind == DFF_OP && n->op >= DFF_EXP && n->op <= DFF_TANH)
            return true;
    }
    return false;
}

static unsigned statements(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += *text == ';';
    return n;
}

bool dfg_pair_is_wanted(const struct dfg_gen *g, const char *text)
{
    const struct dff_port *out = &g->kernel->ports[g->formula->port];
    int64_t modulus; /* if the row decides between sides of conditions, two rows have little in common */
    return dfg_lead(g) && g->formula->is_index[dfg_lead(g) - 1] && out->mode != DF_INOUT && g->stage.n_rows > 1 &&
           statements(text) <= MOST_STATEMENTS && !g->stage.has_strips && !has_functions(g) && dfg_residues(g, &modulus) < 0;
}

static bool same_columns(const struct dfg_bound *a, const struct dfg_bound *b)
{
    return a->extent == b->extent && a->factor == b->factor && a->least == b->least && a->most == b->most;
}

bool dfg_pair_is_good(const struct dfg_gen *g)
{
    bool good = g->pair.n_rows < 2 * g->stage.n_rows && g->pair.n_bounds == g->stage.n_bounds &&
                memcmp(g->pair.whole, g->stage.whole, sizeof g->pair.whole) == 0;
    for (unsigned i = 0; good && i < g->stage.n_bounds; i++)
        good = same_columns(&g->pair.bounds[i], &g->stage.bounds[i]) && g->stage.bounds[i].rest.n == 0;
    return good;
}
