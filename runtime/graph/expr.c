/* expr.c - evaluates and compiles expressions of the language (expr.h), with their arithmetic and their postfix code. The compiler uses it to fold constants
 * and formulas; runs evaluate scalars, extents and work keys with it (scalars.c, extents/, work_key.c).
 *
 * Inside this file an error is a static message. A failed operand stays on the stack with its message, and `&&` and `||` discard it if the left side
 * decides. So `n != 0 && 10 / n > 1` has the semantics of C's short circuit, without jumps.
 */
#include "runtime/graph/expr.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

static const char too_big[] = "result does not fit in 64 bits";

static struct df_number from_int(int64_t i)
{
    return (struct df_number){ .kind = DF_KIND_I64, .i = i };
}

static struct df_number from_float(double f)
{
    return (struct df_number){ .kind = DF_KIND_F64, .f = f };
}

static double as_float(struct df_number n)
{
    return n.kind == DF_KIND_F64 ? n.f : (double)n.i;
}

static bool is_true(struct df_number n)
{
    return n.kind == DF_KIND_F64 ? n.f != 0 : n.i != 0;
}

/* ---- operators: NULL or a sentence ---- */

static const char *unary(enum df_x op, struct df_number a, struct df_number *result)
{
    if (a.kind == DF_KIND_STR)
        return "a string is not a number";
    if (op == DF_X_NOT) {
        *result = from_int(!is_true(a));
    } else if (a.kind == DF_KIND_F64) {
        *result = from_float(-a.f);
    } else {
        if (a.i == INT64_MIN)
            return too_big;
        *result = from_int(-a.i);
    }
    return NULL;
}

static const char *binary_int(enum df_x op, int64_t a, int64_t b, struct df_number *result)
{
    int64_t r = 0;
    bool overflow = false;
    switch (op) {
    case DF_X_MUL: overflow = __builtin_mul_overflow(a, b, &r); break;
    case DF_X_ADD: overflow = __builtin_add_overflow(a, b, &r); break;
    case DF_X_SUB: overflow = __builtin_sub_overflow(a, b, &r); break;
    case DF_X_DIV:
    case DF_X_MOD:
        if (b == 0)
            return "division by zero";
        if (b == -1) {                  /* INT64_MIN / -1 traps, and so does its remainder, which is 0 */
            if (op == DF_X_DIV)
                overflow = __builtin_sub_overflow((int64_t)0, a, &r);
            break;
        }
        r = op == DF_X_DIV ? a / b : a % b;
        break;
    case DF_X_LT: r = a < b; break;
    case DF_X_LE: r = a <= b; break;
    case DF_X_GT: r = a > b; break;
    case DF_X_GE: r = a >= b; break;
    case DF_X_EQ: r = a == b; break;
    case DF_X_NE: r = a != b; break;
    case DF_X_AND: r = a && b; break;
    case DF_X_OR: r = a || b; break;
    case DF_X_MIN: r = a < b ? a : b; break;
    case DF_X_MAX: r = a > b ? a : b; break;
    default: return "no such operator";
    }
    if (overflow)
        return too_big;
    *result = from_int(r);
    return NULL;
}

static const char *binary_float(enum df_x op, double a, double b, struct df_number *result)
{
    switch (op) {
    case DF_X_MUL: *result = from_float(a * b); break;
    case DF_X_ADD: *result = from_float(a + b); break;
    case DF_X_SUB: *result = from_float(a - b); break;
    case DF_X_DIV: *result = from_float(a / b); break;
    case DF_X_MOD: *result = from_float(fmod(a, b)); break;
    case DF_X_MIN: *result = from_float(fmin(a, b)); break;
    case DF_X_MAX: *result = from_float(fmax(a, b)); break;
    case DF_X_LT: *result = from_int(a < b); break;
    case DF_X_LE: *result = from_int(a <= b); break;
    case DF_X_GT: *result = from_int(a > b); break;
    case DF_X_GE: *result = from_int(a >= b); break;
    case DF_X_EQ: *result = from_int(a == b); break;
    case DF_X_NE: *result = from_int(a != b); break;
    case DF_X_AND: *result = from_int(a != 0 && b != 0); break;
    case DF_X_OR: *result = from_int(a != 0 || b != 0); break;
    default: return "no such operator";
    }
    return NULL;
}

