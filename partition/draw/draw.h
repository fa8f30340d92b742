/* draw.h - pictures of a placement: DOT text through libcgraph, SVG through Graphviz's layout. compiler/commands/cmd_compile.c and
 * compiler/commands/cmd_partition.c draw plans, compiler/cluster/map_command.c the mapping of a pipeline.
 *
 * This room knows Graphviz and all other rooms of partition/. It is linked into dfc alone, not into programs.
 *
 * Memory:   the text is the caller's to free.
 * Errors:   DF_E_IO, DF_E_MEMORY. The text is made in memory, so the caller gets all of it or none.
 */
#ifndef DFP_DRAW_H
#define DFP_DRAW_H

#include "partition/partition.h"
#include "partition/stages/pipeline.h"

#define DFP_DRAW_LABELLED_NODES 60      /* a larger graph is drawn without dimensions, and without labels of arcs */
#define DFP_DRAW_MAX_NODES 300          /* a larger graph is drawn as a summary: by nested graph or by level */

struct dfp_drawing {
    bool waits;                         /* the heavy path is the chain of jobs that makes the wave as long as it is, with
                                         * dotted lines where a job waits for a worker; or the longest path of dependencies */
    const char *choices;                /* lines for the legend: what was decided about parts and passes, and why; NULL: none */
};

/* Give *text (malloc'ed) of *size bytes. plan NULL: only the graph is drawn. *summarised: whether it is a summary. */
int dfp_draw_dot(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_drawing *how, char **text,
                 size_t *size, bool *summarised, struct df_error *error);
int dfp_draw_svg(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_drawing *how, char **text,
                 size_t *size, bool *summarised, struct df_error *error);

/* mapping.c: a pipeline's mapping: a box for each group with its stages, and a line for each of its processors with its load per wave
 * and the share of the time that it is busy. Arcs have the bytes of a wave. svg false: DOT. */
struct dfp_stages_drawing {
    const char *title;
    const struct dfp_pipeline *pipeline;
    const struct dfp_mapping *mapping;
    const char *const *stages, *const *processors;  /* names */
};
int dfp_draw_stages(const struct dfp_stages_drawing *drawing, bool svg, char **text, size_t *size, struct df_error *error);

#endif
