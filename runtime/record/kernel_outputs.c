/* kernel_outputs.c - the functions of df_io.h by which kernels, as those of std/, write files over several jobs, on any thread, and name them by wave; and, for
 * df_main() and its options, which files the sinks of std/ will write (outputs.h). */
#include "runtime/df_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/base/text.h"
#include "runtime/engine/engine.h"
#include "runtime/graph/scalars.h"
#include "runtime/io/state.h"
#include "runtime/record/recorded.h"

struct df_output {
    struct dfr_output to;
    struct dfr_recorded recorded;       /* its file, and the record that it is in, if there is one */
    struct df_run *run;                 /* NULL: a record says what becomes of the file */
};

/* Opens the file where this run wants it. */
static int open_file(struct df_call *call, struct df_output *o, int *begins, struct df_error *error)
{
    struct dfr_outputs *outputs = dfr_outputs_of(call);
    const char *path = o->recorded.file.path;
    *begins = 1;
    o->run = outputs ? NULL : call->run;
    if (dfr_output_claim(call, path, error) != DF_OK)
        return DF_FAILED;
    return outputs ? dfr_recorded_open(outputs, call, &o->to, &o->recorded, begins, error) : dfr_output_open(&o->to, path, error);
}

static int open_output(struct df_call *call, const char *path, bool appended, struct df_output **output, int *begins)
{
    struct df_error error = { "out of memory" };
    struct df_output *made = calloc(1, sizeof *made);
    char *own = made ? strdup(path) : NULL;
    if (own)
        made->recorded.file = (struct dfr_written){ .path = own, .appended = appended };
    if (!own || open_file(call, made, begins, &error) != DF_OK) {
        free(own);
        free(made);
        return df_fail(call, "%s", error.text);
    }
    *output = made;
    return DF_OK;
}

int df_output_open(struct df_call *call, const char *path, struct df_output **output)
{
    int begins;
    return open_output(call, path, false, output, &begins);
}

int df_output_append(struct df_call *call, const char *path, struct df_output **output, int *begins)
{
    return open_output(call, path, true, output, begins);
}

void df_output_head(struct df_output *output)
{
    output->recorded.file.head_bytes = ftello(output->to.file);
}

int64_t df_output_zeros(const struct df_output *output)
{
    return ftello(output->to.file) == output->recorded.file.head_bytes ? output->recorded.file.tokens : -1;
}

void df_output_restart(struct df_output *output)
{
    rewind(output->to.file);
    output->recorded.file.tokens = output->recorded.file.head_bytes = 0;
}

void df_output_leave(struct df_output *output)
{
    dfr_output_pause(&output->to);
}

FILE *df_output_resume(struct df_output *output)
{
    dfr_output_resume(&output->to);
    return output->to.file;
}

int df_output_pause(struct df_call *call, struct df_output *output)
{
    const int code = dfr_output_flush(output->to.file);
    dfr_output_pause(&output->to);
    if (code)
        return df_fail(call, "cannot write '%s': %s", output->to.path, strerror(code));
    output->recorded.file.tokens++;
    return output->recorded.outputs ? dfr_recorded_pause(&output->recorded, call, output->to.file) : DF_OK;
}

/* Says in the head of the file, if it is a .npy, how many tokens follow. A chunk has some of them only. */
static int count_tokens(struct df_output *o, struct df_error *error)
{
    return o->recorded.outputs && dfr_outputs_is_chunk(o->recorded.outputs) ? DF_OK : dfr_written_count(&o->recorded.file, o->to.file, error);
}

/* Adds a line. */
static int tell(char **lines, const char *path, struct df_error *error)
{
    char *more;
    if (asprintf(&more, "%s%s\n", *lines ? *lines : "", path) < 0)
        return dfr_error_memory(error);
    free(*lines);
    *lines = more;
    return DF_OK;
}

