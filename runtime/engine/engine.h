/* engine.h - the state of a run in progress. runtime/engine/ executes the graph: it decides which job is ready when
 * (the firing rule), runs the loops of the CPU workers, calls kernels, and places tokens on the host. Private to the
 * runtime.
 *
 * The room may know the rooms above it in the table of docs/architecture.md: the graph, devices through their interface
 * (runtime/device/), memory (memmgr/), the trace and the policies. It knows no back end and not the worker of a GPU. It
 * does not know how a run is started or inspected: runtime/start/ fills struct df_run, and runtime/inspect/ sets the
 * hook watch.call.
 *
 * Words:       several waves are in flight at a time, each in a *slot*: wave w is in slot w % inflight, and begins
 *              there when wave w - inflight has ended. The *once slot* (number inflight) holds what fires once, before
 *              wave 0 or, if it is *final*, after the last wave; and the values of accs. A *release* tells a job that
 *              one of the things it waits for has happened. The *need* of a node is the number of releases that make
 *              its job ready: one for each input that is produced in the same phase (once, wave, final), and the extra
 *              needs below.
 *
 * States of a job (node, slot), by its counter of pending releases:
 *     1  waiting    left = the number of releases that are still missing.
 *     2  ready      1 -> 2 by the release that takes `left` to 0. It resets `left` to `need` for the slot's next wave, and
 *                   gives the job to the policy or to the worker's deque.
 *     3  queued     in the policy or in a deque; or the worker that released it will run it next (`kept`); or it waits for
 *                   its inputs, which are being prefetched.
 *     4  taken      3 -> 4 by a worker that takes it; exactly one worker has it. A CPU worker runs it at once. For a GPU see
 *                   gpu/gpu_worker.c.
 *     5  done       4 -> 5 by dfr_engine_done(), which drops the job's inputs, publishes its outputs and releases its
 *                   readers. With tokens at fixed addresses, dfr_released() alone does it.
 * When a run stops, its jobs may be in any state. They are dropped with the run.
 *
 * Extra needs: a final node has one for the end of the waves. A source has one for the beginning of its wave; if there
 *              are streams, this release comes when all of them have delivered the wave. Nodes that are `ordered` or a
 *              `stream`, that have an acc, or that are bounded by @depth have one for their own job of the previous
 *              wave. A node with @depth(n), n < inflight, has one for each of its outputs that is read: all readers
 *              have ended in the wave n waves before.
 * End of wave: a wave ends when all its *terminal* nodes (those without readers) are done. Every other job releases its
 *              readers as its last action. So when the wave ends, nothing accesses the slot any more, and the next wave
 *              may begin in it.
 * Slots:       the state of a slot is initialised for each wave, also for one in which a job is left out and gets no
 *              memory:
 *                   wave, nodes_left, streams_left       begin_wave()
 *                   pending[].left                       the release that takes it to 0
 *                   skips.empty, skips.passes->round     the job's own call or end, before its readers are released (skips/skips.h); begin_wave()
 *                   rows of extents                      the job's own call; the row of an empty token is not read
 *                   blocks[].valid, host, readers        publish() and dfm_space_drop(): the last reader, or publish() if there is none
 *                   wholes[].memory, dropped             the last drop of the whole and its pieces. Each is dropped once a wave
 *                   tokens' ports in lent memory         dfr_tokens_begin()
 *                   devices.missing, taker, ahead        whoever prefetches for the job or launches it; gpu->flying when it ends
 *                   feed.slots                           the feeder
 *              A session's call sets waves_done, final_begun, limit, over and once_left, and initialises accs and states
 *              of kernels anew. A call that failed or was stopped leaves counters in the middle of a wave: its run is
 *              not used again (start/session.c).
 * End of run:  when all waves have ended, the final nodes are released, each once; besides that they only wait for the
 *              final nodes that they read. Buffers that keep an acc's value (buffers.h) end then, too. Without either,
 *              the run ends with its last wave.
 *
 * Memory:      df_run_start() allocates all of it, df_run_wait() frees it.
 * Threads:     any worker calls dfr_engine_…. The inputs and outputs of a job belong to the worker that took it.
 * Progress:    the path of a job has no lock, and no system call except waking a sleeper.
 */
