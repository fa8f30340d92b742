/* test_guard.c - gp's monitor (the option --guard). If times are true, it changes nothing. If they are off, it keeps gp
 * near dmda or ahead of it. Real runs stay right whatever it moves. Also: the draws of `dfc simulate --error`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/front/front.h"
#include "compiler/commands/simulate_error.h"
#include "long.h"
#include "partition/partition.h"
#include "run_rig.h"
#include "runtime/program/args.h"
#include "runtime/simulate/simulate.h"
#include "sample_graph.h"

#define BUDGET 0                        /* of gp: the default, a tenth of a second */

/* ---- simulated ---- */

static struct df_plan *make_gp(const struct dfp_problem *problem)
{
    struct dfp_options options;
    struct df_plan *plan = NULL;
    struct df_error e = { "" };
    dfp_options_default(&options);
    options.budget = BUDGET;
    options.threads = 1;
    if (dfp_plan_make(problem, "gp", &options, &plan, &e) != DF_OK)
        fail_msg("%s", e.text);
    snprintf(plan->run_as, sizeof plan->run_as, "static"); /* its own placement, even where dmda is better */
    return plan;
}

static double simulate(const struct dfp_problem *problem, const char *policy, const struct df_plan *plan, bool guard,
                       uint32_t waves, const double *true_s, struct dfr_simulation *result)
{
    struct dfr_simulate_options options = { .policy = policy, .plan = plan, .waves = waves, .inflight = 2,
                                            .no_guard = !guard, .true_time_s = true_s };
    struct dfr_simulation own = { 0 };
    struct df_error e = { "" };
    if (!result)
        result = &own;
    if (dfr_simulate(problem->graph, problem->platform, problem->times, &options, result, &e) != DF_OK)
        fail_msg("%s: %s", policy, e.text);
    return result->makespan_s;
}

static void test_true_times_change_nothing(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 6; seed += IN_LONG(1, 5)) {
        struct sample s;
        sample_random(&s, seed, 120, 3, 1 + seed % 2, seed == 6);
        struct df_plan *plan = make_gp(&s.problem);
        for (uint32_t waves = 1; waves <= 4; waves += 3) {
            uint32_t n = s.graph->n_nodes;
            struct dfr_simulation on = { .place = calloc(n, sizeof(uint16_t)), .end_s = calloc(n, sizeof(double)) };
            struct dfr_simulation off = { .place = calloc(n, sizeof(uint16_t)), .end_s = calloc(n, sizeof(double)) };
            simulate(&s.problem, "gp", plan, true, waves, NULL, &on);
            simulate(&s.problem, "gp", plan, false, waves, NULL, &off);
            assert_memory_equal(on.place, off.place, n * sizeof(uint16_t));
            assert_memory_equal(on.end_s, off.end_s, n * sizeof(double));
            free(on.place), free(on.end_s), free(off.place), free(off.end_s);
        }
        dfr_plan_free(plan);
        sample_free(&s);
    }
}

/* Times ten times as long on every GPU: the CPU takes over. Policies without a guard keep to their plan. */
static void test_slow_gpu(void **state)
{
    (void)state;
    struct sample s;
    sample_random(&s, 3, 200, 3, 1, true);
    struct df_plan *plan = make_gp(&s.problem);
    uint32_t n = s.times.n_works;
    double *true_s = malloc(2 * n * sizeof *true_s);
    for (uint32_t i = 0; i < 2 * n; i++)
        true_s[i] = s.times.time_s[i] * (i < n ? 1 : 10);
    struct dfr_simulation on = { 0 }, off = { 0 }, heft = { 0 };
    double dmda_s = simulate(&s.problem, "dmda", NULL, true, 1, true_s, NULL);
    simulate(&s.problem, "gp", plan, true, 1, true_s, &on);
    simulate(&s.problem, "gp", plan, false, 1, true_s, &off);
    simulate(&s.problem, "heft", plan, true, 1, true_s, &heft);
    assert_true(on.makespan_s < 0.5 * off.makespan_s);
    assert_true(on.makespan_s < 1.03 * dmda_s);
    assert_true(on.busy_s[1] < 0.5 * off.busy_s[1]);
    assert_true(heft.makespan_s == off.makespan_s);
    free(true_s);
    dfr_plan_free(plan);
    sample_free(&s);
}

