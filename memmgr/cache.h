/* cache.h - the cache of one device's memory: tracks which blocks it holds, which are being copied in or out, and which are evicted when memory is needed.
 * The worker thread that owns the GPU calls it.
 *
 * Words:    an *entry* is the piece of the pool that holds a block. A *claim* is all that one job needs of this memory: its inputs, outputs and scratch. To
 *           *reserve* a claim is to get memory for all of it, or for nothing. The entries of a reserved claim are *pinned*: they stay until the claim is
 *           released. A *fetch* copies a block to the host. To *evict* an unpinned entry is to drop it; if it holds the last valid copy, a *write-back* to
 *           the host comes first.
 * Whole:    blocks are moved as a whole. If a token is divided, each part must be a block here, with its own number and bytes in the space, and a claim
 *           must list the parts that its job needs. This layer does not know what a block is a part of.
 *
 * States of an entry:
 *     1  free       in the list of unused entries
 *     2  awaiting   reserved for an input that is not on the host yet (another device is asked); pinned
 *     3  loading    its copy from the host is under way
 *     3a coming     a peer was asked to send it here; pinned
 *     4  filling    reserved for an output; pinned
 *     5  valid      holds the bytes; it is among the victims unless it is pinned or being copied out
 *     6  leaving    valid and not pinned, and a write-back is under way: 5 -> 6 by eviction, 6 -> 1 when the write-back
 *                   is complete. A claim that wants the block waits until then.
 * 1 -> 2, 3, 4 by reserve; 1 -> 3 by prefetch; 2 -> 3 by load; 2 -> 3a by expect; 3a -> 5 when the peer has sent it;
 * 3a -> 2 when the peer cannot send it; 3 -> 5 when the copy is complete; 4 -> 5 by release; 5 -> 1 by drop and by
 * eviction.
 *
 * Dropped:  a block may end while it is loading, leaving or being copied out, because its last readers were skipped and did not wait for the copy. The
 *           entry then belongs to no block, and is freed when the copy is complete.
 *
 * Places:   if places were decided before the run, each planned block has its own. Some blocks have none: those of a node that runs elsewhere than planned,
 *           or is launched before a place is free. They are allocated above all places, and above the area kept for scratch. While only planned blocks come
 *           here, blocks do not compete for memory, nothing is evicted, and addresses repeat in later waves. If a claim must have memory and there is none
 *           above, it takes any free memory, places included, and evicts. A claim that lacks only scratch waits for the scratch of another job.
 *
 * Unified:  the jobs of a unified device (runtime/graph/platform.h) read and write the host's memory. Such a device has no entries. A claim gets host memory for its
 *           outputs, and scratch from the pool, which holds nothing else. Its inputs are used where the host has them, and count as hits, so nothing is
 *           copied, sent, fetched or evicted. The engine marks its outputs as valid in memory 0. Only an input that another device alone has is awaited,
 *           until that device has copied it to the host.
 *
 * Memory:   dfm_cache_create() allocates everything, dfm_cache_destroy() returns it. The device is borrowed.
 * Threads:  the owner thread calls everything but dfm_cache_post_…() and dfm_cache_prefetch_pends(), which any thread
 *           may call. Messages that were posted before a job became ready are acted on before that job's claim is
 *           reserved.
 * Progress: a claim whose page-rounded size is at most the pool's can always be reserved eventually: when nothing is pinned, all entries are evicted, the
 *           empty pool is one piece, and places are not kept free. A prefetch takes free memory only, and none while a claim waits. A block that is being
 *           sent to a peer is pinned; the copy needs only memory that the peer has already reserved, so it ends.
 * Errors:   those of the device are passed on.
 */
#ifndef DFM_CACHE_H
#define DFM_CACHE_H

#include "memmgr/pool.h"
#include "memmgr/space.h"

#define DFM_LINK_CAPACITY 64u           /* copies of one direction that are under way */

/* Those to a device, whose claims have so many pieces at most. Prefetches wait while more than half of them are under
 * way: the others are for what claims load. */
static inline uint32_t dfm_link_capacity(uint32_t max_pieces)
{
    return 2 * max_pieces > DFM_LINK_CAPACITY ? 2 * max_pieces : DFM_LINK_CAPACITY;
}

#define DFM_PAGE 4096u                  /* every entry has pages of its own */

