/* worker.c - a CPU worker: takes a job, runs its cpu variant on host memory, tells the engine; sleeps when there is
 * none.
 */
#include "runtime/engine/worker.h"

#include <string.h>

#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/engine/gang.h"
#include "runtime/inspect/inspect.h"
#include "runtime/engine/tokens.h"

#define TMP_ALIGNMENT 256u

/* ---- one job ---- */

/* Host memory for output y; false: the run fails.  */
static bool make_output(struct df_run *run, uint64_t job, uint32_t y)
{
    const struct df_graph *g = run->graph;
    uint32_t block = dfr_job_slot(job) * g->n_values + y;
    struct dfm_block *b = &run->memory.space->blocks[block];

    b->host = dfm_space_host_take(run->memory.space, block);
    if (!b->host) {
        dfr_engine_fail_job(run, job, dfr_job_wave(run, job), "internal error: more tokens live than were planned");
        return false;
    }
    return true;
}

static bool make_ports(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    const struct df_graph *g = run->graph;
    const struct df_node *node = &g->nodes[dfr_job_node(job)];
    const struct df_kernel *kernel = &g->kernels[node->kernel];
    const struct df_kport *ports = g->kports + kernel->first_port;
    const uint64_t *bytes = g->port_bytes + g->works[node->work].first_port;
    unsigned char *tmp = w->tmp;

    for (uint32_t p = 0; p < kernel->n_ports; p++) {
        uint32_t y = node->first_out + (uint32_t)ports[p].out_slot;
        uint32_t x = ports[p].in_slot >= 0 ? g->in_value[node->first_in + (uint32_t)ports[p].in_slot] : 0;
        switch (ports[p].mode) {
        case DF_IN:
        case DF_INOUT:                  /* the output takes over the input's memory */
            w->ports[p] = run->memory.space->blocks[dfr_block_of(run, x, dfr_job_slot(job))].host;
            break;
        case DF_OUT:
            if (!make_output(run, job, y))
                return false;
            w->ports[p] = run->memory.space->blocks[dfr_job_slot(job) * g->n_values + y].host;
            break;
        default:
            w->ports[p] = tmp;
            tmp += (bytes[p] + TMP_ALIGNMENT - 1) / TMP_ALIGNMENT * TMP_ALIGNMENT;
        }
    }
    return true;
}

/* Fixed addresses, with this worker's scratch among them. */
static void *const *ports_with_tmp(const struct df_run *run, struct dfr_worker *w, uint32_t node, uint32_t slot)
{
    const struct df_graph *g = run->graph;
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    const uint64_t *bytes = g->port_bytes + g->works[g->nodes[node].work].first_port;
    void *const *fixed = dfr_tokens_ports(run, node, slot);
    unsigned char *tmp = w->tmp;

    for (uint32_t p = 0; p < kernel->n_ports; p++) {
        w->ports[p] = fixed[p];
        if (g->kports[kernel->first_port + p].mode != DF_TMP)
            continue;
        w->ports[p] = tmp;
        tmp += (bytes[p] + TMP_ALIGNMENT - 1) / TMP_ALIGNMENT * TMP_ALIGNMENT;
    }
    return w->ports;
}

void *const *dfr_worker_ports(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    uint32_t node = dfr_job_node(job), slot = dfr_job_slot(job);

    if (!run->memory.tokens)
        return make_ports(run, w, job) ? w->ports : NULL;
    return run->firing.nodes[node].flags & DFR_N_TMP ? ports_with_tmp(run, w, node, slot) : dfr_tokens_ports(run, node, slot);
}

/* Workers that the job may use, itself included. */
static uint32_t threads_of(const struct df_run *run, uint64_t job)
{
    uint32_t threads = run->graph->works[run->graph->nodes[dfr_job_node(job)].work].threads;
    return threads < run->machine.n_cpu_workers ? (threads ? threads : 1) : run->machine.n_cpu_workers;
}

