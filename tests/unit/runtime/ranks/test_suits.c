/* test_suits.c - which wave suits which worker: the times of waves by type of worker, who gets which wave by them, and what that does for like nodes with a
 * core and a GPU, in virtual time. */
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
    assert_int_equal(dfr_suits_type_of(suits, 2, DF_CLASS_CPU), 0);
    assert_int_equal(dfr_suits_type_of(suits, 3, DF_CLASS_CPU), 1);
    assert_int_equal(dfr_suits_type_of(suits, 4, DF_CLASS_CPU), 0);
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
        dfr_feed_request(feed, asking[i], &(struct dfr_head){ .kind = DFR_ASK, .wave = (asking[i] == 3) * DFR_STREAM_WORKERS, .stage = i });
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

/* ---- three like nodes in virtual time ---- */

enum { RANKS = 3, OWN = 2, WAVES = 500, WINDOW = 64, NUMBERS = 1024 };
#define TICK_S 1e-4                     /* an answer takes one */

struct node {
    struct dfr_receiver *receiver;
    uint64_t ticket[NUMBERS];           /* of the requests, by number */
    bool runs[OWN];
    double end_s[OWN];
};

struct cluster {
    struct dfr_feed *feed;
    struct dfr_suits *suits;
    struct node nodes[RANKS];
    struct answer {
        uint32_t node;
        struct dfr_stream_answer answer;
    } under_way[RANKS * NUMBERS];
    uint32_t n_under_way;
    int64_t n_offered, n_done;
    int64_t done[2][OWN];               /* waves with d and with c, by worker */
};

/* 8 of 100 waves have the node that a GPU does 41 times as fast. */
static bool is_large(int64_t wave)
{
    return wave * 7919 % 100 < 8;
}

static void open_cluster(struct cluster *k, enum dfr_stream_policy policy)
{
    static const uint32_t of_rank[] = { 0, 1, 3 | DFR_DIVIDED, 3 | DFR_DIVIDED, 3 | DFR_DIVIDED };

    set_time(c, 0.285, 0.285 / 41);
    set_time(d, 1.12e-3, 1.12e-3);
    k->suits = open_suits(of_rank);
    assert_int_equal(dfr_feed_open(&mapping, 1, policy, open_suits(of_rank), &k->feed, &error), DF_OK);
    for (uint32_t i = 0; i < RANKS; i++) {
        const uint32_t types[OWN] = { dfr_suits_type_of(k->suits, 2 + i, DF_CLASS_CPU), dfr_suits_type_of(k->suits, 2 + i, DF_CLASS_GPU) };
        const struct dfr_receiver_options o = { .policy = policy, .n_types = 2, .present = 3, .n_senders = 1, .n_workers = OWN, .types = types,
                                                .requests = 2, .most = 64 };
        assert_int_equal(dfr_receiver_create(&o, 0, &k->nodes[i].receiver, &error), DF_OK);
    }
}

static void close_cluster(struct cluster *k)
{
    for (uint32_t i = 0; i < RANKS; i++)
        dfr_receiver_destroy(k->nodes[i].receiver);
    dfr_feed_close(k->feed);
    dfr_suits_close(k->suits);
    free(k);
}

static void work(struct cluster *k, uint32_t i, double now_s)
{
    struct node *node = &k->nodes[i];
    struct dfr_stream_item item;
    uint32_t w;

    for (w = 0; w < OWN; w++)
        if (node->runs[w] && now_s >= node->end_s[w]) {
            dfr_receiver_finished(node->receiver, now_s, w);
            node->runs[w] = false;
            k->n_done++;
        }
    while (dfr_receiver_idle(node->receiver, &w) && dfr_receiver_take(node->receiver, now_s, w, &item)) {
        const bool large = is_large((int64_t)item.id);
        node->runs[w] = true;
        node->end_s[w] = now_s + (large ? w == 0 ? 0.285 : 0.285 / 41 : 1.12e-3);
        k->done[large][w]++;
    }
}

static void ask(struct cluster *k, uint32_t i, double now_s)
{
    struct dfr_stream_request request;

    while (dfr_receiver_ask(k->nodes[i].receiver, now_s, &request)) {
        const uint32_t number = (uint32_t)request.ticket;
        assert_true(number < NUMBERS);
        k->nodes[i].ticket[number] = request.ticket;
        dfr_feed_request(k->feed, 2 + i, &(struct dfr_head){ .kind = DFR_ASK, .wave = (int64_t)request.type * DFR_STREAM_WORKERS + request.worker, .stage = number });
    }
}

static void answer(struct cluster *k)
{
    struct dfr_head head = { 0 };
    struct dfr_value values[2];
    uint32_t rank;

    while (dfr_feed_answer(k->feed, &rank, &head)) {
        struct answer *next = &k->under_way[k->n_under_way++];
        *next = (struct answer){ .node = rank - 2, .answer = { .ticket = k->nodes[rank - 2].ticket[head.stage], .item.id = (uint64_t)head.wave } };
        next->answer.kind = head.kind == DFR_GIVE ? DFR_STREAM_ITEM : head.flags & DFR_DROPPED ? DFR_STREAM_DROPPED : DFR_STREAM_NONE;
        wave_of(is_large(head.wave), !is_large(head.wave), values);
        dfr_suits_times(k->suits, values, 2, next->answer.item.time_s);
    }
}

