/* gpu_pause.c - decides how long a GPU's worker (gpu_worker.c) sleeps when nothing has changed and its back end cannot wake it.
 *
 * The worker polls without sleeping for SPIN_S after the last change, and from SPIN_S before to SPIN_S after the expected end of the next job. At other
 * times it sleeps, first for FIRST_PAUSE_NS and then twice as long each time, up to LONGEST_PAUSE_NS, but not past the start of the next polling period. If no
 * core is free for polling, it sleeps for FIRST_PAUSE_NS instead.
 */
#include <math.h>

#include "runtime/gpu/gpu_impl.h"

#define SPIN_S 50e-6
#define LONGEST_PAUSE_NS 50000

/* The GPU is taken to do one job at a time, in the order in which they were launched. */
double dfr_gpu_next_end_s(const struct dfr_gpu *gpu)
{
    const struct df_run *run = gpu->run;
    const double *time_s = run->choice.time_s + (size_t)gpu->unit * run->graph->n_works;
    double end_s = gpu->computed_until_s;

    for (uint32_t i = 0; i < gpu->n_jobs && run->choice.times_known; i++) {
        const struct gpu_job *j = &gpu->jobs[gpu->order[i]];
        if (j->state != GPU_LAUNCHED)
            continue;
        end_s = fmax(end_s, j->launched_s) + time_s[run->graph->nodes[dfr_job_node(j->job)].work];
        if (j->told_by == gpu->order[i])
            return end_s;
    }
    return INFINITY;
}

int64_t dfr_gpu_pause_ns(double now_s, double changed_s, double next_s, bool may_spin, int64_t *pause_ns)
{
    bool awaited = fabs(next_s - now_s) <= SPIN_S;
    int64_t pause = *pause_ns;

    if (may_spin && (awaited || now_s < changed_s + SPIN_S))
        return 0;
    if (awaited)
        return DFR_GPU_FIRST_PAUSE_NS;
    *pause_ns = 2 * pause < LONGEST_PAUSE_NS ? 2 * pause : LONGEST_PAUSE_NS;
    if (next_s > now_s && (next_s - SPIN_S - now_s) * 1e9 < (double)pause)
        pause = (int64_t)((next_s - SPIN_S - now_s) * 1e9) + 1;
    return pause;
}
