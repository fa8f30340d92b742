/* unfinished.h - registers files and folders that are removed if an external signal ends the process. output.c and
 * compiler/trial/temporary_program.c register them; dfc's main program (commands/main.c) and program/program_main.c
 * install the handler.
 *
 * Threads:  any. The handler may run on any thread, between any two instructions of these functions.
 * Errors:   none. If memory for a name runs out, that file is not removed.
 */
#ifndef DFR_UNFINISHED_H
#define DFR_UNFINISHED_H

#include <signal.h>

/* The signals that end a process from outside. A closed pipe is one of them: `app … | head`. */
enum { DFR_N_ENDING = 5 };
extern const int dfr_ending_signals[DFR_N_ENDING];

/* Called at the start of a program; a library leaves its host's signals alone. Without it nothing is removed. `first`, or
 * NULL, is what the handler does before it removes files; it may only do what a signal handler may. */
void dfr_unfinished_watch(void (*first)(void));

/* A file is created, and added, between these two. They block the thread's signals, and the handler waits for the threads in between: no file
 * is left behind that was created and not yet added. Once the handler runs, enter does not return. */
void dfr_unfinished_enter(sigset_t *before);
void dfr_unfinished_leave(const sigset_t *before);

/* From add to drop, a signal removes the file, or the folder if it is empty. If the signal already has another handler, that handler stays. */
void dfr_unfinished_add(const char *path);
void dfr_unfinished_drop(const char *path);

/* The handler: removes what is unfinished, and ends the process by this signal. */
void dfr_unfinished_end(int number);

#endif
