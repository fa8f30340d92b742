/* measure_cpu.c - runs a cpu variant once for the flow, and repeatedly on copies until its mean is known. measure.c calls both, and measure_load.c does under
 * load.
 *
 * Turns:    repeated runs on one copy of a job's ports would find all of it in the caches. In a run the caches hold
 *           what other jobs have read and written in between. So several copies are used in turn, which together take
 *           the memory of a wave's tokens.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/engine/crash.h"
#include "runtime/engine/ports.h"
#include "runtime/base/error.h"
#include "runtime/measure/measure_impl.h"

#define MOST_TURNS 1024u                /* copies; tokens so small that this matters stay in the caches in a run, too */

/* The flow's own values do not change. An inout port is given its input again, and an acc what it was; that is no part of the measured time. */
static void restore_inouts(struct dfr_measure_job *job, void *const *ports)
{
    struct dfr_measure *m = job->m;
    const struct df_work *work = dfr_measure_work(job);
    const struct df_kernel *kernel = &m->graph->kernels[work->kernel];
    for (unsigned p = 0; p < kernel->n_ports; p++) {
        if (m->graph->kports[kernel->first_port + p].mode == DF_INOUT ||
            m->graph->kports[kernel->first_port + p].mode == DF_ACC)
            memcpy(ports[p], m->ports[p], m->graph->port_bytes[work->first_port + p]);
    }
}

static int call_cpu(struct dfr_measure_job *job, void *const *ports, double *seconds, struct df_error *error)
{
    struct dfr_measure *m = job->m;
    const struct df_work *work = dfr_measure_work(job);
    dfr_single_call(&m->run, &job->job, &m->call);
    dfr_crash_call(&m->call);
    dfr_measure_call_begins(job, DF_CLASS_CPU);
    double begin_s = dfr_clock_s();
    job->job.code =
        dfr_wave_function(&m->run, m->graph->functions[work->kernel].cpu)(&m->call, NULL, m->dims, ports, m->run.memory.scalars + work->first_scalar);
    *seconds = dfr_clock_s() - begin_s;
    dfr_measure_call_ended(m);
    dfr_crash_call(NULL);
    return dfr_single_outcome(&m->run, &job->job, &m->call, error);
}

int dfr_measure_call_beside(struct dfr_measure_job *job, struct df_call *call, void *const *ports,
                            struct df_error *error)
{
    struct dfr_measure *m = job->m;
    const struct df_work *work = dfr_measure_work(job);
    restore_inouts(job, ports);
    dfr_single_call(&m->run, &job->job, call);
    dfr_crash_call(call);
    job->job.code =
        dfr_wave_function(&m->run, m->graph->functions[work->kernel].cpu)(call, NULL, m->dims, ports, m->run.memory.scalars + work->first_scalar);
    dfr_crash_call(NULL);
    return dfr_single_outcome(&m->run, &job->job, call, error);
}

int dfr_measure_fire_cpu(struct dfr_measure_job *job, double *seconds, struct df_error *error)
{
    return call_cpu(job, job->m->ports, seconds, error);
}

/* ---- repetitions ---- */

void *const *dfr_measure_turn(struct dfr_measure_turns *t)
{
    void *const *ports = t->ports + (size_t)t->next * t->n_ports;
    t->next = (t->next + 1) % t->n;
    return ports;
}

/* A callback of the sampler. */
static int repeat(void *arg, double *seconds, struct df_error *error)
{
    struct dfr_measure_turns *t = arg;
    void *const *ports = dfr_measure_turn(t);
    restore_inouts(t->job, ports);
    return call_cpu(t->job, ports, seconds, error);
}

/* What was made is in ports[] after failures, too; the others are NULL. */
static int copy_ports(struct dfr_measure_job *job, void **ports, struct df_error *error)
{
    struct dfr_measure *m = job->m;
    const struct df_work *work = dfr_measure_work(job);
    const struct df_kernel *kernel = &m->graph->kernels[work->kernel];
    for (unsigned p = 0; p < kernel->n_ports; p++)
        ports[p] = NULL;
    for (unsigned p = 0; p < kernel->n_ports; p++) {
        uint64_t bytes = df_port_bytes_on(m->graph, work, p, DF_ON_HOST);
        int status = dfr_measure_allocate(bytes, &ports[p], error);
        if (status != DF_OK)
            return status;
        if (m->graph->kports[kernel->first_port + p].mode == DF_IN)
            memcpy(ports[p], m->ports[p], bytes);
    }
    return DF_OK;
}

int dfr_measure_turns_make(struct dfr_measure_job *job, struct dfr_measure_turns *t, struct df_error *error)
{
    const struct dfr_measure *m = job->m;
    uint32_t work = m->graph->nodes[job->job.node].work;
    uint64_t own = dfr_measure_port_bytes(m->graph, work);
    *t = (struct dfr_measure_turns){ .job = job, .n_ports = m->graph->kernels[dfr_measure_work(job)->kernel].n_ports };
    t->n = 1 + (uint32_t)(own ? dfr_measure_other_bytes(m, work) / own : 0);
    t->n = t->n < MOST_TURNS ? t->n : MOST_TURNS;
    t->ports = calloc((size_t)t->n * t->n_ports + 1, sizeof *t->ports);
    int status = t->ports ? DF_OK : dfr_error_memory(error);
    for (uint32_t i = 0; i < t->n && status == DF_OK; i++)
        status = copy_ports(job, t->ports + (size_t)i * t->n_ports, error);
    return status;
}

void dfr_measure_turns_free(struct dfr_measure_turns *t)
{
    for (size_t i = 0; t->ports && i < (size_t)t->n * t->n_ports; i++)
        free(t->ports[i]);
    free(t->ports);
}

int dfr_measure_repeat_cpu(struct dfr_measure_job *job, struct dfr_sample *sample, struct df_error *error)
{
    struct dfr_measure *m = job->m;
    double warm_up;                     /* the first run touches pages, fills caches, and may set up libraries */
    struct dfr_sampler_options sampler = m->sampler;
    struct dfr_measure_turns turns;
    if (m->n_loaded)
        sampler.max_s /= 3;             /* alone, beside itself, beside the triad */
    int status = dfr_measure_turns_make(job, &turns, error);
    if (m->run.machine.cores)
        dfr_cores_bind(m->run.machine.cores, 0);
    if (status == DF_OK)
        status = repeat(&turns, &warm_up, error);
    if (status == DF_OK)
        status = dfr_sample_until(&sampler, repeat, &turns, sample, error);
    if (m->run.machine.cores)
        dfr_cores_release(m->run.machine.cores);
    dfr_measure_turns_free(&turns);
    return status;
}
