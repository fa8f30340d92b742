/* test_emu.c - the emulated GPU: order within a stream and between streams, the time that copies take, and what
 * overlaps what. Times are tested by what may not happen: an end that is too early, or an overlap if there is one
 * engine. So the tests hold on a busy machine, too.
 */
#include "emu_rig.h"
#include "runtime/emu/emu_trial.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/bind_impl.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- copies and order ---- */

static void test_copies_arrive(void **state)
{
    struct rig rig;
    struct df_error error;
    unsigned char *host;
    struct dfr_event *there;

    (void)state;
    rig_open(&rig, &free_links, 1, true);
    host = rig.ops->host_alloc(3 * PAGE, &error);
    assert_non_null(host);
    for (unsigned i = 0; i < 5000; i++)
        host[i] = (unsigned char)(i * 7);
    there = new_event(&rig);
    assert_true(is_complete(&rig, there)); /* never recorded */
    copy(&rig, DFR_COPY_H2D, rig.pool, host, 5000, DFR_STREAM_H2D);
    record(&rig, there, DFR_STREAM_H2D);
    wait_for(&rig, DFR_STREAM_COMPUTE, there);
    copy(&rig, DFR_COPY_D2D, rig.pool + 8 * PAGE, rig.pool, 5000, DFR_STREAM_COMPUTE);
    record(&rig, there, DFR_STREAM_COMPUTE);
    wait_for(&rig, DFR_STREAM_D2H, there);
    copy(&rig, DFR_COPY_D2H, host + 5000, rig.pool + 8 * PAGE, 5000, DFR_STREAM_D2H);
    copy(&rig, DFR_COPY_D2H, host, rig.pool, 0, DFR_STREAM_D2H);
    drain(&rig);
    assert_true(is_complete(&rig, there));
    assert_memory_equal(host, host + 5000, 5000);
    assert_int_equal(host[5000 + 4999], (unsigned char)(4999 * 7));
    rig.ops->event_destroy(rig.device, there);
    rig.ops->host_free(host, 3 * PAGE);
    rig.ops->close(rig.device);
    assert_int_equal(atomic_load(&rig.wakeups), 2); /* the last may come after drain, not after close */
}

struct diary {
    _Atomic unsigned n;
    int entries[2048];
};

static int write_diary(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                       const union df_scalar *scalars)
{
    struct diary *diary = ports[0];

    (void)stream;
    (void)dims;
    (void)scalars;
    diary->entries[atomic_fetch_add(&diary->n, 1)] = call->number;
    return call->number % 5;
}

/* More commands than a ring holds, so that enqueueing has to wait for room. */
static void test_stream_order_and_full_ring(void **state)
{
    enum { N = 1500 };
    static struct df_call calls[N];
    static int results[N];
    static struct diary diary;
    void *ports[] = {&diary};
    struct rig rig;

    (void)state;
    atomic_init(&diary.n, 0);
    rig_open(&rig, &free_links, 3, false);
    for (int i = 0; i < N; i++) {
        struct dfr_launch l = {.fn = write_diary, .call = &calls[i], .ports = ports, .result = &results[i]};

        calls[i].number = i;
        launch(&rig, &l, DFR_STREAM_COMPUTE + 1);
    }
    drain(&rig);
    assert_int_equal(atomic_load(&diary.n), N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(diary.entries[i], i);
        assert_int_equal(results[i], i % 5);
    }
    rig.ops->close(rig.device);
}

