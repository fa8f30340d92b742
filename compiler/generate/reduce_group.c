/* reduce_group.c - prints for generate_gpu.c the code of reductions for GPUs if there are more terms than elements: the items of a work-group share the terms
 * of one element, and several work-groups do if there are few elements. pass_group.c shares out its terms with the same code.
 *
 * Units:         the last range is cut into blocks, and a unit is one block for one value of each other range. Work-groups share the units.
 * Real numbers:  the order of the language, "in lanes". An item adds up the terms of one lane of a unit, so 16 units are computed at a time. Their
 *                results are the values that are joined next, by the same code, until one is left (df_formula_gpu.h).
 * Others:        sums and products of integers, counts, any, all, and integer min and max have no order; argmin and argmax are joined as pairs
 *                of a value and its index. An item takes the terms of its lane of all units, and a tree reduction joins the partial results.
 * Launches:      with few elements a first one makes results of units, or partial results, in scratch. A second one, with a work-group for each
 *                element, joins them. With many elements one launch does both.
 * Choice:        made at each launch: with few terms, or very many elements, each thread computes an element instead.
 */
#include "compiler/generate/reduce.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- how terms are divided ---- */

static const char *extent_of(struct dfg_gen *g, const struct dff_range *range)
{
    return dfg_printf(g, "df_strip_most(%s - %s, 0)", dfg_within(g, dfg_index(g, range->to), DFG_PLUS), dfg_within(g, dfg_index(g, range->from), DFG_TIMES));
}

void dfg_extents_print(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    for (uint32_t r = 0; r < n->n_ranges; r++)
        dfg_line(g, g->block, "const int64_t df_extent%u_%u = %s;", k, r, extent_of(g, &n->ranges[r]));
}

static const char *n_elements(struct dfg_gen *g)
{
    const char *text = "1";
    for (unsigned d = 0; d < g->formula->rank; d++)
        if (g->formula->is_index[d])
            text = dfg_printf(g, "%s * %s", text, dfg_within(g, dfg_index(g, g->kernel->ports[g->formula->port].extents[d]), DFG_UNARY));
    return text;
}

const char *dfg_extents_before(struct dfg_gen *g, unsigned k, uint32_t end)
{
    const char *text = end ? dfg_printf(g, "df_extent%u_0", k) : "1";
    for (uint32_t r = 1; r < end; r++)
        text = dfg_printf(g, "%s * df_extent%u_%u", text, k, r);
    return text;
}

/* Prints what the kernel takes of the reductions: their extents and units. */
static void print_units(struct dfg_gen *g, const struct dff_node *const *nodes, unsigned n, const char *elements)
{
    const char *places = dfg_printf(g, "df_strip_least(df_elements, DF_MOST_GROUPS)");
    dfg_line(g, g->block, "const int64_t df_elements = %s;", elements);
    for (unsigned k = 0; k < n; k++) {
        const uint32_t last = nodes[k]->n_ranges - 1;
        dfg_extents_print(g, nodes[k], k);
        if (dfg_is_float(nodes[k]->type))
            dfg_line(g, g->block, "const struct df_units df_units%u = df_lane_units(df_extent%u_%u, %s, %s, df_elements);", k, k, last,
                     last ? dfg_printf(g, "df_extent%u_%u", k, last - 1) : "1", dfg_extents_before(g, k, last ? last - 1 : 0));
        else
            dfg_line(g, g->block, "const struct df_units df_units%u = df_wide_units(df_extent%u_%u, %s);", k, k, last, dfg_extents_before(g, k, last));
        if (dfg_is_float(nodes[k]->type))
            places = dfg_printf(g, "df_strip_least(%s, DF_MOST_RESULTS / df_strip_most(df_units%u.results, 1))", places, k);
    }
    dfg_line(g, g->block, "const int64_t df_places = %s;", places);
}

