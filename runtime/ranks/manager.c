/* manager.c - rank 0's side of the protocol (manager.h): a state machine that comm.c drives, or compiler/cluster/manager_simulation.c in virtual time. Its
 * protocols (manager_push.c, manager_relay.c) call it to accept results; rank0.c reads its statistics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/ranks/manager_impl.h"

#define PLACES_OF_WORKER 64

/* ---- the end ---- */

static void begin_end(struct dfr_manager *m, double now_s)
{
    struct dfr_head head = dfr_manager_head(m, DFR_END);

    head.flags = m->code == DF_OK ? DFR_WHOLE | m->o.wants : 0;
    m->phase = DFR_ENDING;
    m->end_s = m->due_s = now_s;
    for (int rank = 1; rank < m->o.n_ranks; rank++)
        if (m->workers[rank].state != DFR_WORKER_GONE)
            dfr_manager_say(m, now_s, rank, &head, NULL);
}

void dfr_manager_fail(struct dfr_manager *m, double now_s, int code, const char *sentence)
{
    if (m->phase != DFR_RUNNING)
        return;
    m->code = dfr_error(&m->error, code, "%s", sentence);
    begin_end(m, now_s);
}

static bool stopped_waves_are_in(const struct dfr_manager *m)
{
    if (m->n_open > 0 || m->n_storing > 0)
        return false;
    if (m->n_ended < m->n_taken)        /* one whose files nobody stores any more cannot end */
        return dfr_manager_slot(m, m->n_ended)->again;
    return m->n_taken == m->n_offered || dfr_manager_slot(m, m->n_taken)->state != DFR_SLOT_ACCEPTED;
}

/* Workers are about to find that there are no such waves as they hold. They can be let go whole then. */
static bool waits_for_others(struct dfr_manager *m, double now_s)
{
    if (!m->cut)
        return false;
    m->ended_s = m->ended_s < 0 ? now_s : m->ended_s;
    for (int rank = 1; rank < m->o.n_ranks && now_s - m->ended_s < m->o.beat_timeout_s; rank++)
        if (dfr_manager_is_here(&m->workers[rank]) && m->workers[rank].held > 0)
            return true;
    return false;
}

/* After each event: is there nothing more to be done? */
static void look_for_end(struct dfr_manager *m, double now_s)
{
    char text[96];

    if (m->phase != DFR_RUNNING)
        return;
    if (m->code != DF_OK || (m->no_more && m->n_ended == m->n_offered && !waits_for_others(m, now_s))) {
        begin_end(m, now_s);
    } else if (m->stopping && stopped_waves_are_in(m)) {
        snprintf(text, sizeof text, "the run was stopped after wave %lld", (long long)m->n_ended - 1);
        dfr_manager_fail(m, now_s, DF_E_STOPPED, m->n_ended > m->o.first_wave ? text : "the run was stopped");
    }
}

/* A worker that still runs a wave nobody waits for any more may never end. */
static bool all_said_bye(const struct dfr_manager *m)
{
    for (int rank = 1; rank < m->o.n_ranks; rank++)
        if (!m->workers[rank].said_bye || m->workers[rank].held > 0)
            return false;
    return true;
}

static bool waits_for_bye(const struct dfr_manager *m, double now_s)
{
    for (int rank = 1; rank < m->o.n_ranks; rank++) {
        const struct dfr_manager_worker *worker = &m->workers[rank];
        const double since_s = worker->told_s > m->end_s ? worker->told_s : m->end_s;
        bool silent = worker->state == DFR_WORKER_DEAD && (worker->lost || dfr_manager_is_silent(m, now_s, rank));
        if (!worker->said_bye && !silent && now_s - since_s < m->o.beat_timeout_s)
            return true;
    }
    return false;
}

static void look_for_bye(struct dfr_manager *m, double now_s)
{
    struct dfr_head close = dfr_manager_head(m, DFR_CLOSE);

    if (m->phase != DFR_ENDING || waits_for_bye(m, now_s))
        return;
    m->phase = DFR_OVER;
    m->state.whole = all_said_bye(m);
    close.flags = m->state.whole ? DFR_WHOLE : 0;
    for (int rank = 1; rank < m->o.n_ranks; rank++)
        dfr_manager_say(m, now_s, rank, &close, NULL);
}