/* All is planned on one of two GPUs, and takes twice as long as was thought. The other helps where what it makes comes
 * back over the peer link, and does not where that is by way of the host. */
static void test_peers_help(void **state)
{
    enum { N = 16 };
    double share[2];
    (void)state;
    for (int peers = 0; peers < 2; peers++) {
        struct sample s;
        uint32_t made[N];
        sample_begin(&s, 1, 2);
        for (uint32_t i = 0; i < N; i++)
            made[i] = sample_node(&s, "make", NAN, SAMPLE_MS, 50 * SAMPLE_MB, 0, NULL);
        sample_node(&s, "join", NAN, SAMPLE_MS, 0, N, made);
        sample_end(&s);
        for (uint32_t u = 1; u <= 2 && peers; u++)
            s.platform.units[u].peer = (struct df_link){ 1e13, 1e-6, 0 };
        struct df_plan *plan = make_gp(&s.problem);
        for (uint32_t v = 0; v < plan->n_nodes; v++)
            plan->place[v] = 1;
        double true_s[2 * (N + 1)];
        assert_int_equal(s.times.n_works, N + 1);
        for (uint32_t i = 0; i < 2 * (N + 1); i++)
            true_s[i] = 2 * s.times.time_s[i];
        share[peers] = simulate(&s.problem, "gp", plan, true, 1, true_s, NULL) /
                       simulate(&s.problem, "gp", plan, false, 1, true_s, NULL);
        dfr_plan_free(plan);
        sample_free(&s);
    }
    assert_true(share[0] >= 1 && share[1] < 0.7);
}

struct study {
    struct dfl_sink *sink;
    struct dfc_front *front;
    struct df_times times;
    struct dfp_problem problem;
};

static void study_begin(struct study *s, const char *path)
{
    const struct dfc_front_options options = { .path = path };
    struct df_error e = { "" };
    *s = (struct study){ .sink = dfl_sink_new(stderr) };
    assert_non_null(s->sink);
    if (!dfc_front_run(s->sink, &options, &s->front))
        fail_msg("%s cannot be read", path);
    if (dfr_times_default(s->front->graph, false, &s->times, &e) != DF_OK)
        fail_msg("%s", e.text);
    s->problem = (struct dfp_problem){ s->front->graph, &s->front->platforms[0], &s->times, 0 };
}

static void study_end(struct study *s)
{
    dfr_times_free(&s->times);
    dfc_front_free(s->front);
    dfl_sink_free(s->sink);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median over draws of gp's speed beside dmda's. */
static void median_speeds(const struct dfp_problem *problem, const struct dfc_error_study *error, double *guarded,
                          double *plain)
{
    double speed[2][64], *true_s = malloc((size_t)problem->times->n_classes * problem->times->n_works * sizeof *true_s);
    struct df_plan *plan = make_gp(problem);
    assert_non_null(true_s);
    double *told_s = malloc((size_t)problem->times->n_classes * problem->times->n_works * sizeof *told_s);
    assert_non_null(told_s);
    assert_true(error->draws <= 64);
    for (uint32_t d = 0; d < error->draws; d++) {
        assert_true(dfc_error_draw(error, problem, 1, d, told_s, true_s)); /* sigma: told are the graph's */
        double dmda_s = simulate(problem, "dmda", NULL, false, 1, true_s, NULL);
        for (int guard = 0; guard < 2; guard++)
            speed[guard][d] = dmda_s / simulate(problem, "gp", plan, guard, 1, true_s, NULL);
    }
    for (int guard = 0; guard < 2; guard++)
        qsort(speed[guard], error->draws, sizeof(double), by_value);
    *plain = (speed[0][(error->draws - 1) / 2] + speed[0][error->draws / 2]) / 2;
    *guarded = (speed[1][(error->draws - 1) / 2] + speed[1][error->draws / 2]) / 2;
    dfr_plan_free(plan);
    free(told_s);
    free(true_s);
}

static void test_wrong_times(void **state)
{
    static const char *const paths[] = { "examples/graphs/cholesky.df", "examples/graphs/lu.df",
                                         "examples/graphs/qr.df", "examples/graphs/fft.df",
                                         "examples/graphs/image.df", "examples/graphs/jacobi.df",
                                         "examples/graphs/wavefront.df" };
    const struct dfc_error_study error = { DFC_ERROR_SIGMA, 0.6, IN_LONG(40, 16) };
    double guarded, plain, gain = 0;
    unsigned n = sizeof paths / sizeof *paths;
    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct study s;
        study_begin(&s, paths[i]);
        median_speeds(&s.problem, &error, &guarded, &plain);
        if (guarded < 0.97)
            fail_msg("%s: with the guard gp has %.3f of dmda's speed, without %.3f", paths[i], guarded, plain);
        gain += log(guarded / plain) / n;
        study_end(&s);
    }
    assert_true(gain > log(1.05));      /* it is the guard that does it */
}

