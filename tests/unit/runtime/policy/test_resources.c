/* test_resources.c - shared resources: who waits and who goes on; runs of random graphs under every policy, in which no more jobs than allowed use one at a
 * time; and the same limits in virtual time and in what a plan predicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "long.h"
#include "partition/partition.h"
#include "run_rig.h"
#include "runtime/policy/policy.h"
#include "runtime/policy/resources.h"
#include "runtime/simulate/simulate.h"

static void forget(void)
{
    memset(rig_resources, 0, sizeof rig_resources);
    memset(rig_uses, 0, sizeof rig_uses);
}

/* ---- the counts ---- */

/* Nodes: a source; x, x and y, y, x and y. */
static void test_turns(void **state)
{
    struct dfr_resources *r;
    struct df_error error;
    struct rig rig;
    struct rig_out in;

    (void)state;
    rig_resources[0] = 1;
    rig_resources[1] = 2;
    rig_uses[RIG_ADD1] = 1;
    rig_uses[RIG_BUMP] = 3;
    rig_uses[RIG_SCRATCH] = 2;
    rig_begin(&rig, 1);
    in = rig_node(&rig, RIG_SOURCE, 0, RIG_NOTHING, RIG_NOTHING);
    rig_sink(&rig, RIG_SINK, rig_node(&rig, RIG_ADD1, 0, in, RIG_NOTHING));     /* node 1 */
    rig_sink(&rig, RIG_SINK, rig_node(&rig, RIG_BUMP, 0, in, RIG_NOTHING));     /* 3 */
    rig_sink(&rig, RIG_SINK, rig_node(&rig, RIG_SCRATCH, 0, in, RIG_NOTHING));  /* 5 */
    rig_end(&rig);
    uint32_t one = 0, both = 0, other = 0;
    for (uint32_t v = 0; v < rig.graph->n_nodes; v++)
        *(df_node_uses(rig.graph, v) == 1 ? &one : df_node_uses(rig.graph, v) == 3 ? &both : df_node_uses(rig.graph, v) == 2 ? &other : &(uint32_t){ 0 }) = v;
    assert_int_equal(dfr_resources_create(rig.graph, 2, &r, &error), DF_OK);
    assert_true(dfr_resources_take(r, dfr_job(0, 0)));                  /* uses nothing */
    assert_true(dfr_resources_take(r, dfr_job(0, one)));
    assert_false(dfr_resources_take(r, dfr_job(1, one)));               /* x is taken */
    assert_false(dfr_resources_take(r, dfr_job(0, both)));
    assert_false(dfr_resources_take(r, dfr_job(0, other)));             /* y is there, but a job before it waits for y */
    assert_true(dfr_resources_next(r) == DFR_NO_WAITER);
    dfr_resources_give(r, dfr_job(0, 0));
    assert_true(dfr_resources_next(r) == DFR_NO_WAITER);
    dfr_resources_give(r, dfr_job(0, one));
    assert_true(dfr_resources_next(r) == dfr_job(1, one));              /* in the order in which they came */
    assert_true(dfr_resources_next(r) == DFR_NO_WAITER);
    dfr_resources_give(r, dfr_job(1, one));
    assert_true(dfr_resources_next(r) == dfr_job(0, both));
    assert_true(dfr_resources_next(r) == dfr_job(0, other));            /* the second y */
    assert_false(dfr_resources_take(r, dfr_job(1, other)));
    dfr_resources_give(r, dfr_job(0, both));
    assert_true(dfr_resources_next(r) == dfr_job(1, other));
    dfr_resources_give(r, dfr_job(0, other));
    dfr_resources_give(r, dfr_job(1, other));
    assert_true(dfr_resources_next(r) == DFR_NO_WAITER);
    dfr_resources_destroy(r);
    rig_free(&rig);
    forget();
    rig_begin(&rig, 1);
    rig_sink(&rig, RIG_SINK, rig_node(&rig, RIG_SOURCE, 0, RIG_NOTHING, RIG_NOTHING));
    rig_end(&rig);
    assert_int_equal(dfr_resources_create(rig.graph, 1, &r, &error), DF_OK);
    assert_null(r);                                                     /* nobody uses any */
    rig_free(&rig);
}

/* ---- runs ---- */

