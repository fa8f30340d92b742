/* gantt_draw.c - draws the bars as SVG. A bar that would be narrower than half a pixel is drawn as one grey block with
 * its neighbours. So the picture's width bounds its size, whatever the size of the graph.
 */
#include "compiler/show/gantt_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"

#define WIDTH 1400.0
#define LEAST_LEFT 150.0                /* the margin is wider if a row has a longer name */
#define RIGHT 30.0
#define TOP 64.0
#define JOB_HEIGHT 30.0
#define COPY_HEIGHT 18.0
#define GAP 7.0
#define NARROW 0.5                      /* pixels */
#define GLYPH 6.2                       /* width of a character of 11 pixels */
#define WIDE_GLYPH 7.7                  /* width of one of 12 pixels in wide fonts, for text that must not be cut or
                                         * touch another */
#define LEGEND_LINE 20.0
#define COPY_COLOUR "#c9d3dc"
#define OTHER_COLOUR "#b9b9b9"
#define MERGED_COLOUR "#8d8d8d"

static const char *const palette[] = { "#56B4E9", "#E69F00", "#2DB88A", "#F0E442", "#DE9FC3", "#D97757",
                                       "#8E9BD8", "#A8D08D", "#C9A36B", "#7FC8C2", "#B39DDB", "#E8B4A0" };
enum { N_COLOURS = sizeof palette / sizeof *palette };

struct drawing {
    const struct dfc_gantt *gantt;
    const struct dfp_problem *problem;
    FILE *out;
    double left;                        /* x at which the rows begin */
    double scale;                       /* pixels per second */
    uint32_t n_workers, n_rows;
    uint32_t copy_rows;                 /* of a device: in, out, and to peers if any device has them */
    double *row_y;                      /* y of each row: workers; then, for each device, to it, from it, to peers */
    uint32_t *colour;                   /* by kernel; N_COLOURS: one of the rest */
    uint32_t *kernels;                  /* in the order of their share of the time */
    size_t *order;                      /* bars by row, then by beginning */
    bool waves;                         /* there is more than one */
    bool others;                        /* kernels ran that have no colour of their own */
    bool copies, merged;                /* there are bars of copies, and blocks of several jobs */
};

/* ---- rows ---- */

static uint32_t row_of(const struct drawing *d, const struct dfc_gantt_bar *bar)
{
    if (bar->kind == DFC_BAR_JOB)
        return bar->row;
    return d->n_workers + d->copy_rows * (bar->row - 1) + bar->kind - DFC_BAR_TO_DEVICE;
}

static double row_height(const struct drawing *d, uint32_t row)
{
    return row < d->n_workers ? JOB_HEIGHT : COPY_HEIGHT;
}

/* Places the rows: a device's copies stand below its workers. Gives the y at which the rows end. */
static double lay_out(struct drawing *d)
{
    const struct df_platform *p = d->problem->platform;
    double y = TOP;
    for (uint32_t u = 0, w = 0; u < p->n_units; u++) {
        for (uint32_t i = 0; i < p->units[u].workers; i++, w++, y += JOB_HEIGHT + GAP)
            d->row_y[w] = y;
        for (uint32_t i = 0; u && i < d->copy_rows; i++, y += COPY_HEIGHT + GAP)
            d->row_y[d->n_workers + d->copy_rows * (u - 1) + i] = y;
        y += GAP;
    }
    return y;
}

static double x_of(const struct drawing *d, double time_s)
{
    return d->left + time_s * d->scale;
}

/* The left margin: room for the longest name of a row. */
static double left_of(const struct df_platform *p)
{
    size_t longest = 0;
    for (uint32_t u = 0; u < p->n_units; u++)
        longest = strlen(p->units[u].name) > longest ? strlen(p->units[u].name) : longest;
    return fmax(LEAST_LEFT, 20 + WIDE_GLYPH * (double)(longest + strlen(" peers")));
}

/* Begins a rectangle from x to x + width over the height of a row; the caller ends the tag. */
static void open_rect(const struct drawing *d, uint32_t row, double x, double width)
{
    fprintf(d->out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\"", x, d->row_y[row], fmax(width, NARROW),
            row_height(d, row));
}

/* ---- text ---- */

static void label_row(const struct drawing *d, uint32_t row, const char *name, const char *what)
{
    double middle = d->row_y[row] + row_height(d, row) / 2;
    fprintf(d->out, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\"%s>", d->left - 10, middle + 4,
            row < d->n_workers ? "" : " fill=\"#666\"");
    dfr_text_xml(d->out, name);
    dfr_text_xml(d->out, what);
    fputs("</text>\n", d->out);
    open_rect(d, row, d->left, WIDTH - d->left - RIGHT);
    fputs(" fill=\"#f4f4f2\"/>\n", d->out);
}

