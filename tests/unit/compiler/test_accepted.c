/* test_accepted.c - what the front end accepts, the program that is made of it accepts: numbers at the limits of every type
 * that a graph, a plan and an image keep, in every place of the language that takes a number. Each program is refused
 * with a message, or it keeps every promise of graph.h, has a plan, and comes out of an image as it went in.
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
#include "long.h"
#include "partition/partition.h"
#include "runtime/graph/image.h"

/* ---- numbers and places ---- */

static const char *const numbers[] = {
    "0", "1", "2", "3", "-1", "-2", "127", "128", "255", "256", "1024", "32767", "32768", "65535", "65536", "16777217",
    "2147483647", "2147483648", "4294967295", "4294967296", "1099511627776", "274877906944", "70368744177664",
    "4611686018427387904", "9223372036854775807", "9223372036854775808", "-2147483648", "-2147483649",
    "-9223372036854775807", "0.0", "0.5", "1.0", "1.5", "0.99999999999", "1.0e-7", "1.2e-38", "1.0e-40", "1.5e-45",
    "1.4e-45", "7.1e-46", "7.0e-46", "1.0e-46", "1.0e-300", "4.9e-324", "1.0e17", "9.9e17", "9.99999999999999999e17",
    "1.0e18", "3.4028234e38", "3.4028235e38", "3.4028236e38", "1.0e39", "1.0e300", "1.7e308",
};

#define KERNELS                                                              \
    "kernel src(out a: u8[k]) cost cpu 1us;\n"                               \
    "kernel f(in a: u8[k], out b: u8[k]) cost cpu 1us gpu 1us;\n"            \
    "kernel sink(in a: u8[k]) cost cpu 1us;\n"
#define MAIN KERNELS "graph main { a: u8[4] = src(); b = f(a); sink(b); }\n"
#define PLATFORM(properties) MAIN "platform p { cpu host { workers = 2; } gpu g { " properties " } }\n"
#define LINKS "h2d = 1 GB/s; d2h = 1 GB/s; "

/* Each "#" is one number. */
static const char *const places[] = {
    KERNELS "graph main { a: u8[4] = src(); b = f(a) @rate(#); sink(b); }\n",
    KERNELS "graph main { a: u8[4] = src(); b = f(a) @depth(#) @gpu; sink(b); }\n",
    KERNELS "kernel g(in a: u8[k], out b: u8[k]) cost cpu (# * 1s) gpu (# * 1ns) x (# * 1s + # * 1ns * k);\n"
            "graph main { a: u8[4] = src(); b = g(a); c = g(b) @x; sink(c); }\n",
    KERNELS "kernel g(in a: u8[k], out b: u8[k]) cost cpu (# * 1s * k);\n"
            "graph main { a: u8[#] = src(); b = g(a); sink(b); }\n",
    KERNELS "kernel g(in a: u8[k], out b: u8[k]) threads(#) cost cpu 1us;\n"
            "graph main { a: u8[4] = src(); b = g(a); sink(b); }\n",
    KERNELS "graph main { a: u8[#] = src(); b = f(a); c: u8[#] = src(); sink(b); sink(c); }\n",
    "kernel src(out a: f64[h, w]) cost cpu 1us;\n"
    "kernel g(in a: f64[h, w], tmp t: f32[h, #], out b: f64[w * #, h]) cost cpu 1us gpu 1us;\n"
    "graph main { a: f64[#, #] = src(); b = g(a); _ = g(b); }\n",
    "kernel src(out a: u8[k]) once cost cpu 1us; kernel g(inout a: u8[k]) cost cpu 1us gpu 1us;\n"
    "graph main { a: u8[#] = src(); b = g(a); c = g(a); _ = g(b); _ = g(c); }\n",
    KERNELS "kernel g(in a: u8[k]; i: i32, l: i64, x: f32, y: f64) cost cpu 1us;\n"
            "graph main { a: u8[4] = src(); g(a, #, #, #, #); }\n",
    "arg i: i32 = #; arg l: i64 = #; arg x: f32 = #; arg y: f64 = #;\n" MAIN,
    KERNELS "arg v: i64 = #; arg z: f32 = #; kernel g(in a: u8[k]; i: i32, y: f32) cost cpu 1us;\n"
            "graph main { a: u8[4] = src(); g(a, v + #, z * #); }\n",
    "param n = #; param m = # dynamic; param q = n * # + m;\n" KERNELS
    "graph main { a: u8[n] = src(); b: u8[m] = src(); c: u8[q] = src(); sink(a); sink(b); sink(c); }\n",
    KERNELS "kernel g(in a: u8[k], out b: u8[k]) tolerance(#, #) cost cpu 1us gpu 1us;\n"
            "graph main { a: u8[4] = src(); b = g(a); sink(b); }\n",
    "param n = #;" KERNELS "graph main { for i in n..n + 2 { for j in i..i + 2 { a[i * #, j]: u8[4] = src();"
            " sink(a[i * #, j]); } } }\n",
    "param n = #;" KERNELS "graph two(in a: u8[k]) { for i in n..n + 1 { b[i] = f(a); sink(b[i]); } }\n"
            "graph main { for i in n..n + 1 { a[i]: u8[4] = src(); two(a[i]); } }\n",
    PLATFORM(LINKS "memory = # B;"),
    PLATFORM(LINKS "memory = # GiB;"),
    PLATFORM("h2d = # B/s, # us, # B; d2h = # GB/s, # s, # GiB;"),
    PLATFORM(LINKS "peer = # B/s, # ns;"),
    PLATFORM(LINKS "launch = # us; jobs = #;"),
    PLATFORM(LINKS "engines = #; register = #;"),
    MAIN "platform p { cpu host { workers = #; memory = # KiB; } }\n",
};

