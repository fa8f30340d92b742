/* cuda.c - the CUDA back end "cuda" for NVIDIA GPUs: opens and closes a device, and translates errors. The runtime
 * calls it through the table of operations at the end of this file. The files of this folder form the library
 * libdf-cuda, which links the CUDA runtime statically. That loads the driver on the first call, so programs with this
 * library start on any machine, and count() reports what is missing.
 *
 * Threads:  the CUDA runtime has a current device per thread. Every call that depends on it checks which device is
 *           selected and selects the right one, because host code of kernels, or the program that embeds the run, may
 *           have selected another.
 * Errors:   CUDA reports a kernel's error at some later call. Such an error invalidates the context, so all later calls
 *           report it too; faulted() returns true from then on.
 * Files:    cuda_machine.c enumerates GPUs, loads the program's code, and pins memory; cuda_work.c copies, launches and
 *           records events; cuda_graph.c records CUDA Graphs; cuda_blas.c loads cuBLAS; cuda_gauge.c runs benchmarks;
 *           cuda_versions.c has the calls that differ among versions of the CUDA runtime.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/cuda/cuda_impl.h"
#include "runtime/base/error.h"

#define POOL_ALIGNMENT 4096u
#define MAX_COMPUTE_STREAMS 1024

/* ---- errors and the current device ---- */

/* These come from newer toolkits than this may be compiled with. A newer driver reports them all the same. */
enum { ERROR_CONTAINED = 226, ERROR_TENSOR_MEMORY_LEAK = 721, ERROR_MPS_CLIENT_TERMINATED = 810 };

/* Returns true for an error after which CUDA's documentation tells to end the process: the device is lost to it. Work that
 * was enqueued before has caused it, or the MPS server that the process shares the GPU by. */
