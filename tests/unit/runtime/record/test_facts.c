/* test_facts.c - how two sets of facts differ, in each wording, and facts of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/record/facts.h"

static const char one[] = "arg us 3000\ncompiler c gcc 12\nfile a.h 1\nfile b.h 2\nkernel k 3\nnode n 4, 5\n";

static void differs(const char *then, const char *now, enum dfr_facts_of of, const char *want)
{
    struct dfr_facts a = { 0 }, b = { 0 };
    char text[200] = "";
    assert_true(dfr_facts_read(&a, then, strlen(then)) && dfr_facts_read(&b, now, strlen(now)));
    assert_int_equal(dfr_facts_differ(&a, &b, of, text, sizeof text), want != NULL);
    if (want)
        assert_string_equal(text, want);
    dfr_facts_free(&a);
    dfr_facts_free(&b);
}

static void test_same(void **state)
{
    (void)state;
    differs(one, one, DFR_THEN_NOW, NULL);
    differs("", "", DFR_THEN_NOW, NULL);
    differs(one, "arg us 3000\nkernel k 3\nnode n 4, 5\nfile b.h 2\nfile a.h 1\ncompiler c gcc 12\n", DFR_THEN_NOW, NULL);
}

static void test_values(void **state)
{
    static const char other[] = "arg us 3001\ncompiler c gcc 13\nfile a.h 1\nfile b.h 2\nkernel k 3\nnode n 4, 6\n";
    (void)state;
    differs(one, other, DFR_THEN_NOW, "--us was '3000', and is '3001' now");
    differs(one + 12, other + 12, DFR_HERE_THERE, "compiler 'c' is 'gcc 12' on rank 0, and 'gcc 13' there");
    differs("node n 4, 5\n", "node n 4, 6\n", DFR_ONE_OTHER, "node 'n' has extents 4, 5 in one, and 4, 6 in the other");
    differs("kernel k 3\n", "kernel k 4\n", DFR_HERE_THERE, "the code of kernel 'k' differs from rank 0's");
    differs("dfc dfc 1\n", "dfc dfc 2\n", DFR_ONE_OTHER, "dfc is '1' in one, and '2' in the other");
}

/* A fact that only one side has. */
static void test_missing(void **state)
{
    (void)state;
    differs("file a.h 1\nfile b.h 2\n", "file b.h 2\n", DFR_THEN_NOW, "file 'a.h' is not there any more");
    differs("file b.h 2\n", "file a.h 1\nfile b.h 2\n", DFR_THEN_NOW, "file 'a.h' was not there");
    differs("file a.h 1\nfile b.h 2\n", "", DFR_HERE_THERE, "file 'a.h' is on rank 0 only; file 'b.h' is on rank 0 only");
    differs("", "file a.h 1\nfile b.h 2\n", DFR_HERE_THERE, "file 'a.h' is not on rank 0; file 'b.h' is not on rank 0");
    differs("", "kernel k 1\n", DFR_ONE_OTHER, "kernel 'k' is in one only");
    differs("file a 1\nfile b 1\nfile c 1\nfile d 1\nfile e 1\n", "file a 2\nfile b 2\nfile c 2\nfile d 2\nfile e 2\n", DFR_ONE_OTHER,
            "file 'a' differs; file 'b' differs; file 'c' differs; and 2 more");
}

static void test_content(void **state)
{
    char path[] = "/tmp/dfc-test-XXXXXX", *text;
    const int fd = mkstemp(path);
    (void)state;
    assert_int_equal(write(fd, "abc", 3), 3);
    close(fd);
    text = dfr_fact_content(path);
    assert_int_equal(strncmp(text, "3 bytes ", 8), 0);
    assert_int_equal(strlen(text), 8 + 16);
    free(text);
    unlink(path);
    for (int i = 0; i < 2; i++) {
        text = dfr_fact_content(i ? "/dev/zero" : path);
        assert_string_equal(text, "unreadable");
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_same), cmocka_unit_test(test_values), cmocka_unit_test(test_missing), cmocka_unit_test(test_content) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
