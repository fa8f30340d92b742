/* single_job.h - runs one job in isolation: no worker takes it, and no other job waits for its end. The measuring mode
 * (runtime/measure/) and --check=variants (runtime/inspect/check_variants.c) use it.
 *
 * Words:    a *single GPU* is a device that its owner has opened for this purpose. It runs one job at a time.
 * Run:      need not have been started. Only its graph, options, memory.scalars and devices.number[1] are used.
 * Checks:   the emulator protects memory that the job did not declare, unless the run's option emu_check is off.
 * Layout:   the job's ports are laid out one after the other from the start of the pool. After each inout port lies a
 *           copy of its input, from which each launch restores it on the device. All commands go to one stream, so only
 *           the last one needs an event.
 * Time:     from the beginning of the launch to its end, by the device's clock if it has one, otherwise by the host's.
 *           If the stream is empty, a launch begins before the host's work for it, which takes a few us on a GPU; the
 *           measuring mode avoids that (measure/measure_batch.c).
 * Threads:  one thread at a time for each single GPU.
 */
#ifndef DFR_SINGLE_JOB_H
#define DFR_SINGLE_JOB_H

#include "runtime/device/device.h"
#include "runtime/engine/engine.h"

struct dfr_single_gpu;

struct dfr_single_job {
    uint32_t node;
    int64_t wave;
    uint32_t slot;                      /* that it finds its extents in */
    void *const *ports;                 /* on the host, tmp ports included */
    struct dfr_opened *opened;          /* of who calls the cpu variant; a single GPU has its own */
    bool outputs_too;                   /* outputs are copied to the device, too, before the launch */
    int code;                           /* what the kernel returned */
};

/* Fills in the call of a job that runs in isolation. */
void dfr_single_call(struct df_run *run, const struct dfr_single_job *job, struct df_call *call);
/* Evaluates job->code: returns DF_OK for DF_OK, for DF_SKIP unless the node fires once, and for DF_END of a stream;
 * otherwise the node's failure. */
int dfr_single_outcome(const struct df_run *run, const struct dfr_single_job *job, const struct df_call *call,
                       struct df_error *error);

/* Opens the back end's device devices.number[1]. Its pool has pool_bytes, then spare_bytes for its owner's use, or less if the
 * device or --gpu-mem does not allow as much. If the run has machine.cores, an emulated GPU computes on the first of them. */
int dfr_single_gpu_open(struct df_run *run, const struct dfr_device_ops *ops, uint64_t pool_bytes,
                        uint64_t spare_bytes, struct dfr_single_gpu **gpu, struct df_error *error);
void dfr_single_gpu_close(struct dfr_single_gpu *gpu); /* NULL is allowed */
const char *dfr_single_gpu_name(const struct dfr_single_gpu *gpu);
uint64_t dfr_single_gpu_need(const struct df_graph *graph, uint32_t work); /* bytes of the pool that a work takes */
bool dfr_single_gpu_fits(const struct dfr_single_gpu *gpu, uint32_t work);

/* The three steps of a job: its inputs go to the device; one launch, which may be repeated, with its time; its outputs
 * come back to the host. */
int dfr_single_gpu_bring(struct dfr_single_gpu *gpu, const struct dfr_single_job *job, struct df_error *error);
int dfr_single_gpu_launch(struct dfr_single_gpu *gpu, struct dfr_single_job *job, double *seconds,
                          struct df_error *error);
int dfr_single_gpu_fetch(struct dfr_single_gpu *gpu, const struct dfr_single_job *job, struct df_error *error);

#endif
