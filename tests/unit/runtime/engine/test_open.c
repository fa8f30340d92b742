/* test_open.c - df_open() in graphs that are built by hand: for which jobs it opens anew, what it passes on, when it
 * closes, and what it says of failures. e2e-open tests what dfc makes of `open` and `close`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/engine/call.h"
#include "runtime/engine/engine.h"

enum { NODES = 4, WAVES = 40, MOST = 64 };

static struct opened {
    size_t dim;
    int32_t number;
    const char *text;
    bool closed;
} opened[MOST];
static _Atomic uint32_t n_opened, n_wrong;
static bool fails;

static int make(struct df_call *call, const size_t *dims, const union df_scalar *scalars, void **state)
{
    uint32_t i = n_opened++;
    if (i >= MOST || scalars[0].i32 == 9)
        return df_fail(call, "not for %d", (int)scalars[0].i32);
    if (scalars[0].i32 == 10)
        return 77;
    opened[i] = (struct opened){ .dim = dims[0], .number = scalars[0].i32, .text = strdup(scalars[1].str) };
    *state = &opened[i];
    return DF_OK;
}

static void end(void *state)
{
    struct opened *o = state;
    n_wrong += o->closed;
    o->closed = true;
}

static int kernel(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                  const union df_scalar *scalars)
{
    struct opened *o;
    (void)stream;
    if (df_open(call, make, end) != DF_OK)
        return DF_FAILED;
    o = df_opened(call);
    n_wrong += o->closed || o->dim != dims[0] || o->number != scalars[0].i32 || strcmp(o->text, scalars[1].str) != 0;
    memset(ports[0], 0, dims[0]);
    return fails && df_wave(call) == WAVES / 2 ? df_fail(call, "half of it") : DF_OK;
}

static const struct df_port_desc port = { "a", DF_OUT, DF_U8, 1 };

/* A graph of sources with these extents and numbers; the second number and the text are args. */
static struct df_graph *make_graph(const uint64_t *extents, const int32_t *numbers)
{
    static const char *const dim = "n";
    static const struct df_scalar_desc scalars[] = { { "number", DF_S_I32 }, { "text", DF_S_STR } };
    const struct df_kernel_desc desc = {
        .name = "k", .n_dims = 1, .dims = &dim, .n_ports = 1, .ports = &port, .n_scalars = 2, .scalars = scalars,
        .functions = { .cpu = kernel, .gpu = kernel },
    };
    struct df_error error = { "" };
    struct df_builder *builder = df_builder_new("open");
    struct df_graph *graph = NULL;
    uint32_t id, node;
    int status = df_builder_kernel(builder, &desc, &id, &error);
    for (int i = 0; i < NODES && status == DF_OK; i++) {
        const uint64_t extent[1][DF_MAX_RANK] = { { extents[i] } };
        const union df_scalar values[] = { { .i32 = numbers[i] }, { .str = i % 2 ? "odd" : "even" } };
        status = df_builder_node(builder, id, &extents[i], extent, values, &node, &error);
    }
    if (status == DF_OK)
        status = df_builder_finish(builder, &graph, &error);
    if (status != DF_OK)
        fail_msg("%s", error.text);
    df_builder_free(builder);
    return graph;
}

static int run(const uint64_t *extents, const int32_t *numbers, const struct df_options *options, struct df_error *error)
{
    struct df_graph *graph = make_graph(extents, numbers);
    struct df_run *started;
    struct df_options o = *options;
    int status;

    o.waves = WAVES;
    n_opened = n_wrong = 0;
    memset(opened, 0, sizeof opened);
    status = df_run_start(graph, &o, &started, error);
    if (status == DF_OK)
        status = df_run_wait(started, NULL, error);
    df_graph_free(graph);
    assert_int_equal(n_wrong, 0);
    for (uint32_t i = 0; i < n_opened && i < MOST; i++) {
        assert_true(opened[i].closed || !opened[i].text);
        free((char *)opened[i].text);
    }
    return status;
}

static const uint64_t extents[] = { 8, 8, 16, 8 };
static const int32_t numbers[] = { 1, 1, 1, 1 }; /* works: (8, even), (8, odd), (16, even) */

