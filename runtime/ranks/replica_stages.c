/* replica_stages.c - a rank that has a group of stages; ranks.c calls it on all ranks but the first. It asks the ranks of the group before for waves, runs
 * them, and gives them to the ranks of the next group that ask for them.
 *
 * Waves:    What a wave brings goes into BODY of the rank's view (subgraph/groups.h). When it has ended, what later places read waits to be asked for:
 *           that of BODY, and what is passed on. The last group sends it to rank 0 unasked. A rank begins no wave while two for each of its places
 *           run or wait.
 * Asking:   by stream/stream.h: each place of BODY is a worker. In a rank that is divided among its CPU workers and devices (suits.h) a place is of the type of
 *           one of them, and takes waves as that one becomes free; its waves run there (policy by-worker). Else all are of the rank's type, and take waves in turn.
 * Change:   A WELCOME of another generation brings another mapping. What waits is dropped, and what runs is dropped when it ends. If the rank's
 *           nodes are others, their run begins when the old one has ended.
 * Threads:  the communication thread.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/ranks/feed.h"
#include "runtime/ranks/replica.h"
#include "runtime/ranks/stage_rows.h"
#include "runtime/ranks/suits.h"
#include "runtime/stream/stream.h"
#include "runtime/subgraph/groups.h"
#include "runtime/threads/clock.h"

enum { REQUESTS = 2,                     /* of each place, under way and queued: ddfcfs, ddwrr */
       MOST = 64 };                     /* with odds, as many at most */

struct place {                          /* of BODY */
    struct dfr_message *in;             /* what the wave brought; NULL: no wave runs */
    uint64_t epoch;
    double began_s;
};

struct request {                        /* that is open, by its number */
    uint64_t ticket;
    uint32_t sender;
    bool open;
};

/* Messages by wave. The store owns what is put into it, and drops it if it has no room. */
struct store {
    struct dfr_message **all;
    uint32_t n;
    size_t room;
};

struct other {
    struct dfr_replica replica;         /* BODY: the group's stages */
    struct dfr_comm *comm;              /* the replica's, as the graph is */
    const struct df_graph *graph;
    const struct dfr_stages *stages;
    enum dfr_stream_policy policy;
    struct dfr_own_places own;
    bool tune;                          /* rank 0 wants to know what waves take */
    double ended_s;                     /* when the last one ended here */

    uint64_t epoch;                     /* of the generation; 0: no WELCOME came yet */
    struct dfr_mapping mapping;
    uint32_t classes[DFR_MOST_PROCESSORS + 1]; /* by rank */
    uint32_t group;                     /* DFR_NO_GROUP: it has no stages */
    struct dfr_groups groups;           /* of this mapping */
    struct dfr_suits *suits;            /* of this group; NULL: it is fed in order */
    bool divided;                       /* the places are, in this group */
    struct dfr_feed *feed;              /* to the next group; NULL: it sends to rank 0 */
    struct dfr_receiver *receiver;
    uint32_t senders[DFR_MOST_PROCESSORS]; /* ranks */
    uint32_t n_senders;
    struct request *requests;
    uint32_t n_requests;
    struct store in, out;               /* waves that wait to begin; that wait to be asked for */
    struct store early;                 /* ASKs of a generation that has not begun here */
    uint32_t *early_from;               /* by number in `early`: the rank */

    struct dfr_parts parts;             /* of BODY, if there is one */
    bool changes;                       /* BODY is to be that of `groups`, when what runs has ended */
    struct place *places;               /* by place of BODY */
    uint32_t n_places, n_running;
    int64_t next_local;                 /* the next wave of BODY */
    struct dfr_value *made, *all;       /* room for the tokens of a wave */

    struct dfr_tally tally;
    bool over;                          /* rank 0 asks what was done */
};

/* ---- stores ---- */

static bool store_put(struct store *s, struct dfr_message *message)
{
    if (!DFR_ARRAY_ROOM(s->all, s->n, s->room)) {
        dfr_message_drop(message);
        return false;
    }
    s->all[s->n++] = message;
    return true;
}

/* NULL: it is not there. */
static struct dfr_message *store_take(struct store *s, int64_t wave)
{
    uint32_t i = 0;
    while (i < s->n && s->all[i]->head.wave != wave)
        i++;
    if (i == s->n)
        return NULL;
    struct dfr_message *message = s->all[i];
    s->all[i] = s->all[--s->n];
    return message;
}

