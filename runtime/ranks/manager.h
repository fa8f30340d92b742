/* manager.h - rank 0's side of a run on many ranks: it hands waves to workers on demand, and gets each result once, in order.
 *
 * It is a state machine without threads, clock or link. Events come as calls with the time `now_s`, on any clock that never
 * steps back; what it sends leaves by options.send. So it runs the same over MPI and TCP (comm.c), in the
 * tests, and in virtual time (compiler/cluster/manager_simulation.c).
 *
 * Protocol: A worker says HELLO, and is WELCOME, or REFUSEd if it runs another program, or reads other files. The manager GIVEs it
 *           waves until it holds as many as its *window*. Each RESULT makes room for the next. A VERDICT tells the worker of each
 *           result whether it was accepted. If waves are stored, it says STORED when that is done. Both sides BEAT. At the end the
 *           manager sends END, and the worker answers BYE. When all have, or have been waited for long enough, the manager says
 *           CLOSE.
 * Waves:    A wave is *offered* when its inputs are there, *given* to a worker, and *accepted* when a result is there. The
 *           caller *takes* results in order. The wave has *ended* when its outputs are written, and journaled if they are.
 * Bound:    No wave is offered `places` or more beyond the oldest that has not ended. That bounds inputs and results.
 * Death:    A worker that is silent for beat_timeout_s counts as dead, or longer if the link to it is slow (link/pulse.h); so does one whose process has
 *           ended, if the link says so, or one that holds a wave for wave_timeout_s and does not say in its beats that
 *           it gets further with it. Its waves
 *           go to the front of the queue. If it was not dead, its late results count as any others: the first result
 *           of a wave is accepted, later ones are dropped. It gets waves again after a result, or when it holds none.
 * Epochs:   A message of an older epoch is dropped. A worker that serves an older manager is WELCOME here, and is this one's
 *           then. A message of a newer epoch says that a newer manager has taken over: the run fails.
 * Window:   With window = 0 it is found for each worker. It begins with as many waves as the worker can have in flight, as its HELLO
 *           says, and doubles until the rate of results rises by less than 5 %. Then it goes back by one step. If the first
 *           doubling is of no use, the window is halved until the rate falls by 5 %, and goes back by one step.
 *           A time in which a worker waited for waves to be offered is not measured.
 * Storing:  With `stores` workers write files of their own (@worker). What is written in a wave gets its names on the worker whose result
 *           was accepted, and the wave may not end before that worker has said so: dfr_manager_stored(). If that worker dies before, the wave
 *           is given out again for its files alone, and the result stays. So its inputs are kept.
 * End:      A worker may find that there is no such wave, because a source that runs there has ended before. Then that wave and all behind it are
 *           dropped, and no more are offered. If one of them was accepted before, the workers read unlike files, and the run fails.
 * Clocks:   A CLOCK is answered at once, so that a worker learns how far its clock is from this one.
 * Reports:  With `wants` END asks for a REPORT. Who sends one is waited for as long as its messages come.
 * Relays:   With `relay` waves go from worker to worker (replica_stages.c). A worker gets a wave when it ASKs, and its result may come from another one.
 *           Which ranks do what is a *mapping*, which the WELCOME tells. It has a *generation*, the lower bits of the epoch. The first one begins when
 *           all ranks have said HELLO, or after start_s. If a rank of the mapping dies or leaves, another mapping follows, and all waves that
 *           are not accepted are given out again. What comes of older generations is dropped. There are no windows and no verdicts. A beat says
 *           which wave is the oldest that runs at a worker (and one), and wave_timeout_s counts from the first beat that says so. Any worker of the mapping may
 *           find the end of the stream in a wave that was given.
 * Stopping: dfr_manager_stop() ends handing out. What was given comes back, and is accepted. A BEAT tells the workers, so that they end soon what they can.
 * Failures: A wave that fails on a worker ends the run, as it does in one process. So does it if no worker comes for start_s, if
 *           none lives for lost_s after one did, or if none can come back.
 * Cost:     A few steps for each message; a look at every worker four times in the shortest of the times.
 * Memory:   Messages that are given to a call are the manager's then; what it sends, options.send only borrows.
 * Threads:  one at a time.
 */
