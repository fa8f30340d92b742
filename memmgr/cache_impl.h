/* cache_impl.h - the private interface of the cache, shared by cache.c (entries, claims, eviction), transfer.c (copies in progress, messages from other
 * threads), link.c (one direction of copies), peer.c (copies between devices) and unified.c (devices without copies). */
#ifndef DFM_CACHE_IMPL_H
#define DFM_CACHE_IMPL_H

#include "memmgr/cache.h"
#include "memmgr/staging.h"
#include "memmgr/victims.h"

enum dfm_state { DFM_FREE, DFM_AWAITING, DFM_LOADING, DFM_COMING, DFM_FILLING, DFM_VALID, DFM_LEAVING };

enum dfm_out { DFM_OUT_NONE, DFM_OUT_QUEUED, DFM_OUT_FLYING };

struct dfm_entry {
    uint64_t offset;                    /* in the pool */
    uint64_t sequence;                  /* LOADING: number of its copy in the link `in`, from 0 */
    void *host;                         /* out FLYING: host memory that it is copied to */
    uint32_t block;
    uint32_t next;                      /* in the list of free entries */
    uint32_t out_next;                  /* in the queue of copies to the host that must be issued */
    uint32_t waiters;                   /* the first that waits for its copy to the host, see waiter_next */
    uint32_t pins;
    uint8_t state, out;
    bool dropped;                       /* its block has ended, and a copy of it is still under way: it is freed when that is complete */
    uint64_t moved_bytes;               /* of the copy in a link: its token may be smaller than its memory */
};

/* One direction of copies. They are complete in their order. Copy number n is at n % capacity in the lists. Copies from
 * completed to issued are with the device; those from issued to queued wait: until all that one call queues is queued, or
 * for the ring of a staged copy, all of whose parts must be given before the next copy is. Copies that are given
 * together have one event, that of the last of them. */
struct dfm_link {
    enum dfr_copy kind;
    uint32_t stream, capacity;
    struct dfr_event **events;
    uint32_t *entries;
    uint64_t *last;                     /* of a copy that was issued: the number of the last that was given with it */
    uint64_t queued, issued, completed;
    uint64_t ended;                     /* copies before this number are known to be complete */
    uint64_t batch_bytes;               /* the most that are given together; 0: each copy is given alone */
    struct dfm_staging *staging;        /* NULL: copies go straight from host memory, or to it, be it pinned or not */
    uint64_t given_bytes;               /* of copy number `issued`: in parts that were given to the stream */
    uint64_t taken_bytes;               /* of copy number `completed`: in parts that were taken back */
    double first_s;                     /* of copy number `completed`: when its first part began; for traces */
};

struct dfm_mailbox {                    /* a stack; the owner takes all of it at once, so there is no ABA problem */
    _Alignas(64) _Atomic uint32_t head;
};

struct dfm_cache {
    struct dfm_cache_config config;
    struct dfm_space *space;
    struct dfr_device *device;
    unsigned char *base;
    uint32_t bit;                       /* 1 << memory */
    uint32_t n_blocks;
    struct dfm_pool *pool;
    struct dfm_entry *entries;
    uint32_t n_entries, free_entry;     /* free_entry: the first in the list of free entries */
    uint32_t *entry_of;                 /* of a block: its entry; DFM_NONE: it has none */
    struct dfm_victims victims;         /* entries that may be evicted: VALID, no pins, out NONE */
    uint32_t n_pinned;                  /* entries with pins */
    uint32_t n_tmp;                     /* claims with scratch reserved; */
    uint64_t scratch_bytes;             /* and what they asked for, in whole pages */
    uint64_t leaving_bytes;
    uint32_t culprit;                   /* the block whose copy failed; DFM_NONE: none */
    uint32_t n_suspects;                /* how many other copies it may have been */
    bool must;                          /* the claim must have room: it takes others' places, and evicts */
    bool by_place;                      /* places are kept; false for a claim that is alone and does not fit so */
    bool waiting;                       /* a claim waits for room, so nothing is prefetched */
    struct dfm_link in, out, peer;
    uint32_t *sending;                  /* of a copy in the link `peer`: its waiter */
    uint32_t send_first, send_last;     /* queue of waiters whose copy to a peer must be issued; entries are pinned */
    uint32_t out_first, out_last;       /* queue of entries whose copy to the host must be issued */
    struct dfm_mailbox frees, fetches, prefetches, answers;
    uint32_t *free_next, *prefetch_next;
    _Atomic uint8_t *prefetch_posted;   /* of a block: 1, it is in the mailbox `prefetches`, or waits in `later` */
    uint32_t *later;                    /* a ring of n_blocks + 1: prefetches that wait for the link, oldest first */
    uint32_t later_first, n_later;
    uint8_t *is_later;                  /* of a block: 1, it waits there; 0: its place there counts no more */
    struct df_memory_stats stats;
};

/* The block that the piece is before its job runs. */
static inline uint32_t dfm_present_as(const struct dfm_piece *piece)
{
    return piece->use == DFM_TAKE ? piece->from : piece->block;
}

/* Counts a claim's scratch, which was reserved, and which was given back. */
static inline void dfm_scratch_count(struct dfm_cache *c, const struct dfm_claim *claim)
{
    c->n_tmp++;
    c->scratch_bytes += dfm_pool_rounded(c->pool, claim->tmp_bytes);
    if (c->scratch_bytes > c->stats.scratch_peak_bytes)
        c->stats.scratch_peak_bytes = c->scratch_bytes;
}

