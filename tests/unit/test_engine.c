/* test_engine.c - the firing of nodes and all that carries it: runs of hand-built and random graphs, under every
 * policy, with and without the emulated GPU, compared with a sequential reference; refusals; failures of every node in
 * turn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_rig.h"
#include "runtime/clock.h"
#include "runtime/engine.h"

static struct df_options options_of(const char *policy, enum df_device_kind device, unsigned workers)
{
    struct df_options o;
    df_options_default(&o);
    o.policy = policy;
    o.device = device;
    o.workers = workers;
    o.log_level = DF_LOG_ERROR;
    return o;
}

static const char *const policies[] = { "eager", "ws", "dmda", "all-cpu", "all-gpu" };
#define PAGE UINT64_C(4096)
enum { N_POLICIES = sizeof policies / sizeof policies[0] };

/* Runs r for `waves` waves (as options say) and holds it against the reference; gives the statistics. */
static struct df_stats check(struct rig *r, struct df_options *o, int64_t waves)
{
    static struct df_stats stats;
    struct df_error error = { "" };

    if (rig_run(r, o, &stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    if (!rig_same(r, waves))
        fail_msg("policy %s, device %d, %u workers, %u in flight, %llu bytes of GPU memory", o->policy, o->device,
                 o->workers, o->inflight, (unsigned long long)o->gpu_mem_bytes);
    assert_int_equal(stats.waves, waves);
    return stats;
}

static void check_everywhere(struct rig *r, int64_t option_waves, int64_t waves)
{
    rig_expect(r, waves);
    for (int p = 0; p < N_POLICIES; p++)
        for (unsigned workers = 1; workers <= 3; workers++)
            for (int device = DF_DEVICE_NONE; device <= DF_DEVICE_EMU; device++) {
                struct df_options o = options_of(policies[p], (enum df_device_kind)device, workers);
                o.waves = option_waves;
                o.inflight = (unsigned)(p + (int)workers) % 4;
                check(r, &o, waves);
            }
}

/* ---- shapes ---- */

static void test_chain(void **state)
{
    struct rig r;
    struct rig_out x;

    (void)state;
    rig_begin(&r, 5);
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < 20; i++)
        x = rig_node(&r, i % 3 ? RIG_ADD1 : RIG_BUMP, i, x, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, x);
    rig_end(&r);
    check_everywhere(&r, 3, 3);
    rig_free(&r);
}

static void test_diamond(void **state)
{
    struct rig r;
    struct rig_out a, b, c, d;

    (void)state;
    rig_begin(&r, 700);
    a = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    b = rig_node(&r, RIG_SPLIT, 2, a, RIG_NOTHING);
    c = rig_node(&r, RIG_ADD2, 3, b, (struct rig_out){ b.node, 1 });
    d = rig_node(&r, RIG_ADD2, 4, a, a);
    rig_sink(&r, RIG_ORDERED, rig_node(&r, RIG_ADD2, 5, c, d));
    rig_sink(&r, RIG_ORDERED | RIG_CPU_ONLY, c);
    rig_end(&r);
    check_everywhere(&r, 9, 9);
    rig_free(&r);
}

static void test_wavefront(void **state)
{
    enum { N = 8 };
    struct rig r;
    struct rig_out row[N];

    (void)state;
    rig_begin(&r, 3);
    for (int j = 0; j < N; j++)
        row[j] = rig_node(&r, RIG_SOURCE, j, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            row[j] = rig_node(&r, RIG_ADD2 | (i + j) % 3 / 2 * RIG_CPU_ONLY, i + j, row[j], row[j ? j - 1 : 0]);
    rig_sink(&r, RIG_SINK, row[N - 1]);
    rig_end(&r);
    check_everywhere(&r, 2, 2);
    rig_free(&r);
}

static void test_streams_end(void **state)
{
    struct rig r;
    struct rig_out a, b, c;

    (void)state;
    rig_begin(&r, 4);
    a = rig_node(&r, RIG_STREAM, 7, RIG_NOTHING, RIG_NOTHING);
    b = rig_node(&r, RIG_STREAM, 9, RIG_NOTHING, RIG_NOTHING);
    c = rig_node(&r, RIG_SOURCE, 3, RIG_NOTHING, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_ADD2, 1, a, c));
    rig_sink(&r, RIG_ORDERED, b); /* must not see wave 7, which b has and a has not */
    rig_sink(&r, RIG_SINK, c);
    rig_end(&r);
    check_everywhere(&r, -1, 7);
    check_everywhere(&r, 4, 4); /* --waves caps a stream */
    check_everywhere(&r, 7, 7);
    rig_free(&r);
}

static void test_stream_that_is_empty(void **state)
{
    struct rig r;

    (void)state;
    rig_begin(&r, 4);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_STREAM, 0, RIG_NOTHING, RIG_NOTHING));
    rig_end(&r);
    check_everywhere(&r, -1, 0);
    rig_free(&r);
}

