/* test_manager_simulation.c - flows against rates that are worked out by hand, and runs on many machines against the time that their
 * bottleneck takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "compiler/cluster/flows.h"
#include "compiler/cluster/manager_simulation.h"

static bool near(double a, double b, double share)
{
    if (fabs(a - b) <= share * fabs(b))
        return true;
    print_error("%.9g is not within %g of %.9g\n", a, share, b);
    return false;
}
#define NEAR(a, b, share) assert_true(near(a, b, share))

/* ---- flows ---- */

/* Two resources of 10 and 4: A goes through the first, B through both, C through the second and takes at most 1. C gets 1, so B
 * gets 3, and A 7. When B has ended, A gets 10. */
static void test_fair(void **state)
{
    struct dfc_flows flows = { 0 };
    uint32_t group, wide = dfc_flows_resource(&flows, 10), narrow = dfc_flows_resource(&flows, 4);
    uint32_t a = dfc_flows_group(&flows, 1u << wide, 0), b = dfc_flows_group(&flows, 1u << wide | 1u << narrow, 0);
    uint32_t c = dfc_flows_group(&flows, 1u << narrow, 1);
    (void)state;
    assert_true(dfc_flows_next_s(&flows, &group) == HUGE_VAL);
    assert_true(dfc_flows_begin(&flows, 0, a, 34, 1));
    NEAR(flows.groups[a].rate, 10, 1e-12);
    assert_true(dfc_flows_begin(&flows, 0, b, 6, 2) && dfc_flows_begin(&flows, 0, c, 5, 3));
    NEAR(flows.groups[a].rate, 7, 1e-12);
    NEAR(flows.groups[b].rate, 3, 1e-12);
    NEAR(flows.groups[c].rate, 1, 1e-12);
    NEAR(dfc_flows_next_s(&flows, &group), 2, 1e-12);
    assert_int_equal(dfc_flows_end(&flows, 2, group), 2);
    NEAR(flows.groups[a].rate, 10, 1e-12);
    NEAR(dfc_flows_next_s(&flows, &group), 4, 1e-12); /* 34 = 2 * 7 + 2 * 10 */
    assert_int_equal(dfc_flows_end(&flows, 4, group), 1);
    NEAR(dfc_flows_next_s(&flows, &group), 5, 1e-12);
    assert_int_equal(dfc_flows_end(&flows, 5, group), 3);
    NEAR(flows.moved_bytes[wide], 40, 1e-12);
    NEAR(flows.moved_bytes[narrow], 11, 1e-12);
    dfc_flows_free(&flows);
}

/* Flows of one group share alike, whenever they began, and end in the order of what is left; alike ones in that in which they
 * began. */
static void test_group(void **state)
{
    struct dfc_flows flows = { 0 };
    uint32_t group, r = dfc_flows_resource(&flows, 12), g = dfc_flows_group(&flows, 1u << r, 0);
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        assert_true(dfc_flows_begin(&flows, 0, g, i == 3 ? 3 : 6, i)); /* 3 each */
    NEAR(dfc_flows_next_s(&flows, &group), 1, 1e-12);
    assert_int_equal(dfc_flows_end(&flows, 1, group), 3);              /* three are left with 3, at 4 each */
    for (uint32_t i = 0; i < 3; i++) {
        NEAR(dfc_flows_next_s(&flows, &group), 1.75, 1e-12);
        assert_int_equal(dfc_flows_end(&flows, 1.75, group), i);
    }
    assert_true(dfc_flows_next_s(&flows, &group) == HUGE_VAL);
    dfc_flows_free(&flows);
}

/* ---- runs ---- */

static struct dfc_manager_setup setup;
static struct dfc_manager_result result;

static int set_up(void **state)
{
    (void)state;
    memset(&setup, 0, sizeof setup);
    setup.n_types = 1;
    setup.types[0] = (struct dfc_machines){ 8, 0.1, 0.1, 1e9 };
    setup.waves = 4000;
    setup.latency_s = 1e-6;
    setup.manager_bytes_per_s = 1e9;
    setup.handle_s = 1e-6;
    setup.window = 4;
    return 0;
}

static void run(void)
{
    struct df_error error = { "" };
    assert_int_equal(dfc_manager_simulate(&setup, &result, &error), DF_OK);
    int64_t waves = 0;
    for (uint32_t t = 0; t < setup.n_types; t++)
        waves += result.waves[t];
    assert_int_equal(waves, setup.waves);
}

