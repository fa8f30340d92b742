/* transfer.c - copies between a device's memory and the host, and messages from other threads to the owner of that memory. The owner, a GPU's worker, polls
 * both; cache.c queues the copies of its jobs; engine/prefetch.c, space.c and peer.c post messages (fetch, prefetch, free).
 *
 * Copies of one direction are issued in order on one stream, with an event after each, so only the oldest event must be polled. Both directions and all
 * computation run concurrently. Work that depends on a copy waits for its event (dfm_cache_wait), or is done when polling finds the copy complete
 * (dfm_cache_poll).
 *
 * Messages: each kind of message has a stack, linked through arrays with an entry per block or waiter, so posting cannot fail. An item is in its stack at most
 * once: a block is freed once per life, and its next life here begins after the owner has taken the message; a waiter makes its next request only after the
 * reply; prefetches have a flag. The owner takes the stack of prefetches, then that of fetches, then that of frees, and processes them in the opposite order, so
 * that a message about a block's new life is never processed before the end of its old one. Prefetches and fetches are processed oldest first, and replies of
 * peers (peer.c) before all others.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "memmgr/cache_impl.h"
#include "runtime/base/error.h"

/* ---- messages ---- */

void dfm_mail_post(struct dfm_mailbox *box, uint32_t *next, uint32_t item)
{
    uint32_t head = atomic_load_explicit(&box->head, memory_order_relaxed);
    do
        next[item] = head;
    while (!atomic_compare_exchange_weak_explicit(&box->head, &head, item, memory_order_release, memory_order_relaxed));
}

uint32_t dfm_mail_take(struct dfm_mailbox *box)
{
    if (atomic_load_explicit(&box->head, memory_order_relaxed) == DFM_NONE)
        return DFM_NONE;
    return atomic_exchange_explicit(&box->head, DFM_NONE, memory_order_acquire); /* acquires all posts in the stack */
}

void dfm_cache_post_free(struct dfm_cache *c, uint32_t block)
{
    dfm_mail_post(&c->frees, c->free_next, block);
}

void dfm_cache_post_fetch(struct dfm_cache *c, uint32_t waiter)
{
    dfm_mail_post(&c->fetches, c->space->waiter_next, waiter);
}

bool dfm_cache_prefetch_pends(const struct dfm_cache *c, uint32_t block)
{
    return atomic_load_explicit(&c->prefetch_posted[block], memory_order_acquire) != 0;
}

void dfm_cache_post_prefetch(struct dfm_cache *c, uint32_t block)
{
    if (!atomic_exchange_explicit(&c->prefetch_posted[block], 1, memory_order_acq_rel))
        dfm_mail_post(&c->prefetches, c->prefetch_next, block);
}

/* The memory that sends the block to the host. It is this memory, from now on, unless another was asked before. */
uint32_t dfm_out_sender(struct dfm_cache *c, uint32_t block)
{
    uint8_t sender = 0;
    return atomic_compare_exchange_strong_explicit(&c->space->sender[block], &sender, (uint8_t)c->config.memory,
                                                   memory_order_relaxed, memory_order_relaxed)
               ? c->config.memory : sender;
}

static void pass_on(struct dfm_cache *c, uint32_t waiter, uint32_t memory)
{
    dfm_cache_post_fetch(c->space->caches[memory], waiter);
    c->config.answered(c->config.arg, memory);
}

/* The block was evicted here since the fetch was posted, so another memory has it. If that is a device, it is asked. */
static int forward_fetch(struct dfm_cache *c, uint32_t waiter, struct df_error *error)
{
    uint32_t block = c->space->asked[waiter], holders = dfm_block_valid(&c->space->blocks[block]);

    if (holders & DFM_HOST) {
        c->config.arrived(c->config.arg, waiter);
        return DF_OK;
    }
    if ((holders & ~c->bit) == 0 || !c->config.answered)
        return dfr_error(error, DF_E_DEVICE, "internal error: block %u is neither on the host nor here", block);
    pass_on(c, waiter, (uint32_t)__builtin_ctz(holders & ~c->bit));
    return DF_OK;
}

