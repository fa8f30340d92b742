/* pass_group.c - prints for generate_gpu.c the GPU code of formulas that one pass over the terms computes (compiler/count/one_pass.h): histograms and running
 * sums.
 *
 * Lines:      the elements along the pass's index are a line, one for each value of the other indices.
 * Histograms: work-groups share the terms of a line. Each counts in local memory, in several copies that its items take by turns, and adds
 *             the counts to the line by atomic operations. A line that is too long for local memory is counted in place.
 * Scans:      of integers. Work-groups share a line in segments. A first launch leaves the sums of the segments in scratch. In a second one each
 *             begins with the sum of the segments before its own, and scans tiles of it in local memory.
 * Runs:       of real numbers, whose order is that of the terms: a thread makes a line.
 */
#include "compiler/generate/reduce.h"

#include <inttypes.h>
#include <stdlib.h>

#define LOCAL_BYTES 16384               /* of a histogram's counts: four work-groups are as many items as half a multiprocessor holds */
#define FEW_TERMS 255                   /* DF_FEW_TERMS of df_formula_gpu.h, where no test asks for less */

struct pass {
    const struct dff_one_pass *of;
    enum dff_pass kind;
};

static bool has_fixed_ends(const struct dff_node *n)
{
    bool fixed = true;
    for (uint32_t r = 0; r < n->n_ranges; r++)
        fixed = fixed && !n->ranges[r].from->slots && !n->ranges[r].to->slots;
    return fixed;
}

/* Are there surely few terms? */
static bool has_few_terms(const struct dff_node *n)
{
    int64_t terms = 1;
    for (uint32_t r = 0; r < n->n_ranges && terms <= FEW_TERMS; r++) {
        if (n->ranges[r].from->kind != DFF_CONST || n->ranges[r].to->kind != DFF_CONST)
            return false;
        terms *= dfg_range_has_values(&n->ranges[r]) ? n->ranges[r].to->i - n->ranges[r].from->i : 0;
    }
    return terms <= FEW_TERMS;
}

/* In a group without tiles each stage has rows of its own, which a thread for each element goes over. */
enum dff_pass dfg_pass_find(const struct dfg_gen *g, struct dff_one_pass *pass)
{
    const enum dff_pass kind = dff_one_pass(g->kernel, g->formula, pass);
    const bool pays = kind != DFF_PASS_JOINED || (has_fixed_ends(pass->reduce) && !has_few_terms(pass->reduce) && !g->kernel->strips);
    return pays ? kind : DFF_PASS_NONE;
}

/* ---- lines ---- */

static const char *first_of(const struct dfg_gen *g, unsigned d) { return d == 0 && dfg_has_parts(g) ? "df_from" : "0"; }

static const char *end_of(struct dfg_gen *g, unsigned d)
{
    return d == 0 && dfg_has_parts(g) ? "df_to" : dfg_index(g, g->kernel->ports[g->formula->port].extents[d]).c;
}

static const char *extent_of(struct dfg_gen *g, unsigned d)
{
    return d == 0 && dfg_has_parts(g) ? "(df_to - df_from)" : dfg_within(g, dfg_index(g, g->kernel->ports[g->formula->port].extents[d]), DFG_UNARY);
}

static bool is_other(const struct dfg_gen *g, const struct dff_one_pass *pass, unsigned d) { return g->formula->is_index[d] && d != pass->slot; }

static const char *n_lines(struct dfg_gen *g, const struct dff_one_pass *pass)
{
    const char *text = "1";
    for (unsigned d = 0; d < g->formula->rank; d++)
        if (is_other(g, pass, d))
            text = dfg_printf(g, "%s * %s", text, extent_of(g, d));
    return text;
}

/* Prints the blocks of the indices of line df_line, the last index first, so that lines side by side have elements side by side; and inside of them what
 * `body` prints. */
