/* policy.h - which worker runs which ready job. The same code runs for real and under a simulator's virtual time: a
 * policy sees the machine only through struct dfr_view.
 *
 * Words:    a *job* is (slot, node): node's firing for the wave that is in flight in that slot. `by` is the worker
 *           whose completed job made another ready, DFR_NOBODY at the start. A job is *lone* where it is the only one
 *           that became ready then. To *stage* a job for a unit is to have its inputs brought to that unit's memory.
 * Memory:   create() allocates all that a run can need; push, pop and done allocate nothing. The view and the plan are
 *           borrowed until destroy().
 * Threads:  push, pop and done from any worker's thread at once; create and destroy from one.
 * Progress: lock-free. A pushed job is found by the pops of every worker of the units in *units, by nobody else's.
 */
#ifndef DFR_POLICY_H
#define DFR_POLICY_H

#include "runtime/graph/plan.h"
#include "runtime/threads/queue.h"

#define DFR_NOBODY UINT32_MAX

static inline uint64_t dfr_job(uint32_t slot, uint32_t node) { return (uint64_t)slot << 32 | node; }
static inline uint32_t dfr_job_node(uint64_t job) { return (uint32_t)job; }
static inline uint32_t dfr_job_slot(uint64_t job) { return (uint32_t)(job >> 32); }

struct dfr_view {                       /* the machine, as a policy sees it */
    const struct df_graph *graph;
    const struct df_platform *platform; /* units, links */
    uint32_t n_slots;                   /* a node has at most this many jobs queued at once */
    uint32_t n_workers;
    const uint32_t *unit_of;            /* worker → unit */
    const uint32_t *first_worker;       /* unit → its first worker; workers of a unit are consecutive; n_units + 1 */
    const uint32_t *able;               /* node → bit u: unit u may run it; never 0 */
    const double *time_s;               /* [unit * n_works + work], launch included */
    bool locality;                      /* --dl: after a job, a device prefers one that reads what it made */
    bool guard;                         /* --guard: gp may change its placement where times turn out wrong */
    uint32_t seed;                      /* for policies that draw */
    double (*now_s)(void *arg);
    int64_t (*wave)(void *arg, uint32_t slot); /* that is in flight there; slot < n_slots */
    /* Bit u: the memory of unit u holds what in slot `k` of the job reads. */
    uint32_t (*holders)(void *arg, uint64_t job, uint32_t k);
    /* Called by a policy that has decided on a unit, before anyone can pop the job. true: the job waits for its data
     * and will run on that unit without being pushed again; false: it may be queued now. */
    bool (*stage)(void *arg, uint64_t job, uint32_t unit);
    /* Has all that was sent to that unit for this job come? Only then may a placed policy run it elsewhere. */
    bool (*settled)(void *arg, uint64_t job, uint32_t unit);
    /* Called by a policy that makes a job known to a unit outside of push(), after which nobody else would be woken for
     * it. */
    void (*wake)(void *arg, uint32_t unit);
    /* Jobs that a worker of the unit took before then do not say how long theirs take: its device was still loading
     * code. Asked by a worker of that unit. NULL: all jobs say it. */
    double (*steady_s)(void *arg, uint32_t unit);
    void *arg;
};

enum dfr_pushed {
    DFR_QUEUED,                         /* *units: whose workers can pop it */
    DFR_KEPT,                           /* lone: `by` runs it next itself */
    DFR_STAGED                          /* view->stage took it */
};

struct dfr_policy {
    const char *name, *summary;
    bool needs_plan;                    /* takes places and priorities from a plan */
    bool pull;                          /* a unit is known only when a worker takes the job: data is fetched then */
    bool any_worker;                    /* where there are no devices, any worker may run any job at any
                                         * time: direct.h */
    bool guarded;                       /* --guard lets jobs run elsewhere than its plan says */
    uint32_t variant;                   /* what tells policies of one file apart */
    int (*create)(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                  void **state, struct df_error *error);
    void (*destroy)(void *state);
    enum dfr_pushed (*push)(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units);
    bool (*pop)(void *state, uint32_t worker, uint64_t *job);
    void (*done)(void *state, uint64_t job, uint32_t worker); /* may be NULL */
    /* Where the unit is known before the run, NULL where it is not: that of a node for the wave in a slot, as a bit. In
     * slot n_slots, where what fires once is, all in whose memory a node of some wave may read. */
    uint32_t (*units)(void *state, uint32_t slot, uint32_t node);
    /* Where that unit's order of a wave is known too, the node's place in it, among those
     * that run there; may be NULL. */
    uint32_t (*rank)(void *state, uint32_t unit, uint32_t node);
};

#define DFR_POLICY_DEFAULT "dmda"
#define DFR_POLICY_KNOWN "gp"           /* the default for one wave where its plan is there: dfr_plan_is_default() */

/* Names, ended by NULL, in the order that they are shown in. */
const char *const *dfr_policy_names(void);

/* NULL with a sentence that suggests one where the name is unknown. NULL name: the default. */
const struct dfr_policy *dfr_policy_find(const char *name, struct df_error *error);

/* Whether a run for which nobody named a policy follows this plan (may be NULL): gp's, from known times, made for one
 * wave or for many as the run is. waves: 0, one or until the streams end. */
bool dfr_plan_is_default(const struct df_graph *graph, const struct df_plan *plan, int64_t waves);

/* ---- shared by policies: one FIFO for each set of units that some node can run on, so that a worker never takes a job
 * that it cannot run; or such FIFOs for each kernel. ---- */

#define DFR_MAX_SETS 64

struct dfr_ready {
    const struct df_graph *graph;
    bool by_kernel;
    uint32_t n_kinds;                   /* kernels, or 1 */
    uint32_t n_sets;
    uint32_t sets[DFR_MAX_SETS];        /* masks, fewest units first */
    struct dfr_queue **queues;          /* [kind * n_sets + set]; NULL where there are no such nodes */
    uint8_t *set_of;                    /* node → set */
};

int dfr_ready_create(struct dfr_ready *ready, const struct dfr_view *view, bool by_kernel, struct df_error *error);
void dfr_ready_destroy(struct dfr_ready *ready);
void dfr_ready_push(struct dfr_ready *ready, uint64_t job);
bool dfr_ready_pop(struct dfr_ready *ready, uint32_t kind, uint32_t unit, uint64_t *job); /* fewest units first */

/* In policy_*.c; the table is in policy.c. */
extern const struct dfr_policy dfr_policy_eager, dfr_policy_ddfcfs, dfr_policy_ddwrr, dfr_policy_random, dfr_policy_ws,
    dfr_policy_dmda, dfr_policy_dmdas, dfr_policy_dmdar, dfr_policy_pats, dfr_policy_padas, dfr_policy_pams,
    dfr_policy_heft, dfr_policy_peft, dfr_policy_gp_thesis, dfr_policy_gp, dfr_policy_all_cpu, dfr_policy_all_gpu;
/* Where a policy that places before the run puts a node that these units may run; `planned` is the plan's unit. What
 * does not fit there at this run (a smaller --gpu-mem, a hint) goes to the first unit that can. */
uint32_t dfr_policy_place(const struct dfr_policy *policy, uint32_t able, uint32_t planned);

extern const struct dfr_policy dfr_policy_serial; /* what --serial runs by; not in the table: nobody schedules so */

#endif
