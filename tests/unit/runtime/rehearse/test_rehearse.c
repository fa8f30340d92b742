/* test_rehearse.c - the back end of rehearsed devices, and the nominal times of jobs. Nothing here depends on how late this machine is. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/rehearse/rehearsal.h"
#include "runtime/rehearse/turns.h"
#include "runtime/rehearse/rehearse_device.h"

#define SCALE 1e-3                      /* real seconds of a nominal one: waits are short */

struct fixture {
    struct df_graph *graph;
    struct dfr_rehearsal *rehearsal;
    struct dfr_device *device, *other;
};

/* A source and its reader. */
static struct df_graph *pair(void)
{
    struct df_builder *b = df_builder_new("main");
    const struct df_port_desc out = { "v", DF_OUT, DF_U8, 0 }, in = { "v", DF_IN, DF_U8, 0 };
    const struct df_kernel_desc make = { .name = "make", .n_ports = 1, .ports = &out };
    const struct df_kernel_desc take = { .name = "take", .n_ports = 1, .ports = &in };
    const uint64_t extents[1][DF_MAX_RANK] = { { 1, 1, 1, 1 } };
    uint32_t k[2], v[2];
    struct df_graph *graph = NULL;

    assert_int_equal(df_builder_kernel(b, &make, &k[0], NULL), DF_OK);
    assert_int_equal(df_builder_kernel(b, &take, &k[1], NULL), DF_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(df_builder_node(b, k[i], NULL, extents, NULL, &v[i], NULL), DF_OK);
    assert_int_equal(df_builder_connect(b, v[0], 0, v[1], 0, NULL), DF_OK);
    assert_int_equal(df_builder_finish(b, &graph, NULL), DF_OK);
    df_builder_free(b);
    return graph;
}

static struct dfr_device *open_device(struct dfr_rehearsal *r, uint32_t engines)
{
    struct df_unit unit = { .name = "a", .workers = 1, .engines = engines, .h2d = { 1e6, 1, 0 }, .d2h = { 1e6, 2, 0 },
                            .peer = { 2e6, 0, 0 } };
    struct dfr_device_config config = { .unit = &unit, .pool_bytes = UINT64_C(1) << 36, .compute_streams = 2,
                                        .rehearsal = r };
    struct dfr_device *device = NULL;

    assert_int_equal(dfr_rehearse_ops.open(0, &config, &device, NULL), DF_OK);
    return device;
}

/* Nominal time 0 was 100 nominal seconds ago, so that all that begins before that time is known at once. */
static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->graph = pair();
    assert_int_equal(dfr_rehearsal_create(f->graph, 1, 1, SCALE, &f->rehearsal, NULL), DF_OK);
    f->device = open_device(f->rehearsal, 2);
    f->other = open_device(f->rehearsal, 1);
    dfr_rehearsal_begin(f->rehearsal, -100 * SCALE);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    dfr_nominal_enter(NULL);
    dfr_rehearse_ops.close(f->device);
    dfr_rehearse_ops.close(f->other);
    dfr_rehearsal_destroy(f->rehearsal);
    df_graph_free(f->graph);
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

    for (int i = 0; i < 100000 && !complete; i++) {
        assert_int_equal(d->ops->event_query(d, e, &complete, NULL), DF_OK);
        if (!complete)
            d->ops->next_event_s(d);
    }
    assert_true(complete);
    assert_true(d->ops->event_times(d, e, &from_s, &to_s));
    assert_float_equal(from_s - zero_s, begin_s, 1e-4);
    assert_float_equal(to_s - zero_s, end_s, 1e-4);
    d->ops->event_destroy(d, e);
}

/* This thread's moment when it gives commands: all of them are given at the same one. */
static double enter(struct fixture *f)
{
    dfr_nominal_enter(dfr_rehearsal_nominal(f->rehearsal));
    dfr_nominal_move(dfr_nominal_real_s(dfr_rehearsal_nominal(f->rehearsal)), false);
    return dfr_nominal_moment_s();
}