static void print_line(struct dfg_gen *g, const struct pass *p, unsigned d, void (*body)(struct dfg_gen *g, const struct pass *p))
{
    struct dfg_block block;
    while (d > 0 && !is_other(g, p->of, d - 1))
        d--;
    if (d == 0) {
        body(g, p);
        return;
    }
    const char *name = g->formula->names[d - 1], *extent = extent_of(g, d - 1);
    if (dfg_open(g, &block, (int)d - 1, name)) {
        dfg_line(g, g->block, "const int64_t %s = %s + df_remainder(df_rest, %s);", name, first_of(g, d - 1), extent);
        dfg_line(g, g->block, "df_rest = df_quotient(df_rest, %s);", extent);
        print_line(g, p, d - 1, body);
    }
    dfg_close(g, &block, "");
}

static void print_indices(struct dfg_gen *g, const struct pass *p, void (*body)(struct dfg_gen *g, const struct pass *p))
{
    dfg_line(g, g->block, "int64_t df_rest = df_line;");
    dfg_line(g, g->block, "(void)df_rest;");
    print_line(g, p, g->formula->rank, body);
}

/* The same of what needs no indices. */
static void print_none(struct dfg_gen *g, const struct pass *p, void (*body)(struct dfg_gen *g, const struct pass *p)) { body(g, p); }

static void print_phase(struct dfg_gen *g, const struct pass *p, void (*body)(struct dfg_gen *g, const struct pass *p))
{
    struct dfg_block phase;
    if (dfg_phase_open(g, &phase))
        body(g, p);
    dfg_phase_close(g, &phase);
}

static const char *joined(struct dfg_gen *g, const struct pass *p, const char *all, const char *value)
{
    return dfg_joined(g, p->of->reduce, all, (struct dfg_text){ value, DFG_ATOM });
}

/* ---- histograms ---- */

static const char *count_type(const struct dff_node *n) { return n->op == DFF_COUNT ? "int32_t" : dfg_type(n->type); }

/* "df_atomic_add_i32", or for local memory "df_local_add_i32" */
static const char *atomic(struct dfg_gen *g, const struct pass *p, const char *memory, enum dff_type type)
{
    const enum dff_op op = p->of->reduce->op;
    return dfg_printf(g, "df_%s_%s_%s", memory, op == DFF_LEAST ? "min" : op == DFF_GREATEST ? "max" : "add", dfg_type_name(type));
}

static enum dff_type line_type(const struct pass *p) { return p->of->widens ? DFF_I64 : p->of->reduce->type; }

static void add_term(struct dfg_gen *g, const void *arg)
{
    const struct pass *p = arg;
    const struct dff_node *n = p->of->reduce;
    struct dfg_block taken, local;
    const char *rest = dfg_pass_rest(g, n->args[1], p->of), *at = dfg_new_name(g), *value = n->op == DFF_COUNT ? "1" : dfg_value(g, n->args[0]).c;
    dfg_line(g, g->block, "const int64_t %s = %s;", at, dfg_value(g, p->of->place).c);
    if (dfg_open(g, &taken, -1, NULL)) {
        dfg_line(g, g->block, "if (df_copies)");
        dfg_line(g, g->block, "    %s(&df_counts[(%s - df_low) * df_copies + df_copy], %s);", atomic(g, p, "local", n->op == DFF_COUNT ? DFF_I32 : n->type), at, value);
        if (dfg_open(g, &local, -1, NULL))
            dfg_line(g, g->block, "%s(&%s, %s);", atomic(g, p, "atomic", line_type(p)), dfg_pass_element(g, p->of, (struct dfg_text){ at, DFG_ATOM }), value);
        dfg_close(g, &local, "else");
    }
    dfg_close(g, &taken, dfg_printf(g, "if (%s%s >= df_low && %s < df_high)", rest, at, at));
}

