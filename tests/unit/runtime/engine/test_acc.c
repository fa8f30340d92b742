/* test_acc.c - accs and final nodes: random graphs under every policy, with little memory and much, held against the graphs
 * computed one node after the other; streams that end, calls of a session, no waves; and what the builder refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "long.h"
#include "partition/partition.h"
#include "run_rig.h"
#include "runtime/graph/graph.h"
#include "runtime/policy/policy.h"

#define PAGE UINT64_C(4096)

/* ---- random graphs ---- */

/* Two GPUs, which send to each other directly. */
static const struct df_platform *two_gpus(void)
{
    static struct df_platform p;
    const struct df_link link = { 1e10, 1e-6, 0 };

    p = (struct df_platform){ .n_units = 3, .n_classes = 2, .name = "two", .class_names = { "cpu", "gpu" },
                              .units = { { .name = "host", .workers = 2 } } };
    for (unsigned u = 1; u <= 2; u++) {
        p.units[u] = (struct df_unit){ .cls = 1, .workers = 1, .engines = 2, .h2d = link, .d2h = link, .peer = link };
        snprintf(p.units[u].name, sizeof p.units[u].name, "gpu%u", u - 1);
    }
    return &p;
}

static void random_options(struct df_options *o, uint32_t *x, uint64_t elements)
{
    o->planner = &dfp_planner;
    o->device = rig_rand(x) % 4 ? DF_DEVICE_EMU : DF_DEVICE_NONE;
    o->workers = 1 + rig_rand(x) % 3;
    o->inflight = 1 + rig_rand(x) % 8;
    o->cuda_graphs = (int)(rig_rand(x) % 3);
    if (rig_rand(x) % 3 == 0)
        o->platform = two_gpus();
    if (rig_rand(x) % 2)                /* enough for one job: five tokens at most */
        o->gpu_mem_bytes = 5 * ((elements * 8 + PAGE - 1) / PAGE) * PAGE;
}

static void test_random_graphs(void **state)
{
    unsigned first = 1, last = IN_LONG(14u, 5u);
    (void)state;
    rig_seeds(&first, &last);
    rig_accs = true;
    for (unsigned seed = first; seed <= last; seed++) {
        uint32_t x = seed * 6151;
        uint64_t elements = 1 + seed * 337 % 1500;
        int64_t waves = 1 + seed % 9;
        struct rig r;
        rig_skips = seed % 4 == 1;
        rig_random(&r, seed, 8 + seed * 3, elements, seed % 3 == 0 ? waves : 0);
        assert_true(r.finals);
        rig_expect(&r, waves);
        for (const char *const *name = dfr_policy_names(); *name; name++) {
            struct df_options o = rig_options(*name, DF_DEVICE_NONE, 1);
            random_options(&o, &x, elements);
            o.waves = seed % 3 == 0 ? -1 : waves;
            rig_check(&r, &o, waves);
        }
        rig_free(&r);
    }
    rig_accs = rig_skips = false;
}

/* One job at a time, and the loop that calls one kernel after the other. */
static void test_other_loops(void **state)
{
    (void)state;
    rig_accs = true;
    for (unsigned seed = 1; seed <= 10; seed++) {
        struct rig r;
        struct df_options o = rig_options(NULL, seed % 2 ? DF_DEVICE_NONE : DF_DEVICE_EMU, 1);
        rig_random(&r, seed, 20, 50, seed % 2 ? 5 : 0);
        rig_expect(&r, 5);
        o.waves = seed % 2 ? -1 : 5;
        rig_check(&r, &o, 5);
        o.device = DF_DEVICE_NONE;
        o.workers = 1 + seed % 3;
        rig_check(&r, &o, 5);
        o.poison = 1;                   /* tokens are blocks then */
        rig_check(&r, &o, 5);
        o.serial = 1;
        rig_check(&r, &o, 5);
        rig_free(&r);
    }
    rig_accs = false;
}

/* ---- sessions ---- */

