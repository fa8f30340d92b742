/* engine.h - the firing of nodes: which job is ready when, for several waves in flight. Private to the runtime.
 *
 * Words:    a *slot* holds one wave in flight: wave w is in slot w % inflight, and begins there when wave w - inflight
 *           has ended. The *once slot* (number inflight) holds what fires once, before wave 0. *need* of a node is how
 *           many releases make its job ready: one for each in slot that is not a once value, and those below.
 *
 * States of a job (node, slot), by its counter of pending releases:
 *     1  waiting    left = releases that are still missing
 *     2  ready      1 -> 2 by the release that takes `left` to 0; it sets it back to `need` for the slot's next
 *                   wave and gives the job to the policy
 *     3  queued     in the policy (or kept by the worker that released it, or staged: its data is on the way)
 *     4  taken      3 -> 4 by a worker's pop; exactly one worker has it. CPU: runs at once. GPU: see gpu_worker.c
 *     5  done       4 -> 5 dfr_engine_done(): gives its inputs back, makes its outputs visible, releases its readers
 * A run that stops leaves jobs in any state; they are dropped with it.
 *
 * Extra needs:  a source has one for its wave to begin (with streams: for all streams to have delivered the wave);
 *               `ordered`, `stream` and depth-bounded nodes have one for their job of the wave before; a node with
 *               @depth(n), n < inflight, has one for each output that is read: the wave n before was read by all.
 * End of wave:  all *terminal* nodes (those that nobody reads) are done. Every other job released its readers as its
 *               last act, so then nothing touches the slot any more and the next wave may begin in it.
 *
 * Memory:   all of it is allocated by df_run_start() and freed by df_run_wait().
 * Threads:  dfr_engine_… from any worker; the job's inputs and outputs belong to the worker that took it.
 * Progress: no lock and no system call on a job's path but the wake of a sleeper.
 */
#ifndef DFR_ENGINE_H
#define DFR_ENGINE_H

#include <pthread.h>

#include "memmgr/cache.h"
#include "memmgr/space.h"
#include "runtime/policy/policy.h"
#include "runtime/threads/wake.h"
#include "runtime/trace/trace.h"

enum { DFR_N_ONCE = 1, DFR_N_SOURCE = 2, DFR_N_STREAM = 4, DFR_N_IN_ORDER = 8, DFR_N_BOUNDED = 16, DFR_N_TERMINAL = 32,
       DFR_N_COPY = 64, DFR_N_TMP = 128 };

struct dfr_node {                       /* four to a cache line */
    uint32_t first_successor;           /* into run->firing.successors; they end where the next node's begin */
    uint32_t first_port;                /* into a slot's ports (tokens.h) */
    uint32_t work;
    uint32_t flags;
};

struct dfr_pending {
    _Atomic uint32_t left;              /* releases that are still missing */
    uint32_t need;                      /* of each wave, at least 1 */
};

struct dfr_code {                       /* of a work: all of a call but its ports */
    df_function *cpu;                   /* NULL: no cpu variant */
    const size_t *dims;
    const union df_scalar *scalars;
};

struct dfr_slot {
    /* Written before the wave's first release. Atomic for who looks later, at a block that nobody needs any more but
     * that has just arrived: when it is needed next is a guess then (next_use.h). */
    _Alignas(64) _Atomic int64_t wave;
    _Atomic uint32_t nodes_left;        /* terminal nodes not yet done */
    _Atomic uint32_t streams_left;      /* streams that have not delivered this wave */
    char pad[48];
};

enum dfr_stop { DFR_RUNNING, DFR_FINISHED, DFR_FAILED };

/* What a kernel is called with, and what it may say. */
struct df_call {
    struct df_run *run;
    uint64_t job;
    int64_t wave;
    unsigned threads;
    struct dfr_device *device;          /* NULL: a CPU job */
    uint32_t stream;
    bool failed;
    bool varies;                        /* it asked for something that differs from wave to wave, or said something */
    char message[256];
};

struct dfr_deque;
struct dfr_tokens;

