/* test_formula_operations.c - the operations of formulas (runtime/df_formula.h) against longer ways to compute the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/df_formula.h"

/* ---- numbers to try ---- */

static uint64_t state = 1;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* All exponents and signs; every fourth is near a half, where ties are. */
static double some_double(void)
{
    uint64_t bits = next();
    double f;
    memcpy(&f, &bits, sizeof f);
    if (bits % 4 == 0)
        f = (double)((int64_t)next() >> (next() % 63)) + (double)(next() % 3) * 0.5;
    return f;
}

/* ---- conversions ---- */

static int64_t converted(double f, double low, double high, int64_t least, int64_t most)
{
    if (f != f)
        return 0;
    f = nearbyint(f);
    return f <= low ? least : f >= high ? most : (int64_t)f;
}

static void to_integers(void **unused)
{
    static const double edges[] = { 0.5, 1.5, 2.5, -0.5, -0.0, 254.5, 255.5, 65534.5, 2147483647.5, -2147483648.5, 8388607.5, 1e30,
                                    -1e30, INFINITY, -INFINITY, NAN, 9223372036854775808.0, 4503599627370495.5 };
    (void)unused;
    for (size_t i = 0; i < 400000; i++) {
        double d = i < sizeof edges / sizeof *edges ? edges[i] : some_double();
        float f = (float)d;
        assert_int_equal(df_u8_of_f64(d), converted(d, 0, 255, 0, 255));
        assert_int_equal(df_u16_of_f64(d), converted(d, 0, 65535, 0, 65535));
        assert_int_equal(df_i32_of_f64(d), converted(d, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX));
        assert_true(df_i64_of_f64(d) == converted(d, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX));
        assert_int_equal(df_u8_of_f32(f), converted(f, 0, 255, 0, 255));
        assert_int_equal(df_u16_of_f32(f), converted(f, 0, 65535, 0, 65535));
        assert_int_equal(df_i32_of_f32(f), converted(f, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX));
        assert_true(df_i64_of_f32(f) == converted(f, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX));
    }
    assert_false(signbit((double)df_i64_of_f64(-0.25)));
}

