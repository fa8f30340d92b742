/* gpu_impl.h - the inside of one GPU's worker, shared by gpu.c (making and ending it), gpu_worker.c (its loop),
 * gpu_launch.c (launching, with what follows), gpu_record.c (recorded launches) and gpu_blame.c (failures). */
#ifndef DFR_GPU_IMPL_H
#define DFR_GPU_IMPL_H

#include "runtime/device/flight.h"
#include "runtime/gpu/gpu.h"
#include "runtime/policy/next_use.h"

#define DFR_GPU_NAME_BYTES 256
#define DFR_GPU_BATCH 32u               /* jobs launched together, one after another on one stream */
#define DFR_GPU_AHEAD 64u               /* jobs in flight whose inputs are still being made here */
#define DFR_GPU_RECORDINGS 128u

enum gpu_state { GPU_EMPTY, GPU_TAKEN, GPU_RESERVED, GPU_LAUNCHED };

struct gpu_job {
    enum gpu_state state;
    bool asked;                         /* some inputs come from other devices; `missing` counts them */
    bool loaded;                        /* all copies of its inputs are issued */
    bool ahead;                         /* not taken from the policy: launched behind what makes its inputs */
    bool loads;                         /* its kernel had not been launched on its stream before */
    uint32_t stream;                    /* LAUNCHED */
    uint64_t job;
    struct dfm_claim claim;             /* inputs in order of in slots, then outputs that take nothing over */
    struct df_call call;
    void **ports;
    struct dfr_range *ranges;
    char *name;                         /* of the node, for the device's messages */
    struct dfr_event *event;
    uint32_t told_by;                   /* job here whose event tells of its end: its own, or the last of its batch */
    uint32_t tells;                     /* jobs in flight that this one's event tells of beside it */
    uint32_t part, parts;               /* of what the event times: part `part` of `parts` */
    struct gpu_recording *recording;    /* it is replayed; NULL: launched */
    int result;
    double launched_s;
};

struct gpu_recording;

struct dfr_gpu {
    struct df_run *run;
    uint32_t unit;
    struct dfr_device *device;
    struct dfm_cache *cache;
    uint32_t peers;                     /* bit u: unit u sends to it directly, and it to u */
    bool by_next_use;                   /* eviction is Belady's, not LRU */
    struct dfr_next_use *next_use;      /* then */
    uint32_t window, capacity;          /* jobs that may be taken; and with those launched ahead */
    uint32_t n_jobs, n_ahead;           /* jobs[order[0 … n_jobs)] are in flight, oldest first */
    struct gpu_job *jobs;
    uint32_t *order;
    uint32_t *stream_jobs;              /* in flight on each of gpu_jobs streams */
    struct dfr_flight flight;           /* how many of them are used */
    uint8_t *flying;                    /* by job index: launched and not ended; NULL: nothing is launched ahead */
    uint8_t *loaded;                    /* [stream * n_kernels + kernel]: launched there before; NULL: all is there from
                                         * the start */
    double steady_s;                    /* when a launch last took as long as it does once alone */
    _Atomic bool broken;                /* a kernel failed: what was launched behind it does not run (emu) */
    uint32_t least_recorded;            /* jobs of a batch that is recorded; 0: none is */
    bool record_at_once;                /* else when the same batch comes again */
    struct gpu_recording *recordings;   /* DFR_GPU_RECORDINGS, by hash; NULL: none */
    uint64_t n_replayed;                /* jobs */
    struct dfr_trace_row *h2d_row, *d2h_row, *peer_row;
    double origin_s;                    /* what dfr_clock_s() said at the device's time 0 */
    double computed_until_s;
};

/* ---- gpu_worker.c ---- */

void dfr_gpu_describe_claim(struct dfr_gpu *gpu, struct gpu_job *j);

/* ---- gpu_blame.c: the run fails, with the error and whose it is ---- */

/* While something was done for this job. What its own host code said is the reason, unless that only found the device
 * lost: whose doing that is, nobody knows then. */
void dfr_gpu_job_failed(struct dfr_gpu *gpu, const struct gpu_job *j, const struct df_error *error);
/* While copies were looked at. */
void dfr_gpu_copies_failed(struct dfr_gpu *gpu, const struct df_error *error);

/* ---- gpu_launch.c ---- */

/* Launches a loaded job on a stream that is free, and behind it those jobs of this GPU that need nothing else than what
 * is in flight here. */
void dfr_gpu_launch(struct dfr_gpu *gpu, struct dfr_worker *w, struct gpu_job *j, uint32_t stream);
/* One job: its kernel, or the copy that it is. `call` and `result` may be a recording's. */
int dfr_gpu_enqueue(struct dfr_gpu *gpu, const struct gpu_job *j, struct df_call *call, int *result, void **ports,
                    const struct dfr_range *ranges, const char *name, struct df_error *error);

/* ---- gpu_record.c ---- */

int dfr_gpu_recordings_create(struct dfr_gpu *gpu, struct df_error *error);
void dfr_gpu_recordings_destroy(struct dfr_gpu *gpu);
/* Records or replays the batch where that may be and pays. *done: it was, and is in flight; else it is to be launched
 * job by job. */
int dfr_gpu_replay(struct dfr_gpu *gpu, struct gpu_job **batch, uint32_t n, bool *done, struct df_error *error);
/* The job has ended: what its kernel said. */
void dfr_gpu_replayed(struct dfr_gpu *gpu, struct gpu_job *j);

#endif
