/* space.h - the tokens of a run: a block for each value of each wave in flight, with the memories in which it is valid and its host memory.
 *
 * memmgr/ manages memory for a run: host memory (heap.h), the residency of tokens (space.h), a device's memory (pool.h, cache.h), and offsets planned before a
 * run (layout.h). It knows the device interface (runtime/device/) and runtime/base/, but no graphs or jobs.
 *
 * Words:    *memory* 0 is the host, memory m > 0 the pool of device m. A *slot* holds one wave in flight; the last slot
 *           holds what is made once a run. A *block* is the record of one value in one slot; `block` as a number is
 *           slot * n_values + value. A *holder* is a memory whose bit is set in `valid`. A value has *lent* memory if
 *           its tokens lie in memory that the caller lends for the run. A *range* is a value whose host
 *           memory is a part of another one's, its *whole*; on devices it has memory of its own. It is a *view* if the
 *           whole is made first, and a *piece* if the whole is made of it.
 *
 * States of a block (`valid` says which):
 *     1  empty      valid = 0, no memory.
 *     2  filling    valid = 0; the job that makes it has taken memory on the unit that it runs on.
 *     3  valid      valid != 0: every holder has the same bytes. 2 -> 3 by the job's end, before its readers are
 *                   released.
 *     3  valid      3 -> 3 by a job that changes the bytes where they are (dfm_space_changed): that memory is the only
 *                   holder then.
 *     4  empty      3 -> 4 by the last reader's end (dfm_space_drop), or by an inout job that takes the storage over.
 *
 * In state 3, a memory becomes a holder when a copy to it is complete, and a device stops being one when it evicts. The
 * host's bit is cleared only by state 4, or when the block is changed elsewhere. If several devices hold a block, only one of them, its `sender`, copies
 * it to the host: the first that was asked to.
 *
 * Who changes bit m (m > 0) in state 3:
 *     cleared   only by the thread that owns memory m; only if another bit is set; and in one atomic step with the test
 *               that another is set
 *     set       by the thread that owns memory m; after a copy from a peer, by the thread that owns the peer's memory
 * So if the owner of memory m sees that only bit m is set, this is the last valid copy. No other thread can drop the block
 * then, since every other reader must get it from here first. And every further copy is made from here.
 *
 * Memory:   host memory comes from a heap (heap.h) that is sized for the maximum that can be live. Or it is planned: each slot has one piece of memory and
 *           each value an offset in it, so that taking and returning do nothing. Tokens in lent memory have a place for each wave, and are not touched when
 *           they are returned. The cache manages device memory (cache.h). Nothing allocates after create.
 * Threads:  the thread that makes a block writes its record; after that the threads named above do. The last reader
 *           calls dfm_space_drop(), once per life of the block.
 */
#ifndef DFM_SPACE_H
#define DFM_SPACE_H

#include <stdatomic.h>
#include <string.h>

#include "memmgr/heap.h"
#include "runtime/device/device.h"

#define DFM_NONE UINT32_MAX
#define DFM_LINE 64u
#define DFM_HOST 1u                     /* the host's bit in `valid` */

struct dfm_cache;

struct dfm_block {
    _Atomic uint32_t valid;             /* bit m: memory m holds it. Set with release; who reads the bytes acquires */
    _Atomic uint32_t readers;           /* number of readers that have not ended yet */
    void *host;                         /* host memory; written before bit 0 is set */
};

/* The lent memory of a value: wave w has the place with number w % n_tokens. */
struct dfm_lent {
    unsigned char *data;
    uint64_t stride_bytes, n_tokens;    /* n_tokens > 0 */
    bool given;                         /* the tokens are there before the run */
    bool pinned;                        /* a device copies it by itself; set before caches are made, and when it moves */
    bool moves;                         /* the memory may be another one later, which may not be pinned */
};

static inline void *dfm_lent_at(const struct dfm_lent *lent, int64_t wave)
{
    return lent->data + (uint64_t)wave % lent->n_tokens * lent->stride_bytes;
}

struct dfm_range {
    uint32_t whole;                     /* a value, itself no range; DFM_NONE: this one is no range */
    bool view;
    uint64_t offset;                    /* bytes from the beginning of the whole */
    uint32_t n_pieces;                  /* of a whole: so many pieces it has */
    bool viewed;                        /* there are views of it */
};

/* The memory of a whole is taken when the first of its pieces gets host memory. It is given back when the whole and all
 * pieces have been dropped. */
struct dfm_whole {
    _Atomic uint64_t memory;            /* its address; 0: not taken; 1: somebody is about to take it */
    _Atomic uint32_t dropped;           /* of the whole and its pieces, in this life */
};

