/* emit_memory_picture.c - draws the memory plan as SVG, for `dfc partition --memory=FILE` in commands/cmd_partition.c: a panel
 * for each memory, and a second one for the host, whose plan in sequence differs from that in any order. Memories with
 * equal plans share a panel.
 *
 * The vertical axis is the offset; nodes stand from left to right in the order of their numbers. A block has the colour
 * of the kernel that writes it, and the dashed line marks the bound. With more blocks than MAX_BOXES, columns show how
 * many bytes are taken instead.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/show/memory_report.h"
#include "compiler/show/svg.h"
#include "partition/memory/memory.h"
#include "partition/planner/plan_report.h"
#include "runtime/base/text.h"

#define WIDTH 1200.0
#define LEFT 100.0
#define RIGHT 30.0
#define HEAD 28.0                       /* the picture's own title */
#define TITLE 50.0                      /* above each panel */
#define HEIGHT 260.0
#define BELOW 46.0                      /* the ticks and what they count */
#define LEGEND 30.0                     /* above and below the keys */
#define NAME 11.0                       /* size of a block's name */
#define Y_TICKS 5
#define X_TICKS 10
#define MAX_BOXES 4000u                 /* nobody could tell more of them apart */
#define COLUMNS 600u                    /* of the picture that shows bytes instead of boxes */

struct panel {
    char title[DF_MAX_UNITS * 64]; /* the memories, and the order for which the plan is made */
    const struct dfp_memory *m;
    bool sequence;
    uint64_t bytes, bound_bytes;
    double top;                         /* of the plot */
};

struct picture {
    FILE *out;
    const struct df_graph *g;
    struct dfp_memory *memories;        /* by unit */
    struct panel *panels;
    unsigned n_panels;
    struct dfc_palette palette;         /* of kernels, by the bytes of their blocks */
};

static double x_of(const struct picture *d, double node)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * node / (d->g->n_nodes ? d->g->n_nodes : 1);
}

static double y_of(const struct panel *p, double offset)
{
    return p->top + HEIGHT * (1 - offset / (double)(p->bytes ? p->bytes : 1));
}

/* ---- panels ---- */

static uint64_t offset_of(const struct panel *p, uint32_t tenant)
{
    const struct dfp_tenant *t = &p->m->tenants[tenant];
    return p->sequence ? t->sequence : t->any;
}

static bool is_equal(const struct panel *a, const struct panel *b)
{
    bool equal = a->m->n_wave == b->m->n_wave && a->bytes == b->bytes && a->bound_bytes == b->bound_bytes;
    for (uint32_t t = 0; equal && t < a->m->n_wave; t++) {
        const struct dfp_tenant *x = &a->m->tenants[t], *y = &b->m->tenants[t];
        equal = x->first == y->first && x->last == y->last && x->bytes == y->bytes && offset_of(a, t) == offset_of(b, t);
    }
    return equal;
}

/* Adds a panel, or its name to the panel that shows the same. */
static void add_panel(struct picture *d, const char *memory, uint32_t unit, bool sequence)
{
    const struct dfp_memory *m = &d->memories[unit];
    const char *order = sequence ? "in sequence" : "in any order";
    struct panel panel = { .m = m, .sequence = sequence, .bytes = sequence ? m->sequence_bytes : m->any_bytes,
                           .bound_bytes = sequence ? m->sequence_bound_bytes : m->any_bound_bytes };
    for (unsigned i = 0; i < d->n_panels; i++)
        if (is_equal(&d->panels[i], &panel)) {
            size_t n = strlen(d->panels[i].title);
            snprintf(d->panels[i].title + n, sizeof panel.title - n, " = %s %s", memory, order);
            return;
        }
    snprintf(panel.title, sizeof panel.title, "%s %s", memory, order);
    panel.top = HEAD + TITLE + d->n_panels * (TITLE + HEIGHT + BELOW);
    d->panels[d->n_panels++] = panel;
}

static int make_panels(struct picture *d, const struct dfp_problem *problem, const struct df_plan *plan,
                       struct df_error *error)
{
    int code = DF_OK;
    for (uint32_t u = 0; u < plan->platform.n_units && code == DF_OK; u++) {
        code = dfp_plan_memory(problem, plan, u, 0, &d->memories[u], error);
        if (code != DF_OK)
            continue;
        add_panel(d, plan->platform.units[u].name, u, false);
        if (u == 0)
            add_panel(d, plan->platform.units[u].name, u, true);
    }
    return code;
}

static uint32_t kernel_of(const struct picture *d, const struct dfp_tenant *t)
{
    return d->g->nodes[dfp_tenant_writer(d->g, t)].kernel;
}

