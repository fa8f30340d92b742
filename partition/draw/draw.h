/* draw.h - a placement as a picture: DOT through libcgraph, SVG through Graphviz's layout. Linked into dfc alone.
 *
 * Errors:   DF_E_IO, DF_E_MEMORY; nothing is written by halves (text is made in memory and given to the caller).
 */
#ifndef DFP_DRAW_H
#define DFP_DRAW_H

#include "partition/partition.h"

#define DFP_DRAW_MAX_NODES 3000         /* above: the summary by nested graph, by kernel, or by depth */

/* *text (malloc'ed) and *size. plan may be NULL: the graph alone. *summarised says whether the summary was drawn. */
int dfp_draw_dot(const struct dfp_problem *problem, const struct df_plan *plan, char **text, size_t *size,
                 bool *summarised, struct df_error *error);
int dfp_draw_svg(const struct dfp_problem *problem, const struct df_plan *plan, char **text, size_t *size,
                 bool *summarised, struct df_error *error);

#endif
