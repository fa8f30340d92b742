/* record_job.h - the hooks of --record-job and --replay around a job: the first writes what the job got and made to a file (job_file.h), the second gives
 * the job of such a file what it kept (state and accs), and compares its outputs. inspect.c calls them.
 *
 * Requests: as of requests.h, or "failed": every job that fails. The file is DIR/NODE.WAVE.job.
 * Before:   what the call changes in place (inout, acc, the state) is copied before it; everything else is taken after it. A job that a request names
 *           is also written before its call, without outputs, because its kernel may crash.
 * Compare:  by the tolerance that the kernel states; without one, the same variant must give the same bits, and another variant what
 *           --check=variants allows.
 * Places:   a job in flight has a place of its own, by number, as the watchdog's posts.
 * Memory:   dfr_record_destroy() frees what dfr_record_create() returned. Options and the struct of the replay are borrowed.
 * Threads:  the worker that runs the job.
 */
#ifndef DFR_RECORD_JOB_H
#define DFR_RECORD_JOB_H

#include "runtime/engine/engine.h"
#include "runtime/inspect/job_file.h"

struct dfr_record;

struct dfr_replay {                     /* df_options.replay */
    const struct dfr_job *job;
    uint32_t node;                      /* which this is in the graph of the run */
    bool done, bits;                    /* the job has ended, whatever it returned; all that it made has the recorded bits */
    int code;                           /* what it returned */
    uint64_t n_outputs, n_elements;     /* that were compared */
    char variant[16];                   /* as in struct dfr_job */
};

int dfr_record_create(struct df_run *run, uint32_t n_places, struct dfr_record **record, struct df_error *error);
void dfr_record_destroy(struct dfr_record *record); /* NULL is allowed */

/* Around a call whose ports are on the host or, if `device` is not NULL, on that device, where copies are commands of call->stream. after() returns `code`, or
 * DF_FAILED if the file cannot be written or the outputs differ. */
int dfr_record_before(struct dfr_record *record, uint32_t place, struct df_call *call, void *const *ports, struct dfr_device *device);
int dfr_record_after(struct dfr_record *record, uint32_t place, struct df_call *call, int code, void *const *ports, struct dfr_device *device);

/* Request `i` if nothing was written for it, else NULL. */
const char *dfr_record_unmet(const struct dfr_record *record, unsigned i);

#endif
