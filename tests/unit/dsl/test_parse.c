/* test_parse.c - text to tree: what is said about wrong text, word for word; what is read of right text; the limits;
 * and that no text at all makes the parser crash, hang or say nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dsl/parse.h"
#include "tests/rig/parse_cases.h"

/* A file read, with everything that was said about it. */
struct reading {
    struct dfl_sink *sink;
    struct dfl_file *file;
    FILE *out;
    char *messages;
    size_t n_messages;
};

static void reading_start(struct reading *r, const char *text, size_t length)
{
    r->messages = NULL;
    r->out = open_memstream(&r->messages, &r->n_messages);
    assert_non_null(r->out);
    r->sink = dfl_sink_new(r->out);
    assert_non_null(r->sink);
    r->file = dfl_parse(r->sink, "t.df", text, length);
    assert_non_null(r->file);
    fflush(r->out);
}

static void reading_end(struct reading *r)
{
    dfl_file_free(r->file);
    dfl_sink_free(r->sink);
    fclose(r->out);
    free(r->messages);
}

static void expect_messages(const char *text, size_t length, const char *messages)
{
    struct reading r;
    reading_start(&r, text, length);
    assert_string_equal(r.messages, messages);
    assert_true(dfl_sink_errors(r.sink) > 0);
    reading_end(&r);
}

static void expect_one_error(const char *text, size_t length, const char *part)
{
    struct reading r;
    reading_start(&r, text, length);
    if (dfl_sink_errors(r.sink) != 1 || !strstr(r.messages, part))
        fail_msg("expected one error with '%s', got:\n%s", part, r.messages);
    reading_end(&r);
}

static void expect_fine(const char *text)
{
    struct reading r;
    reading_start(&r, text, strlen(text));
    assert_string_equal(r.messages, "");
    assert_int_equal(dfl_sink_errors(r.sink), 0);
    reading_end(&r);
}

/* `n` times `part` between `before` and `after`; malloc'ed. */
static char *repeat(const char *before, const char *part, size_t n, const char *after)
{
    size_t one = strlen(part), head = strlen(before);
    char *text = malloc(head + n * one + strlen(after) + 1);
    assert_non_null(text);
    strcpy(text, before);
    for (size_t i = 0; i < n; i++)
        memcpy(text + head + i * one, part, one);
    strcpy(text + head + n * one, after);
    return text;
}

static char *join(char *a, char *b)
{
    char *both = malloc(strlen(a) + strlen(b) + 1);
    assert_non_null(both);
    strcpy(both, a);
    strcat(both, b);
    free(a);
    free(b);
    return both;
}

/* ---- what is said ---- */

static void test_case(void **state)
{
    const struct parse_case *c = *state;
    expect_messages(c->text, c->length, c->messages);
}

static void test_at_most_twenty_errors_are_shown(void **state)
{
    (void)state;
    char *text = repeat("", "param = 1;\ngraph g { a = ; }\n", 30, "");
    struct reading r;
    reading_start(&r, text, strlen(text));
    size_t shown = 0;
    for (const char *at = r.messages; (at = strstr(at, ": error: ")); at++)
        shown++;
    assert_int_equal(shown, DFL_MAX_ERRORS);
    assert_int_equal(dfl_sink_errors(r.sink), 60);
    reading_end(&r);
    free(text);
}

/* ---- files that are no .df ---- */

static void expect_foreign(const char *text, size_t length, const char *what)
{
    char message[128];
    struct reading r;
    snprintf(message, sizeof message, ": error: this file is %s and not a .df\n", what);
    reading_start(&r, text, length);
    if (dfl_sink_errors(r.sink) != 1 || !strstr(r.messages, message) || !strstr(r.messages, "\nhint: "))
        fail_msg("expected one error with '%s' and a hint, got:\n%s", message, r.messages);
    reading_end(&r);
}

