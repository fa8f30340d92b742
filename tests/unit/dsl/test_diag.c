/* test_diag.c - how messages look, character for character, and which name is suggested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dsl/diag.h"

struct said {
    struct dfl_sink *sink;
    FILE *out;
    char *text;
    size_t length;
};

static void said_start(struct said *s)
{
    s->text = NULL;
    s->out = open_memstream(&s->text, &s->length);
    assert_non_null(s->out);
    s->sink = dfl_sink_new(s->out);
    assert_non_null(s->sink);
}

static void said_end(struct said *s)
{
    dfl_sink_free(s->sink);
    fclose(s->out);
    free(s->text);
}

/* One error at line:col..end of a file with this text. */
static void expect(const char *text, size_t length, uint32_t line, uint32_t col, uint32_t end, const char *message)
{
    struct said s;
    said_start(&s);
    uint32_t file = dfl_sink_file(s.sink, "a.df", text, length);
    dfl_error(s.sink, (struct dfl_loc){file, line, col, end}, "no");
    fflush(s.out);
    assert_string_equal(s.text, message);
    said_end(&s);
}

#define EXPECT(text, line, col, end, message) expect(text, sizeof(text) - 1, line, col, end, message)

static void test_line_and_caret(void **state)
{
    (void)state;
    EXPECT("one\ntwo = three;\n", 2, 7, 12, "a.df:2:7: error: no\n    two = three;\n          ^~~~~\n");
    EXPECT("one\n", 1, 1, 2, "a.df:1:1: error: no\n    one\n    ^\n");
    EXPECT("one", 1, 4, 5, "a.df:1:4: error: no\n    one\n       ^\n");
    EXPECT("", 1, 1, 2, "a.df:1:1: error: no\n"); /* an empty file has no line that could be shown */
    EXPECT("one\n\n", 2, 1, 2, "a.df:2:1: error: no\n    \n    ^\n");
}

static void test_places_outside_the_text(void **state)
{
    (void)state;
    EXPECT("one", 7, 1, 2, "a.df:7:1: error: no\n");
    EXPECT("one", 1, 90, 95, "a.df:1:90: error: no\n    one\n       ^\n");
    EXPECT("one", 1, 2, 2, "a.df:1:2: error: no\n    one\n     ^\n");
    EXPECT("one", 0, 0, 0, "a.df: error: no\n");
}

static void test_tabs_crlf_and_byte_order_mark(void **state)
{
    (void)state;
    EXPECT("\ta\tb = c;\r\n", 1, 4, 5, "a.df:1:4: error: no\n    \ta\tb = c;\n    \t \t^\n");
    EXPECT("\xEF\xBB\xBFone two", 1, 5, 8, "a.df:1:5: error: no\n    one two\n        ^~~\n");
}

static void test_what_a_terminal_would_obey_is_escaped(void **state)
{
    (void)state;
    EXPECT("a\x1b[31m\0b\xff = 3", 1, 12, 13,
           "a.df:1:12: error: no\n    a\\x1b[31m\\x00b\\xff = 3\n                        ^\n");
    EXPECT("\xC3\xA9\xE2\x82\xAC = x", 1, 9, 10, "a.df:1:9: error: no\n    \xC3\xA9\xE2\x82\xAC = x\n         ^\n");
    EXPECT("\xC2\x9B x", 1, 4, 5, "a.df:1:4: error: no\n    \\xc2\\x9b x\n             ^\n");
    EXPECT("\xE2\x80\xAE x", 1, 5, 6, "a.df:1:5: error: no\n    \\xe2\\x80\\xae x\n                 ^\n");
    EXPECT("\xE2\x82", 1, 1, 3, "a.df:1:1: error: no\n    \\xe2\\x82\n    ^~~~~~~~\n");
    EXPECT("\tx\x01y", 1, 3, 4, "a.df:1:3: error: no\n    \tx\\x01y\n    \t ^~~~\n");
}

/* Names and texts in messages are escaped as the source line is, and a long one loses its middle. */
static void test_names_are_escaped_and_shortened(void **state)
{
    (void)state;
    enum { LONG = 5000000 };
    char *name = malloc(LONG + 1);
    struct said s;
    assert_non_null(name);
    memset(name, 'a', LONG);
    name[LONG] = '\0';
    said_start(&s);
    uint32_t file = dfl_sink_file(s.sink, "\x1b]0;\xC3\xA9.df", "x\n", 2);
    dfl_error(s.sink, (struct dfl_loc){file, 0, 0, 0}, "no '%s'", "\x07");
    dfl_hint(s.sink, "no '%s'", "\n");
    fflush(s.out);
    assert_string_equal(s.text, "\\x1b]0;\xC3\xA9.df: error: no '\\x07'\nhint: no '\\x0a'\n");
    said_end(&s);

    said_start(&s);
    file = dfl_sink_file(s.sink, name, "x\n", 2);
    dfl_error(s.sink, (struct dfl_loc){file, 1, 1, 2}, "no '%s' here", name);
    fflush(s.out);
    assert_true(s.length < 4200);
    assert_non_null(strstr(s.text, "a ...("));
    assert_non_null(strstr(s.text, " bytes left out)... a"));
    assert_non_null(strstr(s.text, "aa:1:1: error: no 'aa"));
    assert_non_null(strstr(s.text, "aa' here\n    x\n    ^\n"));
    said_end(&s);
    free(name);
}

