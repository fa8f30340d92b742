/* direct.h - direct runs: those in which a job needs nothing but to be called. All jobs run on the host, tokens have
 * fixed addresses (tokens.h), nobody wants to know when each job began, and the policy lets any worker run any job.
 * Then no policy is asked: each worker keeps the jobs that it releases in a pile of its own (pile.h) and runs the
 * newest first; a worker that has none robs another's older half.
 *
 * Order:               the newest first, which leaves the oldest, on which most depends, to robbers; in graphs larger
 *                      than the caches the newest jobs take turns, so that there is time to ask for the memory of each.
 * When a worker robs:  never of a worker whose jobs are shorter than DFR_WORTH_S: with two workers these would take
 *                      longer than with one. So a worker without jobs watches for DFR_WATCH_S how many its victim ends,
 *                      and where they are too short takes a nap before it looks again, a longer one each time. All this
 *                      costs the victim nothing.
 * Sleeping:            a worker that finds nothing to rob spins briefly and sleeps, until a worker has more jobs than
 *                      it runs next.
 * Alone:               while no other worker has jobs, counters need no atomic operations. A robber counts itself in
 *                      before it closes the gate, so its victim knows when it comes back in; a worker without jobs
 *                      counts itself out, which releases all it did to those who then find themselves alone.
 * Times:               a worker is busy from when it has jobs until it has none.
 */
#ifndef DFR_DIRECT_H
#define DFR_DIRECT_H

#include "runtime/engine/engine.h"

#define DFR_WORTH_S 200e-9
#define DFR_WATCH_S 2e-6

bool dfr_direct_applies(const struct df_run *run);
int dfr_direct_create(struct df_run *run, struct df_error *error);
void dfr_direct_destroy(struct df_run *run);

#endif
