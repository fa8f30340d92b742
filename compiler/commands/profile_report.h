/* profile_report.h - `dfc profile --report`: how far estimates from other sizes can be trusted. */
#ifndef DFC_PROFILE_REPORT_H
#define DFC_PROFILE_REPORT_H

#include "compiler/commands/command.h"

/* Writes the table. graph: only its kernels, by their present sources; NULL: all of this machine, by the sources that
 * were measured last. false: reported. */
bool dfc_profile_report(struct dfw_db *db, const struct df_graph *graph, enum dfc_form form, FILE *out);

#endif
