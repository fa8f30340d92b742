/* times.c - loads what the database knows of a graph's kernels (struct dfw_known), for compiler/load and `dfc profile`.
 *
 * One query per kernel fetches all sizes, and a kernel without samples costs one query, so loading is quick even for a
 * large graph with many sizes, or one that was never profiled.
 */
#include <stdlib.h>
#include <string.h>

#include "profiles/db/db_impl.h"
#include "runtime/base/error.h"

static int load_kernel(struct dfw_db *db, const struct df_kernel *kernel, const char *gpu_device, bool emulated,
                       struct dfw_kernel_points *points, struct df_error *error)
{
    const uint64_t hash[2] = { kernel->code_hash[0], kernel->code_hash[emulated ? 0 : 1] };
    bool any = false;
    int status = dfw_sample_any(db, points->kernel, &any, error);
    if (status == DF_OK && any)
        status = dfw_points_load(db, "cpu", "cpu", points->kernel, hash[0], &points->of[0], error);
    if (status == DF_OK && any && gpu_device)
        status = dfw_points_load(db, gpu_device, "gpu", points->kernel, hash[1], &points->of[1], error);
    return status;
}

/* A kernel without any work gets no points. */
static int load_kernels(struct dfw_db *db, const struct df_graph *graph, const char *gpu_device,
                        struct dfw_known *known, struct df_error *error)
{
    bool *used = calloc((size_t)graph->n_kernels + 1, sizeof *used);
    known->kernels = calloc((size_t)graph->n_kernels + 1, sizeof *known->kernels);
    int status = used && known->kernels ? DF_OK : dfr_error_memory(error);
    for (uint32_t w = 0; status == DF_OK && w < graph->n_works; w++)
        used[graph->works[w].kernel] = true;
    for (; status == DF_OK && known->n_kernels < graph->n_kernels; known->n_kernels++) {
        const struct df_kernel *kernel = &graph->kernels[known->n_kernels];
        struct dfw_kernel_points *points = &known->kernels[known->n_kernels];
        points->kernel = strdup(df_graph_string(graph, kernel->name));
        if (!points->kernel)
            status = dfr_error_memory(error);
        else if (used[known->n_kernels])
            status = load_kernel(db, kernel, gpu_device, known->emulated, points, error);
    }
    free(used);
    return status;
}

int dfw_known_load(struct dfw_db *db, const struct df_graph *graph, const char *gpu_device, bool emu_all,
                   struct dfw_known *known, struct df_error *error)
{
    const char *device = gpu_device ? gpu_device : db ? dfw_machine_gpu() : NULL;
    device = device || !emu_all ? device : DFW_EMULATOR;
    struct dfw_known made = { .emu_all = emu_all, .emulated = device && strcmp(device, DFW_EMULATOR) == 0 };
    int status = DF_OK;
    if (db) {
        status = dfw_db_exec(db, "BEGIN", "read it", error); /* one transaction, not one per kernel */
        if (status == DF_OK) {
            status = load_kernels(db, graph, device, &made, error);
            sqlite3_exec(db->sqlite, "COMMIT", NULL, NULL, NULL);
        }
    }
    if (status == DF_OK)
        *known = made;
    else
        dfw_known_free(&made);
    return status;
}