#ifndef DFR_ENGINE_H
#define DFR_ENGINE_H

#include <pthread.h>

#include "memmgr/cache.h"
#include "memmgr/space.h"
#include "runtime/extents/extents.h"
#include "runtime/policy/policy.h"
#include "runtime/policy/resources.h"
#include "runtime/skips/skips.h"
#include "runtime/threads/pieces.h"
#include "runtime/threads/wake.h"
#include "runtime/trace/trace.h"

enum { DFR_N_ONCE = 1, DFR_N_SOURCE = 2, DFR_N_STREAM = 4, DFR_N_IN_ORDER = 8, DFR_N_BOUNDED = 16, DFR_N_TERMINAL = 32,
       DFR_N_COPY = 64, DFR_N_TMP = 128, DFR_N_FINAL = 256, DFR_N_FREE = 512 };
/* The phase of a node: DFR_N_ONCE alone is before wave 0, both are after the last wave, neither is in every wave. */
#define DFR_N_PHASE (DFR_N_ONCE | DFR_N_FINAL)

struct dfr_node {                       /* four records fill a cache line */
    uint32_t first_successor;           /* index into firing.successors; they end where the next node's begin */
    uint32_t first_port;                /* index into a slot's ports (tokens.h) */
    uint32_t work;
    uint32_t flags;
};

struct dfr_pending {
    _Atomic uint32_t left;              /* releases that are still missing */
    uint32_t need;                      /* releases that each wave needs, at least 1 */
};

struct dfr_code {                       /* all that a call of a work's kernel needs, except its ports */
    df_function *cpu;                   /* NULL: no cpu variant. It changes once, when something is skipped (ports.h) */
    const size_t *dims;
    const union df_scalar *scalars;
};

struct dfr_slot {
    /* Written before the wave's first release. Atomic because it may be read concurrently: a block without further readers
     * may still arrive, and its next use is then only a guess (next_use.h). */
    _Alignas(64) _Atomic int64_t wave;
    _Atomic uint32_t nodes_left;        /* terminal nodes that are not yet done */
    _Atomic uint32_t streams_left;      /* streams that have not delivered this wave */
    _Atomic int64_t reserved;           /* the wave that begins here, or would if the waves did not end: dfr_engine_end_early() */
    char pad[40];
};

enum dfr_stop { DFR_RUNNING, DFR_FINISHED, DFR_RUN_FAILED };
enum dfr_early_state { DFR_NOT_EARLY, DFR_DECIDING, DFR_DECIDED }; /* of a request to end early */

/* What kernels have opened (df_open()) for one worker, or for one stream of a GPU. Only jobs there access it. */
struct dfr_opened {
    struct dfr_open *of_work;           /* by work; NULL: nothing is open */
};

/* The argument of a kernel's call, and what the kernel reports through it (call.c). */
struct df_call {
    struct df_run *run;
    uint64_t job;
    int64_t wave;
    unsigned threads;
    struct dfr_pieces *pieces;          /* of the worker; NULL: no other worker helps with df_pieces() */
    struct dfr_device *device;          /* NULL: a CPU job */
    struct dfr_opened *opened;          /* of the worker or stream; NULL: kernels are not called with this record */
    uint32_t stream;
    const struct df_step *step;         /* of a loop, which is being run (loop.c); NULL: none is */
    uint64_t first_row, n_rows;         /* of the step: rows to make; n_rows 0: all */
    bool recorded;                      /* it belongs to a recording, on whose behalf host code runs (gpu_record.c) */
    bool failed;
    bool varies;                        /* it queried something that differs from wave to wave, or logged something */
    int fail_errno;                     /* as df_fail() found it */
    char message[256];
};

struct dfr_deque;
struct dfr_tokens;

#define DFR_LEFT_OUT 32u                /* further such jobs at a time are handled like any other job */

