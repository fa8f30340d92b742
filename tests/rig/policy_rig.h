/* policy_rig.h - a made-up machine for the tests of policies. It has a graph of n independent readers of one source.
 * The test says what their times are, on which units they can run, and which memories hold their data.
 */
#ifndef POLICY_RIG_H
#define POLICY_RIG_H

#include <stdatomic.h>

#include "run_rig.h"
#include "runtime/policy/policy.h"

#define MS 1e-3

struct machine {
    struct rig rig;
    struct df_platform platform;
    struct dfr_view view;
    uint32_t unit_of[8], first_worker[5];
    uint32_t *able;
    double *time_s;                     /* [unit * n_works + work] */
    double now_s;
    int64_t wave[2];                    /* by slot */
    uint32_t holders;                   /* the memories that hold every input, a bit each */
    const uint32_t *holders_of;         /* the same by node; NULL: `holders` is true of all */
    bool prefetches;                    /* prefetch() takes the jobs that are given to the host */
    _Atomic uint32_t prefetched_for;    /* the unit of the last call of prefetch() */
    _Atomic uint32_t woken;             /* bit u: the policy has woken unit u */
    const struct dfr_policy *policy;
    void *state;
};

/* Makes a machine for the graph of m->rig. All units can run all nodes, in 1 ms each. */
void machine_make(struct machine *m, uint32_t workers, uint32_t gpus);
/* Makes a machine of `workers` CPU workers and `gpus` GPUs, and a graph of n nodes: a source of 1 MiB and its
 * readers. */
void machine_begin(struct machine *m, uint32_t n, uint32_t workers, uint32_t gpus);
void machine_time(struct machine *m, uint32_t unit, uint32_t node, double time_s);
void machine_policy(struct machine *m, const char *name, const struct df_plan *plan);
void machine_end(struct machine *m);

/* Calls of the policy with this node's job in slot 0. */
enum dfr_pushed machine_push(struct machine *m, uint32_t node, uint32_t by, bool lone, uint32_t *units);
int64_t machine_pop(struct machine *m, uint32_t worker);        /* the node, or -1 */
void machine_done(struct machine *m, uint32_t node, uint32_t worker);

#endif