static inline void dfm_scratch_free(struct dfm_cache *c, const struct dfm_claim *claim)
{
    dfm_pool_free(c->pool, claim->tmp_offset);
    c->n_tmp--;
    c->scratch_bytes -= dfm_pool_rounded(c->pool, claim->tmp_bytes);
}

static inline uint64_t dfm_entry_bytes(const struct dfm_cache *c, const struct dfm_entry *e)
{
    return c->space->bytes[dfm_space_value(c->space, e->block)];
}

/* The event of copy number n, which was issued. */
static inline struct dfr_event *dfm_link_event(const struct dfm_link *link, uint64_t n)
{
    return link->events[link->last[n % link->capacity] % link->capacity];
}

static inline bool dfm_link_idle(const struct dfm_link *link) { return link->queued == link->completed; }
static inline uint64_t dfm_link_room(const struct dfm_link *link)
{
    return link->capacity - (link->queued - link->completed);
}

/* cache.c */
/* Returns a new entry with memory of the pool, AWAITING; NULL if no memory is free. */
struct dfm_entry *dfm_entry_new(struct dfm_cache *c, uint32_t block);
void dfm_entry_free(struct dfm_cache *c, struct dfm_entry *e);
void dfm_idle(struct dfm_cache *c, struct dfm_entry *e); /* nobody uses it from now on: it may be evicted */
void dfm_busy(struct dfm_cache *c, struct dfm_entry *e); /* from now on it must not be evicted */
void dfm_evicted(struct dfm_cache *c, struct dfm_entry *e);

void dfm_pin(struct dfm_cache *c, struct dfm_entry *e);
void dfm_unpin(struct dfm_cache *c, struct dfm_entry *e);

/* unified.c: what the functions of cache.h do for a unified device. `ahead`: as dfm_cache_reserve_ahead() */
enum dfm_reserved dfm_unified_reserve(struct dfm_cache *c, struct dfm_claim *claim, bool ahead, struct df_error *error);
void dfm_unified_take_over(struct dfm_cache *c, const struct dfm_claim *claim);
void dfm_unified_load(struct dfm_cache *c, struct dfm_piece *piece);
void *dfm_unified_address(const struct dfm_cache *c, const struct dfm_piece *piece);
void dfm_unified_release(struct dfm_cache *c, const struct dfm_claim *claim);

/* peer.c */
int dfm_peer_create(struct dfm_cache *c, struct df_error *error);
void dfm_peer_send(struct dfm_cache *c, uint32_t waiter);           /* acts on a fetch for a peer */
int dfm_peer_issue(struct dfm_cache *c, struct df_error *error);    /* issues as many copies to peers as fit */
void dfm_peer_sent(struct dfm_cache *c, struct dfm_entry *e);       /* the oldest copy in `peer` is complete */
void dfm_peer_answer(struct dfm_cache *c, uint32_t waiter, bool sent);
void dfm_peer_answers(struct dfm_cache *c, uint32_t waiter);        /* takes a list of answered waiters */

/* Returns the entry that holds the block's bytes, or will hold them soon; NULL if there is none, or it is only reserved (AWAITING). */
static inline struct dfm_entry *dfm_entry_held(const struct dfm_cache *c, uint32_t block)
{
    struct dfm_entry *e = c->entry_of[block] == DFM_NONE ? NULL : &c->entries[c->entry_of[block]];
    return e && e->state != DFM_AWAITING ? e : NULL;
}

/* link.c */
int dfm_link_create(struct dfm_cache *c, struct dfm_link *link, enum dfr_copy kind, uint32_t stream, uint32_t capacity,
                    struct df_error *error);
/* Lets copies of unpinned memory pass through pinned memory from now on, if the system provides some. */
int dfm_link_stage(struct dfm_cache *c, struct dfm_link *link, struct df_error *error);
void dfm_link_destroy(struct dfm_cache *c, struct dfm_link *link);
bool dfm_link_stages(const struct dfm_cache *c, const struct dfm_link *link, const struct dfm_entry *e);
/* Issues queued copies to the stream, in order, as far as pinned memory permits. */
int dfm_link_issue(struct dfm_cache *c, struct dfm_link *link, struct df_error *error);
/* Sets *done if the oldest copy is complete, and *progress if more of it is than before. */
int dfm_link_complete(struct dfm_cache *c, struct dfm_link *link, bool *done, bool *progress, struct df_error *error);

/* transfer.c */
void dfm_mail_post(struct dfm_mailbox *box, uint32_t *next, uint32_t item);
uint32_t dfm_mail_take(struct dfm_mailbox *box);
void dfm_entry_valid(struct dfm_cache *c, struct dfm_entry *e);     /* its bytes have arrived */
int dfm_transfer_create(struct dfm_cache *c, struct df_error *error);
void dfm_transfer_destroy(struct dfm_cache *c);
void dfm_load_queue(struct dfm_cache *c, struct dfm_entry *e); /* AWAITING → LOADING; dfm_link_issue() must follow */
/* Returns true if the entry's copy still waits in the link, or was issued only in part, so that no stream can wait for it. */
static inline bool dfm_load_waits(const struct dfm_cache *c, const struct dfm_entry *e)
{
    return e->state == DFM_LOADING && e->sequence >= c->in.issued;
}
uint32_t dfm_out_sender(struct dfm_cache *c, uint32_t block);
void dfm_out_queue(struct dfm_cache *c, struct dfm_entry *e);   /* for a block whose sender is this memory */
int dfm_out_issue(struct dfm_cache *c, struct df_error *error); /* issues as many queued copies as fit */
int dfm_messages(struct dfm_cache *c, bool *progress, struct df_error *error);
void dfm_prefetch_cancel(struct dfm_cache *c, uint32_t block); /* a claim loads it, or its life has ended */

#endif
