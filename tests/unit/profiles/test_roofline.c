/* test_roofline.c - times from operations, bytes and a machine's figures: the arithmetic, to the digit, and which works of a
 * graph get such a time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profiles/estimate/roofline.h"
#include "runtime/graph/builder.h"

static const struct dfw_machine six = { /* six cores; all figures are powers of two, so that quotients are exact */
    .figures = { .bytes_per_s = { 8, 16, 24 }, .flops = { 1024, 512 }, .random_s = { 2, 0.5 }, .atomic_s = { 0.25, 4 } },
    .bytes_per_s = 28
};

static void bandwidth_by_threads(void **state)
{
    (void)state;
    const double expected[] = { 8, 16, 20, 24, 28, 28, 28 }; /* 24 for four; what more add is bounded by all */
    for (uint32_t n = 1; n <= 7; n++)
        assert_true(dfw_bandwidth_of(&six, n) == expected[n - 1]);
    struct dfw_machine machine = { .bytes_per_s = 64 };
    assert_true(dfw_bandwidth_of(&machine, 1) == 64); /* of a device, or where no more is known */
    machine.bytes_per_s = 0;
    assert_true(dfw_bandwidth_of(&machine, 1) == 0);
    machine.figures.bytes_per_s[0] = 8;
    assert_true(dfw_bandwidth_of(&machine, 4) == 8);
}

static void the_longer_of_both(void **state)
{
    (void)state;
    struct dfw_operations o = { .known = true, .flops = { 1024, 0 } };
    assert_true(dfw_roofline_s(&o, &six, 1) == 1);
    assert_true(dfw_roofline_s(&o, &six, 4) == 0.25);
    o.integers = 1024;
    o.flops[1] = 512;
    assert_true(dfw_roofline_s(&o, &six, 1) == 3);
    o.divisions[0] = 128;               /* of 8 additions each */
    o.functions[1] = 64;                /* of 24 */
    assert_true(dfw_roofline_s(&o, &six, 1) == 7);
    o.bytes_read = 48;
    o.bytes_written = 8;
    assert_true(dfw_roofline_s(&o, &six, 1) == 7);
    o.bytes_written = 16;
    assert_true(dfw_roofline_s(&o, &six, 1) == 8);
    assert_true(dfw_roofline_s(&o, &six, 4) == 64.0 / 24);
    o.random_reads = 2;
    o.atomics = 4;
    assert_true(dfw_roofline_s(&o, &six, 1) == 8 + 1 + 1);
    assert_true(dfw_roofline_s(&o, &six, 2) == 4 + 0.5 + 0.5);
    assert_true(dfw_roofline_s(&(struct dfw_operations){ .known = true }, &six, 1) == 0);
}

/* A figure that nobody measured is missed only if it is needed. */
static void missing_figures(void **state)
{
    (void)state;
    struct dfw_machine machine = { .figures = { .flops = { 1024 } } };
    struct dfw_operations o = { .known = true, .flops = { 2048 } };
    assert_true(dfw_roofline_s(&o, &machine, 1) == 2);
    o.bytes_read = 1;
    assert_true(isnan(dfw_roofline_s(&o, &machine, 1)));
    machine.bytes_per_s = 1;
    assert_true(dfw_roofline_s(&o, &machine, 1) == 2);
    o.flops[1] = 1;
    assert_true(isnan(dfw_roofline_s(&o, &machine, 1)));
    o.flops[1] = 0;
    o.random_reads = 1;
    assert_true(isnan(dfw_roofline_s(&o, &machine, 1)));
    o.random_reads = 0;
    o.atomics = 1;
    assert_true(isnan(dfw_roofline_s(&o, &machine, 1)));
}

static int nothing(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                   const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_OK;
}

