/* test_engine_memory.c - random graphs on one GPU and on several, with all the memory there is and with less than they
 * need. Also runs that follow a plan, or that have their plan made again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "long.h"
#include "run_rig.h"
#include "runtime/engine/engine.h"
#include "runtime/threads/clock.h"

#define PAGE UINT64_C(4096)

static const char *const policies[] = { "eager", "ws", "dmda", "all-cpu", "all-gpu" };
enum { N_POLICIES = sizeof policies / sizeof policies[0] };

/* ---- random graphs, and memory ---- */

/* All options are chosen at random. */
static void test_random(void **state)
{
    unsigned first = 1, last = IN_LONG(12u, 6u);
    struct df_platform platforms[2];

    (void)state;
    rig_seeds(&first, &last);
    df_platform_default(&platforms[0], 1);
    df_platform_default(&platforms[1], 2);
    for (uint32_t seed = first; seed <= last; seed++) {
        struct rig r;
        uint32_t x = seed * 747796405u | 1;
        int64_t waves = 1 + rig_rand(&x) % 7;
        bool streams = rig_rand(&x) % 3 == 0;

        rig_random(&r, seed, 6 + rig_rand(&x) % 60, 1 + rig_rand(&x) % 512, streams ? waves : 0);
        rig_expect(&r, waves);
        for (int p = 0; p < N_POLICIES; p++)
            for (int device = DF_DEVICE_NONE; device <= DF_DEVICE_EMU; device++) {
                struct df_options o = rig_options(policies[p], (enum df_device_kind)device, 1 + rig_rand(&x) % 3);
                o.waves = streams ? -1 : waves;
                o.emu_all = rig_rand(&x) % 2;
                o.gpu_jobs = rig_rand(&x) % 4;
                o.inflight = rig_rand(&x) % 5;
                o.emu_check = rig_rand(&x) % 4 == 0;
                o.platform = &platforms[rig_rand(&x) % 2];
                o.gpu_mem_bytes = rig_rand(&x) % 2 ? (4 + rig_rand(&x) % 9) * PAGE : 0; /* 1 page a token, 4 a job */
                o.pin = (int)(rig_rand(&x) % 3);
                rig_check(&r, &o, waves);
            }
        rig_free(&r);
    }
}

/* Tokens of 1.3 MB in memory that is not pinned: every copy from the host and to it goes through pinned memory, in three
 * parts; under every policy, with room and without. If the memory is pinned, none does. */
static void test_not_pinned(void **state)
{
    uint64_t staged = 0;
    struct rig r;

    (void)state;
    rig_random(&r, 3, IN_LONG(16u, 8u), 160000, 0);
    rig_expect(&r, 2);
    for (int p = 0; p < N_POLICIES; p++)
        for (int pin = DF_PIN_AUTO; pin <= DF_PIN_OFF; pin++) {
            struct df_options o = rig_options(policies[p], DF_DEVICE_EMU, 2);
            struct df_stats stats;
            const struct df_memory_stats *m = &stats.memories[0];
            o.waves = 2;
            o.gpu_mem_bytes = p % 2 ? 5 * 313 * PAGE : 0;
            o.pin = pin;
            stats = rig_check(&r, &o, 2);
            assert_int_equal(m->staged_copies, pin == DF_PIN_OFF ? m->h2d_copies + m->d2h_copies : 0);
            assert_int_equal(m->staged_bytes, pin == DF_PIN_OFF ? m->h2d_bytes + m->d2h_bytes : 0);
            staged += m->staged_copies;
        }
    assert_true(staged > 0);
    rig_free(&r);
}

/* All jobs that can run on the GPU run there. Each input of each job was looked for once. Tokens came or went only for
 * jobs that ended: whatever was tried again on the way, it caused no copy and no eviction. */
