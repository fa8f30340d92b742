/* explain.h - what `dfc explain` finds out about a plan. explain_facts.c and explain_if.c find it, cmd_explain.c prints
 * it.
 *
 * Words:    a node's *other* unit is the best of the units on which it is not but could be, by its time and its copies
 *           there. The *longest way* is the chain of nodes and copies that takes longest under this placement. A node
 *           *moved* is placed on its other unit, and every other node stays.
 */
#ifndef DFC_EXPLAIN_H
#define DFC_EXPLAIN_H

#include <stdio.h>

#include "partition/model/model.h"
#include "partition/partition.h"

struct dfc_explained {
    const struct dfp_problem *problem;  /* borrowed */
    const struct df_plan *plan;         /* borrowed */
    struct dfp_model model;
    struct dfp_evaluation evaluation;   /* of the placement */
    double copy_s[DF_MAX_UNITS][3];     /* seconds that copy engines are busy: [0] to the host, [1] to the device, [2]
                                         * to peers */
    double way_s;                       /* length of the longest way */
    uint32_t way_nodes, way_first, way_last;
    unsigned char *on_way;              /* by node */
};

struct dfc_node_facts {
    uint32_t unit, other;               /* other is DF_NONE if the node can be nowhere else */
    double time_s, other_s;             /* of its job, launch included */
    double copies_s, other_copies_s;    /* copies of what it reads from other memories, and gives to them */
    double moved_s;                     /* how much longer one wave takes with this node moved */
};

/* false: reported. */
bool dfc_explain(const struct dfp_problem *problem, const struct df_plan *plan, struct dfc_explained *explained);
void dfc_explained_free(struct dfc_explained *explained);

/* Evaluates a wave once more, so a call takes time in proportion to the graph. */
bool dfc_explain_node(struct dfc_explained *explained, uint32_t node, struct dfc_node_facts *facts);
/* Writes why the node is where it is, as a sentence without a full stop. */
void dfc_explain_reason(const struct dfc_explained *explained, uint32_t node, const struct dfc_node_facts *facts,
                        char *text, size_t size);
/* Writes what limits the wave's time, and gives its share of that time. */
double dfc_explain_bottleneck(const struct dfc_explained *explained, char *text, size_t size);
/* The nodes in the order of what they mean for the wave: first those on the longest way, then by their time and the
 * copies for them. NULL: no memory (reported). */
uint32_t *dfc_explain_order(const struct dfc_explained *explained);

/* ---- explain_if.c ---- */

#define DFC_MOST_CHANGES 12

struct dfc_change {                     /* a change of the machine or the code, and what it would bring */
    char what[200];
    double predicted_s;                 /* one wave. It is longer than now only if a hint would then forbid the present
                                         * placement */
};
/* Plans each changed problem by the same policy. Gives the number of changes; -1: reported. */
int dfc_explain_changes(const struct dfc_explained *explained, const char *policy, const struct dfp_options *options,
                        struct dfc_change *changes);

#endif
