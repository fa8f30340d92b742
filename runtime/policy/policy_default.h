/* policy_default.h - chooses the policy of a run without --policy, and returns a sentence with the reason for --stats. start/run_machine.c calls it.
 *
 * Without devices every worker is alike and nothing is copied, so little is left to decide:
 *  - One worker: all-cpu. It takes nodes in the order of their numbers, as they lie in memory.
 *  - One wave of known times, and jobs of at least DFR_LONG_JOB_S on average: gp, if the program carries a plan that fits
 *    this machine, else dmdas. Such jobs are long enough for a good order to pay.
 *  - Everything else: ws. It does the least work for each job.
 *
 * A graph that makes promises: gp, if the program carries a plan that fits, because 'dfc check' derives them for that.
 *
 * With devices: gp, if the program carries a plan that fits, else dmda. No planner is run unless it was requested.
 */
#ifndef DFR_POLICY_DEFAULT_H
#define DFR_POLICY_DEFAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/graph/plan.h"

#define DFR_LONG_JOB_S 10e-6            /* jobs of so many seconds on average count as long */

struct dfr_default_facts {
    const struct df_graph *graph;
    const struct df_times *times;       /* expected times of the graph's works, by class */
    const struct df_platform *platform; /* the machine of the run */
    uint32_t n_workers, n_devices;
    int64_t waves;                      /* as requested; < 0: not given, so it is one unless the graph has streams */
    const struct df_plan *plan;         /* the plan that the program carries; NULL: none */
    bool plan_fits;                     /* it was made for a machine like this one */
    bool plans;                         /* a plan for this machine is made at the start if a policy needs one: the program's has times and places nothing */
};

/* Returns the policy's name, and writes the reason into `why` (`size` bytes) as the end of a sentence. */
const char *dfr_policy_default(const struct dfr_default_facts *facts, char *why, size_t size);

#endif
