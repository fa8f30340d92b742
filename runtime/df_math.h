/* df_math.h - exp, log, pow, sin, cos, tan, atan2 and tanh in f32 and f64, with the same bits on CPUs and GPUs.
 *
 * One text:  C11, C++, CUDA C++ and OpenCL C read this file. It uses +, -, *, /, comparisons and the bits of numbers, and nothing of
 *            libm. All of these are exactly defined by IEEE 754, so a result has the same bits on every device.
 *            The sign and payload of a NaN are not promised.
 * Compile:   gcc and clang: -ffp-contract=off -fno-trapping-math -fno-math-errno, and -O3 to vectorise.
 *            nvcc: --fmad=false --ftz=false --prec-div=true. OpenCL: -cl-fp32-correctly-rounded-divide-sqrt. Rounding is to nearest, and denormal
 *            numbers are on.
 * Vectors:   the functions have no branch, no table and no call, so that gcc vectorises a loop over them on SSE2 and above.
 *            sin, cos and tan are the exception; their functions of that kind are named df_NAME_near_TYPE.
 * Far:       df_sin_near_f64() and its kind hold for |x| <= 2^17. Beyond, df_sin_f64() and its kind reduce the argument by
 *            integers of 288 bits (Payne and Hanek, 1983). Both give the same bits for |x| <= 2^17. So a row of a loop is
 *                uint64_t far = 0;                                (uint32_t with f32)
 *                for (i = 0; i < n; i++) { far |= df_far_f64(x[i]); y[i] = df_sin_near_f64(x[i]); }
 *                if (far) for (i = 0; i < n; i++) y[i] = df_sin_f64(x[i]);
 *            On a GPU, and in code that is not vectorised, df_sin_f64() alone does.
 * Errors:    at most 2 units in the last place (ulp) of the exact result, denormal results included. docs/language.md has
 *            what was measured, for each function. Special values are those of C's Annex F: log(0) = -inf, pow(x, 0) = 1,
 *            atan2(0, -0) = pi, and so on. No error is reported: errno is not set.
 * Numbers:   tests/math/coefficients.py computes every coefficient.
 * Threads:   any.
 */
#ifndef DF_MATH_H
#define DF_MATH_H

#ifdef __OPENCL_C_VERSION__
#include <df_opencl_c.h>
#else
#include <stdint.h>
#endif

#ifdef __CUDACC__
#define DF_MATH static __host__ __device__ __forceinline__
#define DF_MATH_SLOW static __host__ __device__
#else
#if defined __OPTIMIZE__ || defined __OPENCL_C_VERSION__
#define DF_MATH static inline __attribute__((always_inline))
#else /* with -O0 inlining would take the compiler a third of its time */
#define DF_MATH static inline
#endif
#define DF_MATH_SLOW static inline __attribute__((unused))
#endif

#define DF_MATH_INF_F32 (3.0e38f * 10.0f)
#define DF_MATH_INF_F64 (1.0e308 * 10.0)

/* ---- bits ---- */

DF_MATH uint32_t df_bits_f32(float x)
{
    union { float f; uint32_t u; } v;
    v.f = x;
    return v.u;
}

DF_MATH float df_of_bits_f32(uint32_t u)
{
    union { float f; uint32_t u; } v;
    v.u = u;
    return v.f;
}

DF_MATH uint64_t df_bits_f64(double x)
{
    union { double f; uint64_t u; } v;
    v.f = x;
    return v.u;
}

DF_MATH double df_of_bits_f64(uint64_t u)
{
    union { double f; uint64_t u; } v;
    v.u = u;
    return v.f;
}

DF_MATH float df_magnitude_f32(float x) { return df_of_bits_f32(df_bits_f32(x) & 0x7fffffffu); }
DF_MATH double df_magnitude_f64(double x) { return df_of_bits_f64(df_bits_f64(x) & 0x7fffffffffffffffu); }

/* The magnitude of x with the sign of y. */
DF_MATH float df_signed_f32(float x, float y)
{
    return df_of_bits_f32((df_bits_f32(x) & 0x7fffffffu) | (df_bits_f32(y) & 0x80000000u));
}

DF_MATH double df_signed_f64(double x, double y)
{
    return df_of_bits_f64((df_bits_f64(x) & 0x7fffffffffffffffu) | (df_bits_f64(y) & 0x8000000000000000u));
}

/* One if the sign bit is set. A comparison of floats would not see -0. */
DF_MATH float df_minus_f32(float x) { return df_of_bits_f32((df_bits_f32(x) & 0x80000000u) | 0x3f800000u); }
DF_MATH double df_minus_f64(double x) { return df_of_bits_f64((df_bits_f64(x) & 0x8000000000000000u) | 0x3ff0000000000000u); }

