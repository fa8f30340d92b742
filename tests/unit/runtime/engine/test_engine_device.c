/* test_engine_device.c - the runtime with back ends that differ from the emulator. One cannot wake the worker, and runs
 * gpu variants, as CUDA does. In the other the n-th operation fails, n = 1, 2, ... Both are the emulator with some
 * operations replaced. They take the place of CUDA's back end, which is a weak symbol.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/base/error.h"
#include "runtime/device/device.h"

extern const struct dfr_device_ops dfr_emu_ops;
struct dfr_device_ops dfr_cuda_ops;     /* filled by each test before a run */

static struct df_options options_of(const char *policy, enum df_device_kind device)
{
    struct df_options o = rig_options(policy, device, 2);
    o.waves = 4;
    o.emu_check = 0;
    return o;
}

static const char *const policies[] = { "eager", "ws", "dmda", "all-gpu" };

/* The emulator's device says which back end it belongs to. That is replaced, too. */
static int open_as_cuda(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                        struct df_error *error)
{
    int status = dfr_emu_ops.open(index, config, device, error);
    if (status == DF_OK)
        (*device)->ops = &dfr_cuda_ops;
    return status;
}

static int open_without_wakeup(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                               struct df_error *error)
{
    struct dfr_device_config quiet = *config;
    quiet.wakeup = NULL;
    quiet.wakeup_arg = NULL;
    return open_as_cuda(index, &quiet, device, error);
}

static void use_polled(void)
{
    dfr_cuda_ops = dfr_emu_ops;
    dfr_cuda_ops.name = "cuda";
    dfr_cuda_ops.can_wakeup = false;
    dfr_cuda_ops.runs_cpu_code = false;
    dfr_cuda_ops.open = open_without_wakeup;
}

/* ---- without waking ---- */

static void test_polled(void **state)
{
    (void)state;
    use_polled();
    for (uint32_t seed = 1; seed <= 6; seed++) {
        struct rig r;
        rig_random(&r, seed, 30, 200, 0);
        rig_expect(&r, 4);
        for (unsigned p = 0; p < sizeof policies / sizeof policies[0]; p++) {
            struct df_options o = options_of(policies[p], seed % 2 ? DF_DEVICE_CUDA : DF_DEVICE_AUTO);
            struct df_error error;
            static struct df_stats stats;
            o.gpu_mem_bytes = seed % 3 ? 0 : 5 * 4096;
            o.workers = seed % 3;       /* 0: one fewer than there are cores, so the GPU's worker may spin */
            if (rig_run(&r, &o, &stats, &error) != DF_OK)
                fail_msg("%s", error.text);
            assert_true(rig_same(&r, 4));
            assert_int_equal(stats.n_memories, 1);
            if (p == 3)
                assert_true(stats.workers[stats.n_workers - 1].jobs > 0);
        }
        rig_free(&r);
    }
}

/* ---- none there ---- */

static uint32_t count_none(struct df_error *error)
{
    dfr_error(error, DF_E_DEVICE, "the driver is on holiday");
    return 0;
}

static void test_none_there(void **state)
{
    struct rig r;
    struct df_options o = options_of("dmda", DF_DEVICE_CUDA);
    struct df_error error;
    static struct df_stats stats;

    (void)state;
    use_polled();
    dfr_cuda_ops.count = count_none;
    rig_random(&r, 1, 10, 20, 0);
    rig_expect(&r, 4);
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "no cuda device: the driver is on holiday");
    o.device = DF_DEVICE_AUTO;
    assert_int_equal(rig_run(&r, &o, &stats, &error), DF_OK);
    assert_true(rig_same(&r, 4));
    assert_int_equal(stats.n_memories, 0);
    rig_free(&r);
}

/* ---- failing ---- */

static _Atomic long until_failure;

static int fails(const char *what, struct df_error *error)
{
    if (atomic_fetch_sub(&until_failure, 1) != 0)
        return DF_OK;
    return dfr_error(error, DF_E_DEVICE, "planted in %s", what);
}

static int copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                uint32_t stream, struct df_error *error)
{
    int status = fails("copy", error);
    return status != DF_OK ? status : dfr_emu_ops.copy(device, kind, to, from, bytes, stream, error);
}

