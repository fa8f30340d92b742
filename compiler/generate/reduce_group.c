/* reduce_group.c - the code of reductions for GPUs if there are more terms than elements: the items of a work-group share the terms of one
 * element.
 *
 * Real numbers:  the order of the language, "in lanes". An item adds up the terms of one lane of one block of 1024 values, so 16 blocks
 *                are computed at a time. Then the first item joins the blocks' results in their order.
 * Others:        sums and products of integers, counts, any, all, and integer min and max have no order; argmin and argmax are joined as pairs
 *                of a value and its index. The loop over terms is strided by item, and a tree reduction joins the partial results.
 * Choice:        made at each launch: with few terms, or many elements, each thread computes an element instead.
 */
#include "compiler/generate/reduce.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- which reductions ---- */

static void find(const struct dff_node *n, const struct dff_node **nodes, unsigned *count, unsigned char *seen)
{
    if (seen[n->id])
        return;
    seen[n->id] = 1;
    if (n->kind == DFF_REDUCE) {
        if (n->order == DFF_ORDER_LANES && *count < DFG_MOST_GROUPED)
            nodes[(*count)++] = n;
        return;
    }
    for (uint32_t k = 0; k < n->n_args; k++)
        if (n->args[k])
            find(n->args[k], nodes, count, seen);
}

unsigned dfg_grouped_find(const struct dfg_gen *g, const struct dff_node **nodes)
{
    unsigned char *seen = calloc(g->kernel->n_nodes + 1u, 1);
    unsigned n = 0;
    if (seen)                           /* else each thread computes an element */
        find(g->formula->value, nodes, &n, seen);
    free(seen);
    return n;
}

/* ---- text ---- */

static const char *extent_of(struct dfg_gen *g, const struct dff_range *range)
{
    return dfg_printf(g, "df_strip_most(%s - %s, 0)", dfg_within(g, dfg_index(g, range->to), DFG_PLUS), dfg_within(g, dfg_index(g, range->from), DFG_TIMES));
}

/* Declares what items hand to each other, of reduction k. */
static void print_local(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    const char *type = dfg_type(n->type);
    dfg_line(g, g->block, "DF_LOCAL(%s, df_part%u, DF_MOST_ITEMS);", type, k);
    if (dfg_is_best(n))
        dfg_line(g, g->block, "DF_LOCAL(%s, df_best%u, DF_MOST_ITEMS);", dfg_type(n->args[0]->type), k);
    dfg_line(g, g->block, "DF_LOCAL(int, df_any%u, DF_MOST_ITEMS);", k);
    if (dfg_is_float(n->type))
        dfg_line(g, g->block, "DF_LOCAL(struct df_lanes_%s, df_lanes%u, %u);", dfg_lanes_name(g, n), k, n->n_ranges);
}

static bool open_phase(struct dfg_gen *g, struct dfg_block *phase) { return dfg_open(g, phase, -1, NULL); }

static void close_phase(struct dfg_gen *g, struct dfg_block *phase)
{
    dfg_close(g, phase, "DF_PHASE");
    dfg_line(g, g->block, "DF_BARRIER();");
}

/* ---- in lanes ---- */

/* Prints the terms of the lane, whose block and outer ranges follow from df_unit. The ranges from `r` on have no value yet. */
static void print_lane(struct dfg_gen *g, const struct dff_node *n, uint32_t r, unsigned k)
{
    struct dfg_block block;
    const struct dff_range *range = &n->ranges[r];
    struct dfg_loop loop = dfg_loop_open(g, range, &block);
    if (r + 1 < n->n_ranges) {
        dfg_line(g, &block, "const int64_t %s = %s + df_at%u;", loop.name, loop.from, r);
        if (!g->failed)
            print_lane(g, n, r + 1, k);
        dfg_close(g, &block, "");
        return;
    }
    const struct dff_node *condition = dfg_condition_of(n);
    const char *when = condition ? dfg_within(g, dfg_value(g, condition), DFG_COMPARE) : NULL;
    const char *next = dfg_joined(g, n, "df_all", dfg_value(g, n->args[0]));
    if (when)
        dfg_line(g, g->block, "df_any |= %s;", when);
    dfg_line(g, g->block, "df_all = %s;", when ? dfg_printf(g, "%s ? %s : df_all", when, next) : next);
    if (!when)
        dfg_line(g, g->block, "df_any = 1;");
    dfg_close(g, &block, dfg_printf(g, "for (int64_t %s = %s + df_at%u * DF_BLOCK + df_lane, df_end = df_strip_least(%s, %s + (df_at%u + 1) * DF_BLOCK); %s < df_end; %s += DF_LANES)",
                                    loop.name, dfg_within(g, (struct dfg_text){ loop.from, DFG_PLUS }, DFG_TIMES), r, loop.to,
                                    dfg_within(g, (struct dfg_text){ loop.from, DFG_PLUS }, DFG_TIMES), r, loop.name, loop.name));
}

