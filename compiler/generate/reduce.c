/* reduce.c - prints the C of reductions for expr.c: loops that accumulate terms in the order that the language
 * guarantees. The files for sums around the columns, single passes and work-groups use its loops and terms.
 *
 * Identity: a loop starts from the operation's identity element and not from the first term: -0 for a sum of floats,
 *           dfg_start_of() lists the others. Combining it with a term leaves every bit of the term unchanged.
 */
#include "compiler/generate/reduce.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_UNROLLED 4                 /* terms of a loop that an item of a GPU computes at a time */

/* ---- the operations ---- */

static const char *least_of(enum dff_type type)
{
    return type == DFF_I32 ? "(-2147483647 - 1)" : type == DFF_I64 ? "DF_LEAST_I64" : "-__builtin_inf()";
}

static const char *greatest_of(enum dff_type type)
{
    return type == DFF_I32 ? "2147483647" : type == DFF_I64 ? "DF_MOST_I64" : "__builtin_inf()";
}

const char *dfg_start_of(const struct dff_node *n)
{
    switch (n->op) {
    case DFF_SUM: return n->type == DFF_F32 ? "-0.0f" : n->type == DFF_F64 ? "-0.0" : "0";
    case DFF_PROD: case DFF_ALL: return "1";
    case DFF_LEAST: return greatest_of(n->type);
    case DFF_GREATEST: return least_of(n->type);
    case DFF_ARGMIN: case DFF_ARGMAX: return "-1";
    default: return "0";
    }
}

/* Joins what there is with one more value. */
const char *dfg_joined(struct dfg_gen *g, const struct dff_node *n, const char *all, struct dfg_text value)
{
    const char *type = dfg_type_name(n->type);
    switch (n->op) {
    case DFF_SUM: case DFF_PROD:
        if (dfg_is_float(n->type))
            return dfg_printf(g, "%s %c %s", all, n->op == DFF_SUM ? '+' : '*', dfg_within(g, value, DFG_UNARY));
        return dfg_printf(g, "df_%s_%s(%s, %s)", n->op == DFF_SUM ? "add" : "mul", type, all, value.c);
    case DFF_LEAST: case DFF_GREATEST:
        type = dfg_order_type(g, n->type, n->args, 1);
        return dfg_printf(g, "df_%s_%s(%s, %s)", n->op == DFF_LEAST ? "min" : "max", type, all, value.c);
    case DFF_ANY: return dfg_printf(g, "%s | %s", all, dfg_within(g, value, DFG_ATOM));
    case DFF_ALL: return dfg_printf(g, "%s & %s", all, dfg_within(g, value, DFG_ATOM));
    default: return dfg_printf(g, "%s + %s", all, dfg_within(g, value, DFG_UNARY)); /* COUNT */
    }
}

/* ---- loops ---- */

static bool is_taken(const struct dfg_gen *g, const char *name)
{
    for (const struct dfg_block *b = g->block; b; b = b->outer)
        if (b->name && strcmp(b->name, name) == 0)
            return true;
    const struct dfc_sig *sig = &g->kernel->callee->sig;
    for (unsigned i = 0; i < sig->n_ports; i++)
        if (strcmp(dfg_port_name(g, i), name) == 0)
            return true;
    for (unsigned i = 0; i < sig->n_variables; i++)
        if (strcmp(dfg_dim_name(g, i), name) == 0)
            return true;
    for (unsigned i = 0; i < sig->n_scalars; i++)
        if (strcmp(dfg_scalar_name(g, i), name) == 0)
            return true;
    return false;
}

void dfg_set_ends(struct dfg_block *block, const struct dff_range *range, int64_t shift)
{
    const bool is_fixed = dfg_range_is_fixed(range);
    block->is_bounded = true;
    block->range = is_fixed ? NULL : range;
    block->shift = shift;
    block->low = (is_fixed ? range->from->i : 0) - shift;
    block->high = (is_fixed ? range->to->i : 0) - 1 - shift;
}

