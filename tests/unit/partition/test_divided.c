/* test_divided.c - a graph with a view and a join: where its ranges lie, what the graph's check refuses, and the memory plan, in
 * which a whole and its ranges are one token on the host and several on a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "partition/memory/memory.h"
#include "runtime/graph/builder.h"

enum { ROWS = 10, WIDTH = 64 };         /* f32: a row has 256 bytes */

static struct df_error error;

static uint32_t add(struct df_builder *b, const char *name, const char *modes, const uint64_t *rows)
{
    struct df_port_desc ports[4];
    struct df_kernel_desc desc = { .name = name, .ports = ports };
    uint64_t port_dims[4][DF_MAX_RANK];
    uint32_t kernel, node;
    for (; modes[desc.n_ports]; desc.n_ports++) {
        enum df_mode mode = modes[desc.n_ports] == 'i' ? DF_IN : modes[desc.n_ports] == 'o' ? DF_OUT : DF_INOUT;
        ports[desc.n_ports] = (struct df_port_desc){ "p", mode, DF_F32, 2 };
        port_dims[desc.n_ports][0] = rows[desc.n_ports];
        port_dims[desc.n_ports][1] = WIDTH;
    }
    assert_int_equal(df_builder_kernel(b, &desc, &kernel, &error), DF_OK);
    const struct df_node_desc of = { .kernel = kernel, .port_dims = (const uint64_t (*)[DF_MAX_RANK])port_dims,
                                     .hint_class = -1 };
    assert_int_equal(df_builder_node_desc(b, &of, &node, &error), DF_OK);
    return node;
}

/* source -> view of rows 0 to 5 and 3 to 9 -> two parts, the second of which changes its range -> join -> sink */
static struct df_graph *make(void)
{
    static const uint64_t whole[] = { ROWS, WIDTH }, read_first[] = { 0, 3 }, read_rows[] = { 6, 7 }, first[] = { 0, 3 },
                          rows[] = { 3, 7 };
    struct df_builder *b = df_builder_new("divided");
    struct df_graph *g = NULL;
    const struct df_node_desc of = { .hint_class = -1, .exact = (const uint8_t[]){ 1, 1 } }; /* of its out slots, not of ranges */
    const struct df_ranges reads = { .name = "f.a.view", .elem = DF_F32, .rank = 2, .n = 2, .dims = whole,
                                     .first = read_first, .rows = read_rows, .of = &of };
    const struct df_ranges makes = { .name = "f.b.join", .elem = DF_F32, .rank = 2, .n = 2, .dims = whole, .first = first,
                                     .rows = rows, .of = &of };
    uint32_t view, join, parts[2], source = add(b, "source", "o", whole), sink = add(b, "sink", "i", whole);
    parts[0] = add(b, "f", "io", (const uint64_t[]){ 6, 3 });
    parts[1] = add(b, "g", "b", (const uint64_t[]){ 7 });
    assert_int_equal(df_builder_view(b, &reads, source, 0, &view, &error), DF_OK);
    assert_int_equal(df_builder_connect(b, view, 0, parts[0], 0, &error), DF_OK);
    assert_int_equal(df_builder_connect(b, view, 1, parts[1], 0, &error), DF_OK);
    assert_int_equal(df_builder_join(b, &makes, parts, 0, "b", &join, &error), DF_OK);
    assert_int_equal(df_builder_connect(b, join, 0, sink, 0, &error), DF_OK);
    assert_int_equal(df_builder_finish(b, &g, &error), DF_OK);
    df_builder_free(b);
    return g;
}

static uint32_t out_of(const struct df_graph *g, const char *kernel, uint32_t slot)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (strcmp(df_graph_string(g, g->kernels[g->nodes[v].kernel].name), kernel) == 0)
            return g->nodes[v].first_out + slot;
    fail_msg("no node of %s", kernel);
    return 0;
}

static void assert_range(const struct df_graph *g, uint32_t value, uint32_t whole, uint64_t row)
{
    assert_int_equal(g->values[value].whole, whole);
    assert_int_equal(g->values[value].offset, row * WIDTH * 4);
}

static void test_ranges(void **state)
{
    (void)state;
    struct df_graph *g = make();
    const uint32_t source = out_of(g, "source", 0), view = out_of(g, "f.a.view", 0), join = out_of(g, "f.b.join", 0);
    const uint32_t copy = out_of(g, "copy", 0), changed = out_of(g, "g", 0);
    assert_range(g, view, source, 0);
    assert_range(g, view + 1, source, 3);
    assert_range(g, out_of(g, "f", 0), join, 0);
    assert_range(g, changed, join, 3);
    assert_int_equal(g->values[changed].taken_from, copy); /* a view's bytes are not changed in place */
    assert_range(g, copy, join, 3);     /* but the copy lies where its outcome does */
    assert_true(df_value_is_view(g, view) && !df_value_is_view(g, changed) && !df_value_is_view(g, join));
    assert_true(df_graph_check(g, &error));
    struct df_value *v = (struct df_value *)g->values;
    v[view + 1].offset += 4;            /* its end is beyond the whole's */
    assert_false(df_graph_check(g, &error));
    v[view + 1].offset -= 4;
    v[changed].whole = source;          /* no view gives it */
    assert_false(df_graph_check(g, &error));
    v[changed].whole = join;
    v[join].whole = source;             /* a whole is no range */
    assert_false(df_graph_check(g, &error));
    df_graph_free(g);
}

static void test_memory(void **state)
{
    (void)state;
    struct df_graph *g = make();
    const uint32_t source = out_of(g, "source", 0), view = out_of(g, "f.a.view", 0), join = out_of(g, "f.b.join", 0);
    const uint16_t on_device[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    struct dfp_memory host, device;
    assert_int_equal(dfp_memory_make(g, NULL, 0, 64, &host, &error), DF_OK);
    assert_int_equal(host.n, 2);        /* what the source makes, and what the join does */
    assert_int_equal(host.of_value[view], host.of_value[source]);
    assert_int_equal(host.of_value[view + 1], host.of_value[source]);
    assert_int_equal(host.of_value[out_of(g, "f", 0)], host.of_value[join]);
    assert_int_equal(host.of_value[out_of(g, "copy", 0)], host.of_value[join]);
    assert_int_not_equal(host.of_value[join], host.of_value[source]);
    assert_int_equal(host.any_bytes, 2 * ROWS * WIDTH * 4); /* they are live together: the second part reads the first */
    assert_int_equal(host.sequence_bytes, 2 * ROWS * WIDTH * 4);
    assert_int_equal(host.any_bound_bytes, 2 * ROWS * WIDTH * 4);
    assert_int_equal(dfp_memory_make(g, on_device, 1, 64, &device, &error), DF_OK);
    assert_int_equal(device.n, 6);      /* each range is one; what g changes is the copy's */
    dfp_memory_free(&host);
    dfp_memory_free(&device);
    df_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ranges), cmocka_unit_test(test_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
