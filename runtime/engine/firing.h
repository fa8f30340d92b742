/* firing.h - the hot path of the firing rule: the steps at the end of each job, inline for the loops that run jobs.
 * engine.h explains them, and engine.c has the rest.
 *
 * Orders:   a release is an acq_rel decrement of `left`, so the release that takes `left` to 0 has acquired everything
 *           that the others did before theirs. A worker that is alone (steal.h) decrements without atomic
 *           read-modify-writes. That is safe on both sides: a worker that had jobs before has announced, with release,
 *           that it has none left (dfr_steal_rest()), and a worker that later steals from it acquires all that it did
 *           (threads/deque.h).
 */
#ifndef DFR_FIRING_H
#define DFR_FIRING_H

#include "runtime/engine/engine.h"
#include "runtime/threads/deque.h"

/* Subtracts n. true: nothing is left. */
static inline bool dfr_count_down(const struct dfr_worker *w, _Atomic uint32_t *left, uint32_t n)
{
    if (w->alone) {
        uint32_t rest = atomic_load_explicit(left, memory_order_relaxed) - n;
        atomic_store_explicit(left, rest, memory_order_relaxed);
        return rest == 0;
    }
    return atomic_fetch_sub_explicit(left, n, memory_order_acq_rel) == n;
}

/* The counters of the nodes in a slot. A once node has one job, so the once slot shares those of slot 0. */
static inline struct dfr_pending *dfr_pending_of(const struct df_run *run, uint32_t slot)
{
    return &run->firing.pending[(size_t)(slot == dfr_once_slot(run) ? 0 : slot) * run->graph->n_nodes];
}

/* One release. true: nothing is missing any more, and the counter stands at the need of the next wave. */
static inline bool dfr_pending_release(const struct dfr_worker *w, struct dfr_pending *p)
{
    if (p->need > 1) {
        if (!dfr_count_down(w, &p->left, 1))
            return false;
        atomic_store_explicit(&p->left, p->need, memory_order_relaxed);
    }
    return true;
}

/* The first job that becomes ready is kept: this worker runs it next. So a single successor never goes through the
 * deque. */
static inline void dfr_release_to_deque(struct df_run *run, struct dfr_worker *w, const uint32_t *nodes, uint32_t n,
                                       uint32_t slot)
{
    struct dfr_pending *pending = dfr_pending_of(run, slot);

    for (uint32_t i = 0; i < n; i++) {
        uint64_t job = dfr_job(slot, nodes[i]);
        if (!dfr_pending_release(w, &pending[nodes[i]]))
            continue;
        if (w->kept == DFR_NO_JOB) {
            w->kept = job;
        } else {
            __builtin_prefetch(&run->firing.nodes[nodes[i]]);
            dfr_deque_push(w->deque, job);
        }
    }
}

/* One release for each of these nodes. */
static inline void dfr_release(struct df_run *run, struct dfr_worker *w, const uint32_t *nodes, uint32_t n,
                               uint32_t slot)
{
    struct dfr_pending *pending;

    if (w->deque) {
        dfr_release_to_deque(run, w, nodes, n, slot);
        return;
    }
    pending = dfr_pending_of(run, slot);
    for (uint32_t i = 0; i < n; i++)
        if (dfr_pending_release(w, &pending[nodes[i]]))
            dfr_engine_ready(run, w, dfr_job(slot, nodes[i]));
}

static inline void dfr_release_successors(struct df_run *run, struct dfr_worker *w, uint32_t node, uint32_t slot)
{
    const struct dfr_node *n = &run->firing.nodes[node];
    dfr_release(run, w, run->firing.successors + n->first_successor, n[1].first_successor - n->first_successor, slot);
}

/* Releases all that waited for the end of this job. After the last release this job does not touch its slot any
 * more. */
static inline void dfr_released(struct df_run *run, struct dfr_worker *w, uint32_t node, uint32_t slot, int64_t wave)
{
    uint32_t flags = run->firing.nodes[node].flags;

    if (flags & (DFR_N_IN_ORDER | DFR_N_STREAM) && !dfr_engine_in_order(run, w, node, slot, wave))
        return;
    dfr_release_successors(run, w, node, slot);
    if (flags & DFR_N_TERMINAL)
        dfr_engine_terminal(run, w, slot, 1);
}

#endif
