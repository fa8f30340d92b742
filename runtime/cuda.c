/* cuda.c - the device "cuda": NVIDIA GPUs by the CUDA runtime. With its neighbours cuda_*.c alone it includes CUDA's
 * headers; they make up a library of their own (libdf-cuda), linked with the static CUDA runtime, which looks for the
 * driver when first called. So a program with it starts everywhere, and count() says what is missing.
 *
 * Threads:  the CUDA runtime's current device is a thread's own; each call that needs one selects it first.
 * Errors:   CUDA reports what a kernel did wrong at some later call. Such errors end the context, so every later call
 *           has them too; the message says that earlier work was the cause.
 * Handles:  each compute stream has a cuBLAS handle of its own, made when a kernel first asks for it (cuda_blas.c).
 * Ranges:   each launch is in an NVTX range with its node's name (cuda_nvtx.h).
 * Times:    events are made with timing. A stream marks where its latest copy or launch began with an event of its own;
 *           recording an event takes over that mark and leaves its old one to the stream. Times since the device was
 *           opened come as 32-bit floats: 1 us exact in the first 16 s, 0.1 ms after half an hour; durations stay
 *           exact.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda_impl.h"
#include "runtime/cuda_nvtx.h"
#include "runtime/error.h"

#define POOL_ALIGNMENT 4096u
#define MAX_COMPUTE_STREAMS 1024
#define MIB 1048576.0

struct cuda_event {
    cudaEvent_t begin, end;
    bool recorded, has_begin;
};

static struct cuda_device *cuda_of(struct dfr_device *device)
{
    return dfr_cuda_of(device);
}

/* ---- errors and the current device ---- */

/* Errors that a kernel or copy that was enqueued before has caused. */
static bool is_of_earlier_work(cudaError_t status)
{
    switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
        return true;
    default:
        return false;
    }
}

/* Also takes the error out of the runtime's memory, so that no later launch is blamed for it. */
static int failed(struct df_error *error, const char *device, const char *doing, cudaError_t status)
{
    (void)cudaGetLastError();
    return dfr_error(error, DF_E_DEVICE, "%s: %s: %s (%s)%s", device, doing, cudaGetErrorString(status),
                     cudaGetErrorName(status), is_of_earlier_work(status) ? ", by a kernel enqueued earlier" : "");
}

int dfr_cuda_check(struct cuda_device *cuda, cudaError_t status, const char *doing, struct df_error *error)
{
    return status == cudaSuccess ? DF_OK : failed(error, cuda->name, doing, status);
}

cudaError_t dfr_cuda_select(int index)
{
    static _Thread_local int selected = -1;
    cudaError_t status;

    if (selected == index)
        return cudaSuccess;
    status = cudaSetDevice(index);
    if (status == cudaSuccess)
        selected = index;
    return status;
}

/* ---- what there is ---- */

static uint32_t cuda_count(struct df_error *error)
{
    int driver = 0, runtime = 0, count = 0;
    cudaError_t status = cudaDriverGetVersion(&driver);

    if (status != cudaSuccess || driver == 0) {
        (void)cudaGetLastError();
        dfr_error(error, DF_E_DEVICE, "no CUDA driver found");
        return 0;
    }
    status = cudaGetDeviceCount(&count);
    (void)cudaGetLastError();
    if (status == cudaErrorInsufficientDriver && cudaRuntimeGetVersion(&runtime) == cudaSuccess) {
        dfr_error(error, DF_E_DEVICE, "the CUDA driver is for CUDA %d.%d, this program needs one for CUDA %d.%d",
                  driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
        return 0;
    }
    if (status == cudaErrorNoDevice || (status == cudaSuccess && count <= 0)) {
        dfr_error(error, DF_E_DEVICE, "there is a CUDA driver, but no CUDA GPU that this program may use");
        return 0;
    }
    if (status != cudaSuccess) {
        failed(error, "cuda", "counting GPUs", status);
        return 0;
    }
    return (uint32_t)count;
}

static int cuda_describe(uint32_t index, struct df_unit *unit, struct df_error *error)
{
    struct cudaDeviceProp properties;
    char name[32];
    cudaError_t status = cudaGetDeviceProperties(&properties, (int)index);

    snprintf(name, sizeof name, "cuda%u", index);
    if (status != cudaSuccess)
        return failed(error, name, "reading its properties", status);
    snprintf(unit->name, sizeof unit->name, "%.*s", (int)sizeof unit->name - 1, properties.name);
    unit->memory_bytes = properties.totalGlobalMem;
    return DF_OK;
}

static int cuda_bus_id(uint32_t index, char *text, size_t size, struct df_error *error)
{
    cudaError_t status = cudaDeviceGetPCIBusId(text, (int)size, (int)index);

    return status == cudaSuccess ? DF_OK : failed(error, "cuda", "asking where a GPU is plugged in", status);
}

/* ---- host memory ---- */

static void *cuda_host_alloc(uint64_t bytes, struct df_error *error)
{
    void *memory = NULL;
    cudaError_t status = cudaHostAlloc(&memory, bytes > 0 ? bytes : 1, cudaHostAllocPortable);

    if (status != cudaSuccess) {
        char doing[96];

        snprintf(doing, sizeof doing, "allocating %.1f MiB of pinned host memory", (double)bytes / MIB);
        failed(error, "cuda", doing, status);
        return NULL;
    }
    return memory;
}

static void cuda_host_free(void *memory, uint64_t bytes)
{
    (void)bytes;
    if (memory != NULL && cudaFreeHost(memory) != cudaSuccess)
        (void)cudaGetLastError(); /* the context is lost, and the memory with it */
}

static int cuda_host_register(void *memory, uint64_t bytes, struct df_error *error)
{
    cudaError_t status = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);

    return status == cudaSuccess ? DF_OK : failed(error, "cuda", "pinning host memory", status);
}

