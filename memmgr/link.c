/* link.c - one direction of copies between a device and the host: copies are queued, given to the stream in their order,
 * and found complete in that order. transfer.c queues them, and does what follows when a copy is complete.
 *
 * Staging: a copy of host memory that is not pinned goes in parts through a ring of pinned memory (staging.h). If the
 * ring is full, the rest of the copy waits, and the copies behind it. Each poll of the cache goes on with them. The parts
 * of a copy are followed by the link's own event, as a whole copy is.
 */
#include <math.h>
#include <stdlib.h>

#include "memmgr/cache_impl.h"
#include "runtime/base/error.h"

/* ---- issuing ---- */

bool dfm_link_stages(const struct dfm_cache *c, const struct dfm_link *link, const struct dfm_entry *e)
{
    return link->staging && dfm_space_staged(c->space, dfm_space_value(c->space, e->block));
}

/* Gives the last `bytes` of copy number link->issued to the stream, or the first part of them. *given: so many of them;
 * 0: the ring is full. */
static int give(struct dfm_cache *c, struct dfm_link *link, const struct dfm_entry *e, uint64_t bytes, uint64_t *given,
                struct df_error *error)
{
    uint64_t at = dfm_entry_bytes(c, e) - bytes;
    unsigned char *here = c->base + e->offset + at;
    unsigned char *host = (unsigned char *)(link->kind == DFR_COPY_H2D ? c->space->blocks[e->block].host : e->host) + at;
    void *to = link->kind == DFR_COPY_H2D ? here : host;
    const void *from = link->kind == DFR_COPY_H2D ? host : here;

    if (dfm_link_stages(c, link, e))
        return dfm_staging_give(link->staging, to, from, bytes, given, error);
    *given = bytes;
    return c->device->ops->copy(c->device, link->kind, to, from, bytes, link->stream, error);
}

/* After about a chunk of staged bytes it lets the worker do other things: the device has work then. */
int dfm_link_issue(struct dfm_cache *c, struct dfm_link *link, struct df_error *error)
{
    uint64_t staged_bytes = 0;

    while (link->issued < link->queued && staged_bytes < DFM_STAGING_CHUNK_BYTES) {
        uint32_t at = (uint32_t)(link->issued % link->capacity);
        const struct dfm_entry *e = &c->entries[link->entries[at]];
        uint64_t left = dfm_entry_bytes(c, e) - link->given_bytes, given = 0;
        int status = left > 0 ? give(c, link, e, left, &given, error) : DF_OK;

        if (status == DF_OK) {
            staged_bytes += dfm_link_stages(c, link, e) ? given : 0;
            link->given_bytes += given;
        }
        if (status == DF_OK && given == left)
            status = c->device->ops->event_record(c->device, link->events[at], link->stream, error);
        if (status != DF_OK) {
            c->culprit = e->block;
            return status;
        }
        if (given == 0 && left > 0)
            return DF_OK;
        if (given < left)
            continue;
        link->given_bytes = 0;
        link->issued++;
    }
    return DF_OK;
}

/* ---- completing ---- */

/* Takes back what is complete of the parts of the oldest copy, which is staged. */
static int take_parts(struct dfm_cache *c, struct dfm_link *link, bool *progress, struct df_error *error)
{
    const struct dfr_device_ops *ops = c->device->ops;
    uint64_t bytes = dfm_entry_bytes(c, &c->entries[link->entries[link->completed % link->capacity]]);

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
    const struct dfm_entry *e = &c->entries[link->entries[link->completed % link->capacity]];
    bool staged = dfm_link_stages(c, link, e);
    int status = staged ? take_parts(c, link, progress, error) : DF_OK;

    *done = false;
    if (status != DF_OK || link->completed == link->issued)
        return status;
    if (staged && link->taken_bytes < dfm_entry_bytes(c, e))
        return DF_OK;
    return c->device->ops->event_query(c->device, link->events[link->completed % link->capacity], done, error);
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
    if (!link->entries || !link->events)
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
}
