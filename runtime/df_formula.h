/* df_formula.h - the operations of formulas, for the code that dfc makes of them: integer arithmetic that is defined for all operands, conversions, borders,
 * and the order in which long reductions take their terms. dfc prints the calls (compiler/generate/) and converts f16 with it itself
 * (compiler/formula/table.c); runtime/std/ does, too, and threads/host.c sets a thread's floating-point mode with it.
 *
 * One text:  C11, C++, CUDA C++ and OpenCL C read this file. On every device the same operands give the same bits; of a NaN, sign and
 *            payload are not promised.
 * Compile:   as df_math.h says.
 * Types:     u8 is uint8_t, u16 uint16_t, u32 uint32_t, i8 int8_t, i16 int16_t, i32 int32_t, i64 int64_t, f32 float, f64 double, f16 the bits of an IEEE binary16.
 *            A name ends with the type of its operands.
 * Threads:   any.
 */
#ifndef DF_FORMULA_H
#define DF_FORMULA_H

#ifdef __OPENCL_C_VERSION__
#include <df_opencl_c.h>
#else
#include <stdint.h>
#include <stddef.h>
#endif

/* gcc makes jumps of `a < b ? a : b`, and threads them through what follows. When it makes a vector of that, each way stands
 * there by itself. If it orders instructions before it chooses registers (level 4), it shall not use up more than there are:
 * else it reads the same elements again. And it concludes nothing of what a function writes: gcc 12 takes some loops that
 * step through an input by a number of elements known at run time for ones that write nothing, and leaves out their calls.
 * clang takes none of these as an option. */
#if defined __GNUC__ && !defined __clang__ && !defined __CUDACC__ && defined __OPTIMIZE__
#pragma GCC optimize("no-thread-jumps", "sched-pressure", "no-ipa-pure-const", "no-ipa-modref")
#endif

#ifdef __CUDACC__
#define DF_OP static __host__ __device__ __forceinline__
#define DF_CALL static __host__ __device__
#else
#if defined __OPTIMIZE__ || defined __OPENCL_C_VERSION__
#define DF_OP static inline __attribute__((always_inline, unused))
#else /* with -O0 inlining would take the compiler a third of its time */
#define DF_OP static inline __attribute__((unused))
#endif
#define DF_CALL static inline __attribute__((unused))
#endif

/* Instead of C's INT64_C, INT64_MAX and INT64_MIN: generated code uses no macro that a user's name might be (it undefines those). */
#ifdef __OPENCL_C_VERSION__
#define DF_LONG(n) ((int64_t)n##L)
#else
#define DF_LONG(n) ((int64_t)n##LL)
#endif
#define DF_MOST_I64 DF_LONG(9223372036854775807)
#define DF_LEAST_I64 (-DF_MOST_I64 - 1)

#ifndef DF_NEAR
#define DF_NEAR 2147483647.0 /* elements of a port whose computed places are kept as int32_t; tests take fewer */
#endif
#define DF_KEPT (512 << 10) /* bytes of values that rows keep for later rows, at most: they should stay in the second cache */
#define DF_SELDOM __attribute__((noinline, cold))
#define DF_ALONE __attribute__((noinline)) /* a function of its own, so that `restrict` holds for its loops */

/* ---- the state of a job ---- */

#ifndef __OPENCL_C_VERSION__
DF_OP int df_beyond(const size_t *dims, unsigned n, int64_t limit)
{
    for (unsigned i = 0; i < n; i++)
        if (dims[i] > (size_t)limit)
            return 1;
    return 0;
}

/* Can an i32 count the terms of ranges that have so many values? */
DF_OP int df_counts_terms(const int64_t *values, unsigned n)
{
    int64_t terms = 1;
    for (unsigned i = 0; i < n; i++)
        if (values[i] <= 0 || __builtin_mul_overflow(terms, values[i], &terms))
            return values[i] <= 0;
    return terms <= 2147483647;
}

