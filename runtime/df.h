/* df.h - the public interface of libdf: what kernels see, and how a program builds and runs a graph.
 *
 * Words:    kernel, node, port, token, wave, job, worker, block: see docs/architecture.md. An *in slot* is the
 *           position among a kernel's ports of mode in and inout, an *out slot* among those of mode out and inout.
 * Memory:   what a call gives (df_graph_finish, df_run_start) is returned by the call named with it. Strings and
 *           arrays passed in are copied unless said otherwise.
 * Threads:  building a graph: one thread. A finished graph is immutable and may be run by several runs at once.
 *           Kernels are called from worker threads, for different waves of a node at the same time unless it is
 *           `ordered`, `stream` or `once`.
 * Errors:   functions that can fail return DF_OK or a negative DF_E… code and put a sentence into *error where
 *           that is not NULL; out-parameters are set on success only. Nothing here exits or aborts.
 */
#ifndef DF_H
#define DF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA's own declaration, so that prototypes of gpu variants need no CUDA header. */
typedef struct CUstream_st *cudaStream_t;

/* Element type f16: the bits of an IEEE binary16. CUDA code casts its pointers to __half. */
typedef uint16_t df_f16;

/* ---- what kernels see ---- */

enum {
    DF_OK = 0,
    DF_END = 1,      /* a stream source has no further wave */
    DF_SKIP = 2,     /* reserved: not yet supported, answered as a failure */
    DF_FAILED = 3    /* what df_fail() returns */
};

struct df_call;      /* one job, as its kernel sees it */

/* Records why the job failed (printf format) and gives DF_FAILED, so that a kernel says
 * `return df_fail(call, "…")`. */
