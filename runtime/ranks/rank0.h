/* rank0.h - what the first rank does, whatever it hands out: it keeps the journal, runs HEAD and TAIL, has a manager hand out what the others compute, collects
 * their statistics, and ends the run. Waves (rank0_waves.c) and shares of accs (rank0_parts.c) differ in what is handed out, and what becomes of the results.
 *
 * Order:    open, with the journal; the manager, until all is over; last; the end of HEAD, of the journal, and of TAIL. If something fails before the manager begins,
 *           the other ranks are let go at once.
 * Calls:    The struct dfr_rank0 is the first member of the caller's own, which is `arg` of all calls below.
 * Memory:   dfr_rank0_run() frees what is in it. What the options point to must live until then, and the parts until after.
 * Threads:  the communication thread.
 */
#ifndef DFR_RANK0_H
#define DFR_RANK0_H

#include "runtime/ranks/cluster_trace.h"
#include "runtime/ranks/ranks_impl.h"
#include "runtime/record/digest.h"

/* What is handed out. */
struct dfr_handout {
    bool parts;                         /* parts of accs: their checkpoints are read here (struct dfr_resumable_options) */
    /* Opens HEAD, by dfr_rank0_open_head(), and whatever is needed to begin. The journal is open. Not called if nothing is left to do. */
    int (*open)(void *arg, struct df_error *error);
    /* What the manager is to do that differs. */
    void (*manage)(void *arg, struct dfr_manager_options *options);
    /* As in struct dfr_manage_side. ended() is not called after a failure. */
    int (*next)(void *arg, const struct dfr_head *head, struct dfr_message **give, bool *over, struct df_error *error);
    int (*result)(void *arg, const struct dfr_message *result, bool *taken, struct df_error *error);
    int (*ended)(void *arg, unsigned most, unsigned *n, struct df_error *error);
    /* NULL, or what follows the last result, or the failure that `status` is. Gives the status of all. */
    int (*last)(void *arg, int status, struct df_error *error);
    int64_t (*waves)(const void *arg);  /* how many have ended in this run */
};

struct dfr_rank0 {
    const struct dfr_handout *handout;
    struct dfr_comm *comm;
    const struct dfr_parts *parts;      /* HEAD and TAIL run here */
    const struct dfr_ranks_options *ranks;
    struct df_options options;          /* as the journal changes them */
    uint64_t hash;
    struct dfr_resumable *resumable;    /* NULL: no journal is written */
    bool nothing;                       /* all waves are done */
    struct dfr_part *head, *tail;
    struct dfr_value *once;             /* n_once of them: what HEAD has made once */
    uint32_t n_once;
    struct dfr_inputs inputs;           /* of sources with @worker */
    int n_live, n_dead;                 /* other ranks */
    struct dfr_figures *figures;        /* what all ranks did; NULL: not asked for */
    double begun_s;
    struct dfr_cluster_trace_write trace; /* its file is NULL: no trace is written */
    struct dfr_trace_part traces[DFR_PLACES]; /* of the parts that run here */
    int failed;                         /* the run cannot begin, or go on, and the others are still to hear it */
    struct df_error why;
};

/* Runs the first rank until all is over. What stands before `resumable` is the caller's. */
int dfr_rank0_run(struct dfr_rank0 *rank0, struct df_stats *stats, struct df_error *error);
/* The run cannot begin, and only this rank knows: lets the others go. Gives `status`, with the sentence that is in *error. */
int dfr_rank0_let_go(struct dfr_comm *comm, uint64_t hash, const struct dfr_ranks_options *ranks, int status, struct df_error *error);

/* The options for HEAD or TAIL, which run on the host if they can. */
struct df_options dfr_rank0_options(struct dfr_rank0 *rank0, unsigned which);
/* Opens HEAD, and waits for what fires once. */
int dfr_rank0_open_head(struct dfr_rank0 *rank0, const struct df_options *options, struct df_error *error);

#endif
