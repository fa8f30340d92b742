/* pages.h - has the system give memory its pages before it is used.
 *
 * Why:      the system gives a page of fresh memory when it is first touched. That takes longer than most kernels take
 *           for the page, and so a kernel would pay for it that happens to be the first there.
 * Most:     of large memory this is done for the first part alone: 1 GiB, and 1/16 of the machine's memory.
 * Errors:   none. If the system refuses, pages come when they are first touched.
 */
#ifndef DFR_PAGES_H
#define DFR_PAGES_H

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define DFR_PAGES_MOST_BYTES (UINT64_C(1) << 30)
#define DFR_PAGES_PART 16

static inline uint64_t dfr_pages_most(uint64_t bytes)
{
    uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) / DFR_PAGES_PART * (uint64_t)sysconf(_SC_PAGESIZE);
    most = most < DFR_PAGES_MOST_BYTES ? most : DFR_PAGES_MOST_BYTES;
    return bytes < most ? bytes : most;
}

/* `memory` begins with a page. What lies in it stays. */
static inline void dfr_pages_give(void *memory, uint64_t bytes)
{
    madvise(memory, dfr_pages_most(bytes), MADV_POPULATE_WRITE);
}

#endif