/* A kernel waits for its copy; the other stream's, given later, goes before it; both directions copy at once. */
static void test_streams(void **state)
{
    struct fixture *f = *state;
    struct dfr_device *d = f->device;
    double zero_s = enter(f);
    struct dfr_event *in, *back, *first, *second;

    copy(d, DFR_COPY_H2D, DFR_STREAM_H2D);
    in = record(d, DFR_STREAM_H2D);
    assert_int_equal(d->ops->stream_wait(d, DFR_STREAM_COMPUTE, in, NULL), DF_OK);
    launch(d, 4, DFR_STREAM_COMPUTE);
    first = record(d, DFR_STREAM_COMPUTE);
    launch(d, 3, DFR_STREAM_COMPUTE + 1);
    second = record(d, DFR_STREAM_COMPUTE + 1);
    copy(d, DFR_COPY_D2H, DFR_STREAM_D2H);
    back = record(d, DFR_STREAM_D2H);
    took(d, in, zero_s, 0, 2);
    took(d, second, zero_s, 0, 3);
    took(d, back, zero_s, 0, 3);
    took(d, first, zero_s, 3, 7);
    assert_float_equal(dfr_nominal_moment_s() - zero_s, 7, 1e-4);
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

/* Asks for the event as a worker does. */
static bool shows(struct dfr_device *d, struct dfr_event *e)
{
    bool complete = false;

    for (int i = 0; i < 10 && !complete; i++) {
        assert_int_equal(d->ops->event_query(d, e, &complete, NULL), DF_OK);
        if (!complete)
            assert_float_equal(d->ops->next_event_s(d), 0, 0);
    }
    return complete;
}

/* A worker that is late sees one end after the other. */
static void test_one_at_a_time(void **state)
{
    struct fixture *f = *state;
    struct dfr_device *d = f->device;
    struct dfr_event *first, *second;

    enter(f);
    launch(d, 1, DFR_STREAM_COMPUTE);
    first = record(d, DFR_STREAM_COMPUTE);
    copy(d, DFR_COPY_H2D, DFR_STREAM_H2D);
    second = record(d, DFR_STREAM_H2D);
    dfr_rehearsal_begin(f->rehearsal, -200 * SCALE); /* both have ended long since */
    assert_false(shows(d, second));
    assert_true(shows(d, first));
    assert_true(shows(d, second));
    assert_true(isinf(d->ops->next_event_s(d)));
    d->ops->event_destroy(d, first);
    d->ops->event_destroy(d, second);
}

/* A copy begins when it was asked for, though the worker reads the message later; and what it computes does not wait for
 * that message. */
static void test_told(void **state)
{
    struct fixture *f = *state;
    struct dfr_device *d = f->device;
    double zero_s = enter(f);
    struct dfr_event *in, *job;

    dfr_nominal_move(zero_s + 1, false);
    dfr_rehearsal_tell(f->rehearsal, 1);
    dfr_nominal_enter(dfr_rehearsal_nominal(f->rehearsal)); /* as another thread would */
    dfr_nominal_move(zero_s, false);
    copy(d, DFR_COPY_H2D, DFR_STREAM_H2D);
    in = record(d, DFR_STREAM_H2D);
    launch(d, 2, DFR_STREAM_COMPUTE);
    job = record(d, DFR_STREAM_COMPUTE);
    took(d, job, zero_s, 0, 2);
    took(d, in, zero_s, 1, 3);
}

/* ---- turns ---- */

struct other {
    struct dfr_turns *turns;
    double at_s, until_s;               /* it acts at until_s, or when it may */
    _Atomic bool announced, acted, may;
};

static void *act(void *arg)
{
    struct other *o = arg;

    dfr_turns_enter(o->turns, 1);
    dfr_turns_announce(o->at_s, 5);
    o->announced = true;
    while (!o->may && dfr_clock_s() < o->until_s)
        dfr_clock_wait_until(dfr_clock_s() + 0.001);
    o->acted = true;
    dfr_turns_announce(INFINITY, 0);
    dfr_turns_enter(NULL, 0);
    return NULL;
}

/* This thread acts at 100 s and in place 6 of what happens then. Gives whether it waited for one that acts at at_s, in
 * place 5, after delay_s of real time. Now is 100 s less ahead_s. */
static bool waits_for(double at_s, double ahead_s, double delay_s)
{
    struct dfr_nominal nominal = { .origin_s = dfr_clock_s() + ahead_s - 100, .scale = 1 };
    struct other other = { .turns = dfr_turns_create(2, &nominal), .at_s = at_s, .until_s = dfr_clock_s() + delay_s };
    pthread_t thread;
    bool at_once, acted;

    assert_non_null(other.turns);
    assert_int_equal(pthread_create(&thread, NULL, act, &other), 0);
    while (!other.announced)
        ;
    dfr_turns_enter(other.turns, 0);
    dfr_turns_announce(100, 6);
    at_once = dfr_turns_await();
    acted = other.acted;
    assert_true(at_s > 100 ? at_once : !at_once || acted); /* a thread that got no core in delay_s finds that it acted */
    other.may = true;
    dfr_turns_enter(NULL, 0);
    pthread_join(thread, NULL);
    dfr_turns_destroy(other.turns);
    return acted;
}

static void test_turns(void **state)
{
    (void)state;
    assert_true(waits_for(99, 60, 0.02));
    assert_true(waits_for(100, 60, 0.02));
    assert_false(waits_for(101, 60, 10));
    assert_false(waits_for(99, 0, 10));     /* but no longer than DFR_AWAIT_S */
    assert_true(dfr_turns_await());     /* who has not entered has no turn */
}

static void *hear(void *arg)
{
    struct other *o = arg;

    dfr_turns_enter(o->turns, 1);
    dfr_clock_wait_until(dfr_clock_s() + 0.02);
    o->at_s = dfr_turns_hear(false);
    o->acted = true;
    dfr_turns_idle();
    dfr_turns_enter(NULL, 0);
    return NULL;
}

/* A thread that sleeps is called for 99 s. Whoever acts at 100 s waits until it has heard that, and acted. */
static void test_call(void **state)
{
    struct dfr_nominal nominal = { .origin_s = dfr_clock_s() + 60 - 100, .scale = 1 };
    struct other other = { .turns = dfr_turns_create(2, &nominal) };
    pthread_t thread;

    (void)state;
    assert_non_null(other.turns);
    dfr_turns_enter(other.turns, 0);
    dfr_turns_announce(100, 6);
    dfr_turns_call(other.turns, 1, 99, 7);
    dfr_turns_call(other.turns, 1, 98, 7);
    assert_int_equal(pthread_create(&thread, NULL, hear, &other), 0);
    dfr_turns_await();
    assert_true(other.acted);
    assert_float_equal(other.at_s, 98, 0);
    pthread_join(thread, NULL);
    dfr_turns_call(other.turns, 0, 100, 7);
    assert_false(dfr_turns_called());   /* what it is called for comes after its own place */
    dfr_turns_call(other.turns, 0, 100, 5);
    assert_true(dfr_turns_called());
    assert_false(dfr_turns_await());    /* it returns, so that this thread looks */
    assert_float_equal(dfr_turns_hear(false), 100, 0);
    dfr_turns_call(other.turns, 0, 50, 5);
    assert_false(dfr_turns_called());   /* it does not listen before it is idle */
    dfr_turns_idle();
    dfr_turns_call(other.turns, 0, 50, 5);
    assert_true(dfr_turns_called());
    dfr_turns_enter(NULL, 0);
    assert_false(dfr_turns_called());
    dfr_turns_destroy(other.turns);
}

/* ---- */

/* Slot 0 has the later wave. */
static void test_sort(void **state)
{
    struct dfr_rehearsal *r;
    struct df_graph g = { .n_nodes = 32 };

    (void)state;
    for (uint64_t n = 0; n <= 64; n++) {
        uint64_t list = DFR_NO_REHEARSED;
        assert_int_equal(dfr_rehearsal_create(&g, 2, 1, 1, &r, NULL), DF_OK);
        dfr_rehearsal_begin_wave(r, 0, 3);
        dfr_rehearsal_begin_wave(r, 1, 2);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = (i * 29 + 7) % 64;
            dfr_rehearsal_push(r, &list, at / 32 << 32 | at % 32);
        }
        dfr_rehearsal_sort(r, &list);
        for (uint64_t before = 0, i = 0, job; i <= n; i++, before = job) {
            job = dfr_rehearsal_pop(r, &list);
            assert_true(i == n ? job == DFR_NO_REHEARSED
                               : i == 0 || job >> 32 < before >> 32 || (job >> 32 == before >> 32 && job > before));
        }
        dfr_rehearsal_destroy(r);
    }
}

