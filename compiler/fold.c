/* fold.c - what an expression is worth. Names are looked up by what the expression is for; arithmetic is runtime/expr.h's,
 * the same that programs use for scalars over args.
 *
 * The same walk serves three ways: with all values known it gives a number; where a name has a kind but no value yet (a
 * dimension in a declaration) it gives the kind, so that declarations are checked for any value; and where an arg is in it,
 * postfix code that programs run.
 */
#include <math.h>
#include <string.h>

#include "compiler/frontend.h"

static bool fold(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value);

const char *dfc_use_words(enum dfc_use use)
{
    switch (use) {
    case DFC_USE_PARAM: return "the value of a param";
    case DFC_USE_TYPE: return "a type";
    case DFC_USE_PORT: return "the format of a port";
    case DFC_USE_ANNOTATION: return "an annotation";
    case DFC_USE_BOUND: return "a loop's bound";
    case DFC_USE_INDEX: return "an index";
    case DFC_USE_CONDITION: return "a condition";
    case DFC_USE_SCALAR: return "a scalar";
    case DFC_USE_HINT: return "a hint";
    case DFC_USE_COST: return "a cost";
    case DFC_USE_THREADS: return "a number of threads";
    }
    return "an expression";
}

static bool is_structure(enum dfc_use use)
{
    return use == DFC_USE_BOUND || use == DFC_USE_INDEX || use == DFC_USE_CONDITION;
}

/* ---- constants and code ---- */

static struct dfc_value unknown(enum df_kind kind)
{
    return (struct dfc_value){ .n = { .kind = kind, .i = 1, .f = 1.0, .s = "" } };
}

static struct dfc_value integer(int64_t i)
{
    return (struct dfc_value){ .known = true, .n = { .kind = DF_KIND_I64, .i = i } };
}

static struct dfc_value real(double f)
{
    return (struct dfc_value){ .known = true, .n = { .kind = DF_KIND_F64, .f = f } };
}

static unsigned code_words(const struct dfc_value *v)
{
    return v->known ? 2 : v->n_code;
}

static bool put_code(struct dfc_unit *u, uint64_t *to, const struct dfc_value *v)
{
    if (!v->known) {
        memcpy(to, v->code, v->n_code * sizeof *to);
        return true;
    }
    switch (v->n.kind) {
    case DF_KIND_I64:
        to[0] = DF_X_INT;
        to[1] = (uint64_t)v->n.i;
        return true;
    case DF_KIND_F64:
        to[0] = DF_X_FLOAT;
        memcpy(to + 1, &v->n.f, sizeof *to);
        return true;
    case DF_KIND_STR:
        to[0] = DF_X_STR;
        to[1] = df_builder_string(u->builder, v->n.s);
        return to[1] != DF_NONE || dfc_no_memory(u);
    }
    return false;
}

/* Code for `op` over a and b (b NULL: one operand). Where a part has no code (only its kind is known), neither has the
 * whole. */
static bool join_code(struct dfc_unit *u, const struct dfl_expr *e, enum df_x op, const struct dfc_value *a,
                      const struct dfc_value *b, struct dfc_value *value)
{
    unsigned na = code_words(a), nb = b ? code_words(b) : 0;
    if (!na || (b && !nb))
        return true;
    unsigned sa = a->known ? 1 : a->stack, sb = !b ? 0 : 1 + (b->known ? 1 : b->stack);
    value->stack = sa > sb ? sa : sb;
    value->n_code = na + nb + 1;
    if (value->n_code > DFC_MAX_CODE || value->stack > DF_EXPR_STACK) {
        dfl_error(u->sink, e->loc, "expression over args is too long");
        return false;
    }
    uint64_t *code = dfc_alloc(u, value->n_code * sizeof *code);
    if (!code || !put_code(u, code, a) || (b && !put_code(u, code + na, b)))
        return false;
    code[na + nb] = op;
    value->code = code;
    return true;
}

static const char *dynamic_of(const struct dfc_value *a, const struct dfc_value *b)
{
    return a->dynamic ? a->dynamic : b->dynamic;
}

/* ---- operators ---- */

static enum df_x operator_code(enum dfl_op op)
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
    }
    return DF_X_ADD;
}

static bool compares(enum df_x op)
{
    return op >= DF_X_LT && op <= DF_X_NE;
}