/* ---- results ---- */

bool dfr_manager_is_wanted(const struct dfr_manager *m, int64_t wave)
{
    return wave >= m->n_ended && wave < m->n_fresh &&
           (dfr_manager_slot(m, wave)->state == DFR_SLOT_GIVEN || dfr_manager_slot(m, wave)->state == DFR_SLOT_WAITING);
}

static void forget_inputs(struct dfr_manager *m, struct dfr_slot_of_wave *slot)
{
    m->bytes -= slot->again ? slot->again->size : 0;
    dfr_message_drop(slot->again);
    slot->again = NULL;
}

void dfr_manager_accept(struct dfr_manager *m, struct dfr_message *result)
{
    struct dfr_slot_of_wave *slot = dfr_manager_slot(m, result->head.wave);

    dfr_manager_take_out(m, slot);
    m->bytes += result->size;
    slot->again = slot->message;
    if (!m->o.stores || slot->wave < m->o.stored_waves)
        forget_inputs(m, slot);
    slot->message = dfr_message_hold(result);
    slot->state = DFR_SLOT_ACCEPTED;
    m->state.n_accepted++;
    if (m->o.accepted)
        m->o.accepted(m->o.arg, result);
}

/* ---- the end of the stream ---- */

/* Was a result of this wave, or of one behind it, accepted? Gives the first such wave; -1: none. */
static int64_t find_accepted(const struct dfr_manager *m, int64_t wave)
{
    if (wave < m->n_ended)
        return wave;
    for (; wave < m->n_fresh; wave++)
        if (dfr_manager_slot(m, wave)->state >= DFR_SLOT_ACCEPTED)
            return wave;
    return -1;
}

void dfr_manager_cut_stream(struct dfr_manager *m, double now_s, int rank, int64_t end)
{
    const int64_t accepted = find_accepted(m, end);
    char name[96], text[320];

    if (accepted >= 0) {
        snprintf(text, sizeof text, "%s finds no wave %lld, and another rank has given wave %lld: do all ranks read the same files, and has one of "
                 "them changed?", dfr_manager_name_of(m, rank, name, sizeof name), (long long)end, (long long)accepted);
        dfr_manager_fail(m, now_s, DF_E_REFUSED, text);
        return;
    }
    for (int64_t wave = end; wave < m->n_offered; wave++) {
        struct dfr_slot_of_wave *slot = dfr_manager_slot(m, wave);
        dfr_manager_take_out(m, slot);
        m->bytes -= slot->message->size;
        dfr_message_drop(slot->message);
        slot->message = NULL;
        slot->state = DFR_SLOT_FREE;
    }
    m->n_offered = end < m->n_offered ? end : m->n_offered;
    m->n_fresh = end < m->n_fresh ? end : m->n_fresh;
    m->no_more = m->cut = true;
}

void dfr_manager_refuse_behind(struct dfr_manager *m, double now_s, int rank, int64_t wave)
{
    char name[96], text[320];

    snprintf(text, sizeof text, "%s gives wave %lld, and a rank has found no wave %lld: do all ranks read the same files, and has one of them changed?",
             dfr_manager_name_of(m, rank, name, sizeof name), (long long)wave, (long long)m->n_offered);
    dfr_manager_fail(m, now_s, DF_E_REFUSED, text);
}

/* ---- reports ---- */

static void tell_time(struct dfr_manager *m, double now_s, int rank, const struct dfr_message *clock)
{
    const double times_s[2] = { now_s, m->o.origin_s };
    struct dfr_head head = dfr_manager_head(m, DFR_CLOCK);
    struct dfr_value values[2] = { { .port = 0 }, { .port = 1, .data = times_s, .bytes = sizeof times_s } };

    if (clock->n_values != 1)
        return;
    values[0].data = clock->values[0].data;
    values[0].bytes = clock->values[0].bytes;
    dfr_manager_say_values(m, now_s, rank, &head, values, 2);
}

