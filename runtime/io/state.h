/* state.h - the end of what kernels keep from wave to wave (df_state() of df.h).
 *
 * Room:     runtime/io/ holds what kernels call that read and write files: the functions of df_io.h, and df_state(),
 *           which keeps a file open between waves. It knows the engine, and neither the start nor the end of a run.
 */
#ifndef DFR_STATE_H
#define DFR_STATE_H

#include "runtime/df.h"

/* Ends and frees all states, in the order of the nodes. `status` says how the run ended. If it was well and an end
 * fails, gives that end's code with a sentence that names the node; else gives `status`. No kernel runs any more. */
int dfr_states_end(struct df_run *run, int status, struct df_error *error);

#endif