static int answer_fetch(struct dfm_cache *c, uint32_t waiter, struct df_error *error)
{
    uint32_t block = c->space->asked[waiter], sender;
    struct dfm_entry *e;

    if (c->space->peer_asks[waiter].receiver) {
        dfm_peer_send(c, waiter);
        return DF_OK;
    }
    if (dfm_block_valid(&c->space->blocks[block]) & DFM_HOST) {
        c->config.arrived(c->config.arg, waiter);
        return DF_OK;
    }
    e = dfm_entry_held(c, block);
    if (!e)                             /* or it must come here again, and has not yet */
        return forward_fetch(c, waiter, error);
    if (e->state == DFM_COMING) {       /* as in dfm_peer_send() */
        dfm_cache_post_fetch(c, waiter);
        return DF_OK;
    }
    if (e->out == DFM_OUT_NONE && (sender = dfm_out_sender(c, block)) != c->config.memory) {
        pass_on(c, waiter, sender);
        return DF_OK;
    }
    c->space->waiter_next[waiter] = e->waiters;
    e->waiters = waiter;
    if (e->out == DFM_OUT_NONE)
        dfm_out_queue(c, e);
    return DF_OK;
}

static void prefetch(struct dfm_cache *c, uint32_t block)
{
    struct dfm_entry *e;

    if (c->waiting || c->entry_of[block] != DFM_NONE ||
        !(dfm_block_valid(&c->space->blocks[block]) & DFM_HOST))
        return;
    e = dfm_entry_new(c, block);
    if (!e)
        return;
    c->stats.prefetches++;
    dfm_load_queue(c, e);
    c->stats.prefetch_bytes += e->moved_bytes;
}

void dfm_prefetch_cancel(struct dfm_cache *c, uint32_t block)
{
    if (!c->is_later[block])
        return;
    c->is_later[block] = 0;
    atomic_store_explicit(&c->prefetch_posted[block], 0, memory_order_release); /* it may be posted again */
}

static void prefetch_later(struct dfm_cache *c, uint32_t block)
{
    c->is_later[block] = 1;
    if (c->n_later > c->n_blocks)       /* full: of places that count no more */
        dfm_prefetch_cancel(c, block);
    else
        c->later[(c->later_first + c->n_later++) % (c->n_blocks + 1)] = block;
}

/* Half of the link is kept for what claims load. So prefetches wait until the other half has room. */
static int prefetch_waiting(struct dfm_cache *c, struct df_error *error)
{
    uint64_t queued = c->in.queued;

    while (c->n_later > 0 && dfm_link_room(&c->in) >= c->in.capacity / 2) {
        uint32_t block = c->later[c->later_first];
        c->later_first = (c->later_first + 1) % (uint32_t)(c->n_blocks + 1);
        c->n_later--;
        if (!c->is_later[block])
            continue;
        dfm_prefetch_cancel(c, block);
        prefetch(c, block);
    }
    return c->in.queued > queued ? dfm_link_issue(c, &c->in, error) : DF_OK;
}

/* Turns a stack round: the oldest item comes first. */
static uint32_t oldest_first(uint32_t *next, uint32_t item)
{
    uint32_t first = DFM_NONE;

    while (item != DFM_NONE) {
        uint32_t after = next[item];
        next[item] = first;
        first = item;
        item = after;
    }
    return first;
}

int dfm_messages(struct dfm_cache *c, bool *progress, struct df_error *error)
{
    uint32_t ahead = dfm_mail_take(&c->prefetches), asked = dfm_mail_take(&c->fetches), item = dfm_mail_take(&c->frees),
             next;
    uint32_t answers = dfm_mail_take(&c->answers);
    int status = DF_OK;

    if (ahead != DFM_NONE || asked != DFM_NONE || item != DFM_NONE || answers != DFM_NONE)
        *progress = true;
    dfm_peer_answers(c, answers);
    for (; item != DFM_NONE; item = next) {
        next = c->free_next[item];
        dfm_cache_drop(c, item);
    }
    for (item = oldest_first(c->space->waiter_next, asked); item != DFM_NONE && status == DF_OK; item = next) {
        next = c->space->waiter_next[item];
        status = answer_fetch(c, item, error);
    }
    for (item = oldest_first(c->prefetch_next, ahead); item != DFM_NONE; item = next) {
        next = c->prefetch_next[item];
        prefetch_later(c, item);
    }
    return status == DF_OK ? prefetch_waiting(c, error) : status;
}