static void test_once(void **state)
{
    struct rig r;
    struct rig_out t, u, x;

    (void)state;
    rig_begin(&r, 6);
    t = rig_node(&r, RIG_ONCE, 1, RIG_NOTHING, RIG_NOTHING);
    u = rig_node(&r, RIG_ADD2, 2, t, t);
    x = rig_node(&r, RIG_SOURCE, 3, RIG_NOTHING, RIG_NOTHING);
    x = rig_node(&r, RIG_TABLE, 4, x, u);
    x = rig_node(&r, RIG_TABLE, 4, x, rig_node(&r, RIG_ADD1, 1, u, RIG_NOTHING));
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_ADD2, 1, x, rig_node(&r, RIG_BUMP, 9, x, RIG_NOTHING)));
    rig_end(&r);
    check_everywhere(&r, 5, 5);
    rig_free(&r);
}

static void test_only_once(void **state)
{
    struct rig r;

    (void)state;
    rig_begin(&r, 6);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_ONCE, 1, RIG_NOTHING, RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, 1);
    for (int p = 0; p < N_POLICIES; p++) {
        struct df_options o = options_of(policies[p], DF_DEVICE_EMU, 2);
        struct df_error error;
        assert_int_equal(rig_run(&r, &o, NULL, &error), DF_OK);
        assert_true(rig_same(&r, 1));
    }
    rig_free(&r);
}

static void test_empty_graph(void **state)
{
    struct rig r;

    (void)state;
    rig_begin(&r, 1);
    rig_end(&r);
    check_everywhere(&r, -1, 0);
    rig_free(&r);
}

static void test_unread_outputs(void **state)
{
    struct rig r;
    struct rig_out a, b;

    (void)state;
    rig_begin(&r, 64);
    a = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    rig_node(&r, RIG_ADD1, 1, a, RIG_NOTHING);
    b = rig_node(&r, RIG_SPLIT, 1, a, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, b);
    rig_end(&r);
    check_everywhere(&r, 4, 4);
    rig_free(&r);
}

static void test_depth(void **state)
{
    (void)state;
    for (uint32_t depth = 1; depth <= 3; depth++) {
        struct rig r;
        struct rig_out x, y;

        rig_begin(&r, 4);
        r.depth = depth;
        x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
        r.depth = depth;
        y = rig_node(&r, RIG_SPLIT, 1, x, RIG_NOTHING);
        r.depth = depth;
        x = rig_node(&r, RIG_ADD2, 1, y, (struct rig_out){ y.node, 1 });
        r.depth = 1;
        x = rig_node(&r, RIG_BUMP, 1, x, RIG_NOTHING);
        rig_sink(&r, RIG_SINK, x);
        rig_end(&r);
        check_everywhere(&r, 12, 12);
        rig_free(&r);
    }
}

static void test_threads(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 3; workers++) {
        struct rig r;
        struct rig_out a[6];

        rig_begin(&r, 4);
        r.expected_threads = workers < 2 ? 1 : 2;
        for (int i = 0; i < 6; i++) {
            a[i] = rig_node(&r, RIG_SOURCE, i, RIG_NOTHING, RIG_NOTHING);
            r.threads = 2;
            rig_sink(&r, RIG_SINK, rig_node(&r, RIG_THREADS | RIG_CPU_ONLY, i, a[i], RIG_NOTHING));
        }
        rig_end(&r);
        rig_expect(&r, 8);
        for (int p = 0; p < 3; p++) {
            struct df_options o = options_of(policies[p], p == 2 ? DF_DEVICE_EMU : DF_DEVICE_NONE, workers);
            o.waves = 8;
            check(&r, &o, 8);
        }
        rig_free(&r);
    }
}

