/* steps_runtime.h - makes a whole run one program that steps_rig.h can explore. A test includes it before all else, and
 * then libdf's sources. The run's threads become coroutines, its atomic operations and futexes give way, and its clock
 * goes on with each look at it.
 */
#ifndef STEPS_RUNTIME_H
#define STEPS_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "steps_atomics.h"

struct steps_runtime_thread {
    void *(*main)(void *);
    void *arg;
};

/* The threads that the last df_run_start() made. */
extern struct steps_runtime_thread steps_runtime_threads[STEPS_THREADS];
extern unsigned steps_runtime_n_threads;

void steps_runtime_begin(void);         /* called before each df_run_start() */

int steps_runtime_create(pthread_t *thread, size_t stack_bytes, bool deaf, void *(*main)(void *), void *arg);
int steps_runtime_join(pthread_t thread, void **result);
long steps_runtime_syscall(long number, ...);

#define pthread_join steps_runtime_join
#undef pthread_cleanup_push             /* the thread's list of handlers would mix those of all coroutines */
#undef pthread_cleanup_pop
#define pthread_cleanup_push(handler, arg) { void (*handler_)(void *) = (handler); void *arg_ = (arg);
#define pthread_cleanup_pop(execute) if (execute) handler_(arg_); }
#define syscall steps_runtime_syscall
#define __builtin_ia32_pause steps_spin
#define sched_yield steps_spin

/* These take the place of libdf's functions: */
#define dfr_thread_create steps_runtime_create
#define dfr_clock_s steps_runtime_clock_s
#define dfr_cores_count steps_runtime_cores_count
#define dfr_crash_enter steps_runtime_crash_enter
#define dfr_crash_leave steps_runtime_crash_leave

#endif
