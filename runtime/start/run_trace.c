/* run_trace.c - creates and names the rows of a run's trace: one for each CPU worker, and for each GPU one for each
 * activity that can overlap with others. run.c calls it.
 */
#include <stdio.h>

#include "runtime/base/output.h"
#include "runtime/gpu/gpu.h"
#include "runtime/start/learn.h"
#include "runtime/start/run_impl.h"

#define TRACE_EVENTS (UINT64_C(1) << 20)/* room of one row, in events */

/* Makes a row for each CPU worker, then for each GPU three rows (computing, H2D copies, D2H copies), then for each GPU
 * a row of what it sends to peers. The rows are written to a file (--trace), learned from (--learn), or both. */
int dfr_run_make_trace(struct df_run *run, struct df_error *error)
{
    const char *path = run->options.trace_path;
    const bool traced = path || (run->options.trace_part && run->options.trace_part->file);
    if (!traced && !run->options.learn)
        return DF_OK;
    int status = path ? dfr_output_check(path, error) : DF_OK;
    if (status == DF_OK && run->options.learn)
        status = dfr_learn_check(error);
    if (status != DF_OK)
        return status;
    return dfr_trace_create(run->machine.n_cpu_workers + 4 * run->machine.n_gpus,
                            traced ? TRACE_EVENTS : DFR_LEARN_EVENTS, &run->watch.trace, error);
}

static struct dfr_trace_row *name_peer_row(struct df_run *run, uint32_t u)
{
    struct dfr_trace_row *row = dfr_trace_row(run->watch.trace,
                                              run->machine.n_cpu_workers + 3 * run->machine.n_gpus + u - 1);
    if (!dfr_peers(run, u))
        return NULL;
    row->what = "peer";
    row->process = u;
    snprintf(row->name, sizeof row->name, "%.30s peer copies", run->machine.platform.units[u].name);
    return row;
}

void dfr_run_name_rows(struct df_run *run)
{
    if (!run->watch.trace)
        return;
    for (uint32_t i = 0; i < run->machine.n_cpu_workers; i++) {
        struct dfr_trace_row *row = dfr_trace_row(run->watch.trace, i);
        snprintf(row->name, sizeof row->name, "cpu %u", i);
        run->threads.workers[i].row = row;
    }
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++) {
        static const char *const what[] = { "job", "h2d", "d2h" };
        static const char *const names[] = { "compute", "H2D copies", "D2H copies" };
        struct dfr_trace_row *rows[3];
        for (int r = 0; r < 3; r++) {
            rows[r] = dfr_trace_row(run->watch.trace, run->machine.n_cpu_workers + 3 * (u - 1) + (uint32_t)r);
            rows[r]->what = what[r];
            rows[r]->process = u;
            snprintf(rows[r]->name, sizeof rows[r]->name, "%.30s %s", run->machine.platform.units[u].name, names[r]);
        }
        run->threads.workers[run->machine.first_worker[u]].row = rows[0];
        dfr_gpu_rows(run->devices.gpus[u], rows[1], rows[2], name_peer_row(run, u));
    }
}
