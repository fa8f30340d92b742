/* guard.h - a watchdog thread for calls into MPI. Such a call may never return after a rank has died (the TCP transport of Open MPI 4.1 can deadlock), and
 * the communication thread cannot detect that itself. link.c puts it around each call of the plug-in.
 *
 * Calls:    the communication thread marks the start and the end of each call. If a call exceeds the limit, the watchdog writes a message to stderr and
 *           ends the process with status 1, without exit handlers. --resume continues from the journal.
 * Time:     the watchdog counts its own wake-ups, so time in which the process is stopped (SIGSTOP) or the machine is suspended does not count.
 * Signals:  SIGPIPE is blocked in the thread during a call, and a pending one is discarded. The caller's mask is restored, so that
 *           writing to a closed pipe outside of MPI still ends the process.
 * Threads:  one thread enters and leaves. The watchdog's thread lives as long as the process, and blocks all signals.
 */
#ifndef DFR_GUARD_H
#define DFR_GUARD_H

#include <signal.h>

#include "runtime/df.h"

/* Starts the guard, once in a process; later calls change the limit. DF_E_MEMORY. */
int dfr_guard_begin(double limit_s, struct df_error *error);

struct dfr_guarded {
    sigset_t mask;
    int pipe_was_blocked;
};

/* `what` is a constant: "MPI_Init". */
struct dfr_guarded dfr_guard_enter(const char *what);
void dfr_guard_leave(const struct dfr_guarded *guarded);

#endif