static void test_machines(void **state)
{
    (void)state;
    run();
    NEAR(result.makespan_s, 4000 * 0.1 / 8, 0.002);
    assert_true(result.busy[0] > 0.998 && result.manager_busy < 0.001);
    assert_int_equal(result.least_window, 4);
    setup.types[0].latency_s = 1;       /* a wave takes ten times as long as the next one needs: four at a time are too few */
    run();
    NEAR(result.makespan_s, 4000 * 1.0 / (8 * 4), 0.02);
    setup.window = 16;
    run();
    NEAR(result.makespan_s, 4000 * 0.1 / 8, 0.04);
}

/* The window is found: machines that need ten waves at a time are not left with one. */
static void test_window(void **state)
{
    (void)state;
    setup.types[0].latency_s = 1;
    setup.window = 0;
    run();
    assert_true(result.least_window >= 8);
    NEAR(result.makespan_s, 4000 * 0.1 / 8, 0.35); /* until it is found, the machines wait */
}

static void test_types(void **state)
{
    (void)state;
    setup.n_types = 2;
    setup.types[1] = (struct dfc_machines){ 4, 0.025, 0.025, 1e9 };
    run();
    NEAR(result.makespan_s, 4000 / (8 / 0.1 + 4 / 0.025), 0.02);
    NEAR((double)result.waves[1] / (double)result.waves[0], 2, 0.03);
}

static void test_links(void **state)
{
    (void)state;
    setup.give_bytes = 50e6;            /* rank 0 sends 20 a second, the machines could do 80 */
    run();
    NEAR(result.makespan_s, 4000 * 0.05, 0.01);
    NEAR(result.out_busy, 1, 0.01);
    setup.give_bytes = 0;
    setup.result_bytes = 25e6;
    run();
    NEAR(result.makespan_s, 4000 * 0.025, 0.01);
    NEAR(result.in_busy, 1, 0.01);
    setup.switch_bytes_per_s = 0.5e9;
    run();
    NEAR(result.makespan_s, 4000 * 0.05, 0.01);
    setup.switch_bytes_per_s = 0;
    setup.types[0].link_bytes_per_s = 50e6; /* a result leaves its machine in half a second */
    run();
    NEAR(result.makespan_s, 4000 * 0.5 / 8, 0.01);
}

/* A result that is on its way for longer than a silent worker may be: its heartbeats pass it, and nobody counts as dead. */
static void test_beats(void **state)
{
    (void)state;
    setup.types[0].link_bytes_per_s = 1e6;
    setup.waves = 16;
    setup.window = 1;
    setup.result_bytes = 100e6;
    run();
    NEAR(result.makespan_s, 200, 0.01);
}

static void test_files(void **state)
{
    (void)state;
    setup.files_bytes_per_s = 1e9;
    setup.read_bytes = 20e6;            /* 50 a second */
    run();
    NEAR(result.makespan_s, 4000 * 0.02, 0.01);
    NEAR(result.files_busy, 1, 0.01);
    setup.write_bytes = 20e6;
    run();
    NEAR(result.makespan_s, 4000 * 0.04, 0.01);
    setup.files_bytes_per_s = 10e9;     /* it is fast, and reading goes on while the machine computes */
    run();
    NEAR(result.makespan_s, 4000 * 0.1 / 8, 0.01);
}

static void test_rank_0(void **state)
{
    (void)state;
    setup.types[0].every_s = setup.types[0].latency_s = 0.01;
    setup.handle_s = 0.001;             /* result, give, verdict: 333 waves a second, where machines could do 800 */
    run();
    NEAR(result.makespan_s, 4000 * 0.003, 0.04);
    assert_true(result.manager_busy > 0.97);
    setup.handle_s = 1e-6;
    setup.head_s = 0.02;
    run();
    NEAR(result.makespan_s, 4000 * 0.02, 0.01);
    setup.head_s = 0;
    setup.tail_s = 0.03;
    run();
    NEAR(result.makespan_s, 4000 * 0.03, 0.01);
}

/* Waves of unlike length take as long in all; the same seed gives the same run, another one another. */
static void test_vary(void **state)
{
    (void)state;
    setup.vary = 0.5;
    setup.seed = 7;
    run();
    double first_s = result.makespan_s;
    NEAR(first_s, 4000 * 0.1 / 8, 0.03);
    run();
    assert_true(result.makespan_s == first_s);
    setup.seed = 8;
    run();
    assert_true(result.makespan_s != first_s);
}

static void test_many(void **state)
{
    (void)state;
    setup.types[0] = (struct dfc_machines){ 2000, 1, 1, 1e9 };
    setup.waves = 20000;
    setup.window = 0;
    run();
    NEAR(result.makespan_s, 10, 0.12);
    setup.types[0].n = 1;
    setup.waves = 1;
    run();
    NEAR(result.makespan_s, 1, 0.01);
}

