/* gang.h - jobs that use several CPU workers (`threads(e)`): the worker that took such a job leads, and waits until so
 * many others have joined; they are parked until it is over, so that their cores are the job's.
 *
 * Threads:  CPU workers, between jobs. One gang gathers at a time; other leaders join it meanwhile, so gangs cannot
 *           wait for each other.
 * Progress: a leader waits for the jobs that the others are running. Where the run stops, everybody leaves.
 */
#ifndef DFR_GANG_H
#define DFR_GANG_H

#include <stdbool.h>
#include <stdint.h>

struct dfr_worker;
struct dfr_gang;

struct dfr_gang *dfr_gang_create(void);
void dfr_gang_destroy(struct dfr_gang *gang);

/* Joins a gang that is gathering and stays until it is over; false: none is. */
bool dfr_gang_join(struct dfr_gang *gang, struct dfr_worker *worker);

/* Gathers so many workers, the caller included; false: the run stops. Ended by dfr_gang_end(). */
bool dfr_gang_lead(struct dfr_gang *gang, struct dfr_worker *worker, uint32_t workers);
void dfr_gang_end(struct dfr_gang *gang);

bool dfr_gang_gathers(const struct dfr_gang *gang);
void dfr_gang_wake(struct dfr_gang *gang); /* the run stops: everybody looks */

#endif
