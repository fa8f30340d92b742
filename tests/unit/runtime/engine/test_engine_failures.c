/* test_engine_failures.c - runs that end early: every node in turn fails, at every place in the graph. Also kernels
 * that write to their inputs or return wrong codes, and two runs at once.
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

#define PAGE UINT64_C(4096)

static const char *const policies[] = { "eager", "ws", "dmda", "all-cpu", "all-gpu" };
enum { N_POLICIES = sizeof policies / sizeof policies[0] };

/* ---- failures ---- */

/* Makes a graph in which the node at `at` fails at wave `wave`. All else is the same for each `at`. */
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
                struct df_options o = rig_options(policies[p], p % 2 ? DF_DEVICE_EMU : DF_DEVICE_NONE,
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

/* A kernel that ends its thread fails the run under every loop, and its node is named. Other launches may wait on the
 * emulated GPU then: they end, and so do the device's engines. */
static void test_thread_ended(void **state)
{
    (void)state;
    for (int p = 0; p < N_POLICIES; p++)
        for (unsigned workers = 1; workers <= 3; workers++)
            for (int emulated = 0; emulated < 3; emulated++) {
                struct rig r;
                struct rig_out x;
                struct df_options o = rig_options(policies[p], emulated ? DF_DEVICE_EMU : DF_DEVICE_NONE, workers);
                struct df_error error = { "" };

                rig_begin(&r, 300);
                x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
                for (int i = 0; i < 4; i++)
                    rig_sink(&r, RIG_SINK,
                             rig_node(&r, RIG_ADD1, 1, rig_node(&r, RIG_ENDS, 3, x, RIG_NOTHING), RIG_NOTHING));
                rig_end(&r);
                o.waves = 8;
                o.emu_check = emulated == 2;
                assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_KERNEL);
                assert_non_null(strstr(error.text, "wave 3: the kernel ended its thread, by pthread_exit()"));
                assert_non_null(strstr(error.text, "/ends"));
                rig_free(&r);
            }
}

/* Two runs of one graph at the same time do not disturb each other, even if one fails. Sinks are not recorded here,
 * because nobody could say which run they belong to. */
static void test_two_runs_at_once(void **state)
{
    struct df_options o = rig_options("ws", DF_DEVICE_EMU, 2);
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

/* A kernel that writes to a port that it declared as an input is stopped, and its node is named. */
static void test_stray_write(void **state)
{
    struct df_options o = rig_options("all-gpu", DF_DEVICE_EMU, 1);
    struct df_error error = { "" };
    struct rig r;

    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip();                             /* ThreadSanitizer does not follow the jump out of the handler */
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
        { DF_END, "returned 1 (DF_END), which only a stream source may; if the .df calls a function whose value" },
        { DF_FAILED, "returned 3 (DF_FAILED) and gave no reason; " },
        { 77, "returned 77, which is no DF_... code; if the .df calls a function whose value is no status, '-> void' "
              "after that call says so" },
    };

    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int device = DF_DEVICE_NONE; device <= DF_DEVICE_EMU; device++) {
            struct rig r;
            struct rig_out x;
            struct df_options o = rig_options("all-gpu", (enum df_device_kind)device, 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failure_anywhere), cmocka_unit_test(test_thread_ended),
        cmocka_unit_test(test_two_runs_at_once),
        cmocka_unit_test(test_stray_write), cmocka_unit_test(test_wrong_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
