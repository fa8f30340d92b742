/* test_known.c - what a program with dynamic params knows of its kernels' times: started with another value it gives
 * every work the time that dfc finds for that size; its bytes come back as they went, and broken ones are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/front/sources.h"
#include "profiles/profiles.h"
#include "runtime/graph/image.h"
#include "db_rig.h"
#include "temp_folder.h"

/* ---- a graph of kernels that are known in different ways ---- */

#define TEXT                                                                                                     \
    "param n = 8 dynamic; arg seed: i32 = 3;\n"                                                                  \
    "kernel src(out a: f32[k]; seed: i32) cpu \"k.c\";\n"                                                        \
    "kernel both(in a: f32[k], out b: f32[k, k]) cpu \"k.c\" gpu \"k.cu\";\n"                                    \
    "kernel most(in a: f32[k, m], out b: f32[m]) cpu \"k.c\" gpu \"k.cu\";\n"                                    \
    "kernel once(inout a: f32[k]) cpu \"k.c\" gpu \"k.cu\";\n"                                                   \
    "kernel never(inout a: f32[k]) cpu \"k.c\";\n"                                                               \
    "kernel priced(in a: f32[k]) cost cpu (2ns * k * k) gpu 1us;\n"                                              \
    "graph main { a: f32[n] = src(seed); b = both(a); c = most(b); d = once(c); e = never(d); priced(e); }\n"

static bool read_text(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    (void)arg, (void)path;
    *why = "out of memory";
    *text = strdup(TEXT);
    *length = strlen(TEXT);
    return *text != NULL;
}

/* n: the value of the dynamic param; NULL: its default. */
static struct dfc_front *make_front(struct dfl_sink *sink, const char *n)
{
    const struct dfc_define define = { "n", n };
    const struct dfc_front_options options = { .path = "t.df", .defines = &define, .n_defines = n != NULL,
                                               .read = read_text };
    struct dfc_front *front;
    assert_true(dfc_front_run(sink, &options, &front));
    return front;
}

/* ---- a database ---- */

static void store(struct dfw_db *db, const struct df_graph *g, uint32_t work, uint32_t cls, const char *device,
                  double mean_s)
{
    struct dfw_key key = { .device = cls ? device : "cpu", .variant = cls ? "gpu" : "cpu" };
    const struct dfr_sample sample = { .mean_s = mean_s, .ci_s = 0.01 * mean_s, .runs = 5 };
    assert_int_equal(dfr_work_key_make(g, work, cls, cls && !strcmp(device, DFW_EMULATOR), &key.work, NULL), DF_OK);
    assert_int_equal(dfw_sample_store(db, &key, &sample, NULL), DF_OK);
    dfr_work_key_free(&key.work);
}

/* Samples at that size. "both" grows by a law and is uneven, "most" is known on the GPU at every other size, "once" at
 * a single one, "never" nowhere. */
static void measure(struct dfw_db *db, struct dfl_sink *sink, unsigned n, bool odd, const char *device)
{
    char text[16];
    snprintf(text, sizeof text, "%u", n);
    struct dfc_front *front = make_front(sink, text);
    const struct df_graph *g = front->graph;
    double uneven = 1 + 0.2 * sin(n);
    for (uint32_t w = 0; w < g->n_works; w++) {
        const char *kernel = df_graph_string(g, g->kernels[g->works[w].kernel].name);
        if (!strcmp(kernel, "src")) {
            store(db, g, w, 0, device, 1e-6 * n);
        } else if (!strcmp(kernel, "both")) {
            store(db, g, w, 0, device, 1e-9 * pow(n, 2.5) * uneven);
            store(db, g, w, 1, device, 1e-6 + 1e-10 * pow(n, 2.4));
        } else if (!strcmp(kernel, "most")) {
            store(db, g, w, 0, device, 3e-9 * n * n * uneven);
            if (odd)
                store(db, g, w, 1, device, 4e-10 * n * n * uneven);
        } else if (!strcmp(kernel, "once") && n == 8) {
            store(db, g, w, 0, device, 5e-6);
        }
    }
    dfc_front_free(front);
}

static struct dfw_db *measure_all(struct dfl_sink *sink, const char *device)
{
    static const unsigned sizes[] = { 8, 16, 20, 32, 64, 100, 128, 200, 256, 400, 512 };
    struct dfw_db *db;
    assert_int_equal(dfw_db_open(temp_file, true, &db, NULL), DF_OK);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        measure(db, sink, sizes[i], i % 2 == 0, device);
    return db;
}

