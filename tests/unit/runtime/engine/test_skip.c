/* test_skip.c - empty tokens: kernels that return DF_SKIP, readers that are left out, and selects. Random graphs are run by
 * every policy in every loop and on emulated devices, and held against the same graphs computed one node after the other.
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
#include "runtime/engine/engine.h"
#include "runtime/policy/policy.h"

#define PAGE UINT64_C(4096)
#define NOTHING RIG_NOTHING, RIG_NOTHING

static struct df_options options(const char *policy, enum df_device_kind device, unsigned workers, int64_t waves)
{
    struct df_options o = rig_options(policy, device, workers);
    o.planner = &dfp_planner;
    o.waves = waves;
    return o;
}

/* Runs, and compares what reached the sinks, and what was skipped and left out. */
static void check(struct rig *r, const struct df_options *o, int64_t waves)
{
    struct df_error error = { "" };
    struct df_node_skips *skips = calloc(df_graph_nodes(r->graph), sizeof *skips);
    struct df_options with_skips = *o;
    struct df_stats stats;
    uint64_t skipped = 0, left_out = 0;

    with_skips.node_skips = skips;
    if (rig_run(r, &with_skips, &stats, &error) != DF_OK)
        fail_msg("%s, device %d, %u workers, %u in flight, %llu: %s", o->policy, o->device, o->workers, o->inflight,
                 (unsigned long long)o->gpu_mem_bytes, error.text);
    if (!rig_same(r, waves))
        fail_msg("policy %s, device %d, %u workers, %u in flight, %llu bytes", o->policy, o->device, o->workers,
                 o->inflight, (unsigned long long)o->gpu_mem_bytes);
    assert_int_equal(stats.waves, waves);
    for (uint32_t v = 0; v < df_graph_nodes(r->graph); v++) {
        skipped += skips[v].skipped;
        left_out += skips[v].left_out;
    }
    free(skips);
    if (o->waves >= 0 && (skipped != r->expected_skipped || left_out != r->expected_left_out))
        fail_msg("policy %s, device %d: %llu jobs skipped and %llu left out, in place of %llu and %llu", o->policy, o->device,
                 (unsigned long long)skipped, (unsigned long long)left_out, (unsigned long long)r->expected_skipped,
                 (unsigned long long)r->expected_left_out);
    if (stats.left_bytes != 0 && o->waves >= 0) /* what was begun beyond the end of a stream may be left */
        fail_msg("policy %s, device %d, %u workers, %u in flight, %llu bytes: %llu bytes are left", o->policy, o->device,
                 o->workers, o->inflight, (unsigned long long)o->gpu_mem_bytes, (unsigned long long)stats.left_bytes);
}

/* Each policy on each graph, with options that vary with both. */
static void test_random_graphs(void **state)
{
    unsigned first = 1, last = IN_LONG(12u, 4u);
    uint64_t n_left_out = 0;

    (void)state;
    rig_seeds(&first, &last);
    rig_skips = true;
    for (uint32_t seed = first; seed <= last; seed++) {
        uint32_t x = seed * 977 | 1;
        int64_t waves = 4 + seed % 9;
        struct rig r;
        rig_random(&r, seed, 10 + seed % 12 * 5, 1 + seed * 37 % 600, seed % 3 ? 0 : waves);
        rig_expect(&r, waves);
        n_left_out += r.expected_left_out;
        for (const char *const *name = dfr_policy_names(); *name; name++) {
            struct df_options o = options(*name, rig_rand(&x) % 4 ? DF_DEVICE_EMU : DF_DEVICE_NONE,
                                          1 + rig_rand(&x) % 3, seed % 3 ? waves : -1);
            o.inflight = rig_rand(&x) % 5;
            o.locality = rig_rand(&x) % 2;
            o.prefetch = rig_rand(&x) % 2;
            o.cuda_graphs = (int)(rig_rand(&x) % 3);
            o.gpu_jobs = rig_rand(&x) % 4;
            o.emu_all = rig_rand(&x) % 2;
            if (rig_rand(&x) % 2)
                o.gpu_mem_bytes = 8 * PAGE; /* little: it is evicted from */
            check(&r, &o, waves);
        }
        rig_free(&r);
    }
    rig_skips = false;
    assert_true(n_left_out > 0);
}

