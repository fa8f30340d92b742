/* compare_stats.h - what `dfc compare` measures: the statistics of one run, parsed from --stats=json, and those of all
 * runs of a policy. commands/cmd_compare.c reads, summarizes and ranks runs with it; commands/cmd_profile.c reads one;
 * compare_rehearse.c fills in those of a rehearsal.
 */
#ifndef DFC_COMPARE_STATS_H
#define DFC_COMPARE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dfc_run_stats {                  /* of one run */
    double makespan_s;
    char policy[24];                    /* that the run went by; "" if it did not say */
    uint64_t waves, jobs;
    uint64_t cpu_jobs, gpu_jobs;        /* a worker with the name of a device's memory is a GPU */
    uint64_t h2d_copies, d2h_copies, peer_copies, h2d_bytes, d2h_bytes, peer_bytes, evictions, writebacks;
    double cpu_busy_s, gpu_busy_s;      /* seconds in jobs, summed over workers */
    unsigned n_gpus;                    /* device memories */
    uint64_t waits, n_late;             /* of a rehearsal, as in struct df_rehearsal_stats */
    double late_median_s, late_99_s, late_worst_s;
};

/* Finds the line of statistics in what a program wrote to stderr; warnings and messages may be around it. false: there
 * is no whole one. */
bool dfc_run_stats_read(const char *text, struct dfc_run_stats *stats);

#define DFC_NO_POLICY "default"         /* stands in lists of policies for a run without --policy */

struct dfc_policy_stats {               /* of the runs of one policy */
    char policy[40];                    /* its name; of DFC_NO_POLICY "default (NAME)": NAME is what the runs went by */
    unsigned runs;
    double median_s, least_s, most_s, first_quartile_s, third_quartile_s;
    double spread;                      /* (third quartile - first) / median */
    double ratio;                       /* median over the best policy's */
    struct dfc_run_stats typical;       /* the run in the middle, so that its counts belong together */
};

/* Makes the statistics of n >= 1 runs of one policy and sorts the runs by makespan. The ratio is 1 until
 * dfc_policy_stats_rank() sets it. policy: a policy's name or DFC_NO_POLICY; not kept. */
void dfc_policy_stats_of(const char *policy, struct dfc_run_stats *runs, unsigned n, struct dfc_policy_stats *stats);

/* Computes the ratio of each of n policies to the best one. Returns the best one's index. */
unsigned dfc_policy_stats_rank(struct dfc_policy_stats *stats, unsigned n);

#endif
