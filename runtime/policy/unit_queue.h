/* unit_queue.h - the jobs that were assigned to one unit, in one of three orders: what tells the members of the dmda
 * family apart.
 *
 * Orders:   first come, first served; by priority (the node's upward rank, exactly); or ready first: of the
 *           DFR_READY_WINDOW oldest jobs the one with the least bytes still to come, of equals the oldest.
 * Memory:   create() allocates all that can be needed.
 * Threads:  push, pop and is_empty from any thread at once; create and destroy from one.
 * Progress: lock-free.
 */
#ifndef DFR_UNIT_QUEUE_H
#define DFR_UNIT_QUEUE_H

#include "runtime/policy/policy.h"

#define DFR_READY_WINDOW 32

enum dfr_unit_order { DFR_IN_TURN, DFR_BY_PRIORITY, DFR_READY_FIRST };

struct dfr_unit_queue;

/* priority: by node, the highest first; for DFR_BY_PRIORITY, else NULL. NULL: no memory. */
struct dfr_unit_queue *dfr_unit_queue_create(const struct dfr_view *view, uint32_t unit, enum dfr_unit_order order,
                                             const double *priority);
void dfr_unit_queue_destroy(struct dfr_unit_queue *queue);      /* NULL, too */
void dfr_unit_queue_push(struct dfr_unit_queue *queue, uint64_t job);
bool dfr_unit_queue_pop(struct dfr_unit_queue *queue, uint64_t *job);

/* Would this job, pushed now, be the next one popped? A glance. */
bool dfr_unit_queue_is_next(struct dfr_unit_queue *queue, uint64_t job);

/* Priorities: the upward rank of HEFT (Topcuoglu et al. 2002): a node's mean time over the workers that can run it,
 * plus the longest of its readers' ways, with the mean time of a copy times the chance that two workers drawn at random
 * are on different memories. NULL: no memory; free() returns it. */
double *dfr_upward_rank(const struct dfr_view *view);

#endif
