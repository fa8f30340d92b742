/* resources.h - shared resources of a run: of the jobs whose kernels use one, at most so many are with the policy or a worker at a time. The engine and the
 * simulator ask before they give a ready job to the policy, and when a job has ended.
 *
 * Order:    A job takes all its resources at once or waits, so jobs cannot deadlock. Those that wait are served in the order in which they came: a job does
 *           not overtake another one that waits for a resource of its own. So each gets its turn.
 * Memory:   dfr_resources_create() allocates all that a run can need.
 * Threads:  any thread may take and give. A lock is held for a few instructions, by jobs that use resources alone.
 */
#ifndef DFR_RESOURCES_H
#define DFR_RESOURCES_H

#include "runtime/graph/graph.h"

struct df_error;
struct dfr_resources;

#define DFR_NO_WAITER UINT64_MAX

/* For a run with so many slots, the once slot included. *resources is NULL if no kernel of the graph uses any. DF_E_MEMORY. */
int dfr_resources_create(const struct df_graph *graph, uint32_t n_slots, struct dfr_resources **resources, struct df_error *error);
void dfr_resources_destroy(struct dfr_resources *resources);

/* Takes what the ready job uses. false: the job waits, and dfr_resources_next() will return it. */
bool dfr_resources_take(struct dfr_resources *resources, uint64_t job);
/* The job has ended: gives back what it had. Then the caller asks for those that go on. */
void dfr_resources_give(struct dfr_resources *resources, uint64_t job);
/* Returns the next job that has waited and has its resources now, or DFR_NO_WAITER. */
uint64_t dfr_resources_next(struct dfr_resources *resources);

#endif
