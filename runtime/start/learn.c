/* learn.c - condenses the trace of a run into a file of samples, for --learn when the run has ended (run.c): the median time of the jobs of each work on each
 * device (learn.h).
 */
#include "runtime/start/learn.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/engine/buffers.h"
#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/engine/log.h"
#include "runtime/base/sampler.h"
#include "runtime/base/text.h"
#include "runtime/graph/work_key.h"

struct learning {
    const struct df_run *run;
    uint32_t n_works, n_units;
    size_t *first;                      /* [unit * n_works + work]: where its times begin; one more at the end */
    double *times_s, *scratch;
    struct dfr_trace_event *sorted;     /* scratch: a GPU's jobs in order of their begin */
    uint32_t n_samples, n_rates;
};

/* ---- jobs ---- */

static const struct dfr_trace_row *row_of(const struct df_run *run, uint32_t worker)
{
    uint32_t n = run->machine.n_cpu_workers;
    return dfr_trace_row(run->watch.trace, worker < n ? worker : n + 3 * (worker - n));
}

/* GPUs with the same name count as one device. The first such unit stands for them all. */
static uint32_t device_of(const struct df_run *run, uint32_t unit)
{
    for (uint32_t u = 1; u < unit; u++)
        if ((run->devices.ops[u]->runs_cpu_code && run->devices.ops[unit]->runs_cpu_code) ||
            !strcmp(run->machine.platform.units[u].name, run->machine.platform.units[unit].name))
            return u;
    return unit;
}

static bool counts(const struct learning *l, const struct dfr_trace_event *event, uint32_t unit)
{
    const struct df_run *run = l->run;
    const struct df_graph *g = run->graph;
    const struct df_node *node = &g->nodes[event->id];
    const struct df_kernel *kernel = &g->kernels[node->kernel];
    const uint32_t cls = dfr_graph_class(g, &run->machine.platform, run->machine.platform.units[unit].cls);
    if ((cls != DF_NONE && kernel->cost_classes >> cls & 1) || dfr_buffers_spare(run, event->id) || event->loads)
        return false;
    if (node->live)
        return false;                   /* the job waited for its frame */
    if (kernel->traits & DF_STREAM && event->wave >= atomic_load(&run->firing.waves_done))
        return false;                   /* the job said that there is no such wave, or its wave was not needed */
    return unit || g->works[node->work].threads <= run->machine.n_cpu_workers;
}

static int compare_begin(const void *a, const void *b)
{
    const struct dfr_trace_event *x = a, *y = b;
    if (x->begin_s != y->begin_s)
        return x->begin_s < y->begin_s ? -1 : 1;
    return (x->end_s > y->end_s) - (x->end_s < y->end_s);
}

/* Brings a GPU's jobs that had the GPU for themselves to the front of `sorted`. Gives how many these are. */
static uint64_t alone_on_gpu(struct learning *l, const struct dfr_trace_row *row)
{
    uint64_t kept = 0;
    double end_s = -INFINITY;
    memcpy(l->sorted, row->events, row->n * sizeof *l->sorted);
    qsort(l->sorted, row->n, sizeof *l->sorted, compare_begin);
    for (uint64_t i = 0; i < row->n; i++) {
        struct dfr_trace_event event = l->sorted[i];
        bool alone = event.begin_s >= end_s && (i + 1 == row->n || l->sorted[i + 1].begin_s >= event.end_s);
        end_s = fmax(end_s, event.end_s);
        if (alone)
            l->sorted[kept++] = event;
    }
    return kept;
}

static int compare_end(const void *a, const void *b)
{
    const struct dfr_trace_event *x = a, *y = b;
    if (x->end_s != y->end_s)
        return x->end_s < y->end_s ? -1 : 1;
    return (x->begin_s > y->begin_s) - (x->begin_s < y->begin_s);
}

/* Puts a GPU's jobs into `sorted`, each from the end of the job before it if that is later than its begin. So the GPU's
 * time counts once. A job that ran beside another counts with what it added. */
static uint64_t one_by_one(struct learning *l, const struct dfr_trace_row *row)
{
    double end_s = -INFINITY;
    memcpy(l->sorted, row->events, row->n * sizeof *l->sorted);
    qsort(l->sorted, row->n, sizeof *l->sorted, compare_end);
    for (uint64_t i = 0; i < row->n; i++) {
        l->sorted[i].begin_s = fmax(l->sorted[i].begin_s, end_s);
        end_s = l->sorted[i].end_s;
    }
    return row->n;
}

