/* cuda_work.c - copies, launches, events and cuBLAS on an open CUDA device: the operations in cuda.c's table that the
 * device's worker calls (device.h).
 *
 * cuBLAS:   a device has one handle, created when a kernel first requests it (cuda_blas.c). Each request binds it to
 *           the job's stream and to that stream's workspace, so two concurrent jobs never share a workspace, and jobs
 *           of one stream use theirs in turn. Only the device's worker runs host code of kernels, so nothing rebinds
 *           the handle before that code has returned.
 * Batches:  from CUDA 12.8 on, a batch of copies is one call. With an older CUDA or driver, it is one call per copy.
 * Ranges:   each launch is in an NVTX range with its node's name (cuda_nvtx.h).
 * Times:    if requested, events are created with timing, and each stream records a mark before its latest copy or
 *           launch. Recording an event takes over that mark, and leaves the event's old mark to the stream. Times since
 *           the device was opened are 32-bit floats, exact to 1 µs during the first 16 s and to 0.1 ms after half an
 *           hour; durations remain exact.
 */
#include <stdlib.h>

#include "runtime/cuda/cuda_impl.h"
#include "runtime/cuda/cuda_nvtx.h"
#include "runtime/base/error.h"
#include "runtime/engine/crash.h"

struct cuda_event {
    cudaEvent_t begin, end;             /* begin: taken over from a stream's mark; NULL: times are not wanted */
    bool recorded, has_begin;           /* has_begin: there was a mark to take over */
};

/* ---- work ---- */

int dfr_cuda_begin_work(struct cuda_device *cuda, uint32_t stream, struct df_error *error)
{
    int status;

    if (stream >= cuda->n_streams)
        return dfr_error(error, DF_E_ARGUMENT, "%s: no stream %u", cuda->name, stream);
    status = dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error);
    if (!cuda->times || cuda->streams[stream].recording)
        return status;                  /* a replay is marked as a whole, not its parts */
    if (status == DF_OK)
        status = dfr_cuda_check(cuda, cudaEventRecord(cuda->streams[stream].mark, cuda->streams[stream].handle),
                       "recording an event", error);
    cuda->streams[stream].marked = status == DF_OK;
    return status;
}

int dfr_cuda_copy_peer(struct dfr_device *device, struct dfr_device *receiver, void *to, const void *from,
                       uint64_t bytes, uint32_t stream, struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    int status = dfr_cuda_begin_work(cuda, stream, error);

    if (status != DF_OK || bytes == 0)
        return status;
    return dfr_cuda_check(cuda, cudaMemcpyPeerAsync(to, dfr_cuda_of(receiver)->index, from, cuda->index, bytes,
                                                    cuda->streams[stream].handle), "copying to another GPU", error);
}

/* Without access to the other GPU's memory, the driver copies by way of the host's. Access that somebody else has
 * enabled serves as well. */
bool dfr_cuda_connect(struct dfr_device *device, struct dfr_device *receiver)
{
    int from = dfr_cuda_of(device)->index, to = dfr_cuda_of(receiver)->index, can = 0;
    cudaError_t status = cudaDeviceCanAccessPeer(&can, from, to);

    if (status == cudaSuccess && can)
        status = dfr_cuda_select(from);
    if (status == cudaSuccess && can)
        status = cudaDeviceEnablePeerAccess(to, 0);
    (void)cudaGetLastError();           /* that there is no access is no error */
    return can && (status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled);
}

static const struct {
    enum cudaMemcpyKind kind;
    const char *doing;
} kinds[] = {
    [DFR_COPY_H2D] = {cudaMemcpyHostToDevice, "copying to it"},
    [DFR_COPY_D2H] = {cudaMemcpyDeviceToHost, "copying from it"},
    [DFR_COPY_D2D] = {cudaMemcpyDeviceToDevice, "copying within it"},
};

int dfr_cuda_copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                  uint32_t stream, struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    int status = dfr_cuda_begin_work(cuda, stream, error);

    if (status != DF_OK || bytes == 0)
        return status;
    return dfr_cuda_check(cuda, cudaMemcpyAsync(to, from, bytes, kinds[kind].kind, cuda->streams[stream].handle),
                 kinds[kind].doing, error);
}

