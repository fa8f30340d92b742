/* test_front.c - the front end on programs in memory: what graph they make, what they say, and that the same program
 * makes the same graph. Messages one by one are in tests/golden.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "colliding.h"
#include "compiler/front/front.h"
#include "compiler/front/sources.h"
#include "runtime/graph/expr.h"
#include "runtime/graph/image.h"

/* ---- programs in memory ---- */

struct file {
    const char *path, *text;
};

static bool read_files(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    for (const struct file *file = arg; file->path; file++)
        if (strcmp(file->path, path) == 0) {
            *text = strdup(file->text);
            *length = strlen(file->text);
            return *text != NULL;
        }
    *why = "no such file";
    return false;
}

struct made {
    struct dfl_sink *sink;
    struct dfc_front *front;            /* NULL: refused */
    const struct df_graph *g;
    char *said;
    size_t said_bytes;
    FILE *out;
};

static void make_with(struct made *m, const struct dfc_front_options *given, const struct file *files)
{
    struct dfc_front_options options = *given;
    memset(m, 0, sizeof *m);
    options.read = read_files;
    options.read_arg = (void *)(uintptr_t)files;
    m->out = open_memstream(&m->said, &m->said_bytes);
    assert_non_null(m->out);
    m->sink = dfl_sink_new(m->out);
    assert_non_null(m->sink);
    if (dfc_front_run(m->sink, &options, &m->front)) {
        struct df_error error;
        m->g = m->front->graph;
        if (!df_graph_check(m->g, &error))
            fail_msg("%s", error.text);
    }
    fflush(m->out);
}

static void make(struct made *m, const char *text)
{
    const struct file files[] = { { "t.df", text }, { NULL, NULL } };
    make_with(m, &(const struct dfc_front_options){ .path = "t.df" }, files);
}

static void unmake(struct made *m)
{
    dfc_front_free(m->front);
    dfl_sink_free(m->sink);
    fclose(m->out);
    free(m->said);
}

/* A program that is right, and says nothing. */
static void make_clean(struct made *m, const char *text)
{
    make(m, text);
    assert_string_equal(m->said, "");
    assert_non_null(m->front);
}

static void refuses(const char *text, const char *message)
{
    struct made m;
    make(&m, text);
    assert_null(m.front);
    if (!strstr(m.said, message))
        fail_msg("expected \"%s\" in:\n%s", message, m.said);
    unmake(&m);
}

/* ---- looking at graphs ---- */

static uint32_t find(const struct df_graph *g, const char *name)
{
    char text[300];
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        df_node_name(g, v, text, sizeof text);
        if (strcmp(text, name) == 0)
            return v;
    }
    fail_msg("no node '%s'", name);
    return 0;
}

static const struct df_value *output(const struct df_graph *g, const char *name, unsigned slot)
{
    return &g->values[g->nodes[find(g, name)].first_out + slot];
}

static uint64_t dim(const struct df_graph *g, const char *node, unsigned i)
{
    return g->dims[g->works[g->nodes[find(g, node)].work].first_dim + i];
}

static const struct df_scalar_value *scalar(const struct df_graph *g, const char *node, unsigned i)
{
    return &g->scalars[g->node_scalars[g->works[g->nodes[find(g, node)].work].first_scalar + i]];
}

static double cost(const struct df_graph *g, const char *node, unsigned cls)
{
    return g->cost_s[(size_t)cls * g->n_works + g->nodes[find(g, node)].work];
}

static void reads(const struct df_graph *g, const char *reader, unsigned slot, const char *maker)
{
    uint32_t value = g->in_value[g->nodes[find(g, reader)].first_in + slot];
    char text[300];
    df_node_name(g, g->values[value].producer, text, sizeof text);
    assert_string_equal(text, maker);
}

