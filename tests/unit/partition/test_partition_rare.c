/* test_partition_rare.c - problems that are hardly any, for every planner: no node, nodes that cost nothing, nodes that
 * can run nowhere, a platform or times of another graph, tokens that are too large for a layout; and the pictures and
 * sentences of plans that are hardly any.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "partition/draw/draw.h"
#include "partition/gp/gp.h"
#include "partition/model/model.h"
#include "partition/planner/plan_report.h"
#include "sample_graph.h"

#define MS SAMPLE_MS

/* ---- every planner ---- */

/* Gives the status; the plan, if there is one, is looked at: places are units that can run their nodes. */
static int plan_by(const struct sample *s, const char *policy, const struct dfp_options *options, double *predicted_s,
                   struct df_error *error)
{
    struct df_plan *plan = NULL;
    int status = dfp_plan_make(&s->problem, policy, options, &plan, error);

    if (status != DF_OK) {
        assert_null(plan);
        return status;
    }
    for (uint32_t v = 0; v < s->graph->n_nodes; v++)
        assert_false(isnan(dfp_node_time_s(&s->problem, v, plan->place[v])));
    assert_true(plan->lower_bound_s >= 0 && plan->lower_bound_s <= plan->predicted_s);
    *predicted_s = plan->predicted_s;
    dfr_plan_free(plan);
    return DF_OK;
}

/* Every planner for either objective gives this status; for DF_OK a run takes no time. */
static void plan_by_all(const struct sample *s, int status, const char *text)
{
    for (size_t p = 0; dfp_partitioners[p]; p++)
        for (int throughput = 0; throughput < 2; throughput++) {
            struct dfp_options options;
            struct df_error error = { "" };
            double predicted_s = -1;
            int got;

            dfp_options_default(&options);
            options.objective = throughput ? DFP_THROUGHPUT : DFP_LATENCY;
            options.budget = 40;
            options.threads = 1;
            got = plan_by(s, dfp_partitioners[p]->name, &options, &predicted_s, &error);
            if (got != status || (text && !strstr(error.text, text)))
                fail_msg("%s, %s: %d, '%s'", dfp_partitioners[p]->name, throughput ? "throughput" : "latency", got,
                         error.text);
            if (status == DF_OK)
                assert_true(predicted_s == 0);
        }
}

static void no_node(void **state)
{
    (void)state;
    for (uint32_t gpus = 0; gpus <= 2; gpus++) {
        struct sample s;
        sample_begin(&s, 2, gpus);
        sample_end(&s);
        plan_by_all(&s, DF_OK, NULL);
        sample_free(&s);
    }
}

/* Two diamonds of nodes that cost nothing, with empty tokens; links take no time either. */
static void nothing_costs(void **state)
{
    (void)state;
    for (uint32_t gpus = 0; gpus <= 3; gpus++) {
        struct sample s;
        sample_begin(&s, 2, gpus);
        for (uint32_t u = 1; u <= gpus; u++) {
            s.platform.units[u].h2d = s.platform.units[u].d2h = (struct df_link){ 1e30, 0, 0 };
            s.platform.units[u].workers = u; /* devices that differ */
        }
        for (int i = 0; i < 2; i++) {
            uint32_t a = sample_node(&s, "a", 0, 0, 8, 0, NULL), b = sample_node(&s, "b", 0, 0, 8, 1, &a),
                     c = sample_node(&s, "c", 0, 0, 8, 1, &a);
            sample_node(&s, "d", 0, 0, 0, 2, (uint32_t[]){ b, c });
        }
        sample_end(&s);
        for (size_t p = 0; dfp_partitioners[p]; p++)
            for (int throughput = 0; throughput < 2; throughput++) {
                struct dfp_options options;
                struct df_error error = { "" };
                double predicted_s = -1;
                dfp_options_default(&options);
                options.objective = throughput ? DFP_THROUGHPUT : DFP_LATENCY;
                options.budget = 40;
                options.threads = 1;
                if (plan_by(&s, dfp_partitioners[p]->name, &options, &predicted_s, &error) != DF_OK)
                    fail_msg("%s: %s", dfp_partitioners[p]->name, error.text);
                assert_true(predicted_s >= 0 && predicted_s < 1e-20);
            }
        sample_free(&s);
    }
}

