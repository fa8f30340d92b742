/* cache.c - implements the cache of one device's memory (cache.h): its entries, eviction, and reservations that grant all that a job needs or nothing. The
 * worker of a GPU (runtime/gpu/) uses it for each job, and engine/prefetch.c asks which blocks are loaded; entries and pins also serve transfer.c and
 * peer.c. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "memmgr/cache_impl.h"
#include "runtime/base/error.h"

/* ---- victims ---- */

void dfm_idle(struct dfm_cache *c, struct dfm_entry *e)
{
    uint64_t next_use = c->config.next_use ? c->config.next_use(c->config.arg, e->block) : 0;
    dfm_victims_add(&c->victims, (uint32_t)(e - c->entries), next_use);
}

void dfm_busy(struct dfm_cache *c, struct dfm_entry *e)
{
    dfm_victims_remove(&c->victims, (uint32_t)(e - c->entries));
}

/* ---- entries ---- */

static bool find_offset(struct dfm_cache *c, uint32_t block, uint64_t *offset)
{
    uint64_t bytes = c->space->bytes[dfm_space_value(c->space, block)];

    if (c->by_place) {
        *offset = c->config.place(c->config.arg, block);
        if (*offset != UINT64_MAX && dfm_pool_alloc_at(c->pool, *offset, bytes))
            return true;
        if (dfm_pool_alloc_above(c->pool, c->config.planned_bytes + c->config.scratch_bytes, bytes, offset))
            return true;
        if (!c->must)
            return false;
    }
    return dfm_pool_alloc(c->pool, bytes, offset);
}

struct dfm_entry *dfm_entry_new(struct dfm_cache *c, uint32_t block)
{
    struct dfm_entry *e;
    uint64_t offset;

    if (c->free_entry == DFM_NONE || !find_offset(c, block, &offset))
        return NULL;
    e = &c->entries[c->free_entry];
    c->free_entry = e->next;
    *e = (struct dfm_entry){ .offset = offset, .block = block, .next = DFM_NONE,
                             .waiters = DFM_NONE, .out_next = DFM_NONE, .state = DFM_AWAITING };
    c->entry_of[block] = (uint32_t)(e - c->entries);
    dfm_prefetch_cancel(c, block);
    return e;
}

void dfm_entry_free(struct dfm_cache *c, struct dfm_entry *e)
{
    if (c->config.freed)
        c->config.freed(c->config.arg, c->base + e->offset, dfm_entry_bytes(c, e));
    if (c->entry_of[e->block] == (uint32_t)(e - c->entries)) /* a dropped entry has none, and the block may live again */
        c->entry_of[e->block] = DFM_NONE;
    dfm_pool_free(c->pool, e->offset);
    e->state = DFM_FREE;
    e->next = c->free_entry;
    c->free_entry = (uint32_t)(e - c->entries);
}

void dfm_pin(struct dfm_cache *c, struct dfm_entry *e)
{
    if (e->pins++ > 0)
        return;
    c->n_pinned++;
    if (e->state == DFM_VALID && e->out == DFM_OUT_NONE)
        dfm_busy(c, e);
}

void dfm_unpin(struct dfm_cache *c, struct dfm_entry *e)
{
    assert(e->pins > 0);
    if (--e->pins > 0)
        return;
    c->n_pinned--;
    if (e->state == DFM_VALID && e->out == DFM_OUT_NONE)
        dfm_idle(c, e);
}

void dfm_cache_drop(struct dfm_cache *c, uint32_t block)
{
    struct dfm_entry *e;

    dfm_prefetch_cancel(c, block);
    if (c->entry_of[block] == DFM_NONE)
        return;                         /* it was evicted, or an output has taken it over */
    e = &c->entries[c->entry_of[block]];
    assert(e->pins == 0);               /* that would be a reader that has not ended */
    if (e->out != DFM_OUT_NONE || e->state == DFM_LOADING) { /* its last readers were skipped, and did not wait for the copy */
        e->dropped = true;
        c->entry_of[block] = DFM_NONE;
        return;
    }
    assert(e->state == DFM_VALID);
    dfm_busy(c, e);
    dfm_entry_free(c, e);
}

void dfm_cache_forget(struct dfm_cache *c, uint32_t block)
{
    if (!c->config.unified && c->entry_of[block] != DFM_NONE && c->entries[c->entry_of[block]].pins == 0)
        dfm_cache_drop(c, block);
}

void dfm_evicted(struct dfm_cache *c, struct dfm_entry *e)
{
    c->stats.evictions++;
    c->stats.evicted_bytes += dfm_entry_bytes(c, e);
    dfm_entry_free(c, e);
}

