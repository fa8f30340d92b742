/* measure_impl.h - internal interface of the measuring mode (measure.h), shared by its files.
 *
 *   measure.c         the control flow: selects variants, and runs the graph in order.
 *   measure_tokens.c  allocates and frees tokens.
 *   measure_cpu.c     runs a cpu variant once, or repeatedly.
 *   measure_load.c    runs it repeatedly under background load.
 *   measure_gpu.c     runs a gpu variant once, or repeatedly.
 *   measure_batch.c   times several back-to-back launches on a device.
 *   measure_watch.c   ends the measuring mode if a kernel does not return.
 *   measure_report.c  the protocol with `dfc profile`, and the environment variable.
 */
#ifndef DFR_MEASURE_IMPL_H
#define DFR_MEASURE_IMPL_H

#include <pthread.h>

#include "runtime/engine/single_job.h"
#include "runtime/measure/measure.h"
#include "runtime/measure/triad.h"

struct dfr_measure_report;
struct dfr_watchdog;

enum dfr_measure_state { DFR_M_NONE,    /* it cannot run here, or it has a cost */
                         DFR_M_WANTED, DFR_M_KNOWN, DFR_M_DONE };

struct dfr_measure_times {              /* of a variant that runs for the flow only */
    double *seconds;
    uint32_t n;
    size_t capacity;
};

struct dfr_measure {
    const struct df_graph *graph;
    const struct df_options *options;
    struct dfr_sampler_options sampler;
    uint32_t n_loaded;                  /* workers that run together under load; 0: nothing is measured under load */
    struct dfr_triad *triad;            /* with its rates in `rates`; NULL: not needed so far */
    struct dfr_load rates;
    struct dfr_measure_report *report;
    struct dfr_single_gpu *gpu;         /* NULL: no device is needed, or there is none */
    bool emulated;
    uint64_t flush_bytes;               /* of the GPU's cache, if it is to be cold before each launch; else 0 */
    int64_t n_waves;                    /* of the flow, at most */
    bool complete;                      /* a stream has ended: the flow was a whole run */
    struct df_run run;                  /* never started: what single_job.h and a kernel's calls look at */
    struct df_call call;                /* of the cpu variant at hand */
    struct dfr_opened opened;           /* by cpu variants that this thread calls */
    uint8_t *state;                     /* [class * n_works + work], class cpu or gpu: enum dfr_measure_state */
    struct dfr_measure_times *flow;     /* same index */
    struct dfr_measure_times *beside;   /* by work: of the cpu variant in the second flow, beside the triad */
    struct df_error why_alone;          /* why there was no second flow, or why it ended early */
    bool second;                        /* this is the second flow, in which nothing else is measured */
    void **memory;                      /* by value; NULL: it has none now */
    uint32_t *left;                     /* by value: readers that have not run yet in this wave */
    void **ports;                       /* of the node at hand */
    uint64_t wave_bytes;                /* of a wave's tokens that are there at the same time, at most */
    size_t *dims;
    struct dfr_watchdog *watchdog;
    pthread_mutex_t lock;               /* measure_watch.c */
    const struct dfr_single_job *calling; /* the call that runs now, or the last one */
    uint32_t calling_class;
};

/* One node in one wave. Its ports on the host are m->ports. Inputs keep their contents, but those of an inout
 * change. */
struct dfr_measure_job {
    struct dfr_measure *m;
    struct dfr_single_job job;
};

static inline const struct df_work *dfr_measure_work(const struct dfr_measure_job *job)
{
    return &job->m->graph->works[job->m->graph->nodes[job->job.node].work];
}

