/* ways.cu - gpu variants of ways.df. */
#include <cuda_runtime.h>
static __global__ void twice(const int *a, int *b, size_t k) { size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < k) b[i] = 2 * a[i]; }
__global__ void turn(const int *a, int *b, size_t h, size_t w, int add) /* by tiles in shared memory */
{
    extern __shared__ int tile[];
    size_t x = blockIdx.x * (size_t)blockDim.x + threadIdx.x, y = blockIdx.y * (size_t)blockDim.y + threadIdx.y;
    if (x < w && y < h) tile[threadIdx.y * blockDim.x + threadIdx.x] = a[y * w + x] + add;
    __syncthreads();
    if (x < w && y < h) b[x * h + y] = tile[threadIdx.y * blockDim.x + threadIdx.x];
}
int waits_gpu(struct df_call *call, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b)
{
    int first = 0;
    cudaError_t e = cudaMemcpyAsync(&first, a, sizeof first, cudaMemcpyDeviceToHost, stream);
    if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
    if (e != cudaSuccess) return df_fail(call, "%s", cudaGetErrorString(e));
    twice<<<(unsigned)((k + 127) / 128), 128, 0, stream>>>(a, b, k);
    return first % 2 == 0 ? DF_OK : df_fail(call, "the first is %d", first);
}
int spoils_gpu(struct df_call *call, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b)
{
    static int calls; /* allocates, which no recording may: it is launched each time */
    void *room = NULL;
    calls++;
    if (cudaMalloc(&room, 256) != cudaSuccess) return df_fail(call, "no memory at call %d", calls);
    cudaFree(room);
    twice<<<(unsigned)((k + 127) / 128), 128, 0, stream>>>(a, b, k);
    return DF_OK;
}
static __global__ void shift(int *a, size_t k, int by) { size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < k) a[i] += by; }
int late_gpu(struct df_call *call, cudaStream_t stream, size_t k, int32_t *a) /* asks for the wave, so it is launched anew in each */
{
    shift<<<(unsigned)((k + 127) / 128), 128, 0, stream>>>(a, k, (int)df_wave(call));
    return DF_OK;
}
__global__ void plus(size_t k, const int *a, const int *b, int *c, int *t)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < k) { t[i] = b[i]; c[i] = a[i] + t[i]; }
}
static __global__ void crash(int *b) { *(volatile int *)((char *)b + (1ull << 44)) = 1; }
int breaks_gpu(struct df_call *, cudaStream_t stream, size_t, const int32_t *, int32_t *b) { crash<<<1, 1, 0, stream>>>(b); return DF_OK; }
