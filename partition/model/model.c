/* model.c - the cost model of all planners, drawings and explanations: times of nodes and copies, and the reason if a
 * node cannot be placed (model.h).
 */
#include "partition/model/model.h"

#include <math.h>

#include "runtime/base/error.h"
#include "runtime/graph/fit.h"

int dfp_model_init(struct dfp_model *model, const struct dfp_problem *problem, struct df_error *error)
{
    const struct df_platform *platform = problem->platform;
    *model = (struct dfp_model){ .problem = problem, .n_units = platform->n_units };
    if (!platform->n_units || platform->n_units > DF_MAX_UNITS)
        return dfr_error(error, DF_E_ARGUMENT, "platform '%s' has %u units; 1 to %d are possible", platform->name,
                         (unsigned)platform->n_units, DF_MAX_UNITS);
    if (problem->times->n_works != problem->graph->n_works)
        return dfr_error(error, DF_E_ARGUMENT, "times of %u works were given for a graph that has %u",
                         (unsigned)problem->times->n_works, (unsigned)problem->graph->n_works);
    for (uint32_t u = 0; u < platform->n_units; u++) {
        const struct df_unit *unit = &platform->units[u];
        if (!unit->workers || unit->workers > DF_MAX_WORKERS || unit->cls >= DF_MAX_CLASSES ||
            (u && (unit->h2d.bytes_per_s <= 0 || unit->d2h.bytes_per_s <= 0)))
            return dfr_error(error, DF_E_ARGUMENT, "unit '%s' of platform '%s' has no worker, too many, or no link",
                             unit->name, platform->name);
        model->cls[u] = dfr_times_class(problem->times, problem->graph, platform, unit->cls);
        if (model->cls[u] < DF_MAX_CLASSES)
            model->has_class[model->cls[u]] = true;
    }
    return DF_OK;
}

/* ---- sizes ---- */

/* Whether the unit's memory is enough. What lies in the host's memory is copied by the host (platform.h). */
static bool job_fits(const struct dfp_model *model, uint32_t node, uint32_t unit)
{
    const struct df_graph *g = model->problem->graph;
    uint64_t memory = model->problem->platform->units[unit].memory_bytes;
    if (model->problem->platform->units[unit].unified)
        return !(g->kernels[g->nodes[node].kernel].flags & DF_KERNEL_COPY);
    if (!unit || !memory)
        return true;
    const struct df_work *work = &g->works[g->nodes[node].work];
    uint64_t padding = ((uint64_t)g->kernels[work->kernel].n_ports + 1) * DF_PAGE_BYTES;
    const uint64_t most = work->job_bytes + work->tmp_bytes[DF_ON_DEVICE];
    if (most <= memory && padding <= memory - most)
        return true;                    /* this and padding are an upper bound, which is quick to compare */
    return dfr_job_bytes(g, node) <= memory;
}

/* ---- times ---- */

static double class_time_s(const struct dfp_model *model, uint32_t node, uint32_t cls)
{
    const struct df_times *times = model->problem->times;
    const struct df_live *live = df_node_live(model->problem->graph, node);
    if (live && live->newest && cls < times->n_classes)
        return 0;                       /* a thread of its own calls the kernel; its jobs wait for frames */
    return cls < times->n_classes
               ? times->time_s[(size_t)cls * times->n_works + model->problem->graph->nodes[node].work]
               : NAN;
}

/* A hint binds if the platform has a unit of that class and the node has a time for that class. So a graph with @gpu
 * still runs on a machine without a GPU. */
static bool hint_binds(const struct dfp_model *model, uint32_t node, uint32_t hint)
{
    return hint < DF_MAX_CLASSES && model->has_class[hint] && !isnan(class_time_s(model, node, hint));
}

double dfp_model_time_s(const struct dfp_model *model, uint32_t node, uint32_t unit)
{
    uint32_t cls = model->cls[unit];
    int hint = model->problem->graph->nodes[node].hint_class;
    if (cls == DF_NONE || (hint >= 0 && (uint32_t)hint != cls && hint_binds(model, node, (uint32_t)hint)))
        return NAN;
    double time_s = class_time_s(model, node, cls);
    if (isnan(time_s) || !job_fits(model, node, unit))
        return NAN;
    return dfp_node_is_free(model->problem->graph, node) ? 0 : time_s + model->problem->platform->units[unit].launch_s;
}

double dfp_node_time_s(const struct dfp_problem *problem, uint32_t node, uint32_t unit)
{
    struct dfp_model model;
    if (dfp_model_init(&model, problem, NULL) || unit >= model.n_units)
        return NAN;
    return dfp_model_time_s(&model, node, unit);
}

uint32_t dfp_model_fastest(const struct dfp_model *model, uint32_t node, bool devices_only)
{
    uint32_t best = DF_NONE;
    double best_s = INFINITY;
    for (uint32_t u = devices_only; u < model->n_units; u++) {
        double time_s = dfp_model_time_s(model, node, u);
        if (time_s < best_s) {          /* false for NaN */
            best_s = time_s;
            best = u;
        }
    }
    return best;
}

uint32_t dfp_model_workers(const struct dfp_model *model, uint32_t node, uint32_t unit)
{
    const struct df_graph *g = model->problem->graph;
    uint32_t threads = unit ? 1 : g->works[g->nodes[node].work].threads;
    uint32_t workers = model->problem->platform->units[unit].workers;
    return threads < 1 ? 1 : threads < workers ? threads : workers;
}

double dfp_copy_time_s(const struct df_platform *platform, uint32_t from, uint32_t to, uint64_t bytes)
{
    return df_platform_copy_s(platform, from, to, bytes);
}

/* ---- refusal ---- */

static bool is_too_large_for(const struct dfp_model *model, uint32_t node, uint32_t unit)
{
    return !isnan(class_time_s(model, node, model->cls[unit])) && !job_fits(model, node, unit);
}

bool dfp_model_is_too_large(const struct dfp_model *model, uint32_t node)
{
    for (uint32_t u = 1; u < model->n_units; u++)
        if (is_too_large_for(model, node, u))
            return true;
    return false;
}

int dfp_refuse(const struct dfp_model *model, uint32_t node, struct df_error *error)
{
    const struct df_graph *g = model->problem->graph;
    const struct df_platform *platform = model->problem->platform;
    char name[160];
    df_node_name(g, node, name, sizeof name);
    for (uint32_t u = 1; u < model->n_units; u++)
        if (is_too_large_for(model, node, u))
            return dfr_error(error, DF_E_REFUSED,
                             "node '%s' fits nowhere: one job of it needs %llu bytes, '%s' has %llu%s", name,
                             (unsigned long long)dfr_job_bytes(g, node), platform->units[u].name,
                             (unsigned long long)platform->units[u].memory_bytes,
                             isnan(class_time_s(model, node, DF_CLASS_CPU)) ? ", and it has no cpu variant"
                                                                            : ", and its hint forbids the cpu");
    return dfr_error(error, DF_E_REFUSED, "node '%s' can run on no unit of platform '%s'", name, platform->name);
}