/* Prints where in scratch the results of units are, or the partial ones of work-groups. */
static void print_places(struct dfg_gen *g, const struct dff_node *const *nodes, unsigned n)
{
    const struct dff_node *hoisted[DFF_MOST_GROUPED];
    const unsigned values = DFF_VALUE_BYTES * dff_hoisted(g->kernel, g->formula, hoisted);
    for (unsigned k = 0; k < n; k++) {
        const char *at = k ? dfg_printf(g, "df_at%u.end", k - 1) : dfg_printf(g, "%u", values), *type = dfg_type(nodes[k]->type);
        const char *results = dfg_is_float(nodes[k]->type) ? dfg_printf(g, "df_units%u.results", k) : "df_shares";
        const char *term = dfg_is_best(nodes[k]) ? dfg_printf(g, "sizeof(%s)", dfg_type(nodes[k]->args[0]->type)) : "0";
        dfg_line(g, g->block, "const struct df_results df_at%u = df_results(%s, %s, df_places, sizeof(%s), %s);", k, at, results, type, term);
    }
}

/* Parameters for all that, or arguments: each after ", ". They are no values that a kernel computes, because it would keep them in registers. */
static const char *sizes_of(struct dfg_gen *g, const struct dff_node *const *nodes, unsigned n, bool types)
{
    const char *number = types ? "const int64_t " : "DF_VALUE(", *units = types ? "const struct df_units " : number, *results = types ? "const struct df_results " : number,
               *end = types ? "" : ")", *text = dfg_printf(g, ", %sdf_elements%s, %sdf_places%s", number, end, number, end);
    for (unsigned k = 0; k < n; k++) {
        text = dfg_printf(g, "%s, %sdf_units%u%s, %sdf_at%u%s", text, units, k, end, results, k, end);
        for (uint32_t r = 0; r < nodes[k]->n_ranges; r++)
            text = dfg_printf(g, "%s, %sdf_extent%u_%u%s", text, number, k, r, end);
    }
    return text;
}

/* ---- text ---- */

/* Declares what items hand to each other, of reduction k. */
static void print_local(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    const char *type = dfg_type(n->type);
    dfg_line(g, g->block, "DF_LOCAL(%s, df_part%u, DF_MOST_ITEMS);", type, k);
    if (dfg_is_best(n))
        dfg_line(g, g->block, "DF_LOCAL(%s, df_best%u, DF_MOST_ITEMS);", dfg_type(n->args[0]->type), k);
    dfg_line(g, g->block, "DF_LOCAL(int, df_any%u, DF_MOST_ITEMS);", k);
    if (!dfg_is_float(n->type))
        return;
    dfg_line(g, g->block, "DF_LOCAL(%s, df_lane%u, DF_LANES);", type, k);
    dfg_line(g, g->block, "DF_LOCAL(int, df_have%u, DF_LANES);", k);
}

/* Prints pointers to the results of reduction k, of the element's place. */
static void print_results(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    const char *type = dfg_type(n->type), *term = dfg_is_best(n) ? dfg_type(n->args[0]->type) : NULL;
    dfg_line(g, g->block, "DF_IN_GLOBAL(%s) *const df_value%u = (DF_IN_GLOBAL(%s) *)(df_scratch + df_at%u.value) + df_remainder(df_element, df_places) * df_at%u.each;", type, k, type, k, k);
    if (term)
        dfg_line(g, g->block, "DF_IN_GLOBAL(%s) *const df_term%u = (DF_IN_GLOBAL(%s) *)(df_scratch + df_at%u.term) + df_remainder(df_element, df_places) * df_at%u.each;", term, k, term, k, k);
    if (term || dfg_is_float(n->type))
        dfg_line(g, g->block, "DF_IN_GLOBAL(uint8_t) *const df_has%u = df_scratch + df_at%u.has + df_remainder(df_element, df_places) * df_at%u.each;", k, k, k);
}

bool dfg_phase_open(struct dfg_gen *g, struct dfg_block *phase) { return dfg_open(g, phase, -1, NULL); }

void dfg_phase_close(struct dfg_gen *g, struct dfg_block *phase)
{
    dfg_close(g, phase, "DF_PHASE");
    dfg_line(g, g->block, "DF_BARRIER();");
}

void dfg_unit_print(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    dfg_line(g, g->block, "int64_t df_left = df_unit;");
    for (uint32_t r = n->n_ranges; r-- > 0;) {
        const char *extent = r + 1 < n->n_ranges ? dfg_printf(g, "df_extent%u_%u", k, r) : dfg_printf(g, "df_units%u.blocks", k);
        dfg_line(g, g->block, "const int64_t df_at%u = %s;", r, r ? dfg_printf(g, "df_remainder(df_left, %s)", extent) : "df_left");
        if (r)
            dfg_line(g, g->block, "df_left = df_quotient(df_left, %s);", extent);
    }
}

