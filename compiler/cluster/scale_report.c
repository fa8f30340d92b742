/* scale_report.c - prints (text, CSV, JSON) and draws the predictions of `dfc scale`, for scale_command.c (scale.h). */
#include "compiler/cluster/scale_report.h"

#include <inttypes.h>
#include <math.h>

#include "compiler/show/svg.h"
#include "runtime/base/report_table.h"
#include "runtime/base/text.h"

static double efficiency(const struct dfc_scale_row *row)
{
    return row->ideal_s / row->result.makespan_s;
}

static void print_wave(const struct dfc_scale *scale, FILE *out)
{
    char text[4][16];
    for (uint32_t t = 0; t < scale->cluster->n_types; t++)
        fprintf(out, "node %s: a wave every %s, %s alone\n", scale->cluster->types[t].name,
                dfr_text_seconds(scale->every_s[t], text[0], sizeof text[0]), dfr_text_seconds(scale->latency_s[t], text[1], sizeof text[1]));
    for (uint32_t t = 0; t < scale->cluster->n_types && scale->shares.n_parts > 0; t++)
        fprintf(out, "node %s with all %u parts of accs: a wave every %s\n", scale->cluster->types[t].name, scale->shares.n_parts,
                dfr_text_seconds(scale->shares.whole_s[t], text[0], sizeof text[0]));
    fprintf(out, "rank 0: %s to make a wave's inputs, %s to take its results; sends %s, gets %s\n\n",
            dfr_text_seconds(scale->head_s, text[0], sizeof text[0]), dfr_text_seconds(scale->tail_s, text[1], sizeof text[1]),
            dfr_text_bytes((uint64_t)scale->give_bytes, text[2], sizeof text[2]),
            dfr_text_bytes((uint64_t)scale->result_bytes, text[3], sizeof text[3]));
}

static const struct dfr_column columns[] = {
    DFR_COLUMN("nodes", "nodes", COUNT), DFR_COLUMN("waves", "waves", COUNT), DFR_COLUMN("time", "makespan_s", SECONDS),
    DFR_COLUMN("waves/s", NULL, RATE), DFR_COLUMN(NULL, "ideal_s", SECONDS),
    DFR_COLUMN("efficiency", "efficiency", SHARE, .digits = 1, .only = DFR_ONLY_TEXT | DFR_ONLY_CSV), DFR_COLUMN("nodes busy", NULL, SHARE),
    DFR_COLUMN("rank 0", "manager_busy", SHARE), DFR_COLUMN(NULL, "out_busy", SHARE), DFR_COLUMN(NULL, "in_busy", SHARE),
    DFR_COLUMN("its link", NULL, SHARE), DFR_COLUMN("network", "network_busy", SHARE), DFR_COLUMN("files", "files_busy", SHARE),
    DFR_COLUMN(NULL, "least_window", COUNT), DFR_COLUMN(NULL, "most_window", COUNT), DFR_COLUMN("window", NULL, TEXT),
    DFR_COLUMN("shares", NULL, COUNT), DFR_COLUMN(NULL, "shares", COUNT), DFR_COLUMN("limit", "limit", TEXT),
};

static bool print_rows(const struct dfc_scale_report *report, enum dfr_form form, FILE *out)
{
    struct dfr_report_table table = { .pad = " " };
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(columns));
    for (unsigned i = 0; i < report->n_rows; i++) {
        const struct dfc_scale_row *row = &report->rows[i];
        const struct dfc_manager_result *r = &row->result;
        char window[32];
        snprintf(window, sizeof window, r->least_window == r->most_window ? "%u" : "%u to %u", r->least_window, r->most_window);
        dfr_report_table_row(&table, (const struct dfr_cell[]){
            DFR_NUM(row->nodes), DFR_NUM(row->waves), DFR_NUM(r->makespan_s), DFR_NUM((double)row->waves / r->makespan_s),
            DFR_NUM(row->ideal_s), DFR_NUM(efficiency(row)), DFR_NUM(r->nodes_busy), DFR_NUM(r->manager_busy), DFR_NUM(r->out_busy),
            DFR_NUM(r->in_busy), DFR_NUM(fmax(r->out_busy, r->in_busy)), DFR_NUM(r->switch_busy), DFR_NUM(r->files_busy),
            DFR_NUM(r->least_window), DFR_NUM(r->most_window), DFR_STR(window), DFR_NUM(row->shares > 0 ? row->shares : NAN),
            DFR_NUM(row->shares), DFR_STR(row->limit) });
    }
    return dfr_report_table_end(&table);
}

bool dfc_scale_text(const struct dfc_scale_report *report, FILE *out)
{
    print_wave(report->scale, out);
    return print_rows(report, DFR_FORM_TEXT, out);
}

