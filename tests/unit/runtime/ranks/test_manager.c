/* test_manager.c - rules of the manager, one by one, with workers that are made of messages: to whom waves go, windows, deaths
 * and returns, what is said in words, how a run ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "manager_rig.h"

/* ---- handing out ---- */

static void test_on_demand(void **state)
{
    (void)state;
    begin();
    offer(6);
    assert_string_equal(sent_of(DFR_GIVE), "");
    hear(0, 1, DFR_HELLO, 0);
    assert_string_equal(sent_of(DFR_GIVE), "1:0 1:1 ");
    hear(0, 2, DFR_HELLO, 0);
    assert_string_equal(sent_of(DFR_GIVE), "2:2 2:3 ");
    hear(0, 2, DFR_RESULT, 3);
    assert_string_equal(sent_of(DFR_GIVE), "2:4 ");
    hear(0, 1, DFR_RESULT, 0);
    assert_int_equal(sent[0].head.kind, DFR_VERDICT);
    assert_string_equal(sent_of(DFR_GIVE), "1:5 ");
    assert_int_equal(end_all(0), 1);
    hear(0, 1, DFR_RESULT, 1);
    hear(0, 2, DFR_RESULT, 2);
    assert_int_equal(end_all(0), 3);
}

static void test_places_bound_what_is_offered(void **state)
{
    (void)state;
    begin();
    offer(8);
    assert_int_equal(dfr_manager_room(manager), 0);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 1, DFR_RESULT, 1);
    assert_int_equal(dfr_manager_room(manager), 0);
    hear(0, 1, DFR_RESULT, 0);
    struct dfr_message *result = dfr_manager_take(manager);
    assert_int_equal(dfr_manager_room(manager), 0);
    dfr_manager_ended(manager, 0);
    assert_int_equal(dfr_manager_room(manager), 1);
    dfr_message_drop(result);
}

static void test_memory_bounds_what_is_offered(void **state)
{
    (void)state;
    options.memory_bytes = 300;          /* a message without values has 128 bytes */
    begin();
    offer(3);
    assert_int_equal(dfr_manager_room(manager), 0);
    dfr_manager_destroy(manager);
    options.memory_bytes = 1;
    begin();
    offer(1);                            /* one wave in any case */
    assert_int_equal(dfr_manager_room(manager), 0);
}

static void test_results_of_waves_that_were_not_given(void **state)
{
    (void)state;
    begin();
    offer(4);
    hear(0, 1, DFR_HELLO, 0);
    sent_of(DFR_GIVE);
    hear(0, 1, DFR_RESULT, 3);           /* it waits */
    hear(0, 1, DFR_RESULT, 1000);
    hear(0, 2, DFR_RESULT, 0);           /* rank 2 did not say HELLO */
    hear(0, 9, DFR_RESULT, 0);
    hear_head(0, 1, (struct dfr_head){ .kind = DFR_RESULT, .epoch = 4, .hash = 7, .wave = 0 }, NULL);
    hear_head(0, 1, (struct dfr_head){ .kind = DFR_RESULT, .epoch = 5, .hash = 8, .wave = 0 }, NULL);
    assert_string_equal(sent_of(DFR_VERDICT), "");
    assert_int_equal(dfr_manager_state(manager).n_accepted, 0);
    hear(0, 1, DFR_RESULT, 0);
    assert_string_equal(sent_of(DFR_VERDICT), "1:0 ");
    hear(0, 1, DFR_RESULT, 0);
    assert_string_equal(sent_of(DFR_VERDICT), "1:0! ");
    assert_int_equal(dfr_manager_state(manager).n_accepted, 1);
}

/* ---- windows ---- */

/* One worker whose results come `latency_s` after a wave was given, and one every service_s at most. */
static unsigned find_window_from(int64_t inflight, double latency_s, double service_s, double *all_s)
{
    double free_s = 0, ends_s[256];
    unsigned first = 0, n = 0, seen = 0;

    options.n_ranks = 2;
    options.window = options.places = 0;
    windows[0] = 0;
    n_sent = 0;
    begin();
    hear(0, 1, DFR_HELLO, inflight);
    double now_s = offered_s = 0;
    for (int64_t wave = 0; wave < 2000; wave++) {
        while (dfr_manager_room(manager) > 0)
            offer(1);
        for (; seen < n_sent; seen++)
            if (sent[seen].head.kind == DFR_GIVE) {
                free_s = fmax(free_s, now_s + latency_s) + service_s;
                ends_s[(first + n++) % 256] = free_s;
            }
        n_sent = seen = 0;
        now_s = ends_s[first++ % 256];
        n--;
        hear(now_s, 1, DFR_RESULT, wave);
        end_all(now_s);
        offered_s = now_s;
    }
    unsigned window = dfr_manager_window(manager, 1);
    dfr_manager_destroy(manager);
    manager = NULL;
    *all_s = now_s;
    return window;
}

