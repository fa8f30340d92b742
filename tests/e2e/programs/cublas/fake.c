/* A stand-in for cuBLAS: PLACE is where this copy lies. It records what is called, and multiplies on the host. */
#include <stddef.h>
#include <stdio.h>
#ifdef LT
int lt(void);
int lt(void) { return 0; }
#else
int lt(void);
static int handle;
static void *bound;
const char *place(void);
const char *place(void) { return lt() == 0 ? PLACE : "?"; }
int cublasCreate_v2(void **made) { printf("create\n"); *made = &handle; return 0; }
int cublasDestroy_v2(void *given) { printf("destroy\n"); return given == &handle ? 0 : 1; }
int cublasSetStream_v2(void *given, void *stream) { bound = NULL; printf("stream %d\n", stream != NULL); return given == &handle ? 0 : 1; }
#ifndef INCOMPLETE
int cublasSetWorkspace_v2(void *given, void *workspace, size_t bytes)
{
    bound = workspace;
    printf("workspace %zu\n", bytes);
    return given == &handle ? 0 : 1;
}
#endif
#define GEMM(name, told, real) \
int name(void *given, int ta, int tb, int m, int n, int k, const real *alpha, const real *a, int lda, const real *b, int ldb, \
         const real *beta, real *c, int ldc) \
{ \
    printf(told " %d\n", m); \
    if (given != &handle || !bound || ta || tb) \
        return 7; \
    for (int j = 0; j < n; j++) \
        for (int i = 0; i < m; i++) { \
            real sum = 0; \
            for (int l = 0; l < k; l++) \
                sum += a[i + l * lda] * b[l + j * ldb]; \
            c[i + j * ldc] = *alpha * sum + (*beta != 0 ? *beta * c[i + j * ldc] : 0); \
        } \
    return 0; \
}
GEMM(cublasSgemm_v2, "sgemm", float)
GEMM(cublasDgemm_v2, "dgemm", double)
#endif
