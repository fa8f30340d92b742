/* manager_relay.c - the protocol of a manager (manager.c) whose waves go from worker to worker: relays in manager.h. Workers ask for waves, a caller says who
 * gets which, and a result may come from another worker than the one that got the wave. If a worker dies, all waves that are not accepted are given out again,
 * in a new generation.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/ranks/manager_impl.h"

static void fail_for_memory(struct dfr_manager *m)
{
    if (m->code == DF_OK)
        m->code = dfr_error_memory(&m->error);
}

/* ---- generations ---- */

/* Waves that were given wait again. */
static unsigned take_all_back(struct dfr_manager *m)
{
    unsigned n = 0;

    for (int64_t wave = m->n_ended; wave < m->n_fresh; wave++) {
        struct dfr_slot_of_wave *slot = dfr_manager_slot(m, wave);
        if (slot->state != DFR_SLOT_GIVEN)
            continue;
        dfr_manager_take_out(m, slot);
        slot->state = DFR_SLOT_WAITING;
        n++;
    }
    m->n_relayed = m->n_ended;
    return n;
}

/* Gives whether the workers can be told of it. */
static bool begin_generation(struct dfr_manager *m, bool *live, bool *uses)
{
    struct dfr_head head;

    m->o.epoch++;
    m->generation++;
    for (int rank = 0; rank < m->o.n_ranks; rank++)
        live[rank] = m->workers[rank].state == DFR_WORKER_LIVE;
    dfr_message_drop(m->welcome);
    head = dfr_manager_head(m, DFR_WELCOME);
    head.flags = m->o.wants;
    m->welcome = m->o.relay->map(m->o.relay->arg, &head, m->o.once, m->o.n_once, live, uses);
    return m->welcome;
}

static unsigned map_anew(struct dfr_manager *m, double now_s)
{
    bool *live = calloc((size_t)m->o.n_ranks, sizeof *live), *uses = calloc((size_t)m->o.n_ranks, sizeof *uses);
    const unsigned n = take_all_back(m);

    m->remapping = false;
    m->n_used = 0;
    if (!live || !uses || !begin_generation(m, live, uses))
        fail_for_memory(m);
    for (int rank = 1; rank < m->o.n_ranks && m->code == DF_OK; rank++) {
        struct dfr_manager_worker *worker = &m->workers[rank];
        worker->used = uses[rank];
        worker->progress = 0;
        m->n_used += uses[rank];
        if (m->generation == 1)
            worker->heard_s = now_s;    /* who is not welcome yet does not beat */
        if (live[rank])
            dfr_manager_send(m, now_s, rank, m->welcome);
    }
    free(live);
    free(uses);
    return n;
}

static bool all_are_known(const struct dfr_manager *m)
{
    for (int rank = 1; rank < m->o.n_ranks; rank++)
        if (m->workers[rank].state == DFR_WORKER_UNKNOWN)
            return false;
    return true;
}

static void join(struct dfr_manager *m, double now_s, int rank, bool again)
{
    (void)again;
    if (m->phase != DFR_RUNNING)
        return;
    if (m->generation == 0 ? all_are_known(m) : m->n_used == 0)
        map_anew(m, now_s);
    else if (m->generation > 0)
        dfr_manager_send(m, now_s, rank, m->welcome); /* it is a spare one */
}

static unsigned lose(struct dfr_manager *m, double now_s, int rank)
{
    const bool used = m->workers[rank].used;

    m->workers[rank].used = false;
    if (m->phase != DFR_RUNNING || (m->generation == 0 && !all_are_known(m)))
        return 0;
    return used || m->generation == 0 ? map_anew(m, now_s) : 0;
}

/* ---- waves ---- */

static void offer_waves(struct dfr_manager *m)
{
    while (m->n_relayed < m->n_offered) {
        const struct dfr_slot_of_wave *slot = dfr_manager_slot(m, m->n_relayed);
        if (slot->state == DFR_SLOT_WAITING && !m->o.relay->offer(m->o.relay->arg, slot->message))
            return;
        m->n_relayed++;
    }
}

