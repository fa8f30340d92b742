/* large.h - tables that are large and read at random: in huge pages where the system gives them, because most of such a
 * read's time is else the look for its page. free() returns them.
 */
#ifndef DFR_LARGE_H
#define DFR_LARGE_H

#include <stdlib.h>
#include <sys/mman.h>

#define DFR_HUGE_BYTES ((size_t)2 << 20)

static inline void *dfr_large_alloc(size_t bytes)
{
    void *table;
    if (bytes < 2 * DFR_HUGE_BYTES)
        return malloc(bytes ? bytes : 1);
    bytes = (bytes + DFR_HUGE_BYTES - 1) / DFR_HUGE_BYTES * DFR_HUGE_BYTES;
    table = aligned_alloc(DFR_HUGE_BYTES, bytes);
    if (table)
        madvise(table, bytes, MADV_HUGEPAGE); /* where that fails the table is as good, and slower */
    return table;
}

#endif
