/* unit_fifos.h - a FIFO of jobs for each unit, for policies that choose a unit for each ready job and run jobs in the order in which they
 * become ready (policy_random.c, policy_thesis.c). The transfer of a job's data is requested when the job is pushed.
 *
 * Memory: create() allocates all, destroy() frees it. The view is borrowed.
 * State:  struct dfr_unit_fifos is the first member of the policy's state, so come() and pop() are functions of struct dfr_policy.
 */
#ifndef DFR_UNIT_FIFOS_H
#define DFR_UNIT_FIFOS_H

#include "runtime/policy/policy.h"

struct dfr_unit_fifos {
    const struct dfr_view *view;
    struct dfr_queue *of[DF_MAX_UNITS];
};

/* count: by unit, the most jobs of a wave that it can get. *f is zeroed. Returns false without memory; destroy() frees what was allocated. */
bool dfr_unit_fifos_create(struct dfr_unit_fifos *f, const struct dfr_view *view, const uint64_t *count);
void dfr_unit_fifos_destroy(struct dfr_unit_fifos *f);

/* Pushes the job for that unit, as struct dfr_policy's push(). */
enum dfr_pushed dfr_unit_fifos_push(struct dfr_unit_fifos *f, uint64_t job, uint32_t unit, uint32_t by, bool lone, uint32_t *units);
void dfr_unit_fifos_come(void *state, uint64_t job);
bool dfr_unit_fifos_pop(void *state, uint32_t worker, uint64_t *job);

#endif
