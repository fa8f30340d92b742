/* picture.c - code shared by all drawings of the room: style and escaping. It also makes the drawing of a plan for
 * dot.c and svg.c, and chooses between all nodes (detail.c) and a summary (summary.c).
 */
#include "partition/draw/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/draw/text_width.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

#define LARGE 150

static const char *const colours[] = { "#BFE3F7", "#E69F00", "#23936E", "#FFF3A0", "#DE9FC3", "#BDBDBD" };

const char *dfp_unit_colour(uint32_t unit)
{
    uint32_t n = sizeof colours / sizeof *colours;
    return colours[unit < n ? unit : 1 + (unit - 1) % (n - 1)]; /* colours repeat, but never the host's */
}

void dfp_set(void *object, const char *name, const char *value)
{
    agsafeset(object, (char *)name, (char *)value, "");
}

bool dfp_label_begin(struct dfp_label *label)
{
    label->html = NULL;
    label->out = open_memstream(&label->html, &label->size);
    return label->out != NULL;
}

/* Even in HTML Graphviz takes "\N" and the like for escapes. */
void dfp_label_text(FILE *out, const char *text)
{
    char piece[200];
    while (*text) {
        size_t n = strcspn(text, "\\");
        n = n < sizeof piece ? n : sizeof piece - 1;
        snprintf(piece, n + 1, "%s", text);
        dfr_text_xml(out, piece);
        text += n;
        if (*text == '\\') {
            fputs("\\\\", out);
            text++;
        }
    }
}

bool dfp_label_end(struct dfp_label *label, Agraph_t *g, void *object)
{
    bool good = !ferror(label->out);
    good = fclose(label->out) == 0 && good;
    if (good) {
        char *string = agstrdup_html(g, label->html);
        agsafeset(object, "label", string, "");
        agstrfree(g, string);
    }
    free(label->html);
    return good;
}

const char *dfp_label_name(char *buffer, size_t size, const char *name)
{
    size_t n = 0;
    for (; *name && n + 3 < size; name++) {
        if (*name == '\\')
            buffer[n++] = '\\';
        buffer[n++] = (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name;
    }
    buffer[n] = '\0';
    return buffer;
}

Agnode_t *dfp_picture_node(Agraph_t *g, const char *title)
{
    char distinct[320];
    snprintf(distinct, sizeof distinct, "%s", title);
    for (unsigned k = 2; agnode(agroot(g), distinct, 0); k++)
        snprintf(distinct, sizeof distinct, "%.300s (%u)", title, k);
    return agnode(g, distinct, 1);
}

/* dot searches for few crossings and short arcs, and would search very long. With these limits, 300 nodes take less than a
 * second. */
static void limit_effort(Agraph_t *g)
{
    dfp_set(g, "mclimit", "0.2");
    dfp_set(g, "nslimit", "2");
    dfp_set(g, "nslimit1", "2");
}

static void style(Agraph_t *g)
{
    static const struct { int kind; const char *name, *value; } defaults[] = {
        { AGRAPH, "rankdir", "TB" },        { AGRAPH, "fontname", DFP_FONTS },
        { AGRAPH, "fontsize", "11" },       { AGRAPH, "nodesep", "0.2" },
        { AGRAPH, "ranksep", "0.35" },      { AGRAPH, "label", "" },
        { AGRAPH, "labelloc", "t" },        { AGRAPH, "labeljust", "l" },
        { AGRAPH, "style", "" },            { AGRAPH, "color", "" },
        { AGRAPH, "bgcolor", "white" },
        { AGNODE, "shape", "box" },         { AGNODE, "style", "filled" },
        { AGNODE, "fontname", DFP_FONTS }, { AGNODE, "fontsize", "10" },
        { AGNODE, "margin", "0.09,0.09" },  { AGNODE, "fillcolor", "white" },
        { AGNODE, "label", "\\N" },         { AGNODE, "height", "0.2" },
        { AGEDGE, "fontname", DFP_FONTS }, { AGEDGE, "fontsize", "8" },
        { AGEDGE, "color", DFP_ARC_COLOUR }, { AGEDGE, "arrowsize", "0.6" },
        { AGEDGE, "label", "" },
    };
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        agattr(g, defaults[i].kind, (char *)defaults[i].name, (char *)defaults[i].value);
}

static int find_chain(struct dfp_picture *picture, struct df_error *error)
{
    const struct dfp_problem *problem = picture->model.problem;
    if (!picture->plan || picture->summarised)
        return DF_OK;
    picture->chain = malloc(((size_t)problem->graph->n_nodes + 1) * sizeof *picture->chain);
    if (!picture->chain)
        return dfr_error_memory(error);
    if (!picture->waits)
        return dfp_dependency_chain(&picture->model, picture->plan->place, picture->chain, &picture->n_chain,
                                    &picture->chain_s, error);
    return dfp_critical_chain(problem, picture->plan->place, picture->plan->priority, picture->chain,
                              &picture->n_chain, error);
}

/* A graph is named after its file, which may have any name. But DOT cannot write a name that ends in '\'. In SVG the
 * name is a title, which must have no control characters. */
Agraph_t *dfp_picture_open(const char *name)
{
    char *clean = strdup(name);
    for (char *p = clean; p && *p; p++)
        if ((unsigned char)*p < ' ' || *p == '\\' || *p == 0x7f)
            *p = '_';
    Agraph_t *g = clean ? agopen(clean, Agdirected, NULL) : NULL;
    free(clean);
    if (g)
        style(g);
    return g;
}

static int draw(struct dfp_picture *picture, struct df_error *error)
{
    const struct df_graph *graph = picture->model.problem->graph;
    picture->g = dfp_picture_open(graph->name);
    if (!picture->g)
        return dfr_error_memory(error);
    if (graph->n_nodes > LARGE)
        limit_effort(picture->g);
    bool drawn = picture->summarised ? dfp_picture_summary(picture) : dfp_picture_detail(picture);
    if (drawn && dfp_picture_legend(picture))
        return DF_OK;
    agclose(picture->g);
    return dfr_error_memory(error);
}

int dfp_picture_make(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_drawing *how,
                     struct dfp_picture *picture, struct df_error *error)
{
    *picture = (struct dfp_picture){ .plan = plan, .waits = how->waits, .choices = how->choices,
                                     .summarised = problem->graph->n_nodes > DFP_DRAW_MAX_NODES };
    int code = dfp_model_init(&picture->model, problem, error);
    if (code || (plan && (code = dfp_report_make(problem, plan, &picture->report, error))))
        return code;
    code = find_chain(picture, error);
    if (!code)
        code = draw(picture, error);
    free(picture->chain);
    picture->chain = NULL;
    return code;
}
