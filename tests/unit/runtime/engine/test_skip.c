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
    unsigned first = 1, last = 12;
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
            o.cuda_graphs = rig_rand(&x) % 3 ? DF_GRAPHS_AUTO : DF_GRAPHS_OFF;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
