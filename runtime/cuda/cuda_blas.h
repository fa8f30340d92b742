/* cuda_blas.h - cuBLAS for kernels that request it (df_cublas(), df_cublas_function()). cuda_work.c loads it when the
 * first kernel does so, and cuda.c frees it; building and starting a program do not need it. This header needs none
 * of CUDA's.
 *
 * Places:   searched in this order: the program itself, if it is linked with cuBLAS; the loader's path; beside
 *           $CUDA_HOME, $CUDA_PATH and the folders of $PATH, where a toolkit, conda or Python's packages have it;
 *           /usr/local/cuda; $PYTHONPATH and the user's own Python packages. The major version of the program's CUDA
 *           runtime is preferred.
 * Memory:   one handle per device, destroyed by dfr_cublas_end() while the GPU on which it was created is selected.
 *           Workspaces belong to the caller; cuBLAS forbids that calls on two streams use the same one at once.
 * Threads:  a struct dfr_cublas belongs to one device and is used by that device's worker.
 * Errors:   DF_E_DEVICE, with what is missing or cuBLAS's status.
 */
#ifndef DFR_CUDA_BLAS_H
#define DFR_CUDA_BLAS_H

#include <stdbool.h>

#include "runtime/df.h"

struct dfr_cublas {                     /* all zero: not yet looked for */
    bool searched;
    void *library;                      /* of dlopen(); NULL: there is none */
    void *handle;                       /* NULL: not yet made */
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, cudaStream_t stream);
    int (*set_workspace)(void *handle, void *workspace, size_t bytes);
};

/* Looks for cuBLAS, once. `major` is the version to prefer. */
int dfr_cublas_find(struct dfr_cublas *blas, int major, struct df_error *error);
/* A function of the library that was found; NULL: it has none of that name, or there is none. */
void *dfr_cublas_function(const struct dfr_cublas *blas, const char *name);
/* Binds the handle to a stream and its workspace, on the GPU that is selected. Makes the handle first if need be. */
int dfr_cublas_bind(struct dfr_cublas *blas, cudaStream_t stream, void *workspace, size_t bytes,
                    struct df_error *error);
void dfr_cublas_end(struct dfr_cublas *blas);

#endif
