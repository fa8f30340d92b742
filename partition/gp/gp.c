/* gp.c - the policy gp: generates many initial placements, refines the best of them, and returns the best placement found. The table of partitioners lists it
 * (planner/placers.c). It also gives the default budget, and tells whether the objective is throughput, for partition/planner/make_plan.c and for commands.
 *
 * Rounds:   successive halving of the remaining budget. The first round gives four tenths of it to the best few starts, in equal parts. The second gives
 *           three tenths to the best two of these, and the last gives three tenths to the best one.
 * Threads:  the placements of one round are refined concurrently, each with its own seed and state, so the number of threads affects only the duration.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/base/error.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/host.h"

enum { ROUNDS = 3, MOST_KEPT = 6 };

/* ---- budgets ---- */

/* Evaluations in 0.1 s: a node or an arc was measured to take 25 ns, and longer if the graph is larger than the
 * caches. */
uint64_t dfp_default_budget(const struct df_graph *graph)
{
    double size = (double)graph->n_nodes + graph->n_readers + 1;
    double evaluations = 0.1 / (size * 25e-9 * (1 + size / 20000));
    return (uint64_t)(evaluations < 20 ? 20 : evaluations > 50000 ? 50000 : evaluations);
}

/* Refinement starts hot if there is enough budget to cool down. */
static double start_temperature(double evaluations_per_node)
{
    return evaluations_per_node > 1000 ? 0.03
           : evaluations_per_node > 50 ? 0.015
           : evaluations_per_node > 5  ? 0.004
                                       : 0.0005;
}

/* ---- one round ---- */

struct round {
    struct dfp_search *search;
    struct dfp_found *found;
    uint32_t n;
    uint64_t steps, seed;               /* steps for each placement; the seed of the first one */
    _Atomic uint32_t next;              /* the placement that is taken next */
    _Atomic uint64_t used;              /* steps, of all */
};

static void refine_some(struct round *r, struct dfp_state *state)
{
    double per_node = (double)r->steps / r->search->compact.n_nodes / r->search->compact.n_nodes;
    for (uint32_t i; (i = atomic_fetch_add(&r->next, 1)) < r->n;) {
        struct dfp_anneal anneal = { start_temperature(per_node), r->steps, r->seed + i };
        uint64_t before = state->steps;
        dfp_anneal_run(state, r->search, &anneal, &r->found[i]);
        atomic_fetch_add(&r->used, state->steps - before);
    }
}

/* The body of a helping thread. If there is no memory for a state, it does nothing and the others do its part. */
static void *help(void *arg)
{
    struct round *r = arg;
    struct dfp_state state;
    if (!dfp_state_make(&r->search->compact, &state, NULL)) {
        refine_some(r, &state);
        dfp_state_free(&state);
    }
    return NULL;
}

static void run_round(struct round *r, uint32_t threads)
{
    pthread_t helpers[MOST_KEPT];
    uint32_t n = 0;
    while (n + 1 < threads && n + 1 < r->n && !dfr_helper_create(&helpers[n], help, r))
        n++;
    refine_some(r, &r->search->state);
    while (n)
        pthread_join(helpers[--n], NULL);
}

/* ---- all rounds ---- */

static void sort_found(struct dfp_found *found, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k && found[k].makespan_s < found[k - 1].makespan_s; k--) {
            struct dfp_found other = found[k];
            found[k] = found[k - 1];
            found[k - 1] = other;
        }
}

static uint32_t thread_count(const struct dfp_options *options)
{
    uint32_t cores = options->threads ? options->threads : dfr_cores_count();
    return cores > MOST_KEPT ? MOST_KEPT : cores;
}

/* Refines the pool's placements in rounds. Gives the steps used by the whole search so far. */
static uint64_t refine(struct dfp_search *search)
{
    uint64_t used = search->state.steps, left = search->budget_steps > used ? search->budget_steps - used : 0;
    uint64_t evaluations = left / search->compact.n_nodes;
    uint32_t first = evaluations > 2000 ? MOST_KEPT : evaluations > 300 ? 3 : 2;
    const uint32_t kept[ROUNDS] = { first, 2, 1 }, tenths[ROUNDS] = { 4, 3, 3 };
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct round r = { .search = search, .found = search->pool.found };
        r.seed = search->options->seed * 0x10001u + i * 64;
        r.n = search->pool.n < kept[i] ? search->pool.n : kept[i];
        r.steps = left / 10 * tenths[i] / r.n;
        uint64_t before = search->state.steps;
        run_round(&r, thread_count(search->options));
        used += r.used;
        search->state.steps = before;
        sort_found(search->pool.found, search->pool.n);
        if (search->options->progress)
            search->options->progress(search->options->progress_arg, (double)(i + 1) / ROUNDS,
                                      search->pool.found[0].makespan_s);
    }
    return used;
}

/* ---- the search ---- */

