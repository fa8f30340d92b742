/* test_print.c - a tree printed and read again is the same tree: on every construct of the language, and on programs
 * drawn at random from the grammar. Trees are compared by what they print and, for expressions, node by node.
 *
 * The same programs with blanks and comments strewn in keep all of it but blanks when they are formatted, and what was
 * formatted is formatted to itself. test_format.c says how it looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dsl/format.h"
#include "dsl/parse.h"
#include "long.h"

static struct dfl_file *read_text(struct dfl_sink *sink, const char *text)
{
    struct dfl_file *file = dfl_parse(sink, "t.df", text, strlen(text));
    assert_non_null(file);
    if (dfl_sink_errors(sink) > 0)
        fail_msg("does not parse:\n%s", text);
    return file;
}

static char *print(const struct dfl_file *file)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    dfl_print(out, file);
    fclose(out);
    return text;
}

static bool same_ranges(const struct dfl_range *a, const struct dfl_range *b);

static bool same_expr(const struct dfl_expr *a, const struct dfl_expr *b)
{
    for (; a && b; a = a->next, b = b->next) {
        bool strings = a->s && b->s ? strcmp(a->s, b->s) == 0 : a->s == b->s;
        if (a->kind != b->kind || a->op != b->op || a->is_int != b->is_int || a->i != b->i || a->f != b->f ||
            !strings || !same_expr(a->a, b->a) || !same_expr(a->b, b->b) || !same_expr(a->args, b->args) ||
            !same_ranges(a->ranges, b->ranges))
            return false;
    }
    return a == b;
}

static bool same_ranges(const struct dfl_range *a, const struct dfl_range *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (strcmp(a->name.text, b->name.text) != 0 || !same_expr(a->from, b->from) || !same_expr(a->to, b->to))
            return false;
    return a == b;
}

static bool same_formulas(const struct dfl_kernel *a, const struct dfl_kernel *b)
{
    if (!a || !b)
        return a == b;
    const struct dfl_formula *f = a->formulas, *g = b->formulas;
    for (; f && g; f = f->next, g = g->next)
        if (f->is_let != g->is_let || f->assign != g->assign || strcmp(f->name.text, g->name.text) != 0 ||
            !same_expr(f->indices, g->indices) || !same_expr(f->value, g->value))
            return false;
    const struct dfl_port *p = a->sig->ports, *q = b->sig->ports;
    for (; p && q; p = p->next, q = q->next)
        if (!same_expr(p->border, q->border))
            return false;
    return a->has_formulas == b->has_formulas && f == g && p == q;
}

static void expect_round_trip(const char *text)
{
    struct dfl_sink *sink = dfl_sink_new(stderr);
    assert_non_null(sink);
    struct dfl_file *first = read_text(sink, text);
    char *printed = print(first);
    struct dfl_file *second = read_text(sink, printed);
    char *again = print(second);
    assert_string_equal(printed, again);
    const struct dfl_decl *a = first->decls, *b = second->decls;
    for (; a && b; a = a->next, b = b->next)
        if (a->kind != b->kind || strcmp(a->name.text, b->name.text) != 0 || !same_expr(a->value, b->value) ||
            !same_expr(a->help, b->help) || !same_formulas(a->kernel, b->kernel))
            fail_msg("reads back as something else:\n%s\nprinted:\n%s", text, printed);
    assert_true(!a && !b);
    free(printed);
    free(again);
    dfl_file_free(first);
    dfl_file_free(second);
    dfl_sink_free(sink);
}

/* ---- every construct, in its canonical form ---- */

