/* gpu_record.c - records batches of launches that recur in later waves with the same addresses, and replays each with one call. gpu_launch.c calls it for
 * each batch.
 *
 * A batch is identified by its nodes, the addresses of their ports, and whether its first job is a device copy, which calls no function. Batches are kept in
 * a hash table with linear probing. States of an entry:
 *     1  empty      no batch of this hash has come yet.
 *     2  seen       1 -> 2 when one has come; it was launched job by job.
 *     3  recorded   2 -> 3 when it comes again (1 -> 3 with --cuda-graphs=on); from then on it is replayed.
 *     4  never      2 -> 4 if it cannot be recorded, or if a kernel asked for something that differs from wave to wave.
 * If the table is full, a new batch replaces the least recently used entry, unless a replay of it is in flight. Recordings are kept in preference to batches that
 * were only seen, so that some batches are always replayed even if more recur than there are entries.
 *
 * Order:    job j of a batch starts after all earlier jobs that touch the same bytes, if one of the two writes them. So producers and consumers are
 *           ordered, while independent jobs may run concurrently in a replay. Work in the stream before and after a replay is ordered with all of it.
 * Pays:     a replay saves all launches but one and all events but one, so it pays from a few jobs on (LEAST_JOBS). There is one event for the whole batch.
 *           A batch ends with a job that another unit waits for, so that no unit waits longer because of this. With --trace or --learn each job's own times
 *           are needed, so nothing is recorded unless --cuda-graphs=on requests it.
 * Memory:   a recording is allocated once, when it is made; replays allocate nothing. A recording has its own calls, results and ports, because the
 *           recorded launches point to them.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/threads/clock.h"
#include "runtime/base/error.h"
#include "runtime/gpu/gpu_impl.h"

#define LEAST_JOBS 3u
_Static_assert(DFR_GPU_BATCH <= DFR_RECORDED_PARTS, "each job of a batch is a part of its recording");

#define LOOKS_KEPT (8 * DFR_GPU_RECORDINGS) /* for so many batches a place in state 3 or 4 is kept without use */

enum place { EMPTY, SEEN, RECORDED, NEVER };

struct gpu_recording {
    uint64_t hash, used;                /* used: the count of batches (n_batches) when it last came */
    enum place state;
    bool copies;                        /* dfr_gpu_copies() of the first job; the others are launched ahead in each batch */
    uint32_t n, n_ports, left;          /* left: jobs of the replay in flight that have not ended yet */
    uint32_t *nodes;
    struct df_call *calls;
    int *results;
    void **ports;                       /* of all its jobs, one job after the other */
    struct dfr_range *ranges;
    char (*names)[DFR_GPU_NAME_BYTES];
    struct dfr_recording *device;
};

/* ---- the table ---- */

static void clear(struct dfr_gpu *gpu, struct gpu_recording *r)
{
    if (r->device)
        gpu->device->ops->recording_destroy(gpu->device, r->device);
    free(r->nodes);
    free(r->calls);
    free(r->results);
    free(r->ports);
    free(r->ranges);
    free(r->names);
    *r = (struct gpu_recording){ .state = EMPTY };
}

int dfr_gpu_recordings_create(struct dfr_gpu *gpu, struct df_error *error)
{
    const struct df_run *run = gpu->run;
    int asked = run->options.cuda_graphs;

    if (!gpu->device->ops->record_begin || !gpu->flying || asked == DF_GRAPHS_OFF || run->options.sync_kernels ||
        (asked == DF_GRAPHS_AUTO && run->watch.trace))
        return DF_OK;
    gpu->least_recorded = asked == DF_GRAPHS_ON ? 1 : LEAST_JOBS;
    gpu->record_at_once = asked == DF_GRAPHS_ON;
    gpu->recordings = calloc(DFR_GPU_RECORDINGS, sizeof *gpu->recordings);
    return gpu->recordings ? DF_OK : dfr_error_memory(error);
}

void dfr_gpu_recordings_forget(struct dfr_gpu *gpu)
{
    for (uint32_t i = 0; gpu->recordings && i < DFR_GPU_RECORDINGS; i++)
        clear(gpu, &gpu->recordings[i]);
}

