/* test_expr.c - arithmetic of the language: every operator, every failure, conversions and postfix code. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/graph/expr.h"

static struct df_number num(int64_t i) { return (struct df_number){ .kind = DF_KIND_I64, .i = i }; }
static struct df_number flt(double f) { return (struct df_number){ .kind = DF_KIND_F64, .f = f }; }
static struct df_number str(const char *s) { return (struct df_number){ .kind = DF_KIND_STR, .s = s }; }

static void gives_int(enum df_x op, struct df_number a, struct df_number b, int64_t want)
{
    struct df_number r = { 0 };
    assert_int_equal(df_number_binary(op, a, b, &r, NULL), DF_OK);
    assert_int_equal(r.kind, DF_KIND_I64);
    assert_true(r.i == want);
}

static void gives_float(enum df_x op, struct df_number a, struct df_number b, double want)
{
    struct df_number r = { 0 };
    assert_int_equal(df_number_binary(op, a, b, &r, NULL), DF_OK);
    assert_int_equal(r.kind, DF_KIND_F64);
    assert_true(r.f == want || (isnan(r.f) && isnan(want)));
}

static void fails(enum df_x op, struct df_number a, struct df_number b, const char *want)
{
    struct df_number r = { .i = 77 };
    struct df_error e = { "" };
    assert_int_equal(df_number_binary(op, a, b, &r, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, want);
    assert_int_equal(r.i, 77);
}

static void test_integers(void **state)
{
    (void)state;
    gives_int(DF_X_ADD, num(2), num(3), 5);
    gives_int(DF_X_SUB, num(2), num(3), -1);
    gives_int(DF_X_MUL, num(-4), num(3), -12);
    gives_int(DF_X_DIV, num(-7), num(2), -3);
    gives_int(DF_X_MOD, num(-7), num(2), -1);
    gives_int(DF_X_MIN, num(-7), num(2), -7);
    gives_int(DF_X_MAX, num(-7), num(2), 2);
    gives_int(DF_X_LT, num(1), num(2), 1);
    gives_int(DF_X_LE, num(2), num(2), 1);
    gives_int(DF_X_GT, num(1), num(2), 0);
    gives_int(DF_X_GE, num(1), num(2), 0);
    gives_int(DF_X_EQ, num(2), num(2), 1);
    gives_int(DF_X_NE, num(2), num(2), 0);
    gives_int(DF_X_AND, num(2), num(0), 0);
    gives_int(DF_X_OR, num(2), num(0), 1);
    gives_int(DF_X_MOD, num(INT64_MIN), num(-1), 0);
    gives_int(DF_X_DIV, num(-INT64_MAX), num(-1), INT64_MAX);
}

static void test_overflow(void **state)
{
    static const char big[] = "result does not fit in 64 bits";
    (void)state;
    fails(DF_X_ADD, num(INT64_MAX), num(1), big);
    fails(DF_X_SUB, num(INT64_MIN), num(1), big);
    fails(DF_X_MUL, num(INT64_MAX), num(2), big);
    fails(DF_X_DIV, num(INT64_MIN), num(-1), big);
    fails(DF_X_DIV, num(1), num(0), "division by zero");
    fails(DF_X_MOD, num(1), num(0), "division by zero");
    struct df_number r;
    struct df_error e;
    assert_int_equal(df_number_unary(DF_X_NEG, num(INT64_MIN), &r, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, big);
    assert_int_equal(df_number_unary(DF_X_NOT, str("x"), &r, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "a string is not a number");
    assert_int_equal(df_number_unary(DF_X_ADD, num(1), &r, &e), DF_E_ARGUMENT);
    assert_int_equal(df_number_unary(DF_X_NOT, flt(0), &r, &e), DF_OK);
    assert_true(r.kind == DF_KIND_I64 && r.i == 1);
}

static void test_floats(void **state)
{
    (void)state;
    gives_float(DF_X_ADD, num(2), flt(0.5), 2.5);
    gives_float(DF_X_DIV, flt(1), num(0), INFINITY);
    gives_float(DF_X_MOD, flt(7.5), num(2), 1.5);
    gives_float(DF_X_MIN, flt(7.5), num(2), 2);
    gives_float(DF_X_MAX, flt(7.5), num(2), 7.5);
    gives_int(DF_X_LT, flt(1.5), num(2), 1);
    gives_int(DF_X_EQ, flt(2), num(2), 1);
    gives_int(DF_X_AND, flt(0.5), num(2), 1);
    gives_int(DF_X_EQ, flt(NAN), flt(NAN), 0);
}

static void test_strings(void **state)
{
    (void)state;
    gives_int(DF_X_EQ, str("a"), str("a"), 1);
    gives_int(DF_X_NE, str("a"), str("a"), 0);
    gives_int(DF_X_EQ, str("a"), str("b"), 0);
    fails(DF_X_LT, str("a"), str("b"), "strings compare with == and != only");
    fails(DF_X_ADD, str("a"), num(1), "a string and a number do not go together");
    fails(DF_X_EQ, num(1), str("a"), "a string and a number do not go together");
}

static void refuses(struct df_number n, enum df_scalar_type type, const char *want)
{
    union df_scalar s = { .i64 = 5 };
    struct df_error e;
    assert_int_equal(df_number_to_scalar(n, type, &s, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, want);
    assert_int_equal(s.i64, 5);
}

static void test_scalars(void **state)
{
    (void)state;
    union df_scalar s;
    assert_int_equal(df_number_to_scalar(num(INT32_MIN), DF_S_I32, &s, NULL), DF_OK);
    assert_int_equal(s.i32, INT32_MIN);
    assert_int_equal(df_number_to_scalar(flt(-3), DF_S_I64, &s, NULL), DF_OK);
    assert_int_equal(s.i64, -3);
    assert_int_equal(df_number_to_scalar(num(3), DF_S_F32, &s, NULL), DF_OK);
    assert_true(s.f32 == 3.0f);
    assert_int_equal(df_number_to_scalar(flt(INFINITY), DF_S_F32, &s, NULL), DF_OK);
    assert_int_equal(df_number_to_scalar(str("x"), DF_S_STR, &s, NULL), DF_OK);
    assert_string_equal(s.str, "x");
    refuses(num((int64_t)INT32_MAX + 1), DF_S_I32, "2147483648 does not fit in i32");
    refuses(flt(1e10), DF_S_I32, "10000000000 does not fit in i32");
    refuses(flt(0x1p63), DF_S_I64, "9.223372036854776e+18 does not fit in i64");
    refuses(flt(0.5), DF_S_I64, "0.5 is not an integer");
    refuses(flt(0.1), DF_S_I32, "0.1 is not an integer");
    refuses(flt(0.1 + 0.2), DF_S_I32, "0.30000000000000004 is not an integer");
    refuses(flt(NAN), DF_S_I32, "nan is not an integer");
    refuses(flt(1e39), DF_S_F32, "1e+39 does not fit in f32");
    refuses(num(1), DF_S_STR, "a number is not a string");
    refuses(str("x"), DF_S_F64, "a string is not a number");
    assert_true(df_scalar_to_number((union df_scalar){ .f32 = 1.5f }, DF_S_F32).f == 1.5);
    assert_true(df_scalar_to_number((union df_scalar){ .i32 = -2 }, DF_S_I32).i == -2);
}

static uint64_t bits(double f)
{
    uint64_t word;
    memcpy(&word, &f, sizeof word);
    return word;
}

#define RUN(args, n_args, r, e, ...)                                                                             \
    df_expr_run((const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8, "\0yes", args, \
                n_args, r, e)

static void test_code(void **state)
{
    (void)state;
    struct df_number args[] = { num(6), str("yes") }, r;
    struct df_error e;
    assert_int_equal(RUN(args, 2, &r, &e, DF_X_ARG, 0, DF_X_INT, 7, DF_X_MUL), DF_OK);
    assert_true(r.kind == DF_KIND_I64 && r.i == 42);
    assert_int_equal(RUN(args, 2, &r, &e, DF_X_ARG, 0, DF_X_NEG, DF_X_FLOAT, bits(0.5), DF_X_SUB), DF_OK);
    assert_true(r.kind == DF_KIND_F64 && r.f == -6.5);
    assert_int_equal(RUN(args, 2, &r, &e, DF_X_ARG, 1, DF_X_STR, 1, DF_X_EQ), DF_OK);
    assert_true(r.i == 1);
    assert_int_equal(RUN(args, 2, &r, &e, DF_X_INT, 1, DF_X_INT, 0, DF_X_MOD), DF_E_ARGUMENT);
    assert_string_equal(e.text, "division by zero");
}

/* n != 0 && 10 / n > 1, with n = 0: the side that does not decide may fail. */
static void test_short_circuit(void **state)
{
    (void)state;
    struct df_number n = num(0), r;
    struct df_error e;
    assert_int_equal(RUN(&n, 1, &r, &e, DF_X_ARG, 0, DF_X_INT, 0, DF_X_NE, DF_X_INT, 10, DF_X_ARG, 0, DF_X_DIV,
                         DF_X_INT, 1, DF_X_GT, DF_X_AND), DF_OK);
    assert_int_equal(r.i, 0);
    assert_int_equal(RUN(&n, 1, &r, &e, DF_X_INT, 1, DF_X_INT, 10, DF_X_ARG, 0, DF_X_DIV, DF_X_OR), DF_OK);
    assert_int_equal(r.i, 1);
    assert_int_equal(RUN(&n, 1, &r, &e, DF_X_INT, 1, DF_X_INT, 10, DF_X_ARG, 0, DF_X_DIV, DF_X_AND), DF_E_ARGUMENT);
    assert_string_equal(e.text, "division by zero");
    assert_int_equal(RUN(&n, 1, &r, &e, DF_X_INT, 0, DF_X_STR, 1, DF_X_AND), DF_E_ARGUMENT);
    assert_string_equal(e.text, "a string and a number do not go together");
}

