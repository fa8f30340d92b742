/* probe_device.c - measures for probe.c one device through the device interface: its links to the host, whether both
 * directions overlap, the launch overhead, and the fastest way to copy ordinary host memory (staged, or pinned in
 * place).
 *
 * Links are measured by copies of 64 B to 64 MiB, or to the size of a smaller pool, made exactly as a run makes them:
 * memory is pinned once and copies are timed after that. The cost of pinning is measured separately.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memmgr/staging.h"
#include "profiles/probe/probe_impl.h"
#include "runtime/threads/clock.h"
#include "runtime/base/error.h"

#define MOST_PATH_BYTES (16ull << 20)
#define MOST_OVERLAP_BYTES (2ull << 20) /* so small that the host's memory does not limit two copies at the same time */
#define OVERLAP_COPIES 4
#define LAUNCHES 32
#define OVERLAP_RUNS 5
#define OVERLAP 0.8                     /* two engines: both directions at once take less than this share of the sum */

struct bench {
    const struct dfr_device_ops *ops;
    struct dfr_device *device;
    struct dfr_event *event;
    unsigned char *pool, *pinned, *plain;
    uint64_t pool_bytes, path_bytes, overlap_bytes;
    bool quick;
    /* of the copy that is measured */
    enum dfr_copy kind;
    uint64_t bytes;
    enum { PATH_PINNED, PATH_STAGED, PATH_REGISTERED, PATH_PINNING } path;
    struct dfm_staging *ring;           /* STAGED */
    double done;                        /* progress before the link that is measured now */
    dfw_progress *progress;
    void *progress_arg;
};

static uint32_t stream_of(enum dfr_copy kind)
{
    return kind == DFR_COPY_H2D ? DFR_STREAM_H2D : kind == DFR_COPY_D2H ? DFR_STREAM_D2H : DFR_STREAM_COMPUTE;
}

static int enqueue_copy(struct bench *b, enum dfr_copy kind, void *host, void *device, uint64_t bytes,
                        struct df_error *error)
{
    void *to = kind == DFR_COPY_D2H ? host : device, *from = kind == DFR_COPY_D2H ? device : host;
    return b->ops->copy(b->device, kind, to, from, bytes, stream_of(kind), error);
}

static int copy_and_wait(struct bench *b, void *host, struct df_error *error)
{
    int status = enqueue_copy(b, b->kind, host, b->pool, b->bytes, error);
    if (status == DF_OK)
        status = b->ops->event_record(b->device, b->event, stream_of(b->kind), error);
    return status == DF_OK ? dfr_event_wait(b->device, b->event, DFW_GIVE_UP_S, error) : status;
}

static int copy_staged(struct bench *b, struct df_error *error)
{
    unsigned char *to = b->kind == DFR_COPY_H2D ? b->pool : b->plain;
    const unsigned char *from = b->kind == DFR_COPY_H2D ? b->plain : b->pool;
    uint64_t given = 0, taken = 0;
    int status = DF_OK;

    while (taken < b->bytes && status == DF_OK) {
        struct dfr_event *event;
        uint64_t n = 0;
        if (given < b->bytes)
            status = dfm_staging_give(b->ring, to + given, from + given, b->bytes - given, &n, error);
        given += n;
        if (status != DF_OK || n > 0)
            continue;
        status = dfm_staging_take(b->ring, &n, &event, error);
        taken += n;
        if (status == DF_OK && n == 0)
            status = dfr_event_wait(b->device, event, DFW_GIVE_UP_S, error);
    }
    return status;
}

static int pin_and_undo(struct bench *b, struct df_error *error)
{
    int status = b->ops->host_register(b->plain, b->bytes, error);
    if (status == DF_OK)
        b->ops->host_unregister(b->plain, b->bytes);
    return status;
}

