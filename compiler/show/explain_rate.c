/* explain_rate.c - computes the time per wave in steady state, with many waves in flight, from a simulated run, for explain_facts.c and explain_if.c.
 *
 * Blocks:   the run has three blocks of waves of equal length, and as many waves again as are in flight. The first
 *           block fills the machine, and the last waves empty it. What counts is how much later the waves of the third
 *           block end, on average, than those of the second. The average keeps the last digits quiet if waves end in
 *           groups, as they do on several workers. A block is a multiple of the waves that are placed jointly.
 * Order:    the jobs go as the policy of the plan has them go: gp-thesis takes the oldest, the others that of the highest rank.
 * Once:     nodes that fire once are no part of a settled run, so their jobs and copies do not count.
 * Passes:   if the waves go by several times (runtime/graph/passes.h), what a wave takes is the sum over the passes. In each of them
 *           the same waves count.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/show/explain.h"
#include "runtime/base/error.h"
#include "runtime/graph/passes.h"
#include "runtime/simulate/simulate.h"

enum {
    LONG_BLOCK = 64,                    /* in waves, for each wave in flight */
    MANY_JOBS = 100000                  /* blocks of a run of more jobs are shorter */
};

struct listener {
    const struct dfp_model *model;
    struct dfc_rate *rate;              /* sums over the waves that count */
    uint32_t block;                     /* its length in waves */
    uint32_t waves, stride;             /* of a pass; the simulator's number of wave w of pass p is p * stride + w */
    double *end_s;                      /* [pass * waves + wave] */
};

static bool counts(const struct listener *l, uint32_t node, uint32_t number, double end_s)
{
    const uint32_t wave = number % l->stride;
    if (l->model->problem->graph->nodes[node].flags & DF_NODE_ONCE || wave >= l->waves) /* or between two passes */
        return false;
    double *last_s = &l->end_s[(size_t)(number / l->stride) * l->waves + wave];
    if (end_s > *last_s)
        *last_s = end_s;
    return wave >= l->block && wave < 3 * l->block;
}

static void ran(void *arg, uint32_t worker, uint32_t node, uint32_t wave, double begin_s, double end_s)
{
    const struct listener *l = arg;
    const struct df_unit *units = l->model->problem->platform->units;
    uint32_t unit = 0;
    if (!counts(l, node, wave, end_s))
        return;
    while (worker >= units[unit].workers)
        worker -= units[unit++].workers;
    l->rate->busy_s[unit] += (end_s - begin_s) * dfp_model_workers(l->model, node, unit);
}

static void copied(void *arg, uint32_t from, uint32_t to, uint32_t value, uint32_t wave, double begin_s, double end_s)
{
    const struct listener *l = arg;
    if (counts(l, l->model->problem->graph->values[value].producer, wave, end_s))
        l->rate->copy_s[from ? from : to][!from ? 1 : to ? 2 : 0] += end_s - begin_s;
}

/* The length of a block: a multiple of the waves that are placed jointly. */
static uint32_t block_waves(const struct df_graph *g, uint32_t rows, uint32_t inflight)
{
    uint64_t most = (uint64_t)LONG_BLOCK * inflight, waves = MANY_JOBS / 3 / (g->n_nodes + 1);
    waves = waves > most ? most : waves < inflight ? inflight : waves;
    return (uint32_t)((waves + rows - 1) / rows * rows);
}

static double mean(const double *values, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += values[i];
    return sum / n;
}

/* From one wave's end to the next one's, in one pass. */
static double between_ends(const struct listener *l, uint32_t pass)
{
    const double *end_s = l->end_s + (size_t)pass * l->waves;
    return (mean(end_s + 2 * l->block, l->block) - mean(end_s + l->block, l->block)) / l->block;
}

uint32_t dfc_rate_inflight(const struct dfp_problem *problem, const struct df_plan *plan,
                           const struct dfp_options *options)
{
    return options->inflight ? options->inflight
                             : dfr_plan_waves(plan, problem->platform, DFP_DEFAULT_INFLIGHT);
}

int dfc_rate_find(const struct dfp_problem *problem, const struct df_plan *plan, bool placed,
                  const struct dfp_options *options, struct dfc_rate *rate, struct df_error *error)
{
    struct df_plan as_run = *plan;
    struct dfr_simulate_options how = { .policy = plan->policy, .plan = &as_run, .seed = options->seed,
                                        .inflight = dfc_rate_inflight(problem, plan, options) };
    struct dfp_model model;
    struct listener l = { .model = &model, .rate = rate, .block = block_waves(problem->graph, plan->n_waves, how.inflight) };
    struct dfr_simulation run = { .ran = ran, .copied = copied, .arg = &l };
    how.waves = l.waves = 3 * l.block + how.inflight;
    how.passes = dfr_passes_choose(problem->graph, problem->platform, l.waves, problem->passes);
    l.stride = (uint32_t)dfr_passes_stride(problem->graph, dfr_passes_overlap(problem->graph, problem->platform, how.passes), l.waves,
                                           how.inflight);
    *rate = (struct dfc_rate){ .wave_s = 0 };
    l.end_s = calloc((size_t)how.passes * l.waves, sizeof *l.end_s);
    if (!l.end_s)
        return dfr_error_memory(error);
    if (placed)
        strcpy(as_run.run_as, DFP_RUN_PLACED);
    int code = dfp_model_init(&model, problem, error);
    if (!code)
        code = dfr_simulate(problem->graph, problem->platform, problem->times, &how, &run, error);
    for (uint32_t pass = 0; pass < how.passes; pass++)
        rate->wave_s += between_ends(&l, pass);
    for (uint32_t u = 0; u < problem->platform->n_units; u++) {
        rate->busy_s[u] /= 2 * l.block;
        for (int way = 0; way < 3; way++)
            rate->copy_s[u][way] /= 2 * l.block;
    }
    free(l.end_s);
    return code;
}