/* Independent jobs must really run at the same time: each waits for the others. */
static void test_workers_run_at_once(void **state)
{
    (void)state;
    for (int p = 0; p < 4; p++) {
        struct rig r;
        struct df_options o = options_of(policies[p], DF_DEVICE_NONE, 3);
        struct rig_out a;

        rig_begin(&r, 4);
        a = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
        for (int i = 0; i < 3; i++)
            rig_sink(&r, RIG_SINK, rig_node(&r, RIG_MEET | RIG_CPU_ONLY, 3, a, RIG_NOTHING));
        rig_end(&r);
        o.waves = 1;
        rig_expect(&r, 0);
        {
            struct df_error error = { "" };
            if (rig_run(&r, &o, NULL, &error) != DF_OK)
                fail_msg("%s: %s", policies[p], error.text);
        }
        rig_free(&r);
    }
}

/* Waves too: with three in flight, one node's jobs of three waves meet. */
static void test_waves_run_at_once(void **state)
{
    struct rig r;
    struct rig_out x;
    struct df_options o = options_of("eager", DF_DEVICE_NONE, 3);
    struct df_error error = { "" };

    (void)state;
    rig_begin(&r, 4);
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_MEET | RIG_CPU_ONLY, 3, x, RIG_NOTHING));
    rig_end(&r);
    o.waves = 3;
    o.inflight = 3;
    if (rig_run(&r, &o, NULL, &error) != DF_OK)
        fail_msg("%s", error.text);
    rig_free(&r);
}

/* ---- random graphs, and memory ---- */

/* Whatever can be chosen is chosen at random. SEEDS=first-last in the environment runs others than the usual few. */
static void test_random(void **state)
{
    const char *seeds = getenv("SEEDS");
    unsigned first = 1, last = 12;
    struct df_platform platforms[2];

    (void)state;
    if (seeds)
        assert_int_equal(sscanf(seeds, "%u-%u", &first, &last), 2);
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
                struct df_options o = options_of(policies[p], (enum df_device_kind)device, 1 + rig_rand(&x) % 3);
                o.waves = streams ? -1 : waves;
                o.emu_all = rig_rand(&x) % 2;
                o.gpu_jobs = rig_rand(&x) % 4;
                o.inflight = rig_rand(&x) % 5;
                o.emu_check = rig_rand(&x) % 4 == 0;
                o.platform = &platforms[rig_rand(&x) % 2];
                o.gpu_mem_bytes = rig_rand(&x) % 2 ? (4 + rig_rand(&x) % 9) * PAGE : 0; /* a page a token, 4 a job */
                check(&r, &o, waves);
            }
        rig_free(&r);
    }
}

/* All that may runs on the GPU. Each input of each job was looked for once, and nothing came, or went, but for a job that ended: whatever was tried
 * again on the way, no copy and no eviction came of it. */
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

/* GPU memory from all that is wanted down to exactly the largest job: TABLE and ADD2 need three pages. */
static void test_small_memory(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 4; seed++) {
        struct rig r;
        struct df_stats stats = { 0 };

        rig_random(&r, seed, 40, 300, 0); /* tokens of 2400 bytes: a page each */
        rig_expect(&r, 4);
        for (uint64_t pages = 24; pages >= 4; pages = pages > 8 ? pages / 2 : pages - 1) /* SCRATCH needs 4 */
            for (int p = 0; p < N_POLICIES; p++) {
                struct df_options o = options_of(policies[p], DF_DEVICE_EMU, 2);
                o.waves = 4;
                o.emu_all = 1;
                o.inflight = 3;
                o.gpu_mem_bytes = pages * PAGE;
                o.emu_check = pages == 4;
                stats = check(&r, &o, 4);
                assert_true(stats.memories[0].peak_bytes <= pages * PAGE);
                if (!strcmp(policies[p], "all-gpu"))
                    check_progress(&r, &stats, 4);
            }
        assert_true(stats.memories[0].evictions > 0); /* the last was all-gpu in the least memory */
        rig_free(&r);
    }
}

