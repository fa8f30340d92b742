/* measure_load.c - measures a cpu variant under load: beside threads that run the same variant on copies of its ports,
 * or STREAM's triad. measure.c calls it after the variant was measured alone. A variant with side effects cannot be
 * repeated and never runs beside itself: it is fired beside the triad when the flow runs a second time.
 */
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/engine/call.h"
#include "runtime/engine/host_memory.h"
#include "runtime/measure/load_threads.h"
#include "runtime/measure/measure_impl.h"
#include "runtime/threads/bind.h"

#define SHARE_OF_MEMORY 2               /* all copies together take at most this part of the machine's memory: 1 / 2 */

/* ---- what is measured under load ---- */

void dfr_measure_count_load(struct dfr_measure *m)
{
    uint32_t cores = dfr_cores_count(), emulated = m->emulated ? 1 : 0, workers = m->options->workers;
    if (!workers)
        workers = cores > emulated ? cores - emulated : 1;
    m->n_loaded = workers + emulated < cores ? workers + emulated : cores;
}

const char *dfr_measure_unloaded(const struct dfr_measure *m, uint32_t work, uint32_t cls)
{
    if (cls != DF_CLASS_CPU)
        return "only cpu variants are";
    if (m->n_loaded < 2)
        return "no other worker runs beside it";
    if (m->graph->works[work].threads > 1)
        return "one job of it takes several workers";
    if (dfr_measure_port_bytes(m->graph, work) + dfr_measure_other_bytes(m, work) > dfr_host_bytes() / SHARE_OF_MEMORY / m->n_loaded)
        return "the machine has no memory for so many copies";
    return NULL;
}

/* ---- beside itself ---- */

/* Of a job, one for each thread beside it. If a thread had one copy of the ports alone, that would stay in the caches, and
 * the thread would ask for less of the memory than a worker of a run. */
struct copies {
    uint32_t n;
    struct dfr_measure_job *jobs;
    struct df_call *calls;
    struct dfr_opened *opened;
    struct dfr_measure_turns *turns;
};

static int make_copies(struct dfr_measure_job *job, struct copies *c, struct df_error *error)
{
    c->jobs = calloc(c->n, sizeof *c->jobs);
    c->calls = calloc(c->n, sizeof *c->calls);
    c->opened = calloc(c->n, sizeof *c->opened);
    c->turns = calloc(c->n, sizeof *c->turns);
    int status = c->jobs && c->calls && c->opened && c->turns ? DF_OK : dfr_error_memory(error);
    for (uint32_t i = 0; i < c->n && status == DF_OK; i++) {
        c->jobs[i] = *job;
        c->jobs[i].job.opened = &c->opened[i];
        status = dfr_measure_turns_make(&c->jobs[i], &c->turns[i], error);
    }
    return status;
}

static void free_copies(const struct dfr_measure_job *job, struct copies *c)
{
    for (uint32_t i = 0; c->opened && i < c->n; i++)
        dfr_opened_close(&c->opened[i], job->m->graph);
    for (uint32_t i = 0; c->turns && i < c->n; i++)
        dfr_measure_turns_free(&c->turns[i]);
    free(c->turns);
    free(c->opened);
    free(c->calls);
    free(c->jobs);
}

static int call_copy(void *arg, uint32_t thread, struct df_error *error)
{
    struct copies *c = arg;
    return dfr_measure_call_beside(&c->jobs[thread], &c->calls[thread], dfr_measure_turn(&c->turns[thread]), error);
}

/* ---- measuring ---- */

/* Repeats the variant while n threads call once(). The watchdog looks at this thread's calls, and at the waiting for the
 * first and the last calls of the others. */
static int repeat_beside(struct dfr_measure_job *job, uint32_t n,
                         int (*once)(void *arg, uint32_t thread, struct df_error *error), void *arg, double *mean_s,
                         struct df_error *error)
{
    struct dfr_load_threads *beside;
    struct dfr_sample sample = { .mean_s = 0 };
    struct df_error other = { "" };
    dfr_measure_call_begins(job, DF_CLASS_CPU);
    int status = dfr_load_threads_start(n, once, arg, &beside, error);
    dfr_measure_call_ended(job->m);
    if (status != DF_OK)
        return status;
    status = dfr_measure_repeat_cpu(job, &sample, error);
    dfr_measure_call_begins(job, DF_CLASS_CPU);
    int stopped = dfr_load_threads_stop(beside, &other);
    dfr_measure_call_ended(job->m);
    if (status == DF_OK && (status = stopped) != DF_OK)
        *error = other;
    *mean_s = sample.mean_s;
    return status;
}

/* The rates are measured once, when the first variant needs them. */
static int find_rates(struct dfr_measure *m, struct df_error *error)
{
    if (m->triad)
        return DF_OK;
    m->rates.workers = m->n_loaded;
    int status = dfr_triad_bandwidth(&m->rates.all_bytes_per_s, error);
    if (status == DF_OK)
        status = dfr_triad_new(m->n_loaded - 1, &m->triad, error);
    return status == DF_OK ? dfr_triad_rate(m->triad, 1, &m->rates.one_bytes_per_s, error) : status;
}

int dfr_measure_fire_beside(struct dfr_measure_job *job, double *seconds, struct df_error *error)
{
    struct dfr_measure *m = job->m;
    struct dfr_load_threads *beside;
    int status = find_rates(m, error);
    if (status == DF_OK)
        status = dfr_load_threads_start(m->n_loaded - 1, dfr_triad_once, m->triad, &beside, error);
    if (status != DF_OK)
        return status;
    status = dfr_measure_fire_cpu(job, seconds, error);
    int stopped = dfr_load_threads_stop(beside, NULL);
    return status == DF_OK && stopped != DF_OK ? dfr_error(error, stopped, "the triad failed") : status;
}

int dfr_measure_load_cpu(struct dfr_measure_job *job, struct dfr_load *load, struct df_error *error)
{
    struct dfr_measure *m = job->m;
    struct copies copies = { .n = m->n_loaded - 1 };
    int status = find_rates(m, error);
    *load = m->rates;
    if (status == DF_OK)
        status = make_copies(job, &copies, error);
    if (status == DF_OK)
        status = repeat_beside(job, copies.n, call_copy, &copies, &load->self_s, error);
    free_copies(job, &copies);
    if (status == DF_OK)
        status = repeat_beside(job, m->n_loaded - 1, dfr_triad_once, m->triad, &load->triad_s, error);
    return status;
}
