/* list.h - the loop of a run with one CPU worker and no devices. Such a worker takes its jobs in the same order in
 * every wave, whatever the policy is. So the order is found before the run, by asking the policy, and the worker calls
 * one kernel after the other. Nothing is counted, released or looked for. runtime/start/ makes the list and starts the
 * loop.
 *
 * When:     there is one worker and no device, and neither a trace nor an inspecting option, which want to see each
 *           job.
 * Order:    what the policy's own push and pop give for one wave. What fires once comes first, before wave 0, or is
 *           final and comes last, each in the order of its numbers. In a wave
 *           the streams come first, because nothing else of a wave may fire before they have all delivered. The other
 *           nodes follow, each after those that make what it reads.
 * Waves:    they run one after the other, all in slot 0.
 * Streams:  a stream that ends lowers the run's number of waves. Streams are the first jobs of a wave. So when one
 *           ends, no job but streams' has run in that wave.
 * Sessions: jobs shorter than DFR_WORTH_S (steal.h) are not worth sharing, and even waking somebody for them takes as
 *           long as many of them. If a call of a session with deques had such jobs, the next call runs all jobs by a
 *           list, in the order of their numbers, on the calling thread. If that call's jobs turn out to be longer, the
 *           next calls are shared again: one the first time, then two, four, … and 64 at most. So calls that are short
 *           and long by turns are shared nearly always.
 * Memory:   4 bytes a node. The tables of the firing rule and the policy are freed when the list is there.
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
