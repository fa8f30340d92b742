/* receiver.c - the receiving side of a stream: DQAA (Algorithms 2 and 3 of Anthill), and the receiver's queue (stream.h). Ranks with pipeline stages
 * (ranks/replica_stages.c) use it to request waves; compiler/cluster/ runs it in virtual time.
 */
#include <math.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/stream/items.h"

enum request_state { FREE, ASKED, WAITS };

struct request {
    enum request_state state;
    uint32_t worker, sender, serial;    /* `serial`: how often the place was used, so that an old answer is known */
    uint32_t next;                      /* free ones */
    double sent_s;
};

struct worker {
    uint32_t type, target;
    uint32_t size;                      /* requestsize: items under way and queued on behalf of this worker */
    uint32_t n_asked;                   /* those under way */
    bool runs;
    double begun_s, latency_s;          /* requestlatency; NaN: none is known */
};

struct source {                         /* a sender, as the receiver sees it */
    bool over, lost;
};

struct pair {                           /* a sender and a worker */
    uint32_t n_open;                    /* requests */
    uint32_t n_waiting;                 /* of them; more than one if a large item was overtaken by an answer */
    bool dry;                           /* the last answer that did not wait was no item: one request is enough */
};

struct dfr_receiver {
    struct dfr_receiver_options o;
    struct worker *workers;
    struct source *sources;
    struct pair *pairs;                 /* [sender * n_workers + worker] */
    uint32_t next_source, next_worker;  /* who is looked at first */
    struct request *requests;
    uint32_t n_requests, free;          /* places for requests; the first free one */
    struct dfr_items queue;             /* StreamOutQueue; the mark is the worker on whose behalf the item was asked for */
    uint32_t n_asked, n_waiting, n_running, most_held;
};

static void set_target(struct dfr_receiver *r, double now_s, uint32_t worker, uint32_t target)
{
    r->workers[worker].target = target;
    if (r->o.target_changed)
        r->o.target_changed(r->o.arg, now_s, worker, target);
}

static bool is_good(const struct dfr_receiver_options *o)
{
    bool dynamic = o->policy == DFR_STREAM_ODDS;
    if (!o->n_types || o->n_types > DFR_STREAM_TYPES || !o->n_senders || !o->n_workers || o->n_workers > DFR_STREAM_WORKERS ||
        o->most > DFR_STREAM_REQUESTS || (!dynamic && (!o->requests || o->requests > DFR_STREAM_REQUESTS)))
        return false;
    for (uint32_t w = 0; w < o->n_workers; w++)
        if (o->types[w] >= o->n_types || !(o->present >> o->types[w] & 1))
            return false;
    return true;
}

int dfr_receiver_create(const struct dfr_receiver_options *options, double now_s, struct dfr_receiver **receiver, struct df_error *error)
{
    if (!is_good(options))
        return dfr_error(error, DF_E_ARGUMENT, "a stream's receiver needs 1 to %d types, senders, 1 to %d workers of types that are present, and 1 to %d "
                         "requests", DFR_STREAM_TYPES, DFR_STREAM_WORKERS, DFR_STREAM_REQUESTS);
    struct dfr_receiver *r = calloc(1, sizeof *r);
    if (!r)
        return dfr_error_memory(error);
    r->o = *options;
    r->o.most = options->most ? options->most : DFR_STREAM_REQUESTS;
    r->o.types = NULL;
    r->free = DFR_NO_SLOT;
    r->next_source = options->first_sender % options->n_senders;
    r->workers = calloc(options->n_workers, sizeof *r->workers);
    r->sources = calloc(options->n_senders, sizeof *r->sources);
    r->pairs = calloc((size_t)options->n_senders * options->n_workers, sizeof *r->pairs);
    dfr_items_init(&r->queue, options->n_types, options->present, options->policy != DFR_STREAM_DDFCFS);
    if (!r->workers || !r->sources || !r->pairs) {
        dfr_receiver_destroy(r);
        return dfr_error_memory(error);
    }
    for (uint32_t w = 0; w < options->n_workers; w++) {
        r->workers[w] = (struct worker){ .type = options->types[w], .latency_s = NAN };
        set_target(r, now_s, w, options->policy == DFR_STREAM_ODDS ? 1 : options->requests);
    }
    *receiver = r;
    return DF_OK;
}

void dfr_receiver_destroy(struct dfr_receiver *r)
{
    if (!r)
        return;
    dfr_items_free(&r->queue);
    free(r->workers);
    free(r->sources);
    free(r->pairs);
    free(r->requests);
    free(r);
}

/* ---- ThreadRequester ---- */

