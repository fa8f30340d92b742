/* The oracle of formulas on cases that were computed by hand, one or more for each rule of docs/language.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/formula/evaluate.h"

#define MOST 4096

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static int64_t length(const struct oracle_array *array)
{
    int64_t n = 1;
    for (unsigned d = 0; d < array->rank; d++)
        n *= array->extents[d];
    return n;
}

/* Runs the first kernel or graph of the text. `arrays` has one for each port: inputs, and what is expected of outputs. Scalars
 * are f64, converted. */
static const char *run_waves(const char *text, unsigned waves, const int64_t *dims, const double *const *arrays, const double *scalars)
{
    static char error[400];
    static double memory[8][MOST];
    struct oracle *o = oracle_open("test.df", text, strlen(text));
    assert_non_null(o);
    const char *name = strstr(text, "graph ") ? "g" : "k";
    const struct dfl_sig *sig = oracle_signature(o, name);
    assert_non_null(sig);
    struct oracle_array ports[8];
    struct number values[8];
    void *data[8];
    unsigned port = 0, tokens[8];
    assert_true(oracle_shapes(o, sig, dims, ports));
    for (const struct dfl_scalar_decl *s = sig->scalars; s; s = s->next, port++) {
        static const enum type types[] = { I32, I64, F32, F64 };
        values[port] = number_of_real(F64, scalars[port]);
        values[port] = s->type <= DFL_I64 ? number_of_int(types[s->type], (int64_t)scalars[port]) : number_cast(types[s->type], values[port]);
    }
    port = 0;
    for (const struct dfl_port *p = sig->ports; p; p = p->next, port++) {
        int64_t n = waves * length(&ports[port]);
        assert_true(n <= MOST);
        data[port] = memory[port];
        for (int64_t i = 0; i < n && (p->mode == DFL_IN || p->mode == DFL_INOUT); i++)
            element_store(ports[port].element, data[port], i, element_convert(ports[port].element, number_of_real(F64, arrays[port][i])));
    }
    bool good = oracle_run(o, name, waves, dims, values, data, tokens);
    snprintf(error, sizeof error, "%s", oracle_error(o));
    assert_int_equal(good, error[0] == '\0');
    unsigned extra = port;
    port = 0;
    for (const struct dfl_port *p = sig->ports; p && good; p = p->next, port++) {
        const double *expected = p->mode == DFL_INOUT ? arrays[extra++] : p->mode != DFL_IN ? arrays[port] : NULL;
        int64_t n = tokens[port] * length(&ports[port]);
        for (int64_t i = 0; i < n && expected; i++) {
            double got = number_real(element_load(ports[port].element, data[port], i));
            if (!same(got, expected[i]))
                fail_msg("%s: %s[%lld] is %.17g and not %.17g", text, p->name.text, (long long)i, got, expected[i]);
        }
    }
    oracle_close(o);
    return error;
}

static const char *run(const char *text, const int64_t *dims, const double *const *arrays, const double *scalars)
{
    return run_waves(text, 1, dims, arrays, scalars);
}

#define D(...) ((const double[]){ __VA_ARGS__ })
#define N(...) ((const int64_t[]){ __VA_ARGS__ })
#define WAVES(text, waves, dims, ...) assert_string_equal(run_waves(text, waves, dims, (const double *const[]){ __VA_ARGS__ }, NULL), "")
#define GIVES(text, dims, ...) assert_string_equal(run(text, dims, (const double *const[]){ __VA_ARGS__ }, NULL), "")
#define FAILS(error, text, dims, ...) assert_non_null(strstr(run(text, dims, (const double *const[]){ __VA_ARGS__ }, NULL), error))

/* One value from up to three of a type. */
#define MAPS(type, out, expression, a, expected) \
    GIVES("kernel k(in a: " type "[n], out o: " out "[m]) { o[x] = " expression "; }", N(sizeof(a) / sizeof(double), 1), a, D(expected))

