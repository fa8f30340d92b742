/* manager_simulation.c - simulates a managed run on many machines for scale.c, in an event loop: rank 0's thread,
 * machines with service times, and the messages in transit (manager_simulation.h).
 */
#include "compiler/cluster/manager_simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cluster/flows.h"
#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/base/virtual_time.h"
#include "runtime/ranks/manager.h"

#define HASH 1
#define BEAT_S 1.0
#define LEAST_BYTES 128                 /* of a message */

/* ---- events ---- */

/* READ, WRITTEN: bytes of a wave from and to the file system; TO_MANAGER, TO_MACHINE: a message. These wait in a channel before they happen. */
enum event_kind { READ, WRITTEN, TO_MANAGER, TO_MACHINE, HANDLED, HEAD_DONE, TAIL_DONE, WAVE_DONE, BEAT };

struct event {
    double time_s;
    uint64_t order, made;
    enum event_kind kind;
    uint32_t rank;                      /* of the machine; TO_MANAGER: of the sender */
    int64_t wave;                       /* READ, WAVE_DONE */
    double bytes;                       /* of what waits in a channel */
    struct dfr_message *message;        /* TO_MANAGER, TO_MACHINE, HEAD_DONE */
};
DFR_EVENTS(event, struct event)

struct machine {
    uint32_t type;
    bool over;                          /* it was let go */
    double free_s;                      /* when it may begin the next wave */
    double busy_s;
    struct event_queue in, out;         /* the directions of its link, each with what was given to it, in that order: the first is under way */
    uint64_t epoch;
    int64_t share, n_begun, n_done;     /* with shares: its number, and waves of it */
};

struct run {
    const struct dfc_manager_setup *s;
    struct dfr_manager *manager;
    double now_s;
    bool failed;                        /* out of memory */

    struct event_queue events;
    struct machine *machines;           /* by rank; 0 is not used */
    uint32_t n_ranks;
    struct flows_of_network {
        struct dfc_flows flows;
        uint32_t out, in, net, files;   /* resources; UINT32_MAX: unbounded */
        uint32_t gives[DFC_MOST_TYPES], results[DFC_MOST_TYPES], reads[DFC_MOST_TYPES], writes[DFC_MOST_TYPES];
    } net;

    struct event_queue inbox;           /* messages that have arrived */
    bool handling;                      /* the first of them */
    double free_s;                      /* when rank 0's thread has done all it was given */
    double handled_s;                   /* its time in all */
    unsigned n_sent;                    /* by calls of the manager, not counted yet in free_s */

    bool head_busy, tail_busy;
    int64_t n_made;                     /* waves whose inputs were begun */
    double ended_s;
    int64_t by_type[DFC_MOST_TYPES];
};

/* Adds an event to a queue, which then holds its message. */
static void add_to(struct run *r, struct event_queue *queue, struct event event)
{
    if (!event_add(queue, event)) {
        dfr_message_drop(event.message);
        r->failed = true;
    }
}

static void add_event(struct run *r, struct event event)
{
    add_to(r, &r->events, event);
}

/* ---- machines ---- */

/* From 1 - vary to 1 + vary, by wave. */
static double factor(const struct run *r, int64_t wave)
{
    return 1 + r->s->vary * (2 * dfr_random_unit(dfr_random_of((uint64_t)wave + ((uint64_t)r->s->seed << 40))) - 1);
}

/* The wave's inputs are there. */
static void begin_wave(struct run *r, uint32_t rank, int64_t wave)
{
    struct machine *m = &r->machines[rank];
    const struct dfc_machines *type = &r->s->types[m->type];
    const struct dfc_manager_share *share = r->s->shares ? &r->s->shares[m->share] : NULL;
    const double every_s = share ? share->every_s[m->type] : type->every_s, latency_s = share ? share->latency_s[m->type] : type->latency_s;
    double f = factor(r, wave), begin_s = fmax(r->now_s, m->free_s);
    m->free_s = begin_s + every_s * f;
    m->busy_s += every_s * f;
    add_event(r, (struct event){ .time_s = begin_s + latency_s * f, .kind = WAVE_DONE, .rank = rank, .wave = wave });
}

