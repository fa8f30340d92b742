/* worker.h - a worker's side of the protocol of manager.h: a state machine without threads, clock or link, too. comm.c drives it; replica.c
 * takes its clock measurements.
 *
 * Waves:    What is GIVEn waits in a queue, from which the caller takes it in the order in which it came. The caller may run
 *           several at once, and gives their results in any order. A wave may come a second time, and is run again then.
 * None:     NONE (replica_stages.c) waits in that queue, too.
 * Silence:  if the manager is silent for beat_timeout_s, or longer if the link is slow (link/pulse.h), or has ended, the worker is over.
 *           That is DF_E_STOPPED, unless it was let go before.
 * Epochs:   messages of a lower epoch than the manager's are dropped. A WELCOME of a higher one is a new manager's: the waves
 *           that wait are dropped, and results of the old epoch are not sent.
 * Clocks:   If a trace is wanted, CLOCKs go to the manager and back when the worker is welcome and when END has come (clock.h). Reports follow.
 * Reports:  An END may want reports (dfr_worker_wanted()). BYE is said when the last one was sent.
 * Memory, threads: as in manager.h.
 */
#ifndef DFR_WORKER_H
#define DFR_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/link/message.h"
#include "runtime/ranks/clock.h"

struct dfr_worker;

struct dfr_worker_options {
    uint64_t hash;
    const char *host;                   /* its name in messages; borrowed during dfr_worker_create() */
    const char *files;                  /* the files that it reads, which the manager compares with its own (dfr_inputs_text()); NULL: none; borrowed
                                         * during dfr_worker_create() */
    const char *facts;                  /* of its program, which the manager compares if the hashes differ (record/facts.h); NULL: none; borrowed during
                                         * dfr_worker_create() */
    unsigned inflight;                  /* waves that the caller can run at once; 0 counts as 1 */
    uint32_t classes;                   /* what HELLO says of its devices (suits.h); 0: nothing */
    double beat_s, beat_timeout_s;      /* 0: 1 s, 10 s */
    double welcome_timeout_s;           /* how long the manager may need until its first word; 0: 60 s */
    void (*send)(void *send_arg, int to, struct dfr_message *message); /* as the manager's */
    void *send_arg;
};

/* Sends HELLO. DF_E_MEMORY. */
int dfr_worker_create(const struct dfr_worker_options *options, double now_s, struct dfr_worker **worker,
                      struct df_error *error);
void dfr_worker_destroy(struct dfr_worker *worker);

/* The manager's WELCOME with what is made once; borrowed until the worker is destroyed or an epoch begins. NULL: it did
 * not come yet. */
const struct dfr_message *dfr_worker_welcome(const struct dfr_worker *worker);
/* The next wave to be run, as a GIVE that the caller drops. NULL: none. */
struct dfr_message *dfr_worker_take(struct dfr_worker *worker);
/* The head of the result of a wave that was taken: of that `give`. */
struct dfr_head dfr_worker_result_head(const struct dfr_worker *worker, const struct dfr_head *give);
/* Sends a result, made with that head. */
void dfr_worker_result(struct dfr_worker *worker, double now_s, struct dfr_message *result);
/* A wave failed, or this rank: the manager will end the run, and say the sentence. */
void dfr_worker_failed(struct dfr_worker *worker, double now_s, const char *sentence);
/* How far it is with what it runs, in steps that the caller counts: the manager hears it with the next heartbeats. */
void dfr_worker_progress(struct dfr_worker *worker, int64_t steps);
/* The next wave of which the manager has judged a result of this worker. false: none. `accepted` is false if another
 * worker's result was there before. */
bool dfr_worker_verdict(struct dfr_worker *worker, int64_t *wave, bool *accepted);
/* What was written in an accepted wave has its names; or it is gone, and the wave is to be done again for it. */
void dfr_worker_stored(struct dfr_worker *worker, double now_s, int64_t wave, bool there);
/* Asks for no more waves (SIGTERM): what it holds is run, then the manager lets it go. */
void dfr_worker_leave(struct dfr_worker *worker, double now_s);

/* Does the manager stop the run? What this worker runs is to end soon. */
bool dfr_worker_hurries(const struct dfr_worker *worker);

/* How far this worker's clock is from the manager's: two bursts of trips, at the start and at the end, if a trace is wanted. The time 0 of that trace. */
const struct dfr_trips *dfr_worker_trips(const struct dfr_worker *worker);
double dfr_worker_origin_s(const struct dfr_worker *worker);
/* What the manager wants to be told before this worker says BYE: DFR_WANTS_…; 0: nothing. */
uint32_t dfr_worker_wanted(const struct dfr_worker *worker);
struct dfr_head dfr_worker_report_head(const struct dfr_worker *worker);
/* Sends a report, made with that head; NULL: none. `last`: there are no more. */
void dfr_worker_report(struct dfr_worker *worker, double now_s, struct dfr_message *report, bool last);

/* A piece of a message was received from the manager; or the manager's process or its connection has ended. */
void dfr_worker_heard(struct dfr_worker *worker, double now_s);
void dfr_worker_lost(struct dfr_worker *worker);
void dfr_worker_arrived(struct dfr_worker *worker, double now_s, struct dfr_message *message);
void dfr_worker_tick(struct dfr_worker *worker, double now_s);
double dfr_worker_due_s(const struct dfr_worker *worker);

bool dfr_worker_is_over(const struct dfr_worker *worker);
bool dfr_worker_is_whole(const struct dfr_worker *worker); /* the link may be closed as a whole */
/* Has the manager said that all waves have ended, and all files are stored? */
bool dfr_worker_is_done(const struct dfr_worker *worker);
/* After the end. DF_OK: the manager let it go. DF_E_REFUSED: it refused this rank, and why. DF_E_STOPPED: it was silent. */
int dfr_worker_outcome(const struct dfr_worker *worker, struct df_error *error);

#endif