struct dfg_loop dfg_loop_open(struct dfg_gen *g, const struct dff_range *range, struct dfg_block *block)
{
    struct dfg_loop loop = { dfg_index(g, range->from).c, dfg_index(g, range->to).c, range->name, 0 };
    while (is_taken(g, loop.name)) /* two equal reductions are one node, and have the names of the first */
        loop.name = dfg_printf(g, "%s_", loop.name);
    dfg_open(g, block, (int)range->slot, loop.name);
    dfg_set_ends(block, range, 0);
    block->is_long = block->range || range->to->i - range->from->i > DFG_MOST_COPIES;
    return loop;
}

void dfg_loop_close(struct dfg_gen *g, struct dfg_block *block, const struct dfg_loop *loop)
{
    dfg_close(g, block, dfg_printf(g, "%sfor (int64_t %s = %s; %s < %s; %s++)", loop->unrolled ? dfg_printf(g, "DF_UNROLL(%u) ", loop->unrolled) : "", loop->name,
                                   loop->from, loop->name, loop->to, loop->name));
}

/* ---- one after the other ---- */

static void fold_best(struct dfg_gen *g, const struct dfg_fold *f, struct dfg_text value, const char *condition)
{
    const struct dff_node *n = f->node;
    const char *term = dfg_new_name(g), *take = dfg_new_name(g);
    dfg_line(g, g->block, "const %s %s = %s;", dfg_type(n->args[0]->type), term, value.c);
    dfg_line(g, g->block, "const int %s = %s%s!%s || %s %c %s%s%s;", take, condition, *condition ? " && (" : "", f->any, term,
             n->op == DFF_ARGMIN ? '<' : '>', f->best,
             dfg_is_float(n->args[0]->type) ? dfg_printf(g, " || (%s != %s && %s == %s)", f->best, f->best, term, term) : "",
             *condition ? ")" : "");
    dfg_line(g, g->block, "%s = %s ? %s : %s;", f->best, take, term, f->best);
    dfg_line(g, g->block, "%s = %s ? %s : %s;", f->name, take,
             g->block->is_number ? dfg_number(g, DFF_I32, g->block->number, 0).c
                                 : dfg_printf(g, "(int32_t)%s", g->block->name), f->name);
    dfg_line(g, g->block, "%s |= %s;", f->any, take);
}

void dfg_fold_term(struct dfg_gen *g, const struct dfg_fold *f)
{
    const struct dff_node *n = f->node;
    const struct dff_node *condition = n->n_args > 1 ? n->args[1] : NULL;
    int64_t is_taken = 1;
    if (condition && dfg_known(g, condition, &is_taken)) {
        if (!is_taken)
            return;
        condition = NULL;
    }
    const char *when = condition ? dfg_within(g, dfg_value(g, condition), DFG_COMPARE) : "";
    if (f->any && !f->best)
        dfg_line(g, g->block, "%s |= %s;", f->any, condition ? when : "1");
    if (n->op == DFF_COUNT) {
        dfg_line(g, g->block, "%s += %s;", f->name, condition ? when : "1");
        return;
    }
    struct dfg_text value = condition ? dfg_side(g, n->args[0]) : dfg_value(g, n->args[0]);
    if (f->best)
        fold_best(g, f, value, when);
    else if (condition)
        dfg_line(g, g->block, "%s = %s ? %s : %s;", f->name, when, dfg_joined(g, n, f->name, value), f->name);
    else
        dfg_line(g, g->block, "%s = %s;", f->name, dfg_joined(g, n, f->name, value));
}

static bool has_terms(const struct dff_node *n)
{
    bool has = !(n->n_args > 1 && n->args[1]);
    for (uint32_t r = 0; r < n->n_ranges; r++)
        has = has && dfg_range_has_values(&n->ranges[r]);
    return has;
}

/* ---- written out ---- */

/* Reductions in a long loop are written out so that compilers make vectors of that loop, and read a row's neighbours once. */
static bool is_in_long_loop(const struct dfg_gen *g, const struct dff_node *n)
{
    for (const struct dfg_block *b = g->block; b; b = b->outer)
        if (b->is_long && n->slots >> b->slot & 1)
            return true;
    return g->gpu && n->slots & ((1u << g->formula->rank) - 1); /* all threads are a loop over the elements */
}

