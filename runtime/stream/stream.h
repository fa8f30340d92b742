/* stream.h - a stream between stages on different ranks, fed by demand: which item a receiver gets next, and how many it asks for (Anthill:
 * Teodoro et al., HPDC 2010, sections 5.2 and 5.3).
 *
 * Room:     runtime/stream/ decides. It has no threads, no clock and no link: calls bring the time, and what is to be sent is handed out. So the
 *           same code runs between ranks, in the tests, and in virtual time.
 * Words:    An *item* is what one stage has to do for one wave: the tokens of the wave, which the caller keeps. A *sender* holds items that are
 *           ready. A *receiver* is a rank that can do them. It has *workers*, each of a processor *type*: a core, a GPU, a rank as a
 *           whole. A stream has any number of senders and receivers. A receiver asks one sender for one item on behalf of one of its
 *           workers: a *request*. It has one *answer*, or two: "none yet" (NONE), and the item later.
 * Policies: Table 5 of the paper. With ddfcfs, sender and worker take the oldest item. With ddwrr the sender gives the oldest, and a worker takes from
 *           its receiver's queue what suits its type best. With odds both take what suits the type best. A worker has `requests` requests
 *           with ddfcfs and ddwrr, and with odds as many as DQAA says, 1 to `most`.
 * Suits:    The *weight* of an item for a type is the least time on another type, divided by the time on this one: the speedup, for two types.
 *           A worker takes the highest weight, of equal ones the oldest item. An unknown time (NaN) is left out; if nothing is left to
 *           compare, the weight is 1. An infinite time says that the type cannot do the item: no worker of it gets the item.
 *           `present` says which types some receiver has. Times of others do not count.
 * DQAA:     Algorithms 2 and 3. After each item a worker compares its target with the ratio of request latency to processing time, rounded
 *           up: the target rises by one, falls by one, or stays. It begins with 1 and does not fall below it. Whenever fewer items than
 *           the target are on their way to the receiver or queued there on behalf of the worker, it asks for more. Unlike in Algorithm 3
 *           several requests are under way at once, as the definition of StreamRequestSize says.
 *           A request that was answered by "none yet" says nothing of the network, so its latency is not counted.
 * DBSA:     Algorithms 4 and 5. The sender keeps its items sorted for each type. A request takes the first for its type, and takes it out
 *           of all other orders. Requests are answered in the order in which they came.
 * None:     If a sender has nothing for a request, it says NONE and keeps the request. When an item comes, the sender gives it. Meanwhile
 *           the receiver asks other senders. For a worker one request waits like that at each sender, and further ones are answered by
 *           DROPPED. After that a worker has one request at a time there, until one is answered by an item at once. So nobody polls, and
 *           an empty sender holds up no receiver. Answers should come in the order in which they were sent. If a large item is overtaken
 *           by a later answer, all still works, but a worker may have more than one request that waits at that sender.
 * Leaving:  This is not in Algorithm 2. With odds a worker that waits for an item of its own leaves items that were asked for on behalf of
 *           another type, if that type does them better. Else a core that waits a millisecond for a small item would begin with a large one
 *           that the GPU does in a tenth of the time.
 * Bounds:   A sender holds at most `places` items that wait. It answers requests alone, so a slow receiver holds what it asked for, and
 *           no more: it holds up no other. A receiver holds, under way and queued, at most dfr_receiver_bound() items.
 * Death:    A sender remembers what it gave until dfr_sender_done(). dfr_sender_lost() takes back what a dead receiver had: those items go
 *           before all others. dfr_receiver_lost() forgets what a dead sender was asked for.
 * Memory:   grows with the items and requests that are there, up to the bounds; destroy() returns it. Items are copied.
 * Errors:   create() gives DF_E_ARGUMENT or DF_E_MEMORY and fills *error. The other calls give a code alone, and change nothing if it is not DF_OK.
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
    uint32_t sender;                    /* who is asked */
    uint32_t worker, type;              /* on whose behalf */
    uint64_t ticket;                    /* the receiver's; the answers have it again */
};

enum dfr_stream_answers {
    DFR_STREAM_ITEM,
    DFR_STREAM_NONE,                    /* yet: the request waits */
    DFR_STREAM_DROPPED,                 /* none yet, and a request of that worker waits already */
    DFR_STREAM_OVER,                    /* the stream has ended: there is nothing for this request, and there will not be */
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
/* The items that were offered are all. */
void dfr_sender_no_more(struct dfr_sender *sender);

/* A request has come from that receiver. It is answered by dfr_sender_next(). DF_E_ARGUMENT: the receiver has too many open, or the type is not
 * present. DF_E_MEMORY. */
int dfr_sender_request(struct dfr_sender *sender, uint32_t receiver, const struct dfr_stream_request *request);
/* ThreadBufferSender (Algorithm 5): the next answer to be sent. To be called until it gives false, after each of the calls above
 * and below. */
bool dfr_sender_next(struct dfr_sender *sender, struct dfr_stream_answer *answer);

/* The receiver has done the item, and its result is safe: it is forgotten. false: nobody has that item. */
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
    /* NULL, or told of each change of a target, and of the first one. */
    void (*target_changed)(void *arg, double now_s, uint32_t worker, uint32_t target);
    void *arg;
};

int dfr_receiver_create(const struct dfr_receiver_options *options, double now_s, struct dfr_receiver **receiver, struct df_error *error);
void dfr_receiver_destroy(struct dfr_receiver *receiver);

/* ThreadRequester (Algorithm 3): the next request to be sent. To be called until it gives false, after each of the calls below. */
bool dfr_receiver_ask(struct dfr_receiver *receiver, double now_s, struct dfr_stream_request *request);
/* An answer has come. DF_E_ARGUMENT: nobody waits for it, as after dfr_receiver_lost(). Its item must go back to who sent it. DF_E_MEMORY. */
int dfr_receiver_answer(struct dfr_receiver *receiver, double now_s, const struct dfr_stream_answer *answer);

/* Of the idle workers, the one that should take an item first: the one that its item suits best, of equal ones the first. false: none can. */
bool dfr_receiver_idle(const struct dfr_receiver *receiver, uint32_t *worker);
/* ThreadWorker (Algorithm 2): a worker that is idle takes an item and begins with it. false: there is none for it. */
bool dfr_receiver_take(struct dfr_receiver *receiver, double now_s, uint32_t worker, struct dfr_stream_item *item);
/* It has processed that item, and adapts its target (DQAA). */
void dfr_receiver_finished(struct dfr_receiver *receiver, double now_s, uint32_t worker);

/* The sender died: what it was asked for will not come. Items that came from it stay. It is asked again after dfr_receiver_back(). */
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
/* Items that it can ever hold, under way and queued: for each worker its highest target, and one request that waits at each sender. */
uint32_t dfr_receiver_bound(const struct dfr_receiver *receiver);

#endif