static void store_clear(struct store *s)
{
    while (s->n > 0)
        dfr_message_drop(s->all[--s->n]);
}

static void store_free(struct store *s)
{
    store_clear(s);
    free(s->all);
    *s = (struct store){ 0 };
}

static struct dfr_head head_of(const struct other *o, enum dfr_message_kind kind)
{
    return (struct dfr_head){ .kind = kind, .epoch = o->epoch, .hash = o->replica.hash };
}

/* ---- generations ---- */

static void leave_mapping(struct other *o)
{
    dfr_feed_close(o->feed);
    dfr_suits_close(o->suits);
    dfr_receiver_destroy(o->receiver);
    dfr_groups_free(&o->groups);
    free(o->requests);
    store_clear(&o->in);
    store_clear(&o->out);
    o->feed = NULL;
    o->suits = NULL;
    o->receiver = NULL;
    o->requests = NULL;
    o->n_senders = 0;
    o->divided = false;
}

static int read_mapping(struct other *o, const struct dfr_message *welcome, struct df_error *error)
{
    const struct dfr_value *last = welcome->n_values > 1 ? &welcome->values[welcome->n_values - 2] : NULL;

    if (!last || last[0].port != o->graph->n_values || last[1].port != o->graph->n_values + 1 ||
        !dfr_mapping_unpack(last[0].data, last[0].bytes, o->stages->n, o->comm->link->size, &o->mapping) ||
        last[1].bytes != o->mapping.n_ranks * sizeof *o->classes)
        return dfr_error(error, DF_E_FORMAT, "what came from rank 0 is no mapping of the stages");
    memcpy(o->classes, last[1].data, last[1].bytes);
    o->group = o->mapping.group_of_rank[o->comm->link->rank];
    return DF_OK;
}

static int open_receiver(struct other *o, struct df_error *error)
{
    const uint32_t n_types = o->suits ? dfr_suits_types(o->suits) : 1;
    uint32_t types[DFR_STREAM_WORKERS];
    const struct dfr_receiver_options options = { .policy = o->policy, .n_types = n_types, .present = dfr_stream_all(n_types), .n_senders = o->n_senders,
                                                  .first_sender = (uint32_t)o->comm->link->rank % o->n_senders, .n_workers = o->n_places,
                                                  .types = types, .requests = REQUESTS, .most = MOST };
    for (uint32_t w = 0; w < o->n_places; w++)
        types[w] = o->suits ? dfr_suits_type_of(o->suits, (uint32_t)o->comm->link->rank, o->own.cls[w]) : 0;
    int status = dfr_receiver_create(&options, dfr_clock_s(), &o->receiver, error);

    if (status != DF_OK)
        return status;
    o->n_requests = dfr_receiver_bound(o->receiver);
    o->requests = calloc((size_t)o->n_requests + 1, sizeof *o->requests);
    return o->requests ? DF_OK : dfr_error_memory(error);
}

/* The nodes of another group are to run. */
static bool is_other_group(const struct other *o)
{
    for (uint32_t v = 0; v < o->graph->n_nodes; v++)
        if ((o->parts.place[v] == DFR_BODY) != (o->groups.place[v] == o->group + 1) || (o->parts.place[v] == DFR_TAIL) != (o->groups.place[v] > o->group + 1))
            return true;
    return false;
}

static int open_suits(const struct other *o, uint32_t g, struct dfr_suits **suits, struct df_error *error)
{
    return dfr_suits_open(o->graph, o->stages, &o->mapping, g, o->classes, &o->replica.options, suits, error);
}

static int open_feed(struct other *o, struct df_error *error)
{
    struct dfr_suits *suits;
    int status = open_suits(o, o->group + 1, &suits, error);

    return status == DF_OK ? dfr_feed_open(&o->mapping, o->group + 1, o->policy, suits, &o->feed, error) : status;
}

static int enter_group(struct other *o, struct df_error *error)
{
    int status = dfr_groups_make(o->graph, o->stages, &o->mapping, &o->groups, error);

    if (status != DF_OK)
        return status;
    o->changes = !o->replica.body || o->replica.ending || is_other_group(o);
    if (o->group > 0)
        o->n_senders = dfr_mapping_ranks(&o->mapping, o->group - 1, o->senders);
    else
        o->senders[0] = 0, o->n_senders = 1;
    if (o->mapping.by_demand)
        status = open_suits(o, o->group, &o->suits, error);
    if (status == DF_OK) {
        o->divided = o->suits && dfr_suits_divided(o->suits, (uint32_t)o->comm->link->rank);
        status = open_receiver(o, error);
    }
    if (status == DF_OK && o->group + 1 < o->mapping.n_groups)
        status = open_feed(o, error);
    return status;
}

