/* embed.c - a program that builds a graph by hand and runs it on its own arrays: y[w] = a * x[w] + y[w] for some waves
 * w, and the sum of each y[w]. Nothing is copied in or out by a kernel: the sources are given, so they need no code, and
 * y is changed where it lies. The policy gp places the other nodes before the run.
 *
 *     cc embed.c -o embed $(pkg-config --cflags --libs libdfplan) && ./embed      # on the host
 *     ./embed emu                                                                 # with an emulated GPU, too
 */
#include <df.h>
#include <df_plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, WAVES = 4 };

static int axpy(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    const float *x = ports[0];
    float *y = ports[1];
    (void)call, (void)stream;
    for (size_t i = 0; i < dims[0]; i++)
        y[i] += scalars[0].f32 * x[i];
    return DF_OK;
}

static int sum(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
               const union df_scalar *scalars)
{
    const float *y = ports[0];
    double *s = ports[1];
    (void)call, (void)stream, (void)scalars;
    *s = 0;
    for (size_t i = 0; i < dims[0]; i++)
        *s += y[i];
    return DF_OK;
}

static const char *const dims[] = { "n" };
static const struct df_port_desc vector_out[] = { { "v", DF_OUT, DF_F32, 1 } };
static const struct df_port_desc axpy_ports[] = { { "x", DF_IN, DF_F32, 1 }, { "y", DF_INOUT, DF_F32, 1 } };
static const struct df_port_desc sum_ports[] = { { "y", DF_IN, DF_F32, 1 }, { "s", DF_OUT, DF_F64, 0 } };
static const struct df_scalar_desc factor[] = { { "a", DF_S_F32 } };

/* A gpu variant would be one that is compiled for it; the emulated GPU runs the cpu variant of what has both. */
static const struct df_kernel_desc kernels[] = {
    { .name = "x", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = vector_out },
    { .name = "y", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = vector_out },
    { .name = "axpy", .n_dims = 1, .dims = dims, .n_ports = 2, .ports = axpy_ports, .n_scalars = 1, .scalars = factor,
      .functions = { .cpu = axpy } },
    { .name = "sum", .n_dims = 1, .dims = dims, .n_ports = 2, .ports = sum_ports, .functions = { .cpu = sum } },
};
enum { X, Y, AXPY, SUM, N_NODES };

/* What a job of the nodes that follow takes. The planner goes by it; the given sources need none. */
static int state_times(struct df_builder *builder, struct df_error *error)
{
    int status = df_builder_cost(builder, DF_CLASS_CPU, 400e-6, error);
    return status == DF_OK ? df_builder_cost(builder, DF_CLASS_GPU, 20e-6, error) : status;
}

static int make_graph(struct df_builder *builder, struct df_graph **graph, struct df_error *error)
{
    static const uint64_t n[] = { N }, extents[2][DF_MAX_RANK] = { { N }, { N } };
    static const union df_scalar a = { .f32 = 2 };
    uint32_t kernel, node[N_NODES];

    for (unsigned k = 0; k < N_NODES; k++)
        if (df_builder_kernel(builder, &kernels[k], &kernel, error) != DF_OK ||
            (k == AXPY && state_times(builder, error) != DF_OK) ||
            df_builder_node(builder, kernel, n, extents, k == AXPY ? &a : NULL, &node[k], error) != DF_OK)
            return -1;
    if (df_builder_connect(builder, node[X], 0, node[AXPY], 0, error) != DF_OK ||
        df_builder_connect(builder, node[Y], 0, node[AXPY], 1, error) != DF_OK ||
        df_builder_connect(builder, node[AXPY], 0, node[SUM], 0, error) != DF_OK)
        return -1;
    return df_builder_finish(builder, graph, error);
}

static int run(const struct df_graph *graph, int emulated, float *x, float *y, double *sums, struct df_stats *stats,
               struct df_error *error)
{
    const struct df_buffer buffers[] = {
        { .node = "main/x", .data = x, .bytes = WAVES * N * sizeof *x, .given = 1 },
        /* The chain of y and axpy's output is one piece of memory: it is named by its last value. */
        { .node = "main/axpy", .data = y, .bytes = WAVES * N * sizeof *y, .given = 1 },
        { .node = "main/sum", .data = sums, .bytes = WAVES * sizeof *sums },
    };
    struct df_options options;
    struct df_run *running;

    df_options_default(&options);
    options.device = emulated ? DF_DEVICE_EMU : DF_DEVICE_NONE;
    options.emu_all = 1;
    options.planner = &dfp_planner;
    options.policy = "gp";
    options.waves = WAVES;
    options.buffers = buffers;
    options.n_buffers = sizeof buffers / sizeof buffers[0];
    if (df_run_start(graph, &options, &running, error) != DF_OK)
        return -1;
    return df_run_wait(running, stats, error);
}

int main(int argc, char **argv)
{
    float *x = malloc(WAVES * N * sizeof *x), *y = malloc(WAVES * N * sizeof *y);
    double sums[WAVES];
    struct df_stats stats = { 0 };
    struct df_builder *builder = df_builder_new("embed");
    struct df_error error = { "out of memory" };
    struct df_graph *graph = NULL;
    int status = -1;

    if (x && y && builder) {
        for (int i = 0; i < WAVES * N; i++) {
            x[i] = (float)(i % N);
            y[i] = (float)(i / N);
        }
        status = make_graph(builder, &graph, &error);
    }
    if (status == DF_OK)
        status = run(graph, argc > 1 && !strcmp(argv[1], "emu"), x, y, sums, &stats, &error);
    for (unsigned i = 0; i < stats.n_workers && status == DF_OK; i++)
        fprintf(stderr, "%s: %s: %llu jobs\n", stats.policy, stats.workers[i].name,
                (unsigned long long)stats.workers[i].jobs);
    for (int w = 0; w < WAVES && status == DF_OK; w++)
        printf("%d: y[%d] = %g, sum %.0f\n", w, N - 1, y[w * N + N - 1], sums[w]);
    if (status != DF_OK)
        fprintf(stderr, "embed: error: %s\n", error.text);
    df_graph_free(graph);
    df_builder_free(builder);
    free(x);
    free(y);
    return status != DF_OK;
}
