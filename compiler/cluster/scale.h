/* scale.h - how a graph runs on so many machines of a cluster: what a wave takes on one of each type, and the run of all in
 * virtual time (virtual.h).
 *
 * Wave:     what a wave takes on a machine is found by two simulations of the graph there (runtime/simulate/), of few waves and
 *           of three times as many: their difference is the time from wave to wave. One wave alone is its latency. What
 *           stands in HEAD and TAIL of the graph (runtime/cluster/cut.h) takes no time there. It takes its least time of any class
 *           on rank 0. Tokens that cross the cut are the bytes of messages.
 * Speed:    times of works are divided by the `speed` of the type of node.
 * Shares:   if the program's ranks share the parts of accs, and no waves, so do the machines: scale_shares.h.
 * Ideal:    machines that never wait: the sum of their rates.
 * Threads:  one at a time.
 */
#ifndef DFC_SCALE_H
#define DFC_SCALE_H

#include "compiler/cluster/scale_shares.h"
#include "compiler/cluster/virtual.h"
#include "compiler/declare/cluster_decl.h"
#include "partition/partition.h"

enum { DFC_MOST_SCALES = 64 };

struct dfc_scale {
    const struct dfc_cluster *cluster;
    int64_t waves;                      /* in all; for each machine if `weak` */
    bool weak;
    unsigned window, inflight;
    double vary, read_bytes, write_bytes;
    uint32_t seed;
    /* by dfc_scale_look() */
    double every_s[DFC_MOST_NODE_TYPES], latency_s[DFC_MOST_NODE_TYPES];
    double head_s, tail_s, give_bytes, result_bytes;
    struct dfc_scale_shares shares;     /* by dfc_scale_shares_look() */
};

struct dfc_scale_row {
    uint32_t nodes;
    int64_t waves;
    uint32_t shares;                    /* 0: machines share waves */
    double ideal_s;
    const char *limit;                  /* what was busiest: "nodes", "rank 0's link", "the file system", … */
    struct dfc_virtual_result result;
};

uint32_t dfc_scale_declared(const struct dfc_cluster *cluster); /* its nodes in all */
/* Shares `nodes` among the types in the proportion of their counts; n[type]. */
void dfc_scale_share(const struct dfc_cluster *cluster, uint32_t nodes, uint32_t *n);
/* Finds what a wave takes on a machine of that type, for which the problem is. */
int dfc_scale_look(const struct dfp_problem *problem, const char *policy, const struct dfp_options *options, uint32_t inflight,
                   uint32_t type, struct dfc_scale *scale, struct df_error *error);
/* What a wave takes on a machine by these times, from wave to wave and alone. */
int dfc_scale_measure(const struct dfp_problem *problem, const struct df_times *times, const char *policy, const struct dfp_options *options,
                      uint32_t inflight, double *every_s, double *latency_s, struct df_error *error);
/* number: of the row, whose shares are meant. */
int dfc_scale_run(const struct dfc_scale *scale, unsigned number, uint32_t nodes, struct dfc_scale_row *row, struct df_error *error);

#endif
