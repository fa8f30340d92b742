/* feed.h - how the waves of a group get to the ranks of the next one: the sender's side, on each rank of the group. rank0_stages.c feeds
 * the first group with it, replica_stages.c each next one.
 *
 * Order:    Each rank of the next group has its own waves, w mod R, and a sender of its own (stream/stream.h). So no rank waits for another one's.
 * Demand:   All ranks of the next group ask one sender. With odds a rank gets the wave that suits the type of the worker best for which it asks (suits.h).
 * Items:    are waves. They count as given when their GIVE is made: rank 0 keeps the inputs of all waves until their results are accepted.
 * Requests: a request has a number of its asker, and says for which worker it is, and of which type. It is answered by a head: GIVE with wave and number, or NONE.
 * Threads:  one at a time.
 */
#ifndef DFR_FEED_H
#define DFR_FEED_H

#include "runtime/link/message.h"
#include "runtime/subgraph/mapping.h"
#include "runtime/ranks/suits.h"
#include "runtime/stream/stream.h"

struct dfr_feed;

/* Feeds group g of the mapping. suits: of that group; it is taken in any case. NULL: all waves suit all ranks alike. */
int dfr_feed_open(const struct dfr_mapping *mapping, uint32_t g, enum dfr_stream_policy policy, struct dfr_suits *suits, struct dfr_feed **feed,
                  struct df_error *error);
void dfr_feed_close(struct dfr_feed *feed);

/* The wave is ready, with these tokens. false: out of memory. */
bool dfr_feed_offer(struct dfr_feed *feed, int64_t wave, const struct dfr_value *values, uint32_t n);
/* Waves that nobody has asked for yet. */
uint32_t dfr_feed_waiting(const struct dfr_feed *feed);
/* An ASK of that rank. What is no request of a rank of the group is dropped. */
void dfr_feed_request(struct dfr_feed *feed, uint32_t rank, const struct dfr_head *ask);
/* The next answer: kind, flags, wave and stage of the head are written. To be called until it gives false. */
bool dfr_feed_answer(struct dfr_feed *feed, uint32_t *rank, struct dfr_head *head);

#endif
