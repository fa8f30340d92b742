/* gp_room.c - chooses gp's result, for gp.c, if a device's memory cannot hold everything, or if jobs share the bandwidth of the host's memory. The evaluator of
 * placements models neither waiting for memory, nor eviction, nor slowdown. So the best placements found, those of the other planners, and the online policies
 * are simulated as they would run, and the fastest is returned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/base/error.h"
#include "runtime/graph/fit.h"
#include "runtime/policy/policy.h"
#include "runtime/simulate/simulate.h"

/* Policies that place nodes without a plan. */
static const char *const single[] = { "all-cpu", "all-gpu" };

/* The simulator asks the same, to know whether it must keep account of a device's memory. */
bool dfp_room_is_short(const struct dfp_problem *problem, uint32_t inflight)
{
    for (uint32_t u = 1; u < problem->platform->n_units; u++) {
        const struct df_unit *unit = &problem->platform->units[u];
        uint64_t jobs = (uint64_t)unit->workers * (unit->jobs ? unit->jobs : 1);
        if (unit->memory_bytes && !dfr_everything_fits(problem->graph, unit->memory_bytes, inflight, jobs))
            return true;
    }
    return false;
}

struct room {
    struct dfp_search *search;
    struct dfp_result *result;
    uint16_t *place;                    /* scratch */
    float *priority;
    double best_s;
};

/* Simulates the policy. *makespan_s is INFINITY if the policy refuses the problem. */
static int simulate(const struct room *r, const char *policy, const struct df_plan *plan, double *makespan_s,
                    struct df_error *error)
{
    const struct dfp_problem *problem = r->search->judge;
    struct dfr_simulate_options options = { .policy = policy, .plan = plan, .waves = 1, .inflight = 1,
                                            .seed = r->search->options->seed };
    struct dfr_simulation run = { 0 };
    int code = dfr_simulate(problem->graph, problem->platform, problem->times, &options, &run, error);
    r->search->state.steps += DFP_STEPS_PER_JOB * (uint64_t)problem->graph->n_nodes;
    *makespan_s = code ? INFINITY : run.makespan_s;
    return code == DF_E_MEMORY ? code : DF_OK;
}

/* Simulates the placement in r->place and r->priority, and makes it the result if it is the best so far. */
static int try_placed(struct room *r, struct df_error *error)
{
    uint32_t n = r->search->compact.n_nodes;
    struct df_plan plan = { .policy = "gp", .platform = *r->search->judge->platform, .n_nodes = n, .n_waves = 1,
                            .place = r->place, .priority = r->priority };
    double makespan_s;
    int code = simulate(r, "gp", &plan, &makespan_s, error);
    if (code || !(makespan_s < r->best_s))
        return code;
    r->best_s = makespan_s;
    memcpy(r->result->place, r->place, n * sizeof *r->place);
    memcpy(r->result->priority, r->priority, n * sizeof *r->priority);
    return DF_OK;
}

static int try_found(struct room *r, struct df_error *error)
{
    const struct dfp_pool *pool = &r->search->pool;
    int code = DF_OK;
    for (uint32_t i = 0; i < pool->n && !code; i++) {
        const struct dfp_found *found = &pool->found[i];
        memcpy(r->place, found->place, pool->n_nodes * sizeof *r->place);
        dfp_state_set(&r->search->state, found->place, found->bias, found->rank_weight);
        dfp_state_priority(&r->search->state, r->priority);
        code = try_placed(r, error);
    }
    return code;
}

/* A planner that refuses the problem is no candidate, and gp does not fail for that. */
static int try_planners(struct room *r, const struct dfp_problem *problem, struct df_error *error)
{
    int code = DF_OK;
    for (size_t i = 0; dfp_others[i] && code != DF_E_MEMORY; i++) {
        code = dfp_replay_plan(problem, r->search->options, dfp_others[i], r->place, r->priority, error);
        if (!code)
            code = try_placed(r, error);
    }
    return code == DF_E_MEMORY ? code : DF_OK;
}

static int try_online(struct room *r, struct df_error *error)
{
    const char *best = NULL;
    double makespan_s;
    int code = DF_OK;
    if (dfp_online_wins(r->search->online_s, r->best_s)) {
        best = r->search->online;
        r->best_s = r->search->online_s;
    }
    for (size_t i = 0; i < sizeof single / sizeof *single && !code; i++) {
        code = simulate(r, single[i], NULL, &makespan_s, error);
        if (!code && dfp_online_wins(makespan_s, r->best_s)) {
            r->best_s = makespan_s;
            best = single[i];
        }
    }
    if (!code)
        snprintf(r->result->run_as, sizeof r->result->run_as, "%s", best ? best : DFP_RUN_PLACED);
    return code;
}

int dfp_room_answer(struct dfp_search *search, struct dfp_result *result, struct df_error *error)
{
    size_t n = (size_t)search->compact.n_nodes + 1;
    struct room r = { .search = search, .result = result, .best_s = INFINITY };
    r.place = malloc(n * sizeof *r.place);
    r.priority = malloc(n * sizeof *r.priority);
    int code = r.place && r.priority ? try_found(&r, error) : dfr_error_memory(error);
    if (!code)
        code = try_planners(&r, search->problem, error);
    if (!code && search->problem != search->judge) /* by times at mean load, and by times alone */
        code = try_planners(&r, search->judge, error);
    if (!code)
        code = try_online(&r, error);
    free(r.place);
    free(r.priority);
    if (!code && r.best_s < INFINITY) {
        dfp_state_place(&search->state, result->place);
        result->load_s = dfp_state_bottleneck_s(&search->state);
        result->makespan_s = r.best_s;
        result->simulated = true;
    }
    return code;
}