static void runs_nowhere(void **state)
{
    (void)state;
    for (uint32_t gpus = 0; gpus <= 2; gpus++) {
        struct sample s;
        sample_begin(&s, 2, gpus);
        uint32_t a = sample_node(&s, "a", 1 * MS, 1 * MS, 8, 0, NULL);
        uint32_t b = sample_node(&s, "b", NAN, NAN, 8, 1, &a);
        sample_node(&s, "c", 1 * MS, 1 * MS, 0, 1, &b);
        sample_end(&s);
        plan_by_all(&s, DF_E_REFUSED, "b");
        for (size_t p = 0; dfp_partitioners[p]; p++) { /* a placement alone */
            struct dfp_options options;
            struct df_error error = { "" };
            uint16_t place[3];
            dfp_options_default(&options);
            options.budget = 40;
            assert_int_equal(dfp_partitioners[p]->run(&s.problem, &options, place, &error), DF_E_REFUSED);
            assert_string_equal(error.text, "node 'main/b#2' can run on no unit of platform 'study'");
        }
        struct dfp_model model;
        assert_int_equal(dfp_model_init(&model, &s.problem, NULL), DF_OK);
        for (uint32_t v = 0; v < 3; v++)
            assert_false(dfp_model_is_too_large(&model, v));
        sample_free(&s);
    }
}

/* Devices of which only one, or only the other, has the memory for a node. */
static void fits_one_device(void **state)
{
    (void)state;
    for (uint32_t small = 1; small <= 2; small++)
        for (int throughput = 0; throughput < 2; throughput++) {
            struct sample s;
            uint32_t last = 0;

            sample_begin(&s, 1, 2);
            s.platform.units[small].memory_bytes = 1 << 20;
            for (uint32_t v = 0; v < 12; v++)
                last = sample_node(&s, "n", v % 3 ? 40 * MS : NAN, 1 * MS, v % 2 ? 1 << 21 : 1 << 12, v > 0, &last);
            sample_end(&s);
            for (size_t p = 0; dfp_partitioners[p]; p++) {
                struct dfp_options options;
                struct df_error error = { "" };
                double predicted_s = -1;
                dfp_options_default(&options);
                options.objective = throughput ? DFP_THROUGHPUT : DFP_LATENCY;
                options.budget = 40;
                options.threads = 1;
                if (plan_by(&s, dfp_partitioners[p]->name, &options, &predicted_s, &error) != DF_OK)
                    fail_msg("%s: %s", dfp_partitioners[p]->name, error.text);
                assert_true(predicted_s >= 12 * MS);
            }
            sample_free(&s);
        }
}

static unsigned n_told;
static double told_share, told_s;

static void note_progress(void *arg, double share_done, double best_s)
{
    assert_ptr_equal(arg, &n_told);
    assert_true(share_done > told_share && share_done <= 1);
    assert_true(best_s > 0 && best_s <= told_s);
    told_share = share_done;
    told_s = best_s;
    n_told++;
}

/* What is told of the search grows to 1, and the best placement never gets worse. */
static void progress_is_told(void **state)
{
    struct sample s;
    struct dfp_options options;
    struct df_error error;
    double predicted_s;

    (void)state;
    sample_random(&s, 3, 40, 2, 1, false);
    dfp_options_default(&options);
    options.objective = DFP_LATENCY;
    options.budget = 100;
    options.threads = 1;
    options.progress = note_progress;
    options.progress_arg = &n_told;
    told_s = INFINITY;
    assert_int_equal(plan_by(&s, "gp", &options, &predicted_s, &error), DF_OK);
    assert_true(n_told > 1 && told_share == 1);
    assert_true(predicted_s <= told_s);
    sample_free(&s);
}

