/* test_faults.c - the emulated GPU does wrong what a trial asks for (emu_trial.h), and nothing comes of that but an
 * error. The same graph runs again afterwards, gives the same results, and leaves no memory taken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/device/device.h"
#include "runtime/start/back_ends.h"
#include "runtime/emu/emu_trial.h"
#include "runtime/graph/platform.h"

#define WAVES 3

static struct df_options options_of(const char *policy)
{
    struct df_options o = rig_options(policy, DF_DEVICE_EMU, 2);
    o.waves = WAVES;
    return o;
}

/* ---- the same graph again ---- */

/* Fails at call 1, 2, 4, ... of each kind until the run succeeds. */
static void test_again(void **state)
{
    static const char *const policies[] = { "all-gpu", "dmda", "eager" };
    static struct df_stats stats;
    struct rig r;
    unsigned failed = 0;

    (void)state;
    rig_random(&r, 5, 24, 300, 0);
    rig_expect(&r, WAVES);
    for (int call = 0; call < DFR_EMU_CALLS; call++) {
        for (uint64_t n = 1;; n *= 2) {
            struct df_options o = options_of(policies[(unsigned)(n + (unsigned)call) % 3]);
            struct df_error error = { "" };
            char planned[64];
            int status;

            o.gpu_mem_bytes = n % 3 ? 0 : 6 * 4096;
            o.pin = (n / 2 + (unsigned)call) % 2 ? DF_PIN_OFF : DF_PIN_AUTO;
            struct dfr_emu_trial trial = { .fail = { 0 } };
            trial.fail[call] = n;
            dfr_emu_trial_use(&trial);
            status = rig_run(&r, &o, &stats, &error);
            dfr_emu_trial_use(NULL);
            if (status == DF_OK)
                break;
            failed++;
            snprintf(planned, sizeof planned, "%s %llu", dfr_emu_call_name((enum dfr_emu_call)call),
                     (unsigned long long)n);
            assert_int_equal(status, call == DFR_EMU_CALL_ALLOC ? DF_E_MEMORY : DF_E_DEVICE);
            assert_non_null(strstr(error.text, planned));
            if (call >= DFR_EMU_CALL_COPY && call != DFR_EMU_CALL_EVENT)
                assert_memory_equal(error.text, "node '", 6);
            assert_true(n < 1 << 20);

            if (rig_run(&r, &o, &stats, &error) != DF_OK)
                fail_msg("after %s: %s", planned, error.text);
            assert_true(rig_same(&r, WAVES));
            assert_int_equal(stats.left_bytes, 0);
        }
        assert_true(rig_same(&r, WAVES));
        assert_int_equal(stats.left_bytes, 0);
    }
    assert_true(failed > 20);
    rig_free(&r);
}

/* A kernel that fails on the GPU is a failure like the device's own. */
static void test_again_after_kernel(void **state)
{
    static struct df_stats stats;
    struct rig r;
    struct rig_out a, b;

    (void)state;
    rig_begin(&r, 100);
    a = rig_node(&r, RIG_SOURCE, 4, RIG_NOTHING, RIG_NOTHING);
    b = rig_node(&r, RIG_FAIL, 2, a, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, b);
    rig_end(&r);
    rig_expect(&r, 2);
    for (int turn = 0; turn < 3; turn++) {
        struct df_options o = options_of("all-gpu");
        struct df_error error;
        assert_int_equal(rig_run(&r, &o, &stats, &error), DF_E_KERNEL);
        o.waves = 2;
        assert_int_equal(rig_run(&r, &o, &stats, &error), DF_OK);
        assert_true(rig_same(&r, 2));
        assert_int_equal(stats.left_bytes, 0);
    }
    rig_free(&r);
}

/* ---- order ---- */

static void test_reorder(void **state)
{
    static const char *const policies[] = { "all-gpu", "dmda", "ws", "eager" };
    static struct df_stats stats;

    (void)state;
    for (uint32_t seed = 1; seed <= 8; seed++) {
        struct rig r;
        rig_random(&r, seed, 30, 200, 0);
        rig_expect(&r, WAVES);
        for (unsigned p = 0; p < sizeof policies / sizeof *policies; p++) {
            struct df_options o = options_of(policies[p]);
            struct dfr_emu_trial trial = { .reorder_seed = seed * 7 + p };
            struct df_error error;
            o.gpu_mem_bytes = seed % 2 ? 0 : 6 * 4096;
            o.pin = seed / 2 % 2 ? DF_PIN_OFF : DF_PIN_AUTO;
            o.gpu_jobs = 1 + seed % 4;
            o.emu_check = seed % 3 == 0;
            dfr_emu_trial_use(&trial);
            if (rig_run(&r, &o, &stats, &error) != DF_OK)
                fail_msg("seed %u, %s: %s", seed, policies[p], error.text);
            dfr_emu_trial_use(NULL);
            assert_true(rig_same(&r, WAVES));
            assert_int_equal(stats.left_bytes, 0);
        }
        rig_free(&r);
    }
}

