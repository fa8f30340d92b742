/* test_spans.c - the least and the largest value of integer nodes, by their types and operations: both ends, exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/front/front.h"
#include "compiler/proof/prover.h"

static bool read_text(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    (void)path, (void)why;
    *text = strdup(arg);
    *length = strlen(arg);
    return *text != NULL;
}

/* The span of the expression, for out: TYPE[n]. */
static void check(const char *type, const char *expr, int64_t low, int64_t high)
{
    static const char before[] = "table steps: i32[4] = { 3, -20, 41, 7 }; table square: u8[2, 2] = { 4, 6, 5, 9 }; param later = 3 dynamic;\n"
                                 "kernel t(in u: u8[n], in s: i8[n], in v: u16[n], in w: i32[n], in l: i64[n], in f: f32[n], "
                                 "in low: i16[n] border -300, in far: u8[n] border clamp, ";
    char program[2000];
    snprintf(program, sizeof program, "%sout o: %s[n]; by: i32) { o[i] = %s; }\nkernel end(out z: u8[q]) cost cpu 1us; graph main { z: u8[1] = end() @quiet; }",
             before, type, expr);
    const struct dfc_front_options options = { .path = "t.df", .read = read_text, .read_arg = program };
    struct dfl_sink *sink = dfl_sink_new(stderr);
    struct dfc_front *front = NULL;
    if (!dfc_front_run(sink, &options, &front))
        fail_msg("refused: %s", expr);
    struct dfc_unit unit = { .sink = sink, .arena = dfl_arena_new() };
    struct dff_prover p = { .u = &unit, .kernel = front->kernels[0].formula };
    assert_true(dff_spans_find(&p));
    const struct dff_span span = p.spans[p.kernel->formulas[0].value->id];
    if (span.low != low || span.high != high)
        fail_msg("%s is from %lld to %lld, not from %lld to %lld", expr, (long long)span.low, (long long)span.high, (long long)low, (long long)high);
    dfl_arena_free(unit.arena);
    dfc_front_free(front);
    dfl_sink_free(sink);
}

static void test_types(void **state)
{
    (void)state;
    check("i32", "i32(u[i])", 0, 255);
    check("i32", "s[i]", -128, 127);
    check("i32", "v[i]", 0, 65535);
    check("i32", "w[i]", INT32_MIN, INT32_MAX);
    check("i64", "l[i]", INT64_MIN, INT64_MAX);
    check("i32", "by", INT32_MIN, INT32_MAX);
    check("i32", "later", INT32_MIN, INT32_MAX);
    check("i32", "-7", -7, -7);
    check("i32", "n", 1, DFF_MOST_EXTENT);
    check("i32", "low[i - 1]", -32768, 32767);
    check("i32", "far[i + 1]", 0, 255);
    check("i32", "steps[u[i] % 4]", -20, 41);
    check("i32", "square[u[i] % 2, s[i] > 0 ? 1 : 0]", 4, 9);
}

static void test_conversions(void **state)
{
    (void)state;
    check("i32", "i32(u[i] > 3)", 0, 1);
    check("i32", "i32(f[i] > 3)", 0, 1);
    check("i32", "i32(f[i])", INT32_MIN, INT32_MAX);
    check("i32", "i32(l[i])", INT32_MIN, INT32_MAX);
    check("i64", "i64(s[i])", -128, 127);
    check("i32", "i32(u8(f[i]))", 0, 255);
    check("i32", "i32(i8(f[i]))", -128, 127);
    check("i32", "i32(u8(s[i]))", 0, 127);
    check("i32", "i32(i8(u[i]))", 0, 127);
    check("i32", "i32(i8(w[i]))", -128, 127);
    check("i32", "i32(wrap_u8(w[i]))", 0, 255);
}

static void test_operations(void **state)
{
    (void)state;
    check("i32", "-s[i]", -127, 128);
    check("i32", "-w[i]", INT32_MIN, INT32_MAX);    /* goes around */
    check("i32", "u[i] + s[i]", -128, 382);
    check("i32", "u[i] - s[i]", -127, 383);
    check("i32", "w[i] + 1", INT32_MIN, INT32_MAX);
    check("i32", "u[i] * s[i]", -32640, 32385);
    check("i32", "s[i] * u[i]", -32640, 32385);
    check("i32", "s[i] * s[i]", -16256, 16384);
    check("i32", "u[i] * -3", -765, 0);
    check("i32", "v[i] * 32768", 0, 2147450880);
    check("i32", "v[i] * 32769", INT32_MIN, INT32_MAX);
    check("i32", "min(u[i], s[i])", -128, 127);
    check("i32", "min(s[i], u[i])", -128, 127);
    check("i32", "max(u[i], s[i])", 0, 255);
    check("i32", "max(s[i], u[i])", 0, 255);
    check("i32", "u[i] > 3 ? s[i] : u[i]", -128, 255);
    check("i32", "u[i] > 3 ? u[i] : s[i]", -128, 255);
    check("i32", "abs(s[i])", INT32_MIN, INT32_MAX);
}

static void test_divisions(void **state)
{
    (void)state;
    check("i32", "u[i] / 7", 0, 36);
    check("i32", "s[i] / 7", -18, 18);
    check("i32", "s[i] / 1", -128, 127);
    check("i32", "s[i] / -7", INT32_MIN, INT32_MAX);
    check("i32", "u[i] / by", INT32_MIN, INT32_MAX);
    check("i32", "u[i] % 7", 0, 6);
    check("i32", "s[i] % 7", -6, 6);
    check("i32", "min(s[i], 0) % 7", -6, 0);
    check("i32", "u[i] % 1", 0, 0);
    check("i32", "u[i] % by", INT32_MIN, INT32_MAX);
}

static void test_bits(void **state)
{
    (void)state;
    check("i32", "u[i] & 12", 0, 12);
    check("i32", "12 & s[i]", 0, 12);
    check("i32", "s[i] & 12", 0, 12);
    check("i32", "u[i] & s[i]", 0, 255);
    check("i32", "s[i] & u[i]", 0, 255);
    check("i32", "s[i] & s[n - 1 - i]", INT32_MIN, INT32_MAX);
    check("i32", "u[i] | 12", INT32_MIN, INT32_MAX);
}

static void test_reductions(void **state)
{
    (void)state;
    check("i32", "count(j in 0..3, k in 2..6 if u[i] > j + k)", 0, 12);
    check("i32", "count(j in 5..5 if u[i] > j)", 0, 0);
    check("i32", "count(j in 7..5 if u[i] > j)", 0, 0);
    check("i32", "count(j in 0..n if u[i] > j)", INT32_MIN, INT32_MAX);
    check("i32", "count(j in by..3 if u[i] > j)", INT32_MIN, INT32_MAX);
    check("i32", "sum(j in 0..3: u[i] + j)", INT32_MIN, INT32_MAX);
    check("i32", "max(j in 0..3: u[i] + j)", INT32_MIN, INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types), cmocka_unit_test(test_conversions), cmocka_unit_test(test_operations),
        cmocka_unit_test(test_divisions), cmocka_unit_test(test_bits), cmocka_unit_test(test_reductions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
