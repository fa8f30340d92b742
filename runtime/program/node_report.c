/* node_report.c - the part of --stats that says what kernels and nodes took (run_report.h). A row is one kernel, or one
 * node, on the host or on devices. Its share is of the time of all jobs together. */
#include "runtime/program/node_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"

#define MOST_NODES 20                   /* rows of the text's table of nodes; JSON has all */

struct row {
    uint32_t number;                    /* of the kernel or node */
    bool device;
    uint64_t jobs;
    double s;
};

struct table {
    const struct df_graph *graph;
    bool nodes;                         /* else kernels */
    struct row *rows;                   /* longest first */
    uint32_t n;
    double all_s;
};

/* ---- making ---- */

static int longest_first(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->s != y->s)
        return x->s > y->s ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

static void add(struct row *row, uint64_t jobs, double s)
{
    row->jobs += jobs;
    row->s += s;
}

/* The table's rows, two for each kernel or node, of which those without jobs are left out. false: no memory. */
static bool make_table(const struct df_graph *g, const struct df_node_stats *stats, bool nodes, struct table *t)
{
    uint32_t n = nodes ? g->n_nodes : g->n_kernels;

    *t = (struct table){ .graph = g, .nodes = nodes, .rows = calloc((size_t)n * 2 + 1, sizeof *t->rows) };
    if (!t->rows)
        return false;
    for (uint32_t i = 0; i < 2 * n; i++)
        t->rows[i] = (struct row){ .number = i / 2, .device = i % 2 };
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        struct row *pair = &t->rows[2 * (size_t)(nodes ? v : g->nodes[v].kernel)];
        add(&pair[0], stats[v].host_jobs, stats[v].host_s);
        add(&pair[1], stats[v].device_jobs, stats[v].device_s);
        t->all_s += stats[v].host_s + stats[v].device_s;
    }
    for (uint32_t i = 0; i < 2 * n; i++)
        if (t->rows[i].jobs > 0)
            t->rows[t->n++] = t->rows[i];
    qsort(t->rows, t->n, sizeof *t->rows, longest_first);
    return true;
}

static const char *name_of(const struct table *t, const struct row *row, char *buffer, size_t size)
{
    if (!t->nodes)
        return df_graph_string(t->graph, t->graph->kernels[row->number].name);
    df_node_name(t->graph, row->number, buffer, size);
    return buffer;
}

static double share(const struct table *t, const struct row *row)
{
    return t->all_s > 0 ? row->s / t->all_s : 0;
}

/* ---- text ---- */

static void print_text(const struct table *t, FILE *out)
{
    const char *heading = t->nodes ? "node" : "kernel";
    uint32_t n = t->nodes && t->n > MOST_NODES ? MOST_NODES : t->n;
    size_t width = strlen(heading);
    char name[256], mean[24], sum[24];

    for (uint32_t i = 0; i < n; i++) {
        size_t length = strlen(name_of(t, &t->rows[i], name, sizeof name));
        width = length > width ? length : width;
    }
    fprintf(out, "\n%-*s  %4s  %10s  %10s  %10s  %7s\n", (int)width, heading, "on", "jobs", "mean", "total", "share %");
    for (uint32_t i = 0; i < n; i++) {
        const struct row *r = &t->rows[i];
        fprintf(out, "%-*s  %4s  %10" PRIu64 "  %10s  %10s  %7.1f\n", (int)width, name_of(t, r, name, sizeof name),
                r->device ? "gpu" : "cpu", r->jobs, dfr_text_seconds(r->s / (double)r->jobs, mean, sizeof mean),
                dfr_text_seconds(r->s, sum, sizeof sum), 100 * share(t, r));
    }
    if (n < t->n)
        fprintf(out, "and %" PRIu32 " more rows; --stats=json has them all\n", t->n - n);
}

/* ---- JSON ---- */

static void print_json(const struct table *t, FILE *out)
{
    char name[256];

    fprintf(out, ", \"%s\": [", t->nodes ? "nodes" : "kernels");
    for (uint32_t i = 0; i < t->n; i++) {
        const struct row *r = &t->rows[i];
        fputs(i ? ", {\"name\": " : "{\"name\": ", out);
        dfr_text_json(out, name_of(t, r, name, sizeof name));
        if (t->nodes) {
            fputs(", \"kernel\": ", out);
            dfr_text_json(out, df_graph_string(t->graph, t->graph->kernels[t->graph->nodes[r->number].kernel].name));
        }
        fprintf(out, ", \"on\": \"%s\", \"jobs\": %" PRIu64 ", \"mean_s\": %.9g, \"total_s\": %.9g, \"share\": %.6g}",
                r->device ? "gpu" : "cpu", r->jobs, r->s / (double)r->jobs, r->s, share(t, r));
    }
    fputc(']', out);
}

void dfr_report_nodes(const struct df_graph *graph, const struct df_node_stats *stats, bool json, FILE *out)
{
    struct table kernels = { 0 }, nodes = { 0 };

    if (make_table(graph, stats, false, &kernels) && make_table(graph, stats, true, &nodes)) {
        (json ? print_json : print_text)(&kernels, out);
        if (json || nodes.n > kernels.n) /* else each node has a kernel of its own */
            (json ? print_json : print_text)(&nodes, out);
    }
    free(kernels.rows);
    free(nodes.rows);
}

/* ---- sinks ---- */

static bool counts(const struct df_graph *g, uint32_t v)
{
    return !(g->nodes[v].flags & DF_NODE_ONCE) &&
           (df_node_n_out(g, v) == 0 || g->kernels[g->nodes[v].kernel].traits & DF_ORDERED);
}

static bool any_left_out(const struct df_graph *g, const struct df_node_skips *skips)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (skips[v].left_out > 0)
            return true;
    return false;
}

static void sinks_text(const struct df_graph *g, const struct df_node_skips *skips, uint64_t waves, FILE *out)
{
    size_t width = strlen("sink or ordered");
    char name[256];

    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (counts(g, v) && df_node_name(g, v, name, sizeof name) > width)
            width = strlen(name);
    fprintf(out, "\n%-*s  %10s  %10s\n", (int)width, "sink or ordered", "waves", "empty");
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (!counts(g, v))
            continue;
        df_node_name(g, v, name, sizeof name);
        fprintf(out, "%-*s  %10" PRIu64 "  %10" PRIu64 "\n", (int)width, name, waves - skips[v].left_out, skips[v].left_out);
    }
}

static void sinks_json(const struct df_graph *g, const struct df_node_skips *skips, uint64_t waves, FILE *out)
{
    const char *comma = "";
    char name[256];

    fputs(", \"sinks\": [", out);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (!counts(g, v))
            continue;
        df_node_name(g, v, name, sizeof name);
        fprintf(out, "%s{\"name\": ", comma);
        dfr_text_json(out, name);
        fprintf(out, ", \"waves\": %" PRIu64 ", \"empty\": %" PRIu64 "}", waves - skips[v].left_out, skips[v].left_out);
        comma = ", ";
    }
    fputc(']', out);
}

void dfr_report_sinks(const struct df_graph *graph, const struct df_node_skips *skips, uint64_t waves, bool json,
                      FILE *out)
{
    if (any_left_out(graph, skips))
        (json ? sinks_json : sinks_text)(graph, skips, waves, out);
}
