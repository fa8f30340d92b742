/* gp_waves.c - gp for many waves in flight, called by gp.c: optimizes throughput, not the latency of one wave.
 *
 * Load:     precedence is then irrelevant, and a wave costs the bottleneck load: the work of the busiest of host, devices and copy engines. Annealing
 *           (gp_load.c) minimizes it, from the starts and from the best mixture of cuts (gp_rate.c).
 * Rows:     2, 4, 8 … waves can be placed jointly, since together they can share what one wave cannot divide. Each of
 *           them is a *row* of the placement; wave w goes by row w % n_waves.
 * Answer:   all candidates, the placements of other planners, and the online policies are simulated with several waves in flight, and the fastest is
 *           returned. If the waves need several passes, online policies are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/base/error.h"
#include "runtime/graph/passes.h"
#include "runtime/policy/policy.h"
#include "runtime/simulate/simulate.h"

enum {
    MOST_ROWS = 32,
    MOST_CANDIDATES = 12,
    MOST_JOINT_NODES = 40000,
    FEW_JOBS = 10000,                   /* if a simulated run has no more jobs, every other policy is tried */
    MANY_JOBS = 100000                  /* if it would have more jobs, it has 2 instead of 4 waves per one in flight */
};

struct candidate {
    uint32_t n_waves;
    double load_s;                      /* the bottleneck load per wave */
    uint16_t *place;
};

struct waves {
    struct dfp_search *search;
    struct dfp_rates rates;
    double bound_s;
    uint64_t moves;                     /* of annealing, for each candidate */
    uint32_t n;                         /* candidates */
    struct candidate candidate[MOST_CANDIDATES];
    float *priority;                    /* scratch */
    int refused;                        /* the code of the last simulation that failed */
    /* the best so far */
    double wave_s;
    const struct candidate *best;
    char run_as[24];                    /* as in struct df_plan */
    float *best_priority;
};

/* ---- candidates ---- */

static int candidate_add(struct waves *w, uint32_t n_waves, double load_s, const uint16_t *place,
                         struct df_error *error)
{
    size_t bytes = (size_t)n_waves * w->search->compact.n_nodes * sizeof *place;
    struct candidate *c = &w->candidate[w->n];
    for (uint32_t i = 0; i < w->n; i++)
        if (w->candidate[i].n_waves == n_waves && !memcmp(w->candidate[i].place, place, bytes))
            return DF_OK;
    if (!(c->place = malloc(bytes + 1)))
        return dfr_error_memory(error);
    memcpy(c->place, place, bytes);
    c->n_waves = n_waves;
    c->load_s = load_s;
    w->n++;
    return DF_OK;
}

/* Anneals the placement in joint->place, and leaves the best one there. Gives its load per wave. */
static double anneal(struct waves *w, struct dfp_search *joint, uint32_t n_waves)
{
    static const struct {
        double spare, temperature;
    } ways[] = { { 0, 1 }, { 0, 4 }, { 0.05, 1 }, { 0, 0.2 }, { 0, 0.05 } };
    size_t n = joint->compact.n_nodes, n_ways = sizeof ways / sizeof *ways;
    uint16_t *best = joint->place + n;  /* the array has room for two placements */
    memcpy(best, joint->place, n * sizeof *best);
    dfp_state_place(&joint->state, joint->place);
    double best_s = dfp_state_bottleneck_s(&joint->state);
    for (size_t i = 0; i < n_ways && best_s > w->bound_s * n_waves * (1 + 1e-4); i++) { /* from the best so far */
        memcpy(joint->place, best, n * sizeof *best);
        double now_s = dfp_load_run(joint, ways[i].spare, w->moves / n_ways, ways[i].temperature,
                                    joint->options->seed + i);
        if (now_s < best_s) {
            best_s = now_s;
            memcpy(best, joint->place, n * sizeof *best);
        }
    }
    memcpy(joint->place, best, n * sizeof *best);
    return best_s / n_waves;
}

/* ---- rows from the mixture ---- */

static uint32_t unit_for(const struct dfp_compact *c, uint32_t node, bool on_device, uint32_t device)
{
    uint32_t wanted = on_device ? 1u << device : 1u, others = c->allowed[node] & (on_device ? ~1u : 1u);
    if (c->allowed[node] & wanted)
        return (uint32_t)__builtin_ctz(wanted);
    return (uint32_t)__builtin_ctz(others ? others : c->allowed[node]);
}

