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
#include "runtime/graph/plan.h"

#define WAVES 3

#if FAILING
struct work {
    struct rig *r;
    struct df_options options;
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

    failing_learn(run, w);
    assert_int_equal(w->status, DF_OK);
    assert_true(failing_n > 0 && failing_n < FAILING_PLACES);
    kept = failing_n_live;
    for (uint32_t place = 0; place < failing_n; place++)
        for (uint64_t n = 1; n <= failing_places[place].calls; n *= 4) {
            failing_set(place, n);
            run(w);
            failing_end();
            if (w->status != DF_OK && (w->status != DF_E_MEMORY || !strstr(w->error.text, "memory")))
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_runs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
