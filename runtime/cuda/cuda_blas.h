/* cuda_blas.h - cuBLAS for kernels that ask for it (df_cublas()). The library is looked for when the first kernel
 * asks, so no program needs it to start. This file needs none of CUDA's headers.
 *
 * Memory:   a handle is given back by dfr_cublas_end(), while the GPU is selected that it was made on.
 * Threads:  a struct dfr_cublas belongs to one device and is used by that device's worker.
 * Errors:   DF_E_DEVICE with what is missing, or cuBLAS's status.
 */
#ifndef DFR_CUDA_BLAS_H
#define DFR_CUDA_BLAS_H

#include <stdbool.h>

#include "runtime/df.h"

struct dfr_cublas {                     /* all zero: not yet looked for */
    bool found;
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, cudaStream_t stream);
};

/* A handle bound to `stream`, on the GPU that is selected. */
int dfr_cublas_begin(struct dfr_cublas *blas, cudaStream_t stream, void **handle, struct df_error *error);
void dfr_cublas_end(struct dfr_cublas *blas, void *handle);

#endif
