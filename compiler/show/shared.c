/* shared.c - says in one line each whether jobs share the bandwidth of the host's memory, and its cores with emulated
 * GPUs (simulate.h), for simulate and explain. */
#include "compiler/show/shared.h"

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

void dfc_print_shared(FILE *out, const struct dfp_problem *problem)
{
    const struct df_unit *host = &problem->platform->units[0];
    if (problem->times->demand)
        print_memory(out, problem);
    if (host->cores && problem->platform->n_units > 1)
        fprintf(out, "\nThe GPUs are emulated: their jobs and copies share %u core%s with the CPU workers.\n",
                (unsigned)host->cores, host->cores > 1 ? "s" : "");
}
