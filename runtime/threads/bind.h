/* bind.h - the cores of this process, and fixing threads to them. Every failure here is harmless: the thread stays
 * where the system puts it.
 *
 * Threads: create and destroy by one; bind by any between them, for itself; quiet while the process has one alone.
 */
#ifndef DFR_BIND_H
#define DFR_BIND_H

#include <stdbool.h>
#include <stdint.h>

struct dfr_cores;

/* hwloc, which writes on stderr where it finds no /sys (a chroot, a container), says nothing, unless HWLOC_HIDE_ERRORS
 * is set already. Where a program starts, before hwloc is used. */
void dfr_cores_quiet(void);

uint32_t dfr_cores_count(void);         /* that this process may use */

struct dfr_cores *dfr_cores_create(void);                        /* NULL where hwloc cannot say */
void dfr_cores_destroy(struct dfr_cores *cores);                 /* NULL: nothing */
bool dfr_cores_bind(const struct dfr_cores *cores, uint32_t index); /* the calling thread, to core index modulo cores */

/* The calling thread to the cores nearest to the PCI device (those of its package or NUMA node), where these are not
 * all that it may use. true: it is bound. */
bool dfr_bind_near(const char *bus_id);

#endif
