/* test_policy_runs.c - every policy runs random graphs: for real, with and without an emulated GPU, held against the
 * graphs computed one node after the other; and in virtual time, where the same input gives the same answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "long.h"
#include "partition/partition.h"
#include "run_rig.h"
#include "runtime/policy/policy.h"
#include "runtime/simulate/simulate.h"
#include "sample_graph.h"

#define PAGE UINT64_C(4096)

static void check(struct rig *r, struct df_options *o, int64_t waves)
{
    static struct df_stats stats;
    struct df_error error = { "" };

    if (rig_run(r, o, &stats, &error) != DF_OK)
        fail_msg("%s: %s", o->policy, error.text);
    if (!rig_same(r, waves))
        fail_msg("policy %s, device %d, %u workers, %u in flight, locality %d, prefetch %d", o->policy, o->device,
                 o->workers, o->inflight, o->locality, o->prefetch);
    assert_int_equal(stats.waves, waves);
}

/* Each policy on each graph with options that vary with both, so that all of them meet in the end. */
static void test_real_runs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(12u, 5u); seed++) {
        uint32_t x = seed * 977;
        struct rig r;
        int64_t waves = 1 + seed % 6;
        rig_random(&r, seed, 10 + seed * 5, 1 + seed * 37 % 600, 0);
        rig_expect(&r, waves);
        for (const char *const *name = dfr_policy_names(); *name; name++) {
            struct df_options o;
            df_options_default(&o);
            o.policy = *name;
            o.planner = &dfp_planner;
            o.log_level = DF_LOG_ERROR;
            o.waves = waves;
            o.device = rig_rand(&x) % 4 ? DF_DEVICE_EMU : DF_DEVICE_NONE;
            o.workers = 1 + rig_rand(&x) % 3;
            o.inflight = rig_rand(&x) % 5;
            o.locality = rig_rand(&x) % 2;
            o.prefetch = rig_rand(&x) % 2;
            if (rig_rand(&x) % 2)
                o.gpu_mem_bytes = 8 * PAGE; /* little: it is evicted from */
            check(&r, &o, waves);
        }
        rig_free(&r);
    }
}

static const char *run_as;

static int plan_run_as(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times,
                       const char *policy, struct df_plan **plan, struct df_error *error)
{
    int status = dfp_planner.make(graph, platform, times, policy, plan, error);
    if (status == DF_OK)
        snprintf((*plan)->run_as, sizeof (*plan)->run_as, "%s", run_as);
    return status;
}

static void check_why(struct rig *r, const struct df_options *o, const char *as, const char *why)
{
    struct df_stats *stats = calloc(1, sizeof *stats);
    struct df_error error = { "" };
    run_as = as;
    assert_int_equal(rig_run(r, o, stats, &error), DF_OK);
    assert_string_equal(stats->policy, "eager");
    assert_string_equal(stats->policy_why, why);
    free(stats);
}

/* A plan that says so is run as an online policy. */
static void test_plans_may_name_a_policy(void **state)
{
    static const char *const names[] = { "static", "dmda", "eager", "", "pats --dl --prefetch" };
    static const struct df_planner planner = { .make = plan_run_as };
    struct df_options o;
    struct df_error error = { "" };
    struct rig r;

    (void)state;
    rig_random(&r, 3, 40, 64, 0);
    rig_expect(&r, 4);
    df_options_default(&o);
    o.policy = "gp-thesis";
    o.planner = &planner;
    o.device = DF_DEVICE_EMU;
    o.log_level = DF_LOG_ERROR;
    o.workers = 2;
    o.waves = 4;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        run_as = names[i];
        check(&r, &o, 4);
    }
    check_why(&r, &o, "eager", "the plan of gp-thesis found it better than any placement");
    check_why(&r, &o, "eager --dl", "the plan of gp-thesis found it with --dl better than any placement");
    check_why(&r, &o, "eager --dl --prefetch", "the plan of gp-thesis found it with --dl --prefetch better than any placement");
    run_as = "egaer";
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "unknown policy 'egaer'; did you mean 'eager'?");
    run_as = "eager --lazy";
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "a plan is to run as 'eager --lazy', but policies have no option '--lazy'");
    rig_free(&r);
}

