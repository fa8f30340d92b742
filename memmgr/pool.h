/* pool.h - allocates ranges of one large memory, such as a GPU's pool. Its bookkeeping lies outside the managed range, so it can manage memory that the CPU
 * cannot access, and can be tested on plain numbers. A device's cache (cache.h) and the memory plan of partition/ use it.
 *
 * Memory:   dfm_pool_create() allocates all bookkeeping for `max_blocks` ranges at once; nothing allocates later.
 * Threads:  one at a time; in a cache that is the device's worker thread.
 * Policy:   alloc() takes the best fit; among free ranges of the same size, the one with the lowest offset. Free
 *           neighbours are joined at once. Sizes are rounded up to `alignment`. Every call but alloc_above() takes
 *           O(log n).
 * Errors:   returns false if there is no room. Nothing is logged: the caller expects this, and waits or evicts.
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
/* Allocates the range at that offset (a multiple of the alignment). Returns false if it is not free. */
bool dfm_pool_alloc_at(struct dfm_pool *pool, uint64_t offset, uint64_t bytes);
/* Allocates `bytes` at the highest possible offset not below `from` (a multiple of the alignment). O(free ranges there). */
bool dfm_pool_alloc_above(struct dfm_pool *pool, uint64_t from, uint64_t bytes, uint64_t *offset);
void dfm_pool_free(struct dfm_pool *pool, uint64_t offset);   /* an offset that one of the alloc functions gave */

uint64_t dfm_pool_used(const struct dfm_pool *pool);
uint64_t dfm_pool_peak(const struct dfm_pool *pool);
uint64_t dfm_pool_capacity(const struct dfm_pool *pool);
uint64_t dfm_pool_largest_free(const struct dfm_pool *pool);
uint64_t dfm_pool_rounded(const struct dfm_pool *pool, uint64_t bytes);

/* For asserts and tests: checks the consistency of all lists and counters. */
bool dfm_pool_check(const struct dfm_pool *pool);

#endif