/* The column of the mixture that is furthest behind its share when `row` rows are made. */
static uint32_t next_column(const struct dfp_rates *rates, const uint32_t *used, uint32_t row)
{
    uint32_t next = 0;
    double furthest = -1;
    for (uint32_t i = 0; i < rates->n; i++) {
        double behind = rates->column[i].share * (row + 1) - used[i];
        if (rates->column[i].share > 0 && behind > furthest) {
            furthest = behind;
            next = i;
        }
    }
    return next;
}

/* The load per wave with so many rows made of the mixture. If `place` is not NULL, the rows are written there; the
 * devices of a column take turns. */
static double rows_of_mixture(const struct dfp_compact *c, const struct dfp_rates *rates, uint32_t n_rows,
                              uint16_t *place)
{
    uint32_t used[DFP_RATE_COLUMNS] = { 0 };
    double load_s[DFP_RATE_RESOURCES] = { 0 }, most_s = 0;
    for (uint32_t row = 0; row < n_rows; row++) {
        uint32_t next = next_column(rates, used, row), device = 1 + (used[next]++ + next) % (c->n_units - 1);
        for (uint32_t r = 0; r < DFP_RATE_RESOURCES; r++)
            load_s[r] += rates->column[next].load_s[r] / n_rows;
        for (uint32_t v = 0; place && v < c->n_nodes; v++)
            place[(size_t)row * c->n_nodes + v] =
                (uint16_t)unit_for(c, v, rates->column[next].on_device[v], device);
    }
    for (uint32_t r = 0; r < DFP_RATE_RESOURCES; r++)
        most_s = load_s[r] > most_s ? load_s[r] : most_s;
    return most_s;
}

/* The number of rows, a multiple of the number of devices, whose load comes nearest to the mixture's. */
static uint32_t best_row_count(const struct dfp_compact *c, const struct dfp_rates *rates)
{
    uint32_t best = 1, devices = c->n_units - 1;
    double best_s = INFINITY;
    for (uint32_t n = devices; n <= MOST_ROWS && (uint64_t)n * c->n_nodes <= MOST_JOINT_NODES; n += devices) {
        double now_s = rows_of_mixture(c, rates, n, NULL);
        if (now_s < best_s * (1 - 1e-3)) {
            best_s = now_s;
            best = n;
        }
    }
    return best;
}

/* Places nodes that fire once where the first row has them, in all rows, and those whose memory stays from wave to wave. Gives the load per wave. */
static double settle_once(struct dfp_search *joint, uint32_t n_nodes, uint32_t n_waves, double load_s)
{
    const struct df_graph *g = joint->problem->graph;
    bool changed = false;
    for (uint32_t i = n_nodes; i < joint->compact.n_nodes; i++)
        if ((g->nodes[i % n_nodes].flags & DF_NODE_ONCE || df_node_n_acc(g, i % n_nodes) > 0) &&
            joint->place[i] != joint->place[i % n_nodes]) {
            joint->place[i] = joint->place[i % n_nodes];
            changed = true;
        }
    if (!changed)
        return load_s;
    dfp_state_place(&joint->state, joint->place);
    return dfp_state_bottleneck_s(&joint->state) / n_waves;
}

static int joint_waves(struct waves *w, uint32_t n_waves, struct df_error *error)
{
    const struct dfp_compact *c = &w->search->compact;
    struct dfp_search joint = { .judge = w->search->judge, .problem = w->search->problem, .options = w->search->options,
                                .deadline_s = w->search->deadline_s };
    int code = dfp_compact_repeat(c, n_waves, &joint.compact, error);
    if (code)
        return code;
    code = dfp_state_make(&joint.compact, &joint.state, error);
    joint.place = malloc((2 * (size_t)joint.compact.n_nodes + 1) * sizeof *joint.place);
    if (!code && !joint.place)
        code = dfr_error_memory(error);
    if (!code) {
        rows_of_mixture(c, &w->rates, n_waves, joint.place);
        double load_s = settle_once(&joint, c->n_nodes, n_waves, anneal(w, &joint, n_waves));
        code = candidate_add(w, n_waves, load_s, joint.place, error);
    }
    free(joint.place);
    dfp_state_free(&joint.state);
    dfp_compact_free(&joint.compact);
    return code;
}

