/* crash.h - reports which node's kernel crashed, called exit(), or terminated its thread, before the process ends.
 *
 * Signals:  SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, in programs and libraries that dfc builds; libdf by itself
 *           installs no such handler. The handler writes one line to stderr, restores the previous handler, and lets
 *           the fault recur, so the exit status, a core file and a sanitizer's report are the same as without it.
 * Hosts:    a library installs the handlers while a session is open, on top of the host application's. A kernel's fault
 *           is reported and then passed to the host's handler; all other signals are passed on directly. A handler that
 *           the host installs later stays.
 * Exit:     in a program, a kernel cannot end a run with exit() or quick_exit(): the call is reported by such a line,
 *           and the process ends with status 1, whatever status the kernel passed. _exit() ends the process undetected.
 * Ended:    a kernel may also terminate the thread that runs it: by pthread_exit(), thrd_exit(), or a pthread_cancel()
 *           of itself. Each loop that runs kernels detects that with pthread_cleanup_push(), and calls
 *           dfr_crash_thread_ends(). In a program that dfc built, this is handled like exit(); otherwise the loop fails
 *           the run.
 * Threads:  a thread that runs kernels registers with dfr_crash_enter(), which also gives it an alternate signal stack,
 *           in case its own overflows. A crash in any other thread (one that a kernel created) is passed on without a
 *           line; a call of exit() there is reported without a node.
 * Cost:     none per job, because the handler finds the job in the thread's call.
 */
#ifndef DFR_CRASH_H
#define DFR_CRASH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct df_call;

enum { DFR_CRASH_STACK_BYTES = 32768 };

/* What dfr_crash_enter() keeps of a thread that runs kernels. It lies on the thread's stack. */
struct dfr_crash_frame {
    uintptr_t stack_low, stack_bytes;   /* 0: not known */
    stack_t stack_before;
    unsigned char stack[DFR_CRASH_STACK_BYTES];
};

/* Puts the handlers in place, for the rest of the process. */
void dfr_crash_watch(void);

/* A session of a library begins or ends, in the process of a host application. */
void dfr_crash_guest(bool begins);

/* Sets whether a graph runs: while one does, exit() is an error. */
void dfr_crash_run(bool on);

/* Registers the calling thread, which runs the jobs that are in *call, until dfr_crash_leave(). Both arguments are borrowed. */
void dfr_crash_enter(struct dfr_crash_frame *frame, const struct df_call *call);
void dfr_crash_leave(struct dfr_crash_frame *frame);

/* Called in the cleanup of a thread that a kernel has terminated. If it returns, the caller fails the run. Returns the call of
 * that kernel, or NULL if no job is known. */
const struct df_call *dfr_crash_thread_ends(void);
/* The message for such a kernel. */
extern const char dfr_crash_ended[];

/* Sets the call whose kernel the calling thread runs; NULL: none. Returns the previous one. The call must not be on the
 * thread's own stack, because it is read after a kernel has terminated the thread. */
const struct df_call *dfr_crash_call(const struct df_call *call);

#endif