/* ---- issuing ---- */

static void queue_copy(struct dfm_cache *c, struct dfm_link *link, struct dfm_entry *e)
{
    e->moved_bytes = dfm_space_token_bytes(c->space, e->block);
    link->entries[link->queued++ % link->capacity] = (uint32_t)(e - c->entries);
}

void dfm_load_queue(struct dfm_cache *c, struct dfm_entry *e)
{
    e->sequence = c->in.queued;
    e->state = DFM_LOADING;
    queue_copy(c, &c->in, e);
}

void dfm_out_queue(struct dfm_cache *c, struct dfm_entry *e)
{
    uint32_t number = (uint32_t)(e - c->entries);

    if (e->state == DFM_VALID && e->pins == 0)
        dfm_busy(c, e);
    e->out = DFM_OUT_QUEUED;
    e->out_next = DFM_NONE;
    if (c->out_first == DFM_NONE)
        c->out_first = number;
    else
        c->entries[c->out_last].out_next = number;
    c->out_last = number;
}

/* No copy of a dropped entry is under way any more. */
static void free_dropped(struct dfm_cache *c, struct dfm_entry *e)
{
    if (e->state == DFM_LEAVING)
        c->leaving_bytes -= dfm_entry_bytes(c, e);
    if (e->host && !dfm_space_shares(c->space, e->block))
        dfm_space_host_give(c->space, e->block, e->host);
    e->host = NULL;
    e->out = DFM_OUT_NONE;
    e->dropped = false;
    dfm_entry_free(c, e);
}

int dfm_out_issue(struct dfm_cache *c, struct df_error *error)
{
    uint64_t queued = c->out.queued;

    while (c->out_first != DFM_NONE && dfm_link_room(&c->out) > 0) {
        struct dfm_entry *e = &c->entries[c->out_first];
        if (e->dropped) {
            c->out_first = e->out_next;
            free_dropped(c, e);
            continue;
        }
        e->host = dfm_space_host_take(c->space, e->block);
        if (!e->host)
            return dfr_error(error, DF_E_MEMORY, "internal error: more tokens live than were planned");
        e->out = DFM_OUT_FLYING;
        c->out_first = e->out_next;
        queue_copy(c, &c->out, e);
    }
    return c->out.queued > queued ? dfm_link_issue(c, &c->out, error) : DF_OK;
}

int dfm_cache_to_host(struct dfm_cache *c, uint32_t block, struct df_error *error)
{
    struct dfm_entry *e;

    if (c->entry_of[block] == DFM_NONE || dfm_block_valid(&c->space->blocks[block]) & DFM_HOST)
        return DF_OK;
    e = &c->entries[c->entry_of[block]];
    if (e->out == DFM_OUT_NONE && dfm_out_sender(c, block) == c->config.memory)
        dfm_out_queue(c, e);
    return dfm_out_issue(c, error);
}

/* ---- completing ---- */

static void tell_copied(struct dfm_cache *c, struct dfm_link *link, const struct dfm_entry *e)
{
    double begin_s, end_s;
    uint64_t bytes = e->moved_bytes;
    struct dfr_event *event = dfm_link_event(link, link->completed);

    if (link->kind == DFR_COPY_H2D && dfm_space_is_first(c->space, e->block))
        return;                         /* it was filled there */
    if (link->kind == DFR_COPY_H2D) {
        c->stats.h2d_copies++;
        c->stats.h2d_bytes += bytes;
    } else if (link->kind == DFR_COPY_D2H) {
        c->stats.d2h_copies++;
        c->stats.d2h_bytes += bytes;
    } else {
        c->stats.peer_copies++;
        c->stats.peer_bytes += bytes;
    }
    if (dfm_link_stages(c, link, e)) {
        c->stats.staged_copies++;
        c->stats.staged_bytes += bytes;
    }
    if (c->config.copied && c->device->ops->event_times(c->device, event, &begin_s, &end_s))
        c->config.copied(c->config.arg, link->kind, e->block, bytes, fmin(begin_s, link->first_s), end_s);
}

