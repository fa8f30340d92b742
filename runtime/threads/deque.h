/* deque.h - a work-stealing *deque*: the ready jobs of one worker, for runs in which all jobs run on the host. The owner takes the newest job without lock,
 * read-modify-write or fence; a thief takes the older half. engine/steal.h decides when workers steal.
 *
 * Words:    A deque's *owner* is the worker whose ready jobs it holds. A *thief* is a worker without jobs that *steals*
 *           jobs from another worker's deque. The owner is *inside* while it looks at its deque or at the counters of
 *           the firing rule. It is *outside* while a kernel runs, and while it waits for a gang or at its gate. Each
 *           deque has a *gate*. A thief closes the gate, waits until the owner is outside, moves some jobs, and opens
 *           the gate again. An owner that comes in and finds its gate closed waits until it is open. That takes as long
 *           as moving some words, and happens only during a theft.
 * Exclusion: The owner writes `inside` and then reads `gate`. The thief writes `gate` and then reads `inside`. One of
 *           them must see the other.
 * Fences:   The exclusion needs a full fence on both sides, or a barrier that the thief imposes on all threads of the
 *           process (membarrier(2)). The barrier leaves the owner with two plain instructions, and the owner comes in
 *           up to a hundred million times a second. Without that system call both sides use fences.
 * Asking:   An imposed barrier takes some ten microseconds. So a thief that steals once asks the owner to use fences, and the next theft needs no barrier;
 *           jobs worth stealing are so long that a fence does not slow their owner. The owner sets `fenced` while it uses fences. It writes `fenced` while
 *           it is inside, between two reads of its gate. A thread that sees `fenced` set sees what the owner wrote before.
 * Taking back: If no thief has come for DFR_FENCED_JOBS jobs, the owner stops using fences. It writes `fenced` and then
 *           reads `gate`. A thief writes `gate` and then reads `fenced`. All four are sequentially consistent: either
 *           the owner finds its gate closed, or the thief finds no fences.
 * Orders:   Leaving releases, and the thief's look at `inside` acquires: the thief sees all that the owner wrote.
 *           Opening the gate releases, and coming in acquires.
 * Memory:   create() allocates room for all jobs that can be ready at once. The system backs only the pages that are
 *           touched.
 * Threads:  push, pop, enter and leave: the owner. push and pop only while it is inside. steal: another worker, which
 *           is inside its own deque. size: any thread, as a glance that may be out of date.
 */
#ifndef DFR_DEQUE_H
#define DFR_DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define DFR_FENCED_JOBS 4096u

struct dfr_deque {
    _Alignas(64) _Atomic uint32_t inside, fenced;
    _Atomic uint64_t high, low;         /* it holds the jobs [low, high), modulo the room; a theft moves `low` */
    _Atomic uint64_t n_done;            /* jobs that the owner has ended */
    uint64_t mask;                      /* room - 1 */
    uint64_t *jobs;
    uint32_t fenced_left;               /* jobs until the owner stops using fences; only the owner touches it */
    _Alignas(64) _Atomic uint32_t gate; /* enum dfr_gate */
    _Atomic uint32_t asked;             /* a thief asks the owner for fences */
    char pad[56];
};

enum dfr_gate { DFR_OPEN, DFR_CLOSED, DFR_CLOSED_AND_WAITED_FOR };

/* Creates a deque whose owner is inside. Returns false if out of memory. */
bool dfr_deque_create(struct dfr_deque *deque, uint64_t most_jobs);
void dfr_deque_destroy(struct dfr_deque *deque);   /* a deque that is all zero is allowed */

/* Prepares the process. Returns true if barriers can be imposed, so that owners need no fences. */
bool dfr_deque_prepare(void);

/* Unless `fences` is true, imposes a barrier on all threads of the process: writes that a thread made before it are visible to reads after it. */
void dfr_deque_barrier(bool fences);

void dfr_deque_wait(struct dfr_deque *deque);      /* the owner goes outside, and comes in when the gate is open */
void dfr_deque_unfence(struct dfr_deque *deque);   /* the owner stops using fences; called while inside */

/* Moves the older half of the victim's jobs, at least one, to the thief's empty deque. Returns false if there were none, another thief had closed the gate, or
 * the owner stayed inside. */
bool dfr_deque_steal(struct dfr_deque *thief, struct dfr_deque *victim, bool fences);

static inline void dfr_deque_leave(struct dfr_deque *p)
{
    atomic_store_explicit(&p->inside, 0, memory_order_release);
}

static inline void dfr_deque_enter(struct dfr_deque *p, bool fences)
{
    bool fenced = atomic_load_explicit(&p->fenced, memory_order_relaxed);
    if (fences || fenced) {
        atomic_exchange_explicit(&p->inside, 1, memory_order_seq_cst);
    } else {
        atomic_store_explicit(&p->inside, 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
    }
    if (atomic_load_explicit(&p->gate, memory_order_seq_cst) != DFR_OPEN)
        dfr_deque_wait(p);
    if (fenced) {
        if (--p->fenced_left == 0)
            dfr_deque_unfence(p);
    } else if (atomic_load_explicit(&p->asked, memory_order_relaxed)) {
        p->fenced_left = DFR_FENCED_JOBS;
        atomic_store_explicit(&p->fenced, 1, memory_order_release);
    }
}

static inline uint64_t dfr_deque_size(const struct dfr_deque *deque)
{
    struct dfr_deque *p = (struct dfr_deque *)deque;
    uint64_t low = atomic_load_explicit(&p->low, memory_order_relaxed);
    uint64_t high = atomic_load_explicit(&p->high, memory_order_relaxed);
    return high > low ? high - low : 0;
}

static inline void dfr_deque_push(struct dfr_deque *p, uint64_t job)
{
    uint64_t high = atomic_load_explicit(&p->high, memory_order_relaxed);
    p->jobs[high & p->mask] = job;
    atomic_store_explicit(&p->high, high + 1, memory_order_relaxed);
}

static inline bool dfr_deque_pop(struct dfr_deque *p, uint64_t *job)
{
    uint64_t high = atomic_load_explicit(&p->high, memory_order_relaxed);
    if (high == atomic_load_explicit(&p->low, memory_order_relaxed))
        return false;
    *job = p->jobs[(high - 1) & p->mask];
    atomic_store_explicit(&p->high, high - 1, memory_order_relaxed);
    return true;
}

#endif
