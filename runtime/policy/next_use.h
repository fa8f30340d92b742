/* next_use.h - when a unit will next need a block, where the policy tells each node's unit and its place in that unit's
 * order before the run: what eviction by Belady's rule goes by (memmgr/victims.h). Used by a GPU's worker and by the
 * simulator alike.
 *
 * Words:    a *use* has a number: its wave times the number of nodes, plus the node's rank on the unit; older waves
 *           come first, as in order.h. Jobs may overtake each other a little; then the numbers are that little wrong,
 *           which costs copies and nothing else.
 * Memory:   create() allocates all; view and policy state are borrowed.
 * Threads:  the unit's worker alone. A block that is asked for is alive: some reader keeps its wave from ending.
 * Cost:     the readers of a block are looked at in their order, each once a wave.
 */
#ifndef DFR_NEXT_USE_H
#define DFR_NEXT_USE_H

#include "runtime/policy/policy.h"

struct dfr_next_use;

/* The policy has units() and rank(). NULL: no memory. */
struct dfr_next_use *dfr_next_use_create(const struct dfr_view *view, const struct dfr_policy *policy,
                                         void *policy_state, uint32_t unit);
void dfr_next_use_destroy(struct dfr_next_use *next_use);

/* The unit has pinned what the job needs: from now on the job is no use of it that is to come. */
void dfr_next_use_taken(struct dfr_next_use *next_use, uint64_t job);

/* The first use that is to come, DFM_NEVER for none; block as in engine.h: slot * n_values + value. */
uint64_t dfr_next_use_of(struct dfr_next_use *next_use, uint32_t block);

/* Whether blocks are to be evicted so, as DF_EVICT_… says and the policy can. DF_E_REFUSED: it cannot. */
int dfr_next_use_wanted(int evict, const struct dfr_policy *policy, bool *wanted, struct df_error *error);

#endif
