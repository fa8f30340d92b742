/* replan.c - builds the graph again for other sizes, in programs with dynamic params and in libraries, where libdf
 * calls it: runs the front end on the program's own sources, and estimates the times of its works.
 *
 * Times:    the measurements that the program carries (profiles/estimate/known.h) yield the times that dfc would find
 *           for these sizes. For a work without measurements, the time of the nearest work of the same kernel in the
 *           old graph is scaled by the ratio of job bytes, which is exact for kernels linear in their data. Otherwise
 *           the stated default applies.
 * Parts:    nodes are divided as dfc would divide them for the same sizes (compiler/divide/), for the machine and the
 *           waves of this run.
 */
#include "compiler/front/pack.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/divide/divide.h"
#include "profiles/estimate/roofline.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/engine/log.h"
#include "runtime/graph/image.h"

/* ---- the graph ---- */

static bool read_pack(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    const struct dfc_pack *pack = arg;
    for (size_t i = 0; i < pack->n_files; i++) {
        if (strcmp(pack->files[i].path, path) != 0)
            continue;
        *text = malloc(pack->files[i].length + 1);
        *why = "out of memory";
        if (*text)
            memcpy(*text, pack->files[i].text, pack->files[i].length + 1);
        *length = pack->files[i].length;
        return *text != NULL;
    }
    *why = "it is not among the program's sources";
    return false;
}

struct values {                         /* the values of the dynamic params, as -D for the front end */
    struct dfc_define *defines;
    char (*texts)[24];
    size_t n;
};

/* The definitions of the pack, and after them those of the dynamic params, so that these count. */
static bool make_defines(const struct dfc_pack *pack, const struct df_graph *old, const int64_t *values,
                         size_t n_values, struct values *made)
{
    made->n = pack->n_defines + n_values;
    made->defines = calloc(made->n + 1, sizeof *made->defines);
    made->texts = calloc(n_values + 1, sizeof *made->texts);
    if (!made->defines || !made->texts)
        return false;
    memcpy(made->defines, pack->defines, pack->n_defines * sizeof *made->defines);
    for (size_t i = 0; i < n_values; i++) {
        snprintf(made->texts[i], sizeof made->texts[i], "%" PRId64, values[i]);
        made->defines[pack->n_defines + i].name = df_graph_string(old, old->params[i].name);
        made->defines[pack->n_defines + i].value = made->texts[i];
    }
    return true;
}

/* The first error that the front end wrote, without what stands below it. */
static int first_error(const char *said, struct df_error *error)
{
    static const char mark[] = "error: ";
    const char *at = strstr(said, mark);
    if (!at)
        return dfr_error(error, DF_E_ARGUMENT, "the graph cannot be made for these sizes");
    const char *line = at;
    while (line > said && line[-1] != '\n')
        line--;
    return dfr_error(error, DF_E_ARGUMENT, "%.*s%.*s", (int)(at - line), line, (int)strcspn(at + strlen(mark), "\n"),
                     at + strlen(mark));
}

/* What graphs for certain sizes are made from. */
struct source {
    const struct dfr_image *image;
    const struct df_times *old_times;   /* of the image's graph; NULL: a library's, which has no nodes */
    const struct dfc_root *root;        /* NULL: main */
    struct dfc_pack pack;
    struct values values;
    struct dfw_known known;
};

/* Says which params have other values than the compiler gave them. */
static int report_sizes(const struct source *s, struct df_error *error)
{
    const struct df_graph *old = s->image->graph;
    char text[200] = "";
    for (size_t i = s->pack.n_defines, n = 0; i < s->values.n && n < sizeof text; i++)
        if (strtoll(s->values.defines[i].value, NULL, 10) != old->params[i - s->pack.n_defines].value)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s --%s=%s", n ? "" : ":", s->values.defines[i].name, s->values.defines[i].value);
    return dfr_error(error, DF_E_ARGUMENT, "the program cannot be made for these sizes%s", text);
}

/* Runs the front end, with these nodes divided. Its errors go to stderr; if there is a root, the first goes to *error. If nodes are
 * divided, nobody is told. */
