/* test_gp.c - gp and its parts. The fast evaluator is the exact one. Changes and their undoing leave no trace. The bound
 * holds for everything. Answers repeat whatever the number of threads. Nothing that gp has seen is better than its answer.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "partition/gp/gp.h"
#include "runtime/graph/fit.h"
#include "runtime/policy/policy.h"
#include "runtime/simulate/simulate.h"
#include "sample_graph.h"
#include "long.h"

static void random_places(const struct sample *s, uint32_t *random, uint16_t *place)
{
    for (uint32_t v = 0; v < s->graph->n_nodes; v++)
        do
            place[v] = (uint16_t)(sample_rand(random) % s->platform.n_units);
        while (isnan(dfp_node_time_s(&s->problem, v, place[v])));
}

static double exact(const struct sample *s, const uint16_t *place, const float *priority)
{
    struct dfp_evaluation e;
    struct df_error error = { "" };
    if (dfp_evaluate(&s->problem, place, priority, &e, &error) != DF_OK)
        fail_msg("%s", error.text);
    return e.makespan_s;
}

/* Graphs that differ in everything that the rules name. */
static void any_graph(struct sample *s, uint32_t seed)
{
    uint32_t gpus = seed % 4;
    sample_random(s, seed, 10 + seed * 4, 1 + seed % 5, gpus, seed % 7 == 0);
    for (uint32_t u = 1; u <= gpus; u++) {
        struct df_unit *unit = &s->platform.units[u];
        unit->engines = 1 + (seed & 1);
        unit->launch_s = seed % 3 ? 0 : 1e-5;
        unit->handover_s = seed / 2 % 2 ? u * 7e-5 : 0;
        if (seed % 5 == 0)              /* copies that take no time, and end at one moment */
            unit->h2d = unit->d2h = (struct df_link){ 1e9, 0, 2 * SAMPLE_MB };
    }
    sample_peers(s, seed);
}

/* ---- the fast evaluator ---- */

static void the_fast_evaluator_is_exact(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(70u, 30u); seed++) {
        struct sample s;
        uint32_t random = seed;
        any_graph(&s, seed);
        uint32_t n = s.graph->n_nodes;
        uint16_t *place = calloc(n, sizeof *place);
        float *priority = calloc(n, sizeof *priority);
        for (int k = 0; k < 6; k++) {
            random_places(&s, &random, place);
            dfp_upward_rank(&s.problem, place, priority);
            for (uint32_t v = 0; v < n && k % 3; v++)
                priority[v] = (float)(sample_rand(&random) % 9) - 4; /* with ties and below 0 */
            const float *given = k % 3 == 2 ? NULL : priority;
            double fast_s = 0, exact_s = exact(&s, place, given);
            assert_int_equal(dfp_evaluate_fast(&s.problem, place, given, &fast_s, NULL), DF_OK);
            if (fabs(fast_s - exact_s) > 1e-12 * exact_s)
                fail_msg("seed %u: %.17g, exact is %.17g", seed, fast_s, exact_s);
        }
        free(place);
        free(priority);
        sample_free(&s);
    }
}

static void the_end_is_known_early_only_where_it_is_late(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 30; seed++) {
        struct sample s;
        uint32_t random = seed;
        any_graph(&s, seed);
        struct dfp_compact compact;
        struct dfp_state st;
        uint16_t *place = calloc(s.graph->n_nodes, sizeof *place);
        assert_int_equal(dfp_compact_make(&s.problem, &compact, NULL), DF_OK);
        assert_int_equal(dfp_state_make(&compact, &st, NULL), DF_OK);
        random_places(&s, &random, place);
        dfp_state_place(&st, place);
        double all_s = dfp_state_run(&st, INFINITY);
        assert_true(dfp_state_bottleneck_s(&st) <= all_s * (1 + 1e-12));
        assert_true(dfp_state_run(&st, all_s) == all_s);
        assert_true(dfp_state_run(&st, all_s * 1.5) == all_s);
        double early_s = dfp_state_run(&st, all_s * 0.5);
        assert_true(early_s == all_s || isinf(early_s));
        dfp_state_free(&st);
        dfp_compact_free(&compact);
        free(place);
        sample_free(&s);
    }
}

/* ---- changes ---- */

