/* beside.h - threads that work beside a measurement, so that what is measured shares the machine with them.
 *
 * Cores:    the caller is bound to core 0 of this process until it stops the threads, and thread i to core i + 1, as a run's
 *           workers are. If the system were to put two of them on one core, they would take turns, and a call in between
 *           would seem to take as long as alone.
 * Threads:  one thread starts, stops and measures. once() is called from all others, each with its own number.
 * Errors:   DF_E_MEMORY if a thread cannot be made; else the first failure of once(), which ends that thread. If once()
 *           ends its thread itself, that is DF_E_KERNEL, or the end of the process (crash.h).
 */
#ifndef DFR_BESIDE_H
#define DFR_BESIDE_H

#include "runtime/df.h"

struct dfr_beside;

/* Starts n threads, 1 or more. Each calls once(arg, thread, error) again and again until dfr_beside_stop(). Returns
 * when each has done so once, so that pages are touched and caches are filled. After a failure here nothing runs, and
 * *beside is not set. */
int dfr_beside_start(uint32_t n, int (*once)(void *arg, uint32_t thread, struct df_error *error), void *arg,
                     struct dfr_beside **beside, struct df_error *error);
/* Waits for the calls that are under way, and frees everything. Gives the first failure since the start. */
int dfr_beside_stop(struct dfr_beside *beside, struct df_error *error);

#endif
