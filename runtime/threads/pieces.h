/* pieces.h - a job whose work is divided into pieces, which idle workers may run too (df_pieces() of df.h). A kernel's worker owns it
 * through engine/call.c; idle CPU workers help (engine/worker.c).
 *
 * Words:    The *owner* is the thread that runs the job. A *helper* is another thread. The pieces are *on offer* from the
 *           owner's call of dfr_pieces_run() until all of them have been taken.
 * Memory:   a zeroed struct dfr_pieces has nothing on offer. It outlives all owners and helpers.
 * Threads:  One owner at a time; any number of helpers.
 * Progress: The owner waits only for pieces that helpers are running. It spins briefly and then sleeps.
 * Order:    writes of the owner before the call are visible in each piece, and writes of the pieces are visible to the owner after it.
 */
#ifndef DFR_PIECES_H
#define DFR_PIECES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/df.h"

struct dfr_wake;

struct dfr_pieces {
    _Alignas(64) _Atomic uint64_t n;    /* pieces on offer; 0: none */
    _Atomic uint64_t next;              /* the first one that nobody has taken, or more than n */
    _Atomic uint32_t helpers;           /* threads that may be in a piece; a futex word */
    _Atomic bool runs;                  /* the owner is in dfr_pieces_run() */
    df_piece *piece;
    void *arg;
};

/* Runs n pieces and returns when all have ended. At most `most` sleepers of `wake` are woken to help. */
void dfr_pieces_run(struct dfr_pieces *pieces, uint64_t n, df_piece *piece, void *arg, struct dfr_wake *wake,
                    uint32_t most);

/* Runs one piece if one is on offer, and then returns true. */
bool dfr_pieces_help(struct dfr_pieces *pieces);

/* Returns true while the owner is in dfr_pieces_run(), hence always in a piece, on any thread. */
static inline bool dfr_pieces_runs(const struct dfr_pieces *pieces)
{
    return atomic_load_explicit(&((struct dfr_pieces *)pieces)->runs, memory_order_relaxed);
}

/* Returns true if a piece has not been taken yet. May be out of date. */
static inline bool dfr_pieces_offered(const struct dfr_pieces *pieces)
{
    struct dfr_pieces *p = (struct dfr_pieces *)pieces;
    uint64_t n = atomic_load_explicit(&p->n, memory_order_seq_cst);
    return n > 0 && atomic_load_explicit(&p->next, memory_order_relaxed) < n;
}

#endif
