/* ahead.h - implements `--prefetch` for pull policies, which choose the unit only when a worker takes a job: decides whether a device whose compute slots
 * are all busy may take another job *ahead*, so that its inputs are copied while the current ones compute.
 * policy_eager.c, policy_ws.c and the speedup policies (sorted.c) ask it.
 *
 * A job taken ahead is lost to the other workers, and the device cannot replace it by a better one, so it is taken only where that costs nothing:
 *
 * Choice:   Taking a job ahead must not leave another worker without one. A device may do so if, by the expected times, the queue holds more jobs than
 *           there are workers that become idle before it does, plus one for itself. Jobs that only this unit can run are not counted, since nobody else
 *           waits for them.
 * Locality: With `--dl`, the device waits for a reader of its last job's outputs in place of taking another job ahead (locality.h), provided that the
 *           reader runs long enough to hide the next job's copies. Otherwise an idle worker would take the reader and have its input copied back.
 *
 * Waking:   A device that was refused tries again when a job is pushed for it. taken() also wakes refused devices: the worker that took a job becomes idle
 *           later, which can change the answer.
 *
 * Threads:  Any thread may call any function except init(). The counters are relaxed, so concurrent changes may be missed; but if a device asks while a
 *           worker takes a job, at least one of the two sees the other's store (sequentially consistent fences).
 */
#ifndef DFR_AHEAD_H
#define DFR_AHEAD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/policy/policy.h"

struct dfr_ahead {
    const struct dfr_view *view;
    _Atomic uint32_t n_shared[DF_MAX_UNITS]; /* queued jobs that the unit can run, and others too */
    _Atomic double idle_s[DF_MAX_WORKERS + DF_MAX_UNITS]; /* when the worker is expected to end the jobs that it took */
    _Atomic uint64_t last[DF_MAX_UNITS];/* the job that the unit took last */
    _Atomic bool asked[DF_MAX_UNITS];   /* the unit has asked for a job ahead, and no worker has taken a job since */
    double copies_s[DF_MAX_UNITS];      /* the longest that the inputs of a node take to come to the unit */
};

void dfr_ahead_init(struct dfr_ahead *ahead, const struct dfr_view *view);

/* Reports that a job is about to be queued, and that a worker has taken it from the queue. */
void dfr_ahead_pushed(struct dfr_ahead *ahead, uint64_t job);
void dfr_ahead_taken(struct dfr_ahead *ahead, uint64_t job, uint32_t worker);

/* Returns true if the worker may take a job now (Choice). A worker that can start it at once always may. */
bool dfr_ahead_may(struct dfr_ahead *ahead, uint32_t worker);

/* Returns true if the worker should wait for a reader of its last job's outputs (Locality). least: the least speedup at which such a reader is preferred. */
bool dfr_ahead_awaits(const struct dfr_ahead *ahead, uint32_t worker, double least);

#endif
