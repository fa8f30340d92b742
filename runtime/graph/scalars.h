/* scalars.h - what kernels get as scalars. */
#ifndef DFR_SCALARS_H
#define DFR_SCALARS_H

#include "runtime/graph/graph.h"

/* Values of graph->node_scalars, in its order, to be freed; strings in them are the graph's or the args'. args NULL:
 * the defaults. DF_E_ARGUMENT where an expression has no value (overflow, division by zero) or an arg has none. */
int dfr_scalars_create(const struct df_graph *g, const union df_scalar *args, union df_scalar **scalars,
                       struct df_error *error);

#endif
