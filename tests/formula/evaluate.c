#include "evaluate.h"

#include <math.h>
#include <stdlib.h>

#include "functions.h"

/* ---- reads ---- */

static int64_t modulo(int64_t a, int64_t n)
{
    int64_t rest = a % n;
    return rest < 0 ? rest + n : rest;
}

int64_t border_place(enum border border, int64_t at, int64_t n)
{
    int64_t place;
    switch (border) {
    case B_CLAMP: return at < 0 ? 0 : at >= n ? n - 1 : at;
    case B_WRAP: return modulo(at, n);
    case B_REFLECT: place = modulo(at, 2 * n); return place < n ? place : 2 * n - 1 - place;
    default: /* mirror: the ends are there once */
        if (n == 1)
            return 0;
        place = modulo(at, 2 * n - 2);
        return place < n ? place : 2 * n - 2 - place;
    }
}

static struct number element_at(struct frame *f, const struct oracle_array *array, const char *name, const int64_t *index)
{
    int64_t at = 0;
    for (unsigned d = 0; d < array->rank; d++) {
        if (index[d] < 0 || index[d] >= array->extents[d]) {
            oracle_fail(f->o, "'%s' is read outside: index %u is %lld, and there are %lld", name, d, (long long)index[d],
                        (long long)array->extents[d]);
            return element_convert(array->element, number_of_int(I32, 0));
        }
        at = at * array->extents[d] + index[d];
    }
    return element_load(array->element, array->data, at);
}

static struct number read_port(struct frame *f, const struct node *a)
{
    const struct readable *port = &f->ports[a->number];
    int64_t index[DFL_MAX_RANK];
    if (a->n_args != port->array.rank)
        oracle_fail(f->o, "'%s' has %u dimensions", port->name, port->array.rank);
    for (unsigned d = 0; d < a->n_args; d++)
        index[d] = evaluate(f, a->args[d]).i;
    for (unsigned d = 0; d < a->n_args; d++)
        if (port->border[d] == B_NUMBER && (index[d] < 0 || index[d] >= port->array.extents[d]))
            return port->outside[d];
    for (unsigned d = 0; d < a->n_args; d++)
        if (port->border[d] != B_NONE && port->border[d] != B_NUMBER)
            index[d] = border_place(port->border[d], index[d], port->array.extents[d]);
    return element_at(f, &port->array, port->name, index);
}

static struct number read_table(struct frame *f, const struct node *a)
{
    int64_t index[DFL_MAX_RANK];
    if (a->n_args != a->table->array.rank)
        oracle_fail(f->o, "'%s' has %u dimensions", a->table->decl->name.text, a->table->array.rank);
    for (unsigned d = 0; d < a->n_args; d++)
        index[d] = evaluate(f, a->args[d]).i;
    return element_at(f, &a->table->array, a->table->decl->name.text, index);
}

/* ---- operators and functions ---- */

static struct number unary(struct frame *f, const struct node *a)
{
    struct number value = evaluate(f, a->args[0]);
    if (a->number == DFL_OP_NOT)
        return number_of_int(BOOL, !value.i);
    return a->number == DFL_OP_NEG ? number_negate(value) : number_of_int(value.type, ~value.i);
}

static struct number binary(struct frame *f, const struct node *a)
{
    struct number first = evaluate(f, a->args[0]);
    if ((a->number == DFL_OP_AND && !first.i) || (a->number == DFL_OP_OR && first.i))
        return first;
    struct number second = evaluate(f, a->args[1]);
    return a->number == DFL_OP_AND || a->number == DFL_OP_OR ? second : number_binary(a->number, first, second);
}

static struct number call(struct frame *f, const struct node *a)
{
    struct number x[3];
    for (unsigned i = 0; i < a->n_args; i++)
        x[i] = evaluate(f, a->args[i]);
    switch (a->number) {
    case F_ABS: return number_abs(x[0]);
    case F_MIN: return number_least(x[0], x[1]);
    case F_MAX: return number_greatest(x[0], x[1]);
    case F_CLAMP: return number_least(number_greatest(x[0], x[1]), x[2]);
    case F_FLOOR: return number_of_real(a->type, floor(x[0].f));
    case F_CEIL: return number_of_real(a->type, ceil(x[0].f));
    case F_ROUND: return number_of_real(a->type, round(x[0].f));
    case F_TRUNC: return number_of_real(a->type, trunc(x[0].f));
    case F_SQRT: return number_of_real(a->type, a->type == F32 ? (double)sqrtf((float)x[0].f) : sqrt(x[0].f));
    case F_FMA:
        return number_of_real(a->type, a->type == F32 ? (double)fmaf((float)x[0].f, (float)x[1].f, (float)x[2].f) : fma(x[0].f, x[1].f, x[2].f));
    default: return number_of_real(a->type, function_value(a->number, a->type == F32, x[0].f, x[1].f));
    }
}

/* ---- reductions ---- */

struct partial {          /* of some terms */
    bool any;             /* false: of none */
    struct number value;
    int64_t at;           /* ARGMIN, ARGMAX: where that value is */
};

static bool comes_before(enum reduction op, const struct partial *a, const struct partial *b)
{
    double x = number_real(a->value), y = number_real(b->value);
    if (a->value.type == I64) /* which a double does not hold */
        return a->value.i != b->value.i ? (op == R_ARGMIN) == (a->value.i < b->value.i) : a->at < b->at;
    if (isnan(x) != isnan(y))
        return isnan(y);
    if (isnan(x) || x == y)
        return a->at < b->at;
    return op == R_ARGMIN ? x < y : x > y;
}

