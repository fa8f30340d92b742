/* test_text.c - names of users inside JSON and XML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/text.h"

static void becomes(void (*write)(FILE *, const char *), const char *text, const char *want)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    assert_non_null(out);
    write(out, text);
    fclose(out);
    assert_string_equal(got, want);
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
}

static void test_xml(void **state)
{
    (void)state;
    becomes(dfr_text_xml, "", "");
    becomes(dfr_text_xml, "a < b && c > \"d\"", "a &lt; b &amp;&amp; c &gt; &quot;d&quot;");
    becomes(dfr_text_xml, "µs", "µs");
    becomes(dfr_text_xml, "a\nb\x7f", "a?b\x7f");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_json), cmocka_unit_test(test_xml) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
