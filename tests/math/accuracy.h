/* accuracy.h - the functions of runtime/df_math.h beside a reference: errors in ulp, sampled or over all arguments.
 *
 * Reference: f32 against glibc's double functions, f64 against its f128 functions. Both are far more exact than what is measured.
 * Errors:    in units in the last place of the exact result, rounded down to a power of two; the smallest denormal is the
 *            smallest unit. A NaN, infinity or zero that is wrong, its sign included, counts as 1e30.
 */
#ifndef ACCURACY_H
#define ACCURACY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/df_math.h"

#define WRONG 1e30

typedef float (*unary_f32)(float);
typedef double (*unary_f64)(double);
typedef float (*binary_f32)(float, float);
typedef double (*binary_f64)(double, double);
typedef __float128 (*unary_f128)(__float128);
typedef __float128 (*binary_f128)(__float128, __float128);

struct function {                       /* either one argument or two */
    const char *name;
    unary_f32 one_f32;
    unary_f64 one_f64, reference_f32;
    unary_f128 reference_f64;
    binary_f32 two_f32;
    binary_f64 two_f64, reference2_f32;
    binary_f128 reference2_f64;
};

/* glibc has them under every compiler, and its headers declare them to some only. */
__float128 expf128(__float128), logf128(__float128), sinf128(__float128), cosf128(__float128), tanf128(__float128), tanhf128(__float128);
__float128 powf128(__float128, __float128), atan2f128(__float128, __float128), fabsf128(__float128), ldexpf128(__float128, int);
int ilogbf128(__float128);

#define ONE(name) static float one_f32_##name(float x) { return df_##name##_f32(x); } \
                  static double one_f64_##name(double x) { return df_##name##_f64(x); }
ONE(exp) ONE(log) ONE(sin) ONE(cos) ONE(tan) ONE(tanh)
static float two_f32_pow(float x, float y) { return df_pow_f32(x, y); }
static double two_f64_pow(double x, double y) { return df_pow_f64(x, y); }
static float two_f32_atan2(float y, float x) { return df_atan2_f32(y, x); }
static double two_f64_atan2(double y, double x) { return df_atan2_f64(y, x); }

#define UNARY(name) { #name, one_f32_##name, one_f64_##name, name, name##f128, NULL, NULL, NULL, NULL }
#define BINARY(name) { #name, NULL, NULL, NULL, NULL, two_f32_##name, two_f64_##name, name, name##f128 }
static const struct function functions[] = {
    UNARY(exp), UNARY(log), UNARY(sin), UNARY(cos), UNARY(tan), UNARY(tanh), BINARY(pow), BINARY(atan2)
};
enum { N_FUNCTIONS = sizeof functions / sizeof functions[0] };

static inline float float_of(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline double double_of(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }

/* Numbers that repeat with the seed (splitmix64). */
static inline uint64_t next_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline double error_f32(float got, double want)
{
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : WRONG;
    float nearest = (float)want;
    if (!signbit(got) != !signbit(nearest)) return WRONG;
    if (isinf(got)) return got == nearest ? 0 : nearest == copysignf(0x1.fffffep127f, got) ? 1 : WRONG;
    if (want == 0 || isinf(want)) return got == nearest ? 0 : WRONG;
    int unit = ilogb(want) - 23;
    return ldexp(fabs(got - want), -(unit < -149 ? -149 : unit));
}

static inline double error_f64(double got, __float128 want)
{
    if (__builtin_isnan(want) || isnan(got)) return __builtin_isnan(want) && isnan(got) ? 0 : WRONG;
    double nearest = (double)want;
    if (!signbit(got) != !signbit(nearest)) return WRONG;
    if (isinf(got)) return got == nearest ? 0 : nearest == copysign(0x1.fffffffffffffp1023, got) ? 1 : WRONG;
    if (want == 0 || __builtin_isinf(want)) return got == nearest ? 0 : WRONG;
    int unit = ilogbf128(want) - 52;
    return (double)ldexpf128(fabsf128(got - want), -(unit < -1074 ? -1074 : unit));
}

/* Arguments of function f: a quarter of all bit patterns, else of the sizes at which functions are used. Of pow two thirds are
 * such that the result is a finite number. */
static inline void random_arguments(const struct function *f, uint64_t *seed, double *x, double *y)
{
    static const int spread[] = { 3, 12, 40, 20 };
    uint64_t r = next_random(seed), s = next_random(seed), t = next_random(seed);
    int kind = (int)(t % 4), range = spread[kind], shift = (int)(t >> 8) % range - range / 2;
    *x = kind == 0 ? double_of(r) : ldexp((double)(int64_t)r, shift - 63);
    *y = kind == 0 ? double_of(s) : ldexp((double)(int64_t)s, (int)(t >> 32) % range - range / 2 - 63);
    if (f->two_f32 && f->name[0] == 'p' && t >> 40 & 3) {
        *x = fabs(*x);
        *y = ((double)(s >> 11) * 0x1p-53 * 2150 - 1090) / log2(*x);
    }
}

/* The same for f32: of bit patterns those of floats. */
static inline void random_arguments_f32(const struct function *f, uint64_t *seed, float *x, float *y)
{
    double wide_x, wide_y;
    uint64_t r = *seed;
    random_arguments(f, seed, &wide_x, &wide_y);
    bool bits = next_random(&r) % 4 == 0;
    *x = bits ? float_of((uint32_t)r) : (float)wide_x;
    *y = bits ? float_of((uint32_t)(r >> 32)) : (float)(wide_y / (f->name[0] == 'p' ? 7.5 : 1));
}

static inline double error_at_f32(const struct function *f, float x, float y)
{
    if (f->one_f32) return error_f32(f->one_f32(x), f->reference_f32((double)x));
    return error_f32(f->two_f32(x, y), f->reference2_f32((double)x, (double)y));
}

static inline double error_at_f64(const struct function *f, double x, double y)
{
    if (f->one_f64) return error_f64(f->one_f64(x), f->reference_f64((__float128)x));
    return error_f64(f->two_f64(x, y), f->reference2_f64((__float128)x, (__float128)y));
}

#endif
