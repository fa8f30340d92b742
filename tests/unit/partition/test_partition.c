/* test_partition.c - placements and plans, by what must hold for them: METIS's exact cut is its own affair. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "partition/draw/draw.h"
#include "partition/cut/metis_call.h"
#include "sample_graph.h"
#include "long.h"

#define MS SAMPLE_MS
#define MB SAMPLE_MB

static uint16_t *partition(const struct sample *s, const char *name, const struct dfp_options *options)
{
    struct df_error e = { "" };
    const struct dfp_partitioner *partitioner = dfp_partitioner_find(name);
    uint16_t *place = calloc((size_t)s->graph->n_nodes + 1, sizeof *place);
    assert_non_null(partitioner);
    assert_non_null(place);
    if (partitioner->run(&s->problem, options, place, &e) != DF_OK)
        fail_msg("%s: %s", name, e.text);
    return place;
}

static struct df_plan *make_plan(const struct sample *s, const char *policy)
{
    struct df_error e = { "" };
    struct df_plan *plan = NULL;
    if (dfp_planner.make(s->graph, &s->platform, &s->times, policy, &plan, &e) != DF_OK)
        fail_msg("%s: %s", policy, e.text);
    return plan;
}

/* ---- any graph, any partitioner, any option ---- */

static void check_places(const struct sample *s, const uint16_t *place)
{
    for (uint32_t v = 0; v < s->graph->n_nodes; v++) {
        const struct df_node *node = &s->graph->nodes[v];
        assert_true(place[v] < s->platform.n_units);
        assert_false(isnan(dfp_node_time_s(&s->problem, v, place[v])));
        if (node->hint_class >= 0 && !isnan(s->times.time_s[(size_t)node->hint_class * s->times.n_works + node->work]))
            assert_int_equal(s->platform.units[place[v]].cls, node->hint_class);
    }
}

static void places_are_possible_and_repeatable(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(25u, 7u); seed++) {
        struct sample s;
        sample_random(&s, seed, 2 * seed * seed, 1 + seed % 4, seed % 4, false);
        for (unsigned mix = 0; mix < 4; mix++) {
            struct dfp_options options;
            dfp_options_default(&options);
            options.ratio = mix & 1 ? DFP_RATIO_PER_WORKER : DFP_RATIO_TOTAL;
            options.vertex_weight = mix & 2 ? DFP_WEIGHT_CPU : DFP_WEIGHT_GPU;
            options.objective = mix == 3 && seed < 16 ? DFP_THROUGHPUT : DFP_LATENCY;
            options.seed = seed;
            options.budget = 50;
            for (size_t p = 0; dfp_partitioners[p]; p++) {
                uint16_t *place = partition(&s, dfp_partitioners[p]->name, &options);
                options.threads = 2;
                uint16_t *again = partition(&s, dfp_partitioners[p]->name, &options);
                options.threads = 0;
                check_places(&s, place);
                assert_memory_equal(place, again, s.graph->n_nodes * sizeof *place);
                free(place);
                free(again);
            }
        }
        sample_free(&s);
    }
}

/* The share of the weight on the host is the published ratio, to METIS's tolerance and the grain of the nodes. */
static void uniform_graphs_are_balanced(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 10; seed++)
        for (uint32_t workers = 1; workers <= 4; workers++) {
            struct sample s;
            struct dfp_options options;
            dfp_options_default(&options);
            options.ratio = workers > 1 ? DFP_RATIO_PER_WORKER : DFP_RATIO_TOTAL;
            sample_random(&s, seed, 400, workers, 1, true);
            uint16_t *place = partition(&s, "gp-thesis", &options);
            uint32_t on_host = 0;
            for (uint32_t v = 4; v < 404; v++)
                on_host += place[v] == 0;
            double share = 1.0 / (1 + 3.0 / workers), got = on_host / 400.0;
            if (share < 0.45 || share > 0.55 ? fabs(got - share) > 0.03
                                             : fabs(fabs(got - 0.5) - fabs(share - 0.5)) > 0.03)
                fail_msg("seed %u, %u workers: %g of the nodes are on the host, the ratio says %g", (unsigned)seed,
                         (unsigned)workers, got, share);
            free(place);
            sample_free(&s);
        }
}

