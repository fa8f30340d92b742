/* test_simulate.c - runs in virtual time computed by hand: copies, waves, memory; and what is refused. Of any run:
 * test_simulate_any.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "partition/gp/gp.h"
#include "runtime/base/error.h"
#include "simulate_rig.h"

#define MS SAMPLE_MS
#define MB SAMPLE_MB

/* ---- by hand ---- */

/* Fetching at the time of taking, devices' workers first. */
static void eager_fetches_when_it_takes(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    for (unsigned i = 0; i < 3; i++)
        sample_node(&s, "r", 4 * MS, 1 * MS, 0, 1, &d);
    sample_end(&s);
    struct dfr_simulation r = sim_policy(&s, "eager");
    sample_near(r.makespan_s, 4 * MS);         /* gpu: copy 0-2, 2-3, 3-4; cpu 0-4 */
    sample_near(r.busy_s[0], 4 * MS);
    sample_near(r.busy_s[1], 2 * MS);
    sample_near(r.h2d_busy_s[1], 2 * MS);
    assert_int_equal(r.h2d_copies, 1);
    sample_free(&s);
}

static void dmda_sends_when_it_assigns(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL), e = sample_node(&s, "e", 0, NAN, MB, 0, NULL);
    sample_node(&s, "r", 90 * MS, 3 * MS, 0, 1, &d);
    sample_node(&s, "r", 90 * MS, 3 * MS, 0, 1, &e);
    sample_end(&s);
    sample_near(sim_policy(&s, "dmda").makespan_s, 8 * MS);   /* copies 0-2 and 2-4, jobs 2-5 and 5-8 */
    sample_near(sim_policy(&s, "eager").makespan_s, 90 * MS); /* whoever is free takes one: the cpu too */
    sample_free(&s);
}

/* One placement and one set of priorities, run as published and run as dfc's own placed policies do. */
static void check_orders(struct sample *s, const uint16_t *place_of, const float *priority_of, double thesis_s, double placed_s)
{
    uint16_t place[8];
    float priority[8];
    struct df_plan plan = { .policy = "gp-thesis", .place = place, .priority = priority, .n_waves = 1 };
    sample_end(s);
    plan.n_nodes = s->graph->n_nodes;
    for (uint32_t v = 0; v < plan.n_nodes; v++) {
        uint32_t of = (uint32_t)(df_graph_string(s->graph, s->graph->kernels[s->graph->nodes[v].kernel].name)[0] - 'a');
        place[v] = place_of[of];
        priority[v] = priority_of[of];
    }
    sample_near(sim_run(s, &(struct dfr_simulate_options){ .policy = "gp-thesis", .plan = &plan }, NULL).makespan_s, thesis_s);
    sample_near(sim_run(s, &(struct dfr_simulate_options){ .policy = "heft", .plan = &plan }, NULL).makespan_s, placed_s);
    sample_free(s);
}

/* The thesis's jobs go first come, first served, and ask for their data when they are ready: when the last of it was made. */
static void the_thesis_neither_ranks_nor_sends_early(void **state)
{
    struct sample s;
    (void)state;
    sample_begin(&s, 1, 1);
    sample_node(&s, "a", NAN, 2 * MS, 0, 0, NULL);
    uint32_t b = sample_node(&s, "b", NAN, 1 * MS, MB, 0, NULL);
    sample_node(&s, "c", 10 * MS, NAN, 0, 1, &b);
    /* a 0-2, b 2-3, copy 3-5, c 5-15; by priority b 0-1, a 1-3, copy 1-3, c 3-13 */
    check_orders(&s, (uint16_t[]){ 1, 1, 0 }, (float[]){ 1, 2, 1 }, 15 * MS, 13 * MS);
    sample_begin(&s, 2, 1);
    uint32_t made[2] = { sample_node(&s, "a", 1 * MS, NAN, MB, 0, NULL), sample_node(&s, "b", 4 * MS, NAN, MB, 0, NULL) };
    sample_node(&s, "c", NAN, 3 * MS, 0, 2, made);
    /* copies 4-6 and 6-8, c 8-11; sent as they are made 1-3 and 4-6, c 6-9 */
    check_orders(&s, (uint16_t[]){ 0, 0, 1 }, (float[]){ 1, 1, 1 }, 11 * MS, 9 * MS);
    sample_begin(&s, 1, 2);
    uint32_t far = sample_node(&s, "a", NAN, 1 * MS, MB, 0, NULL);
    sample_node(&s, "b", NAN, 10 * MS, 0, 0, NULL);
    sample_node(&s, "c", NAN, 1 * MS, 0, 1, &far);
    /* what the other GPU has is fetched when c is taken: copies 10-12 and 12-14, c 14-15; sent as it is made c 10-11 */
    check_orders(&s, (uint16_t[]){ 1, 2, 2 }, (float[]){ 1, 1, 1 }, 15 * MS, 11 * MS);
}

