/* crash.h - names the node whose kernel crashed or called exit(), before the process ends.
 *
 * Signals: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, in programs that dfc makes. libdf by itself touches no signal
 *          for this. The handler writes one line on stderr, puts back the handler that was there before it, and lets
 *          the fault come again. So the exit status, a core file and a sanitizer's report are the same as without it.
 * Exit:    A kernel cannot end a run by exit(). If it tries, exit() writes such a line and ends the process with status
 *          1, whatever status the kernel gave. _exit() and quick_exit() end the process unseen.
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

/* Says whether a graph runs: while one does, exit() is an error. */
void dfr_crash_run(bool on);

/* The calling thread runs the jobs that stand in *call, until dfr_crash_leave(). Both are borrowed. */
void dfr_crash_enter(struct dfr_crash_frame *frame, const struct df_call *call);
void dfr_crash_leave(struct dfr_crash_frame *frame);

/* For a thread without a frame: from now on it runs the kernel of this call. NULL: it runs none any more. */
void dfr_crash_call(const struct df_call *call);

#endif
