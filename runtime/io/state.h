/* state.h - destruction of the states that kernels keep from wave to wave (df_state() of df.h), and queries about them. record/ and ranks/ ask how many
 * waves streams expect, subgraph/part.c where one ended, and inspect/record_job.c for states to record; start/ and measure/ destroy them.
 *
 * Room:     runtime/io/ holds what kernels call that read files: functions of df_io.h, and df_state(), which keeps a file open between waves. It knows the
 *           engine, and neither the start nor the end of a run.
 */
#ifndef DFR_STATE_H
#define DFR_STATE_H

#include <stdbool.h>

#include "runtime/df.h"

/* Who feeds the run says that no wave from this number on begins. */
void dfr_limit_waves(struct df_run *run, int64_t waves);
/* How many waves streams expect; 0: none has said. */
int64_t dfr_expected_waves(const struct df_run *run);

/* The least number of a wave in which a stream ended, of a run with options.apart; INT64_MAX: none did. */
int64_t dfr_ended_apart(const struct df_run *run);

/* Where the run of this call has its files; NULL: where their paths say. Beside df_state(), so that a program which calls kernels by
 * hand and has a df_state() of its own can have this, too. */
struct dfr_outputs *dfr_outputs_of(const struct df_call *call);

/* What the node of this call keeps, *bytes of it; NULL: no call of df_state() has made it yet. Another job of the node may change it, unless they are in order. */
const void *dfr_state_of(const struct df_call *call, size_t *bytes);
/* Makes it as a copy, before the first call of df_state(). It is freed without its `end`, because what it points to is not there. Returns false, with the failure
 * recorded, without memory. */
bool dfr_state_give(struct df_call *call, const void *state, size_t bytes);

/* What the run keeps for itself, as a node does: the first call makes it, with zeros, and `end` must not fail. NULL: no memory. */
void *dfr_run_state(struct df_run *run, size_t bytes, df_state_end *end);

/* Ends and frees all states, in the order of the nodes. `status` says how the run ended. If it was well and an end
 * fails, gives that end's code with a sentence that names the node; else gives `status`. No kernel runs any more. */
int dfr_states_end(struct df_run *run, int status, struct df_error *error);

#endif
