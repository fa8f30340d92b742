/* space.c - the table of a run's blocks (space.h): creates it with the blocks' host memory, and frees a block's memory on the host and on all devices that hold
 * it. The engine calls it for each token (runtime/engine/engine.c, ports.c), start/ creates and destroys it, and transfer.c asks for its staging. */
#include "memmgr/space.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "memmgr/cache.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

#define LINE DFM_LINE
#define MANY_CLASSES 1024               /* if there are more distinct sizes, they are rounded up by at most 1/8 */

/* ---- sizes ---- */

static int compare_bytes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t line_rounded(uint64_t bytes)
{
    return bytes > UINT64_MAX - LINE ? bytes : (bytes + LINE - 1) / LINE * LINE;
}

/* Rounds up to the next of 8 steps between powers of two. */
static uint64_t step_rounded(uint64_t bytes)
{
    uint64_t power = LINE, step;
    while (power <= bytes / 2)
        power *= 2;
    step = power / 8 > LINE ? power / 8 : LINE;
    return bytes > UINT64_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

static uint32_t sort_unique(uint64_t *sizes, uint32_t n)
{
    uint32_t kept = 0;
    qsort(sizes, n, sizeof *sizes, compare_bytes);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || sizes[i] != sizes[kept - 1])
            sizes[kept++] = sizes[i];
    return kept;
}

/* Fills cls[] and *classes (which the caller frees) with a class for each distinct size. Sizes are rounded up to a
 * cache line, or to a step if there would be too many classes. */
static int make_classes(struct dfm_space *s, const struct dfm_space_config *config, struct dfm_heap_class **classes,
                        uint32_t *n_classes)
{
    uint64_t *sizes = malloc((size_t)(s->n_values ? s->n_values : 1) * sizeof *sizes), *rounded;
    uint32_t n;

    rounded = malloc((size_t)(s->n_values ? s->n_values : 1) * sizeof *rounded);
    if (!sizes || !rounded)
        goto no_memory;
    for (uint32_t v = 0; v < s->n_values; v++)
        sizes[v] = rounded[v] = line_rounded(s->bytes[v]);
    n = sort_unique(sizes, s->n_values);
    if (n > MANY_CLASSES) {
        for (uint32_t v = 0; v < s->n_values; v++)
            sizes[v] = rounded[v] = step_rounded(s->bytes[v]);
        n = sort_unique(sizes, s->n_values);
    }
    *classes = calloc(n ? n : 1, sizeof **classes);
    if (!*classes)
        goto no_memory;
    for (uint32_t c = 0; c < n; c++)
        (*classes)[c] = (struct dfm_heap_class){ .bytes = sizes[c] };
    for (uint32_t v = 0; v < s->n_values; v++) {
        uint64_t *found = bsearch(&rounded[v], sizes, n, sizeof *sizes, compare_bytes);
        s->cls[v] = (uint32_t)(found - sizes);
        (*classes)[s->cls[v]].count += config->count[v];
    }
    *n_classes = n;
    free(sizes);
    free(rounded);
    return DF_OK;

no_memory:
    free(sizes);
    free(rounded);
    return DF_E_MEMORY;
}

/* ---- making ---- */

static void *pinned_alloc(void *arg, uint64_t bytes)
{
    return ((const struct dfr_device_ops *)arg)->host_alloc(bytes, NULL);
}

static void pinned_free(void *arg, void *memory, uint64_t bytes)
{
    ((const struct dfr_device_ops *)arg)->host_free(memory, bytes);
}

/* For planned memory: one class with one buffer, which has the pieces of all slots. */
static int planned_class(const struct dfm_space_config *config, struct dfm_heap_class **classes, uint32_t *n_classes)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(config->slot_bytes, config->n_slots - 1, &bytes) ||
        __builtin_add_overflow(bytes, config->once_bytes, &bytes))
        bytes = UINT64_MAX;
    *classes = malloc(sizeof **classes);
    *n_classes = 1;
    if (!*classes)
        return DF_E_MEMORY;
    **classes = (struct dfm_heap_class){ bytes, 1 };
    return DF_OK;
}

static uint64_t total_of(const struct dfm_heap_class *classes, uint32_t n_classes)
{
    uint64_t total = 0, bytes;
    for (uint32_t c = 0; c < n_classes; c++)
        if (__builtin_mul_overflow(classes[c].bytes, classes[c].count, &bytes) ||
            __builtin_add_overflow(total, bytes, &total))
            return UINT64_MAX;
    return total;
}