/* ---- the environment's text ---- */

static void wrong(const char *text, const char *message)
{
    struct dfr_emu_trial trial;
    struct df_error error = { "" };

    assert_int_equal(dfr_emu_trial_parse(text, &trial, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, message);
}

static void test_text(void **state)
{
    struct dfr_emu_trial trial;
    struct df_error error;

    (void)state;
    assert_int_equal(dfr_emu_trial_parse("fail=copy:3,slow=2.5:1,fail=late-launch:18446744073709551615,reorder=12",
                                         &trial, &error), DF_OK);
    assert_int_equal(trial.fail[DFR_EMU_CALL_COPY], 3);
    assert_true(trial.fail[DFR_EMU_CALL_LATE_LAUNCH] == UINT64_MAX);
    assert_int_equal(trial.fail[DFR_EMU_CALL_LAUNCH], 0);
    assert_true(trial.slow_factor == 2.5);
    assert_int_equal(trial.slow_device, 1);
    assert_int_equal(trial.reorder_seed, 12);
    assert_int_equal(dfr_emu_trial_parse("slow=3", &trial, &error), DF_OK);
    assert_int_equal(trial.slow_device, -1);
    wrong("fail=copy:0", "DF_EMU_TRIAL: which copy is to fail is given like 'copy:3'");
    wrong("fail=copy:2,fail=launch", "DF_EMU_TRIAL: which launch is to fail is given like 'launch:3'");
    wrong("fail=copy:2;wait:1", "DF_EMU_TRIAL: which copy is to fail is given like 'copy:3'");
    wrong("fail=", "DF_EMU_TRIAL: nothing called '' can fail; there are: open, alloc, copy, launch, event, wait, query, "
                   "late-copy, late-launch");
    wrong("slow=2:x", "DF_EMU_TRIAL: '2:x' is neither a factor from 1 to 1000 nor, as in 4:1, a factor and a device");
    wrong("slow=1e9", "DF_EMU_TRIAL: '1e9' is neither a factor from 1 to 1000 nor, as in 4:1, a factor and a device");
    wrong("slow=2:99",
          "DF_EMU_TRIAL: '2:99' is neither a factor from 1 to 1000 nor, as in 4:1, a factor and a device");
    wrong("reorder=-1", "DF_EMU_TRIAL: '-1' is no seed: a whole number from 1");
    wrong("reorder=1,", "DF_EMU_TRIAL: '' is none of fail=CALL:N, slow=FACTOR[:GPU] and reorder=SEED");
}

/* ---- the device alone ---- */

#define LAUNCHES 60

static _Atomic int n_ran;

static int note_order(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                      const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)scalars;
    *(int *)ports[0] = atomic_fetch_add(&n_ran, 1);
    return DF_OK;
}

static struct dfr_device *open_device(const struct dfr_emu_trial *trial, const struct df_unit *unit)
{
    struct dfr_device_config config = { .unit = unit, .pool_bytes = 4096, .compute_streams = 2 };
    struct dfr_device *device;
    struct df_error error;

    dfr_emu_trial_use(trial);
    if (dfr_back_end_of(DF_DEVICE_EMU)->open(0, &config, &device, &error) != DF_OK)
        fail_msg("%s", error.text);
    dfr_emu_trial_use(NULL);
    return device;
}

static const struct df_unit no_time = { .engines = 2 };

/* Two streams of launches, enqueued in turns. Each stream keeps its order; the two together run in another order than
 * that. */
static bool is_stirred(uint64_t seed)
{
    struct dfr_emu_trial trial = { .reorder_seed = seed };
    struct dfr_device *device = open_device(&trial, &no_time);
    static int at[LAUNCHES];
    int result = 0;
    bool stirred = false;
    struct df_error error;

    atomic_store(&n_ran, 0);
    for (int i = 0; i < LAUNCHES; i++) {
        static void *ports[LAUNCHES];
        struct dfr_launch launch = { .fn = note_order, .ports = &ports[i], .result = &result, .node_name = "" };
        ports[i] = &at[i];
        assert_int_equal(device->ops->launch(device, &launch, DFR_STREAM_COMPUTE + i % 2, &error), DF_OK);
    }
    assert_int_equal(device->ops->drain(device, &error), DF_OK);
    for (int i = 0; i < LAUNCHES; i++) {
        stirred = stirred || at[i] != i;
        assert_true(i < 2 || at[i] > at[i - 2]);
    }
    device->ops->close(device);
    return stirred;
}

