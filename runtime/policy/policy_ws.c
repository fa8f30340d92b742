/* policy_ws.c - policy "ws", work stealing. A job stays with the worker that released it if that worker can run it; otherwise the workers that can run it get
 * such jobs in turn. A worker takes its newest job first. A worker without jobs steals the older half of another worker's. The table of policies (policy.c)
 * lists it.
 *
 * Each worker has a deque for the jobs that it released and a queue for those that others gave it: one such pair per set of units (policy.h), so that a
 * thief never finds a job that it cannot run. Both have a small fixed capacity; overflow goes to a shared queue, which workers check last. With `oldest_first`
 * (struct dfr_view) all jobs go to the queues, so that workers take the oldest job, and the deques stay empty.
 *
 * This file serves runs with devices, runs with one worker, and simulations. In runs with several workers and no devices the engine uses deques of its own
 * in place of this policy: they behave the same at lower cost, except for the order of long jobs of several waves (engine/steal.h).
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/policy/ahead.h"
#include "runtime/threads/shared_deque.h"

#define OWN_JOBS 256                    /* in one deque or queue of one worker */

struct ws {
    const struct dfr_view *view;
    struct dfr_ready common;
    struct dfr_shared_deque *own;       /* [worker * n_sets + set]: jobs that the worker released */
    struct dfr_queue **given;           /* the same: jobs that others gave it */
    _Atomic uint32_t turn;
    struct dfr_ahead ahead;
};

static void ws_destroy(void *state)
{
    struct ws *s = state;
    uint32_t n = s->view->n_workers * s->common.n_sets;
    for (uint32_t i = 0; s->own && i < n; i++)
        dfr_shared_deque_destroy(&s->own[i]);
    for (uint32_t i = 0; s->given && i < n; i++)
        if (s->given[i])
            dfr_queue_destroy(s->given[i]);
    free(s->own);
    free(s->given);
    dfr_ready_destroy(&s->common);
    free(s);
}

static bool make_queues(struct ws *s)
{
    uint32_t n = s->view->n_workers * s->common.n_sets;
    s->own = aligned_alloc(64, (n + 1) * sizeof *s->own);
    if (!s->own)
        return false;
    memset(s->own, 0, (n + 1) * sizeof *s->own);
    s->given = calloc(n + 1, sizeof *s->given);
    if (!s->given)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        s->given[i] = dfr_queue_create(OWN_JOBS);
        if (!s->given[i] || !dfr_shared_deque_create(&s->own[i], OWN_JOBS))
            return false;
    }
    return true;
}

static int ws_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                     void **state, struct df_error *error)
{
    struct ws *s = calloc(1, sizeof *s);
    int status;

    (void)policy;
    (void)plan;
    if (!s)
        return dfr_error_memory(error);
    s->view = view;
    dfr_ahead_init(&s->ahead, view);
    status = dfr_ready_create(&s->common, view, false, error);
    if (status != DF_OK) {
        free(s);
        return status;
    }
    if (!make_queues(s)) {
        ws_destroy(s);
        return dfr_error_memory(error);
    }
    *state = s;
    return DF_OK;
}

/* The next worker, by turns, whose unit is in the set. */
static uint32_t worker_in_turn(struct ws *s, uint32_t able)
{
    uint32_t w = atomic_fetch_add_explicit(&s->turn, 1, memory_order_relaxed) % s->view->n_workers;
    while (!(able >> s->view->unit_of[w] & 1))
        w = w + 1 < s->view->n_workers ? w + 1 : 0;
    return w;
}

static enum dfr_pushed ws_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    struct ws *s = state;
    uint32_t able = s->view->able[dfr_job_node(job)], set = s->common.set_of[dfr_job_node(job)];
    bool pushed, own = by != DFR_NOBODY && able >> s->view->unit_of[by] & 1;

    if (own && lone && s->view->platform->n_units == 1)
        return DFR_KEPT;                /* else an idle device may take it */
    dfr_ahead_pushed(&s->ahead, job);
    if (own)
        pushed = s->view->oldest_first ? dfr_queue_push(s->given[by * s->common.n_sets + set], job)
                                       : dfr_shared_deque_push(&s->own[by * s->common.n_sets + set], job);
    else
        pushed = dfr_queue_push(s->given[worker_in_turn(s, able) * s->common.n_sets + set], job);
    if (!pushed)
        dfr_ready_push(&s->common, job);
    *units = able;
    return DFR_QUEUED;
}

/* A worker's own jobs: the newest that it released, else the oldest that it was given. */
static bool take_own(struct ws *s, uint32_t worker, uint32_t unit, uint64_t *job)
{
    uint32_t first = worker * s->common.n_sets;
    for (uint32_t i = 0; i < s->common.n_sets; i++)
        if (s->common.sets[i] >> unit & 1 && dfr_shared_deque_pop(&s->own[first + i], job))
            return true;
    for (uint32_t i = 0; i < s->common.n_sets; i++)
        if (s->common.sets[i] >> unit & 1 && dfr_queue_pop(s->given[first + i], job))
            return true;
    return false;
}

/* The older half of a victim's jobs: the thief takes the newest of them, and the others into its own deque. Who looked
 * for a job while these were on their way is woken. */
static bool steal_half(struct ws *s, uint32_t victim, uint32_t thief, uint32_t set, uint64_t *job)
{
    struct dfr_shared_deque *from = &s->own[victim * s->common.n_sets + set], *to = &s->own[thief * s->common.n_sets + set];
    uint32_t n = (dfr_shared_deque_size(from) + 1) / 2;
    uint64_t next;
    bool moved = false;

    if (!dfr_shared_deque_steal(from, job))
        return false;
    for (uint32_t i = 1; i < n && dfr_shared_deque_steal(from, &next); i++, *job = next) {
        if (!dfr_shared_deque_push(to, *job))
            dfr_ready_push(&s->common, *job);
        moved = true;
    }
    for (uint32_t u = 0; moved && u < s->view->platform->n_units; u++)
        if (s->common.sets[set] >> u & 1)
            s->view->wake(s->view->arg, u);
    return true;
}

static bool steal(struct ws *s, uint32_t victim, uint32_t thief, uint32_t unit, uint64_t *job)
{
    for (uint32_t i = 0; i < s->common.n_sets; i++)
        if (s->common.sets[i] >> unit & 1 && (steal_half(s, victim, thief, i, job) ||
                                              dfr_queue_pop(s->given[victim * s->common.n_sets + i], job)))
            return true;
    return false;
}

static bool take(struct ws *s, uint32_t worker, uint64_t *job)
{
    uint32_t unit = s->view->unit_of[worker], n = s->view->n_workers;

    if (take_own(s, worker, unit, job))
        return true;
    for (uint32_t i = 1, w = worker; i < n; i++) {
        w = w + 1 < n ? w + 1 : 0;
        if (steal(s, w, worker, unit, job))
            return true;
    }
    return dfr_ready_pop(&s->common, 0, unit, job);
}

static bool ws_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct ws *s = state;

    if (!dfr_ahead_may(&s->ahead, worker) || !take(s, worker, job))
        return false;
    dfr_ahead_taken(&s->ahead, *job, worker);
    return true;
}

const struct dfr_policy dfr_policy_ws = {
    .name = "ws", .summary = "work stealing: jobs stay with the worker that released them until another is idle",
    .pull = true, .any_worker = true, .create = ws_create, .destroy = ws_destroy, .push = ws_push, .pop = ws_pop,
};