/* The unit of the result, in powers of a second. */
static bool fold_units(struct dfc_unit *u, const struct dfl_expr *e, enum df_x op, int a, int b, int *seconds)
{
    *seconds = 0;
    if (!a && !b)
        return true;
    if (op == DF_X_MUL) {
        *seconds = a + b;
        if (*seconds <= 1)
            return true;
        dfl_error(u->sink, e->loc, "a time multiplied by a time is no cost");
    } else if (op == DF_X_DIV) {
        *seconds = a - b;
        if (*seconds >= 0)
            return true;
        dfl_error(u->sink, e->loc, "a number divided by a time is no cost");
    } else if (op == DF_X_ADD || op == DF_X_SUB || op == DF_X_MIN || op == DF_X_MAX || compares(op)) {
        *seconds = compares(op) ? 0 : a;
        if (a == b)
            return true;
        dfl_error(u->sink, e->loc, "a time and a number without a unit do not go together here");
        dfl_hint(u->sink, "write the number as a time: '2us', '0.5ns'");
    } else {
        dfl_error(u->sink, e->loc, "this operation is not for times");
    }
    return false;
}

/* Kinds are checked by working on stand-ins (unknown() is 1), which no operation but a known divisor can fail on. */
static bool fold_operation(struct dfc_unit *u, const struct dfl_expr *e, enum df_x op, const struct dfc_value *a,
                           const struct dfc_value *b, struct dfc_value *value)
{
    struct df_error error;
    struct dfc_value result = { .known = a->known && b->known, .dynamic = dynamic_of(a, b) };
    if (!fold_units(u, e, op, a->seconds, b->seconds, &result.seconds))
        return false;
    struct df_number x = a->n, y = b->n;
    if (!result.known) {
        x = unknown(a->n.kind).n;
        if (op != DF_X_DIV && op != DF_X_MOD)
            y = unknown(b->n.kind).n;
    }
    if (df_number_binary(op, x, y, &result.n, &error) != DF_OK) {
        dfl_error(u->sink, e->loc, "%s", error.text);
        return false;
    }
    if (!result.known) {
        result.n = unknown(result.n.kind).n;
        if (!join_code(u, e, op, a, b, &result))
            return false;
    }
    *value = result;
    return true;
}

static bool fold_unary(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value)
{
    struct dfc_value a;
    struct df_error error;
    enum df_x op = operator_code(e->op);
    if (!fold(u, names, e->a, &a))
        return false;
    struct dfc_value result = { .known = a.known, .dynamic = a.dynamic, .seconds = a.seconds };
    if (op == DF_X_NOT && a.seconds) {
        dfl_error(u->sink, e->loc, "this operation is not for times");
        return false;
    }
    if (df_number_unary(op, a.n, &result.n, &error) != DF_OK) {
        dfl_error(u->sink, e->loc, "%s", error.text);
        return false;
    }
    if (!result.known) {
        result.n = unknown(result.n.kind).n;
        if (!join_code(u, e, op, &a, NULL, &result))
            return false;
    }
    *value = result;
    return true;
}

static bool is_zero(const struct dfc_value *v)
{
    return v->known && ((v->n.kind == DF_KIND_I64 && v->n.i == 0) || (v->n.kind == DF_KIND_F64 && v->n.f == 0));
}

/* `a && b` and `a || b` of constants leave b's value alone where a decides, as in C; b's kind is checked all the same.
 * A left side that decides is a number, so the right one decides nothing: unknown() stands for it. */
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
        dfl_error(u->sink, e->b->loc, "'%s' is for numbers", e->op == DFL_OP_AND ? "&&" : "||");
        return false;
    }
    *value = integer(e->op == DFL_OP_OR);
    value->dynamic = a->dynamic;
    return true;
}

static bool fold_binary(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value)
{
    struct dfc_value a, b;
    if (!fold(u, names, e->a, &a))
        return false;
    bool number = a.known && a.n.kind != DF_KIND_STR && !a.seconds;
    if (number && ((e->op == DFL_OP_AND && is_zero(&a)) || (e->op == DFL_OP_OR && !is_zero(&a))))
        return fold_logic(u, names, e, &a, value);
    return fold(u, names, e->b, &b) && fold_operation(u, e, operator_code(e->op), &a, &b, value);
}

