/* test_count.c - how many operations formulas do, counted from programs. All numbers are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/front/front.h"
#include "compiler/generate/generate.h"
#include "profiles/estimate/roofline.h"

static bool read_text(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    (void)path;
    (void)why;
    *text = strdup(arg);
    *length = strlen(arg);
    return *text != NULL;
}

#define H 10.0
#define W 20.0
#define N (H * W)
/* A graph of one kernel f with these ports and formulas, on 10 x 20 elements. */
#define ONE(ports, formulas)                                                                                     \
    "table k3: f32[3] = { 1, 2, 1 };\n"                                                                            \
    "kernel f32s(out a: f32[h, w]) cost cpu 1us; kernel u8s(out b: u8[h, w]) cost cpu 1us;\n"                      \
    "kernel f64s(out r: f64[h, w]) cost cpu 1us;\n"                                                               \
    "kernel f(in a: f32[h, w] border clamp, in b: u8[h, w], in r: f64[h, w], out " ports ") {" formulas "}\n"      \
    "graph main { a: f32[10, 20] = f32s(); b: u8[10, 20] = u8s(); r: f64[10, 20] = f64s(); o = f(a, b, r) @quiet; }"

static struct dfc_front *compile(const char *text)
{
    const struct dfc_front_options options = { .path = "t.df", .read = read_text, .read_arg = (void *)(uintptr_t)text,
                                                .gpu_code = dfg_gpu_code };
    struct dfl_sink *sink = dfl_sink_new(stderr);
    struct dfc_front *front = NULL;
    bool ok = dfc_front_run(sink, &options, &front);
    dfl_sink_free(sink);
    if (!ok)
        fail_msg("does not compile: %s", text);
    return front;
}

/* The operations of the kernel f. */
static struct dfw_operations count(const char *text)
{
    struct dfc_front *front = compile(text);
    const struct df_graph *g = front->graph;
    struct dfw_operations found = { .known = false };
    for (uint32_t w = 0; w < g->n_works; w++)
        if (!strcmp(df_graph_string(g, g->kernels[g->works[w].kernel].name), "f"))
            found = front->operations[2 * w];
        else
            assert_false(front->operations[2 * w].known);
    dfc_front_free(front);
    return found;
}

static void assert_counts(const char *text, const struct dfw_operations *expected)
{
    struct dfw_operations o = count(text);
    const double got[] = { o.known, o.flops[0], o.flops[1], o.divisions[0], o.divisions[1], o.functions[0], o.functions[1],
                           o.integers, o.bytes_read, o.bytes_written, o.random_reads, o.atomics };
    const double want[] = { true, expected->flops[0], expected->flops[1], expected->divisions[0], expected->divisions[1],
                            expected->functions[0], expected->functions[1], expected->integers, expected->bytes_read,
                            expected->bytes_written, expected->random_reads, expected->atomics };
    for (size_t i = 0; i < sizeof got / sizeof *got; i++)
        if (got[i] != want[i])
            fail_msg("%s: number %zu is %g, not %g", text, i, got[i], want[i]);
}

static void pointwise(void **state)
{
    (void)state;
    assert_counts(ONE("o: f32[h, w]", "o[y, x] = a[y, x] * a[y, x] + 1.5;"),
                  &(struct dfw_operations){ .flops = { 2 * N }, .integers = N, .bytes_read = 4 * N, .bytes_written = 4 * N });
    /* What is named twice is computed once. */
    assert_counts(ONE("o: f32[h, w]", "let e = exp(a[y, x]); o[y, x] = e * e + sqrt(e);"),
                  &(struct dfw_operations){ .flops = { 2 * N }, .functions = { N }, .divisions = { N }, .integers = N,
                                            .bytes_read = 4 * N, .bytes_written = 4 * N });
    assert_counts(ONE("o: f64[h, w]", "o[y, x] = sin(r[y, x]) / r[y, x];"),
                  &(struct dfw_operations){ .functions = { 0, N }, .divisions = { 0, N }, .integers = N, .bytes_read = 8 * N,
                                            .bytes_written = 8 * N });
    /* To u8: both bounds and rounding. */
    assert_counts(ONE("o: u8[h, w]", "o[y, x] = u8(a[y, x]);"),
                  &(struct dfw_operations){ .flops = { 3 * N }, .integers = N, .bytes_read = 4 * N, .bytes_written = N });
    assert_counts(ONE("o: f32[h, w]", "o[y, x] = a[y, x] < 2 ? fma(a[y, x], a[y, x], 1) : 0;"),
                  &(struct dfw_operations){ .flops = { 4 * N }, .integers = N, .bytes_read = 4 * N, .bytes_written = 4 * N });
}

