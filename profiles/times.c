/* times.c - how long each work takes, by the best that is known: its cost clause, else samples, else the stated
 * default.
 *
 * A kernel without any sample is asked for once, not once for each of its works: a large graph that was never
 * profiled costs next to nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "profiles/db_impl.h"
#include "runtime/error.h"

struct lookup {
    struct dfw_db *db;
    const struct df_graph *graph;
    const char *gpu_device;
    bool emulated;
    signed char *any;                   /* by kernel: has samples; -1: not asked yet */
};

static int load(struct lookup *l, uint32_t work, uint32_t cls, const char *device, double *time_s, bool *found,
                struct df_error *error)
{
    struct dfw_key key = { .device = device, .variant = cls == DF_CLASS_GPU ? "gpu" : "cpu" };
    bool emulated = cls == DF_CLASS_GPU && l->emulated;
    int status = dfr_work_key_make(l->graph, work, cls, emulated, &key.work, error);
    if (status != DF_OK)
        return status;
    struct dfr_sample sample;
    status = dfw_sample_load(l->db, &key, &sample, found, error);
    if (status == DF_OK && *found)
        *time_s = sample.mean_s;
    dfr_work_key_free(&key.work);
    return status;
}

static int look_up(struct lookup *l, uint32_t work, uint32_t cls, double *time_s, uint8_t *source,
                   struct df_error *error)
{
    bool found = false;
    int status = load(l, work, cls, cls == DF_CLASS_GPU ? l->gpu_device : "cpu", time_s, &found, error);
    if (status == DF_OK && found)
        *source = DF_TIME_MEASURED;
    if (status != DF_OK || found || cls != DF_CLASS_GPU || !l->emulated)
        return status;
    if (l->graph->kernels[l->graph->works[work].kernel].flags & DF_KERNEL_COPY)
        return DF_OK;                   /* a device copies in its own way */
    status = load(l, work, DF_CLASS_CPU, "cpu", time_s, &found, error);
    if (status == DF_OK && found)
        *source = DF_TIME_ESTIMATED;
    return status;
}

static int fill(struct lookup *l, struct df_times *times, struct df_error *error)
{
    for (uint32_t work = 0; work < times->n_works; work++) {
        uint32_t kernel = l->graph->works[work].kernel;
        for (uint32_t cls = 0; cls <= DF_CLASS_GPU && cls < times->n_classes; cls++) {
            size_t at = (size_t)cls * times->n_works + work;
            if (times->source[at] != DF_TIME_DEFAULT)
                continue;
            if (l->any[kernel] < 0) {
                bool any;
                int status =
                    dfw_sample_any(l->db, df_graph_string(l->graph, l->graph->kernels[kernel].name), &any, error);
                if (status != DF_OK)
                    return status;
                l->any[kernel] = any;
            }
            if (!l->any[kernel])
                continue;
            int status = look_up(l, work, cls, &times->time_s[at], &times->source[at], error);
            if (status != DF_OK)
                return status;
        }
    }
    return DF_OK;
}

int dfw_times_on(struct dfw_db *db, const struct df_graph *graph, const char *gpu_device, bool emu_all,
                 struct df_times *times, struct df_error *error)
{
    struct df_times made;
    int status = dfr_times_default(graph, emu_all, &made, error);
    if (status != DF_OK)
        return status;
    if (db) {
        const char *device = gpu_device ? gpu_device : dfw_machine_gpu();
        struct lookup l = { .db = db, .graph = graph, .gpu_device = device ? device : DFW_EMULATOR };
        l.emulated = strcmp(l.gpu_device, DFW_EMULATOR) == 0;
        l.any = malloc(graph->n_kernels + 1);
        if (l.any) {
            memset(l.any, -1, graph->n_kernels + 1);
            status = dfw_db_exec(db, "BEGIN", "read it", error); /* one look at the file, not one per work */
            if (status == DF_OK) {
                status = fill(&l, &made, error);
                sqlite3_exec(db->sqlite, "COMMIT", NULL, NULL, NULL);
            }
        } else {
            status = dfr_error_memory(error);
        }
        free(l.any);
    }
    if (status != DF_OK) {
        dfr_times_free(&made);
        return status;
    }
    *times = made;
    return DF_OK;
}

int dfw_times(struct dfw_db *db, const struct df_graph *graph, bool emu_all, struct df_times *times,
              struct df_error *error)
{
    return dfw_times_on(db, graph, NULL, emu_all, times, error);
}