/* Around each call of a kernel, and around nothing else. _start() comes after options and sampler are known. `ops` NULL: no device takes part. */
int dfr_measure_watch_start(struct dfr_measure *m, const struct dfr_device_ops *ops, struct df_error *error);
double dfr_measure_limit_s(const struct dfr_device_ops *ops, double max_s); /* what a call may take without --watchdog */
/* Calls have taken so long alone, and take longer under load: the limit is at least ten times that from now on, unless --watchdog sets it. */
void dfr_measure_watch_longer(struct dfr_measure *m, double seconds);
void dfr_measure_watch_end(struct dfr_measure *m);
void dfr_measure_call_begins(const struct dfr_measure_job *job, uint32_t cls);
void dfr_measure_call_ended(struct dfr_measure *m);

/* Writes the samples of what runs for the flow alone. all: everything has run, so what has no sample is reported. */
int dfr_measure_report_flow(struct dfr_measure *m, bool all, struct df_error *error);

/* A wave begins: all readers of all values are still to come. */
void dfr_measure_begin_wave(struct dfr_measure *m);
/* Bytes of a wave's tokens that are there at the same time, at most, if nodes run in the order of their numbers. It uses
 * m->left. */
uint64_t dfr_measure_wave_bytes(struct dfr_measure *m);
/* Of these, bytes of tokens that no job of the work touches; at most DFR_MEASURE_OTHERS. In a run they pass through the
 * caches between two of its jobs. */
#define DFR_MEASURE_OTHERS (UINT64_C(64) << 20) /* more than what most caches have */
uint64_t dfr_measure_other_bytes(const struct dfr_measure *m, uint32_t work);
uint64_t dfr_measure_port_bytes(const struct df_graph *graph, uint32_t work); /* of all ports of one job */
/* Memory of a token, with its pages. *memory is NULL after a failure; free() releases it. */
int dfr_measure_allocate(uint64_t bytes, void **memory, struct df_error *error);
/* Fills m->ports for a node: its inputs, new memory for outputs, scratch for tmp ports. */
int dfr_measure_bind(struct dfr_measure *m, uint32_t node, struct df_error *error);
/* After a node that skipped: its outputs are zeros. Its readers are measured with them, since they would be called in
 * other waves. */
void dfr_measure_clear(struct dfr_measure *m, uint32_t node);
/* Before the flow runs a second time: nothing has memory. */
void dfr_measure_forget(struct dfr_measure *m);
/* After a node: frees its scratch, the values that it was the last to read, and its outputs without readers. */
void dfr_measure_release(struct dfr_measure *m, uint32_t node);

/* Fires the cpu variant on m->ports. */
int dfr_measure_fire_cpu(struct dfr_measure_job *job, double *seconds, struct df_error *error);
/* Repeats the cpu variant on copies of these, until its mean is known. There are so many copies, used in turns, as take
 * the memory of a wave's tokens: the caches hold as much of a job's inputs as in a run. */
int dfr_measure_repeat_cpu(struct dfr_measure_job *job, struct dfr_sample *sample, struct df_error *error);

/* These copies, for one thread. _make() may fail when some are made: _free() frees those. */
struct dfr_measure_turns {
    struct dfr_measure_job *job;
    uint32_t n, next;
    unsigned n_ports;
    void **ports;                       /* [copy * n_ports + port] */
};

int dfr_measure_turns_make(struct dfr_measure_job *job, struct dfr_measure_turns *turns, struct df_error *error);
void dfr_measure_turns_free(struct dfr_measure_turns *turns);
void *const *dfr_measure_turn(struct dfr_measure_turns *turns); /* the ports whose turn it is */
/* Calls the cpu variant once on such ports, for a thread beside the measurement: no watchdog looks at the call. Its
 * inouts are given their inputs again before that. *call is filled; it outlives the thread (crash.h). */
int dfr_measure_call_beside(struct dfr_measure_job *job, struct df_call *call, void *const *ports,
                            struct df_error *error);

