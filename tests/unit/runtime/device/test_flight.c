/* test_flight.c - the number of jobs in flight: the rule on curves of throughput that are given, and what comes of it
 * in simulation: Anthill's vector incrementer within 2 % of the best fixed number, and copies hidden behind computing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compiler/front/front.h"
#include "runtime/device/flight.h"
#include "runtime/simulate/simulate.h"

/* ---- the rule ---- */

static double rising(unsigned n) { return n; }
static double level(unsigned n) { (void)n; return 5; }
static double to_six(unsigned n) { return n < 6 ? n : 6; }
static double top_at_ten(unsigned n) { return n < 10 ? n : 20 - 0.9 * n; }
static double falling(unsigned n) { return 10.0 / n; }

/* Jobs end one after another at the rate that the curve gives for the number in flight. Gives the mean throughput of
 * `n_jobs`, beginning after `skip`, as a part of the curve's best. */
static double drive(struct dfr_flight *f, double (*curve)(unsigned), unsigned skip, unsigned n_jobs)
{
    double now_s = 0, since_s = 0, best = 0;
    for (unsigned i = 0; i < skip + n_jobs; i++) {
        now_s += 1 / curve(f->jobs);
        dfr_flight_ended(f, 1, now_s);
        assert_in_range(f->jobs, 1, f->most);
        if (i + 1 == skip)
            since_s = now_s;
    }
    for (unsigned n = 1; n <= f->most; n++)
        best = fmax(best, curve(n));
    return n_jobs / (now_s - since_s) / best;
}

static void grows_in_doubling_steps(void **state)
{
    struct dfr_flight f;
    unsigned seen[8], n = 0;
    double now_s = 0;
    (void)state;
    dfr_flight_start(&f, 2, 32);
    for (unsigned i = 0; i < 1000 && n < 8; i++) {
        now_s += 1 / rising(f.jobs);
        if (dfr_flight_ended(&f, 1, now_s))
            seen[n++] = f.jobs;
    }
    assert_int_equal(n, 4);
    assert_int_equal(seen[0], 4);
    assert_int_equal(seen[1], 8);
    assert_int_equal(seen[2], 16);
    assert_int_equal(seen[3], 32);      /* and no further */
}

static void stays_where_nothing_is_gained(void **state)
{
    struct dfr_flight f;
    (void)state;
    dfr_flight_start(&f, 2, 32);
    drive(&f, level, 0, 1000);
    assert_int_equal(f.jobs, 4);        /* one step, which brought nothing: the first round has none to compare with */
    dfr_flight_start(&f, 2, 32);
    assert_true(drive(&f, to_six, 300, 1000) > 0.999);
    assert_int_equal(f.jobs, 16);
}

static void comes_back_from_too_many(void **state)
{
    struct dfr_flight f;
    (void)state;
    dfr_flight_start(&f, 2, 32);
    assert_true(drive(&f, top_at_ten, 2000, 4000) > 0.90);
    assert_in_range(f.jobs, 9, 11);
    dfr_flight_start(&f, 4, 32);
    assert_true(drive(&f, falling, 1000, 1000) > 0.6);
    assert_in_range(f.jobs, 1, 2);
}

static void a_number_that_was_given_stays(void **state)
{
    struct dfr_flight f;
    (void)state;
    dfr_flight_start(&f, 3, 3);
    drive(&f, top_at_ten, 0, 1000);
    assert_int_equal(f.jobs, 3);
}

/* Jobs that come too slowly say nothing: without the word of it the number would go up and down with them. */
static void idle_rounds_do_not_count(void **state)
{
    struct dfr_flight f;
    double now_s = 0;
    (void)state;
    dfr_flight_start(&f, 2, 32);
    for (unsigned i = 0; i < 1000; i++) {
        now_s += 1.0 / (1 + i % 7);
        dfr_flight_ended(&f, 1, now_s);
        if (i % 4 == 0)
            dfr_flight_starved(&f);
        assert_int_equal(f.jobs, 2);
    }
}

/* One round of a second whose jobs together do this work, after the jobs that settle. */
static void round_of(struct dfr_flight *f, double *now_s, double work)
{
    for (uint32_t left = f->settling; left > 0; left--)
        dfr_flight_ended(f, 1, *now_s);
    *now_s += 1;
    for (uint32_t left = f->round; left > 0; left--)
        dfr_flight_ended(f, left > 1 ? 0 : work, *now_s);
}

/* A throughput that is lower by exactly the difference that counts as none changes nothing. */
static void an_equal_throughput_changes_nothing(void **state)
{
    struct dfr_flight f;
    double now_s = 0;
    (void)state;
    dfr_flight_start(&f, 2, 32);
    round_of(&f, &now_s, 1);
    assert_int_equal(f.jobs, 4);
    round_of(&f, &now_s, 1 - DFR_FLIGHT_EQUAL);
    assert_int_equal(f.jobs, 4);
    round_of(&f, &now_s, 0.5);
    assert_int_equal(f.jobs, 2);
}

