/* measure_impl.h - what the files of the measuring mode share.
 *
 *   measure.c         the flow: which variants are wanted, the order of it all
 *   measure_tokens.c  the memory of tokens
 *   measure_cpu.c     firing and repeating a cpu variant
 *   measure_gpu.c     the same on a device
 *   measure_report.c  lines out, known keys in, the environment
 */
#ifndef DFR_MEASURE_IMPL_H
#define DFR_MEASURE_IMPL_H

#include "runtime/engine/single_job.h"
#include "runtime/measure/measure.h"

struct dfr_measure_report;

enum dfr_measure_state { DFR_M_NONE,    /* cannot run here, or has a cost */
                         DFR_M_WANTED, DFR_M_KNOWN, DFR_M_DONE };

struct dfr_measure_times {              /* of a variant that runs in the flow only */
    double *seconds;
    uint32_t n, capacity;
};

struct dfr_measure {
    const struct df_graph *graph;
    const struct df_options *options;
    struct dfr_sampler_options sampler;
    struct dfr_measure_report *report;
    struct dfr_single_gpu *gpu;         /* NULL: no device is needed, or there is none */
    bool emulated;
    int64_t n_waves;                    /* at most */
    bool complete;                      /* a stream ended: the flow was a whole run */
    struct df_run run;                  /* never started: what single_job.h and a kernel's calls look at */
    uint8_t *state;                     /* [class * n_works + work], class cpu or gpu: enum dfr_measure_state */
    struct dfr_measure_times *flow;     /* same index */
    void **memory;                      /* by value; NULL: none now */
    uint32_t *left;                     /* by value: readers that have not run yet in this wave */
    void **ports;                       /* of the node at hand */
    void **scratch;                     /* the same for the cpu variant's repetitions */
    size_t *dims;
};

/* One node at one wave. Host addresses are in m->ports; inputs stay as they are but for inout. */
struct dfr_measure_job {
    struct dfr_measure *m;
    struct dfr_single_job job;
};

static inline const struct df_work *dfr_measure_work(const struct dfr_measure_job *job)
{
    return &job->m->graph->works[job->m->graph->nodes[job->job.node].work];
}

/* All readers of all values are still to come. */
void dfr_measure_begin_wave(struct dfr_measure *m);
/* Fills m->ports for a node: inputs, fresh outputs, scratch for tmp. */
int dfr_measure_bind(struct dfr_measure *m, uint32_t node, struct df_error *error);
/* After a node: its scratch, what it was the last to read, what nobody reads. */
void dfr_measure_release(struct dfr_measure *m, uint32_t node);

/* Fires the cpu variant on m->ports (tmp ports included). */
int dfr_measure_fire_cpu(struct dfr_measure_job *job, double *seconds, struct df_error *error);
/* Repeats it on copies. */
int dfr_measure_repeat_cpu(struct dfr_measure_job *job, struct dfr_sample *sample, struct df_error *error);

const char *dfr_measure_gpu_name(const struct dfr_measure *m); /* DEVICE in a KEY (measure.h) */
/* Copies inputs there, fires, copies outputs back. */
int dfr_measure_fire_gpu(struct dfr_measure_job *job, double *seconds, struct df_error *error);
int dfr_measure_repeat_gpu(struct dfr_measure_job *job, struct dfr_sample *sample, struct df_error *error);

/* Reads all of `known`. */
int dfr_measure_report_new(FILE *out, FILE *known, struct dfr_measure_report **report, struct df_error *error);
void dfr_measure_report_free(struct dfr_measure_report *report);
int dfr_measure_report_known(struct dfr_measure *m, uint32_t work, uint32_t cls, bool *known, struct df_error *error);
int dfr_measure_report_begin(struct dfr_measure *m, uint32_t total, uint32_t known, struct df_error *error);
int dfr_measure_report_try(struct dfr_measure *m, uint32_t work, uint32_t cls, struct df_error *error);
int dfr_measure_report_sample(struct dfr_measure *m, uint32_t work, uint32_t cls, const struct dfr_sample *sample,
                              struct df_error *error);
int dfr_measure_report_skip(struct dfr_measure *m, uint32_t work, uint32_t cls, const char *reason,
                            struct df_error *error);
int dfr_measure_report_end(struct dfr_measure *m, struct df_error *error);

#endif
