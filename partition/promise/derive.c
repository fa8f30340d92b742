/* derive.c - simulates runs of a plan with times that are drawn, and derives rate, latency and memory from them (promise.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "partition/model/model.h"
#include "partition/promise/promise.h"
#include "runtime/base/error.h"
#include "runtime/graph/passes.h"
#include "runtime/simulate/simulate.h"

#define FAR_OFF 1.1

enum {
    MANY_JOBS = 40000,                  /* of a run: larger graphs have fewer waves that count */
    LEAST_WAVES = 8,
    RUNS_BEYOND = 3,                    /* so many runs are expected to miss the rate that is promised, */
    WAVES_BEYOND = 20,                  /* and so many waves the latency */
    LEAST_RUNS = 32
};

/* ---- one run ---- */

static bool is_single(const struct df_graph *g)
{
    struct dfp_options options;
    dfp_options_default(&options);
    return !dfp_is_for_rate(g, &options);
}

uint32_t dfp_promise_waves(const struct df_graph *g)
{
    const uint32_t most = MANY_JOBS / (g->n_nodes + 1);
    return is_single(g) ? 1 : most < LEAST_WAVES ? LEAST_WAVES : most < DFP_PROMISE_WAVES ? most : DFP_PROMISE_WAVES;
}

uint32_t dfp_promise_inflight(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_options *options)
{
    if (is_single(problem->graph))
        return 1;
    return options->inflight ? options->inflight : dfr_plan_waves(plan, problem->platform, plan->inflight ? plan->inflight : DF_DEFAULT_INFLIGHT);
}

struct listener {
    const struct dfp_problem *problem;
    double *begin_s, *end_s;            /* by wave; begin_s < 0: no job of it has run */
    uint32_t first, n;                  /* waves that count */
    struct dfr_job_span *spans;         /* [(wave - first) * n_nodes + node]; NULL: not wanted */
};

static void ends(const struct listener *l, uint32_t node, uint32_t wave, double begin_s, double end_s)
{
    if (l->problem->graph->nodes[node].flags & DF_NODE_ONCE)
        return;
    if (begin_s >= 0 && (l->begin_s[wave] < 0 || begin_s < l->begin_s[wave]))
        l->begin_s[wave] = begin_s;
    if (end_s > l->end_s[wave])
        l->end_s[wave] = end_s;
}

static void ran(void *arg, uint32_t worker, uint32_t node, uint32_t wave, double begin_s, double end_s)
{
    const struct listener *l = arg;
    uint32_t unit = 0;
    ends(l, node, wave, begin_s, end_s);
    if (!l->spans || wave < l->first || wave >= l->first + l->n || l->problem->graph->nodes[node].flags & DF_NODE_ONCE)
        return;
    while (worker >= l->problem->platform->units[unit].workers)
        worker -= l->problem->platform->units[unit++].workers;
    l->spans[(size_t)(wave - l->first) * l->problem->graph->n_nodes + node] = (struct dfr_job_span){ begin_s, end_s, unit };
}

