/* test_admit.c - what a run refuses and warns of before it starts, word by word. The GPU is the emulator in the place
 * of CUDA's back end. It is told to run gpu variants as CUDA does, so a node may have either variant, both or none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/graph/builder.h"
#include "runtime/device/device.h"

extern const struct dfr_device_ops dfr_emu_ops;
struct dfr_device_ops dfr_cuda_ops;     /* takes the place of the weak one */

static int open_like_cuda(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                          struct df_error *error)
{
    int status = dfr_emu_ops.open(index, config, device, error);
    if (status == DF_OK)
        (*device)->ops = &dfr_cuda_ops;
    return status;
}

static int fill(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)scalars;
    *(unsigned char *)ports[0] = 1;
    return DF_OK;
}

enum { CPU = 1, GPU = 2 };

/* A graph of one source with these variants and this hint. If `arg` is not NULL, an i32 comes from an arg of that
 * name. */
static struct df_graph *graph_of(int variants, int hint, const char *arg)
{
    struct df_builder *b = df_builder_new("small");
    const struct df_port_desc port = { "v", DF_OUT, DF_U8, 1 };
    const struct df_scalar_desc scalar = { "s", DF_S_I32 };
    const char *const dims[] = { "k" };
    struct df_kernel_desc desc = { .name = "fill", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &port,
                                   .n_scalars = arg ? 1 : 0, .scalars = &scalar };
    const uint64_t k = 5000, port_dims[1][DF_MAX_RANK] = { { 5000 } };
    struct df_node_desc node = { .dims = &k, .port_dims = port_dims, .hint_class = hint };
    struct df_graph *graph = NULL;
    struct df_error error;
    uint32_t zero = 0, id;

    desc.functions.cpu = variants & CPU ? fill : NULL;
    desc.functions.gpu = variants & GPU ? fill : NULL;
    node.scalars = &zero;
    assert_non_null(b);
    assert_int_equal(df_builder_kernel(b, &desc, &node.kernel, &error), DF_OK);
    if (arg) {
        assert_int_equal(df_builder_arg(b, arg, DF_S_I32, false, (union df_scalar){ .i64 = 0 }, NULL, &error), DF_OK);
        assert_int_equal(df_builder_constant(b, DF_S_I32, (union df_scalar){ .i32 = 7 }, &zero, &error), DF_OK);
    }
    assert_int_equal(df_builder_node_desc(b, &node, &id, &error), DF_OK);
    assert_int_equal(df_builder_finish(b, &graph, &error), DF_OK);
    df_builder_free(b);
    return graph;
}

static char said[1024];

/* Runs it once; what came on stderr is in `said`. */
static int run_it(struct df_graph *graph, enum df_device_kind device, int log_level, struct df_error *error)
{
    struct df_options o;
    struct df_run *run;
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO), status;

    df_options_default(&o);
    o.device = device;
    o.policy = "eager";
    o.workers = 1;
    o.log_level = log_level;
    assert_non_null(file);
    error->text[0] = '\0';
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    status = df_run_start(graph, &o, &run, error);
    if (status == DF_OK)
        status = df_run_wait(run, NULL, error);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    return status;
}

static void refused(int variants, int hint, enum df_device_kind device, const char *want)
{
    struct df_graph *graph = graph_of(variants, hint, NULL);
    struct df_error error;
    assert_int_equal(run_it(graph, device, DF_LOG_WARNING, &error), DF_E_REFUSED);
    assert_string_equal(error.text, want);
    assert_string_equal(said, "");
    df_graph_free(graph);
}

static void runs_and_says(int variants, int hint, enum df_device_kind device, const char *want)
{
    struct df_graph *graph = graph_of(variants, hint, NULL);
    struct df_error error;
    int status = run_it(graph, device, DF_LOG_WARNING, &error);
    if (status != DF_OK)
        fail_msg("%s", error.text);
    assert_string_equal(said, want);
    df_graph_free(graph);
}

#define CANNOT "node 'main/fill' (kernel 'fill') cannot run: "

static void test_refused(void **state)
{
    (void)state;
    refused(0, -1, DF_DEVICE_NONE, "this graph has costs only and no code: it can be studied, not run");
    refused(GPU, -1, DF_DEVICE_NONE, CANNOT "it has no cpu variant, and there is no GPU");
    refused(GPU, DF_CLASS_GPU, DF_DEVICE_NONE, CANNOT "it has no cpu variant, and there is no GPU");
    refused(GPU, DF_CLASS_CPU, DF_DEVICE_CUDA, CANNOT "it is '@cpu' and has no cpu variant");
    refused(GPU, -1, DF_DEVICE_EMU, CANNOT "this program has no variant of it for the devices present");
}

static void test_runs(void **state)
{
    (void)state;
    for (int hint = -1; hint <= DF_CLASS_GPU; hint++)
        runs_and_says(CPU | GPU, hint, DF_DEVICE_CUDA, "");
    runs_and_says(GPU, -1, DF_DEVICE_CUDA, "");
    runs_and_says(CPU, -1, DF_DEVICE_CUDA, "");
    runs_and_says(CPU, DF_CLASS_CPU, DF_DEVICE_NONE, "");
}

static void test_warned(void **state)
{
    (void)state;
    runs_and_says(CPU, DF_CLASS_GPU, DF_DEVICE_NONE,
                  "test_admit: warning: node 'main/fill' is '@gpu' and runs on the CPU: there is no GPU\n");
    runs_and_says(
        CPU, DF_CLASS_GPU, DF_DEVICE_CUDA,
        "test_admit: warning: node 'main/fill' is '@gpu' and runs on the CPU: this program has no gpu variant of "
        "it\n");
}

/* An arg without a default needs a value from whoever runs the graph by hand. */
static void test_arg_without_value(void **state)
{
    struct df_graph *graph = graph_of(CPU, -1, "seed");
    struct df_error error;
    (void)state;
    assert_int_equal(run_it(graph, DF_DEVICE_NONE, DF_LOG_WARNING, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "arg 'seed' has no default and got no value");
    df_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_refused), cmocka_unit_test(test_runs),
                                        cmocka_unit_test(test_warned), cmocka_unit_test(test_arg_without_value) };
    dfr_cuda_ops = dfr_emu_ops;
    dfr_cuda_ops.name = "like-cuda";
    dfr_cuda_ops.runs_cpu_code = false;
    dfr_cuda_ops.open = open_like_cuda;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
