/* cmd_simulate_error.c - runs the simulations of `dfc simulate --error` and prints their table; cmd_simulate.c calls it
 * (simulate_error.h).
 */
#include "compiler/commands/simulate_error.h"

#include <inttypes.h>
#include <stdlib.h>

#include "compiler/commands/command.h"
#include "compiler/show/simulate_report.h"
#include "runtime/base/error.h"
#include "runtime/base/report_table.h"
#include "runtime/policy/policy.h"

#define BESIDE "dmda"                   /* the policy whose speed is 1 */

/* ---- runs ---- */

struct outcome {
    double right_s;                     /* makespan if the policy is told the graph's times and they are true */
    double median_s, worst_s;
    double speed, least_speed;          /* relative to dmda: median and worst */
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sort_and_halve(double *list, uint32_t n)
{
    qsort(list, n, sizeof *list, by_value);
    return (list[(n - 1) / 2] + list[n / 2]) / 2;
}

struct study {
    const struct dfc_error_study *what;
    const struct dfp_problem *problem;
    const struct dfr_simulate_options *how;
    double *told_s, *true_s;            /* of one draw */
    double *beside_s;                   /* dmda's makespans, by draw */
    double *makespan_s, *speed;         /* of one policy, by draw */
};

/* Runs with this plan. If it is NULL and the policy needs a plan, makes one for the times that are told. */
static int run_once(const struct study *s, const char *policy, const struct dfp_options *partition,
                    const struct df_plan *plan, const struct df_times *told, const double *true_s, double *makespan_s,
                    struct df_error *error)
{
    const struct dfp_problem problem = { s->problem->graph, s->problem->platform, told, s->problem->passes };
    struct dfr_simulate_options options = *s->how;
    struct dfr_simulation result = { 0 };
    struct df_plan *own = NULL;
    int code = DF_OK;
    if (!plan && dfr_policy_find(policy, error)->needs_plan)
        code = dfp_plan_make(&problem, policy, partition, &own, error);
    options.policy = policy;
    options.plan = plan ? plan : own;
    if (!options.passes && dfp_partitioner_find(policy))
        options.passes = problem.passes;
    options.true_time_s = true_s;
    if (code == DF_OK)
        code = dfr_simulate(problem.graph, problem.platform, told, &options, &result, error);
    *makespan_s = result.makespan_s;
    dfr_plan_free(own);
    return code;
}

static int run_draws(const struct study *s, const char *policy, const struct dfp_options *partition,
                     const struct df_plan *plan, double *makespan_s, struct df_error *error)
{
    struct df_times told = *s->problem->times;
    told.time_s = s->told_s;
    for (uint32_t d = 0; d < s->what->draws; d++) {
        if (!dfc_error_draw(s->what, s->problem, s->how->seed, d, s->told_s, s->true_s))
            return dfr_error_memory(error);
        int code = run_once(s, policy, partition, plan, &told, s->true_s, &makespan_s[d], error);
        if (code != DF_OK)
            return code;
    }
    return DF_OK;
}

static int run_policy(const struct study *s, const char *policy, const struct dfp_options *partition,
                      struct outcome *outcome, struct df_error *error)
{
    const struct df_times *right = s->problem->times;
    struct df_plan *plan = NULL;
    uint32_t n = s->what->draws;
    int code = DF_OK;

