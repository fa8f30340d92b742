/* test_formula_check.c - from formulas to nodes: types, exact numbers, sharing, lets, orders of reductions, hidden scalars
 * and hashes. Nodes are compared as texts; wrong formulas are golden tests (tests/golden/formula-*.df).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "colliding.h"
#include "compiler/formula/build.h"
#include "compiler/front/front.h"

/* ---- programs ---- */

static bool read_text(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    (void)path;
    (void)why;
    *text = strdup(arg);
    *length = strlen(arg);
    return *text != NULL;
}

/* The front end's result; what it says goes to stderr. NULL: errors. */
static struct dfc_front *compile(const char *text, FILE *out)
{
    const struct dfc_front_options options = { .path = "t.df", .read = read_text, .read_arg = (void *)(uintptr_t)text };
    struct dfl_sink *sink = dfl_sink_new(out);
    struct dfc_front *front = NULL;
    bool ok = dfc_front_run(sink, &options, &front);
    dfl_sink_free(sink);
    return ok ? front : NULL;
}

#define GLOBALS                                                                                                  \
    "param n3 = 3; param half = 0.5; param later = 7 dynamic; param ratio = later * 0.5; arg gain: f32 = 1.0;\n" \
    "table k3: f32[3] = { 1, 0.1, 1 }; table lut: u8[2, 2] = { 1, 2, 3, 4 };\n"
#define PORT(name, type) "in " name ": " type "[h, w] border clamp, "
#define PORTS PORT("u", "u8") PORT("v", "u16") PORT("i", "i32") PORT("l", "i64") PORT("e", "f16") PORT("f", "f32") \
              PORT("d", "f64") "in k: f32"
#define MAIN "kernel end(out z: u8[q]) cost cpu 1us; graph main { z: u8[1] = end() @quiet; }"

/* ---- nodes as texts ---- */

static const char *const ops[] = {
    "neg", "+", "-", "*", "/", "%", "~", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "!", "&&", "||",
    "?", "abs", "min", "max", "sqrt", "exp", "log", "pow", "sin", "cos", "tan", "atan2", "tanh", "floor", "ceil",
    "round", "trunc", "fma", "sum", "prod", "least", "greatest", "any", "all", "count", "argmin", "argmax",
};
static const char *const types[] = { "bool", "i32", "i64", "f32", "f64" };
static const char *const orders[] = { "fold", "running", "nested", "lanes" };

static void print(FILE *out, const struct dff_kernel *k, const struct dff_node *n);

static void print_args(FILE *out, const struct dff_kernel *k, const struct dff_node *n)
{
    for (uint32_t a = 0; a < n->n_args; a++) {
        fputc(' ', out);
        print(out, k, n->args[a]);
    }
    fputc(')', out);
}

static void print_reduction(FILE *out, const struct dff_kernel *k, const struct dff_node *n)
{
    fprintf(out, "(%s.%s/%s", ops[n->op], types[n->type], orders[n->order]);
    for (uint32_t r = 0; r < n->n_ranges; r++) {
        fprintf(out, " #%u=", n->ranges[r].slot);
        print(out, k, n->ranges[r].from);
        fprintf(out, "..");
        print(out, k, n->ranges[r].to);
    }
    print_args(out, k, n);
}

static void print(FILE *out, const struct dff_kernel *k, const struct dff_node *n)
{
    static const char *const suffixes[] = { "", "", "L", "f", "" };
    const struct dfc_sig *sig = &k->callee->sig;
    if (!n) {
        fputc('-', out);
        return;
    }
    switch (n->kind) {
    case DFF_CONST:
        if (n->type == DFF_F32 || n->type == DFF_F64)
            fprintf(out, "%.9g%s", n->f, n->type == DFF_F64 ? "d" : "f");
        else
            fprintf(out, n->type == DFF_BOOL ? "b%lld%s" : "%lld%s", (long long)n->i, suffixes[n->type]);
        break;
    case DFF_INDEX: fprintf(out, "#%u", n->number); break;
    case DFF_DIM: fputs(sig->variables[n->number].name.text, out); break;
    case DFF_SCALAR: fprintf(out, "%s.%s", sig->scalars[n->number]->name.text, types[n->type]); break;
    case DFF_READ:
        fprintf(out, "(%s", sig->ports[n->number].ast->name.text);
        print_args(out, k, n);
        break;
    case DFF_TABLE:
        fprintf(out, "(%s", k->tables[n->number]->decl->name.text);
        print_args(out, k, n);
        break;
    case DFF_OP:
        fprintf(out, "(%s.%s", ops[n->op], types[n->type]);
        print_args(out, k, n);
        break;
    case DFF_CONVERT:
    case DFF_WRAP:
        fprintf(out, "(%s%s", n->kind == DFF_WRAP ? "wrap_" : "", df_elem_name(n->elem));
        print_args(out, k, n);
        break;
    case DFF_CAST:
        fprintf(out, "(to.%s", types[n->type]);
        print_args(out, k, n);
        break;
    case DFF_REDUCE: print_reduction(out, k, n); break;
    }
}