/* ---- in simulation ---- */

struct study {
    struct dfl_sink *sink;
    struct dfc_front *front;
    struct df_platform platform;
    struct df_times times;
};

static void study_begin(struct study *s, const char *chunk, const char *uneven)
{
    const struct dfc_define defines[] = { { "chunk", chunk }, { "uneven", uneven } };
    const struct dfc_front_options options = { .path = "examples/graphs/vi.df", .defines = defines, .n_defines = 2 };
    struct df_error error = { "" };
    *s = (struct study){ .sink = dfl_sink_new(stderr) };
    assert_non_null(s->sink);
    assert_true(dfc_front_run(s->sink, &options, &s->front));
    s->platform = s->front->platforms[0];
    assert_int_equal(dfr_times_default(s->front->graph, false, &s->times, &error), DF_OK);
}

static void study_end(struct study *s)
{
    dfr_times_free(&s->times);
    dfc_front_free(s->front);
    dfl_sink_free(s->sink);
}

/* jobs 0: found. */
static struct dfr_simulation run(struct study *s, uint32_t jobs)
{
    struct dfr_simulate_options options = { .policy = "eager", .waves = 1, .inflight = 1, .find_jobs = jobs == 0 };
    struct dfr_simulation r = { 0 };
    struct df_error error = { "" };
    s->platform.units[1].jobs = jobs;
    if (dfr_simulate(s->front->graph, &s->platform, &s->times, &options, &r, &error) != DF_OK)
        fail_msg("%s", error.text);
    return r;
}

static void vector_incrementer(void **state)
{
    static const struct { const char *chunk, *uneven; double published_s; } cases[] = {
        { "100000", "0", 16.53 }, { "500000", "0", 16.23 }, { "1000000", "0", 16.16 }, { "1000000", "90", 0 },
        { "500000", "95", 0 },
    };
    (void)state;
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct study s;
        double best_s = INFINITY, one_s = 0;
        study_begin(&s, cases[c].chunk, cases[c].uneven);
        for (uint32_t jobs = 1; jobs <= DFR_FLIGHT_LIMIT; jobs = jobs < 8 ? jobs + 1 : 2 * jobs) {
            double seconds = run(&s, jobs).makespan_s;
            one_s = jobs == 1 ? seconds : one_s;
            best_s = fmin(best_s, seconds);
        }
        struct dfr_simulation found = run(&s, 0);
        print_message("VI, chunks of %s, uneven by %s %%: best fixed %.3f s, found %.3f s (%u at last), one %.3f s\n",
                      cases[c].chunk, cases[c].uneven, best_s, found.makespan_s, found.jobs[1], one_s);
        assert_true(found.makespan_s <= 1.02 * best_s);
        assert_true(one_s > 1.15 * best_s);             /* so it matters */
        if (cases[c].published_s > 0)
            assert_true(fabs(found.makespan_s / cases[c].published_s - 1) < 0.01);
        study_end(&s);
    }
}

/* Copies of one direction that take as long as the computing, with an engine for each direction and with one. */
static void copies_hide_behind_computing(void **state)
{
    (void)state;
    for (uint32_t engines = 1; engines <= 2; engines++) {
        struct study s;
        study_begin(&s, "1000000", "0");
        struct df_unit *gpu = &s.platform.units[1];
        double copies_s = df_link_time_s(&gpu->h2d, 4000000) * (engines == 1 ? 2 : 1), ideal_s = 0;
        gpu->engines = engines;
        gpu->launch_s = 0;
        for (uint32_t w = 0; w < s.times.n_works; w++) {
            double *t = &s.times.time_s[(size_t)DF_CLASS_GPU * s.times.n_works + w];
            *t = *t > 0 ? copies_s : *t;
        }
        ideal_s = 360 * copies_s;
        struct dfr_simulation found = run(&s, 0), two = run(&s, 2);
        print_message("%u engines: ideal %.3f s, found %.1f %%, two in flight %.1f %% of it\n", engines, ideal_s,
                      100 * ideal_s / found.makespan_s, 100 * ideal_s / two.makespan_s);
        assert_true(ideal_s / found.makespan_s >= 0.90);
        assert_true(ideal_s / run(&s, 1).makespan_s < 0.75);
        study_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_in_doubling_steps),  cmocka_unit_test(stays_where_nothing_is_gained),
        cmocka_unit_test(comes_back_from_too_many), cmocka_unit_test(a_number_that_was_given_stays),
        cmocka_unit_test(idle_rounds_do_not_count),
        cmocka_unit_test(an_equal_throughput_changes_nothing), cmocka_unit_test(vector_incrementer),
        cmocka_unit_test(copies_hide_behind_computing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