static bool choose_colours(struct picture *d)
{
    double *weight = calloc((size_t)d->g->n_kernels + 1, sizeof *weight);
    bool good = weight != NULL;
    for (unsigned i = 0; i < d->n_panels && good; i++)
        for (uint32_t t = 0; t < d->panels[i].m->n_wave && d->panels[i].m->n_wave <= MAX_BOXES; t++)
            weight[kernel_of(d, &d->panels[i].m->tenants[t])] += (double)d->panels[i].m->tenants[t].bytes;
    good = good && dfc_palette_make(&d->palette, weight, d->g->n_kernels);
    free(weight);
    return good;
}

/* ---- blocks ---- */

/* Writes a block's name into its box, if there is room: its value's name, or that of the node that makes it. */
static void name_box(const struct picture *d, const struct dfp_tenant *t, double left, double top, double width,
                     double height)
{
    char path[200];
    const char *name = df_graph_string(d->g, d->g->values[t->first].name);
    if (!*name) {
        df_node_name(d->g, dfp_tenant_writer(d->g, t), path, sizeof path);
        name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    }
    if (height >= NAME + 1 && dfp_text_width(name, NAME, false) + 4 <= width)
        dfc_svg_text(d->out, left + width / 2, top + height / 2 + 0.36 * NAME, NAME, "middle", "#000000", name);
}

static void box(const struct picture *d, const struct panel *p, uint32_t number)
{
    const struct dfp_tenant *t = &p->m->tenants[number];
    uint64_t offset = offset_of(p, number);
    uint32_t begin = dfp_tenant_writer(d->g, t), end = dfp_tenant_last_end(d->g, t) + 1;
    double top = y_of(p, (double)(offset + t->bytes)), left = x_of(d, begin);
    double width = x_of(d, end) - left, height = y_of(p, (double)offset) - top;
    double least = fmin(width, height), border = least < 2 ? 0 : least < 5 ? 0.3 : 0.8; /* its colour must show */
    char size[32];
    fprintf(d->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" stroke=\"#444444\" "
            "stroke-width=\"%.1f\"><title>v%u ", left, top, width, height,
            dfc_palette_colour(&d->palette, kernel_of(d, t)), border, t->first);
    dfr_text_xml(d->out, df_graph_string(d->g, d->g->values[t->first].name));
    fprintf(d->out, ": %s at %" PRIu64 ", n%u to n%u</title></rect>\n", dfp_text_bytes(size, t->bytes), offset, begin,
            end - 1);
    name_box(d, t, left, top, width, height);
}

/* If there are too many tenants for boxes: draws, for each column, the most bytes that are taken in it. */
static int columns(const struct picture *d, const struct panel *p, struct df_error *error)
{
    uint32_t n = d->g->n_nodes;
    uint64_t *begun = calloc(2 * ((size_t)n + 1), sizeof *begun), live = 0;
    if (!begun) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return DF_E_MEMORY;
    }
    uint64_t *ended = begun + n + 1;
    for (uint32_t t = 0; t < p->m->n_wave; t++) {
        begun[dfp_tenant_writer(d->g, &p->m->tenants[t])] += p->m->tenants[t].bytes;
        ended[dfp_tenant_last_end(d->g, &p->m->tenants[t])] += p->m->tenants[t].bytes;
    }
    fprintf(d->out, "<path fill=\"%s\" d=\"M%.2f %.2f", dfc_colours[0], LEFT, y_of(p, 0));
    for (uint32_t c = 0, v = 0; c < COLUMNS; c++) {
        uint64_t most = live;
        double first = x_of(d, v);
        for (; v < (uint64_t)n * (c + 1) / COLUMNS; v++) {
            live += begun[v];
            most = live > most ? live : most;
            live -= ended[v];
        }
        fprintf(d->out, "L%.2f %.2fH%.2f", first, y_of(p, (double)most), x_of(d, v));
    }
    fprintf(d->out, "V%.2fZ\"/>\n", y_of(p, 0));
    free(begun);
    return DF_OK;
}

/* ---- axes ---- */

static void line(FILE *out, double x1, double y1, double x2, double y2, const char *look)
{
    fprintf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" fill=\"none\" %s/>\n", x1, y1, x2, y2, look);
}

/* Before the blocks, which hide the lines where they lie. A tick's size is a power of two, as its unit is. */
static void y_axis(const struct picture *d, const struct panel *p)
{
    double step = exp2(ceil(log2(fmax((double)p->bytes / Y_TICKS, 1))));
    char words[32];
    for (double at = 0; at <= (double)p->bytes; at += step) {
        line(d->out, LEFT - 4, y_of(p, at), WIDTH - RIGHT, y_of(p, at), "stroke=\"#cccccc\"");
        dfc_svg_text(d->out, LEFT - 8, y_of(p, at) + 4, 11, "end", "#333333", dfp_text_bytes(words, (uint64_t)at));
    }
}