static void several_gpus_share(void **state)
{
    (void)state;
    struct sample s;
    struct dfp_options options;
    dfp_options_default(&options);
    sample_random(&s, 3, 600, 1, 3, true);
    uint16_t *place = partition(&s, "gp-thesis", &options);
    uint32_t nodes[4] = { 0 };
    for (uint32_t v = 4; v < 604; v++)
        nodes[place[v]]++;
    for (int u = 0; u < 4; u++)         /* the host gets 1/(1+3), each GPU a third of the rest */
        if (abs((int)nodes[u] - 150) > 20)
            fail_msg("unit %d has %u of 600 nodes", u, (unsigned)nodes[u]);
    free(place);
    sample_free(&s);
}

/* Two clusters with heavy arcs inside and one light arc between: there the cut has to be. */
static void the_cut_is_where_little_is_sent(void **state)
{
    (void)state;
    struct sample s;
    struct dfp_options options;
    dfp_options_default(&options);
    sample_begin(&s, 1, 1);
    uint32_t nodes[40], state_of_random = 9;
    for (uint32_t i = 0; i < 40; i++) {
        bool first = i % 20 == 0, thin = i == 19;
        uint32_t from[3] = { i ? nodes[i - 1] : 0, 0, 0 }, n_in = i ? 1 : 0;
        for (; !first && i % 20 > 2 && n_in < 3; n_in++) /* back into its own cluster */
            from[n_in] = nodes[i - 1 - sample_rand(&state_of_random) % (i % 20 - 1)];
        nodes[i] = sample_node(&s, "work", 1 * MS, 1 * MS, thin ? 8 : 50 * MB, n_in, from);
    }
    sample_end(&s);
    uint16_t *place = partition(&s, "gp-thesis", &options);
    for (int i = 1; i < 20; i++) {
        assert_int_equal(place[i], place[0]);
        assert_int_equal(place[20 + i], place[20]);
    }
    assert_int_not_equal(place[0], place[20]);
    free(place);
    sample_free(&s);
}

/* ---- nodes that have no choice ---- */

static void hints_and_variants_are_obeyed(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 2, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    sample_node(&s, "cpu_only", 1 * MS, NAN, 0, 1, &d);
    sample_node(&s, "gpu_only", NAN, 1 * MS, 0, 1, &d);
    s.hint = DF_CLASS_CPU;
    sample_node(&s, "at_cpu", 9 * MS, 1 * MS, 0, 1, &d);
    s.hint = DF_CLASS_GPU;
    sample_node(&s, "at_gpu", 1 * MS, 9 * MS, 0, 1, &d);
    sample_node(&s, "at_gpu_without", 1 * MS, NAN, 0, 1, &d); /* no gpu variant: the hint cannot bind */
    s.hint = -1;
    sample_node(&s, "free", 2 * MS, 1 * MS, 0, 1, &d);
    sample_end(&s);
    static const char *const names[] = { "gp-thesis", "all-cpu", "all-gpu" };
    for (int i = 0; i < 3; i++) {
        struct dfp_options options;
        dfp_options_default(&options);
        uint16_t *place = partition(&s, names[i], &options);
        static const uint16_t fixed[] = { 0, 0, 1, 0, 1, 0 };
        assert_memory_equal(place, fixed, sizeof fixed);
        if (i)
            assert_int_equal(place[6], i == 2);
        free(place);
    }
    assert_true(isnan(dfp_node_time_s(&s.problem, 3, 1)));
    assert_true(isnan(dfp_node_time_s(&s.problem, 0, 9)));
    s.platform.n_units = 1;             /* no GPU: @gpu nodes with a cpu variant run on the CPU */
    assert_float_equal(dfp_node_time_s(&s.problem, 4, 0), 1 * MS, 1e-12);
    sample_free(&s);
}

static void free_nodes_follow_their_neighbours(void **state)
{
    (void)state;
    struct sample s;
    struct dfp_options options;
    dfp_options_default(&options);
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, 0, MB, 0, NULL);
    s.hint = DF_CLASS_GPU;
    uint32_t a = sample_node(&s, "a", 1 * MS, 1 * MS, MB, 1, &d);
    s.hint = -1;
    sample_node(&s, "fetch", 0, NAN, 0, 1, &a);
    sample_end(&s);
    uint16_t *place = partition(&s, "gp-thesis", &options);
    assert_int_equal(place[d], 1);
    assert_int_equal(place[a], 1);
    assert_int_equal(place[2], 0);
    free(place);
    sample_free(&s);
}

