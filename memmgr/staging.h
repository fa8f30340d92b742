/* staging.h - a ring of pinned host memory through which copies between a device and unpinned host memory pass.
 *
 * Devices copy pinned memory asynchronously. The CPU copies unpinned memory into pinned memory first, or out of it afterwards. A copy is divided into parts of
 * one chunk of the ring, so that the device copies one part while the CPU copies another. link.c uses one ring per direction of a device, and the probe
 * (profiles/probe/probe_device.c) measures the same ring.
 *
 * Words:    a *part* is the piece of a copy that one chunk holds.
 * Order:    parts are given to one stream and taken back in the order in which they were given.
 * Memory:   a ring has DFM_STAGING_CHUNKS chunks of DFM_STAGING_CHUNK_BYTES, 4 MiB in all. dfm_staging_create()
 *           allocates it; nothing allocates later. The device and the host memory of copies are borrowed.
 * Threads:  the thread that owns the device.
 * Errors:   those of the device are passed on.
 */
#ifndef DFM_STAGING_H
#define DFM_STAGING_H

#include "runtime/device/device.h"

#define DFM_STAGING_CHUNK_BYTES (UINT64_C(512) << 10)
#define DFM_STAGING_CHUNKS 8u

struct dfm_staging;

/* Creates a ring for copies of one kind, DFR_COPY_H2D or DFR_COPY_D2H, on one stream. DF_OK with *staging NULL if the system provides no pinned memory. */
int dfm_staging_create(struct dfr_device *device, enum dfr_copy kind, uint32_t stream, struct dfm_staging **staging,
                       struct df_error *error);
/* After the device's drain. NULL is allowed. */
void dfm_staging_destroy(struct dfm_staging *staging);

/* Issues the first part of a copy to the stream. *given is its size; 0 if every chunk is in use. To a device, the part has been read from `from` when the call
 * returns; to the host, it is at `to` after dfm_staging_take() has returned it. */
int dfm_staging_give(struct dfm_staging *staging, void *to, const void *from, uint64_t bytes, uint64_t *given,
                     struct df_error *error);

/* Completes the oldest part if the device has copied it: frees its chunk, with its bytes at their destination. *taken is its size; 0 if the device is not done
 * with it, or there is none. *event is the event after the part, valid until the next part is issued; NULL if there is no part. */
int dfm_staging_take(struct dfm_staging *staging, uint64_t *taken, struct dfr_event **event, struct df_error *error);

#endif
