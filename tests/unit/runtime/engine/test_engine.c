/* test_engine.c - the firing of nodes. Hand-built graphs of every shape run under every policy, with and without the
 * emulated GPU, and are compared with a sequential reference. Also idle workers, and traces. Memory and plans,
 * refusals, and failures have files of their own.
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
#include "runtime/engine/engine.h"
#include "runtime/threads/clock.h"

static const char *const policies[] = { "eager", "ws", "dmda", "all-cpu", "all-gpu" };
enum { N_POLICIES = sizeof policies / sizeof policies[0] };

static void check_everywhere(struct rig *r, int64_t option_waves, int64_t waves)
{
    rig_expect(r, waves);
    for (int p = 0; p < N_POLICIES; p++)
        for (unsigned workers = 1; workers <= 3; workers++)
            for (int device = DF_DEVICE_NONE; device <= DF_DEVICE_EMU; device++) {
                struct df_options o = rig_options(policies[p], (enum df_device_kind)device, workers);
                o.waves = option_waves;
                o.inflight = (unsigned)(p + (int)workers) % 4;
                rig_check(r, &o, waves);
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
    rig_sink(&r, RIG_ORDERED, b); /* must not see wave 7, which b has and a does not have */
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
        struct df_options o = rig_options(policies[p], DF_DEVICE_EMU, 2);
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
            struct df_options o = rig_options(policies[p], p == 2 ? DF_DEVICE_EMU : DF_DEVICE_NONE, workers);
            o.waves = 8;
            rig_check(&r, &o, 8);
        }
        rig_free(&r);
    }
}

/* Independent jobs must really run at the same time: each waits for the others. Workers that have nothing to do at
 * first are asleep when there are jobs for them. */
static void test_workers_run_at_once(void **state)
{
    (void)state;
    for (int p = 0; p < 8; p++) {
        struct rig r;
        struct df_options o = rig_options(policies[p / 2], DF_DEVICE_NONE, 5);
        struct rig_out a;

        rig_begin(&r, 4);
        a = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
        if (p % 2)
            a = rig_node(&r, RIG_SLOW | RIG_CPU_ONLY, 1, a, RIG_NOTHING);
        for (int i = 0; i < 5; i++)
            rig_sink(&r, RIG_SINK, rig_node(&r, RIG_MEET | RIG_CPU_ONLY, 5, a, RIG_NOTHING));
        rig_end(&r);
        o.waves = 1;
        rig_expect(&r, 0);
        {
            struct df_error error = { "" };
            if (rig_run(&r, &o, NULL, &error) != DF_OK)
                fail_msg("%s: %s", policies[p / 2], error.text);
        }
        rig_free(&r);
    }
}

/* Jobs of several waves run at the same time, too: with three waves in flight, one node's jobs of three waves meet. */
static void test_waves_run_at_once(void **state)
{
    struct rig r;
    struct rig_out x;
    struct df_options o = rig_options("eager", DF_DEVICE_NONE, 3);
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

/* ---- size and rest ---- */

static void test_long_chain(void **state)
{
    enum { N = 100000 };
    struct rig r;
    struct rig_out x;
    struct df_options o = rig_options("dmda", DF_DEVICE_NONE, 1);
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
    stats = rig_check(&r, &o, 2);
    print_message("chain of %d: %.0f ns a node\n", N, stats.makespan_s / (2 * N) * 1e9);
    rig_free(&r);
}

/* Workers that have nothing to do sleep. So a run that waits for one slow kernel uses hardly any processor time. */
static void test_idle_workers_sleep(void **state)
{
    struct rig r;
    struct rig_out x;
    struct df_options o = rig_options("ws", DF_DEVICE_EMU, 3);
    struct df_error error;
    double before, after;

    (void)state;
    rig_begin(&r, 1);
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_MEET | RIG_CPU_ONLY, 2, x, RIG_NOTHING));
    /* nobody else comes: it sleeps for a while, and then fails */
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
    struct df_options o = rig_options("all-gpu", DF_DEVICE_EMU, 1);
    FILE *file;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    rig_random(&r, 5, 20, 64, 0);
    rig_expect(&r, 3);
    o.waves = 3;
    o.trace_path = path;
    rig_check(&r, &o, 3);
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
        assert_false(rig_same(&r, 3)); /* the error is found before anything runs */
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
        cmocka_unit_test(test_waves_run_at_once), cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_idle_workers_sleep), cmocka_unit_test(test_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
