/* test_shares.c - graphs with divided accs on several ranks, a thread for each, over the mock of a link: what comes after the last wave is compared
 * with the sequential reference, also if a rank dies. What cannot be shared is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks_rig.h"
#include "runtime/link/message.h"
#include "runtime/ranks/ranks_impl.h"
#include "runtime/record/checkpoint.h"
#include "runtime/record/spans.h"
#include "runtime/record/writer.h"
#include "runtime/subgraph/share.h"

enum { MOST_RANKS = 5 };

static const struct dfr_resumable_options *journal; /* of the next run; NULL: none */

/* Such ranks end well, with what the sequential reference says. */
static void check_ranks(struct rig *r, int n, const struct df_options *options, int killed, uint32_t seed)
{
    const struct dfr_ranks_options ranks = { .share = DFR_SHARE_PARTS, .heartbeat_timeout_s = killed ? 3 : 0, .resume = journal };
    ranks_rig_check(r, n, options, &ranks, killed, &(uint32_t){ seed }, options->waves, seed);
}

static int run_ranks(struct rig *r, int n, const struct df_options *options)
{
    const struct dfr_ranks_options ranks = { .share = DFR_SHARE_PARTS, .resume = journal };
    return ranks_rig_run(r, n, options, &ranks, 0, &(uint32_t){ 1 });
}

/* Two halves that change an acc by what `from` makes, and their whole. */
static struct rig_out halves(struct rig *r, int64_t s, struct rig_out from)
{
    const uint64_t n = r->n, rows[2] = { n / 2, n - n / 2 };
    struct rig_out ranges[2], accs[2];

    rig_view(r, from, ranges);
    for (uint32_t k = 0; k < 2; k++) {
        const struct df_part_rows part = { .first = k * rows[0], .rows = rows[k], .whole = n, .number = k, .n = 2 };
        r->n = rows[k];
        r->part = &part;
        accs[k] = rig_node(r, RIG_POUR, s, ranges[k], RIG_NOTHING);
    }
    r->n = n;
    return rig_join(r, accs[0], accs[1]);
}

/* Accs of `pairs` nodes in halves. What they read comes of a source, of what fires once, and of nodes between that all share. */
static void make_graph(struct rig *r, unsigned seed, unsigned pairs, int between)
{
    rig_begin(r, 5 + seed % 40);
    struct rig_out once = rig_node(r, RIG_ONCE, 2, RIG_NOTHING, RIG_NOTHING), from = rig_node(r, RIG_SOURCE, seed, RIG_NOTHING, RIG_NOTHING);
    from = rig_node(r, between, 3, rig_node(r, RIG_TABLE, 3, from, once), RIG_NOTHING);
    if (seed % 3 == 0)
        from = rig_node(r, RIG_SKIP, seed, from, RIG_NOTHING);
    for (unsigned i = 0; i < pairs; i++) {
        struct rig_out whole = halves(r, i + 1, i % 2 ? rig_node(r, RIG_ADD1, i, from, RIG_NOTHING) : from);
        rig_sink(r, RIG_SINK, whole);
        rig_sink(r, RIG_SINK, rig_node(r, RIG_TABLE, i, whole, once));
    }
    rig_end(r);
    r->finals = true;
}

static void test_same(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 24; seed++) {
        struct df_options o = rig_options(seed % 4 == 2 ? "all-gpu" : "ws", seed % 4 == 2 ? DF_DEVICE_EMU : DF_DEVICE_NONE, 1 + seed % 2);
        const int n = 2 + (int)(seed % (MOST_RANKS - 1));
        struct rig r;

        o.waves = seed % 7 == 0 ? 0 : 1 + seed % 20;
        o.inflight = seed % 5;
        rig_skips = seed % 3 == 0;
        make_graph(&r, seed, 1 + seed % 4, RIG_ADD1);
        rig_expect(&r, o.waves);
        check_ranks(&r, n, &o, 0, seed);
        rig_free(&r);
    }
    rig_skips = false;
}

/* Each rank reads one half of a token, and nobody there reads the other: the token's memory goes with the half that is read. */
static void test_halves(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 8; seed++) {
        struct df_options o = rig_options("all-gpu", DF_DEVICE_EMU, 1 + seed % 2);
        struct rig r;

        o.waves = 30;
        o.inflight = 1 + seed % 3;
        make_graph(&r, seed * 3 + 1, 1, RIG_ADD1);
        rig_expect(&r, o.waves);
        check_ranks(&r, 3, &o, 0, seed);
        rig_free(&r);
    }
}

