/* measure_watch.c - ends the measuring mode if a kernel does not return. measure.c starts it, and measure_cpu.c,
 * measure_gpu.c and measure_load.c report each call. A watchdog (inspect/watchdog.h) has one post for each class of
 * units; one call runs at a time. measure.h says how long calls may take.
 *
 * Lock:     the measuring thread holds it except while a kernel runs. The watchdog's thread can therefore act only
 *           during a call, and afterwards the measuring thread continues only if the watchdog's thread releases the
 *           lock.
 */
#include "runtime/base/error.h"
#include "runtime/inspect/watchdog.h"
#include "runtime/measure/measure_impl.h"

#define LEAST_LIMIT_S 5.0
#define LEAST_OPENCL_S 60.0             /* a driver may compile a kernel at its first launch: PoCL takes seconds for one with many barriers */
#define LIMIT_TIMES 10

/* Called by the watchdog's thread. Writes what is measured, then says which call takes too long. */
static void too_long(void *arg)
{
    struct dfr_measure *m = arg;
    struct df_error error;

    if (pthread_mutex_trylock(&m->lock) != 0)
        return;                         /* the kernel has just returned */
    if (dfr_measure_report_flow(m, false, &error) == DF_OK)
        dfr_measure_report_late(m, &error);
    if (m->options->expired)
        m->options->expired(m->options->expired_arg);
    pthread_mutex_unlock(&m->lock);
}

double dfr_measure_limit_s(const struct dfr_device_ops *ops, double max_s)
{
    const double least_s = ops && ops->runs_opencl ? LEAST_OPENCL_S : LEAST_LIMIT_S;
    return LIMIT_TIMES * max_s > least_s ? LIMIT_TIMES * max_s : least_s;
}

int dfr_measure_watch_start(struct dfr_measure *m, const struct dfr_device_ops *ops, struct df_error *error)
{
    int status;

    m->run.options.expired = too_long;
    m->run.options.expired_arg = m;
    if (m->run.options.watchdog_s <= 0)
        m->run.options.watchdog_s = dfr_measure_limit_s(ops, m->sampler.max_s);
    atomic_store(&m->run.outcome.stop, DFR_FINISHED); /* it is no run that could stand still between jobs */
    status = dfr_watchdog_create(&m->run, 2, &m->watchdog, error);
    if (status != DF_OK)
        return status;
    dfr_watchdog_name(m->watchdog, DF_CLASS_CPU, "the CPU");
    dfr_watchdog_name(m->watchdog, DF_CLASS_GPU, "the GPU");
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_lock(&m->lock);
    return dfr_watchdog_start(m->watchdog, error);
}

void dfr_measure_watch_longer(struct dfr_measure *m, double seconds)
{
    const double limit_s = LIMIT_TIMES * seconds;

    if (m->options->watchdog_s > 0 || limit_s <= m->run.options.watchdog_s)
        return;
    m->run.options.watchdog_s = limit_s;
    dfr_watchdog_limit(m->watchdog, limit_s);
}

void dfr_measure_watch_end(struct dfr_measure *m)
{
    if (!m->watchdog)
        return;
    dfr_watchdog_destroy(m->watchdog);
    pthread_mutex_unlock(&m->lock);
    pthread_mutex_destroy(&m->lock);
}

void dfr_measure_call_begins(const struct dfr_measure_job *job, uint32_t cls)
{
    struct dfr_measure *m = job->m;

    m->calling = &job->job;
    m->calling_class = cls;
    dfr_watchdog_begin(m->watchdog, cls, dfr_job(0, job->job.node), job->job.wave);
    pthread_mutex_unlock(&m->lock);
}

void dfr_measure_call_ended(struct dfr_measure *m)
{
    pthread_mutex_lock(&m->lock);
    dfr_watchdog_end(m->watchdog, m->calling_class);
}
