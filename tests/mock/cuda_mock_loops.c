/* cuda_mock_loops.c - the loops that measure a GPU, done on the host when their turn comes, in place of cuda_loops.cu. */
#include "tests/mock/cuda_mock_impl.h"

#include "runtime/cuda/cuda_loops.h"

struct launched {
    struct cuda_loop loop;
    uint32_t blocks;
};

/* Tests set the duration of these loops and do not read their results, so only the first and the last block are executed. */
static void run(void *arguments)
{
    const struct launched *l = arguments;
    for (uint64_t thread = 0; thread < l->blocks * LOOP_THREADS; thread++)
        if (thread / LOOP_THREADS == 0 || thread / LOOP_THREADS == l->blocks - 1)
            loop_thread(l->loop.loop, &l->loop, thread, l->blocks * LOOP_THREADS);
    mock.now_ms += (l->loop.turns - 1) * mock.kernel_ms; /* a kernel takes the time of one turn already */
}

cudaError_t dfr_cuda_enqueue_loop(const struct cuda_loop *loop, uint32_t blocks, cudaStream_t stream);
cudaError_t dfr_cuda_enqueue_loop(const struct cuda_loop *loop, uint32_t blocks, cudaStream_t stream)
{
    struct launched l = { *loop, blocks };
    if (mock.no_code[stream->object.device])
        return cudaErrorNoKernelImageForDevice;
    mock_launch(stream, run, &l, sizeof l);
    return cudaGetLastError();
}