static void print_start(struct dfg_gen *g, const struct pass *p)
{
    dfg_line(g, g->block, "for (int64_t df_b = df_low + df_share * DF_ITEMS + DF_ITEM; df_b < df_high; df_b += df_shares * DF_ITEMS)");
    dfg_line(g, g->block, "    %s = %s;", dfg_pass_element(g, p->of, (struct dfg_text){ "df_b", DFG_ATOM }), dfg_start_of(p->of->reduce));
}

static void print_clear(struct dfg_gen *g, const struct pass *p)
{
    dfg_line(g, g->block, "for (int df_b = DF_ITEM; df_b < (df_high - df_low) * df_copies; df_b += DF_ITEMS)");
    dfg_line(g, g->block, "    df_counts[df_b] = %s;", dfg_start_of(p->of->reduce));
}

static void print_terms(struct dfg_gen *g, const struct pass *p)
{
    const struct dff_node *n = p->of->reduce;
    struct dfg_block units;
    dfg_line(g, g->block, "const int df_wide = df_width_of(df_extent0_%u, DF_ITEMS), df_lane = DF_ITEM %% df_wide, df_copy = DF_ITEM %% (df_copies + !df_copies);", n->n_ranges - 1);
    if (dfg_open(g, &units, -1, NULL)) {
        dfg_unit_print(g, n, 0);
        dfg_lane_print(g, n, 0, "DF_WIDE_BLOCK", "df_wide", add_term, p);
    }
    dfg_close(g, &units, "for (int64_t df_unit = df_share * (DF_ITEMS / df_wide) + DF_ITEM / df_wide; df_unit < df_units0.units; df_unit += df_shares * (DF_ITEMS / df_wide))");
}

static void print_counts(struct dfg_gen *g, const struct pass *p)
{
    struct dfg_block loop;
    const char *start = dfg_start_of(p->of->reduce);
    if (dfg_open(g, &loop, -1, NULL)) {
        dfg_line(g, g->block, "%s df_all = %s;", count_type(p->of->reduce), start);
        dfg_line(g, g->block, "for (int df_c = 0; df_c < df_copies; df_c++)");
        dfg_line(g, g->block, "    df_all = %s;", joined(g, p, "df_all", "df_counts[(df_b - df_low) * df_copies + df_c]"));
        dfg_line(g, g->block, "if (df_all != %s)", start);
        dfg_line(g, g->block, "    %s(&%s, df_all);", atomic(g, p, "atomic", line_type(p)), dfg_pass_element(g, p->of, (struct dfg_text){ "df_b", DFG_ATOM }));
    }
    dfg_close(g, &loop, "for (int64_t df_b = df_low + DF_ITEM; df_copies && df_b < df_high; df_b += DF_ITEMS)");
}

static void print_histogram(struct dfg_gen *g, const struct pass *p)
{
    struct dfg_block does;
    const char *most = dfg_printf(g, "%u", LOCAL_BYTES / (p->of->reduce->type == DFF_I64 ? 8 : 4));
    dfg_line(g, g->block, "const int64_t df_low = %s, df_high = %s;", first_of(g, p->of->slot), end_of(g, p->of->slot));
    if (!p->of->changes) {
        if (dfg_open(g, &does, -1, NULL))
            print_phase(g, p, print_start);
        dfg_close(g, &does, "DF_WHEN(df_does == DF_START)");
    }
    if (dfg_open(g, &does, -1, NULL)) {
        dfg_line(g, g->block, "const int df_copies = df_high - df_low <= %s ? (int)df_strip_least(%s / (df_high - df_low), 32) : 0;", most, most);
        print_phase(g, p, print_clear);
        print_phase(g, p, print_terms);
        print_phase(g, p, print_counts);
    }
    dfg_close(g, &does, "DF_WHEN(df_does == DF_PARTS)");
}

/* ---- scans ---- */

#define TERMS_OF_ITEM 4                 /* elements side by side that an item adds up */

