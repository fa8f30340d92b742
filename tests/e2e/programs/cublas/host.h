/* Put before a .cu, to run it on the host: a block is 256 threads and a barrier, and blocks come one after the other. */
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <vector>
extern "C" {
#include "runtime/cuda/cuda_blas.h"
}
#define __global__
#define __shared__ static
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
static thread_local dim3 threadIdx, blockIdx;
static dim3 blockDim;
static pthread_barrier_t barrier;
static void __syncthreads() { pthread_barrier_wait(&barrier); }
template <class F, class... A> static void launch(F *kernel, dim3 grid, dim3 block, int, cudaStream_t, A... arguments)
{
    blockDim = block;
    pthread_barrier_init(&barrier, nullptr, block.x * block.y);
    for (unsigned b = 0; b < grid.x * grid.y; b++) {
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < block.x * block.y; t++)
            threads.emplace_back([=] {
                threadIdx = dim3(t % block.x, t / block.x);
                blockIdx = dim3(b % grid.x, b / grid.x);
                kernel(arguments...);
            });
        for (auto &thread : threads)
            thread.join();
    }
    pthread_barrier_destroy(&barrier);
}
