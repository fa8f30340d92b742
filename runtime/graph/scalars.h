/* scalars.h - evaluates the scalar parameters that kernels are called with. start/run.c and measure/ do so before a
 * run, start/session.c before each call; ranks/, record/, subgraph/ and start/passes.c need the values of args before
 * that. */
#ifndef DFR_SCALARS_H
#define DFR_SCALARS_H

#include "runtime/graph/graph.h"

/* Evaluates graph->node_scalars, in its order; the caller frees the result. Strings in it belong to the graph or to the args. If `args` is NULL, the defaults are
 * used. Fails with DF_E_ARGUMENT if an expression has no value (overflow, division by zero), or an arg has none. */
int dfr_scalars_create(const struct df_graph *g, const union df_scalar *args, union df_scalar **scalars,
                       struct df_error *error);

struct df_number;

struct dfr_scalars_scratch {            /* room to compute in */
    struct df_number *numbers;
    union df_scalar *by_id;
};
/* Returns false if out of memory; the caller then still frees *scratch. */
bool dfr_scalars_scratch_make(const struct df_graph *g, struct dfr_scalars_scratch *scratch);
void dfr_scalars_scratch_free(struct dfr_scalars_scratch *scratch);
/* As dfr_scalars_create(), but fills an existing array and allocates nothing. If it fails, the array is unchanged. */
int dfr_scalars_fill(const struct df_graph *g, const union df_scalar *args, const struct dfr_scalars_scratch *scratch,
                     union df_scalar *scalars, struct df_error *error);

#endif