static void what_fits_nowhere_is_refused(void **state)
{
    (void)state;
    struct sample s;
    struct df_error e = { "" };
    struct df_plan *plan;
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, 8192, 0, NULL);
    sample_node(&s, "either", 1 * MS, 1 * MS, 4096, 1, &d);
    sample_node(&s, "big", NAN, 1 * MS, 4097, 1, &d); /* 8192 + 2 pages */
    sample_end(&s);
    s.platform.units[1].memory_bytes = 16384;
    for (size_t p = 0; dfp_partitioners[p]; p++)
        dfr_plan_free(make_plan(&s, dfp_partitioners[p]->name));
    s.platform.units[1].memory_bytes = 16383;
    for (size_t p = 0; dfp_partitioners[p]; p++) {
        assert_int_equal(dfp_planner.make(s.graph, &s.platform, &s.times, dfp_partitioners[p]->name, &plan, &e),
                         DF_E_REFUSED);
        assert_string_equal(e.text,
                            "node 'main/big#3' fits nowhere: one job of it needs 16384 bytes, 'gpu0' has 16383, "
                            "and it has no cpu variant");
    }
    s.platform.n_units = 1;
    assert_int_equal(dfp_planner.make(s.graph, &s.platform, &s.times, "all-cpu", &plan, &e), DF_E_REFUSED);
    assert_string_equal(e.text, "node 'main/big#3' can run on no unit of platform 'study'");
    assert_int_equal(dfp_planner.make(s.graph, &s.platform, &s.times, "magic", &plan, &e), DF_E_ARGUMENT);
    assert_string_equal(
        e.text,
        "'magic' is not a policy that places nodes before the run; these are gp, gp-thesis, heft, peft, all-cpu, all-gpu");
    sample_free(&s);
}

static void tiny_graphs_need_no_metis(void **state)
{
    (void)state;
    for (uint32_t n = 0; n <= 3; n++)
        for (uint32_t gpus = 0; gpus <= 3; gpus++) {
            struct sample s;
            sample_begin(&s, 1, gpus);
            sample_node(&s, "init", 0, NAN, 8, 0, NULL);
            for (uint32_t i = 0; i < n; i++)
                sample_node(&s, "work", 2 * MS, 1 * MS, 8, 1, &i);
            sample_end(&s);
            struct df_plan *plan = make_plan(&s, "gp-thesis");
            check_places(&s, plan->place);
            assert_true(plan->best_single_s <= plan->n_nodes * 2 * MS + 1e-12);
            dfr_plan_free(plan);
            sample_free(&s);
        }
}

/* A share needs times on both sides. Nodes that take none on the device stay on the host, one as well as several. */
static void without_a_ratio_all_stay_on_the_host(void **state)
{
    struct dfp_options options;
    (void)state;
    dfp_options_default(&options);
    for (uint32_t n = 1; n <= 3; n++) {
        struct sample s;
        sample_begin(&s, 1, 1);
        for (uint32_t i = 0; i < n; i++)
            sample_node(&s, "work", 2 * MS, 0, 8, 0, NULL);
        sample_end(&s);
        uint16_t *place = partition(&s, "gp-thesis", &options);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(place[i], 0);
        free(place);
        sample_free(&s);
    }
}

/* ---- METIS as a guest ---- */

/* Many parts of vertices that weigh 1 to 1000: METIS has no reason to print. */
static void metis_prints_nothing(void **state)
{
    (void)state;
    FILE *kept = tmpfile();
    int out = dup(STDOUT_FILENO);
    assert_true(kept && out >= 0 && fflush(stdout) == 0 && dup2(fileno(kept), STDOUT_FILENO) >= 0);
    int code = DF_OK;
    for (uint32_t seed = 1; seed <= IN_LONG(60u, 30u); seed++) {
        struct sample s;
        struct dfp_model model;
        struct dfp_metis_graph graph;
        uint32_t random = seed, n = 12 + seed * 3;
        sample_begin(&s, 2, 1);
        for (uint32_t v = 0; v < n; v++) {
            uint32_t from = v ? v - 1 - sample_rand(&random) % (v < 4 ? v : 4) : 0, kind = sample_rand(&random) % 16;
            double time_s = (kind < seed % 4 ? 1000 : kind < 6 ? 30 : 1) * SAMPLE_MS;
            sample_node(&s, "work", time_s, time_s, SAMPLE_MB, v && seed % 3, &from);
        }
        sample_end(&s);
        code |= dfp_model_init(&model, &s.problem, NULL);
        code |= dfp_metis_graph_make(&model, DFP_WEIGHT_GPU, DFP_EDGES_HOST, &graph, NULL);
        int32_t *part = calloc(n + 1, sizeof *part);
        for (uint32_t parts = 2; parts <= n / 2 && !code; parts += 1 + parts / 4)
            for (int kway = 0; kway < 2; kway++) {
                const struct dfp_metis_cut cut = { .n_parts = parts, .n_weights = 1, .seed = seed, .kway = kway };
                code |= dfp_metis_call(&graph, &cut, part, NULL);
            }
        free(part);
        dfp_metis_graph_free(&graph);
        sample_free(&s);
    }
    fflush(stdout);
    long printed = lseek(STDOUT_FILENO, 0, SEEK_END);
    dup2(out, STDOUT_FILENO);
    close(out);
    fclose(kept);
    assert_int_equal(code, DF_OK);
    assert_int_equal(printed, 0);
}

