/* next_use.h - predicts when a unit will next read a block, which Belady eviction needs (memmgr/victims.h). It requires a policy that fixes each node's
 * unit and its position in the unit's order before the run. GPU workers (gpu/) and the simulator (simulate/simulate_room.c) use it;
 * compiler/commands/cmd_simulate.c and
 * program/args_device.c ask whether a policy allows --evict.
 *
 * Words:    A *use* is numbered wave * n_nodes + rank of the node on the unit, so older waves come first, as in order.h. Jobs may overtake each other
 *           slightly; the numbers are then a little off, which costs extra copies but no correctness.
 * Memory:   create() allocates all; the view and the policy's state are borrowed.
 * Threads:  only the unit's worker. A block that is asked for is alive: one of its readers keeps its wave from ending.
 * Cost:     a block's readers are scanned in order, each once per wave.
 */
#ifndef DFR_NEXT_USE_H
#define DFR_NEXT_USE_H

#include "runtime/policy/policy.h"

struct dfr_next_use;

/* The policy must have units() and rank(). NULL: no memory. */
struct dfr_next_use *dfr_next_use_create(const struct dfr_view *view, const struct dfr_policy *policy,
                                         void *policy_state, uint32_t unit);
void dfr_next_use_destroy(struct dfr_next_use *next_use);

/* Reports that the unit has pinned the job's inputs; the job is no longer a future use. */
void dfr_next_use_taken(struct dfr_next_use *next_use, uint64_t job);

/* Returns the next use of a block, or DFM_NEVER. `block` is as in engine.h: slot * n_values + value. */
uint64_t dfr_next_use_of(struct dfr_next_use *next_use, uint32_t block);

/* Sets *wanted if `evict` (DF_EVICT_…) selects Belady eviction. Fails with DF_E_REFUSED if the policy cannot predict uses. */
int dfr_next_use_wanted(int evict, const struct dfr_policy *policy, bool *wanted, struct df_error *error);

#endif
