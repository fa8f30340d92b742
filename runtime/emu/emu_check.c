/* emu_check.c - opens and closes the pages of an emulated GPU's memory around each job and copy, and finds the names of their blocks for messages
 * (emu_check.h). The engines (emu_engine.c) call it; emu.c creates it.
 *
 * Each page of the pool has a record with the number of its readers and writers, and the first page of the block last declared over it. A second table,
 * indexed by that first page, has the names of the block's node and port. Both tables are reserved as a whole, but use memory only for pages with blocks.
 */
#include "runtime/base/status_line.h"
#include "runtime/emu/emu_check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/engine/call.h"
#include "runtime/emu/emu_fault.h"
#include "runtime/base/error.h"
#include "runtime/base/pages.h"
#include "runtime/engine/log.h"

#define NEAR_BYTES 65536 /* a stray address this close to a block of the job itself is explained by that block */

struct page {
    uint16_t readers, writers;
    uint32_t block;                     /* first page of the block last declared here, plus 1; 0: none */
};

struct label {
    uint32_t n_pages;                   /* 0: no longer known */
    char node[188];
    char port[64];
};

struct dfr_emu_check {
    struct dfr_emu_pool watched;        /* the first member: a fault's `pool` points here */
    unsigned char *pool;
    uint64_t n_pages;
    size_t page_bytes;
    pthread_mutex_t lock;               /* protects all members below, and the calls of mprotect */
    bool off;                           /* the system refused: everything stays open */
    struct page *pages;
    struct label *labels;
};

/* ---- protection ---- */

static int page_rights(const struct page *page)
{
    if (page->writers > 0)
        return PROT_READ | PROT_WRITE;
    return page->readers > 0 ? PROT_READ : PROT_NONE;
}

static void *reserve_table(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* The pages of the pool that [address, address + bytes) has a part in. false: there are none. */
static bool pages_of(const struct dfr_emu_check *check, const void *address, uint64_t bytes, uint64_t *first,
                     uint64_t *end)
{
    uintptr_t base = (uintptr_t)check->pool, from = (uintptr_t)address;
    uint64_t size = check->n_pages * check->page_bytes;

    if (bytes == 0 || from < base || from - base >= size)
        return false;
    if (bytes > size - (from - base))
        bytes = size - (from - base);
    *first = (from - base) / check->page_bytes;
    *end = (from - base + bytes - 1) / check->page_bytes + 1;
    return true;
}

static void give_up(struct dfr_emu_check *check)
{
    check->off = true;
    mprotect(check->pool, check->n_pages * check->page_bytes, PROT_READ | PROT_WRITE);
    dfr_status_clear();
    fprintf(stderr,
            "%s: warning: %s: the system refused to protect its memory (vm.max_map_count?): blocks are not checked\n",
            dfr_program_name(), check->watched.device_name);
}

/* Adds to the counts of pages first … end-1. Pages whose rights change by that are protected anew, one call for each
 * run of neighbours with the same rights. */
static void change(struct dfr_emu_check *check, uint64_t first, uint64_t end, int readers, int writers)
{
    uint64_t run = first;
    int run_rights = -1;                /* of the run that still has to be protected; -1: there is none */

    for (uint64_t p = first; p <= end; p++) {
        int rights = -1;

        if (p < end) {
            struct page *page = &check->pages[p];
            int before = page_rights(page);

            page->readers = (uint16_t)(page->readers + readers);
            page->writers = (uint16_t)(page->writers + writers);
            rights = page_rights(page) == before ? -1 : page_rights(page);
        }
        if (rights == run_rights)
            continue;
        if (run_rights != -1 && !check->off &&
            mprotect(check->pool + run * check->page_bytes, (p - run) * check->page_bytes, run_rights) != 0)
            give_up(check);
        run = p;
        run_rights = rights;
    }
}

static void open_or_close(struct dfr_emu_check *check, const void *address, uint64_t bytes, bool writable, int by)
{
    uint64_t first, end;

    if (!pages_of(check, address, bytes, &first, &end))
        return;
    pthread_mutex_lock(&check->lock);
    change(check, first, end, writable ? 0 : by, writable ? by : 0);
    pthread_mutex_unlock(&check->lock);
}

void dfr_emu_check_open(struct dfr_emu_check *check, const void *address, uint64_t bytes, bool writable)
{
    open_or_close(check, address, bytes, writable, 1);
}

void dfr_emu_check_close(struct dfr_emu_check *check, const void *address, uint64_t bytes, bool writable)
{
    open_or_close(check, address, bytes, writable, -1);
}

/* ---- names of blocks ---- */

void dfr_emu_check_forget(struct dfr_emu_check *check, const void *address, uint64_t bytes)
{
    uint64_t first, end;

    if (!pages_of(check, address, bytes, &first, &end))
        return;
    pthread_mutex_lock(&check->lock);
    for (uint64_t p = first; p < end; p++)
        check->pages[p].block = 0;
    pthread_mutex_unlock(&check->lock);
}

static const char *known(const char *name)
{
    return name != NULL ? name : "?";
}

/* Of a long path the end is kept: it tells more than the beginning. */
static void copy_name(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);

    if (length < size)
        memcpy(to, from, length + 1);
    else
        snprintf(to, size, "...%s", from + length - (size - 4));
}

