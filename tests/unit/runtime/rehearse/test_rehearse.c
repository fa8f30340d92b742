/* test_rehearse.c - the back end of rehearsed devices, and nominal times. Nothing here depends on how late this machine is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/device/device.h"
#include "runtime/rehearse/rehearsal.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/wake.h"

extern const struct dfr_device_ops dfr_rehearse_ops;

#define SCALE 1e-3                      /* real seconds of a nominal one: waits are short */

struct fixture {
    struct dfr_rehearsal *rehearsal;
    struct dfr_device *device, *other;
};

static struct dfr_device *open_device(uint32_t engines)
{
    struct df_unit unit = { .name = "a", .workers = 1, .engines = engines, .h2d = { 1e6, 1, 0 }, .d2h = { 1e6, 2, 0 },
                            .peer = { 2e6, 0, 0 } };
    struct dfr_device_config config = { .unit = &unit, .pool_bytes = UINT64_C(1) << 36, .compute_streams = 2 };
    struct dfr_device *device = NULL;

    assert_int_equal(dfr_rehearse_ops.open(0, &config, &device, NULL), DF_OK);
    return device;
}

/* Nominal time 0 was 100 nominal seconds ago, so that all that begins before that time is known at once. */
static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_int_equal(dfr_rehearsal_create(SCALE, &f->rehearsal, NULL), DF_OK);
    f->device = open_device(2);
    f->other = open_device(1);
    dfr_rehearsal_begin(f->rehearsal, -100 * SCALE);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    dfr_rehearsal_enter(NULL);
    dfr_rehearse_ops.close(f->device);
    dfr_rehearse_ops.close(f->other);
    dfr_rehearsal_destroy(f->rehearsal);
    free(f);
    return 0;
}

static struct dfr_event *record(struct dfr_device *d, uint32_t stream)
{
    struct dfr_event *e = NULL;
    assert_int_equal(d->ops->event_create(d, &e, NULL), DF_OK);
    assert_int_equal(d->ops->event_record(d, e, stream, NULL), DF_OK);
    return e;
}

static void launch(struct dfr_device *d, double seconds, uint32_t stream)
{
    struct dfr_launch l = { .seconds = seconds };
    assert_int_equal(d->ops->launch(d, &l, stream, NULL), DF_OK);
}

static void copy(struct dfr_device *d, enum dfr_copy kind, uint32_t stream)
{
    assert_int_equal(d->ops->copy(d, kind, NULL, NULL, 1000000, stream, NULL), DF_OK);
}

/* When the command before the event began, counted from `zero_s`; and that it took so long. The event goes. */
static void took(struct dfr_device *d, struct dfr_event *e, double zero_s, double begin_s, double end_s)
{
    bool complete = false;
    double from_s = NAN, to_s = NAN;

    for (int i = 0; i < 1000000 && !complete; i++)
        assert_int_equal(d->ops->event_query(d, e, &complete, NULL), DF_OK);
    assert_true(complete);
    assert_true(d->ops->event_times(d, e, &from_s, &to_s));
    assert_float_equal(from_s - zero_s, begin_s, 1e-4);
    assert_float_equal(to_s - zero_s, end_s, 1e-4);
    d->ops->event_destroy(d, e);
}

/* This thread's moment when it gives commands: all of them are given at the same one. */
static double enter(struct fixture *f)
{
    dfr_rehearsal_enter(f->rehearsal);
    dfr_nominal_catch_up();
    return dfr_nominal_moment_s();
}

/* A copy in, and a kernel of 4 s that waits for it. */
static void launch_after_copy(struct dfr_device *d, struct dfr_event **in, struct dfr_event **kernel)
{
    copy(d, DFR_COPY_H2D, DFR_STREAM_H2D);
    *in = record(d, DFR_STREAM_H2D);
    assert_int_equal(d->ops->stream_wait(d, DFR_STREAM_COMPUTE, *in, NULL), DF_OK);
    launch(d, 4, DFR_STREAM_COMPUTE);
    *kernel = record(d, DFR_STREAM_COMPUTE);
}

