/* test_differ.c - the comparison behind --check=variants: which elements agree, and which one is told, for every
 * element type.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "runtime/inspect/differ.h"

static const struct df_tolerance none;

static struct df_tolerance given(double relative, double absolute)
{
    return (struct df_tolerance){ relative, absolute, DF_RELATIVE | DF_ABSOLUTE, 0 };
}

static void test_integers_are_exact(void **state)
{
    struct dfr_difference d;
    const uint8_t a[] = { 1, 2, 250 }, b[] = { 1, 3, 255 };
    const int64_t x[] = { INT64_MAX, INT64_MIN }, y[] = { INT64_MAX - 1, INT64_MIN };
    (void)state;
    assert_true(dfr_differ(DF_U8, a, b, 3, none, &d));
    assert_int_equal(d.first, 1);
    assert_int_equal(d.count, 2);
    assert_string_equal(d.a, "2");
    assert_string_equal(d.b, "3");
    assert_true(d.by == 1 && d.allowed == 0);
    assert_true(dfr_differ(DF_I64, x, y, 2, none, &d));
    assert_int_equal(d.count, 1);
    assert_string_equal(d.a, "9223372036854775807");
    assert_string_equal(d.b, "9223372036854775806");
    assert_false(dfr_differ(DF_I64, x + 1, y + 1, 1, none, &d));
    assert_false(dfr_differ(DF_U8, a, b, 2, given(0, 1), &d));
    assert_true(dfr_differ(DF_U8, a, b, 3, given(0, 1), &d));
    assert_int_equal(d.first, 2);
    assert_false(dfr_differ(DF_U8, a, b, 0, none, &d));
}

static void test_defaults(void **state)
{
    struct dfr_difference d;
    const float f = 1000, near = 1000.009f, far = 1000.02f, tiny = 5e-8f, zero = 0;
    const double g = 1000, close = 1000 + 5e-10, wide = 1000 + 5e-9;
    const uint16_t h = 0x3c00, next = 0x3c01, off = 0x3c08; /* 1, 1 + 1/1024, 1 + 8/1024 */
    (void)state;
    assert_false(dfr_differ(DF_F32, &f, &near, 1, none, &d));
    assert_true(dfr_differ(DF_F32, &f, &far, 1, none, &d));
    assert_true(fabs(d.by - 0.02) < 1e-4 && fabs(d.allowed - 0.01) < 1e-4);
    assert_false(dfr_differ(DF_F32, &tiny, &zero, 1, none, &d));
    assert_false(dfr_differ(DF_F64, &g, &close, 1, none, &d));
    assert_true(dfr_differ(DF_F64, &g, &wide, 1, none, &d));
    assert_false(dfr_differ(DF_F16, &h, &next, 1, none, &d));
    assert_true(dfr_differ(DF_F16, &h, &off, 1, none, &d));
    assert_string_equal(d.b, "1.0078");
}

/* Only one of the two is given: the other one has its default. */
static void test_half_given(void **state)
{
    struct df_tolerance t = dfr_tolerance((struct df_tolerance){ .relative = 0.5, .given = DF_RELATIVE }, DF_F32);
    (void)state;
    assert_true(t.relative == 0.5 && t.absolute == 1e-7);
    t = dfr_tolerance((struct df_tolerance){ .absolute = 2, .given = DF_ABSOLUTE }, DF_I32);
    assert_true(t.relative == 0 && t.absolute == 2);
}

static void test_not_numbers(void **state)
{
    struct dfr_difference d;
    const float a[] = { NAN, 0.0f, INFINITY, -INFINITY, NAN, INFINITY, 1 };
    const float b[] = { -NAN, -0.0f, INFINITY, -INFINITY, 1, -INFINITY, INFINITY };
    const uint16_t half_nan = 0x7e01, other_nan = 0xfe00, half_infinity = 0x7c00, largest = 0x7bff, smallest = 0x0001;
    (void)state;
    assert_false(dfr_differ(DF_F32, a, b, 4, given(0, 0), &d));
    assert_true(dfr_differ(DF_F32, a, b, 7, given(0, 1e30), &d));
    assert_int_equal(d.first, 4);
    assert_int_equal(d.count, 3);
    assert_string_equal(d.a, "nan");
    assert_true(isinf(d.by));
    assert_false(dfr_differ(DF_F16, &half_nan, &other_nan, 1, none, &d));
    assert_true(dfr_differ(DF_F16, &half_infinity, &largest, 1, given(1, 1e30), &d));
    assert_string_equal(d.a, "inf");
    assert_string_equal(d.b, "65504");
    assert_true(dfr_differ(DF_F16, &smallest, &largest, 1, given(0, 0), &d));
    assert_string_equal(d.a, "5.9605e-08");
}

/* The rule is symmetric, and at its bound still agrees. */
static void test_bound(void **state)
{
    struct dfr_difference d;
    const double a = 8, b = 10;
    (void)state;
    assert_false(dfr_differ(DF_F64, &a, &b, 1, given(0.125, 0.75), &d)); /* 2 = 0.75 + 0.125 * 10 */
    assert_false(dfr_differ(DF_F64, &b, &a, 1, given(0.125, 0.75), &d));
    assert_true(dfr_differ(DF_F64, &a, &b, 1, given(0.125, 0.7499), &d));
    assert_true(dfr_differ(DF_F64, &b, &a, 1, given(0.125, 0.7499), &d));
}

static void test_same_bits(void **state)
{
    struct dfr_difference d;
    const float a[] = { 1, 0.0f, NAN }, b[] = { 1, -0.0f, -NAN };
    char text[200];
    (void)state;
    assert_false(dfr_differ(DF_F32, a, b, 3, none, &d));
    assert_false(dfr_differ(DF_F32, a, a, 3, DFR_SAME_BITS, &d));
    assert_true(dfr_differ(DF_F32, a, b, 3, DFR_SAME_BITS, &d));
    dfr_difference_text(&d, (const uint64_t[]){ 1, 3 }, 2, "recorded", "here", text, sizeof text);
    assert_string_equal(text, "[0,1] (index 1): recorded 0, here -0, differs by 0, allowed 0; 2 of 3 elements differ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits), cmocka_unit_test(test_integers_are_exact), cmocka_unit_test(test_defaults), cmocka_unit_test(test_half_given),
        cmocka_unit_test(test_not_numbers), cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
