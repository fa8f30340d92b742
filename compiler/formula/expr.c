/* expr.c - checks and builds the expressions of formulas, for check.c and the rest of the room: operators and the
 * conditional `a ? b : c`. Names, calls and reductions have files of their own.
 *
 * An operator first converts its operands to a common type (types.c), so the operands of a node always have one type,
 * and C's implicit promotions become explicit nodes.
 */
#include "compiler/formula/build.h"

static enum dff_op node_op(enum dfl_op op)
{
    switch (op) {
    case DFL_OP_NEG: return DFF_NEG;
    case DFL_OP_NOT: return DFF_NOT;
    case DFL_OP_MUL: return DFF_MUL;
    case DFL_OP_DIV: return DFF_DIV;
    case DFL_OP_MOD: return DFF_MOD;
    case DFL_OP_ADD: return DFF_ADD;
    case DFL_OP_SUB: return DFF_SUB;
    case DFL_OP_LT: return DFF_LT;
    case DFL_OP_LE: return DFF_LE;
    case DFL_OP_GT: return DFF_GT;
    case DFL_OP_GE: return DFF_GE;
    case DFL_OP_EQ: return DFF_EQ;
    case DFL_OP_NE: return DFF_NE;
    case DFL_OP_AND: return DFF_AND;
    case DFL_OP_OR: return DFF_OR;
    case DFL_OP_BITNOT: return DFF_BITNOT;
    case DFL_OP_BITAND: return DFF_BITAND;
    case DFL_OP_BITOR: return DFF_BITOR;
    case DFL_OP_BITXOR: return DFF_BITXOR;
    case DFL_OP_SHL: return DFF_SHL;
    case DFL_OP_SHR: return DFF_SHR;
    }
    return DFF_ADD;
}

static bool takes_integers(enum dfl_op op)
{
    return op == DFL_OP_MOD || op >= DFL_OP_BITNOT;
}

static bool compares(enum dfl_op op)
{
    return op >= DFL_OP_LT && op <= DFL_OP_NE;
}

static bool check_integer(struct dff_build *b, const struct dfl_expr *e, const struct dfl_expr *operand,
                          const struct dff_value *v)
{
    static const char *const texts[] = { [DFL_OP_MOD] = "%", [DFL_OP_BITNOT] = "~", [DFL_OP_BITAND] = "&",
                                         [DFL_OP_BITOR] = "|", [DFL_OP_BITXOR] = "^", [DFL_OP_SHL] = "<<",
                                         [DFL_OP_SHR] = ">>" };
    if (!takes_integers(e->op) || !dff_is_real(v))
        return true;
    dfl_error(b->u->sink, operand->loc, "'%s' takes integers, but this is %s", texts[e->op],
              v->exact ? "a number with a point" : dff_type_name(v->node->type));
    if (e->op == DFL_OP_MOD)
        dfl_hint(b->u->sink, "the remainder of real numbers is 'x - y * trunc(x / y)'");
    else if (e->op == DFL_OP_BITXOR)
        dfl_hint(b->u->sink, "'^' is exclusive or, as in C; a power is 'pow(x, 2)'");
    return false;
}

static bool unary(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v)
{
    struct dff_value x;
    if (!dff_expr(b, place, e->a, &x) || !check_integer(b, e, e->a, &x))
        return false;
    if (x.exact)
        return dff_exact_unary(b, e, &x, v);
    if (e->op == DFL_OP_NOT)
        return dff_value_node(v, dff_unary(b, DFF_BOOL, DFF_NOT, dff_truth(b, &x, e->a->loc), e->loc), false);
    enum dff_type type = x.soft ? x.node->type : dff_own_type(&x);
    return dff_value_node(v, dff_unary(b, type, node_op(e->op), dff_as(b, &x, type, e->a->loc), e->loc), x.soft);
}

/* `a && b` and `a || b`: an exact left side decides at once or says nothing. */
static bool logic(struct dff_build *b, const struct dfl_expr *e, const struct dff_value *x, const struct dff_value *y,
                  struct dff_value *v)
{
    if (x->exact && dff_exact_truth(x) == (e->op == DFL_OP_OR))
        return dff_exact_int(v, e->op == DFL_OP_OR);
    const struct dff_node *right = dff_truth(b, y, e->b->loc);
    if (x->exact)
        return dff_value_node(v, right, false);
    return dff_value_node(v, dff_binary(b, DFF_BOOL, node_op(e->op), dff_truth(b, x, e->a->loc), right, e->loc), false);
}

/* A shift has the type of its left side, as in C. The count is taken modulo the width, so its low bits are enough. */
static bool shift(struct dff_build *b, const struct dfl_expr *e, const struct dff_value *x, const struct dff_value *y,
                  struct dff_value *v)
{
    enum dff_type type = dff_gives_way(x) ? dff_common_type(x, y) : dff_own_type(x);
    const struct dff_node *left = dff_as(b, x, type, e->a->loc), *count;
    if (type == DFF_I32 && !y->exact && y->node->type == DFF_I64)
        count = dff_change(b, DFF_WRAP, DFF_I32, DF_I32, y->node, e->b->loc);
    else
        count = dff_as(b, y, type, e->b->loc);
    return dff_value_node(v, dff_binary(b, type, node_op(e->op), left, count, e->loc),
                          dff_gives_way(x) && dff_gives_way(y));
}

