/* gp_mean.c - makes for gp.c the problem with mean slowdowns, on which it searches if jobs share the bandwidth of the host's memory, or its cores with emulated
 * devices.
 *
 * Why:      the time of a job then depends on what runs beside it, but the fast evaluator (gp_fast.c) knows one time per job. So the search uses mean
 *           times, and the final candidates are judged by the simulator, which models sharing (gp_room.c, gp_waves.c).
 * Mean:     dmda is simulated once. The mean shortage of its run stretches every work by its own sensitivity, and makes
 *           every link to the host so much slower. Copies count as if they took a core all the time.
 */
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/simulate/simulate.h"

/* 1 if dmda refuses the problem. */
static int find_shortage(const struct dfp_problem *problem, uint32_t seed, struct df_shortage *shortage,
                         struct df_error *error)
{
    struct dfr_simulate_options options = { .policy = dfp_online[0], .waves = 1, .inflight = 1, .seed = seed };
    struct dfr_simulation run = { 0 };
    int code = dfr_simulate(problem->graph, problem->platform, problem->times, &options, &run, error);
    *shortage = code ? (struct df_shortage){ 1, 1 } : run.shortage;
    return code == DF_E_MEMORY ? code : DF_OK;
}

int dfp_mean_make(struct dfp_search *search, struct df_error *error)
{
    struct dfp_mean *mean = &search->mean;
    const struct df_demand nothing = { 0 }, all = { 0, 1 };
    struct df_shortage shortage;
    if (!dfr_times_shared(search->judge->times, search->judge->platform))
        return DF_OK;
    int code = find_shortage(search->judge, search->options->seed, &shortage, error);
    if (!code)
        code = dfr_times_copy(search->judge->times, &mean->times, error);
    if (code)
        return code;
    for (size_t i = 0; i < (size_t)mean->times.n_classes * mean->times.n_works; i++)
        mean->times.time_s[i] *= dfr_stretch(mean->times.demand ? &mean->times.demand[i] : &nothing, 1, &shortage);
    mean->platform = *search->judge->platform;
    mean->platform.units[0].memory_bytes_per_s = 0; /* these times have the sharing in them */
    mean->platform.units[0].cores = 0;
    for (uint32_t u = 1; u < mean->platform.n_units; u++) {
        mean->platform.units[u].h2d.bytes_per_s /= dfr_stretch(&all, 1, &shortage);
        mean->platform.units[u].d2h.bytes_per_s /= dfr_stretch(&all, 1, &shortage);
    }
    mean->problem = (struct dfp_problem){ search->judge->graph, &mean->platform, &mean->times, 0 };
    search->problem = &mean->problem;
    return DF_OK;
}
