/* test_cluster_trace.c - one trace of many ranks: clocks that are off and drift, windows over time, pieces of traces, and the file that is made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/ranks/cluster_trace.h"
#include "runtime/ranks/pieces.h"

static struct df_error error;

/* ---- clocks ---- */

/* A rank's clock: 1000 s ahead of rank 0's at its time 0, and a millionth too quick. */
static double rank_s(double s)
{
    return 1000 + s * (1 + 1e-6);
}

/* One trip at time s of rank 0, which takes so long there and back. */
static void trip(struct dfr_trips *trips, double s, double there_s, double back_s)
{
    dfr_trips_add(trips, rank_s(s), s + there_s, rank_s(s + there_s + back_s));
}

static void test_shortest_trip(void **state)
{
    struct dfr_trips t = { 0 };

    (void)state;
    trip(&t, 0, 0.5, 0.1);
    assert_true(fabs(t.offset_s + 1000) <= t.uncertainty_s && fabs(t.uncertainty_s - 0.3) < 1e-5);
    trip(&t, 1, 1e-5, 3e-5);            /* it counts */
    trip(&t, 2, 0.2, 1e-5);
    assert_int_equal(t.n, 3);
    assert_true(fabs(t.uncertainty_s - 2e-5) < 1e-9);
    assert_true(fabs(t.offset_s + rank_s(1) - 1) <= t.uncertainty_s + 1e-9);
    dfr_trips_add(&t, 5, 0, 4);         /* a clock that stepped back */
    dfr_trips_add(&t, NAN, 0, 4);
    assert_int_equal(t.n, 3);
}

/* Any trip is right within what it says, however it is divided into there and back. */
static void test_uncertainty(void **state)
{
    (void)state;
    for (int there = 0; there <= 20; there++)
        for (int back = 0; back <= 20; back++) {
            struct dfr_trips t = { 0 };
            trip(&t, 7, 1e-3 * there, 1e-3 * back);
            assert_true(fabs(t.offset_s - (7 - rank_s(7))) <= t.uncertainty_s + 1e-7);
        }
}

static void test_drift(void **state)
{
    struct dfr_trips first = { 0 }, last = { 0 }, none = { 0 };

    (void)state;
    trip(&first, 10, 1e-5, 1e-5);
    trip(&last, 3610, 1e-5, 1e-5);
    struct dfr_trace_clock clock = dfr_trips_clock(&first, &last, 10);
    for (double s = 10; s < 3700; s += 100)
        assert_true(fabs(dfr_trace_time_s(&clock, rank_s(s)) - (s - 10)) < 1e-6);
    clock = dfr_trips_clock(&first, &none, 10); /* an hour later it is wrong by an hour's drift */
    assert_true(fabs(dfr_trace_time_s(&clock, rank_s(10)) - 0) < 1e-6);
    assert_true(fabs(dfr_trace_time_s(&clock, rank_s(3610)) - 3600 - 3.6e-3) < 1e-6);
    clock = dfr_trips_clock(&none, &last, 10);
    assert_true(fabs(dfr_trace_time_s(&clock, rank_s(3610)) - 3600) < 1e-6);
    clock = dfr_trips_clock(&none, &none, 0);
    assert_true(dfr_trace_time_s(&clock, 5) == 5);
}

/* Bursts that follow one another soon say little of how clocks drift. A time within them, before or behind is as wrong as a burst may be, and no more. */
static void test_soon(void **state)
{
    const double trip_s = 1e-3;

    (void)state;
    for (double gap_s = 1e-4; gap_s < 1; gap_s *= 2)
        for (int way = 0; way < 4; way++) {
            struct dfr_trips first = { 0 }, last = { 0 };
            trip(&first, 10, way & 1 ? trip_s : 0, way & 1 ? 0 : trip_s);
            trip(&last, 10 + gap_s, way & 2 ? trip_s : 0, way & 2 ? 0 : trip_s);
            struct dfr_trace_clock clock = dfr_trips_clock(&first, &last, 10);
            double before_s = -INFINITY;
            for (int i = -100; i <= 200; i++) {
                double s = 10 + i * gap_s / 100, time_s = dfr_trace_time_s(&clock, rank_s(s));
                assert_true(fabs(time_s - (s - 10)) <= trip_s / 2 + 2e-6);
                assert_true(time_s > before_s);
                before_s = time_s;
            }
        }
}

/* ---- windows ---- */

static void test_windows(void **state)
{
    struct dfr_windows w = { 0 };

    (void)state;
    for (unsigned i = 0; i < DFR_MOST_CHANGES + 10; i++)
        dfr_windows_add(&w, i, 1, i, 0);
    assert_int_equal(w.n, DFR_MOST_CHANGES);
    assert_int_equal(w.n_dropped, 10);
    assert_int_equal(w.changes[12345].window, 12345);
    free(w.changes);
}

/* ---- pieces ---- */

