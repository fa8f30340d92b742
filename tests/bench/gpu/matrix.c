/* matrix.c - the matrix graph's cpu variants for a machine without a BLAS: a product by tiles that the compiler makes
 * vectors of. Every matrix is doubly stochastic, and so are products and means of such: that is checked at the end.
 */
#include "turns.h"

#include <math.h>

#define TILE 64u

int start_cpu(struct df_call *call, size_t m, float *a, int32_t seed)
{
    (void)call;
    for (size_t i = 0; i < m * m; i++)
        a[i] = 0.5f / (float)m;
    for (size_t i = 0; i < m; i++)      /* half of it is a permutation, so that no matrix is the mean of all */
        a[i * m + (i + (size_t)seed + 1) % m] += 0.5f;
    return DF_OK;
}

int ma_cpu(struct df_call *call, size_t m, const float *a, const float *b, float *c)
{
    (void)call;
    for (size_t i = 0; i < m * m; i++)
        c[i] = (a[i] + b[i]) * 0.5f;
    return DF_OK;
}

/* Rows of c from `row` to `last`, by the rows of b from k to `k_last`. */
static void tile(size_t m, size_t row, size_t last, size_t k, size_t k_last, const float *restrict a,
                 const float *restrict b, float *restrict c)
{
    for (size_t i = row; i < last; i++)
        for (size_t l = k; l < k_last; l++) {
            float by = a[i * m + l];

            for (size_t j = 0; j < m; j++)
                c[i * m + j] += by * b[l * m + j];
        }
}

int mm_cpu(struct df_call *call, size_t m, const float *a, const float *b, float *c)
{
    (void)call;
    memset(c, 0, m * m * sizeof *c);
    for (size_t i = 0; i < m; i += TILE)
        for (size_t k = 0; k < m; k += TILE)
            tile(m, i, i + TILE < m ? i + TILE : m, k, k + TILE < m ? k + TILE : m, a, b, c);
    return DF_OK;
}

/* Only the first and the last row are looked at: a sum over all of it would take longer than a GPU's product. */
int look_cpu(struct df_call *call, size_t m, const float *a, int64_t last, int32_t warm_ms)
{
    double first = 0, final = 0;

    for (size_t j = 0; j < m; j++) {
        first += a[j];
        final += a[(m - 1) * m + j];
    }
    if (fabs(first - 1) > 1e-2 || fabs(final - 1) > 1e-2)
        return df_fail(call, "rows add up to %g and %g, not to 1", first, final);
    turns_note(call, last, warm_ms);
    return DF_OK;
}
