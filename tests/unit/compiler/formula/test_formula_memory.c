/* test_formula_memory.c - formulas are checked while memory runs out, one allocation after the other: the front end says so,
 * and nothing is left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/front/front.h"
#include "failing.h"
#include "long.h"

#if FAILING
/* Enough lets for many blocks of the arena. */
static char *make_program(void)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs("param later = 3 dynamic; arg gain: f32 = 1.0; table k: f32[2, 2] = { 1, 2, 3, 4 };\n"
          "kernel a(in g: f32[h, w] border clamp, 0, inout u: u8[h, 2], out o: u8[2 * h, w], out m: f64; s: i32) {\n"
          "    let d[i, j] = g[y + i, x + j] * k[0, 1];\n"
          "    let e0 = d[0, 1] - d[later, s];\n", out);
    for (int i = 1; i < 200; i++)
        fprintf(out, "    let e%d = e%d * d[%d, later] + max(i%d in 0..y + 3: g[i%d, x]);\n", i, i - 1, i, i, i);
    fputs("    o[y, x] = u8(gain * sqrt(e199 * e1) + clamp(g[y, x], 0, min(e2, 2)));\n"
          "    u[y, 0] = wrap_u8(u[y, 0] << 1);\n"
          "    u[y, 1] = y > 3 ? 1 : u8(sum(i in 0..3: g[i, i]));\n"
          "    m = max(i in 0..h if i % 2 == 0: f64(g[i, 0]));\n"
          "}\n"
          "kernel src(out a: u8[n]) cost cpu 1us; graph main { a: u8[3] = src() @quiet; }\n", out);
    fclose(out);
    return text;
}

struct work {
    char *program;
    bool ok;
    char *said;
    size_t n_said;
};

static bool read_text(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    const char *program = arg;
    (void)path;
    *why = "out of memory";
    *length = strlen(program);
    *text = malloc(*length + 1);
    if (*text)
        memcpy(*text, program, *length + 1);
    return *text != NULL;
}

static void compile(void *arg)
{
    struct work *w = arg;
    const struct dfc_front_options options = { .path = "t.df", .read = read_text, .read_arg = w->program };
    struct dfc_front *front = NULL;
    FILE *out = open_memstream(&w->said, &w->n_said);
    struct dfl_sink *sink = dfl_sink_new(out);
    w->ok = sink && dfc_front_run(sink, &options, &front);
    if (w->ok)
        dfc_front_free(front);
    dfl_sink_free(sink);
    fclose(out);
    if (w->n_said > 0)
        w->ok &= strstr(w->said, "error") == NULL;
    if (!w->ok && sink && !strstr(w->said, "memory"))
        fail_msg("refused without a reason: '%s'", w->said);
    free(w->said);
}
#endif

static void test_no_memory(void **state)
{
#if FAILING
    struct work w = { .program = make_program() };
    unsigned n_refused = 0;
    failing_learn(compile, &w);
    assert_true(w.ok);
    const long kept = failing_n_live;
    for (uint32_t place = 0; place < failing_n; place++)
        for (uint64_t n = 1; n <= failing_places[place].calls; n += IN_LONG(1, 1 + n / 4)) /* the later ones of a place are alike */ {
            failing_set(place, n);
            compile(&w);
            failing_end();
            if (failing_n_live != kept)
                fail_msg("call %llu at %p: %ld allocations are left, else %ld", (unsigned long long)n,
                         failing_places[place].address, failing_n_live, kept);
            n_refused += !w.ok;
        }
    assert_true(n_refused > 100);
    free(w.program);
#else
    skip();
#endif
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_no_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