#ifndef DFR_MANAGER_H
#define DFR_MANAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/link/message.h"
#include "runtime/ranks/figures.h"

struct dfr_manager;

#define DFR_GENERATION_BITS 32          /* of an epoch, with a relay */

/* Who gets which wave, if waves go from worker to worker. */
struct dfr_manager_relay {
    void *arg;
    /* Makes the WELCOME of a new mapping onto the ranks that live, with that head, and with what is made once. `uses`, by rank, is written: is it part of
     * the mapping? NULL: out of memory. No request and no wave of the mapping before counts any more. */
    struct dfr_message *(*map)(void *arg, const struct dfr_head *head, const struct dfr_value *once, uint32_t n_once, const bool *live, bool *uses);
    /* This wave can be given, with these tokens. false: not now. */
    bool (*offer)(void *arg, const struct dfr_message *give);
    /* A rank of the mapping asks. */
    void (*request)(void *arg, int rank, const struct dfr_head *ask);
    /* The next answer: to whom, and its head: a GIVE with wave and stage, or NONE. false: there is none. */
    bool (*answer)(void *arg, int *rank, struct dfr_head *head);
    /* NULL, or told how many waves have ended in this run. true: dfr_manager_remap(). */
    bool (*ended)(void *arg, int64_t n);
    /* NULL, or told which classes of devices a rank has, as its HELLO says, before it is mapped. */
    void (*joined)(void *arg, int rank, uint32_t classes);
    /* NULL, or shown a TOOK of a rank of the mapping. */
    void (*took)(void *arg, int rank, const struct dfr_message *took);
};

struct dfr_manager_options {
    int n_ranks;                        /* >= 1: workers are ranks 1 to n_ranks - 1 */
    uint64_t epoch, hash;               /* epoch >= 1 */
    const char *facts;                  /* of the program: a worker with another hash is refused with what differs. NULL: nothing is known; borrowed */
    int64_t first_wave;                 /* the number of the first wave that is offered */
    unsigned window;                    /* waves that a worker holds at most; 0: found */
    unsigned places;                    /* 0: for each worker 64, or twice the window; a found window is at most half of
                                         * the places for each worker */
    size_t memory_bytes;                /* inputs and results hold no more, but for one wave; 0: no bound */
    double beat_s, beat_timeout_s;      /* 0: 1 s, 10 s */
    double wave_timeout_s;              /* since the wave was given, or got further; 0: none */
    double start_s;                     /* that ranks have for their HELLO; 0: 60 s */
    double lost_s;                      /* for which no worker may live, after one did; 0: beat_timeout_s */
    double grace_s;                     /* after dfr_manager_stop(), what was given is waited for so long; 0: for ever */
    const struct dfr_value *once;       /* of the WELCOME; borrowed during dfr_manager_create(), and with a relay until the end */
    uint32_t n_once;
    const struct dfr_manager_relay *relay; /* NULL: who gets a wave gives its result. Borrowed. Then the epoch's lower bits are 0 */
    bool stores;                        /* workers write files, and say when they are there */
    int64_t stored_waves;               /* the files of waves before this one are there from a run before */

    /* Sends `message`, which it holds itself for as long as it needs it. */
    void (*send)(void *send_arg, int to, struct dfr_message *message);
    void *send_arg, *arg;               /* `arg` of the calls below */
    uint32_t wants;                     /* DFR_WANTS_…: a worker that hears END REPORTs before it says BYE, unless the run failed */
    double origin_s;                    /* time 0 of the trace */
    /* Shown a REPORT. NULL if nothing is wanted. */
    void (*report)(void *arg, int rank, const struct dfr_message *report);
    /* NULL, or told of each change of a window: results per second with the window before, 0 at the start. */
    void (*window_changed)(void *arg, double now_s, int rank, unsigned window, double rate);
    /* NULL, or asked whether the worker of this HELLO may take part; if not, why: a sentence's end behind "is refused:". */
    bool (*admits)(void *arg, const struct dfr_message *hello, char *why, size_t size);
    /* NULL, or shown each result when it is accepted, which may be long before it is taken. */
    void (*accepted)(void *arg, struct dfr_message *result);
    /* NULL, or told how many workers live, and how many count as dead, when that changes. */
    void (*live_changed)(void *arg, int n_live, int n_dead);
    /* NULL, or told in a sentence what went wrong and how it goes on: a rank dead, back, refused. */
    void (*tell)(void *arg, const char *sentence);
};

