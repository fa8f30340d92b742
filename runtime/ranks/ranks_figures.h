/* ranks_figures.h - what the ranks of a run did, as --stats and --trace want it (figures.h): how the first rank asks for it and keeps it, and how another
 * rank counts, and tells it at the end. For ranks that share waves (rank0_waves.c, replica_waves.c) and for those that share parts of accs (rank0_parts.c, replica_parts.c).
 *
 * Memory:   dfr_view_free() and dfr_teller_free() return what the calls before have taken.
 * Threads:  the communication thread.
 */
#ifndef DFR_RANKS_FIGURES_H
#define DFR_RANKS_FIGURES_H

#include "runtime/subgraph/cut.h"
#include "runtime/ranks/manager.h"
#include "runtime/ranks/worker.h"
#include "runtime/ranks/cluster_trace.h"
#include "runtime/ranks/pieces.h"

/* ---- the first rank ---- */

struct dfr_view {
    struct dfr_figures *figures;        /* NULL: not asked for, and nothing else is done */
    double begun_s;
    struct dfr_cluster_trace_write merged;     /* its file is NULL: no trace is written */
    struct dfr_trace_part traces[DFR_PLACES]; /* of the parts that run here */
};

/* Jobs of the parts that run here are counted beside those of the others: node_stats and node_skips of the options are set. */
int dfr_view_begin(struct dfr_view *view, int n_ranks, uint32_t n_nodes, struct df_options *options, struct df_error *error);
/* What the manager asks for. `report` of the options is the caller's, and calls dfr_view_report(). */
void dfr_view_ask(const struct dfr_view *view, struct dfr_manager_options *options);
void dfr_view_report(struct dfr_view *view, int rank, const struct dfr_message *report);
/* The manager is at its end. */
void dfr_view_over(struct dfr_view *view, const struct dfr_manager *manager);
/* The run has ended well, after so many waves. What the parts that ran here did. */
void dfr_view_end(struct dfr_view *view, const struct df_stats *head, const struct df_stats *tail, int64_t waves);
/* The trace appears if the run has ended well. Gives the status of all. */
int dfr_view_end_trace(struct dfr_view *view, int status, struct df_error *error);
/* to: where the figures go; NULL: nowhere. */
void dfr_view_free(struct dfr_view *view, struct dfr_figures **to);

/* ---- the others ---- */

struct dfr_teller {
    uint32_t n_nodes;                   /* of the whole graph */
    struct df_node_stats *nodes;        /* NULL: jobs are not timed */
    struct df_node_skips *skips;        /* NULL: not asked for */
    const struct dfr_stage_rows *stages; /* what it did with its stages; NULL: it has none. The caller's */
    struct dfr_pieces pieces;           /* of the trace */
    struct dfr_trace_part trace;
    bool told;                          /* the figures went out */
};

/* wants: flags of a WELCOME. What rank 0 wants is counted and traced from now on. */
int dfr_teller_begin(struct dfr_teller *teller, uint32_t wants, int rank, uint32_t n_nodes, struct df_error *error);
/* Events that are written from now on are on rank 0's clock as far as that is known. */
void dfr_teller_clock(struct dfr_teller *teller, const struct dfr_worker *worker);
/* The message with the figures, the first of all. */
int dfr_teller_figures(struct dfr_teller *teller, const struct dfr_worker *worker, const struct df_stats *stats, const struct dfr_head *head,
                       struct dfr_message **message, struct df_error *error);
/* The next piece of the trace, if there is one. If it cannot be read, this is told in its place, and nothing follows. */
int dfr_teller_trace(struct dfr_teller *teller, struct dfr_head head, struct dfr_message **message, struct df_error *error);
void dfr_teller_free(struct dfr_teller *teller);

#endif