/* ---- the network ---- */

static uint32_t bound(struct dfc_flows *flows, double bytes_per_s)
{
    return bytes_per_s > 0 ? dfc_flows_resource(flows, bytes_per_s) : UINT32_MAX;
}

static uint32_t bit(uint32_t resource)
{
    return resource == UINT32_MAX ? 0 : UINT32_C(1) << resource;
}

static void make_network(struct run *r)
{
    struct flows_of_network *net = &r->net;
    struct dfc_flows *flows = &net->flows;
    net->out = bound(flows, r->s->manager_bytes_per_s);
    net->in = bound(flows, r->s->manager_bytes_per_s);
    net->net = bound(flows, r->s->switch_bytes_per_s);
    net->files = bound(flows, r->s->files_bytes_per_s);
    for (uint32_t t = 0; t < r->s->n_types; t++) {
        double cap = r->s->types[t].link_bytes_per_s;
        net->gives[t] = dfc_flows_group(flows, bit(net->out) | bit(net->net), cap);
        net->results[t] = dfc_flows_group(flows, bit(net->in) | bit(net->net), cap);
        net->reads[t] = dfc_flows_group(flows, bit(net->files) | bit(net->net), cap);
        net->writes[t] = dfc_flows_group(flows, bit(net->files) | bit(net->net), cap);
    }
}

/* Flows are told apart by machine and direction. */
static uint32_t flow_of(uint32_t rank, bool in)
{
    return 2 * rank + in;
}

static void begin_first(struct run *r, uint32_t rank, bool in);

/* What has left its link arrives, after the latency if it is a message. */
static void deliver(struct run *r, struct event what)
{
    what.time_s = r->now_s + r->s->latency_s;
    if (what.kind == READ)
        begin_wave(r, what.rank, what.wave);
    else if (what.kind != WRITTEN)
        add_event(r, what);
}

static struct event_queue *channel(struct run *r, uint32_t rank, bool in)
{
    return in ? &r->machines[rank].in : &r->machines[rank].out;
}

/* The first transfer of a channel has left its link, and what follows it begins. */
static void leave(struct run *r, uint32_t rank, bool in)
{
    struct event_queue *c = channel(r, rank, in);
    deliver(r, event_next(c));
    if (c->n)
        begin_first(r, rank, in);
}

static void begin_first(struct run *r, uint32_t rank, bool in)
{
    const struct flows_of_network *net = &r->net;
    const struct event *t = channel(r, rank, in)->at;
    const uint32_t *const groups[] = { [READ] = net->reads, [WRITTEN] = net->writes, [TO_MANAGER] = net->results, [TO_MACHINE] = net->gives };
    if (t->bytes < DFC_SMALL_BYTES)
        leave(r, rank, in);
    else if (!dfc_flows_begin(&r->net.flows, r->now_s, groups[t->kind][r->machines[rank].type], t->bytes, flow_of(rank, in)))
        r->failed = true;
}

/* Puts a transfer behind the others of that direction, but for heartbeats, which MPI lets pass large messages. Takes the message. */
static void transfer(struct run *r, struct event what)
{
    bool beats = what.message && what.message->head.kind == DFR_BEAT;
    bool in = what.kind == TO_MACHINE || what.kind == READ;
    struct event_queue *c = channel(r, what.rank, in);
    if (beats || (!c->n && what.bytes < DFC_SMALL_BYTES)) {
        deliver(r, what);
        return;
    }
    what.time_s = r->now_s;
    add_to(r, c, what);
    if (c->n == 1)
        begin_first(r, what.rank, in);
}

/* ---- what machines say ---- */

/* A message of so many bytes, without them: nobody here reads them. NULL: out of memory. */
static struct dfr_message *hollow(struct run *r, const struct dfr_head *head, double bytes)
{
    struct dfr_message *message = malloc(sizeof *message);
    if (message)
        *message = (struct dfr_message){ .head = *head, .n_holders = 1, .size = (size_t)fmax(bytes, LEAST_BYTES) };
    else
        r->failed = true;
    return message;
}