static unsigned find_window(double latency_s, double service_s)
{
    double all_s;
    return find_window_from(0, latency_s, service_s, &all_s);
}

static void test_window_is_found(void **state)
{
    (void)state;
    assert_int_equal(find_window(0, 10e-3), 1);
    assert_string_equal(windows, "1:1:0 1:2:100 1:1:100 ");
    assert_int_equal(find_window(10e-3, 10e-3), 2);
    assert_string_equal(windows, "1:1:0 1:2:50 1:4:100 1:2:100 ");
    assert_int_equal(find_window(70e-3, 10e-3), 8);
    assert_int_equal(find_window(10, 10e-3), 32);        /* half of 64 places */
}

/* A worker whose HELLO says how many waves it can have in flight begins with so many: what it needs is found both above and below. */
static void test_window_begins_at_inflight(void **state)
{
    double from_1_s, from_8_s;
    (void)state;
    assert_int_equal(find_window_from(0, 70e-3, 10e-3, &from_1_s), 8);
    assert_int_equal(find_window_from(8, 70e-3, 10e-3, &from_8_s), 8);
    assert_string_equal(windows, "1:8:0 1:16:100 1:4:100 1:8:100 ");
    assert_true(from_8_s < from_1_s - 0.5); /* of some 20 s */
    assert_int_equal(find_window_from(4, 0, 10e-3, &from_1_s), 1);
    assert_string_equal(windows, "1:4:0 1:8:100 1:2:100 1:1:100 ");
    assert_int_equal(find_window_from(3, 10e-3, 10e-3, &from_1_s), 2); /* 3 becomes 4, and 1 is too few */
    assert_string_equal(windows, "1:4:0 1:8:100 1:2:100 1:1:100 1:2:100 ");
    assert_int_equal(find_window_from(4, 150e-3, 10e-3, &from_1_s), 16);
    assert_int_equal(find_window_from(1000, 10, 10e-3, &from_1_s), 32); /* half of 64 places, and 16 are too few */
    assert_string_equal(windows, "1:32:0 1:16:3 1:32:3 ");
}

/* A worker that waits for the source of the waves needs no larger window. */
static void test_dry_time_is_not_measured(void **state)
{
    (void)state;
    options.n_ranks = 2;
    options.window = 0;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    for (int64_t wave = 0; wave < 300; wave++) {
        offer(1);
        offered_s = 0.01 * (double)(wave + 1);
        hear(offered_s, 1, DFR_RESULT, wave);
        end_all(offered_s);
    }
    assert_string_equal(windows, "1:1:0 ");
}

/* ---- deaths and returns ---- */

static void test_waves_of_the_dead_go_first(void **state)
{
    (void)state;
    begin();
    offer(8);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 2, DFR_HELLO, 0);
    sent_of(DFR_GIVE);
    pass(0, 11, "2");
    assert_string_equal(sent_of(DFR_GIVE), "");
    assert_string_equal(told, "rank 1 on node7 counts as dead: it was silent for 10.0 s; waves that are given out again: 2\n");
    hear(11, 2, DFR_RESULT, 2);
    hear(11, 2, DFR_RESULT, 3);
    hear(11, 2, DFR_RESULT, 0);
    assert_string_equal(sent_of(DFR_GIVE), "2:0 2:1 2:4 ");
    assert_int_equal(end_all(11), 1);
}

static void test_late_results_count(void **state)
{
    (void)state;
    begin();
    offer(8);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 2, DFR_HELLO, 0);
    pass(0, 11, "2");
    hear(11, 2, DFR_RESULT, 2);          /* gets wave 0 */
    sent_of(DFR_GIVE);
    hear(12, 1, DFR_BEAT, 0);            /* it holds waves: no new ones before a result */
    assert_string_equal(sent_of(DFR_GIVE), "");
    hear(12, 1, DFR_RESULT, 0);
    assert_string_equal(sent_of(DFR_GIVE), "1:1 ");
    assert_non_null(strstr(told, "rank 1 on node7 is heard again"));
    hear(12, 2, DFR_RESULT, 0);
    assert_string_equal(sent_of(DFR_VERDICT), "2:0! ");
    assert_int_equal(end_all(12), 1);
}