/* Is the pass's index the last one? Then an item's neighbours are on its line; else they are on the lines beside it. */
static bool is_along_row(const struct dfg_gen *g, const struct dff_one_pass *pass)
{
    for (unsigned d = pass->slot + 1; d < g->formula->rank; d++)
        if (g->formula->is_index[d])
            return false;
    return true;
}

static int64_t first_with_term(const struct dff_one_pass *pass) { return pass->from - pass->more + 1; }

/* Prints C that joins df_all with the term that element df_b has more than the one before it. */
static void print_more(struct dfg_gen *g, const struct pass *p)
{
    const struct dff_node *n = p->of->reduce;
    struct dfg_block taken;
    if (dfg_open(g, &taken, (int)n->ranges[0].slot, "df_b")) {
        taken.shift = p->of->more - 1;
        const char *value = n->op == DFF_COUNT ? "1" : dfg_within(g, dfg_value(g, n->args[0]), DFG_ATOM);
        if (dfg_is_float(n->type))
            value = dfg_printf(g, "df_b == %" PRId64 " ? %s : %s", first_with_term(p->of), value, joined(g, p, "df_all", value));
        else
            value = joined(g, p, "df_all", value);
        dfg_line(g, g->block, "df_all = %s;", value);
    }
    dfg_close(g, &taken, first_with_term(p->of) > 0 ? dfg_printf(g, "if (df_b >= %" PRId64 ")", first_with_term(p->of)) : "");
}

static const char *slot_of(struct dfg_gen *g, const struct pass *p, const char *apart)
{
    return is_along_row(g, p->of) ? apart : dfg_printf(g, "%s * DF_ITEMS_X", apart);
}

static void store_element(struct dfg_gen *g, const struct pass *p)
{
    dfg_line(g, g->block, "%s = df_all;", dfg_pass_element(g, p->of, (struct dfg_text){ "df_b", DFG_ATOM }));
}

/* Prints a loop of df_b, in which df_all is joined with terms, and stored. */
static void print_along(struct dfg_gen *g, const struct pass *p, const char *head, bool stores)
{
    struct dfg_block loop;
    if (dfg_open(g, &loop, -1, NULL)) {
        print_more(g, p);
        if (stores)
            store_element(g, p);
    }
    dfg_close(g, &loop, head);
}

static void add_segment(struct dfg_gen *g, const struct pass *p)
{
    print_along(g, p, "for (int64_t df_b = df_begin + df_at; df_b < df_end; df_b += df_step)", false);
}

static void add_tile(struct dfg_gen *g, const struct pass *p)
{
    print_along(g, p, "for (int64_t df_b = df_first; df_b < df_last; df_b++)", false);
}

static void store_tile(struct dfg_gen *g, const struct pass *p)
{
    print_along(g, p, "for (int64_t df_b = df_first; df_b < df_last; df_b++)", true);
}

static void add_before(struct dfg_gen *g, const struct pass *p)
{
    dfg_line(g, g->block, "for (int64_t df_s = df_at; df_s < df_share; df_s += df_step)");
    dfg_line(g, g->block, "    df_all = %s;", joined(g, p, "df_all", "df_parts[df_line * df_shares + df_s]"));
}

/* Prints the start of a phase: which line and which place along it an item has, and what df_all begins with. */
static void print_item(struct dfg_gen *g, const struct pass *p)
{
    const bool along = is_along_row(g, p->of);
    dfg_line(g, g->block, "const int df_at = %s, df_step = %s;", along ? "DF_ITEM" : "DF_ITEM_Y", along ? "DF_ITEMS" : "DF_ITEMS_Y");
    dfg_line(g, g->block, "const int64_t df_line = %s;", along ? "df_row" : "df_row * DF_ITEMS_X + DF_ITEM_X");
    dfg_line(g, g->block, "%s df_all = %s;", dfg_type(p->of->reduce->type), dfg_start_of(p->of->reduce));
    dfg_line(g, g->block, "(void)df_at; (void)df_step;");
}