/* Read twice, it is sent once: 2 ms and 1 on the GPU, and not 4 and 1. */
static void dmda_counts_a_token_once(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    sample_node(&s, "r", 4.5 * MS, 1 * MS, 0, 2, (uint32_t[]){ d, d });
    sample_end(&s);
    sample_near(sim_policy(&s, "dmda").makespan_s, 3 * MS);
    sample_free(&s);
}

/* Results must come back, and what costs nothing takes no worker. */
static void sinks_wait_for_their_copy(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL), a = sample_node(&s, "a", NAN, 3 * MS, MB, 1, &d);
    sample_node(&s, "busy", 20 * MS, NAN, 0, 0, NULL);
    uint32_t fetch = sample_node(&s, "fetch", 0, NAN, 0, 1, &a);
    sample_end(&s);
    double start_s[4], end_s[4];
    uint16_t place[4];
    uint32_t worker[4];
    struct dfr_simulation r = { .start_s = start_s, .end_s = end_s, .place = place, .worker = worker };
    assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &(struct dfr_simulate_options){ .policy = "eager" },
                                  &r,
                                  NULL), DF_OK);
    sample_near(r.makespan_s, 20 * MS);
    sample_near(end_s[fetch], 7 * MS);         /* there 0-2, a 2-5, back 5-7 */
    sample_near(start_s[fetch], 7 * MS);
    sample_near(start_s[a], 2 * MS);
    sample_near(end_s[a], 5 * MS);
    sample_near(end_s[d], 0);
    assert_int_equal(worker[fetch], DF_NONE);
    assert_int_equal(worker[a], 1);
    assert_int_equal(place[a], 1);
    assert_int_equal(place[fetch], 0);
    sample_free(&s);
}

/* Several jobs in flight: the second one's copy overlaps the first one's computing. */
static void jobs_in_flight_overlap_copies(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    for (uint32_t i = 0; i < 4; i++)
        sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    for (uint32_t i = 0; i < 4; i++)
        sample_node(&s, "r", NAN, 3 * MS, 0, 1, &i);
    sample_end(&s);
    sample_near(sim_policy(&s, "eager").makespan_s, 20 * MS); /* four times copy and job */
    s.platform.units[1].jobs = 2;
    sample_near(sim_policy(&s, "eager").makespan_s, 14 * MS); /* one copy, and then the jobs: copies take less */
    sample_free(&s);
}

static void threads_hold_workers(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 3, 0);
    sample_node(&s, "narrow", 5 * MS, NAN, 0, 0, NULL);
    s.threads = 3;
    sample_node(&s, "wide", 2 * MS, NAN, 0, 0, NULL);
    s.threads = 1;
    sample_node(&s, "narrow", 1 * MS, NAN, 0, 0, NULL);
    sample_end(&s);
    struct dfr_simulation r = sim_policy(&s, "eager");
    sample_near(r.makespan_s, 8 * MS);         /* wide waits for all three, and is not overtaken */
    sample_near(r.busy_s[0], (5 + 6 + 1) * MS);
    sample_free(&s);
}

static void true_times_are_what_happens(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    sample_node(&s, "a", 3 * MS, 2 * MS, 0, 0, NULL);
    sample_node(&s, "b", 3 * MS, 2 * MS, 0, 0, NULL);
    sample_end(&s);
    s.platform.units[1].launch_s = 0.5 * MS;
    sample_near(sim_policy(&s, "dmda").makespan_s, 3 * MS);
    double time_s[4] = { 1 * MS, 1 * MS, 9 * MS, 9 * MS }; /* by class, then work */
    struct dfr_simulate_options options = { .policy = "dmda", .true_time_s = time_s };
    sample_near(sim_run(&s, &options, NULL).makespan_s, 9.5 * MS);
    sample_free(&s);
}

/* ---- waves ---- */

