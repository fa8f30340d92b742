/* ranks.h - a graph on all ranks of an mpirun: the first rank has HEAD and TAIL (cut.h) and hands out waves, each of the others
 * runs BODY (part.h). Waves that are given out go by manager.h.
 *
 * Order:    TAIL gets the results in order. From its start in HEAD to its end in TAIL a wave's tokens are on the first rank.
 *           They take at most `memory_bytes` in all, and there are at most as many waves as the manager has places for.
 * Ranks:    all ranks have the same graph, with the same values of args. A rank that has not is refused.
 * Journal:  The first rank writes it (resumable.h). Waves that are done are not handed out again, unless a node of TAIL keeps something from wave
 *           to wave. Then BODY computes all waves for it again, or those behind the last checkpoint: accs are TAIL's. For a checkpoint TAIL gets no waves until
 *           it is written. If a signal ends the run, the first rank's process ends with
 *           status DFR_RESUMABLE.
 * Threads:  the calling thread becomes the communication thread. Each part has its own workers.
 * Errors:   those of a run. What fails on a worker ends the run on all ranks; the first rank tells it. Workers tell what is
 *           theirs alone: that they were refused, or that the first rank is gone.
 */
#ifndef DFR_RANKS_H
#define DFR_RANKS_H

#include "runtime/link/link.h"
#include "runtime/record/resumable.h"
#include "runtime/ranks/figures.h"
#include "runtime/graph/graph.h"

struct dfr_ranks_options {
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
