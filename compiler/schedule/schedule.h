/* schedule.h - exports the schedule of simulated runs to a file: `dfc simulate --schedule` (commands/cmd_simulate.c) and `dfc
 * partition --schedule` (commands/cmd_partition.c).
 *
 * Room:     compiler/schedule/ writes schedules and placements for other programs, as CSV or JSON. It knows plans and
 *           simulated runs, and no command line.
 * Rows:     kind `job`, one per job and wave: wave, node, kernel, unit, worker, start_s, end_s, and the number of
 *           workers of the unit that it occupies (threads). A node that costs nothing has no worker, and threads is 0.
 *           Kind `copy`, one per copy: wave, producer node, its output, from, to, bytes, start_s, end_s. In CSV each
 *           row begins with its policy; in JSON the rows of a policy form an array.
 * Order:    as the simulation reports them: jobs when they end, copies when they are requested or end.
 * Memory:   rows are written at once and not collected, so a run may have any number of jobs. The problem is borrowed.
 * Output:   the same input gives the same bytes; the file is replaced atomically.
 * Errors:   functions that return bool return false after they have reported an error.
 */
#ifndef DFC_SCHEDULE_H
#define DFC_SCHEDULE_H

#include "compiler/tools/output_file.h"
#include "runtime/base/option.h"
#include "partition/partition.h"
#include "runtime/base/report_table.h"
#include "runtime/simulate/simulate.h"

struct dfc_schedule {
    struct dfc_output output;
    struct dfr_report_table table;             /* table.out NULL: no schedule is wanted, and nothing is done */
    const struct dfp_problem *problem;
    const char *policy;
    bool more;                          /* JSON: there is a policy before */
    struct dfr_simulation next;         /* the callbacks that the simulation had before */
};

/* Reads the value of --schedule, a name that ends in .csv or .json. */
dfr_set_option dfc_set_schedule;

/* path NULL: no schedule is requested. */
bool dfc_schedule_open(struct dfc_schedule *schedule, const char *path, const struct dfp_problem *problem,
                       uint32_t waves);
/* Before a run of that policy: installs callbacks in the run that chain to the present ones. `policy` is borrowed until
 * the end of the run. */
void dfc_schedule_begin(struct dfc_schedule *schedule, const char *policy, struct dfr_simulation *run);
void dfc_schedule_end(struct dfc_schedule *schedule, const struct dfr_simulation *run);
/* keep false: the file is discarded. */
bool dfc_schedule_close(struct dfc_schedule *schedule, bool keep);

#endif
