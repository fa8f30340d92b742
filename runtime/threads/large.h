/* large.h - allocates large tables that are accessed at random, in huge pages if the system provides them: with small pages, page-table walks would take
 * most of the time of an access. free() returns the memory. For the tables of engine/engine_tables.c, deques (deque.c), the tiles of io/tiles.c, and arrays of
 * benchmarks (measure/triad.c, profiles/probe/figures_host.c). */
#ifndef DFR_LARGE_H
#define DFR_LARGE_H

#include <stdlib.h>

#include "runtime/base/pages.h"

static inline void *dfr_large_alloc(size_t bytes)
{
    void *table;
    if (bytes < 2 * DFR_HUGE_BYTES)
        return malloc(bytes ? bytes : 1);
    bytes = (bytes + DFR_HUGE_BYTES - 1) / DFR_HUGE_BYTES * DFR_HUGE_BYTES;
    table = aligned_alloc(DFR_HUGE_BYTES, bytes);
    if (table)
        dfr_pages_huge(table, bytes);
    return table;
}

#endif
