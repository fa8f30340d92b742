/* check.c - is that a factorisation? It uses nothing of what it checks.
 *
 *   check cholesky|lu MATRIX.npy FACTOR.npy
 *
 * prints ‖A - L·Lᵀ‖ / (n ‖A‖ eps), or with L·U, in Frobenius' norm, eps the unit roundoff of the files' type. Exit status 1 if it is 60 or more,
 * or if L·Lᵀ has anything above the diagonal of L. LAPACK's own tests take this bound; 10 is usual.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct matrix {
    size_t n, bytes;                    /* rows, and bytes of an element in the file */
    double *at;
};

static void fail(const char *path, const char *why)
{
    fprintf(stderr, "check: %s: %s\n", path, why);
    exit(2);
}

/* A square matrix in C order, '<f4' or '<f8'. */
static struct matrix read_npy(const char *path)
{
    struct matrix m = { 0 };
    unsigned char begin[10];
    char header[65536] = "";
    size_t columns = 0;
    FILE *file = fopen(path, "rb");
    if (!file || fread(begin, 1, 10, file) != 10 || memcmp(begin, "\x93NUMPY\1", 7) != 0)
        fail(path, "cannot be read as .npy, version 1");
    size_t length = begin[8] | (size_t)begin[9] << 8;
    if (fread(header, 1, length, file) != length)
        fail(path, "is cut off");
    m.bytes = strstr(header, "'<f8'") ? 8 : strstr(header, "'<f4'") ? 4 : 0;
    const char *shape = strstr(header, "'shape': (");
    if (!m.bytes || strstr(header, "'fortran_order': True") || !shape || sscanf(shape + 10, "%zu, %zu)", &m.n, &columns) != 2 ||
        m.n != columns || m.n == 0 || m.n > 1 << 20)
        fail(path, "is no square matrix of <f4 or <f8");
    m.at = malloc(m.n * m.n * sizeof *m.at);
    for (size_t i = 0; m.at && i < m.n * m.n; i++) {
        float single;
        if (fread(m.bytes == 8 ? (void *)&m.at[i] : &single, m.bytes, 1, file) != 1)
            fail(path, "is cut off");
        if (m.bytes == 4)
            m.at[i] = (double)single;
    }
    if (!m.at)
        fail(path, "is too large for this machine's memory");
    fclose(file);
    return m;
}

/* The sum of squares of row i of A - L·R: R is u, and L has ones on its diagonal; or R is lᵀ. */
static double row_residual(const struct matrix *a, const struct matrix *f, size_t i, int lu, double *row)
{
    size_t n = a->n;
    double sum = 0;
    memcpy(row, a->at + i * n, n * sizeof *row);
    for (size_t k = 0; k <= i && lu; k++)
        for (size_t j = k; j < n; j++)
            row[j] -= (k == i ? 1 : f->at[i * n + k]) * f->at[k * n + j];
    for (size_t j = 0; j < n && !lu; j++)
        for (size_t k = 0; k <= i && k <= j; k++)
            row[j] -= f->at[i * n + k] * f->at[j * n + k];
    for (size_t j = 0; j < n; j++)
        sum += row[j] * row[j];
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 4 || (strcmp(argv[1], "cholesky") != 0 && strcmp(argv[1], "lu") != 0)) {
        fprintf(stderr, "usage: check cholesky|lu MATRIX.npy FACTOR.npy\n");
        return 2;
    }
    int lu = argv[1][0] == 'l';
    struct matrix a = read_npy(argv[2]), f = read_npy(argv[3]);
    if (a.n != f.n || a.bytes != f.bytes)
        fail(argv[3], "has not the extents and the type of the matrix");
    double norm = 0, residual = 0, above = 0, *row = malloc(a.n * sizeof *row);
    if (!row)
        fail(argv[2], "is too large for this machine's memory");
    for (size_t i = 0; i < a.n; i++) {
        residual += row_residual(&a, &f, i, lu, row);
        for (size_t j = 0; j < a.n; j++) {
            norm += a.at[i * a.n + j] * a.at[i * a.n + j];
            above += !lu && j > i && f.at[i * a.n + j] != 0;
        }
    }
    double ratio = sqrt(residual) / ((double)a.n * sqrt(norm) * (a.bytes == 8 ? 0x1p-53 : 0x1p-24));
    printf("%s, %zu rows, %s: residual %.3g%s\n", argv[1], a.n, a.bytes == 8 ? "f64" : "f32", ratio,
           above > 0 ? ", and numbers above the diagonal" : "");
    return !(ratio < 60) || above > 0;
}