static void test_stirred(void **state)
{
    (void)state;
    assert_true(is_stirred(1) || is_stirred(2) || is_stirred(3));
}

static void test_slow(void **state)
{
    const struct df_unit unit = { .engines = 2, .h2d = { 1e9, 2e-3, 0 }, .d2h = { 1e9, 2e-3, 0 } };
    char byte = 1;

    (void)state;
    for (int other = 0; other < 2; other++) {
        struct dfr_emu_trial trial = { .slow_factor = 20, .slow_device = other ? 1 : 0 };
        struct dfr_device *device = open_device(&trial, &unit);
        struct dfr_event *event;
        double begin_s, end_s;
        struct df_error error;

        assert_int_equal(device->ops->event_create(device, &event, &error), DF_OK);
        assert_int_equal(device->ops->copy(device, DFR_COPY_H2D, device->ops->pool(device), &byte, 1, DFR_STREAM_H2D,
                                           &error), DF_OK);
        assert_int_equal(device->ops->event_record(device, event, DFR_STREAM_H2D, &error), DF_OK);
        assert_int_equal(device->ops->drain(device, &error), DF_OK);
        assert_true(device->ops->event_times(device, event, &begin_s, &end_s));
        assert_true(end_s - begin_s >= (other ? 2e-3 : 40e-3));
        device->ops->event_destroy(device, event);
        device->ops->close(device);
    }
}

/* A late failure: what was before it is complete, the event after it tells of it, events of other streams are never
 * complete, and the memory is as it was. */
static void test_late(void **state)
{
    struct dfr_emu_trial trial = { .fail = { [DFR_EMU_CALL_LATE_COPY] = 2 } };
    struct dfr_device *device = open_device(&trial, &no_time);
    const struct dfr_device_ops *ops = device->ops;
    struct dfr_event *first, *second, *other;
    unsigned char *pool = ops->pool(device), byte = 7;
    bool complete;
    struct df_error error;

    (void)state;
    assert_int_equal(ops->event_create(device, &first, &error), DF_OK);
    assert_int_equal(ops->event_create(device, &second, &error), DF_OK);
    assert_int_equal(ops->event_create(device, &other, &error), DF_OK);
    assert_int_equal(ops->copy(device, DFR_COPY_H2D, pool, &byte, 1, DFR_STREAM_H2D, &error), DF_OK);
    assert_int_equal(ops->event_record(device, first, DFR_STREAM_H2D, &error), DF_OK);
    assert_int_equal(ops->copy(device, DFR_COPY_H2D, pool + 1, &byte, 1, DFR_STREAM_H2D, &error), DF_OK);
    assert_int_equal(ops->event_record(device, second, DFR_STREAM_H2D, &error), DF_OK);
    assert_int_equal(ops->stream_wait(device, DFR_STREAM_COMPUTE, second, &error), DF_OK);
    assert_int_equal(ops->copy(device, DFR_COPY_D2D, pool + 2, pool, 1, DFR_STREAM_COMPUTE, &error), DF_OK);
    assert_int_equal(ops->event_record(device, other, DFR_STREAM_COMPUTE, &error), DF_OK);
    assert_int_equal(ops->drain(device, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "emu0: late-copy 2 failed, as asked for");
    assert_int_equal(ops->event_query(device, first, &complete, &error), DF_OK);
    assert_true(complete);
    assert_int_equal(ops->event_query(device, second, &complete, &error), DF_E_DEVICE);
    assert_int_equal(ops->event_query(device, other, &complete, &error), DF_OK);
    assert_false(complete);
    assert_int_equal(pool[0], 7);
    assert_int_equal(pool[1], 0);
    assert_int_equal(pool[2], 0);
    ops->event_destroy(device, first);
    ops->event_destroy(device, second);
    ops->event_destroy(device, other);
    ops->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_again), cmocka_unit_test(test_again_after_kernel), cmocka_unit_test(test_reorder),
        cmocka_unit_test(test_text), cmocka_unit_test(test_stirred), cmocka_unit_test(test_slow),
        cmocka_unit_test(test_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
