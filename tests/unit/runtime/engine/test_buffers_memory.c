/* test_buffers_memory.c - a run with the caller's buffers. Each place that allocates fails, one at a time: the start
 * says that there is no memory, or the results are the same, and nothing leaks. The same with a given source that a
 * planner places.
 */
#include "failing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "partition/df_plan.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/graph.h"

#if FAILING
enum { K = 8, WAVES = 2 };

static int make(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    (void)stream, (void)scalars;
    for (size_t i = 0; i < dims[0]; i++)
        ((int64_t *)ports[0])[i] = df_wave(call) * 100 + (int64_t)i;
    return DF_OK;
}

static struct df_graph *make_graph(void)
{
    static const struct df_port_desc port = { "a", DF_OUT, DF_I64, 1 };
    static const char *const dims[] = { "k" };
    static const uint64_t extents[] = { K }, port_extents[1][DF_MAX_RANK] = { { K } };
    const struct df_kernel_desc desc = { .name = "make", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &port,
                                         .functions = { .cpu = make } };
    struct df_builder *builder = df_builder_new("g");
    struct df_graph *graph;
    struct df_error error;
    uint32_t kernel, node;
    assert_int_equal(df_builder_kernel(builder, &desc, &kernel, &error), DF_OK);
    assert_int_equal(df_builder_node(builder, kernel, extents, port_extents, NULL, &node, &error), DF_OK);
    assert_int_equal(df_builder_finish(builder, &graph, &error), DF_OK);
    df_builder_free(builder);
    return graph;
}
struct work {
    const struct df_graph *graph;
    struct df_options options;
    int64_t tokens[WAVES * K];
    int status;
    struct df_error error;
};

static void run(void *arg)
{
    static struct df_stats stats;
    struct work *w = arg;
    struct df_run *started;

    memset(w->tokens, 0, sizeof w->tokens);
    if (w->options.buffers->given)
        w->tokens[WAVES * K - 1] = (WAVES - 1) * 100 + K - 1;
    w->error.text[0] = '\0';
    w->status = df_run_start(w->graph, &w->options, &started, &w->error);
    if (w->status == DF_OK)
        w->status = df_run_wait(started, &stats, &w->error);
    if (w->status == DF_OK)
        assert_int_equal(w->tokens[WAVES * K - 1], (WAVES - 1) * 100 + K - 1);
}
#endif

static void fail_each(const char *policy, int given)
{
#if FAILING
    static struct work w;
    const struct df_buffer buffer = { .node = "main/make", .data = w.tokens, .bytes = sizeof w.tokens, .given = given };
    struct df_graph *graph = make_graph();
    uint32_t n_refused = 0;

    w.graph = graph;
    df_options_default(&w.options);
    w.options.policy = policy;
    w.options.planner = &dfp_planner;
    w.options.device = DF_DEVICE_NONE;
    w.options.workers = 1;
    w.options.waves = WAVES;
    w.options.log_level = DF_LOG_ERROR;
    w.options.buffers = &buffer;
    w.options.n_buffers = 1;
    failing_learn(run, &w);
    assert_int_equal(w.status, DF_OK);
    assert_true(failing_n > 0 && failing_n < FAILING_PLACES);
    long kept = failing_n_live;
    for (uint32_t place = 0; place < failing_n; place++) {
        failing_set(place, 1);
        run(&w);
        failing_end();
        if (w.status != DF_OK && (w.status != DF_E_MEMORY || !strstr(w.error.text, "memory")))
            fail_msg("place %p: status %d, '%s'", failing_places[place].address, w.status, w.error.text);
        assert_int_equal(failing_n_live, kept);
        n_refused += w.status != DF_OK;
    }
    assert_true(n_refused > 10);
    df_graph_free(graph);
#else
    (void)policy, (void)given;
    skip();
#endif
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    fail_each("ws", 0);
}

static void each_allocation_for_a_given_source_may_fail(void **state)
{
    (void)state;
    fail_each("gp", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_allocation_may_fail),
                                        cmocka_unit_test(each_allocation_for_a_given_source_may_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
