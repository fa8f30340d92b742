/* pays.c - computes whether it pays to divide a wave over several workers, or to offload kernels to a GPU, and puts the answer into words, for `dfc profile` in
 * commands/cmd_profile.c (pays.h).
 */
#include "compiler/show/pays.h"

#include <math.h>
#include <stdlib.h>

#include "partition/model/model.h"
#include "runtime/base/report_table.h"
#include "runtime/base/text.h"
#include "runtime/simulate/simulate.h"

#define WORTH 1.15                      /* from this factor on it pays: less is within what runs differ by */
#define SHORT_JOB_S 20e-6               /* handing over a shorter job takes a good part of its time */

enum { MOST_DEVICES = 2 };              /* the first GPU, and the first unit of another class: OpenCL's device */
static const char *const on_device[MOST_DEVICES] = { "on the GPU", "on OpenCL" }, *const to_device[MOST_DEVICES] = { "", " to OpenCL" },
                  *const device_names[MOST_DEVICES] = { "the GPU", "OpenCL's device" };

/* What one kernel does in a wave. */
struct share {
    uint32_t kernel, jobs;
    double cpu_s;                       /* sums over its jobs; NaN: not known */
    struct { double s, copy_s; } on[MOST_DEVICES]; /* copy: of all inputs and outputs */
};

/* ---- predictions ---- */

const char *dfc_way_policy(const struct dfc_way *way)
{
    return way->devices ? "dmda" : "ws";
}

void dfc_way_predict(const struct dfc_pays *pays, struct dfc_way *way)
{
    struct df_platform platform = *pays->problem->platform;
    struct df_error error;
    struct dfr_simulation result = { 0 };
    const struct dfr_simulate_options options = { .policy = dfc_way_policy(way), .waves = way->waves,
                                                  .inflight = pays->inflight ? pays->inflight : DF_DEFAULT_INFLIGHT };
    way->predicted_s = NAN;
    platform.units[0].workers = way->workers;
    if (!way->devices)
        platform.n_units = 1;
    if (way->waves && dfr_simulate(pays->problem->graph, &platform, pays->problem->times, &options, &result, &error) == DF_OK)
        way->predicted_s = result.makespan_s / way->waves;
}

/* ---- kernels ---- */

static bool is_known(const struct dfp_problem *p, uint32_t node, uint32_t unit)
{
    const struct df_times *times = p->times;
    uint32_t index = p->platform->units[unit].cls * times->n_works + p->graph->nodes[node].work;
    return times->source[index] == DF_TIME_MEASURED || times->source[index] == DF_TIME_COST;
}

/* The seconds that all data of a job takes to the device and back, if nothing of it is there. */
static double copies_s(const struct dfp_problem *p, uint32_t node, uint32_t unit)
{
    const struct df_graph *g = p->graph;
    const struct df_node *n = &g->nodes[node];
    const struct df_kernel *k = &g->kernels[n->kernel];
    double seconds = 0;
    for (uint32_t i = 0; i < k->n_in; i++)
        seconds += dfp_copy_time_s(p->platform, 0, unit, g->values[g->in_value[n->first_in + i]].bytes);
    for (uint32_t i = 0; i < k->n_out; i++)
        seconds += dfp_copy_time_s(p->platform, unit, 0, g->values[n->first_out + i].bytes);
    return seconds;
}

/* The first unit of class gpu, or of a class that is neither cpu nor gpu; n_units: there is none. */
static uint32_t first_unit(const struct df_platform *platform, unsigned device)
{
    uint32_t u = 1;
    while (u < platform->n_units && (platform->units[u].cls == DF_CLASS_GPU) != (device == 0))
        u++;
    return u;
}

/* Adds up the graph's jobs by kernel: shares[n_kernels]. */
static void add_shares(const struct dfp_problem *p, struct share *shares)
{
    for (uint32_t k = 0; k < p->graph->n_kernels; k++)
        shares[k].kernel = k;
    for (uint32_t v = 0; v < p->graph->n_nodes; v++) {
        struct share *s = &shares[p->graph->nodes[v].kernel];
        if (p->graph->nodes[v].flags & DF_NODE_ONCE)
            continue;
        s->jobs++;
        s->cpu_s += is_known(p, v, 0) ? dfp_node_time_s(p, v, 0) : NAN;
        for (unsigned d = 0; d < MOST_DEVICES; d++) {
            const uint32_t unit = first_unit(p->platform, d);
            const bool known = unit < p->platform->n_units && is_known(p, v, unit);
            s->on[d].s += known ? dfp_node_time_s(p, v, unit) : NAN;
            s->on[d].copy_s += known ? copies_s(p, v, unit) : NAN;
        }
    }
}

