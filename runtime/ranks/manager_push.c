/* manager_push.c - the protocol of a manager (manager.c) that pushes waves to workers, as many as each may hold at once: its window. A verdict tells the worker
 * of each result whether it was accepted. If a worker dies, what it holds is given to others, and its late results count as any others. manager.h has the
 * rules.
 */
#include "runtime/ranks/manager_impl.h"

/* ---- handing out ---- */

/* Puts it into `asking`, or takes it out. */
static void ask(struct dfr_manager *m, int rank)
{
    struct dfr_manager_worker *worker = &m->workers[rank];
    bool wants = worker->state == DFR_WORKER_LIVE && worker->held < worker->window;

    if (wants && dfr_ring_is_empty(&worker->ring))
        dfr_ring_insert(m->asking.before, &worker->ring);
    else if (!wants)
        dfr_ring_remove(&worker->ring);
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
    const bool for_files = slot->state != DFR_SLOT_WAITING;

    if (!for_files)
        slot->state = DFR_SLOT_GIVEN;
    m->workers[rank].held++;
    m->state.n_given_again += for_files;
    dfr_ring_remove(&m->workers[rank].ring); /* whoever asks next goes before it */
    ask(m, rank);
    dfr_manager_give(m, now_s, slot, rank, for_files ? slot->again : slot->message);
}

static void hand_out(struct dfr_manager *m, double now_s)
{
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

static void join(struct dfr_manager *m, double now_s, int rank, bool again)
{
    if (!again)
        dfr_manager_send(m, now_s, rank, m->welcome);
}

/* The waves that it holds, or is to store, wait again. Gives their number. */
static unsigned lose(struct dfr_manager *m, double now_s, int rank)
{
    struct dfr_manager_worker *worker = &m->workers[rank];
    unsigned n = 0;

    (void)now_s;
    for (; !dfr_ring_is_empty(&worker->given); n++)
        dfr_manager_return(m, (struct dfr_slot_of_wave *)worker->given.next);
    for (; !dfr_ring_is_empty(&worker->storing); n++)
        dfr_manager_return(m, (struct dfr_slot_of_wave *)worker->storing.next);
    return n;
}

/* When it was given the oldest wave that it holds. */
static double holds_since_s(const struct dfr_manager *m, double now_s, int rank)
{
    const struct dfr_ring *given = &m->workers[rank].given;
    return dfr_ring_is_empty(given) ? now_s : ((const struct dfr_slot_of_wave *)given->next)->given_s;
}

/* If it has got further, the time for which it may hold a wave begins anew. */
static void hear_progress(struct dfr_manager *m, double now_s, int rank, int64_t progress)
{
    struct dfr_manager_worker *worker = &m->workers[rank];

    if (progress != worker->progress && !dfr_ring_is_empty(&worker->given))
        ((struct dfr_slot_of_wave *)worker->given.next)->given_s = now_s;
    worker->progress = progress;
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

static void measure(struct dfr_manager *manager, double now_s, int rank)
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

/* ---- results ---- */

/* Returns true if the files of this wave are still needed: no rank has stored them or is about to. */
static bool wants_files(const struct dfr_manager *m, int64_t wave)
{
    const struct dfr_slot_of_wave *slot = dfr_manager_slot(m, wave);
    return wave >= m->n_ended && wave < m->n_fresh && slot->again && slot->storer == 0;
}

/* The files of the wave are the worker's to store. */
static void let_store(struct dfr_manager *m, int64_t wave, int rank)
{
    struct dfr_slot_of_wave *slot = dfr_manager_slot(m, wave);

    dfr_manager_take_out(m, slot);
    slot->storer = rank;
    m->n_storing++;
    dfr_ring_insert(m->workers[rank].storing.before, &slot->ring);
}

static void judge(struct dfr_manager *m, double now_s, int rank, struct dfr_message *result)
{
    struct dfr_manager_worker *worker = &m->workers[rank];
    struct dfr_head verdict = dfr_manager_head(m, DFR_VERDICT);

    verdict.wave = result->head.wave;
    if (worker->held == 0 || verdict.wave >= m->n_known || m->phase != DFR_RUNNING) {
        m->state.n_dropped++;           /* unrequested */
        return;
    }
    worker->held--;
    const bool no_wave = result->head.flags & DFR_NO_WAVE, wanted = !no_wave && dfr_manager_is_wanted(m, verdict.wave);
    if (no_wave)
        dfr_manager_cut_stream(m, now_s, rank, verdict.wave);
    else if (wanted)
        dfr_manager_accept(m, result);
    const bool files = !no_wave && wants_files(m, verdict.wave);
    if (files)
        let_store(m, verdict.wave, rank);
    verdict.flags = files || (wanted && !m->o.stores) ? 0 : DFR_DROPPED;
    m->state.n_dropped += !no_wave && !wanted && !files;
    worker->counts.n_accepted += wanted || files;
    worker->counts.n_dropped += !no_wave && !wanted && !files;
    dfr_manager_say(m, now_s, rank, &verdict, NULL);
    dfr_manager_revive(m, now_s, rank, true);
    if (!no_wave)
        measure(m, now_s, rank);
    ask(m, rank);
    dfr_manager_leave_if_done(m, now_s, rank);
}

const struct dfr_protocol dfr_protocol_push = { .hand_out = hand_out, .changed = ask, .join = join, .lose = lose, .holds_since_s = holds_since_s,
                                              .hear_progress = hear_progress, .judge = judge };