static const char canonical[] =
    "import \"lib.df\";\n"
    "link \"open\\\"blas\\\\ \\n\\t\\007\";\n"
    "param n = 1024 dynamic help \"elements\";\n"
    "param help = 1 help \"\";\n"
    "param m = (n + 3) / 4 * 2 - -1 % 7;\n"
    "param b = !(n < 3 || n >= 4 && m == 2) != 0 <= 1;\n"
    "param c = 1 - (2 - 3) - (4 + 5) * 6 / (7 * 8);\n"
    "param d = -9223372036854775808 + -(-9223372036854775808 + 1);\n"
    "param e = --1 + !!-2;\n"
    "param f = 0.1 + 1.0e+300 + 2.5e-10 + 123456789.125;\n"
    "param q = 6 GiB / 2.5 us;\n"
    "param s = \"\";\n"
    "param t = min(n, max(m, 3), 4);\n"
    "arg seed: i32 = -1;\n"
    "arg big: i64 = -9223372036854775808;\n"
    "arg scale: f64 = -2.5;\n"
    "arg name: str = \"a b\" help \"a \\\"name\\\"\";\n"
    "arg given: i32 help \"which must be given\";\n"
    "arg bare: f32;\n"
    "type vec = f32[n];\n"
    "type one = f64;\n"
    "type mat = u8[h <= 4096, w <= 4096];\n"
    "kernel nothing() cpu \"a.c\";\n"
    "kernel gen(out v: f32[k]; seed: i32, t: f64) stream restart resume cpu \"vec.c\";\n"
    "kernel only(; s: str) once cpu \"a.c\";\n"
    "kernel add(in a: f32[k], out c: f32[k]) cpu \"v.c\" gpu \"v.cu\""
    " cost cpu 1.2 ms gpu (2 us + 0.5 ns * k) npu (3);\n"
    "kernel old(in a: f32[k]) ordered sync threads(n / 2) tolerance(0.001, 2 * n) cpu \"o.c\": f(a, k, stream, call)"
    " gpu \"k.cu\": g<<<(k + 1) / 2, 256>>>(a);\n"
    "kernel bare() cpu \"p.c\": go cpu \"q.c\": go2() -> void cpu \"q.c\": go4 -> void gpu \"r.cu\": go3<<<1>>>;\n"
    "kernel several() cpu \"a.c\" \"b.o\": f(k) gpu \"a.cu\" \"b.cu\" \"c.a\";\n"
    "kernel sums(in a: f32[k]; x: f64) cpu \"a.c\": f(a, k * (k + 1), -x, 0, \"s\", min(k, 2)) -> void;\n"
    "kernel flagged(in flags: f32[k]) cpu \"a.c\" flags \"-O3 -DA=\\\"b\\\"\" \"b.c\" flags \"-g\": f(flags);\n"
    "kernel with() cpu \"a.c\" flags \"\" {{ f(); }} gpu \"a.cu\" \"b.c\" {{ g(); }};\n"
    "kernel kept() cpu \"a.c\": f(open) open a close b gpu \"a.cu\" open c cpu {{ g(); }} open open close close;\n"
    "kernel inline() cpu {{ int x = '}'; { /* }} */ } // }}\n    puts(\"}}\"); }} gpu {{}};\n"
    "kernel wild(inout a: f32, tmp t: u8[4, 4], acc z: f32[2] split y halo 3, in y: f32 split z) cost cpu 0 us;\n"
    "table k5: f32[5] = { 1, -4, 6.5, n, -1 };\n"
    "kernel blur(in g: f32[h, w] border mirror, -1, in t: u8[n] split y halo 2 border -0.5, out b: f32) once {\n"
    "    let d[i, j] = g[y + i, x - -j];\n"
    "    b[y, 0] = -d[0, 2] * ~(a & 3) | 4 ^ b << 2 >> (1 >> 2) & 7;\n"
    "    b = (a ? b : c) ? d ? e : f : g ? h : i + (j ? k : l);\n"
    "    min += sum(i in -2..n + 3, j in (a ? 1 : 2)..3 if a == b || !c: k5[i] * max(i in 0..3: i)) / 256;\n"
    "    max min= count(y in 0..h);\n"
    "    table[border] max= u8(argmin(let in 0..h: let[border]) + rand() * f(a, b));\n"
    "} cpu \"a.c\" gpu {{ x }} cost cpu (2 us + 1 us);\n"
    "kernel half() {\n"
    "}\n"
    "kernel both() {\n"
    "    a = 1;\n"
    "} cpu \"a.c\";\n"
    "graph inner(in a: vec, out b: f32[n]; k: i32) {\n"
    "    b = bump(a, k);\n"
    "}\n"
    "graph empty {\n"
    "}\n"
    "graph main {\n"
    "    promise {\n"
    "        rate >= 2 * n / s;\n"
    "        latency <= 90 ms;\n"
    "        memory gpu0 <= 3 GiB;\n"
    "        confidence 0.95;\n"
    "    }\n"
    "    a: vec = gen(seed, t = 3.5, stream = stream);\n"
    "    (x, y[i, 2]: f32[4], _) = multi(a, A[i, j + 1], -3, stream == 2);\n"
    "    print(x) @cpu @depth(4) @rate(0.25);\n"
    "    for i in 0 .. n - 1 {\n"
    "        for cost in i .. 2 * i {\n"
    "            T[i, cost] = f(T[i - 1, cost]);\n"
    "        }\n"
    "    }\n"
    "    if n > 3 {\n"
    "    } else if n == 2 {\n"
    "        f(a);\n"
    "    } else if m {\n"
    "    } else {\n"
    "        if n {\n"
    "            h();\n"
    "        }\n"
    "    }\n"
    "}\n"
    "platform titan {\n"
    "    cpu host { workers = 3; }\n"
    "    gpu titan { memory = 6 GiB; h2d = 6.5 GB/s, 10 us, 4 KiB; none = 0; }\n"
    "    npu idle { }\n"
    "    mic a { workers = n / 2 + 1; h2d = 2 * b * 1 GB/s, (t + 1 us) * 2; d2h = (1 GB + b)/s; memory = min(n, 3) * 1 GiB; }\n"
    "}\n"
    "platform none {\n"
    "}\n";

