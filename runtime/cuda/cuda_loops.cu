/* cuda_loops.cu - the benchmark kernels that measure a GPU (cuda_loops.h): the only GPU code in dfc itself. Programs do
 * not link it, because only a weak reference names it (cuda_gauge.c); dfc requests it by that name.
 */
#include <cuda_runtime_api.h>

#include "runtime/cuda/cuda_loops.h"

template <enum dfr_gauge LOOP> static __global__ void __launch_bounds__(LOOP_THREADS) kernel(struct cuda_loop loop)
{
    loop_thread(LOOP, &loop, (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, (uint64_t)gridDim.x * blockDim.x);
}

extern "C" cudaError_t dfr_cuda_enqueue_loop(const struct cuda_loop *loop, uint32_t blocks, cudaStream_t stream)
{
    static void (*const kernels[DFR_GAUGES])(struct cuda_loop) = {
        kernel<DFR_GAUGE_COPY>, kernel<DFR_GAUGE_SCALE>, kernel<DFR_GAUGE_ADD>, kernel<DFR_GAUGE_TRIAD>,
        kernel<DFR_GAUGE_F32>, kernel<DFR_GAUGE_F64>, kernel<DFR_GAUGE_DEPENDENT>, kernel<DFR_GAUGE_RANDOM>,
        kernel<DFR_GAUGE_SHARED>, kernel<DFR_GAUGE_SPREAD>
    };
    void *arguments[] = { (void *)loop };
    return cudaLaunchKernel((const void *)kernels[loop->loop], dim3(blocks), dim3(LOOP_THREADS), arguments, 0, stream);
}