/* A stencil reads each element from memory once. */
static void stencils(void **state)
{
    (void)state;
    assert_counts(ONE("o: f32[h, w]", "o[y, x] = a[y, x - 1] + a[y, x] + a[y, x + 1];"),
                  &(struct dfw_operations){ .flops = { 2 * N }, .integers = 3 * N, .bytes_read = 4 * N,
                                            .bytes_written = 4 * N });
    /* The inner sum has two reads, a multiplication and an addition for each of three terms; the outer one three of these. */
    assert_counts(ONE("o: f32[h, w]", "o[y, x] = sum(j in 0..3: sum(i in 0..3: k3[i] * a[y + i - 1, x + j - 1]));"),
                  &(struct dfw_operations){ .flops = { N * (9 + 9 + 3) }, .integers = N * 9 + 3, .bytes_read = 4 * N,
                                            .bytes_written = 4 * N });
    /* One column of the port is touched. */
    assert_counts(ONE("o: f32[h]", "o[y] = a[y, 0];"),
                  &(struct dfw_operations){ .integers = H, .bytes_read = 4 * H, .bytes_written = 4 * H });
}

static void reductions(void **state)
{
    (void)state;
    assert_counts(ONE("o: f32", "o = sum(y in 0..h, x in 0..w: a[y, x]);"),
                  &(struct dfw_operations){ .flops = { N }, .integers = N, .bytes_read = 4 * N, .bytes_written = 4 });
    /* What does not depend on the rows is outside them: the sum of row 0. */
    assert_counts(ONE("o: f32[h, w]", "o[y, x] = a[y, x] * sum(j in 0..w: a[0, j]);"),
                  &(struct dfw_operations){ .flops = { N + W }, .integers = N + W, .bytes_read = 4 * N,
                                            .bytes_written = 4 * N });
    /* Prefix sums are linear, if they are all of the formula. */
    assert_counts(ONE("o: f32[w]", "o[x] = sum(j in 0..x + 1: a[0, j]);"),
                  &(struct dfw_operations){ .flops = { W }, .integers = W, .bytes_read = 4 * W, .bytes_written = 4 * W });
    assert_counts(ONE("o: f32[w]", "o[x] = 2 * sum(j in 0..x + 1: a[0, j]);"),
                  &(struct dfw_operations){ .flops = { 11 * W + W }, .integers = 11, .bytes_read = 4 * 11, .bytes_written = 4 * W });
    /* The number of terms is that of the middle element, here 10. */
    static const struct { const char *formula; double terms; } ranges[] = {
        { "o[x] = 2 * sum(j in 0..2 * x - 3: a[0, j]);", 17 },          { "o[x] = 2 * sum(j in 0..x / 3 + x % 3: a[0, j]);", 4 },
        { "o[x] = 2 * sum(j in 0..min(2 * x, 16): a[0, j]);", 16 },     { "o[x] = 2 * sum(j in 0..max(x - 4, 9): a[0, j]);", 9 },
        { "o[x] = 2 * sum(j in x - 4..2 * x: a[0, j]);", 14 },          { "o[x] = 2 * sum(j in -x..x - w: a[0, j]);", 0 },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        char text[1024];
        snprintf(text, sizeof text, ONE("o: f32[w]", "%s"), ranges[i].formula);
        struct dfw_operations found = count(text);
        if (!found.known || found.flops[0] != (ranges[i].terms + 1) * W)
            fail_msg("%s: %g operations", ranges[i].formula, found.flops[0]);
    }
    /* A histogram takes one pass: a term is read, compared and added. */
    assert_counts(ONE("o: i32[256]", "o[l] = count(y in 0..h, x in 0..w if b[y, x] == l);"),
                  &(struct dfw_operations){ .integers = 3 * N, .bytes_read = N, .bytes_written = 4 * 256 });
    /* Two reductions, equal but for their ranges: the slots mean something else. */
    assert_counts(ONE("o: f32", "o = sum(j in 0..w: a[0, j]) + sum(j in 0..h: a[0, j]);"),
                  &(struct dfw_operations){ .flops = { W + H + 1 }, .integers = W + H, .bytes_read = 4 * (W + H),
                                            .bytes_written = 4 });
}

