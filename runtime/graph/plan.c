/* plan.c - default times for works that were never measured, queries about times and plans, and freeing both (plan.h), for the compiler, the planners,
 * policies, the simulator and the start of a run. Plans are made by a planner (partition/) or mapped from an image (image.c). */
#include "runtime/graph/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

uint32_t dfr_work_classes(const struct df_graph *graph, uint32_t work, bool emu_all)
{
    const struct df_kernel *kernel = &graph->kernels[graph->works[work].kernel];
    uint32_t classes = kernel->code_classes | kernel->cost_classes;
    if (emu_all && (kernel->code_classes & 1u << DF_CLASS_CPU) && !(kernel->flags & DF_KERNEL_RANGES))
        classes |= 1u << DF_CLASS_GPU;
    return classes & ((1u << graph->n_classes) - 1);
}

/* Seconds on the host by the stated default: a launch, and the time to read and write all bytes; of a loop, in each step of all its rounds. */
static double default_cpu_s(const struct df_graph *graph, uint32_t work)
{
    const struct df_work *w = &graph->works[work];
    const struct df_kernel *kernel = &graph->kernels[w->kernel];
    double bytes = 0, rounds = 1;
    if (kernel->flags & DF_KERNEL_LOOP) /* that its condition ends it earlier is known when it was measured */
        rounds = (double)graph->loops[kernel->loop].most * graph->loops[kernel->loop].n_steps;
    for (unsigned p = 0; p < kernel->n_ports; p++) {
        const struct df_kport *port = &graph->kports[kernel->first_port + p];
        bytes += (double)graph->port_bytes[w->first_port + p] * ((port->in_slot >= 0) + (port->out_slot >= 0));
    }
    return DF_DEFAULT_LAUNCH_S + rounds * bytes / DF_DEFAULT_BYTES_PER_S;
}

static void set_time(const struct df_graph *graph, uint32_t cls, uint32_t work, struct df_times *times)
{
    const struct df_kernel *kernel = &graph->kernels[graph->works[work].kernel];
    size_t i = (size_t)cls * graph->n_works + work;
    double cost_s = graph->cost_s[i];
    times->time_s[i] = NAN;
    times->source[i] = DF_TIME_NONE;
    if (!isnan(cost_s)) {
        times->time_s[i] = cost_s;
        times->source[i] = DF_TIME_COST;
    } else if ((kernel->code_classes | kernel->cost_classes) & 1u << cls) {
        times->time_s[i] = default_cpu_s(graph, work) / (cls == DF_CLASS_CPU ? 1 : DF_DEFAULT_SPEEDUP);
        times->source[i] = DF_TIME_DEFAULT;
    }
}

int dfr_times_default(const struct df_graph *graph, bool emu_all, struct df_times *times, struct df_error *error)
{
    size_t n = (size_t)graph->n_classes * graph->n_works;
    struct df_times made = { .n_classes = graph->n_classes, .n_works = graph->n_works };
    made.time_s = malloc((n + 1) * sizeof *made.time_s);
    made.source = malloc(n + 1);
    if (!made.time_s || !made.source) {
        dfr_times_free(&made);
        return dfr_error_memory(error);
    }
    for (uint32_t w = 0; w < graph->n_works; w++) {
        for (uint32_t c = 0; c < graph->n_classes; c++)
            set_time(graph, c, w, &made);
        size_t cpu = (size_t)DF_CLASS_CPU * graph->n_works + w, gpu = (size_t)DF_CLASS_GPU * graph->n_works + w;
        if (isnan(made.time_s[gpu]) && (dfr_work_classes(graph, w, emu_all) & 1u << DF_CLASS_GPU)) {
            made.time_s[gpu] = made.time_s[cpu]; /* emulated: the cpu's code runs there */
            made.source[gpu] = made.source[cpu];
        }
    }
    *times = made;
    return DF_OK;
}

static bool class_known(const struct df_graph *graph, const struct df_times *times, uint32_t cls)
{
    for (uint32_t w = 0; w < times->n_works; w++)
        if (times->source[(size_t)cls * times->n_works + w] == DF_TIME_DEFAULT && graph->works[w].n_nodes > 0 &&
            !(graph->kernels[graph->works[w].kernel].flags & DF_KERNEL_COPY))
            return false;
    return true;
}

