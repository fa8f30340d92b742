/* test_heft.c - the list schedulers heft and peft: the rules that tell them apart from a greedy assignment, on graphs
 * made for each, and what holds for every graph.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample_graph.h"

#define MS SAMPLE_MS

static void place_by(const struct sample *s, const char *policy, uint16_t *place, float *priority)
{
    const struct dfp_partitioner *p = dfp_partitioner_find(policy);
    struct dfp_result result = { .place = place, .priority = priority };
    struct dfp_options options;
    struct df_error error = { "" };
    uint16_t again[256];

    assert_non_null(p);
    assert_true(s->graph->n_nodes <= 256);
    dfp_options_default(&options);
    if (p->solve(&s->problem, &options, &result, &error) != DF_OK)
        fail_msg("%s: %s", policy, error.text);
    assert_true(result.lower_bound_s <= result.makespan_s * (1 + 1e-12));
    assert_int_equal(p->run(&s->problem, &options, again, &error), DF_OK);
    assert_memory_equal(again, place, s->graph->n_nodes * sizeof *place);
}

/* X keeps the GPU for 20 ms, and P, which is more urgent than S, waits for it on the CPU: S fits before. Put after P it
 * would end later than on the GPU. The run keeps the order of the timetable: S, of the lower rank, before P. */
static void gaps_are_filled(void **state)
{
    struct sample s;
    uint16_t place[8];
    float priority[8];

    (void)state;
    sample_begin(&s, 1, 1);
    uint32_t x = sample_node(&s, "x", NAN, 20 * MS, 1, 0, NULL);
    uint32_t p = sample_node(&s, "p", 10 * MS, NAN, 0, 1, &x);
    uint32_t small = sample_node(&s, "s", 5 * MS, 8 * MS, 0, 0, NULL);
    sample_end(&s);
    place_by(&s, "heft", place, priority);
    uint32_t by_kernel[3];
    for (uint32_t v = 0; v < 3; v++)
        by_kernel[df_graph_string(s.graph, s.graph->kernels[s.graph->nodes[v].kernel].name)[0] == 'x'   ? x
                  : df_graph_string(s.graph, s.graph->kernels[s.graph->nodes[v].kernel].name)[0] == 'p' ? p
                                                                                                        : small] = v;
    assert_int_equal(place[by_kernel[small]], 0);
    assert_true(priority[by_kernel[x]] > priority[by_kernel[p]]);
    assert_true(priority[by_kernel[small]] > priority[by_kernel[p]]);
    assert_float_equal(priority[by_kernel[p]], 10 * MS, 1e-9);
    assert_float_equal(priority[by_kernel[small]], 31 * MS, 1e-9);
    sample_free(&s);
}

/* A ends first on the GPU, but all that follows must come back from there. */
static void peft_looks_ahead(void **state)
{
    struct sample s;
    uint16_t place[2];
    float priority[2];

    (void)state;
    sample_begin(&s, 1, 1);
    uint32_t a = sample_node(&s, "a", 10 * MS, 9 * MS, 20 * SAMPLE_MB, 0, NULL);
    sample_node(&s, "b", 10 * MS, NAN, 0, 1, &a);
    sample_end(&s);
    place_by(&s, "heft", place, priority);
    assert_int_equal(place[0], 1);
    place_by(&s, "peft", place, priority);
    assert_int_equal(place[0], 0);
    sample_free(&s);
}

/* Six equal jobs: three workers, of which the GPU is three times as fast. 10 ms on a CPU worker each. */
static void all_workers_are_used(void **state)
{
    struct sample s;
    uint16_t place[16];
    float priority[16];
    struct dfp_evaluation e;
    struct df_error error;

    (void)state;
    for (int p = 0; p < 2; p++) {
        sample_begin(&s, 2, 1);
        for (int i = 0; i < 10; i++)
            sample_node(&s, "job", 30 * MS, 10 * MS, 0, 0, NULL);
        sample_end(&s);
        place_by(&s, p ? "peft" : "heft", place, priority);
        assert_int_equal(dfp_evaluate(&s.problem, place, priority, &e, &error), DF_OK);
        assert_float_equal(e.makespan_s, 60 * MS, 1e-12); /* 6 there, 4 here: nothing is better */
        assert_int_equal(e.nodes[1], 6);
        sample_free(&s);
    }
}

