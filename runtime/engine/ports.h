/* ports.h - the pointers that a job's kernel is called with on the host. The loops of CPU workers call it for each job.
 *
 * Memory:   the array of pointers belongs to the worker or to the run. It is valid until the worker asks for the
 *           pointers of its next job.
 * Threads:  the worker that took the job.
 */
#ifndef DFR_PORTS_H
#define DFR_PORTS_H

#include "runtime/engine/engine.h"

/* Gives pointers to the job's tokens and scratch. Afterwards the outputs have memory. NULL: the run has failed. */
void *const *dfr_ports(struct df_run *run, struct dfr_worker *worker, uint64_t job);

/* Calls the kernel of the job worker->call.job. Gives what the kernel returns. */
static inline int dfr_call_kernel(const struct df_run *run, struct dfr_worker *w, void *const *ports)
{
    const struct dfr_code *code = &run->firing.codes[run->firing.nodes[dfr_job_node(w->call.job)].work];
    return code->cpu(&w->call, NULL, code->dims, ports, code->scalars);
}

#endif