/* ---- the same as dfc says ---- */

/* What the program of graph n = 8 says of that size, from its bytes alone. */
static void times_at_start(struct dfl_sink *sink, struct dfw_db *db, const char *device, int64_t n,
                           struct df_graph **graph, struct df_times *times)
{
    struct dfc_front *front = make_front(sink, NULL);
    struct dfw_known known;
    struct df_times old;
    unsigned char *sources, *bytes;
    struct df_error error = { "" };
    assert_int_equal(dfw_known_load(db, front->graph, device, false, &known, &error), DF_OK);
    assert_int_equal(dfw_known_times(&known, front->graph, &old, &error), DF_OK);
    struct dfr_image image = { .graph = front->graph };
    assert_int_equal(dfw_known_pack(&known, &bytes, &image.known_bytes, &error), DF_OK);
    assert_true(dfc_sources_pack(front, NULL, 0, &sources, &image.source_bytes));
    image.sources = sources;
    image.known = bytes;
    if (dfc_replanner.make(&image, &old, &n, 1, NULL, graph, times, &error) != DF_OK)
        fail_msg("%s", error.text);
    dfr_times_free(&old);
    dfw_known_free(&known);
    free(sources);
    free(bytes);
    dfc_front_free(front);
}

static unsigned compare(const struct df_graph *g, const struct df_times *a, const struct df_times *b)
{
    unsigned seen = 0;
    assert_int_equal(a->n_works, b->n_works);
    assert_int_equal(a->n_classes, b->n_classes);
    for (size_t i = 0; i < (size_t)a->n_works * a->n_classes; i++) {
        const char *kernel = df_graph_string(g, g->kernels[g->works[i % a->n_works].kernel].name);
        if (a->source[i] != b->source[i] || (a->time_s[i] != b->time_s[i] && !isnan(a->time_s[i] + b->time_s[i])))
            fail_msg("%s: %.17g s (%d) at start, %.17g s (%d) by dfc", kernel, a->time_s[i], a->source[i],
                     b->time_s[i], b->source[i]);
        seen |= 1u << a->source[i];
    }
    return seen;
}

static void a_program_says_what_dfc_says(void **state)
{
    static const char *const devices[] = { "Some GPU", DFW_EMULATOR };
    static const char *const sizes[] = { "1", "8", "9", "20", "77", "300", "512", "4000" };
    (void)state;
    struct dfl_sink *sink = dfl_sink_new(stderr);
    for (unsigned d = 0; d < 2; d++) {
        struct dfw_db *db = measure_all(sink, devices[d]);
        unsigned seen = 0;
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct df_graph *graph;
            struct df_times times, want;
            times_at_start(sink, db, devices[d], atoi(sizes[i]), &graph, &times);
            struct dfc_front *front = make_front(sink, sizes[i]);
            assert_int_equal(times_from_db(db, front->graph, devices[d], &want), DF_OK);
            seen |= compare(graph, &times, &want);
            dfr_times_free(&times);
            dfr_times_free(&want);
            df_graph_free(graph);
            dfc_front_free(front);
        }
        assert_int_equal(seen, 1 << DF_TIME_NONE | 1 << DF_TIME_COST | 1 << DF_TIME_MEASURED |
                                   1 << DF_TIME_ESTIMATED | 1 << DF_TIME_DEFAULT);
        dfw_db_close(db);
    }
    dfl_sink_free(sink);
}

/* Not linear in its data: at 4000 scaling by bytes from 8 would say a hundred times too little. */
static void a_law_is_followed(void **state)
{
    (void)state;
    struct dfl_sink *sink = dfl_sink_new(stderr);
    struct dfw_db *db = measure_all(sink, "Some GPU");
    struct df_graph *graph;
    struct df_times times;
    times_at_start(sink, db, "Some GPU", 4000, &graph, &times);
    uint32_t both = DF_NONE, priced = DF_NONE;
    for (uint32_t w = 0; w < graph->n_works; w++) {
        const char *kernel = df_graph_string(graph, graph->kernels[graph->works[w].kernel].name);
        both = !strcmp(kernel, "both") ? w : both;
        priced = !strcmp(kernel, "priced") ? w : priced;
    }
    double ratio = times.time_s[both] / (1e-9 * pow(4000, 2.5));
    assert_true(ratio > 0.6 && ratio < 1.6);
    assert_true(fabs(times.time_s[priced] - 32e-3) < 1e-12); /* its cost clause at the new size */
    dfr_times_free(&times);
    df_graph_free(graph);
    dfw_db_close(db);
    dfl_sink_free(sink);
}