static void test_indices(void **state)
{
    (void)state;
    GIVES("kernel k(in a: i32[h, w], out o: i32[w, h]) { o[x, y] = 10 * a[y, x] + y; }", N(2, 3), D(1, 2, 3, 4, 5, 6), D(10, 41, 20, 51, 30, 61));
    GIVES("kernel k(in a: i32[n], out o: i32[n, 2]) { o[i, 0] = a[i]; o[i, 1] = -a[n - 1 - i]; }", N(2), D(7, 8), D(7, -8, 8, -7));
    GIVES("kernel k(in a: i32[2 * n], out o: i32[n], out s: i32) { o[i] = a[2 * i + 1]; s = a[0] * n; }", N(2), D(1, 2, 3, 4), D(2, 4), D(2));
    GIVES("kernel k(in a: u8[1], out o: i32[2, 2, 2, 2]) { o[a1, b, c, d] = ((a1 * 2 + b) * 2 + c) * 2 + d + i32(a[0]); }", N(), D(1),
          D(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
}

static void test_lets(void **state)
{
    (void)state;
    GIVES("kernel k(in a: i32[n], out o: i32[n]) { let twice = 2 * a[i]; o[i] = twice + 1; }", N(2), D(3, 4), D(7, 9));
    GIVES("kernel k(in a: i32[n], out o: i32[n]) { let at[j] = a[j] + i; let both = at[0] + at[n - 1]; o[i] = both; }", N(2), D(3, 4), D(7, 9));
    GIVES("kernel k(in a: i32[n], out o: i32) { let f[j, q] = a[j] - q; o = sum(j in 0..n: f[n - 1 - j, j * j]); }", N(3), D(5, 6, 7), D(13));
    GIVES("kernel k(in a: i32[n], out o: i32) { let term = a[j] * j; o = sum(j in 0..n: term); }", N(3), D(5, 6, 7), D(20));
    GIVES("param j = 10; kernel k(in a: i32[n], out o: i32) { let f[q] = a[q] * j; o = sum(j in 0..n: f[j]); }", N(3), D(5, 6, 7), D(20));
    FAILS("too deep", "kernel k(in a: i32[n], out o: i32[n]) { let l = l + 1; o[i] = l; }", N(1), D(1), D(1));
}

static void test_names(void **state)
{
    (void)state;
    GIVES("param n = 5; param two = 2; kernel k(in a: i32[n], out o: i32[n]) { o[two] = a[two] + n; }", N(1), D(3), D(4));
    GIVES("param two = 2; param four = two * two; arg b: i32 = 7; kernel k(in a: i32[n], out o: i32[n]) { o[i] = a[i] * four + b; }", N(1), D(1), D(11));
    assert_string_equal(run("kernel k(in a: f64[n], out o: f64[n]; s: f32, t: i32) { o[i] = a[i] * s + t; }", N(1),
                            (const double *const[]){ D(2), D(1 + 2 * (double)0.1f) }, D(0.1, 1)), "");
}

static void test_exact(void **state)
{
    (void)state;
    MAPS("f64", "f64", "a[0] * (0.1 + 0.2)", D(1), 0.1 + 0.2);
    MAPS("f32", "f32", "a[0] * (0.1 + 0.2)", D(1), (double)(float)(0.1 + 0.2));
    MAPS("f32", "f32", "a[0] + 1 / 2", D(1), 1);
    MAPS("i32", "f32", "a[0] * 0.1", D(3), (double)(3.0f * 0.1f));
    MAPS("i64", "f32", "a[0] + 0.5", D(0x1p40 + 1), 0x1p40);
    MAPS("i32", "i32", "a[0] + (3000000000 - 2999999999)", D(3), 4);
    FAILS("does not fit", "kernel k(in a: i32[n], out o: i32[n]) { o[i] = a[i] + 3000000000; }", N(1), D(1), D(1));
    MAPS("i64", "i64", "a[0] + 3000000000", D(1), 3000000001);
    MAPS("i32", "u8", "7", D(1), 7);
    GIVES("param s = 0.1; kernel k(in a: f64[n], out o: f64[n]) { o[i] = a[i] + s * 3; }", N(1), D(0), D(0.1 * 3));
}

static void test_types(void **state)
{
    (void)state;
    MAPS("u8", "i32", "a[0] - a[1]", D(1, 3), -2);
    MAPS("u16", "i32", "a[0] * a[1]", D(65535, 32768), 65535 * 32768.0);
    MAPS("u16", "i32", "a[0] * a[1]", D(65535, 65535), -131071);
    GIVES("kernel k(in a: i32[n], in b: f32[n], out o: f32[n]) { o[i] = a[i] + b[i]; }", N(1), D(16777217), D(1), D(16777216));
    GIVES("kernel k(in a: i32[n], in b: f64[n], out o: f64[n]) { o[i] = a[i] + b[i]; }", N(1), D(16777217), D(1), D(16777218));
    GIVES("kernel k(in a: f32[n], in b: f64[n], out o: f64[n]) { o[i] = a[i] * b[i]; }", N(1), D((double)0.1f), D(3), D((double)0.1f * 3));
    MAPS("f16", "f32", "a[0] * a[1]", D(1 + 0x1p-10, 1 + 0x1p-10), (1 + 0x1p-10) * (1 + 0x1p-10));
    MAPS("i32", "i64", "a[0] + i64(a[1])", D(2147483647, 1), 2147483648.0);
    MAPS("i32", "i32", "a[0] + a[1]", D(2147483647, 1), -2147483648.0);
}

static void test_conversions(void **state)
{
    (void)state;
    GIVES("kernel k(in a: f32[n], out o: u8[n]) { o[i] = u8(a[i]); }", N(9), D(0.5, 1.5, 2.5, -0.6, 254.5, 255.5, 1e30, -INFINITY, NAN),
          D(0, 2, 2, 0, 254, 255, 255, 0, 0));
    GIVES("kernel k(in a: f64[n], out o: i32[n]) { o[i] = i32(a[i]); }", N(5), D(2147483646.5, 2147483647.5, -2147483648.5, -3e9, -1.5),
          D(2147483646, 2147483647, -2147483648.0, -2147483648.0, -2));
    GIVES("kernel k(in a: f64[n], out o: i64[n]) { o[i] = i64(a[i]); }", N(3), D(0x1p62, -0x1p63, -0x1p70), D(0x1p62, -0x1p63, -0x1p63));
    GIVES("kernel k(in a: f64[n], out o: u16[n]) { o[i] = u16(a[i]); }", N(3), D(65535.4, 70000, -1), D(65535, 65535, 0));
    GIVES("kernel k(in a: i64[n], out o: i32[n]) { o[i] = i32(a[i]); }", N(2), D(0x1p40, -0x1p40), D(2147483647, -2147483648.0));
    GIVES("kernel k(in a: i32[n], out o: i32[n]) { o[i] = wrap_u8(a[i]); }", N(3), D(-1, 256, 511), D(255, 0, 255));
    GIVES("kernel k(in a: i64[n], out o: i32[n]) { o[i] = wrap_i32(a[i]) + wrap_u16(a[i]); }", N(2), D(0x1p31, -1), D(-0x1p31, 65534));
    GIVES("kernel k(in a: f64[n], out o: f16[n]) { o[i] = f16(a[i]); }", N(6), D(65519.99, 65520, 0x1p-25, 0x1.8p-25, -0.0, 1 + 0x1p-11 + 0x1p-40),
          D(65504, INFINITY, 0, 0x1p-24, -0.0, 1 + 0x1p-10));
    MAPS("f64", "f64", "f32(a[0])", D(0.1), (double)0.1f);
    GIVES("kernel k(in a: f32[n], out o: u8[n, 4]) { o[i, 0] = u8(trunc(a[i])); o[i, 1] = u8(floor(a[i])); o[i, 2] = u8(ceil(a[i])); o[i, 3] = u8(round(a[i])); }",
          N(2), D(2.5, 2.25), D(2, 2, 3, 3, 2, 2, 3, 2));
}

static void test_halves(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 65536; bits++) {
        uint16_t in = (uint16_t)bits, out;
        struct number value = element_load(E_F16, &in, 0);
        element_store(E_F16, &out, 0, element_convert(E_F16, value));
        assert_true(isnan(value.f) ? (in & 0x7fff) > 0x7c00 && out == 0x7e00 : out == in);
    }
    uint16_t one = 0x3c00, small = 1, most = 0x7bff;
    assert_true(element_load(E_F16, &one, 0).f == 1 && element_load(E_F16, &small, 0).f == 0x1p-24 && element_load(E_F16, &most, 0).f == 65504);
}

static void test_integers(void **state)
{
    (void)state;
    GIVES("kernel k(in a: i32[n], in b: i32[n], out q: i32[n], out r: i32[n]) { q[i] = a[i] / b[i]; r[i] = a[i] % b[i]; }", N(6),
          D(7, -7, 7, 5, -2147483648.0, -2147483648.0), D(2, 2, -2, 0, -1, 0), D(3, -3, -3, 0, -2147483648.0, 0), D(1, -1, 1, 0, 0, 0));
    GIVES("kernel k(in a: i64[n], in b: i64[n], out q: i64[n], out r: i64[n]) { q[i] = a[i] / b[i]; r[i] = a[i] % b[i]; }", N(2),
          D(-0x1p63, -0x1p63), D(-1, 0), D(-0x1p63, 0), D(0, 0));
    GIVES("kernel k(in a: i32[n], in b: i32[n], out l: i32[n], out r: i32[n]) { l[i] = a[i] << b[i]; r[i] = a[i] >> b[i]; }", N(4),
          D(-5, 1, 1, -1), D(1, 31, 33, -1), D(-10, -0x1p31, 2, -0x1p31), D(-3, 0, 0, -1));
    MAPS("i64", "i64", "a[0] << 33", D(1), 0x1p33);
    MAPS("i32", "i32", "a[0] & 6 | 8 ^ 1", D(5), 4 | 9);
    MAPS("i32", "i32", "~a[0] + -a[1]", D(5, 2), -8);
    MAPS("i32", "i32", "abs(a[0]) + abs(a[1])", D(-0x1p31, -1), -0x1p31 + 1);
    MAPS("i32", "i32", "-a[0]", D(-0x1p31), -0x1p31);
    MAPS("i32", "i32", "1 << a[0]", D(4), 16);
    MAPS("i64", "i32", "i32(a[0] * a[1] == 0)", D(0x1p33, 0x1p31), 1);
}

static void test_least(void **state)
{
    (void)state;
    const double *first = D(NAN, 1, 0, -0.0, 2), *second = D(1, NAN, -0.0, 0, 1);
    GIVES("kernel k(in a: f32[n], in b: f32[n], out l: f32[n], out m: f32[n]) { l[i] = min(a[i], b[i]); m[i] = max(a[i], b[i]); }", N(5), first, second,
          D(1, NAN, -0.0, 0, 1), D(1, NAN, -0.0, 0, 2));
    GIVES("kernel k(in a: f32[n], in b: f32[n], out o: f32[n]) { o[i] = clamp(a[i], 0, 1.5); }", N(5), first, second, D(0, 1, 0, 0, 1.5));
    GIVES("kernel k(in a: f32[n], out o: f32[n]) { o[i] = abs(a[i]); }", N(3), D(-0.0, -1, -INFINITY), D(0, 1, INFINITY));
}

static void test_floats(void **state)
{
    (void)state;
    MAPS("f32", "f32", "a[0] * a[1] + a[2]", D(1 + 0x1p-12, 1 + 0x1p-12, -1), 0x1p-11);
    MAPS("f32", "f32", "fma(a[0], a[1], a[2])", D(1 + 0x1p-12, 1 + 0x1p-12, -1), 0x1p-11 + 0x1p-24);
    MAPS("f64", "f64", "a[0] * a[1] + a[2]", D(1 + 0x1p-27, 1 + 0x1p-27, -1), 0x1p-26);
    MAPS("f64", "f64", "fma(a[0], a[1], a[2])", D(1 + 0x1p-27, 1 + 0x1p-27, -1), 0x1p-26 + 0x1p-54);
    MAPS("f32", "f32", "sqrt(a[0])", D(2), (double)sqrtf(2));
    MAPS("f64", "f64", "sqrt(a[0])", D(2), sqrt(2));
    MAPS("f32", "f32", "a[0] / a[1]", D(1, 3), (double)(1.0f / 3.0f));
    MAPS("f32", "f32", "a[0] / a[1]", D(-1, 0), -INFINITY);
    MAPS("f32", "f32", "a[0] * a[1]", D(0x1p-100, 0x1p-49), 0x1p-149);
    MAPS("f32", "f32", "round(a[0]) + round(a[1])", D(0.5, -2.5), -2);
    MAPS("f32", "f32", "ceil(a[0])", D(-0.5), -0.0);
    MAPS("f32", "f32", "-a[0]", D(0), -0.0);
    MAPS("f64", "i32", "i32(abs(exp(log(a[0])) - 3) < 1e-14 && pow(a[0], 2.0) == 9)", D(3), 1);
    MAPS("f32", "i32", "i32(abs(sin(a[0]) - 0.5) < 1e-6 && abs(cos(a[0]) * tan(a[0]) - sin(a[0])) < 1e-6)", D(0.52359878), 1);
    MAPS("f64", "i32", "i32(abs(atan2(a[0], a[1]) - 2.3561944901923448) < 1e-15 && tanh(a[2]) == 1)", D(1, -1, 50), 1);
}

static void test_choice(void **state)
{
    (void)state;
    GIVES("kernel k(in a: i32[n], out o: i32[n]) { o[i] = i > 0 ? a[i - 1] : -1; }", N(3), D(4, 5, 6), D(-1, 4, 5));
    GIVES("kernel k(in a: i32[n], out o: i32[n]) { o[i] = i32(i > 0 && a[i - 1] == 5 || i + 1 < n && a[i + 1] == 5); }", N(4), D(4, 5, 6, 5), D(1, 0, 1, 0));
    GIVES("kernel k(in a: f32[n], out o: f32[n]) { o[i] = a[i] ? a[i] : 3; }", N(3), D(0, NAN, -0.0), D(3, NAN, 3));
    GIVES("kernel k(in a: i32[n], in b: f32[n], out o: f32[n]) { o[i] = i == 0 ? a[i] : b[i]; }", N(2), D(16777217, 0), D(0, 0.5), D(16777216, 0.5));
    GIVES("kernel k(in a: i32[n], out o: i32[n]) { o[i] = select(a[i] > 4, 1, a[i]); }", N(2), D(4, 5), D(4, 1));
    FAILS("read outside", "kernel k(in a: i32[n], out o: i32[n]) { o[i] = i > 0 ? a[i] : a[i - 1]; }", N(2), D(1, 2), D(0, 0));
    FAILS("read outside", "kernel k(in a: i32[n], out o: i32[n]) { o[i] = a[i + 1]; }", N(2), D(1, 2), D(0, 0));
}

static void test_borders(void **state)
{
    (void)state;
    GIVES("kernel k(in a: i32[n] border clamp, out o: i32[m]) { o[i] = a[i - 6]; }", N(4, 16), D(1, 2, 3, 4), D(1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4));
    GIVES("kernel k(in a: i32[n] border mirror, out o: i32[m]) { o[i] = a[i - 6]; }", N(4, 16), D(1, 2, 3, 4), D(1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3, 4));
    GIVES("kernel k(in a: i32[n] border reflect, out o: i32[m]) { o[i] = a[i - 6]; }", N(4, 16), D(1, 2, 3, 4), D(3, 4, 4, 3, 2, 1, 1, 2, 3, 4, 4, 3, 2, 1, 1, 2));
    GIVES("kernel k(in a: i32[n] border wrap, out o: i32[m]) { o[i] = a[i - 6]; }", N(4, 16), D(1, 2, 3, 4), D(3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2));
    GIVES("kernel k(in a: i32[n] border -7, out o: i32[m]) { o[i] = a[i - 1]; }", N(2, 4), D(1, 2), D(-7, 1, 2, -7));
    GIVES("kernel k(in a: i32[n] border mirror, out o: i32[m]) { o[i] = a[3 * i - 4]; }", N(1, 4), D(9), D(9, 9, 9, 9));
    GIVES("kernel k(in a: i32[h, w] border 5, 6, out o: i32[3, 3]) { o[y, x] = a[y - 1, x - 1]; }", N(1, 1), D(1), D(5, 5, 5, 6, 1, 6, 5, 5, 5));
    GIVES("kernel k(in a: i32[h, w] border clamp, 6, out o: i32[3, 3]) { o[y, x] = a[y - 1, x - 1]; }", N(2, 1), D(1, 2), D(6, 1, 6, 6, 1, 6, 6, 2, 6));
    GIVES("kernel k(in a: i32[h, w] border none, wrap, out o: i32[h, w]) { o[y, x] = a[y, x - 1]; }", N(2, 2), D(1, 2, 3, 4), D(2, 1, 4, 3));
    GIVES("kernel k(in a: f16[n] border 0.1, out o: f32[n]) { o[i] = a[i - 1]; }", N(1), D(1), D(0x1.998p-4));
    FAILS("read outside", "kernel k(in a: i32[h, w] border none, wrap, out o: i32[h, w]) { o[y, x] = a[y - 1, x]; }", N(1, 1), D(1), D(1));
    assert_int_equal(border_place(B_MIRROR, -1000000007, 5), border_place(B_MIRROR, -1000000007 + 8 * 125000001, 5));
}

static void test_tables(void **state)
{
    (void)state;
    GIVES("table t: i32[2, 3] = { 1, 2, 3, 4, 5, -6 }; kernel k(in a: u8[n], out o: i32[n]) { o[i] = t[a[i], a[i] + 1]; }", N(2), D(0, 1), D(2, -6));
    GIVES("table t: f32[2] = { 0.1, 2 }; kernel k(in a: u8[n], out o: f64[n]) { o[i] = t[a[i]]; }", N(2), D(0, 1), D((double)0.1f, 2));
    FAILS("read outside", "table t: i32[2] = { 1, 2 }; kernel k(in a: u8[n], out o: i32[n]) { o[i] = t[a[i]]; }", N(1), D(2), D(0));
}

/* ---- reductions ---- */

static void test_fold(void **state)
{
    (void)state;
    const double *a = D(1e8, 1, -1e8, 1);       /* 1e8 + 1 is 1e8 in f32 */
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..4: a[clamp(i, 0, n - 1)]); }", N(4), a, D(1));
    GIVES("param m = 4; kernel k(in a: f32[n] border 0, out o: f32) { o = sum(i in m - 4..m: a[i]); }", N(4), a, D(1));
    /* the first range is innermost: 1e8, -1e8, 1, 1 */
    GIVES("kernel k(in a: f32[n] border 0, out o: f32) { o = sum(i in 0..2, j in 0..2: a[2 * i + j]); }", N(4), a, D(2));
    GIVES("kernel k(in a: f32[n] border 0, out o: f32) { o = sum(j in 0..2, i in 0..2: a[2 * i + j]); }", N(4), a, D(1));
    GIVES("kernel k(in a: f32[n] border 0, out o: f32) { o = sum(j in 0..2: sum(i in 0..2: a[2 * i + j])); }", N(4), a, D(2));
    GIVES("kernel k(in a: f32[n] border 0, out o: f32) { o = prod(i in 0..3: a[i]); }", N(4), D(0x1p100, 0x1p100, 0x1p-100, 0), D(INFINITY));
    GIVES("kernel k(in a: f32[n] border 0, out o: f32[n]) { o[x] = sum(i in 0..2: a[x + i]); }", N(2), D(-0.0, -0.0), D(-0.0, 0));
}

