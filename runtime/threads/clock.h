/* clock.h - the one clock of a run: seconds on a clock that never steps back. Its origin is unknown.
 *
 * Room:     runtime/threads/ holds what threads need of a machine, and knows no graph: this clock, cores, sleeping and
 *           waking, the queue of jobs and the work-stealing deque.
 * Threads:  any; readings of one machine's threads can be compared.
 */
#ifndef DFR_CLOCK_H
#define DFR_CLOCK_H

#include <stdbool.h>

double dfr_clock_s(void);

/* Nominal time, for a run that is rehearsed (runtime/rehearse/). A thread that *enters* a nominal time has a clock of
 * its own from then on: dfr_clock_s() gives the *moment* of this thread, which is the nominal time of what it does now.
 * The moment moves when the thread says so, and when the thread has fallen more than DFR_FORGIVEN_S behind. So the
 * lateness of a wake-up below that is forgotten, and what is later counts as real. */
#define DFR_SETTLE_S 0.5e-3             /* real seconds in which all that happens at one moment has been seen; a worker
                                         * of the host waits for twice as long */
#define DFR_LATE_S 1e-3                 /* real seconds beyond which a wake-up counts as late */
#define DFR_FORGIVEN_S (2 * DFR_SETTLE_S + 2 * DFR_LATE_S) /* it was late, or waited for another that was */

struct dfr_nominal {
    double origin_s;                    /* the real time of nominal time 0 */
    double scale;                       /* real seconds of one nominal second */
};

void dfr_nominal_enter(const struct dfr_nominal *nominal); /* NULL: the thread leaves it. Borrowed until then */
/* Asks the system to let this thread go before all others when it wakes. Without the right to that, nothing changes: the
 * thread is then late whenever others compute on its core. It is for threads that wait nearly always. */
void dfr_nominal_be_prompt(void);
double dfr_nominal_moment_s(void);
/* Moves the moment to at least `cause_s`. With `late`, to the real time if the thread is too late for that. */
void dfr_nominal_move(double cause_s, bool late);
/* Sleeps until the nominal time `until_s` has come, and `more_s` real seconds. Gives by how many real seconds the thread
 * woke later than that; 0: there was nothing to sleep for. It does not move the moment. */
double dfr_nominal_sleep(const struct dfr_nominal *nominal, double until_s, double more_s);
double dfr_nominal_real_s(const struct dfr_nominal *nominal); /* the real time, as a nominal one */
double dfr_nominal_until_s(const struct dfr_nominal *nominal, double nominal_s); /* that time, on CLOCK_MONOTONIC */

/* Returns at `deadline_s` of that clock, or a little later. It sleeps for the long part, so that many waiting threads
 * do not burn the cores that others compute on, and spins for the last few microseconds only. */
void dfr_clock_wait_until(double deadline_s);

#endif
