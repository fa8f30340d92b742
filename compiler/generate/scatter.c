/* scatter.c - histograms and their like: o[…, b, …] = sum(ranges if e == b && rest: value) of integers. They wrap, so the order
 * of their terms does not matter, and every term is added where it belongs in one pass.
 */
#include "compiler/generate/gen.h"

#include <stdlib.h>

struct join {
    const struct dff_node *equal;       /* e == b */
    const struct dff_node *place;       /* e */
    unsigned slot;                      /* of b */
};

/* Looks for `e == b` among conditions that must all hold. */
static bool find_join(const struct dfg_gen *g, const struct dff_node *n, struct join *join)
{
    if (n->kind != DFF_OP)
        return false;
    if (n->op == DFF_AND)
        return find_join(g, n->args[0], join) || find_join(g, n->args[1], join);
    for (int k = 0; n->op == DFF_EQ && k < 2; k++) {
        const struct dff_node *b = n->args[k], *e = n->args[1 - k];
        if (b->kind != DFF_INDEX || b->number >= g->formula->rank || e->type != DFF_I32 || e->slots >> b->number & 1)
            continue;
        *join = (struct join){ n, e, b->number };
        return true;
    }
    return false;
}

/* Does anything else in the condition depend on b? */
static bool rest_depends(const struct dff_node *n, const struct join *join)
{
    if (n == join->equal)
        return false;
    if (n->kind == DFF_OP && n->op == DFF_AND)
        return rest_depends(n->args[0], join) || rest_depends(n->args[1], join);
    return n->slots >> join->slot & 1;
}

static bool is_scatter(const struct dfg_gen *g, struct join *join)
{
    const struct dff_formula *f = g->formula;
    const struct dff_node *n = f->value;
    enum df_elem elem = g->kernel->ports[f->port].elem;
    if (n->kind != DFF_REDUCE || (n->op != DFF_COUNT && n->op != DFF_SUM) || n->n_args < 2 || !n->args[1] ||
        (elem != DF_I32 && elem != DF_I64) || !dfg_is_int(n->type) || g->kernel->ports[f->port].mode != DF_OUT ||
        !find_join(g, n->args[1], join) || rest_depends(n->args[1], join) || (n->args[0] && n->args[0]->slots >> join->slot & 1))
        return false;
    for (uint32_t r = 0; r < n->n_ranges; r++)
        if ((n->ranges[r].from->slots | n->ranges[r].to->slots) >> join->slot & 1)
            return false;
    return true;
}

/* ---- printing ---- */

static const char *element(struct dfg_gen *g, const struct join *join, const char *at)
{
    const struct dff_formula *f = g->formula;
    struct dfg_text indices[DF_MAX_RANK] = { { 0 } };
    for (unsigned d = 0; d < f->rank; d++)
        indices[d] = d == join->slot   ? (struct dfg_text){ at, DFG_ATOM }
                     : f->is_index[d] ? (struct dfg_text){ f->names[d], DFG_ATOM }
                                      : dfg_number(g, DFF_I32, f->at[d], 0);
    return dfg_printf(g, "%s[%s]", dfg_port_name(g, f->port), dfg_offset(g, &g->kernel->ports[f->port], indices));
}

/* The conditions beside the join, each before "&& ". */
static const char *rest_of(struct dfg_gen *g, const struct dff_node *n, const struct join *join)
{
    if (n == join->equal)
        return "";
    if (n->kind == DFF_OP && n->op == DFF_AND)
        return dfg_printf(g, "%s%s", rest_of(g, n->args[0], join), rest_of(g, n->args[1], join));
    return dfg_printf(g, "%s && ", dfg_within(g, dfg_value(g, n), DFG_COMPARE));
}

static void print_term(struct dfg_gen *g, const struct join *join)
{
    const struct dff_node *n = g->formula->value;
    const char *rest = rest_of(g, n->args[1], join), *at = dfg_new_name(g);
    dfg_line(g, g->block, "const int64_t %s = %s;", at, dfg_value(g, join->place).c);
    const char *to = element(g, join, at), *value = n->op == DFF_COUNT ? "1" : dfg_value(g, n->args[0]).c;
    dfg_line(g, g->block, "if (%s%s >= 0 && %s < %s)", rest, at, at,
             dfg_within(g, dfg_index(g, g->kernel->ports[g->formula->port].extents[join->slot]), DFG_PLUS));
    dfg_line(g, g->block, "    %s = df_add_%s(%s, %s);", to, dfg_type_name(n->type), to, value);
}

static void print_loops(struct dfg_gen *g, const struct join *join, uint32_t r)
{
    struct dfg_block block;
    if (r == g->formula->value->n_ranges) {
        print_term(g, join);
        return;
    }
    struct dfg_loop loop = dfg_loop_open(g, &g->formula->value->ranges[r], &block);
    if (!g->failed)
        print_loops(g, join, r + 1);
    dfg_loop_close(g, &block, &loop);
}

static void print_domain(struct dfg_gen *g, const struct join *join, unsigned d)
{
    const struct dff_formula *f = g->formula;
    const struct dff_port *port = &g->kernel->ports[f->port];
    struct dfg_block block;
    while (d < f->rank && (!f->is_index[d] || d == join->slot))
        d++;
    if (d < f->rank) {
        dfg_open(g, &block, (int)d, f->names[d]);
        if (!g->failed)
            print_domain(g, join, d + 1);
        dfg_close(g, &block, dfg_printf(g, "for (int64_t %s = 0; %s < %s; %s++)", f->names[d], f->names[d],
                                        dfg_index(g, port->extents[d]).c, f->names[d]));
        return;
    }
    const char *b = f->names[join->slot];
    dfg_line(g, g->block, "for (int64_t %s = 0; %s < %s; %s++)", b, b, dfg_index(g, port->extents[join->slot]).c, b);
    dfg_line(g, g->block, "    %s = 0;", element(g, join, b));
    print_loops(g, join, 0);
}

bool dfg_scatter(struct dfg_gen *g, FILE *out)
{
    struct dfg_block block;
    struct join join;
    if (!is_scatter(g, &join))
        return false;
    g->column = -1;
    g->copies = 1;
    g->stage = (struct dfg_stage){ 0 };
    if (dfg_open(g, &block, -1, NULL))
        print_domain(g, &join, 0);
    dfg_close(g, &block, "");
    if (!g->failed)
        fprintf(out, "    {\n%s    }\n", block.bytes);
    free(block.bytes);
    return true;
}