/* measure_load.c. Why a variant is not measured under load; NULL: it is. */
const char *dfr_measure_unloaded(const struct dfr_measure *m, uint32_t work, uint32_t cls);
/* Finds n_loaded, for a device that computes on the host's cores or none. */
void dfr_measure_count_load(struct dfr_measure *m);
/* Fires the cpu variant on m->ports beside the triad. */
int dfr_measure_fire_beside(struct dfr_measure_job *job, double *seconds, struct df_error *error);
/* Repeats the cpu variant beside others, until its means are known. */
int dfr_measure_load_cpu(struct dfr_measure_job *job, struct dfr_load *load, struct df_error *error);

const char *dfr_measure_gpu_name(const struct dfr_measure *m); /* DEVICE in a KEY (measure.h) */
/* Bytes that are written to have the cache of the run's first device cold. */
uint64_t dfr_measure_cache(const struct df_run *run, const struct dfr_device_ops *ops);
/* Bytes of the device's memory that are wanted beside a job. */
uint64_t dfr_measure_gpu_spare(const struct dfr_measure *m, const struct dfr_device_ops *ops);
/* Why a gpu variant that fits cannot be measured with a cold cache, if that is asked for; NULL: it can. */
const char *dfr_measure_uncold(const struct dfr_measure *m, uint32_t work);
/* The same two with the gpu variant. Inputs are copied to the device, and, after firing for the flow, outputs back. */
int dfr_measure_fire_gpu(struct dfr_measure_job *job, double *seconds, struct df_error *error);
int dfr_measure_repeat_gpu(struct dfr_measure_job *job, struct dfr_sample *sample, struct df_error *error);

/* ---- measure_batch.c: several back-to-back launches ---- */

struct dfr_measure_batch {
    uint32_t n;                         /* launches, 1 to DFR_SINGLE_MOST (single_impl.h) */
    double delay_s;                     /* the copies before the first launch take about as long; 0: there are none */
    bool warm;                          /* one launch more, after the delay, is not timed: the copies of the delay take
                                         * the job's inputs out of the device's cache */
    uint64_t flush_bytes;               /* as many are written before each launch, so that a cache of that size holds
                                         * nothing of the job's; 0: none. At most dfr_measure_most_flushed() */
};

/* The most flush_bytes that the device's memory has room for beside a job of the work. */
uint64_t dfr_measure_most_flushed(const struct dfr_single_gpu *gpu, uint32_t work);
/* Launches a job that was brought n times, each on the same inputs. *seconds: the mean of their own times. *full: the
 * first launch still waited when the last one was enqueued. If it did not, the host's work is in the times. */
int dfr_measure_batch(struct dfr_single_gpu *gpu, struct dfr_single_job *job, const struct dfr_measure_batch *batch,
                      double *seconds, bool *full, struct df_error *error);

/* The lines of measure.h's protocol. _new() reads all of `known`; _known() says whether a key was there. */
int dfr_measure_report_new(FILE *out, FILE *known, struct dfr_measure_report **report, struct df_error *error);
void dfr_measure_report_free(struct dfr_measure_report *report);
int dfr_measure_report_known(struct dfr_measure *m, uint32_t work, uint32_t cls, bool loaded, bool *known,
                             struct df_error *error);
int dfr_measure_report_begin(struct dfr_measure *m, uint32_t total, uint32_t known, struct df_error *error);
int dfr_measure_report_try(struct dfr_measure *m, uint32_t work, uint32_t cls, struct df_error *error);
int dfr_measure_report_sample(struct dfr_measure *m, uint32_t work, uint32_t cls, const struct dfr_sample *sample,
                              struct df_error *error);
int dfr_measure_report_load(struct dfr_measure *m, const struct dfr_load *load, struct df_error *error);
int dfr_measure_report_unloaded(struct dfr_measure *m, uint32_t work, uint32_t cls, const char *reason,
                                struct df_error *error);
int dfr_measure_report_skip(struct dfr_measure *m, uint32_t work, uint32_t cls, const char *reason,
                            struct df_error *error);
int dfr_measure_report_late(struct dfr_measure *m, struct df_error *error); /* the call that runs now */
int dfr_measure_report_end(struct dfr_measure *m, struct df_error *error);

#endif
