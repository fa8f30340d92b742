/* matrix.c - kernels of the matrix micro-benchmark on the CPU: OpenBLAS with one thread per worker.
 *
 * The initial matrices are permutation matrices: a product of such is one again, and exact in float, so every policy
 * and device must give the same digits however deep the graph; sums are halved, which keeps all entries in 0 … 1.
 */
#include <cblas.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The workers are dfc's: a BLAS that starts threads of its own inside each of them would only get in their way. */
__attribute__((constructor)) static void one_thread(void) { openblas_set_num_threads(1); }

/* Row i has its 1 in column p(i), p a Fisher-Yates shuffle by a linear congruential generator (Knuth's MMIX). The
 * permutation grows row by row in the matrix itself: p(i) is held in a[i * m] until the row is written. */
int start_cpu(struct df_call *call, size_t m, float *a, int32_t seed)
{
    uint64_t state = (uint64_t)(uint32_t)seed * 0x9E3779B97F4A7C15u + 1;
    if (m >= (size_t)1 << 24)
        return df_fail(call, "a matrix of %zu rows is too large: column numbers pass through float", m);
    for (size_t i = 0; i < m; i++)
        a[i * m] = (float)i;
    for (size_t i = m - 1; i > 0; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t j = (size_t)((state >> 33) % (i + 1));
        float swap = a[i * m];
        a[i * m] = a[j * m];
        a[j * m] = swap;
    }
    for (size_t i = 0; i < m; i++) {
        size_t column = (size_t)a[i * m];
        memset(a + i * m, 0, m * sizeof *a);
        a[i * m + column] = 1;
    }
    return DF_OK;
}

int ma_cpu(struct df_call *call, size_t m, const float *a, const float *b, float *c)
{
    (void)call;
    for (size_t i = 0; i < m * m; i++)
        c[i] = (a[i] + b[i]) * 0.5f;
    return DF_OK;
}

int mm_cpu(struct df_call *call, size_t m, const float *a, const float *b, float *c)
{
    (void)call;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)m, (int)m, 1, a, (int)m, b, (int)m, 0, c,
                (int)m);
    return DF_OK;
}

/* One line a matrix: the sum of its entries and the sum weighted by position, which tells permutations apart. */
int report_cpu(struct df_call *call, size_t m, const float *a, const char *name)
{
    double sum = 0, weighted = 0;
    for (size_t i = 0; i < m * m; i++) {
        sum += a[i];
        weighted += a[i] * (double)(i % 65521);
    }
    if (printf("%s %.10g %.10g\n", name, sum, weighted) < 0)
        return df_fail(call, "can't write to standard output");
    return DF_OK;
}
