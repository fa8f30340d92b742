/* one_pass.c - prints for kernel.c the C of formulas that one pass over the terms can compute, and for pass_group.c its
 * parts: histograms and running sums (compiler/count/one_pass.h).
 */
#include "compiler/count/one_pass.h"

#include <inttypes.h>
#include <stdlib.h>

#include "compiler/generate/gen.h"

const char *dfg_pass_element(struct dfg_gen *g, const struct dff_one_pass *pass, struct dfg_text at)
{
    const struct dff_formula *f = g->formula;
    struct dfg_text indices[DF_MAX_RANK] = { { 0 } };
    for (unsigned d = 0; d < f->rank; d++)
        indices[d] = d == pass->slot  ? at
                     : f->is_index[d] ? (struct dfg_text){ f->names[d], DFG_ATOM }
                                      : dfg_number(g, DFF_I32, f->at[d], 0);
    return dfg_printf(g, "%s[%s]", dfg_port_name(g, f->port), dfg_offset(g, &g->kernel->ports[f->port], indices));
}

/* ---- joined ---- */

const char *dfg_pass_rest(struct dfg_gen *g, const struct dff_node *n, const struct dff_one_pass *pass)
{
    if (n == pass->equal)
        return "";
    if (n->kind == DFF_OP && n->op == DFF_AND)
        return dfg_printf(g, "%s%s", dfg_pass_rest(g, n->args[0], pass), dfg_pass_rest(g, n->args[1], pass));
    return dfg_printf(g, "%s && ", dfg_within(g, dfg_value(g, n), DFG_COMPARE));
}

static void print_term(struct dfg_gen *g, const struct dff_one_pass *pass)
{
    const struct dff_node *n = pass->reduce;
    const char *rest = dfg_pass_rest(g, n->args[1], pass), *at = dfg_new_name(g);
    dfg_line(g, g->block, "const int64_t %s = %s;", at, dfg_value(g, pass->place).c);
    const char *to = dfg_pass_element(g, pass, (struct dfg_text){ at, DFG_ATOM }), *value = n->op == DFF_COUNT ? "1" : dfg_value(g, n->args[0]).c;
    const char *first, *end;
    dfg_row_ends(g, pass->slot, &first, &end);
    dfg_line(g, g->block, "if (%s%s >= %s && %s < %s)", rest, at, first, at, end);
    const char *type = pass->widens ? dfg_type_name(DFF_I64) : dfg_type_name(n->type);
    dfg_line(g, g->block, "    %s = df_%s_%s(%s, %s);", to,
             n->op == DFF_LEAST ? "min" : n->op == DFF_GREATEST ? "max" : "add", type, to, value);
}

static void join_terms(struct dfg_gen *g, const struct dff_one_pass *pass, uint32_t r)
{
    struct dfg_block block;
    if (r == pass->reduce->n_ranges) {
        print_term(g, pass);
        return;
    }
    struct dfg_loop loop = dfg_loop_open(g, &pass->reduce->ranges[r], &block);
    if (!g->failed)
        join_terms(g, pass, r + 1);
    dfg_loop_close(g, &block, &loop);
}

static const char *loop_over(struct dfg_gen *g, unsigned d)
{
    const char *name = g->formula->names[d], *from, *to;
    dfg_row_ends(g, d, &from, &to);
    return dfg_printf(g, "for (int64_t %s = %s; %s < %s; %s++)", name, from, name, to, name);
}

static void print_joined(struct dfg_gen *g, const struct dff_one_pass *pass, unsigned d)
{
    const struct dff_formula *f = g->formula;
    struct dfg_block block;
    while (d < f->rank && (!f->is_index[d] || d == pass->slot))
        d++;
    if (d < f->rank) {
        const char *head = loop_over(g, d);
        dfg_open(g, &block, (int)d, f->names[d]);
        if (!g->failed)
            print_joined(g, pass, d + 1);
        dfg_close(g, &block, head);
        return;
    }
    if (!pass->changes) {
        dfg_line(g, g->block, "%s", loop_over(g, pass->slot));
        dfg_line(g, g->block, "    %s = %s;", dfg_pass_element(g, pass, (struct dfg_text){ f->names[pass->slot], DFG_ATOM }), dfg_start_of(pass->reduce));
    }
    join_terms(g, pass, 0);
}

/* How many values the range has. */
static const char *values_of(struct dfg_gen *g, const struct dff_range *range)
{
    const struct dfg_text to = dfg_index(g, range->to), from = dfg_index(g, range->from);
    if (range->from->kind == DFF_CONST && range->from->i == 0)
        return to.c;
    return dfg_printf(g, "%s - %s", dfg_within(g, to, DFG_PLUS), dfg_within(g, from, DFG_UNARY));
}

