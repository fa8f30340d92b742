/* shared.c - says in one line each where times come from, and whether jobs share the bandwidth of the host's memory, and its cores with emulated GPUs
 * (runtime/simulate/simulate.h): for the commands that predict. */
#include "compiler/show/shared.h"

#include <math.h>

static bool has_demand(const struct df_times *times, uint32_t work)
{
    for (uint32_t c = 0; c < times->n_classes; c++)
        if (times->demand[(size_t)c * times->n_works + work].bytes_per_s > 0)
            return true;
    return false;
}

static void print_memory(FILE *out, const struct dfp_problem *problem)
{
    const struct df_times *times = problem->times;
    uint32_t known = 0, all = 0;
    for (uint32_t w = 0; w < times->n_works; w++) {
        all += problem->graph->works[w].n_nodes > 0;
        known += problem->graph->works[w].n_nodes > 0 && has_demand(times, w);
    }
    if (dfr_times_share_memory(times, problem->platform))
        fprintf(out, "\nJobs and host copies share the host's memory, %.3g GB/s; %u of %u works have a known demand.\n",
                problem->platform->units[0].memory_bytes_per_s / 1e9, (unsigned)known, (unsigned)all);
    else
        fprintf(out, "\nJobs do not slow each other here, though %u of %u works have a known demand: platform %s has"
                " no bandwidth.\n", (unsigned)known, (unsigned)all, problem->platform->name);
}

void dfc_times_text(const struct df_times *times, char *text, size_t size)
{
    static const struct { enum df_time_source source; const char *words; } sources[] = {
        { DF_TIME_COST, "from cost clauses" },
        { DF_TIME_MEASURED, "measured" },
        { DF_TIME_ESTIMATED, "estimated from other sizes or devices, from operations or from rates" },
        { DF_TIME_DEFAULT, "by the stated default, because nothing is known" },
    };
    size_t n = (size_t)times->n_classes * times->n_works, at = 0;
    snprintf(text, size, "none");
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            count += !isnan(times->time_s[i]) && times->source[i] == sources[k].source;
        if (count && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%zu %s", at ? ", " : "", count, sources[k].words);
    }
}

/* The least certain source of the times of a class: enum df_time_source is in that order. */
static enum df_time_source source_of(const struct dfp_problem *problem, uint32_t cls)
{
    const struct df_graph *g = problem->graph;
    const struct df_times *t = problem->times;
    enum df_time_source worst = DF_TIME_NONE;
    for (uint32_t w = 0; w < t->n_works && cls < t->n_classes; w++) {
        enum df_time_source source = t->source[(size_t)cls * t->n_works + w];
        if (g->works[w].n_nodes && !(g->kernels[g->works[w].kernel].flags & DF_KERNEL_COPY) && source > worst)
            worst = source;
    }
    return worst;
}

const char *dfc_source_word(enum df_time_source source)
{
    static const char *const words[] = { "", "cost", "measured", "estimated", "default" };
    return words[source];
}

void dfc_print_guesses(FILE *out, const struct dfp_problem *problem)
{
    char text[250];
    bool guesses = false;
    for (uint32_t u = 0; u < problem->platform->n_units; u++)
        guesses |= source_of(problem, dfr_times_class(problem->times, problem->graph, problem->platform, problem->platform->units[u].cls)) >=
                   DF_TIME_ESTIMATED;
    dfc_times_text(problem->times, text, sizeof text);
    if (guesses)
        fprintf(out, "\nTimes: %s.\n", text);
}

enum df_time_source dfc_gpu_source(const struct dfp_problem *problem)
{
    for (uint32_t u = 1; u < problem->platform->n_units; u++)
        if (problem->platform->units[u].cls == DF_CLASS_GPU)
            return source_of(problem, DF_CLASS_GPU);
    return DF_TIME_NONE;
}

void dfc_print_shared(FILE *out, const struct dfp_problem *problem)
{
    const struct df_unit *host = &problem->platform->units[0];
    dfc_print_guesses(out, problem);
    if (problem->times->demand)
        print_memory(out, problem);
    if (host->cores && problem->platform->n_units > 1)
        fprintf(out, "\nThe GPUs are emulated: their jobs and copies share %u core%s with the CPU workers.\n",
                (unsigned)host->cores, host->cores > 1 ? "s" : "");
}
