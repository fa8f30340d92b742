/* policy_serial.c - the schedule of --serial and of --check=variants, which start/run.c selects in place of a policy: one job at a time, one wave in flight,
 * and within a wave the nodes in the order of their numbers, which is topological.
 *
 * Order:    nodes that fire once before the waves; then, for each wave, its stream sources followed by its other nodes, since no other node of a wave may fire
 *           before all streams have delivered; last, nodes that fire once after the waves. `next` is the position in that order of the only job that may be
 *           taken; it advances when that job is done. A job that becomes ready before its turn is marked, and waits.
 * Places:   the CPU if it can run the node, else the first device that can.
 * Waking:   push marks the job, and then the engine wakes the job's unit. done advances `next`; if the next job is marked by then, it wakes that job's
 *           unit. Both are sequentially consistent, so the later one sees the other's write.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/policy/policy.h"

struct serial {
    const struct dfr_view *view;
    uint32_t n_once, n_before_finals, n; /* of order[] */
    uint32_t *order;                    /* nodes */
    uint32_t *position;                 /* by node */
    uint8_t *unit;                      /* by position */
    _Atomic uint8_t *ready;             /* by position */
    _Atomic uint32_t next;
};

static void serial_destroy(void *state)
{
    struct serial *s = state;
    free(s->order);
    free(s->position);
    free(s->unit);
    free((void *)s->ready);
    free(s);
}

static uint8_t first_unit(uint32_t able)
{
    return (uint8_t)__builtin_ctz(able);
}

enum kind { ONCE, STREAM, OTHER, FINAL };

static enum kind kind_of(const struct df_graph *g, uint32_t node)
{
    if (g->nodes[node].flags & DF_NODE_ONCE)
        return df_node_is_final(g, node) ? FINAL : ONCE;
    return g->kernels[g->nodes[node].kernel].traits & DF_STREAM ? STREAM : OTHER;
}

static void add_all(struct serial *s, enum kind kind)
{
    const struct df_graph *g = s->view->graph;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (kind_of(g, v) != kind)
            continue;
        s->order[s->n] = v;
        s->position[v] = s->n;
        s->unit[s->n++] = first_unit(s->view->able[v]);
    }
}

static int serial_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                         void **state, struct df_error *error)
{
    struct serial *s = calloc(1, sizeof *s);
    size_t n = (size_t)view->graph->n_nodes + 1;

    (void)policy, (void)plan;
    if (!s)
        return dfr_error_memory(error);
    s->view = view;
    s->order = malloc(n * sizeof *s->order);
    s->position = malloc(n * sizeof *s->position);
    s->unit = malloc(n);
    s->ready = calloc(n, sizeof *s->ready);
    if (!s->order || !s->position || !s->unit || !s->ready) {
        serial_destroy(s);
        return dfr_error_memory(error);
    }
    add_all(s, ONCE);
    s->n_once = s->n;
    add_all(s, STREAM);
    add_all(s, OTHER);
    s->n_before_finals = s->n;
    add_all(s, FINAL);
    *state = s;
    return DF_OK;
}

static enum dfr_pushed serial_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    struct serial *s = state;
    uint32_t at = s->position[dfr_job_node(job)];

    (void)by, (void)lone;
    atomic_store(&s->ready[at], 1);
    if (at == s->n_before_finals)       /* the first final node: the waves have ended */
        atomic_store(&s->next, at);
    *units = 1u << s->unit[at];
    return DFR_QUEUED;
}

static bool serial_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct serial *s = state;
    uint32_t at = atomic_load(&s->next);

    if (at >= s->n || s->unit[at] != s->view->unit_of[worker] || !atomic_exchange(&s->ready[at], 0))
        return false;
    *job = dfr_job(at < s->n_once || at >= s->n_before_finals ? s->view->n_slots : 0, s->order[at]);
    return true;
}

static void serial_done(void *state, uint64_t job, uint32_t worker)
{
    struct serial *s = state;
    uint32_t next = s->position[dfr_job_node(job)] + 1;

    (void)worker;
    if (next == s->n_before_finals || next == s->n)
        next = s->n_once;
    atomic_store(&s->next, next);
    if (next < s->n && atomic_load(&s->ready[next]))
        s->view->wake(s->view->arg, s->unit[next]);
}

const struct dfr_policy dfr_policy_serial = {
    .name = "serial", .summary = "one job at a time in topological order", .pull = true, .create = serial_create,
    .destroy = serial_destroy, .push = serial_push, .pop = serial_pop, .done = serial_done,
};