/* A block is named after the job that makes it. It is named after a job that reads it only if no better name is
 * known. */
static void name_block(struct dfr_emu_check *check, const struct dfr_range *range, const char *node)
{
    struct label *label;
    uint64_t first, end;

    if (!pages_of(check, range->address, range->bytes, &first, &end))
        return;
    label = &check->labels[first];
    if (!range->writable && check->pages[first].block == first + 1 && label->n_pages == end - first)
        return;
    copy_name(label->node, sizeof label->node, known(node));
    copy_name(label->port, sizeof label->port, known(range->port));
    label->n_pages = (uint32_t)(end - first);
    for (uint64_t p = first; p < end; p++)
        check->pages[p].block = (uint32_t)first + 1;
}

static const struct label *label_of(const struct dfr_emu_check *check, uintptr_t address)
{
    uint64_t page = (address - (uintptr_t)check->pool) / check->page_bytes;
    uint64_t block = page < check->n_pages ? check->pages[page].block : 0; /* none: the address is in a guard */

    if (block == 0 || page - (block - 1) >= check->labels[block - 1].n_pages)
        return NULL;
    return &check->labels[block - 1];
}

/* ---- create, destroy ---- */

static void free_all(struct dfr_emu_check *check)
{
    if (check->pages != NULL)
        munmap(check->pages, check->n_pages * sizeof *check->pages);
    if (check->labels != NULL)
        munmap(check->labels, check->n_pages * sizeof *check->labels);
    pthread_mutex_destroy(&check->lock);
    free(check);
}

int dfr_emu_check_create(void *pool, uint64_t bytes, const char *device_name, struct dfr_emu_check **check_out,
                         struct df_error *error)
{
    struct dfr_emu_check *check = calloc(1, sizeof *check);

    if (check == NULL)
        return dfr_error_memory(error);
    pthread_mutex_init(&check->lock, NULL);
    snprintf(check->watched.device_name, sizeof check->watched.device_name, "%s", device_name);
    check->watched.base = (const unsigned char *)pool - DFR_GUARD_BYTES;
    check->watched.bytes = bytes + 2 * DFR_GUARD_BYTES;
    check->pool = pool;
    check->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    check->n_pages = bytes / check->page_bytes;
    check->pages = reserve_table(check->n_pages * sizeof *check->pages);
    check->labels = reserve_table(check->n_pages * sizeof *check->labels);
    if (check->pages == NULL || check->labels == NULL || check->n_pages >= UINT32_MAX) {
        free_all(check);
        return dfr_error(error, DF_E_MEMORY, "%s: no memory for the page tables of its protection", device_name);
    }
    if (mprotect(pool, bytes, PROT_NONE) != 0) {
        free_all(check);
        return dfr_error(error, DF_E_MEMORY, "%s: cannot protect its memory", device_name);
    }
    if (!dfr_emu_watch(&check->watched)) {
        free_all(check);
        return dfr_error(error, DF_E_DEVICE, "%s: too many emulated GPUs at once", device_name);
    }
    *check_out = check;
    return DF_OK;
}

