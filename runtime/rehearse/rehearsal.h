/* rehearsal.h - a rehearsed run has the real engine, threads, queues, policies and bookkeeping of memory, but its kernels
 * and copies are waits of their expected times. Waiting takes no core, so a machine with any number of workers and devices
 * can be rehearsed on a few cores.
 *
 * Room:     runtime/rehearse/ has the waits of kernels, and the back end whose streams only wait (rehearse_device.c). It
 *           knows devices and clocks, and no run: start/run_rehearse.c replaces kernels and back ends by them.
 * Words:    *Nominal* time is what the rehearsed machine's clock would say (threads/clock.h). A rehearsal's *scale* is how
 *           many real seconds a nominal one takes.
 * Times:    A job begins at its thread's moment, and the thread sleeps until an absolute deadline. That deadline is the
 *           thread's next moment, so the lateness of wake-ups does not add up.
 * Lateness: of each wake-up is counted, in real seconds. One beyond DFR_LATE_S makes the thread's moment the real time.
 * Threads:  wait() and see() from threads that have entered; the others from the thread that makes and ends the run.
 */
#ifndef DFR_REHEARSAL_H
#define DFR_REHEARSAL_H

#include <stdbool.h>

#include "runtime/policy/policy.h"

#define DFR_REHEARSED_JOB_S 5e-3        /* without a stated scale: the median job takes so many real seconds, */
#define DFR_REHEARSED_RUN_S 30.0        /* unless the run would take longer than this */

struct dfr_rehearsal;

/* The scale for a graph if none was stated. job_s: a time for each node; run_s: how long the run will take at most, in
 * nominal seconds. DF_E_MEMORY. */
int dfr_rehearsal_scale(const double *job_s, uint32_t n_nodes, double run_s, double *scale, struct df_error *error);

int dfr_rehearsal_create(double scale, struct dfr_rehearsal **rehearsal, struct df_error *error);
void dfr_rehearsal_destroy(struct dfr_rehearsal *r);

/* Nominal time 0 is `ahead_s` real seconds from now. */
void dfr_rehearsal_begin(struct dfr_rehearsal *r, double ahead_s);
/* The calling thread takes part, in nominal time, from now on. NULL: it leaves. */
void dfr_rehearsal_enter(struct dfr_rehearsal *r);

void dfr_rehearsal_wait(double seconds); /* in place of a kernel */
/* The thread has seen that something of a device ended then. `slept`: it slept until that time. */
void dfr_rehearsal_see(double end_s, bool slept);

/* The policy, for a run in which CPU workers look for a job DFR_SETTLE_S real seconds after their moment: by then devices have
 * taken theirs, which come first in virtual time. It lives as long as the rehearsal. */
const struct dfr_policy *dfr_rehearsal_policy(struct dfr_rehearsal *r, const struct dfr_policy *policy, uint32_t n_cpu_workers);

/* Fills stats->rehearsal, and stats->makespan_s: from time 0 to the last end that a thread has waited for or seen. */
void dfr_rehearsal_stats(const struct dfr_rehearsal *r, struct df_stats *stats);

#endif
