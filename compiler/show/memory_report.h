/* memory_report.h - the memory plan for people: as text, and as a picture of offset against time. commands/cmd_compile.c prints
 * the text for --emit=plan, commands/cmd_partition.c draws the picture.
 *
 * Output:   a plan's tenants in the order of their numbers; the same input gives the same bytes. The caller checks the
 *           FILE for errors.
 */
#ifndef DFC_MEMORY_REPORT_H
#define DFC_MEMORY_REPORT_H

#include <stdio.h>

#include "partition/partition.h"

/* Prints each memory: its need; what it promises for so many waves in flight (0: as many as a run has by default); and
 * its tokens with offset, size, first writer and last reader. Gives DF_OK, or what dfp_memory_make() gives. */
int dfc_emit_memory(FILE *out, const struct dfp_problem *problem, const struct df_plan *plan, uint32_t inflight,
                    struct df_error *error);

/* Draws each memory as SVG, the host's twice: once for jobs in any order, once for jobs in sequence. Tokens are boxes:
 * offsets grow upwards, nodes stand in the order of their numbers from left to right. If there are more boxes than can
 * be told apart, it draws the bytes that are taken instead. */
int dfc_emit_memory_picture(FILE *out, const struct dfp_problem *problem, const struct df_plan *plan,
                            struct df_error *error);

#endif
