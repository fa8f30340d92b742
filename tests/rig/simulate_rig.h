/* simulate_rig.h - runs of sample graphs in virtual time, with every job and copy recorded, and checks of what must
 * hold of any run: nobody does two things at once; nothing is read before it is there; the sums are right; no policy
 * beats the lower bound.
 */
#ifndef SIMULATE_RIG_H
#define SIMULATE_RIG_H

#include "runtime/simulate/simulate.h"
#include "sample_graph.h"

struct sim_event {                      /* a job, or a copy of a value */
    uint32_t row, what, wave;           /* row: the worker; for a copy the device; for a copy to a peer the sender */
    uint32_t way, to;                   /* for a copy. way: 0 to the host, 1 to the device, 2 to a peer. to: the unit
                                         * to which it goes */
    double begin_s, end_s;
};

struct sim_watch {
    struct sim_event *jobs, *copies;
    size_t n_jobs, n_copies;
};

/* Simulates a run; if it fails, the test fails. watch: gets the jobs and copies, and sim_forget() frees them. NULL:
 * nothing is recorded. */
struct dfr_simulation sim_run(const struct sample *s, const struct dfr_simulate_options *options,
                                           struct sim_watch *watch);
struct dfr_simulation sim_policy(const struct sample *s, const char *policy);
void sim_forget(struct sim_watch *w);
/* Makes a plan of a placement and priorities, which it borrows. */
struct df_plan sim_placed(const struct sample *s, uint16_t *place, float *priority);

/* Check what must hold of any run: for this run; for runs under all policies. */
void sim_check_run(const struct sample *s, const struct dfr_simulate_options *options);
void sim_check_policies(const struct sample *s, uint32_t waves, uint32_t inflight);

#endif