static void send_to_manager(struct run *r, uint32_t rank, enum dfr_message_kind kind, int64_t wave, double bytes)
{
    const struct dfr_head head = { .kind = kind, .epoch = r->machines[rank].epoch, .hash = HASH, .wave = wave };
    struct dfr_message *message = hollow(r, &head, bytes);
    if (message)
        transfer(r, (struct event){ .kind = TO_MANAGER, .rank = rank, .bytes = (double)message->size, .message = message });
}

/* Gets the inputs of a wave. */
static void fetch_wave(struct run *r, uint32_t rank, int64_t wave)
{
    if (r->s->read_bytes > 0)
        transfer(r, (struct event){ .kind = READ, .rank = rank, .wave = wave, .bytes = r->s->read_bytes });
    else
        begin_wave(r, rank, wave);
}

/* The machine has a share: its first waves begin. */
static void begin_share(struct run *r, uint32_t rank, int64_t share)
{
    struct machine *m = &r->machines[rank];
    const int64_t inflight = r->s->inflight > 0 ? r->s->inflight : 1, n = inflight < r->s->waves ? inflight : r->s->waves;
    m->share = share;
    m->n_done = 0;
    m->n_begun = n;
    for (int64_t wave = 0; wave < n; wave++)
        fetch_wave(r, rank, wave);
}

/* A wave of its share has ended. */
static void end_wave_of_share(struct run *r, uint32_t rank)
{
    struct machine *m = &r->machines[rank];
    if (++m->n_done == r->s->waves)
        send_to_manager(r, rank, DFR_RESULT, m->share, r->s->shares[m->share].bytes);
    else if (m->n_begun < r->s->waves)
        fetch_wave(r, rank, m->n_begun++);
}

static void end_wave(struct run *r, uint32_t rank, int64_t wave)
{
    if (r->s->shares) {
        end_wave_of_share(r, rank);
        return;
    }
    if (r->s->write_bytes > 0)
        transfer(r, (struct event){ .kind = WRITTEN, .rank = rank, .bytes = r->s->write_bytes });
    send_to_manager(r, rank, DFR_RESULT, wave, r->s->result_bytes);
}

static void beat(struct run *r, uint32_t rank)
{
    if (r->machines[rank].over)
        return;
    send_to_manager(r, rank, DFR_BEAT, 0, 0);
    add_event(r, (struct event){ .time_s = r->now_s + BEAT_S, .kind = BEAT, .rank = rank });
}

static void machine_reads(struct run *r, uint32_t rank, struct dfr_message *message)
{
    struct machine *m = &r->machines[rank];
    const struct dfr_head *head = &message->head;
    if (head->kind == DFR_WELCOME) {
        m->epoch = head->epoch;
        beat(r, rank);
    } else if (head->kind == DFR_GIVE && r->s->shares) {
        begin_share(r, rank, head->wave);
    } else if (head->kind == DFR_GIVE) {
        fetch_wave(r, rank, head->wave);
    } else if (head->kind == DFR_END) {
        m->over = true;
        send_to_manager(r, rank, DFR_BYE, 0, 0);
    }
    dfr_message_drop(message);
}

/* ---- rank 0 ---- */

static void manager_sends(void *arg, int to, struct dfr_message *message)
{
    struct run *r = arg;
    r->n_sent++;
    transfer(r, (struct event){ .kind = TO_MACHINE, .rank = (uint32_t)to, .bytes = (double)message->size, .message = dfr_message_hold(message) });
}

/* What the manager gives out: waves, or shares in their place. */
static int64_t n_items(const struct run *r)
{
    return r->s->shares ? r->s->n_shares : r->s->waves;
}

