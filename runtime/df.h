/* df.h - the public interface of libdf: what a kernel sees, and how a program builds and runs a graph.
 *
 * It is the lowest of all rooms: it includes no other header of the project, and every other part may include it.
 *
 * Words:    kernel, node, port, token, wave, job, worker and block are explained in docs/architecture.md. An *in slot*
 *           is the position of a port among its kernel's ports of mode in and inout. An *out slot* is the position
 *           among those of mode out, inout and acc.
 * Memory:   What a call gives (df_builder_finish, df_run_start) is returned by the call named with it. Strings and
 *           arrays that are passed in are copied, unless it is said otherwise.
 * Threads:  A graph is built by one thread. A finished graph is immutable, and several runs may use it at once. Kernels
 *           are called from worker threads. A node may be called for different waves at the same time, unless it is
 *           `ordered`, `stream` or `once`, or has an acc port.
 * Errors:   A function that can fail returns DF_OK or a negative DF_E… code. If `error` is not NULL, a failing call
 *           puts a sentence into *error. Out-parameters are set on success only. Nothing here exits or aborts.
 */
#ifndef DF_H
#define DF_H

#include <stddef.h>
#include <stdint.h>

#include "df_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element type f16: the bits of an IEEE binary16. GPU code casts its pointers to the device's type. */
typedef uint16_t df_f16;

/* ---- what kernels see ---- */

enum {
    DF_OK = 0,
    DF_END = 1,      /* a stream source has no further wave */
    DF_SKIP = 2,     /* the job's outputs are empty: readers with an empty input are not called, and their outputs are
                      * empty, too. A kernel that fires once may not return it */
    DF_FAILED = 3    /* what df_fail() returns */
};

struct df_call;      /* one job, as its kernel sees it */

/* Records why the job failed (printf format) and gives DF_FAILED, so that a kernel can say `return df_fail(call,
 * "…");`. Line breaks in the text become spaces; other control bytes, and what is no UTF-8, are written as \xNN. A text
 * of more than 255 bytes loses its middle. */
