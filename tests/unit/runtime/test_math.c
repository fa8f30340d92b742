/* test_math.c - the functions of df_math.h: at most 2 ulp on sampled arguments, and right for every special value.
 *
 * make check-math does the same for all arguments of f32, and for 10^8 of f64.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/math/accuracy.h"

/* Zeros, infinities, NaN, ends of the ranges, integers odd and even, what over- and underflows, and numbers next to multiples of
 * pi/2; each with both signs. 0x1.6ac5b262ca1ffp849 is the f64 that is nearest to one. */
static const double special[] = {
    0.0, INFINITY, NAN, 1.0, 0.5, 2.0, 3.0, 1.5, 4.0, 5.0, 0.33333, 10.0, 1e-3, 0x1p-1074, 0x1.8p-1074, 0x1p-1060, 0x1p-1022,
    0x0.fffffffffffffp-1022, 0x1p-149, 0x1.8p-148, 0x1p-130, 0x1p-126, 0x1.fffffcp-127, 0x1.fffffep127, 0x1.fffffffffffffp1023,
    0x1.fffffep-1, 0x1.000002p0, 0x1.fffffffffffffp-1, 0x1.0000000000001p0, 0x1p17, 0x1.000002p17, 0x1.0000000000001p17,
    0x1p22, 0x1p23, 0x1.000002p23, 0x1p24, 0x1p51, 0x1p52, 0x1.0000000000001p52, 0x1.fffffffffffffp52, 0x1p53, 0x1p63, 0x1p64, 0x1p127,
    0x1p1023, 0x1.8p1000, 1e22, 1e300, 1e-300, 1e30, 1e-30, 88.72283172607422, 88.72284, 89.0, 103.97208, 104.0, 103.0, 87.33655,
    709.782712893384, 709.7827128933841, 710.0, 745.1332191019411, 745.1332191019412, 746.0, 708.4, 0.5625, 0x1.1fffffffffffep-1,
    0x1.921fb54442d18p0, 0x1.921fb54442d18p1, 0x1.921fb6p0, 0x1.921fb6p1, 0x1.2d97c7f3321d2p1, 0x1.2d97c8p2, 0x1.6ac5b262ca1ffp849,
    0x1.f9cbe2p7, 0x1.c463acp73, 0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bccp-1, 0x1.6a09e6p-1, 0x1.6a09e8p-1, 20.0, 10.0, 9.01, 19.1, 1024.0,
    1023.0, 1074.0, 1075.0, 127.0, 128.0, 149.0, 150.0, 151.0, -1.0
};
enum { N_SPECIAL = sizeof special / sizeof special[0] };

static double signed_special(int k) { return k < N_SPECIAL ? special[k] : -special[k - N_SPECIAL]; }

static void check_f32(const struct function *f, float x, float y)
{
    double e = error_at_f32(f, x, y);
    if (e > 2) fail_msg("%s of f32: %a, %a: %g ulp", f->name, (double)x, (double)y, e);
}

static void check_f64(const struct function *f, double x, double y)
{
    double e = error_at_f64(f, x, y);
    if (e > 2) fail_msg("%s of f64: %a, %a: %g ulp", f->name, x, y, e);
}

static void special_values(void **state)
{
    (void)state;
    for (int n = 0; n < N_FUNCTIONS; n++) {
        const struct function *f = &functions[n];
        for (int i = 0; i < 2 * N_SPECIAL; i++) {
            for (int j = 0; j < (f->two_f32 ? 2 * N_SPECIAL : 1); j++) {
                check_f32(f, (float)signed_special(i), (float)signed_special(j));
                check_f64(f, signed_special(i), signed_special(j));
            }
        }
    }
}

static void sampled_arguments(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int n = 0; n < N_FUNCTIONS; n++) {
        for (int i = 0; i < 40000; i++) {
            float xf, yf;
            double x, y;
            random_arguments_f32(&functions[n], &seed, &xf, &yf);
            check_f32(&functions[n], xf, yf);
            random_arguments(&functions[n], &seed, &x, &y);
            check_f64(&functions[n], x, y);
        }
    }
}

/* Up to 2^17, and there to the bit, the functions called near are the others. */
static void near_is_the_same(void **state)
{
    uint64_t seed = 2;
    (void)state;
    for (int i = 0; i < 100000; i++) {
        double x = i == 0 ? 0x1p17 : ldexp((double)(int64_t)next_random(&seed), -46 - i % 20);
        float f = (float)x;
        assert_int_equal(df_far_f64(x), 0);
        assert_int_equal(df_far_f32(f), 0);
        assert_true(df_bits_f64(df_sin_near_f64(x)) == df_bits_f64(df_sin_f64(x)));
        assert_true(df_bits_f64(df_cos_near_f64(x)) == df_bits_f64(df_cos_f64(x)));
        assert_true(df_bits_f64(df_tan_near_f64(x)) == df_bits_f64(df_tan_f64(x)));
        assert_true(df_bits_f32(df_sin_near_f32(f)) == df_bits_f32(df_sin_f32(f)));
        assert_true(df_bits_f32(df_cos_near_f32(f)) == df_bits_f32(df_cos_f32(f)));
        assert_true(df_bits_f32(df_tan_near_f32(f)) == df_bits_f32(df_tan_f32(f)));
    }
}

static void far_is_told(void **state)
{
    static const double far[] = { 0x1.0000000000001p17, 1e300, INFINITY, NAN };
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        assert_int_equal(df_far_f64(far[i]), 1);
        assert_int_equal(df_far_f64(-far[i]), 1);
    }
    assert_int_equal(df_far_f32(0x1.000002p17f), 1);
    assert_int_equal(df_far_f32(-INFINITY), 1);
    assert_int_equal(df_far_f32(NAN), 1);
    assert_int_equal(df_far_f32(0.0f), 0);
}

/* What the tests above cannot miss: an error that is one ulp too large is seen, and so is a zero of the wrong sign. */
static void errors_are_seen(void **state)
{
    (void)state;
    assert_true(error_f32(0x1.000006p0f, 1) > 2.9);
    assert_true(error_f64(0x1.0000000000003p0, 1) > 2.9);
    assert_true(error_f32(-0.0f, 0.0) == WRONG);
    assert_true(error_f64(INFINITY, NAN) == WRONG);
    assert_true(error_f64(0x1p-1074, 0x3p-1074) > 1.9);
    assert_true(error_f32(0x1p-149f, 0x4p-149) > 2.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_values), cmocka_unit_test(sampled_arguments), cmocka_unit_test(near_is_the_same),
        cmocka_unit_test(far_is_told), cmocka_unit_test(errors_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