/* Clears this memory's bit unless it is the last one. It does so in one atomic step, since peers may do the same. */
static bool give_up_copy(struct dfm_cache *c, struct dfm_block *b)
{
    uint32_t valid = dfm_block_valid(b);

    do
        if (valid == c->bit)
            return false;
    while (!atomic_compare_exchange_weak_explicit(&b->valid, &valid, valid & ~c->bit, memory_order_acq_rel,
                                                  memory_order_acquire));
    return true;
}

/* Evicts the entry, at once or when its write-back is complete. */
static void evict(struct dfm_cache *c, struct dfm_entry *e)
{
    /* If our bit was cleared by the block's end, the message of that is in the mailbox. If another memory holds the
     * block, that copy is enough. Else this is the last copy, and nobody else can change that (space.h). */
    if (give_up_copy(c, &c->space->blocks[e->block])) {
        dfm_busy(c, e);
        dfm_evicted(c, e);
    } else {
        dfm_out_sender(c, e->block);    /* it is this memory: a sender keeps its copy until the host has it */
        dfm_out_queue(c, e);
        e->state = DFM_LEAVING;
        c->leaving_bytes += dfm_entry_bytes(c, e);
    }
}

int dfm_cache_leave(struct dfm_cache *c, uint32_t block, struct df_error *error)
{
    struct dfm_entry *e = c->entry_of[block] == DFM_NONE ? NULL : &c->entries[c->entry_of[block]];

    if (e && e->state == DFM_VALID && e->pins == 0 && e->out == DFM_OUT_NONE)
        evict(c, e);
    return dfm_out_issue(c, error);
}

/* ---- reserving ---- */

/* Evicts one more victim. false: enough is leaving already, or there is no victim, or this claim may not evict. */
static bool evict_one(struct dfm_cache *c, uint64_t bytes)
{
    uint32_t victim = dfm_victims_first(&c->victims);

    if (victim == DFM_NO_VICTIM || c->leaving_bytes >= bytes || !c->must)
        return false;
    evict(c, &c->entries[victim]);
    return true;
}

/* Whether the claim must wait for one of its inputs: one that is being written back, or one that is being copied out
 * and would be overwritten or changed. */
static bool in_the_way(const struct dfm_cache *c, const struct dfm_claim *claim)
{
    for (uint32_t i = 0; i < claim->n; i++) {
        const struct dfm_piece *p = &claim->pieces[i];
        uint32_t number = p->use == DFM_WRITE ? DFM_NONE : c->entry_of[dfm_present_as(p)];
        if (number == DFM_NONE)
            continue;
        if (c->entries[number].state == DFM_LEAVING ||
            ((p->use == DFM_TAKE || p->use == DFM_CHANGE) && c->entries[number].out != DFM_OUT_NONE))
            return true;
    }
    return false;
}

static bool reserve_piece(struct dfm_cache *c, struct dfm_piece *p)
{
    uint32_t block = dfm_present_as(p);
    struct dfm_entry *e;

    if (p->entry != DFM_NONE)
        return true;
    if (p->use != DFM_WRITE && c->entry_of[block] != DFM_NONE) { /* an earlier piece of this claim made it */
        e = &c->entries[c->entry_of[block]];
    } else {
        while (!(e = dfm_entry_new(c, block)))
            if (!evict_one(c, c->space->bytes[dfm_space_value(c->space, block)]))
                return false;
        if (p->use == DFM_WRITE)
            e->state = DFM_FILLING;
        else
            p->missed = true;
    }
    dfm_pin(c, e);
    p->entry = (uint32_t)(e - c->entries);
    return true;
}

/* Each job gets a piece of the planned scratch that is large enough for any job, so jobs are never in each other's
 * way. */
static bool reserve_scratch(struct dfm_cache *c, struct dfm_claim *claim)
{
    uint64_t bytes = claim->tmp_bytes;

    if (c->by_place) {
        uint64_t piece = bytes > c->config.scratch_of_job_bytes ? bytes : c->config.scratch_of_job_bytes;
        if (dfm_pool_alloc_above(c->pool, c->config.planned_bytes, piece, &claim->tmp_offset))
            return true;
        if (c->n_tmp > 0)
            return false;
    }
    while ((c->by_place && !c->must) || !dfm_pool_alloc(c->pool, bytes, &claim->tmp_offset))
        if (!evict_one(c, bytes))
            return false;
    return true;
}

