/* gpu_impl.h - the private interface of a GPU's worker. gpu.c creates and destroys it, gpu_worker.c has its loop, gpu_launch.c launches jobs and their
 * successors, gpu_record.c records and replays launches, gpu_pause.c decides how long it sleeps, and gpu_blame.c reports failures.
 *
 * Words:    a job is launched *ahead* if it is launched behind the jobs that produce its inputs, before the engine has made it ready. A *batch* is the set
 *           of jobs launched at the same time on one stream: a job and those ahead behind it, or jobs ahead only.
 */
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
    bool asked;                         /* some inputs come from other devices; run->devices.missing counts them */
    bool loaded;                        /* all copies of its inputs are issued */
    bool ahead;                         /* not taken from the policy, but launched ahead */
    bool open;                          /* in flight: some of its readers may have to be launched behind it */
    bool left_out;                      /* an input was empty when it was taken: nothing is launched for it, and its claim
                                         * has neither outputs nor scratch */
    bool loads;                         /* its kernel had not been launched on its stream before */
    uint32_t stream;                    /* while GPU_LAUNCHED: its compute stream, from 0 */
    uint64_t job;
    struct dfm_claim claim;             /* inputs by in slot, then accs, then outputs that take no input's memory over */
    struct df_call call;
    void **ports;
    struct dfr_range *ranges;
    char *name;                         /* the node's, for the device's messages */
    struct dfr_event *event;
    uint32_t told_by;                   /* number of the job whose event tells of this one's end: itself, or the last
                                         * of its batch */
    uint32_t tells;                     /* other jobs in flight whose end this one's event tells of */
    bool complete;                      /* its event is complete: it is not asked again */
    uint64_t found;                     /* the look (of struct dfr_gpu) that found this */
    uint32_t part, parts;               /* this job is part `part` of `parts` equal parts of what the event times */
    struct gpu_recording *recording;    /* that it is replayed by; NULL: it was launched by itself */
    int result;
    bool waits;                         /* some copies of its inputs were under way when it was launched */
    double launched_s;
    double took_s;                      /* once its event is complete: gpu_worker.c; less than 0: not known */
};

struct gpu_recording;

struct dfr_gpu {
    struct df_run *run;
    uint32_t unit;
    struct dfr_device *device;
    struct dfm_cache *cache;
    uint32_t peers;                     /* bit u: unit u and this one send to each other directly */
    bool by_next_use;                   /* eviction is Belady's, not LRU */
    struct dfr_next_use *next_use;      /* not NULL if by_next_use, once the policy exists */
    uint32_t window, capacity;          /* jobs that may be taken; these and the ones that may be launched ahead */
    uint32_t n_jobs, n_ahead;           /* jobs[order[0 … n_jobs)] are in flight, oldest first */
    struct gpu_job *jobs;
    uint32_t *order;
    uint32_t *stream_jobs;              /* by compute stream: jobs in flight there */
    struct dfr_opened *opened;          /* by compute stream */
    struct dfr_flight flight;           /* how many of these streams are used */
    uint8_t *flying;                    /* by job index: launched and not ended; NULL: nothing is launched ahead */
    uint8_t *loaded;                    /* [stream * n_kernels + kernel]: launched there before; NULL: all code is
                                         * there from the start */
    bool failed;                        /* a kernel is known to have failed: nothing is launched behind it */
    void *host_tmp;                     /* scratch of the CPU's code alone, for the kernel that runs: an emulated GPU runs one at a time; NULL: none needs it */
    double steady_s;                    /* when a launch last took the time that it takes only once */
    _Atomic bool broken;                /* a kernel failed: what was launched behind it does not run (emu) */
    uint32_t least_recorded;            /* a batch of so many jobs is recorded; 0: none is */
    bool record_at_once;                /* false: a batch is recorded when it comes for the second time */
    struct gpu_recording *recordings;   /* DFR_GPU_RECORDINGS places, from the hash on; NULL: none */
    uint64_t n_batches;                 /* batches that might have been replayed */
    uint64_t n_replayed;                /* jobs that ran by a replay */
    struct dfr_trace_row *h2d_row, *d2h_row, *peer_row;
    double origin_s;                    /* what dfr_clock_s() said at the device's time 0 */
    double computed_until_s;            /* the latest end of a job so far */
    _Atomic uint32_t asked, told;       /* dfr_gpu_settle(): the number of the last question, and of the last answer */
    bool forget;                        /* part of the question; written before `asked`, with release */
    const struct gpu_job *ending;       /* the job that ends now: the policy is being told */
    double found_s;                     /* when jobs were last found to have ended */
    uint64_t *stream_looked;            /* by compute stream: the look at which its first event was not complete */
    uint64_t looks;                     /* how often the worker has looked for jobs that have ended */
};

