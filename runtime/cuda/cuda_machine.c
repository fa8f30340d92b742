/* cuda_machine.c - CUDA operations that need no open device, for cuda.c's table: counts the GPUs, or says why there are none; describes them; checks whether
 * they can run the program; reports free memory; and pins host memory.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/cuda/cuda_impl.h"
#include "runtime/base/cgroup.h"
#include "runtime/base/error.h"

#define OTHERS_SHARE 10                 /* a tenth of a GPU is left to contexts, libraries and other programs */
/* Of what is free when a run begins, a sixteenth of the GPU is left to what libraries, graphs and code take later, but no
 * more than this. Local memory of kernels comes on top. */
#define RESERVE_SHARE 16
#define MOST_RESERVE_BYTES (UINT64_C(512) << 20)
#define MOST_GPUS 64u
#define SHARED_SHARE 2                  /* half of memory that a GPU shares with the host is the host's, for its tokens */
#define MIB_BYTES (UINT64_C(1) << 20)

/* ---- what there is ---- */

/* CUDA makes 8 queues to a GPU unless it is told another number, of at most 32, before it begins. Streams that share a
 * queue wait for each other. What the user has set stays. */
static void ask_for_queues(void)
{
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
}

/* This is the first call of all that use CUDA. */
uint32_t dfr_cuda_count(struct df_error *error)
{
    int driver = 0, runtime = 0, count = 0;
    const char *visible;
    cudaError_t status;

    ask_for_queues();
    status = cudaDriverGetVersion(&driver);
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
        visible = getenv("CUDA_VISIBLE_DEVICES");
        dfr_error(error, DF_E_DEVICE, "there is a CUDA driver, but no CUDA GPU that this program may use%s%s%s",
                  visible ? " (CUDA_VISIBLE_DEVICES is '" : "", visible ? visible : "", visible ? "')" : "");
        return 0;
    }
    if (status != cudaSuccess) {
        dfr_cuda_failed(error, "cuda", "counting GPUs", status);
        return 0;
    }
    return (uint32_t)count;
}

/* 0 if CUDA does not tell. */
static int attribute(enum cudaDeviceAttr which, uint32_t index)
{
    int value = 0;

    if (cudaDeviceGetAttribute(&value, which, (int)index) != cudaSuccess)
        (void)cudaGetLastError();
    return value;
}

/* Is the GPU's memory the host's (Jetson, GB10)? A GPU that merely reaches the host's memory has its own (GH200). */
static bool is_integrated(uint32_t index)
{
    return attribute(cudaDevAttrIntegrated, index) != 0;
}

/* Do kernels read and write any memory of the host where it lies, coherently and at full speed (GB10, Thor)? CUDA calls
 * such a system hardware-coherent: CPU and GPU have one page table. An integrated GPU without that (Orin) reaches pinned
 * memory alone, and without its caches, so tokens are copied there. */
static bool is_unified(uint32_t index)
{
    return is_integrated(index) && attribute(cudaDevAttrPageableMemoryAccessUsesHostPageTables, index) != 0;
}

int dfr_cuda_describe(uint32_t index, struct df_unit *unit, struct df_error *error)
{
    char name[32];
    cudaError_t status = dfr_cuda_properties(index, unit->name, sizeof unit->name, &unit->memory_bytes);

    snprintf(name, sizeof name, "cuda%u", index);
    if (status != cudaSuccess)
        return dfr_cuda_failed(error, name, "reading its properties", status);
    unit->memory_bytes -= unit->memory_bytes / (is_integrated(index) ? SHARED_SHARE : OTHERS_SHARE);
    unit->memory_bytes &= ~(MIB_BYTES - 1);
    unit->unified = is_unified(index);
    return DF_OK;
}

/* What the system can give without swapping. CUDA counts what is free at once, without what the system would drop for
 * it. */
static uint64_t host_available_bytes(uint64_t otherwise)
{
    FILE *file = fopen("/proc/meminfo", "r");
    unsigned long long kib = 0;
    bool found = false;
    char line[256];

    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = sscanf(line, "MemAvailable: %llu kB", &kib) == 1;
    if (file != NULL)
        fclose(file);
    const uint64_t bytes = found ? 1024 * (uint64_t)kib : otherwise;
    return bytes < dfr_memory_bytes() ? bytes : dfr_memory_bytes();
}

/* By GPU: the largest frame of the kernels that this process loaded there. CUDA allocates that for each thread that the GPU can hold, and keeps it. Of a file
 * of CUDA whose host code launches kernels, these are not known. */
static _Atomic size_t frames[MOST_GPUS];

static uint64_t local_bytes(uint32_t index)
{
    return index >= MOST_GPUS ? 0 : (uint64_t)frames[index] * (uint64_t)attribute(cudaDevAttrMultiProcessorCount, index) *
                                        (uint64_t)attribute(cudaDevAttrMaxThreadsPerMultiProcessor, index);
}