/* Its share is run by another rank from the first wave on. */
static void test_killed(void **state)
{
    (void)state;
    struct df_options o = rig_options("ws", DF_DEVICE_NONE, 1);
    struct rig r;

    o.waves = 12;
    make_graph(&r, 1, 3, RIG_SLOW);     /* 20 ms a wave, so the rank dies in the middle of its share */
    rig_expect(&r, o.waves);
    check_ranks(&r, 4, &o, 2, 1);
    rig_free(&r);
}

/* What fails in a share is told by rank 0, with its place. */
static void test_failure(void **state)
{
    struct df_options o = rig_options("ws", DF_DEVICE_NONE, 1);
    struct rig r;

    (void)state;
    o.waves = 9;
    rig_begin(&r, 10);
    rig_sink(&r, RIG_SINK, halves(&r, 1, rig_node(&r, RIG_FAIL, 7, rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING)));
    rig_end(&r);
    assert_int_not_equal(run_ranks(&r, 3, &o), DF_OK);
    if (!strstr(ranks_rig[0].error.text, "node 'main/fail#2', wave 7"))
        fail_msg("%s", ranks_rig[0].error.text);
    rig_free(&r);
}

static unsigned count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned n = 0;

    assert_non_null(tasks);
    while (readdir(tasks))
        n++;
    closedir(tasks);
    return n;
}

/* What comes after the last wave cannot begin: the run fails, and nobody writes its journal any more. A checkpoint of a journal before is gone: a later run
 * would take it for one of this journal. */
static void test_no_end(void **state)
{
    struct df_options o = rig_options("ws", DF_DEVICE_NONE, 1);
    char folder[] = "/tmp/df-shares-XXXXXX", path[64], accs[72];
    const struct dfr_resumable_options wanted = { .journal = path, .resume = true, .grace_s = 30 };
    struct rig r;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/journal", folder);
    snprintf(accs, sizeof accs, "%s.accs", path);
    FILE *old = fopen(accs, "w");
    assert_non_null(old);
    fclose(old);
    o.waves = 5;
    make_graph(&r, 1, 1, RIG_ADD1);
    for (uint32_t v = 0; v < r.graph->n_nodes; v++)
        if (df_node_n_out(r.graph, v) == 0)
            ((struct df_functions *)r.graph->functions)[r.graph->nodes[v].kernel].cpu = NULL;
    const unsigned n_before = count_threads();
    journal = &wanted;
    assert_int_not_equal(run_ranks(&r, 3, &o), DF_OK);
    journal = NULL;
    assert_int_not_equal(ranks_rig[0].error.text[0], 0);
    for (int i = 0; i < 1000 && count_threads() > n_before; i++)
        usleep(10000);                  /* one that was joined may be there for a moment */
    assert_true(count_threads() <= n_before);
    assert_int_not_equal(access(accs, F_OK), 0);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    rig_free(&r);
}

