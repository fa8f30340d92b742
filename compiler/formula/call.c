/* call.c - checks and builds calls of functions and type conversions in formulas, for expr.c, and tells names.c whether
 * a name is a built-in function.
 *
 * A function of exact arguments is evaluated here if its result is the same on every machine: comparisons and the
 * operations that IEEE 754 rounds correctly. Others (exp, sin, …) become nodes of type f64, which adapt their type as
 * their operands would.
 */
#include <math.h>
#include <string.h>

#include "compiler/formula/build.h"

enum family {
    CONVERSION,     /* to .elem */
    LOW_BITS,       /* wrap_…, to .elem */
    SAME,           /* the operand's type: abs */
    MEET,           /* two or more in their common type: min, max */
    CLAMP, SELECT,
    REAL            /* f32 or f64; integers become f32 */
};

static const struct function {
    const char *name;
    enum family family;
    unsigned n_args;                    /* MEET: at least */
    enum dff_op op;
    enum df_elem elem;
} functions[] = {
#define DF_ELEMENT(ID, name, ...) { #name, CONVERSION, 1, 0, DF_##ID },
#include "runtime/elements.def"
    { "wrap_u8", LOW_BITS, 1, 0, DF_U8 },
    { "wrap_u16", LOW_BITS, 1, 0, DF_U16 },
    { "wrap_u32", LOW_BITS, 1, 0, DF_U32 },
    { "wrap_i8", LOW_BITS, 1, 0, DF_I8 },
    { "wrap_i16", LOW_BITS, 1, 0, DF_I16 },
    { "wrap_i32", LOW_BITS, 1, 0, DF_I32 },
    { "abs", SAME, 1, DFF_ABS, 0 },
    { "min", MEET, 2, DFF_MIN, 0 },
    { "max", MEET, 2, DFF_MAX, 0 },
    { "clamp", CLAMP, 3, 0, 0 },
    { "select", SELECT, 3, DFF_CHOOSE, 0 },
    { "floor", REAL, 1, DFF_FLOOR, 0 },
    { "ceil", REAL, 1, DFF_CEIL, 0 },
    { "round", REAL, 1, DFF_ROUND, 0 },
    { "trunc", REAL, 1, DFF_TRUNC, 0 },
    { "sqrt", REAL, 1, DFF_SQRT, 0 },
    { "exp", REAL, 1, DFF_EXP, 0 },
    { "log", REAL, 1, DFF_LOG, 0 },
    { "sin", REAL, 1, DFF_SIN, 0 },
    { "cos", REAL, 1, DFF_COS, 0 },
    { "tan", REAL, 1, DFF_TAN, 0 },
    { "tanh", REAL, 1, DFF_TANH, 0 },
    { "pow", REAL, 2, DFF_POW, 0 },
    { "atan2", REAL, 2, DFF_ATAN2, 0 },
    { "fma", REAL, 3, DFF_FMA, 0 },
};
enum { N_FUNCTIONS = sizeof functions / sizeof functions[0] };

