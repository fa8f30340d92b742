/* steal.h - work stealing: what a worker without jobs does, in a run whose ready jobs lie in the workers' deques
 * (deque.h). Such a worker, the *thief*, takes the older half of the deque of another worker, its *victim*. The loop in
 * worker.c calls these functions.
 *
 * Order:     a worker runs its newest job first. That leaves the oldest jobs, on which most depends, to thieves.
 *            An ordered node's job of the next wave counts as older than what this wave's job makes ready.
 * Waves:     if its jobs take DFR_LONG_S and more, a worker's next job is one of an ordered node or a stream, if there is one, and else one of the oldest
 *            wave. The first ones run one after the other, so whoever waits for them waits longest: a file is read ahead of the jobs that need it. A wave
 *            that fell behind would keep all later ones waiting. A worker looks at how long its jobs are if it was stolen from of late, or if owners
 *            always use fences (deque.h).
 * Worth:     nobody steals from a worker whose jobs are shorter than DFR_WORTH_S, because two workers would need longer
 *            for them than one. A thief watches for DFR_WATCH_S how many jobs its victim ends. If they are too short,
 *            the thief takes a nap before it looks again, and each nap is longer than the one before. This costs the
 *            victim nothing.
 * Sleeping:  a worker that finds no victim spins briefly and then sleeps, until a worker has more jobs than it runs
 *            next.
 * Alone:     while no other worker has jobs, the counters of the firing rule need no atomic operations. A thief adds
 *            itself to `n_active` before it closes its victim's gate. So the victim knows it when it comes back in. A
 *            worker without jobs subtracts itself, with release: all that it did is there for a worker that then finds
 *            itself alone.
 * Memory:    create() allocates a deque for each worker. destroy() frees them.
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
