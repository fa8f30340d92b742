/* sender.c - the sending side of a stream: DBSA (Algorithms 4 and 5 of Anthill) (stream.h). Ranks with pipeline stages use it to send waves (ranks/feed.c);
 * compiler/cluster/ runs it in virtual time. */
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/stream/items.h"

enum { WORDS = DFR_STREAM_WORKERS / 64 };

struct asked {                          /* a request without an item */
    uint32_t receiver, worker;
    uint64_t ticket, order;             /* by which they came */
    bool waits;                         /* the receiver was told that there is none yet */
    struct asked *next;
};

struct dfr_sender {
    struct dfr_sender_options o;
    struct dfr_items items;             /* those that were given do not wait, and their mark is the receiver */
    struct asked_queue {                /* by type, in the order in which they came; those that wait come first */
        struct asked *first, **end, **fresh; /* `fresh`: the first that does not wait */
    } asked[DFR_STREAM_TYPES];
    uint64_t *waits;                    /* [receiver * WORDS + worker / 64], a bit for each worker with a request that waits */
    uint32_t *n_open;                   /* by receiver: requests that have no item yet */
    uint32_t n_asked, most_waiting, most_given;
    uint64_t order;
    bool no_more;
};

int dfr_sender_create(const struct dfr_sender_options *options, struct dfr_sender **sender, struct df_error *error)
{
    if (!options->n_types || options->n_types > DFR_STREAM_TYPES || !options->present || !options->n_receivers || !options->places ||
        !options->most_requests || (options->n_types < 32 && options->present >> options->n_types))
        return dfr_error(error, DF_E_ARGUMENT, "a stream's sender needs 1 to %d types, receivers, places and requests", DFR_STREAM_TYPES);
    struct dfr_sender *s = calloc(1, sizeof *s);
    if (!s)
        return dfr_error_memory(error);
    s->o = *options;
    s->n_open = calloc(options->n_receivers, sizeof *s->n_open);
    s->waits = calloc(options->n_receivers, WORDS * sizeof *s->waits);
    if (!s->n_open || !s->waits) {
        free(s->n_open);
        free(s->waits);
        free(s);
        return dfr_error_memory(error);
    }
    dfr_items_init(&s->items, options->n_types, options->present, options->policy == DFR_STREAM_ODDS);
    for (uint32_t t = 0; t < options->n_types; t++)
        s->asked[t].end = s->asked[t].fresh = &s->asked[t].first;
    *sender = s;
    return DF_OK;
}

void dfr_sender_destroy(struct dfr_sender *s)
{
    if (!s)
        return;
    for (uint32_t t = 0; t < s->o.n_types; t++)
        for (struct asked *a = s->asked[t].first, *next; a; a = next) {
            next = a->next;
            free(a);
        }
    dfr_items_free(&s->items);
    free(s->n_open);
    free(s->waits);
    free(s);
}

/* ---- items ---- */

uint32_t dfr_sender_room(const struct dfr_sender *s)
{
    return s->no_more || s->items.n_waiting >= s->o.places ? 0 : s->o.places - s->items.n_waiting;
}

static bool some_type_can(const struct dfr_sender *s, const struct dfr_stream_item *item)
{
    for (uint32_t t = 0; t < s->o.n_types; t++)
        if (s->o.present >> t & 1 && dfr_stream_weight(item, s->o.n_types, s->o.present, t) >= 0)
            return true;
    return false;
}

int dfr_sender_offer(struct dfr_sender *s, const struct dfr_stream_item *item)
{
    if (!dfr_sender_room(s) || !some_type_can(s, item) || dfr_items_find(&s->items, item->id) != DFR_NO_SLOT)
        return DF_E_ARGUMENT;
    if (dfr_items_add(&s->items, item, 0) == DFR_NO_SLOT)
        return DF_E_MEMORY;
    s->most_waiting = s->items.n_waiting > s->most_waiting ? s->items.n_waiting : s->most_waiting;
    return DF_OK;
}

void dfr_sender_no_more(struct dfr_sender *s)
{
    s->no_more = true;
}

bool dfr_sender_done(struct dfr_sender *s, uint64_t id)
{
    uint32_t slot = dfr_items_find(&s->items, id);
    if (slot == DFR_NO_SLOT || s->items.slots[slot].waits)
        return false;
    dfr_items_drop(&s->items, slot);
    return true;
}

/* ---- requests ---- */

int dfr_sender_request(struct dfr_sender *s, uint32_t receiver, const struct dfr_stream_request *request)
{
    if (receiver >= s->o.n_receivers || request->type >= s->o.n_types || !(s->o.present >> request->type & 1) ||
        request->worker >= DFR_STREAM_WORKERS || s->n_open[receiver] >= s->o.most_requests)
        return DF_E_ARGUMENT;
    struct asked_queue *q = &s->asked[request->type];
    struct asked *a = malloc(sizeof *a);
    if (!a)
        return DF_E_MEMORY;
    *a = (struct asked){ .receiver = receiver, .worker = request->worker, .ticket = request->ticket, .order = s->order++ };
    *q->end = a;
    q->end = &a->next;
    s->n_open[receiver]++;
    s->n_asked++;
    return DF_OK;
}