/* Where a waiter wants its block. A device asks a peer to send it directly into memory that the device has reserved. */
struct dfm_peer_ask {
    struct dfm_cache *receiver;         /* NULL: the waiter wants it on the host */
    void *address;                      /* in the receiver's memory */
    bool sent;                          /* the answer; false: the receiver must look again where the block is */
};

struct dfm_space {
    uint32_t n_values, n_slots;
    struct dfm_block *blocks;           /* [slot * n_values + value] */
    uint64_t *bytes;                    /* of a value, at least 1 */
    uint32_t *cls;                      /* of a value: its size class in the heap */
    uint8_t *poison;                    /* of a value: unused host memory is filled with this byte; NULL: it is not */
    const uint32_t *line;               /* of a value: its place in its slot's piece, in lines; NULL: not planned */
    unsigned char *planned;             /* the pieces, one slot's after the other */
    uint64_t slot_bytes;
    const struct dfm_lent *const *lent; /* of a value, or NULL: it has none; NULL: no value has */
    bool *first;                        /* of a value: its block in the last slot is as dfm_space_first() left it */
    int64_t (*wave)(void *arg, uint32_t slot); /* the wave that is in the slot */
    void *wave_arg;
    uint64_t (*token_bytes)(void *arg, uint32_t value, uint32_t slot); /* as in the configuration */
    void *token_arg;
    const struct dfm_range *ranges;     /* of a value; NULL: there are none */
    struct dfm_whole *wholes;           /* of a block; NULL: there are no ranges */
    struct dfm_heap *heap;
    struct dfm_heap_source source;
    bool staged;                        /* as in the configuration */
    bool pinned;                        /* the heap's memory is */
    uint32_t n_caches;                  /* memories 1 … n_caches */
    struct dfm_cache *caches[DF_MAX_UNITS + 1]; /* by memory; caches[0] is NULL */
    /* A *waiter* is a job that needs a block elsewhere and asks its holder (cache.h). Waiter w waits for asked[w]. */
    uint32_t n_waiters;
    uint32_t *waiter_next, *asked;      /* of a waiter: the next in the list that it is in; the block */
    struct dfm_peer_ask *peer_asks;     /* of a waiter */
    _Atomic uint8_t *sender;            /* of a block: the memory whose copy goes, or went, to the host; 0: none. NULL:
                                         * there are no devices */
};

struct dfm_space_config {
    uint32_t n_values, n_slots;         /* n_slots counts the slot of what is made once, too */
    const uint64_t *bytes;              /* of a value; copied */
    const uint64_t *count;              /* of a value: most buffers of it that are live at once; read during create */
    const uint8_t *poison;              /* of a value; copied; NULL: memory is left as it is */
    /* Planned places in lines of DFM_LINE bytes, which hold in every order in which jobs may run. Borrowed until
     * destroy. NULL: there is a heap. */
    const uint32_t *line;
    uint64_t slot_bytes, once_bytes;    /* planned: the size of a slot's piece, and of the last slot's */
    /* By value, borrowed until destroy. wave() gives the wave that is in a slot; it is asked when a block there gets
     * memory. NULL: nothing is lent. */
    const struct dfm_lent *const *lent;
    int64_t (*wave)(void *arg, uint32_t slot);
    void *wave_arg;
    /* The bytes of a valid token, if they may be fewer than `bytes`: so many are copied. NULL: all tokens have those. */
    uint64_t (*token_bytes)(void *arg, uint32_t value, uint32_t slot);
    void *token_arg;
    const struct dfm_range *ranges;     /* by value, borrowed until destroy; NULL: there are none */
    uint32_t n_waiters;                 /* 0: there are no devices */
    const struct dfr_device_ops *pinned;/* its host_alloc gives host memory; NULL: plain memory */
    uint64_t pinned_limit_bytes;        /* if more than this would be pinned, plain memory is taken */
    bool staged;                        /* copies of plain memory go through pinned memory: staging.h */
};

/* Fails with DF_E_MEMORY. */
int dfm_space_create(const struct dfm_space_config *config, struct dfm_space **space, struct df_error *error);
void dfm_space_destroy(struct dfm_space *space);

static inline uint32_t dfm_space_value(const struct dfm_space *s, uint32_t block) { return block % s->n_values; }

/* The bytes of the valid block, at least 1. */
static inline uint64_t dfm_space_token_bytes(const struct dfm_space *s, uint32_t block)
{
    uint32_t value = dfm_space_value(s, block);
    uint64_t bytes = s->token_bytes ? s->token_bytes(s->token_arg, value, block / s->n_values) : s->bytes[value];
    return bytes > 0 ? bytes : 1;
}

