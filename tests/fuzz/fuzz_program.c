/* fuzz_program.c - a whole program of any bytes: the front end refuses it in words or makes a graph. What it makes must
 * be right, pass through an image, come again from its own sources, and be planned for a machine.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/front/sources.h"
#include "fuzz.h"
#include "profiles/estimate/known.h"

/* The program made for other sizes is a program, or refused in words. These go to stderr, where nobody needs them. */
static void check_sizes(const struct dfr_image *image, const struct df_times *times)
{
    static const int64_t sizes[] = { 1, 0, 3, INT64_MAX };
    uint32_t n = image->graph->n_params;
    int64_t *values = calloc((size_t)n + 1, sizeof *values);
    int null = open("/dev/null", O_WRONLY), stderr_was = dup(2);
    if (!values || null < 0 || stderr_was < 0 || dup2(null, 2) < 0)
        fuzz_fail("no memory");
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct df_error error = { "" };
        struct df_graph *made = NULL;
        struct df_times made_times = { 0 };
        for (uint32_t p = 0; p < n; p++)
            values[p] = sizes[(i + p) % (sizeof sizes / sizeof *sizes)];
        int status = dfc_replanner.make(image, times, values, n, NULL, &made, &made_times, &error);
        if (status == DF_OK ? !df_graph_check(made, &error) : status != DF_E_ARGUMENT || !error.text[0]) {
            dup2(stderr_was, 2);
            fuzz_fail("made for other sizes: status %d, %s", status, error.text);
        }
        df_graph_free(made);
        dfr_times_free(&made_times);
    }
    dup2(stderr_was, 2);
    close(stderr_was);
    close(null);
    free(values);
}

/* The program made again, as a program with dynamic params does at its start, must be the same program. */
static void check_again(const struct df_graph *graph, const struct df_times *times, const unsigned char *sources,
                        size_t source_bytes)
{
    struct df_error error = { "" };
    struct dfr_image opened, image = { .graph = (struct df_graph *)graph, .sources = sources,
                                       .source_bytes = source_bytes, .default_waves = -1 };
    struct df_graph *made;
    struct df_times made_times = { 0 };
    size_t size, size_made;
    unsigned char *bytes = fuzz_image(&image, &size, &opened);
    int64_t *values = calloc((size_t)graph->n_params + 1, sizeof *values);
    for (uint32_t p = 0; values && p < graph->n_params; p++)
        values[p] = graph->params[p].value;
    if (!values || dfc_replanner.make(&opened, times, values, graph->n_params, NULL, &made, &made_times, &error) != DF_OK)
        fuzz_fail("the program cannot be made again: %s", error.text);
    struct df_kernel *kernels = (struct df_kernel *)(uintptr_t)made->kernels;
    for (uint32_t k = 0; k < graph->n_kernels && k < made->n_kernels; k++) /* a program has no files of code to hash */
        memcpy(kernels[k].code_hash, graph->kernels[k].code_hash, sizeof kernels[k].code_hash);
    image.graph = made;
    unsigned char *again = fuzz_image(&image, &size_made, NULL);
    if (size_made != size || memcmp(bytes, again, size) != 0)
        fuzz_fail("the program made again is another one");
    if (graph->n_params > 0)
        check_sizes(&opened, times);
    df_graph_free(made);
    dfr_times_free(&made_times);
    free(values);
    free(again);
    fuzz_image_close(&opened);
    free(bytes);
}

static void check_program(const struct dfc_front *front)
{
    const struct df_graph *graph = front->graph;
    struct df_error error = { "" };
    struct df_times times = { 0 };
    struct df_platform platform;
    unsigned char *sources;
    size_t source_bytes;
    if (!df_graph_check(graph, &error))
        fuzz_fail("the graph is wrong: %s", error.text);
    if (!dfc_sources_pack(front, NULL, 0, &sources, &source_bytes))
        fuzz_fail("no memory");
    fuzz_times(graph, &times);
    check_again(graph, &times, sources, source_bytes);
    df_platform_default(&platform, 1);
    platform.units[0].workers = 2;
    fuzz_plan(graph, &platform, &times);
    for (size_t i = 0; i < front->n_platforms && i < 2; i++)
        fuzz_plan(graph, &front->platforms[i], &times);
    dfr_times_free(&times);
    free(sources);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_front f;
    fuzz_front_run(&f, data, size);
    if (f.front)
        check_program(f.front);
    fuzz_front_free(&f);
    return 0;
}