static void assert_same_state(const struct dfp_state *a, const struct dfp_state *b)
{
    const struct dfp_compact *c = a->compact;
    assert_memory_equal(a->place, b->place, c->n_nodes * sizeof *a->place);
    assert_memory_equal(a->wanted, b->wanted, c->n_values * sizeof *a->wanted);
    assert_memory_equal(a->reads, b->reads, (size_t)c->n_values * c->n_units * sizeof *a->reads);
    assert_memory_equal(a->key, b->key, c->n_nodes * sizeof *a->key);
    for (uint32_t v = 0; v < c->n_nodes; v++)
        assert_true(a->rank_s[v] == b->rank_s[v]);
    for (uint32_t u = 0; u < c->n_units; u++) {
        assert_true(fabs(a->load_s[u] - b->load_s[u]) < 1e-9);
        for (int way = 0; way < 2; way++)
            assert_true(fabs(a->copies_s[u][way] - b->copies_s[u][way]) < 1e-9);
    }
}

static void changes_leave_what_a_fresh_start_has(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 30; seed++) {
        struct sample s;
        uint32_t random = seed;
        any_graph(&s, seed);
        struct dfp_compact compact;
        struct dfp_state a, b;
        uint16_t *place = calloc(s.graph->n_nodes, sizeof *place);
        float *bias = calloc(s.graph->n_nodes, sizeof *bias);
        assert_int_equal(dfp_compact_make(&s.problem, &compact, NULL), DF_OK);
        assert_int_equal(dfp_state_make(&compact, &a, NULL), DF_OK);
        assert_int_equal(dfp_state_make(&compact, &b, NULL), DF_OK);
        random_places(&s, &random, place);
        dfp_state_place(&a, place);
        for (int k = 0; k < 200; k++) {
            bool keep = sample_rand(&random) % 2;
            for (uint32_t i = 1 + sample_rand(&random) % 5; i; i--) {
                uint32_t v = sample_rand(&random) % s.graph->n_nodes, u = sample_rand(&random) % s.platform.n_units;
                if (isnan(dfp_node_time_s(&s.problem, v, u)))
                    continue;
                float value = (float)(sample_rand(&random) % 100) * 1e-3f;
                dfp_state_move(&a, v, u);
                dfp_state_bias(&a, v, value);
                if (keep) {
                    place[v] = (uint16_t)u;
                    bias[v] = value;
                }
            }
            dfp_state_settle(&a);
            if (keep)
                dfp_state_keep(&a);
            else
                dfp_state_undo(&a);
        }
        dfp_state_set(&b, place, bias, 1);
        assert_same_state(&a, &b);
        assert_true(dfp_state_run(&a, INFINITY) == dfp_state_run(&b, INFINITY));
        dfp_state_free(&a);
        dfp_state_free(&b);
        dfp_compact_free(&compact);
        free(place);
        free(bias);
        sample_free(&s);
    }
}

/* ---- the bound ---- */

static void nothing_beats_the_bound(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(40u, 8u); seed++) {
        struct sample s;
        uint32_t random = seed;
        double bound_s = 0;
        any_graph(&s, seed);
        if (seed % 4 == 3)              /* devices that differ: nodes of class gpu are slower on the last one */
            s.platform.units[3].launch_s = 1e-3;
        uint16_t *place = calloc(s.graph->n_nodes, sizeof *place);
        float *priority = calloc(s.graph->n_nodes, sizeof *priority);
        assert_int_equal(dfp_lower_bound(&s.problem, &bound_s, NULL), DF_OK);
        assert_true(bound_s > 0);
        for (int k = 0; k < 5; k++) {
            random_places(&s, &random, place);
            dfp_upward_rank(&s.problem, place, priority);
            assert_true(bound_s <= exact(&s, place, priority));
        }
        for (size_t p = 0; dfp_partitioners[p]; p++) {
            struct dfp_options options;
            dfp_options_default(&options);
            options.budget = 100;
            assert_int_equal(dfp_partitioners[p]->run(&s.problem, &options, place, NULL), DF_OK);
            dfp_upward_rank(&s.problem, place, priority);
            assert_true(bound_s <= exact(&s, place, priority));
        }
        free(place);
        free(priority);
        sample_free(&s);
    }
}

