/* scale.h - predicts how a graph runs on a given number of machines: measures a wave on one machine of each type by
 * simulation, and then simulates all machines together (manager_simulation.h). scale_command.c calls it. Its counts of
 * machines serve demand_command.c, map_command.c and map_stages.c, too, and its simulation of a wave map_stages.c and
 * scale_shares.c.
 *
 * Wave:     the graph is simulated on a machine (runtime/simulate/) twice, with few waves and with three times as many;
 *           the difference yields the time per wave. A single wave yields the latency. The HEAD and TAIL of the graph
 *           (runtime/subgraph/cut.h) take no time there; on rank 0 they take their least time of any class. Tokens that
 *           cross the cut are the bytes of messages.
 * Speed:    times of works are divided by the `speed` of the type of node.
 * Shares:   if the program's ranks divide the parts of accs among them instead of waves, so do the machines:
 *           scale_shares.h.
 * Ideal:    the sum of the machines' rates if none ever waits.
 * Threads:  one at a time.
 */
#ifndef DFC_SCALE_H
#define DFC_SCALE_H

#include "compiler/cluster/scale_shares.h"
#include "compiler/cluster/manager_simulation.h"
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
    struct dfc_manager_result result;
};

uint32_t dfc_scale_declared(const struct dfc_cluster *cluster); /* its nodes in all */
/* Distributes `nodes` over the types in proportion to their counts; n[type]. */
void dfc_scale_share(const struct dfc_cluster *cluster, uint32_t nodes, uint32_t *n);
/* Measures a wave on one machine of that type by simulation; the problem is for that type. */
int dfc_scale_look(const struct dfp_problem *problem, const char *policy, const struct dfp_options *options, uint32_t inflight,
                   uint32_t type, struct dfc_scale *scale, struct df_error *error);
/* The same for given times: the time per wave in steady state, and the latency of a single wave. */
int dfc_scale_measure(const struct dfp_problem *problem, const struct df_times *times, const char *policy, const struct dfp_options *options,
                      uint32_t inflight, double *every_s, double *latency_s, struct df_error *error);
/* Simulates the run on `nodes` machines. number: of the row, which selects its shares. */
int dfc_scale_run(const struct dfc_scale *scale, unsigned number, uint32_t nodes, struct dfc_scale_row *row, struct df_error *error);

#endif
