/* test_suits.c - which wave suits which rank: the times of waves by type of rank, and who gets which wave by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/ranks/feed.h"
#include "runtime/subgraph/groups.h"
#include "runtime/stream/stream.h"

/* A stream; stages a and b on rank 1, which may skip; stage c reads a, d reads b, and a select reads both, on rank 2 with a CPU, on rank 3 with a GPU, too, and on rank 4, as
 * rank 2. A device does c twenty times as fast as a CPU, and d twice as fast. */
static struct rig rig;
static struct rig_out a, b, c, d;
static struct dfr_stages stages;
static struct dfr_mapping mapping;
static struct df_plan plan;
static struct df_options options;
static struct df_error error;
static const uint32_t classes[] = { 0, 1, 1, 3, 1 };

static void set_time(struct rig_out node, double cpu_s, double gpu_s)
{
    const uint32_t work = rig.graph->nodes[node.node].work;
    plan.times.time_s[work] = cpu_s;
    plan.times.time_s[plan.times.n_works + work] = gpu_s;
    plan.times.source[work] = plan.times.source[plan.times.n_works + work] = DF_TIME_MEASURED;
}

static void make_times(void)
{
    const uint32_t n = rig.graph->n_works;

    plan = (struct df_plan){ .times = { .n_classes = 2, .n_works = n, .time_s = malloc(2 * n * sizeof(double)), .source = malloc(2 * n) } };
    assert_true(plan.times.time_s && plan.times.source);
    for (uint32_t i = 0; i < 2 * n; i++) {
        plan.times.time_s[i] = 1;
        plan.times.source[i] = DF_TIME_DEFAULT;
    }
    set_time(c, 20e-3, 1e-3);
    set_time(d, 20e-3, 10e-3);
    df_platform_default(&plan.platform, 1);
    options = rig_options("eager", DF_DEVICE_NONE, 1);
    options.plan = &plan;
}

static int set_up(void **state)
{
    (void)state;
    rig_begin(&rig, 10);
    struct rig_out s = rig_node(&rig, RIG_STREAM, 5, RIG_NOTHING, RIG_NOTHING);
    a = rig_node(&rig, RIG_SKIP, 1, s, RIG_NOTHING);
    b = rig_node(&rig, RIG_SKIP, 2, s, RIG_NOTHING);
    c = rig_node(&rig, RIG_ADD1, 3, a, RIG_NOTHING);
    d = rig_node(&rig, RIG_SCRATCH, 4, b, RIG_NOTHING);
    struct rig_out e = rig_select(&rig, c, d);
    rig_sink(&rig, RIG_ORDERED, e);
    rig_sink(&rig, RIG_ORDERED, d);
    rig_end(&rig);
    for (uint32_t v = 0; v < rig.graph->n_nodes; v++)
        ((struct df_node *)rig.graph->nodes)[v].ordinal = v + 1;
    assert_int_equal(dfr_stages_find(rig.graph, &stages, &error), DF_OK);
    mapping = (struct dfr_mapping){ .by_demand = true, .n_stages = stages.n, .n_ranks = 5, .n_groups = 2, .group_of_rank = { DFR_NO_GROUP, 0, 1, 1, 1 } };
    for (uint32_t n = 0; n < stages.n; n++)
        mapping.group_of_stage[n] = DFR_NO_GROUP;
    mapping.group_of_stage[stages.stage_of[a.node]] = mapping.group_of_stage[stages.stage_of[b.node]] = 0;
    mapping.group_of_stage[stages.stage_of[e.node]] = mapping.group_of_stage[stages.stage_of[c.node]] = mapping.group_of_stage[stages.stage_of[d.node]] = 1;
    assert_true(dfr_mapping_is_valid(&mapping));
    make_times();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(plan.times.time_s);
    free(plan.times.source);
    dfr_stages_free(&stages);
    rig_free(&rig);
    return 0;
}

static struct dfr_suits *open_suits(const uint32_t *of_rank)
{
    struct dfr_suits *suits;
    assert_int_equal(dfr_suits_open(rig.graph, &stages, &mapping, 1, of_rank, &options, &suits, &error), DF_OK);
    return suits;
}

