/* model.h - the cost model of all planners: which unit can run a node, how long that takes, and how long copies take.
 *
 * This room also holds everything that depends on the model only: the compact form of a problem, the evaluator, the lower bound, ranks, HEFT and PEFT, and
 * the placements with everything on one unit. It knows runtime/, and no other room of partition/.
 *
 * Memory:   a model is a plain value, which borrows its problem.
 */
#ifndef DFP_MODEL_H
#define DFP_MODEL_H

#include "partition/partition.h"

struct dfp_model {
    const struct dfp_problem *problem;
    uint32_t n_units;
    uint32_t cls[DF_MAX_UNITS]; /* the unit's class as the graph numbers it; DF_NONE: the graph has no such class */
    bool has_class[DF_MAX_CLASSES];     /* whether some unit is of this class */
};

/* Fails with DF_E_ARGUMENT if graph, platform and times do not match. */
int dfp_model_init(struct dfp_model *model, const struct dfp_problem *problem, struct df_error *error);

/* As dfp_node_time_s(); the look-ups by name were done when the model was made. */
double dfp_model_time_s(const struct dfp_model *model, uint32_t node, uint32_t unit);

/* Returns the unit that runs the node fastest (ties: the lowest number), or DF_NONE. */
uint32_t dfp_model_fastest(const struct dfp_model *model, uint32_t node, bool devices_only);

static inline bool dfp_node_is_free(const struct df_graph *graph, uint32_t node)
{
    return graph->nodes[node].flags & DF_NODE_ZERO_COST;
}

/* How many workers of the unit a job of this node holds: more than 1 only on the host. */
uint32_t dfp_model_workers(const struct dfp_model *model, uint32_t node, uint32_t unit);

/* Seconds that a copy takes from one unit's memory to another's. Between two devices it goes directly, or through the
 * host. 0: there are no bytes, or both are one unit. */
double dfp_copy_time_s(const struct df_platform *platform, uint32_t from, uint32_t to, uint64_t bytes);

/* Returns true if some device could run the node if it had enough memory. */
bool dfp_model_is_too_large(const struct dfp_model *model, uint32_t node);

/* Writes into *error why no unit of the platform can run the node, and returns DF_E_REFUSED. */
int dfp_refuse(const struct dfp_model *model, uint32_t node, struct df_error *error);

/* Places on `unit` every node that can run there, and every other node where it is fastest. */
int dfp_place_all(const struct dfp_model *model, uint32_t unit, uint16_t *place, struct df_error *error);

/* The predicted time of one wave under dfp_place_all(), with jobs in the order of their numbers. */
int dfp_predict_all(const struct dfp_problem *problem, uint32_t unit, double *makespan_s, struct df_error *error);

/* Places each node that costs nothing on the unit with which it exchanges most bytes, among those that can run it. */
void dfp_place_free_nodes(const struct dfp_model *model, uint16_t *place);

extern const struct dfp_partitioner dfp_partitioner_gp, dfp_partitioner_gp_thesis, dfp_partitioner_heft,
    dfp_partitioner_peft, dfp_partitioner_all_cpu, dfp_partitioner_all_gpu;

/* All planners but gp, in the order of dfp_partitioners[]. gp compares its own answers with theirs. A new planner is a
 * file of its own and a line here. */
#define DFP_OTHER_PARTITIONERS                                                                                         \
    &dfp_partitioner_gp_thesis, &dfp_partitioner_heft, &dfp_partitioner_peft, &dfp_partitioner_all_cpu,                \
        &dfp_partitioner_all_gpu

#endif
