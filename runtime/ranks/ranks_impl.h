/* ranks_impl.h - what runs on several ranks have in common, whether the ranks share waves (ranks.c is the first rank's side, replica_waves.c that of
 * the others) or parts of accs (shares.c).
 */
#ifndef DFR_RANKS_IMPL_H
#define DFR_RANKS_IMPL_H

#include "runtime/ranks/comm.h"
#include "runtime/subgraph/part.h"
#include "runtime/ranks/ranks.h"

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

/* HEAD and TAIL read and write, so they need no device, and no policy that was chosen for what computes. */
struct df_options dfr_ranks_on_host(const struct dfr_parts *parts, unsigned which, const struct df_options *from);
/* Warns: `tell` of a manager's options. */
void dfr_ranks_tell(void *arg, const char *sentence);

/* A worker's side, until the first rank lets it go. hash: of the graph with its args. */
int dfr_ranks_work(struct dfr_comm *comm, const struct dfr_parts *parts, const struct df_options *options, uint64_t hash,
                   const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error);

/* What is another way for ranks that have stages: rank 0's epoch and who gets waves. */
struct dfr_ranks_relay {
    void *arg;
    const struct dfr_manager_relay *relay;
    /* Told what is made once, by rising port; borrowed until all is over. */
    void (*begin)(void *arg, const struct dfr_value *once, uint32_t n_once);
    /* NULL, or told how many waves of this run have ended; more than before. May call dfr_comm_remap(). */
    void (*ended)(void *arg, struct dfr_comm *comm, int64_t n);
};

/* The first rank, until all is over. relay: NULL if ranks share waves. */
int dfr_ranks_first(struct dfr_comm *comm, const struct dfr_parts *parts, const struct df_options *options, uint64_t hash,
                    const struct dfr_ranks_options *ranks, const struct dfr_ranks_relay *relay, struct df_stats *stats, struct df_error *error);

#endif
