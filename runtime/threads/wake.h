/* wake.h - sleeping and waking of the workers of one unit: an event count over a futex. Workers of CPUs and GPUs sleep on it (engine/, gpu/), and those
 * who make jobs ready or end the run wake them. start/, ranks/comm.c, record/ and the gangs of engine/ use only the futex calls.
 *
 * Words:    A worker *announces* that it is about to sleep, and then checks once more for work. After that it either *cancels* or *sleeps*. A thread that
 *           makes work visible *wakes* afterwards. A worker that cannot use work at present *naps*: it is not counted, so no wake is directed to it.
 * Promise:  If work is made visible before dfr_wake_one(), either the sleeper's last check finds it, or the call wakes the sleeper. Waking a worker that
 *           has left meanwhile costs only a system call.
 * Threads:  all calls from any thread.
 * Progress: waking makes a system call only if a worker has announced.
 * Nominal:  In nominal time (clock.h) a sleeper's moment is not before that of the thread that woke it.
 */
#ifndef DFR_WAKE_H
#define DFR_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dfr_wake {
    /* Low half: the futex word, which changes with each wake. High half: the number of workers that announced and that
     * no waker has taken off yet. It is never less than the number that sleep. */
    _Alignas(64) _Atomic uint64_t state;
    _Atomic uint32_t ends;              /* the futex word of naps */
    _Atomic double woken_s;             /* in nominal time: the latest moment of a thread that woke others */
    char pad[40];
};

uint32_t dfr_wake_announce(struct dfr_wake *wake);               /* gives the key of this announcement */
void dfr_wake_cancel(struct dfr_wake *wake, uint32_t key);
void dfr_wake_sleep(struct dfr_wake *wake, uint32_t key, int64_t timeout_ns); /* timeout < 0: it has no limit */
uint32_t dfr_wake_key(const struct dfr_wake *wake);              /* the key of a nap that begins now */
void dfr_wake_nap(struct dfr_wake *wake, uint32_t key, int64_t timeout_ns); /* dfr_wake_all() ends it */
bool dfr_wake_one(struct dfr_wake *wake);                        /* false: nobody had announced */
void dfr_wake_all(struct dfr_wake *wake);

/* A plain futex wait and wake on a word, for all waiting other than a worker's idle sleep. Afterwards a thread in nominal time is at the real time. */
void dfr_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns);
void dfr_futex_wake(_Atomic uint32_t *word, uint32_t count);

/* Returns true if a worker has announced. May be out of date. */
static inline bool dfr_wake_is_wanted(const struct dfr_wake *wake)
{
    return atomic_load_explicit(&((struct dfr_wake *)wake)->state, memory_order_relaxed) >> 32 > 0;
}

static inline void dfr_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

#endif
