/* blas.h - the argument checks that both variants of the kernels of blas.df share.
 *
 * Errors:   BLAS counts rows and columns in int. Larger matrices are rejected with df_fail(), before anything is read
 *           or written.
 */
#ifndef DF_STD_BLAS_H
#define DF_STD_BLAS_H

#include <limits.h>

/* Whether a matrix of m x k and one of k x n can be multiplied: DF_OK or DF_FAILED. */
static inline int blas_fits(struct df_call *call, size_t m, size_t k, size_t n)
{
    size_t most = m > k ? m : k;
    most = most > n ? most : n;
    return most <= INT_MAX ? (int)DF_OK : df_fail(call, "BLAS multiplies matrices of at most %d rows and columns, not %zu", INT_MAX, most);
}

#endif
