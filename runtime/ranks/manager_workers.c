/* manager_workers.c - the workers of a manager, for manager.c and its protocols (manager_push.c, manager_relay.c): what is said to them, their heartbeats, and
 * who joins, dies, returns and leaves. manager.h has the rules. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/ranks/manager_impl.h"
#include "runtime/record/facts.h"

/* ---- words and messages ---- */

const char *dfr_manager_name_of(const struct dfr_manager *m, int rank, char *text, size_t size)
{
    const char *host = m->workers[rank].host;

    snprintf(text, size, host[0] ? "rank %d on %s" : "rank %d", rank, host);
    return text;
}

__attribute__((format(printf, 3, 4))) static void tell(struct dfr_manager *m, int rank, const char *format, ...)
{
    char name[96], what[320], sentence[448];
    va_list list;

    if (!m->o.tell)
        return;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    snprintf(sentence, sizeof sentence, "%s %s", dfr_manager_name_of(m, rank, name, sizeof name), what);
    m->o.tell(m->o.arg, sentence);
}

struct dfr_head dfr_manager_head(const struct dfr_manager *m, enum dfr_message_kind kind)
{
    return (struct dfr_head){ .kind = kind, .epoch = m->o.epoch, .hash = m->o.hash };
}

void dfr_manager_send(struct dfr_manager *m, double now_s, int rank, struct dfr_message *message)
{
    m->workers[rank].sent_s = now_s;
    m->workers[rank].counts.n_sent++;
    m->workers[rank].counts.sent_bytes += message->size;
    m->o.send(m->o.send_arg, rank, message);
}

static void say(struct dfr_manager *m, double now_s, int rank, struct dfr_message *message)
{
    if (message)
        dfr_manager_send(m, now_s, rank, message);
    else if (m->code == DF_OK)
        m->code = dfr_error_memory(&m->error);
    dfr_message_drop(message);
}

void dfr_manager_say_values(struct dfr_manager *m, double now_s, int rank, const struct dfr_head *head, const struct dfr_value *values, uint32_t n)
{
    say(m, now_s, rank, dfr_message_make(head, values, n));
}

void dfr_manager_say(struct dfr_manager *m, double now_s, int rank, const struct dfr_head *head, const char *text)
{
    say(m, now_s, rank, text ? dfr_message_make_text(head, text) : dfr_message_make(head, NULL, 0));
}

/* ---- waves that are given ---- */

bool dfr_manager_is_here(const struct dfr_manager_worker *worker)
{
    return worker->state == DFR_WORKER_LIVE || worker->state == DFR_WORKER_LEAVING;
}

void dfr_manager_give(struct dfr_manager *m, double now_s, struct dfr_slot_of_wave *slot, int rank, struct dfr_message *message)
{
    slot->owner = rank;
    slot->given_s = now_s;
    slot->open = true;
    dfr_ring_insert(m->workers[rank].given.before, &slot->ring);
    m->n_open++;
    m->state.n_given++;
    m->workers[rank].counts.n_given++;
    dfr_manager_send(m, now_s, rank, message);
}

void dfr_manager_take_out(struct dfr_manager *m, struct dfr_slot_of_wave *slot)
{
    m->n_open -= slot->open;
    m->n_storing -= slot->storer > 0;
    slot->open = false;
    slot->storer = 0;
    dfr_ring_remove(&slot->ring);
}

void dfr_manager_return(struct dfr_manager *m, struct dfr_slot_of_wave *slot)
{
    struct dfr_ring *before = m->returned.before;

    while (before != &m->returned && ((struct dfr_slot_of_wave *)before)->wave > slot->wave)
        before = before->before;
    dfr_manager_take_out(m, slot);
    dfr_ring_insert(before, &slot->ring);
    if (slot->state == DFR_SLOT_GIVEN)
        slot->state = DFR_SLOT_WAITING;
}

/* ---- workers come and go ---- */

static void set_state(struct dfr_manager *m, double now_s, int rank, enum dfr_worker_state state)
{
    struct dfr_manager_worker *worker = &m->workers[rank];
    bool was_here = dfr_manager_is_here(worker);

    m->state.n_dead += (state == DFR_WORKER_DEAD) - (worker->state == DFR_WORKER_DEAD);
    worker->state = state;
    m->state.n_live += dfr_manager_is_here(worker) - was_here;
    if (was_here && m->state.n_live == 0)
        m->alone_s = now_s;
    if (m->o.live_changed)
        m->o.live_changed(m->o.arg, m->state.n_live, m->state.n_dead);
    if (m->protocol->changed)
        m->protocol->changed(m, rank);
}

void dfr_manager_bury(struct dfr_manager *m, double now_s, int rank, const char *why, double since_s)
{
    m->state.n_deaths++;
    m->workers[rank].counts.n_deaths++;
    set_state(m, now_s, rank, DFR_WORKER_DEAD);
    const unsigned n = m->protocol->lose(m, now_s, rank);
    m->workers[rank].counts.n_again += n;
    if (since_s < 0)
        tell(m, rank, "counts as dead: it %s; waves that are given out again: %u", why, n);
    else
        tell(m, rank, "counts as dead: it %s for %.1f s; waves that are given out again: %u", why, now_s - since_s, n);
}

static void refuse(struct dfr_manager *m, double now_s, int rank, const char *why)
{
    struct dfr_head head = dfr_manager_head(m, DFR_REFUSE);

    set_state(m, now_s, rank, DFR_WORKER_GONE);
    tell(m, rank, "is refused: %s", why);
    dfr_manager_say(m, now_s, rank, &head, why);
    m->protocol->lose(m, now_s, rank);
}

