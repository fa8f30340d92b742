/* simulate_rig.h - sample graphs run in virtual time: every job and copy seen, and what must hold of any run: nobody
 * does two things at once, nothing is read before it is there, the sums are right, no policy beats the lower bound.
 */
#ifndef SIMULATE_RIG_H
#define SIMULATE_RIG_H

#include "runtime/simulate/simulate.h"
#include "sample_graph.h"

struct sim_event {                      /* a job, or a copy of a value */
    uint32_t row, what, wave;           /* row: worker; or of a copy the device, of peers the sender */
    uint32_t way, to;                   /* of a copy: 0 to the host, 1 to the device, 2 to a peer; the
                                         * unit it goes to */
    double begin_s, end_s;
};

struct sim_watch {
    struct sim_event *jobs, *copies;
    size_t n_jobs, n_copies;
};

/* A failed run is a failed test. watch: filled, to be forgotten; NULL: nobody looks. */
struct dfr_simulation sim_run(const struct sample *s, const struct dfr_simulate_options *options,
                                           struct sim_watch *watch);
struct dfr_simulation sim_policy(const struct sample *s, const char *policy);
void sim_forget(struct sim_watch *w);
/* A placement and priorities as a plan; borrowed. */
struct df_plan sim_placed(const struct sample *s, uint16_t *place, float *priority);

/* What must hold of any run, of this one and of all policies. */
void sim_check_run(const struct sample *s, const struct dfr_simulate_options *options);
void sim_check_policies(const struct sample *s, uint32_t waves, uint32_t inflight);

#endif
