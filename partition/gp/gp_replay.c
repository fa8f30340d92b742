/* gp_replay.c - initial placements for the policy gp from other policies, for gp_starts.c, gp_room.c and gp_waves.c: the plans of HEFT, PEFT and gp-thesis, and
 * the decisions of online policies in a simulated run, in the order in which their jobs start. An online policy can beat every placement, because a fixed
 * placement of the same decisions can be slower (list anomalies); gp's result is then to run that policy.
 *
 * Refusals: a policy that refuses the problem is skipped, and gp does not fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/base/error.h"
#include "runtime/simulate/simulate.h"

enum {
    FEW = 3,                            /* how many online policies are replayed if there is no time for all */
    LARGE = 50000                       /* a graph of more nodes than this replays only the first of them */
};

const char *const dfp_online[DFP_N_ONLINE] = { "dmda", "dmdas", "dmdar", "pats", "pams", "padas", "ddwrr", "ddfcfs",
                                               "eager", "ws" };
const struct dfp_partitioner *const dfp_others[] = { DFP_OTHER_PARTITIONERS, NULL };
/* The last is left out if there is no time for all. Its run decides the order of its jobs, and its start is that order. */
static const struct dfp_partitioner *const planners[] = { &dfp_partitioner_heft, &dfp_partitioner_peft,
                                                          &dfp_partitioner_gp_thesis };

/* pats, pams and padas follow each other in dfp_online[]. They are one rule if all devices are alike:
 * policy_speedup.c. */
bool dfp_online_repeats(const struct df_platform *platform, size_t i)
{
    const struct df_unit *units = platform->units;
    for (uint32_t u = 2; u < platform->n_units; u++)
        if (units[u].cls != units[1].cls || units[u].launch_s != units[1].launch_s ||
            units[u].handover_s != units[1].handover_s || units[u].memory_bytes != units[1].memory_bytes)
            return false;
    return !strcmp(dfp_online[i], "pams") || !strcmp(dfp_online[i], "padas");
}

static int replay(struct dfp_search *search, const char *policy, bool is_start, double *start_s, float *priority,
                  struct df_error *error)
{
    const struct dfp_problem *problem = search->judge;
    struct dfr_simulate_options options = { .policy = policy, .waves = 1, .inflight = 1,
                                            .seed = search->options->seed, .oldest_first = true };
    struct dfr_simulation run = { .place = search->place, .start_s = start_s };
    struct dfr_simulation as_run = { 0 };
    int code = dfr_simulate(problem->graph, problem->platform, problem->times, &options, &run, error);
    if (!code && strcmp(policy, "ws") == 0) {
        options.oldest_first = false;   /* a start is better from that order, but a run would not have it */
        code = dfr_simulate(problem->graph, problem->platform, problem->times, &options, &as_run, error);
    } else {
        as_run.makespan_s = run.makespan_s;
    }
    if (code)
        return code == DF_E_MEMORY ? code : DF_OK;
    if (as_run.makespan_s < search->online_s) {
        search->online_s = as_run.makespan_s;
        search->online = policy;
    }
    if (!is_start)
        return DF_OK;
    search->state.steps += DFP_STEPS_PER_JOB * (uint64_t)search->compact.n_nodes;
    for (uint32_t v = 0; v < search->compact.n_nodes; v++) {
        priority[v] = (float)-start_s[v];
        if (!(search->compact.allowed[v] & 1u << search->place[v]))
            return DF_OK;               /* the simulator placed a node where a plan must not */
    }
    dfp_search_try(search, false);
    dfp_search_try_order(search, false, priority);
    return DF_OK;
}

int dfp_replay_plan(const struct dfp_problem *problem, const struct dfp_options *options,
                    const struct dfp_partitioner *planner, uint16_t *place, float *priority, struct df_error *error)
{
    struct dfp_result result = { .place = place, .priority = priority };
    if (planner->solve)
        return planner->solve(problem, options, &result, error);
    int code = planner->run(problem, options, place, error);
    if (!code)
        dfp_upward_rank(problem, place, priority);
    return code;
}

static int plan(struct dfp_search *search, const struct dfp_partitioner *planner, bool is_start, float *priority,
                struct df_error *error)
{
    uint64_t steps = search->state.steps;
    int code = dfp_replay_plan(search->problem, search->options, planner, search->place, priority, error);
    if (code)
        return code == DF_E_MEMORY ? code : DF_OK;
    if (is_start || !planner->solve)
        dfp_search_try(search, false);
    if (planner->solve)
        dfp_search_try_order(search, false, priority);
    if (!is_start)
        search->state.steps = steps;
    return DF_OK;
}

int dfp_replay_run(struct dfp_search *search, enum dfp_replays replays, struct df_error *error)
{
    size_t few = search->compact.n_nodes > LARGE ? 1 : FEW;
    size_t n_online = replays == DFP_REPLAY_FEW ? few : DFP_N_ONLINE;
    bool all = replays == DFP_REPLAY_ALL;
    size_t n = (size_t)search->compact.n_nodes + 1;
    double *start_s = calloc(n, sizeof *start_s);
    float *priority = calloc(n, sizeof *priority);
    int code = start_s && priority ? DF_OK : dfr_error_memory(error);
    uint64_t steps = 0;                 /* of the last replay */
    for (size_t i = 0; i < n_online && !code; i++) {
        uint64_t before = search->state.steps;
        if (dfp_online_repeats(search->problem->platform, i))
            search->state.steps += steps; /* so that this shortcut does not change the budget that is left */
        else
            code = replay(search, dfp_online[i], all || (i == 0 && replays == DFP_REPLAY_MOST), start_s, priority,
                          error);
        steps = search->state.steps - before;
    }
    size_t n_planners = sizeof planners / sizeof *planners - (replays == DFP_REPLAY_FEW);
    for (size_t i = 0; i < n_planners && !code; i++)
        code = plan(search, planners[i], all && i < 2, priority, error); /* gp_metis.c begins from the thesis's cut, too */
    free(start_s);
    free(priority);
    return code;
}
