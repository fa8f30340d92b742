/* test_ranks.c - random graphs on several ranks, a thread for each, over the mock of a link that delays and reorders: what
 * reaches the sinks is compared with the sequential reference, also if a rank dies. It is made to be run under TSan.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks_rig.h"

enum { MOST_RANKS = 4 };

static struct dfr_figures *figures;
static struct df_node_stats timed;      /* it is there: jobs are timed */

/* Each wave was done by one rank. If none dies, all have reported, and each node has fired once in each wave, or was left out. */
static void check_figures(const struct df_graph *g, int n, int64_t waves, int killed, unsigned seed)
{
    int64_t accepted = 0;

    assert_non_null(figures);
    assert_int_equal(figures->n_ranks, n);
    assert_int_equal(figures->waves, waves);
    for (int i = 0; i < n; i++) {
        const struct dfr_rank_figures *rank = &figures->ranks[i];
        accepted += rank->counts.n_accepted;
        bool late = rank->fate == DFR_RANK_ABSENT && rank->counts.n_given == 0; /* its HELLO came after the last wave */
        if (!killed && !late && !(rank->reported && rank->fate == DFR_RANK_WORKED))
            fail_msg("seed %u: rank %d did not report", seed, i);
    }
    assert_int_equal(accepted, waves);
    for (uint32_t v = 0; figures->nodes && !killed && v < g->n_nodes; v++) {
        const struct df_node_stats *node = &figures->nodes[v];
        uint64_t fired = node->host_jobs + node->device_jobs + figures->skips[v].left_out;
        bool once = g->nodes[v].flags & (DF_NODE_ONCE | DF_NODE_FINAL);
        if (fired != (once ? 1 : (uint64_t)waves) && !(g->kernels[g->nodes[v].kernel].traits & DF_STREAM))
            fail_msg("seed %u: node %u has fired %llu times", seed, v, (unsigned long long)fired);
    }
    dfr_figures_free(figures);
    figures = NULL;
}

static void check_seed(unsigned seed)
{
    static const char *const policies[] = { "ws", "eager", "dmda", "all-cpu" };
    uint32_t random = seed * 747796405u | 1;
    int64_t waves = 1 + rig_rand(&random) % 40;
    bool streams = rig_rand(&random) % 2;
    int n = 2 + (int)(rig_rand(&random) % (MOST_RANKS - 1)), killed = n > 2 && seed % 8 == 1 ? 1 + (int)(rig_rand(&random) % 2) : 0;
    struct df_options o = rig_options(policies[rig_rand(&random) % 4], DF_DEVICE_NONE, 1);
    struct dfr_ranks_options ranks = { .share = DFR_SHARE_WAVES, .window = rig_rand(&random) % 4, .heartbeat_timeout_s = killed ? 3 : 0,
                                       .memory_bytes = rig_rand(&random) % 2 ? 2000 : 0 };
    struct rig r;

    rig_skips = seed % 2;
    rig_accs = seed % 3 == 0;
    o.waves = streams ? -1 : waves;
    o.inflight = rig_rand(&random) % 5;
    rig_random(&r, seed, 4 + rig_rand(&random) % 30, 1 + rig_rand(&random) % 60, streams ? waves : 0);
    rig_expect(&r, waves);
    ranks.figures = seed % 2 ? &figures : NULL;
    o.node_stats = seed % 4 == 1 ? &timed : NULL;
    ranks_rig_check(&r, n, &o, &ranks, killed, &random, waves, seed);
    if (ranks.figures)
        check_figures(r.graph, n, waves, killed, seed);
    rig_free(&r);
}

static void test_random(void **state)
{
    unsigned first = 1, last = 24;

    (void)state;
    rig_seeds(&first, &last);
    for (unsigned seed = first; seed <= last; seed++)
        check_seed(seed);
    rig_skips = rig_accs = false;
}

