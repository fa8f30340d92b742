/* cuda_graph.c - recordings as CUDA Graphs, for device.h's record and replay operations. The stream is captured while
 * kernels' host code enqueues on it. The captured graph is instantiated once, and a replay is one launch of that graph.
 *
 * Only this thread is captured, so other GPUs' workers go on. A kernel's host code may do what a capture forbids:
 * wait for the stream, or allocate. That spoils the capture: then there is no recording, and nothing has been done on
 * the GPU.
 */
#include <stdlib.h>

#include "runtime/cuda/cuda_impl.h"
#include "runtime/base/error.h"

struct dfr_recording {
    cudaGraphExec_t exec;
};

int dfr_cuda_record_begin(struct dfr_device *device, uint32_t stream, struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    int status = dfr_cuda_begin_work(cuda, stream, error);

    if (status == DF_OK)
        status = dfr_cuda_check(cuda, cudaStreamBeginCapture(cuda->streams[stream].handle,
                                                             cudaStreamCaptureModeThreadLocal),
                                "beginning a graph", error);
    if (status == DF_OK)
        cuda->streams[stream].recording = true;
    return status;
}

/* *graph is NULL if the capture is spoiled. */
static cudaError_t end_capture(struct cuda_stream *s, cudaGraph_t *graph)
{
    *graph = NULL;
    s->recording = false;
    return cudaStreamEndCapture(s->handle, graph);
}

void dfr_cuda_record_drop(struct cuda_device *cuda, uint32_t stream)
{
    cudaGraph_t graph;

    if (!cuda->streams[stream].recording)
        return;
    (void)end_capture(&cuda->streams[stream], &graph);
    if (graph != NULL)
        cudaGraphDestroy(graph);
    (void)cudaGetLastError();
}

int dfr_cuda_record_end(struct dfr_device *device, uint32_t stream, struct dfr_recording **recording,
                        struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    struct dfr_recording *r = calloc(1, sizeof *r);
    cudaGraph_t graph;
    cudaError_t ended = end_capture(&cuda->streams[stream], &graph), made = cudaErrorUnknown;

    *recording = NULL;
    if (ended == cudaSuccess && graph != NULL && r != NULL) /* host code may have selected another GPU */
        made = dfr_cuda_select(cuda->index);
    if (made == cudaSuccess)
        made = cudaGraphInstantiateWithFlags(&r->exec, graph, 0);
    if (graph != NULL)
        cudaGraphDestroy(graph);
    if (made == cudaSuccess) {
        *recording = r;
        return DF_OK;
    }
    (void)cudaGetLastError();           /* not being recorded is no error; a later launch must not be blamed */
    if (r == NULL)
        return dfr_error_memory(error);
    free(r);
    return DF_OK;
}

int dfr_cuda_replay(struct dfr_device *device, struct dfr_recording *r, uint32_t stream, struct df_error *error)
{
    struct cuda_device *cuda = dfr_cuda_of(device);
    int status = dfr_cuda_begin_work(cuda, stream, error);

    if (status != DF_OK)
        return status;
    return dfr_cuda_check(cuda, cudaGraphLaunch(r->exec, cuda->streams[stream].handle), "launching a graph", error);
}

void dfr_cuda_recording_destroy(struct dfr_device *device, struct dfr_recording *r)
{
    struct cuda_device *cuda = dfr_cuda_of(device);

    (void)dfr_cuda_select(cuda->index); /* this thread ends the run: the worker that selected it is gone */
    (void)cudaGraphExecDestroy(r->exec);
    (void)cudaGetLastError();
    free(r);
}
