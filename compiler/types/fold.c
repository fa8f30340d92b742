/* fold.c - constant folding: evaluates expressions outside formulas, for compiler/declare and compiler/elab, and for
 * compiler/formula the values of tables. fold_names.c decides which names an expression may contain. The arithmetic is
 * that of runtime/graph/expr.h, which programs use for scalars that depend on args.
 *
 * One function serves three purposes. If all values are known, it returns a number. If a name has a type but no value
 * yet, such as a dimension in a declaration, it returns the type, so a declaration is checked once for all values. If
 * the expression contains an arg, it returns postfix code, which the program evaluates at run time.
 */
#include <math.h>
#include <string.h>

#include "compiler/types/fold.h"

static bool fold(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value);

/* ---- operators ---- */

static const char *dynamic_of(const struct dfc_value *a, const struct dfc_value *b)
{
    return a->dynamic ? a->dynamic : b->dynamic;
}

enum df_x dfc_operator(enum dfl_op op)
{
    switch (op) {
    case DFL_OP_NEG: return DF_X_NEG;
    case DFL_OP_NOT: return DF_X_NOT;
    case DFL_OP_MUL: return DF_X_MUL;
    case DFL_OP_DIV: return DF_X_DIV;
    case DFL_OP_MOD: return DF_X_MOD;
    case DFL_OP_ADD: return DF_X_ADD;
    case DFL_OP_SUB: return DF_X_SUB;
    case DFL_OP_LT: return DF_X_LT;
    case DFL_OP_LE: return DF_X_LE;
    case DFL_OP_GT: return DF_X_GT;
    case DFL_OP_GE: return DF_X_GE;
    case DFL_OP_EQ: return DF_X_EQ;
    case DFL_OP_NE: return DF_X_NE;
    case DFL_OP_AND: return DF_X_AND;
    case DFL_OP_OR: return DF_X_OR;
    case DFL_OP_BITNOT: case DFL_OP_BITAND: case DFL_OP_BITOR: case DFL_OP_BITXOR: case DFL_OP_SHL: case DFL_OP_SHR:
        break;
    }
    return DF_X_INT;
}

static bool compares(enum df_x op)
{
    return op >= DF_X_LT && op <= DF_X_NE;
}

/* The unit of the result, as a power of a second. */
static bool fold_units(struct dfc_unit *u, const struct dfl_expr *e, enum df_x op, int a, int b, int *seconds)
{
    *seconds = 0;
    if (!a && !b)
        return true;
    if (op == DF_X_MUL) {
        *seconds = a + b;
        if (*seconds <= 1)
            return true;
        dfl_error(u->sink, e->loc, "a time multiplied by a time is not a cost");
    } else if (op == DF_X_DIV) {
        *seconds = a - b;
        if (*seconds >= 0)
            return true;
        dfl_error(u->sink, e->loc, "a number divided by a time is not a cost");
    } else if (op == DF_X_ADD || op == DF_X_SUB || op == DF_X_MIN || op == DF_X_MAX || compares(op)) {
        *seconds = compares(op) ? 0 : a;
        if (a == b)
            return true;
        dfl_error(u->sink, e->loc, "a time and a number without a unit cannot be combined here");
        dfl_hint(u->sink, "write the number as a time: '2us', '0.5ns'");
    } else {
        dfl_error(u->sink, e->loc, "this operation cannot be applied to times");
    }
    return false;
}

/* Kinds are checked by computing with stand-ins (dfc_value_unknown() is 1). Nothing fails on a stand-in; only a divisor
 * that is known to be 0 does. */
static bool fold_operation(struct dfc_unit *u, const struct dfl_expr *e, enum df_x op, const struct dfc_value *a,
                           const struct dfc_value *b, struct dfc_value *value)
{
    struct df_error error;
    struct dfc_value result = { .known = a->known && b->known, .dynamic = dynamic_of(a, b) };
    if (!fold_units(u, e, op, a->seconds, b->seconds, &result.seconds))
        return false;
    struct df_number x = a->n, y = b->n;
    if (!result.known) {
        x = dfc_value_unknown(a->n.kind).n;
        if (op != DF_X_DIV && op != DF_X_MOD)
            y = dfc_value_unknown(b->n.kind).n;
    }
    if (df_number_binary(op, x, y, &result.n, &error) != DF_OK) {
        dfl_error(u->sink, e->loc, "%s", error.text);
        return false;
    }
    if (!result.known) {
        result.n = dfc_value_unknown(result.n.kind).n;
        if (!dfc_value_join(u, e->loc, op, a, b, &result))
            return false;
    }
    *value = result;
    return true;
}

