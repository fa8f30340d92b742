/* explain_if.c - computes for `dfc explain --what-if` (commands/cmd_explain.c) the effect of a different machine or of more
 * variants. Each change is planned as a problem of its own by the same policy. If that plan is no better, the present
 * placement is kept, unless the change forbids it. For throughput both are simulated (explain_rate.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/show/explain.h"
#include "compiler/show/shared.h"
#include "compiler/tools/messages.h"
#include "profiles/estimate/roofline.h"
#include "runtime/base/error.h"
#include "runtime/base/sampler.h"

#define MOST_VARIANTS 6                 /* kernels without a gpu variant that are tried, those with most time first */

struct trial {
    const struct dfc_explained *e;
    const char *policy;
    struct dfc_change *changes;
    int n;
};

/* Can every node stay where it is? A hint binds as soon as there is a unit of the class that it names. */
static bool stays_possible(const struct trial *t, const struct dfp_problem *problem)
{
    struct dfp_model model;
    if (dfp_model_init(&model, problem, NULL) != DF_OK)
        return false;
    for (uint32_t v = 0; v < problem->graph->n_nodes; v++)
        if (isnan(dfp_model_time_s(&model, v, t->e->plan->place[v])))
            return false;
    return true;
}

/* Do the plan's jobs go by their numbers, as those of all-cpu do? Else they go by rank, which a change may change. */
static bool goes_by_number(const struct df_plan *plan)
{
    for (uint32_t v = 0; v < plan->n_nodes; v++)
        if (plan->priority[v] != 0)
            return false;
    return true;
}

/* What a wave takes of the changed problem in steady state, if it runs by this plan. */
static int find_rate(const struct trial *t, const struct dfp_problem *problem, const struct df_plan *plan,
                     double *wave_s, struct df_error *error)
{
    struct dfc_rate rate;
    int code = dfc_rate_find(problem, plan, false, t->e->options, &rate, error);
    *wave_s = rate.wave_s;
    return code;
}

/* Predicts a wave with every node where it is; INFINITY: that is impossible. If the present prediction is longer than
 * the evaluator's, a device's memory is short, which the evaluator does not know: the present prediction stays then. */
static int find_present(const struct trial *t, const struct dfp_problem *problem, double *present_s,
                        struct df_error *error)
{
    struct dfp_evaluation now;
    double now_s = t->e->run_s;
    *present_s = INFINITY;
    if (!stays_possible(t, problem))
        return DF_OK;
    *present_s = now_s;
    if (t->e->inflight) {
        int status = find_rate(t, problem, t->e->plan, present_s, error);
        *present_s = fmin(*present_s, now_s);
        return status;
    }
    if (t->e->evaluation.makespan_s < now_s)
        return DF_OK;
    float *rank = calloc((size_t)problem->graph->n_nodes + 1, sizeof *rank);
    if (!rank)
        return dfr_error_memory(error);
    if (!goes_by_number(t->e->plan))
        dfp_upward_rank(problem, t->e->plan->place, rank);
    int code = dfp_evaluate(problem, t->e->plan->place, rank, &now, error);
    free(rank);
    if (!code)
        *present_s = fmin(now.makespan_s, now_s);
    return code;
}

/* Plans a changed problem and adds the outcome under `what`, which is in the next change's place already. With a new
 * variant that a hint then asks for, a job may fit nowhere: such a change is left out. */
static bool try_problem(struct trial *t, const struct dfp_problem *problem)
{
    struct df_plan *plan;
    struct df_error error = { "" };
    double present_s, planned_s = 0;
    int code = find_present(t, problem, &present_s, &error);
    if (code == DF_OK)
        code = dfp_plan_make(problem, t->policy, t->e->options, &plan, &error);
    if (code == DF_E_REFUSED && isinf(present_s))
        return true;
    if (code == DF_OK) {
        planned_s = plan->predicted_s;
        if (t->e->inflight)
            code = find_rate(t, problem, plan, &planned_s, &error);
        dfr_plan_free(plan);
    }
    if (code != DF_OK) {
        dfc_error("%s", error.text);
        return false;
    }
    t->changes[t->n].gpu_times = dfc_gpu_source(problem);
    t->changes[t->n++].predicted_s = fmin(planned_s, present_s);
    return true;
}

static char *what(struct trial *t)
{
    return t->changes[t->n].what;
}

/* ---- the machine ---- */

