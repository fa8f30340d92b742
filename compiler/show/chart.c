/* chart.c - draws a bar chart as SVG, for `dfc compare` in commands/cmd_compare.c (chart.h). */
#include "compiler/show/chart.h"
#include "compiler/show/svg.h"
#include "runtime/base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MARGIN 20.0                     /* left of the lines of text */
#define LEFT 76.0                       /* of the plot */
#define RIGHT 24.0
#define TOP 70.0
#define PLOT_HEIGHT 280.0
#define BELOW 64.0                      /* labels and notes */
#define FOOTNOTE 22.0
#define LEAST_PLACE 92.0                /* the least width of a bar's place */
#define LEAST_PAIR 156.0                /* the same of two bars */
#define BAR_SHARE 0.56
#define PAIR_SHARE 0.38                 /* of each of two bars */
#define PAIR_GAP 0.04                   /* between them */
#define HOLLOW "fill=\"#ffffff\" stroke=\"#7a7a7a\" stroke-width=\"1.5\" stroke-dasharray=\"4 3\""
#define TICKS 5

struct axis {
    double top_s;                       /* the value at the plot's top */
    double step_s;
    double scale;                       /* what written numbers are multiplied by: 1e3 for ms */
    const char *unit;
    int decimals;
};

/* Chooses steps of 1, 2 or 5 times a power of ten, such that about TICKS of them reach `most`. */
static struct axis make_axis(double most_s)
{
    static const struct { double from, scale; const char *unit; } units[] = { { 1, 1, "s" }, { 1e-3, 1e3, "ms" },
                                                                               { 1e-6, 1e6, "us" }, { 0, 1e9, "ns" } };
    struct axis axis;
    if (!(most_s > 0) || !isfinite(most_s))
        most_s = 1;
    unsigned u = 0;
    while (most_s < units[u].from)
        u++;
    axis.scale = units[u].scale;
    axis.unit = units[u].unit;
    double step = dfc_svg_step(most_s * axis.scale / TICKS);
    axis.decimals = step < 0.99 ? (int)ceil(-log10(step) - 1e-9) : 0;
    axis.step_s = step / axis.scale;
    axis.top_s = ceil(most_s / axis.step_s - 1e-9) * axis.step_s;
    return axis;
}

static double y_of(const struct axis *axis, double seconds)
{
    return TOP + PLOT_HEIGHT * (1 - seconds / axis->top_s);
}

static double place_width(const struct dfc_chart *chart)
{
    double width = chart->predicted ? LEAST_PAIR : LEAST_PLACE;
    for (unsigned i = 0; i < chart->n_bars; i++) {
        double label = dfp_text_width(chart->bars[i].label, 14, true);
        double note = chart->bars[i].note ? dfp_text_width(chart->bars[i].note, 11, false) : 0;
        width = fmax(width, fmax(label, note) + 12);
    }
    return width;
}

static void write_axis(FILE *out, const struct axis *axis, double width)
{
    unsigned n = (unsigned)lround(axis->top_s / axis->step_s);
    char words[32];
    for (unsigned i = 0; i <= n; i++) {
        double value = axis->step_s * i, y = y_of(axis, value);
        fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", LEFT, y, width - RIGHT,
                y, i ? "#e3e3e3" : "#666666");
        snprintf(words, sizeof words, "%.*f", axis->decimals, value * axis->scale);
        dfc_svg_text(out, LEFT - 8, y + 4, 12, "end", "#444444", words);
    }
    double middle = TOP + PLOT_HEIGHT / 2;
    fprintf(out, "<text x=\"20\" y=\"%.1f\" font-size=\"12\" fill=\"#444444\" text-anchor=\"middle\" "
            "transform=\"rotate(-90 20 %.1f)\">makespan, %s</text>\n", middle, middle, axis->unit);
}

/* From the least to the most; nothing if they are one. */
static void write_whisker(FILE *out, double x, double least_y, double most_y)
{
    if (least_y - most_y < 0.1)
        return;
    const double arm = 7;
    fprintf(out, "<path d=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1fM%.1f %.1fH%.1f\" stroke=\"#222222\" stroke-width=\"1.5\" "
            "fill=\"none\"/>\n", x, least_y, most_y, x - arm, most_y, x + arm, x - arm, least_y, x + arm);
}

/* Writes a value with three digits, above y. mark: what stands before it. */
static void write_value(FILE *out, const struct axis *axis, double x, double y, const char *mark, double value_s)
{
    double value = value_s * axis->scale;
    int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
    char words[64];
    snprintf(words, sizeof words, "%s%.*f %s", mark, decimals, value, axis->unit);
    dfc_svg_text(out, x, y - 7, 12, "middle", "#222222", words);
}

static void write_rect(FILE *out, double x, double y, double width, double height, const char *look)
{
    fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s/>\n", x, y, width, height, look);
}

static const char *filled(const struct dfc_bar *bar)
{
    static const char *const looks[2][2] = { { "fill=\"#7fa6d6\"", "fill=\"#c3d5ea\"" },
                                             { "fill=\"#1f6b42\"", "fill=\"#6fae8b\"" } };
    return looks[bar->highlight != 0][bar->uncertain != 0];
}