enum { N_NUMBERS = sizeof numbers / sizeof *numbers, N_PLACES = sizeof places / sizeof *places };

/* ---- one program ---- */

static bool read_text(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    (void)path;
    (void)why;
    *text = strdup(arg);
    *length = strlen(arg);
    return *text != NULL;
}

/* The image, with or without a plan, must be read as it was written. */
static void check_image(const char *text, const struct df_graph *g, struct df_plan *plan)
{
    struct dfr_image image = { .graph = (struct df_graph *)(uintptr_t)g, .plan = plan, .default_waves = -1 }, again;
    unsigned char *bytes[2];
    size_t size[2];
    struct df_error error;
    if (dfr_image_write(&image, &bytes[0], &size[0], &error) != DF_OK)
        fail_msg("%s\nis accepted, but not written: %s", text, error.text);
    unsigned char *aligned = aligned_alloc(64, (size[0] + 63) / 64 * 64);
    assert_non_null(aligned);
    memcpy(aligned, bytes[0], size[0]);
    if (dfr_image_open(aligned, size[0], NULL, 0, &again, &error) != DF_OK)
        fail_msg("%s\nis accepted, but not by its program: %s", text, error.text);
    assert_int_equal(dfr_image_write(&again, &bytes[1], &size[1], &error), DF_OK);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    df_graph_free(again.graph);
    dfr_plan_free(again.plan);
    free(bytes[0]);
    free(bytes[1]);
    free(aligned);
}

static void check_plans(const char *text, const struct dfc_front *front)
{
    struct df_platform platform;
    struct df_times times;
    struct df_error error;
    df_platform_default(&platform, 1);
    assert_int_equal(dfr_times_default(front->graph, true, &times, &error), DF_OK);
    const struct dfp_problem problem = { front->graph, front->n_platforms ? &front->platforms[0] : &platform, &times, 0 };
    const struct dfp_options options = { .budget = 20 };
    static const char *const policies[] = { "heft", "gp" };
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct df_plan *plan = NULL;
        if (dfp_plan_make(&problem, policies[i], &options, &plan, &error) == DF_OK)
            check_image(text, front->graph, plan); /* if there is no plan, the program carries none */
        dfr_plan_free(plan);
    }
    dfr_times_free(&times);
}

