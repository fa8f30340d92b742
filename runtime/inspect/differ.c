/* differ.c - compares arrays element by element with a tolerance (differ.h), for check_variants.c and record_job.c, in
 * long double. With a 64-bit mantissa that represents every element type exactly. With fewer bits i64 would lose
 * precision, so i64 without a tolerance is compared bytewise.
 */
#include "runtime/inspect/differ.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/graph/graph.h"

struct df_tolerance dfr_tolerance(struct df_tolerance given, enum df_elem elem)
{
    static const struct df_tolerance defaults[DF_N_ELEMS] = {
        [DF_F16] = { 4e-3, 1e-4, 0, 0 }, [DF_F32] = { 1e-5, 1e-7, 0, 0 }, [DF_F64] = { 1e-12, 1e-15, 0, 0 },
    };
    if (!(given.given & DF_RELATIVE))
        given.relative = defaults[elem].relative;
    if (!(given.given & DF_ABSOLUTE))
        given.absolute = defaults[elem].absolute;
    given.given = DF_RELATIVE | DF_ABSOLUTE;
    return given;
}

/* An IEEE binary16. */
static double half(uint16_t bits)
{
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                   : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                                  : ldexp(fraction, -24);
    return bits >> 15 ? -value : value;
}

/* Element i. It is copied by memcpy, because the array's memory may have any effective type. */
static long double element(enum df_elem elem, const void *array, uint64_t i)
{
    const unsigned char *at = (const unsigned char *)array + i * df_elem_bytes(elem);
    union {
        uint16_t u16;
        uint32_t u32;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } x;
    memcpy(&x, at, df_elem_bytes(elem) < sizeof x ? df_elem_bytes(elem) : sizeof x);
    switch (elem) {
    case DF_U8: return *at;
    case DF_U16: return x.u16;
    case DF_U32: return x.u32;
    case DF_I8: return x.i8;
    case DF_I16: return x.i16;
    case DF_I32: return x.i32;
    case DF_I64: return (long double)x.i64;
    case DF_F16: return half(x.u16);
    case DF_F32: return x.f32;
    default: return x.f64;
    }
}

static void print(enum df_elem elem, const void *array, uint64_t i, char *text, size_t size)
{
    long double x = element(elem, array, i);
    if (elem < DF_F16)
        snprintf(text, size, "%.0Lf", x);
    else if (isnan(x))
        snprintf(text, size, "nan");    /* without the sign that some NaNs have */
    else
        snprintf(text, size, "%.*Lg", elem == DF_F64 ? 17 : elem == DF_F32 ? 9 : 5, x);
}

/* The difference that is allowed between a and b. */
static long double allowed(long double a, long double b, const struct df_tolerance *t)
{
    return t->absolute + t->relative * fmaxl(fabsl(a), fabsl(b));
}

static bool agree(long double a, long double b, const struct df_tolerance *t)
{
    if (a == b)
        return true;
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return !isinf(a) && !isinf(b) && fabsl(a - b) <= allowed(a, b, t);
}

bool dfr_differ(enum df_elem elem, const void *a, const void *b, uint64_t n, struct df_tolerance tolerance,
                struct dfr_difference *d)
{
    size_t bytes = df_elem_bytes(elem);
    struct df_tolerance t = dfr_tolerance(tolerance, elem);
    bool exact = t.absolute < 0 || (t.absolute == 0 && t.relative == 0 && elem < DF_F16);

    memset(d, 0, sizeof *d);
    if (memcmp(a, b, n * bytes) == 0)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (memcmp((const char *)a + i * bytes, (const char *)b + i * bytes, bytes) == 0 ||
            (!exact && agree(element(elem, a, i), element(elem, b, i), &t)))
            continue;
        if (d->count++ > 0)
            continue;
        long double x = element(elem, a, i), y = element(elem, b, i);
        d->first = i;
        d->by = isfinite(x) && isfinite(y) ? (double)fabsl(x - y) : (double)INFINITY;
        d->allowed = isfinite(x) && isfinite(y) && !exact ? (double)allowed(x, y, &t) : 0;
        print(elem, a, i, d->a, sizeof d->a);
        print(elem, b, i, d->b, sizeof d->b);
    }
    return d->count > 0;
}

/* Prints the index, as "[4,17]", of the element with this number. */
static void print_index(const uint64_t *dims, unsigned rank, uint64_t number, char *text, size_t size)
{
    uint64_t index[DF_MAX_RANK] = { 0 };
    size_t n = 0;
    for (unsigned i = rank; i-- > 0; number /= dims[i])
        index[i] = number % dims[i];
    *text = '\0';
    for (unsigned i = 0; i < rank; i++)
        n += (size_t)snprintf(text + n, size - n, "%c%llu%s", i ? ',' : '[', (unsigned long long)index[i],
                              i + 1 == rank ? "]" : "");
}

void dfr_difference_text(const struct dfr_difference *d, const uint64_t *dims, unsigned rank, const char *a, const char *b, char *text, size_t size)
{
    char index[96];
    uint64_t n = 1;

    for (unsigned i = 0; i < rank; i++)
        n *= dims[i];
    print_index(dims, rank, d->first, index, sizeof index);
    snprintf(text, size, "%s (index %llu): %s %s, %s %s, differs by %.3g, allowed %.3g; %llu of %llu elements differ", index, (unsigned long long)d->first,
             a, d->a, b, d->b, d->by, d->allowed, (unsigned long long)d->count, (unsigned long long)n);
}
