/* make_plan.c - makes a complete plan: a placement with priorities, its predicted time, the memory that it needs with the offsets of values, and whether a
 * single unit would be faster. Every command that plans calls it; programs and libraries that plan again at run time have it as dfp_planner. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/memory/memory.h"
#include "partition/model/model.h"
#include "partition/tuning/remap.h"
#include "runtime/base/error.h"
#include "runtime/graph/fit.h"

/* ---- memory ---- */

static bool is_online(const struct df_plan *plan)
{
    return plan->run_as[0] && strcmp(plan->run_as, DFP_RUN_PLACED);
}

/* Counts the node's scratch memory on unit u, for as many jobs as run there at the same time. */
static void need_scratch(const struct df_graph *g, uint32_t v, uint32_t u, struct df_plan *plan)
{
    const struct df_unit *unit = &plan->platform.units[u];
    uint64_t scratch;
    if (__builtin_mul_overflow(dfr_whole_pages(df_node_tmp_bytes(g, v, u ? DF_ON_DEVICE : DF_ON_HOST)),
                               unit->jobs > unit->workers ? unit->jobs : unit->workers, &scratch))
        scratch = UINT64_MAX;
    if (scratch > plan->memory[u].scratch_bytes)
        plan->memory[u].scratch_bytes = scratch;
}

/* Finds the largest job of each unit, and the scratch memory that the unit needs. */
static int need_of_jobs(const struct dfp_problem *problem, struct df_plan *plan, struct df_error *error)
{
    const struct df_graph *g = problem->graph;
    struct dfp_model model;
    for (uint64_t i = 0; i < (uint64_t)g->n_nodes * plan->n_waves; i++) {
        uint32_t v = (uint32_t)(i % g->n_nodes), u = plan->place[i];
        uint64_t job = plan->platform.units[u].unified ? dfr_whole_pages(df_node_tmp_bytes(g, v, u ? DF_ON_DEVICE : DF_ON_HOST))
                                                       : dfr_job_bytes(g, v);
        plan->largest_job_bytes[u] = job > plan->largest_job_bytes[u] ? job : plan->largest_job_bytes[u];
        need_scratch(g, v, u, plan);
    }
    int code = is_online(plan) ? dfp_model_init(&model, problem, error) : DF_OK;
    for (uint32_t v = 0; v < g->n_nodes && is_online(plan) && !code; v++)
        for (uint32_t u = 1; u < model.n_units; u++)
            if (!isnan(dfp_model_time_s(&model, v, u)))
                need_scratch(g, v, u, plan);
    return code;
}

int dfp_plan_memory(const struct dfp_problem *problem, const struct df_plan *plan, uint32_t unit, uint32_t row,
                    struct dfp_memory *memory, struct df_error *error)
{
    const struct df_graph *g = problem->graph;
    struct dfp_model model;
    bool unified = plan->platform.units[unit].unified;
    if (unit == 0 || (!is_online(plan) && !unified))
        return dfp_memory_of_unit(g, plan->place + (size_t)row * g->n_nodes, unit, memory, error);
    uint16_t *place = calloc((size_t)g->n_nodes + 1, sizeof *place);
    int code = place ? dfp_model_init(&model, problem, error) : dfr_error_memory(error);
    for (uint32_t v = 0; v < g->n_nodes && !code; v++)
        place[v] = unified || isnan(dfp_model_time_s(&model, v, unit)) ? 0 : (uint16_t)unit;
    if (!code)
        code = dfp_memory_of_unit(g, place, unit, memory, error);
    free(place);
    return code;
}

/* Stores offsets on the host in lines. If an offset does not fit in 32 bits, none is stored. */
static int store_layout(const struct df_graph *g, const struct dfp_memory *m, struct df_host_layout *layout,
                        struct df_error *error)
{
    const uint64_t most = UINT64_C(1) << 37; /* 2^31 lines */
    if (m->any_bytes > most || m->sequence_bytes > most || m->once_bytes > most)
        return DF_OK;
    layout->any_line = malloc(((size_t)g->n_values + 1) * sizeof *layout->any_line);
    layout->sequence_line = malloc(((size_t)g->n_values + 1) * sizeof *layout->sequence_line);
    if (!layout->any_line || !layout->sequence_line)
        return dfr_error_memory(error);
    for (uint32_t x = 0; x < g->n_values; x++) {
        const struct dfp_tenant *t = &m->tenants[m->of_value[x]];
        layout->any_line[x] = (uint32_t)(t->any / DF_LINE_BYTES);
        layout->sequence_line[x] = (uint32_t)(t->sequence / DF_LINE_BYTES);
    }
    layout->n_values = g->n_values;
    return DF_OK;
}

