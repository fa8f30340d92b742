/* df_formula_gpu.h - what the GPU code of formulas is made with: which elements a thread computes, and the launch.
 *
 * GPU:      nvcc compiles that code. x, y and z are the places of a thread in the whole grid. A grid has a limit, so a thread
 *           goes on with the elements that are whole grids further.
 * Host:     another C++ compiler makes functions for the emulated GPU of it (dfc --emu-gpu-code): a launch is a loop over
 *           blocks and threads. The bits are the same.
 * Threads:  any; each has places of its own.
 */
#ifndef DF_FORMULA_GPU_H
#define DF_FORMULA_GPU_H

#include <df.h>
#include <df_formula.h>

#ifdef __CUDACC__
#define DF_LAUNCH(function, grid, block, stream, ...) function<<<grid, block, 0, (cudaStream_t)stream>>>(__VA_ARGS__)
#define DF_ON_DEVICE static __device__ __forceinline__
#define DF_DEVICE_DATA static __device__ const
#else
#define DF_LAUNCH(function, grid, block, stream, ...) df_on_host(grid, block, [&] { function(__VA_ARGS__); })
#define DF_ON_DEVICE static inline
#define DF_DEVICE_DATA static const
#define __global__

struct dim3 {
    unsigned x, y, z;
    explicit dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x(of_x), y(of_y), z(of_z) {}
};
static thread_local dim3 gridDim, blockDim, blockIdx, threadIdx;

template <class function> static void df_block_on_host(function body)
{
    for (threadIdx.z = 0; threadIdx.z < blockDim.z; threadIdx.z++)
        for (threadIdx.y = 0; threadIdx.y < blockDim.y; threadIdx.y++)
            for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++)
                body();
}

template <class function> static void df_on_host(dim3 grid, dim3 block, function body)
{
    const unsigned before = df_float_begin();
    gridDim = grid;
    blockDim = block;
    for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
                df_block_on_host(body);
    df_float_end(before);
}
#endif

#define restrict __restrict__

/* Memory of a launch, for a stream that stays inside a fused group. NULL: there is none. */
#ifdef __CUDACC__
static inline void *df_ring(void *stream, int64_t bytes)
{
    void *ring;
    return cudaMallocAsync(&ring, (size_t)bytes, (cudaStream_t)stream) == cudaSuccess ? ring : NULL;
}

static inline void df_ring_free(void *stream, void *ring)
{
    if (ring)
        cudaFreeAsync(ring, (cudaStream_t)stream);
}
#else
static inline void *df_ring(void *, int64_t bytes) { return __builtin_malloc((size_t)bytes); }
static inline void df_ring_free(void *, void *ring) { __builtin_free(ring); }
#endif

DF_ON_DEVICE int64_t df_first_x() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
DF_ON_DEVICE int64_t df_first_y() { return (int64_t)blockIdx.y * blockDim.y + threadIdx.y; }
DF_ON_DEVICE int64_t df_first_z() { return (int64_t)blockIdx.z * blockDim.z + threadIdx.z; }
DF_ON_DEVICE int64_t df_step_x() { return (int64_t)gridDim.x * blockDim.x; }
DF_ON_DEVICE int64_t df_step_y() { return (int64_t)gridDim.y * blockDim.y; }
DF_ON_DEVICE int64_t df_step_z() { return (int64_t)gridDim.z * blockDim.z; }

/* The blocks for so many elements, as many as CUDA allows. */
static inline unsigned df_n_blocks(int64_t n, unsigned block, int64_t most)
{
    n = (n + block - 1) / block;
    return (unsigned)(n < most ? n : most);
}

static inline dim3 df_grid(dim3 block, int64_t x, int64_t y, int64_t z)
{
    return dim3(df_n_blocks(x, block.x, 2147483647), df_n_blocks(y, block.y, 65535), df_n_blocks(z, block.z, 65535));
}

#endif
