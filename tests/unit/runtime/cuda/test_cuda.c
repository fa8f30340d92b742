/* test_cuda.c - the CUDA back end, as far as it can be tested without kernels of its own. It starts on any machine
 * and says what it found. If there is a GPU, bytes go there and back, in stream order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/threads/clock.h"
#include "runtime/device/device.h"
#include "runtime/start/back_ends.h"
#include "runtime/engine/engine.h"

#define BYTES (1u << 20)

static const struct dfr_device_ops *ops;

/* Every test but the first needs a GPU. */
static void need_gpu(void)
{
    struct df_error error = {""};

    ops = dfr_back_end_of(DF_DEVICE_CUDA);
    if (ops == NULL || ops->count(&error) == 0) {
        print_message("no GPU: %s\n", ops == NULL ? "built without CUDA" : error.text);
        skip();
    }
}

static void test_count_says_why(void **state)
{
    const struct dfr_device_ops *cuda = dfr_back_end_of(DF_DEVICE_CUDA);
    struct df_error error = {""};

    (void)state;
    assert_ptr_equal(cuda, dfr_back_end_of(DF_DEVICE_AUTO));
    if (cuda == NULL)
        skip(); /* built without CUDA: the weak reference stays empty */
    assert_string_equal(cuda->name, "cuda");
    assert_false(cuda->runs_cpu_code);
    if (cuda->count(&error) == 0) {
        struct df_unit unit = {.workers = 1};
        struct dfr_device_config config = {.unit = &unit, .pool_bytes = BYTES, .compute_streams = 1};
        struct dfr_device *device = NULL;

        print_message("%s\n", error.text);
        assert_true(strlen(error.text) > 10);
        assert_int_equal(cuda->count(&error), 0); /* again, as it was */
        error.text[0] = '\0';
        assert_int_equal(cuda->describe(0, &unit, &error), DF_E_DEVICE);
        assert_non_null(strstr(error.text, "cuda0: "));
        error.text[0] = '\0';
        assert_int_equal(cuda->open(0, &config, &device, &error), DF_E_DEVICE);
        assert_non_null(strstr(error.text, "cuda0: "));
        assert_null(device);
        error.text[0] = '\0';
        assert_null(cuda->host_alloc(BYTES, &error));
        assert_non_null(strstr(error.text, "1.0 MiB of pinned host memory"));
    }
}

static struct dfr_device *open_device(uint32_t compute_streams)
{
    static struct df_unit unit;
    struct dfr_device_config config = {.unit = &unit, .pool_bytes = 4 * BYTES, .compute_streams = compute_streams,
                                       .times = true};
    struct dfr_device *device;
    struct df_error error = {""};

