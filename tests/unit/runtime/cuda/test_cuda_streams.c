/* test_cuda_streams.c - empty tokens, accs and parts of tokens on the CUDA back end, with the mock of the CUDA runtime below
 * it (cuda_rig.h). Host code is called when a job is enqueued, in the order of its stream, so what it skips is known
 * then; on the emulator it is known when the job ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "cuda_rig.h"
#include "runtime/engine/engine.h"

#define PAGE UINT64_C(4096)
#define TOKEN UINT64_C(400)             /* bytes of 50 elements */

static const char *const policies[] = { "eager", "ws", "dmda", "all-gpu" };

/* Options that vary with the seed, as in test_cuda_mock.c. */
static struct df_options options_for(uint32_t seed, const char *policy, const struct df_platform *linked)
{
    struct df_options o = options_of(policy);

    mock_begin(1 + seed % 2, MEMORY, seed);
    o.gpu_mem_bytes = seed % 3 ? 0 : 7 * PAGE;
    o.cuda_graphs = seed % 3 == 1 ? DF_GRAPHS_ON : seed % 3 == 2 ? DF_GRAPHS_OFF : DF_GRAPHS_AUTO;
    o.inflight = seed % 4;
    o.gpu_jobs = seed / 2 % 3;
    o.platform = seed % 4 == 1 ? linked : NULL;
    return o;
}

static struct df_platform two_that_are_linked(void)
{
    struct df_platform p;

    df_platform_default(&p, 2);
    p.units[1].peer = p.units[2].peer = (struct df_link){ 1e10, 1e-6, 0 };
    return p;
}

/* What happened in the memories of some runs. */
struct sums {
    uint64_t replayed, evicted, written_back, sent;
};

static void add(struct sums *sums, const struct df_stats *stats)
{
    for (unsigned m = 0; m < stats->n_memories; m++) {
        sums->replayed += stats->memories[m].replayed;
        sums->evicted += stats->memories[m].evictions;
        sums->written_back += stats->memories[m].writebacks;
        sums->sent += stats->memories[m].peer_copies;
    }
}

/* Random graphs as the rig's switches say, by each policy. */
static struct sums run_random(unsigned last)
{
    const struct df_platform linked = two_that_are_linked();
    struct sums sums = { 0 };
    unsigned first = 1;

    rig_seeds(&first, &last);
    for (uint32_t seed = first; seed <= last; seed++) {
        struct rig r;
        rig_random(&r, seed, 40, 50, 0);
        use_launches(&r);
        rig_expect(&r, WAVES);
        for (unsigned p = 0; p < sizeof policies / sizeof *policies; p++) {
            struct df_options o = options_for(seed, policies[p], &linked);
            struct df_stats stats = rig_check(&r, &o, WAVES);
            assert_int_equal(stats.left_bytes, 0);
            assert_nothing_left();
            add(&sums, &stats);
        }
        rig_free(&r);
    }
    return sums;
}

/* ---- empty tokens ---- */

static void test_random_skips(void **state)
{
    (void)state;
    need_mock();
    rig_skips = true;
    struct sums sums = run_random(12);
    rig_skips = false;
    assert_true(sums.replayed > 0 && sums.evicted > 0);
}

static struct df_node_skips skips_of(struct rig *r, struct df_options *o)
{
    struct df_node_skips *skips = calloc(r->graph->n_nodes, sizeof *skips), sums = { 0 };

    o->node_skips = skips;
    rig_check(r, o, WAVES);
    for (uint32_t v = 0; v < r->graph->n_nodes; v++) {
        sums.skipped += skips[v].skipped;
        sums.left_out += skips[v].left_out;
    }
    free(skips);
    return sums;
}

/* Jobs that are enqueued behind one whose host code has skipped are left out, in the same batch and in the next one. */
static void test_skip_at_enqueue(void **state)
{
    (void)state;
    need_mock();
    for (uint32_t seed = 1; seed <= 8; seed++) {
        struct rig r;
        struct rig_out a;
        mock_begin(1, MEMORY, seed);
        rig_begin(&r, 50);
        a = rig_node(&r, RIG_SKIP, 17, rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING);
        for (int i = 0; i < 40; i++)    /* more than a batch has */
            a = rig_node(&r, i % 3 ? RIG_ADD1 : RIG_BUMP, i, a, RIG_NOTHING);
        rig_sink(&r, RIG_ORDERED | RIG_CPU_ONLY, a);
        rig_end(&r);
        use_launches(&r);
        rig_expect(&r, WAVES);
        struct df_options o = options_of("all-gpu");
        o.inflight = 1 + seed % 3;
        o.cuda_graphs = seed % 2 ? DF_GRAPHS_ON : DF_GRAPHS_AUTO;
        struct df_node_skips skips = skips_of(&r, &o);
        assert_true(skips.skipped > 0 && skips.skipped < WAVES);
        assert_int_equal(skips.skipped, r.expected_skipped);
        assert_int_equal(skips.left_out, 41 * skips.skipped);
        assert_nothing_left();
        rig_free(&r);
    }
}

