#include "lower.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsl/parse.h"
#include "evaluate.h"
#include "kernel.h"

#define MAX_DEPTH 2000 /* lets inside lets: a let that names itself ends here */

struct definition {
    const char *name;
    struct number value;
    struct definition *next;
};

void oracle_fail(struct oracle *o, const char *format, ...)
{
    if (o->error[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(o->error, sizeof o->error, format, args);
    va_end(args);
}

void *oracle_alloc(struct oracle *o, size_t bytes)
{
    struct piece *piece = calloc(1, sizeof *piece + bytes);
    if (!piece)
        abort();
    piece->next = o->pieces;
    o->pieces = piece;
    return piece->bytes;
}

bool oracle_define(struct oracle *o, const char *name, struct number value)
{
    for (const struct dfl_decl *d = o->file->decls; d; d = d->next)
        if ((d->kind == DFL_PARAM || d->kind == DFL_ARG) && strcmp(d->name.text, name) == 0) {
            struct definition *made = oracle_alloc(o, sizeof *made);
            *made = (struct definition){ .name = d->name.text, .value = value, .next = o->definitions };
            o->definitions = made;
            return true;
        }
    return false;
}

/* ---- nodes ---- */

struct node *lower_new(const struct kernel *k, enum node_kind kind, enum type type)
{
    struct node *made = oracle_alloc(k->o, sizeof *made);
    made->kind = kind;
    made->type = type;
    return made;
}

static struct node *constant(const struct kernel *k, struct number value)
{
    struct node *made = lower_new(k, N_CONST, value.type);
    made->value = value;
    return made;
}

static struct node *with_args(const struct kernel *k, enum node_kind kind, unsigned number, enum type type, unsigned n, struct node *const *args)
{
    struct node *made = lower_new(k, kind, type);
    made->number = number;
    made->n_args = n;
    memcpy(made->args, args, n * sizeof *args);
    return made;
}

/* Of constants alone: its value now, so that it stays exact. */
static struct node *folded(const struct kernel *k, struct node *made)
{
    for (unsigned a = 0; a < made->n_args; a++)
        if (made->args[a]->kind != N_CONST)
            return made;
    struct frame frame = { .o = k->o };
    struct number value = evaluate(&frame, made);
    value.type = made->type;
    return constant(k, value);
}

static bool is_exact(enum type type)
{
    return type == EXACT_INT || type == EXACT_REAL;
}

struct node *lower_as(const struct kernel *k, enum type type, struct node *a)
{
    if (a->type == type)
        return a;
    if (a->kind == N_CONST) {
        struct number value = number_cast(type, a->value);
        if ((type == I32 && is_exact(a->type) && value.i != a->value.i) || (type_is_real(type) && isinf(value.f) && !isinf(number_real(a->value))))
            oracle_fail(k->o, "a constant does not fit");
        return constant(k, value);
    }
    return with_args(k, N_CAST, 0, type, 1, &a);
}

/* What stands beside nothing that has a type. */
static struct node *settled(const struct kernel *k, struct node *a)
{
    if (a->type == EXACT_INT)
        return lower_as(k, a->value.i == (int32_t)a->value.i ? I32 : I64, a);
    return a->type == EXACT_REAL ? lower_as(k, F32, a) : a;
}

static enum type common(enum type a, enum type b)
{
    if (is_exact(a) && is_exact(b))
        return a == b ? a : EXACT_REAL;
    if (is_exact(b)) {
        enum type swap = a;
        a = b;
        b = swap;
    }
    if (b == BOOL)
        b = I32;
    if (a == EXACT_INT)
        return b;
    if (a == EXACT_REAL)
        return type_is_real(b) ? b : F32;
    if (a == BOOL)
        a = I32;
    return a > b ? a : b; /* I32 < I64 < F32 < F64 */
}

static void make_common(const struct kernel *k, struct node **a, struct node **b)
{
    enum type type = common((*a)->type, (*b)->type);
    *a = lower_as(k, type, *a);
    *b = lower_as(k, type, *b);
}

/* ---- operators ---- */

static bool is_comparison(enum dfl_op op)
{
    return op >= DFL_OP_LT && op <= DFL_OP_NE;
}

static struct node *shift(const struct kernel *k, enum dfl_op op, struct node *a, struct node *b)
{
    if (is_exact(a->type) && !is_exact(b->type))
        make_common(k, &a, &b);
    else if (a->type == BOOL)
        a = lower_as(k, I32, a);
    if (type_is_real(a->type) || type_is_real(b->type))
        oracle_fail(k->o, "a shift of a float");
    return folded(k, with_args(k, N_BINARY, op, a->type, 2, (struct node *[]){ a, b }));
}

static struct node *binary(const struct kernel *k, enum dfl_op op, struct node *a, struct node *b)
{
    if (op == DFL_OP_AND || op == DFL_OP_OR)
        return folded(k, with_args(k, N_BINARY, op, BOOL, 2, (struct node *[]){ lower_as(k, BOOL, a), lower_as(k, BOOL, b) }));
    if (op == DFL_OP_SHL || op == DFL_OP_SHR)
        return shift(k, op, a, b);
    make_common(k, &a, &b);
    if (type_is_real(a->type) && (op == DFL_OP_MOD || (op >= DFL_OP_BITNOT && op <= DFL_OP_BITXOR)))
        oracle_fail(k->o, "'%s' of a float", dfl_op_name(op));
    return folded(k, with_args(k, N_BINARY, op, is_comparison(op) ? BOOL : a->type, 2, (struct node *[]){ a, b }));
}

static struct node *unary(const struct kernel *k, enum dfl_op op, struct node *a)
{
    if (op == DFL_OP_NOT)
        a = lower_as(k, BOOL, a);
    else if (a->type == BOOL)
        a = lower_as(k, I32, a);
    if (op == DFL_OP_BITNOT && type_is_real(a->type))
        oracle_fail(k->o, "'~' of a float");
    return folded(k, with_args(k, N_UNARY, op, a->type, 1, &a));
}

static struct node *choice(const struct kernel *k, struct node *condition, struct node *a, struct node *b)
{
    condition = lower_as(k, BOOL, condition);
    if (a->type != b->type)
        make_common(k, &a, &b);
    if (condition->kind == N_CONST)
        return condition->value.i ? a : b;
    a = settled(k, a);
    b = settled(k, b);
    if (a->type != b->type)
        make_common(k, &a, &b);
    return with_args(k, N_CHOICE, 0, a->type, 3, (struct node *[]){ condition, a, b });
}

/* ---- functions ---- */

static const struct {
    const char *name;
    unsigned n_args;
    bool of_integers; /* too; others make floats of them */
} functions[N_FUNCTIONS] = {
    [F_ABS] = { "abs", 1, true },     [F_MIN] = { "min", 2, true },     [F_MAX] = { "max", 2, true },   [F_CLAMP] = { "clamp", 3, true },
    [F_SQRT] = { "sqrt", 1, false },  [F_EXP] = { "exp", 1, false },    [F_LOG] = { "log", 1, false },  [F_POW] = { "pow", 2, false },
    [F_SIN] = { "sin", 1, false },    [F_COS] = { "cos", 1, false },    [F_TAN] = { "tan", 1, false },  [F_ATAN2] = { "atan2", 2, false },
    [F_TANH] = { "tanh", 1, false },  [F_FLOOR] = { "floor", 1, false }, [F_CEIL] = { "ceil", 1, false }, [F_ROUND] = { "round", 1, false },
    [F_TRUNC] = { "trunc", 1, false }, [F_FMA] = { "fma", 3, false },   [F_SELECT] = { "select", 3, true }
};

static struct node *function(const struct kernel *k, enum function f, struct node **args)
{
    unsigned n = functions[f].n_args;
    if (f == F_SELECT)
        return choice(k, args[0], args[1], args[2]);
    enum type type = functions[f].of_integers ? args[0]->type : common(args[0]->type, EXACT_REAL);
    for (unsigned a = 1; a < n; a++)
        type = common(type, args[a]->type);
    if (type == BOOL)
        type = I32;
    for (unsigned a = 0; a < n; a++)
        args[a] = lower_as(k, type, args[a]);
    return folded(k, with_args(k, N_CALL, f, type, n, args));
}

static struct node *conversion(const struct kernel *k, enum node_kind kind, enum element element, struct node *a)
{
    if (kind == N_WRAP && type_is_real(a->type))
        oracle_fail(k->o, "the low bits of a float");
    return folded(k, with_args(k, kind, element, element_type(element), 1, &a));
}

static struct node *call(const struct kernel *k, const struct dfl_expr *e, const struct scope *scope, unsigned slots)
{
    struct node *args[4];
    unsigned n = 0;
    for (const struct dfl_expr *a = e->args; a && n < 4; a = a->next)
        args[n++] = lower(k, a, scope, slots);
    enum element element;
    if (n == 1 && element_named(e->s, &element))
        return conversion(k, N_CONVERT, element, args[0]);
    if (n == 1 && strncmp(e->s, "wrap_", 5) == 0 && element_named(e->s + 5, &element))
        return conversion(k, N_WRAP, element, args[0]);
    for (unsigned f = 0; f < N_FUNCTIONS; f++)
        if (strcmp(e->s, functions[f].name) == 0 && functions[f].n_args == n)
            return function(k, (enum function)f, args);
    oracle_fail(k->o, "no function '%s' of %u arguments", e->s, n);
    return constant(k, number_of_int(I32, 0));
}

/* ---- reductions ---- */

struct holds {
    bool slot, own, size;
};

static void find_held(const struct node *a, unsigned first_own, struct holds *holds)
{
    if (a->kind == N_SLOT) {
        holds->slot = true;
        holds->own |= a->number >= first_own;
    }
    holds->size |= a->kind == N_DIM || a->kind == N_SCALAR || a->kind == N_ARG;
    for (unsigned i = 0; i < a->n_args; i++)
        find_held(a->args[i], first_own, holds);
}

static enum order order_of(const struct node *reduce, unsigned first_own)
{
    struct holds holds = { 0 };
    for (unsigned r = 0; r < reduce->n_ranges; r++) {
        find_held(reduce->ranges[r].from, first_own, &holds);
        find_held(reduce->ranges[r].to, first_own, &holds);
    }
    if (holds.own)
        return LAST_INNERMOST;
    return holds.slot || !holds.size ? FIRST_INNERMOST : LANES;
}

static const char *const reductions[N_REDUCTIONS] = { "sum", "prod", "min", "max", "any", "all", "count", "argmin", "argmax" };

static enum reduction reduction_named(const struct kernel *k, const char *name)
{
    for (unsigned r = 0; r < N_REDUCTIONS; r++)
        if (strcmp(name, reductions[r]) == 0)
            return (enum reduction)r;
    oracle_fail(k->o, "no reduction '%s'", name);
    return R_SUM;
}

static struct node *body_of(const struct kernel *k, enum reduction op, struct node *body)
{
    if (op == R_ANY || op == R_ALL)
        return lower_as(k, BOOL, body);
    body = settled(k, body);
    return body->type == BOOL ? lower_as(k, I32, body) : body;
}

static struct node *reduce(const struct kernel *k, const struct dfl_expr *e, const struct scope *scope, unsigned slots)
{
    struct node *made = lower_new(k, N_REDUCE, I32);
    unsigned first_own = slots;
    made->number = reduction_named(k, e->s);
    made->ranges = oracle_alloc(k->o, MAX_RANGES * sizeof *made->ranges);
    for (const struct dfl_range *r = e->ranges; r && made->n_ranges < MAX_RANGES && slots < MAX_SLOTS; r = r->next) {
        struct node *slot = lower_new(k, N_SLOT, I32);
        struct scope *inner = oracle_alloc(k->o, sizeof *inner);
        slot->number = slots;
        made->ranges[made->n_ranges++] =
            (struct range){ slots, settled(k, lower(k, r->from, scope, slots)), settled(k, lower(k, r->to, scope, slots)) };
        *inner = (struct scope){ .name = r->name.text, .node = slot, .outer = scope };
        scope = inner;
        slots++;
    }
    if (slots == MAX_SLOTS)
        oracle_fail(k->o, "too many ranges");
    made->order = order_of(made, first_own);
    if (e->b)
        made->args[1] = lower_as(k, BOOL, lower(k, e->b, scope, slots));
    if (e->a) {
        made->args[0] = body_of(k, made->number, lower(k, e->a, scope, slots));
        made->type = made->number == R_ANY || made->number == R_ALL ? BOOL : made->number >= R_COUNT ? I32 : made->args[0]->type;
    }
    return made;
}

/* ---- names ---- */

static const struct dfl_formula *let_named(const struct kernel *k, const char *name)
{
    for (const struct dfl_formula *f = k->formulas; f; f = f->next)
        if (f->is_let && strcmp(f->name.text, name) == 0)
            return f;
    return NULL;
}

/* A let sees what its user sees; its own names come in front of those. */
static struct node *expanded(const struct kernel *k, const struct dfl_formula *let, const struct dfl_expr *args, const struct scope *scope,
                             unsigned slots)
{
    const struct scope *inside = scope;
    for (const struct dfl_expr *name = let->indices; name; name = name->next, args = args ? args->next : NULL) {
        if (!args) {
            oracle_fail(k->o, "let '%s' has more indices", let->name.text);
            break;
        }
        struct scope *made = oracle_alloc(k->o, sizeof *made);
        *made = (struct scope){ .name = name->s, .node = lower(k, args, scope, slots), .outer = inside };
        inside = made;
    }
    if (++k->o->depth > MAX_DEPTH) {
        oracle_fail(k->o, "let '%s' goes too deep", let->name.text);
        return constant(k, number_of_int(I32, 0));
    }
    struct node *value = lower(k, let->value, inside, slots);
    k->o->depth--;
    return value;
}

static const struct dfl_decl *decl_named(const struct oracle *o, const char *name)
{
    for (const struct dfl_decl *d = o->file->decls; d; d = d->next)
        if ((d->kind == DFL_PARAM || d->kind == DFL_ARG || d->kind == DFL_TABLE) && strcmp(d->name.text, name) == 0)
            return d;
    return NULL;
}

static struct number value_of(const struct kernel *k, const struct dfl_decl *d)
{
    for (const struct definition *made = k->o->definitions; made; made = made->next)
        if (strcmp(made->name, d->name.text) == 0)
            return made->value;
    static const enum type types[] = { I32, I64, F32, F64, BOOL };
    const struct kernel outside = { .o = k->o };
    struct node *node = d->value ? lower(&outside, d->value, NULL, 0) : constant(k, number_of_int(EXACT_INT, 0));
    if (node->kind != N_CONST || !d->value)
        oracle_fail(k->o, "'%s' has no value", d->name.text);
    return d->kind == DFL_ARG ? lower_as(k, types[d->scalar], node)->value : node->value;
}

static const struct table *table_of(const struct kernel *k, const struct dfl_decl *d)
{
    for (const struct table *t = k->o->tables; t; t = t->next)
        if (t->decl == d)
            return t;
    struct table *made = oracle_alloc(k->o, sizeof *made);
    const struct kernel outside = { .o = k->o };
    struct oracle_array *array = &made->array;
    int64_t n = 1, at = 0;
    made->decl = d;
    if (!element_named(d->format->name.text, &array->element))
        oracle_fail(k->o, "table '%s' has no elements", d->name.text);
    for (const struct dfl_expr *dim = d->format->dims; dim; dim = dim->next)
        n *= array->extents[array->rank++] = lower(&outside, dim, NULL, 0)->value.i;
    array->data = oracle_alloc(k->o, (size_t)n * element_bytes(array->element));
    for (const struct dfl_expr *e = d->value; e && at < n; e = e->next)
        element_store(array->element, array->data, at++, element_convert(array->element, lower(&outside, e, NULL, 0)->value));
    if (at < n)
        oracle_fail(k->o, "table '%s' has too few numbers", d->name.text);
    made->next = k->o->tables;
    k->o->tables = made;
    return made;
}

static struct node *indexed(const struct kernel *k, struct node *made, const struct dfl_expr *args, const struct scope *scope, unsigned slots)
{
    for (; args && made->n_args < 4; args = args->next) {
        struct node *index = settled(k, lower(k, args, scope, slots));
        if (type_is_real(index->type))
            oracle_fail(k->o, "an index that is a float");
        made->args[made->n_args++] = index;
    }
    return made;
}

static struct node *of_signature(const struct kernel *k, const char *name, const struct dfl_expr *args, const struct scope *scope, unsigned slots)
{
    static const enum type types[] = { I32, I64, F32, F64, BOOL };
    unsigned number = 0;
    enum element element = E_I32; /* of a port that cannot be read */
    for (const struct dfl_port *p = k->sig->ports; p; p = p->next, number++)
        if (strcmp(p->name.text, name) == 0) {
            if (p->mode == DFL_OUT || !element_named(p->format->name.text, &element))
                oracle_fail(k->o, "port '%s' cannot be read", name);
            struct node *made = lower_new(k, N_READ, element_type(element));
            made->number = number;
            return indexed(k, made, args, scope, slots);
        }
    number = 0;
    for (const struct dfl_scalar_decl *s = k->sig->scalars; s; s = s->next, number++)
        if (strcmp(s->name.text, name) == 0) {
            struct node *made = lower_new(k, N_SCALAR, types[s->type]);
            made->number = number;
            return made;
        }
    for (number = 0; number < k->n_dims; number++)
        if (strcmp(k->dims[number], name) == 0) {
            struct node *made = lower_new(k, N_DIM, I32);
            made->number = number;
            return made;
        }
    return NULL;
}

static struct node *named(const struct kernel *k, const char *name, const struct dfl_expr *args, const struct scope *scope, unsigned slots)
{
    for (const struct scope *s = scope; s; s = s->outer)
        if (strcmp(s->name, name) == 0)
            return s->node;
    const struct dfl_formula *let = let_named(k, name);
    if (let)
        return expanded(k, let, args, scope, slots);
    struct node *found = k->sig ? of_signature(k, name, args, scope, slots) : NULL;
    if (found)
        return found;
    const struct dfl_decl *d = decl_named(k->o, name);
    if (d && d->kind == DFL_TABLE) {
        const struct table *table = table_of(k, d);
        struct node *made = lower_new(k, N_TABLE, element_type(table->array.element));
        made->table = table;
        return indexed(k, made, args, scope, slots);
    }
    if (d) {
        struct node *made = constant(k, value_of(k, d));
        made->kind = d->kind == DFL_ARG ? N_ARG : N_CONST;
        return made;
    }
    oracle_fail(k->o, "nothing is named '%s'", name);
    return constant(k, number_of_int(I32, 0));
}

struct kernel kernel_of(struct oracle *o, const struct dfl_sig *sig, const struct dfl_formula *formulas)
{
    struct kernel k = { .o = o, .sig = sig, .formulas = formulas };
    if (sig)
        k.n_dims = oracle_dims(sig, k.dims);
    return k;
}

struct node *lower(const struct kernel *k, const struct dfl_expr *e, const struct scope *scope, unsigned slots)
{
    struct node *a, *b;
    switch (e->kind) {
    case DFL_EXPR_INT: return constant(k, number_of_int(EXACT_INT, e->i));
    case DFL_EXPR_FLOAT: return constant(k, number_of_real(EXACT_REAL, e->f));
    case DFL_EXPR_NAME: return named(k, e->s, NULL, scope, slots);
    case DFL_EXPR_INDEX: return named(k, e->s, e->args, scope, slots);
    case DFL_EXPR_UNARY: return unary(k, e->op, lower(k, e->a, scope, slots));
    case DFL_EXPR_BINARY:
        a = lower(k, e->a, scope, slots);
        b = lower(k, e->b, scope, slots);
        return binary(k, e->op, a, b);
    case DFL_EXPR_CALL: return call(k, e, scope, slots);
    case DFL_EXPR_CHOICE:
        a = lower(k, e->b, scope, slots);
        b = lower(k, e->args, scope, slots);
        return choice(k, lower(k, e->a, scope, slots), a, b);
    case DFL_EXPR_REDUCE: return reduce(k, e, scope, slots);
    default: oracle_fail(k->o, "an expression that formulas do not have"); return constant(k, number_of_int(I32, 0));
    }
}