/* The number without its lowest 27 bits: products of two such numbers are exact. */
DF_MATH double df_upper_f64(double x) { return df_of_bits_f64(df_bits_f64(x) & 0xfffffffff8000000u); }

/* Adding this number rounds to an integer, which is then in the lowest bits: |x| < 2^22, 2^51. */
#define DF_MATH_ROUND_F32 0x1.8p23f
#define DF_MATH_ROUND_F64 0x1.8p52

/* x 2^k, of k + DF_MATH_ROUND. In two steps, so that an overflow gives infinity and a denormal result is rounded once. */
DF_MATH float df_scaled_f32(float x, float rounded)
{
    uint32_t k = df_bits_f32(rounded), first = k >> 1;
    return x * df_of_bits_f32((first << 23) + 0x3f800000u) * df_of_bits_f32(((k - first) << 23) + 0x3f800000u);
}

DF_MATH double df_scaled_f64(double x, double rounded)
{
    uint64_t k = df_bits_f64(rounded), first = k >> 1;
    return x * df_of_bits_f64((first << 52) + 0x3ff0000000000000u) * df_of_bits_f64(((k - first) << 52) + 0x3ff0000000000000u);
}

/* ---- exp: x = k ln 2 + r, |r| <= ln 2 / 2; e^x = 2^k (1 + r + r^2 P(r)) ---- */

DF_MATH float df_exp_poly_f32(float r)
{
    float z = r * r;                                            /* pairs (Estrin): a shorter chain than Horner's */
    return (0x1p-1f + r * 0x1.5554dcp-3f) + z * ((0x1.55551cp-5f + r * 0x1.120b72p-7f) + z * 0x1.6d0e3ap-10f);
}

DF_MATH double df_exp_poly_f64(double r)
{
    double z = r * r, w = z * z;
    double low = (0x1p-1 + r * 0x1.5555555555557p-3) + z * (0x1.5555555555556p-5 + r * 0x1.11111111100dap-7);
    double middle = (0x1.6c16c16c1641bp-10 + r * 0x1.a01a01abe89cdp-13) + z * (0x1.a01a01a650a56p-16 + r * 0x1.71de022f9ecc8p-19);
    double high = (0x1.27e4dccfcbac7p-22 + r * 0x1.af4ded936cd6ap-26) + z * 0x1.1f70637217ceep-29;
    return low + w * (middle + w * high);
}

