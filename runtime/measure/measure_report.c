/* measure_report.c - the text protocol between a measuring program and `dfc profile` (measure.h), and the entry of the
 * measuring mode: df_main() calls dfr_measure(), and the other files of this room report to dfc here. `dfc profile`
 * prints the same keys. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/measure/measure_impl.h"

struct dfr_measure_report {
    FILE *out;
    uint32_t done;
    char *text;                         /* of the known keys */
    char **known;                       /* the lines of that text, sorted */
    size_t n_known;
};

void dfr_measure_print_key(FILE *out, const char *device, const char *variant, const struct dfr_work_key *key)
{
    fprintf(out, "%s\t%s\t%s\t%s\t%s\t%016" PRIx64 "\t%" PRIu64, device, variant, key->kernel, key->dims, key->scalars,
            key->hash, key->job_bytes);
}

/* ---- known keys ---- */

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *read_all(FILE *file)
{
    size_t size = 0, n;
    char *text = NULL, block[4096];
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return NULL;
    while ((n = fread(block, 1, sizeof block, file)) > 0)
        fwrite(block, 1, n, memory);
    return dfr_text_close(memory, &text);
}

static bool split_lines(struct dfr_measure_report *r)
{
    size_t n = 0;
    for (const char *p = r->text; *p; p++)
        n += *p == '\n';
    r->known = malloc((n + 1) * sizeof *r->known);
    if (!r->known)
        return false;
    char *line = r->text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        r->known[r->n_known++] = line;
    }
    qsort(r->known, r->n_known, sizeof *r->known, compare_lines);
    return true;
}

int dfr_measure_report_new(FILE *out, FILE *known, struct dfr_measure_report **report, struct df_error *error)
{
    struct dfr_measure_report *r = calloc(1, sizeof *r);
    if (!r)
        return dfr_error_memory(error);
    r->out = out;
    if (known && (!(r->text = read_all(known)) || !split_lines(r))) {
        dfr_measure_report_free(r);
        return dfr_error_memory(error);
    }
    *report = r;
    return DF_OK;
}

void dfr_measure_report_free(struct dfr_measure_report *r)
{
    if (!r)
        return;
    free(r->known);
    free(r->text);
    free(r);
}

/* ---- lines ---- */

static int key_text(struct dfr_measure *m, uint32_t work, uint32_t cls, const char *behind, char **text,
                    struct df_error *error)
{
    struct dfr_work_key key;
    size_t size;
    bool gpu = cls == DF_CLASS_GPU;
    int status = dfr_work_key_make(m->graph, work, cls, gpu && m->emulated, &key, error);
    if (status != DF_OK)
        return status;
    FILE *memory = open_memstream(text, &size);
    if (memory) {
        dfr_measure_print_key(memory, gpu ? dfr_measure_gpu_name(m) : "cpu", gpu ? "gpu" : "cpu", &key);
        fputs(behind, memory);
    }
    dfr_work_key_free(&key);
    if (!memory || fclose(memory) != 0)
        return dfr_error_memory(error);
    return DF_OK;
}

int dfr_measure_report_known(struct dfr_measure *m, uint32_t work, uint32_t cls, bool loaded, bool *known,
                             struct df_error *error)
{
    struct dfr_measure_report *r = m->report;
    char *text;
    *known = false;
    if (r->n_known == 0)
        return DF_OK;
    int status = key_text(m, work, cls, loaded ? "\tloaded" : "", &text, error);
    if (status != DF_OK)
        return status;
    *known = bsearch(&text, r->known, r->n_known, sizeof *r->known, compare_lines) != NULL;
    free(text);
    return DF_OK;
}

/* Each line leaves this process at once: the next kernel may crash it. */
static int flush(struct dfr_measure_report *r, struct df_error *error)
{
    if (fflush(r->out) != 0 || ferror(r->out))
        return dfr_error(error, DF_E_IO, "cannot write what was measured: %s", strerror(errno));
    return DF_OK;
}

int dfr_measure_report_begin(struct dfr_measure *m, uint32_t total, uint32_t known, struct df_error *error)
{
    fprintf(m->report->out, "begin\t%" PRIu32 "\t%" PRIu32 "\n", total, known);
    return flush(m->report, error);
}

int dfr_measure_report_try(struct dfr_measure *m, uint32_t work, uint32_t cls, struct df_error *error)
{
    char *text;
    int status = key_text(m, work, cls, "", &text, error);
    if (status != DF_OK)
        return status;
    fprintf(m->report->out, "try\t%s\n", text);
    free(text);
    return flush(m->report, error);
}

