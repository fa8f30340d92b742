/* gantt_draw.c - draws Gantt bars as SVG, of simulated runs (gantt.c) and traces (gantt_trace.c). Adjacent bars
 * narrower than a pixel are merged into one block with the colour of the longest, so the size of the file is bounded by
 * the picture's width, whatever the size of the graph.
 */
#include "compiler/show/gantt_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/show/svg.h"
#include "runtime/base/text.h"

#define WIDTH 1400.0
#define LEAST_LEFT 150.0                /* the margin is wider if a line has a longer name */
#define RIGHT 30.0
#define TOP 90.0
#define JOB_HEIGHT 30.0
#define COPY_HEIGHT 18.0
#define GAP 7.0
#define NARROW 1.0                      /* pixels */
#define NAME 11.0                       /* size of a bar's name */
#define MOST_PARTS 100                  /* outlines of more parts would hide what they are to show */
#define COPY_COLOUR "#c9d3dc"

struct drawing {
    const struct dfc_gantt_view *view;
    FILE *out;
    double left;                        /* x at which the lines begin */
    double scale;                       /* pixels per second */
    double *y;                          /* of each line */
    double bottom;                      /* y at which the lines end */
    size_t *order;                      /* bars by line, then by beginning */
    struct dfc_palette palette;         /* of kernels, by their share of the time */
    size_t n_parts;                     /* of the chain: bars that follow each other on one line are one part */
    bool waves;                         /* there is more than one */
    bool copies;                        /* there are bars of copies */
};

/* ---- lines ---- */

static double line_height(const struct drawing *d, uint32_t line)
{
    return d->view->lines[line].copies ? COPY_HEIGHT : JOB_HEIGHT;
}

static void lay_out(struct drawing *d)
{
    double y = TOP - GAP, widest = 0;
    for (uint32_t i = 0; i < d->view->n_lines; i++) {
        widest = fmax(widest, dfp_text_width(d->view->lines[i].name, 12, false));
        y += d->view->lines[i].begins ? GAP : 0;
        d->y[i] = y;
        y += line_height(d, i) + GAP;
    }
    d->bottom = y + GAP;
    d->left = fmax(LEAST_LEFT, 20 + widest);
    d->scale = (WIDTH - d->left - RIGHT) / (d->view->end_s > 0 ? d->view->end_s : 1);
}

static double x_of(const struct drawing *d, double time_s)
{
    return d->left + time_s * d->scale;
}

/* Begins a rectangle from x to x + width over the height of a line; the caller ends the tag. */
static void open_rect(const struct drawing *d, uint32_t line, double x, double width)
{
    fprintf(d->out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\"", x, d->y[line], fmax(width, NARROW),
            line_height(d, line));
}

static void draw_lines(const struct drawing *d)
{
    for (uint32_t i = 0; i < d->view->n_lines; i++) {
        const struct dfc_gantt_line *line = &d->view->lines[i];
        dfc_svg_text(d->out, d->left - 10, d->y[i] + line_height(d, i) / 2 + 4, 12, "end",
                     line->copies ? "#666666" : "#222222", line->name);
        open_rect(d, i, d->left, WIDTH - d->left - RIGHT);
        fputs(" fill=\"#f4f4f2\"/>\n", d->out);
    }
}

static void draw_axis(const struct drawing *d)
{
    double end_s = d->view->end_s > 0 ? d->view->end_s : 1, step = dfc_svg_step(end_s / 10);
    char text[32];
    for (unsigned i = 0; i * step <= end_s * (1 + 1e-9); i++) {
        double x = x_of(d, i * step);
        fprintf(d->out, "<line x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#d8d8d8\"/>\n", x, TOP - 6, x,
                d->bottom - GAP);
        dfc_svg_text(d->out, x, TOP - 11, 12, "middle", "#555555",
                     i ? dfr_text_seconds(i * step, text, sizeof text) : "0");
    }
}

/* ---- colours and keys ---- */

static bool choose_colours(struct drawing *d)
{
    double *busy_s = calloc((size_t)d->view->n_kernels + 1, sizeof *busy_s);
    bool good = busy_s != NULL;
    for (size_t i = 0; i < d->view->n_bars && good; i++) {
        const struct dfc_gantt_bar *bar = &d->view->bars[i];
        if (bar->kind == DFC_BAR_JOB)
            busy_s[bar->kernel] += bar->end_s - bar->begin_s;
        d->waves |= bar->wave > 0;
        d->copies |= bar->kind != DFC_BAR_JOB;
    }
    good = good && dfc_palette_make(&d->palette, busy_s, d->view->n_kernels);
    free(busy_s);
    return good;
}