#ifndef __CUDACC__
#if defined __SSE2__
/* Rounding to nearest, denormal numbers on, no traps; gives what was set before. */
DF_OP unsigned df_float_begin(void)
{
    unsigned before = __builtin_ia32_stmxcsr();
    if ((before & 0xffc0u) != 0x1f80u)
        __builtin_ia32_ldmxcsr(0x1f80u);
    return before;
}
DF_OP void df_float_end(unsigned before)
{
    if ((before & 0xffc0u) != 0x1f80u)
        __builtin_ia32_ldmxcsr(before);
}
#elif defined __aarch64__
DF_OP unsigned df_float_begin(void)
{
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    if (before)
        __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return (unsigned)before;
}
DF_OP void df_float_end(unsigned before)
{
    if (before)
        __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)before));
}
#else
#include <fenv.h>
DF_OP unsigned df_float_begin(void)
{
    int before = fegetround();
    fesetround(FE_TONEAREST);
    return (unsigned)before;
}
DF_OP void df_float_end(unsigned before) { fesetround((int)before); }
#endif
#endif
#endif

/* Builtins of C for both types. */
#ifndef __OPENCL_C_VERSION__
#define df_abs_f32 __builtin_fabsf
#define df_abs_f64 __builtin_fabs
#define df_sqrt_f32 __builtin_sqrtf
#define df_sqrt_f64 __builtin_sqrt
#define df_floor_f32 __builtin_floorf
#define df_floor_f64 __builtin_floor
#define df_ceil_f32 __builtin_ceilf
#define df_ceil_f64 __builtin_ceil
#define df_round_f32 __builtin_roundf
#define df_round_f64 __builtin_round
#define df_trunc_f32 __builtin_truncf
#define df_trunc_f64 __builtin_trunc
#define df_fma_f32 __builtin_fmaf
#define df_fma_f64 __builtin_fma
#endif
/* Negation of an fma, by its bits: of -fma(a, b, c) gcc makes -(a * b) - c, which is 0 where the result is -0. */
DF_OP float df_neg_f32(float a)
{
    union { float f; uint32_t u; } v = { a };
    v.u ^= 0x80000000u;
    return v.f;
}
DF_OP double df_neg_f64(double a)
{
    union { double f; uint64_t u; } v = { a };
    v.u ^= 0x8000000000000000u;
    return v.f;
}

/* ---- integers: they wrap, and a division by zero gives 0 ---- */

#define DF_INTEGER_OPS(name, type, unsigned_type, bits)                                                                      \
    DF_OP type df_add_##name(type a, type b) { return (type)((unsigned_type)a + (unsigned_type)b); }                         \
    DF_OP type df_sub_##name(type a, type b) { return (type)((unsigned_type)a - (unsigned_type)b); }                         \
    DF_OP type df_mul_##name(type a, type b) { return (type)((unsigned_type)a * (unsigned_type)b); }                         \
    DF_OP type df_div_##name(type a, type b)                                                                                 \
    { return b == 0 ? 0 : b == -1 ? (type)(0 - (unsigned_type)a) : a / (b == 0 || b == -1 ? 1 : b); }                        \
    DF_OP type df_mod_##name(type a, type b) { return b == 0 || b == -1 ? 0 : a % (b == 0 || b == -1 ? 1 : b); }             \
    DF_OP type df_shl_##name(type a, type by) { return (type)((unsigned_type)a << (by & (bits - 1))); }                      \
    DF_OP type df_shr_##name(type a, type by) { return a >> (by & (bits - 1)); }                                             \
    DF_OP type df_abs_##name(type a) { return a < 0 ? (type)(0 - (unsigned_type)a) : a; }
DF_INTEGER_OPS(i32, int32_t, uint32_t, 32)
DF_INTEGER_OPS(i64, int64_t, uint64_t, 64)

/* The number itself, of which nvcc does not know that it is. It would make min.f32 of `a < 0 ? a : 0`, as if there were one
 * zero, and that instruction takes -0 for less than 0: min(-0, 0) is 0. With one side of each comparison of reals like this, it
 * cannot. In PTX this is a move, of which ptxas makes no instruction. */
#ifdef __CUDA_ARCH__
#define DF_OPAQUE(name, type, constraint)                                                                                    \
    DF_OP type df_opaque_##name(type a)                                                                                      \
    {                                                                                                                        \
        asm("" : constraint(a));                                                                                             \
        return a;                                                                                                            \
    }
DF_OPAQUE(f32, float, "+f")
DF_OPAQUE(f64, double, "+d")
#else
#define df_opaque_f32(a) (a)
#define df_opaque_f64(a) (a)
#endif
#define df_opaque_u8(a) (a)
#define df_opaque_u16(a) (a)
#define df_opaque_i32(a) (a)
#define df_opaque_i64(a) (a)