int dfr_measure_report_sample(struct dfr_measure *m, uint32_t work, uint32_t cls, const struct dfr_sample *sample,
                              struct df_error *error)
{
    struct dfr_measure_report *r = m->report;
    char *text;
    int status = key_text(m, work, cls, "", &text, error);
    if (status != DF_OK)
        return status;
    fprintf(r->out, "sample\t%s\t%.17g\t%.17g\t%" PRIu32 "\t%" PRIu32 "\t", text,
            fmax(sample->mean_s, DFR_LEAST_TIME_S), sample->ci_s, sample->runs, sample->dropped);
    for (unsigned i = 0; i < DFR_QUANTILES; i++)
        fprintf(r->out, "%s%.5g", i ? " " : "", (double)sample->quantile[i]);
    fprintf(r->out, "\t%" PRIu32 "\n", ++r->done);
    free(text);
    return flush(r, error);
}

int dfr_measure_report_load(struct dfr_measure *m, const struct dfr_load *load, struct df_error *error)
{
    fprintf(m->report->out, "loaded\t%" PRIu32 "\t%.17g\t%.17g\t%.17g\t%.17g\n", load->workers, load->self_s,
            load->triad_s, load->one_bytes_per_s, load->all_bytes_per_s);
    return flush(m->report, error);
}

int dfr_measure_report_unloaded(struct dfr_measure *m, uint32_t work, uint32_t cls, const char *reason,
                                struct df_error *error)
{
    char *text;
    int status = key_text(m, work, cls, "", &text, error);
    if (status != DF_OK)
        return status;
    fprintf(m->report->out, "unloaded\t%s\t%s\n", text, reason);
    free(text);
    return flush(m->report, error);
}

int dfr_measure_report_skip(struct dfr_measure *m, uint32_t work, uint32_t cls, const char *reason,
                            struct df_error *error)
{
    struct dfr_measure_report *r = m->report;
    char *text;
    int status = key_text(m, work, cls, "", &text, error);
    if (status != DF_OK)
        return status;
    fprintf(r->out, "skip\t%s\t%s\t%" PRIu32 "\n", text, reason, ++r->done);
    free(text);
    return flush(r, error);
}

int dfr_measure_report_late(struct dfr_measure *m, struct df_error *error)
{
    char name[256];

    df_node_name(m->graph, m->calling->node, name, sizeof name);
    fprintf(m->report->out, "late\t%" PRIu32 "\t%s\t%s\t%lld\t%.17g\n", m->graph->nodes[m->calling->node].kernel,
            m->calling_class == DF_CLASS_GPU ? "gpu" : "cpu", name, (long long)m->calling->wave,
            m->run.options.watchdog_s);
    return flush(m->report, error);
}

int dfr_measure_report_end(struct dfr_measure *m, struct df_error *error)
{
    fputs("end\n", m->report->out);
    return flush(m->report, error);
}

/* ---- the environment ---- */

bool dfr_measure_asked(void)
{
    const char *text = getenv(DFR_MEASURE_VARIABLE);
    return text && *text;
}

/* The number behind " name=" in the variable's text; `fallback` if the name is not there. */
static double setting(const char *text, const char *name, double fallback)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p += n) {
        if ((p == text || p[-1] == ' ') && p[n] == '=')
            return strtod(p + n + 1, NULL);
    }
    return fallback;
}

static FILE *open_descriptor(const char *text, const char *name, const char *mode)
{
    int fd = (int)setting(text, name, -1);
    return fd > STDERR_FILENO ? fdopen(fd, mode) : NULL;
}

int dfr_measure(const struct df_graph *graph, const struct df_options *options, struct df_error *error)
{
    const char *text = getenv(DFR_MEASURE_VARIABLE);
    struct dfr_sampler_options sampler = DFR_SAMPLER_DEFAULT;
    sampler.goal = setting(text, "goal", sampler.goal);
    sampler.max_runs = (uint32_t)setting(text, "max_runs", sampler.max_runs);
    sampler.max_s = setting(text, "max_s", sampler.max_s);
    if (sampler.min_runs > sampler.max_runs)
        sampler.min_runs = sampler.max_runs;
    FILE *out = open_descriptor(text, "out", "w");
    if (!out)
        return dfr_error(error, DF_E_IO,
                         DFR_MEASURE_VARIABLE " names no open descriptor for results; it is set by 'dfc profile'");
    FILE *known = open_descriptor(text, "known", "r");
    int status = dfr_measure_to(graph, options, &sampler, setting(text, "loaded", 0) > 0,
                                setting(text, "cold", 0) > 0, out, known, error);
    if (known)
        fclose(known);
    fclose(out);
    return status;
}