static void take_report(struct dfr_manager *m, double now_s, int rank, const struct dfr_message *report)
{
    m->workers[rank].told_s = now_s;
    if (m->o.report)
        m->o.report(m->o.arg, rank, report);
}

/* ---- results ---- */

/* Who has stored the files may be another one than who is to, if that one seemed to be dead. */
static void note_stored(struct dfr_manager *m, double now_s, int rank, const struct dfr_head *head)
{
    struct dfr_slot_of_wave *slot = dfr_manager_slot(m, head->wave);

    if (head->wave >= m->n_ended && head->wave < m->n_fresh && slot->again) {
        if (!(head->flags & DFR_DROPPED)) {
            dfr_manager_take_out(m, slot);
            forget_inputs(m, slot);
        } else if (slot->storer == rank) {
            dfr_manager_return(m, slot);
        }
    }
    dfr_manager_leave_if_done(m, now_s, rank);
}

/* ---- events ---- */

static void fail_by_worker(struct dfr_manager *m, double now_s, int rank, const struct dfr_message *failed)
{
    char name[96], why[sizeof m->error.text], sentence[sizeof name + sizeof why + 2];

    dfr_message_text_of(failed, why, sizeof why);
    snprintf(sentence, sizeof sentence, "%s: %s", dfr_manager_name_of(m, rank, name, sizeof name), why);
    dfr_manager_fail(m, now_s, DF_E_KERNEL, sentence);
}

/* A message of a worker that takes part, in this epoch. */
static void obey(struct dfr_manager *m, double now_s, int rank, struct dfr_message *message)
{
    switch (message->head.kind) {
    case DFR_RESULT:
        m->protocol->judge(m, now_s, rank, message);
        break;
    case DFR_STORED:
        note_stored(m, now_s, rank, &message->head);
        break;
    case DFR_BEAT:
        dfr_pulse_hear(&m->workers[rank].pulse, now_s, message, m->o.beat_timeout_s);
        m->protocol->hear_progress(m, now_s, rank, message->head.wave);
        dfr_manager_revive(m, now_s, rank, false);
        break;
    case DFR_CLOCK:
        m->workers[rank].told_s = now_s;
        tell_time(m, now_s, rank, message);
        break;
    case DFR_REPORT:
        take_report(m, now_s, rank, message);
        break;
    case DFR_WAVE_FAILED:
        fail_by_worker(m, now_s, rank, message);
        break;
    case DFR_BYE:
        dfr_manager_let_leave(m, now_s, rank);
        break;
    default:
        m->state.n_dropped += !m->protocol->hear || !m->protocol->hear(m, rank, message); /* else a worker does not send it */
    }
}

static bool is_newcomer(const struct dfr_manager *m, int rank, const struct dfr_head *head)
{
    return head->kind == DFR_HELLO || (m->workers[rank].state == DFR_WORKER_UNKNOWN && head->epoch < m->o.epoch &&
                                       head->kind != DFR_BYE);
}

/* Of this run, if perhaps of another generation? */
static bool is_of_run(const struct dfr_manager *m, const struct dfr_head *head)
{
    const unsigned bits = m->o.relay ? DFR_GENERATION_BITS : 0;

    return head->hash == m->o.hash && head->epoch >> bits == m->o.epoch >> bits;
}

static void hear(struct dfr_manager *m, double now_s, int rank, struct dfr_message *message)
{
    struct dfr_manager_worker *worker = &m->workers[rank];
    const struct dfr_head *head = &message->head;

    if (is_newcomer(m, rank, head)) {
        if (dfr_manager_is_here(worker))
            dfr_manager_bury(m, now_s, rank, "began anew, and said nothing", worker->heard_s);
        if (m->phase == DFR_RUNNING && worker->state != DFR_WORKER_GONE)
            dfr_manager_join(m, now_s, rank, message);
    } else if (head->epoch > m->o.epoch) {
        dfr_manager_fail(m, now_s, DF_E_STOPPED, "a newer run has taken over the workers of this one");
    } else if (head->kind == DFR_BYE && (m->phase != DFR_RUNNING || worker->state == DFR_WORKER_GONE)) {
        worker->said_bye = true;        /* of an older epoch, too: a refused worker knows none */
    } else if (is_of_run(m, head) && (head->kind == DFR_WAVE_FAILED || (head->kind == DFR_BEAT && worker->state == DFR_WORKER_DEAD))) {
        obey(m, now_s, rank, message);  /* of an older generation, too: the rank is of no use any more; it was dead when this one began */
    } else if (head->epoch < m->o.epoch || head->hash != m->o.hash || worker->state == DFR_WORKER_UNKNOWN) {
        m->state.n_dropped++;
    } else {
        obey(m, now_s, rank, message);
    }
    worker->heard_s = now_s;
}