static void test_pieces(void **state)
{
    struct dfr_pieces p;
    size_t size, all = 0;
    unsigned n = 0;

    (void)state;
    assert_int_equal(dfr_pieces_open(&p, &error), DF_OK);
    for (int i = 0; i < 20000; i++)
        all += (size_t)fprintf(p.file, "{\"line\":%d,\"text\":\"%.*s\"},\n", i, i % 90,
                               "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    dfr_pieces_begin(&p);
    for (; dfr_pieces_next(&p, &size, &error) == DF_OK && size > 0; n++) {
        assert_true(size <= DFR_PIECE_BYTES && p.piece[0] == '{' && p.piece[size - 1] == '\n');
        all -= size;
    }
    assert_int_equal(all, 0);
    assert_true(n > 4);
    dfr_pieces_close(&p);
    assert_int_equal(dfr_pieces_open(&p, &error), DF_OK); /* nothing was traced */
    dfr_pieces_begin(&p);
    assert_int_equal(dfr_pieces_next(&p, &size, &error), DF_OK);
    assert_int_equal(size, 0);
    dfr_pieces_close(&p);
    assert_int_equal(dfr_pieces_open(&p, &error), DF_OK);
    for (size_t i = 0; i <= DFR_PIECE_BYTES; i++)
        fputc('x', p.file);
    dfr_pieces_begin(&p);
    assert_int_equal(dfr_pieces_next(&p, &size, &error), DF_E_IO); /* no line is so long */
    dfr_pieces_close(&p);
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_int_equal(dfr_pieces_open(&p, &error), DF_E_IO);
    assert_non_null(strstr(error.text, "cannot keep the trace of this rank in $TMPDIR: No such file or directory"));
    unsetenv("TMPDIR");
}

/* ---- the file ---- */

static void test_file(void **state)
{
    static const char good[] = "{\"ph\":\"X\"},\n{\"ph\":\"i\"},\n";
    static const char *const bad[] = { "", "x", "{}\n", "{},", "{},\n\n", "{},\n,{},\n", "{},\nx},\n", "{\t},\n", " {},\n" };
    char path[] = "/tmp/df-merged-XXXXXX", text[4000];
    struct dfr_cluster_trace_write trace;
    struct dfr_figures *f;

    (void)state;
    close(mkstemp(path));
    assert_int_equal(dfr_figures_create(2, 1, false, &f, &error), DF_OK);
    strcpy(f->ranks[1].host, "here");
    f->ranks[1].trips[0] = (struct dfr_trips){ 8, 1, -0.5, 0.25 };
    dfr_windows_add(&f->windows, 12, 1, 4, 0);
    dfr_windows_add(&f->windows, 12.5, 1, 8, 100);
    assert_int_equal(dfr_cluster_trace_open(&trace, path, &error), DF_OK);
    assert_true(dfr_cluster_trace_add(&trace, good, sizeof good - 1));
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(dfr_cluster_trace_add(&trace, bad[i], strlen(bad[i])));
    assert_int_equal(dfr_cluster_trace_close(&trace, f, 10, true, &error), DF_OK);
    FILE *file = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{\"ph\":\"X\"},\n{\"ph\":\"i\"},\n"
                        "{\"ph\":\"C\",\"name\":\"rate\",\"pid\":1,\"tid\":0,\"ts\":2000000.000,\"args\":{\"waves/s\":0}},\n"
                        "{\"ph\":\"C\",\"name\":\"window\",\"pid\":1,\"tid\":0,\"ts\":2000000.000,\"args\":{\"waves\":4}},\n"
                        "{\"ph\":\"C\",\"name\":\"rate\",\"pid\":1,\"tid\":0,\"ts\":2500000.000,\"args\":{\"waves/s\":100}},\n"
                        "{\"ph\":\"C\",\"name\":\"window\",\"pid\":1,\"tid\":0,\"ts\":2500000.000,\"args\":{\"waves\":8}},\n"
                        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"rank 0\"}},\n"
                        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"rank 1 on here\"}}],\n"
                        "\"otherData\":{\"clock\":\"rank 0\",\"window_changes_left_out\":0,\"ranks\":[\n"
                        "{\"rank\":0,\"host\":\"\",\"traced\":false},\n"
                        "{\"rank\":1,\"host\":\"here\",\"traced\":false,\"first\":{\"offset_us\":500000.000,\"uncertainty_us\":250000.000,\"trips\":8}}]}}\n");
    unlink(path);
    assert_int_equal(dfr_cluster_trace_open(&trace, path, &error), DF_OK);
    assert_int_equal(dfr_cluster_trace_close(&trace, f, 10, false, &error), DF_OK);
    assert_int_equal(access(path, F_OK), -1); /* a run that failed leaves none */
    dfr_figures_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_shortest_trip), cmocka_unit_test(test_uncertainty), cmocka_unit_test(test_drift), cmocka_unit_test(test_soon),
                                        cmocka_unit_test(test_windows),       cmocka_unit_test(test_pieces),      cmocka_unit_test(test_file) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