static void waves_follow_each_other(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t a = sample_node(&s, "a", 3 * MS, NAN, MB, 0, NULL);
    sample_node(&s, "b", NAN, 3 * MS, 0, 1, &a);
    sample_end(&s);
    struct dfr_simulate_options options = { .policy = "eager", .waves = 10 };
    sample_near(sim_run(&s, &options, NULL).makespan_s, 80 * MS); /* one after the other: 3 + 2 + 3 each */
    options.inflight = 10;
    sample_near(sim_run(&s, &options, NULL).makespan_s, (3 + 10 * 5) * MS); /* the GPU fetches and computes in turns */
    s.platform.units[1].jobs = 2;
    sample_near(sim_run(&s, &options, NULL).makespan_s, (10 * 3 + 2 + 3) * MS);
    sample_free(&s);
}

static void order_and_depth_hold_waves_back(void **state)
{
    (void)state;
    struct sample s;
    struct sim_watch w = { 0 };
    sample_begin(&s, 8, 0);
    s.traits = DF_ORDERED;
    uint32_t a = sample_node(&s, "a", 1 * MS, NAN, 8, 0, NULL);
    s.traits = 0;
    uint32_t b = sample_node(&s, "b", 3 * MS, NAN, 8, 1, &a);
    sample_node(&s, "c", 1 * MS, NAN, 0, 1, &b);
    sample_end(&s);
    struct dfr_simulate_options options = { .policy = "eager", .waves = 6, .inflight = 6 };
    double makespan_s = sim_run(&s, &options, &w).makespan_s, last_s = 0;
    sample_near(makespan_s, (6 + 3 + 1) * MS);  /* one wave's a after the other's; the rest beside them */
    for (size_t i = 0; i < w.n_jobs; i++)
        if (w.jobs[i].what == a) {
            assert_true(w.jobs[i].begin_s >= last_s);
            last_s = w.jobs[i].end_s;
        }
    sim_forget(&w);
    sample_free(&s);

    sample_begin(&s, 4, 0);
    s.depth = 1;
    a = sample_node(&s, "a", 1 * MS, NAN, 8, 0, NULL);
    s.depth = 0;
    sample_node(&s, "b", 3 * MS, NAN, 0, 1, &a);
    sample_end(&s);
    sample_near(sim_run(&s, &options, NULL).makespan_s, 6 * 4 * MS); /* a token must be read before the next is made */
    sample_free(&s);

    sample_begin(&s, 6, 0);
    s.depth = 1;
    sample_node(&s, "a", 1 * MS, NAN, 0, 0, NULL);
    sample_end(&s);
    sample_near(sim_run(&s, &options, NULL).makespan_s, 1 * MS); /* no token: nothing to run ahead with */
    sample_free(&s);
}

static void once_values_serve_all_waves(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 2, 1);
    s.traits = DF_ONCE;
    uint32_t table = sample_node(&s, "table", 5 * MS, NAN, MB, 0, NULL);
    s.traits = 0;
    uint32_t a = sample_node(&s, "a", 1 * MS, NAN, 8, 0, NULL);
    sample_node(&s, "use", NAN, 1 * MS, 0, 2, (uint32_t[]){ table, a });
    sample_end(&s);
    struct sim_watch w = { 0 };
    struct dfr_simulate_options options = { .policy = "eager", .waves = 5, .inflight = 2 };
    struct dfr_simulation r = sim_run(&s, &options, &w);
    assert_int_equal(w.n_jobs, 1 + 2 * 5);
    assert_int_equal(r.h2d_copies, 1 + 5); /* the table once */
    sim_forget(&w);
    sim_check_policies(&s, 5, 2);
    sim_check_policies(&s, 1, 1);
    sample_free(&s);
}

/* Waves go to one GPU and the other by turns. The table comes to the second in the midst of the second wave: that has
 * not waited for it, and still waits for what its own source makes. */
