/* test_front_memory.c - each allocation of the front end's own fails, one after the other: the front end says that memory ran out, and ends. A program
 * with what makes it take many ways: parameters, loops, loops that end early, graphs in graphs, formulas that are fused, rows of several inputs, bounded extents, accs, hints.
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
#include "compiler/types/frontend.h"

static const char program[] =
    "param n = 6; param half = 0.5; param later = 7 dynamic; param ratio = later * 0.5;\n"
    "arg gain: f32 = 1.0 help \"factor\"; arg name: str = \"x\";\n"
    "type vec = f32[n];\n"
    "table k3: f32[3] = { 1, half, 1 }; table lut: u8[2, 2] = { 1, 2, 3, 4 };\n"
    "kernel make(out v: f32[h, w]; seed: i32) stream cpu {{ (void)seed; memset(v, 0, 4 * h * w); }};\n"
    "kernel some(in v: f32[h, w], out o: f32[k <= _, w]) cost cpu 1us gpu 2us;\n"
    "kernel tell(in o: f32[k, w]; to: str) ordered cost cpu 1us;\n"
    "kernel vecs(out v: f32[h]) cost cpu 1us;\n"
    "kernel first(in v: f32[h, w] border clamp, out o: f32[h, w]) {\n"
    "    let d[j, i] = v[y + j, x + i] * k3[1 + j];\n"
    "    o[y, x] = gain * sum(j in -1..2, i in -1..2 if i + j < 3: d[j, i]) + ratio;\n"
    "}\n"
    "kernel second(in v: f32[h, w], out o: f32[h, w]) { o[y, x] = v[y, x] > half ? sqrt(v[y, x]) : lut[y % 2, x % 2]; }\n"
    "kernel third(in v: f32[h, w], in u: f32[h, w], out o: f32[h - 2, w]) { o[y, x] = v[y + 2, x] - u[y, x] + max(i in 0..3: v[y, clamp(x + i, 0, w - 1)]); }\n"
    "kernel most(in v: f32[h, w], acc s: f32[h, w]) { s[y, x] max= v[y, x]; }\n"
    "kernel say(in s: f32[h, w]) ordered cpu {{ (void)s; }};\n"
    "graph blur(in v: f32[h, w], out o: f32[h - 2, w]; times: i32) {\n"
    "    a = first(v);\n"
    "    b = second(a);\n"
    "    o = third(a, b);\n"
    "}\n"
    "graph some_of(in v: f32[h <= 20, w], in u: f32[h, w], out o: f32[k <= 10, w]; times: i32) { a = first(v); b = second(u); c = third(a, b); o = some(c); }\n"
    "kernel start(out v: f32[w], out r: f32) cost cpu 1us;\n"
    "kernel onward(in v: f32[w], in by: f32, out o: f32[w]) tolerance(1e-3) cost cpu 1us gpu 2us;\n"
    "kernel reach(in v: f32[w], out r: f32) { r = max(x in 0..w: abs(v[x])) * gain; }\n"
    "kernel see(in v: f32[w]) ordered cost cpu 1us;\n"
    "graph solve(in a: f32[w], in b: f32, out c: f32[w]; to: f32) {\n"
    "    g[0] = onward(a, b);\n"
    "    e[0] = reach(a);\n"
    "    for k in 0..later while e[k] > to * gain && max(e[k], 2) < 1000 {\n"
    "        f[k] = onward(g[k], b);\n"
    "        for i in 0..1 { g[k + 1 + i] = onward(f[k], e[k]); }\n"
    "        e[k + 1] = reach(g[k + 1]);\n"
    "    }\n"
    "    c = last(g);\n"
    "}\n"
    "graph main {\n"
    "    (begun: vec, by) = start();\n"
    "    solved = solve(begun, by, 0.5);\n"
    "    see(solved);\n"
    "    v: f32[later + 20, n * 2] = make(3);\n"
    "    w = blur(v, 2);\n"
    "    s = most(w);\n"
    "    say(s);\n"
    "    o: f32[k <= 30, n * 2] = some(w);\n"
    "    tell(o, name) @cpu;\n"
    "    for i in 0..3 { x[i]: vec = vecs(); }\n"
    "    if n > 5 { y: f32[10] = vecs() @quiet; } else { y: f32[11] = vecs(); }\n"
    "}\n"
    "platform p { cpu host { workers = 4; bandwidth = 10 GB/s; } gpu g { h2d = 6 GB/s, 10 us; d2h = 6 GB/s, 10 us; } }\n";

static long n_calls, failing;           /* calls of dfc_alloc(); the first that fails, as those after it do; 0: none */

void *__real_dfc_alloc(struct dfc_unit *u, size_t size);
void *__wrap_dfc_alloc(struct dfc_unit *u, size_t size);

void *__wrap_dfc_alloc(struct dfc_unit *u, size_t size)
{
    if (++n_calls < failing || !failing)
        return __real_dfc_alloc(u, size);
    dfc_no_memory(u);
    return NULL;
}

static bool read_text(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    (void)path, (void)why;
    *text = strdup(arg);
    *length = strlen(arg);
    return *text != NULL;
}

/* root: a graph that is called from outside; NULL: main. Returns whether the program was accepted. *said: what was said, to be freed. */
static bool compile(const char *root, char **said)
{
    const struct dfc_root of = { .graph = root };
    const struct dfc_front_options options = { .path = "t.df", .read = read_text, .read_arg = (void *)(uintptr_t)program, .root = root ? &of : NULL };
    struct dfc_front *front = NULL;
    size_t size;
    FILE *out = open_memstream(said, &size);
    struct dfl_sink *sink = dfl_sink_new(out);
    n_calls = 0;
    bool ok = dfc_front_run(sink, &options, &front);
    if (ok)
        dfc_front_free(front);
    dfl_sink_free(sink);
    fclose(out);
    return ok;
}

static void fail_each(const char *root, long least)
{
    char *said;
    failing = 0;
    if (!compile(root, &said))
        fail_msg("%s", said);
    free(said);
    const long n = n_calls;
    assert_in_range(n, least, 100000);
    for (failing = 1; failing <= n; failing++) {
        if (compile(root, &said) || !strstr(said, "memory"))
            fail_msg("call %ld of %ld: '%s'", failing, n, said);
        free(said);
    }
}

static void program_without_memory(void **state)
{
    (void)state;
    fail_each(NULL, 500);
}

static void graph_without_memory(void **state)
{
    (void)state;
    fail_each("some_of:w=9", 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(program_without_memory), cmocka_unit_test(graph_without_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