void dfc_scale_csv(const struct dfc_scale_report *report, FILE *out)
{
    print_rows(report, DFR_FORM_CSV, out);
}

void dfc_scale_json(const struct dfc_scale_report *report, FILE *out)
{
    const struct dfc_scale *s = report->scale;
    fputs("{ \"graph\": ", out);
    dfr_text_json(out, report->path);
    fputs(", \"types\": [", out);
    for (uint32_t t = 0; t < s->cluster->n_types; t++) {
        fprintf(out, "%s{ \"name\": ", t ? ", " : "");
        dfr_text_json(out, s->cluster->types[t].name);
        fprintf(out, ", \"every_s\": %.9g, \"latency_s\": %.9g }", s->every_s[t], s->latency_s[t]);
    }
    fprintf(out, "],\n  \"head_s\": %.9g, \"tail_s\": %.9g, \"give_bytes\": %.0f, \"result_bytes\": %.0f, \"rows\": [", s->head_s,
            s->tail_s, s->give_bytes, s->result_bytes);
    print_rows(report, DFR_FORM_JSON, out);
    fputs("\n  ] }\n", out);
}

/* ---- the picture ---- */

#define WIDTH 720.0
#define HEIGHT 420.0
#define LEFT 70.0
#define RIGHT 30.0
#define TOP 60.0
#define BOTTOM 60.0

static double y_of(double share)
{
    return HEIGHT - BOTTOM - fmin(share, 1) * (HEIGHT - TOP - BOTTOM);
}

/* Over the logarithm of the number of nodes. */
static double x_of(const struct dfc_scale_report *report, uint32_t nodes)
{
    double least = INFINITY, most = 0;
    for (unsigned i = 0; i < report->n_rows; i++) {
        least = fmin(least, report->rows[i].nodes);
        most = fmax(most, report->rows[i].nodes);
    }
    return most > least ? LEFT + (WIDTH - LEFT - RIGHT) * log(nodes / least) / log(most / least) : WIDTH / 2;
}

static void draw_axes(const struct dfc_scale_report *report, FILE *out)
{
    char text[32];
    double last_x = -INFINITY;
    for (unsigned i = 0; i <= 10; i += 2) {
        double y = y_of(i / 10.0);
        fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", LEFT, y, WIDTH - RIGHT, y,
                i ? "#e3e3e3" : "#666666");
        snprintf(text, sizeof text, "%u %%", 10 * i);
        dfc_svg_text(out, LEFT - 8, y + 4, 12, "end", "#444444", text);
    }
    for (unsigned i = 0; i < report->n_rows; i++) {
        double x = x_of(report, report->rows[i].nodes);
        snprintf(text, sizeof text, "%" PRIu32, report->rows[i].nodes);
        if (x - last_x < dfp_text_width(text, 12, false) + 8)
            continue;
        dfc_svg_text(out, x, HEIGHT - BOTTOM + 18, 12, "middle", "#444444", text);
        last_x = x;
    }
    dfc_svg_text(out, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, 12, "middle", "#444444", "nodes");
}

static void draw_points(const struct dfc_scale_report *report, FILE *out)
{
    fputs("<polyline fill=\"none\" stroke=\"#1f6b42\" stroke-width=\"2\" points=\"", out);
    for (unsigned i = 0; i < report->n_rows; i++)
        fprintf(out, "%.1f,%.1f ", x_of(report, report->rows[i].nodes), y_of(efficiency(&report->rows[i])));
    fputs("\"/>\n", out);
    for (unsigned i = 0; i < report->n_rows; i++) {
        const struct dfc_scale_row *row = &report->rows[i];
        double x = x_of(report, row->nodes), y = y_of(efficiency(row));
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#1f6b42\"><title>%" PRIu32 " nodes: %.1f %%, limited by %s</title></circle>\n",
                x, y, row->nodes, 100 * efficiency(row), row->limit);
        if (i == 0 || row->limit != report->rows[i - 1].limit)
            dfc_svg_text(out, x, y - 10, 11, i == 0 ? "start" : "start", "#222222", row->limit);
    }
}

void dfc_scale_draw(const struct dfc_scale_report *report, FILE *out)
{
    char title[256];
    dfc_svg_begin(out, WIDTH, HEIGHT);
    snprintf(title, sizeof title, "%s on %s: efficiency", report->path, report->scale->cluster->name);
    dfc_svg_text(out, LEFT, 26, 15, "start", "#111111", title);
    dfc_svg_text(out, LEFT, 44, 12, "start", "#444444",
                 report->scale->weak ? "the work grows with the nodes (weak scaling); words say what limits" :
                                       "the same work on more nodes (strong scaling); words say what limits");
    draw_axes(report, out);
    draw_points(report, out);
    fputs("</svg>\n", out);
}