/* Prints what the first item does with the result of unit df_unit: where a row of blocks ends, its result is a value of the range before. */
static void print_put(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    const char *kind = dfg_lanes_name(g, n);
    unsigned r = n->n_ranges - 1;
    dfg_line(g, g->block, "const uint32_t df_which = df_mask(df_any%u + df_k * DF_LANES);", k);
    dfg_line(g, g->block, "df_put_%s(&df_lanes%u[%u], 1, df_which != 0, df_tree_%s(df_part%u + df_k * DF_LANES, df_which));", kind, k, r, kind, k);
    dfg_line(g, g->block, "int64_t df_next = df_unit + 1;");
    for (; r > 0; r--) {
        dfg_line(g, g->block, "if (df_next %% df_extent%u_%u)", k, r);
        dfg_line(g, g->block, "    continue;");
        dfg_line(g, g->block, "df_next /= df_extent%u_%u;", k, r);
        dfg_line(g, g->block, "df_hand_%s(&df_lanes%u[%u], &df_lanes%u[%u]);", kind, k, r, k, r - 1);
    }
}

static void print_lanes(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    struct dfg_block phase, inner, unit, loop;
    const char *kind = dfg_lanes_name(g, n), *units = "";
    for (uint32_t r = 0; r < n->n_ranges; r++) {
        const char *extent = extent_of(g, &n->ranges[r]);
        dfg_line(g, g->block, "const int64_t df_extent%u_%u = %s;", k, r, r + 1 < n->n_ranges ? extent : dfg_printf(g, "(%s + DF_BLOCK - 1) / DF_BLOCK", extent));
        units = dfg_printf(g, "%s%sdf_extent%u_%u", units, r ? " * " : "", k, r);
    }
    dfg_line(g, g->block, "const int64_t df_units%u = %s;", k, units);
    if (open_phase(g, &phase)) {
        dfg_line(g, g->block, "for (int df_r = 0; DF_ITEM == 0 && df_r < %u; df_r++)", n->n_ranges);
        dfg_line(g, g->block, "    df_clear_%s(&df_lanes%u[df_r]);", kind, k);
    }
    close_phase(g, &phase);
    if (dfg_open(g, &loop, -1, NULL)) {
        if (open_phase(g, &phase)) {
            if (dfg_open(g, &inner, -1, NULL)) {
                dfg_line(g, g->block, "int64_t df_unit = df_first + df_slot / DF_LANES;");
                dfg_line(g, g->block, "const int df_lane = df_slot %% DF_LANES;");
                dfg_line(g, g->block, "%s df_all = %s;", dfg_type(n->type), dfg_start_of(n));
                dfg_line(g, g->block, "int df_any = 0;");
                if (dfg_open(g, &unit, -1, NULL)) {
                    for (uint32_t r = n->n_ranges; r-- > 0;) {
                        dfg_line(g, g->block, r ? "const int64_t df_at%u = df_unit %% df_extent%u_%u;" : "const int64_t df_at%u = df_unit;", r, k, r);
                        if (r)
                            dfg_line(g, g->block, "df_unit /= df_extent%u_%u;", k, r);
                    }
                    if (!g->failed)
                        print_lane(g, n, 0, k);
                }
                dfg_close(g, &unit, dfg_printf(g, "if (df_unit < df_units%u)", k));
                dfg_line(g, g->block, "df_part%u[df_slot] = df_all;", k);
                dfg_line(g, g->block, "df_any%u[df_slot] = df_any;", k);
            }
            dfg_close(g, &inner, "for (int df_slot = DF_ITEM; df_slot < DF_MOST_ITEMS; df_slot += DF_ITEMS)");
        }
        close_phase(g, &phase);
        if (open_phase(g, &phase)) {
            if (dfg_open(g, &inner, -1, NULL)) {
                dfg_line(g, g->block, "const int64_t df_unit = df_first + df_k;");
                dfg_line(g, g->block, "if (df_unit >= df_units%u)", k);
                dfg_line(g, g->block, "    break;");
                print_put(g, n, k);
            }
            dfg_close(g, &inner, "for (int df_k = 0; DF_ITEM == 0 && df_k < DF_MOST_ITEMS / DF_LANES; df_k++)");
        }
        close_phase(g, &phase);
    }
    dfg_close(g, &loop, dfg_printf(g, "for (int64_t df_first = 0; df_first < df_units%u; df_first += DF_MOST_ITEMS / DF_LANES)", k));
    if (open_phase(g, &phase)) {
        dfg_line(g, g->block, "if (DF_ITEM == 0 && !df_end_%s(&df_lanes%u[0], &df_part%u[0]))", kind, k, k);
        dfg_line(g, g->block, "    df_part%u[0] = %s;", k, n->op == DFF_SUM ? "0" : dfg_start_of(n));
    }
    close_phase(g, &phase);
}