/* A share has each part once, and shares are as even as they can be. */
static void test_shares(void **state)
{
    struct dfr_shared shared;
    struct df_error error;
    struct rig r;

    (void)state;
    make_graph(&r, 1, 4, RIG_ADD1);
    if (dfr_shared_find(r.graph, NULL, &shared, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(shared.n_parts, 8);
    for (uint32_t n = 1; n <= 8; n++) {
        uint32_t seen = 0;
        for (uint32_t k = 0; k < n; k++) {
            struct dfr_parts made;
            uint32_t parts = 0;
            if (dfr_share_make(&shared, dfr_share_first(&shared, k, n), dfr_share_first(&shared, k + 1, n), &made, &error) != DF_OK || !df_graph_check(made.cuts[DFR_BODY].graph, &error))
                fail_msg("%s", error.text);
            for (uint32_t v = 0; v < made.cuts[DFR_BODY].graph->n_nodes; v++)
                parts += df_node_n_acc(made.cuts[DFR_BODY].graph, v) > 0;
            assert_in_range(parts, 8 / n, (8 + n - 1) / n);
            seen += parts;
            dfr_parts_free(&made);
        }
        assert_int_equal(seen, 8);
    }
    dfr_shared_free(&shared);
    rig_free(&r);
}

/* Values for the accs of a span after some waves. The bytes say the value and the wave. */
static struct dfr_message *make_accs(const struct dfr_shared *shared, const struct dfr_span *span)
{
    const struct dfr_head head = { .kind = DFR_RESULT };
    struct dfr_value values[32] = { { 0 } };
    unsigned char *bytes[32];
    uint32_t n = 0;

    for (uint32_t i = span->first; i < span->end; i++)
        for (uint32_t a = 0; a < df_node_n_acc(shared->graph, shared->parts[i]); a++, n++) {
            uint32_t x = df_node_acc(shared->graph, shared->parts[i], a);
            size_t size = shared->graph->values[x].bytes;
            bytes[n] = malloc(size + 1);
            assert_non_null(bytes[n]);
            memset(bytes[n], (int)(x * 16 + (uint32_t)span->waves), size);
            values[n] = (struct dfr_value){ .port = x, .data = bytes[n], .bytes = size };
        }
    struct dfr_message *message = dfr_message_make(&head, values, n);
    assert_non_null(message);
    while (n > 0)
        free(bytes[--n]);
    return message;
}

/* Each part is in one span, at the wave at which its file is, with what that has. */
static void check_spans(const struct dfr_shared *shared, uint32_t n_ranks, const char *path, uint64_t program, const int64_t *waves)
{
    struct dfr_span *spans;
    struct df_error error = { "" };
    uint32_t n_spans, next = 0;

    if (dfr_spans_make(shared, n_ranks, path, program, &spans, &n_spans, &error) != DF_OK)
        fail_msg("%s", error.text);
    for (uint32_t k = 0; k < n_spans; k++) {
        assert_int_equal(spans[k].first, next);
        assert_true(spans[k].end > next);
        next = spans[k].end;
        for (uint32_t i = spans[k].first; i < spans[k].end; i++)
            assert_int_equal(spans[k].waves, waves[i]);
        assert_true((spans[k].accs != NULL) == (spans[k].waves > 0));
        for (uint32_t a = 0; spans[k].accs && a < dfr_span_accs(shared, &spans[k]); a++) {
            const struct dfr_value *value = &spans[k].accs->values[a];
            assert_int_equal(value->bytes, shared->graph->values[value->port].bytes);
            for (size_t b = 0; b < value->bytes; b++)
                assert_int_equal(((const unsigned char *)value->data)[b], (unsigned char)(value->port * 16 + (uint32_t)spans[k].waves));
        }
    }
    assert_int_equal(next, shared->n_parts);
    dfr_spans_free(spans, n_spans);
}

/* What three ranks have left at unlike waves, any number of ranks goes on with. */
static void test_checkpoints(void **state)
{
    char folder[] = "/tmp/df-shares-XXXXXX", path[64];
    const int64_t none[8] = { 0 }, waves[8] = { 5, 5, 0, 0, 0, 9, 9, 9 };
    struct df_error error = { "" };
    struct dfr_shared shared;
    struct dfr_writer writer;
    const struct dfr_checkpoints to = { &writer, &shared, path, 7 };
    struct dfr_span *spans;
    uint32_t n_spans;
    struct rig r;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/accs", folder);
    make_graph(&r, 1, 4, RIG_ADD1);
    assert_int_equal(dfr_shared_find(r.graph, NULL, &shared, &error), DF_OK);
    for (uint32_t n = 1; n <= 9; n++)
        check_spans(&shared, n, path, 7, none);
    assert_int_equal(dfr_spans_make(&shared, 3, path, 7, &spans, &n_spans, &error), DF_OK);
    assert_int_equal(n_spans, 3);
    dfr_writer_begin(&writer, NULL, NULL, NULL);
    for (int64_t wave = 1; wave <= 9; wave++)
        for (uint32_t k = 0; k < 3; k += 2) {
            if (k == 0 && wave > 5)
                continue;
            spans[k].waves = wave;
            dfr_message_drop(spans[k].accs);
            spans[k].accs = make_accs(&shared, &spans[k]);
            assert_int_equal(dfr_span_write(&to, &spans[k], &error), DF_OK);
        }
    assert_int_equal(dfr_writer_end(&writer, &error), DF_OK);
    dfr_spans_free(spans, n_spans);
    for (uint32_t n = 1; n <= 9; n++)
        check_spans(&shared, n, path, 7, waves);
    check_spans(&shared, 3, path, 8, none); /* another program's */
    check_spans(&shared, 3, NULL, 7, none);
    dfr_accs_remove_parts(path, r.graph);
    assert_int_equal(rmdir(folder), 0);
    /* Nothing can be written: the caller hears it. */
    dfr_writer_begin(&writer, NULL, NULL, NULL);
    assert_int_equal(dfr_spans_make(&shared, 1, NULL, 7, &spans, &n_spans, &error), DF_OK);
    spans[0].waves = 1;
    spans[0].accs = make_accs(&shared, &spans[0]);
    assert_int_equal(dfr_span_write(&to, &spans[0], &error), DF_OK);
    assert_int_equal(dfr_writer_end(&writer, &error), DF_E_IO);
    assert_non_null(strstr(error.text, "cannot write '"));
    dfr_spans_free(spans, n_spans);
    dfr_shared_free(&shared);
    rig_free(&r);
}

/* Ranks give their parts after each few waves, and get them again, perhaps those of another rank. One dies meanwhile. */
static void test_steps(void **state)
{
    char folder[] = "/tmp/df-shares-XXXXXX", path[64];
    const struct dfr_resumable_options wanted = { .journal = path, .grace_s = 30, .checkpoint_s = 1e-9 };
    struct df_options o = rig_options("ws", DF_DEVICE_NONE, 1);

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/journal", folder);
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct rig r;

        if (seed % 4 == 2)
            o = rig_options("all-gpu", DF_DEVICE_EMU, 1);
        o.waves = seed % 7 == 0 ? 0 : 1 + seed;
        make_graph(&r, seed, 1 + seed % 4, seed % 4 == 1 ? RIG_SLOW : RIG_ADD1);
        rig_expect(&r, o.waves);
        journal = &wanted;
        check_ranks(&r, 2 + (int)(seed % (MOST_RANKS - 1)), &o, seed == 9 ? 1 : 0, seed);
        journal = NULL;
        rig_free(&r);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0); /* no checkpoint is left */
}

/* Who gets further is heard before it counts as dead, however short the time is that a share may make no wave. */
static void test_beats(void **state)
{
    const struct dfr_ranks_options none = { 0 }, hour = { .wave_timeout_s = 3600 }, short_wave = { .wave_timeout_s = 0.4 },
                                   short_both = { .wave_timeout_s = 4, .heartbeat_timeout_s = 2 };

    (void)state;
    assert_true(dfr_ranks_worker_beat_s(&none) == 0); /* the default */
    assert_true(dfr_ranks_worker_beat_s(&hour) == 0);
    assert_true(dfr_ranks_worker_beat_s(&short_wave) == 0.1);
    assert_true(dfr_ranks_worker_beat_s(&short_both) == 0.2);
}

static void refuse(struct rig *r, const char *why)
{
    struct df_error error = { "" };
    struct dfr_shared shared;
    bool parts = true;

    rig_end(r);
    assert_int_equal(dfr_shared_choose(r->graph, NULL, 3, false, DFR_SHARE_FIND, &shared, &parts, &error), DF_OK);
    assert_false(parts);
    dfr_shared_free(&shared);
    assert_int_equal(dfr_shared_choose(r->graph, NULL, 3, false, DFR_SHARE_WAVES, &shared, &parts, &error), DF_OK);
    assert_false(parts);
    assert_int_equal(dfr_shared_choose(r->graph, NULL, 3, false, DFR_SHARE_PARTS, &shared, &parts, &error), DF_E_REFUSED);
    if (!strstr(error.text, why))
        fail_msg("%s", error.text);
    rig_free(r);
}

static void test_refused(void **state)
{
    struct rig_out from;
    struct rig r;

    (void)state;
    rig_begin(&r, 10);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_POUR, 1, rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING));
    refuse(&r, "--share=parts: no acc is divided, or its kernel makes something else in each wave");
    rig_begin(&r, 10);
    from = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, halves(&r, 1, from));
    rig_sink(&r, RIG_ORDERED, from);
    refuse(&r, "--share=parts: node 'main/ordered_sink' fires in each wave, and parts of accs do not need it");
    rig_begin(&r, 10);
    rig_sink(&r, RIG_SINK, halves(&r, 1, rig_node(&r, RIG_STREAM, 5, RIG_NOTHING, RIG_NOTHING)));
    refuse(&r, "--share=parts: node 'main/stream' makes what parts of an acc read, and cannot be called on each rank");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares), cmocka_unit_test(test_same), cmocka_unit_test(test_halves), cmocka_unit_test(test_failure),
        cmocka_unit_test(test_killed), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_checkpoints), cmocka_unit_test(test_steps), cmocka_unit_test(test_no_end), cmocka_unit_test(test_beats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