/* The tokens of a wave, of which some are empty. */
static void wave_of(bool has_a, bool has_b, struct dfr_value *values)
{
    values[0] = (struct dfr_value){ .port = rig.graph->nodes[a.node].first_out, .empty = !has_a };
    values[1] = (struct dfr_value){ .port = rig.graph->nodes[b.node].first_out, .empty = !has_b };
}

static void check_wave(struct dfr_suits *suits, bool has_a, bool has_b, double cpu_s, double gpu_s)
{
    double time_s[DFR_STREAM_TYPES];
    struct dfr_value values[2];

    wave_of(has_a, has_b, values);
    dfr_suits_times(suits, values, 2, time_s);
    assert_true(fabs(time_s[0] - cpu_s) < 1e-12 && fabs(time_s[1] - gpu_s) < 1e-12 && isnan(time_s[2]));
}

static void test_times(void **state)
{
    struct dfr_suits *suits = open_suits(classes);

    (void)state;
    assert_int_equal(dfr_suits_types(suits), 2);
    assert_int_equal(dfr_suits_type_of(suits, 2), 0);
    assert_int_equal(dfr_suits_type_of(suits, 3), 1);
    assert_int_equal(dfr_suits_type_of(suits, 4), 0);
    check_wave(suits, true, true, 40e-3, 11e-3);
    check_wave(suits, true, false, 20e-3, 1e-3);
    check_wave(suits, false, true, 20e-3, 10e-3);
    check_wave(suits, false, false, 1e-9, 1e-9);
    dfr_suits_close(suits);

    static const uint32_t alike[] = { 0, 3, 1, 1, 1 };
    double time_s[DFR_STREAM_TYPES];
    suits = open_suits(alike);
    assert_int_equal(dfr_suits_types(suits), 1);
    dfr_suits_times(suits, NULL, 0, time_s);
    assert_true(isnan(time_s[0]));
    dfr_suits_close(suits);
}

/* Who gets which of five waves, asking in this order: ranks 2, 3, 4, 3, 2. */
static void check_order(enum dfr_stream_policy policy, const char *expected)
{
    static const bool has[5][2] = { { false, true }, { true, false }, { true, true }, { false, false }, { false, true } };
    static const uint32_t asking[] = { 2, 3, 4, 3, 2 };
    struct dfr_feed *feed;
    struct dfr_head head = { 0 };
    struct dfr_value values[2];
    char text[200] = "";
    uint32_t rank;

    assert_int_equal(dfr_feed_open(&mapping, 1, policy, open_suits(classes), &feed, &error), DF_OK);
    for (int64_t wave = 0; wave < 5; wave++) {
        wave_of(has[wave][0], has[wave][1], values);
        assert_true(dfr_feed_offer(feed, wave, values, 2));
    }
    for (uint32_t i = 0; i < 5; i++) {
        dfr_feed_request(feed, asking[i], &(struct dfr_head){ .kind = DFR_ASK, .stage = i });
        while (dfr_feed_answer(feed, &rank, &head))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%u:%lld ", rank, (long long)head.wave);
    }
    assert_string_equal(text, expected);
    dfr_feed_close(feed);
}

/* A GPU gets what it gains most on, a CPU what a GPU gains least on, and of equal ones the oldest. In order, each rank has its own waves. */
static void test_odds(void **state)
{
    (void)state;
    check_order(DFR_STREAM_ODDS, "2:3 3:1 4:0 3:2 2:4 ");
    check_order(DFR_STREAM_DDFCFS, "2:0 3:1 4:2 3:3 2:4 ");
    plan.times.source[rig.graph->nodes[c.node].work] = DF_TIME_DEFAULT; /* not known of a CPU: waves with c suit all alike */
    check_order(DFR_STREAM_ODDS, "2:1 3:0 4:2 3:4 2:3 ");
}

static void test_classes(void **state)
{
    (void)state;
    assert_int_equal(dfr_suits_classes(rig.graph, &options), 1);
    options.device = DF_DEVICE_EMU;
    options.emu_all = true;
    assert_int_equal(dfr_suits_classes(rig.graph, &options), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(test_times, set_up, tear_down),
                                        cmocka_unit_test_setup_teardown(test_odds, set_up, tear_down),
                                        cmocka_unit_test_setup_teardown(test_classes, set_up, tear_down) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