/* Candidates for waves that are all placed alike: the best start, and the start with the least load, annealed. */
static int single_wave(struct waves *w, struct df_error *error)
{
    struct dfp_search *search = w->search, one = *search;
    size_t n = search->compact.n_nodes;
    double least_s = INFINITY;
    uint32_t least = 0;
    int code = candidate_add(w, 1, search->pool.found[0].makespan_s, search->pool.found[0].place, error);
    if (code)
        return code;
    for (uint32_t i = 0; i < search->pool.n; i++) {
        dfp_state_place(&search->state, search->pool.found[i].place);
        double load_s = dfp_state_bottleneck_s(&search->state);
        if (i == 0)
            w->candidate[0].load_s = load_s;
        if (load_s < least_s) {
            least_s = load_s;
            least = i;
        }
    }
    one.place = malloc((2 * n + 1) * sizeof *one.place);
    if (!one.place)
        return dfr_error_memory(error);
    memcpy(one.place, search->pool.found[least].place, n * sizeof *one.place);
    double load_s = anneal(w, &one, 1);
    code = candidate_add(w, 1, load_s, one.place, error);
    free(one.place);
    search->state = one.state;          /* it counts the steps */
    return code;
}

/* Candidates of 1 row; of 2, 4 and 8 rows, or of 1, 2 and 4 times the number of devices, so that each device gets the
 * same; and of the number of rows that suits the mixture best. */
static int make_candidates(struct waves *w, struct df_error *error)
{
    const struct dfp_compact *c = &w->search->compact;
    int code = single_wave(w, error);
    if (c->n_units < 2 || !(w->rates.mixed_s < INFINITY))
        return code;
    for (uint32_t n = c->n_units > 2 ? c->n_units - 1 : 2, i = 0; i < 3 && !code; n *= 2, i++)
        if (n <= MOST_ROWS && (uint64_t)n * c->n_nodes <= MOST_JOINT_NODES)
            code = joint_waves(w, n, error);
    uint32_t suits = best_row_count(c, &w->rates);
    return code || suits == 1 ? code : joint_waves(w, suits, error);
}

/* ---- the simulated rate ---- */

/* A node's priority is the mean of its ranks in all rows, since a unit has one order for all waves. */
static int mean_rank(const struct waves *w, const struct candidate *c, float *priority, struct df_error *error)
{
    uint32_t n = w->search->compact.n_nodes;
    float *rank = malloc(((size_t)n + 1) * sizeof *rank);
    if (!rank)
        return dfr_error_memory(error);
    memset(priority, 0, n * sizeof *priority);
    for (uint32_t row = 0; row < c->n_waves; row++) {
        dfp_upward_rank(w->search->problem, c->place + (size_t)row * n, rank);
        for (uint32_t v = 0; v < n; v++)
            priority[v] += rank[v] / (float)c->n_waves;
    }
    free(rank);
    return DF_OK;
}

/* Simulates as the options say, of which it sets the waves. *wave_s: seconds per wave, or INFINITY if the policy refuses the problem. The search fails for
 * that only if all policies do. */
static int simulate(struct waves *w, struct dfr_simulate_options options, double *wave_s, struct df_error *error)
{
    const struct dfp_problem *problem = w->search->judge;
    struct dfr_simulation run = { 0 };
    options.waves = w->search->n_waves;
    options.passes = problem->passes;
    options.inflight = w->search->inflight;
    options.seed = w->search->options->seed;
    options.no_guard = true;
    int code = dfr_simulate(problem->graph, problem->platform, problem->times, &options, &run, error);
    w->search->state.steps += DFP_STEPS_PER_JOB * (uint64_t)w->search->n_waves * problem->graph->n_nodes;
    *wave_s = code ? INFINITY : run.makespan_s / w->search->n_waves;
    if (!code || code == DF_E_MEMORY)
        return code;
    w->refused = code;
    return DF_OK;
}

/* Simulates the candidate with the priorities in w->priority, and remembers it if it is the best so far. */
static int try_in_order(struct waves *w, const struct candidate *c, struct df_error *error)
{
    struct df_plan plan = { .policy = "gp", .platform = *w->search->judge->platform,
                            .n_nodes = w->search->compact.n_nodes, .n_waves = c->n_waves, .place = c->place,
                            .priority = w->priority };
    double wave_s;
    int code = simulate(w, (struct dfr_simulate_options){ .policy = "gp", .plan = &plan }, &wave_s, error);
    if (!code && wave_s < w->wave_s) {
        float *kept = w->best_priority;
        w->best_priority = w->priority;
        w->priority = kept;
        w->best = c;
        w->wave_s = wave_s;
    }
    return code;
}