struct dfr_worker {
    _Alignas(64) struct df_run *run;
    struct dfr_pieces pieces;           /* of its job, for workers that have none */
    uint32_t index, unit;
    bool busy;                          /* devices: it has a job, and is counted in n_busy */
    bool put_off;                       /* devices: it is counted in n_put_off */
    bool alone;                         /* no other worker has a job: counters need no atomic operations (firing.h) */
    uint64_t kept;                      /* the successor to run next, or DFR_NO_JOB */
    struct dfr_deque *deque;            /* its own deque of ready jobs (steal.h); NULL: the policy has them */
    struct { uint64_t jobs; double since_s; bool are_long; } length; /* of its jobs, as it was at the last look (steal.h) */
    struct df_call call;
    void **ports;                       /* room for the ports of any kernel */
    unsigned char *tmp;                 /* scratch, large enough for the tmp ports of any CPU job */
    struct dfr_trace_row *row;
    struct df_node_stats *node_stats;   /* by node; NULL: jobs are not timed one by one for it */
    uint64_t jobs;
    double busy_s, first_s, last_s;     /* when its first job began and its last one ended; first_s < 0: no job yet */
    uint64_t ready;                     /* while jobs are released: the first one, which the policy does not have yet,
                                         * because it may turn out to be the only one */
    uint64_t free_jobs;                 /* ready jobs that take no worker: the newest one. DFR_NO_JOB: there are none */
    uint64_t left_out[DFR_LEFT_OUT];    /* ready jobs that are to be left out (skips.h), and that this worker ends */
    uint32_t n_left_out;
    uint32_t n_pushed;                  /* jobs given to the policy since the last wake */
    uint32_t pushed_units[DF_MAX_UNITS];/* of these the queued ones, by unit that may take them */
    struct dfr_opened opened;           /* for jobs of the CPU; a GPU has its streams' */
    pthread_t thread;
    bool started;                       /* the thread exists */
    bool calls;                         /* in a session: the thread that calls works as this one */
};

/* The layout of a device's memory: a region for each slot, one for what is made once, scratch, and the rest (size.h). */
struct dfr_room {
    uint64_t pool_bytes;
    bool roomy;                         /* every token that may come has a place of its own */
    bool fits;                          /* nothing is ever evicted */
    const uint32_t *page;               /* [row * n_values + value], counted from the start of the value's region;
                                         * NULL: values have no fixed places */
    uint32_t n_rows;                    /* wave w uses row w % n_rows */
    uint64_t slot_bytes, planned_bytes; /* of one slot's region; of all regions */
    uint64_t scratch_bytes, scratch_of_job_bytes;
    uint32_t *own_page;                 /* roomy: the memory that `page` points to, to be freed */
};

struct dfr_buffers;
struct dfr_cores;
struct dfr_gang;
struct dfr_gpu;
struct dfr_list;
struct dfr_inspect;
struct dfr_live;

/* The components of a run. runtime/start/ fills each of them before the first job. After that they are read-only, unless a
 * member says otherwise. */

struct dfr_run_machine {                /* the units and workers of this run */
    uint32_t n_units, n_cpu_workers, n_workers, n_gpus;
    struct df_platform platform;        /* the machine as it is, not as a plan says */
    uint32_t on_host;                   /* bit u: the tokens of unit u are in memory 0 (df_platform_on_host()) */
    uint32_t unit_of[DF_MAX_WORKERS + DF_MAX_UNITS], first_worker[DF_MAX_UNITS + 1];
    struct dfr_cores *cores;            /* NULL: workers are not bound */
};

struct dfr_run_plan {                   /* properties of the plan that is followed */
    uint32_t inflight;                  /* waves in flight for which it was made; 0: unknown */
    bool online;                        /* an online policy is predicted to beat the plan's placement */
    struct df_plan *own;                /* made at the start of this run; NULL: none */
};

enum { DFR_WHY_SIZE = 160 };

struct dfr_run_choice {                 /* the policy, and its view of the machine */
    const struct dfr_policy *policy;
    char why[DFR_WHY_SIZE];             /* why it is this policy: a text for --stats */
    void *state;                        /* the policy's own; NULL: the policy is not consulted while jobs run */
    struct dfr_view view;
    uint32_t *able;                     /* by node: the units that can run it, a bit each */
    double *time_s;                     /* expected time of a job: [unit * n_works + work] */
    bool times_known;                   /* none of these times is just the stated default */
};

