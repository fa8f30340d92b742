/* gpu_worker.c - the worker loop of one GPU, run by the thread dfr_gpu_main(), which start/run_workers.c starts. It keeps several jobs in flight, so that one
 * computes while the inputs of the next are copied, and never blocks on any of them. It also tells policies, through struct dfr_view, how long the GPU stays
 * busy and a job took, and lets a session (start/session.c) wait until the GPU is idle.
 *
 * States of a job here (engine/engine.h's state 4 in detail):
 *     1  taken      popped from the policy; only the newest job can be in this state, and no other is popped meanwhile
 *     2  reserved   1 -> 2 when memory for all that it needs is reserved. Copies of the inputs that the host has are
 *                   issued; other devices are asked for the other inputs, which are loaded when they have come
 *     3  launched   2 -> 3 when all its copies are issued and a compute stream is free; it starts when the copies are
 *                   complete. Jobs that follow it here may be launched with it (gpu_launch.c)
 *     4  done       3 -> 4 when its event is complete: its blocks are no longer pinned, and the engine is told
 * Jobs are reserved in the order in which they were taken, so none starves if memory is short. A reserved job needs nothing that another job here holds, so
 * reserved jobs always end and release their memory.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/prompt.h"
#include "runtime/gpu/gpu_impl.h"
#include "runtime/inspect/inspect.h"
#include "runtime/engine/call.h"
#include "runtime/engine/ending.h"
#include "runtime/engine/log.h"
#include "runtime/engine/worker.h"

#define TINY_S 1e-12                   /* a GPU with jobs is busy, whatever was expected of them */
#define LOOK_NS 1000000                /* how often a thread that waits for an answer looks whether the run has stopped */

/* ---- 1 -> 2 ---- */

/* Fills the job's claim: what it needs of this memory. */
void dfr_gpu_describe_claim(struct dfr_gpu *gpu, struct gpu_job *j)
{
    const struct df_run *run = gpu->run;
    const struct df_graph *g = run->graph;
    uint32_t node = dfr_job_node(j->job), slot = dfr_job_slot(j->job);
    const uint32_t *in = g->in_value + g->nodes[node].first_in;
    uint32_t first = g->nodes[node].first_out, n_in = df_node_n_in(g, node);
    struct dfm_piece *p = j->claim.pieces;

    for (uint32_t k = 0; k < df_node_n_needs(g, node); k++)
        *p++ = (struct dfm_piece){ .use = k < n_in ? DFM_READ : DFM_CHANGE, .block = dfr_need_block(run, j->job, k) };
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++) {
        uint32_t block = slot * g->n_values + y, taken = g->values[y].taken_from;
        if (df_value_is_acc(g, y))
            continue;
        if (taken == DF_NONE) {
            *p++ = (struct dfm_piece){ .use = DFM_WRITE, .block = block };
            continue;
        }
        for (uint32_t k = 0; k < n_in; k++)
            if (in[k] == taken) {
                j->claim.pieces[k] = (struct dfm_piece){ .use = DFM_TAKE, .block = block,
                                                         .from = dfr_block_of(run, taken, slot) };
                break;
            }
    }
    j->claim.n = (uint32_t)(p - j->claim.pieces);
    j->claim.tmp_bytes = df_node_tmp_bytes(g, node, DF_ON_DEVICE);
}

/* The job is ready, so it is known which of its inputs are empty. The first that is not stands in the claim in place of
 * each that is. A job that is to be left out reads the others all the same, and its accs: they may be on their way here. A sink of whose inputs none
 * has elements claims none, and has nothing else to claim. */