/* which ? a : b; of reals OpenCL has a function for it. */
#define DF_CHOOSE(which, a, b) ((which) ? (a) : (b))
#ifdef __OPENCL_C_VERSION__
#define DF_CHOOSE_f32 df_select_f32
#define DF_CHOOSE_f64 df_select_f64
#else
#define DF_CHOOSE_f32 DF_CHOOSE
#define DF_CHOOSE_f64 DF_CHOOSE
#endif
#define DF_CHOOSE_u8 DF_CHOOSE
#define DF_CHOOSE_u16 DF_CHOOSE
#define DF_CHOOSE_i32 DF_CHOOSE
#define DF_CHOOSE_i64 DF_CHOOSE

#define DF_ORDERED_OPS(name, type)                                                                                           \
    DF_OP type df_min_##name(type a, type b) { return DF_CHOOSE_##name(df_opaque_##name(a) < b, a, b); }                     \
    DF_OP type df_max_##name(type a, type b) { return DF_CHOOSE_##name(df_opaque_##name(a) > b, a, b); }
DF_ORDERED_OPS(u8, uint8_t)
DF_ORDERED_OPS(u16, uint16_t)
DF_ORDERED_OPS(i32, int32_t)
DF_ORDERED_OPS(i64, int64_t)
DF_ORDERED_OPS(f32, float)
DF_ORDERED_OPS(f64, double)

/* a > low ? a : low, and a < high ? a : high, where either zero will do. On a GPU these are the instructions that
 * df_opaque_f32() keeps away elsewhere. */