/* A callback of the sampler: measures one copy by b->path. */
static int measure_copy(void *arg, double *seconds, struct df_error *error)
{
    struct bench *b = arg;
    double begin_s = dfr_clock_s();
    int status = b->path == PATH_STAGED    ? copy_staged(b, error)
                 : b->path == PATH_PINNING ? pin_and_undo(b, error)
                                           : copy_and_wait(b, b->path == PATH_PINNED ? b->pinned : b->plain, error);
    *seconds = status == DF_OK && b->path == PATH_PINNED ? dfw_copy_seconds(b->device, b->event, begin_s)
                                                         : dfr_clock_s() - begin_s;
    return status;
}

/* Callbacks of dfw_link_measure(). */
static int copy_bytes(void *arg, uint64_t bytes, double *seconds, struct df_error *error)
{
    struct bench *b = arg;
    b->bytes = bytes;
    return measure_copy(b, seconds, error);
}

static void link_progress(void *arg, double done_of_1)
{
    struct bench *b = arg;
    if (b->progress)
        b->progress(b->progress_arg, b->kind == DFR_COPY_H2D ? "copies to the device" : "copies from the device",
                    b->done + 0.35 * done_of_1);
}

static int probe_link(struct bench *b, enum dfr_copy kind, double done, struct df_link *link, struct df_error *error)
{
    const struct dfr_sampler_options sampling = {
        .goal = 0.003, .min_runs = 9, .max_runs = DFW_MAX_COPIES, .max_s = b->quick ? 0.01 : 0.04
    };
    const struct dfw_link_bench copies = { .name = b->ops->name, .n_sizes = dfw_link_sizes(b->pool_bytes), .sampling = &sampling,
                                           .copy = copy_bytes, .progress = link_progress, .arg = b };
    b->kind = kind;
    b->path = PATH_PINNED;
    b->done = done;
    return dfw_link_measure(&copies, link, error);
}

/* ---- engines ---- */

/* Measures some copies in both directions at the same time, or in one. */
static int time_directions(struct bench *b, bool h2d, bool d2h, double *seconds, struct df_error *error)
{
    double begin_s = dfr_clock_s();
    int status = DF_OK;
    for (unsigned i = 0; i < OVERLAP_COPIES && status == DF_OK; i++) {
        if (h2d)
            status = enqueue_copy(b, DFR_COPY_H2D, b->pinned, b->pool, b->overlap_bytes, error);
        if (status == DF_OK && d2h)
            status =
                enqueue_copy(b, DFR_COPY_D2H, b->pinned + b->overlap_bytes, b->pool + b->overlap_bytes, b->overlap_bytes, error);
    }
    if (status == DF_OK)
        status = b->ops->drain(b->device, error);
    *seconds = dfr_clock_s() - begin_s;
    return status;
}

static int probe_engines(struct bench *b, uint32_t *engines, struct df_error *error)
{
    double least[3] = { INFINITY, INFINITY, INFINITY };
    for (unsigned run = 0; run < OVERLAP_RUNS; run++) {
        for (unsigned i = 0; i < 3; i++) {
            double s;
            int status = time_directions(b, i != 1, i != 0, &s, error);
            if (status != DF_OK)
                return status;
            least[i] = fmin(least[i], s);
        }
    }
    *engines = least[2] < OVERLAP * (least[0] + least[1]) ? 2 : 1;
    return DF_OK;
}

/* ---- launches ---- */

static int nothing(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                   const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_OK;
}

/* Measures the smallest job that there is, LAUNCHES times in a row. On the emulator it is an empty cpu variant. For a
 * GPU no kernel is compiled into dfc, so it is a copy of 4 bytes within the device's memory. */
