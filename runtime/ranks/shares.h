/* shares.h - a graph on all ranks of an mpirun by parts of accs: the first rank makes what fires once, hands out shares (share.h), and runs what
 * comes after the last wave. Each of the other ranks runs a share from the first wave to the last, and gives its parts.
 *
 * Protocol: manager.h, with a share in the place of a wave, and a window of one. So the share of a rank that dies goes to another rank, which begins where
 *           that one began, and each share's parts are accepted once. There are as many shares as ranks that compute, but no more than
 *           parts.
 * Steps:    With checkpoints a rank runs its share for checkpoint_s seconds, and gives the parts as they are then. The first rank writes them (spans.h), and gives
 *           the share out again. A signal to the first rank ends the steps early, and so does one to the rank itself.
 * Waves:    all shares must have the same number of waves, or the run fails: the inputs are not the same on all ranks.
 * Journal:  as of ranks.h. Before the last wave nothing is done. A run that goes on begins with the checkpoints, with as many ranks as there are.
 * Threads, errors: as of ranks.h.
 */
#ifndef DFR_SHARES_H
#define DFR_SHARES_H

#include "runtime/ranks/ranks.h"

enum dfr_share_what { DFR_SHARE_FIND, DFR_SHARE_WAVES, DFR_SHARE_PARTS };

/* Are the ranks to share parts? FIND: if the graph can be shared and it pays. The same on all ranks. kept: there are checkpoints. DF_E_REFUSED: it is asked for
 * and cannot be. */
int dfr_shares_choose(const struct df_graph *graph, const union df_scalar *args, int n_ranks, bool kept, enum dfr_share_what what, bool *parts,
                      struct df_error *error);

/* As dfr_ranks_run(). The graph can be shared. */
int dfr_shares_run(struct dfr_link *link, const struct df_graph *graph, const struct df_options *options, const struct dfr_ranks_options *ranks,
                   struct df_stats *stats, struct df_error *error);
/* One of both, as is chosen. */
int dfr_shares_or_ranks_run(struct dfr_link *link, const struct df_graph *graph, const struct df_options *options,
                            const struct dfr_ranks_options *ranks, enum dfr_share_what what, struct df_stats *stats, struct df_error *error);

#endif