void dfm_entry_valid(struct dfm_cache *c, struct dfm_entry *e)
{
    e->state = DFM_VALID;
    /* release: the device's bytes; only this thread clears the bit, or the last reader, which has not ended yet */
    atomic_fetch_or_explicit(&c->space->blocks[e->block].valid, c->bit, memory_order_acq_rel);
    if (e->pins == 0)
        dfm_idle(c, e);
}

static void copied_out(struct dfm_cache *c, struct dfm_entry *e)
{
    struct dfm_block *b = &c->space->blocks[e->block];
    uint32_t waiter = e->waiters, next;

    assert(!e->dropped);
    b->host = e->host;
    e->host = NULL;
    e->out = DFM_OUT_NONE;
    e->waiters = DFM_NONE;
    atomic_fetch_or_explicit(&b->valid, DFM_HOST, memory_order_acq_rel); /* release: b->host and its bytes */
    if (e->state == DFM_LEAVING) {
        c->leaving_bytes -= dfm_entry_bytes(c, e);
        c->stats.writebacks++;
        c->stats.writeback_bytes += e->moved_bytes;
        atomic_fetch_and_explicit(&b->valid, ~c->bit, memory_order_acq_rel);
        dfm_evicted(c, e);
    } else {
        if (e->pins == 0)
            dfm_idle(c, e);
        if (c->config.on_host)
            c->config.on_host(c->config.arg, e->block);
    }
    for (; waiter != DFM_NONE; waiter = next) {
        next = c->space->waiter_next[waiter];
        if (c->space->peer_asks[waiter].receiver)
            dfm_peer_answer(c, waiter, false);
        else
            c->config.arrived(c->config.arg, waiter);
    }
}

static int complete(struct dfm_cache *c, struct dfm_link *link, bool *progress, struct df_error *error)
{
    while (!dfm_link_idle(link)) {
        struct dfm_entry *e = &c->entries[link->entries[link->completed % link->capacity]];
        bool done;
        int status = dfm_link_complete(c, link, &done, progress, error);
        if (status != DF_OK) {
            c->culprit = e->block;
            c->n_suspects = link->completed < link->issued
                                ? (uint32_t)(link->last[link->completed % link->capacity] - link->completed) : 0;
        }
        if (status != DF_OK || !done)
            return status;
        *progress = true;
        tell_copied(c, link, e);
        link->completed++;
        link->taken_bytes = 0;
        link->first_s = INFINITY;
        if (e->dropped)
            free_dropped(c, e);
        else if (link->kind == DFR_COPY_H2D)
            dfm_entry_valid(c, e);
        else if (link->kind == DFR_COPY_D2H)
            copied_out(c, e);
        else
            dfm_peer_sent(c, e);
    }
    return DF_OK;
}

/* Goes on with copies that wait for pinned memory. */
static int issue_rest(struct dfm_cache *c, struct dfm_link *link, bool *progress, struct df_error *error)
{
    uint64_t issued = link->issued, bytes = link->given_bytes;
    int status = dfm_link_issue(c, link, error);

    if (link->issued != issued || link->given_bytes != bytes)
        *progress = true;
    return status;
}

