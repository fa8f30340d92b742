/* listing.h - a graph and its plan as text: --emit=graph and --emit=plan. commands/cmd_compile.c calls it.
 *
 * Room:     compiler/show/ prints what a person or a browser reads: charts, listings, explanations. It knows
 *           the loaded graph, plans and simulations, and no command line.
 * Output:   the same input gives the same bytes. The caller checks the FILE for errors.
 */
#ifndef DFC_LISTING_H
#define DFC_LISTING_H

#include <stdio.h>

#include "compiler/load/load.h"

void dfc_emit_graph(FILE *out, const struct df_graph *graph);
/* Prints `w2 add[k=1024](3)`: a work's number, its kernel, its dimensions and its scalars. */
void dfc_emit_work_name(FILE *out, const struct df_graph *graph, uint32_t work);
/* Prints which kernels of formulas are fused and which are not, and why. Nothing if there are none. */
void dfc_emit_fusion(FILE *out, const struct dfc_front *front);
/* Prints which nodes dfc divided by itself, which it tried to and did not, and why. Nothing if there are none. */
void dfc_emit_divisions(FILE *out, const struct dfc_loaded *loaded);
/* Says that a divided acc is changed part by part, and why. Prints nothing if it is not. */
void dfc_emit_passes(FILE *out, const struct dfc_loaded *loaded);
/* Gives what these two print as text, to be freed. NULL: no memory, which is reported. */
char *dfc_choices_text(const struct dfc_loaded *loaded);
/* e: the plan's evaluation, by dfp_evaluate(). */
void dfc_emit_plan(FILE *out, const struct dfc_loaded *loaded, const struct df_plan *plan,
                   const struct dfp_evaluation *e);

#endif
