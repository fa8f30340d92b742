/* shared.h - says where times come from, and whether jobs share the bandwidth of the host's memory, in the same words for all
 * commands that predict: commands/cmd_simulate.c, commands/cmd_explain.c (with explain_if.c), commands/cmd_partition.c and commands/cmd_compare.c, and emit_plan.c
 * for --emit=plan. */
#ifndef DFC_SHARED_H
#define DFC_SHARED_H

#include <stdio.h>

#include "partition/partition.h"

/* Prints one line between empty ones if times are guesses; and one if a demand is known: what is shared, or why it is not. */
void dfc_print_shared(FILE *out, const struct dfp_problem *problem);

/* Writes how many times of the graph's works come from where. */
void dfc_times_text(const struct df_times *times, char *text, size_t size);
/* Prints that between empty lines if a time on the platform's units is estimated or the stated default. Else prints nothing. */
void dfc_print_guesses(FILE *out, const struct dfp_problem *problem);
/* The least certain source of the times on GPUs: cost, measured, estimated or default. DF_TIME_NONE: the platform has no GPU, or no
 * kernel of the graph runs there. */
enum df_time_source dfc_gpu_source(const struct dfp_problem *problem);
const char *dfc_source_word(enum df_time_source source); /* "cost", …; "": none */

#endif
