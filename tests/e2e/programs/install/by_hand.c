#include <df.h>
#include <stdio.h>
static int one(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)stream, (void)scalars;
    for (size_t i = 0; i < dims[0]; i++)
        ((int32_t *)ports[0])[i] = (int32_t)(i + (size_t)df_wave(call));
    return DF_OK;
}
static int print(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)stream, (void)scalars;
    long sum = 0;
    for (size_t i = 0; i < dims[0]; i++)
        sum += ((const int32_t *)ports[0])[i];
    printf("%lld %ld\n", (long long)df_wave(call), sum);
    return DF_OK;
}
int main(void)
{
    static const char *const dims[] = {"k"};
    static const struct df_port_desc out = {"v", DF_OUT, DF_I32, 1}, in = {"v", DF_IN, DF_I32, 1};
    static const uint64_t k[] = {100}, extents[1][DF_MAX_RANK] = {{100}};
    struct df_kernel_desc a = {.name = "one", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &out, .functions = {.cpu = one}};
    struct df_kernel_desc b = {.name = "print", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &in, .traits = DF_ORDERED, .functions = {.cpu = print}};
    struct df_builder *builder = df_builder_new("by_hand");
    struct df_error error;
    struct df_graph *graph;
    struct df_options options;
    struct df_run *run;
    uint32_t ka, kb, na, nb;
    df_options_default(&options);
    options.waves = 3;
    int status = !builder || df_builder_kernel(builder, &a, &ka, &error) || df_builder_kernel(builder, &b, &kb, &error) ||
                 df_builder_node(builder, ka, k, extents, NULL, &na, &error) || df_builder_node(builder, kb, k, extents, NULL, &nb, &error) ||
                 df_builder_connect(builder, na, 0, nb, 0, &error) || df_builder_finish(builder, &graph, &error) ||
                 df_run_start(graph, &options, &run, &error) || df_run_wait(run, NULL, &error);
    if (status)
        fprintf(stderr, "%s\n", error.text);
    else
        df_graph_free(graph);
    df_builder_free(builder);
    return status != 0;
}
