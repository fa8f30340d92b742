/* sample_graph.c - builds the graphs of sample_graph.h. */
#include "sample_graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/policy/policy.h"

void sample_begin(struct sample *s, uint32_t workers, uint32_t gpus)
{
    *s = (struct sample){ .hint = -1 };
    s->builder = df_builder_new("sample");
    assert_non_null(s->builder);
    struct df_platform *p = &s->platform;
    p->n_units = gpus + 1;
    p->n_classes = 2;
    snprintf(p->name, sizeof p->name, "study");
    snprintf(p->class_names[0], sizeof p->class_names[0], "cpu");
    snprintf(p->class_names[1], sizeof p->class_names[1], "gpu");
    p->units[0] = (struct df_unit){ .name = "host", .workers = workers };
    for (uint32_t u = 1; u <= gpus; u++) {
        struct df_link link = { 1e9, 1e-3, 0 };
        p->units[u] = (struct df_unit){ .cls = 1, .workers = 1, .engines = 2, .h2d = link, .d2h = link };
        snprintf(p->units[u].name, sizeof p->units[u].name, "gpu%u", (unsigned)(u - 1));
    }
}

uint32_t sample_node(struct sample *s, const char *name, double cpu_s, double gpu_s, uint64_t out_bytes, unsigned n_in,
                     const uint32_t *from)
{
    enum { MAX_PORTS = 68 };
    char names[MAX_PORTS][16];
    struct df_port_desc ports[MAX_PORTS];
    uint64_t dims[MAX_PORTS][DF_MAX_RANK] = { { 0 } };
    unsigned n = 0;
    assert_true(n_in <= 64);
    for (unsigned i = 0; i < n_in; i++) {
        dims[n][0] = s->out_bytes[from[i]];
        ports[n++] = (struct df_port_desc){ NULL, s->inout && i == 0 ? DF_INOUT : DF_IN, DF_U8, 1 };
    }
    bool own_output = out_bytes && !s->inout;
    if (own_output) {
        dims[n][0] = out_bytes;
        ports[n++] = (struct df_port_desc){ NULL, DF_OUT, DF_U8, 1 };
    }
    if (s->tmp_bytes) {
        dims[n][0] = s->tmp_bytes;
        ports[n++] = (struct df_port_desc){ NULL, DF_TMP, DF_U8, 1 };
    }
    for (unsigned i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "p%u", i);
        ports[i].name = names[i];
    }
    struct df_error e = { "" };
    uint32_t kernel, node;
    struct df_kernel_desc desc = { .name = name, .n_ports = n, .ports = ports, .traits = s->traits };
    assert_int_equal(df_builder_kernel(s->builder, &desc, &kernel, &e), DF_OK);
    double cost_s[2] = { cpu_s, gpu_s };
    struct df_node_desc node_desc = { .kernel = kernel, .port_dims = (const uint64_t(*)[DF_MAX_RANK])dims,
                                      .threads = s->threads, .cost_s = cost_s, .n_cost = 2, .scope = s->scope,
                                      .ordinal = s->n_nodes + 1, .hint_class = s->hint,
                                      .depth = s->depth };
    assert_int_equal(df_builder_node_desc(s->builder, &node_desc, &node, &e), DF_OK);
    assert_int_equal(node, s->n_nodes);
    for (unsigned i = 0; i < n_in; i++)
        assert_int_equal(df_builder_connect(s->builder, from[i], 0, node, i, &e), DF_OK);
    if (!(s->n_nodes & (s->n_nodes - 1))) {
        s->out_bytes = realloc(s->out_bytes, ((size_t)2 * s->n_nodes + 1) * sizeof *s->out_bytes);
        assert_non_null(s->out_bytes);
    }
    s->out_bytes[s->n_nodes++] = s->inout ? s->out_bytes[from[0]] : out_bytes;
    return node;
}

void sample_end(struct sample *s)
{
    struct df_error e = { "" };
    if (df_builder_finish(s->builder, &s->graph, &e) != DF_OK ||
        dfr_times_default(s->graph, false, &s->times, &e) != DF_OK)
        fail_msg("%s", e.text);
    if (!df_graph_check(s->graph, &e))
        fail_msg("%s", e.text);
    s->problem = (struct dfp_problem){ s->graph, &s->platform, &s->times, 0 };
}

void sample_free(struct sample *s)
{
    df_graph_free(s->graph);
    df_builder_free(s->builder);
    dfr_times_free(&s->times);
    free(s->out_bytes);
}

uint32_t sample_rand(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

void sample_random(struct sample *s, uint32_t seed, uint32_t n, uint32_t workers, uint32_t gpus, bool uniform)
{
    uint32_t state = seed * 7919 + 1;
    sample_begin(s, workers, gpus);
    for (uint32_t i = 0; i < 4; i++)
        sample_node(s, "init", 0, NAN, 1000 * (1 + sample_rand(&state) % 1000), 0, NULL);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from[3], n_in = 1 + sample_rand(&state) % 3;
        for (uint32_t k = 0; k < n_in; k++) {
            uint32_t window = s->n_nodes < 30 ? s->n_nodes : 30;
            from[k] = s->n_nodes - 1 - sample_rand(&state) % window;
        }
        double cpu_s = uniform ? 3 * SAMPLE_MS : (1 + sample_rand(&state) % 1000) * 1e-5;
        double gpu_s = uniform ? 1 * SAMPLE_MS : cpu_s / (1 + sample_rand(&state) % 20);
        uint32_t kind = uniform ? 9 : sample_rand(&state) % 10;
        s->hint = kind == 2 ? DF_CLASS_CPU : kind == 3 && gpus ? DF_CLASS_GPU : -1;
        sample_node(s, "work", kind == 0 && gpus ? NAN : cpu_s, kind == 1 ? NAN : gpu_s,
                    uniform ? SAMPLE_MB / 100 : 1000 * (1 + sample_rand(&state) % 1000), n_in, from);
        s->hint = -1;
    }
    uint32_t last = s->n_nodes - 1;
    sample_node(s, "fetch", 0, NAN, 0, 1, &last);
    sample_end(s);
}

void sample_peers(struct sample *s, uint32_t seed)
{
    if (seed / 4 % 2 == 0 || s->platform.n_units < 3)
        return;
    for (uint32_t u = 1; u < s->platform.n_units; u++)
        if (u != 2 || s->platform.n_units < 4 || seed % 5)
            s->platform.units[u].peer = (struct df_link){ 1e9 * (1 + (seed + u) % 6), (seed % 3) * 2e-4,
                                                          seed % 9 == 0 ? SAMPLE_MB : 0 };
}

struct df_plan *sample_plan(const struct sample *s, const char *policy)
{
    struct dfp_options options;
    struct df_plan *plan = NULL;
    struct df_error e = { "" };
    if (!dfr_policy_find(policy, NULL)->needs_plan)
        return NULL;
    dfp_options_default(&options);
    options.budget = 50;
    if (dfp_plan_make(&s->problem, policy, &options, &plan, &e) != DF_OK)
        fail_msg("%s: %s", policy, e.text);
    return plan;
}

void sample_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-12 + 1e-9 * fabs(expected))
        fail_msg("%.12g where %.12g is expected", value, expected);
}