static void hear_early(struct other *o)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < o->early.n; i++) {
        struct dfr_message *message = o->early.all[i];
        if (message->head.epoch == o->epoch && o->feed)
            dfr_feed_request(o->feed, o->early_from[i], &message->head);
        if (message->head.epoch > o->epoch) {
            o->early_from[kept] = o->early_from[i];
            o->early.all[kept++] = message;
        } else {
            dfr_message_drop(message);
        }
    }
    o->early.n = kept;
}

static int begin(void *arg, const struct dfr_message *welcome, struct df_error *error)
{
    struct other *o = arg;
    int status = dfr_replica_welcome(&o->replica, welcome, error);

    if (status != DF_OK)
        return status;
    o->replica.stages = &o->tally.rows;
    leave_mapping(o);
    o->epoch = welcome->head.epoch;
    status = read_mapping(o, welcome, error);
    o->changes = false;
    if (status == DF_OK && o->group != DFR_NO_GROUP)
        status = enter_group(o, error);
    if (status == DF_OK && !dfr_tally_begin(&o->tally, o->stages, &o->mapping, o->group, dfr_clock_s()))
        status = dfr_error_memory(error);
    if (status == DF_OK)
        hear_early(o);
    return status;
}

/* ---- what runs ---- */

static void close_body(struct other *o)
{
    dfr_replica_close(&o->replica);
    dfr_parts_free(&o->parts);
    for (uint32_t p = 0; o->places && p < o->n_places; p++) {
        dfr_message_drop(o->places[p].in);
        o->places[p].in = NULL;
    }
    o->n_running = 0;
}

static int open_body(struct other *o, struct df_error *error)
{
    int status = dfr_groups_view(&o->groups, o->group, &o->parts, error);

    o->replica.options.unit_of_slot = o->divided ? o->own.unit : NULL;
    if (status == DF_OK)
        status = dfr_replica_open(&o->replica, &o->parts, error);
    o->next_local = 0;
    o->changes = false;
    return status;
}

/* What ran has ended. Its run ends, and the next one begins. */
static int change_body(struct other *o, struct df_error *error)
{
    if (!dfr_replica_ends(&o->replica))
        return DF_OK;
    int status = dfr_replica_finish(&o->replica, error);
    close_body(o);
    return status == DF_OK ? open_body(o, error) : status;
}

/* All that goes on of a wave, by rising port: what it brought, and what was made here. */
static struct dfr_message *make_out(struct other *o, const struct dfr_message *in, uint32_t n_made, const struct dfr_head *head)
{
    uint32_t n = 0, i = 0, k = 0;

    while (i < in->n_values || k < n_made) {
        if (i < in->n_values && (in->values[i].port >= o->graph->n_values || !dfr_groups_passes(&o->groups, o->group, in->values[i].port))) {
            i++;
            continue;
        }
        const bool brought = k == n_made || (i < in->n_values && in->values[i].port < o->made[k].port);
        o->all[n++] = brought ? in->values[i++] : o->made[k++];
    }
    return dfr_message_make(head, o->all, n);
}

/* What was made waits to be asked for; rank 0 gets it at once. */
static int keep_out(struct other *o, struct dfr_message *message, struct df_error *error)
{
    if (!message || !store_put(&o->out, message))
        return dfr_error_memory(error);
    return !o->feed || dfr_feed_offer(o->feed, message->head.wave, message->values, message->n_values) ? DF_OK : dfr_error_memory(error);
}

/* Tells rank 0 what the wave took: waves that run at once share the time. */
static int tell_took(struct other *o, const struct place *place, struct df_error *error)
{
    struct dfr_head head = head_of(o, DFR_TOOK);
    const double now_s = dfr_clock_s(), took_s = now_s - (place->began_s > o->ended_s ? place->began_s : o->ended_s);
    const struct dfr_value value = { .data = &took_s, .bytes = sizeof took_s };

    head.wave = place->in->head.wave;
    o->ended_s = now_s;
    struct dfr_message *message = dfr_message_make(&head, &value, 1);
    if (!message)
        return dfr_error_memory(error);
    dfr_comm_send(o->comm, 0, message);
    return DF_OK;
}

