/* traps.c - warns for check.c and types.c about formulas whose meaning differs from what users of C, Python or NumPy
 * expect: chained comparisons, '^' where a power seems intended, and quotients of two integers. The hint of each
 * warning shows a spelling that avoids it.
 */
#include "compiler/formula/build.h"

static bool is_comparison(const struct dfl_expr *e)
{
    return e->kind == DFL_EXPR_BINARY && e->op >= DFL_OP_LT && e->op <= DFL_OP_NE;
}

static void warn_chain(struct dff_build *b, const struct dfl_expr *e)
{
    if (!is_comparison(e) || !((is_comparison(e->a) && !e->a->in_parens) || (is_comparison(e->b) && !e->b->in_parens)))
        return;
    dfl_warning(b->u->sink, e->loc, "comparisons do not chain: one side of this one is the 0 or 1 that the other gives");
    dfl_hint(b->u->sink, "'a < b < c' is written 'a < b && b < c'; parentheses around the inner comparison say that its 0 or 1 is meant");
}

static bool is_bare(const struct dfl_expr *e, int64_t low, int64_t high)
{
    return e->kind == DFL_EXPR_INT && !e->in_parens && (e->i == low || e->i == high);
}

static void warn_power(struct dff_build *b, const struct dfl_expr *e)
{
    if (e->op != DFL_OP_BITXOR || (!is_bare(e->b, 2, 3) && !is_bare(e->a, 2, 10)))
        return;
    dfl_warning(b->u->sink, e->loc, "'^' is exclusive or, as in C, and no power");
    dfl_hint(b->u->sink, "a power is 'x * x' or 'pow(x, 2)'; parentheses around the number, 'x ^ (2)', say that exclusive or is meant");
}

static void warn_quotient(struct dff_build *b, const struct dfl_expr *e)
{
    if (e->op != DFL_OP_DIV || e->a->kind != DFL_EXPR_INT || e->b->kind != DFL_EXPR_INT || e->b->i == 0 || e->a->i % e->b->i == 0)
        return;
    const long long x = e->a->i, y = e->b->i;
    dfl_warning(b->u->sink, e->loc, "%lld / %lld is %lld, because a division of integers drops the remainder", x, y, x / y);
    dfl_hint(b->u->sink, "write '%lld.0 / %lld'; 'i32(%lld / %lld)' says that %lld is meant", x, y, x, y, x / y);
}

static bool is_integer_conversion(const struct dfl_expr *e)
{
    enum df_elem elem;
    return e->kind == DFL_EXPR_CALL && dfc_elem_find(e->s, &elem) && !df_elem_is_float(elem);
}

static void warn_in(struct dff_build *b, const struct dfl_expr *e, bool converted)
{
    if (!e)
        return;
    if (e->kind == DFL_EXPR_BINARY) {
        warn_chain(b, e);
        warn_power(b, e);
        if (!converted)
            warn_quotient(b, e);
    }
    warn_in(b, e->a, false);
    warn_in(b, e->b, false);
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        warn_in(b, arg, is_integer_conversion(e));
    for (const struct dfl_range *range = e->ranges; range; range = range->next) {
        warn_in(b, range->from, true);
        warn_in(b, range->to, true);
    }
}

void dff_warn_traps(struct dff_build *b)
{
    for (const struct dfl_formula *f = b->callee->kernel->formulas; f; f = f->next)
        warn_in(b, f->value, false);
}

void dff_warn_stored_quotient(struct dff_build *b, const struct dff_node *value, enum df_elem elem, const char *name)
{
    const struct dff_node *n = dff_note_of(b, value)->quotient;
    if (!n)
        return;
    const char *type = df_elem_name(elem);
    dfl_warning(b->u->sink, n->loc, "this division of integers drops the remainder before '%s', which is %s, takes it", name, type);
    dfl_hint(b->u->sink, "make one side real, as in 'a / 2.0' or '%s(a) / b'; '%s(...)' around the division says that the integer is meant", type, type);
}
