/* link.c - one direction of copies between a device and the host, or its peers: a queue whose copies are issued to the stream, and complete, in order.
 * transfer.c enqueues copies and handles their completion; cache.c issues loads, and peer.c makes a link for peer copies.
 *
 * Staging: a copy of unpinned host memory is divided into parts that pass through a ring of pinned memory (staging.h). If the ring is full, the rest of the
 * copy and the copies after it wait; each poll of the cache continues them. The link's event follows the parts of a copy, as it follows a whole copy.
 *
 * Batches: small copies (batch_bytes) that are queued at the same time and need no ring are given to the device in one call, with one event after them. Copies
 * that are adjacent on both sides are merged.
 */
#include <math.h>
#include <stdlib.h>

#include "memmgr/cache_impl.h"
#include "runtime/base/error.h"

/* ---- issuing ---- */

/* What no job has changed yet has the same bytes everywhere, so the device makes it from a few of them. */
static bool is_filled(const struct dfm_cache *c, const struct dfm_link *link, const struct dfm_entry *e)
{
    return link->kind == DFR_COPY_H2D && dfm_space_is_first(c->space, e->block);
}

bool dfm_link_stages(const struct dfm_cache *c, const struct dfm_link *link, const struct dfm_entry *e)
{
    return link->staging && !is_filled(c, link, e) && dfm_space_staged(c->space, dfm_space_value(c->space, e->block));
}

static struct dfm_entry *entry_of(const struct dfm_cache *c, const struct dfm_link *link, uint64_t copy)
{
    return &c->entries[link->entries[copy % link->capacity]];
}

/* The last `bytes` of the entry's copy. */
static struct dfr_transfer transfer_of(const struct dfm_cache *c, const struct dfm_link *link, const struct dfm_entry *e,
                                       uint64_t bytes)
{
    uint64_t at = e->moved_bytes - bytes;
    unsigned char *here = c->base + e->offset + at;
    unsigned char *host = (unsigned char *)(link->kind == DFR_COPY_H2D ? c->space->blocks[e->block].host : e->host) + at;

    return link->kind == DFR_COPY_H2D ? (struct dfr_transfer){ .to = here, .from = host, .bytes = bytes }
                                      : (struct dfr_transfer){ .to = host, .from = here, .bytes = bytes };
}

/* Copies a page of the block to the device, and there copies what it has behind it, until all is there. */
static int fill(struct dfm_cache *c, struct dfm_link *link, const struct dfm_entry *e, struct df_error *error)
{
    struct dfr_transfer t = transfer_of(c, link, e, dfm_entry_bytes(c, e));
    uint64_t done = t.bytes < DFM_PAGE ? t.bytes : DFM_PAGE;
    int status = c->device->ops->copy(c->device, DFR_COPY_H2D, t.to, t.from, done, link->stream, error);

    while (status == DF_OK && done < t.bytes) {
        uint64_t more = done < t.bytes - done ? done : t.bytes - done;
        status = c->device->ops->copy(c->device, DFR_COPY_D2D, (unsigned char *)t.to + done, t.to, more, link->stream,
                                      error);
        done += more;
    }
    return status;
}

/* Gives the last `bytes` of copy number link->issued to the stream, or the first part of them. *given: so many of them;
 * 0: the ring is full. */
static int give(struct dfm_cache *c, struct dfm_link *link, const struct dfm_entry *e, uint64_t bytes, uint64_t *given,
                struct df_error *error)
{
    struct dfr_transfer t = transfer_of(c, link, e, bytes);

    if (dfm_link_stages(c, link, e))
        return dfm_staging_give(link->staging, t.to, t.from, bytes, given, error);
    *given = bytes;
    if (is_filled(c, link, e))
        return fill(c, link, e, error);
    return c->device->ops->copy(c->device, link->kind, t.to, t.from, bytes, link->stream, error);
}

/* How many copies from number link->issued on are given together. 0: the next is staged, filled or large. */
static uint32_t n_together(const struct dfm_cache *c, const struct dfm_link *link)
{
    uint64_t bytes = 0;
    uint32_t n = 0;

    for (; link->issued + n < link->queued && n < DFR_BATCH; n++) {
        const struct dfm_entry *e = entry_of(c, link, link->issued + n);
        bytes += e->moved_bytes;
        if (bytes > link->batch_bytes || dfm_link_stages(c, link, e) || is_filled(c, link, e))
            break;
    }
    return n;
}

/* Memory that somebody has lent may be pinned apart from its neighbours, and no copy may be of both. */
static bool is_lent(const struct dfm_cache *c, const struct dfm_entry *e)
{
    return dfm_space_lent(c->space, dfm_space_root(c->space, dfm_space_value(c->space, e->block))) != NULL;
}