/* The device's context is made here, if it was not: what that takes is not free any more. */
int dfr_cuda_free_bytes(uint32_t index, uint64_t *bytes, struct df_error *error)
{
    size_t free_bytes = 0, total_bytes = 0;
    cudaError_t status = cudaSetDevice((int)index);
    uint64_t reserve;
    char name[32];

    snprintf(name, sizeof name, "cuda%u", index);
    if (status == cudaSuccess)
        status = cudaMemGetInfo(&free_bytes, &total_bytes);
    if (status != cudaSuccess)
        return dfr_cuda_failed(error, name, "asking for its free memory", status);
    if (is_integrated(index)) {
        *bytes = host_available_bytes(free_bytes) / SHARED_SHARE;
        return DF_OK;
    }
    reserve = total_bytes / RESERVE_SHARE < MOST_RESERVE_BYTES ? total_bytes / RESERVE_SHARE : MOST_RESERVE_BYTES;
    reserve += local_bytes(index);
    *bytes = free_bytes > reserve ? free_bytes - reserve : 0;
    return DF_OK;
}

/* ---- the program's code ---- */

/* These say that there is none for this GPU: neither a binary nor PTX that its driver can compile. */
static bool lacks_code(cudaError_t status)
{
    return status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction ||
           status == cudaErrorInvalidPtx || status == cudaErrorUnsupportedPtxVersion;
}

static int no_code(uint32_t index, cudaError_t status, struct df_error *error)
{
    struct df_unit unit = { .name = "" };
    int major = 0, minor = 0;
    char name[32], doing[200];

    snprintf(name, sizeof name, "cuda%u", index);
    if (!lacks_code(status))
        return dfr_cuda_failed(error, name, "loading the program's code", status);
    (void)cudaGetLastError();
    (void)dfr_cuda_describe(index, &unit, NULL);
    (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, (int)index);
    (void)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, (int)index);
    snprintf(doing, sizeof doing,
             "the program has no code for it (%s, sm_%d%d; dfc --nvcc-flags=-arch=sm_%d%d makes some, if nvcc knows it)",
             unit.name, major, minor, major, minor);
    return dfr_cuda_failed(error, name, doing, status);
}

/* Asking for a function's attributes loads it. Otherwise its first launch would: CUDA loads lazily. */
int dfr_cuda_load(uint32_t index, const struct df_functions *functions, uint32_t n, bool inexact, struct df_error *error)
{
    struct cudaFuncAttributes attributes;
    cudaError_t status = cudaSetDevice((int)index);
    char name[32];

    (void)inexact;
    snprintf(name, sizeof name, "cuda%u", index);
    if (status != cudaSuccess)
        return dfr_cuda_failed(error, name, "selecting it", status);
    for (uint32_t k = 0; k < n && status == cudaSuccess; k++) {
        if (functions[k].device == NULL)
            continue;
        status = cudaFuncGetAttributes(&attributes, functions[k].device());
        if (status == cudaSuccess && index < MOST_GPUS && attributes.localSizeBytes > frames[index])
            frames[index] = attributes.localSizeBytes;
    }
    return status == cudaSuccess ? DF_OK : no_code(index, status, error);
}

uint64_t dfr_cuda_cache_bytes(uint32_t index)
{
    int bytes = attribute(cudaDevAttrL2CacheSize, index);

    return bytes > 0 ? (uint64_t)bytes : 0;
}

int dfr_cuda_bus_id(uint32_t index, char *text, size_t size, struct df_error *error)
{
    cudaError_t status = cudaDeviceGetPCIBusId(text, (int)size, (int)index);

    return status == cudaSuccess ? DF_OK : dfr_cuda_failed(error, "cuda", "asking where a GPU is plugged in", status);
}

/* ---- host memory ---- */

void *dfr_cuda_host_alloc(uint64_t bytes, struct df_error *error)
{
    void *memory = NULL;
    cudaError_t status = cudaHostAlloc(&memory, bytes > 0 ? bytes : 1, cudaHostAllocPortable);

    if (status != cudaSuccess) {
        char doing[96];

        snprintf(doing, sizeof doing, "allocating %.1f MiB of pinned host memory", (double)bytes / MIB);
        dfr_cuda_failed(error, "cuda", doing, status);
        return NULL;
    }
    return memory;
}

void dfr_cuda_host_free(void *memory, uint64_t bytes)
{
    (void)bytes;
    if (memory != NULL && cudaFreeHost(memory) != cudaSuccess)
        (void)cudaGetLastError(); /* the context is lost, and the memory with it */
}

int dfr_cuda_host_register(void *memory, uint64_t bytes, struct df_error *error)
{
    cudaError_t status = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);

    return status == cudaSuccess ? DF_OK : dfr_cuda_failed(error, "cuda", "pinning host memory", status);
}

void dfr_cuda_host_unregister(void *memory, uint64_t bytes)
{
    (void)bytes;
    if (cudaHostUnregister(memory) != cudaSuccess)
        (void)cudaGetLastError(); /* the context is lost */
}
