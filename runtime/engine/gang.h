/* gang.h - gang scheduling of jobs that use several CPU workers (`threads(e)`). The worker that took the job *leads* a
 * *gang*: it waits until enough others have *joined*, and then calls the kernel. The others sleep until the job is
 * over, so that the kernel's own threads have their cores.
 *
 * Threads:  CPU workers, between jobs. One gang gathers at a time. A worker that wants to lead another gang joins this
 *           one first, so gangs cannot deadlock.
 * Progress: a leader waits for the jobs that the others are running. If the run stops, all leave.
 */
#ifndef DFR_GANG_H
#define DFR_GANG_H

#include <stdbool.h>
#include <stdint.h>

struct dfr_worker;
struct dfr_gang;

struct dfr_gang *dfr_gang_create(void);
void dfr_gang_destroy(struct dfr_gang *gang);

/* Joins a gang that is gathering, and returns when its job is over. false: no gang is gathering. Wakes one sleeping
 * worker (wakes[0]) before it waits, because another worker may have to run the jobs that this one leaves. */
bool dfr_gang_join(struct dfr_gang *gang, struct dfr_worker *worker);

/* Gathers so many workers, the caller included. false: the run stops. dfr_gang_end() ends the gang. */
bool dfr_gang_lead(struct dfr_gang *gang, struct dfr_worker *worker, uint32_t workers);
void dfr_gang_end(struct dfr_gang *gang);

bool dfr_gang_gathers(const struct dfr_gang *gang);
void dfr_gang_wake(struct dfr_gang *gang); /* wakes all that wait, so that they see that the run stops */

#endif
