/* test_waves.c - planning for many waves: the minimum cut against all cuts, the bound of a wave's cost against every
 * placement and mixture of two, and the answer against what it says of itself.
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
#include "runtime/policy/policy.h"
#include "partition/cut/min_cut.h"
#include "runtime/policy/policy.h"
#include "runtime/simulate/simulate.h"
#include "sample_graph.h"
#include "long.h"

/* ---- the cut ---- */

static void a_cut_is_the_cheapest_of_all(void **state)
{
    enum { N = 9, SOURCE = N - 2, SINK = N - 1, ARCS = 24 };
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(300u, 40u); seed++) {
        uint32_t random = seed, from[ARCS], to[ARCS], arc[ARCS];
        int64_t there[ARCS], back[ARCS], least = INT64_MAX;
        struct dfp_cut cut;
        assert_int_equal(dfp_cut_make(&cut, N, ARCS, SOURCE, SINK, NULL), DF_OK);
        for (uint32_t a = 0; a < ARCS; a++) {
            from[a] = sample_rand(&random) % N;
            do
                to[a] = sample_rand(&random) % N;
            while (to[a] == from[a]);
            arc[a] = dfp_cut_arc(&cut, from[a], to[a]);
        }
        for (int round = 0; round < 3; round++) { /* the same network with other capacities */
            for (uint32_t a = 0; a < ARCS; a++) {
                there[a] = sample_rand(&random) % 50;
                back[a] = sample_rand(&random) % 3 ? 0 : sample_rand(&random) % 50;
                dfp_cut_set(&cut, arc[a], there[a], back[a]);
            }
            least = INT64_MAX;
            int64_t found = dfp_cut_solve(&cut, UINT64_MAX / 2), own = 0;
            for (uint32_t side = 0; side < 1u << N; side++) {
                int64_t cost = 0;
                if (!(side >> SOURCE & 1) || side >> SINK & 1)
                    continue;
                for (uint32_t a = 0; a < ARCS; a++)
                    cost += (side >> from[a] & 1 && !(side >> to[a] & 1) ? there[a] : 0) +
                            (side >> to[a] & 1 && !(side >> from[a] & 1) ? back[a] : 0);
                least = cost < least ? cost : least;
            }
            for (uint32_t a = 0; a < ARCS; a++)
                own += (cut.on_source_side[from[a]] && !cut.on_source_side[to[a]] ? there[a] : 0) +
                       (cut.on_source_side[to[a]] && !cut.on_source_side[from[a]] ? back[a] : 0);
            assert_int_equal(found, least);
            assert_int_equal(own, least);
        }
        if (least > 0)
            assert_int_equal(dfp_cut_solve(&cut, 0), -1);
        dfp_cut_free(&cut);
    }
}

/* ---- the bound ---- */

struct loads {
    double of[4 * DF_MAX_UNITS];
    uint32_t n;
};

static void loads_of(struct dfp_state *state, const uint16_t *place, struct loads *loads)
{
    const struct dfp_compact *c = state->compact;
    dfp_state_set(state, place, NULL, 1);
    loads->n = 0;
    for (uint32_t u = 0; u < c->n_units; u++) {
        loads->of[loads->n++] = state->load_s[u] / c->workers[u];
        loads->of[loads->n++] = state->copies_s[u][0];
        loads->of[loads->n++] = state->copies_s[u][1];
        loads->of[loads->n++] = state->copies_s[u][2];
    }
}

/* Every placement of a small graph; gives their number. */
static uint32_t all_loads(const struct dfp_compact *c, struct dfp_state *state, struct loads *loads, uint32_t most)
{
    uint16_t place[16];
    uint32_t n = 0;
    uint64_t end = 1;
    for (uint32_t v = 0; v < c->n_nodes; v++)
        end *= c->n_units;
    for (uint64_t code = 0; code < end && n < most; code++) {
        uint64_t rest = code;
        bool good = true;
        for (uint32_t v = 0; v < c->n_nodes; v++, rest /= c->n_units) {
            place[v] = (uint16_t)(rest % c->n_units);
            good &= c->allowed[v] >> place[v] & 1;
        }
        if (good)
            loads_of(state, place, &loads[n++]);
    }
    return n;
}

