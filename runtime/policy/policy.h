/* policy.h - the interface of scheduling policies, which decide which worker runs which ready job. A policy sees the machine only through struct dfr_view,
 * so that the engine and the simulator run the same code.
 *
 * Room:     runtime/policy/ has one file per policy or family of policies, and the queues that they share. It knows graphs, plans, job queues and the
 *           eviction order (memmgr/victims.h), but no threads, memory or devices: it asks the view for those.
 * Words:    A *job* is (slot, node): the node's firing for the wave that is in flight in that slot. `by` is the worker
 *           whose completed job made another job ready; it is DFR_NOBODY at the start. A job is *lone* if no other job
 *           became ready at the same time. To *prefetch* for a job is to have its inputs copied to the memory of the
 *           unit that will run it.
 * Memory:   create() allocates all that a run can need; push, pop and done allocate nothing. The view and the plan are
 *           borrowed until destroy().
 * Threads:  Any worker's thread may call push, pop and done, several at once. One thread calls create and destroy.
 * Progress: lock-free. The workers of every unit in *units can find a pushed job by pop; no other worker can.
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
    uint32_t n_slots;                   /* a node has at most so many jobs queued at once */
    const uint32_t *unit_of_slot;       /* dfr_policy_by_worker; else NULL */
    uint32_t n_workers;
    const uint32_t *unit_of;            /* worker → unit */
    const uint32_t *first_worker;       /* unit → its first worker; workers of a unit are consecutive; n_units + 1
                                         * entries */
    const uint32_t *able;               /* node → bit u: unit u may run it; never 0 */
    const double *time_s;               /* [unit * n_works + work], launch included */
    bool locality;                      /* --dl: a device prefers jobs that reuse data in its memory (locality.h) */
    bool guard;                         /* --guard: gp may change its placement if times turn out wrong */
    bool oldest_first;                  /* ws: a worker takes the oldest of its jobs, and a thief takes one job */
    uint32_t seed;                      /* for policies that draw */
    double (*now_s)(void *arg);
    const uint32_t *pass_of;            /* by node: it fires in pass_waves waves from pass_of * pass_stride on; DF_NONE: in all.
                                         * NULL: all nodes fire in all (skips.h) */
    const _Atomic int64_t *pass_waves;  /* the end of a stream lowers it */
    int64_t pass_stride;
    int64_t (*wave)(void *arg, uint32_t slot); /* the wave that is in flight in the slot; slot < n_slots. With passes: pass * pass_stride + wave */
    /* Bit u: the memory of unit u holds the value that the job reads in its in slot `k`. */
    uint32_t (*holders)(void *arg, uint64_t job, uint32_t k);
    /* Called by a policy that has decided on a unit, before anyone can pop the job. true: the job waits for its data,
     * and then runs on that unit without being pushed again. false: the policy may queue the job now. */
    bool (*prefetch)(void *arg, uint64_t job, uint32_t unit);
    /* Returns true if all transfers to that unit for this job have completed. Only then may a policy that places jobs run it elsewhere. */
    bool (*settled)(void *arg, uint64_t job, uint32_t unit);
    /* Called by a device's worker in pop(). Returns true while inputs of this job are still being copied to the device, so that another job should be
     * taken first; the worker looks again when they have arrived. NULL: no input is in transit while its job is queued. */
    bool (*comes)(void *arg, uint64_t job, uint32_t unit);
    /* Wakes the unit's workers. A policy calls it if it makes a job visible to the unit outside of push(), or may now give the unit a job that it has
     * refused: the engine wakes workers after push() only. */
    void (*wake)(void *arg, uint32_t unit);
    /* Returns the time from which the unit's measurements are valid: jobs taken before it were slowed by the loading of code. Called by a worker of that
     * unit. NULL: all measurements are valid. */
    double (*steady_s)(void *arg, uint32_t unit);
    /* Returns how long the job that a worker of the unit completes now took, launch included; < 0 if unknown. Called by that worker in done(). If a device's
     * worker finds several jobs complete at once, each gets its share of the time. NULL: a job's time runs from when it was taken, or the job before it
     * was done, until it is done. */
    double (*took_s)(void *arg, uint32_t unit);
    /* With `--prefetch`: how long a worker of a device is busy with the jobs that it has, if it has as many as run at
     * once there. 0: a job that it takes now can begin. NULL: it takes no job ahead (ahead.h). */
    double (*busy_s)(void *arg, uint32_t worker);
    /* Returns true if the job's kernel was not called because an input is empty. Called by a worker in done(). NULL: every kernel is called. */
    bool (*left_out)(void *arg, uint64_t job);
    void *arg;
};

enum dfr_pushed {
    DFR_QUEUED,                         /* *units: the units whose workers can pop it */
    DFR_KEPT,                           /* the job is lone, and `by` itself runs it next */
    DFR_PREFETCHING                     /* view->prefetch took it: it comes back when its inputs are there */
};

