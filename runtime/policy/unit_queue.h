/* unit_queue.h - the queue of jobs that the dmda family has assigned to one unit. Its order is what distinguishes the members of the family: FIFO, by
 * priority, or ready first. policy_dmda.c has one for each unit.
 *
 * Orders:   FIFO. By priority: strictly by the node's upward rank. Ready first: of the DFR_READY_WINDOW oldest jobs, the one with the fewest bytes still to
 *           be copied; of equal ones the oldest.
 * Brief:    Unless the order is by priority, jobs shorter than DFR_LONG_JOB_S go before all others, in FIFO order: they delay nobody, and another unit may
 *           be waiting for their successors.
 * Memory:   create() allocates all that can be needed.
 * Threads:  Any thread may call push, pop and is_next, several at once. One thread calls create and destroy.
 * Progress: lock-free.
 */
#ifndef DFR_UNIT_QUEUE_H
#define DFR_UNIT_QUEUE_H

#include "runtime/policy/policy.h"

#define DFR_READY_WINDOW 32

enum dfr_unit_order { DFR_IN_TURN, DFR_BY_PRIORITY, DFR_READY_FIRST };

struct dfr_unit_queue;

/* priority: by node, the highest first, for DFR_BY_PRIORITY; else NULL. Gives NULL if there is no memory. */
struct dfr_unit_queue *dfr_unit_queue_create(const struct dfr_view *view, uint32_t unit, enum dfr_unit_order order,
                                             const double *priority);
void dfr_unit_queue_destroy(struct dfr_unit_queue *queue);      /* may be NULL */
void dfr_unit_queue_push(struct dfr_unit_queue *queue, uint64_t job);
bool dfr_unit_queue_pop(struct dfr_unit_queue *queue, uint64_t *job);

/* Returns true if this job, pushed now, would be the next one popped. May be out of date. */
bool dfr_unit_queue_is_next(struct dfr_unit_queue *queue, uint64_t job);

/* Priorities: the upward rank of HEFT (Topcuoglu et al. 2002). It is a node's mean time over the workers that can run
 * it, plus the longest way through its readers. On that way a copy has its mean time, times the chance that two workers
 * drawn at random are on different memories. NULL: no memory. The caller returns the array with free(). */
double *dfr_upward_rank(const struct dfr_view *view);

#endif