#define KERNELS \
    "kernel src(out a: f32[k]) cost cpu 1us;\n" \
    "kernel f(in a: f32[k], out b: f32[k]) cost cpu 1us;\n" \
    "kernel add(in a: f32[k], in b: f32[k], out c: f32[k]) cost cpu 1us;\n" \
    "kernel bump(inout a: f32[k]) cost cpu 1us;\n" \
    "kernel twice(in a: f32[k], out b: f32[2 * k], tmp t: f32[k + 1]) cost cpu 1us;\n" \
    "kernel turn(in a: f32[h, w], out b: f32[w, h]) cost cpu 1us;\n" \
    "kernel plane(out a: f32[h, w]) cost cpu 1us;\n" \
    "kernel num(in a: f32[k], out b: f32[k]; n: i32, x: f64, s: str) cost cpu 1us;\n" \
    "kernel sink(in a: f32[k]) cost cpu 1us;\n" \
    "kernel sink2(in a: f32[h, w]) cost cpu 1us;\n"

static const char sum[] =
    "param n = 1024;\n"
    "arg seed: i32 = 1;\n"
    "type vec = f32[n];\n"
    "kernel generate(out v: f32[k]; seed: i32) cpu \"vec.c\";\n"
    "kernel add(in a: f32[k], in b: f32[k], out c: f32[k]) cpu \"vec.c\" gpu \"vec.cu\";\n"
    "kernel print(in v: f32[k]) ordered cpu \"vec.c\";\n"
    "graph main {\n"
    "    a: vec = generate(seed);\n"
    "    b: vec = generate(seed + 1);\n"
    "    c = add(a, b);\n"
    "    print(c);\n"
    "}\n";

static void test_sum(void **state)
{
    struct made m;
    (void)state;
    make_clean(&m, sum);
    assert_int_equal(m.g->n_nodes, 4);
    assert_string_equal(m.g->name, "t");
    assert_int_equal(m.g->n_args, 1);
    assert_int_equal(output(m.g, "main/add", 0)->bytes, 4096);
    reads(m.g, "main/add", 0, "main/generate#1");
    reads(m.g, "main/add", 1, "main/generate#2");
    reads(m.g, "main/print", 0, "main/add");
    assert_int_equal(m.front->n_kernels, 3);
    assert_non_null(m.front->kernels[1].gpu);
    assert_null(m.front->kernels[0].gpu);
    assert_int_equal(m.g->kernels[2].traits, DF_ORDERED);
    assert_int_equal(m.g->nodes[find(m.g, "main/add")].line, 10);
    assert_string_equal(df_graph_string(m.g, output(m.g, "main/add", 0)->name), "c");
    unmake(&m);
}

/* ---- dimensions ---- */

static void test_dimensions(void **state)
{
    struct made m;
    (void)state;
    make_clean(&m, KERNELS "graph main {\n"
                           "    a: f32[5] = src();  b = twice(a);  c = twice(b);  sink(c);\n"
                           "    p: f32[3, 7] = plane();  q = turn(p);  sink2(q);\n"
                           "}\n");
    assert_int_equal(dim(m.g, "main/sink", 0), 20);
    assert_int_equal(dim(m.g, "main/sink2", 0), 7);
    assert_int_equal(dim(m.g, "main/sink2", 1), 3);
    const struct df_work *work = &m.g->works[m.g->nodes[find(m.g, "main/twice#2")].work];
    assert_int_equal(m.g->port_dims[((size_t)work->first_port + 2) * DF_MAX_RANK], 11);
    unmake(&m);
}

static void test_nested_graphs(void **state)
{
    struct made m;
    (void)state;
    make_clean(&m, KERNELS
               "arg seed: i32 = 1;\n"
               "graph pad(in t: f32[n], out o: f32[m]; s: i32) {\n"
               "    x: f32[n + m] = src();\n"
               "    y = num(x, n * 10 + m, x = 0.5, s = \"pad\");\n"
               "    z = num(t, s + m, 1, \"t\");\n"
               "    sink(y); sink(z);\n"
               "    o = src();\n"
               "}\n"
               "graph outer(in t: f32[n], out o: f32[2 * n]) { u: f32[n + 2] = pad(t, 7); sink(u); o = twice(t); }\n"
               "graph main {\n"
               "    a: f32[4] = src();\n"
               "    b: f32[9] = pad(a, seed);\n"
               "    for i in 0..2 { c[i] = outer(b); sink(c[i]); }\n"
               "}\n");
    assert_int_equal(dim(m.g, "main/pad/src#1", 0), 13);
    assert_int_equal(dim(m.g, "main/pad/src#2", 0), 9);
    assert_int_equal(scalar(m.g, "main/pad/num#1", 0)->i, 49);
    assert_int_equal(dim(m.g, "main/outer[1]/pad/src#1", 0), 20);
    assert_int_equal(scalar(m.g, "main/outer[1]/pad/num#2", 0)->i, 18);
    assert_int_equal(dim(m.g, "main/sink[1]", 0), 18);
    const struct df_scalar_value *s = scalar(m.g, "main/pad/num#2", 0);
    struct df_number arg = { .kind = DF_KIND_I64, .i = 5 }, result;
    assert_int_equal(df_expr_run(m.g->code + s->first_code, s->n_code, m.g->strings, &arg, 1, &result, NULL), DF_OK);
    assert_int_equal(result.i, 14);
    unmake(&m);
}

