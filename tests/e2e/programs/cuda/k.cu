#include "plus.h"
static __global__ void one_more(size_t k, const int *a, int *b)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < k)
        b[i] = a[i] + PLUS;
}
int first_gpu(struct df_call *call, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b)
{
    (void)call;
    one_more<<<(unsigned)((k + 255) / 256), 256, 0, stream>>>(k, a, b);
    return DF_OK;
}
int first_cpu(struct df_call *, size_t k, const int32_t *a, int32_t *b)
{
    for (size_t i = 0; i < k; i++)
        b[i] = a[i] + PLUS;
    return DF_OK;
}
static __global__ void same(size_t k, const int *a, int *b)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < k)
        b[i] = a[i];
}
static __global__ void plane(size_t h, size_t w, const int *a, int *b, int n) /* rows by way of shared memory */
{
    extern __shared__ int row[];
    size_t x = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    for (size_t y = blockIdx.y; y < h; y += gridDim.y) {
        if (threadIdx.y == 0 && x < w)
            row[threadIdx.x * n] = a[y * w + x];
        __syncthreads();
        if (threadIdx.y == 0 && x < w)
            b[y * w + x] = row[threadIdx.x * n];
        __syncthreads();
    }
}
void launch(cudaStream_t stream, int n, int *a, int *b) { one_more<<<(n + 255) / 256, 256, 0, stream>>>((size_t)n, a, b); }
int launch_status(int n, const int *a, int *b, cudaStream_t stream)
{
    one_more<<<(n + 255) / 256, 256, 0, stream>>>((size_t)n, a, b);
    return cudaGetLastError() == cudaSuccess ? 0 : 3;
}
