/* walk.h - a run by one worker, with a policy that decides before the run: the order of a wave's jobs is known then, so
 * the worker walks a list and nothing is counted, released or looked for.
 *
 * The list:  is what the policy's own push and pop give for one wave: what fires once, then streams (nothing else of a
 *            wave may fire before they have all delivered), then the others, each when what it reads is made. Waves
 *            come one after the other, all in slot 0: older waves first is what placed policies do.
 * When:      one worker, no device, tokens of fixed addresses (tokens.h), nobody wants to know when each job began.
 * Memory:    4 bytes a node; the tables of the firing rule and the policy are given back.
 */
#ifndef DFR_WALK_H
#define DFR_WALK_H

#include "runtime/engine.h"

struct dfr_walk {
    uint32_t n_once, n;                 /* of list: those that fire once come first */
    uint32_t *list;
};

bool dfr_walk_applies(const struct df_run *run);
/* The policy exists; it is gone where run->walk is there afterwards. */
int dfr_walk_create(struct df_run *run, struct df_error *error);
void dfr_walk_destroy(struct dfr_walk *walk);           /* NULL, too */

#endif
