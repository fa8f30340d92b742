/* marked_stages.h - the stages of a graph whose calls say @stage(n). pipeline_stages.c finds them; program/args_cluster.c asks whether there are any.
 *
 * Stages:   all calls in graph main with one number are one stage, with all that they call. Stages come in the order of their numbers, and a stage is
 *           called by its number: "@2". Numbers that no call has are left out.
 * Outside:  what fires once is in no stage. What says no number is outside: before the first stage if a stage needs it, else behind the last one.
 * Order:    the compiler has checked that no stage reads what a later one makes, and that what is outside stands at an end.
 * Threads:  reentrant.
 */
#ifndef DFR_MARKED_H
#define DFR_MARKED_H

#include "runtime/subgraph/pipeline_stages.h"

/* Says a call that fires in each wave @stage(n)? */
bool dfr_stages_marked(const struct df_graph *graph);
/* Finds the stages of such a graph: fills stage_of, which has room for all nodes, n and names. DF_E_MEMORY. */
int dfr_marked_find(const struct df_graph *graph, struct dfr_stages *stages, struct df_error *error);

#endif
