/* figures_text.c - prints for `dfc probe` (compiler/commands/cmd_probe.c) the performance figures of units as a table, CSV or JSON. Other
 * programs rely on the names in CSV and JSON, so these must not change.
 */
#include <inttypes.h>
#include <stdio.h>

#include "profiles/probe/probe_impl.h"
#include "runtime/base/text.h"

#define READ_BYTES 8

/* A column: one figure, in one of the ways in which people give it. */
struct column {
    enum dfw_figure figure;
    enum { PER_S, BYTES_PER_S, SECONDS } as; /* BYTES_PER_S: of reads */
    const char *name;                   /* in CSV and JSON */
    const char *head, *unit;            /* in the table */
    double factor;                      /* of the table's unit */
};
static const struct column columns[] = {
    { DFW_COPY, PER_S, "copy_bytes_per_s", "copy", "GB/s", 1e-9 },
    { DFW_SCALE, PER_S, "scale_bytes_per_s", "scale", "GB/s", 1e-9 },
    { DFW_ADD, PER_S, "add_bytes_per_s", "add", "GB/s", 1e-9 },
    { DFW_TRIAD, PER_S, "triad_bytes_per_s", "triad", "GB/s", 1e-9 },
    { DFW_FLOPS_F32, PER_S, "f32_flops", "f32", "Gflop/s", 1e-9 },
    { DFW_FLOPS_F64, PER_S, "f64_flops", "f64", "Gflop/s", 1e-9 },
    { DFW_DEPENDENT, SECONDS, "dependent_read_s", "dependent", "ns", 1e9 },
    { DFW_DEPENDENT, BYTES_PER_S, "dependent_bytes_per_s", "dependent", "GB/s", 1e-9 },
    { DFW_RANDOM, SECONDS, "random_read_s", "random", "ns", 1e9 },
    { DFW_RANDOM, BYTES_PER_S, "random_bytes_per_s", "random", "GB/s", 1e-9 },
    { DFW_SHARED, PER_S, "shared_updates_per_s", "shared", "M/s", 1e-6 },
    { DFW_SPREAD, PER_S, "spread_updates_per_s", "spread", "M/s", 1e-6 },
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* Row i of a unit. 0: not measured. The time of a read is that which one of the threads sees. */
static double value_of(const struct dfw_figures *f, uint32_t i, const struct column *column)
{
    double per_s = f->per_s[i][column->figure];
    if (column->as == SECONDS)
        return per_s > 0 ? f->threads[i] / per_s : 0;
    return column->as == BYTES_PER_S ? READ_BYTES * per_s : per_s;
}

/* Emulated devices compute on cores that the platform then says of the host. */
static bool shares_host(const struct df_platform *p, const struct dfw_probe_report *report, uint32_t unit)
{
    return unit > 0 && p->units[0].cores > 0 && !report->figures[unit].n;
}

/* ---- the table ---- */

static void print_arrays(FILE *out, const struct dfw_figures *f, const char *caches)
{
    char array[32], cache[32];
    fprintf(out, "arrays of %s", dfr_text_bytes(f->array_bytes, array, sizeof array));
    if (f->cache_bytes)
        fprintf(out, " (%s: %s)", caches, dfr_text_bytes(f->cache_bytes, cache, sizeof cache));
    fputc('\n', out);
}

static void print_method(FILE *out, const struct df_platform *p, const struct dfw_figures *figures)
{
    if (!figures[0].n)
        return;
    fputs("// copy, scale, add, triad: STREAM, f64, ", out);
    print_arrays(out, &figures[0], "last caches");
    for (uint32_t u = 1; u < p->n_units; u++)
        if (figures[u].n) {
            fprintf(out, "//     %s: one chain of dependent reads; ", p->units[u].name);
            print_arrays(out, &figures[u], "last cache");
        }
    fputs("// f32, f64: multiplications and additions in turn, not contracted; dependent, random: reads of 8 bytes in such an"
          " array\n// shared, spread: atomic additions to one place, or to one for each thread\n", out);
}

static void print_heads(FILE *out)
{
    fprintf(out, "// %-16s %7s", "unit", "threads");
    for (int c = 0; c < N_COLUMNS; c++)
        fprintf(out, " %9s", columns[c].head);
    fprintf(out, "\n// %-16s %7s", "", "");
    for (int c = 0; c < N_COLUMNS; c++)
        fprintf(out, " %9s", columns[c].unit);
    fputc('\n', out);
}

static void print_row(FILE *out, const char *unit, bool device, const struct dfw_figures *f, uint32_t i)
{
    fprintf(out, "// %-16s ", unit);
    if (device)
        fprintf(out, "%7s", "all");
    else
        fprintf(out, "%7" PRIu32, f->threads[i]);
    for (int c = 0; c < N_COLUMNS; c++) {
        double value = value_of(f, i, &columns[c]) * columns[c].factor;
        if (value > 0)
            fprintf(out, " %9.4g", value);
        else
            fprintf(out, " %9s", "-");
    }
    fputc('\n', out);
}

static void print_missing(FILE *out, const char *unit, bool shares, const char *why)
{
    fprintf(out, "// %-16s %s%s", unit, shares ? "is emulated: it shares the host's cores and memory" : "was not measured",
            *why ? ": " : "");
    for (; *why; why++)                 /* in one line */
        fputc(*why == '\n' ? ' ' : *why, out);
    fputc('\n', out);
}

int dfw_figures_print_text(FILE *out, const struct df_platform *p, const struct dfw_probe_report *report)
{
    print_method(out, p, report->figures);
    print_heads(out);
    for (uint32_t u = 0; u < p->n_units; u++) {
        for (uint32_t i = 0; i < report->figures[u].n; i++)
            print_row(out, p->units[u].name, u > 0, &report->figures[u], i);
        if (!report->figures[u].n)
            print_missing(out, p->units[u].name, shares_host(p, report, u), report->no_figures[u]);
    }
    return ferror(out) ? DF_E_IO : DF_OK;
}

/* ---- for other programs ---- */

int dfw_figures_print_csv(FILE *out, const struct df_platform *p, const struct dfw_probe_report *report)
{
    fputs("unit,threads", out);
    for (int c = 0; c < N_COLUMNS; c++)
        fprintf(out, ",%s", columns[c].name);
    fputs(",shares\n", out);
    for (uint32_t u = 0; u < p->n_units; u++) {
        const struct dfw_figures *f = &report->figures[u];
        for (uint32_t i = 0; i < f->n || (!f->n && i == 0); i++) {
            fputs(p->units[u].name, out);
            fputc(',', out);
            if (f->n && !u)
                fprintf(out, "%" PRIu32, f->threads[i]);
            for (int c = 0; c < N_COLUMNS; c++) {
                fputc(',', out);
                if (f->n && value_of(f, i, &columns[c]) > 0)
                    fprintf(out, "%.9g", value_of(f, i, &columns[c]));
            }
            fprintf(out, ",%s\n", shares_host(p, report, u) ? p->units[0].name : "");
        }
    }
    return ferror(out) ? DF_E_IO : DF_OK;
}

static void print_json_row(FILE *out, bool device, const struct dfw_figures *f, uint32_t i)
{
    const char *between = "";
    fputs(i ? ",\n    {" : "\n    {", out);
    if (!device) {
        fprintf(out, "\"threads\": %" PRIu32, f->threads[i]);
        between = ", ";
    }
    for (int c = 0; c < N_COLUMNS; c++)
        if (value_of(f, i, &columns[c]) > 0) {
            fprintf(out, "%s\"%s\": %.9g", between, columns[c].name, value_of(f, i, &columns[c]));
            between = ", ";
        }
    fputc('}', out);
}

int dfw_figures_print_json(FILE *out, const struct df_platform *p, const struct dfw_probe_report *report)
{
    char machine[512];
    dfw_machine_name(machine, sizeof machine);
    fputs("{\"machine\": ", out);
    dfr_text_json(out, machine);
    fprintf(out, ", \"array_bytes\": %" PRIu64 ", \"cache_bytes\": %" PRIu64 ", \"units\": [", report->figures[0].array_bytes,
            report->figures[0].cache_bytes);
    for (uint32_t u = 0; u < p->n_units; u++) {
        const struct dfw_figures *f = &report->figures[u];
        fputs(u ? ",\n  {\"unit\": " : "\n  {\"unit\": ", out);
        dfr_text_json(out, p->units[u].name);
        if (shares_host(p, report, u)) {
            fputs(", \"shares\": ", out);
            dfr_text_json(out, p->units[0].name);
        }
        if (report->no_figures[u][0]) {
            fputs(", \"not_measured\": ", out);
            dfr_text_json(out, report->no_figures[u]);
        }
        if (u > 0 && f->n)
            fprintf(out, ", \"array_bytes\": %" PRIu64 ", \"cache_bytes\": %" PRIu64, f->array_bytes, f->cache_bytes);
        fputs(", \"figures\": [", out);
        for (uint32_t i = 0; i < f->n; i++)
            print_json_row(out, u > 0, f, i);
        fputs("]}", out);
    }
    fputs("\n]}\n", out);
    return ferror(out) ? DF_E_IO : DF_OK;
}