static void test_running(void **state)
{
    (void)state;
    GIVES("kernel k(in a: f32[n], out o: f32[n]) { o[x] = sum(i in 0..x + 1: a[i]); }", N(4), D(1e8, 1, -1e8, 1), D(1e8, 1e8, 0, 1));
    GIVES("kernel k(in a: i32[n], out o: i32[n]) { o[x] = sum(i in x..n: a[i]); }", N(3), D(1, 2, 3), D(6, 5, 3));
    GIVES("kernel k(in a: i32[n], out o: i32) { o = sum(i in 0..n, j in 0..i: a[j]); }", N(3), D(1, 2, 3), D(4));
    /* where the first range cannot be innermost the last one is: a[0], a[0], a[1], a[0] */
    GIVES("kernel k(in a: f32[n], out o: f32) { o = min(i in 0..n, j in 0..i if j < 1 || i < 3: a[j]); }", N(4), D(1, NAN, 0, 0), D(1));
    GIVES("kernel k(in a: f32[n], out o: f32[n]) { o[x] = max(i in 0..x: a[i]); }", N(3), D(1, 3, 2), D(-INFINITY, 1, 3));
}

static void test_lanes(void **state)
{
    (void)state;
    static double a[2048], expected[1];
    a[0] = 1e8;
    for (int i = 1; i < 16; i++)
        a[i] = 1;
    a[16] = -1e8;               /* lane 0 is 0, and the others are 15 */
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..n: a[i]); }", N(17), a, D(15));
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..n: i < 100 ? a[i] : 0); }", N(17), a, D(15));
    GIVES("kernel k(in a: f32[n], out o: f32[n]) { o[x] = sum(i in 0..17: a[clamp(i, 0, n - 1)]); }", N(17), a, D(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    /* value t is the t-th of the range, whatever the condition leaves out: lane 0 keeps a[0] and a[16] */
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..n if i != 1: a[i]); }", N(17), a, D(14));
    /* from 1 on, -1e8 is the value 15, and swallows lanes 7 and 3; at lane 1 -49999998 is a tie. A fold gives -49999992 */
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 1..n: a[i] * 0.5); }", N(17), a, D(-49999996));

    /* the tree: lane l takes l + 8, then l + 4, …: (1e8 + -1e8) + (1 + 0) and not 1e8 + 1 first */
    memset(a, 0, sizeof a);
    a[0] = 1e8; a[8] = -1e8; a[4] = 1;
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..n: a[i]); }", N(9), a, D(1));
    a[8] = 1; a[4] = -1e8;
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..n: a[i]); }", N(9), a, D(0));
    a[8] = 0; a[2] = 1; a[1] = 1; /* ((1e8 - 1e8) + 1) + 1 */
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..n: a[i]); }", N(9), a, D(2));

    /* blocks: within the first, 1e8 + 1 is 1e8; the second is -1e8 */
    memset(a, 0, sizeof a);
    a[0] = 1e8; a[8] = 1; a[1024] = -1e8;
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..n: a[i]); }", N(1040), a, D(0));
    expected[0] = 1;            /* a value less in front: lane 7 of the first block, and lane 15, whose value 1023 is -1e8 */
    a[7] = 1e8; a[0] = 0; a[8] = 0; a[1023] = -1e8; a[1024] = 1;
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..n: a[i]); }", N(1040), a, expected);

    /* of several ranges the last is innermost, and each is a tree */
    memset(a, 0, sizeof a);
    a[0] = 1e8; a[1] = 1; a[2] = -1e8; a[3] = 1; /* rows 1e8 + 1 and -1e8 + 1 */
    GIVES("kernel k(in a: f32[h, w], out o: f32) { o = sum(y in 0..h, x in 0..w: a[y, x]); }", N(2, 2), a, D(0));
    GIVES("kernel k(in a: f32[h, w], out o: f32) { o = sum(x in 0..w, y in 0..h: a[y, x]); }", N(2, 2), a, D(2));
    GIVES("kernel k(in a: f32[h, w], out o: f32) { o = sum(x in 0..w, y in 0..2: a[y, x]); }", N(2, 2), a, D(2));
    GIVES("arg m: i32 = 4; kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..m if i < n: a[i]); }", N(4), D(1e8, -1e8, 1, 1), D(0));
    /* a scalar is no param: (1e8 + 1) + (-1e8 + 1) */
    assert_string_equal(run("kernel k(in a: f32[n], out o: f32; m: i32) { o = sum(i in 0..m if i < n: a[i]); }", N(4),
                            (const double *const[]){ D(1e8, -1e8, 1, 1), D(0) }, D(4)), "");
}