/* A platform without units, and the times of another graph. */
static void another_problem(void **state)
{
    struct sample s, other;
    float rank[3] = { 1, 1, 1 };
    uint16_t place[3] = { 0 };
    uint32_t n_units;

    (void)state;
    sample_begin(&s, 1, 1);
    uint32_t a = sample_node(&s, "a", 1 * MS, 1 * MS, 8, 0, NULL);
    sample_node(&s, "b", 2 * MS, 1 * MS, 0, 1, &a);
    sample_end(&s);
    sample_begin(&other, 1, 1);
    sample_node(&other, "a", 1 * MS, 1 * MS, 0, 0, NULL);
    sample_end(&other);

    dfp_upward_rank(&s.problem, place, rank);
    assert_true(rank[0] > rank[1] && rank[1] > 0);
    n_units = s.platform.n_units;
    s.platform.n_units = 0;
    plan_by_all(&s, DF_E_ARGUMENT, "platform 'study' has 0 units; 1 to 32 are possible");
    s.platform.n_units = n_units;
    s.problem.times = &other.times;
    plan_by_all(&s, DF_E_ARGUMENT, "times of 1 works were given for a graph that has 2");
    dfp_upward_rank(&s.problem, place, rank);
    assert_true(rank[0] == 0 && rank[1] == 0);
    sample_free(&s);
    sample_free(&other);
}

/* ---- the evaluators ---- */

/* Both evaluators say so of the placement. */
static void evaluated(const struct sample *s, const uint16_t *place, double expected_s, uint32_t peer_copies)
{
    struct dfp_evaluation e;
    struct df_error error = { "" };
    double fast_s;

    if (dfp_evaluate(&s->problem, place, NULL, &e, &error) != DF_OK)
        fail_msg("%s", error.text);
    sample_near(e.makespan_s, expected_s);
    assert_int_equal(e.peer_copies, peer_copies);
    assert_int_equal(dfp_evaluate_fast(&s->problem, place, NULL, &fast_s, &error), DF_OK);
    sample_near(fast_s, expected_s);
}

/* A token that is there at the start goes directly from one device to the other, or over the host if they do not see
 * each other. */
static void there_at_the_start(void **state)
{
    static const uint16_t place[] = { 1, 2 };
    (void)state;
    for (int peers = 0; peers < 2; peers++) {
        struct sample s;
        sample_begin(&s, 1, 2);
        for (uint32_t u = 1; u <= 2 && peers; u++)
            s.platform.units[u].peer = (struct df_link){ 2e9, 0, 0 };
        uint32_t a = sample_node(&s, "a", 0, 0, SAMPLE_MB, 0, NULL);
        sample_node(&s, "b", 5 * MS, 3 * MS, 0, 1, &a);
        sample_end(&s);
        evaluated(&s, place, peers ? 0.5 * MS + 3 * MS : 2 * 2 * MS + 3 * MS, peers);
        sample_free(&s);
    }
}

/* A node that costs nothing takes no worker, although it waits for its input: the other job begins at once. */
static void free_between(void **state)
{
    static const uint16_t place[] = { 0, 0, 0, 0 };
    struct sample s;

    (void)state;
    sample_begin(&s, 1, 0);
    uint32_t a = sample_node(&s, "a", 1 * MS, NAN, 8, 0, NULL), b = sample_node(&s, "b", 0, 0, 8, 1, &a);
    sample_node(&s, "c", 2 * MS, NAN, 0, 1, &b);
    sample_node(&s, "d", 4 * MS, NAN, 0, 1, &a);
    sample_end(&s);
    evaluated(&s, place, 7 * MS, 0);
    sample_free(&s);
}

