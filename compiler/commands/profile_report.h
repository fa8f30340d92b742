/* profile_report.h - `dfc profile --report`, as cmd_profile.c calls it: cmd_profile_report.c shows how accurate
 * estimates from measurements at other sizes are. */
#ifndef DFC_PROFILE_REPORT_H
#define DFC_PROFILE_REPORT_H

#include "compiler/commands/command.h"

/* Writes the table. With a graph it shows that graph's kernels, by their present sources. NULL: all kernels of this
 * machine, by the sources that were measured last. false: reported. */
bool dfc_profile_report(struct dfw_db *db, const struct df_graph *graph, enum dfr_form form, FILE *out);

#endif