static void undo(struct dfm_cache *c, struct dfm_claim *claim)
{
    for (uint32_t i = 0; i < claim->n; i++) {
        struct dfm_entry *e;
        if (claim->pieces[i].entry == DFM_NONE)
            continue;
        e = &c->entries[claim->pieces[i].entry];
        dfm_unpin(c, e);
        if (e->pins == 0 && (e->state == DFM_AWAITING || e->state == DFM_FILLING))
            dfm_entry_free(c, e);       /* it was made for this claim, and nothing is being copied into it */
        claim->pieces[i].entry = DFM_NONE;
    }
}

/* Counts an input that is here, or on its way, as a hit, and every other one as a miss, which is a copy. */
static void count_inputs(struct dfm_cache *c, const struct dfm_claim *claim)
{
    for (uint32_t i = 0; i < claim->n; i++) {
        const struct dfm_piece *p = &claim->pieces[i];
        uint64_t bytes = dfm_entry_bytes(c, &c->entries[p->entry]);
        if (p->use == DFM_WRITE)
            continue;
        *(p->missed ? &c->stats.misses : &c->stats.hits) += 1;
        *(p->missed ? &c->stats.miss_bytes : &c->stats.hit_bytes) += bytes;
    }
}

/* Takes memory for all of the claim, or for nothing of it. */
static bool try_reserve(struct dfm_cache *c, struct dfm_claim *claim)
{
    bool complete = !in_the_way(c, claim) && dfm_link_room(&c->in) >= claim->n;

    for (uint32_t i = 0; i < claim->n; i++) {
        struct dfm_piece *p = &claim->pieces[i];
        p->entry = DFM_NONE;
        p->awaited = p->missed = false;
        if (complete && p->use != DFM_WRITE && c->entry_of[dfm_present_as(p)] != DFM_NONE) {
            p->entry = c->entry_of[dfm_present_as(p)];
            dfm_pin(c, &c->entries[p->entry]);
        }
    }
    for (uint32_t i = 0; complete && i < claim->n; i++)
        complete = reserve_piece(c, &claim->pieces[i]);
    if (complete && claim->tmp_bytes > 0) {
        complete = reserve_scratch(c, claim);
        if (complete)
            dfm_scratch_count(c, claim);
    }
    if (complete)
        count_inputs(c, claim);
    else
        undo(c, claim);
    return complete;
}

/* Queues the copy of the piece's block, if the host has it. */
static void queue_load(struct dfm_cache *c, struct dfm_piece *piece)
{
    struct dfm_entry *e = &c->entries[piece->entry];

    piece->awaited = e->state == DFM_COMING ||
                     (e->state == DFM_AWAITING && (!(dfm_block_valid(&c->space->blocks[e->block]) & DFM_HOST) ||
                                                   dfm_link_room(&c->in) == 0));
    if (e->state == DFM_AWAITING && !piece->awaited)
        dfm_load_queue(c, e);
}

/* Issues the copies of those of the n pieces that the host has. */
static int load_pieces(struct dfm_cache *c, struct dfm_piece *pieces, uint32_t n, struct df_error *error)
{
    uint64_t queued = c->in.queued;
    int status = DF_OK;

    for (uint32_t i = 0; i < n; i++)
        queue_load(c, &pieces[i]);
    if (c->in.queued > queued)
        status = dfm_link_issue(c, &c->in, error);
    for (uint32_t i = 0; i < n; i++)
        pieces[i].awaited |= dfm_load_waits(c, &c->entries[pieces[i].entry]);
    return status;
}

static uint64_t claim_pages(const struct dfm_cache *c, const struct dfm_claim *claim)
{
    uint64_t bytes = claim->tmp_bytes ? dfm_pool_rounded(c->pool, claim->tmp_bytes) : 0;
    for (uint32_t i = 0; i < claim->n; i++)
        bytes += dfm_pool_rounded(c->pool, c->space->bytes[dfm_space_value(c->space, claim->pieces[i].block)]);
    return bytes;
}

enum dfm_reserved dfm_cache_reserve(struct dfm_cache *c, struct dfm_claim *claim, struct df_error *error)
{
    bool progress = false;