static bool fold_call(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value)
{
    bool is_min = strcmp(e->s, "min") == 0;             /* else max: the parser lets no other through */
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

/* ---- names ---- */

static enum df_kind kind_of(enum dfl_scalar type)
{
    return type == DFL_STRING ? DF_KIND_STR : type == DFL_F32 || type == DFL_F64 ? DF_KIND_F64 : DF_KIND_I64;
}

static bool fold_variable(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, unsigned variable,
                          struct dfc_value *value)
{
    if (is_structure(names->use)) {
        dfl_error(u->sink, e->loc, "dimension '%s' cannot be used in %s", e->s, dfc_use_words(names->use));
        dfl_hint(u->sink, "loops, conditions and indices use params only");
        return false;
    }
    if (!names->dims) {
        *value = unknown(DF_KIND_I64);
        return true;
    }
    if (!names->dims[variable]) {
        dfl_error(u->sink, e->loc, "dimension '%s' of '%s' is not known here: none of its in ports has it", e->s,
                  names->callee->name);
        dfl_hint(u->sink, "annotate the target where '%s' is called", names->callee->name);
        return false;
    }
    *value = integer((int64_t)names->dims[variable]);
    return true;
}

/* Dimensions and scalars of the callee. *found is false where e->s is neither. */
static bool fold_local(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value,
                       bool *found)
{
    const struct dfc_sig *sig = &names->callee->sig;
    *found = true;
    for (unsigned i = 0; i < sig->n_variables; i++)
        if (strcmp(sig->variables[i].name.text, e->s) == 0)
            return fold_variable(u, names, e, i, value);
    for (unsigned i = 0; i < sig->n_scalars; i++) {
        if (strcmp(sig->scalars[i]->name.text, e->s) != 0)
            continue;
        if (names->use != DFC_USE_SCALAR) {
            dfl_error(u->sink, e->loc, "scalar '%s' cannot be used in %s", e->s, dfc_use_words(names->use));
            return false;
        }
        *value = names->scalars ? names->scalars[i] : unknown(kind_of(sig->scalars[i]->type));
        return true;
    }
    *found = false;
    return true;
}

static bool fold_arg(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                     const struct dfc_param *arg, struct dfc_value *value)
{
    if (names->use != DFC_USE_SCALAR) {
        dfl_error(u->sink, e->loc, "arg '%s' cannot be used in %s: it is known only when the program runs", e->s,
                  dfc_use_words(names->use));
        if (!is_structure(names->use) && names->use != DFC_USE_PARAM && names->use != DFC_USE_HINT)
            dfl_hint(u->sink, "a size that is given when the program runs is 'param %s = ... dynamic;'", e->s);
        return false;
    }
    *value = unknown(kind_of(arg->decl->scalar));
    uint64_t *code = dfc_alloc(u, 2 * sizeof *code);
    if (!code)
        return false;
    code[0] = DF_X_ARG;
    code[1] = arg->arg;
    value->code = code;
    value->n_code = 2;
    value->stack = 1;
    return true;
}

static bool fold_param(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                       const struct dfc_param *param, struct dfc_value *value)
{
    if (!param->ready)
        return false; /* reported at its declaration */
    if (param->value.dynamic && is_structure(names->use)) {
        if (strcmp(param->value.dynamic, e->s) == 0)
            dfl_error(u->sink, e->loc, "dynamic param '%s' cannot be used in %s", e->s, dfc_use_words(names->use));
        else
            dfl_error(u->sink, e->loc, "param '%s' depends on the dynamic param '%s' and cannot be used in %s", e->s,
                      param->value.dynamic, dfc_use_words(names->use));
        dfl_hint(u->sink, "a dynamic param may change formats and costs, not the structure of the graph");
        return false;
    }
    *value = param->value;
    if (names->kinds_only)
        *value = unknown(param->value.n.kind);
    return true;
}

/* Says that a name means nothing here, with the closest one that does. */
static void unknown_name(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e)
{
    if (names->callee && names->callee->graph) {
        uint32_t id;
        if (dfc_index_find(&names->callee->streams, e->s, &id)) {
            dfl_error(u->sink, e->loc, "'%s' is a stream: it has no value that could be used in %s", e->s,
                      dfc_use_words(names->use));
            return;
        }
    }
    dfl_error(u->sink, e->loc, "unknown name '%s' in %s", e->s, dfc_use_words(names->use));
    struct dfr_array list = { 0 };
    const char **item;
    for (const struct dfc_env *env = names->env; env; env = env->outer)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = env->name;
    for (unsigned i = 0; names->callee && i < names->callee->sig.n_variables; i++)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = names->callee->sig.variables[i].name.text;
    for (unsigned i = 0; names->callee && i < names->callee->sig.n_scalars; i++)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = names->callee->sig.scalars[i]->name.text;
    for (uint32_t i = 0; i < u->params.names.n; i++)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = dfc_index_names(&u->params)[i];
    if (names->use == DFC_USE_PORT && !(list.n && dfl_suggest(e->s, list.items, list.n)))
        dfl_hint(u->sink, "a dimension variable must stand alone in some port: 'f32[%s]'", e->s);
    else
        dfc_hint_name(u, e->s, list.items, list.n);
    dfr_array_free(&list);
}

static bool fold_name(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value)
{
    for (const struct dfc_env *env = names->env; env; env = env->outer)
        if (strcmp(env->name, e->s) == 0) {
            *value = env->known ? integer(env->value) : unknown(DF_KIND_I64);
            return true;
        }
    bool found = false;
    if (names->callee && !fold_local(u, names, e, value, &found))
        return false;
    if (found)
        return true;
    uint32_t id;
    if (!dfc_index_find(&u->params, e->s, &id)) {
        unknown_name(u, names, e);
        return false;
    }
    const struct dfc_param *param = &dfc_params(u)[id];
    return param->arg != DF_NONE ? fold_arg(u, names, e, param, value) : fold_param(u, names, e, param, value);
}

/* ---- quantities ---- */

static bool fold_quantity(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                          struct dfc_value *value)
{
    enum dfc_unit_kind kind;
    double factor;
    if (!dfc_unit_find(e->s, &kind, &factor)) {
        dfl_error(u->sink, e->loc, "unknown unit '%s'", e->s);
        if (names->use == DFC_USE_COST)
            dfl_hint(u->sink, "units of time are s, ms, us and ns");
        return false;
    }
    double f = e->is_int ? (double)e->i : e->f;
    if (kind == DFC_UNIT_TIME) {
        if (names->use != DFC_USE_COST) {
            dfl_error(u->sink, e->loc, "a time cannot be used in %s", dfc_use_words(names->use));
            return false;
        }
        /* one rounding: 1.2ms is the double nearest to 0.0012 */
        *value = real(factor < 1 ? f / (factor == 1e-3 ? 1e3 : factor == 1e-6 ? 1e6 : 1e9) : f);
        value->seconds = 1;
        return true;
    }
    double bytes = f * factor;
    if (bytes != floor(bytes) || bytes >= 9223372036854775808.0) {
        dfl_error(u->sink, e->loc, "%s", bytes != floor(bytes) ? "not a whole number of bytes"
                                                               : "result does not fit in 64 bits");
        return false;
    }
    *value = integer(e->is_int ? e->i * (int64_t)factor : (int64_t)bytes);
    return true;
}

/* ---- the walk ---- */

static bool fold(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value)
{
    switch (e->kind) {
    case DFL_EXPR_INT:
        *value = names->kinds_only ? unknown(DF_KIND_I64) : integer(e->i);
        return true;
    case DFL_EXPR_FLOAT:
        *value = names->kinds_only ? unknown(DF_KIND_F64) : real(e->f);
        return true;
    case DFL_EXPR_STR:
        *value = (struct dfc_value){ .known = true, .n = { .kind = DF_KIND_STR, .s = e->s } };
        return true;
    case DFL_EXPR_NAME:
        return fold_name(u, names, e, value);
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
    }
    return false;
}

bool dfc_fold(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value)
{
    return fold(u, names, e, value);
}

bool dfc_fold_int(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, int64_t *value, bool *known)
{
    struct dfc_value v;
    if (!fold(u, names, e, &v))
        return false;
    if (v.n.kind != DF_KIND_I64) {
        dfl_error(u->sink, e->loc, "%s is an integer, this is %s", dfc_use_words(names->use),
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
    if (!fold(u, names, e, &v))
        return false;
    if (v.n.kind != DF_KIND_I64) {
        dfl_error(u->sink, e->loc, "a dimension is an integer, this is %s",
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

/* ---- scalars ---- */

static enum df_scalar_type scalar_type(enum dfl_scalar type)
{
    switch (type) {
    case DFL_I32: return DF_S_I32;
    case DFL_I64: return DF_S_I64;
    case DFL_F32: return DF_S_F32;
    case DFL_F64: return DF_S_F64;
    case DFL_STRING: return DF_S_STR;
    }
    return DF_S_I64;
}

bool dfc_convert(struct dfc_unit *u, struct dfl_loc loc, const char *what, enum dfl_scalar type, struct dfc_value *value)
{
    static const char *const kinds[] = { "an integer", "a floating-point number", "a string" };
    enum df_kind want = kind_of(type);
    struct df_error error;
    union df_scalar scalar;
    bool strings = value->n.kind == DF_KIND_STR || want == DF_KIND_STR;
    if ((strings && value->n.kind != want) || (!value->known && want == DF_KIND_I64 && value->n.kind == DF_KIND_F64)) {
        dfl_error(u->sink, loc, "%s is %s, this is %s", what, dfl_scalar_name(type), kinds[value->n.kind]);
        return false;
    }
    if (value->known) {
        if (df_number_to_scalar(value->n, scalar_type(type), &scalar, &error) != DF_OK) {
            dfl_error(u->sink, loc, "%s is %s: %s", what, dfl_scalar_name(type), error.text);
            return false;
        }
        value->n = df_scalar_to_number(scalar, scalar_type(type));
        return true;
    }
    if (want != value->n.kind && value->n_code) { /* an i64 on its way to an f64: times 1.0 */
        const struct dfl_expr here = { .loc = loc };
        const struct dfc_value one = real(1.0), from = *value;
        value->n = unknown(DF_KIND_F64).n;
        return join_code(u, &here, DF_X_MUL, &from, &one, value);
    }
    value->n = unknown(want).n;
    return true;
}
