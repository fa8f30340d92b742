/* test_simulate_any.c - runs of random graphs in virtual time: what must hold of any of them under every policy, in
 * little memory too, and the agreement with the evaluator of static placements to the last digit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "long.h"
#include "partition/gp/gp.h"
#include "runtime/graph/fit.h"
#include "run_rig.h"
#include "runtime/policy/policy.h"
#include "simulate_rig.h"

#define MS SAMPLE_MS
#define MB SAMPLE_MB

/* ---- any run ---- */

static void any_run_is_possible(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(24u, 10u); seed++) {
        struct sample s;
        uint32_t gpus = seed % 4;
        sample_random(&s, seed, 20 + seed * 6, 1 + seed % 5, gpus, false);
        for (uint32_t u = 1; u <= gpus; u++) {
            s.platform.units[u].engines = 1 + (seed & 1);
            s.platform.units[u].jobs = seed % 3;
            s.platform.units[u].workers = 1 + (seed % 5 == 0);
            s.platform.units[u].launch_s = seed % 2 ? 0.05 * MS : 0;
            s.platform.units[u].handover_s = seed / 2 % 2 ? 0.03 * MS * u : 0;
        }
        sample_peers(&s, seed);
        sim_check_policies(&s, 1, 1);
        sim_check_policies(&s, 4, 1 + seed % 4);
        sample_free(&s);
    }
}

static uint64_t largest_job(const struct sample *s)
{
    uint64_t most = 0;
    for (uint32_t v = 0; v < s->graph->n_nodes; v++)
        most = dfr_job_bytes(s->graph, v) > most ? dfr_job_bytes(s->graph, v) : most;
    return most;
}

static void little_memory_is_enough(void **state)
{
    (void)state;
    uint32_t evictions = 0;
    for (uint32_t seed = 1; seed <= IN_LONG(16u, 6u); seed++) {
        struct sample s;
        sample_random(&s, seed, 120, 2, 1 + seed % 2, false);
        for (uint32_t u = 1; u < s.platform.n_units; u++) {
            s.platform.units[u].memory_bytes = largest_job(&s) * (8 + seed % 8) / 8;
            s.platform.units[u].jobs = seed % 3;
        }
        sim_check_policies(&s, 1, 1);
        sim_check_policies(&s, 3, 3);
        evictions += sim_policy(&s, "all-gpu").evictions;
        sample_free(&s);
    }
    assert_true(evictions > 100);
}

/* ---- all kinds of nodes, waves that are placed by turns ---- */

enum { MOST_NODES = 64 };

static uint32_t one_of(uint32_t *random, const uint32_t *made, uint32_t n)
{
    uint32_t recent = n < 12 || sample_rand(random) % 3 == 0 ? n : 12;
    return made[n - 1 - sample_rand(random) % recent];
}

/* Nodes that fire once, or cost nothing, that change what they read, have scratch, or are bounded. */
static void all_kinds(struct sample *s, uint32_t *random, uint32_t n)
{
    uint32_t made[MOST_NODES];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from[3], n_in = i > 0 ? sample_rand(random) % 4 : 0, kind = sample_rand(random) % 10;
        double cpu_s = (1 + sample_rand(random) % 30) * 0.1 * MS, gpu_s = (1 + sample_rand(random) % 30) * 0.1 * MS;
        for (uint32_t k = 0; k < n_in; k++)
            from[k] = one_of(random, made, i);
        s->traits = i < n / 6 && n_in == 0 ? DF_ONCE : 0; /* and those that read such alone */
        s->inout = n_in > 0 && sample_rand(random) % 3 == 0;
        s->depth = sample_rand(random) % 4 == 0 ? 1 + sample_rand(random) % 3 : 0;
        s->tmp_bytes = kind == 1 || kind == 2 ? 1 + sample_rand(random) % MB : 0;
        made[i] = sample_node(s, "x", kind == 0 ? 0 : kind == 3 && s->platform.n_units > 1 ? NAN : cpu_s,
                              kind == 0 ? 0 : kind == 4 ? NAN : gpu_s, 1 + sample_rand(random) % (2 * MB), n_in, from);
    }
    sample_end(s);
}

