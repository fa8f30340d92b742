/* fit.h - how many bytes of a device's memory a graph takes. Every value and every job's scratch memory begins on a page
 * of its own, so all sizes are counted in whole pages. The simulator and the planners ask here, so both say the same.
 */
#ifndef DFR_FIT_H
#define DFR_FIT_H

#include "runtime/graph/graph.h"

/* Bytes of everything that one job of the node touches, each value once, and of its scratch memory. An output that takes
 * an input's memory over counts as that input. */
uint64_t dfr_job_bytes(const struct df_graph *graph, uint32_t node);

/* Whether everything is in this memory at the same time: the values of so many waves in flight (what is made once only
 * once), and the scratch memory of so many jobs, each as large as the largest. If so, nothing is ever evicted. */
bool dfr_everything_fits(const struct df_graph *graph, uint64_t memory_bytes, uint32_t inflight, uint64_t jobs);

#endif
