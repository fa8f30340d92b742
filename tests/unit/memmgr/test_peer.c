/* test_peer.c - several emulated GPUs, with and without links between them: the same results under every policy, memory
 * and order, tokens that go directly where they can, and errors that come through.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "long.h"
#include "run_rig.h"
#include "runtime/emu/emu_trial.h"
#include "runtime/graph/plan.h"

#define WAVES 4

static const char *const policies[] = { "eager", "ws", "dmda", "random" };

/* GPUs of which those whose bit is in `peers` have a peer link; links take next to no time. */
static struct df_platform machine(uint32_t gpus, uint32_t peers)
{
    const struct df_link link = { 1e11, 1e-7, 0 };
    struct df_platform p;
    df_platform_default(&p, gpus);
    for (uint32_t u = 1; u <= gpus; u++) {
        p.units[u].h2d = p.units[u].d2h = link;
        p.units[u].peer = peers >> u & 1 ? link : (struct df_link){ 0 };
        p.units[u].launch_s = 0;
        p.units[u].memory_bytes = 1 << 20;
        p.units[u].engines = 1 + u % 2;
    }
    return p;
}

static struct df_options options_of(const struct df_platform *p, const char *policy)
{
    struct df_options o = rig_options(policy, DF_DEVICE_EMU, 2);
    o.waves = WAVES;
    o.platform = p;
    return o;
}

static uint64_t sent(const struct df_stats *stats)
{
    uint64_t n = 0;
    for (unsigned m = 0; m < stats->n_memories; m++)
        n += stats->memories[m].peer_copies;
    return n;
}

/* Gives how many tokens were sent directly. */
static uint64_t run_all(struct rig *r, const struct df_platform *p, uint64_t gpu_mem_bytes, uint64_t reorder)
{
    static struct df_stats stats;
    uint64_t n = 0;

    for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct df_options o = options_of(p, policies[i]);
        struct df_error error;
        o.gpu_mem_bytes = gpu_mem_bytes;
        o.gpu_jobs = 1 + i;
        dfr_emu_trial_use(&(struct dfr_emu_trial){ .reorder_seed = reorder });
        if (rig_run(r, &o, &stats, &error) != DF_OK)
            fail_msg("%s: %s", policies[i], error.text);
        dfr_emu_trial_use(NULL);
        assert_true(rig_same(r, WAVES));
        assert_int_equal(stats.n_memories, p->n_units - 1);
        assert_int_equal(stats.left_bytes, 0);
        n += sent(&stats);
    }
    return n;
}

static void test_results(void **state)
{
    uint64_t n = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(10u, 4u); seed++) {
        struct df_platform apart = machine(2, 0), pair = machine(2, 6), three = machine(3, seed % 2 ? 14 : 10);
        struct rig r;
        rig_random(&r, seed, 40, 200, 0);
        rig_expect(&r, WAVES);
        assert_int_equal(run_all(&r, &apart, 0, 0), 0);
        n += run_all(&r, &pair, 0, 0);
        n += run_all(&r, &pair, 6 * 4096, seed);
        n += run_all(&r, &three, seed % 3 ? 0 : 6 * 4096, seed % 2 ? seed * 3 : 0);
        rig_free(&r);
    }
    assert_true(n > 100);
}

/* A chain whose jobs alternate between two GPUs that only see each other: nothing but the ends goes over the host. */
static void test_directly(void **state)
{
    static struct df_stats stats;
    struct df_platform p = machine(2, 6);
    uint16_t place[64];
    struct df_plan plan = { .policy = "gp-thesis", .place = place, .platform = p };
    struct rig_out at;
    struct rig r;
    struct df_options o = options_of(&p, "gp-thesis");
    struct df_error error;

    (void)state;
    rig_begin(&r, 500);
    at = rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < 20; i++)
        at = rig_node(&r, RIG_ADD1, i, at, RIG_NOTHING);
    rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, at);
    rig_end(&r);
    rig_expect(&r, WAVES);
    assert_true(r.graph->n_nodes <= 64);
    for (uint32_t v = 0; v < r.graph->n_nodes; v++)
        place[v] = v == 0 || v == r.graph->n_nodes - 1 ? 0 : (uint16_t)(1 + v % 2);
    plan.n_nodes = r.graph->n_nodes;
    plan.platform.units[0].workers = 2;
    o.plan = &plan;
    o.guard = 0;
    if (rig_run(&r, &o, &stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(rig_same(&r, WAVES));
    assert_int_equal(sent(&stats), 19 * WAVES);
    assert_int_equal(stats.memories[0].h2d_copies + stats.memories[1].h2d_copies, WAVES);
    assert_int_equal(stats.memories[0].d2h_copies + stats.memories[1].d2h_copies, WAVES);
    assert_int_equal(stats.left_bytes, 0);
    rig_free(&r);
}

/* Whatever fails on one of two, the run says so by a node's name, and the next one is right. */
static void test_failing(void **state)
{
    static const int calls[] = { DFR_EMU_CALL_COPY, DFR_EMU_CALL_LAUNCH, DFR_EMU_CALL_EVENT, DFR_EMU_CALL_QUERY, DFR_EMU_CALL_LATE_COPY,
                                 DFR_EMU_CALL_LATE_LAUNCH };
    static struct df_stats stats;
    struct df_platform p = machine(2, 6);
    struct rig r;

    (void)state;
    rig_random(&r, 4, 40, 200, 0);
    rig_expect(&r, WAVES);
    for (unsigned c = 0; c < sizeof calls / sizeof *calls; c++)
        for (uint64_t n = 2;; n = n * 3 / 2) {
            struct df_options o = options_of(&p, policies[(c + n) % 4]);
            struct df_error error;
            int status;
            struct dfr_emu_trial trial = { .fail = { 0 } };
            trial.fail[calls[c]] = n;
            dfr_emu_trial_use(&trial);
            o.gpu_mem_bytes = n % 2 ? 0 : 6 * 4096;
            status = rig_run(&r, &o, &stats, &error);
            dfr_emu_trial_use(NULL);
            if (status != DF_OK) {
                assert_int_equal(status, DF_E_DEVICE);
                assert_memory_equal(error.text, "node '", 6);
                assert_non_null(strstr(error.text, "as asked for"));
                assert_int_equal(rig_run(&r, &o, &stats, &error), DF_OK);
            }
            assert_true(rig_same(&r, WAVES));
            assert_int_equal(stats.left_bytes, 0);
            if (status == DF_OK)
                break;
        }
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directly), cmocka_unit_test(test_results), cmocka_unit_test(test_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
