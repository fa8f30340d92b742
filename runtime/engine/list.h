/* list.h - the loop of a run with one CPU worker and no devices. Such a worker runs its jobs in the same order in every
 * wave, whatever the policy is, so the order is computed before the run by asking the policy, and the worker simply
 * calls one kernel after the other. It counts, releases and looks up nothing. runtime/start/ builds the list and starts
 * the loop.
 *
 * When:     with one worker and no device, and neither a trace nor an inspecting option, which need to see each job.
 * Order:    the one in which the policy's push and pop yield the jobs of a wave. What fires once comes first, before
 *           wave 0, or, if final, last, each in the order of its numbers. In a wave streams come first, because nothing
 *           else of a wave may fire before all of them have delivered. The other nodes follow in topological order.
 * Waves:    run one after the other, all in slot 0.
 * Streams:  a stream that ends lowers the run's number of waves. Streams are the first jobs of a wave, so at that point
 *           no other job of the wave has run.
 * Sessions: jobs shorter than DFR_WORTH_S (steal.h) are not worth sharing, and even waking a worker takes as long as
 *           many of them. If a call of a session with deques had such jobs, the next call runs all jobs from a list, in
 *           the order of their numbers, on the calling thread. If the jobs of that call turn out to be longer, the
 *           following calls are shared again: one the first time, then two, four, … up to 64. Calls that alternate
 *           between short and long jobs are thus nearly always shared.
 * Memory:   4 bytes per node. The tables of the firing rule and the policy are freed once the list exists.
 */
#ifndef DFR_LIST_H
#define DFR_LIST_H

#include "runtime/engine/engine.h"

struct dfr_list {
    uint32_t n_once, n_wave, n_final;
    uint32_t *nodes;                    /* what fires before the waves, the nodes of a wave, what fires after the waves */
};

/* Needs the policy's state. Makes run->threads.list, and destroys the policy's state. */
int dfr_list_create(struct df_run *run, struct df_error *error);
void dfr_list_destroy(struct dfr_list *list);           /* NULL is allowed */
void *dfr_list_main(void *worker);                      /* the thread of the worker, a struct dfr_worker */
void dfr_list_call(struct dfr_worker *worker);          /* a call of a session, on the calling thread */

/* For a session with deques: makes run->calls.list, if the run is one whose calls may go by a list. */
int dfr_list_for_calls(struct df_run *run, struct df_error *error);
/* Runs the call by that list, if it is not worth sharing. false: it is to be shared. */
bool dfr_list_short_call(struct dfr_worker *worker);

#endif
