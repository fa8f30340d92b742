/* interrupt.h - lets signals end a run gracefully in place of ending the process: Ctrl-C (SIGINT), SIGTERM, and, for a run with a journal, SIGUSR1.
 * program/, ranks/ and record/resumable.c install the handlers, and they and start/run_workers.c ask.
 *
 * First:    dfr_asked() returns the signal that arrived; SIGTERM and SIGUSR1 replace an earlier one. The thread that feeds or awaits the run polls it, lets
 *           the waves in flight end and starts no others.
 * Second:   a SIGINT ends the process at once. So does a SIGTERM, but not with a journal: batch systems send it twice, and a checkpoint may be under
 *           way. A signal within half a second after the first one is the same request: timeout(1) signals its child and then the
 *           group of it, and `dfc run` passes on what the terminal sends to both.
 * Ignored:  a signal that the process was started with as ignored (nohup, a shell's background job) stays ignored; with a journal, SIGINT alone.
 * Threads:  begin and end are called by one thread, asked by any.
 */
#ifndef DFR_INTERRUPT_H
#define DFR_INTERRUPT_H

#include <stdbool.h>

/* `at_once`: what the handler prints before a second signal ends the process. It is copied; "" or NULL: nothing. */
void dfr_interrupt_begin(bool journal, const char *at_once);
/* Restores the earlier effect of SIGINT and SIGTERM. dfr_asked() keeps its value. */
void dfr_interrupt_end(void);

/* Returns the signal that requested the end, or 0. */
int dfr_asked(void);
const char *dfr_signal_name(int number);

/* If SIGINT requested the end, ends the process by SIGINT, so that a shell reports 130, after removing unfinished files. Else returns. */
void dfr_interrupt_leave(void);

#endif
