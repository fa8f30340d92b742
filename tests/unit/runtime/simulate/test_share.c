/* test_share.c - jobs and host copies that share the bandwidth of the host's memory, computed by hand: simulate.h has
 * the model. B is 10 GB/s. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "partition/gp/gp.h"
#include "simulate_rig.h"

#define MS SAMPLE_MS
#define MB SAMPLE_MB
#define B 10e9

/* Gives the work of a node its demand on the host. */
static void demand(struct sample *s, uint32_t node, double bytes_per_s, double sensitivity)
{
    size_t n = (size_t)s->times.n_classes * s->times.n_works;
    if (!s->times.demand)
        s->times.demand = calloc(n + 1, sizeof *s->times.demand);
    assert_non_null(s->times.demand);
    s->platform.units[0].memory_bytes_per_s = B;
    s->times.demand[s->graph->nodes[node].work] = (struct df_demand){ bytes_per_s, sensitivity };
}

/* Jobs without inputs, of these times, one for each worker. */
static void independent(struct sample *s, uint32_t n, const double *time_s)
{
    static const char *const names[] = { "a", "b", "c" };
    sample_begin(s, n, 0);
    for (uint32_t i = 0; i < n; i++)
        sample_node(s, names[i], time_s[i], NAN, 0, 0, NULL);
    sample_end(s);
}

static void two_that_ask_for_twice_the_bandwidth(void **state)
{
    (void)state;
    struct sample s;
    independent(&s, 2, (double[]){ 4 * MS, 4 * MS });
    sample_near(sim_policy(&s, "eager").makespan_s, 4 * MS); /* nothing is known yet */
    demand(&s, 0, B, 1);
    demand(&s, 1, B, 1);
    struct dfr_simulation r = sim_policy(&s, "eager");
    assert_true(r.makespan_s == 8 * MS); /* exactly */
    assert_true(r.shortage == 2);
    sample_near(r.busy_s[0], 16 * MS);
    s.platform.units[0].memory_bytes_per_s = 2 * B; /* enough for both */
    assert_true(sim_policy(&s, "eager").makespan_s == 4 * MS);
    s.platform.units[0].memory_bytes_per_s = 0;     /* not known */
    assert_true(sim_policy(&s, "eager").makespan_s == 4 * MS);
    sample_free(&s);
}

/* The first 2 ms of b take 4, in which a ends; the rest has the memory for itself. */
static void a_part_of_the_time_together(void **state)
{
    (void)state;
    double end_s[3];
    struct dfr_simulation r = { .end_s = end_s };
    struct dfr_simulate_options options = { .policy = "eager" };
    struct sample s;
    independent(&s, 2, (double[]){ 2 * MS, 5 * MS });
    demand(&s, 0, B, 1);
    demand(&s, 1, B, 1);
    assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &r, NULL), DF_OK);
    sample_near(end_s[0], 4 * MS);
    sample_near(end_s[1], 7 * MS);
    sample_near(r.shortage, (8 * 2 + 3) / 11.0); /* two items for 4 ms, one for 3 */
    sample_free(&s);
}

/* D = 1.5 B. a: half of it grows, 1.25 times; b: nothing grows; c: all of it, 1.5 times, and 1.2 times after b. */
static void sensitivity_is_a_share_of_the_time(void **state)
{
    (void)state;
    double end_s[3];
    struct dfr_simulation r = { .end_s = end_s };
    struct dfr_simulate_options options = { .policy = "eager" };
    struct sample s;
    independent(&s, 3, (double[]){ 8 * MS, 3 * MS, 3 * MS });
    demand(&s, 0, 0.6 * B, 0.5);
    demand(&s, 1, 0.3 * B, 0);
    demand(&s, 2, 0.6 * B, 1);
    assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &r, NULL), DF_OK);
    sample_near(end_s[1], 3 * MS);
    sample_near(end_s[2], 3 * MS + 1 * MS * 1.2);        /* 2 of its 3 ms were done */
    sample_near(end_s[0], 4.2 * MS + (8 - 2.4 - 1.2 / 1.1) * MS);
    sample_free(&s);
}