int df_fail(struct df_call *call, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

int64_t df_wave(const struct df_call *call);     /* the wave's number, from 0; in a final node the number of waves */
unsigned df_threads(const struct df_call *call); /* threads that this job may use: 1, unless the kernel has
                                                  * `threads(e)` */

enum { DF_LOG_ERROR, DF_LOG_WARNING, DF_LOG_INFO, DF_LOG_DEBUG };

/* Writes one line to stderr if the run was asked for this level (--log=LEVEL): "PROGRAM: warning: node 'main/blur',
 * wave 3: …". The line stays whole, whatever other threads write. The text is changed as that of df_fail(), but up to 511
 * bytes of it stay. */
void df_log(struct df_call *call, int level, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Which rows a job makes, if its kernel can be divided (`split`). Rows are counted by the divided dimension. Ports that the
 * kernel makes have the rows first … first + rows - 1, and begin with row `first`. A port that it reads has, besides, the
 * rows of its halo that exist: min(halo, first) before these rows and min(halo, whole - first - rows) behind them. `before`
 * and `behind` are these numbers for the port that has most. An undivided node has all rows. All 0: the kernel is not one
 * that can be divided. */
struct df_part {
    size_t first, rows, whole, before, behind;
};
struct df_part df_part(const struct df_call *call);
/* The first row of the port (from 0, by the signature) that is there. 0: the port is whole. */
size_t df_part_row(const struct df_call *call, unsigned port);

/* Memory that stays with the node from wave to wave: `bytes` of it, zeroed at the node's first call; the same memory at
 * each later one. It is for cpu variants. If the kernel has no trait, several jobs may be in it at once.
 * End:      After the last wave `end` is called once, unless it is NULL, on the thread that waits for the run; in a
 *           session, after each call. `good` is 0 if the run has failed: then what was begun is to be undone. It gives
 *           DF_OK, or a DF_E… code with a sentence in *error, and the run fails. Then the memory is freed.
 * Passes:   If a source that is a stream or ordered is called again from wave 0 on (DF_RESTART), its state is ended, and zeroed
 *           anew, when it asks in the new pass.
 * Jumps:    In a run that is fed, waves may not follow each other. If a wave does not follow on the node's last one, and the node is a source
 *           that is DF_RESTART and DF_RESUME, its state is ended and zeroed in the same way.
 * Errors:   NULL: there is no memory, a pass's `end` failed, or the memory was made with another number of bytes. The failure is recorded, so the kernel can return DF_FAILED. */
struct df_error;
typedef int df_state_end(void *state, int good, struct df_error *error);
void *df_state(struct df_call *call, size_t bytes, df_state_end *end);

/* Runs the pieces of a job, some of them on workers that have no job at the moment: calls piece(arg, i) once for each i < n,
 * and returns when all have ended. It is for cpu variants whose work falls into pieces of some 100 us or more.
 * Threads:  Pieces run at the same time, in any order, on the calling thread and on CPU workers' threads. No worker is
 *           waited for: if none is idle, the caller runs all pieces one after the other. That is so, too, on a GPU's
 *           worker, in a serial run, where kernels are measured, and if a piece itself calls df_pieces().
 * Errors:   A piece keeps in *arg what went wrong. No two pieces may call df_fail(), because they may do so at the same
 *           time. A job's times in a trace and in --stats are those of its own worker. */
typedef void df_piece(void *arg, size_t i);
void df_pieces(struct df_call *call, size_t n, df_piece *piece, void *arg);

/* What a kernel keeps open for its jobs: an FFT's plan, a model's handle. A variant that is declared with `open f close g`
 * has it made by f and ended by g. df_opened() gives it in each job. Code that is called without dfc calls df_open()
 * itself, first of all.
 * Open:     df_open() calls `open` unless the worker (on a GPU: the stream) has it open for this work, a kernel with
 *           these dimensions and scalars. So it is called on that worker's thread, before its first job there, with
 *           that job's call. It gives DF_OK and sets *state; or it fails, as a kernel does, and the job has failed.
 * Close:    `close` is called once for each open that succeeded, after the last job of the run or session, also after
 *           a failure; for a GPU on its worker's thread, else on the thread that ends the run. NULL: there is nothing
 *           to do.
 * Gives:    df_open() DF_OK, or DF_FAILED: then the kernel returns it at once. df_opened() what `open` set; NULL: nothing
 *           is open. A job that asks is not repeated from a recording. */
union df_scalar;
typedef int df_open_function(struct df_call *call, const size_t *dims, const union df_scalar *scalars, void **state);
typedef void df_close_function(void *state);
int df_open(struct df_call *call, df_open_function *open, df_close_function *close);
void *df_opened(struct df_call *call);

/* A stream says how many waves it expects to deliver in all, so that --progress can say how long the run will take, and
 * `dfc merge` whether the last chunks are missing. It changes nothing else. If several streams say it, the smallest number counts. */
void df_expect_waves(struct df_call *call, int64_t waves);

/* The level of x86-64 whose instructions the code of formulas uses: 1, 3 or 4, the greatest that this processor has, and at most
 * DF_ISA_LEVEL of the environment (docs/debugging.md). It stays the same for as long as the process lives. Other processors: 1. */
unsigned df_isa_level(void);

/* ---- formats ---- */

enum df_elem { DF_U8, DF_U16, DF_U32, DF_I8, DF_I16, DF_I32, DF_I64, DF_F16, DF_F32, DF_F64, DF_N_ELEMS };
/* An acc port lives over the whole run, or over one call of a session. Its memory has the same value everywhere at first;
 * a node with such a port fires for one wave after the other, and each of its jobs changes that memory in place. What it
 * holds after the last wave is the value of its out slot, so a node that reads it is *final*: it fires once, then. */
enum df_mode { DF_IN, DF_OUT, DF_INOUT, DF_TMP, DF_ACC };
enum df_scalar_type { DF_S_I32, DF_S_I64, DF_S_F32, DF_S_F64, DF_S_STR };
enum { DF_ORDERED = 1, DF_STREAM = 2, DF_ONCE = 4, DF_SYNC = 8, DF_THREADS = 16, /* traits */
       DF_LAUNCH = 32,                  /* the gpu variant launches with its arguments and does nothing else */
       DF_RESTART = 64,                 /* a source: called again for a wave, it gives the same. If the waves go by several times
                                         * (options.passes), it is, from wave 0 on in each pass, and its tokens are not kept */
       DF_RESUME = 128,                 /* a stream, or a node that is ordered: the first wave that it is called for may be a later
                                         * one than 0. A stream then gives that wave's token. A sink goes on where the waves
                                         * before have left what it writes */
       DF_ZERO_EXTENTS = 256 };         /* a sink with a cpu variant alone: it is also called in waves in which an extent of its inputs is 0. The
                                         * pointers of these point to nothing */

#define DF_MAX_RANK 4
#define DF_MAX_CLASSES 8
#define DF_CLASS_CPU 0
#define DF_CLASS_GPU 1

union df_scalar {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    const char *str;
};

struct df_cl_source;                    /* df_opencl.h */

/* How libdf calls a variant. `dims` are in the order of the kernel's dimension variables. `ports` are in declared
 * order: tmp ports are among them, and an inout port is one pointer. `scalars` are in declared order. `stream` is the
 * device's stream that a gpu variant launches on. */
typedef int df_function(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                        const union df_scalar *scalars);

/* The variants of the kernels of loops, for the tables of functions that dfc makes. */
int df_loop(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars);

struct df_functions {                   /* of one kernel; NULL: this program has no such variant */
    df_function *cpu;
    df_function *gpu;
    /* Gives the address of a __global__ function, so that a device can be asked for its code: the one that the gpu
     * variant launches or, if that is not known, another that was compiled with it. NULL: there is none. */
    const void *(*device)(void);
    uint64_t most;                      /* the largest dimension that its code takes, checked before the run. 0: it says so itself, if at all */
    df_function *opencl;                /* the gpu variant for OpenCL devices, which launches by df_cl_launch() (df_opencl.h) */
    const struct df_cl_source *opencl_source; /* the text that has the kernels it launches; several kernels may have the same */
};

/* ---- building a graph by hand ---- */

struct df_error {
    char text[512];
};

enum { DF_E_MEMORY = -1, DF_E_ARGUMENT = -2, DF_E_CYCLE = -3, DF_E_FORMAT = -4, DF_E_DEVICE = -5, DF_E_KERNEL = -6,
       DF_E_IO = -7, DF_E_REFUSED = -8, DF_E_STOPPED = -9 };

struct df_port_desc {
    const char *name;
    enum df_mode mode;
    enum df_elem elem;
    unsigned rank;                      /* 0 … DF_MAX_RANK */
};

struct df_scalar_desc {
    const char *name;
    enum df_scalar_type type;
};

/* How far apart the results of a kernel's variants may be, for --check=variants: runtime/inspect/differ.h. A bound that
 * is not given has a default by the element type. */
enum { DF_RELATIVE = 1, DF_ABSOLUTE = 2 };

struct df_tolerance {
    double relative, absolute;
    uint32_t given;                     /* which bounds are given: DF_RELATIVE, DF_ABSOLUTE */
    uint32_t pad;
};

struct df_kernel_desc {
    const char *name;
    unsigned n_dims;                    /* dimension variables: what the function gets as dims[] */
    const char *const *dims;            /* their names */
    unsigned n_ports;
    const struct df_port_desc *ports;
    unsigned n_scalars;
    const struct df_scalar_desc *scalars;
    unsigned traits;
    struct df_functions functions;
    struct df_tolerance tolerance;
};

struct df_graph;                        /* finished and immutable: runtime/graph/graph.h */
struct df_builder;

struct df_builder *df_builder_new(const char *name);
void df_builder_free(struct df_builder *builder);

/* Adds a kernel. *kernel is its id; ids count from 0, in the order of the calls. */
int df_builder_kernel(struct df_builder *builder, const struct df_kernel_desc *desc, uint32_t *kernel,
                      struct df_error *error);

/* Says what each element of an acc port is before the first wave, if not 0. `element` points to one element. */
int df_builder_initial(struct df_builder *builder, uint32_t kernel, unsigned port, const void *element,
                       struct df_error *error);

/* Adds a node. `dims` has a value for each of the kernel's dimension variables. `port_dims` has DF_MAX_RANK extents for
 * each port; those past the port's rank are ignored. `scalars` has one value each. *node is the node's id; ids count
 * from 0, in the order of the calls, and df_builder_finish() numbers the nodes anew. Messages name a node by its
 * kernel: "main/blur", or "main/blur#2" for the second of several. */
int df_builder_node(struct df_builder *builder, uint32_t kernel, const uint64_t *dims,
                    const uint64_t (*port_dims)[DF_MAX_RANK], const union df_scalar *scalars, uint32_t *node,
                    struct df_error *error);

/* The built-in kernel that passes on the first of its n_in inputs (2 or more) that is not empty in a wave (DF_SKIP). Its
 * output is empty if all are. *kernel is the kernel's id, the same for the same format and number; a node of it has no
 * scalars, and its `dims` are ignored. Its ports are, in this order: the first input, the output, the other inputs. All
 * have this element type and rank, and a node's must have the same extents. */
int df_builder_select(struct df_builder *builder, enum df_elem elem, unsigned rank, unsigned n_in, uint32_t *kernel,
                      struct df_error *error);

/* Says how long a job takes on a class of device (DF_CLASS_CPU, DF_CLASS_GPU), as a cost clause does: for each node
 * that is added from now on, in seconds (0 or more, less than 1e18). NaN takes it back: the time is not known, as at
 * first. Plans are made from these times. The way that short jobs run depends on them too. */
int df_builder_cost(struct df_builder *builder, unsigned device_class, double seconds, struct df_error *error);

/* Connects out slot `from_slot` of node `from` to in slot `to_slot` of node `to`. An output may have any number of
 * readers. */
int df_builder_connect(struct df_builder *builder, uint32_t from, unsigned from_slot, uint32_t to, unsigned to_slot,
                       struct df_error *error);

/* Makes the graph. It checks formats and finds cycles (DF_E_CYCLE, with the path in *error). It inserts a `copy` node
 * wherever an inout port would change a value that has another reader. A node may not read both what comes in every wave
 * and what comes once after the last one (DF_E_ARGUMENT). It numbers the nodes in topological order. The
 * builder stays the caller's. df_graph_free() returns the graph. */
int df_builder_finish(struct df_builder *builder, struct df_graph **graph, struct df_error *error);
void df_graph_free(struct df_graph *graph);
/* The graph's nodes are numbered in topological order, inserted copies included. df_node_name() writes the path of one,
 * `main/segment[3]/open#2`, cut to `size` bytes. It gives the length of the whole path. */
unsigned df_graph_nodes(const struct df_graph *graph);
size_t df_node_name(const struct df_graph *graph, uint32_t node, char *buffer, size_t size);

/* ---- running ---- */

enum df_device_kind { DF_DEVICE_AUTO, DF_DEVICE_NONE, DF_DEVICE_EMU, DF_DEVICE_CUDA, DF_DEVICE_OPENCL, DF_DEVICE_SIM };

/* Recording: if the placement is known before the run, a GPU's launches that come again in later waves can be recorded
 * and replayed. AUTO: where it pays; ON: wherever it is possible; OFF: never. */
enum { DF_GRAPHS_AUTO, DF_GRAPHS_ON, DF_GRAPHS_OFF };

/* Whether host memory of tokens is pinned, if there are devices. AUTO: it is if it is at most a quarter of the machine's
 * memory, and the caller's buffers are as the platform says. Copies of memory that is not pinned go through a small ring
 * of pinned memory. */
enum { DF_PIN_AUTO, DF_PIN_ON, DF_PIN_OFF };

/* Which block leaves a device's memory when room is needed. LRU: the one that was used longest ago. BELADY: the one
 * that is needed again last; a policy that does not know placement and order before the run is refused. AUTO: as BELADY
 * if the policy knows them, else as LRU. */
enum { DF_EVICT_AUTO, DF_EVICT_LRU, DF_EVICT_BELADY };

#define DF_FIND_JOBS (~0u)
#define DF_REHEARSE (-1.0)              /* the scale is chosen so that waiting is exact */

/* Memory of the caller's for what one output of a node yields, so that no kernel has to copy it to that place or from
 * it. The token of wave w lies at data + w * stride_bytes. If the node fires once, its token lies at data.
 *
 * Result:   If a wave has ended, its token is there, wherever it was made. If a wave was begun beyond the end of a
 *           stream, its token may be there. Kernels on the host find the token there too.
 * Given:    The tokens are there before the run. The node must be a source, and all its outputs must be given. It is
 *           not called and needs no variant. A stream is given for as many waves as the run has.
 * In turn:  If n_tokens is not 0, wave w has place number w % n_tokens. The number of waves in flight is then one that
 *           divides n_tokens, so that no two of these waves share a place. Waves may share a place that is given and
 *           not changed.
 * inout:    An output that takes over its input's memory lies where that input lay, so a whole chain of such values
 *           lies in this memory. The chain is named by its last value, which is what the memory holds in the end.
 *           `given` is said of the chain's first value, which is changed where it lies.
 * Memory:   Borrowed until df_run_wait() has returned. It is aligned as the elements are. No two buffers may have bytes
 *           in common, unless they are given and not changed. A kernel on a device finds a copy.
 * Pinning:  If copies are faster from pinned memory (`register` of the platform), the memory is pinned for the run, as
 *           far as the system allows. Whole pages are pinned, so buffers of two runs at once must not have bytes in one
 *           page. Else copies go through a ring of pinned memory.
 */
struct df_buffer {
    const char *node;                   /* the node's name in messages: "main/segment[3]/open#2" */
    unsigned out_slot;
    void *data;
    uint64_t bytes;                     /* of the whole buffer */
    uint64_t stride_bytes;              /* 0: the tokens lie one after the other */
    uint64_t n_tokens;                  /* 0: each wave has a place of its own */
    int given;
    unsigned char *empty;               /* by wave, or by place if tokens lie in turn. The run writes 1 for a token that is
                                         * empty (DF_SKIP), whose bytes mean nothing, and nothing else. What comes once,
                                         * as an acc's result does, is never empty. The caller clears it. If tokens are
                                         * given, the caller writes 1 for those that are empty, unless the node fires
                                         * once. NULL: not asked for; none that is given is empty */
    size_t *extents;                    /* as `empty`, DF_MAX_RANK numbers for each token. If its extents differ from wave
                                         * to wave, the run writes those of a token that is not empty, 1 past its rank. If
                                         * tokens are given, the caller says there how large each is, from 1 to the largest;
                                         * NULL: all are of the largest size */
};

/* What the jobs of one node took, by where they ran. A job on a GPU counts from its begin to its end there. Jobs that the
 * GPU replays as one batch count as equally long. */
struct df_node_stats {
    uint64_t host_jobs, device_jobs;
    double host_s, device_s;
    uint64_t rounds;                    /* of a loop: those of all its jobs */
};

/* How often the outputs of a node were empty. Both are numbers of waves. */
struct df_node_skips {
    uint64_t skipped;                   /* its kernel returned DF_SKIP */
    uint64_t left_out;                  /* its kernel was not called, because an input was empty */
};

/* What is done about a wave that takes longer than the graph promises: it is counted, a line on stderr says it, or the run fails. */
enum { DF_LATE_COUNT, DF_LATE_WARN, DF_LATE_FAIL };
#define DF_MOST_LATE 8

/* How long waves took, from the begin of a wave's first job to the end of its last one, and how often they ended, beside what the graph promises. */
struct df_latency_stats {
    uint64_t waves, late;               /* that were measured; 0: none was, and the rest is not set. late: longer than promised */
    double promised_s, confidence;      /* 0: no latency is promised */
    double p50_s, p99_s, worst_s;
    double rate, promised_rate;         /* of the waves from the first that ended to the last, per second; 0: not promised, or there are fewer than two */
    unsigned n_causes;                  /* of the first late waves */
    struct {
        int64_t wave;
        double latency_s;
        char cause[200];
    } causes[DF_MOST_LATE];
};

struct df_platform;
struct df_plan;
struct df_planner;
struct dfr_outputs;
struct dfr_early;
struct dfr_bad_files;
struct dfr_replay;
struct dfr_trace_part;

struct df_options {
    const char *policy;                 /* NULL: the default */
    enum df_device_kind device;
    unsigned also;                      /* bit k: so do devices of kind k, if `device` is a kind of devices. Each of these kinds must have some */
    uint64_t gpus;                      /* bit i: device i of these kinds takes part; of several kinds, CUDA's come first, then OpenCL's. 0: all that can run the program */
    const char *gpu_names;              /* devices that take part by the name of their back end and their number there, "opencl0,emu1"; what is no such name
                                         * is passed over. NULL: none is named so */
    int inexact;                        /* devices may take part whose results differ from the CPU's in the last bits */
    int emu_all;                        /* every kernel with a cpu variant may run on the emulated GPU */
    int emu_check;                      /* protect blocks of the emulated GPU; default 1 */
    int cuda_graphs;                    /* DF_GRAPHS_… */
    int pin;                            /* DF_PIN_… */
    int sync_kernels;                   /* each gpu job is waited for at once, so that an error is told of the job that
                                         * made it */
    uint64_t gpu_mem_bytes;             /* 0: what the device has */
    int evict;                          /* DF_EVICT_… */
    unsigned workers;                   /* 0: this machine's cores, less one for each GPU in use */
    int64_t waves;                      /* -1: until a stream ends; 1 if there is no stream */
    unsigned inflight;                  /* waves in flight at once; 0: the run chooses */
    unsigned passes;                    /* how often the waves go by, for the parts of a divided acc in turn; 0: the run
                                         * chooses, so that the parts of one pass fit in the devices' memory together */
    unsigned gpu_jobs;                  /* jobs in flight per GPU. DF_FIND_JOBS: found while it runs. 0: the number that
                                         * the platform has; if it has none, found while it runs (in virtual time:
                                         * one) */
    int locality;                       /* a device prefers jobs that reuse data in its memory */
    int prefetch;                       /* with a policy that decides late: a device takes jobs early (prefetch), to
                                         * load their data */
    int log_level;                      /* DF_LOG_… */
    const char *trace_path;             /* NULL: no trace */
    const char *record_path;            /* the frames of live sources (@newest, @every) that became waves go to this file. NULL: nowhere */
    const char *play_path;              /* they come from this file, and those sources are not called. NULL: they are */
    const struct dfr_trace_part *trace_part; /* of a run that is a part of one on many ranks: where its events go; runtime/trace/trace.h. NULL: nowhere */
    struct df_node_stats *node_stats;   /* df_graph_nodes() of them, zero, which the run adds to when it ends. Each job is
                                         * timed by itself then; nodes whose output is given have none. NULL: jobs are
                                         * not timed. The caller's */
    struct df_node_skips *node_skips;   /* df_graph_nodes() of them, zero, which the run adds to when it ends. NULL: not
                                         * asked for. The caller's */
    int learn;                          /* leave the times and rates of this run for dfc: runtime/start/learn.h */
    const struct df_platform *platform; /* NULL: a default. Plans and the emulator's links are made from it */
    const struct df_plan *plan;         /* NULL: none was made at compile time. Borrowed for the run */
    const struct df_planner *planner;   /* NULL: policies that need a placement are refused */
    const union df_scalar *args;        /* values of the graph's args, in order; borrowed for the run */
    int guard;                          /* gp changes its placement if times turn out wrong; default 1 */
    /* Finding a wrong result: docs/debugging.md. */
    int serial;                         /* one job at a time, one wave at a time, in topological order */
    int check_variants;                 /* run each job's gpu variant too, and compare; implies `serial` */
    int poison;                         /* fill memory that holds nothing with a pattern, and fail if nothing else is in a result in `buffers` */
    const char *const *dumps;           /* n_dumps texts, each NODE or NODE:WAVE: tokens to write as .npy files;
                                         * borrowed for the run */
    unsigned n_dumps;
    const char *dump_dir;               /* NULL: "." */
    const char *const *record_jobs;     /* n_record_jobs texts, each NODE, NODE:WAVE or "failed": jobs to write to dump_dir as .job files, which
                                         * `dfc replay` runs again; borrowed for the run */
    unsigned n_record_jobs;
    struct dfr_replay *replay;          /* the run is of one recorded job alone; runtime/inspect/record_job.h. NULL: it is not */
    int latency;                        /* measure how long waves take, for df_stats.latency, if the graph promises a latency or a rate */
    int on_late;                        /* DF_LATE_…; the others than DF_LATE_COUNT need a graph that promises a latency */
    double watchdog_s;                  /* a job that runs longer is named on stderr; 0: no job is */
    void (*expired)(void *arg);         /* called after that, by a thread of the run; NULL: the run goes on */
    void *expired_arg;
    int emu_gpu_code;                   /* the gpu variants were compiled for the emulator, which runs them */
    double rehearse;                    /* not 0: kernels and copies are waits of their expected times, on the platform
                                         * that is described: docs/rehearse.md. The number is the scale, real seconds for
                                         * one of those; DF_REHEARSE: the run chooses it */
    int feed;                           /* the caller begins the waves: df_run_feed() */
    void (*fed)(void *arg);             /* of such a run; called by its threads whenever df_run_ended() has something to tell, so
                                         * that a caller who waits for other things, too, can be woken. It returns at once
                                         * and calls nothing of the run. NULL: nobody is told */
    void *fed_arg;
    int64_t done_waves;                 /* of a run that is fed: what the waves with lower numbers write is there from a run before. In these
                                         * waves only those nodes fire that keep something from wave to wave, or make what such ones
                                         * read. Kernels that are DF_RESUME count as keeping nothing */
    int apart;                          /* of a run that is fed: the waves are some of many, in any order. A stream that ends (DF_END) ends
                                         * the wave alone, as if it skipped it */
    const uint32_t *unit_of_slot;       /* of a run that is fed, without `policy`: by slot, the unit that runs the jobs of a wave there, but for those that
                                         * it cannot run. Borrowed for the run. NULL: a policy decides */
    struct dfr_outputs *outputs;        /* where files go that kernels write by df_io.h, if the run can be resumed; runtime/record/outputs.h.
                                         * NULL: to their names, when the run has ended well */
    struct dfr_early *early;            /* filled in if a signal ends the run early; runtime/engine/engine.h. NULL: not wanted */
    struct dfr_bad_files *bad_files;    /* the run goes on without files that cannot be read, and lists them there; runtime/io/bad_files.h. NULL: such
                                         * a file ends the run */
    const void *const *accs;            /* by value of the graph: what an acc is before the first wave, if runs before this one have changed it; NULL
                                         * there: as it is declared. They are borrowed until the first wave. NULL: all are as declared.
                                         * Sessions and rehearsals look at none */
    const int64_t *accs_first;          /* of a run that is fed, by node of the graph: the first wave in which a node with accs is to change them, because
                                         * these have had the waves before. Borrowed until the run has started. NULL: all are changed in all waves */
    int64_t accs_waves;                 /* the waves before the first one of this run; what fires after the last wave counts them, too */
    const struct df_buffer *buffers;    /* n_buffers of them; borrowed for the run. A simulation ignores them */
    unsigned n_buffers;
};

void df_options_default(struct df_options *options);

struct df_worker_stats {
    char name[48];
    uint64_t jobs;
    double busy_s;
};

struct df_memory_stats {                /* of one device's memory */
    char name[48];
    uint64_t capacity_bytes, peak_bytes;
    uint64_t scratch_peak_bytes;        /* the most that jobs had for scratch at a time, in whole pages */
    uint64_t h2d_copies, h2d_bytes, d2h_copies, d2h_bytes;
    /* Hits: inputs of the device's jobs that were in its memory, or on their way, when memory was reserved for the job.
     * Misses: inputs that were not; each is a copy. Prefetches: copies that were made before a job asked for them,
     * because there was room. */
    uint64_t hits, hit_bytes, misses, miss_bytes, prefetches, prefetch_bytes;
    /* Evictions: blocks that left because room was needed. Writebacks: those of them that were the last valid copy, and
     * so were copied to the host. */
    uint64_t evictions, evicted_bytes, writebacks, writeback_bytes;
    char evict[8];                      /* "none": everything fits at once. Else which block leaves: "lru", "belady" */
    unsigned jobs;                      /* jobs in flight on the device: as given, or as found last */
    unsigned inexact;                   /* 1: the device lacks what results need to have the CPU's bits, and options->inexact let it take part */
    uint64_t replayed;                  /* jobs that were replayed from a recording */
    uint64_t peer_copies, peer_bytes;   /* sent to other devices directly */
    uint64_t staged_copies, staged_bytes; /* of the copies from the host and to it: those through a ring of pinned memory,
                                         * because the token's own memory is not pinned */
    uint64_t batches;                   /* calls that gave several copies, from the host or to it, to the device */
    uint64_t batched_copies, joined_copies; /* the copies of these; of them, those that were one with the copy before */
};

struct df_rehearsal_stats {             /* of a rehearsal. Lateness is in real seconds: a wake-up that is more than 1 ms
                                         * late counts as real, and the others' lateness does not */
    double scale;                       /* real seconds of one second in the other figures; 0: it was no rehearsal */
    uint64_t waits, n_late;             /* wake-ups, and those that were more than 1 ms late */
    double late_median_s, late_99_s, late_worst_s;
};

#define DF_MAX_LIVE 16

struct df_live_stats {                  /* of a live source: @newest, @every */
    uint32_t node;
    uint64_t frames;                    /* that the source gave */
    uint64_t dropped;                   /* of them, because too many waited */
    uint64_t waves;                     /* that have ended */
    double median_s, most_s, worst_s;   /* from the frame (@every alone: from when it was due) to the end of its wave: half of the waves, 99 % of them, and all
                                         * took no longer */
};

#define DF_MAX_WORKERS 256
#define DF_MAX_UNITS 32

struct df_stats {
    double makespan_s;                  /* from the start of the first job to the end of the last */
    char policy[24], policy_why[160];   /* the policy that the run went by, and why it was this one */
    char loop[16], loop_why[160];       /* where CPU workers found their jobs: "list", "deques" or "policy"; and why. Empty
                                         * in virtual time */
    uint64_t waves, jobs;
    unsigned inflight;                  /* waves that were allowed in flight at once */
    unsigned passes;                    /* how often the waves went by */
    unsigned n_workers, n_memories;
    uint64_t left_bytes;                /* memory of tokens that is still taken after a good end. It is 0, unless waves
                                         * were begun beyond a stream's end. Values that fire once and buffers are not
                                         * counted */
    uint64_t pinned_bytes;              /* of the caller's buffers; whole pages */
    struct df_rehearsal_stats rehearsal;
    unsigned n_live;
    struct df_live_stats live[DF_MAX_LIVE];
    struct df_latency_stats latency;
    struct df_worker_stats workers[DF_MAX_WORKERS];
    struct df_memory_stats memories[DF_MAX_UNITS];
};

struct df_run;

/* Opens the devices, makes memory and workers, and starts. DF_E_REFUSED: a node can run nowhere, or does not fit. */
int df_run_start(const struct df_graph *graph, const struct df_options *options, struct df_run **run,
                 struct df_error *error);

/* Waits for the end, returns everything and frees the run. DF_E_KERNEL: a kernel failed; *error names its node and wave
 * and has its message. DF_E_ARGUMENT: this process is a forked child of the one that started the run, which is neither waited for nor
 * freed. `stats` may be NULL. */
int df_run_wait(struct df_run *run, struct df_stats *stats, struct df_error *error);

/* ---- runs that are fed ---- */

/* In a run with `feed` of its options the caller begins each wave, when the wave's given tokens lie in their buffers, and is
 * told when a wave has ended, so that its results lie there. Several waves are in flight, and may end in another order
 * than they began. `waves` is -1; such a run has one pass, is no rehearsal, and is not simulated.
 * Places:   Buffers have places for n_tokens waves, a multiple of `inflight` of the options, in turn: wave w has place
 *           w % n_tokens. The caller fills the place of the next wave, and then begins it. The place of a wave is the
 *           caller's again when df_run_ended() has told this wave.
 * Threads:  one thread at a time makes these calls, any thread.
 * Streams:  If the graph has some, each wave that is begun asks them for a token. When one ends, the run ends.
 */

/* How many waves may begin now. 0 until what fires once has been made, and after the end. */
unsigned df_run_room(const struct df_run *run);
/* Begins the next wave, and gives it: 0, 1, … `number` is what df_wave() and messages tell of it, from 0. -1: there is no
 * room. */
int64_t df_run_feed(struct df_run *run, int64_t number);
/* Waits until a wave has ended whose end was not told yet: at most timeout_s seconds, less than 0: without limit. *wave is the
 * oldest such wave. It is -1 if time is up, or if no wave is in flight and one may begin. DF_E_STOPPED: the run has ended, and
 * df_run_wait() says how. */
int df_run_ended(struct df_run *run, double timeout_s, int64_t *wave);
/* There will be no more waves. When those in flight have ended, the run ends, after the nodes that come after the last wave. */
void df_run_feed_end(struct df_run *run);
/* Ends the run when the jobs that run now have ended: df_run_wait() gives DF_E_STOPPED. From any thread, before df_run_wait(). */
void df_run_stop(struct df_run *run);

/* ---- sessions: a graph as a function ---- */

/* A session opens the devices and makes plan, memory and threads once. Then each call runs some waves, on memory of the
 * caller's, and returns when they have ended.
 * Waves:    They are counted from 0 in each call. What fires once is made in the first call, for all. If a stream ends,
 *           the call ends there, and the next call begins with new streams; that costs what opening costs.
 * Threads:  The calling thread works as the first CPU worker. One thread at a time may be in a call. Several sessions may
 *           be in calls at once, also of one graph.
 * Memory:   A call allocates, opens and creates nothing, unless the call before failed or a stream ended. Buffers are
 *           touched only during calls. Those that are known when the session is opened are pinned then, if that makes
 *           copies faster.
 * Errors:   DF_E_ARGUMENT: the call was refused, and nothing was run. Any other error is that of a run (df_run_wait()).
 *           The buffers hold anything then. The session can be called again; it opens devices and makes threads anew.
 */
struct df_session;

struct df_session_call {
    int64_t waves;                      /* -1: as many as the session was opened for */
    void *const *data;                  /* by buffer of the options: where it lies now. NULL, or NULL for one of them: where
                                         * it was in the call before, or when the session was opened */
    unsigned char *const *empty;        /* by buffer: as df_buffer.empty, for this call; NULL: as it was */
    size_t *const *extents;             /* by buffer: as df_buffer.extents, the same */
    const union df_scalar *args;        /* the graph's args, in order; NULL: as they were. Their texts are borrowed until
                                         * the next call with args, or the end of the session */
};

/* options: `waves` is the most that a call may ask for (-1: one, or until a stream ends). `data` of buffers may be NULL:
 * then the first call says where they lie. Their `bytes` hold for each call. The array `buffers` is copied; what it and
 * the other options point to is borrowed. Not for sessions: rehearse, trace_path, learn, dumps, watchdog_s and
 * check_variants. NULL: the defaults. */
int df_session_open(const struct df_graph *graph, const struct df_options *options, struct df_session **session,
                    struct df_error *error);
int df_session_run(struct df_session *session, const struct df_session_call *call, struct df_error *error);
/* From any thread, while the session is open. The call that is going on ends when the jobs that run now have ended, and
 * gives DF_E_STOPPED. If no waves run, nothing happens. Not for signal handlers. NULL does nothing. */
void df_session_stop(struct df_session *session);
/* From any thread, while the session is open: how many waves of the call that is going on have ended; -1: none runs, or NULL. */
int64_t df_session_progress(struct df_session *session);
/* Returns everything and frees the session. Statistics are of all calls since the last failure; NULL: none are wanted.
 * DF_E_ARGUMENT: a thread is in a call, and the session is still there. A NULL session does nothing. */
int df_session_close(struct df_session *session, struct df_stats *stats, struct df_error *error);

/* ---- in virtual time ---- */

/* The same as a run, in virtual time: no kernel is called, and no memory of tokens is made. The machine is the platform of the
 * options; if that is NULL, the plan's. Times are the plan's; if there is no plan, the stated default. The call fills
 * *stats (may be NULL) and writes the trace that was asked for. A graph with streams runs as many waves as --waves says
 * (1, if it does not say). The same input gives the same answer. `device` does not matter here. */
int df_simulate(const struct df_graph *graph, const struct df_options *options, struct df_stats *stats,
                struct df_error *error);

/* ---- the program that dfc makes ---- */

/* Makes graph and plan again for other values of dynamic params, by the compiler's own front end, which is linked
 * in. */
struct df_replanner;

struct df_program {
    const unsigned char *image;         /* graph, plan, sources: runtime/graph/image.h */
    size_t image_bytes;
    const struct df_functions *functions; /* by kernel id */
    size_t n_functions;
    const struct df_planner *planner;
    const struct df_replanner *replanner; /* NULL: the program has no dynamic params */
    int (*read_platform)(const char *path, struct df_platform *platform, struct df_error *error); /* NULL: the program
                                                                                                   * has no
                                                                                                   * --platform */
    int emu_gpu_code;                   /* made with --emu-gpu-code: the emulator runs the gpu variants */
    const char *const *params;          /* names of the compile-time params, up to NULL, for a message; NULL: none */
    const char *identity;               /* what decides the bits of the functions; NULL: nothing is known */
};

/* main() of a generated program: reads the command line, runs, prints what was asked for. Gives the exit status. */
int df_main(int argc, char **argv, const struct df_program *program);

/* ---- the library that dfc makes ---- */

/* A graph with ports is a function of the library: NAME_open() and the others of its header call these. They give DF_OK
 * or a DF_E… code, and df_library_error() says why the last failing call of this thread failed.
 * Bounds:   An extent of an input with a bound is given for each wave. So all calls have the same sizes in that respect.
 * Sizes:    A call that brings new extents makes graph, plan and session for them. The last DF_LIBRARY_SIZES are kept; a
 *           call with one of those allocates nothing. Calls of one wave and of several count apart.
 * Threads:  One thread at a time may be in a call of a session. Several sessions may be in calls at once. */
#define DF_LIBRARY_SIZES 4

struct df_library_port {
    const char *name;
    enum df_mode mode;                  /* DF_IN or DF_OUT */
    enum df_elem elem;
    int final;                          /* 1: an out port that gets one token a call, after the last wave */
    int varies;                         /* 1: a port whose extents differ from wave to wave */
    unsigned bound[DF_MAX_RANK];        /* in port: by extent, its number in `bounds` from 1 on, if the caller gives it for
                                         * each wave; 0: it is the same in all */
};

struct df_library_bound {               /* a dimension variable that the caller gives for each wave */
    const char *name;
    uint64_t most;
};

struct df_library_function {
    const char *name;                   /* of the graph */
    unsigned n_ports, n_dims, n_bounds, n_scalars;
    const struct df_library_port *ports;
    const char *const *dims;            /* names of its dimension variables without a bound */
    const struct df_library_bound *bounds;
    const enum df_scalar_type *scalars;
};

struct df_library_session;

/* `options` has the words that a program takes, "--workers=2 --policy=gp"; quotes keep blanks in a word. NULL: none. The
 * image of `program` has the declarations of the sources, and no nodes. What `program` points to is borrowed until the
 * session is closed, and so is the function. */
int df_library_open(const struct df_program *program, const struct df_library_function *function, const char *options,
                    struct df_library_session **session);
/* data: by port; the tokens of one port lie one behind the other; a final one has a single token. Tokens whose extents differ
 * lie dense by them at the beginning of rooms for the largest. dims: by dimension variable. given: by bound, a number for each
 * wave. scalars: in order; a text is borrowed for the call. */
int df_library_run(struct df_library_session *session, const struct df_library_function *function, int64_t waves,
                   void *const *data, const size_t *dims, const size_t *const *given, const union df_scalar *scalars);
/* Which tokens of an output are empty (DF_SKIP): a byte for each wave of the last call, 1 if the token is empty, whose bytes
 * mean nothing then. It lives until the next call. NULL: none of them is, or the port is none of the outputs. */
const unsigned char *df_library_empty(struct df_library_session *session, const struct df_library_function *function,
                                      unsigned port);
/* The extents of a port that differ from wave to wave: DF_MAX_RANK numbers for each token of the last call, 1 past the rank; 0
 * if the token is empty. A token lies dense by these at the beginning of its room, which is what df_library_shape() says. It
 * lives until the next call. NULL: the port is none of those, or the last call failed before it ran. */
const size_t *df_library_extents(struct df_library_session *session, const struct df_library_function *function,
                                 unsigned port);
/* Gives the extents of a port for these sizes, the largest of those that differ, 1 past its rank. It makes what a call of one
 * wave needs. */
int df_library_shape(struct df_library_session *session, const struct df_library_function *function,
                     const size_t *dims, unsigned port, size_t extents[DF_MAX_RANK]);
/* One line of JSON, as --stats=json prints it, of the calls with the last call's sizes; it lives until this is called again
 * or the session is closed. The next call with these sizes opens devices and makes threads anew. NULL: failed. */
const char *df_library_stats(struct df_library_session *session, const struct df_library_function *function);
/* From any thread, while the session is open. As df_session_stop() and df_session_progress(). Without a session, NULL, nothing
 * is stopped, and progress is -1; closing NULL does nothing. */
void df_library_stop(struct df_library_session *session);
int64_t df_library_progress(struct df_library_session *session);
int df_library_close(struct df_library_session *session, const struct df_library_function *function);
const char *df_library_error(void);

#ifdef __cplusplus
}
#endif

#endif