static int run_front(struct source *s, const struct dfc_division *divisions, size_t n_divisions, struct dfc_front **front,
                     struct df_error *error)
{
    const struct dfc_root *root = s->root;
    const struct dfc_groups groups = { s->pack.groups, s->pack.n_groups };
    const struct dfc_front_options options = {
        .path = s->pack.files[0].path, .defines = s->values.defines, .n_defines = s->values.n, .read = read_pack,
        .read_arg = &s->pack, .import_dirs = s->pack.dirs, .n_import_dirs = s->pack.n_dirs,
        .own_dir = *s->pack.own_dir ? s->pack.own_dir : NULL, .root = root,
        .groups = &groups, .parts = s->pack.parts, .gpu_tile = s->pack.gpu_tile, .divisions = divisions, .n_divisions = n_divisions,
        .opencl_class = s->known.other ? s->known.other->cls : NULL,
    };
    char *said = NULL;
    size_t said_bytes;
    FILE *out = open_memstream(&said, &said_bytes);
    struct dfl_sink *sink = out ? dfl_sink_new(out) : NULL;
    if (!sink) {
        if (out)
            fclose(out);
        free(said);
        return dfr_error_memory(error);
    }
    dfl_sink_program(sink, dfr_program_name());
    dfl_sink_one_error(sink);           /* the source was right with other sizes, so the errors have one cause */
    bool ok = dfc_front_run(sink, &options, front);
    dfl_sink_summary(sink);
    dfl_sink_free(sink);
    int rc = ok ? DF_OK : report_sizes(s, error);
    if (fclose(out) == 0 && !ok && root) /* if it is right: only warnings, which dfc gave before */
        rc = first_error(said, error);
    else if (!ok && said && !n_divisions)
        fputs(said, stderr);
    free(said);
    return rc;
}

/* ---- times ---- */

struct known {                          /* a work of the old graph, for the search */
    uint32_t kernel, work;              /* kernel: of the new graph */
    uint64_t bytes;
};

static int compare_known(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->work < y->work ? -1 : x->work > y->work;
}

/* The ratio of two sizes, at least 1. */
static double distance(uint64_t a, uint64_t b)
{
    double x = (double)a + 1, y = (double)b + 1;
    return x > y ? x / y : y / x;
}

/* The old work of that kernel whose job is nearest in size. NULL: there is none. The list is sorted. */
static const struct known *nearest(const struct known *list, size_t n, uint32_t kernel, uint64_t bytes)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (list[mid].kernel < kernel || (list[mid].kernel == kernel && list[mid].bytes < bytes))
            low = mid + 1;
        else
            high = mid;
    }
    const struct known *above = low < n && list[low].kernel == kernel ? &list[low] : NULL;
    const struct known *below = low > 0 && list[low - 1].kernel == kernel ? &list[low - 1] : NULL;
    if (!above || !below)
        return above ? above : below;
    return distance(below->bytes, bytes) < distance(above->bytes, bytes) ? below : above;
}

/* Fills in times of works about which nothing better is known. Kernels and classes keep their numbers, because both
 * graphs come from the same declarations. */
static void scale_times(const struct df_graph *graph, const struct df_graph *old, const struct df_times *old_times,
                      const struct known *list, size_t n, struct df_times *times)
{
    for (uint32_t w = 0; w < graph->n_works; w++) {
        const struct df_work *work = &graph->works[w];
        const struct known *from = nearest(list, n, work->kernel, work->job_bytes);
        for (uint32_t c = 0; from && c < graph->n_classes && c < old_times->n_classes; c++) {
            size_t to = (size_t)c * graph->n_works + w, at = (size_t)c * old->n_works + from->work;
            double old_s = old_times->time_s[at];
            uint8_t source = old_times->source[at];
            bool better = times->source[to] != DF_TIME_NONE &&
                          (times->source[to] != DF_TIME_DEFAULT || source == DF_TIME_DEFAULT);
            if (isnan(old_s) || source == DF_TIME_NONE || source == DF_TIME_COST || better)
                continue;
            bool same = from->bytes == work->job_bytes;
            times->time_s[to] = same || !from->bytes ? old_s : old_s * ((double)work->job_bytes / (double)from->bytes);
            times->source[to] = same || source == DF_TIME_DEFAULT ? source : DF_TIME_ESTIMATED;
        }
    }
}

/* What is known of the works of the old graph, for those of the new one about which nothing is. */
static int use_old_times(const struct source *s, const struct df_graph *graph, struct df_times *times, struct df_error *error)
{
    const struct df_graph *g = s->image->graph;
    const size_t n = s->old_times->n_works == g->n_works ? g->n_works : 0;
    struct known *list = malloc((n + 1) * sizeof *list);
    if (!list)
        return dfr_error_memory(error);
    for (uint32_t w = 0; w < n; w++)
        list[w] = (struct known){ g->works[w].kernel, w, g->works[w].job_bytes };
    qsort(list, n, sizeof *list, compare_known);
    scale_times(graph, g, s->old_times, list, n, times);
    free(list);
    return DF_OK;
}

static int make_times(const struct source *s, const struct dfc_front *front, struct df_times *times, struct df_error *error)
{
    int rc = dfw_known_times(&s->known, front->graph, times, error);
    if (rc == DF_OK)
        rc = dfw_roofline_times(&s->known, front->graph, front->operations, times, error);
    if (rc == DF_OK && s->old_times)
        rc = use_old_times(s, front->graph, times, error);
    return rc;
}

/* ---- graphs ---- */

static void unmake(struct dfc_made *made)
{
    dfr_times_free(&made->times);
    dfc_front_free(made->front);
    *made = (struct dfc_made){ 0 };
}