static int launch(struct dfr_device *device, const struct dfr_launch *l, uint32_t stream, struct df_error *error)
{
    int status = fails("launch", error);
    return status != DF_OK ? status : dfr_emu_ops.launch(device, l, stream, error);
}

static int event_record(struct dfr_device *device, struct dfr_event *event, uint32_t stream, struct df_error *error)
{
    int status = fails("event_record", error);
    return status != DF_OK ? status : dfr_emu_ops.event_record(device, event, stream, error);
}

static int event_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    int status = fails("event_query", error);
    return status != DF_OK ? status : dfr_emu_ops.event_query(device, event, complete, error);
}

static int stream_wait(struct dfr_device *device, uint32_t stream, struct dfr_event *event, struct df_error *error)
{
    int status = fails("stream_wait", error);
    return status != DF_OK ? status : dfr_emu_ops.stream_wait(device, stream, event, error);
}

static int event_create(struct dfr_device *device, struct dfr_event **event, struct df_error *error)
{
    int status = fails("event_create", error);
    return status != DF_OK ? status : dfr_emu_ops.event_create(device, event, error);
}

/* Whatever fails, the run ends, says what failed, and frees everything, as the sanitizers check. */
static void test_failing_device(void **state)
{
    struct rig r;
    long ended = 0;

    (void)state;
    use_polled();
    dfr_cuda_ops.can_wakeup = true;
    dfr_cuda_ops.open = open_as_cuda;
    dfr_cuda_ops.copy = copy;
    dfr_cuda_ops.launch = launch;
    dfr_cuda_ops.event_create = event_create;
    dfr_cuda_ops.event_record = event_record;
    dfr_cuda_ops.event_query = event_query;
    dfr_cuda_ops.stream_wait = stream_wait;
    rig_random(&r, 3, 25, 300, 0);
    for (long n = 0; n < 600; n += n < 140 ? 20 : 7) {
        struct df_options o = options_of(policies[n % 4], DF_DEVICE_CUDA);
        struct df_error error = { "" };
        int status;
        o.gpu_mem_bytes = 5 * 4096;
        atomic_store(&until_failure, n);
        status = rig_run(&r, &o, NULL, &error);
        if (atomic_load(&until_failure) >= 0) {
            assert_int_equal(status, DF_OK);
            continue;
        }
        assert_int_equal(status, DF_E_DEVICE);
        assert_non_null(strstr(error.text, "planted in "));
        assert_true(!strncmp(error.text, "node '", 6) || strstr(error.text, "event_create") ||
                    !strncmp(error.text, "beginning: ", 11));
        ended++;
    }
    assert_true(ended > 20);
    rig_free(&r);
}

/* ---- time ---- */

/* Jobs of a replayed batch share the time that the device tells for the batch: 20 ms for each of its jobs. */
static void test_busy_in_replays(void **state)
{
    enum { WAVES = 4, LENGTH = 3 };
    struct rig r;
    struct rig_out at;

    (void)state;
    rig_begin(&r, 10);
    at = rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < LENGTH; i++)
        at = rig_node(&r, RIG_SLOW, i, at, RIG_NOTHING);
    rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, at);
    rig_end(&r);
    rig_expect(&r, WAVES);
    struct df_options o = options_of("all-gpu", DF_DEVICE_EMU);
    o.inflight = 1;
    o.cuda_graphs = DF_GRAPHS_ON;
    struct df_stats stats = rig_check(&r, &o, WAVES);
    const struct df_worker_stats *gpu = &stats.workers[stats.n_workers - 1];
    assert_int_equal(gpu->jobs, LENGTH * WAVES);
    assert_int_equal(stats.memories[0].replayed, LENGTH * WAVES);
    assert_true(gpu->busy_s >= LENGTH * WAVES * 0.02 * 0.99);
    assert_true(gpu->busy_s <= stats.makespan_s + 1e-9);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polled), cmocka_unit_test(test_none_there), cmocka_unit_test(test_failing_device),
        cmocka_unit_test(test_busy_in_replays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
