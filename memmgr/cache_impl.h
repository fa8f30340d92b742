/* cache_impl.h - the inside of the cache, shared by cache.c (entries, claims, eviction) and transfer.c (copies under
 * way, messages from other threads). Private to memmgr.
 */
#ifndef DFM_CACHE_IMPL_H
#define DFM_CACHE_IMPL_H

#include "memmgr/cache.h"
#include "memmgr/victims.h"

enum dfm_state { DFM_FREE, DFM_AWAITING, DFM_LOADING, DFM_COMING, DFM_FILLING, DFM_VALID, DFM_LEAVING };

enum dfm_out { DFM_OUT_NONE, DFM_OUT_QUEUED, DFM_OUT_FLYING };

struct dfm_entry {
    uint64_t offset;                    /* in the pool */
    uint64_t sequence;                  /* LOADING: number of its copy, from 0 */
    void *host;                         /* out FLYING: where to */
    uint32_t block;
    uint32_t next;                      /* list of free entries */
    uint32_t out_next;                  /* queue of copies to the host that are to be issued */
    uint32_t waiters;                   /* for its copy to the host, linked by space->waiter_next */
    uint32_t pins;
    uint8_t state, out;
};

/* One direction: copies in order, an event after each. Copy number n has event n % capacity. */
struct dfm_link {
    enum dfr_copy kind;
    uint32_t stream, capacity;
    struct dfr_event **events;
    uint32_t *entries;
    uint64_t issued, completed;
};

struct dfm_mailbox {                    /* a stack that is taken whole: no ABA */
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
    uint32_t n_entries, free_entry;     /* head of the free ones */
    uint32_t *entry_of;                 /* block → entry, DFM_NONE */
    struct dfm_victims victims;         /* entries that may go: VALID, no pins, out NONE */
    uint32_t n_pinned;                  /* entries with pins */
    uint32_t n_tmp;                     /* claims with scratch reserved */
    uint64_t leaving_bytes;
    uint32_t culprit;                   /* block whose copy failed, DFM_NONE */
    bool must;                          /* a claim that must have room takes others' places, and evicts */
    bool by_place;                      /* places count; not for a claim that is alone and does not fit between them */
    bool waiting;                       /* a claim waits for room: nothing is fetched ahead */
    struct dfm_link in, out, peer;
    uint32_t *sending;                  /* by copy in `peer`: its waiter */
    uint32_t send_first, send_last;     /* waiters whose copy to a peer is to be issued; their entries are pinned */
    uint32_t out_first, out_last;       /* entries whose copy to the host is to be issued */
    struct dfm_mailbox frees, fetches, prefetches, answers;
    uint32_t *free_next, *prefetch_next;
    _Atomic uint8_t *prefetch_posted;   /* block: is in the prefetch mailbox */
    struct df_memory_stats stats;
};

static inline uint64_t dfm_entry_bytes(const struct dfm_cache *c, const struct dfm_entry *e)
{
    return c->space->bytes[dfm_space_value(c->space, e->block)];
}

static inline bool dfm_link_idle(const struct dfm_link *link) { return link->issued == link->completed; }
static inline uint64_t dfm_link_room(const struct dfm_link *link)
{
    return link->capacity - (link->issued - link->completed);
}

/* cache.c */
/* With pool memory, AWAITING; NULL: no free room. */
struct dfm_entry *dfm_entry_new(struct dfm_cache *c, uint32_t block);
void dfm_entry_free(struct dfm_cache *c, struct dfm_entry *e);
void dfm_idle(struct dfm_cache *c, struct dfm_entry *e); /* nobody uses it: it may be evicted */
void dfm_busy(struct dfm_cache *c, struct dfm_entry *e); /* no more */
void dfm_evicted(struct dfm_cache *c, struct dfm_entry *e);

void dfm_pin(struct dfm_cache *c, struct dfm_entry *e);
void dfm_unpin(struct dfm_cache *c, struct dfm_entry *e);

/* peer.c */
int dfm_peer_create(struct dfm_cache *c, struct df_error *error);
void dfm_peer_send(struct dfm_cache *c, uint32_t waiter);           /* a fetch for a peer */
int dfm_peer_issue(struct dfm_cache *c, struct df_error *error);    /* of those to be sent, what there is room for */
void dfm_peer_sent(struct dfm_cache *c, struct dfm_entry *e);       /* the oldest of `peer` is complete */
void dfm_peer_answer(struct dfm_cache *c, uint32_t waiter, bool sent);
void dfm_peer_answers(struct dfm_cache *c, uint32_t waiter);        /* of peers that were asked: a list of waiters */

/* What the memory has of the block, or NULL: also where it has room for it but is still without the bytes. */
static inline struct dfm_entry *dfm_entry_held(const struct dfm_cache *c, uint32_t block)
{
    struct dfm_entry *e = c->entry_of[block] == DFM_NONE ? NULL : &c->entries[c->entry_of[block]];
    return e && e->state != DFM_AWAITING ? e : NULL;
}

/* transfer.c */
int dfm_link_create(struct dfm_cache *c, struct dfm_link *link, enum dfr_copy kind, uint32_t stream, uint32_t capacity,
                    struct df_error *error);
void dfm_mail_post(struct dfm_mailbox *box, uint32_t *next, uint32_t item);
uint32_t dfm_mail_take(struct dfm_mailbox *box);
void dfm_entry_valid(struct dfm_cache *c, struct dfm_entry *e);     /* its bytes have come */
int dfm_transfer_create(struct dfm_cache *c, struct df_error *error);
void dfm_transfer_destroy(struct dfm_cache *c);
int dfm_load_issue(struct dfm_cache *c, struct dfm_entry *e, struct df_error *error); /* AWAITING → LOADING */
uint32_t dfm_out_sender(struct dfm_cache *c, uint32_t block);
void dfm_out_queue(struct dfm_cache *c, struct dfm_entry *e);   /* of a block whose sender this is */
int dfm_out_issue(struct dfm_cache *c, struct df_error *error); /* of those queued, what there is room for */
int dfm_messages(struct dfm_cache *c, bool *progress, struct df_error *error);

#endif
