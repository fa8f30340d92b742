/* test_peer_plans.c - planning for devices that send to each other: the bounds against every run that is simulated,
 * METIS's edges, and what such links bring.
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
#include "partition/cut/metis_graph.h"
#include "runtime/simulate/simulate.h"
#include "sample_graph.h"

enum { WAVES = 6, INFLIGHT = 3 };

/* ---- the bounds ---- */

static double simulated_s(const struct sample *s, const char *policy, const struct df_plan *plan, uint32_t waves,
                          uint64_t *peer_copies)
{
    struct dfr_simulate_options options = { .policy = policy, .plan = plan, .waves = waves, .inflight = INFLIGHT,
                                            .seed = 1 };
    struct dfr_simulation run = { 0 };
    struct df_error error = { "" };
    if (dfr_simulate(s->graph, &s->platform, &s->times, &options, &run, &error) != DF_OK)
        fail_msg("%s: %s", policy, error.text);
    *peer_copies += run.peer_copies;
    return run.makespan_s;
}

/* What no wave costs less than where many are in flight. */
static double rate_bound_s(const struct sample *s)
{
    struct dfp_compact c;
    struct dfp_rates rates;
    double price[DF_MAX_UNITS], area_s;
    assert_int_equal(dfp_compact_make(&s->problem, &c, NULL), DF_OK);
    dfp_compact_apply_rates(&c, WAVES);
    dfp_bound_s(&c, &area_s, price);
    assert_int_equal(dfp_rates_find(&c, price, UINT64_C(1) << 30, &rates, NULL), DF_OK);
    double bound_s = rates.bound_s;
    dfp_rates_free(&rates);
    dfp_compact_free(&c);
    return bound_s;
}

/* A plan in which every node is anywhere it can be, so that much is sent. */
static struct df_plan *scattered_plan(const struct sample *s, uint32_t seed)
{
    struct df_plan *plan = sample_plan(s, "heft");
    for (uint32_t v = 0; v < s->graph->n_nodes; v++) {
        uint32_t unit = sample_rand(&seed) % s->platform.n_units;
        if (!isnan(dfp_node_time_s(&s->problem, v, unit)))
            plan->place[v] = (uint16_t)unit;
    }
    return plan;
}

static void no_run_is_below_the_bounds(void **state)
{
    static const char *const policies[] = { "eager", "ws", "dmda", "dmdas", "pats", "heft", "peft", "gp" };
    enum { N = sizeof policies / sizeof *policies };
    uint64_t peer_copies = 0;
    double least_rate = INFINITY, least_wave = INFINITY;
    (void)state;
    for (uint32_t seed = 4; seed <= 63; seed++) {
        struct sample s;
        double wave_s;
        if (seed / 4 % 2 == 0)          /* without peers */
            continue;
        sample_random(&s, seed, 12 + seed % 20, 1 + seed % 3, 2 + seed % 3, false);
        sample_peers(&s, seed);
        double rate_s = rate_bound_s(&s) * (1 - 1e-9);
        assert_int_equal(dfp_lower_bound(&s.problem, &wave_s, NULL), DF_OK);
        wave_s *= 1 - 1e-9;
        for (uint32_t i = 0; i <= N; i++) {
            struct df_plan *plan = i < N ? sample_plan(&s, policies[i]) : scattered_plan(&s, seed);
            const char *policy = i < N ? policies[i] : "heft";
            double many = simulated_s(&s, policy, plan, WAVES, &peer_copies) / WAVES / rate_s;
            double one = simulated_s(&s, policy, plan, 1, &peer_copies) / wave_s;
            if (!(many >= 1 && one >= 1))
                fail_msg("seed %u, %s: %g of the bound for many waves, %g for one", seed, policy, many, one);
            least_rate = fmin(least_rate, many);
            least_wave = fmin(least_wave, one);
            dfr_plan_free(plan);
        }
        sample_free(&s);
    }
    print_message("%llu copies between devices; bounds times %.4f and %.4f at least\n", (unsigned long long)peer_copies,
                  least_rate, least_wave);
    assert_true(peer_copies > 1000);
    assert_true(least_rate < 1.1 && least_wave < 1.01); /* and they are bounds that say something */
}

/* The cost of a node that runs once, and of copies of its outputs, is divided by the number of waves. */
static void what_happens_once_is_spread_over_the_waves(void **state)
{
    struct sample s;
    struct dfp_compact c, once;
    (void)state;
    sample_begin(&s, 1, 2);
    uint32_t a = sample_node(&s, "a", 1e-3, 1e-3, SAMPLE_MB, 0, NULL);
    sample_node(&s, "b", 1e-3, 1e-3, SAMPLE_MB, 1, &a);
    sample_end(&s);
    ((struct df_node *)(uintptr_t)s.graph->nodes)[0].flags |= DF_NODE_ONCE;
    assert_int_equal(dfp_compact_make(&s.problem, &c, NULL), DF_OK);
    assert_int_equal(dfp_compact_make(&s.problem, &once, NULL), DF_OK);
    dfp_compact_spread_once(&once, WAVES);
    for (uint32_t u = 0; u < c.n_units; u++) {
        assert_true(fabs(once.time_s[u] * WAVES - c.time_s[u]) < 1e-12);
        assert_true(once.time_s[c.n_units + u] == c.time_s[c.n_units + u]);
        assert_true(fabs(once.to_s[u] * WAVES - c.to_s[u]) < 1e-12 && fabs(once.from_s[u] * WAVES - c.from_s[u]) < 1e-12);
        assert_true(once.to_s[c.n_units + u] == c.to_s[c.n_units + u]);
    }
    assert_true(c.to_s[1] > 0);
    dfp_compact_free(&c);
    dfp_compact_free(&once);
    sample_free(&s);
}