/* How often a term of the node's reductions stands in the text of one of its values: of those that depend on `slots`, because the
 * others are printed elsewhere. `most`: of one reduction. */
static unsigned copies_inside(struct dfg_gen *g, const struct dff_node *n, uint32_t slots, unsigned most)
{
    struct dfg_fact *f = &g->facts[n->id];
    if (!(n->slots & slots) || dfg_columns_has(g, n) || dfg_ranged_has(g, n))
        return 1;
    if (f->walk == g->walks)
        return f->inside;
    unsigned inside = 1;
    uint32_t own = slots;
    for (uint32_t r = 0; r < n->n_ranges; r++)
        own |= 1u << n->ranges[r].slot;
    for (uint32_t k = 0; k < n->n_args; k++) {
        const unsigned copies = n->args[k] ? copies_inside(g, n->args[k], own, most) : 1;
        inside = copies > inside ? copies : inside;
    }
    if (n->kind == DFF_REDUCE && dfg_copies(n) && dfg_copies(n) * inside <= most)
        inside *= dfg_copies(n);
    f->walk = g->walks;
    return f->inside = inside;
}

/* The innermost ranges whose text has `most` copies of a term at most, if one has `copies`. */
static unsigned ranges_within(const struct dfg_gen *g, const struct dff_node *n, int64_t copies, unsigned most)
{
    unsigned written = 0;
    for (; written < n->n_ranges; written++) {
        const struct dff_range *range = dfg_range_at(n, n->n_ranges - 1 - written);
        const int64_t values = dfg_range_is_fixed(range) ? range->to->i - range->from->i : most + 1;
        if (values > most || (copies *= values) > most || copies * g->copies > DFG_MOST_ALL_COPIES)
            break;
    }
    return written;
}

unsigned dfg_ranges_written(struct dfg_gen *g, const struct dff_node *n)
{
    unsigned most = is_in_long_loop(g, n) ? dfg_most_copies(n) : DFG_MOST_OUTSIDE;
    uint32_t slots = 0;
    int64_t copies = 1;
    if (dfg_is_few(g, n))
        return n->n_ranges;
    g->walks++;
    for (uint32_t r = 0; r < n->n_ranges; r++)
        slots |= 1u << n->ranges[r].slot;
    for (uint32_t k = 0; k < n->n_args; k++) {
        const unsigned inside = n->args[k] ? copies_inside(g, n->args[k], slots, most) : 1;
        copies = inside > copies ? inside : copies;
    }
    if (most == DFG_MOST_COPIES && dfg_is_int(n->type) && copies > 1)
        most = DFG_MOST_OF_WINDOW;      /* so is a sum of sums */
    const unsigned written = ranges_within(g, n, copies, most);
    /* In a loop that remains, an item of a GPU reads none of its neighbours again, and all that is loaded at a time takes registers. */
    return g->gpu && written < n->n_ranges ? ranges_within(g, n, copies, DFG_MOST_OUTSIDE) : written;
}

/* The fold begins with the first term, and needs no identity. */
static bool begins_with_term(const struct dfg_fold *f)
{
    return !f->best && !(f->node->n_args > 1 && f->node->args[1]) && f->node->op != DFF_COUNT;
}

void dfg_fold_terms(struct dfg_gen *g, const struct dfg_fold *f, bool first)
{
    for (; f; f = f->next)
        if (first && begins_with_term(f))
            dfg_line(g, g->block, "%s %s = %s;", dfg_type(f->node->type), f->name, dfg_value(g, f->node->args[0]).c);
        else
            dfg_fold_term(g, f);
}