static void once_values_come_late_to_later_waves(void **state)
{
    (void)state;
    struct sample s;
    uint16_t place[2 * 3] = { 0 };
    float priority[3] = { 0 };
    struct df_plan plan = { .policy = "heft", .n_nodes = 3, .n_waves = 2, .place = place, .priority = priority };
    sample_begin(&s, 1, 2);
    s.traits = DF_ONCE;
    uint32_t table = sample_node(&s, "table", 1 * MS, NAN, MB, 0, NULL);
    s.traits = 0;
    uint32_t a = sample_node(&s, "a", 10 * MS, NAN, 8, 0, NULL);
    sample_node(&s, "use", NAN, 1 * MS, 0, 2, (uint32_t[]){ table, a });
    sample_end(&s);
    s.platform.units[2].h2d.latency_s = 16 * MS;
    for (uint32_t v = 0; v < 3; v++)
        for (uint32_t row = 0; row < 2 && df_node_n_in(s.graph, v) > 0; row++)
            place[row * 3 + v] = (uint16_t)(1 + row);
    struct dfr_simulate_options options = { .policy = "heft", .plan = &plan, .waves = 2, .inflight = 1 };
    struct dfr_simulation r = sim_run(&s, &options, NULL);
    /* first wave: a 1-11, copy 11-12, use 12-13; the table is there at 18; second: a 13-23, copy 23-39, use 39-40 */
    sample_near(r.makespan_s, 40 * MS + 2 * 8e-9);
    sample_free(&s);
}

/* The second wave is over before the first, so the fourth has begun, and waits for the source's third job, when the
 * third wave begins: what the source then makes for both goes to their readers, not for the third alone. */
static void sources_in_order_serve_waves_that_overtake(void **state)
{
    (void)state;
    struct sample s;
    uint16_t place[2 * 2] = { 0 };
    float priority[2] = { 0 };
    struct df_plan plan = { .policy = "heft", .n_nodes = 2, .n_waves = 2, .place = place, .priority = priority };
    sample_begin(&s, 1, 1);
    s.traits = DF_ORDERED;
    uint32_t source = sample_node(&s, "source", 0, NAN, MB, 0, NULL);
    s.traits = 0;
    sample_node(&s, "use", 10 * MS, 1 * MS, 0, 1, &source);
    sample_end(&s);
    place[1 * 2 + (df_node_n_in(s.graph, 0) ? 0 : 1)] = 1;
    struct dfr_simulate_options options = { .policy = "heft", .plan = &plan, .waves = 4, .inflight = 2 };
    struct sim_watch w = { 0 };
    struct dfr_simulation r = sim_run(&s, &options, &w);
    sample_near(r.makespan_s, 20 * MS); /* cpu 0-10, 10-20; gpu: copy 0-2, 2-3, copy 10-12, 12-13 */
    sample_near(r.busy_s[1], 2 * MS);
    assert_int_equal(w.n_copies, 2);
    sample_near(w.copies[1].begin_s, 10 * MS);
    sim_forget(&w);
    sample_free(&s);
}

/* ---- memory ---- */

/* Room for three values: a, b and c are made in turn, and for d the oldest must go. Nobody else has a, so it is written
 * back first, and comes again for its reader. */
static void the_oldest_is_written_back(void **state)
{
    (void)state;
    struct sample s;
    uint32_t a, b, c, d;
    sample_begin(&s, 1, 1);
    a = sample_node(&s, "a", NAN, 1 * MS, MB, 0, NULL);
    b = sample_node(&s, "b", NAN, 1 * MS, MB, 1, &a);
    c = sample_node(&s, "c", NAN, 1 * MS, MB, 1, &b);
    d = sample_node(&s, "d", NAN, 1 * MS, MB, 2, (uint32_t[]){ b, c });
    sample_node(&s, "e", NAN, 1 * MS, 0, 2, (uint32_t[]){ a, d });
    sample_end(&s);
    sample_near(sim_policy(&s, "eager").makespan_s, 5 * MS);
    s.platform.units[1].memory_bytes = 3 * dfr_whole_pages(MB);
    struct dfr_simulation r = sim_policy(&s, "eager");
    sample_near(r.makespan_s, 9 * MS);         /* c ends at 3, a leaves 3-5, d 5-6, a comes 6-8, e 8-9 */
    assert_int_equal(r.evictions, 1);
    assert_int_equal(r.d2h_copies, 1);
    assert_int_equal(r.h2d_copies, 1);
    sample_free(&s);
}

/* A copy that reads a once value alone, for a node that changes it, fires in each wave:
 * also in those after the first. */
static void copies_of_once_values_come_in_each_wave(void **state)
{
    (void)state;
    struct sample s;
    uint32_t table, from[2];
    sample_begin(&s, 1, 1);
    s.traits = DF_ONCE;
    table = sample_node(&s, "table", 1 * MS, NAN, MB, 0, NULL);
    s.traits = 0;
    from[0] = table;
    from[1] = sample_node(&s, "source", 1 * MS, NAN, MB, 0, NULL);
    s.inout = true;
    from[1] = sample_node(&s, "change", 1 * MS, NAN, 0, 2, from);
    s.inout = false;
    sample_node(&s, "sink", 1 * MS, NAN, 0, 2, from);
    sample_end(&s);
    for (uint32_t inflight = 1; inflight <= 3; inflight++) {
        struct dfr_simulate_options options = { .policy = "eager", .waves = 7, .inflight = inflight };
        assert_true(sim_run(&s, &options, NULL).makespan_s >= 22 * MS); /* three a wave, and the table */
    }
    sample_free(&s);
}

