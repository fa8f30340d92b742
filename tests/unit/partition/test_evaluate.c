/* test_evaluate.c - the predicted time of placements: cases computed by hand, and what must hold for any graph. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample_graph.h"

#define MS SAMPLE_MS
#define MB SAMPLE_MB

static struct dfp_evaluation evaluate(struct sample *s, const uint16_t *place, const float *priority)
{
    struct dfp_evaluation evaluation;
    struct df_error e = { "" };
    if (dfp_evaluate(&s->problem, place, priority, &evaluation, &e) != DF_OK)
        fail_msg("%s", e.text);
    return evaluation;
}

/* ---- by hand; a copy of 1 MB takes 2 ms ---- */

static void chain_is_exact(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 3, 1);
    uint32_t last = sample_node(&s, "init", 0, NAN, MB, 0, NULL);
    for (int i = 0; i < 100; i++)
        last = sample_node(&s, "step", 5 * MS, 1 * MS, MB, 1, &last);
    sample_node(&s, "fetch", 0, NAN, 0, 1, &last);
    sample_end(&s);
    uint16_t place[102] = { 0 };
    sample_near(evaluate(&s, place, NULL).makespan_s, 500 * MS);
    for (int i = 1; i <= 100; i++)
        place[i] = 1;
    struct dfp_evaluation e = evaluate(&s, place, NULL);
    sample_near(e.makespan_s, 104 * MS);
    sample_near(e.busy_s[1], 100 * MS);
    sample_near(e.cut_s, 4 * MS);
    assert_int_equal(e.nodes[0], 2);
    assert_int_equal(e.nodes[1], 100);
    s.platform.units[1].launch_s = 0.5 * MS;    /* added to each job */
    sample_near(evaluate(&s, place, NULL).makespan_s, 154 * MS);
    for (int i = 51; i <= 100; i++)
        place[i] = 0;                   /* 50 jobs there, one copy back, 50 here */
    sample_near(evaluate(&s, place, NULL).makespan_s, (2 + 75 + 2 + 250) * MS);
    sample_free(&s);
}

/* A copy's data is there 0.5 ms after the copy, but the copy after it begins at its end. */
static void data_is_handed_over(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t a = sample_node(&s, "a", 1 * MS, NAN, MB, 0, NULL);
    uint32_t b = sample_node(&s, "b", 1 * MS, NAN, MB, 0, NULL);
    sample_node(&s, "c", NAN, 1 * MS, 0, 2, (uint32_t[]){ a, b });
    sample_end(&s);
    uint16_t place[] = { 0, 0, 1 };
    sample_near(evaluate(&s, place, NULL).makespan_s, (1 + 2 * 2 + 1) * MS);
    s.platform.units[1].handover_s = 0.5 * MS;
    sample_near(evaluate(&s, place, NULL).makespan_s, (1 + 2 * 2 + 0.5 + 1) * MS);
    s.platform.units[0].cores = 8;      /* so the simulator says it, with ends of copies that are not known before */
    sample_near(evaluate(&s, place, NULL).makespan_s, (1 + 2 * 2 + 0.5 + 1) * MS);
    sample_free(&s);
}

/* Three GPUs, of which the first two are peers by links of 2 and 4 GB/s: the slower counts. */
static void peers_copy_directly(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 3);
    uint32_t a = sample_node(&s, "a", NAN, 1 * MS, MB, 0, NULL);
    uint32_t b = sample_node(&s, "b", NAN, 1 * MS, MB, 0, NULL);
    for (int i = 0; i < 3; i++)
        sample_node(&s, "c", 3 * MS, 1 * MS, 0, 2, (uint32_t[]){ a, b });
    sample_end(&s);
    s.platform.units[1].peer = (struct df_link){ 2e9, 0.5 * MS, 0 };
    s.platform.units[2].peer = (struct df_link){ 4e9, 0.1 * MS, 0 };
    assert_int_equal(df_platform_peers(&s.platform, 1), 1 << 2);
    assert_int_equal(df_platform_peers(&s.platform, 3), 0);
    struct dfp_evaluation e = evaluate(&s, (uint16_t[]){ 1, 1, 2, 2, 2 }, NULL);
    sample_near(e.makespan_s, (1 + 1 + 1 + 3) * MS); /* a 0-1, b 1-2, sent 1-2 and 2-3, then three jobs */
    assert_int_equal(e.peer_copies, 2);
    assert_int_equal(e.peer_bytes, 2 * MB);
    assert_int_equal(e.h2d_copies + e.d2h_copies, 0);
    sample_near(e.cut_s, 2 * MS);
    e = evaluate(&s, (uint16_t[]){ 1, 1, 2, 3, 0 }, NULL);
    sample_near(e.makespan_s, 8 * MS);         /* b is back at 1+2+2 = 5 and runs there to 8; on GPU 3 from 7 to 8 */
    assert_int_equal(e.peer_copies, 2); /* one of them does not go through the host, though the host has it later */
    assert_int_equal(e.d2h_copies, 2);
    assert_int_equal(e.h2d_copies, 2);
    sample_free(&s);
}