/* Gives whether the program is accepted. */
static bool check_program(const char *text)
{
    const struct dfc_front_options options = { .path = "t.df", .read = read_text, .read_arg = (void *)(uintptr_t)text };
    char *said = NULL;
    size_t said_bytes;
    FILE *out = open_memstream(&said, &said_bytes);
    struct dfl_sink *sink = dfl_sink_new(out);
    struct dfc_front *front = NULL;
    struct df_error error;
    bool accepted = dfc_front_run(sink, &options, &front);
    fflush(out);
    if (accepted) {
        if (!df_graph_check(front->graph, &error))
            fail_msg("%s\nis accepted, but %s", text, error.text);
        check_image(text, front->graph, NULL);
        check_plans(text, front);
        dfc_front_free(front);
    } else if (strncmp(said, "t.df:", 5) != 0) { /* the first line of a message has its place */
        fail_msg("%s\nis refused without a place: %s", text, said);
    }
    dfl_sink_free(sink);
    fclose(out);
    free(said);
    return accepted;
}

/* ---- many programs ---- */

/* Writes a place's program; next() gives the text of each number. */
static void fill(const char *place, void (*next)(void *arg, char *number, size_t size), void *arg, char *text,
                 size_t size)
{
    size_t n = 0;
    for (; *place && n + 100 < size; place++)
        if (*place == '#') {
            next(arg, text + n, size - n);
            n += strlen(text + n);
        } else {
            text[n++] = *place;
        }
    text[n] = '\0';
}

struct draw {
    uint64_t state;
    size_t at, turn;                    /* the turn-th number of a program is numbers[at], the others are 1 */
    bool plain;                         /* no expressions: a platform takes numbers only */
};

static size_t draw(struct draw *d, size_t n)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(d->state >> 33) % n;
}

static void one_number(void *arg, char *number, size_t size)
{
    struct draw *d = arg;
    snprintf(number, size, "%s", d->turn-- == 0 ? numbers[d->at] : "1");
}

static void any_number(void *arg, char *number, size_t size)
{
    struct draw *d = arg;
    const char *a = numbers[draw(d, N_NUMBERS)], *b = numbers[draw(d, N_NUMBERS)];
    size_t form = draw(d, 6);
    if (form < 3 || d->plain)
        snprintf(number, size, "%s", form == 0 ? "1" : a + (d->plain && *a == '-'));
    else
        snprintf(number, size, "(%s %c %s)", a, form == 3 ? '*' : form == 4 ? '/' : '-', b);
}

/* Every number in every place, with 1 in the others. Each place accepts 1 and refuses something, so that it is one. */
static void test_each(void **state)
{
    char text[2000];
    (void)state;
    for (size_t p = 0; p < N_PLACES; p++) {
        unsigned n = 0, accepted = 0, turns = 0;
        for (const char *c = places[p]; *c; c++)
            turns += *c == '#';
        for (size_t turn = 0; turn < turns; turn++)
            for (size_t i = IN_LONG(0, (p + turn) % 2); i < N_NUMBERS; i += IN_LONG(1, 2), n++) {
                struct draw d = { .at = i, .turn = turn };
                fill(places[p], one_number, &d, text, sizeof text);
                accepted += check_program(text);
            }
        if (!accepted || accepted == n)
            fail_msg("%s\n%u of %u programs were accepted", places[p], accepted, n);
    }
}

static void test_together(void **state)
{
    struct draw d = { .state = 7 };
    char text[2000];
    (void)state;
    for (unsigned i = 0; i < IN_LONG(3000u, 1000u); i++) {
        size_t p = draw(&d, N_PLACES);
        d.plain = strstr(places[p], "platform") != NULL;
        fill(places[p], any_number, &d, text, sizeof text);
        check_program(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_each), cmocka_unit_test(test_together) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
