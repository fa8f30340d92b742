/* steps_rig.h - small concurrent programs, one atomic operation at a time, under every schedule with few preemptions
 * (Musuvathi & Qadeer, PLDI 2007): bugs of lock-free code need one or two at the right place, which a stress test meets
 * by luck and this always.
 *
 * A test compiles the code in question into itself, with atomic operations that first give way. Threads are coroutines
 * of one thread, so what is explored is interleavings, not weak memory.
 */
#ifndef STEPS_RIG_H
#define STEPS_RIG_H

#include <stdbool.h>
#include <stdint.h>

enum { STEPS_THREADS = 4, STEPS_MOST = 2000 };

struct steps {
    unsigned n_threads;
    void (*begin)(void *arg);           /* before each run */
    void (*thread)(void *arg, unsigned number);
    bool (*end)(void *arg, bool ended); /* after it; ended: all threads did. false: it was wrong, and the test fails */
    void *arg;
};

/* All schedules with at most so many preemptions, in order, each run anew. Gives how many there were, or 0: one was
 * wrong, and after it no more were run. */
unsigned steps_explore(const struct steps *steps, unsigned preemptions);

/* Thread 0 stops for good after each number of its steps, then thread 1 runs alone, to its end: it is `ended` that says
 * whether thread 1 did. Gives how many numbers there are, or 0. */
unsigned steps_explore_stopped(const struct steps *steps);

/* ---- for the threads; before and after a run they do nothing ---- */

void steps_give_way(void);              /* before each atomic operation */
void steps_yield(void);                 /* the same, and to run another now is no preemption */
void steps_spin(void);                  /* the same, and the next that can run goes on */
void steps_block(void);                 /* until another thread unblocks this one */
void steps_unblock(unsigned thread);
unsigned steps_me(void);

/* What futex(2) does with FUTEX_WAIT_PRIVATE (seen: value) and FUTEX_WAKE_PRIVATE: of those who wait the first is
 * woken, and a time is over when others have had their turn. */
long steps_futex(const uint32_t *word, int op, uint32_t value, bool forever);

/* The thread sanitizer does not follow coroutines, and has nothing to find in one thread. */
void steps_skip_under_tsan(void);

#endif
