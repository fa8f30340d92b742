/* space.h - the tokens of a run: a block for each value of each wave in flight, where it is valid, and its host memory.
 *
 * Words:    *memory* 0 is the host, memory m > 0 the pool of device m. A *slot* holds one wave in flight; the last slot
 *           holds what is fired once. A *block* is the record of one value in one slot; `block` as a number is
 *           slot * n_values + value. A *holder* is a memory whose bit is set in `valid`.
 *
 * States of a block (`valid` says which):
 *     1  empty      valid = 0, no memory
 *     2  filling    valid = 0; the job that makes it has taken memory where it runs
 *     3  valid      valid != 0: every holder has the same bytes. 2 -> 3 by the job's end, before its readers are
 *                   released
 *     4  empty      3 -> 4 by the last reader's end (dfm_space_drop), or by an inout job that takes the storage over
 * Within 3 holders come (a copy is complete) and go (a device evicts); the host's bit never goes before 4. Of several
 * devices that hold a block one alone, its `sender`, copies it to the host: the first that was asked to. Only the
 * thread that owns memory m clears bit m within 3, only where another is set, and in one step with seeing that; it sets
 * it too, but for a copy from a peer, whose thread does. So at that thread: bit m alone means that this is the last
 * valid copy and nobody else can drop the block (whoever else is to read it must have it from here first), or make
 * another copy but from here.
 *
 * Memory:   host memory comes from a heap (heap.h) made for the most that can be live, or is planned: each slot has one
 *           piece, and each value its place in it, taken and given back without doing anything. Values may be *lent*
 *           memory: their tokens lie where somebody else keeps them, each wave's in a place of its own, and are not
 *           touched when they are given back. Device memory is the cache's (cache.h). Nothing allocates after create.
 * Threads:  a block's record is written by the thread that makes it, then by those named above. dfm_space_drop() by the
 *           last reader, once per life.
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
    _Atomic uint32_t valid;             /* bit m: memory m. Set with release; who reads the bytes acquires */
    _Atomic uint32_t readers;           /* that have not ended yet */
    void *host;                         /* host memory; written before bit 0 is set */
};

/* Memory that is not ours for the tokens of a value: wave w has the place of number w % n_tokens. */
struct dfm_lent {
    unsigned char *data;
    uint64_t stride_bytes, n_tokens;    /* n_tokens > 0 */
    bool given;                         /* the tokens are there before the run */
};

static inline void *dfm_lent_at(const struct dfm_lent *lent, int64_t wave)
{
    return lent->data + (uint64_t)wave % lent->n_tokens * lent->stride_bytes;
}

/* Where a waiter wants its block: a device asks a peer to send it straight into memory that it has reserved. */
struct dfm_peer_ask {
    struct dfm_cache *receiver;         /* NULL: on the host */
    void *address;
    bool sent;                          /* the answer; else it must be looked for anew */
};

struct dfm_space {
    uint32_t n_values, n_slots;
    struct dfm_block *blocks;           /* [slot * n_values + value] */
    uint64_t *bytes;                    /* of a value, at least 1 */
    uint32_t *cls;                      /* of a value, in the heap */
    uint8_t *poison;                    /* by value: what host memory that holds nothing is filled with; NULL: not */
    const uint32_t *line;               /* of a value: its place in its slot's piece; NULL: not planned */
    unsigned char *planned;             /* the pieces, one slot's after the other */
    uint64_t slot_bytes;
    const struct dfm_lent *const *lent; /* of a value, NULL: it has none; NULL: no value has */
    int64_t (*wave)(void *arg, uint32_t slot);
    void *wave_arg;
    struct dfm_heap *heap;
    struct dfm_heap_source source;
    uint32_t n_caches;                  /* memories 1 … n_caches */
    struct dfm_cache *caches[DF_MAX_UNITS + 1]; /* by memory; [0] NULL */
    /* A job that needs a block on the host asks its holder (cache.h): waiter w waits for asked[w]. */
    uint32_t n_waiters;
    uint32_t *waiter_next, *asked;
    struct dfm_peer_ask *peer_asks;     /* by waiter */
    _Atomic uint8_t *sender;            /* by block: the memory whose copy goes, or went, to the host; 0: none. NULL: no
                                         * devices */
};

struct dfm_space_config {
    uint32_t n_values, n_slots;         /* the once slot included */
    const uint64_t *bytes;              /* of a value; copied */
    const uint64_t *count;              /* of a value: most buffers of it that are live at once; read during create */
    const uint8_t *poison;              /* of a value; copied; NULL: memory is left as it is */
    /* Places in lines of DFM_LINE bytes that hold in every order that jobs may come in;
     * borrowed until destroy. NULL: a heap. */
    const uint32_t *line;
    uint64_t slot_bytes, once_bytes;    /* planned: of a slot's piece, and of the last slot's */
    /* By value, borrowed until destroy, with the wave that is in a slot while a block there has memory. NULL: nothing
     * is lent. */
    const struct dfm_lent *const *lent;
    int64_t (*wave)(void *arg, uint32_t slot);
    void *wave_arg;
    uint32_t n_waiters;                 /* 0: no devices */
    const struct dfr_device_ops *pinned;/* whose host_alloc gives host memory; NULL: plain memory */
    uint64_t pinned_limit_bytes;        /* plain memory where more would be pinned than this */
};

/* DF_E_MEMORY with a sentence. */
int dfm_space_create(const struct dfm_space_config *config, struct dfm_space **space, struct df_error *error);
void dfm_space_destroy(struct dfm_space *space);

static inline uint32_t dfm_space_value(const struct dfm_space *s, uint32_t block) { return block % s->n_values; }

static inline const struct dfm_lent *dfm_space_lent(const struct dfm_space *s, uint32_t value)
{
    return s->lent ? s->lent[value] : NULL;
}

/* Host memory for the block; NULL only where more live than were declared. Does not set a bit. */
static inline void *dfm_space_host_take(struct dfm_space *s, uint32_t block)
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

static inline uint32_t dfm_block_valid(const struct dfm_block *b)
{
    /* acquires what set the bit: the bytes, and `host` */
    return atomic_load_explicit(&((struct dfm_block *)b)->valid, memory_order_acquire);
}

/* Gives back all memory of the block, which becomes empty. `memory` is the one whose owner is calling (0: a host
 * thread); other devices are told. */
void dfm_space_drop(struct dfm_space *s, uint32_t block, uint32_t memory);

/* The same, but its host memory goes on to block `to` (of the same size), which is not yet valid. Host threads. */
void dfm_space_move_host(struct dfm_space *s, uint32_t block, uint32_t to);

/* Bytes of the host's (but what is lent) and the devices' memory that blocks of waves still have, when a run has ended
 * well. */
uint64_t dfm_space_left_bytes(struct dfm_space *s);

#endif