#ifdef __CUDA_ARCH__
#define DF_LIMIT_OPS(name, type, letter)                                                                                     \
    DF_OP type df_at_least_##name(type a, type low)                                                                          \
    {                                                                                                                        \
        type r;                                                                                                              \
        asm("max." #name " %0, %1, %2;" : "=" letter(r) : letter(a), letter(low));                                           \
        return r;                                                                                                            \
    }                                                                                                                        \
    DF_OP type df_at_most_##name(type a, type high)                                                                          \
    {                                                                                                                        \
        type r;                                                                                                              \
        asm("min." #name " %0, %1, %2;" : "=" letter(r) : letter(a), letter(high));                                          \
        return r;                                                                                                            \
    }
DF_LIMIT_OPS(f32, float, "f")
DF_LIMIT_OPS(f64, double, "d")
#else
#define df_at_least_f32 df_max_f32
#define df_at_least_f64 df_max_f64
#define df_at_most_f32 df_min_f32
#define df_at_most_f64 df_min_f64
#endif

/* ---- conversions to integers: to nearest, ties to even; beyond the ends the ends; NaN gives 0 ---- */

/* A number from 0 to 2^22, or 2^51, is rounded by adding a number whose unit is 1. */
DF_OP int32_t df_clamp_int_f32(float a, float most)
{
    a = df_at_least_f32(a, 0); /* NaN, too */
    a = df_at_most_f32(a, most);
    return (int32_t)((a + 8388608.0f) - 8388608.0f);
}
DF_OP int32_t df_clamp_int_f64(double a, double least, double most)
{
    a = a == a ? a : 0;
    a = df_at_least_f64(a, least);
    a = df_at_most_f64(a, most);
    return (int32_t)((a + 6755399441055744.0) - 6755399441055744.0);
}
DF_OP int32_t df_clamp_signed_f32(float a, float least, float most)
{
    a = a == a ? a : 0;
    a = df_at_least_f32(a, least);
    a = df_at_most_f32(a, most);
    return (int32_t)((a + 12582912.0f) - 12582912.0f);
}
DF_OP int32_t df_u8_of_f32(float a) { return df_clamp_int_f32(a, 255); }
DF_OP int32_t df_u16_of_f32(float a) { return df_clamp_int_f32(a, 65535); }
DF_OP int32_t df_i8_of_f32(float a) { return df_clamp_signed_f32(a, -128, 127); }
DF_OP int32_t df_i16_of_f32(float a) { return df_clamp_signed_f32(a, -32768, 32767); }
DF_OP int32_t df_i8_of_f64(double a) { return df_clamp_int_f64(a, -128, 127); }
DF_OP int32_t df_i16_of_f64(double a) { return df_clamp_int_f64(a, -32768, 32767); }
DF_OP int32_t df_u8_of_f64(double a) { return df_clamp_int_f64(a, 0, 255); }
DF_OP int32_t df_u16_of_f64(double a) { return df_clamp_int_f64(a, 0, 65535); }
DF_OP int32_t df_i32_of_f64(double a) { return df_clamp_int_f64(a, -2147483648.0, 2147483647.0); }
DF_OP int32_t df_i32_of_f32(float a)
{
    float size = a < 0 ? -a : a, low = size < 8388608.0f ? size : 0;
    float whole = (low + 8388608.0f) - 8388608.0f; /* of a size from 2^23 on every f32 is an integer */
    float rounded = size < 8388608.0f ? (a < 0 ? -whole : whole) : a;
    int32_t inside = (int32_t)(size < 2147483648.0f ? rounded + 0.0f : 0); /* no -0: gcc makes trunc of (float)(int32_t) */
    return size < 2147483648.0f ? inside : a > 0 ? 2147483647 : a < 0 ? -2147483647 - 1 : 0;
}
DF_OP int32_t df_i32_of_whole_f32(float a) /* of an integer, an infinity or NaN */
{
    int32_t inside = (int32_t)(a > -2147483648.0f && a < 2147483648.0f ? a + 0.0f : 0); /* no -0, as above */
    return a >= 2147483648.0f ? 2147483647 : a <= -2147483648.0f ? -2147483647 - 1 : inside;
}
DF_OP int64_t df_i64_of_f64(double a)
{
    double size = a < 0 ? -a : a, low = size < 4503599627370496.0 ? size : 0;
    double whole = (low + 4503599627370496.0) - 4503599627370496.0;
    double rounded = size < 4503599627370496.0 ? (a < 0 ? -whole : whole) : a;
    int64_t inside = (int64_t)(size < 9223372036854775808.0 ? rounded + 0.0 : 0);
    return size < 9223372036854775808.0 ? inside : a > 0 ? DF_MOST_I64 : a < 0 ? DF_LEAST_I64 : 0;
}
DF_OP int64_t df_i64_of_f32(float a) { return df_i64_of_f64(a); }
DF_OP int64_t df_u32_of_f64(double a)
{
    a = df_at_least_f64(a, 0); /* NaN, too */
    a = df_at_most_f64(a, 4294967295.0);
    return (int64_t)((a + 6755399441055744.0) - 6755399441055744.0);
}
DF_OP int64_t df_u32_of_f32(float a) { return df_u32_of_f64(a); }
/* Of numbers that are known to be from -2^22 to 2^22, or to fit into an i32. */
DF_OP int32_t df_near_f32(float a) { return (int32_t)((a + 12582912.0f) - 12582912.0f); }
DF_OP int32_t df_near_f64(double a) { return (int32_t)((a + 6755399441055744.0) - 6755399441055744.0); }

#define DF_NARROW_OPS(name, type)                                                                                            \
    DF_OP int32_t df_u8_of_##name(type a) { return (int32_t)(a < 0 ? 0 : a > 255 ? 255 : a); }                               \
    DF_OP int32_t df_u16_of_##name(type a) { return (int32_t)(a < 0 ? 0 : a > 65535 ? 65535 : a); }                          \
    DF_OP int32_t df_i8_of_##name(type a) { return (int32_t)(a < -128 ? -128 : a > 127 ? 127 : a); }                         \
    DF_OP int32_t df_i16_of_##name(type a) { return (int32_t)(a < -32768 ? -32768 : a > 32767 ? 32767 : a); }
DF_NARROW_OPS(i32, int32_t)
DF_NARROW_OPS(i64, int64_t)
DF_OP int64_t df_u32_of_i32(int32_t a) { return a < 0 ? 0 : a; }
DF_OP int64_t df_u32_of_i64(int64_t a) { return a < 0 ? 0 : a > 4294967295 ? 4294967295 : a; }
DF_OP int32_t df_i32_of_i64(int64_t a)
{
    return (int32_t)(a < -2147483647 - 1 ? -2147483647 - 1 : a > 2147483647 ? 2147483647 : a);
}

/* ---- four elements of four bytes that lie side by side, for each column of a strip ---- */

#ifndef __OPENCL_C_VERSION__            /* the code for GPUs has none of them */
/* DF_FOUR is where element k of column i is, in an array with room for so many columns. DF_FOURS fills the array for i from
 * `from` to below `to`: `first`, an expression of i, points at the first of the four. With AVX2 each of the four has a row
 * of its own: gcc would take apart what lies side by side by instructions that cross the halves of a register, and these
 * cost as much as the rest. With AVX-512 they do not. */
#if defined __AVX2__ && !defined __AVX512F__ && defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define DF_FOUR(columns, k, i) ((k) * (columns) + (i))
typedef float df_vector4 __attribute__((vector_size(16)));
typedef float df_vector8 __attribute__((vector_size(32)));
DF_OP df_vector8 df_two_fours(const void *low, const void *high)
{
    df_vector4 a, b;
    __builtin_memcpy(&a, low, sizeof a);
    __builtin_memcpy(&b, high, sizeof b);
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}
/* For eight columns. Integers go as floats: no instruction here changes a bit. */
DF_OP void df_turn_fours(void *array, ptrdiff_t columns, const void *const first[8])
{
    df_vector8 a = df_two_fours(first[0], first[4]), b = df_two_fours(first[1], first[5]);
    df_vector8 c = df_two_fours(first[2], first[6]), d = df_two_fours(first[3], first[7]);
    df_vector8 ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13), cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
    df_vector8 of0 = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13), of1 = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
    ab = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15), cd = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
    df_vector8 of2 = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13), of3 = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
    __builtin_memcpy(array, &of0, sizeof of0);
    __builtin_memcpy((char *)array + 4 * columns, &of1, sizeof of1);
    __builtin_memcpy((char *)array + 8 * columns, &of2, sizeof of2);
    __builtin_memcpy((char *)array + 12 * columns, &of3, sizeof of3);
}
#define DF_FOURS(array, columns, i, from, to, first)                                                                         \
    do {                                                                                                                     \
        int64_t df_i = from;                                                                                                 \
        for (; df_i + 8 <= (to); df_i += 8) {                                                                                \
            const void *df_at[8];                                                                                            \
            for (int df_k = 0; df_k < 8; df_k++) {                                                                           \
                const int64_t i = df_i + df_k;                                                                               \
                df_at[df_k] = first;                                                                                         \
            }                                                                                                                \
            df_turn_fours(array + (df_i - (from)), columns, df_at);                                                          \
        }                                                                                                                    \
        for (int64_t i = df_i; i < (to); i++)                                                                                \
            for (int df_k = 0; df_k < 4; df_k++)                                                                             \
                array[df_k * (columns) + (i - (from))] = (first)[df_k];                                                      \
    } while (0)
