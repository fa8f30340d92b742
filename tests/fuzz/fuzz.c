/* fuzz.c - what the fuzz targets share (fuzz.h). */
#include "fuzz.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/front/front.h"
#include "compiler/load/load.h"

#define MOST_FOR_GP 60u                 /* nodes */
#define MOST_FOR_HEFT 400u
#define MOST_WORDS (64u << 10)          /* bytes of all messages about one text */

_Noreturn void fuzz_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

unsigned char *fuzz_copy(const void *bytes, size_t size)
{
    void *copy;
    if (posix_memalign(&copy, 64, size + 1))
        fuzz_fail("no memory");
    if (size)
        memcpy(copy, bytes, size);
    ((unsigned char *)copy)[size] = 0;
    return copy;
}

void fuzz_words(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 0x7f)
            fuzz_fail("a message holds byte 0x%02x", (unsigned char)text[i]);
    if (size > MOST_WORDS)
        fuzz_fail("messages of %zu bytes", size);
}

/* ---- the front end ---- */

struct text {
    const char *path;
    const uint8_t *at;
    size_t size;
};

static const char library[] = "param n = 8; type row = f32[n];\n"
                              "kernel blur(in a: f32[k], out b: f32[k]) cost cpu 3 us gpu 1 us;\n"
                              "kernel show(in a: f32[k]) ordered cost cpu 1 us;\n";
static const char code[] = "void f(void) {}\n";

static bool read_fixed(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    const struct text *main = arg, files[] = { *main,
                                               { "lib.df", (const uint8_t *)library, strlen(library) },
                                               { "old.c", (const uint8_t *)code, strlen(code) },
                                               { "k.cu", (const uint8_t *)code, strlen(code) } };
    const size_t n = sizeof files / sizeof *files;
    size_t i = 0;
    while (i < n && strcmp(files[i].path, path) != 0)
        i++;
    *why = "no such file";
    if (i == n)
        return false;
    const struct text from = files[i];
    *text = malloc(from.size + 1);
    if (!*text)
        fuzz_fail("no memory");
    if (from.size)
        memcpy(*text, from.at, from.size);
    (*text)[from.size] = 0;
    *length = from.size;
    return true;
}

void fuzz_front_run(struct fuzz_front *f, const uint8_t *text, size_t size)
{
    struct text main = { "fuzz.df", text, size };
    const struct dfc_front_options options = { .path = main.path, .read = read_fixed, .read_arg = &main };
    size_t n_said;
    *f = (struct fuzz_front){ 0 };
    FILE *out = open_memstream(&f->said, &n_said);
    f->sink = out ? dfl_sink_new(out) : NULL;
    if (!f->sink)
        fuzz_fail("no memory");
    bool ok = dfc_front_run(f->sink, &options, &f->front);
    unsigned errors = dfl_sink_errors(f->sink);
    dfl_sink_summary(f->sink);
    if (fclose(out) != 0)
        fuzz_fail("no memory");
    if (ok != (errors == 0))
        fuzz_fail("the front end says %s with %u errors", ok ? "yes" : "no", errors);
    if (errors > 0 && n_said == 0)
        fuzz_fail("errors were counted and none was shown");
    fuzz_words(f->said, n_said);
}

void fuzz_front_free(struct fuzz_front *f)
{
    dfc_front_free(f->front);
    dfl_sink_free(f->sink);
    free(f->said);
}

/* ---- images ---- */

void fuzz_image_close(struct dfr_image *image)
{
    dfr_plan_free(image->plan);
    df_graph_free(image->graph);
}

unsigned char *fuzz_image(const struct dfr_image *image, size_t *size, struct dfr_image *opened)
{
    struct df_error error = { "" };
    struct dfr_image read;
    unsigned char *bytes, *again;
    size_t size_again;
    if (dfr_image_write(image, &bytes, size, &error) != DF_OK)
        fuzz_fail("no image can be written: %s", error.text);
    unsigned char *copy = fuzz_copy(bytes, *size);
    free(bytes);
    if (dfr_image_open(copy, *size, NULL, 0, &read, &error) != DF_OK)
        fuzz_fail("what was written is refused: %s", error.text);
    if (dfr_image_write(&read, &again, &size_again, &error) != DF_OK)
        fuzz_fail("what was read cannot be written: %s", error.text);
    if (size_again != *size || memcmp(copy, again, *size) != 0)
        fuzz_fail("an image reads back as something else");
    free(again);
    if (opened)
        *opened = read;
    else
        fuzz_image_close(&read);
    return copy;
}

/* ---- plans ---- */

void fuzz_times(const struct df_graph *graph, struct df_times *times)
{
    const struct dfw_known nothing = { 0 };
    struct df_error error = { "" };
    if (dfw_known_times(&nothing, graph, times, &error) != DF_OK)
        fuzz_fail("no times: %s", error.text);
}

static void check_plan(const struct dfp_problem *problem, struct df_plan *plan)
{
    size_t size;
    double bound_s = plan->lower_bound_s;
    if (!(plan->predicted_s >= 0 && isfinite(plan->predicted_s)))
        fuzz_fail("%s predicts %g s", plan->policy, plan->predicted_s);
    if (plan->predicted_s < bound_s * (1 - 1e-9))
        fuzz_fail("%s predicts %.17g s, which is less than the bound, %.17g s", plan->policy, plan->predicted_s,
                  bound_s);
    free(fuzz_image(&(struct dfr_image){ .graph = (struct df_graph *)problem->graph, .plan = plan,
                                         .default_waves = -1 },
                    &size, NULL));
}

void fuzz_plan(const struct df_graph *graph, const struct df_platform *given, const struct df_times *times)
{
    static const char *const policies[] = { "heft", "gp", "gp-thesis" };
    struct df_platform platform = *given;
    const struct dfp_problem problem = { graph, &platform, times, 0 };
    struct dfp_options options;
    if (!dfc_align_classes(&platform, graph))
        return;
    dfp_options_default(&options);
    options.budget = 100;
    options.inflight = 2;
    options.threads = 1;
    unsigned n = graph->n_nodes <= MOST_FOR_GP ? 3 : graph->n_nodes <= MOST_FOR_HEFT ? 1 : 0;
    for (unsigned i = 0; i < n; i++) {
        struct df_error error = { "" };
        struct df_plan *plan = NULL;
        int status = dfp_plan_make(&problem, policies[i], &options, &plan, &error);
        if (status == DF_OK)
            check_plan(&problem, plan);
        else if (status != DF_E_REFUSED || !error.text[0])
            fuzz_fail("%s makes no plan: status %d, %s", policies[i], status, error.text);
        dfr_plan_free(plan);
    }
}
