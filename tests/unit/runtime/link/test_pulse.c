/* test_pulse.c - signs of life: round trips of heartbeats over slow links, pieces of messages, and what counts as dead with them; both sides in virtual
 * time. */
#include "manager_rig.h"

#include <stdlib.h>

#include "runtime/link/pulse.h"
#include "runtime/ranks/worker.h"

static const struct dfr_head beat_head = { .kind = DFR_BEAT, .epoch = 5, .hash = 7 };

/* Beats go each second between two sides whose clocks differ; each way takes way_s, and every second one jitter_s more. Gives the limit for 1 s. */
static double limit_of(double way_s, double jitter_s, unsigned n)
{
    struct dfr_pulse here = { false }, there = { false };

    for (unsigned i = 0; i < n; i++) {
        const double now_s = 1000 + 10 * (i + 1.0), late_s = way_s + i % 2 * jitter_s;
        struct dfr_message *out = dfr_pulse_beat(&here, now_s, &beat_head), *back;
        dfr_pulse_hear(&there, now_s + late_s - 900, out, 1e9);
        back = dfr_pulse_beat(&there, now_s + late_s + 3 - 900, &beat_head);
        dfr_pulse_hear(&here, now_s + late_s + 3 + way_s, back, 1e9);
        dfr_message_drop(out);
        dfr_message_drop(back);
    }
    return dfr_pulse_limit_s(&here, 1);
}

static void test_limit(void **state)
{
    (void)state;
    assert_true(limit_of(0.5, 0, 0) == 1);
    assert_true(fabs(limit_of(0.5, 0, 1) - 4 * (1 + 4 * 0.5)) < 1e-9); /* the first: the deviation is half of it */
    assert_true(fabs(limit_of(0.5, 0, 100) - 4) < 1e-6);
    assert_true(limit_of(0.01, 0, 100) == 1); /* what was asked for */
    assert_true(limit_of(0.5, 1, 100) > 10 && limit_of(0.5, 1, 100) < 20);
}

/* A side that stood still for an hour says nothing of the link; nor do beats without a stamp, or with one that cannot be. */
static void test_bad_trips(void **state)
{
    struct dfr_pulse pulse = { false };
    struct dfr_stamp stamp = { 7, 100, 0 };
    struct dfr_message *beat = dfr_message_make(&beat_head, &(struct dfr_value){ .data = &stamp, .bytes = sizeof stamp }, 1);
    struct dfr_message *bare = dfr_message_make(&beat_head, NULL, 0);

    (void)state;
    dfr_pulse_hear(&pulse, 3700, bare, 10);
    assert_false(pulse.heard);
    dfr_pulse_hear(&pulse, 3700, beat, 10);
    assert_true(pulse.heard);
    assert_false(pulse.measured);
    dfr_pulse_hear(&pulse, 99, beat, 10);
    assert_false(pulse.measured);
    dfr_pulse_hear(&pulse, 102, beat, 10);
    assert_true(pulse.measured);
    assert_true(dfr_pulse_limit_s(&pulse, 10) == 4 * (2 + 4));
    dfr_message_drop(beat);
    dfr_message_drop(bare);
}

/* ---- the manager ---- */

static void tick_until(double from_s, double until_s, double each_s, bool heard)
{
    for (double now_s = from_s; now_s < until_s; now_s += each_s) {
        if (heard)
            dfr_manager_heard(manager, now_s, 1);
        dfr_manager_tick(manager, now_s);
    }
}

/* A token takes minutes, and nothing else comes meanwhile: pieces are signs of life. */
static void test_pieces_are_life(void **state)
{
    (void)state;
    options.n_ranks = 2;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    offer(1);
    tick_until(0, 300, 0.25, true);
    assert_int_equal(dfr_manager_state(manager).n_deaths, 0);
    dfr_manager_heard(manager, 300, 0); /* no worker */
    dfr_manager_heard(manager, 300, 7);
    tick_until(300, 309, 0.25, false);
    assert_int_equal(dfr_manager_state(manager).n_deaths, 0);
    tick_until(309, 312, 0.25, false);
    assert_int_equal(dfr_manager_state(manager).n_deaths, 1);
    assert_non_null(strstr(told, "it was silent for 10."));
    dfr_manager_heard(manager, 313, 1); /* the rest of a message; the message itself revives it */
    assert_int_equal(dfr_manager_state(manager).n_live, 0);
}

/* Round trips of 8 s: who asked for 1 s of silence gets what the link needs. */
static void test_slow_link(void **state)
{
    struct dfr_stamp stamp = { .held_s = 0 };

    (void)state;
    options.n_ranks = 2;
    options.beat_s = 0.1;
    options.beat_timeout_s = 1;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    for (double now_s = 8; now_s < 40; now_s += 0.5) {
        stamp = (struct dfr_stamp){ now_s, now_s - fmin(8, 0.9 + (now_s - 8) / 2), 0 };
        dfr_manager_arrived(manager, now_s, 1, dfr_message_make(&beat_head, &(struct dfr_value){ .data = &stamp, .bytes = sizeof stamp }, 1));
    }
    tick_until(40, 60, 0.025, false);
    assert_int_equal(dfr_manager_state(manager).n_deaths, 0);
    tick_until(60, 120, 0.025, false);
    assert_int_equal(dfr_manager_state(manager).n_deaths, 1);
}