/* ---- in any order ---- */

/* Prints the loops over ranges r, r + 1, …: those of the two last ones are strided by item. */
static void print_turns(struct dfg_gen *g, const struct dfg_fold *f, uint32_t r)
{
    const struct dff_node *n = f->node;
    struct dfg_block block;
    if (r == n->n_ranges) {
        dfg_fold_term(g, f);
        return;
    }
    struct dfg_loop loop = dfg_loop_open(g, &n->ranges[r], &block);
    if (!g->failed)
        print_turns(g, f, r + 1);
    const unsigned behind = n->n_ranges - 1 - r;
    const char *item = behind > 1 ? NULL : behind ? "DF_ITEM_Y" : n->n_ranges > 1 ? "DF_ITEM_X" : "DF_ITEM",
               *items = behind ? "DF_ITEMS_Y" : n->n_ranges > 1 ? "DF_ITEMS_X" : "DF_ITEMS";
    if (item)
        dfg_close(g, &block, dfg_printf(g, "for (int64_t %s = %s + %s; %s < %s; %s += %s)", loop.name, loop.from, item, loop.name, loop.to, loop.name, items));
    else
        dfg_loop_close(g, &block, &loop);
}

/* C that joins slot df_a of the parts with slot df_b. */
static void print_join(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    const char *part = dfg_printf(g, "df_part%u[df_a]", k);
    if (!dfg_is_best(n)) {
        dfg_line(g, g->block, "%s = %s;", part, dfg_joined(g, n, part, (struct dfg_text){ dfg_printf(g, "df_part%u[df_b]", k), DFG_ATOM }));
        return;
    }
    dfg_line(g, g->block, "const %s df_va = df_best%u[df_a], df_vb = df_best%u[df_b];", dfg_type(n->args[0]->type), k, k);
    const char *real = dfg_is_float(n->args[0]->type) ? " || (df_va != df_va && df_vb == df_vb)" : "", *other = *real ? " || (df_vb != df_vb && df_va == df_va)" : "",
               compare = n->op == DFF_ARGMIN ? '<' : '>';
    dfg_line(g, g->block, "const int df_better = df_vb %c df_va%s, df_worse = df_va %c df_vb%s;", compare, real, compare, other);
    dfg_line(g, g->block, "if (df_any%u[df_b] && (!df_any%u[df_a] || df_better || (!df_worse && df_part%u[df_b] < df_part%u[df_a]))) {", k, k, k, k);
    dfg_line(g, g->block, "    %s = df_part%u[df_b];", part, k);
    dfg_line(g, g->block, "    df_best%u[df_a] = df_vb;", k);
    dfg_line(g, g->block, "    df_any%u[df_a] = 1;", k);
    dfg_line(g, g->block, "}");
}

static void print_unordered(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    struct dfg_block phase, inner, loop;
    if (open_phase(g, &phase)) {
        const struct dfg_fold f = dfg_fold_begin(g, n);
        dfg_line(g, g->block, "%s %s = %s;", dfg_type(n->type), f.name, dfg_start_of(n));
        print_turns(g, &f, 0);
        dfg_line(g, g->block, "df_part%u[DF_ITEM] = %s;", k, f.name);
        if (f.best) {
            dfg_line(g, g->block, "df_best%u[DF_ITEM] = %s;", k, f.best);
            dfg_line(g, g->block, "df_any%u[DF_ITEM] = %s;", k, f.any);
        }
    }
    close_phase(g, &phase);
    if (dfg_open(g, &loop, -1, NULL)) {
        if (open_phase(g, &phase)) {
            if (dfg_open(g, &inner, -1, NULL)) {
                dfg_line(g, g->block, "const int df_b = df_a + df_apart;");
                print_join(g, n, k);
            }
            dfg_close(g, &inner, "for (int df_a = DF_ITEM; df_a < df_apart; df_a += DF_ITEMS)");
        }
        close_phase(g, &phase);
    }
    dfg_close(g, &loop, "for (int df_apart = DF_ITEMS / 2; df_apart; df_apart /= 2)");
}

/* ---- the kernel ---- */

