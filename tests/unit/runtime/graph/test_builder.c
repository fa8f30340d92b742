/* test_builder.c - graphs built by hand: order, readers, copies, once, works, names, cycles, every message, size. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "colliding.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/fit.h"
#include "runtime/graph/plan.h"

/* ---- kernels: "f:io" has ports named after what they are: i in, o out, b inout, t tmp; all f32[k] ---- */

static uint32_t add_kernel(struct df_builder *b, const char *name, const char *modes, unsigned traits)
{
    static const char *const dims[] = { "k" };
    static const char *const port_names[] = { "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7" };
    struct df_port_desc ports[8];
    struct df_kernel_desc desc = { .name = name, .n_dims = 1, .dims = dims, .ports = ports, .traits = traits };
    for (; modes[desc.n_ports]; desc.n_ports++) {
        char m = modes[desc.n_ports];
        enum df_mode mode = m == 'i' ? DF_IN : m == 'o' ? DF_OUT : m == 'b' ? DF_INOUT : DF_TMP;
        ports[desc.n_ports] = (struct df_port_desc){ port_names[desc.n_ports], mode, DF_F32, 1 };
    }
    uint32_t kernel;
    struct df_error e;
    assert_int_equal(df_builder_kernel(b, &desc, &kernel, &e), DF_OK);
    return kernel;
}

static uint32_t add_node(struct df_builder *b, uint32_t kernel, uint64_t k)
{
    const uint64_t port_dims[8][DF_MAX_RANK] = { { k }, { k }, { k }, { k }, { k }, { k }, { k }, { k } };
    uint32_t node;
    struct df_error e = { "" };
    int rc = df_builder_node(b, kernel, &k, port_dims, NULL, &node, &e);
    assert_string_equal(e.text, "");
    assert_int_equal(rc, DF_OK);
    return node;
}

static void arc(struct df_builder *b, uint32_t from, unsigned from_slot, uint32_t to, unsigned to_slot)
{
    struct df_error e;
    assert_int_equal(df_builder_connect(b, from, from_slot, to, to_slot, &e), DF_OK);
}

static struct df_graph *finish(struct df_builder *b)
{
    struct df_graph *g = NULL;
    struct df_error e = { "" };
    int rc = df_builder_finish(b, &g, &e);
    assert_string_equal(e.text, "");
    assert_int_equal(rc, DF_OK);
    df_builder_free(b);
    if (!df_graph_check(g, &e))
        fail_msg("%s", e.text);
    return g;
}

static void fails(struct df_builder *b, int code, const char *want)
{
    struct df_graph *g = (struct df_graph *)b;
    struct df_error e = { "" };
    assert_int_equal(df_builder_finish(b, &g, &e), code);
    assert_string_equal(e.text, want);
    assert_ptr_equal(g, b);             /* set on success only */
    df_builder_free(b);
}

/* "src f sink": names of the nodes in their order. */
static void order_is(const struct df_graph *g, const char *want)
{
    char text[1024] = "", name[64];
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        df_node_name(g, v, name, sizeof name);
        if (v)
            strcat(text, " ");
        strcat(text, name + strlen("main/"));
    }
    assert_string_equal(text, want);
}

/* ---- order and arcs ---- */

static void test_diamond(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("diamond");
    uint32_t sink = add_node(b, add_kernel(b, "sink", "ii", 0), 10);    /* added backwards on purpose */
    uint32_t right = add_node(b, add_kernel(b, "right", "io", 0), 10);
    uint32_t left = add_node(b, add_kernel(b, "left", "io", 0), 10);
    uint32_t src = add_node(b, add_kernel(b, "src", "o", 0), 10);
    arc(b, src, 0, left, 0);
    arc(b, src, 0, right, 0);
    arc(b, left, 0, sink, 1);
    arc(b, right, 0, sink, 0);
    struct df_graph *g = finish(b);
    order_is(g, "src right left sink");
    assert_string_equal(g->name, "diamond");
    assert_int_equal(g->n_values, 3);
    assert_int_equal(g->values[0].n_readers, 2);
    assert_int_equal(g->readers[g->values[0].first_reader].node, 1);
    assert_int_equal(g->readers[g->values[0].first_reader + 1].node, 2);
    assert_int_equal(g->in_value[g->nodes[3].first_in], 1);
    assert_int_equal(g->in_value[g->nodes[3].first_in + 1], 2);
    assert_int_equal(g->values[2].bytes, 40);
    assert_int_equal(g->n_works, 4);
    assert_int_equal(g->works[g->nodes[3].work].job_bytes, 80);
    df_graph_free(g);
}

static void test_empty(void **state)
{
    (void)state;
    struct df_graph *g = finish(df_builder_new("empty"));
    assert_int_equal(g->n_nodes, 0);
    df_graph_free(g);
}

/* Finishing twice gives equal graphs, copies included: the builder stays as it was. */
static void test_finish_twice(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t src = add_node(b, add_kernel(b, "src", "o", 0), 4), f = add_node(b, add_kernel(b, "f", "b", 0), 4);
    uint32_t sink = add_node(b, add_kernel(b, "sink", "i", 0), 4);
    arc(b, src, 0, f, 0);
    arc(b, src, 0, sink, 0);
    struct df_graph *first;
    assert_int_equal(df_builder_finish(b, &first, NULL), DF_OK);
    struct df_graph *second = finish(b);
    order_is(first, "src copy f sink");
    order_is(second, "src copy f sink");
    assert_int_equal(second->works[second->nodes[1].work].n_nodes, 1);
    df_graph_free(first);
    df_graph_free(second);
}

/* ---- works ---- */