/* Draws the keys from y on, and gives where they end. out NULL: they are not drawn. */
static double legend(const struct drawing *d, FILE *out, double y)
{
    double x = d->left, right = WIDTH - RIGHT;
    for (uint32_t i = 0; i < d->palette.n; i++)
        dfc_svg_key(out, d->left, right, &x, &y, dfc_colours[i], d->view->kernels[d->palette.by_rank[i]]);
    if (d->copies)
        dfc_svg_key(out, d->left, right, &x, &y, COPY_COLOUR, "copy");
    if (d->palette.others)
        dfc_svg_key(out, d->left, right, &x, &y, DFC_OTHER_COLOUR, "other kernels");
    return y;
}

/* ---- bars ---- */

static void draw_title(const struct drawing *d, const struct dfc_gantt_bar *bar)
{
    char name[160], begin[32], length[32];
    d->view->name(d->view, bar, name, sizeof name);
    fputs("<title>", d->out);
    if (bar->kind == DFC_BAR_TO_PEER) {
        fputs("copy to ", d->out);
        dfr_text_xml(d->out, d->view->peer(d->view, bar));
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
    char name[160];
    if (bar->kind != DFC_BAR_JOB || width < NAME)
        return;
    d->view->name(d->view, bar, name, sizeof name);
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    if (dfp_text_width(last, NAME, false) + 4 <= width)
        dfc_svg_text(d->out, x + width / 2, d->y[bar->line] + JOB_HEIGHT / 2 + 4, NAME, "middle", "#000000", last);
}

static const char *colour_of(const struct drawing *d, const struct dfc_gantt_bar *bar)
{
    return bar->kind == DFC_BAR_JOB ? dfc_palette_colour(&d->palette, bar->kernel) : COPY_COLOUR;
}

static void draw_bar(const struct drawing *d, const struct dfc_gantt_bar *bar)
{
    double x = x_of(d, bar->begin_s), width = (bar->end_s - bar->begin_s) * d->scale;
    open_rect(d, bar->line, x, width);
    fprintf(d->out, " fill=\"%s\" stroke=\"%s\" stroke-width=\"0.6\">", colour_of(d, bar),
            width < 3 ? "none" : "#fff");
    draw_title(d, bar);
    fputs("</rect>\n", d->out);
    draw_label(d, bar, x, width);
}

/* Draws the bars of order[begin] … order[end - 1] as one block. */
static void draw_block(const struct drawing *d, size_t begin, size_t end)
{
    const struct dfc_gantt_bar *first = &d->view->bars[d->order[begin]], *longest = first;
    double end_s = first->end_s;
    for (size_t i = begin + 1; i < end; i++) {
        const struct dfc_gantt_bar *bar = &d->view->bars[d->order[i]];
        end_s = fmax(end_s, bar->end_s);
        longest = bar->end_s - bar->begin_s > longest->end_s - longest->begin_s ? bar : longest;
    }
    open_rect(d, first->line, x_of(d, first->begin_s), (end_s - first->begin_s) * d->scale);
    fprintf(d->out, " fill=\"%s\"><title>%zu short ones</title></rect>\n", colour_of(d, longest), end - begin);
}

static int compare_bars(const void *a, const void *b, void *arg)
{
    const struct dfc_gantt_bar *bars = arg, *x = &bars[*(const size_t *)a], *y = &bars[*(const size_t *)b];
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->begin_s != y->begin_s)
        return x->begin_s < y->begin_s ? -1 : 1;
    return *(const size_t *)a < *(const size_t *)b ? -1 : *(const size_t *)a > *(const size_t *)b;
}