static uint32_t last_gpu(const struct df_platform *p)
{
    for (uint32_t u = p->n_units; u-- > 1;)
        if (p->units[u].cls == DF_CLASS_GPU)
            return u;
    return DF_NONE;
}

static bool try_gpu(struct trial *t)
{
    struct dfp_problem problem = *t->e->problem;
    struct df_platform platform = *problem.platform, stated;
    uint32_t like = last_gpu(&platform);
    if (platform.n_units == DF_MAX_UNITS)
        return true;
    df_platform_default(&stated, 1);
    struct df_unit *unit = &platform.units[platform.n_units++];
    *unit = like == DF_NONE ? stated.units[1] : platform.units[like];
    if (like == DF_NONE)
        snprintf(what(t), sizeof t->changes->what, "a GPU (12 GB/s and 10 us each way)");
    else
        snprintf(what(t), sizeof t->changes->what, "one more GPU like %s", platform.units[like].name);
    snprintf(unit->name, sizeof unit->name, "gpu-more");
    problem.platform = &platform;
    return try_problem(t, &problem);
}

static bool try_worker(struct trial *t)
{
    struct dfp_problem problem = *t->e->problem;
    struct df_platform platform = *problem.platform;
    if (platform.units[0].workers == DF_MAX_WORKERS)
        return true;
    platform.units[0].workers++;
    snprintf(what(t), sizeof t->changes->what, "one more CPU worker (%u)", (unsigned)platform.units[0].workers);
    problem.platform = &platform;
    return try_problem(t, &problem);
}

static void halve(struct df_link *link)
{
    link->bytes_per_s *= 2;
    link->latency_s /= 2;
}

static bool try_link(struct trial *t)
{
    struct dfp_problem problem = *t->e->problem;
    struct df_platform platform = *problem.platform;
    if (df_platform_on_host(&platform) == (1u << platform.n_units) - 1)
        return true;                    /* there is no link */
    for (uint32_t u = 1; u < platform.n_units; u++) {
        halve(&platform.units[u].h2d);
        halve(&platform.units[u].d2h);
        halve(&platform.units[u].peer);
    }
    snprintf(what(t), sizeof t->changes->what, "link%s twice as fast (each copy in half the time)",
             platform.n_units > 2 ? "s" : "");
    problem.platform = &platform;
    return try_problem(t, &problem);
}

/* Tries links between devices: in each class with several devices, those that have no link to the others get one as
 * fast as the host's. */
static bool try_peers(struct trial *t)
{
    struct dfp_problem problem = *t->e->problem;
    struct df_platform platform = *problem.platform;
    uint32_t n_of_class[DF_MAX_CLASSES] = { 0 }, n_new = 0;
    for (uint32_t u = 1; u < platform.n_units; u++)
        n_of_class[platform.units[u].cls]++;
    for (uint32_t u = 1; u < platform.n_units; u++) {
        struct df_unit *unit = &platform.units[u];
        if (n_of_class[unit->cls] < 2 || unit->peer.bytes_per_s > 0 || unit->unified)
            continue;
        unit->peer = unit->d2h;
        n_new++;
    }
    if (!n_new)
        return true;
    snprintf(what(t), sizeof t->changes->what, "direct links between all devices of a class, as fast as to the host");
    problem.platform = &platform;
    return try_problem(t, &problem);
}

/* ---- variants ---- */

static bool is_fact(uint8_t source)
{
    return source == DF_TIME_COST || source == DF_TIME_MEASURED;
}

/* The median speedup of the works whose times on both are measured or stated. NaN: there are none. */
static double usual_speedup(const struct dfp_problem *problem)
{
    const struct df_times *t = problem->times;
    double *ratios = malloc((t->n_works + 1) * sizeof *ratios), speedup = NAN;
    uint32_t n = 0;
    for (uint32_t w = 0; ratios && w < t->n_works && t->n_classes > DF_CLASS_GPU; w++) {
        size_t gpu = (size_t)DF_CLASS_GPU * t->n_works + w;
        if (is_fact(t->source[w]) && is_fact(t->source[gpu]) && t->time_s[w] > 0 && t->time_s[gpu] > 0) /* false for NaN */
            ratios[n++] = t->time_s[w] / t->time_s[gpu];
    }
    if (n)
        speedup = dfr_median(ratios, n);
    free(ratios);
    return speedup;
}