/* One worker and one kind of node: the bound is the answer. */
static void the_bound_is_tight_where_it_can_be(void **state)
{
    (void)state;
    struct sample s;
    double bound_s = 0;
    sample_begin(&s, 3, 1);
    uint32_t init = sample_node(&s, "init", 0, NAN, 8, 0, NULL);
    for (int i = 0; i < 40; i++)
        sample_node(&s, "work", 3 * SAMPLE_MS, 1 * SAMPLE_MS, 0, 1, &init);
    sample_end(&s);
    assert_int_equal(dfp_lower_bound(&s.problem, &bound_s, NULL), DF_OK);
    assert_true(fabs(bound_s - 20 * SAMPLE_MS) < 1e-9); /* 3 workers do 1 a ms together, the GPU another one */
    sample_free(&s);
}

/* ---- the policy ---- */

static struct df_plan *plan_by(const struct sample *s, const char *policy, const struct dfp_options *options)
{
    struct df_plan *plan = NULL;
    struct df_error error = { "" };
    if (dfp_plan_make(&s->problem, policy, options, &plan, &error) != DF_OK)
        fail_msg("%s", error.text);
    return plan;
}

static double simulated(const struct sample *s, const char *policy, const struct df_plan *plan)
{
    struct dfr_simulation run = { 0 };
    struct df_error error = { "" };
    struct dfr_simulate_options options = { .policy = policy, .plan = plan };
    if (dfr_simulate(s->graph, &s->platform, &s->times, &options, &run, &error) != DF_OK)
        fail_msg("%s: %s", policy, error.text);
    return run.makespan_s;
}

static void gp_repeats_on_any_number_of_threads(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(12u, 2u); seed++) {
        struct sample s;
        struct dfp_options options;
        any_graph(&s, seed * 5 + 1);
        dfp_options_default(&options);
        options.budget = 4000;
        options.threads = 1;
        struct df_plan *first = plan_by(&s, "gp", &options);
        for (uint32_t threads = 1; threads <= 6; threads += 2) {
            options.threads = threads;
            struct df_plan *plan = plan_by(&s, "gp", &options);
            assert_memory_equal(first->place, plan->place, first->n_nodes * sizeof *plan->place);
            assert_memory_equal(first->priority, plan->priority, first->n_nodes * sizeof *plan->priority);
            assert_true(first->predicted_s == plan->predicted_s);
            dfr_plan_free(plan);
        }
        dfr_plan_free(first);
        sample_free(&s);
    }
}

static void gp_is_never_worse(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(40u, 6u); seed++) {
        struct sample s;
        struct dfp_options options;
        any_graph(&s, seed);
        dfp_options_default(&options);
        options.budget = 300;
        struct df_plan *gp = plan_by(&s, "gp", &options);
        assert_string_equal(gp->policy, "gp");
        assert_true(gp->lower_bound_s > 0 && gp->lower_bound_s <= gp->predicted_s);
        assert_true(gp->run_as[0] != '\0');
        if (!strcmp(gp->run_as, DFP_RUN_PLACED))
            assert_true(fabs(exact(&s, gp->place, gp->priority) - gp->predicted_s) <= 1e-12 * gp->predicted_s);
        for (size_t p = 0; dfp_partitioners[p]; p++) {
            struct df_plan *other = plan_by(&s, dfp_partitioners[p]->name, &options);
            assert_true(gp->predicted_s <= other->predicted_s * (1 + 1e-12));
            dfr_plan_free(other);
        }
        dfr_plan_free(gp);
        sample_free(&s);
    }
}

/* Where a device's memory is short, by what is simulated with it. */
static void gp_is_never_worse_in_little_memory(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(16u, 3u); seed++) {
        struct sample s;
        struct dfp_options options;
        uint64_t largest = 0;
        sample_random(&s, seed, 60, 1 + seed % 4, 1 + seed % 3, false);
        for (uint32_t v = 0; v < s.graph->n_nodes; v++)
            largest = dfr_job_bytes(s.graph, v) > largest ? dfr_job_bytes(s.graph, v) : largest;
        for (uint32_t u = 1; u < s.platform.n_units; u++)
            s.platform.units[u].memory_bytes = largest * (8 + seed) / 8;
        dfp_options_default(&options);
        options.budget = 300;
        struct df_plan *gp = plan_by(&s, "gp", &options);
        double gp_s = simulated(&s, "gp", gp);
        assert_true(fabs(gp_s - gp->predicted_s) <= 1e-12 * gp_s);
        for (const char *const *name = dfr_policy_names(); *name; name++) {
            struct df_plan *plan = dfp_partitioner_find(*name) ? plan_by(&s, *name, &options) : NULL;
            if (strcmp(*name, "random") && simulated(&s, *name, plan) < gp_s * (1 - 1e-9))
                fail_msg("seed %u: %s is faster than gp's %g s", seed, *name, gp_s);
            dfr_plan_free(plan);
        }
        dfr_plan_free(gp);
        sample_free(&s);
    }
}