#define CHECK(...)                                                                                                  \
    df_expr_check((const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8, 5, 2)

static void test_malformed(void **state)
{
    (void)state;
    struct df_number r;
    struct df_error e;
    assert_true(CHECK(DF_X_INT, 1));
    assert_true(CHECK(DF_X_STR, 4));
    assert_false(CHECK(DF_X_STR, 5));
    assert_true(CHECK(DF_X_ARG, 1));
    assert_false(CHECK(DF_X_ARG, 2));
    assert_false(CHECK(DF_X_INT));
    assert_false(CHECK(DF_X_NEG));
    assert_false(CHECK(DF_X_INT, 1, DF_X_ADD));
    assert_false(CHECK(DF_X_INT, 1, DF_X_INT, 1));
    assert_false(CHECK(DF_X_MAX + 1));
    assert_false(CHECK(UINT64_MAX));
    assert_false(df_expr_check(NULL, 0, 5, 2));
    uint64_t deep[2 * (DF_EXPR_STACK + 1) + DF_EXPR_STACK];
    unsigned n = 0;
    for (unsigned i = 0; i <= DF_EXPR_STACK; i++) {
        deep[n++] = DF_X_INT;
        deep[n++] = 1;
    }
    for (unsigned i = 0; i < DF_EXPR_STACK; i++)
        deep[n++] = DF_X_ADD;
    assert_false(df_expr_check(deep, n, 5, 2));
    assert_true(df_expr_check(deep + 2, n - 3, 5, 2));
    assert_int_equal(df_expr_run(deep + 2, n - 3, "", NULL, 0, &r, &e), DF_OK);
    assert_int_equal(r.i, DF_EXPR_STACK);
    assert_int_equal(df_expr_run(deep, n, "", NULL, 0, &r, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "the expression is malformed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers), cmocka_unit_test(test_overflow),      cmocka_unit_test(test_floats),
        cmocka_unit_test(test_strings),  cmocka_unit_test(test_scalars),       cmocka_unit_test(test_code),
        cmocka_unit_test(test_malformed), cmocka_unit_test(test_short_circuit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