static void make_inputs(struct run *r)
{
    while (!r->head_busy && !r->failed && r->n_made < n_items(r) && dfr_manager_room(r->manager) > 0) {
        struct dfr_head head = dfr_manager_give_head(r->manager);
        struct dfr_message *give = hollow(r, &head, r->s->give_bytes);
        if (!give)
            return;
        r->n_made++;
        r->head_busy = r->s->head_s > 0;
        if (r->head_busy)
            add_event(r, (struct event){ .time_s = r->now_s + r->s->head_s, .kind = HEAD_DONE, .message = give });
        else
            dfr_manager_offer(r->manager, r->now_s, give);
        if (!r->head_busy && r->n_made == n_items(r))
            dfr_manager_no_more(r->manager, r->now_s);
    }
}

static void end_next(struct run *r)
{
    dfr_manager_ended(r->manager, r->now_s);
    r->ended_s = r->now_s;
}

static void take_results(struct run *r)
{
    struct dfr_message *result;
    while (!r->tail_busy && (result = dfr_manager_take(r->manager))) {
        dfr_message_drop(result);
        r->tail_busy = r->s->tail_s > 0;
        if (r->tail_busy)
            add_event(r, (struct event){ .time_s = r->now_s + r->s->tail_s, .kind = TAIL_DONE });
        else
            end_next(r);
    }
}

/* The thread of rank 0 begins on the next message, if there is one and no other is being handled. */
static void handle_next(struct run *r)
{
    if (r->handling || !r->inbox.n)
        return;
    r->handling = true;
    r->free_s = fmax(r->free_s, r->now_s) + r->s->handle_s;
    r->handled_s += r->s->handle_s;
    add_event(r, (struct event){ .time_s = r->free_s, .kind = HANDLED });
}

static void handled(struct run *r)
{
    struct event arrived = event_next(&r->inbox);
    r->handling = false;
    if (arrived.message->head.kind == DFR_RESULT)
        r->by_type[r->machines[arrived.rank].type]++;
    dfr_manager_arrived(r->manager, r->now_s, (int)arrived.rank, arrived.message);
}

/* After each call of the manager: results are taken, inputs are made, and what it sent takes its thread's time. */
static void after_manager(struct run *r)
{
    take_results(r);
    make_inputs(r);
    take_results(r);
    double sent_s = r->n_sent * r->s->handle_s;
    r->n_sent = 0;
    r->handled_s += sent_s;
    r->free_s = fmax(r->free_s, r->now_s) + sent_s;
    handle_next(r);
}

/* ---- the loop ---- */

static void happen(struct run *r, const struct event *event)
{
    switch (event->kind) {
    case READ:
    case WRITTEN: return;               /* deliver() has done it */
    case TO_MANAGER:
        add_to(r, &r->inbox, *event);
        handle_next(r);
        return;
    case TO_MACHINE: machine_reads(r, event->rank, event->message); return;
    case WAVE_DONE: end_wave(r, event->rank, event->wave); return;
    case BEAT: beat(r, event->rank); return;
    case HANDLED: handled(r); break;
    case HEAD_DONE:
        r->head_busy = false;
        dfr_manager_offer(r->manager, r->now_s, event->message);
        if (r->n_made == n_items(r))
            dfr_manager_no_more(r->manager, r->now_s);
        break;
    case TAIL_DONE:
        r->tail_busy = false;
        end_next(r);
        break;
    }
    after_manager(r);
}

/* Goes on to what happens next: an event, the end of a flow, or the manager's tick. false: nothing will. */
static bool step(struct run *r)
{
    uint32_t group = 0;
    double event_s = event_next_s(&r->events), flow_s = dfc_flows_next_s(&r->net.flows, &group);
    double tick_s = fmax(dfr_manager_due_s(r->manager), r->now_s);
    if (event_s == HUGE_VAL && flow_s == HUGE_VAL && tick_s == HUGE_VAL)
        return false;
    r->now_s = fmin(tick_s, fmin(event_s, flow_s));
    if (flow_s <= r->now_s) {
        uint32_t who = dfc_flows_end(&r->net.flows, r->now_s, group);
        leave(r, who / 2, who % 2);
    } else if (event_s <= r->now_s) {
        struct event event = event_next(&r->events);
        happen(r, &event);
    } else {
        dfr_manager_tick(r->manager, r->now_s);
        after_manager(r);
    }
    return true;
}

