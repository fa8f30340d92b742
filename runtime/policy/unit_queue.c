/* unit_queue.c - implements the queue of the jobs that are assigned to one unit, in its three orders (unit_queue.h), and the upward rank, for policy_dmda.c.
 *
 * Ready first: the oldest jobs are moved from the FIFO into a window of slots, which every popping worker scans. A slot holds a job's index and a stamp, so
 * that a job that left and returned is a different entry. An entry is taken by one compare-and-swap. If a popping worker holds a job and finds no free slot
 * for it, it runs that job. So it holds at most one job that others cannot see, and takes at least that one: no worker sleeps while a job is hidden.
 */
#include "runtime/policy/unit_queue.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/policy/order.h"
#include "runtime/policy/policy_default.h"

#define EMPTY UINT64_MAX

struct dfr_unit_queue {
    const struct dfr_view *view;
    uint32_t unit;
    enum dfr_unit_order kind;
    struct dfr_queue *fifo;             /* NULL: the order is by priority */
    struct dfr_queue *brief;            /* jobs that take no time worth speaking of; NULL as fifo */
    struct dfr_order order;
    uint32_t *nodes, *rank;
    _Atomic uint32_t stamp;
    _Atomic uint64_t window[DFR_READY_WINDOW]; /* stamp << 32 | index of the job, or EMPTY */
};

/* ---- making ---- */

void dfr_unit_queue_destroy(struct dfr_unit_queue *q)
{
    if (!q)
        return;
    if (q->fifo)
        dfr_queue_destroy(q->fifo);
    if (q->brief)
        dfr_queue_destroy(q->brief);
    dfr_order_destroy(&q->order);
    free(q->nodes);
    free(q->rank);
    free(q);
}

static bool make_order(struct dfr_unit_queue *q, const double *priority)
{
    uint32_t n = q->view->graph->n_nodes, n_members = 0;

    q->nodes = malloc(((size_t)n + 1) * sizeof *q->nodes);
    q->rank = malloc(((size_t)n + 1) * sizeof *q->rank);
    if (!q->nodes || !q->rank)
        return false;
    for (uint32_t v = 0; v < n; v++)
        if (q->view->able[v] >> q->unit & 1)
            q->nodes[n_members++] = v;
    return dfr_order_sort(q->nodes, n_members, priority) &&
           dfr_order_create(&q->order, q->view, 1u << q->unit, false, q->nodes, n_members, q->rank);
}

static bool is_brief(const struct dfr_unit_queue *q, uint32_t node)
{
    const struct df_graph *g = q->view->graph;
    return q->view->time_s[(size_t)q->unit * g->n_works + g->nodes[node].work] < DFR_LONG_JOB_S;
}

static bool make_fifos(struct dfr_unit_queue *q)
{
    uint64_t count[2] = { 0 };          /* of jobs that are brief, and that are not */
    for (uint32_t v = 0; v < q->view->graph->n_nodes; v++)
        if (q->view->able[v] >> q->unit & 1)
            count[!is_brief(q, v)]++;
    q->brief = dfr_queue_create((uint32_t)(count[0] * q->view->n_slots));
    q->fifo = dfr_queue_create((uint32_t)(count[1] * q->view->n_slots));
    return q->brief && q->fifo;
}

struct dfr_unit_queue *dfr_unit_queue_create(const struct dfr_view *view, uint32_t unit, enum dfr_unit_order kind,
                                             const double *priority)
{
    struct dfr_unit_queue *q = calloc(1, sizeof *q);

    if (!q)
        return NULL;
    q->view = view;
    q->unit = unit;
    q->kind = kind;
    atomic_init(&q->stamp, 0);
    for (int i = 0; i < DFR_READY_WINDOW; i++)
        atomic_init(&q->window[i], EMPTY);
    if (kind == DFR_BY_PRIORITY ? make_order(q, priority) : make_fifos(q))
        return q;
    dfr_unit_queue_destroy(q);
    return NULL;
}

/* ---- ready first ---- */

static uint64_t entry_of(struct dfr_unit_queue *q, uint64_t job)
{
    uint32_t index = dfr_job_slot(job) * q->view->graph->n_nodes + dfr_job_node(job); /* it has 32 bits: engine.h */
    return (uint64_t)atomic_fetch_add_explicit(&q->stamp, 1, memory_order_relaxed) << 32 | index;
}

static uint64_t job_of(const struct dfr_unit_queue *q, uint64_t entry)
{
    uint32_t index = (uint32_t)entry, n = q->view->graph->n_nodes;
    return dfr_job(index / n, index % n);
}

static bool older(uint64_t a, uint64_t b)
{
    return (int32_t)((uint32_t)(a >> 32) - (uint32_t)(b >> 32)) < 0;
}

/* Bytes of what the job needs that the unit's memory does not have. */
static uint64_t missing_bytes(const struct dfr_unit_queue *q, uint64_t job)
{
    const struct df_graph *g = q->view->graph;
    uint32_t node = dfr_job_node(job);
    uint64_t bytes = 0;

    for (uint32_t k = 0; k < df_node_n_needs(g, node); k++)
        if (!(q->view->holders(q->view->arg, job, k) >> q->unit & 1))
            bytes += g->values[df_node_need(g, node, k)].bytes;
    return bytes;
}