void dfg_lane_print(struct dfg_gen *g, const struct dff_node *n, uint32_t r, const char *size, const char *lanes, void (*term)(struct dfg_gen *g, const void *arg), const void *arg)
{
    struct dfg_block block;
    struct dfg_loop loop = dfg_loop_open(g, &n->ranges[r], &block);
    const char *from = dfg_within(g, (struct dfg_text){ loop.from, DFG_PLUS }, DFG_TIMES);
    if (r + 1 < n->n_ranges) {
        dfg_line(g, g->block, "const int64_t %s = %s + df_at%u;", loop.name, from, r);
        if (!g->failed)
            dfg_lane_print(g, n, r + 1, size, lanes, term, arg);
        dfg_close(g, &block, "");
        return;
    }
    if (!g->failed)
        term(g, arg);
    dfg_close(g, &block, dfg_printf(g, "for (int64_t %s = %s + df_at%u * %s + df_lane, df_end_of = df_strip_least(%s, %s + (df_at%u + 1) * %s); %s < df_end_of; %s += %s)",
                                    loop.name, from, r, size, loop.to, from, r, size, loop.name, loop.name, lanes));
}

/* ---- in lanes ---- */

static void add_term(struct dfg_gen *g, const void *arg)
{
    const struct dff_node *n = arg, *condition = dfg_condition_of(n);
    const char *when = condition ? dfg_within(g, dfg_value(g, condition), DFG_COMPARE) : NULL;
    const char *next = dfg_joined(g, n, "df_all", dfg_value(g, n->args[0]));
    if (when)
        dfg_line(g, g->block, "df_any |= %s;", when);
    dfg_line(g, g->block, "df_all = %s;", when ? dfg_printf(g, "%s ? %s : df_all", when, next) : next);
    if (!when)
        dfg_line(g, g->block, "df_any = 1;");
}

/* Prints the phase in which each item adds up one lane of one of 16 units. */
static void print_step(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    struct dfg_block phase, slots, unit;
    if (dfg_phase_open(g, &phase)) {
        if (dfg_open(g, &slots, -1, NULL)) {
            dfg_line(g, g->block, "const int64_t df_unit = df_from + df_slot / DF_LANES;");
            dfg_line(g, g->block, "const int df_lane = df_slot %% DF_LANES;");
            dfg_line(g, g->block, "%s df_all = %s;", dfg_type(n->type), dfg_start_of(n));
            dfg_line(g, g->block, "int df_any = 0;");
            if (dfg_open(g, &unit, -1, NULL)) {
                dfg_unit_print(g, n, k);
                dfg_lane_print(g, n, 0, "DF_BLOCK", "DF_LANES", add_term, n);
            }
            dfg_close(g, &unit, "if (df_unit < df_end)");
            dfg_line(g, g->block, "df_part%u[df_slot] = df_all;", k);
            dfg_line(g, g->block, "df_any%u[df_slot] = df_any;", k);
        }
        dfg_close(g, &slots, "for (int df_slot = DF_ITEM; df_slot < DF_MOST_ITEMS; df_slot += DF_ITEMS)");
    }
    dfg_phase_close(g, &phase);
}