int dfr_cuda_copy_batch(struct dfr_device *device, enum dfr_copy kind, const struct dfr_transfer *copies, uint32_t n,
                        uint32_t stream, struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    int status = dfr_cuda_begin_work(cuda, stream, error);

    if (status == DF_OK && n > 1 && !cuda->no_batches) {
        cudaError_t copied = dfr_cuda_batch(copies, n, cuda->streams[stream].handle);

        if (copied != cudaErrorNotSupported && copied != cudaErrorCallRequiresNewerDriver)
            return dfr_cuda_check(cuda, copied, kinds[kind].doing, error);
        (void)cudaGetLastError();
        cuda->no_batches = true;
    }
    for (uint32_t i = 0; i < n && status == DF_OK; i++)
        status = dfr_cuda_check(cuda, cudaMemcpyAsync(copies[i].to, copies[i].from, copies[i].bytes, kinds[kind].kind,
                                                      cuda->streams[stream].handle), kinds[kind].doing, error);
    return status;
}

int dfr_cuda_launch(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream,
                    struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    int status = dfr_cuda_begin_work(cuda, stream, error);
    const struct df_call *before;
    cudaError_t launched;

    if (status != DF_OK)
        return status;
    dfr_nvtx_begin(launch->node_name);  /* tools show what the node enqueued on the GPU below this range */
    before = dfr_crash_call(launch->call);
    *launch->result = launch->fn(launch->call, cuda->streams[stream].handle, launch->dims, launch->ports,
                                 launch->scalars);
    dfr_crash_call(before);
    dfr_nvtx_end();
    launched = cudaGetLastError();
    if (launched == cudaSuccess)
        return DF_OK;
    return dfr_cuda_check(cuda, launched, "launching its kernels", error);
}

int dfr_cuda_stream_wait(struct dfr_device *device, uint32_t stream, struct dfr_event *event, struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    int status = dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error);

    if (status != DF_OK)
        return status;
    return dfr_cuda_check(cuda, cudaStreamWaitEvent(cuda->streams[stream].handle, ((struct cuda_event *)event)->end, 0),
                 "waiting for an event", error);
}

/* Waits for the device's own streams, not for the whole GPU: others in this process may use the GPU too, and while they
 * capture, nobody may wait for the whole of it. */
int dfr_cuda_drain(struct dfr_device *device, struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    int status = dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error);

    for (uint32_t s = 0; s < cuda->n_streams; s++)
        dfr_cuda_record_drop(cuda, s);  /* a thread that captures may wait for no stream */
    for (uint32_t s = 0; s < cuda->n_streams; s++) {
        cudaError_t drained = cudaStreamSynchronize(cuda->streams[s].handle);
        if (status == DF_OK)
            status = dfr_cuda_check(cuda, drained, "waiting for its work", error);
    }
    (void)cudaGetLastError();
    return status;
}

/* ---- cuBLAS ---- */

static int find_blas(struct cuda_device *cuda, struct df_error *error)
{
    int version = 0;

    if (cudaRuntimeGetVersion(&version) != cudaSuccess)
        (void)cudaGetLastError();       /* it matters for the order of the search alone */
    return dfr_cublas_find(&cuda->blas, version / 1000, error);
}

/* As much as cuBLAS's documentation recommends for a workspace of the caller's (cublasSetWorkspace). */
static size_t workspace_bytes(int index)
{
    int major = 0;

    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index) != cudaSuccess)
        (void)cudaGetLastError();
    return (size_t)(major >= 9 ? 32 : 4) << 20;
}

/* Making a handle or a workspace allocates. That spoils a capture, and maybe the handle. */
static bool records(const struct cuda_device *cuda)
{
    for (uint32_t s = 0; s < cuda->n_streams; s++)
        if (cuda->streams[s].recording)
            return true;
    return false;
}