static const char *binary(enum df_x op, struct df_number a, struct df_number b, struct df_number *result)
{
    if (a.kind == DF_KIND_STR && b.kind == DF_KIND_STR) {
        if (op != DF_X_EQ && op != DF_X_NE)
            return "strings compare with == and != only";
        *result = from_int((strcmp(a.s, b.s) == 0) == (op == DF_X_EQ));
        return NULL;
    }
    if (a.kind == DF_KIND_STR || b.kind == DF_KIND_STR)
        return "a string and a number do not go together";
    if (a.kind == DF_KIND_I64 && b.kind == DF_KIND_I64)
        return binary_int(op, a.i, b.i, result);
    return binary_float(op, as_float(a), as_float(b), result);
}

int df_number_unary(enum df_x op, struct df_number a, struct df_number *result, struct df_error *error)
{
    const char *why = op == DF_X_NEG || op == DF_X_NOT ? unary(op, a, result) : "no such operator";
    return why ? dfr_error(error, DF_E_ARGUMENT, "%s", why) : DF_OK;
}

int df_number_binary(enum df_x op, struct df_number a, struct df_number b, struct df_number *result,
                     struct df_error *error)
{
    const char *why = binary(op, a, b, result);
    return why ? dfr_error(error, DF_E_ARGUMENT, "%s", why) : DF_OK;
}

/* ---- scalars ---- */

/* The shortest digits that read back as the same number. */
static const char *real_text(char text[40], double f)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 40, "%.*g", digits, f);
        if (strtod(text, NULL) == f)
            break;
    }
    return text;
}

static int to_int(struct df_number n, int64_t low, int64_t high, int bits, int64_t *result, struct df_error *error)
{
    char text[40];
    if (n.kind == DF_KIND_F64) {
        if (n.f != n.f || n.f - n.f != 0 || floor(n.f) != n.f)
            return dfr_error(error, DF_E_ARGUMENT, "%s is not an integer", real_text(text, n.f));
        if (n.f < -0x1p63 || n.f >= 0x1p63)
            return dfr_error(error, DF_E_ARGUMENT, "%s does not fit in i%d", real_text(text, n.f), bits);
        n = from_int((int64_t)n.f);
    }
    if (n.i < low || n.i > high)
        return dfr_error(error, DF_E_ARGUMENT, "%lld does not fit in i%d", (long long)n.i, bits);
    *result = n.i;
    return DF_OK;
}

int df_number_to_scalar(struct df_number n, enum df_scalar_type type, union df_scalar *scalar, struct df_error *error)
{
    if ((n.kind == DF_KIND_STR) != (type == DF_S_STR))
        return dfr_error(error, DF_E_ARGUMENT,
                         type == DF_S_STR ? "a number is not a string" : "a string is not a number");
    int64_t i;
    int rc = DF_OK;
    switch (type) {
    case DF_S_I32:
        if ((rc = to_int(n, INT32_MIN, INT32_MAX, 32, &i, error)) == DF_OK)
            scalar->i32 = (int32_t)i;
        return rc;
    case DF_S_I64:
        if ((rc = to_int(n, INT64_MIN, INT64_MAX, 64, &i, error)) == DF_OK)
            scalar->i64 = i;
        return rc;
    case DF_S_F32: {
        double f = as_float(n);
        char text[40];
        if (isfinite(f) && !isfinite((float)f))
            return dfr_error(error, DF_E_ARGUMENT, "%s does not fit in f32", real_text(text, f));
        scalar->f32 = (float)f;
        return DF_OK;
    }
    case DF_S_F64: scalar->f64 = as_float(n); return DF_OK;
    case DF_S_STR: scalar->str = n.s; return DF_OK;
    }
    return dfr_error(error, DF_E_ARGUMENT, "no such scalar type");
}

