/* gantt.h - who does what and when in a simulated run, as SVG. There is a row for each worker and each copy engine;
 * jobs are coloured by kernel. The chain of jobs and copies that made the run so long is drawn heavy, with arrows. `dfc
 * simulate --gantt` calls it.
 *
 * Memory:   dfc_gantt_free() returns a chart. It hears of the simulation through callbacks of its own.
 * Output:   plain SVG 1.1 with no script, font or file of its own; the same input gives the same bytes.
 * Errors:   NULL and false: no memory. The caller checks the FILE.
 */
#ifndef DFC_GANTT_H
#define DFC_GANTT_H

#include <stdbool.h>
#include <stdio.h>

#include "partition/partition.h"
#include "runtime/simulate/simulate.h"

struct dfc_gantt;

struct dfc_gantt *dfc_gantt_new(void);
void dfc_gantt_free(struct dfc_gantt *gantt);
/* Sets the simulation's callbacks, so that the chart collects its bars. Before the simulation runs. */
void dfc_gantt_listen(struct dfc_gantt *gantt, struct dfr_simulation *simulation);
/* Draws what was collected, for a run of that policy and makespan. */
bool dfc_gantt_write(const struct dfc_gantt *gantt, const struct dfp_problem *problem, const char *policy,
                     double makespan_s, FILE *out);

#endif