static void add(enum reduction op, struct partial *to, struct partial term)
{
    if (!term.any)
        return;
    if (!to->any) {
        *to = term;
        return;
    }
    switch (op) {
    case R_SUM: case R_COUNT: to->value = number_binary(DFL_OP_ADD, to->value, term.value); break;
    case R_PROD: to->value = number_binary(DFL_OP_MUL, to->value, term.value); break;
    case R_MIN: to->value = number_least(to->value, term.value); break;
    case R_MAX: to->value = number_greatest(to->value, term.value); break;
    case R_ANY: to->value.i |= term.value.i; break;
    case R_ALL: to->value.i &= term.value.i; break;
    default:
        if (comes_before(op, &term, to))
            *to = term;
    }
}

static struct partial term_of(struct frame *f, const struct node *a)
{
    if (a->args[1] && !evaluate(f, a->args[1]).i)
        return (struct partial){ .any = false };
    struct number value = a->number == R_COUNT ? number_of_int(I32, 1) : evaluate(f, a->args[0]);
    return (struct partial){ .any = true, .value = value, .at = f->slots[a->ranges[0].slot] };
}

/* From range `r` on, inwards by `step`. */
static void fold(struct frame *f, const struct node *a, int r, int step, struct partial *result)
{
    if (r < 0 || r >= (int)a->n_ranges) {
        add(a->number, result, term_of(f, a));
        return;
    }
    const struct range *range = &a->ranges[r];
    int64_t from = evaluate(f, range->from).i, to = evaluate(f, range->to).i, before = f->slots[range->slot];
    for (int64_t i = from; i < to; i++) {
        f->slots[range->slot] = i;
        fold(f, a, r + step, step, result);
    }
    f->slots[range->slot] = before;     /* an argument of a local function may have a range with the slot of one around it */
}

#define BLOCK 1024
#define N_LANES 16

static struct partial of_lanes(enum reduction op, struct partial *lanes)
{
    for (int apart = N_LANES / 2; apart; apart /= 2)
        for (int l = 0; l < apart; l++)
            add(op, &lanes[l], lanes[l + apart]);
    return lanes[0];
}

static struct partial of_values(enum reduction op, const struct partial *values, int64_t n)
{
    if (n <= 1)
        return n ? values[0] : (struct partial){ .any = false };
    int64_t n_blocks = (n + BLOCK - 1) / BLOCK;
    struct partial *blocks = calloc((size_t)n_blocks, sizeof *blocks), result;
    if (!blocks)
        abort();
    for (int64_t b = 0; b < n_blocks; b++) {
        struct partial lanes[N_LANES] = { 0 };
        for (int64_t t = 0; t < BLOCK && b * BLOCK + t < n; t++)
            add(op, &lanes[t % N_LANES], values[b * BLOCK + t]);
        blocks[b] = of_lanes(op, lanes);
    }
    result = of_values(op, blocks, n_blocks);
    free(blocks);
    return result;
}

static struct partial in_lanes(struct frame *f, const struct node *a, unsigned r)
{
    const struct range *range = &a->ranges[r];
    int64_t from = evaluate(f, range->from).i, to = evaluate(f, range->to).i, n = to > from ? to - from : 0, before = f->slots[range->slot];
    struct partial *values = calloc((size_t)n + 1, sizeof *values), result;
    if (!values)
        abort();
    for (int64_t i = 0; i < n; i++) {
        f->slots[range->slot] = from + i;
        values[i] = r + 1 == a->n_ranges ? term_of(f, a) : in_lanes(f, a, r + 1);
    }
    f->slots[range->slot] = before;
    result = of_values(a->number, values, n);
    free(values);
    return result;
}

static struct number of_nothing(enum reduction op, enum type type)
{
    switch (op) {
    case R_PROD: return number_cast(type, number_of_int(I64, 1));
    case R_MIN: return type_is_real(type) ? number_of_real(type, INFINITY) : number_of_int(type, type == I32 ? INT32_MAX : INT64_MAX);
    case R_MAX: return type_is_real(type) ? number_of_real(type, -INFINITY) : number_of_int(type, type == I32 ? INT32_MIN : INT64_MIN);
    case R_ALL: return number_of_int(BOOL, 1);
    case R_ARGMIN: case R_ARGMAX: return number_of_int(I32, -1);
    default: return number_cast(type, number_of_int(I64, 0));
    }
}

static struct number reduced(struct frame *f, const struct node *a)
{
    struct partial result = { .any = false };
    if (a->order == LANES)
        result = in_lanes(f, a, 0);
    else if (a->order == FIRST_INNERMOST)
        fold(f, a, (int)a->n_ranges - 1, -1, &result);
    else
        fold(f, a, 0, 1, &result);
    if (!result.any)
        return of_nothing(a->number, a->type);
    if (a->number == R_ARGMIN || a->number == R_ARGMAX)
        return number_of_int(I32, result.at);
    return result.value;
}

struct number evaluate(struct frame *f, const struct node *a)
{
    switch (a->kind) {
    case N_CONST: case N_ARG: return a->value;
    case N_SLOT: return number_of_int(I32, f->slots[a->number]);
    case N_DIM: return number_of_int(I32, f->dims[a->number]);
    case N_SCALAR: return f->scalars[a->number];
    case N_READ: return read_port(f, a);
    case N_TABLE: return read_table(f, a);
    case N_UNARY: return unary(f, a);
    case N_BINARY: return binary(f, a);
    case N_CHOICE: return evaluate(f, a->args[evaluate(f, a->args[0]).i ? 1 : 2]);
    case N_CALL: return call(f, a);
    case N_CONVERT: return element_convert(a->number, evaluate(f, a->args[0]));
    case N_WRAP: return element_wrap(a->number, evaluate(f, a->args[0]));
    case N_CAST: return number_cast(a->type, evaluate(f, a->args[0]));
    default: return reduced(f, a);
    }
}