/* A job of unknown demand is not slowed, and slows nobody. */
static void who_is_unknown_runs_as_before(void **state)
{
    (void)state;
    struct sample s;
    double end_s[2];
    struct dfr_simulation r = { .end_s = end_s };
    struct dfr_simulate_options options = { .policy = "eager" };
    independent(&s, 2, (double[]){ 4 * MS, 4 * MS });
    demand(&s, 0, B, 1);
    assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &r, NULL), DF_OK);
    sample_near(end_s[0], 4 * MS);
    sample_near(end_s[1], 4 * MS);
    sample_free(&s);
}

static double copy_begin_s, copy_end_s;

static void copied(void *arg, uint32_t from, uint32_t to, uint32_t value, uint32_t wave, double begin_s, double end_s)
{
    (void)arg, (void)from, (void)to, (void)value, (void)wave;
    copy_begin_s = begin_s;
    copy_end_s = end_s;
}

/* A copy of 1 MB: 1 ms of latency and 1 ms at 1 GB/s, so it asks for 0.5 GB/s, and half of its time grows. Beside it
 * runs a job that asks for 10 GB/s. D / B is 1.05: the copy takes 2.05 ms, the job 4 ms and a little. */
static void copies_share_too(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    sample_node(&s, "far", NAN, 1 * MS, 0, 1, &d);
    uint32_t near = sample_node(&s, "near", 4 * MS, NAN, 0, 0, NULL);
    sample_end(&s);
    demand(&s, near, B, 1);
    struct dfr_simulation r = { .copied = copied };
    struct dfr_simulate_options options = { .policy = "eager" };
    assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &r, NULL), DF_OK);
    sample_near(copy_begin_s, 0);
    sample_near(copy_end_s, 2.05 * MS);
    sample_near(r.h2d_busy_s[1], 2.05 * MS);
    sample_near(r.busy_s[1], 1 * MS);   /* its own memory is not the host's */
    sample_near(r.makespan_s, 2.05 * MS + (4 - 2.05 / 1.05) * MS);
    assert_int_equal(r.h2d_copies, 1);
    sample_free(&s);
}

/* An engine serves one copy after the other, in the order in which they are asked for. */
static void copies_wait_for_their_engine(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 40; n += 38) { /* 40: the queue grows */
        struct sample s;
        sample_begin(&s, 1, 1);
        for (uint32_t i = 0; i < n; i++)
            sample_node(&s, "d", 0, NAN, MB, 0, NULL);
        for (uint32_t i = 0; i < n; i++)
            sample_node(&s, "r", 900 * MS, 1 * MS, 0, 1, &i);
        sample_end(&s);
        demand(&s, n, 0, 0);            /* sharing is on, and nothing is short */
        struct dfr_simulation r = sim_policy(&s, "dmda");
        sample_near(r.makespan_s, (2 * n + 1) * MS);
        sample_near(r.h2d_busy_s[1], 2 * n * MS);
        assert_int_equal(r.h2d_copies, n);
        sample_free(&s);
    }
}

/* ---- any graph ---- */

static void random_demands(struct sample *s, uint32_t seed)
{
    uint32_t state = seed;
    for (uint32_t v = 0; v < s->graph->n_nodes; v++)
        demand(s, v, B / 4 * (sample_rand(&state) % 5), (sample_rand(&state) % 5) / 4.0);
}

