/* fit.h - computes how many bytes of device memory a graph needs. Every value and every job's scratch memory starts on its own page, so sizes are rounded
 * up to whole pages. The simulator (simulate/), the planners (partition/) and compiler/divide/ share it, so that they agree. */
#ifndef DFR_FIT_H
#define DFR_FIT_H

#include "runtime/graph/graph.h"

/* The bytes of all values that one job of the node touches, each counted once, plus its scratch memory. An output that reuses an input's memory counts as
 * that input. */
uint64_t dfr_job_bytes(const struct df_graph *graph, uint32_t node);

/* Returns true if the memory can hold everything at once, so that nothing is ever evicted: the values of `inflight` waves (values made once count once), and
 * the scratch memory of `jobs` jobs, each as large as the largest. */
bool dfr_everything_fits(const struct df_graph *graph, uint64_t memory_bytes, uint32_t inflight, uint64_t jobs);

#endif