/* One node with code for both classes that makes 64 elements, and a cost if `priced`. */
static struct df_graph *make_graph_of(enum df_elem elem, bool priced)
{
    const struct df_port_desc port = { "out", DF_OUT, elem, 1 };
    static const uint64_t dims[1][DF_MAX_RANK] = { { 64 } };
    const struct df_kernel_desc kernel = { .name = "f", .n_ports = 1, .ports = &port,
                                           .functions = { .cpu = nothing, .gpu = nothing } };
    const struct df_kernel_info both = { .code_classes = 3 };
    const double cost_s[] = { 7, NAN };
    struct df_builder *b = df_builder_new("one");
    struct df_graph *graph;
    uint32_t k, node;
    assert_int_equal(df_builder_kernel(b, &kernel, &k, NULL), DF_OK);
    assert_int_equal(df_builder_kernel_info(b, k, &both, NULL), DF_OK);
    struct df_node_desc desc = { .kernel = k, .port_dims = dims, .hint_class = -1, .cost_s = priced ? cost_s : NULL,
                                 .n_cost = priced ? 2 : 0 };
    assert_int_equal(df_builder_node_desc(b, &desc, &node, NULL), DF_OK);
    assert_int_equal(df_builder_finish(b, &graph, NULL), DF_OK);
    df_builder_free(b);
    return graph;
}

static struct df_graph *make_graph(bool priced)
{
    return make_graph_of(DF_U8, priced);
}

/* operations: on either class. */
static void times_of(const struct dfw_known *known, bool priced, const struct dfw_operations *o, double time_s[2],
                     uint8_t source[2], struct df_demand *demand)
{
    struct df_graph *graph = make_graph(priced);
    const struct dfw_operations operations[] = { *o, *o };
    struct df_times times;
    assert_int_equal(dfw_known_times(known, graph, &times, NULL), DF_OK);
    assert_int_equal(dfw_roofline_times(known, graph, operations, &times, NULL), DF_OK);
    for (int c = 0; c < 2; c++) {
        time_s[c] = times.time_s[c];
        source[c] = times.source[c];
    }
    *demand = times.demand ? times.demand[0] : (struct df_demand){ -1, -1 };
    dfr_times_free(&times);
    df_graph_free(graph);
}

static void works_without_a_time_get_one(void **state)
{
    (void)state;
    const struct dfw_operations o = { .known = true, .flops = { 4096 }, .bytes_read = 8, .bytes_written = 8 }, unknown = { 0 };
    struct df_platform p = { .n_units = 3, .n_classes = 2 };
    struct dfw_known known = { .emulated = true };
    double time_s[2];
    uint8_t source[2];
    struct df_demand demand;
    p.units[0] = (struct df_unit){ .workers = 6, .figures = six.figures, .memory_bytes_per_s = six.bytes_per_s };
    p.units[1] = p.units[2] = (struct df_unit){ .cls = 1 };
    p.units[2].figures.flops[0] = 8192;
    p.units[2].memory_bytes_per_s = 16;
    times_of(&known, false, &o, time_s, source, &demand); /* no figures */
    assert_true(source[0] == DF_TIME_DEFAULT && source[1] == DF_TIME_DEFAULT && demand.sensitivity == -1);
    dfw_known_machine(&known, &p, true);
    times_of(&known, false, &unknown, time_s, source, &demand);
    assert_true(source[0] == DF_TIME_DEFAULT && source[1] == DF_TIME_DEFAULT);
    times_of(&known, false, &o, time_s, source, &demand);
    assert_true(source[0] == DF_TIME_ESTIMATED && time_s[0] == 4);
    assert_true(source[1] == DF_TIME_ESTIMATED && time_s[1] == 1);
    assert_true(demand.bytes_per_s == 4 && demand.sensitivity == 0.5); /* half of its time is that of memory */
    p.units[2].launch_s = 0.25;
    dfw_known_machine(&known, &p, true);
    const struct dfw_operations three = { .known = true, .flops = { 4096 }, .launches = 3 };
    times_of(&known, false, &three, time_s, source, &demand); /* the first launch is the simulator's */
    assert_true(time_s[0] == 4 && time_s[1] == 0.5 + 2 * 0.25);
    p.units[2].launch_s = 0;
    dfw_known_machine(&known, &p, true);
    times_of(&known, false, &o, time_s, source, &demand);
    times_of(&known, true, &o, time_s, source, &demand);
    assert_true(source[0] == DF_TIME_COST && time_s[0] == 7 && source[1] == DF_TIME_ESTIMATED && demand.sensitivity == -1);
    p.units[2].unified = true;          /* then it reads and writes the host's memory: 16 bytes at that rate */
    p.units[2].memory_bytes_per_s = 0;
    p.units[0].memory_bytes_per_s = 4;
    dfw_known_machine(&known, &p, true);
    times_of(&known, false, &o, time_s, source, &demand);
    assert_true(source[1] == DF_TIME_ESTIMATED && time_s[1] == 4);
    p.units[0].memory_bytes_per_s = six.bytes_per_s;
    dfw_known_machine(&known, &p, false); /* an emulated GPU runs the cpu's code */
    times_of(&known, false, &o, time_s, source, &demand);
    assert_true(source[1] == DF_TIME_ESTIMATED && time_s[1] == 4);
    known.emulated = false;
    times_of(&known, false, &o, time_s, source, &demand);
    assert_true(source[0] == DF_TIME_ESTIMATED && source[1] == DF_TIME_DEFAULT);
}

