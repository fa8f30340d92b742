/* demand_look.h - from a graph and a cluster to stages that are fed by demand (demand.h).
 *
 * Stages:   as `dfc map` finds them (map_stages.h). One that keeps something from wave to wave is refused, because any worker may do any wave.
 * Types:    the workers of each class of devices on each type of node: "node.cpu", "node.gpu".
 * Times:    one worker does a stage alone: the sum of its nodes' times on the class, and of the device's launches, divided by the node's `speed`. Copies
 *           to and from a device are taken to be hidden behind computing, as Anthill's asynchronous copies are.
 * Bytes:    what a stage reads of other calls goes to it from the wave's home, and what others read of it goes back.
 */
#ifndef DFC_DEMAND_LOOK_H
#define DFC_DEMAND_LOOK_H

#include "compiler/cluster/demand.h"
#include "compiler/declare/cluster_decl.h"
#include "partition/partition.h"

struct dfc_demand_input {
    struct dfc_demand setup;            /* without what a command line says */
    char *stages[DFC_DEMAND_STAGES];    /* names, owned */
    char types[DFR_STREAM_TYPES][96];   /* names */
};

/* Adds a type of node, for which the problem is; the first one brings the stages. DF_E_MEMORY, DF_E_REFUSED. *wrong: DF_NONE, or a node of the
 * graph that the refusal is about. */
int dfc_demand_look(const struct dfp_problem *problem, const struct dfc_cluster *cluster, uint32_t node_type, struct dfc_demand_input *input,
                    uint32_t *wrong, struct df_error *error);
void dfc_demand_input_free(struct dfc_demand_input *input);

#endif