static void label_rows(const struct drawing *d)
{
    const struct df_platform *p = d->problem->platform;
    char what[32];
    for (uint32_t u = 0, w = 0; u < p->n_units; u++) {
        for (uint32_t i = 0; i < p->units[u].workers; i++, w++) {
            snprintf(what, sizeof what, " %u", (unsigned)i);
            label_row(d, w, p->units[u].name, p->units[u].workers > 1 || !u ? what : "");
        }
        if (u) {
            label_row(d, d->n_workers + d->copy_rows * (u - 1), p->units[u].name, " in");
            label_row(d, d->n_workers + d->copy_rows * (u - 1) + 1, p->units[u].name, " out");
            if (d->copy_rows > 2)
                label_row(d, d->n_workers + d->copy_rows * (u - 1) + 2, p->units[u].name, " peers");
        }
    }
}

static void draw_axis(const struct drawing *d, double end_s, double bottom)
{
    double rough = end_s / 10, power = pow(10, floor(log10(rough)));
    double step = rough <= power ? power : rough <= 2 * power ? 2 * power : rough <= 5 * power ? 5 * power : 10 * power;
    char text[32];
    for (unsigned i = 0; i * step <= end_s * (1 + 1e-9); i++) {
        double x = x_of(d, i * step);
        fprintf(d->out, "<line x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#d8d8d8\"/>\n", x, TOP - 6, x,
                bottom);
        fprintf(d->out, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\" fill=\"#666\">%s</text>\n", x, TOP - 10,
                i ? dfr_text_seconds(i * step, text, sizeof text) : "0");
    }
}

/* ---- colours: the kernels with most time have their own ---- */

static bool choose_colours(struct drawing *d)
{
    const struct df_graph *g = d->problem->graph;
    double *busy_s = calloc(g->n_kernels + 1, sizeof *busy_s);
    if (!busy_s)
        return false;
    for (size_t i = 0; i < d->gantt->n_bars; i++) {
        const struct dfc_gantt_bar *bar = &d->gantt->bars[i];
        if (bar->kind == DFC_BAR_JOB)
            busy_s[g->nodes[bar->what].kernel] += bar->end_s - bar->begin_s;
    }
    for (uint32_t k = 0; k < g->n_kernels; k++) {
        d->colour[k] = N_COLOURS;
        d->kernels[k] = DF_NONE;
    }
    for (uint32_t rank = 0; rank < N_COLOURS && rank < g->n_kernels; rank++) {
        uint32_t most = DF_NONE;
        for (uint32_t k = 0; k < g->n_kernels; k++)
            if (d->colour[k] == N_COLOURS && busy_s[k] > 0 && (most == DF_NONE || busy_s[k] > busy_s[most]))
                most = k;
        if (most == DF_NONE)
            break;
        d->colour[most] = rank;
        d->kernels[rank] = most;
    }
    for (uint32_t k = 0; k < g->n_kernels; k++)
        d->others |= busy_s[k] > 0 && d->colour[k] == N_COLOURS;
    free(busy_s);
    return true;
}

static double key_width(const char *name)
{
    return 34 + WIDE_GLYPH * (double)strlen(name);
}

static double draw_key(const struct drawing *d, double x, double y, const char *colour, const char *name)
{
    fprintf(d->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\" fill=\"%s\"/><text x=\"%.1f\" y=\"%.1f\">", x,
            y - 10, colour, x + 19, y);
    dfr_text_xml(d->out, name);
    fputs("</text>\n", d->out);
    return x + key_width(name);
}

/* The number of lines that the kernels' keys take. `draw` false: they are only counted. */
static unsigned legend_lines(const struct drawing *d, double y, bool draw)
{
    const struct df_graph *g = d->problem->graph;
    double x = d->left;
    unsigned lines = 1;
    for (uint32_t i = 0; i < N_COLOURS && i < g->n_kernels && d->kernels[i] != DF_NONE; i++) {
        const char *name = df_graph_string(g, g->kernels[d->kernels[i]].name);
        if (x > d->left && x + key_width(name) > WIDTH - RIGHT) {
            x = d->left;
            lines++;
        }
        if (draw)
            draw_key(d, x, y + (lines - 1) * LEGEND_LINE, palette[i], name);
        x += key_width(name);
    }
    return lines;
}

/* After the bars, so that it is known which kinds there are. */
static void draw_legend(const struct drawing *d, double y)
{
    double x = d->left;
    y += legend_lines(d, y, true) * LEGEND_LINE;
    if (d->copies)
        x = draw_key(d, x, y, COPY_COLOUR, "copy");
    if (d->others)
        x = draw_key(d, x, y, OTHER_COLOUR, "other kernels");
    if (d->merged)
        draw_key(d, x, y, MERGED_COLOUR, "several short jobs");
}

/* ---- bars ---- */