static void print_lanes(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    struct dfg_block parts, chunk, step, join;
    const char *kind = dfg_lanes_name(g, n);
    if (dfg_open(g, &parts, -1, NULL)) {
        if (dfg_open(g, &chunk, -1, NULL)) {
            dfg_line(g, g->block, "const int64_t df_first = df_chunk_first(&df_units%u, df_chunk), df_end = df_chunk_end(&df_units%u, df_chunk);", k, k);
            if (dfg_open(g, &step, -1, NULL)) {
                print_step(g, n, k);
                dfg_line(g, g->block, "DF_PHASE");
                dfg_line(g, g->block, "    df_take_%s(&df_units%u, df_from, df_from - df_first, df_end, df_part%u, df_any%u, df_lane%u, df_have%u, df_value%u, df_has%u);", kind, k, k, k,
                         k, k, k, k);
                dfg_line(g, g->block, "DF_BARRIER();");
            }
            dfg_close(g, &step, "for (int64_t df_from = df_first; DF_ALL(df_from < df_end); df_from += DF_LANES)");
            dfg_line(g, g->block, "DF_PHASE");
            dfg_line(g, g->block, "    if (df_units%u.folds && DF_ITEM == 0)", k);
            dfg_line(g, g->block, "        df_fold_%s(df_lane%u, df_have%u, &df_value%u[df_chunk], &df_has%u[df_chunk]);", kind, k, k, k, k);
            dfg_line(g, g->block, "DF_BARRIER();");
        }
        dfg_close(g, &chunk, dfg_printf(g, "for (int64_t df_chunk = df_share; DF_ALL(df_chunk < df_units%u.chunks); df_chunk += df_shares)", k));
    }
    dfg_close(g, &parts, "DF_WHEN(df_does & DF_PARTS)");
    if (dfg_open(g, &join, -1, NULL)) {
        const char *arrays = dfg_printf(g, "df_value%u, df_has%u, df_part%u, df_any%u", k, k, k, k);
        dfg_line(g, g->block, "df_join_%s(&df_units%u, df_units%u.rows, df_units%u.n, %s);", kind, k, k, k, arrays);
        for (uint32_t r = n->n_ranges - 1; r-- > 0;)
            dfg_line(g, g->block, "%sdf_join_%s(&df_units%u, %s, df_extent%u_%u, %s);", r + 2 == n->n_ranges ? dfg_printf(g, "DF_WHEN(!df_units%u.two) ", k) : "", kind, k,
                     dfg_extents_before(g, k, r), k, r, arrays);
        dfg_line(g, g->block, "DF_PHASE");
        dfg_line(g, g->block, "    if (DF_ITEM == 0)");
        dfg_line(g, g->block, "        df_part%u[0] = df_units%u.results && df_has%u[0] ? df_value%u[0] : %s;", k, k, k, k, n->op == DFF_SUM ? "0" : dfg_start_of(n));
        dfg_line(g, g->block, "DF_BARRIER();");
    }
    dfg_close(g, &join, "DF_WHEN(df_does & DF_RESULT)");
}

/* ---- in any order ---- */

static void fold_term(struct dfg_gen *g, const void *arg) { dfg_fold_term(g, arg); }

/* Prints the phase in which each item folds the terms of its lane. */
static void print_fold(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    struct dfg_block phase, units;
    if (dfg_phase_open(g, &phase)) {
        const struct dfg_fold f = dfg_fold_begin(g, n);
        dfg_line(g, g->block, "%s %s = %s;", dfg_type(n->type), f.name, dfg_start_of(n));
        dfg_line(g, g->block, "const int df_wide = df_width_of(df_extent%u_%u, DF_ITEMS), df_lane = DF_ITEM %% df_wide;", k, n->n_ranges - 1);
        if (dfg_open(g, &units, -1, NULL)) {
            dfg_unit_print(g, n, k);
            dfg_lane_print(g, n, 0, "DF_WIDE_BLOCK", "df_wide", fold_term, &f);
        }
        dfg_close(g, &units, dfg_printf(g, "for (int64_t df_unit = df_share * (DF_ITEMS / df_wide) + DF_ITEM / df_wide; df_unit < df_units%u.units; df_unit += df_shares * (DF_ITEMS / df_wide))",
                                        k));
        dfg_line(g, g->block, "df_part%u[DF_ITEM] = %s;", k, f.name);
        if (f.best) {
            dfg_line(g, g->block, "df_best%u[DF_ITEM] = %s;", k, f.best);
            dfg_line(g, g->block, "df_any%u[DF_ITEM] = %s;", k, f.any);
        }
    }
    dfg_phase_close(g, &phase);
}