/* Tokens of unlike sizes, so that room is lost between them. */
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
    for (uint64_t pages = 9; pages <= 16; pages++) /* the largest job needs 3 * 3 */
        for (int p = 0; p < N_POLICIES; p++) {
            struct df_options o = options_of(policies[p], DF_DEVICE_EMU, 1);
            o.waves = 5;
            o.inflight = 3;
            o.gpu_mem_bytes = pages * PAGE;
            check(&r, &o, 5);
        }
    rig_free(&r);
}

static void test_many_gpus(void **state)
{
    struct df_platform platform;

    (void)state;
    df_platform_default(&platform, 3);
    for (uint32_t seed = 1; seed <= 4; seed++) {
        struct rig r;
        rig_random(&r, seed, 40, 300, 0);
        rig_expect(&r, 4);
        for (int p = 0; p < N_POLICIES; p++) {
            struct df_options o = options_of(policies[p], DF_DEVICE_EMU, 1);
            struct df_stats stats;
            o.waves = 4;
            o.platform = &platform;
            o.emu_check = 0;
            o.gpu_mem_bytes = seed % 2 ? 6 * PAGE : 0;
            stats = check(&r, &o, 4);
            assert_int_equal(stats.n_memories, 3);
        }
        rig_free(&r);
    }
}

/* ---- plans ---- */

static unsigned plans_made;
static uint32_t planned_workers;

/* Every third node on the last unit. */
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

static const struct df_planner planner = { make_plan };

static void test_plan_is_followed_or_made_again(void **state)
{
    struct df_options o = options_of("gp-thesis", DF_DEVICE_EMU, 2);
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
    stats = check(&r, &o, 4);           /* there was none */
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
    check(&r, &o, 4);                   /* it fits */
    assert_int_equal(plans_made, 0);
    o.workers = 3;
    check(&r, &o, 4);                   /* made for two workers */
    assert_int_equal(plans_made, 1);
    o.device = DF_DEVICE_NONE;
    check(&r, &o, 4);
    assert_int_equal(plans_made, 2);
    o.planner = NULL;
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_REFUSED);
    assert_non_null(strstr(error.text, "the one it has is for another machine"));
    o.policy = "eager";                 /* needs none */
    check(&r, &o, 4);
    dfr_plan_free(plan);
    rig_free(&r);
}

/* The static policies under little memory, several waves: what is sent ahead must not starve what is needed. */
static void test_plan_in_small_memory(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 4; seed++)
        for (uint64_t pages = 4; pages <= 12; pages += 4) {
            struct df_options o = options_of("gp-thesis", DF_DEVICE_EMU, 2);
            struct rig r;
            rig_random(&r, seed, 50, 400, 0);
            rig_expect(&r, 5);
            o.waves = 5;
            o.inflight = 4;
            o.planner = &planner;
            o.gpu_mem_bytes = pages * PAGE;
            check(&r, &o, 5);
            rig_free(&r);
        }
}

/* ---- refusals ---- */

static int run_quietly(struct rig *r, struct df_options *o, struct df_error *error)
{
    return rig_run(r, o, NULL, error);
}

static void test_refused_gpu_memory(void **state)
{
    struct rig r;
    struct rig_out x;
    struct df_options o = options_of("dmda", DF_DEVICE_EMU, 1);
    struct df_error error;

    (void)state;
    rig_begin(&r, 512);
    x = rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    r.hint = DF_CLASS_GPU;
    x = rig_node(&r, RIG_ADD2, 1, x, x);
    rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, x);
    rig_end(&r);
    o.gpu_mem_bytes = 2 * PAGE - 1;
    assert_int_equal(run_quietly(&r, &o, &error), DF_E_REFUSED);
    assert_non_null(strstr(error.text, "add2"));
    assert_non_null(strstr(error.text, "8192"));
    assert_non_null(strstr(error.text, "4096"));
    o.gpu_mem_bytes = 2 * PAGE;
    rig_expect(&r, 1);
    assert_int_equal(run_quietly(&r, &o, &error), DF_OK);
    assert_true(rig_same(&r, 1));
    o.gpu_mem_bytes = 100; /* less than a page */
    assert_int_equal(run_quietly(&r, &o, &error), DF_E_REFUSED);
    rig_free(&r);
}