/* CPU time in one wave of a kernel that has no gpu variant and could have one; 0 for others. Sources, sinks and ordered
 * kernels could not, because they deal with the outside world. */
static double lacking_s(const struct dfp_problem *problem, uint32_t kernel)
{
    const struct df_graph *g = problem->graph;
    const struct df_times *t = problem->times;
    const struct df_kernel *k = &g->kernels[kernel];
    double sum_s = 0;
    if (!k->n_in || !k->n_out || k->traits & (DF_ORDERED | DF_STREAM) || k->flags & DF_KERNEL_COPY)
        return 0;
    for (uint32_t w = 0; w < g->n_works; w++) {
        if (g->works[w].kernel != kernel)
            continue;
        if (!isnan(t->time_s[(size_t)DF_CLASS_GPU * t->n_works + w]))
            return 0;
        if (!isnan(t->time_s[w]))
            sum_s += t->time_s[w] * g->works[w].n_nodes;
    }
    return sum_s;
}

/* Gives the work a time on the GPU: as much faster as is usual, else by the rates of the platform, else by the stated default. */
static void add_time(const struct trial *t, uint32_t work, double usual, struct df_times *times)
{
    size_t gpu = (size_t)DF_CLASS_GPU * times->n_works + work;
    double cpu_s = times->time_s[work], s = cpu_s / usual;
    if (isnan(s))
        s = dfw_rates_s(t->e->known, t->e->problem->graph, work, cpu_s);
    times->source[gpu] = isnan(s) || times->source[work] == DF_TIME_DEFAULT ? DF_TIME_DEFAULT : DF_TIME_ESTIMATED;
    times->time_s[gpu] = isnan(s) ? cpu_s / DF_DEFAULT_SPEEDUP : s;
}

/* usual: the speedup of the variants that are there; NaN: not known. */
static bool try_variant(struct trial *t, uint32_t kernel, double usual)
{
    struct dfp_problem problem = *t->e->problem;
    const struct df_times *old = problem.times;
    struct df_times times = { 0 };
    double cpu_s = 0, gpu_s = 0;
    bool good = dfr_times_copy(old, &times, NULL) == DF_OK;
    if (!good)
        dfc_error("out of memory");
    if (good) {
        for (uint32_t w = 0; w < old->n_works; w++) {
            if (problem.graph->works[w].kernel != kernel || isnan(old->time_s[w]))
                continue;
            add_time(t, w, usual, &times);
            cpu_s += times.time_s[w] * problem.graph->works[w].n_nodes;
            gpu_s += times.time_s[(size_t)DF_CLASS_GPU * times.n_works + w] * problem.graph->works[w].n_nodes;
        }
        snprintf(what(t), sizeof t->changes->what, "a gpu variant of %s, %.3gx as fast as its cpu variant",
                 df_graph_string(problem.graph, problem.graph->kernels[kernel].name), cpu_s / gpu_s);
        problem.times = &times;
        good = try_problem(t, &problem);
    }
    dfr_times_free(&times);
    return good;
}

/* Tries a gpu variant for the kernels that lack one, those with most time first. */
static bool try_variants(struct trial *t)
{
    const struct dfp_problem *problem = t->e->problem;
    if (last_gpu(problem->platform) == DF_NONE || problem->times->n_classes <= DF_CLASS_GPU)
        return true;
    double limit_s = INFINITY, usual = usual_speedup(problem);
    uint32_t limit = 0;
    for (int tried = 0; tried < MOST_VARIANTS; tried++) {
        uint32_t best = DF_NONE;
        double best_s = 0;
        for (uint32_t k = 0; k < problem->graph->n_kernels; k++) {
            double s = lacking_s(problem, k);
            bool after = s < limit_s || (s == limit_s && k > limit);
            if (after && s > best_s) {
                best = k;
                best_s = s;
            }
        }
        if (best == DF_NONE)
            break;
        limit_s = best_s;
        limit = best;
        if (!try_variant(t, best, usual))
            return false;
    }
    return true;
}

int dfc_explain_changes(const struct dfc_explained *e, const char *policy, struct dfc_change *changes)
{
    _Static_assert(DFC_MOST_CHANGES >= 4 + MOST_VARIANTS, "room for all changes");
    struct trial t = { .e = e, .policy = policy, .changes = changes };
    bool good = try_gpu(&t) && try_worker(&t) && try_link(&t) && try_peers(&t) && try_variants(&t);
    return good ? t.n : -1;
}