static void leave_empty_out(struct dfr_gpu *gpu, struct gpu_job *j)
{
    const struct df_run *run = gpu->run;
    uint32_t node = dfr_job_node(j->job), slot = dfr_job_slot(j->job), n_in = df_node_n_in(run->graph, node);
    const uint32_t *in = run->graph->in_value + run->graph->nodes[node].first_in;
    uint32_t first = dfr_skips_any(&run->skips) ? dfr_skips_first(&run->skips, slot, node) : DF_NONE;
    uint32_t n_acc = df_node_n_acc(run->graph, node), n_read = first == DF_NONE ? 0 : n_in;

    j->left_out = dfr_skips_leaves_out(&run->skips, slot, node);
    for (uint32_t k = 0; k < n_in && first != DF_NONE; k++)
        if (j->left_out || dfr_skips_empty(&run->skips, slot, in[k]))
            j->claim.pieces[k] = (struct dfm_piece){
                .use = DFM_READ,
                .block = dfr_block_of(run, in[dfr_skips_empty(&run->skips, slot, in[k]) ? first : k], slot)
            };
    if (!j->left_out && run->graph->kernels[run->graph->nodes[node].kernel].traits & DF_ZERO_EXTENTS && n_in > 0 && dfr_skips_any(&run->skips) &&
        dfr_skips_first(&run->skips, slot, node) == DF_NONE)
        j->claim.n = 0;
    if (!j->left_out)
        return;
    for (uint32_t k = n_read; n_acc > 0 && k < n_in + n_acc; k++) /* an acc in place of inputs that are all empty */
        j->claim.pieces[k] = (struct dfm_piece){ .use = DFM_READ,
                                                 .block = dfr_need_block(run, j->job, k < n_in ? n_in : k) };
    j->claim.n = n_acc > 0 ? n_in + n_acc : n_read;
    j->claim.tmp_bytes = 0;
}

/* Asks a peer that has the block to send it into the piece's memory. The input is then no longer counted by
 * `missing`: the piece itself is awaited. true: a peer sends it, or it is on its way already. false: no peer has it. */
static bool ask_peer(struct dfr_gpu *gpu, const struct dfm_piece *piece, uint32_t waiter, uint32_t holders)
{
    struct df_run *run = gpu->run;
    uint32_t m;

    if (!(holders & gpu->peers))
        return dfm_cache_is_coming(gpu->cache, piece);
    if (!dfm_cache_expect(gpu->cache, piece, waiter))
        return true;
    m = (uint32_t)__builtin_ctz(holders & gpu->peers);
    dfm_cache_post_fetch(run->memory.space->caches[m], waiter);
    dfr_wake_unit(run, m);
    return true;
}

/* Asks other devices for the inputs that the host does not have. */
static void ask_for_inputs(struct dfr_gpu *gpu, struct gpu_job *j)
{
    struct df_run *run = gpu->run;
    uint32_t index = dfr_job_index(run, j->job), n = 0, present = 1;

    for (uint32_t k = 0; k < j->claim.n; k++)
        n += j->claim.pieces[k].awaited;
    j->loaded = n == 0;
    j->asked = n > 0;
    if (n == 0)
        return;
    run->devices.taker[index] = (uint8_t)gpu->unit;
    atomic_store_explicit(&run->devices.missing[index], n + 1, memory_order_relaxed);
    for (uint32_t k = 0; k < j->claim.n; k++) { /* only what the job needs is awaited, and comes first */
        const struct dfm_piece *p = &j->claim.pieces[k];
        uint32_t block = p->use == DFM_TAKE ? p->from : p->block, holders;
        if (!p->awaited)
            continue;
        holders = dfm_block_valid(&run->memory.space->blocks[block]);
        if (holders & DFM_HOST || ask_peer(gpu, p, dfr_waiter(run, j->job, k), holders))
            present++;
        else
            dfr_ask(run, dfr_waiter(run, j->job, k), block, holders);
    }
    atomic_fetch_sub_explicit(&run->devices.missing[index], present, memory_order_acq_rel);
}

/* Reserves memory for the job, and asks for its inputs. false: nothing changed, or the run fails. */
static bool reserve(struct dfr_gpu *gpu, struct gpu_job *j)
{
    struct df_error error;
    switch (dfm_cache_reserve(gpu->cache, &j->claim, &error)) {
    case DFM_RESERVED:
        j->state = GPU_RESERVED;
        if (gpu->next_use)
            dfr_next_use_taken(gpu->next_use, j->job);
        ask_for_inputs(gpu, j);
        return true;
    case DFM_ERROR:
        dfr_gpu_job_failed(gpu, j, &error);
        return false;
    default:
        return false;
    }
}

