/* interrupt.h - signals that ask a run for an end, in place of ending the process: Ctrl-C (SIGINT), SIGTERM, and SIGUSR1 of a run with a journal.
 *
 * First:    dfr_asked() returns the signal that came; SIGTERM and SIGUSR1 take the place of one before. The thread that feeds or awaits the run looks at it, lets the waves in flight end
 *           and begins no others.
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
/* From now on SIGINT and SIGTERM end the process as they did before. What was asked for stays. */
void dfr_interrupt_end(void);

/* The signal that has asked for an end; 0: none has come. */
int dfr_asked(void);
const char *dfr_signal_name(int number);

/* Ends the process by SIGINT, if that has asked for the end, so that a shell sees it and gives 130. Else returns. Unfinished files are removed. */
void dfr_interrupt_leave(void);

#endif
