/* locality.c - finds the jobs that read data already in a device's memory, and computes speedups (locality.h): for --dl
 * of policy_eager.c, policy_ddwrr.c and policy_speedup.c (sorted.c), and for ahead.c. */
#include "runtime/policy/locality.h"

#include <math.h>

#define NO_JOB UINT64_MAX

static double time_s(const struct dfr_view *view, uint32_t node, uint32_t unit)
{
    return view->time_s[(size_t)unit * view->graph->n_works + view->graph->nodes[node].work];
}

double dfr_speedup(const struct dfr_view *view, uint32_t node, uint32_t unit)
{
    double here_s = time_s(view, node, unit);
    if (!(view->able[node] & 1))
        return INFINITY;
    return here_s > 0 ? time_s(view, node, 0) / here_s : time_s(view, node, 0) > 0 ? INFINITY : 1;
}

void dfr_locality_init(struct dfr_locality *l, const struct dfr_view *view, const struct dfr_offers *offers)
{
    l->view = view;
    l->offers = offers;
    for (uint32_t u = 0; u < DF_MAX_UNITS; u++)
        atomic_init(&l->last[u], NO_JOB);
}

void dfr_locality_done(struct dfr_locality *l, uint64_t job, uint32_t unit)
{
    if (l->view->locality && unit > 0)
        atomic_store_explicit(&l->last[unit], job, memory_order_relaxed);
}

bool dfr_locality_find(struct dfr_locality *l, uint32_t unit, uint64_t *job)
{
    const struct df_graph *g = l->view->graph;
    uint64_t last = atomic_load_explicit(&l->last[unit], memory_order_relaxed);
    uint32_t node = dfr_job_node(last), slot = dfr_job_slot(last), first;
    double best = -1;

    if (!l->view->locality || unit == 0 || last == NO_JOB)
        return false;
    first = g->nodes[node].first_out;
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        for (uint32_t i = 0; i < g->values[y].n_readers; i++) {
            uint32_t reader = g->readers[g->values[y].first_reader + i].node;
            bool once = g->nodes[reader].flags & DF_NODE_ONCE;
            uint64_t candidate = dfr_job(once ? l->view->n_slots : slot, reader);
            if ((slot == l->view->n_slots) != once || !(l->view->able[reader] >> unit & 1) ||
                !dfr_offer_is_open(l->offers, candidate) || dfr_speedup(l->view, reader, unit) <= best)
                continue;
            best = dfr_speedup(l->view, reader, unit);
            *job = candidate;
        }
    return best >= 0;
}

double dfr_locality_copy_s(const struct dfr_view *view, uint64_t job, uint32_t unit)
{
    const struct df_graph *g = view->graph;
    uint32_t node = dfr_job_node(job);
    double sum_s = 0;

    for (uint32_t k = 0; k < df_node_n_needs(g, node); k++) {
        uint32_t holders = view->holders(view->arg, job, k);
        uint64_t bytes = g->values[df_node_need(g, node, k)].bytes;
        uint32_t peers = holders & df_platform_peers(view->platform, unit);
        if (holders >> unit & 1 || bytes == 0)
            continue;
        if (peers && !(holders & 1)) {
            sum_s += df_peer_time_s(view->platform, (uint32_t)__builtin_ctz(peers), unit, bytes);
            continue;
        }
        sum_s += df_link_time_s(&view->platform->units[unit].h2d, bytes);
        if (holders && !(holders & 1))
            sum_s += df_link_time_s(&view->platform->units[__builtin_ctz(holders)].d2h, bytes);
    }
    return sum_s;
}

bool dfr_locality_reuses(const struct dfr_view *view, uint64_t job, uint32_t unit)
{
    const struct df_graph *g = view->graph;
    uint32_t node = dfr_job_node(job);

    for (uint32_t k = 0; k < df_node_n_needs(g, node); k++)
        if (g->values[df_node_need(g, node, k)].bytes > 0 && view->holders(view->arg, job, k) >> unit & 1)
            return true;
    return false;
}

double dfr_locality_least(const struct dfr_view *view, uint32_t unit, uint64_t q)
{
    double copy_s = dfr_locality_copy_s(view, q, unit), run_s = time_s(view, dfr_job_node(q), unit);
    double share = copy_s > 0 ? copy_s / (copy_s + run_s) : 0;

    return dfr_speedup(view, dfr_job_node(q), unit) * (1 - share);
}