static double most_of(const struct loads *a, const struct loads *b, double share)
{
    double most = 0;
    for (uint32_t i = 0; i < a->n; i++)
        most = fmax(most, share * a->of[i] + (1 - share) * b->of[i]);
    return most;
}

static void no_mixture_is_below_the_bound(void **state)
{
    enum { MOST = 20000 };
    struct loads *loads = calloc(MOST, sizeof *loads);
    uint32_t n_tried = 0;
    (void)state;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct sample s;
        struct dfp_compact c;
        struct dfp_state st;
        struct dfp_rates rates;
        double price[DF_MAX_UNITS], area_s, least_s = INFINITY, mixed_s = 0;
        uint32_t gpus = 1 + seed % 2, random = seed;
        sample_random(&s, seed, gpus == 1 ? 8 : 6, 1 + seed % 3, gpus, seed % 7 == 0);
        sample_peers(&s, seed);
        for (uint32_t u = 1; u <= gpus; u++)
            s.platform.units[u].engines = 1 + (seed / 2 & 1);
        assert_int_equal(dfp_compact_make(&s.problem, &c, NULL), DF_OK);
        n_tried += c.n_nodes <= 16;
        if (c.n_nodes > 16) {           /* free sources and sinks beside them */
            dfp_compact_free(&c);
            sample_free(&s);
            continue;
        }
        assert_int_equal(dfp_state_make(&c, &st, NULL), DF_OK);
        dfp_bound_s(&c, &area_s, price);
        assert_int_equal(dfp_rates_find(&c, price, UINT64_C(1) << 30, &rates, NULL), DF_OK);
        uint32_t n = all_loads(&c, &st, loads, MOST);
        assert_true(n > 0 && n < MOST);
        for (uint32_t i = 0; i < n; i++)
            least_s = fmin(least_s, most_of(&loads[i], &loads[i], 1));
        for (uint32_t i = 0; i < 20000; i++) /* and mixtures of two */
            least_s = fmin(least_s, most_of(&loads[sample_rand(&random) % n], &loads[sample_rand(&random) % n],
                                            sample_rand(&random) % 11 / 10.0));
        assert_true(rates.bound_s > 0 && rates.bound_s <= least_s * (1 + 1e-9));
        assert_true(area_s <= rates.mixed_s * (1 + 1e-6));
        assert_true(rates.bound_s <= rates.mixed_s * (1 + 1e-9) && rates.mixed_s <= rates.bound_s * (1 + 1e-5));
        double sum[DFP_RATE_RESOURCES] = { 0 }, shares = 0;
        for (uint32_t i = 0; i < rates.n; i++) {
            shares += rates.column[i].share;
            for (uint32_t r = 0; r < DFP_RATE_RESOURCES; r++)
                sum[r] += rates.column[i].share * rates.column[i].load_s[r];
            if (gpus == 1) {            /* a column is a placement, and costs what the state says */
                uint16_t place[16];
                struct loads own;
                double most = 0;
                for (uint32_t v = 0; v < c.n_nodes; v++)
                    place[v] = rates.column[i].on_device[v];
                loads_of(&st, place, &own);
                for (uint32_t r = 0; r < DFP_RATE_RESOURCES; r++)
                    most = fmax(most, rates.column[i].load_s[r]);
                assert_true(fabs(most_of(&own, &own, 1) - most) <= 1e-9 * most);
            }
        }
        for (uint32_t r = 0; r < DFP_RATE_RESOURCES; r++)
            mixed_s = fmax(mixed_s, sum[r]);
        assert_true(fabs(shares - 1) < 1e-9 && fabs(mixed_s - rates.mixed_s) <= 1e-9 * mixed_s);
        dfp_rates_free(&rates);
        dfp_state_free(&st);
        dfp_compact_free(&c);
        sample_free(&s);
    }
    assert_true(n_tried >= 30);
    free(loads);
}

