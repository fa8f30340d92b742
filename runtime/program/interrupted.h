/* interrupted.h - handles an interrupt of a run without a journal: waits until the waves in flight have ended, and reports what was written
 * (base/interrupt.h catches the signal). program_main.c calls it.
 *
 * Left:     the first waves are complete. What they write together is in PATH.part, files of single waves have their names, and what is no file
 *           yet is removed (record/kernel_outputs.c).
 * Command:  messages name the command line with which a run with a journal goes on: dfr_command_line_text().
 */
#ifndef DFR_INTERRUPTED_H
#define DFR_INTERRUPTED_H

#include "runtime/engine/engine.h"
#include "runtime/program/args.h"

/* Waits until all workers have ended. */
void dfr_interrupted_join(struct df_run *run, const struct dfr_command_line *line);
/* After df_run_wait(), which gave `status`: says what is there. Returns `status`, with an empty sentence in *error if that was the signal's. */
int dfr_interrupted_tell(struct dfr_early *early, const struct dfr_command_line *line, int status, struct df_error *error);

/* The command line of this process as a shell takes it, as `dfc run` got it, without --journal and --resume and what does not go with these, and with `added` at its end.
 * It names the journal if --journal=FILE did. malloc'ed; NULL: no memory. */
char *dfr_command_line_text(int argc, char *const *argv, const char *added);

#endif