static bool fold_unary(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                       struct dfc_value *value)
{
    struct dfc_value a;
    struct df_error error;
    enum df_x op = dfc_operator(e->op);
    if (!fold(u, names, e->a, &a))
        return false;
    struct dfc_value result = { .known = a.known, .dynamic = a.dynamic, .seconds = a.seconds };
    if (op == DF_X_NOT && a.seconds) {
        dfl_error(u->sink, e->loc, "this operation cannot be applied to times");
        return false;
    }
    if (df_number_unary(op, a.n, &result.n, &error) != DF_OK) {
        dfl_error(u->sink, e->loc, "%s", error.text);
        return false;
    }
    if (!result.known) {
        result.n = dfc_value_unknown(result.n.kind).n;
        if (!dfc_value_join(u, e->loc, op, &a, NULL, &result))
            return false;
    }
    *value = result;
    return true;
}

static bool is_zero(const struct dfc_value *v)
{
    return v->known && ((v->n.kind == DF_KIND_I64 && v->n.i == 0) || (v->n.kind == DF_KIND_F64 && v->n.f == 0));
}

/* `a && b` and `a || b` of constants do not use b's value if a decides, as in C; b's kind is checked all the same. Then
 * b's value changes nothing, so dfc_value_unknown() stands for it. */
static bool fold_logic(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                       const struct dfc_value *a, struct dfc_value *value)
{
    struct dfc_names any = *names;
    struct dfc_value b;
    struct dfc_env unknown_env[DFC_MAX_LOOPS];
    unsigned n = 0;
    for (const struct dfc_env *env = names->env; env && n < DFC_MAX_LOOPS; env = env->outer, n++) {
        unknown_env[n] = *env;
        unknown_env[n].known = false;
        if (n)
            unknown_env[n - 1].outer = &unknown_env[n];
    }
    any.env = n ? unknown_env : NULL;
    any.dims = NULL;
    any.scalars = NULL;
    any.kinds_only = true;
    if (!fold(u, &any, e->b, &b))
        return false;
    if (b.n.kind == DF_KIND_STR || b.seconds) {
        dfl_error(u->sink, e->b->loc, "'%s' takes numbers only", e->op == DFL_OP_AND ? "&&" : "||");
        return false;
    }
    *value = dfc_value_integer(e->op == DFL_OP_OR);
    value->dynamic = a->dynamic;
    return true;
}

static bool fold_binary(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                        struct dfc_value *value)
{
    struct dfc_value a, b;
    if (!fold(u, names, e->a, &a))
        return false;
    bool number = a.known && a.n.kind != DF_KIND_STR && !a.seconds;
    if (number && ((e->op == DFL_OP_AND && is_zero(&a)) || (e->op == DFL_OP_OR && !is_zero(&a))))
        return fold_logic(u, names, e, &a, value);
    return fold(u, names, e->b, &b) && fold_operation(u, e, dfc_operator(e->op), &a, &b, value);
}

static bool fold_call(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                      struct dfc_value *value)
{
    bool is_min = strcmp(e->s, "min") == 0;             /* else it is max: the parser takes no other name */
    if (!e->args || !e->args->next) {
        dfl_error(u->sink, e->loc, "'%s' needs two values or more", e->s);
        return false;
    }
    struct dfc_value best, next;
    if (!fold(u, names, e->args, &best))
        return false;
    for (const struct dfl_expr *arg = e->args->next; arg; arg = arg->next)
        if (!fold(u, names, arg, &next) || !fold_operation(u, e, is_min ? DF_X_MIN : DF_X_MAX, &best, &next, &best))
            return false;
    *value = best;
    return true;
}

/* ---- quantities ---- */

static bool fold_quantity(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                          struct dfc_value *value)
{
    enum dfc_unit_kind kind;
    double factor;
    if (!dfc_unit_find(e->s, &kind, &factor)) {
        dfl_error(u->sink, e->loc, "unknown unit '%s'", e->s);
        static const char *const dynamic[] = { "dynamic" };
        if (names->use == DFC_USE_PARAM && dfl_suggest(e->s, dynamic, 1))
            dfl_hint(u->sink, "did you mean 'dynamic'?");
        else if (names->use == DFC_USE_COST || names->use == DFC_USE_HINT)
            dfl_hint(u->sink, "units of time are s, ms, us and ns");
        else
            dfc_hint_name(u, e->s, dfc_unit_names, dfc_unit_n_names);
        return false;
    }
    double f = e->is_int ? (double)e->i : e->f;
    if (kind == DFC_UNIT_TIME) {
        if (names->use != DFC_USE_COST && names->use != DFC_USE_HINT) {
            dfl_error(u->sink, e->loc, "a time cannot be used in %s", dfc_use_words(names->use));
            return false;
        }
        /* one rounding: 1.2ms is the double nearest to 0.0012 */
        *value = dfc_value_real(factor < 1 ? f / (factor == 1e-3 ? 1e3 : factor == 1e-6 ? 1e6 : 1e9) : f);
        value->seconds = 1;
        return true;
    }
    double bytes = f * factor;
    if (bytes != floor(bytes) || bytes >= 9223372036854775808.0) {
        dfl_error(u->sink, e->loc, "%s", bytes != floor(bytes) ? "not a whole number of bytes"
                                                               : "result does not fit in 64 bits");
        return false;
    }
    *value = dfc_value_integer(e->is_int ? e->i * (int64_t)factor : (int64_t)bytes);
    return true;
}