DF_MATH float df_exp_f32(float x)
{
    float rounded = x * 0x1.715476p+0f + DF_MATH_ROUND_F32, k = rounded - DF_MATH_ROUND_F32;
    float r = (x - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f;
    float e = df_scaled_f32(1.0f + (r + r * r * df_exp_poly_f32(r)), rounded), or_inf = x > 89.0f ? DF_MATH_INF_F32 : e;
    return x < -104.0f ? 0.0f : or_inf;
}

DF_MATH double df_exp_f64(double x)
{
    double rounded = x * 0x1.71547652b82fep+0 + DF_MATH_ROUND_F64, k = rounded - DF_MATH_ROUND_F64;
    double up = x - k * 0x1.62e42fefa3p-1, down = k * 0x1.3de6af278ece6p-42, r = up - down;
    double e = df_scaled_f64(1.0 + (up + (r * r * df_exp_poly_f64(r) - down)), rounded), or_inf = x > 710.0 ? DF_MATH_INF_F64 : e;
    return x < -746.0 ? 0.0 : or_inf;
}

/* ---- log: x = 2^k m, m in [sqrt 1/2, sqrt 2) ---- */

DF_MATH float df_log_poly_f32(float f)
{
    return 0x1.555554p-2f + f * (-0x1.fffffcp-3f + f * (0x1.999d5ap-3f + f * (-0x1.555b4ap-3f + f * (0x1.23d21ap-3f +
        f * (-0x1.fcf4c6p-4f + f * (0x1.dea282p-4f + f * (-0x1.d635bcp-4f + f * 0x1.1d8ea6p-4f)))))));
}

DF_MATH double df_log_poly_f64(double z)
{
    return 0x1.5555555555555p-1 + z * (0x1.9999999999a38p-2 + z * (0x1.2492492476cc1p-2 + z * (0x1.c71c72015a40dp-3 +
        z * (0x1.745cf90411bd2p-3 + z * (0x1.3b1c3574ee011p-3 + z * (0x1.0fbe9314e6153p-3 + z * 0x1.0c03b922c9755p-3))))));
}

/* What a logarithm gives beyond the positive finite numbers. */
DF_MATH float df_log_special_f32(float x, float r)
{
    float finite = x < DF_MATH_INF_F32 ? r : x, not_zero = x == 0.0f ? -DF_MATH_INF_F32 : finite;
    return x < 0.0f ? DF_MATH_INF_F32 - DF_MATH_INF_F32 : not_zero;
}

DF_MATH double df_log_special_f64(double x, double r)
{
    double finite = x < DF_MATH_INF_F64 ? r : x, not_zero = x == 0.0 ? -DF_MATH_INF_F64 : finite;
    return x < 0.0 ? DF_MATH_INF_F64 - DF_MATH_INF_F64 : not_zero;
}

/* x = 2^k m of a positive normal number. */
DF_MATH float df_mantissa_f32(float x, float *k)
{
    uint32_t bits = df_bits_f32(x), up = bits + (0x3f800000u - 0x3f3504f3u);
    *k = df_of_bits_f32(up >> 23 | 0x4b000000u) - (0x1p23f + 127.0f);
    return df_of_bits_f32(bits - (up & 0xff800000u) + 0x3f800000u);
}

DF_MATH double df_mantissa_f64(double x, double *k)
{
    uint64_t bits = df_bits_f64(x), up = bits + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    *k = df_of_bits_f64(up >> 52 | 0x4330000000000000u) - (0x1p52 + 1023.0);
    return df_of_bits_f64(bits - (up & 0xfff0000000000000u) + 0x3ff0000000000000u);
}

/* log(1 + f) = f - f^2 / 2 + f^3 P(f) */
DF_MATH float df_log_f32(float x)
{
    int tiny = x < 0x1p-126f;
    float k, m = df_mantissa_f32(tiny ? x * 0x1p23f : x, &k), f = m - 1.0f;
    float low = f * f * f * df_log_poly_f32(f);
    k = tiny ? k - 23.0f : k;
    return df_log_special_f32(x, k * 0x1.62e4p-1f + (f - (0.5f * f * f - (low + k * 0x1.7f7d1cp-20f))));
}

/* log(1 + f) = 2 atanh(s) = f - s (f - R(s^2)), s = f / (2 + f) */
DF_MATH double df_log_f64(double x)
{
    int tiny = x < 0x1p-1022;
    double k, m = df_mantissa_f64(tiny ? x * 0x1p54 : x, &k), f = m - 1.0;
    double s = f / (2.0 + f), z = s * s;
    k = tiny ? k - 54.0 : k;
    return df_log_special_f64(x, k * 0x1.62e42fefa3p-1 + (f - (s * (f - z * df_log_poly_f64(z)) - k * 0x1.3de6af278ece6p-42)));
}

/* ---- pow: |x|^y = 2^(y log2 |x|), the logarithm in two numbers ---- */

DF_MATH double df_log2_poly_f64(double z)
{
    return 0x1.3333333333333p-1 + z * (0x1.b6db6db6db7b2p-2 + z * (0x1.555555552ffdbp-2 + z * (0x1.1745d19bec22p-2 +
        z * (0x1.d89d60bece37dp-3 + z * (0x1.99a52b1009823p-3 + z * (0x1.679dab7d8a1adp-3 + z * 0x1.6821fa4f7cb46p-3))))));
}

DF_MATH double df_log2_poly_f32(double z)
{
    return 0x1.71547652b8253p+1 + z * (0x1.ec709dc539ef8p-1 + z * (0x1.2776c295e608ap-1 + z * (0x1.a61a2cca60b3fp-2 +
        z * (0x1.4795a4b9d7c4dp-2 + z * 0x1.21acb2ac810a7p-2))));
}

DF_MATH double df_exp2_poly_f64(double r)
{
    return 0x1.62e42fefa39efp-1 + r * (0x1.ebfbdff82c58fp-3 + r * (0x1.c6b08d704a0c6p-5 + r * (0x1.3b2ab6fba4e78p-7 +
        r * (0x1.5d87fe78a3f87p-10 + r * (0x1.430912f86bb8ap-13 + r * (0x1.ffcbfc6daf25ap-17 + r * (0x1.62c022418a12dp-20 +
        r * (0x1.b524ebbc18ddcp-24 + r * (0x1.e4cf161bc9fe6p-28 + r * (0x1.e9ec4557fa82ep-32 + r * 0x1.c49a35942042bp-36))))))))));
}

DF_MATH double df_exp2_poly_f32(double r)
{
    return 0x1.62e42fefa431p-1 + r * (0x1.ebfbe04612c88p-3 + r * (0x1.c6b08d84db213p-5 + r * (0x1.3b2a1b496502bp-7 +
        r * (0x1.5d87a447745e5p-10 + r * (0x1.444027b2f403cp-13 + r * 0x1.00a10b5603c6ep-16)))));
}

/* Nonzero if x is an integer; infinity is. */
DF_MATH int df_whole_f32(float x)
{
    float a = df_magnitude_f32(x);
    return (a >= 0x1p23f) | ((a + 0x1p23f) - 0x1p23f == a);
}

DF_MATH int df_whole_f64(double x)
{
    double a = df_magnitude_f64(x);
    return (a >= 0x1p52) | ((a + 0x1p52) - 0x1p52 == a);
}

/* x^y, r being |x|^y of finite numbers that are not 0. */
DF_MATH float df_pow_special_f32(float x, float y, float r)
{
    float a = df_magnitude_f32(x), nan = DF_MATH_INF_F32 - DF_MATH_INF_F32;
    float of_zero = y < 0.0f ? DF_MATH_INF_F32 : 0.0f, of_inf = y < 0.0f ? 0.0f : DF_MATH_INF_F32;
    float size = a == 0.0f ? of_zero : r, all = a == DF_MATH_INF_F32 ? of_inf : size;
    int whole = df_whole_f32(y), odd = whole & !df_whole_f32(y * 0.5f);
    float with_sign = odd ? df_signed_f32(all, x) : all;
    float real = ((x < 0.0f) & (a < DF_MATH_INF_F32) & !whole) ? nan : with_sign;
    float number = ((x != x) | (y != y)) ? x + y : real;
    return ((x == 1.0f) | (y == 0.0f)) ? 1.0f : number;
}

DF_MATH double df_pow_special_f64(double x, double y, double r)
{
    double a = df_magnitude_f64(x), nan = DF_MATH_INF_F64 - DF_MATH_INF_F64;
    double of_zero = y < 0.0 ? DF_MATH_INF_F64 : 0.0, of_inf = y < 0.0 ? 0.0 : DF_MATH_INF_F64;
    double size = a == 0.0 ? of_zero : r, all = a == DF_MATH_INF_F64 ? of_inf : size;
    int whole = df_whole_f64(y), odd = whole & !df_whole_f64(y * 0.5);
    double with_sign = odd ? df_signed_f64(all, x) : all;
    double real = ((x < 0.0) & (a < DF_MATH_INF_F64) & !whole) ? nan : with_sign;
    double number = ((x != x) | (y != y)) ? x + y : real;
    return ((x == 1.0) | (y == 0.0)) ? 1.0 : number;
}

/* In f64, whose error of 2^-36 leaves the rounding to f32 alone. */
DF_MATH float df_pow_f32(float x, float y)
{
    double k, m = df_mantissa_f64((double)df_magnitude_f32(x), &k), s = (m - 1.0) / (m + 1.0);
    float in_y = df_magnitude_f32(y) > 1e38f ? df_signed_f32(1e38f, y) : y;     /* infinity times 0 would be NaN */
    double t = (double)in_y * (k + s * df_log2_poly_f32(s * s));
    double in = df_magnitude_f64(t) > 300.0 ? df_signed_f64(300.0, t) : t;
    double rounded = in + DF_MATH_ROUND_F64, r = in - (rounded - DF_MATH_ROUND_F64);
    double power = df_of_bits_f64((df_bits_f64(rounded) << 52) + 0x3ff0000000000000u);
    return df_pow_special_f32(x, y, (float)(power + power * (r * df_exp2_poly_f32(r))));
}

/* log2 m = 2 / (3 ln 2) s (3 + z + z^2 P(z)), s = (m - 1) / (m + 1), z = s^2. Its relative error is about 2^-67.
 * A number that is called a1 has 26 bits, and a2 is the rest of a. */
DF_MATH double df_log2_f64(double m, double k, double *rest)
{
    double f = m - 1.0, d = m + 1.0, inverse = 1.0 / d, quotient = f * inverse;
    double d1 = df_upper_f64(d), d2 = (d - d1) + (m - (d - 1.0));
    double s1 = df_upper_f64(quotient), s2 = (((f - s1 * d1) - s1 * d2)) * inverse, s = s1 + s2;
    double z1 = s1 * s1, z2 = s2 * (2.0 * s1 + s2), z = z1 + z2, tail = z2 + z * z * df_log2_poly_f64(z);
    double t1 = df_upper_f64(3.0 + z1 + tail), t2 = z1 - (t1 - 3.0) + tail;
    double p1 = s1 * t1, p2 = s2 * t1 + s * t2, p = df_upper_f64(p1 + p2), q = p2 - (p - p1);
    double up = 0x1.ec709d8p-1 * p, sum = k + up;
    *rest = (up - (sum - k)) + (0x1.0e80ff5d27f05p-27 * (p + q) + 0x1.ec709d8p-1 * q);
    return sum;
}

DF_MATH double df_pow_f64(double x, double y)
{
    double a = df_magnitude_f64(x);
    int tiny = a < 0x1p-1022;
    double k, m = df_mantissa_f64(tiny ? a * 0x1p54 : a, &k), rest;
    double log2 = df_log2_f64(m, tiny ? k - 54.0 : k, &rest), l1 = df_upper_f64(log2), l2 = (log2 - l1) + rest;
    double in_y = df_magnitude_f64(y) > 0x1p80 ? df_signed_f64(0x1p80, y) : y;
    double y1 = df_upper_f64(in_y), y2 = in_y - y1, up = y1 * l1, down = y2 * l1 + in_y * l2;
    int beyond = df_magnitude_f64(up) > 1200.0;
    double t = beyond ? df_signed_f64(1200.0, up) : up, rounded = t + DF_MATH_ROUND_F64;
    double r = (t - (rounded - DF_MATH_ROUND_F64)) + (beyond ? 0.0 : down);
    return df_pow_special_f64(x, y, df_scaled_f64(1.0 + r * df_exp2_poly_f64(r), rounded));
}

/* x itself if it is 0: the sum of two zeros would lose its sign. */
DF_MATH double df_signed_zero_f64(double x, double r) { return x == 0.0 ? x : r; }

/* ---- sin, cos, tan: x = q pi/2 + r, |r| <= pi/4; r in two numbers; q's two lowest bits say the quadrant ---- */

DF_MATH double df_sin_poly_f64(double z)
{
    return -0x1.5555555555555p-3 + z * (0x1.1111111110bb2p-7 + z * (-0x1.a01a019e839e3p-13 + z * (0x1.71de3796799f6p-19 +
        z * (-0x1.ae600af19478ap-26 + z * 0x1.5e0b13ccdcb64p-33))));
}

DF_MATH double df_cos_poly_f64(double z)
{
    return 0x1.5555555555555p-5 + z * (-0x1.6c16c16c16967p-10 + z * (0x1.a01a019f4ea9bp-16 + z * (-0x1.27e4fa17d1cf9p-22 +
        z * (0x1.1eeb68e0a87edp-29 + z * -0x1.907d9d3a50522p-37))));
}

DF_MATH double df_sin_poly_f32(double z)
{
    return -0x1.555555545e031p-3 + z * (0x1.11110def1b5d9p-7 + z * (-0x1.a013a77a6857dp-13 + z * 0x1.6dbe0003afee2p-19));
}

DF_MATH double df_cos_poly_f32(double z)
{
    return 0x1.5555555502ccbp-5 + z * (-0x1.6c16bf54da9f1p-10 + z * (0x1.a015c46caaa2cp-16 + z * -0x1.252448a918915p-22));
}

DF_MATH double df_tan_poly_f64(double z)
{
    return 0x1.5555555555555p-2 + z * (0x1.1111111111099p-3 + z * (0x1.ba1ba1ba29c3cp-5 + z * (0x1.664f487d81c7ep-6 +
        z * (0x1.226e3662e22dp-7 + z * (0x1.d6d3943f3054ap-9 + z * (0x1.7da7fb017c59p-10 + z * (0x1.351b7ab68b167p-11 +
        z * (0x1.f9e3bada3942bp-13 + z * (0x1.796b03075b865p-14 + z * (0x1.d255a79ec5b22p-15 + z * (-0x1.71b960945e564p-17 +
        z * (0x1.325bd21eac4a3p-15 + z * (-0x1.3352838eb5397p-16 + z * 0x1.1cac8f09e677p-17)))))))))))));
}

/* 1 if the functions called near do not hold for x: |x| > 2^17, infinity, NaN. By the bits, and as wide as x, so that a loop
 * that joins them is vectorised. */
DF_MATH uint32_t df_far_f32(float x) { return (0x48000000u - (df_bits_f32(x) & 0x7fffffffu)) >> 31; }
DF_MATH uint64_t df_far_f64(double x) { return (0x4100000000000000u - (df_bits_f64(x) & 0x7fffffffffffffffu)) >> 63; }

/* a + b, and what rounding it leaves. */
DF_MATH double df_sum_f64(double a, double b, double *rest)
{
    double sum = a + b, part = sum - a;
    *rest = (a - (sum - part)) + (b - part);
    return sum;
}

/* The first three parts of pi/2 have 36 bits, so that their products with q, of 17 bits, are exact. */
DF_MATH double df_reduced_near_f64(double x, double *rest, uint64_t *q)
{
    double turned = x * 0x1.45f306dc9c883p-1 + DF_MATH_ROUND_F64, k = turned - DF_MATH_ROUND_F64, e1, e2;
    double r1 = df_sum_f64(x - k * 0x1.921fb5444p+0, -(k * 0x1.68c234c4cp-39), &e1);
    double r2 = df_sum_f64(r1, -(k * 0x1.98a2e037p-77), &e2);
    double low = (e1 + e2) - k * 0x1.cd129024e088ap-115, r = r2 + low;
    *q = df_bits_f64(turned);
    *rest = (r2 - r) + low;
    return r;
}

/* f32 needs no second number. */
DF_MATH double df_reduced_near_f32(double x, uint64_t *q)
{
    double turned = x * 0x1.45f306dc9c883p-1 + DF_MATH_ROUND_F64, k = turned - DF_MATH_ROUND_F64;
    *q = df_bits_f64(turned);
    return (x - k * 0x1.921fb5444p+0) - k * (0x1.68c234c4cp-39 + 0x1.98a2e037p-77);
}

/* `odd` if q is odd, else `even`, by the bits: SSE2 does not compare 64-bit integers. */
DF_MATH double df_by_quadrant(uint64_t q, double even, double odd)
{
    uint64_t mask = 0u - (q & 1u);
    return df_of_bits_f64((df_bits_f64(odd) & mask) | (df_bits_f64(even) & ~mask));
}

DF_MATH double df_negated_by_quadrant(uint64_t q, double x) { return df_of_bits_f64(df_bits_f64(x) ^ (q & 2u) << 62); }

/* The sine of q pi/2 + r + rest; with q + 1 it is the cosine. */
DF_MATH double df_sin_of_f64(double r, double rest, uint64_t q)
{
    double z = r * r, less = 0.5 * z, one = 1.0 - less;
    double sine = r + (r * z * df_sin_poly_f64(z) + rest * one);
    double cosine = one + (((1.0 - one) - less) + (z * z * df_cos_poly_f64(z) - r * rest));
    return df_negated_by_quadrant(q, df_by_quadrant(q, sine, cosine));
}

DF_MATH double df_tan_of_f64(double r, double rest, uint64_t q)
{
    double z = r * r, low = r * z * df_tan_poly_f64(z) + rest * (1.0 + z), t = r + low, left = low - (t - r);
    double inverse = -1.0 / t;
    return df_by_quadrant(q, t, inverse + inverse * inverse * left);
}

DF_MATH double df_sin_of_f32(double r, uint64_t q)
{
    double z = r * r;
    double sine = r + r * z * df_sin_poly_f32(z), cosine = 1.0 - 0.5 * z + z * z * df_cos_poly_f32(z);
    return df_negated_by_quadrant(q, df_by_quadrant(q, sine, cosine));
}

DF_MATH double df_sin_near_f64(double x)
{
    uint64_t q;
    double rest, r = df_reduced_near_f64(x, &rest, &q);
    return df_signed_zero_f64(x, df_sin_of_f64(r, rest, q));
}

DF_MATH double df_cos_near_f64(double x)
{
    uint64_t q;
    double rest, r = df_reduced_near_f64(x, &rest, &q);
    return df_sin_of_f64(r, rest, q + 1u);
}

DF_MATH double df_tan_near_f64(double x)
{
    uint64_t q;
    double rest, r = df_reduced_near_f64(x, &rest, &q);
    return df_signed_zero_f64(x, df_tan_of_f64(r, rest, q));
}

DF_MATH float df_sin_near_f32(float x)
{
    uint64_t q;
    double r = df_reduced_near_f32((double)x, &q);
    return (float)df_signed_zero_f64((double)x, df_sin_of_f32(r, q));
}

DF_MATH float df_cos_near_f32(float x)
{
    uint64_t q;
    double r = df_reduced_near_f32((double)x, &q);
    return (float)df_sin_of_f32(r, q + 1u);
}

DF_MATH float df_tan_near_f32(float x)
{
    uint64_t q;
    double r = df_reduced_near_f32((double)x, &q);
    return (float)df_signed_zero_f64((double)x, df_sin_of_f32(r, q) / df_sin_of_f32(r, q + 1u));
}

/* The bits of 2/pi. In OpenCL C only the program has constants, not a function. */
#define DF_MATH_TWO_OVER_PI                                                                                                  \
    { 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u,                \
      0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u,                \
      0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu,                \
      0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu,                \
      0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu }
#ifdef __OPENCL_C_VERSION__
__constant uint32_t df_two_over_pi[] = DF_MATH_TWO_OVER_PI;
#endif

/* r of a number beyond 2^17, not infinity. The bits of 2/pi that give multiples of 4 are left out, and 224 of the others are
 * multiplied by the 53 bits of x. */
DF_MATH_SLOW double df_reduced_far_f64(double x, double *rest, uint64_t *q)
{
#ifndef __OPENCL_C_VERSION__
    static const uint32_t df_two_over_pi[] = DF_MATH_TWO_OVER_PI;
#endif
    const uint64_t bits = df_bits_f64(x), m = (bits & 0x000fffffffffffffu) | 0x0010000000000000u;
    const int e = (int)(bits >> 52 & 2047u) - 1075;             /* |x| = m 2^e, e >= -35 */
    const int first = e >= 2 ? (e - 2) / 32 : 0, point = 224 - (e - 32 * first);
    uint32_t product[10] = { 0 };                               /* lowest first; `point` bits of it are the fraction */
    for (int n = 0; n < 2; n++) {
        uint64_t factor = n ? m >> 32 : m & 0xffffffffu, carry = 0;
        for (int k = 0; k < 7; k++) {
            carry += factor * df_two_over_pi[first + 6 - k] + product[k + n];
            product[k + n] = (uint32_t)carry;
            carry >>= 32;
        }
        product[7 + n] = (uint32_t)carry;
    }

    /* Six words of the fraction, highest first, and two bits before them. */
    uint32_t part[7];
    for (int k = 0; k < 7; k++) {
        int low = point + 2 - 32 * (k + 1), word = low / 32, shift = low & 31; /* below the product low < 0 */
        uint64_t two = low < 0 ? 0 : product[word] | (uint64_t)product[word + 1] << 32;
        part[k] = (uint32_t)(two >> shift);
    }
    uint32_t quarter = part[0] >> 30, more_than_half = part[0] >> 29 & 1u, flip = 0u - more_than_half;
    double high = 0.0, down = 0.0, scale = 0x1p-32;
    for (int k = 0; k < 6; k++, scale *= 0x1p-32) {
        uint32_t word = (part[k] << 2 | part[k + 1] >> 30) ^ flip;
        double term = (double)word * scale, sum = high + term;
        down += term - (sum - high);
        high = sum;
    }
    double turn = high + down, rem = (high - turn) + down;      /* of a quarter turn: at most 1/2 */

    /* times pi/2 */
    double a1 = df_upper_f64(turn), a2 = turn - a1, b = 0x1.921fb54442d18p+0, b1 = df_upper_f64(b), b2 = b - b1;
    double r = turn * b, low = (((a1 * b1 - r) + a1 * b2 + a2 * b1) + a2 * b2) + (turn * 0x1.1a62633145c06p-54 + rem * b);
    double total = r + low, left = (r - total) + low;
    int minus = (more_than_half != 0) != (x < 0.0);
    quarter += more_than_half;
    *q = x < 0.0 ? 0u - (uint64_t)quarter : quarter;
    *rest = minus ? -left : left;
    return minus ? -total : total;
}

DF_MATH_SLOW double df_reduced_f64(double x, double *rest, uint64_t *q)
{
    double bad = x - x;
    if (!df_far_f64(x)) return df_reduced_near_f64(x, rest, q);
    if (bad == 0.0) return df_reduced_far_f64(x, rest, q);
    *rest = bad;
    *q = 0;
    return bad;
}

DF_MATH_SLOW double df_sin_f64(double x)
{
    uint64_t q;
    double rest, r = df_reduced_f64(x, &rest, &q);
    return df_signed_zero_f64(x, df_sin_of_f64(r, rest, q));
}

DF_MATH_SLOW double df_cos_f64(double x)
{
    uint64_t q;
    double rest, r = df_reduced_f64(x, &rest, &q);
    return df_sin_of_f64(r, rest, q + 1u);
}

DF_MATH_SLOW double df_tan_f64(double x)
{
    uint64_t q;
    double rest, r = df_reduced_f64(x, &rest, &q);
    return df_signed_zero_f64(x, df_tan_of_f64(r, rest, q));
}

DF_MATH_SLOW float df_sin_f32(float x) { return df_far_f32(x) ? (float)df_sin_f64((double)x) : df_sin_near_f32(x); }
DF_MATH_SLOW float df_cos_f32(float x) { return df_far_f32(x) ? (float)df_cos_f64((double)x) : df_cos_near_f32(x); }
DF_MATH_SLOW float df_tan_f32(float x) { return df_far_f32(x) ? (float)df_tan_f64((double)x) : df_tan_near_f32(x); }

/* ---- atan2: the angle is a multiple of pi/2 and atan(a), a in [0, 1] ---- */

DF_MATH float df_atan_poly_f32(float z)
{
    return -0x1.555554p-2f + z * (0x1.99983cp-3f + z * (-0x1.246cd2p-3f + z * (0x1.c3f168p-4f + z * (-0x1.6295f8p-4f +
        z * (0x1.0001c6p-4f + z * (-0x1.25dc12p-5f + z * (0x1.ba9f66p-7f + z * -0x1.38de56p-9f)))))));
}

DF_MATH double df_atan_poly_f64(double z)
{
    return -0x1.5555555555555p-2 + z * (0x1.99999999998f9p-3 + z * (-0x1.249249248c7dap-3 + z * (0x1.c71c71c472843p-4 +
        z * (-0x1.745d16f26d0a3p-4 + z * (0x1.3b13aaf4aba4ap-4 + z * (-0x1.1110bfea8ed5ep-4 + z * (0x1.e1dc0d7679adcp-5 +
        z * (-0x1.af00bd568a3d2p-5 + z * (0x1.854a7b99af61dp-5 + z * (-0x1.60ebd1489b946p-5 + z * (0x1.3d3f26d5ea7ffp-5 +
        z * (-0x1.147b2825d82f6p-5 + z * (0x1.c3ac54a572735p-6 + z * (-0x1.4b974a27ac39fp-6 + z * (0x1.a1fe88baf72d4p-7 +
        z * (-0x1.aef1a8e977bf8p-8 + z * (0x1.57cc888719aap-9 + z * (-0x1.8a2f3ae537bb1p-11 + z * (0x1.1f0adb240a1fbp-13 +
        z * -0x1.8d087295ab9f4p-17)))))))))))))))))));
}

DF_MATH float df_atan2_f32(float y, float x)
{
    float ax = df_magnitude_f32(x), ay = df_magnitude_f32(y), minus = df_minus_f32(x);
    int steep = ay > ax;
    float short_side = steep ? ax : ay, long_side = steep ? ay : ax, ratio = short_side / long_side;
    float or_zero = long_side == 0.0f ? 0.0f : ratio, a = short_side == DF_MATH_INF_F32 ? 1.0f : or_zero, z = a * a;
    float low = a * z * df_atan_poly_f32(z), left = minus < 0.0f ? 0x1.921fb4p+1f : 0.0f, left_rest = minus < 0.0f ? 0x1.4442dp-23f : 0.0f;
    float base = steep ? 0x1.921fb4p+0f : left, rest = steep ? 0x1.4442dp-24f : left_rest;
    float turn = steep ? -minus : minus;
    float sum = base + turn * a, sum_rest = (base - sum) + turn * a;      /* exact: base is 0, or larger than a */
    float angle = df_signed_f32(sum + (sum_rest + (turn * low + rest)), y);
    return ((x != x) | (y != y)) ? x + y : angle;
}

DF_MATH double df_atan2_f64(double y, double x)
{
    double ax = df_magnitude_f64(x), ay = df_magnitude_f64(y), minus = df_minus_f64(x);
    int steep = ay > ax;
    double short_side = steep ? ax : ay, long_side = steep ? ay : ax, ratio = short_side / long_side;
    double or_zero = long_side == 0.0 ? 0.0 : ratio, a = short_side == DF_MATH_INF_F64 ? 1.0 : or_zero, z = a * a;
    double low = a * z * df_atan_poly_f64(z), left = minus < 0.0 ? 0x1.921fb54442d18p+1 : 0.0, left_rest = minus < 0.0 ? 0x1.1a62633145c06p-53 : 0.0;
    double base = steep ? 0x1.921fb54442d18p+0 : left, rest = steep ? 0x1.1a62633145c06p-54 : left_rest;
    double turn = steep ? -minus : minus;
    double sum = base + turn * a, sum_rest = (base - sum) + turn * a;      /* exact: base is 0, or larger than a */
    double angle = df_signed_f64(sum + (sum_rest + (turn * low + rest)), y);
    return ((x != x) | (y != y)) ? x + y : angle;
}

/* ---- tanh: |x| < 0.5625: x + x^3 P(x^2); else 1 - 2 / (e^2|x| + 1) ---- */

DF_MATH float df_tanh_poly_f32(float z)
{
    return -0x1.555556p-2f + z * (0x1.111102p-3f + z * (-0x1.ba12d8p-5f + z * (0x1.655dcp-6f + z * (-0x1.1680dcp-7f +
        z * 0x1.460e8p-9f))));
}

DF_MATH double df_tanh_poly_f64(double z)
{
    return -0x1.5555555555555p-2 + z * (0x1.1111111110fbep-3 + z * (-0x1.ba1ba1b9f19ap-5 + z * (0x1.664f48727bbfdp-6 +
        z * (-0x1.226e32212f8e9p-7 + z * (0x1.d6d30f918e945p-9 + z * (-0x1.7d9545835e3e5p-10 + z * (0x1.34ad2f7abd75ap-11 +
        z * (-0x1.eaf47874aab53p-13 + z * (0x1.616f17dcc6fd8p-14 + z * -0x1.4ffe31971aeb8p-16)))))))));
}

DF_MATH float df_tanh_f32(float x)
{
    float a = df_magnitude_f32(x), in = a > 10.0f ? 10.0f : a, z = in * in;
    float near = in + in * z * df_tanh_poly_f32(z), far = 1.0f - 2.0f / (df_exp_f32(2.0f * in) + 1.0f);
    return df_signed_f32(a < 0.5625f ? near : far, x);
}

DF_MATH double df_tanh_f64(double x)
{
    double a = df_magnitude_f64(x), in = a > 20.0 ? 20.0 : a, z = in * in;
    double near = in + in * z * df_tanh_poly_f64(z), far = 1.0 - 2.0 / (df_exp_f64(2.0 * in) + 1.0);
    return df_signed_f64(a < 0.5625 ? near : far, x);
}

#endif