/* Without the hint the same job runs on the CPU. */
static void test_too_large_runs_on_cpu(void **state)
{
    struct rig r;
    struct rig_out x;
    struct df_options o = options_of("all-gpu", DF_DEVICE_EMU, 1);
    struct df_stats stats;

    (void)state;
    rig_begin(&r, 512);
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_ADD1, 1, x, RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, 1);
    o.gpu_mem_bytes = PAGE;
    stats = check(&r, &o, 1);
    assert_int_equal(stats.workers[0].jobs, 1); /* add1: two pages */
    assert_int_equal(stats.workers[1].jobs, 2);
    rig_free(&r);
}

static void test_hints_are_kept(void **state)
{
    (void)state;
    for (int hint = DF_CLASS_CPU; hint <= DF_CLASS_GPU; hint++)
        for (int p = 0; p < N_POLICIES; p++) {
            struct rig r;
            struct rig_out x;
            struct df_options o = options_of(policies[p], DF_DEVICE_EMU, 2);
            struct df_stats stats;

            rig_begin(&r, 16);
            r.hint = hint;
            x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
            for (int i = 0; i < 10; i++) {
                r.hint = hint;
                x = rig_node(&r, RIG_ADD1, 1, x, RIG_NOTHING);
            }
            r.hint = hint;
            rig_sink(&r, RIG_SINK, x);
            rig_end(&r);
            rig_expect(&r, 2);
            o.waves = 2;
            stats = check(&r, &o, 2);
            assert_int_equal(stats.workers[2].jobs, hint == DF_CLASS_GPU ? 24 : 0);
            rig_free(&r);
        }
}

static void test_gpu_hint_without_gpu(void **state)
{
    struct rig r;
    struct df_options o = options_of("dmda", DF_DEVICE_NONE, 1);

    (void)state;
    rig_begin(&r, 16);
    r.hint = DF_CLASS_GPU;
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, 1);
    check(&r, &o, 1);
    rig_free(&r);
}