/* Of a run that ends early, what all waves write together is kept as a part, and what is no file for itself is removed. Both are told. */
static int close_left(struct df_output *o, struct dfr_early *early, struct df_error *error)
{
    const bool removes = o->to.temporary;
    char *part = NULL;
    int status;
    if (!o->recorded.file.appended || o->recorded.file.tokens == 0) {
        status = dfr_output_close(&o->to, false, error);
        return removes && status == DF_OK ? tell(&early->removed, o->recorded.file.path, error) : status;
    }
    status = count_tokens(o, error);
    if (status != DF_OK)
        dfr_output_close(&o->to, false, NULL);
    else
        status = dfr_output_close_part(&o->to, &part, error);
    if (status == DF_OK && part)
        status = tell(&early->parts, part, error);
    free(part);
    return status;
}

int df_output_close(struct df_output *output, int keep, struct df_error *error)
{
    if (!output)
        return DF_OK;
    struct dfr_recorded *recorded = &output->recorded;
    struct dfr_early *early = output->run ? output->run->options.early : NULL;
    int status = DF_OK;
    dfr_output_resume(&output->to);
    if (early && early->is_early && !keep) {
        status = close_left(output, early, error);
    } else {
        status = keep ? count_tokens(output, error) : DF_OK;
        keep = keep && status == DF_OK;
        int closed = recorded->outputs ? dfr_recorded_close(recorded, &output->to, keep, error) : dfr_output_close(&output->to, keep, error);
        status = status != DF_OK ? status : closed;
        if (early && keep && status == DF_OK && !recorded->file.appended)
            atomic_store_explicit(&early->wave_files, true, memory_order_relaxed);
    }
    free(recorded->file.path);
    free(output);
    return status;
}

int df_output_close_job(struct df_call *call, struct df_output *output, int keep)
{
    struct df_error error = { "" };
    return df_output_close(output, keep, &error) == DF_OK ? DF_OK : df_fail(call, "%s", error.text);
}

/* ---- names ---- */

/* The conversion at `at`, which is a '%': its length, and in *width its digits. 0: it is none. */
static size_t conversion(const char *at, int *width)
{
    char *end;
    long digits = at[1] >= '0' && at[1] <= '9' ? strtol(at + 1, &end, 10) : (end = (char *)at + 1, 0);
    if (*end != 'd' || digits > 20)
        return 0;
    *width = (int)digits;
    return (size_t)(end + 1 - at);
}

/* Prints the path. Gives how many numbers are in it; -1: a '%' means nothing. */
static int print_path(FILE *out, const char *pattern, int64_t wave)
{
    int numbers = 0, width = 0;
    for (const char *p = pattern; *p;) {
        size_t n = *p == '%' ? conversion(p, &width) : 0;
        if (n) {
            fprintf(out, "%0*lld", width, (long long)wave);
            numbers++;
            p += n;
        } else if (*p == '%' && p[1] != '%') {
            return -1;
        } else {
            fputc(*p, out);
            p += *p == '%' ? 2 : 1;
        }
    }
    return numbers;
}

/* ---- before the run ---- */

/* Returns the scalar `path` of a sink of std/, whose kernels are named write_…; NULL if the node is none, or if the path is empty. */
static const char *pattern_of(const struct df_graph *g, const union df_scalar *values, uint32_t v)
{
    const struct df_kernel *k = &g->kernels[g->nodes[v].kernel];
    if (df_node_n_out(g, v) > 0 || g->nodes[v].flags & DF_NODE_WORKER || strncmp(df_graph_string(g, k->name), "write_", 6) != 0)
        return NULL;
    for (uint32_t i = 0; i < k->n_scalars; i++) {
        const struct df_kscalar *s = &g->kscalars[k->first_scalar + i];
        const char *pattern = values[g->works[g->nodes[v].work].first_scalar + i].str;
        if (s->type == DF_S_STR && strcmp(df_graph_string(g, s->name), "path") == 0 && *pattern)
            return pattern;
    }
    return NULL;
}

