/* policy_guard.h - the monitor of a static policy (`--guard`): detects that measured times differ from those that the plan was made with, and then lets
 * other units take over jobs that they would finish sooner. policy_static.c asks it.
 *
 * Words:    The *guard* is this monitor. The *drift* of a work on a unit is its measured time divided by its expected
 *           time, summed over its jobs. If a work was never measured on the unit, its drift is the unit's. Times are
 *           *corrected* by drift. The guard is *alarmed* once measured times, all jobs taken together, are off by more
 *           than DFR_GUARD_ALARM of the expected times. Before that it changes nothing, so if times are true, a run is
 *           what it would be without a guard.
 * Finish:   The finish of a job on a unit is the longer of waiting and loading, plus the corrected time, plus the time
 *           to send its outputs to the memories where their readers are planned. This last time counts twice, because
 *           sending keeps a link from others.
 *
 * Rules, once alarmed:
 *           choose      A job becomes ready, and its work was measured on the planned unit or on another. It goes to
 *                       that other unit if its finish there is sooner by the margin.
 *           reconsider  The same holds for a job, of any work, that a worker would begin now.
 *           takes       A worker that finds nothing takes a job that waits for another unit, if it would end the job
 *                       before a worker of that unit is expected to begin it.
 *           A job leaves a unit only when all that was sent there for it has come (settled of struct dfr_view).
 *
 * Samples:  A job is a sample if its data was there when it was taken. Jobs with threads are none, because they gather
 *           workers first. Jobs that a device was given before it had all their code are none either,
 *           nor those whose kernel was not called. A
 *           job that a device's worker never took, because it launched it behind others, is a sample if the worker can
 *           say how long it took (took_s of struct dfr_view).
 * Memory:   create() allocates all.
 * Threads:  Any worker's thread may make any call but create and destroy. What several threads write at once is atomic;
 *           what they miss of each other costs precision, and nothing else.
 * Progress: lock-free.
 */
#ifndef DFR_POLICY_GUARD_H
#define DFR_POLICY_GUARD_H

#include "runtime/policy/places.h"

#define DFR_GUARD_ALARM 0.05           /* about the sum of a profile's own errors and a machine's noise */
/* What a move must gain, as a share of the job's longer time: for works that were measured on one of the two units, and
 * for others. Both were found by trial on lognormal errors. Small margins undo a plan's look ahead, and gain little. */
#define DFR_GUARD_MARGIN 0.8
#define DFR_GUARD_MARGIN_UNMEASURED 0.5

struct dfr_guard;

/* `places` is borrowed. NULL: no memory. */
struct dfr_guard *dfr_guard_create(const struct dfr_view *view, const struct dfr_places *places);
void dfr_guard_destroy(struct dfr_guard *guard);        /* may be NULL */

/* The unit for a job that became ready; and the unit for a job that a worker of `unit` would begin now (asked once for
 * each job). */
uint32_t dfr_guard_choose(const struct dfr_guard *guard, uint64_t job);
uint32_t dfr_guard_reconsider(struct dfr_guard *guard, uint64_t job, uint32_t unit);
bool dfr_guard_takes(const struct dfr_guard *guard, uint64_t job, uint32_t from, uint32_t worker);
/* Returns true if the job may move to another unit. If the caller does not hold the job, the answer may concern an earlier wave. */
bool dfr_guard_may_leave(const struct dfr_guard *guard, uint64_t job, uint32_t unit);
bool dfr_guard_is_alarmed(const struct dfr_guard *guard);

/* The units that have a worker without a job. */
uint32_t dfr_guard_idle_units(const struct dfr_guard *guard);

/* The policy reports each job's state changes. queued: the job waits for a unit; called before any worker can take it, and again if it moves. taken: a worker
 * takes it. done: it has ended. A staged job that is never popped goes from queued to done. */
void dfr_guard_queued(struct dfr_guard *guard, uint64_t job, uint32_t unit);
void dfr_guard_taken(struct dfr_guard *guard, uint64_t job, uint32_t worker);
void dfr_guard_done(struct dfr_guard *guard, uint64_t job, uint32_t worker);

#endif
