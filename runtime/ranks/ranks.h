/* ranks.h - a graph on all ranks of an mpirun. The first rank has HEAD and TAIL of the graph (subgraph/cut.h), and hands out what the others compute.
 * program/program_main.c calls it for a run on ranks.
 *
 * Groups:   The other ranks are in one group, or in several, one behind the other; each group has a subgraph, and each of its ranks is a *replica* of it.
 *           Without pipeline stages there is one group, with all of BODY, whose replicas share waves. Or they share the parts of divided accs: each replica
 *           has some of the parts, and all waves. With pipeline stages a group has those that a mapping says, and its replicas share waves, which go from group
 *           to group, straight from rank to rank.
 * Parts:    Shared if that is asked for; or if the graph can be shared so, and if it pays (subgraph/share.h). All ranks find the same.
 * Mapping:  subgraph/mapping_text.h says how it is written. Its processors are ranks 1, 2, … in the order in which they stand in the text. The first rank
 *           alone reads it. A stage that only the first rank can run need not stand there; if it does, a warning says that the first rank runs it.
 *           If there is none, each stage gets a rank (dfr_mapping_by_turns()). That is for graphs whose calls say @stage(n). If stages share ranks, a
 *           warning says so.
 * Order:    TAIL gets the results in order, whatever way they took. From its start in HEAD to its end in TAIL a wave's tokens are on the first rank.
 *           They take at most `memory_bytes` in all, and there are at most as many waves as the manager has places for.
 * Ranks:    all ranks have the same graph, with the same values of args. A rank that has not is refused.
 * Death:    manager.h has the rules. What a rank held that is dead is given out again.
 * Journal:  The first rank writes it (record/resumable.h). Waves that are done are not handed out again, unless a node of TAIL keeps something from wave
 *           to wave. Then BODY computes all waves for it again, or those behind the last checkpoint: accs are TAIL's. For a checkpoint TAIL gets no waves until
 *           it is written. If ranks share parts, rank0_parts.c says what is done. If a signal ends the run, the first rank's process ends with
 *           status DFR_RESUMABLE.
 * Threads:  the calling thread becomes the communication thread. Each part has its own workers.
 * Errors:   those of a run. What fails on a worker ends the run on all ranks; the first rank tells it. Workers tell what is
 *           theirs alone: that they were refused, or that the first rank is gone. What is wrong in a mapping has been printed, with its place, and *error
 *           has no text then.
 */
#ifndef DFR_RANKS_H
#define DFR_RANKS_H

#include "runtime/graph/graph.h"
#include "runtime/link/link.h"
#include "runtime/ranks/figures.h"
#include "runtime/record/resumable.h"
#include "runtime/stream/stream.h"
#include "runtime/subgraph/mapping.h"
#include "runtime/subgraph/share.h"

struct dfr_stages_options {
    const char *path;                   /* of the mapping; the first rank's. NULL: dfr_mapping_by_turns() */
    enum dfr_stream_policy policy;
    bool tune;                          /* on all ranks: the mapping is changed when what waves take has drifted (tune.h) */
    /* NULL, or asked on the first rank when waves have ended, n in all: does another mapping begin with the next wave? *next holds what is so, and
     * is written then. It must be valid. By the communication thread. */
    bool (*change)(void *arg, int64_t n, struct dfr_mapping *next);
    void *change_arg;
};

struct dfr_ranks_options {
    enum dfr_share_what share;          /* what the replicas share, if there are no stages */
    const struct dfr_stages_options *stages; /* NULL: there is one group */
    unsigned window;                    /* waves that a worker holds at most; 0: found */
    double wave_timeout_s;              /* a worker that holds a wave longer counts as dead; 0: none does */
    double heartbeat_timeout_s;         /* so does one that is silent for so long; 0: 10 s */
    const struct dfr_resumable_options *resume; /* NULL: no journal is written */
    void (*progress)(void *arg, int64_t done, int64_t total, int n_live, int n_dead); /* NULL, or told again and again how many waves of this run have
                                         * ended on the first rank, and how many of the other ranks take part and how many count as dead, by its
                                         * communication thread. total 0: it is not known */
    void *progress_arg;
    bool own_process;                   /* a worker ends its process, with its kernels as they are, if not all ranks end well */
    struct dfr_figures **figures;       /* NULL, or where the first rank puts what all ranks did, if the run ends well. The caller frees it; on other ranks
                                         * it stays NULL. Jobs are timed if node_stats of the options are there; the array itself stays as it is */
    uint64_t memory_bytes;              /* of tokens on the first rank; 0: a quarter of the machine's memory */
};

/* Runs the graph on the ranks of the link, which has two at least, and closes it. `waves` of the options: as of a run. stats: of
 * the part that runs on this rank; of the first rank's, that is TAIL. If the graph cannot be cut, the first rank fails,
 * and the others have nothing to do. */
int dfr_ranks_run(struct dfr_link *link, const struct df_graph *graph, const struct df_options *options,
                  const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error);

#endif
