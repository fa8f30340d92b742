/* deque.h - a work-stealing *deque*: the ready jobs of one worker, for runs in which all jobs run on the host. The
 * worker itself takes the newest job; a thief takes the oldest half. The owner needs no lock, no read-modify-write and
 * no fence.
 *
 * Words:    A deque's *owner* is the worker whose ready jobs it holds. A *thief* is a worker without jobs that *steals*
 *           from another's deque. The owner is *inside*
 *           while it looks at its deque or at the counters of the firing rule. It is outside while a kernel runs or
 *           while it sleeps. Each deque has a *gate*. A thief closes it, waits until the owner is outside, moves some
 *           jobs, and opens it again. If an owner comes in and finds its gate closed, it waits: as long as moving some
 *           words takes, and only during a theft.
 * Exclusion: The owner writes `inside` and then reads `gate`. The thief writes `gate` and then reads `inside`. One of
 *           them must see the other.
 * Fences:   The exclusion needs a full fence on both sides, or a barrier that the thief imposes on all threads of the
 *           process (membarrier(2)). The barrier leaves the owner with two plain instructions, and the owner comes in
 *           up to a hundred million times a second. Without that system call both sides use fences.
 * Asking:   An imposed barrier takes some ten microseconds. So a thief that steals once asks the owner for fences: jobs
 *           that are worth stealing are so long that their owner does not feel a fence, and the next theft needs no
 *           barrier. The owner says by `fenced` that it uses fences; it writes this between two looks at the gate. Who
 *           sees `fenced` set sees what the owner wrote before.
 * Taking back: If no thief has come for DFR_FENCED_JOBS jobs, the owner stops using fences. It writes `fenced` and then
 *           reads `gate`; a thief writes `gate` and then reads `fenced`. All four are sequentially consistent: either
 *           the owner finds its gate closed, or the thief finds no fences.
 * Orders:   Leaving releases, and the thief's look at `inside` acquires: the thief sees all that the owner wrote.
 *           Opening the gate releases, and coming in acquires.
 * Memory:   create() allocates room for all jobs that can be ready at once. The system backs only the pages that are
 *           touched.
 * Threads:  push, pop, enter and leave: the owner; push and pop only while inside. rob: another worker. size: any
 *           thread, as a glance that may be out of date.
 */
#ifndef DFR_DEQUE_H
#define DFR_DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define DFR_FENCED_JOBS 4096u

struct dfr_deque {
    _Alignas(64) _Atomic uint32_t inside, fenced;
    _Atomic uint64_t high, low;         /* jobs [low, high), modulo the room; a theft moves `low` */
    _Atomic uint64_t n_done;            /* jobs that the owner has ended */
    uint64_t mask;                      /* room - 1 */
    uint64_t *jobs;
    uint32_t fenced_left;               /* the owner's own: jobs until it stops using fences */
    _Alignas(64) _Atomic uint32_t gate; /* enum dfr_gate */
    _Atomic uint32_t asked;             /* fences are asked for */
    char pad[56];
};

enum dfr_gate { DFR_OPEN, DFR_CLOSED, DFR_CLOSED_AND_WAITED_FOR };

/* false: no memory. */
bool dfr_deque_create(struct dfr_deque *deque, uint64_t most_jobs);
void dfr_deque_destroy(struct dfr_deque *deque);   /* of a deque that is all zero, too */

/* Prepares this process. true: barriers can be imposed, so owners need no fences. */
bool dfr_deque_prepare(void);

/* If `fences` is false, imposes a barrier on all threads of the process: what each of them wrote before the barrier is
 * seen by whoever reads after it. If `fences` is true, there is nothing to do. */
void dfr_deque_barrier(bool fences);

void dfr_deque_wait(struct dfr_deque *deque);      /* until the gate is open */
void dfr_deque_unfence(struct dfr_deque *deque);   /* called by the owner, while inside */

/* Steals: moves the older half of the victim's jobs, at least one, to the thief's deque, which is empty. false: there
 * were none, another thief is at it, or the owner stayed inside. */
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
