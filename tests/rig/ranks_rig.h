/* ranks_rig.h - runs a graph of run_rig.h on several ranks, a thread for each, over the mock of a link that delays and reorders (link_rig.h). */
#ifndef RANKS_RIG_H
#define RANKS_RIG_H

#include <pthread.h>

#include "run_rig.h"
#include "runtime/ranks/ranks.h"

enum { RANKS_RIG_MOST = 6 };

struct ranks_rig_rank {                 /* after the run */
    struct df_stats stats;
    struct df_error error;
    int status;

    pthread_t thread;
    struct dfr_link *link;
    const struct df_graph *graph;
    struct df_options options;
    struct dfr_ranks_options ranks;
};

extern struct ranks_rig_rank ranks_rig[RANKS_RIG_MOST];

/* Gives each node a name of its own. A run does so, too. */
void ranks_rig_number(const struct df_graph *graph);
/* killed: that rank dies after up to 20 ms; 0: none. Gives the status of rank 0. */
int ranks_rig_run(struct rig *r, int n, const struct df_options *options, const struct dfr_ranks_options *ranks, int killed, uint32_t *random);
/* The same. Fails the test unless all ranks that live end well, and the sinks have what the sequential reference says of so many waves. */
void ranks_rig_check(struct rig *r, int n, const struct df_options *options, const struct dfr_ranks_options *ranks, int killed, uint32_t *random, int64_t waves,
                     unsigned seed);

#endif