/* A slow copy holds up the stream that waits for it, and no other. */
static void test_blocked_stream_blocks_no_other(void **state)
{
    struct df_unit slow = free_links;
    struct df_call calls[2] = {{.number = 1}, {.number = 2}};
    struct diary diary = {.n = 0};
    void *ports[] = {&diary};
    int results[2];
    unsigned char byte = 9;
    struct rig rig;
    struct dfr_event *copied;

    (void)state;
    slow.h2d.latency_s = 0.3;
    slow.h2d.threshold_bytes = 100;
    rig_open(&rig, &slow, 2, false);
    copied = new_event(&rig);
    copy(&rig, DFR_COPY_H2D, rig.pool, &byte, 1, DFR_STREAM_H2D);
    record(&rig, copied, DFR_STREAM_H2D);
    wait_for(&rig, DFR_STREAM_COMPUTE, copied);
    for (int i = 0; i < 2; i++) {
        struct dfr_launch l = {.fn = write_diary, .call = &calls[i], .ports = ports, .result = &results[i]};

        launch(&rig, &l, DFR_STREAM_COMPUTE + (uint32_t)i);
    }
    drain(&rig);
    assert_int_equal(diary.entries[0], 2);
    assert_int_equal(diary.entries[1], 1);
    rig.ops->event_destroy(rig.device, copied);
    rig.ops->close(rig.device);
}

/* Runs until the flag at ports[0] is set. */
static int gate(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    const _Atomic bool *open = ports[0];

    (void)call;
    (void)stream;
    (void)dims;
    (void)scalars;
    while (!atomic_load(open))
        pause_s(1e-3);
    return DF_OK;
}

/* A wait is for the record that was made before it, not for one that the event gets later. */
static void test_wait_is_for_the_record_before_it(void **state)
{
    _Atomic bool open = false;
    void *ports[] = {&open};
    int result = -1;
    struct df_call call = {.number = 0};
    struct dfr_launch l = {.fn = gate, .call = &call, .ports = ports, .result = &result};
    unsigned char byte;
    struct rig rig;
    struct dfr_event *event, *after;

    (void)state;
    rig_open(&rig, &free_links, 1, false);
    event = new_event(&rig);
    after = new_event(&rig);
    record(&rig, event, DFR_STREAM_COMPUTE);
    wait_for(&rig, DFR_STREAM_D2H, event);
    copy(&rig, DFR_COPY_D2H, &byte, rig.pool, 1, DFR_STREAM_D2H);
    record(&rig, after, DFR_STREAM_D2H);
    launch(&rig, &l, DFR_STREAM_COMPUTE);
    record(&rig, event, DFR_STREAM_COMPUTE);
    while (!is_complete(&rig, after))
        pause_s(1e-3);
    assert_false(is_complete(&rig, event));
    atomic_store(&open, true);
    rig.ops->event_destroy(rig.device, event); /* it may be in flight: this waits */
    rig.ops->event_destroy(rig.device, after);
    rig.ops->close(rig.device);
    assert_int_equal(result, DF_OK);
}

/* A record waits for what is before it in its stream, not for what was enqueued before it in another. */
static void test_record_overtakes_other_streams(void **state)
{
    _Atomic bool open[2] = {false, false};
    struct diary diary = {.n = 0};
    void *first_gate[] = {&open[0]}, *second_gate[] = {&open[1]}, *diary_ports[] = {&diary};
    int results[3];
    struct df_call call = {.number = 1};
    struct dfr_launch first = {.fn = gate, .call = &call, .ports = first_gate, .result = &results[0]};
    struct dfr_launch quick = {.fn = write_diary, .call = &call, .ports = diary_ports, .result = &results[1]};
    struct dfr_launch second = {.fn = gate, .call = &call, .ports = second_gate, .result = &results[2]};
    struct dfr_event *done;
    struct rig rig;
    bool came;

    (void)state;
    rig_open(&rig, &free_links, 3, false);
    done = new_event(&rig);
    launch(&rig, &first, DFR_STREAM_COMPUTE + 2); /* holds the engine until the rest is enqueued */
    launch(&rig, &quick, DFR_STREAM_COMPUTE);
    launch(&rig, &second, DFR_STREAM_COMPUTE + 1);
    record(&rig, done, DFR_STREAM_COMPUTE);
    atomic_store(&open[0], true);
    came = false;
    for (int i = 0; i < 10000 && !came; i++) {
        came = is_complete(&rig, done);
        pause_s(1e-3);
    }
    atomic_store(&open[1], true);
    rig.ops->event_destroy(rig.device, done);
    rig.ops->close(rig.device);
    assert_true(came);
}

/* ---- times ---- */

struct span {
    double begin_s, end_s;
};

static struct span span_of(struct rig *rig, struct dfr_event *event)
{
    struct span span;

