/* clock.h - the clock of a run: seconds on a monotonic clock with an unspecified origin; and nominal time, for rehearsed runs.
 *
 * Room:     runtime/threads/ holds what threads need of a machine, and knows no graph: this clock, cores, sleeping and waking, the job queue and the
 *           work-stealing deques.
 * Threads:  any; readings of different threads of one machine can be compared.
 */
#ifndef DFR_CLOCK_H
#define DFR_CLOCK_H

#include <stdbool.h>

double dfr_clock_s(void);

/* Nominal time: a scaled clock for runs whose threads only wait (runtime/rehearse/). A thread that enters a nominal time has
 * a clock of its own: dfr_clock_s() returns the thread's *moment*, the nominal time of what the thread does. A moment is the
 * deadline of the thread's last wait, or the moment of the thread that woke it (wake.h), so the lateness of wake-ups does
 * not add up. A thread that is more than DFR_FORGIVEN_S behind is at the real time instead. */
#define DFR_LATE_S 1e-3                 /* real seconds: a thread that wakes later than this has its moment at the real time */
#define DFR_SETTLE_S 0.5e-3             /* a thread may act so much later than its moment on purpose */
#define DFR_FORGIVEN_S (DFR_SETTLE_S + 1.5 * DFR_LATE_S)

struct dfr_nominal {
    double origin_s;                    /* the real time of nominal time 0 */
    double scale;                       /* real seconds of one nominal second */
};

void dfr_nominal_enter(const struct dfr_nominal *nominal); /* NULL: the thread leaves it. Borrowed until then */
/* Requests real-time priority. Without the right to it nothing changes, and the thread is late whenever others compute on
 * its core. It is for threads that wait nearly always. */
void dfr_nominal_be_prompt(void);
/* The following calls are for threads that have entered; for others, moment_s() returns 0 and the others do nothing. */
double dfr_nominal_moment_s(void);
void dfr_nominal_move(double at_s);     /* to a moment that is not before at_s */
void dfr_nominal_catch_up(void);        /* to the real time */
double dfr_nominal_real_s(void);        /* the real time as a nominal one */
double dfr_nominal_left_s(double until_s); /* real seconds until then; less than 0: it has passed */
/* Sleeps until `more_s` real seconds after that nominal time, and moves to that nominal time. Returns by how many real
 * seconds it woke late; 0 if it did not sleep. */
double dfr_nominal_sleep(double until_s, double more_s);

/* Waits until `deadline_s` on that clock. It sleeps for most of the time, so that waiting threads do not take cores from computing ones, and spins for the last
 * few microseconds only. */
void dfr_clock_wait_until(double deadline_s);

#endif