/* Allocates the layout of devices' memories, with no value anywhere. Without devices there is none. */
static int layout_new(const struct df_graph *g, struct df_plan *plan, struct df_error *error)
{
    uint64_t n = (uint64_t)(plan->platform.n_units - 1) * plan->n_waves * g->n_values;
    if (n == 0)
        return DF_OK;
    plan->devices.page = malloc(n * sizeof *plan->devices.page);
    if (!plan->devices.page)
        return dfr_error_memory(error);
    memset(plan->devices.page, 0xff, n * sizeof *plan->devices.page);
    plan->devices.n = n;
    return DF_OK;
}

static void layout_drop(struct df_plan *plan)
{
    free(plan->devices.page);
    plan->devices = (struct df_device_layout){ 0 };
}

/* Stores where values lie in the unit's memory, in pages. If a page's number does not fit in 32 bits, the whole layout
 * is dropped. once_at[]: of a value that is made once, its offset. */
static void store_pages(const struct df_graph *g, const struct dfp_memory *m, struct df_plan *plan, uint32_t unit,
                        uint32_t row, const uint64_t *once_at)
{
    const uint64_t most = (uint64_t)DF_NONE * DF_PAGE_BYTES;
    if (!plan->devices.n)
        return;
    uint32_t *page = plan->devices.page + ((uint64_t)(unit - 1) * plan->n_waves + row) * g->n_values;
    for (uint32_t x = 0; x < g->n_values; x++) {
        uint32_t t = m->of_value[x];
        if (t == DF_NONE)
            continue;
        uint64_t at = t < m->n_wave ? m->tenants[t].any : once_at[m->tenants[t].first];
        if (at >= most) {
            layout_drop(plan);
            return;
        }
        page[x] = (uint32_t)(at / DF_PAGE_BYTES);
    }
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A value that is made once stays for the whole run, and so takes memory during all waves if any wave reads it. Gives
 * each such value of this row an offset, if it has none yet. once_at[]: of a value, its offset; UINT64_MAX: none. */
static void add_once(const struct dfp_memory *m, uint64_t *once_at, uint64_t *once_bytes)
{
    for (uint32_t t = m->n_wave; t < m->n; t++) {
        uint64_t *at = &once_at[m->tenants[t].first];
        if (*at != UINT64_MAX)
            continue;
        *at = *once_bytes;
        if (__builtin_add_overflow(*once_bytes, m->tenants[t].bytes, once_bytes))
            *once_bytes = UINT64_MAX;
    }
}

/* Adds what waves of this row need. The plan's need is that of the row that needs most. */
static int need_of_row(const struct dfp_problem *problem, struct df_plan *plan, uint32_t unit, uint32_t row,
                       uint64_t *once_at, struct df_error *error)
{
    const struct df_graph *g = problem->graph;
    struct df_memory_need *need = &plan->memory[unit];
    struct dfp_memory m;
    int code = dfp_plan_memory(problem, plan, unit, row, &m, error);
    if (code)
        return code;
    need->wave_bytes = larger(need->wave_bytes, m.any_bytes);
    need->wave_bound_bytes = larger(need->wave_bound_bytes, m.any_bound_bytes);
    need->sequence_bytes = larger(need->sequence_bytes, m.sequence_bytes);
    need->sequence_bound_bytes = larger(need->sequence_bound_bytes, m.sequence_bound_bytes);
    add_once(&m, once_at, &need->once_bytes);
    plan->pool_bytes[unit] = dfr_need_bytes(need, 1);
    if (unit > 0)
        store_pages(g, &m, plan, unit, row, once_at);
    else
        code = store_layout(g, &m, &plan->layout, error);
    if (unit == 0 && !code)
        code = dfp_memory_by_size(g, &m, &plan->layout.by_size_bytes, error);
    dfp_memory_free(&m);
    return code;
}

static int need_of_unit(const struct dfp_problem *problem, struct df_plan *plan, uint32_t unit, struct df_error *error)
{
    const struct df_graph *g = problem->graph;
    uint32_t rows = unit ? plan->n_waves : 1; /* all rows are alike on the host: any value may come there */
    uint64_t *once_at = malloc(((size_t)g->n_values + 1) * sizeof *once_at);
    int code = once_at ? DF_OK : dfr_error_memory(error);
    if (!code)
        memset(once_at, 0xff, g->n_values * sizeof *once_at);
    for (uint32_t row = 0; row < rows && !code; row++)
        code = need_of_row(problem, plan, unit, row, once_at, error);
    free(once_at);
    return code;
}

/* ---- one unit alone ---- */

/* Whether an earlier unit is like this one, and so gives the same prediction. */
static bool is_twin(const struct df_platform *platform, uint32_t unit)
{
    for (uint32_t u = 1; u < unit; u++)
        if (df_unit_alike(&platform->units[u], &platform->units[unit]))
            return true;
    return false;
}

int dfp_predict_all(const struct dfp_problem *problem, uint32_t unit, double *makespan_s, struct df_error *error)
{
    struct dfp_model model;
    struct dfp_evaluation evaluation;
    size_t n = problem->graph->n_nodes;
    uint16_t *place = malloc((n + 1) * sizeof *place);
    float *priority = calloc(n + 1, sizeof *priority);
    int code = place && priority ? dfp_model_init(&model, problem, error) : dfr_error_memory(error);
    if (!code && !(code = dfp_place_all(&model, unit, place, error)))
        code = dfp_evaluate(problem, place, priority, &evaluation, error);
    free(place);
    free(priority);
    if (!code)
        *makespan_s = evaluation.makespan_s;
    return code;
}

static int predict_single(const struct dfp_problem *problem, struct df_plan *plan, struct df_error *error)
{
    int code = DF_OK;
    for (uint32_t u = 0; u < problem->platform->n_units && !code; u++) {
        double makespan_s;
        if (is_twin(problem->platform, u))
            continue;
        code = dfp_predict_all(problem, u, &makespan_s, error);
        if (!code && (u == 0 || makespan_s < plan->best_single_s)) {
            plan->best_single_s = makespan_s;
            plan->best_single_unit = u;
        }
    }
    return code;
}

/* ---- the plan ---- */

static struct df_plan *plan_new(const struct dfp_problem *problem, const char *policy)
{
    const struct df_times *times = problem->times;
    size_t n = problem->graph->n_nodes;
    struct df_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    int code = dfr_times_copy(times, &plan->times, NULL);
    plan->place = calloc(n + 1, sizeof *plan->place);
    plan->priority = calloc(n + 1, sizeof *plan->priority);
    if (code || !plan->place || !plan->priority) {
        dfr_plan_free(plan);
        return NULL;
    }
    strncpy(plan->policy, policy, sizeof plan->policy - 1);
    plan->platform = *problem->platform;
    plan->n_nodes = problem->graph->n_nodes;
    plan->n_waves = 1;
    return plan;
}

/* Lets the partitioner fill the result. If it gives only places, priorities are upward ranks and the bound is computed
 * here. */
static int place(const struct dfp_problem *problem, const struct dfp_partitioner *partitioner,
                 const struct dfp_options *options, struct df_plan *plan, struct dfp_result *result,
                 struct df_error *error)
{
    *result = (struct dfp_result){ .place = plan->place, .priority = plan->priority, .run_as = DFP_RUN_PLACED };
    if (partitioner->solve) {
        int solved = partitioner->solve(problem, options, result, error);
        plan->place = result->place;    /* both may have been realloc'ed */
        plan->priority = result->priority;
        return solved;
    }
    int code = partitioner->run(problem, options, plan->place, error);
    if (code)
        return code;
    dfp_upward_rank(problem, plan->place, plan->priority);
    return dfp_lower_bound(problem, &result->lower_bound_s, error);
}

static int complete(const struct dfp_problem *problem, bool memory, struct df_plan *plan, struct df_error *error)
{
    int code = need_of_jobs(problem, plan, error);
    if (memory && !code)
        code = layout_new(problem->graph, plan, error);
    for (uint32_t u = 0; u < problem->platform->n_units && memory && !code; u++)
        code = need_of_unit(problem, plan, u, error);
    return code ? code : predict_single(problem, plan, error);
}

/* All of a plan whose places and priorities are there. */
static int finish(const struct dfp_problem *problem, bool memory, const struct dfp_result *result, struct df_plan *plan, struct df_error *error)
{
    struct dfp_evaluation evaluation;
    int code = dfp_evaluate(problem, plan->place, plan->priority, &evaluation, error);
    if (code)
        return code;
    bool placed = !strcmp(result->run_as, DFP_RUN_PLACED);
    memcpy(plan->run_as, result->run_as, sizeof plan->run_as);
    plan->predicted_s = placed && !result->simulated ? evaluation.makespan_s : result->makespan_s;
    plan->lower_bound_s = result->lower_bound_s;
    plan->n_waves = result->n_waves > 1 ? result->n_waves : 1;
    plan->inflight = result->inflight;
    plan->wave_s = result->wave_s;
    plan->load_s = result->load_s;
    plan->least_load_s = result->least_load_s;
    plan->load_bound_s = result->load_bound_s;
    return complete(problem, memory, plan, error);
}

static int fill(const struct dfp_problem *problem, const struct dfp_partitioner *partitioner,
                const struct dfp_options *options, struct df_plan *plan, struct df_error *error)
{
    struct dfp_result result;
    int code = place(problem, partitioner, options, plan, &result, error);
    return code ? code : finish(problem, !options->no_memory, &result, plan, error);
}

static int unknown_policy(const char *policy, struct df_error *error)
{
    char names[256] = "";
    for (size_t i = 0; dfp_partitioners[i]; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", dfp_partitioners[i]->name);
    }
    return dfr_error(error, DF_E_ARGUMENT, "'%s' is not a policy that places nodes before the run; these are %s",
                     policy, names);
}

int dfp_plan_make(const struct dfp_problem *problem, const char *policy, const struct dfp_options *options,
                  struct df_plan **plan, struct df_error *error)
{
    const struct dfp_partitioner *partitioner = dfp_partitioner_find(policy);
    if (!partitioner)
        return unknown_policy(policy, error);
    struct df_plan *made = plan_new(problem, partitioner->name);
    if (!made)
        return dfr_error_memory(error);
    struct dfp_options with = *options;
    if (!with.budget && with.budget_times)
        with.budget = with.budget_times * dfp_default_budget(problem->graph);
    int code = fill(problem, partitioner, &with, made, error);
    if (code) {
        dfr_plan_free(made);
        return code;
    }
    *plan = made;
    return DF_OK;
}

int dfp_plan_of_result(const struct dfp_problem *problem, const char *policy, const struct dfp_result *result, struct df_plan **plan,
                       struct df_error *error)
{
    struct df_plan *made = plan_new(problem, policy);
    const size_t n_waves = result->n_waves > 1 ? result->n_waves : 1;
    uint16_t *rows = made ? realloc(made->place, (n_waves * made->n_nodes + 1) * sizeof *rows) : NULL;
    struct dfp_result copy = *result;
    if (!rows) {
        dfr_plan_free(made);
        return dfr_error_memory(error);
    }
    made->place = memcpy(rows, result->place, n_waves * made->n_nodes * sizeof *rows);
    memcpy(made->priority, result->priority, made->n_nodes * sizeof *made->priority);
    int code = dfp_lower_bound(problem, &copy.lower_bound_s, error);
    if (!code)
        code = finish(problem, true, &copy, made, error);
    if (code) {
        dfr_plan_free(made);
        return code;
    }
    *plan = made;
    return DF_OK;
}

static int make(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times,
                const char *policy, struct df_plan **plan, struct df_error *error)
{
    struct dfp_problem problem = { graph, platform, times, 0 };
    struct dfp_options options;
    dfp_options_default(&options);
    return dfp_plan_make(&problem, policy, &options, plan, error);
}

static uint32_t passes(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times, uint32_t waves)
{
    struct dfp_problem problem = { .graph = graph, .platform = platform, .times = times };
    struct dfp_passes choice;
    struct df_error error;
    return dfp_passes_choose(&problem, waves, &choice, &error) == DF_OK ? choice.n : 0;
}

const struct df_planner dfp_planner = { make, passes, &dfp_remapper };
