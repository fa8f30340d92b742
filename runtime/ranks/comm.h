/* comm.h - the communication thread of a rank: it moves messages between a link and the manager or the worker, and waves
 * between these and the graph's side, until the run is over. rank0.c and replica.c run it; the other files of both sides
 * (rank0_….c, replica_….c) wake it, stop it and send through it.
 *
 * Threads:  the thread that opened the link calls dfr_comm_manage() or dfr_comm_work(), and is the communication thread until
 *           the call returns. It calls the graph's side, which may feed and ask fed runs (docs/embedding.md), but never waits.
 * Waiting:  the thread sleeps for a sixteenth of the time for which nothing happened or moved, from 20 us up to 20 ms:
 *           dfr_comm_sleep_s(). dfr_comm_ring() wakes it: who ends a wave calls that. What arrives on the link is noticed
 *           after the sleep, so a message that comes after a second of silence may wait for 20 ms. A thread that waits wakes
 *           163 times in the first second after something happened, and 50 times in each further one.
 * Memory:   messages that the graph's side makes are taken; those that it is shown are borrowed during the call.
 * Errors:   a call of the graph's side that fails ends the run on all ranks, with its sentence.
 */
#ifndef DFR_COMM_H
#define DFR_COMM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/link/link.h"
#include "runtime/ranks/manager.h"
#include "runtime/ranks/worker.h"

struct dfr_comm {
    struct dfr_link *link;              /* borrowed */
    const char *facts;                  /* of the program with its args (dfr_facts_of()), to report in what a refused rank differs. Borrowed; NULL: unknown */
    _Atomic uint32_t bell;              /* changes with each ring */
    _Atomic bool stop;                  /* SIGTERM came: dfr_comm_stop() */
    bool whole;                         /* set at the end: how to close the link */
    uint64_t n_sleeps;                  /* how often the communication thread went to sleep; only it reads and writes both */
    uint64_t n_active;                  /* how often it looked and something had happened, or moved */
    struct dfr_comm_loop *loop;         /* while it runs */
    bool done;                          /* set at a worker's end: all waves have ended */
    bool hurries;                       /* a worker: the first rank stops the run. Of the communication thread */
};

/* How long the communication thread sleeps if nothing happened or moved for so long. */
double dfr_comm_sleep_s(double idle_s);

/* From any thread, and from a signal's handler. */
void dfr_comm_ring(struct dfr_comm *comm);
/* Rank 0: no more waves are handed out. A worker: it asks for no more. What was given is finished. */
void dfr_comm_stop(struct dfr_comm *comm);

/* The communication thread, from a call of the graph's side: sends a message to another rank, and takes it. A rank that has ended with an error sends
 * nothing. */
void dfr_comm_send(struct dfr_comm *comm, int to, struct dfr_message *message);
/* The same thread, while dfr_comm_work() runs. */
const struct dfr_worker *dfr_comm_worker(const struct dfr_comm *comm);

/* Rank 0's part of the graph. */
struct dfr_manage_side {
    void *arg;
    /* The inputs of the next wave, made as a message with that head. NULL: they are not ready. *over is set when no wave
     * follows, this one included only if there is a message. Asked when there is room for a wave. */
    int (*next)(void *arg, const struct dfr_head *head, struct dfr_message **give, bool *over, struct df_error *error);
    /* The result of the next wave in order. *taken = false: there is no room now, and it is shown again later. */
    int (*result)(void *arg, const struct dfr_message *result, bool *taken, struct df_error *error);
    /* How many more waves, in order, have ended: written, synced, journaled. At most `most`: of others the files are not there that workers
     * write. */
    int (*ended)(void *arg, unsigned most, unsigned *n, struct df_error *error);
    /* NULL, or shown the manager when all is over. */
    void (*over)(void *arg, const struct dfr_manager *manager);
    /* The run has no waves or cannot begin. It then ends before any worker is welcomed, because the WELCOME would lack the values that are made once. */
    bool at_once;
};

/* A worker's part of the graph. */
struct dfr_work_side {
    void *arg;
    /* What is made once has come. It comes again with a new manager. */
    int (*begin)(void *arg, const struct dfr_message *welcome, struct df_error *error);
    /* Begins a wave on these inputs. `head` is for the message of its result. *started = false: there is no room now. */
    int (*start)(void *arg, const struct dfr_message *give, const struct dfr_head *head, bool *started,
                 struct df_error *error);
    /* The result of a wave that has ended, in any order. NULL: none. */
    int (*finish)(void *arg, struct dfr_message **result, struct df_error *error);
    /* NULL, or gives how far the wave is that runs here, in steps of its own. */
    int64_t (*progress)(void *arg);
    /* NULL, or shown what comes from ranks other than rank 0. */
    int (*peer)(void *arg, int rank, struct dfr_message *message, struct df_error *error);
    /* NULL, or told of each result, in the order in which they were sent, whether it was accepted, or dropped because another's was there before. What
     * the wave wrote gets its names then, or goes. *stored: it has them; false: it is gone, and the wave is to be done again. */
    int (*verdict)(void *arg, int64_t wave, bool accepted, bool *stored, struct df_error *error);
    bool stores;                        /* the manager waits to hear that (dfr_manager_options.stores) */
    /* NULL, or asked for reports, made with that head, when no more waves come. NULL: none is ready, or none is left: *last. */
    int (*report)(void *arg, const struct dfr_head *head, struct dfr_message **report, bool *last, struct df_error *error);
};

/* Runs rank 0 until all is over. `send`, send_arg and n_ranks of `options` are set here.
 * *state is written in any case. DF_OK, DF_E_STOPPED, or why the run failed. */
int dfr_comm_manage(struct dfr_comm *comm, const struct dfr_manager_options *options, const struct dfr_manage_side *side,
                    struct dfr_manager_state *state, struct df_error *error);

/* Runs a worker until the manager lets it go. */
int dfr_comm_work(struct dfr_comm *comm, const struct dfr_worker_options *options, const struct dfr_work_side *side,
                  struct df_error *error);

#endif
