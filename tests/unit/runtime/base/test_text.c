/* test_text.c - names of users inside JSON, CSV and XML; times as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/text.h"

static void becomes(void (*write)(FILE *, const char *), const char *text, const char *want)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    assert_non_null(out);
    write(out, text);
    assert_string_equal(dfr_text_close(out, &got), want);
    free(got);
}

static void test_json(void **state)
{
    (void)state;
    becomes(dfr_text_json, "", "\"\"");
    becomes(dfr_text_json, "main/blur[3]#2", "\"main/blur[3]#2\"");
    becomes(dfr_text_json, "a \"b\" \\ c", "\"a \\\"b\\\" \\\\ c\"");
    becomes(dfr_text_json, "a\tb\nc\x01", "\"a\\u0009b\\u000ac\\u0001\"");
    becomes(dfr_text_json, "µ é", "\"µ é\"");
    becomes(dfr_text_json, "\xff\xe2\x82", "\"???\"");
}

static void test_csv(void **state)
{
    (void)state;
    becomes(dfr_text_csv, "", "");
    becomes(dfr_text_csv, "main/blur[3]#2 µ", "main/blur[3]#2 µ");
    becomes(dfr_text_csv, "a,b", "\"a,b\"");
    becomes(dfr_text_csv, "a \"b\"", "\"a \"\"b\"\"\"");
    becomes(dfr_text_csv, "a\nb", "\"a\nb\"");
    becomes(dfr_text_csv, "a\rb", "\"a\rb\"");
    becomes(dfr_text_csv, "a\tb\x1b[1m\xff", "a\tb?[1m?");
}

static void test_clean(void **state)
{
    char text[] = "\x1b]0;title\a\xffµ\xc2";
    (void)state;
    dfr_text_clean(text);
    assert_string_equal(text, "?]0;title??µ?");
}

static void test_xml(void **state)
{
    (void)state;
    becomes(dfr_text_xml, "", "");
    becomes(dfr_text_xml, "a < b && c > \"d\"", "a &lt; b &amp;&amp; c &gt; &quot;d&quot;");
    becomes(dfr_text_xml, "µs", "µs");
    becomes(dfr_text_xml, "a\nb\x7f", "a?b?");
    becomes(dfr_text_xml, "\xff\xc3\xa4\xc3", "?ä?");
}

static void test_seconds(void **state)
{
    static const struct { const char *text; double s; } good[] = {
        { "30s", 30 }, { "500ms", 0.5 }, { "1.5min", 90 }, { "2 h", 7200 }, { "2m", 120 }, { "10us", 1e-5 },
    };
    static const char *const bad[] = { "", "3", "s", "0s", "-1s", "1e3s", "3 weeks", "1.s", "99999999999h", "1s " };
    double s = -1;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(dfr_parse_seconds(good[i].text, &s));
        assert_float_equal(s, good[i].s, 1e-12);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        s = -1;
        assert_false(dfr_parse_seconds(bad[i], &s));
        assert_true(s == -1);
    }
}

static void test_quantities(void **state)
{
    static const struct { double s; const char *text;
    } times[] = {
        { 0, "0 s" },          { -1, "0 s" },           { 1.5, "1.50 s" },       { 0.00025, "250 us" },
        { 1e-9, "1.00 ns" },   { 9.996e-3, "10.0 ms" }, { 1.234e-6, "1.23 us" }, { 0.0123, "12.3 ms" },
        { 0.99999, "1.00 s" }, { 4567, "4567 s" },
    };
    static const struct { uint64_t bytes; const char *text; } sizes[] = {
        { 0, "0 B" }, { 1023, "1023 B" }, { 1024, "1.00 KiB" }, { 1000 << 10, "0.98 MiB" }, { 64 << 20, "64.0 MiB" },
        { UINT64_MAX, "16.0 EiB" },
    };
    char text[16];
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_string_equal(dfr_text_seconds(times[i].s, text, sizeof text), times[i].text);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_string_equal(dfr_text_bytes(sizes[i].bytes, text, sizeof text), sizes[i].text);
}

static void test_six_digits(void **state)
{
    static const struct {
        double s;
        const char *text;
    } times[] = { { 0, "0 s" }, { 1, "1 s" }, { 0.9999, "999.9 ms" }, { 1.5e-3, "1.5 ms" }, { 1e-6, "1 us" },
                  { 123.4567e-6, "123.457 us" }, { 8e-10, "0.8 ns" } };
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_string_equal(dfr_text_seconds_6(times[i].s, text, sizeof text), times[i].text);
    assert_string_equal(dfr_text_seconds_6(strtod("nan", NULL), text, sizeof text), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_json), cmocka_unit_test(test_clean), cmocka_unit_test(test_csv), cmocka_unit_test(test_xml),
                                        cmocka_unit_test(test_seconds), cmocka_unit_test(test_quantities),
                                        cmocka_unit_test(test_six_digits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
