/* writer.h - a background thread that writes records and checkpoints, so that neither the run nor rank 0 waits for the disk. resumable.c runs it; spans.c
 * puts the parts of ranks into it, and ranks/rank0_parts.c waits for them.
 *
 * Jobs:     are executed one at a time, in the order of dfr_writer_put(). A waiting job is replaced by a later one with the same key. Between jobs the thread
 *           calls `each` periodically: after 30 ms at first, and then once a second.
 * Errors:   After the first error nothing more is written. `failed` is called with it, and every later call of put, wait and end returns it.
 * Threads:  one thread makes these calls.
 */
#ifndef DFR_WRITER_H
#define DFR_WRITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/df.h"

struct dfr_writer_job {
    uint64_t key;
    int (*write)(void *arg, struct df_error *error);
    void (*free)(void *arg);            /* always called, in the end; NULL: there is nothing to free */
    void *arg;
};

struct dfr_writer {
    int (*each)(void *arg, struct df_error *error);
    void (*failed)(void *arg, const struct df_error *error);
    void *arg;
    pthread_t thread;
    pthread_mutex_t lock;               /* of what follows */
    pthread_cond_t wake, done;
    struct dfr_writer_job *jobs;        /* n of them wait */
    size_t n, room;
    bool runs, busy, ends;              /* there is a thread; it does a job; it is to end */
    int status;
    struct df_error error;
};

/* each, failed: NULL, or called with arg by the thread. */
void dfr_writer_begin(struct dfr_writer *writer, int (*each)(void *arg, struct df_error *error), void (*failed)(void *arg, const struct df_error *error),
                      void *arg);
int dfr_writer_put(struct dfr_writer *writer, const struct dfr_writer_job *job, struct df_error *error);
/* What the thread has had: DF_OK, or its error. */
int dfr_writer_status(struct dfr_writer *writer, struct df_error *error);
/* Is a job waiting or being done? */
bool dfr_writer_is_busy(struct dfr_writer *writer);
/* Waits until all jobs are done. */
int dfr_writer_wait(struct dfr_writer *writer, struct df_error *error);
/* Waits for them, ends the thread, and frees what the writer holds. It may be called again. */
int dfr_writer_end(struct dfr_writer *writer, struct df_error *error);

#endif