/* An i64 that goes to a graph as f64 is one inside: 3 / 2 is 1.5 there. */
static void test_scalar_kinds(void **state)
{
    struct made m;
    (void)state;
    make_clean(&m, KERNELS "arg n: i64 = 3;\n"
                           "graph g(in t: f32[k]; x: f64) { a = num(t, 1, x / 2, \"\"); sink(a); }\n"
                           "graph main { a: f32[4] = src(); g(a, n); }\n");
    const struct df_scalar_value *s = scalar(m.g, "main/g/num", 1);
    struct df_number arg = { .kind = DF_KIND_I64, .i = 3 }, result;
    assert_int_equal(df_expr_run(m.g->code + s->first_code, s->n_code, m.g->strings, &arg, 1, &result, NULL), DF_OK);
    assert_int_equal(result.kind, DF_KIND_F64);
    assert_true(result.f == 1.5);
    unmake(&m);
}

/* ---- structure ---- */

static void test_structure(void **state)
{
    struct made m;
    (void)state;
    make_clean(
        &m, KERNELS
        "param T = 3;  param mode = \"fast\";\n"
        "graph main {\n"
        "    for i in 0..T { A[i, i]: f32[i + 1] = src(); for j in 0..i { A[i, j] = f(A[i, i]); sink(A[i, j]); } }\n"
        "    for i in 0..T { sink(A[i, i]); }\n"
        "    for i in 5..5 { sink(nothing); }  for i in 5..2 { sink(nothing); }\n"
        "    if mode == \"slow\" { nothing: f32[1] = src(); }\n"
        "    else if T > 2 && mode != \"slow\" { b: f32[2] = src(); }\n"
        "    else { b: f32[3] = src(); }\n"
        "    sink(b);\n"
        "    if 0 && T / 0 > 1 { sink(b); }\n"
        "}\n"
        "param zero = 0;\n");
    unmake(&m);
    refuses("graph main { }", "no nodes");
}

static void test_names(void **state)
{
    struct made m;
    (void)state;
    make_clean(&m, KERNELS
               "graph g(in t: f32[n]) { for j in 0..2 { x[j] = f(t); sink(x[j]); } }\n"
               "graph main {\n"
               "    a: f32[4] = src();\n"
               "    for i in 0..2 { g(a); g(a); for k in 3..5 { b[i, k] = f(a); sink(b[i, k]); sink(a); } }\n"
               "}\n");
    find(m.g, "main/g[1]#2/sink[0]");
    find(m.g, "main/g[0]#1/f[1]");
    find(m.g, "main/sink[1,4]#2");
    find(m.g, "main/f[0,3]");
    find(m.g, "main/src");
    unmake(&m);
}

static void test_inout_copies(void **state)
{
    struct made m;
    (void)state;
    make_clean(&m, KERNELS "graph main { a: f32[4] = src(); b = bump(a); c = bump(b); sink(c); }\n");
    assert_int_equal(m.g->n_nodes, 4);
    unmake(&m);
    make_clean(&m, KERNELS "graph main { a: f32[4] = src(); b = bump(a); c = bump(a); sink(a); sink(b); sink(c); }\n");
    assert_int_equal(m.g->n_nodes, 8);
    unmake(&m);
}

