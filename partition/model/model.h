/* model.h - what all planners ask of a problem: which unit can run a node and how long it takes, how large a job is.
 *
 * Words:    a node is *movable* where the host and some device can run it.
 * Memory:   a model borrows its problem; it is a plain value.
 */
#ifndef DFP_MODEL_H
#define DFP_MODEL_H

#include "partition/partition.h"

struct dfp_model {
    const struct dfp_problem *problem;
    uint32_t n_units;
    uint32_t cls[DF_MAX_UNITS]; /* the unit's class as the graph numbers it; DF_NONE: the graph has no such class */
    bool has_class[DF_MAX_CLASSES];     /* some unit is of this class */
};

/* DF_E_ARGUMENT where graph, platform and times do not fit together. */
int dfp_model_init(struct dfp_model *model, const struct dfp_problem *problem, struct df_error *error);

/* dfp_node_time_s() with the look-ups by name already done. */
double dfp_model_time_s(const struct dfp_model *model, uint32_t node, uint32_t unit);

/* The unit that runs the node fastest (ties: the lowest number); DF_NONE where none can. */
uint32_t dfp_model_fastest(const struct dfp_model *model, uint32_t node, bool devices_only);

static inline bool dfp_node_is_free(const struct df_graph *graph, uint32_t node)
{
    return graph->nodes[node].flags & DF_NODE_ZERO_COST;
}

/* CPU workers that a job of this node holds on the unit. */
uint32_t dfp_model_workers(const struct dfp_model *model, uint32_t node, uint32_t unit);

/* Seconds from one unit's memory to another's, between two devices directly or through the host; 0 for no bytes or the
 * same unit. */
double dfp_copy_time_s(const struct df_platform *platform, uint32_t from, uint32_t to, uint64_t bytes);

/* Could some device run the node, if it had the memory for it? */
bool dfp_model_is_too_large(const struct dfp_model *model, uint32_t node);

/* Says why no unit of the platform takes the node: DF_E_REFUSED. */
int dfp_refuse(const struct dfp_model *model, uint32_t node, struct df_error *error);

/* Everything that can run on `unit` there, the rest where it is fastest. */
int dfp_place_all(const struct dfp_model *model, uint32_t unit, uint16_t *place, struct df_error *error);

/* Predicted time of one wave with everything that can on `unit`. */
int dfp_predict_all(const struct dfp_problem *problem, uint32_t unit, double *makespan_s, struct df_error *error);

/* The first device among those with the least total time for what they can run, for most nodes; DF_NONE: no device. */
uint32_t dfp_best_device(const struct dfp_model *model);

/* Gives nodes that cost nothing (unless only one unit can have them) to the unit with which they exchange most. */
void dfp_place_free_nodes(const struct dfp_model *model, uint16_t *place);

extern const struct dfp_partitioner dfp_partitioner_gp, dfp_partitioner_gp_thesis, dfp_partitioner_heft,
    dfp_partitioner_peft, dfp_partitioner_all_cpu, dfp_partitioner_all_gpu;

/* All planners but gp, in the order of dfp_partitioners[]. gp compares its own answers with theirs. A new planner is a
 * file of its own and a line here. */
#define DFP_OTHER_PARTITIONERS                                                                                         \
    &dfp_partitioner_gp_thesis, &dfp_partitioner_heft, &dfp_partitioner_peft, &dfp_partitioner_all_cpu,                \
        &dfp_partitioner_all_gpu

#endif
