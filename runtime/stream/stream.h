/* stream.h - demand-driven streams between pipeline stages on different ranks: decides which item a receiver gets next,
 * and how many it requests (Anthill: Teodoro et al., HPDC 2010, sections 5.2 and 5.3).
 *
 * Room:     runtime/stream/ is pure decision logic. It has no threads, clock or link: callers pass the time, and get
 *           the messages to send. The same code therefore runs between ranks, in tests, and in virtual time.
 * Words:    an *item* is the work of one stage for one wave: the tokens of the wave, which the caller stores. A
 *           *sender* holds items that are ready. A *receiver* is a rank that can process them. It has *workers*, each
 *           of a processor *type*: a core, a GPU, a rank as a whole. A stream has any number of senders and receivers.
 *           A *request* asks one sender for one item on behalf of one of the receiver's workers. It gets one *answer*,
 *           or two: "none yet" (NONE), and the item later.
 * Policies: Table 5 of the paper. With ddfcfs, sender and worker take the oldest item. With ddwrr the sender gives the
 *           oldest, and a worker takes from its receiver's queue what suits its type best. With odds both take what
 *           suits the type best. A worker has `requests` outstanding requests with ddfcfs and ddwrr, and with odds as
 *           many as DQAA decides, 1 to `most`.
 * Suits:    the *weight* of an item for a type is the least time on any other type, divided by the time on this one:
 *           for two types, the speedup. A worker takes the item with the highest weight, among equal ones the oldest.
 *           Unknown times (NaN) are ignored; if there is nothing to compare, the weight is 1. An infinite time means
 *           that the type cannot process the item. `present` says which types some receiver has; times of others do not
 *           count.
 * DQAA:     Algorithms 2 and 3. After each item a worker compares its target with the ratio of request latency to
 *           processing time, rounded up: the target rises by one, falls by one, or stays. It starts at 1 and never
 *           falls below. Whenever fewer items than the target are in transit to the receiver or queued there on behalf
 *           of the worker, it requests more. Unlike in Algorithm 3, several requests are outstanding at once, as the
 *           definition of StreamRequestSize says. The latency of a request that was answered with "none yet" says
 *           nothing about the network, so it is not counted.
 * DBSA:     Algorithms 4 and 5. The sender keeps its items sorted for each type. A request takes the first for its type
 *           and removes it from the other queues. Requests are answered in the order in which they arrive.
 * None:     a sender without a suitable item answers NONE and remembers the request; when an item arrives, it sends
 *           that. Meanwhile the receiver asks other senders. A worker may have one such waiting request at each sender,
 *           and further ones are answered with DROPPED. After that the worker sends one request at a time there, until
 *           one is answered with an item at once. So there is no polling, and an empty sender blocks no receiver.
 *           Answers should arrive in the order in which they were sent. If a later answer overtakes a large item,
 *           everything still works, but a worker may have more than one waiting request at that sender.
 * Leaving:  not in Algorithm 2. With odds, a worker that waits for an item of its own does not take items that were
 *           requested on behalf of another type, if that type processes them better. Otherwise a core that waits a
 *           millisecond for a small item would start a large one that the GPU does in a tenth of the time.
 * Bounds:   a sender holds at most `places` waiting items. It only answers requests, so a slow receiver holds what it
 *           requested and no more: it blocks no other. A receiver holds, in transit and queued, at most
 *           dfr_receiver_bound() items.
 * Death:    a sender remembers what it sent until dfr_sender_done(). dfr_sender_lost() takes back the items of a dead
 *           receiver and puts them before all others. dfr_receiver_lost() forgets the requests to a dead sender.
 * Memory:   grows with the items and requests that exist, up to the bounds; destroy() frees it. Items are copied.
 * Errors:   create() returns DF_E_ARGUMENT or DF_E_MEMORY and fills *error. The other calls return only a code, and
 *           change nothing if it is not DF_OK.
 * Cost:     O(log items) for each type and call; O(workers + senders) for dfr_receiver_ask(); lost() looks at all items and requests.
 * Threads:  one at a time for each sender and each receiver.
 */