static void check_progress(const struct rig *r, const struct df_stats *stats, int64_t waves)
{
    const struct df_graph *g = r->graph;
    const struct df_memory_stats *m = &stats->memories[0];
    uint64_t jobs = 0, inputs = 0, outputs = 0;

    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint64_t n = g->nodes[v].flags & DF_NODE_ONCE ? 1 : (uint64_t)waves;
        if (g->nodes[v].hint_class == DF_CLASS_CPU)
            continue;
        jobs += n;
        inputs += n * df_node_n_in(g, v);
        outputs += n * df_node_n_out(g, v);
    }
    assert_int_equal(stats->workers[stats->n_workers - 1].jobs, jobs);
    assert_int_equal(m->hits + m->misses, inputs);
    assert_int_equal(m->h2d_copies, m->misses + m->prefetches);
    assert_true(m->prefetches <= inputs + outputs);
    assert_true(m->evictions <= m->misses + m->prefetches + outputs);
    assert_true(m->writebacks <= m->evictions && m->writebacks <= m->d2h_copies);
    assert_string_equal(m->evict, "belady");
}

/* The GPU has memory from as much as is wanted down to exactly what the largest job needs: TABLE and ADD2 need three
 * pages. */
static void test_small_memory(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(4u, 2u); seed++) {
        struct rig r;
        struct df_stats stats = { 0 };

        rig_random(&r, seed, 40, 300, 0); /* tokens of 2400 bytes take a page each */
        rig_expect(&r, 4);
        for (uint64_t pages = 24; pages >= 4; pages = pages > 8 ? pages / 2 : pages - 1) /* SCRATCH needs 4 */
            for (int p = 0; p < N_POLICIES; p++) {
                struct df_options o = rig_options(policies[p], DF_DEVICE_EMU, 2);
                o.waves = 4;
                o.emu_all = 1;
                o.inflight = 3;
                o.gpu_mem_bytes = pages * PAGE;
                o.emu_check = pages == 4;
                o.pin = pages == 5 || pages == 12 ? DF_PIN_OFF : DF_PIN_AUTO;
                stats = rig_check(&r, &o, 4);
                assert_true(stats.memories[0].peak_bytes <= pages * PAGE);
                if (!strcmp(policies[p], "all-gpu"))
                    check_progress(&r, &stats, 4);
            }
        assert_true(stats.memories[0].evictions > 0); /* the last run was all-gpu in the least memory */
        rig_free(&r);
    }
}

/* Tokens have unlike sizes, so that room is lost between them. */
static void test_fragments(void **state)
{
    struct rig r;
    struct rig_out x[6];

    (void)state;
    rig_begin(&r, 1);
    for (int i = 0; i < 6; i++) {
        r.n = 512 * (uint64_t)(1 + i % 3);
        x[i] = rig_node(&r, RIG_SOURCE, i, RIG_NOTHING, RIG_NOTHING);
    }
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < 6; i++) {
            r.n = 512 * (uint64_t)(1 + i % 3);
            x[i] = rig_node(&r, RIG_ADD2, round, x[i], x[(i + 3) % 6]);
        }
    for (int i = 0; i < 6; i++) {
        r.n = 512 * (uint64_t)(1 + i % 3);
        rig_sink(&r, RIG_SINK, x[i]);
    }
    rig_end(&r);
    rig_expect(&r, 5);
    for (uint64_t pages = 9; pages <= 16; pages += IN_LONG(1, pages - 8)) /* the largest job needs 3 * 3 pages */
        for (int p = 0; p < N_POLICIES; p++) {
            struct df_options o = rig_options(policies[p], DF_DEVICE_EMU, 1);
            o.waves = 5;
            o.inflight = 3;
            o.gpu_mem_bytes = pages * PAGE;
            rig_check(&r, &o, 5);
        }
    rig_free(&r);
}

static void test_many_gpus(void **state)
{
    struct df_platform platform;

    (void)state;
    df_platform_default(&platform, 3);
    for (uint32_t seed = 1; seed <= IN_LONG(4u, 2u); seed++) {
        struct rig r;
        rig_random(&r, seed, 40, 300, 0);
        rig_expect(&r, 4);
        for (int p = 0; p < N_POLICIES; p++) {
            struct df_options o = rig_options(policies[p], DF_DEVICE_EMU, 1);
            struct df_stats stats;
            o.waves = 4;
            o.platform = &platform;
            o.emu_check = 0;
            o.gpu_mem_bytes = seed % 2 ? 6 * PAGE : 0;
            stats = rig_check(&r, &o, 4);
            assert_int_equal(stats.n_memories, 3);
        }
        rig_free(&r);
    }
}

