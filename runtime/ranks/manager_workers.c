/* manager_workers.c - the workers of a manager: what is said to them, who gets which wave, who dies, returns and leaves, and how many
 * waves each may hold. manager.h has the rules.
 */
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

/* ---- handing out ---- */

bool dfr_manager_is_here(const struct dfr_manager_worker *worker)
{
    return worker->state == DFR_WORKER_LIVE || worker->state == DFR_WORKER_LEAVING;
}

/* Puts it into `asking`, or takes it out. */
void dfr_manager_ask(struct dfr_manager *m, int rank)
{
    struct dfr_manager_worker *worker = &m->workers[rank];
    bool wants = worker->state == DFR_WORKER_LIVE && worker->held < worker->window;

    if (wants && dfr_ring_is_empty(&worker->ring))
        dfr_ring_insert(m->asking.before, &worker->ring);
    else if (!wants)
        dfr_ring_remove(&worker->ring);
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

static struct dfr_slot_of_wave *next_waiting(struct dfr_manager *m)
{
    struct dfr_ring *first = m->returned.next;

    if (first != &m->returned) {
        dfr_ring_remove(first);
        return (struct dfr_slot_of_wave *)first;
    }
    if (m->n_fresh == m->n_offered)
        return NULL;
    m->n_known = m->n_fresh + 1;
    return dfr_manager_slot(m, m->n_fresh++);
}

static void give(struct dfr_manager *m, double now_s, struct dfr_slot_of_wave *slot, int rank)
{
    struct dfr_manager_worker *worker = &m->workers[rank];
    const bool for_files = slot->state != DFR_SLOT_WAITING;

    if (!for_files)
        slot->state = DFR_SLOT_GIVEN;
    slot->owner = rank;
    slot->given_s = now_s;
    slot->open = true;
    dfr_ring_insert(worker->given.before, &slot->ring);
    worker->held++;
    m->n_open++;
    m->state.n_given++;
    m->state.n_given_again += for_files;
    worker->counts.n_given++;
    dfr_ring_remove(&worker->ring);     /* whoever asks next goes before it */
    dfr_manager_ask(m, rank);
    dfr_manager_send(m, now_s, rank, for_files ? slot->again : slot->message);
}

void dfr_manager_hand_out(struct dfr_manager *m, double now_s)
{
    if (m->o.relay) {
        dfr_relay_hand_out(m, now_s);
        return;
    }
    while (m->phase == DFR_RUNNING && !m->stopping && !dfr_ring_is_empty(&m->asking)) {
        struct dfr_slot_of_wave *slot = next_waiting(m);
        if (!slot) {
            m->dry_s = now_s;
            return;
        }
        give(m, now_s, slot, (int)((struct dfr_manager_worker *)m->asking.next - m->workers));
    }
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
    dfr_manager_ask(m, rank);
}

/* The waves that it holds, or is to store, wait again. Gives their number. */
static unsigned take_back(struct dfr_manager *m, struct dfr_manager_worker *worker)
{
    unsigned n = 0;

    for (; !dfr_ring_is_empty(&worker->given); n++)
        dfr_manager_return(m, (struct dfr_slot_of_wave *)worker->given.next);
    for (; !dfr_ring_is_empty(&worker->storing); n++)
        dfr_manager_return(m, (struct dfr_slot_of_wave *)worker->storing.next);
    return n;
}

void dfr_manager_bury(struct dfr_manager *m, double now_s, int rank, const char *why, double since_s)
{
    unsigned n = m->o.relay ? 0 : take_back(m, &m->workers[rank]);

    m->state.n_deaths++;
    m->workers[rank].counts.n_deaths++;
    set_state(m, now_s, rank, DFR_WORKER_DEAD);
    if (m->o.relay)
        n = dfr_relay_lose(m, now_s, rank);
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
    if (m->o.relay)
        dfr_relay_lose(m, now_s, rank);
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
    if (m->o.relay)
        dfr_relay_join(m, now_s, rank);
    else
        dfr_manager_send(m, now_s, rank, m->welcome);
}

void dfr_manager_revive(struct dfr_manager *m, double now_s, int rank, bool did_work)
{
    struct dfr_manager_worker *worker = &m->workers[rank];

    if (worker->state != DFR_WORKER_DEAD || (!did_work && worker->held > 0))
        return;
    set_state(m, now_s, rank, DFR_WORKER_LIVE);
    tell(m, rank, "is heard again: it gets waves as before");
    if (m->o.relay)
        dfr_relay_join(m, now_s, rank);
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
        if (m->o.relay)
            dfr_relay_lose(m, now_s, rank);
    }
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

/* When it was given the oldest wave that it holds. */
static double holds_since_s(const struct dfr_manager_worker *worker, double now_s)
{
    return dfr_ring_is_empty(&worker->given) ? now_s : ((const struct dfr_slot_of_wave *)worker->given.next)->given_s;
}

void dfr_manager_hear_progress(struct dfr_manager *m, double now_s, int rank, int64_t progress)
{
    struct dfr_manager_worker *worker = &m->workers[rank];

    if (m->o.relay) {
        dfr_relay_hear(m, now_s, rank, progress);
        return;
    }
    if (progress != worker->progress && !dfr_ring_is_empty(&worker->given))
        ((struct dfr_slot_of_wave *)worker->given.next)->given_s = now_s;
    worker->progress = progress;
}

void dfr_manager_look_at(struct dfr_manager *m, double now_s, int rank)
{
    struct dfr_manager_worker *worker = &m->workers[rank];
    bool silent = dfr_manager_is_silent(m, now_s, rank);
    double since_s = holds_since_s(worker, now_s);

    if (m->o.relay) {
        dfr_relay_look_at(m, now_s, rank);
        return;
    }
    if (worker->state == DFR_WORKER_UNKNOWN)
        return;
    if (dfr_manager_is_here(worker) && silent)
        dfr_manager_bury(m, now_s, rank, "was silent", worker->heard_s);
    else if (dfr_manager_is_here(worker) && m->o.wave_timeout_s > 0 && now_s - since_s >= m->o.wave_timeout_s)
        dfr_manager_bury(m, now_s, rank, "has held a wave", since_s);
    if (!silent && !worker->lost && now_s - worker->sent_s >= m->o.beat_s)
        dfr_manager_beat(m, now_s, rank);
}

/* A time in which this process did not run (SIGSTOP) is nobody's silence. */
void dfr_manager_forgive(struct dfr_manager *m, double late_s)
{
    for (int rank = 1; rank < m->o.n_ranks && late_s > m->tick_s; rank++)
        m->workers[rank].heard_s += late_s;
}

/* ---- how many waves a worker holds at once ----
 *
 * A round is one window. Its first results are those of waves that were given with the window before, so they are left out.
 * The next ones are counted, twice the window and at least LEAST_RESULTS, for at least LEAST_S seconds. Then their rate is
 * compared with the best one so far. The first window is what the worker can have in flight, so that no worker waits through rounds
 * of smaller ones. If the worker gets no quicker with twice as many, fewer may do: the window is halved then, until that costs.
 */

#define LEAST_RESULTS 8
#define LEAST_S 20e-3
#define LEAST_RISE 1.05

static void change(struct dfr_manager *manager, double now_s, int rank, unsigned window)
{
    struct dfr_manager_worker *worker = &manager->workers[rank];

    worker->window = window;
    worker->n_round = 0;
    worker->n_left_out = worker->held > window ? worker->held : window;
    if (manager->o.window_changed)
        manager->o.window_changed(manager->o.arg, now_s, rank, window, worker->rate);
}

void dfr_manager_window_begin(struct dfr_manager *manager, double now_s, int rank)
{
    struct dfr_manager_worker *worker = &manager->workers[rank];

    unsigned window = 1;                /* a power of two, so that halves and doubles meet */

    while (window < worker->inflight && window <= manager->most_window / 2)
        window *= 2;
    worker->rate = 0;
    worker->falling = false;
    worker->first_window = window;
    worker->settled = manager->o.window > 0 || manager->most_window == 1;
    change(manager, now_s, rank, manager->o.window > 0 ? manager->o.window : window);
}

static void settle(struct dfr_manager *manager, double now_s, int rank, unsigned window)
{
    manager->workers[rank].settled = true;
    if (window != manager->workers[rank].window)
        change(manager, now_s, rank, window);
}

/* Do fewer than the first window? */
static void fall(struct dfr_manager *manager, double now_s, int rank)
{
    struct dfr_manager_worker *worker = &manager->workers[rank];

    worker->falling = true;
    change(manager, now_s, rank, worker->first_window / 2);
}

static void end_falling(struct dfr_manager *manager, double now_s, int rank, double rate)
{
    const struct dfr_manager_worker *worker = &manager->workers[rank];

    if (LEAST_RISE * rate <= worker->rate)
        settle(manager, now_s, rank, worker->window * 2);
    else if (worker->window == 1)
        settle(manager, now_s, rank, 1);
    else
        change(manager, now_s, rank, worker->window / 2);
}

static void end_rising(struct dfr_manager *manager, double now_s, int rank, double rate)
{
    struct dfr_manager_worker *worker = &manager->workers[rank];
    bool rises = rate >= LEAST_RISE * worker->rate, is_most = worker->window > manager->most_window / 2;
    unsigned enough = rises ? worker->window : worker->window / 2;

    worker->rate = rises ? rate : worker->rate;
    if (rises && !is_most)
        change(manager, now_s, rank, worker->window * 2);
    else if (enough == worker->first_window && enough > 1)
        fall(manager, now_s, rank);
    else
        settle(manager, now_s, rank, enough);
}

void dfr_manager_measure(struct dfr_manager *manager, double now_s, int rank)
{
    struct dfr_manager_worker *worker = &manager->workers[rank];
    unsigned counted = 2 * worker->window > LEAST_RESULTS ? 2 * worker->window : LEAST_RESULTS;

    if (worker->settled)
        return;
    worker->n_round++;
    if (worker->n_round == worker->n_left_out)
        worker->round_s = now_s;
    if (worker->n_round < worker->n_left_out + counted || now_s - worker->round_s < LEAST_S)
        return;
    if (manager->dry_s >= worker->round_s)
        worker->n_round = 0;            /* it waited for the source of the waves, which says nothing of the window */
    else
        (worker->falling ? end_falling : end_rising)(manager, now_s, rank,
                                                     (worker->n_round - worker->n_left_out) / (now_s - worker->round_s));
}