/* Returns the path of a wave's file, malloc'ed. NULL: no memory, or a wrong %, which the kernel reports. */
static char *path_in(const char *pattern, int64_t wave)
{
    char *text = NULL;
    size_t size;
    FILE *out = pattern ? open_memstream(&text, &size) : NULL;
    const bool good = out && print_path(out, pattern, wave) >= 0;
    if (dfr_text_close(out, &text) && good)
        return text;
    free(text);
    return NULL;
}

/* Returns whether `path` is the file of some wave. If it is, one of the numbers in its name is the wave. */
static bool writes(const char *pattern, const char *path)
{
    const char *slash = strrchr(path, '/'), *at = slash ? slash + 1 : path;
    char *name = path_in(pattern, 0), *end;
    bool same = name && dfr_output_is(path, name);
    free(name);
    while (!same && pattern && df_path_has_wave(pattern) && *(at += strcspn(at, "0123456789"))) {
        name = path_in(pattern, strtoll(at, &end, 10));
        same = name && dfr_output_is(path, name);
        free(name);
        at = end;
    }
    return same;
}

int dfr_outputs_writer(const struct df_graph *g, const union df_scalar *args, const char *path, uint32_t *node, struct df_error *error)
{
    union df_scalar *values = NULL;
    int status = dfr_scalars_create(g, args, &values, error);
    *node = DF_NONE;
    for (uint32_t v = 0; status == DF_OK && v < g->n_nodes && *node == DF_NONE; v++)
        if (writes(pattern_of(g, values, v), path))
            *node = v;
    free(values);
    return status;
}

static bool folder_is_there(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash)
        return true;
    *slash = '\0';
    const bool there = access(slash == path ? "/" : path, F_OK) == 0;
    *slash = '/';
    return there;
}

int dfr_outputs_check(const struct df_graph *g, const union df_scalar *args, char **missing, struct df_error *error)
{
    union df_scalar *values = NULL;
    struct df_error why;
    char name[256];
    int status = dfr_scalars_create(g, args, &values, error);
    *missing = NULL;
    for (uint32_t v = 0; status == DF_OK && v < g->n_nodes; v++) {
        char *path = path_in(pattern_of(g, values, v), 0);
        if (path && !folder_is_there(path)) {
            if (df_node_is_final(g, v) && !*missing) {
                *missing = path;
                path = NULL;
            }
        } else if (path && dfr_output_check(path, &why) != DF_OK) {
            df_node_name(g, v, name, sizeof name);
            status = dfr_error(error, DF_E_IO, "node '%s' %s", name, why.text);
        }
        free(path);
    }
    if (status != DF_OK) {
        free(*missing);
        *missing = NULL;
    }
    free(values);
    return status;
}

int df_path_has_wave(const char *pattern)
{
    int width;
    for (const char *p = pattern; (p = strchr(p, '%')); p += p[1] == '%' ? 2 : 1)
        if (conversion(p, &width))
            return 1;
    return 0;
}

int df_output_path(struct df_call *call, const char *pattern, int written, char **path)
{
    int64_t wave = df_wave(call);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int numbers = out ? print_path(out, pattern, wave) : 0;
    if (!dfr_text_close(out, &text))
        df_fail(call, "out of memory");
    else if (numbers < 0)
        df_fail(call, "'%s': after a %% stands d, as in %%d or %%04d for the wave's number, or a second %%", pattern);
    else if (numbers == 0 && written)
        df_fail(call, "'%s' is written already: with %%d in the name, each wave has a file of its own", text);
    else {
        *path = text;
        return DF_OK;
    }
    free(text);
    return DF_FAILED;
}

int df_wave_path(struct df_call *call, const char *pattern, char **path)
{
    const int final = df_node_is_final(call->run->graph, dfr_job_node(call->job));
    return df_output_path(call, pattern, df_wave(call) > 0 && !final, path);
}
