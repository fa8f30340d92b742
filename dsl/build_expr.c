/* build_expr.c - constructs the nodes of expressions, and keeps track of the depth of each subtree. The parser's
 * actions call it.
 *
 * Every function may recurse over an expression, because no path in it has more than DFL_MAX_NESTING operators, calls
 * and indices.
 */
#include <string.h>

#include "dsl/build.h"

static struct dfl_expr *expr_new(struct dfl_reader *r, struct dfl_loc loc, enum dfl_expr_kind kind)
{
    struct dfl_expr *e = dfl_arena_alloc(r->arena, sizeof *e);
    e->kind = kind;
    e->loc = loc;
    return e;
}

unsigned dfl_build_depth(struct dfl_reader *r, struct dfl_loc loc, unsigned a, unsigned b)
{
    unsigned depth = (a > b ? a : b) + 1;
    if (depth > DFL_MAX_NESTING && !r->stopped) {
        dfl_error(r->sink, loc, "nested too deeply: more than %d levels of operators", DFL_MAX_NESTING);
        dfl_hint(r->sink, "give a part of the expression a name with '%s'",
                 dfl_reader_in_formula(r) ? "let" : "param");
        r->stopped = true;
    }
    return depth;
}

/* ---- leaves ---- */

struct dfl_tree dfl_build_number(struct dfl_reader *r, struct dfl_loc loc, struct dfl_number number)
{
    struct dfl_expr *e = expr_new(r, loc, number.is_int ? DFL_EXPR_INT : DFL_EXPR_FLOAT);
    e->is_int = number.is_int;
    e->i = number.i;
    e->f = number.f;
    return (struct dfl_tree){.e = e, .is_min = number.is_min};
}

struct dfl_tree dfl_build_quantity(struct dfl_reader *r, struct dfl_loc loc, struct dfl_number number,
                                   struct dfl_name unit)
{
    struct dfl_expr *e = expr_new(r, loc, DFL_EXPR_QUANTITY);
    e->is_int = number.is_int && !number.is_min;
    e->i = e->is_int ? number.i : 0;
    e->f = number.f;
    e->s = unit.text;
    return (struct dfl_tree){.e = e};
}

struct dfl_tree dfl_build_string(struct dfl_reader *r, struct dfl_loc loc, const char *text)
{
    struct dfl_expr *e = expr_new(r, loc, DFL_EXPR_STR);
    e->s = text;
    return (struct dfl_tree){.e = e};
}

struct dfl_tree dfl_build_ref(struct dfl_reader *r, struct dfl_name name)
{
    struct dfl_expr *e = expr_new(r, name.loc, DFL_EXPR_NAME);
    e->s = name.text;
    return (struct dfl_tree){.e = e};
}

struct dfl_tree dfl_build_plain(struct dfl_reader *r, struct dfl_tree tree)
{
    if (tree.is_min) {
        dfl_error(r->sink, tree.e->loc, "integer is too large");
        dfl_hint(r->sink, "integers go up to %lld (i64)", (long long)INT64_MAX);
        tree.e->i = INT64_MAX;
        tree.is_min = false;
    }
    return tree;
}

struct dfl_expr *dfl_build_negative(struct dfl_reader *r, struct dfl_loc loc, struct dfl_number number)
{
    struct dfl_expr *e = dfl_build_number(r, loc, number).e;
    if (!number.is_min)
        e->i = -e->i;
    e->f = -e->f;
    return e;
}

/* ---- operators ---- */

struct dfl_tree dfl_build_index(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name, struct dfl_tree args)
{
    struct dfl_expr *e = expr_new(r, loc, DFL_EXPR_INDEX);
    e->s = name.text;
    e->args = dfl_build_exprs(args);
    return (struct dfl_tree){.e = e, .depth = dfl_build_depth(r, loc, args.depth, 0)};
}

