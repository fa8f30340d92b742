/* offer.h - atomic flags that let each ready job be taken exactly once when it can be found in several places: a queue, a sorted list (sorted.c), and the
 * search for readers of a device's last job (locality.h). policy_eager.c and sorted.c use them.
 *
 * Words:    A job is *offered* from add() or list() until the one call that claims it. A *listing* is its entry in a queue. A listing may stay in the queue
 *           after its job was claimed elsewhere; the worker that pops it then drops it. If the same job is offered again before that, the old listing
 *           serves the new offer.
 *
 * States of a job: a set of OFFERED and LISTED.
 *     add      sets OFFERED; then the caller puts the job into the sorted lists (dfr_order_add)
 *     list     sets OFFERED and LISTED; true if LISTED is new: then the caller puts the job into its queue
 *     claim    clears OFFERED; true if it was set
 *     unlist   clears both; called by the thread that popped the listing; true if OFFERED was set
 *           So a job has at most one listing, and no queue needs room for more.
 *
 * Memory:   create() allocates.
 * Threads:  Any thread may make any call but create and destroy. The operations are sequentially consistent. If claim
 *           or unlist fails, the offer had ended before. A later offer is a new one: it lists the job, or adds it to
 *           the sorted lists, again. So no job is lost.
 */
#ifndef DFR_OFFER_H
#define DFR_OFFER_H

#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/policy/policy.h"

enum { DFR_OFFERED = 1, DFR_LISTED = 2 };

struct dfr_offers {
    _Atomic uint8_t *states;            /* [slot * n_nodes + node]. NULL if create() was not called: the queue is the
                                         * only place, list() and unlist() give true, the others are not called */
    uint32_t n_nodes;
};

static inline bool dfr_offers_create(struct dfr_offers *o, const struct dfr_view *view) /* false: no memory */
{
    size_t n = (size_t)view->graph->n_nodes * (view->n_slots + 1); /* one slot more, for nodes that fire once */

    o->n_nodes = view->graph->n_nodes;
    o->states = malloc(n ? n * sizeof *o->states : 1);
    for (size_t i = 0; o->states && i < n; i++)
        atomic_init(&o->states[i], 0);
    return o->states != NULL;
}

static inline void dfr_offers_destroy(struct dfr_offers *o)
{
    free(o->states);
    o->states = NULL;
}

static inline _Atomic uint8_t *dfr_offer_state(const struct dfr_offers *o, uint64_t job)
{
    return &o->states[(size_t)dfr_job_slot(job) * o->n_nodes + dfr_job_node(job)];
}

static inline void dfr_offer_add(struct dfr_offers *o, uint64_t job)
{
    atomic_fetch_or_explicit(dfr_offer_state(o, job), DFR_OFFERED, memory_order_seq_cst);
}

static inline bool dfr_offer_list(struct dfr_offers *o, uint64_t job)
{
    return !o->states || !(atomic_fetch_or_explicit(dfr_offer_state(o, job), DFR_OFFERED | DFR_LISTED,
                                                    memory_order_seq_cst) & DFR_LISTED);
}

static inline bool dfr_offer_claim(struct dfr_offers *o, uint64_t job)
{
    uint8_t was = atomic_fetch_and_explicit(dfr_offer_state(o, job), (uint8_t)~DFR_OFFERED, memory_order_seq_cst);
    return was & DFR_OFFERED;
}

static inline bool dfr_offer_unlist(struct dfr_offers *o, uint64_t job)
{
    return !o->states || atomic_exchange_explicit(dfr_offer_state(o, job), 0, memory_order_seq_cst) & DFR_OFFERED;
}

static inline bool dfr_offer_is_open(const struct dfr_offers *o, uint64_t job)
{
    return atomic_load_explicit(dfr_offer_state(o, job), memory_order_seq_cst) & DFR_OFFERED;
}

#endif
