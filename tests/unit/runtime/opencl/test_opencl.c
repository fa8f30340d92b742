/* test_opencl.c - the operations of the OpenCL back end on the first device that there is, PoCL's in most places. Without a driver it says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/start/back_ends.h"
#include "runtime/df_opencl.h"
#include "runtime/threads/clock.h"

#define BYTES (1u << 20)
#define N 4096u

static const struct dfr_device_ops *ops;

static const char text[] = "__kernel void add(__global const float *a, __global float *b, long from, float x, __local float *l)\n"
                           "{\n    size_t i = get_global_id(0);\n    l[get_local_id(0)] = a[i];\n    b[from + i] = l[get_local_id(0)] + x;\n}\n";
static const struct df_cl_source source = { .name = "add.cl", .text = text, .bytes = sizeof text - 1 };

static void need_device(void)
{
    struct df_error error = { "" };
#ifdef __SANITIZE_THREAD__
    print_message("drivers synchronise out of this tool's sight\n");
    skip();
#endif
    ops = dfr_back_end_of(DF_DEVICE_OPENCL);
    if (ops && ops->count(&error) > 0)
        return;
    print_message("no OpenCL device: %s\n", ops ? error.text : "built without OpenCL");
    skip();
}

static struct dfr_device *open_device(void)
{
    struct df_unit unit = { .name = "" };
    struct dfr_device_config config = { .unit = &unit, .pool_bytes = 4 * BYTES, .compute_streams = 2, .times = true };
    struct dfr_device *device;
    struct df_error error = { "" };

    assert_int_equal(ops->describe(0, &unit, &error), DF_OK);
    assert_true(unit.memory_bytes > 4 * BYTES && unit.name[0]);
    if (ops->open(0, &config, &device, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal((uintptr_t)ops->pool(device) % 4096, 0);
    return device;
}

static void wait_for(struct dfr_device *device, struct dfr_event *event)
{
    struct df_error error = { "" };
    if (dfr_event_wait(device, event, 30, &error) != DF_OK)
        fail_msg("%s", error.text);
}

/* Bytes go to the device, within it and back, in the order that events give. */
static void test_round_trip(void **state)
{
    struct dfr_event *up, *within, *down;
    struct df_error error = { "" };
    double begin_s, end_s;

    (void)state;
    need_device();
    struct dfr_device *device = open_device();
    unsigned char *pool = ops->pool(device), *host = ops->host_alloc(2 * BYTES, &error);
    assert_non_null(host);
    assert_int_equal((uintptr_t)host % 4096, 0);
    for (uint32_t i = 0; i < BYTES; i++)
        host[i] = (unsigned char)(i * 2654435761u >> 24);
    memset(host + BYTES, 0, BYTES);
    assert_int_equal(ops->event_create(device, &up, &error), DF_OK);
    assert_int_equal(ops->event_create(device, &within, &error), DF_OK);
    assert_int_equal(ops->event_create(device, &down, &error), DF_OK);
    wait_for(device, up);               /* never recorded */
    assert_false(ops->event_times(device, up, &begin_s, &end_s));

    const struct dfr_transfer halves[] = { { pool, host, BYTES / 2 }, { pool + BYTES / 2, host + BYTES / 2, BYTES / 2 } };
    assert_int_equal(ops->copy_batch(device, DFR_COPY_H2D, halves, 2, DFR_STREAM_H2D, &error), DF_OK);
    assert_int_equal(ops->event_record(device, up, DFR_STREAM_H2D, &error), DF_OK);
    assert_int_equal(ops->stream_wait(device, DFR_STREAM_COMPUTE + 1, up, &error), DF_OK);
    assert_int_equal(ops->copy(device, DFR_COPY_D2D, pool + 2 * BYTES + 4, pool, BYTES - 4, DFR_STREAM_COMPUTE + 1, &error), DF_OK);
    assert_int_equal(ops->event_record(device, within, DFR_STREAM_COMPUTE + 1, &error), DF_OK);
    assert_int_equal(ops->stream_wait(device, DFR_STREAM_D2H, within, &error), DF_OK);
    assert_int_equal(ops->copy(device, DFR_COPY_D2H, host + BYTES, pool + 2 * BYTES + 4, BYTES - 4, DFR_STREAM_D2H, &error), DF_OK);
    assert_int_equal(ops->event_record(device, down, DFR_STREAM_D2H, &error), DF_OK);
    wait_for(device, down);
    assert_memory_equal(host, host + BYTES, BYTES - 4);
    assert_true(ops->event_times(device, up, &begin_s, &end_s));
    assert_true(begin_s >= 0 && begin_s < end_s && end_s < 60);
    assert_int_equal(ops->copy(device, DFR_COPY_H2D, pool, host, BYTES, 9, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "opencl0: no stream 9");
    assert_int_equal(ops->drain(device, &error), DF_OK);
    assert_false(ops->faulted(device));
    ops->event_destroy(device, up);
    ops->event_destroy(device, within);
    ops->event_destroy(device, down);
    ops->close(device);
    ops->host_free(host, 2 * BYTES);
}

/* More pieces of the pool than the table has places for: those that work still uses stay. */
static void test_pieces(void **state)
{
    static uint32_t host[2][8192];
    struct df_error error = { "" };

    (void)state;
    need_device();
    struct dfr_device *device = open_device();
    unsigned char *pool = ops->pool(device);
    for (uint32_t i = 0; i < 2; i++)    /* so that the table gets full between the two pieces of one copy */
        assert_int_equal(ops->copy(device, DFR_COPY_H2D, pool + 8192 * i, host, 3 * 4096, DFR_STREAM_COMPUTE, &error), DF_OK);
    for (uint32_t round = 1; round < 17; round++)
        for (uint32_t page = 0; page < 511; page++) {
            host[0][page] = page * 7 + round;
            unsigned char *from = pool + 4096 * page + 128 * round, *to = from + 4096 * 512;
            assert_int_equal(ops->copy(device, DFR_COPY_H2D, from, &host[0][page], 4, DFR_STREAM_COMPUTE, &error), DF_OK);
            assert_int_equal(ops->copy(device, DFR_COPY_D2D, to, from, 4096, DFR_STREAM_COMPUTE, &error), DF_OK);
            assert_int_equal(ops->copy(device, DFR_COPY_D2H, &host[1][page], to, 4, DFR_STREAM_COMPUTE, &error), DF_OK);
            if (page % 256 == 255)
                assert_int_equal(ops->drain(device, &error), DF_OK);
        }
    assert_int_equal(ops->drain(device, &error), DF_OK);
    assert_memory_equal(host[0], host[1], 511 * sizeof **host);
    ops->close(device);
}

/* Each benchmark loop runs, and STREAM leaves the expected values. */
static void test_gauges(void **state)
{
    static double host[3][BYTES / 8];
    struct dfr_event *event;
    struct df_error error = { "" };
    double work, begin_s, end_s;

    (void)state;
    need_device();
    struct dfr_device *device = open_device();
    unsigned char *pool = ops->pool(device);
    assert_int_equal(ops->event_create(device, &event, &error), DF_OK);
    for (uint32_t i = 0; i < BYTES / 8; i++)
        host[0][i] = i;
    for (int gauge = 0; gauge < DFR_GAUGES; gauge++) {
        assert_int_equal(ops->copy(device, DFR_COPY_H2D, pool, host[0], BYTES, DFR_STREAM_COMPUTE, &error), DF_OK);
        if (ops->gauge(device, (enum dfr_gauge)gauge, BYTES, 2, DFR_STREAM_COMPUTE, &work, &error) != DF_OK) {
            assert_non_null(strstr(error.text, "lacks double")); /* then the device has none */
            skip();
        }
        assert_true(work > 0);
        assert_int_equal(ops->event_record(device, event, DFR_STREAM_COMPUTE, &error), DF_OK);
        wait_for(device, event);
        assert_true(ops->event_times(device, event, &begin_s, &end_s));
        assert_true(begin_s < end_s);
        if (gauge == DFR_GAUGE_SCALE) { /* c was copied from a, and b is three times that */
            assert_int_equal(ops->copy(device, DFR_COPY_D2H, host[1], pool + BYTES, BYTES, DFR_STREAM_COMPUTE, &error), DF_OK);
            assert_int_equal(ops->drain(device, &error), DF_OK);
            for (uint32_t i = 0; i < BYTES / 8; i++)
                assert_true(host[1][i] == 3.0 * i);
        }
    }
    assert_int_equal(ops->gauge(device, DFR_GAUGE_COPY, UINT64_C(1) << 50, 1, DFR_STREAM_COMPUTE, &work, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "opencl0: its driver gives no buffer that is large enough to measure it");
    ops->event_destroy(device, event);
    ops->close(device);
}

/* A pool that no machine has, and a device that is not there. */
static void test_refused(void **state)
{
    struct df_unit unit = { .name = "" };
    struct dfr_device_config config = { .unit = &unit, .pool_bytes = UINT64_C(1) << 50, .compute_streams = 1 };
    struct dfr_device *device;
    struct df_error error;

    (void)state;
    need_device();
    assert_int_equal(ops->open(0, &config, &device, &error), DF_E_MEMORY);
    assert_non_null(strstr(error.text, "its pool of 1073741824.0 MiB"));
    assert_true(ops->segment_bytes(0) > 0 && ops->segment_bytes(0) % 4096 == 0);
    assert_int_equal(ops->segment_bytes(99), 0);
    config.pool_bytes = BYTES;
    config.compute_streams = 0;
    assert_int_equal(ops->open(0, &config, &device, &error), DF_E_ARGUMENT);
    assert_int_equal(ops->open(99, &config, &device, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "there is no OpenCL device 99");
    assert_int_equal(ops->describe(99, &unit, &error), DF_E_DEVICE);
}

/* ---- launches, in a run ---- */

static struct df_cl_arg arguments[4];
static unsigned n_arguments;
static uint32_t items;
static const char *kernel_name;
static int inexact;                     /* of the options */
static float wrong;                     /* what the sink has seen that is not what it should be */

static int make(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)scalars;
    for (uint32_t i = 0; i < N; i++)
        ((float *)ports[0])[i] = (float)i;
    return DF_OK;
}

static int add(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    static const float x = 0.5f;
    const struct df_cl_arg well[] = { { .port = ports[0] }, { .port = (float *)ports[1] + 32, .bytes = sizeof(float), .first = -32 },
                                      { .value = &x, .bytes = sizeof x }, { .bytes = items * sizeof(float) } };
    (void)dims, (void)scalars;
    memcpy(arguments, well, sizeof well);
    if (n_arguments == 5)
        arguments[0].port = (float *)ports[0] + 1;
    if (n_arguments == 6)
        arguments[0].port = &x;
    return df_cl_launch(call, stream, kernel_name, (uint32_t[3]){ (N + items - 1) / items, 1, 1 }, (uint32_t[3]){ items, 1, 1 }, arguments, n_arguments < 4 ? n_arguments : 4);
}

static int look(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)scalars;
    for (uint32_t i = 0; i < N; i++)
        if (((float *)ports[0])[i] != (float)i + 0.5f)
            wrong = ((float *)ports[0])[i];
    return DF_OK;
}

static int run(const struct df_cl_source *of, const char *policy, struct df_error *error)
{
    const struct df_port_desc ports[] = { { "a", DF_OUT, DF_F32, 1 }, { "a", DF_IN, DF_F32, 1 }, { "b", DF_OUT, DF_F32, 1 } };
    const struct df_kernel_desc kernels[] = {
        { .name = "make", .n_ports = 1, .ports = ports, .functions = { .cpu = make } },
        { .name = "add", .n_ports = 2, .ports = ports + 1, .functions = { .opencl = add, .opencl_source = of } },
        { .name = "look", .n_ports = 1, .ports = ports + 1, .functions = { .cpu = look } },
    };
    const uint64_t extents[2][DF_MAX_RANK] = { { N }, { N } };
    struct df_builder *builder = df_builder_new("test");
    struct df_options options;
    struct df_graph *graph;
    struct df_run *started;

    for (uint32_t k = 0; k < 3; k++) {
        uint32_t kernel, node;
        assert_int_equal(df_builder_kernel(builder, &kernels[k], &kernel, error), DF_OK);
        assert_int_equal(df_builder_node(builder, kernel, NULL, extents, NULL, &node, error), DF_OK);
    }
    assert_int_equal(df_builder_connect(builder, 0, 0, 1, 0, error), DF_OK);
    assert_int_equal(df_builder_connect(builder, 1, 0, 2, 0, error), DF_OK);
    assert_int_equal(df_builder_finish(builder, &graph, error), DF_OK);
    df_options_default(&options);
    options.device = DF_DEVICE_OPENCL;
    options.policy = policy;
    options.waves = 5;
    options.inexact = inexact;
    options.gpu_mem_bytes = 64 << 10;
    wrong = 0;
    int status = df_run_start(graph, &options, &started, error);
    if (status == DF_OK)
        status = df_run_wait(started, NULL, error);
    df_graph_free(graph);
    df_builder_free(builder);
    return status;
}

/* How add() launches from now on. */
static void launch_with(const char *kernel, unsigned n, uint32_t in_group)
{
    kernel_name = kernel;
    n_arguments = n;
    items = in_group;
}

static void test_launch(void **state)
{
    struct df_error error = { "" };

    (void)state;
    need_device();
    launch_with("add", 4, 64);
    if (run(&source, "dmda", &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(wrong == 0);
    if (run(&source, "eager", &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(wrong == 0);
}

/* What host code does wrong fails its job, by name; a later run is well. */
static void test_wrong_launches(void **state)
{
    static const struct {
        const char *kernel;
        unsigned n_arguments;
        uint32_t items;
        const char *says;
    } cases[] = {
        { "ad", 4, 64, "launching 'ad': opencl0: there is no kernel 'ad' in add.cl" },
        { "add", 3, 64, "launching 'add': opencl0: launching it: CL_INVALID_KERNEL_ARGS (-52)" },
        { "add", 5, 64, "port 'a' begins at byte 4 of its memory here, where a kernel of OpenCL cannot be given a pointer to" },
        { "add", 6, 64, "parameter 0 of a kernel is no port of it" },
        { "add", 4, N << 8, "launching 'add': opencl0: " },
    };
    struct df_error error;

    (void)state;
    need_device();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        launch_with(cases[i].kernel, cases[i].n_arguments, cases[i].items);
        if (run(&source, "dmda", &error) != DF_E_KERNEL)
            fail_msg("case %zu: no failure", i);
        assert_non_null(strstr(error.text, "add"));
        if (!strstr(error.text, cases[i].says))
            fail_msg("%s", error.text);
    }
    test_launch(state);
}

/* A source that the driver cannot compile, and one that needs what the device may lack. */
static void test_build_errors(void **state)
{
    static const char bad[] = "#line 7 \"bad.cl\"\n__kernel void add(__global float *a)\n{\n    a[0] = nonsense;\n}\n";
    const struct df_cl_source not_built = { .name = "bad.cl", .text = bad, .bytes = sizeof bad - 1 };
    const struct df_cl_source optioned = { .name = "add.cl", .text = text, .bytes = sizeof text - 1, .options = "-DX=1", .needs = DF_CL_FP64 | DF_CL_EXACT };
    const struct df_cl_source exact = { .name = "add.cl", .text = text, .bytes = sizeof text - 1, .needs = DF_CL_EXACT };
    struct df_error error = { "" };

    (void)state;
    need_device();
    launch_with("add", 4, 64);
    assert_int_equal(run(&not_built, "dmda", &error), DF_E_DEVICE);
    assert_non_null(strstr(error.text, "opencl0: its driver cannot compile bad.cl: "));
    assert_non_null(strstr(error.text, "bad.cl:9:12"));
    if (run(&optioned, "dmda", &error) == DF_OK)
        assert_true(wrong == 0);
    else                                /* e2e-opencl has such a device */
        assert_non_null(strstr(error.text, ") lacks double, with denormals"));
    if (run(&exact, "dmda", &error) != DF_OK) {
        print_message("%s\n", error.text);
        assert_non_null(strstr(error.text, ") lacks denormals or correctly rounded division of float: results would differ from the CPU's (--inexact allows it)"));
        inexact = 1;
        assert_int_equal(run(&exact, "dmda", &error), DF_OK);
        inexact = 0;
    }
    assert_true(wrong == 0);
}

/* Comes first: drivers are loaded once. LLVM, which PoCL has, puts handlers over those of a process. */
static void test_handlers_stay(void **state)
{
    static const int signals[] = { SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGQUIT };
    const struct sigaction ours = { .sa_handler = SIG_IGN };
    struct sigaction before[sizeof signals / sizeof *signals], now;
    (void)state;

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], signals[i] == SIGUSR1 ? &ours : NULL, &before[i]);
    need_device();
    before[3] = ours;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], NULL, &now);
        assert_ptr_equal(now.sa_handler, before[i].sa_handler);
    }
    signal(SIGUSR1, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handlers_stay),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_gauges),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_wrong_launches),
        cmocka_unit_test(test_build_errors),
    };
    return cmocka_run_group_tests_name("opencl", tests, NULL, NULL);
}