static void name_bar(const struct drawing *d, const struct dfc_gantt_bar *bar, char *name, size_t size)
{
    const struct df_graph *g = d->problem->graph;
    df_node_name(g, bar->kind == DFC_BAR_JOB ? bar->what : g->values[bar->what].producer, name, size);
}

static void draw_title(const struct drawing *d, const struct dfc_gantt_bar *bar)
{
    char name[160], begin[32], length[32];
    name_bar(d, bar, name, sizeof name);
    fputs("<title>", d->out);
    if (bar->kind == DFC_BAR_TO_PEER) {
        fputs("copy to ", d->out);
        dfr_text_xml(d->out, d->problem->platform->units[bar->to].name);
        fputs(", of ", d->out);
    } else if (bar->kind != DFC_BAR_JOB) {
        fputs(bar->kind == DFC_BAR_TO_DEVICE ? "copy in, of " : "copy back, of ", d->out);
    }
    dfr_text_xml(d->out, name);
    if (d->waves)
        fprintf(d->out, ", wave %u", (unsigned)bar->wave);
    fprintf(d->out, ": at %s, %s</title>", dfr_text_seconds(bar->begin_s, begin, sizeof begin),
            dfr_text_seconds(bar->end_s - bar->begin_s, length, sizeof length));
}

/* Writes the last part of the node's name into the bar, if it fits. */
static void draw_label(const struct drawing *d, const struct dfc_gantt_bar *bar, double x, double width)
{
    char name[160], *last;
    uint32_t row = row_of(d, bar);
    name_bar(d, bar, name, sizeof name);
    last = strrchr(name, '/');
    last = last ? last + 1 : name;
    if (bar->kind != DFC_BAR_JOB || (double)strlen(last) * GLYPH + 4 > width)
        return;
    fprintf(d->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"11\">", x + width / 2,
            d->row_y[row] + row_height(d, row) / 2 + 4);
    dfr_text_xml(d->out, last);
    fputs("</text>\n", d->out);
}

static void draw_bar(const struct drawing *d, const struct dfc_gantt_bar *bar)
{
    uint32_t row = row_of(d, bar), colour = N_COLOURS;
    double x = x_of(d, bar->begin_s), width = (bar->end_s - bar->begin_s) * d->scale;
    const char *fill = COPY_COLOUR;
    if (bar->kind == DFC_BAR_JOB) {
        colour = d->colour[d->problem->graph->nodes[bar->what].kernel];
        fill = colour < N_COLOURS ? palette[colour] : OTHER_COLOUR;
    }
    open_rect(d, row, x, width);
    fprintf(d->out, " fill=\"%s\" stroke=\"%s\" stroke-width=\"0.6\">", fill, width < 3 ? "none" : "#fff");
    draw_title(d, bar);
    fputs("</rect>\n", d->out);
    draw_label(d, bar, x, width);
}

static void draw_merged(const struct drawing *d, uint32_t row, double begin_s, double end_s, unsigned n)
{
    open_rect(d, row, x_of(d, begin_s), (end_s - begin_s) * d->scale);
    fprintf(d->out, " fill=\"%s\"><title>%u short ones</title></rect>\n",
            row < d->n_workers ? MERGED_COLOUR : COPY_COLOUR, n);
}

static int compare_bars(const void *a, const void *b, void *arg)
{
    const struct drawing *d = arg;
    const struct dfc_gantt_bar *x = &d->gantt->bars[*(const size_t *)a], *y = &d->gantt->bars[*(const size_t *)b];
    uint32_t row = row_of(d, x), other = row_of(d, y);
    if (row != other)
        return row < other ? -1 : 1;
    if (x->begin_s != y->begin_s)
        return x->begin_s < y->begin_s ? -1 : 1;
    return *(const size_t *)a < *(const size_t *)b ? -1 : *(const size_t *)a > *(const size_t *)b;
}

static void draw_bars(struct drawing *d)
{
    size_t n = d->gantt->n_bars;
    for (size_t i = 0; i < n; i++)
        d->order[i] = i;
    qsort_r(d->order, n, sizeof *d->order, compare_bars, d);
    for (size_t i = 0; i < n;) {
        const struct dfc_gantt_bar *first = &d->gantt->bars[d->order[i]], *bar = first;
        size_t end = i + 1;
        double end_s = first->end_s;
        for (; end < n; end++) {        /* as many bars as make one narrow block */
            bar = &d->gantt->bars[d->order[end]];
            if (row_of(d, bar) != row_of(d, first) || (bar->end_s - first->begin_s) * d->scale > NARROW)
                break;
            end_s = fmax(end_s, bar->end_s);
        }
        d->copies |= first->kind != DFC_BAR_JOB;
        d->merged |= first->kind == DFC_BAR_JOB && end > i + 1;
        if (end == i + 1)
            draw_bar(d, first);
        else
            draw_merged(d, row_of(d, first), first->begin_s, end_s, (unsigned)(end - i));
        i = end;
    }
}