/* Each call begins with the first value, and ends with the final nodes. */
static void test_calls(void **state)
{
    struct df_error error = { "" };

    (void)state;
    rig_accs = true;
    for (unsigned way = 0; way < 6; way++) {
        struct df_options o = rig_options(way % 3 == 2 ? "dmda" : NULL, way % 3 == 2 ? DF_DEVICE_EMU : DF_DEVICE_NONE,
                                          1 + way % 3);
        struct df_session *session;
        struct rig r;
        rig_random(&r, 3 + way, 20, 40, 0);
        o.waves = 8;
        o.inflight = 1 + way % 4;
        if (df_session_open(r.graph, &o, &session, &error) != DF_OK)
            fail_msg("%s", error.text);
        for (int64_t waves = 0; waves <= 8; waves += 2) {
            rig_expect(&r, waves);
            rig_clear(&r);
            if (df_session_run(session, &(struct df_session_call){ .waves = waves }, &error) != DF_OK)
                fail_msg("%s", error.text);
            if (!rig_same(&r, waves))
                fail_msg("way %u, %lld waves", way, (long long)waves);
        }
        assert_int_equal(df_session_close(session, NULL, &error), DF_OK);
        rig_free(&r);
    }
    rig_accs = false;
}

/* ---- runs that go on ---- */

enum { ELEMENTS = 30, EARLY = 4, WAVES = 9 };

/* The first waves in a run of their own, which gives what the acc is then. */
static void run_early(const struct rig *r, struct df_options o, int64_t *acc)
{
    const struct df_buffer buffer = { .node = "main/acc_pour", .data = acc, .bytes = ELEMENTS * sizeof *acc };
    struct df_error error = { "" };
    struct df_run *run;

    o.waves = EARLY;
    o.buffers = &buffer;
    o.n_buffers = 1;
    if (df_run_start(r->graph, &o, &run, &error) != DF_OK || df_run_wait(run, NULL, &error) != DF_OK)
        fail_msg("%s", error.text);
}

/* The others, or none if `last` is EARLY, in another one. */
static void run_late(const struct rig *r, struct df_options o, const int64_t *acc, int64_t last)
{
    const void **accs = calloc(r->graph->n_values, sizeof *accs);
    struct df_error error = { "" };
    struct df_run *run;
    int64_t number = EARLY, wave;

    for (uint32_t x = 0; x < r->graph->n_values; x++)
        accs[x] = df_value_is_acc(r->graph, x) ? acc : NULL;
    o.accs = accs;
    o.accs_waves = EARLY;
    o.feed = last > EARLY;
    o.waves = last > EARLY ? -1 : 0;
    if (df_run_start(r->graph, &o, &run, &error) != DF_OK)
        fail_msg("%s", error.text);
    while (o.feed && df_run_ended(run, -1, &wave) == DF_OK) {
        while (number < last && df_run_feed(run, number) >= 0)
            number++;
        if (number == last)
            df_run_feed_end(run);
    }
    if (df_run_wait(run, NULL, &error) != DF_OK)
        fail_msg("%s", error.text);
    free(accs);
}

/* What one run leaves in an acc, another one begins with, on whatever unit. Final nodes are told the waves of both. */
static void test_goes_on(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 24; way++) {
        struct df_options o = rig_options(way % 2 ? "all-gpu" : NULL, way % 2 ? DF_DEVICE_EMU : DF_DEVICE_NONE, 1 + way / 2 % 2);
        const int64_t last = way / 4 % 2 ? EARLY : WAVES;
        int64_t acc[ELEMENTS];
        struct rig r;

        o.poison = way / 8 == 1 ? 1 : 0; /* tokens are blocks then */
        o.inflight = 1 + way / 8;
        rig_begin(&r, ELEMENTS);
        rig_sink(&r, RIG_SINK, rig_node(&r, RIG_POUR, 3, rig_node(&r, RIG_SOURCE, 5, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING));
        rig_end(&r);
        r.finals = true;
        rig_expect(&r, last);
        run_early(&r, o, acc);
        rig_clear(&r);
        run_late(&r, o, acc, last);
        if (!rig_same(&r, last))
            fail_msg("way %u", way);
        rig_free(&r);
    }
}

/* ---- the builder ---- */

static const int64_t n_elements[1] = { 4 };


static uint32_t node(struct df_builder *b, const char *name, const char *modes, unsigned traits)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    struct df_port_desc ports[4];
    uint64_t dims[4][DF_MAX_RANK] = { { 4 }, { 4 }, { 4 }, { 4 } };
    struct df_error error;
    uint32_t kernel, id = 0;
    unsigned n = (unsigned)strlen(modes);

    for (unsigned p = 0; p < n; p++)
        ports[p] = (struct df_port_desc){ names[p], modes[p] == 'i' ? DF_IN : modes[p] == 'o' ? DF_OUT :
                                          modes[p] == 'b' ? DF_INOUT : DF_ACC, DF_I64, 1 };
    if (df_builder_kernel(b, &(struct df_kernel_desc){ .name = name, .n_ports = n, .ports = ports, .traits = traits },
                          &kernel, &error) != DF_OK ||
        df_builder_node(b, kernel, NULL, (const uint64_t (*)[DF_MAX_RANK])dims, NULL, &id, &error) != DF_OK)
        fail_msg("%s", error.text);
    return id;
}

