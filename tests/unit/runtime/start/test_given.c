/* test_given.c - what a planner is told of a run whose sources are given: they cost nothing and are on the host, and
 * all other nodes are as they were. The graph is made by public calls alone, as by a program that embeds libdf.
 *
 *     make#1 (given) -> join <- make#2 (called; of the same work)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "partition/partition.h"
#include "runtime/df.h"
#include "runtime/engine/engine.h"
#include "runtime/graph/graph.h"

enum { K = 100, WAVES = 3 };

static int make(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    (void)stream, (void)scalars;
    for (size_t i = 0; i < dims[0]; i++)
        ((int64_t *)ports[0])[i] = df_wave(call);
    return DF_OK;
}

static int join(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)scalars;
    for (size_t i = 0; i < dims[0]; i++)
        ((int64_t *)ports[2])[i] = 10 * ((const int64_t *)ports[0])[i] + ((const int64_t *)ports[1])[i];
    return DF_OK;
}

/* make_s: the stated time of a source; NaN: none. code: sources have a cpu variant. stated: the time of the last node is. */
static struct df_graph *make_graph(bool code, double make_s, bool stated)
{
    static const char *const dims[] = { "k" };
    static const struct df_port_desc out[] = { { "v", DF_OUT, DF_I64, 1 } },
                                     in_out[] = { { "a", DF_IN, DF_I64, 1 }, { "b", DF_IN, DF_I64, 1 },
                                                  { "c", DF_OUT, DF_I64, 1 } };
    static const uint64_t n[] = { K }, extents[3][DF_MAX_RANK] = { { K }, { K }, { K } };
    struct df_kernel_desc source = { .name = "make", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = out,
                                     .functions = { .cpu = code ? make : NULL } };
    struct df_kernel_desc last = { .name = "join", .n_dims = 1, .dims = dims, .n_ports = 3, .ports = in_out,
                                   .functions = { .cpu = join, .gpu = join } };
    struct df_builder *b = df_builder_new("g");
    struct df_graph *graph;
    uint32_t kernel[2], node[3];

    assert_int_equal(df_builder_kernel(b, &source, &kernel[0], NULL), DF_OK);
    assert_int_equal(df_builder_kernel(b, &last, &kernel[1], NULL), DF_OK);
    assert_int_equal(df_builder_cost(b, DF_CLASS_CPU, make_s, NULL), DF_OK);
    for (unsigned i = 0; i < 3; i++) {
        if (i == 2) {
            assert_int_equal(df_builder_cost(b, DF_CLASS_CPU, stated ? 1e-3 : NAN, NULL), DF_OK);
            assert_int_equal(df_builder_cost(b, DF_CLASS_GPU, stated ? 1e-4 : NAN, NULL), DF_OK);
        }
        assert_int_equal(df_builder_node(b, kernel[i == 2], n, extents, NULL, &node[i], NULL), DF_OK);
    }
    assert_int_equal(df_builder_connect(b, node[0], 0, node[2], 0, NULL), DF_OK);
    assert_int_equal(df_builder_connect(b, node[1], 0, node[2], 1, NULL), DF_OK);
    assert_int_equal(df_builder_finish(b, &graph, NULL), DF_OK);
    df_builder_free(b);
    return graph;
}

/* ---- what the planner sees ---- */

static double seen_s[3][2];             /* seconds of each node on each class: as the planner is told them */
static uint8_t seen_flags[3];
static uint32_t seen_nodes, seen_of_work[3]; /* how many nodes the node's work has */
static bool seen_known;

static int look(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times,
                const char *policy, struct df_plan **plan, struct df_error *error)
{
    seen_nodes = graph->n_nodes;
    assert_int_equal(times->n_works, graph->n_works);
    for (uint32_t v = 0; v < 3; v++) {
        uint32_t work = graph->nodes[v].work;
        for (uint32_t c = 0; c < 2; c++)
            seen_s[v][c] = times->time_s[c * times->n_works + work];
        seen_flags[v] = graph->nodes[v].flags;
        seen_of_work[v] = graph->works[work].n_nodes;
    }
    seen_known = dfr_times_known(graph, times, platform);
    return dfp_planner.make(graph, platform, times, policy, plan, error);
}

static const struct df_planner looker = { .make = look };

static int run(const struct df_graph *graph, const char *policy, const struct df_planner *planner, bool both,
               struct df_error *error)
{
    static int64_t given[2][WAVES * K], out[WAVES * K];
    const struct df_buffer buffers[] = {
        { .node = "main/join", .data = out, .bytes = sizeof out },
        { .node = "main/make#1", .data = given[0], .bytes = sizeof given[0], .given = 1 },
        { .node = "main/make#2", .data = given[1], .bytes = sizeof given[1], .given = 1 },
    };
    struct df_options o;
    struct df_run *running;
    int status;

