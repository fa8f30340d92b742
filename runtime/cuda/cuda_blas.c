/* cuda_blas.c - three functions of cuBLAS, found by dlsym() (cuda_blas.h). cuda_work.c calls this. */
#include "runtime/cuda/cuda_blas.h"

#include <dlfcn.h>
#include <stddef.h>

#include "runtime/base/error.h"

/* The program's own cuBLAS if it is linked with one, so that the handle and the kernels' calls are of one version;
 * else one that is installed. */
static bool find_library(void **library)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so",
                                        "/usr/local/cuda/lib64/libcublas.so"};

    *library = RTLD_DEFAULT;
    if (dlsym(*library, "cublasCreate_v2") != NULL)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (*library != NULL)
            return true;
    }
    return false;
}

static int find(struct dfr_cublas *blas, struct df_error *error)
{
    void *library;

    if (blas->found)
        return DF_OK;
    if (!find_library(&library))
        return dfr_error(error, DF_E_DEVICE, "no cuBLAS found (libcublas.so)");
    *(void **)&blas->create = dlsym(library, "cublasCreate_v2");
    *(void **)&blas->destroy = dlsym(library, "cublasDestroy_v2");
    *(void **)&blas->set_stream = dlsym(library, "cublasSetStream_v2");
    if (blas->create == NULL || blas->destroy == NULL || blas->set_stream == NULL)
        return dfr_error(error, DF_E_DEVICE, "the cuBLAS found lacks cublasCreate_v2 or its like");
    blas->found = true;
    return DF_OK;
}

int dfr_cublas_begin(struct dfr_cublas *blas, cudaStream_t stream, void **handle, struct df_error *error)
{
    void *made = NULL;
    int status = find(blas, error);

    if (status != DF_OK)
        return status;
    status = blas->create(&made);
    if (status != 0)
        return dfr_error(error, DF_E_DEVICE, "cuBLAS could not be begun: cublasCreate gave status %d", status);
    status = blas->set_stream(made, stream);
    if (status != 0) {
        blas->destroy(made);
        return dfr_error(error, DF_E_DEVICE, "cuBLAS could not be begun: cublasSetStream gave status %d", status);
    }
    *handle = made;
    return DF_OK;
}

void dfr_cublas_end(struct dfr_cublas *blas, void *handle)
{
    if (handle != NULL)
        blas->destroy(handle);
}
