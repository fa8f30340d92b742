/* plan.h - the decisions made before a run: times of works, the placement of nodes, and the memory that each unit needs. It also declares the hooks by
 * which the runtime requests a new plan if the machine or the sizes differ from those that the plan was made for.
 *
 * Memory:   dfr_plan_free() returns a plan. If a planner made it, `owner` is NULL, and place, priority and the arrays
 *           of times and layout are malloc'ed one by one. If it is laid over an image, it borrows these arrays, and
 *           `owner` points to the plan itself.
 * Threads:  immutable once made.
 */
#ifndef DF_PLAN_H
#define DF_PLAN_H

#include "runtime/graph/graph.h"
#include "runtime/base/sampler.h"
#include "runtime/graph/platform.h"

/* Where a time came from. A kernel with no sample and no cost gets a stated default. On the cpu this is
 * DF_DEFAULT_LAUNCH_S plus (bytes in and out) / DF_DEFAULT_BYTES_PER_S; on any other class it is a fixed share of the
 * cpu's time. */
enum df_time_source { DF_TIME_NONE, DF_TIME_COST, DF_TIME_MEASURED, DF_TIME_ESTIMATED, DF_TIME_DEFAULT };
#define DF_DEFAULT_LAUNCH_S 2e-6
#define DF_DEFAULT_BYTES_PER_S 4e9
#define DF_DEFAULT_SPEEDUP 8            /* of any class over the cpu */

/* A job's demand for the host's memory bandwidth, shared by concurrent jobs and copies (model in simulate.h). */
struct df_demand {
    double bytes_per_s;                 /* while it runs alone; 0: nothing is known */
    double sensitivity;                 /* 0 to 1: the share of its time that grows as bandwidth becomes short */
};
/* Total demand at a moment divided by what is available, at least 1. */
struct df_shortage {
    double memory;                      /* the bandwidth of the host's memory */
    double cores;                       /* the cores that workers and emulated devices share */
};
/* The slowdown, relative to running alone, of a job or copy that computes on a core for the part `computes` of its time. While it waits for a core it
 * demands less bandwidth. */
static inline double dfr_stretch(const struct df_demand *demand, double computes, const struct df_shortage *shortage)
{
    double waits = computes * shortage->cores > 1 ? computes * shortage->cores : 1;
    double memory = shortage->memory > shortage->cores ? shortage->memory / shortage->cores : 1;
    return waits * (1 - demand->sensitivity + demand->sensitivity * memory);
}

/* How single jobs of a work differ from its time, as in struct dfr_sample. All 0: not at all; NaN: not known. */
struct df_spread {
    float quantile[DFR_QUANTILES];
};

struct df_times {
    uint32_t n_classes, n_works;
    double *time_s;                     /* [class * n_works + work]; NaN: that class cannot run it */
    uint8_t *source;                    /* enum df_time_source; same index */
    struct df_demand *demand;           /* same index; NULL: no work has a known demand. Times are then of jobs that
                                         * run alone, as far as demands are known */
};

/* What one memory needs: bytes for each wave in flight, bytes once for the run, and scratch bytes of the jobs that run
 * at the same time. A bound is a lower bound: no plan for that order has fewer bytes. */
struct df_memory_need {
    uint64_t wave_bytes, wave_bound_bytes;         /* for any order of the nodes */
    uint64_t sequence_bytes, sequence_bound_bytes; /* for one worker that takes the nodes by their numbers */
    uint64_t once_bytes, scratch_bytes;
};

#define DF_DEFAULT_INFLIGHT 4           /* waves in flight if nobody says a number, and if as many fit */
#define DF_LINE_BYTES 64                /* the unit of offsets on the host */
#define DF_PAGE_BYTES 4096              /* and on devices */

/* Rounds up to whole pages of a device's memory; 0 stays 0. */
static inline uint64_t dfr_whole_pages(uint64_t bytes)
{
    return (bytes + DF_PAGE_BYTES - 1) & ~(uint64_t)(DF_PAGE_BYTES - 1);
}