    for (int w = 0; w < WAVES; w++)
        for (int i = 0; i < K; i++) {
            given[0][w * K + i] = 7 + w;
            given[1][w * K + i] = w;
        }
    df_options_default(&o);
    o.device = DF_DEVICE_EMU;
    o.policy = policy;
    o.planner = planner;
    o.waves = WAVES;
    o.workers = 2;
    o.log_level = DF_LOG_ERROR;
    o.buffers = buffers;
    o.n_buffers = both ? 3 : 2;
    memset(out, 0, sizeof out);
    status = df_run_start(graph, &o, &running, error);
    if (status == DF_OK)
        status = df_run_wait(running, NULL, error);
    for (int w = 0; w < WAVES && status == DF_OK; w++)
        for (int i = 0; i < K; i++)
            assert_int_equal(out[w * K + i], 10 * (7 + w) + w);
    return status;
}

static void a_given_source_costs_nothing_on_the_host(void **state)
{
    struct df_graph *graph = make_graph(true, 5e-3, true);
    struct df_error error = { "" };

    (void)state;
    if (run(graph, "gp", &looker, false, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(seen_nodes, 3);
    assert_true(seen_s[0][0] == 0 && isnan(seen_s[0][1]));
    assert_true(seen_flags[0] & DF_NODE_ZERO_COST);
    assert_int_equal(seen_of_work[0], 1);
    assert_true(seen_s[1][0] == 5e-3 && isnan(seen_s[1][1]));
    assert_false(seen_flags[1] & DF_NODE_ZERO_COST);
    assert_int_equal(seen_of_work[1], 1);
    assert_true(seen_s[2][0] == 1e-3 && seen_s[2][1] == 1e-4);
    assert_true(seen_known);
    df_graph_free(graph);
}

static void it_needs_no_variant_and_no_time(void **state)
{
    static const char *const policies[] = { "gp", "gp-thesis", "heft", "peft", "all-gpu", "all-cpu", "dmda" };
    struct df_graph *graph = make_graph(false, NAN, true);

    (void)state;
    for (unsigned p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        struct df_error error = { "" };
        if (run(graph, policies[p], &looker, true, &error) != DF_OK)
            fail_msg("%s: %s", policies[p], error.text);
        assert_int_equal(run(graph, policies[p], &looker, false, &error), DF_E_REFUSED);
        assert_non_null(strstr(error.text, "node 'main/make#2' (kernel 'make') cannot run: "));
    }
    assert_true(seen_known);
    df_graph_free(graph);
}

static void without_a_planner_gp_is_refused(void **state)
{
    struct df_graph *graph = make_graph(true, NAN, true);
    struct df_error error = { "" };

    (void)state;
    assert_int_equal(run(graph, "gp", NULL, false, &error), DF_E_REFUSED);
    assert_string_equal(error.text, "policy 'gp' needs a plan, and there is none; this program has no planner to make one "
                                    "(df_plan.h has it)");
    df_graph_free(graph);
}

/* The stated default says that a GPU is quicker. */
static void an_emulated_gpu_is_as_quick_as_a_core(void **state)
{
    static struct { bool stated; double gpu_s; } const cases[] = { { false, 0 }, { true, 1e-4 } };

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct df_graph *graph = make_graph(true, NAN, cases[i].stated);
        uint32_t work = graph->nodes[2].work, n_works = graph->n_works;
        struct df_options o;
        struct df_run *running;
        df_options_default(&o);
        o.device = DF_DEVICE_EMU;
        o.policy = "dmda";
        o.waves = 1;
        o.workers = 1;
        assert_int_equal(df_run_start(graph, &o, &running, NULL), DF_OK);
        double cpu_s = running->choice.time_s[work], launch_s = running->machine.platform.units[1].launch_s;
        double gpu_s = cases[i].stated ? cases[i].gpu_s : cpu_s;
        assert_true(cpu_s > 0 && fabs(running->choice.time_s[n_works + work] - launch_s - gpu_s) < 1e-12);
        assert_int_equal(df_run_wait(running, NULL, NULL), DF_OK);
        df_graph_free(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_given_source_costs_nothing_on_the_host),
        cmocka_unit_test(it_needs_no_variant_and_no_time),
        cmocka_unit_test(without_a_planner_gp_is_refused),
        cmocka_unit_test(an_emulated_gpu_is_as_quick_as_a_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
