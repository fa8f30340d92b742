/* bind.h - the cores of this process, and binding threads to them. Every failure here is harmless: the thread stays
 * where the system puts it.
 *
 * Threads:  One thread creates and destroys. Between the two, any thread may bind itself. dfr_cores_quiet() is called
 *           while the process has one thread.
 */
#ifndef DFR_BIND_H
#define DFR_BIND_H

#include <stdbool.h>
#include <stdint.h>

struct dfr_cores;

/* Keeps hwloc from writing to stderr if it finds no /sys (in a chroot, in a container), unless HWLOC_HIDE_ERRORS is set
 * already. A program calls this at its start, before hwloc is used. */
void dfr_cores_quiet(void);

uint32_t dfr_cores_allowed(void);       /* how many cores the threads of this process may be on */
/* How many of them it may keep busy: a CPU quota of its control group, rounded up, may be less. */
uint32_t dfr_cores_count(void);

/* Bytes of all last caches of the machine together; 0: hwloc cannot say. */
uint64_t dfr_cache_bytes(void);

struct dfr_cores *dfr_cores_create(void);                        /* NULL: the system cannot say, or a quota gives fewer cores than the threads may be on */
void dfr_cores_destroy(struct dfr_cores *cores);                 /* NULL: nothing */
bool dfr_cores_bind(const struct dfr_cores *cores, uint32_t index); /* binds the calling thread to core number index %
                                                                     * cores */

/* The calling thread may run on all of these cores again. */
void dfr_cores_release(const struct dfr_cores *cores);

/* Binds the calling thread to the cores nearest to a PCI device (those of its package or NUMA node), if these are not
 * all that the thread may use. true: it is bound. */
bool dfr_bind_near(const char *bus_id);

#endif