    assert_true(rig->ops->event_times(rig->device, event, &span.begin_s, &span.end_s));
    assert_true(span.begin_s >= 0 && span.begin_s <= span.end_s);
    return span;
}

static void test_copy_takes_the_links_time(void **state)
{
    struct df_unit unit = {.engines = 2,
                           .h2d = {.bytes_per_s = 5e6, .latency_s = 2e-3, .threshold_bytes = PAGE},
                           .d2h = {.bytes_per_s = INFINITY, .latency_s = 4e-3}};
    static unsigned char host[8 * PAGE], back[PAGE];
    struct rig rig;
    struct dfr_event *up, *down;
    double begin_s = dfr_clock_s(), expected_s = 2e-3 + 7 * PAGE / 5e6, begin_out, end_out;
    struct span span;

    (void)state;
    rig_open(&rig, &unit, 1, true);
    up = new_event(&rig);
    down = new_event(&rig);
    assert_false(rig.ops->event_times(rig.device, up, &begin_out, &end_out));
    copy(&rig, DFR_COPY_H2D, rig.pool, host, sizeof host, DFR_STREAM_H2D);
    record(&rig, up, DFR_STREAM_H2D);
    copy(&rig, DFR_COPY_D2H, back, rig.pool + 8 * PAGE, PAGE, DFR_STREAM_D2H);
    record(&rig, down, DFR_STREAM_D2H);
    drain(&rig);
    span = span_of(&rig, up);
    assert_true(span.end_s - span.begin_s >= expected_s - 1e-9);
    assert_true(span.end_s <= dfr_clock_s() - begin_s);
    span = span_of(&rig, down);
    assert_true(span.end_s - span.begin_s >= 4e-3 - 1e-9);
    rig.ops->event_destroy(rig.device, up);
    rig.ops->event_destroy(rig.device, down);
    rig.ops->close(rig.device);
}

/* By such a record a run relates the device's clock to its own. */
static void test_record_of_an_idle_stream_is_of_now(void **state)
{
    struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    struct rig rig;
    struct dfr_event *event;
    struct span span;

    (void)state;
    rig_open(&rig, &free_links, 1, true);
    nanosleep(&pause, NULL);
    event = new_event(&rig);
    record(&rig, event, DFR_STREAM_COMPUTE);
    drain(&rig);
    span = span_of(&rig, event);
    assert_true(span.begin_s >= 20e-3 && span.end_s >= span.begin_s);
    rig.ops->event_destroy(rig.device, event);
    rig.ops->close(rig.device);
}

static bool overlap(struct span a, struct span b)
{
    return a.begin_s < b.end_s && b.begin_s < a.end_s;
}

static bool copies_overlap(uint32_t engines)
{
    struct df_unit unit = {.engines = engines,
                           .h2d = {.bytes_per_s = INFINITY, .latency_s = 0.5},
                           .d2h = {.bytes_per_s = INFINITY, .latency_s = 0.5}};
    static unsigned char host[2 * PAGE];
    struct rig rig;
    struct dfr_event *up, *down;
    struct span a, b;

    rig_open(&rig, &unit, 1, true);
    up = new_event(&rig);
    down = new_event(&rig);
    copy(&rig, DFR_COPY_H2D, rig.pool, host, PAGE, DFR_STREAM_H2D);
    record(&rig, up, DFR_STREAM_H2D);
    copy(&rig, DFR_COPY_D2H, host + PAGE, rig.pool + PAGE, PAGE, DFR_STREAM_D2H);
    record(&rig, down, DFR_STREAM_D2H);
    drain(&rig);
    a = span_of(&rig, up);
    b = span_of(&rig, down);
    rig.ops->event_destroy(rig.device, up);
    rig.ops->event_destroy(rig.device, down);
    rig.ops->close(rig.device);
    return overlap(a, b);
}

static void test_two_engines_overlap_and_one_does_not(void **state)
{
    (void)state;
    assert_true(copies_overlap(2));
    assert_false(copies_overlap(1));
}