/* The condition under which the pass gives the formula's bits. */
static const char *condition_of(struct dfg_gen *g, const struct dff_one_pass *pass)
{
    const char *values = "";
    for (uint32_t r = 0; r < pass->reduce->n_ranges; r++)
        values = dfg_printf(g, "%s%s%s", values, r ? ", " : "", values_of(g, &pass->reduce->ranges[r]));
    return dfg_printf(g, "if (df_counts_terms((const int64_t[]){ %s }, %u))", values, pass->reduce->n_ranges);
}

/* ---- running ---- */

/* Elements along the index, from `from` to before `to`; to < 0: to the end. */
struct stretch {
    enum { BEFORE, FIRST, AFTER } place;    /* they have no term, one, or one more than the element before them */
    int64_t from, to;
};

static void print_element(struct dfg_gen *g, const struct dff_one_pass *pass, const struct stretch *stretch)
{
    const struct dff_node *n = pass->reduce;
    const char *b = g->formula->names[pass->slot], *to = dfg_pass_element(g, pass, (struct dfg_text){ b, DFG_ATOM });
    struct dfg_block term;
    if (stretch->place == BEFORE) {
        dfg_line(g, g->block, "%s = %s;", to, n->op == DFF_SUM ? "0" : dfg_start_of(n));
        return;
    }
    dfg_open_shared(g, &term, (int)n->ranges[0].slot, b);
    term.shift = pass->more - 1;
    const struct dfg_text value = n->op == DFF_COUNT ? dfg_number(g, DFF_I32, 1, 0) : dfg_value(g, n->args[0]);
    const char *before = dfg_pass_element(g, pass, (struct dfg_text){ dfg_printf(g, "%s - 1", b), DFG_PLUS });
    dfg_line(g, g->block, "%s = %s;", to, stretch->place == FIRST ? value.c : dfg_joined(g, n, before, value));
    dfg_close(g, &term, "");
}

static const char *stretch_head(struct dfg_gen *g, unsigned d, const struct stretch *stretch)
{
    const char *b = g->formula->names[d], *from, *to;
    dfg_row_ends(g, d, &from, &to);
    const char *end = stretch->to < 0 ? "" : dfg_printf(g, "%s < %" PRId64 " && ", b, stretch->to);
    return dfg_printf(g, "for (int64_t %s = %" PRId64 "; %s%s < %s; %s++)", b, stretch->from, end, b, to, b);
}

static void print_stretch(struct dfg_gen *g, const struct dff_one_pass *pass, const struct stretch *stretch, unsigned d)
{
    const struct dff_formula *f = g->formula;
    struct dfg_block block;
    while (d < f->rank && !f->is_index[d])
        d++;
    if (d == f->rank) {
        print_element(g, pass, stretch);
        return;
    }
    const char *head = d == pass->slot ? stretch_head(g, d, stretch) : loop_over(g, d);
    dfg_open(g, &block, (int)d, f->names[d]);
    if (!g->failed)
        print_stretch(g, pass, stretch, d + 1);
    dfg_close(g, &block, head);
}

static void print_running(struct dfg_gen *g, const struct dff_one_pass *pass)
{
    const int64_t first = pass->from - pass->more + 1;  /* the element that has the first term */
    const struct stretch stretches[] = { { BEFORE, 0, first }, { FIRST, first, first + 1 }, { AFTER, first + 1, -1 } };
    for (int i = first == 0; i < 3 && !g->failed; i++)
        print_stretch(g, pass, &stretches[i], 0);
}

/* ---- both ---- */

static void print_pass(struct dfg_gen *g, const struct dff_one_pass *pass, enum dff_pass kind)
{
    if (kind == DFF_PASS_JOINED)
        print_joined(g, pass, 0);
    else
        print_running(g, pass);
}

bool dfg_one_pass(struct dfg_gen *g, FILE *out, bool *also_rows)
{
    struct dfg_block whole, counted;
    struct dff_one_pass pass;
    const enum dff_pass kind = dff_one_pass(g->kernel, g->formula, &pass);
    if (kind == DFF_PASS_NONE)
        return false;
    *also_rows = pass.widens;
    g->column = -1;
    g->copies = 1;
    g->stage = (struct dfg_stage){ 0 };
    if (dfg_open(g, &whole, -1, NULL) && !pass.widens)
        print_pass(g, &pass, kind);
    if (pass.widens && !g->failed) {
        if (dfg_open(g, &counted, -1, NULL))
            print_pass(g, &pass, kind);
        dfg_close(g, &counted, condition_of(g, &pass));
    }
    dfg_close(g, &whole, "");
    if (!g->failed)
        fprintf(out, pass.widens ? "%s    else\n" : "    {\n%s    }\n", whole.bytes);
    free(whole.bytes);
    return true;
}
