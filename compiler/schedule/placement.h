/* placement.h - exports where and when each node runs, as CSV or JSON for other programs: `dfc partition
 * --format=csv|json` (commands/cmd_partition.c). schedule.c numbers workers with it.
 *
 * CSV:      a row for each node, in the order of the graph: node, kernel, unit, worker, time_s, start_s, end_s.
 * JSON:     the same rows (`nodes`), the units, the cut, the copies, and the predicted times.
 * Output:   the same input gives the same bytes. The caller checks the FILE for errors.
 */
#ifndef DFC_PLACEMENT_H
#define DFC_PLACEMENT_H

#include <stdio.h>

#include "partition/partition.h"
#include "runtime/simulate/simulate.h"

struct dfc_placement {                  /* all is borrowed */
    const struct dfp_problem *problem;
    const struct df_plan *plan;
    const struct dfr_simulation *run;   /* of one wave of the plan, with place, worker, start_s and end_s */
};

/* A worker's number among those of its unit, of one among all workers of the platform. NaN: there is none (DF_NONE). */
double dfc_worker_of_unit(const struct df_platform *platform, uint32_t unit, uint32_t worker);
void dfc_placement_csv(FILE *out, const struct dfc_placement *placement);
/* Errors: those of dfp_evaluate(). */
int dfc_placement_json(FILE *out, const struct dfc_placement *placement, struct df_error *error);

#endif
