/* emulated.h - the calls of CUDA that the programs by hand make, done by dfc's emulated GPU (docs/emulator.md). So they run without a GPU, and their time
 * is compared with that of dfc's programs on the same device. Kernels run by the code of their cpu variants, as there: on_emu.h of each program.
 *
 * Memory:   Device memory has its pages when it is given, as the emulator's own has.
 * Threads:  As device.h says: one thread enqueues.
 */
#ifndef EMULATED_H
#define EMULATED_H

#include <df.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int cudaError_t;
typedef struct dfr_event *cudaEvent_t;
enum { cudaSuccess, cudaErrorUnknown };
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };

#define __host__
#define __device__

/* What the program's streams are for, in the order in which it makes them: copies have engines of their own. */
enum emulated_stream { EMULATED_UPLOADS, EMULATED_DOWNLOADS, EMULATED_COMPUTES };
extern const enum emulated_stream emulated_streams[];
extern const unsigned emulated_n_streams;

/* A launch calls function(call, args) in stream order. The arguments are copied, at most 128 bytes. */
typedef int emulated_kernel(struct df_call *call, const void *args);
int emulated_launch(struct df_call *call, cudaStream_t stream, emulated_kernel *function, const void *args, size_t bytes);

cudaError_t cudaGetDeviceCount(int *count); /* opens the device */
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);         /* of kernels that have run */
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaMallocHost(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream); /* the last one closes the device */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event); /* sleeps meanwhile */
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *arg);

#ifdef __cplusplus
}

template <class type> static inline cudaError_t cudaMalloc(type **memory, size_t bytes)
{
    return cudaMalloc((void **)memory, bytes);
}

template <class type> static inline cudaError_t cudaMallocHost(type **memory, size_t bytes)
{
    return cudaMallocHost((void **)memory, bytes);
}
#endif
#endif