void dfr_emu_check_destroy(struct dfr_emu_check *check)
{
    if (check == NULL)
        return;
    dfr_emu_unwatch(&check->watched);
    mprotect(check->pool, check->n_pages * check->page_bytes, PROT_READ | PROT_WRITE);
    free_all(check);
}

/* ---- running a kernel ---- */

/* If a stray address lies near a block of the job itself, the kernel most likely strayed from that block. */
static void explain_near(const struct dfr_launch *launch, uintptr_t address, char *text, size_t size)
{
    uint64_t best = NEAR_BYTES;

    text[0] = '\0';
    for (uint32_t i = 0; i < launch->n_ranges; i++) {
        const struct dfr_range *r = &launch->ranges[i];
        uintptr_t from = (uintptr_t)r->address, end = from + r->bytes;

        if (address >= end && address - end < best) {
            best = address - end;
            snprintf(text, size, " (%llu bytes past the end of its port '%s')", (unsigned long long)best,
                     known(r->port));
        } else if (address < from && from - address < best) {
            best = from - address;
            snprintf(text, size, " (%llu bytes before its port '%s')", (unsigned long long)best,
                     known(r->port));
        }
    }
}

/* The input that holds the address; NULL: none does. A fault inside a declared range can only be a write to a range
 * that was declared for reading. */
static const struct dfr_range *own_input(const struct dfr_launch *launch, uintptr_t address)
{
    for (uint32_t i = 0; i < launch->n_ranges; i++) {
        const struct dfr_range *r = &launch->ranges[i];

        if (!r->writable && address - (uintptr_t)r->address < r->bytes)
            return r;
    }
    return NULL;
}

/* The text does not say which node it was: whoever tells of the failed call does. */
static void explain(const struct dfr_emu_fault *fault, const struct dfr_launch *launch, char *text, size_t size)
{
    static const char *const verbs[] = {
        [DFR_EMU_TOUCHED] = "touched", [DFR_EMU_READ] = "read", [DFR_EMU_WROTE] = "wrote to"};
    const char *verb = verbs[fault->access];
    const struct dfr_range *own = own_input(launch, fault->address);
    struct dfr_emu_check *check = (struct dfr_emu_check *)fault->pool;
    const struct label *label;
    char near[160];

    if (own != NULL) {
        snprintf(text, size, "it wrote to its input port '%s', which is read-only", known(own->port));
        return;
    }
    explain_near(launch, fault->address, near, sizeof near);
    pthread_mutex_lock(&check->lock);
    label = label_of(check, fault->address);
    if (label != NULL)
        snprintf(text, size, "it %s a block that it did not declare, of node '%s' port '%s'%s", verb, label->node,
                 label->port, near);
    else
        snprintf(text, size, "it %s memory of %s that it did not declare, of no known block%s", verb,
                 check->watched.device_name, near);
    pthread_mutex_unlock(&check->lock);
}

static void ranges_open(struct dfr_emu_check *check, const struct dfr_launch *launch)
{
    for (uint32_t i = 0; i < launch->n_ranges; i++) {
        const struct dfr_range *r = &launch->ranges[i];

        dfr_emu_check_open(check, r->address, r->bytes, r->writable);
        pthread_mutex_lock(&check->lock);
        name_block(check, r, launch->node_name);
        pthread_mutex_unlock(&check->lock);
    }
}

static void ranges_close(struct dfr_emu_check *check, const struct dfr_launch *launch)
{
    for (uint32_t i = 0; i < launch->n_ranges; i++) {
        const struct dfr_range *r = &launch->ranges[i];

        dfr_emu_check_close(check, r->address, r->bytes, r->writable);
    }
}

int dfr_emu_check_call(struct dfr_emu_check *check, const struct dfr_launch *launch, void *stream)
{
    struct dfr_emu_fault fault;
    int result = DF_FAILED;
    char message[512];

    ranges_open(check, launch);
    if (!dfr_emu_call_guarded(launch, stream, &result, &fault)) {
        explain(&fault, launch, message, sizeof message);
        dfr_call_failed(launch->call, message);
        result = DF_FAILED;
    }
    ranges_close(check, launch);
    return result;
}

void dfr_emu_check_abandon(struct dfr_emu_check *check, const struct dfr_launch *launch)
{
    dfr_emu_call_abandon();
    ranges_close(check, launch);
}