struct dfr_worker {
    _Alignas(64) struct df_run *run;
    uint32_t index, unit;
    bool alone;                         /* no other worker has a job now: counters need no atomic operations */
    uint64_t kept;                      /* the successor to run next, or DFR_NO_JOB */
    struct dfr_deque *deque;              /* its own deque of ready jobs (steal.h); NULL: the policy has them */
    struct df_call call;
    void **ports;                       /* room for the kernel with most ports */
    unsigned char *tmp;                 /* scratch for the largest tmp of CPU jobs */
    struct dfr_trace_row *row;
    uint64_t jobs;
    double busy_s, first_s, last_s;     /* first_s < 0: no job yet */
    uint64_t ready;                     /* while jobs are released: one not yet given to the policy, to
                                         * see whether it is lone */
    uint32_t n_pushed;
    uint32_t pushed_units[DF_MAX_UNITS];/* jobs queued since the last wake, by unit */
    pthread_t thread;
    bool started;
};

/* What a device's memory is divided into: a piece for each slot, one for what is made once,
 * scratch, the rest. size.h */
struct dfr_room {
    uint64_t pool_bytes;
    bool roomy;                         /* whatever may come has a place of its own */
    bool fits;                          /* nothing is ever evicted */
    const uint32_t *page;               /* [row * n_values + value], from the start of its piece; NULL: no places */
    uint32_t n_rows;                    /* wave w goes by row w % n_rows */
    uint64_t slot_bytes, planned_bytes; /* of a slot's piece; of all pieces */
    uint64_t scratch_bytes, scratch_of_job_bytes;
    uint32_t *own_page;                 /* roomy: behind `page` */
};

struct dfr_buffers;
struct dfr_cores;
struct dfr_gang;
struct dfr_gpu;
struct dfr_list;
struct dfr_inspect;

/* The parts of a run. Each is written by runtime/start/ before the first job, and read by everybody after that, unless a
 * member says otherwise. */

struct dfr_run_machine {                /* the units and workers of this run */
    uint32_t n_units, n_cpu_workers, n_workers, n_gpus;
    struct df_platform platform;        /* the actual one */
    uint32_t unit_of[DF_MAX_WORKERS + DF_MAX_UNITS], first_worker[DF_MAX_UNITS + 1];
    struct dfr_cores *cores;            /* NULL: workers are not bound */
};

struct dfr_run_plan {                   /* what the plan that is followed says of itself */
    uint32_t inflight;                  /* waves in flight that it was made for; 0: not said */
    bool online;                        /* it says that an online policy does better than its own placement */
    struct df_plan *own;                /* made at the start of this run; NULL: none */
};

enum { DFR_WHY_SIZE = 160 };

struct dfr_run_choice {                 /* the policy, and what it sees */
    const struct dfr_policy *policy;
    char why[DFR_WHY_SIZE];             /* it is this policy: for --stats */
    void *state;                        /* the policy's own */
    struct dfr_view view;
    uint32_t *able;                     /* by node: the units that can run it, a bit each */
    double *time_s;
    bool times_known;                   /* no time is the stated default */
};

struct dfr_run_firing {                 /* which job is ready when */
    struct dfr_node *nodes;             /* one more than there are */
    uint32_t *successors;               /* who is released by a node's end, by node; of a once node: the once nodes */
    struct dfr_code *codes;             /* by work */
    struct dfr_pending *pending;        /* [slot * n_nodes + node]; what fires once has no other job, so
                                         * no other place */
    struct dfr_slot *slots;
    uint32_t *streams, *sources;        /* node numbers; sources without the streams */
    uint32_t n_streams, n_sources, n_terminals, n_once, n_once_terminals;
    _Atomic uint32_t once_left;         /* nodes that fire once and are not yet done */
    _Atomic int64_t limit;              /* waves to run; a stream's end lowers it */
    _Atomic int64_t waves_done;
};

struct dfr_run_memory {                 /* where tokens lie on the host */
    struct dfm_space *space;            /* NULL: tokens have fixed addresses */
    struct dfr_tokens *tokens;          /* NULL: they have not (tokens.h) */
    struct dfr_buffers *buffers;        /* the caller's memory (buffers.h); NULL: none */
    union df_scalar *scalars;           /* values of graph->node_scalars */
};