static void settle(struct dfr_manager *m, double now_s)
{
    m->protocol->hand_out(m, now_s);
    look_for_end(m, now_s);
    look_for_bye(m, now_s);
}

void dfr_manager_arrived(struct dfr_manager *m, double now_s, int from, struct dfr_message *message)
{
    if (from > 0 && from < m->o.n_ranks) {
        m->workers[from].counts.n_received++;
        m->workers[from].counts.received_bytes += message->size;
        hear(m, now_s, from, message);
    }
    dfr_message_drop(message);
    settle(m, now_s);
}

void dfr_manager_heard(struct dfr_manager *m, double now_s, int rank)
{
    if (rank > 0 && rank < m->o.n_ranks)
        m->workers[rank].heard_s = now_s;
}

void dfr_manager_lost(struct dfr_manager *m, double now_s, int rank)
{
    if (rank <= 0 || rank >= m->o.n_ranks || m->phase == DFR_OVER)
        return;
    m->workers[rank].lost = true;
    if (m->workers[rank].state != DFR_WORKER_DEAD && m->workers[rank].state != DFR_WORKER_GONE)
        dfr_manager_bury(m, now_s, rank, "has ended, or its connection has", -1);
    settle(m, now_s);
}

static bool all_are_gone(const struct dfr_manager *m, bool *any_lost)
{
    *any_lost = false;
    for (int rank = 1; rank < m->o.n_ranks; rank++) {
        if (m->workers[rank].state != DFR_WORKER_GONE && !m->workers[rank].lost)
            return false;
        *any_lost |= m->workers[rank].lost;
    }
    return true;
}

static void look_for_loss(struct dfr_manager *m, double now_s)
{
    const double limit_s = m->any_came ? m->o.lost_s : m->o.start_s;
    char text[96];
    bool any_lost;

    if (m->stopping && m->o.grace_s > 0 && now_s - m->stop_s >= m->o.grace_s) {
        m->state.gave_up = true;
        snprintf(text, sizeof text, "the run was stopped; what took longer than %g s was given up", m->o.grace_s);
        dfr_manager_fail(m, now_s, DF_E_STOPPED, text);
    } else if (m->state.n_live == 0 && all_are_gone(m, &any_lost)) {
        dfr_manager_fail(m, now_s, DF_E_STOPPED, any_lost ? "no other rank is left: they have ended" : "no worker takes part");
    } else if (m->state.n_live == 0 && now_s - m->alone_s >= limit_s) {
        snprintf(text, sizeof text, "no worker was heard for %g s", limit_s);
        dfr_manager_fail(m, now_s, DF_E_STOPPED, text);
    }
}

void dfr_manager_tick(struct dfr_manager *m, double now_s)
{
    dfr_manager_forgive(m, now_s - m->due_s);
    for (int rank = 1; rank < m->o.n_ranks && m->phase != DFR_OVER; rank++)
        dfr_manager_look_at(m, now_s, rank);
    look_for_loss(m, now_s);
    m->due_s = now_s + m->tick_s;
    settle(m, now_s);
}

double dfr_manager_due_s(const struct dfr_manager *m)
{
    return m->due_s;
}

static void tell_to_stop(struct dfr_manager *m, double now_s)
{
    struct dfr_head beat = dfr_manager_head(m, DFR_BEAT);

    beat.flags = DFR_STOPS;
    for (int rank = 1; rank < m->o.n_ranks; rank++)
        if (m->workers[rank].held > 0)
            dfr_manager_say(m, now_s, rank, &beat, NULL);
}

