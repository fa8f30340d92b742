/* pile.h - the ready jobs of one worker, where all jobs run on the host: the newest first for the worker itself, the
 * oldest half for who robs it. Neither locks nor read-modify-writes nor fences on the owner's way.
 *
 * Words:    the *owner* is *inside* while it looks at its pile or at the counters of the firing rule, and outside while
 *           a kernel runs or it sleeps. A *robber* is a worker without jobs; it closes the owner's *gate*, waits until
 *           the owner is outside, takes what it takes, and opens the gate. An owner that comes in finds the gate closed
 *           and waits: for the moving of some words, and only where the robbery is at that moment.
 * Why it works: the owner writes `inside` and then reads `gate`; the robber writes `gate` and then reads `inside`: one
 *           of them must see the other. That takes a full fence on both sides, or a barrier that the robber imposes on
 *           all threads of the process (membarrier(2)), which leaves the owner, who comes by a hundred million times a
 *           second, with two plain instructions. Without that system call both use fences. And since an imposed
 *           barrier takes some ten microseconds, who robs once asks the owner for fences: whose jobs are worth robbing
 *           does not feel them, and the next robbery needs no barrier. The owner says that it uses them (`fenced`)
 *           between two looks at the gate; what it wrote before is seen by who sees that. When nobody has come for
 *           DFR_FENCED_JOBS it takes them back: `fenced` is written and then `gate` read, where a robber writes `gate`
 *           and then reads `fenced`, all sequentially consistent: either the owner finds its gate closed, or the robber
 *           finds no fences.
 * Orders:   leaving releases, the robber's look acquires: it sees all that the owner wrote. Opening releases, coming in
 *           acquires.
 * Memory:   create() allocates room for all jobs that can be ready at once; what is never touched is never real.
 * Threads:  push, pop, enter, leave: the owner, the first two while inside. rob: another worker. size: any, a glance.
 */
#ifndef DFR_PILE_H
#define DFR_PILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define DFR_FENCED_JOBS 4096u

struct dfr_pile {
    _Alignas(64) _Atomic uint32_t inside, fenced;
    _Atomic uint64_t high, low;         /* jobs [low, high), modulo the room; low moves by robbery */
    _Atomic uint64_t n_done;            /* jobs that the owner has ended */
    uint64_t mask;                      /* room - 1 */
    uint64_t *jobs;
    uint32_t fenced_left;               /* the owner's own: jobs until it takes its fences back */
    _Alignas(64) _Atomic uint32_t gate; /* enum dfr_gate */
    _Atomic uint32_t asked;             /* for fences */
    char pad[56];
};

enum dfr_gate { DFR_OPEN, DFR_CLOSED, DFR_CLOSED_AND_WAITED_FOR };

/* false: no memory. */
bool dfr_pile_create(struct dfr_pile *pile, uint64_t most_jobs);
void dfr_pile_destroy(struct dfr_pile *pile);   /* one that is all zero, too */

/* Prepares this process; true: barriers can be imposed, so owners need no fences. */
bool dfr_pile_prepare(void);

/* On all threads where `fences` is false: what each wrote before is seen by who reads after. */
void dfr_pile_barrier(bool fences);

void dfr_pile_wait(struct dfr_pile *pile);      /* until the gate is open */
void dfr_pile_unfence(struct dfr_pile *pile);   /* the owner, while inside */

/* Moves the older half of the victim's jobs, at least one, to the robber's pile, which is empty. false: there were
 * none, another robs it, or its owner stays inside. */
bool dfr_pile_rob(struct dfr_pile *robber, struct dfr_pile *victim, bool fences);

static inline void dfr_pile_leave(struct dfr_pile *p)
{
    atomic_store_explicit(&p->inside, 0, memory_order_release);
}

static inline void dfr_pile_enter(struct dfr_pile *p, bool fences)
{
    bool fenced = atomic_load_explicit(&p->fenced, memory_order_relaxed);
    if (fences || fenced) {
        atomic_exchange_explicit(&p->inside, 1, memory_order_seq_cst);
    } else {
        atomic_store_explicit(&p->inside, 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
    }
    if (atomic_load_explicit(&p->gate, memory_order_seq_cst) != DFR_OPEN)
        dfr_pile_wait(p);
    if (fenced) {
        if (--p->fenced_left == 0)
            dfr_pile_unfence(p);
    } else if (atomic_load_explicit(&p->asked, memory_order_relaxed)) {
        p->fenced_left = DFR_FENCED_JOBS;
        atomic_store_explicit(&p->fenced, 1, memory_order_release);
    }
}

static inline uint64_t dfr_pile_size(const struct dfr_pile *pile)
{
    struct dfr_pile *p = (struct dfr_pile *)pile;
    uint64_t low = atomic_load_explicit(&p->low, memory_order_relaxed);
    uint64_t high = atomic_load_explicit(&p->high, memory_order_relaxed);
    return high > low ? high - low : 0;
}

static inline void dfr_pile_push(struct dfr_pile *p, uint64_t job)
{
    uint64_t high = atomic_load_explicit(&p->high, memory_order_relaxed);
    p->jobs[high & p->mask] = job;
    atomic_store_explicit(&p->high, high + 1, memory_order_relaxed);
}

static inline bool dfr_pile_pop(struct dfr_pile *p, uint64_t *job)
{
    uint64_t high = atomic_load_explicit(&p->high, memory_order_relaxed);
    if (high == atomic_load_explicit(&p->low, memory_order_relaxed))
        return false;
    *job = p->jobs[(high - 1) & p->mask];
    atomic_store_explicit(&p->high, high - 1, memory_order_relaxed);
    return true;
}

#endif