static void give(struct dfr_manager *m, double now_s, int rank, const struct dfr_head *head)
{
    struct dfr_slot_of_wave *slot = dfr_manager_slot(m, head->wave);
    struct dfr_message *message = dfr_message_make(head, slot->message->values, slot->message->n_values);

    if (!message) {
        fail_for_memory(m);
        return;
    }
    slot->state = DFR_SLOT_GIVEN;
    m->n_fresh = head->wave + 1 > m->n_fresh ? head->wave + 1 : m->n_fresh;
    m->n_known = m->n_fresh;
    dfr_manager_give(m, now_s, slot, rank, message);
    dfr_message_drop(message);
}

/* The stream was found to end before this wave. Who asked asks again, because an earlier wave may still wait. */
static void take_from(struct dfr_head *head)
{
    head->kind = DFR_NONE;
    head->flags = DFR_DROPPED;
    head->wave = 0;
}

static void hand_out(struct dfr_manager *m, double now_s)
{
    struct dfr_head head;
    int rank;

    if (m->phase != DFR_RUNNING || m->stopping || m->code != DF_OK)
        return;
    if (m->remapping && m->generation > 0 && m->n_open == 0)
        map_anew(m, now_s);
    if (m->remapping || m->n_used == 0)
        return;
    offer_waves(m);
    for (head = dfr_manager_head(m, DFR_GIVE); m->code == DF_OK && m->o.relay->answer(m->o.relay->arg, &rank, &head); head = dfr_manager_head(m, DFR_GIVE)) {
        if (head.kind == DFR_GIVE && head.wave >= m->n_offered)
            take_from(&head);
        if (head.kind == DFR_GIVE)
            give(m, now_s, rank, &head);
        else
            dfr_manager_say(m, now_s, rank, &head, NULL);
    }
}

void dfr_manager_remap(struct dfr_manager *m, double now_s)
{
    m->remapping = true;
    hand_out(m, now_s);
}

static bool hear(struct dfr_manager *m, int rank, const struct dfr_message *message)
{
    const struct dfr_manager_relay *relay = m->o.relay;
    const bool used = m->workers[rank].used;

    if (message->head.kind == DFR_ASK && used)
        relay->request(relay->arg, rank, &message->head);
    if (message->head.kind == DFR_TOOK && used && relay->took)
        relay->took(relay->arg, rank, message);
    return message->head.kind == DFR_ASK || message->head.kind == DFR_TOOK;
}

/* Who gives it need not have got the wave. */
static void judge(struct dfr_manager *m, double now_s, int rank, struct dfr_message *result)
{
    if (result->head.flags & DFR_NO_WAVE) {
        if (m->phase == DFR_RUNNING && m->workers[rank].used && result->head.wave < m->n_known)
            dfr_manager_cut_stream(m, now_s, rank, result->head.wave);
        return;
    }
    const bool wanted = m->phase == DFR_RUNNING && m->workers[rank].used && dfr_manager_is_wanted(m, result->head.wave);

    m->state.n_dropped += !wanted;
    m->workers[rank].counts.n_dropped += !wanted;
    m->workers[rank].counts.n_accepted += wanted;
    if (m->phase == DFR_RUNNING && m->workers[rank].used && m->cut && result->head.wave >= m->n_offered)
        dfr_manager_refuse_behind(m, now_s, rank, result->head.wave);
    if (!wanted)
        return;
    dfr_manager_accept(m, result);
    dfr_manager_revive(m, now_s, rank, true);
}

/* ---- silence ---- */

/* progress: the oldest wave that runs there, and one; 0: none does. */
static void hear_progress(struct dfr_manager *m, double now_s, int rank, int64_t progress)
{
    struct dfr_manager_worker *worker = &m->workers[rank];

    if (progress != worker->progress)
        worker->runs_s = now_s;
    if (progress == 0)
        worker->held = 0;
    worker->progress = progress;
}

static double holds_since_s(const struct dfr_manager *m, double now_s, int rank)
{
    return m->workers[rank].progress > 0 ? m->workers[rank].runs_s : now_s;
}

/* Before the first generation. Those that do not come are not waited for any longer than start_s. */
static bool waits(struct dfr_manager *m, double now_s)
{
    const bool first = m->generation == 0;

    if (first && m->state.n_live > 0 && now_s - m->alone_s >= m->o.start_s)
        map_anew(m, now_s);
    return first;
}

const struct dfr_protocol dfr_protocol_relay = { .hand_out = hand_out, .join = join, .lose = lose, .waits = waits, .holds_since_s = holds_since_s,
                                               .hear_progress = hear_progress, .judge = judge, .hear = hear };