/* ---- METIS ---- */

/* Two arcs, of 1 KB and of 4 MB, between nodes that run on devices alone. */
static void arcs_of_two_sizes(struct sample *s)
{
    sample_begin(s, 1, 3);
    uint32_t a = sample_node(s, "a", NAN, 1e-3, 1000, 0, NULL);
    uint32_t b = sample_node(s, "b", NAN, 1e-3, 4 * SAMPLE_MB, 1, &a);
    sample_node(s, "c", NAN, 1e-3, 0, 1, &b);
    sample_end(s);
}

static void weights_of(const struct sample *s, enum dfp_edges edges, int32_t *small, int32_t *large)
{
    struct dfp_model model;
    struct dfp_metis_graph graph;
    assert_int_equal(dfp_model_init(&model, &s->problem, NULL), DF_OK);
    assert_int_equal(dfp_metis_graph_make(&model, DFP_WEIGHT_GPU, edges, &graph, NULL), DF_OK);
    assert_int_equal(graph.n, 3);
    *small = graph.edge_weight[graph.first[0]];
    *large = graph.edge_weight[graph.first[2]];
    dfp_metis_graph_free(&graph);
}

static void edges_between_devices_are_of_their_links(void **state)
{
    (void)state;
    struct sample s;
    int32_t small, large;
    arcs_of_two_sizes(&s);              /* 1 ms and 1 GB/s each way to the host: 1.001 and 5 ms */
    weights_of(&s, DFP_EDGES_HOST, &small, &large);
    assert_int_equal(large, DFP_METIS_LARGEST_WEIGHT);
    assert_int_equal(small, 201);
    weights_of(&s, DFP_EDGES_DEVICES, &small, &large); /* without peers the same */
    assert_int_equal(large, DFP_METIS_LARGEST_WEIGHT);
    assert_int_equal(small, 201);
    for (uint32_t u = 1; u <= 3; u++)
        s.platform.units[u].peer = (struct df_link){ 10e9, 1e-6, 0 }; /* 1.1 and 401 us */
    weights_of(&s, DFP_EDGES_HOST, &small, &large);
    assert_int_equal(small, 201);
    weights_of(&s, DFP_EDGES_DEVICES, &small, &large);
    assert_int_equal(large, DFP_METIS_LARGEST_WEIGHT);
    assert_int_equal(small, 3);
    s.platform.units[3].peer = (struct df_link){ 0, 0, 0 }; /* two of six pairs directly: 1.335 and 6.8 ms */
    weights_of(&s, DFP_EDGES_DEVICES, &small, &large);
    assert_int_equal(small, 197);
    sample_free(&s);
}

/* ---- what peers bring ---- */

static double planned_s(const struct sample *s)
{
    struct dfp_options options;
    struct dfp_evaluation e;
    struct df_plan *plan;
    dfp_options_default(&options);
    options.budget = 400;
    options.objective = DFP_LATENCY;
    options.no_memory = true;
    assert_int_equal(dfp_plan_make(&s->problem, "gp", &options, &plan, NULL), DF_OK);
    assert_int_equal(dfp_evaluate(&s->problem, plan->place, plan->priority, &e, NULL), DF_OK);
    assert_true(plan->lower_bound_s <= e.makespan_s);
    double s_planned = plan->predicted_s;
    dfr_plan_free(plan);
    return s_planned;
}

/* Links that are faster than by way of the host can only help; a search is not to lose much of that. */
static void fast_peers_shorten_plans(void **state)
{
    double sum = 0;
    uint32_t n = 0;
    (void)state;
    for (uint32_t gpus = 2; gpus <= 4; gpus += 2)
        for (uint32_t seed = 1; seed <= 10; seed++, n++) {
            struct sample s;
            sample_random(&s, seed, 40, 2, gpus, false);
            double without_s = planned_s(&s);
            for (uint32_t u = 1; u <= gpus; u++)
                s.platform.units[u].peer = (struct df_link){ 20e9, 1e-5, 0 };
            double with_s = planned_s(&s);
            if (with_s > without_s * 1.02)
                fail_msg("%u GPUs, seed %u: %g s with peers, %g without", gpus, seed, with_s, without_s);
            sum += with_s / without_s;
            sample_free(&s);
        }
    print_message("gp with fast peers: %.3f of the time without\n", sum / n);
    assert_true(sum / n < 0.98);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_run_is_below_the_bounds),
        cmocka_unit_test(what_happens_once_is_spread_over_the_waves),
        cmocka_unit_test(edges_between_devices_are_of_their_links),
        cmocka_unit_test(fast_peers_shorten_plans),
    };
    return cmocka_run_group_tests_name("peer_plans", tests, NULL, NULL);
}
