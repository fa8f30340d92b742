/* peer.c - copies blocks directly from one device's memory to another's.
 *
 * Protocol: the receiver, which needs a block, reserves memory for it and posts a fetch request with the address (struct dfm_peer_ask) to a peer that has the
 * block; a request without an address copies to the host. The owner of the peer's memory pins its entry, issues the copy on its stream DFR_STREAM_PEER, and
 * replies when the copy is complete. The receiver's entry becomes valid when it has processed the reply, so that only its owner accesses an entry.
 *
 * The reply is negative if the block is on the host by now, or on its way there, or has left the peer's memory because another device has it. The receiver
 * then looks up the block again.
 *
 * Callers: transfer.c calls the sender's half; the worker of a GPU calls dfm_cache_expect().
 */
#include <assert.h>
#include <stdlib.h>

#include "memmgr/cache_impl.h"
#include "runtime/base/error.h"

#define SENDS 32u                       /* the most copies to peers that are under way */

/* ---- the receiver ---- */

bool dfm_cache_expect(struct dfm_cache *c, const struct dfm_piece *piece, uint32_t waiter)
{
    struct dfm_entry *e = &c->entries[piece->entry];

    if (e->state == DFM_COMING)
        return false;
    assert(e->state == DFM_AWAITING);
    e->state = DFM_COMING;
    c->space->asked[waiter] = e->block;
    c->space->peer_asks[waiter] = (struct dfm_peer_ask){ .receiver = c, .address = c->base + e->offset };
    return true;
}

bool dfm_cache_is_coming(const struct dfm_cache *c, const struct dfm_piece *piece)
{
    return !c->config.unified && c->entries[piece->entry].state == DFM_COMING;
}

void dfm_peer_answers(struct dfm_cache *c, uint32_t waiter)
{
    for (uint32_t next; waiter != DFM_NONE; waiter = next) {
        struct dfm_entry *e = &c->entries[c->entry_of[c->space->asked[waiter]]];
        next = c->space->waiter_next[waiter];
        assert(e->state == DFM_COMING && e->pins > 0);
        if (c->space->peer_asks[waiter].sent)
            dfm_entry_valid(c, e);
        else
            e->state = DFM_AWAITING;
    }
}

/* ---- the sender ---- */

void dfm_peer_answer(struct dfm_cache *c, uint32_t waiter, bool sent)
{
    struct dfm_peer_ask *ask = &c->space->peer_asks[waiter];
    struct dfm_cache *receiver = ask->receiver;

    ask->sent = sent;
    dfm_mail_post(&receiver->answers, c->space->waiter_next, waiter); /* releases `sent`, and the copy's end */
    c->config.answered(c->config.arg, receiver->config.memory);
}

void dfm_peer_send(struct dfm_cache *c, uint32_t waiter)
{
    uint32_t block = c->space->asked[waiter];
    struct dfm_entry *e;

    if (dfm_block_valid(&c->space->blocks[block]) & DFM_HOST) {
        dfm_peer_answer(c, waiter, false);
        return;
    }
    e = dfm_entry_held(c, block);
    if (!e) {                           /* it was evicted since, so another device has it: the receiver looks again */
        dfm_peer_answer(c, waiter, false);
        return;
    }
    if (e->state == DFM_COMING) {       /* our bit is set, but the answer that says so is not in our mailbox yet */
        dfm_cache_post_fetch(c, waiter);
        return;
    }
    if (e->out != DFM_OUT_NONE) {       /* it is on its way to the host: the answer comes when the host has it */
        c->space->waiter_next[waiter] = e->waiters;
        e->waiters = waiter;
        return;
    }
    dfm_pin(c, e);
    c->space->waiter_next[waiter] = DFM_NONE;
    if (c->send_first == DFM_NONE)
        c->send_first = waiter;
    else
        c->space->waiter_next[c->send_last] = waiter;
    c->send_last = waiter;
}

int dfm_peer_issue(struct dfm_cache *c, struct df_error *error)
{
    const struct dfr_device_ops *ops = c->device->ops;

    while (c->send_first != DFM_NONE && dfm_link_room(&c->peer) > 0) {
        uint32_t waiter = c->send_first, at = (uint32_t)(c->peer.issued % c->peer.capacity);
        const struct dfm_peer_ask *ask = &c->space->peer_asks[waiter];
        struct dfm_entry *e = &c->entries[c->entry_of[c->space->asked[waiter]]];
        int status;
        e->moved_bytes = dfm_space_token_bytes(c->space, e->block);
        status = ops->copy_peer(c->device, ask->receiver->device, ask->address, c->base + e->offset, e->moved_bytes,
                                c->peer.stream, error);
        if (status == DF_OK)
            status = ops->event_record(c->device, c->peer.events[at], c->peer.stream, error);
        if (status != DF_OK) {
            c->culprit = e->block;
            return status;
        }
        c->send_first = c->space->waiter_next[waiter];
        c->sending[at] = waiter;
        c->peer.entries[at] = (uint32_t)(e - c->entries);
        c->peer.last[at] = c->peer.issued;
        c->peer.queued = ++c->peer.issued;
    }
    return DF_OK;
}

/* Sets the receiver's bit before our copy may be evicted. Else we could write back a copy as if it were the last one,
 * while the block is dropped. The receiver's piece is pinned, so the receiver does not clear the bit. */
void dfm_peer_sent(struct dfm_cache *c, struct dfm_entry *e)
{
    uint32_t waiter = c->sending[(c->peer.completed - 1) % c->peer.capacity];

    /* release: the bytes that arrived */
    atomic_fetch_or_explicit(&c->space->blocks[e->block].valid, c->space->peer_asks[waiter].receiver->bit,
                             memory_order_acq_rel);
    dfm_unpin(c, e);
    dfm_peer_answer(c, waiter, true);
}

/* ---- making ---- */

/* Without peers it makes nothing: the link stays empty and idle. */
int dfm_peer_create(struct dfm_cache *c, struct df_error *error)
{
    if (!c->config.answered)
        return DF_OK;
    c->sending = malloc(SENDS * sizeof *c->sending);
    if (!c->sending)
        return dfr_error_memory(error);
    return dfm_link_create(c, &c->peer, DFR_COPY_PEER, DFR_STREAM_PEER, SENDS, error);
}