/* A job of three threads takes three of the four workers, so two such jobs run one after the other. */
static void teams_take_several_workers(void **state)
{
    struct sample s;
    uint16_t place[8];
    float priority[8];

    (void)state;
    sample_begin(&s, 4, 1);
    s.threads = 3;
    s.traits = DF_THREADS;
    sample_node(&s, "team", 10 * MS, 25 * MS, 0, 0, NULL);
    sample_node(&s, "team", 10 * MS, 25 * MS, 0, 0, NULL);
    sample_node(&s, "team", 10 * MS, 25 * MS, 0, 0, NULL);
    sample_end(&s);
    place_by(&s, "heft", place, priority);
    assert_int_equal(place[0] + place[1] + place[2], 1); /* 10, 20, and 25 rather than 30 */
    sample_free(&s);
}

/* A team of two waits until two workers are free: 30 + 10 ms here, while the GPU ends it at 25 ms. */
static void a_team_of_two_waits_for_both(void **state)
{
    struct sample s;
    uint16_t place[8];
    float priority[8];

    (void)state;
    sample_begin(&s, 2, 1);
    sample_node(&s, "long", 30 * MS, NAN, 0, 0, NULL);
    s.threads = 2;
    s.traits = DF_THREADS;
    sample_node(&s, "team", 10 * MS, 25 * MS, 0, 0, NULL);
    sample_end(&s);
    place_by(&s, "heft", place, priority);
    assert_int_equal(place[0], 0);
    assert_int_equal(place[1], 1);
    sample_free(&s);
}

/* A team of the host's workers has a place for as many as a run can have: more are refused, not written past it. */
static void too_many_workers_are_refused(void **state)
{
    struct sample s;
    (void)state;
    sample_begin(&s, 4096, 1);
    s.threads = 4096;
    sample_node(&s, "wide", 10 * MS, NAN, 0, 0, NULL);
    sample_end(&s);
    for (size_t i = 0; dfp_partitioners[i]; i++) {
        struct dfp_options options;
        struct df_error error = { "" };
        uint16_t place[8];
        dfp_options_default(&options);
        assert_int_equal(dfp_partitioners[i]->run(&s.problem, &options, place, &error), DF_E_ARGUMENT);
        assert_non_null(strstr(error.text, "has no worker, too many, or no link"));
    }
    sample_free(&s);
}

static void any_graph(void **state)
{
    double sum[3] = { 0 };

    (void)state;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        struct sample s;
        uint16_t place[256];
        float priority[256];
        struct dfp_evaluation e;
        struct df_error error = { "" };
        sample_random(&s, seed, 20 + seed * 4, 1 + seed % 3, 1 + seed % 2, seed % 3 == 0);
        for (int p = 0; p < 3; p++) {
            double bound_s;
            if (p < 2) {
                place_by(&s, p ? "peft" : "heft", place, priority);
            } else {
                struct dfp_options options;
                dfp_options_default(&options);
                assert_int_equal(dfp_partitioner_find("all-cpu")->run(&s.problem, &options, place, &error), DF_OK);
                dfp_upward_rank(&s.problem, place, priority);
            }
            for (uint32_t v = 0; v < s.graph->n_nodes; v++)
                assert_false(isnan(dfp_node_time_s(&s.problem, v, place[v])));
            assert_int_equal(dfp_evaluate(&s.problem, place, priority, &e, &error), DF_OK);
            assert_int_equal(dfp_lower_bound(&s.problem, &bound_s, &error), DF_OK);
            assert_true(bound_s <= e.makespan_s * (1 + 1e-12));
            sum[p] += e.makespan_s / bound_s;
        }
        sample_free(&s);
    }
    assert_true(sum[0] < 0.8 * sum[2] && sum[1] < 0.8 * sum[2]); /* using the GPU well is what they are for */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_filled),
        cmocka_unit_test(peft_looks_ahead),
        cmocka_unit_test(all_workers_are_used),
        cmocka_unit_test(teams_take_several_workers),
        cmocka_unit_test(a_team_of_two_waits_for_both),
        cmocka_unit_test(too_many_workers_are_refused),
        cmocka_unit_test(any_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