/* How many jobs may be here now. The window is made for the most streams; as many of its parts count as streams are
 * used. */
static uint32_t room(const struct dfr_gpu *gpu)
{
    return gpu->window / gpu->run->devices.jobs * gpu->flight.jobs;
}

/* The time that the job was expected to take, as a measure of its work. If nothing is known, all jobs count the
 * same. */
static double expected_work(const struct dfr_gpu *gpu, uint64_t job)
{
    const struct df_run *run = gpu->run;
    double s = run->choice.time_s[(size_t)gpu->unit * run->graph->n_works + run->graph->nodes[dfr_job_node(job)].work];
    return s > 0 && s < INFINITY ? s : 1e-9;
}

double dfr_gpu_busy_s(const struct dfr_gpu *gpu)
{
    double sum_s = 0, since_s = 0;

    if (gpu->n_jobs - gpu->n_ahead < gpu->flight.jobs)
        return 0;
    for (uint32_t i = 0; i < gpu->n_jobs; i++)
        sum_s += expected_work(gpu, gpu->jobs[gpu->order[i]].job);
    if (gpu->jobs[gpu->order[0]].state == GPU_LAUNCHED)
        since_s = dfr_clock_s() - fmax(gpu->jobs[gpu->order[0]].launched_s, gpu->found_s);
    return fmax(sum_s - since_s, TINY_S);
}

/* Gets a job from the policy; first one whose data is here. A job whose data is still coming may take any place but the
 * last free one: that is for a job that can begin earlier. */
static bool pop(struct dfr_gpu *gpu, struct dfr_worker *w, uint32_t n_free, uint64_t *job)
{
    struct df_run *run = gpu->run;
    bool *hasty = &run->devices.hasty[gpu->unit];

    *hasty = false;
    if (run->choice.policy->pop(run->choice.state, w->index, job))
        return true;
    *hasty = n_free > 1;
    return *hasty && run->choice.policy->pop(run->choice.state, w->index, job);
}

static bool take(struct dfr_gpu *gpu, struct dfr_worker *w)
{
    uint32_t n = gpu->n_jobs - gpu->n_ahead, i = 0;
    struct gpu_job *j;
    uint64_t job;
    bool found;

    if (n >= room(gpu))
        return false;
    found = pop(gpu, w, room(gpu) - n, &job);
    if (!found) {
        if (n < gpu->flight.jobs)
            dfr_flight_starved(&gpu->flight);
        return false;
    }
    while (gpu->jobs[i].state != GPU_EMPTY)
        i++;
    j = &gpu->jobs[i];
    gpu->order[gpu->n_jobs++] = i;
    j->state = GPU_TAKEN;
    j->ahead = false;
    j->job = job;
    dfr_gpu_describe_claim(gpu, j);
    leave_empty_out(gpu, j);
    return true;
}

static bool take_and_reserve(struct dfr_gpu *gpu, struct dfr_worker *w)
{
    bool progress = false;
    for (;;) {
        struct gpu_job *newest = gpu->n_jobs ? &gpu->jobs[gpu->order[gpu->n_jobs - 1]] : NULL;
        if (newest && newest->state == GPU_TAKEN) {
            if (!reserve(gpu, newest))
                return progress;
        } else if (!take(gpu, w)) {
            return progress;
        }
        progress = true;
    }
}

/* true: a peer that was asked no longer had the input, and the host does not have it either. */
static bool must_be_asked_for(const struct dfr_gpu *gpu, const struct dfm_piece *p)
{
    uint32_t block = p->use == DFM_TAKE ? p->from : p->block;
    return !dfm_cache_is_coming(gpu->cache, p) && !(dfm_block_valid(&gpu->run->memory.space->blocks[block]) & DFM_HOST);
}