static void test_unknown_policy(void **state)
{
    struct rig r;
    struct df_options o = options_of("eagr", DF_DEVICE_NONE, 1);
    struct df_error error;

    (void)state;
    rig_begin(&r, 16);
    rig_end(&r);
    assert_int_equal(run_quietly(&r, &o, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "unknown policy 'eagr'; did you mean 'eager'?");
    o.policy = "gp-thesis";
    assert_int_equal(run_quietly(&r, &o, &error), DF_E_REFUSED);
    rig_free(&r);
}

static void test_no_cuda(void **state)
{
    struct rig r;
    struct df_options o = options_of("dmda", DF_DEVICE_CUDA, 1);
    struct df_error error = { "" };

    (void)state;
    if (dfr_device_back_end(DF_DEVICE_CUDA))
        skip();
    rig_begin(&r, 16);
    rig_end(&r);
    assert_int_equal(run_quietly(&r, &o, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "no CUDA device: this program was linked without CUDA");
    rig_free(&r);
}

/* ---- failures ---- */

/* A graph in which the node at `at` fails at wave `wave`, everywhere else it is the same. */
static void fail_graph(struct rig *r, int at, int64_t wave, bool streams)
{
    struct rig_out x, y, z;
    int k = 0;

#define MAYBE(in) rig_node(r, k++ == at ? RIG_FAIL : RIG_ADD1, wave, in, RIG_NOTHING)
    rig_begin(r, 300);
    x = rig_node(r, streams ? RIG_STREAM : RIG_SOURCE, 20, RIG_NOTHING, RIG_NOTHING);
    y = MAYBE(x);
    z = MAYBE(x);
    y = MAYBE(y);
    z = rig_node(r, RIG_BUMP, 1, z, RIG_NOTHING);
    x = MAYBE(rig_node(r, RIG_ADD2, 1, y, z));
    rig_sink(r, RIG_ORDERED, MAYBE(x));
    rig_sink(r, RIG_SINK, z);
#undef MAYBE
    rig_end(r);
}

static void test_failure_anywhere(void **state)
{
    (void)state;
    for (int at = 0; at < 5; at++)
        for (int64_t wave = 0; wave <= 6; wave += 3)
            for (int p = 0; p < N_POLICIES; p++) {
                struct rig r;
                struct df_options o = options_of(policies[p], p % 2 ? DF_DEVICE_EMU : DF_DEVICE_NONE,
                                                 1 + (unsigned)at % 3);
                struct df_error error = { "" };
                struct df_stats stats;
                char due[64];

                fail_graph(&r, at, wave, at % 2);
                o.waves = at % 2 ? -1 : 8;
                o.emu_check = 0;
                o.gpu_mem_bytes = at == 3 ? 4 * PAGE : 0;
                assert_int_equal(rig_run(&r, &o, &stats, &error), DF_E_KERNEL);
                snprintf(due, sizeof due, "wave %d: planted at %d", (int)wave, (int)wave);
                assert_non_null(strstr(error.text, due));
                assert_non_null(strstr(error.text, "/fail"));
                rig_free(&r);
            }
}

/* Two runs of one graph at the same time, one failing, do not disturb each other. (Sinks are not recorded here: nobody
 * could say whose they are.) */
static void test_two_runs_at_once(void **state)
{
    struct df_options o = options_of("ws", DF_DEVICE_EMU, 2);
    struct df_error error[2];
    struct df_run *runs[2];
    struct df_stats stats[2];
    struct rig r;
    struct rig_out x;

    (void)state;
    rig_begin(&r, 100);
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < 20; i++)
        x = rig_node(&r, i == 10 ? RIG_FAIL : RIG_ADD1, 30, x, RIG_NOTHING);
    rig_node(&r, RIG_ADD1, 30, x, RIG_NOTHING);
    rig_end(&r);
    o.emu_check = 0;
    o.waves = 40;
    assert_int_equal(df_run_start(r.graph, &o, &runs[0], &error[0]), DF_OK);
    o.waves = 20;
    assert_int_equal(df_run_start(r.graph, &o, &runs[1], &error[1]), DF_OK);
    assert_int_equal(df_run_wait(runs[1], &stats[1], &error[1]), DF_OK);
    assert_int_equal(df_run_wait(runs[0], &stats[0], &error[0]), DF_E_KERNEL);
    assert_int_equal(stats[1].waves, 20);
    assert_int_equal(stats[1].jobs, 20 * 22);
    rig_free(&r);
}

/* A kernel that writes to its input, which it declared as such, is stopped by name. */
static void test_stray_write(void **state)
{
    struct df_options o = options_of("all-gpu", DF_DEVICE_EMU, 1);
    struct df_error error = { "" };
    struct rig r;

    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip();                             /* leaves the handler's jump unknown to ThreadSanitizer */
#endif
    rig_begin(&r, 100);
    rig_sink(&r, RIG_SINK | RIG_CPU_ONLY,
             rig_node(&r, RIG_STRAY, 1, rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING));
    rig_end(&r);
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_KERNEL);
    assert_non_null(strstr(error.text, "stray"));
    assert_non_null(strstr(error.text, "'a'"));
    rig_free(&r);
}

static void test_wrong_codes(void **state)
{
    static const struct {
        int code;
        const char *message;
    } cases[] = {
        { DF_END, "returned DF_END, which only a stream source may" },
        { DF_SKIP, "returned DF_SKIP, which is not yet supported" },
        { DF_FAILED, "failed and gave no reason" },
        { 77, "returned 77, which is no DF_... code" },
    };

    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int device = DF_DEVICE_NONE; device <= DF_DEVICE_EMU; device++) {
            struct rig r;
            struct rig_out x;
            struct df_options o = options_of("all-gpu", (enum df_device_kind)device, 1);
            struct df_error error = { "" };

            rig_begin(&r, 3);
            x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
            rig_sink(&r, RIG_SINK, rig_node(&r, RIG_CODE, cases[i].code, x, RIG_NOTHING));
            rig_end(&r);
            assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_KERNEL);
            assert_non_null(strstr(error.text, cases[i].message));
            rig_free(&r);
        }
}

