/* test_engine_refusals.c - what a run refuses before it starts, and in which words: nodes that fit nowhere, hints,
 * unknown names, and devices that do not exist.
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
#include "runtime/start/back_ends.h"
#include "runtime/engine/engine.h"
#include "runtime/threads/clock.h"

#define PAGE UINT64_C(4096)

static const char *const policies[] = { "eager", "ws", "dmda", "all-cpu", "all-gpu" };
enum { N_POLICIES = sizeof policies / sizeof policies[0] };

/* ---- refusals ---- */

static void test_refused_gpu_memory(void **state)
{
    struct rig r;
    struct rig_out x;
    struct df_options o = rig_options("dmda", DF_DEVICE_EMU, 1);
    struct df_error error;

    (void)state;
    rig_begin(&r, 512);
    x = rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    r.hint = DF_CLASS_GPU;
    x = rig_node(&r, RIG_ADD2, 1, x, x);
    rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, x);
    rig_end(&r);
    o.gpu_mem_bytes = 2 * PAGE - 1;
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_REFUSED);
    assert_non_null(strstr(error.text, "add2"));
    assert_non_null(strstr(error.text, "8192"));
    assert_non_null(strstr(error.text, "4096"));
    o.gpu_mem_bytes = 2 * PAGE;
    rig_expect(&r, 1);
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_OK);
    assert_true(rig_same(&r, 1));
    o.gpu_mem_bytes = 100; /* less than a page */
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_REFUSED);
    rig_free(&r);
}

/* Without the hint, the same job runs on the CPU. */
static void test_too_large_runs_on_cpu(void **state)
{
    struct rig r;
    struct rig_out x;
    struct df_options o = rig_options("all-gpu", DF_DEVICE_EMU, 1);
    struct df_stats stats;

    (void)state;
    rig_begin(&r, 512);
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_ADD1, 1, x, RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, 1);
    o.gpu_mem_bytes = PAGE;
    stats = rig_check(&r, &o, 1);
    assert_int_equal(stats.workers[0].jobs, 1); /* add1 needs two pages */
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
            struct df_options o = rig_options(policies[p], DF_DEVICE_EMU, 2);
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
            stats = rig_check(&r, &o, 2);
            assert_int_equal(stats.workers[2].jobs, hint == DF_CLASS_GPU ? 24 : 0);
            rig_free(&r);
        }
}

static void test_gpu_hint_without_gpu(void **state)
{
    struct rig r;
    struct df_options o = rig_options("dmda", DF_DEVICE_NONE, 1);

    (void)state;
    rig_begin(&r, 16);
    r.hint = DF_CLASS_GPU;
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, 1);
    rig_check(&r, &o, 1);
    rig_free(&r);
}

static void test_unknown_policy(void **state)
{
    struct rig r;
    struct df_options o = rig_options("eagr", DF_DEVICE_NONE, 1);
    struct df_error error;

    (void)state;
    rig_begin(&r, 16);
    rig_end(&r);
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "unknown policy 'eagr'; did you mean 'eager'?");
    o.policy = "gp-thesis";
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_REFUSED);
    rig_free(&r);
}

static void test_no_cuda(void **state)
{
    struct rig r;
    struct df_options o = rig_options("dmda", DF_DEVICE_CUDA, 1);
    struct df_error error = { "" };

    (void)state;
    if (dfr_back_end_of(DF_DEVICE_CUDA))
        skip();
    rig_begin(&r, 16);
    rig_end(&r);
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "no CUDA device: this program was linked without CUDA");
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_gpu_memory), cmocka_unit_test(test_too_large_runs_on_cpu),
        cmocka_unit_test(test_hints_are_kept), cmocka_unit_test(test_gpu_hint_without_gpu),
        cmocka_unit_test(test_unknown_policy), cmocka_unit_test(test_no_cuda),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