struct dfr_run_firing {                 /* which job is ready when */
    struct dfr_node *nodes;             /* by node, and one more at the end */
    uint32_t *successors;               /* by node: the nodes of its phase that its end releases */
    struct dfr_code *codes;             /* by work */
    struct dfr_pending *pending;        /* [slot * n_nodes + node]; a once node has only one job: it uses slot 0's */
    struct dfr_slot *slots;
    uint32_t *streams, *sources;        /* node numbers; sources without the streams */
    uint64_t *free_next;                /* by job: queues of ready jobs of nodes with DFR_N_FREE (views, joins), which take no
                                         * worker. A queue is a ring: the newest job is followed by the oldest. NULL: they
                                         * are jobs as others are */
    struct dfr_resources *resources;    /* NULL: no node uses any, or one worker alone runs all jobs, in an order made before */
    uint32_t *finals, *accs;            /* final nodes; values of accs */
    uint32_t n_finals, n_accs;
    uint32_t n_streams, n_sources, n_terminals, n_once, n_once_terminals;
    uint32_t n_final_terminals;         /* 0: nothing happens after the last wave */
    _Atomic uint32_t once_left;         /* terminal nodes of the once slot that are not yet done, of one phase */
    _Atomic bool final_begun;           /* the final phase has begun */
    int64_t final_wave;                 /* what final jobs get as their wave: the number of waves */
    _Atomic int64_t limit;              /* waves to run; a stream's end lowers it */
    _Atomic uint32_t early;             /* enum dfr_early_state */
    _Atomic int64_t early_waves;        /* the limit that a request to end early has set; -1: none has */
    _Atomic bool begun;                 /* waves have begun */
    _Atomic bool unlike;                /* it was logged that streams differ in length */
    _Atomic int64_t waves_done;
};

struct dfr_run_memory {                 /* where tokens lie on the host */
    struct dfm_space *space;            /* NULL: tokens have fixed addresses */
    struct dfr_tokens *tokens;          /* tokens at fixed addresses (tokens.h); NULL: they are blocks in `space` */
    struct dfr_buffers *buffers;        /* the caller's memory (buffers.h); NULL: none */
    uint32_t n_own_buffers;             /* the last so many buffers of the options are the run's own (start/passes.h) */
    uint32_t *own_line;                 /* where `space` has its tokens, if this run laid them out; NULL: it did not */
    struct dfm_range *ranges;           /* of `space`, by value; NULL: there are none */
    union df_scalar *scalars;           /* values of graph->node_scalars; NULL: no kernel is called */
    bool untouched;                     /* tokens are reserved addresses: no kernel is called, and nothing reads or writes them */
};

/* Where a CPU worker finds its next job. */
enum dfr_loop {
    DFR_LOOP_LIST,                      /* in a list that was made before the run; one worker, no device (list.h) */
    DFR_LOOP_DEQUES,                    /* in its own deque, or in another worker's (worker.h, steal.h) */
    DFR_LOOP_POLICY                     /* it asks the policy (worker.h) */
};

struct dfr_run_threads {                /* the workers, and how they meet */
    struct dfr_worker *workers;         /* CPU first, then one per GPU */
    struct dfr_wake *wakes;             /* by unit */
    uint32_t spins;                     /* how often a worker looks for work before it sleeps */
    struct dfr_gang *gang;              /* NULL: no node asks for threads */
    enum dfr_loop loop;                 /* where CPU workers find their jobs */
    const char *loop_why;               /* why this loop was chosen: a text for --stats */
    struct dfr_list *list;              /* NULL unless the loop is DFR_LOOP_LIST */
    struct dfr_deque *deques;           /* by worker; NULL unless the loop is DFR_LOOP_DEQUES */
    bool fences;                        /* owners of deques need fences: no barrier can be imposed (deque.h) */
    struct dfr_worker starter;          /* stands for the thread that is in df_run_start() */
    _Alignas(64) _Atomic uint32_t n_active; /* deques: workers that have jobs, or are about to steal some */
    char pad[60];
};