    assert_int_equal(ops->describe(0, &unit, &error), DF_OK);
    assert_true(unit.memory_bytes > 4 * BYTES && unit.name[0] != '\0');
    if (ops->open(0, &config, &device, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal((uintptr_t)ops->pool(device) % 4096, 0);
    return device;
}

static bool wait_complete(struct dfr_device *device, struct dfr_event *event)
{
    double end_s = dfr_clock_s() + 10;
    struct df_error error;
    bool complete = false;

    while (!complete && dfr_clock_s() < end_s)
        assert_int_equal(ops->event_query(device, event, &complete, &error), DF_OK);
    return complete;
}

static void test_round_trip(void **state)
{
    struct dfr_device *device;
    struct dfr_event *up, *within, *down;
    struct df_error error = {""};
    unsigned char *host, *pool;
    double begin_s, end_s;

    (void)state;
    need_gpu();
    device = open_device(2);
    pool = ops->pool(device);
    host = ops->host_alloc(2 * BYTES, &error);
    assert_non_null(host);
    for (uint32_t i = 0; i < BYTES; i++)
        host[i] = (unsigned char)(i * 2654435761u >> 24);
    memset(host + BYTES, 0, BYTES);
    assert_int_equal(ops->event_create(device, &up, &error), DF_OK);
    assert_int_equal(ops->event_create(device, &within, &error), DF_OK);
    assert_int_equal(ops->event_create(device, &down, &error), DF_OK);
    assert_true(wait_complete(device, up)); /* never recorded */

    assert_int_equal(ops->copy(device, DFR_COPY_H2D, pool, host, BYTES, DFR_STREAM_H2D, &error), DF_OK);
    assert_int_equal(ops->event_record(device, up, DFR_STREAM_H2D, &error), DF_OK);
    assert_int_equal(ops->stream_wait(device, DFR_STREAM_COMPUTE + 1, up, &error), DF_OK);
    assert_int_equal(ops->copy(device, DFR_COPY_D2D, pool + 2 * BYTES, pool, BYTES, DFR_STREAM_COMPUTE + 1, &error),
                     DF_OK);
    assert_int_equal(ops->event_record(device, within, DFR_STREAM_COMPUTE + 1, &error), DF_OK);
    assert_int_equal(ops->stream_wait(device, DFR_STREAM_D2H, within, &error), DF_OK);
    assert_int_equal(ops->copy(device, DFR_COPY_D2H, host + BYTES, pool + 2 * BYTES, BYTES, DFR_STREAM_D2H, &error),
                     DF_OK);
    assert_int_equal(ops->event_record(device, down, DFR_STREAM_D2H, &error), DF_OK);
    assert_true(wait_complete(device, down));
    assert_memory_equal(host, host + BYTES, BYTES);
    assert_true(ops->event_times(device, up, &begin_s, &end_s));
    assert_true(begin_s >= 0 && begin_s < end_s && end_s < 60);
    assert_int_equal(ops->drain(device, &error), DF_OK);

    ops->event_destroy(device, up);
    ops->event_destroy(device, within);
    ops->event_destroy(device, down);
    ops->host_free(host, 2 * BYTES);
    ops->close(device);
}

/* A "kernel" that launches nothing: what the back end hands it, and that its result comes back. */
static int look(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    (void)call;
    (void)scalars;
    return stream != NULL && dims[0] == 5 && ports[0] != NULL ? DF_OK : DF_FAILED;
}

static void test_launch_and_refusals(void **state)
{
    struct dfr_device *device;
    struct df_error error = {""};
    struct df_unit unit = {.workers = 1};
    struct dfr_device_config config = {.unit = &unit, .pool_bytes = UINT64_C(1) << 50, .compute_streams = 1};
    size_t dims[] = {5};
    void *ports[] = {dims};
    int result = -1;
    struct dfr_launch launch = {.fn = look, .dims = dims, .ports = ports, .result = &result, .node_name = "main/look"};

    (void)state;
    need_gpu();
    device = open_device(1);
    assert_int_equal(ops->launch(device, &launch, DFR_STREAM_COMPUTE, &error), DF_OK);
    assert_int_equal(result, DF_OK);
    assert_int_equal(ops->launch(device, &launch, DFR_STREAM_COMPUTE + 1, &error), DF_E_ARGUMENT);
    ops->close(device);
    assert_int_equal(ops->open(0, &config, &device, &error), DF_E_MEMORY); /* it asks for a petabyte */
    assert_non_null(strstr(error.text, "MiB are free"));
}

static void test_blas(void **state)
{
    struct dfr_device *device;
    struct df_error error = {""};
    void *first;

    (void)state;
    need_gpu();
    device = open_device(2);
    first = ops->blas(device, DFR_STREAM_COMPUTE, &error);
    if (first == NULL) {
        assert_non_null(strstr(error.text, "cuBLAS"));
    } else {
        assert_ptr_equal(ops->blas(device, DFR_STREAM_COMPUTE + 1, &error), first);
        assert_non_null(ops->blas_function(device, "cublasSgemm_v2"));
        assert_null(ops->blas_function(device, "cublasNothing"));
    }
    ops->close(device);
}

/* ---- the caller's memory ---- */

enum { N = 100000, WAVES = 6 };         /* 400,000 bytes: no whole number of pages */

static int take_cpu(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                    const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)scalars;
    memcpy(ports[1], ports[0], dims[0] * sizeof(float));
    return DF_OK;
}

/* No kernel is compiled here: the device's own copy stands for one. */
static int take_gpu(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                    const union df_scalar *scalars)
{
    struct df_error error = {""};

    (void)stream, (void)scalars;
    if (call->device->ops->copy(call->device, DFR_COPY_D2D, ports[1], ports[0], dims[0] * sizeof(float), call->stream,
                                &error) != DF_OK)
        return df_fail(call, "%s", error.text);
    return DF_OK;
}

/* given -> take -> take, both results kept. */
static struct df_graph *make_graph(void)
{
    static const char *const dims[] = {"k"};
    static const struct df_port_desc ports[] = {{"a", DF_IN, DF_F32, 1}, {"b", DF_OUT, DF_F32, 1}};
    static const uint64_t n[] = {N}, extents[2][DF_MAX_RANK] = {{N}, {N}};
    struct df_builder *b = df_builder_new("g");
    struct df_kernel_desc source = {.name = "source", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = ports + 1};
    struct df_kernel_desc take = {.name = "take", .n_dims = 1, .dims = dims, .n_ports = 2, .ports = ports,
                                  .functions = {.cpu = take_cpu, .gpu = take_gpu}};
    struct df_graph *graph = NULL;
    struct df_error error = {""};
    uint32_t k[2], v[3];

