/* emit_memory_picture.c - draws the memory plan as SVG, with one panel below the other. Offsets grow upwards; nodes
 * stand in the order of their numbers from left to right. The dashed line is the bound.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "compiler/show/memory_report.h"
#include "partition/memory/memory.h"
#include "partition/planner/plan_report.h"
#include "runtime/base/text.h"

#define WIDTH 1200.0
#define LEFT 90.0
#define RIGHT 30.0
#define TITLE 46.0                      /* above each panel */
#define HEIGHT 260.0
#define BELOW 34.0
#define MAX_BOXES 4000u                 /* nobody could tell more of them apart */
#define COLUMNS 600u                    /* of the picture that shows bytes instead of boxes */

static const char *const colours[] = { "#56B4E9", "#E69F00", "#2DB88A", "#F0E442", "#DE9FC3", "#D97757",
                                       "#8E9BD8", "#A8D08D", "#C9A36B", "#7FC8C2", "#B39DDB", "#E8B4A0" };
enum { N_COLOURS = sizeof colours / sizeof *colours };

struct panel {
    FILE *out;
    const struct df_graph *g;
    const struct dfp_memory *m;
    bool sequence;
    double top;                         /* of the plot */
    uint64_t bytes, bound_bytes;
};

static double x_of(const struct panel *p, double node)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * node / (p->g->n_nodes ? p->g->n_nodes : 1);
}

static double y_of(const struct panel *p, double offset)
{
    return p->top + HEIGHT * (1 - offset / (double)(p->bytes ? p->bytes : 1));
}

static void text(FILE *out, double x, double y, const char *anchor, int size, const char *words)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\" fill=\"#333333\">", x, y, size,
            anchor);
    dfr_text_xml(out, words);
    fputs("</text>\n", out);
}

static void box(const struct panel *p, uint32_t number)
{
    const struct dfp_tenant *t = &p->m->tenants[number];
    uint64_t offset = p->sequence ? t->sequence : t->any;
    uint32_t begin = dfp_tenant_writer(p->g, t), end = dfp_tenant_last_end(p->g, t) + 1;
    double top = y_of(p, (double)(offset + t->bytes)), left = x_of(p, begin);
    char size[32];
    fprintf(p->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" stroke=\"#444444\" "
            "stroke-width=\"0.4\"><title>v%u ", left, top, x_of(p, end) - left, y_of(p, (double)offset) - top,
            colours[number % N_COLOURS], t->first);
    dfr_text_xml(p->out, df_graph_string(p->g, p->g->values[t->first].name));
    fprintf(p->out, ": %s at %" PRIu64 ", n%u to n%u</title></rect>\n", dfp_text_bytes(size, t->bytes), offset, begin,
            end - 1);
}

/* If there are too many tenants for boxes: draws, for each column, the most bytes that are taken in it. */
static int columns(const struct panel *p, struct df_error *error)
{
    uint32_t n = p->g->n_nodes;
    uint64_t *begun = calloc(2 * ((size_t)n + 1), sizeof *begun), live = 0;
    if (!begun) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return DF_E_MEMORY;
    }
    uint64_t *ended = begun + n + 1;
    for (uint32_t t = 0; t < p->m->n_wave; t++) {
        begun[dfp_tenant_writer(p->g, &p->m->tenants[t])] += p->m->tenants[t].bytes;
        ended[dfp_tenant_last_end(p->g, &p->m->tenants[t])] += p->m->tenants[t].bytes;
    }
    for (uint32_t c = 0, v = 0; c < COLUMNS; c++) {
        uint64_t most = live;
        uint32_t first = v;
        for (; v < (uint64_t)n * (c + 1) / COLUMNS; v++) {
            live += begun[v];
            most = live > most ? live : most;
            live -= ended[v];
        }
        double top = y_of(p, (double)most);
        fprintf(p->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x_of(p, first),
                top, x_of(p, v) - x_of(p, first), y_of(p, 0) - top, colours[0]);
    }
    free(begun);
    return DF_OK;
}

static void frame(const struct panel *p, const char *title)
{
    char size[32], bound[32], words[300];
    double bound_y = y_of(p, (double)p->bound_bytes), bottom = y_of(p, 0);
    snprintf(words, sizeof words, "%s: %s, at least %s%s", title, dfp_text_bytes(size, p->bytes),
             dfp_text_bytes(bound, p->bound_bytes),
             p->m->n_wave > MAX_BOXES ? "; too many tokens for a box each: bytes that are taken" : "");
    text(p->out, LEFT, p->top - 12, "start", 14, words);
    text(p->out, LEFT - 6, p->top + 8, "end", 11, dfp_text_bytes(size, p->bytes));
    text(p->out, LEFT - 6, bottom, "end", 11, "0");
    fprintf(p->out, "<path d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\" stroke=\"#333333\"/>\n", LEFT, p->top, bottom,
            WIDTH - RIGHT);
    fprintf(p->out, "<path d=\"M%.1f %.2fH%.1f\" stroke=\"#B00020\" stroke-dasharray=\"6 4\"/>\n", LEFT, bound_y,
            WIDTH - RIGHT);
    text(p->out, LEFT, bottom + 16, "start", 11, "n0");
    snprintf(words, sizeof words, "n%u", p->g->n_nodes ? p->g->n_nodes - 1 : 0);
    text(p->out, WIDTH - RIGHT, bottom + 16, "end", 11, words);
}

static int draw(const struct panel *p, const char *title, struct df_error *error)
{
    int code = DF_OK;
    if (p->m->n_wave > MAX_BOXES)
        code = columns(p, error);
    else
        for (uint32_t t = 0; t < p->m->n_wave; t++)
            box(p, t);
    frame(p, title);
    return code;
}

static int draw_unit(FILE *out, const struct dfp_problem *problem, const struct df_plan *plan, uint32_t unit,
                     double *top, struct df_error *error)
{
    struct dfp_memory m;
    char title[128];
    const char *name = plan->platform.units[unit].name;
    int code = dfp_plan_memory(problem, plan, unit, 0, &m, error);
    if (code != DF_OK)
        return code;
    for (int sequence = 0; sequence < (unit == 0 ? 2 : 1) && code == DF_OK; sequence++) {
        struct panel p = { out, problem->graph, &m, sequence, *top + TITLE,
                           sequence ? m.sequence_bytes : m.any_bytes,
                           sequence ? m.sequence_bound_bytes : m.any_bound_bytes };
        snprintf(title, sizeof title, "%s, a wave %s", name, sequence ? "in sequence" : "in any order");
        code = draw(&p, title, error);
        *top += TITLE + HEIGHT + BELOW;
    }
    dfp_memory_free(&m);
    return code;
}

int dfc_emit_memory_picture(FILE *out, const struct dfp_problem *problem, const struct df_plan *plan,
                            struct df_error *error)
{
    double top = 0, height = (TITLE + HEIGHT + BELOW) * (plan->platform.n_units + 1);
    int code = DF_OK;
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n", WIDTH, height, WIDTH, height);
    fputs("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", out);
    for (uint32_t u = 0; u < plan->platform.n_units && code == DF_OK; u++)
        code = draw_unit(out, problem, plan, u, &top, error);
    fputs("</svg>\n", out);
    return code;
}
