/* gpu_impl.h - the inside of one GPU's worker, shared by gpu.c (making and ending it) and gpu_worker.c (its loop). */
#ifndef DFR_GPU_IMPL_H
#define DFR_GPU_IMPL_H

#include "runtime/flight.h"
#include "runtime/gpu.h"

#define DFR_GPU_NAME_BYTES 256

enum gpu_state { GPU_EMPTY, GPU_TAKEN, GPU_RESERVED, GPU_LAUNCHED };

struct gpu_job {
    enum gpu_state state;
    bool asked;                         /* some inputs come from other devices; `missing` counts them */
    bool loaded;                        /* all copies of its inputs are issued */
    uint32_t stream;                    /* LAUNCHED */
    uint64_t job;
    struct dfm_claim claim;             /* inputs in order of in slots, then outputs that take nothing over */
    struct df_call call;
    void **ports;
    struct dfr_range *ranges;
    char *name;                         /* of the node, for the device's messages */
    struct dfr_event *event;
    int result;
    double launched_s;
};

struct dfr_gpu {
    struct df_run *run;
    uint32_t unit;
    struct dfr_device *device;
    struct dfm_cache *cache;
    uint32_t window, n_jobs;            /* jobs[order[0 … n_jobs)] are in flight, oldest first */
    struct gpu_job *jobs;
    uint32_t *order;
    bool *stream_busy;                  /* gpu_jobs of them */
    struct dfr_flight flight;           /* how many of them are used */
    struct dfr_trace_row *h2d_row, *d2h_row;
    double origin_s;                    /* what dfr_clock_s() said at the device's time 0 */
    double computed_until_s;
};

#endif