static void damaged_graph(void **state)
{
    static const uint16_t place[] = { 0, 0 };
    struct dfp_evaluation e;
    struct df_error error;
    struct sample s;

    (void)state;
    sample_begin(&s, 1, 0);
    uint32_t a = sample_node(&s, "a", 1 * MS, NAN, 8, 0, NULL);
    sample_node(&s, "b", 1 * MS, NAN, 0, 1, &a);
    sample_end(&s);
    ((struct df_value *)s.graph->values)[0].n_readers = 0;
    assert_int_equal(dfp_evaluate(&s.problem, place, NULL, &e, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "1 of 2 nodes never become ready: the graph is damaged");
    sample_free(&s);
}

/* A value with more readers than gp moves at once. */
static void many_readers(void **state)
{
    struct sample s;
    struct dfp_options options;
    struct df_error error;
    double predicted_s;

    (void)state;
    sample_begin(&s, 2, 1);
    uint32_t a = sample_node(&s, "a", 1 * MS, 1 * MS, 8, 0, NULL);
    for (uint32_t i = 0; i < 70; i++)
        sample_node(&s, "b", 1 * MS, 1 * MS, 0, 1, &a);
    sample_end(&s);
    dfp_options_default(&options);
    options.objective = DFP_LATENCY;
    options.budget = 100;
    options.threads = 1;
    assert_int_equal(plan_by(&s, "gp", &options, &predicted_s, &error), DF_OK);
    assert_true(predicted_s < 30 * MS); /* three workers, and copies of next to nothing */
    sample_free(&s);
}

/* ---- large tokens ---- */

/* A device's pages are numbered with 32 bits: a plan whose tokens lie beyond has no layout for devices, and is good. */
static void no_layout_for_the_huge(void **state)
{
    (void)state;
    for (int huge = 0; huge < 2; huge++) {
        struct sample s;
        struct df_plan *plan;
        struct df_error error;
        struct dfp_options options;
        uint64_t bytes = huge ? UINT64_C(1) << 45 : 1 << 20;

        sample_begin(&s, 1, 1);
        uint32_t a = sample_node(&s, "a", NAN, 1 * MS, bytes, 0, NULL);
        uint32_t b = sample_node(&s, "b", NAN, 1 * MS, bytes, 1, &a);
        sample_node(&s, "c", NAN, 1 * MS, 0, 1, &b);
        sample_end(&s);
        dfp_options_default(&options);
        if (dfp_plan_make(&s.problem, "all-gpu", &options, &plan, &error) != DF_OK)
            fail_msg("%s", error.text);
        assert_true(plan->memory[1].wave_bytes >= 2 * bytes);
        assert_int_equal(plan->devices.n > 0, !huge);
        assert_int_equal(plan->devices.page != NULL, !huge);
        dfr_plan_free(plan);
        sample_free(&s);
    }
}

static void too_large_to_address(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        struct sample s;
        sample_begin(&s, 1, 0);
        s.traits = once ? DF_ONCE : 0;
        for (int i = 0; i < 9; i++)
            sample_node(&s, "a", 1 * MS, 1 * MS, UINT64_C(1) << 61, 0, NULL);
        sample_end(&s);
        plan_by_all(&s, DF_E_REFUSED, once ? "the tokens that are made once are too large to be addressed"
                                           : "the tokens of a wave are too large to be addressed");
        sample_free(&s);
    }
}

/* ---- sentences and pictures ---- */

