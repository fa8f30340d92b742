/* known.c - determines how long each work of a graph takes, from what was measured of its kernel, for compiler/load and
 * `dfc profile`, and for programs that change their sizes (front/replan.c).
 *
 * Estimators of a kernel are built when the first of its works needs one; works whose kernel has no samples cost
 * nothing.
 */
#include "profiles/estimate/known.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/estimate/estimate.h"
#include "runtime/base/error.h"

void dfw_known_free(struct dfw_known *known)
{
    for (uint32_t k = 0; k < known->n_kernels; k++)
        dfw_kernel_points_free(&known->kernels[k]);
    free(known->kernels);
    if (known->other)
        dfw_known_free(known->other);
    free(known->other);
    *known = (struct dfw_known){ 0 };
}

uint32_t dfw_known_class(const struct dfw_known *known, const struct df_graph *graph)
{
    uint32_t cls = DF_CLASS_GPU;
    for (; known->cls[0] && cls < graph->n_classes; cls++)
        if (strcmp(df_graph_string(graph, graph->class_names[cls]), known->cls) == 0)
            break;
    return cls < graph->n_classes ? cls : DF_NONE;
}

/* ---- looking a work up ---- */

struct lookup {
    const struct dfw_known *known;
    uint32_t classes[2];                /* cpu, and that of the device; both are classes of the graph */
    const struct df_graph *graph;
    struct df_times *times;
    struct dfw_kernel_times **estimates; /* of a kernel of the graph; NULL: not needed so far */
};

/* The points of a kernel of the graph, found by its name; NULL: it has none. */
static const struct dfw_kernel_points *points_of(const struct lookup *l, uint32_t kernel)
{
    const struct dfw_known *known = l->known;
    const char *name = df_graph_string(l->graph, l->graph->kernels[kernel].name);
    uint32_t k = kernel;
    if (k >= known->n_kernels || strcmp(known->kernels[k].kernel, name) != 0)
        for (k = 0; k < known->n_kernels && strcmp(known->kernels[k].kernel, name) != 0;)
            k++;
    if (k == known->n_kernels || (!known->kernels[k].of[0].n && !known->kernels[k].of[1].n))
        return NULL;
    return &known->kernels[k];
}

static int compare_key(const void *key, const void *point)
{
    return dfw_point_compare(key, point);
}

static const struct dfw_point *find_point(const struct dfw_points *points, const struct dfr_work_key *key)
{
    const struct dfw_point wanted = { .dims = key->dims, .scalars = key->scalars, .job_bytes = key->job_bytes };
    return points->n ? bsearch(&wanted, points->at, points->n, sizeof *points->at, compare_key) : NULL;
}

/* DF_OK, or DF_E_MEMORY. A demand of 0 is the same as none. */
static int set_demand(struct lookup *l, size_t at, const struct df_demand *demand, struct df_error *error)
{
    struct df_times *times = l->times;
    if (demand->bytes_per_s == 0 && demand->sensitivity == 0)
        return DF_OK;
    if (!times->demand)
        times->demand = calloc((size_t)times->n_classes * times->n_works + 1, sizeof *times->demand);
    if (!times->demand)
        return dfr_error_memory(error);
    times->demand[at] = *demand;
    return DF_OK;
}

/* The demand of the point whose bytes are nearest, as a ratio. */
static struct df_demand nearest_demand(const struct dfw_points *points, uint64_t job_bytes)
{
    struct df_demand demand = { 0 };
    double least = INFINITY;
    for (uint32_t i = 0; i < points->n; i++) {
        double a = (double)points->at[i].job_bytes + 1, b = (double)job_bytes + 1, ratio = a > b ? a / b : b / a;
        if (ratio < least) {
            least = ratio;
            demand = points->at[i].demand;
        }
    }
    return demand;
}

/* ---- what was measured ---- */

static int measured(struct lookup *l, uint32_t work, struct df_error *error)
{
    const struct dfw_kernel_points *points = points_of(l, l->graph->works[work].kernel);
    for (uint32_t i = 0; points && i < 2; i++) {
        size_t at = (size_t)l->classes[i] * l->times->n_works + work;
        struct dfr_work_key key;
        if (l->times->source[at] != DF_TIME_DEFAULT)
            continue;
        int status = dfr_work_key_make(l->graph, work, l->classes[i], false, &key, error);
        if (status != DF_OK)
            return status;
        const struct dfw_point *point = find_point(&points->of[i], &key);
        if (point) {
            l->times->time_s[at] = point->mean_s;
            l->times->source[at] = DF_TIME_MEASURED;
            status = set_demand(l, at, &point->demand, error);
        }
        dfr_work_key_free(&key);
        if (status != DF_OK)
            return status;
    }
    return DF_OK;
}

/* ---- what was not ---- */

/* The emulator runs the code of the cpu variant, so the time of that is also the emulator's. If it was measured, it is
 * better than any estimate; if it is an estimate, it is better than the default. Inserted copies are left out, since a
 * device copies in its own way. */
static void stand_in(const struct lookup *l, uint32_t work, bool only_measured)
{
    struct df_times *times = l->times;
    size_t cpu = work, gpu = (size_t)l->classes[1] * times->n_works + work;
    if (!l->known->emulated || times->source[gpu] != DF_TIME_DEFAULT ||
        l->graph->kernels[l->graph->works[work].kernel].flags & DF_KERNEL_COPY)
        return;
    uint8_t source = times->source[cpu];
    if (source == DF_TIME_MEASURED || (source == DF_TIME_ESTIMATED && !only_measured)) {
        times->time_s[gpu] = times->time_s[cpu];
        times->source[gpu] = DF_TIME_ESTIMATED;
    }
}

