/* passes.h - multi-pass execution: if the parts of a divided acc do not fit in a device's memory together, the waves
 * are processed several times: pass 0 for the first parts, pass 1 for the next ones, and so on.
 *
 * Words:    a *round* is a wave of one pass; the engine counts rounds where it counts waves. A pass has `stride`
 *           rounds, of which the last ones, at least as many as are in flight, have no wave. So no part is updated
 *           before the parts of the previous pass are done and have left the device. Kernels see waves, not rounds.
 * Tokens:   the inputs that parts read in each wave are either recomputed in each pass, or kept in host memory
 *           (runtime/graph/passes.h). They are stored in pass 0, in buffers (engine/buffers.h) that the run itself allocates.
 *           In later passes the nodes that produced them are not called, and their tokens are present again. All other
 *           nodes fire only in pass 0.
 * Caller:   inputs that the caller provides (df_buffer) are read again in place. In addition to a caller's buffers
 *           nothing is kept. A session has the same number of rounds per pass in all calls, and sets waves and passes
 *           for each call. Memory for kept tokens is reserved when the session is opened: for its longest call, or half
 *           of the host's memory. Pages are committed as calls need them.
 * Streams:  a pass has at most as many waves as the run may have. If a stream ends earlier, all passes have as many
 *           waves as it delivered; rounds that no pass needs do not begin, and count as done (dfr_skips_next()). If the
 *           length of a stream is unknown and passes are requested, a pass has as many waves as half of the host's
 *           memory can keep, and the run fails if more come. A stream that is called again must end at the same wave in
 *           each pass, or the run fails.
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