static int give_together(struct dfm_cache *c, struct dfm_link *link, uint32_t n, struct df_error *error)
{
    struct dfr_transfer copies[DFR_BATCH];
    uint32_t n_copies = 0;
    bool joins = false;                 /* the last of them may have a neighbour */

    for (uint32_t i = 0; i < n; i++) {
        const struct dfm_entry *e = entry_of(c, link, link->issued + i);
        struct dfr_transfer t = transfer_of(c, link, e, e->moved_bytes);
        struct dfr_transfer *before = joins && !is_lent(c, e) ? &copies[n_copies - 1] : NULL;
        if (before && (unsigned char *)before->to + before->bytes == t.to &&
            (const unsigned char *)before->from + before->bytes == t.from)
            before->bytes += t.bytes;
        else
            copies[n_copies++] = t;
        joins = !is_lent(c, e);
    }
    c->stats.batches++;
    c->stats.batched_copies += n;
    c->stats.joined_copies += n - n_copies;
    return c->device->ops->copy_batch(c->device, link->kind, copies, n_copies, link->stream, error);
}

/* What was given last are the next n copies. */
static int mark_issued(struct dfm_cache *c, struct dfm_link *link, uint32_t n, struct df_error *error)
{
    uint64_t last = link->issued + n - 1;
    int status = c->device->ops->event_record(c->device, link->events[last % link->capacity], link->stream, error);

    if (status != DF_OK)
        return status;
    for (; link->issued <= last; link->issued++)
        link->last[link->issued % link->capacity] = last;
    return DF_OK;
}

/* After about a chunk of staged bytes it lets the worker do other things: the device has work then. */
int dfm_link_issue(struct dfm_cache *c, struct dfm_link *link, struct df_error *error)
{
    uint64_t staged_bytes = 0;

    while (link->issued < link->queued && staged_bytes < DFM_STAGING_CHUNK_BYTES) {
        const struct dfm_entry *e = entry_of(c, link, link->issued);
        uint64_t left = e->moved_bytes - link->given_bytes, given = 0;
        uint32_t n = n_together(c, link);
        int status;

        if (n > 1) {
            given = left;
            status = give_together(c, link, n, error);
        } else {
            n = 1;
            status = left > 0 ? give(c, link, e, left, &given, error) : DF_OK;
        }
        if (status == DF_OK) {
            staged_bytes += dfm_link_stages(c, link, e) ? given : 0;
            link->given_bytes = given < left ? link->given_bytes + given : 0;
        }
        if (status == DF_OK && given == left)
            status = mark_issued(c, link, n, error);
        if (status != DF_OK) {
            c->culprit = e->block;
            c->n_suspects = n - 1;
            return status;
        }
        if (given == 0 && left > 0)
            return DF_OK;
    }
    return DF_OK;
}

/* ---- completing ---- */

/* Takes back what is complete of the parts of the oldest copy, which is staged. */
static int take_parts(struct dfm_cache *c, struct dfm_link *link, bool *progress, struct df_error *error)
{
    const struct dfr_device_ops *ops = c->device->ops;
    uint64_t bytes = entry_of(c, link, link->completed)->moved_bytes;

    while (link->taken_bytes < bytes) {
        struct dfr_event *event;
        uint64_t taken;
        double end_s;
        int status = dfm_staging_take(link->staging, &taken, &event, error);
        if (status != DF_OK || taken == 0)
            return status;
        if (c->config.copied && link->taken_bytes == 0 &&
            !ops->event_times(c->device, event, &link->first_s, &end_s))
            link->first_s = INFINITY;
        link->taken_bytes += taken;
        *progress = true;
    }
    return DF_OK;
}

int dfm_link_complete(struct dfm_cache *c, struct dfm_link *link, bool *done, bool *progress, struct df_error *error)
{
    const struct dfm_entry *e = entry_of(c, link, link->completed);
    bool staged = dfm_link_stages(c, link, e);
    int status = staged ? take_parts(c, link, progress, error) : DF_OK;

    *done = link->completed < link->ended;
    if (*done || status != DF_OK || link->completed == link->issued)
        return status;
    if (staged && link->taken_bytes < e->moved_bytes)
        return DF_OK;
    status = c->device->ops->event_query(c->device, dfm_link_event(link, link->completed), done, error);
    if (status == DF_OK && *done)
        link->ended = link->last[link->completed % link->capacity] + 1;
    return status;
}

/* ---- making ---- */

int dfm_link_create(struct dfm_cache *c, struct dfm_link *link, enum dfr_copy kind, uint32_t stream, uint32_t capacity,
                    struct df_error *error)
{
    link->kind = kind;
    link->stream = stream;
    link->first_s = INFINITY;
    link->entries = malloc(capacity * sizeof *link->entries);
    link->events = calloc(capacity, sizeof *link->events);
    link->last = calloc(capacity, sizeof *link->last);
    if (!link->entries || !link->events || !link->last)
        return dfr_error_memory(error);
    for (; link->capacity < capacity; link->capacity++) {
        int status = c->device->ops->event_create(c->device, &link->events[link->capacity], error);
        if (status != DF_OK)
            return status;
    }
    return DF_OK;
}

int dfm_link_stage(struct dfm_cache *c, struct dfm_link *link, struct df_error *error)
{
    return dfm_staging_create(c->device, link->kind, link->stream, &link->staging, error);
}

void dfm_link_destroy(struct dfm_cache *c, struct dfm_link *link)
{
    for (uint32_t i = 0; i < link->capacity; i++)
        c->device->ops->event_destroy(c->device, link->events[i]);
    dfm_staging_destroy(link->staging);
    free(link->entries);
    free(link->events);
    free(link->last);
}
