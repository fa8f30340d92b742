/* test_gpu_record.c - batches of launches on a GPU, and their recordings. The back end is the emulator with some
 * operations replaced that count, put in the place of CUDA's, which is a weak symbol.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/graph/plan.h"
#include "runtime/device/device.h"
#include "runtime/emu/emu_trial.h"
#include "runtime/threads/clock.h"

#define WAVES 9
#define MONITORED 3
#define DIAMONDS 30

extern const struct dfr_device_ops dfr_emu_ops;
struct dfr_device_ops dfr_cuda_ops;     /* filled by each test before a run */

/* The emulator's device says which back end it belongs to. That is replaced, too. */
static int open_as_cuda(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                        struct df_error *error)
{
    int status = dfr_emu_ops.open(index, config, device, error);
    if (status == DF_OK)
        (*device)->ops = &dfr_cuda_ops;
    return status;
}

static struct df_options begin(void)
{
    struct df_options o = rig_options("all-gpu", DF_DEVICE_CUDA, 1);

    dfr_cuda_ops = dfr_emu_ops;
    dfr_cuda_ops.name = "cuda";
    dfr_cuda_ops.open = open_as_cuda;
    o.waves = WAVES;
    o.emu_check = 0;
    o.gpu_jobs = 1;
    o.inflight = 1;
    o.cuda_graphs = DF_GRAPHS_ON;
    return o;
}

/* n chains, each from the host, by way of `length` jobs of a GPU, to the host. */
static void make_chains(struct rig *r, unsigned n, unsigned length)
{
    rig_begin(r, 10);
    for (unsigned c = 0; c < n; c++) {
        struct rig_out at = rig_node(r, RIG_SOURCE | RIG_CPU_ONLY, c, RIG_NOTHING, RIG_NOTHING);
        for (unsigned i = 0; i < length; i++)
            at = rig_node(r, RIG_ADD1, i, at, RIG_NOTHING);
        rig_sink(r, RIG_SINK | RIG_CPU_ONLY, at);
    }
    rig_end(r);
    rig_expect(r, WAVES);
}

/* ---- events ---- */

static struct dfr_event *of_jobs[256];  /* events that were recorded behind jobs */
static unsigned n_of_jobs;
static _Atomic unsigned n_complete;     /* how often one of them was asked and was complete */

static bool is_of_job(const struct dfr_event *event)
{
    for (unsigned i = 0; i < n_of_jobs; i++)
        if (of_jobs[i] == event)
            return true;
    return false;
}

static int note_record(struct dfr_device *device, struct dfr_event *event, uint32_t stream, struct df_error *error)
{
    if (stream >= DFR_STREAM_COMPUTE && !is_of_job(event) && n_of_jobs < sizeof of_jobs / sizeof *of_jobs)
        of_jobs[n_of_jobs++] = event;
    return dfr_emu_ops.event_record(device, event, stream, error);
}

static int note_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    int status = dfr_emu_ops.event_query(device, event, complete, error);
    n_complete += status == DF_OK && *complete && is_of_job(event);
    return status;
}

/* One event tells of a replayed batch, and is not asked again once it has told. */
static void test_event_is_asked_once(void **state)
{
    struct df_options o = begin();
    struct rig r;

    (void)state;
    dfr_cuda_ops.event_record = note_record;
    dfr_cuda_ops.event_query = note_query;
    n_of_jobs = 0;
    n_complete = 0;
    make_chains(&r, 1, 12);
    struct df_stats stats = rig_check(&r, &o, WAVES);
    assert_int_equal(stats.memories[0].replayed, 12 * WAVES);
    assert_int_equal(n_complete, WAVES);
    rig_free(&r);
}

/* ---- the table ---- */

static unsigned n_recorded;

static int count_recorded(struct dfr_device *device, uint32_t stream, struct df_error *error)
{
    n_recorded++;
    return dfr_emu_ops.record_begin(device, stream, error);
}

