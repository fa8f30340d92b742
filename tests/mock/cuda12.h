/* cuda12.h - the CUDA runtime's header of CUDA 13, made to look like that of CUDA 12 where the two differ for
 * runtime/cuda/: graph edges had no data then, and batches of copies came with 12.8. It is included before all else. With
 * it a compiler says whether the code is right for CUDA 12, where only CUDA 13 is installed. Prototypes are those of CUDA
 * 12's manual. CUDA12 is the version that it looks like: 12000 or 12080.
 */
#include <cuda_runtime_api.h>

#undef CUDART_VERSION
#define CUDART_VERSION CUDA12

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                        size_t *n);
cudaError_t cuda12_update_capture_dependencies(cudaStream_t stream, cudaGraphNode_t *dependencies, size_t n,
                                               unsigned flags);
#define cudaStreamUpdateCaptureDependencies cuda12_update_capture_dependencies
#define cudaStreamGetCaptureInfo cuda12_has_no_such_signature

#if CUDA12 >= 12080
cudaError_t cuda12_memcpy_batch(void **to, void **from, size_t *bytes, size_t n, struct cudaMemcpyAttributes *attributes,
                                size_t *first, size_t n_attributes, size_t *failed, cudaStream_t stream);
#define cudaMemcpyBatchAsync cuda12_memcpy_batch
#else
#define cudaMemcpyBatchAsync cuda12_has_no_such_function
#define cudaMemcpyAttributes cuda12_has_no_such_struct
#endif