/* Shares of 3 parts and of 2, on machines that take 10 ms and 20 ms for a wave of a part: each machine has all waves of its share, beginning when the GIVE has
 * come, and its parts leave over its link when the last wave has ended. What is counted by hand is rank 0's thread, latency and link. */
static void test_shares(void **state)
{
    const struct dfc_manager_share shares[2] = { { { 0.03, 0.06 }, { 0.03, 0.06 }, 3e6 }, { { 0.02, 0.04 }, { 0.02, 0.04 }, 2e6 } };
    (void)state;
    setup = (struct dfc_manager_setup){ .n_types = 2, .types = { { 1, 1, 1, 1e8 }, { 1, 1, 1, 1e8 } }, .waves = 100, .inflight = 2, .shares = shares, .n_shares = 2,
                                  .latency_s = 1e-3, .handle_s = 1e-4, .manager_bytes_per_s = 1e9 };
    struct df_error error = { "" };
    assert_int_equal(dfc_manager_simulate(&setup, &result, &error), DF_OK);
    assert_int_equal(result.waves[0] + result.waves[1], 2);
    /* HELLO and GIVE are a message each way; the second share is the slower one: 100 waves of 40 ms on the second machine. */
    const double second_s = 2e-3 + 100 * 0.04 + 2e6 / 1e8 + 1e-3, few = 20 * 1e-4;
    assert_true(result.makespan_s >= second_s && result.makespan_s <= second_s + few);
    NEAR(result.busy[0], 100 * 0.03 / result.makespan_s, 1e-9);
    NEAR(result.busy[1], 100 * 0.04 / result.makespan_s, 1e-9);
    /* A third machine has nothing to do. More shares than machines: who ends first has the next one. */
    setup.types[0].n = 2;
    setup.n_types = 1;
    assert_int_equal(dfc_manager_simulate(&setup, &result, &error), DF_OK);
    const double first_s = 2e-3 + 100 * 0.03 + 3e6 / 1e8 + 1e-3;
    assert_true(result.makespan_s >= first_s && result.makespan_s <= first_s + few);
    setup.types[0].n = 3;
    assert_int_equal(dfc_manager_simulate(&setup, &result, &error), DF_OK);
    assert_true(result.makespan_s >= first_s && result.makespan_s <= first_s + few);
    setup.types[0].n = 1;
    assert_int_equal(dfc_manager_simulate(&setup, &result, &error), DF_OK);
    NEAR(result.makespan_s, 100 * (0.03 + 0.02) + 5e6 / 1e8, 0.002);
}

/* Each machine reads what a wave needs, so two read twice as much as one: 200 MB at 100 MB/s, where the waves take half a second. With one wave at a time
 * reading and the wave follow each other. */
static void test_shares_read(void **state)
{
    const struct dfc_manager_share shares[2] = { { { 0.005 }, { 0.005 }, 0 }, { { 0.005 }, { 0.005 }, 0 } };
    struct df_error error = { "" };
    (void)state;
    setup = (struct dfc_manager_setup){ .n_types = 1, .types = { { 2, 1, 1, 1e9 } }, .waves = 100, .inflight = 4, .shares = shares, .n_shares = 2,
                                  .handle_s = 1e-6, .manager_bytes_per_s = 1e9, .files_bytes_per_s = 1e8, .read_bytes = 1e6 };
    assert_int_equal(dfc_manager_simulate(&setup, &result, &error), DF_OK);
    NEAR(result.makespan_s, 2, 0.01);
    NEAR(result.files_busy, 1, 0.01);
    setup.inflight = 1;
    setup.types[0].n = 1;
    assert_int_equal(dfc_manager_simulate(&setup, &result, &error), DF_OK);
    NEAR(result.makespan_s, 2 * 100 * (0.005 + 0.01), 0.001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fair),
        cmocka_unit_test(test_group),
        cmocka_unit_test_setup(test_machines, set_up),
        cmocka_unit_test_setup(test_window, set_up),
        cmocka_unit_test_setup(test_types, set_up),
        cmocka_unit_test_setup(test_links, set_up),
        cmocka_unit_test_setup(test_beats, set_up),
        cmocka_unit_test_setup(test_files, set_up),
        cmocka_unit_test_setup(test_rank_0, set_up),
        cmocka_unit_test_setup(test_vary, set_up),
        cmocka_unit_test_setup(test_many, set_up),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_shares_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
