/* drift_report.c - prints (text, CSV) and draws how a drifting pipeline fares over time if its mapping is kept, tuned, or the best at each moment, and what the
 * tuner decided: `dfc map --drift`, for map_command.c of the same room (drift_simulation.h).
 */
#include "compiler/cluster/drift_simulation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "compiler/show/svg.h"
#include "partition/stages/map_text.h"
#include "runtime/base/report_table.h"

static const char *const names[DFC_DRIFT_RUNS] = { "stays", "tuned", "best" };

enum { SOON = 50 };                     /* waves behind the last drift, in which a tuner may be slower */

static double rate_at(const struct dfp_drifted *run, int64_t wave)
{
    int64_t from = wave < DFC_DRIFT_OVER ? 0 : wave - DFC_DRIFT_OVER;
    return wave == 0 ? 1 / run->left_s[0] : dfp_drifted_rate(run, from, wave);
}

/* The wave with which the first drift begins, and the last one. */
static void find_bounds(const struct dfc_drift *d, int64_t *first, int64_t *last)
{
    *first = INT64_MAX;
    *last = 0;
    for (unsigned i = 0; i < d->request->n; i++) {
        const struct dfp_drift *drift = &d->request->drifts[i];
        int64_t end = drift->end == INT64_MAX ? drift->from : drift->end;
        *first = drift->from < *first ? drift->from : *first;
        *last = end > *last ? end : *last;
    }
}

/* ---- text ---- */

static double rate_between(const struct dfp_drifted *run, int64_t from, int64_t to)
{
    return from < to && to < run->waves ? dfp_drifted_rate(run, from, to) : NAN;
}

static void print_said(const struct dfc_drift *d, FILE *out)
{
    const struct dfp_drifted *run = &d->runs[DFC_DRIFT_TUNED];
    const struct dfc_map_input *input = d->report->input;
    const struct dfp_map_names all = { (const char *const *)input->stages, (const char *const *)input->processors };
    for (uint32_t i = 0; i < run->n_said; i++) {
        const struct dfp_drifting_said *said = &run->said[i];
        fprintf(out, "\nwave %" PRId64 ": %s", said->wave, said->why);
        if (said->from < 0) {
            fputc('\n', out);
            continue;
        }
        fprintf(out, " from wave %" PRId64 " on:\n", said->from);
        dfp_map_write(&input->pipeline, &said->mapping, &all, out);
    }
    if (!run->n_said)
        fputs("\nThe tuner found nothing to do.\n", out);
}

bool dfc_drift_text(const struct dfc_drift *d, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("mapping", NULL, TEXT), DFR_COLUMN("waves/s before", NULL, RATE), DFR_COLUMN("in the 50 waves behind", NULL, RATE),
        DFR_COLUMN("from then on", NULL, RATE),
    };
    _Static_assert(SOON == 50, "the head of a column says so");
    struct dfr_report_table table = { 0 };
    int64_t first, last, waves = d->drifting.waves;
    find_bounds(d, &first, &last);
    fprintf(out, "\n%" PRId64 " waves that drift, in virtual time:\n", waves);
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (int i = 0; i < DFC_DRIFT_RUNS; i++)
        if (d->runs[i].waves)
            dfr_report_table_row(&table, (const struct dfr_cell[]){
                DFR_STR(names[i]), DFR_NUM(rate_between(&d->runs[i], first / 4, first - 1)),
                DFR_NUM(rate_between(&d->runs[i], last, last + SOON)), DFR_NUM(rate_between(&d->runs[i], last + SOON, waves - 1)) });
    bool good = dfr_report_table_end(&table);
    fprintf(out, "stays: '%s' throughout; best: a mapping made for the times behind the drifts, from the first wave on\n",
            d->report->rows[d->report->shown].name);
    if (d->request->tune)
        print_said(d, out);
    return good;
}

/* ---- CSV ---- */

void dfc_drift_csv(const struct dfc_drift *d, FILE *out)
{
    fputs("wave", out);
    for (int i = 0; i < DFC_DRIFT_RUNS; i++)
        if (d->runs[i].waves)
            fprintf(out, ",%s_s,%s_per_s", names[i], names[i]);
    fputc('\n', out);
    for (int64_t wave = 0; wave < d->drifting.waves; wave++) {
        fprintf(out, "%" PRId64, wave);
        for (int i = 0; i < DFC_DRIFT_RUNS; i++)
            if (d->runs[i].waves)
                fprintf(out, ",%.9g,%.6g", d->runs[i].left_s[wave], rate_at(&d->runs[i], wave));
        fputc('\n', out);
    }
}

/* ---- the picture ---- */