static void run_job(struct df_run *run, struct dfr_worker *w, uint64_t job, double *now)
{
    struct df_call *call = &w->call;
    void *const *ports;
    double begin = *now;
    int code;

    call->job = job;
    call->wave = dfr_job_wave(run, job);
    call->threads = run->threads.gang ? threads_of(run, job) : 1;
    call->failed = false;
    if (call->threads > 1) {
        if (!dfr_gang_lead(run->threads.gang, w, call->threads))
            return;
        begin = dfr_clock_s();
    }
    if (w->first_s < 0)
        w->first_s = begin;
    ports = dfr_worker_ports(run, w, job);
    code = !ports ? DF_FAILED : run->watch.inspect ? dfr_inspect_call(run, w) : dfr_worker_call(run, w, ports);
    *now = dfr_clock_s();
    if (call->threads > 1)
        dfr_gang_end(run->threads.gang);
    w->jobs++;
    w->busy_s += *now - begin;
    w->last_s = *now;
    if (w->row)
        dfr_trace_add(w->row, dfr_job_node(job), call->wave, begin, *now,
                      run->graph->works[run->graph->nodes[dfr_job_node(job)].work].job_bytes);
    dfr_engine_done(run, w, call, code, 0);
}

/* ---- finding one ---- */

/* Jobs whose data is on the way do not keep a worker from others, but with policies that decide late they must not all
 * be drawn to the host either. */
static bool enough_staged(const struct df_run *run)
{
    return run->choice.policy->pull &&
           atomic_load_explicit(&((struct df_run *)run)->devices.n_staged, memory_order_relaxed) >= 2 * run->machine.n_cpu_workers;
}

static bool take(struct df_run *run, struct dfr_worker *w, uint64_t *job)
{
    for (;;) {
        if (w->kept != DFR_NO_JOB) {
            *job = w->kept;
            w->kept = DFR_NO_JOB;
        } else if (run->devices.arrived && dfr_queue_pop(run->devices.arrived, job)) {
            if (dfr_stage_end_kept(run, w, *job))
                continue;
            atomic_fetch_sub_explicit(&run->devices.n_staged, 1, memory_order_relaxed);
            return true;
        } else if (enough_staged(run) || !run->choice.policy->pop(run->choice.state, w->index, job)) {
            return false;
        }
        if (run->machine.n_gpus == 0 || !dfr_stage(run, *job, 0))
            return true;
    }
}

static bool gang_gathers(const struct df_run *run)
{
    return run->threads.gang && dfr_gang_gathers(run->threads.gang);
}

/* Looks for work a bounded time, then sleeps until there may be some. true: *job was found. */
static bool wait_for_work(struct df_run *run, struct dfr_worker *w, uint64_t *job)
{
    struct dfr_wake *wake = &run->threads.wakes[0];
    uint32_t key;

    for (uint32_t i = 0; i < run->threads.spins && !dfr_stopped(run) && !gang_gathers(run); i++) {
        for (int k = 0; k < 16; k++)
            dfr_relax();
        if (take(run, w, job))
            return true;
    }
    key = dfr_wake_announce(wake);
    if (dfr_stopped(run) || gang_gathers(run)) {
        dfr_wake_cancel(wake, key);
        return false;
    }
    if (take(run, w, job)) {
        dfr_wake_cancel(wake, key);
        return true;
    }
    dfr_wake_sleep(wake, key, -1);
    return false;
}

void *dfr_worker_main(void *arg)
{
    struct dfr_worker *w = arg;
    struct df_run *run = w->run;
    double now = 0;
    bool rested = true;                 /* `now` is not the end of the job before */
    uint64_t job;

    if (run->machine.cores)
        dfr_cores_bind(run->machine.cores, w->index);
    while (!dfr_stopped(run)) {
        if (gang_gathers(run) && dfr_gang_join(run->threads.gang, w))
            rested = true;
        if (!take(run, w, &job)) {
            rested = true;
            if (!wait_for_work(run, w, &job))
                continue;
        }
        if (rested)
            now = dfr_clock_s();
        rested = false;
        run_job(run, w, job, &now);
    }
    return NULL;
}