/* The f16 with these bits, by its definition. */
static double half_value(unsigned bits)
{
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

static void every_half(void **unused)
{
    (void)unused;
    for (unsigned bits = 0; bits < 65536; bits++) {
        double value = half_value(bits);
        if (value != value) {
            assert_true(isnan(df_f32_of_f16((uint16_t)bits)) && isnan(df_round_f16_f64(value)));
            continue;
        }
        float f = df_f32_of_f16((uint16_t)bits);
        assert_true((double)f == value && !signbit(f) == !signbit(value));
        assert_int_equal(df_f16_of_f32(f), bits);
        assert_int_equal(df_f16_of_f64(value), bits);
    }
}

/* The nearest of the two f16 around a number; of two as near the one with an even fraction. */
static void nearest_half(void **unused)
{
    (void)unused;
    for (unsigned bits = 0; bits < 0x7bff; bits++) {
        double low = half_value(bits), high = half_value(bits + 1), middle = (low + high) / 2;
        assert_int_equal(df_f16_of_f64(middle), bits & 1 ? bits + 1 : bits);
        assert_int_equal(df_f16_of_f64(nextafter(middle, 0)), bits);
        assert_int_equal(df_f16_of_f64(nextafter(middle, INFINITY)), bits + 1);
        assert_int_equal(df_f16_of_f32((float)middle), bits & 1 ? bits + 1 : bits);
        assert_int_equal(df_f16_of_f32(nextafterf((float)middle, 0)), bits);
    }
    assert_int_equal(df_f16_of_f64(65519.999), 0x7bff);
    assert_int_equal(df_f16_of_f64(-65520), 0xfc00);
}

/* ---- integers ---- */

static void integers(void **unused)
{
    static const int32_t some[] = { INT32_MIN, INT32_MIN + 1, -7, -1, 0, 1, 2, 31, 32, 33, INT32_MAX };
    const size_t n = sizeof some / sizeof *some;
    (void)unused;
    for (size_t i = 0; i < n * n; i++) {
        int64_t a = some[i / n], b = some[i % n];
        int32_t x = (int32_t)a, y = (int32_t)b;
        assert_int_equal(df_add_i32(x, y), (int32_t)(uint32_t)(uint64_t)(a + b));
        assert_int_equal(df_sub_i32(x, y), (int32_t)(uint32_t)(uint64_t)(a - b));
        assert_int_equal(df_mul_i32(x, y), (int32_t)(uint32_t)(uint64_t)(a * b));
        assert_int_equal(df_div_i32(x, y), b == 0 ? 0 : (int32_t)(uint32_t)(uint64_t)(a / b));
        assert_int_equal(df_mod_i32(x, y), b == 0 ? 0 : a % b);
        assert_int_equal(df_shl_i32(x, y), (int32_t)(uint32_t)((uint64_t)a << (b & 31)));
        assert_int_equal(df_shr_i32(x, y), a >> (b & 31));
    }
    assert_true(df_div_i64(INT64_MIN, -1) == INT64_MIN && df_mod_i64(INT64_MIN, -1) == 0 && df_div_i64(5, 0) == 0);
    assert_int_equal(df_abs_i32(INT32_MIN), INT32_MIN);
}

/* ---- borders ---- */

/* Goes from 0 to place i step by step, as a reader of the language would. */
static int64_t walked(int64_t i, int64_t n, int kind)
{
    int64_t at = 0, step = i < 0 ? -1 : 1;
    for (int64_t k = i < 0 ? -i : i; k > 0; k--) {
        if (kind == 0)
            at = (at + (i < 0 ? n - 1 : 1)) % n;             /* wrap */
        else if (at + step >= 0 && at + step < n)
            at += step;
        else if (kind == 1 && n > 1)
            at += step = -step;                              /* mirror */
        else if (kind == 2)
            step = -step;                                    /* reflect: stays once */
    }
    return at;
}

static void borders(void **unused)
{
    (void)unused;
    for (int64_t n = 1; n < 9; n++)
        for (int64_t i = -40; i < 40; i++) {
            assert_int_equal(df_wrap_at(i, n), walked(i, n, 0));
            assert_int_equal(df_mirror_at(i, n), walked(i, n, 1));
            assert_int_equal(df_reflect_at(i, n), walked(i, n, 2));
            assert_int_equal(df_clamp_at(i, n), i < 0 ? 0 : i >= n ? n - 1 : i);
        }
}

/* Columns of MAIN: those for which both indices are inside, and no others between them. */
static void bounds(void **unused)
{
    (void)unused;
    for (int64_t width = 1; width < 9; width++)
        for (int64_t n = 1; n < 12; n++)
            for (int64_t factor = 1; factor < 4; factor++)
                for (int64_t least = -5; least < 5; least++)
                    for (int64_t most = least; most < 5; most++) {
                        int64_t low = 0, high = width;
                        df_narrow(&low, &high, factor, least, most, n);
                        df_order(&low, &high, width);
                        assert_true(0 <= low && low <= high && high <= width);
                        for (int64_t x = 0; x < width; x++)
                            assert_int_equal(low <= x && x < high, factor * x + least >= 0 && factor * x + most < n);
                    }
}

/* ---- long reductions ---- */

struct value {
    bool any;
    float f;
};

static void take(struct value *to, struct value with)
{
    if (with.any)
        *to = (struct value){ true, to->any ? to->f + with.f : with.f };
}

/* As docs/language.md tells it. */
static struct value reduced(const struct value *values, size_t n)
{
    size_t n_blocks = (n + 1023) / 1024;
    if (n <= 1)
        return n ? values[0] : (struct value){ false, 0 };
    struct value *blocks = calloc(n_blocks, sizeof *blocks), result;
    assert_non_null(blocks);
    for (size_t b = 0; b < n_blocks; b++) {
        struct value lane[16] = { { false, 0 } };
        for (size_t t = 0; t < 1024 && b * 1024 + t < n; t++)
            take(&lane[t % 16], values[b * 1024 + t]);
        for (size_t apart = 8; apart; apart /= 2)
            for (size_t l = 0; l < apart; l++)
                take(&lane[l], lane[l + apart]);
        blocks[b] = lane[0];
    }
    result = reduced(blocks, n_blocks);
    free(blocks);
    return result;
}

static void lanes(void **unused)
{
    static const size_t sizes[] = { 0, 1, 2, 15, 16, 17, 1023, 1024, 1025, 2048, 100000, 1024 * 1024 - 1, 1024 * 1024, 1024 * 1024 + 1 };
    (void)unused;
    struct value *values = calloc(1024 * 1024 + 1, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < 1024 * 1024 + 1; i++)
        values[i] = (struct value){ next() % 3 != 0, (float)(int32_t)next() };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct df_lanes_sum_f32 all = { .n = { 0 } };
        struct value want = reduced(values, sizes[i]);
        float got;
        for (size_t t = 0; t < sizes[i]; t++)
            df_put_sum_f32(&all, 0, values[t].any, values[t].f);
        assert_int_equal(df_end_sum_f32(&all, &got), want.any);
        if (want.any)
            assert_memory_equal(&got, &want.f, sizeof got);
    }
    free(values);
}

static void extents(void **unused)
{
    const size_t dims[] = { 5, 1000 };
    (void)unused;
    assert_false(df_beyond(dims, 2, 1000));
    assert_true(df_beyond(dims, 2, 999));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_integers), cmocka_unit_test(every_half), cmocka_unit_test(nearest_half), cmocka_unit_test(integers),
        cmocka_unit_test(borders),     cmocka_unit_test(bounds),     cmocka_unit_test(lanes),        cmocka_unit_test(extents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
