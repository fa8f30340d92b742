/* test_demand_simulation.c - stages fed by demand in virtual time: times by hand, bounds, and that a slow machine or link holds up no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "compiler/cluster/demand_simulation.h"

static struct df_error error;

/* One stage and one machine with one worker. */
static struct dfc_demand simple(int64_t waves)
{
    return (struct dfc_demand){ .policy = DFR_STREAM_ODDS, .n_types = 1, .n_stages = 1, .n_node_types = 1,
                                .stages = { { .time_s = { 1 }, .fires = 1, .in_bytes = 1000000, .out_bytes = 16 } },
                                .nodes = { { .n = 1, .workers = { 1 }, .link_bytes_per_s = 1e6, .latency_s = 0.125 } },
                                .message_s = 0.0625, .waves = waves, .places = 4, .requests = 1, .most = 64 };
}

static struct dfc_demand_result run(const struct dfc_demand *s)
{
    struct dfc_demand_result result;
    assert_int_equal(dfc_demand_run(s, &result, &error), DF_OK);
    assert_true(result.most_waiting <= s->places && result.most_held <= result.held_bound);
    return result;
}

/* At home: a request and its answer take message_s each, then an item runs while the next is fetched, and the last result takes message_s. */
static void test_at_home(void **state)
{
    struct dfc_demand s = simple(10);
    struct dfc_demand_result result = run(&s);

    (void)state;
    assert_true(fabs(result.makespan_s - (0.125 + 10 + 0.0625)) < 1e-9);
    assert_true(result.fired[0] == 10 && result.done[0][0] == 10 && result.moved_bytes == 0);
    assert_int_equal(result.most_target, 1);
}

/* Over the network an item takes 1 s on each link, and 0.125 s of latency; a request and a result some microseconds, and as much latency. */
static void test_far(void **state)
{
    struct dfc_demand s = simple(1);
    struct dfc_demand_result result;

    (void)state;
    s.n_types = s.n_node_types = 2;
    s.stages[0].time_s[0] = INFINITY;   /* the home cannot do it */
    s.stages[0].time_s[1] = 3;
    s.nodes[1] = (struct dfc_demand_nodes){ .n = 1, .workers = { [1] = 1 }, .link_bytes_per_s = 1e6, .latency_s = 0.125 };
    s.homes = 1;
    result = run(&s);
    const double small_s = 64e-6 + 80e-6, item_s = 1.000064, hop_s = 0.125 + 0.0625;
    assert_true(fabs(result.makespan_s - (small_s + item_s + 3 * hop_s + 3)) < 1e-6);
    assert_true(result.done[0][1] == 1 && result.moved_bytes >= 1000000 + 3 * 64 + 16 && result.moved_bytes < 1001000);
}

/* A latency of 2.5 times the processing: DQAA goes to three requests, and the worker is busy, which it is not with one. */
static void test_latency_hidden(void **state)
{
    struct dfc_demand s = simple(400);
    struct dfc_demand_result odds, one, three;

    (void)state;
    s.n_types = s.n_node_types = 2;
    s.stages[0].in_bytes = 16;
    s.stages[0].time_s[0] = INFINITY;
    s.stages[0].time_s[1] = 1;
    s.nodes[0].latency_s = 1.1875;
    s.nodes[1] = (struct dfc_demand_nodes){ .n = 1, .workers = { [1] = 1 }, .link_bytes_per_s = 1e6, .latency_s = 1.1875 };
    s.homes = 1;
    s.places = 64;
    odds = run(&s);
    s.policy = DFR_STREAM_DDWRR;
    one = run(&s);
    s.requests = 3;
    three = run(&s);
    assert_int_equal(odds.most_target, 3);
    assert_true(odds.makespan_s < 410 && three.makespan_s < 410 && one.makespan_s > 2.4 * 400);
}

/* Stages fire for their share of the waves, and a wave's stages come one after the other. */
static void test_shares(void **state)
{
    struct dfc_demand s = simple(20000);
    struct dfc_demand_result result, again;

    (void)state;
    s.n_stages = 3;
    s.stages[1] = s.stages[2] = s.stages[0];
    s.stages[0].fires = 0.5;
    s.stages[1].fires = 0.08;
    s.stages[2].fires = 0;
    result = run(&s);
    assert_true(fabs((double)result.fired[0] - 10000) < 300 && fabs((double)result.fired[1] - 1600) < 150 && result.fired[2] == 0);
    again = run(&s);
    assert_memory_equal(&result, &again, sizeof result);
    s.seed = 1;
    again = run(&s);
    assert_true(again.fired[0] != result.fired[0]);
    s.stages[0].fires = s.stages[1].fires = 0;
    assert_true(run(&s).makespan_s == 0);
}