/* Sends inputs on to this device that came to the host from others. true: something changed. */
static bool load_arrived(struct dfr_gpu *gpu, struct gpu_job *j)
{
    struct df_run *run = gpu->run;
    struct df_error error;
    bool all = true, refused = false;

    if (atomic_load_explicit(&run->devices.missing[dfr_job_index(run, j->job)], memory_order_acquire) > 0)
        return false;
    for (uint32_t k = 0; k < j->claim.n; k++) {
        if (!j->claim.pieces[k].awaited)
            continue;
        if (dfm_cache_load(gpu->cache, &j->claim.pieces[k], &error) != DF_OK) {
            dfr_gpu_job_failed(gpu, j, &error);
            return false;
        }
        all = all && !j->claim.pieces[k].awaited;
        refused = refused || (j->claim.pieces[k].awaited && must_be_asked_for(gpu, &j->claim.pieces[k]));
    }
    j->loaded = all;
    if (refused)
        ask_for_inputs(gpu, j);
    return all || refused;
}

/* ---- 2 -> 3 ---- */

static bool launch_ready(struct dfr_gpu *gpu, struct dfr_worker *w)
{
    bool progress = false;
    uint32_t stream = 0;

    for (uint32_t i = 0; i < gpu->n_jobs; i++) {
        struct gpu_job *j = &gpu->jobs[gpu->order[i]];
        if (j->state != GPU_RESERVED || j->ahead)
            continue;
        if (!j->loaded && load_arrived(gpu, j))
            progress = true;
        if (!j->loaded)
            continue;
        while (stream < gpu->flight.jobs && gpu->stream_jobs[stream])
            stream++;
        if (stream >= gpu->flight.jobs || dfr_stopped(gpu->run))
            break;
        dfr_gpu_launch(gpu, w, j, stream);
        progress = true;
    }
    return dfr_gpu_launch_behind(gpu) || progress;
}

/* ---- 3 -> 4 ---- */

static void count_job(struct dfr_gpu *gpu, struct dfr_worker *w, struct gpu_job *j)
{
    double begin_s = j->launched_s, end_s = dfr_clock_s(), device_begin_s, device_end_s;

    if (gpu->device->ops->event_times(gpu->device, gpu->jobs[j->told_by].event, &device_begin_s, &device_end_s)) {
        double part_s = (device_end_s - device_begin_s) / j->parts; /* jobs of a replayed batch count as equally long */
        begin_s = gpu->origin_s + device_begin_s + j->part * part_s;
        end_s = gpu->origin_s + device_end_s - (j->parts - 1 - j->part) * part_s;
    }
    w->jobs++;
    w->busy_s += fmax(0.0, end_s - fmax(begin_s, gpu->computed_until_s)); /* streams overlap; time counts once */
    gpu->computed_until_s = fmax(gpu->computed_until_s, end_s);
    w->last_s = fmax(w->last_s, end_s);
    dfr_flight_ended(&gpu->flight, expected_work(gpu, j->job), dfr_clock_s());
    if (dfr_times_jobs(w)) {
        struct dfr_trace_event *event = dfr_job_timed(w, &j->call, begin_s, end_s);
        if (event) {
            event->loads = j->loads;
            event->launched_s = j->launched_s;
        }
    }
}

double dfr_gpu_took_s(const struct dfr_gpu *gpu)
{
    return gpu->ending->took_s;
}

/* The memory of empty tokens goes when the last of the jobs ends that were launched with it. So it is never evicted. */
static void forget_empty(struct dfr_gpu *gpu, const struct gpu_job *j)
{
    const struct df_run *run = gpu->run;

    for (uint32_t i = 0; dfr_skips_any(&run->skips) && i < j->claim.n; i++) {
        uint32_t block = j->claim.pieces[i].block;
        if (dfr_skips_empty(&run->skips, block / run->graph->n_values, block % run->graph->n_values))
            dfm_cache_forget(gpu->cache, block);
    }
}

