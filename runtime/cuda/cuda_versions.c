/* cuda_versions.c - calls of the CUDA runtime that differ from version to version: device properties (cuda_machine.c), batches of copies (cuda_work.c), and the
 * dependencies of a capture (cuda_graph.c). One build of libdf-cuda works with the runtimes of CUDA 11.4 to 13, whichever headers it was compiled with: a
 * program is linked with the runtime of the nvcc that dfc finds, which may be of another version.
 *
 * Symbols:  each variant is declared weak under its symbol in the runtime's library, and the symbols that the linked
 *           runtime has select the variant. Up to version 12 it has cudaStreamGetCaptureInfo_v2; CUDA 13 dropped "_v2"
 *           and took over the longer signatures, those of capture dependencies and of batches too.
 */
#include <stdio.h>

#include "runtime/cuda/cuda_impl.h"

#define RUNTIME(symbol) __asm__(#symbol) __attribute__((weak))

/* ---- properties ---- */

/* CUDA 12 alone has "_v2". Its runtime has the other symbol as well, with the structure of CUDA 11. */
extern cudaError_t properties_12(void *properties, int index) RUNTIME(cudaGetDeviceProperties_v2);
extern cudaError_t properties_11_or_13(void *properties, int index) RUNTIME(cudaGetDeviceProperties);

union properties {
    struct cudaDeviceProp device;       /* the fields that are read here have the same offsets in all versions */
    char room[4096];                    /* the structure of the linked runtime may be longer */
};

cudaError_t dfr_cuda_properties(uint32_t index, char *name, size_t size, uint64_t *memory_bytes)
{
    union properties all;
    cudaError_t status = properties_12 ? properties_12(&all, (int)index) : properties_11_or_13(&all, (int)index);

    if (status == cudaSuccess) {
        snprintf(name, size, "%.*s", (int)size - 1, all.device.name);
        *memory_bytes = all.device.totalGlobalMem;
    }
    return status;
}

/* ---- dependencies of a capture ---- */

/* From CUDA 13 on edges have data. If the data matters and is not asked for, the status is cudaErrorLossyQuery. */
extern cudaError_t capture_info_12(cudaStream_t, enum cudaStreamCaptureStatus *, unsigned long long *id, cudaGraph_t *,
                                   const cudaGraphNode_t **, size_t *) RUNTIME(cudaStreamGetCaptureInfo_v2);
extern cudaError_t capture_info_13(cudaStream_t, enum cudaStreamCaptureStatus *, unsigned long long *id, cudaGraph_t *,
                                   const cudaGraphNode_t **, const void **data, size_t *)
    RUNTIME(cudaStreamGetCaptureInfo);
extern cudaError_t update_12(cudaStream_t, cudaGraphNode_t *, size_t, unsigned flags)
    RUNTIME(cudaStreamUpdateCaptureDependencies);
extern cudaError_t update_13(cudaStream_t, cudaGraphNode_t *, const void *data, size_t, unsigned flags)
    RUNTIME(cudaStreamUpdateCaptureDependencies);

static bool before_13(void)
{
    return capture_info_12 != NULL;
}

cudaError_t dfr_cuda_last_nodes(cudaStream_t stream, const cudaGraphNode_t **nodes, size_t *n)
{
    enum cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
    cudaError_t status = before_13() ? capture_info_12(stream, &state, NULL, NULL, nodes, n)
                                     : capture_info_13(stream, &state, NULL, NULL, nodes, NULL, n);

    return status == cudaSuccess && state != cudaStreamCaptureStatusActive ? cudaErrorStreamCaptureInvalidated : status;
}

cudaError_t dfr_cuda_go_on_after(cudaStream_t stream, cudaGraphNode_t *nodes, size_t n)
{
    return before_13() ? update_12(stream, nodes, n, cudaStreamSetCaptureDependencies)
                       : update_13(stream, nodes, NULL, n, cudaStreamSetCaptureDependencies);
}

/* ---- batches of copies ---- */

#if CUDART_VERSION >= 12080
typedef struct cudaMemcpyAttributes copy_attributes;
#else
/* The structure and the constant of newer headers: the linked runtime may be newer than the headers here. */
enum { cudaMemcpySrcAccessOrderStream = 1 };
typedef struct {
    int srcAccessOrder;
    struct {
        int type, id;
    } srcLocHint, dstLocHint;
    unsigned flags;
} copy_attributes;
#endif

/* Runtimes before 12.8 lack the symbol. */
extern cudaError_t batch_12(void **to, void **from, size_t *bytes, size_t, copy_attributes *, size_t *first, size_t,
                            size_t *failed, cudaStream_t) RUNTIME(cudaMemcpyBatchAsync);
extern cudaError_t batch_13(void *const *to, const void *const *from, const size_t *bytes, size_t, copy_attributes *,
                            size_t *first, size_t, cudaStream_t) RUNTIME(cudaMemcpyBatchAsync);

cudaError_t dfr_cuda_batch(const struct dfr_transfer *copies, uint32_t n, cudaStream_t stream)
{
    copy_attributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    void *to[DFR_BATCH], *from[DFR_BATCH];
    size_t bytes[DFR_BATCH], first = 0, failed;

    if (batch_13 == NULL)
        return cudaErrorNotSupported;
    for (uint32_t i = 0; i < n; i++) {
        to[i] = copies[i].to;
        from[i] = (void *)copies[i].from;
        bytes[i] = copies[i].bytes;
    }
    return before_13() ? batch_12(to, from, bytes, n, &attributes, &first, 1, &failed, stream)
                       : batch_13(to, (const void *const *)from, bytes, n, &attributes, &first, 1, stream);
}
