/* rehearsal.h - a run that is rehearsed. Its engine, threads, queues, policies, waves and the bookkeeping of memory are
 * the real ones. But a kernel is a wait of its expected time, and a copy is a wait of its link's time. Waiting takes no
 * core, so a machine with any number of workers and devices can be rehearsed on a few cores.
 *
 * Room:     runtime/rehearse/ has the times of jobs in a rehearsal, and the back end whose streams only wait
 *           (rehearse_device.c). It knows graphs and devices, and no run: the engine calls it.
 * Words:    *Nominal* time is what the rehearsed machine's clock would say (threads/clock.h). The *moment* of a thread
 *           is the nominal time of what it does. A rehearsal's *scale* is how many real seconds a nominal one takes.
 * Times:    A job's *cause* is the latest nominal end of the jobs and copies that it waited for. A job begins at the
 *           later of its cause and the moment of its worker, and ends its expected time after that. The worker sleeps
 *           until that absolute time, so the lateness of one wake-up is not added to the next one's.
 * Lateness: a worker that wakes from a job more than DFR_LATE_S too late ends the job at the real time. A thread that is
 *           for any other reason more than DFR_FORGIVEN_S behind (clock.h) has its moment moved to the real time.
 *           Less is forgotten. All of it is counted.
 * Settling: who sleeps is told of a moment a little later in real time. So a worker waits for DFR_SETTLE_S real seconds
 *           after a moment before it takes its next job: then all who take one have been told. Workers of the host wait
 *           for twice as long.
 * Order:    threads act in the order of nominal time (turns.h). At one moment all that ends there comes before all jobs
 *           that are taken there: what devices see first, jobs of the host by wave and node; then devices take
 *           jobs, and workers of the host by number, and then devices that take a further job ahead. That is as in virtual time.
 * Memory:   dfr_rehearsal_create() allocates all, dfr_rehearsal_destroy() frees it. The graph is borrowed.
 * Threads:  all calls but create, begin, destroy and stats from any thread that has entered.
 */
#ifndef DFR_REHEARSAL_H
#define DFR_REHEARSAL_H

#include "runtime/device/device.h"
#include "runtime/graph/graph.h"
#include "runtime/threads/clock.h"

#define DFR_REHEARSED_JOB_S 5e-3        /* without a stated scale: the median job takes so many real seconds, */
#define DFR_REHEARSED_RUN_S 30.0        /* unless the run would take longer than this */

struct dfr_rehearsal;

/* The scale for a graph if none was stated. job_s: a time for each node; run_s: how long the run will take at most, in
 * nominal seconds. DF_E_MEMORY. */
int dfr_rehearsal_scale(const double *job_s, uint32_t n_nodes, double run_s, double *scale, struct df_error *error);

/* n_slots: waves in flight. */
int dfr_rehearsal_create(const struct df_graph *graph, uint32_t n_slots, uint32_t n_workers, double scale,
                         struct dfr_rehearsal **rehearsal, struct df_error *error);
void dfr_rehearsal_destroy(struct dfr_rehearsal *r);

/* The calling thread is that worker's: it has its clock and its turns from now on. */
void dfr_rehearsal_enter(struct dfr_rehearsal *r, uint32_t worker);
/* Nominal time 0 is `ahead_s` real seconds from now. */
void dfr_rehearsal_begin(struct dfr_rehearsal *r, double ahead_s);
const struct dfr_nominal *dfr_rehearsal_nominal(const struct dfr_rehearsal *r);

/* ---- jobs; `slot` and `node` as in a policy's job ---- */

/* A wave begins in the slot; in slot n_slots, what fires once after the waves. */
void dfr_rehearsal_begin_wave(struct dfr_rehearsal *r, uint32_t slot, int64_t wave);
/* The job has all that it waited for. `now`: it waited for more than its inputs, for the last of it until this thread's
 * moment. */
