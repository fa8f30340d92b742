/* call.h - struct df_call, a job as its kernel sees it: the part that libdf itself needs beyond the public df.h.
 * ports.c calls kernels with extents through it, engine_tables.c and inspect/ state those of spared nodes, the
 * emulated GPU (emu/) records a failure, and gpu/, measure/, single_job.c and start/run.c close what kernels have
 * opened. */
#ifndef DFR_CALL_H
#define DFR_CALL_H

#include "runtime/df.h"

struct df_graph;
struct dfr_opened;

/* Records why the job failed, as df_fail() does, for failures that a device detects. The message is copied. */
void dfr_call_failed(struct df_call *call, const char *message);

/* Calls the variant, with the dimensions that this job has in its wave; then notes the extents of its outputs. DF_SKIP:
 * its outputs are empty. It is for runs that have extents. `passed`: the in slot of what a copy or select passes on. */
int dfr_call_bounded(struct df_call *call, df_function *variant, uint32_t passed, void *stream, const size_t *dims,
                     void *const *ports, const union df_scalar *scalars);

/* For a job of a spared node (buffers.h), which is not called: records the extents that the caller states for this wave. */
int dfr_call_given(struct df_call *call);

/* Closes what kernels of the graph have opened there (df_open()), when no job runs there any more. Idempotent. */
void dfr_opened_close(struct dfr_opened *opened, const struct df_graph *graph);

#endif
