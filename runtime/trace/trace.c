/* trace.c - stores rows of events, and writes them as a Chrome trace in JSON (trace.h): for runs (start/, the workers of GPUs) and simulations; --learn reads
 * the rows. A job or a copy is a complete event ("ph": "X") with times in microseconds. Metadata events ("ph": "M") name processes (units) and threads (rows).
 */
#include "runtime/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/base/text.h"

struct dfr_trace {
    uint32_t n_rows;
    uint64_t events;
    struct dfr_trace_row *rows;
    int64_t stride;                     /* of passes (dfr_trace_passes()); 0: there is one */
};

void dfr_trace_passes(struct dfr_trace *t, int64_t stride)
{
    t->stride = stride;
}

int dfr_trace_create(uint32_t n_rows, uint64_t events, struct dfr_trace **trace, struct df_error *error)
{
    struct dfr_trace *t = calloc(1, sizeof *t);
    if (!t)
        return dfr_error_memory(error);
    t->n_rows = n_rows;
    t->events = events ? events : 1;
    t->rows = calloc(n_rows ? n_rows : 1, sizeof *t->rows);
    if (!t->rows)
        goto no_memory;
    for (uint32_t r = 0; r < n_rows; r++) {
        void *memory = mmap(NULL, t->events * sizeof(struct dfr_trace_event), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            goto no_memory;
        t->rows[r] = (struct dfr_trace_row){ .what = "job", .events = memory, .capacity = t->events };
    }
    *trace = t;
    return DF_OK;

no_memory:
    dfr_trace_destroy(t);
    return dfr_error_memory(error);
}

void dfr_trace_destroy(struct dfr_trace *trace)
{
    if (!trace)
        return;
    for (uint32_t r = 0; trace->rows && r < trace->n_rows; r++)
        if (trace->rows[r].events)
            munmap(trace->rows[r].events, trace->events * sizeof(struct dfr_trace_event));
    free(trace->rows);
    free(trace);
}

struct dfr_trace_row *dfr_trace_row(struct dfr_trace *trace, uint32_t row)
{
    return &trace->rows[row];
}

/* How the events of a row are written. */
struct style {
    const char *before, *behind;        /* each event */
    int64_t stride;
    struct dfr_trace_clock clock;
};

static void write_name(FILE *file, const struct style *style, const char *what, uint32_t process, uint32_t thread, const char *before, const char *name)
{
    char text[128];
    snprintf(text, sizeof text, "%s%s", before, name);
    fprintf(file, "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", style->before, what, process, thread);
    dfr_text_json(file, text);
    fprintf(file, "}}%s", style->behind);
}

static void event_name(const struct df_graph *g, const struct dfr_trace_row *row, const struct dfr_trace_event *e,
                       char *name, size_t size)
{
    if (strcmp(row->what, "job") == 0) {
        df_node_name(g, e->id, name, size);
    } else {
        const char *value = df_graph_string(g, g->values[e->id].name);
        if (*value)
            snprintf(name, size, "%s", value);
        else
            df_node_name(g, g->values[e->id].producer, name, size);
    }
}

static double us(const struct style *style, double s)
{
    return dfr_trace_time_s(&style->clock, s) * 1e6;
}

static void write_event(FILE *file, const struct df_graph *g, const struct dfr_trace_row *row, const struct dfr_trace_event *e, uint32_t process, uint32_t thread,
                        const struct style *style)
{
    const int64_t stride = style->stride;
    char name[256];
    event_name(g, row, e, name, sizeof name);
    fprintf(file, "%s{\"ph\":\"X\",\"name\":", style->before);
    dfr_text_json(file, name);
    fprintf(file, ",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"node\":", row->what,
            process, thread, us(style, e->begin_s), (e->end_s - e->begin_s) * 1e6);
    if (strcmp(row->what, "job") != 0)
        df_node_name(g, g->values[e->id].producer, name, sizeof name);
    dfr_text_json(file, name);
    if (strcmp(row->what, "job") == 0) {
        fputs(",\"kernel\":", file);
        dfr_text_json(file, df_graph_string(g, g->kernels[g->nodes[e->id].kernel].name));
    }
    fprintf(file, ",\"wave\":%lld,\"bytes\":%llu", (long long)(stride ? e->wave % stride : e->wave), (unsigned long long)e->bytes);
    if (stride)
        fprintf(file, ",\"pass\":%lld", (long long)(e->wave / stride));
    if (e->launched_s > 0)
        fprintf(file, ",\"launched\":%.3f", us(style, e->launched_s));
    fprintf(file, "}}%s", style->behind);
}

/* ---- lanes ---- */

#define LANE 100000u                    /* between the numbers of a row's lanes; no trace has so many rows */
#define APART_S 0.5e-6                  /* times of devices are no more exact */

struct begin {
    double begin_s;
    uint64_t event;
};

static int earlier_first(const void *a, const void *b)
{
    const struct begin *x = a, *y = b;
    if (x->begin_s != y->begin_s)
        return x->begin_s < y->begin_s ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Gives each event the first lane that is free when it begins: *lane_of. Returns how many lanes there are; 1, and *lane_of NULL: no events overlap, or there is
 * no memory. */
static uint32_t make_lanes(const struct dfr_trace_row *row, uint32_t **lane_of)
{
    uint64_t i = 1;
    uint32_t n_lanes = 0;
    *lane_of = NULL;
    while (i < row->n && row->events[i].begin_s >= row->events[i - 1].end_s - APART_S)
        i++;
    if (i >= row->n)
        return 1;
    struct begin *order = malloc(row->n * sizeof *order);
    double *free_s = malloc(row->n * sizeof *free_s);
    uint32_t *lanes = malloc(row->n * sizeof *lanes);
    for (i = 0; order && free_s && lanes && i < row->n; i++)
        order[i] = (struct begin){ row->events[i].begin_s, i };
    if (order && free_s && lanes)
        qsort(order, row->n, sizeof *order, earlier_first);
    for (i = 0; order && free_s && lanes && i < row->n; i++) {
        uint32_t lane = 0;
        while (lane < n_lanes && order[i].begin_s < free_s[lane] - APART_S)
            lane++;
        n_lanes += lane == n_lanes;
        free_s[lane] = row->events[order[i].event].end_s;
        lanes[order[i].event] = lane;
    }
    free(order);
    free(free_s);
    if (n_lanes > 1)
        *lane_of = lanes;
    else
        free(lanes);
    return n_lanes ? n_lanes : 1;
}

static void write_row(FILE *file, const struct df_graph *g, const struct dfr_trace_row *row, uint32_t process, uint32_t thread, const char *before,
                      const struct style *style)
{
    uint32_t *lane_of;
    const uint32_t n_lanes = make_lanes(row, &lane_of);
    for (uint32_t lane = 0; lane < n_lanes; lane++) {
        const uint32_t number = thread + lane * LANE;
        char name[sizeof row->name + 16];
        snprintf(name, sizeof name, "%s", row->name);
        if (lane)
            snprintf(name, sizeof name, "%s %u", row->name, lane + 1);
        write_name(file, style, "thread_name", process, number, before, name);
        fprintf(file, "%s{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%u,\"tid\":%u,\"args\":{\"sort_index\":%u}}%s", style->before,
                process, number, thread, style->behind);
        for (uint64_t i = 0; i < row->n; i++)
            if (!lane_of || lane_of[i] == lane)
                write_event(file, g, row, &row->events[i], process, number, style);
    }
    free(lane_of);
    if (row->dropped > 0)
        fprintf(file, "%s{\"ph\":\"i\",\"s\":\"t\",\"name\":\"%llu later events dropped\",\"pid\":%u,\"tid\":%u,"
                "\"ts\":%.3f}%s", style->before,
                (unsigned long long)row->dropped, process, thread,
                row->n ? us(style, row->events[row->n - 1].end_s) : 0.0, style->behind);
}

void dfr_trace_write_part(const struct dfr_trace *trace, const struct df_graph *graph, const struct dfr_trace_part *part)
{
    const struct style style = { .before = "", .behind = ",\n", .stride = trace->stride, .clock = part->clock };

    for (uint32_t r = 0; r < trace->n_rows; r++)
        if (trace->rows[r].name[0])
            write_row(part->file, graph, &trace->rows[r], part->process, part->first_row + r, part->name, &style);
}

int dfr_trace_write(const struct dfr_trace *trace, const struct df_graph *graph, const char *const *unit_names,
                    uint32_t n_units, double origin_s, const char *path, struct df_error *error)
{
    const struct style style = { .before = ",\n", .behind = "", .stride = trace->stride, .clock = { .origin_s = origin_s } };
    struct dfr_output output;
    int status = dfr_output_open(&output, path, error);
    FILE *file = output.file;

    if (status != DF_OK)
        return status;
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,"
          "\"args\":{\"name\":", file);
    dfr_text_json(file, n_units ? unit_names[0] : "host");
    fputs("}}", file);
    for (uint32_t u = 1; u < n_units; u++)
        write_name(file, &style, "process_name", u, 0, "", unit_names[u]);
    for (uint32_t r = 0; r < trace->n_rows; r++)
        if (trace->rows[r].name[0])     /* a row without a name is of a copy engine that this machine does not have */
            write_row(file, graph, &trace->rows[r], trace->rows[r].process, r, "", &style);
    fputs("\n]}\n", file);
    return dfr_output_close(&output, true, error);
}