static int sleep_kernel(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                        const union df_scalar *scalars)
{
    struct timespec pause = {.tv_nsec = 500 * 1000 * 1000};

    (void)call;
    (void)stream;
    (void)dims;
    (void)ports;
    (void)scalars;
    nanosleep(&pause, NULL);
    return DF_OK;
}

static void test_copy_overlaps_computation(void **state)
{
    struct df_unit unit = {.engines = 2, .launch_s = 5e-3, .h2d = {.bytes_per_s = INFINITY, .latency_s = 0.05}};
    unsigned char byte = 3;
    struct df_call call = {.number = 0};
    int result = -1;
    struct dfr_launch l = {.fn = sleep_kernel, .call = &call, .result = &result};
    struct rig rig;
    struct dfr_event *computed, *copied;

    (void)state;
    rig_open(&rig, &unit, 1, true);
    computed = new_event(&rig);
    copied = new_event(&rig);
    launch(&rig, &l, DFR_STREAM_COMPUTE);
    record(&rig, computed, DFR_STREAM_COMPUTE);
    copy(&rig, DFR_COPY_H2D, rig.pool, &byte, 1, DFR_STREAM_H2D);
    record(&rig, copied, DFR_STREAM_H2D);
    drain(&rig);
    assert_int_equal(result, DF_OK);
    assert_true(overlap(span_of(&rig, computed), span_of(&rig, copied)));
    assert_true(span_of(&rig, computed).begin_s >= 5e-3);
    rig.ops->event_destroy(rig.device, computed);
    rig.ops->event_destroy(rig.device, copied);
    rig.ops->close(rig.device);
}

/* Part 3 follows 1 and 2, which follow 0; part 1 is two launches. The recorded order is one that this allows; a device that
 * reorders takes others, too, and none that it forbids. */
static void test_parts_of_a_replay(void **state)
{
    enum { N = 5, REPLAYS = 40 };
    static const uint32_t after[] = { 0, 1, 1, 6 };
    static const int part_of[N] = { 0, 1, 1, 2, 3 };
    struct df_error error;

    (void)state;
    for (uint64_t seed = 0; seed < 2; seed++) {
        struct dfr_emu_trial trial = {.reorder_seed = seed};
        static struct df_call calls[N];
        static int results[N];
        static struct diary diary;
        void *ports[] = {&diary};
        struct dfr_recording *recording;
        unsigned n_swapped = 0, n_between = 0;
        struct rig rig;

        atomic_init(&diary.n, 0);
        dfr_emu_trial_use(&trial);
        rig_open(&rig, &free_links, 1, false);
        dfr_emu_trial_use(NULL);
        assert_int_equal(rig.ops->record_begin(rig.device, DFR_STREAM_COMPUTE, &error), DF_OK);
        assert_int_equal(rig.ops->record_part(rig.device, DFR_STREAM_COMPUTE, 1, 0, &error), DF_E_ARGUMENT);
        for (int i = 0; i < N; i++) {
            struct dfr_launch l = {.fn = write_diary, .call = &calls[i], .ports = ports, .result = &results[i]};

            calls[i].number = i;
            if (i == 0 || part_of[i] != part_of[i - 1])
                assert_int_equal(rig.ops->record_part(rig.device, DFR_STREAM_COMPUTE, (uint32_t)part_of[i],
                                                      after[part_of[i]], &error), DF_OK);
            launch(&rig, &l, DFR_STREAM_COMPUTE);
        }
        assert_int_equal(rig.ops->record_end(rig.device, DFR_STREAM_COMPUTE, &recording, &error), DF_OK);
        for (int i = 0; i < REPLAYS; i++)
            assert_int_equal(rig.ops->replay(rig.device, recording, DFR_STREAM_COMPUTE, &error), DF_OK);
        drain(&rig);
        assert_int_equal(diary.n, N * REPLAYS);
        for (int i = 0; i < REPLAYS; i++) {
            int at[N];
            for (int k = 0; k < N; k++)
                at[diary.entries[i * N + k]] = k;
            assert_true(at[0] == 0 && at[1] < at[2] && at[4] == N - 1);
            n_swapped += at[3] < at[1];
            n_between += at[1] < at[3] && at[3] < at[2];
        }
        assert_int_equal(n_swapped > 0, seed > 0);
        assert_int_equal(n_between > 0, seed > 0);
        rig.ops->recording_destroy(rig.device, recording);
        rig.ops->close(rig.device);
    }
}