/* Prints the reductions that depend on the index `slot` and on none behind it; -1: on none. What is made of them can stand in the same block then. */
static void print_reductions(struct dfg_gen *g, int slot, const struct dff_node *const *nodes, unsigned n)
{
    for (unsigned k = 0; k < n && !g->failed; k++) {
        if (nodes[k]->slots >> (slot + 1) || (slot >= 0 && !(nodes[k]->slots >> slot)))
            continue;
        (dfg_is_float(nodes[k]->type) ? print_lanes : print_unordered)(g, nodes[k], k);
        g->block->temporaries[nodes[k]->id] = dfg_printf(g, "df_part%u[0]", k);
    }
}

/* Prints the blocks of the formula's indices from dimension d on, and inside of them the reductions and the element. df_rest: the number of
 * the element among those whose first d indices are as they are. */
static void print_element(struct dfg_gen *g, unsigned d, const struct dff_node *const *nodes, unsigned n)
{
    struct dfg_block block, phase;
    while (d < g->formula->rank && !g->formula->is_index[d])
        d++;
    if (d < g->formula->rank) {
        const char *name = g->formula->names[d];
        if (dfg_open(g, &block, (int)d, name)) {
            dfg_line(g, g->block, "const int64_t %s = df_rest %% %s;", name, dfg_within(g, dfg_index(g, g->kernel->ports[g->formula->port].extents[d]), DFG_UNARY));
            dfg_line(g, g->block, "df_rest /= %s;", dfg_within(g, dfg_index(g, g->kernel->ports[g->formula->port].extents[d]), DFG_UNARY));
            print_reductions(g, (int)d, nodes, n);
            print_element(g, d + 1, nodes, n);
        }
        dfg_close(g, &block, "");
        return;
    }
    if (open_phase(g, &phase)) {
        if (dfg_open(g, &block, -1, NULL))
            dfg_store(g);
        dfg_close(g, &block, "if (DF_ITEM == 0)");
    }
    close_phase(g, &phase);
}

static const char *n_elements(struct dfg_gen *g)
{
    const char *text = "1";
    for (unsigned d = 0; d < g->formula->rank; d++)
        if (g->formula->is_index[d])
            text = dfg_printf(g, "%s * %s", text, dfg_within(g, dfg_index(g, g->kernel->ports[g->formula->port].extents[d]), DFG_UNARY));
    return text;
}

void dfg_grouped_print(FILE *out, struct dfg_gen *g, unsigned number, const struct dff_node *const *nodes, unsigned n)
{
    struct dfg_block block, loop;
    dfg_analyse(g);
    g->column = -1;
    g->mode = DFG_EDGE;
    g->copies = 1;
    g->block = NULL;
    if (dfg_open(g, &block, -1, NULL)) {
        for (unsigned k = 0; k < n; k++)
            print_local(g, nodes[k], k);
        print_reductions(g, -1, nodes, n);
        if (dfg_open(g, &loop, -1, NULL)) {
            dfg_line(g, g->block, "int64_t df_rest = df_element;");
            dfg_line(g, g->block, "(void)df_rest;");
            print_element(g, 0, nodes, n);
        }
        dfg_close(g, &loop, dfg_printf(g, "for (int64_t df_element = DF_GROUP_X; df_element < %s; df_element += DF_GROUPS_X)", n_elements(g)));
    }
    dfg_close(g, &block, NULL);
    fprintf(out, "static __global__ void DF_ITEMS_AT_MOST(DF_MOST_ITEMS) df_group_%c_%u(%s%s)\n{\n%s}\n\n", DFG_NAME, number, dfg_parameters(g), dfg_gpu_ports(g),
            g->failed ? "" : block.bytes);
    free(block.bytes);
}

void dfg_grouped_launch(struct dfg_gen *g, unsigned number, const struct dff_node *const *nodes, unsigned n)
{
    const char *terms = "0";
    for (unsigned k = 0; k < n; k++) {
        const char *own = "1";
        for (uint32_t r = 0; r < nodes[k]->n_ranges; r++)
            own = dfg_printf(g, "%s * %s", own, extent_of(g, &nodes[k]->ranges[r]));
        terms = dfg_printf(g, "df_strip_most(%s, %s)", terms, own);
    }
    dfg_line(g, g->block, "if (df_is_grouped(%s, %s))", terms, n_elements(g));
    dfg_line(g, g->block, "    DF_LAUNCH_ALL(df_group_%c_%u, df_grid(dim3(1), %s, 1, 1), dim3(32, 8), stream, %s%s);", DFG_NAME, number, n_elements(g), dfg_arguments(g),
             dfg_gpu_arguments(g));
    dfg_line(g, g->block, "else");
}
