/* plan.h - what is decided before a run: times of works, the placement of nodes, the memory each unit will need; and
 * the hook by which the runtime asks for it again when the machine differs from the one it was made for.
 *
 * Memory:   dfr_plan_free() returns a plan. One made by a planner has `owner` NULL, and place, priority and the arrays
 *           of times and layout are malloc'ed, each for itself; one laid over an image borrows them and has `owner` set
 *           to itself.
 * Threads:  immutable once made.
 */
#ifndef DF_PLAN_H
#define DF_PLAN_H

#include "runtime/graph/graph.h"
#include "runtime/graph/platform.h"

/* Where a time came from. A kernel with no sample and no cost gets a stated default: DF_DEFAULT_LAUNCH_S plus
 * (bytes in and out) / DF_DEFAULT_BYTES_PER_S on the cpu, and 1/8 of that on any other class. */
enum df_time_source { DF_TIME_NONE, DF_TIME_COST, DF_TIME_MEASURED, DF_TIME_ESTIMATED, DF_TIME_DEFAULT };
#define DF_DEFAULT_LAUNCH_S 2e-6
#define DF_DEFAULT_BYTES_PER_S 4e9

struct df_times {
    uint32_t n_classes, n_works;
    double *time_s;                     /* [class * n_works + work]; NaN: that class cannot run it */
    uint8_t *source;                    /* enum df_time_source, same index */
};

/* What one memory needs: for each wave in flight, once for the run, and for the scratch memory of the jobs that run at
 * the same time. Bounds: no plan for that order has fewer bytes. */
struct df_memory_need {
    uint64_t wave_bytes, wave_bound_bytes;         /* whatever the order */
    uint64_t sequence_bytes, sequence_bound_bytes; /* one worker that takes the nodes by their numbers */
    uint64_t once_bytes, scratch_bytes;
};

#define DF_DEFAULT_INFLIGHT 4           /* waves in flight where nobody asks, and as many fit */
#define DF_LINE_BYTES 64                /* what offsets on the host are counted in */
#define DF_PAGE_BYTES 4096              /* and on devices */

/* Bytes as whole pages of a device's memory. 0 is none. */
static inline uint64_t dfr_whole_pages(uint64_t bytes)
{
    return (bytes + DF_PAGE_BYTES - 1) & ~(uint64_t)(DF_PAGE_BYTES - 1);
}

/* Where tokens lie on the host, in lines from the start of their wave's memory (or of what is made once); NULL: not
 * planned. Values of one inout chain are in one place. */
struct df_host_layout {
    uint32_t n_values;
    uint32_t *any_line, *sequence_line; /* for any order, and for the sequence: by value */
    uint64_t by_size_bytes;             /* what a heap with a stack for each size would touch in the sequence */
};

/* Where tokens lie in devices' memories, in pages: from the start of their wave's piece, or of what is made once, which
 * is in one place for all waves. DF_NONE: it is not there. */
struct df_device_layout {
    uint64_t n;                         /* (n_units - 1) * n_waves * n_values; 0: not planned */
    uint32_t *page;                     /* [((unit - 1) * n_waves + row) * n_values + value] */
};

struct df_plan {
    char policy[24];                    /* that made it: "gp-thesis" */
    char run_as[24];                    /* "static" (or empty): as placed here; else the online policy that is better */
    struct df_platform platform;        /* it was made for */
    struct df_times times;
    uint32_t n_nodes;
    uint32_t n_waves;                   /* placed jointly, 1 or more: wave w goes by row w % n_waves of `place` */
    uint16_t *place;                    /* unit of each node, [row * n_nodes + node] */
    float *priority;                    /* higher first: upward rank; ties by number */
    double predicted_s;                 /* makespan of one wave under this plan by the evaluator; gp's where a device's
                                         * memory is short: simulated */
    uint32_t inflight;                  /* waves in flight that it was made for; 0: one */
    double wave_s;                      /* what a wave then takes on average, simulated; 0: not known */
    /* A wave's load of what has most to do: of this plan, the least that was found, what no plan goes below; 0: not
     * known. */
    double load_s, least_load_s, load_bound_s;
    double lower_bound_s;               /* no schedule of one wave is shorter; 0: not known */
    double best_single_s;               /* the best of "all on one unit", for the remark that a cut does not pay */
    uint32_t best_single_unit;
    uint64_t pool_bytes[DF_MAX_UNITS];  /* memory this plan needs for one wave in flight: all of memory[] */
    uint64_t largest_job_bytes[DF_MAX_UNITS]; /* and for its largest job alone */
    /* Of the nodes as placed here; where run_as is an online policy, wherever that puts them. */
    struct df_memory_need memory[DF_MAX_UNITS];
    struct df_host_layout layout;       /* of every value, for any of them may come to the host */
    struct df_device_layout devices;
    void *owner;
};

/* Memory for so many waves in flight; UINT64_MAX: too much for a number. */
uint64_t dfr_need_bytes(const struct df_memory_need *need, uint64_t inflight);
/* Of so many waves, those that fit in that memory together: what is promised when a program is made, and what a run
 * then does. 0: not even one. */
uint64_t dfr_need_waves(const struct df_memory_need *need, uint64_t memory_bytes, uint64_t wanted);
/* Those that fit in the memory of each device of the platform; at least 1. */
uint32_t dfr_plan_waves(const struct df_plan *plan, const struct df_platform *platform, uint32_t wanted);

struct df_planner {
    /* Fills *plan for this graph, platform and times (all borrowed for the call; times are copied). `policy` names a
     * static policy. Errors: DF_E_ARGUMENT (no such policy), DF_E_MEMORY, DF_E_REFUSED (a node fits nowhere). */
    int (*make)(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times,
                const char *policy, struct df_plan **plan, struct df_error *error);
};

/* Times where nothing was measured: cost clauses, else the stated default. classes with neither code nor cost: NaN.
 * With code for the cpu alone, emu_all gives class gpu the cpu's entry. */
int dfr_times_default(const struct df_graph *graph, bool emu_all, struct df_times *times, struct df_error *error);
void dfr_times_free(struct df_times *times);

/* Whether no time of a work that some node is of is the stated default, which for inserted copies alone is as good as a
 * measured one: their bytes say it all. */
bool dfr_times_known(const struct df_graph *graph, const struct df_times *times);

void dfr_plan_free(struct df_plan *plan);

/* Which classes can run a work at all: bit c. A class counts where the kernel has code or a cost for it. */
uint32_t dfr_work_classes(const struct df_graph *graph, uint32_t work, bool emu_all);

/* The class of these times that a class of the platform is; DF_NONE: the times have none such. Classes cpu and gpu have
 * the same number everywhere. Each file numbers its other classes by itself, so those are found by their names. */
uint32_t dfr_times_class(const struct df_times *times, const struct df_graph *graph,
                         const struct df_platform *platform, uint32_t platform_class);

struct dfr_image;

struct df_replanner {
    /* Elaborates the program's sources again with params[i] = values[i] for the dynamic params, and times for the new
     * sizes: from what the image knows, else from old_times, those of its graph. Diagnostics go to stderr as the
     * compiler would print them. */
    int (*make)(const struct dfr_image *old, const struct df_times *old_times, const int64_t *values, size_t n_values,
                struct df_graph **graph, struct df_times *times, struct df_error *error);
};

#endif
