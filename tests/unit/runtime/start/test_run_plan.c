/* test_run_plan.c - runs whose tokens lie where the memory plan says: random graphs under every policy, on the host
 * alone and with emulated GPUs that evict, with several waves in flight. Free memory is filled with a pattern. So a
 * token loses its value if it lies in memory that another one still uses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "long.h"
#include "partition/partition.h"
#include "run_rig.h"
#include "runtime/engine/engine.h"
#include "runtime/graph/platform.h"
#include "runtime/policy/policy.h"

#define WAVES 6

/* A random graph. Nodes read from the last few outputs, so that memory is free again soon. It has all kinds of ports,
 * values that are made once, and ordered nodes. */
static void narrow_graph(struct rig *r, uint32_t seed, uint32_t n, uint64_t elements)
{
    static const int choice[] = { RIG_ADD1, RIG_ADD2, RIG_ADD2, RIG_BUMP, RIG_BUMP, RIG_SCRATCH, RIG_SPLIT, RIG_TABLE,
                                  RIG_SOURCE };
    struct rig_out outs[512], table;
    uint32_t n_outs = 0, window = 2 + seed % 6;

    rig_begin(r, elements);
    r->expected_threads = 1;
    table = rig_node(r, RIG_ONCE, 5, RIG_NOTHING, RIG_NOTHING);
    table = rig_node(r, RIG_ADD1, 5, table, RIG_NOTHING);
    for (; n_outs < window; n_outs++)
        outs[n_outs] = rig_node(r, RIG_SOURCE, n_outs, RIG_NOTHING, RIG_NOTHING);
    while (n_outs < n) {
        int kernel = choice[rig_rand(&seed) % (sizeof choice / sizeof *choice)];
        struct rig_out a = outs[n_outs - 1 - rig_rand(&seed) % window], b = outs[n_outs - 1 - rig_rand(&seed) % window];
        uint32_t x = rig_rand(&seed);
        if (kernel == RIG_TABLE)
            b = table;
        r->depth = x % 16 == 0 ? 1 : 0;
        outs[n_outs++] = a = rig_node(r, kernel | ((x >> 8) % 3 == 0 ? RIG_CPU_ONLY : 0), x % 1000, a, b);
        if (kernel == RIG_SPLIT)
            outs[n_outs++] = (struct rig_out){ a.node, 1 };
        if (x % 20 == 0)
            rig_sink(r, x % 40 ? RIG_SINK : RIG_ORDERED, outs[n_outs - 2]);
    }
    r->depth = 0;
    rig_sink(r, RIG_SINK, outs[n_outs - 1]);
    rig_end(r);
}

static struct df_plan *plan_for(const struct rig *r)
{
    struct df_platform platform;
    struct df_times times;
    struct df_plan *plan = NULL;
    struct df_error e;
    df_platform_default(&platform, 1);
    if (dfr_times_default(r->graph, true, &times, &e) != DF_OK ||
        dfp_planner.make(r->graph, &platform, &times, "heft", &plan, &e) != DF_OK)
        fail_msg("%s", e.text);
    dfr_times_free(&times);
    return plan;
}

static uint64_t all_bytes(const struct df_graph *g)
{
    uint64_t bytes = 0;
    for (uint32_t x = 0; x < g->n_values; x++)
        bytes += g->values[x].bytes;
    return bytes;
}

static struct df_options options_for(const struct df_plan *plan, const char *policy)
{
    struct df_options o;
    df_options_default(&o);
    o.log_level = DF_LOG_ERROR;
    o.policy = policy;
    o.waves = WAVES;
    o.emu_check = 0;
    o.poison = 1;
    o.plan = plan;
    o.planner = &dfp_planner;
    return o;
}

