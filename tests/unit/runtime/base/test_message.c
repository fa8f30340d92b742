/* test_message.c - what a terminal gets of names and texts: escaped, shortened, and nothing else changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/message.h"

#define SHOWN(text, want) shown(text, sizeof(text) - 1, want)

static void shown(const char *text, size_t n, const char *want)
{
    char got[256], again[256];
    assert_int_equal(dfr_shown(got, sizeof got, text, n), strlen(want));
    assert_string_equal(got, want);
    dfr_shown(again, sizeof again, got, strlen(got));
    assert_string_equal(again, want);   /* what was shown once stays */
}

static void control_bytes_are_escaped(void **state)
{
    (void)state;
    SHOWN("", "");
    SHOWN("plain ~ text", "plain ~ text");
    SHOWN("\x1b[31mred\a\t\n\r\x7f", "\\x1b[31mred\\x07\\x09\\x0a\\x0d\\x7f");
    SHOWN("a\0b", "a\\x00b");
    SHOWN("\xC2\x80 \xC2\x9F \xC2\xA0", "\\xc2\\x80 \\xc2\\x9f \xC2\xA0"); /* C1 ends before U+00A0 */
}

static void utf_8_stays_and_else_is_escaped(void **state)
{
    (void)state;
    SHOWN("h\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", "h\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
    SHOWN("\xFF \x80", "\\xff \\x80");
    SHOWN("\xC0\x9B \xE0\x82\x9B", "\\xc0\\x9b \\xe0\\x82\\x9b"); /* overlong */
    SHOWN("\xED\xA0\x80", "\\xed\\xa0\\x80");                       /* a surrogate */
    SHOWN("\xF0\x82\x82\xAC", "\\xf0\\x82\\x82\\xac");           /* overlong, in four bytes */
    SHOWN("\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");           /* past U+10FFFF */
    SHOWN("\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");              /* past U+10FFFF */
    SHOWN("\xE2\x80\xAE", "\\xe2\\x80\\xae");                       /* turns the direction of writing */
    SHOWN("\xE2\x82", "\\xe2\\x82");                                /* cut */
    SHOWN("\xC3x", "\\xc3x");
}

/* Every size, for a text whose characters take 1 to 4 bytes: what comes out is whole characters and fits. */
static void what_is_too_long_loses_its_middle(void **state)
{
    char text[1200], got[1300];
    size_t n = 0;
    (void)state;
    for (int i = 0; i < 120; i++)
        n += (size_t)sprintf(text + n, "%c\x01\xC3\xA9\xF0\x9F\x98\x80", 'a' + i % 26);
    for (size_t size = 1; size <= sizeof got; size++) {
        size_t length = dfr_shown(got, size, text, n);
        assert_true(length < size && strlen(got) == length);
        for (size_t at = 0; at < length;) {
            size_t bytes = dfr_shown_bytes(got + at, length - at);
            assert_true(bytes > 0);     /* no character was cut */
            at += bytes;
        }
        bool whole = size > 120 * 11;
        assert_int_equal(strstr(got, " bytes left out)... ") != NULL, !whole && size > 128);
    }
    dfr_shown(got, 200, text, n);
    assert_memory_equal(got, "a\\x01\xC3\xA9", 7);
    assert_string_equal(got + strlen(got) - 11, "p\\x01\xC3\xA9\xF0\x9F\x98\x80");
}

static void left_out_is_counted(void **state)
{
    char text[1000], got[200];
    unsigned left_out;
    (void)state;
    memset(text, 'x', sizeof text);
    assert_true(dfr_shown(got, sizeof got, text, sizeof text) <= 199);
    assert_int_equal(sscanf(strchr(got, ' '), " ...(%u bytes left out)... ", &left_out), 1);
    size_t kept = 0;
    for (const char *p = got; *p; p++)
        kept += *p == 'x';
    assert_int_equal(kept + left_out, sizeof text);
}

__attribute__((format(printf, 1, 2))) static const char *text_of(const char *format, ...)
{
    static char text[64];
    va_list list;
    va_start(list, format);
    dfr_message_text(text, sizeof text, format, list);
    va_end(list);
    return text;
}

static void lines_of_texts_are_joined(void **state)
{
    (void)state;
    assert_string_equal(text_of("%s", "one\ntwo\r\n\n"), "one two");
    assert_string_equal(text_of("%s", "\n"), "");
    assert_string_equal(text_of("%s", "a\tb"), "a\\x09b");
}

static void what_compilers_say_keeps_lines_and_colours(void **state)
{
    static const char said[] = "\x1b[01;31m\x1b[Kerror\x1b[m\n\ta\x1b[2Jb\x1b]0;t\a\xC3\xA9\xFF\x1b[";
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    (void)state;
    assert_non_null(out);
    dfr_message_lines(out, said, sizeof said - 1);
    dfr_message_name(out, "\n");
    fclose(out);
    assert_string_equal(got, "\x1b[01;31m\x1b[Kerror\x1b[m\n\ta\\x1b[2Jb\\x1b]0;t\\x07\xC3\xA9\\xff\\x1b[\\x0a");
    free(got);
}

static void a_message_is_one_line(void **state)
{
    char *got = NULL, *name = malloc(5000001);
    size_t size;
    FILE *out = open_memstream(&got, &size);
    struct df_error error;
    (void)state;
    assert_true(out && name);
    memset(name, 'n', 5000000);
    name[5000000] = '\0';
    dfr_message_print(out, "cannot read '%s': %s", "a\nb", "why");
    dfr_message_print(out, "cannot read '%s': %s", name, "why");
    fclose(out);
    assert_memory_equal(got, "cannot read 'a\\x0ab': why\ncannot read 'nn", 41);
    assert_true(size < DFR_MESSAGE_BYTES + 64);
    assert_string_equal(got + size - 9, "nn': why\n");
    free(got);

    assert_int_equal(dfr_error(&error, DF_E_IO, "cannot read '%s\x1b': %s", name, "why"), DF_E_IO);
    assert_true(strlen(error.text) < sizeof error.text);
    assert_string_equal(error.text + strlen(error.text) - 12, "nn\\x1b': why");
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_bytes_are_escaped),
        cmocka_unit_test(utf_8_stays_and_else_is_escaped),
        cmocka_unit_test(what_is_too_long_loses_its_middle),
        cmocka_unit_test(left_out_is_counted),
        cmocka_unit_test(lines_of_texts_are_joined),
        cmocka_unit_test(what_compilers_say_keeps_lines_and_colours),
        cmocka_unit_test(a_message_is_one_line),
    };
    return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