static void passed(void *arg, uint32_t unit, uint32_t node, uint32_t wave, double time_s)
{
    (void)unit;
    ends(arg, node, wave, -1, time_s);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* From the ends of the waves, in order. Of a single wave the rate is that of such waves one after the other. */
static double rate_of(const struct listener *l, uint32_t waves)
{
    qsort(l->end_s, waves, sizeof *l->end_s, by_value);
    const double since_s = l->first ? l->end_s[l->first - 1] : 0, s = l->end_s[l->first + l->n - 1] - since_s;
    return s > 0 ? l->n / s : INFINITY;
}

static int simulate(const struct dfp_problem *problem, const struct df_plan *plan, uint32_t inflight, double (*stretch)(void *, uint32_t, uint32_t, uint32_t), void *arg,
                    struct listener *l, double *rate, double *latency_s, struct df_error *error)
{
    const bool single = is_single(problem->graph);
    l->problem = problem;
    l->n = dfp_promise_waves(problem->graph);
    l->first = single ? 0 : 2 * inflight;
    const uint32_t waves = l->first + l->n + (single ? 0 : inflight);
    struct dfr_simulate_options options = { .policy = plan->policy, .plan = plan, .waves = waves, .inflight = inflight, .passes = 1, .seed = 1, .stretch = stretch,
                                            .stretch_arg = arg };
    struct dfr_simulation run = { .ran = ran, .passed = passed, .arg = l };
    l->begin_s = malloc(2 * (size_t)waves * sizeof *l->begin_s);
    if (!l->begin_s)
        return dfr_error_memory(error);
    l->end_s = l->begin_s + waves;
    for (uint32_t w = 0; w < waves; w++) {
        l->begin_s[w] = -1;
        l->end_s[w] = 0;
    }
    int code = dfr_simulate(problem->graph, problem->platform, problem->times, &options, &run, error);
    for (uint32_t w = 0; code == DF_OK && w < l->n; w++)
        latency_s[w] = l->begin_s[l->first + w] < 0 ? 0 : l->end_s[l->first + w] - l->begin_s[l->first + w];
    if (code == DF_OK)
        *rate = rate_of(l, waves);
    free(l->begin_s);
    return code;
}

int dfp_promise_run(const struct dfp_problem *problem, const struct df_plan *plan, uint32_t inflight, double (*stretch)(void *arg, uint32_t unit, uint32_t node, uint32_t wave),
                    void *arg, double *rate, double *latency_s, struct df_error *error)
{
    struct listener l = { 0 };
    return simulate(problem, plan, inflight, stretch, arg, &l, rate, latency_s, error);
}

/* ---- draws ---- */

struct draws {
    const struct dfp_model *model;
    const struct df_spread *spread;
    uint64_t run;
};

static double stretch(void *arg, uint32_t unit, uint32_t node, uint32_t wave)
{
    const struct draws *d = arg;
    const struct df_graph *g = d->model->problem->graph;
    const struct df_spread *spread = &d->spread[(size_t)d->model->cls[unit] * g->n_works + g->nodes[node].work];
    uint64_t random = d->run * UINT64_C(0x9e3779b97f4a7c15) ^ ((uint64_t)wave << 32 | node) * UINT64_C(0xbf58476d1ce4e5b9);
    return spread->quantile[DFR_QUANTILES - 1] > 0 ? dfr_quantile(spread->quantile, dfp_random_unit(&random)) : 1;
}

/* ---- the values ---- */

struct samples {
    uint32_t n_runs, n_waves;
    double *rates, *latencies;          /* latencies: by run and wave */
    double *sorted;                     /* latencies */
};

static bool is_spread(const struct dfp_problem *problem, const struct df_spread *spread)
{
    bool any = false;
    for (size_t i = 0; spread && i < (size_t)problem->times->n_classes * problem->times->n_works; i++)
        any |= spread[i].quantile[DFR_QUANTILES - 1] > 0;
    return any;
}

static uint32_t runs_wanted(const struct dfp_problem *problem, const struct df_spread *spread)
{
    const struct df_graph *g = problem->graph;
    double runs = LEAST_RUNS;
    for (uint32_t p = 0; p < g->n_promises; p++) {
        const double beyond = 1 - g->promises[p].confidence;
        if (g->promises[p].kind == DF_PROMISE_RATE)
            runs = fmax(runs, RUNS_BEYOND / beyond);
        else if (g->promises[p].kind == DF_PROMISE_LATENCY)
            runs = fmax(runs, WAVES_BEYOND / beyond / dfp_promise_waves(g));
    }
    return is_spread(problem, spread) ? (uint32_t)ceil(runs) : 1;
}

static int draw_runs(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_promise_options *options, uint32_t inflight, struct samples *s,
                     struct df_error *error)
{
    struct dfp_model model;
    struct draws draws = { &model, options->spread, 0 };
    int code = dfp_model_init(&model, problem, error);
    for (uint32_t r = 0; code == DF_OK && r < s->n_runs; r++) {
        draws.run = (uint64_t)options->partition.seed << 32 | r;
        code = dfp_promise_run(problem, plan, inflight, options->spread ? stretch : NULL, &draws, &s->rates[r], &s->latencies[(size_t)r * s->n_waves], error);
    }
    memcpy(s->sorted, s->latencies, (size_t)s->n_runs * s->n_waves * sizeof *s->sorted);
    qsort(s->rates, s->n_runs, sizeof *s->rates, by_value);
    qsort(s->sorted, (size_t)s->n_runs * s->n_waves, sizeof *s->sorted, by_value);
    return code;
}

/* The value that the share of another run's values does not exceed. */
static double not_above(const double *sorted, size_t n, double share)
{
    const double at = ceil(share * ((double)n + 1)) - 1;
    return sorted[at < (double)n ? (size_t)at : n - 1];
}

static double not_below(const double *sorted, size_t n, double share)
{
    const double at = floor((1 - share) * ((double)n + 1)) - 1;
    return sorted[at > 0 ? (size_t)at : 0];
}

/* quick: of a unit that another machine lacks, nothing is needed. */
static int memory_of(const struct dfp_problem *problem, const struct df_promise *promise, const struct dfp_derived *d, bool quick, double *bytes, struct df_error *error)
{
    const char *name = df_graph_string(problem->graph, promise->unit);
    for (uint32_t u = 0; u < problem->platform->n_units; u++)
        if (strcmp(problem->platform->units[u].name, name) == 0) {
            *bytes = (double)d->memory_bytes[u];
            return DF_OK;
        }
    *bytes = 0;
    if (quick)
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "memory of '%s' is promised, and platform '%s' has no unit of this name", name, problem->platform->name);
}