#endif
#endif
#ifndef DF_FOUR
#define DF_FOUR(columns, k, i) (4 * (i) + (k))
#define DF_FOURS(array, columns, i, from, to, first)                                                                         \
    do {                                                                                                                     \
        for (int64_t i = from; i < (to); i++)                                                                                \
            __builtin_memcpy(array + 4 * (i - (from)), first, 4 * sizeof *array);                                            \
    } while (0)
#endif
#endif

/* The zero of x + 0.0 and 0.0 - x. From version 12 on, gcc takes 0.0 - (double)i for -(double)i, which is -0.0 where i is 0; and it makes 0.0 - (double)i of
 * -(double)i + 0.0. It does so before it inlines functions, so it does not see what this one returns. */
DF_OP float df_zero_f32(void) { return 0.0f; }
DF_OP double df_zero_f64(void) { return 0.0; }

/* ---- f16 ---- */

DF_OP float df_f32_of_f16(uint16_t bits)
{
    union { uint32_t u; float f; } v, w;
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    v.u = (rest << 13) + (rest >= 0x7c00u ? 0x70000000u : 0x38000000u);
    w.u = 0x33800000u; /* 2^-24, the unit of denormal numbers */
    w.f = (float)(int32_t)rest * w.f;
    v.u = (rest < 0x400u ? w.u : v.u) | sign;
    return v.f;
}

/* The f16 nearest to a, ties to even. */
DF_OP uint16_t df_f16_of_f32(float a)
{
    union { float f; uint32_t u; } v, w;
    v.f = a;
    uint32_t sign = v.u >> 16 & 0x8000u, rest = v.u & 0x7fffffffu;
    uint32_t normal = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
    w.u = rest < 0x38800000u ? rest : 0;
    w.f += 0.5f; /* its unit is 2^-24 */
    uint32_t small = w.u - 0x3f000000u;
    uint32_t bits = rest > 0x7f800000u ? 0x7e00u : rest >= 0x477ff000u ? 0x7c00u : rest < 0x38800000u ? small : normal;
    return (uint16_t)(bits | sign);
}

