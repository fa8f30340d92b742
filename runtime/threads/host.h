/* host.h - isolates libdf and its kernels from the state of the host process: locale, floating-point environment, signals, stack sizes and forks.
 *
 * State:    the C locale, so that numbers are read and printed with a point; and the default floating-point environment: round to
 *           nearest, denormal numbers, no traps. All code of libdf and all kernels run with it.
 * Calls:    every public function that starts runs, calls kernels, or reads or prints numbers calls dfr_host_enter() first, and dfr_host_leave() before it
 *           returns. Such calls nest. Only the thread's state changes, never the process's.
 * Threads:  all threads of libdf are made by dfr_thread_create(). They have that state from their start, and a stack of at least
 *           DFR_STACK_BYTES, however small 'ulimit -s' makes those of the process.
 * Signals:  a deaf thread receives no signals that are sent to the process, so that the host's handlers run on the host's threads. Faults are delivered to
 *           the thread that caused them, even if its creator had blocked them.
 * Forks:    a child has none of its parent's threads. So an object that owns threads stores dfr_forks() at its creation, and compares before it waits for
 *           one. What a child inherits and cannot use, it leaves alone; that memory is lost to the child.
 */
#ifndef DFR_HOST_H
#define DFR_HOST_H

#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { DFR_STACK_BYTES = 1 << 20 };

struct dfr_host {
    locale_t locale;                    /* what the thread had */
    unsigned floats;
    unsigned short x87;
};

void dfr_host_enter(struct dfr_host *host);
void dfr_host_leave(const struct dfr_host *host);

/* The number of forks between this process and the one that loaded libdf. Objects created before the last of them have no threads here. */
unsigned dfr_forks(void);

/* As pthread_create(). stack_bytes: 0: the default of the process. Returns 0 or an errno. */
int dfr_thread_create(pthread_t *thread, size_t stack_bytes, bool deaf, void *(*function)(void *), void *arg);

/* Creates a thread that runs no kernels: deaf, with the default stack size. */
int dfr_helper_create(pthread_t *thread, void *(*function)(void *), void *arg);

/* Calls the function on a new thread and waits for it: for rare calls that need more stack than the host's thread may have. If no thread can be created, it is
 * called on this one. Either way it runs with the state above. */
void dfr_on_own_stack(void (*function)(void *), void *arg);

#endif
