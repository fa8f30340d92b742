/* gp_fast.c - the fast evaluator of the policy gp, used in refinement and for all starts, and for the critical chain of pictures: computes the same makespan as
 * model/evaluate.c, without its details.
 *
 * Same:     the model, the order of events, and ties. So the answer is the same; a test compares the two on random
 *           graphs.
 * Faster:   the state always knows who reads what on which unit. A copy that waits for its engine is in that engine's
 *           queue, so the heap of events holds only running jobs and, as a rule, one copy per engine. A ready queue
 *           compares one integer.
 * Abort:    if a job is ready at time t, the wave ends at t + its rank or later. A unit's load plus its idle time so far must fit into the makespan. If
 *           either exceeds the limit, the evaluation is aborted.
 */
#include "partition/gp/gp.h"
#include "runtime/base/error.h"
#include "runtime/base/binary_heap.h"

#define NO_ENGINE 0xffff

struct run {
    struct dfp_state *s;
    const struct dfp_compact *c;
    const uint16_t *place;
    double now_s, limit_s;
    uint32_t n_events, made, cause;     /* made: events so far; cause: the node of the present event, or DF_NONE */
    uint32_t n_ready[DF_MAX_UNITS], free[DF_MAX_UNITS], last_end[DF_MAX_UNITS];
    double idle_s[DF_MAX_UNITS], counted_s[DF_MAX_UNITS]; /* workers' idle time, and up to when it is counted */
    uint32_t touched;                   /* bit u: unit u may be able to start a job */
    bool late;
};

/* ---- heaps ---- */

static inline bool event_before(const struct dfp_event *a, const struct dfp_event *b)
{
    if (a->time_s != b->time_s)
        return a->time_s < b->time_s;
    return a->node != b->node ? a->node < b->node : a->made < b->made;
}

DFR_HEAP(event, struct dfp_event)

#define ready_before(a, b) (*(a) < *(b))
DFR_HEAP(ready, uint64_t)

/* ---- what happens ---- */

static void become_ready(struct run *r, uint32_t node)
{
    struct dfp_state *s = r->s;
    s->blame[node] = r->cause;
    if (r->now_s + s->rank_s[node] > r->limit_s)
        r->late = true;
    if (r->c->is_free[node]) {
        struct dfp_event event = { r->now_s, node, r->made++, DF_NONE, 0, NO_ENGINE };
        event_put(r->s->events, r->n_events++, event);
        return;
    }
    uint32_t unit = r->place[node];
    s->ready_s[node] = r->now_s;
    ready_put(s->ready[unit], r->n_ready[unit]++, s->key[node]);
    r->touched |= 1u << unit;
}

/* Asks for a copy to `unit`, by the engine `way` (as in dfp_state.copies_s) of `device`. */
static void copy_by(struct run *r, uint32_t value, uint32_t unit, uint32_t device, uint32_t way, double time_s)
{
    const struct dfp_compact *c = r->c;
    struct dfp_event event = { r->now_s, c->producer[value], r->made++, value, (uint16_t)unit, NO_ENGINE };
    if (c->is_empty[value]) {
        event_put(r->s->events, r->n_events++, event);
        return;
    }
    struct dfp_fifo *fifo = &r->s->fifo[device][way];
    double start_s = fifo->free_s > r->now_s ? fifo->free_s : r->now_s, before_s = fifo->free_s;
    fifo->free_s = start_s + time_s;
    event.time_s = fifo->free_s + c->handover_s[device];
    event.engine = (uint16_t)(device * 3 + way);
    if (!fifo->flying || (fifo->head == fifo->tail && fifo->free_s == before_s)) {
        fifo->flying++;                 /* copies that end at the same moment must be ordered by the heap */
        event_put(r->s->events, r->n_events++, event);
    } else {
        fifo->events[fifo->tail++] = event;
    }
}

static void copy(struct run *r, uint32_t value, uint32_t device, bool to_device)
{
    const struct dfp_compact *c = r->c;
    copy_by(r, value, to_device ? device : 0, device, c->shared_engine[device] ? 0 : to_device,
            (to_device ? c->to_s : c->from_s)[(size_t)value * c->n_units + device]);
}