/* ---- the critical path ---- */

static void draw_arrow(const struct drawing *d, double x, uint32_t from, uint32_t to)
{
    bool down = d->row_y[from] < d->row_y[to];
    double begin = d->row_y[from] + (down ? row_height(d, from) : 0);
    double end = d->row_y[to] + (down ? 0 : row_height(d, to));
    fprintf(d->out, "<line x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\" marker-end=\"url(#arrow)\"/>\n", x, begin, x,
            end);
}

static bool draw_chain(const struct drawing *d)
{
    const struct dfc_gantt_bar *bars = d->gantt->bars;
    size_t *chain, n = dfc_gantt_chain(d->gantt, d->problem, &chain);
    double drawn = INFINITY;            /* x of the last outline; outlines closer than that are left out */
    if (n == SIZE_MAX)
        return false;
    fputs("<g fill=\"none\" stroke=\"#b00020\" stroke-width=\"2\">\n", d->out);
    for (size_t i = 0; i < n; i++) {
        const struct dfc_gantt_bar *bar = &bars[chain[i]];
        uint32_t row = row_of(d, bar);
        double x = x_of(d, bar->begin_s);
        if (drawn - x < 1)
            continue;
        drawn = x;
        open_rect(d, row, x, (bar->end_s - bar->begin_s) * d->scale);
        fputs((bar->end_s - bar->begin_s) * d->scale < 8 ? " stroke-width=\"1\"/>\n" : "/>\n", d->out);
        if (i + 1 < n && row_of(d, &bars[chain[i + 1]]) != row)
            draw_arrow(d, x, row_of(d, &bars[chain[i + 1]]), row);
    }
    fputs("</g>\n", d->out);
    free(chain);
    return true;
}

/* ---- all of it ---- */

static void draw_head(const struct drawing *d, const char *policy, double makespan_s, double height)
{
    char time[32];
    fprintf(d->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
            "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"4\" markerHeight=\"4\" "
            "orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#b00020\" stroke=\"none\"/></marker></defs>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"%.0f\" y=\"24\" font-size=\"16\">",
            WIDTH, height, WIDTH, height, d->left);
    dfr_text_xml(d->out, d->problem->graph->name);
    fputs(" on ", d->out);
    dfr_text_xml(d->out, d->problem->platform->name);
    fprintf(d->out, ", %s: %s", policy, dfr_text_seconds(makespan_s, time, sizeof time));
    if (d->gantt->n_bars)
        fputs(" <tspan fill=\"#b00020\" font-size=\"12\">what made it as long is outlined</tspan>", d->out);
    fputs("</text>\n", d->out);
}

static bool allocate(struct drawing *d)
{
    d->row_y = calloc(d->n_rows + 1, sizeof *d->row_y);
    d->colour = calloc(d->problem->graph->n_kernels + 1, sizeof *d->colour);
    d->kernels = calloc(d->problem->graph->n_kernels + 1, sizeof *d->kernels);
    d->order = calloc(d->gantt->n_bars + 1, sizeof *d->order);
    return d->row_y && d->colour && d->kernels && d->order;
}

bool dfc_gantt_write(const struct dfc_gantt *gantt, const struct dfp_problem *problem, const char *policy,
                     double makespan_s, FILE *out)
{
    struct drawing d = { .gantt = gantt, .problem = problem, .out = out };
    double end_s = makespan_s > 0 ? makespan_s : 1, bottom;
    d.left = left_of(problem->platform);
    d.scale = (WIDTH - d.left - RIGHT) / end_s;
    for (uint32_t u = 0; u < problem->platform->n_units; u++)
        d.n_workers += problem->platform->units[u].workers;
    d.copy_rows = 2;
    for (uint32_t u = 1; u < problem->platform->n_units; u++)
        if (df_platform_peers(problem->platform, u))
            d.copy_rows = 3;
    d.n_rows = d.n_workers + d.copy_rows * (problem->platform->n_units - 1);
    for (size_t i = 0; i < gantt->n_bars; i++)
        d.waves |= gantt->bars[i].wave > 0;
    bool good = !gantt->failed && allocate(&d) && choose_colours(&d);
    if (good) {
        bottom = lay_out(&d);
        draw_head(&d, policy, makespan_s, bottom + (legend_lines(&d, 0, false) + 3) * LEGEND_LINE);
        label_rows(&d);
        draw_axis(&d, end_s, bottom);
        draw_bars(&d);
        good = draw_chain(&d);
        draw_legend(&d, bottom + LEGEND_LINE);
        fputs("</svg>\n", out);
    }
    free(d.row_y);
    free(d.colour);
    free(d.kernels);
    free(d.order);
    return good;
}
