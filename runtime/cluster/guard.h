/* guard.h - a watchdog outside the communication thread. A call into MPI may never return after a rank has died (Open MPI 4.1 can lock itself out in its TCP
 * transport), and nothing in that thread can notice.
 *
 * Calls:    the communication thread says when it enters such a call and when it is back. If it is not back within the limit, the guard writes a sentence
 *           on stderr, and ends the process with status 1, without exit()'s handlers. --resume goes on from the journal then.
 * Time:     it counts seconds in which the guard itself ran, so a process that was stopped (SIGSTOP) or a machine that slept does not count as stuck.
 * Signals:  SIGPIPE is blocked in the thread while it is inside, and one that came is dropped. The caller's mask is restored, so that a
 *           process whose own output is a pipe ends as before.
 * Threads:  one thread enters and leaves. The guard's own thread lives as long as the process, and takes no signals.
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