static const char *kernel_name(const struct dfc_pays *p, const struct share *s)
{
    return df_graph_string(p->problem->graph, p->problem->graph->kernels[s->kernel].name);
}

static bool print_kernels(const struct dfc_pays *p, const struct share *shares, FILE *out)
{
    struct dfr_column columns[3 + 2 * MOST_DEVICES] = { DFR_COLUMN("kernel", NULL, TEXT), DFR_COLUMN("jobs a wave", NULL, COUNT),
                                                        DFR_COLUMN("a job here", NULL, SECONDS) };
    struct dfr_report_table table = { 0 };
    unsigned devices[MOST_DEVICES], n = 0;
    for (unsigned d = 0; d < MOST_DEVICES; d++) {
        bool has = false;
        for (uint32_t k = 0; k < p->problem->graph->n_kernels; k++)
            has |= shares[k].jobs && !isnan(shares[k].on[d].s);
        if (!has)
            continue;
        columns[3 + 2 * n] = (struct dfr_column)DFR_COLUMN(on_device[d], NULL, SECONDS);
        columns[4 + 2 * n] = (struct dfr_column)DFR_COLUMN("its copies", NULL, SECONDS);
        devices[n++] = d;
    }
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, columns, 3 + 2 * n);
    for (uint32_t k = 0; k < p->problem->graph->n_kernels; k++) {
        const struct share *s = &shares[k];
        struct dfr_cell cells[3 + 2 * MOST_DEVICES] = { DFR_STR(kernel_name(p, s)), DFR_NUM(s->jobs), DFR_NUM(s->cpu_s / s->jobs) };
        for (unsigned i = 0; i < n; i++) {
            cells[3 + 2 * i] = (struct dfr_cell)DFR_NUM(s->on[devices[i]].s / s->jobs);
            cells[4 + 2 * i] = (struct dfr_cell)DFR_NUM(s->on[devices[i]].copy_s / s->jobs);
        }
        if (s->jobs)
            dfr_report_table_row(&table, cells);
    }
    return dfr_report_table_end(&table);
}

/* ---- ways to run ---- */

static double gain(double one_s, double other_s)
{
    return other_s > 0 ? one_s / other_s : NAN;
}

static void name_way(const struct dfc_pays *p, const struct dfc_way *way, char text[64])
{
    snprintf(text, 64, "%u worker%s%s%s", (unsigned)way->workers, way->workers == 1 ? "" : "s",
             way->devices ? " and " : "", way->devices ? p->devices : "");
}

static bool print_ways(const struct dfc_pays *p, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("a wave with", NULL, TEXT), DFR_COLUMN("predicted", NULL, SECONDS), DFR_COLUMN("measured", NULL, SECONDS),
        DFR_COLUMN("gain predicted", NULL, GAIN, .digits = 2), DFR_COLUMN("measured", NULL, GAIN, .digits = 2),
    };
    struct dfr_report_table table = { 0 };
    fputc('\n', out);
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (unsigned i = 0; i < p->n_ways; i++) {
        const struct dfc_way *way = &p->ways[i];
        char name[64];
        name_way(p, way, name);
        dfr_report_table_row(&table, (const struct dfr_cell[]){
            DFR_STR(name), DFR_NUM(way->predicted_s), DFR_NUM(way->measured_s), DFR_NUM(gain(p->ways[0].predicted_s, way->predicted_s)),
            DFR_NUM(gain(p->ways[0].measured_s, way->measured_s)) });
    }
    return dfr_report_table_end(&table);
}

/* ---- in words ---- */

/* The kernel that runs one wave at a time and takes most of a wave. NULL: there is none. */
static const struct share *most_in_order(const struct dfc_pays *p, const struct share *shares)
{
    const struct share *most = NULL;
    for (uint32_t k = 0; k < p->problem->graph->n_kernels; k++)
        if (shares[k].jobs && df_kernel_in_order(&p->problem->graph->kernels[k]) && shares[k].cpu_s > 0 &&
            (!most || shares[k].cpu_s > most->cpu_s))
            most = &shares[k];
    return most;
}