/* Fills empty slots from the FIFO. true: *job is a job that found no slot. */
static bool refill(struct dfr_unit_queue *q, uint64_t *job)
{
    uint64_t entry = EMPTY;
    for (int i = 0; i < DFR_READY_WINDOW; i++) {
        uint64_t empty = EMPTY;
        if (atomic_load_explicit(&q->window[i], memory_order_relaxed) != EMPTY)
            continue;
        if (entry == EMPTY) {
            if (!dfr_queue_pop(q->fifo, job))
                return false;
            entry = entry_of(q, *job);
        }
        /* release: who takes the job out sees what came with it */
        if (atomic_compare_exchange_strong_explicit(&q->window[i], &empty, entry, memory_order_seq_cst,
                                                    memory_order_relaxed))
            entry = EMPTY;
    }
    return entry != EMPTY;
}

/* The slot to take; -1: the window is empty. */
static int best_slot(struct dfr_unit_queue *q, uint64_t *best)
{
    uint64_t best_bytes = 0;
    int slot = -1;

    for (int i = 0; i < DFR_READY_WINDOW; i++) {
        uint64_t entry = atomic_load_explicit(&q->window[i], memory_order_seq_cst), bytes;
        if (entry == EMPTY)
            continue;
        bytes = missing_bytes(q, job_of(q, entry));
        if (slot < 0 || bytes < best_bytes || (bytes == best_bytes && older(entry, *best))) {
            slot = i;
            *best = entry;
            best_bytes = bytes;
        }
    }
    return slot;
}

static bool pop_ready(struct dfr_unit_queue *q, uint64_t *job)
{
    for (;;) {
        uint64_t entry = EMPTY;
        int slot;
        if (refill(q, job))
            return true;
        slot = best_slot(q, &entry);
        if (slot < 0)
            return false;
        if (atomic_compare_exchange_strong_explicit(&q->window[slot], &entry, EMPTY, memory_order_seq_cst,
                                                    memory_order_relaxed)) {
            *job = job_of(q, entry);
            return true;
        }
    }
}

/* ---- jobs ---- */

void dfr_unit_queue_push(struct dfr_unit_queue *q, uint64_t job)
{
    if (q->kind == DFR_BY_PRIORITY)
        dfr_order_add(&q->order, job);
    else
        dfr_queue_push(is_brief(q, dfr_job_node(job)) ? q->brief : q->fifo, job); /* they have room for all such jobs */
}

bool dfr_unit_queue_pop(struct dfr_unit_queue *q, uint64_t *job)
{
    if (q->kind == DFR_BY_PRIORITY)
        return dfr_order_pop(&q->order, job);
    if (dfr_queue_pop(q->brief, job))
        return true;
    return q->kind == DFR_IN_TURN ? dfr_queue_pop(q->fifo, job) : pop_ready(q, job);
}

bool dfr_unit_queue_is_next(struct dfr_unit_queue *q, uint64_t job)
{
    if (q->kind == DFR_BY_PRIORITY)
        return dfr_order_is_first(&q->order, job);
    if (!dfr_queue_is_empty(q->brief))
        return false;
    if (is_brief(q, dfr_job_node(job)))
        return true;
    if (!dfr_queue_is_empty(q->fifo))
        return false;
    for (int i = 0; q->kind == DFR_READY_FIRST && i < DFR_READY_WINDOW; i++)
        if (atomic_load_explicit(&q->window[i], memory_order_relaxed) != EMPTY)
            return false;
    return true;
}

/* ---- priorities ---- */

static double mean_time_s(const struct dfr_view *view, uint32_t node)
{
    double sum_s = 0, n = 0;
    for (uint32_t u = 0; u < view->platform->n_units; u++)
        if (view->able[node] >> u & 1) {
            double workers = view->first_worker[u + 1] - view->first_worker[u];
            sum_s += workers * view->time_s[(size_t)u * view->graph->n_works + view->graph->nodes[node].work];
            n += workers;
        }
    return n > 0 ? sum_s / n : 0;
}

static double chance_of_copy(const struct dfr_view *view)
{
    double same = 0, n = view->n_workers;
    for (uint32_t u = 0; u < view->platform->n_units; u++) {
        double workers = view->first_worker[u + 1] - view->first_worker[u];
        same += workers * workers;
    }
    return n > 0 ? 1 - same / (n * n) : 0;
}

static double mean_copy_s(const struct dfr_view *view, uint64_t bytes)
{
    double sum_s = 0;
    uint32_t n = view->platform->n_units;
    for (uint32_t u = 1; u < n; u++)
        sum_s += df_link_time_s(&view->platform->units[u].h2d, bytes) +
                 df_link_time_s(&view->platform->units[u].d2h, bytes);
    return n > 1 && bytes ? sum_s / (2 * (n - 1)) : 0;
}

double *dfr_upward_rank(const struct dfr_view *view)
{
    const struct df_graph *g = view->graph;
    double *rank = malloc(((size_t)g->n_nodes + 1) * sizeof *rank), chance = chance_of_copy(view);

    for (uint32_t v = rank ? g->n_nodes : 0; v-- > 0;) {
        double longest_s = 0;
        uint32_t first = g->nodes[v].first_out;
        for (uint32_t y = first; y < first + df_node_n_out(g, v); y++) {
            double copy_s = chance * mean_copy_s(view, g->values[y].bytes);
            for (uint32_t i = 0; i < g->values[y].n_readers; i++)
                longest_s = fmax(longest_s, copy_s + rank[g->readers[g->values[y].first_reader + i].node]);
        }
        rank[v] = mean_time_s(view, v) + longest_s;
    }
    return rank;
}
