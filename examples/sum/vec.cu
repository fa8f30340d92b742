// vec.cu - the kernels of sum.df on the GPU. dfc puts sum.df.h, with their prototypes, before this file.
#include <df.h>

static __global__ void add_elements(size_t k, const float *a, const float *b, float *c)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < k)
        c[i] = a[i] + b[i];
}

int add_gpu(struct df_call *call, cudaStream_t stream, size_t k, const float *a, const float *b, float *c)
{
    add_elements<<<(unsigned)((k + 255) / 256), 256, 0, stream>>>(k, a, b, c);
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? (int)DF_OK : df_fail(call, "launch failed: %s", cudaGetErrorString(error));
}
