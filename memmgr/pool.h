/* pool.h - gives out ranges of one memory that was allocated once, as a GPU's pool is. Bookkeeping lies beside the
 * managed range, never inside it. So a pool can manage memory that the CPU cannot touch, and can be tested on plain
 * numbers. The cache uses it, and so does the memory plan of partition/.
 *
 * Memory:   dfm_pool_create() allocates all bookkeeping for `max_blocks` ranges at once; nothing allocates later.
 * Threads:  one at a time (the device's worker thread).
 * Policy:   best fit; of equals the lowest offset. Free neighbours are joined at once. Sizes are rounded up to
 *           `alignment`. A call takes O(log n).
 * Errors:   if there is no room: false. It is not logged, since it is normal for the caller.
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
/* Takes the range at that offset (a multiple of the alignment); false: it is not free. */
bool dfm_pool_alloc_at(struct dfm_pool *pool, uint64_t offset, uint64_t bytes);
/* Takes the highest free range that begins at `from` (a multiple of the alignment) or above it. O(ranges there). */
bool dfm_pool_alloc_above(struct dfm_pool *pool, uint64_t from, uint64_t bytes, uint64_t *offset);
void dfm_pool_free(struct dfm_pool *pool, uint64_t offset);   /* an offset that one of the alloc functions gave */

uint64_t dfm_pool_used(const struct dfm_pool *pool);
uint64_t dfm_pool_peak(const struct dfm_pool *pool);
uint64_t dfm_pool_capacity(const struct dfm_pool *pool);
uint64_t dfm_pool_largest_free(const struct dfm_pool *pool);
uint64_t dfm_pool_rounded(const struct dfm_pool *pool, uint64_t bytes);

/* For asserts and tests: compares every list and counter with every other. */
bool dfm_pool_check(const struct dfm_pool *pool);

#endif