static void test_other_formats_are_named(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        const char *what;
    } files[] = {
        {TEXT("digraph G {\n  a -> b [label=\"x\\d\"];\n}\n"), "a graph of Graphviz (DOT)"},
        {TEXT("/* made by hand */\nstrict graph {\n  a -- b;\n}\n"), "a graph of Graphviz (DOT)"},
        {TEXT("graph G {\n  \"a b\" -- c;\n}\n"), "a graph of Graphviz (DOT)"},
        {TEXT("# comment\ngraph \"my graph\" {\n  node [shape=box];\n}\n"), "a graph of Graphviz (DOT)"},
        {TEXT("graph { edge [color=red]\n a -- b }\n"), "a graph of Graphviz (DOT)"},
        {TEXT("    50\n    0    0    0\n    1   18    1   0\n"), "a standard task graph (STG)"},
        {TEXT("{ \"name\": \"x\\d\", \"workflow\": { \"tasks\": [ ] } }\n"), "a workflow in JSON (WfCommons)"},
        {TEXT("{\n  \"nodes\": [ ] }"), "JSON"},
        {TEXT("[1, 2]\n"), "JSON"},
        {TEXT("<?xml version=\"1.0\"?>\n<adag name=\"m\"></adag>\n"), "a workflow in XML (DAX)"},
        {TEXT("<!-- a -->\n<graphml></graphml>\n"), "XML"},
        {TEXT("#\n# slurm.conf\nClusterName=c\nNodeName=a[0-3] CPUs=4\n"), "Slurm's configuration"},
        {TEXT("#!/bin/bash\n#SBATCH -n 4\nsrun x\n"), "a job script"},
        {TEXT("#!/bin/sh\ndfc sum.df\n"), "a script"},
        {TEXT("#!/usr/bin/env python3\nprint(1)\n"), "a Python program"},
        {TEXT("# first\nimport numpy as np\n\ndef f(x):\n    return x\n"), "a Python program"},
        {TEXT("from a import b\n"), "a Python program"},
        {TEXT("def f(x):\n    return x\n"), "a Python program"},
        {TEXT("// add\n#include <stdio.h>\nint main(void) { return 0; }\n"), "C or C++ code"},
        {TEXT("void f(float *a) { a[0] = 1; }\n"), "C or C++ code"},
        {TEXT("#include <stdio.h>\n__global__ void f(float *a) { a[0] = 1; }\n"), "CUDA code"},
        {TEXT("# steps\nname: build\nsteps:\n  - a\n"), "YAML"},
        {TEXT("---\n- a\n"), "YAML"},
        {TEXT("\x7F" "ELF\2\1\1\0\0"), "a compiled program, library or object (ELF)"},
        {TEXT("\x1F\x8B\x08\0\0\0"), "compressed by gzip"},
        {TEXT("PK\3\4\0\0"), "a zip archive"},
        {TEXT("\x89PNG\r\n\x1A\n"), "a picture (PNG)"},
        {TEXT("II*\0\x08\0"), "a picture (TIFF)"},
        {TEXT("\x93NUMPY\1\0"), "an array of NumPy"},
        {TEXT("\xFF\xFEg\0r\0"), "text in UTF-16"},
        {TEXT("\xFE\xFF\0g\0r"), "text in UTF-16"},
        {TEXT("\xEF\xBB\xBF{ \"a\": 1 }"), "JSON"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        for (size_t cut = 0; cut < files[i].length; cut++) { /* what is cut off must be read within its bounds */
            struct reading r;
            char *part = malloc(cut ? cut : 1);
            assert_non_null(part);
            memcpy(part, files[i].text, cut);
            reading_start(&r, part, cut);
            reading_end(&r);
            free(part);
        }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        expect_foreign(files[i].text, files[i].length, files[i].what);
}

/* A file that declares something as a .df does is one, whatever else is in it. */
static void test_no_df_is_taken_for_another_format(void **state)
{
    static const char *const unfinished[] = {
        "source: f32[8] = make()\nshow(source)\n", /* statements without a graph and without ';' */
        "a: f32[8] =\n    f();\n",
        "{\0",
        "class foo",
    };
    (void)state;
    for (size_t i = 0; i < sizeof unfinished / sizeof unfinished[0]; i++) {
        struct reading r;
        reading_start(&r, unfinished[i], i == 2 ? 2 : strlen(unfinished[i]));
        assert_null(strstr(r.messages, "not a .df"));
        reading_end(&r);
    }
    expect_fine("graph a { b = c(d); c[0] = b(e); }\n");
    expect_fine("graph\nmain { for i in 0..2 { f(); } }\n");
    expect_fine("import \"a.df\"; link \"m\"; table t: f32[2] = { 1, 2 };\n");
    expect_one_error(TEXT("#include \"lib.df\"\ngraph main { f(); }\n"), "character '#' is not part of the language");
    expect_one_error(TEXT("import numpy;\nparam n = 1;\n"), "expected a string after 'import'");
    expect_one_error(TEXT("void f(float a);\n\nkernel g(in a: f32[n]) cpu \"g.c\";\n"), "expected a declaration, found 'void'");
}

/* ---- what is read ---- */

static void test_empty_files(void **state)
{
    (void)state;
    expect_fine("");
    expect_fine("\xEF\xBB\xBF");
    expect_fine(" \t\r\n// only a comment");
    expect_fine("/* only\n * a comment **/");
}

static void test_words_are_names_where_names_stand(void **state)
{
    (void)state;
    expect_fine("param dynamic = 3 dynamic;\n"
                "kernel threads(in cost: f32[halo] split split halo halo; once: i32) threads(threads)\n"
                "    cpu \"a.c\": sync(stream);\n"
                "graph main { stream: f32[ordered] = threads(cost, once = sync == 3) @threads(2); s = f(ms);\n"
                "    min = max(cpu); }\n"
                "platform link1 { cpu cost { threads = 3; } }\n");
}

static const struct dfl_expr *param_value(const struct reading *r)
{
    assert_int_equal(r->file->decls->kind, DFL_PARAM);
    return r->file->decls->value;
}

static void test_precedence_is_c(void **state)
{
    (void)state;
    struct reading r;
    const char *text = "param p = 1 || 2 && 3 == 4 < 5 + 6 * -7 - 8;";
    reading_start(&r, text, strlen(text));
    const struct dfl_expr *e = param_value(&r);
    assert_int_equal(e->op, DFL_OP_OR);
    assert_int_equal(e->b->op, DFL_OP_AND);
    assert_int_equal(e->b->b->op, DFL_OP_EQ);
    assert_int_equal(e->b->b->b->op, DFL_OP_LT);
    const struct dfl_expr *minus = e->b->b->b->b; /* (5 + 6 * -7) - 8 */
    assert_int_equal(minus->op, DFL_OP_SUB);
    assert_int_equal(minus->b->i, 8);
    assert_int_equal(minus->a->op, DFL_OP_ADD);
    assert_int_equal(minus->a->b->op, DFL_OP_MUL);
    assert_int_equal(minus->a->b->b->op, DFL_OP_NEG);
    assert_int_equal(e->loc.col, 11);
    assert_int_equal(e->loc.end_col, strlen(text));
    reading_end(&r);
}

static void test_literals(void **state)
{
    (void)state;
    struct reading r;
    const char *text = "param a = -9223372036854775808; arg b: i32 = -5; param c = 2.5e-1; param d = 6 GiB;\n"
                       "param e = 1e3us;\n"
                       "link \"\\101\\x42\\u00e9\\n\\\"\";";
    reading_start(&r, text, strlen(text));
    assert_string_equal(r.messages, "");
    const struct dfl_decl *d = r.file->decls;
    assert_int_equal(d->value->kind, DFL_EXPR_INT);
    assert_true(d->value->i == INT64_MIN);
    d = d->next;
    assert_int_equal(d->value->kind, DFL_EXPR_INT);
    assert_int_equal(d->value->i, -5);
    d = d->next;
    assert_true(d->value->kind == DFL_EXPR_FLOAT && d->value->f == 0.25);
    d = d->next;
    assert_true(d->value->kind == DFL_EXPR_QUANTITY && d->value->is_int && d->value->i == 6);
    assert_string_equal(d->value->s, "GiB");
    d = d->next;
    assert_true(d->value->kind == DFL_EXPR_QUANTITY && !d->value->is_int && d->value->f == 1000.0);
    assert_string_equal(d->next->name.text, "AB\xC3\xA9\n\"");
    reading_end(&r);
}

static void test_code_runs_to_its_own_end(void **state)
{
    (void)state;
    struct reading r;
    const char *code = "\n  char c = '}', *s = \"}} \\\" }}\"; // }} don't\n"
                       "  /* }} */ struct p q = {{0}, {1'000}}; { }";
    char text[256];
    snprintf(text, sizeof text, "kernel k()\n  cpu {{%s}} gpu \"a.cu\";", code);
    reading_start(&r, text, strlen(text));
    assert_string_equal(r.messages, "");
    const struct dfl_variant *v = r.file->decls->kernel->variants;
    assert_string_equal(v->code, code);
    assert_int_equal(v->code_loc.line, 2);
    assert_int_equal(v->code_loc.col, 9);
    assert_string_equal(v->next->path, "a.cu");
    assert_int_equal(v->next->path_loc.line, 4);
    reading_end(&r);
}

static void test_what_can_be_read_is_given_despite_errors(void **state)
{
    (void)state;
    struct reading r;
    const char *text = "param a = 1;\nparam b = ;\nparam c = 3;\ngraph main { x = f(; y = g(a); }\n";
    reading_start(&r, text, strlen(text));
    assert_int_equal(dfl_sink_errors(r.sink), 2);
    const struct dfl_decl *d = r.file->decls;
    assert_string_equal(d->name.text, "a");
    assert_string_equal(d->next->name.text, "c");
    assert_string_equal(d->next->next->graph->body->stmts->callee.text, "g");
    reading_end(&r);
}

static void test_formulas(void **state)
{
    (void)state;
    struct reading r;
    const char *text = "table t: f32[2] = { 1, -2 };\n"
                       "kernel k(in a: f32[n, m] border clamp, -1, in let: f32, out o: f32) {\n"
                       "    let d[i] = a[i, 0];\n"
                       "    o[y, 0] min= a | b & c << 1 ? 1 : e ? 2 : sum(i in 0..n if g: h);\n"
                       "}\n"
                       "kernel after() cpu \"a.c\";\n";
    reading_start(&r, text, strlen(text));
    assert_string_equal(r.messages, "");
    const struct dfl_decl *table = r.file->decls;
    assert_int_equal(table->kind, DFL_TABLE);
    assert_int_equal(table->value->i, 1);
    assert_int_equal(table->value->next->op, DFL_OP_NEG);
    const struct dfl_kernel *k = table->next->kernel;
    assert_true(k->has_formulas && !k->variants && !table->next->next->kernel->has_formulas);
    assert_true(k->formulas_loc.line == 2 && k->formulas_loc.end_col == k->formulas_loc.col + 1);
    assert_string_equal(k->sig->ports->border->s, "clamp");
    assert_int_equal(k->sig->ports->border->next->i, -1);
    assert_null(k->sig->ports->border->next->next);
    assert_int_equal(k->sig->n_ports, 3);
    assert_true(k->formulas->is_let && k->formulas->value->kind == DFL_EXPR_INDEX);
    const struct dfl_formula *f = k->formulas->next;
    assert_true(!f->is_let && f->assign == DFL_LEAST && f->indices->next->kind == DFL_EXPR_INT && !f->next);
    const struct dfl_expr *choice = f->value, *inner = choice->args, *sum = inner->args;
    assert_int_equal(choice->kind, DFL_EXPR_CHOICE);
    assert_int_equal(choice->a->op, DFL_OP_BITOR);
    assert_int_equal(choice->a->b->op, DFL_OP_BITAND);
    assert_int_equal(choice->a->b->b->op, DFL_OP_SHL);
    assert_int_equal(choice->b->i, 1);
    assert_true(inner->kind == DFL_EXPR_CHOICE && strcmp(inner->a->s, "e") == 0 && inner->b->i == 2);
    assert_true(sum->kind == DFL_EXPR_REDUCE && strcmp(sum->a->s, "h") == 0 && strcmp(sum->b->s, "g") == 0);
    assert_string_equal(sum->ranges->to->s, "n");
    assert_null(sum->ranges->next);
    reading_end(&r);
}

/* Programs use these words as names. */
static void test_words_of_formulas_are_names(void **state)
{
    (void)state;
    expect_fine("kernel table() border \"x.c\" let \"y.c\" table \"z.c\" cost border 1us let 2us table 3us;\n"
                "kernel g(in border: border split border halo border, out let: let; table: i32) cpu \"x.c\": let(table);\n"
                "param table = let - table * border;\ntype border = f32[table, let];\narg let: i32 = 3;\n"
                "graph table { let = border(table); table: f32[3] = let(border, sum, table = 3);\n"
                "    for table in table..let { a[let] = b(table); } if let { border(x); } }\n"
                "platform let { border table { sum = table; let = 3; } table table { } }\n");
}

static void test_later_features_are_answered(void **state)
{
    (void)state;
    struct reading r;
    const char *text = "type t = u8[h <= 4096];\n"
                       "kernel k(acc a: f32 = 1, in b: f32 split z halo 2) gpu \"k.cu\": f<<<1, 2>>>(a);\n"
                       "graph main { x = map(y); if 1 { } else if 2 { z = reduce(x); } }\n";
    reading_start(&r, text, strlen(text));
    assert_string_equal(r.messages, "");
    dfl_check_supported(r.sink, r.file);
    fflush(r.out);
    static const char *const lines[] = {
        "t.df:3:18: error: 'map' is not yet supported\n", "t.df:3:51: error: 'reduce' is not yet supported\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(r.messages, lines[i]))
            fail_msg("no '%s' in:\n%s", lines[i], r.messages);
    assert_int_equal(dfl_sink_errors(r.sink), sizeof lines / sizeof lines[0]);
    reading_end(&r);
}

static void test_a_kernel_may_be_called_map(void **state)
{
    (void)state;
    struct reading r;
    const char *text = "kernel map(in a: f32) cpu \"a.c\";\ngraph main { map(x); }\n";
    reading_start(&r, text, strlen(text));
    dfl_check_supported(r.sink, r.file);
    assert_int_equal(dfl_sink_errors(r.sink), 0);
    reading_end(&r);
}

/* ---- limits ---- */

static void expect_depth(char *text)
{
    expect_one_error(text, strlen(text), "nested too deeply: more than 200 levels");
    free(text);
}

static void test_depth_is_limited(void **state)
{
    (void)state;
    const size_t n = 100000;
    expect_depth(join(repeat("param a = ", "(", n, "1"), repeat("", ")", n, ";\nparam b = ;\n")));
    expect_depth(repeat("param a = ", "(", n, ""));
    expect_depth(repeat("param a = ", "-", n, "1;"));
    expect_depth(repeat("param a = ", "!", n, ""));
    expect_depth(repeat("param a = 1", " + 1", n, ";\n"));
    expect_depth(repeat("graph g { f(", "a[", n, ""));
    expect_depth(repeat("param a = ", "min(1, ", n, ""));
    expect_depth(repeat("graph g { ", "for i in 0..2 { ", n, ""));
    expect_depth(join(repeat("graph g { ", "if 1 { ", n, ""), repeat("", "}", n, "}")));
    expect_depth(repeat("kernel k() { o = ", "(", n, ""));
    expect_depth(repeat("kernel k() { o = ", "~", n, "1; }"));
    expect_depth(repeat("kernel k() { o = ", "a ? ", n, ""));
    expect_depth(repeat("kernel k() { o = ", "a ? b : ", n, "1; }"));
    expect_depth(repeat("kernel k() { o = ", "sum(i in 0..n: ", n, ""));
    expect_depth(repeat("kernel k() { o = ", "sum(i in ", n, ""));
    expect_depth(repeat("kernel k() { o = 1", " << 1", n, "; }"));
    expect_depth(repeat("kernel k() { o = ", "f(a, b[", n, ""));
}

static void test_depth_up_to_the_limit(void **state)
{
    (void)state;
    char *texts[] = {
        join(repeat("param a = ", "(", DFL_MAX_NESTING, "1"), repeat("", ")", DFL_MAX_NESTING, ";")),
        repeat("param a = ", "-", DFL_MAX_NESTING, "1;"),
        repeat("param a = 1", " + 1", DFL_MAX_NESTING, ";"),
        join(repeat("graph g { ", "if 1 { ", DFL_MAX_NESTING - 1, ""), repeat("", "}", DFL_MAX_NESTING, "")),
        repeat("graph g { if 1 { }", " else if 2 { f(x); }", 100000, " }"),
        repeat("graph g { ", "a = f(((b))); ", 10000, "}"),
        repeat("kernel k() { o = ", "a ? b : ", DFL_MAX_NESTING, "1; }"),
        join(repeat("kernel k() { o = ", "a ? ", DFL_MAX_NESTING, "1"), repeat("", " : 2", DFL_MAX_NESTING, "; }")),
        join(repeat("kernel k() { o = ", "sum(i in 0..n: ", DFL_MAX_NESTING, "1"), repeat("", ")", DFL_MAX_NESTING, "; }")),
        repeat("kernel k() { ", "o[i] = (a ? b : c) + (a[(b ? 1 : 2)] ? 3 : 4); ", 10000, "}"),
        repeat("table t: f32[1] = { 1", ", 2", 100000, " };"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        expect_fine(texts[i]);
        free(texts[i]);
    }
}

static void test_sizes_are_limited(void **state)
{
    (void)state;
    char *text = join(repeat("kernel k(in x: f32", ", in x: f32", DFL_MAX_PORTS, ") cpu \"a.c\";\n"), strdup(""));
    expect_one_error(text, strlen(text), "signature has more than ");
    free(text);
    text = repeat("param ", "n", DFL_MAX_NAME + 1, " = 3;");
    expect_one_error(text, strlen(text), "name is too long: 256 bytes, at most 255");
    free(text);
    text = repeat("param a = ", "9", 100000, ";");
    expect_one_error(text, strlen(text), "integer is too large");
    free(text);
    text = calloc(1, DFL_MAX_FILE + 2u);
    assert_non_null(text);
    expect_one_error(text, DFL_MAX_FILE + 1u, "t.df: error: file is too large: 67108865 bytes, at most 67108864");
    free(text);
}

static void test_many_statements(void **state)
{
    (void)state;
    char *text = repeat("graph main {\n", "    d12 = k2(d10, d11);\n", 100000, "}\n");
    struct reading r;
    reading_start(&r, text, strlen(text)); /* a quadratic step would take minutes, and the time limit of tests would end it */
    size_t n = 0;
    for (const struct dfl_stmt *s = r.file->decls->graph->body->stmts; s; s = s->next)
        n++;
    assert_int_equal(n, 100000);
    reading_end(&r);
    free(text);
}

/* ---- any text ---- */

static const char good[] =
    "import \"a.df\"; param n = min(4, 2 + 3) * 2; arg s: i32 = -1; type v = f32[n, 2];\n"
    "kernel k(in a: f32[n] split x, out b: v; s: i32) ordered threads(2) cpu \"a.c\": f(a, b)\n"
    "    gpu {{ if (n) { x(); } }}\n    cost cpu 1.5us gpu (2 us * n);\n"
    "graph main(in q: v) {\n    (a, b[1]: v) = k(q, s = 3 == 4) @cpu @depth(2);\n"
    "    for i in 0..n { if i < 3 { k(a[i]); } else if !i { } else { b = k(\"x\\n\"); } }\n}\n"
    "platform p { cpu h { w = 3; l = 6 GB/s, 1 us; } } // end\n";

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Some bytes of `text` replaced, dropped, doubled or swapped for tokens; at most `room` bytes. */
static size_t mutate(char *text, size_t length, size_t room, uint32_t *seed)
{
    static const char tokens[] = "{}()[];,:=@\"'/*.<>!&|-+%09azA_ \n\t\r\0\xC3\xFF{{}}<<<>>>kernel graph in for";
    for (uint32_t edits = 1 + random_next(seed) % 4; edits > 0; edits--) {
        size_t at = random_next(seed) % length, n = 1 + random_next(seed) % 12;
        n = n < length - at ? n : length - at;
        switch (random_next(seed) % 3) {
        case 0:
            text[at] = tokens[random_next(seed) % (sizeof tokens - 1)];
            break;
        case 1:
            memmove(text + at, text + at + n, length - at - n);
            length -= n;
            break;
        default:
            if (length + n > room)
                break;
            memmove(text + at + n, text + at, length - at);
            memcpy(text + at, tokens + random_next(seed) % (sizeof tokens - 13), n);
            length += n;
        }
        if (length == 0)
            return 0;
    }
    return length;
}

static void test_mutations_end_in_errors_or_a_tree(void **state)
{
    (void)state;
    expect_fine(good);
    uint32_t seed = 1;
    unsigned wrong = 0;
    for (int i = 0; i < 2000; i++) {
        char text[sizeof good + 64];
        memcpy(text, good, sizeof good);
        size_t length = mutate(text, sizeof good - 1, sizeof text, &seed);
        struct reading r;
        reading_start(&r, text, length);
        if ((dfl_sink_errors(r.sink) > 0) != (r.n_messages > 0))
            fail_msg("%u errors, said: '%s'", dfl_sink_errors(r.sink), r.messages);
        wrong += dfl_sink_errors(r.sink) > 0;
        dfl_check_supported(r.sink, r.file);
        reading_end(&r);
    }
    assert_in_range(wrong, 1000, 1990); /* most are wrong, and some are not */
}

int main(void)
{
    enum { N_CASES = sizeof parse_cases / sizeof parse_cases[0] };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_at_most_twenty_errors_are_shown),
        cmocka_unit_test(test_other_formats_are_named),
        cmocka_unit_test(test_no_df_is_taken_for_another_format),
        cmocka_unit_test(test_empty_files),
        cmocka_unit_test(test_words_are_names_where_names_stand),
        cmocka_unit_test(test_precedence_is_c),
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_code_runs_to_its_own_end),
        cmocka_unit_test(test_what_can_be_read_is_given_despite_errors),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_words_of_formulas_are_names),
        cmocka_unit_test(test_later_features_are_answered),
        cmocka_unit_test(test_a_kernel_may_be_called_map),
        cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_depth_up_to_the_limit),
        cmocka_unit_test(test_sizes_are_limited),
        cmocka_unit_test(test_many_statements),
        cmocka_unit_test(test_mutations_end_in_errors_or_a_tree),
    };
    enum { N_OTHERS = sizeof others / sizeof others[0] };
    struct CMUnitTest tests[N_CASES + N_OTHERS];
    for (size_t i = 0; i < N_CASES; i++)
        tests[i] = (struct CMUnitTest){.name = parse_cases[i].name, .test_func = test_case,
                                       .initial_state = (void *)(uintptr_t)&parse_cases[i]};
    memcpy(tests + N_CASES, others, sizeof others);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