struct dfr_run_devices {                /* all NULL and 0 in a run without devices */
    const struct dfr_device_ops *ops[DF_MAX_UNITS]; /* by unit: its back end; [0] NULL */
    const struct dfr_device_ops *host;  /* the back end that allocates and pins host memory for copies; NULL: no devices */
    uint32_t number[DF_MAX_UNITS];      /* by unit: which of the back end's devices it is */
    uint32_t index[DF_MAX_UNITS];       /* and which of all devices */
    bool inexact[DF_MAX_UNITS];         /* by unit: the device lacks what the CPU's bits need */
    uint64_t limit_bytes[DF_MAX_UNITS]; /* by unit: memory that may be used */
    struct dfr_room rooms[DF_MAX_UNITS];/* by unit: what of it will be used, and for what */
    uint32_t jobs;                      /* jobs launched at a time on a GPU, at most */
    bool jobs_found;                    /* how many of these are best is found while the run goes on (flight.h) */
    uint32_t window;                    /* jobs that a GPU's worker has taken at a time, at most: they are launched, or
                                         * have memory and wait for their copies */
    struct dfr_gpu *gpus[DF_MAX_UNITS]; /* by unit; [0] NULL */
    bool hasty[DF_MAX_UNITS];           /* by unit, its worker's own: it takes jobs whose data is still coming, too */
    _Atomic uint32_t *missing;          /* of a job whose inputs are prefetched: how many are on the way */
    uint8_t *taker;                     /* of such a job: the unit that waits for it */
    uint8_t *ahead;                     /* by job: not 0 if its GPU's worker has launched it already, behind the jobs
                                         * that make its inputs. Only this worker will release it, and the policy must
                                         * not get it. NULL: no job is launched in this way */
    uint32_t *waiter_node;              /* by input of the graph: the node that reads it */
    uint64_t *acc_job;                  /* by value of an acc: the job that waits for it, or DFR_FEEDER; NULL: there are no accs */
    struct dfr_queue *arrived;          /* CPU jobs whose inputs have come, under a policy that decides when a worker
                                         * takes a job; and kept values that have come */
    _Atomic uint32_t n_prefetching;     /* CPU jobs whose inputs are on the way, or have come and were not yet taken */
    _Atomic uint32_t n_busy;            /* CPU workers that have jobs */
    _Atomic uint32_t n_put_off;         /* CPU workers that at their last look took no job because enough were prefetching */
    const struct dfr_device_ops *check_ops; /* --check=variants: the back end that runs gpu variants; NULL without it */
};

struct dfr_run_calls {                  /* a session (start/session.c): its waves come in calls */
    bool on;                            /* it is a session. What follows is for sessions alone */
    bool begun;                         /* there was a call, so what fires once has been given out */
    uint32_t first_slot;                /* the slot of the call's wave 0 */
    int64_t passed;                     /* waves of the call before that the firing rule has seen */
    struct dfr_list *list;              /* of all jobs, for calls that are not worth sharing (list.h); NULL: none */
    bool short_jobs;                    /* the jobs of the call before were not worth sharing */
    uint32_t shared_left, next_shared;  /* calls that are shared whatever the one before was like: now, and after the next
                                         * call by the list whose jobs were worth sharing after all */
    _Atomic uint32_t n_ready;           /* threads that have made all that they need */
    _Atomic bool over;                  /* the call's last wave has ended */
    bool left;                          /* a kernel has ended the caller's thread, so the call has not returned */
    uint32_t scalar_changes;            /* calls that gave kernels other scalars */
};

struct dfr_fed_slot {
    int64_t number;                     /* the result of df_wave(); written before the wave's first release */
    int64_t wave;                       /* the feeder's own: its number in the run */
    _Atomic bool ended;                 /* its wave has ended, which was not yet reported */
    bool taken;                         /* the feeder's own: a wave was begun in it, and its end not yet reported */
};

struct dfr_run_feed {                   /* a run that is fed (start/feed.c): its waves begin when the caller says so */
    struct dfr_fed_slot *slots;         /* by slot; NULL: the run is not fed */
    _Atomic bool open;                  /* what fires once has ended */
    _Atomic uint32_t events;            /* a futex word: it changes when a wave ends, at `open`, and when the run stops */
    int64_t n_fed, next;                /* the feeder's own: waves that it has begun; the number of the next one */
    _Atomic int64_t first;              /* the number of the first of them */
    _Atomic int64_t end;                /* options.apart: the least number of a wave in which a stream ended; INT64_MAX: none did */
    bool over;                          /* the feeder's own: there will be no more */
};