static void cuda_host_unregister(void *memory, uint64_t bytes)
{
    (void)bytes;
    if (cudaHostUnregister(memory) != cudaSuccess)
        (void)cudaGetLastError(); /* the context is lost */
}

/* ---- open and close ---- */

static int make_pool(struct cuda_device *cuda, uint64_t bytes, struct df_error *error)
{
    cudaError_t status = cudaMalloc(&cuda->allocation, bytes + POOL_ALIGNMENT);
    size_t free_bytes = 0, total_bytes = 0;
    char doing[160];

    if (status == cudaSuccess) {
        uintptr_t address = (uintptr_t)cuda->allocation;

        cuda->pool = (unsigned char *)((address + POOL_ALIGNMENT - 1) / POOL_ALIGNMENT * POOL_ALIGNMENT);
        return DF_OK;
    }
    cuda->allocation = NULL;
    (void)cudaGetLastError();
    if (cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess)
        snprintf(doing, sizeof doing, "allocating its pool of %.1f MiB, where %.1f of %.1f MiB are free",
                 (double)bytes / MIB, (double)free_bytes / MIB, (double)total_bytes / MIB);
    else
        snprintf(doing, sizeof doing, "allocating its pool of %.1f MiB", (double)bytes / MIB);
    failed(error, cuda->name, doing, status);
    return status == cudaErrorMemoryAllocation ? DF_E_MEMORY : DF_E_DEVICE;
}

static int make_streams(struct cuda_device *cuda, uint32_t compute_streams, struct df_error *error)
{
    int status = DF_OK;

    if (compute_streams == 0 || compute_streams > MAX_COMPUTE_STREAMS)
        return dfr_error(error, DF_E_ARGUMENT, "%s: %u compute streams asked for; 1 to %d are possible", cuda->name,
                         compute_streams, MAX_COMPUTE_STREAMS);
    cuda->streams = calloc(DFR_STREAM_COMPUTE + compute_streams, sizeof *cuda->streams);
    if (cuda->streams == NULL)
        return dfr_error_memory(error);
    cuda->n_streams = DFR_STREAM_COMPUTE + compute_streams;
    for (uint32_t s = 0; s < cuda->n_streams && status == DF_OK; s++) {
        struct cuda_stream *stream = &cuda->streams[s];

        status = dfr_cuda_check(cuda, cudaStreamCreateWithFlags(&stream->handle, cudaStreamNonBlocking),
                                "making a stream", error);
        if (status == DF_OK)
            status = dfr_cuda_check(cuda, cudaEventCreate(&stream->mark), "making an event", error);
    }
    return status;
}

/* The moment that times count from. */
static int mark_opened(struct cuda_device *cuda, struct df_error *error)
{
    int status = dfr_cuda_check(cuda, cudaEventCreate(&cuda->opened), "making an event", error);

    if (status == DF_OK)
        status = dfr_cuda_check(cuda, cudaEventRecord(cuda->opened, cuda->streams[0].handle), "recording an event",
                                error);
    if (status == DF_OK)
        status = dfr_cuda_check(cuda, cudaEventSynchronize(cuda->opened), "waiting for an event", error);
    return status;
}

/* Also what a failed open leaves. Errors are not news here: who drained the device has heard them. */
static void free_all(struct cuda_device *cuda)
{
    for (uint32_t s = 0; s < cuda->n_streams; s++) {
        dfr_cublas_end(&cuda->blas, cuda->streams[s].blas);
        if (cuda->streams[s].mark != NULL)
            cudaEventDestroy(cuda->streams[s].mark);
        if (cuda->streams[s].handle != NULL)
            cudaStreamDestroy(cuda->streams[s].handle);
    }
    if (cuda->opened != NULL)
        cudaEventDestroy(cuda->opened);
    if (cuda->allocation != NULL)
        cudaFree(cuda->allocation);
    (void)cudaGetLastError();
    free(cuda->streams);
    free(cuda);
}

