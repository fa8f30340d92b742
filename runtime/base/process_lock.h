/* process_lock.h - a process-wide mutex that is unlocked in a forked child. METIS (partition/cut/), output.c, status_line.c, emu/, engine/crash.c,
 * io/state.c, library/ and record/claims.c each lock their own data with one.
 *
 * A fork waits until no other thread holds it. The data that it protects is therefore consistent in the child, and the child never waits for a thread that
 * it does not have. A thread that holds one must not take another, and must not fork.
 */
#ifndef DFR_PROCESS_LOCK_H
#define DFR_PROCESS_LOCK_H

#include <pthread.h>

#define DFR_PROCESS_LOCK(name)                                                                                                    \
    static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER;                                                                      \
    static void name##_take(void) { pthread_mutex_lock(&name); }                                                                  \
    static void name##_give(void) { pthread_mutex_unlock(&name); }                                                                \
    __attribute__((constructor)) static void name##_forks(void) { pthread_atfork(name##_take, name##_give, name##_give); }        \
    struct name##_needs_a_semicolon

#endif