/* ---- real runs ---- */

/* Every third node on the last unit. */
static int make_plan(const struct df_graph *g, const struct df_platform *platform, const struct df_times *times,
                     const char *policy, struct df_plan **plan, struct df_error *error)
{
    struct df_plan *p = calloc(1, sizeof *p);
    (void)error;
    (void)times;
    assert_non_null(p);
    snprintf(p->policy, sizeof p->policy, "%s", policy);
    p->platform = *platform;
    p->n_nodes = g->n_nodes;
    p->place = calloc(g->n_nodes, sizeof *p->place);
    p->priority = calloc(g->n_nodes, sizeof *p->priority);
    assert_true(p->place && p->priority);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        p->place[v] = v % 3 ? 0 : (uint16_t)(platform->n_units - 1);
        p->priority[v] = (float)(g->n_nodes - v);
    }
    *plan = p;
    return DF_OK;
}

/* Nothing here takes as long as the default times say, so the guard is alarmed from the first jobs on. */
static void test_runs_stay_right(void **state)
{
    static const struct df_planner planner = { .make = make_plan };
    struct df_platform platforms[2];
    (void)state;
    df_platform_default(&platforms[0], 1);
    df_platform_default(&platforms[1], 2);
    for (uint32_t seed = 1; seed <= IN_LONG(12u, 6u); seed++) {
        struct rig r;
        uint32_t x = seed * 747796405u | 1;
        int64_t waves = 1 + rig_rand(&x) % 6;
        bool streams = rig_rand(&x) % 3 == 0;
        rig_random(&r, seed, 10 + rig_rand(&x) % 60, 1 + rig_rand(&x) % 512, streams ? waves : 0);
        rig_expect(&r, waves);
        for (int guard = 0; guard < 2; guard++) {
            struct df_options o;
            struct df_error e = { "" };
            df_options_default(&o);
            assert_int_equal(o.guard, 1);
            o.policy = "gp";
            o.device = DF_DEVICE_EMU;
            o.workers = 1 + rig_rand(&x) % 3;
            o.log_level = DF_LOG_ERROR;
            o.waves = streams ? -1 : waves;
            o.emu_all = 1;
            o.emu_check = 0;
            o.inflight = rig_rand(&x) % 5;
            o.platform = &platforms[rig_rand(&x) % 2];
            o.gpu_mem_bytes = rig_rand(&x) % 2 ? (6 + rig_rand(&x) % 9) * UINT64_C(4096) : 0;
            o.planner = &planner;
            o.guard = guard;
            if (rig_run(&r, &o, NULL, &e) != DF_OK)
                fail_msg("seed %u, guard %d: %s", (unsigned)seed, guard, e.text);
            if (!rig_same(&r, waves))
                fail_msg("seed %u, guard %d: wrong results", (unsigned)seed, guard);
        }
        rig_free(&r);
    }
}

