/* gpu_launch.c - launches a job on a GPU together with the jobs that follow it there, so that the GPU never waits for the worker thread between them.
 * gpu_worker.c calls it for each job whose inputs are in the GPU's memory.
 *
 * Ahead:    applies to policies that know each node's unit before the run. A job whose missing inputs are all produced by jobs in flight here is launched
 *           ahead: behind those jobs, in stream order, before the engine has made it ready. Only this thread will release it, so no other worker can get
 *           it; run->devices.ahead tells the engine to leave it to this worker when it is released. The worker completes it only after that release, so
 *           jobs end in the order of the graph.
 * Never:    jobs that read from a stream source, which may end; `sync` jobs; jobs with another input that is not in this memory; and jobs for which no
 *           memory is free. They are taken from the policy when they are ready, like all others.
 * Batch:    a job, and those found behind it at its launch. They go to one stream in one order, and may be recorded
 *           (gpu_record.c). A job that another unit waits for is the last of its batch.
 * Behind:   a batch may be closed before all possible successors are in it, because it is full or memory is short. Jobs whose readers were not all launched
 *           are *open*. While they are in flight, the next batch is collected from their readers and launched behind them on the same stream, so that the
 *           device receives it before it has finished the one before. This is skipped if another job waits for a stream, since that job is more urgent.
 */
#include "runtime/engine/buffers.h"
#include "runtime/engine/ports.h"
#include "runtime/gpu/gpu_impl.h"
#include "runtime/inspect/inspect.h"
#include "runtime/threads/clock.h"

/* ---- one job ---- */

static void set_port(struct gpu_job *j, uint32_t p, void *address, uint64_t bytes, bool writable, const char *name)
{
    j->ports[p] = address;
    j->ranges[p] = (struct dfr_range){ .address = address, .bytes = bytes, .writable = writable, .port = name };
}

/* Is the job called with an input that has no elements? Whatever stands in its place in the claim is another one's. Of a job that is launched ahead it
 * is not known yet: it has memory for each. */
static bool is_given_none(const struct df_run *run, const struct gpu_job *j, const struct df_kernel *kernel, uint32_t in_slot)
{
    const struct df_graph *g = run->graph;
    return kernel->traits & DF_ZERO_EXTENTS && !j->ahead &&
           dfr_skips_empty(&run->skips, dfr_job_slot(j->job), g->in_value[g->nodes[dfr_job_node(j->job)].first_in + in_slot]);
}

/* The device's scratch is in the claim. Scratch of the CPU's code alone, which an emulated GPU runs, is the host's. */
static void make_ports(struct dfr_gpu *gpu, struct gpu_job *j)
{
    const struct df_graph *g = gpu->run->graph;
    const struct df_node *node = &g->nodes[dfr_job_node(j->job)];
    const struct df_kernel *kernel = &g->kernels[node->kernel];
    const uint64_t *bytes = g->port_bytes + g->works[node->work].first_port;
    const struct dfm_piece *acc = j->claim.pieces + kernel->n_in, *output = acc + kernel->n_acc;
    unsigned char *tmp = j->claim.tmp_bytes ? dfm_cache_tmp_address(gpu->cache, &j->claim) : NULL, *host_tmp = gpu->host_tmp;

    for (uint32_t p = 0; p < kernel->n_ports; p++) {
        const struct df_kport *port = &g->kports[kernel->first_port + p];
        const char *name = df_graph_string(g, port->name);
        if (port->in_slot >= 0 && is_given_none(gpu->run, j, kernel, (uint32_t)port->in_slot)) {
            set_port(j, p, NULL, 0, false, name);
        } else if (port->in_slot >= 0) {
            set_port(j, p, dfm_cache_address(gpu->cache, &j->claim.pieces[port->in_slot]), bytes[p],
                     port->mode == DF_INOUT, name);
        } else if (port->mode == DF_ACC) {
            set_port(j, p, dfm_cache_address(gpu->cache, acc++), bytes[p], true, name);
        } else if (port->mode == DF_OUT) {
            set_port(j, p, dfm_cache_address(gpu->cache, output++), bytes[p], true, name);
        } else if (df_port_is_on(port, DF_ON_DEVICE)) {
            set_port(j, p, df_tmp_take(port, DF_ON_DEVICE, bytes[p], &tmp), bytes[p], true, name);
        } else {
            set_port(j, p, df_tmp_take(port, DF_ON_HOST, bytes[p], &host_tmp), 0, true, name);
        }
    }
}

