/* node_report.c - prints the time that kernels and nodes took, and how many waves each sink got (node_report.h), for run_report.c and ranks_report.c. Each row
 * is one kernel, or one node, on the host or on devices; its share is of the time of all jobs. */
#include "runtime/program/node_report.h"

#include <inttypes.h>
#include <stdlib.h>


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

#define KERNELS DFR_ONLY_OWN
#define NODES (2 * DFR_ONLY_OWN)

static void print_rows(const struct table *t, enum dfr_form form, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("kernel", "name", TEXT, .only = KERNELS), DFR_COLUMN("node", "name", TEXT, .only = NODES),
        DFR_COLUMN(NULL, "kernel", TEXT, .only = NODES), DFR_COLUMN("on", "on", TEXT, .width = 4), DFR_COLUMN("jobs", "jobs", COUNT, .width = 10),
        DFR_COLUMN("mean", "mean_s", SECONDS, .width = 10), DFR_COLUMN("total", "total_s", SECONDS, .width = 10),
        DFR_COLUMN("share %", "share", PERCENT, .digits = 1, .width = 7),
    };
    const uint32_t n = form == DFR_FORM_TEXT && t->nodes && t->n > MOST_NODES ? MOST_NODES : t->n;
    struct dfr_report_table table = { .shown = t->nodes ? NODES : KERNELS, .inline_rows = true };
    fputs(form == DFR_FORM_TEXT ? "\n" : t->nodes ? ", \"nodes\": [" : ", \"kernels\": [", out);
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(columns));
    for (uint32_t i = 0; i < n; i++) {
        const struct row *r = &t->rows[i];
        const uint32_t k = t->nodes ? t->graph->nodes[r->number].kernel : r->number;
        const char *kernel = df_graph_string(t->graph, t->graph->kernels[k].name);
        char node[256] = "";
        if (t->nodes)
            df_node_name(t->graph, r->number, node, sizeof node);
        dfr_report_table_row(&table, (const struct dfr_cell[]){
            DFR_STR(kernel), DFR_STR(node), DFR_STR(kernel), DFR_STR(r->device ? "gpu" : "cpu"), DFR_NUM(r->jobs), DFR_NUM(r->s / (double)r->jobs),
            DFR_NUM(r->s), DFR_NUM(t->all_s > 0 ? r->s / t->all_s : 0) });
    }
    dfr_report_table_end(&table);
    fputs(form == DFR_FORM_TEXT ? "" : "]", out);
    if (n < t->n)
        fprintf(out, "and %" PRIu32 " more rows; --stats=json has them all\n", t->n - n);
}

/* How often the bodies of loops were repeated. */
static void report_loops(const struct df_graph *graph, const struct df_node_stats *stats, enum dfr_form form, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("loop", "name", TEXT), DFR_COLUMN("jobs", "jobs", COUNT, .width = 10), DFR_COLUMN("rounds", "rounds", COUNT, .width = 10),
        DFR_COLUMN("a job", "rounds_a_job", FACTOR, .digits = 1, .width = 10), DFR_COLUMN("at most", "most", COUNT, .width = 10),
    };
    struct dfr_report_table table = { .inline_rows = true };
    char name[256];
    if (!graph->n_loops)
        return;
    fputs(form == DFR_FORM_TEXT ? "\n" : ", \"loops\": [", out);
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(columns));
    for (uint32_t v = 0; v < graph->n_nodes; v++) {
        const struct df_kernel *kernel = &graph->kernels[graph->nodes[v].kernel];
        const uint64_t jobs = stats[v].host_jobs + stats[v].device_jobs;
        if (!(kernel->flags & DF_KERNEL_LOOP) || jobs == 0)
            continue;
        df_node_name(graph, v, name, sizeof name);
        dfr_report_table_row(&table, (const struct dfr_cell[]){ DFR_STR(name), DFR_NUM(jobs), DFR_NUM(stats[v].rounds), DFR_NUM((double)stats[v].rounds / (double)jobs),
                                                                DFR_NUM(graph->loops[kernel->loop].most) });
    }
    dfr_report_table_end(&table);
    fputs(form == DFR_FORM_TEXT ? "" : "]", out);
}

void dfr_report_nodes(const struct df_graph *graph, const struct df_node_stats *stats, enum dfr_form form, FILE *out)
{
    struct table kernels = { 0 }, nodes = { 0 };

    if (make_table(graph, stats, false, &kernels) && make_table(graph, stats, true, &nodes)) {
        print_rows(&kernels, form, out);
        if (form == DFR_FORM_JSON || nodes.n > kernels.n) /* else each node has a kernel of its own */
            print_rows(&nodes, form, out);
    }
    report_loops(graph, stats, form, out);
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

void dfr_report_sinks(const struct df_graph *graph, const struct df_node_skips *skips, uint64_t waves, enum dfr_form form, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("sink or ordered", "name", TEXT), DFR_COLUMN("waves", "waves", COUNT, .width = 10), DFR_COLUMN("empty", "empty", COUNT, .width = 10),
    };
    struct dfr_report_table table = { .inline_rows = true };
    char name[256];

    if (!any_left_out(graph, skips))
        return;
    fputs(form == DFR_FORM_TEXT ? "\n" : ", \"sinks\": [", out);
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(columns));
    for (uint32_t v = 0; v < graph->n_nodes; v++) {
        if (!counts(graph, v))
            continue;
        df_node_name(graph, v, name, sizeof name);
        dfr_report_table_row(&table, (const struct dfr_cell[]){ DFR_STR(name), DFR_NUM(waves - skips[v].left_out), DFR_NUM(skips[v].left_out) });
    }
    dfr_report_table_end(&table);
    fputs(form == DFR_FORM_TEXT ? "" : "]", out);
}

void dfr_report_live(const struct df_graph *g, const struct df_live_stats *live, unsigned n, enum dfr_form form, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("live source", "name", TEXT), DFR_COLUMN("frames", "frames", COUNT, .width = 10), DFR_COLUMN("dropped", "dropped", COUNT, .width = 10),
        DFR_COLUMN("waves", "waves", COUNT, .width = 10), DFR_COLUMN("latency 50 %", "latency_p50_s", SECONDS, .width = 12),
        DFR_COLUMN("99 %", "latency_p99_s", SECONDS, .width = 10), DFR_COLUMN("worst", "latency_worst_s", SECONDS, .width = 10),
    };
    struct dfr_report_table table = { .inline_rows = true };
    char name[256];
    if (n == 0)
        return;
    fputs(form == DFR_FORM_TEXT ? "\n" : ", \"live\": [", out);
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(columns));
    for (unsigned i = 0; i < n; i++) {
        df_node_name(g, live[i].node, name, sizeof name);
        dfr_report_table_row(&table, (const struct dfr_cell[]){ DFR_STR(name), DFR_NUM(live[i].frames), DFR_NUM(live[i].dropped), DFR_NUM(live[i].waves),
                                                                DFR_NUM(live[i].median_s), DFR_NUM(live[i].most_s), DFR_NUM(live[i].worst_s) });
    }
    dfr_report_table_end(&table);
    fputs(form == DFR_FORM_TEXT ? "" : "]", out);
}
