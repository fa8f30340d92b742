/* layout.h - assigns memory offsets before a run. A range is divided into segments that remember their last tenant; a new tenant reuses segments whose
 * tenants are known to have ended before it, or extends the range. The memory plan (partition/memory/memory_any.c) uses it.
 *
 * Words:    a *tenant* is a piece of memory with a lifetime, identified by a number. The caller knows which tenants a new one may follow, and *offers*
 *           them, one by one or all whose life ends before some step. Each tenant follows the one before it, so the last tenant of a segment stands for all
 *           earlier ones: whoever may follow it may follow all of them.
 * Memory:   dfm_layout_create() allocates everything. Only numbers are managed here, no memory.
 * Threads:  one at a time.
 * Policy:   a tenant gets the smallest sufficient run of adjacent offered segments; of equals the lowest. If there is none, it gets the end of the range,
 *           with the offered segments that lie there. This takes O(segments offered) per tenant.
 */
#ifndef DFM_LAYOUT_H
#define DFM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct dfm_layout;

/* Returns NULL if out of memory, or for more than 2^30 tenants. */
struct dfm_layout *dfm_layout_create(uint64_t alignment, uint32_t max_tenants);
void dfm_layout_destroy(struct dfm_layout *layout);

/* Offers the tenant's segment until dfm_layout_withdraw(). Returns false if others have taken all of it; the tenant then never has one again. */
bool dfm_layout_offer(struct dfm_layout *layout, uint32_t tenant);
/* Also offers, until withdraw, the segments of all tenants whose last step is below `step`, if they are adjacent to offered ones. */
void dfm_layout_offer_before(struct dfm_layout *layout, uint32_t step);
/* Assigns a new tenant its offset; its life ends with last_step. A tenant is placed once. Returns false if the offsets overflow. */
bool dfm_layout_place(struct dfm_layout *layout, uint32_t tenant, uint64_t bytes, uint32_t last_step, uint64_t *offset);
void dfm_layout_withdraw(struct dfm_layout *layout);

uint64_t dfm_layout_bytes(const struct dfm_layout *layout);    /* from offset 0 to the end of the highest tenant */

/* Rounds bytes up; 0 bytes take one unit, so that every tenant has its own offset. Returns UINT64_MAX on overflow. */
uint64_t dfm_layout_rounded(uint64_t bytes, uint64_t alignment);

/* For tests: checks the consistency of all lists. */
bool dfm_layout_check(const struct dfm_layout *layout);

#endif
