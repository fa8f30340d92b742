/* manager_impl.h - what the manager keeps; for manager.c and what stands beside it. manager.h says what it does.
 *
 * Lists:    a worker is in `asking` if it may get a wave. A slot is in its owner's list from the oldest to the newest wave
 *           given to it, or in `returned`, in the order of waves, if its owner died. If its result was accepted, and its files are not stored, it
 *           is in `storing` of the worker that is to store them; or in `returned` or somebody's `given` if that one died.
 */
#ifndef DFR_MANAGER_IMPL_H
#define DFR_MANAGER_IMPL_H

#include "runtime/ranks/manager.h"
#include "runtime/link/pulse.h"

/* A ring of such nodes, one of which is the list itself. A node that is in no list points to itself. */
struct dfr_ring {
    struct dfr_ring *next, *before;
};

enum dfr_slot_state { DFR_SLOT_FREE, DFR_SLOT_WAITING, DFR_SLOT_GIVEN, DFR_SLOT_ACCEPTED, DFR_SLOT_TAKEN };

struct dfr_slot_of_wave {
    struct dfr_ring ring;               /* the first member: a node is its slot */
    int64_t wave;
    enum dfr_slot_state state;
    int owner;                          /* the rank to which it was given last */
    double given_s;
    struct dfr_message *message;        /* WAITING, GIVEN: the inputs; ACCEPTED: the result */
    struct dfr_message *again;          /* ACCEPTED, TAKEN: the inputs, until the files of the wave are stored; NULL: they are */
    bool open;                          /* it is in somebody's list `given` */
    int storer;                         /* the rank in whose list `storing` it is; 0: in none's */
};

enum dfr_worker_state {
    DFR_WORKER_UNKNOWN,                 /* it did not say HELLO yet */
    DFR_WORKER_LIVE,
    DFR_WORKER_LEAVING,                 /* it said BYE: it gets no more waves */
    DFR_WORKER_DEAD,
    DFR_WORKER_GONE                     /* refused, or let go: it has nothing to do with the run any more */
};

struct dfr_manager_worker {
    struct dfr_ring ring;               /* in `asking`; the first member */
    enum dfr_worker_state state;
    bool said_bye;                      /* after END */
    bool lost;                          /* its process has ended */
    struct dfr_pulse pulse;
    struct dfr_ring given, storing;     /* slots */
    unsigned held;                      /* waves that it was given and gave no result for, dead or not */
    int64_t progress;                   /* what its last beat said */
    bool used;                          /* with a relay: it is part of the mapping */
    double runs_s;                      /* with a relay: since when it says the same in its beats */
    double heard_s, sent_s;
    double told_s;                      /* its last REPORT */
    struct dfr_rank_counts counts;
    char host[64];

    unsigned inflight;                  /* what its HELLO said */
    unsigned window, first_window;
    bool settled, falling;              /* falling: smaller windows than the first one are tried */
    unsigned n_round;                   /* results since the window changed */
    unsigned n_left_out;                /* the first of them, which are not measured */
    double round_s;                     /* when the measured part of the round began */
    double rate;                        /* the best one so far */
};

enum dfr_manager_phase { DFR_RUNNING, DFR_ENDING, DFR_OVER };

/* The hand-out protocol: how waves get to workers, and their results are judged. Push: manager_push.c. Relay: manager_relay.c. */
struct dfr_protocol {
    /* Gives waves that wait to those who may have them. */
    void (*hand_out)(struct dfr_manager *manager, double now_s);
    /* NULL, or told that the worker's state has changed. */
    void (*changed)(struct dfr_manager *manager, int rank);
    /* The worker takes part from now on; again: it counted as dead. */
    void (*join)(struct dfr_manager *manager, double now_s, int rank, bool again);
    /* It does so no more. Gives how many waves are given out again. */
    unsigned (*lose)(struct dfr_manager *manager, double now_s, int rank);
    /* NULL, or whether workers are still waited for, so that none counts as dead. Asked at each tick. */
    bool (*waits)(struct dfr_manager *manager, double now_s);
    /* Since when the worker holds the wave that it holds longest; now_s: it holds none. */
    double (*holds_since_s)(const struct dfr_manager *manager, double now_s, int rank);
    /* It says in a beat how far it is. */
    void (*hear_progress)(struct dfr_manager *manager, double now_s, int rank, int64_t progress);
    /* A result of it has come. */
    void (*judge)(struct dfr_manager *manager, double now_s, int rank, struct dfr_message *result);
    /* NULL, or shown messages of it that this protocol alone has. false: it is none. */
    bool (*hear)(struct dfr_manager *manager, int rank, const struct dfr_message *message);
};
extern const struct dfr_protocol dfr_protocol_push, dfr_protocol_relay;

struct dfr_manager {
    struct dfr_manager_options o;
    const struct dfr_protocol *protocol;
    enum dfr_manager_phase phase;
    bool no_more, stopping, cut;        /* cut: a worker has found the end of the stream */
    int code;                           /* of the outcome */
    struct df_error error;

    struct dfr_slot_of_wave *slots;     /* wave w is in w % o.places */
    int64_t n_offered, n_fresh, n_taken, n_stored, n_ended; /* the first wave that is not; n_fresh: not given yet */
    int64_t n_known;                    /* the first wave that no worker was ever given: n_fresh, until the end of the stream is found */
    int64_t n_open, n_storing;          /* slots in lists `given`, in lists `storing` */
    size_t bytes;                       /* of all messages in slots */
    struct dfr_ring returned;           /* slots that wait again */

