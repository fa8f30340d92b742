/* demand_report.c - prints (text, CSV) and draws the results of the simulation of demand-driven streams, for
 * demand_command.c.
 */
#include "compiler/cluster/demand_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "compiler/show/svg.h"
#include "runtime/base/report_table.h"
#include "runtime/base/text.h"

/* How long all items would take one worker of the first type. INFINITY: it cannot do them all. */
static double single_worker_s(const struct dfc_demand *s, const struct dfc_demand_result *result)
{
    double sum_s = 0;
    for (uint32_t k = 0; k < s->n_stages; k++)
        sum_s += result->fired[k] ? (double)result->fired[k] * s->stages[k].time_s[0] : 0;
    return sum_s;
}

/* ---- text ---- */

enum { TYPES = DFR_STREAM_TYPES };      /* the header of a column is empty if its worker type does not exist */

static bool print_stages(const struct dfc_demand_report *report, FILE *out)
{
    const struct dfc_demand *s = &report->input->setup;
    struct dfr_report_table table = { 0 };
    struct dfr_column columns[4 + TYPES] = {
        DFR_COLUMN("stage", NULL, TEXT), DFR_COLUMN("fires", NULL, TEXT), DFR_COLUMN("gets", NULL, BYTES), DFR_COLUMN("gives", NULL, BYTES),
    };
    for (uint32_t t = 0; t < s->n_types; t++)
        columns[4 + t] = (struct dfr_column)DFR_COLUMN(report->input->types[t], NULL, SECONDS);
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (uint32_t k = 0; k < s->n_stages; k++) {
        char fires[32];
        struct dfr_cell cells[4 + TYPES] = { DFR_STR(report->input->stages[k]), DFR_STR(fires), DFR_NUM(s->stages[k].in_bytes),
                                             DFR_NUM(s->stages[k].out_bytes) };
        snprintf(fires, sizeof fires, "%.3g %%", 100 * s->stages[k].fires);
        for (uint32_t t = 0; t < s->n_types; t++)
            cells[4 + t].number = s->stages[k].time_s[t];
        dfr_report_table_row(&table, cells);
    }
    return dfr_report_table_end(&table);
}

static bool print_rows(const struct dfc_demand_report *report, FILE *out)
{
    const struct dfc_demand *s = &report->input->setup;
    struct dfr_report_table table = { 0 };
    char over[128], busy[TYPES][128];
    struct dfr_column columns[9 + TYPES] = {
        DFR_COLUMN("nodes", NULL, COUNT), DFR_COLUMN("policy", NULL, TEXT), DFR_COLUMN("requests", NULL, COUNT), DFR_COLUMN("time", NULL, SECONDS),
        DFR_COLUMN("waves/s", NULL, RATE), DFR_COLUMN(over, NULL, FACTOR, .digits = 2), [6 + TYPES] = DFR_COLUMN("waiting", NULL, COUNT),
        DFR_COLUMN("held", NULL, COUNT), DFR_COLUMN("moved", NULL, BYTES),
    };
    snprintf(over, sizeof over, "over one %s", report->input->types[0]);
    for (uint32_t t = 0; t < s->n_types; t++) {
        snprintf(busy[t], sizeof busy[t], "%s busy", report->input->types[t]);
        columns[6 + t] = (struct dfr_column)DFR_COLUMN(busy[t], NULL, SHARE);
    }
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (unsigned i = 0; i < report->n_rows; i++) {
        const struct dfc_demand_row *row = &report->rows[i];
        const struct dfc_demand_result *r = &row->result;
        char requests[32];
        struct dfr_cell cells[9 + TYPES] = {
            DFR_NUM(row->nodes), DFR_STR(dfr_stream_policy_name(row->policy)), DFR_NUM_AS(row->requests, row->requests ? NULL : requests),
            DFR_NUM(r->makespan_s), DFR_NUM((double)row->waves / r->makespan_s), DFR_NUM(single_worker_s(s, r) / r->makespan_s),
            [6 + TYPES] = DFR_NUM(r->most_waiting), DFR_NUM(r->most_held), DFR_NUM(r->moved_bytes) };
        snprintf(requests, sizeof requests, "1 to %" PRIu32, r->most_target);
        for (uint32_t t = 0; t < s->n_types; t++)
            cells[6 + t].number = r->busy[t];
        dfr_report_table_row(&table, cells);
    }
    return dfr_report_table_end(&table);
}