/* A source of this group has ended before this wave. Rank 0 is told, and no later group gets the wave. */
static int tell_no_wave(struct other *o, int64_t wave, struct df_error *error)
{
    struct dfr_head head = head_of(o, DFR_RESULT);

    head.wave = wave;
    head.flags = DFR_NO_WAVE;
    struct dfr_message *message = dfr_message_make(&head, NULL, 0);
    if (!message)
        return dfr_error_memory(error);
    dfr_comm_send(o->comm, 0, message);
    return DF_OK;
}

/* The wave has ended in the mapping that holds. */
static int pass_on(struct other *o, const struct place *place, int64_t local, struct df_error *error)
{
    struct dfr_head head = head_of(o, o->feed ? DFR_GIVE : DFR_RESULT);
    uint32_t n;
    int status = DF_OK;

    head.wave = place->in->head.wave;
    dfr_receiver_finished(o->receiver, dfr_clock_s(), (uint32_t)(local % o->n_places));
    if (head.wave >= dfr_part_end(o->replica.body))
        return tell_no_wave(o, head.wave, error);
    dfr_part_values(o->replica.body, local, DFR_PLACES, o->made, &n);
    dfr_tally_wave(&o->tally);
    if (o->tune)
        status = tell_took(o, place, error);
    return status == DF_OK ? keep_out(o, make_out(o, place->in, n, &head), error) : status;
}

static int end_wave(struct other *o, int64_t local, struct df_error *error)
{
    struct place *place = &o->places[local % o->n_places];
    int status = place->epoch == o->epoch && !o->changes ? pass_on(o, place, local, error) : DF_OK;

    dfr_message_drop(place->in);
    place->in = NULL;
    o->n_running--;
    dfr_part_release(o->replica.body, local);
    return status;
}

static int end_waves(struct other *o, struct df_error *error)
{
    int64_t local;
    const bool runs = o->replica.body && !o->replica.ending;
    int status = runs ? dfr_part_poll(o->replica.body, error) : DF_OK;

    while (status == DF_OK && runs && (local = dfr_part_ended(o->replica.body, false)) >= 0)
        status = end_wave(o, local, error);
    return status;
}

/* The place that begins the next wave: the next one in turn, or, if they are divided, that of the idle worker that an item suits best. false: none can. */
static bool choose_place(struct other *o, uint32_t *at)
{
    *at = (uint32_t)(o->next_local % o->n_places);
    if (!o->divided)
        return true;
    if (!dfr_receiver_idle(o->receiver, at) || o->places[*at].in) /* of a generation before this one */
        return false;
    dfr_part_turn(o->replica.body, *at);
    return true;
}

/* A place of BODY takes the wave that the stream gives it. */
static int begin_waves(struct other *o, struct df_error *error)
{
    struct dfr_stream_item item;
    int64_t local;
    uint32_t at;
    int status = DF_OK;

    while (status == DF_OK && o->n_running + o->out.n < 2 * o->n_places && choose_place(o, &at) && dfr_part_has_room(o->replica.body)) {
        if (!dfr_receiver_take(o->receiver, dfr_clock_s(), at, &item))
            break;
        struct dfr_message *in = store_take(&o->in, (int64_t)item.id);
        if (!in)
            return dfr_error(error, DF_E_FORMAT, "wave %lld is to begin, and did not come", (long long)item.id);
        status = dfr_part_begin(o->replica.body, in->head.wave, in->values, in->n_values, &local, error);
        if (status != DF_OK) {
            dfr_message_drop(in);
            return status;
        }
        o->next_local = local + 1;
        o->places[local % o->n_places] = (struct place){ .in = in, .epoch = o->epoch, .began_s = dfr_clock_s() };
        o->n_running++;
    }
    return status;
}

/* ---- the streams ---- */