/* ---- the answer ---- */

static double run_s(const struct sample *s, struct dfr_simulate_options options)
{
    struct dfr_simulation run = { 0 };
    struct df_error error = { "" };
    options.inflight = DFP_DEFAULT_INFLIGHT;
    options.seed = 1;
    if (dfr_simulate(s->graph, &s->platform, &s->times, &options, &run, &error) != DF_OK)
        fail_msg("%s", error.text);
    return run.makespan_s / options.waves;
}

static double simulated_s(const struct sample *s, const char *policy, const struct df_plan *plan, uint32_t waves)
{
    return run_s(s, (struct dfr_simulate_options){ .policy = policy, .plan = plan, .waves = waves });
}

/* The same with --dl and --prefetch. */
static double simulated_with_s(const struct sample *s, const char *policy, uint32_t waves)
{
    return run_s(s, (struct dfr_simulate_options){ .policy = policy, .waves = waves, .locality = true,
                                                   .prefetch = true });
}

static void the_answer_is_what_it_says(void **state)
{
    uint32_t n_joint = 0;
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(24u, 8u); seed++) {
        struct sample s;
        struct dfp_options options;
        struct dfp_compact c;
        struct dfp_state st;
        struct df_plan *plan, *again;
        double load_s[4 * DF_MAX_UNITS] = { 0 }, most_s = 0;
        sample_random(&s, seed, 10 + 5 * seed, 1 + seed % 4, seed % 4, false);
        sample_peers(&s, seed);
        dfp_options_default(&options);
        options.budget = 300;
        options.objective = DFP_THROUGHPUT;
        assert_int_equal(dfp_plan_make(&s.problem, "gp", &options, &plan, NULL), DF_OK);
        assert_int_equal(dfp_plan_make(&s.problem, "gp", &options, &again, NULL), DF_OK);
        assert_int_equal(plan->n_waves, again->n_waves);
        assert_memory_equal(plan->place, again->place, plan->n_waves * plan->n_nodes * sizeof *plan->place);
        assert_int_equal(plan->inflight, DFP_DEFAULT_INFLIGHT);
        assert_int_equal(dfp_compact_make(&s.problem, &c, NULL), DF_OK);
        assert_int_equal(dfp_state_make(&c, &st, NULL), DF_OK);
        for (uint32_t row = 0; row < plan->n_waves; row++) {
            struct loads one;
            for (uint32_t v = 0; v < c.n_nodes; v++)
                assert_true(c.allowed[v] >> plan->place[row * c.n_nodes + v] & 1);
            loads_of(&st, plan->place + (size_t)row * c.n_nodes, &one);
            for (uint32_t i = 0; i < one.n; i++)
                load_s[i] += one.of[i] / plan->n_waves;
        }
        for (uint32_t i = 0; i < 4 * c.n_units; i++)
            most_s = fmax(most_s, load_s[i]);
        assert_true(fabs(most_s - plan->load_s) <= 1e-9 * most_s);
        assert_true(plan->load_bound_s <= plan->least_load_s * (1 + 1e-9) && plan->least_load_s <= plan->load_s);
        assert_true(plan->load_bound_s <= plan->wave_s * (1 + 1e-9));
        double own_s = simulated_s(&s, "gp", plan, 4 * DFP_DEFAULT_INFLIGHT);
        assert_true(fabs(own_s - plan->wave_s) <= 1e-9 * own_s);
        assert_true(own_s <= simulated_s(&s, "dmda", NULL, 4 * DFP_DEFAULT_INFLIGHT) * (1 + 1e-9));
        n_joint += plan->n_waves > 1;
        dfp_state_free(&st);
        dfp_compact_free(&c);
        dfr_plan_free(plan);
        dfr_plan_free(again);
        sample_free(&s);
    }
    assert_true(n_joint >= 5);
}