static struct dfr_simulation simulate(const struct sample *s, const char *policy, uint32_t seed, bool locality,
                                      bool prefetch, const struct df_plan *plan)
{
    struct dfr_simulation r = { 0 };
    struct df_error error = { "" };
    struct dfr_simulate_options options = { .policy = policy, .waves = 4, .inflight = 3, .seed = seed, .plan = plan,
                                            .locality = locality, .prefetch = prefetch };
    if (dfr_simulate(s->graph, &s->platform, &s->times, &options, &r, &error) != DF_OK)
        fail_msg("%s: %s", policy, error.text);
    return r;
}

static void test_simulated_runs(void **state)
{
    unsigned moved = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= 10; seed++) {
        struct sample s;
        sample_random(&s, seed, 60, 1 + seed % 3, 1 + seed % 2, false);
        for (const char *const *name = dfr_policy_names(); *name; name++) {
            struct df_error error = { "" };
            struct df_plan *plan = NULL;
            struct dfr_simulation first;
            const struct dfr_policy *policy = dfr_policy_find(*name, &error);
            struct dfp_options options;
            dfp_options_default(&options);
            options.budget = 50;
            if (policy->needs_plan && dfp_plan_make(&s.problem, *name, &options, &plan, &error) != DF_OK)
                fail_msg("%s: %s", *name, error.text);
            first = simulate(&s, *name, seed, false, false, plan);
            for (int way = 0; way < 4; way++) {
                struct dfr_simulation a = simulate(&s, *name, seed, way & 1, way & 2, plan);
                struct dfr_simulation b = simulate(&s, *name, seed, way & 1, way & 2, plan);
                assert_memory_equal(&a, &b, sizeof a);
                moved += a.makespan_s != first.makespan_s;
            }
            dfr_plan_free(plan);
        }
        sample_free(&s);
    }
    assert_true(moved > 0);             /* the options do something */
}

/* Chains of operations of unlike speedup, as in the paper that has these options. */
static void chains(struct sample *s, uint32_t seed)
{
    uint32_t x = seed * 31;
    sample_begin(s, 2, 1);
    for (int chain = 0; chain < 12; chain++) {
        uint32_t node = sample_node(s, "read", 0, NAN, SAMPLE_MB, 0, NULL);
        for (int i = 0; i < 5; i++) {
            double cpu_s = (5 + sample_rand(&x) % 10) * SAMPLE_MS, gpu_s = cpu_s / (1 + sample_rand(&x) % 6);
            node = sample_node(s, "work", cpu_s, gpu_s, i < 4 ? SAMPLE_MB : 0, 1, &node);
        }
    }
    sample_end(s);
}

/* What the options are for: copies saved, and copies hidden. */
static void test_locality_saves_copies(void **state)
{
    static const char *const policies[] = { "eager", "pats", "padas", "pams" };

    (void)state;
    for (unsigned p = 0; p < sizeof policies / sizeof *policies; p++) {
        uint64_t plain = 0, near = 0;
        double waiting_s = 0, ahead_s = 0;
        for (uint32_t seed = 1; seed <= 20; seed++) {
            struct sample s;
            struct dfr_simulation a, b, c;
            chains(&s, seed);
            a = simulate(&s, policies[p], 1, false, false, NULL);
            b = simulate(&s, policies[p], 1, true, false, NULL);
            c = simulate(&s, policies[p], 1, false, true, NULL);
            plain += a.h2d_bytes + a.d2h_bytes;
            near += b.h2d_bytes + b.d2h_bytes;
            waiting_s += a.makespan_s;
            ahead_s += c.makespan_s;
            sample_free(&s);
        }
        if (near >= plain || ahead_s >= waiting_s)
            fail_msg("%s: %llu bytes, %llu with locality; %g s, %g s with prefetch", policies[p],
                     (unsigned long long)plain, (unsigned long long)near, waiting_s, ahead_s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_runs), cmocka_unit_test(test_plans_may_name_a_policy),
        cmocka_unit_test(test_simulated_runs),
        cmocka_unit_test(test_locality_saves_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