void dfr_manager_stop(struct dfr_manager *m, double now_s)
{
    if (!m->stopping) {
        m->stopping = true;
        m->stop_s = now_s;
        if (m->phase == DFR_RUNNING)
            tell_to_stop(m, now_s);
    }
    settle(m, now_s);
}

/* ---- waves in, results out ---- */

unsigned dfr_manager_room(const struct dfr_manager *m)
{
    int64_t there = m->n_offered - m->n_ended;

    if (m->phase != DFR_RUNNING || m->stopping || m->no_more)
        return 0;
    if (m->o.memory_bytes > 0 && m->bytes >= m->o.memory_bytes)
        return there == 0;
    return m->o.places - (unsigned)there;
}

struct dfr_head dfr_manager_give_head(const struct dfr_manager *m)
{
    struct dfr_head head = dfr_manager_head(m, DFR_GIVE);

    head.wave = m->n_offered;
    return head;
}

void dfr_manager_offer(struct dfr_manager *m, double now_s, struct dfr_message *message)
{
    struct dfr_slot_of_wave *slot = dfr_manager_slot(m, m->n_offered);

    slot->wave = m->n_offered++;
    slot->state = DFR_SLOT_WAITING;
    slot->message = message;
    m->bytes += message->size;
    settle(m, now_s);
}

void dfr_manager_no_more(struct dfr_manager *m, double now_s)
{
    m->no_more = true;
    settle(m, now_s);
}

struct dfr_message *dfr_manager_take(struct dfr_manager *m)
{
    struct dfr_slot_of_wave *slot = dfr_manager_slot(m, m->n_taken);
    struct dfr_message *message = slot->message;

    if (m->phase != DFR_RUNNING || m->n_taken == m->n_offered || slot->state != DFR_SLOT_ACCEPTED)
        return NULL;
    slot->state = DFR_SLOT_TAKEN;
    slot->message = NULL;               /* `again` may be there still */
    m->bytes -= message->size;
    m->n_taken++;
    return message;
}

int64_t dfr_manager_stored(struct dfr_manager *m)
{
    while (m->n_stored < m->n_taken && !dfr_manager_slot(m, m->n_stored)->again)
        m->n_stored++;
    return m->n_stored;
}

void dfr_manager_ended(struct dfr_manager *m, double now_s)
{
    if (m->n_ended == dfr_manager_stored(m))
        return;
    dfr_manager_slot(m, m->n_ended++)->state = DFR_SLOT_FREE;
    if (m->o.relay && m->o.relay->ended && m->o.relay->ended(m->o.relay->arg, m->n_ended - m->o.first_wave))
        dfr_manager_remap(m, now_s);
    settle(m, now_s);
}

/* ---- begin and outcome ---- */

bool dfr_manager_is_over(const struct dfr_manager *m)
{
    return m->phase == DFR_OVER;
}

int dfr_manager_outcome(const struct dfr_manager *m, struct df_error *error)
{
    if (m->code != DF_OK && error)
        *error = m->error;
    return m->code;
}

struct dfr_manager_state dfr_manager_state(const struct dfr_manager *m)
{
    struct dfr_manager_state state = m->state;

    state.n_offered = m->n_offered;
    state.n_taken = m->n_taken;
    state.n_ended = m->n_ended;
    state.n_accepted += m->o.first_wave;
    return state;
}

unsigned dfr_manager_window(const struct dfr_manager *m, int rank)
{
    return m->workers[rank].window;
}

static enum dfr_rank_fate fate_of(const struct dfr_manager_worker *worker)
{
    switch (worker->state) {
    case DFR_WORKER_UNKNOWN:
        return DFR_RANK_ABSENT;
    case DFR_WORKER_DEAD:
        return DFR_RANK_DIED;
    case DFR_WORKER_GONE:               /* who was welcome has a window */
        return worker->window > 0 ? DFR_RANK_LEFT : DFR_RANK_REFUSED;
    default:
        return DFR_RANK_WORKED;
    }
}

