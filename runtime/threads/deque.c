/* deque.c - the slow paths of a worker's deque (deque.h): creation, waiting at a closed gate, and stealing. The CPU
 * workers of runs without devices use it (engine/steal.c, worker.c). */
#include "runtime/threads/deque.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/threads/large.h"
#include "runtime/threads/wake.h"

#define OWNER_LOOKS 2000                /* how often a thief looks whether the owner is outside before it gives up */
#define GATE_LOOKS 200                  /* how often an owner looks at its gate before it sleeps there: the thief may
                                         * have lost its core */

bool dfr_deque_create(struct dfr_deque *p, uint64_t most_jobs)
{
    uint64_t room = 2;
    while (room < most_jobs)
        room *= 2;
    p->mask = room - 1;
    p->jobs = dfr_large_alloc(room * sizeof *p->jobs);
    atomic_init(&p->inside, 1);
    return p->jobs != NULL;
}

void dfr_deque_destroy(struct dfr_deque *p)
{
    free(p->jobs);
    p->jobs = NULL;
}

bool dfr_deque_prepare(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void dfr_deque_barrier(bool fences)
{
    if (!fences)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* The thief waits until the owner is outside. So the owner must be outside while it waits for the thief. */
void dfr_deque_wait(struct dfr_deque *p)
{
    p->fenced_left = DFR_FENCED_JOBS;
    do {
        uint32_t gate = DFR_CLOSED;
        dfr_deque_leave(p);
        for (int i = 0; i < GATE_LOOKS && gate != DFR_OPEN; i++) {
            dfr_relax();
            gate = atomic_load_explicit(&p->gate, memory_order_acquire);
        }
        while (gate != DFR_OPEN) {
            if (gate == DFR_CLOSED_AND_WAITED_FOR ||
                atomic_compare_exchange_strong_explicit(&p->gate, &gate, DFR_CLOSED_AND_WAITED_FOR,
                                                        memory_order_seq_cst, memory_order_seq_cst))
                dfr_futex_wait(&p->gate, DFR_CLOSED_AND_WAITED_FOR, -1);
            gate = atomic_load_explicit(&p->gate, memory_order_acquire);
        }
        atomic_exchange_explicit(&p->inside, 1, memory_order_seq_cst);
    } while (atomic_load_explicit(&p->gate, memory_order_seq_cst) != DFR_OPEN);
}

void dfr_deque_unfence(struct dfr_deque *p)
{
    atomic_store_explicit(&p->asked, 0, memory_order_relaxed); /* a thief that finds no fences asks again */
    atomic_exchange_explicit(&p->fenced, 0, memory_order_seq_cst);
    if (atomic_load_explicit(&p->gate, memory_order_seq_cst) != DFR_OPEN)
        dfr_deque_wait(p);
}

static void open_gate(struct dfr_deque *p)
{
    if (atomic_exchange_explicit(&p->gate, DFR_OPEN, memory_order_seq_cst) == DFR_CLOSED_AND_WAITED_FOR)
        dfr_futex_wake(&p->gate, 1);
}

static bool owner_is_outside(struct dfr_deque *p)
{
    for (int i = 0; i < OWNER_LOOKS; i++) {
        if (atomic_load_explicit(&p->inside, memory_order_seq_cst) == 0)
            return true;
        dfr_relax();
    }
    return false;
}

bool dfr_deque_steal(struct dfr_deque *thief, struct dfr_deque *victim, bool fences)
{
    uint32_t gate = DFR_OPEN;
    uint64_t n = 0;

    if (!atomic_compare_exchange_strong_explicit(&victim->gate, &gate, DFR_CLOSED, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return false;
    if (!fences && !atomic_load_explicit(&victim->fenced, memory_order_seq_cst)) {
        atomic_store_explicit(&victim->asked, 1, memory_order_relaxed);
        dfr_deque_barrier(false);
    }
    if (owner_is_outside(victim)) {
        uint64_t low = atomic_load_explicit(&victim->low, memory_order_relaxed);
        n = (dfr_deque_size(victim) + 1) / 2;
        for (uint64_t i = 0; i < n; i++)
            dfr_deque_push(thief, victim->jobs[(low + i) & victim->mask]);
        atomic_store_explicit(&victim->low, low + n, memory_order_relaxed);
    }
    open_gate(victim);
    return n > 0;
}