static void run_all(uint32_t seed)
{
    uint32_t x = seed * 977 + 5;
    const int64_t waves = 1 + seed % 4;
    struct rig r;

    for (uint32_t i = 0; i < RIG_RESOURCES; i++)
        rig_resources[i] = 1 + rig_rand(&x) % 2;
    for (int k = 0; k < RIG_KERNELS; k++)
        rig_uses[k] = rig_rand(&x) % 2 ? rig_rand(&x) % (1u << RIG_RESOURCES) : 0;
    rig_skips = seed % 3 == 0;
    rig_accs = seed % 4 == 0;
    rig_random(&r, seed, 8 + seed % 24, 1 + seed * 37 % 100, seed % 5 == 0 ? waves : 0);
    rig_expect(&r, waves);
    for (const char *const *name = dfr_policy_names(); *name; name++) {
        struct df_options o = rig_options(*name, rig_rand(&x) % 3 ? DF_DEVICE_NONE : DF_DEVICE_EMU, 1 + rig_rand(&x) % 4);
        o.planner = &dfp_planner;
        o.waves = waves;
        o.inflight = rig_rand(&x) % 5;
        o.prefetch = rig_rand(&x) % 2;
        rig_check(&r, &o, waves);
    }
    rig_free(&r);
    rig_skips = rig_accs = false;
    forget();
}

static void test_random_runs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(6000u, 12u); seed++)
        run_all(seed);
}

/* Two jobs that wait for each other: they meet if two may use the resource, and else they do not. */
static void test_jobs_are_kept_apart(void **state)
{
    (void)state;
    for (uint32_t n = 2; n >= 1; n--) {
        struct df_options o = rig_options("eager", DF_DEVICE_NONE, 2);
        struct df_error error = { "" };
        struct rig_out in;
        struct rig r;

        rig_resources[0] = n;
        rig_uses[RIG_MEET] = 1;
        rig_begin(&r, 1);
        in = rig_node(&r, RIG_SOURCE, 0, RIG_NOTHING, RIG_NOTHING);
        rig_sink(&r, RIG_SINK, rig_node(&r, RIG_MEET, 2, in, RIG_NOTHING));
        rig_sink(&r, RIG_SINK, rig_node(&r, RIG_MEET, 2, in, RIG_NOTHING));
        rig_end(&r);
        o.waves = 1;
        assert_int_equal(rig_run(&r, &o, NULL, &error) == DF_OK, n == 2);
        assert_true(n == 2 || strstr(error.text, "nobody else came"));
        rig_free(&r);
    }
    forget();
}

/* ---- virtual time ---- */

/* Eight jobs of a millisecond on four workers: 2 ms, or 4 with two of them at a time, or 8. */
static void test_virtual_time(void **state)
{
    static const double expected_ms[] = { 2, 8, 4 };
    (void)state;
    for (uint32_t n = 0; n <= 2; n++) {
        struct df_platform platform;
        struct df_times times = { 0 };
        struct dfr_simulation result = { 0 };
        struct dfr_simulate_options options = { .policy = "eager", .waves = 1, .inflight = 1, .seed = 1 };
        struct df_error error;
        struct df_plan *plan;
        struct rig r;

        rig_resources[0] = n;
        rig_uses[RIG_ONCE] = n > 0;
        rig_cost_s = 1e-3;
        rig_begin(&r, 1);
        for (int i = 0; i < 8; i++)
            rig_node(&r, RIG_ONCE, i, RIG_NOTHING, RIG_NOTHING);
        rig_end(&r);
        df_platform_default(&platform, false);
        platform.units[0].workers = 4;
        assert_int_equal(dfr_times_default(r.graph, false, &times, &error), DF_OK);
        if (dfr_simulate(r.graph, &platform, &times, &options, &result, &error) != DF_OK)
            fail_msg("%s", error.text);
        assert_true(result.makespan_s > (expected_ms[n] - 0.001) * 1e-3 && result.makespan_s < (expected_ms[n] + 0.001) * 1e-3);
        if (dfp_planner.make(r.graph, &platform, &times, "gp", &plan, &error) != DF_OK)
            fail_msg("%s", error.text);
        assert_true(plan->predicted_s > (expected_ms[n] - 0.001) * 1e-3 && plan->predicted_s < (expected_ms[n] + 0.001) * 1e-3);
        dfr_plan_free(plan);
        dfr_times_free(&times);
        rig_free(&r);
    }
    rig_cost_s = 0;
    forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns), cmocka_unit_test(test_random_runs), cmocka_unit_test(test_jobs_are_kept_apart), cmocka_unit_test(test_virtual_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