/* 60 batches have 128 places, so none is in the way of another. */
static void test_each_batch_has_a_place(void **state)
{
    enum { CHAINS = 60, LENGTH = 3 };
    struct df_options o = begin();
    struct rig r;

    (void)state;
    dfr_cuda_ops.record_begin = count_recorded;
    n_recorded = 0;
    make_chains(&r, CHAINS, LENGTH);
    struct df_stats stats = rig_check(&r, &o, WAVES);
    assert_int_equal(n_recorded, CHAINS);
    assert_int_equal(stats.memories[0].replayed, CHAINS * LENGTH * WAVES);
    rig_free(&r);
}

/* 180 batches come in turn, more than there are places. Those that have one keep it. */
static void test_recordings_are_kept(void **state)
{
    enum { CHAINS = 60, LENGTH = 3, SLOTS = 3 };
    struct df_options o = begin();
    struct rig r;

    (void)state;
    dfr_cuda_ops.record_begin = count_recorded;
    n_recorded = 0;
    make_chains(&r, CHAINS, LENGTH);
    o.inflight = SLOTS;
    struct df_stats stats = rig_check(&r, &o, WAVES);
    assert_int_equal(n_recorded, 128);
    assert_int_equal(stats.memories[0].replayed, 128 * LENGTH * WAVES / SLOTS);
    rig_free(&r);
}

/* ---- behind ---- */

static _Atomic unsigned n_launched;
static unsigned n_two;                  /* jobs of the first two batches */
static double give_up_s;

static int count_launch(struct dfr_device *device, const struct dfr_launch *l, uint32_t stream, struct df_error *error)
{
    n_launched++;
    return dfr_emu_ops.launch(device, l, stream, error);
}

/* No job ends before two batches are launched. */
static int hold_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    int status = dfr_emu_ops.event_query(device, event, complete, error);
    if (is_of_job(event) && n_launched < n_two && dfr_clock_s() < give_up_s)
        *complete = false;
    return status;
}

static int open_unwoken(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                        struct df_error *error)
{
    struct dfr_device_config quiet = *config;
    quiet.wakeup = NULL;
    return open_as_cuda(index, &quiet, device, error);
}

/* A batch is full with 32 jobs. The next one is launched while the first is in flight, recorded or not, and also if the
 * host waits for a job between them. */
static void test_batches_behind_others(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct df_options o = begin();
        struct rig_out at;
        struct rig r;
        dfr_cuda_ops.open = open_unwoken;
        dfr_cuda_ops.can_wakeup = false;
        dfr_cuda_ops.launch = count_launch;
        dfr_cuda_ops.event_record = note_record;
        dfr_cuda_ops.event_query = hold_query;
        n_of_jobs = 0;
        n_launched = 0;
        n_two = i % 2 ? 21 + 32 : 32 + 32;
        give_up_s = dfr_clock_s() + 5;
        rig_begin(&r, 10);
        at = rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
        for (int k = 0; k < 100; k++) {
            at = rig_node(&r, k % 3 == 2 ? RIG_BUMP : RIG_ADD1, k, at, RIG_NOTHING);
            if (i % 2 && k == 20)
                rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, at);
        }
        rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, at);
        rig_end(&r);
        rig_expect(&r, 1);
        o.waves = 1;
        o.cuda_graphs = i < 2 ? DF_GRAPHS_OFF : DF_GRAPHS_ON;
        rig_check(&r, &o, 1);
        if (dfr_clock_s() >= give_up_s)
            fail_msg("case %d: %u jobs were launched before the first one ended", i, n_launched);
        rig_free(&r);
    }
}

/* ---- order ---- */

static uint32_t noted[DFR_RECORDED_PARTS], n_noted;

static int note_part(struct dfr_device *device, uint32_t stream, uint32_t part, uint32_t after, struct df_error *error)
{
    assert_true(part < DFR_RECORDED_PARTS);
    noted[part] = after;
    n_noted = part + 1;
    return dfr_emu_ops.record_part(device, stream, part, after, error);
}

/* A wave of the form of a diamond, a device that does what it may in any order, and the edges that forbid it the wrong
 * ones. */