/* A select takes its first input in some waves, and its second one in others. What it copied when it was recorded is not
 * replayed in waves in which it is to copy the other one. */
static void test_select(void **state)
{
    (void)state;
    need_mock();
    for (uint32_t seed = 1; seed <= 12; seed++) {
        struct rig r;
        struct rig_out source, a, b;
        mock_begin(1, MEMORY, seed);
        rig_begin(&r, 50);
        source = rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
        a = rig_node(&r, RIG_SKIP, seed % 2 ? 17 : 13, source, RIG_NOTHING);
        b = rig_node(&r, RIG_ADD1, 2, source, RIG_NOTHING);
        rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, a);   /* so the batch of `a` ends with it */
        a = rig_node(&r, RIG_ADD1, 3, rig_select(&r, a, b), RIG_NOTHING);
        rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, rig_node(&r, RIG_ADD1, 4, a, RIG_NOTHING));
        rig_end(&r);
        use_launches(&r);
        rig_expect(&r, WAVES);
        assert_true(r.expected_skipped > 0 && r.expected_skipped < WAVES);
        struct df_options o = options_of("all-gpu");
        o.inflight = 1;
        o.gpu_jobs = 1 + seed / 2 % 2;
        o.cuda_graphs = seed % 3 ? DF_GRAPHS_ON : DF_GRAPHS_OFF;
        rig_check(&r, &o, WAVES);
        assert_nothing_left();
        rig_free(&r);
    }
}

/* ---- accs ---- */

static void test_random_accs(void **state)
{
    (void)state;
    need_mock();
    rig_accs = true;
    struct sums sums = run_random(12);
    rig_skips = true;
    struct sums with_skips = run_random(6);
    rig_accs = rig_skips = false;
    assert_true(sums.replayed > 0 && sums.written_back > 0 && sums.sent > 0 && with_skips.replayed > 0);
}