/* What the host has too goes at once. */
static void copies_of_the_host_need_no_writing_back(void **state)
{
    (void)state;
    struct sample s;
    uint32_t d[3];
    sample_begin(&s, 1, 1);
    for (unsigned i = 0; i < 3; i++)
        d[i] = sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    for (unsigned i = 0; i < 3; i++)
        sample_node(&s, "r", NAN, 1 * MS, 0, 1, &d[i]);
    sample_node(&s, "again", NAN, 1 * MS, 0, 2, d);
    sample_end(&s);
    s.platform.units[1].memory_bytes = 2 * dfr_whole_pages(MB);
    struct dfr_simulation r = sim_policy(&s, "eager");
    sample_near(r.makespan_s, 12 * MS);        /* three times 2 + 1; for the last the first must come again: 2 + 1 */
    assert_int_equal(r.evictions, 1);   /* d[0] for d[2], which goes with its only reader */
    assert_int_equal(r.d2h_copies, 0);
    assert_int_equal(r.h2d_copies, 4);
    sample_free(&s);
}

/* ---- refusals ---- */

static void expect(const struct sample *s, const struct dfr_simulate_options *options, int code, const char *text)
{
    struct dfr_simulation r = { 0 };
    struct df_error e = { "" };
    assert_int_equal(dfr_simulate(s->graph, &s->platform, &s->times, options, &r, &e), code);
    assert_string_equal(e.text, text);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t a = sample_node(&s, "a", NAN, 1 * MS, MB, 0, NULL);
    sample_node(&s, "b", 1 * MS, NAN, 0, 1, &a);
    sample_end(&s);
    expect(&s, &(struct dfr_simulate_options){ .policy = "eagre" }, DF_E_ARGUMENT,
           "unknown policy 'eagre'; did you mean 'eager'?");
    expect(&s, &(struct dfr_simulate_options){ .policy = "heft" }, DF_E_ARGUMENT,
           "policy 'heft' places nodes by a plan, and none is given");
    struct df_plan plan = { .n_nodes = 7 };
    expect(&s, &(struct dfr_simulate_options){ .policy = "heft", .plan = &plan }, DF_E_ARGUMENT,
           "the plan was made for a graph of 7 nodes; this graph has 2");
    s.platform.units[1].memory_bytes = 4096;
    expect(&s, &(struct dfr_simulate_options){ .policy = "eager" }, DF_E_REFUSED,
           "node 'main/a#1' fits nowhere: one job of it needs 1003520 bytes of a device's memory");
    s.platform.n_units = 1;
    expect(&s, &(struct dfr_simulate_options){ .policy = "eager" }, DF_E_REFUSED,
           "node 'main/a#1' can run on no unit of platform 'study'");
    s.platform.n_units = 0;
    expect(&s, &(struct dfr_simulate_options){ .policy = "eager" }, DF_E_ARGUMENT,
           "platform 'study' has 0 units; 1 to 32 are possible");
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eager_fetches_when_it_takes),
        cmocka_unit_test(dmda_sends_when_it_assigns),
        cmocka_unit_test(the_thesis_neither_ranks_nor_sends_early),
        cmocka_unit_test(dmda_counts_a_token_once),
        cmocka_unit_test(sinks_wait_for_their_copy),
        cmocka_unit_test(jobs_in_flight_overlap_copies),
        cmocka_unit_test(threads_hold_workers),
        cmocka_unit_test(true_times_are_what_happens),
        cmocka_unit_test(waves_follow_each_other),
        cmocka_unit_test(order_and_depth_hold_waves_back),
        cmocka_unit_test(once_values_serve_all_waves),
        cmocka_unit_test(once_values_come_late_to_later_waves),
        cmocka_unit_test(sources_in_order_serve_waves_that_overtake),
        cmocka_unit_test(the_oldest_is_written_back),
        cmocka_unit_test(copies_of_once_values_come_in_each_wave),
        cmocka_unit_test(copies_of_the_host_need_no_writing_back),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("simulate", tests, NULL, NULL);
}