static void test_siblings_are_not_ordered(void **state)
{
    static const uint32_t expected[] = { 0, 1, 1, 6 };
    const struct dfr_emu_trial trial = { .reorder_seed = 5 };
    struct df_options o = begin();
    struct rig_out a, b, c;
    struct rig r;

    (void)state;
    dfr_cuda_ops.record_part = note_part;
    rig_begin(&r, 100);
    a = rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    a = rig_node(&r, RIG_ADD1, 1, a, RIG_NOTHING);
    b = rig_node(&r, RIG_SCRATCH, 2, a, RIG_NOTHING);
    c = rig_node(&r, RIG_ADD1, 3, a, RIG_NOTHING);
    rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, rig_node(&r, RIG_ADD2, 4, b, c));
    rig_end(&r);
    rig_expect(&r, DIAMONDS);
    o.waves = DIAMONDS;
    dfr_emu_trial_use(&trial);
    struct df_stats stats = rig_check(&r, &o, DIAMONDS);
    dfr_emu_trial_use(NULL);
    assert_int_equal(stats.memories[0].replayed, 4 * DIAMONDS);
    assert_int_equal(n_noted, 4);
    assert_memory_equal(noted, expected, sizeof expected);
    rig_free(&r);
}

/* The same for random graphs, with inputs that are changed in place, scratch and several readers. */
static void test_random_order(void **state)
{
    const struct dfr_emu_trial trial = { .reorder_seed = 9 };
    uint64_t replayed = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        struct df_options o = begin();
        struct rig r;
        rig_random(&r, seed, 40, 100, 0);
        rig_expect(&r, WAVES);
        o.gpu_jobs = seed % 3;
        o.inflight = 1 + seed % 2;
        dfr_emu_trial_use(&trial);
        struct df_stats stats = rig_check(&r, &o, WAVES);
        dfr_emu_trial_use(NULL);
        replayed += stats.memories[0].replayed;
        rig_free(&r);
    }
    assert_true(replayed > 0);
}

/* ---- the monitor ---- */

/* Jobs of 20 ms take 20 ms, as was expected. Twelve of them are replayed together, and end together: that is not 240 ms
 * for the first one, which would be reason enough to run it on the CPU in the next wave. */
static void test_replays_do_not_alarm(void **state)
{
    enum { LENGTH = 12, N = LENGTH + 5 };
    struct df_options o = begin();
    struct df_plan plan = { .policy = "gp", .n_nodes = N };
    uint16_t place[N];
    float priority[N] = { 0 };
    struct rig_out at;
    struct rig r;

    (void)state;
    rig_begin(&r, 10);
    rig_cost_s = 1e-6;
    at = rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    rig_cost_s = 20e-3;
    at = rig_node(&r, RIG_SLOW | RIG_CPU_ONLY, 100, at, RIG_NOTHING);
    r.hint = DF_CLASS_GPU;
    at = rig_node(&r, RIG_SLOW, 101, at, RIG_NOTHING);
    for (unsigned i = 0; i < LENGTH; i++) {
        struct rig_out first = at;
        at = rig_node(&r, RIG_SLOW, i, at, RIG_NOTHING);
        if (i > 0)
            continue;
        rig_cost_s = 1e-6;
        rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, first); /* so the jobs that follow are a batch of their own */
        rig_cost_s = 20e-3;
    }
    rig_cost_s = 1e-6;
    rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, at);
    rig_cost_s = 0;
    rig_end(&r);
    rig_expect(&r, MONITORED);
    for (unsigned v = 0; v < N; v++)
        place[v] = v >= 2 && v != 4 && v < N - 1;
    plan.place = place;
    plan.priority = priority;
    df_platform_default(&plan.platform, 1);
    o.policy = "gp";
    o.plan = &plan;
    o.guard = 1;
    o.waves = MONITORED;
    struct df_stats stats = rig_check(&r, &o, MONITORED);
    assert_int_equal(stats.memories[0].replayed, (1 + LENGTH) * MONITORED);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_is_asked_once), cmocka_unit_test(test_each_batch_has_a_place),
        cmocka_unit_test(test_recordings_are_kept), cmocka_unit_test(test_siblings_are_not_ordered),
        cmocka_unit_test(test_batches_behind_others), cmocka_unit_test(test_random_order), cmocka_unit_test(test_replays_do_not_alarm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
