/* session.c - a graph as a function: the program calls it as often as it likes, on other arrays each time. The graph is
 * smooth -> scale (by an arg) over one row of samples; the row comes from the caller, and the result goes to the caller.
 *
 *     cc session.c -o session $(pkg-config --cflags --libs libdf) && ./session       # on the host
 *     ./session emu                                                                  # with an emulated GPU, too
 */
#include <df.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, CALLS = 5 };

static int smooth(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                  const union df_scalar *scalars)
{
    const float *in = ports[0];
    float *out = ports[1];
    (void)call, (void)stream, (void)scalars;
    for (size_t i = 0; i < dims[0]; i++)
        out[i] = (in[i > 0 ? i - 1 : 0] + in[i] + in[i + 1 < dims[0] ? i + 1 : i]) / 3;
    return DF_OK;
}

static int scale(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                 const union df_scalar *scalars)
{
    float *row = ports[0];
    (void)call, (void)stream;
    for (size_t i = 0; i < dims[0]; i++)
        row[i] *= scalars[0].f32;
    return DF_OK;
}

static const char *const dims[] = { "n" };
static const struct df_port_desc ports[] = { { "in", DF_IN, DF_F32, 1 }, { "out", DF_OUT, DF_F32, 1 } };
static const struct df_port_desc changed[] = { { "row", DF_INOUT, DF_F32, 1 } };
static const struct df_scalar_desc factor[] = { { "by", DF_S_F32 } };
static const struct df_kernel_desc kernels[] = {
    { .name = "row", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &ports[1] },
    { .name = "smooth", .n_dims = 1, .dims = dims, .n_ports = 2, .ports = ports, .functions = { .cpu = smooth } },
    { .name = "scale", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = changed, .n_scalars = 1, .scalars = factor,
      .functions = { .cpu = scale } },
};
enum { ROW, SMOOTH, SCALE, N_NODES };

static int make_graph(struct df_graph **graph, struct df_error *error)
{
    static const uint64_t n[] = { N }, shape[2][DF_MAX_RANK] = { { N }, { N } };
    const union df_scalar by = { .f32 = 2 };
    struct df_builder *b = df_builder_new("smoothing");
    uint32_t node[N_NODES];
    int status = b ? DF_OK : DF_E_MEMORY;

    for (uint32_t k = 0; k < N_NODES && status == DF_OK; k++) {
        uint32_t kernel;
        status = df_builder_kernel(b, &kernels[k], &kernel, error);
        if (status == DF_OK)
            status = df_builder_node(b, kernel, n, shape, k == SCALE ? &by : NULL, &node[k], error);
    }
    if (status == DF_OK)
        status = df_builder_connect(b, node[ROW], 0, node[SMOOTH], 0, error);
    if (status == DF_OK)
        status = df_builder_connect(b, node[SMOOTH], 0, node[SCALE], 0, error);
    if (status == DF_OK)
        status = df_builder_finish(b, graph, error);
    df_builder_free(b);
    return status;
}

int main(int argc, char **argv)
{
    /* where the arrays lie is said by each call */
    struct df_buffer buffers[] = { { .node = "main/row", .bytes = N * sizeof(float), .given = 1 },
                                   { .node = "main/scale", .bytes = N * sizeof(float) } };
    struct df_session *session = NULL;
    struct df_graph *graph = NULL;
    struct df_options options;
    struct df_error error = { "no memory" };
    int status = make_graph(&graph, &error);

    df_options_default(&options);
    options.buffers = buffers;
    options.n_buffers = 2;
    if (argc > 1 && strcmp(argv[1], "emu") == 0) {
        options.device = DF_DEVICE_EMU;
        options.emu_all = 1;            /* these kernels have a cpu variant alone */
    }
    if (status == DF_OK)
        status = df_session_open(graph, &options, &session, &error);
    for (int c = 0; c < CALLS && status == DF_OK; c++) {
        float *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);
        void *data[] = { in, out };
        for (int i = 0; in && i < N; i++)
            in[i] = (float)(c * i);
        status = in && out ? df_session_run(session, &(struct df_session_call){ .waves = 1, .data = data }, &error)
                           : DF_E_MEMORY;
        if (status == DF_OK)
            printf("call %d: %g %g %g\n", c, out[0], out[1], out[N - 1]);
        free(in);
        free(out);
    }
    if (session)
        df_session_close(session, NULL, &error);
    if (status != DF_OK)
        fprintf(stderr, "session: error: %s\n", error.text);
    df_graph_free(graph);
    return status == DF_OK ? 0 : 1;
}
