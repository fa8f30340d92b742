/* simulate.h - simulates a run in virtual time: a deterministic event loop drives the same policy code as the engine (policy/policy.h), in place of threads.
 *
 * Room:     runtime/simulate/ has this loop, its model of the machine, its data and its memory, and df_simulate(), which programs call. It knows graphs,
 *           plans, policies and the eviction order (memmgr/victims.h); df_simulate() also writes a trace.
 * Machine:  CPU workers share host memory. Each device has its own memory, one compute stream, an H2D and a D2H copy
 *           engine (one for both with engines = 1). A copy takes df_link_time_s(). Engines serve first come, first
 *           served.
 * Handover: A copy's data is visible handover_s of its device after the copy has ended. The engine is free from its end on.
 * Copies:   If the host does not have the data already, and both devices are peers, it goes from device to device
 *           directly, by an engine of the sender's. Else it goes through the host. Replicas are kept. What a CPU job
 *           reads must have come back to the host.
 * Jobs:     Nodes of zero cost take no worker; sources of zero cost have ended before time 0. Ties go by the order of
 *           nodes.
 * Frames:   A job of a live source takes a worker until its frame is there (runtime/policy/frames.h). With @newest a thread that is none of the workers,
 *           and shares nothing with them, makes the frames.
 * Sending:  A policy that decides at push sends data at once. For a pull policy, data is fetched when a worker takes
 *           the job.
 * Also:     The model has launch overhead (in the times), several waves in flight, and device memory with eviction. If
 *           the policy knows the order, the block that is needed again last is evicted, else the least recently used;
 *           only the last valid copy is written back.
 * Sharing:  If demands are known (struct df_demand) and the platform says the bandwidth B of the host's memory, jobs and
 *           host copies slow each other. At a moment let D be the sum of the demands of all jobs and host copies that
 *           are under way. A job of sensitivity s then runs 1 / (1 - s + s max(1, D / B)) times as fast as alone. When
 *           the set changes, what is left of each goes on at its new rate. A host copy demands its bytes over its
 *           time; its share beyond the latency is its sensitivity. Policies are told times alone, as in a run.
 * Cores:    If the host says how many cores C emulated devices share with its workers, let R be the cores that all jobs
 *           and host copies under way compute on, and q = max(1, R / C). A job then takes q times as long: all are
 *           served alike. A job takes a core for each of its threads, but none while it is launched. A host copy takes a
 *           core for the part c of its time in which it moves its bytes, and max(1, c q) times as long. A core reads
 *           and writes B / C, so c is 2 bytes / (B / C) over the time, at most 1, and 1 if B is not known. Such a copy
 *           demands twice its bytes, as the device's memory is the host's. While q is above 1, all ask for less
 *           bandwidth, so D / B counts as D / (q B).
 * Determinism: The same input and seed give bit-identical results on every machine and build.
 * Memory:   Arrays of the result that the caller gave are filled. Scratch memory is returned before the call ends.
 * Threads:  reentrant.
 * Errors:   DF_E_ARGUMENT (no such policy), DF_E_REFUSED (a node can run nowhere, or does not fit; or the policy does
 *           not know the order that options->evict needs), DF_E_MEMORY.
 */
#ifndef DFR_SIMULATE_H
#define DFR_SIMULATE_H

#include "runtime/graph/plan.h"

struct dfr_simulate_options {
    const char *policy;                 /* an online policy of policy.h */
    const struct df_plan *plan;         /* for policies that need one. Other policies that place nodes use its memory
                                         * alone. Or NULL */
    uint32_t waves, inflight;           /* 1, 1 by default */
    uint32_t passes;                    /* how often the waves go by (runtime/start/passes.h); 0: as often as the parts of a
                                         * divided acc need to fit in the devices' memory. At most as often as it has parts */
    uint32_t seed;                      /* for policies that draw */
    bool locality;                      /* --dl: a device prefers jobs that reuse data in its memory */
    bool prefetch;                      /* --prefetch: a device takes one job more, and loads its data meanwhile */
    /* [class * n_works + work]: how long jobs really take, if the times are wrong; NULL: as expected */
    const double *true_time_s;
    /* How many times as long as that the node's job of this wave takes on the unit, its launch aside; NULL: as long. */
    double (*stretch)(void *arg, uint32_t unit, uint32_t node, uint32_t wave);
    void *stretch_arg;
    bool find_jobs;                     /* a device finds its number of jobs in flight, if its unit says none:
                                         * flight.h */
    bool no_guard;                      /* --guard=off: gp keeps to its plan */
    int evict;                          /* DF_EVICT_…: --evict */
    bool oldest_first;                  /* as in struct dfr_view: gp starts from that order of ws */
};

struct dfr_simulation {
    double makespan_s;
    uint32_t passes;                    /* how often the waves went by */
    uint64_t h2d_bytes, d2h_bytes, peer_bytes;
    uint32_t h2d_copies, d2h_copies, peer_copies, evictions;
    uint64_t peak_bytes[DF_MAX_UNITS];  /* of a device's memory; 0: it has room for everything, so it is not counted */
    uint32_t jobs[DF_MAX_UNITS];        /* in flight at the end, of a device's worker; of the host 0 */
    double busy_s[DF_MAX_UNITS], h2d_busy_s[DF_MAX_UNITS], d2h_busy_s[DF_MAX_UNITS];
    double peer_busy_s[DF_MAX_UNITS];   /* by the unit that sends */
    unsigned n_live;
    struct df_live_stats live[DF_MAX_LIVE]; /* of the graph's live sources */
    struct df_shortage shortage;        /* the means over all jobs and host copies that share; 1: none */
    /* Given by the caller, or NULL; n_nodes entries each. With several waves they tell of the last one. */
    uint16_t *place;                    /* unit */
    double *start_s, *end_s;
    uint32_t *worker;                   /* DF_NONE: the node took no worker */
    /* Called for each copy when it is asked for, or when it ends if it shares the host's memory; and for each job with a
     * worker when it ends. A job that costs nothing has no worker; it is told by `passed`. NULL: nobody listens. */
    void (*copied)(void *arg, uint32_t from, uint32_t to, uint32_t value, uint32_t wave, double begin_s, double end_s);
    void (*ran)(void *arg, uint32_t worker, uint32_t node, uint32_t wave, double begin_s, double end_s);
    void (*passed)(void *arg, uint32_t unit, uint32_t node, uint32_t wave, double time_s);
    void *arg;
};

int dfr_simulate(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times,
                 const struct dfr_simulate_options *options, struct dfr_simulation *result, struct df_error *error);

#endif
