/* partition.h - where nodes go: partitioners behind one interface, the evaluator that predicts what a placement costs,
 * and the planner made of them that programs link.
 *
 * Words:    a *placement* gives each node a unit of the platform; the *cut* is the bytes and time of the arcs between
 *           units.
 * Memory:   callers give the arrays; functions allocate scratch and return it. METIS's own allocations are its own.
 * Threads:  reentrant; same input and seed, same placement, on every machine.
 * Errors:   DF_E_MEMORY, DF_E_ARGUMENT (unknown name, a placement that cannot be), DF_E_REFUSED (a node can run
 *           nowhere, or its job fits nowhere), never an exit from inside (METIS included).
 */
#ifndef DFP_PARTITION_H
#define DFP_PARTITION_H

#include "runtime/graph/plan.h"

struct dfp_problem {                    /* borrowed */
    const struct df_graph *graph;
    const struct df_platform *platform;
    const struct df_times *times;
};

enum dfp_ratio {
    DFP_RATIO_TOTAL, /* R_cpu = T_gpu / (T_gpu + T_cpu): totals as published (Wu's thesis, eq. 4.1) */
    DFP_RATIO_PER_WORKER
}; /* with T_cpu divided by the number of CPU workers */
enum dfp_vertex_weight { DFP_WEIGHT_GPU, DFP_WEIGHT_CPU };

enum dfp_objective {
    DFP_BY_GRAPH, /* throughput where something is a stream, else latency */
    DFP_LATENCY, /* one wave as soon as possible */
    DFP_THROUGHPUT /* many waves in flight: the least load of what is loaded most, per wave */
};

#define DFP_DEFAULT_INFLIGHT 8

struct dfp_options {
    enum dfp_ratio ratio;
    enum dfp_vertex_weight vertex_weight;
    uint32_t seed;
    /* of gp */
    enum dfp_objective objective;
    uint64_t budget;                    /* evaluations; 0: as many as take about 100 ms on one core */
    uint32_t budget_times;              /* with budget 0: so many times as many (0: once) */
    double time_cap_s;                  /* 0: none. The answer then depends on the machine where it is reached */
    uint32_t inflight;                  /* waves in flight to plan for (DFP_THROUGHPUT); 0: DFP_DEFAULT_INFLIGHT */
    bool no_memory;                     /* a plan to look at: its memory needs and layout are left out */
    uint32_t threads;                   /* 0: as many as cores may be used. The answer does not depend on it */
    void (*progress)(void *arg, double share_done, double best_s); /* NULL: nobody listens */
    void *progress_arg;
};
void dfp_options_default(struct dfp_options *options);  /* total, gpu, 1; by graph, budgets and threads 0 */

/* The budget that 0 stands for. */
uint64_t dfp_default_budget(const struct df_graph *graph);

/* Seconds of a node on a unit: its work's time of the unit's class plus the launch overhead; NaN: it cannot run there.
 * Hints
 * @cpu and @gpu are obeyed here: the other classes give NaN (unless nothing would be left). */
double dfp_node_time_s(const struct dfp_problem *problem, uint32_t node, uint32_t unit);

#define DFP_RUN_PLACED "static"

struct dfp_result {
    uint16_t *place;                    /* the caller's, malloc'ed, n_nodes each; grown where n_waves > 1 */
    float *priority;
    uint32_t n_waves;                   /* placed jointly, [wave % n_waves][node]; 0 is 1 */
    char run_as[24];                    /* DFP_RUN_PLACED, or the online policy that was better than every placement */
    double makespan_s, lower_bound_s;
    bool simulated;                     /* makespan_s: with the devices' memories, which the evaluator does not know */
    double load_s, load_bound_s;        /* a wave, of the unit or copy engine that has most to do; 0: not known */
    uint32_t inflight;                  /* DFP_THROUGHPUT: waves in flight that it was simulated with, */
    double wave_s;                      /* and what a wave then took on average; */
    double least_load_s;                /* and the least load of all candidates, not all of which are the fastest */
    uint64_t evaluations;
};

struct dfp_partitioner {
    const char *name;
    const char *about;                  /* one line, for --help */
    int (*run)(const struct dfp_problem *problem, const struct dfp_options *options, uint16_t *place,
               struct df_error *error);
    /* The whole answer; NULL: the placement is all there is, and priorities are its upward rank. */
    int (*solve)(const struct dfp_problem *problem, const struct dfp_options *options, struct dfp_result *result,
                 struct df_error *error);
};
extern const struct dfp_partitioner *const dfp_partitioners[]; /* NULL-terminated: gp, gp-thesis, heft,
                                                                * peft, all-cpu, all-gpu */
const struct dfp_partitioner *dfp_partitioner_find(const char *name);

/* Upward rank under a placement: longest way to a sink, with transfer times where units differ. */
void dfp_upward_rank(const struct dfp_problem *problem, const uint16_t *place, float *rank);

struct dfp_evaluation {
    double makespan_s;
    double busy_s[DF_MAX_UNITS];        /* summed over a unit's workers */
    uint64_t h2d_bytes, d2h_bytes, peer_bytes, cut_bytes;
    uint32_t h2d_copies, d2h_copies, peer_copies;
    uint32_t nodes[DF_MAX_UNITS];
    double cut_s;                       /* summed transfer time of cut arcs, each output counted once per unit */
};

/* A time that no schedule of one wave can beat, by any policy: area bound and longest way (bound.c). */
int dfp_lower_bound(const struct dfp_problem *problem, double *bound_s, struct df_error *error);

/* One wave under a static placement, in virtual time: list schedule, data sent as soon as it is produced, each memory's
 * workers take the ready job of highest priority (ties: lower number), copy engines first come first served, device to
 * device through the host, replicas kept, data that a CPU node reads comes back. Zero-cost nodes take no worker; such
 * sources end before time 0, and what they made is sent to its most urgent readers first. */
int dfp_evaluate(const struct dfp_problem *problem, const uint16_t *place, const float *priority,
                 struct dfp_evaluation *evaluation, struct df_error *error);

/* The graph in METIS's file format, as gp-thesis gives it to METIS: *text (malloc'ed) of *size bytes. */
int dfp_metis_text(const struct dfp_problem *problem, const struct dfp_options *options, char **text, size_t *size,
                   struct df_error *error);

/* Partition + priorities + prediction + memory need: a whole plan. */
int dfp_plan_make(const struct dfp_problem *problem, const char *policy, const struct dfp_options *options,
                  struct df_plan **plan, struct df_error *error);
/* What an online policy did in a simulated run, as a plan that says so in run_as; the arrays are copied. */
int dfp_plan_of_run(const struct dfp_problem *problem, const char *policy, const uint16_t *place,
                    const float *priority, double makespan_s, struct df_plan **plan, struct df_error *error);
extern const struct df_planner dfp_planner; /* the same with default options, for the runtime's hook */

#endif