struct dfr_run_outcome {                /* how the run ends */
    _Atomic uint32_t stop;              /* enum dfr_stop */
    _Atomic bool failure_locked;        /* what follows is written under this lock */
    bool failed;
    bool drains;                        /* all workers have ended, and one thread runs what is left of earlier waves */
    int64_t failed_wave;                /* of the job that failed; -1: no job did, and the failure stays */
    uint32_t failed_node;
    int failure_status;
    struct df_error failure;            /* read after all threads have ended */
};

/* options.early: the result of a run that was requested to end early, after df_run_wait(). The texts have a line per file; the caller frees them. */
struct dfr_early {
    bool is_early;                      /* waves are missing, or what comes after them. false: the run completed nevertheless */
    int64_t waves;                      /* so many are done */
    bool final_left;                    /* nodes that fire after the last wave have not fired */
    char *parts, *removed;              /* files with what these waves wrote, under other names; and files that were not complete. NULL: none */
    _Atomic bool wave_files;            /* files were written that have a wave's number in their names */
};

struct dfr_state;

struct dfr_run_states {                 /* what kernels keep from wave to wave, and say of the waves to come (io/state.h) */
    _Atomic(_Atomic(struct dfr_state *) *) of_node; /* by node, and last the run's own; NULL: not requested yet */
    _Atomic int64_t expected_waves;     /* 0: no stream has said how many */
    _Atomic int64_t most_waves;         /* who feeds the run begins no more; 0: that is not known */
};

struct dfr_run_watch {                  /* tracing and inspection */
    double started_s;
    struct dfr_trace *trace;            /* NULL: none asked for */
    struct dfr_trace_row *start_row;
    struct dfr_latency *latency;        /* of waves (latency.h); NULL: not measured */
    struct dfr_inspect *inspect;        /* NULL: no inspection while jobs run */
    /* A hook that runs a CPU job instead of a plain kernel call: inspects it, or waits (start/run_rehearse.c). NULL: the worker
     * calls the kernel. */
    int (*call)(struct df_run *run, struct dfr_worker *worker);
};

struct df_run {
    const struct df_graph *graph;
    struct df_options options;
    unsigned forks;                     /* dfr_forks() when it was made: only that process has its threads */
    uint32_t inflight;                  /* number of slots; the once slot has this number */
    struct dfr_run_plan plan;
    struct dfr_run_machine machine;
    struct dfr_run_choice choice;
    struct dfr_run_firing firing;
    struct dfr_run_memory memory;
    struct dfr_run_threads threads;
    struct dfr_run_devices devices;
    struct dfr_run_calls calls;
    struct dfr_run_feed feed;
    struct dfr_run_states states;
    struct dfr_skips skips;             /* which tokens are empty */
    struct dfr_extents *extents;        /* of tokens whose extents differ from wave to wave; NULL: there are none */
    struct dfr_run_outcome outcome;
    struct dfr_run_watch watch;
    struct dfr_pass_memory *passes;     /* tokens that come again (start/passes.h); NULL: none do */
    struct dfr_live *live;              /* sources with @newest or @every (live.h); NULL: there are none */
    struct dfr_rehearsal *rehearsal;    /* of start/run_rehearse.c; NULL: the run is not rehearsed */
    _Atomic uint64_t *rounds;           /* by loop of the graph: rounds that its jobs have made; NULL: they are not counted (options.node_stats) */
};

static inline bool dfr_stopped(const struct df_run *run)
{
    return atomic_load_explicit(&((struct df_run *)run)->outcome.stop, memory_order_relaxed) != DFR_RUNNING;
}

#define DFR_NO_JOB UINT64_MAX
#define DFR_FEEDER (UINT64_MAX - 1)     /* in acc_job: the thread that feeds the run waits */

/* Wakes a worker of the unit, after something was made visible to it. false: none has announced that it would sleep. */
static inline bool dfr_wake_unit(struct df_run *run, uint32_t unit)
{
    return dfr_wake_one(&run->threads.wakes[unit]);
}