struct dff_place dff_place_given(struct dff_build *b, const struct dff_place *place, const struct dff_value *condition,
                                 struct dfl_loc loc, bool wanted)
{
    struct dff_place inner = *place;
    struct dff_given *given = condition->exact ? NULL : dfc_alloc(b->u, sizeof *given);
    if (!given)                         /* it always holds, or never; or there is no memory, which is reported */
        return inner;
    *given = (struct dff_given){ dff_truth(b, condition, loc), wanted, place->given };
    inner.given = given;
    return inner;
}

static bool binary(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v)
{
    struct dff_value x, y;
    bool ok = dff_expr(b, place, e->a, &x);
    struct dff_place right_place = *place;
    if (ok && (e->op == DFL_OP_AND || e->op == DFL_OP_OR))
        right_place = dff_place_given(b, place, &x, e->a->loc, e->op == DFL_OP_AND);
    if (!dff_expr(b, &right_place, e->b, &y) || !ok || !check_integer(b, e, e->a, &x) || !check_integer(b, e, e->b, &y))
        return false;
    if (x.exact && y.exact)
        return dff_exact_binary(b, e, &x, &y, v);
    if (e->op == DFL_OP_AND || e->op == DFL_OP_OR)
        return logic(b, e, &x, &y, v);
    if (e->op == DFL_OP_SHL || e->op == DFL_OP_SHR)
        return shift(b, e, &x, &y, v);
    enum dff_type type = dff_common_type(&x, &y);
    const struct dff_node *left = dff_as(b, &x, type, e->a->loc), *right = dff_as(b, &y, type, e->b->loc);
    bool soft = dff_gives_way(&x) && dff_gives_way(&y) && !compares(e->op);
    return dff_value_node(v, dff_binary(b, compares(e->op) ? DFF_BOOL : type, node_op(e->op), left, right, e->loc), soft);
}

/* ---- the choice ---- */

/* The arms in one type; two truth values stay truth values. */
static bool arms(struct dff_build *b, const struct dfl_expr *at, const struct dff_value *x, const struct dff_value *y,
                 struct dff_value *left, struct dff_value *right)
{
    bool soft = dff_gives_way(x) && dff_gives_way(y);
    enum dff_type type;
    if (!x->exact && !y->exact && x->node->type == y->node->type)
        type = x->node->type;
    else if (x->exact && y->exact)
        type = dff_is_real(x) || dff_is_real(y) ? DFF_F64 : dff_fits(&x->n, DF_I32) && dff_fits(&y->n, DF_I32)
             ? DFF_I32 : DFF_I64;
    else
        type = dff_common_type(x, y);
    bool ok = dff_value_node(left, dff_as(b, x, type, at->loc), soft);
    return dff_value_node(right, dff_as(b, y, type, at->loc), soft) && ok;
}

bool dff_choose_values(struct dff_build *b, const struct dff_value *condition, const struct dfl_expr *at,
                       const struct dff_value *x, const struct dff_value *y, struct dff_value *v)
{
    struct dff_value left, right;
    if (condition->exact && x->exact && y->exact) {
        const struct dff_value *taken = dff_exact_truth(condition) ? x : y;
        return dff_is_real(x) || dff_is_real(y) ? dff_exact_float(b, v, dff_exact_real(taken), at->loc)
                                                : dff_exact_int(v, taken->n.i);
    }
    if (!arms(b, at, x, y, &left, &right))
        return false;
    if (condition->exact) {
        *v = dff_exact_truth(condition) ? left : right;
        return true;
    }
    return dff_value_node(v, dff_choose(b, dff_truth(b, condition, at->loc), left.node, right.node, at->loc),
                          left.soft && (condition->soft || left.node->type == DFF_F64));
}

static bool choice(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v)
{
    struct dff_value condition, x, y;
    struct dff_place then = *place, otherwise = *place;
    bool ok = dff_expr(b, place, e->a, &condition);
    if (ok) {
        then = dff_place_given(b, place, &condition, e->loc, true);
        otherwise = dff_place_given(b, place, &condition, e->loc, false);
    }
    ok &= dff_expr(b, &then, e->b, &x);
    return dff_expr(b, &otherwise, e->args, &y) && ok && dff_choose_values(b, &condition, e, &x, &y, v);
}

/* ---- every kind of expression ---- */

static bool any(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v)
{
    switch (e->kind) {
    case DFL_EXPR_INT: return dff_exact_int(v, e->i);
    case DFL_EXPR_FLOAT: return dff_exact_float(b, v, e->f, e->loc);
    case DFL_EXPR_NAME:
    case DFL_EXPR_INDEX: return dff_name(b, place, e, v);
    case DFL_EXPR_UNARY: return unary(b, place, e, v);
    case DFL_EXPR_BINARY: return binary(b, place, e, v);
    case DFL_EXPR_CALL: return dff_call(b, place, e, v);
    case DFL_EXPR_CHOICE: return choice(b, place, e, v);
    case DFL_EXPR_REDUCE: return dff_reduce(b, place, e, v);
    case DFL_EXPR_STR:
    case DFL_EXPR_QUANTITY: break;      /* the parser takes none in a formula */
    }
    return false;
}

bool dff_expr(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v)
{
    if (!dff_step(b, e->loc))
        return false;
    if (b->depth >= DFF_MAX_DEPTH)
        return dff_too_large(b, e->loc, "with all lets written out they are nested more than 1000 deep");
    b->depth++;
    bool ok = any(b, place, e, v);
    b->depth--;
    return ok;
}
