/* steps_rig.h - runs small concurrent programs, one atomic operation at a time, under every schedule with few
 * preemptions (Musuvathi & Qadeer, PLDI 2007). Bugs of lock-free code need one or two preemptions at the right place. A
 * stress test finds such a place by luck; this rig always finds it.
 *
 * A test compiles the code in question into itself. The atomic operations of this code first *give way*: another thread
 * may run before them. Threads are coroutines of one thread. So the rig explores interleavings, not weak memory.
 */
#ifndef STEPS_RIG_H
#define STEPS_RIG_H

#include <stdbool.h>
#include <stdint.h>

enum { STEPS_THREADS = 4, STEPS_MOST = 2000 };

struct steps {
    unsigned n_threads;
    void (*begin)(void *arg);           /* called before each run */
    void (*thread)(void *arg, unsigned number);
    bool (*end)(void *arg, bool ended); /* called after it. ended: all threads did. Gives false if the run was wrong */
    void *arg;
};

/* Runs all schedules with at most so many preemptions, in order, each from the beginning. Gives their number. 0: a run
 * was wrong, and no more were run after it. */
unsigned steps_explore(const struct steps *steps, unsigned preemptions);

/* One run for each number of steps of thread 0: thread 0 stops for good after so many steps, then thread 1 runs alone
 * to its end. `ended` says whether thread 1 ended. Gives the number of runs. 0: a run was wrong. */
unsigned steps_explore_stopped(const struct steps *steps);

/* ---- called by the threads; before and after a run these functions do nothing ---- */

void steps_give_way(void);              /* called before each atomic operation */
void steps_yield(void);                 /* the same; if another thread runs now, that is no preemption */
void steps_spin(void);                  /* the same; the next thread that can run goes on */
void steps_block(void);                 /* waits until another thread unblocks this one */
void steps_unblock(unsigned thread);
unsigned steps_me(void);

/* Does what futex(2) does with FUTEX_WAIT_PRIVATE (`value` is what the caller has seen) and FUTEX_WAKE_PRIVATE. The
 * thread that has waited longest is woken first. A wait with a time limit is over when other threads have had their
 * turn. */
long steps_futex(const uint32_t *word, int op, uint32_t value, bool forever);

/* Skips the test in builds with the thread sanitizer. It cannot follow coroutines, and finds nothing in one thread. */
void steps_skip_under_tsan(void);

#endif