struct dfr_policy {
    const char *name, *summary;
    bool needs_plan;                    /* takes places from a plan, and priorities if it has rank() */
    bool pull;                          /* the unit is known only when a worker takes the job: data is fetched then */
    bool locality;                      /* obeys view->locality */
    bool any_worker;                    /* if there are no devices, any worker may run any job at any time: steal.h */
    bool guarded;                       /* --guard lets jobs run elsewhere than the plan says */
    uint32_t variant;                   /* tells policies of one file apart */
    int (*create)(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                  void **state, struct df_error *error);
    void (*destroy)(void *state);
    enum dfr_pushed (*push)(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units);
    bool (*pop)(void *state, uint32_t worker, uint64_t *job);
    /* Queues a job for the host whose push() returned DFR_PREFETCHING, because its inputs have come. It waits there among the
     * others. NULL: if the policy knows units before the run, push() is called again; else whoever is free runs it. */
    void (*come)(void *state, uint64_t job);
    void (*done)(void *state, uint64_t job, uint32_t worker); /* may be NULL */
    /* The unit of a node for the wave in a slot, as a bit; NULL if the policy does not know it before the run. Values
     * and nodes that fire once have slot n_slots: there it gives all units in whose memory a node of some wave may
     * read. */
    uint32_t (*units)(void *state, uint32_t slot, uint32_t node);
    /* The node's place in the order in which the unit runs the nodes of a wave, counted among those that run there.
     * NULL: the order is not known before the run. */
    uint32_t (*rank)(void *state, uint32_t unit, uint32_t node);
};

#define DFR_POLICY_DEFAULT "dmda"
#define DFR_POLICY_KNOWN "gp"           /* the default if the program's plan for it fits: policy_default.h */

/* The names, ended by NULL, in the order in which they are shown. */
const char *const *dfr_policy_names(void);

/* Finds a policy by name; NULL means the default. Returns NULL for an unknown name, and *error suggests a similar one. */
const struct dfr_policy *dfr_policy_find(const char *name, struct df_error *error);

struct dfr_run_as {                     /* what a plan's run_as says */
    const struct dfr_policy *policy;    /* NULL: the nodes run where the plan places them */
    bool locality, prefetch;            /* what is in the view and in a run's options, in addition to what is asked for */
};

/* Reads a plan's run_as: "static" or nothing, or an online policy and its options, as in "pats --dl --prefetch". Errors:
 * DF_E_ARGUMENT (there is no such policy, or policies have no such option). */
int dfr_run_as_read(const char *text, struct dfr_run_as *as, struct df_error *error);

/* Returns true if a run without --policy follows this plan (may be NULL): the plan is gp's, was made from known times, and was made for one wave or for
 * many, as the run has. waves: 0 means one, or until the streams end. */
bool dfr_plan_is_default(const struct df_graph *graph, const struct df_plan *plan, int64_t waves);

/* ---- shared by policies: one FIFO for each set of units that some node can run on, so that a worker never takes a job
 * that it cannot run; or such FIFOs for each kernel ---- */

#define DFR_MAX_SETS 64

struct dfr_ready {
    const struct df_graph *graph;
    bool by_kernel;
    uint32_t n_kinds;                   /* kernels, or 1 */
    uint32_t n_sets;
    uint32_t sets[DFR_MAX_SETS];        /* masks, fewest units first */
    struct dfr_queue **queues;          /* [kind * n_sets + set]; NULL: there are no such nodes */
    uint8_t *set_of;                    /* node → set */
};

int dfr_ready_create(struct dfr_ready *ready, const struct dfr_view *view, bool by_kernel, struct df_error *error);
void dfr_ready_destroy(struct dfr_ready *ready);
void dfr_ready_push(struct dfr_ready *ready, uint64_t job);
bool dfr_ready_pop(struct dfr_ready *ready, uint32_t kind, uint32_t unit, uint64_t *job); /* sets with the fewest units
                                                                                           * first */

/* These are in policy_*.c; the table is in policy.c. */
extern const struct dfr_policy dfr_policy_eager, dfr_policy_ddfcfs, dfr_policy_ddwrr, dfr_policy_random, dfr_policy_ws,
    dfr_policy_dmda, dfr_policy_dmdas, dfr_policy_dmdar, dfr_policy_pats, dfr_policy_padas, dfr_policy_pams,
    dfr_policy_heft, dfr_policy_peft, dfr_policy_gp_thesis, dfr_policy_gp, dfr_policy_all_cpu, dfr_policy_all_gpu;
/* Returns the unit where a static policy places a node. `able`: the units that may run it; `planned`: the plan's unit. If the node cannot run there in this
 * run (a smaller --gpu-mem, a hint), it goes to the first unit that can run it. */
uint32_t dfr_policy_place(const struct dfr_policy *policy, uint32_t able, uint32_t planned);

/* Not in the table: --serial, and runs whose waves have a unit each (df_options.unit_of_slot), use them. */
extern const struct dfr_policy dfr_policy_serial, dfr_policy_by_worker;

#endif