/* Calls take() for every job whose time counts. */
static void each_job(struct learning *l, void (*take)(struct learning *l, size_t index, double time_s))
{
    const struct df_run *run = l->run;
    for (uint32_t w = 0; w < run->machine.n_workers; w++) {
        const struct dfr_trace_row *row = row_of(run, w);
        uint32_t unit = run->machine.unit_of[w], device = unit ? device_of(run, unit) : 0;
        const struct dfr_trace_event *events = unit ? l->sorted : row->events;
        uint64_t n = !unit                          ? row->n
                     : run->devices.ops[unit]->begins_early ? one_by_one(l, row)
                                                            : alone_on_gpu(l, row);
        for (uint64_t i = 0; i < n; i++)
            if (counts(l, &events[i], unit))
                take(l, (size_t)device * l->n_works + run->graph->nodes[events[i].id].work,
                     events[i].end_s - events[i].begin_s);
    }
}

static void count_job(struct learning *l, size_t index, double time_s)
{
    (void)time_s;
    l->first[index + 1]++;
}

/* first[index] moves on to the end of its times. It is set back afterwards. */
static void keep_job(struct learning *l, size_t index, double time_s)
{
    l->times_s[l->first[index]++] = fmax(time_s, 0);
}

static int collect(struct learning *l, struct df_error *error)
{
    size_t n = (size_t)l->n_units * l->n_works;
    uint64_t longest = 0;
    for (uint32_t w = l->run->machine.n_cpu_workers; w < l->run->machine.n_workers; w++)
        longest = row_of(l->run, w)->n > longest ? row_of(l->run, w)->n : longest;
    l->first = calloc(n + 2, sizeof *l->first);
    l->sorted = malloc((longest + 1) * sizeof *l->sorted);
    if (!l->first || !l->sorted)
        return dfr_error_memory(error);
    each_job(l, count_job);
    for (size_t i = 0; i < n; i++)
        l->first[i + 1] += l->first[i];
    l->times_s = malloc((l->first[n] + 1) * sizeof *l->times_s);
    l->scratch = malloc((2 * l->first[n] + 1) * sizeof *l->scratch);
    if (!l->times_s || !l->scratch)
        return dfr_error_memory(error);
    each_job(l, keep_job);
    memmove(l->first + 1, l->first, n * sizeof *l->first);
    l->first[0] = 0;
    return DF_OK;
}

/* ---- the file ---- */

static void print_field(FILE *out, const char *name, const char *text)
{
    fprintf(out, "\"%s\": ", name);
    dfr_text_json(out, text);
    fputs(", ", out);
}

static int print_sample(struct learning *l, FILE *out, uint32_t unit, uint32_t work, struct df_error *error)
{
    const struct df_run *run = l->run;
    size_t index = (size_t)unit * l->n_works + work, n = l->first[index + 1] - l->first[index];
    double *times_s = l->times_s + l->first[index];
    struct dfr_sample sample;
    struct dfr_work_key key;
    bool emulated = unit && run->devices.ops[unit]->runs_cpu_code;
    if (n == 0)
        return DF_OK;
    int status = dfr_work_key_make_for(run->graph, work, unit ? DF_CLASS_GPU : DF_CLASS_CPU, emulated,
                                       run->options.args, &key, error);
    if (status != DF_OK)
        return status;
    dfr_sample_of(times_s, (uint32_t)n, l->scratch, &sample);
    fputc('{', out);
    print_field(out, "device", !unit       ? "cpu"
                              : emulated ? DFR_KEY_EMULATOR
                                         : run->machine.platform.units[unit].name);
    print_field(out, "variant", unit ? "gpu" : "cpu");
    print_field(out, "kernel", key.kernel);
    print_field(out, "dims", key.dims);
    print_field(out, "scalars", key.scalars);
    fprintf(out, "\"hash\": \"%016" PRIx64 "\", \"job_bytes\": %" PRIu64 ", \"median_s\": %.17g, ", key.hash,
            key.job_bytes, fmax(dfr_median(times_s, (uint32_t)n), DFR_LEAST_TIME_S));
    if (isnan(sample.ci_s))
        fputs("\"ci_s\": null, ", out);
    else
        fprintf(out, "\"ci_s\": %.17g, ", sample.ci_s);
    fprintf(out, "\"runs\": %" PRIu32 ", \"dropped\": %" PRIu32 "}\n", sample.runs, sample.dropped);
    dfr_work_key_free(&key);
    l->n_samples++;
    return DF_OK;
}

static uint64_t waves_of(const struct df_run *run)
{
    return (uint64_t)(run->skips.passes ? dfr_passes_waves(run->skips.passes) : atomic_load(&run->firing.waves_done));
}