/* Called after each launch. If it was the kernel's first on this stream, its code was loaded just now. */
static void note_first(struct dfr_gpu *gpu, uint32_t kernel, uint32_t stream)
{
    uint8_t *loaded = gpu->loaded ? &gpu->loaded[(size_t)stream * gpu->run->graph->n_kernels + kernel] : NULL;

    if (!loaded || *loaded)
        return;
    *loaded = 1;
    gpu->steady_s = dfr_clock_s();
}

bool dfr_gpu_copies(const struct dfr_gpu *gpu, const struct gpu_job *j)
{
    const struct df_graph *g = gpu->run->graph;

    return g->kernels[g->nodes[dfr_job_node(j->job)].kernel].flags & DF_KERNEL_COPY && !gpu->run->memory.untouched &&
           (!j->ahead || gpu->device->ops->results_at_once);
}

/* The input has been made, or the host code that makes it has run, so its extents are known. */
static uint64_t copied_bytes(const struct df_run *run, uint32_t node, uint32_t slot, uint32_t in_slot)
{
    const struct df_graph *g = run->graph;
    uint64_t bytes = run->extents
                         ? dfr_extents_bytes(run->extents, g->in_value[g->nodes[node].first_in + in_slot], slot)
                         : g->port_bytes[g->works[g->nodes[node].work].first_port];
    return bytes > 0 ? bytes : 1;
}

/* The job is a copy, or a select: of the first input that is not empty. */
static int enqueue_copy(struct dfr_gpu *gpu, const struct gpu_job *j, int *result, void *const *ports,
                        struct df_error *error)
{
    struct df_run *run = gpu->run;
    uint32_t node = dfr_job_node(j->job), slot = dfr_job_slot(j->job), from = 0;

    if (dfr_skips_any(&run->skips)) {
        from = dfr_skips_first(&run->skips, slot, node);
        if (from == DF_NONE)
            dfr_make_empty(run, j->job);
        else
            dfr_skips_set(&run->skips, slot, node, false);
    }
    *result = from == DF_NONE ? DF_SKIP : DF_OK;
    if (from == DF_NONE)
        return DF_OK;
    if (run->extents && dfr_extents_node_varies(run->extents, node)) {
        dfr_extents_pass(run->extents, node, slot, from);
        dfr_buffers_extents(run, j->job, dfr_job_wave(run, j->job));
    }
    return gpu->device->ops->copy(gpu->device, DFR_COPY_D2D, ports[1], ports[df_select_port(from)],
                                  copied_bytes(run, node, slot, from), DFR_STREAM_COMPUTE + j->stream, error);
}

int dfr_gpu_enqueue(struct dfr_gpu *gpu, const struct gpu_job *j, struct df_call *call, int *result, void **ports,
                    const struct dfr_range *ranges, const char *name, struct df_error *error)
{
    const struct dfr_device_ops *ops = gpu->device->ops;
    const struct df_run *run = gpu->run;
    const struct df_graph *g = run->graph;
    const struct df_node *node = &g->nodes[dfr_job_node(j->job)];
    const struct df_kernel *kernel = &g->kernels[node->kernel];
    const struct df_work *work = &g->works[node->work];
    uint32_t stream = DFR_STREAM_COMPUTE + j->stream;
    struct dfr_launch launch = {
        .fn = dfr_call_or_leave_out,
        .call = call, .dims = (const size_t *)(g->dims + work->first_dim), .ports = ports,
        .scalars = run->memory.scalars ? run->memory.scalars + work->first_scalar : NULL, .result = result, .ranges = ranges,
        .n_ranges = kernel->n_ports, .node_name = name, .broken = &gpu->broken,
        .seconds = run->choice.time_s[(size_t)gpu->unit * g->n_works + node->work],
    };
    int status;

    if (dfr_gpu_copies(gpu, j))
        return enqueue_copy(gpu, j, result, ports, error);
    status = ops->launch(gpu->device, &launch, stream, error);
    note_first(gpu, node->kernel, j->stream);
    return status;
}

static bool waits_for_copies(const struct dfr_gpu *gpu, const struct gpu_job *j)
{
    for (uint32_t i = 0; i < j->claim.n; i++) {
        const struct dfm_piece *p = &j->claim.pieces[i];
        if (p->use != DFM_WRITE && dfm_cache_loads(gpu->cache, p->use == DFM_TAKE ? p->from : p->block))
            return true;
    }
    return false;
}