static char *text_of(const struct dff_kernel *k, const struct dff_node *n)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print(out, k, n);
    fclose(out);
    return text;
}

/* ---- one expression ---- */

/* Operands come before their users, ids are positions, and no two nodes are equal. */
static void check_record(const struct dff_kernel *k)
{
    for (unsigned i = 0; i < k->n_nodes; i++) {
        const struct dff_node *n = k->nodes[i];
        assert_int_equal(n->id, i);
        for (uint32_t a = 0; a < n->n_args; a++)
            if (n->args[a])
                assert_in_range(n->args[a]->id, 0, i - 1);
        char *text = text_of(k, n);
        for (unsigned j = 0; j < i; j++) {
            char *other = text_of(k, k->nodes[j]);
            if (strcmp(text, other) == 0)
                fail_msg("two nodes are %s", text);
            free(other);
        }
        free(text);
    }
}

static void check_in(const char *formulas, const char *type, const char *want)
{
    char program[4000];
    snprintf(program, sizeof program, "%skernel t(%s, out o: %s[h, w]; s: i32) { %s }\n%s", GLOBALS, PORTS, type,
             formulas, MAIN);
    struct dfc_front *front = compile(program, stderr);
    if (!front)
        fail_msg("refused: %s", formulas);
    const struct dff_kernel *k = front->kernels[0].formula;
    char *text = text_of(k, k->formulas[0].value);
    if (strcmp(text, want) != 0)
        fail_msg("%s\nis   %s\nnot  %s", formulas, text, want);
    check_record(k);
    free(text);
    dfc_front_free(front);
}

static void check_expr(const char *type, const char *expr, const char *want)
{
    char formula[1000];
    snprintf(formula, sizeof formula, "o[y, x] = %s;", expr);
    check_in(formula, type, want);
}

/* ---- types ---- */

static void test_promotion(void **state)
{
    (void)state;
    check_expr("i32", "u[y, x] + v[y, x]", "(+.i32 (u #0 #1) (v #0 #1))");
    check_expr("f32", "e[y, x] * i[y, x]", "(*.f32 (e #0 #1) (to.f32 (i #0 #1)))");
    check_expr("i64", "i[y, x] - l[y, x]", "(-.i64 (to.i64 (i #0 #1)) (l #0 #1))");
    check_expr("f32", "l[y, x] / f[y, x]", "(/.f32 (to.f32 (l #0 #1)) (f #0 #1))");
    check_expr("f64", "f[y, x] + d[y, x]", "(+.f64 (to.f64 (f #0 #1)) (d #0 #1))");
    check_expr("i32", "(u[y, x] < 3) + 1", "(+.i32 (to.i32 (<.bool (u #0 #1) 3)) 1)");
    check_expr("i32", "-(x == y)", "(neg.i32 (to.i32 (==.bool #1 #0)))");
    check_expr("i32", "u[y, x] && !f[y, x]", "(to.i32 (&&.bool (!=.bool (u #0 #1) 0) (!.bool (!=.bool (f #0 #1) 0f))))");
    check_expr("i32", "x << l[y, x]", "(<<.i32 #1 (wrap_i32 (l #0 #1)))");
    check_expr("i64", "l[y, x] >> x", "(>>.i64 (l #0 #1) (to.i64 #1))");
    check_expr("i32", "1 << x", "(<<.i32 1 #1)");
    check_expr("f32", "k * h", "(*.f32 (k) (to.f32 h))");
    check_expr("i64", "i[y, x]", "(to.i64 (i #0 #1))");
    check_expr("f32", "x > 1 ? u[y, x] : 0.5", "(?.f32 (>.bool #1 1) (to.f32 (u #0 #1)) 0.5f)");
    check_expr("i32", "(x > 1 ? y > 1 : y > 2) && true_[0]; let true_[a] = x > y + a",
               "(to.i32 (&&.bool (?.bool (>.bool #1 1) (>.bool #0 1) (>.bool #0 2)) (>.bool #1 (+.i32 #0 0))))");
}