/* Of the nodes that did not fire in each wave. */
static void print_rates(struct learning *l, uint64_t waves, FILE *out)
{
    const struct df_run *run = l->run;
    char name[512];
    fputs(", \"rates\": {", out);
    for (uint32_t v = 0; v < run->graph->n_nodes; v++) {
        const uint64_t not_fired = atomic_load(&run->skips.counts[v].left_out);
        if (!not_fired)
            continue;
        df_node_name(run->graph, v, name, sizeof name);
        fputs(l->n_rates++ ? ", " : "", out);
        dfr_text_json(out, name);
        fprintf(out, ": %" PRIu64, not_fired < waves ? waves - not_fired : 0);
    }
    fputc('}', out);
}

/* How many waves the run had, and in which of them nodes fired. If they went by several times, nobody has counted that. */
static void print_waves(struct learning *l, FILE *out)
{
    const uint64_t waves = waves_of(l->run);
    char code[DFR_CODE_TEXT];
    if (!waves)
        return;
    dfr_learn_code(l->run->graph, code);
    fprintf(out, ", \"code\": \"%s\", \"waves\": %" PRIu64, code, waves);
    if (!l->run->skips.passes)
        print_rates(l, waves, out);
}

/* The number of waves matters to those who divide an acc, so then it is told though there is nothing else. */
static bool has_acc(const struct df_graph *g)
{
    bool found = false;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        found |= df_node_n_acc(g, v) > 0;
    return found;
}

static int print_all(struct learning *l, FILE *out, struct df_error *error)
{
    const struct df_run *run = l->run;
    char machine[224];
    int status = DF_OK;
    dfr_learn_machine(machine, sizeof machine);
    fprintf(out, "{\"learned\": %d, ", DFR_LEARN_VERSION);
    print_field(out, "machine", machine);
    print_field(out, "program", run->graph->name);
    uint32_t emulated = 0;
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        emulated += run->devices.ops[u]->runs_cpu_code;
    fprintf(out, "\"workers\": %" PRIu32, run->machine.n_cpu_workers + emulated);
    print_waves(l, out);
    fputs("}\n", out);
    for (uint32_t u = 0; u < l->n_units && status == DF_OK; u++)
        for (uint32_t w = 0; w < l->n_works && status == DF_OK; w++)
            status = print_sample(l, out, u, w, error);
    return status;
}

/* The path, without a suffix, of a file that no other run writes. */
static int find_stem(const struct df_run *run, char **stem, struct df_error *error)
{
    char *database, *folder;
    struct timespec now;
    char name[48];
    int status = dfr_learn_database(&database, error);
    if (status != DF_OK)
        return status;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, sizeof name, "%s", run->graph->name);
    for (char *p = name; *p; p++)
        if (strchr("/. \t\n", *p))
            *p = '_';
    folder = dfr_learn_folder(database);
    if (!folder || asprintf(stem, "%s/%s-%lld.%09ld-%ld", folder, name, (long long)now.tv_sec, now.tv_nsec,
                            (long)getpid()) < 0)
        status = dfr_error_memory(error);
    free(database);
    free(folder);
    return status;
}

static int write_file(struct learning *l, const char *stem, struct df_error *error)
{
    struct dfr_output output;
    char *path;
    if (asprintf(&path, "%s.jsonl", stem) < 0)
        return dfr_error_memory(error);
    int status = dfr_output_open(&output, path, error); /* the temporary name begins with a dot, so dfc does not read it */
    if (status == DF_OK) {
        status = print_all(l, output.file, error);
        int closed = dfr_output_close(&output, status == DF_OK && (l->n_samples > 0 || l->n_rates > 0 || has_acc(l->run->graph)), error);
        status = status == DF_OK ? closed : status;
    }
    free(path);
    return status;
}

int dfr_learn_write(const struct df_run *run, struct df_error *error)
{
    struct learning l = { .run = run, .n_works = run->graph->n_works, .n_units = run->machine.n_units };
    char *stem = NULL;
    int status = find_stem(run, &stem, error);
    if (status == DF_OK)
        status = collect(&l, error);
    if (status == DF_OK)
        status = write_file(&l, stem, error);
    if (status == DF_OK)
        dfr_log(run, DF_LOG_INFO, "learned the times of %u works; dfc takes them from '%s.jsonl'", l.n_samples, stem);
    free(stem);
    free(l.first);
    free(l.times_s);
    free(l.scratch);
    free(l.sorted);
    return status;
}
