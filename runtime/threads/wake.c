/* wake.c - implements sleeping and waking of workers as an event count over a futex (wake.h): the workers of CPUs and GPUs sleep on it, and the engine wakes
 * them. It also has the plain futex calls, for feeders, communication threads, gangs and deques. Why no wake is lost:
 *
 *   sleeper: (1) reads sequence, and sleepers++  (2) looks for work  (3) futex_wait(sequence == what (1) read)
 *   waker:   (a) makes work visible  (b) sees sleepers > 0: takes one off, and sequence++  (c) futex_wake(1)
 *
 * (1) and (b) are one atomic step each, because one word has both numbers. Both are sequentially consistent, and a full
 * fence stands between (a) and (b). So either the waker sees the sleeper, or the sleeper's look sees the work. If the
 * waker sees the sleeper, there are two cases. A (3) that comes after (b) returns at once. If some (3) came before (b),
 * (c) wakes one of these sleepers. So for each sleeper that (b) took off, one worker fewer sleeps. The workers that
 * sleep are never more than `sleepers`.
 *
 * A worker may leave without sleeping, or because its time is over. It takes itself off only while sequence is what (1)
 * read: then no waker has taken anyone off since, so the worker is still counted. If sequence has changed, a waker may
 * have taken off this very worker. If the worker then took one off itself, it would take off another, who sleeps, and
 * that one's wake would be lost. If the waker had taken off another worker, `sleepers` is now one too many, which costs
 * a later waker a system call.
 *
 * A nap has a futex word of its own: (c) would otherwise wake the napping worker in place of a sleeper.
 */
#include "runtime/threads/wake.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/threads/clock.h"

#define ONE_SLEEPER (UINT64_C(1) << 32)

static void wait_on(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns)
{
    struct timespec limit = { .tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000 };
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, seen, timeout_ns < 0 ? NULL : &limit, NULL, 0);
}

void dfr_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns)
{
    wait_on(word, seen, timeout_ns);
    dfr_nominal_catch_up();
}

void dfr_futex_wake(_Atomic uint32_t *word, uint32_t count)
{
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, count > INT_MAX ? INT_MAX : (int)count, NULL, NULL, 0);
}

/* ---- sequence and sleepers ---- */

static uint32_t sequence_of(uint64_t state)
{
    return (uint32_t)state;
}

/* The sequence after this one. The caller adds the sleepers. */
static uint64_t next_sequence(uint64_t state)
{
    return (uint32_t)(sequence_of(state) + 1);
}

static uint64_t load(struct dfr_wake *wake)
{
    return atomic_load_explicit(&wake->state, memory_order_seq_cst);
}

/* false: the word has changed, or the exchange failed spuriously; *state is what it holds */
static bool replace(struct dfr_wake *wake, uint64_t *state, uint64_t by)
{
    return atomic_compare_exchange_weak_explicit(&wake->state, state, by, memory_order_seq_cst, memory_order_seq_cst);
}

/* For the kernel, which reads the sequence alone. */
static _Atomic uint32_t *futex_word(struct dfr_wake *wake)
{
    return (_Atomic uint32_t *)&wake->state + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* ThreadSanitizer knows no fences. A read-modify-write of the count does the same there, at a higher price. */
static void full_fence(struct dfr_wake *wake)
{
#ifdef __SANITIZE_THREAD__
    atomic_fetch_add_explicit(&wake->state, 0, memory_order_seq_cst);
#else
    (void)wake;
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* ---- sleepers ---- */

uint32_t dfr_wake_announce(struct dfr_wake *wake)
{
    return sequence_of(atomic_fetch_add_explicit(&wake->state, ONE_SLEEPER, memory_order_seq_cst));
}

void dfr_wake_cancel(struct dfr_wake *wake, uint32_t key)
{
    uint64_t state = load(wake);
    while (sequence_of(state) == key && !replace(wake, &state, state - ONE_SLEEPER))
        ;
}

void dfr_wake_sleep(struct dfr_wake *wake, uint32_t key, int64_t timeout_ns)
{
    if (sequence_of(load(wake)) == key)
        wait_on(futex_word(wake), key, timeout_ns);
    dfr_nominal_move(atomic_load_explicit(&wake->woken_s, memory_order_relaxed));
    if (timeout_ns >= 0)
        dfr_wake_cancel(wake, key);     /* unless it was woken */
}

uint32_t dfr_wake_key(const struct dfr_wake *wake)
{
    return atomic_load_explicit(&((struct dfr_wake *)wake)->ends, memory_order_seq_cst);
}

void dfr_wake_nap(struct dfr_wake *wake, uint32_t key, int64_t timeout_ns)
{
    if (dfr_wake_key(wake) == key)
        dfr_futex_wait(&wake->ends, key, timeout_ns);
}

/* ---- wakers ---- */

/* Leaves the caller's moment for the sleeper. It is 0 outside of nominal time. */
static void raise_woken(struct dfr_wake *wake)
{
    double moment_s = dfr_nominal_moment_s(), old_s = atomic_load_explicit(&wake->woken_s, memory_order_relaxed);
    while (old_s < moment_s && !atomic_compare_exchange_weak_explicit(&wake->woken_s, &old_s, moment_s, memory_order_relaxed,
                                                                      memory_order_relaxed))
        ;
}

bool dfr_wake_one(struct dfr_wake *wake)
{
    uint64_t state;

    full_fence(wake); /* the work before this, the count after it */
    state = load(wake);
    do
        if (state < ONE_SLEEPER)
            return false;
    while (!replace(wake, &state, (state - ONE_SLEEPER) >> 32 << 32 | next_sequence(state)));
    raise_woken(wake);
    dfr_futex_wake(futex_word(wake), 1);
    return true;
}

void dfr_wake_all(struct dfr_wake *wake)
{
    uint64_t state = load(wake);

    raise_woken(wake);
    while (!replace(wake, &state, next_sequence(state)))
        ;
    atomic_fetch_add_explicit(&wake->ends, 1, memory_order_seq_cst);
    dfr_futex_wake(futex_word(wake), UINT32_MAX);
    dfr_futex_wake(&wake->ends, UINT32_MAX);
}