void dfr_manager_figures(const struct dfr_manager *m, int rank, struct dfr_rank_figures *figures)
{
    const struct dfr_manager_worker *worker = &m->workers[rank];

    memcpy(figures->host, worker->host, sizeof figures->host);
    figures->fate = fate_of(worker);
    figures->inflight = worker->inflight;
    figures->window = worker->window;
    figures->counts = worker->counts;
}

static void set_defaults(struct dfr_manager_options *o)
{
    unsigned n_workers = o->n_ranks > 1 ? (unsigned)o->n_ranks - 1 : 1;

    if (o->places == 0)
        o->places = n_workers * (o->window > 0 ? 2 * o->window : PLACES_OF_WORKER);
    o->beat_s = o->beat_s > 0 ? o->beat_s : 1;
    o->beat_timeout_s = o->beat_timeout_s > 0 ? o->beat_timeout_s : 10;
    o->start_s = o->start_s > 0 ? o->start_s : 60;
    o->lost_s = o->lost_s > 0 ? o->lost_s : o->beat_timeout_s;
}

/* A quarter of the shortest time that something takes to be noticed. */
static double tick_of(const struct dfr_manager_options *o)
{
    double least_s = o->beat_s;
    const double others_s[] = { o->beat_timeout_s, o->wave_timeout_s, o->grace_s, o->start_s, o->lost_s };

    for (unsigned i = 0; i < sizeof others_s / sizeof *others_s; i++)
        if (others_s[i] > 0 && others_s[i] < least_s)
            least_s = others_s[i];
    return least_s / 4;
}

static void init(struct dfr_manager *m, double now_s)
{
    unsigned n_workers = m->o.n_ranks > 1 ? (unsigned)m->o.n_ranks - 1 : 1;

    m->n_offered = m->n_fresh = m->n_known = m->n_taken = m->n_stored = m->n_ended = m->o.first_wave;
    m->most_window = m->o.places / 2 / n_workers > 0 ? m->o.places / 2 / n_workers : 1;
    m->ended_s = -1;
    m->dry_s = m->alone_s = m->due_s = now_s;
    m->tick_s = tick_of(&m->o);
    dfr_ring_init(&m->returned);
    dfr_ring_init(&m->asking);
    for (int rank = 0; rank < m->o.n_ranks; rank++) {
        dfr_ring_init(&m->workers[rank].ring);
        dfr_ring_init(&m->workers[rank].given);
        dfr_ring_init(&m->workers[rank].storing);
        m->workers[rank].heard_s = m->workers[rank].sent_s = now_s;
    }
    for (unsigned i = 0; i < m->o.places; i++)
        dfr_ring_init(&m->slots[i].ring);
}

int dfr_manager_create(const struct dfr_manager_options *options, double now_s, struct dfr_manager **manager,
                       struct df_error *error)
{
    if (options->n_ranks < 1 || options->epoch < 1 || options->first_wave < 0 || !options->send)
        return dfr_error(error, DF_E_ARGUMENT, "a manager needs ranks, an epoch, a first wave and a way to send");
    struct dfr_manager *m = calloc(1, sizeof *m);
    if (!m)
        return dfr_error_memory(error);
    m->o = *options;
    m->protocol = m->o.relay ? &dfr_protocol_relay : &dfr_protocol_push;
    set_defaults(&m->o);
    struct dfr_head welcome = dfr_manager_head(m, DFR_WELCOME);
    welcome.flags = m->o.wants;
    m->slots = calloc(m->o.places, sizeof *m->slots);
    m->workers = calloc((size_t)m->o.n_ranks, sizeof *m->workers);
    m->welcome = dfr_message_make(&welcome, options->once, options->n_once);
    if (!m->slots || !m->workers || !m->welcome) {
        dfr_manager_destroy(m);
        return dfr_error_memory(error);
    }
    init(m, now_s);
    *manager = m;
    return DF_OK;
}

void dfr_manager_destroy(struct dfr_manager *m)
{
    if (!m)
        return;
    for (unsigned i = 0; m->slots && i < m->o.places; i++) {
        dfr_message_drop(m->slots[i].message);
        dfr_message_drop(m->slots[i].again);
    }
    dfr_message_drop(m->welcome);
    free(m->slots);
    free(m->workers);
    free(m);
}