void dfg_written_out(struct dfg_gen *g, const struct dfg_fold *f, uint32_t depth, bool *first)
{
    const unsigned before = g->copies;
    if (depth == f->node->n_ranges) {
        dfg_fold_terms(g, f, *first);
        *first = false;
        return;
    }
    const struct dff_range *range = dfg_range_at(f->node, depth);
    const bool few = dfg_is_few(g, f->node);
    const int64_t from = few ? 0 : range->from->i, to = few ? g->few.terms : range->to->i;
    g->copies *= (unsigned)(to - from);
    for (int64_t i = from; i < to && !g->failed; i++) {
        struct dfg_block block;
        if (few ? dfg_few_open(g, &block, (unsigned)i) : dfg_open_number(g, &block, (int)range->slot, i))
            dfg_written_out(g, f, depth + 1, first);
        dfg_close(g, &block, "");
    }
    g->copies = before;
}

/* Prints the ranges from `depth` on; those from `written` on are written out. */
static void fold_loops(struct dfg_gen *g, const struct dfg_fold *f, uint32_t depth, uint32_t written)
{
    struct dfg_block block;
    bool first = written == 0;
    if (depth == written) {
        dfg_written_out(g, f, depth, &first);
        return;
    }
    struct dfg_loop loop = dfg_loop_open(g, dfg_range_at(f->node, depth), &block);
    loop.unrolled = !g->gpu ? 0 : depth + 1 < written ? 1 : MOST_UNROLLED;
    if (!g->failed)
        fold_loops(g, f, depth + 1, written);
    dfg_loop_close(g, &block, &loop);
}

bool dfg_needs_any(const struct dff_node *n)
{
    return dfg_is_best(n) || (n->op == DFF_SUM && dfg_is_float(n->type) && !has_terms(n));
}

struct dfg_fold dfg_fold_begin(struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_fold f = { .node = n, .name = dfg_new_name(g) };
    if (dfg_needs_any(n)) {
        f.any = dfg_new_name(g);
        dfg_line(g, g->block, "int %s = 0;", f.any);
    }
    if (dfg_is_best(n)) {
        f.best = dfg_new_name(g);
        dfg_line(g, g->block, "%s %s = 0;", dfg_type(n->args[0]->type), f.best);
    }
    return f;
}

static const char *fold(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dfg_fold f = dfg_fold_begin(g, n);
    const uint32_t loops = n->n_ranges - dfg_ranges_written(g, n);
    if (loops || !begins_with_term(&f))
        dfg_line(g, g->block, "%s %s = %s;", dfg_type(n->type), f.name, dfg_start_of(n));
    fold_loops(g, &f, 0, loops);
    if (f.any && !f.best)
        dfg_line(g, g->block, "%s = %s ? %s : 0;", f.name, f.any, f.name);
    return f.name;
}

/* ---- blocks and lanes ---- */

const char *dfg_lanes_name(struct dfg_gen *g, const struct dff_node *n)
{
    static const char *const names[] = { "sum", "prod", "least", "greatest" };
    return dfg_printf(g, "%s_%s", names[n->op - DFF_SUM], dfg_type_name(n->type));
}

/* One value for each of `count` lanes. */
static void print_lanes(struct dfg_gen *g, const struct dff_node *n, const struct dfg_loop *loop, const char *count)
{
    struct dfg_block block;
    const struct dff_node *condition = dfg_condition_of(n);
    if (dfg_open(g, &block, (int)n->ranges[n->n_ranges - 1].slot, loop->name)) {
        block.is_long = true;
        dfg_line(g, &block, "const int64_t %s = df_at + df_l;", loop->name);
        const char *when = condition ? dfg_within(g, dfg_value(g, condition), DFG_COMPARE) : NULL;
        const char *next = dfg_joined(g, n, "df_lane[df_l]", dfg_value(g, n->args[0]));
        if (when)
            dfg_line(g, &block, "df_has[df_l] |= %s;", when);
        if (when)
            next = dfg_printf(g, "%s ? %s : df_lane[df_l]", when, next);
        dfg_line(g, &block, "df_lane[df_l] = %s;", next);
    }
    dfg_close(g, &block, dfg_printf(g, "for (int df_l = 0; df_l < %s; df_l++)", count));
}