/* The same answer twice; every policy runs every job; and sharing is never faster than the bound of times alone. */
static void any_graph_under_any_policy(void **state)
{
    static const char *const policies[] = { "eager", "ws", "dmda", "heft", "gp", "all-cpu" };
    (void)state;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        struct sample s;
        double bound_s;
        sample_random(&s, seed, 40, 4, seed % 4, false);
        sample_peers(&s, seed);
        if (seed % 5 == 0)              /* too little for everything */
            s.platform.units[1].memory_bytes = 8 * MB;
        random_demands(&s, seed);
        assert_int_equal(dfp_lower_bound(&s.problem, &bound_s, NULL), DF_OK);
        for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
            struct df_plan *plan = sample_plan(&s, policies[p]);
            struct dfr_simulate_options options = { .policy = policies[p], .plan = plan, .waves = 3, .inflight = 2 };
            struct dfr_simulation once = { 0 }, twice = { 0 };
            sim_check_run(&s, &options); /* nothing is read before it is there, … */
            assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &once, NULL), DF_OK);
            assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &twice, NULL), DF_OK);
            assert_memory_equal(&once, &twice, sizeof once);
            assert_true(once.makespan_s >= bound_s);
            assert_true(once.shortage >= 1);
            dfr_plan_free(plan);
        }
        sample_free(&s);
    }
}

/* If nothing is ever short, the answer is that of no sharing, apart from rounding. */
static void plenty_is_as_without(void **state)
{
    static const char *const policies[] = { "eager", "dmda", "ws" };
    (void)state;
    for (uint32_t seed = 1; seed <= 6; seed++) {
        struct sample s;
        sample_random(&s, seed, 60, 3, 1 + seed % 2, false);
        for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
            struct dfr_simulation before = sim_policy(&s, policies[p]);
            random_demands(&s, seed);
            s.platform.units[0].memory_bytes_per_s = 1e15;
            struct dfr_simulation after = sim_policy(&s, policies[p]);
            sample_near(after.makespan_s, before.makespan_s);
            sample_near(after.h2d_busy_s[1], before.h2d_busy_s[1]);
            assert_true(after.shortage == 1);
            s.platform.units[0].memory_bytes_per_s = 0;
        }
        sample_free(&s);
    }
}

/* The evaluator says what the simulator says, and gp's plan is judged by it: no worse than heft's placement,
 * if gp runs that. */
static void planners_know_it(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 6; seed++) {
        struct sample s;
        sample_random(&s, seed, 30, 3, 1, false);
        random_demands(&s, seed);
        struct df_plan *heft = sample_plan(&s, "heft"), *gp = sample_plan(&s, "gp");
        struct dfr_simulate_options options = { .policy = "heft", .plan = heft };
        struct dfr_simulation r = { 0 };
        struct dfp_evaluation evaluation;
        assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &r, NULL), DF_OK);
        assert_int_equal(dfp_evaluate(&s.problem, heft->place, heft->priority, &evaluation, NULL), DF_OK);
        sample_near(evaluation.makespan_s, r.makespan_s);
        sample_near(heft->predicted_s, r.makespan_s);
        options.policy = "gp";          /* heft's placement, run as gp runs it */
        assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &r, NULL), DF_OK);
        assert_true(gp->predicted_s <= r.makespan_s * (1 + 1e-9));
        assert_true(gp->lower_bound_s <= gp->predicted_s);
        options = (struct dfr_simulate_options){ .policy = "gp", .plan = gp };
        assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &r, NULL), DF_OK);
        sample_near(gp->predicted_s, r.makespan_s);
        dfr_plan_free(heft);
        dfr_plan_free(gp);
        sample_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_that_ask_for_twice_the_bandwidth),
        cmocka_unit_test(a_part_of_the_time_together),
        cmocka_unit_test(sensitivity_is_a_share_of_the_time),
        cmocka_unit_test(who_is_unknown_runs_as_before),
        cmocka_unit_test(copies_share_too),
        cmocka_unit_test(copies_wait_for_their_engine),
        cmocka_unit_test(any_graph_under_any_policy),
        cmocka_unit_test(plenty_is_as_without),
        cmocka_unit_test(planners_know_it),
    };
    return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
