/* test_chart.c - what `dfc compare` makes of its runs: reading a program's statistics, quartiles, the chart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/show/chart.h"
#include "compiler/trial/compare_stats.h"

static const char stats_text[] =
    "sum: warning: node 'x' runs on the CPU {not json}\n"
    "{ not json either\n"
    "{\"makespan_s\": 0.25, \"waves\": 3, \"jobs\": 12, \"inflight\": 2, \"later\":"
    " {\"deep\": [1, {\"name\": \"cpu 0\", \"jobs\": 99}]},"
    " \"workers\": [{\"name\": \"cpu 0\", \"jobs\": 5, \"busy_s\": 1.5e-3}, "
    "{\"name\": \"cpu 1\", \"jobs\": 3, \"busy_s\": 0},"
    " {\"name\": \"GPU \\\"A\\\"\", \"jobs\": 4, \"busy_s\": 0.2, \"new\": null}],"
    " \"memories\": [{\"name\": \"GPU \\u0022A\\\"\", \"capacity_bytes\": 16384, \"peak_bytes\": 12288,"
    " \"h2d_copies\": 2,"
    " \"h2d_bytes\": 8192, \"d2h_copies\": 1, \"d2h_bytes\": 4096, "
    "\"evictions\": 7, \"writebacks\": 6, \"ok\": true}]}\n"
    "after\n";

static void statistics_are_read(void **state)
{
    (void)state;
    struct dfc_run_stats s;
    assert_true(dfc_run_stats_read(stats_text, &s));
    assert_true(s.makespan_s == 0.25);
    assert_int_equal(s.waves, 3);
    assert_int_equal(s.jobs, 12);
    assert_int_equal(s.cpu_jobs, 8);
    assert_int_equal(s.gpu_jobs, 4);
    assert_int_equal(s.n_gpus, 1);
    assert_int_equal(s.h2d_copies, 2);
    assert_int_equal(s.h2d_bytes, 8192);
    assert_int_equal(s.d2h_copies, 1);
    assert_int_equal(s.d2h_bytes, 4096);
    assert_int_equal(s.evictions, 7);
    assert_int_equal(s.writebacks, 6);
}

static void broken_statistics_are_not(void **state)
{
    (void)state;
    struct dfc_run_stats s;
    const char *start = strstr(stats_text, "{\"makespan_s\""), *end = strstr(start, "\nafter");
    size_t length = (size_t)(end - start);
    for (size_t n = 0; n < length; n++) { /* cut anywhere */
        char *cut = strndup(start, n);
        if (dfc_run_stats_read(cut, &s))
            fail_msg("taken although cut after %zu bytes", n);
        free(cut);
    }
    assert_false(dfc_run_stats_read("", &s));
    assert_false(dfc_run_stats_read(NULL, &s));
    assert_false(dfc_run_stats_read("{}", &s));
    assert_false(dfc_run_stats_read("{\"makespan_s\": \"1\"}", &s));
    assert_false(dfc_run_stats_read("{\"makespan_s\": -1}", &s));
    assert_true(dfc_run_stats_read("{\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]],\"makespan_s\":1}", &s)); /* what is not known is skipped */
    assert_true(dfc_run_stats_read("{\"workers\": [], \"memories\": [], \"o\": {}, \"makespan_s\": 1}", &s));
}

static void runs_are_summed_up(void **state)
{
    (void)state;
    struct dfc_run_stats runs[5] = { { .makespan_s = 5, .jobs = 5 },
                                     { .makespan_s = 1, .jobs = 1 },
                                     { .makespan_s = 4, .jobs = 4 },
                                     { .makespan_s = 2, .jobs = 2 },
                                     { .makespan_s = 3, .jobs = 3 } };
    struct dfc_policy_stats s[2];
    dfc_policy_stats_of("a", runs, 5, &s[0]);
    assert_true(s[0].median_s == 3 && s[0].least_s == 1 && s[0].most_s == 5);
    assert_true(s[0].first_quartile_s == 2 && s[0].third_quartile_s == 4);
    assert_true(fabs(s[0].spread - 2.0 / 3) < 1e-12);
    assert_int_equal(s[0].typical.jobs, 3);
    dfc_policy_stats_of("b", runs, 2, &s[1]);
    assert_true(s[1].median_s == 1.5);
    assert_int_equal(dfc_policy_stats_rank(s, 2), 1);
    assert_true(s[0].ratio == 2 && s[1].ratio == 1);
    dfc_policy_stats_of("one", runs, 1, &s[0]);
    assert_true(s[0].spread == 0 && s[0].median_s == s[0].most_s);
}

static void the_default_names_what_it_ran(void **state)
{
    (void)state;
    struct dfc_run_stats run;
    struct dfc_policy_stats s;
    assert_true(dfc_run_stats_read("{\"policy\": \"dmdas\", \"workers\": [{\"policy\": \"ws\"}], \"makespan_s\": 1}", &run));
    dfc_policy_stats_of(DFC_NO_POLICY, &run, 1, &s);
    assert_string_equal(s.policy, "default (dmdas)");
    dfc_policy_stats_of("gp", &run, 1, &s);     /* whose plan had dmdas run: the row is gp's all the same */
    assert_string_equal(s.policy, "gp");
    run.policy[0] = 0;
    dfc_policy_stats_of(DFC_NO_POLICY, &run, 1, &s);
    assert_string_equal(s.policy, "default");
}

