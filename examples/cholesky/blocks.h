/* blocks.h - what OpenBLAS has not, or has slowly, for one type: tiles.c includes this with REAL float and double.
 *
 * OpenBLAS solves triangular systems of a tile at half the speed of its products (21 of 52 GF/s for 256 x 256 doubles on a Zen 4). Here a
 * system of up to LEAF columns is solved by substitution, some rows at a time, which are packed column by column: 48 GF/s for 512 x 512. Larger
 * ones are halved. Products are made of DEPTH terms at a time: of 512 at once they take longer. A small factor is halved, too.
 */
enum { IN(DEPTH) = 256, IN(SMALL) = 64 };

/* c = c - a·b or, if b_is CblasTrans, c - a·bᵀ: a of m rows and k columns, c of n columns */
static void IN(subtract)(enum CBLAS_TRANSPOSE b_is, size_t m, size_t n, size_t k, const REAL *a, const REAL *b, size_t ldb, REAL *c)
{
    for (size_t at = 0, depth; at < k; at += depth) {
        depth = k - at < IN(DEPTH) ? k - at : IN(DEPTH);
        CBLAS(gemm)(CblasRowMajor, CblasNoTrans, b_is, (int)m, (int)n, (int)depth, -1, a + at, (int)k, b_is == CblasTrans ? b + at : b + at * ldb,
                    (int)ldb, 1, c, (int)n);
    }
}

/* c = c - a·aᵀ, the lower triangle */
static void IN(square)(size_t m, size_t k, const REAL *a, REAL *c)
{
    for (size_t at = 0, depth; at < k; at += depth) {
        depth = k - at < IN(DEPTH) ? k - at : IN(DEPTH);
        CBLAS(syrk)(CblasRowMajor, CblasLower, CblasNoTrans, (int)m, (int)depth, -1, a + at, (int)k, 1, c, (int)m);
    }
}

#ifdef __x86_64__
#define VECTOR 64
#define WIDE 4
#define FOR __attribute__((target("arch=x86-64-v4"), optimize("O3")))
#define OF(name) IN(name##_64)
#include "substitute.h"
#define FOR __attribute__((target_clones("arch=x86-64-v3", "default"), optimize("O3")))
#else
#define FOR
#endif
#define VECTOR 32
#define WIDE 3
#define OF(name) IN(name##_32)
#include "substitute.h"

/* x = x·l⁻ᵀ, x of m rows and n columns, l lower triangular */
static void IN(solve)(size_t m, size_t n, const REAL *l, size_t ldl, REAL *x, size_t ldx)
{
    if (n <= LEAF) {
#ifdef __x86_64__
        if (has_avx512())
            IN(solve_leaf_64)(m, n, l, ldl, x, ldx);
        else
#endif
            IN(solve_leaf_32)(m, n, l, ldl, x, ldx);
        return;
    }
    size_t h = n / 2;
    IN(solve)(m, h, l, ldl, x, ldx);
    CBLAS(gemm)(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)(n - h), (int)h, -1, x, (int)ldx, l + h * ldl, (int)ldl, 1,
                x + h, (int)ldx);
    IN(solve)(m, n - h, l + h * ldl + h, ldl, x + h, ldx);
}

/* a = l·lᵀ in place, a of n rows and columns, ld from row to row. LAPACK has columns where these tiles have rows, so its upper triangle is the
 * lower one here. */
static int IN(factor)(struct df_call *call, size_t n, size_t ld, REAL *a, int64_t row)
{
    int size = (int)n, from_row = (int)ld, info;
    size_t h = n / 2;
    if (n <= IN(SMALL)) {
        LAPACK(potrf_)("U", &size, a, &from_row, &info);
        return info == 0 ? DF_OK : df_fail(call, "the matrix is not positive definite: so says row %lld", (long long)row + info - 1);
    }
    if (IN(factor)(call, h, ld, a, row) != DF_OK)
        return DF_FAILED;
    IN(solve)(n - h, h, a, ld, a + h * ld, ld);
    CBLAS(syrk)(CblasRowMajor, CblasLower, CblasNoTrans, (int)(n - h), (int)h, -1, a + h * ld, (int)ld, 1, a + h * ld + h, (int)ld);
    return IN(factor)(call, n - h, ld, a + h * ld + h, row + (int64_t)h);
}

/* a = l·u in place, without pivoting, a of n rows and columns, ld from row to row */
static int IN(eliminate)(struct df_call *call, size_t n, size_t ld, REAL *a, int64_t row)
{
    size_t h = n / 2;
    if (n == 1)
        return *a != 0 && isfinite(*a) ? DF_OK
                                       : df_fail(call, "the pivot of row %lld is %g: this matrix needs pivoting", (long long)row, (double)*a);
    if (IN(eliminate)(call, h, ld, a, row) != DF_OK)
        return DF_FAILED;
    CBLAS(trsm)(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, (int)h, (int)(n - h), 1, a, (int)ld, a + h, (int)ld);
    CBLAS(trsm)(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, (int)(n - h), (int)h, 1, a, (int)ld, a + h * ld, (int)ld);
    CBLAS(gemm)(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)(n - h), (int)(n - h), (int)h, -1, a + h * ld, (int)ld, a + h, (int)ld, 1,
                a + h * ld + h, (int)ld);
    return IN(eliminate)(call, n - h, ld, a + h * ld + h, row + (int64_t)h);
}

/* Tile t goes to its place in a. A factor with a diagonal that is not finite or is 0 is refused: a GPU does not stop at such a pivot. */
static int IN(put)(struct df_call *call, size_t n, size_t h, size_t w, const REAL *t, REAL *a, size_t row, size_t column, int lower)
{
    const int past = n * n * sizeof *a > CACHE;
    for (size_t i = 0; i < h; i++) {
        size_t kept = lower && row == column ? i + 1 : w;
        REAL *to = a + (row + i) * n + column;
        if (row == column && !(isfinite(t[i * w + i]) && (lower ? t[i * w + i] > 0 : t[i * w + i] != 0)))
            return df_fail(call, "the pivot of row %zu is %g", row + i, (double)t[i * w + i]);
        place(to, t + i * w, kept * sizeof *t, past);
        place(to + kept, NULL, (w - kept) * sizeof *t, past);
    }
    for (size_t i = 0; lower && row != column && i < w; i++)
        place(a + (column + i) * n + row, NULL, h * sizeof *t, past);
    placed();
    return DF_OK;
}
