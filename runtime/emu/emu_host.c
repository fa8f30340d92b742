/* emu_host.c - host memory as the driver of an emulated GPU provides it: allocation of pinned memory, and registration (pinning) of existing memory. emu.c
 * has these operations in its table, and also allocates its pool here.
 *
 * Pages:    GPU memory and pinned memory are backed by pages from the beginning, so no kernel or copy pays for page faults. The same holds here, except
 *           that only the first part of a large pool is prefaulted (base/pages.h): a GPU may have more memory than the machine.
 *
 * Guards:   inaccessible pages lie before and after each allocation (base/pages.h).
 *
 * Registration has no effect here, but the rules of a real driver are enforced: a range is registered once; only registered ranges are unregistered; a copy
 * lies wholly inside registered memory or wholly outside. Tests can query what is still registered, and how many unregistrations were wrong.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/emu/emu.h"
#include "runtime/base/error.h"
#include "runtime/base/pages.h"
#include "runtime/base/process_lock.h"
#include "runtime/threads/host.h"

struct range {
    uintptr_t begin, end;
};

DFR_PROCESS_LOCK(lock);
static struct range *ranges;            /* what is registered, in no order */
static uint32_t n_ranges;
static uint64_t wrong;
static unsigned forks;                  /* dfr_forks() when they were registered: a child's devices know nothing of its parent's memory */
static _Atomic bool any;                /* n_ranges > 0; read without the lock, to spare copies the lock */

uint64_t dfr_emu_whole_pages(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    return bytes == 0 ? page : (bytes + page - 1) / page * page;
}

static void *reserve(uint64_t bytes)
{
    return bytes <= SIZE_MAX / 2 ? dfr_pages_reserve_guarded(dfr_emu_whole_pages(bytes)) : NULL;
}

void *dfr_emu_host_alloc(uint64_t bytes, struct df_error *error)
{
    void *memory = reserve(bytes);

    if (memory == NULL)
        dfr_error(error, DF_E_MEMORY, "cannot reserve %llu bytes of host memory", (unsigned long long)bytes);
    else
        dfr_pages_give_pinned(memory, bytes);
    return memory;
}

void *dfr_emu_pool_alloc(uint64_t bytes)
{
    void *memory = reserve(bytes);

    if (memory != NULL)
        dfr_pages_give(memory, bytes);
    return memory;
}

void dfr_emu_host_free(void *memory, uint64_t bytes)
{
    if (memory != NULL)
        dfr_pages_return(memory, dfr_emu_whole_pages(bytes));
}

/* ---- registering ---- */

/* The first range that has bytes in common with [begin, end). The caller holds the lock. */
static struct range *find(uintptr_t begin, uintptr_t end)
{
    for (uint32_t i = 0; i < n_ranges; i++)
        if (begin < ranges[i].end && ranges[i].begin < end)
            return &ranges[i];
    return NULL;
}

/* The table is freed with its last range, so that no memory is left behind. The caller holds the lock. */
static void resize(uint32_t n)
{
    n_ranges = n;
    atomic_store_explicit(&any, n > 0, memory_order_relaxed);
    if (n == 0) {
        free(ranges);
        ranges = NULL;
    }
}

int dfr_emu_host_register(void *memory, uint64_t bytes, struct df_error *error)
{
    uintptr_t begin = (uintptr_t)memory;
    struct range *more;
    int status = DF_OK;

    pthread_mutex_lock(&lock);
    if (forks != dfr_forks())
        resize(0);
    forks = dfr_forks();
    if (bytes == 0 || find(begin, begin + bytes)) {
        status = dfr_error(error, DF_E_DEVICE, "emu: pinning host memory: %s",
                           bytes ? "some of it is registered already" : "no bytes");
    } else if (!(more = realloc(ranges, ((size_t)n_ranges + 1) * sizeof *ranges))) {
        status = dfr_error_memory(error);
    } else {
        ranges = more;
        ranges[n_ranges] = (struct range){ begin, begin + bytes };
        resize(n_ranges + 1);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void dfr_emu_host_unregister(void *memory, uint64_t bytes)
{
    uintptr_t begin = (uintptr_t)memory;
    struct range *range;

    pthread_mutex_lock(&lock);
    range = find(begin, begin + 1);
    if (range && range->begin == begin && range->end == begin + bytes) {
        *range = ranges[n_ranges - 1];
        resize(n_ranges - 1);
    } else {
        wrong++;
    }
    pthread_mutex_unlock(&lock);
}

bool dfr_emu_host_split(const void *memory, uint64_t bytes)
{
    uintptr_t begin = (uintptr_t)memory, end = begin + bytes;
    const struct range *range;
    bool split;

    if (bytes == 0 || !atomic_load_explicit(&any, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&lock);
    range = find(begin, end);
    split = range && (range->begin > begin || range->end < end);
    pthread_mutex_unlock(&lock);
    return split;
}

uint32_t dfr_emu_host_registered(uint64_t *n_wrong)
{
    uint32_t n;

    pthread_mutex_lock(&lock);
    n = n_ranges;
    *n_wrong = wrong;
    pthread_mutex_unlock(&lock);
    return n;
}