static void test_nothing(void **state)
{
    (void)state;
    GIVES("kernel k(in a: f32[n], out s: f32, out p: f32, out l: f32, out m: f32) { s = sum(i in n..n: a[i]); p = prod(i in 1..0: a[i]);"
          " l = min(i in 0..n if a[i] > 9: a[i]); m = max(i in 0..0: a[i]); }", N(1), D(1), D(0), D(1), D(INFINITY), D(-INFINITY));
    GIVES("kernel k(in a: u8[n], out l: i32, out m: i32, out x: i32, out c: i32) { l = min(i in 0..0: a[i]); m = max(i in 0..0: a[i]);"
          " x = argmin(i in 0..n if a[i] > 9: a[i]); c = count(i in 0..n if a[i] > 9); }", N(1), D(1), D(2147483647), D(-2147483648.0), D(-1), D(0));
    GIVES("kernel k(in a: i64[n], out l: i64, out m: i64) { l = min(i in 0..0: a[i]); m = max(i in 0..0: a[i]); }", N(1), D(1), D(0x1p63 - 1), D(-0x1p63));
    GIVES("kernel k(in a: f32[n], out o: i32) { o = i32(any(i in 0..0: a[i] > 0)) + 2 * i32(all(i in 0..0: a[i] > 0)); }", N(1), D(1), D(2));
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..n if i == 3: a[i]); }", N(4), D(1, 1, 1, -0.0), D(-0.0));
    GIVES("kernel k(in a: f32[n], out o: f32) { o = sum(i in 0..4 if i == 3: a[clamp(i, 0, n - 1)]); }", N(4), D(1, 1, 1, -0.0), D(-0.0));
}

