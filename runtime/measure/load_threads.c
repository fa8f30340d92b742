/* load_threads.c - threads that call a function repeatedly until they are stopped (load_threads.h): background load for
 * measure_load.c, and all cores at once for triad.c and the probe of the host (profiles/probe/). */
#include "runtime/measure/load_threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/engine/crash.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/host.h"

struct thread {
    struct dfr_load_threads *beside;
    pthread_t id;
    uint32_t number;
    bool first;                         /* its first call has not ended */
};

struct dfr_load_threads {
    int (*once)(void *arg, uint32_t thread, struct df_error *error);
    void *arg;
    struct dfr_cores *cores;            /* NULL: threads stay where the system puts them */
    uint32_t n, begun;                  /* threads; those that have done one call, or have failed */
    pthread_mutex_t lock;               /* of `begun`, `code` and `error` */
    pthread_cond_t all_begun;
    int code;                           /* the first failure */
    struct df_error error;
    _Atomic bool stop;
    struct thread threads[];
};

/* Tells how a call ended. */
static void tell(struct dfr_load_threads *b, int code, const struct df_error *error, bool first)
{
    if (code == DF_OK && !first)
        return;
    pthread_mutex_lock(&b->lock);
    if (code != DF_OK && b->code == DF_OK) {
        b->code = code;
        b->error = *error;
    }
    if (first && ++b->begun == b->n)
        pthread_cond_signal(&b->all_begun);
    pthread_mutex_unlock(&b->lock);
}

/* A handler of pthread_cleanup_push(): once() has ended its thread, as a kernel may. */
static void thread_ends(void *arg)
{
    const struct thread *t = arg;
    struct df_error error;
    dfr_crash_thread_ends();
    tell(t->beside, dfr_error(&error, DF_E_KERNEL, "%s", dfr_crash_ended), &error, t->first);
}

static void *work(void *arg)
{
    struct thread *t = arg;
    struct dfr_load_threads *b = t->beside;
    int code = DF_OK;
    if (b->cores)
        dfr_cores_bind(b->cores, t->number + 1);
    pthread_cleanup_push(thread_ends, t);
    while (code == DF_OK && (t->first || !atomic_load_explicit(&b->stop, memory_order_relaxed))) {
        struct df_error error = { "" };
        code = b->once(b->arg, t->number, &error);
        tell(b, code, &error, t->first);
        t->first = false;
    }
    pthread_cleanup_pop(0);
    return NULL;
}

int dfr_load_threads_start(uint32_t n, int (*once)(void *arg, uint32_t thread, struct df_error *error), void *arg,
                           struct dfr_load_threads **beside, struct df_error *error)
{
    struct dfr_load_threads *b = calloc(1, sizeof *b + n * sizeof *b->threads);
    if (!b)
        return dfr_error_memory(error);
    b->once = once;
    b->arg = arg;
    b->cores = dfr_cores_create();
    b->n = n;
    if (b->cores)
        dfr_cores_bind(b->cores, 0);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->all_begun, NULL);
    uint32_t made = 0;
    for (; made < n; made++) {
        b->threads[made] = (struct thread){ .beside = b, .number = made, .first = true };
        if (dfr_thread_create(&b->threads[made].id, 0, false, work, &b->threads[made]) != 0)
            break;
    }
    pthread_mutex_lock(&b->lock);
    if (made < n && b->code == DF_OK) {
        b->code = DF_E_MEMORY;
        dfr_error_memory(&b->error);
    }
    while (made == n && b->begun < n)
        pthread_cond_wait(&b->all_begun, &b->lock);
    int code = b->code;
    b->n = made;
    pthread_mutex_unlock(&b->lock);
    if (code != DF_OK)
        return dfr_load_threads_stop(b, error);
    *beside = b;
    return DF_OK;
}

int dfr_load_threads_stop(struct dfr_load_threads *b, struct df_error *error)
{
    atomic_store_explicit(&b->stop, true, memory_order_relaxed);
    for (uint32_t i = 0; i < b->n; i++)
        pthread_join(b->threads[i].id, NULL);
    int code = b->code;
    if (code != DF_OK && error)
        *error = b->error;
    pthread_cond_destroy(&b->all_begun);
    pthread_mutex_destroy(&b->lock);
    if (b->cores)
        dfr_cores_release(b->cores);
    dfr_cores_destroy(b->cores);
    free(b);
    return code;
}
