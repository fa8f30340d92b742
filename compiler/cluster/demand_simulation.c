/* demand_simulation.c - simulates demand-driven streams for demand_command.c, in an event loop: messages in transit,
 * and workers that process items (demand_simulation.h).
 */
#include "compiler/cluster/demand_simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/base/virtual_time.h"

#define MESSAGE_BYTES 64                /* of a request, and of an answer without its item */

enum event_kind { REQUEST, ANSWER, WORKED, RESULT };

struct event {
    double time_s;
    uint64_t order, made;
    enum event_kind kind;
    uint32_t from, to;                  /* machines; WORKED: `to` is the one */
    uint32_t worker;                    /* WORKED */
    uint64_t id;                        /* WORKED, RESULT: of the item */
    struct dfr_stream_request request;
    struct dfr_stream_answer answer;
};
DFR_EVENTS(event, struct event)

struct machine {
    uint32_t type, n_workers;
    uint32_t *worker_types;
    double out_free_s, in_free_s;       /* when its link has sent, and received, all it was given */
    struct dfr_sender *sender;
    struct dfr_receiver *receiver;
    int64_t next_wave;                  /* to be read here */
    uint32_t n_begun;                   /* waves that have not ended */
    struct run *run;
    uint32_t number;
};

struct run {
    const struct dfc_demand *s;
    struct dfc_demand_result *result;
    double now_s;
    bool failed;
    struct event_queue events;
    struct machine *machines;
    uint32_t n, n_homes;
    uint32_t present;
    double *last_s;                     /* [from * n + to]: when the last small message between them has left */
    double busy_s[DFR_STREAM_TYPES];
    int64_t n_ended;
};

/* ---- the network ---- */

/* When a message that is sent now will be read. */
static double arrival_s(struct run *r, uint32_t from, uint32_t to, double bytes)
{
    struct machine *a = &r->machines[from], *b = &r->machines[to];
    const struct dfc_demand_nodes *x = &r->s->nodes[a->type], *y = &r->s->nodes[b->type];
    double come_s = r->now_s, latency_s = fmax(x->latency_s, y->latency_s) + r->s->message_s;
    if (from == to)
        return come_s + r->s->message_s;
    r->result->moved_bytes += bytes;
    if (bytes < DFC_SMALL_BYTES) {
        double *last_s = &r->last_s[(size_t)from * r->n + to];
        *last_s = fmax(*last_s, come_s + bytes / fmin(x->link_bytes_per_s, y->link_bytes_per_s));
        return *last_s + latency_s;
    }
    a->out_free_s = fmax(a->out_free_s, r->now_s) + bytes / x->link_bytes_per_s;
    b->in_free_s = fmax(a->out_free_s, b->in_free_s + bytes / y->link_bytes_per_s);
    return b->in_free_s + latency_s;
}

/* ---- waves ---- */

/* From 0 to below 1, by wave and stage. */
static double drawn(const struct run *r, int64_t wave, uint32_t stage)
{
    return dfr_random_unit(dfr_random_of((uint64_t)wave * DFC_DEMAND_STAGES + stage + ((uint64_t)r->s->seed << 40)));
}

/* The first stage from `stage` on that fires for the wave; n_stages: none. */
static uint32_t next_stage(const struct run *r, int64_t wave, uint32_t stage)
{
    while (stage < r->s->n_stages && drawn(r, wave, stage) >= r->s->stages[stage].fires)
        stage++;
    return stage;
}

static void offer(struct run *r, struct machine *home, int64_t wave, uint32_t stage)
{
    struct dfr_stream_item item = { .id = (uint64_t)wave * r->s->n_stages + stage };
    memcpy(item.time_s, r->s->stages[stage].time_s, sizeof item.time_s);
    r->result->fired[stage]++;
    r->failed |= dfr_sender_offer(home->sender, &item) != DF_OK;
}

/* Reads waves while there is room. Those for which no stage fires have ended. */
static void read_waves(struct run *r, struct machine *home)
{
    for (; home->n_begun < r->s->places && home->next_wave < r->s->waves; home->next_wave += r->n_homes) {
        uint32_t stage = next_stage(r, home->next_wave, 0);
        if (stage == r->s->n_stages) {
            r->n_ended++;
            continue;
        }
        home->n_begun++;
        offer(r, home, home->next_wave, stage);
    }
    if (home->next_wave >= r->s->waves && !home->n_begun)
        dfr_sender_no_more(home->sender);
}

/* The result of an item has come home. */
static void take_result(struct run *r, struct machine *home, uint64_t id)
{
    int64_t wave = (int64_t)(id / r->s->n_stages);
    uint32_t stage = next_stage(r, wave, (uint32_t)(id % r->s->n_stages) + 1);
    dfr_sender_done(home->sender, id);
    if (stage < r->s->n_stages) {
        offer(r, home, wave, stage);
        return;
    }
    home->n_begun--;
    r->n_ended++;
    r->result->makespan_s = r->now_s;
    read_waves(r, home);
}

