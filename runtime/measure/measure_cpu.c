/* measure_cpu.c - fires a cpu variant once for the flow, and repeats it on copies until its mean is known. measure.c
 * calls both.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/threads/clock.h"
#include "runtime/engine/crash.h"
#include "runtime/base/error.h"
#include "runtime/measure/measure_impl.h"

static int call_cpu(struct dfr_measure_job *job, void *const *ports, double *seconds, struct df_error *error)
{
    struct dfr_measure *m = job->m;
    const struct df_work *work = dfr_measure_work(job);
    dfr_single_call(&m->run, &job->job, &m->call);
    dfr_crash_call(&m->call);
    dfr_measure_call_begins(job, DF_CLASS_CPU);
    double begin_s = dfr_clock_s();
    job->job.code =
        m->graph->functions[work->kernel].cpu(&m->call, NULL, m->dims, ports, m->run.memory.scalars + work->first_scalar);
    *seconds = dfr_clock_s() - begin_s;
    dfr_measure_call_ended(m);
    dfr_crash_call(NULL);
    return dfr_single_outcome(&m->run, &job->job, &m->call, error);
}

int dfr_measure_fire_cpu(struct dfr_measure_job *job, double *seconds, struct df_error *error)
{
    return call_cpu(job, job->m->ports, seconds, error);
}

/* ---- repetitions ---- */

/* The flow's own values do not change. An inout port is given its input again; that is no part of the measured time. */
static void restore_inouts(struct dfr_measure_job *job)
{
    struct dfr_measure *m = job->m;
    const struct df_work *work = dfr_measure_work(job);
    const struct df_kernel *kernel = &m->graph->kernels[work->kernel];
    for (unsigned p = 0; p < kernel->n_ports; p++) {
        if (m->graph->kports[kernel->first_port + p].mode == DF_INOUT)
            memcpy(m->scratch[p], m->ports[p], m->graph->port_bytes[work->first_port + p]);
    }
}

static int repeat(void *arg, double *seconds, struct df_error *error)
{
    struct dfr_measure_job *job = arg;
    restore_inouts(job);
    return call_cpu(job, job->m->scratch, seconds, error);
}

static bool make_scratch(struct dfr_measure_job *job)
{
    struct dfr_measure *m = job->m;
    const struct df_work *work = dfr_measure_work(job);
    const struct df_kernel *kernel = &m->graph->kernels[work->kernel];
    for (unsigned p = 0; p < kernel->n_ports; p++)
        m->scratch[p] = NULL;
    for (unsigned p = 0; p < kernel->n_ports; p++) {
        uint64_t bytes = m->graph->port_bytes[work->first_port + p];
        if (posix_memalign(&m->scratch[p], 4096, bytes ? bytes : 1) != 0)
            return false;
        if (m->graph->kports[kernel->first_port + p].mode == DF_IN)
            memcpy(m->scratch[p], m->ports[p], bytes);
    }
    return true;
}

int dfr_measure_repeat_cpu(struct dfr_measure_job *job, struct dfr_sample *sample, struct df_error *error)
{
    struct dfr_measure *m = job->m;
    const struct df_kernel *kernel = &m->graph->kernels[dfr_measure_work(job)->kernel];
    double warm_up;                     /* the first run touches pages, fills caches, and may set up libraries */
    int status = make_scratch(job) ? repeat(job, &warm_up, error) : dfr_error_memory(error);
    if (status == DF_OK)
        status = dfr_sample_until(&m->sampler, repeat, job, sample, error);
    for (unsigned p = 0; p < kernel->n_ports; p++)
        free(m->scratch[p]);
    return status;
}