/* A kernel waits for its copy; the other stream's, given later, fits before it; both directions copy at once. */
static void test_streams(void **state)
{
    struct fixture *f = *state;
    struct dfr_device *d = f->device;
    double zero_s = enter(f);
    struct dfr_event *in, *back, *first, *second;

    launch_after_copy(d, &in, &first);
    launch(d, 2, DFR_STREAM_COMPUTE + 1);
    second = record(d, DFR_STREAM_COMPUTE + 1);
    copy(d, DFR_COPY_D2H, DFR_STREAM_D2H);
    back = record(d, DFR_STREAM_D2H);
    took(d, in, zero_s, 0, 2);
    took(d, second, zero_s, 0, 2);
    took(d, back, zero_s, 0, 3);
    took(d, first, zero_s, 2, 6);
    assert_float_equal(dfr_nominal_moment_s() - zero_s, 6, 1e-4);
}

/* With one engine, the copies of both directions take turns. */
static void test_one_engine(void **state)
{
    struct fixture *f = *state;
    double zero_s = enter(f);
    struct dfr_event *in, *back, *peer;

    copy(f->other, DFR_COPY_H2D, DFR_STREAM_H2D);
    in = record(f->other, DFR_STREAM_H2D);
    copy(f->other, DFR_COPY_D2H, DFR_STREAM_D2H);
    back = record(f->other, DFR_STREAM_D2H);
    assert_true(f->other->ops->connect(f->other, f->device));
    assert_int_equal(f->other->ops->copy_peer(f->other, f->device, NULL, NULL, 1000000, DFR_STREAM_PEER, NULL), DF_OK);
    peer = record(f->other, DFR_STREAM_PEER);
    took(f->other, peer, zero_s, 0, 0.5);
    took(f->other, in, zero_s, 0, 2);
    took(f->other, back, zero_s, 2, 5);
}

/* The worker is told to sleep until the next end, and not beyond one that it has missed. */
static void test_next_event(void **state)
{
    struct fixture *f = *state;
    struct dfr_device *d = f->device;
    bool complete = true;
    struct dfr_event *e;

    enter(f);
    assert_true(isinf(d->ops->next_event_s(d)));
    launch(d, 1000, DFR_STREAM_COMPUTE);
    e = record(d, DFR_STREAM_COMPUTE);
    assert_int_equal(d->ops->event_query(d, e, &complete, NULL), DF_OK);
    assert_false(complete);
    double next_s = d->ops->next_event_s(d);
    assert_true(next_s <= 1000 * SCALE);
    d->ops->event_destroy(d, e);
}

/* A command that does not fit before one that was given earlier comes after it. */
static void test_given_late(void **state)
{
    struct fixture *f = *state;
    struct dfr_device *d = f->device;
    double zero_s = enter(f);
    struct dfr_event *in, *first, *second;

    launch_after_copy(d, &in, &first);
    launch(d, 3, DFR_STREAM_COMPUTE + 1);
    second = record(d, DFR_STREAM_COMPUTE + 1);
    took(d, in, zero_s, 0, 2);
    took(d, first, zero_s, 2, 6);
    took(d, second, zero_s, 6, 9);
}

/* What a worker has drained does not wake it, and an event on an idle stream is complete when it is recorded. */
static void test_drain(void **state)
{
    struct fixture *f = *state;
    struct dfr_device *d = f->device;
    double zero_s = enter(f);
    struct dfr_event *idle = record(d, DFR_STREAM_COMPUTE);
    double begin_s, end_s;

    assert_int_equal(d->ops->drain(d, NULL), DF_OK);
    assert_true(isinf(d->ops->next_event_s(d)));
    assert_true(d->ops->event_times(d, idle, &begin_s, &end_s));
    assert_float_equal(end_s, zero_s, 1e-4);
    d->ops->event_destroy(d, idle);
}