/* ---- plans ---- */

static unsigned plans_made;
static uint32_t planned_workers;

/* Puts every third node on the last unit. */
static int make_plan(const struct df_graph *g, const struct df_platform *platform, const struct df_times *times,
                     const char *policy, struct df_plan **plan, struct df_error *error)
{
    struct df_plan *p = calloc(1, sizeof *p);

    (void)error;
    assert_non_null(p);
    assert_int_equal(times->n_works, g->n_works);
    snprintf(p->policy, sizeof p->policy, "%s", policy);
    p->platform = *platform;
    p->n_nodes = g->n_nodes;
    p->place = calloc(g->n_nodes, sizeof *p->place);
    p->priority = calloc(g->n_nodes, sizeof *p->priority);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        p->place[v] = v % 3 ? 0 : (uint16_t)(platform->n_units - 1);
        p->priority[v] = (float)(g->n_nodes - v);
    }
    plans_made++;
    planned_workers = platform->units[0].workers;
    *plan = p;
    return DF_OK;
}

static const struct df_planner planner = { .make = make_plan };

static void test_plan_is_followed_or_made_again(void **state)
{
    struct df_options o = rig_options("gp-thesis", DF_DEVICE_EMU, 2);
    struct df_error error;
    struct df_stats stats;
    struct df_plan *plan = NULL;
    struct rig r;

    (void)state;
    rig_random(&r, 4, 60, 64, 0);
    rig_expect(&r, 4);
    o.waves = 4;
    o.planner = &planner;
    plans_made = 0;
    stats = rig_check(&r, &o, 4);           /* there was no plan */
    assert_int_equal(plans_made, 1);
    assert_int_equal(planned_workers, 2);
    assert_true(stats.workers[2].jobs > 0);
    {
        struct df_platform platform;
        struct df_times times;
        df_platform_default(&platform, 1);
        platform.units[0].workers = 2;
        assert_int_equal(dfr_times_default(r.graph, false, &times, &error), DF_OK);
        make_plan(r.graph, &platform, &times, "gp-thesis", &plan, &error);
        plan->times = times;
    }
    o.plan = plan;
    plans_made = 0;
    rig_check(&r, &o, 4);                   /* the plan fits */
    assert_int_equal(plans_made, 0);
    o.workers = 3;
    rig_check(&r, &o, 4);                   /* the plan was made for two workers */
    assert_int_equal(plans_made, 1);
    o.device = DF_DEVICE_NONE;
    rig_check(&r, &o, 4);
    assert_int_equal(plans_made, 2);
    o.planner = NULL;
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_REFUSED);
    assert_non_null(strstr(error.text, "the one it has is for another machine"));
    o.policy = "eager";                 /* needs no plan */
    rig_check(&r, &o, 4);
    dfr_plan_free(plan);
    rig_free(&r);
}

/* The static policies with little memory and several waves: what is prefetched must not take the memory that is
 * needed. */
static void test_plan_in_small_memory(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(4u, 2u); seed++)
        for (uint64_t pages = 4; pages <= 12; pages += 4) {
            struct df_options o = rig_options("gp-thesis", DF_DEVICE_EMU, 2);
            struct rig r;
            rig_random(&r, seed, 50, 400, 0);
            rig_expect(&r, 5);
            o.waves = 5;
            o.inflight = 4;
            o.planner = &planner;
            o.gpu_mem_bytes = pages * PAGE;
            rig_check(&r, &o, 5);
            rig_free(&r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_small_memory),
        cmocka_unit_test(test_not_pinned), cmocka_unit_test(test_fragments),
        cmocka_unit_test(test_many_gpus), cmocka_unit_test(test_plan_is_followed_or_made_again),
        cmocka_unit_test(test_plan_in_small_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
