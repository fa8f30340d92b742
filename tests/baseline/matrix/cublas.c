/* cublas.c - the calls of df.h about cuBLAS, without libdf: it is found when the program runs, and its handle follows the call's stream. */
#include "../call.h"

#include <dlfcn.h>
#include <stdio.h>

void *df_cublas_function(struct df_call *call, const char *name)
{
    static void *library;
    static const char *const names[] = { "libcublas.so.13", "libcublas.so.12", "libcublas.so.11" };
    (void)call;
    for (unsigned i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW);
    return library ? dlsym(library, name) : NULL;
}

struct cublasContext *df_cublas(struct df_call *call)
{
    static struct cublasContext *handle;
    int (*create)(struct cublasContext **) = (int (*)(struct cublasContext **))df_cublas_function(call, "cublasCreate_v2");
    int (*set_stream)(struct cublasContext *, cudaStream_t) = (int (*)(struct cublasContext *, cudaStream_t))df_cublas_function(call, "cublasSetStream_v2");
    if (!handle && (!create || !set_stream || create(&handle) != 0 || set_stream(handle, call->stream) != 0)) {
        df_fail(call, "cuBLAS cannot be used");
        return NULL;
    }
    return handle;
}

void df_log(struct df_call *call, int level, const char *format, ...)
{
    (void)call, (void)level;
    fprintf(stderr, "matrix: %s\n", format);
}
