/* test_unified.c - runs on emulated GPUs that are unified: their jobs read and write the host's memory. Results are those
 * of the host, whatever the policy, and nothing is copied. Beside a GPU with memory of its own, only that one copies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "long.h"
#include "partition/partition.h"
#include "run_rig.h"
#include "runtime/emu/emu_trial.h"
#include "runtime/policy/policy.h"

#define WAVES 6
#define PAGE 4096

/* n GPUs; unified[u]: whether GPU u is, from 0. Others have links that take as long as a rig's job, or so. */
static struct df_platform machine(uint32_t n, const bool *unified)
{
    struct df_platform p;
    df_platform_default(&p, n);
    for (uint32_t u = 1; u <= n; u++) {
        struct df_link link = { 2e9, 2e-6, 0 };
        p.units[u].h2d = p.units[u].d2h = p.units[u].peer = link;
        if (unified[u - 1])
            df_unit_unify(&p.units[u]);
    }
    return p;
}

static struct df_options options_of(const char *policy, const struct df_platform *platform)
{
    struct df_options o = rig_options(policy, DF_DEVICE_EMU, 2);
    o.planner = &dfp_planner;
    o.platform = platform;
    o.waves = WAVES;
    return o;
}

static uint64_t copies(const struct df_memory_stats *m)
{
    return m->h2d_copies + m->d2h_copies + m->peer_copies + m->prefetches + m->writebacks + m->evictions + m->misses;
}

static uint64_t gpu_jobs(const struct df_stats *s, unsigned gpu)
{
    return s->workers[s->n_workers - s->n_memories + gpu].jobs;
}

/* Every policy on random graphs. */
static void test_results(void **state)
{
    static const bool unified[] = { true, true };
    uint64_t jobs = 0, replayed = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(4u, 2u); seed++) {
        struct dfr_emu_trial trial = { .slow_device = -1, .reorder_seed = seed % 3 };
        struct df_platform p = machine(1 + seed % 2, unified);
        uint32_t x = seed * 977;
        struct rig r;
        rig_random(&r, seed, 10 + seed * 5, 1 + seed * 37 % 600, 0);
        rig_expect(&r, WAVES);
        dfr_emu_trial_use(&trial);
        for (const char *const *name = dfr_policy_names(); *name; name++) {
            struct df_options o = options_of(*name, &p);
            o.inflight = rig_rand(&x) % 5;
            o.gpu_jobs = rig_rand(&x) % 4;
            o.emu_all = rig_rand(&x) % 2;
            o.poison = rig_rand(&x) % 4 == 0;
            o.pin = rig_rand(&x) % 2 ? DF_PIN_OFF : DF_PIN_AUTO;
            o.cuda_graphs = rig_rand(&x) % 2 ? DF_GRAPHS_ON : DF_GRAPHS_AUTO;
            if (rig_rand(&x) % 2)
                o.gpu_mem_bytes = 4 * PAGE; /* scratch is short */
            struct df_stats stats = rig_check(&r, &o, WAVES);
            assert_int_equal(stats.left_bytes, 0);
            for (unsigned m = 0; m < stats.n_memories; m++) {
                if (copies(&stats.memories[m]) > 0)
                    fail_msg("seed %u, %s: something was copied", seed, *name);
                jobs += gpu_jobs(&stats, m);
                replayed += stats.memories[m].replayed;
            }
        }
        dfr_emu_trial_use(NULL);
        rig_free(&r);
    }
    assert_true(jobs > IN_LONG(1000, 400) && replayed > IN_LONG(100, 40));
}

/* One unified GPU and two that are peers: what they make for each other goes over the links of those two. */
static void test_beside_others(void **state)
{
    static const bool unified[] = { false, true, false };
    uint64_t others = 0, jobs = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(7u, 3u); seed++) {
        struct dfr_emu_trial trial = { .slow_device = -1, .reorder_seed = seed };
        struct df_platform p = machine(3, unified);
        struct rig r;
        rig_random(&r, seed, 10 + seed * 5, 200, 0);
        rig_expect(&r, WAVES);
        dfr_emu_trial_use(&trial);
        for (const char *const *name = dfr_policy_names(); *name; name++) {
            struct df_options o = options_of(*name, &p);
            o.emu_all = seed % 2;
            o.gpu_mem_bytes = seed % 3 == 0 ? 8 * PAGE : 0;
            struct df_stats stats = rig_check(&r, &o, WAVES);
            assert_int_equal(copies(&stats.memories[1]), 0);
            others += copies(&stats.memories[0]) + copies(&stats.memories[2]);
            jobs += gpu_jobs(&stats, 1);
        }
        dfr_emu_trial_use(NULL);
        rig_free(&r);
    }
    assert_true(others > IN_LONG(1000, 400) && jobs > IN_LONG(1000, 400));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_results), cmocka_unit_test(test_beside_others) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
