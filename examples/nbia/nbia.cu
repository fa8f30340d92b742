// nbia.cu - the counts of nbia on the GPU: blocks count in shared memory, and add up what they have.
#include <df.h>
#include <stdint.h>

#define LEVELS 32
#define PAIRS (LEVELS * LEVELS)

static int launched(struct df_call *call)
{
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? (int)DF_OK : df_fail(call, "launch failed: %s", cudaGetErrorString(error));
}

// Block (b, p): every gridDim.x-th row of channel p / 4, direction p % 4.
static __global__ void count_pairs(int h, int w, const uint8_t *q, int32_t *pairs)
{
    __shared__ int32_t sums[PAIRS];
    const int c = blockIdx.y / 4, a = blockIdx.y % 4, below = a > 0, right = a == 3 ? -1 : a != 2;
    for (int i = threadIdx.x; i < PAIRS; i += blockDim.x)
        sums[i] = 0;
    __syncthreads();
    for (int y = blockIdx.x; y + below < h; y += gridDim.x) {
        const uint8_t *row = q + ((size_t)y * 3 + c) * w, *next = row + (size_t)below * 3 * w;
        for (int x = threadIdx.x; x < w; x += blockDim.x)
            if (x + right >= 0 && x + right < w)
                atomicAdd(&sums[row[x] * LEVELS + next[x + right]], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < PAIRS; i += blockDim.x)
        if (sums[i])
            atomicAdd(&pairs[(size_t)blockIdx.y * PAIRS + i], sums[i]);
}

int beside_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *q, int32_t *pairs)
{
    const unsigned blocks = h < 32 ? (unsigned)h : 32;
    cudaError_t error = cudaMemsetAsync(pairs, 0, 12 * PAIRS * sizeof *pairs, stream);
    if (error != cudaSuccess)
        return df_fail(call, "cannot clear the counts: %s", cudaGetErrorString(error));
    count_pairs<<<dim3(blocks, 12), 128, 0, stream>>>((int)h, (int)w, q, pairs);
    return launched(call);
}

static __global__ void count_codes(size_t n, const uint8_t *code, int32_t *counts)
{
    __shared__ int32_t sums[10];
    if (threadIdx.x < 10)
        sums[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        atomicAdd(&sums[code[i]], 1);
    __syncthreads();
    if (threadIdx.x < 10)
        atomicAdd(&counts[threadIdx.x], sums[threadIdx.x]);
}

int often_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *code, int32_t *counts)
{
    const size_t n = h * w, blocks = (n + 1023) / 1024;
    cudaError_t error = cudaMemsetAsync(counts, 0, 10 * sizeof *counts, stream);
    if (error != cudaSuccess)
        return df_fail(call, "cannot clear the counts: %s", cudaGetErrorString(error));
    count_codes<<<(unsigned)(blocks < 256 ? blocks : 256), 256, 0, stream>>>(n, code, counts);
    return launched(call);
}