static void copies_overlap_work(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    uint32_t a = sample_node(&s, "a", NAN, 3 * MS, MB, 1, &d);
    uint32_t b = sample_node(&s, "b", 4 * MS, NAN, MB, 1, &d);
    sample_node(&s, "c", 1 * MS, NAN, 0, 2, (uint32_t[]){ a, b });
    sample_end(&s);
    struct dfp_evaluation e = evaluate(&s, (uint16_t[]){ 0, 1, 0, 0 }, NULL);
    sample_near(e.makespan_s, 8 * MS);         /* there 0-2, a 2-5, back 5-7, c 7-8; b 0-4 beside it */
    sample_near(e.cut_s, 4 * MS);
    assert_int_equal(e.h2d_copies, 1);
    assert_int_equal(e.d2h_copies, 1);
    assert_int_equal(e.cut_bytes, 2 * MB);
    sample_near(e.busy_s[0], 5 * MS);
    sample_near(e.busy_s[1], 3 * MS);
    sample_free(&s);
}

static void replicas_are_copied_once(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 2, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    for (int i = 0; i < 5; i++)
        sample_node(&s, "reader", 1 * MS, 1 * MS, 0, 2, (uint32_t[]){ d, d });
    sample_end(&s);
    struct dfp_evaluation e = evaluate(&s, (uint16_t[]){ 0, 1, 1, 1, 0, 0 }, NULL);
    assert_int_equal(e.h2d_copies, 1);
    assert_int_equal(e.d2h_copies, 0);
    assert_int_equal(e.h2d_bytes, MB);
    assert_int_equal(e.cut_bytes, MB);
    sample_near(e.makespan_s, 5 * MS);
    sample_free(&s);
}

static void devices_exchange_through_the_host(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 2);
    uint32_t a = sample_node(&s, "a", NAN, 3 * MS, MB, 0, NULL);
    sample_node(&s, "b", NAN, 3 * MS, 0, 1, &a);
    uint32_t host = sample_node(&s, "h", 1 * MS, 1 * MS, 0, 1, &a);
    sample_end(&s);
    uint16_t place[3] = { 1, 2, 0 };
    struct dfp_evaluation e = evaluate(&s, place, NULL);
    sample_near(e.makespan_s, 10 * MS);        /* a 0-3, back 3-5, there 5-7, b 7-10 */
    assert_int_equal(e.d2h_copies, 1);  /* the host's reader and the other device share it */
    assert_int_equal(e.h2d_copies, 1);
    sample_near(e.cut_s, (4 + 2) * MS);
    assert_int_equal(e.cut_bytes, 2 * MB);
    place[host] = 2;
    e = evaluate(&s, place, NULL);
    assert_int_equal(e.d2h_copies + e.h2d_copies, 2);
    sample_near(e.makespan_s, 11 * MS);
    sample_free(&s);
}

static void one_engine_serves_both_directions(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t here = sample_node(&s, "here", 0, NAN, MB, 0, NULL), there = sample_node(&s, "there", NAN, 0, MB, 0, NULL);
    sample_node(&s, "p", 1 * MS, NAN, 0, 1, &there);
    sample_node(&s, "q", NAN, 1 * MS, 0, 1, &here);
    sample_end(&s);
    uint16_t place[4] = { 0, 1, 0, 1 };
    sample_near(evaluate(&s, place, NULL).makespan_s, 3 * MS);
    s.platform.units[1].engines = 1;
    sample_near(evaluate(&s, place, NULL).makespan_s, 5 * MS);
    sample_free(&s);
}

static void copies_in_one_direction_queue(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    for (uint32_t i = 0; i < 4; i++)
        sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    for (uint32_t i = 0; i < 4; i++)
        sample_node(&s, "r", NAN, 1 * MS, 0, 1, &i);
    sample_end(&s);
    sample_near(evaluate(&s, (uint16_t[]){ 0, 0, 0, 0, 1, 1, 1, 1 }, NULL).makespan_s, (4 * 2 + 1) * MS);
    s.platform.units[1].h2d.threshold_bytes = MB;       /* latency alone: 1 ms */
    sample_near(evaluate(&s, (uint16_t[]){ 0, 0, 0, 0, 1, 1, 1, 1 }, NULL).makespan_s, (4 * 1 + 1) * MS);
    sample_free(&s);
}

