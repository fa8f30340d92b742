/* blas.c - the cpu variants of std/blas.df: matrix products by OpenBLAS, one thread per worker. dfc compiles this file
 * into programs that import it. */
#include "blas.h"

#include <cblas.h>

/* Workers are dfc's: a BLAS with threads of its own in each would only get in their way. */
int blas_open(struct df_call *call, size_t m, size_t k, size_t n, void **state)
{
    (void)call, (void)m, (void)k, (void)n;
    openblas_set_num_threads(1);
    *state = NULL;
    return DF_OK;
}

int multiply_f32_cpu(struct df_call *call, size_t m, size_t k, size_t n, const float *a, const float *b, float *c)
{
    if (blas_fits(call, m, k, n) != DF_OK)
        return DF_FAILED;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)k, b, (int)n, 0, c, (int)n);
    return DF_OK;
}

int multiply_f64_cpu(struct df_call *call, size_t m, size_t k, size_t n, const double *a, const double *b, double *c)
{
    if (blas_fits(call, m, k, n) != DF_OK)
        return DF_FAILED;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)k, b, (int)n, 0, c, (int)n);
    return DF_OK;
}
