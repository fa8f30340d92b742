/* message.h - the messages between manager and workers: made, sent as one row of bytes, and read again.
 *
 * Format:   DFR_MESSAGE_MAGIC, then numbers of 8 bytes, the least significant first: size of all, kind, flags, epoch, hash,
 *           wave, stage, count of values. For each value: port, empty, count of extents, four extents, bytes, offset. Then
 *           the values' bytes, each at a multiple of DFR_LINK_ALIGN, zeros between them.
 * Reading:  nothing that arrives is trusted. Every field is checked; a message that is not exactly as it would have been
 *           made is refused whole.
 * Memory:   a message is counted: who makes or reads it holds it once, dfr_message_hold() once more, dfr_message_drop()
 *           lets go. Its values are views into its bytes. It is never changed.
 * Threads:  one message may be held and dropped by several threads.
 */
#ifndef DFR_MESSAGE_H
#define DFR_MESSAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/df.h"

#define DFR_MESSAGE_EXTENTS 4           /* of a token at most */

/* Whose message, and what for. The head of manager.h says when each is sent. */
enum dfr_message_kind {
    DFR_HELLO = 1,                      /* worker: I am here, and can have `wave` waves in flight. Value 0: its host's name; values 1 and 2, if there are any:
                                         * the files that it reads, and the facts of its program (record/facts.h) */
    DFR_WELCOME,                        /* manager: you take part. Values: what is made once for all waves */
    DFR_REFUSE,                         /* manager: you do not. Value 0 says why */
    DFR_GIVE,                           /* manager: run this wave on these values */
    DFR_RESULT,                         /* worker: what the wave gave; with DFR_NO_WAVE there is no such wave, because a source has ended before */
    DFR_VERDICT,                        /* manager: that result was accepted; with DFR_DROPPED another one had been */
    DFR_STORED,                         /* worker: what it wrote in this wave, which was accepted, has its names; with DFR_DROPPED it is gone */
    DFR_BEAT,                           /* both: I live. A worker may say in `wave` how far it is with what it holds. Manager, with DFR_STOPS: the run is to be
                                         * stopped */
    DFR_WAVE_FAILED,                    /* worker: a wave fails. Value 0 says why */
    DFR_BYE,                            /* worker: give me no more waves; after END or REFUSE: I heard it */
    DFR_END,                            /* manager: you get no more waves; with DFR_WHOLE all waves have ended */
    DFR_CLOSE,                          /* manager: close the link; with DFR_WHOLE all ranks do so */
    DFR_REPORT,                         /* worker, before its last BYE: what it did (runtime/ranks/figures.h); stage 1: a piece of its trace (cluster_trace.h there);
                                         * stage 2: value 0 says why not all of its trace is there */
    DFR_CLOCK,                          /* worker: what is your time? Value 0: its own. Manager: value 0 again, and its time, and that of the trace's origin */
    DFR_ASK,                            /* to who has waves (runtime/ranks/replica_stages.c): give one; `wave`: for which of the asker's workers, and its type (type * DFR_STREAM_WORKERS + worker), `stage`: the request's number */
    DFR_NONE,                           /* the answer: none yet, and the request waits; with DFR_DROPPED it does not */
    DFR_TOOK,                           /* to rank 0, if it tunes (runtime/ranks/tune.h): the wave took so long here. Value 0: a double, seconds */
    DFR_N_KINDS
};
enum { DFR_DROPPED = 1, DFR_WHOLE = 2, DFR_NO_WAVE = 4, DFR_STOPS = 64 }; /* flags */
/* What rank 0 wants to be told; flags of WELCOME, and of the END that asks for it. */
enum { DFR_WANTS_REPORT = 8, DFR_WANTS_NODES = 16, DFR_WANTS_TRACE = 32,
       DFR_WANTS = DFR_WANTS_REPORT | DFR_WANTS_NODES | DFR_WANTS_TRACE };

struct dfr_head {
    enum dfr_message_kind kind;
    uint32_t flags;
    uint64_t epoch;                     /* of the manager's run; a worker knows 0 until it is welcome */
    uint64_t hash;                      /* of the program: df graph, params, args */
    int64_t wave;                       /* of GIVE, RESULT, VERDICT, STORED, ASK; of HELLO: how many; of a worker's BEAT: how far it is; else 0 */
    uint32_t stage;                     /* 0: there is one; of HELLO, with stages: the classes of devices (ranks/suits.h); of REPORT: which part of it; of ASK, NONE, and a GIVE that answers: the request */
};

/* One value that crosses the cut: a token, or what is made once. */
struct dfr_value {
    uint32_t port;                      /* the number of the value in the whole graph; they rise from value to value */
    bool empty;                         /* an empty token has no bytes */
    uint8_t n_extents;                  /* 0: its extents do not differ from wave to wave */
    int64_t extents[DFR_MESSAGE_EXTENTS]; /* those behind n_extents are 0 */
    const void *data;                   /* borrowed; NULL if bytes is 0 */
    size_t bytes;
};

struct dfr_message {
    struct dfr_head head;
    uint32_t n_values;
    _Atomic uint32_t n_holders;
    size_t size;                        /* of the row of bytes */
    unsigned char *bytes;               /* its own */
    struct dfr_value values[];          /* data: views into bytes */
};

/* Makes a message and copies the values' bytes into it. NULL: out of memory. */
struct dfr_message *dfr_message_make(const struct dfr_head *head, const struct dfr_value *values, uint32_t n_values);
/* The same with a text as its only value. */
struct dfr_message *dfr_message_make_text(const struct dfr_head *head, const char *text);

/* The same with several texts. */
struct dfr_message *dfr_message_make_texts(const struct dfr_head *head, const char *const *texts, uint32_t n);

/* Reads bytes[0..size), which it takes in any case; free() must fit them. DF_E_FORMAT: these are no message of this
 * version, or a field is wrong; the sentence says which. */
int dfr_message_read(unsigned char *bytes, size_t size, struct dfr_message **message, struct df_error *error);

/* Writes the text that value 0 is, ended by 0, shortened to `size`. "" if there is none. */
void dfr_message_text_of(const struct dfr_message *message, char *text, size_t size);

/* Writes another number into the head of a message that nobody else holds. */
void dfr_message_number(struct dfr_message *message, uint32_t stage);

struct dfr_message *dfr_message_hold(struct dfr_message *message);
void dfr_message_drop(struct dfr_message *message); /* NULL: nothing */

#endif