static int launch_row(void *arg, double *seconds, struct df_error *error)
{
    struct bench *b = arg;
    int results[LAUNCHES], status = DF_OK;
    double begin_s = dfr_clock_s();
    for (unsigned i = 0; i < LAUNCHES && status == DF_OK; i++) {
        struct dfr_launch launch = { .fn = nothing, .result = &results[i], .node_name = "probe" };
        status = b->ops->runs_cpu_code
                     ? b->ops->launch(b->device, &launch, DFR_STREAM_COMPUTE, error)
                     : b->ops->copy(b->device, DFR_COPY_D2D, b->pool, b->pool + 4096, 4, DFR_STREAM_COMPUTE, error);
        if (status == DF_OK)
            status = b->ops->event_record(b->device, b->event, DFR_STREAM_COMPUTE, error);
    }
    if (status == DF_OK)
        status = dfr_event_wait(b->device, b->event, DFW_GIVE_UP_S, error);
    *seconds = (dfr_clock_s() - begin_s) / LAUNCHES;
    if (status != DF_OK)
        b->ops->drain(b->device, NULL); /* no job may write to results[] after the return */
    return status;
}

static int probe_launch(struct bench *b, double *launch_s, struct df_error *error)
{
    const struct dfr_sampler_options options = { .goal = 0.02, .min_runs = 5, .max_runs = 300,
                                                 .max_s = b->quick ? 0.0025 : 0.01 };
    struct dfr_sample sample;
    double warm_up;
    int status = launch_row(b, &warm_up, error);
    if (status == DF_OK)
        status = dfr_sample_until(&options, launch_row, b, &sample, error);
    if (status == DF_OK)
        *launch_s = sample.mean_s;
    return status;
}

/* ---- paths of pageable memory ---- */

static int probe_path(struct bench *b, int path, double *bytes_per_s, struct df_error *error)
{
    const struct dfr_sampler_options options = { .goal = 0.02, .min_runs = 3, .max_runs = 20,
                                                 .max_s = b->quick ? 0.025 : 0.1 };
    struct dfr_sample sample;
    double warm_up;
    b->path = path;
    int status = measure_copy(b, &warm_up, error);
    if (status == DF_OK)
        status = dfr_sample_until(&options, measure_copy, b, &sample, error);
    if (status == DF_OK)
        *bytes_per_s = sample.mean_s > 0 ? (double)b->path_bytes / sample.mean_s : 0;
    return status;
}

static int probe_staged(struct bench *b, double *bytes_per_s, struct df_error *error)
{
    int status = dfm_staging_create(b->device, b->kind, stream_of(b->kind), &b->ring, error);
    if (status == DF_OK && !b->ring)
        status = dfr_error(error, DF_E_MEMORY, "%s: no pinned memory to copy through", b->ops->name);
    if (status == DF_OK)
        status = probe_path(b, PATH_STAGED, bytes_per_s, error);
    if (status != DF_OK)
        b->ops->drain(b->device, NULL);
    dfm_staging_destroy(b->ring);
    b->ring = NULL;
    return status;
}

/* If pinning is not allowed here (a limit on locked memory), both figures stay 0. */
static int probe_registered(struct bench *b, struct dfw_paths *found, struct df_error *error)
{
    int status;
    if (probe_path(b, PATH_PINNING, &found->pinning, NULL) != DF_OK ||
        b->ops->host_register(b->plain, b->path_bytes, NULL) != DF_OK) {
        found->pinning = 0;
        return b->ops->drain(b->device, error);
    }
    status = probe_path(b, PATH_REGISTERED, &found->registered, error);
    if (status != DF_OK)
        b->ops->drain(b->device, NULL);
    b->ops->host_unregister(b->plain, b->path_bytes);
    return status;
}

static int probe_paths(struct bench *b, enum dfr_copy kind, struct dfw_paths *paths, struct df_error *error)
{
    struct dfw_paths found = { .bytes = b->path_bytes };
    b->kind = kind;
    b->bytes = b->path_bytes;
    int status = probe_path(b, PATH_PINNED, &found.pinned, error);
    if (status == DF_OK)
        status = probe_staged(b, &found.staged, error);
    if (status == DF_OK && b->ops->host_register)
        status = probe_registered(b, &found, error);
    if (status == DF_OK)
        *paths = found;
    return status;
}

