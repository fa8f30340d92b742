/* pool.h - ranges of one memory that was allocated once (a GPU's pool). Bookkeeping lies beside the managed range,
 * never inside it, so a pool can manage memory that the CPU cannot touch, and is tested on plain numbers.
 *
 * Memory:   dfm_pool_create() allocates all bookkeeping for `max_blocks` ranges at once; nothing allocates later.
 * Threads:  one at a time (the device's worker thread).
 * Policy:   best fit, lowest offset among equals; neighbours that are free are joined at once. Sizes are rounded up to
 *           `alignment`. O(log n) a call.
 * Errors:   no room: false (not logged, it is the caller's normal case).
 */
#ifndef DFM_POOL_H
#define DFM_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dfm_pool;

struct dfm_pool *dfm_pool_create(uint64_t bytes, uint64_t alignment, uint32_t max_blocks);
void dfm_pool_destroy(struct dfm_pool *pool);

bool dfm_pool_alloc(struct dfm_pool *pool, uint64_t bytes, uint64_t *offset);
/* The range at that offset (a multiple of the alignment), where it is free. */
bool dfm_pool_alloc_at(struct dfm_pool *pool, uint64_t offset, uint64_t bytes);
/* The highest range that begins at `from` (a multiple of the alignment) or above it. O(ranges there). */
bool dfm_pool_alloc_above(struct dfm_pool *pool, uint64_t from, uint64_t bytes, uint64_t *offset);
void dfm_pool_free(struct dfm_pool *pool, uint64_t offset);   /* an offset that alloc gave */

uint64_t dfm_pool_used(const struct dfm_pool *pool);
uint64_t dfm_pool_peak(const struct dfm_pool *pool);
uint64_t dfm_pool_capacity(const struct dfm_pool *pool);
uint64_t dfm_pool_largest_free(const struct dfm_pool *pool);
uint64_t dfm_pool_rounded(const struct dfm_pool *pool, uint64_t bytes);

/* Every list and counter against every other; for asserts and tests. */
bool dfm_pool_check(const struct dfm_pool *pool);

#endif
