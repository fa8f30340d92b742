/* wake.c - the event count. Why it loses nothing:
 *
 *   sleeper: (1) reads sequence  (2) sleepers++  (3) looks for work  (4) futex_wait(sequence == what (1) read)
 *   waker:   (a) makes work visible  (b) sees sleepers > 0 and takes one off  (c) sequence++  (d) futex_wake(1)
 *
 * (2) and (b) are sequentially consistent, with a full fence between (a) and (b): either the waker sees the sleeper, or
 * the sleeper's look sees the work. Where the waker sees it, (c) makes a late (4) return at once. (1) comes before (2)
 * so that a sleeper who was taken off never sleeps with a fresh key, uncounted.
 */
#include "runtime/wake.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void dfr_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns)
{
    struct timespec limit = { .tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000 };
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, seen, timeout_ns < 0 ? NULL : &limit, NULL, 0);
}

void dfr_futex_wake(_Atomic uint32_t *word, uint32_t count)
{
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, count > INT_MAX ? INT_MAX : (int)count, NULL, NULL, 0);
}

uint32_t dfr_wake_announce(struct dfr_wake *wake)
{
    uint32_t key = atomic_load_explicit(&wake->sequence, memory_order_seq_cst);
    atomic_fetch_add_explicit(&wake->sleepers, 1, memory_order_seq_cst); /* pairs with the load in claim() */
    return key;
}

/* Takes one announced sleeper off the count. */
static bool claim(struct dfr_wake *wake)
{
    uint32_t n = atomic_load_explicit(&wake->sleepers, memory_order_seq_cst);
    while (n > 0)
        if (atomic_compare_exchange_weak_explicit(&wake->sleepers, &n, n - 1, memory_order_seq_cst,
                                                  memory_order_seq_cst))
            return true;
    return false;
}

/* ThreadSanitizer knows no fences: there, a read-modify-write of the count does the same at a higher price. */
static void full_fence(struct dfr_wake *wake)
{
#ifdef __SANITIZE_THREAD__
    atomic_fetch_add_explicit(&wake->sleepers, 0, memory_order_seq_cst);
#else
    (void)wake;
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

void dfr_wake_cancel(struct dfr_wake *wake)
{
    claim(wake); /* where a waker was quicker there is nothing to take off */
}

void dfr_wake_sleep(struct dfr_wake *wake, uint32_t key, int64_t timeout_ns)
{
    if (atomic_load_explicit(&wake->sequence, memory_order_seq_cst) == key)
        dfr_futex_wait(&wake->sequence, key, timeout_ns);
    if (timeout_ns >= 0 && atomic_load_explicit(&wake->sequence, memory_order_seq_cst) == key)
        claim(wake); /* woken by the clock: nobody took this sleeper off */
}

uint32_t dfr_wake_key(const struct dfr_wake *wake)
{
    return atomic_load_explicit(&((struct dfr_wake *)wake)->sequence, memory_order_seq_cst);
}

void dfr_wake_nap(struct dfr_wake *wake, uint32_t key, int64_t timeout_ns)
{
    if (dfr_wake_key(wake) == key)
        dfr_futex_wait(&wake->sequence, key, timeout_ns);
}

bool dfr_wake_one(struct dfr_wake *wake)
{
    full_fence(wake); /* the work before this, the count after it */
    if (!claim(wake))
        return false;
    atomic_fetch_add_explicit(&wake->sequence, 1, memory_order_seq_cst);
    dfr_futex_wake(&wake->sequence, 1);
    return true;
}

void dfr_wake_all(struct dfr_wake *wake)
{
    atomic_store_explicit(&wake->sleepers, 0, memory_order_seq_cst);
    atomic_fetch_add_explicit(&wake->sequence, 1, memory_order_seq_cst);
    dfr_futex_wake(&wake->sequence, UINT32_MAX);
}