/* Fills what a launch needs of the job itself. */
static void prepare(struct dfr_gpu *gpu, struct gpu_job *j, uint32_t stream)
{
    struct df_run *run = gpu->run;

    j->stream = stream;
    j->result = DF_OK;
    j->recording = NULL;
    j->told_by = (uint32_t)(j - gpu->jobs);
    j->tells = j->part = 0;
    j->complete = false;
    j->waits = waits_for_copies(gpu, j);
    j->loads = false;
    j->open = gpu->flying && !j->left_out && dfr_job_slot(j->job) != dfr_once_slot(run) && !run->options.sync_kernels;
    j->parts = 1;
    j->call = (struct df_call){ .run = run, .job = j->job, .wave = dfr_job_wave(run, j->job), .threads = 1,
                                .device = gpu->device, .opened = &gpu->opened[stream],
                                .stream = DFR_STREAM_COMPUTE + stream };
    if (!j->left_out)
        make_ports(gpu, j);
    df_node_name(run->graph, dfr_job_node(j->job), j->name, DFR_GPU_NAME_BYTES);
    if (gpu->flying && !j->left_out) {
        gpu->flying[dfr_job_index(run, j->job)] = 1;
        dfm_cache_take_over(gpu->cache, &j->claim);
    }
}

/* ---- what follows ---- */

/* How many of the node's in slots have values that are being made here. UINT32_MAX: the node may not be launched
 * ahead, such as one with an input that is known to be empty. */
static uint32_t made_here(const struct dfr_gpu *gpu, uint32_t node, uint32_t slot)
{
    const struct df_run *run = gpu->run;
    const struct df_graph *g = run->graph;
    const uint32_t *in = g->in_value + g->nodes[node].first_in;
    uint32_t n = 0;

    if (dfr_skips_passes_over(&run->skips, slot, node))
        return UINT32_MAX;
    for (uint32_t k = 0; k < df_node_n_in(g, node); k++) {
        uint32_t producer = g->values[in[k]].producer;
        if (dfr_is_once(run, producer))
            continue;
        if (!gpu->flying[(size_t)slot * g->n_nodes + producer]) {
            if (dfr_skips_empty(&run->skips, slot, in[k]))
                return UINT32_MAX;
            continue;
        }
        if (run->firing.nodes[producer].flags & DFR_N_STREAM)
            return UINT32_MAX;
        n++;
    }
    return n;
}

static bool is_here(const struct dfr_gpu *gpu, uint32_t node, uint32_t slot)
{
    const struct df_run *run = gpu->run;
    return run->choice.policy->units(run->choice.state, slot, node) == 1u << gpu->unit;
}

static bool may_follow(const struct dfr_gpu *gpu, uint32_t node, uint32_t slot)
{
    const struct df_run *run = gpu->run;
    size_t index = (size_t)slot * run->graph->n_nodes + node;

    return !gpu->flying[index] && !(run->graph->kernels[run->graph->nodes[node].kernel].traits & DF_SYNC) && !df_node_uses(run->graph, node) &&
           is_here(gpu, node, slot) && made_here(gpu, node, slot) == dfr_engine_pending(run, node, slot);
}

static struct gpu_job *empty_job(struct dfr_gpu *gpu)
{
    uint32_t i = 0;
    while (gpu->jobs[i].state != GPU_EMPTY)
        i++;
    return &gpu->jobs[i];
}

/* Prepares the node's job for a launch ahead: a record of the job, and memory. NULL: there is no room for it now. */
static struct gpu_job *follow(struct dfr_gpu *gpu, uint32_t node, uint32_t slot, uint32_t stream)
{
    struct gpu_job *j;
    struct df_error error;
    enum dfm_reserved reserved;

    if (gpu->n_ahead == DFR_GPU_AHEAD || gpu->n_jobs == gpu->capacity)
        return NULL;
    j = empty_job(gpu);
    j->job = dfr_job(slot, node);
    dfr_gpu_describe_claim(gpu, j);
    reserved = dfm_cache_reserve_ahead(gpu->cache, &j->claim, &error);
    if (reserved == DFM_ERROR)
        dfr_gpu_job_failed(gpu, j, &error);
    if (reserved != DFM_RESERVED)
        return NULL;
    gpu->order[gpu->n_jobs++] = (uint32_t)(j - gpu->jobs);
    gpu->n_ahead++;
    j->state = GPU_RESERVED;
    if (gpu->next_use)
        dfr_next_use_taken(gpu->next_use, j->job);
    j->asked = j->left_out = false;
    j->loaded = j->ahead = true;
    gpu->run->devices.ahead[dfr_job_index(gpu->run, j->job)] = 1;
    prepare(gpu, j, stream);
    return j;
}