/* An answer that does not go out would leave who asked waiting for good. */
static int answer_requests(struct other *o, bool *any, struct df_error *error)
{
    struct dfr_head head = head_of(o, DFR_NONE);
    uint32_t rank;

    while (o->feed && dfr_feed_answer(o->feed, &rank, &head)) {
        const bool gives = head.kind == DFR_GIVE;
        struct dfr_message *message = gives ? store_take(&o->out, head.wave) : dfr_message_make(&head, NULL, 0);
        if (!message)
            return gives ? dfr_error(error, DF_E_FORMAT, "wave %lld is asked for, and is not here", (long long)head.wave) : dfr_error_memory(error);
        if (gives) {
            dfr_message_number(message, head.stage);
            dfr_tally_out(&o->tally, message->size);
        }
        dfr_comm_send(o->comm, (int)rank, message);
        *any = true;
        head = head_of(o, DFR_NONE);
    }
    return DF_OK;
}

/* Of a request that is not open: n_requests if all are. */
static uint32_t find_number(const struct other *o)
{
    uint32_t i = 0;
    while (i < o->n_requests && o->requests[i].open)
        i++;
    return i;
}

static int ask(struct other *o, bool *any, struct df_error *error)
{
    struct dfr_stream_request request;
    uint32_t number;

    while ((number = find_number(o)) < o->n_requests && dfr_receiver_ask(o->receiver, dfr_clock_s(), &request)) {
        struct dfr_head head = head_of(o, DFR_ASK);
        o->requests[number] = (struct request){ .ticket = request.ticket, .sender = request.sender, .open = true };
        head.wave = (int64_t)request.type * DFR_STREAM_WORKERS + request.worker;
        head.stage = number;
        struct dfr_message *message = dfr_message_make(&head, NULL, 0);
        if (!message)
            return dfr_error_memory(error);
        dfr_comm_send(o->comm, (int)o->senders[request.sender], message);
        *any = true;
    }
    return DF_OK;
}

/* What a sender answers. A wave waits to begin. What answers no request is dropped. */
static int hear_answer(struct other *o, int rank, struct dfr_message *message, struct df_error *error)
{
    const struct dfr_head *head = &message->head;
    struct request *request = head->stage < o->n_requests && o->requests ? &o->requests[head->stage] : NULL;
    const enum dfr_stream_answers kind = head->kind == DFR_GIVE ? DFR_STREAM_ITEM : head->flags & DFR_DROPPED ? DFR_STREAM_DROPPED : DFR_STREAM_NONE;
    struct dfr_stream_answer answer = { .kind = kind, .item.id = (uint64_t)head->wave };

    if (head->epoch != o->epoch || !request || !request->open || o->senders[request->sender] != (uint32_t)rank)
        return DF_OK;
    for (unsigned t = 0; t < DFR_STREAM_TYPES; t++)
        answer.item.time_s[t] = NAN;
    if (o->suits && kind == DFR_STREAM_ITEM)
        dfr_suits_times(o->suits, message->values, message->n_values, answer.item.time_s);
    answer.ticket = request->ticket;
    request->open = kind == DFR_STREAM_NONE;
    if (kind == DFR_STREAM_ITEM)
        dfr_tally_in(&o->tally, message->size);
    if (kind == DFR_STREAM_ITEM && !store_put(&o->in, dfr_message_hold(message)))
        return dfr_error_memory(error);
    return dfr_receiver_answer(o->receiver, dfr_clock_s(), &answer) == DF_OK ? DF_OK : dfr_error_memory(error);
}

static int keep_early(struct other *o, int rank, struct dfr_message *message, struct df_error *error)
{
    uint32_t *more = realloc(o->early_from, (o->early.n + 1u) * sizeof *more);

    if (!more)
        return dfr_error_memory(error);
    o->early_from = more;
    more[o->early.n] = (uint32_t)rank;
    return store_put(&o->early, dfr_message_hold(message)) ? DF_OK : dfr_error_memory(error);
}

/* Messages of other ranks may come before rank 0's WELCOME. Those can only be requests. */
static int peer(void *arg, int rank, struct dfr_message *message, struct df_error *error)
{
    struct other *o = arg;
    const struct dfr_head *head = &message->head;

    if (head->hash != o->replica.hash || head->epoch < o->epoch)
        return DF_OK;
    if (head->kind == DFR_ASK && head->epoch > o->epoch)
        return keep_early(o, rank, message, error);
    if (head->kind == DFR_ASK && o->feed)
        dfr_feed_request(o->feed, (uint32_t)rank, head);
    else if (head->kind == DFR_GIVE || head->kind == DFR_NONE)
        return hear_answer(o, rank, message, error);
    return DF_OK;
}

/* ---- what the communication thread calls ---- */

