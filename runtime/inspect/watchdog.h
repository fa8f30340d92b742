/* watchdog.h - --watchdog=TIME: a thread that reports a job which does not end, and what waits for it. inspect.c uses
 * it.
 *
 * Words:    a *post* stands for a place where one job runs at a time: a CPU worker, or one of the jobs that a GPU has
 *           in flight.
 * Means:    before and after a job, its worker calls begin and end with its post: a few stores, no lock. The watchdog
 *           thread sleeps until the oldest job could have exceeded the limit, so it costs next to nothing.
 * Expiry:   the limit is exceeded if a job runs longer than that (reported once per job), or if no job has run for that
 *           long although the run is not over. Then a line is printed on stderr and `expired` is called. A kernel that
 *           does not return cannot be stopped from outside, so `expired` can only end the process. If it returns, the
 *           run continues.
 * Memory:   dfr_watchdog_destroy() frees what dfr_watchdog_create() returned. The run is borrowed, names are copied.
 * Threads:  begin and end of a post are called by one thread at a time; create, start, limit and destroy by the thread
 *           that creates and ends the run.
 */
#ifndef DFR_WATCHDOG_H
#define DFR_WATCHDOG_H

#include "runtime/df.h"

struct dfr_watchdog;

int dfr_watchdog_create(const struct df_run *run, uint32_t n_posts, struct dfr_watchdog **watchdog,
                        struct df_error *error);
void dfr_watchdog_name(struct dfr_watchdog *watchdog, uint32_t post, const char *name); /* before start */
int dfr_watchdog_start(struct dfr_watchdog *watchdog, struct df_error *error);
/* Raises the time limit of jobs from now on. */
void dfr_watchdog_limit(struct dfr_watchdog *watchdog, double limit_s);
void dfr_watchdog_destroy(struct dfr_watchdog *watchdog); /* ends the thread, if any */

void dfr_watchdog_begin(struct dfr_watchdog *watchdog, uint32_t post, uint64_t job, int64_t wave);
void dfr_watchdog_end(struct dfr_watchdog *watchdog, uint32_t post);

#endif