/* Where a CPU worker finds its next job. */
enum dfr_loop {
    DFR_LOOP_LIST,                      /* in a list that was made before the run: one worker, no device (list.h) */
    DFR_LOOP_DEQUES,                    /* in its own deque, or in another worker's (worker.h, steal.h) */
    DFR_LOOP_POLICY                     /* it asks the policy (worker.h) */
};

struct dfr_run_threads {                /* the workers, and how they meet */
    struct dfr_worker *workers;         /* CPU first, then one per GPU */
    struct dfr_wake *wakes;             /* by unit */
    uint32_t spins;                     /* looks for work before sleeping */
    struct dfr_gang *gang;              /* NULL: no node asks for threads */
    enum dfr_loop loop;                 /* what CPU workers do; `why` says in words why this one was chosen */
    const char *loop_why;
    struct dfr_list *list;              /* NULL unless the loop is DFR_LOOP_LIST */
    struct dfr_deque *deques;             /* by worker; NULL unless the loop is DFR_LOOP_DEQUES */
    bool fences;                        /* of the deques: deque.h */
    struct dfr_worker starter;          /* stands for the thread in df_run_start() */
    _Alignas(64) _Atomic uint32_t n_active; /* deques: workers that have jobs, or are about to steal some */
    char pad[60];
};

struct dfr_run_devices {                /* all NULL and 0 in a run without devices */
    const struct dfr_device_ops *ops;   /* NULL: no devices */
    uint64_t limit_bytes[DF_MAX_UNITS]; /* memory that may be used, by unit */
    struct dfr_room rooms[DF_MAX_UNITS];/* what of it will be used, and for what */
    uint32_t jobs;                      /* launched at once on a GPU, at most */
    bool jobs_found;                    /* how many of these is found while it runs: flight.h */
    uint32_t window;                    /* taken at once: launched, or reserved with copies under way */
    struct dfr_gpu *gpus[DF_MAX_UNITS]; /* by unit; [0] NULL */
    _Atomic uint32_t *missing;          /* of a staged job: inputs on the way */
    uint8_t *taker;                     /* of a staged job: the unit it waits on */
    uint8_t *ahead;                     /* by job: launched by its GPU's worker behind what makes its inputs, and that
                                         * worker alone will release it: then it is nobody else's. NULL: none is */
    uint32_t *waiter_node;              /* in value → its node */
    struct dfr_queue *arrived;          /* staged CPU jobs whose data has come */
    _Atomic uint32_t n_staged;          /* CPU jobs staged and not yet taken again */
    const struct dfr_device_ops *check_ops; /* --check=variants: where gpu variants run; NULL else */
};

struct dfr_run_outcome {                /* how the run ends; written by whoever stops it */
    _Atomic uint32_t stop;              /* enum dfr_stop */
    _Atomic bool failure_claimed;
    int failure_status;
    struct df_error failure;            /* written by who claimed it, read after all threads have ended */
};

struct dfr_run_watch {                  /* for people who look at the run */
    double started_s;
    struct dfr_trace *trace;            /* NULL: none asked for */
    struct dfr_trace_row *start_row;
    struct dfr_inspect *inspect;        /* NULL: nothing is looked into while jobs run */
    int (*call)(struct df_run *run, struct dfr_worker *worker); /* if not: calls a CPU job's kernel and looks into it */
};

struct df_run {
    const struct df_graph *graph;
    struct df_options options;
    uint32_t inflight;                  /* slots; the once slot has this number */
    struct dfr_run_plan plan;
    struct dfr_run_machine machine;
    struct dfr_run_choice choice;
    struct dfr_run_firing firing;
    struct dfr_run_memory memory;
    struct dfr_run_threads threads;
    struct dfr_run_devices devices;
    struct dfr_run_outcome outcome;
    struct dfr_run_watch watch;
};

static inline bool dfr_stopped(const struct df_run *run)
{
    return atomic_load_explicit(&((struct df_run *)run)->outcome.stop, memory_order_relaxed) != DFR_RUNNING;
}

#define DFR_NO_JOB UINT64_MAX

static inline uint32_t dfr_once_slot(const struct df_run *run) { return run->inflight; }

static inline uint32_t dfr_job_index(const struct df_run *run, uint64_t job)
{
    return dfr_job_slot(job) * run->graph->n_nodes + dfr_job_node(job);
}