bool dfr_times_known(const struct df_graph *graph, const struct df_times *times, const struct df_platform *platform)
{
    bool known = times->n_works == graph->n_works;
    for (uint32_t u = 0; u < platform->n_units && known; u++) {
        uint32_t cls = dfr_times_class(times, graph, platform, platform->units[u].cls);
        known = cls == DF_NONE || class_known(graph, times, cls);
    }
    return known;
}

uint32_t dfr_graph_class(const struct df_graph *graph, const struct df_platform *platform, uint32_t platform_class)
{
    if (platform_class <= DF_CLASS_GPU)
        return platform_class < graph->n_classes ? platform_class : DF_NONE;
    for (uint32_t c = DF_CLASS_GPU + 1; c < graph->n_classes; c++)
        if (!strcmp(df_graph_string(graph, graph->class_names[c]), platform->class_names[platform_class]))
            return c;
    return DF_NONE;
}

uint32_t dfr_times_class(const struct df_times *times, const struct df_graph *graph,
                         const struct df_platform *platform, uint32_t platform_class)
{
    const uint32_t cls = dfr_graph_class(graph, platform, platform_class);
    return cls < times->n_classes ? cls : DF_NONE;
}

uint64_t dfr_need_bytes(const struct df_memory_need *need, uint64_t inflight)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(need->wave_bytes, inflight, &bytes) ||
        __builtin_add_overflow(bytes, need->once_bytes, &bytes) ||
        __builtin_add_overflow(bytes, need->scratch_bytes, &bytes))
        return UINT64_MAX;
    return bytes;
}

uint64_t dfr_need_waves(const struct df_memory_need *need, uint64_t memory_bytes, uint64_t wanted)
{
    uint64_t fixed = dfr_need_bytes(need, 0);
    if (fixed > memory_bytes)
        return 0;
    if (need->wave_bytes && (memory_bytes - fixed) / need->wave_bytes < wanted)
        return (memory_bytes - fixed) / need->wave_bytes;
    return wanted;
}

uint32_t dfr_plan_waves(const struct df_plan *plan, const struct df_platform *platform, uint32_t wanted)
{
    uint64_t n = wanted;
    for (uint32_t u = 1; u < platform->n_units; u++)
        if (platform->units[u].memory_bytes)
            n = dfr_need_waves(&plan->memory[u], platform->units[u].memory_bytes, n);
    return n ? (uint32_t)n : 1;
}

int dfr_times_copy(const struct df_times *times, struct df_times *copy, struct df_error *error)
{
    size_t n = (size_t)times->n_classes * times->n_works;
    struct df_times made = { .n_classes = times->n_classes, .n_works = times->n_works };
    made.time_s = malloc((n + 1) * sizeof *made.time_s);
    made.source = malloc(n + 1);
    made.demand = times->demand ? malloc((n + 1) * sizeof *made.demand) : NULL;
    if (!made.time_s || !made.source || (times->demand && !made.demand)) {
        dfr_times_free(&made);
        return dfr_error_memory(error);
    }
    memcpy(made.time_s, times->time_s, n * sizeof *made.time_s);
    memcpy(made.source, times->source, n);
    if (made.demand)
        memcpy(made.demand, times->demand, n * sizeof *made.demand);
    *copy = made;
    return DF_OK;
}

bool dfr_times_share_memory(const struct df_times *times, const struct df_platform *platform)
{
    return times->demand && platform->units[0].memory_bytes_per_s > 0;
}

bool dfr_times_shared(const struct df_times *times, const struct df_platform *platform)
{
    return dfr_times_share_memory(times, platform) || (platform->units[0].cores > 0 && platform->n_units > 1);
}

void dfr_times_free(struct df_times *times)
{
    if (!times)
        return;
    free(times->time_s);
    free(times->source);
    free(times->demand);
    *times = (struct df_times){ 0 };
}

/* A plan laid over an image has `owner` set to itself: its arrays belong to the image. */
void dfr_plan_free(struct df_plan *plan)
{
    if (!plan)
        return;
    if (plan->owner != plan) {
        dfr_times_free(&plan->times);
        free(plan->place);
        free(plan->priority);
        free(plan->layout.any_line);
        free(plan->layout.sequence_line);
        free(plan->devices.page);
        free(plan->owner);
    }
    free(plan);
}

void dfr_function_free(struct dfr_function *function)
{
    for (uint32_t p = 0; function->ports && p < function->n_ports; p++)
        free(function->ports[p].node);
    free(function->ports);
    dfr_times_free(&function->times);
    df_graph_free(function->graph);
    *function = (struct dfr_function){ 0 };
}
