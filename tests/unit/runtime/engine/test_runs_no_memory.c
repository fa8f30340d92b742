/* test_runs_no_memory.c - each place of a run's code that allocates fails, one at a time: the run is refused with
 * DF_E_MEMORY, or gives the same results by another way, and nothing leaks.
 */
#include "failing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "run_rig.h"
#include "runtime/start/back_ends.h"
#include "runtime/engine/single_job.h"
#include "runtime/graph/plan.h"

#define WAVES 3

#if FAILING
struct work {
    struct rig *r;
    struct df_options options;
    void (*does)(void *work);           /* NULL: run */
    int status;
    struct df_error error;
};

static void run(void *arg)
{
    static struct df_stats stats;
    struct work *w = arg;

    w->error.text[0] = '\0';
    w->status = rig_run(w->r, &w->options, &stats, &w->error);
    if (w->status == DF_OK) {
        assert_true(rig_same(w->r, WAVES));
        assert_int_equal(stats.left_bytes, 0);
    }
}

/* A place's 1st, 4th, 16th, ... call fails. Gives how many runs were refused. */
static uint32_t fail_each(struct work *w)
{
    uint32_t n_refused = 0;
    long kept;

    if (!w->does)
        w->does = run;
    failing_learn(w->does, w);
    assert_int_equal(w->status, DF_OK);
    assert_true(failing_n > 0 && failing_n < FAILING_PLACES);
    kept = failing_n_live;
    for (uint32_t place = 0; place < failing_n; place++)
        for (uint64_t n = 1; n <= failing_places[place].calls; n *= 4) {
            failing_set(place, n);
            w->does(w);
            failing_end();
            if (w->status != DF_OK &&
                (w->status != DF_E_MEMORY ||
                 !(strstr(w->error.text, "memory") || strstr(w->error.text, "cannot reserve"))))
                fail_msg("call %llu at %p: status %d, '%s'", (unsigned long long)n, failing_places[place].address,
                         w->status, w->error.text);
            if (failing_n_live != kept)
                fail_msg("call %llu at %p: %ld allocations are left, else %ld", (unsigned long long)n,
                         failing_places[place].address, failing_n_live, kept);
            n_refused += w->status != DF_OK;
        }
    return n_refused;
}

/* Two emulated GPUs that send tokens to one another. */
static struct df_platform pair(void)
{
    struct df_platform p;

    df_platform_default(&p, 2);
    for (uint32_t u = 1; u <= 2; u++) {
        p.units[u].h2d = p.units[u].d2h = p.units[u].peer = (struct df_link){ 1e11, 1e-7, 0 };
        p.units[u].launch_s = 0;
        p.units[u].memory_bytes = 1 << 20;
    }
    return p;
}
#endif

/* A chain whose tokens have fixed addresses, and one of whose tokens lie in the caller's memory. */
static void test_tokens(void **state)
{
#if FAILING
    static int64_t memory[WAVES * 50];
    struct df_buffer buffer = { .data = memory, .bytes = sizeof memory };
    struct rig_out at;
    struct rig r;
    char name[64];

    rig_begin(&r, 50);
    at = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    at = rig_node(&r, RIG_SCRATCH, 1, at, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, at);
    rig_end(&r);
    rig_expect(&r, WAVES);
    df_node_name(r.graph, 0, name, sizeof name);
    buffer.node = name;
    for (int kind = 0; kind < 4; kind++) {
        struct work w = { .r = &r, .options = rig_options("ws", DF_DEVICE_NONE, 1 + kind % 2) };

        w.options.waves = WAVES;
        if (kind >= 2) {
            w.options.buffers = &buffer;
            w.options.n_buffers = 1;
        }
        w.options.poison = kind == 3;
        assert_true(fail_each(&w) > 5);
    }
    rig_free(&r);
#else
    skip();
#endif
    (void)state;
}

#if FAILING
static struct rig *alone_rig;

static void open_single(void *arg)
{
    static struct df_run alone;
    struct work *w = arg;
    struct dfr_single_gpu *gpu = NULL;

    alone.graph = alone_rig->graph;
    alone.options = w->options;
    w->status = dfr_single_gpu_open(&alone, dfr_back_end_of(DF_DEVICE_EMU), 4096, 0, &gpu, &w->error);
    assert_true((w->status == DF_OK) == (gpu != NULL));
    dfr_single_gpu_close(gpu);
}
#endif

static void test_single_gpu(void **state)
{
#if FAILING
    struct rig r;
    struct work w = { .r = &r, .does = open_single, .options = rig_options("ws", DF_DEVICE_EMU, 1) };

    rig_random(&r, 5, 12, 50, 0);
    alone_rig = &r;
    assert_true(fail_each(&w) > 2);
    rig_free(&r);
#else
    skip();
#endif
    (void)state;
}

static void test_runs(void **state)
{
#if FAILING
    static const struct {
        const char *policy;
        enum df_device_kind device;
        unsigned workers;
        bool traced;
    } kinds[] = {
        { "ws", DF_DEVICE_NONE, 1, false },   { "ws", DF_DEVICE_NONE, 2, true },
        { "eager", DF_DEVICE_NONE, 2, false }, { "all-gpu", DF_DEVICE_EMU, 2, true },
        { "dmda", DF_DEVICE_EMU, 2, false },
    };
    struct df_platform two = pair();
    struct rig r;

    rig_random(&r, 5, 12, 50, 0);
    rig_expect(&r, WAVES);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct work w = { .r = &r, .options = rig_options(kinds[i].policy, kinds[i].device, kinds[i].workers) };

        w.options.waves = WAVES;
        if (kinds[i].device == DF_DEVICE_EMU)
            w.options.platform = &two;
        if (kinds[i].traced)
            w.options.trace_path = "/dev/null";
        if (fail_each(&w) < 10)
            fail_msg("%s: too few runs were refused", kinds[i].policy);
    }
    rig_free(&r);
#else
    skip();
#endif
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_runs), cmocka_unit_test(test_tokens),
                                        cmocka_unit_test(test_single_gpu) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
