/* turns.h - makes the threads of a rehearsal act in the order of nominal time, although the system wakes them slightly out of order. Each thread
 * *announces* the time of its next action, and then *awaits* its turn: it waits until no other thread has announced an earlier action. Actions at the same
 * time have an order, too.
 *
 * Called:   A sleeping thread cannot announce that it will act on what another thread does for it. So the other thread *calls* it before waking it, which
 *           announces its action.
 * Late:     A thread waits at most DFR_AWAIT_S real seconds after its own time. A thread that is later than that acts out of order.
 * Memory:   create() allocates all.
 * Threads:  For a thread that has not entered, all calls do nothing. create() and destroy() are called by one thread while no thread
 *           has entered.
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
/* This thread will act at that nominal time; INFINITY: the time is unknown. `order`: its place among actions at the
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