static struct pair *pair_of(const struct dfr_receiver *r, uint32_t sender, uint32_t worker)
{
    return &r->pairs[(size_t)sender * r->o.n_workers + worker];
}

static bool make_request(struct dfr_receiver *r, uint32_t worker, uint32_t sender, double now_s, struct dfr_stream_request *request)
{
    if (r->free == DFR_NO_SLOT) {
        uint32_t more = r->n_requests ? 2 * r->n_requests : 16;
        struct request *all = realloc(r->requests, more * sizeof *all);
        if (!all)
            return false;               /* it is asked later */
        for (uint32_t i = r->n_requests; i < more; i++)
            all[i] = (struct request){ .next = i + 1 < more ? i + 1 : DFR_NO_SLOT };
        r->requests = all;
        r->free = r->n_requests;
        r->n_requests = more;
    }
    uint32_t place = r->free;
    struct request *q = &r->requests[place];
    r->free = q->next;
    pair_of(r, sender, worker)->n_open++;
    *q = (struct request){ .state = ASKED, .worker = worker, .sender = sender, .serial = q->serial + 1, .sent_s = now_s };
    *request = (struct dfr_stream_request){ .sender = sender, .worker = worker, .type = r->workers[worker].type,
                                             .ticket = (uint64_t)q->serial << 32 | place };
    return true;
}

/* CHOOSESENDER: those that have something take turns. `n_senders`: none can be asked for that worker. */
static uint32_t choose_sender(const struct dfr_receiver *r, uint32_t worker)
{
    for (uint32_t i = 0; i < r->o.n_senders; i++) {
        uint32_t s = (r->next_source + i) % r->o.n_senders;
        const struct pair *pair = pair_of(r, s, worker);
        if (!r->sources[s].over && !r->sources[s].lost && !pair->n_waiting && !(pair->dry && pair->n_open))
            return s;
    }
    return r->o.n_senders;
}

bool dfr_receiver_ask(struct dfr_receiver *r, double now_s, struct dfr_stream_request *request)
{
    for (uint32_t i = 0; i < r->o.n_workers; i++) {
        uint32_t w = (r->next_worker + i) % r->o.n_workers, sender, held;
        if (r->workers[w].size >= r->workers[w].target || (sender = choose_sender(r, w)) == r->o.n_senders ||
            !make_request(r, w, sender, now_s, request))
            continue;
        r->next_worker = (w + 1) % r->o.n_workers;
        r->next_source = (sender + 1) % r->o.n_senders;
        r->workers[w].size++;
        r->workers[w].n_asked++;
        r->n_asked++;
        held = r->n_asked + r->queue.n_used;
        r->most_held = held > r->most_held ? held : r->most_held;
        return true;
    }
    return false;
}

static void set_waiting(struct dfr_receiver *r, const struct request *q, bool waits)
{
    pair_of(r, q->sender, q->worker)->n_waiting += waits ? 1u : -1u;
    r->n_waiting += waits ? 1u : -1u;
}

static void end_request(struct dfr_receiver *r, uint32_t place)
{
    struct request *q = &r->requests[place];
    if (q->state == WAITS) {
        set_waiting(r, q, false);
    } else {
        r->n_asked--;
        r->workers[q->worker].n_asked--;
        r->workers[q->worker].size--;
    }
    pair_of(r, q->sender, q->worker)->n_open--;
    q->state = FREE;
    q->next = r->free;
    r->free = place;
}

static int queue_item(struct dfr_receiver *r, double now_s, const struct request *q, const struct dfr_stream_item *item)
{
    struct worker *w = &r->workers[q->worker];
    uint32_t held;
    if (dfr_items_add(&r->queue, item, q->worker) == DFR_NO_SLOT)
        return DF_E_MEMORY;
    if (q->state == ASKED)
        w->latency_s = now_s - q->sent_s;
    w->size++;
    held = r->n_asked - (q->state == ASKED) + r->queue.n_used;
    r->most_held = held > r->most_held ? held : r->most_held;
    return DF_OK;
}

int dfr_receiver_answer(struct dfr_receiver *r, double now_s, const struct dfr_stream_answer *answer)
{
    uint32_t place = (uint32_t)answer->ticket;
    struct request *q = place < r->n_requests ? &r->requests[place] : NULL;
    if (!q || q->state == FREE || q->serial != answer->ticket >> 32)
        return DF_E_ARGUMENT;
    if (q->state == ASKED)
        pair_of(r, q->sender, q->worker)->dry = answer->kind != DFR_STREAM_ITEM;
    if (answer->kind == DFR_STREAM_NONE) {
        if (q->state == ASKED) {
            r->n_asked--;
            r->workers[q->worker].n_asked--;
            r->workers[q->worker].size--;
            set_waiting(r, q, true);
            q->state = WAITS;
        }
        return DF_OK;
    }
    if (answer->kind == DFR_STREAM_OVER)
        r->sources[q->sender].over = true;
    else if (answer->kind == DFR_STREAM_ITEM && queue_item(r, now_s, q, &answer->item) != DF_OK)
        return DF_E_MEMORY;
    end_request(r, place);
    return DF_OK;
}

