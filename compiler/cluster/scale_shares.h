/* scale_shares.h - `dfc scale` for programs whose ranks divide the parts of accs among them (runtime/ranks/ranks.h):
 * determines what a wave takes on a machine that owns a *share*, which is some of the parts. scale_command.c calls
 * it, and scale.c simulates the run with these times.
 *
 * Shares:   as in the program: one per machine, but no more than parts. Their numbers of parts differ by at most one
 *           (dfr_spans_make()).
 * Wave:     measured as in scale.h, for the graph of the share: its parts and everything that these read, sources
 *           included. Nodes that fire once take no time.
 * Whole:    the time on one machine with all parts. From it scale.c computes the ideal, the sum of the machines' rates
 *           without waiting or repeated work.
 * Memory:   dfc_scale_shares_free() frees the result.
 */
#ifndef DFC_SCALE_SHARES_H
#define DFC_SCALE_SHARES_H

#include "compiler/cluster/manager_simulation.h"
#include "partition/partition.h"
#include "runtime/subgraph/share.h"

struct dfc_scale_shares {
    uint32_t n_parts;                   /* 0: the graph has nothing to be shared */
    double whole_s[DFC_MOST_TYPES];     /* from wave to wave, with all parts */
    struct dfc_manager_share **rows;    /* by number of a row: its shares; NULL there: machines share waves */
    uint32_t *n, n_rows;                /* how many it has */
};

/* Measures, for each row's number of machines, a wave of each share on a machine of that type; the problem is for that type. speed: of the type.
 * DF_E_REFUSED: `what` requests sharing by parts, which this graph does not allow. */
int dfc_scale_shares_look(const struct dfp_problem *problem, const char *policy, const struct dfp_options *options, uint32_t inflight, uint32_t type,
                          double speed, enum dfr_share_what what, const unsigned long *nodes, unsigned n_rows, struct dfc_scale_shares *shares,
                          struct df_error *error);
void dfc_scale_shares_free(struct dfc_scale_shares *shares);

#endif