int df_fail(struct df_call *call, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

int64_t df_wave(const struct df_call *call);     /* number of the wave, from 0 */
unsigned df_threads(const struct df_call *call); /* threads this job may use; 1 unless `threads(e)` */

enum { DF_LOG_ERROR, DF_LOG_WARNING, DF_LOG_INFO, DF_LOG_DEBUG };

/* One line on stderr, whole whatever other threads say, where the level is one that the run was asked for
 * (--log=LEVEL): "PROGRAM: warning: node 'main/blur', wave 3: …". Line breaks in it become spaces. */
void df_log(struct df_call *call, int level, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The cuBLAS handle of this job's GPU, bound to its stream; NULL (and a failure recorded) where there is no cuBLAS. */
struct cublasContext;
struct cublasContext *df_cublas(struct df_call *call);

/* ---- formats ---- */

enum df_elem { DF_U8, DF_U16, DF_I32, DF_I64, DF_F16, DF_F32, DF_F64, DF_N_ELEMS };
enum df_mode { DF_IN, DF_OUT, DF_INOUT, DF_TMP };
enum df_scalar_type { DF_S_I32, DF_S_I64, DF_S_F32, DF_S_F64, DF_S_STR };
enum { DF_ORDERED = 1, DF_STREAM = 2, DF_ONCE = 4, DF_SYNC = 8, DF_THREADS = 16, /* traits */
       DF_LAUNCH = 32 };                /* the gpu variant launches with its arguments and does nothing else */

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

/* How libdf calls a variant: dims in order of the kernel's dimension variables, ports in declared order (tmp
 * included; an inout port is one pointer), scalars in order. `stream` is the cudaStream_t of a gpu variant. */
typedef int df_function(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                        const union df_scalar *scalars);

struct df_functions {                   /* of one kernel; NULL: no such variant in this program */
    df_function *cpu;
    df_function *gpu;
};

/* ---- building a graph by hand ---- */

struct df_error {
    char text[512];
};

enum { DF_E_MEMORY = -1, DF_E_ARGUMENT = -2, DF_E_CYCLE = -3, DF_E_FORMAT = -4, DF_E_DEVICE = -5, DF_E_KERNEL = -6,
       DF_E_IO = -7, DF_E_REFUSED = -8 };

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

/* How far the variants of a kernel may be apart, for --check=variants: runtime/inspect/differ.h. What is not given has a
 * default by the element type. */
enum { DF_RELATIVE = 1, DF_ABSOLUTE = 2 };

struct df_tolerance {
    double relative, absolute;
    uint32_t given;                     /* DF_RELATIVE, DF_ABSOLUTE */
    uint32_t pad;
};

struct df_kernel_desc {
    const char *name;
    unsigned n_dims;                    /* dimension variables, what the function gets as dims[] */
    const char *const *dims;            /* their names */
    unsigned n_ports;
    const struct df_port_desc *ports;
    unsigned n_scalars;
    const struct df_scalar_desc *scalars;
    unsigned traits;
    struct df_functions functions;
    struct df_tolerance tolerance;
};

struct df_graph;                        /* finished, immutable: runtime/graph/graph.h */
struct df_builder;

struct df_builder *df_builder_new(const char *name);
void df_builder_free(struct df_builder *builder);

/* Adds a kernel; *kernel is its id, from 0 in order. */
int df_builder_kernel(struct df_builder *builder, const struct df_kernel_desc *desc, uint32_t *kernel,
                      struct df_error *error);

/* Adds a node. dims: the kernel's dimension variables; port_dims: for each port DF_MAX_RANK extents (those past its
 * rank are ignored); scalars: one each. *node is its id, from 0 in order (finishing renumbers). Messages name it by its
 * kernel, "main/blur", the k-th of several "main/blur#2". */
int df_builder_node(struct df_builder *builder, uint32_t kernel, const uint64_t *dims,
                    const uint64_t (*port_dims)[DF_MAX_RANK], const union df_scalar *scalars, uint32_t *node,
                    struct df_error *error);

/* How long a job of each node added from now on takes on a class of device (DF_CLASS_CPU, DF_CLASS_GPU), in seconds,
 * as a cost clause says it (0 or more, less than 1e18); NaN, as at first: not said. Plans are made from it, and so is
 * the way that short jobs run. */
int df_builder_cost(struct df_builder *builder, unsigned device_class, double seconds, struct df_error *error);

/* Connects out slot `from_slot` of `from` to in slot `to_slot` of `to`. An output may have any number of readers. */
int df_builder_connect(struct df_builder *builder, uint32_t from, unsigned from_slot, uint32_t to, unsigned to_slot,
                       struct df_error *error);

/* Checks formats, finds cycles (DF_E_CYCLE, the path in *error), inserts `copy` nodes where an inout would change
 * a value that has another reader, numbers nodes in topological order. The builder stays the caller's. */
int df_builder_finish(struct df_builder *builder, struct df_graph **graph, struct df_error *error);
void df_graph_free(struct df_graph *graph);

/* ---- running ---- */

enum df_device_kind { DF_DEVICE_AUTO, DF_DEVICE_NONE, DF_DEVICE_EMU, DF_DEVICE_CUDA, DF_DEVICE_SIM };

/* What the emulated GPUs are made to do wrong, for tests of what becomes of it. All 0: nothing. Late ones are accepted
 * and fail when they are carried out. */
enum df_emu_call { DF_EMU_OPEN, DF_EMU_ALLOC, DF_EMU_COPY, DF_EMU_LAUNCH, DF_EMU_EVENT, DF_EMU_WAIT, DF_EMU_QUERY,
                   DF_EMU_LATE_COPY, DF_EMU_LATE_LAUNCH, DF_EMU_CALLS };

struct df_emu_trial {
    uint64_t fail[DF_EMU_CALLS];        /* the n-th call of a kind on each device fails, from 1 */
    double slow_factor;                 /* copies and kernels take so many times as long */
    int slow_device;                    /* on this one; -1: on all */
    uint64_t reorder_seed;              /* whatever no order is promised for comes in another */
};

/* Launches of a GPU that come again in later waves, where the placement is known before the run, are recorded and
 * replayed: where it pays, wherever possible, never. */
enum { DF_GRAPHS_AUTO, DF_GRAPHS_ON, DF_GRAPHS_OFF };

/* Which block leaves a device's memory where room is needed: the one that is needed again last, where placement and
 * order are known before the run, else the one used longest ago; always that; or always the first, and policies that do
 * not know are refused. */
enum { DF_EVICT_AUTO, DF_EVICT_LRU, DF_EVICT_BELADY };

#define DF_FIND_JOBS (~0u)

/* Memory of the caller's for what one output of a node yields, so that no kernel has to copy it there or from there:
 * the token of wave w lies at data + w * stride_bytes, of a node that fires once at data.
 *
 * A result: of each wave that has ended the token is there, wherever it was made; of a wave that was begun beyond a
 *           stream's end it may be. Kernels on the host find it there too.
 * Given:    the tokens are there before the run. The node, a source all of whose outputs are given, is not called and
 *           needs no variant. A stream is given for as many waves as the run has.
 * In turn:  with n_tokens, wave w has the place of number w % n_tokens. As many waves are in flight as divide it, so
 *           that no two have one place; what is given and not changed may be had by all.
 * inout:    an output that takes over its input's memory lies where that lay, so the whole chain of such values lies
 *           here. It is named by its last one, which is what is here at last; `given` is said of the first, which is
 *           changed where it lies.
 * Memory:   borrowed until df_run_wait() has returned. Aligned as the elements are. No two may have bytes in common,
 *           but for given ones that are not changed. On a device a kernel finds a copy.
 * Pinning:  pinned for the run where copies are faster then (`register` of the platform), as far as the system lets it:
 *           whole pages, so two runs at once are not to have bytes in one page. Else copied as it is. */
struct df_buffer {
    const char *node;                   /* its name in messages: "main/segment[3]/open#2" */
    unsigned out_slot;
    void *data;
    uint64_t bytes;                     /* of all of it */
    uint64_t stride_bytes;              /* 0: tokens lie one after the other */
    uint64_t n_tokens;                  /* 0: each wave has its own */
    int given;
};

struct df_platform;
struct df_plan;
struct df_planner;

struct df_options {
    const char *policy;                 /* NULL: the default */
    enum df_device_kind device;
    int emu_all;                        /* every kernel with a cpu variant may run on the emulated GPU */
    int emu_check;                      /* protect blocks of the emulated GPU; default 1 */
    int cuda_graphs;                    /* DF_GRAPHS_… */
    int sync_kernels;                   /* each gpu job is waited for at once, so that its errors are its own */
    uint64_t gpu_mem_bytes;             /* 0: what the device has */
    int evict;                          /* DF_EVICT_… */
    unsigned workers;                   /* 0: cores less one per GPU in use */
    int64_t waves;                      /* -1: 1, or until a stream ends */
    unsigned inflight;                  /* waves in flight; 0: chosen */
    unsigned gpu_jobs;                  /* jobs in flight per GPU; DF_FIND_JOBS: found while it runs; 0: the platform's
                                         * number, else found (in virtual time: one) */
    int locality;                       /* after a job, a device prefers one that reads what it made */
    int prefetch;                       /* policies that decide late: a device takes jobs ahead, to load their data */
    int log_level;                      /* DF_LOG_… */
    const char *trace_path;             /* NULL: no trace */
    int learn;                          /* leave the times of this run for dfc: runtime/start/learn.h */
    const struct df_platform *platform; /* NULL: defaults; feeds planning and the emulator's links */
    const struct df_plan *plan;         /* NULL: none made at compile time; borrowed for the run */
    const struct df_planner *planner;   /* NULL: policies that need a placement are refused */
    const union df_scalar *args;        /* values of the graph's args, in order; borrowed for the run */
    int guard;                          /* gp changes its placement where times turn out wrong; default 1 */
    struct df_emu_trial emu_trial;
    /* Finding a wrong result: docs/debugging.md. */
    int serial;                         /* one job at a time, one wave at a time, in topological order */
    int check_variants;                 /* run each job's gpu variant too and compare; serial */
    int poison;                         /* fill memory that holds nothing */
    const char *const *dumps;           /* n_dumps of NODE or NODE:WAVE: tokens to write as .npy;
                                         * borrowed for the run */
    unsigned n_dumps;
    const char *dump_dir;               /* NULL: "." */
    double watchdog_s;                  /* a job that runs longer is named on stderr; 0: none is */
    void (*expired)(void *arg);         /* and then this is called, by a thread of the run's; NULL: it goes on */
    void *expired_arg;
    int emu_gpu_code;                   /* gpu variants are made for the emulator, which runs them */
    const struct df_buffer *buffers;    /* n_buffers; borrowed for the run. Virtual time does not look at them */
    unsigned n_buffers;
};

void df_options_default(struct df_options *options);

struct df_worker_stats {
    char name[48];
    uint64_t jobs;
    double busy_s;
};

struct df_memory_stats {                /* one per device memory */
    char name[48];
    uint64_t capacity_bytes, peak_bytes;
    uint64_t h2d_copies, h2d_bytes, d2h_copies, d2h_bytes;
    /* Inputs of its jobs that were there, or on their way, when the job's memory was reserved; and those that were not,
     * which are a copy each. Copies that were made before a job wanted them, because there was room. */
    uint64_t hits, hit_bytes, misses, miss_bytes, prefetches, prefetch_bytes;
    /* Blocks that went for want of room; of those, the last valid copies, which were copied to the host. */
    uint64_t evictions, evicted_bytes, writebacks, writeback_bytes;
    char evict[8];                      /* "none": everything fits at once; else which block goes: "lru", "belady" */
    unsigned jobs;                      /* jobs in flight on the device: as given, or as found at last */
    uint64_t replayed;                  /* jobs that were replayed from a recording (a CUDA Graph) */
    uint64_t peer_copies, peer_bytes;   /* sent to other devices directly */
};

#define DF_MAX_WORKERS 256
#define DF_MAX_UNITS 32

struct df_stats {
    double makespan_s;                  /* first job started to last job ended */
    char policy[24], policy_why[160];   /* that the run went by, and why it was this one */
    char loop[16], loop_why[160];       /* what CPU workers did: "list", "deques" or "policy"; and why. "": virtual time */
    uint64_t waves, jobs;
    unsigned inflight;                  /* waves that were allowed in flight */
    unsigned n_workers, n_memories;
    uint64_t left_bytes;                /* memory of tokens still taken at a good end: 0, but for waves that were begun
                                         * beyond a stream's end; values fired once are not counted, nor are buffers */
    uint64_t pinned_bytes;              /* of the caller's buffers, in whole pages */
    struct df_worker_stats workers[DF_MAX_WORKERS];
    struct df_memory_stats memories[DF_MAX_UNITS];
};

struct df_run;

/* Opens devices, makes memory and workers, starts. DF_E_REFUSED where a node can run nowhere, or does not fit. */
int df_run_start(const struct df_graph *graph, const struct df_options *options, struct df_run **run,
                 struct df_error *error);

/* Waits for the end, returns everything, frees the run. DF_E_KERNEL where a kernel failed: *error names node and
 * wave and carries its message. stats may be NULL. */
int df_run_wait(struct df_run *run, struct df_stats *stats, struct df_error *error);

/* The same in virtual time: no kernel is called, no memory of tokens made. The machine is the options' platform, else
 * that of the plan; times are the plan's, else the stated default. Fills *stats (may be NULL) and writes the trace that
 * was asked for. A graph with streams runs --waves waves (1). Same input, same answer. What
 * `device` says does not matter here. */
int df_simulate(const struct df_graph *graph, const struct df_options *options, struct df_stats *stats,
                struct df_error *error);

/* ---- the program that dfc makes ---- */

/* Makes graph and plan again for other values of dynamic params (the compiler's own front end, linked in). */
struct df_replanner;

struct df_program {
    const unsigned char *image;         /* graph, plan, sources: runtime/graph/image.h */
    size_t image_bytes;
    const struct df_functions *functions; /* by kernel id */
    size_t n_functions;
    const struct df_planner *planner;
    const struct df_replanner *replanner; /* NULL: no dynamic params */
    int (*read_platform)(const char *path, struct df_platform *platform, struct df_error *error); /* NULL: no
                                                                                                   * --platform */
    int emu_gpu_code;                   /* made with --emu-gpu-code: the emulator runs its gpu variants */
};

/* main() of a generated program: parses the command line, runs, prints what was asked for. Gives the exit status. */
int df_main(int argc, char **argv, const struct df_program *program);

#ifdef __cplusplus
}
#endif

#endif