    if (dfr_policy_find(policy, error)->needs_plan)
        code = dfp_plan_make(s->problem, policy, partition, &plan, error);
    if (code == DF_OK)
        code = run_once(s, policy, partition, plan, right, NULL, &outcome->right_s, error);
    if (code == DF_OK)                  /* if the graph's times are what is told, the plan for them serves every draw */
        code = run_draws(s, policy, partition, s->what->kind == DFC_ERROR_SIGMA ? plan : NULL, s->makespan_s, error);
    dfr_plan_free(plan);
    if (code != DF_OK)
        return code;
    for (uint32_t d = 0; d < n; d++)
        s->speed[d] = s->makespan_s[d] > 0 ? s->beside_s[d] / s->makespan_s[d] : 1;
    outcome->speed = sort_and_halve(s->speed, n);
    outcome->least_speed = s->speed[0];
    outcome->median_s = sort_and_halve(s->makespan_s, n);
    outcome->worst_s = s->makespan_s[n - 1];
    return DF_OK;
}

/* ---- table ---- */

static bool print_outcomes(FILE *out, enum dfr_form form, const struct dfp_problem *problem, const char *const *policies, unsigned n,
                           const struct outcome *o)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN(NULL, "graph", TEXT), DFR_COLUMN(NULL, "platform", TEXT), DFR_COLUMN("policy", "policy", TEXT),
        DFR_COLUMN("right times", "right_s", SECONDS), DFR_COLUMN("median", "median_s", SECONDS), DFR_COLUMN("longer by", NULL, FACTOR, .digits = 3),
        DFR_COLUMN("worst", "worst_s", SECONDS), DFR_COLUMN("beside " BESIDE, "speed_beside_" BESIDE, FACTOR, .digits = 3),
        DFR_COLUMN("least", "least_speed_beside_" BESIDE, FACTOR, .digits = 3),
    };
    struct dfr_report_table table = { 0 };
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(columns));
    for (unsigned i = 0; i < n; i++)
        dfr_report_table_row(&table, (const struct dfr_cell[]){
            DFR_STR(problem->graph->name), DFR_STR(problem->platform->name), DFR_STR(policies[i]), DFR_NUM(o[i].right_s), DFR_NUM(o[i].median_s),
            DFR_NUM(o[i].right_s > 0 ? o[i].median_s / o[i].right_s : 1), DFR_NUM(o[i].worst_s), DFR_NUM(o[i].speed), DFR_NUM(o[i].least_speed) });
    bool good = dfr_report_table_end(&table);
    if (!good)
        dfc_error("out of memory");
    return good;
}

static void print_study(FILE *out, const struct dfc_error_study *what)
{
    static const char *const kinds[] = { "", "lognormal, sigma", "told too long or too short by percent:",
                                         "speedups confounded by percent:" };
    fprintf(out, "wrong times (%s %g), %" PRIu32 " draw%s; speeds beside " BESIDE ": median and least\n\n",
            kinds[what->kind], what->size, what->draws, what->draws == 1 ? "" : "s");
}

static bool run_all(struct study *s, const struct dfp_options *partition, const char *const *policies, unsigned n,
                    struct outcome *outcomes)
{
    struct df_error error = { "" };
    if (run_draws(s, BESIDE, partition, NULL, s->beside_s, &error) != DF_OK) {
        dfc_error("policy %s: %s", BESIDE, error.text);
        return false;
    }
    for (unsigned i = 0; i < n; i++)
        if (run_policy(s, policies[i], partition, &outcomes[i], &error) != DF_OK) {
            dfc_error("policy %s: %s", policies[i], error.text);
            return false;
        }
    return true;
}

bool dfc_error_run(const struct dfc_error_study *what, const struct dfp_problem *problem,
                   const struct dfp_options *partition, const struct dfr_simulate_options *how,
                   const char *const *policies, unsigned n_policies, enum dfr_form form, FILE *out)
{
    struct dfc_error_study one = *what;
    struct study s = { .what = &one, .problem = problem, .how = how };
    struct outcome *outcomes = calloc(n_policies, sizeof *outcomes);
    bool good = false;

    if (what->kind == DFC_ERROR_CONFOUND)
        one.draws = 1;
    size_t times_bytes = ((size_t)problem->times->n_classes * problem->times->n_works + 1) * sizeof(double);
    s.told_s = malloc(times_bytes);
    s.true_s = malloc(times_bytes);
    s.beside_s = malloc(one.draws * sizeof(double));
    s.makespan_s = malloc(one.draws * sizeof(double));
    s.speed = malloc(one.draws * sizeof(double));
    if (!outcomes || !s.told_s || !s.true_s || !s.beside_s || !s.makespan_s || !s.speed)
        dfc_error("out of memory");
    else
        good = run_all(&s, partition, policies, n_policies, outcomes);
    if (good && form == DFR_FORM_TEXT)
        print_study(out, &one);
    good = good && print_outcomes(out, form, problem, policies, n_policies, outcomes);
    free(outcomes);
    free(s.told_s);
    free(s.true_s);
    free(s.beside_s);
    free(s.makespan_s);
    free(s.speed);
    return good;
}