static void test_canonical_text_prints_as_it_is(void **state)
{
    (void)state;
    struct dfl_sink *sink = dfl_sink_new(stderr);
    assert_non_null(sink);
    struct dfl_file *file = read_text(sink, canonical);
    char *printed = print(file);
    assert_string_equal(printed, canonical);
    free(printed);
    dfl_file_free(file);
    dfl_sink_free(sink);
    expect_round_trip(canonical);
}

/* ---- programs drawn at random ---- */

struct generator {
    FILE *out;
    uint32_t seed;
};

static uint32_t below(struct generator *g, uint32_t n)
{
    g->seed = g->seed * 1664525u + 1013904223u;
    return (g->seed >> 8) % n;
}

static const char *one_of(struct generator *g, const char *const *choices, uint32_t n)
{
    return choices[below(g, n)];
}

static void put_name(struct generator *g)
{
    static const char *const names[] = {"a", "n", "k2", "_x", "e5", "x10", "us", "ms", "min_", "stream", "cost",
                                        "halo", "gpu", "border", "let", "table", "in_"};
    fputs(one_of(g, names, 17), g->out);
}

static void put_expr(struct generator *g, unsigned depth)
{
    static const char *const literals[] = {"0", "7", "9223372036854775807", "0.1", "3.25e-7", "1e22", "6 GiB",
                                           "2.5us", "2 e5", "\"a\\\"\\\\b\\n\\001c\"", "-9223372036854775808"};
    static const char *const operators[] = {"*", "/", "%", "+", "-", "<", "<=", ">", ">=", "==", "!=", "&&", "||"};
    uint32_t kind = below(g, depth > 0 ? 8 : 2);
    switch (kind) {
    case 0: fputs(one_of(g, literals, 11), g->out); break;
    case 1: put_name(g); break;
    case 2:
        fputs(below(g, 2) ? "-" : "!", g->out);
        fputs(below(g, 2) ? " " : "", g->out);
        put_expr(g, depth - 1);
        break;
    case 3:
        fputc('(', g->out);
        put_expr(g, depth - 1);
        fputc(')', g->out);
        break;
    case 4:
        fputs(below(g, 2) ? "min(" : "max(", g->out);
        put_expr(g, depth - 1);
        fputs(", ", g->out);
        put_expr(g, depth - 1);
        fputc(')', g->out);
        break;
    case 5:
        put_name(g);
        fputc('[', g->out);
        put_expr(g, depth - 1);
        fputc(']', g->out);
        break;
    default:
        put_expr(g, depth - 1);
        fprintf(g->out, "%s", one_of(g, operators, 13));
        put_expr(g, depth - 1);
    }
}

static void put_formula_expr(struct generator *g, unsigned depth);

static void put_list(struct generator *g, unsigned depth)
{
    put_formula_expr(g, depth);
    for (uint32_t n = below(g, 3); n > 0; n--) {
        fputs(",", g->out);
        put_formula_expr(g, depth);
    }
}

static void put_reduction(struct generator *g, unsigned depth)
{
    static const char *const names[] = {"sum", "prod", "min", "max", "any", "all", "count", "argmin", "argmax"};
    fprintf(g->out, "%s(", one_of(g, names, 9));
    for (uint32_t n = 1 + below(g, 2); n > 0; n--) {
        put_name(g);
        fputs(" in ", g->out);
        put_formula_expr(g, depth);
        fputs("..", g->out);
        put_formula_expr(g, depth);
        fputs(n > 1 ? ", " : "", g->out);
    }
    if (below(g, 2)) {
        fputs(" if ", g->out);
        put_formula_expr(g, depth);
    }
    if (below(g, 2)) {
        fputs(":", g->out);
        put_formula_expr(g, depth);
    }
    fputs(")", g->out);
}