static int make_graph(struct source *s, const struct dfc_division *divisions, size_t n_divisions, struct dfc_made *made, struct df_error *error)
{
    *made = (struct dfc_made){ 0 };
    int rc = run_front(s, divisions, n_divisions, &made->front, error);
    if (rc == DF_OK)
        rc = make_times(s, made->front, &made->times, error);
    if (rc != DF_OK)
        unmake(made);
    return rc;
}

static bool try_graph(void *source, const struct dfc_division *divisions, size_t n_divisions, struct dfc_made *made)
{
    struct df_error error;
    return make_graph(source, divisions, n_divisions, made, &error) == DF_OK;
}

static void say_divisions(const struct dfc_divide *d)
{
    for (size_t i = 0; i < d->n_divisions; i++) {
        char *line = NULL;
        size_t size;
        FILE *out = open_memstream(&line, &size);
        if (!out)
            return;
        dfc_division_print(out, "divided", &d->divisions[i]);
        dfc_division_print_gain(out, &d->divisions[i]);
        if (dfr_text_close(out, &line))
            dfr_say("%s", line);
        free(line);
    }
}

static void divide(struct source *s, const struct df_made_for *run, struct dfc_made *made)
{
    struct dfc_divide d = {
        .platform = run->platform, .make = try_graph, .unmake = unmake, .arg = s,
        .throughput = run->throughput || df_graph_has_streams(made->front->graph),
        .fixed = s->pack.parts > 0, .one_pass = run->one_pass, .waves = run->waves, .made = *made,
    };
    dfc_divide(&d);
    if (run->log_level >= DF_LOG_INFO)
        say_divisions(&d);
    *made = d.made;
    dfc_divide_free(&d);
}

/* Makes the graph for these values of the dynamic params and, if there is a root, the extents that it names. */
static int make_from(struct source *s, const int64_t *values, size_t n_values, const struct df_made_for *run, struct dfc_made *made,
                     struct df_error *error)
{
    int rc = dfc_pack_open(s->image->sources, s->image->source_bytes, &s->pack, error);
    if (rc != DF_OK)
        return rc;
    if (!make_defines(&s->pack, s->image->graph, values, n_values, &s->values))
        rc = dfr_error_memory(error);
    if (rc == DF_OK && s->image->known)
        rc = dfw_known_open(s->image->known, s->image->known_bytes, &s->known, error);
    if (rc == DF_OK)
        rc = make_graph(s, NULL, 0, made, error);
    if (rc == DF_OK && run)
        divide(s, run, made);
    dfw_known_free(&s->known);
    free(s->values.defines);
    free(s->values.texts);
    dfc_pack_close(&s->pack);
    return rc;
}

/* ---- a library's graph ---- */

/* Takes the graph and the ports over. */
static int take_function(struct dfc_front *front, struct dfr_function *f, struct df_error *error)
{
    f->graph = front->graph;
    front->graph = NULL;
    f->n_ports = front->n_ports;
    f->ports = calloc((size_t)front->n_ports + 1, sizeof *f->ports);
    for (uint32_t p = 0; f->ports && p < f->n_ports; p++) {
        f->ports[p] = front->ports[p];
        if (!(f->ports[p].node = strdup(front->ports[p].node)))
            return dfr_error_memory(error);
    }
    return f->ports ? DF_OK : dfr_error_memory(error);
}

/* ---- the hooks ---- */

static int make_function(const struct dfr_image *image, const char *graph, const uint64_t *dims, size_t n_dims, const int64_t *values,
                         size_t n_values, const struct df_made_for *run, struct dfr_function *function, struct df_error *error)
{
    const struct dfc_root root = { .graph = graph, .dims = dims, .n_dims = n_dims };
    struct source source = { .image = image, .root = &root };
    struct dfr_function taken = { 0 };
    struct dfc_made made = { 0 };
    int rc = make_from(&source, values, n_values, run, &made, error);
    if (rc == DF_OK)
        rc = take_function(made.front, &taken, error);
    if (rc == DF_OK) {
        taken.times = made.times;
        made.times = (struct df_times){ 0 };
        *function = taken;
    } else {
        dfr_function_free(&taken);
    }
    unmake(&made);
    return rc;
}

static int make(const struct dfr_image *old, const struct df_times *old_times, const int64_t *values, size_t n_values,
                const struct df_made_for *run, struct df_graph **graph, struct df_times *times, struct df_error *error)
{
    struct source source = { .image = old, .old_times = old_times };
    struct dfc_made made = { 0 };
    if (n_values != old->graph->n_params)
        return dfr_error(error, DF_E_ARGUMENT, "%zu values for %u dynamic params", n_values,
                         (unsigned)old->graph->n_params);
    int rc = make_from(&source, values, n_values, run, &made, error);
    if (rc != DF_OK)
        return rc;
    *graph = made.front->graph;
    *times = made.times;
    made.front->graph = NULL;
    made.times = (struct df_times){ 0 };
    unmake(&made);
    return DF_OK;
}

const struct df_replanner dfc_replanner = { make, make_function };
