/* poison.h - the fill patterns of --poison: memory that holds no valid data is filled so that a kernel that reads it gets a conspicuous value: NaN in every
 * floating-point element (all bits set), 0xa5 in every byte of an integer. engine/buffers_poison.c and inspect/ fill memory with them. */
#ifndef DFR_POISON_H
#define DFR_POISON_H

#include "runtime/graph/graph.h"

static inline unsigned char dfr_poison_byte(enum df_elem elem)
{
    return elem >= DF_F16 ? 0xff : 0xa5;
}

/* The port of a node's kernel that has this out slot. */
static inline const struct df_kport *dfr_out_port(const struct df_graph *g, uint32_t node, uint32_t slot)
{
    const struct df_kport *port = g->kports + g->kernels[g->nodes[node].kernel].first_port;
    while (port->out_slot != (int)slot)
        port++;
    return port;
}

#endif