/* A tick is in the middle of its node's column. */
static void x_axis(const struct picture *d, const struct panel *p)
{
    const char *axis = "stroke=\"#333333\"";
    double bottom = y_of(p, 0), n = d->g->n_nodes, step = dfc_svg_step(fmax(n / X_TICKS, 1));
    char words[32];
    for (double at = 0; at < n; at += step) {
        double x = x_of(d, at + 0.5);
        line(d->out, x, bottom, x, bottom + 5, axis);
        snprintf(words, sizeof words, "%.0f", at);
        dfc_svg_text(d->out, x, bottom + 18, 11, "middle", "#333333", words);
    }
    dfc_svg_text(d->out, (LEFT + WIDTH - RIGHT) / 2, bottom + 36, 12, "middle", "#333333",
                 "node, in the order of their numbers");
    line(d->out, LEFT, p->top, LEFT, bottom, axis);
    line(d->out, LEFT, bottom, WIDTH - RIGHT, bottom, axis);
}

static int draw_panel(const struct picture *d, const struct panel *p, struct df_error *error)
{
    char size[32], bound[32], words[sizeof p->title + 160];
    int code = DF_OK;
    y_axis(d, p);
    if (p->m->n_wave > MAX_BOXES)
        code = columns(d, p, error);
    else
        for (uint32_t t = 0; t < p->m->n_wave; t++)
            box(d, p, t);
    x_axis(d, p);
    line(d->out, LEFT, y_of(p, (double)p->bound_bytes), WIDTH - RIGHT, y_of(p, (double)p->bound_bytes),
         "stroke=\"" DFC_PATH_COLOUR "\" stroke-width=\"2\" stroke-dasharray=\"7 4\"");
    snprintf(words, sizeof words, "%s: %s, at least %s (dashed)%s", p->title, dfp_text_bytes(size, p->bytes),
             dfp_text_bytes(bound, p->bound_bytes),
             p->m->n_wave > MAX_BOXES ? "; too many blocks for a box each: bytes that are taken" : "");
    dfc_svg_text(d->out, LEFT, p->top - 16, 14, "start", "#111111", words);
    return code;
}

/* ---- all of it ---- */

/* Draws the keys from y on, and gives where they end. out NULL: they are not drawn. */
static double legend(const struct picture *d, FILE *out, double y)
{
    double x = LEFT;
    for (uint32_t i = 0; i < d->palette.n; i++) {
        uint32_t kernel = d->palette.by_rank[i];
        dfc_svg_key(out, LEFT, WIDTH - RIGHT, &x, &y, dfc_colours[i],
                    df_graph_string(d->g, d->g->kernels[kernel].name));
    }
    if (d->palette.others)
        dfc_svg_key(out, LEFT, WIDTH - RIGHT, &x, &y, DFC_OTHER_COLOUR, "other kernels");
    return y;
}

static int draw(struct picture *d, const struct df_plan *plan, struct df_error *error)
{
    double keys = HEAD + d->n_panels * (TITLE + HEIGHT + BELOW) + LEGEND;
    char title[300];
    int code = DF_OK;
    dfc_svg_begin(d->out, WIDTH, legend(d, NULL, keys) + (d->palette.n ? LEGEND : 0));
    snprintf(title, sizeof title, "%s: memory of a wave, planned by %s", d->g->name, plan->policy);
    dfc_svg_text(d->out, LEFT, HEAD, 16, "start", "#111111", title);
    for (unsigned i = 0; i < d->n_panels && code == DF_OK; i++)
        code = draw_panel(d, &d->panels[i], error);
    if (d->palette.n)
        dfc_svg_text(d->out, LEFT - 12, keys, 12, "end", "#222222", "written by");
    legend(d, d->out, keys);
    fputs("</svg>\n", d->out);
    return code;
}

int dfc_emit_memory_picture(FILE *out, const struct dfp_problem *problem, const struct df_plan *plan,
                            struct df_error *error)
{
    uint32_t n_units = plan->platform.n_units;
    struct picture d = { .out = out, .g = problem->graph, .memories = calloc(n_units + 1, sizeof *d.memories),
                         .panels = calloc(n_units + 1, sizeof *d.panels) };
    int code = DF_E_MEMORY;
    if (d.memories && d.panels)
        code = make_panels(&d, problem, plan, error);
    if (code == DF_OK)
        code = choose_colours(&d) ? draw(&d, plan, error) : DF_E_MEMORY;
    if (code == DF_E_MEMORY && !*error->text)
        snprintf(error->text, sizeof error->text, "out of memory");
    for (uint32_t u = 0; u < n_units && d.memories; u++)
        dfp_memory_free(&d.memories[u]);
    dfc_palette_free(&d.palette);
    free(d.panels);
    free(d.memories);
    return code;
}
