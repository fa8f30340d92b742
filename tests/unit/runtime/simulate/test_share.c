/* test_share.c - jobs and host copies that share the bandwidth of the host's memory, and its cores with emulated
 * devices, computed by hand: simulate.h has the model. B is 10 GB/s. */
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
    struct dfr_simulation unknown = sim_policy(&s, "eager"); /* nothing is known yet */
    sample_near(unknown.makespan_s, 4 * MS);
    assert_true(unknown.shortage.memory == 1 && unknown.shortage.cores == 1);
    demand(&s, 0, B, 1);
    demand(&s, 1, B, 1);
    struct dfr_simulation r = sim_policy(&s, "eager");
    assert_true(r.makespan_s == 8 * MS); /* exactly */
    assert_true(r.shortage.memory == 2 && r.shortage.cores == 1);
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
    sample_near(r.shortage.memory, (8 * 2 + 3) / 11.0); /* two items for 4 ms, one for 3 */
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

/* ---- emulated devices ---- */

/* Two CPU jobs and one of a GPU, of 4 ms each. */
static void three_jobs(struct sample *s)
{
    sample_begin(s, 2, 1);
    sample_node(s, "a", 4 * MS, NAN, 0, 0, NULL);
    sample_node(s, "b", 4 * MS, NAN, 0, 0, NULL);
    sample_node(s, "far", NAN, 4 * MS, 0, 0, NULL);
    sample_end(s);
}

static void three_jobs_on_two_cores(void **state)
{
    struct sample s;
    (void)state;
    three_jobs(&s);
    sample_near(sim_policy(&s, "eager").makespan_s, 4 * MS); /* a real GPU */
    s.platform.units[0].cores = 2;
    struct dfr_simulation r = sim_policy(&s, "eager");
    sample_near(r.makespan_s, 6 * MS);
    sample_near(r.busy_s[0], 12 * MS);
    sample_near(r.busy_s[1], 6 * MS);
    sample_near(r.shortage.cores, 1.5);
    assert_true(r.shortage.memory == 1);
    s.platform.units[0].cores = 3;
    sample_near(sim_policy(&s, "eager").makespan_s, 4 * MS);
    s.platform.units[0].cores = 2;
    s.platform.n_units = 1;             /* nobody to share with */
    s.times.time_s[s.graph->nodes[2].work] = 4 * MS;
    sample_near(sim_policy(&s, "eager").makespan_s, 8 * MS);
    sample_free(&s);
}

/* Half of the GPU's 8 ms are its launch, so R is 2.5 and q 1.25. The CPU jobs take 5 ms; the GPU's computes for 0.5 q of
 * its time, and waits for cores in the rest. */
static void a_launch_takes_no_core(void **state)
{
    struct sample s;
    double end_s[3];
    struct dfr_simulation r = { .end_s = end_s };
    struct dfr_simulate_options options = { .policy = "eager" };
    (void)state;
    three_jobs(&s);
    s.platform.units[0].cores = 2;
    s.platform.units[1].launch_s = 4 * MS;
    assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &r, NULL), DF_OK);
    sample_near(end_s[0], 5 * MS);
    sample_near(end_s[1], 5 * MS);
    sample_near(end_s[2], 8 * MS);
    sample_free(&s);
}

/* A gang of 3 and a GPU on 2 cores: each takes twice as long. */
static void a_gang_takes_a_core_for_each_thread(void **state)
{
    struct sample s;
    (void)state;
    sample_begin(&s, 3, 1);
    s.threads = 3;
    sample_node(&s, "gang", 4 * MS, NAN, 0, 0, NULL);
    s.threads = 1;
    sample_node(&s, "far", NAN, 4 * MS, 0, 0, NULL);
    sample_end(&s);
    s.platform.units[0].cores = 2;
    sample_near(sim_policy(&s, "eager").makespan_s, 8 * MS);
    sample_free(&s);
}

/* A copy of 1 MB: 1 ms of latency and 1 ms at 1 GB/s. Beside it two CPU jobs of 4 ms run on two cores. A core reads and
 * writes B / 2 = 5 GB/s, so the copy's 2 MB take it 0.4 of the 2 ms: c is 0.2, R 2.2 and q 1.1. The copy has time to
 * wait; the jobs have done 2 / 1.1 ms when it ends. */
