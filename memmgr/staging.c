/* staging.c - copies between a device and unpinned host memory in parts, through pinned memory (staging.h). link.c and
 * the probe of devices (profiles/probe/) use it. */
#include "memmgr/staging.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

struct part {
    struct dfr_event *event;            /* of the chunk; recorded after the part's copy */
    void *to;                           /* on the way to the host: where its bytes belong */
    uint64_t bytes;
};

struct dfm_staging {
    struct dfr_device *device;
    enum dfr_copy kind;
    uint32_t stream;
    unsigned char *chunks;
    struct part parts[DFM_STAGING_CHUNKS]; /* part number n is in chunk n % DFM_STAGING_CHUNKS */
    uint64_t given, taken;
};

#define RING_BYTES (DFM_STAGING_CHUNKS * DFM_STAGING_CHUNK_BYTES)

int dfm_staging_create(struct dfr_device *device, enum dfr_copy kind, uint32_t stream, struct dfm_staging **staging,
                       struct df_error *error)
{
    struct dfm_staging *s = calloc(1, sizeof *s);
    int status = DF_OK;

    *staging = NULL;
    if (!s)
        return dfr_error_memory(error);
    *s = (struct dfm_staging){ .device = device, .kind = kind, .stream = stream };
    s->chunks = device->ops->host_alloc(RING_BYTES, NULL);
    for (uint32_t i = 0; s->chunks && i < DFM_STAGING_CHUNKS && status == DF_OK; i++)
        status = device->ops->event_create(device, &s->parts[i].event, error);
    if (!s->chunks || status != DF_OK) {
        dfm_staging_destroy(s);
        return status;
    }
    *staging = s;
    return DF_OK;
}

void dfm_staging_destroy(struct dfm_staging *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < DFM_STAGING_CHUNKS; i++)
        if (s->parts[i].event)
            s->device->ops->event_destroy(s->device, s->parts[i].event);
    if (s->chunks)
        s->device->ops->host_free(s->chunks, RING_BYTES);
    free(s);
}

static unsigned char *chunk_of(const struct dfm_staging *s, uint64_t part)
{
    return s->chunks + part % DFM_STAGING_CHUNKS * DFM_STAGING_CHUNK_BYTES;
}

int dfm_staging_give(struct dfm_staging *s, void *to, const void *from, uint64_t bytes, uint64_t *given,
                     struct df_error *error)
{
    const struct dfr_device_ops *ops = s->device->ops;
    struct part *part = &s->parts[s->given % DFM_STAGING_CHUNKS];
    unsigned char *chunk = chunk_of(s, s->given);
    int status;

    *given = 0;
    if (s->given - s->taken == DFM_STAGING_CHUNKS)
        return DF_OK;
    part->to = to;
    part->bytes = bytes < DFM_STAGING_CHUNK_BYTES ? bytes : DFM_STAGING_CHUNK_BYTES;
    if (s->kind == DFR_COPY_H2D) {
        memcpy(chunk, from, part->bytes);
        status = ops->copy(s->device, s->kind, to, chunk, part->bytes, s->stream, error);
    } else {
        status = ops->copy(s->device, s->kind, chunk, from, part->bytes, s->stream, error);
    }
    if (status == DF_OK)
        status = ops->event_record(s->device, part->event, s->stream, error);
    if (status != DF_OK)
        return status;
    s->given++;
    *given = part->bytes;
    return DF_OK;
}

int dfm_staging_take(struct dfm_staging *s, uint64_t *taken, struct dfr_event **event, struct df_error *error)
{
    struct part *part = &s->parts[s->taken % DFM_STAGING_CHUNKS];
    bool complete = false;
    int status;

    *taken = 0;
    *event = s->taken == s->given ? NULL : part->event;
    if (!*event)
        return DF_OK;
    status = s->device->ops->event_query(s->device, part->event, &complete, error);
    if (status != DF_OK || !complete)
        return status;
    if (s->kind == DFR_COPY_D2H)
        memcpy(part->to, chunk_of(s, s->taken), part->bytes);
    s->taken++;
    *taken = part->bytes;
    return DF_OK;
}