static void engine_next(struct run *r, uint32_t engine)
{
    struct dfp_fifo *fifo = &r->s->fifo[engine / 3][engine % 3];
    if (--fifo->flying || fifo->head == fifo->tail)
        return;
    double time_s = fifo->events[fifo->head].time_s;
    while (fifo->head < fifo->tail && fifo->events[fifo->head].time_s == time_s) {
        fifo->flying++;
        event_put(r->s->events, r->n_events++, fifo->events[fifo->head++]);
    }
}

static void copy_peer(struct run *r, uint32_t value, uint32_t home, uint32_t unit)
{
    copy_by(r, value, unit, home, 2, dfp_compact_peer_s(r->c, value, home, unit));
}

static inline void deliver(struct run *r, uint32_t value, uint32_t unit)
{
    const struct dfp_compact *c = r->c;
    uint32_t *missing = r->s->missing;
    const uint32_t *end = c->reader + c->first_reader[value + 1];
    if (!(r->s->wanted[value] & 1u << unit))
        return;
    for (const uint32_t *reader = c->reader + c->first_reader[value]; reader < end; reader++)
        if (r->place[*reader] == unit && !--missing[*reader])
            become_ready(r, *reader);
}

static void arrive(struct run *r, uint32_t value, uint32_t unit)
{
    uint32_t home = r->place[r->c->producer[value]], others = r->s->wanted[value] & ~(1u << home);
    deliver(r, value, unit);
    if (!others)
        return;
    uint32_t peers = others & r->c->peers[home];
    others &= ~peers;
    if (unit == 0) {
        for (others &= ~1u; others; others &= others - 1)
            copy(r, value, (uint32_t)__builtin_ctz(others), true);
    } else if (unit == home) {
        if (others)
            copy(r, value, home, false);
        for (; peers; peers &= peers - 1)
            copy_peer(r, value, home, (uint32_t)__builtin_ctz(peers));
    }
}

static inline void count_idle(struct run *r, uint32_t unit)
{
    r->idle_s[unit] += r->free[unit] * (r->now_s - r->counted_s[unit]);
    r->counted_s[unit] = r->now_s;
}

static void job_ends(struct run *r, uint32_t node)
{
    const struct dfp_compact *c = r->c;
    uint32_t unit = r->place[node];
    r->s->last_node = node;
    r->s->steps++;
    if (!c->is_free[node]) {
        count_idle(r, unit);
        r->free[unit] += unit ? 1 : c->width[node];
        r->last_end[unit] = node;
        r->touched |= 1u << unit;
    }
    for (uint32_t value = c->first_out[node]; value < c->first_out[node + 1]; value++)
        arrive(r, value, unit);
}

static void start_jobs(struct run *r, uint32_t unit)
{
    struct dfp_state *s = r->s;
    const struct dfp_compact *c = r->c;
    uint64_t *ready = s->ready[unit];
    while (r->n_ready[unit]) {
        uint32_t node = (uint32_t)ready[0], width = unit ? 1 : c->width[node];
        if (width > r->free[unit])
            return;
        ready_take(ready, r->n_ready[unit]--);
        count_idle(r, unit);
        r->free[unit] -= width;
        if (r->now_s > s->ready_s[node])
            s->blame[node] = r->last_end[unit];
        if (r->now_s + s->rank_s[node] > r->limit_s ||
            s->load_s[unit] + r->idle_s[unit] > r->limit_s * c->workers[unit])
            r->late = true;
        struct dfp_event event = { r->now_s + dfp_compact_time_s(c, node, unit), node, r->made++, DF_NONE,
                                   (uint16_t)unit, NO_ENGINE };
        event_put(r->s->events, r->n_events++, event);
    }
}

/* Sorts the readers of initial values again, by insertion: few keys change from one run to the next, so this takes
 * nearly linear time. The sort is stable, so the inputs of one reader stay together. */
static void repair_order(struct dfp_state *s)
{
    const struct dfp_compact *c = s->compact;
    struct dfp_first *first = s->first;
    for (uint32_t i = 0; i < c->n_initial; i++) {
        struct dfp_first one = { s->key[c->initial_reader[first[i].index]], first[i].index };
        uint32_t k = i;
        for (; k && one.key < first[k - 1].key; k--)
            first[k] = first[k - 1];
        first[k] = one;
    }
}