static void test_works(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t src = add_kernel(b, "src", "ot", 0);
    add_node(b, src, 100);
    add_node(b, src, 100);
    add_node(b, src, 101);
    const uint64_t k = 100, port_dims[2][DF_MAX_RANK] = { { 100 }, { 100 } };
    const double cost[3] = { NAN, 0, NAN };
    struct df_node_desc desc = { .kernel = src, .dims = &k, .port_dims = port_dims, .cost_s = cost, .n_cost = 2,
                                 .hint_class = -1 };
    uint32_t node;
    struct df_error e;
    assert_int_equal(df_builder_node_desc(b, &desc, &node, &e), DF_OK);
    desc.n_cost = 3;                    /* a NaN at the end says nothing new */
    assert_int_equal(df_builder_node_desc(b, &desc, &node, &e), DF_OK);
    desc.threads = 2;
    assert_int_equal(df_builder_node_desc(b, &desc, &node, &e), DF_OK);
    struct df_graph *g = finish(b);
    assert_int_equal(g->n_works, 4);
    assert_int_equal(g->works[0].n_nodes, 2);
    assert_int_equal(g->works[1].n_nodes, 1);
    assert_int_equal(g->works[2].n_nodes, 2);
    assert_int_equal(g->works[3].threads, 2);
    assert_int_equal(g->works[0].tmp_bytes[DF_ON_HOST], 512);
    assert_int_equal(g->works[0].tmp_bytes[DF_ON_DEVICE], 512);
    assert_int_equal(g->works[0].job_bytes, 912);
    assert_true(isnan(g->cost_s[2]) && g->cost_s[g->n_works + 2] <= 0);
    assert_int_equal(g->kernels[src].cost_classes, 2);
    assert_int_equal(g->nodes[0].flags, 0);
    assert_int_equal(g->nodes[3].flags, DF_NODE_ZERO_COST);
    df_graph_free(g);
}

/* Scratch of jobs on one side counts there only, and what a work needs on each side is checked; no other port is of one side. */
static void test_scratch_of_one_side(void **state)
{
    static const char *const names[] = { "k" };
    static const struct df_port_desc ports[] = { { "o", DF_OUT, DF_F32, 1 }, { "t", DF_TMP, DF_U8, 1 }, { "rows", DF_TMP, DF_U8, 1 }, { "plane", DF_TMP, DF_U8, 1 } };
    const struct df_kernel_desc desc = { .name = "f", .n_dims = 1, .dims = names, .n_ports = 4, .ports = ports };
    const uint64_t dims[] = { 25 }, port_dims[4][DF_MAX_RANK] = { { 25 }, { 1 }, { 257 }, { 1000 } };
    (void)state;
    const uint8_t only[4] = { 0, 0, 1 + DF_ON_HOST, 1 + DF_ON_DEVICE };
    const struct df_kernel_info info = { .code_classes = 3, .only = only };
    struct df_builder *b = df_builder_new("g");
    uint32_t kernel, node;
    struct df_error e = { "" };
    assert_int_equal(df_builder_kernel(b, &desc, &kernel, &e), DF_OK);
    assert_int_equal(df_builder_kernel_info(b, kernel, &info, &e), DF_OK);
    assert_int_equal(df_builder_node(b, kernel, dims, port_dims, NULL, &node, &e), DF_OK);
    struct df_graph *g = finish(b);
    assert_int_equal(g->works[0].tmp_bytes[DF_ON_HOST], 256 + 512);
    assert_int_equal(g->works[0].tmp_bytes[DF_ON_DEVICE], 256 + 1024);
    assert_int_equal(g->works[0].job_bytes, 100 + 256 + 512);
    assert_int_equal(dfr_job_bytes(g, 0), 2 * DF_PAGE_BYTES);
    assert_int_equal(df_port_bytes_on(g, &g->works[0], 2, DF_ON_DEVICE), 0);
    ((struct df_kport *)g->kports)[0].only = 1 + DF_ON_HOST;
    assert_false(df_graph_check(g, &e));
    assert_non_null(strstr(e.text, "kernel 0, port 0: of one side only, and no scratch"));
    ((struct df_kport *)g->kports)[0].only = 0;
    assert_true(df_graph_check(g, &e));
    ((struct df_work *)g->works)[0].tmp_bytes[DF_ON_DEVICE] = 256;
    assert_false(df_graph_check(g, &e));
    df_graph_free(g);
}

/* Nodes of one kernel are one work if all that tells jobs apart is equal: each change of one number makes another. */
static void test_different_works(void **state)
{
    static const char *const names[] = { "k", "m" };
    const struct df_port_desc ports[] = { { "o", DF_OUT, DF_F32, 2 }, { "t", DF_TMP, DF_F32, 1 } };
    const struct df_scalar_desc scalars[] = { { "i", DF_S_I32 }, { "j", DF_S_I32 } };
    const struct df_kernel_desc desc = { .name = "f", .n_dims = 2, .dims = names, .n_ports = 2, .ports = ports, .n_scalars = 2, .scalars = scalars };
    struct df_builder *b = df_builder_new("g");
    uint32_t kernel, node, n_works = 0;
    struct df_error e = { "" };
    (void)state;
    assert_int_equal(df_builder_kernel(b, &desc, &kernel, &e), DF_OK);
    for (int change = 0; change < 8; change++, n_works++)
        for (int twice = 0; twice < 2; twice++) {
            const uint64_t dims[2] = { 4 + (change == 1), 6 + (change == 2) };
            const uint64_t port_dims[2][DF_MAX_RANK] = { { 4 + (change == 3), 6 + (change == 4) }, { 6 + (change == 5) } };
            const union df_scalar values[2] = { { .i32 = 1 + (change == 6) }, { .i32 = 2 + (change == 7) } };
            if (df_builder_node(b, kernel, dims, port_dims, values, &node, &e) != DF_OK)
                fail_msg("%s", e.text);
        }
    uint32_t bare;
    assert_int_equal(df_builder_kernel(b, &(struct df_kernel_desc){ .name = "bare" }, &bare, &e), DF_OK);
    for (int change = 0; change < 6; change++, n_works++)
        for (int twice = 0; twice < 2; twice++) {
            const double cost[2] = { 1 + (change == 2), 2 + (change == 3) };
            const struct df_node_desc of = { .kernel = bare, .cost_s = cost, .n_cost = change == 0 ? 0 : change == 4 ? 1 : 2,
                                             .threads = change == 5 ? 2 : 1, .hint_class = -1 };
            if (df_builder_node_desc(b, &of, &node, &e) != DF_OK)
                fail_msg("%s", e.text);
        }
    struct df_graph *g = finish(b);
    assert_int_equal(g->n_works, n_works);
    for (uint32_t w = 0; w < g->n_works; w++)
        assert_int_equal(g->works[w].n_nodes, 2);
    df_graph_free(g);
}

