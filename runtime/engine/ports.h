/* ports.h - the pointers that a job's kernel is called with, on the host.
 *
 * Memory:   the pointers are the worker's or the run's, and good until the worker asks for its next job's.
 * Threads:  the worker that took the job.
 */
#ifndef DFR_PORTS_H
#define DFR_PORTS_H

#include "runtime/engine/engine.h"

/* Pointers to the job's tokens and scratch; the outputs have memory afterwards. NULL: the run fails. */
void *const *dfr_ports(struct df_run *run, struct dfr_worker *worker, uint64_t job);

/* Calls the kernel of the job that worker->call says. */
static inline int dfr_call_kernel(const struct df_run *run, struct dfr_worker *w, void *const *ports)
{
    const struct dfr_code *code = &run->firing.codes[run->firing.nodes[dfr_job_node(w->call.job)].work];
    return code->cpu(&w->call, NULL, code->dims, ports, code->scalars);
}

#endif