#ifndef DFR_STREAM_H
#define DFR_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/df.h"

enum { DFR_STREAM_TYPES = 32, DFR_STREAM_WORKERS = 1024, DFR_STREAM_REQUESTS = 4096 };

enum dfr_stream_policy { DFR_STREAM_DDFCFS, DFR_STREAM_DDWRR, DFR_STREAM_ODDS, DFR_STREAM_POLICIES };

/* "ddfcfs", "ddwrr", "odds"; and what it does, in a phrase. */
const char *dfr_stream_policy_name(enum dfr_stream_policy policy);
const char *dfr_stream_policy_summary(enum dfr_stream_policy policy);
/* false: there is none of that name. */
bool dfr_stream_policy_find(const char *name, enum dfr_stream_policy *policy);

struct dfr_stream_item {
    uint64_t id;                        /* the caller's, as stage and wave; no two items of a stream have the same */
    double time_s[DFR_STREAM_TYPES];    /* by type: estimated, > 0; NaN: not known; INFINITY: the type cannot do it */
};

/* The set of the first n types. */
static inline uint32_t dfr_stream_all(uint32_t n_types)
{
    return n_types < DFR_STREAM_TYPES ? (UINT32_C(1) << n_types) - 1 : UINT32_MAX;
}

/* How well the item suits the type, among the types of the bit set `present`: "Suits" above. -1: the type cannot do it. */
double dfr_stream_weight(const struct dfr_stream_item *item, uint32_t n_types, uint32_t present, uint32_t type);

struct dfr_stream_request {
    uint32_t sender;                    /* to whom it goes */
    uint32_t worker, type;              /* for which it is made */
    uint64_t ticket;                    /* the receiver's ID of the request; answers carry it */
};

enum dfr_stream_answers {
    DFR_STREAM_ITEM,
    DFR_STREAM_NONE,                    /* no item yet: the request waits */
    DFR_STREAM_DROPPED,                 /* no item yet, and a request of that worker waits already */
    DFR_STREAM_OVER,                    /* the stream has ended: the request will get no item */
};

struct dfr_stream_answer {
    enum dfr_stream_answers kind;
    uint32_t receiver;                  /* who gets it */
    uint64_t ticket;
    struct dfr_stream_item item;        /* DFR_STREAM_ITEM */
};

/* ---- the sender's side ---- */

struct dfr_sender;

struct dfr_sender_options {
    enum dfr_stream_policy policy;
    uint32_t n_types, present;
    uint32_t n_receivers;
    uint32_t places;                    /* items that wait, at most */
    uint32_t most_requests;             /* that one receiver may have open here; dfr_receiver_bound() is enough */
};

int dfr_sender_create(const struct dfr_sender_options *options, struct dfr_sender **sender, struct df_error *error);
void dfr_sender_destroy(struct dfr_sender *sender);

/* How many more items may be offered now. 0 after dfr_sender_no_more(), and while more than `places` wait after dfr_sender_lost(). */
uint32_t dfr_sender_room(const struct dfr_sender *sender);
/* ThreadBufferQueuer (Algorithm 4): an item is ready. DF_E_ARGUMENT: there is no room, no present type can do
 * it, or the sender has an item with that id. DF_E_MEMORY. */
int dfr_sender_offer(struct dfr_sender *sender, const struct dfr_stream_item *item);
/* No more items will be offered. */
void dfr_sender_no_more(struct dfr_sender *sender);

/* A request has come from that receiver. It is answered by dfr_sender_next(). DF_E_ARGUMENT: the receiver has too many open, or the type is not
 * present. DF_E_MEMORY. */
int dfr_sender_request(struct dfr_sender *sender, uint32_t receiver, const struct dfr_stream_request *request);
/* ThreadBufferSender (Algorithm 5): the next answer to be sent. Call it until it returns false, after each of the calls above
 * and below. */
bool dfr_sender_next(struct dfr_sender *sender, struct dfr_stream_answer *answer);