static int make_heap(struct dfm_space *s, const struct dfm_space_config *config, struct df_error *error)
{
    struct dfm_heap_class *classes = NULL;
    uint64_t total;
    uint32_t n_classes = 0;
    char size[16];
    int status = config->line ? planned_class(config, &classes, &n_classes)
                              : make_classes(s, config, &classes, &n_classes);

    if (status != DF_OK)
        return dfr_error_memory(error);
    total = total_of(classes, n_classes);
    if (config->pinned && total <= config->pinned_limit_bytes) {
        s->source = (struct dfm_heap_source){ pinned_alloc, pinned_free, (void *)config->pinned };
        s->heap = dfm_heap_create(classes, n_classes, &s->source);
        s->pinned = s->heap;
    }
    if (!s->heap)                       /* plain memory will do, too, but its copies are slower */
        s->heap = dfm_heap_create(classes, n_classes, NULL);
    free(classes);
    if (!s->heap)
        return dfr_error(error, DF_E_MEMORY, "cannot reserve %s of host memory for the waves in flight",
                         dfr_text_bytes(total, size, sizeof size));
    if (config->line) {
        s->line = config->line;
        s->slot_bytes = config->slot_bytes;
        s->planned = dfm_heap_alloc(s->heap, 0);
    }
    return DF_OK;
}

/* Could all tables be made that this configuration asks for? */
static bool has_tables(const struct dfm_space *s, const struct dfm_space_config *config)
{
    return s->blocks && s->bytes && s->cls && s->first && s->waiter_next && s->asked && s->peer_asks &&
           (s->wholes || !config->ranges) && (s->sender || !config->n_waiters);
}

int dfm_space_create(const struct dfm_space_config *config, struct dfm_space **space, struct df_error *error)
{
    struct dfm_space *s = calloc(1, sizeof *s);
    size_t n = config->n_values ? config->n_values : 1, n_waiters = config->n_waiters ? config->n_waiters : 1;
    int status = DF_E_MEMORY;

    if (!s)
        return dfr_error_memory(error);
    s->n_values = config->n_values;
    s->n_slots = config->n_slots;
    s->n_waiters = config->n_waiters;
    s->lent = config->lent;
    s->staged = config->staged;
    s->wave = config->wave;
    s->wave_arg = config->wave_arg;
    s->token_bytes = config->token_bytes;
    s->token_arg = config->token_arg;
    s->ranges = config->ranges;
    s->wholes = config->ranges ? calloc(n * config->n_slots, sizeof *s->wholes) : NULL;
    s->blocks = calloc(n * config->n_slots, sizeof *s->blocks);
    s->bytes = malloc(n * sizeof *s->bytes);
    s->cls = malloc(n * sizeof *s->cls);
    s->first = calloc(n, sizeof *s->first);
    s->waiter_next = malloc(n_waiters * sizeof *s->waiter_next);
    s->asked = malloc(n_waiters * sizeof *s->asked);
    s->peer_asks = calloc(n_waiters, sizeof *s->peer_asks);
    s->sender = config->n_waiters ? calloc(n * config->n_slots, sizeof *s->sender) : NULL;
    if (!has_tables(s, config)) {
        dfr_error_memory(error);
        goto fail;
    }
    for (uint32_t v = 0; v < s->n_values; v++)
        s->bytes[v] = config->bytes[v] ? config->bytes[v] : 1;
    if (config->poison) {
        s->poison = malloc(n);
        if (!s->poison) {
            dfr_error_memory(error);
            goto fail;
        }
        memcpy(s->poison, config->poison, config->n_values);
    }
    status = make_heap(s, config, error);
    if (status != DF_OK)
        goto fail;
    *space = s;
    return DF_OK;

fail:
    dfm_space_destroy(s);
    return status;
}

bool dfm_space_stages(const struct dfm_space *s)
{
    for (uint32_t v = 0; v < s->n_values; v++)
        if (dfm_space_staged(s, v) || (s->staged && dfm_space_lent(s, v) && dfm_space_lent(s, v)->moves))
            return true;
    return false;
}

void dfm_space_destroy(struct dfm_space *s)
{
    if (!s)
        return;
    dfm_heap_destroy(s->heap);
    free(s->blocks);
    free(s->bytes);
    free(s->cls);
    free(s->first);
    free(s->poison);
    free(s->wholes);
    free(s->waiter_next);
    free(s->asked);
    free(s->peer_asks);
    free((void *)s->sender);
    free(s);
}

/* ---- ranges ---- */

/* The memory of a whole is taken by the first of its pieces that wants some. The others wait for it by giving up their
 * processor, and not on a futex. The wait has a bound: the first takes a buffer of the lock-free heap, which blocks on
 * nothing, and fills it with --poison. The wait is rare: two pieces of one token must begin within these few
 * instructions. A longer one needs that the system stops the first one there, and each turn then lends it this
 * processor. */
static unsigned char *take_whole(struct dfm_space *s, uint32_t block)
{
    struct dfm_whole *whole = &s->wholes[block];
    uint64_t memory = 0;

    if (atomic_compare_exchange_strong_explicit(&whole->memory, &memory, 1, memory_order_acquire,
                                                memory_order_acquire)) {
        memory = (uintptr_t)dfm_space_own_take(s, block);
        atomic_store_explicit(&whole->memory, memory, memory_order_release);
    }
    while (memory == 1) {
        sched_yield();
        memory = atomic_load_explicit(&whole->memory, memory_order_acquire);
    }
    return (unsigned char *)(uintptr_t)memory;
}