static void test_dead_without_waves_returns(void **state)
{
    (void)state;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 2, DFR_HELLO, 0);
    pass(0, 11, "2");
    assert_int_equal(dfr_manager_state(manager).n_live, 1);
    hear(12, 1, DFR_BEAT, 0);
    assert_int_equal(dfr_manager_state(manager).n_live, 2);
}

static void test_wave_timeout(void **state)
{
    (void)state;
    options.wave_timeout_s = 3;
    options.window = 1;
    begin();
    offer(2);
    hear(0, 1, DFR_HELLO, 0);
    sent_of(DFR_GIVE);
    pass(0, 2, "1");
    assert_string_equal(told, "");
    pass(2, 4, "1");
    assert_string_equal(told, "rank 1 on node7 counts as dead: it has held a wave for 3.0 s; waves that are given out again: 1\n");
    sent_of(DFR_BEAT);
    pass(4, 8, "1");                     /* its beats do not bring it back, and it is beaten to */
    assert_int_equal(dfr_manager_state(manager).n_live, 0);
    assert_string_not_equal(sent_of(DFR_BEAT), "");
    hear(8, 2, DFR_HELLO, 0);
    assert_string_equal(sent_of(DFR_GIVE), "2:0 ");
}

/* A worker that says that it gets further may hold a wave for as long as it does. */
static void test_progress(void **state)
{
    (void)state;
    options.wave_timeout_s = 3;
    options.window = 1;
    begin();
    offer(1);
    hear(0, 1, DFR_HELLO, 0);
    for (int step = 1; step <= 10; step++) {
        hear(2 * step, 1, DFR_BEAT, step);
        dfr_manager_tick(manager, 2 * step);
    }
    assert_string_equal(told, "");
    for (double now_s = 20; now_s < 24; now_s += 0.2) {
        hear(now_s, 1, DFR_BEAT, 10);
        dfr_manager_tick(manager, now_s);
    }
    if (!strstr(told, "rank 1 on node7 counts as dead: it has held a wave for 3."))
        fail_msg("%s", told);
}

static void test_begun_anew(void **state)
{
    (void)state;
    begin();
    offer(2);
    hear(0, 1, DFR_HELLO, 0);
    sent_of(DFR_GIVE);
    hear(1, 1, DFR_HELLO, 0);
    assert_string_equal(sent_of(DFR_GIVE), "1:0 1:1 ");
    assert_int_equal(dfr_manager_state(manager).n_deaths, 1);
}

static void test_leaving(void **state)
{
    (void)state;
    begin();
    offer(4);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 1, DFR_BYE, 0);
    sent_of(DFR_GIVE);
    hear(0, 1, DFR_RESULT, 0);
    assert_string_equal(sent_of(DFR_END), "");
    hear(0, 1, DFR_RESULT, 1);
    assert_string_equal(sent_of(DFR_END), "1:0 ");
    assert_int_equal(dfr_manager_state(manager).n_live, 0);
    assert_int_equal(dfr_manager_state(manager).n_deaths, 0);
}

/* ---- the end ---- */

static void test_end(void **state)
{
    (void)state;
    begin();
    offer(1);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 2, DFR_HELLO, 0);
    hear(0, 1, DFR_RESULT, 0);
    dfr_manager_no_more(manager, 0);
    assert_string_equal(sent_of(DFR_END), "");
    assert_int_equal(end_all(0), 1);
    assert_string_equal(sent_of(DFR_END), "1:0! 2:0! ");
    hear(0, 1, DFR_BYE, 0);
    assert_false(dfr_manager_is_over(manager));
    hear(0, 2, DFR_BYE, 0);
    assert_true(dfr_manager_is_over(manager));
    assert_string_equal(sent_of(DFR_CLOSE), "1:0! 2:0! ");
    assert_true(dfr_manager_state(manager).whole);
    outcome(DF_OK);
}

static void test_end_without_an_answer(void **state)
{
    (void)state;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    dfr_manager_no_more(manager, 0);     /* no waves at all; rank 2 never comes */
    hear(0, 1, DFR_BYE, 0);
    pass(0, 9, "1");
    assert_false(dfr_manager_is_over(manager));
    sent_of(DFR_CLOSE);
    pass(9, 11, "1");
    assert_true(dfr_manager_is_over(manager));
    assert_string_equal(sent_of(DFR_CLOSE), "1:0 2:0 ");
    assert_false(dfr_manager_state(manager).whole);
    outcome(DF_OK);
}