#define WIDTH 720.0
#define HEIGHT 380.0
#define LEFT 70.0
#define RIGHT 30.0
#define TOP 80.0
#define BOTTOM 60.0
enum { POINTS = 650 };                  /* of a line */

static const char *const colours[DFC_DRIFT_RUNS] = { "#8a8a8a", "#1f6b42", "#1f4e8c" };

static double x_of(const struct dfc_drift *d, double wave)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * wave / (double)(d->drifting.waves > 1 ? d->drifting.waves - 1 : 1);
}

static double y_of(double rate, double most)
{
    return HEIGHT - BOTTOM - rate / most * (HEIGHT - TOP - BOTTOM);
}

static double most_rate(const struct dfc_drift *d)
{
    double most = 0;
    for (int i = 0; i < DFC_DRIFT_RUNS; i++)
        for (int64_t wave = DFC_DRIFT_OVER; wave < d->runs[i].waves; wave++)
            most = fmax(most, rate_at(&d->runs[i], wave));
    return most > 0 ? 1.1 * most : 1;
}

static void draw_axes(const struct dfc_drift *d, double most, FILE *out)
{
    char text[32];
    double waves = (double)d->drifting.waves, rate_step = dfc_svg_step(most / 6), wave_step = fmax(1, dfc_svg_step(waves / 9));
    for (int i = 0; i * rate_step <= most; i++) {
        double y = y_of(i * rate_step, most);
        fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", LEFT, y, WIDTH - RIGHT, y, i ? "#e3e3e3" : "#666666");
        snprintf(text, sizeof text, "%.4g", i * rate_step);
        dfc_svg_text(out, LEFT - 8, y + 4, 12, "end", "#444444", text);
    }
    for (int i = 0; i * wave_step < waves; i++) {
        snprintf(text, sizeof text, "%.0f", i * wave_step);
        dfc_svg_text(out, x_of(d, i * wave_step), HEIGHT - BOTTOM + 18, 12, "middle", "#444444", text);
    }
    dfc_svg_text(out, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, 12, "middle", "#444444", "wave");
}

static void draw_marks(const struct dfc_drift *d, FILE *out)
{
    const struct dfp_drifted *tuned = &d->runs[DFC_DRIFT_TUNED];
    for (unsigned i = 0; i < d->request->n; i++) {
        double x = x_of(d, (double)d->request->drifts[i].from);
        if (d->request->drifts[i].from >= d->drifting.waves)
            continue;
        fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-dasharray=\"4 3\"/>\n", x, TOP, x, HEIGHT - BOTTOM,
                DFC_PATH_COLOUR);
        dfc_svg_text(out, x + 4, TOP + 10 + 14 * (i % 4), 11, "start", DFC_PATH_COLOUR, d->request->texts[i]);
    }
    for (uint32_t i = 0; i < tuned->n_said; i++)
        if (tuned->said[i].from >= 0)
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>a new mapping from wave %" PRId64 " on</title></circle>\n",
                    x_of(d, (double)tuned->said[i].from), HEIGHT - BOTTOM, colours[DFC_DRIFT_TUNED], tuned->said[i].from);
}

static void draw_line(const struct dfc_drift *d, int run, double most, FILE *out)
{
    int64_t waves = d->drifting.waves, step = waves / POINTS + 1;
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colours[run]);
    for (int64_t wave = DFC_DRIFT_OVER; wave < waves; wave += step)
        fprintf(out, "%.1f,%.1f ", x_of(d, (double)wave), y_of(rate_at(&d->runs[run], wave), most));
    fputs("\"/>\n", out);
}

void dfc_drift_draw(const struct dfc_drift *d, FILE *out)
{
    char title[300];
    double most = most_rate(d), x = LEFT, y = 62;
    dfc_svg_begin(out, WIDTH, HEIGHT);
    snprintf(title, sizeof title, "%.100s on %.100s: waves a second", d->report->path, d->report->cluster);
    dfc_svg_text(out, LEFT, 26, 15, "start", "#111111", title);
    dfc_svg_text(out, LEFT, 44, 12, "start", "#444444", "over the last 20 waves; a dot on the axis is the first wave of a new mapping");
    draw_axes(d, most, out);
    for (int i = DFC_DRIFT_RUNS - 1; i >= 0; i--)
        if (d->runs[i].waves)
            draw_line(d, i, most, out);
    draw_marks(d, out);
    for (int i = 0; i < DFC_DRIFT_RUNS; i++)
        if (d->runs[i].waves)
            dfc_svg_key(out, LEFT, WIDTH - RIGHT, &x, &y, colours[i], names[i]);
    fputs("</svg>\n", out);
}