/* Why the prediction is that workers do not help. */
static void say_why_predicted(const struct dfc_pays *p, const struct share *shares, FILE *out)
{
    const struct share *s = most_in_order(p, shares);
    char a[32], b[32];
    if (s && s->cpu_s > p->ways[1].predicted_s / 1.5)
        fprintf(out, "'%s' runs one wave at a time and takes %s of the %s that a wave takes.", kernel_name(p, s),
                dfr_text_seconds(s->cpu_s, a, sizeof a), dfr_text_seconds(p->ways[0].predicted_s, b, sizeof b));
    else
        fputs("Its jobs wait for each other, or share the memory's bandwidth: 'dfc explain --what-if' says more.", out);
}

/* Why workers were predicted to help and did not: what they cost beyond the jobs themselves, in worker time. */
static void say_why_measured(const struct dfc_pays *p, const struct share *shares, FILE *out)
{
    const struct dfc_way *one = &p->ways[0], *all = &p->ways[1];
    uint32_t jobs = 0;
    char a[32], b[32];
    for (uint32_t k = 0; k < p->problem->graph->n_kernels; k++)
        jobs += shares[k].jobs;
    if (!jobs || one->measured_s / jobs >= SHORT_JOB_S) {
        fputs("The workers may lack cores, or share the memory's bandwidth, which '--loaded' measures.", out);
        return;
    }
    double more_s = (all->workers * all->measured_s - one->measured_s) / jobs;
    fprintf(out, "A job takes %s on average, and with %u workers each costs %s of a worker more: handing over, and waiting.",
            dfr_text_seconds(one->measured_s / jobs, a, sizeof a), (unsigned)all->workers,
            dfr_text_seconds(fmax(more_s, 0), b, sizeof b));
}

static void say_dividing(const struct dfc_pays *p, const struct share *shares, FILE *out)
{
    double predicted = gain(p->ways[0].predicted_s, p->ways[1].predicted_s);
    double measured = gain(p->ways[0].measured_s, p->ways[1].measured_s), known = isnan(measured) ? predicted : measured;
    const char *how = isnan(measured) ? ", as predicted" : "";
    unsigned workers = (unsigned)p->ways[1].workers;
    if (isnan(known))
        return;
    if (known >= WORTH)
        fprintf(out, "\nDividing pays: %u workers are %.2f times as fast as one%s.", workers, known, how);
    else {
        fprintf(out, "\nDividing does not pay: %u workers are %.2f times as fast as one%s. ", workers, known, how);
        if (predicted >= WORTH)
            say_why_measured(p, shares, out);
        else
            say_why_predicted(p, shares, out);
    }
    fputc('\n', out);
}

static void say_offloading(const struct dfc_pays *p, const struct share *s, unsigned d, FILE *out)
{
    char cpu[32], gpu[32], copy[32];
    double cpu_s = s->cpu_s / s->jobs, gpu_s = s->on[d].s / s->jobs, copy_s = s->on[d].copy_s / s->jobs;
    dfr_text_seconds(cpu_s, cpu, sizeof cpu);
    dfr_text_seconds(gpu_s, gpu, sizeof gpu);
    dfr_text_seconds(copy_s, copy, sizeof copy);
    fprintf(out, "Offloading '%s'%s ", kernel_name(p, s), to_device[d]);
    if (cpu_s >= WORTH * (gpu_s + copy_s))
        fprintf(out, "pays, even if all its data is copied: %s and %s of copies, instead of %s.\n", gpu, copy, cpu);
    else if (cpu_s >= WORTH * gpu_s)
        fprintf(out, "pays only where its data is on %s already: %s instead of %s, but %s of copies.\n", device_names[d], gpu, cpu, copy);
    else
        fprintf(out, "does not pay: %s %s, %s here.\n", gpu, on_device[d], cpu);
}

bool dfc_pays_print(const struct dfc_pays *p, FILE *out)
{
    uint32_t n = p->problem->graph->n_kernels;
    struct share *shares = calloc((size_t)n + 1, sizeof *shares);
    if (!shares)
        return false;
    add_shares(p->problem, shares);
    bool good = print_kernels(p, shares, out) && print_ways(p, out);
    if (p->n_ways > 1 && !p->ways[1].devices)
        say_dividing(p, shares, out);
    for (uint32_t k = 0; k < n; k++)
        for (unsigned d = 0; d < MOST_DEVICES; d++)
            if (shares[k].jobs && !isnan(shares[k].cpu_s) && !isnan(shares[k].on[d].s))
                say_offloading(p, &shares[k], d, out);
    free(shares);
    return good;
}