static const struct function *find(const char *name)
{
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

bool dff_is_function(const char *name)
{
    return find(name);
}

/* ---- conversions ---- */

static bool convert_exact(struct dff_build *b, const struct dfl_expr *e, enum df_elem elem, const struct dff_value *x,
                          struct dff_value *v)
{
    if (!df_elem_is_float(elem))
        return dff_value_node(v, dff_int(b, dff_promoted(elem), dff_round_int(&x->n, elem), e->loc), false);
    double f = dff_round_float(dff_exact_real(x), elem);
    if (isfinite(f))
        return dff_value_node(v, dff_float(b, dff_promoted(elem), f, e->loc), false);
    dfl_error(b->u->sink, e->args->loc, "%.9g does not fit in %s", dff_exact_real(x), df_elem_name(elem));
    return false;
}

/* A conversion that can only widen, or round a float as C does, is a CAST; one that saturates is a CONVERT, unless the
 * value is of the type already. */
static bool convert(struct dff_build *b, const struct dfl_expr *e, enum df_elem elem, const struct dff_value *x,
                    struct dff_value *v)
{
    if (x->exact)
        return convert_exact(b, e, elem, x, v);
    const enum dff_type to = dff_promoted(elem), from = x->node->type;
    bool keeps = elem == DF_F32 || elem == DF_F64 || (elem == DF_I64 && from <= DFF_I64) ||
                 (elem == DF_I32 && from <= DFF_I32);
    if (from == to && keeps)
        return dff_value_node(v, x->node, false);
    if (keeps)
        return dff_value_node(v, dff_change(b, DFF_CAST, to, 0, x->node, e->loc), false);
    const struct dff_node *node = from == DFF_BOOL ? dff_as(b, x, DFF_I32, e->loc) : x->node;
    if (node && dff_note_of(b, node)->elems >> elem & 1)
        return dff_value_node(v, node->type == to ? node : dff_change(b, DFF_CAST, to, 0, node, e->loc), false);
    return dff_value_node(v, dff_change(b, DFF_CONVERT, to, elem, node, e->loc), false);
}

static bool low_bits(struct dff_build *b, const struct dfl_expr *e, enum df_elem elem, const struct dff_value *x,
                     struct dff_value *v)
{
    if (dff_is_real(x)) {
        dfl_error(b->u->sink, e->args->loc, "'%s' takes the low bits of an integer, but this is %s", e->s,
                  x->exact ? "a number with a point" : dff_type_name(x->node->type));
        dfl_hint(b->u->sink, "'%s' rounds to the nearest integer", e->s + sizeof "wrap_" - 1);
        return false;
    }
    if (x->exact)
        return dff_value_node(v, dff_int(b, dff_promoted(elem), dff_wrap_int(x->n.i, elem), e->loc), false);
    const struct dff_node *node = dff_as(b, x, dff_own_type(x), e->loc);
    return dff_value_node(v, dff_change(b, DFF_WRAP, dff_promoted(elem), elem, node, e->loc), false);
}

/* ---- functions of values that give way ---- */

static bool exact_absolute(struct dff_build *b, const struct dfl_expr *e, const struct dff_value *x,
                           struct dff_value *v)
{
    if (dff_is_real(x))
        return dff_exact_float(b, v, fabs(x->n.f), e->loc);
    if (x->n.i != INT64_MIN)
        return dff_exact_int(v, x->n.i < 0 ? -x->n.i : x->n.i);
    dfl_error(b->u->sink, e->loc, "result does not fit in 64 bits");
    return false;
}

static bool exact_real(struct dff_build *b, const struct dfl_expr *e, enum dff_op op, const struct dff_value *x,
                       struct dff_value *v)
{
    double f = dff_exact_real(x);
    switch (op) {
    case DFF_FLOOR: return dff_exact_float(b, v, floor(f), e->loc);
    case DFF_CEIL: return dff_exact_float(b, v, ceil(f), e->loc);
    case DFF_ROUND: return dff_exact_float(b, v, round(f), e->loc);
    case DFF_TRUNC: return dff_exact_float(b, v, trunc(f), e->loc);
    case DFF_SQRT: return dff_exact_float(b, v, sqrt(f), e->loc);
    default: return dff_exact_float(b, v, fma(f, dff_exact_real(x + 1), dff_exact_real(x + 2)), e->loc);
    }
}

static bool computed_here(enum dff_op op)
{
    return op == DFF_SQRT || op == DFF_FMA || (op >= DFF_FLOOR && op <= DFF_TRUNC);
}

/* ---- functions ---- */

/* min and max of two; *v may be one of them. */
static bool meet(struct dff_build *b, const struct dfl_expr *e, enum dff_op op, const struct dff_value *x,
                 const struct dff_value *y, struct dff_value *v)
{
    if (x->exact && y->exact) {
        bool real = dff_is_real(x) || dff_is_real(y);
        bool less = real ? dff_exact_real(x) < dff_exact_real(y) : x->n.i < y->n.i;
        bool more = real ? dff_exact_real(x) > dff_exact_real(y) : x->n.i > y->n.i;
        const struct dff_value *taken = (op == DFF_MIN ? less : more) ? x : y;
        return real ? dff_exact_float(b, v, dff_exact_real(taken), e->loc) : dff_exact_int(v, taken->n.i);
    }
    enum dff_type type = dff_common_type(x, y);
    bool soft = dff_gives_way(x) && dff_gives_way(y);
    const struct dff_node *left = dff_as(b, x, type, e->loc), *right = dff_as(b, y, type, e->loc);
    return dff_value_node(v, dff_binary(b, type, op, left, right, e->loc), soft);
}

static bool absolute(struct dff_build *b, const struct dfl_expr *e, const struct dff_value *x, struct dff_value *v)
{
    if (x->exact)
        return exact_absolute(b, e, x, v);
    enum dff_type type = x->soft ? x->node->type : dff_own_type(x);
    return dff_value_node(v, dff_unary(b, type, DFF_ABS, dff_as(b, x, type, e->loc), e->loc), x->soft);
}

/* A function of real numbers: in f64 if an operand is, else in f32. What gives way is computed in f64. */
static bool real(struct dff_build *b, const struct dfl_expr *e, const struct function *f, const struct dff_value *x,
                 struct dff_value *v)
{
    const struct dff_node *args[3];
    enum dff_type type = DFF_F32;
    bool soft = true, exact = true;
    for (unsigned i = 0; i < f->n_args; i++) {
        soft &= dff_gives_way(&x[i]);
        exact &= x[i].exact;
        if (!dff_gives_way(&x[i]) && x[i].node->type == DFF_F64)
            type = DFF_F64;
    }
    if (exact && computed_here(f->op))
        return exact_real(b, e, f->op, x, v);
    if (soft)
        type = DFF_F64;
    for (unsigned i = 0; i < f->n_args; i++)
        if (!(args[i] = dff_as(b, &x[i], type, e->loc)))
            return false;
    return dff_value_node(v, dff_intern(b, &(struct dff_node){ .kind = DFF_OP, .type = type, .op = f->op, .loc = e->loc,
                                                               .n_args = f->n_args, .args = args }), soft);
}

static bool apply(struct dff_build *b, const struct dfl_expr *e, const struct function *f, const struct dff_value *x,
                  unsigned n, struct dff_value *v)
{
    struct dff_value low;
    switch (f->family) {
    case CONVERSION: return convert(b, e, f->elem, x, v);
    case LOW_BITS: return low_bits(b, e, f->elem, x, v);
    case SAME: return absolute(b, e, x, v);
    case MEET:
        *v = x[0];
        for (unsigned i = 1; i < n; i++) {
            low = *v;
            if (!meet(b, e, f->op, &low, &x[i], v))
                return false;
        }
        return true;
    case CLAMP: return meet(b, e, DFF_MAX, &x[0], &x[1], &low) && meet(b, e, DFF_MIN, &low, &x[2], v);
    case SELECT: return dff_choose_values(b, &x[0], e, &x[1], &x[2], v);
    case REAL: return real(b, e, f, x, v);
    }
    return false;
}

/* ---- calls ---- */

/* What other languages call a function. Gives whether it is one. */
static bool hint_foreign(struct dff_build *b, const char *name)
{
    const char *hint = dfl_hint_function(name), *type = dfl_suggest_type(name);
    uint32_t id;
    if (hint)
        dfl_hint(b->u->sink, "%s", hint);
    else if (type)
        dfl_hint(b->u->sink, "a conversion names its type: '%s(x)'", type);
    if (hint || type)
        return true;
    if (!dfc_index_find(&b->u->callees, name, &id))
        return false;
    dfl_hint(b->u->sink, "kernels and graphs are called in a graph; a formula may have a 'let %.60s[i] = ...;'", name);
    return true;
}

static bool unknown(struct dff_build *b, const struct dfl_expr *e)
{
    const char *names[N_FUNCTIONS];
    if (dff_find_let(b, e->s) || dff_find_port(b, e->s) < b->callee->sig.n_ports) {
        dfl_error(b->u->sink, e->loc, "'%s' is a %s and no function", e->s, dff_find_let(b, e->s) ? "let" : "port");
        dfl_hint(b->u->sink, "indices stand in brackets: '%s[...]'", e->s);
        return false;
    }
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        names[i] = functions[i].name;
    dfl_error(b->u->sink, e->loc, "there is no function '%s' in formulas", e->s);
    if (!hint_foreign(b, e->s))
        dfc_hint_name(b->u, e->s, names, N_FUNCTIONS);
    return false;
}

static bool check_count(struct dff_build *b, const struct dfl_expr *e, const struct function *f, unsigned n)
{
    if (f->family == MEET ? n >= f->n_args : n == f->n_args)
        return true;
    dfl_error(b->u->sink, e->loc, "'%s' takes %u value%s%s, but this call has %u", e->s, f->n_args,
              f->n_args == 1 ? "" : "s", f->family == MEET ? " or more" : "", n);
    if (n == 1 && f->family == MEET)
        dfl_hint(b->u->sink, "a reduction has a range: '%s(i in 0..n: v[i])'", e->s);
    return false;
}

bool dff_call(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v)
{
    const struct function *f = find(e->s);
    unsigned n = 0, i = 0;
    if (!f)
        return unknown(b, e);
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        n++;
    if (!check_count(b, e, f, n))
        return false;
    struct dff_value *x = dfc_alloc(b->u, (n + 1) * sizeof *x);
    bool ok = x;
    for (const struct dfl_expr *arg = e->args; arg && x; arg = arg->next, i++)
        ok &= dff_expr(b, place, arg, &x[i]);
    return ok && apply(b, e, f, x, n, v);
}