int dfm_cache_poll(struct dfm_cache *c, bool *progress, struct df_error *error)
{
    int status = dfm_messages(c, progress, error);
    if (status == DF_OK)
        status = dfm_out_issue(c, error); /* what was asked for before anything ended goes first */
    if (status == DF_OK)
        status = complete(c, &c->in, progress, error);
    if (status == DF_OK)
        status = complete(c, &c->out, progress, error);
    if (status == DF_OK)
        status = complete(c, &c->peer, progress, error);
    if (status == DF_OK)
        status = issue_rest(c, &c->in, progress, error);
    if (status == DF_OK)
        status = issue_rest(c, &c->out, progress, error);
    if (status == DF_OK)
        status = dfm_out_issue(c, error);
    if (status == DF_OK)
        status = dfm_peer_issue(c, error);
    return status;
}

uint32_t dfm_cache_culprit(const struct dfm_cache *c, uint32_t *others)
{
    *others = c->n_suspects;
    return c->culprit;
}

uint64_t dfm_cache_left_bytes(struct dfm_cache *c)
{
    uint64_t bytes = 0;
    uint32_t next;

    for (uint32_t block = dfm_mail_take(&c->frees); block != DFM_NONE; block = next) {
        next = c->free_next[block];
        dfm_cache_drop(c, block);
    }
    for (uint32_t i = 0; i < c->n_entries; i++) {
        const struct dfm_entry *e = &c->entries[i];
        if (e->state != DFM_FREE && !e->dropped && e->block < c->space->n_values * (c->space->n_slots - 1))
            bytes += dfm_entry_bytes(c, e);
    }
    return bytes;
}

bool dfm_cache_busy(const struct dfm_cache *c)
{
    return !dfm_link_idle(&c->in) || !dfm_link_idle(&c->out) || !dfm_link_idle(&c->peer) ||
           c->out_first != DFM_NONE || c->send_first != DFM_NONE;
}

/* ---- making ---- */

int dfm_transfer_create(struct dfm_cache *c, struct df_error *error)
{
    uint32_t capacity = dfm_link_capacity(c->config.max_pieces);
    bool batches = c->device->ops->copy_batch && !c->config.copied;
    int status;

    atomic_init(&c->frees.head, DFM_NONE);
    atomic_init(&c->fetches.head, DFM_NONE);
    atomic_init(&c->prefetches.head, DFM_NONE);
    atomic_init(&c->answers.head, DFM_NONE);
    c->out_first = c->out_last = c->send_first = c->send_last = c->culprit = DFM_NONE;
    c->free_next = malloc((c->n_blocks + 1) * sizeof *c->free_next);
    c->prefetch_next = malloc((c->n_blocks + 1) * sizeof *c->prefetch_next);
    c->prefetch_posted = calloc(c->n_blocks + 1, sizeof *c->prefetch_posted);
    c->later = malloc((c->n_blocks + 1) * sizeof *c->later);
    c->is_later = calloc(c->n_blocks + 1, sizeof *c->is_later);
    if (!c->free_next || !c->prefetch_next || !c->prefetch_posted || !c->later || !c->is_later)
        return dfr_error_memory(error);
    c->in.batch_bytes = batches ? c->config.to_batch_bytes : 0;
    c->out.batch_bytes = batches ? c->config.from_batch_bytes : 0;
    if (c->config.unified)              /* the links stay empty and idle */
        return DF_OK;
    status = dfm_link_create(c, &c->in, DFR_COPY_H2D, DFR_STREAM_H2D, capacity, error);
    if (status == DF_OK)
        status = dfm_link_create(c, &c->out, DFR_COPY_D2H, DFR_STREAM_D2H, DFM_LINK_CAPACITY, error);
    if (status == DF_OK && dfm_space_stages(c->space))
        status = dfm_link_stage(c, &c->in, error);
    if (status == DF_OK && dfm_space_stages(c->space))
        status = dfm_link_stage(c, &c->out, error);
    if (status == DF_OK)
        status = dfm_peer_create(c, error);
    return status;
}

void dfm_transfer_destroy(struct dfm_cache *c)
{
    dfm_link_destroy(c, &c->in);
    dfm_link_destroy(c, &c->out);
    dfm_link_destroy(c, &c->peer);
    free(c->sending);
    free(c->free_next);
    free(c->prefetch_next);
    free(c->prefetch_posted);
    free(c->later);
    free(c->is_later);
}