struct dfl_tree dfl_build_function(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name, struct dfl_tree args)
{
    struct dfl_expr *e = expr_new(r, loc, DFL_EXPR_CALL);
    e->s = name.text;
    e->args = dfl_build_exprs(args);
    if (strcmp(name.text, "range") == 0) {
        dfl_error(r->sink, loc, "there is no function 'range'");
    } else if (strcmp(name.text, "min") != 0 && strcmp(name.text, "max") != 0) {
        dfl_error(r->sink, loc, "calls do not nest: '%s' is called inside an expression", name.text);
        if (r->n_braces > 0)
            dfl_hint(r->sink, "give its result a name in a statement of its own, as in 'x = %s(...);'; "
                              "min() and max() are the only functions", name.text);
        else
            dfl_hint(r->sink, "min() and max() are the only functions; inline code can call any");
    }
    return (struct dfl_tree){.e = e, .depth = dfl_build_depth(r, loc, args.depth, 0)};
}

struct dfl_tree dfl_build_binary(struct dfl_reader *r, struct dfl_loc loc, enum dfl_op op, struct dfl_tree a,
                                 struct dfl_tree b)
{
    struct dfl_expr *e = expr_new(r, loc, DFL_EXPR_BINARY);
    e->op = op;
    e->a = a.e;
    e->b = b.e;
    return (struct dfl_tree){.e = e, .depth = dfl_build_depth(r, b.e->loc, a.depth, b.depth)};
}

struct dfl_prefix dfl_build_prefix(struct dfl_reader *r, struct dfl_loc loc, enum dfl_op op)
{
    struct dfl_expr *e = expr_new(r, loc, DFL_EXPR_UNARY);
    e->op = op;
    return (struct dfl_prefix){e, e, 1};
}

struct dfl_prefix dfl_build_prefix_more(struct dfl_reader *r, struct dfl_prefix outer, struct dfl_prefix inner)
{
    outer.inner->a = inner.outer;
    outer.inner = inner.inner;
    outer.depth = dfl_build_depth(r, inner.outer->loc, outer.depth, 0);
    return outer;
}

/* The span of each prefix operator grows to the end of its operand, if the operand ends on the operator's line. */
static void widen(struct dfl_expr *outer, const struct dfl_expr *operand, unsigned n)
{
    for (struct dfl_expr *e = outer; n > 0; e = e->a, n--)
        if (e->loc.line == operand->loc.line)
            e->loc.end_col = operand->loc.end_col;
}

struct dfl_tree dfl_build_unary(struct dfl_reader *r, struct dfl_prefix prefix, struct dfl_tree operand)
{
    unsigned n = prefix.depth;
    if (operand.is_min && prefix.inner->op == DFL_OP_NEG) { /* the '-' and 2^63 are one literal */
        operand.is_min = false;
        if (prefix.inner->loc.line == operand.e->loc.line)
            operand.e->loc.col = prefix.inner->loc.col;
        if (prefix.outer == prefix.inner)
            return operand;
        struct dfl_expr *last = prefix.outer;
        while (last->a != prefix.inner)
            last = last->a;
        prefix.inner = last;
        n--;
    }
    operand = dfl_build_plain(r, operand);
    prefix.inner->a = operand.e;
    unsigned depth = dfl_build_depth(r, prefix.outer->loc, operand.depth + n - 1, 0);
    if (depth <= DFL_MAX_NESTING && !dfl_arena_failed(r->arena))
        widen(prefix.outer, operand.e, n);
    return (struct dfl_tree){.e = prefix.outer, .depth = depth};
}

/* ---- lists ---- */

struct dfl_tree dfl_build_list(struct dfl_tree one)
{
    DFL_ONE(one.e);
    return one;
}

struct dfl_tree dfl_build_list_more(struct dfl_tree list, struct dfl_tree one)
{
    DFL_MORE(list.e, one.e);
    if (list.depth > one.depth)
        one.depth = list.depth;
    return one;
}

struct dfl_expr *dfl_build_exprs(struct dfl_tree list)
{
    struct dfl_expr *first;
    DFL_FIRST(first, list.e);
    return first;
}
