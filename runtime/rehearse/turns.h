/* turns.h - the threads of a rehearsal act in the order of nominal time. Wake-ups come a little out of order, and jobs
 * that end at one moment end in any order. So each thread *announces* when it will act next, and then *awaits* its turn:
 * it waits until nobody has announced something earlier. What happens at one moment has an order, too.
 *
 * Called:   A thread that sleeps does not know that another has made something known to it. Until it wakes up, others
 *           would act before it. So who wakes it *calls* it first: that announces what it will do.
 * Late:     A thread waits no longer than DFR_AWAIT_S real seconds after its own moment. So a thread that is late holds
 *           the others up for that long, and what it does then is a race, as it would be without turns.
 * Memory:   create() allocates all.
 * Threads:  A thread that has not entered has no turn, and all calls do nothing. create and destroy: one thread, while
 *           nobody has entered.
 */
#ifndef DFR_TURNS_H
#define DFR_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/threads/clock.h"

#define DFR_AWAIT_S (2 * DFR_SETTLE_S + DFR_LATE_S)

struct dfr_turns;

/* n: threads that may enter, with numbers below n. NULL: no memory. */
struct dfr_turns *dfr_turns_create(uint32_t n, const struct dfr_nominal *nominal);
void dfr_turns_destroy(struct dfr_turns *turns);        /* may be NULL */

void dfr_turns_enter(struct dfr_turns *turns, uint32_t number); /* NULL: this thread leaves */
/* This thread will act at that nominal time; INFINITY: nobody knows when. `order`: its place among those that act at the
 * same time. */
void dfr_turns_announce(double at_s, uint64_t order);
/* As announced for INFINITY, and from now on this thread may be called: it looks at what there is before it sleeps. */
void dfr_turns_idle(void);
/* Thread `number` will act at that nominal time, too, because it is told something then that it can see already. Any
 * thread may call. Threads that do not listen are not called. */
void dfr_turns_call(struct dfr_turns *turns, uint32_t number, double at_s, uint64_t order);
/* Comes before this thread looks at what it may have been called for: that has become its own announcement. `again`: it
 * may be called while it looks; else once it is idle. Gives the time that it was called for, or INFINITY. */
double dfr_turns_hear(bool again);
/* Returns when this thread is the next one to act of those that have announced, or when it is called for an earlier time.
 * false: others have acted meanwhile. */
bool dfr_turns_await(void);
bool dfr_turns_called(void);            /* for an earlier time than this thread has announced */

#endif
