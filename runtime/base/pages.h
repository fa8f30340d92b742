/* pages.h - allocates the memory of tokens: huge pages, prefaulting and guard pages.
 *
 * Huge:     with small pages, a kernel's speed depends on page-table walks and on which physical pages the process happened to get, so that two runs of one
 *           program differ. Memory is therefore requested in huge pages.
 * Given:    a page of fresh memory is backed when it is first touched, which takes longer than most kernels take for the page, and would be charged to the
 *           kernel that touches it first. Memory that is timed is therefore prefaulted.
 * Guarded:  a kernel that writes past its last token, or before its first one, faults, in place of changing another's data.
 * Most:     of large memory only the first part is prefaulted: 1 GiB, and 1/16 of the machine's memory. Pinned memory is backed from the beginning, so all
 *           of it is prefaulted if it is at most 1/4 of the machine's.
 * Errors:   if the system refuses huge pages, memory has small ones. If it refuses to prefault, pages are backed when they are first touched.
 */
#ifndef DFR_PAGES_H
#define DFR_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/cgroup.h"

#define DFR_HUGE_BYTES ((size_t)2 << 20)
#define DFR_PAGES_MOST_BYTES (UINT64_C(1) << 30)
#define DFR_PAGES_PART 16
#define DFR_GUARD_BYTES DFR_HUGE_BYTES  /* so what lies behind a guard begins with a huge page, too */
#define DFR_PAGES_PINNED_PART 4         /* a run pins no more unless it is asked to (--pin=on) */

/* Asks for huge pages where the memory has room for them. It begins with a page. */
static inline void dfr_pages_huge(void *memory, uint64_t bytes)
{
    if (bytes >= DFR_HUGE_BYTES)
        madvise(memory, bytes, MADV_HUGEPAGE);
}

/* Address space for zeros: memory is taken when a page is first touched. It begins with a huge page if it is as large as
 * one. munmap(memory, bytes) returns it. NULL: there is none. */
static inline void *dfr_pages_reserve(uint64_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), spare, before;
    unsigned char *memory;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + page - 1) / page * page;
    spare = bytes >= DFR_HUGE_BYTES ? DFR_HUGE_BYTES : 0;
    memory = mmap(NULL, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    before = spare ? -(uintptr_t)memory % spare : 0;
    if (before)
        munmap(memory, before);
    if (spare)
        munmap(memory + before + bytes, spare - before);
    dfr_pages_huge(memory + before, bytes);
    return memory + before;
}

static inline uint64_t dfr_pages_whole(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* As dfr_pages_reserve(), with DFR_GUARD_BYTES in front of it and behind its last page that nobody can read or write. They
 * take no memory. dfr_pages_return() returns it. */
static inline void *dfr_pages_reserve_guarded(uint64_t bytes)
{
    const uint64_t whole = dfr_pages_whole(bytes < SIZE_MAX / 4 ? bytes : 0);
    unsigned char *memory = bytes < SIZE_MAX / 4 ? dfr_pages_reserve(whole + 2 * DFR_GUARD_BYTES) : NULL;

    if (memory == NULL)
        return NULL;
    mprotect(memory, DFR_GUARD_BYTES, PROT_NONE);
    mprotect(memory + DFR_GUARD_BYTES + whole, DFR_GUARD_BYTES, PROT_NONE);
    return memory + DFR_GUARD_BYTES;
}

static inline void dfr_pages_return(void *memory, uint64_t bytes)
{
    munmap((unsigned char *)memory - DFR_GUARD_BYTES, dfr_pages_whole(bytes) + 2 * DFR_GUARD_BYTES);
}

/* Memory that one thread uses again and again. It begins with a page, or with a huge page if it is as large as one.
 * free() returns it. NULL: there is none. */
static inline void *dfr_pages_alloc(uint64_t bytes)
{
    size_t page = bytes < DFR_HUGE_BYTES ? (size_t)sysconf(_SC_PAGESIZE) : DFR_HUGE_BYTES;
    uint64_t whole = bytes ? (bytes + page - 1) / page * page : page;
    void *memory = bytes <= SIZE_MAX / 2 ? aligned_alloc(page, whole) : NULL;

    if (memory)
        dfr_pages_huge(memory, bytes);
    return memory;
}

static inline uint64_t dfr_pages_of_machine(unsigned part)
{
    return dfr_memory_bytes() / part;
}

static inline uint64_t dfr_pages_most(uint64_t bytes)
{
    uint64_t most = dfr_pages_of_machine(DFR_PAGES_PART);
    most = most < DFR_PAGES_MOST_BYTES ? most : DFR_PAGES_MOST_BYTES;
    return bytes < most ? bytes : most;
}

static inline uint64_t dfr_pages_most_pinned(uint64_t bytes)
{
    return bytes <= dfr_pages_of_machine(DFR_PAGES_PINNED_PART) ? bytes : dfr_pages_most(bytes);
}

/* `memory` begins with a page. What lies in it stays. */
static inline void dfr_pages_give(void *memory, uint64_t bytes)
{
    madvise(memory, dfr_pages_most(bytes), MADV_POPULATE_WRITE);
}

/* The same of pinned memory. */
static inline void dfr_pages_give_pinned(void *memory, uint64_t bytes)
{
    madvise(memory, dfr_pages_most_pinned(bytes), MADV_POPULATE_WRITE);
}

#endif