/* By way of f32, rounded to odd, so that the second rounding is the only one. */
DF_OP uint16_t df_f16_of_f64(double a)
{
    union { float f; uint32_t u; } v;
    v.f = (float)a;
    double back = v.f, size = a < 0 ? -a : a, back_size = back < 0 ? -back : back;
    if (back != a && back == back && size < 1e6 && (v.u & 1u) == 0)
        v.u = back_size > size ? v.u - 1 : v.u | 1u;
    return df_f16_of_f32(v.f);
}
DF_OP float df_round_f16_f32(float a) { return df_f32_of_f16(df_f16_of_f32(a)); }
DF_OP float df_round_f16_f64(double a) { return df_f32_of_f16(df_f16_of_f64(a)); }
DF_OP float df_round_f16_i32(int32_t a) { return df_round_f16_f64(a); }
DF_OP float df_round_f16_i64(int64_t a) { return df_round_f16_f64((double)a); } /* inexact beyond 2^53: infinite */

/* ---- borders: the element that stands at place i of a dimension of n elements ---- */

DF_OP int64_t df_clamp_at(int64_t i, int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }
DF_OP int32_t df_clamp_i32(int32_t i, int32_t n) { return df_max_i32(df_min_i32(i, n - 1), 0); } /* two instructions */
DF_OP int64_t df_wrap_at(int64_t i, int64_t n)
{
    i = i % n;
    return i < 0 ? i + n : i;
}
DF_OP int64_t df_reflect_at(int64_t i, int64_t n)
{
    i = df_wrap_at(i, 2 * n);
    return i < n ? i : 2 * n - 1 - i;
}
DF_OP int64_t df_mirror_at(int64_t i, int64_t n)
{
    if (n == 1)
        return 0;
    i = df_wrap_at(i, 2 * n - 2);
    return i < n ? i : 2 * n - 2 - i;
}

/* Narrows low and high to the columns x for which 0 <= factor * x + least and factor * x + most < n. Then puts them in
 * order, inside the row. */
DF_OP void df_narrow(int64_t *low, int64_t *high, int64_t factor, int64_t least, int64_t most, int64_t n)
{
    int64_t from = least < 0 ? (factor - 1 - least) / factor : 0, to = most < n ? (n - 1 - most) / factor + 1 : 0;
    *low = *low > from ? *low : from;
    *high = *high < to ? *high : to;
}
DF_OP int df_is_near(int64_t i, int64_t most) { return i >= -most && i <= most; }
#define DF_PAD 1024                     /* elements beside a row that are copied with it, at most */
DF_OP void df_order(int64_t *low, int64_t *high, int64_t width)
{
    *low = *low < width ? *low : width;
    *high = *high > *low ? *high : *low;
}
#ifndef __OPENCL_C_VERSION__
/* ---- pieces of a row: columns from low to high ----
 *
 * Most of them are computed from one on whose element is at a multiple of 64 bytes, and as many times `lanes` as possible: so loops of vectors have no rest,
 * and vectors do not lie across lines of the cache. The first and the last columns are pieces of `lanes` columns, some of which are computed twice. */

/* Columns before that element. 0: it is the first one, or the row is short. bytes: of an element. */
DF_OP int64_t df_skew(const void *row, int64_t bytes, int64_t low, int64_t high, int64_t lanes)
{
    return high - low < 8 * lanes ? 0 : (int64_t)(-((uintptr_t)row + (uintptr_t)(low * bytes)) % 64u) / bytes;
}
/* Where the piece that begins at `at` ends, and where the next one begins. */
DF_OP int64_t df_piece_end(int64_t at, int64_t low, int64_t high, int64_t lanes, int64_t skew)
{
    return at == low && skew ? low + lanes : high - at > lanes ? high - (high - at) % lanes : high;
}
DF_OP int64_t df_next_piece(int64_t at, int64_t low, int64_t high, int64_t lanes, int64_t skew)
{
    return at == low && skew ? low + skew : df_piece_end(at, low, high, lanes, skew) < high ? high - lanes : high;
}

#endif

/* ---- long reductions: blocks of 1,024 values, 16 lanes each; results of blocks likewise ---- */

#define DF_BLOCK 1024
#define DF_LANES 16
#define DF_LEVELS 4                     /* 1,024^4 values */