struct df_number df_scalar_to_number(union df_scalar scalar, enum df_scalar_type type)
{
    switch (type) {
    case DF_S_I32: return from_int(scalar.i32);
    case DF_S_I64: return from_int(scalar.i64);
    case DF_S_F32: return from_float(scalar.f32);
    case DF_S_F64: return from_float(scalar.f64);
    case DF_S_STR: break;
    }
    return (struct df_number){ .kind = DF_KIND_STR, .s = scalar.str };
}

/* ---- code ---- */

struct entry {
    struct df_number number;
    const char *why;                    /* NULL: the number is good */
};

static bool has_operand(enum df_x op)
{
    return op == DF_X_INT || op == DF_X_FLOAT || op == DF_X_STR || op == DF_X_ARG;
}

static bool is_unary(enum df_x op)
{
    return op == DF_X_NEG || op == DF_X_NOT;
}

bool df_expr_check(const uint64_t *code, unsigned n_code, uint64_t n_string_bytes, unsigned n_args)
{
    unsigned depth = 0;
    for (unsigned i = 0; i < n_code; i++) {
        if (code[i] > DF_X_MAX)
            return false;
        enum df_x op = (enum df_x)code[i];
        if (has_operand(op)) {
            if (++i == n_code || depth++ == DF_EXPR_STACK)
                return false;
            if ((op == DF_X_STR && code[i] >= n_string_bytes) || (op == DF_X_ARG && code[i] >= n_args))
                return false;
        } else if (is_unary(op)) {
            if (depth < 1)
                return false;
        } else if (depth-- < 2) {
            return false;
        }
    }
    return depth == 1;
}

static struct df_number operand(enum df_x op, uint64_t word, const char *strings, const struct df_number *args)
{
    double f;
    switch (op) {
    case DF_X_INT: return from_int((int64_t)word);
    case DF_X_FLOAT: memcpy(&f, &word, sizeof f); return from_float(f);
    case DF_X_STR: return (struct df_number){ .kind = DF_KIND_STR, .s = strings + word };
    default: return args[word];
    }
}

static struct entry apply(enum df_x op, struct entry a, struct entry b)
{
    struct entry result = { .number = from_int(0) };
    bool decided = !a.why && a.number.kind != DF_KIND_STR &&
                   ((op == DF_X_AND && !is_true(a.number)) || (op == DF_X_OR && is_true(a.number)));
    if (decided && (b.why || b.number.kind != DF_KIND_STR))
        result.number.i = op == DF_X_OR;
    else if (a.why || b.why)
        result.why = a.why ? a.why : b.why;
    else
        result.why = binary(op, a.number, b.number, &result.number);
    return result;
}

int df_expr_run(const uint64_t *code, unsigned n_code, const char *strings, const struct df_number *args,
                unsigned n_args, struct df_number *result, struct df_error *error)
{
    struct entry stack[DF_EXPR_STACK];
    unsigned depth = 0;
    if (!df_expr_check(code, n_code, UINT64_MAX, n_args))
        return dfr_error(error, DF_E_ARGUMENT, "the expression is malformed");
    for (unsigned i = 0; i < n_code; i++) {
        enum df_x op = (enum df_x)code[i];
        if (has_operand(op)) {
            stack[depth++] = (struct entry){ .number = operand(op, code[++i], strings, args) };
        } else if (is_unary(op)) {
            struct entry *top = &stack[depth - 1];
            if (!top->why)
                top->why = unary(op, top->number, &top->number);
        } else {
            depth--;
            stack[depth - 1] = apply(op, stack[depth - 1], stack[depth]);
        }
    }
    if (stack[0].why)
        return dfr_error(error, DF_E_ARGUMENT, "%s", stack[0].why);
    *result = stack[0].number;
    return DF_OK;
}
