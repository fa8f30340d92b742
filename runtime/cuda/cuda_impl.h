/* cuda_impl.h - internal interface of libdf-cuda: one CUDA device. This room implements device.h on the CUDA runtime.
 * It knows device.h and errors, and nothing of graphs and runs. Only its files include CUDA's headers. cuda.c fills
 * the table of device.h with the functions of the others.
 */
#ifndef DFR_CUDA_IMPL_H
#define DFR_CUDA_IMPL_H

#include <cuda_runtime_api.h>

#include "runtime/cuda/cuda_blas.h"
#include "runtime/device/device.h"

#define MIB 1048576.0

struct cuda_stream {
    cudaStream_t handle;
    cudaEvent_t mark;                   /* recorded before the latest copy or launch; NULL: times are not wanted */
    bool marked;                        /* `mark` is recorded, and no event has taken it over yet */
    bool recording;                     /* what is enqueued is captured for a CUDA Graph */
    struct cuda_parts *parts;           /* of that graph (cuda_graph.c); NULL: none was begun */
    void *workspace;                    /* cuBLAS's, for work on this stream; NULL: none yet */
};

struct cuda_device {
    struct dfr_device base;
    int index;
    char name[32];                      /* "cuda0", for messages */
    bool times;                         /* when work began and ended is wanted */
    bool faulted;                       /* an error has ended the context: the device is lost to this process */
    bool no_batches;                    /* the driver has no batches of copies */
    void *allocation;
    unsigned char *pool;                /* in `allocation`, aligned */
    cudaEvent_t opened;                 /* the moment that times count from; NULL: they are not wanted */
    struct dfr_cublas blas;             /* its handle is bound to the stream of the job that asked last */
    size_t workspace_bytes;             /* of each stream that has one */
    uint32_t n_streams;
    struct cuda_stream *streams;
};

static inline struct cuda_device *dfr_cuda_of(struct dfr_device *device)
{
    return (struct cuda_device *)device;
}

/* Makes the GPU this thread's current one. */
cudaError_t dfr_cuda_select(int index);
/* DF_OK for cudaSuccess; else an error of what CUDA says of `doing`. */
int dfr_cuda_check(struct cuda_device *cuda, cudaError_t status, const char *doing, struct df_error *error);
/* With timing if the device's times are wanted. Without, an event takes the GPU and the host less time. */
int dfr_cuda_make_event(struct cuda_device *cuda, cudaEvent_t *event, struct df_error *error);
/* The error of a status that is not cudaSuccess; `device` is the name for the message. */
int dfr_cuda_failed(struct df_error *error, const char *device, const char *doing, cudaError_t status);
/* Allocates memory of the selected GPU; `what` is for the message. DF_E_MEMORY: there is too little. *memory is NULL
 * then. */
int dfr_cuda_allocate(struct cuda_device *cuda, void **memory, uint64_t bytes, const char *what,
                      struct df_error *error);
/* Called before each copy, launch or replay: checks the stream, selects the device, and marks when the work begins. */
int dfr_cuda_begin_work(struct cuda_device *cuda, uint32_t stream, struct df_error *error);

/* cuda_versions.c: calls that differ among versions of the CUDA runtime. */
/* The GPU's name, cut to `size`, and the bytes of its memory. */
cudaError_t dfr_cuda_properties(uint32_t index, char *name, size_t size, uint64_t *memory_bytes);
/* The nodes that the next node of the stream's capture will depend on; *nodes is valid until the next call for it. */
cudaError_t dfr_cuda_last_nodes(cudaStream_t stream, const cudaGraphNode_t **nodes, size_t *n);
/* Makes the next node of the capture depend on these instead. */
cudaError_t dfr_cuda_go_on_after(cudaStream_t stream, cudaGraphNode_t *nodes, size_t n);
/* Enqueues at most DFR_BATCH copies by one call. Memory is read in stream order, as by cudaMemcpyAsync().
 * cudaErrorNotSupported: the linked runtime lacks that call. */
cudaError_t dfr_cuda_batch(const struct dfr_transfer *copies, uint32_t n, cudaStream_t stream);

/* Operations of device.h: cuda_machine.c */
uint32_t dfr_cuda_count(struct df_error *error);
int dfr_cuda_describe(uint32_t index, struct df_unit *unit, struct df_error *error);
int dfr_cuda_load(uint32_t index, const struct df_functions *functions, uint32_t n, bool inexact, struct df_error *error);
int dfr_cuda_free_bytes(uint32_t index, uint64_t *bytes, struct df_error *error);
uint64_t dfr_cuda_cache_bytes(uint32_t index);
int dfr_cuda_bus_id(uint32_t index, char *text, size_t size, struct df_error *error);
void *dfr_cuda_host_alloc(uint64_t bytes, struct df_error *error);
void dfr_cuda_host_free(void *memory, uint64_t bytes);
int dfr_cuda_host_register(void *memory, uint64_t bytes, struct df_error *error);
void dfr_cuda_host_unregister(void *memory, uint64_t bytes);

/* cuda_work.c */
int dfr_cuda_copy_peer(struct dfr_device *device, struct dfr_device *receiver, void *to, const void *from,
                       uint64_t bytes, uint32_t stream, struct df_error *error);
bool dfr_cuda_connect(struct dfr_device *device, struct dfr_device *receiver);
int dfr_cuda_copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                  uint32_t stream, struct df_error *error);
int dfr_cuda_copy_batch(struct dfr_device *device, enum dfr_copy kind, const struct dfr_transfer *copies, uint32_t n,
                        uint32_t stream, struct df_error *error);
int dfr_cuda_launch(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream,
                    struct df_error *error);
int dfr_cuda_stream_wait(struct dfr_device *device, uint32_t stream, struct dfr_event *event, struct df_error *error);
int dfr_cuda_drain(struct dfr_device *device, struct df_error *error);
void *dfr_cuda_blas(struct dfr_device *device, uint32_t stream, struct df_error *error);
void *dfr_cuda_blas_function(struct dfr_device *device, const char *name);
int dfr_cuda_event_create(struct dfr_device *device, struct dfr_event **event, struct df_error *error);
void dfr_cuda_event_destroy(struct dfr_device *device, struct dfr_event *event);
int dfr_cuda_event_record(struct dfr_device *device, struct dfr_event *event, uint32_t stream,
                          struct df_error *error);
int dfr_cuda_event_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error);
bool dfr_cuda_event_times(struct dfr_device *device, struct dfr_event *event, double *begin_s, double *end_s);

/* cuda_gauge.c */
int dfr_cuda_gauge(struct dfr_device *device, enum dfr_gauge gauge, uint64_t array_bytes, uint32_t turns, uint32_t stream,
                  double *work, struct df_error *error);

/* cuda_graph.c */
int dfr_cuda_record_begin(struct dfr_device *device, uint32_t stream, struct df_error *error);
int dfr_cuda_record_part(struct dfr_device *device, uint32_t stream, uint32_t part, uint32_t after,
                         struct df_error *error);
int dfr_cuda_record_end(struct dfr_device *device, uint32_t stream, struct dfr_recording **recording,
                        struct df_error *error);
/* Throws away what the stream records, if it does: host code has ended the thread, so record_end() is not called. It is
 * called by the thread that records. */
void dfr_cuda_record_drop(struct cuda_device *cuda, uint32_t stream);
int dfr_cuda_replay(struct dfr_device *device, struct dfr_recording *recording, uint32_t stream,
                    struct df_error *error);
void dfr_cuda_recording_destroy(struct dfr_device *device, struct dfr_recording *recording);

#endif
