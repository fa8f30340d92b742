/* steal.h - work stealing: what a worker does that has no jobs, in a run whose ready jobs lie in the workers' deques
 * (deque.h). Such a worker, the *thief*, takes the older half of another worker's deque, the *victim's*.
 *
 * Order:     a worker runs its newest job first. That leaves the oldest jobs, on which most depends, to thieves.
 * Worth:     nobody steals from a worker whose jobs are shorter than DFR_WORTH_S, because two workers would need longer
 *            for them than one. A thief watches for DFR_WATCH_S how many jobs its victim ends. If they are too short, the
 *            thief takes a nap before it looks again, and each nap is longer than the one before. This costs the victim
 *            nothing.
 * Sleeping:  a worker that finds no victim spins briefly and then sleeps, until a worker has more jobs than it runs next.
 * Alone:     while no other worker has jobs, the counters of the firing rule need no atomic operations. A thief adds
 *            itself to `n_active` before it closes its victim's gate, so the victim knows when it comes back in. A
 *            worker without jobs subtracts itself. That releases all it did to those who then find themselves alone.
 * Memory:    create() allocates a deque for each worker; destroy() frees them.
 */
#ifndef DFR_STEAL_H
#define DFR_STEAL_H

#include "runtime/engine/engine.h"
#include "runtime/threads/deque.h"

#define DFR_WORTH_S 200e-9
#define DFR_WATCH_S 2e-6

/* What a worker has learned about being without jobs. */
struct dfr_idle {
    bool long_jobs;                     /* the jobs that it had last were worth it: it steals again without watching */
    bool short_jobs;                    /* those, or the ones that it watched, were not: it takes a nap first */
    int64_t nap_ns;                     /* of the next nap; 0: the first one */
};

int dfr_steal_create(struct df_run *run, struct df_error *error);
void dfr_steal_destroy(struct df_run *run);

/* A worker that has jobs to steal; NULL: none. */
struct dfr_deque *dfr_steal_victim(const struct df_run *run, const struct dfr_worker *thief);

/* One attempt on this victim; it may watch, nap or give up. key: dfr_wake_key() from before the victim was found.
 * true: the thief's own deque has jobs now. */
bool dfr_steal(struct df_run *run, struct dfr_worker *thief, struct dfr_deque *victim, uint32_t key,
               struct dfr_idle *idle);

/* A worker has run `n_jobs` jobs in `busy_s`, and has none left. */
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
