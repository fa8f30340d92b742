/* scalars.h - the values that kernels get as scalars. */
#ifndef DFR_SCALARS_H
#define DFR_SCALARS_H

#include "runtime/graph/graph.h"

/* Gives the values of graph->node_scalars, in its order; the caller frees them. Strings in them belong to the graph or
 * to the args. If `args` is NULL, the defaults count. DF_E_ARGUMENT: an expression has no value (overflow, division by
 * zero), or an arg has none. */
int dfr_scalars_create(const struct df_graph *g, const union df_scalar *args, union df_scalar **scalars,
                       struct df_error *error);

#endif
