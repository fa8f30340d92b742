/* call.h - one job as its kernel sees it. This header declares what libdf itself needs of struct df_call beyond the
 * public df.h. */
#ifndef DFR_CALL_H
#define DFR_CALL_H

#include "runtime/df.h"

struct df_graph;
struct dfr_opened;

/* Records why the job failed, as df_fail() does, if a device found that out by itself. The message is copied. */
void dfr_call_failed(struct df_call *call, const char *message);

/* Calls the variant, with the dimensions that this job has in its wave; then notes the extents of its outputs. DF_SKIP:
 * its outputs are empty. It is for runs that have extents. `passed`: the in slot of what a copy or select passes on. */
int dfr_call_bounded(struct df_call *call, df_function *variant, uint32_t passed, void *stream, const size_t *dims,
                     void *const *ports, const union df_scalar *scalars);

/* The job is of a spared node (buffers.h), which is not called: notes the extents that the caller gives in this wave. */
int dfr_call_given(struct df_call *call);

/* Closes what kernels of the graph have opened there (df_open()). No job is there any more. Again: nothing happens. */
void dfr_opened_close(struct dfr_opened *opened, const struct df_graph *graph);

#endif
