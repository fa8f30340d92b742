/* writer.c - a thread that writes what a run has done (writer.h), for resumable.c and, with parts of accs, for rank 0 (spans.c, ranks/rank0_parts.c). */
#include "runtime/record/writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/threads/host.h"

#define FIRST_S 0.03                    /* from the beginning to the first call of `each`; twice as long to the next, */
#define EACH_S 1.0                      /* and so on, up to this */

static struct timespec time_after(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const int64_t ns = t.tv_nsec + (int64_t)(seconds * 1e9);
    return (struct timespec){ t.tv_sec + ns / 1000000000, ns % 1000000000 };
}

static void free_job(const struct dfr_writer_job *job)
{
    if (job->free)
        job->free(job->arg);
}

/* Waits until there is a job or `until` is over, and takes the job; else *job is `each`. false: the thread is to end. The lock is held. */
static bool take(struct dfr_writer *w, const struct timespec *until, struct dfr_writer_job *job)
{
    while (w->n == 0 && !w->ends && pthread_cond_timedwait(&w->wake, &w->lock, until) == 0)
        ;
    w->busy = w->n > 0;
    if (!w->busy) {
        *job = (struct dfr_writer_job){ .write = w->each, .arg = w->arg };
        return !w->ends;
    }
    *job = w->jobs[0];
    memmove(w->jobs, w->jobs + 1, --w->n * sizeof *w->jobs);
    return true;
}

static void *write_all(void *arg)
{
    struct dfr_writer *w = arg;
    struct dfr_writer_job job;
    struct timespec until = time_after(FIRST_S);
    double period_s = FIRST_S;

    pthread_mutex_lock(&w->lock);
    while (w->status == DF_OK && take(w, &until, &job)) {
        struct df_error error = { "" };
        const bool is_each = !w->busy;
        pthread_mutex_unlock(&w->lock);
        const int status = job.write ? job.write(job.arg, &error) : DF_OK;
        free_job(&job);
        if (status != DF_OK && w->failed)
            w->failed(w->arg, &error);
        if (is_each)
            until = time_after(period_s = fmin(2 * period_s, EACH_S));
        pthread_mutex_lock(&w->lock);
        w->busy = false;
        w->status = status;
        w->error = error;
        pthread_cond_broadcast(&w->done);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void dfr_writer_begin(struct dfr_writer *w, int (*each)(void *arg, struct df_error *error), void (*failed)(void *arg, const struct df_error *error), void *arg)
{
    pthread_condattr_t attributes;
    *w = (struct dfr_writer){ .each = each, .failed = failed, .arg = arg };
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_cond_init(&w->done, NULL);
    pthread_mutex_init(&w->lock, NULL);
    w->runs = dfr_helper_create(&w->thread, write_all, w) == 0;
    if (w->runs)
        return;
    w->status = dfr_error(&w->error, DF_E_MEMORY, "no thread can be made for the journal");
    if (failed)
        failed(arg, &w->error);
}

static int status_of(struct dfr_writer *w, struct df_error *error)
{
    if (w->status != DF_OK)
        *error = w->error;
    return w->status;
}

int dfr_writer_put(struct dfr_writer *w, const struct dfr_writer_job *job, struct df_error *error)
{
    struct dfr_writer_job dropped = *job;
    size_t i = 0;

    pthread_mutex_lock(&w->lock);
    int status = status_of(w, error);
    while (i < w->n && w->jobs[i].key != job->key)
        i++;
    if (status == DF_OK && i == w->n && !DFR_ARRAY_ROOM(w->jobs, w->n, w->room))
        status = dfr_error_memory(error);
    if (status == DF_OK) {
        dropped = i < w->n ? w->jobs[i] : (struct dfr_writer_job){ 0 };
        w->n += i == w->n;
        w->jobs[i] = *job;
        pthread_cond_signal(&w->wake);
    }
    pthread_mutex_unlock(&w->lock);
    free_job(&dropped);
    return status;
}

int dfr_writer_status(struct dfr_writer *w, struct df_error *error)
{
    pthread_mutex_lock(&w->lock);
    const int status = status_of(w, error);
    pthread_mutex_unlock(&w->lock);
    return status;
}

bool dfr_writer_is_busy(struct dfr_writer *w)
{
    pthread_mutex_lock(&w->lock);
    const bool busy = w->status == DF_OK && (w->n > 0 || w->busy);
    pthread_mutex_unlock(&w->lock);
    return busy;
}

int dfr_writer_wait(struct dfr_writer *w, struct df_error *error)
{
    pthread_mutex_lock(&w->lock);
    while (w->status == DF_OK && (w->n > 0 || w->busy))
        pthread_cond_wait(&w->done, &w->lock);
    const int status = status_of(w, error);
    pthread_mutex_unlock(&w->lock);
    return status;
}

int dfr_writer_end(struct dfr_writer *w, struct df_error *error)
{
    if (w->runs) {
        pthread_mutex_lock(&w->lock);
        w->ends = true;
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
        w->runs = false;
    }
    for (size_t i = 0; i < w->n; i++)
        free_job(&w->jobs[i]);
    free(w->jobs);
    w->jobs = NULL;
    w->n = w->room = 0;
    return status_of(w, error);
}