DF_OP int df_levels_above(const uint32_t *n, unsigned level)
{
    while (++level < DF_LEVELS)
        if (n[level])
            return 1;
    return 0;
}

/* Bit l: lane l has a value. */
DF_OP uint32_t df_first_lanes(int64_t n) { return n < DF_LANES ? (1u << n) - 1 : (1u << DF_LANES) - 1; }
#define DF_MASK(function, flag)                                                                                              \
    DF_OP uint32_t function(const flag *has)                                                                                 \
    {                                                                                                                        \
        uint32_t mask = 0;                                                                                                   \
        for (int l = 0; l < DF_LANES; l++)                                                                                   \
            mask |= (uint32_t)(has[l] != 0) << l;                                                                            \
        return mask;                                                                                                         \
    }
DF_MASK(df_mask, int)

/* Lane l takes l + 8, then l + 4, l + 2, l + 1. Bit l of `has`: lane l has a value. One without takes no part. `element`: the type, and where lanes are. */
#define DF_TREE(function, type, element, JOIN)                                                                               \
    DF_OP type function(element *lane, uint32_t has)                                                                         \
    {                                                                                                                        \
        for (unsigned apart = DF_LANES / 2; apart; apart /= 2)                                                               \
            for (unsigned l = 0; l < apart; l++)                                                                             \
                if (has >> (l + apart) & 1u) {                                                                               \
                    lane[l] = has >> l & 1u ? JOIN(lane[l], lane[l + apart]) : lane[l + apart];                              \
                    has |= 1u << l;                                                                                          \
                }                                                                                                            \
        return lane[0];                                                                                                      \
    }