/* Prints C that joins the partial result in slot df_a with the one in element df_b of the arrays part, best and any. */
static void print_join(struct dfg_gen *g, const struct dff_node *n, unsigned k, const char *part, const char *best, const char *any)
{
    const char *all = dfg_printf(g, "df_part%u[df_a]", k);
    if (!dfg_is_best(n)) {
        dfg_line(g, g->block, "%s = %s;", all, dfg_joined(g, n, all, (struct dfg_text){ dfg_printf(g, "%s%u[df_b]", part, k), DFG_ATOM }));
        return;
    }
    dfg_line(g, g->block, "const %s df_va = df_best%u[df_a], df_vb = %s%u[df_b];", dfg_type(n->args[0]->type), k, best, k);
    const char *real = dfg_is_float(n->args[0]->type) ? " || (df_va != df_va && df_vb == df_vb)" : "", *other = *real ? " || (df_vb != df_vb && df_va == df_va)" : "",
               compare = n->op == DFF_ARGMIN ? '<' : '>';
    dfg_line(g, g->block, "const int df_better = df_vb %c df_va%s, df_worse = df_va %c df_vb%s;", compare, real, compare, other);
    dfg_line(g, g->block, "if (%s%u[df_b] && (!df_any%u[df_a] || df_better || (!df_worse && %s%u[df_b] < df_part%u[df_a]))) {", any, k, k, part, k, k);
    dfg_line(g, g->block, "    %s = %s%u[df_b];", all, part, k);
    dfg_line(g, g->block, "    df_best%u[df_a] = df_vb;", k);
    dfg_line(g, g->block, "    df_any%u[df_a] = 1;", k);
    dfg_line(g, g->block, "}");
}

/* Prints the phase in which each item joins partial results of other work-groups. */
static void print_gather(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    struct dfg_block phase, loop;
    if (dfg_phase_open(g, &phase)) {
        dfg_line(g, g->block, "const int df_a = DF_ITEM;");
        dfg_line(g, g->block, "df_part%u[df_a] = %s;", k, dfg_start_of(n));
        if (dfg_is_best(n))
            dfg_line(g, g->block, "df_any%u[df_a] = 0;", k);
        if (dfg_is_best(n))
            dfg_line(g, g->block, "df_best%u[df_a] = 0;", k);
        if (dfg_open(g, &loop, -1, NULL))
            print_join(g, n, k, "df_value", "df_term", "df_has");
        dfg_close(g, &loop, "for (int64_t df_b = df_a; df_b < df_shares; df_b += DF_ITEMS)");
    }
    dfg_phase_close(g, &phase);
}

static void print_tree(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    struct dfg_block phase, inner, loop;
    if (dfg_open(g, &loop, -1, NULL)) {
        if (dfg_phase_open(g, &phase)) {
            if (dfg_open(g, &inner, -1, NULL)) {
                dfg_line(g, g->block, "const int df_b = df_a + df_apart;");
                print_join(g, n, k, "df_part", "df_best", "df_any");
            }
            dfg_close(g, &inner, "for (int df_a = DF_ITEM; df_a < df_apart; df_a += DF_ITEMS)");
        }
        dfg_phase_close(g, &phase);
    }
    dfg_close(g, &loop, "for (int df_apart = DF_ITEMS / 2; DF_ALL(df_apart); df_apart /= 2)");
}

static void print_unordered(struct dfg_gen *g, const struct dff_node *n, unsigned k)
{
    struct dfg_block block;
    if (dfg_open(g, &block, -1, NULL))
        print_fold(g, n, k);
    dfg_close(g, &block, "DF_WHEN(df_does & DF_PARTS)");
    if (dfg_open(g, &block, -1, NULL))
        print_gather(g, n, k);
    dfg_close(g, &block, "DF_WHEN(!(df_does & DF_PARTS))");
    print_tree(g, n, k);
    if (dfg_open(g, &block, -1, NULL)) {
        dfg_line(g, g->block, "df_value%u[df_share] = df_part%u[0];", k, k);
        if (dfg_is_best(n))
            dfg_line(g, g->block, "df_term%u[df_share] = df_best%u[0];", k, k);
        if (dfg_is_best(n))
            dfg_line(g, g->block, "df_has%u[df_share] = df_any%u[0] != 0;", k, k);
    }
    dfg_close(g, &block, "DF_PHASE if (df_does == DF_PARTS && DF_ITEM == 0)");
    dfg_line(g, g->block, "DF_BARRIER();");
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
            const char *extent = dfg_index(g, g->kernel->ports[g->formula->port].extents[d]).c;
            dfg_line(g, g->block, "const int64_t %s = df_remainder(df_rest, %s);", name, extent);
            dfg_line(g, g->block, "df_rest = df_quotient(df_rest, %s);", extent);
            print_reductions(g, (int)d, nodes, n);
            print_element(g, d + 1, nodes, n);
        }
        dfg_close(g, &block, "");
        return;
    }
    if (dfg_phase_open(g, &phase)) {
        if (dfg_open(g, &block, -1, NULL))
            dfg_store(g);
        dfg_close(g, &block, "if ((df_does & DF_RESULT) && DF_ITEM == 0)");
    }
    dfg_phase_close(g, &phase);
}