bool dfp_is_for_rate(const struct df_graph *graph, const struct dfp_options *options)
{
    for (uint32_t v = 0; v < graph->n_nodes && options->objective == DFP_BY_GRAPH; v++)
        if (graph->kernels[graph->nodes[v].kernel].traits & DF_STREAM || df_node_n_acc(graph, v) > 0)
            return true;
    for (uint32_t p = 0; p < graph->n_promises && options->objective == DFP_BY_GRAPH; p++)
        if (graph->promises[p].kind == DF_PROMISE_RATE)
            return true;
    return options->objective == DFP_THROUGHPUT;
}

static void search_free(struct dfp_search *search)
{
    free(search->average_rank_s);
    free(search->order[0]);
    free(search->order[1]);
    free(search->place);
    free(search->cluster);
    dfp_pool_free(&search->pool);
    dfp_state_free(&search->state);
    dfp_compact_free(&search->compact);
    dfr_times_free(&search->mean.times);
}

static int search_make(struct dfp_search *search, const struct dfp_problem *problem, const struct dfp_options *options,
                       struct df_error *error)
{
    *search = (struct dfp_search){ .judge = problem, .problem = problem, .options = options, .online_s = INFINITY };
    int code = dfp_mean_make(search, error);
    if (!code)
        code = dfp_compact_make(search->problem, &search->compact, error);
    if (code) {
        dfr_times_free(&search->mean.times);
        return code;
    }
    code = dfp_state_make(&search->compact, &search->state, error);
    if (!code)
        code = dfp_pool_make(&search->pool, search->compact.n_nodes, error);
    search->place = calloc((size_t)search->compact.n_nodes + 1, sizeof *search->place);
    if (!code && !search->place)
        code = dfr_error_memory(error);
    if (code) {
        search_free(search);
        return code;
    }
    uint64_t evaluations = options->budget ? options->budget : dfp_default_budget(problem->graph);
    search->budget_steps = evaluations * search->compact.n_nodes;
    search->deadline_s = options->time_cap_s > 0 ? dfr_clock_s() + options->time_cap_s : INFINITY;
    if (dfp_is_for_rate(problem->graph, options)) {
        dfp_waves_count(search);
        dfp_compact_apply_rates(&search->compact, search->n_waves);
    }
    search->bound_s = dfp_bound_s(&search->compact, &search->area_s, search->price);
    if (search->problem != problem || problem->graph->n_resources > 0) /* jobs may have the memory for themselves, so times alone give the bound */
        code = dfp_lower_bound(problem, &search->bound_s, error);
    if (code)
        search_free(search);
    return code;
}

static int answer(struct dfp_search *search, uint64_t steps, struct dfp_result *result, struct df_error *error)
{
    const struct dfp_found *best = &search->pool.found[0];
    memcpy(result->place, best->place, search->compact.n_nodes * sizeof *best->place);
    dfp_state_set(&search->state, best->place, best->bias, best->rank_weight);
    dfp_state_priority(&search->state, result->priority);
    bool placed = !dfp_online_wins(search->online_s, best->makespan_s);
    snprintf(result->run_as, sizeof result->run_as, "%s", placed ? DFP_RUN_PLACED : search->online);
    result->makespan_s = placed ? best->makespan_s : search->online_s;
    result->lower_bound_s = search->bound_s;
    result->load_s = dfp_state_bottleneck_s(&search->state);
    result->load_bound_s = search->area_s;
    result->evaluations = steps / search->compact.n_nodes;
    bool simulate = dfp_room_is_short(search->judge, 1) || search->problem != search->judge || search->judge->graph->n_resources > 0;
    return simulate ? dfp_room_answer(search, result, error) : DF_OK;
}

static int solve(const struct dfp_problem *problem, const struct dfp_options *options, struct dfp_result *result,
                 struct df_error *error)
{
    struct dfp_search search;
    if (!problem->graph->n_nodes) {
        strcpy(result->run_as, DFP_RUN_PLACED);
        result->makespan_s = result->lower_bound_s = 0;
        result->evaluations = 0;
        return DF_OK;
    }
    int code = search_make(&search, problem, options, error);
    if (code)
        return code;
    code = dfp_starts_run(&search, error);
    if (!code && search.n_waves)
        code = dfp_waves_solve(&search, result, error);
    else if (!code)
        code = answer(&search, refine(&search), result, error);
    if (!code && result->lower_bound_s > result->makespan_s)
        code = dfr_error(error, DF_E_ARGUMENT, "the lower bound %.9g s is above a schedule of %.9g s: please report it",
                         result->lower_bound_s, result->makespan_s);
    search_free(&search);
    return code;
}

static int run(const struct dfp_problem *problem, const struct dfp_options *options, uint16_t *place,
               struct df_error *error)
{
    size_t n = problem->graph->n_nodes;
    struct dfp_result result = { .place = malloc((n + 1) * sizeof *place) };
    result.priority = malloc((n + 1) * sizeof *result.priority);
    int code = result.place && result.priority ? solve(problem, options, &result, error) : dfr_error_memory(error);
    if (!code)
        memcpy(place, result.place, n * sizeof *place);
    free(result.place);
    free(result.priority);
    return code;
}

const struct dfp_partitioner dfp_partitioner_gp = {
    "gp", "METIS and other starts, refined by simulation: placement and priorities", run, solve
};
