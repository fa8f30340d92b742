/* scale_shares.h - what a wave takes on a machine that has a share of the parts of accs: `dfc scale` of programs whose ranks share parts (runtime/shares/).
 *
 * Shares:  are those of the program: as many as machines, but no more than parts, each with as many parts as others or one more (dfr_spans_make()).
 * Wave:    found as scale.h says, of the graph of the share: its parts, and all that these read, sources included. What fires once takes no time.
 * Whole:   one machine with all parts. Machines that never wait and repeat nothing are as fast as all of these together: that is the ideal.
 * Memory:  dfc_scale_shares_free() returns what was found.
 */
#ifndef DFC_SCALE_SHARES_H
#define DFC_SCALE_SHARES_H

#include "compiler/cluster/virtual.h"
#include "partition/partition.h"
#include "runtime/shares/shares.h"

struct dfc_scale_shares {
    uint32_t n_parts;                   /* 0: the graph has nothing to be shared */
    double whole_s[DFC_MOST_TYPES];     /* from wave to wave, with all parts */
    struct dfc_virtual_share **rows;    /* by number of a row: its shares; NULL there: machines share waves */
    uint32_t *n, n_rows;                /* how many it has */
};

/* Finds what a wave takes on a machine of that type, which the problem is for, with each share of as many machines as a row has. speed: of the type.
 * DF_E_REFUSED: `what` asks for parts, and they cannot be shared. */
int dfc_scale_shares_look(const struct dfp_problem *problem, const char *policy, const struct dfp_options *options, uint32_t inflight, uint32_t type,
                          double speed, enum dfr_share_what what, const unsigned long *nodes, unsigned n_rows, struct dfc_scale_shares *shares,
                          struct df_error *error);
void dfc_scale_shares_free(struct dfc_scale_shares *shares);

#endif
