/* test_paths.c - names of files: folders joined with names, "." and ".." removed, stems, and the kind of code by the
 * ending. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/types/paths.h"

static void names_are_joined(void **state)
{
    static const char *const cases[][3] = {
        { "a", "b.df", "a/b.df" }, { "a/", "b.df", "a/b.df" }, { "", "b.df", "b.df" }, { ".", "b.df", "b.df" },
        { "a", "/b.df", "/b.df" }, { "/", "b.df", "/b.df" },   { "..", "b", "../b" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *joined = dfc_path_join(cases[i][0], cases[i][1]);
        assert_string_equal(joined, cases[i][2]);
        free(joined);
    }
}

/* A name may begin with dots and be no step up. */
static void paths_are_tidied(void **state)
{
    static const char *const cases[][2] = {
        { "", "." },           { ".", "." },             { "a/..", "." },       { "a/./b", "a/b" },
        { "a//b/", "a/b" },    { "a/../b", "b" },        { "../a", "../a" },    { "a/../../b", "../b" },
        { "../../a", "../../a" }, { "/../a", "/a" },     { "/a/b/../c", "/a/c" }, { "a/b/../..", "." },
        { "a/.b/c", "a/.b/c" }, { "a/b./c", "a/b./c" },  { "a/..b", "a/..b" },  { "a/.../b", "a/.../b" },
        { "../a/..", ".." },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];
        strcpy(path, cases[i][0]);
        dfc_path_tidy(path);
        assert_string_equal(path, cases[i][1]);
    }
}

static void stems_are_safe(void **state)
{
    static const char *const cases[][2] = {
        { "sum.df", "sum" }, { "a/b c.df", "b_c" }, { "a.b/sum", "sum" }, { "x$y.df", "x_y" }, { "a+b-c.df", "a+b-c" },
        { "s.df", "s" },     { ".df", ".df" },    { "s.d", "s.d" },     { "s.DF", "s.DF" }, { "s.df.df", "s.df" },   { "sdf", "sdf" },
        { "", "graph" },     { "a/", "graph" },   { "/s", "s" },        { "é.df", "__" },   { "AZaz09_-.+", "AZaz09_-.+" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *stem = dfc_stem(cases[i][0]);
        assert_string_equal(stem, cases[i][1]);
        free(stem);
    }
}

static void endings_tell_the_kind(void **state)
{
    static const struct { const char *path; bool known; enum dfc_code_kind kind; } cases[] = {
        { "k.c", true, DFC_CODE_C },        { "k.cpp", true, DFC_CODE_CXX },  { "a/k.cu", true, DFC_CODE_CUDA },
        { "k.o", true, DFC_CODE_OBJECT },   { "lib.a", true, DFC_CODE_OBJECT }, { "k.x", false, 0 },
        { "k", false, 0 },                  { "a.c/k", false, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum dfc_code_kind kind;
        assert_int_equal(dfc_code_kind(cases[i].path, &kind), cases[i].known);
        if (cases[i].known)
            assert_int_equal(kind, cases[i].kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_joined), cmocka_unit_test(paths_are_tidied), cmocka_unit_test(stems_are_safe),
        cmocka_unit_test(endings_tell_the_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