static void test_other_programs(void **state)
{
    struct dfr_head hello = { .kind = DFR_HELLO, .hash = 8 };

    (void)state;
    begin();
    hear_head(0, 1, hello, "node7");
    assert_string_equal(told, "rank 1 on node7 is refused: it runs another program than rank 0, or with other arguments or sizes (hash 0000000000000008, not "
                              "0000000000000007)\n");
    assert_int_equal(sent[0].head.kind, DFR_REFUSE);
    assert_string_equal(sent[0].text, "it runs another program than rank 0, or with other arguments or sizes (hash 0000000000000008, not 0000000000000007)");
    hear_head(0, 2, hello, "node8");
    dfr_manager_tick(manager, 0);
    assert_string_equal(outcome(DF_E_STOPPED), "no worker takes part");
}

/* What differs is named if both say what their programs are made of; else the hashes stand there. */
static void test_facts(void **state)
{
    const struct dfr_head hello = { .kind = DFR_HELLO, .hash = 8, .wave = 1 };
    const char *const texts[] = { "node7", "", "arg us 1\nfile w.h 2\n" };

    (void)state;
    options.facts = "arg us 1\nfile w.h 1\n";
    begin();
    dfr_manager_arrived(manager, 0, 1, dfr_message_make_texts(&hello, texts, 3));
    assert_string_equal(told, "rank 1 on node7 is refused: it runs another program than rank 0, or with other arguments or sizes: file 'w.h' differs from rank 0's\n");
    hear_head(0, 2, hello, "node8");
    dfr_manager_tick(manager, 0);
    assert_string_equal(outcome(DF_E_STOPPED), "no worker takes part");
}

static void test_nobody_is_heard(void **state)
{
    (void)state;
    begin();
    pass(0, 59, "");
    assert_int_equal(dfr_manager_outcome(manager, &error), DF_OK);
    pass(59, 61, "");
    assert_string_equal(outcome(DF_E_STOPPED), "no worker was heard for 60 s");
    pass(61, 72, "");
    assert_true(dfr_manager_is_over(manager));
}

static void test_failed_wave(void **state)
{
    (void)state;
    begin();
    offer(2);
    hear(0, 1, DFR_HELLO, 0);
    hear_head(0, 1, (struct dfr_head){ .kind = DFR_WAVE_FAILED, .epoch = 5, .hash = 7 }, "kernel 'blur' failed in wave 0");
    assert_string_equal(outcome(DF_E_KERNEL), "rank 1 on node7: kernel 'blur' failed in wave 0");
    assert_string_equal(sent_of(DFR_END), "1:0 2:0 ");
    assert_int_equal(dfr_manager_room(manager), 0);
}

static void test_stop(void **state)
{
    (void)state;
    begin();
    offer(6);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 1, DFR_RESULT, 0);
    sent_of(DFR_GIVE);
    dfr_manager_stop(manager, 0);
    dfr_manager_stop(manager, 0);
    assert_string_equal(sent_of(DFR_BEAT), "1:0! "); /* who holds waves is told, once */
    assert_int_equal(dfr_manager_room(manager), 0);
    hear(0, 1, DFR_RESULT, 1);
    assert_string_equal(sent_of(DFR_GIVE), "");
    hear(0, 1, DFR_RESULT, 2);
    assert_string_equal(sent_of(DFR_END), "");
    assert_int_equal(end_all(0), 3);
    assert_string_equal(sent_of(DFR_END), "1:0 2:0 ");
    assert_string_equal(outcome(DF_E_STOPPED), "the run was stopped after wave 2");
}

static int64_t seen_accepted;           /* as digits */

static void see_accepted(void *arg, struct dfr_message *message)
{
    (void)arg;
    seen_accepted = seen_accepted * 10 + message->head.wave;
}

/* Results are shown when they are accepted, in any order, and once. */
static void test_accepted(void **state)
{
    (void)state;
    options.accepted = see_accepted;
    seen_accepted = 0;
    begin();
    offer(4);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 2, DFR_HELLO, 0);
    hear(0, 2, DFR_RESULT, 3);
    hear(0, 1, DFR_RESULT, 1);
    hear(0, 2, DFR_RESULT, 1);
    assert_int_equal(end_all(0), 0);    /* wave 0 is not there */
    assert_int_equal(seen_accepted, 31);
}