struct dfm_cache_config {
    struct dfm_space *space;
    uint32_t memory;                    /* the number of this memory, 1 or more */
    struct dfr_device *device;
    uint64_t pool_bytes;
    uint64_t segment_bytes;             /* no block crosses a multiple of this; 0: blocks lie anywhere. Then nothing may be planned */
    uint32_t max_pieces;                /* of one claim */
    uint32_t max_claims;                /* that are reserved at the same time */
    bool unified;                       /* the device uses the host's memory */
    /* When a job of this device will next read the block: victims.h. The owner thread calls it when the block's last
     * pin goes, so nobody reads the block then. NULL: next uses are not known, and eviction is LRU. */
    uint64_t (*next_use)(void *arg, uint32_t block);
    /* The planned offset of the block; UINT64_MAX: it has none. NULL: nothing is planned, and a block goes wherever
     * there is room. */
    uint64_t (*place)(void *arg, uint32_t block);
    uint64_t planned_bytes;             /* all places are below this offset */
    uint64_t scratch_bytes;             /* bytes above planned_bytes that are kept for scratch */
    uint64_t scratch_of_job_bytes;      /* the most scratch that one job is planned to need */
    void (*arrived)(void *arg, uint32_t waiter);       /* the fetch that this waiter posted is complete */
    void (*answered)(void *arg, uint32_t memory);      /* wake the owner of that memory: it has a message from this
                                                        * cache; NULL: there are no peers */
    void (*on_host)(void *arg, uint32_t block);        /* the host has it now, by a copy from here; NULL: not called */
    /* The most bytes that are copied to the device as one batch, and from it. The first copy of a batch counts as
     * complete when the last is. 0: each copy is given to the device alone. So they are, too, if `copied` asks for the
     * times of each. */
    uint64_t to_batch_bytes, from_batch_bytes;
    /* A copy is complete; for traces. NULL: not called. */
    void (*copied)(void *arg, enum dfr_copy kind, uint32_t block, uint64_t bytes, double begin_s, double end_s);
    void (*freed)(void *arg, void *address, uint64_t bytes); /* a block's memory was given back; NULL: not called */
    void *arg;
};

int dfm_cache_create(const struct dfm_cache_config *config, struct dfm_cache **cache, struct df_error *error);
void dfm_cache_destroy(struct dfm_cache *cache); /* after the device's drain, since nothing may be in flight */

/* ---- claims ---- */

enum dfm_use { DFM_READ, DFM_WRITE, DFM_TAKE, DFM_CHANGE };

struct dfm_piece {
    enum dfm_use use;
    uint32_t block;                     /* READ: the input; WRITE, TAKE: the output; CHANGE: what the job changes where
                                         * it is */
    uint32_t from;                      /* TAKE: the input whose memory the output takes over */
    uint32_t entry;                     /* set and used by the cache */
    bool awaited;                       /* out: its copy is not issued. Ask its holder if it is not on the host, then
                                         * call dfm_cache_load() */
    bool missed;                        /* out: it was not in this memory */
};

struct dfm_claim {
    uint32_t n;
    struct dfm_piece *pieces;
    uint64_t tmp_bytes;                 /* 0: none */
    uint64_t tmp_offset;                /* out */
};

enum dfm_reserved { DFM_RESERVED, DFM_WAIT, DFM_ERROR };

/* Reserves a claim. DFM_RESERVED: all pieces have memory, and copies of the inputs on the host are issued, except for pieces marked `awaited`. DFM_WAIT:
 * nothing is reserved; try again after dfm_cache_poll() made progress or a claim was released. The owner reserves its claims in one order: a claim that
 * must wait is retried before any other. */
enum dfm_reserved dfm_cache_reserve(struct dfm_cache *cache, struct dfm_claim *claim, struct df_error *error);

/* Reserves a claim for a job that is launched behind others. Uses free memory only, and neither evicts nor copies. Returns DFM_WAIT, with nothing reserved, if
 * that is not enough, or an input is not in this memory. A job in flight may still be filling an input: the launch follows it in the stream. */
enum dfm_reserved dfm_cache_reserve_ahead(struct dfm_cache *cache, struct dfm_claim *claim, struct df_error *error);
/* Assigns the memory that the claim takes over to its outputs now, in place of at its release, so that later claims find them. */
void dfm_cache_take_over(struct dfm_cache *cache, struct dfm_claim *claim);

