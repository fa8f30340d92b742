/* cuda_graph.c - implements device.h's record and replay operations with CUDA Graphs, for cuda.c's table: captures a stream while kernels' host code enqueues
 * on it, instantiates the graph once, and replays it with a single launch. gpu/gpu_record.c decides what is recorded.
 *
 * Only this thread is in capture mode, so the workers of other GPUs continue. A kernel's host code may do what a
 * capture forbids, such as waiting for the stream or allocating. That invalidates the capture: there is no recording
 * then, and nothing has been executed on the GPU.
 *
 * Parts: before each part the capture's dependencies are set to the last nodes of the parts that it must follow, so the
 * graph has exactly the required edges. A part's last nodes are what a following part would depend on.
 */
#include <stdlib.h>

#include "runtime/cuda/cuda_impl.h"
#include "runtime/base/error.h"

struct dfr_recording {
    cudaGraphExec_t exec;
};

struct cuda_parts {
    uint32_t n;                         /* parts begun */
    size_t n_last[DFR_RECORDED_PARTS];
    cudaGraphNode_t *last[DFR_RECORDED_PARTS]; /* of each part that has ended: its last nodes */
};

/* ---- parts ---- */

static void free_parts(struct cuda_stream *s)
{
    for (uint32_t p = 0; s->parts != NULL && p < s->parts->n; p++)
        free(s->parts->last[p]);
    free(s->parts);
    s->parts = NULL;
}

/* Notes the last nodes of the part that has been launched. */
static bool end_part(struct cuda_stream *s)
{
    struct cuda_parts *parts = s->parts;
    const cudaGraphNode_t *nodes = NULL;
    size_t n = 0;
    cudaGraphNode_t *own;

    if (parts->n == 0)
        return true;
    if (dfr_cuda_last_nodes(s->handle, &nodes, &n) != cudaSuccess)
        return false;
    own = calloc(n + 1, sizeof *own);
    if (own == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        own[i] = nodes[i];
    parts->last[parts->n - 1] = own;
    parts->n_last[parts->n - 1] = n;
    return true;
}

static bool begin_part(struct cuda_stream *s, uint32_t after)
{
    struct cuda_parts *parts = s->parts;
    size_t n = 0, most = 1;
    cudaGraphNode_t *nodes;
    bool good;

    for (uint32_t p = 0; p < parts->n; p++)
        most += parts->n_last[p];
    nodes = calloc(most, sizeof *nodes);
    for (uint32_t p = 0; nodes != NULL && p < parts->n; p++)
        for (size_t i = 0; after >> p & 1 && i < parts->n_last[p]; i++)
            nodes[n++] = parts->last[p][i];
    good = nodes != NULL && (parts->n == 0 || dfr_cuda_go_on_after(s->handle, nodes, n) == cudaSuccess); /* 0: no nodes yet */
    free(nodes);
    parts->n++;
    return good;
}

int dfr_cuda_record_part(struct dfr_device *device, uint32_t stream, uint32_t part, uint32_t after,
                         struct df_error *error)
{
    struct cuda_stream *s = &dfr_cuda_of(device)->streams[stream];

    if (!s->recording || part >= DFR_RECORDED_PARTS || part != (s->parts != NULL ? s->parts->n : 0) ||
        (uint64_t)after >> part != 0)
        return dfr_error(error, DF_E_ARGUMENT, "%s: stream %u cannot record part %u", dfr_cuda_of(device)->name, stream,
                         part);
    if (s->parts == NULL)
        s->parts = calloc(1, sizeof *s->parts);
    if (s->parts == NULL)
        return dfr_error_memory(error);
    if (!end_part(s) || !begin_part(s, after)) {
        (void)cudaGetLastError();
        return dfr_error(error, DF_E_DEVICE, "%s: part %u is not recorded", dfr_cuda_of(device)->name, part);
    }
    return DF_OK;
}

/* ---- recording ---- */

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
    free_parts(s);
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