/* Estimates the time on the cpu (i is 0) or on the device, from what was measured at other sizes, and on the other of the two at this size. */
static int estimate(struct lookup *l, uint32_t work, uint32_t i, struct df_error *error)
{
    struct df_times *times = l->times;
    uint32_t kernel = l->graph->works[work].kernel;
    size_t at = (size_t)l->classes[i] * times->n_works + work, other = (size_t)l->classes[!i] * times->n_works + work;
    const struct dfw_kernel_points *points = times->source[at] == DF_TIME_DEFAULT ? points_of(l, kernel) : NULL;
    if (!points)
        return DF_OK;
    int status = l->estimates[kernel] ? DF_OK : dfw_kernel_times_new(points, &l->estimates[kernel], error);
    if (status != DF_OK)
        return status;
    struct dfr_work_key key;
    status = dfr_work_key_make(l->graph, work, l->classes[i], false, &key, error);
    if (status != DF_OK)
        return status;
    bool other_known = times->source[other] == DF_TIME_MEASURED;
    double time_s = dfw_kernel_estimate(l->estimates[kernel], i, &key, other_known ? times->time_s[other] : NAN);
    if (time_s >= 0 && time_s < DF_LIMIT_JOB_S) { /* a steep law, far from what was measured, may say any number */
        times->time_s[at] = time_s;
        times->source[at] = DF_TIME_ESTIMATED;
        struct df_demand demand = nearest_demand(&points->of[i], key.job_bytes);
        status = set_demand(l, at, &demand, error);
    }
    dfr_work_key_free(&key);
    return status;
}

/* The emulator computes in the host's memory. */
static void stand_in_demand(const struct lookup *l, uint32_t work)
{
    struct df_times *times = l->times;
    size_t gpu = (size_t)l->classes[1] * times->n_works + work;
    if (times->demand && l->known->emulated && times->source[gpu] != DF_TIME_COST &&
        times->source[gpu] != DF_TIME_NONE && times->demand[gpu].bytes_per_s == 0 &&
        !(l->graph->kernels[l->graph->works[work].kernel].flags & DF_KERNEL_COPY))
        times->demand[gpu] = times->demand[work];
}

/* ---- all of it ---- */

static int fill(struct lookup *l, struct df_error *error)
{
    uint32_t n_works = l->times->n_works;
    int status = DF_OK;
    for (uint32_t work = 0; work < n_works && status == DF_OK; work++)
        status = measured(l, work, error);
    for (uint32_t work = 0; work < n_works && status == DF_OK; work++) {
        stand_in(l, work, true);
        for (uint32_t i = 0; i < 2 && status == DF_OK; i++)
            status = estimate(l, work, i, error);
        stand_in(l, work, false);
    }
    for (uint32_t work = 0; work < n_works && status == DF_OK; work++)
        stand_in_demand(l, work);
    return status;
}

/* The times on the cpu and on one device. */
static int fill_classes(const struct dfw_known *known, const struct df_graph *graph, struct df_times *times, struct df_error *error)
{
    const uint32_t cls = dfw_known_class(known, graph);
    if (cls == DF_NONE)
        return DF_OK;
    struct lookup l = { known, { DF_CLASS_CPU, cls }, graph, times, calloc((size_t)graph->n_kernels + 1, sizeof *l.estimates) };
    int status = l.estimates ? fill(&l, error) : dfr_error_memory(error);
    for (uint32_t k = 0; l.estimates && k < graph->n_kernels; k++)
        dfw_kernel_times_free(l.estimates[k]);
    free(l.estimates);
    return status;
}

int dfw_known_times(const struct dfw_known *known, const struct df_graph *graph, struct df_times *times,
                    struct df_error *error)
{
    struct df_times made;
    int status = dfr_times_default(graph, known->emu_all, &made, error);
    if (status != DF_OK)
        return status;
    for (; known && status == DF_OK; known = known->other)
        status = fill_classes(known, graph, &made, error);
    if (status == DF_OK)
        *times = made;
    else
        dfr_times_free(&made);
    return status;
}

/* ---- spread ---- */

static int set_spread(const struct lookup *l, uint32_t work, struct df_spread *spread, struct df_error *error)
{
    const struct dfw_kernel_points *points = points_of(l, l->graph->works[work].kernel);
    for (uint32_t i = 0; points && i < 2; i++) {
        const size_t at = (size_t)l->classes[i] * l->times->n_works + work;
        struct dfr_work_key key;
        if (l->classes[i] == DF_NONE || l->times->source[at] != DF_TIME_MEASURED)
            continue;
        const int status = dfr_work_key_make(l->graph, work, l->classes[i], false, &key, error);
        if (status != DF_OK)
            return status;
        const struct dfw_point *point = find_point(&points->of[i], &key);
        if (point)
            spread[at] = point->spread;
        dfr_work_key_free(&key);
    }
    return DF_OK;
}

int dfw_known_spread(const struct dfw_known *known, const struct df_graph *graph, struct df_times *times, struct df_spread **spread, struct df_error *error)
{
    int status = DF_OK;
    *spread = calloc((size_t)times->n_classes * times->n_works + 1, sizeof **spread);
    if (!*spread)
        return dfr_error_memory(error);
    for (; known; known = known->other) {
        const struct lookup l = { .known = known, .classes = { DF_CLASS_CPU, dfw_known_class(known, graph) }, .graph = graph, .times = times };
        for (uint32_t work = 0; work < times->n_works && status == DF_OK; work++)
            status = set_spread(&l, work, *spread, error);
    }
    return status;
}