static void test_exact(void **state)
{
    (void)state;
    check_expr("f32", "1 / 2 + f[y, x] * (1 / 2.0)", "(+.f32 0f (*.f32 (f #0 #1) 0.5f))");
    check_expr("f32", "u[y, x] * 0.1", "(*.f32 (to.f32 (u #0 #1)) 0.100000001f)");
    check_expr("f64", "d[y, x] * 0.1", "(*.f64 (d #0 #1) 0.1d)");
    check_expr("f64", "l[y, x] * 0.1", "(to.f64 (*.f32 (to.f32 (l #0 #1)) 0.100000001f))");
    check_expr("f32", "f[y, x] * n3 * half", "(*.f32 (*.f32 (f #0 #1) 3f) 0.5f)");
    check_expr("f64", "0.1 + 0.2 > 0.3 ? half : 2", "0.5d");
    check_expr("u8", "255", "255");
    check_expr("f16", "0.1", "0.0999755859f");
    check_expr("f16", "65519", "65504f");
    check_expr("f16", "1.0e-8 + 3.0e-8", "5.96046448e-08f");
    check_expr("i32", "(7 & 3) | (1 << 4) ^ ~0 >> 62", "-17");
    check_expr("i32", "i[y, x] / 0 + 1 / 0 + 5 % 0", "(+.i32 (+.i32 (/.i32 (i #0 #1) 0) 0) 0)");
    check_expr("i64", "9223372036854775807 - 1", "9223372036854775806L");
    check_expr("f32", "max(2, min(3, 1.5)) + clamp(7, 0, 5) + abs(-2)", "9f");
    check_expr("f64", "sqrt(2) + floor(-0.5) + round(2.5) + fma(2, 3, 4)", "13.4142136d");
    check_expr("f64", "exp(1) + d[y, x]", "(+.f64 (exp.f64 1d) (d #0 #1))");
    check_expr("f32", "exp(1) + f[y, x]", "(+.f32 (to.f32 (exp.f64 1d)) (f #0 #1))");
    check_expr("i32", "0 && f[y, x]", "0");
    check_expr("i32", "n3 == 4 ? i[y, x] : x", "#1");
    check_expr("f64", "x > 1 ? 0.1 : 2", "(?.f64 (>.bool #1 1) 0.1d 2d)");
    check_expr("f32", "x > 1 ? 0.1 : 2", "(?.f32 (>.bool #1 1) 0.100000001f 2f)");
    check_expr("f32", "(x > 1 ? 0.1 : 2) * u[y, x]",
               "(*.f32 (?.f32 (>.bool #1 1) 0.100000001f 2f) (to.f32 (u #0 #1)))");
    check_expr("f64", "-0.0", "-0d");
}

static void test_conversions(void **state)
{
    (void)state;
    check_expr("u8", "u8(f[y, x])", "(u8 (f #0 #1))");
    check_expr("u16", "u[y, x]", "(u #0 #1)");
    check_expr("u8", "lut[1, 0]", "(lut 1 0)");
    check_expr("f16", "e[y, x]", "(e #0 #1)");
    check_expr("u8", "x > y ? u[y, x] : min(lut[0, 0], 255)",
               "(?.i32 (>.bool #1 #0) (u #0 #1) (min.i32 (lut 0 0) 255))");
    check_expr("u8", "any(a in 0..3: f[y, a])", "(to.i32 (any.bool/fold #2=0..3 (!=.bool (f #0 #2) 0f) -))");
    check_expr("f16", "max(e[y, x], 0.5)", "(max.f32 (e #0 #1) 0.5f)");
    check_expr("f32", "f32(d[y, x])", "(to.f32 (d #0 #1))");
    check_expr("f64", "f64(f32(0.1))", "(to.f64 0.100000001f)");
    check_expr("i32", "i32(i[y, x])", "(i #0 #1)");
    check_expr("i64", "i64(u[y, x]) + i64(f[y, x])", "(+.i64 (to.i64 (u #0 #1)) (i64 (f #0 #1)))");
    check_expr("i32", "i32(2.5) + i32(3.5) + u8(300) + u8(-0.5) + i32(1.0e30) + wrap_u8(-1) + wrap_i32(4294967295)",
               "(+.i32 (+.i32 (+.i32 (+.i32 (+.i32 (+.i32 2 4) 255) 0) 2147483647) 255) -1)");
    check_expr("u8", "wrap_u8(l[y, x])", "(wrap_u8 (l #0 #1))");
    check_expr("u8", "u8(x > y)", "(to.i32 (>.bool #1 #0))");
    check_expr("u16", "u16(u[y, x]) + 0 > 3 ? u16(u[y, x]) : u16(l[y, x])",
               "(?.i32 (>.bool (+.i32 (u #0 #1) 0) 3) (u #0 #1) (u16 (l #0 #1)))");
    check_expr("f32", "sqrt(u[y, x]) + floor(x)", "(+.f32 (sqrt.f32 (to.f32 (u #0 #1))) (floor.f32 (to.f32 #1)))");
    check_expr("f64", "pow(d[y, x], 2) + atan2(1, f[y, x])",
               "(+.f64 (pow.f64 (d #0 #1) 2d) (to.f64 (atan2.f32 1f (f #0 #1))))");
    check_expr("i32", "clamp(i[y, x], 0, 9) + min(x, y, 3)",
               "(+.i32 (min.i32 (max.i32 (i #0 #1) 0) 9) (min.i32 (min.i32 #1 #0) 3))");
    check_expr("f32", "select(x < w - 1, f[y, x + 1], 0)",
               "(?.f32 (<.bool #1 (-.i32 w 1)) (f #0 (+.i32 #1 1)) 0f)");
}