static void a_copy_takes_a_core_while_it_moves_bytes(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        struct sample s;
        double end_s[4];
        sample_begin(&s, 2, 1);
        uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL);
        sample_node(&s, "far", NAN, 0.5 * MS, 0, 1, &d);
        sample_node(&s, "a", 4 * MS, NAN, 0, 0, NULL);
        sample_node(&s, "b", 4 * MS, NAN, 0, 0, NULL);
        sample_end(&s);
        s.platform.units[0].cores = 2;
        s.platform.units[0].memory_bytes_per_s = known ? B : 0;
        struct dfr_simulation r = { .end_s = end_s, .copied = copied };
        struct dfr_simulate_options options = { .policy = "eager" };
        assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &r, NULL), DF_OK);
        if (known) {
            sample_near(copy_end_s, 2 * MS);
            sample_near(end_s[1], 2.75 * MS);   /* 0.5 ms, and three compute on two cores */
            sample_near(end_s[2], (2.75 + 4 - 2 / 1.1 - 0.5) * MS);
        } else {                        /* it takes a core all the time: q is 1.5, as it is beside the GPU's job */
            sample_near(copy_end_s, 3 * MS);
            sample_near(end_s[1], 3.75 * MS);
            sample_near(end_s[2], (3.75 + 4 - 2.5) * MS);
        }
        sample_near(end_s[3], end_s[2]);
        sample_free(&s);
    }
}

/* D is 3 B and q 1.5: while they wait for cores they ask for 2 B. So all take 1.5 * 2 times as long, and one whose time
 * does not grow with bandwidth 1.5 times. */
static void who_waits_for_a_core_asks_for_less(void **state)
{
    struct sample s;
    double end_s[3];
    struct dfr_simulation r = { .end_s = end_s };
    struct dfr_simulate_options options = { .policy = "eager" };
    (void)state;
    three_jobs(&s);
    s.platform.units[0].cores = 2;
    demand(&s, 0, 1.5 * B, 0);
    demand(&s, 1, 1.5 * B, 1);
    demand(&s, 2, 0, 0);
    assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &r, NULL), DF_OK);
    sample_near(end_s[0], 6 * MS);
    sample_near(end_s[2], 6 * MS);
    sample_near(end_s[1], 6 * MS + 2 * 1.5 * MS); /* 2 of its 4 ms were done; alone it asks for 1.5 B */
    sample_free(&s);
}

/* Copies read and write the host's memory: 0.5 GB/s by the link are 1. Beside a job that asks for all of B, D is 1.1 B. */
static void a_copy_reads_and_writes_the_hosts_memory(void **state)
{
    struct sample s;
    (void)state;
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    sample_node(&s, "far", NAN, 1 * MS, 0, 1, &d);
    uint32_t near = sample_node(&s, "near", 4 * MS, NAN, 0, 0, NULL);
    sample_end(&s);
    demand(&s, near, B, 1);
    s.platform.units[0].cores = 8;
    struct dfr_simulation r = { .copied = copied };
    struct dfr_simulate_options options = { .policy = "eager" };
    assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &options, &r, NULL), DF_OK);
    sample_near(copy_end_s, 2.1 * MS);
    sample_free(&s);
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
        s.platform.units[0].cores = seed % 3;
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
            assert_true(once.shortage.memory >= 1 && once.shortage.cores >= 1);
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
            assert_true(after.shortage.memory == 1);
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
        if (seed % 3)
            random_demands(&s, seed);
        s.platform.units[0].cores = seed % 3 == 1 ? 0 : 2; /* memory, both, cores */
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
        cmocka_unit_test(three_jobs_on_two_cores),
        cmocka_unit_test(a_launch_takes_no_core),
        cmocka_unit_test(a_gang_takes_a_core_for_each_thread),
        cmocka_unit_test(a_copy_takes_a_core_while_it_moves_bytes),
        cmocka_unit_test(who_waits_for_a_core_asks_for_less),
        cmocka_unit_test(a_copy_reads_and_writes_the_hosts_memory),
        cmocka_unit_test(any_graph_under_any_policy),
        cmocka_unit_test(plenty_is_as_without),
        cmocka_unit_test(planners_know_it),
    };
    return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