/* What is said to be the cost holds for the nodes that come after it; a copy's is known from its bytes. */
static void test_said_costs(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t source = add_kernel(b, "source", "o", 0), bump = add_kernel(b, "bump", "b", 0);
    uint32_t sink = add_kernel(b, "sink", "i", 0), nodes[3];
    struct df_error e;
    struct df_times times;
    struct df_platform host, with_gpu;

    assert_int_equal(df_builder_kernel_info(b, source, &(struct df_kernel_info){ .code_classes = 1 }, &e), DF_OK);
    nodes[0] = add_node(b, source, 4);
    assert_int_equal(df_builder_cost(b, DF_CLASS_CPU, -1, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "a cost of -1 s on class 0: it must be 0 or more and less than 1e+18 s");
    assert_int_equal(df_builder_cost(b, DF_CLASS_GPU, INFINITY, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "a cost of inf s on class 1: it must be 0 or more and less than 1e+18 s");
    assert_int_equal(df_builder_cost(b, DF_CLASS_GPU, 1e18, &e), DF_E_ARGUMENT);
    assert_int_equal(df_builder_cost(b, 2, 1, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "a cost on class 2: the classes are cpu (0) and gpu (1)");
    assert_int_equal(df_builder_cost(b, DF_CLASS_CPU, 2e-3, &e), DF_OK);
    assert_int_equal(df_builder_cost(b, DF_CLASS_GPU, 1e-3, &e), DF_OK);
    nodes[1] = add_node(b, bump, 4);
    assert_int_equal(df_builder_cost(b, DF_CLASS_GPU, NAN, &e), DF_OK);
    nodes[2] = add_node(b, sink, 4);
    arc(b, nodes[0], 0, nodes[1], 0);
    arc(b, nodes[0], 0, nodes[2], 0);
    struct df_graph *g = finish(b);
    assert_int_equal(g->n_nodes, 4);    /* with a copy */
    uint32_t n_said = 0, n_unsaid = 0;
    for (uint32_t w = 0; w < g->n_works; w++) {
        double cpu_s = g->cost_s[w], gpu_s = g->cost_s[g->n_works + w];
        n_said += cpu_s == 2e-3 && (gpu_s == 1e-3 || isnan(gpu_s));
        n_unsaid += isnan(cpu_s) && isnan(gpu_s);
    }
    assert_int_equal(n_said, 2);
    assert_int_equal(n_unsaid, 2);      /* the source and the copy */
    assert_int_equal(dfr_times_default(g, false, &times, &e), DF_OK);
    df_platform_default(&host, 0);
    df_platform_default(&with_gpu, 1);
    assert_false(dfr_times_known(g, &times, &host));
    for (uint32_t i = 0; i < times.n_classes * g->n_works; i++)
        if (i % g->n_works == g->nodes[0].work)
            times.source[i] = DF_TIME_COST;
    assert_true(dfr_times_known(g, &times, &with_gpu));
    times.source[g->n_works + g->nodes[0].work] = DF_TIME_DEFAULT; /* on a GPU, which the host has not */
    assert_false(dfr_times_known(g, &times, &with_gpu));
    assert_true(dfr_times_known(g, &times, &host));
    dfr_times_free(&times);
    df_graph_free(g);
}

static void test_scalars(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    const struct df_scalar_desc scalars[] = { { "i", DF_S_I32 }, { "f", DF_S_F64 }, { "s", DF_S_STR } };
    const struct df_kernel_desc desc = { .name = "f", .n_scalars = 3, .scalars = scalars };
    uint32_t kernel, node, x, y;
    struct df_error e;
    assert_int_equal(df_builder_kernel(b, &desc, &kernel, &e), DF_OK);
    union df_scalar one[3] = { { .i32 = -1 }, { .f64 = 0.5 }, { .str = "hello" } };
    char text[] = "hello";
    union df_scalar same[3] = { { .i32 = -1 }, { .f64 = 0.5 }, { .str = text } }, other[3] = { { .i32 = -2 } };
    other[2].str = "";
    assert_int_equal(df_builder_node(b, kernel, NULL, NULL, one, &node, &e), DF_OK);
    assert_int_equal(df_builder_node(b, kernel, NULL, NULL, same, &node, &e), DF_OK);
    assert_int_equal(df_builder_node(b, kernel, NULL, NULL, other, &node, &e), DF_OK);
    const uint64_t code[] = { 0, 7, 0, 8, 9 }; /* INT 7 INT 8 ADD in the numbers of expr.h */
    assert_int_equal(df_builder_expression(b, DF_S_I32, code, 5, &x, &e), DF_OK);
    assert_int_equal(df_builder_expression(b, DF_S_I32, code, 5, &y, &e), DF_OK);
    assert_int_equal(x, y);
    assert_int_equal(df_builder_expression(b, DF_S_I64, code, 5, &y, &e), DF_OK);
    assert_int_not_equal(x, y);
    const uint64_t others[][5] = { { 0, 6, 0, 8, 9 }, { 0, 7, 0, 9, 9 }, { 0, 7, 0, 8, 10 } };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(df_builder_expression(b, DF_S_I32, others[i], 5, &y, &e), DF_OK);
        assert_int_not_equal(x, y);
        assert_int_equal(df_builder_expression(b, DF_S_I32, code, 5, &y, &e), DF_OK);
        assert_int_equal(x, y);
    }
    assert_int_equal(df_builder_node(b, kernel, NULL, NULL, NULL, &node, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "node of 'f': dimensions, formats, scalars or indices are missing");
    struct df_graph *g = finish(b);
    assert_int_equal(g->n_works, 2);
    assert_int_equal(g->scalars[g->node_scalars[0]].i, -1);
    assert_true(g->scalars[g->node_scalars[1]].f == 0.5);
    assert_string_equal(df_graph_string(g, g->scalars[g->node_scalars[2]].str), "hello");
    assert_int_equal(g->n_code, 25);
    df_graph_free(g);
}

/* ---- copies ---- */

static void test_no_copy(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t src = add_node(b, add_kernel(b, "src", "o", 0), 8), f = add_node(b, add_kernel(b, "f", "b", 0), 8);
    arc(b, src, 0, f, 0);
    struct df_graph *g = finish(b);
    order_is(g, "src f");
    assert_int_equal(g->values[1].taken_from, 0);
    assert_int_equal(g->values[0].taken_from, DF_NONE);
    assert_int_equal(g->works[1].job_bytes, 32);
    df_graph_free(g);
}

static void test_copy_where_others_read(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t bump = add_kernel(b, "bump", "b", 0);
    uint32_t src = add_node(b, add_kernel(b, "src", "o", 0), 8), x = add_node(b, bump, 8), y = add_node(b, bump, 8);
    uint32_t sink = add_node(b, add_kernel(b, "sink", "iii", 0), 8);
    arc(b, src, 0, x, 0);
    arc(b, src, 0, y, 0);
    arc(b, src, 0, sink, 0);
    arc(b, x, 0, sink, 1);
    arc(b, y, 0, sink, 2);
    struct df_graph *g = finish(b);
    order_is(g, "src copy#1 bump#1 copy#2 bump#2 sink");
    assert_int_equal(g->nodes[1].flags, DF_NODE_INSERTED);
    assert_int_equal(g->kernels[g->nodes[1].kernel].flags, DF_KERNEL_COPY);
    assert_int_equal(g->kernels[g->nodes[1].kernel].code_classes, 3);
    assert_int_equal(g->dims[g->works[g->nodes[1].work].first_dim], 32);
    assert_int_equal(g->works[g->nodes[1].work].n_nodes, 2);
    assert_int_equal(g->values[2].taken_from, 1);
    assert_int_equal(g->values[4].taken_from, 3);
    assert_int_equal(g->values[0].n_readers, 3);
    df_graph_free(g);
}

/* What is kept for a reader outside is not changed, though nobody inside reads it; the other one is. */
static void test_copy_of_kept(void **state)
{
    (void)state;
    struct df_error e = { "" };
    struct df_builder *b = df_builder_new("g");
    uint32_t bump = add_kernel(b, "bump", "b", 0);
    uint32_t src = add_node(b, add_kernel(b, "src", "oo", 0), 8), x = add_node(b, bump, 8), y = add_node(b, bump, 8);
    arc(b, src, 0, x, 0);
    arc(b, src, 1, y, 0);
    assert_int_equal(df_builder_keep(b, src, 1, &e), DF_OK);
    assert_int_equal(df_builder_keep(b, src, 1, &e), DF_OK);
    assert_int_equal(df_builder_keep(b, src, 2, &e), DF_E_ARGUMENT);
    assert_int_equal(df_builder_keep(b, 3, 0, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "node 3 has no output 0 to keep");
    char name[20];
    assert_int_equal(df_builder_node_name(b, y, name, sizeof name), strlen("main/bump#2"));
    assert_string_equal(name, "main/bump#2");
    struct df_graph *g = finish(b);
    order_is(g, "src bump#1 copy bump#2");
    assert_int_equal(g->values[1].n_readers, 1);
    df_graph_free(g);
}

/* f(a, a) with one of them inout; and one port in, one inout with two inout ports around it. */
static void test_copy_for_itself(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t src = add_node(b, add_kernel(b, "src", "o", 0), 8), f = add_node(b, add_kernel(b, "f", "ibobt", 0), 8);
    arc(b, src, 0, f, 0);
    arc(b, src, 0, f, 1);
    arc(b, src, 0, f, 2);
    struct df_graph *g = finish(b);
    order_is(g, "src copy#1 copy#2 f");
    assert_int_equal(g->in_value[g->nodes[3].first_in], 0);
    assert_int_equal(g->in_value[g->nodes[3].first_in + 1], 1);
    assert_int_equal(g->in_value[g->nodes[3].first_in + 2], 2);
    assert_int_equal(g->values[3].taken_from, 1);
    assert_int_equal(g->values[4].taken_from, DF_NONE);
    assert_int_equal(g->values[5].taken_from, 2);
    df_graph_free(g);
}

/* ---- once ---- */

static void test_once(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t table = add_node(b, add_kernel(b, "table", "o", DF_ONCE), 8);
    uint32_t tune = add_node(b, add_kernel(b, "tune", "b", 0), 8);
    uint32_t src = add_node(b, add_kernel(b, "src", "o", 0), 8);
    uint32_t mix = add_node(b, add_kernel(b, "mix", "ib", 0), 8);
    uint32_t show = add_node(b, add_kernel(b, "show", "i", DF_ORDERED), 8);
    arc(b, table, 0, tune, 0);
    arc(b, tune, 0, mix, 1);            /* alone, but each wave would change it */
    arc(b, src, 0, mix, 0);
    arc(b, src, 0, show, 0);
    struct df_graph *g = finish(b);
    order_is(g, "table tune src copy mix show");
    assert_int_equal(g->nodes[0].flags, DF_NODE_ONCE);
    assert_int_equal(g->nodes[1].flags, DF_NODE_ONCE);
    assert_int_equal(g->nodes[2].flags, 0);
    assert_int_equal(g->nodes[3].flags, DF_NODE_INSERTED);
    assert_int_equal(g->nodes[4].flags, 0);
    assert_int_equal(g->nodes[5].flags, 0);
    df_graph_free(g);
}

static void test_once_copy_and_sink(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t table = add_node(b, add_kernel(b, "table", "o", DF_ONCE), 8);
    uint32_t tune = add_node(b, add_kernel(b, "tune", "b", 0), 8);
    uint32_t show = add_node(b, add_kernel(b, "show", "ii", DF_ORDERED), 8);
    arc(b, table, 0, tune, 0);
    arc(b, table, 0, show, 0);
    arc(b, tune, 0, show, 1);
    struct df_graph *g = finish(b);
    order_is(g, "table copy tune show");
    assert_int_equal(g->nodes[1].flags, DF_NODE_ONCE | DF_NODE_INSERTED);
    assert_int_equal(g->nodes[3].flags, DF_NODE_ONCE);
    df_graph_free(g);
}

static void test_once_of_waves(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t src = add_node(b, add_kernel(b, "src", "o", 0), 8);
    uint32_t table = add_node(b, add_kernel(b, "table", "io", DF_ONCE), 8);
    arc(b, src, 0, table, 0);
    fails(b, DF_E_ARGUMENT, "main/table is once, but it reads main/src, which fires for every wave");
}

/* ---- cycles ---- */

static void test_self_loop(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t f = add_node(b, add_kernel(b, "f", "io", 0), 8);
    arc(b, f, 0, f, 0);
    fails(b, DF_E_CYCLE, "cycle: main/f -> main/f");
}

/* A cycle with things that lead into it and hang off it; of two ways round, the shorter. */
static void test_cycle(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t src = add_node(b, add_kernel(b, "src", "o", 0), 8),
             after = add_node(b, add_kernel(b, "after", "io", 0), 8);
    uint32_t p = add_node(b, add_kernel(b, "p", "iio", 0), 8), q = add_node(b, add_kernel(b, "q", "io", 0), 8);
    uint32_t r = add_node(b, add_kernel(b, "r", "iio", 0), 8), end = add_node(b, add_kernel(b, "end", "i", 0), 8);
    arc(b, src, 0, p, 0);
    arc(b, r, 0, p, 1);
    arc(b, p, 0, q, 0);
    arc(b, q, 0, r, 0);
    arc(b, p, 0, r, 1);
    arc(b, r, 0, after, 0);
    arc(b, after, 0, end, 0);
    fails(b, DF_E_CYCLE, "cycle: main/p -> main/r -> main/p");
}

static void test_long_cycle(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t f = add_kernel(b, "f", "io", 0), first = 0, node = 0, before = 0;
    for (int32_t i = 0; i < 20; i++) {
        const uint64_t k = 1, port_dims[2][DF_MAX_RANK] = { { 1 }, { 1 } };
        struct df_node_desc desc = { .kernel = f, .dims = &k, .port_dims = port_dims, .hint_class = -1, .indices = &i,
                                     .n_indices = 1 };
        assert_int_equal(df_builder_node_desc(b, &desc, &node, NULL), DF_OK);
        if (i)
            arc(b, before, 0, node, 0);
        else
            first = node;
        before = node;
    }
    arc(b, node, 0, first, 0);
    fails(b, DF_E_CYCLE,
          "cycle: main/f[0] -> main/f[1] -> main/f[2] -> main/f[3] -> main/f[4] -> main/f[5] -> ... (8 more) ... -> "
          "main/f[14] -> main/f[15] -> main/f[16] -> main/f[17] -> main/f[18] -> main/f[19] -> main/f[0]");
}

/* Names so long that fewer of them fit into the message: both ends of the way still show. */
static void test_cycle_of_long_names(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    char name[100];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    uint32_t nodes[6];
    for (unsigned i = 0; i < 6; i++) {
        name[0] = (char)('a' + i);
        nodes[i] = add_node(b, add_kernel(b, name, "io", 0), 1);
        if (i)
            arc(b, nodes[i - 1], 0, nodes[i], 0);
    }
    arc(b, nodes[5], 0, nodes[0], 0);
    struct df_graph *g;
    struct df_error e;
    assert_int_equal(df_builder_finish(b, &g, &e), DF_E_CYCLE);
    assert_non_null(strstr(e.text, "... (3 more) ... -> main/fxx"));
    assert_int_equal(strlen(strrchr(e.text, '>')), strlen("> main/") + 99);
    assert_non_null(strstr(strrchr(e.text, '>'), "main/axx"));
    df_builder_free(b);
}

static void test_topological_order(void **state)
{
    (void)state;
    const uint32_t offsets[] = { 0, 0, 2, 3, 3 }, targets[] = { 0, 2, 3 };
    uint32_t order[4], cycle[4], n_cycle;
    assert_int_equal(df_topological_order(4, offsets, targets, order, cycle, &n_cycle), DF_OK);
    const uint32_t want[] = { 1, 0, 2, 3 };
    assert_memory_equal(order, want, sizeof want);
    assert_int_equal(df_topological_order(0, offsets, targets, order, cycle, &n_cycle), DF_OK);
    const uint32_t round_offsets[] = { 0, 1, 2, 3, 4 }, round[] = { 1, 2, 1, 0 }; /* 3 -> 0 -> 1 <-> 2 */
    assert_int_equal(df_topological_order(4, round_offsets, round, order, cycle, &n_cycle), DF_E_CYCLE);
    assert_int_equal(n_cycle, 2);
    assert_int_equal(cycle[0], 1);
    assert_int_equal(cycle[1], 2);
}

/* ---- names ---- */

static void test_names(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    const struct df_kernel_desc desc = { .name = "open" };
    const int32_t three = 3, pair[] = { 1, -2 };
    uint32_t kernel, outer, inner, node;
    char name[64];
    assert_int_equal(df_builder_kernel(b, &desc, &kernel, NULL), DF_OK);
    assert_int_equal(df_builder_scope(b, 0, "segment", 0, &three, 1, &outer, NULL), DF_OK);
    assert_int_equal(df_builder_scope(b, outer, "part", 2, NULL, 0, &inner, NULL), DF_OK);
    struct df_node_desc nodes[] = {
        { .kernel = kernel, .scope = outer, .ordinal = 2, .hint_class = -1 },
        { .kernel = kernel, .scope = inner, .indices = pair, .n_indices = 2, .hint_class = 1 }
    };
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(df_builder_node_desc(b, &nodes[i], &node, NULL), DF_OK);
    struct df_graph *g = finish(b);
    assert_int_equal(df_node_name(g, 0, name, sizeof name), 22);
    assert_string_equal(name, "main/segment[3]/open#2");
    df_node_name(g, 1, name, sizeof name);
    assert_string_equal(name, "main/segment[3]/part#2/open[1,-2]");
    assert_int_equal(df_node_name(g, 1, name, 8), 33);
    assert_string_equal(name, "main/se");
    assert_int_equal(df_node_name(g, 1, NULL, 0), 33);
    df_graph_free(g);
}

/* ---- what is refused ---- */

static void test_formats(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t src = add_node(b, add_kernel(b, "src", "o", 0), 8), f = add_node(b, add_kernel(b, "f", "i", 0), 9);
    arc(b, src, 0, f, 0);
    fails(b, DF_E_FORMAT, "main/f: input 'p0' is f32[9], but main/src gives f32[8] as 'p0'");

    b = df_builder_new("g");
    const struct df_port_desc out = { "image", DF_OUT, DF_U8, 2 }, in = { "x", DF_IN, DF_F32, 0 };
    const struct df_kernel_desc from = { .name = "from", .n_ports = 1, .ports = &out };
    const struct df_kernel_desc to = { .name = "to", .n_ports = 1, .ports = &in };
    const uint64_t dims[1][DF_MAX_RANK] = { { 2, 2 } };
    uint32_t from_kernel, to_kernel, u, v;
    assert_int_equal(df_builder_kernel(b, &from, &from_kernel, NULL), DF_OK);
    assert_int_equal(df_builder_kernel(b, &to, &to_kernel, NULL), DF_OK);
    assert_int_equal(df_builder_node(b, from_kernel, NULL, dims, NULL, &u, NULL), DF_OK);
    assert_int_equal(df_builder_node(b, to_kernel, NULL, dims, NULL, &v, NULL), DF_OK);
    arc(b, u, 0, v, 0);
    fails(b, DF_E_FORMAT, "main/to: input 'x' is f32, but main/from gives u8[2, 2] as 'image'");
}

static void test_unconnected(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t src = add_node(b, add_kernel(b, "src", "o", 0), 8), f = add_node(b, add_kernel(b, "f", "ii", 0), 8);
    arc(b, src, 0, f, 0);
    struct df_error e;
    assert_int_equal(df_builder_connect(b, src, 0, f, 0, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "input 0 of a node of 'f' is connected twice");
    assert_int_equal(df_builder_connect(b, src, 1, f, 0, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "'src' has 1 outputs; there is no slot 1");
    assert_int_equal(df_builder_connect(b, src, 0, f, 2, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "'f' has 2 inputs; there is no slot 2");
    assert_int_equal(df_builder_connect(b, 7, 0, f, 1, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "an arc from node 7 to node 1: there are only 2 nodes");
    fails(b, DF_E_ARGUMENT, "main/f: input 'p1' is not connected");
}

static void node_fails(struct df_builder *b, uint32_t kernel, uint64_t k, const char *want)
{
    const uint64_t port_dims[2][DF_MAX_RANK] = { { k }, { k } };
    uint32_t node;
    struct df_error e;
    assert_int_equal(df_builder_node(b, kernel, &k, port_dims, NULL, &node, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, want);
}

static void test_sizes(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t src = add_kernel(b, "src", "o", 0), two = add_kernel(b, "two", "oo", 0);
    node_fails(b, src, UINT64_C(1) << 61, "node of 'src': the size of 'p0' does not fit in 63 bits");
    node_fails(b, src, UINT64_MAX, "node of 'src': the size of 'p0' does not fit in 63 bits");
    node_fails(b, two, UINT64_C(1) << 60, "node of 'two': the size of 'p1' does not fit in 63 bits");
    node_fails(b, 9, 1, "a node of kernel 9: there are only 2 kernels");
    add_node(b, src, (UINT64_C(1) << 61) - 1);
    add_node(b, src, 0);
    struct df_graph *g = finish(b);     /* what failed left nothing behind */
    assert_int_equal(g->n_works, 2);
    assert_true(g->values[0].bytes == (uint64_t)INT64_MAX - 3);
    assert_int_equal(g->values[1].bytes, 0);
    df_graph_free(g);
}

static void kernel_fails(struct df_kernel_desc desc, const char *want)
{
    struct df_builder *b = df_builder_new("g");
    uint32_t kernel = 99;
    struct df_error e;
    assert_int_equal(df_builder_kernel(b, &desc, &kernel, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, want);
    assert_int_equal(kernel, 99);
    df_builder_free(b);
}

static void test_bad_kernels(void **state)
{
    (void)state;
    const struct df_port_desc in = { "a", DF_IN, DF_F32, 1 }, deep = { "a", DF_IN, DF_F32, 5 };
    const struct df_port_desc out = { "a", DF_OUT, DF_F32, 1 }, none = { "a", DF_IN, DF_N_ELEMS, 1 }, nameless = { NULL, DF_IN, DF_F32, 1 };
    const char *const no_dim[] = { "" };
    const struct df_scalar_desc no_type = { "s", (enum df_scalar_type)9 };
    kernel_fails((struct df_kernel_desc){ 0 }, "a kernel needs a name");
    kernel_fails((struct df_kernel_desc){ .name = "f", .traits = 512 }, "kernel 'f' has unknown traits");
    kernel_fails((struct df_kernel_desc){ .name = "f", .traits = DF_STREAM | DF_ONCE },
                 "kernel 'f' is both stream and once");
    kernel_fails((struct df_kernel_desc){ .name = "f", .traits = DF_RESTART | DF_ONCE },
                 "kernel 'f' is both restart and once");
    kernel_fails((struct df_kernel_desc){ .name = "f", .traits = DF_ZERO_EXTENTS | DF_ONCE },
                 "kernel 'f' is called for extents of 0, and is once or has a gpu variant");
    kernel_fails((struct df_kernel_desc){ .name = "f", .traits = DF_ZERO_EXTENTS, .n_ports = 1, .ports = &out },
                 "kernel 'f' is called for extents of 0, so 'a' cannot be an output");
    kernel_fails((struct df_kernel_desc){ .name = "f", .traits = DF_STREAM, .n_ports = 1, .ports = &in },
                 "kernel 'f' is a stream, so 'a' cannot be an input");
    kernel_fails((struct df_kernel_desc){ .name = "f", .n_ports = 1, .ports = &deep },
                 "kernel 'f': port 'a' has 5 dimensions; at most 4 are possible");
    kernel_fails((struct df_kernel_desc){ .name = "f", .n_ports = 1, .ports = &none },
                 "kernel 'f': port 'a' has an unknown mode or element type");
    kernel_fails((struct df_kernel_desc){ .name = "f", .n_ports = 1, .ports = &nameless },
                 "kernel 'f': port 0 has no name");
    kernel_fails((struct df_kernel_desc){ .name = "f", .n_ports = 2000 },
                 "kernel 'f' has more than 1024 ports, dimensions or scalars");
    kernel_fails((struct df_kernel_desc){ .name = "f", .n_dims = 1, .dims = no_dim },
                 "kernel 'f': dimension 0 has no name");
    kernel_fails((struct df_kernel_desc){ .name = "f", .n_scalars = 1, .scalars = &no_type },
                 "kernel 'f': scalar 0 needs a name and a type");
}

static void desc_fails(struct df_builder *b, struct df_node_desc desc, const char *want)
{
    uint32_t node;
    struct df_error e;
    assert_int_equal(df_builder_node_desc(b, &desc, &node, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, want);
}

static void test_bad_nodes(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    const struct df_kernel_desc kernel = { .name = "f" };
    const double negative = -1, three[3] = { 1, 1, 1 };
    uint32_t id;
    struct df_error e;
    assert_int_equal(df_builder_kernel(b, &kernel, &id, NULL), DF_OK);
    desc_fails(b, (struct df_node_desc){ .kernel = id, .scope = 1, .hint_class = -1 },
               "node of 'f': there is no scope 1");
    desc_fails(b, (struct df_node_desc){ .kernel = id, .hint_class = 2 },
               "node of 'f': its hint names class 2, which does not exist");
    desc_fails(b, (struct df_node_desc){ .kernel = id, .rate = -1 }, "node of 'f': its rate of -1 is not possible");
    desc_fails(b, (struct df_node_desc){ .kernel = id, .rate = 1e-46 }, "node of 'f': its rate of 1e-46 is not possible");
    desc_fails(b, (struct df_node_desc){ .kernel = id, .rate = 1e39 }, "node of 'f': its rate of 1e+39 is not possible");
    desc_fails(b, (struct df_node_desc){ .kernel = id, .cost_s = &negative, .n_cost = 1 },
               "node of 'f': its cost of -1 s on class 0 is not possible");
    desc_fails(b, (struct df_node_desc){ .kernel = id, .cost_s = three, .n_cost = 3 },
               "node of 'f': its cost of 1 s on class 2 is not possible");
    assert_int_equal(df_builder_scope(b, 5, "s", 0, NULL, 0, &id, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "scope 's' has no parent");
    df_builder_free(b);
}

static void test_classes(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("g");
    uint32_t cls;
    char name[8] = "c0";
    struct df_error e;
    assert_int_equal(df_builder_class(b, "gpu", &cls, &e), DF_OK);
    assert_int_equal(cls, DF_CLASS_GPU);
    for (uint32_t i = 2; i < DF_MAX_CLASSES; i++) {
        name[1] = (char)('0' + i);
        assert_int_equal(df_builder_class(b, name, &cls, &e), DF_OK);
        assert_int_equal(cls, i);
    }
    assert_int_equal(df_builder_class(b, "npu", &cls, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "class 'npu' is one too many: there may be 8");
    struct df_graph *g = finish(b);
    assert_int_equal(g->n_classes, 8);
    df_graph_free(g);
}

/* ---- classes, args, params, scalars ---- */

static void refused(int code, const struct df_error *error, const char *want)
{
    assert_int_equal(code, DF_E_ARGUMENT);
    assert_string_equal(error->text, want);
}

static void test_bad_declarations(void **state)
{
    struct df_builder *b = df_builder_new("g");
    struct df_kernel_info info = { .code_classes = 1 };
    struct df_error error;
    uint32_t id, kernel = add_kernel(b, "k", "o", 0);
    const uint64_t code[1] = { 0 };
    union df_scalar zero = { .i64 = 0 };

    (void)state;
    refused(df_builder_class(b, "", &id, &error), &error, "a class needs a name");
    refused(df_builder_arg(b, "", DF_S_I32, true, zero, NULL, &error), &error, "an arg needs a name and a type");
    refused(df_builder_arg(b, NULL, DF_S_I32, true, zero, NULL, &error), &error, "an arg needs a name and a type");
    refused(df_builder_arg(b, "n", (enum df_scalar_type)9, true, zero, NULL, &error), &error,
            "an arg needs a name and a type");
    refused(df_builder_param(b, "", 1, NULL, &error), &error, "a param needs a name");
    refused(df_builder_kernel_info(b, kernel + 1, &info, &error), &error, "no such kernel or class");
    info.code_classes = 1u << 5;
    refused(df_builder_kernel_info(b, kernel, &info, &error), &error, "no such kernel or class");
    refused(df_builder_constant(b, (enum df_scalar_type)9, zero, &id, &error), &error, "a scalar has an unknown type");
    refused(df_builder_expression(b, DF_S_I64, code, 0, &id, &error), &error, "an expression needs a type and code");
    refused(df_builder_expression(b, (enum df_scalar_type)9, code, 1, &id, &error), &error,
            "an expression needs a type and code");
    df_builder_free(b);
}

static void test_scalar_of_another_type(void **state)
{
    struct df_builder *b = df_builder_new("g");
    const struct df_port_desc port = { "v", DF_OUT, DF_U8, 0 };
    const struct df_scalar_desc scalar = { "seed", DF_S_I32 };
    struct df_kernel_desc desc = { .name = "make", .n_ports = 1, .ports = &port, .n_scalars = 1, .scalars = &scalar };
    uint32_t kernel, id;
    struct df_error error;

    (void)state;
    assert_int_equal(df_builder_kernel(b, &desc, &kernel, &error), DF_OK);
    assert_int_equal(df_builder_constant(b, DF_S_F64, (union df_scalar){ .f64 = 1 }, &id, &error), DF_OK);
    const uint64_t port_dims[1][DF_MAX_RANK] = { { 0 } };
    desc_fails(b, (struct df_node_desc){ .kernel = kernel, .port_dims = port_dims, .scalars = &id, .hint_class = -1 },
               "node of 'make': scalar 'seed' has another type");
    df_builder_free(b);
}

/* ---- size: a chain of 10^6 in place, and its order when added backwards ---- */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_long_chain(void **state)
{
    (void)state;
    const uint32_t n = 1000000;
    struct df_builder *b = df_builder_new("chain");
    uint32_t f = add_kernel(b, "f", "b", 0), src = add_kernel(b, "src", "o", 0);
    const uint64_t k = 1000, port_dims[1][DF_MAX_RANK] = { { 1000 } };
    uint32_t node;
    double start_s = now_s();
    for (uint32_t i = 0; i <= n; i++)
        if (df_builder_node(b, i < n ? f : src, &k, port_dims, NULL, &node, NULL) != DF_OK)
            fail();
    for (uint32_t i = 0; i < n; i++)
        if (df_builder_connect(b, i + 1, 0, i, 0, NULL) != DF_OK)
            fail();
    struct df_graph *g = finish(b);
    print_message("chain of %u nodes: %.2f s\n", n, now_s() - start_s);
    assert_int_equal(g->n_nodes, n + 1);
    assert_int_equal(g->n_works, 2);
    assert_int_equal(g->nodes[0].kernel, src);
    for (uint32_t v = 1; v <= n; v++)
        if (g->in_value[g->nodes[v].first_in] != v - 1 || g->values[v].taken_from != v - 1)
            fail_msg("node %u", v);
    df_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diamond),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_finish_twice),
        cmocka_unit_test(test_works),
        cmocka_unit_test(test_scratch_of_one_side),
        cmocka_unit_test(test_different_works),
        cmocka_unit_test(test_said_costs),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_no_copy),
        cmocka_unit_test(test_copy_where_others_read),
        cmocka_unit_test(test_copy_of_kept),
        cmocka_unit_test(test_copy_for_itself),
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_once_copy_and_sink),
        cmocka_unit_test(test_once_of_waves),
        cmocka_unit_test(test_self_loop),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_long_cycle),
        cmocka_unit_test(test_cycle_of_long_names),
        cmocka_unit_test(test_topological_order),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_unconnected),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_bad_kernels),
        cmocka_unit_test(test_bad_nodes),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_bad_declarations),
        cmocka_unit_test(test_scalar_of_another_type),
    };
    const struct CMUnitTest large[] = { cmocka_unit_test(test_long_chain) };
    int failed = cmocka_run_group_tests_name("graphs", tests, NULL, NULL);
    failed += cmocka_run_group_tests_name("large graphs", large, NULL, NULL);
    return failed + cmocka_run_group_tests_name("graphs whose keys have one hash", tests, begin_colliding, NULL);
}
