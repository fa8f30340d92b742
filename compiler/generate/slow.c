/* slow.c - finds for emit/emit_slow.c the formulas of which compilers can make no vectors, that read memory across, or that one thread of a GPU computes, and
 * what would help.
 */
#include "compiler/generate/gen.h"

#include <stdlib.h>

#include "compiler/generate/slow.h"

#define MANY 256                        /* terms of a sum */
#define MOST 65536                      /* of all sums of a kernel that has few elements */

static const struct dfg_slow texts[] = {
    [DFG_SLOW_FOLD] = { .much = true,
                        .what = "real terms are added one after the other, because a range between numbers has that order",
                        .remedy = "end the range with a dimension, as 0..n does: then 16 lanes add them, and other bits may come out" },
    [DFG_SLOW_WINDOW] = { .much = true, .what = "each column has a range of its own, so its terms are added one after the other",
                          .remedy = "give the range numbers as ends, as sum(i in 0..9: a[y, x + i]) has, and the port a border, such as 'border 0'" },
    [DFG_SLOW_DIVISION] = { .much = true, .what = "integers are divided by other integers in each column, which processors have no vectors for",
                            .remedy = "where no divisor is 0, i32(trunc(f64(a) / f64(b))) is a / b for all i32" },
    [DFG_SLOW_GATHER] = { .what = "elements are read one by one, at places that are computed for each column",
                          .remedy = "sums of an index and a number, and quotients by 2, 3 or 4, are read as rows" },
    [DFG_SLOW_DOWN] = { .what = "it reads down the rows of a port while it goes along its own",
                        .remedy = "let the output have its indices in the order in which they are read, or turn the port once, in a kernel of its own" },
    [DFG_SERIAL_FOLD] = { .on_gpu = true, .what = "one thread takes all terms of an element, because a range between numbers has their order",
                          .remedy = "end the range with a dimension, as 0..n does: then work-groups share the terms, and other bits may come out" },
    [DFG_SERIAL_INDEX] = { .on_gpu = true, .what = "one thread takes all terms of an element, or makes a line of running values, because an end of a range holds an index or another range" },
    [DFG_SERIAL_INSIDE] = { .on_gpu = true, .what = "one thread takes all terms of this reduction, because it stands among those of another and depends on its range",
                            .remedy = "a kernel of its own, whose output the other one reads, lets work-groups share its terms" },
};

static bool is_of_columns(const struct dfg_gen *g, const struct dff_node *n)
{
    return g->column >= 0 && n->slots >> (unsigned)g->column & 1;
}

/* Does the read go from row to row while the formula goes from column to column? */
static bool crosses_rows(const struct dfg_gen *g, const struct dff_node *n)
{
    uint32_t d = n->kind == DFF_READ ? n->n_args : 0;
    while (d > 0 && !is_of_columns(g, n->args[d - 1]) && g->kernel->ports[n->number].extents[d - 1]->kind == DFF_CONST &&
           g->kernel->ports[n->number].extents[d - 1]->i <= DFG_FEW_COLUMNS)
        d--;                            /* channels */
    bool crosses = d > 1 && !is_of_columns(g, n->args[d - 1]), any = false;
    while (d-- > 0)
        any |= is_of_columns(g, n->args[d]);
    return crosses && any;
}

/* And no sum goes along the row meanwhile. */
static bool reads_down(const struct dfg_gen *g, const struct dff_node *n)
{
    return crosses_rows(g, n) && !(n->args[n->n_args - 1]->slots >> g->formula->rank);
}

static bool any_crosses_rows(const struct dfg_gen *g, const struct dff_node *n)
{
    bool any = crosses_rows(g, n);
    for (uint32_t k = 0; k < n->n_args && !any; k++)
        any = n->args[k] && any_crosses_rows(g, n->args[k]);
    return any;
}

/* Are so many terms added that it counts? Outputs of a few elements need more of them. */
static bool has_many_terms(const struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_port *out = &g->kernel->ports[g->formula->port];
    int64_t terms = 1, wanted = MOST;
    for (uint32_t r = 0; r < n->n_ranges && terms < MOST; r++)
        terms *= dfg_range_is_fixed(&n->ranges[r]) ? n->ranges[r].to->i - n->ranges[r].from->i : 0;
    for (unsigned d = 0; d < out->rank; d++)
        wanted = out->extents[d]->kind == DFF_CONST ? wanted : MANY;
    return terms >= wanted;
}

/* A sum of columns that lie side by side is that of as many columns at once. */
static bool is_fold(const struct dfg_gen *g, const struct dff_node *n)
{
    return n->kind == DFF_REDUCE && n->order == DFF_ORDER_FOLD && !dfg_is_int(n->type) && n->type != DFF_BOOL && has_many_terms(g, n) &&
           (g->column < 0 || any_crosses_rows(g, n->args[0]));
}

static bool is_window(const struct dfg_gen *g, const struct dff_node *n)
{
    bool window = false;
    for (uint32_t r = 0; r < n->n_ranges; r++)
        window |= is_of_columns(g, n->ranges[r].from) && !dfg_is_int(n->type);
    return n->kind == DFF_REDUCE && window;
}