/* A job begins when what it reads was made, and not when it is taken; a job that is taken far too late begins then. */
static void test_jobs(void **state)
{
    struct fixture *f = *state;
    struct dfr_rehearsal *r = f->rehearsal;
    const struct dfr_nominal *nominal = dfr_rehearsal_nominal(r);

    dfr_rehearsal_begin(r, 0);
    dfr_nominal_enter(nominal);
    dfr_rehearsal_ended(r, 0, 0, 10);
    dfr_rehearsal_ready(r, 0, 1, false);
    assert_float_equal(dfr_rehearsal_cause_s(r, 0, 1), 10, 0);
    dfr_nominal_move(12, false);
    dfr_rehearsal_arrived(r, 0, 1);
    assert_float_equal(dfr_rehearsal_cause_s(r, 0, 1), 12, 0);
    dfr_rehearsal_tell(r, 3);
    dfr_nominal_enter(nominal);         /* as another thread would */
    dfr_rehearsal_listen(r, 3);
    assert_float_equal(dfr_nominal_moment_s(), 12, 0);
    dfr_nominal_enter(NULL);
    dfr_rehearsal_begin(r, -50 * SCALE); /* it is 50 s now: more than is forgiven */
    dfr_nominal_enter(nominal);
    dfr_rehearsal_take(r, 0, 1);
    assert_true(dfr_nominal_moment_s() >= 50);
    assert_float_equal(dfr_rehearsal_end_s(r), 10, 0);
}

static void test_lateness(void **state)
{
    struct fixture *f = *state;
    struct df_stats *s = calloc(1, sizeof *s);

    for (int i = 0; i < 98; i++)
        dfr_rehearsal_late(f->rehearsal, 50e-6);
    dfr_rehearsal_late(f->rehearsal, 900e-6);
    dfr_rehearsal_late(f->rehearsal, 5e-3);
    dfr_rehearsal_stats(f->rehearsal, s);
    assert_int_equal(s->rehearsal.waits, 100);
    assert_int_equal(s->rehearsal.n_late, 1);
    assert_float_equal(s->rehearsal.late_median_s, 50e-6, 4e-6);
    assert_float_equal(s->rehearsal.late_99_s, 900e-6, 50e-6);
    assert_float_equal(s->rehearsal.late_worst_s, 5e-3, 0);
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
        cmocka_unit_test_setup_teardown(test_one_at_a_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_told, set_up, tear_down),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_call),
        cmocka_unit_test(test_sort),
        cmocka_unit_test_setup_teardown(test_jobs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lateness, set_up, tear_down),
        cmocka_unit_test(test_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