static int try_candidate(struct waves *w, const struct candidate *c, struct df_error *error)
{
    int code = mean_rank(w, c, w->priority, error);
    return code ? code : try_in_order(w, c, error);
}

/* Tries what another planner makes of one wave, in its own order. A planner that refuses the problem is no
 * candidate. */
static int try_planner(struct waves *w, const struct dfp_partitioner *planner, struct df_error *error)
{
    size_t n = w->search->compact.n_nodes;
    uint16_t *place = malloc((n + 1) * sizeof *place);
    if (!place)
        return dfr_error_memory(error);
    int code = dfp_replay_plan(w->search->problem, w->search->options, planner, place, w->priority, error);
    bool refused = code && code != DF_E_MEMORY;
    if (!code) {
        dfp_state_place(&w->search->state, place);
        code = candidate_add(w, 1, dfp_state_bottleneck_s(&w->search->state), place, error);
    }
    for (uint32_t i = 0; i < w->n && !code; i++) /* the placement may have been a candidate before, in another order */
        if (w->candidate[i].n_waves == 1 && !memcmp(w->candidate[i].place, place, n * sizeof *place))
            code = try_in_order(w, &w->candidate[i], error);
    free(place);
    return refused ? DF_OK : code;
}

/* Simulates an online policy with its options, as a plan names them: "pats --dl". */
static int simulate_online(struct waves *w, const char *run_as, double *wave_s, struct df_error *error)
{
    struct dfr_run_as as;
    int code = dfr_run_as_read(run_as, &as, error);
    if (code)
        return code;
    return simulate(w, (struct dfr_simulate_options){ .policy = as.policy->name, .locality = as.locality,
                                                      .prefetch = as.prefetch }, wave_s, error);
}

/* Remembers an online policy if it is better than the best so far by more than rounding. */
static void keep_online(struct waves *w, const char *run_as, double wave_s)
{
    if (!dfp_online_wins(wave_s, w->wave_s))
        return;
    w->wave_s = wave_s;
    snprintf(w->run_as, sizeof w->run_as, "%s", run_as);
}

static int try_online(struct waves *w, const char *run_as, struct df_error *error)
{
    double wave_s;
    int code = simulate_online(w, run_as, &wave_s, error);
    if (!code)
        keep_online(w, run_as, wave_s);
    return code;
}

/* The policy with the options that it obeys, as a plan names them. */
static void name_options(char run_as[24], const struct dfr_policy *policy, bool prefetch)
{
    snprintf(run_as, 24, "%s%s%s", policy->name, policy->locality ? " --dl" : "", prefetch ? " --prefetch" : "");
}

/* Tries locality and prefetch with the policies that decide when a job is taken: all with both (ws has prefetch alone), and
 * the best of these with locality alone. What has fewer options is kept first, so it wins a tie. */
static int try_options(struct waves *w, struct df_error *error)
{
    const struct dfr_policy *best = NULL;
    char run_as[sizeof w->run_as];
    double wave_s, best_s = INFINITY;
    int code = DF_OK;
    for (size_t i = 0; i < DFP_N_ONLINE && !code; i++) {
        const struct dfr_policy *policy = dfr_policy_find(dfp_online[i], error);
        if (!policy->pull || dfp_online_repeats(w->search->problem->platform, i))
            continue;
        name_options(run_as, policy, true);
        code = simulate_online(w, run_as, &wave_s, error);
        if (!code && dfp_online_wins(wave_s, best_s)) {
            best_s = wave_s;
            best = policy;
        }
    }
    if (code || !best)
        return code;
    name_options(run_as, best, false);
    code = try_online(w, run_as, error);
    name_options(run_as, best, true);
    if (!code)
        keep_online(w, run_as, best_s);
    return code;
}

/* Does a run under an online policy have as many waves in flight as are planned for? It does if they were asked for. Else
 * it has fewer if a device's memory has no room for everything. */
static bool keeps_inflight(const struct waves *w)
{
    return w->search->options->inflight || !dfp_room_is_short(w->search->judge, w->search->inflight);
}

/* In several passes runs keep the placement (runtime/start/run_machine.c), so online policies do not count. */
static bool goes_by_once(const struct waves *w)
{
    const struct dfp_problem *p = w->search->judge;
    return dfr_passes_choose(p->graph, p->platform, w->search->n_waves, p->passes) == 1;
}

