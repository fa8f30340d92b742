/* wake.h - sleeping and waking of the workers of one unit (an event count over a futex).
 *
 * Words:    a worker *announces* that it is about to sleep, looks once more for work, and then either *cancels* or
 *           *sleeps*. Whoever makes work visible afterwards *wakes*.
 * Promise:  work made visible before dfr_wake_one() is either found by the sleeper's last look or wakes it. Waking
 *           somebody who has left meanwhile costs a system call and nothing else.
 * Threads:  all calls from any thread.
 * Progress: waking makes a system call only where somebody announced.
 */
#ifndef DFR_WAKE_H
#define DFR_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dfr_wake {
    _Alignas(64) _Atomic uint32_t sequence;  /* the futex word: changes with each wake */
    _Atomic uint32_t sleepers;  /* announced and not yet claimed by a waker; never fewer than really sleep unclaimed */
    char pad[56];
};

uint32_t dfr_wake_announce(struct dfr_wake *wake);               /* gives the key for dfr_wake_sleep() */
void dfr_wake_cancel(struct dfr_wake *wake);
void dfr_wake_sleep(struct dfr_wake *wake, uint32_t key, int64_t timeout_ns); /* timeout < 0: none */
void dfr_wake_nap(struct dfr_wake *wake, uint32_t key, int64_t timeout_ns); /* sleeps unannounced: dfr_wake_all() ends
                                                                             * it */
uint32_t dfr_wake_key(const struct dfr_wake *wake);
bool dfr_wake_one(struct dfr_wake *wake);                        /* false: nobody had announced */
void dfr_wake_all(struct dfr_wake *wake);

/* A plain futex wait and wake on a word, for what is not a worker's idle sleep. */
void dfr_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns);
void dfr_futex_wake(_Atomic uint32_t *word, uint32_t count);

/* Has anybody announced? A glance. */
static inline bool dfr_wake_is_wanted(const struct dfr_wake *wake)
{
    return atomic_load_explicit(&((struct dfr_wake *)wake)->sleepers, memory_order_relaxed) > 0;
}

static inline void dfr_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

#endif
