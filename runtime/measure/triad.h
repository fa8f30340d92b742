/* triad.h - STREAM's triad, a[i] = b[i] + 3 c[i] (McCalpin 1995): measures the bandwidth of the host's memory, and
 * serves as a background load that consumes as much of it as a thread can. measure_load.c does both.
 *
 * Bytes:    24 for each i, as STREAM counts them: write-allocate traffic is not counted.
 * Arrays:   all threads' arrays together are three times as large as the last-level cache, so that it cannot hold them;
 *           each array has at least 4 and at most 64 MiB, and no more than a sixteenth of the machine's memory.
 * Threads:  dfr_triad_once() may be called by several threads, each with a number of its own below `threads`. All other
 *           calls: one thread.
 * Errors:   DF_E_MEMORY.
 */
#ifndef DFR_TRIAD_H
#define DFR_TRIAD_H

#include "runtime/df.h"

struct dfr_triad;

/* Allocates for so many threads, 1 or more. Pages are touched in the first call of each thread. */
int dfr_triad_new(uint32_t threads, struct dfr_triad **triad, struct df_error *error);
void dfr_triad_free(struct dfr_triad *triad); /* NULL allowed */

/* Does a few microseconds of the triad on the thread's own arrays: a function for dfr_load_threads_start(), with the triad as
 * its argument. */
int dfr_triad_once(void *triad, uint32_t thread, struct df_error *error);

/* Bytes per second that `n` of its threads move together, by the median times of their calls in 0.1 s: other programs
 * that take the cores for a while do not count. */
int dfr_triad_rate(struct dfr_triad *triad, uint32_t n, double *bytes_per_s, struct df_error *error);

/* The same for a triad of its own on all cores of this process: the bandwidth of the host's memory. */
int dfr_triad_bandwidth(double *bytes_per_s, struct df_error *error);

#endif
