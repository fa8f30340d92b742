/* cache.h - one device's memory: which blocks are in it, what is on its way in or out, what goes when room is needed.
 *
 * Words:    an *entry* is the piece of the pool that holds a block. A *claim* is all that one job needs of this memory:
 *           its inputs, its outputs, its scratch. To *reserve* a claim is to have memory for all of it, all or nothing;
 *           the entries of a reserved claim are *pinned*: they stay until it is released. A *fetch* copies a block to
 *           the host; to *evict* is to drop an entry that nobody pins, with a *write-back* to the host first where this
 *           is the last valid copy.
 * Whole:    blocks come and go whole. A token that is divided is to be several blocks here, each part with a number and
 *           bytes of its own in the space, and a claim lists those parts that its job needs: nothing in this layer asks
 *           what a block is a part of.
 *
 * States of an entry:
 *     1  free       in the list of unused entries
 *     2  awaiting   reserved for an input that is not on the host yet (another device is asked); pinned
 *     3  loading    its copy from the host is under way
 *     3a coming     a peer was asked to send it here; pinned
 *     4  filling    reserved for an output; pinned
 *     5  valid      holds the bytes; in one of the victims unless it is pinned or being copied out
 *     6  leaving    valid, unpinned, a write-back is under way: 5 -> 6 by eviction, 6 -> 1 when it is complete. A claim
 *                   that wants it waits until then: so no block is dropped while it is being written back
 * 1 -> 2, 3, 4 by reserve; 1 -> 3 by prefetch; 2 -> 3 by load; 2 -> 3a by expect; 3a -> 5 when the peer has sent it, or
 * 3a -> 2 when that cannot send it; 3 -> 5 when the copy is complete; 4 -> 5 by complete;
 * 5 -> 1 by drop and by eviction.
 *
 * Places:   where they were decided before the run, each block has its own, and what has none (a node that runs
 *           elsewhere than planned, one that is launched before a place is free) goes above them all, and above what is
 *           kept for scratch. So while only what was planned comes here nothing is in the way of anything, nothing is
 *           evicted, and addresses come again with the waves. Where a claim must have room and there is none above, it
 *           takes what is free, places or not, and evicts; a claim that lacks nothing but scratch waits for that of
 *           another job.
 *
 * Memory:   dfm_cache_create() allocates everything, dfm_cache_destroy() returns it. The device is borrowed.
 * Threads:  an owner thread calls everything but post_…, which anyone may call. Messages posted before a job became
 *           ready are acted on before that job's claim is reserved.
 * Progress: a claim whose page-rounded size is at most the pool's can always be reserved in the end: when nobody pins
 *           anything, everything else goes, and an empty pool is one piece, whose places are then nobody's. A prefetch
 *           takes free room only, and none while a claim waits. What is being sent to a peer is pinned; that needs
 *           nothing of the peer but memory which it has reserved, so it ends.
 * Errors:   the device's, passed on.
 */
#ifndef DFM_CACHE_H
#define DFM_CACHE_H

#include "memmgr/pool.h"
#include "memmgr/space.h"

#define DFM_PAGE 4096u                  /* every entry has pages of its own */

struct dfm_cache_config {
    struct dfm_space *space;
    uint32_t memory;                    /* 1 … */
    struct dfr_device *device;
    uint64_t pool_bytes;
    uint32_t max_pieces;                /* of one claim */
    uint32_t max_claims;                /* reserved at once */
    /* When a job of this device will next read the block, which nobody reads now: victims.h. Asked when its pins go, of
     * the owner. NULL: nobody knows, and eviction is LRU. */
    uint64_t (*next_use)(void *arg, uint32_t block);
    /* Where the block is to lie, UINT64_MAX: nowhere. NULL: nothing is planned, and a block
     * goes to where there is room. */
    uint64_t (*place)(void *arg, uint32_t block);
    uint64_t planned_bytes;             /* places end here */
    uint64_t scratch_bytes;             /* above that, for scratch alone */
    uint64_t scratch_of_job_bytes;      /* the most that one job is planned to need of it */
    void (*arrived)(void *arg, uint32_t waiter);       /* a fetch that this waiter posted is complete */
    void (*answered)(void *arg, uint32_t memory);      /* its owner has a message from us: wake it; NULL
                                                        * without peers */
    void (*copied)(void *arg, enum dfr_copy kind, uint32_t block, uint64_t bytes, double begin_s, double end_s);
    void (*freed)(void *arg, void *address, uint64_t bytes); /* a block's memory was given back; NULL: nobody asks */
    void *arg;
};

int dfm_cache_create(const struct dfm_cache_config *config, struct dfm_cache **cache, struct df_error *error);
void dfm_cache_destroy(struct dfm_cache *cache); /* nothing may be in flight: after the device's drain */