/* stream -> `kernel` -> ordered sink, on three ranks */
static int run_chain(int source, int kernel, int64_t s, int sink)
{
    struct df_options o = rig_options("eager", DF_DEVICE_NONE, 1);
    const struct dfr_ranks_options ranks = { .window = 2 };
    uint32_t random = 1;
    struct rig r;

    rig_begin(&r, 10);
    r.expected_threads = 1;
    struct rig_out a = rig_node(&r, kernel, s, rig_node(&r, source, 12, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING);
    if (sink == RIG_FAIL)
        rig_node(&r, RIG_FAIL, 5, a, RIG_NOTHING);
    rig_sink(&r, RIG_ORDERED, a);
    rig_end(&r);
    ranks_rig_run(&r, 3, &o, &ranks, 0, &random);
    rig_free(&r);
    return ranks_rig[0].status;
}

/* What fails on a worker is told by rank 0, with its place. The others are let go. */
static void test_failure(void **state)
{
    (void)state;
    assert_int_not_equal(run_chain(RIG_STREAM, RIG_FAIL, 7, RIG_ORDERED), DF_OK);
    if (!strstr(ranks_rig[0].error.text, "node 'main/fail#2', wave 7"))
        fail_msg("%s", ranks_rig[0].error.text);
    assert_int_not_equal(run_chain(RIG_STREAM, RIG_ADD1, 7, RIG_FAIL), DF_OK);
    if (!strstr(ranks_rig[0].error.text, "wave 5"))
        fail_msg("%s", ranks_rig[0].error.text);
}

/* A graph of which nothing can be handed out: rank 0 says it, and the others have nothing to do. */
static void test_refused(void **state)
{
    (void)state;
    struct df_options o = rig_options("eager", DF_DEVICE_NONE, 1);
    const struct dfr_ranks_options ranks = { 0 };
    uint32_t random = 1;
    struct rig r;
    rig_begin(&r, 10);
    rig_sink(&r, RIG_ORDERED, rig_node(&r, RIG_STREAM, 5, RIG_NOTHING, RIG_NOTHING));
    rig_end(&r);
    assert_int_equal(ranks_rig_run(&r, 2, &o, &ranks, 0, &random), DF_E_REFUSED);
    assert_int_equal(ranks_rig[1].status, DF_OK);
    rig_free(&r);
    /* what fires once fails on rank 0, before any wave */
    rig_begin(&r, 10);
    struct rig_out once = rig_node(&r, RIG_FAIL, 0, rig_node(&r, RIG_ONCE, 5, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING);
    rig_sink(&r, RIG_ORDERED, rig_node(&r, RIG_ADD2, 1, rig_node(&r, RIG_STREAM, 5, RIG_NOTHING, RIG_NOTHING), once));
    rig_end(&r);
    assert_int_not_equal(ranks_rig_run(&r, 2, &o, &ranks, 0, &random), DF_OK);
    if (!strstr(ranks_rig[0].error.text, "node 'main/fail"))
        fail_msg("%s", ranks_rig[0].error.text);
    rig_free(&r);
}

/* How often the nodes of a kernel were called; afterwards the figures are gone. */
static uint64_t count_calls(const struct df_graph *g, const char *kernel)
{
    uint64_t n = 0;

    assert_non_null(figures);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (!strcmp(df_graph_string(g, g->kernels[g->nodes[v].kernel].name), kernel))
            n += figures->nodes[v].host_jobs + figures->nodes[v].device_jobs;
    dfr_figures_free(figures);
    figures = NULL;
    return n;
}

/* Wave 7 fails on the other rank. It is given out when wave 5 has ended at the earliest, and so when the accs of five waves are written. The run that goes on
 * begins with these. A source that keeps something is called from wave 0 on. */
static void check_checkpoint(int source, enum df_device_kind device, const char *path)
{
    struct df_options o = rig_options(device == DF_DEVICE_NONE ? "ws" : "all-gpu", device, 1);
    struct dfr_resumable_options wanted = { .journal = path, .resume = true, .grace_s = 30, .checkpoint_s = 1e-9 };
    struct dfr_ranks_options ranks = { .window = 1, .resume = &wanted, .figures = &figures };
    const int64_t waves = 12;
    uint32_t random = 1;
    struct rig r;

    rig_begin(&r, 10);
    struct rig_out from = rig_node(&r, RIG_FAIL, 7, rig_node(&r, source, source == RIG_STREAM ? waves : 3, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_POUR, 5, from, RIG_NOTHING));
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_POUR, 6, rig_node(&r, RIG_ADD1, 1, from, RIG_NOTHING), RIG_NOTHING));
    rig_end(&r);
    r.finals = true;
    o.waves = source == RIG_STREAM ? -1 : waves;
    o.inflight = 2;
    o.emu_gpu_code = 1;
    o.node_stats = &timed;
    rig_fails = false;
    rig_expect(&r, waves);
    if (device != DF_DEVICE_NONE)       /* else the first rank uses none */
        for (uint32_t k = 0; k < r.graph->n_kernels; k++)
            if (r.graph->kernels[k].n_acc > 0)
                ((struct df_functions *)r.graph->functions)[k].cpu = NULL;
    rig_fails = true;
    assert_int_not_equal(ranks_rig_run(&r, 2, &o, &ranks, 0, &random), DF_OK);
    if (!strstr(ranks_rig[0].error.text, "planted at 7"))
        fail_msg("%s", ranks_rig[0].error.text);
    rig_fails = false;
    if (ranks_rig_run(&r, 3, &o, &ranks, 0, &random) != DF_OK)
        fail_msg("%s", ranks_rig[0].error.text);
    assert_true(rig_same(&r, waves));
    const struct dfr_figures *f = figures;
    assert_in_range(f->waves, 5, 7);
    assert_in_range(count_calls(r.graph, "fail"), 5, 7);
    rig_free(&r);
}

static void test_checkpoint(void **state)
{
    char folder[] = "/tmp/df-ranks-XXXXXX", path[64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/journal", folder);
    check_checkpoint(RIG_SOURCE, DF_DEVICE_NONE, path);
    assert_int_equal(unlink(path), 0);
    check_checkpoint(RIG_STREAM, DF_DEVICE_NONE, path);
    assert_int_equal(unlink(path), 0);
    check_checkpoint(RIG_SOURCE, DF_DEVICE_EMU, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* no checkpoint is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_failure), cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_checkpoint) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