static void random_machine(struct sample *s, uint32_t *random, uint32_t seed)
{
    for (uint32_t u = 1; u < s->platform.n_units; u++) {
        s->platform.units[u].engines = 1 + seed % 2;
        s->platform.units[u].jobs = seed % 3;
        s->platform.units[u].h2d.latency_s *= 1 + sample_rand(random) % 20;
        if (seed % 5)
            s->platform.units[u].memory_bytes = largest_job(s) * (8 + sample_rand(random) % 16) / 8;
    }
    sample_peers(s, sample_rand(random));
}

static void place_at_random(const struct sample *s, uint32_t *random, uint16_t *place)
{
    for (uint32_t v = 0; v < s->graph->n_nodes; v++)
        do
            place[v] = (uint16_t)(sample_rand(random) % s->platform.n_units);
        while (isnan(dfp_node_time_s(&s->problem, v, place[v])));
}

static void waves_by_turns(const struct sample *s, uint32_t *random)
{
    uint32_t n = s->graph->n_nodes, rows = 1 + sample_rand(random) % 3;
    uint16_t *place = calloc((size_t)rows * n, sizeof *place);
    float *priority = calloc(n, sizeof *priority);
    struct df_plan plan = sim_placed(s, place, priority);

    assert_true(place && priority);
    plan.n_waves = rows;
    for (uint32_t row = 0; row < rows; row++)
        place_at_random(s, random, place + (size_t)row * n);
    for (uint32_t v = 0; v < n; v++)
        priority[v] = (float)(sample_rand(random) % 64);
    for (int evict = DF_EVICT_AUTO; evict <= DF_EVICT_BELADY; evict++) {
        struct dfr_simulate_options options = { .policy = evict == DF_EVICT_AUTO ? "gp" : "heft", .plan = &plan,
                                                .evict = evict };
        options.waves = rows + sample_rand(random) % 12;
        options.inflight = 1 + sample_rand(random) % 5;
        options.prefetch = sample_rand(random) % 2;
        options.find_jobs = sample_rand(random) % 2;
        snprintf(plan.policy, sizeof plan.policy, "%s", options.policy);
        sim_check_run(s, &options);
    }
    free(place);
    free(priority);
}

static void graphs_of_all_kinds(void **state)
{
    unsigned first = 1, last = IN_LONG(150u, 60u);
    (void)state;
    rig_seeds(&first, &last);
    for (uint32_t seed = first; seed <= last; seed++) {
        struct sample s;
        uint32_t random = seed * 2654435761u | 1;
        sample_begin(&s, 1 + seed % 4, seed / 3 % 4);
        all_kinds(&s, &random, 12 + seed % (MOST_NODES - 12));
        random_machine(&s, &random, seed);
        waves_by_turns(&s, &random);
        if (seed % 5 == 0)
            sim_check_policies(&s, 1 + seed % 6, 1 + seed % 4);
        sample_free(&s);
    }
}

/* ---- the evaluator ---- */

static uint64_t peer_copies;            /* seen */

static void same_as_evaluator(const struct sample *s, uint16_t *place, float *priority)
{
    struct dfp_evaluation e;
    struct df_error error = { "" };
    struct df_plan plan = sim_placed(s, place, priority);
    struct dfr_simulation r = sim_run(s, &(struct dfr_simulate_options){ .policy = "heft", .plan = &plan },
                                            NULL);
    if (dfp_evaluate(&s->problem, place, priority, &e, &error) != DF_OK)
        fail_msg("%s", error.text);
    if (r.makespan_s != e.makespan_s)
        fail_msg("%u nodes: %.17g s simulated, %.17g s evaluated", s->graph->n_nodes, r.makespan_s, e.makespan_s);
    assert_memory_equal(r.busy_s, e.busy_s, sizeof r.busy_s);
    assert_int_equal(r.h2d_bytes, e.h2d_bytes);
    assert_int_equal(r.d2h_bytes, e.d2h_bytes);
    assert_int_equal(r.h2d_copies, e.h2d_copies);
    assert_int_equal(r.d2h_copies, e.d2h_copies);
    assert_int_equal(r.peer_bytes, e.peer_bytes);
    assert_int_equal(r.peer_copies, e.peer_copies);
    peer_copies += r.peer_copies;
}