static void write_predicted(FILE *out, const struct axis *axis, const struct dfc_bar *bar, double x, double width)
{
    double top = y_of(axis, bar->predicted_s);
    write_rect(out, x - width / 2, top, width, TOP + PLOT_HEIGHT - top, HOLLOW);
    write_value(out, axis, x, top, "", bar->predicted_s);
}

static void write_measured(FILE *out, const struct axis *axis, const struct dfc_bar *bar, double x, double width)
{
    double top = y_of(axis, bar->value_s), most_y = y_of(axis, bar->most_s);
    write_rect(out, x - width / 2, top, width, TOP + PLOT_HEIGHT - top, filled(bar));
    write_whisker(out, x, y_of(axis, bar->least_s), most_y);
    write_value(out, axis, x, most_y, bar->uncertain ? "~" : "", bar->value_s);
}

/* Draws what stands in one place, whose middle is x. */
static void write_bar(FILE *out, const struct axis *axis, const struct dfc_bar *bar, double x, double place, bool pair)
{
    double floor_y = TOP + PLOT_HEIGHT, aside = pair ? place * (PAIR_SHARE + PAIR_GAP) / 2 : 0;
    if (pair)
        write_predicted(out, axis, bar, x - aside, place * PAIR_SHARE);
    write_measured(out, axis, bar, x + aside, place * (pair ? PAIR_SHARE : BAR_SHARE));
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"14\"%s fill=\"#111111\" text-anchor=\"middle\">", x,
            floor_y + 22, bar->highlight ? " font-weight=\"bold\"" : "");
    dfr_text_xml(out, bar->label);
    fputs("</text>\n", out);
    if (bar->note)
        dfc_svg_text(out, x, floor_y + 40, 11, "middle", "#555555", bar->note);
}

/* Two small boxes, each with its words behind it; y is the line on which the words stand. */
static void write_legend(FILE *out, const struct dfc_chart *chart, double y)
{
    const struct { const char *look, *words; } parts[] = { { HOLLOW, chart->predicted },
                                                           { "fill=\"#7fa6d6\"", chart->measured } };
    double x = LEFT;
    for (unsigned i = 0; i < 2; i++) {
        write_rect(out, x, y - 10, 18, 11, parts[i].look);
        dfc_svg_text(out, x + 24, y, 12, "start", "#333333", parts[i].words);
        x += 24 + dfp_text_width(parts[i].words, 12, false) + 24;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct dfc_bar *x = *(const struct dfc_bar *const *)a, *y = *(const struct dfc_bar *const *)b;
    if (x->value_s != y->value_s)
        return x->value_s < y->value_s ? -1 : 1;
    return x < y ? -1 : x > y;
}

static double widest_line(const struct dfc_chart *chart)
{
    double width = dfp_text_width(chart->title, 16, false);
    if (chart->subtitle)
        width = fmax(width, dfp_text_width(chart->subtitle, 12, false));
    if (chart->footnote)
        width = fmax(width, dfp_text_width(chart->footnote, 11, false));
    return width;
}

bool dfc_chart_write(FILE *out, const struct dfc_chart *chart)
{
    double place = place_width(chart), most_s = 0;
    double width = fmax(LEFT + place * chart->n_bars + RIGHT, widest_line(chart) + 2 * MARGIN);
    double legend_y = TOP + PLOT_HEIGHT + BELOW + 8;
    double height = TOP + PLOT_HEIGHT + BELOW + (chart->predicted ? FOOTNOTE : 0) + (chart->footnote ? FOOTNOTE : 0);
    const struct dfc_bar **order = malloc((chart->n_bars + (size_t)1) * sizeof *order);
    if (!order)
        return false;
    for (unsigned i = 0; i < chart->n_bars; i++) {
        order[i] = &chart->bars[i];
        most_s = fmax(most_s, fmax(chart->bars[i].most_s, chart->predicted ? chart->bars[i].predicted_s : 0));
    }
    qsort(order, chart->n_bars, sizeof *order, by_time);
    struct axis axis = make_axis(most_s);

    dfc_svg_begin(out, width, height);
    dfc_svg_text(out, MARGIN, 28, 16, "start", "#111111", chart->title);
    if (chart->subtitle)
        dfc_svg_text(out, MARGIN, 47, 12, "start", "#555555", chart->subtitle);
    write_axis(out, &axis, width);
    double share = (width - LEFT - RIGHT) / (chart->n_bars ? chart->n_bars : 1);
    for (unsigned i = 0; i < chart->n_bars; i++)
        write_bar(out, &axis, order[i], LEFT + share * (i + 0.5), fmin(share, place), chart->predicted != NULL);
    if (chart->predicted)
        write_legend(out, chart, legend_y);
    if (chart->footnote)
        dfc_svg_text(out, MARGIN, height - 14, 11, "start", "#555555", chart->footnote);
    fputs("</svg>\n", out);
    free(order);
    return true;
}