/* Describes why the hash of this HELLO differs, to follow "is refused: " in a message. */
static void find_difference(const struct dfr_manager *m, const struct dfr_message *hello, char *text, size_t size)
{
    const struct dfr_value *value = hello->head.kind == DFR_HELLO && hello->n_values > 2 ? &hello->values[2] : NULL;
    struct dfr_facts own = { 0 }, other = { 0 };
    char what[320];

    if (m->o.facts && value && dfr_facts_read(&own, m->o.facts, strlen(m->o.facts)) && dfr_facts_read(&other, value->data, value->bytes) &&
        dfr_facts_differ(&own, &other, DFR_HERE_THERE, what, sizeof what))
        snprintf(text, size, "it runs another program than rank 0, or with other arguments or sizes: %s", what);
    else
        snprintf(text, size, "it runs another program than rank 0, or with other arguments or sizes (hash %016llx, not %016llx)",
                 (unsigned long long)hello->head.hash, (unsigned long long)m->o.hash);
    dfr_facts_free(&own);
    dfr_facts_free(&other);
}

void dfr_manager_join(struct dfr_manager *m, double now_s, int rank, const struct dfr_message *hello)
{
    struct dfr_manager_worker *worker = &m->workers[rank];
    char text[420];

    if (hello->head.kind == DFR_HELLO) {
        dfr_message_text_of(hello, worker->host, sizeof worker->host);
        worker->inflight = hello->head.wave < UINT_MAX ? (unsigned)hello->head.wave : UINT_MAX;
        if (m->o.relay && m->o.relay->joined)
            m->o.relay->joined(m->o.relay->arg, rank, hello->head.stage);
    }
    if (hello->head.hash != m->o.hash) {
        find_difference(m, hello, text, sizeof text);
        refuse(m, now_s, rank, text);
        return;
    }
    if (hello->head.kind == DFR_HELLO && m->o.admits && !m->o.admits(m->o.arg, hello, text, sizeof text)) {
        refuse(m, now_s, rank, text);
        return;
    }
    worker->held = 0;
    m->any_came = true;
    dfr_manager_window_begin(m, now_s, rank);
    set_state(m, now_s, rank, DFR_WORKER_LIVE);
    m->protocol->join(m, now_s, rank, false);
}

void dfr_manager_revive(struct dfr_manager *m, double now_s, int rank, bool did_work)
{
    struct dfr_manager_worker *worker = &m->workers[rank];

    if (worker->state != DFR_WORKER_DEAD || (!did_work && worker->held > 0))
        return;
    set_state(m, now_s, rank, DFR_WORKER_LIVE);
    tell(m, rank, "is heard again: it gets waves as before");
    m->protocol->join(m, now_s, rank, true);
}

void dfr_manager_let_leave(struct dfr_manager *m, double now_s, int rank)
{
    struct dfr_manager_worker *worker = &m->workers[rank];
    struct dfr_head end = dfr_manager_head(m, DFR_END);

    if (m->phase != DFR_RUNNING || worker->state == DFR_WORKER_GONE)
        worker->said_bye = true;
    else if (worker->held > 0 || !dfr_ring_is_empty(&worker->storing))
        set_state(m, now_s, rank, DFR_WORKER_LEAVING);
    else {
        end.flags |= m->o.wants;
        set_state(m, now_s, rank, DFR_WORKER_GONE);
        dfr_manager_say(m, now_s, rank, &end, NULL);
        m->protocol->lose(m, now_s, rank);
    }
}

void dfr_manager_leave_if_done(struct dfr_manager *m, double now_s, int rank)
{
    const struct dfr_manager_worker *worker = &m->workers[rank];

    if (worker->state == DFR_WORKER_LEAVING && worker->held == 0 && dfr_ring_is_empty(&worker->storing))
        dfr_manager_let_leave(m, now_s, rank);
}

/* ---- silence ---- */

bool dfr_manager_is_silent(const struct dfr_manager *m, double now_s, int rank)
{
    const struct dfr_manager_worker *worker = &m->workers[rank];

    return now_s - worker->heard_s >= dfr_pulse_limit_s(&worker->pulse, m->o.beat_timeout_s);
}

void dfr_manager_beat(struct dfr_manager *m, double now_s, int rank)
{
    const struct dfr_head head = dfr_manager_head(m, DFR_BEAT);

    say(m, now_s, rank, dfr_pulse_beat(&m->workers[rank].pulse, now_s, &head));
}

void dfr_manager_look_at(struct dfr_manager *m, double now_s, int rank)
{
    struct dfr_manager_worker *worker = &m->workers[rank];
    const bool silent = dfr_manager_is_silent(m, now_s, rank);
    const bool counts = dfr_manager_is_here(worker) && !(m->protocol->waits && m->protocol->waits(m, now_s));
    const double since_s = m->protocol->holds_since_s(m, now_s, rank);

    if (counts && silent) {
        dfr_manager_bury(m, now_s, rank, "was silent", worker->heard_s);
    } else if (counts && m->o.wave_timeout_s > 0 && now_s - since_s >= m->o.wave_timeout_s) {
        worker->held += worker->held == 0; /* it may never end: the link is not closed as a whole */
        dfr_manager_bury(m, now_s, rank, "has held a wave", since_s);
    }
    if (worker->state != DFR_WORKER_UNKNOWN && !silent && !worker->lost && now_s - worker->sent_s >= m->o.beat_s)
        dfr_manager_beat(m, now_s, rank);
}

/* A time in which this process did not run (SIGSTOP) is nobody's silence. */
void dfr_manager_forgive(struct dfr_manager *m, double late_s)
{
    for (int rank = 1; rank < m->o.n_ranks && late_s > m->tick_s; rank++)
        m->workers[rank].heard_s += late_s;
}