/* Two parts are cut by the true weights: a node that weighs more than all others together is alone in its part. */
static void a_heavy_node_is_alone_in_its_half(void **state)
{
    enum { N = 12 };
    struct sample s;
    struct dfp_model model;
    struct dfp_metis_graph graph;
    int32_t part[N];
    const struct dfp_metis_cut cut = { .n_parts = 2, .n_weights = 1, .seed = 1 };
    (void)state;
    sample_begin(&s, 2, 1);
    for (uint32_t v = 0; v < N; v++) {
        uint32_t from = v - 1;
        sample_node(&s, "work", 1 * MS, (v ? 10 : 1000) * MS, SAMPLE_MB, v > 0, &from);
    }
    sample_end(&s);
    assert_int_equal(dfp_model_init(&model, &s.problem, NULL), DF_OK);
    assert_int_equal(dfp_metis_graph_make(&model, DFP_WEIGHT_GPU, DFP_EDGES_HOST, &graph, NULL), DF_OK);
    assert_int_equal(dfp_metis_call(&graph, &cut, part, NULL), DF_OK);
    for (int32_t v = 1; v < N; v++)
        assert_int_not_equal(part[v], part[0]);
    dfp_metis_graph_free(&graph);
    sample_free(&s);
}

static void the_callers_random_numbers_are_untouched(void **state)
{
    (void)state;
    struct sample s;
    struct dfp_options options;
    dfp_options_default(&options);
    sample_random(&s, 2, 200, 2, 1, false);
    int expected[4], got[4];
    srand(77);
    for (int i = 0; i < 4; i++)
        expected[i] = rand();
    srand(77);
    for (int i = 0; i < 4; i++) {
        got[i] = rand();
        free(partition(&s, "gp-thesis", &options));
    }
    assert_memory_equal(got, expected, sizeof got);
    sample_free(&s);
}

struct together {
    const struct sample *sample;
    uint16_t *place;
};

static void *partition_in_thread(void *arg)
{
    struct together *t = arg;
    struct dfp_options options;
    dfp_options_default(&options);
    if (dfp_partitioner_find("gp-thesis")->run(&t->sample->problem, &options, t->place, NULL) != DF_OK)
        return NULL;
    return t;
}