/* The receiver has completed the item, and its result is safe: the sender forgets it. false: no receiver has that item. */
bool dfr_sender_done(struct dfr_sender *sender, uint64_t id);
/* The receiver died: its requests are dropped, and what it had waits again, before all other items. */
void dfr_sender_lost(struct dfr_sender *sender, uint32_t receiver);

struct dfr_sender_state {
    uint32_t n_waiting, n_given;        /* items */
    uint32_t n_requests;                /* that have no item yet */
    uint32_t most_waiting, most_given;  /* ever */
    bool is_over;                       /* no more, and all were done */
};
struct dfr_sender_state dfr_sender_state(const struct dfr_sender *sender);

/* ---- the receiver's side ---- */

struct dfr_receiver;

struct dfr_receiver_options {
    enum dfr_stream_policy policy;
    uint32_t n_types, present;
    uint32_t n_senders;
    uint32_t first_sender;              /* who is asked first; then they take turns */
    uint32_t n_workers;
    const uint32_t *types;              /* by worker; borrowed during create */
    uint32_t requests;                  /* of a worker, under way and queued: ddfcfs, ddwrr; 1 to DFR_STREAM_REQUESTS */
    uint32_t most;                      /* DQAA's targets are no higher; 0: DFR_STREAM_REQUESTS */
    /* Callback for each change of a target, and for the initial one; NULL: none. */
    void (*target_changed)(void *arg, double now_s, uint32_t worker, uint32_t target);
    void *arg;
};

int dfr_receiver_create(const struct dfr_receiver_options *options, double now_s, struct dfr_receiver **receiver, struct df_error *error);
void dfr_receiver_destroy(struct dfr_receiver *receiver);

/* ThreadRequester (Algorithm 3): the next request to be sent. Call it until it returns false, after each of the calls below. */
bool dfr_receiver_ask(struct dfr_receiver *receiver, double now_s, struct dfr_stream_request *request);
/* An answer has arrived. DF_E_ARGUMENT: no request waits for it, as after dfr_receiver_lost(); its item must be returned to its sender. DF_E_MEMORY. */
int dfr_receiver_answer(struct dfr_receiver *receiver, double now_s, const struct dfr_stream_answer *answer);

/* The idle worker that should take an item first: the one whose item has the highest weight, among equal ones the first. false: none can. */
bool dfr_receiver_idle(const struct dfr_receiver *receiver, uint32_t *worker);
/* ThreadWorker (Algorithm 2): a worker that is idle takes an item and begins with it. false: there is none for it. */
bool dfr_receiver_take(struct dfr_receiver *receiver, double now_s, uint32_t worker, struct dfr_stream_item *item);
/* It has processed that item, and adapts its target (DQAA). */
void dfr_receiver_finished(struct dfr_receiver *receiver, double now_s, uint32_t worker);

/* The sender died: outstanding requests to it are dropped; items that came from it stay. It gets new requests after dfr_receiver_back(). */
void dfr_receiver_lost(struct dfr_receiver *receiver, uint32_t sender);
void dfr_receiver_back(struct dfr_receiver *receiver, uint32_t sender);

struct dfr_receiver_state {
    uint32_t n_asked;                   /* requests that are under way, not those answered by "none yet" */
    uint32_t n_waiting;                 /* requests that were */
    uint32_t n_queued, n_running;       /* items */
    uint32_t most_held;                 /* asked and queued, ever */
    bool is_over;                       /* all senders have ended, and nothing is queued or runs */
};
struct dfr_receiver_state dfr_receiver_state(const struct dfr_receiver *receiver);
uint32_t dfr_receiver_target(const struct dfr_receiver *receiver, uint32_t worker);
double dfr_receiver_latency_s(const struct dfr_receiver *receiver, uint32_t worker); /* of its last request; NaN: none was answered yet */
/* The most items that it can ever hold, in transit and queued: for each worker its highest target, plus one waiting request at each sender. */
uint32_t dfr_receiver_bound(const struct dfr_receiver *receiver);

#endif