/* Readers that may fire when the value's job has ended. Those of an acc wait for the last wave. */
static uint32_t n_readers_now(const struct df_graph *g, uint32_t y)
{
    return df_value_is_acc(g, y) ? 0 : g->values[y].n_readers;
}

/* Does another unit wait for what the job makes? */
static bool is_awaited(const struct dfr_gpu *gpu, const struct gpu_job *j)
{
    const struct df_graph *g = gpu->run->graph;
    uint32_t node = dfr_job_node(j->job), first = g->nodes[node].first_out;

    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        for (uint32_t r = 0; r < n_readers_now(g, y); r++)
            if (!is_here(gpu, g->readers[g->values[y].first_reader + r].node, dfr_job_slot(j->job)))
                return true;
    return false;
}

/* Adds to the batch the jobs that may be launched behind `from`, which is in flight or in the batch. false: the batch
 * ends. */
static bool add_readers(struct dfr_gpu *gpu, struct gpu_job *from, struct gpu_job **batch, uint32_t *n)
{
    const struct df_graph *g = gpu->run->graph;
    uint32_t node = dfr_job_node(from->job), slot = dfr_job_slot(from->job), first = g->nodes[node].first_out;
    bool open = false;

    for (uint32_t y = first; from->open && y < first + df_node_n_out(g, node); y++)
        for (uint32_t r = 0; r < n_readers_now(g, y); r++) {
            uint32_t reader = g->readers[g->values[y].first_reader + r].node;
            if (*n == DFR_GPU_BATCH)
                return false;
            if (!may_follow(gpu, reader, slot))
                continue;
            batch[*n] = follow(gpu, reader, slot, from->stream);
            open = open || !batch[*n];
            if (batch[*n] && is_awaited(gpu, batch[(*n)++]))
                return false;
        }
    from->open = open;
    return true;
}

/* Adds to the batch, which has n jobs, what may be launched behind them. Gives how many jobs it has then. */
static uint32_t gather(struct dfr_gpu *gpu, struct gpu_job **batch, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!add_readers(gpu, batch[i], batch, &n))
            break;
    return n;
}

/* ---- launching ---- */

/* The job in flight here that makes the value of input k. NULL: none does. */
static const struct gpu_job *maker(const struct dfr_gpu *gpu, const struct gpu_job *j, uint32_t k)
{
    const struct df_graph *g = gpu->run->graph;
    uint32_t slot = dfr_job_slot(j->job);
    uint32_t producer = g->values[g->in_value[g->nodes[dfr_job_node(j->job)].first_in + k]].producer;

    if (dfr_is_once(gpu->run, producer) || !gpu->flying[(size_t)slot * g->n_nodes + producer])
        return NULL;
    for (uint32_t i = 0; i < gpu->n_jobs; i++)
        if (gpu->jobs[gpu->order[i]].job == dfr_job(slot, producer))
            return &gpu->jobs[gpu->order[i]];
    return NULL;
}

/* Makes the stream wait for the job's copies, and for what makes its inputs on other streams. */
static int wait_inputs(struct dfr_gpu *gpu, struct gpu_job *j, struct df_error *error)
{
    uint32_t stream = DFR_STREAM_COMPUTE + j->stream, n_in = df_node_n_in(gpu->run->graph, dfr_job_node(j->job));
    int status = dfm_cache_wait(gpu->cache, &j->claim, stream, error);

    for (uint32_t k = 0; j->ahead && k < n_in && status == DF_OK; k++) {
        const struct gpu_job *other = maker(gpu, j, k);
        if (other && other->stream != j->stream)
            status = gpu->device->ops->stream_wait(gpu->device, stream, gpu->jobs[other->told_by].event, error);
    }
    return status;
}

