/* picture.h - shared by the files of this room: drawings as libcgraph graphs, before dot.c writes them as text or svg.c lays them out.
 *
 * Colours:  each unit has one, with hues of the palette of Okabe and Ito, which people of any colour vision can tell
 *           apart. Their lightness differs as well, so that they differ in grey. Only the cut is vermillion, and only the
 *           critical path is dark red.
 * Escapes:  all names go through dfp_label_name(), which leaves nothing that Graphviz would take for an escape.
 */
#ifndef DFP_PICTURE_H
#define DFP_PICTURE_H

#include <graphviz/cgraph.h>
#include <stdio.h>

#include "partition/draw/draw.h"
#include "partition/model/model.h"
#include "partition/planner/plan_report.h"

struct dfp_picture {
    struct dfp_model model;
    const struct df_plan *plan;         /* NULL: only the graph is drawn */
    struct dfp_report report;           /* if there is a plan */
    bool waits;                         /* the path is dfp_critical_chain(), else dfp_dependency_chain() */
    const char *choices;                /* of struct dfp_drawing */
    uint32_t *chain, n_chain;           /* if there is a plan: that path, the last node first; only while it is drawn */
    double chain_s;                     /* the length of a path of dependencies */
    Agraph_t *g;
    bool summarised;
    char note[320];                     /* what the drawing leaves out; empty: nothing */
};

/* Draws into a new picture->g, which the caller closes with agclose(). Errors: DF_E_MEMORY, or those of the
 * evaluator. */
int dfp_picture_make(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_drawing *how,
                     struct dfp_picture *picture, struct df_error *error);

/* critical.c: the path of nodes that takes longest on their places, with the copies between them. `chain` has room for
 * all nodes; the last one comes first. *length_s: what the path takes. */
int dfp_dependency_chain(const struct dfp_model *model, const uint16_t *place, uint32_t *chain, uint32_t *n_chain,
                         double *length_s, struct df_error *error);

/* The steps of dfp_picture_make(). false: no memory. */
bool dfp_picture_detail(struct dfp_picture *picture);
bool dfp_picture_summary(struct dfp_picture *picture);
bool dfp_picture_legend(struct dfp_picture *picture);

const char *dfp_unit_colour(uint32_t unit);             /* a colour to fill with; black text is legible on it */
#define DFP_BESIDE "\u00a0\u00a0"       /* room between an arc, which may be heavy, and the label to its right */
#define DFP_CUT_COLOUR "#D55E00"
#define DFP_ARC_COLOUR "#606060"
#define DFP_CHAIN_COLOUR "#B00020"

/* Sets an attribute of a graph, node or edge; the value is copied. */
void dfp_set(void *object, const char *name, const char *value);

/* Makes a label of Graphviz's HTML: what is written to `out` between begin and end. end() gives it to the graph or node
 * `object` of g. false: no memory; end() frees all. */
struct dfp_label {
    FILE *out;
    char *html;
    size_t size;
};
bool dfp_label_begin(struct dfp_label *label);
void dfp_label_text(FILE *out, const char *text);       /* any text, escaped */
bool dfp_label_end(struct dfp_label *label, Agraph_t *g, void *object);

/* Copies `name` into the buffer, cut to its size. Graphviz's escapes lose their effect, and control characters are
 * replaced. Gives the buffer. */
const char *dfp_label_name(char *buffer, size_t size, const char *name);

/* A new drawing of that name, with the defaults of all; NULL: no memory. */
Agraph_t *dfp_picture_open(const char *name);
/* Write a drawing: *text (malloc'ed) of *size bytes. It stays the caller's. */
int dfp_dot_of(Agraph_t *g, char **text, size_t *size, struct df_error *error);
int dfp_svg_of(Agraph_t *g, char **text, size_t *size, struct df_error *error);

/* A new node named `title`. If there is such a node already, a number is added to the name. */
Agnode_t *dfp_picture_node(Agraph_t *g, const char *title);

#endif