void dfr_gpu_recordings_destroy(struct dfr_gpu *gpu)
{
    dfr_gpu_recordings_forget(gpu);
    free(gpu->recordings);
}

static uint32_t n_ports_of(const struct dfr_gpu *gpu, const struct gpu_job *j)
{
    const struct df_graph *g = gpu->run->graph;
    return g->kernels[g->nodes[dfr_job_node(j->job)].kernel].n_ports;
}

static uint64_t hash_batch(const struct dfr_gpu *gpu, struct gpu_job *const *batch, uint32_t n)
{
    uint64_t hash = 0xcbf29ce484222325u ^ dfr_gpu_copies(gpu, batch[0]);
    for (uint32_t i = 0; i < n; i++) {
        hash = (hash ^ dfr_job_node(batch[i]->job)) * 0x100000001b3u;
        for (uint32_t p = 0; p < n_ports_of(gpu, batch[i]); p++)
            hash = (hash ^ (uint64_t)(uintptr_t)batch[i]->ports[p] >> 8) * 0x100000001b3u;
    }
    return hash ^ hash >> 32;
}

/* How badly the place is needed as it is: a smaller number is taken over first. UINT64_MAX: it may not be. */
static uint64_t worth(const struct dfr_gpu *gpu, const struct gpu_recording *r)
{
    bool kept = r->state != SEEN && gpu->n_batches - r->used <= LOOKS_KEPT;
    return r->left > 0 || kept ? UINT64_MAX : r->used;
}

/* The place of the batch, which may be empty. NULL: there is none for it now. */
static struct gpu_recording *find(struct dfr_gpu *gpu, uint64_t hash)
{
    struct gpu_recording *least = NULL;

    for (uint32_t i = 0; i < DFR_GPU_RECORDINGS; i++) {
        struct gpu_recording *r = &gpu->recordings[(hash + i) % DFR_GPU_RECORDINGS];
        if (r->state == EMPTY || r->hash == hash)
            return r;
        if (worth(gpu, r) < (least ? worth(gpu, least) : UINT64_MAX))
            least = r;
    }
    if (least)
        clear(gpu, least);
    return least;
}

static bool is_of(const struct dfr_gpu *gpu, const struct gpu_recording *r, struct gpu_job *const *batch, uint32_t n)
{
    void *const *ports = r->ports;
    if (r->n != n || r->copies != dfr_gpu_copies(gpu, batch[0]))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t n_ports = n_ports_of(gpu, batch[i]);
        if (r->nodes[i] != dfr_job_node(batch[i]->job) ||
            memcmp(ports, batch[i]->ports, n_ports * sizeof *ports) != 0)
            return false;
        ports += n_ports;
    }
    return true;
}

/* ---- recording ---- */

static bool allocate(const struct dfr_gpu *gpu, struct gpu_recording *r, struct gpu_job *const *batch, uint32_t n)
{
    r->n_ports = 1;
    for (uint32_t i = 0; i < n; i++)
        r->n_ports += n_ports_of(gpu, batch[i]);
    r->n = n;
    r->nodes = calloc(n, sizeof *r->nodes);
    r->calls = calloc(n, sizeof *r->calls);
    r->results = calloc(n, sizeof *r->results);
    r->ports = calloc(r->n_ports, sizeof *r->ports);
    r->ranges = calloc(r->n_ports, sizeof *r->ranges);
    r->names = calloc(n, sizeof *r->names);
    return r->nodes && r->calls && r->results && r->ports && r->ranges && r->names;
}

/* Copies what the recorded launches will point to. */
static void copy_jobs(const struct dfr_gpu *gpu, struct gpu_recording *r, struct gpu_job *const *batch)
{
    uint32_t at = 0;
    r->copies = dfr_gpu_copies(gpu, batch[0]);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t n_ports = n_ports_of(gpu, batch[i]);
        r->nodes[i] = dfr_job_node(batch[i]->job);
        r->calls[i] = batch[i]->call;
        r->calls[i].recorded = true;
        r->results[i] = DF_OK;
        memcpy(r->ports + at, batch[i]->ports, n_ports * sizeof *r->ports);
        memcpy(r->ranges + at, batch[i]->ranges, n_ports * sizeof *r->ranges);
        memcpy(r->names[i], batch[i]->name, DFR_GPU_NAME_BYTES);
        at += n_ports;
    }
}

