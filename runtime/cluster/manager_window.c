/* manager_window.c - how many waves a worker holds at once: the head of manager.h has the rule.
 *
 * A round is one window. Its first results are those of waves that were given with the window before, so they are left out.
 * The next ones are counted, twice the window and at least LEAST_RESULTS, for at least LEAST_S seconds. Then their rate is
 * compared with the best one so far. The first window is what the worker can have in flight, so that no worker waits through rounds
 * of smaller ones. If the worker gets no quicker with twice as many, fewer may do: the window is halved then, until that costs.
 */
#include "runtime/cluster/manager_impl.h"

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