/* ---- sharing ---- */

static const struct dff_kernel *kernel_of(const char *text, struct dfc_front **front)
{
    char program[20000];
    snprintf(program, sizeof program, "%s%s\n%s", GLOBALS, text, MAIN);
    *front = compile(program, stderr);
    assert_non_null(*front);
    return (*front)->kernels[0].formula;
}

static void test_sharing(void **state)
{
    (void)state;
    struct dfc_front *front;
    const struct dff_kernel *k = kernel_of(
        "kernel t(in f: f32[n], out o: f32[n], out p: f32[n]) { let a = f[x] * f[x]; o[x] = a + a; p[y] = f[y] * f[y]; }",
        &front);
    assert_ptr_equal(k->formulas[0].value->args[0], k->formulas[0].value->args[1]);
    assert_ptr_equal(k->formulas[0].value->args[0], k->formulas[1].value); /* the index's name does not count */
    assert_int_equal(k->n_nodes, 5); /* n, #0, f[#0], a, a + a */
    dfc_front_free(front);
    k = kernel_of("kernel t(in f: f32[n], out o: f32[n]) {"
                  " o[x] = sum(a in 0..n: f[a]) / sum(b in 0..n: f[b]) + sum(c in 0..n: sum(d in 0..n: f[d])); }", &front);
    const struct dff_node *quotient = k->formulas[0].value->args[0], *nested = k->formulas[0].value->args[1];
    assert_ptr_equal(quotient->args[0], quotient->args[1]);
    assert_ptr_not_equal(nested->args[0], quotient->args[0]); /* it has the slot behind that of its user */
    assert_int_equal(nested->args[0]->ranges[0].slot, 2);
    assert_int_equal(nested->slots, 0);
    dfc_front_free(front);
}

