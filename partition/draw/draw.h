/* draw.h - pictures of a placement: DOT text through libcgraph, SVG through Graphviz's layout.
 *
 * This room knows Graphviz and all other rooms of partition/. It is linked into dfc alone, not into programs.
 *
 * Memory:   the text is the caller's to free.
 * Errors:   DF_E_IO, DF_E_MEMORY. The text is made in memory, so the caller gets all of it or none.
 */
#ifndef DFP_DRAW_H
#define DFP_DRAW_H

#include "partition/partition.h"

#define DFP_DRAW_MAX_NODES 3000         /* a larger graph is drawn as a summary: by nested graph, kernel or depth */

/* Give *text (malloc'ed) of *size bytes. plan NULL: only the graph is drawn. *summarised: whether it is a summary. */
int dfp_draw_dot(const struct dfp_problem *problem, const struct df_plan *plan, char **text, size_t *size,
                 bool *summarised, struct df_error *error);
int dfp_draw_svg(const struct dfp_problem *problem, const struct df_plan *plan, char **text, size_t *size,
                 bool *summarised, struct df_error *error);

#endif
