/* passes.c - chooses the number of passes of a graph with a divided acc, for make_plan.c and compiler/divide: at least as many as its parts need to fit in the
 * devices' memory. More passes may be faster, because a part is copied off its device while parts of the next pass are changed.
 *
 * Choice:   1, 2, 4, … passes, and one per part, are simulated with heft's placement. The fastest is chosen if it beats the smallest possible number by
 *           GAIN.
 * Waves:    in steady state each wave takes the same time, so for many waves the time is extrapolated from two runs.
 */
#include <math.h>

#include "partition/partition.h"
#include "runtime/graph/passes.h"
#include "runtime/simulate/simulate.h"

#define GAIN 0.98
#define MOST_WAVES 64u                  /* that are simulated */
#define STEP 16u                        /* they are a multiple of it */
#define MOST_JOBS 200000u               /* of a simulation */

struct tried {
    const struct dfp_problem *problem;
    const struct df_plan *plan;
    uint32_t waves;
};

/* INFINITY: the simulator refuses it. */
static double run_s(const struct tried *t, uint32_t waves, uint32_t passes)
{
    const struct dfr_simulate_options how = { .policy = t->plan->policy, .plan = t->plan, .waves = waves, .passes = passes,
                                              .inflight = passes > 1 ? DF_DEFAULT_INFLIGHT : DFP_DEFAULT_INFLIGHT };
    struct dfr_simulation run = { 0 };
    struct df_error error;
    return dfr_simulate(t->problem->graph, t->problem->platform, t->problem->times, &how, &run, &error) == DF_OK ? run.makespan_s
                                                                                                          : INFINITY;
}

static double predict(const struct tried *t, uint32_t passes)
{
    const uint64_t fit = MOST_JOBS / ((uint64_t)passes * (t->problem->graph->n_nodes + 1)) / STEP * STEP;
    const uint32_t most = fit < MOST_WAVES ? (uint32_t)fit : MOST_WAVES;
    if (t->waves <= most)
        return run_s(t, t->waves, passes);
    if (most == 0)
        return INFINITY;
    const double long_s = run_s(t, most, passes), short_s = run_s(t, most / 2, passes);
    return long_s + (t->waves - most) * ((long_s - short_s) / (most - most / 2));
}

int dfp_passes_choose(const struct dfp_problem *problem, uint32_t waves, struct dfp_passes *choice, struct df_error *error)
{
    const uint32_t most = dfr_passes_most(problem->graph), least = dfr_passes_choose(problem->graph, problem->platform, waves, 0);
    struct dfp_options options;
    struct df_plan *plan = NULL;
    *choice = (struct dfp_passes){ .n = least, .least = least, .predicted_s = INFINITY, .least_s = INFINITY };
    dfp_options_default(&options);
    options.no_memory = true;
    int code = dfp_plan_make(problem, "heft", &options, &plan, error);
    if (code)
        return code;
    const struct tried t = { problem, plan, waves };
    choice->predicted_s = choice->least_s = predict(&t, least);
    const bool fixed = waves < 2 || dfr_passes_hint(problem->graph);
    for (uint32_t n = 2; n < 2 * most && !fixed; n *= 2) {
        const uint32_t passes = n < most ? n : most;
        const double s = passes > least ? predict(&t, passes) : INFINITY;
        if (s < choice->least_s * GAIN && s < choice->predicted_s) {
            choice->n = passes;
            choice->predicted_s = s;
        }
    }
    dfr_plan_free(plan);
    return DF_OK;
}
