/* picture.h - drawings as libcgraph graphs, before they become text (dot.c) or are laid out (svg.c).
 *
 * Colours:  by unit, from Okabe and Ito's palette, told apart by people of any colour vision; vermillion is kept for
 *           the cut, dark red for the critical path.
 * Escapes:  names go through dfp_label_name(), which leaves nothing that Graphviz would take for an escape.
 */
#ifndef DFP_PICTURE_H
#define DFP_PICTURE_H

#include <graphviz/cgraph.h>

#include "partition/draw/draw.h"
#include "partition/model/model.h"
#include "partition/planner/plan_report.h"

struct dfp_picture {
    struct dfp_model model;
    const struct df_plan *plan;         /* NULL: the graph alone */
    struct dfp_report report;           /* where there is a plan */
    uint32_t *chain, n_chain;           /* the same: dfp_critical_chain(); only while it is drawn */
    Agraph_t *g;
    bool summarised;
    char note[320];                     /* what the drawing leaves out; empty: nothing */
};

/* Draws into a fresh picture->g, which the caller closes with agclose(). DF_E_MEMORY, or what the evaluator says. */
int dfp_picture_make(const struct dfp_problem *problem, const struct df_plan *plan, struct dfp_picture *picture,
                     struct df_error *error);

bool dfp_picture_detail(struct dfp_picture *picture);   /* false: no memory */
bool dfp_picture_summary(struct dfp_picture *picture);
bool dfp_picture_legend(struct dfp_picture *picture);

const char *dfp_unit_colour(uint32_t unit);             /* fill; black text is legible on it */
#define DFP_CUT_COLOUR "#D55E00"
#define DFP_ARC_COLOUR "#606060"
#define DFP_CHAIN_COLOUR "#B00020"

/* Sets an attribute of a graph, node or edge; the value is copied. */
void dfp_set(void *object, const char *name, const char *value);
void dfp_set_html(struct dfp_picture *picture, const char *name, const char *html);

/* Copies `name` with Graphviz's escapes taken out of effect and control characters replaced; cut to size. */
const char *dfp_label_name(char *buffer, size_t size, const char *name);

/* A node named `title`, made distinct with a number where it is taken. */
Agnode_t *dfp_picture_node(Agraph_t *g, const char *title);

#endif