/* ---- the bytes ---- */

static struct dfw_known make_known(void)
{
    struct dfw_known known = { .emulated = true, .n_kernels = 2, .kernels = calloc(2, sizeof *known.kernels) };
    static const struct {
        unsigned kernel, cls;
        const char *dims, *scalars;
        double mean_s;
    } points[] = { { 0, 0, "k=1", "", 1e-3 }, { 0, 0, "k=2", "s=\"a b\"", 2e-3 }, { 0, 1, "k=1", "", 0 },
                   { 1, 1, "", "", 1e-300 } };
    known.kernels[0].kernel = strdup("first");
    known.kernels[1].kernel = strdup("second");
    for (unsigned i = 0; i < sizeof points / sizeof *points; i++) {
        struct dfw_points *p = &known.kernels[points[i].kernel].of[points[i].cls];
        p->at = realloc(p->at, (p->n + 1) * sizeof *p->at);
        p->at[p->n++] = (struct dfw_point){ strdup(points[i].dims), strdup(points[i].scalars), 40 + i,
                                            points[i].mean_s, { 0, 0 }, { { 0 } } };
    }
    return known;
}

static void demands_go_with_the_bytes(void **state)
{
    (void)state;
    struct dfw_known known = make_known(), back;
    unsigned char *bytes, *without;
    size_t size, size_without;
    assert_int_equal(dfw_known_pack(&known, &without, &size_without, NULL), DF_OK);
    known.kernels[0].of[0].at[1].demand = (struct df_demand){ 5e9, 0.75 };
    assert_int_equal(dfw_known_pack(&known, &bytes, &size, NULL), DF_OK);
    assert_int_equal(size, size_without + 4 * 16);
    assert_int_equal(dfw_known_open(bytes, size, &back, NULL), DF_OK);
    assert_true(back.kernels[0].of[0].at[1].demand.bytes_per_s == 5e9);
    assert_true(back.kernels[0].of[0].at[1].demand.sensitivity == 0.75);
    assert_true(back.kernels[1].of[1].at[0].demand.sensitivity == 0);
    dfw_known_free(&back);
    free(bytes);
    known.kernels[0].of[0].at[1].demand.sensitivity = 1.5;
    assert_int_equal(dfw_known_pack(&known, &bytes, &size, NULL), DF_OK);
    assert_int_equal(dfw_known_open(bytes, size, &back, NULL), DF_E_FORMAT);
    free(bytes);
    free(without);
    dfw_known_free(&known);
}

static void another_class_goes_with_the_bytes(void **state)
{
    (void)state;
    struct dfw_known known = make_known(), back;
    unsigned char *bytes;
    size_t size;
    known.other = calloc(1, sizeof *known.other);
    *known.other = make_known();
    strcpy(known.other->cls, "mic");
    known.other->emulated = false;
    known.other->kernels[1].of[1].at[0].mean_s = 7;
    assert_int_equal(dfw_known_pack(&known, &bytes, &size, NULL), DF_OK);
    assert_int_equal(dfw_known_open(bytes, size, &back, NULL), DF_OK);
    assert_true(back.emulated && !back.cls[0] && back.kernels[1].of[1].at[0].mean_s == 1e-300);
    assert_true(!back.other->emulated && !back.other->other && back.other->kernels[1].of[1].at[0].mean_s == 7);
    assert_string_equal(back.other->cls, "mic");
    dfw_known_free(&back);
    for (size_t n = 0; n < size; n++)
        assert_int_equal(dfw_known_open(bytes, n, &back, NULL), DF_E_FORMAT);
    free(bytes);
    known.other->other = calloc(1, sizeof *known.other->other); /* a third device is in no pack */
    *known.other->other = make_known();
    strcpy(known.other->other->cls, "tpu");
    assert_int_equal(dfw_known_pack(&known, &bytes, &size, NULL), DF_OK);
    assert_int_equal(dfw_known_open(bytes, size, &back, NULL), DF_E_FORMAT);
    free(bytes);
    dfw_known_free(&known);
}

