/* places.h - maps each job to the unit that a plan assigns to its node: the same unit in every wave, or, for a plan of several waves, the row of the plan
 * that the wave selects in turn. A node that fires once uses the first row. For policy_static.c and its monitor, policy_guard.c. */
#ifndef DFR_PLACES_H
#define DFR_PLACES_H

#include "runtime/policy/policy.h"

struct dfr_places {
    const struct dfr_view *view;
    uint32_t n_waves;                   /* placed jointly: wave w goes by row w % n_waves */
    uint8_t *unit;                      /* [row * n_nodes + node] */
};

static inline uint32_t dfr_places_of(const struct dfr_places *p, uint32_t slot, uint32_t node)
{
    uint64_t row = 0;
    if (p->n_waves > 1 && slot < p->view->n_slots)
        row = (uint64_t)p->view->wave(p->view->arg, slot) % p->n_waves;
    return p->unit[row * p->view->graph->n_nodes + node];
}

static inline uint32_t dfr_places_of_job(const struct dfr_places *p, uint64_t job)
{
    return dfr_places_of(p, dfr_job_slot(job), dfr_job_node(job));
}

/* Bit u: unit u runs the node in some wave. */
static inline uint32_t dfr_places_units(const struct dfr_places *p, uint32_t node)
{
    uint32_t units = 0;
    for (uint64_t row = 0; row < (p->view->graph->nodes[node].flags & DF_NODE_ONCE ? 1 : p->n_waves); row++)
        units |= 1u << p->unit[row * p->view->graph->n_nodes + node];
    return units;
}

#endif
