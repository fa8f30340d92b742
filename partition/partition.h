/* partition.h - the public interface of the planners, which decide before a run which unit executes which node.
 *
 * It has three parts. Partitioners choose a placement. The evaluator predicts the cost of a placement. The planner combines both into complete plans; programs
 * link it, so that they can plan again at their start. The folders of partition/ know runtime/ and memmgr/, mostly the graph and the simulator, but not the
 * compiler.
 *
 * Words:    a *placement* gives each node a unit of the platform. The *cut* is the bytes and the time of the arcs
 *           between nodes on different units. A *wave* is one pass of data through the whole graph.
 * Memory:   the caller gives the arrays that are filled. Functions free their scratch memory before they return. METIS
 *           allocates and frees for itself.
 * Threads:  all functions are reentrant. The same input and seed give the same placement on every machine.
 * Errors:   DF_E_MEMORY; DF_E_ARGUMENT (an unknown name, an impossible placement); DF_E_REFUSED (a node can run on no
 *           unit, or its job fits in no memory). No function ever exits the program, not even inside of METIS.
 */
#ifndef DFP_PARTITION_H
#define DFP_PARTITION_H

#include "partition/df_plan.h"          /* dfp_planner: dfp_plan_make() with default options, for the runtime's hook */
#include "runtime/graph/plan.h"

struct dfp_problem {                    /* what it points to is borrowed */
    const struct df_graph *graph;
    const struct df_platform *platform;
    const struct df_times *times;
    uint32_t passes;                    /* how often the waves go by (runtime/graph/passes.h); 0: as often as it must be */
};

enum dfp_ratio {
    DFP_RATIO_TOTAL, /* R_cpu = T_gpu / (T_gpu + T_cpu): total times, as published (Wu's thesis, eq. 4.1) */
    DFP_RATIO_PER_WORKER /* the same, with T_cpu divided by the number of CPU workers */
};
enum dfp_vertex_weight { DFP_WEIGHT_GPU, DFP_WEIGHT_CPU };

enum dfp_objective {
    DFP_BY_GRAPH, /* throughput if a kernel of the graph is a stream or has an acc, or a rate is promised; else latency */
    DFP_LATENCY, /* one wave ends as soon as possible */
    DFP_THROUGHPUT /* many waves are in flight: the busiest unit or copy engine has the least to do for each */
};

#define DFP_DEFAULT_INFLIGHT 8

struct dfp_options {
    enum dfp_ratio ratio;
    enum dfp_vertex_weight vertex_weight;
    uint32_t seed;
    /* the rest is for gp */
    enum dfp_objective objective;
    uint64_t budget;                    /* evaluations of a placement; 0: as many as take about 100 ms on one core */
    uint32_t budget_times;              /* if budget is 0: this factor times that many (0: factor 1) */
    double time_cap_s;                  /* 0: none. If the cap is reached, the answer depends on the machine */
    uint32_t inflight;                  /* waves in flight to plan for (DFP_THROUGHPUT); 0: DFP_DEFAULT_INFLIGHT */
    bool no_memory;                     /* for a plan that is only looked at: no memory needs, no memory layout */
    uint32_t threads;                   /* 0: one per core that may be used. The answer does not depend on it */
    void (*progress)(void *arg, double share_done, double best_s); /* called now and then; NULL: not */
    void *progress_arg;
};
void dfp_options_default(struct dfp_options *options);  /* ratio total, weight gpu, seed 1; all others are 0 */

/* Returns true if the objective is throughput, by the options or by the graph. */
bool dfp_is_for_rate(const struct df_graph *graph, const struct dfp_options *options);

/* The budget that budget = 0 stands for. */
uint64_t dfp_default_budget(const struct df_graph *graph);

/* Seconds of a node on a unit: the time of its work for the unit's class, plus the launch overhead. NaN: the node
 * cannot run there. Hints @cpu and @gpu are obeyed here: the other classes give NaN, unless no unit would be left. */
double dfp_node_time_s(const struct dfp_problem *problem, uint32_t node, uint32_t unit);

#define DFP_RUN_PLACED "static"