    if (c->config.unified)
        return dfm_unified_reserve(c, claim, false, error);
    if (dfm_messages(c, &progress, error) != DF_OK)
        return DFM_ERROR;
    for (int attempt = 0; attempt < 2; attempt++) {
        bool reserved;
        c->must = true;
        c->by_place = c->config.place && attempt == 0;
        reserved = try_reserve(c, claim);
        c->must = false;
        c->by_place = c->config.place;
        if (reserved) {
            c->waiting = false;
            return load_pieces(c, claim->pieces, claim->n, error) == DF_OK ? DFM_RESERVED : DFM_ERROR;
        }
        c->waiting = true;
        if (c->n_pinned > 0 || c->n_tmp > 0 || dfm_cache_busy(c))
            return dfm_out_issue(c, error) == DF_OK ? DFM_WAIT : DFM_ERROR;
        /* This claim is alone, and there is still no room: the free pieces are scattered. Everything is evicted, also
         * this claim's own inputs. */
        while (c->victims.n > 0)
            evict(c, &c->entries[dfm_victims_first(&c->victims)]);
        if (dfm_cache_busy(c))
            return dfm_out_issue(c, error) == DF_OK ? DFM_WAIT : DFM_ERROR;
    }
    dfr_error(error, DF_E_REFUSED, "a job needs %llu bytes of a GPU memory of %llu",
              (unsigned long long)claim_pages(c, claim), (unsigned long long)dfm_pool_capacity(c->pool));
    return DFM_ERROR;
}

/* Whether the piece is here, or is being filled by a job in flight. */
static bool is_here(const struct dfm_cache *c, const struct dfm_piece *p)
{
    uint32_t number = c->entry_of[dfm_present_as(p)];
    return p->use == DFM_WRITE ||
           (number != DFM_NONE && (c->entries[number].state == DFM_VALID || c->entries[number].state == DFM_FILLING));
}

enum dfm_reserved dfm_cache_reserve_ahead(struct dfm_cache *c, struct dfm_claim *claim, struct df_error *error)
{
    bool progress = false;
    if (c->config.unified)
        return dfm_unified_reserve(c, claim, true, error);
    if (dfm_messages(c, &progress, error) != DF_OK) /* one may say that an input's earlier life has ended */
        return DFM_ERROR;
    for (uint32_t i = 0; i < claim->n; i++)
        if (!is_here(c, &claim->pieces[i]))
            return DFM_WAIT;
    if (c->waiting)
        return DFM_WAIT;
    return try_reserve(c, claim) ? DFM_RESERVED : DFM_WAIT;
}

void dfm_cache_take_over(struct dfm_cache *c, struct dfm_claim *claim)
{
    if (c->config.unified) {
        dfm_unified_take_over(c, claim);
        return;
    }
    for (uint32_t i = 0; i < claim->n; i++) {
        struct dfm_piece *p = &claim->pieces[i];
        struct dfm_entry *e = &c->entries[p->entry];
        if (p->use != DFM_TAKE || e->state == DFM_LOADING) /* the end of its copy must find the block that it was for */
            continue;
        c->entry_of[p->from] = DFM_NONE;
        c->entry_of[p->block] = p->entry;
        e->block = p->block;
        e->state = DFM_FILLING;
        p->use = DFM_WRITE;
    }
}

int dfm_cache_load(struct dfm_cache *c, struct dfm_piece *piece, struct df_error *error)
{
    if (!c->config.unified)
        return load_pieces(c, piece, 1, error);
    dfm_unified_load(c, piece);
    return DF_OK;
}

bool dfm_cache_loads(const struct dfm_cache *c, uint32_t block)
{
    const struct dfm_entry *e = &c->entries[c->entry_of[block]];
    if (c->entry_of[block] == DFM_NONE)
        return dfm_cache_prefetch_pends(c, block);
    return e->state == DFM_AWAITING || e->state == DFM_LOADING || e->state == DFM_COMING;
}

int dfm_cache_wait(struct dfm_cache *c, const struct dfm_claim *claim, uint32_t stream, struct df_error *error)
{
    uint64_t last = 0;
    bool any = false;

    for (uint32_t i = 0; i < claim->n && !c->config.unified; i++) {
        const struct dfm_entry *e = &c->entries[claim->pieces[i].entry];
        if (e->state != DFM_LOADING)
            continue;
        any = true;
        last = e->sequence > last ? e->sequence : last;
    }
    if (!any)
        return DF_OK;
    return c->device->ops->stream_wait(c->device, stream, dfm_link_event(&c->in, last), error);
}

void *dfm_cache_address(const struct dfm_cache *c, const struct dfm_piece *piece)
{
    return c->config.unified ? dfm_unified_address(c, piece) : c->base + c->entries[piece->entry].offset;
}

void *dfm_cache_tmp_address(const struct dfm_cache *c, const struct dfm_claim *claim)
{
    return c->base + claim->tmp_offset;
}

