/* replica.h - what every rank but the first does, whatever it is given to do: it takes part, runs BODY of its group's subgraph, counts what it does, and
 * reports that at the end. Sharing waves (replica_waves.c), sharing the parts of accs (replica_parts.c) and pipeline stages (replica_stages.c) differ in what
 * BODY gets and what becomes of its results.
 *
 * Runs:     One run of BODY follows another, if the rank gets another share or other stages. Their statistics are added.
 * Trace:    The end of a run writes its events by rank 0's clock. So a run that is traced does not end before that is known: dfr_replica_ends().
 * Reports:  After END comes the report of all runs, and then the trace in pieces. Waves that nobody wants any more may still run: their end is waited for.
 * Memory:   The caller's struct. dfr_replica_end() frees what is in it.
 * Threads:  the communication thread.
 */
#ifndef DFR_REPLICA_H
#define DFR_REPLICA_H

#include "runtime/ranks/pieces.h"
#include "runtime/ranks/ranks_impl.h"

struct dfr_replica {
    struct dfr_comm *comm;
    const struct df_graph *graph;       /* the whole one; borrowed, as the ranks' options are */
    const struct dfr_ranks_options *ranks;
    struct df_options options;          /* of the runs of BODY */
    uint64_t hash;                      /* of the program with its args */
    struct dfr_message *welcome;        /* the last one: what is made once; NULL: none came yet */
    struct dfr_part *body;              /* NULL: nothing runs */
    bool ending;                        /* BODY gets no more waves: its run ends */
    struct df_stats sum;                /* of all runs that have ended */
    bool counts, told;                  /* what this rank does is counted, from the first WELCOME on; rank 0 was told */
    struct df_node_stats *nodes;        /* of the whole graph; NULL: jobs are not timed */
    struct df_node_skips *skips;        /* the same; NULL: not asked for */
    const struct dfr_stage_rows *stages; /* what it did with its stages; NULL: it has none. The caller's */
    struct dfr_pieces pieces;           /* of the trace; its file is NULL: there is none */
    struct dfr_trace_part trace;
};

void dfr_replica_init(struct dfr_replica *replica, struct dfr_comm *comm, const struct df_graph *graph, const struct df_options *options, uint64_t hash,
                      const struct dfr_ranks_options *ranks);
/* Takes part until the first rank lets it go. inflight, classes: what its HELLO says. */
int dfr_replica_work(struct dfr_replica *replica, unsigned inflight, uint32_t classes, const struct dfr_work_side *side, struct df_error *error);
/* After the end, with the status so far: ends the process if ranks have processes of their own and not all end well. */
void dfr_replica_leave(struct dfr_replica *replica, int status, const struct df_error *error);
/* Waits for the end of what runs, writes what all runs did, and frees the replica. stats may be NULL. */
int dfr_replica_end(struct dfr_replica *replica, int status, struct df_stats *stats, struct df_error *error);

/* A WELCOME has come. What rank 0 wants is counted from the first one on. */
int dfr_replica_welcome(struct dfr_replica *replica, const struct dfr_message *welcome, struct df_error *error);
/* Has a signal asked this rank to end? Only if the run can be resumed. */
bool dfr_replica_is_asked(const struct dfr_replica *replica);

/* Starts a run of BODY of these parts, which are borrowed, with what is made once. There is none. */
int dfr_replica_open(struct dfr_replica *replica, const struct dfr_parts *parts, struct df_error *error);
/* May events be written? */
bool dfr_replica_knows_clock(const struct dfr_replica *replica);
/* BODY gets no more waves. Has its run ended, so that dfr_replica_finish() does not wait? Also if there is none. */
bool dfr_replica_ends(struct dfr_replica *replica);
/* Waits for the end of the run, and adds what it did. Then dfr_part_once() gives its accs. */
int dfr_replica_finish(struct dfr_replica *replica, struct df_error *error);
/* Closes BODY, if there is one. A run that has not ended is stopped. */
void dfr_replica_close(struct dfr_replica *replica);

/* `report` of struct dfr_work_side: the figures, when all runs have ended, and then the pieces of the trace. */
int dfr_replica_report(struct dfr_replica *replica, const struct dfr_head *head, struct dfr_message **message, bool *last, struct df_error *error);

#endif
