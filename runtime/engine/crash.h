/* crash.h - names the node whose kernel crashed, called exit() or ended its thread, before the process ends.
 *
 * Signals: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, in programs and libraries that dfc makes. libdf by itself touches no
 *          signal for this. The handler writes one line on stderr, puts back the handler that was there before it, and lets
 *          the fault come again. So the exit status, a core file and a sanitizer's report are the same as without it.
 * Hosts:   A library has the handlers while a session is open, on top of those of the host. A fault of a kernel is named and then goes to the
 *          host's handler, as if ours were not there. All other signals go there at once. A handler that the host installs later stays.
 * Exit:    In a program a kernel cannot end a run by exit() or quick_exit(). If it tries, this writes such a line and ends the
 *          process with status 1, whatever status the kernel gave. _exit() ends the process unseen.
 * Ended:   A kernel may also end the thread that runs it: by pthread_exit(), thrd_exit(), or a pthread_cancel() of
 *          itself. Each loop that runs kernels sees that by pthread_cleanup_push(), and calls dfr_crash_thread_ends().
 *          During the run of a program that dfc made, this does as for exit(). Otherwise the loop fails the run.
 * Threads: A thread that runs kernels says so by dfr_crash_enter(). This also gives the thread a second stack, on which
 *          the handler runs if the thread's own has overflowed. A crash in any other thread (one that a kernel has
 *          made) is passed on without a line. A call of exit() there is reported without a node.
 * Cost:    nothing for each job, because the handler reads the job from the thread's call.
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

/* A session of a library begins or ends: it is a guest in a host's process. */
void dfr_crash_guest(bool begins);

/* Says whether a graph runs: while one does, exit() is an error. */
void dfr_crash_run(bool on);

/* The calling thread runs the jobs that stand in *call, until dfr_crash_leave(). Both are borrowed. */
void dfr_crash_enter(struct dfr_crash_frame *frame, const struct df_call *call);
void dfr_crash_leave(struct dfr_crash_frame *frame);

/* Called while the calling thread ends, because a kernel has ended it. If it returns, the caller fails the run: it gives
 * the call of that kernel, or NULL if no job is known. */
const struct df_call *dfr_crash_thread_ends(void);
/* What is then said of the kernel. */
extern const char dfr_crash_ended[];

/* From now on the calling thread runs the kernel of this call. NULL: it runs none any more. Gives what it ran before.
 * The call does not lie on the thread's own stack, because it is read when a kernel has ended the thread. */
const struct df_call *dfr_crash_call(const struct df_call *call);

#endif