/* Small graphs and budgets, where some planner's placement of one wave is faster than all that are made for many. */
static void no_planner_is_ahead_of_the_answer(void **state)
{
    static const char *const planners[] = { "heft", "peft", "gp-thesis" };
    (void)state;
    for (uint32_t seed = 10; seed <= 20; seed++) {
        struct sample s;
        struct dfp_options options;
        struct df_plan *plan, *other;
        sample_random(&s, seed, 4 + seed % 12, 1 + seed % 3, 1 + seed % 2, false);
        sample_peers(&s, seed);
        dfp_options_default(&options);
        options.budget = 60;
        options.objective = DFP_THROUGHPUT;
        assert_int_equal(dfp_plan_make(&s.problem, "gp", &options, &plan, NULL), DF_OK);
        double own_s = simulated_s(&s, "gp", plan, 4 * DFP_DEFAULT_INFLIGHT);
        for (size_t i = 0; i < sizeof planners / sizeof *planners; i++) {
            assert_int_equal(dfp_plan_make(&s.problem, planners[i], &options, &other, NULL), DF_OK);
            double other_s = simulated_s(&s, planners[i], other, 4 * DFP_DEFAULT_INFLIGHT);
            if (own_s > other_s * (1 + 1e-9))
                fail_msg("seed %u: %.9g s a wave, %s %.9g s", seed, own_s, planners[i], other_s);
            dfr_plan_free(other);
        }
        dfr_plan_free(plan);
        sample_free(&s);
    }
}

/* In little memory a policy that obeys locality is often ahead of every placement, if it has its options. The plan says so,
 * and what follows the plan has them, too. */
static void no_policy_with_options_is_ahead_of_the_answer(void **state)
{
    static const char *const policies[] = { "eager", "ddfcfs", "ddwrr", "pats", "pams", "padas" };
    uint32_t n_answers = 0;
    (void)state;
    for (uint32_t seed = 1; seed <= 30; seed++) {
        struct sample s;
        struct dfp_options options;
        struct df_plan *plan;
        sample_random(&s, seed, 3 + seed % 4, 1 + seed % 3, 1 + seed % 2, false);
        for (uint32_t u = 1; u < s.platform.n_units; u++)
            s.platform.units[u].memory_bytes = 8 * SAMPLE_MB;
        dfp_options_default(&options);
        options.budget = 60;
        options.objective = DFP_THROUGHPUT;
        options.inflight = DFP_DEFAULT_INFLIGHT;
        assert_int_equal(dfp_plan_make(&s.problem, "gp", &options, &plan, NULL), DF_OK);
        double own_s = simulated_s(&s, "gp", plan, 4 * DFP_DEFAULT_INFLIGHT);
        sample_near(own_s, plan->wave_s);
        for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
            double other_s = simulated_with_s(&s, policies[i], 4 * DFP_DEFAULT_INFLIGHT);
            if (own_s > other_s * (1 + 1e-9))
                fail_msg("seed %u: %.9g s a wave, %s %.9g s", seed, own_s, policies[i], other_s);
        }
        n_answers += strstr(plan->run_as, " --") != NULL;
        dfr_plan_free(plan);
        sample_free(&s);
    }
    assert_true(n_answers >= 3);
}

static void streams_are_planned_for_throughput(void **state)
{
    (void)state;
    for (int stream = 0; stream < 2; stream++)
        for (int asked = 0; asked < 2; asked++) {
            struct sample s;
            struct dfp_options options;
            struct df_plan *plan;
            sample_begin(&s, 2, 1);
            s.traits = stream ? DF_STREAM : 0;
            uint32_t a = sample_node(&s, "a", SAMPLE_MS, NAN, SAMPLE_MB, 0, NULL);
            s.traits = 0;
            sample_node(&s, "b", 9 * SAMPLE_MS, 2 * SAMPLE_MS, 0, 1, &a);
            sample_end(&s);
            dfp_options_default(&options);
            options.objective = asked ? DFP_LATENCY : DFP_BY_GRAPH;
            assert_int_equal(dfp_plan_make(&s.problem, "gp", &options, &plan, NULL), DF_OK);
            assert_int_equal(plan->inflight > 0, stream && !asked);
            assert_int_equal(dfr_plan_is_default(s.graph, plan, 0), stream == (stream && !asked));
            assert_int_equal(dfr_plan_is_default(s.graph, plan, 100), stream && !asked);
            assert_int_equal(dfr_plan_is_default(s.graph, plan, 1), !(stream && !asked));
            dfr_plan_free(plan);
            sample_free(&s);
        }
}