/* The block of the value in the same slot. */
static uint32_t beside(const struct dfm_space *s, uint32_t block, uint32_t value)
{
    return block - dfm_space_value(s, block) + value;
}

void *dfm_space_range_take(struct dfm_space *s, uint32_t block)
{
    const struct dfm_range *range = &s->ranges[dfm_space_value(s, block)];
    unsigned char *whole;

    if (range->whole == DFM_NONE)
        return take_whole(s, block);
    if (range->view)
        whole = s->blocks[beside(s, block, range->whole)].host;
    else
        whole = take_whole(s, beside(s, block, range->whole));
    return whole ? whole + range->offset : NULL;
}

void dfm_space_range_drop(struct dfm_space *s, uint32_t block)
{
    const struct dfm_range *range = &s->ranges[dfm_space_value(s, block)];
    uint32_t at = range->whole == DFM_NONE ? block : beside(s, block, range->whole);
    struct dfm_whole *whole = &s->wholes[at];

    /* acq_rel: what all have read and written comes before the memory is used again */
    if (range->view || atomic_fetch_add_explicit(&whole->dropped, 1, memory_order_acq_rel) <
                           s->ranges[dfm_space_value(s, at)].n_pieces)
        return;
    uint64_t memory = atomic_exchange_explicit(&whole->memory, 0, memory_order_relaxed);
    atomic_store_explicit(&whole->dropped, 0, memory_order_relaxed);
    if (memory)
        dfm_space_host_give(s, at, (void *)(uintptr_t)memory);
}

/* ---- giving back ---- */

static void forget_sender(struct dfm_space *s, uint32_t block)
{
    if (s->sender)
        atomic_store_explicit(&s->sender[block], 0, memory_order_relaxed); /* ordered by the end of the block's life */
}

static void tell_devices(struct dfm_space *s, uint32_t block, uint32_t holders, uint32_t memory)
{
    for (uint32_t rest = holders; rest; rest &= rest - 1) {
        uint32_t m = (uint32_t)__builtin_ctz(rest);
        if (m == memory)
            dfm_cache_drop(s->caches[m], block);
        else
            dfm_cache_post_free(s->caches[m], block);
    }
}

void dfm_space_drop(struct dfm_space *s, uint32_t block, uint32_t memory)
{
    struct dfm_block *b = &s->blocks[block];
    /* acq_rel: acquires `host` from whoever set bit 0, and orders all reading before the memory's next life */
    uint32_t holders = atomic_exchange_explicit(&b->valid, 0, memory_order_acq_rel);

    forget_sender(s, block);
    if (dfm_space_shares(s, block))
        dfm_space_range_drop(s, block);
    else if (holders & DFM_HOST)
        dfm_space_host_give(s, block, b->host);
    if (holders & DFM_HOST)
        b->host = NULL;
    if (holders & ~DFM_HOST)
        tell_devices(s, block, holders & ~DFM_HOST, memory);
}

void dfm_space_first(struct dfm_space *s, uint32_t block)
{
    s->first[dfm_space_value(s, block)] = true;
    atomic_store_explicit(&s->blocks[block].valid, DFM_HOST, memory_order_release);
}

void dfm_space_changed(struct dfm_space *s, uint32_t block, uint32_t memory)
{
    struct dfm_block *b = &s->blocks[block];
    /* as in dfm_space_drop(); release: the bytes, to everybody who finds the bit */
    uint32_t others = atomic_exchange_explicit(&b->valid, 1u << memory, memory_order_acq_rel) & ~(1u << memory);

    s->first[dfm_space_value(s, block)] = false;
    forget_sender(s, block);
    if (others & DFM_HOST) {
        void *host = b->host;
        b->host = NULL;
        if (!dfm_space_shares(s, block)) /* the memory of a whole stays until all its pieces have been dropped */
            dfm_space_host_give(s, block, host);
    }
    if (others & ~DFM_HOST)
        tell_devices(s, block, others & ~DFM_HOST, memory);
}

void dfm_space_move_host(struct dfm_space *s, uint32_t block, uint32_t to)
{
    struct dfm_block *b = &s->blocks[block];
    uint32_t holders = atomic_exchange_explicit(&b->valid, 0, memory_order_acq_rel);

    forget_sender(s, block);
    s->blocks[to].host = b->host;
    b->host = NULL;
    if (holders & ~DFM_HOST)
        tell_devices(s, block, holders & ~DFM_HOST, 0);
}

uint64_t dfm_space_left_bytes(struct dfm_space *s)
{
    uint64_t bytes = 0;

    for (uint32_t b = 0; b < s->n_values * (s->n_slots - 1); b++)
        if (dfm_block_valid(&s->blocks[b]) & DFM_HOST && !dfm_space_lent(s, dfm_space_value(s, b)))
            bytes += s->bytes[dfm_space_value(s, b)];
    for (uint32_t m = 1; m <= s->n_caches; m++)
        bytes += dfm_cache_left_bytes(s->caches[m]);
    return bytes;
}