/* Of two that are taken for the same, the better. */
static void a_pool_keeps_the_better(void **state)
{
    (void)state;
    struct sample s;
    struct dfp_compact compact;
    struct dfp_state st;
    struct dfp_pool pool;
    uint32_t random = 1;
    any_graph(&s, 9);
    uint16_t *place = calloc(s.graph->n_nodes, sizeof *place);
    assert_int_equal(dfp_compact_make(&s.problem, &compact, NULL), DF_OK);
    assert_int_equal(dfp_state_make(&compact, &st, NULL), DF_OK);
    assert_int_equal(dfp_pool_make(&pool, compact.n_nodes, NULL), DF_OK);
    const double makespan_s[] = { 1, 2, 1 - 5e-7, 1 + 5e-7 };
    for (uint32_t i = 0; i < 4; i++) {
        random_places(&s, &random, place);
        dfp_state_place(&st, place);
        dfp_pool_add(&pool, makespan_s[i], i == 0, &st);
        if (i == 2)
            assert_memory_equal(pool.found[0].place, place, compact.n_nodes * sizeof *place);
        if (i == 3)
            assert_memory_not_equal(pool.found[0].place, place, compact.n_nodes * sizeof *place);
    }
    assert_int_equal(pool.n, 2);
    assert_true(pool.found[0].makespan_s == makespan_s[2] && pool.found[0].from_metis);
    assert_true(pool.found[1].makespan_s == 2);
    dfp_pool_free(&pool);
    dfp_state_free(&st);
    dfp_compact_free(&compact);
    free(place);
    sample_free(&s);
}

/* A wavefront of 100 a side: too large for all starts, and where most of them are behind the list schedulers. */
static void gp_is_never_worse_on_large_graphs(void **state)
{
    (void)state;
    static const char *const others[] = { "dmda", "dmdas", "dmdar", "heft", "peft" };
    enum { SIDE = 100 };
    static uint32_t at[SIDE][SIDE];
    struct sample s;
    struct dfp_options options;
    sample_begin(&s, 3, 1);
    s.platform.units[1].h2d = s.platform.units[1].d2h = (struct df_link){ 10e9, 1e-5, 0 };
    uint32_t load = sample_node(&s, "load", 0, NAN, 256000, 0, NULL);
    for (uint32_t i = 0; i < SIDE; i++)
        for (uint32_t j = 0; j < SIDE; j++) {
            uint32_t from[2] = { i ? at[i - 1][j] : j ? at[i][j - 1] : load, i && j ? at[i][j - 1] : 0 };
            at[i][j] = sample_node(&s, "cell", 1 * SAMPLE_MS, 0.1 * SAMPLE_MS, 256000, i && j ? 2 : 1, from);
        }
    sample_node(&s, "store", 0, NAN, 0, 1, &at[SIDE - 1][SIDE - 1]);
    sample_end(&s);
    dfp_options_default(&options);
    struct df_plan *gp = plan_by(&s, "gp", &options);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct df_plan *plan = dfp_partitioner_find(others[i]) ? plan_by(&s, others[i], &options) : NULL;
        double other_s = simulated(&s, others[i], plan);
        if (other_s < gp->predicted_s * (1 - 1e-9))
            fail_msg("%s takes %.9g s, gp %.9g s", others[i], other_s, gp->predicted_s);
        dfr_plan_free(plan);
    }
    dfr_plan_free(gp);
    sample_free(&s);
}