/* The last range, if its body is no loop: a block of 1,024 values has 16 lanes in an array, which becomes vectors. */
static void print_blocks(struct dfg_gen *g, const struct dff_node *n, const char *kind, const char *lanes)
{
    struct dfg_block block, full;
    const struct dff_range *range = &n->ranges[n->n_ranges - 1];
    struct dfg_loop loop = dfg_loop_open(g, range, &block); /* for its name */
    const struct dff_node *condition = dfg_condition_of(n);
    block.slot = -1;
    block.name = NULL;
    dfg_line(g, &block, "const int64_t df_end = %s - df_block < DF_BLOCK ? %s : df_block + DF_BLOCK;",
             loop.to, loop.to);
    dfg_line(g, &block, "%s df_lane[DF_LANES];", dfg_type(n->type));
    dfg_line(g, &block, "for (int df_l = 0; df_l < DF_LANES; df_l++)");
    dfg_line(g, &block, "    df_lane[df_l] = %s;", dfg_start_of(n));
    if (condition)
        dfg_line(g, &block, "int df_has[DF_LANES] = { 0 };");
    dfg_line(g, &block, "int64_t df_at = df_block;");
    if (dfg_open(g, &full, -1, NULL))
        print_lanes(g, n, &loop, "DF_LANES");
    dfg_close(g, &full, "for (; df_at + DF_LANES <= df_end; df_at += DF_LANES)");
    print_lanes(g, n, &loop, "df_end - df_at");
    const char *has = condition ? "df_mask(df_has)" : "df_first_lanes(df_end - df_block)";
    dfg_line(g, &block, "const uint32_t df_which = %s;", has);
    dfg_line(g, &block, "df_put_%s(&%s, 1, df_which != 0, df_tree_%s(df_lane, df_which));", kind, lanes, kind);
    dfg_close(g, &block, dfg_printf(g, "for (int64_t df_block = %s; df_block < %s; df_block += DF_BLOCK)", loop.from, loop.to));
}

struct dfg_text dfg_lane_term(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_node *condition = dfg_condition_of(n);
    const char *name = dfg_new_name(g), *when = condition ? dfg_within(g, dfg_value(g, condition), DFG_COMPARE) : NULL;
    const char *value = when ? dfg_printf(g, "%s ? %s : %s", when, dfg_within(g, dfg_side(g, n->args[0]), DFG_BITS), dfg_start_of(n)) : dfg_value(g, n->args[0]).c;
    dfg_line(g, g->block, "const %s %s = %s;", dfg_type(n->type), name, value);
    return (struct dfg_text){ name, DFG_ATOM };
}

struct dfg_text dfg_joined_lanes(struct dfg_gen *g, const struct dff_node *n, struct dfg_text *terms, unsigned count)
{
    for (unsigned apart = DFG_LANES / 2; apart; apart /= 2)
        for (unsigned l = 0; l < apart && l + apart < count; l++)
            terms[l] = (struct dfg_text){ dfg_joined(g, n, terms[l].c, terms[l + apart]), DFG_PLUS };
    return terms[0];
}

/* All terms of a reduction in lanes, written out. */
static const char *few_lanes(struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_text terms[DFG_LANES] = { { 0 } };
    const char *name = dfg_new_name(g);
    for (unsigned k = 0; k < g->few.terms && !g->failed; k++) {
        struct dfg_block term;
        if (dfg_few_open(g, &term, k))
            terms[k] = dfg_lane_term(g, n);
        dfg_close(g, &term, "");
    }
    if (!g->failed)
        dfg_line(g, g->block, "const %s %s = %s;", dfg_type(n->type), name, dfg_joined_lanes(g, n, terms, g->few.terms).c);
    return name;
}

