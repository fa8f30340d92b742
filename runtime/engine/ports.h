/* ports.h - the pointers to a job's tokens with which its kernel is called on the host. The loops of CPU workers use it
 * for each job.
 *
 * Memory:   the array of pointers belongs to the worker or to the run. It is valid until the worker requests the
 *           pointers of its next job.
 * Threads:  the worker that took the job.
 */
#ifndef DFR_PORTS_H
#define DFR_PORTS_H

#include "runtime/engine/engine.h"

/* Returns pointers to the job's tokens and scratch, and allocates its outputs. NULL: the run has failed. */
void *const *dfr_ports(struct df_run *run, struct dfr_worker *worker, uint64_t job);

/* Marks the outputs of the job as empty. The first call in a run replaces every cpu variant in firing.codes by
 * dfr_call_or_leave_out(), so a run in which nothing is skipped never tests whether a token is empty. Another thread may see
 * the new entry late, but not after it reads an empty token, because that token's producer wrote it before. */
void dfr_make_empty(struct df_run *run, uint64_t job);
/* The same for a single output. */
void dfr_make_one_empty(struct df_run *run, uint64_t job, uint32_t value);

/* Calls the variant of the job's kernel for the CPU or for call->device, unless the job is to be left out (skips.h). Of
 * the inputs of a select it passes on the first that is not empty. Records whether the job's outputs are empty, and returns
 * DF_SKIP if they are. Devices launch this in place of a variant that is host code. */
int dfr_call_or_leave_out(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                          const union df_scalar *scalars);

/* The function to call, or launch, for a variant at the beginning of a run. NULL for NULL. */
static inline df_function *dfr_wave_function(const struct df_run *run, df_function *variant)
{
    return variant && (run->extents || run->options.apart) ? dfr_call_or_leave_out : variant;
}

/* Calls the kernel of the job worker->call.job, and returns its result. */
static inline int dfr_call_kernel(const struct df_run *run, struct dfr_worker *w, void *const *ports)
{
    const struct dfr_code *code = &run->firing.codes[run->firing.nodes[dfr_job_node(w->call.job)].work];
    return __atomic_load_n(&code->cpu, __ATOMIC_RELAXED)(&w->call, NULL, code->dims, ports, code->scalars);
}

#endif
