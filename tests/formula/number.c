#include "number.h"

#include <math.h>
#include <string.h>

struct number number_of_int(enum type type, int64_t i)
{
    if (type == I32)
        i = (int32_t)(uint32_t)(uint64_t)i;
    return (struct number){ .type = type, .i = i };
}

struct number number_of_real(enum type type, double f)
{
    return (struct number){ .type = type, .f = type == F32 ? (double)(float)f : f };
}

bool type_is_real(enum type type)
{
    return type == F32 || type == F64 || type == EXACT_REAL;
}

bool number_is_true(struct number a)
{
    return type_is_real(a.type) ? a.f != 0 : a.i != 0;
}

double number_real(struct number a)
{
    return type_is_real(a.type) ? a.f : (double)a.i;
}

struct number number_cast(enum type type, struct number a)
{
    if (type == BOOL)
        return number_of_int(BOOL, number_is_true(a));
    if (!type_is_real(type))
        return number_of_int(type, a.i);
    if (type == F32 && !type_is_real(a.type))
        return number_of_real(F32, (double)(float)a.i);   /* not by way of double, which would round twice */
    return number_of_real(type, number_real(a));
}

/* ---- integers ---- */

static int64_t lowest(enum type type)
{
    return type == I32 ? INT32_MIN : INT64_MIN;
}

static int64_t divide(enum type type, int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    return a == lowest(type) && b == -1 ? a : a / b;
}

static int64_t shift_left(enum type type, int64_t a, int64_t by)
{
    return (int64_t)((uint64_t)a << (by & (type == I32 ? 31 : 63)));
}

static int64_t shift_right(enum type type, int64_t a, int64_t by) /* the sign comes after */
{
    by &= type == I32 ? 31 : 63;
    return a >= 0 ? a >> by : ~(~a >> by);
}

static struct number integers(enum dfl_op op, enum type type, int64_t a, int64_t b)
{
    switch (op) {
    case DFL_OP_ADD: return number_of_int(type, (int64_t)((uint64_t)a + (uint64_t)b));
    case DFL_OP_SUB: return number_of_int(type, (int64_t)((uint64_t)a - (uint64_t)b));
    case DFL_OP_MUL: return number_of_int(type, (int64_t)((uint64_t)a * (uint64_t)b));
    case DFL_OP_DIV: return number_of_int(type, divide(type, a, b));
    case DFL_OP_MOD: return number_of_int(type, b == 0 || b == -1 ? 0 : a % b);
    case DFL_OP_BITAND: return number_of_int(type, a & b);
    case DFL_OP_BITOR: return number_of_int(type, a | b);
    case DFL_OP_BITXOR: return number_of_int(type, a ^ b);
    case DFL_OP_SHL: return number_of_int(type, shift_left(type, a, b));
    case DFL_OP_SHR: return number_of_int(type, shift_right(type, a, b));
    case DFL_OP_LT: return number_of_int(BOOL, a < b);
    case DFL_OP_LE: return number_of_int(BOOL, a <= b);
    case DFL_OP_GT: return number_of_int(BOOL, a > b);
    case DFL_OP_GE: return number_of_int(BOOL, a >= b);
    case DFL_OP_EQ: return number_of_int(BOOL, a == b);
    default: return number_of_int(BOOL, a != b);
    }
}

/* ---- floats ---- */

static struct number reals(enum dfl_op op, enum type type, double a, double b)
{
    bool single = type == F32;
    switch (op) {
    case DFL_OP_ADD: return number_of_real(type, single ? (double)((float)a + (float)b) : a + b);
    case DFL_OP_SUB: return number_of_real(type, single ? (double)((float)a - (float)b) : a - b);
    case DFL_OP_MUL: return number_of_real(type, single ? (double)((float)a * (float)b) : a * b);
    case DFL_OP_DIV: return number_of_real(type, single ? (double)((float)a / (float)b) : a / b);
    case DFL_OP_LT: return number_of_int(BOOL, a < b);
    case DFL_OP_LE: return number_of_int(BOOL, a <= b);
    case DFL_OP_GT: return number_of_int(BOOL, a > b);
    case DFL_OP_GE: return number_of_int(BOOL, a >= b);
    case DFL_OP_EQ: return number_of_int(BOOL, a == b);
    default: return number_of_int(BOOL, a != b);
    }
}

struct number number_binary(enum dfl_op op, struct number a, struct number b)
{
    return type_is_real(a.type) ? reals(op, a.type, a.f, b.f) : integers(op, a.type, a.i, b.i);
}

struct number number_negate(struct number a)
{
    if (type_is_real(a.type))
        return number_of_real(a.type, -a.f);
    return number_of_int(a.type, (int64_t)(0 - (uint64_t)a.i));
}

struct number number_least(struct number a, struct number b)
{
    return number_binary(DFL_OP_LT, a, b).i ? a : b;
}

struct number number_greatest(struct number a, struct number b)
{
    return number_binary(DFL_OP_GT, a, b).i ? a : b;
}

struct number number_abs(struct number a)
{
    if (type_is_real(a.type))
        return number_of_real(a.type, fabs(a.f));
    return a.i < 0 ? number_negate(a) : a;
}

/* ---- elements ---- */