/* Puts the values of ranges r, r + 1, … together. Gives the name of the result; *any gets that of its truth value. */
static const char *lanes_of(struct dfg_gen *g, const struct dff_node *n, uint32_t r, const char **any)
{
    struct dfg_block block;
    const char *lanes = dfg_new_name(g), *name = dfg_new_name(g), *kind = dfg_lanes_name(g, n), *inner_any = "1";
    const struct dff_node *condition = dfg_condition_of(n);
    bool last = r + 1 == n->n_ranges;
    *any = dfg_new_name(g);
    dfg_line(g, g->block, "struct df_lanes_%s %s = { .n = { 0 } };", kind, lanes);
    if (last && !g->facts[n->args[0]->id].loops && !(condition && g->facts[condition->id].loops)) {
        print_blocks(g, n, kind, lanes);
    } else {
        struct dfg_loop loop = dfg_loop_open(g, &n->ranges[r], &block);
        if (!g->failed) {
            const char *inner = last ? dfg_value(g, n->args[0]).c : lanes_of(g, n, r + 1, &inner_any);
            if (last && condition)
                inner_any = dfg_value(g, condition).c;
            dfg_line(g, g->block, "df_put_%s(&%s, 0, %s, %s);", kind, lanes, inner_any, inner);
        }
        dfg_loop_close(g, &block, &loop);
    }
    dfg_line(g, g->block, "%s %s;", dfg_type(n->type), name);
    dfg_line(g, g->block, "const int %s = df_end_%s(&%s, &%s);", *any, kind, lanes, name);
    return name;
}

/* ---- the sum of an acc whose terms gather elements ---- */

/* Prints a loop over the strip's columns that stores `value`, or what the array has and the sum's term joined. */
static void print_sums(struct dfg_gen *g, const char *array, const char *value)
{
    struct dfg_block loop;
    const char *x = g->formula->names[g->column];
    if (dfg_open_columns(g, &loop)) {
        const char *sum = dfg_printf(g, "%s[%s - df_strip]", array, x);
        loop.loc = value ? NULL : &g->formula->ast->loc;
        dfg_line(g, &loop, "%s = %s;", sum, value ? value : dfg_joined(g, g->sum, sum, dfg_value(g, g->sum->args[0])));
    }
    dfg_close_columns(g, &loop, "df_strip", "df_strip_end");
}

void dfg_sum_print(struct dfg_gen *g)
{
    const struct dff_node *condition = dfg_condition_of(g->sum);
    const char *array = dfg_new_name(g), *any = condition ? dfg_new_name(g) : NULL;
    const unsigned before = g->n_columns;
    struct dfg_block block;
    dfg_column_array(g, g->sum->type, array, 1, 0);
    print_sums(g, array, dfg_start_of(g->sum));
    if (any)
        dfg_line(g, g->block, "int %s = 0;", any);
    struct dfg_loop loop = dfg_loop_open(g, &g->sum->ranges[0], &block);
    g->within = 1u << g->sum->ranges[0].slot;
    if (any && !g->failed) {
        dfg_line(g, g->block, "if (!%s)", dfg_within(g, dfg_value(g, condition), DFG_ATOM));
        dfg_line(g, g->block, "    continue;");
        dfg_line(g, g->block, "%s = 1;", any);
    }
    if (!g->failed)
        dfg_gathers_print(g);
    if (!g->failed)
        print_sums(g, array, NULL);
    g->within = 0;
    g->n_columns = before; /* the others are of the loop */
    dfg_loop_close(g, &block, &loop);
    if (any)
        dfg_line(g, g->block, "if (!%s)", any);
    if (any)
        dfg_line(g, g->block, "    __builtin_memset(%s, 0, sizeof %s);", array, array);
    dfg_column_add(g, g->sum, false)->name = array;
}

const char *dfg_reduce(struct dfg_gen *g, const struct dff_node *n)
{
    const char *any;
    if (n->order != DFF_ORDER_LANES || !dfg_is_float(n->type))
        return fold(g, n);
    if (dfg_is_few(g, n))
        return few_lanes(g, n);
    const char *name = lanes_of(g, n, 0, &any);
    dfg_line(g, g->block, "%s = %s ? %s : %s;", name, any, name, n->op == DFF_SUM ? "0" : dfg_start_of(n));
    return name;
}
