/* demand_stages.h - converts a graph and a cluster into the input of the simulation of demand-driven streams
 * (demand_simulation.h). demand_command.c calls it, once for each type of node.
 *
 * Stages:   those of `dfc map` (map_stages.h). A stage that keeps state from wave to wave is rejected, because any
 *           worker may process any wave.
 * Types:    of workers: one per device class and type of node: "node.cpu", "node.gpu".
 * Times:    a single worker executes a stage: the sum of its nodes' times on that class, plus the device's launches,
 *           divided by the node's `speed`. Copies to and from a device are assumed to overlap with computing, as
 *           Anthill's asynchronous copies do.
 * Bytes:    what a stage reads from other stages is sent to it from the wave's home, and what others read from it is
 *           sent back.
 */
#ifndef DFC_DEMAND_STAGES_H
#define DFC_DEMAND_STAGES_H

#include "compiler/cluster/demand_simulation.h"
#include "compiler/declare/cluster_decl.h"
#include "partition/partition.h"

struct dfc_demand_input {
    struct dfc_demand setup;            /* without what a command line says */
    char *stages[DFC_DEMAND_STAGES];    /* names, owned */
    char types[DFR_STREAM_TYPES][96];   /* names */
};

/* Adds one type of node, for which the problem is; the first call also determines the stages. DF_E_MEMORY, DF_E_REFUSED. *wrong: the node of the
 * graph that the refusal concerns, or DF_NONE. */
int dfc_demand_add_type(const struct dfp_problem *problem, const struct dfc_cluster *cluster, uint32_t node_type, struct dfc_demand_input *input,
                    uint32_t *wrong, struct df_error *error);
void dfc_demand_input_free(struct dfc_demand_input *input);

#endif