static void test_long_lines_are_cut_to_a_window(void **state)
{
    (void)state;
    char line[1001], expected[512], part[111];
    memset(line, 'x', 1000);
    line[500] = '*';
    line[1000] = '\0';
    memset(part, 'x', 110);
    part[60] = '*';
    part[110] = '\0';
    snprintf(expected, sizeof expected, "a.df:1:501: error: no\n    ...%s...\n%67s^\n", part, "");
    expect(line, 1000, 1, 501, 502, expected);

    part[60] = 'x'; /* the end of the line, with nothing cut after it */
    snprintf(expected, sizeof expected, "a.df:1:1001: error: no\n    ...%s\n%117s^\n", part, "");
    expect(line, 1000, 1, 1001, 1002, expected);

    memset(line, '\x01', 1000); /* a window of columns, where each byte takes four */
    char escaped[109] = "";
    for (int i = 0; i < 27; i++)
        strcat(escaped, "\\x01");
    snprintf(expected, sizeof expected, "a.df:1:501: error: no\n    ...%s...\n%67s^~~~\n", escaped, "");
    expect(line, 1000, 1, 501, 502, expected);
}

static void test_kinds(void **state)
{
    (void)state;
    struct said s;
    said_start(&s);
    uint32_t file = dfl_sink_file(s.sink, "a.df", "x\n", 2);
    struct dfl_loc here = {file, 1, 1, 2};
    dfl_error(s.sink, here, "'%s' is %d", "x", 3);
    dfl_note(s.sink, here, "see");
    dfl_hint(s.sink, "do %s", "that");
    dfl_warning(s.sink, (struct dfl_loc){.file = DFL_NO_FILE}, "w");
    fflush(s.out);
    assert_string_equal(s.text, "a.df:1:1: error: 'x' is 3\n    x\n    ^\na.df:1:1: note: see\n    x\n    ^\n"
                                "hint: do that\nwarning: w\n");
    assert_int_equal(dfl_sink_errors(s.sink), 1);
    assert_int_equal(dfl_sink_warnings(s.sink), 1);
    assert_string_equal(dfl_sink_file_name(s.sink, file), "a.df");
    assert_string_equal(dfl_sink_file_name(s.sink, DFL_NO_FILE), "?");
    said_end(&s);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

static void test_limits_of_what_is_shown(void **state)
{
    (void)state;
    struct said s;
    struct dfl_loc nowhere = {.file = DFL_NO_FILE};
    said_start(&s);
    for (int i = 0; i < DFL_MAX_ERRORS + 5; i++) {
        dfl_error(s.sink, nowhere, "e %d", i);
        dfl_note(s.sink, nowhere, "n");
        dfl_hint(s.sink, "h");
        if (i > 2)
            continue;
        dfl_error(s.sink, nowhere, "e %d", 0); /* is not told again, nor counted */
        dfl_note(s.sink, nowhere, "again");
    }
    dfl_warning(s.sink, nowhere, "w"); /* still shown: warnings have their own count */
    dfl_hint(s.sink, "of w");
    dfl_sink_summary(s.sink);
    fflush(s.out);
    assert_int_equal(count(s.text, "error: e "), DFL_MAX_ERRORS);
    assert_null(strstr(s.text, "again"));
    assert_int_equal(count(s.text, "note: n\n"), DFL_MAX_ERRORS);
    assert_int_equal(count(s.text, "hint: h\n"), DFL_MAX_ERRORS);
    assert_non_null(strstr(s.text, "warning: w\nhint: of w\n20 errors shown, 5 more\n"));
    assert_int_equal(dfl_sink_errors(s.sink), DFL_MAX_ERRORS + 5);
    said_end(&s);
}

static void warn(struct dfl_sink *sink, const char *name, struct dfl_loc loc)
{
    dfl_warning(sink, loc, "'%s' is never read", name);
    dfl_hint(sink, "of %s", name);
}

static void test_equal_warnings_are_folded(void **state)
{
    (void)state;
    struct said s;
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    said_start(&s);
    uint32_t file = dfl_sink_file(s.sink, "g.df", "", 0);
    for (uint32_t i = 0; i < 5; i++)
        warn(s.sink, names[i], (struct dfl_loc){file, 2 * i + 1, 1, 2});
    dfl_warning(s.sink, (struct dfl_loc){.file = DFL_NO_FILE}, "another");
    dfl_sink_summary(s.sink);
    fflush(s.out);
    assert_int_equal(count(s.text, "is never read\n"), DFL_MAX_ALIKE);
    assert_int_equal(count(s.text, "hint: of"), DFL_MAX_ALIKE);
    assert_non_null(strstr(s.text, "warning: another\nwarning: and 2 more like \"'c' is never read\": g.df:7, 9\n"));
    assert_int_equal(dfl_sink_warnings(s.sink), 6);
    for (uint32_t i = 0; i < 20; i++)   /* after a summary only what came since is told */
        warn(s.sink, "x", (struct dfl_loc){file, i + 10, 1, 2});
    dfl_sink_summary(s.sink);
    dfl_sink_summary(s.sink);
    fflush(s.out);
    assert_int_equal(count(s.text, "and 20 more like \"'c' is never read\": g.df:10, 11, 12, 13, 14, 15, 16, 17 and "
                                   "others\n"), 1);
    said_end(&s);
}

static void test_no_warnings(void **state)
{
    (void)state;
    struct said s;
    said_start(&s);
    dfl_sink_no_warnings(s.sink);
    for (uint32_t i = 0; i < 9; i++)
        warn(s.sink, "a", (struct dfl_loc){.file = DFL_NO_FILE});
    dfl_sink_summary(s.sink);
    fflush(s.out);
    assert_string_equal(s.text ? s.text : "", "");
    assert_int_equal(dfl_sink_warnings(s.sink), 9);
    said_end(&s);
}

static void test_summary_says_nothing_where_all_was_shown(void **state)
{
    (void)state;
    struct said s;
    said_start(&s);
    dfl_sink_summary(s.sink);
    fflush(s.out);
    assert_string_equal(s.text, "");
    said_end(&s);
}

static void test_many_files(void **state)
{
    (void)state;
    struct said s;
    said_start(&s);
    for (uint32_t i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u.df", (unsigned)i);
        assert_int_equal(dfl_sink_file(s.sink, name, name, strlen(name)), i);
    }
    dfl_error(s.sink, (struct dfl_loc){57, 1, 1, 4}, "here");
    fflush(s.out);
    assert_string_equal(s.text, "f57.df:1:1: error: here\n    f57.df\n    ^~~\n");
    said_end(&s);
}

static void test_suggestions(void **state)
{
    (void)state;
    static const char *const names[] = {"add", "generate", "print", "prints", "cpu", "h2d", "x"};
    enum { N = sizeof names / sizeof names[0] };
    static const struct {
        const char *name, *close;
    } cases[] = {
        {"adds", "add"}, {"dad", "add"}, {"ad", "add"}, {"genrate", "generate"}, {"geenratte", "generate"},
        {"pirnt", "print"}, {"prnits", "prints"}, {"print", "print"}, {"prin", "print"}, {"uffda", NULL},
        {"y", NULL}, {"", NULL}, {"cup", "cpu"}, {"hd2", "h2d"}, {"generator_of_all", NULL}, {"gxxxrate", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *close = dfl_suggest(cases[i].name, names, N);
        if ((close == NULL) != (cases[i].close == NULL) || (close && strcmp(close, cases[i].close) != 0))
            fail_msg("'%s': '%s' instead of '%s'", cases[i].name, close ? close : "nothing",
                     cases[i].close ? cases[i].close : "nothing");
    }
    assert_null(dfl_suggest("add", NULL, 0));

    char longest[301];
    memset(longest, 'a', 300);
    longest[300] = '\0';
    const char *const one[] = {longest};
    assert_null(dfl_suggest(longest, one, 1)); /* longer than any name: not looked at, not a buffer overrun */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_and_caret),
        cmocka_unit_test(test_places_outside_the_text),
        cmocka_unit_test(test_tabs_crlf_and_byte_order_mark),
        cmocka_unit_test(test_what_a_terminal_would_obey_is_escaped),
        cmocka_unit_test(test_names_are_escaped_and_shortened),
        cmocka_unit_test(test_long_lines_are_cut_to_a_window),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_limits_of_what_is_shown),
        cmocka_unit_test(test_equal_warnings_are_folded),
        cmocka_unit_test(test_no_warnings),
        cmocka_unit_test(test_summary_says_nothing_where_all_was_shown),
        cmocka_unit_test(test_many_files),
        cmocka_unit_test(test_suggestions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