static inline bool dfr_is_once(const struct df_run *run, uint32_t node)
{
    return run->firing.nodes[node].flags & DFR_N_ONCE;
}

/* The block of a value for a job in `slot`: once values have one for all waves. */
static inline uint32_t dfr_block_of(const struct df_run *run, uint32_t value, uint32_t slot)
{
    uint32_t s = dfr_is_once(run, run->graph->values[value].producer) ? dfr_once_slot(run) : slot;
    return s * run->graph->n_values + value;
}

static inline int64_t dfr_job_wave(const struct df_run *run, uint64_t job)
{
    return dfr_job_slot(job) == run->inflight ? 0 : run->firing.slots[dfr_job_slot(job)].wave;
}

/* engine.c */
int dfr_engine_create(struct df_run *run, struct df_error *error); /* needs inflight, limit and options */
void dfr_engine_destroy(struct df_run *run);
void dfr_engine_start(struct df_run *run, struct dfr_worker *worker);
/* The job ran with `code`. Its outputs' blocks have memory; bit `memory` becomes valid here. A code that is no success
 * stops the run. */
void dfr_engine_done(struct df_run *run, struct dfr_worker *worker, const struct df_call *call, int code,
                     uint32_t memory);
/* The part of dfr_engine_done() that is about memory, if tokens are blocks: the job ran on the host, its outputs become
 * valid and it was a reader of its inputs. For list.c, where nothing waits for a release. */
void dfr_engine_pass_tokens(struct df_run *run, uint64_t job);
/* Releases that the job (node, slot) still waits for. */
uint32_t dfr_engine_pending(const struct df_run *run, uint32_t node, uint32_t slot);
/* Parts of it, for firing.h: */
bool dfr_engine_in_order(struct df_run *run, struct dfr_worker *worker, uint32_t node, uint32_t slot, int64_t wave);
void dfr_engine_terminal(struct df_run *run, struct dfr_worker *worker, uint32_t slot, uint32_t n);
void dfr_engine_ready(struct df_run *run, struct dfr_worker *worker, uint64_t job); /* gives it to the policy */
/* A value that is kept (buffers.h) is on the host. */
void dfr_engine_kept(struct df_run *run, struct dfr_worker *worker, uint32_t value, uint32_t slot);
/* The table `codes`; needs `scalars`. */
int dfr_engine_codes(struct df_run *run, struct df_error *error);
void dfr_engine_fail(struct df_run *run, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dfr_engine_fail_job(struct df_run *run, uint64_t job, int64_t wave, const char *message);
void dfr_engine_stop(struct df_run *run, enum dfr_stop how);

/* stage.c: bringing a job's inputs to where it will run. */
bool dfr_stage(void *run, uint64_t job, uint32_t unit);           /* struct dfr_view's */
uint32_t dfr_holders(void *run, uint64_t job, uint32_t k);        /* struct dfr_view's */
bool dfr_settled(void *run, uint64_t job, uint32_t unit);         /* struct dfr_view's */
void dfr_stage_outputs(struct df_run *run, uint64_t job, uint32_t memory); /* towards readers whose unit is known */
void dfr_arrived(void *run, uint32_t waiter);                     /* a device's copy to the host is complete */
/* Asks device `memory`, which has it, for a value that is kept. */
void dfr_stage_kept(struct df_run *run, uint32_t value, uint32_t slot, uint32_t memory);
/* An item of run->devices.arrived: where it is no job but a kept value that has come, ends what waited for it. */
bool dfr_stage_end_kept(struct df_run *run, struct dfr_worker *worker, uint64_t item);
/* Units to which data goes directly from `unit` in this run, a bit each: the platform says so and the back end can. */
uint32_t dfr_peers(const struct df_run *run, uint32_t unit);
void dfr_ask(struct df_run *run, uint32_t waiter, uint32_t block, uint32_t holders);
static inline uint32_t dfr_waiter(const struct df_run *run, uint64_t job, uint32_t k)
{
    return dfr_job_slot(job) * run->graph->n_in_values + run->graph->nodes[dfr_job_node(job)].first_in + k;
}

#endif
