/* single_job.h - one job by itself: no worker takes it, and nothing waits for its end. The measuring mode
 * (runtime/measure/) and --check=variants (runtime/inspect/check_variants.c) run jobs in this way.
 *
 * Words:    A *single GPU* is a device that its owner has opened for this purpose. It runs one job at a time.
 * Run:      the run that is passed here need not have been started. Only its graph, its options, memory.scalars and
 *           devices.number[1] are used.
 * Checks:   the emulator protects what the job did not declare, unless the run's option emu_check is off.
 * Layout:   the ports of the job lie one after the other from the start of the pool. Behind an inout port lies a copy
 *           of its input, from which each launch restores it within the device. One stream does everything, so the
 *           order of commands needs no event but the last.
 * Time:     from the launch's begin to its end, by the device's own clock if it has one, otherwise by the host's. The
 *           begin of a launch that finds its stream empty is before the host's work for it, which takes a few us on a
 *           GPU. The measuring mode avoids that (measure_batch.c).
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

/* Fills the call of a job that runs by itself. */
void dfr_single_call(struct df_run *run, const struct dfr_single_job *job, struct df_call *call);
/* Judges job->code. Gives DF_OK for DF_OK, for DF_SKIP unless the node fires once, and for DF_END of a stream. Otherwise
 * gives the node's failure. */
int dfr_single_outcome(const struct df_run *run, const struct dfr_single_job *job, const struct df_call *call,
                       struct df_error *error);

/* Opens the back end's device devices.number[1]. Its pool has pool_bytes and spare_bytes behind them for its owner's use,
 * or as many as the device and --gpu-mem allow if that is less. If the run has machine.cores, an emulated one computes on
 * the first of them. */
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