/* ---- claims ---- */

enum dfm_use { DFM_READ, DFM_WRITE, DFM_TAKE };

struct dfm_piece {
    enum dfm_use use;
    uint32_t block;                     /* WRITE, TAKE: of the output */
    uint32_t from;                      /* TAKE: of the input whose memory it takes over */
    uint32_t entry;                     /* the cache's */
    bool awaited;                       /* out: not on the host: ask its holder, then dfm_cache_load() */
    bool missed;                        /* out: it was not here */
};

struct dfm_claim {
    uint32_t n;
    struct dfm_piece *pieces;
    uint64_t tmp_bytes;                 /* 0: none */
    uint64_t tmp_offset;                /* out */
};

enum dfm_reserved { DFM_RESERVED, DFM_WAIT, DFM_ERROR };

/* DFM_RESERVED: all pieces have memory, copies of what the host has are issued. DFM_WAIT: try again after
 * dfm_cache_poll() made progress or a claim was released; nothing is held meanwhile. Owners reserve in one order: the
 * claim that waits is tried again before any other. */
enum dfm_reserved dfm_cache_reserve(struct dfm_cache *cache, struct dfm_claim *claim, struct df_error *error);

/* The same with what room is free, and nothing to be copied: DFM_WAIT (nothing is held) where that is not enough.
 * Inputs may still be being filled: a launch behind the one that fills them reads them in stream order. */
enum dfm_reserved dfm_cache_reserve_ahead(struct dfm_cache *cache, struct dfm_claim *claim, struct df_error *error);
/* What the claim takes over is its outputs' from now on, not only from its release: so a
 * claim that follows finds it. */
void dfm_cache_take_over(struct dfm_cache *cache, struct dfm_claim *claim);

/* The piece that was awaited is on the host now: issues its copy, unless another claim did. Where so many copies are
 * under way that it must be tried again, it stays awaited. */
int dfm_cache_load(struct dfm_cache *cache, struct dfm_piece *piece, struct df_error *error);

/* The piece is awaited, and a peer that has it was not asked yet: where to is set in space->peer_asks[waiter], for a
 * fetch to be posted to that peer. false: it is coming already. */
bool dfm_cache_expect(struct dfm_cache *cache, const struct dfm_piece *piece, uint32_t waiter);

bool dfm_cache_is_coming(const struct dfm_cache *cache, const struct dfm_piece *piece);

/* Makes what follows on `stream` wait for the claim's copies. */
int dfm_cache_wait(struct dfm_cache *cache, const struct dfm_claim *claim, uint32_t stream, struct df_error *error);

void *dfm_cache_address(const struct dfm_cache *cache, const struct dfm_piece *piece);
void *dfm_cache_tmp_address(const struct dfm_cache *cache, const struct dfm_claim *claim);

/* The job is complete: outputs are valid (their bit is the caller's to set), pins go. */
void dfm_cache_release(struct dfm_cache *cache, struct dfm_claim *claim);

/* ---- the owner's other calls ---- */

/* Acts on messages, starts and completes copies. *progress: something changed. */
int dfm_cache_poll(struct dfm_cache *cache, bool *progress, struct df_error *error);
bool dfm_cache_busy(const struct dfm_cache *cache); /* copies are in flight */
/* After an error of poll: the block whose copy could not be made, or DFM_NONE where it was no block's. */
uint32_t dfm_cache_culprit(const struct dfm_cache *cache);
void dfm_cache_drop(struct dfm_cache *cache, uint32_t block);
/* A fetch that nobody waits for. */
int dfm_cache_to_host(struct dfm_cache *cache, uint32_t block, struct df_error *error);
void dfm_cache_stats(const struct dfm_cache *cache, struct df_memory_stats *stats);

/* Bytes of waves' blocks that are still here at the end of a run that succeeded; acts on what was posted. */
uint64_t dfm_cache_left_bytes(struct dfm_cache *cache);

/* Every list and counter against every other, for tests. */
bool dfm_cache_check(const struct dfm_cache *cache);

/* ---- messages, from any thread; the poster wakes the owner ---- */

void dfm_cache_post_free(struct dfm_cache *cache, uint32_t block);
/* Bring space->asked[waiter] to the host, then call arrived(waiter); or to where space->peer_asks[waiter] says. */
void dfm_cache_post_fetch(struct dfm_cache *cache, uint32_t waiter);
/* Bring the block, which is on the host, to this memory if there is room; a job of this device will read it. */
void dfm_cache_post_prefetch(struct dfm_cache *cache, uint32_t block);
/* Was one posted that the owner has not yet looked at? A glance, from any thread. */
bool dfm_cache_prefetch_pends(const struct dfm_cache *cache, uint32_t block);

#endif