/* ---- a machine ---- */

static void send_answers(struct run *r, uint32_t home)
{
    struct event e = { .kind = ANSWER, .from = home };
    while (dfr_sender_next(r->machines[home].sender, &e.answer)) {
        double bytes = e.answer.kind == DFR_STREAM_ITEM ? r->s->stages[e.answer.item.id % r->s->n_stages].in_bytes : 0;
        e.to = e.answer.receiver;
        e.time_s = arrival_s(r, home, e.to, bytes + MESSAGE_BYTES);
        event_add(&r->events, e);
    }
}

static void send_requests(struct run *r, uint32_t m)
{
    struct event e = { .kind = REQUEST, .from = m };
    while (dfr_receiver_ask(r->machines[m].receiver, r->now_s, &e.request)) {
        e.to = e.request.sender;
        e.time_s = arrival_s(r, m, e.to, MESSAGE_BYTES);
        event_add(&r->events, e);
    }
}

/* Idle workers begin with what is queued, and what is missing is asked for. */
static void work(struct run *r, uint32_t m)
{
    struct machine *machine = &r->machines[m];
    struct dfr_stream_item item;
    uint32_t w;
    while (dfr_receiver_idle(machine->receiver, &w) && dfr_receiver_take(machine->receiver, r->now_s, w, &item)) {
        uint32_t type = machine->worker_types[w];
        double time_s = item.time_s[type];
        r->busy_s[type] += time_s;
        r->result->done[item.id % r->s->n_stages][type]++;
        event_add(&r->events, (struct event){ .time_s = r->now_s + time_s, .kind = WORKED, .to = m, .worker = w, .id = item.id });
    }
    send_requests(r, m);
}

static void worked(struct run *r, const struct event *e)
{
    uint32_t home = (uint32_t)((int64_t)(e->id / r->s->n_stages) % r->n_homes);
    r->result->ended_s[r->machines[e->to].worker_types[e->worker]] = r->now_s;
    dfr_receiver_finished(r->machines[e->to].receiver, r->now_s, e->worker);
    event_add(&r->events, (struct event){ .time_s = arrival_s(r, e->to, home, r->s->stages[e->id % r->s->n_stages].out_bytes + MESSAGE_BYTES), .kind = RESULT,
                                 .from = e->to, .to = home, .id = e->id });
    work(r, e->to);
}

static void happen(struct run *r, const struct event *e)
{
    switch (e->kind) {
    case REQUEST:
        r->failed |= dfr_sender_request(r->machines[e->to].sender, e->from, &e->request) != DF_OK;
        send_answers(r, e->to);
        break;
    case ANSWER:
        r->failed |= dfr_receiver_answer(r->machines[e->to].receiver, r->now_s, &e->answer) != DF_OK;
        work(r, e->to);
        break;
    case WORKED:
        worked(r, e);
        break;
    case RESULT:
        take_result(r, &r->machines[e->to], e->id);
        send_answers(r, e->to);
        break;
    }
}

/* ---- a run ---- */

static int check(const struct dfc_demand *s, struct df_error *error)
{
    uint32_t n = 0, present = 0;
    for (uint32_t t = 0; t < s->n_node_types; t++) {
        n += s->nodes[t].n;
        for (uint32_t type = 0; type < s->n_types; type++)
            present |= s->nodes[t].n && s->nodes[t].workers[type] ? UINT32_C(1) << type : 0;
    }
    if (!n || n > DFC_DEMAND_NODES || !s->n_stages || s->n_stages > DFC_DEMAND_STAGES || s->waves < 1 || !s->places)
        return dfr_error(error, DF_E_ARGUMENT, "streams by demand take 1 to %d nodes and 1 to %d stages", DFC_DEMAND_NODES, DFC_DEMAND_STAGES);
    for (uint32_t k = 0; k < s->n_stages; k++) {
        bool runs = false;
        for (uint32_t type = 0; type < s->n_types; type++)
            runs |= present >> type & 1 && s->stages[k].time_s[type] < INFINITY;
        if (!runs)
            return dfr_error(error, DF_E_ARGUMENT, "stage %u can run on no node", (unsigned)k + 1);
    }
    return DF_OK;
}

static void target_changed(void *arg, double now_s, uint32_t worker, uint32_t target)
{
    const struct machine *m = arg;
    struct run *r = m->run;
    r->result->most_target = target > r->result->most_target ? target : r->result->most_target;
    if (r->s->target_changed)
        r->s->target_changed(r->s->arg, now_s, m->number, worker, m->worker_types[worker], target);
}

