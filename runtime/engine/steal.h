/* steal.h - work stealing, for runs whose ready jobs are in the workers' deques (threads/deque.h). A worker without jobs, the
 * *thief*, takes the older half of another worker's deque, its *victim*'s. The loop in worker.c calls these functions.
 *
 * Order:    a worker runs its newest job first, which leaves the oldest jobs, on which most others depend, to thieves.
 *           An ordered node's job of the next wave counts as older than what this wave's job makes ready.
 * Waves:    if its jobs take DFR_LONG_S or more, a worker next runs a job of an ordered node or a stream, if there is
 *           one, and else one of the oldest wave. Jobs of the former are serialised, so whatever depends on them waits
 *           longest: a file, for example, is read ahead of the jobs that need it. A wave that fell behind would hold up
 *           all later ones. A worker checks the length of its jobs if it was recently stolen from, or if owners always
 *           use fences (threads/deque.h).
 * Worth:    a worker whose jobs are shorter than DFR_WORTH_S is not stolen from, because two workers would need longer
 *           for them than one. A thief counts for DFR_WATCH_S how many jobs its victim ends. If they are too short, it
 *           naps before it looks again, longer each time. This costs the victim nothing.
 * Sleeping: a worker that finds no victim spins briefly and then sleeps, until some worker has more jobs than the one
 *           that it runs next.
 * Alone:    while no other worker has jobs, the counters of the firing rule need no atomic operations. A thief
 *           increments `n_active` before it closes its victim's gate, so the victim sees it when it re-enters. A worker
 *           without jobs decrements it with release, so that a worker which then finds itself alone sees everything
 *           that it did.
 * Memory:   create() allocates a deque for each worker; destroy() frees them.
 */
#ifndef DFR_STEAL_H
#define DFR_STEAL_H

#include "runtime/engine/engine.h"
#include "runtime/threads/deque.h"

#define DFR_WORTH_S 200e-9              /* shorter jobs are not worth a theft */
#define DFR_WATCH_S 2e-6                /* how long a thief watches its victim */
#define DFR_LONG_S 20e-6                /* next to that, looking through a deque takes no time */

/* What a worker has learned about being without jobs. */
struct dfr_idle {
    bool long_jobs;                     /* its own last jobs were worth it: it steals again without watching */
    bool short_jobs;                    /* those, or the ones that it watched, were not: it takes a nap first */
    int64_t nap_ns;                     /* of the next nap; 0: the first one */
};

int dfr_steal_create(struct df_run *run, struct df_error *error);
void dfr_steal_destroy(struct df_run *run);

/* The deque of a worker that has jobs to steal. NULL: no worker has. */
struct dfr_deque *dfr_steal_victim(const struct df_run *run, const struct dfr_worker *thief);

/* Takes the next job of a worker whose jobs may be long, and whose deque is not empty: `kept`, or one of the deque. */
uint64_t dfr_steal_next(const struct df_run *run, struct dfr_worker *w);

/* One attempt to steal from this victim. The thief may watch, take a nap or give up. key: dfr_wake_key() from before
 * the victim was found. true: the thief's own deque has jobs now. */
bool dfr_steal(struct df_run *run, struct dfr_worker *thief, struct dfr_deque *victim, uint32_t key,
               struct dfr_idle *idle);

/* Called by a worker that has run `n_jobs` jobs in `busy_s` seconds and has none left. */
void dfr_steal_rest(struct df_run *run, struct dfr_idle *idle, double busy_s, uint64_t n_jobs);

/* Wakes one sleeper, if there is one. Called by a worker that has more jobs than it runs next. */
static inline void dfr_steal_wake(struct df_run *run)
{
    if (run->threads.fences)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst); /* the sleeper's barrier does the rest (deque.h) */
    if (dfr_wake_is_wanted(&run->threads.wakes[0]))
        dfr_wake_one(&run->threads.wakes[0]);
}

#endif
