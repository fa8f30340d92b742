/* test_isa.c - the level of instructions that formulas use: that of the processor, as /proc/cpuinfo has it, and at most that of DF_ISA_LEVEL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/isa.h"
#include "runtime/df.h"

/* Whether the line has all of these words. */
static bool has_all(const char *line, const char *const *words)
{
    char wanted[40];
    for (; *words; words++) {
        snprintf(wanted, sizeof wanted, " %s ", *words);
        if (!strstr(line, wanted))
            return false;
    }
    return true;
}

/* 0: the system does not say it. */
static unsigned level_of_processor(void)
{
    static const char *const v3[] = { "avx2", "fma", "bmi1", "bmi2", NULL };
    static const char *const v4[] = { "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512vbmi", NULL };
    FILE *from = fopen("/proc/cpuinfo", "r");
    char *line = NULL;
    size_t size = 0;
    unsigned level = 0;
    while (from && !level && getline(&line, &size, from) > 0)
        if (strncmp(line, "flags", 5) == 0) {
            line[strcspn(line, "\n")] = ' ';
            level = !has_all(line, v3) ? 1 : has_all(line, v4) ? 4 : 3;
        }
    free(line);
    if (from)
        fclose(from);
    return level;
}

/* The level with that in the environment, as a new process finds it. */
static unsigned level_with(const char *text)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (text)
            setenv("DF_ISA_LEVEL", text, 1);
        else
            unsetenv("DF_ISA_LEVEL");
        _exit((int)(df_isa_level() == df_isa_level() ? df_isa_level() : 99)); /* the second call has it from the first */
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return (unsigned)WEXITSTATUS(status);
}

static void levels(void **state)
{
    static const struct { const char *text; unsigned most; } cases[] = { { NULL, 4 }, { "", 4 }, { "4", 4 }, { "3", 3 }, { "2", 1 }, { "1", 1 } };
    const unsigned has = level_of_processor();
    (void)state;
    if (!has)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(level_with(cases[i].text), has < cases[i].most ? has : cases[i].most);
}

static void wrong_levels(void **state)
{
    static const char *const wrong[] = { "0", "5", "avx", "33", " 3", "-1" };
    struct df_error error = { "" };
    char want[200];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("DF_ISA_LEVEL", wrong[i], 1);
        snprintf(want, sizeof want, "DF_ISA_LEVEL is '%s' in the environment: it is the greatest level of x86-64 to use, 1 to 4", wrong[i]);
        assert_int_equal(dfr_isa_check(&error), DF_E_ARGUMENT);
        assert_string_equal(error.text, want);
    }
    for (char text[] = "1"; *text <= '4'; ++*text) {
        setenv("DF_ISA_LEVEL", text, 1);
        assert_int_equal(dfr_isa_check(&error), DF_OK);
    }
    unsetenv("DF_ISA_LEVEL");
    assert_int_equal(dfr_isa_check(&error), DF_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(levels), cmocka_unit_test(wrong_levels) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
