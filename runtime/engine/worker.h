/* worker.h - the threads that execute jobs, and how a job's cpu variant is called. */
#ifndef DFR_WORKER_H
#define DFR_WORKER_H

#include "runtime/engine/engine.h"

void *dfr_worker_main(void *worker);    /* of a CPU: struct dfr_worker */
void *dfr_direct_main(void *worker);    /* of a CPU, in a direct run (direct.h) */
void *dfr_walk_main(void *worker);      /* of a CPU, along a list (walk.h) */
void *dfr_gpu_main(void *worker);       /* of a GPU */

/* Where the tokens and the scratch of a job are, made ready for its outputs. NULL: the run fails. */
void *const *dfr_worker_ports(struct df_run *run, struct dfr_worker *worker, uint64_t job);

/* Calls the kernel of the job that worker->call says. */
static inline int dfr_worker_call(const struct df_run *run, struct dfr_worker *w, void *const *ports)
{
    const struct dfr_code *code = &run->firing.codes[run->firing.nodes[dfr_job_node(w->call.job)].work];
    return code->cpu(&w->call, NULL, code->dims, ports, code->scalars);
}

#endif
