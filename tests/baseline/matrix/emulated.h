/* emulated.h - the calls of CUDA that matrix.cu makes, done by dfc's emulated GPU (docs/emulator.md). So the program runs without a GPU, and its time
 * is compared with that of dfc's program on the same device. Kernels run by the code of their cpu variants, as there.
 *
 * Streams: The first two are the copy engines', for uploads and downloads. The third computes.
 * Threads: As device.h says: one thread enqueues.
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

cudaError_t cudaGetDeviceCount(int *count);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaMalloc(float **memory, size_t bytes);
cudaError_t cudaMallocHost(float **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream); /* the last one closes the device */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *arg);

int ma_gpu(struct df_call *call, cudaStream_t stream, size_t m, const float *a, const float *b, float *c);
int mm_gpu(struct df_call *call, cudaStream_t stream, size_t m, const float *a, const float *b, float *c);

#ifdef __cplusplus
}
#endif
#endif