static void static_runs_agree_with_the_evaluator(void **state)
{
    (void)state;
    peer_copies = 0;
    for (uint32_t seed = 1; seed <= IN_LONG(120u, 50u); seed++) {
        struct sample s;
        uint32_t random = seed, gpus = seed % 4;
        sample_random(&s, seed, seed * 5, 1 + seed % 5, gpus, seed % 7 == 0);
        for (uint32_t u = 1; u <= gpus; u++) {
            s.platform.units[u].engines = 1 + (seed & 1);
            s.platform.units[u].workers = 1 + (seed % 9 == 0);
            s.platform.units[u].jobs = seed % 3;
            s.platform.units[u].launch_s = seed % 2 ? 0.05 * MS : 0;
            s.platform.units[u].handover_s = seed / 2 % 2 ? 0.03 * MS * u : 0;
        }
        sample_peers(&s, seed);
        uint32_t n = s.graph->n_nodes;
        uint16_t *place = calloc(n, sizeof *place);
        float *priority = calloc(n, sizeof *priority);
        place_at_random(&s, &random, place);
        dfp_upward_rank(&s.problem, place, priority);
        same_as_evaluator(&s, place, priority);
        for (uint32_t v = 0; v < n; v++)
            priority[v] = (float)(sample_rand(&random) % 16);
        same_as_evaluator(&s, place, priority);
        free(place);
        free(priority);
        sample_free(&s);
    }
    assert_true(peer_copies > 100);
}

/* Jobs that need several workers: the most urgent waits for them and is not overtaken, in both. */
static void threads_agree_with_the_evaluator(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(60u, 25u); seed++) {
        struct sample s;
        uint32_t random = seed * 31;
        float priority[64];
        uint16_t place[64] = { 0 };
        sample_begin(&s, 1 + seed % 6, seed % 2);
        for (uint32_t i = 0; i < 40; i++) {
            uint32_t from[2] = { i ? sample_rand(&random) % i : 0, i ? sample_rand(&random) % i : 0 };
            s.threads = 1 + sample_rand(&random) % 4;
            sample_node(&s, "work", (1 + sample_rand(&random) % 50) * 1e-4, 1 * MS, 1000, i ? i % 3 : 0, from);
        }
        sample_end(&s);
        assert_int_equal(s.graph->n_nodes, 40);
        place_at_random(&s, &random, place);
        dfp_upward_rank(&s.problem, place, priority);
        same_as_evaluator(&s, place, priority);
        sample_free(&s);
    }
}

/* A plan that found an online policy better than every placement is run as that policy. */
static void plans_may_name_a_policy(void **state)
{
    (void)state;
    struct sample s;
    sample_random(&s, 3, 100, 3, 1, false);
    struct df_plan *plan = sample_plan(&s, "heft");
    struct dfr_simulate_options options = { .policy = "heft", .plan = plan };
    struct dfr_simulation own = sim_run(&s, &options, NULL), dmda = sim_policy(&s, "dmda");
    assert_true(own.makespan_s != dmda.makespan_s);
    strcpy(plan->run_as, "dmda");
    struct dfr_simulation as = sim_run(&s, &options, NULL);
    assert_memory_equal(&as, &dmda, sizeof as);
    strcpy(plan->run_as, "static");
    as = sim_run(&s, &options, NULL);
    assert_memory_equal(&as, &own, sizeof as);
    for (int i = 0; i < 4; i++) {       /* with and without its options */
        struct dfr_simulate_options online = { .policy = "pats", .locality = i & 1, .prefetch = i & 2 };
        struct dfr_simulation pats = sim_run(&s, &online, NULL);
        snprintf(plan->run_as, sizeof plan->run_as, "pats%s%s", i & 1 ? " --dl" : "", i & 2 ? " --prefetch" : "");
        as = sim_run(&s, &options, NULL);
        assert_memory_equal(&as, &pats, sizeof as);
        assert_true(i == 0 || as.makespan_s != sim_policy(&s, "pats").makespan_s);
    }
    dfr_plan_free(plan);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_run_is_possible),
        cmocka_unit_test(little_memory_is_enough),
        cmocka_unit_test(graphs_of_all_kinds),
        cmocka_unit_test(static_runs_agree_with_the_evaluator),
        cmocka_unit_test(threads_agree_with_the_evaluator),
        cmocka_unit_test(plans_may_name_a_policy),
    };
    return cmocka_run_group_tests_name("simulate_any", tests, NULL, NULL);
}