static bool overlap(const struct dfr_range *a, const struct dfr_range *b)
{
    uintptr_t from = (uintptr_t)a->address, other = (uintptr_t)b->address;
    return from < other + b->bytes && other < from + a->bytes;
}

/* Does one of the two jobs write what the other one touches? */
static bool meet(const struct gpu_job *a, uint32_t n_a, const struct gpu_job *b, uint32_t n_b)
{
    for (uint32_t p = 0; p < n_a; p++)
        for (uint32_t q = 0; q < n_b; q++)
            if ((a->ranges[p].writable || b->ranges[q].writable) && overlap(&a->ranges[p], &b->ranges[q]))
                return true;
    return false;
}

/* Writes for each job of the batch those that it must follow, a bit each. What follows from others is left out. */
static void find_order(const struct dfr_gpu *gpu, struct gpu_job *const *batch, uint32_t n, uint32_t *after)
{
    uint32_t before[DFR_GPU_BATCH];     /* all that a job follows, directly or not */

    for (uint32_t j = 0; j < n; j++) {
        after[j] = before[j] = 0;
        for (uint32_t i = j; i-- > 0;) {
            if (before[j] >> i & 1 || !meet(batch[i], n_ports_of(gpu, batch[i]), batch[j], n_ports_of(gpu, batch[j])))
                continue;
            after[j] |= 1u << i;
            before[j] |= 1u << i | before[i];
        }
    }
}

static int record_launches(struct dfr_gpu *gpu, struct gpu_recording *r, struct gpu_job *const *batch, bool *good,
                           struct df_error *error)
{
    const struct dfr_device_ops *ops = gpu->device->ops;
    uint32_t stream = DFR_STREAM_COMPUTE + batch[0]->stream, at = 0, after[DFR_GPU_BATCH];
    int status = ops->record_begin(gpu->device, stream, error), launched = DF_OK;

    if (status != DF_OK)
        return status;
    find_order(gpu, batch, r->n, after);
    for (uint32_t i = 0; i < r->n && launched == DF_OK; i++) {
        launched = ops->record_part(gpu->device, stream, i, after[i], NULL);
        if (launched == DF_OK)
            launched = dfr_gpu_enqueue(gpu, batch[i], &r->calls[i], &r->results[i], r->ports + at, r->ranges + at,
                                       r->names[i], NULL);
        at += n_ports_of(gpu, batch[i]);
    }
    status = ops->record_end(gpu->device, stream, &r->device, error);
    *good = status == DF_OK && launched == DF_OK && r->device;
    for (uint32_t i = 0; i < r->n; i++)
        *good = *good && r->results[i] == DF_OK && !r->calls[i].failed && !r->calls[i].varies;
    return status;
}

/* true: the batch is recorded. false: an error, or, with DF_OK in *status, it never will be recorded. */
static bool record(struct dfr_gpu *gpu, struct gpu_recording *r, struct gpu_job *const *batch, uint32_t n,
                   struct df_error *error, int *status)
{
    uint64_t hash = r->hash;
    bool good = allocate(gpu, r, batch, n);

    *status = DF_OK;
    if (good) {
        copy_jobs(gpu, r, batch);
        *status = record_launches(gpu, r, batch, &good, error);
    }
    if (gpu->loaded)
        gpu->steady_s = dfr_clock_s();
    if (!good)
        clear(gpu, r);
    r->hash = hash;
    r->used = gpu->n_batches;
    r->state = good ? RECORDED : NEVER;
    return good && *status == DF_OK;
}

/* ---- replaying ---- */

/* A replay that calls no function asks for no empty tokens: it leaves no job out, and a select copies its first input. If
 * what the batch itself makes was empty in an earlier wave, that may be found here; then the batch is launched job by job,
 * and the next one is not. */
static bool depends_on_empty(const struct dfr_gpu *gpu, const struct gpu_job *j)
{
    const struct dfr_skips *skips = &gpu->run->skips;
    uint32_t slot = dfr_job_slot(j->job), node = dfr_job_node(j->job);

    return gpu->device->ops->results_at_once && dfr_skips_any(skips) &&
           ((df_node_n_in(gpu->run->graph, node) > 0 && dfr_skips_first(skips, slot, node) != 0) ||
            dfr_skips_leaves_out(skips, slot, node));
}