static void put_formula_expr(struct generator *g, unsigned depth)
{
    static const char *const literals[] = {"0", "7", "9223372036854775807", "0.1", "1e22", "-9223372036854775808"};
    static const char *const operators[] = {"*", "/", "%", "+", "-", "<", "<=", ">", ">=", "==", "!=", "&&", "||",
                                            "&", "|", "^", "<<", ">>"};
    static const char *const prefixes[] = {"-", "!", "~", "- ", "~!"};
    uint32_t kind = below(g, depth > 0 ? 10 : 2);
    depth -= depth > 0;
    switch (kind) {
    case 0: fputs(one_of(g, literals, 6), g->out); break;
    case 1: put_name(g); break;
    case 2:
        fputs(one_of(g, prefixes, 5), g->out);
        put_formula_expr(g, depth);
        break;
    case 3:
        fputs("(", g->out);
        put_formula_expr(g, depth);
        fputs(")", g->out);
        break;
    case 4:
    case 5:
        put_name(g);
        fputs(kind == 4 ? "[" : "(", g->out);
        put_list(g, depth);
        fputs(kind == 4 ? "]" : ")", g->out);
        break;
    case 6:
        put_formula_expr(g, depth);
        fputs("?", g->out);
        put_formula_expr(g, depth);
        fputs(":", g->out);
        put_formula_expr(g, depth);
        break;
    case 7: put_reduction(g, depth); break;
    default:
        put_formula_expr(g, depth);
        fputs(one_of(g, operators, 18), g->out);
        put_formula_expr(g, depth);
    }
}

static void put_formulas(struct generator *g)
{
    static const char *const lefts[] = {"let ", "let min[i, let] ", "o[y, 0]", "max"};
    static const char *const assigns[] = {"=", "+=", "min=", "max ="};
    static const char *const ends[] = {"", ";", " cpu \"a.c\"", " gpu {{ }};", " cost cpu 2us;"};
    fputs("table t: f32[2] = {", g->out);
    put_expr(g, 2);
    fputs("};\nkernel f(in g: f32[h, w] border wrap, -1, out b: f32) {", g->out);
    for (uint32_t n = below(g, 4); n > 0; n--) {
        uint32_t left = below(g, 4);
        fputs(lefts[left], g->out);
        if (left == 0)
            put_name(g);
        fprintf(g->out, " %s ", left < 2 ? "=" : one_of(g, assigns, 4));
        put_formula_expr(g, 4);
        fputs(";", g->out);
    }
    fprintf(g->out, "}%s\n", one_of(g, ends, 5));
}

static void put_block(struct generator *g, unsigned depth);

static void put_stmt(struct generator *g, unsigned depth)
{
    switch (below(g, depth > 0 ? 5 : 3)) {
    case 0:
        put_name(g);
        fputs("(", g->out);
        put_expr(g, 2);
        fputs(");", g->out);
        break;
    case 1:
        put_name(g);
        fputs(" = ", g->out);
        put_name(g);
        fputs("() @cpu;", g->out);
        break;
    case 2:
        fputs("(p, q[1]: f32[", g->out);
        put_expr(g, 2);
        fputs("]) = f(x, y = ", g->out);
        put_expr(g, 2);
        fputs(") @depth(2);", g->out);
        break;
    case 3:
        fputs("for i in ", g->out);
        put_expr(g, 1);
        fputs("..", g->out);
        put_expr(g, 1);
        put_block(g, depth - 1);
        break;
    default:
        fputs("if ", g->out);
        put_expr(g, 2);
        put_block(g, depth - 1);
        if (below(g, 2)) {
            fputs(" else if ", g->out);
            put_expr(g, 1);
            put_block(g, depth - 1);
        }
        if (below(g, 2)) {
            fputs(" else", g->out);
            put_block(g, depth - 1);
        }
    }
}

static void put_block(struct generator *g, unsigned depth)
{
    fputs(" {", g->out);
    for (uint32_t n = below(g, 4); n > 0; n--)
        put_stmt(g, depth);
    fputs("}\n", g->out);
}

