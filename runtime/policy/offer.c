/* offer.c - making the table of offers; offer.h says what it is for. */
#include "runtime/policy/offer.h"

#include <stdlib.h>

bool dfr_offers_create(struct dfr_offers *o, const struct dfr_view *view)
{
    size_t n = (size_t)view->graph->n_nodes * (view->n_slots + 1); /* what fires once has a slot of its own */

    o->n_nodes = view->graph->n_nodes;
    o->states = malloc(n ? n * sizeof *o->states : 1);
    for (size_t i = 0; o->states && i < n; i++)
        atomic_init(&o->states[i], 0);
    return o->states != NULL;
}

void dfr_offers_destroy(struct dfr_offers *o)
{
    free(o->states);
    o->states = NULL;
}
