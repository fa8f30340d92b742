/* times.c - how long each work takes, by the best that is known: its cost clause, else samples, else an estimate from
 * samples of other sizes or of the other device, else the stated default.
 *
 * A kernel without any sample is asked for once, not once for each of its works: a large graph that was never
 * profiled costs next to nothing. Estimators are made for a kernel when its first work needs one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/db_impl.h"
#include "profiles/estimate.h"
#include "runtime/error.h"

struct lookup {
    struct dfw_db *db;
    const struct df_graph *graph;
    const char *gpu_device;
    bool emulated;
    signed char *any;                   /* by kernel: has samples; -1: not asked yet */
    struct dfw_kernel_times **known;    /* by kernel; NULL: not asked for yet */
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
    return status;
}

static int has_samples(struct lookup *l, uint32_t kernel, bool *any, struct df_error *error)
{
    int status = DF_OK;
    *any = l->any[kernel] > 0;
    if (l->any[kernel] < 0) {
        status = dfw_sample_any(l->db, df_graph_string(l->graph, l->graph->kernels[kernel].name), any, error);
        if (status == DF_OK)
            l->any[kernel] = *any;
    }
    return status;
}

/* ---- what was measured ---- */

static int fill_measured(struct lookup *l, struct df_times *times, struct df_error *error)
{
    for (uint32_t work = 0; work < times->n_works; work++)
        for (uint32_t cls = 0; cls <= DF_CLASS_GPU && cls < times->n_classes; cls++) {
            size_t at = (size_t)cls * times->n_works + work;
            bool any = false;
            if (times->source[at] != DF_TIME_DEFAULT)
                continue;
            int status = has_samples(l, l->graph->works[work].kernel, &any, error);
            if (status == DF_OK && any)
                status = look_up(l, work, cls, &times->time_s[at], &times->source[at], error);
            if (status != DF_OK)
                return status;
        }
    return DF_OK;
}

/* ---- what was not ---- */

static int load_kernel(struct lookup *l, uint32_t kernel, struct df_error *error)
{
    const struct df_kernel *k = &l->graph->kernels[kernel];
    const uint64_t hash[2] = { k->code_hash[0], k->code_hash[l->emulated ? 0 : 1] };
    if (l->known[kernel])
        return DF_OK;
    return dfw_kernel_times_load(l->db, df_graph_string(l->graph, k->name), l->gpu_device, hash, &l->known[kernel],
                                 error);
}

/* The emulator runs the code of the cpu variant, so a time of that is one of the emulator's: measured here it is better
 * than any estimate, estimated better than none. But a device copies in its own way. */
static void stand_in(const struct lookup *l, uint32_t work, bool measured, struct df_times *times)
{
    size_t cpu = work, gpu = (size_t)DF_CLASS_GPU * times->n_works + work;
    uint8_t source = times->source[cpu];
    if (!l->emulated || times->source[gpu] != DF_TIME_DEFAULT ||
        l->graph->kernels[l->graph->works[work].kernel].flags & DF_KERNEL_COPY)
        return;
    if (source == DF_TIME_MEASURED || (source == DF_TIME_ESTIMATED && !measured)) {
        times->time_s[gpu] = times->time_s[cpu];
        times->source[gpu] = DF_TIME_ESTIMATED;
    }
}

/* One class, from what was measured of the other (`other`) and of other sizes. */
static int estimate(struct lookup *l, uint32_t work, uint32_t cls, struct df_times *times, struct df_error *error)
{
    uint32_t kernel = l->graph->works[work].kernel;
    size_t at = (size_t)cls * times->n_works + work, other = (size_t)!cls * times->n_works + work;
    bool any = false;
    if (times->source[at] != DF_TIME_DEFAULT)
        return DF_OK;
    int status = has_samples(l, kernel, &any, error);
    if (status == DF_OK && any)
        status = load_kernel(l, kernel, error);
    if (status != DF_OK || !any)
        return status;
    struct dfr_work_key key;
    status = dfr_work_key_make(l->graph, work, cls, cls == DF_CLASS_GPU && l->emulated, &key, error);
    if (status != DF_OK)
        return status;
    bool other_known = times->n_classes > DF_CLASS_GPU && times->source[other] == DF_TIME_MEASURED;
    double other_s = other_known ? times->time_s[other] : NAN;
    double time_s = dfw_kernel_estimate(l->known[kernel], cls, &key, other_s);
    if (!isnan(time_s)) {
        times->time_s[at] = time_s;
        times->source[at] = DF_TIME_ESTIMATED;
    }
    dfr_work_key_free(&key);
    return DF_OK;
}

static int fill_estimated(struct lookup *l, struct df_times *times, struct df_error *error)
{
    int status = DF_OK;
    for (uint32_t work = 0; work < times->n_works && status == DF_OK; work++) {
        if (times->n_classes > DF_CLASS_GPU)
            stand_in(l, work, true, times);
        for (uint32_t cls = 0; cls <= DF_CLASS_GPU && cls < times->n_classes && status == DF_OK; cls++)
            status = estimate(l, work, cls, times, error);
        if (times->n_classes > DF_CLASS_GPU)
            stand_in(l, work, false, times);
    }
    return status;
}

/* ---- all of it ---- */

static int fill(struct lookup *l, struct df_times *times, struct df_error *error)
{
    uint32_t n = l->graph->n_kernels;
    l->any = malloc(n + 1);
    l->known = calloc((size_t)n + 1, sizeof *l->known);
    int status = l->any && l->known ? DF_OK : dfr_error_memory(error);
    if (status == DF_OK) {
        memset(l->any, -1, n + 1);
        status = dfw_db_exec(l->db, "BEGIN", "read it", error); /* one look at the file, not one per work */
    }
    if (status == DF_OK) {
        status = fill_measured(l, times, error);
        if (status == DF_OK)
            status = fill_estimated(l, times, error);
        sqlite3_exec(l->db->sqlite, "COMMIT", NULL, NULL, NULL);
    }
    for (uint32_t k = 0; l->known && k < n; k++)
        dfw_kernel_times_free(l->known[k]);
    free(l->known);
    free(l->any);
    return status;
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
        status = fill(&l, &made, error);
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