static void priority_decides(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    sample_node(&s, "a", 1 * MS, NAN, 0, 0, NULL);
    uint32_t b = sample_node(&s, "b", 1 * MS, NAN, MB, 0, NULL);
    sample_node(&s, "c", NAN, 5 * MS, 0, 1, &b);
    sample_end(&s);
    const uint16_t place[3] = { 0, 0, 1 };
    float rank[3];
    dfp_upward_rank(&s.problem, place, rank);
    sample_near((double)rank[0], (double)(float)(1 * MS));
    sample_near((double)rank[1], (double)(float)(1 * MS + 2 * MS + (double)(float)(5 * MS)));
    sample_near(evaluate(&s, place, rank).makespan_s, 8 * MS);
    sample_near(evaluate(&s, place, NULL).makespan_s, 9 * MS); /* ties go by number */
    sample_free(&s);
}

static void threads_hold_workers(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 3, 0);
    s.threads = 2;
    sample_node(&s, "wide", 2 * MS, NAN, 0, 0, NULL);
    sample_node(&s, "wide", 2 * MS, NAN, 0, 0, NULL);
    s.threads = 1;
    sample_node(&s, "narrow", 1 * MS, NAN, 0, 0, NULL);
    s.threads = 8;                      /* more than there are: all of them */
    sample_node(&s, "all", 1 * MS, NAN, 0, 0, NULL);
    sample_end(&s);
    struct dfp_evaluation e = evaluate(&s, (uint16_t[]){ 0, 0, 0, 0 }, NULL);
    sample_near(e.makespan_s, 5 * MS);         /* wide 0-2, wide and narrow 2-4, all 4-5 */
    sample_near(e.busy_s[0], (4 + 4 + 1 + 3) * MS);
    sample_free(&s);
}

static void bad_places_are_refused(void **state)
{
    (void)state;
    struct sample s;
    struct dfp_evaluation evaluation;
    struct df_error e = { "" };
    sample_begin(&s, 1, 1);
    sample_node(&s, "host_only", 1 * MS, NAN, 0, 0, NULL);
    sample_end(&s);
    assert_int_equal(dfp_evaluate(&s.problem, (uint16_t[]){ 1 }, NULL, &evaluation, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, "node 'main/host_only#1' is placed on unit 1 (gpu0), which cannot run it");
    assert_int_equal(dfp_evaluate(&s.problem, (uint16_t[]){ 7 }, NULL, &evaluation, &e), DF_E_ARGUMENT);
    s.platform.units[1].h2d.bytes_per_s = 0;
    assert_int_equal(dfp_evaluate(&s.problem, (uint16_t[]){ 0 }, NULL, &evaluation, &e), DF_E_ARGUMENT);
    sample_free(&s);
}

/* ---- for any graph ---- */

/* The longest way through nodes and transfers, in double. */
static double critical_path_s(const struct sample *s, const uint16_t *place)
{
    const struct df_graph *g = s->graph;
    double *finish = calloc((size_t)g->n_nodes + 1, sizeof *finish), longest = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        double ready = 0;
        for (uint32_t i = 0; i < df_node_n_in(g, v); i++) {
            const struct df_value *value = &g->values[g->in_value[g->nodes[v].first_in + i]];
            const struct df_unit *units = s->platform.units;
            uint32_t from = place[value->producer], to = place[v];
            double arrives = finish[value->producer];
            if (from != to && from)
                arrives += df_link_time_s(&units[from].d2h, value->bytes);
            if (from != to && to)
                arrives += df_link_time_s(&units[to].h2d, value->bytes);
            ready = arrives > ready ? arrives : ready;
        }
        finish[v] = ready + dfp_node_time_s(&s->problem, v, place[v]);
        longest = finish[v] > longest ? finish[v] : longest;
    }
    free(finish);
    return longest;
}

static void count_copies(const struct sample *s, const uint16_t *place, uint32_t *h2d, uint32_t *d2h)
{
    const struct df_graph *g = s->graph;
    *h2d = *d2h = 0;
    for (uint32_t v = 0; v < g->n_values; v++) {
        bool at[DF_MAX_UNITS] = { false };
        uint32_t home = place[g->values[v].producer], others = 0, devices = 0;
        for (uint32_t r = 0; r < g->values[v].n_readers; r++)
            at[place[g->readers[g->values[v].first_reader + r].node]] = true;
        for (uint32_t u = 0; u < s->platform.n_units; u++) {
            others += at[u] && u != home;
            devices += at[u] && u != home && u;
        }
        *d2h += home && others;
        *h2d += devices;
    }
}

