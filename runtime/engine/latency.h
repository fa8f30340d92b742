/* latency.h - measures how long the waves of a run take, if its graph promises a latency or a rate, and says why one was late: for --stats and --on-late.
 *
 * Latency:  from the begin of a wave's first job to the end of its last one. Jobs that fire once, that are left out or that take no worker do not count.
 * Cause:    the job on the wave's path that took longest beyond its expected time, or the longest wait of a job whose inputs were there
 *           (runtime/graph/wave_path.h).
 * Cost:     each job is timed, so the loop is one that looks at each job. A wave's end takes time in proportion to the graph, and a lock.
 * Memory:   the latencies of DFR_LATENCIES waves are kept; beyond that, of a random sample of so many.
 * Threads:  the worker that runs a job calls dfr_latency_job(), before the job's readers are released. The one that ends a wave calls dfr_latency_wave().
 */
#ifndef DFR_LATENCY_H
#define DFR_LATENCY_H

#include "runtime/engine/engine.h"

#define DFR_LATENCIES (1u << 20)

struct dfr_latency;

/* Makes run->watch.latency if options ask for it. DF_E_ARGUMENT: --on-late without a promise, or for a run whose waves have no single latency. */
int dfr_latency_create(struct df_run *run, struct df_error *error);
void dfr_latency_destroy(struct dfr_latency *latency);
void dfr_latency_job(struct df_run *run, uint64_t job, uint32_t unit, double begin_s, double end_s);
void dfr_latency_wave(struct df_run *run, uint32_t slot, int64_t wave);
void dfr_latency_stats(const struct df_run *run, struct df_latency_stats *stats); /* after the last wave */

#endif