    if (df_builder_kernel(b, &source, &k[0], &error) || df_builder_kernel(b, &take, &k[1], &error) ||
        df_builder_node(b, k[0], n, extents, NULL, &v[0], &error) ||
        df_builder_node(b, k[1], n, extents, NULL, &v[1], &error) ||
        df_builder_node(b, k[1], n, extents, NULL, &v[2], &error) ||
        df_builder_connect(b, v[0], 0, v[1], 0, &error) || df_builder_connect(b, v[1], 0, v[2], 0, &error) ||
        df_builder_finish(b, &graph, &error))
        fail_msg("%s", error.text);
    df_builder_free(b);
    return graph;
}

/* Buffers, pinned or not, in one piece of memory, so that they share pages. */
static void check_buffers(enum df_device_kind kind, uint32_t registers, unsigned inflight)
{
    size_t tokens = (size_t)WAVES * N;
    float *memory = calloc(3 * tokens, sizeof *memory);
    struct df_buffer buffers[] = {
        {.node = "main/source", .data = memory, .bytes = tokens * sizeof *memory, .given = 1},
        {.node = "main/take#1", .data = memory + tokens, .bytes = tokens * sizeof *memory},
        {.node = "main/take#2", .data = memory + 2 * tokens, .bytes = tokens * sizeof *memory},
    };
    struct df_graph *graph = make_graph();
    struct df_platform platform;
    struct df_options o;
    struct df_stats *stats = calloc(1, sizeof *stats);
    struct df_error error = {""};
    struct df_run *run;

    assert_true(memory && stats);
    for (size_t i = 0; i < tokens; i++)
        memory[i] = (float)(i % 16777213);
    df_platform_default(&platform, 1);
    platform.units[1].registers = registers;
    df_options_default(&o);
    o.device = kind;
    o.policy = "all-gpu";
    o.platform = &platform;
    o.waves = WAVES;
    o.inflight = inflight;
    o.buffers = buffers;
    o.n_buffers = 3;
    if (df_run_start(graph, &o, &run, &error) != DF_OK || df_run_wait(run, stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_memory_equal(memory, memory + tokens, tokens * sizeof *memory);
    assert_memory_equal(memory, memory + 2 * tokens, tokens * sizeof *memory);
    if (registers == DF_REGISTER_NO)
        assert_int_equal(stats->pinned_bytes, 0);
    print_message("%llu of %llu bytes pinned, %.3g GB/s of copies\n", (unsigned long long)stats->pinned_bytes,
                  (unsigned long long)(3 * tokens * sizeof *memory),
                  (double)(stats->memories[0].h2d_bytes + stats->memories[0].d2h_bytes) / stats->makespan_s / 1e9);
    df_graph_free(graph);
    free(stats);
    free(memory);
}

static void test_buffers(void **state)
{
    (void)state;
    check_buffers(DF_DEVICE_EMU, DF_REGISTER_YES, 2);
    check_buffers(DF_DEVICE_EMU, DF_REGISTER_NO, 2);
    need_gpu();
    for (uint32_t registers = DF_REGISTER_UNKNOWN; registers <= DF_REGISTER_NO; registers++)
        for (unsigned inflight = 1; inflight <= 3; inflight++)
            check_buffers(DF_DEVICE_CUDA, registers, inflight);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count_says_why),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_launch_and_refusals),
        cmocka_unit_test(test_blas),
        cmocka_unit_test(test_buffers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