/* Sends each initial value once to each memory, in the order of the most urgent reader there. The marks in sent[] are
 * cleared when all copies are asked for. */
static void send_initial(struct run *r)
{
    const struct dfp_compact *c = r->c;
    uint32_t *sent = r->s->sent;
    repair_order(r->s);
    for (uint32_t k = 0; k < c->n_initial; k++) {
        uint32_t i = r->s->first[k].index, value = c->initial_value[i], home = r->place[c->producer[value]];
        uint32_t unit = r->place[c->initial_reader[i]];
        bool peer = c->peers[home] >> unit & 1;
        uint32_t way = 1u << (home && !peer ? home : unit);
        if (unit == home || sent[value] & way)
            continue;
        sent[value] |= way;
        if (peer)
            copy_peer(r, value, home, unit);
        else
            copy(r, value, home ? home : unit, !home);
    }
    for (uint32_t i = 0; i < c->n_initial; i++)
        sent[c->initial_value[i]] = 0;
}

static void begin(struct run *r)
{
    struct dfp_state *s = r->s;
    const struct dfp_compact *c = r->c;
    for (uint32_t u = 0; u < c->n_units; u++) {
        r->free[u] = c->workers[u];
        r->last_end[u] = DF_NONE;
        for (int way = 0; way < 3; way++) {
            struct dfp_fifo *fifo = &s->fifo[u][way];
            fifo->head = fifo->tail = fifo->flying = 0;
            fifo->free_s = 0;
        }
    }
    for (uint32_t v = 0; v < c->n_nodes; v++)
        s->missing[v] = c->first_in[v + 1] - c->first_in[v];
    s->steps += c->n_sources;
    for (uint32_t i = 0; i < c->n_sources; i++) {
        uint32_t v = c->source[i];
        if (!c->is_free[v]) {
            become_ready(r, v);
            continue;
        }
        r->cause = v;
        s->blame[v] = DF_NONE;
        if (s->rank_s[v] > r->limit_s)
            r->late = true;
        for (uint32_t value = c->first_out[v]; value < c->first_out[v + 1]; value++)
            deliver(r, value, r->place[v]);
        r->cause = DF_NONE;
    }
    send_initial(r);
}

double dfp_state_run(struct dfp_state *state, double limit_s)
{
    struct run r = { .s = state, .c = state->compact, .place = state->place, .cause = DF_NONE,
                     .limit_s = limit_s * (1 + 1e-12) }; /* ranks add up in another order, so they round otherwise */
    begin(&r);
    for (;;) {
        while (r.n_events && state->events[0].time_s == r.now_s) {
            struct dfp_event event = state->events[0];
            event_take(r.s->events, r.n_events--);
            r.cause = event.node;
            if (event.value == DF_NONE) {
                job_ends(&r, event.node);
            } else {
                if (event.engine != NO_ENGINE)
                    engine_next(&r, event.engine);
                arrive(&r, event.value, event.unit);
            }
        }
        for (; r.touched; r.touched &= r.touched - 1)
            start_jobs(&r, (uint32_t)__builtin_ctz(r.touched));
        if (r.late)
            return INFINITY;
        if (!r.n_events)
            return r.now_s;
        r.now_s = state->events[0].time_s;
    }
}

int dfp_evaluate_fast(const struct dfp_problem *problem, const uint16_t *place, const float *priority,
                      double *makespan_s, struct df_error *error)
{
    struct dfp_compact compact;
    struct dfp_state state;
    int code = dfp_compact_make(problem, &compact, error);
    if (code)
        return code;
    code = dfp_state_make(&compact, &state, error);
    if (!code) {
        dfp_state_place(&state, place);
        for (uint32_t v = 0; v < compact.n_nodes; v++)
            state.key[v] = dfp_key(priority ? priority[v] : 0, v);
        dfp_state_sort(&state);
        *makespan_s = dfp_state_run(&state, INFINITY);
        dfp_state_free(&state);
    }
    dfp_compact_free(&compact);
    return code;
}