static void test_grace(void **state)
{
    (void)state;
    options.grace_s = 2;
    begin();
    offer(6);
    hear(0, 1, DFR_HELLO, 0);
    dfr_manager_stop(manager, 5);
    pass(5, 6.4, "1");
    assert_int_equal(dfr_manager_outcome(manager, &error), DF_OK);
    pass(6.5, 7.5, "1");
    assert_string_equal(outcome(DF_E_STOPPED), "the run was stopped; what took longer than 2 s was given up");
}

static void test_newer_epoch(void **state)
{
    (void)state;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    hear_head(0, 1, (struct dfr_head){ .kind = DFR_BEAT, .epoch = 6, .hash = 7 }, NULL);
    assert_string_equal(outcome(DF_E_STOPPED), "a newer run has taken over the workers of this one");
}

static int n_reports;

static void take_report(void *arg, int rank, const struct dfr_message *report)
{
    (void)arg;
    assert_int_equal(report->head.kind, DFR_REPORT);
    n_reports += rank;
}

/* END asks for reports. Who sends some is waited for as long as they come; who is silent is not. */
static void test_reports(void **state)
{
    (void)state;
    options.wants = DFR_WANTS_REPORT;
    options.report = take_report;
    n_reports = 0;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 2, DFR_HELLO, 0);
    assert_string_equal(sent_of(DFR_WELCOME), "1:0! 2:0! ");
    offer(3);
    hear(0, 1, DFR_RESULT, 0);
    hear(0, 1, DFR_RESULT, 1);
    hear(0, 2, DFR_RESULT, 2);
    end_all(0);
    n_sent = 0;
    dfr_manager_no_more(manager, 1);
    assert_string_equal(sent_of(DFR_END), "1:0! 2:0! ");
    hear(1, 2, DFR_REPORT, 0);
    hear(1, 2, DFR_BYE, 0);
    for (double now_s = 9; now_s < 40; now_s += 8) { /* the limit is 10 s since the last one */
        pass(now_s - 8, now_s, "1");
        hear(now_s, 1, DFR_REPORT, 0);
        assert_false(dfr_manager_is_over(manager));
    }
    assert_int_equal(n_reports, 2 + 4);
    pass(33, 42.5, "1");
    assert_false(dfr_manager_is_over(manager));
    pass(42.6, 46, "1");
    assert_true(dfr_manager_is_over(manager));
    assert_false(dfr_manager_state(manager).whole);
}

/* A run that failed asks for nothing. */
static void test_no_reports(void **state)
{
    (void)state;
    options.wants = DFR_WANTS_REPORT;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    n_sent = 0;
    dfr_manager_fail(manager, 0, DF_E_IO, "disk full");
    assert_string_equal(sent_of(DFR_END), "1:0 2:0 ");
}

/* What is counted of each rank. */
static void test_figures(void **state)
{
    struct dfr_rank_figures one = { .window = 9 }, two = { .window = 9 };

    (void)state;
    options.n_ranks = 5;
    begin();
    hear(0, 1, DFR_HELLO, 3);
    hear(0, 2, DFR_HELLO, 0);
    hear_head(0, 3, (struct dfr_head){ .kind = DFR_HELLO, .hash = 8 }, "stranger");
    offer(5);
    hear(1, 1, DFR_RESULT, 0);          /* 1 was given 0, 2 and 4; 2 has 1 and 3 */
    pass(1, 12, "1");                   /* 2 dies with two waves, of which 1 gets one: its window is 2 */
    dfr_manager_figures(manager, 1, &one);
    dfr_manager_figures(manager, 2, &two);
    assert_string_equal(one.host, "node7");
    assert_int_equal(one.fate, DFR_RANK_WORKED);
    assert_int_equal(one.inflight, 3);
    assert_int_equal(one.window, 2);
    assert_int_equal(one.counts.n_given, 3);
    assert_int_equal(one.counts.n_accepted, 1);
    assert_int_equal(two.fate, DFR_RANK_DIED);
    assert_int_equal(two.counts.n_given, 2);
    assert_int_equal(two.counts.n_again, 2);
    assert_int_equal(two.counts.n_deaths, 1);
    hear(12, 1, DFR_RESULT, 2);         /* it is given wave 1 now */
    hear(12, 1, DFR_RESULT, 1);
    hear(12, 2, DFR_RESULT, 1);         /* too late */
    dfr_manager_figures(manager, 1, &one);
    dfr_manager_figures(manager, 2, &two);
    assert_int_equal(one.counts.n_accepted, 3);
    assert_int_equal(two.counts.n_dropped, 1);
    assert_int_equal(two.fate, DFR_RANK_WORKED);
    assert_true(one.counts.n_received > 3 && one.counts.received_bytes >= 72 * one.counts.n_received);
    assert_true(one.counts.n_sent >= 4 && one.counts.sent_bytes >= 72 * one.counts.n_sent);
    dfr_manager_figures(manager, 3, &two);
    assert_int_equal(two.fate, DFR_RANK_REFUSED);
    dfr_manager_figures(manager, 4, &two);
    assert_int_equal(two.fate, DFR_RANK_ABSENT);
    hear(12, 1, DFR_BYE, 0);
    for (int64_t wave = 3; wave < 5; wave++)
        hear(12, 1, DFR_RESULT, wave);
    dfr_manager_figures(manager, 1, &one);
    assert_int_equal(one.fate, DFR_RANK_LEFT);
}

