/* policy_default.h - the policy of a run for which nobody asked for one, and a sentence that says why.
 *
 * Without devices every worker is alike and nothing is copied, so little is left to decide:
 *   one worker                                     all-cpu: the nodes in the order of their numbers, which is that of
 *                                                  their records and of the tokens in memory
 *   one wave, known times, jobs of at least
 *   DFR_LONG_JOB_S on average                      gp, if the program carries a plan that fits this machine, else dmdas:
 *                                                  a good order pays for what it costs to keep to it
 *   everything else                                ws: the least work for each job
 * With devices: gp, if the program carries a plan that fits, else dmda. No run waits for a planner that nobody asked for.
 */
#ifndef DFR_POLICY_DEFAULT_H
#define DFR_POLICY_DEFAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/graph/plan.h"

#define DFR_LONG_JOB_S 10e-6

struct dfr_default_facts {
    const struct df_graph *graph;
    const struct df_times *times;       /* of the graph's works, by class */
    uint32_t n_workers, n_devices;
    int64_t waves;                      /* as asked for; < 0: not said, one unless the graph has streams */
    const struct df_plan *plan;         /* that the program carries, or NULL */
    bool plan_fits;                     /* it was made for a machine like this one */
};

/* Gives the policy's name, and in `why` (of `size` bytes) what decided, as the end of a sentence. */
const char *dfr_policy_default(const struct dfr_default_facts *facts, char *why, size_t size);

#endif