/* Which share of a stage's items each type of worker did. */
static bool print_shares(const struct dfc_demand_report *report, FILE *out)
{
    const struct dfc_demand *s = &report->input->setup;
    struct dfr_report_table table = { 0 };
    struct dfr_column columns[4 + TYPES] = {
        DFR_COLUMN("nodes", NULL, COUNT), DFR_COLUMN("policy", NULL, TEXT), DFR_COLUMN("stage", NULL, TEXT), DFR_COLUMN("items", NULL, COUNT),
    };
    for (uint32_t t = 0; t < s->n_types; t++)
        columns[4 + t] = (struct dfr_column)DFR_COLUMN(report->input->types[t], NULL, SHARE, .digits = 2);
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (unsigned i = 0; i < report->n_rows; i++)
        for (uint32_t k = 0; k < s->n_stages; k++) {
            const struct dfc_demand_result *r = &report->rows[i].result;
            struct dfr_cell cells[4 + TYPES] = { DFR_NUM(report->rows[i].nodes), DFR_STR(dfr_stream_policy_name(report->rows[i].policy)),
                                                 DFR_STR(report->input->stages[k]), DFR_NUM(r->fired[k]) };
            for (uint32_t t = 0; t < s->n_types; t++)
                cells[4 + t].number = r->fired[k] ? (double)r->done[k][t] / (double)r->fired[k] : NAN;
            dfr_report_table_row(&table, cells);
        }
    return dfr_report_table_end(&table);
}

bool dfc_demand_text(const struct dfc_demand_report *report, FILE *out)
{
    bool good = print_stages(report, out);
    fputc('\n', out);
    good = print_rows(report, out) && good;
    fputc('\n', out);
    return print_shares(report, out) && good;
}

/* ---- CSV ---- */

void dfc_demand_csv(const struct dfc_demand_report *report, FILE *out)
{
    const struct dfc_demand *s = &report->input->setup;
    fputs("nodes,policy,requests,waves,makespan_s,alone_s,most_target,most_waiting,most_held,held_bound,moved_bytes,stage,type,items,of,busy\n", out);
    for (unsigned i = 0; i < report->n_rows; i++) {
        const struct dfc_demand_row *row = &report->rows[i];
        const struct dfc_demand_result *r = &row->result;
        for (uint32_t k = 0; k < s->n_stages; k++)
            for (uint32_t t = 0; t < s->n_types; t++)
                fprintf(out, "%" PRIu32 ",%s,%" PRIu32 ",%" PRId64 ",%.9g,%.9g,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%.0f,%s,%s,%" PRId64 ",%" PRId64 ",%.6g\n",
                        row->nodes, dfr_stream_policy_name(row->policy), row->requests, row->waves, r->makespan_s, single_worker_s(s, r), r->most_target,
                        r->most_waiting, r->most_held, r->held_bound, r->moved_bytes, report->input->stages[k], report->input->types[t], r->done[k][t],
                        r->fired[k], r->busy[t]);
    }
}

void dfc_demand_sizes_csv(const struct dfc_demand_report *report, FILE *out)
{
    fputs("seconds,node,worker,type,requests\n", out);
    for (size_t i = 0; i < report->n_changes; i++) {
        const struct dfc_demand_change *c = &report->changes[i];
        fprintf(out, "%.9g,%" PRIu32 ",%" PRIu32 ",%s,%" PRIu32 "\n", c->at_s, c->node, c->worker, report->input->types[c->type], c->target);
    }
}

/* ---- the picture ---- */

#define WIDTH 900.0
#define HEIGHT 420.0
#define LEFT 60.0
#define RIGHT 30.0
#define TOP 66.0
#define BOTTOM 92.0
enum { PIECES = 240 };