static void test_least_of(void **state)
{
    (void)state;
    /* as min(a, b) is: what was found so far is `a` */
    GIVES("kernel k(in a: f32[n] border 0, out o: f32, out m: f32) { o = min(i in 0..3: a[i]); m = max(i in 0..3: a[i]); }", N(3), D(1, NAN, 2), D(2), D(2));
    GIVES("kernel k(in a: f32[n] border 0, out o: f32, out m: f32) { o = min(i in 0..2: a[i]); m = max(i in 0..2: a[i]); }", N(2), D(1, NAN), D(NAN), D(NAN));
    GIVES("kernel k(in a: f32[n], out o: f32) { o = min(i in 0..n: a[i]); }", N(2), D(0, -0.0), D(-0.0));
    GIVES("kernel k(in a: f32[n], out x: i32, out y: i32) { x = argmin(i in 0..n: a[i]); y = argmax(i in 0..n: a[i]); }", N(6), D(NAN, 2, 1, 3, 3, 1), D(2), D(3));
    GIVES("kernel k(in a: f32[n], out x: i32, out y: i32) { x = argmin(i in 0..n: a[i]); y = argmax(i in 0..n: -a[i]); }", N(2), D(NAN, NAN), D(0), D(0));
    GIVES("kernel k(in a: f32[n], out x: i32) { x = argmin(i in 0..n: a[i]); }", N(2), D(0, -0.0), D(0));
    static double tie[32];      /* lane 0 has 16, and lane 8 has 8 */
    for (int i = 0; i < 32; i++)
        tie[i] = i == 8 || i == 16;
    GIVES("kernel k(in a: f32[n], out x: i32) { x = argmax(i in 0..n: a[i]); }", N(32), tie, D(8));
    GIVES("kernel k(in a: i64[n], out x: i32) { x = argmax(i in 1..n: a[i]); }", N(4), D(9, 1, 0x1p60, 0x1p60), D(2));
}