/* Gives the bytes of host memory that were planned for a slot; 0: nothing was planned. */
static uint64_t run_right(struct rig *r, const struct df_options *o)
{
    struct df_error e;
    struct df_run *run;
    uint64_t bytes;
    rig_clear(r);
    if (df_run_start(r->graph, o, &run, &e) != DF_OK)
        fail_msg("%s: %s", o->policy, e.text);
    bytes = run->memory.space && run->memory.space->line ? run->memory.space->slot_bytes : 0;
    if (df_run_wait(run, NULL, &e) != DF_OK)
        fail_msg("%s: %s", o->policy, e.text);
    if (!rig_same(r, WAVES))
        fail_msg("policy %s, device %d, %u workers, serial %d", o->policy, o->device, o->workers, o->serial);
    return bytes;
}

static void run_all(struct rig *r, const struct df_plan *plan, enum df_device_kind device, uint64_t gpu_mem_bytes)
{
    for (const char *const *policy = dfr_policy_names(); *policy; policy++)
        for (uint32_t workers = 1; workers <= 3; workers += 2) {
            struct df_options o = options_for(plan, *policy);
            o.device = device;
            o.gpu_mem_bytes = gpu_mem_bytes;
            o.workers = o.inflight = workers;
            assert_int_equal(run_right(r, &o), plan->memory[0].wave_bytes);
        }
}

static void run_serial(struct rig *r, const struct df_plan *plan)
{
    struct df_options o = options_for(plan, "eager");
    o.device = DF_DEVICE_NONE;
    o.serial = 1;
    assert_true(plan->memory[0].sequence_bytes < plan->memory[0].wave_bytes);
    assert_int_equal(run_right(r, &o), plan->memory[0].sequence_bytes);
}

/* Nothing is planned if a plan for any order takes more than a heap: here all of a wide graph lives at once. */
static void wide_graphs_keep_the_heap(void **state)
{
    struct rig r;
    (void)state;
    rig_begin(&r, 1000);
    for (int i = 0; i < 40; i++)
        rig_sink(&r, RIG_SINK, rig_node(&r, RIG_ADD1, 1, rig_node(&r, RIG_SOURCE, i, RIG_NOTHING, RIG_NOTHING),
                                        RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, WAVES);
    struct df_plan *plan = plan_for(&r);
    struct df_options o = options_for(plan, "eager");
    assert_true(plan->memory[0].wave_bytes >= 40 * 8000);
    o.device = DF_DEVICE_NONE;
    assert_int_equal(run_right(&r, &o), 0);
    o.serial = 1;
    assert_true(run_right(&r, &o) < 17000);
    dfr_plan_free(plan);
    rig_free(&r);
}

/* The stream comes first in a wave, whatever its number is. So the run is not in sequence. */
static void streams_are_not_in_sequence(void **state)
{
    struct rig r;
    (void)state;
    rig_begin(&r, 100);
    struct rig_out a = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING),
                   b = rig_node(&r, RIG_ADD1, 2, a, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, b);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_STREAM, WAVES, RIG_NOTHING, RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, WAVES);
    struct df_plan *plan = plan_for(&r);
    struct df_options o = options_for(plan, "eager");
    o.device = DF_DEVICE_NONE;
    o.serial = 1;
    assert_int_equal(run_right(&r, &o), plan->memory[0].wave_bytes);
    dfr_plan_free(plan);
    rig_free(&r);
}

static void planned_runs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(4u, 2u); seed++) {
        struct rig r;
        narrow_graph(&r, seed, 60 + 10 * seed, 8 + seed * 20);
        rig_expect(&r, WAVES);
        struct df_plan *plan = plan_for(&r);
        assert_true(plan->memory[0].wave_bytes < all_bytes(r.graph) * 3 / 4); /* there is something to go wrong */
        run_all(&r, plan, DF_DEVICE_NONE, 0);
        run_serial(&r, plan);
        run_all(&r, plan, DF_DEVICE_EMU, seed % 2 ? 8 * 4096 : 0); /* eight pages: tokens come back and go */
        dfr_plan_free(plan);
        rig_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(planned_runs),
                                        cmocka_unit_test(wide_graphs_keep_the_heap),
                                        cmocka_unit_test(streams_are_not_in_sequence) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