static void finish(struct dfr_gpu *gpu, struct dfr_worker *w, struct gpu_job *j)
{
    if (j->result != DF_SKIP || !dfr_skips_leaves_out(&gpu->run->skips, dfr_job_slot(j->job), dfr_job_node(j->job)))
        count_job(gpu, w, j);
    if (gpu->run->watch.inspect && !j->left_out)
        j->result = dfr_inspect_finished(gpu->run, gpu->unit, (uint32_t)(j - gpu->jobs), &j->call, j->result, j->ports);
    dfm_cache_release(gpu->cache, &j->claim);
    forget_empty(gpu, j);
    dfr_gpu_replayed(gpu, j);
    gpu->stream_jobs[j->stream]--;
    gpu->n_ahead -= j->ahead;
    gpu->jobs[j->told_by].tells -= j->told_by != (uint32_t)(j - gpu->jobs);
    if (gpu->flying)
        gpu->flying[dfr_job_index(gpu->run, j->job)] = 0;
    j->state = GPU_EMPTY;
    gpu->ending = j;
    dfr_engine_done(gpu->run, w, &j->call, j->result, j->left_out ? 0 : dfr_memory_of(gpu->run, gpu->unit));
}

/* A job ends neither before the jobs that make its inputs, nor before the others that its event tells of. */
static bool may_end(const struct dfr_gpu *gpu, const struct gpu_job *j)
{
    return j->state == GPU_LAUNCHED && j->tells == 0 &&
           !(j->ahead && gpu->run->devices.ahead[dfr_job_index(gpu->run, j->job)]);
}

/* Asks events, each stream's oldest first, until one of the stream is not complete. An event that tells of several jobs
 * is asked for the first of them alone. *failed: the job whose event could not be asked, or NULL. Gives how many events
 * have become complete. */
static uint32_t look_at_events(struct dfr_gpu *gpu, const struct gpu_job **failed, struct df_error *error)
{
    uint32_t n = 0;

    *failed = NULL;
    gpu->looks++;
    for (uint32_t i = 0; i < gpu->n_jobs; i++) {
        const struct gpu_job *j = &gpu->jobs[gpu->order[i]];
        struct gpu_job *teller = &gpu->jobs[j->told_by];
        if (j->state != GPU_LAUNCHED || teller->complete || gpu->stream_looked[j->stream] == gpu->looks)
            continue;
        if (gpu->device->ops->event_query(gpu->device, teller->event, &teller->complete, error) != DF_OK) {
            *failed = j;
            break;
        }
        n += teller->complete;
        if (teller->complete)
            teller->found = gpu->looks;
        else
            gpu->stream_looked[j->stream] = gpu->looks;
    }
    return n;
}

static bool was_found_now(const struct dfr_gpu *gpu, const struct gpu_job *j)
{
    return j->state == GPU_LAUNCHED && gpu->jobs[j->told_by].complete && gpu->jobs[j->told_by].found == gpu->looks;
}

/* Jobs that are found to have ended at one look share the time since the one before, in proportion to what was expected
 * of each. A replay spares all launches but one. They are added again: expected times have one each, and how jobs are
 * launched says nothing of how long their kernels take. */
static void share_time(struct dfr_gpu *gpu)
{
    double now_s = dfr_clock_s(), begin_s = now_s, expected_s = 0, took_s;
    bool known = true;

    for (uint32_t i = 0; i < gpu->n_jobs; i++) {
        const struct gpu_job *j = &gpu->jobs[gpu->order[i]];
        if (!was_found_now(gpu, j))
            continue;
        begin_s = fmin(begin_s, j->launched_s);
        expected_s += expected_work(gpu, j->job);
        known = known && !j->waits && j->launched_s > gpu->steady_s;
    }
    took_s = now_s - fmax(begin_s, gpu->found_s);
    for (uint32_t i = 0; i < gpu->n_jobs; i++) {
        const struct gpu_job *j = &gpu->jobs[gpu->order[i]];
        if (was_found_now(gpu, j) && j->part > 0)
            took_s += gpu->run->machine.platform.units[gpu->unit].launch_s;
    }
    for (uint32_t i = 0; i < gpu->n_jobs; i++) {
        struct gpu_job *j = &gpu->jobs[gpu->order[i]];
        if (was_found_now(gpu, j))
            j->took_s = known ? took_s * expected_work(gpu, j->job) / expected_s : -1;
    }
    gpu->found_s = now_s;
}