/* ---- size and rest ---- */

static void test_long_chain(void **state)
{
    enum { N = 100000 };
    struct rig r;
    struct rig_out x;
    struct df_options o = options_of("dmda", DF_DEVICE_NONE, 1);
    struct df_stats stats;

    (void)state;
    rig_begin(&r, 1);
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < N; i++)
        x = rig_node(&r, RIG_ADD1, 1, x, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, x);
    rig_end(&r);
    rig_expect(&r, 2);
    o.waves = 2;
    stats = check(&r, &o, 2);
    print_message("chain of %d: %.0f ns a node\n", N, stats.makespan_s / (2 * N) * 1e9);
    rig_free(&r);
}

/* Workers that have nothing to do sleep: a run that waits for one slow kernel uses hardly any processor time. */
static void test_idle_workers_sleep(void **state)
{
    struct rig r;
    struct rig_out x;
    struct df_options o = options_of("ws", DF_DEVICE_EMU, 3);
    struct df_error error;
    double before, after;

    (void)state;
    rig_begin(&r, 1);
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_MEET | RIG_CPU_ONLY, 2, x, RIG_NOTHING));
    /* nobody comes: fails after a while of sleep */
    rig_end(&r);
    before = (double)clock() / CLOCKS_PER_SEC;
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_KERNEL);
    after = (double)clock() / CLOCKS_PER_SEC;
    assert_true(after - before < 0.2);
    rig_free(&r);
}

static void test_trace(void **state)
{
    char path[] = "/tmp/dfc-trace-XXXXXX", line[1024];
    int fd = mkstemp(path), events = 0, names = 0;
    struct rig r;
    struct df_options o = options_of("all-gpu", DF_DEVICE_EMU, 1);
    FILE *file;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    rig_random(&r, 5, 20, 64, 0);
    rig_expect(&r, 3);
    o.waves = 3;
    o.trace_path = path;
    check(&r, &o, 3);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        events += strstr(line, "\"ph\":\"X\"") != NULL;
        names += strstr(line, "\"thread_name\"") != NULL;
    }
    fclose(file);
    unlink(path);
    assert_int_equal(names, 4); /* a worker, and three rows of the GPU */
    assert_true(events > 60);
    o.trace_path = "/nonexistent/t.json";
    {
        struct df_error error;
        assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_IO);
        assert_string_equal(error.text, "cannot write '/nonexistent/t.json': No such file or directory");
        assert_false(rig_same(&r, 3)); /* found out before anything ran */
    }
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain), cmocka_unit_test(test_diamond), cmocka_unit_test(test_wavefront),
        cmocka_unit_test(test_streams_end), cmocka_unit_test(test_stream_that_is_empty), cmocka_unit_test(test_once),
        cmocka_unit_test(test_only_once), cmocka_unit_test(test_empty_graph), cmocka_unit_test(test_unread_outputs),
        cmocka_unit_test(test_depth), cmocka_unit_test(test_threads), cmocka_unit_test(test_workers_run_at_once),
        cmocka_unit_test(test_waves_run_at_once), cmocka_unit_test(test_random), cmocka_unit_test(test_small_memory),
        cmocka_unit_test(test_fragments), cmocka_unit_test(test_many_gpus), cmocka_unit_test(test_refused_gpu_memory),
        cmocka_unit_test(test_too_large_runs_on_cpu), cmocka_unit_test(test_hints_are_kept),
        cmocka_unit_test(test_gpu_hint_without_gpu), cmocka_unit_test(test_unknown_policy),
        cmocka_unit_test(test_no_cuda),
        cmocka_unit_test(test_failure_anywhere), cmocka_unit_test(test_plan_is_followed_or_made_again),
        cmocka_unit_test(test_plan_in_small_memory), cmocka_unit_test(test_two_runs_at_once),
        cmocka_unit_test(test_stray_write), cmocka_unit_test(test_wrong_codes), cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_idle_workers_sleep), cmocka_unit_test(test_trace),
    };
    cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