void dfg_known_print(struct dfg_gen *g, unsigned n)
{
    const struct dff_node *hoisted[DFF_MOST_GROUPED];
    dff_hoisted(g->kernel, g->formula, hoisted);
    for (unsigned k = 0; k < n; k++) {
        const char *type = dfg_type(hoisted[k]->type);
        dfg_line(g, g->block, "const %s df_known%u = *(const DF_IN_GLOBAL(%s) *)(df_scratch + %u);", type, k, type, DFF_VALUE_BYTES * k);
        g->block->temporaries[hoisted[k]->id] = dfg_printf(g, "df_known%u", k);
    }
}

/* Prints the kernel of reductions: of g->formula's elements; or of hoisted reduction number `known` alone, which becomes a value. */
static void print_kernel(FILE *out, struct dfg_gen *g, const char *name, const struct dff_node *const *nodes, unsigned n, unsigned known, bool hoists)
{
    struct dfg_block local, element, store;
    dfg_analyse(g);
    g->column = -1;
    g->mode = DFG_EDGE;
    g->copies = 1;
    g->block = NULL;
    if (dfg_open(g, &local, -1, NULL)) {
        for (unsigned k = 0; k < n; k++)
            print_local(g, nodes[k], k);
        dfg_line(g, g->block, "const int64_t df_turns = df_does & DF_RESULT ? 1 : df_shares;");
    }
    dfg_close(g, &local, NULL);
    g->block = NULL;                    /* what depends on no index is computed in the loop, behind the reductions that it is made of */
    if (dfg_open(g, &element, -1, NULL)) {
        element.depth++;
        dfg_line(g, g->block, "const int64_t df_element = df_quotient(df_group, df_turns), df_share = df_remainder(df_group, df_turns);");
        dfg_line(g, g->block, "int64_t df_rest = df_element;");
        dfg_line(g, g->block, "(void)df_rest;");
        dfg_known_print(g, known);
        for (unsigned k = 0; k < n; k++)
            print_results(g, nodes[k], k);
        print_reductions(g, -1, nodes, n);
        if (!hoists) {
            print_element(g, 0, nodes, n);
        } else if (dfg_phase_open(g, &store)) {
            dfg_line(g, g->block, "if ((df_does & DF_RESULT) && DF_ITEM == 0)");
            dfg_line(g, g->block, "    *(DF_IN_GLOBAL(%s) *)(df_scratch + %u) = df_part0[0];", dfg_type(nodes[0]->type), DFF_VALUE_BYTES * known);
            dfg_phase_close(g, &store);
        }
    }
    dfg_close(g, &element, NULL);
    fprintf(out, "DF_KERNEL(32, 8) DF_OF_MOST_ITEMS df_group_%c_%s(%s%s, DF_GLOBAL(uint8_t, df_scratch), const int df_does, const int64_t df_shares%s)\n"
                 "{\n%s%s    for (int64_t df_group = DF_GROUP_X; DF_ALL(df_group < df_elements * df_turns); df_group += DF_GROUPS_X) {\n%s    }\n}\n\n",
            DFG_NAME, name, dfg_parameters(g), dfg_gpu_ports(g), sizes_of(g, nodes, n, true), dfg_gpu_begin(g, true), g->failed ? "" : local.bytes,
            g->failed ? "" : element.bytes);
    free(local.bytes);
    free(element.bytes);
}

static const char *hoist_name(struct dfg_gen *g, unsigned number, unsigned k) { return dfg_printf(g, "%u_value%u", number, k); }

void dfg_grouped_print(FILE *out, struct dfg_gen *g, unsigned number)
{
    const struct dff_node *nodes[DFF_MOST_GROUPED];
    const unsigned known = dff_hoisted(g->kernel, g->formula, nodes);
    for (unsigned k = 0; k < known && !g->failed; k++)
        print_kernel(out, g, hoist_name(g, number, k), &nodes[k], 1, k, true);
    const unsigned n = dff_grouped(g->kernel, g->formula, nodes);
    if (n && !g->failed)
        print_kernel(out, g, dfg_printf(g, "%u", number), nodes, n, known, false);
}