static void threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct sample s;
    struct dfp_options options;
    dfp_options_default(&options);
    sample_random(&s, 4, 2000, 2, 1, false);
    uint16_t *alone = partition(&s, "gp-thesis", &options);
    struct together t[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        t[i] = (struct together){ &s, calloc(s.graph->n_nodes, sizeof(uint16_t)) };
        assert_int_equal(pthread_create(&threads[i], NULL, partition_in_thread, &t[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_non_null(result);
        assert_memory_equal(t[i].place, alone, s.graph->n_nodes * sizeof *alone);
        free(t[i].place);
    }
    free(alone);
    sample_free(&s);
}

/* ---- METIS's file format ---- */

static void metis_text_reads_back(void **state)
{
    (void)state;
    struct sample s;
    struct df_error e = { "" };
    struct dfp_options options;
    char *text;
    size_t size;
    dfp_options_default(&options);
    sample_random(&s, 6, 150, 2, 1, false);
    assert_int_equal(dfp_metis_text(&s.problem, &options, &text, &size, &e), DF_OK);
    assert_int_equal(strlen(text), size);
    char *line = text;
    while (*line == '%')
        line = strchr(line, '\n') + 1;
    unsigned n, m, format, stood = 0, heaviest = 0;
    assert_int_equal(sscanf(line, "%u %u %u", &n, &m, &format), 3);
    assert_int_equal(n, 150);
    assert_int_equal(format, 11);
    unsigned *weight = calloc((size_t)n * n, sizeof *weight);
    line = strchr(line, '\n') + 1;
    for (unsigned v = 0; v < n; v++) {
        char *end = strchr(line, '\n'), *at = line;
        unsigned vertex_weight = (unsigned)strtoul(at, &at, 10);
        assert_in_range(vertex_weight, 1, 1000);
        heaviest = vertex_weight > heaviest ? vertex_weight : heaviest;
        while (at < end) {
            unsigned w = (unsigned)strtoul(at, &at, 10), edge = (unsigned)strtoul(at, &at, 10);
            assert_in_range(w, 1, n);
            assert_int_not_equal(w, v + 1);
            assert_in_range(edge, 1, 1000);
            assert_int_equal(weight[v * n + w - 1], 0); /* parallel arcs are one edge */
            weight[v * n + w - 1] = edge;
            stood++;
        }
        line = end + 1;
    }
    assert_int_equal(*line, '\0');
    assert_int_equal(heaviest, 1000);
    assert_int_equal(stood, 2 * m);
    for (unsigned v = 0; v < n; v++)
        for (unsigned w = 0; w < v; w++)
            assert_int_equal(weight[v * n + w], weight[w * n + v]);
    unsigned arcs = 0;                  /* every edge is an arc of the graph: as many pairs as there */
    for (uint32_t v = 4; v < 154; v++)
        for (uint32_t w = v + 1; w < 154; w++) {
            bool joined = false;
            for (uint32_t i = 0; i < df_node_n_in(s.graph, w); i++)
                joined |= s.graph->values[s.graph->in_value[s.graph->nodes[w].first_in + i]].producer == v;
            assert_int_equal(joined, weight[(w - 4) * n + v - 4] != 0);
            arcs += joined;
        }
    assert_int_equal(arcs, m);
    free(weight);
    free(text);
    sample_free(&s);
}

/* ---- plans ---- */

static void plans_know_their_memory(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 2, 1);
    s.platform.units[1].jobs = 2;
    uint32_t d = sample_node(&s, "d", 0, NAN, 10000, 0, NULL);      /* 3 pages */
    s.hint = DF_CLASS_GPU;
    s.tmp_bytes = 5000;                                             /* 2 pages */
    uint32_t a = sample_node(&s, "a", NAN, 1 * MS, 100, 2, (uint32_t[]){ d, d }); /* 1 page */
    s.tmp_bytes = 0;
    s.inout = true;
    uint32_t b = sample_node(&s, "b", NAN, 1 * MS, 0, 1, &a);       /* the same page */
    s.inout = false;
    s.hint = -1;
    sample_node(&s, "c", 1 * MS, NAN, 0, 1, &b);                    /* 1 page on the host */
    sample_end(&s);
    struct df_plan *plan = make_plan(&s, "all-cpu");
    assert_int_equal(plan->pool_bytes[1], (3 + 1 + 2 * 2) * 4096);
    assert_int_equal(plan->largest_job_bytes[1], (3 + 2 + 1) * 4096);
    assert_int_equal(plan->pool_bytes[0], 10048 + 128); /* lines */
    assert_int_equal(plan->memory[1].wave_bytes, (3 + 1) * 4096);
    assert_int_equal(plan->memory[1].wave_bound_bytes, (3 + 1) * 4096);
    assert_int_equal(plan->memory[1].scratch_bytes, 2 * 2 * 4096);
    assert_int_equal(dfr_need_bytes(&plan->memory[1], 3), (3 * (3 + 1) + 2 * 2) * 4096);
    assert_int_equal(dfr_need_bytes(&plan->memory[1], UINT64_MAX / 4096), UINT64_MAX);
    assert_int_equal(plan->layout.any_line[1], plan->layout.any_line[2]); /* inout */
    assert_int_equal(plan->layout.sequence_line[1], 157);
    assert_string_equal(plan->policy, "all-cpu");
    assert_int_equal(plan->n_nodes, 4);
    assert_ptr_not_equal(plan->times.time_s, s.times.time_s);
    assert_memory_equal(plan->times.source, s.times.source, s.times.n_classes * s.times.n_works);
    dfr_plan_free(plan);
    sample_free(&s);
}

/* Four jobs at once, each with a quarter of all that can be addressed: that has no number, and fits nowhere. */
static void plans_count_scratch_without_end(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 4, 1);
    s.platform.units[1].jobs = 4;
    s.tmp_bytes = UINT64_C(1) << 62;
    sample_node(&s, "a", 1 * MS, 1 * MS, 100, 0, NULL);
    sample_end(&s);
    s.platform.units[1].memory_bytes = UINT64_C(1) << 63;
    for (uint32_t unit = 0; unit <= 1; unit++) {
        struct df_plan *plan = make_plan(&s, unit ? "all-gpu" : "all-cpu");
        assert_int_equal(plan->place[0], unit);
        assert_true(plan->memory[unit].scratch_bytes == UINT64_MAX);
        assert_true(plan->pool_bytes[unit] == UINT64_MAX);
        assert_int_equal(dfr_need_waves(&plan->memory[unit], UINT64_C(1) << 63, 4), 0);
        dfr_plan_free(plan);
    }
    sample_free(&s);
}