/* Waves beside each other load everything as often as one does, peers' links included. */
static void repeated_waves_are_a_multiple_of_one(void **state)
{
    uint32_t n_peer = 0;
    (void)state;
    for (uint32_t seed = 1; seed <= 24; seed++) {
        struct sample s;
        struct dfp_compact c, c3;
        struct dfp_state one, three;
        struct loads a, b;
        uint32_t random = seed;
        sample_random(&s, seed, 20, 2, 1 + seed % 3, false);
        sample_peers(&s, seed);
        assert_int_equal(dfp_compact_make(&s.problem, &c, NULL), DF_OK);
        assert_int_equal(dfp_compact_repeat(&c, 3, &c3, NULL), DF_OK);
        assert_int_equal(dfp_state_make(&c, &one, NULL), DF_OK);
        assert_int_equal(dfp_state_make(&c3, &three, NULL), DF_OK);
        uint16_t *place = calloc(3 * c.n_nodes, sizeof *place);
        for (uint32_t i = 0; i < 3 * c.n_nodes; i++) {
            uint32_t v = i % c.n_nodes, u = sample_rand(&random) % c.n_units;
            place[i] = i >= c.n_nodes ? place[v]
                                      : (uint16_t)(c.allowed[v] >> u & 1 ? u : (uint32_t)__builtin_ctz(c.allowed[v]));
        }
        loads_of(&one, place, &a);
        loads_of(&three, place, &b);
        assert_int_equal(a.n, b.n);
        for (uint32_t i = 0; i < a.n; i++)
            assert_true(fabs(b.of[i] - 3 * a.of[i]) <= 1e-9 * b.of[i]);
        for (uint32_t u = 0; u < c.n_units; u++) {
            assert_true(fabs(three.copies_s[u][2] - 3 * one.copies_s[u][2]) <= 1e-9 * three.copies_s[u][2]);
            n_peer += one.copies_s[u][2] > 0;
        }
        free(place);
        dfp_state_free(&one);
        dfp_state_free(&three);
        dfp_compact_free(&c);
        dfp_compact_free(&c3);
        sample_free(&s);
    }
    assert_true(n_peer > 0);
}

/* Tables that are made once, each with a reader that can go anywhere: two waves placed jointly are balanced best. */
static void table_graph(struct sample *s, double table_s, uint32_t gpus)
{
    enum { TABLES = 3 };
    uint32_t table[TABLES];
    sample_begin(s, 1, gpus);
    s->traits = DF_ONCE;
    for (uint32_t i = 0; i < TABLES; i++)
        table[i] = sample_node(s, "table", table_s, NAN, SAMPLE_MB, 0, NULL);
    s->traits = 0;
    for (uint32_t i = 0; i < TABLES; i++) {
        uint32_t from[2] = { table[i], sample_node(s, "source", 0, 0, 1000, 0, NULL) };
        sample_node(s, "use", 20 * SAMPLE_MS, 20 * SAMPLE_MS, 0, 2, from);
    }
    sample_end(s);
}

static struct df_plan *plan_of(const struct sample *s)
{
    struct dfp_options options;
    struct df_plan *plan;
    dfp_options_default(&options);
    options.budget = 300;
    options.objective = DFP_THROUGHPUT;
    assert_int_equal(dfp_plan_make(&s->problem, "gp", &options, &plan, NULL), DF_OK);
    return plan;
}

