/* schedule.h - the schedule of simulated runs as a file: `dfc simulate --schedule` and `dfc partition --schedule`.
 *
 * Room:     compiler/schedule/ writes schedules and placements for other programs, as CSV or JSON. It knows plans and
 *           simulated runs, and no command line.
 * Rows:     of kind `job`, one for each job of each wave: wave, node, kernel, unit, worker, start_s, end_s, and how many
 *           workers of the unit the job holds (threads). A node that costs nothing has no worker, and threads is 0.
 *           Of kind `copy`, one for each copy: wave, the node that made the token, its output, from, to, bytes,
 *           start_s, end_s. In CSV each row begins with its policy; in JSON the rows of a policy are one array.
 * Order:    as the simulation tells them: jobs when they end, copies when they are asked for or end.
 * Memory:   nothing is collected, so a run may have any number of jobs. The problem is borrowed.
 * Output:   the same input gives the same bytes; the file appears whole or not at all.
 * Errors:   functions that give bool give false after they have reported why.
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

/* path NULL: no schedule is wanted. */
bool dfc_schedule_open(struct dfc_schedule *schedule, const char *path, const struct dfp_problem *problem,
                       uint32_t waves);
/* Before a run of that policy: sets the run's callbacks, which call those that it has. `policy` is borrowed until
 * the end of the run. */
void dfc_schedule_begin(struct dfc_schedule *schedule, const char *policy, struct dfr_simulation *run);
void dfc_schedule_end(struct dfc_schedule *schedule, const struct dfr_simulation *run);
/* keep false: there is no file. */
bool dfc_schedule_close(struct dfc_schedule *schedule, bool keep);

#endif
