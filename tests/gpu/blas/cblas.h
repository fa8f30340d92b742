/* cblas.h - the one product of matrix.c, by plain loops, where programs shall run without OpenBLAS. A tile of b stays in
 * the cache while all rows of a pass by; the inner loop is along the rows of b and c, and the compiler makes vectors of
 * it, for the processor that it runs on.
 */
#ifndef DF_PLAIN_CBLAS_H
#define DF_PLAIN_CBLAS_H

#include <stddef.h>
#include <string.h>

enum { CblasRowMajor, CblasNoTrans };

static inline void openblas_set_num_threads(int threads) { (void)threads; }

#define TILE_ROWS 64                    /* of b: with TILE_COLUMNS 64 KiB */
#define TILE_COLUMNS 256

__attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
static void tile_product(size_t m, size_t k0, size_t k1, size_t j0, size_t columns, const float *a, size_t lda,
                         const float *b, size_t ldb, float *c, size_t ldc)
{
    for (size_t i = 0; i < m; i++) {
        float *restrict row = c + i * ldc + j0;
        size_t k = k0;
        for (; k + 4 <= k1; k += 4) {   /* so that a row of c is read and written once for four of b */
            const float *x = a + i * lda + k, *restrict with = b + k * ldb + j0;
            for (size_t j = 0; j < columns; j++)
                row[j] += x[0] * with[j] + x[1] * with[ldb + j] + x[2] * with[2 * ldb + j] + x[3] * with[3 * ldb + j];
        }
        for (; k < k1; k++)
            for (size_t j = 0; j < columns; j++)
                row[j] += a[i * lda + k] * b[k * ldb + j0 + j];
    }
}

/* c = a · b of row-major matrices: m × k, k × n, m × n. alpha is 1 and beta 0 in matrix.c, and nothing else is done. */
static void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                        int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    (void)order, (void)transpose_a, (void)transpose_b, (void)alpha, (void)beta;
    for (int i = 0; i < m; i++)
        memset(c + (size_t)i * (size_t)ldc, 0, (size_t)n * sizeof *c);
    for (size_t j = 0; j < (size_t)n; j += TILE_COLUMNS)
        for (size_t l = 0; l < (size_t)k; l += TILE_ROWS)
            tile_product((size_t)m, l, l + TILE_ROWS < (size_t)k ? l + TILE_ROWS : (size_t)k, j,
                         (size_t)n - j < TILE_COLUMNS ? (size_t)n - j : TILE_COLUMNS, a, (size_t)lda, b, (size_t)ldb, c,
                         (size_t)ldc);
}

#endif