/* Three quick machines and one that is a thousand times slower, or whose link is: the quick ones end no later than without it. */
static void test_slow_machine(void **state)
{
    (void)state;
    for (int p = 0; p < DFR_STREAM_POLICIES; p++)
        for (uint32_t requests = 1; requests <= 16; requests *= 4) {
            struct dfc_demand s = simple(2000);
            s.policy = (enum dfr_stream_policy)p;
            s.n_types = s.n_node_types = 2;
            s.stages[0].in_bytes = 10000;
            s.stages[0].time_s[1] = 1000;
            s.nodes[0].n = 3;
            s.nodes[1] = (struct dfc_demand_nodes){ .n = 0, .workers = { [1] = 1 }, .link_bytes_per_s = 1e6, .latency_s = 0.125 };
            s.homes = 1;
            s.places = 200;
            s.requests = requests;
            const double without_s = run(&s).ended_s[0];
            s.nodes[1].n = 1;
            struct dfc_demand_result slow = run(&s);
            assert_true(slow.ended_s[0] <= without_s + 1e-9);
            assert_true(slow.done[0][1] <= slow.held_bound + 1);
            s.stages[0].time_s[1] = 1;
            s.nodes[1].link_bytes_per_s = 10;
            slow = run(&s);
            assert_true(slow.ended_s[0] <= without_s + 1e-9 && slow.done[0][1] <= slow.held_bound + 1);
        }
}

/* A number below n. */
static uint32_t draw(uint64_t *seed, uint32_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % n;
}

/* Random machines, stages and networks: each item is done once, by who can do it, and all bounds hold. */
static void test_random(void **state)
{
    uint64_t seed = 7;
#define DRAW(n) draw(&seed, n)
    (void)state;
    for (int round = 0; round < 90; round++) {
        struct dfc_demand s = { .policy = (enum dfr_stream_policy)(round % DFR_STREAM_POLICIES), .n_types = 3, .n_stages = 1 + DRAW(3), .n_node_types = 3 };
        for (uint32_t k = 0; k < s.n_stages; k++) {
            s.stages[k] = (struct dfc_demand_stage){ .fires = DRAW(5) / 4.0, .in_bytes = DRAW(2) ? DRAW(100) : DRAW(1000000), .out_bytes = DRAW(9000) };
            for (uint32_t t = 0; t < 3; t++)
                s.stages[k].time_s[t] = t && DRAW(3) == 0 ? INFINITY : 1e-4 * (1 + DRAW(1000));
        }
        for (uint32_t t = 0; t < 3; t++)
            s.nodes[t] = (struct dfc_demand_nodes){ .n = t ? DRAW(4) : 1 + DRAW(3), .workers = { t ? DRAW(2) : 1, DRAW(2), t == 2 },
                                                    .link_bytes_per_s = 1e5 * (1 + DRAW(1000)), .latency_s = 1e-5 * DRAW(1000) };
        for (uint32_t t = 1; t < 3; t++)
            s.nodes[t].workers[0] += s.nodes[t].workers[1] + s.nodes[t].workers[2] == 0;
        s.waves = 1 + DRAW(400);
        s.places = 1 + DRAW(20);
        s.requests = s.most = 1 + DRAW(10);
        s.homes = DRAW(4);
        s.message_s = 1e-6 * DRAW(100);
        struct dfc_demand_result result = run(&s);
        for (uint32_t k = 0; k < s.n_stages; k++) {
            int64_t done = 0;
            for (uint32_t t = 0; t < 3; t++) {
                done += result.done[k][t];
                assert_true(result.done[k][t] == 0 || s.stages[k].time_s[t] < INFINITY);
            }
            assert_int_equal(done, result.fired[k]);
        }
    }
}

static void test_refused(void **state)
{
    struct dfc_demand s = simple(1);
    struct dfc_demand_result result;

    (void)state;
    s.stages[0].time_s[0] = INFINITY;
    assert_int_equal(dfc_demand_run(&s, &result, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "stage 1 can run on no node");
    s = simple(1);
    s.nodes[0].n = DFC_DEMAND_NODES + 1;
    assert_int_equal(dfc_demand_run(&s, &result, &error), DF_E_ARGUMENT);
    assert_non_null(strstr(error.text, "1 to 1024 nodes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_at_home), cmocka_unit_test(test_far),          cmocka_unit_test(test_latency_hidden),
                                        cmocka_unit_test(test_shares),  cmocka_unit_test(test_slow_machine), cmocka_unit_test(test_random),
                                        cmocka_unit_test(test_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
