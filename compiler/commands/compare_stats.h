/* compare_stats.h - what `dfc compare` takes from the runs it makes: one run's statistics, read from the JSON that a
 * program prints for --stats=json, and a policy's runs taken together.
 */
#ifndef DFC_COMPARE_STATS_H
#define DFC_COMPARE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dfc_run_stats {                  /* of one run */
    double makespan_s;
    uint64_t waves, jobs;
    uint64_t cpu_jobs, gpu_jobs;        /* by worker; a worker with the name of a device's memory is a GPU */
    uint64_t h2d_copies, d2h_copies, peer_copies, h2d_bytes, d2h_bytes, peer_bytes, evictions, writebacks;
    double cpu_busy_s, gpu_busy_s;      /* in jobs, summed over workers */
    unsigned n_gpus;                    /* device memories */
};

/* Finds the line of statistics in what a program wrote to stderr (warnings and messages may be around it). false:
 * there is none that is whole. */
bool dfc_run_stats_read(const char *text, struct dfc_run_stats *stats);

struct dfc_policy_stats {               /* of the runs of one policy */
    const char *policy;
    unsigned runs;
    double median_s, least_s, most_s, first_quartile_s, third_quartile_s;
    double spread;                      /* (third quartile - first) / median */
    double ratio;                       /* median over the best policy's */
    struct dfc_run_stats typical;       /* the run in the middle: counts that belong together */
};

/* n >= 1 runs of one policy; sorts them by makespan. ratio is left 1. */
void dfc_policy_stats_of(const char *policy, struct dfc_run_stats *runs, unsigned n, struct dfc_policy_stats *stats);

/* Sets the ratios of n policies to the best one; gives its index. */
unsigned dfc_policy_stats_rank(struct dfc_policy_stats *stats, unsigned n);

#endif