/* The same nodes, each with the same inputs, whatever the order of statements. */
static void test_any_order(void **state)
{
    static const char *const lines[] = { "d = add(b, c);", "sink(d);", "c = f(a);", "a: f32[6] = src();",
                                         "b = twice2(a);" };
    static const int orders[][5] = { { 3, 4, 2, 0, 1 }, { 0, 1, 2, 3, 4 }, { 1, 0, 4, 2, 3 }, { 2, 1, 3, 4, 0 } };
    (void)state;
    for (unsigned o = 0; o < sizeof orders / sizeof orders[0]; o++) {
        char text[4000];
        size_t n = (size_t)snprintf(text, sizeof text, "graph main { ");
        for (int i = 0; i < 5; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s ", lines[orders[o][i]]);
        snprintf(text + n, sizeof text - n, "}\n" KERNELS "kernel twice2(in a: f32[k], out b: f32[k]) cost cpu 1us;\n");
        struct made m;
        make_clean(&m, text);
        assert_int_equal(m.g->n_nodes, 5);
        reads(m.g, "main/add", 0, "main/twice2");
        reads(m.g, "main/add", 1, "main/f");
        reads(m.g, "main/f", 0, "main/src");
        reads(m.g, "main/sink", 0, "main/add");
        unmake(&m);
    }
}

/* Round about through a graph, but not in a circle. */
static void test_feedback_through_a_graph(void **state)
{
    struct made m;
    (void)state;
    make_clean(&m, KERNELS "graph g(in t: f32[n], out o: f32[n], out p: f32[q]) { p: f32[5] = src(); o = f(t); }\n"
                           "graph main { (b, c) = g(c); sink(b); }\n");
    assert_int_equal(dim(m.g, "main/sink", 0), 5);
    unmake(&m);
}

/* ---- costs, hints, traits ---- */

static void test_costs(void **state)
{
    struct made m;
    (void)state;
    make_clean(&m, "param p = 2;\n"
                   "kernel src(out a: f32[h, w]) cost cpu 1.2ms gpu 80us;\n"
                   "kernel k(in a: f32[h, w]) cost cpu (2us + 0.5ns * h * w) fpga (max(1us, h * 1ms / w) * p) gpu 0s;\n"
                   "graph main { a: f32[10, 20] = src() @gpu; k(a) @fpga @depth(p) @rate(0.25); }\n");
    assert_true(cost(m.g, "main/src", 0) == 1.2e-3);
    assert_true(cost(m.g, "main/src", 1) == 80e-6);
    assert_true(isnan(cost(m.g, "main/src", 2)));
    assert_true(fabs(cost(m.g, "main/k", 0) - 2.1e-6) < 1e-18);
    assert_true(fabs(cost(m.g, "main/k", 2) - 1e-3) < 1e-15);
    assert_string_equal(df_graph_string(m.g, m.g->class_names[2]), "fpga");
    const struct df_node *node = &m.g->nodes[find(m.g, "main/k")];
    assert_int_equal(node->hint_class, 2);
    assert_int_equal(node->depth, 2);
    assert_true(node->rate == 0.25f);
    assert_int_equal(m.g->nodes[find(m.g, "main/src")].hint_class, 1);
    unmake(&m);
}

static void rate_is(const struct df_graph *g, const char *node, float want)
{
    float rate = g->nodes[find(g, node)].rate;
    if (fabsf(rate - want) > 1e-6f)
        fail_msg("%s: rate %g instead of %g", node, (double)rate, (double)want);
}

/* What is stated wins; else the least of the inputs, and for a select their sum, at most 1. */
static void test_rates(void **state)
{
    struct made m;
    (void)state;
    make_clean(&m, "kernel src(out a: f32[4]) cpu \"k.c\";\n"
                   "kernel table(out a: f32[4]) once cpu \"k.c\";\n"
                   "kernel f(in a: f32[4], out b: f32[4]) cpu \"k.c\";\n"
                   "kernel two(in a: f32[4], in b: f32[4], out c: f32[4]) cpu \"k.c\";\n"
                   "kernel change(inout a: f32[4]) cpu \"k.c\";\n"
                   "kernel sum(in a: f32[4], acc s: f32[4]) cpu \"k.c\";\n"
                   "kernel full(in a: f32[4]) cpu \"k.c\";\n"
                   "kernel sink(in a: f32[4], in b: f32[4]) cpu \"k.c\";\n"
                   "graph main {\n"
                   "    a: f32[4] = src(); t: f32[4] = table(); b = f(a) @rate(0.5); c = f(a) @rate(0.125); d = f(b);\n"
                   "    e = two(d, c); g = f(e) @rate(1); h = two(t, d); i = select(b, c); j = select(i, d); k = change(h);\n"
                   "    s = sum(c); full(s); sink(e, g); sink(j, a); sink(k, h); sink(i, t);\n"
                   "}\n");
    rate_is(m.g, "main/src", 1);
    rate_is(m.g, "main/table", 1);
    rate_is(m.g, "main/f#3", 0.5f);
    rate_is(m.g, "main/two#1", 0.125f);
    rate_is(m.g, "main/f#4", 1);            /* stated, so not its input's */
    rate_is(m.g, "main/two#2", 0.5f);
    rate_is(m.g, "main/select#1", 0.625f);
    rate_is(m.g, "main/select#2", 1);       /* 1.125 */
    rate_is(m.g, "main/change", 0.5f);
    rate_is(m.g, "main/sum", 0.125f);
    rate_is(m.g, "main/full", 1);           /* of an acc there is a token */
    rate_is(m.g, "main/sink#1", 0.125f);
    rate_is(m.g, "main/sink#2", 1);
    rate_is(m.g, "main/sink#4", 0.625f);
    unmake(&m);
}

static void test_once(void **state)
{
    struct made m;
    (void)state;
    make_clean(&m, KERNELS "kernel weights(out a: f32[k]) once cost cpu 1us;\n"
                           "kernel prepare(in a: f32[k], out b: f32[k]) once cost cpu 1us;\n"
                           "kernel threaded(in a: f32[k]) threads(min(k, 6)) cpu {{ }};\n"
                           "graph main { w: f32[4] = weights(); p = prepare(w); q = f(p); threaded(q);\n"
                           "    x: f32[4] = src(); sink(x); }\n");
    for (uint32_t v = 0; v < m.g->n_nodes; v++) {
        bool each_wave = v == find(m.g, "main/src") || v == find(m.g, "main/sink");
        assert_int_equal(!(m.g->nodes[v].flags & DF_NODE_ONCE), each_wave);
    }
    assert_int_equal(m.g->works[m.g->nodes[find(m.g, "main/threaded")].work].threads, 4);
    unmake(&m);
}

/* ---- params ---- */

static void test_params(void **state)
{
    const struct file files[] = {
        { "t.df", KERNELS "param c = b * 2;  param b = a + 1;  param a = 3;  param name = \"x\";  param r = 0.5;\n"
                          "param bytes4 = 2 KiB;\n"
                          "graph main { x: f32[c] = src(); y = num(x, bytes4, r * 3, name); sink(y); }\n" },
        { NULL, NULL },
    };
    const struct dfc_define defines[] = { { "a", "9" }, { "name", "why" }, { "r", "2" }, { "a", "4" } };
    struct made m;
    (void)state;
    make_with(&m, &(const struct dfc_front_options){ .path = "t.df" }, files);
    assert_int_equal(dim(m.g, "main/sink", 0), 8);
    assert_int_equal(scalar(m.g, "main/num", 0)->i, 2048);
    assert_true(scalar(m.g, "main/num", 1)->f == 1.5);
    unmake(&m);
    make_with(&m, &(const struct dfc_front_options){ .path = "t.df", .defines = defines, .n_defines = 4 }, files);
    assert_int_equal(dim(m.g, "main/sink", 0), 10);
    assert_true(scalar(m.g, "main/num", 1)->f == 6.0);
    assert_string_equal(df_graph_string(m.g, scalar(m.g, "main/num", 2)->str), "why");
    unmake(&m);
}

static void test_imports(void **state)
{
    const struct file files[] = {
        { "d/t.df",
          "import \"one.df\"; import \"../e/two.df\"; import \"far.df\"; graph main { a: v = src(); f(a); }" },
        { "d/one.df", "import \"./shared.df\"; kernel src(out a: f32[k]) cost cpu 1us; link \"m\";" },
        { "e/two.df", "import \"../d/shared.df\"; kernel f(in a: f32[k]) cpu \"f.c\"; link \"z\"; link \"m\";" },
        { "d/shared.df", "type v = f32[n];" },
        { "inc/far.df", "param n = 6;" },
        { NULL, NULL },
    };
    const char *const dirs[] = { "nowhere", "inc" };
    struct made m;
    (void)state;
    make_with(&m, &(const struct dfc_front_options){ .path = "./d/../d/t.df", .import_dirs = dirs, .n_import_dirs = 2 },
              files);
    assert_string_equal(m.said, "");
    assert_int_equal(m.front->n_sources, 5);
    assert_string_equal(m.front->sources[0].path, "d/t.df");
    assert_int_equal(m.front->n_links, 3);      /* each once a file */
    assert_string_equal(m.front->kernels[1].dir, "e");
    assert_int_equal(output(m.g, "main/src", 0)->bytes, 24);
    unmake(&m);
}

/* ---- dynamic params: the program's own sources again ---- */

static void test_replan(void **state)
{
    const struct file files[] = {
        { "t.df",
          "import \"k.df\"; param n = 8 dynamic; param twice = n * 2; param fixed = 1; param step = 3 dynamic;\n"
          "graph main { a: f32[twice] = src(); b = f(a); g(b); c: f32[fixed] = src(); g(c); }" },
        { "k.df",
          "kernel src(out a: f32[k]) cpu \"k.c\"; kernel f(in a: f32[k], out b: f32[k]) cpu \"k.c\" gpu \"k.cu\";\n"
          "kernel g(in a: f32[k]) cost cpu (1ns * k);" },
        { NULL, NULL },
    };
    const struct dfc_define defines[] = { { "fixed", "5" } };
    const int64_t values[] = { 100, 3 };
    struct made m;
    struct df_times old = { 0 }, times = { 0 };
    struct df_graph *graph = NULL;
    struct df_error error;
    unsigned char *pack, *again;
    size_t size, size_again;
    (void)state;
    make_with(&m, &(const struct dfc_front_options){ .path = "t.df", .defines = defines, .n_defines = 1 }, files);
    assert_true(m.front->has_dynamic);
    assert_int_equal(m.g->n_params, 2);
    assert_int_equal(m.g->params[0].value, 8);
    assert_true(dfc_sources_pack(m.front, defines, 1, &pack, &size));
    assert_true(dfc_sources_pack(m.front, defines, 1, &again, &size_again));
    assert_int_equal(size, size_again);
    assert_memory_equal(pack, again, size);
    assert_int_equal(dfr_times_default(m.g, false, &old, NULL), DF_OK);
    uint32_t f = m.g->nodes[find(m.g, "main/f")].work;
    old.time_s[f] = 1e-3;                               /* measured at n = 8 on the cpu */
    old.source[f] = DF_TIME_MEASURED;
    struct dfr_image image = { .graph = m.front->graph, .sources = pack, .source_bytes = size };
    assert_int_equal(dfc_replanner.make(&image, &old, values, 2, NULL, &graph, &times, &error), DF_OK);
    assert_int_equal(output(graph, "main/f", 0)->bytes, 800);
    assert_int_equal(output(graph, "main/src#2", 0)->bytes, 20);
    f = graph->nodes[find(graph, "main/f")].work;
    assert_true(fabs(times.time_s[f] - 12.5e-3) < 1e-12);
    assert_int_equal(times.source[f], DF_TIME_ESTIMATED);
    assert_int_equal(times.source[graph->n_works + f], DF_TIME_DEFAULT);
    assert_true(fabs(times.time_s[graph->nodes[find(graph, "main/g#1")].work] - 200e-9) < 1e-15);
    dfr_times_free(&times);
    df_graph_free(graph);
    for (size_t cut = 0; cut < size; cut++) {           /* a pack that was cut off is refused, wherever */
        image.source_bytes = cut;
        assert_int_equal(dfc_replanner.make(&image, &old, values, 2, NULL, &graph, &times, &error), DF_E_FORMAT);
    }
    image.source_bytes = size;
    assert_int_equal(dfc_replanner.make(&image, &old, values, 1, NULL, &graph, &times, &error), DF_E_ARGUMENT);
    dfr_times_free(&old);
    free(pack);
    free(again);
    unmake(&m);
}

/* ---- platforms ---- */

static void test_platforms(void **state)
{
    struct made m;
    (void)state;
    make_clean(
        &m, KERNELS
        "kernel other(out a: i32) cost gpu 1us fpga 1us;\n"
        "platform titan {\n"
        "    gpu titan { memory = 6 GiB; h2d = 6 GB/s, 10 us; d2h = 5.5 GB/s, 12 us, 4 KiB;"
               "        engines = 1; launch = 8 us; }\n"
        "    cpu host { workers = 3; }\n"
        "    fpga x { h2d = 1 MB/ms; d2h = 1 GB/s; jobs = 4; }\n"
        "}\n"
        "graph main { a: f32[4] = src(); sink(a); }\n");
    assert_int_equal(m.front->n_platforms, 1);
    const struct df_platform *p = &m.front->platforms[0];
    assert_string_equal(p->name, "titan");
    assert_int_equal(p->n_units, 3);
    assert_string_equal(p->units[0].name, "host");
    assert_int_equal(p->units[0].workers, 3);
    assert_int_equal(p->units[1].cls, DF_CLASS_GPU);
    assert_true(p->units[1].memory_bytes == 6ull << 30);
    assert_true(p->units[1].h2d.bytes_per_s == 6e9 && p->units[1].h2d.latency_s == 10e-6);
    assert_int_equal(p->units[1].d2h.threshold_bytes, 4096);
    assert_int_equal(p->units[1].engines, 1);
    assert_true(p->units[1].launch_s == 8e-6);
    assert_string_equal(p->class_names[p->units[2].cls], "fpga");
    assert_true(fabs(p->units[2].h2d.bytes_per_s - 1e9) < 1);
    assert_int_equal(p->units[2].jobs, 4);
    unmake(&m);
}

static void test_platform_file(void **state)
{
    char path[] = "/tmp/test_front_XXXXXX", *said = NULL;
    size_t said_bytes;
    struct df_platform platform;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w"), *out = open_memstream(&said, &said_bytes);
    assert_non_null(file);
    assert_non_null(out);
    struct dfl_sink *sink = dfl_sink_new(out);
    assert_non_null(sink);
    fputs("param n = 1;\n", file);
    fflush(file);
    assert_false(dfc_platform_read(sink, path, NULL, 0, &platform));
    fputs("platform a { cpu h { workers = 5; } }\n", file);
    fflush(file);
    assert_true(dfc_platform_read(sink, path, NULL, 0, &platform));
    assert_string_equal(platform.name, "a");
    assert_int_equal(platform.units[0].workers, 5);
    fputs("platform b { cpu h { workers = 6; } }\n", file);
    fclose(file);
    assert_false(dfc_platform_read(sink, path, NULL, 0, &platform));
    unlink(path);
    assert_false(dfc_platform_read(sink, path, NULL, 0, &platform));
    fflush(out);
    assert_non_null(strstr(said, "declares no platform"));
    assert_non_null(strstr(said, ":3:10: error: a file for --platform declares one platform, and this is the second"));
    assert_non_null(strstr(said, "No such file or directory"));
    dfl_sink_free(sink);
    fclose(out);
    free(said);
}

/* ---- sameness and size ---- */

static void test_same_bytes(void **state)
{
    unsigned char *bytes[2];
    size_t size[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct made m;
        make_clean(&m, sum);
        struct dfr_image image = { .graph = (struct df_graph *)(uintptr_t)m.g, .default_waves = -1 };
        assert_int_equal(dfr_image_write(&image, &bytes[i], &size[i], NULL), DF_OK);
        unmake(&m);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* The kernels of a graph that is called from outside: "sq.a(n)" stands for what the caller gives, whose extents with a bound are n. */
static void kernels_of_root(const char *text, const char *root, const char *want)
{
    const struct file files[] = { { "t.df", text }, { NULL, NULL } };
    const struct dfc_root of = { .graph = root };
    char got[1000] = "";
    struct made m;
    make_with(&m, &(const struct dfc_front_options){ .path = "t.df", .root = &of }, files);
    assert_string_equal(m.said, "");
    assert_non_null(m.front);
    for (uint32_t k = 0; k < m.g->n_kernels; k++) {
        const struct df_kernel *kernel = &m.g->kernels[k];
        strcat(strcat(strcat(got, *got ? " " : ""), df_graph_string(m.g, kernel->name)), "(");
        for (uint32_t d = 0; d < kernel->n_dims; d++)
            strcat(strcat(got, d ? " " : ""), df_graph_string(m.g, m.g->dim_names[kernel->first_dim + d]));
        strcat(got, ")");
    }
    assert_string_equal(got, want);
    for (uint32_t w = 0; w < m.g->n_works; w++) { /* a source takes no time on the host, and is nowhere else */
        const struct df_kernel *kernel = &m.g->kernels[m.g->works[w].kernel];
        if (!strchr(df_graph_string(m.g, kernel->name), '.'))
            continue;
        assert_int_equal(kernel->cost_classes, 1u << DF_CLASS_CPU);
        assert_true(m.g->cost_s[DF_CLASS_CPU * m.g->n_works + w] == 0);
        assert_int_equal(kernel->n_ports, 1);
        assert_int_equal(m.g->kports[kernel->first_port].mode, DF_OUT);
        assert_int_equal(m.g->kports[kernel->first_port].own != 0, kernel->n_dims > 0);
    }
    unmake(&m);
}

static void test_roots(void **state)
{
    (void)state;
    static const char two[] = "kernel f(in a: f32[h, w], in b: f32[h, w], out o: f32[h, w]) cost cpu 1us;\n";
    char text[1000];
    snprintf(text, sizeof text, "%sgraph g(in a: f32[h, w], in b: f32[h, w], out o: f32[h, w]) { o = f(a, b); }", two);
    kernels_of_root(text, "g:h=2,w=3", "f(h w) g.a() g.b()");
    snprintf(text, sizeof text, "%sgraph g(in a: f32[h <= 4, w], in b: f32[h, w], out o: f32[h, w]) { o = f(a, b); }", two);
    kernels_of_root(text, "g:w=3", "f(h w) g.a(h) g.b(h)");
    snprintf(text, sizeof text, "%sgraph g(in a: f32[w <= 4, w], in b: f32[w, w], out o: f32[w, w]) { o = f(a, b); }", two);
    kernels_of_root(text, "g", "f(h w) g.a(w) g.b(w)");
    snprintf(text, sizeof text, "%sgraph g(in a: f32[h <= 4, w <= 5], in b: f32[h, w], out o: f32[h, w]) { o = f(a, b); }", two);
    kernels_of_root(text, "g", "f(h w) g.a(h w) g.b(h w)");
}

static void test_long_chain(void **state)
{
    struct made m;
    (void)state;
    make_clean(&m, KERNELS
               "param n = 50000;\n"
               "graph two(in t: f32[k], out o: f32[k]) { x = f(t); o = bump(x); }\n"
               "graph main { x[n]: f32[2] = src(); for i in 0..n { x[n - i - 1] = two(x[n - i]); } sink(x[0]); }\n");
    assert_int_equal(m.g->n_nodes, 100002);
    assert_int_equal(m.g->n_works, 4);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_nested_graphs),
        cmocka_unit_test(test_scalar_kinds),
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_inout_copies),
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_feedback_through_a_graph),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_imports),
        cmocka_unit_test(test_replan),
        cmocka_unit_test(test_platforms),
        cmocka_unit_test(test_platform_file),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_roots),
    };
    const struct CMUnitTest large[] = { cmocka_unit_test(test_long_chain) };
    int failed = cmocka_run_group_tests_name("programs", tests, NULL, NULL);
    failed += cmocka_run_group_tests_name("large programs", large, NULL, NULL);
    return failed + cmocka_run_group_tests_name("programs whose keys have one hash", tests, begin_colliding, NULL);
}
