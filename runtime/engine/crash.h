/* crash.h - names the node whose kernel crashed, before the process ends as it would have, or called exit().
 *
 * Signals: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, in programs that dfc makes; libdf by itself touches no signal
 *          for this. The handler writes one line on stderr, puts back what was there before it and lets the fault come
 *          again: the exit status, a core file and a sanitizer's report are the same as without it.
 * Exit:    one by a kernel is no end of a run: exit() then writes such a line and ends with status 1, whatever the
 *          kernel gave it. _exit() and quick_exit() end the process unseen.
 * Threads: one that runs kernels says so by dfr_crash_enter(), which also gives it a stack to run the handler on when
 *          its own has overflowed. A crash in any other thread (one that a kernel has made) is passed on unnamed, and
 *          exit() there is told without a node.
 * Cost:    nothing for each job: the handler reads the job from the thread's call.
 */
#ifndef DFR_CRASH_H
#define DFR_CRASH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct df_call;

enum { DFR_CRASH_STACK_BYTES = 32768 };

/* Of a thread that runs kernels, on its stack. */
struct dfr_crash_frame {
    uintptr_t stack_low, stack_bytes;   /* 0: not known */
    stack_t stack_before;
    unsigned char stack[DFR_CRASH_STACK_BYTES];
};

/* Puts the handlers in place, for the rest of the process. */
void dfr_crash_watch(void);

/* Whether a graph runs: exit() is no end of it. */
void dfr_crash_run(bool on);

/* The calling thread runs the jobs that stand in *call, until dfr_crash_leave(). Both are borrowed. */
void dfr_crash_enter(struct dfr_crash_frame *frame, const struct df_call *call);
void dfr_crash_leave(struct dfr_crash_frame *frame);

/* For a thread that has no frame: it runs that call's kernel; NULL: none any more. */
void dfr_crash_call(const struct df_call *call);

#endif