static char lives[200];

static void note_live(void *arg, int n_live, int n_dead)
{
    (void)arg;
    snprintf(lives + strlen(lives), sizeof lives - strlen(lives), "%d+%d ", n_live, n_dead);
}

/* Who lives and who counts as dead is told when it changes. */
static void test_live_changed(void **state)
{
    (void)state;
    options.live_changed = note_live;
    lives[0] = 0;
    begin();
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 2, DFR_HELLO, 0);
    offer(3);
    pass(0, 11, "1");
    assert_string_equal(lives, "1+0 2+0 1+1 ");
    hear(11, 2, DFR_RESULT, 1);
    assert_string_equal(lives, "1+0 2+0 1+1 2+0 ");
    assert_int_equal(dfr_manager_state(manager).n_dead, 0);
}

static void test_wrong_options(void **state)
{
    (void)state;
    options.epoch = 0;
    assert_int_equal(dfr_manager_create(&options, 0, &manager, &error), DF_E_ARGUMENT);
}

/* ---- cost ---- */

/* 10^4 workers with windows of 2 and 2 * 10^5 waves: what the manager itself takes, in seconds of a core. */
static void ignore(void *arg, int to, struct dfr_message *message)
{
    (void)arg;
    (void)to;
    (void)message;
}

static void test_many_workers(void **state)
{
    const int n_workers = 10000, n_waves = 200000;

    (void)state;
    options = (struct dfr_manager_options){ .n_ranks = n_workers + 1, .epoch = 5, .hash = 7, .window = 2, .send = ignore };
    begin();
    clock_t began = clock();
    for (int rank = 1; rank <= n_workers; rank++)
        hear(0, rank, DFR_HELLO, 0);
    for (int wave = 0; wave < n_waves; wave++) {
        while (dfr_manager_room(manager) > 0)
            offer(1);
        hear(0, 1 + wave % n_workers, DFR_RESULT, wave);
        end_all(0);
    }
    assert_int_equal(dfr_manager_state(manager).n_ended, n_waves);
    printf("figure %.2f us of a core for each wave, its three messages included\n", 1e6 * (double)(clock() - began) / CLOCKS_PER_SEC / n_waves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_on_demand),
        TEST(test_places_bound_what_is_offered),
        TEST(test_memory_bounds_what_is_offered),
        TEST(test_results_of_waves_that_were_not_given),
        TEST(test_window_is_found),
        TEST(test_window_begins_at_inflight),
        TEST(test_dry_time_is_not_measured),
        TEST(test_waves_of_the_dead_go_first),
        TEST(test_late_results_count),
        TEST(test_dead_without_waves_returns),
        TEST(test_wave_timeout), TEST(test_progress),
        TEST(test_begun_anew),
        TEST(test_leaving),
        TEST(test_end),
        TEST(test_end_without_an_answer),
        TEST(test_other_programs),
        TEST(test_facts),
        TEST(test_nobody_is_heard),
        TEST(test_failed_wave),
        TEST(test_accepted),
        TEST(test_stop),
        TEST(test_grace),
        TEST(test_newer_epoch),
        TEST(test_reports),
        TEST(test_no_reports),
        TEST(test_figures),
        TEST(test_live_changed),
        TEST(test_wrong_options),
        TEST(test_many_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