static void once_for_each_worker_and_work(void **state)
{
    static const char *const policies[] = { "all-cpu", "ws", "eager", "dmda" };
    struct df_error error = { "" };
    (void)state;
    for (unsigned p = 0; p < 4; p++)
        for (unsigned workers = 1; workers <= 3; workers++) {
            struct df_options o = rig_options(policies[p], DF_DEVICE_NONE, workers);
            assert_int_equal(run(extents, numbers, &o, &error), DF_OK);
            assert_in_range(n_opened, 3, 3 * workers);
        }
}

static void once_for_each_stream_and_work(void **state)
{
    struct df_error error = { "" };
    (void)state;
    for (unsigned jobs = 1; jobs <= 3; jobs++)
        for (int graphs = DF_GRAPHS_AUTO; graphs <= DF_GRAPHS_OFF; graphs++) {
            struct df_options o = rig_options("all-gpu", DF_DEVICE_EMU, 1);
            o.gpu_jobs = jobs;
            o.cuda_graphs = graphs;
            assert_int_equal(run(extents, numbers, &o, &error), DF_OK);
            assert_in_range(n_opened, 3, 3 * jobs);
        }
}

static void failures_close_what_is_open(void **state)
{
    struct df_error error = { "" };
    (void)state;
    fails = true;
    for (int device = 0; device < 2; device++) {
        struct df_options o = device ? rig_options("all-gpu", DF_DEVICE_EMU, 1) : rig_options("ws", DF_DEVICE_NONE, 2);
        assert_int_equal(run(extents, numbers, &o, &error), DF_E_KERNEL);
        assert_non_null(strstr(error.text, ", wave 20: half of it"));
    }
    fails = false;
}

static void a_failed_open_is_the_jobs_failure(void **state)
{
    const int32_t refused[] = { 1, 9, 1, 1 }, coded[] = { 10, 10, 10, 10 };
    struct df_error error = { "" };
    (void)state;
    for (int device = 0; device < 2; device++) {
        struct df_options o = device ? rig_options("all-gpu", DF_DEVICE_EMU, 1) : rig_options("ws", DF_DEVICE_NONE, 1);
        assert_int_equal(run(extents, refused, &o, &error), DF_E_KERNEL);
        assert_non_null(strstr(error.text, "wave 0: not for 9"));
        assert_int_equal(run(extents, coded, &o, &error), DF_E_KERNEL);
        assert_non_null(strstr(error.text, "wave 0: its open function gave 77"));
    }
}

/* As on CUDA, where host code runs while a launch is recorded: nothing is opened then, and the launch is done again. */
static void nothing_opens_in_a_recording(void **state)
{
    const struct dfr_device_ops ops = { .results_at_once = true };
    struct dfr_device device = { &ops };
    struct df_graph *graph = make_graph(extents, numbers);
    struct df_run *run = aligned_alloc(64, (sizeof *run + 63) / 64 * 64);
    union df_scalar scalars[] = { { .i32 = 1 }, { .str = "even" } };
    struct dfr_opened row = { NULL };
    struct df_call call = { .run = run, .job = dfr_job(0, 0), .device = &device, .opened = &row, .recorded = true };
    (void)state;
    assert_non_null(run);
    memset(run, 0, sizeof *run);
    run->graph = graph;
    run->memory.scalars = scalars - graph->works[graph->nodes[0].work].first_scalar;
    n_opened = 0;
    assert_int_equal(df_open(&call, make, end), DF_FAILED);
    assert_true(call.varies && !call.failed && n_opened == 0);
    assert_null(df_opened(&call));
    call.recorded = false;
    assert_int_equal(df_open(&call, make, end), DF_OK);
    assert_ptr_equal(df_opened(&call), &opened[0]);
    call.recorded = true;
    assert_int_equal(df_open(&call, make, end), DF_OK);
    assert_int_equal(n_opened, 1);
    dfr_opened_close(&row, graph);
    assert_true(opened[0].closed);
    dfr_opened_close(&row, graph);
    free((char *)opened[0].text);
    df_graph_free(graph);
    free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once_for_each_worker_and_work),
        cmocka_unit_test(once_for_each_stream_and_work),
        cmocka_unit_test(failures_close_what_is_open),
        cmocka_unit_test(a_failed_open_is_the_jobs_failure),
        cmocka_unit_test(nothing_opens_in_a_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