static int nothing(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                   const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_OK;
}

/* What the engine does between two kernels, here waking the runtime for 60 ms, is no more than the launch of 100. */
static void test_launch_has_the_engines_own_work_in_it(void **state)
{
    enum { LAUNCHES = 6 };
    struct df_unit unit = free_links;
    struct df_call call = {.number = 0};
    int result = -1;
    struct dfr_launch l = {.fn = nothing, .call = &call, .result = &result};
    struct rig rig;
    struct dfr_event *event;
    double begin_s, took_s, least_s = 1e9;

    (void)state;
    unit.launch_s = 0.1;
    rig_open(&rig, &unit, 1, true);
    event = new_event(&rig);
    wakeup_pause.tv_nsec = 60 * 1000 * 1000;
    for (int attempt = 0; attempt < 10 && least_s >= LAUNCHES * 0.1 + 0.25; attempt++) { /* a busy machine takes longer, not always */
        begin_s = dfr_clock_s();
        for (unsigned i = 0; i < LAUNCHES; i++) {
            launch(&rig, &l, DFR_STREAM_COMPUTE);
            record(&rig, event, DFR_STREAM_COMPUTE);
        }
        drain(&rig);
        took_s = dfr_clock_s() - begin_s;
        assert_true(took_s >= LAUNCHES * 0.1);
        least_s = took_s < least_s ? took_s : least_s;
    }
    wakeup_pause.tv_nsec = 0;
    assert_true(least_s < LAUNCHES * 0.1 + 0.25);
    rig.ops->event_destroy(rig.device, event);
    rig.ops->close(rig.device);
}

/* A replay pays for one launch: its first command takes the time of a launch, and the others follow at no cost. All of them would take 20 s. */
static void test_replay_costs_one_launch(void **state)
{
    enum { N = 40 };
    const double launch_s = 0.5;
    struct df_unit unit = {.engines = 1, .launch_s = launch_s};
    static struct df_call calls[N];
    static int results[N];
    static struct diary diary;
    void *ports[] = {&diary};
    struct dfr_recording *recording;
    struct df_error error;
    struct timespec begin, end;
    struct rig rig;

    (void)state;
    atomic_init(&diary.n, 0);
    rig_open(&rig, &unit, 1, true);
    assert_int_equal(rig.ops->record_begin(rig.device, DFR_STREAM_COMPUTE, &error), DF_OK);
    for (int i = 0; i < N; i++) {
        struct dfr_launch l = {.fn = write_diary, .call = &calls[i], .ports = ports, .result = &results[i]};

        calls[i].number = i;
        launch(&rig, &l, DFR_STREAM_COMPUTE);
    }
    assert_int_equal(rig.ops->record_end(rig.device, DFR_STREAM_COMPUTE, &recording, &error), DF_OK);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    assert_int_equal(rig.ops->replay(rig.device, recording, DFR_STREAM_COMPUTE, &error), DF_OK);
    drain(&rig);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double took_s = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    assert_int_equal(diary.n, N);
    assert_true(took_s >= launch_s);
    assert_true(took_s < N / 2 * launch_s);
    rig.ops->recording_destroy(rig.device, recording);
    rig.ops->close(rig.device);
}

/* ---- what there is, and what is refused ---- */

/* Bytes both ways, and what a batch takes: the link's latency once. As many copies by themselves would take 8 s at
 * least. */
