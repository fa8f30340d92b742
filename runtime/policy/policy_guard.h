/* policy_guard.h - what a placed policy does when the times that its plan rests on turn out wrong: measures how far
 * off they are, and lets other units take over jobs where that ends them sooner.
 *
 * Words:    the *drift* of a work on a unit is its measured time over its expected one, summed over its jobs; of a work
 *           that was never measured there, the unit's. Times are *corrected* by it. The guard is *alarmed* once
 *           measured times are off by more than DFR_GUARD_ALARM of the expected ones, all jobs taken together; before
 *           that it changes nothing, so with true times a run is what it would be without.
 * Rules, once alarmed (finish: waiting or loading, whichever is longer, + corrected time + sending outputs to the
 * memories where their readers are planned, counted twice as it keeps a link from others):
 *           choose      a job that becomes ready, whose work was measured on one of the two units, goes to another unit
 *                       than planned where its finish there is sooner by the margin
 *           reconsider  so does a job, of any work, that a worker would begin now
 *           takes       a worker that finds nothing takes a job waiting for another unit where it would end it before a
 *                       worker there is expected to begin it
 *           A job leaves a unit only when all that was sent there for it has come (struct dfr_view's settled).
 * Samples:  jobs whose data was there when they were taken; jobs with threads, which gather workers first, are none,
 *           nor are those that a device was given before it had all their code.
 * Memory:   create() allocates all.
 * Threads:  all but create and destroy from any worker's thread; what several write at once is atomic, and what they
 *           miss of each other costs precision alone.
 * Progress: lock-free.
 */
#ifndef DFR_POLICY_GUARD_H
#define DFR_POLICY_GUARD_H

#include "runtime/policy/places.h"

#define DFR_GUARD_ALARM 0.05           /* about what a profile's own errors and a machine's noise come to */
/* What a move must gain, as a share of the job's longer time: of works that were measured on one of the units, and of
 * others. Found by trial on lognormal errors; small margins undo a plan's look ahead for little. */
#define DFR_GUARD_MARGIN 0.8
#define DFR_GUARD_MARGIN_UNMEASURED 0.5

struct dfr_guard;

/* places: borrowed. NULL: no memory. */
struct dfr_guard *dfr_guard_create(const struct dfr_view *view, const struct dfr_places *places);
void dfr_guard_destroy(struct dfr_guard *guard);        /* NULL, too */

/* The unit for a job that became ready, and for one that a worker of `unit` would begin now (once for each job). */
uint32_t dfr_guard_choose(const struct dfr_guard *guard, uint64_t job);
uint32_t dfr_guard_reconsider(struct dfr_guard *guard, uint64_t job, uint32_t unit);
bool dfr_guard_takes(const struct dfr_guard *guard, uint64_t job, uint32_t from, uint32_t worker);
/* May it go to another unit? Of a job that the caller does not hold the answer may be about an earlier wave. */
bool dfr_guard_may_leave(const struct dfr_guard *guard, uint64_t job, uint32_t unit);
bool dfr_guard_is_alarmed(const struct dfr_guard *guard);

/* Units that have a worker without a job. */
uint32_t dfr_guard_idle_units(const struct dfr_guard *guard);

/* What happens to a job: it waits for a unit (before anyone can take it; again where it moves), a worker takes it, it
 * ends. A job that waits for its data with nobody's pop in between goes from queued to done. */
void dfr_guard_queued(struct dfr_guard *guard, uint64_t job, uint32_t unit);
void dfr_guard_taken(struct dfr_guard *guard, uint64_t job, uint32_t worker);
void dfr_guard_done(struct dfr_guard *guard, uint64_t job, uint32_t worker);

#endif