static void any_graph_keeps_the_bounds(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct sample s;
        uint32_t random = seed, gpus = seed % 4, h2d, d2h;
        sample_random(&s, seed, 20 + seed * 5, 1 + seed % 5, gpus, false);
        for (uint32_t u = 1; u <= gpus; u++)
            s.platform.units[u].engines = 1 + (seed & 1);
        uint32_t n = s.graph->n_nodes;
        uint16_t *place = calloc(n, sizeof *place);
        float *rank = calloc(n, sizeof *rank);
        for (uint32_t v = 0; v < n; v++)
            do
                place[v] = (uint16_t)(sample_rand(&random) % s.platform.n_units);
            while (isnan(dfp_node_time_s(&s.problem, v, place[v])));
        dfp_upward_rank(&s.problem, place, rank);
        struct dfp_evaluation e = evaluate(&s, place, rank), again = evaluate(&s, place, rank);
        assert_memory_equal(&e, &again, sizeof e);
        double serial_s = 0, tolerance = 1 + 1e-9;
        for (uint32_t u = 0; u < s.platform.n_units; u++) {
            assert_true(e.busy_s[u] <= e.makespan_s * s.platform.units[u].workers * tolerance);
            serial_s += e.busy_s[u];
        }
        assert_true(critical_path_s(&s, place) <= e.makespan_s * tolerance);
        assert_true(e.makespan_s <= (serial_s + e.cut_s) * tolerance);
        count_copies(&s, place, &h2d, &d2h);
        assert_int_equal(e.h2d_copies, h2d);
        assert_int_equal(e.d2h_copies, d2h);
        free(place);
        free(rank);
        sample_free(&s);
    }
}

/* With one worker and no device, the makespan is the sum, whatever the priorities. */
static void one_worker_never_idles(void **state)
{
    (void)state;
    struct sample s;
    sample_random(&s, 5, 300, 1, 0, false);
    uint32_t random = 3;
    uint16_t *place = calloc(s.graph->n_nodes, sizeof *place);
    float *priority = calloc(s.graph->n_nodes, sizeof *priority);
    double sum_s = 0;
    for (uint32_t v = 0; v < s.graph->n_nodes; v++) {
        priority[v] = (float)(sample_rand(&random) % 7);
        sum_s += dfp_node_time_s(&s.problem, v, 0);
    }
    struct dfp_evaluation e = evaluate(&s, place, priority);
    sample_near(e.makespan_s, sum_s);
    sample_near(e.busy_s[0], sum_s);
    free(place);
    free(priority);
    sample_free(&s);
}

static void long_chains_need_no_stack(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 2, 1);
    uint32_t last = sample_node(&s, "init", 0, NAN, 8, 0, NULL), n = 100000;
    for (uint32_t i = 0; i < n; i++)
        last = sample_node(&s, "step", 2e-6, 1e-6, 8, 1, &last);
    sample_end(&s);
    uint16_t *place = calloc((size_t)n + 1, sizeof *place);
    float *rank = calloc((size_t)n + 1, sizeof *rank);
    for (uint32_t v = 1; v <= n; v += 2)
        place[v] = 1;                   /* a copy for every arc */
    dfp_upward_rank(&s.problem, place, rank);
    struct dfp_evaluation e = evaluate(&s, place, rank);
    double copy_s = df_link_time_s(&s.platform.units[1].h2d, 8);
    if (fabs(e.makespan_s - (n * 1.5e-6 + n * copy_s)) > 1e-6 * e.makespan_s)
        fail_msg("%.12g", e.makespan_s);
    for (uint32_t v = 0; v < n; v++)
        assert_true(rank[v] >= rank[v + 1]);
    free(place);
    free(rank);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_is_exact),
        cmocka_unit_test(data_is_handed_over),
        cmocka_unit_test(peers_copy_directly),
        cmocka_unit_test(copies_overlap_work),
        cmocka_unit_test(replicas_are_copied_once),
        cmocka_unit_test(devices_exchange_through_the_host),
        cmocka_unit_test(one_engine_serves_both_directions),
        cmocka_unit_test(copies_in_one_direction_queue),
        cmocka_unit_test(priority_decides),
        cmocka_unit_test(threads_hold_workers),
        cmocka_unit_test(bad_places_are_refused),
        cmocka_unit_test(any_graph_keeps_the_bounds),
        cmocka_unit_test(one_worker_never_idles),
        cmocka_unit_test(long_chains_need_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