/* Prints a phase whose items each add up something of a line that there is, and the join of the line's items. */
static void print_sum(struct dfg_gen *g, const struct pass *p, bool has_terms, void (*body)(struct dfg_gen *g, const struct pass *p))
{
    struct dfg_block phase, line, loop;
    const char *items = is_along_row(g, p->of) ? "DF_ITEMS" : "DF_ITEMS_Y", *at = is_along_row(g, p->of) ? "DF_ITEM" : "DF_ITEM_Y";
    if (dfg_phase_open(g, &phase)) {
        print_item(g, p);
        if (dfg_open(g, &line, -1, NULL))
            (has_terms ? print_indices : print_none)(g, p, body);
        dfg_close(g, &line, "if (df_line < df_lines)");
        dfg_line(g, g->block, "df_sums[DF_ITEM] = df_all;");
    }
    dfg_phase_close(g, &phase);
    if (dfg_open(g, &loop, -1, NULL)) {
        dfg_line(g, g->block, "DF_PHASE");
        dfg_line(g, g->block, "    if (%s < df_apart)", at);
        dfg_line(g, g->block, "        df_sums[DF_ITEM] = %s;", joined(g, p, "df_sums[DF_ITEM]", dfg_printf(g, "df_sums[DF_ITEM + %s]", slot_of(g, p, "df_apart"))));
        dfg_line(g, g->block, "DF_BARRIER();");
    }
    dfg_close(g, &loop, dfg_printf(g, "for (int df_apart = %s / 2; DF_ALL(df_apart); df_apart /= 2)", items));
}

/* Prints the scan of a tile: each item has TERMS_OF_ITEM elements side by side. */
static void print_tile(struct dfg_gen *g, const struct pass *p)
{
    struct dfg_block phase, line, loop;
    const bool along = is_along_row(g, p->of);
    const char *at = along ? "DF_ITEM" : "DF_ITEM_Y", *items = along ? "DF_ITEMS" : "DF_ITEMS_Y", *carry = along ? "df_carry[0]" : "df_carry[DF_ITEM_X]";
    const char *before = dfg_printf(g, "df_sums[df_side * DF_MOST_ITEMS + DF_ITEM - %s]", slot_of(g, p, "1"));
    for (int stores = 0; stores < 2 && !g->failed; stores++) {
        if (dfg_phase_open(g, &phase)) {
            print_item(g, p);
            dfg_line(g, g->block, "const int64_t df_first = df_tile + df_at * %d, df_last = df_strip_least(df_end, df_first + %d);", TERMS_OF_ITEM, TERMS_OF_ITEM);
            if (stores)
                dfg_line(g, g->block, "df_all = df_at ? %s : %s;", joined(g, p, carry, before), carry);
            if (dfg_open(g, &line, -1, NULL))
                print_indices(g, p, stores ? store_tile : add_tile);
            dfg_close(g, &line, "if (df_line < df_lines)");
            if (!stores)
                dfg_line(g, g->block, "df_sums[DF_ITEM] = df_all;");
        }
        dfg_phase_close(g, &phase);
        if (stores)
            break;
        dfg_line(g, g->block, "int df_side = 0;");
        if (dfg_open(g, &loop, -1, NULL)) {
            const char *own = "df_sums[df_side * DF_MOST_ITEMS + DF_ITEM]",
                       *other = dfg_printf(g, "df_sums[df_side * DF_MOST_ITEMS + DF_ITEM - %s]", slot_of(g, p, "df_apart"));
            dfg_line(g, g->block, "DF_PHASE");
            dfg_line(g, g->block, "    df_sums[!df_side * DF_MOST_ITEMS + DF_ITEM] = %s >= df_apart ? %s : %s;", at, joined(g, p, own, other), own);
            dfg_line(g, g->block, "DF_BARRIER();");
        }
        dfg_close(g, &loop, dfg_printf(g, "for (int df_apart = 1; DF_ALL(df_apart < %s); df_apart *= 2, df_side = !df_side)", items));
    }
    dfg_line(g, g->block, "DF_PHASE");
    dfg_line(g, g->block, "    if (%s == %s - 1)", at, items);
    dfg_line(g, g->block, "        %s = %s;", carry, joined(g, p, carry, "df_sums[df_side * DF_MOST_ITEMS + DF_ITEM]"));
    dfg_line(g, g->block, "DF_BARRIER();");
}

