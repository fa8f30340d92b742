/* load_threads.h - background load during a measurement: threads that call a function repeatedly, so that the measured
 * code shares the machine with them. measure_load.c loads variants with them; triad.c and profiles/probe/figures_host.c
 * run their loops on all cores with them.
 *
 * Cores:    until it stops the threads, the caller is bound to core 0 of this process, and thread i to core i + 1, as a
 *           run's workers are. If the system put two of them on one core, they would alternate, and a call in between
 *           would seem as fast as without load.
 * Threads:  one thread starts, stops and measures. once() is called from all others, each with its own number.
 * Errors:   DF_E_MEMORY if a thread cannot be created; else the first failure of once(), which ends that thread. If
 *           once() terminates its thread itself, that is DF_E_KERNEL, or the end of the process (engine/crash.h).
 */
#ifndef DFR_LOAD_THREADS_H
#define DFR_LOAD_THREADS_H

#include "runtime/df.h"

struct dfr_load_threads;

/* Starts n threads, 1 or more. Each calls once(arg, thread, error) repeatedly until dfr_load_threads_stop(). Returns
 * when each has done so once, so that pages are touched and caches are filled. After a failure here nothing runs, and
 * *beside is not set. */
int dfr_load_threads_start(uint32_t n, int (*once)(void *arg, uint32_t thread, struct df_error *error), void *arg,
                           struct dfr_load_threads **beside, struct df_error *error);
/* Waits for the calls in progress, and frees everything. Returns the first failure since the start. */
int dfr_load_threads_stop(struct dfr_load_threads *beside, struct df_error *error);

#endif
