/* pipeline_stages.h - the stages of a graph: what is called in graph main.
 *
 * Stages:   a nested graph with all that it calls is one stage, and so is the call of a kernel, with its parts if it is divided. What fires once is
 *           no stage. Stages come in an order in which no token goes back.
 * Outside:  calls of cost 0 that come first or last stand outside, with rank 0.
 * Marked:   if calls say @stage(n), the numbers say what is a stage, and what is outside (marked_stages.h).
 * Threads:  none of this is called by several at once.
 */
#ifndef DFR_CALLS_H
#define DFR_CALLS_H

#include "runtime/graph/graph.h"

#define DFR_MOST_STAGES DF_MAX_STAGES

/* The stages of a graph: by node the number of its stage, DFR_NO_STAGE for what fires once, and for what is outside. */
#define DFR_NO_STAGE UINT32_MAX
#define DFR_STAGE_BEFORE (UINT32_MAX - 1)
#define DFR_STAGE_BEHIND (UINT32_MAX - 2)
struct dfr_stages {
    uint32_t *stage_of;                 /* by node */
    uint32_t n;
    char **names;                       /* df_node_name() without what is below main; "@n" of a marked one */
    uint32_t wrong;                     /* if none were found: a node of a call that feeds one which feeds it; DF_NONE: it is something else */
};
/* DF_E_MEMORY; DF_E_REFUSED: two calls feed each other, there are too many stages, or none has a time. */
int dfr_stages_find(const struct df_graph *graph, struct dfr_stages *stages, struct df_error *error);
void dfr_stages_free(struct dfr_stages *stages);

#endif