static void judge(const struct df_promise *promise, struct dfp_promised *promised)
{
    const double ratio = promised->value / promise->bound;
    promised->spare = promise->kind == DF_PROMISE_RATE ? ratio - 1 : 1 - ratio;
    promised->given = promise->kind == DF_PROMISE_RATE ? promised->value >= promise->bound : promised->value <= promise->bound;
}

static int find_values(const struct dfp_problem *problem, bool quick, const struct samples *s, struct dfp_derived *d, struct df_error *error)
{
    const struct df_graph *g = problem->graph;
    int code = DF_OK;
    d->given = true;
    for (uint32_t p = 0; p < g->n_promises && code == DF_OK; p++) {
        const struct df_promise *promise = &g->promises[p];
        if (promise->kind == DF_PROMISE_RATE)
            d->promised[p].value = not_below(s->rates, s->n_runs, promise->confidence);
        else if (promise->kind == DF_PROMISE_LATENCY)
            d->promised[p].value = not_above(s->sorted, (size_t)s->n_runs * s->n_waves, promise->confidence);
        else
            code = memory_of(problem, promise, d, quick, &d->promised[p].value, error);
        judge(promise, &d->promised[p]);
        d->given &= d->promised[p].given;
    }
    return code;
}

/* ---- the wave that says why ---- */

/* The latency of which the path is wanted: at the confidence of the first promise of a latency, or at the default one. */
static double latency_at(const struct df_graph *g, const struct samples *s)
{
    double confidence = DF_DEFAULT_CONFIDENCE;
    for (uint32_t p = g->n_promises; p-- > 0;)
        if (g->promises[p].kind == DF_PROMISE_LATENCY)
            confidence = g->promises[p].confidence;
    return not_above(s->sorted, (size_t)s->n_runs * s->n_waves, confidence);
}

/* Simulates the run again that has a wave of this latency. */
static int find_path(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_promise_options *options, const struct samples *s,
                     struct dfp_derived *d, struct df_error *error)
{
    const uint32_t n_nodes = problem->graph->n_nodes;
    struct listener l = { .spans = calloc((size_t)s->n_waves * n_nodes + 1, sizeof *l.spans) };
    double *latencies = malloc(s->n_waves * sizeof *latencies), rate;
    struct dfp_model model;
    struct draws draws = { &model, options->spread, (uint64_t)options->partition.seed << 32 };
    size_t at = 0;
    d->latency_s = latency_at(problem->graph, s);
    while (s->latencies[at] != d->latency_s)
        at++;
    draws.run |= at / s->n_waves;
    int code = l.spans && latencies ? dfp_model_init(&model, problem, error) : dfr_error_memory(error);
    if (code == DF_OK)
        code = simulate(problem, plan, d->inflight, options->spread ? stretch : NULL, &draws, &l, &rate, latencies, error);
    struct dfr_job_span *spans = l.spans + at % s->n_waves * n_nodes;
    if (code == DF_OK && dfr_wave_path(problem->graph, spans, &d->path))
        d->unit = spans[d->path.longest].unit;
    free(latencies);
    free(l.spans);
    return code;
}

