/* cuda12.h - the CUDA runtime's header of CUDA 13, made to look like that of CUDA 12 where the two differ for
 * runtime/cuda/cuda_graph.c: graph edges had no data then. It is included before all else. With it a compiler says
 * whether the code is right for CUDA 12, where only CUDA 13 is installed. Prototypes are those of CUDA 12's manual.
 */
#include <cuda_runtime_api.h>

#undef CUDART_VERSION
#define CUDART_VERSION 12000

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                        size_t *n);
cudaError_t cuda12_update_capture_dependencies(cudaStream_t stream, cudaGraphNode_t *dependencies, size_t n,
                                               unsigned flags);
#define cudaStreamUpdateCaptureDependencies cuda12_update_capture_dependencies
#define cudaStreamGetCaptureInfo cuda12_has_no_such_signature
