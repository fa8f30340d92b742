/* scale_report.h - the output of `dfc scale`: a table, CSV, JSON, and a plot of efficiency over the number of nodes.
 * scale_command.c prints with it.
 *
 * Errors:   functions return false if memory ran out. The caller checks the FILE.
 */
#ifndef DFC_SCALE_REPORT_H
#define DFC_SCALE_REPORT_H

#include <stdio.h>

#include "compiler/cluster/scale.h"

struct dfc_scale_report {
    const char *path;                   /* of the graph */
    const struct dfc_scale *scale;
    const struct dfc_scale_row *rows;
    unsigned n_rows;
};

bool dfc_scale_text(const struct dfc_scale_report *report, FILE *out);
void dfc_scale_csv(const struct dfc_scale_report *report, FILE *out);
void dfc_scale_json(const struct dfc_scale_report *report, FILE *out);
void dfc_scale_draw(const struct dfc_scale_report *report, FILE *out);

#endif