/* ---- every kind of expression ---- */

/* What the grammar has in formulas alone. */
static bool is_of_formulas(const struct dfl_expr *e)
{
    return e->kind == DFL_EXPR_CHOICE || e->kind == DFL_EXPR_REDUCE ||
           ((e->kind == DFL_EXPR_UNARY || e->kind == DFL_EXPR_BINARY) && e->op >= DFL_OP_BITNOT);
}

/* A stream in a condition: its value is not known before the program runs. */
static bool fold_token(struct dfc_unit *u, const struct dfc_token *token, struct dfc_value *value)
{
    uint64_t *code = dfc_alloc(u, 2 * sizeof *code);
    if (!code)
        return false;
    *value = dfc_value_unknown(token->kind);
    code[0] = DF_X_ARG;
    code[1] = token->arg;
    value->code = code;
    value->n_code = 2;
    value->stack = 1;
    return true;
}

static bool fold(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value)
{
    for (unsigned i = 0; i < names->n_tokens; i++)
        if (names->tokens[i].expr == e)
            return fold_token(u, &names->tokens[i], value);
    if (is_of_formulas(e)) {
        dfl_error(u->sink, e->loc, "this expression is one of formulas: it cannot stand in %s", dfc_use_words(names->use));
        return false;
    }
    switch (e->kind) {
    case DFL_EXPR_INT:
        *value = names->kinds_only ? dfc_value_unknown(DF_KIND_I64) : dfc_value_integer(e->i);
        return true;
    case DFL_EXPR_FLOAT:
        *value = names->kinds_only ? dfc_value_unknown(DF_KIND_F64) : dfc_value_real(e->f);
        return true;
    case DFL_EXPR_STR:
        *value = (struct dfc_value){ .known = true, .n = { .kind = DF_KIND_STR, .s = e->s } };
        return true;
    case DFL_EXPR_NAME:
        return dfc_fold_name(u, names, e, value);
    case DFL_EXPR_INDEX:
        dfl_error(u->sink, e->loc, "'%s[...]' is a stream: it has no value that could be used in %s", e->s,
                  dfc_use_words(names->use));
        return false;
    case DFL_EXPR_QUANTITY:
        return fold_quantity(u, names, e, value);
    case DFL_EXPR_UNARY:
        return fold_unary(u, names, e, value);
    case DFL_EXPR_BINARY:
        return fold_binary(u, names, e, value);
    case DFL_EXPR_CALL:
        return fold_call(u, names, e, value);
    case DFL_EXPR_CHOICE:
    case DFL_EXPR_REDUCE:
        break;
    }
    return false;
}

bool dfc_fold(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value)
{
    return fold(u, names, e, value);
}

bool dfc_fold_int(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, int64_t *value,
                  bool *known)
{
    struct dfc_value v;
    if (!fold(u, names, e, &v))
        return false;
    if (v.n.kind != DF_KIND_I64) {
        dfl_error(u->sink, e->loc, "%s must be an integer, but this is %s", dfc_use_words(names->use),
                  v.n.kind == DF_KIND_STR ? "a string" : "a floating-point number");
        return false;
    }
    *known = v.known;
    *value = v.known ? v.n.i : 0;
    return true;
}

bool dfc_fold_extent(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, uint64_t *value,
                     bool *known)
{
    struct dfc_value v;
    if (dfc_extent_has_bound(e)) {
        dfl_error(u->sink, e->loc, "an extent with a bound cannot stand in %s: it is for 'out' ports, and for 'in' ports of graphs",
                  names->use == DFC_USE_PORT ? "this port" : dfc_use_words(names->use));
        if (names->use == DFC_USE_PORT)
            dfl_hint(u->sink, "what reads such a stream has a dimension variable: its name alone, without '<='");
        else
            dfl_hint(u->sink, "the kernel that decides the extent says it: 'out v: f32[n <= 100]'");
        return false;
    }
    if (!fold(u, names, e, &v))
        return false;
    if (v.n.kind != DF_KIND_I64) {
        dfl_error(u->sink, e->loc, "a dimension must be an integer, but this is %s",
                  v.n.kind == DF_KIND_STR ? "a string" : "a floating-point number");
        return false;
    }
    if (v.known && v.n.i < 1) {
        dfl_error(u->sink, e->loc, "dimension is %lld: it must be at least 1", (long long)v.n.i);
        return false;
    }
    *known = v.known;
    *value = v.known ? (uint64_t)v.n.i : 0;
    return true;
}
