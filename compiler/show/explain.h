/* explain.h - the analyses behind `dfc explain`: why a plan is as it is, and what would improve it. explain_facts.c,
 * explain_rate.c and explain_if.c compute them, commands/cmd_explain.c prints them.
 *
 * Words:    a node's *other* unit is the best alternative to its present one, by the time and copies that it would have
 *           there. The *longest way* is the critical path: the chain of nodes and copies that takes longest under this
 *           placement. A node *moved* is placed on its other unit while all other nodes stay.
 * Time:     the planning objective: the makespan of one wave, or for throughput (a graph with a stream, or --objective)
 *           the time per wave in steady state with waves in flight, summed over all passes if the waves are processed
 *           several times. Nodes that fire once do not count for throughput.
 */
#ifndef DFC_EXPLAIN_H
#define DFC_EXPLAIN_H

#include <stdio.h>

#include "partition/model/model.h"
#include "partition/partition.h"
#include "profiles/estimate/known.h"

struct dfc_explained {
    const struct dfp_problem *problem;  /* borrowed */
    const struct df_plan *plan;         /* borrowed */
    const struct dfp_options *options;  /* borrowed: those that the plan was made with */
    const struct dfw_known *known;      /* borrowed: what the problem's times were made of */
    struct dfp_model model;
    struct dfp_evaluation evaluation;   /* of one wave of the placement */
    uint32_t inflight;                  /* waves in flight if the plan is for rate; 0: it is for one wave */
    double wave_s;                      /* what a wave takes under the placement */
    double run_s;                       /* the same as the plan runs, which may be under an online policy */
    double busy_s[DF_MAX_UNITS];        /* of a unit in a wave, summed over its workers */
    double copy_s[DF_MAX_UNITS][3];     /* seconds in a wave that copy engines are busy: [0] to the host, [1] to the
                                         * device, [2] to peers */
    double shared_s[DF_MAX_RESOURCES];  /* of a resource of the graph: the time of the jobs in a wave that use it */
    uint32_t n_passes;                  /* how often the waves go by if the plan is for rate (runtime/graph/passes.h); 1 for one wave */
    uint32_t *pass_of;                  /* by node: the pass in which it fires, or DF_NONE: in each */
    double way_s;                       /* length of the longest way; with several passes: the sum over them */
    uint32_t way_nodes, way_first, way_last; /* of the longest of them, and so is on_way */
    unsigned char *on_way;              /* by node */
};

struct dfc_node_facts {
    uint32_t unit, other;               /* other is DF_NONE if the node can be nowhere else */
    double time_s, other_s;             /* of its job, launch included */
    double copies_s, other_copies_s;    /* copies of what it reads from other memories, and gives to them */
    double moved_s;                     /* how much longer a wave takes with this node moved (in all waves) */
};

/* options: those that the plan was made with. false: reported. */
bool dfc_explain(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_options *options,
                 const struct dfw_known *known, struct dfc_explained *explained);
void dfc_explained_free(struct dfc_explained *explained);

/* Evaluates a wave once more, or simulates many, so a call takes time in proportion to the graph. */
bool dfc_explain_node(struct dfc_explained *explained, uint32_t node, struct dfc_node_facts *facts);
/* Writes why the node is where it is, as a sentence without a full stop. */
void dfc_explain_reason(const struct dfc_explained *explained, uint32_t node, const struct dfc_node_facts *facts,
                        char *text, size_t size);
/* Writes what limits the time of a wave, and gives its share of that time. */
double dfc_explain_bottleneck(const struct dfc_explained *explained, char *text, size_t size);
/* The nodes in the order of what they mean for the wave: by their time and the copies for them; for one wave those on
 * the longest way come first. NULL: no memory (reported). */
uint32_t *dfc_explain_order(const struct dfc_explained *explained);

/* ---- explain_rate.c ---- */

struct dfc_rate {                       /* of a settled run, per wave; the fields are those of struct dfc_explained */
    double wave_s;
    double busy_s[DF_MAX_UNITS];
    double copy_s[DF_MAX_UNITS][3];
};
/* Simulates many waves of the plan. placed: as its placement says, even if the plan has an online policy run. Errors:
 * those of dfr_simulate(). */
int dfc_rate_find(const struct dfp_problem *problem, const struct df_plan *plan, bool placed,
                  const struct dfp_options *options, struct dfc_rate *rate, struct df_error *error);
/* How many waves are in flight: as many as were asked for, else as many as by default, or fewer if no more fit. */
uint32_t dfc_rate_inflight(const struct dfp_problem *problem, const struct df_plan *plan,
                           const struct dfp_options *options);

/* ---- explain_if.c ---- */

#define DFC_MOST_CHANGES 12

struct dfc_change {                     /* a change of the machine or the code, and what it would bring */
    char what[200];
    double predicted_s;                 /* what a wave would take, compared with run_s of struct dfc_explained. It is
                                         * longer than now only if a hint would then forbid the present placement */
    enum df_time_source gpu_times;      /* as dfc_gpu_source() says of the changed problem */
};
/* Plans each changed problem by the same policy and options. Gives the number of changes; -1: reported. */
int dfc_explain_changes(const struct dfc_explained *explained, const char *policy, struct dfc_change *changes);

#endif