static void more_budget_is_not_worse_and_a_cap_ends_it(void **state)
{
    (void)state;
    struct sample s;
    struct dfp_options options;
    any_graph(&s, 33);
    dfp_options_default(&options);
    options.budget = 100;
    struct df_plan *little = plan_by(&s, "gp", &options);
    options.budget = 20000;
    struct df_plan *much = plan_by(&s, "gp", &options);
    assert_true(much->predicted_s <= little->predicted_s);
    options.budget = UINT64_C(1) << 40;
    options.time_cap_s = 0.05;
    struct df_plan *capped = plan_by(&s, "gp", &options); /* would take days */
    assert_true(capped->predicted_s <= little->predicted_s * 1.5);
    dfr_plan_free(little);
    dfr_plan_free(much);
    dfr_plan_free(capped);
    sample_free(&s);
}

static void odd_graphs_are_planned(void **state)
{
    (void)state;
    struct dfp_options options;
    dfp_options_default(&options);
    options.budget = 50;
    for (uint32_t gpus = 0; gpus <= 2; gpus++)
        for (int kind = 0; kind < 4; kind++) {
            struct sample s;
            sample_begin(&s, 1, gpus);
            uint32_t init = sample_node(&s, "init", 0, NAN, 8, 0, NULL); /* kind 0: nothing that costs */
            if (kind == 1)
                sample_node(&s, "one", 1 * SAMPLE_MS, 1 * SAMPLE_MS, 0, 1, &init);
            for (int i = 0; i < 5 && kind == 2; i++) /* no choice */
                sample_node(&s, "host", 1 * SAMPLE_MS, NAN, 0, 1, &init);
            for (int i = 0; i < 5 && kind == 3; i++) /* one by one, alike */
                init = sample_node(&s, "chain", 1 * SAMPLE_MS, 1 * SAMPLE_MS, 8, 1, &init);
            sample_end(&s);
            struct df_plan *plan = plan_by(&s, "gp", &options);
            assert_true(fabs(plan->predicted_s - (kind == 0 ? 0 : kind == 1 ? 1 : 5) * SAMPLE_MS) < 1e-9);
            dfr_plan_free(plan);
            sample_free(&s);
        }
}

/* ---- large ---- */

/* Layers of 100 nodes, each reading up to three of the layer before; kernels of four speedups. */
static void layers(struct sample *s, uint32_t n)
{
    uint32_t random = 77, width = 100;
    sample_begin(s, 3, 1);
    s->platform.units[1].h2d = s->platform.units[1].d2h = (struct df_link){ 10e9, 1e-5, 0 };
    for (uint32_t i = 0; i < width; i++)
        sample_node(s, "init", 0, NAN, 100000, 0, NULL);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from[3], n_in = 1 + sample_rand(&random) % 3, layer = s->n_nodes / width;
        for (uint32_t k = 0; k < n_in; k++)
            from[k] = (layer - 1) * width + sample_rand(&random) % width;
        double cpu_s = (500 + sample_rand(&random) % 2000) * 1e-6;
        double gpu_s = cpu_s / (1u << sample_rand(&random) % 5);
        sample_node(s, "work", cpu_s, gpu_s, 50000 + sample_rand(&random) % 200000, n_in, from);
    }
    sample_end(s);
}

static void large_graphs_come_near_the_area_bound(void **state)
{
    (void)state;
    const char *more = getenv("DF_LARGE_GRAPH");
    struct sample s;
    struct dfp_options options;
    layers(&s, more ? (uint32_t)atoi(more) : 20000);
    dfp_options_default(&options);
    struct df_plan *plan = plan_by(&s, "gp", &options);
    double ratio = plan->predicted_s / plan->lower_bound_s;
    if (ratio > 1.02)
        fail_msg("%.4f of the bound", ratio);
    dfr_plan_free(plan);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fast_evaluator_is_exact),
        cmocka_unit_test(the_end_is_known_early_only_where_it_is_late),
        cmocka_unit_test(changes_leave_what_a_fresh_start_has),
        cmocka_unit_test(nothing_beats_the_bound),
        cmocka_unit_test(the_bound_is_tight_where_it_can_be),
        cmocka_unit_test(gp_repeats_on_any_number_of_threads),
        cmocka_unit_test(gp_is_never_worse),
        cmocka_unit_test(gp_is_never_worse_in_little_memory),
        cmocka_unit_test(gp_is_never_worse_on_large_graphs),
        cmocka_unit_test(a_pool_keeps_the_better),
        cmocka_unit_test(more_budget_is_not_worse_and_a_cap_ends_it),
        cmocka_unit_test(odd_graphs_are_planned),
        cmocka_unit_test(large_graphs_come_near_the_area_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