/* Returns what all waves take. */
static double run(struct cluster *k)
{
    double now_s = 0;
    struct dfr_value values[2];

    while (k->n_done < WAVES) {
        for (; k->n_offered < WAVES && dfr_feed_waiting(k->feed) < WINDOW; k->n_offered++) {
            wave_of(is_large(k->n_offered), !is_large(k->n_offered), values);
            assert_true(dfr_feed_offer(k->feed, k->n_offered, values, 2));
        }
        for (uint32_t i = 0; i < k->n_under_way; i++)
            assert_int_equal(dfr_receiver_answer(k->nodes[k->under_way[i].node].receiver, now_s, &k->under_way[i].answer), DF_OK);
        k->n_under_way = 0;
        for (uint32_t i = 0; i < RANKS; i++) {
            work(k, i, now_s);
            ask(k, i, now_s);
        }
        answer(k);
        now_s += TICK_S;
        assert_true(now_s < 100);
    }
    return now_s;
}

/* With ddwrr a node takes the oldest waves, and a core the large ones that the node's GPU leaves. With odds the cores of all nodes leave them to the GPUs. */
static void test_like_nodes(void **state)
{
    struct cluster *ddwrr = calloc(1, sizeof *ddwrr), *odds = calloc(1, sizeof *odds);

    (void)state;
    assert_true(ddwrr && odds);
    open_cluster(ddwrr, DFR_STREAM_DDWRR);
    open_cluster(odds, DFR_STREAM_ODDS);
    const double ddwrr_s = run(ddwrr), odds_s = run(odds);
    print_message("ddwrr %g s, %lld large ones on cores; odds %g s, %lld\n", ddwrr_s, (long long)ddwrr->done[1][0], odds_s, (long long)odds->done[1][0]);
    assert_true(ddwrr->done[1][0] > 0);
    assert_int_equal(odds->done[1][0], 0);
    assert_int_equal(odds->done[1][1], 40);
    assert_true(odds->done[0][0] > odds->done[0][1] && odds->done[0][1] > 0); /* GPUs help with small ones */
    assert_true(1.2 * odds_s < ddwrr_s);
    close_cluster(ddwrr);
    close_cluster(odds);
}

/* ---- types and places ---- */

/* The places of a rank with so many, and with so many CPU workers: C is the CPU's, G the device's. */
static void check_places(uint32_t n_places, unsigned workers, const char *expected)
{
    struct dfr_own_places own;
    char text[20] = "";

    options.workers = workers;
    dfr_suits_places(rig.graph, &options, n_places, &own);
    assert_int_equal(own.classes & ~DFR_DIVIDED, options.device == DF_DEVICE_NONE ? 1 : 3);
    for (uint32_t p = 0; own.classes & DFR_DIVIDED && p < n_places; p++) {
        assert_int_equal(own.unit[p], own.cls[p]);
        text[p] = "CG"[own.unit[p]];
    }
    assert_string_equal(text, expected);
}

static void test_places(void **state)
{
    (void)state;
    options.policy = NULL;
    check_places(4, 1, "");
    options.device = DF_DEVICE_EMU;
    options.emu_all = true;
    check_places(1, 1, "");
    check_places(2, 4, "CG");
    check_places(3, 4, "CGG");
    check_places(4, 1, "CGGG");
    check_places(4, 8, "CCGG");
    check_places(6, 3, "CCCGGG");
    options.policy = "dmda";
    check_places(4, 1, "");
    options.policy = NULL;
    options.serial = 1;
    check_places(4, 1, "");
}

/* Ranks that are divided ask for a core or for a device. */
static void test_divided(void **state)
{
    static const uint32_t of_rank[] = { 0, 1, 3 | DFR_DIVIDED, 3 | DFR_DIVIDED, 1 };
    struct dfr_suits *suits = open_suits(of_rank);

    (void)state;
    assert_int_equal(dfr_suits_types(suits), 2);
    assert_true(dfr_suits_divided(suits, 2) && dfr_suits_divided(suits, 3) && !dfr_suits_divided(suits, 4));
    for (uint32_t rank = 2; rank <= 4; rank++)
        for (uint32_t cls = 0; cls < 2; cls++)
            assert_int_equal(dfr_suits_type_of(suits, rank, cls), rank < 4 && cls == DF_CLASS_GPU);
    check_wave(suits, true, true, 40e-3, 11e-3);
    dfr_suits_close(suits);

    /* Not if a node must see the waves in order, or if its time on the CPU is not known. */
    ((struct df_node *)rig.graph->nodes)[c.node].depth = 1;
    suits = open_suits(of_rank);
    assert_false(dfr_suits_divided(suits, 2));
    assert_int_equal(dfr_suits_type_of(suits, 2, DF_CLASS_CPU), dfr_suits_type_of(suits, 3, DF_CLASS_GPU));
    dfr_suits_close(suits);
    ((struct df_node *)rig.graph->nodes)[c.node].depth = 0;
    plan.times.source[rig.graph->nodes[d.node].work] = DF_TIME_DEFAULT;
    suits = open_suits(of_rank);
    assert_false(dfr_suits_divided(suits, 2));
    dfr_suits_close(suits);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(test_times, set_up, tear_down),
                                        cmocka_unit_test_setup_teardown(test_odds, set_up, tear_down),
                                        cmocka_unit_test_setup_teardown(test_places, set_up, tear_down),
                                        cmocka_unit_test_setup_teardown(test_divided, set_up, tear_down),
                                        cmocka_unit_test_setup_teardown(test_like_nodes, set_up, tear_down) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
