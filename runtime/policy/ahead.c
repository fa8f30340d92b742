/* ahead.c - implements --prefetch for policies that choose the unit when a worker takes a job: whether a device may take a job before it can start it
 * (ahead.h). eager, ws and the speedup policies (sorted.c) ask it. */
#include "runtime/policy/ahead.h"

#include <math.h>

#include "runtime/policy/locality.h"

#define NO_JOB UINT64_MAX

static double time_s(const struct dfr_view *view, uint32_t node, uint32_t unit)
{
    return view->time_s[(size_t)unit * view->graph->n_works + view->graph->nodes[node].work];
}

/* The inputs come from the host, one after the other. */
static double inputs_s(const struct dfr_view *view, uint32_t node, uint32_t unit)
{
    double sum_s = 0;
    for (uint32_t k = 0; k < df_node_n_needs(view->graph, node); k++) {
        uint64_t bytes = view->graph->values[df_node_need(view->graph, node, k)].bytes;
        sum_s += bytes > 0 ? df_link_time_s(&view->platform->units[unit].h2d, bytes) : 0;
    }
    return sum_s;
}

void dfr_ahead_init(struct dfr_ahead *a, const struct dfr_view *view)
{
    a->view = view;
    for (uint32_t w = 0; w < DF_MAX_WORKERS + DF_MAX_UNITS; w++)
        atomic_init(&a->idle_s[w], 0);
    for (uint32_t u = 0; u < DF_MAX_UNITS; u++) {
        atomic_init(&a->n_shared[u], 0);
        atomic_init(&a->last[u], NO_JOB);
        atomic_init(&a->asked[u], false);
        a->copies_s[u] = 0;
    }
    for (uint32_t u = 1; view->busy_s && u < view->platform->n_units; u++)
        for (uint32_t v = 0; v < view->graph->n_nodes; v++)
            if (view->able[v] >> u & 1)
                a->copies_s[u] = fmax(a->copies_s[u], inputs_s(view, v, u));
}

static void count(struct dfr_ahead *a, uint64_t job, uint32_t add)
{
    uint32_t able = a->view->able[dfr_job_node(job)];
    if ((able & (able - 1)) == 0)
        return;
    for (; able; able &= able - 1)
        atomic_fetch_add_explicit(&a->n_shared[__builtin_ctz(able)], add, memory_order_relaxed);
}

void dfr_ahead_pushed(struct dfr_ahead *a, uint64_t job)
{
    if (a->view->busy_s)
        count(a, job, 1);
}

/* Wakes the devices that have asked and got no job. The unit itself asks again anyway. */
static void wake_asked(struct dfr_ahead *a, uint32_t unit)
{
    for (uint32_t u = 1; u < a->view->platform->n_units; u++)
        if (atomic_load_explicit(&a->asked[u], memory_order_relaxed) &&
            atomic_exchange_explicit(&a->asked[u], false, memory_order_relaxed) && u != unit)
            a->view->wake(a->view->arg, u);
}

void dfr_ahead_taken(struct dfr_ahead *a, uint64_t job, uint32_t worker)
{
    const struct dfr_view *view = a->view;
    uint32_t unit = view->unit_of[worker];

    if (!view->busy_s)
        return;
    count(a, job, UINT32_MAX);          /* one less */
    atomic_store_explicit(&a->last[unit], job, memory_order_relaxed);
    atomic_store_explicit(&a->idle_s[worker],
                          fmax(view->now_s(view->arg), atomic_load_explicit(&a->idle_s[worker], memory_order_relaxed)) +
                              time_s(view, dfr_job_node(job), unit),
                          memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);  /* pairs with that of dfr_ahead_may() */
    wake_asked(a, unit);
}

static double busy_s(const struct dfr_ahead *a, uint32_t worker)
{
    const struct dfr_view *view = a->view;
    return view->busy_s && view->unit_of[worker] > 0 ? view->busy_s(view->arg, worker) : 0;
}

bool dfr_ahead_may(struct dfr_ahead *a, uint32_t worker)
{
    const struct dfr_view *view = a->view;
    double end_s = busy_s(a, worker);
    uint32_t unit = view->unit_of[worker], n, n_sooner = 0;

    if (!(end_s > 0) || atomic_load_explicit(&a->n_shared[unit], memory_order_relaxed) == 0)
        return true;
    atomic_store_explicit(&a->asked[unit], true, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);  /* pairs with that of dfr_ahead_taken(): it finds asked[], or this finds what it changed */
    n = atomic_load_explicit(&a->n_shared[unit], memory_order_relaxed);
    end_s += view->now_s(view->arg);
    for (uint32_t w = 0; w < view->n_workers && n_sooner + 1 < n; w++)
        n_sooner += w != worker && atomic_load_explicit(&a->n_shared[view->unit_of[w]], memory_order_relaxed) > 0 &&
                    atomic_load_explicit(&a->idle_s[w], memory_order_relaxed) < end_s;
    return n == 0 || n > n_sooner + 1;
}

bool dfr_ahead_awaits(const struct dfr_ahead *a, uint32_t worker, double least)
{
    const struct dfr_view *view = a->view;
    const struct df_graph *g = view->graph;
    uint32_t unit = view->unit_of[worker], node, first;
    uint64_t last = atomic_load_explicit(&a->last[unit], memory_order_relaxed);

    if (!view->locality || last == NO_JOB || !(busy_s(a, worker) > 0))
        return false;
    node = dfr_job_node(last);
    first = g->nodes[node].first_out;
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        for (uint32_t i = 0; i < g->values[y].n_readers; i++) {
            uint32_t reader = g->readers[g->values[y].first_reader + i].node;
            if (view->able[reader] >> unit & 1 && dfr_speedup(view, reader, unit) >= least &&
                time_s(view, reader, unit) >= a->copies_s[unit])
                return true;
        }
    return false;
}
