/* list.h - the loop of a run with one CPU worker and no devices. Such a worker takes its jobs in the same order in every
 * wave, whatever the policy: so the order is found before the run, by asking the policy, and the worker calls one kernel
 * after the other. Nothing is counted, released or looked for.
 *
 * When:     one worker, no device, and neither a trace nor an inspecting option, which want to see each job.
 * Order:    what the policy's own push and pop give for one wave. What fires once comes first, before wave 0. In a wave
 *           the streams come first, because nothing else of a wave may fire before they have all delivered. The other
 *           nodes follow, each after those that make what it reads.
 * Waves:    one after the other, all in slot 0.
 * Streams:  a stream that ends lowers the run's number of waves. It ends at its first job of a wave, so no other job of
 *           that wave has run.
 * Memory:   4 bytes a node. The tables of the firing rule and the policy are given back when the list is there.
 */
#ifndef DFR_LIST_H
#define DFR_LIST_H

#include "runtime/engine/engine.h"

struct dfr_list {
    uint32_t n_once, n_wave;
    uint32_t *nodes;                    /* what fires once, then the nodes of a wave */
};

/* The policy exists before the call; afterwards it is gone, and run->threads.list is there. */
int dfr_list_create(struct df_run *run, struct df_error *error);
void dfr_list_destroy(struct dfr_list *list);           /* NULL, too */
void *dfr_list_main(void *worker);                      /* struct dfr_worker */

#endif
