/* fake.c - stand-ins for the functions of cuBLAS and, with SOLVER, of cuSOLVER that examples/cholesky/tiles.cu calls: OpenBLAS's, which count by
 * columns as those do. */
#include <cblas.h>
#include <stddef.h>

#ifdef SOLVER
extern void spotrf_(const char *, const int *, float *, const int *, int *);
extern void dpotrf_(const char *, const int *, double *, const int *, int *);
static int handle;
int cusolverDnCreate(void **h) { *h = &handle; return 0; }
int cusolverDnDestroy(void *h) { return h != &handle; }
int cusolverDnSetStream(void *h, void *stream) { (void)stream; return h != &handle; }
#define SOLVERS(C, c, T)                                                                                               \
    int cusolverDn##C##potrf_bufferSize(void *h, int uplo, int n, T *a, int lda, int *size)                            \
    {                                                                                                                  \
        (void)uplo, (void)a, (void)lda;                                                                                \
        *size = n;                                                                                                     \
        return h != &handle;                                                                                           \
    }                                                                                                                  \
    int cusolverDn##C##getrf_bufferSize(void *h, int m, int n, T *a, int lda, int *size)                               \
    {                                                                                                                  \
        (void)n, (void)a, (void)lda;                                                                                   \
        *size = 2 * m;                                                                                                 \
        return h != &handle;                                                                                           \
    }                                                                                                                  \
    int cusolverDn##C##potrf(void *h, int uplo, int n, T *a, int lda, T *work, int size, int *info)                    \
    {                                                                                                                  \
        c##potrf_(uplo ? "U" : "L", &n, a, &lda, info);                                                                \
        return h != &handle || size < n || (work[n - 1] = 0, 0);                                                       \
    }                                                                                                                  \
    int cusolverDn##C##getrf(void *h, int m, int n, T *a, int lda, T *work, int *pivots, int *info)                    \
    {                                                                                                                  \
        for (int k = 0; k < n; k++)                                                                                    \
            for (int i = k + 1; i < m; i++) {                                                                          \
                a[k * lda + i] /= a[k * lda + k];                                                                      \
                for (int j = k + 1; j < n; j++)                                                                        \
                    a[j * lda + i] -= a[k * lda + i] * a[j * lda + k];                                                 \
            }                                                                                                          \
        *info = 0;                                                                                                     \
        return h != &handle || pivots != NULL || (work[2 * m - 1] = 0, 0);                                             \
    }
SOLVERS(S, s, float)
SOLVERS(D, d, double)
#else
#define OPERATION(o) ((o) ? CblasTrans : CblasNoTrans)
#define PRODUCTS(C, c, T)                                                                                              \
    int cublas##C##gemm_v2(void *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda,          \
                           const T *b, int ldb, const T *beta, T *to, int ldc)                                         \
    {                                                                                                                  \
        cblas_##c##gemm(CblasColMajor, OPERATION(ta), OPERATION(tb), m, n, k, *alpha, a, lda, b, ldb, *beta, to, ldc); \
        return h == NULL;                                                                                              \
    }                                                                                                                  \
    int cublas##C##syrk_v2(void *h, int uplo, int t, int n, int k, const T *alpha, const T *a, int lda, const T *beta, \
                           T *to, int ldc)                                                                             \
    {                                                                                                                  \
        cblas_##c##syrk(CblasColMajor, uplo ? CblasUpper : CblasLower, OPERATION(t), n, k, *alpha, a, lda, *beta, to,  \
                        ldc);                                                                                          \
        return h == NULL;                                                                                              \
    }                                                                                                                  \
    int cublas##C##trsm_v2(void *h, int side, int uplo, int t, int unit, int m, int n, const T *alpha, const T *a,     \
                           int lda, T *b, int ldb)                                                                     \
    {                                                                                                                  \
        cblas_##c##trsm(CblasColMajor, side ? CblasRight : CblasLeft, uplo ? CblasUpper : CblasLower, OPERATION(t),    \
                        unit ? CblasUnit : CblasNonUnit, m, n, *alpha, a, lda, b, ldb);                                \
        return h == NULL;                                                                                              \
    }
PRODUCTS(S, s, float)
PRODUCTS(D, d, double)
#endif