/* Where tokens lie on the host. A place is counted in lines from the start of its wave's memory; the place of a value
 * that is made once, from the start of the memory of such values. NULL: not planned. The values of one inout chain are
 * in one place. */
struct df_host_layout {
    uint32_t n_values;
    uint32_t *any_line, *sequence_line; /* for any order of the nodes, and for the sequence; by value */
    uint64_t by_size_bytes;             /* what the sequence would touch of a heap with a stack of free buffers for each
                                         * size */
};

/* Where tokens lie in devices' memories. A place is counted in pages from the start of its wave's piece of memory; the
 * place of a value that is made once, from the start of the memory of such values, which all waves share. DF_NONE: the
 * value is not in that memory. */
struct df_device_layout {
    uint64_t n;                         /* (n_units - 1) * n_waves * n_values; 0: not planned */
    uint32_t *page;                     /* [((unit - 1) * n_waves + row) * n_values + value] */
};

struct df_plan {
    char policy[24];                    /* the policy that made it: "gp-thesis" */
    char run_as[24];                    /* "static" (or empty): run as placed here. Else the online policy that is
                                         * better, with its options: "pats --dl --prefetch" (dfr_run_as_read()) */
    struct df_platform platform;        /* it was made for this platform */
    struct df_times times;
    uint32_t locked;                    /* 1: it is of a lock file, so a run obeys it or refuses; no run plans again */
    uint32_t n_nodes;
    uint32_t n_waves;                   /* 1 or more waves, placed jointly: wave w goes by row w % n_waves of `place` */
    uint16_t *place;                    /* unit of each node, [row * n_nodes + node] */
    float *priority;                    /* the upward rank; higher first, ties by number */
    double predicted_s;                 /* makespan of one wave under this plan, by the evaluator. Under gp with too
                                         * little device memory: by simulation */
    uint32_t inflight;                  /* waves in flight that it was made for; 0: one */
    double wave_s;                      /* what a wave then takes on average, by simulation; 0: not known */
    /* The load in one wave of the unit or copy engine with most to do: in this plan; the least that was found; and a
     * bound that no plan goes below. 0: not known. */
    double load_s, least_load_s, load_bound_s;
    double lower_bound_s;               /* no schedule of one wave is shorter; 0: not known */
    double best_single_s;               /* the best of "all on one unit", for the remark that a cut does not pay */
    uint32_t best_single_unit;
    uint64_t pool_bytes[DF_MAX_UNITS];  /* memory that this plan needs for one wave in flight: the whole of memory[] */
    uint64_t largest_job_bytes[DF_MAX_UNITS]; /* and for its largest job alone */
    /* By the nodes as they are placed here. If run_as is an online policy: enough wherever that policy puts them. */
    struct df_memory_need memory[DF_MAX_UNITS];
    struct df_host_layout layout;       /* of every value, because any of them may come to the host */
    struct df_device_layout devices;
    void *owner;
};

/* The memory for so many waves in flight; UINT64_MAX on overflow. */
uint64_t dfr_need_bytes(const struct df_memory_need *need, uint64_t inflight);
/* How many of `wanted` waves fit in that memory at once; 0: not even one. The compiler checks with it, and the run uses the same rule. */
uint64_t dfr_need_waves(const struct df_memory_need *need, uint64_t memory_bytes, uint64_t wanted);
/* How many of `wanted` waves fit in the memory of each device of the platform; at least 1. */
uint32_t dfr_plan_waves(const struct df_plan *plan, const struct df_platform *platform, uint32_t wanted);

struct dfr_function_port {              /* a port of a graph that is called as a function */
    char *node;                         /* the node whose out slot it is: one that stands for the caller, or the node that
                                         * makes the result. Its name, as df_node_name() gives it */
    uint32_t out_slot;
    uint64_t dims[DF_MAX_RANK];         /* 1 past its rank */
    uint64_t bytes;                     /* of one token */
};
struct dfr_function {                   /* such a graph, made for certain sizes */
    struct df_graph *graph;
    struct df_times times;
    uint32_t n_ports;
    struct dfr_function_port *ports;    /* as declared */
};
void dfr_function_free(struct dfr_function *function);

