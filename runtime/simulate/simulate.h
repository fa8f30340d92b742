/* simulate.h - a run in virtual time: the online policies' own code (policy.h) driven by a deterministic event loop
 * instead of threads.
 *
 * Model:    CPU workers share host memory. Each device has its own memory, one compute stream, an H2D and a D2H copy
 *           engine (one for both where engines = 1); a copy takes df_link_time_s(), engines serve first come first
 *           served; device to device goes directly between peers, by an engine of the sender's, where the host has
 *           not the data already, else through the host. Replicas are kept; what a CPU job reads must have come
 *           back. Zero-cost nodes take no worker, and such sources have ended before time 0. Ties go by the order of
 *           nodes. Policies that decide at push send data at once; pull policies fetch when a worker takes the job.
 *           Beyond that: launch overhead (in the times), several waves in flight, device memory with eviction (of
 *           what is needed again last where the policy knows, else LRU; write-back of last valid copies only).
 * Determinism: same input and seed, same answer to the last digit, on every machine and build.
 * Memory:   arrays of the result that the caller gave are filled; scratch is returned before the call ends.
 * Threads:  reentrant.
 * Errors:   DF_E_ARGUMENT (no such policy), DF_E_REFUSED (a node can run nowhere, or does not fit; the
 *           policy does not know the order that options->evict needs), DF_E_MEMORY.
 */
#ifndef DFR_SIMULATE_H
#define DFR_SIMULATE_H

#include "runtime/graph/plan.h"

struct dfr_simulate_options {
    const char *policy;                 /* an online policy of policy.h */
    const struct df_plan *plan;         /* for those that need one; of others that place, for its memory alone; NULL */
    uint32_t waves, inflight;           /* 1, 1 by default */
    uint32_t seed;                      /* for policies that draw */
    bool locality;                      /* --dl: after a job, a device prefers one that reads what it made */
    bool prefetch;                      /* --prefetch: a device takes one job more, and loads its data meanwhile */
    /* [class * n_works + work]: how long jobs really take, where the times are wrong; NULL: as expected */
    const double *true_time_s;
    bool find_jobs;                     /* devices whose unit says no number of jobs in flight find it: flight.h */
    bool no_guard;                      /* --guard=off: gp keeps to its plan */
    int evict;                          /* DF_EVICT_…: --evict */
};

struct dfr_simulation {
    double makespan_s;
    uint64_t h2d_bytes, d2h_bytes, peer_bytes;
    uint32_t h2d_copies, d2h_copies, peer_copies, evictions;
    uint64_t peak_bytes[DF_MAX_UNITS];  /* of a device's memory; 0: it has room for all there is, and is not counted */
    uint32_t jobs[DF_MAX_UNITS];        /* in flight at the end, of a device's worker; the host 0 */
    double busy_s[DF_MAX_UNITS], h2d_busy_s[DF_MAX_UNITS], d2h_busy_s[DF_MAX_UNITS];
    double peer_busy_s[DF_MAX_UNITS];   /* of what sends */
    /* Given by the caller or NULL; of the last wave where there are several. n_nodes each. */
    uint16_t *place;                    /* unit */
    double *start_s, *end_s;
    uint32_t *worker;                   /* DF_NONE: it took none */
    /* Called for each copy as it is asked for, and for each job with a worker as it ends; NULL: nobody listens. */
    void (*copied)(void *arg, uint32_t from, uint32_t to, uint32_t value, uint32_t wave, double begin_s, double end_s);
    void (*ran)(void *arg, uint32_t worker, uint32_t node, uint32_t wave, double begin_s, double end_s);
    void *arg;
};

int dfr_simulate(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times,
                 const struct dfr_simulate_options *options, struct dfr_simulation *result, struct df_error *error);

#endif