/* DF_E_ARGUMENT, DF_E_MEMORY. */
int dfr_manager_create(const struct dfr_manager_options *options, double now_s, struct dfr_manager **manager,
                       struct df_error *error);
void dfr_manager_destroy(struct dfr_manager *manager);

/* How many more waves may be offered now. 0 after dfr_manager_no_more(), dfr_manager_stop() or a failure. */
unsigned dfr_manager_room(const struct dfr_manager *manager);
/* Offers the next wave with its inputs, made with dfr_manager_give_head(). There was room. */
void dfr_manager_offer(struct dfr_manager *manager, double now_s, struct dfr_message *give);
/* The head of the message that is offered next. */
struct dfr_head dfr_manager_give_head(const struct dfr_manager *manager);
/* The waves that were offered are all. */
void dfr_manager_no_more(struct dfr_manager *manager, double now_s);

/* The result of the next wave in order, as a RESULT that the caller drops. NULL: it is not there. */
struct dfr_message *dfr_manager_take(struct dfr_manager *manager);
/* The first wave, not before the oldest that has not ended, that was not taken, or whose files may not be there yet. */
int64_t dfr_manager_stored(struct dfr_manager *manager);
/* The oldest wave that has not ended has ended. It was taken, and what it wrote is stored. */
void dfr_manager_ended(struct dfr_manager *manager, double now_s);

void dfr_manager_arrived(struct dfr_manager *manager, double now_s, int from, struct dfr_message *message);
/* A piece of a message was received from this rank, so it is alive. */
void dfr_manager_heard(struct dfr_manager *manager, double now_s, int rank);
/* The rank's process or its connection has ended. */
void dfr_manager_lost(struct dfr_manager *manager, double now_s, int rank);
/* To be called at the time that dfr_manager_due_s() gives, or soon after, when all that has arrived was told. */
void dfr_manager_tick(struct dfr_manager *manager, double now_s);
double dfr_manager_due_s(const struct dfr_manager *manager);

/* With a relay: from the next wave on, another mapping. It is asked for when all waves have come back that were given. */
void dfr_manager_remap(struct dfr_manager *manager, double now_s);

/* Hands out no more waves: what was given comes back, then the run is over. */
void dfr_manager_stop(struct dfr_manager *manager, double now_s);
/* The run fails: what the caller found, a full disk for example. */
void dfr_manager_fail(struct dfr_manager *manager, double now_s, int code, const char *sentence);

/* No message needs to be sent or received any more. */
bool dfr_manager_is_over(const struct dfr_manager *manager);
/* After the end: DF_OK, or why the run failed. DF_E_STOPPED: dfr_manager_stop() came before the last wave. */
int dfr_manager_outcome(const struct dfr_manager *manager, struct df_error *error);

struct dfr_manager_state {
    int64_t n_offered, n_accepted, n_taken, n_ended; /* first_wave and those behind it */
    int64_t n_given;                    /* as often as waves were given out */
    int64_t n_given_again;              /* of them, for their files alone */
    int64_t n_dropped;                  /* results that came a second time, or of another epoch */
    int n_live;                         /* workers */
    int n_dead;                         /* workers that count as dead now */
    int n_deaths;                       /* as often as a worker counted as dead */
    bool whole;                         /* every worker answered END and held no wave: the link may be closed as a whole */
    bool gave_up;                       /* dfr_manager_stop() came, and what was given has not come back within grace_s */
};
struct dfr_manager_state dfr_manager_state(const struct dfr_manager *manager);
unsigned dfr_manager_window(const struct dfr_manager *manager, int rank);
/* Writes what the manager knows of a worker: all but what that reported. */
void dfr_manager_figures(const struct dfr_manager *manager, int rank, struct dfr_rank_figures *figures);

#endif
