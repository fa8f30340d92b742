/* substitute.h - x = x·l⁻ᵀ for up to LEAF columns: blocks.h includes this for each size of vectors, with VECTOR, its bytes, WIDE, how many vectors of rows are
 * solved at once, FOR, what the functions are compiled for, and OF(name), their names. WIDE · ONCE sums stay in registers: of those AVX-512 has 32 of 64
 * bytes, AVX2 16 of 32 bytes.
 */
typedef REAL OF(vector) __attribute__((vector_size(VECTOR)));
enum { OF(ROWS) = WIDE * VECTOR / sizeof(REAL) };

/* Columns j to j + once of packed rows, of which those before j are solved. `once` is a constant wherever time counts. */
static inline __attribute__((always_inline)) void OF(substitute_columns)(size_t j, size_t once, const REAL *l, size_t ldl,
                                                                         OF(vector) (*x)[WIDE])
{
    OF(vector) sum[ONCE][WIDE];
    for (size_t c = 0; c < once; c++)
        for (size_t q = 0; q < WIDE; q++)
            sum[c][q] = x[j + c][q];
    for (size_t k = 0; k < j; k++)
        for (size_t c = 0; c < once; c++)
            for (size_t q = 0; q < WIDE; q++)
                sum[c][q] -= x[k][q] * l[(j + c) * ldl + k];
    for (size_t c = 0; c < once; c++)
        for (size_t q = 0; q < WIDE; q++) {
            for (size_t d = 0; d < c; d++)
                sum[c][q] -= x[j + d][q] * l[(j + c) * ldl + j + d];
            x[j + c][q] = sum[c][q] / l[(j + c) * ldl + j + c];
        }
}

/* for at most ROWS rows and LEAF columns */
FOR static void OF(substitute)(size_t rows, size_t n, const REAL *l, size_t ldl, REAL *x, size_t ldx)
{
    OF(vector) packed[LEAF][WIDE];
    REAL (*p)[OF(ROWS)] = (void *)packed;
    size_t j = 0;
    memset(packed, 0, rows < OF(ROWS) ? n * sizeof *packed : 0);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < n; c++)
            p[c][r] = x[r * ldx + c];
    for (; j + ONCE <= n; j += ONCE)
        OF(substitute_columns)(j, ONCE, l, ldl, packed);
    OF(substitute_columns)(j, n - j, l, ldl, packed);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < n; c++)
            x[r * ldx + c] = p[c][r];
}

static void OF(solve_leaf)(size_t m, size_t n, const REAL *l, size_t ldl, REAL *x, size_t ldx)
{
    for (size_t r = 0; r < m; r += OF(ROWS))
        OF(substitute)(m - r < OF(ROWS) ? m - r : OF(ROWS), n, l, ldl, x + r * ldx, ldx);
}
#undef VECTOR
#undef WIDE
#undef FOR
#undef OF