/* The link says that a process has ended: its waves go to others at once. */
static void test_lost(void **state)
{
    (void)state;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 2, DFR_HELLO, 0);
    offer(3);
    assert_string_equal(sent_of(DFR_GIVE), "1:0 2:1 1:2 ");
    dfr_manager_lost(manager, 1, 1);
    dfr_manager_lost(manager, 1, 0);
    dfr_manager_lost(manager, 1, 3);
    assert_string_equal(told, "rank 1 on node7 counts as dead: it has ended, or its connection has; waves that are given out again: 2\n");
    assert_string_equal(sent_of(DFR_GIVE), "2:0 ");
    tick_until(1, 5, 0.25, false);
    for (unsigned i = 0; i < n_sent; i++)
        assert_int_equal(sent[i].to, 2); /* nothing is sent to the dead */
    hear(5, 2, DFR_RESULT, 0);
    hear(5, 2, DFR_RESULT, 2);
    hear(5, 2, DFR_RESULT, 1);
    dfr_manager_no_more(manager, 5);
    assert_int_equal(end_all(5), 3);
    hear(5, 2, DFR_BYE, 0);             /* rank 1's is not waited for */
    assert_true(dfr_manager_is_over(manager));
    assert_false(dfr_manager_state(manager).whole);
    outcome(DF_OK);
}

/* Nobody can come back: the run ends at once. */
static void test_all_are_lost(void **state)
{
    (void)state;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    offer(1);
    dfr_manager_lost(manager, 1, 1);
    dfr_manager_tick(manager, 1);
    assert_int_equal(dfr_manager_outcome(manager, &error), DF_OK); /* rank 2 may still say HELLO */
    dfr_manager_lost(manager, 2, 2);
    dfr_manager_tick(manager, 2);
    assert_string_equal(outcome(DF_E_STOPPED), "no other rank is left: they have ended");
    assert_true(dfr_manager_is_over(manager));
}

/* They are silent, and might come back: lost_s, which is the heartbeat timeout unless something else is asked for. */
static void test_all_are_silent(void **state)
{
    (void)state;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    tick_until(0, 19, 0.25, false);
    assert_int_equal(dfr_manager_outcome(manager, &error), DF_OK);
    tick_until(19, 21, 0.25, false);
    assert_string_equal(outcome(DF_E_STOPPED), "no worker was heard for 10 s");
}

/* ---- a worker ---- */

static struct dfr_worker *worker;

static void begin_worker(void)
{
    const struct dfr_worker_options own = { .hash = 7, .host = "here", .send = send };
    const struct dfr_head welcome = { .kind = DFR_WELCOME, .epoch = 5, .hash = 7 };

    assert_int_equal(dfr_worker_create(&own, 0, &worker, &error), DF_OK);
    dfr_worker_arrived(worker, 0, dfr_message_make(&welcome, NULL, 0));
}

static void test_worker_hears_pieces(void **state)
{
    (void)state;
    begin_worker();
    for (double now_s = 0; now_s < 100; now_s += 0.25) {
        dfr_worker_heard(worker, now_s);
        dfr_worker_tick(worker, now_s);
    }
    assert_false(dfr_worker_is_over(worker));
    for (double now_s = 100; now_s < 111; now_s += 0.25)
        dfr_worker_tick(worker, now_s);
    assert_true(dfr_worker_is_over(worker));
    assert_int_equal(dfr_worker_outcome(worker, &error), DF_E_STOPPED);
    assert_string_equal(error.text, "rank 0 was silent for 10 s");
    dfr_worker_destroy(worker);
}

static void test_worker_loses_rank_0(void **state)
{
    const struct dfr_head end = { .kind = DFR_END, .epoch = 5, .hash = 7, .flags = DFR_WHOLE };

    (void)state;
    begin_worker();
    dfr_worker_lost(worker);
    assert_true(dfr_worker_is_over(worker));
    assert_false(dfr_worker_is_whole(worker));
    assert_int_equal(dfr_worker_outcome(worker, &error), DF_E_STOPPED);
    assert_string_equal(error.text, "rank 0 has ended, or the connection to it has");
    dfr_worker_destroy(worker);
    begin_worker();                     /* after END it was let go */
    dfr_worker_arrived(worker, 1, dfr_message_make(&end, NULL, 0));
    dfr_worker_lost(worker);
    assert_true(dfr_worker_is_over(worker));
    assert_int_equal(dfr_worker_outcome(worker, &error), DF_OK);
    dfr_worker_destroy(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_limit), cmocka_unit_test(test_bad_trips), TEST(test_pieces_are_life), TEST(test_slow_link),
                                        TEST(test_lost), TEST(test_all_are_lost), TEST(test_all_are_silent), TEST(test_worker_hears_pieces),
                                        TEST(test_worker_loses_rank_0) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