static int choose(struct waves *w, struct df_error *error)
{
    const bool once = goes_by_once(w);
    int code = DF_OK;
    uint64_t jobs = (uint64_t)w->search->n_waves * w->search->compact.n_nodes;
    for (uint32_t i = 0; i < w->n && !code; i++)
        code = try_candidate(w, &w->candidate[i], error);
    for (size_t i = 0; dfp_others[i] && jobs <= FEW_JOBS && !code; i++)
        code = try_planner(w, dfp_others[i], error);
    for (size_t i = 0; i < (jobs <= FEW_JOBS ? DFP_N_ONLINE : 1) && once && !code; i++) {
        if (dfp_online_repeats(w->search->problem->platform, i))
            w->search->state.steps += DFP_STEPS_PER_JOB * jobs; /* counted all the same */
        else
            code = try_online(w, dfp_online[i], error);
    }
    if (!code && once && jobs <= FEW_JOBS && w->search->compact.n_units > 1 && keeps_inflight(w))
        code = try_options(w, error);
    return code ? code : w->best ? DF_OK : w->refused;
}

/* ---- the answer ---- */

static int answer(const struct waves *w, struct dfp_result *result, struct df_error *error)
{
    size_t n = w->search->compact.n_nodes, n_places = n * w->best->n_waves;
    struct dfp_evaluation evaluation;
    uint16_t *place = realloc(result->place, (n_places + 1) * sizeof *place);
    if (!place)
        return dfr_error_memory(error);
    result->place = place;
    memcpy(place, w->best->place, n_places * sizeof *place);
    memcpy(result->priority, w->best_priority, n * sizeof *result->priority);
    snprintf(result->run_as, sizeof result->run_as, "%s", w->run_as);
    result->n_waves = w->best->n_waves;
    result->inflight = w->search->inflight;
    result->wave_s = w->wave_s;
    result->load_s = w->best->load_s;
    result->least_load_s = INFINITY;
    for (uint32_t i = 0; i < w->n; i++)
        result->least_load_s = fmin(result->least_load_s, w->candidate[i].load_s);
    result->load_bound_s = w->bound_s;
    result->evaluations = w->search->state.steps / n;
    int code = dfp_evaluate(w->search->judge, place, result->priority, &evaluation, error);
    result->makespan_s = code ? 0 : evaluation.makespan_s;
    return code ? code : dfp_lower_bound(w->search->judge, &result->lower_bound_s, error);
}

void dfp_waves_count(struct dfp_search *search)
{
    uint32_t wanted = search->options->inflight ? search->options->inflight : DFP_DEFAULT_INFLIGHT;
    search->inflight = wanted < UINT32_MAX / 4 ? wanted : UINT32_MAX / 4;
    search->n_waves = (4 * (uint64_t)search->inflight * search->compact.n_nodes > MANY_JOBS ? 2 : 4) * search->inflight;
}

int dfp_waves_solve(struct dfp_search *search, struct dfp_result *result, struct df_error *error)
{
    uint64_t left = search->budget_steps > search->state.steps ? search->budget_steps - search->state.steps : 0;
    uint32_t n = search->compact.n_nodes;
    struct waves w = { .search = search, .wave_s = INFINITY, .run_as = DFP_RUN_PLACED };
    w.moves = left / 10 + 40 * (uint64_t)n;
    w.priority = malloc(((size_t)n + 1) * sizeof *w.priority);
    w.best_priority = malloc(((size_t)n + 1) * sizeof *w.best_priority);
    int code = w.priority && w.best_priority ? DF_OK : dfr_error_memory(error);
    if (!code)
        code = dfp_rates_find(&search->compact, search->price, left + 200 * (uint64_t)n, &w.rates, error);
    w.bound_s = w.rates.bound_s > search->area_s ? w.rates.bound_s : search->area_s;
    if (!code)
        code = make_candidates(&w, error);
    if (!code)
        code = choose(&w, error);
    if (!code && !w.best)
        code = DF_E_REFUSED;            /* *error says why the last policy could not be simulated */
    if (!code)
        code = answer(&w, result, error);
    for (uint32_t i = 0; i < w.n; i++)
        free(w.candidate[i].place);
    free(w.priority);
    free(w.best_priority);
    dfp_rates_free(&w.rates);
    return code;
}