static void test_logic(void **state)
{
    (void)state;
    GIVES("kernel k(in a: u8[h, w], out c: i32[4]) { c[b] = count(y in 0..h, x in 0..w if a[y, x] == b); }", N(2, 2), D(1, 3, 3, 7), D(0, 1, 0, 2));
    GIVES("kernel k(in a: u8[n], out o: i32[2]) { o[0] = i32(any(i in 0..n: a[i] == 3)); o[1] = i32(all(i in 0..n if i > 0: a[i] == 3)); }", N(3), D(1, 3, 3), D(1, 1));
    GIVES("kernel k(in a: u8[n], out o: i32[n]) { o[i] = !(a[i] > 1) ? 10 : i32(a[i] == 2 || a[i] > 3); }", N(4), D(1, 2, 3, 4), D(10, 1, 0, 1));
}

static void test_inout(void **state)
{
    (void)state;
    GIVES("kernel k(inout a: i32[n]) { a[i] = a[i] * 2 + a[n - 1 - i]; }", N(3), D(1, 2, 3), D(5, 6, 7));
    GIVES("kernel k(in b: i32[n], inout a: i64[n], inout l: f32[n, 2], inout s: i32) { a[i] += b[i] * 2; l[i, 0] min= b[i]; l[i, 1] max= 0.5; s += 7; }", N(2),
          D(10, 20), D(1, -1), D(30, -1, 5, 7), D(1), D(21, 39), D(10, 0.5, 5, 7), D(8));
}