/* A session's calls say which tokens of its buffers are empty, whichever loop and device made them. */
static void test_sessions(void **state)
{
    enum { WAVES = 40, N = 5 };
    static int64_t skipped[WAVES][N], selected[WAVES][N];

    (void)state;
    for (int way = 0; way < 6; way++) {
        struct df_buffer buffers[2] = { { .node = "main/skip", .data = skipped, .bytes = sizeof skipped },
                                        { .node = "main/select", .data = selected, .bytes = sizeof selected } };
        struct df_options o = options(way % 2 ? "dmda" : "all-gpu", way < 3 ? DF_DEVICE_NONE : DF_DEVICE_EMU, 1 + way % 3, WAVES);
        struct df_error error = { "" };
        struct df_session *session;
        struct rig r;
        struct rig_out a, b;
        unsigned n_empty[2] = { 0, 0 };

        rig_begin(&r, N);
        a = rig_node(&r, RIG_SOURCE, 1, NOTHING);
        b = rig_node(&r, RIG_ADD1, 2, rig_node(&r, RIG_DROP, 5, rig_node(&r, RIG_SOURCE, 2, NOTHING), RIG_NOTHING), RIG_NOTHING);
        rig_select(&r, rig_node(&r, RIG_SKIP, 17, a, RIG_NOTHING), b);
        rig_end(&r);
        o.buffers = buffers;
        o.n_buffers = 2;
        assert_int_equal(df_session_open(r.graph, &o, &session, &error), DF_OK);
        for (int call = 0; call < 3; call++) {
            unsigned char first[WAVES] = { 0 }, second[WAVES] = { 0 }, *const empty[2] = { first, second };
            struct df_session_call c = { .waves = WAVES - call, .empty = empty };
            if (df_session_run(session, &c, &error) != DF_OK)
                fail_msg("way %d: %s", way, error.text);
            n_empty[0] = n_empty[1] = 0;
            for (int w = 0; w < WAVES - call; w++) {
                n_empty[0] += first[w];
                n_empty[1] += second[w];
                assert_true(first[w] || !second[w]); /* a select is empty only if both are */
                if (!first[w])
                    assert_memory_equal(skipped[w], selected[w], sizeof skipped[w]);
            }
        }
        assert_true(n_empty[0] > n_empty[1] && n_empty[1] > 0);
        assert_int_equal(df_session_close(session, NULL, &error), DF_OK);
        rig_free(&r);
    }
}

/* The kernel of a select is the same for the same format and number of inputs. A node of it has one format. */
static void test_select_kernels(void **state)
{
    struct df_error error = { "" };
    uint32_t kernel, same;
    struct rig r;

    (void)state;
    rig_begin(&r, 2);
    assert_int_equal(df_builder_select(r.builder, DF_I64, 1, 1, &kernel, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "a select has from 2 to 1023 inputs, but this one has 1");
    assert_int_equal(df_builder_select(r.builder, DF_F32, 2, 100, &kernel, &error), DF_OK);
    assert_int_equal(df_builder_select(r.builder, DF_F32, 2, 100, &same, &error), DF_OK);
    assert_int_equal(kernel, same);
    assert_int_equal(df_builder_select(r.builder, DF_F32, 1, 100, &same, &error), DF_OK);
    assert_int_not_equal(kernel, same);
    uint64_t port_dims[101][DF_MAX_RANK] = { { 2, 3 } };
    assert_int_equal(df_builder_node(r.builder, kernel, NULL, (const uint64_t (*)[DF_MAX_RANK])port_dims, NULL, &same, &error),
                     DF_E_FORMAT);
    assert_string_equal(error.text, "node of 'select': its ports do not have the same extents");
    df_builder_free(r.builder);
    free(r.record);
    free(r.expected);
}

/* What fires once may not skip, wherever it runs. */
static void test_once(void **state)
{
    (void)state;
    for (int device = DF_DEVICE_NONE; device <= DF_DEVICE_EMU; device++)
        for (unsigned workers = 1; workers <= 2; workers++) {
            struct df_options o = options("all-gpu", (enum df_device_kind)device, workers, 3);
            struct df_error error = { "" };
            struct rig r;
            rig_begin(&r, 3);
            rig_sink(&r, RIG_SINK, rig_node(&r, RIG_CODE, DF_SKIP, rig_node(&r, RIG_ONCE, 1, NOTHING), RIG_NOTHING));
            rig_end(&r);
            assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_KERNEL);
            assert_non_null(strstr(error.text, "returned 2 (DF_SKIP), but it fires once, for all waves"));
            rig_free(&r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs), cmocka_unit_test(test_sessions), cmocka_unit_test(test_select_kernels),
        cmocka_unit_test(test_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
