/* replica_stages.h - a rank that has a group of stages: it asks the ranks of the group before for waves, runs them, and gives them to the ranks of the next group that
 * ask for them.
 *
 * Waves:    What a wave brings goes into BODY of the rank's view (groups.h). When it has ended, what later places read waits to be asked for:
 *           that of BODY, and what is passed on. The last group sends it to rank 0 unasked. A rank begins no wave while two for each of its places
 *           run or wait.
 * Asking:   by stream.h: each place of BODY is a worker, all of the rank's type (suits.h).
 * Change:   A WELCOME of another generation brings another mapping. What waits is dropped, and what runs is dropped when it ends. If the rank's
 *           nodes are others, their run begins when the old one has ended.
 * Threads:  the communication thread.
 */
#ifndef DFR_STAGE_RANK_H
#define DFR_STAGE_RANK_H

#include "runtime/ranks/ranks_impl.h"
#include "runtime/subgraph/groups.h"
#include "runtime/stream/stream.h"

int dfr_stage_rank_work(struct dfr_comm *comm, const struct df_graph *graph, const struct dfr_stages *stages, enum dfr_stream_policy policy,
                   bool tune, const struct df_options *options, uint64_t hash, const struct dfr_ranks_options *ranks, struct df_stats *stats,
                   struct df_error *error);

#endif