static void test_graph(void **state)
{
    (void)state;
    GIVES("kernel twice(in a: i32[n], out b: i32[n]) { b[i] = 2 * a[i]; }\n"
          "kernel half(in a: i32[2 * n], out b: i32[n]) { b[i] = a[2 * i]; }\n"
          "kernel both(in a: i32[n], in b: i32[m], out c: i32[n], out d: i32; s: i32) { c[i] = a[i] + b[0]; d = s; }\n"
          "graph g(in a: i32[2 * n], out c: i32[n], out d: i32) { (c, d) = both(t, a, 7); t = twice(h); h: i32[n] = half(a); }", N(2),
          D(1, 2, 3, 4), D(3, 7), D(7));
    FAILS("nobody makes", "kernel f(in a: i32[n], out b: i32[n]) { b[i] = a[i]; }\ngraph g(in a: i32[n], out b: i32[n]) { b = f(c); }", N(1), D(1), D(1));
    FAILS("is 2 and 3", "kernel f(in a: i32[n], in c: i32[n], out b: i32[n]) { b[i] = a[i]; }\ngraph g(in a: i32[n], in c: i32[m], out b: i32[n]) { b = f(a, c); }",
          N(2, 3), D(1, 2), D(1, 2, 3), D(1, 2));
}

static void test_waves(void **state)
{
    (void)state;
    WAVES("kernel k(in a: i32[n], out o: i32[n], out s: i32) { o[i] = 2 * a[i]; s = a[0]; }", 3, N(2), D(1, 2, 3, 4, 5, 6), D(2, 4, 6, 8, 10, 12), D(1, 3, 5));
    /* a result of an acc has one token, and so has what is made of it */
    WAVES("kernel gather(in a: i32[n], acc s: i32[n], out b: i32[n]) { s[i] += a[i]; b[i] = -a[i]; }\n"
          "kernel half(in s: i32[n], out h: i32[n]) { h[i] = s[i] / 2; }\n"
          "graph g(in a: i32[n], out s: i32[n], out b: i32[n], out h: i32[n]) { h = half(s); (s, b) = gather(a); }", 3, N(2),
          D(1, 2, 3, 4, 5, 6), D(9, 12), D(-1, -2, -3, -4, -5, -6), D(4, 6));
    /* in a graph that a graph calls, which has its own, and in the order of waves */
    WAVES("kernel gather(in a: i32, acc s: i32 = 100) { s = 2 * s + a; }\n"
          "graph inner(in a: i32, out s: i32, out b: i32) { s = gather(t); t = same(a); b = same(a); }\n"
          "kernel same(in a: i32, out b: i32) { b = a; }\n"
          "graph g(in a: i32, out s: i32, out t: i32, out b: i32, out c: i32) { (s, b) = inner(a); (t, _) = inner(b); c = same(s); }", 2, N(0),
          D(1, 2), D(404), D(404), D(1, 2), D(404));
    FAILS("nobody makes", "kernel f(in a: i32, acc s: i32) { s += a; }\nkernel both(in a: i32, in s: i32, out b: i32) { b = a + s; }\n"
          "graph g(in a: i32, out b: i32) { s = f(a); b = both(a, s); }", N(0), D(1), D(2));
}

