/* next_use.h - when a unit will next need a block. The policy must tell each node's unit, and its place in that unit's
 * order, before the run. Eviction by Belady's rule goes by this (memmgr/victims.h). A GPU's worker and the simulator
 * both use it.
 *
 * Words:    A *use* has a number: its wave times the number of nodes, plus the node's rank on the unit. Older waves
 *           come first, as in order.h. Jobs may overtake each other a little. Then the numbers are a little wrong,
 *           which costs copies and nothing else.
 * Memory:   create() allocates all; the view and the policy's state are borrowed.
 * Threads:  the unit's worker alone. A block that is asked for is alive: some reader keeps its wave from ending.
 * Cost:     The readers of a block are looked at in their order, each once a wave.
 */
#ifndef DFR_NEXT_USE_H
#define DFR_NEXT_USE_H

#include "runtime/policy/policy.h"

struct dfr_next_use;

/* The policy must have units() and rank(). NULL: no memory. */
struct dfr_next_use *dfr_next_use_create(const struct dfr_view *view, const struct dfr_policy *policy,
                                         void *policy_state, uint32_t unit);
void dfr_next_use_destroy(struct dfr_next_use *next_use);

/* The unit has pinned what the job needs. From now on the job does not count as a use to come. */
void dfr_next_use_taken(struct dfr_next_use *next_use, uint64_t job);

/* The first use to come; DFM_NEVER: there is none. `block` is as in engine.h: slot * n_values + value. */
uint64_t dfr_next_use_of(struct dfr_next_use *next_use, uint32_t block);

/* Whether blocks are to be evicted by this, as `evict` (DF_EVICT_…) says. DF_E_REFUSED: `evict` asks for it, and the
 * policy cannot. */
int dfr_next_use_wanted(int evict, const struct dfr_policy *policy, bool *wanted, struct df_error *error);

#endif
