/* pieces.c - implements df_pieces() for kernels (engine/call.c): one owner and its helpers, idle CPU workers (engine/worker.c), run the pieces of a job
 * (pieces.h). Why no helper runs a piece, or accesses the offer, after it is over:
 *
 *   helper: (1) helpers++  (2) reads n  (3) takes a piece and runs it, if n > 0  (4) helpers--  (5) reads n
 *   owner:  (a) n = 0      (b) waits until helpers is 0
 *
 * All of them are sequentially consistent. If (a) comes before (2), the helper takes nothing. Else (1) comes before (b), so the
 * owner waits for (4). If (b) saw the helper, (5) comes after (a), and the helper wakes the owner.
 *
 * A kernel may end the thread that runs a piece. (a) and (b), or (4) and (5), happen then as well, so nobody waits for
 * that thread, and its memory is not read when it is gone.
 */
#include "runtime/threads/pieces.h"

#include <pthread.h>

#include "runtime/threads/wake.h"

#define LOOKS 1000                      /* of the owner before it sleeps: about 30 us */

static void leave(void *arg)
{
    struct dfr_pieces *p = arg;
    if (atomic_fetch_sub_explicit(&p->helpers, 1, memory_order_seq_cst) == 1 &&
        atomic_load_explicit(&p->n, memory_order_seq_cst) == 0)
        dfr_futex_wake(&p->helpers, 1);
}

static void end_offer(void *arg)
{
    struct dfr_pieces *p = arg;
    uint32_t helpers;
    atomic_store_explicit(&p->n, 0, memory_order_seq_cst);
    for (int looks = 0; (helpers = atomic_load_explicit(&p->helpers, memory_order_seq_cst)) > 0; looks++)
        if (looks < LOOKS)
            dfr_relax();
        else
            dfr_futex_wait(&p->helpers, helpers, -1);
    atomic_store_explicit(&p->runs, false, memory_order_relaxed);
}

static bool run_one(struct dfr_pieces *p, uint64_t n)
{
    uint64_t i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
    if (i < n)
        p->piece(p->arg, i);
    return i < n;
}

void dfr_pieces_run(struct dfr_pieces *p, uint64_t n, df_piece *piece, void *arg, struct dfr_wake *wake, uint32_t most)
{
    atomic_store_explicit(&p->runs, true, memory_order_relaxed);
    p->piece = piece;
    p->arg = arg;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    pthread_cleanup_push(end_offer, p);
    atomic_store_explicit(&p->n, n, memory_order_seq_cst);
    for (uint64_t i = 1; i < n && i <= most && dfr_wake_one(wake); i++)
        ;
    while (run_one(p, n))
        ;
    pthread_cleanup_pop(1);
}

bool dfr_pieces_help(struct dfr_pieces *p)
{
    bool ran = false;
    if (!dfr_pieces_offered(p))
        return false;
    atomic_fetch_add_explicit(&p->helpers, 1, memory_order_seq_cst);
    pthread_cleanup_push(leave, p);
    uint64_t n = atomic_load_explicit(&p->n, memory_order_seq_cst);
    ran = n > 0 && run_one(p, n);
    pthread_cleanup_pop(1);
    return ran;
}