static void test_first_values(void **state)
{
    (void)state;
    GIVES("kernel k(in a: i32[n], acc s: i32[n], acc l: i32[n], acc m: i64[n], acc p: f32[n] = 2.5) { s[i] += a[i]; l[i] min= a[i]; m[i] max= a[i];"
          " p[i] = p[i] * a[i]; }", N(2), D(3, -4), D(3, -4), D(3, -4), D(3, -4), D(7.5, -10));
    GIVES("kernel k(in a: u8[n], acc l: u8[n], acc m: u8[n], acc h: f16[n]) { l[i] min= 300; m[i] max= -1; h[i] min= 1e9; }", N(1), D(0), D(255), D(0), D(INFINITY));
    WAVES("kernel k(in a: i32[n], acc m: i32[n] = 5, acc l: i32[2] = 4) { m[i] max= a[i]; l[0] min= a[0]; l[1] += 1; }", 2, N(2), D(1, 9, 2, 3), D(5, 9), D(1, 6));
}

static void test_coverage(void **state)
{
    (void)state;
    FAILS("twice", "kernel k(in a: i32[n], out o: i32[n, 2]) { o[i, 0] = a[i]; o[i, j] = a[i]; }", N(1), D(1), D(0, 0));
    FAILS("not written", "kernel k(in a: i32[n], out o: i32[n, 2]) { o[i, 0] = a[i]; }", N(1), D(1), D(0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indices), cmocka_unit_test(test_lets),   cmocka_unit_test(test_names),    cmocka_unit_test(test_exact),
        cmocka_unit_test(test_types),   cmocka_unit_test(test_conversions), cmocka_unit_test(test_halves), cmocka_unit_test(test_integers),
        cmocka_unit_test(test_least),   cmocka_unit_test(test_floats), cmocka_unit_test(test_choice),   cmocka_unit_test(test_borders),
        cmocka_unit_test(test_tables),  cmocka_unit_test(test_fold),   cmocka_unit_test(test_running),  cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_nothing), cmocka_unit_test(test_least_of), cmocka_unit_test(test_logic),  cmocka_unit_test(test_inout),
        cmocka_unit_test(test_graph),   cmocka_unit_test(test_waves),  cmocka_unit_test(test_first_values),   cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