/* A wave is not charged with what is done once, however long that takes. */
static void once_counts_once(void **state)
{
    struct sample s;
    (void)state;
    table_graph(&s, 100 * SAMPLE_MS, 1);
    struct df_plan *plan = plan_of(&s);
    assert_true(plan->load_bound_s <= plan->wave_s * (1 + 1e-9));
    assert_true(plan->load_bound_s <= plan->least_load_s * (1 + 1e-9) && plan->least_load_s <= plan->load_s);
    dfr_plan_free(plan);
    sample_free(&s);
}

/* Rows that read different tables on a device: both are there. What fires once has one place in all rows. */
static void tables_of_all_rows_have_memory(void **state)
{
    uint32_t n_joint = 0;
    (void)state;
    for (uint32_t gpus = 1; gpus <= 3; gpus++) {
        struct sample s;
        table_graph(&s, SAMPLE_MS, gpus);
        struct df_plan *plan = plan_of(&s);
        for (uint32_t u = 1; u <= gpus; u++) {
            uint64_t pages = 0;
            for (uint32_t x = 0; x < s.graph->n_values; x++) {
                const struct df_value *value = &s.graph->values[x];
                bool here = false;
                if (!(s.graph->nodes[value->producer].flags & DF_NODE_ONCE))
                    continue;
                for (uint32_t row = 0; row < plan->n_waves; row++) {
                    const uint16_t *place = plan->place + (size_t)row * plan->n_nodes;
                    assert_int_equal(place[value->producer], plan->place[value->producer]);
                    for (uint32_t r = 0; r < value->n_readers; r++)
                        here |= place[s.graph->readers[value->first_reader + r].node] == u;
                }
                pages += here ? (value->bytes + 4095) / 4096 : 0;
            }
            assert_int_equal(plan->memory[u].once_bytes, pages * 4096);
        }
        n_joint += plan->n_waves > 1;
        dfr_plan_free(plan);
        sample_free(&s);
    }
    assert_true(n_joint > 0);
}

/* So many waves that no simulator takes them. */
static void waves_that_cannot_be_simulated_are_refused(void **state)
{
    struct sample s;
    struct dfp_options options;
    struct df_plan *plan = NULL;
    struct df_error error = { "" };
    (void)state;
    sample_random(&s, 1, 50, 2, 1, false);
    dfp_options_default(&options);
    options.budget = 20;
    options.objective = DFP_THROUGHPUT;
    for (int most = 0; most < 2; most++) {
        options.inflight = most ? UINT32_MAX : 200000000;
        assert_int_equal(dfp_plan_make(&s.problem, "gp", &options, &plan, &error), DF_E_ARGUMENT);
        assert_non_null(strstr(error.text, "waves in flight of this graph are too many"));
    }
    sample_free(&s);
}

/* A budget of days: whatever is being planned, the cap ends it. */
static void a_cap_ends_the_search(void **state)
{
    struct sample s;
    struct dfp_options options;
    struct df_plan *plan;
    (void)state;
    sample_random(&s, 3, 60, 2, 1, false);
    dfp_options_default(&options);
    options.budget = UINT64_C(1) << 40;
    options.time_cap_s = 0.05;
    options.objective = DFP_THROUGHPUT;
    assert_int_equal(dfp_plan_make(&s.problem, "gp", &options, &plan, NULL), DF_OK);
    assert_true(plan->wave_s > 0);
    dfr_plan_free(plan);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_is_the_cheapest_of_all), cmocka_unit_test(no_mixture_is_below_the_bound),
        cmocka_unit_test(the_answer_is_what_it_says), cmocka_unit_test(streams_are_planned_for_throughput),
        cmocka_unit_test(no_policy_with_options_is_ahead_of_the_answer),
        cmocka_unit_test(no_planner_is_ahead_of_the_answer),
        cmocka_unit_test(repeated_waves_are_a_multiple_of_one), cmocka_unit_test(once_counts_once),
        cmocka_unit_test(tables_of_all_rows_have_memory), cmocka_unit_test(waves_that_cannot_be_simulated_are_refused),
        cmocka_unit_test(a_cap_ends_the_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