static int make_machine(struct run *r, uint32_t number, uint32_t node_type, struct df_error *error)
{
    struct machine *m = &r->machines[number];
    const struct dfc_demand_nodes *nodes = &r->s->nodes[node_type];
    *m = (struct machine){ .type = node_type, .next_wave = number, .run = r, .number = number };
    for (uint32_t type = 0; type < r->s->n_types; type++)
        m->n_workers += nodes->workers[type];
    m->worker_types = calloc(m->n_workers + (size_t)1, sizeof *m->worker_types);
    if (!m->worker_types)
        return dfr_error_memory(error);
    for (uint32_t type = 0, w = 0; type < r->s->n_types; type++)
        for (uint32_t i = 0; i < nodes->workers[type]; i++)
            m->worker_types[w++] = type;
    const struct dfr_receiver_options receiver = { .policy = r->s->policy, .n_types = r->s->n_types, .present = r->present, .n_senders = r->n_homes,
                                                   .first_sender = number, .n_workers = m->n_workers, .types = m->worker_types,
                                                   .requests = r->s->requests, .most = r->s->most, .target_changed = target_changed, .arg = m };
    return dfr_receiver_create(&receiver, 0, &m->receiver, error);
}

static int make_sender(struct run *r, uint32_t number, struct df_error *error)
{
    uint32_t bound = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t other = dfr_receiver_bound(r->machines[i].receiver);
        bound = other > bound ? other : bound;
    }
    r->result->held_bound = bound;
    const struct dfr_sender_options sender = { .policy = r->s->policy, .n_types = r->s->n_types, .present = r->present, .n_receivers = r->n,
                                               .places = r->s->places, .most_requests = bound };
    return dfr_sender_create(&sender, &r->machines[number].sender, error);
}

static int make_run(struct run *r, struct df_error *error)
{
    int code = DF_OK;
    uint32_t number = 0;
    for (uint32_t t = 0; t < r->s->n_node_types; t++) {
        r->n += r->s->nodes[t].n;
        for (uint32_t type = 0; type < r->s->n_types; type++)
            r->present |= r->s->nodes[t].n && r->s->nodes[t].workers[type] ? UINT32_C(1) << type : 0;
    }
    r->n_homes = r->s->homes && r->s->homes < r->n ? r->s->homes : r->n;
    r->machines = calloc(r->n, sizeof *r->machines);
    r->last_s = calloc((size_t)r->n * r->n, sizeof *r->last_s);
    if (!r->machines || !r->last_s)
        return dfr_error_memory(error);
    for (uint32_t t = 0; t < r->s->n_node_types; t++)
        for (uint32_t i = 0; i < r->s->nodes[t].n && code == DF_OK; i++)
            code = make_machine(r, number++, t, error);
    for (number = 0; number < r->n_homes && code == DF_OK; number++)
        code = make_sender(r, number, error);
    return code;
}

static void free_run(struct run *r)
{
    for (uint32_t i = 0; r->machines && i < r->n; i++) {
        dfr_sender_destroy(r->machines[i].sender);
        dfr_receiver_destroy(r->machines[i].receiver);
        free(r->machines[i].worker_types);
    }
    free(r->machines);
    free(r->last_s);
    free(r->events.at);
}

static void finish_result(const struct run *r)
{
    double workers[DFR_STREAM_TYPES] = { 0 };
    for (uint32_t i = 0; i < r->n; i++) {
        const struct dfr_sender_state sender = i < r->n_homes ? dfr_sender_state(r->machines[i].sender) : (struct dfr_sender_state){ 0 };
        const struct dfr_receiver_state receiver = dfr_receiver_state(r->machines[i].receiver);
        if (sender.most_waiting > r->result->most_waiting)
            r->result->most_waiting = sender.most_waiting;
        if (receiver.most_held > r->result->most_held)
            r->result->most_held = receiver.most_held;
        for (uint32_t w = 0; w < r->machines[i].n_workers; w++)
            workers[r->machines[i].worker_types[w]]++;
    }
    for (uint32_t type = 0; type < r->s->n_types; type++)
        r->result->busy[type] = workers[type] && r->result->makespan_s > 0 ? r->busy_s[type] / (workers[type] * r->result->makespan_s) : 0;
}

int dfc_demand_run(const struct dfc_demand *setup, struct dfc_demand_result *result, struct df_error *error)
{
    struct run r = { .s = setup, .result = result };
    *result = (struct dfc_demand_result){ 0 };
    int code = check(setup, error);
    if (code == DF_OK)
        code = make_run(&r, error);
    if (code == DF_OK) {
        for (uint32_t i = 0; i < r.n_homes; i++)
            read_waves(&r, &r.machines[i]);
        for (uint32_t i = 0; i < r.n; i++)
            work(&r, i);
        while (!r.failed && !r.events.out_of_memory && r.events.n) {
            struct event event = event_next(&r.events);
            r.now_s = event.time_s;
            happen(&r, &event);
        }
        if (r.failed || r.events.out_of_memory || r.n_ended < setup->waves)
            code = dfr_error(error, DF_E_MEMORY, "out of memory");
        else
            finish_result(&r);
    }
    free_run(&r);
    return code;
}