struct df_planner {
    /* Gives *plan for this graph, platform and times. All are borrowed for the call; times are copied. `policy` names a
     * static policy. Errors: DF_E_ARGUMENT (no such policy), DF_E_MEMORY, DF_E_REFUSED (a node fits nowhere). */
    int (*make)(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times,
                const char *policy, struct df_plan **plan, struct df_error *error);
    /* How often so many waves are best to go by under a policy that places nodes (passes.h). 0: it cannot say. NULL: as often as they must. */
    uint32_t (*passes)(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times, uint32_t waves);
    const struct dfr_remapper *remapper; /* of stages on ranks (runtime/tuning/tuning.h); NULL: such runs cannot be tuned */
};

/* Makes times without measurements: from cost clauses, else the stated default. A class with neither code nor cost has NaN. With emu_all, class gpu gets the
 * cpu's time if a kernel has only code for the cpu. */
int dfr_times_default(const struct df_graph *graph, bool emu_all, struct df_times *times, struct df_error *error);
void dfr_times_free(struct df_times *times);
int dfr_times_copy(const struct df_times *times, struct df_times *copy, struct df_error *error);

/* Returns true if concurrent jobs slow each other on this platform: some work has a known demand and the bandwidth of the host's memory is known, or devices
 * are emulated. Simulations then use the model in simulate.h; otherwise each job takes its own time. The second function considers the bandwidth only. */
bool dfr_times_shared(const struct df_times *times, const struct df_platform *platform);
bool dfr_times_share_memory(const struct df_times *times, const struct df_platform *platform);

/* Returns true if no time on the platform's units is the stated default. Works without nodes are ignored, and so are inserted copies, whose default depends
 * on their bytes only and is as good as a measured time. */
bool dfr_times_known(const struct df_graph *graph, const struct df_times *times, const struct df_platform *platform);

void dfr_plan_free(struct df_plan *plan);

/* The classes that can run a work, bit c for class c. A class counts if the kernel has code or a cost for it. */
uint32_t dfr_work_classes(const struct df_graph *graph, uint32_t work, bool emu_all);

/* Maps a class of the platform to one of the graph, and of the times; DF_NONE if they have no such class. Classes cpu and gpu have the same number everywhere; each file numbers
 * its other classes itself, so those are matched by name. */
uint32_t dfr_graph_class(const struct df_graph *graph, const struct df_platform *platform, uint32_t platform_class);
uint32_t dfr_times_class(const struct df_times *times, const struct df_graph *graph,
                         const struct df_platform *platform, uint32_t platform_class);

struct dfr_image;

/* The run for which a graph is rebuilt. It decides which nodes are divided by default (compiler/divide/). */
struct df_made_for {
    const struct df_platform *platform; /* of the run (dfr_machine_describe()) */
    uint32_t waves;                     /* 0: not known */
    bool throughput;                    /* of several waves at once: only what fits nowhere is divided */
    bool one_pass;                      /* accs are divided for memory alone, because passes are chosen elsewhere */
    int log_level;                      /* with DF_LOG_INFO a line says what was divided, and why */
};

struct df_replanner {
    /* Elaborates the program's sources again with params[i] = values[i] for the dynamic params. It also makes times for
     * the new sizes: from what the image knows, else from old_times, those of the old graph. Diagnostics go to stderr
     * as the compiler would print them. run NULL: no node is divided that the sources do not divide. */
    int (*make)(const struct dfr_image *old, const struct df_times *old_times, const int64_t *values, size_t n_values,
                const struct df_made_for *run, struct df_graph **graph, struct df_times *times, struct df_error *error);
    /* The same for a library's graph with ports, for these extents of its dimension variables. What is wrong with them is
     * said in *error alone. dfr_function_free() returns what it gives. */
    int (*make_function)(const struct dfr_image *image, const char *graph, const uint64_t *dims, size_t n_dims,
                         const int64_t *values, size_t n_values, const struct df_made_for *run,
                         struct dfr_function *function, struct df_error *error);
};

#endif
