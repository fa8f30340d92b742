/* cuda_impl.h - one CUDA device, as the files of libdf-cuda see it: cuda.c (all but graphs) and cuda_graph.c. They
 * alone include CUDA's headers. */
#ifndef DFR_CUDA_IMPL_H
#define DFR_CUDA_IMPL_H

#include <cuda_runtime_api.h>

#include "runtime/cuda_blas.h"
#include "runtime/device.h"

struct cuda_stream {
    cudaStream_t handle;
    cudaEvent_t mark;                   /* recorded before the latest copy or launch */
    bool marked;                        /* and not yet taken over by an event */
    bool recording;                     /* what is enqueued is captured */
    void *blas;
};

struct cuda_device {
    struct dfr_device base;
    int index;
    char name[32];                      /* "cuda0", for messages */
    void *allocation;
    unsigned char *pool;
    cudaEvent_t opened;
    struct dfr_cublas blas;
    uint32_t n_streams;
    struct cuda_stream *streams;
};

static inline struct cuda_device *dfr_cuda_of(struct dfr_device *device)
{
    return (struct cuda_device *)device;
}

/* Makes the GPU this thread's current one. */
cudaError_t dfr_cuda_select(int index);
/* DF_OK, or what CUDA says of `doing`. */
int dfr_cuda_check(struct cuda_device *cuda, cudaError_t status, const char *doing, struct df_error *error);
/* Before each copy, launch or replay: its device and stream are right, and where it begins is marked. */
int dfr_cuda_begin_work(struct cuda_device *cuda, uint32_t stream, struct df_error *error);

/* cuda_graph.c: operations of device.h */
int dfr_cuda_record_begin(struct dfr_device *device, uint32_t stream, struct df_error *error);
int dfr_cuda_record_end(struct dfr_device *device, uint32_t stream, struct dfr_recording **recording,
                        struct df_error *error);
int dfr_cuda_replay(struct dfr_device *device, struct dfr_recording *recording, uint32_t stream,
                    struct df_error *error);
void dfr_cuda_recording_destroy(struct dfr_device *device, struct dfr_recording *recording);

#endif