static void test_option(void **state)
{
    struct rig r;
    struct dfr_command_line line;
    struct df_error e = { "" };
    char *on[] = { "p", "--guard=on" }, *off[] = { "p", "--guard", "off" }, *bad[] = { "p", "--guard=maybe" };
    (void)state;
    rig_random(&r, 1, 5, 1, 0);
    assert_int_equal(dfr_args_parse(r.graph, NULL, 1, on, &line, &e), DF_OK);
    assert_int_equal(line.options.guard, 1);
    dfr_args_free(&line);
    assert_int_equal(dfr_args_parse(r.graph, NULL, 2, on, &line, &e), DF_OK);
    assert_int_equal(line.options.guard, 1);
    dfr_args_free(&line);
    assert_int_equal(dfr_args_parse(r.graph, NULL, 3, off, &line, &e), DF_OK);
    assert_int_equal(line.options.guard, 0);
    dfr_args_free(&line);
    assert_int_equal(dfr_args_parse(r.graph, NULL, 2, bad, &line, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "--guard=maybe: one of on, off is expected");
    rig_free(&r);
}

/* ---- draws ---- */

/* By 25 %: half of the speedups are higher, the rest lower, and none of these is below one of those. */
static void check_confounded(const struct sample *s, const double *told)
{
    const double *right = s->times.time_s;
    uint32_t n = s->times.n_works, raised = 0, both = 0;
    double highest_raised = 0, least_lowered = INFINITY;
    for (uint32_t k = 0; k < n; k++) {
        if (!(right[k] > 0 && right[n + k] > 0))
            continue;
        double before = right[k] / right[n + k], change = told[k] / told[n + k] / before;
        assert_true(told[k] == right[k]);
        assert_true(fabs(change - 1.25) < 1e-9 || fabs(change - 0.75) < 1e-9);
        both++;
        raised += change > 1;
        if (change > 1)
            highest_raised = fmax(highest_raised, before);
        else
            least_lowered = fmin(least_lowered, before);
    }
    assert_true(highest_raised < least_lowered);
    assert_true(raised <= both / 2 && raised > 0.4 * both);
}

static void test_draws(void **state)
{
    struct sample s;
    double sum = 0, squares = 0;
    uint32_t n = 0, longer = 0;
    (void)state;
    sample_random(&s, 5, 1000, 3, 1, false);
    size_t n_times = (size_t)2 * s.times.n_works;
    double *a = malloc(n_times * sizeof *a), *b = malloc(n_times * sizeof *b), *c = malloc(n_times * sizeof *c);
    const double *told = s.times.time_s;
    const struct dfc_error_study sigma = { DFC_ERROR_SIGMA, 0.3, 1 }, off = { DFC_ERROR_OFF, 50, 1 };
    const struct dfc_error_study nothing_left = { DFC_ERROR_OFF, 100, 1 }, confound = { DFC_ERROR_CONFOUND, 25, 1 };

    assert_true(a && b && c);
    assert_true(dfc_error_draw(&sigma, &s.problem, 7, 2, c, a) && dfc_error_draw(&sigma, &s.problem, 7, 2, c, b));
    assert_memory_equal(a, b, n_times * sizeof *a);
    assert_memory_equal(c, told, n_times * sizeof *a); /* jobs take others than the graph's */
    assert_true(dfc_error_draw(&sigma, &s.problem, 7, 3, c, b));
    assert_memory_not_equal(a, b, n_times * sizeof *a);
    for (size_t i = 0; i < n_times; i++) {
        assert_true(isnan(a[i]) == isnan(told[i]) && (a[i] == 0) == (told[i] == 0));
        if (!(told[i] > 0))
            continue;
        double z = log(a[i] / told[i]) / 0.3;
        sum += z, squares += z * z, n++;
    }
    assert_true(n > 1500 && fabs(sum / n) < 0.1 && fabs(squares / n - 1) < 0.1);

    assert_true(dfc_error_draw(&off, &s.problem, 1, 0, a, b));
    assert_memory_equal(b, told, n_times * sizeof *b); /* jobs take the graph's */
    for (size_t i = 0; i < n_times; i++)
        if (told[i] > 0) {
            longer += a[i] > told[i];
            assert_true(fabs(a[i] / told[i] - 1.5) < 1e-9 || fabs(a[i] / told[i] - 0.5) < 1e-9);
        }
    assert_true(longer > 0.45 * n && longer < 0.55 * n);
    assert_true(dfc_error_draw(&nothing_left, &s.problem, 1, 0, a, b));
    for (size_t i = 0; i < n_times; i++)
        if (told[i] > 0)
            assert_true(fabs(a[i] / told[i] - 2) < 1e-9 || fabs(a[i] / told[i] - 0.01) < 1e-9);

    assert_true(dfc_error_draw(&confound, &s.problem, 1, 0, a, b));
    assert_memory_equal(b, told, n_times * sizeof *b);
    check_confounded(&s, a);
    free(a), free(b), free(c);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true_times_change_nothing),
        cmocka_unit_test(test_slow_gpu), cmocka_unit_test(test_peers_help),
        cmocka_unit_test(test_wrong_times),
        cmocka_unit_test(test_runs_stay_right),
        cmocka_unit_test(test_option),
        cmocka_unit_test(test_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