void *dfr_cuda_blas(struct dfr_device *device, uint32_t stream, struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    struct cuda_stream *s = &cuda->streams[stream];
    int status;

    if (records(cuda)) {
        dfr_error(error, DF_E_DEVICE, "%s: what uses cuBLAS is not recorded", cuda->name);
        return NULL;
    }
    status = find_blas(cuda, error);
    if (status == DF_OK)
        status = dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error);
    if (status == DF_OK && cuda->workspace_bytes == 0)
        cuda->workspace_bytes = workspace_bytes(cuda->index);
    if (status == DF_OK && s->workspace == NULL)
        status = dfr_cuda_allocate(cuda, &s->workspace, cuda->workspace_bytes, "a workspace for cuBLAS", error);
    if (status == DF_OK)
        status = dfr_cublas_bind(&cuda->blas, s->handle, s->workspace, cuda->workspace_bytes, error);
    return status == DF_OK ? cuda->blas.handle : NULL;
}

void *dfr_cuda_blas_function(struct dfr_device *device, const char *name)
{
    struct cuda_device *cuda = dfr_cuda_of(device);

    return find_blas(cuda, NULL) == DF_OK ? dfr_cublas_function(&cuda->blas, name) : NULL;
}

/* ---- events ---- */

int dfr_cuda_event_create(struct dfr_device *device, struct dfr_event **event, struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    struct cuda_event *e = calloc(1, sizeof *e);
    int status;

    if (e == NULL)
        return dfr_error_memory(error);
    status = dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error);
    if (status == DF_OK && cuda->times)
        status = dfr_cuda_make_event(cuda, &e->begin, error);
    if (status == DF_OK)
        status = dfr_cuda_make_event(cuda, &e->end, error);
    if (status != DF_OK) {
        if (e->begin != NULL)
            cudaEventDestroy(e->begin);
        free(e);
        return status;
    }
    *event = (struct dfr_event *)e;
    return DF_OK;
}

void dfr_cuda_event_destroy(struct dfr_device *device, struct dfr_event *event)
{
    struct cuda_event *e = (struct cuda_event *)event;

    (void)device;
    if (e == NULL)
        return;
    if (e->begin != NULL)
        cudaEventDestroy(e->begin);
    cudaEventDestroy(e->end);
    free(e);
}

int dfr_cuda_event_record(struct dfr_device *device, struct dfr_event *event, uint32_t stream,
                          struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    struct cuda_event *e = (struct cuda_event *)event;
    struct cuda_stream *s = &cuda->streams[stream];
    int status = dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error);

    if (status == DF_OK)
        status = dfr_cuda_check(cuda, cudaEventRecord(e->end, s->handle), "recording an event", error);
    if (status != DF_OK)
        return status;
    e->recorded = true;
    e->has_begin = s->marked;
    if (s->marked) {
        cudaEvent_t old = e->begin;

        e->begin = s->mark;
        s->mark = old;
        s->marked = false;
    }
    return DF_OK;
}

int dfr_cuda_event_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    struct cuda_event *e = (struct cuda_event *)event;
    cudaError_t status;

    if (!e->recorded) {
        *complete = true;
        return DF_OK;
    }
    status = cudaEventQuery(e->end);
    if (status == cudaErrorNotReady) {
        (void)cudaGetLastError(); /* CUDA counts "not ready" as an error */
        *complete = false;
        return DF_OK;
    }
    if (status == cudaSuccess)
        *complete = true;
    return dfr_cuda_check(dfr_cuda_of(device), status, "asking for an event", error);
}

bool dfr_cuda_event_times(struct dfr_device *device, struct dfr_event *event, double *begin_s, double *end_s)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    struct cuda_event *e = (struct cuda_event *)event;
    float end_ms = 0, lasted_ms = 0;

    if (!cuda->times || !e->recorded || cudaEventElapsedTime(&end_ms, cuda->opened, e->end) != cudaSuccess ||
        (e->has_begin && cudaEventElapsedTime(&lasted_ms, e->begin, e->end) != cudaSuccess)) {
        (void)cudaGetLastError();
        return false;
    }
    *end_s = 1e-3 * (double)end_ms;
    *begin_s = *end_s - 1e-3 * (double)lasted_ms;
    return true;
}
