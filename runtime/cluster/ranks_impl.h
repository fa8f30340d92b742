/* ranks_impl.h - what the two sides of a run on several ranks share (ranks.h): ranks.c is the first rank's, ranks_worker.c that of the others. */
#ifndef DFR_RANKS_IMPL_H
#define DFR_RANKS_IMPL_H

#include "runtime/cluster/comm.h"
#include "runtime/cluster/part.h"
#include "runtime/cluster/ranks.h"

/* Several beats fit into the time after which a rank counts as dead. 0: the default. */
static inline double dfr_ranks_beat_s(const struct dfr_ranks_options *ranks)
{
    return ranks->heartbeat_timeout_s > 0 && ranks->heartbeat_timeout_s < 10 ? ranks->heartbeat_timeout_s / 10 : 0;
}

/* Do workers write files of their own (sinks with @worker)? */
bool dfr_ranks_store(const struct dfr_parts *parts);

/* A worker's side, until the first rank lets it go. hash: of the graph with its args. */
int dfr_ranks_work(struct dfr_comm *comm, const struct dfr_parts *parts, const struct df_options *options, uint64_t hash,
                   const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error);

#endif
