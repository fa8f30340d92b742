/* memory_report.h - the memory plan as people see it: text, and offset against time as a picture.
 *
 * Output:   a plan's tenants in order of their numbers; the same input gives the same bytes. Errors of the FILE are the
 *           caller's to look at.
 */
#ifndef DFC_MEMORY_REPORT_H
#define DFC_MEMORY_REPORT_H

#include <stdio.h>

#include "partition/partition.h"

/* Each memory: its need, the promise for so many waves in flight (0: as many as a run has by default), its tokens with
 * offset, size, first writer and last reader. DF_OK, or what dfp_memory_make() says. */
int dfc_emit_memory(FILE *out, const struct dfp_problem *problem, const struct df_plan *plan, uint32_t inflight,
                    struct df_error *error);

/* SVG: for each memory, the host's twice (in any order, in sequence), its tokens as boxes: offset upwards, nodes in
 * order of their numbers to the right. A plan of more boxes than can be told apart is drawn
 * as the bytes that are taken. */
int dfc_emit_memory_picture(FILE *out, const struct dfp_problem *problem, const struct df_plan *plan,
                            struct df_error *error);

#endif