#define DF_LANE_OPS(name, type, JOIN)                                                                                        \
    struct df_lanes_##name {                                                                                                 \
        type lane[DF_LEVELS][DF_LANES];                                                                                      \
        uint32_t has[DF_LEVELS], n[DF_LEVELS];                                                                               \
    };                                                                                                                       \
    DF_TREE(df_tree_##name, type, type, JOIN)                                                                                \
    /* The next value of a level; false: there is none in its place. */                                                      \
    DF_CALL void df_put_##name(struct df_lanes_##name *a, unsigned level, int any, type value)                         \
    {                                                                                                                        \
        for (;; level++) {                                                                                                   \
            unsigned l = a->n[level] % DF_LANES;                                                                             \
            if (any) {                                                                                                       \
                a->lane[level][l] = a->has[level] >> l & 1u ? JOIN(a->lane[level][l], value) : value;                        \
                a->has[level] |= 1u << l;                                                                                    \
            }                                                                                                                \
            if (++a->n[level] < DF_BLOCK)                                                                                    \
                return;                                                                                                      \
            any = a->has[level] != 0;                                                                                        \
            value = df_tree_##name(a->lane[level], a->has[level]);                                                           \
            a->n[level] = a->has[level] = 0;                                                                                 \
        }                                                                                                                    \
    }                                                                                                                        \
    /* What all values give. false: there was none. */                                                                       \
    DF_CALL int df_end_##name(struct df_lanes_##name *a, type *value)                                                  \
    {                                                                                                                        \
        unsigned level = 0;                                                                                                  \
        while (df_levels_above(a->n, level)) {                                                                               \
            if (a->n[level])                                                                                                 \
                df_put_##name(a, level + 1, a->has[level] != 0, df_tree_##name(a->lane[level], a->has[level]));              \
            level++;                                                                                                         \
        }                                                                                                                    \
        *value = df_tree_##name(a->lane[level], a->has[level]);                                                              \
        return a->has[level] != 0;                                                                                           \
    }

/* ---- the same of each column of a strip: a lane is a row of `width` elements, of which the first `n` count; every lane with a value has one in all columns ---- */

struct df_row_lanes {
    uint32_t n[DF_LEVELS];
};
#define DF_ROW_LANE_OPS(name, type, JOIN)                                                                                    \
    DF_CALL void df_join_four_##name(type *restrict a, const type *restrict b, const type *restrict c, const type *restrict d, \
                                     int64_t n)                                                                              \
    {                                                                                                                        \
        for (int64_t x = 0; x < n; x++)                                                                                      \
            a[x] = JOIN(JOIN(a[x], c[x]), JOIN(b[x], d[x]));                                                                 \
    }                                                                                                                        \
    /* Joins the first `count` lanes: the result is in the first. */                                                         \
    DF_CALL void df_join_rows_##name(type *lane, int64_t width, int64_t count, int64_t n)                                    \
    {                                                                                                                        \
        for (int64_t l = 0; l < 4 && count == DF_LANES; l++)                                                                 \
            df_join_four_##name(lane + l * width, lane + (l + 4) * width, lane + (l + 8) * width, lane + (l + 12) * width, n); \
        if (count == 4 || count == DF_LANES) {                                                                               \
            df_join_four_##name(lane, lane + width, lane + 2 * width, lane + 3 * width, n);                                  \
            return;                                                                                                          \
        }                                                                                                                    \
        for (int64_t apart = DF_LANES / 2; apart; apart /= 2)                                                                \
            for (int64_t l = 0; l < apart && l + apart < count; l++) {                                                       \
                type *restrict to = lane + l * width;                                                                        \
                const type *restrict from = lane + (l + apart) * width;                                                      \
                for (int64_t x = 0; x < n; x++)                                                                              \
                    to[x] = JOIN(to[x], from[x]);                                                                            \
            }                                                                                                                \
    }                                                                                                                        \
    /* The next value of a level. */                                                                                         \
    DF_CALL void df_put_row_##name(struct df_row_lanes *a, unsigned level, type *lanes, const type *value, int64_t width,    \
                                   int64_t n)                                                                                \
    {                                                                                                                        \
        for (;; level++) {                                                                                                   \
            type *const lane = lanes + (int64_t)level * DF_LANES * width, *restrict to = lane + a->n[level] % DF_LANES * width; \
            const type *restrict from = value;                                                                               \
            if (a->n[level] < DF_LANES)                                                                                      \
                for (int64_t x = 0; x < n; x++)                                                                              \
                    to[x] = from[x];                                                                                         \
            else                                                                                                             \
                for (int64_t x = 0; x < n; x++)                                                                              \
                    to[x] = JOIN(to[x], from[x]);                                                                            \
            if (++a->n[level] < DF_BLOCK)                                                                                    \
                return;                                                                                                      \
            df_join_rows_##name(lane, width, DF_LANES, n);                                                                   \
            a->n[level] = 0;                                                                                                 \
            value = lane;                                                                                                    \
        }                                                                                                                    \
    }                                                                                                                        \
    /* The row of what all values give; of nothing it is `none`. */                                                          \
    DF_CALL type *df_end_rows_##name(struct df_row_lanes *a, type *lanes, int64_t width, int64_t n, type none)              \
    {                                                                                                                        \
        unsigned level = 0;                                                                                                  \
        for (;; level++) {                                                                                                   \
            type *const lane = lanes + (int64_t)level * DF_LANES * width;                                                    \
            const uint32_t count = a->n[level];                                                                              \
            df_join_rows_##name(lane, width, count < DF_LANES ? count : DF_LANES, n);                                        \
            const int is_last = !df_levels_above(a->n, level);                                                               \
            for (int64_t x = 0; x < n && is_last && !count; x++)                                                             \
                lane[x] = none;                                                                                              \
            if (is_last)                                                                                                     \
                return lane;                                                                                                 \
            if (count)                                                                                                       \
                df_put_row_##name(a, level + 1, lanes, lane, width, n);                                                      \
        }                                                                                                                    \
    }
#define DF_JOIN_SUM(a, b) ((a) + (b))
#define DF_JOIN_PROD(a, b) ((a) * (b))
/* make(OPERATION_TYPE, C type, join) for each operation that lanes join by. */
#define DF_EACH_LANE_OP(make, name, type)                                                                                    \
    make(sum_##name, type, DF_JOIN_SUM)                                                                                      \
    make(prod_##name, type, DF_JOIN_PROD)                                                                                    \
    make(least_##name, type, df_min_##name)                                                                                  \
    make(greatest_##name, type, df_max_##name)
DF_EACH_LANE_OP(DF_LANE_OPS, f32, float)
DF_EACH_LANE_OP(DF_LANE_OPS, f64, double)
#if !defined __cplusplus && !defined __OPENCL_C_VERSION__ /* the code for GPUs has none of them */
DF_EACH_LANE_OP(DF_ROW_LANE_OPS, f32, float)
DF_EACH_LANE_OP(DF_ROW_LANE_OPS, f64, double)
#endif

#endif