static void arc(struct df_builder *b, uint32_t from, unsigned slot, uint32_t to, unsigned to_slot)
{
    struct df_error error;
    assert_int_equal(df_builder_connect(b, from, slot, to, to_slot, &error), DF_OK);
}

static void refuses(struct df_builder *b, const char *text)
{
    struct df_graph *graph;
    struct df_error error = { "" };
    assert_int_equal(df_builder_finish(b, &graph, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, text);
    df_builder_free(b);
}

static void test_refused(void **state)
{
    static const struct df_port_desc acc = { "v", DF_ACC, DF_I64, 1 };
    struct df_builder *b = df_builder_new("g");
    uint32_t source = node(b, "source", "o", 0), add = node(b, "add", "ia", 0), both = node(b, "both", "ii", 0), kernel;
    struct df_error error;

    (void)state;
    arc(b, source, 0, add, 0);
    arc(b, source, 0, both, 0);
    arc(b, add, 0, both, 1);
    refuses(b, "main/both reads main/source, which fires for every wave, and main/add, which comes once, after the last "
               "wave");

    b = df_builder_new("g");
    source = node(b, "source", "o", 0), add = node(b, "add", "ia", 0), both = node(b, "more", "ia", 0);
    arc(b, source, 0, add, 0);
    arc(b, add, 0, both, 0);
    refuses(b, "main/more has an acc port, but it reads main/add, which comes after the last wave");

    b = df_builder_new("g");
    source = node(b, "source", "o", 0), add = node(b, "add", "ia", 0), both = node(b, "late", "i", DF_ONCE);
    arc(b, source, 0, add, 0);
    arc(b, add, 0, both, 0);
    refuses(b, "main/late is once, but it reads main/add, which comes after the last wave");

    b = df_builder_new("g");
    assert_int_equal(df_builder_kernel(b, &(struct df_kernel_desc){ .name = "k", .n_ports = 1, .ports = &acc,
                                                                    .traits = DF_ONCE }, &kernel, &error),
                     DF_E_ARGUMENT);
    assert_string_equal(error.text, "kernel 'k' is once, so 'v' cannot be an acc port");
    assert_int_equal(df_builder_kernel(b, &(struct df_kernel_desc){ .name = "k", .n_ports = 1, .ports = &acc,
                                                                    .traits = DF_STREAM }, &kernel, &error),
                     DF_E_ARGUMENT);
    assert_string_equal(error.text, "kernel 'k' is a stream, so 'v' cannot be an acc port");
    source = node(b, "source", "o", 0);
    assert_int_equal(df_builder_initial(b, 0, 0, n_elements, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "kernel 0 has no acc port 0, or no element is given");
    df_builder_free(b);
}

/* An inout port of a final node takes over the acc's memory, and a copy of what is made before wave 0. */
static void test_phases(void **state)
{
    struct df_builder *b = df_builder_new("g");
    uint32_t once = node(b, "once", "o", DF_ONCE), add = node(b, "add", "ia", 0), meet = node(b, "meet", "bb", 0);
    struct df_error error = { "" };
    struct df_graph *g;
    unsigned finals = 0, copies = 0;

    (void)state;
    arc(b, once, 0, add, 0);            /* it fires in every wave, though its input does not */
    arc(b, add, 0, meet, 0);
    arc(b, once, 0, meet, 1);
    if (df_builder_finish(b, &g, &error) != DF_OK || !df_graph_check(g, &error))
        fail_msg("%s", error.text);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        finals += df_node_is_final(g, v);
        copies += (g->nodes[v].flags & DF_NODE_INSERTED) != 0;
        if (df_node_n_acc(g, v))
            assert_int_equal(g->nodes[v].flags & DF_NODE_ONCE, 0);
    }
    assert_int_equal(finals, 2);
    assert_int_equal(copies, 1);
    df_graph_free(g);
    df_builder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs), cmocka_unit_test(test_other_loops), cmocka_unit_test(test_calls),
        cmocka_unit_test(test_goes_on), cmocka_unit_test(test_refused), cmocka_unit_test(test_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