static void promises(void **state)
{
    struct df_plan plan = { .inflight = 4 };
    char text[160];

    (void)state;
    plan.platform.n_units = 2;
    for (int unit = 0; unit < 2; unit++)
        plan.memory[unit] = (struct df_memory_need){ .wave_bytes = 1 << 20 };
    assert_string_equal(dfp_text_promise(text, &plan, 0, 0), "");
    plan.platform.units[0].memory_bytes = plan.platform.units[1].memory_bytes = 1 << 19;
    assert_string_equal(dfp_text_promise(text, &plan, 0, 0), "one wave does not fit in 512 KiB");
    assert_string_equal(dfp_text_promise(text, &plan, 1, 0), "one wave needs 1 MiB of 512 KiB: blocks will be evicted");
    plan.platform.units[1].memory_bytes = (1 << 20) - 1;
    assert_string_equal(dfp_text_promise(text, &plan, 1, 0),
                        "one wave needs 1048576 bytes of 1048575: blocks will be evicted");
    plan.platform.units[1].memory_bytes = 1 << 20;
    assert_string_equal(dfp_text_promise(text, &plan, 1, 0), "fits in 1 MiB with 1 wave in flight, not with 4");
    assert_string_equal(dfp_text_promise(text, &plan, 1, 2),
                        "fits in 1 MiB with 1 of the 2 waves in flight asked for");
    assert_string_equal(dfp_text_promise(text, &plan, 1, 1), "fits in 1 MiB with 1 wave in flight");
    plan.platform.units[1].memory_bytes = 1 << 30;
    assert_string_equal(dfp_text_promise(text, &plan, 1, 0), "fits in 1 GiB with 4 waves in flight");
}

static char *dot_of(const struct sample *s, bool summary)
{
    char *text = NULL;
    size_t size;
    bool summarised;
    struct df_error error;

    if (dfp_draw_dot(&s->problem, NULL, &(struct dfp_drawing){ .waits = false }, &text, &size, &summarised, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(summarised, summary);
    return text;
}

/* Nodes of one name, as a program that embeds libdf may give them, are drawn as two. */
static void one_name_twice(void **state)
{
    struct sample s;
    char *text;

    (void)state;
    sample_begin(&s, 1, 0);
    sample_node(&s, "same", 1 * MS, NAN, 0, 0, NULL);
    sample_node(&s, "same", 1 * MS, NAN, 0, 0, NULL);
    sample_end(&s);
    for (uint32_t v = 0; v < 2; v++)
        ((struct df_node *)s.graph->nodes)[v].ordinal = 0;
    text = dot_of(&s, false);
    assert_non_null(strstr(text, "\"main/same\""));
    assert_non_null(strstr(text, "\"main/same (2)\""));
    free(text);
    sample_free(&s);
}

/* A summary of many nested graphs of which each sends to each: the heaviest flows are drawn, the rest is counted. A
 * node belongs to the outermost graph that it is in. */
static void summary_of_many_flows(void **state)
{
    enum { GROUPS = 20, OF_EACH = (DFP_DRAW_MAX_NODES + GROUPS) / GROUPS };
    struct sample s;
    struct df_error error;
    static uint32_t first[GROUPS];
    char *text;

    (void)state;
    sample_begin(&s, 1, 0);
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint32_t outer, inner;
        assert_int_equal(df_builder_scope(s.builder, 0, "outer", g + 1, NULL, 0, &outer, &error), DF_OK);
        assert_int_equal(df_builder_scope(s.builder, outer, "inner", 0, NULL, 0, &inner, &error), DF_OK);
        s.scope = inner;
        first[g] = sample_node(&s, "first", 1 * MS, NAN, 8 * (1 + g), g, first);
        for (uint32_t i = 1; i < OF_EACH; i++)
            sample_node(&s, "more", 1 * MS, NAN, 0, 0, NULL);
    }
    sample_end(&s);
    text = dot_of(&s, true);
    assert_non_null(strstr(text, "heaviest flows are drawn; the others are"));
    assert_non_null(strstr(text, "outer#20"));
    assert_null(strstr(text, "inner"));
    free(text);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_node), cmocka_unit_test(nothing_costs), cmocka_unit_test(runs_nowhere),
        cmocka_unit_test(fits_one_device), cmocka_unit_test(progress_is_told),
        cmocka_unit_test(there_at_the_start),
        cmocka_unit_test(free_between), cmocka_unit_test(damaged_graph), cmocka_unit_test(many_readers),
        cmocka_unit_test(another_problem), cmocka_unit_test(no_layout_for_the_huge),
        cmocka_unit_test(too_large_to_address), cmocka_unit_test(promises), cmocka_unit_test(one_name_twice),
        cmocka_unit_test(summary_of_many_flows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