static void print_group_launch(struct dfg_gen *g, const char *name, const char *groups, const char *does, const char *shares, const char *sizes)
{
    dfg_line(g, g->block, "DF_RUN(df_group_%c_%s, 32, 8, %s, 1, 1, %s%s, DF_PORT(uint8_t, df_scratch, 0), DF_VALUE(%s), DF_VALUE(%s)%s);", DFG_NAME, name, groups,
             dfg_arguments(g), dfg_gpu_arguments(g), does, shares, sizes);
}

static const char *most_of(struct dfg_gen *g, unsigned n, const char *member)
{
    const char *most = "0";
    for (unsigned k = 0; k < n; k++)
        most = dfg_printf(g, "df_strip_most(%s, df_units%u.%s)", most, k, member);
    return most;
}

static const char *most_terms(struct dfg_gen *g, const struct dff_node *const *nodes, unsigned n)
{
    const char *most = "0";
    for (unsigned k = 0; k < n; k++)
        most = dfg_printf(g, "df_strip_most(%s, %s)", most, dfg_extents_before(g, k, nodes[k]->n_ranges));
    return most;
}

/* Prints the launches of a kernel, where df_grouped is true. */
static void print_launches(struct dfg_gen *g, const char *name, const struct dff_node *const *nodes, unsigned n)
{
    struct dfg_block two, one;
    const char *sizes = sizes_of(g, nodes, n, false);
    dfg_line(g, g->block, "const int64_t df_shares = df_places < df_elements ? 1 : df_shares_of(df_elements, %s);", most_of(g, n, "chunks"));
    print_places(g, nodes, n);
    dfg_line(g, g->block, "uint8_t *const df_scratch = (uint8_t *)%s;", dfg_scratch(g, 0));
    if (dfg_open(g, &two, -1, NULL)) {
        print_group_launch(g, name, "df_elements * df_shares", "DF_PARTS", "df_shares", sizes);
        print_group_launch(g, name, "df_elements", "DF_RESULT", "df_shares", sizes);
    }
    dfg_close(g, &two, "if (df_grouped && df_shares > 1)");
    if (dfg_open(g, &one, -1, NULL))
        print_group_launch(g, name, "df_places", "DF_PARTS | DF_RESULT", "DF_LONG(1)", sizes);
    dfg_close(g, &one, "else if (df_grouped)");
}

void dfg_grouped_launch(struct dfg_gen *g, unsigned number)
{
    const struct dff_node *nodes[DFF_MOST_GROUPED];
    const unsigned n = dff_grouped(g->kernel, g->formula, nodes);
    print_units(g, nodes, n, n_elements(g));
    dfg_line(g, g->block, "const bool df_grouped = df_places > 0 && df_is_grouped(%s, %s, df_elements);", most_terms(g, nodes, n), most_of(g, n, "units"));
    print_launches(g, dfg_printf(g, "%u", number), nodes, n);
    dfg_line(g, g->block, "else");
}

void dfg_hoisted_check(struct dfg_gen *g)
{
    const struct dff_node *nodes[DFF_MOST_GROUPED];
    const unsigned n = dff_hoisted(g->kernel, g->formula, nodes);
    struct dfg_block block;
    dfg_line(g, g->block, "bool df_hoists = true, df_pays = false;");
    for (unsigned k = 0; k < n; k++) {
        if (dfg_open(g, &block, -1, NULL)) {
            print_units(g, &nodes[k], 1, "1");
            dfg_line(g, g->block, "df_hoists &= df_places > 0 && df_units0.units <= 2147483647;");
            dfg_line(g, g->block, "df_pays |= %s > DF_FEW_TERMS;", most_terms(g, &nodes[k], 1));
        }
        dfg_close(g, &block, "");
    }
}

void dfg_hoisted_launch(struct dfg_gen *g, unsigned number)
{
    const struct dff_node *nodes[DFF_MOST_GROUPED];
    const unsigned n = dff_hoisted(g->kernel, g->formula, nodes);
    struct dfg_block block;
    for (unsigned k = 0; k < n; k++) {
        if (dfg_open(g, &block, -1, NULL)) {
            print_units(g, &nodes[k], 1, "1");
            dfg_line(g, g->block, "const bool df_grouped = true;");
            print_launches(g, hoist_name(g, number, k), &nodes[k], 1);
        }
        dfg_close(g, &block, "");
    }
}