static void put_program(struct generator *g)
{
    for (uint32_t n = 1 + below(g, 4); n > 0; n--) {
        fputs("param p = ", g->out);
        put_expr(g, 5);
        fputs(below(g, 2) ? " dynamic;\n" : ";\n", g->out);
    }
    put_formulas(g);
    fputs("kernel k(in a: f32[", g->out);
    put_expr(g, 3);
    fputs("], out b: u8; s: str) threads(", g->out);
    put_expr(g, 2);
    fputs(") cpu \"a.c\" gpu {{ }} cost cpu (", g->out);
    put_expr(g, 3);
    fputs(") gpu 2ns;\ngraph g", g->out);
    put_block(g, 3);
}

/* ---- formatted ---- */

static char *format(const char *text)
{
    struct dfl_sink *sink = dfl_sink_new(stderr);
    char *formatted;
    size_t n;
    assert_non_null(sink);
    if (!dfl_format(sink, "t.df", text, strlen(text), &formatted, &n))
        fail_msg("is not formatted:\n%s", text);
    assert_int_equal(strlen(formatted), n);
    dfl_sink_free(sink);
    return formatted;
}

static void put_gap(struct generator *g, unsigned *comments)
{
    static const char *const blanks[] = {" ", "\n", "\n\n\n    ", "\t", "\r\n"};
    static const char *const shapes[] = {" /* c%u; */ ", "// c%u {\n", " \n// c%u \n", "\n/* c%u \"\n  } */\n",
                                         "\n\n/* c%u */"};
    fputs(one_of(g, blanks, 5), g->out);
    for (uint32_t n = below(g, 6) ? 0 : 1 + below(g, 2); n > 0; n--)
        fprintf(g->out, one_of(g, shapes, 5), ++*comments); /* one number in each */
}

/* Strews blanks and comments between the tokens of a text. */
static char *strew(struct generator *g, const char *text, bool comments_too, unsigned *comments)
{
    struct dfl_tokens tokens = {0};
    struct dfl_sink *sink = dfl_sink_new(stderr);
    char *strewn = NULL;
    size_t length;
    dfl_file_free(dfl_parse_tokens(sink, "t.df", text, strlen(text), &tokens));
    g->out = open_memstream(&strewn, &length);
    for (size_t i = 0; i < tokens.n; i++) {
        if (comments_too)
            put_gap(g, comments);
        else
            fputs(below(g, 3) ? " " : "\n", g->out);
        fwrite(text + tokens.items[i].offset, 1, tokens.items[i].length, g->out);
    }
    fclose(g->out);
    free(tokens.items);
    dfl_sink_free(sink);
    return strewn;
}

static char *tree_of(const char *text)
{
    struct dfl_sink *sink = dfl_sink_new(stderr);
    struct dfl_file *file = read_text(sink, text);
    char *printed = print(file);
    dfl_file_free(file);
    dfl_sink_free(sink);
    return printed;
}

static void expect_formatted(const char *text, unsigned comments)
{
    char *once = format(text), *twice = format(once), *tree = tree_of(text), *formatted_tree = tree_of(once);
    const char *at = once;
    if (strcmp(once, twice) != 0) {     /* too long for a message of cmocka */
        fprintf(stderr, "formatted again it differs:\n%s\nonce:\n%s\ntwice:\n%s\n", text, once, twice);
        fail();
    }
    assert_string_equal(tree, formatted_tree);
    for (unsigned i = 1; i <= comments; i++) {
        char comment[20];
        snprintf(comment, sizeof comment, "c%u", i);
        at = strstr(at, comment);
        if (!at)
            fail_msg("comment c%u is lost:\n%s\nformatted:\n%s", i, text, once);
    }
    free(once);
    free(twice);
    free(tree);
    free(formatted_tree);
}

static void expect_all_formatted(struct generator *g, const char *text)
{
    expect_formatted(text, 0);
    for (int comments_too = 0; comments_too < 2; comments_too++) {
        unsigned comments = 0;
        char *strewn = strew(g, text, comments_too, &comments);
        expect_formatted(strewn, comments);
        free(strewn);
    }
}

static void test_formatting_keeps_all(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(100u, 40u); seed++) {
        char *text = NULL;
        size_t length;
        struct generator g = {open_memstream(&text, &length), seed * 104729u};
        assert_non_null(g.out);
        put_program(&g);
        fclose(g.out);
        expect_all_formatted(&g, text);
        expect_all_formatted(&g, canonical);
        free(text);
    }
}

static void test_random_programs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(500u, 200u); seed++) {
        char *text = NULL;
        size_t length;
        struct generator g = {open_memstream(&text, &length), seed * 7919u};
        assert_non_null(g.out);
        put_program(&g);
        fclose(g.out);
        expect_round_trip(text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_text_prints_as_it_is),
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_formatting_keeps_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
