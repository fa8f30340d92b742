/* stages_run.h - a graph on all ranks of an mpirun by stages: the first rank has HEAD and TAIL (subgraph/cut.h), and each of the others has a group of
 * stages, as a mapping says. The waves go from group to group, straight from rank to rank.
 *
 * Mapping:  subgraph/mapping_text.h says how it is written. Its processors are ranks 1, 2, … in the order in which they stand in the text. The first rank alone
 *           reads it. A stage that only the first rank can run need not stand there; if it does, a warning says that the first rank runs it.
 *           If there is none, each stage gets a rank (dfr_mapping_by_turns()). That is for graphs whose calls say @stage(n). If stages share ranks, a
 *           warning says so.
 * Order:    results are taken in order on the first rank, whatever way they took.
 * Death:    first rank and inputs: as in manager.h. If a rank of the mapping dies, another mapping without it begins (mapping.h), and all waves that were
 *           not accepted go through all groups again.
 * Journal, threads: as of ranks.h.
 * Errors:   as of ranks.h. What is wrong in a mapping has been printed, with its place, and *error has no text then.
 */
#ifndef DFR_STAGES_RUN_H
#define DFR_STAGES_RUN_H

#include "runtime/ranks/ranks.h"
#include "runtime/subgraph/mapping.h"
#include "runtime/stream/stream.h"

struct dfr_stages_options {
    const char *path;                   /* of the mapping; the first rank's. NULL: dfr_mapping_by_turns() */
    enum dfr_stream_policy policy;
    bool tune;                          /* on all ranks: the mapping is changed when what waves take has drifted (tune.h) */
    /* NULL, or asked on the first rank when waves have ended, n in all: does another mapping begin with the next wave? *next holds what is so, and
     * is written then. It must be valid. By the communication thread. */
    bool (*change)(void *arg, int64_t n, struct dfr_mapping *next);
    void *change_arg;
};

/* As dfr_ranks_run(). */
int dfr_stages_run(struct dfr_link *link, const struct df_graph *graph, const struct df_options *options, const struct dfr_ranks_options *ranks,
                   const struct dfr_stages_options *stages, struct df_stats *stats, struct df_error *error);

#endif