/* Addresses that depend on data: in a small table a read of a cache, else a random one. */
static void gathers(void **state)
{
    (void)state;
    assert_counts("kernel ts(out t: f32[k]) cost cpu 1us; kernel bs(out b: i32[h]) cost cpu 1us;\n"
                  "kernel f(in t: f32[k] border clamp, in b: i32[h], out o: f32[h]) { o[y] = t[b[y]]; }\n"
                  "graph main { t: f32[1048576] = ts(); b: i32[10] = bs(); o = f(t, b) @quiet; }",
                  &(struct dfw_operations){ .integers = H, .random_reads = H, .bytes_read = 4 * H, .bytes_written = 4 * H });
    assert_counts("kernel ts(out t: f32[k]) cost cpu 1us; kernel bs(out b: i32[h]) cost cpu 1us;\n"
                  "kernel f(in t: f32[k] border clamp, in b: i32[h], out o: f32[h]) { o[y] = t[b[y]]; }\n"
                  "graph main { t: f32[256] = ts(); b: i32[10] = bs(); o = f(t, b) @quiet; }",
                  &(struct dfw_operations){ .integers = 2 * H, .bytes_read = 8 * H, .bytes_written = 4 * H });
}

/* What a group of two kernels moves and launches, whose inner stream is read by the rows around, with this border of its columns. Both read one
 * input, with different borders. */
static void assert_group(const char *border, bool tiled)
{
    char text[1024];
    snprintf(text, sizeof text,
             "kernel src(out a: f32[h, w]) cost cpu 1us;\n"
             "kernel first(in a: f32[h, w] border clamp, out b: f32[h, w]) { b[y, x] = a[y - 1, x] + a[y + 1, x]; }\n"
             "kernel second(in b: f32[h, w] border clamp, %s, in a: f32[h, w] border mirror, out o: f32[h, w]) { o[y, x] = b[y - 1, x - 1] + a[y + 1, x]; }\n"
             "graph main { a: f32[10, 20] = src(); b = first(a); o = second(b, a) @quiet; }", border);
    struct dfc_front *front = compile(text);
    const struct df_graph *g = front->graph;
    unsigned found = 0;
    for (uint32_t w = 0; w < g->n_works; w++) {
        const struct dfw_operations *cpu = &front->operations[2 * w], *gpu = cpu + 1;
        if (strcmp(df_graph_string(g, g->kernels[g->works[w].kernel].name), "first+second") != 0)
            continue;
        found++;
        assert_true(cpu->known && cpu->flops[0] == 2 * N && cpu->bytes_read == 4 * N && cpu->bytes_written == 4 * N && cpu->launches == 0);
        assert_true(gpu->known && gpu->launches == (tiled ? 1 : 2));
        assert_true(gpu->bytes_written == (tiled ? 4 : 8) * N);
        /* Tiles of a few tens of rows compute the halo of b again, and read that of a again. */
        assert_true(tiled ? gpu->bytes_read > 4 * N && gpu->bytes_read < 5 * N : gpu->bytes_read == 8 * N);
        assert_true(tiled ? gpu->flops[0] > 2 * N && gpu->flops[0] < 2.3 * N : gpu->flops[0] == 2 * N);
    }
    assert_int_equal(found, 1);
    dfc_front_free(front);
}

/* Rows that strips keep are in a cache, and tiles on the chip; without tiles a GPU writes and reads the whole stream. */
static void groups(void **state)
{
    (void)state;
    assert_group("clamp", true);
    assert_group("wrap", false);
}

/* Ends of ranges that only a run knows cannot be counted. */
static void what_a_run_decides_is_not_counted(void **state)
{
    (void)state;
    struct dfw_operations o =
        count("arg m: i32 = 3;\n"
              "kernel src(out a: f32[k]) cost cpu 1us;\n"
              "kernel f(in a: f32[k] border clamp, out o: f32[k]) { o[x] = sum(j in 0..m: a[x + j]); }\n"
              "graph main { a: f32[8] = src(); o = f(a) @quiet; }");
    assert_false(o.known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointwise),
        cmocka_unit_test(stencils),
        cmocka_unit_test(reductions),
        cmocka_unit_test(gathers),
        cmocka_unit_test(groups),
        cmocka_unit_test(what_a_run_decides_is_not_counted),
    };
    return cmocka_run_group_tests_name("count", tests, NULL, NULL);
}