static int start(void *arg, const struct dfr_message *give, const struct dfr_head *head, bool *started, struct df_error *error)
{
    (void)head;
    *started = true;
    return hear_answer(arg, 0, (struct dfr_message *)give, error);
}

static void note_state(struct other *o)
{
    const uint32_t n_queued = o->receiver ? dfr_receiver_state(o->receiver).n_queued : 0;
    dfr_tally_is(&o->tally, o->n_running > 0 ? DFR_TALLY_RAN : n_queued > 0 && o->out.n > 0 ? DFR_TALLY_FULL : DFR_TALLY_WAITED, dfr_clock_s());
}

/* A turn: gives the result of a wave to rank 0, if this is the last group. */
static int finish(void *arg, struct dfr_message **result, struct df_error *error)
{
    struct other *o = arg;
    bool any = true;
    int status = o->over ? DF_OK : end_waves(o, error);

    if (status == DF_OK && !o->over && o->changes && o->n_running == 0)
        status = change_body(o, error);
    if (status != DF_OK || o->over || o->changes || !o->receiver)
        return status;
    while (any && status == DF_OK) {
        any = false;
        status = begin_waves(o, error);
        if (status == DF_OK)
            status = answer_requests(o, &any, error);
        if (status == DF_OK)
            status = ask(o, &any, error);
    }
    if (!o->feed && o->out.n > 0) {
        *result = o->out.all[0];
        o->out.all[0] = o->out.all[--o->out.n];
        dfr_tally_out(&o->tally, (*result)->size);
    }
    note_state(o);
    return status;
}

/* The oldest wave that runs, and one; 0: none does. */
static int64_t progress(void *arg)
{
    const struct other *o = arg;
    int64_t oldest = 0;

    for (uint32_t p = 0; p < o->n_places; p++) {
        const int64_t wave = o->places[p].in ? o->places[p].in->head.wave + 1 : 0;
        oldest = wave > 0 && (oldest == 0 || wave < oldest) ? wave : oldest;
    }
    return oldest;
}

/* ---- begin and end ---- */

static int report(void *arg, const struct dfr_head *head, struct dfr_message **message, bool *last, struct df_error *error)
{
    struct other *o = arg;

    if (!o->over)
        note_state(o);
    o->over = true;
    return dfr_replica_report(&o->replica, head, message, last, error);
}

static int work(struct other *o, struct df_error *error)
{
    const struct dfr_work_side side = { .arg = o, .begin = begin, .start = start, .finish = finish, .peer = peer, .progress = progress,
                                        .report = report };

    if (o->policy != DFR_STREAM_DDFCFS)
        dfr_suits_places(o->graph, &o->replica.options, o->n_places, &o->own);
    return dfr_replica_work(&o->replica, o->n_places, o->own.classes, &side, error);
}

static void free_other(struct other *o)
{
    leave_mapping(o);
    close_body(o);
    store_free(&o->in);
    store_free(&o->out);
    store_free(&o->early);
    dfr_stage_rows_free(&o->tally.rows);
    free(o->early_from);
    free(o->places);
    free(o->made);
    free(o->all);
}

int dfr_replica_stages(struct dfr_comm *comm, const struct df_graph *g, const struct dfr_stages *stages, const struct df_options *options, uint64_t hash,
                       const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error)
{
    struct other *o = calloc(1, sizeof *o);
    int status;

    if (!o)
        return dfr_error_memory(error);
    *o = (struct other){ .comm = comm, .graph = g, .stages = stages, .policy = ranks->stages->policy, .tune = ranks->stages->tune, .group = DFR_NO_GROUP };
    o->n_places = dfr_part_places_of(options) < DFR_STREAM_WORKERS ? dfr_part_places_of(options) : DFR_STREAM_WORKERS;
    dfr_replica_init(&o->replica, comm, g, options, hash, ranks);
    o->replica.options.apart = 1;
    o->replica.options.inflight = o->n_places;
    o->places = calloc(o->n_places, sizeof *o->places);
    o->made = calloc((size_t)g->n_values + 1, sizeof *o->made);
    o->all = calloc(2 * ((size_t)g->n_values + 1), sizeof *o->all);
    status = o->places && o->made && o->all ? work(o, error) : dfr_error_memory(error);
    dfr_replica_leave(&o->replica, status, error);
    status = dfr_replica_end(&o->replica, status, stats, error);
    free_other(o);
    free(o);
    return status;
}
