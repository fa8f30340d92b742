/* policy_ws.c - "ws": work stealing. A job goes to the worker that released it, if that worker can run it; else to the
 * able worker whose turn it is. A worker whose queue is empty steals the oldest job that it can run from another
 * worker.
 *
 * Each worker has one queue for each set of units (policy.h), so that a thief never takes a job that it cannot run. The
 * queues are short. A job that does not fit goes to a common queue, which everybody looks into last.
 *
 * This policy serves runs with devices, and simulations. In a run without devices it is not asked: the workers have
 * deques of their own, which do the same at less cost (direct.h). There an owner takes its newest job first; here all
 * take the oldest.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/policy/policy.h"

#define OWN_JOBS 256                    /* in one queue of one worker */

struct ws {
    const struct dfr_view *view;
    struct dfr_ready common;
    struct dfr_queue **own;             /* [worker * n_sets + set] */
    _Atomic uint32_t turn;
};

static void ws_destroy(void *state)
{
    struct ws *s = state;
    uint32_t n = s->view->n_workers * s->common.n_sets;
    for (uint32_t i = 0; s->own && i < n; i++)
        if (s->own[i])
            dfr_queue_destroy(s->own[i]);
    free(s->own);
    dfr_ready_destroy(&s->common);
    free(s);
}

static int ws_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                     void **state, struct df_error *error)
{
    struct ws *s = calloc(1, sizeof *s);
    uint32_t n;
    int status;

    (void)policy;
    (void)plan;
    if (!s)
        return dfr_error_memory(error);
    s->view = view;
    status = dfr_ready_create(&s->common, view, false, error);
    if (status != DF_OK) {
        free(s);
        return status;
    }
    n = view->n_workers * s->common.n_sets;
    s->own = calloc(n ? n : 1, sizeof *s->own);
    for (uint32_t i = 0; s->own && i < n; i++) {
        s->own[i] = dfr_queue_create(OWN_JOBS);
        if (!s->own[i])
            n = 0;
    }
    if (!s->own || n != view->n_workers * s->common.n_sets) {
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
    uint32_t node = dfr_job_node(job), able = s->view->able[node], to = by;
    bool own = by != DFR_NOBODY && able >> s->view->unit_of[by] & 1;

    if (lone && own)
        return DFR_KEPT;
    if (!own)
        to = worker_in_turn(s, able);
    if (!dfr_queue_push(s->own[to * s->common.n_sets + s->common.set_of[node]], job)) {
        dfr_ready_push(&s->common, job);
    }
    *units = able;
    return DFR_QUEUED;
}

static bool take_from(struct ws *s, uint32_t owner, uint32_t unit, uint64_t *job)
{
    for (uint32_t i = 0; i < s->common.n_sets; i++)
        if (s->common.sets[i] >> unit & 1 && dfr_queue_pop(s->own[owner * s->common.n_sets + i], job))
            return true;
    return false;
}

static bool ws_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct ws *s = state;
    uint32_t unit = s->view->unit_of[worker], n = s->view->n_workers;

    for (uint32_t i = 0, w = worker; i < n; i++, w = w + 1 < n ? w + 1 : 0)
        if (take_from(s, w, unit, job))
            return true;
    return dfr_ready_pop(&s->common, 0, unit, job);
}

const struct dfr_policy dfr_policy_ws = {
    .name = "ws", .summary = "work stealing: jobs stay with the worker that released them until another is idle",
    .pull = true, .any_worker = true, .create = ws_create, .destroy = ws_destroy, .push = ws_push, .pop = ws_pop,
};