/* ---- a run ---- */

static bool make_machines(struct run *r)
{
    r->n_ranks = 1;
    for (uint32_t t = 0; t < r->s->n_types; t++)
        r->n_ranks += r->s->types[t].n;
    r->machines = calloc(r->n_ranks, sizeof *r->machines);
    uint32_t rank = 1;
    for (uint32_t t = 0; r->machines && t < r->s->n_types; t++)
        for (uint32_t i = 0; i < r->s->types[t].n; i++)
            r->machines[rank++].type = t;
    return r->machines;
}

static void fill_result(const struct run *r, struct dfc_manager_result *result)
{
    double busy_s[DFC_MOST_TYPES] = { 0 }, all_s = r->ended_s, sum_s = 0;
    *result = (struct dfc_manager_result){ .makespan_s = all_s, .manager_busy = r->handled_s / all_s, .least_window = UINT32_MAX };
    for (uint32_t rank = 1; rank < r->n_ranks; rank++) {
        unsigned window = dfr_manager_window(r->manager, (int)rank);
        busy_s[r->machines[rank].type] += r->machines[rank].busy_s;
        sum_s += r->machines[rank].busy_s;
        result->least_window = window < result->least_window ? window : result->least_window;
        result->most_window = window > result->most_window ? window : result->most_window;
    }
    for (uint32_t t = 0; t < r->s->n_types; t++) {
        result->waves[t] = r->by_type[t];
        result->busy[t] = r->s->types[t].n ? busy_s[t] / (r->s->types[t].n * all_s) : 0;
    }
    result->nodes_busy = sum_s / ((r->n_ranks - 1) * all_s);
    const struct flows_of_network *net = &r->net;
    const uint32_t of[4] = { net->out, net->in, net->net, net->files };
    double *busy[4] = { &result->out_busy, &result->in_busy, &result->switch_busy, &result->files_busy };
    for (unsigned i = 0; i < 4; i++)
        *busy[i] = of[i] == UINT32_MAX ? 0 : net->flows.moved_bytes[of[i]] / (net->flows.resources[of[i]] * all_s);
}

static void free_events(struct event_queue *events)
{
    for (uint32_t i = 0; i < events->n; i++)
        dfr_message_drop(events->at[i].message);
    free(events->at);
}

static void free_run(struct run *r)
{
    free_events(&r->events);
    free_events(&r->inbox);
    for (uint32_t rank = 1; r->machines && rank < r->n_ranks; rank++) {
        free_events(&r->machines[rank].in);
        free_events(&r->machines[rank].out);
    }
    dfc_flows_free(&r->net.flows);
    free(r->machines);
    dfr_manager_destroy(r->manager);
}

int dfc_manager_simulate(const struct dfc_manager_setup *setup, struct dfc_manager_result *result, struct df_error *error)
{
    struct run r = { .s = setup };
    struct dfr_manager_options options = { .epoch = 1, .hash = HASH, .window = setup->shares ? 1 : setup->window, .beat_s = BEAT_S,
                                           .send = manager_sends, .send_arg = &r };
    int code = make_machines(&r) ? DF_OK : dfr_error(error, DF_E_MEMORY, "out of memory");
    options.n_ranks = (int)r.n_ranks;
    if (code == DF_OK)
        code = dfr_manager_create(&options, 0, &r.manager, error);
    if (code == DF_OK) {
        make_network(&r);
        for (uint32_t rank = 1; rank < r.n_ranks; rank++)
            send_to_manager(&r, rank, DFR_HELLO, setup->shares ? 1 : setup->inflight, 0);
        after_manager(&r);
        while (!r.failed && !dfr_manager_is_over(r.manager) && step(&r))
            ;
        code = r.failed ? dfr_error(error, DF_E_MEMORY, "out of memory") : dfr_manager_outcome(r.manager, error);
    }
    if (code == DF_OK)
        fill_result(&r, result);
    free_run(&r);
    return code;
}