/* The bit that says whether a request of that worker waits. */
static uint64_t *waits_of(struct dfr_sender *s, const struct asked *a, uint64_t *bit)
{
    *bit = UINT64_C(1) << a->worker % 64;
    return &s->waits[(size_t)a->receiver * WORDS + a->worker / 64];
}

/* Removes the request that *at points to. */
static void forget(struct dfr_sender *s, struct asked_queue *q, struct asked **at)
{
    struct asked *a = *at;
    uint64_t bit, *waits = waits_of(s, a, &bit);
    if (a->waits)
        *waits &= ~bit;
    *at = a->next;
    q->end = q->end == &a->next ? at : q->end;
    q->fresh = q->fresh == &a->next ? at : q->fresh;
    s->n_open[a->receiver]--;
    s->n_asked--;
    free(a);
}

static bool is_over(const struct dfr_sender *s)
{
    return s->no_more && !s->items.n_used;
}

/* Of the oldest requests of all types that have an item, the oldest one. `n_types`: there is none. */
static uint32_t answerable(const struct dfr_sender *s)
{
    uint32_t best = s->o.n_types;
    for (uint32_t t = 0; t < s->o.n_types; t++)
        if (s->asked[t].first && dfr_items_first(&s->items, t) != DFR_NO_SLOT &&
            (best == s->o.n_types || s->asked[t].first->order < s->asked[best].first->order))
            best = t;
    return best;
}

static void give(struct dfr_sender *s, uint32_t type, struct dfr_stream_answer *answer)
{
    struct asked_queue *q = &s->asked[type];
    uint32_t slot = dfr_items_first(&s->items, type), n_given;
    dfr_items_out(&s->items, slot);
    s->items.slots[slot].mark = q->first->receiver;
    n_given = s->items.n_used - s->items.n_waiting;
    s->most_given = n_given > s->most_given ? n_given : s->most_given;
    *answer = (struct dfr_stream_answer){ .kind = DFR_STREAM_ITEM, .receiver = q->first->receiver, .ticket = q->first->ticket,
                                          .item = s->items.slots[slot].item };
    forget(s, q, &q->first);
}

/* Tells the first request that does not wait that there is nothing for it, and has it wait if it is the worker's only one. */
static void refuse(struct dfr_sender *s, struct asked_queue *q, struct dfr_stream_answer *answer)
{
    struct asked *a = *q->fresh;
    uint64_t bit, *waits = waits_of(s, a, &bit);
    *answer = (struct dfr_stream_answer){ .kind = *waits & bit ? DFR_STREAM_DROPPED : DFR_STREAM_NONE, .receiver = a->receiver, .ticket = a->ticket };
    if (*waits & bit) {
        forget(s, q, q->fresh);
        return;
    }
    *waits |= bit;
    a->waits = true;
    q->fresh = &a->next;
}

static void say_over(struct dfr_sender *s, struct asked_queue *q, struct dfr_stream_answer *answer)
{
    *answer = (struct dfr_stream_answer){ .kind = DFR_STREAM_OVER, .receiver = q->first->receiver, .ticket = q->first->ticket };
    forget(s, q, &q->first);
}

bool dfr_sender_next(struct dfr_sender *s, struct dfr_stream_answer *answer)
{
    uint32_t type = answerable(s);
    if (type < s->o.n_types) {
        give(s, type, answer);
        return true;
    }
    for (uint32_t t = 0; t < s->o.n_types; t++) {
        struct asked_queue *q = &s->asked[t];
        if (is_over(s) ? !q->first : !*q->fresh)
            continue;
        if (is_over(s))
            say_over(s, q, answer);
        else
            refuse(s, q, answer);
        return true;
    }
    return false;
}

void dfr_sender_lost(struct dfr_sender *s, uint32_t receiver)
{
    for (uint32_t t = 0; t < s->o.n_types; t++)
        for (struct asked **at = &s->asked[t].first; *at; )
            if ((*at)->receiver == receiver)
                forget(s, &s->asked[t], at);
            else
                at = &(*at)->next;
    for (uint32_t slot = 0; slot < s->items.capacity; slot++)
        if (s->items.slots[slot].used && !s->items.slots[slot].waits && s->items.slots[slot].mark == receiver)
            dfr_items_back(&s->items, slot);
    s->most_waiting = s->items.n_waiting > s->most_waiting ? s->items.n_waiting : s->most_waiting;
}

struct dfr_sender_state dfr_sender_state(const struct dfr_sender *s)
{
    return (struct dfr_sender_state){ .n_waiting = s->items.n_waiting, .n_given = s->items.n_used - s->items.n_waiting, .n_requests = s->n_asked,
                                      .most_waiting = s->most_waiting, .most_given = s->most_given, .is_over = is_over(s) };
}
