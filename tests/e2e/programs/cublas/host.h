/* Put before a .cu, to run it on the host: the threads of a block take turns, and blocks come one after the other. */
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ucontext.h>
#include <vector>
extern "C" {
#include "runtime/cuda/cuda_blas.h"
}
#define __global__
#define __shared__ static
enum { STACK = 64 * 1024 };
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
dim3 threadIdx, blockIdx;
static dim3 blockDim;
static ucontext_t scheduler, *running;
static bool ended;
static std::function<void()> body;
static void __syncthreads() { swapcontext(running, &scheduler); }
static void run_body() { body(), ended = true, swapcontext(running, &scheduler); }
/* From barrier to barrier the threads have their turns forwards or backwards, by a bit of a product: a barrier that is missing shows. All reach it, or
 * all end. */
static void run_block(unsigned n_threads)
{
    static std::vector<ucontext_t> threads(1024);
    static std::vector<char> stacks(1024 * STACK);
    for (unsigned t = 0; t < n_threads; t++) {
        getcontext(&threads[t]);
        threads[t].uc_stack.ss_sp = &stacks[t * STACK];
        threads[t].uc_stack.ss_size = STACK;
        makecontext(&threads[t], run_body, 0);
    }
    for (unsigned n_ended = 0, round = 0; n_ended < n_threads; round++) {
        for (unsigned turn = 0; turn < n_threads; turn++) {
            unsigned t = round * 0x9e3779b9u >> 31 ? n_threads - 1 - turn : turn;
            running = &threads[t], ended = false;
            threadIdx = dim3(t % blockDim.x, t / blockDim.x);
            swapcontext(&scheduler, running);
            n_ended += ended;
        }
        if (n_ended > 0 && n_ended < n_threads)
            printf("%u of %u threads are at a barrier, and the others have ended\n", n_threads - n_ended, n_threads), exit(1);
    }
}
template <class F, class... A> static void launch(F *kernel, dim3 grid, dim3 block, int, cudaStream_t, A... arguments)
{
    blockDim = block;
    body = [=] { kernel(arguments...); };
    for (unsigned b = 0; b < grid.x * grid.y; b++) {
        blockIdx = dim3(b % grid.x, b / grid.x);
        run_block(block.x * block.y);
    }
}
