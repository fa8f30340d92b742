/* explain.h - what `dfc explain` finds out about a plan, for the files that print it: explain_facts.c, explain_if.c.
 *
 * Words:    a node's *other* unit is the best one among those where it could be instead: by its time and its copies
 *           there. The *longest way* is the chain of nodes and copies under this placement that takes longest.
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
    double copy_s[DF_MAX_UNITS][3];     /* copy engines at work: [0] to the host, [1] to the device, [2] to peers */
    double way_s;                       /* length of the longest way */
    uint32_t way_nodes, way_first, way_last;
    unsigned char *on_way;              /* by node */
};

struct dfc_node_facts {
    uint32_t unit, other;               /* other DF_NONE: it can be nowhere else */
    double time_s, other_s;             /* of its job, launch included */
    double copies_s, other_copies_s;    /* what it reads from, and gives to, other memories */
    double moved_s;                     /* how much longer one wave takes with this node alone on the other unit */
};

/* false: reported. */
bool dfc_explain(const struct dfp_problem *problem, const struct df_plan *plan, struct dfc_explained *explained);
void dfc_explained_free(struct dfc_explained *explained);

/* Evaluates a wave once more. */
bool dfc_explain_node(struct dfc_explained *explained, uint32_t node, struct dfc_node_facts *facts);
/* Why it is where it is, in a sentence without an end. */
void dfc_explain_reason(const struct dfc_explained *explained, uint32_t node, const struct dfc_node_facts *facts,
                        char *text, size_t size);
/* What holds the wave up: in words; and the share of its time. */
double dfc_explain_bottleneck(const struct dfc_explained *explained, char *text, size_t size);
/* Nodes in the order of what they mean for the wave: those on the longest way first, then by time and what
 * is copied for them. NULL: no
 * memory (reported). */
uint32_t *dfc_explain_order(const struct dfc_explained *explained);

/* ---- explain_if.c ---- */

#define DFC_MOST_CHANGES 12

struct dfc_change {                     /* of the machine or the code, and what it would bring */
    char what[200];
    double predicted_s;                 /* one wave; more than now only where a hint then forbids the present
                                         * placement */
};
/* Makes a plan for each change by the same policy. The number of changes, -1: reported. */
int dfc_explain_changes(const struct dfc_explained *explained, const char *policy, const struct dfp_options *options,
                        struct dfc_change *changes);

#endif
