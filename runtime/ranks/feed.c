/* feed.c - which rank of the next group gets which wave (feed.h): for rank0_stages.c, which feeds the first group, and replica_stages.c. */
#include "runtime/ranks/feed.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/error.h"

enum { PLACES = 1 << 20 };              /* waves under way are bounded by rank 0, and by the ranks that make them */

struct dfr_feed {
    bool by_demand;
    struct dfr_suits *suits;            /* NULL: there is one type of rank */
    uint32_t n;                         /* ranks of the next group */
    uint32_t ranks[DFR_MOST_PROCESSORS];
    struct dfr_sender *senders[DFR_MOST_PROCESSORS]; /* one, or one for each rank */
};

static uint32_t n_senders(const struct dfr_feed *f)
{
    return f->by_demand ? 1 : f->n;
}

int dfr_feed_open(const struct dfr_mapping *m, uint32_t g, enum dfr_stream_policy policy, struct dfr_suits *suits, struct dfr_feed **feed,
                  struct df_error *error)
{
    const uint32_t n_types = m->by_demand && suits ? dfr_suits_types(suits) : 1;
    struct dfr_feed *f = calloc(1, sizeof *f);
    int status = DF_OK;

    if (!f) {
        dfr_suits_close(suits);
        return dfr_error_memory(error);
    }
    f->suits = suits;
    f->by_demand = m->by_demand;
    f->n = dfr_mapping_ranks(m, g, f->ranks);
    const struct dfr_sender_options options = { .policy = policy, .n_types = n_types, .present = dfr_stream_all(n_types),
                                                .n_receivers = f->by_demand ? f->n : 1, .places = PLACES, .most_requests = DFR_STREAM_WORKERS * (DFR_STREAM_REQUESTS + 1) };
    for (uint32_t i = 0; i < n_senders(f) && status == DF_OK; i++)
        status = dfr_sender_create(&options, &f->senders[i], error);
    if (status == DF_OK)
        *feed = f;
    else
        dfr_feed_close(f);
    return status;
}

void dfr_feed_close(struct dfr_feed *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; i < n_senders(f); i++)
        dfr_sender_destroy(f->senders[i]);
    dfr_suits_close(f->suits);
    free(f);
}

bool dfr_feed_offer(struct dfr_feed *f, int64_t wave, const struct dfr_value *values, uint32_t n)
{
    struct dfr_stream_item item = { .id = (uint64_t)wave };

    for (unsigned t = 0; t < DFR_STREAM_TYPES; t++)
        item.time_s[t] = NAN;
    if (f->by_demand && f->suits)
        dfr_suits_times(f->suits, values, n, item.time_s);
    return dfr_sender_offer(f->senders[(uint64_t)wave % n_senders(f)], &item) == DF_OK;
}

uint32_t dfr_feed_waiting(const struct dfr_feed *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_senders(f); i++)
        n += dfr_sender_state(f->senders[i]).n_waiting;
    return n;
}

void dfr_feed_request(struct dfr_feed *f, uint32_t rank, const struct dfr_head *ask)
{
    struct dfr_stream_request request = { .worker = (uint32_t)(ask->wave % DFR_STREAM_WORKERS), .type = (uint32_t)(ask->wave / DFR_STREAM_WORKERS), .ticket = ask->stage };
    uint32_t i = 0;

    while (i < f->n && f->ranks[i] != rank)
        i++;
    if (i < f->n)
        dfr_sender_request(f->senders[f->by_demand ? 0 : i], f->by_demand ? i : 0, &request);
}

bool dfr_feed_answer(struct dfr_feed *f, uint32_t *rank, struct dfr_head *head)
{
    struct dfr_stream_answer answer;

    for (uint32_t i = 0; i < n_senders(f); i++) {
        if (!dfr_sender_next(f->senders[i], &answer))
            continue;
        *rank = f->ranks[f->by_demand ? answer.receiver : i];
        head->stage = (uint32_t)answer.ticket;
        head->kind = answer.kind == DFR_STREAM_ITEM ? DFR_GIVE : DFR_NONE;
        head->flags = answer.kind == DFR_STREAM_DROPPED ? DFR_DROPPED : 0;
        head->wave = answer.kind == DFR_STREAM_ITEM ? (int64_t)answer.item.id : 0;
        if (answer.kind == DFR_STREAM_ITEM)
            dfr_sender_done(f->senders[i], answer.item.id);
        return true;
    }
    return false;
}