static void print_scan(struct dfg_gen *g, const struct pass *p)
{
    struct dfg_block does, tile;
    const bool along = is_along_row(g, p->of);
    const char *type = dfg_type(p->of->reduce->type), *at = along ? "DF_ITEM" : "DF_ITEM_Y";
    dfg_line(g, g->block, "DF_IN_GLOBAL(%s) *const df_parts = (DF_IN_GLOBAL(%s) *)df_scratch;", type, type);
    dfg_line(g, g->block, "const int64_t df_begin = df_share * df_segment, df_end = df_strip_least(%s, df_begin + df_segment);", end_of(g, p->of->slot));
    if (dfg_open(g, &does, -1, NULL)) {
        print_sum(g, p, true, add_segment);
        dfg_line(g, g->block, "DF_PHASE");
        dfg_line(g, g->block, "    if (%s == 0 && %s < df_lines)", at, along ? "df_row" : "df_row * DF_ITEMS_X + DF_ITEM_X");
        dfg_line(g, g->block, "        df_parts[(%s) * df_shares + df_share] = df_sums[DF_ITEM];", along ? "df_row" : "df_row * DF_ITEMS_X + DF_ITEM_X");
        dfg_line(g, g->block, "DF_BARRIER();");
    }
    dfg_close(g, &does, "DF_WHEN(df_does & DF_PARTS)");
    if (dfg_open(g, &does, -1, NULL)) {
        print_sum(g, p, false, add_before);
        dfg_line(g, g->block, "DF_PHASE");
        dfg_line(g, g->block, "    if (%s == 0)", at);
        dfg_line(g, g->block, "        df_carry[%s] = df_sums[DF_ITEM];", along ? "0" : "DF_ITEM_X");
        dfg_line(g, g->block, "DF_BARRIER();");
        if (dfg_open(g, &tile, -1, NULL))
            print_tile(g, p);
        dfg_close(g, &tile, dfg_printf(g, "for (int64_t df_tile = df_begin; DF_ALL(df_tile < df_end); df_tile += %s * %d)", along ? "DF_ITEMS" : "DF_ITEMS_Y", TERMS_OF_ITEM));
    }
    dfg_close(g, &does, "DF_WHEN(df_does & DF_RESULT)");
}

/* ---- runs ---- */

static void print_run(struct dfg_gen *g, const struct pass *p)
{
    const struct dff_node *n = p->of->reduce;
    dfg_line(g, g->block, "%s df_all = %s;", dfg_type(n->type), n->op == DFF_SUM ? "0" : dfg_start_of(n));
    print_along(g, p, dfg_printf(g, "for (int64_t df_b = 0; df_b < %s; df_b++)", end_of(g, p->of->slot)), true);
}

/* ---- kernels ---- */

static bool is_scan(const struct pass *p) { return p->kind == DFF_PASS_RUNNING && !dfg_is_float(p->of->reduce->type); }
static bool is_run(const struct pass *p) { return p->kind == DFF_PASS_RUNNING && dfg_is_float(p->of->reduce->type); }