static void bytes_there_and_back(void **state)
{
    (void)state;
    struct dfw_known known = make_known(), back;
    unsigned char *bytes, *again;
    size_t size, size_again;
    assert_int_equal(dfw_known_pack(&known, &bytes, &size, NULL), DF_OK);
    assert_int_equal(dfw_known_open(bytes, size, &back, NULL), DF_OK);
    assert_true(back.emulated && !back.emu_all);
    assert_int_equal(back.n_kernels, 2);
    assert_string_equal(back.kernels[0].of[0].at[1].scalars, "s=\"a b\"");
    assert_true(back.kernels[1].of[1].at[0].mean_s == 1e-300);
    assert_int_equal(dfw_known_pack(&back, &again, &size_again, NULL), DF_OK);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, again, size);
    dfw_known_free(&known);
    dfw_known_free(&back);
    free(bytes);
    free(again);
}

static bool opens(const unsigned char *bytes, size_t size)
{
    struct dfw_known known = { .n_kernels = 99 };
    struct df_error error = { "" };
    int status = dfw_known_open(bytes, size, &known, &error);
    if (status == DF_OK) {
        dfw_known_free(&known);
        return true;
    }
    assert_int_equal(status, DF_E_FORMAT);
    assert_string_equal(error.text, "the program's measured times cannot be read");
    assert_int_equal(known.n_kernels, 99); /* untouched */
    return false;
}

static void broken_bytes_are_refused(void **state)
{
    static const unsigned char flips[] = { 0x01, 0x80, 0xff };
    static const double no_times[] = { -1, NAN, INFINITY, DF_LIMIT_JOB_S };
    (void)state;
    struct dfw_known known = make_known();
    unsigned char *bytes;
    size_t size;
    unsigned refused = 0;
    assert_int_equal(dfw_known_pack(&known, &bytes, &size, NULL), DF_OK);
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *copy = malloc(cut + 1); /* of this size, so that a sanitizer sees what is read beyond */
        memcpy(copy, bytes, cut);
        assert_false(opens(copy, cut));
        free(copy);
    }
    for (size_t i = 0; i < size; i++)
        for (unsigned f = 0; f < sizeof flips; f++) {
            bytes[i] ^= flips[f];
            refused += !opens(bytes, size);
            bytes[i] ^= flips[f];
        }
    assert_true(refused > size);
    assert_true(opens(bytes, size));
    for (unsigned i = 0; i < sizeof no_times / sizeof *no_times; i++) {
        known.kernels[0].of[0].at[1].mean_s = no_times[i];
        free(bytes);
        assert_int_equal(dfw_known_pack(&known, &bytes, &size, NULL), DF_OK);
        assert_false(opens(bytes, size));
    }
    dfw_known_free(&known);
    free(bytes);
}

/* Times that grow by 10^12 with each doubling of the size would take 10^60 s at n = 512. */
static void an_estimate_is_a_time(void **state)
{
    static char name[] = "src", seed[] = "seed=3", dims[3][8] = { "k=16", "k=32", "k=8" };
    struct dfw_point points[] = { { .dims = dims[0], .scalars = seed, .job_bytes = 64, .mean_s = 1 },
                                  { .dims = dims[1], .scalars = seed, .job_bytes = 128, .mean_s = 1e12 },
                                  { .dims = dims[2], .scalars = seed, .job_bytes = 32, .mean_s = 1e-12 } };
    struct dfw_kernel_points kernel = { name, { { 3, points } } };
    const struct dfw_known known = { .n_kernels = 1, .kernels = &kernel };
    (void)state;
    for (int far = 0; far < 2; far++) {
        struct dfl_sink *sink = dfl_sink_new(stderr);
        struct dfc_front *front = make_front(sink, far ? "512" : "24");
        const struct df_graph *g = front->graph;
        struct df_times times;
        assert_string_equal(df_graph_string(g, g->kernels[g->works[0].kernel].name), "src");
        assert_int_equal(dfw_known_times(&known, g, &times, NULL), DF_OK);
        assert_int_equal(times.source[0], far ? DF_TIME_DEFAULT : DF_TIME_ESTIMATED);
        assert_true(times.time_s[0] > 0 && times.time_s[0] < DF_LIMIT_JOB_S);
        dfr_times_free(&times);
        dfc_front_free(front);
        dfl_sink_free(sink);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_program_says_what_dfc_says, temp_folder_make, temp_folder_remove),
        cmocka_unit_test_setup_teardown(a_law_is_followed, temp_folder_make, temp_folder_remove),
        cmocka_unit_test(an_estimate_is_a_time),
        cmocka_unit_test(another_class_goes_with_the_bytes),
        cmocka_unit_test(bytes_there_and_back),
        cmocka_unit_test(demands_go_with_the_bytes),
        cmocka_unit_test(broken_bytes_are_refused),
    };
    return cmocka_run_group_tests_name("known", tests, NULL, NULL);
}