static int launch_one(struct dfr_gpu *gpu, struct gpu_job *j, struct df_error *error)
{
    const struct dfr_device_ops *ops = gpu->device->ops;
    double steady_s = gpu->steady_s;
    int status = DF_OK;

    if (gpu->run->watch.inspect && !j->left_out)
        status = dfr_inspect_launch(gpu->run, gpu->unit, (uint32_t)(j - gpu->jobs), &j->call, j->ports, error);
    if (j->left_out)
        j->result = DF_SKIP;
    else if (status == DF_OK)
        status = dfr_gpu_enqueue(gpu, j, &j->call, &j->result, j->ports, j->ranges, j->name, error);
    j->loads = gpu->steady_s > steady_s;
    if (status == DF_OK)
        status = ops->event_record(gpu->device, j->event, DFR_STREAM_COMPUTE + j->stream, error);
    if (status == DF_OK && gpu->run->options.sync_kernels)
        status = dfr_event_wait(gpu->device, j->event, 0, error);
    return status;
}

static void launched(struct dfr_gpu *gpu, struct gpu_job *j, double now_s)
{
    j->launched_s = now_s;
    j->state = GPU_LAUNCHED;
    gpu->stream_jobs[j->stream]++;
}

/* Launches the jobs of the batch, which are prepared. If it cannot, the run fails. */
static void launch_batch(struct dfr_gpu *gpu, struct gpu_job **batch, uint32_t n)
{
    struct df_error error;
    double now_s = dfr_clock_s();
    bool done = false;

    for (uint32_t i = 0; i < n; i++)
        if (wait_inputs(gpu, batch[i], &error) != DF_OK) {
            dfr_gpu_job_failed(gpu, batch[i], &error);
            return;
        }
    if (dfr_gpu_replay(gpu, batch, n, &done, &error) != DF_OK) {
        dfr_gpu_job_failed(gpu, batch[0], &error);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!done && launch_one(gpu, batch[i], &error) != DF_OK) {
            dfr_gpu_job_failed(gpu, batch[i], &error);
            return;
        }
        launched(gpu, batch[i], now_s);
        gpu->failed = gpu->device->ops->results_at_once && batch[i]->result != DF_OK && batch[i]->result != DF_SKIP;
        if (gpu->failed)
            break;                      /* it is known already: what the job did not make is not read */
    }
}

void dfr_gpu_launch(struct dfr_gpu *gpu, struct dfr_worker *w, struct gpu_job *j, uint32_t stream)
{
    struct gpu_job *batch[DFR_GPU_BATCH] = { j };

    if (w->first_s < 0)
        w->first_s = dfr_clock_s();
    prepare(gpu, j, stream);
    launch_batch(gpu, batch, j->open && !is_awaited(gpu, j) ? gather(gpu, batch, 1) : 1);
}

/* Does some job wait for a stream that is not there for it? */
static bool is_stream_wanted(const struct dfr_gpu *gpu)
{
    uint32_t n_free = 0, n_waiting = 0;

    for (uint32_t s = 0; s < gpu->flight.jobs; s++)
        n_free += gpu->stream_jobs[s] == 0;
    for (uint32_t i = 0; i < gpu->n_jobs; i++) {
        const struct gpu_job *j = &gpu->jobs[gpu->order[i]];
        n_waiting += j->state != GPU_LAUNCHED && !j->ahead;
    }
    return n_waiting > n_free;
}

/* Batches are whole unless there is no more to follow: those of later waves are then the same, and can be replayed. */
static bool may_launch_behind(const struct dfr_gpu *gpu)
{
    return gpu->flying && !gpu->failed && !dfr_stopped(gpu->run) &&
           gpu->n_ahead + DFR_GPU_BATCH <= DFR_GPU_AHEAD && !is_stream_wanted(gpu);
}

/* Gathers and launches one batch behind the open jobs of a stream. false: there is nothing to launch. */
static bool launch_behind_stream(struct dfr_gpu *gpu, uint32_t stream)
{
    struct gpu_job *batch[DFR_GPU_BATCH];
    uint32_t n = 0, n_before = gpu->n_jobs;
    bool more = true;

    for (uint32_t i = 0; i < n_before && more; i++) {
        struct gpu_job *j = &gpu->jobs[gpu->order[i]];
        if (j->state == GPU_LAUNCHED && j->open && j->stream == stream)
            more = add_readers(gpu, j, batch, &n);
    }
    if (n == 0)
        return false;
    launch_batch(gpu, batch, more ? gather(gpu, batch, n) : n);
    return true;
}

bool dfr_gpu_launch_behind(struct dfr_gpu *gpu)
{
    bool progress = false;

    for (uint32_t stream = 0; stream < gpu->run->devices.jobs; stream++)
        while (gpu->stream_jobs[stream] > 0 && may_launch_behind(gpu) && launch_behind_stream(gpu, stream))
            progress = true;
    return progress;
}