/* Whether ordinary memory goes to the device and back faster if it has been pinned in its place, or if it is staged. */
static uint32_t which_is_faster(const struct dfw_paths *h2d, const struct dfw_paths *d2h)
{
    if (h2d->registered <= 0 || d2h->registered <= 0)
        return DF_REGISTER_NO;
    return 1 / h2d->registered + 1 / d2h->registered < 1 / h2d->staged + 1 / d2h->staged ? DF_REGISTER_YES
                                                                                         : DF_REGISTER_NO;
}

/* ---- the device ---- */

/* A unified device has no link. */
static int probe_unified(struct bench *b, struct df_unit *unit, struct df_error *error)
{
    int status = probe_launch(b, &unit->launch_s, error);
    df_unit_unify(unit);
    if (b->progress)
        b->progress(b->progress_arg, "done", 1);
    return status;
}

static int probe_all(struct bench *b, struct df_unit *unit, struct dfw_paths *h2d, struct dfw_paths *d2h,
                     struct df_error *error)
{
    int status = probe_link(b, DFR_COPY_H2D, 0, &unit->h2d, error);
    if (status == DF_OK)
        status = probe_link(b, DFR_COPY_D2H, 0.35, &unit->d2h, error);
    if (status == DF_OK)
        status = probe_engines(b, &unit->engines, error);
    if (b->progress)
        b->progress(b->progress_arg, "launches", 0.8);
    if (status == DF_OK)
        status = probe_launch(b, &unit->launch_s, error);
    if (b->progress)
        b->progress(b->progress_arg, "pageable memory", 0.85);
    if (status == DF_OK)
        status = probe_paths(b, DFR_COPY_H2D, h2d, error);
    if (status == DF_OK)
        status = probe_paths(b, DFR_COPY_D2H, d2h, error);
    if (status == DF_OK)
        unit->registers = which_is_faster(h2d, d2h);
    if (b->progress)
        b->progress(b->progress_arg, "done", 1);
    return status;
}

int dfw_probe_device(const struct dfr_device_ops *ops, struct dfr_device *device, struct df_unit *unit,
                     uint64_t pool_bytes, bool quick, struct dfw_paths *h2d, struct dfw_paths *d2h, dfw_progress *progress, void *arg,
                     struct df_error *error)
{
    struct bench b = { .ops = ops, .device = device, .pool_bytes = pool_bytes, .quick = quick, .progress = progress, .progress_arg = arg };
    struct df_unit probed = *unit;
    struct dfw_paths paths[2] = { { .pinned = 0 } };
    b.pool = ops->pool(device);
    b.path_bytes = pool_bytes < MOST_PATH_BYTES ? pool_bytes : MOST_PATH_BYTES;
    b.overlap_bytes = pool_bytes / 2 < MOST_OVERLAP_BYTES ? pool_bytes / 2 : MOST_OVERLAP_BYTES;
    b.plain = malloc(b.path_bytes);
    if (!b.plain)
        return dfr_error_memory(error);
    int status = DF_E_MEMORY;
    b.pinned = ops->host_alloc(pool_bytes, error);
    if (b.pinned) {
        memset(b.plain, 1, b.path_bytes); /* so that its pages exist before anything is timed */
        memset(b.pinned, 2, pool_bytes);
        status = ops->event_create(device, &b.event, error);
    }
    if (status == DF_OK) {
        status = unit->unified ? probe_unified(&b, &probed, error)
                               : probe_all(&b, &probed, &paths[0], &paths[1], error);
        if (status != DF_OK)
            ops->drain(device, NULL);
        ops->event_destroy(device, b.event);
    }
    if (b.pinned)
        ops->host_free(b.pinned, pool_bytes);
    free(b.plain);
    if (status == DF_OK) {
        *unit = probed;
        *h2d = paths[0];
        *d2h = paths[1];
    }
    return status;
}
