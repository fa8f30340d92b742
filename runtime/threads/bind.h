/* bind.h - finds the cores of this process and binds threads to them. Failures are harmless: the thread stays unbound.
 * Workers (engine/, gpu/), the emulated GPU and measurements bind themselves; start/, planners, probes and `dfc
 * doctor` ask for the numbers of cores and the sizes of caches.
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
/* How many cores the process may keep busy: their number, or the CPU quota of its control group, rounded up, if that is less. */
uint32_t dfr_cores_count(void);

/* The total size of the machine's last-level caches; 0: unknown to hwloc. */
uint64_t dfr_cache_bytes(void);

struct dfr_cores *dfr_cores_create(void);                        /* NULL: the system cannot say, or a quota gives fewer cores than the threads may be on */
void dfr_cores_destroy(struct dfr_cores *cores);                 /* NULL: nothing */
bool dfr_cores_bind(const struct dfr_cores *cores, uint32_t index); /* binds the calling thread to core number index %
                                                                     * cores */

/* Lets the calling thread run on all of these cores again. */
void dfr_cores_release(const struct dfr_cores *cores);

/* Binds the calling thread to the cores nearest to a PCI device (its package or NUMA node), unless these are all that the thread may use. Returns true if it is
 * bound. */
bool dfr_bind_near(const char *bus_id);

#endif
