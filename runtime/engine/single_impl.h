/* single_impl.h - internals of a single GPU (single_job.h): single_job.c opens it and runs one job;
 * runtime/measure/measure_batch.c times several launches in a row.
 */
#ifndef DFR_SINGLE_IMPL_H
#define DFR_SINGLE_IMPL_H

#include "runtime/engine/single_job.h"

#define DFR_SINGLE_STREAM DFR_STREAM_COMPUTE

#define DFR_SINGLE_MOST 32              /* launches of a batch */

struct dfr_single_gpu {
    struct df_run *run;                 /* borrowed */
    const struct dfr_device_ops *ops;
    struct dfr_device *device;
    struct dfr_event *event;
    struct df_unit unit;
    uint64_t pool_bytes, spare_bytes;   /* spare: requested after the largest job */
    void **places;                      /* by port of the present job: its address on the device */
    struct dfr_range *ranges;           /* by port: the same, for a device that checks its memory */
    size_t *dims;                       /* of the present job */
    struct dfr_opened opened;
    struct dfr_event *ends[DFR_SINGLE_MOST + 1]; /* of the launches of a batch */
    uint32_t n_ends;
    double bytes_per_s;                 /* of a copy within the device; 0: not measured yet */
};

struct dfr_single_launch {              /* what launches of the present job need, until the last one is complete */
    struct df_call call;
    char name[128];
    struct dfr_launch launch;
    bool copies;                        /* the kernel is an inserted copy */
    uint64_t copy_bytes;
};

int dfr_single_copy(struct dfr_single_gpu *gpu, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                    struct df_error *error);
/* Enqueues copies that restore the inputs of a job's inouts. */
int dfr_single_restore(struct dfr_single_gpu *gpu, const struct dfr_single_job *job, struct df_error *error);
void dfr_single_prepare(struct dfr_single_gpu *gpu, struct dfr_single_job *job, struct dfr_single_launch *launch);
/* *result is what the kernel returns, once the launch is complete. */
int dfr_single_enqueue(struct dfr_single_gpu *gpu, struct dfr_single_launch *launch, int *result,
                       struct df_error *error);
/* After a failure: waits until nothing accesses *launch any more. Returns `status`, with the node's name in *error. */
int dfr_single_failed(struct dfr_single_gpu *gpu, const struct dfr_single_job *job,
                      const struct dfr_single_launch *launch, int status, const struct df_error *why,
                      struct df_error *error);

#endif