static bool is_division(const struct dfg_gen *g, const struct dff_node *n)
{
    return n->kind == DFF_OP && (n->op == DFF_DIV || n->op == DFF_MOD) && dfg_is_int(n->type) && is_of_columns(g, n->args[1]);
}

static bool is_gather(const struct dfg_gen *g, const struct dff_node *n)
{
    bool computed = false;
    struct dfg_affine affine;
    for (uint32_t d = 0; d < n->n_args && (n->kind == DFF_READ || n->kind == DFF_TABLE); d++)
        computed |= is_of_columns(g, n->args[d]) && !dfg_affine(g, n->args[d], &affine);
    return computed && !dfg_phases(g) && !dfg_is_chosen(g, n);
}

/* ---- on GPUs ---- */

/* Is the node among the terms of a reduction? */
static bool is_in(const struct dff_node *n, const struct dff_node *in, unsigned char *seen)
{
    bool found = n == in;
    for (uint32_t k = 0; k < in->n_args && !found && !seen[in->id]; k++)
        found = in->args[k] && is_in(n, in->args[k], seen);
    seen[in->id] = 1;
    return found;
}

static bool is_inside(struct dfg_gen *g, const struct dff_node *n)
{
    unsigned char *seen = calloc(g->kernel->n_nodes + 1u, 1);
    bool inside = false;
    g->failed |= !seen;
    for (unsigned i = n->id + 1; i < g->kernel->n_nodes && seen && !inside; i++)
        if (g->kernel->nodes[i]->kind == DFF_REDUCE && g->facts[i].uses)
            inside = is_in(n, g->kernel->nodes[i], seen);
    free(seen);
    return inside;
}

/* Has each element a range that is about as long as others', such as x - 4..x + 5? There are many elements then, and few terms. */
static bool is_moving(const struct dff_node *n)
{
    bool moves = false;
    for (uint32_t r = 0; r < n->n_ranges; r++)
        moves |= n->ranges[r].from->slots & n->ranges[r].to->slots;
    return moves;
}

/* May work-groups share the terms, or several lines? */
static bool is_shared(const struct dfg_gen *g, const struct dff_node *n)
{
    struct dff_one_pass pass;
    return dfg_pass_find(g, &pass) && pass.reduce == n && (dfg_is_int(n->type) || n->order != DFF_ORDER_RUNNING);
}

static bool is_serial(struct dfg_gen *g, const struct dff_node *n, enum dfg_slowness why)
{
    if (n->kind != DFF_REDUCE || is_shared(g, n))
        return false;
    switch (n->order) {
    case DFF_ORDER_FOLD: return why == DFG_SERIAL_FOLD && has_many_terms(g, n);
    case DFF_ORDER_RUNNING: case DFF_ORDER_NESTED: return why == DFG_SERIAL_INDEX && !is_moving(n);
    default: return why == DFG_SERIAL_INSIDE && n->slots && is_inside(g, n); /* without slots it is computed first */
    }
}

/* ---- all of them ---- */

static bool is_slow(struct dfg_gen *g, const struct dff_node *n, enum dfg_slowness why)
{
    switch (why) {
    case DFG_SLOW_FOLD: return is_fold(g, n);
    case DFG_SLOW_WINDOW: return is_window(g, n);
    case DFG_SLOW_DIVISION: return is_division(g, n);
    case DFG_SLOW_GATHER: return is_gather(g, n);
    case DFG_SLOW_DOWN: return reads_down(g, n) && !is_gather(g, n);
    default: return is_serial(g, n, why);
    }
}

/* Looks through the formula that is analysed. */
static void look(struct dfg_gen *g, struct dfg_slow *found)
{
    for (unsigned i = 0; i < g->kernel->n_nodes; i++)
        for (unsigned why = 0; why < DFG_SLOWNESSES && g->facts[i].uses; why++)
            if (!found[why].what && is_slow(g, g->kernel->nodes[i], why)) {
                found[why] = texts[why];
                found[why].loc = g->kernel->nodes[i]->loc;
            }
}

bool dfg_slow_find(const struct dff_kernel *formulas, struct dfg_slow *found)
{
    struct dfg_gen g = { .arena = dfl_arena_new(), .kernel = formulas };
    struct dfg_block block;
    for (unsigned why = 0; why < DFG_SLOWNESSES; why++)
        found[why] = (struct dfg_slow){ .what = NULL };
    bool good = g.arena && dfg_kernel_begin(&g);
    if (good) {
        good = dfg_open(&g, &block, -1, NULL);
        for (unsigned i = 0; good && i < formulas->n_formulas; i++) {
            dfg_formula_alone(&g, &formulas->formulas[i]);
            dfg_analyse(&g);
            g.column = dff_column(formulas, g.formula);
            look(&g, found);
        }
        dfg_close(&g, &block, "");
        free(block.bytes);
    }
    free(g.facts);
    dfl_arena_free(g.arena);
    return good && !g.failed;
}