/* Means of a worker's target by piece of the run. */
static void find_means(const struct dfc_demand_report *report, uint32_t node, uint32_t worker, double *means)
{
    double piece_s = report->end_s / PIECES, target = 0, from_s = 0;
    for (unsigned k = 0; k < PIECES; k++)
        means[k] = 0;
    for (size_t i = 0; i <= report->n_changes; i++) {
        const struct dfc_demand_change *c = i < report->n_changes ? &report->changes[i] : NULL;
        if (c && (c->node != node || c->worker != worker))
            continue;
        double to_s = c ? c->at_s : report->end_s;
        for (unsigned k = (unsigned)(from_s / piece_s); k < PIECES && k * piece_s < to_s; k++)
            means[k] += target * fmax(fmin(to_s, (k + 1) * piece_s) - fmax(from_s, k * piece_s), 0) / piece_s;
        from_s = to_s;
        target = c ? c->target : 0;
    }
}

static double x_of(double share)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * share;
}

static double y_of(double target, double most)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * target / most;
}

static void draw_axes(double end_s, double most, FILE *out)
{
    const double step_s = dfc_svg_step(end_s / 8), step = fmax(dfc_svg_step(most / 6), 1);
    char text[32];
    for (unsigned i = 0; i * step <= most; i++) {
        double y = y_of(i * step, most);
        fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", LEFT, y, WIDTH - RIGHT, y, i ? "#e3e3e3" : "#666666");
        snprintf(text, sizeof text, "%.0f", i * step);
        dfc_svg_text(out, LEFT - 8, y + 4, 12, "end", "#444444", text);
    }
    for (unsigned i = 0; i * step_s <= end_s; i++)
        dfc_svg_text(out, x_of(i * step_s / end_s), HEIGHT - BOTTOM + 20, 12, "middle", "#444444",
                     i ? dfr_text_seconds(i * step_s, text, sizeof text) : "0");
}

static void draw_worker(const double *means, double most, const char *colour, FILE *out)
{
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", colour);
    for (unsigned k = 0; k < PIECES; k++)
        fprintf(out, "%.1f,%.1f ", x_of((k + 0.5) / PIECES), y_of(means[k], most));
    fputs("\"/>\n", out);
}

static const char *colour_of(uint32_t type)
{
    return type < DFC_COLOURS ? dfc_colours[type] : DFC_OTHER_COLOUR;
}

/* The first change of each worker is that to its first target, at time 0: they say which workers there are. */
static uint32_t count_workers(const struct dfc_demand_report *report)
{
    uint32_t n = 0;
    while (n < report->n_changes && report->changes[n].at_s == 0)
        n++;
    return n;
}

bool dfc_demand_draw(const struct dfc_demand_report *report, FILE *out)
{
    uint32_t n = count_workers(report);
    double *means = calloc((size_t)n * PIECES + 1, sizeof *means), most = 2, x = LEFT, y = HEIGHT - 40;
    bool used[DFR_STREAM_TYPES] = { false };
    char title[300];
    if (!means)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        find_means(report, report->changes[i].node, report->changes[i].worker, means + (size_t)i * PIECES);
        for (unsigned k = 0; k < PIECES; k++)
            most = fmax(most, ceil(means[(size_t)i * PIECES + k]));
    }
    dfc_svg_begin(out, WIDTH, HEIGHT);
    snprintf(title, sizeof title, "%.200s on %u nodes: requests of each worker with ODDS", report->path, (unsigned)report->nodes);
    dfc_svg_text(out, LEFT, 26, 15, "start", "#111111", title);
    dfc_svg_text(out, LEFT, 44, 12, "start", "#444444", "items under way and queued on behalf of a worker, as DQAA wants them, over time; means over 1/240 of the run");
    draw_axes(report->end_s, most, out);
    for (uint32_t i = 0; i < n; i++) {
        draw_worker(means + (size_t)i * PIECES, most, colour_of(report->changes[i].type), out);
        used[report->changes[i].type] = true;
    }
    for (uint32_t t = 0; t < report->input->setup.n_types; t++)
        if (used[t])
            dfc_svg_key(out, LEFT, WIDTH - RIGHT, &x, &y, colour_of(t), report->input->types[t]);
    fputs("</svg>\n", out);
    free(means);
    return true;
}