static bool finish_jobs(struct dfr_gpu *gpu, struct dfr_worker *w)
{
    bool progress = false;

    for (uint32_t i = 0; i < gpu->n_jobs && !dfr_stopped(gpu->run);) {
        struct gpu_job *j = &gpu->jobs[gpu->order[i]];
        if (!may_end(gpu, j) || !gpu->jobs[j->told_by].complete) {
            i++;
            continue;
        }
        gpu->n_jobs--;
        memmove(&gpu->order[i], &gpu->order[i + 1], (gpu->n_jobs - i) * sizeof *gpu->order);
        finish(gpu, w, j);
        progress = true;
    }
    return progress;
}

static bool finish_complete(struct dfr_gpu *gpu, struct dfr_worker *w)
{
    const struct gpu_job *failed;
    struct df_error error, of_copies;
    bool progress, ignored;

    if (look_at_events(gpu, &failed, &error) > 0) {
        /* The copies of these jobs' inputs are complete, too. The cache must see that before the blocks may be given
         * up. */
        if (dfm_cache_poll(gpu->cache, &ignored, &of_copies) != DF_OK) {
            dfr_gpu_copies_failed(gpu, &of_copies);
            return false;
        }
        share_time(gpu);
    }
    progress = finish_jobs(gpu, w);
    if (failed)
        dfr_gpu_job_failed(gpu, failed, &error);
    return progress;
}

/* ---- the loop ---- */

/* Looks once at everything. true: something changed. */
static bool step(struct dfr_gpu *gpu, struct dfr_worker *w)
{
    struct df_error error;
    bool progress = false;

    if (dfm_cache_poll(gpu->cache, &progress, &error) != DF_OK) {
        dfr_gpu_copies_failed(gpu, &error);
        return true;
    }
    progress |= finish_complete(gpu, w);
    if (gpu->run->firing.free_next)
        dfr_engine_end_free_jobs(gpu->run, w);
    progress |= take_and_reserve(gpu, w);
    progress |= launch_ready(gpu, w);
    return progress;
}

/* Nothing has changed since `since_s`. The worker sleeps until it is woken. A back end that cannot wake it is asked
 * again, at once or after a pause (gpu_pause.c). */
static void rest(struct dfr_gpu *gpu, uint32_t key, double since_s, int64_t *pause_ns)
{
    struct dfr_wake *wake = &gpu->run->threads.wakes[gpu->unit];
    bool busy = gpu->n_jobs > 0 || dfm_cache_busy(gpu->cache);

    if (busy && gpu->device->ops->next_event_s) {
        double next_s = gpu->device->ops->next_event_s(gpu->device);
        dfr_wake_sleep(wake, key, next_s < 1e9 ? (int64_t)(next_s * 1e9) : -1);
    } else if (!busy || gpu->device->ops->can_wakeup) {
        dfr_wake_sleep(wake, key, -1);
    } else {
        int64_t ns = dfr_gpu_pause_ns(dfr_clock_s(), since_s, dfr_gpu_next_end_s(gpu), gpu->run->threads.spins > 0,
                                      pause_ns);
        if (ns == 0)
            dfr_wake_cancel(wake, key);
        else
            dfr_wake_sleep(wake, key, ns);
    }
}

/* Relates the device's clock to the host's, by an event on an idle stream. */
static void calibrate(struct dfr_gpu *gpu)
{
    const struct dfr_device_ops *ops = gpu->device->ops;
    struct dfr_event *event = gpu->jobs[0].event;
    double begin_s, end_s;
    struct df_error error;

    if (ops->event_record(gpu->device, event, DFR_STREAM_COMPUTE, &error) != DF_OK ||
        ops->drain(gpu->device, &error) != DF_OK) {
        dfr_engine_fail(gpu->run, DF_E_DEVICE, "beginning: %s", error.text);
        return;
    }
    if (ops->event_times(gpu->device, event, &begin_s, &end_s))
        gpu->origin_s = dfr_clock_s() - end_s;
}