static void test_batch_takes_one_latency(void **state)
{
    enum { N = 8 };
    struct df_unit slow = free_links;
    struct dfr_transfer there[N], back[N];
    struct df_error error;
    unsigned char *host;
    struct dfr_event *end;
    struct rig rig;
    double begin_s, end_s;

    (void)state;
    slow.h2d = (struct df_link){.latency_s = 1, .bytes_per_s = 1e12};
    for (uint32_t seed = 0; seed < 2; seed++) {
        dfr_emu_trial_use(&(struct dfr_emu_trial){.reorder_seed = seed});
        rig_open(&rig, &slow, 1, true);
        host = rig.ops->host_alloc(2 * N * 64, &error);
        assert_non_null(host);
        for (unsigned i = 0; i < N * 64; i++)
            host[i] = (unsigned char)(i * 7);
        for (unsigned i = 0; i < N; i++) {
            there[i] = (struct dfr_transfer){rig.pool + i * PAGE, host + i * 64, 64};
            back[i] = (struct dfr_transfer){host + (N + i) * 64, rig.pool + i * PAGE, 64};
        }
        end = new_event(&rig);
        assert_int_equal(rig.ops->copy_batch(rig.device, DFR_COPY_H2D, there, N, DFR_STREAM_H2D, &error), DF_OK);
        record(&rig, end, DFR_STREAM_H2D);
        wait_for(&rig, DFR_STREAM_D2H, end);
        assert_int_equal(rig.ops->copy_batch(rig.device, DFR_COPY_D2H, back, N, DFR_STREAM_D2H, &error), DF_OK);
        drain(&rig);
        assert_memory_equal(host, host + N * 64, N * 64);
        assert_true(rig.ops->event_times(rig.device, end, &begin_s, &end_s));
        assert_true(end_s - begin_s >= 1 && end_s - begin_s < N);
        rig.ops->event_destroy(rig.device, end);
        rig.ops->host_free(host, 2 * N * 64);
        rig.ops->close(rig.device);
        dfr_emu_trial_use(NULL);
    }
}

/* Each copy of a batch counts as a call that may fail, at once or late. */
static void test_batch_fails_as_its_copies(void **state)
{
    static const enum dfr_emu_call calls[] = {DFR_EMU_CALL_COPY, DFR_EMU_CALL_LATE_COPY};
    struct df_error error;
    struct rig rig;

    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct dfr_transfer copies[3];
        struct dfr_emu_trial trial = {.fail = {0}};
        unsigned char host[3] = {1, 2, 3};
        int status;

        trial.fail[calls[late]] = 2;
        dfr_emu_trial_use(&trial);
        rig_open(&rig, &free_links, 1, false);
        for (unsigned i = 0; i < 3; i++)
            copies[i] = (struct dfr_transfer){rig.pool + i, host + i, 1};
        status = rig.ops->copy_batch(rig.device, DFR_COPY_H2D, copies, 3, DFR_STREAM_H2D, &error);
        assert_int_equal(status, late ? DF_OK : DF_E_DEVICE);
        status = rig.ops->drain(rig.device, late ? &error : NULL);
        assert_int_equal(status, late ? DF_E_DEVICE : DF_OK);
        assert_string_equal(error.text, late ? "emu0: late-copy 2 failed, as asked for" : "emu0: copy 2 failed, as asked for");
        assert_int_equal(rig.pool[0], 1);
        assert_int_equal(rig.pool[1], 0);
        assert_int_equal(rig.pool[2], 0);
        rig.ops->close(rig.device);
        dfr_emu_trial_use(NULL);
    }
}

