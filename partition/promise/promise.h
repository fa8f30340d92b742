/* promise.h - derives what a graph can promise of its runs on a platform, and which change of the machine, the plan or a kernel would make its promises hold.
 *
 * Room:      partition/promise/ knows the planners and the simulator, so that runs are judged by the code of the policies. `dfc check` is its user.
 * Runs:      a derivation simulates runs of the plan in which each job takes another time, drawn around its work's time by the work's spread. They
 *            depend on the seed, the run, the wave and the node only, so that other machines are compared by the same draws.
 * Waves:     if the graph has streams, or promises a rate, runs have many waves, of which DFP_PROMISE_WAVES count after the pipeline has filled. A run's rate
 *            is that of these waves. Else a run is one wave.
 * Values:    the rate that the given share of runs reaches; the latency that the share of waves does not exceed; the memory that the plan needs for the waves in
 *            flight.
 * Passes:    runs in which the waves go by several times are refused: a wave has no single latency there.
 * Errors:    DF_E_ARGUMENT (no such unit), DF_E_REFUSED, DF_E_MEMORY, and those of planners and the simulator.
 */
#ifndef DFP_PROMISE_H
#define DFP_PROMISE_H

#include "partition/partition.h"
#include "runtime/graph/wave_path.h"

enum { DFP_PROMISE_WAVES = 64 };

struct dfp_promise_options {
    const char *policy;                 /* a planner; NULL: gp */
    struct dfp_options partition;       /* inflight 0: as many waves as the plan is made for, or fewer if no more fit, as in a run */
    bool quick;                         /* what is refused by a lower bound, or far off without spread, gets no draws: its values are rough */
    const struct df_spread *spread;     /* [class * n_works + work], as in struct df_times; NULL: jobs take their work's time */
};

struct dfp_promised {
    double value;                       /* what holds with the promise's confidence: waves per second, seconds, bytes */
    double spare;                       /* how much better that is than the bound, as a share of the bound; < 0: worse */
    bool given;
};

struct dfp_derived {
    uint32_t n, inflight, runs;
    uint64_t memory_bytes[DF_MAX_UNITS]; /* that the plan needs for so many waves in flight */
    struct dfp_promised *promised;      /* by promise of the graph */
    bool given;                         /* all are */
    double rate;                        /* of a run without spread */
    double latency_s;                   /* at the confidence */
    struct dfr_wave_path path;          /* of a wave with that latency; not set by a quick derivation */
    uint32_t unit;                      /* on which path.longest was */
    double least_latency_s, least_wave_s; /* no placement on this platform is better: one wave's time; the time between two waves. 0: not known */
};

/* Makes the plan and derives all promises of problem->graph. plan: one that was made before, NULL: none. */
int dfp_promises_derive(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_promise_options *options, struct dfp_derived *derived,
                        struct df_error *error);
void dfp_derived_free(struct dfp_derived *derived);

/* Simulates one run of the plan. stretch: as in struct dfr_simulate_options, or NULL. latency_s: of the waves that count, dfp_promise_waves() of them. */
int dfp_promise_run(const struct dfp_problem *problem, const struct df_plan *plan, uint32_t inflight, double (*stretch)(void *arg, uint32_t unit, uint32_t node, uint32_t wave),
                    void *arg, double *rate, double *latency_s, struct df_error *error);
uint32_t dfp_promise_waves(const struct df_graph *graph);
/* The waves in flight for which promises are derived. */
uint32_t dfp_promise_inflight(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_options *options);

/* ---- what would make them hold ---- */

#define DFP_MOST_REMEDIES 8

struct dfp_remedy {
    char what[240];                     /* "6 CPU workers in place of 4" */
    char option[64];                    /* the option of dfc and of programs that does so; "": none does */
    struct dfp_problem problem;         /* changed; what it points to belongs to the remedy */
    struct df_platform platform;
    struct df_times times;
    uint32_t inflight;                  /* 0: as before */
    struct dfp_derived derived;         /* with the change; all promises are given */
};

/* Finds changes of one thing each after which all promises hold: fewer or more waves in flight, more workers, more GPUs, faster links, a faster kernel. Each is
 * the smallest of its kind that was found. derived: without a change. */
int dfp_promise_remedies(const struct dfp_problem *problem, const struct dfp_promise_options *options, const struct dfp_derived *derived, struct dfp_remedy *remedies,
                         unsigned *n, struct df_error *error);
/* Finds machines that would do: for each number of GPUs like the platform's last one, up to most_gpus, the least number of CPU workers with which all
 * promises hold. */
int dfp_promise_machines(const struct dfp_problem *problem, const struct dfp_promise_options *options, uint32_t most_gpus, struct dfp_remedy *machines, unsigned *n,
                         struct df_error *error);
void dfp_remedy_free(struct dfp_remedy *remedy);

#endif