/* The slot of a wave. In a session, waves are counted from the beginning of the call, and slots go on in turn. */
static inline uint32_t dfr_slot_of(const struct df_run *run, int64_t wave)
{
    return (uint32_t)((run->calls.first_slot + (uint64_t)wave) % run->inflight);
}

static inline uint32_t dfr_once_slot(const struct df_run *run) { return run->inflight; }

static inline uint32_t dfr_job_index(const struct df_run *run, uint64_t job)
{
    return dfr_job_slot(job) * run->graph->n_nodes + dfr_job_node(job);
}

/* The memory in which the unit's jobs find their tokens. */
static inline uint32_t dfr_memory_of(const struct df_run *run, uint32_t unit)
{
    return run->machine.on_host >> unit & 1 ? 0 : unit;
}

/* It fires once, before or after the waves. */
static inline bool dfr_is_once(const struct df_run *run, uint32_t node)
{
    return run->firing.nodes[node].flags & DFR_N_ONCE;
}

/* The block of a value for a job in `slot`. A once value, or an acc's, has one block for all waves. */
static inline uint32_t dfr_block_of(const struct df_run *run, uint32_t value, uint32_t slot)
{
    uint32_t s = df_value_is_once(run->graph, value) ? dfr_once_slot(run) : slot;
    return s * run->graph->n_values + value;
}

static inline int64_t dfr_job_wave(const struct df_run *run, uint64_t job)
{
    return dfr_job_slot(job) == run->inflight ? run->firing.final_wave : run->firing.slots[dfr_job_slot(job)].wave;
}

/* The wave of a job as kernels and messages show it. */
static inline int64_t dfr_told_wave(const struct df_run *run, uint64_t job, int64_t wave)
{
    if (dfr_job_slot(job) == run->inflight)
        return wave;
    return run->feed.slots ? run->feed.slots[dfr_job_slot(job)].number : dfr_skips_wave(&run->skips, wave);
}

/* The wave of a job for the trace: in a run that is fed, the feeder's number, valid until the wave ends. */
static inline int64_t dfr_traced_wave(const struct df_run *run, uint64_t job, int64_t wave)
{
    return run->feed.slots && dfr_job_slot(job) != run->inflight ? run->feed.slots[dfr_job_slot(job)].number : wave;
}

/* engine.c; ending.h has what ends a run */
int dfr_engine_create(struct df_run *run, struct df_error *error); /* needs inflight, limit and options */
void dfr_engine_destroy(struct df_run *run);
/* Releases the first jobs of the run, or of a session's next call. */
void dfr_engine_start(struct df_run *run, struct dfr_worker *worker);
/* In a run that is fed: begins the wave, whose slot is free. The feeder ends it by dfr_engine_no_more(). */
void dfr_engine_feed(struct df_run *run, int64_t wave);
void dfr_engine_no_more(struct df_run *run, int64_t waves);
/* Ends a job whose kernel returned `code`. Its outputs' blocks have memory; they become valid in memory `memory` here. If `code`
 * is not a success, the run stops. */
void dfr_engine_done(struct df_run *run, struct dfr_worker *worker, const struct df_call *call, int code,
                     uint32_t memory);
/* The memory part of dfr_engine_done(), for a run whose tokens are blocks. The job ran on the host: its outputs become valid,
 * or are empty, and its inputs lose one reader. list.c calls it, where no job waits for a release. */
void dfr_engine_pass_tokens(struct df_run *run, uint64_t job, bool empty);
/* The part of dfr_engine_done() for a job whose outputs are empty because its kernel returned DF_SKIP, or was not called.
 * Records and counts it. false: the job may not be skipped, and the run has failed. */