/* ---- all ---- */

/* No placement can keep it, or this one misses it by far without spread: draws are around the times, or above them. */
static bool is_far_off(const struct df_graph *g, const struct dfp_derived *d, double shortest_s)
{
    bool off = false;
    for (uint32_t p = 0; p < g->n_promises; p++) {
        const double bound = g->promises[p].bound;
        if (g->promises[p].kind == DF_PROMISE_RATE)
            off |= bound * d->least_wave_s > FAR_OFF || d->rate * FAR_OFF < bound;
        else if (g->promises[p].kind == DF_PROMISE_LATENCY)
            off |= fmax(d->least_latency_s, shortest_s) > bound * FAR_OFF;
    }
    return off;
}

static double shortest_of(const double *latencies, uint32_t n)
{
    double least = latencies[0];
    for (uint32_t w = 1; w < n; w++)
        least = fmin(least, latencies[w]);
    return least;
}

static void set_bounds(const struct dfp_problem *problem, const struct df_plan *plan, struct dfp_derived *d)
{
    d->least_latency_s = plan->lower_bound_s;
    d->least_wave_s = plan->load_bound_s;
    for (uint32_t u = 0; u < problem->platform->n_units; u++)
        d->memory_bytes[u] = dfr_need_bytes(&plan->memory[u], d->inflight);
}

static int derive(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_promise_options *options, struct dfp_derived *d, struct df_error *error)
{
    const uint32_t most = runs_wanted(problem, options->spread);
    struct samples s = { .n_waves = dfp_promise_waves(problem->graph) };
    const size_t n = (size_t)most * s.n_waves;
    d->inflight = dfp_promise_inflight(problem, plan, &options->partition);
    set_bounds(problem, plan, d);
    s.rates = malloc(most * sizeof *s.rates);
    s.latencies = malloc(2 * n * sizeof *s.latencies);
    int code = s.rates && s.latencies ? dfp_promise_run(problem, plan, d->inflight, NULL, NULL, &d->rate, s.latencies, error) : dfr_error_memory(error);
    if (code == DF_OK) {
        s.sorted = s.latencies + n;
        s.n_runs = d->runs = options->quick && is_far_off(problem->graph, d, shortest_of(s.latencies, s.n_waves)) ? 1 : most;
        code = draw_runs(problem, plan, options, d->inflight, &s, error);
    }
    if (code == DF_OK)
        code = find_values(problem, options->quick, &s, d, error);
    if (code == DF_OK && !options->quick)
        code = find_path(problem, plan, options, &s, d, error);
    d->given &= s.n_runs == most;
    free(s.rates);
    free(s.latencies);
    return code;
}

int dfp_promises_derive(const struct dfp_problem *problem, const struct df_plan *given, const struct dfp_promise_options *options, struct dfp_derived *d,
                        struct df_error *error)
{
    struct df_plan *own = NULL;
    const uint32_t passes = dfr_passes_choose(problem->graph, problem->platform, DFP_PROMISE_WAVES, problem->passes);
    *d = (struct dfp_derived){ .n = problem->graph->n_promises, .promised = calloc(problem->graph->n_promises + 1u, sizeof *d->promised) };
    int code = d->promised ? DF_OK : dfr_error_memory(error);
    if (code == DF_OK && passes > 1)
        code = dfr_error(error, DF_E_REFUSED, "the waves go by in %u passes: nothing can be promised of such runs", (unsigned)passes);
    if (code == DF_OK && !given)
        code = dfp_plan_make(problem, options->policy ? options->policy : "gp", &options->partition, &own, error);
    if (code == DF_OK)
        code = derive(problem, given ? given : own, options, d, error);
    dfr_plan_free(own);
    if (code != DF_OK)
        dfp_derived_free(d);
    return code;
}

void dfp_derived_free(struct dfp_derived *d)
{
    free(d->promised);
    d->promised = NULL;
}