    uint64_t generation;                /* with a relay; 0: there is no mapping yet */
    int n_used;                         /* workers of the mapping */
    int64_t n_relayed;                  /* the first wave that the relay was not offered in this generation */
    bool remapping;                     /* no more waves until those that were given are back */

    struct dfr_manager_worker *workers; /* by rank; 0 is not used */
    struct dfr_ring asking;
    unsigned most_window;
    double dry_s;                       /* when a worker last asked in vain */
    double alone_s;                     /* since when no worker lives */
    double due_s, tick_s;
    double stop_s, end_s;               /* when stopping began, when END was sent */
    double ended_s;                     /* when all waves had ended, and others were still waited for that are behind the end; < 0: not yet */
    bool any_came;                      /* a worker has taken part */
    struct dfr_message *welcome;
    struct dfr_manager_state state;
};

static inline void dfr_ring_init(struct dfr_ring *node)
{
    node->next = node->before = node;
}

static inline bool dfr_ring_is_empty(const struct dfr_ring *ring)
{
    return ring->next == ring;
}

static inline void dfr_ring_remove(struct dfr_ring *node)
{
    node->before->next = node->next;
    node->next->before = node->before;
    dfr_ring_init(node);
}

/* Behind `before`; before a list itself that is its end. */
static inline void dfr_ring_insert(struct dfr_ring *before, struct dfr_ring *node)
{
    node->before = before;
    node->next = before->next;
    before->next->before = node;
    before->next = node;
}

static inline struct dfr_slot_of_wave *dfr_manager_slot(const struct dfr_manager *manager, int64_t wave)
{
    return &manager->slots[wave % manager->o.places];
}

/* manager_workers.c: what is said. */
const char *dfr_manager_name_of(const struct dfr_manager *manager, int rank, char *text, size_t size); /* gives `text` */
struct dfr_head dfr_manager_head(const struct dfr_manager *manager, enum dfr_message_kind kind);
/* Makes a message with that head, and a text unless it is NULL, and sends it. */
void dfr_manager_say(struct dfr_manager *manager, double now_s, int rank, const struct dfr_head *head, const char *text);

void dfr_manager_say_values(struct dfr_manager *manager, double now_s, int rank, const struct dfr_head *head, const struct dfr_value *values, uint32_t n);

/* Gives the wave of the slot to the worker. */
void dfr_manager_give(struct dfr_manager *manager, double now_s, struct dfr_slot_of_wave *slot, int rank, struct dfr_message *message);
/* The slot waits to be given out, in its place among others that wait. */
void dfr_manager_return(struct dfr_manager *manager, struct dfr_slot_of_wave *slot);
/* Takes the slot out of the list that it is in. */
void dfr_manager_take_out(struct dfr_manager *manager, struct dfr_slot_of_wave *slot);

/* How workers come and go. */
bool dfr_manager_is_here(const struct dfr_manager_worker *worker);
void dfr_manager_join(struct dfr_manager *manager, double now_s, int rank, const struct dfr_message *hello);
void dfr_manager_let_leave(struct dfr_manager *manager, double now_s, int rank);
/* Counts the worker as dead. `why`: the reason, for the message; since_s: since when, < 0: unknown. */
void dfr_manager_bury(struct dfr_manager *manager, double now_s, int rank, const char *why, double since_s);
/* It was heard. If it counted as dead, it lives if it gave a result or holds nothing. */
void dfr_manager_revive(struct dfr_manager *manager, double now_s, int rank, bool did_work);
/* It has asked to leave: it is let go if it holds nothing any more. */
void dfr_manager_leave_if_done(struct dfr_manager *manager, double now_s, int rank);
/* At each tick: is it silent, has it held a wave for too long, is a heartbeat due? */
void dfr_manager_look_at(struct dfr_manager *manager, double now_s, int rank);
/* Returns whether its heartbeat timeout has expired (pulse.h). */
bool dfr_manager_is_silent(const struct dfr_manager *manager, double now_s, int rank);
void dfr_manager_beat(struct dfr_manager *manager, double now_s, int rank);
/* A tick was late by so much. */
void dfr_manager_forgive(struct dfr_manager *manager, double late_s);

/* manager_workers.c: sends a message, which stays the caller's. */
void dfr_manager_send(struct dfr_manager *manager, double now_s, int rank, struct dfr_message *message);

/* Results. Can one of this wave be accepted? */
bool dfr_manager_is_wanted(const struct dfr_manager *manager, int64_t wave);
void dfr_manager_accept(struct dfr_manager *manager, struct dfr_message *result);
/* There is no wave `end`, as this worker has found. */
void dfr_manager_cut_stream(struct dfr_manager *manager, double now_s, int rank, int64_t end);
/* The stream was cut before this wave, and here is its result: the ranks read unlike files. */
void dfr_manager_refuse_behind(struct dfr_manager *manager, double now_s, int rank, int64_t wave);

/* manager_push.c: it begins with a window. */
void dfr_manager_window_begin(struct dfr_manager *manager, double now_s, int rank);

#endif