/* Expressions that differ in one thing are two nodes. */
static void test_no_sharing(void **state)
{
    static const char *const pairs[][2] = {
        { "f32(i[y, x])", "f32(l[y, x])" },
        { "f32(u8(i[y, x]))", "f32(i8(i[y, x]))" },
        { "f32(u8(i[y, x]))", "f32(wrap_u8(i[y, x]))" },
        { "f32(i[y, x] + 1)", "f32(i[y, x] + 2)" },
        { "f32(i[y, x] + 1)", "f32(i[y, x] - 1)" },
        { "f32(i[y, x] - u[y, x])", "f32(u[y, x] - i[y, x])" },
        { "f[y, x] * 0.5", "f[y, x] * 0.25" },
        { "f[y, x] * 0.0", "f[y, x] * -0.0" },
        { "f[y, x]", "f[x, y]" },
        { "f[y, x]", "f[y, y]" },
        { "f[y, x]", "k" },
        { "f[h - 1, x]", "f[w - 1, x]" },
        { "k3[0] * k", "k3[1] * k" },
        { "f32(lut[0, y % 2])", "f32(lut[y % 2, 0])" },
        { "sum(j in 0..3: f[y, x + j])", "sum(j in 0..4: f[y, x + j])" },
        { "sum(j in 0..3: f[y, x + j])", "sum(j in 1..3: f[y, x + j])" },
        { "sum(j in 0..3: f[y, x + j])", "sum(j in 1..4: f[y, x + j])" },
        { "sum(j in 0..3: f[y, x + j])", "max(j in 0..3: f[y, x + j])" },
        { "sum(j in 0..3: f[y, x + j])", "sum(j in 0..3 if j != 1: f[y, x + j])" },
        { "sum(j in 0..3: f[y, x + j])", "sum(j in 0..3, m in 0..1: f[y, x + j])" },
        { "sum(j in 0..3, m in 0..2: f[y + m, x + j])", "sum(j in 0..3, m in 0..3: f[y + m, x + j])" },
        { "sum(j in 0..3, m in 0..2: f[y + m, x + j])", "sum(j in 0..2, m in 0..2: f[y + m, x + j])" },
        { "sum(j in 0..3, m in 0..2: f[y + m, x + j])", "sum(j in 0..3, m in 1..2: f[y + m, x + j])" },
        { "sum(j in 0..3, m in 0..2: f[y + m, x + j])", "sum(m in 0..2, j in 0..3: f[y + m, x + j])" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (unsigned way = 0; way < 2; way++) {
            char program[4000];
            snprintf(program, sizeof program, "%skernel t(%s, out o: f32[h, w]) { o[y, x] = min(%s, %s); }\n%s", GLOBALS, PORTS, pairs[i][way],
                     pairs[i][1 - way], MAIN);
            struct dfc_front *front = compile(program, stderr);
            if (!front)
                fail_msg("refused: %s, %s", pairs[i][0], pairs[i][1]);
            const struct dff_node *value = front->kernels[0].formula->formulas[0].value;
            if (value->n_args != 2 || value->args[0] == value->args[1])
                fail_msg("one node is %s and %s", pairs[i][way], pairs[i][1 - way]);
            check_record(front->kernels[0].formula);
            dfc_front_free(front);
        }
}

/* Lets that double each other: 2^400 expressions when written out, and no more nodes than there are lets. */
static void test_doubling(void **state)
{
    (void)state;
    char text[20000];
    struct dfc_front *front;
    size_t at = (size_t)snprintf(text, sizeof text, "kernel t(in f: f32[n], out o: f32[n]) { let a0 = f[x];");
    for (int i = 1; i < 400; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " let a%d = a%d + a%d;", i, i - 1, i - 1);
    snprintf(text + at, sizeof text - at, " o[x] = a399; }");
    const struct dff_kernel *k = kernel_of(text, &front);
    assert_int_equal(k->n_nodes, 402);
    dfc_front_free(front);
}

static void test_too_deep(void **state)
{
    (void)state;
    static char text[200000];
    char *said;
    size_t said_bytes;
    size_t at = (size_t)snprintf(text, sizeof text, "kernel t(in f: f32[n], out o: f32[n]) { let a0 = f[x];");
    for (int i = 1; i < 4000; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " let a%d = a%d + 1;", i, i - 1);
    snprintf(text + at, sizeof text - at, " o[x] = a3999; } %s", MAIN);
    FILE *out = open_memstream(&said, &said_bytes);
    assert_null(compile(text, out));
    fclose(out);
    assert_non_null(strstr(said, "are too large: with all lets written out they are nested more than 1000 deep"));
    free(said);
}

static void test_too_many_nodes(void **state)
{
    (void)state;
    static char text[2000000];
    char *said;
    size_t said_bytes;
    size_t at = (size_t)snprintf(text, sizeof text, "kernel t(in f: f32[n], out o: f32[n, 300]) {");
    for (int i = 0; i < 300; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, " o[x, %d] = 0", i);
        for (int j = 0; j < 100; j++)
            at += (size_t)snprintf(text + at, sizeof text - at, " + f[x + %d]", 100 * i + j);
        at += (size_t)snprintf(text + at, sizeof text - at, ";");
    }
    snprintf(text + at, sizeof text - at, " } %s", MAIN);
    FILE *out = open_memstream(&said, &said_bytes);
    assert_null(compile(text, out));
    fclose(out);
    assert_non_null(strstr(said, "are too large: with all lets written out they have more than 65536 nodes"));
    free(said);
}

/* 32 indices and ranges fit, 33 do not. */
static void test_slots(void **state)
{
    (void)state;
    for (int n = 31; n <= 32; n++) {
        char text[4000], *said;
        size_t said_bytes;
        size_t at = (size_t)snprintf(text, sizeof text, "kernel t(in f: f32[n], out o: f32[n]) { o[x] = sum(");
        for (int i = 0; i < n; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%sr%d in 0..2", i ? ", " : "", i);
        snprintf(text + at, sizeof text - at, ": f[x]); } %s", MAIN);
        FILE *out = open_memstream(&said, &said_bytes);
        struct dfc_front *front = compile(text, out);
        fclose(out);
        assert_true((front != NULL) == (n == 31));
        assert_true((strstr(said, "at most 32 indices and ranges") != NULL) == (n == 32));
        dfc_front_free(front);
        free(said);
    }
}

/* ---- lets ---- */

static void test_lets(void **state)
{
    (void)state;
    check_in("let g[a, b] = f[y + a, x + b]; let dx = g[0, 2] - g[0, 0]; o[y, x] = dx;", "f32",
             "(-.f32 (f (+.i32 #0 0) (+.i32 #1 2)) (f (+.i32 #0 0) (+.i32 #1 0)))");
    /* a range of a let may have the name of its user's; the user's index comes in by the argument */
    check_in("let row[a] = sum(j in 0..3: f[a, j]); o[y, x] = sum(j in 0..3: row[j]);", "f32",
             "(sum.f32/fold #2=0..3 (sum.f32/fold #3=0..3 (f #2 #3) -) -)");
    /* a let without indices sees the range of its user, and so does a local function */
    check_in("let t = f[y, j]; let s2[a] = f[a, j]; o[y, x] = sum(j in 0..3: t * s2[x]);", "f32",
             "(sum.f32/fold #2=0..3 (*.f32 (f #0 #2) (f #1 #2)) -)");
    /* one that is used by another let does, too, and that let's argument does not get in between */
    check_in("let one[a] = two[a + 1] + y; let two[b] = i[b, b]; o[y, x] = one[x];", "i32",
             "(+.i32 (i (+.i32 #1 1) (+.i32 #1 1)) #0)");
    /* an own index hides that of the left side */
    check_in("let l2[y, x] = i[x, y]; o[y, x] = l2[x, y];", "i32", "(i #0 #1)");
    /* any value may be an argument, and an exact one stays exact */
    check_in("let sq[a] = a * a; o[y, x] = sq[0.1] * d[y, x] + sq[f[y, x]];", "f64",
             "(+.f64 (*.f64 0.01d (d #0 #1)) (to.f64 (*.f32 (f #0 #1) (f #0 #1))))");
    /* names of lets hide globals */
    check_in("let k3 = x; let n3 = y; o[y, x] = k3 + n3;", "i32", "(+.i32 #1 #0)");
}

/* ---- reductions ---- */

static void test_reductions(void **state)
{
    (void)state;
    check_expr("f32", "sum(a in -1..n3 - 1: k3[a + 1])", "(sum.f32/fold #2=-1..2 (k3 (+.i32 #2 1)) -)");
    check_expr("f32", "prod(a in 0..later + 1: f[a, x])",
               "(prod.f32/fold #2=0..(+.i32 later.i32 1) (f #2 #1) -)");
    check_expr("i32", "min(a in 0..x + 1: u[y, a])", "(least.i32/running #2=0..(+.i32 #1 1) (u #0 #2) -)");
    check_expr("i64", "max(a in 0..w, b in 0..2: l[b, a])",
               "(greatest.i64/lanes #2=0..w #3=0..2 (l #3 #2) -)");
    check_expr("i32", "sum(a in 0..s: a)", "(sum.i32/lanes #2=0..s.i32 #2 -)");
    check_expr("i32", "sum(a in 0..i32(gain): a)", "(sum.i32/lanes #2=0..(i32 gain.f32) #2 -)");
    check_expr("i32", "sum(a in 0..3, b in 0..a: b)", "(sum.i32/nested #2=0..3 #3=0..#2 #3 -)");
    check_expr("i32", "sum(a in 0..w, b in 0..a + x: b)",
               "(sum.i32/nested #2=0..w #3=0..(+.i32 #2 #1) #3 -)");
    check_expr("i32", "sum(a in 0..w: sum(b in 0..a: b))",
               "(sum.i32/lanes #2=0..w (sum.i32/running #3=0..#2 #3 -) -)");
    check_expr("i32", "any(a in 0..3: f[y, a]) + all(a in 0..3: f[y, a] > 0)",
               "(+.i32 (to.i32 (any.bool/fold #2=0..3 (!=.bool (f #0 #2) 0f) -)) "
               "(to.i32 (all.bool/fold #2=0..3 (>.bool (f #0 #2) 0f) -)))");
    check_expr("i32", "count(a in 0..w if u[y, a] == x) + count(a in 0..3)",
               "(+.i32 (count.i32/lanes #2=0..w - (==.bool (u #0 #2) #1)) (count.i32/fold #2=0..3 - -))");
    check_expr("i32", "argmax(a in 0..w if a > 0: d[y, a]) - argmin(a in 0..w: x > a)",
               "(-.i32 (argmax.i32/lanes #2=0..w (d #0 #2) (>.bool #2 0)) "
               "(argmin.i32/lanes #2=0..w (to.i32 (>.bool #1 #2)) -))");
    check_expr("f64", "sum(a in 0..3: 0.1) + sum(a in 0..3: 5000000000)",
               "(to.f64 (+.f32 (sum.f32/fold #2=0..3 0.100000001f -) (to.f32 (sum.i64/fold #2=0..3 5000000000L -))))");
}

/* ---- params and args ---- */

static void test_hidden(void **state)
{
    (void)state;
    struct dfc_front *front;
    check_expr("f32", "f[y, x] * later + ratio * 0.5",
               "(+.f32 (*.f32 (f #0 #1) (to.f32 later.i32)) (to.f32 (*.f64 ratio.f64 0.5d)))");
    check_expr("f64", "d[y, x] * (later * 0.1)", "(*.f64 (d #0 #1) (*.f64 (to.f64 later.i32) 0.1d))");
    check_expr("f32", "gain * i[y, x] + gain", "(+.f32 (*.f32 gain.f32 (to.f32 (i #0 #1))) gain.f32)");
    check_expr("f16", "ratio", "(f16 ratio.f64)");
    const struct dff_kernel *k = kernel_of("kernel t(in f: f32[n], out o: f32[n + later]; s: i32) {"
                                           " o[x] = gain + later + f[0] + s + gain; }", &front);
    const struct dfc_sig *sig = &k->callee->sig;
    assert_int_equal(sig->n_given, 1);
    assert_int_equal(sig->n_scalars, 3);
    assert_string_equal(sig->scalars[1]->name.text, "later");
    assert_false(sig->hidden[0].is_arg);
    assert_string_equal(sig->scalars[2]->name.text, "gain");
    assert_true(sig->hidden[1].is_arg);
    char *text = text_of(k, k->ports[1].extents[0]);
    assert_string_equal(text, "(+.i32 n later.i32)");
    free(text);
    dfc_front_free(front);
}

/* A hidden scalar is the param or arg itself, whatever has its name where the kernel is called. */
static void test_hidden_in_call(void **state)
{
    (void)state;
    const char *text = "param size = 5 dynamic; arg gain: i32 = 7;\n"
                       "kernel src(out a: i32[n]) cost cpu 1us; kernel sink(in a: i32[n]) cost cpu 1us;\n"
                       "kernel f(in a: i32[n], out b: i32[n]; by: i32) { b[x] = a[x] * by + size * gain; }\n"
                       "graph inner(in a: i32[size], out b: i32[size]; gain: i32) { b = f(a, gain); }\n"
                       "graph main { a: i32[3] = src(); b = inner(a, 9);\n"
                       "    for size in 0..1 { c[size] = f(b, size) @nofuse; sink(c[size]); } }\n";
    struct dfc_front *front = compile(text, stderr);
    assert_non_null(front);
    const struct df_graph *g = front->graph;
    unsigned seen = 0;
    for (uint32_t w = 0; w < g->n_works; w++) {
        const struct df_work *work = &g->works[w];
        if (strcmp(df_graph_string(g, g->kernels[work->kernel].name), "f") != 0)
            continue;
        const uint32_t *scalars = &g->node_scalars[work->first_scalar];
        assert_int_equal(g->scalars[scalars[1]].n_code, 0);
        assert_int_equal(g->scalars[scalars[1]].i, 5);
        assert_int_not_equal(g->scalars[scalars[2]].n_code, 0); /* the arg, which the program reads */
        seen++;
    }
    assert_int_equal(seen, 2);
    dfc_front_free(front);
}

/* ---- ports, left sides, tables ---- */

static void test_ports(void **state)
{
    (void)state;
    struct dfc_front *front;
    const struct dff_kernel *k = kernel_of(
        "kernel t(in a: u8[2 * h, w] border wrap, 7, in b: f16[h] border 0.1, inout c: i32[h, w], out o: f64,"
        " out p: u8[h, 2]) { c[y, x] = c[y, x] + 1; o = k3[0] + lut[0, 1]; p[i, 1] = 0; p[i, 0] = a[i, -1]; }", &front);
    char *text = text_of(k, k->ports[0].extents[0]);
    assert_string_equal(text, "(*.i32 2 h)");
    free(text);
    assert_int_equal(k->ports[0].border[0], DFF_WRAP_AROUND);
    assert_int_equal(k->ports[0].border[1], DFF_NUMBER);
    assert_int_equal(k->ports[0].outside[1]->i, 7);
    assert_true(fabs(k->ports[1].outside[0]->f - 0.0999755859375) == 0);
    assert_int_equal(k->ports[2].mode, DF_INOUT);
    assert_int_equal(k->ports[2].border[0], DFF_NONE);
    assert_int_equal(k->n_formulas, 4);
    assert_int_equal(k->formulas[1].rank, 0);
    assert_true(k->formulas[2].is_index[0] && !k->formulas[2].is_index[1]);
    assert_int_equal(k->formulas[2].at[1], 1);
    assert_string_equal(k->formulas[2].names[0], "i");
    assert_int_equal(k->n_tables, 2);
    assert_int_equal(k->tables[1]->i[3], 4);
    assert_true(fabs(k->tables[0]->f[1] - (double)0.1f) == 0);
    dfc_front_free(front);
}

/* ---- hashes and classes ---- */

static uint64_t hash_of(const char *text)
{
    struct dfc_front *front;
    uint64_t hash = dff_hash(kernel_of(text, &front));
    dfc_front_free(front);
    return hash;
}

static void test_hash(void **state)
{
    (void)state;
    const uint64_t first = hash_of("kernel t(in f: f32[n] border 0, out o: f32[n]) { o[x] = 2 * f[x] + f[x + 1]; }");
    assert_int_not_equal(first, 0);
    assert_int_equal(first, hash_of("kernel u(in g: f32[m] border 0.0, out p: f32[m]) { // a comment\n"
                                    " let a = g[j]; p[j] = (1 + 1) * a + g[j + 1]; }"));
    static const char *const others[] = {
        "kernel t(in f: f32[n] border 1, out o: f32[n]) { o[x] = 2 * f[x] + f[x + 1]; }",
        "kernel t(in f: f32[n] border clamp, out o: f32[n]) { o[x] = 2 * f[x] + f[x + 1]; }",
        "kernel t(in f: f16[n] border 0, out o: f32[n]) { o[x] = 2 * f[x] + f[x + 1]; }",
        "kernel t(in f: f32[n] border 0, out o: f32[n]) { o[x] = 2 * f[x] + f[x + 2]; }",
        "kernel t(in f: f32[n] border 0, out o: f32[n]) { o[x] = 2 * f[x] - f[x + 1]; }",
        "kernel t(in f: f32[n] border 0, out o: f32[n]) { o[x] = f[x + 1] + 2 * f[x]; }",
        "kernel t(in f: f32[n] border 0, out o: f32[2 * n]) { o[x] = 2 * f[x] + f[x + 1]; }",
        "kernel t(in f: f32[n] border 0, out o: f32[n]) { o[x] = k3[1] * f[x] + f[x + 1]; }",
        "kernel t(in f: f32[n] border 0, out o: f32[n]) { o[x] = lut[1, 1] * f[x] + f[x + 1]; }",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_not_equal(first, hash_of(others[i]));
}

static void test_classes(void **state)
{
    (void)state;
    struct dfc_front *front;
    kernel_of("kernel t(in f: f32[n], out o: f32[n]) tolerance(0.1) once { o[x] = f[x]; } gpu {{ }} cost cpu 1us;", &front);
    const struct dfc_kernel_code *code = &front->kernels[0];
    assert_null(code->cpu);
    assert_non_null(code->gpu);
    const struct df_kernel *callee = &front->graph->kernels[0];
    assert_int_equal(callee->code_classes, 1u << DF_CLASS_CPU | 1u << DF_CLASS_GPU);
    assert_int_equal(callee->cost_classes, 1u << DF_CLASS_CPU);
    assert_int_equal(callee->code_hash[0], dff_hash(code->formula));
    assert_int_not_equal(callee->code_hash[1], callee->code_hash[0]);
    dfc_front_free(front);
}

/* ---- rounding ---- */

static void test_rounding(void **state)
{
    (void)state;
    assert_true(dff_round_float(65519.999, DF_F16) == 65504);
    assert_true(isinf(dff_round_float(65520, DF_F16)));
    assert_true(dff_round_float(2049, DF_F16) == 2048 && dff_round_float(2051, DF_F16) == 2052);
    assert_true(dff_round_float(0x1p-25, DF_F16) == 0 && dff_round_float(0x1.8p-24, DF_F16) == 0x1p-23);
    assert_true(dff_round_float(-0x1.001p-14, DF_F16) == -0x1p-14);
    const struct df_number halves[] = { { .kind = DF_KIND_F64, .f = 0.5 }, { .kind = DF_KIND_F64, .f = 1.5 },
                                        { .kind = DF_KIND_F64, .f = -2.5 }, { .kind = DF_KIND_F64, .f = 1e19 } };
    const int64_t want[] = { 0, 2, -2, INT64_MAX };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(dff_round_int(&halves[i], DF_I64), want[i]);
}

/* Extents of scratch for some dimensions. What is less than 0 is 0, and no product overflows. */
static void test_extent_values(void **state)
{
    const uint64_t dims[] = { 3000, 5 };
    const struct dff_node h = { .kind = DFF_DIM, .number = 0 }, w = { .kind = DFF_DIM, .number = 1 }, most = { .kind = DFF_CONST, .i = INT64_MAX },
                          block = { .kind = DFF_CONST, .i = 1024 }, none = { .kind = DFF_CONST, .i = 0 };
    const struct { enum dff_op op; const struct dff_node *a, *b; uint64_t want; } cases[] = {
        { DFF_ADD, &h, &w, 3005 },    { DFF_SUB, &h, &w, 2995 },    { DFF_SUB, &w, &h, 0 },     { DFF_MUL, &h, &w, 15000 },
        { DFF_DIV, &h, &block, 2 },   { DFF_DIV, &h, &none, 0 },    { DFF_MOD, &h, &block, 952 }, { DFF_MOD, &h, &none, 0 },
        { DFF_MIN, &h, &block, 1024 }, { DFF_MAX, &h, &block, 3000 }, { DFF_NEG, &h, NULL, 0 },   { DFF_MUL, &most, &most, UINT64_C(1) << 62 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dff_node *const args[] = { cases[i].a, cases[i].b };
        const struct dff_node op = { .kind = DFF_OP, .op = cases[i].op, .args = args, .n_args = cases[i].b ? 2 : 1 };
        const struct dff_node *const inner[] = { &op };
        const struct dff_node negated = { .kind = DFF_OP, .op = DFF_NEG, .args = inner, .n_args = 1 }, *const twice[] = { &negated };
        const struct dff_node back = { .kind = DFF_OP, .op = DFF_NEG, .args = twice, .n_args = 1 };
        assert_int_equal(dff_extent_value(&op, dims), cases[i].want);
        assert_int_equal(dff_extent_value(&back, dims), cases[i].want);
    }
    assert_int_equal(dff_extent_value(&h, dims), 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extent_values),
        cmocka_unit_test(test_promotion),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_no_sharing),
        cmocka_unit_test(test_doubling),
        cmocka_unit_test(test_too_deep),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_lets),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_hidden_in_call),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_rounding),
    };
    const struct CMUnitTest large[] = { cmocka_unit_test(test_too_many_nodes) };
    int failed = cmocka_run_group_tests_name("formulas", tests, NULL, NULL);
    failed += cmocka_run_group_tests_name("large formulas", large, NULL, NULL);
    return failed + cmocka_run_group_tests_name("formulas whose nodes have one hash", tests, begin_colliding, NULL);
}
