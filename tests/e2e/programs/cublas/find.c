/* Finds cuBLAS for the major version that is given, and says where it was. */
#include <stdio.h>
#include <stdlib.h>
#include "runtime/cuda/cuda_blas.h"
int main(int argc, char **argv)
{
    struct dfr_cublas blas = { 0 };
    struct df_error error = { "" };
    const char *(*place)(void);
    char workspace[256];
    if (dfr_cublas_find(&blas, argc > 1 ? atoi(argv[1]) : 13, &error) != DF_OK) {
        printf("%s\n", error.text);
        return 1;
    }
    *(void **)&place = dfr_cublas_function(&blas, "place");
    printf("found %s%s\n", place(), dfr_cublas_function(&blas, "cublasNothing") ? ", too much" : "");
    for (int i = 0; i < 2; i++)
        if (dfr_cublas_bind(&blas, (cudaStream_t)workspace, workspace, sizeof workspace, &error) != DF_OK)
            return 1;
    dfr_cublas_end(&blas);
    return 0;
}
