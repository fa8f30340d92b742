/* sorted.h - ready jobs in sorted lists, one or more per group of identical units, for the policies that rank jobs by speedup (policy_ddwrr.c,
 * policy_speedup.c). The policy chooses each node's list in a group and its key there. Taking a job from one list removes it from all.
 *
 * Words:    The units of a *group* can run the same nodes and take the same time for them. Group 0 is the host.
 * Lists:    The highest key comes first; equal keys are ordered by node number, then by slot.
 * Memory:   create() allocates; the view is borrowed until destroy().
 * Threads:  as policy.h says of push, pop and done.
 */
#ifndef DFR_SORTED_H
#define DFR_SORTED_H

#include "runtime/policy/ahead.h"
#include "runtime/policy/locality.h"
#include "runtime/policy/order.h"

#define DFR_UNLISTED UINT32_MAX

struct dfr_groups {
    uint32_t n;
    uint32_t of[DF_MAX_UNITS];          /* unit → group */
    uint32_t unit[DF_MAX_UNITS];        /* group → its first unit */
};

void dfr_groups_find(struct dfr_groups *groups, const struct dfr_view *view);

struct dfr_sorted {
    const struct dfr_view *view;
    struct dfr_groups groups;
    uint32_t n_lists;                   /* of each group */
    struct dfr_order *lists;            /* [group * n_lists + list] */
    uint32_t *list_of;                  /* [group * n_nodes + node]; DFR_UNLISTED */
    uint32_t *nodes, *rank;             /* of each group, n_nodes */
    struct dfr_offers offers;
    struct dfr_ahead ahead;
};

/* Called for the nodes that the group can run. Gives the list; DFR_UNLISTED: the node is in none. *key must not be
 * NaN. */
typedef uint32_t dfr_sorted_place(const struct dfr_view *view, const struct dfr_groups *groups, uint32_t group,
                                  uint32_t node, double *key);

int dfr_sorted_create(struct dfr_sorted *sorted, const struct dfr_view *view, uint32_t n_lists, dfr_sorted_place *place,
                      struct df_error *error);
void dfr_sorted_destroy(struct dfr_sorted *sorted);

enum dfr_pushed dfr_sorted_push(struct dfr_sorted *sorted, uint64_t job, uint32_t by, bool lone, uint32_t *units);

/* Takes the first job of the first list in order[0 … n) that is not empty. With `--dl` a device takes another job
 * of its group instead, if that one reuses what is in its memory and is worth it. If `order` is NULL, the order is 0, 1, … *taken is the list's
 * index in `order`, or n. */
bool dfr_sorted_pop(struct dfr_sorted *sorted, uint32_t worker, const uint32_t *order, uint32_t n, uint32_t *taken,
                    uint64_t *job);

#endif