/* Issues the copy of an awaited piece that is on the host now, unless another claim did. If too many copies are in progress, or a part of its copy waits for
 * pinned memory (staging.h), the piece stays awaited, and the call must be repeated after dfm_cache_poll() made progress. */
int dfm_cache_load(struct dfm_cache *cache, struct dfm_piece *piece, struct df_error *error);

/* For an awaited piece that a peer has: writes the destination address into space->peer_asks[waiter]; the caller then posts a fetch to that peer. Returns
 * false if a peer was asked already. */
bool dfm_cache_expect(struct dfm_cache *cache, const struct dfm_piece *piece, uint32_t waiter);

/* Returns true if a peer was asked for the piece and has not replied yet. */
bool dfm_cache_is_coming(const struct dfm_cache *cache, const struct dfm_piece *piece);

/* Returns true if the block is on its way to this memory: its copy is in progress, a claim awaits it, or a request for it is still unprocessed. */
bool dfm_cache_loads(const struct dfm_cache *cache, uint32_t block);

/* Makes later work on `stream` wait for the copies of the claim, none of whose pieces is awaited. */
int dfm_cache_wait(struct dfm_cache *cache, const struct dfm_claim *claim, uint32_t stream, struct df_error *error);

void *dfm_cache_address(const struct dfm_cache *cache, const struct dfm_piece *piece);
void *dfm_cache_tmp_address(const struct dfm_cache *cache, const struct dfm_claim *claim);

/* Releases the claim of a completed job: its outputs become valid here, and its pins are removed. The caller sets the outputs' bits in the space, and reports
 * changed blocks (dfm_space_changed). */
void dfm_cache_release(struct dfm_cache *cache, struct dfm_claim *claim);

/* ---- the owner's other calls ---- */

/* Processes messages, issues copies and completes them. Sets *progress if anything changed. */
int dfm_cache_poll(struct dfm_cache *cache, bool *progress, struct df_error *error);
bool dfm_cache_busy(const struct dfm_cache *cache); /* copies are in flight */
/* After an error of poll: returns the block whose copy failed; DFM_NONE if the error has another cause. *others: the number of other copies in the same batch,
 * which may be the cause as well. */
uint32_t dfm_cache_culprit(const struct dfm_cache *cache, uint32_t *others);
/* Frees the block's memory here, if it has any, at the end of its life. */
void dfm_cache_drop(struct dfm_cache *cache, uint32_t block);
/* Frees the memory here of a block that has no valid copy and no pending readers, unless a claim still pins it. */
void dfm_cache_forget(struct dfm_cache *cache, uint32_t block);
/* Copies the block to the host without a waiter. */
int dfm_cache_to_host(struct dfm_cache *cache, uint32_t block, struct df_error *error);
/* The same, and then frees its memory here, as if it was evicted. */
int dfm_cache_leave(struct dfm_cache *cache, uint32_t block, struct df_error *error);
void dfm_cache_stats(const struct dfm_cache *cache, struct df_memory_stats *stats);

/* At the end of a successful run: processes all messages, and returns the bytes of waves' blocks that are still here. */
uint64_t dfm_cache_left_bytes(struct dfm_cache *cache);

/* For tests: checks the consistency of all lists and counters. */
bool dfm_cache_check(const struct dfm_cache *cache);

/* ---- messages to the owner, from any thread; the caller wakes the owner after one that has a waiter ---- */

/* Requests that the block is dropped, at the end of its life. */
void dfm_cache_post_free(struct dfm_cache *cache, uint32_t block);
/* Requests a copy of the block space->asked[waiter] to the host, followed by a call of arrived(waiter). If space->peer_asks[waiter] has a receiver, the block
 * is copied to that device instead. */
void dfm_cache_post_fetch(struct dfm_cache *cache, uint32_t waiter);
/* Requests a copy of the block from the host to this memory, if there is room, because a job of this device will read it. */
void dfm_cache_post_prefetch(struct dfm_cache *cache, uint32_t block);
/* Returns true if a posted prefetch of the block is still unprocessed. May be out of date. */
bool dfm_cache_prefetch_pends(const struct dfm_cache *cache, uint32_t block);

#endif