void dfm_cache_release(struct dfm_cache *c, struct dfm_claim *claim)
{
    if (c->config.unified) {
        dfm_unified_release(c, claim);
        return;
    }
    for (uint32_t i = 0; i < claim->n; i++) {
        struct dfm_piece *p = &claim->pieces[i];
        struct dfm_entry *e = &c->entries[p->entry];
        if (p->use == DFM_WRITE) {
            e->state = DFM_VALID;
        } else if (p->use == DFM_TAKE) {
            c->entry_of[p->from] = DFM_NONE;
            c->entry_of[p->block] = p->entry;
            e->block = p->block;
        }
        dfm_unpin(c, e);
    }
    if (claim->tmp_bytes > 0)
        dfm_scratch_free(c, claim);
}

/* ---- making ---- */

static int make_entries(struct dfm_cache *c, struct df_error *error)
{
    uint64_t pages = c->config.pool_bytes / DFM_PAGE;

    c->n_entries = c->config.unified ? 0 : pages < c->n_blocks ? (uint32_t)pages : c->n_blocks;
    c->entries = calloc(c->n_entries + 1, sizeof *c->entries);
    c->entry_of = malloc((c->n_blocks + 1) * sizeof *c->entry_of);
    if (!dfm_victims_create(&c->victims, c->n_entries) || !c->entries || !c->entry_of)
        return dfr_error_memory(error);
    memset(c->entry_of, 0xff, (c->n_blocks + 1) * sizeof *c->entry_of);
    c->by_place = c->config.place;
    c->free_entry = DFM_NONE;
    for (uint32_t i = c->n_entries; i-- > 0;) {
        c->entries[i].next = c->free_entry;
        c->free_entry = i;
    }
    const uint64_t segment = c->config.segment_bytes ? c->config.segment_bytes : UINT64_MAX;
    c->pool = dfm_pool_create(c->config.pool_bytes, DFM_PAGE, c->n_entries + c->config.max_claims + (uint32_t)(c->config.pool_bytes / segment));
    if (!c->pool)
        return dfr_error_memory(error);
    for (uint64_t end = segment; end < c->config.pool_bytes; end += segment)
        dfm_pool_alloc_at(c->pool, end - DFM_PAGE, DFM_PAGE); /* reserved, so that no free range crosses it */
    return DF_OK;
}

int dfm_cache_create(const struct dfm_cache_config *config, struct dfm_cache **cache, struct df_error *error)
{
    struct dfm_cache *c = aligned_alloc(64, (sizeof *c + 63) / 64 * 64);
    int status;

    if (!c)
        return dfr_error_memory(error);
    memset(c, 0, sizeof *c);
    c->config = *config;
    c->space = config->space;
    c->device = config->device;
    c->base = c->device->ops->pool(c->device);
    c->bit = 1u << config->memory;
    c->n_blocks = c->space->n_values * c->space->n_slots;
    status = make_entries(c, error);
    if (status == DF_OK)
        status = dfm_transfer_create(c, error);
    if (status != DF_OK) {
        dfm_cache_destroy(c);
        return status;
    }
    *cache = c;
    return DF_OK;
}

void dfm_cache_destroy(struct dfm_cache *c)
{
    if (!c)
        return;
    dfm_transfer_destroy(c);
    dfm_pool_destroy(c->pool);
    dfm_victims_destroy(&c->victims);
    free(c->entries);
    free(c->entry_of);
    free(c);
}

void dfm_cache_stats(const struct dfm_cache *c, struct df_memory_stats *stats)
{
    *stats = c->stats;
    stats->capacity_bytes = dfm_pool_capacity(c->pool);
    stats->peak_bytes = dfm_pool_peak(c->pool);
}

bool dfm_cache_check(const struct dfm_cache *c)
{
    uint32_t idle = 0, unused = 0, pinned = 0;
    uint64_t leaving = 0;

    for (uint32_t i = c->free_entry; i != DFM_NONE && unused <= c->n_entries; i = c->entries[i].next)
        unused++;
    for (uint32_t i = 0; i < c->n_entries; i++) {
        const struct dfm_entry *e = &c->entries[i];
        if (e->state == DFM_FREE) {
            unused--;
            continue;
        }
        if (!e->dropped && c->entry_of[e->block] != i)
            return false;
        if ((e->state == DFM_VALID && e->pins == 0 && e->out == DFM_OUT_NONE) != dfm_victims_has(&c->victims, i))
            return false;
        idle += dfm_victims_has(&c->victims, i);
        pinned += e->pins > 0;
        leaving += e->state == DFM_LEAVING ? dfm_entry_bytes(c, e) : 0;
    }
    return unused == 0 && c->victims.n == idle && pinned == c->n_pinned && leaving == c->leaving_bytes &&
           dfm_victims_check(&c->victims) && dfm_pool_check(c->pool);
}
