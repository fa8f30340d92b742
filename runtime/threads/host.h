/* host.h - the state of a thread that libdf and kernels rely on, whatever the host process made of it.
 *
 * State:    the C locale, so that numbers are read and printed with a point; and the default floating-point environment: round to
 *           nearest, denormal numbers, no traps. All code of libdf and all kernels run with it.
 * Calls:    every public function that starts runs, calls kernels, or reads or prints numbers calls dfr_host_enter() first, and
 *           dfr_host_leave() before it returns. Such calls nest. Nothing of the process is changed, only of the thread.
 * Threads:  all threads of libdf are made by dfr_thread_create(). They have that state from their start, and a stack of at least
 *           DFR_STACK_BYTES, however small 'ulimit -s' makes those of the process.
 * Signals:  a deaf thread gets no signal that is sent to the process, so that the host's handlers run on the host's threads. Faults
 *           reach the thread that caused them, even if the thread that made it had blocked them.
 * Forks:    a child has none of its parent's threads. So what has threads keeps dfr_forks() from when it was made, and compares before
 *           it waits for one. What a child takes from its parent and cannot use, it leaves alone: its memory is lost to the child.
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

/* How many forks lie between this process and the one that loaded libdf. What was made before the last of them has no threads here. */
unsigned dfr_forks(void);

/* As pthread_create(). stack_bytes: 0: the default of the process. Returns 0 or an errno. */
int dfr_thread_create(pthread_t *thread, size_t stack_bytes, bool deaf, void *(*function)(void *), void *arg);

/* A thread that runs no kernels: deaf, with the stack of the process's default. */
int dfr_helper_create(pthread_t *thread, void *(*function)(void *), void *arg);

/* Calls the function on a thread of its own and waits for its end: for what is rare and needs more stack than a host's thread may have. If there
 * can be no thread, it is called on this one. */
void dfr_on_own_stack(void (*function)(void *), void *arg);

#endif
