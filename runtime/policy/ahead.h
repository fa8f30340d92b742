/* ahead.h - `--prefetch` with policies that decide when a job is taken: whether a device may take a job that it cannot
 * begin yet, so that the job's inputs are copied while another job computes. That job is taken *ahead*.
 *
 * No other worker can take such a job any more, and the device itself can no longer choose a better one. So it takes a
 * job ahead only if that costs nothing:
 *
 * Choice:   By the expected times, some workers will be idle sooner than the device. Each of them finds a job in the
 *           queue without this one, and one more remains: the last of them still has a choice, and so has the device in
 *           the end. Jobs that one unit alone can run are not counted: nobody else waits for them.
 * Locality: With `--dl`, a reader of what the device's last job makes is preferred to a job that is taken now (locality.h).
 *           That reader will need no copies, and it takes long enough to hide those of the job after it. So the device
 *           waits for it. Otherwise an idle worker would take it, and have its input copied back.
 *
 * Waking:   A device that may not take a job ahead tries again when a job is pushed for it. The answer also changes when a worker takes
 *           a job, because it will then be idle later. So taken() wakes the devices that have asked and got no job.
 *
 * Threads:  Any thread may call any function but init(). The counts are relaxed: concurrent changes may be missed. But if a device asks
 *           while a worker takes a job, at least one of the two sees the other (sequentially consistent fences).
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

/* A job is about to be queued; a worker has taken it from the queue. */
void dfr_ahead_pushed(struct dfr_ahead *ahead, uint64_t job);
void dfr_ahead_taken(struct dfr_ahead *ahead, uint64_t job, uint32_t worker);

/* May the worker take a job now, by the rule of choice? A worker that can begin it at once always may. */
bool dfr_ahead_may(struct dfr_ahead *ahead, uint32_t worker);

/* Does the worker wait for a reader of what its last job makes, by the rule of locality? least: the speedup that such a
 * reader needs to be preferred. */
bool dfr_ahead_awaits(const struct dfr_ahead *ahead, uint32_t worker, double least);

#endif
