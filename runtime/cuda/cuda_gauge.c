/* cuda_gauge.c - enqueues the benchmark kernels that measure a GPU (cuda_loops.h): the operation gauge() in cuda.c's
 * table, which profiles/probe/ calls. */
#include "runtime/cuda/cuda_impl.h"

#include "runtime/base/error.h"
#include "runtime/cuda/cuda_loops.h"

#define BLOCKS 8                        /* of each multiprocessor: together as many threads as it holds, or more */

/* In cuda_loops.cu. Enqueues; so many blocks of LOOP_THREADS. NULL: this program was not linked with it. */
extern cudaError_t dfr_cuda_enqueue_loop(const struct cuda_loop *loop, uint32_t blocks, cudaStream_t stream)
    __attribute__((weak));

int dfr_cuda_gauge(struct dfr_device *device, enum dfr_gauge gauge, uint64_t array_bytes, uint32_t turns, uint32_t stream,
                  double *work, struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    double *pool = (double *)cuda->pool;
    uint64_t length = array_bytes / sizeof(double);
    struct cuda_loop l = { gauge, pool, pool + length, pool + 2 * length, length, turns, 0.5 };
    int processors = 0;

    if (!dfr_cuda_enqueue_loop)
        return dfr_error(error, DF_E_DEVICE, "%s: this program has no loops to measure it by", cuda->name);
    int status = dfr_cuda_begin_work(cuda, stream, error);
    if (status == DF_OK)
        status = dfr_cuda_check(cuda, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, cuda->index),
                                "counting its multiprocessors", error);
    uint32_t blocks = BLOCKS * (processors > 1 ? (uint32_t)processors : 1);
    *work = turns * loop_work(gauge, length, (double)blocks * LOOP_THREADS);
    return status == DF_OK ? dfr_cuda_check(cuda, dfr_cuda_enqueue_loop(&l, gauge == DFR_GAUGE_DEPENDENT ? 1 : blocks,
                                                                        cuda->streams[stream].handle),
                                            "launching a loop that measures it", error)
                           : status;
}