static void test_describe_and_refusals(void **state)
{
    const struct dfr_device_ops *ops = dfr_back_end_of(DF_DEVICE_EMU);
    struct df_unit unit = {.workers = 1};
    struct dfr_device_config config = {.unit = &unit, .pool_bytes = PAGE, .compute_streams = 0};
    struct dfr_device *device = NULL;
    struct df_error error;
    struct rig rig;

    (void)state;
    assert_null(dfr_back_end_of(DF_DEVICE_NONE));
    assert_int_equal(ops->count(&error), 1);
    assert_int_equal(ops->describe(0, &unit, &error), DF_OK);
    assert_string_equal(unit.name, "emu0");
    assert_true(unit.memory_bytes > 0 && unit.memory_bytes <= UINT64_C(1) << 30);
    unit.memory_bytes = 12345;
    assert_int_equal(ops->describe(3, &unit, &error), DF_OK);
    assert_int_equal(unit.memory_bytes, 12345);
    assert_int_equal(ops->describe(4, &unit, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "emu4: there are at most 4 emulated GPUs");
    assert_int_equal(ops->open(0, &config, &device, &error), DF_E_ARGUMENT);
    assert_null(device);
    config.compute_streams = 1;
    config.pool_bytes = UINT64_MAX / 2;
    assert_int_equal(ops->open(0, &config, &device, &error), DF_E_MEMORY);
    assert_null(device);

    rig_open(&rig, &free_links, 1, false);
    assert_int_equal(ops->copy(rig.device, DFR_COPY_D2D, NULL, NULL, 0, DFR_STREAM_COMPUTE + 1, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "emu0: no stream 4");
    assert_null(ops->blas(rig.device, DFR_STREAM_COMPUTE, &error));
    ops->close(rig.device);
}

/* ---- cores ---- */

/* Of this process's thread of that name: how many CPUs it may run on. 0: there is none, or it has not called itself so yet. */
static int cpus_of_thread(const char *name)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    int n = 0;

    assert_non_null(tasks);
    while (n == 0 && (entry = readdir(tasks)) != NULL) {
        char path[300], comm[32] = "";
        cpu_set_t set;
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "re");
        if (file != NULL && fgets(comm, sizeof comm, file) != NULL) {
            comm[strcspn(comm, "\n")] = 0;
            if (strcmp(comm, name) == 0 && sched_getaffinity(atoi(entry->d_name), sizeof set, &set) == 0)
                n = CPU_COUNT(&set);
        }
        if (file != NULL)
            fclose(file);
    }
    closedir(tasks);
    return n;
}

/* What computes stays on its core. Copies may run on another one, if that is idle. */
static void test_only_what_computes_is_bound(void **state)
{
    const struct dfr_device_ops *ops = dfr_back_end_of(DF_DEVICE_EMU);
    struct df_unit unit = {.workers = 1, .engines = 2};
    struct dfr_device_config config = {.unit = &unit, .pool_bytes = PAGE, .compute_streams = 1};
    struct dfr_cores *cores = dfr_cores_create();
    struct dfr_device *device;
    struct df_error error;
    cpu_set_t all;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    if (cores == NULL || cores->n < 2) {
        dfr_cores_destroy(cores);
        skip();                         /* there is nothing to choose from */
    }
    config.cores = cores;
    config.core = 1;
    assert_int_equal(ops->open(0, &config, &device, &error), DF_OK);
    for (int wait = 0; wait < 2000 && (cpus_of_thread("emu compute") == 0 || cpus_of_thread("emu compute") == CPU_COUNT(&all) ||
                                       cpus_of_thread("emu h2d") == 0 || cpus_of_thread("emu d2h") == 0); wait++)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    assert_in_range(cpus_of_thread("emu compute"), 1, CPU_COUNT(&all) - 1);
    assert_int_equal(cpus_of_thread("emu h2d"), CPU_COUNT(&all));
    assert_int_equal(cpus_of_thread("emu d2h"), CPU_COUNT(&all));
    ops->close(device);
    dfr_cores_destroy(cores);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_arrive),
        cmocka_unit_test(test_stream_order_and_full_ring),
        cmocka_unit_test(test_blocked_stream_blocks_no_other),
        cmocka_unit_test(test_wait_is_for_the_record_before_it),
        cmocka_unit_test(test_record_overtakes_other_streams),
        cmocka_unit_test(test_copy_takes_the_links_time),
        cmocka_unit_test(test_record_of_an_idle_stream_is_of_now),
        cmocka_unit_test(test_two_engines_overlap_and_one_does_not),
        cmocka_unit_test(test_copy_overlaps_computation),
        cmocka_unit_test(test_replay_costs_one_launch), cmocka_unit_test(test_parts_of_a_replay),
        cmocka_unit_test(test_launch_has_the_engines_own_work_in_it),
        cmocka_unit_test(test_batch_takes_one_latency), cmocka_unit_test(test_batch_fails_as_its_copies),
        cmocka_unit_test(test_describe_and_refusals), cmocka_unit_test(test_only_what_computes_is_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