/* Parameters behind those of the ports, or arguments. */
static const char *sizes_of(struct dfg_gen *g, const struct pass *p, bool types)
{
    const char *number = types ? ", const int64_t " : ", DF_VALUE(", *end = types ? "" : ")", *text = dfg_printf(g, "%sdf_lines%s", number, end);
    if (dfg_has_parts(g))
        text = dfg_printf(g, "%s%sdf_from%s%sdf_to%s", text, number, end, number, end);
    if (is_scan(p))
        return dfg_printf(g, "%s%sdf_segment%s, %s", text, number, end, types ? "DF_GLOBAL(uint8_t, df_scratch)" : "DF_PORT(uint8_t, df_scratch, 0)");
    if (p->kind == DFF_PASS_RUNNING)
        return text;
    text = dfg_printf(g, "%s%sdf_units0%s", text, types ? ", const struct df_units " : number, end);
    for (uint32_t r = 0; r < p->of->reduce->n_ranges; r++)
        text = dfg_printf(g, "%s%sdf_extent0_%u%s", text, number, r, end);
    return text;
}

static void print_local(struct dfg_gen *g, const struct pass *p)
{
    const struct dff_node *n = p->of->reduce;
    if (p->kind == DFF_PASS_JOINED) {
        dfg_line(g, g->block, "DF_LOCAL(%s, df_counts, %u);", count_type(n), LOCAL_BYTES / (n->type == DFF_I64 ? 8 : 4));
        return;
    }
    dfg_line(g, g->block, "DF_LOCAL(%s, df_sums, 2 * DF_MOST_ITEMS);", dfg_type(n->type));
    dfg_line(g, g->block, "DF_LOCAL(%s, df_carry, %s);", dfg_type(n->type), is_along_row(g, p->of) ? "1" : "DF_ITEMS_OF_LAUNCH_X");
}

void dfg_pass_print(FILE *out, struct dfg_gen *g, unsigned number, const struct dff_one_pass *pass, enum dff_pass kind)
{
    const struct pass p = { pass, kind };
    struct dfg_block block, loop;
    dfg_analyse(g);
    g->column = -1;
    g->mode = DFG_EDGE;
    g->copies = 1;
    g->block = NULL;
    if (dfg_open(g, &block, -1, NULL)) {
        if (!is_run(&p))
            print_local(g, &p);
        if (dfg_open(g, &loop, -1, NULL)) {
            if (!is_run(&p))
                dfg_line(g, g->block, "const int64_t %s = df_quotient(df_group, df_shares), df_share = df_remainder(df_group, df_shares);", is_scan(&p) ? "df_row" : "df_line");
            if (is_scan(&p))
                print_scan(g, &p);
            else
                print_indices(g, &p, is_run(&p) ? print_run : print_histogram);
        }
        dfg_close(g, &loop, is_run(&p) ? "for (int64_t df_line = DF_FIRST_X; df_line < df_lines; df_line = DF_NEXT_X(df_line, df_lines))"
                                       : dfg_printf(g, "for (int64_t df_group = DF_GROUP_X; DF_ALL(df_group < %s * df_shares); df_group += DF_GROUPS_X)",
                                                    is_scan(&p) && !is_along_row(g, pass) ? "df_up(df_lines, DF_ITEMS_X)" : "df_lines"));
    }
    dfg_close(g, &block, NULL);
    fprintf(out, "%s df_pass_%c_%u(%s%s%s%s)\n{\n%s%s}\n\n", is_run(&p) ? "DF_KERNEL(256, 1)" : "DF_KERNEL(32, 8) DF_OF_MOST_ITEMS", DFG_NAME, number, dfg_parameters(g), dfg_gpu_ports(g),
            sizes_of(g, &p, true), is_run(&p) ? "" : ", const int df_does, const int64_t df_shares", dfg_gpu_begin(g, is_scan(&p)), g->failed ? "" : block.bytes);
    free(block.bytes);
}

static void print_launch(struct dfg_gen *g, unsigned number, const struct pass *p, const char *groups, const char *does, const char *shares)
{
    dfg_line(g, g->block, "DF_RUN(df_pass_%c_%u, 32, 8, %s * %s, 1, 1, %s%s%s, DF_VALUE(%s), DF_VALUE(%s));", DFG_NAME, number, groups, shares, dfg_arguments(g),
             dfg_gpu_arguments(g), sizes_of(g, p, false), does, shares);
}

