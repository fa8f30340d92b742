/* cluster_trace.c - writes one trace of all ranks (cluster_trace.h), for rank0.c. */
#include "runtime/ranks/cluster_trace.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/text.h"

int dfr_cluster_trace_open(struct dfr_cluster_trace_write *trace, const char *path, struct df_error *error)
{
    int status = dfr_output_open(&trace->output, path, error);

    if (status == DF_OK)
        fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", trace->output.file);
    return status;
}

/* Lines of text, each from a brace to a brace and a comma. */
static bool is_piece(const char *text, size_t size)
{
    if (size < 4 || text[0] != '{' || memcmp(text + size - 3, "},\n", 3) != 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        const bool ends = text[i] == '\n';
        if ((unsigned char)text[i] < ' ' && !ends)
            return false;
        if (ends && (text[i - 1] != ',' || text[i - 2] != '}' || (i + 1 < size && text[i + 1] != '{')))
            return false;
    }
    return true;
}

bool dfr_cluster_trace_add(struct dfr_cluster_trace_write *trace, const char *text, size_t size)
{
    return is_piece(text, size) && fwrite(text, 1, size, trace->output.file) == size;
}

static void put_counter(FILE *file, int rank, double at_us, const char *name, const char *unit, double value)
{
    fprintf(file, "{\"ph\":\"C\",\"name\":\"%s\",\"pid\":%d,\"tid\":0,\"ts\":%.3f,\"args\":{\"%s\":%.6g}},\n", name, rank, at_us, unit, value);
}

static void put_windows(FILE *file, const struct dfr_windows *windows, double origin_s)
{
    for (uint32_t i = 0; i < windows->n; i++) {
        const struct dfr_window_change *c = &windows->changes[i];
        put_counter(file, c->rank, (c->at_s - origin_s) * 1e6, "rate", "waves/s", c->rate);
        put_counter(file, c->rank, (c->at_s - origin_s) * 1e6, "window", "waves", c->window);
    }
}

/* The processes' names. The last event has no comma behind it. */
static void put_names(FILE *file, const struct dfr_figures *f)
{
    for (int r = 0; r < f->n_ranks; r++) {
        char name[96];
        snprintf(name, sizeof name, f->ranks[r].host[0] ? "rank %d on %s" : "rank %d", r, f->ranks[r].host);
        fprintf(file, "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":0,\"args\":{\"name\":", r ? ",\n" : "", r);
        dfr_text_json(file, name);
        fputs("}}", file);
    }
}

static void put_clock(FILE *file, const char *name, const struct dfr_trips *trips)
{
    fprintf(file, ",\"%s\":{\"offset_us\":%.3f,\"uncertainty_us\":%.3f,\"trips\":%u}", name, -trips->offset_s * 1e6, trips->uncertainty_s * 1e6, trips->n);
}

static void put_metadata(FILE *file, const struct dfr_figures *f)
{
    fprintf(file, "],\n\"otherData\":{\"clock\":\"rank 0\",\"window_changes_left_out\":%llu,\"ranks\":[", (unsigned long long)f->windows.n_dropped);
    for (int r = 0; r < f->n_ranks; r++) {
        const struct dfr_rank_figures *rank = &f->ranks[r];
        fprintf(file, "%s\n{\"rank\":%d,\"host\":", r ? "," : "", r);
        dfr_text_json(file, rank->host);
        fprintf(file, ",\"traced\":%s", rank->reported && !rank->untraced ? "true" : "false");
        if (rank->trips[0].n > 0)
            put_clock(file, "first", &rank->trips[0]);
        if (rank->trips[1].n > 0)
            put_clock(file, "last", &rank->trips[1]);
        fputc('}', file);
    }
    fputs("]}}\n", file);
}

int dfr_cluster_trace_close(struct dfr_cluster_trace_write *trace, const struct dfr_figures *figures, double origin_s, bool good, struct df_error *error)
{
    FILE *file = trace->output.file;

    if (good) {
        put_windows(file, &figures->windows, origin_s);
        put_names(file, figures);
        put_metadata(file, figures);
    }
    return dfr_output_close(&trace->output, good, error);
}