/* Nothing says what a kernel in C computes. The cpu takes 7 s for it. */
static double gpu_s(const struct dfw_known *known, enum df_elem elem, uint8_t *source)
{
    struct df_graph *graph = make_graph_of(elem, true);
    struct df_times times;
    assert_int_equal(dfw_known_times(known, graph, &times, NULL), DF_OK);
    assert_int_equal(dfw_roofline_times(known, graph, NULL, &times, NULL), DF_OK);
    double seconds = times.time_s[1];
    *source = times.source[1];
    dfr_times_free(&times);
    df_graph_free(graph);
    return seconds;
}

static void a_gpu_is_faster_by_the_smaller_ratio(void **state)
{
    (void)state;
    struct dfw_known known = { .machine = { { .figures = { .flops = { 10, 5 } } }, { .figures = { .flops = { 1000, 10 } } } } };
    uint8_t source;
    assert_true(gpu_s(&known, DF_U8, &source) == 0.07 && source == DF_TIME_ESTIMATED);
    assert_true(gpu_s(&known, DF_F64, &source) == 3.5 && source == DF_TIME_ESTIMATED);
    known.machine[0].bytes_per_s = 1000;
    known.machine[1].bytes_per_s = 50000;
    assert_true(gpu_s(&known, DF_U8, &source) == 7.0 / 50 && source == DF_TIME_ESTIMATED);
    known.machine[1].bytes_per_s = 16;  /* 64 bytes take no less */
    known.machine[0].bytes_per_s = 0.1;
    assert_true(gpu_s(&known, DF_U8, &source) == 4 && source == DF_TIME_ESTIMATED);
    known.machine[0] = (struct dfw_machine){ .bytes_per_s = 0 };
    assert_true(gpu_s(&known, DF_U8, &source) == 7.0 / DF_DEFAULT_SPEEDUP && source == DF_TIME_DEFAULT);
}

/* Programs with dynamic params carry the figures. */
static void the_machine_is_packed(void **state)
{
    (void)state;
    struct dfw_known known = { .machine = { six, { .figures.flops = { 8192 }, .bytes_per_s = 16 } } }, opened;
    unsigned char *bytes;
    size_t size;
    assert_int_equal(dfw_known_pack(&known, &bytes, &size, NULL), DF_OK);
    assert_int_equal(dfw_known_open(bytes, size, &opened, NULL), DF_OK);
    assert_memory_equal(known.machine, opened.machine, sizeof known.machine);
    dfw_known_free(&opened);
    for (size_t n = 0; n < size; n++)
        assert_int_equal(dfw_known_open(bytes, n, &opened, NULL), DF_E_FORMAT);
    free(bytes);
    known.machine[0].figures.flops[1] = -1;
    assert_int_equal(dfw_known_pack(&known, &bytes, &size, NULL), DF_OK);
    assert_int_equal(dfw_known_open(bytes, size, &opened, NULL), DF_E_FORMAT);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidth_by_threads),
        cmocka_unit_test(the_longer_of_both),
        cmocka_unit_test(missing_figures),
        cmocka_unit_test(works_without_a_time_get_one),
        cmocka_unit_test(a_gpu_is_faster_by_the_smaller_ratio),
        cmocka_unit_test(the_machine_is_packed),
    };
    return cmocka_run_group_tests_name("roofline", tests, NULL, NULL);
}
