/* test_parse_memory.c - the n-th allocation fails, n = 1, 2, ... until all goes well: the parser gives NULL and leaks
 * nothing, crashes nowhere, and never gives a tree with something missing. Allocation is stood in for here, which a
 * sanitizer does itself: under one the test is skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dsl/parse.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define REPLACED 0
#else
#define REPLACED 1

static bool watching;
static long until_failure, n_live;

/* glibc's own, under the names that it keeps for such replacements */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *given);

static bool fails(void)
{
    return watching && until_failure-- <= 0;
}

#pragma GCC visibility push(default) /* the C library calls these too */
void *malloc(size_t size)
{
    if (fails())
        return NULL;
    n_live += watching;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    if (fails())
        return NULL;
    n_live += watching;
    return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    if (fails())
        return NULL;
    n_live += watching && !old;
    return __libc_realloc(old, size);
}

void free(void *given)
{
    n_live -= watching && given;
    __libc_free(given);
}
#pragma GCC visibility pop
#endif

/* Enough of everything that the arena needs several chunks and the parser's stack grows. */
static char *program(void)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    fputs("import \"a.df\"; param n = min(4, 2 + 3) * -2; arg s: i32 = -1; type v = f32[n, 2];\n"
          "kernel k(in a: f32[n] split x, out b: v; s: i32) ordered threads(2) cpu \"a.c\": f(a, b) gpu {{ x(); }}\n"
          "    cost cpu 1.5us gpu (2 us * n);\nplatform p { cpu h { w = 3; l = 6 GB/s, 1 us; } }\n"
          "table t: f32[2] = { 1, -2 };\nparam deep = ", out);
    for (int i = 0; i < 90; i++)
        fputs("-(1 + ", out);
    fputc('1', out);
    for (int i = 0; i < 90; i++)
        fputc(')', out);
    fputs(";\nkernel f(in a: f32[n] border clamp, -1, in b: f32[n] border 0, 1, wrap, out o: f32[n, n]) {\n", out);
    for (int i = 0; i < 60; i++)
        fprintf(out, "    let d%d[i, j] = a[i] ? b[j] : ~i << 2 ? f(i, j) : 3;\n"
                     "    o[y, %d] += sum(i in 0..n, j in -1..i if d%d[i, j] > 0: a[i] * max(k in 0..3: b[k]));\n", i, i, i);
    fputs("} cpu \"a.c\"\ngraph main {\n", out);
    for (int i = 0; i < 100; i++)
        fprintf(out, "    (a%d, b[%d]: v) = k(q, s = 3 == 4, --t) @depth(2);\n"
                     "    if i < 3 { f(); } else if !i { } else { g(); }\n", i, i);
    fputs("}\n", out);
    fclose(out);
    return text;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
#if REPLACED
    char *text = program();
    size_t length = strlen(text);
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    setvbuf(out, NULL, _IONBF, 0); /* messages allocate nothing */
    long n = 0;
    for (bool done = false; !done; n++) {
        n_live = 0;
        until_failure = n;
        watching = true;
        struct dfl_sink *sink = dfl_sink_new(out);
        struct dfl_file *file = sink ? dfl_parse(sink, "t.df", text, length) : NULL;
        bool failed = until_failure < 0;
        unsigned errors = sink ? dfl_sink_errors(sink) : 0;
        bool last = false;
        for (const struct dfl_decl *d = file ? file->decls : NULL; d; d = d->next)
            last = d->kind == DFL_GRAPH;
        dfl_file_free(file);
        dfl_sink_free(sink);
        watching = false;
        assert_int_equal(n_live, 0);
        if (!failed)
            assert_true(file && errors == 0);
        if (file && errors == 0)
            assert_true(last); /* all of it */
        done = !failed;
    }
    assert_true(n > 10);
    fclose(out);
    free(text);
#else
    (void)program;
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
