/* windows.c - draws the windows of ranks over time, or prints them as CSV, from a run's trace, for `dfc gantt` in
 * commands/cmd_gantt.c (windows.h). The vertical axis is logarithmic, because windows double and halve.
 */
#include "compiler/cluster/windows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/show/svg.h"
#include "compiler/tools/messages.h"
#include "runtime/base/text.h"

#define WIDTH 900.0
#define HEIGHT 420.0
#define LEFT 60.0
#define RIGHT 30.0
#define TOP 66.0
#define BOTTOM 92.0
#define GAP 3.0                         /* lines that would lie on each other are so far apart */
#define MOST_SHIFT 3                    /* and so many of them on each side */

struct plot {
    const struct dfc_window_change *changes;
    size_t n;
    double end_s, most;                 /* of the axes; `most` is a power of two */
    int64_t last_rank;
    FILE *out;
};

static bool read_plot(const struct dfc_trace *trace, const char *path, FILE *out, struct plot *p)
{
    *p = (struct plot){ .end_s = dfc_trace_end_s(trace), .most = 2, .out = out };
    p->changes = dfc_trace_windows(trace, &p->n);
    for (size_t i = 0; i < p->n; i++) {
        p->end_s = fmax(p->end_s, p->changes[i].at_s);
        p->last_rank = p->changes[i].rank > p->last_rank ? p->changes[i].rank : p->last_rank;
        while (p->most < p->changes[i].window && p->most < 1e9)
            p->most *= 2;
    }
    if (p->n > 0)
        return true;
    dfc_error("'%s' has no windows: it is not the trace of a run on many ranks (--cluster --trace=FILE)", path);
    return false;
}

/* ---- CSV ---- */

bool dfc_windows_csv(const struct dfc_trace *trace, const char *path, FILE *out)
{
    struct plot p;
    if (!read_plot(trace, path, out, &p))
        return false;
    fputs("seconds,rank,window,waves_per_s\n", out);
    for (size_t i = 0; i < p.n; i++)
        fprintf(out, "%.6f,%" PRId64 ",%.0f,%.6g\n", p.changes[i].at_s, p.changes[i].rank, p.changes[i].window, p.changes[i].rate);
    return true;
}

/* ---- the picture ---- */

static double x_of(const struct plot *p, double at_s)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (p->end_s > 0 ? fmax(at_s, 0) / p->end_s : 0);
}

/* Ranks with the same window are drawn beside each other. */
static double y_of(const struct plot *p, double window, int64_t rank)
{
    const double shift = GAP * (double)((rank - 1) % (2 * MOST_SHIFT + 1) - (p->last_rank < 2 * MOST_SHIFT ? (p->last_rank - 1) / 2 : MOST_SHIFT));
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * log2(fmax(window, 1)) / log2(p->most) - shift;
}

static const char *colour_of(int64_t rank)
{
    return rank >= 1 && rank <= DFC_COLOURS ? dfc_colours[rank - 1] : DFC_OTHER_COLOUR;
}

static void draw_axes(const struct plot *p)
{
    const double step_s = dfc_svg_step(p->end_s / 8);
    char text[32];
    for (double window = 1; window <= p->most; window *= 2) {
        const double y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * log2(window) / log2(p->most);
        fprintf(p->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e3e3e3\"/>\n", LEFT, y, WIDTH - RIGHT, y);
        snprintf(text, sizeof text, "%.0f", window);
        dfc_svg_text(p->out, LEFT - 8, y + 4, 12, "end", "#444444", text);
    }
    for (unsigned i = 0; p->end_s > 0 && i * step_s <= p->end_s; i++)
        dfc_svg_text(p->out, x_of(p, i * step_s), HEIGHT - BOTTOM + 24, 12, "middle", "#444444",
                     i ? dfr_text_seconds(i * step_s, text, sizeof text) : "0");
}

/* A line of steps from the rank's first window to the end of the run, and a point at each change, of which it has n. */
static void draw_rank(const struct plot *p, const struct dfc_window_change *const *changes, size_t n)
{
    const int64_t rank = changes[0]->rank;
    const char *colour = colour_of(rank);
    fprintf(p->out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            fprintf(p->out, "%.1f,%.1f ", x_of(p, changes[i]->at_s), y_of(p, changes[i - 1]->window, rank));
        fprintf(p->out, "%.1f,%.1f ", x_of(p, changes[i]->at_s), y_of(p, changes[i]->window, rank));
    }
    fprintf(p->out, "%.1f,%.1f\"/>\n", x_of(p, p->end_s), y_of(p, changes[n - 1]->window, rank));
    for (size_t i = 0; i < n; i++)
        fprintf(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"><title>rank %" PRId64 ": %.0f waves from %.3f s on; %.4g waves/s "
                "before</title></circle>\n", x_of(p, changes[i]->at_s), y_of(p, changes[i]->window, rank), colour, rank, changes[i]->window,
                changes[i]->at_s, changes[i]->rate);
}

/* The last rank first; those of one rank in the order of the trace. */
static int by_rank(const void *a, const void *b)
{
    const struct dfc_window_change *x = *(const struct dfc_window_change *const *)a, *y = *(const struct dfc_window_change *const *)b;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return (x > y) - (x < y);
}

/* Draws all ranks, those with a colour last, because they lie on the others. Says which of these there are: has[rank], and has[0] for others. */
static bool draw_ranks(const struct plot *p, bool has[DFC_COLOURS + 1])
{
    const struct dfc_window_change **sorted = malloc((p->n + 1) * sizeof *sorted);
    if (!sorted) {
        dfc_error("out of memory");
        return false;
    }
    for (size_t i = 0; i < p->n; i++)
        sorted[i] = &p->changes[i];
    qsort(sorted, p->n, sizeof *sorted, by_rank);
    for (size_t from = 0, to; from < p->n && sorted[from]->rank >= 1; from = to) {
        const int64_t rank = sorted[from]->rank;
        for (to = from + 1; to < p->n && sorted[to]->rank == rank; to++)
            ;
        draw_rank(p, sorted + from, to - from);
        has[rank <= DFC_COLOURS ? rank : 0] = true;
    }
    free(sorted);
    return true;
}

bool dfc_windows_draw(const struct dfc_trace *trace, const char *path, FILE *out)
{
    const char *slash = strrchr(path, '/');
    double x = LEFT, y = HEIGHT - 40;
    char text[300];
    bool has[DFC_COLOURS + 1] = { false };
    struct plot p;

    if (!read_plot(trace, path, out, &p))
        return false;
    dfc_svg_begin(out, WIDTH, HEIGHT);
    snprintf(text, sizeof text, "%.200s: waves that each rank holds at once", slash ? slash + 1 : path);
    dfc_svg_text(out, LEFT, 26, 15, "start", "#111111", text);
    dfc_svg_text(out, LEFT, 44, 12, "start", "#444444", "the window over time; a point is a change. Lines of one window are drawn side by side");
    draw_axes(&p);
    if (!draw_ranks(&p, has))
        return false;
    for (int64_t rank = 1; rank <= DFC_COLOURS; rank++) {
        snprintf(text, sizeof text, "rank %" PRId64, rank);
        if (has[rank])
            dfc_svg_key(out, LEFT, WIDTH - RIGHT, &x, &y, colour_of(rank), text);
    }
    if (has[0])
        dfc_svg_key(out, LEFT, WIDTH - RIGHT, &x, &y, DFC_OTHER_COLOUR, "other ranks");
    fputs("</svg>\n", out);
    return true;
}
