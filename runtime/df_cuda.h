/* df_cuda.h - what gpu variants in CUDA have besides df.h, which includes this: the type of a stream, and cuBLAS. It needs no header of CUDA's. */
#ifndef DF_CUDA_H
#define DF_CUDA_H

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA's own declaration, repeated so that prototypes of gpu variants need no CUDA header. */
typedef struct CUstream_st *cudaStream_t;

struct df_call;

/* The cuBLAS handle of this job's GPU. It is bound to the job's stream until the kernel returns; other jobs of the GPU
 * have the same handle, with what a kernel has set on it, such as its math mode. If there is no cuBLAS, the call gives
 * NULL and records a failure. cuBLAS is found when the first kernel asks: docs/gpu.md says where. */
struct cublasContext;
struct cublasContext *df_cublas(struct df_call *call);

/* A function of that cuBLAS by its name, such as "cublasSgemm_v2", so that a program need not be linked with cuBLAS. NULL:
 * there is no cuBLAS or no such function in it, or the job runs on a CPU or an emulated GPU. That is no failure, so the
 * kernel may do without. */
void *df_cublas_function(struct df_call *call, const char *name);

#ifdef __cplusplus
}
#endif

#endif