/* The worker of an emulated GPU goes where its compute engine is. */
static void bind_worker(const struct dfr_gpu *gpu, const struct dfr_worker *w)
{
    const struct dfr_device_ops *ops = gpu->device->ops;
    char bus_id[32];
    uint32_t number = gpu->run->devices.number[gpu->unit];

    if (gpu->run->machine.cores && ops->runs_cpu_code)
        dfr_cores_bind(gpu->run->machine.cores, w->index);
    else if (ops->bus_id && ops->bus_id(number, bus_id, sizeof bus_id, NULL) == DF_OK && dfr_bind_near(bus_id))
        dfr_log(gpu->run, DF_LOG_INFO, "%s: its worker runs on the cores near %s",
                gpu->run->machine.platform.units[gpu->unit].name, bus_id);
}

/* What is in flight ends before its memory is freed, and before what its kernels have opened is closed. If the run has
 * failed, errors of this are not told. */
static void drain(void *arg)
{
    struct dfr_gpu *gpu = arg;
    struct df_error error;

    gpu->device->ops->drain(gpu->device, &error);
    for (uint32_t s = 0; s < gpu->run->devices.jobs; s++)
        dfr_opened_close(&gpu->opened[s], gpu->run->graph);
}

/* ---- between calls of a session ---- */

static bool is_quiet(const struct dfr_gpu *gpu)
{
    return gpu->n_jobs == 0 && !dfm_cache_busy(gpu->cache);
}

/* A step has changed nothing since `asked` was read, so all that jobs left behind before the question has been seen. */
static void answer(struct dfr_gpu *gpu, uint32_t asked)
{
    if (asked == atomic_load_explicit(&gpu->told, memory_order_relaxed) || !is_quiet(gpu))
        return;
    if (gpu->forget)
        dfr_gpu_recordings_forget(gpu);
    /* release: what copies wrote to the caller's memory */
    atomic_store_explicit(&gpu->told, asked, memory_order_release);
    dfr_futex_wake(&gpu->told, 1);
}

static uint32_t question(struct dfr_gpu *gpu)
{
    return atomic_load_explicit(&gpu->asked, memory_order_seq_cst);
}

void dfr_gpu_settle(struct dfr_gpu *gpu, bool forget)
{
    uint32_t asked = atomic_load_explicit(&gpu->asked, memory_order_relaxed) + 1, told;

    gpu->forget = forget;
    atomic_store_explicit(&gpu->asked, asked, memory_order_seq_cst);
    dfr_wake_unit(gpu->run, gpu->unit);
    while ((told = atomic_load_explicit(&gpu->told, memory_order_acquire)) != asked && !dfr_stopped(gpu->run))
        dfr_futex_wait(&gpu->told, told, LOOK_NS);
}

static void work(struct dfr_gpu *gpu, struct dfr_worker *w)
{
    struct dfr_wake *wake = &w->run->threads.wakes[w->unit];
    int64_t pause_ns = DFR_GPU_FIRST_PAUSE_NS;
    double changed_s = 0;

    while (!dfr_stopped(w->run)) {
        uint32_t key, asked = question(gpu);
        if (step(gpu, w)) {
            pause_ns = DFR_GPU_FIRST_PAUSE_NS;
            changed_s = gpu->device->ops->can_wakeup ? 0 : dfr_clock_s();
            continue;
        }
        answer(gpu, asked);
        key = dfr_wake_announce(wake);
        if (dfr_stopped(w->run) || step(gpu, w) || (question(gpu) != asked && is_quiet(gpu)))
            dfr_wake_cancel(wake, key);
        else
            rest(gpu, key, changed_s, &pause_ns);
    }
}

void *dfr_gpu_main(void *arg)
{
    struct dfr_worker *w = arg;
    struct dfr_gpu *gpu = w->run->devices.gpus[w->unit];

    dfr_prompt(true);
    bind_worker(gpu, w);
    calibrate(gpu);
    pthread_cleanup_push(drain, gpu); /* also if a kernel ends this thread */
    work(gpu, w);
    pthread_cleanup_pop(1);
    return NULL;
}