struct dfp_result {
    uint16_t *place;                    /* the caller's, malloc'ed, n_nodes entries; realloc'ed if n_waves > 1 */
    float *priority;                    /* the caller's, malloc'ed, n_nodes entries */
    uint32_t n_waves;                   /* waves that are placed jointly: place[wave % n_waves][node]; 0 means 1 */
    char run_as[24];                    /* DFP_RUN_PLACED, or the online policy that was better than every placement, with
                                         * its options, as in struct df_plan */
    double makespan_s, lower_bound_s;
    bool simulated;                     /* makespan_s is the simulator's: it knows the sizes of devices' memories */
    double load_s, load_bound_s;        /* per wave, of the busiest unit or copy engine; 0: not known */
    uint32_t inflight;                  /* DFP_THROUGHPUT: how many waves were in flight in the simulated run */
    double wave_s;                      /* DFP_THROUGHPUT: what a wave took there on average */
    double least_load_s;                /* DFP_THROUGHPUT: least load of all candidates, also of slower ones */
    uint64_t evaluations;               /* how many were spent */
};

struct dfp_partitioner {
    const char *name;
    const char *about;                  /* one line, for --help */
    int (*run)(const struct dfp_problem *problem, const struct dfp_options *options, uint16_t *place,
               struct df_error *error);
    /* Gives the whole answer. NULL: run() gives the placement, and priorities are its upward rank. */
    int (*solve)(const struct dfp_problem *problem, const struct dfp_options *options, struct dfp_result *result,
                 struct df_error *error);
};
extern const struct dfp_partitioner *const dfp_partitioners[]; /* NULL-terminated: gp, gp-thesis, heft,
                                                                * peft, all-cpu, all-gpu */
const struct dfp_partitioner *dfp_partitioner_find(const char *name);

/* Upward rank under a placement: the longest way from the node's start to a sink. An arc between different units counts
 * with its transfer time. */
void dfp_upward_rank(const struct dfp_problem *problem, const uint16_t *place, float *rank);

struct dfp_evaluation {
    double makespan_s;
    double busy_s[DF_MAX_UNITS];        /* of a unit, summed over its workers */
    uint64_t h2d_bytes, d2h_bytes, peer_bytes, cut_bytes;
    uint32_t h2d_copies, d2h_copies, peer_copies;
    uint32_t nodes[DF_MAX_UNITS];
    double cut_s;                       /* summed transfer time of cut arcs; each output counts once per unit */
};

/* A lower bound on the makespan of one wave under any policy, from the area bound and the critical path (bound.c). */
int dfp_lower_bound(const struct dfp_problem *problem, double *bound_s, struct df_error *error);

/* One wave under a static placement, in virtual time. Each memory's workers take the ready job of the highest priority
 * (ties: the lower number). A value is sent as soon as it is produced, to every memory that has a reader. It goes
 * directly between peers, else through the host. Copy engines serve first come first served, and replicas stay.
 * Zero-cost nodes take no worker. Zero-cost sources end before time 0; their values are sent to the most urgent readers
 * first. Jobs and host copies share the bandwidth of the host's memory if dfr_times_shared(). */
int dfp_evaluate(const struct dfp_problem *problem, const uint16_t *place, const float *priority,
                 struct dfp_evaluation *evaluation, struct df_error *error);

/* The graph in METIS's file format, as gp-thesis gives it to METIS: *text (malloc'ed) of *size bytes. */
int dfp_metis_text(const struct dfp_problem *problem, const struct dfp_options *options, char **text, size_t *size,
                   struct df_error *error);

/* Makes a whole plan: placement, priorities, prediction and memory needs. */
int dfp_plan_make(const struct dfp_problem *problem, const char *policy, const struct dfp_options *options,
                  struct df_plan **plan, struct df_error *error);
/* passes.c: how often so many waves should go by. Seconds are of all waves, predicted; INFINITY: they cannot be simulated. */
struct dfp_passes {
    uint32_t n, least;                  /* n: the fastest number; least: it must be so often, as dfr_passes_choose() says */
    double predicted_s, least_s;
};
int dfp_passes_choose(const struct dfp_problem *problem, uint32_t waves, struct dfp_passes *choice, struct df_error *error);
/* Makes a whole plan of places and priorities that were found elsewhere: by a simulated run of an online policy, which run_as then names, or in a lock file.
 * The bound is computed here. The arrays are copied. */
int dfp_plan_of_result(const struct dfp_problem *problem, const char *policy, const struct dfp_result *result, struct df_plan **plan,
                       struct df_error *error);
#endif