static bool is_fault(cudaError_t status)
{
    switch ((int)status) {
    case ERROR_CONTAINED:
    case ERROR_TENSOR_MEMORY_LEAK:
    case ERROR_MPS_CLIENT_TERMINATED:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorExternalDevice:
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

/* Also clears CUDA's record of the last error, so that no later launch is blamed for it. */
int dfr_cuda_failed(struct df_error *error, const char *device, const char *doing, cudaError_t status)
{
    (void)cudaGetLastError();
    return dfr_error(error, DF_E_DEVICE, "%s: %s: %s (%s)", device, doing, cudaGetErrorString(status),
                     cudaGetErrorName(status));
}

int dfr_cuda_check(struct cuda_device *cuda, cudaError_t status, const char *doing, struct df_error *error)
{
    cuda->faulted = cuda->faulted || is_fault(status);
    return status == cudaSuccess ? DF_OK : dfr_cuda_failed(error, cuda->name, doing, status);
}

cudaError_t dfr_cuda_select(int index)
{
    int selected;
    cudaError_t status = cudaGetDevice(&selected);

    return status == cudaSuccess && selected != index ? cudaSetDevice(index) : status;
}

static bool faulted(struct dfr_device *device)
{
    return dfr_cuda_of(device)->faulted;
}

/* ---- open and close ---- */

int dfr_cuda_allocate(struct cuda_device *cuda, void **memory, uint64_t bytes, const char *what, struct df_error *error)
{
    cudaError_t status = cudaMalloc(memory, bytes);
    size_t free_bytes = 0, total_bytes = 0;
    char doing[160];

    if (status == cudaSuccess)
        return DF_OK;
    *memory = NULL;
    (void)cudaGetLastError();
    if (cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess)
        snprintf(doing, sizeof doing,
                 "allocating %s of %.1f MiB, while %.1f of %.1f MiB are free (--gpu-mem takes less)", what,
                 (double)bytes / MIB, (double)free_bytes / MIB, (double)total_bytes / MIB);
    else
        snprintf(doing, sizeof doing, "allocating %s of %.1f MiB", what, (double)bytes / MIB);
    dfr_cuda_failed(error, cuda->name, doing, status);
    return status == cudaErrorMemoryAllocation ? DF_E_MEMORY : DF_E_DEVICE;
}

static int make_pool(struct cuda_device *cuda, uint64_t bytes, struct df_error *error)
{
    int status = dfr_cuda_allocate(cuda, &cuda->allocation, bytes + POOL_ALIGNMENT, "its pool", error);
    uintptr_t address = (uintptr_t)cuda->allocation;

    cuda->pool = (unsigned char *)((address + POOL_ALIGNMENT - 1) / POOL_ALIGNMENT * POOL_ALIGNMENT);
    return status;
}

int dfr_cuda_make_event(struct cuda_device *cuda, cudaEvent_t *event, struct df_error *error)
{
    unsigned flags = cuda->times ? cudaEventDefault : cudaEventDisableTiming;

    return dfr_cuda_check(cuda, cudaEventCreateWithFlags(event, flags), "making an event", error);
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
        if (status == DF_OK && cuda->times)
            status = dfr_cuda_make_event(cuda, &stream->mark, error);
    }
    return status;
}

/* The moment that times count from. */
static int mark_opened(struct cuda_device *cuda, struct df_error *error)
{
    int status = dfr_cuda_make_event(cuda, &cuda->opened, error);

    if (status == DF_OK)
        status = dfr_cuda_check(cuda, cudaEventRecord(cuda->opened, cuda->streams[0].handle), "recording an event",
                                error);
    if (status == DF_OK)
        status = dfr_cuda_check(cuda, cudaEventSynchronize(cuda->opened), "waiting for an event", error);
    return status;
}

/* Called after a failed open, too. Errors are ignored here: who drained the device has been told of them. */
static void free_all(struct cuda_device *cuda)
{
    dfr_cublas_end(&cuda->blas);
    for (uint32_t s = 0; s < cuda->n_streams; s++) {
        if (cuda->streams[s].workspace != NULL)
            cudaFree(cuda->streams[s].workspace);
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
    cuda->times = config->times;
    snprintf(cuda->name, sizeof cuda->name, "cuda%u", index);
    /* Always, even if the GPU seems to be selected: a thread that has set no device gets the first that works, which
     * may be another one. */
    status = dfr_cuda_check(cuda, cudaSetDevice(cuda->index), "selecting it", error);
    if (status == DF_OK)
        status = make_streams(cuda, config->compute_streams, error);
    if (status == DF_OK)
        status = make_pool(cuda, config->pool_bytes, error);
    if (status == DF_OK && cuda->times)
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
    struct cuda_device *cuda = dfr_cuda_of(device);

    (void)dfr_cuda_drain(device, NULL); /* this also selects the device */
    free_all(cuda);
}

static void *cuda_pool(struct dfr_device *device)
{
    return dfr_cuda_of(device)->pool;
}

const struct dfr_device_ops dfr_cuda_ops = {
    .name = "cuda",
    .can_wakeup = false,
    .runs_cpu_code = false,
    .results_at_once = true,
    .loads_late = true,
    .begins_early = true,
    .count = dfr_cuda_count,
    .describe = dfr_cuda_describe,
    .load = dfr_cuda_load,
    .free_bytes = dfr_cuda_free_bytes,
    .open = cuda_open,
    .close = cuda_close,
    .pool = cuda_pool,
    .copy = dfr_cuda_copy,
    .copy_batch = dfr_cuda_copy_batch,
    .copy_peer = dfr_cuda_copy_peer,
    .connect = dfr_cuda_connect,
    .launch = dfr_cuda_launch,
    .event_create = dfr_cuda_event_create,
    .event_destroy = dfr_cuda_event_destroy,
    .event_record = dfr_cuda_event_record,
    .event_query = dfr_cuda_event_query,
    .stream_wait = dfr_cuda_stream_wait,
    .drain = dfr_cuda_drain,
    .faulted = faulted,
    .host_alloc = dfr_cuda_host_alloc,
    .host_free = dfr_cuda_host_free,
    .event_times = dfr_cuda_event_times,
    .blas = dfr_cuda_blas,
    .blas_function = dfr_cuda_blas_function,
    .record_begin = dfr_cuda_record_begin,
    .record_part = dfr_cuda_record_part,
    .record_end = dfr_cuda_record_end,
    .replay = dfr_cuda_replay,
    .recording_destroy = dfr_cuda_recording_destroy,
    .bus_id = dfr_cuda_bus_id,
    .cache_bytes = dfr_cuda_cache_bytes,
    .host_register = dfr_cuda_host_register,
    .host_unregister = dfr_cuda_host_unregister,
    .gauge = dfr_cuda_gauge,
};