static void launch_histogram(struct dfg_gen *g, unsigned number, const struct pass *p)
{
    const struct dff_node *n = p->of->reduce;
    struct dfg_block pays;
    const char *terms = dfg_extents_before(g, 0, n->n_ranges), *bins = extent_of(g, p->of->slot);
    dfg_extents_print(g, n, 0);
    dfg_line(g, g->block, "const struct df_units df_units0 = df_wide_units(df_extent0_%u, %s);", n->n_ranges - 1, dfg_extents_before(g, 0, n->n_ranges - 1));
    dfg_line(g, g->block, "const int64_t df_shares = df_shares_of(df_lines, df_units0.chunks), df_starts = df_up(%s, DF_MOST_ITEMS);", bins);
    dfg_line(g, g->block, "const bool df_passes = df_lines > 0 && df_lines <= 2147483647 && df_starts > 0 && df_units0.units <= 2147483647 && %s > DF_FEW_TERMS%s;", terms,
             p->of->widens ? dfg_printf(g, " && %s <= 2147483647", terms) : "");
    if (dfg_open(g, &pays, -1, NULL)) {
        if (!p->of->changes)
            print_launch(g, number, p, "df_lines", "DF_START", "df_starts");
        print_launch(g, number, p, "df_lines", "DF_PARTS", "df_shares");
    }
    dfg_close(g, &pays, "if (df_passes)");
    dfg_line(g, g->block, "else");
}

static void launch_scan(struct dfg_gen *g, unsigned number, const struct pass *p)
{
    const bool along = is_along_row(g, p->of);
    const char *rows = along ? "df_lines" : "df_rows";
    struct dfg_block pays, two;
    if (!along)
        dfg_line(g, g->block, "const int64_t df_rows = df_up(df_lines, DF_ITEMS_OF_LAUNCH_X);");
    dfg_line(g, g->block, "const int64_t df_tile = %s * %d, df_tiles = df_up(%s, df_tile);", along ? "DF_ITEMS_OF_LAUNCH" : "(DF_ITEMS_OF_LAUNCH / DF_ITEMS_OF_LAUNCH_X)",
             TERMS_OF_ITEM, end_of(g, p->of->slot));
    dfg_line(g, g->block, "const int64_t df_shares = df_shares_of(%s, df_tiles), df_segment = df_up(df_tiles, df_shares) * df_tile;", rows);
    dfg_line(g, g->block, "uint8_t *const df_scratch = (uint8_t *)%s;", dfg_scratch(g, 0));
    if (dfg_open(g, &pays, -1, NULL)) {
        if (dfg_open(g, &two, -1, NULL))
            print_launch(g, number, p, rows, "DF_PARTS", "df_shares");
        dfg_close(g, &two, "if (df_shares > 1)");
        print_launch(g, number, p, rows, "DF_RESULT", "df_shares");
    }
    dfg_close(g, &pays, "if (df_lines <= 2147483647)");
    dfg_line(g, g->block, "else");
}

static void launch_run(struct dfg_gen *g, unsigned number, const struct pass *p)
{
    dfg_line(g, g->block, "if (df_lines <= 2147483647)");
    dfg_line(g, g->block, "    DF_RUN(df_pass_%c_%u, 256, 1, df_up(df_lines, 256), 1, 1, %s%s%s);", DFG_NAME, number, dfg_arguments(g), dfg_gpu_arguments(g), sizes_of(g, p, false));
    dfg_line(g, g->block, "else");
}

void dfg_pass_launch(struct dfg_gen *g, unsigned number, const struct dff_one_pass *pass, enum dff_pass kind)
{
    const struct pass p = { pass, kind };
    dfg_line(g, g->block, "const int64_t df_lines = %s;", n_lines(g, pass));
    (kind == DFF_PASS_JOINED ? launch_histogram : is_scan(&p) ? launch_scan : launch_run)(g, number, &p);
}