void dfr_receiver_lost(struct dfr_receiver *r, uint32_t sender)
{
    r->sources[sender].lost = true;
    for (uint32_t i = 0; i < r->n_requests; i++)
        if (r->requests[i].state != FREE && r->requests[i].sender == sender)
            end_request(r, i);
}

void dfr_receiver_back(struct dfr_receiver *r, uint32_t sender)
{
    r->sources[sender] = (struct source){ 0 };
}

/* ---- ThreadWorker ---- */

/* The item that the worker would take now. With odds it leaves an item to another type that does it better and on whose behalf it was asked for,
 * while one that was asked for on its own behalf is under way. */
static uint32_t next_item(const struct dfr_receiver *r, uint32_t worker)
{
    const struct worker *w = &r->workers[worker];
    uint32_t slot = w->runs ? DFR_NO_SLOT : dfr_items_first(&r->queue, w->type);
    bool leaves = slot != DFR_NO_SLOT && r->o.policy == DFR_STREAM_ODDS && w->n_asked && r->queue.orders[w->type].key[slot] < 1 &&
                  r->workers[r->queue.slots[slot].mark].type != w->type;
    return leaves ? DFR_NO_SLOT : slot;
}

bool dfr_receiver_idle(const struct dfr_receiver *r, uint32_t *worker)
{
    double best = -1;
    for (uint32_t w = 0; w < r->o.n_workers; w++) {
        uint32_t type = r->workers[w].type, slot = next_item(r, w);
        if (slot == DFR_NO_SLOT || r->queue.orders[type].key[slot] <= best)
            continue;
        best = r->queue.orders[type].key[slot];
        *worker = w;
    }
    return best >= 0;
}

bool dfr_receiver_take(struct dfr_receiver *r, double now_s, uint32_t worker, struct dfr_stream_item *item)
{
    struct worker *w = &r->workers[worker];
    uint32_t slot = next_item(r, worker);
    if (slot == DFR_NO_SLOT)
        return false;
    *item = r->queue.slots[slot].item;
    r->workers[r->queue.slots[slot].mark].size--;
    dfr_items_out(&r->queue, slot);
    dfr_items_drop(&r->queue, slot);
    w->runs = true;
    w->begun_s = now_s;
    r->n_running++;
    return true;
}

/* DQAA: the ratio of request latency to processing time, rounded up, is what the target goes to by one step. */
static void adapt(struct dfr_receiver *r, double now_s, uint32_t worker)
{
    const struct worker *w = &r->workers[worker];
    double length = ceil(w->latency_s / (now_s - w->begun_s));
    if (length > w->target && w->target < r->o.most)
        set_target(r, now_s, worker, w->target + 1);
    else if (length < w->target && w->target > 1)
        set_target(r, now_s, worker, w->target - 1);
}

void dfr_receiver_finished(struct dfr_receiver *r, double now_s, uint32_t worker)
{
    struct worker *w = &r->workers[worker];
    if (!w->runs)
        return;
    if (r->o.policy == DFR_STREAM_ODDS && !isnan(w->latency_s) && now_s > w->begun_s)
        adapt(r, now_s, worker);
    w->runs = false;
    r->n_running--;
}

/* ---- what is there ---- */

struct dfr_receiver_state dfr_receiver_state(const struct dfr_receiver *r)
{
    bool over = !r->queue.n_used && !r->n_running;
    for (uint32_t s = 0; s < r->o.n_senders; s++)
        over &= r->sources[s].over;
    return (struct dfr_receiver_state){ .n_asked = r->n_asked, .n_waiting = r->n_waiting, .n_queued = r->queue.n_used, .n_running = r->n_running,
                                        .most_held = r->most_held, .is_over = over };
}

uint32_t dfr_receiver_target(const struct dfr_receiver *r, uint32_t worker)
{
    return r->workers[worker].target;
}

double dfr_receiver_latency_s(const struct dfr_receiver *r, uint32_t worker)
{
    return r->workers[worker].latency_s;
}

uint32_t dfr_receiver_bound(const struct dfr_receiver *r)
{
    return r->o.n_workers * ((r->o.policy == DFR_STREAM_ODDS ? r->o.most : r->o.requests) + r->o.n_senders);
}
