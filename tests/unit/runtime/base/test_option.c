/* test_option.c - tables of options: values of every type in every form, every message, and what --help prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/option.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

struct inner {
    unsigned level;
    bool quiet;
};

struct request {
    bool flag;
    int number;
    uint64_t count, bytes;
    int64_t waves;
    double seconds, cap_s;
    int word;
    unsigned on;
    const char *device, *text, *file, *optimise;
    const char **folders;
    size_t n_folders;
    int given;
    struct inner inner;
};

static int set_given(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    if (text && strcmp(text, "odd") == 0)
        return dfr_error(error, DF_E_ARGUMENT, "%s=%s: nothing odd", option->name, text);
    *(int *)field = text ? (int)strlen(text) : -1;
    return DF_OK;
}

static int help_more(FILE *out, int at)
{
    return dfr_help_words(out, at, "and more");
}

#define R struct request
static const struct dfr_option own[] = {
    DFR_HEADING("first"),
    { "--flag", NULL, "a flag", DFR_FIELD(FLAG, R, flag) },
    { "--number", NULL, NULL, DFR_FIELD(FLAG, R, number) },
    { "--count", "N|auto", "how many", DFR_COUNT(R, count, 2, 1000), .words = "auto", .first = UINT64_MAX },
    { "--waves", "N", "waves", DFR_COUNT(R, waves, 0, INT64_MAX) },
    { "--bytes", "SIZE", "how large", DFR_FIELD(BYTES, R, bytes) },
    { "--seconds", "TIME", "how long", DFR_FIELD(SECONDS, R, seconds) },
    { "--cap", "SECONDS", "how long at most", DFR_FIELD(SECONDS, R, cap_s), .first = 1 },
    { "--word", "left|right|both", "which", DFR_FIELD(WORD, R, word), .first = 1, .hint = "; 'both' is either" },
    { "--switch", "on|off", "whether", DFR_FIELD(ON_OFF, R, on) },
    { "--device", "KIND", "where", DFR_DEVICES(R, device, ONE_OF) },
    { "--text", "TEXT", "any", DFR_FIELD(TEXT, R, text) },
    { "--file", "FILE", "a file", DFR_FIELD(NAME, R, file) },
    { "-I", "DIR", "a folder", DFR_NAMES(R, folders, n_folders) },
    { "-O1", NULL, "a little", DFR_FIELD(SPELLING, R, optimise) },
    { "-O2", NULL, "more", DFR_FIELD(SPELLING, R, optimise) },
    { "--given", "[10x]", "may have a value", DFR_SET(set_given, R, given), .more = help_more },
    { "--level", "N", "the first row counts", DFR_COUNT(R, inner.level, 1, 9) },
    { 0 }
};
static const struct dfr_option shared[] = {
    DFR_HEADING("second"),
    { "--level", "N", "not shown", DFR_COUNT(struct inner, level, 1, 3) },
    { "--quiet", NULL, "say less", DFR_FIELD(FLAG, struct inner, quiet) },
    { 0 }
};
static const struct dfr_options tables[] = { { own, 0 }, { shared, offsetof(R, inner) }, { 0 } };

static int take(R *r, const char *a, const char *b, int *used, bool *known, struct df_error *error)
{
    char *argv[] = { "app", (char *)a, (char *)b };
    int i = 1;
    int status = dfr_option_take(tables, r, b ? 3 : 2, argv, &i, known, error);
    *used = i;
    return status;
}

static R good(const char *a, const char *b)
{
    R r = { 0 };
    struct df_error error = { "" };
    bool known;
    int used;
    if (take(&r, a, b, &used, &known, &error) != DF_OK || !known)
        fail_msg("%s: %s", a, error.text);
    assert_int_equal(used, b ? 2 : 1);
    return r;
}

static void bad(const char *a, const char *b, const char *want)
{
    R r = { 0 };
    struct df_error error = { "" };
    bool known;
    int used;
    assert_int_equal(take(&r, a, b, &used, &known, &error), DF_E_ARGUMENT);
    assert_true(known);
    assert_string_equal(error.text, want);
}

static void test_values(void **state)
{
    (void)state;
    assert_true(good("--flag", NULL).flag);
    assert_int_equal(good("--number", NULL).number, 1);
    assert_int_equal(good("--count=1000", NULL).count, 1000);
    assert_true(good("--count", "auto").count == UINT64_MAX);
    assert_int_equal(good("--waves", "9223372036854775807").waves, INT64_MAX);
    assert_int_equal(good("--bytes=64 MiB", NULL).bytes, 64 << 20);
    assert_true(good("--seconds=1.5min", NULL).seconds == 90);
    assert_true(good("--cap", "0.5").cap_s == 0.5);
    assert_true(good("--cap=.5", NULL).cap_s == 0.5);
    assert_true(good("--cap=500ms", NULL).cap_s == 0.5);
    assert_int_equal(good("--word=both", NULL).word, 3);
    assert_int_equal(good("--switch=on", NULL).on, 1);
    assert_int_equal(good("--switch", "off").on, 0);
    assert_string_equal(good("--device=emu", NULL).device, "emu");
    assert_string_equal(good("--text=", NULL).text, "");
    assert_string_equal(good("--text", "--std=c99").text, "--std=c99");
    assert_string_equal(good("--file", "-").file, "-");
    assert_string_equal(good("-O2", NULL).optimise, "-O2");
    assert_int_equal(good("--given", NULL).given, -1);
    assert_int_equal(good("--given=10x", NULL).given, 3);
    assert_int_equal(good("--level=9", NULL).inner.level, 9);
    assert_true(good("--quiet", NULL).inner.quiet);
}

static void test_names(void **state)
{
    (void)state;
    R r = { 0 };
    struct df_error error = { "" };
    bool known;
    int used;
    assert_int_equal(take(&r, "-I", "a", &used, &known, &error), DF_OK);
    assert_int_equal(take(&r, "-Ib", NULL, &used, &known, &error), DF_OK);
    assert_int_equal(r.n_folders, 2);
    assert_string_equal(r.folders[0], "a");
    assert_string_equal(r.folders[1], "b");
    free(r.folders);
}

static void test_unknown(void **state)
{
    (void)state;
    static const char *const words[] = { "--flags", "--fla", "-O", "-O2=x", "-O23", "--", "-", "file", "" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        R r = { 0 };
        struct df_error error = { "" };
        bool known = true;
        int used;
        assert_int_equal(take(&r, words[i], NULL, &used, &known, &error), DF_OK);
        assert_false(known);
        assert_null(dfr_option_find(tables, words[i]));
    }
    assert_string_equal(dfr_option_find(tables, "--level=3")->text, "the first row counts");
    assert_string_equal(dfr_option_find(tables, "-Ix")->name, "-I");
}

static void test_messages(void **state)
{
    (void)state;
    bad("--flag=yes", NULL, "--flag takes no value");
    bad("--count", NULL, "--count needs a value");
    bad("--count", "--flag", "--count needs a value");
    bad("--count=1", NULL, "--count=1: 'auto' or a whole number from 2 to 1000 is expected");
    bad("--count=1001", NULL, "--count=1001: 'auto' or a whole number from 2 to 1000 is expected");
    bad("--count= 5", NULL, "--count= 5: 'auto' or a whole number from 2 to 1000 is expected");
    bad("--count=-5", NULL, "--count=-5: 'auto' or a whole number from 2 to 1000 is expected");
    bad("--count=5x", NULL, "--count=5x: 'auto' or a whole number from 2 to 1000 is expected");
    bad("--waves=99999999999999999999", NULL, "--waves=99999999999999999999: a whole number from 0 to 9223372036854775807 is expected");
    bad("--bytes=12", NULL, "--bytes=12: a size is expected, such as 512MiB or 6GiB; a number without a unit is in bytes, at least 4096");
    bad("--seconds=30", NULL, "--seconds=30: a time is expected, such as 500ms, 30s or 2min");
    bad("--cap=0", NULL, "--cap=0: a time is expected, such as 500ms, 30s or 2min; a number without a unit is in seconds");
    bad("--cap=nan", NULL, "--cap=nan: a time is expected, such as 500ms, 30s or 2min; a number without a unit is in seconds");
    bad("--cap=", NULL, "--cap=: a time is expected, such as 500ms, 30s or 2min; a number without a unit is in seconds");
    bad("--word=up", NULL, "--word=up: one of left, right, both is expected; 'both' is either");
    bad("--word=rihgt", NULL, "--word=rihgt: one of left, right, both is expected; did you mean 'right'?");
    bad("--switch=maybe", NULL, "--switch=maybe: one of on, off is expected");
    bad("--device=gpu", NULL, "--device=gpu: one of auto, none, emu, cuda, opencl, sim is expected; 'none' uses the CPU alone, 'cuda' a GPU, 'opencl' a device of OpenCL, 'emu' an emulated one");
    bad("--file=", NULL, "--file needs a name, and this one is empty");
    bad("-I", "", "-I needs a name, and this one is empty");
    bad("-I=lib", NULL, "-I=lib: no '=' stands between -I and its value: write '-I lib'");
    bad("--given=odd", NULL, "--given=odd: nothing odd");
}

static void test_help(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    static const struct dfr_option few[] = { DFR_HEADING("few"), { "--flag", NULL, "a flag", DFR_FIELD(FLAG, R, flag) },
                                             { "--given", "[10x]", "may have a value", DFR_SET(set_given, R, given), .more = help_more }, { 0 } };
    static const struct dfr_options both[] = { { few, 0 }, { own, 0 }, { shared, offsetof(R, inner) }, { 0 } };
    dfr_options_help(out, both);
    assert_string_equal(dfr_text_close(out, &text),
                        "\nfew:\n"
                        "  --flag                a flag\n"
                        "  --given[=10x]         may have a value and more\n"
                        "\nfirst:\n"
                        "  --count=N|auto        how many\n"
                        "  --waves=N             waves\n"
                        "  --bytes=SIZE          how large\n"
                        "  --seconds=TIME        how long\n"
                        "  --cap=SECONDS         how long at most\n"
                        "  --word=left|right|both\n"
                        "                        which\n"
                        "  --switch=on|off       whether\n"
                        "  --device=KIND         where\n"
                        "  --text=TEXT           any\n"
                        "  --file=FILE           a file\n"
                        "  -I DIR                a folder\n"
                        "  -O1                   a little\n"
                        "  -O2                   more\n"
                        "  --level=N             the first row counts\n"
                        "\nsecond:\n"
                        "  --quiet               say less\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_values), cmocka_unit_test(test_names), cmocka_unit_test(test_unknown),
                                        cmocka_unit_test(test_messages), cmocka_unit_test(test_help) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