bool dfr_engine_skipped(struct df_run *run, const struct df_call *call);
/* The number of releases that the job (node, slot) still waits for. */
uint32_t dfr_engine_pending(const struct df_run *run, uint32_t node, uint32_t slot);
/* Adds a job that takes no worker to worker->free_jobs. */
void dfr_engine_free_job(struct df_run *run, struct dfr_worker *worker, uint64_t job);
/* Ends the jobs of worker->free_jobs, and passes the jobs that become ready to the policy. */
void dfr_engine_end_free_jobs(struct df_run *run, struct dfr_worker *worker);
/* Parts of dfr_engine_done(), for firing.h: */
bool dfr_engine_in_order(struct df_run *run, struct dfr_worker *worker, uint32_t node, uint32_t slot, int64_t wave);
void dfr_engine_terminal(struct df_run *run, struct dfr_worker *worker, uint32_t slot, uint32_t n);
void dfr_engine_ready(struct df_run *run, struct dfr_worker *worker, uint64_t job); /* passes it to the policy */
/* A kept value (buffers.h) has come to the host. */
void dfr_engine_kept(struct df_run *run, struct dfr_worker *worker, uint32_t value, uint32_t slot);
/* Makes the table firing.codes; needs memory.scalars. */
int dfr_engine_codes(struct df_run *run, struct df_error *error);

/* ports.c: */
/* Initialises all accs on the host. Called before the first wave of the run or of a call. */
void dfr_acc_begin(struct df_run *run);
/* The memory that holds the acc's value; 0: the host. Call it only while no job of its node runs. */
uint32_t dfr_acc_holder(const struct df_run *run, uint32_t value);

/* prefetch.c: copies a job's inputs to the memory of the unit that will run it. */
bool dfr_prefetch(void *run, uint64_t job, uint32_t unit);           /* struct dfr_view's */
/* struct dfr_view's. What the host has, unified devices have too. */
uint32_t dfr_holders(void *run, uint64_t job, uint32_t k);
bool dfr_settled(void *run, uint64_t job, uint32_t unit);         /* struct dfr_view's */
/* The block has arrived at the host from that memory: sends it on to the devices that read it. For policies that have placed
 * all jobs. */
void dfr_prefetch_onward(struct df_run *run, uint32_t block, uint32_t memory);
bool dfr_comes(void *run, uint64_t job, uint32_t unit);           /* struct dfr_view's */
void dfr_prefetch_outputs(struct df_run *run, uint64_t job, uint32_t memory); /* to the units of readers, if they are known; a part of
                                                                               * an acc after its last wave */
void dfr_prefetch_accs(struct df_run *run); /* the same for accs, when the last wave has ended */
/* Requests copies to the host of all accs that only devices hold. dfr_acc_holder() tells when they have arrived; each arrival is an event of the feed. For a
 * run that is fed, while no wave is in flight. */
void dfr_fetch_accs(struct df_run *run);
/* A copy to the host is complete; called by the worker of the device that it came from. */
void dfr_arrived(struct df_run *run, struct dfr_worker *worker, uint32_t waiter);
/* Requests copies of the inputs to the host for a job that takes no worker. When they have arrived, the job is added to
 * free_jobs of the worker that calls dfr_arrived(). false: they are there already. */
bool dfr_prefetch_free(struct df_run *run, uint64_t job);
/* Requests a copy of a kept value from device `memory`, which holds it. */
void dfr_fetch_kept(struct df_run *run, uint32_t value, uint32_t slot, uint32_t memory);
/* Handles an item of run->devices.arrived: if it is a kept value, ends the reader that waited for it and returns true. If it
 * is a job, returns false. */
bool dfr_end_kept(struct df_run *run, struct dfr_worker *worker, uint64_t item);
/* The units with a direct link from `unit`, as a bit set: those that both the platform and the back end support. */
uint32_t dfr_peers(const struct df_run *run, uint32_t unit);
/* Requests a copy of the block to the host from one of the devices in `holders`. When it is complete, dfr_arrived() is called
 * with `waiter`. */
void dfr_ask(struct df_run *run, uint32_t waiter, uint32_t block, uint32_t holders);
/* The block of the k-th value that a job needs (df_node_need()). */
static inline uint32_t dfr_need_block(const struct df_run *run, uint64_t job, uint32_t k)
{
    return dfr_block_of(run, df_node_need(run->graph, dfr_job_node(job), k), dfr_job_slot(job));
}

/* The number of the waiter for the k-th value that a job needs. Of the jobs that update an acc, one at a time waits. */
uint32_t dfr_waiter(const struct df_run *run, uint64_t job, uint32_t k);

#endif