/* ---- moments ---- */

/* A wait ends at its deadline, and so the next one begins there. One that is far too late begins at the real time. */
static void test_waits(void **state)
{
    struct fixture *f = *state;
    struct df_stats *s = calloc(1, sizeof *s);

    dfr_rehearsal_begin(f->rehearsal, 1);  /* in 1000 s: nobody is late */
    dfr_rehearsal_enter(f->rehearsal);
    assert_float_equal(dfr_clock_s(), 0, 0);
    dfr_rehearsal_see(3, false);
    dfr_rehearsal_see(2, false);
    assert_float_equal(dfr_clock_s(), 3, 0);
    dfr_rehearsal_stats(f->rehearsal, s);
    assert_float_equal(s->makespan_s, 3, 0);
    dfr_rehearsal_begin(f->rehearsal, -50 * SCALE); /* it is 50 s now */
    dfr_rehearsal_wait(2);
    assert_true(dfr_nominal_moment_s() >= 52);
    assert_true(dfr_clock_s() >= 52);
    free(s);
}

/* The moment of a thread that wakes others is that of those that were asleep. */
static void test_woken(void **state)
{
    struct fixture *f = *state;
    struct dfr_wake *wake = aligned_alloc(64, sizeof *wake);
    uint32_t key;

    *wake = (struct dfr_wake){ 0 };
    dfr_rehearsal_begin(f->rehearsal, 1);
    dfr_rehearsal_enter(f->rehearsal);
    key = dfr_wake_announce(wake);
    dfr_nominal_move(7);
    assert_true(dfr_wake_one(wake));
    assert_false(dfr_wake_one(wake));
    dfr_rehearsal_enter(f->rehearsal);  /* as another thread would */
    assert_float_equal(dfr_clock_s(), 0, 0);
    dfr_wake_sleep(wake, key, -1);
    assert_float_equal(dfr_clock_s(), 7, 0);
    free(wake);
}

static void test_lateness(void **state)
{
    struct fixture *f = *state;
    struct df_stats *s = calloc(1, sizeof *s);

    dfr_rehearsal_enter(f->rehearsal);
    for (int i = 0; i < 100; i++)
        dfr_rehearsal_see(i - 300, i < 98); /* now is 100 s, or later */
    dfr_rehearsal_stats(f->rehearsal, s);
    assert_int_equal(s->rehearsal.waits, 98);
    assert_int_equal(s->rehearsal.n_late, 98);
    assert_true(s->rehearsal.late_median_s >= 350 * SCALE && s->rehearsal.late_99_s >= s->rehearsal.late_median_s);
    assert_true(s->rehearsal.late_worst_s >= 400 * SCALE && s->rehearsal.late_worst_s >= s->rehearsal.late_99_s);
    assert_float_equal(s->rehearsal.scale, SCALE, 0);
    free(s);
}

/* The median of the jobs that take time lasts 5 ms, but the run no longer than 30 s. */
static void test_scale(void **state)
{
    const double job_s[] = { 0, 1, 0, 4, 2 };
    double scale = 0;

    (void)state;
    assert_int_equal(dfr_rehearsal_scale(job_s, 5, 7, &scale, NULL), DF_OK);
    assert_float_equal(scale, 5e-3 / 2, 1e-12);
    assert_int_equal(dfr_rehearsal_scale(job_s, 5, 60000, &scale, NULL), DF_OK);
    assert_float_equal(scale, 30.0 / 60000, 1e-12);
    assert_int_equal(dfr_rehearsal_scale(job_s, 1, 0, &scale, NULL), DF_OK);
    assert_float_equal(scale, 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_streams, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_engine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_next_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_given_late, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_drain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_woken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lateness, set_up, tear_down),
        cmocka_unit_test(test_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