static void draw_bars(const struct drawing *d)
{
    const struct dfc_gantt_bar *bars = d->view->bars;
    size_t n = d->view->n_bars;
    for (size_t i = 0; i < n; i++)
        d->order[i] = i;
    qsort_r(d->order, n, sizeof *d->order, compare_bars, (void *)bars);
    for (size_t i = 0, end; i < n; i = end) {
        const struct dfc_gantt_bar *first = &bars[d->order[i]];
        for (end = i + 1; end < n; end++) { /* as many bars as make one narrow block */
            const struct dfc_gantt_bar *bar = &bars[d->order[end]];
            if (bar->line != first->line || (bar->end_s - first->begin_s) * d->scale > NARROW)
                break;
        }
        if (end == i + 1)
            draw_bar(d, first);
        else
            draw_block(d, i, end);
    }
}

/* ---- the critical path: an outline around each part of it, and an arrow to the next ---- */

static const struct dfc_gantt_bar *link_of(const struct drawing *d, size_t i)
{
    return &d->view->bars[d->view->chain[i]];
}

/* The index behind the last link of the part that begins with link i. */
static size_t part_end(const struct drawing *d, size_t i)
{
    size_t end = i + 1;
    while (end < d->view->n_chain && link_of(d, end)->line == link_of(d, i)->line)
        end++;
    return end;
}

static void draw_arrow(const struct drawing *d, double x, uint32_t from, uint32_t to)
{
    bool down = d->y[from] < d->y[to];
    double begin = d->y[from] + (down ? line_height(d, from) : 0);
    double end = d->y[to] + (down ? 0 : line_height(d, to));
    fprintf(d->out, "<line x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\" marker-end=\"url(#arrow)\"/>\n", x, begin, x,
            end);
}

static bool outlines(const struct drawing *d)
{
    return d->n_parts > 1 && d->n_parts <= MOST_PARTS;
}

static void draw_chain(const struct drawing *d)
{
    size_t n = d->view->n_chain;
    if (!outlines(d))
        return;
    fputs("<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"4\" markerHeight=\"4\" "
          "orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"" DFC_PATH_COLOUR "\" stroke=\"none\"/></marker></defs>\n"
          "<g fill=\"none\" stroke=\"" DFC_PATH_COLOUR "\" stroke-width=\"2\">\n", d->out);
    for (size_t i = 0, end; i < n; i = end) {
        end = part_end(d, i);
        const struct dfc_gantt_bar *last = link_of(d, i), *first = link_of(d, end - 1);
        double x = x_of(d, first->begin_s), width = (last->end_s - first->begin_s) * d->scale;
        open_rect(d, first->line, x, width);
        fputs(width < 8 ? " stroke-width=\"1\"/>\n" : "/>\n", d->out);
        if (end < n)
            draw_arrow(d, x, link_of(d, end)->line, first->line);
    }
    fputs("</g>\n", d->out);
}

/* ---- all of it ---- */

static void draw_head(const struct drawing *d)
{
    char words[300] = "";
    dfc_svg_text(d->out, d->left, 28, 16, "start", "#111111", d->view->title);
    if (outlines(d))
        snprintf(words, sizeof words, "what made it as long is outlined");
    else if (d->n_parts == 1)
        snprintf(words, sizeof words, "%s had no pause, and made it as long as it is",
                 d->view->lines[link_of(d, 0)->line].name);
    else if (d->n_parts)
        snprintf(words, sizeof words, "what made it as long goes from line to line %zu times: too often for outlines",
                 d->n_parts - 1);
    if (*words)
        dfc_svg_text(d->out, d->left, 50, 12, "start", DFC_PATH_COLOUR, words);
}

bool dfc_gantt_draw(const struct dfc_gantt_view *view, FILE *out)
{
    struct drawing d = { .view = view, .out = out, .y = calloc((size_t)view->n_lines + 1, sizeof *d.y),
                         .order = calloc(view->n_bars + 1, sizeof *d.order) };
    bool good = d.y && d.order && choose_colours(&d);
    for (size_t i = 0; i < view->n_chain && good; i = part_end(&d, i))
        d.n_parts++;
    if (good) {
        lay_out(&d);
        dfc_svg_begin(out, WIDTH, legend(&d, NULL, d.bottom + DFC_KEY_LINE) + DFC_KEY_LINE);
        draw_head(&d);
        draw_lines(&d);
        draw_axis(&d);
        draw_bars(&d);
        draw_chain(&d);
        legend(&d, out, d.bottom + DFC_KEY_LINE);
        fputs("</svg>\n", out);
    }
    dfc_palette_free(&d.palette);
    free(d.y);
    free(d.order);
    return good;
}
