/* map_report.h - the output of `dfc map`: a table of the mappings, and the groups of the chosen one; or CSV.
 * map_command.c prints with it; drift_simulation.c takes the chosen mapping from the same struct.
 *
 * Errors:   functions return false if memory ran out. The caller checks the FILE.
 */
#ifndef DFC_MAP_REPORT_H
#define DFC_MAP_REPORT_H

#include <stdio.h>

#include "compiler/cluster/map_stages.h"

struct dfc_map_row {
    const char *name;                   /* "identity", "bsc", … */
    const char *missing;                /* why there is no mapping; NULL: there is one; "": not requested */
    struct dfp_mapping mapping;
    double period_s, run_s;             /* by the equations, and in virtual time */
};

struct dfc_map_report {
    const char *path, *cluster;         /* of the graph; the platform's name */
    const struct dfc_map_input *input;
    const struct dfc_map_row *rows;
    unsigned n_rows, shown;             /* shown: a row that has a mapping */
    double ideal_s, bound_s;
    uint64_t tried;                     /* mappings that the search may have tried */
};

bool dfc_map_text(const struct dfc_map_report *report, FILE *out);
void dfc_map_csv(const struct dfc_map_report *report, FILE *out); /* a line for each group of each mapping */

#endif
