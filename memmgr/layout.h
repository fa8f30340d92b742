/* layout.h - offsets that are decided before a run: a range of memory cut into segments, each with the tenant that was
 * there last. A tenant that comes later moves in where those before it are known to have left, or at the end.
 *
 * Words:    a *tenant* is a piece of memory with a life, known by number. Which tenants one may follow is the caller's
 *           knowledge: he *offers* them, one by one or all whose life ends before some step. Since each follows the one
 *           before it, the last tenant of a segment stands for all that were there: who comes after it comes after
 *           them.
 * Memory:   dfm_layout_create() allocates everything. No memory is managed here, only numbers.
 * Threads:  one at a time.
 * Policy:   the smallest run of neighbouring offered segments that is large enough, the lowest among equals; else the
 *           end, with the offered segments that lie there. O(segments offered) for each tenant.
 */
#ifndef DFM_LAYOUT_H
#define DFM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct dfm_layout;

/* NULL: no memory, or more than 2^30 tenants. */
struct dfm_layout *dfm_layout_create(uint64_t alignment, uint32_t max_tenants);
void dfm_layout_destroy(struct dfm_layout *layout);

/* The tenant's segments may be taken from now until withdraw. false: none of it is left, now or ever again. */
bool dfm_layout_offer(struct dfm_layout *layout, uint32_t tenant);
/* So may those of all tenants whose last step is below `step`, where they lie beside what was offered. */
void dfm_layout_offer_before(struct dfm_layout *layout, uint32_t step);
/* Gives the tenant, which is new, a place until its last step. false: the offsets overflow. */
bool dfm_layout_place(struct dfm_layout *layout, uint32_t tenant, uint64_t bytes, uint32_t last_step, uint64_t *offset);
void dfm_layout_withdraw(struct dfm_layout *layout);

uint64_t dfm_layout_bytes(const struct dfm_layout *layout);    /* from 0 to the end of what was placed highest */

/* Bytes rounded up; even nothing takes one unit, so that every tenant has an offset of its
 * own. UINT64_MAX: too many. */
uint64_t dfm_layout_rounded(uint64_t bytes, uint64_t alignment);

/* Every list against every other; for tests. */
bool dfm_layout_check(const struct dfm_layout *layout);

#endif
