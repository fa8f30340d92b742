/* ranks_impl.h - the two sides of a run on several ranks, which ranks.c calls by what is handed out: the first rank's (rank0_….c) and the
 * others' (replica_….c); and settings that both sides share. */
#ifndef DFR_RANKS_IMPL_H
#define DFR_RANKS_IMPL_H

#include "runtime/ranks/comm.h"
#include "runtime/ranks/ranks.h"
#include "runtime/subgraph/part.h"
#include "runtime/subgraph/pipeline_stages.h"
#include "runtime/subgraph/share.h"

/* Several beats fit into the time after which a rank counts as dead. 0: the default. */
static inline double dfr_ranks_beat_s(const struct dfr_ranks_options *ranks)
{
    return ranks->heartbeat_timeout_s > 0 && ranks->heartbeat_timeout_s < 10 ? ranks->heartbeat_timeout_s / 10 : 0;
}

/* The same for a worker, whose beats say how far it is: several in --wave-timeout, too. */
static inline double dfr_ranks_worker_beat_s(const struct dfr_ranks_options *ranks)
{
    const double beat_s = dfr_ranks_beat_s(ranks), wave_s = ranks->wave_timeout_s / 4;

    return wave_s > 0 && wave_s < (beat_s > 0 ? beat_s : 1) ? wave_s : beat_s;
}

/* Warns: `tell` of a manager's options. */
void dfr_ranks_tell(void *arg, const char *sentence);

/* Each runs its rank until all is over. hash: of the program with its args, and of what is handed out. relay: NULL if ranks share waves. */
int dfr_rank0_waves(struct dfr_comm *comm, const struct dfr_parts *parts, const struct df_options *options, uint64_t hash,
                    const struct dfr_ranks_options *ranks, const struct dfr_manager_relay *relay, struct df_stats *stats, struct df_error *error);
int dfr_rank0_parts(struct dfr_comm *comm, const struct dfr_shared *shared, const struct df_options *options, uint64_t hash,
                    const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error);
int dfr_rank0_stages(struct dfr_comm *comm, const struct df_graph *graph, const struct dfr_stages *stages, const struct df_options *options, uint64_t hash,
                     const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error);

int dfr_replica_waves(struct dfr_comm *comm, const struct dfr_parts *parts, const struct df_options *options, uint64_t hash,
                      const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error);
int dfr_replica_parts(struct dfr_comm *comm, const struct dfr_shared *shared, const struct df_options *options, uint64_t hash,
                      const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error);
int dfr_replica_stages(struct dfr_comm *comm, const struct df_graph *graph, const struct dfr_stages *stages, const struct df_options *options, uint64_t hash,
                       const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error);

#endif