static void plans_say_when_one_unit_is_faster(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 4, 2);
    uint32_t last = sample_node(&s, "init", 0, NAN, MB, 0, NULL);
    for (int i = 0; i < 10; i++)
        last = sample_node(&s, "step", 50 * MS, 1 * MS, MB, 1, &last);
    sample_end(&s);
    struct df_plan *plan = make_plan(&s, "all-cpu");
    assert_float_equal(plan->predicted_s, 500 * MS, 1e-9);
    assert_float_equal(plan->best_single_s, 12 * MS, 1e-9);
    assert_int_equal(plan->best_single_unit, 1);
    for (uint32_t v = 0; v + 1 < plan->n_nodes; v++)
        assert_true(plan->priority[v] >= plan->priority[v + 1]);
    dfr_plan_free(plan);
    plan = make_plan(&s, "all-gpu");
    assert_float_equal(plan->predicted_s, 12 * MS, 1e-9);
    for (uint32_t v = 1; v < plan->n_nodes; v++)
        assert_int_equal(plan->place[v], 1);
    dfr_plan_free(plan);
    sample_free(&s);
}

/* Classes past cpu and gpu are known by name: graph and platform may count them differently. */
static void other_classes_are_matched_by_name(void **state)
{
    (void)state;
    struct sample s;
    uint32_t cls;
    sample_begin(&s, 1, 2);
    assert_int_equal(df_builder_class(s.builder, "fpga", &cls, NULL), DF_OK);
    assert_int_equal(df_builder_class(s.builder, "npu", &cls, NULL), DF_OK);
    const struct df_kernel_desc desc = { .name = "k" };
    const double cost_s[4] = { 4 * MS, NAN, NAN, 1 * MS };
    uint32_t kernel, node;
    assert_int_equal(df_builder_kernel(s.builder, &desc, &kernel, NULL), DF_OK);
    const struct df_node_desc node_desc = { .kernel = kernel, .cost_s = cost_s, .n_cost = 4, .hint_class = -1 };
    assert_int_equal(df_builder_node_desc(s.builder, &node_desc, &node, NULL), DF_OK);
    sample_end(&s);
    s.platform.n_classes = 3;
    snprintf(s.platform.class_names[2], sizeof s.platform.class_names[2], "npu");
    s.platform.units[2].cls = 2;
    assert_true(isnan(dfp_node_time_s(&s.problem, 0, 1)));
    assert_float_equal(dfp_node_time_s(&s.problem, 0, 2), 1 * MS, 1e-12);
    struct df_plan *plan = make_plan(&s, "all-gpu");
    assert_int_equal(plan->place[0], 2);
    dfr_plan_free(plan);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_possible_and_repeatable),
        cmocka_unit_test(uniform_graphs_are_balanced),
        cmocka_unit_test(several_gpus_share),
        cmocka_unit_test(the_cut_is_where_little_is_sent),
        cmocka_unit_test(hints_and_variants_are_obeyed),
        cmocka_unit_test(free_nodes_follow_their_neighbours),
        cmocka_unit_test(what_fits_nowhere_is_refused),
        cmocka_unit_test(tiny_graphs_need_no_metis),
        cmocka_unit_test(without_a_ratio_all_stay_on_the_host),
        cmocka_unit_test(metis_prints_nothing),
        cmocka_unit_test(a_heavy_node_is_alone_in_its_half),
        cmocka_unit_test(the_callers_random_numbers_are_untouched),
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(metis_text_reads_back),
        cmocka_unit_test(plans_know_their_memory),
        cmocka_unit_test(plans_count_scratch_without_end),
        cmocka_unit_test(plans_say_when_one_unit_is_faster),
        cmocka_unit_test(other_classes_are_matched_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