static const struct {
    const char *name;
    unsigned bytes;
    enum type type;
} elements[N_ELEMENTS] = { { "u8", 1, I32 }, { "u16", 2, I32 }, { "u32", 4, I64 },
                           { "i8", 1, I32 }, { "i16", 2, I32 }, { "i32", 4, I32 }, { "i64", 8, I64 },
                           { "f16", 2, F32 }, { "f32", 4, F32 }, { "f64", 8, F64 } };

bool element_named(const char *name, enum element *element)
{
    if (strcmp(name, "bytes") == 0)
        name = "u8";
    for (unsigned e = 0; e < N_ELEMENTS; e++)
        if (strcmp(name, elements[e].name) == 0) {
            *element = (enum element)e;
            return true;
        }
    return false;
}

unsigned element_bytes(enum element element)
{
    return elements[element].bytes;
}

enum type element_type(enum element element)
{
    return elements[element].type;
}

/* Sign, 5 bits of exponent with bias 15, 10 bits of fraction. */
static double half_load(uint16_t bits)
{
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
}

static uint16_t half_store(double f) /* `f` is exact in it */
{
    uint16_t sign = signbit(f) ? 0x8000 : 0;
    double size = fabs(f);
    if (isnan(f))
        return 0x7e00;
    if (isinf(f))
        return sign | 0x7c00;
    if (size < 0x1p-14)
        return sign | (uint16_t)ldexp(size, 24);
    int exponent;
    double mantissa = frexp(size, &exponent); /* in [0.5, 1) */
    return sign | (uint16_t)((exponent + 14) << 10 | ((int)ldexp(mantissa, 11) & 1023));
}

static double half_round(double f)
{
    if (!(fabs(f) < 65520))
        return isnan(f) ? f : copysign(INFINITY, f);
    int exponent;
    frexp(f, &exponent);
    int unit = exponent - 11 > -24 ? exponent - 11 : -24;
    return ldexp(nearbyint(ldexp(f, -unit)), unit);
}

#define LOAD(ctype) ((const ctype *)array)[at]

struct number element_load(enum element element, const void *array, int64_t at)
{
    switch (element) {
    case E_U8: return number_of_int(I32, LOAD(uint8_t));
    case E_U16: return number_of_int(I32, LOAD(uint16_t));
    case E_U32: return number_of_int(I64, LOAD(uint32_t));
    case E_I8: return number_of_int(I32, LOAD(int8_t));
    case E_I16: return number_of_int(I32, LOAD(int16_t));
    case E_I32: return number_of_int(I32, LOAD(int32_t));
    case E_I64: return number_of_int(I64, LOAD(int64_t));
    case E_F16: return number_of_real(F32, half_load(LOAD(uint16_t)));
    case E_F32: return number_of_real(F32, (double)LOAD(float));
    default: return number_of_real(F64, LOAD(double));
    }
}

#define STORE(ctype, value) ((ctype *)array)[at] = (ctype)(value)

void element_store(enum element element, void *array, int64_t at, struct number a)
{
    switch (element) {
    case E_U8: STORE(uint8_t, a.i); break;
    case E_U16: STORE(uint16_t, a.i); break;
    case E_U32: STORE(uint32_t, a.i); break;
    case E_I8: STORE(int8_t, a.i); break;
    case E_I16: STORE(int16_t, a.i); break;
    case E_I32: STORE(int32_t, a.i); break;
    case E_I64: STORE(int64_t, a.i); break;
    case E_F16: STORE(uint16_t, half_store(a.f)); break;
    case E_F32: STORE(float, a.f); break;
    default: STORE(double, a.f); break;
    }
}

static void ends(enum element element, int64_t *low, int64_t *high)
{
    switch (element) {
    case E_U8: *low = 0, *high = UINT8_MAX; break;
    case E_U16: *low = 0, *high = UINT16_MAX; break;
    case E_U32: *low = 0, *high = UINT32_MAX; break;
    case E_I8: *low = INT8_MIN, *high = INT8_MAX; break;
    case E_I16: *low = INT16_MIN, *high = INT16_MAX; break;
    case E_I32: *low = INT32_MIN, *high = INT32_MAX; break;
    default: *low = INT64_MIN, *high = INT64_MAX; break;
    }
}

static int64_t to_integer(enum element element, struct number a)
{
    int64_t low, high;
    ends(element, &low, &high);
    if (!type_is_real(a.type))
        return a.i < low ? low : a.i > high ? high : a.i;
    double f = nearbyint(a.f);
    if (isnan(f))
        return 0;
    if (f >= 0x1p63 || (f > 0 && (int64_t)f > high))
        return high;
    return f < -0x1p63 || (int64_t)f < low ? low : (int64_t)f;
}

struct number element_convert(enum element element, struct number a)
{
    enum type type = element_type(element);
    if (!type_is_real(type))
        return number_of_int(type, to_integer(element, a));
    if (element == E_F16)
        return number_of_real(F32, half_round(number_real(a)));
    return number_cast(type, a);
}

struct number element_wrap(enum element element, struct number a)
{
    int64_t low, high, span = INT64_C(1) << (8 * element_bytes(element)), bits = a.i & (span - 1);
    ends(element, &low, &high);
    return number_of_int(element_type(element), bits > high ? bits - span : bits);
}