static inline const struct dfm_lent *dfm_space_lent(const struct dfm_space *s, uint32_t value)
{
    return s->lent ? s->lent[value] : NULL;
}

/* Returns the value in whose host memory this one lies: itself unless it is a range. */
static inline uint32_t dfm_space_root(const struct dfm_space *s, uint32_t value)
{
    return s->ranges && s->ranges[value].whole != DFM_NONE ? s->ranges[value].whole : value;
}

static inline bool dfm_space_is_viewed(const struct dfm_space *s, uint32_t value)
{
    return s->ranges && s->ranges[value].viewed;
}

/* Returns true if the value's host memory is not pinned, so that copies to and from devices pass through pinned memory. */
static inline bool dfm_space_staged(const struct dfm_space *s, uint32_t value)
{
    const struct dfm_lent *lent = dfm_space_lent(s, dfm_space_root(s, value));
    return s->staged && !(lent ? lent->pinned : s->pinned);
}
bool dfm_space_stages(const struct dfm_space *s); /* copies of some value do */

/* Host memory of a block of its own. */
static inline void *dfm_space_own_take(struct dfm_space *s, uint32_t block)
{
    uint32_t value = dfm_space_value(s, block), slot = block / s->n_values;
    const struct dfm_lent *lent = dfm_space_lent(s, value);
    void *memory = lent      ? dfm_lent_at(lent, s->wave(s->wave_arg, slot))
                   : s->line ? s->planned + s->slot_bytes * slot + (uint64_t)s->line[value] * DFM_LINE
                             : dfm_heap_alloc(s->heap, s->cls[value]);
    if (s->poison && memory && !(lent && lent->given))
        memset(memory, s->poison[value], s->bytes[value]);
    return memory;
}
static inline void dfm_space_host_give(struct dfm_space *s, uint32_t block, void *memory)
{
    uint32_t value = dfm_space_value(s, block);
    if (dfm_space_lent(s, value))
        return;
    if (s->poison)
        memset(memory, s->poison[value], s->bytes[value]);
    if (!s->line)
        dfm_heap_free(s->heap, s->cls[value], memory);
}

/* The same for a range and for a whole of pieces. */
void *dfm_space_range_take(struct dfm_space *s, uint32_t block);
/* Reports that such a block has been dropped, whether it had host memory or not. */
void dfm_space_range_drop(struct dfm_space *s, uint32_t block);

static inline bool dfm_space_shares(const struct dfm_space *s, uint32_t block)
{
    const struct dfm_range *range = s->ranges ? &s->ranges[dfm_space_value(s, block)] : NULL;
    return range && (range->whole != DFM_NONE || range->n_pieces);
}

/* Takes host memory for the block; sets no bit. Returns NULL only if more blocks are live than were declared. */
static inline void *dfm_space_host_take(struct dfm_space *s, uint32_t block)
{
    return dfm_space_shares(s, block) ? dfm_space_range_take(s, block) : dfm_space_own_take(s, block);
}

static inline uint32_t dfm_block_valid(const struct dfm_block *b)
{
    /* acquires what the thread wrote that set the bit: the bytes, and `host` */
    return atomic_load_explicit(&((struct dfm_block *)b)->valid, memory_order_acquire);
}

/* Frees all memory of the block, which becomes empty. `memory` is the memory whose owner thread calls (0: a host thread); other devices receive a message. */
void dfm_space_drop(struct dfm_space *s, uint32_t block, uint32_t memory);

/* Declares that this block of the last slot is valid on the host only, and consists of one repeated page. Until a job changes it (dfm_space_changed), devices
 * copy its first page. The memory was taken before. */
void dfm_space_first(struct dfm_space *s, uint32_t block);

static inline bool dfm_space_is_first(const struct dfm_space *s, uint32_t block)
{
    return block / s->n_values == s->n_slots - 1 && s->first[dfm_space_value(s, block)];
}

/* Reports that a job has changed a valid block in `memory`; copies in other memories become invalid. The block must not be copied or read concurrently. */
void dfm_space_changed(struct dfm_space *s, uint32_t block, uint32_t memory);

/* As dfm_space_drop(), but transfers the host memory to block `to` of the same size, which is not valid yet. For host threads. */
void dfm_space_move_host(struct dfm_space *s, uint32_t block, uint32_t to);

/* At the end of a successful run: the bytes that blocks of waves still occupy, on the host (without lent memory) and on devices. */
uint64_t dfm_space_left_bytes(struct dfm_space *s);

#endif