static char *draw_beside(const struct dfc_bar *bars, unsigned n, const char *predicted)
{
    struct dfc_chart chart = { .title = "a<b> & \"c\"",
                               .subtitle = "runs",
                               .footnote = "note",
                               .bars = bars,
                               .n_bars = n,
                               .predicted = predicted,
                               .measured = "rehearsed" };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(dfc_chart_write(out, &chart));
    fclose(out);
    return text;
}

static char *draw(const struct dfc_bar *bars, unsigned n)
{
    return draw_beside(bars, n, NULL);
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* The number behind `name=` of the k-th element that begins with `element`. */
static double attribute(const char *text, const char *element, unsigned k, const char *name)
{
    for (unsigned i = 0; i <= k; i++)
        text = strstr(text + (i > 0), element);
    text = strstr(text, name);
    return strtod(text + strlen(name) + 2, NULL);
}

static void bars_are_as_high_as_they_say(void **state)
{
    (void)state;
    const struct dfc_bar bars[] = { { "slow & steady", "1 kB", 8e-3, 7e-3, 10e-3, 0, 1, 0 },
                                    { "quick", NULL, 4e-3, 4e-3, 4e-3, 1, 0, 0 } };
    char *text = draw(bars, 2);
    assert_int_equal(count(text, "<rect"), 3);  /* the paper and two bars */
    assert_int_equal(count(text, "<path"), 1);  /* all runs of the quick one took as long */
    assert_int_equal(count(text, "<svg"), count(text, "</svg>"));
    assert_int_equal(count(text, "<text"), count(text, "</text>"));
    assert_non_null(strstr(text, "a&lt;b&gt; &amp; &quot;c&quot;"));
    assert_non_null(strstr(text, "slow &amp; steady"));
    assert_non_null(strstr(text, ">~8.00 ms<"));
    assert_non_null(strstr(text, ">4.00 ms<"));
    assert_non_null(strstr(text, ">makespan, ms<"));
    double quick = attribute(text, "<rect", 1, "height"), slow = attribute(text, "<rect", 2, "height");
    assert_true(fabs(slow / quick - 2) < 0.01); /* the quick one stands first */
    double least = quick * 7 / 4, most = quick * 10 / 4, floor_y = attribute(text, "<rect", 1, " y") + quick;
    double from, to;
    const char *whisker = strstr(text, "<path d");
    assert_non_null(whisker);
    assert_int_equal(sscanf(whisker, "<path d=\"M%*f %lfV%lf", &from, &to), 2);
    assert_true(fabs(floor_y - from - least) < 0.2 && fabs(floor_y - to - most) < 0.2);
    double right = attribute(text, "<rect", 2, "x") + attribute(text, "<rect", 2, "width");
    assert_true(right < attribute(text, "<svg", 0, "width")); /* inside the picture */
    char *again = draw(bars, 2);
    assert_string_equal(text, again);
    free(text);
    free(again);
}

static void predicted_bars_stand_beside_the_others(void **state)
{
    (void)state;
    const struct dfc_bar bars[] = { { "eager", "1 kB", 8e-3, 7e-3, 9e-3, 0, 0, 20e-3 },
                                    { "gp", NULL, 4e-3, 3e-3, 5e-3, 1, 0, 5e-3 } };
    char *text = draw_beside(bars, 2, "predicted <");
    assert_int_equal(count(text, "<rect"), 7);  /* the paper, two bars a place, the legend's two */
    assert_int_equal(count(text, "<path"), 2);  /* what was predicted has no whisker */
    assert_non_null(strstr(text, ">predicted &lt;<"));
    assert_non_null(strstr(text, ">rehearsed<"));
    double heights[4], lefts[5] = { [4] = attribute(text, "<svg", 0, "width") }, widths[4];
    const double values[] = { 5, 4, 20, 8 };
    for (unsigned i = 0; i < 4; i++) {
        heights[i] = attribute(text, "<rect", i + 1, "height");
        lefts[i] = attribute(text, "<rect", i + 1, "x");
        widths[i] = attribute(text, "<rect", i + 1, "width");
    }
    for (unsigned i = 0; i < 4; i++) {
        assert_true(fabs(heights[i] / heights[1] - values[i] / 4) < 0.01);
        assert_true(lefts[i] + widths[i] < lefts[i + 1]); /* beside each other, inside the picture */
    }
    free(text);
}

static void all_magnitudes_are_drawn(void **state)
{
    (void)state;
    for (int power = -12; power <= 6; power++) {
        double value = 3.7 * pow(10, power);
        const struct dfc_bar bar = { "x", NULL, value, value, value, 0, 0, 0 };
        char *text = draw(&bar, 1);
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        unsigned ticks = count(text, "<line");
        assert_in_range(ticks, 3, 12);
        free(text);
    }
    const struct dfc_bar nothing = { "x", NULL, 0, 0, 0, 0, 0, 0 };
    char *text = draw(&nothing, 1);
    assert_null(strstr(text, "nan"));
    free(text);
    free(draw(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_read),          cmocka_unit_test(broken_statistics_are_not),
        cmocka_unit_test(runs_are_summed_up),          
        cmocka_unit_test(bars_are_as_high_as_they_say), cmocka_unit_test(all_magnitudes_are_drawn),
        cmocka_unit_test(predicted_bars_stand_beside_the_others), cmocka_unit_test(the_default_names_what_it_ran),
    };
    return cmocka_run_group_tests_name("chart", tests, NULL, NULL);
}