extern const struct dfr_device_ops dfr_cuda_ops;

static int cuda_open(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                     struct df_error *error)
{
    struct cuda_device *cuda = calloc(1, sizeof *cuda);
    int status;

    if (cuda == NULL)
        return dfr_error_memory(error);
    cuda->base.ops = &dfr_cuda_ops;
    cuda->index = (int)index;
    snprintf(cuda->name, sizeof cuda->name, "cuda%u", index);
    status = dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error);
    if (status == DF_OK)
        status = make_streams(cuda, config->compute_streams, error);
    if (status == DF_OK)
        status = make_pool(cuda, config->pool_bytes, error);
    if (status == DF_OK)
        status = mark_opened(cuda, error);
    if (status != DF_OK) {
        free_all(cuda);
        return status;
    }
    *device = &cuda->base;
    return DF_OK;
}

static void cuda_close(struct dfr_device *device)
{
    struct cuda_device *cuda = cuda_of(device);

    if (dfr_cuda_select(cuda->index) == cudaSuccess)
        cudaDeviceSynchronize();
    free_all(cuda);
}

static void *cuda_pool(struct dfr_device *device)
{
    return cuda_of(device)->pool;
}

/* ---- work ---- */

int dfr_cuda_begin_work(struct cuda_device *cuda, uint32_t stream, struct df_error *error)
{
    int status;

    if (stream >= cuda->n_streams)
        return dfr_error(error, DF_E_ARGUMENT, "%s: no stream %u", cuda->name, stream);
    status = dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error);
    if (cuda->streams[stream].recording)
        return status;                  /* the replay is marked, not its parts */
    if (status == DF_OK)
        status = dfr_cuda_check(cuda, cudaEventRecord(cuda->streams[stream].mark, cuda->streams[stream].handle),
                       "recording an event", error);
    cuda->streams[stream].marked = status == DF_OK;
    return status;
}

static int cuda_copy_peer(struct dfr_device *device, struct dfr_device *receiver, void *to, const void *from,
                          uint64_t bytes, uint32_t stream, struct df_error *error)
{
    struct cuda_device *cuda = cuda_of(device);
    int status = dfr_cuda_begin_work(cuda, stream, error);

    if (status != DF_OK || bytes == 0)
        return status;
    return dfr_cuda_check(cuda, cudaMemcpyPeerAsync(to, cuda_of(receiver)->index, from, cuda->index, bytes,
                                                    cuda->streams[stream].handle), "copying to another GPU", error);
}

/* Without access to the other's memory the driver copies by way of the host's. Somebody else's access is as good. */
static bool cuda_connect(struct dfr_device *device, struct dfr_device *receiver)
{
    int from = cuda_of(device)->index, to = cuda_of(receiver)->index, can = 0;
    cudaError_t status = cudaDeviceCanAccessPeer(&can, from, to);

    if (status == cudaSuccess && can)
        status = dfr_cuda_select(from);
    if (status == cudaSuccess && can)
        status = cudaDeviceEnablePeerAccess(to, 0);
    (void)cudaGetLastError();           /* no access is no error */
    return can && (status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled);
}

static int cuda_copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                     uint32_t stream, struct df_error *error)
{
    static const struct {
        enum cudaMemcpyKind kind;
        const char *doing;
    } kinds[] = {
        [DFR_COPY_H2D] = {cudaMemcpyHostToDevice, "copying to it"},
        [DFR_COPY_D2H] = {cudaMemcpyDeviceToHost, "copying from it"},
        [DFR_COPY_D2D] = {cudaMemcpyDeviceToDevice, "copying within it"},
    };
    struct cuda_device *cuda = cuda_of(device);
    int status = dfr_cuda_begin_work(cuda, stream, error);

    if (status != DF_OK || bytes == 0)
        return status;
    return dfr_cuda_check(cuda, cudaMemcpyAsync(to, from, bytes, kinds[kind].kind, cuda->streams[stream].handle),
                 kinds[kind].doing, error);
}

static int cuda_launch(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream,
                       struct df_error *error)
{
    struct cuda_device *cuda = cuda_of(device);
    int status = dfr_cuda_begin_work(cuda, stream, error);
    cudaError_t launched;

    if (status != DF_OK)
        return status;
    dfr_nvtx_begin(launch->node_name);  /* tools show below it what it enqueued on the GPU */
    *launch->result = launch->fn(launch->call, cuda->streams[stream].handle, launch->dims, launch->ports,
                                 launch->scalars);
    dfr_nvtx_end();
    launched = cudaGetLastError();
    if (launched == cudaSuccess)
        return DF_OK;
    return failed(error, cuda->name, "launching its kernels", launched);
}

