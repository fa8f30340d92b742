/* clock.h - the one clock of a run: seconds on a clock that never steps back. Its origin is unknown.
 *
 * Room:     runtime/threads/ holds what threads need of a machine, and knows no graph: this clock, cores, sleeping and
 *           waking, the queue of jobs and the work-stealing deque.
 * Threads:  any; readings of one machine's threads can be compared.
 */
#ifndef DFR_CLOCK_H
#define DFR_CLOCK_H

double dfr_clock_s(void);

/* Returns at `deadline_s` of that clock, or a little later. It sleeps for the long part, so that many waiting threads
 * do not burn the cores that others compute on, and spins for the last few microseconds only. */
void dfr_clock_wait_until(double deadline_s);

#endif