void dfr_rehearsal_ready(struct dfr_rehearsal *r, uint32_t slot, uint32_t node, bool now);
/* The job's last input has come by a copy, which this thread has just seen to end. */
void dfr_rehearsal_arrived(struct dfr_rehearsal *r, uint32_t slot, uint32_t node);
/* This thread has taken the job: its moment becomes the job's beginning. */
void dfr_rehearsal_take(const struct dfr_rehearsal *r, uint32_t slot, uint32_t node);
/* Waits in place of the kernel, and ends the job. */
void dfr_rehearsal_wait(struct dfr_rehearsal *r, uint32_t slot, uint32_t node, double seconds);
/* The job has ended at that time. */
void dfr_rehearsal_ended(struct dfr_rehearsal *r, uint32_t slot, uint32_t node, double end_s);
double dfr_rehearsal_cause_s(const struct dfr_rehearsal *r, uint32_t slot, uint32_t node);

/* Lists of jobs; a job is in one at a time. *first: DFR_NO_REHEARSED, or the newest one. */
#define DFR_NO_REHEARSED UINT64_MAX
void dfr_rehearsal_push(struct dfr_rehearsal *r, uint64_t *first, uint64_t job);
uint64_t dfr_rehearsal_pop(struct dfr_rehearsal *r, uint64_t *first);
void dfr_rehearsal_sort(struct dfr_rehearsal *r, uint64_t *first); /* by wave, then by node */

/* ---- threads that meet ---- */

/* This thread makes something known to the workers of the unit, at its moment. */
void dfr_rehearsal_tell(struct dfr_rehearsal *r, uint32_t unit);
/* Announces that the unit's workers first … first + n - 1 will look at what this thread has made known: no thread acts at a later moment before all of
 * them have looked. Call it after making it known and before waking them. */
void dfr_rehearsal_call(struct dfr_rehearsal *r, uint32_t unit, uint32_t first, uint32_t n);
/* The moment of the last thing that the unit's workers were told. */
double dfr_rehearsal_told_s(const struct dfr_rehearsal *r, uint32_t unit);
/* A device's worker looks at what it was told: its moment is not before that. It looks at what it was called for before it
 * sees anything that happened after called_s(), which is INFINITY once it has looked and expects something. */
void dfr_rehearsal_listen(struct dfr_rehearsal *r, uint32_t unit);
double dfr_rehearsal_called_s(const struct dfr_rehearsal *r, uint32_t unit);
/* A worker of the unit calls it before it takes a job. It waits until everything that happens at the worker's moment has been seen and it is the worker's
 * turn. Until the worker waits for something else, no thread acts at a later moment. A worker that finds no job calls idle().
 * `ahead`: a device takes a job in advance; if it has asked for one at this moment before, the host's workers come first.
 * Returns false if a device's worker was called for something else, which it has to look at first. */
bool dfr_rehearsal_settle(struct dfr_rehearsal *r, uint32_t unit, uint32_t worker, bool ahead);
void dfr_rehearsal_idle(void);
/* A device's worker will see something at that moment. INFINITY: the moment is unknown. */
void dfr_rehearsal_expect(struct dfr_rehearsal *r, uint32_t unit, double at_s);
/* A device's worker sees something that happened at at_s, once it is its turn. false: others have acted meanwhile, so it
 * looks first at what they have told it. */
bool dfr_rehearsal_see(double at_s);

/* Gangs: a worker joins at its moment; the leader begins when all have joined, and they go on when it has ended. While the
 * gang gathers, no thread waits for its members' turns. The leader calls gather() first. */
void dfr_rehearsal_gather(void);
void dfr_rehearsal_join(struct dfr_rehearsal *r);
void dfr_rehearsal_lead(const struct dfr_rehearsal *r);
void dfr_rehearsal_part(struct dfr_rehearsal *r, bool leader);

/* ---- what is counted ---- */

/* A thread saw something that happened at `end_s`, so many real seconds too late. */
void dfr_rehearsal_late(struct dfr_rehearsal *r, double late_s);
double dfr_rehearsal_end_s(const struct dfr_rehearsal *r); /* of the last job */
/* Fills stats->rehearsal. */
void dfr_rehearsal_stats(const struct dfr_rehearsal *r, struct df_stats *stats);

#endif