/* Source on the host, acc on the GPU, and what reads its result once there. */
static void make_acc(struct rig *r, int64_t waves)
{
    rig_begin(r, 50);
    rig_sink(r, RIG_SINK | RIG_CPU_ONLY,
             rig_node(r, RIG_ADD1, 3,
                      rig_node(r, RIG_ACC, 2, rig_node(r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING),
                      RIG_NOTHING));
    r->finals = true;
    rig_end(r);
    use_launches(r);
    rig_expect(r, waves);
}

/* The acc stays in the GPU's memory from wave to wave: only what the waves bring is copied there, and one result back. */
static void test_acc_stays(void **state)
{
    (void)state;
    need_mock();
    for (unsigned inflight = 1; inflight <= 3; inflight++) {
        struct rig r;
        mock_begin(1, MEMORY, inflight);
        make_acc(&r, WAVES);
        struct df_options o = options_of("all-gpu");
        o.inflight = inflight;
        struct df_stats stats = rig_check(&r, &o, WAVES);
        assert_int_equal(stats.memories[0].h2d_copies, WAVES);
        assert_int_equal(stats.memories[0].h2d_bytes, WAVES * TOKEN);
        assert_int_equal(stats.memories[0].d2h_copies, 1);
        assert_int_equal(stats.memories[0].d2h_bytes, TOKEN);
        assert_nothing_left();
        rig_free(&r);
    }
}

/* Its jobs run here and there, and the acc goes with them: to the host, back, and straight from GPU to GPU. The waves'
 * tokens come from the host, so all that one GPU sends to another is the acc. */
static void test_acc_moves(void **state)
{
    enum { MANY = 40 };
    const struct df_platform linked = two_that_are_linked();

    (void)state;
    need_mock();
    for (uint32_t seed = 1; seed <= 4; seed++) {
        struct rig r;
        uint64_t sent = 0, to_host = 0;
        mock_begin(2, MEMORY, seed);
        make_acc(&r, MANY);
        struct df_options o = options_of("random");
        o.waves = MANY;
        o.platform = &linked;
        o.inflight = seed;
        struct df_stats stats = rig_check(&r, &o, MANY);
        for (unsigned m = 0; m < stats.n_memories; m++) {
            sent += stats.memories[m].peer_copies;
            to_host += stats.memories[m].d2h_copies;
        }
        assert_true(sent > 0 && to_host > 1);
        assert_nothing_left();
        rig_free(&r);
    }
}

/* ---- parts ---- */

/* Halves of a token are made on the GPU, joined, divided again and made into more, joined, and read whole there. */
static void make_parts(struct rig *r, bool skips)
{
    struct rig_out whole, parts[2];

    rig_begin(r, 50);
    whole = rig_node(r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    for (int turn = 0; turn < 2; turn++) {
        r->n = 50;
        rig_view(r, whole, parts);
        r->n = 25;
        for (int k = 0; k < 2; k++)
            parts[k] = rig_node(r, skips && k == turn ? RIG_SKIP : turn ? RIG_SCRATCH : RIG_BUMP, 17 - 4 * k, parts[k],
                                RIG_NOTHING);
        r->n = 50;
        whole = rig_join(r, parts[0], parts[1]);
    }
    rig_sink(r, RIG_ORDERED | RIG_CPU_ONLY, rig_node(r, RIG_ADD1, 5, whole, RIG_NOTHING));
    rig_end(r);
    use_launches(r);
    rig_expect(r, WAVES);
}

/* A device gets the ranges that its jobs read, and gives back those that they make; wholes are on the host. */
static void test_parts(void **state)
{
    (void)state;
    need_mock();
    for (uint32_t seed = 1; seed <= 6; seed++) {
        struct rig r;
        mock_begin(1, MEMORY, seed);
        make_parts(&r, false);
        struct df_options o = options_of("all-gpu");
        o.inflight = 1 + seed % 3;
        o.cuda_graphs = seed % 2 ? DF_GRAPHS_ON : DF_GRAPHS_OFF;
        struct df_stats stats = rig_check(&r, &o, WAVES);
        assert_int_equal(stats.memories[0].h2d_bytes, 3 * WAVES * TOKEN);
        assert_int_equal(stats.memories[0].d2h_bytes, 3 * WAVES * TOKEN);
        assert_int_equal(stats.memories[0].h2d_copies, 5 * WAVES);
        assert_int_equal(stats.memories[0].d2h_copies, 5 * WAVES);
        assert_int_equal(stats.memories[0].replayed > 0, seed % 2);
        assert_nothing_left();
        rig_free(&r);
    }
}

/* By other policies, with little memory and with parts that skip. */
static void test_parts_anywhere(void **state)
{
    const struct df_platform linked = two_that_are_linked();

    (void)state;
    need_mock();
    for (uint32_t seed = 1; seed <= 12; seed++) {
        struct rig r;
        make_parts(&r, seed % 2);
        assert_int_equal(r.expected_left_out > 0, seed % 2);
        for (unsigned p = 0; p < sizeof policies / sizeof *policies; p++) {
            struct df_options o = options_for(seed, policies[p], &linked);
            rig_check(&r, &o, WAVES);
            assert_nothing_left();
        }
        rig_free(&r);
    }
}

/* Halves of an acc, each of which is changed on the GPU in a pass of its own: what it reads is kept for it on the host. A
 * source that skips makes tokens that stay empty in each pass. */
static void make_passes(struct rig *r, bool skips)
{
    struct rig_out source, parts[2];
    const struct df_part_rows rows[2] = { { .number = 0, .n = 2, .first = 0, .rows = 25, .whole = 50 },
                                          { .number = 1, .n = 2, .first = 25, .rows = 25, .whole = 50 } };

    rig_begin(r, 50);
    source = rig_node(r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    if (skips)
        source = rig_node(r, RIG_SKIP | RIG_CPU_ONLY, 17, source, RIG_NOTHING);
    rig_view(r, source, parts);
    r->n = 25;
    for (int k = 0; k < 2; k++) {
        r->part = &rows[k];
        parts[k] = rig_node(r, RIG_POUR, 3, parts[k], RIG_NOTHING);
    }
    r->n = 50;
    rig_sink(r, RIG_SINK | RIG_CPU_ONLY, rig_join(r, parts[0], parts[1]));
    r->finals = true;
    rig_end(r);
    use_launches(r);
    rig_expect(r, WAVES);
}

static void test_passes(void **state)
{
    (void)state;
    need_mock();
    for (uint32_t seed = 1; seed <= 16; seed++) {
        struct rig r;
        mock_begin(1, MEMORY, seed);
        make_passes(&r, seed % 2);
        uint64_t n_full = WAVES - r.expected_skipped;
        assert_int_equal(n_full < WAVES, seed % 2);
        struct df_options o = options_of(policies[seed / 2 % 4]);
        o.passes = 2;
        o.inflight = 1 + seed % 3;
        o.cuda_graphs = (int)(seed % 3);
        struct df_stats stats = rig_check(&r, &o, WAVES);
        assert_int_equal(stats.passes, 2);
        assert_int_equal(stats.left_bytes, 0);
        if (seed / 2 % 4 == 3) {        /* all-gpu */
            assert_int_equal(stats.memories[0].h2d_bytes, n_full * TOKEN);
            assert_int_equal(stats.memories[0].d2h_bytes, TOKEN);
        }
        assert_nothing_left();
        rig_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_random_skips, cuda_set_up), cmocka_unit_test_setup(test_skip_at_enqueue, cuda_set_up),
        cmocka_unit_test_setup(test_select, cuda_set_up),       cmocka_unit_test_setup(test_random_accs, cuda_set_up),
        cmocka_unit_test_setup(test_acc_stays, cuda_set_up),    cmocka_unit_test_setup(test_acc_moves, cuda_set_up),
        cmocka_unit_test_setup(test_parts, cuda_set_up),        cmocka_unit_test_setup(test_parts_anywhere, cuda_set_up),
        cmocka_unit_test_setup(test_passes, cuda_set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