/* What is replayed without a call of dfr_call_or_leave_out() makes tokens that are not empty. */
static void make_tokens(const struct dfr_gpu *gpu, const struct gpu_job *j)
{
    if (dfr_skips_any(&gpu->run->skips) && (gpu->device->ops->results_at_once || dfr_gpu_copies(gpu, j)))
        dfr_skips_set(&gpu->run->skips, dfr_job_slot(j->job), dfr_job_node(j->job), false);
}

/* Whether the jobs may be launched again without their host code. Only the author of that code knows whether it does
 * the same in every wave. So, unless --cuda-graphs=on asks for more, only bare __global__ functions are repeated:
 * these have no host code. */
static bool may_repeat(const struct dfr_gpu *gpu, struct gpu_job *const *batch, uint32_t n)
{
    const struct df_graph *g = gpu->run->graph;
    for (uint32_t i = 0; i < n; i++) {
        unsigned traits = g->kernels[g->nodes[dfr_job_node(batch[i]->job)].kernel].traits;
        if (batch[i]->left_out || depends_on_empty(gpu, batch[i]))
            return false;
        if (gpu->run->extents && dfr_extents_node_varies(gpu->run->extents, dfr_job_node(batch[i]->job)))
            return false;               /* other waves have other dimensions */
        if (traits & DF_SYNC || !(traits & DF_LAUNCH || gpu->record_at_once))
            return false;
    }
    return dfr_job_slot(batch[0]->job) != dfr_once_slot(gpu->run);
}

static int replay(struct dfr_gpu *gpu, struct gpu_recording *r, struct gpu_job **batch, struct df_error *error)
{
    const struct dfr_device_ops *ops = gpu->device->ops;
    struct gpu_job *last = batch[r->n - 1];
    uint32_t stream = DFR_STREAM_COMPUTE + batch[0]->stream;
    int status;

    for (uint32_t i = 0; i < r->n; i++) {
        struct gpu_job *j = batch[i];
        r->calls[i].job = j->job;
        r->calls[i].wave = j->call.wave;
        r->calls[i].stream = stream;
        r->calls[i].opened = j->call.opened;
        make_tokens(gpu, j);
        j->recording = r;
        j->told_by = (uint32_t)(last - gpu->jobs);
        j->part = i;
        j->parts = r->n;
    }
    last->tells = r->n - 1;
    r->left = r->n;
    status = ops->replay(gpu->device, r->device, stream, error);
    if (status == DF_OK)
        status = ops->event_record(gpu->device, last->event, stream, error);
    if (status == DF_OK)
        gpu->n_replayed += r->n;
    return status;
}

int dfr_gpu_replay(struct dfr_gpu *gpu, struct gpu_job **batch, uint32_t n, bool *done, struct df_error *error)
{
    struct gpu_recording *r;
    uint64_t hash;
    int status = DF_OK;

    if (!gpu->recordings || n < gpu->least_recorded || !may_repeat(gpu, batch, n))
        return DF_OK;
    hash = hash_batch(gpu, batch, n);
    gpu->n_batches++;
    r = find(gpu, hash);
    if (!r || r->left > 0)
        return DF_OK;
    r->used = gpu->n_batches;
    if (r->state == EMPTY) {
        r->hash = hash;
        r->state = SEEN;
        if (!gpu->record_at_once)
            return DF_OK;
    }
    if (r->state == NEVER || (r->state == SEEN && !record(gpu, r, batch, n, error, &status)))
        return status;
    if (!is_of(gpu, r, batch, n))       /* it is another batch with the same hash */
        return DF_OK;
    *done = true;
    return replay(gpu, r, batch, error);
}

void dfr_gpu_replayed(struct dfr_gpu *gpu, struct gpu_job *j)
{
    struct gpu_recording *r = j->recording;

    (void)gpu;
    if (!r)
        return;
    j->result = r->results[j->part];
    j->call.failed = r->calls[j->part].failed;
    memcpy(j->call.message, r->calls[j->part].message, sizeof j->call.message);
    j->recording = NULL;
    r->left--;
}