static int cuda_stream_wait(struct dfr_device *device, uint32_t stream, struct dfr_event *event, struct df_error *error)
{
    struct cuda_device *cuda = cuda_of(device);
    int status = dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error);

    if (status != DF_OK)
        return status;
    return dfr_cuda_check(cuda, cudaStreamWaitEvent(cuda->streams[stream].handle, ((struct cuda_event *)event)->end, 0),
                 "waiting for an event", error);
}

static int cuda_drain(struct dfr_device *device, struct df_error *error)
{
    struct cuda_device *cuda = cuda_of(device);
    int status = dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error);

    return status != DF_OK ? status : dfr_cuda_check(cuda, cudaDeviceSynchronize(), "waiting for its work", error);
}

/* ---- events ---- */

static int cuda_event_create(struct dfr_device *device, struct dfr_event **event, struct df_error *error)
{
    struct cuda_device *cuda = cuda_of(device);
    struct cuda_event *e = calloc(1, sizeof *e);
    int status;

    if (e == NULL)
        return dfr_error_memory(error);
    status = dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error);
    if (status == DF_OK)
        status = dfr_cuda_check(cuda, cudaEventCreate(&e->begin), "making an event", error);
    if (status == DF_OK)
        status = dfr_cuda_check(cuda, cudaEventCreate(&e->end), "making an event", error);
    if (status != DF_OK) {
        if (e->begin != NULL)
            cudaEventDestroy(e->begin);
        free(e);
        return status;
    }
    *event = (struct dfr_event *)e;
    return DF_OK;
}

static void cuda_event_destroy(struct dfr_device *device, struct dfr_event *event)
{
    struct cuda_event *e = (struct cuda_event *)event;

    (void)device;
    if (e == NULL)
        return;
    cudaEventDestroy(e->begin);
    cudaEventDestroy(e->end);
    free(e);
}

static int cuda_event_record(struct dfr_device *device, struct dfr_event *event, uint32_t stream,
                             struct df_error *error)
{
    struct cuda_device *cuda = cuda_of(device);
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

static int cuda_event_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    struct cuda_event *e = (struct cuda_event *)event;
    cudaError_t status;

    if (!e->recorded) {
        *complete = true;
        return DF_OK;
    }
    status = cudaEventQuery(e->end);
    if (status == cudaErrorNotReady) {
        (void)cudaGetLastError(); /* it counts as an error there */
        *complete = false;
        return DF_OK;
    }
    if (status == cudaSuccess)
        *complete = true;
    return dfr_cuda_check(cuda_of(device), status, "asking for an event", error);
}

static bool cuda_event_times(struct dfr_device *device, struct dfr_event *event, double *begin_s, double *end_s)
{
    struct cuda_device *cuda = cuda_of(device);
    struct cuda_event *e = (struct cuda_event *)event;
    float end_ms = 0, lasted_ms = 0;

    if (!e->recorded || cudaEventElapsedTime(&end_ms, cuda->opened, e->end) != cudaSuccess ||
        (e->has_begin && cudaEventElapsedTime(&lasted_ms, e->begin, e->end) != cudaSuccess)) {
        (void)cudaGetLastError();
        return false;
    }
    *end_s = 1e-3 * (double)end_ms;
    *begin_s = *end_s - 1e-3 * (double)lasted_ms;
    return true;
}

static void *cuda_blas(struct dfr_device *device, uint32_t stream, struct df_error *error)
{
    struct cuda_device *cuda = cuda_of(device);
    struct cuda_stream *s = &cuda->streams[stream];

    if (s->blas == NULL && dfr_cuda_check(cuda, dfr_cuda_select(cuda->index), "selecting it", error) == DF_OK)
        dfr_cublas_begin(&cuda->blas, s->handle, &s->blas, error);
    return s->blas;
}

const struct dfr_device_ops dfr_cuda_ops = {
    .name = "cuda",
    .can_wakeup = false,
    .runs_cpu_code = false,
    .results_at_once = true,
    .count = cuda_count,
    .describe = cuda_describe,
    .open = cuda_open,
    .close = cuda_close,
    .pool = cuda_pool,
    .copy = cuda_copy,
    .copy_peer = cuda_copy_peer,
    .connect = cuda_connect,
    .launch = cuda_launch,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_query = cuda_event_query,
    .stream_wait = cuda_stream_wait,
    .drain = cuda_drain,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .event_times = cuda_event_times,
    .blas = cuda_blas,
    .record_begin = dfr_cuda_record_begin,
    .record_end = dfr_cuda_record_end,
    .replay = dfr_cuda_replay,
    .recording_destroy = dfr_cuda_recording_destroy,
    .bus_id = cuda_bus_id,
    .host_register = cuda_host_register,
    .host_unregister = cuda_host_unregister,
};
