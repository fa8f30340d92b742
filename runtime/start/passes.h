/* passes.h - runs part by part. If the parts of a divided acc do not fit in a device's memory together, the waves go by
 * several times: in pass 0 for the first parts, in pass 1 for the next ones, and so on.
 *
 * Words:    A *round* is a wave of one pass; the engine counts rounds where it counts waves. A pass has `stride` rounds, of which
 *           the last ones, as many as are in flight at least, have no wave. So no part is changed before the parts of the pass
 *           before it are done, which leave the device then. Kernels see waves.
 * Tokens:   What the parts read of each wave is made again in each pass, or kept in host memory (runtime/graph/passes.h). It is kept in
 *           pass 0, in buffers (buffers.h) that the run makes itself. In later passes the nodes that made it are not called, and its
 *           tokens are there again. All other nodes fire in pass 0 alone.
 * Caller:   What the caller gives (df_buffer) is read again where it lies. Beside buffers of a run's caller nothing is kept. A session has the
 *           same rounds in a pass in all calls, and sets waves and passes for each. Memory for what it keeps is reserved when it is opened:
 *           for its longest call, or half of the host's. Pages are taken as calls need them.
 * Streams:  A pass has no more waves than the run may have. If a stream ends earlier, all passes have as many as came. Then rounds that
 *           no pass needs do not begin, and count as done (dfr_skips_next()). If nobody knows how many waves a stream has, and
 *           passes are asked for, a pass has as many as half of the host's memory keeps. The run fails if more come. A stream
 *           that is called again ends at the same wave in each pass, or the run fails.
 */
#ifndef DFR_PASSES_H
#define DFR_PASSES_H

#include "runtime/engine/engine.h"

/* Chooses the number of passes by the option and by the memory of the devices. It needs the buffers of the caller. If it is more than 1, run->skips has them,
 * firing.limit counts rounds, and what is kept has buffers. DF_E_ARGUMENT: so many passes were asked for, and cannot be.
 * DF_E_REFUSED: they are needed, and the host has no memory for what is to be kept. */
int dfr_passes_create(struct df_run *run, struct df_error *error);
/* Can a call of a session have so many waves? DF_E_ARGUMENT: more would have to be kept than there is memory for. */
int dfr_passes_admit(const struct df_run *run, int64_t waves, struct df_error *error);
/* A call of a session has so many waves. Gives its rounds; if the run has no passes, its waves. */
int64_t dfr_passes_call(struct df_run *run, int64_t waves);
void dfr_passes_destroy(struct df_run *run);

#endif