/* ---- gpu_worker.c ---- */

void dfr_gpu_describe_claim(struct dfr_gpu *gpu, struct gpu_job *j);

/* ---- gpu_pause.c ---- */

#define DFR_GPU_FIRST_PAUSE_NS 2000

/* When the next job with an event is expected to end, by dfr_clock_s(). INFINITY: none is in flight, or times are unknown. */
double dfr_gpu_next_end_s(const struct dfr_gpu *gpu);
/* Returns how many nanoseconds to sleep, or 0. changed_s: the time of the last change. next_s: when the next job is expected to end. *pause_ns: the length of
 * the next pause, reset to DFR_GPU_FIRST_PAUSE_NS by each change. */
int64_t dfr_gpu_pause_ns(double now_s, double changed_s, double next_s, bool may_spin, int64_t *pause_ns);

/* ---- gpu_blame.c: fails the run with a message that names the error and its cause ---- */

/* Reports that a call made for this job failed. The reason is what the job's own host code reported, unless that code only found the device lost; the cause
 * is then unknown. */
void dfr_gpu_job_failed(struct dfr_gpu *gpu, const struct gpu_job *j, const struct df_error *error);
/* Reports that a call about copies failed. */
void dfr_gpu_copies_failed(struct dfr_gpu *gpu, const struct df_error *error);

/* ---- gpu_launch.c ---- */

/* Launches a loaded job on a free stream, and behind it, ahead, the jobs of this GPU whose missing inputs are all produced by jobs in flight here. */
void dfr_gpu_launch(struct dfr_gpu *gpu, struct dfr_worker *w, struct gpu_job *j, uint32_t stream);
/* Launches more batches behind those in flight while there is room. Returns false if it launched none. */
bool dfr_gpu_launch_behind(struct dfr_gpu *gpu);
/* Returns true if the job is enqueued as a device copy: a copy, or a select whose inputs are known to be empty or not. On a back end that returns results late,
 * those behind a job in flight are launched as functions, which check when they run. */
bool dfr_gpu_copies(const struct dfr_gpu *gpu, const struct gpu_job *j);
/* Enqueues one job: its kernel, or the copy that it is. `call` and `result` may be a recording's. */
int dfr_gpu_enqueue(struct dfr_gpu *gpu, const struct gpu_job *j, struct df_call *call, int *result, void **ports,
                    const struct dfr_range *ranges, const char *name, struct df_error *error);

/* ---- gpu_record.c ---- */

int dfr_gpu_recordings_create(struct dfr_gpu *gpu, struct df_error *error);
void dfr_gpu_recordings_destroy(struct dfr_gpu *gpu);
void dfr_gpu_recordings_forget(struct dfr_gpu *gpu);    /* none is in flight */
/* Records or replays the batch if that is allowed and pays. *done becomes true if the batch was replayed and is in
 * flight; else it is to be launched job by job. */
int dfr_gpu_replay(struct dfr_gpu *gpu, struct gpu_job **batch, uint32_t n, bool *done, struct df_error *error);
/* Called when the job has ended: if it was replayed, copies its kernel's result from the recording into the job. */
void dfr_gpu_replayed(struct dfr_gpu *gpu, struct gpu_job *j);

#endif
