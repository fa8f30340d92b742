/* matrix.c - matrices that are read from .npy, made, and written, for f32 and f64. */
#include "df_io.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_OR_MAKE(call, m, n, a, input, seed, symmetric) \
    (*(input) ? read_npy(call, m, n, a, sizeof *(a), input) \
              : _Generic((a), float *: make_f32, double *: make_f64)(call, m, n, a, seed, symmetric))
#define WRITE(call, m, n, a, output) write_npy(call, m, n, a, sizeof *(a), output)

static enum df_elem elem_of(size_t bytes) { return bytes == sizeof(float) ? DF_F32 : DF_F64; }

/* The array of a file, which has these extents and this element type. */
static int read_array(struct df_call *call, const char *path, FILE *file, size_t m, size_t n, void *a, size_t bytes)
{
    struct df_npy npy;
    char has[64];
    if (df_npy_read(call, path, file, &npy) != DF_OK)
        return DF_FAILED;
    if (npy.rank != 2)
        return df_fail(call, "'%s' has %u extents, and a matrix has 2", path, npy.rank);
    if (npy.elem != elem_of(bytes))
        return df_fail(call, "'%s' is %s, and this program computes in %s: dfc -D real=f32 or -D real=f64 makes the other", path,
                       df_extents_text(has, sizeof has, npy.elem, 2, npy.extents), bytes == sizeof(float) ? "f32" : "f64");
    if (df_extents_check(call, path, npy.elem, 2, (size_t[]){ m, n }, npy.extents) != DF_OK)
        return DF_FAILED;
    if (fread(a, bytes, m * n, file) != m * n)
        return df_fail(call, "'%s' is cut off: fewer than %zu x %zu elements are there", path, m, n);
    return DF_OK;
}

/* Without %d in the pattern each wave reads the same file. */
static int read_npy(struct df_call *call, size_t m, size_t n, void *a, size_t bytes, const char *pattern)
{
    char *path;
    FILE *file;
    if (df_path_has_wave(pattern) && df_wave_path(call, pattern, &path) != DF_OK)
        return DF_FAILED;
    if (!df_path_has_wave(pattern) && !(path = strdup(pattern)))
        return df_fail(call, "no memory for a path");
    int status = df_file_open(call, path, &file);
    if (status == DF_OK) {
        status = read_array(call, path, file, m, n, a, bytes);
        fclose(file);
    }
    free(path);
    return status;
}

static int write_npy(struct df_call *call, size_t m, size_t n, const void *a, size_t bytes, const char *pattern)
{
    struct df_output *output;
    struct df_npy npy = { .elem = elem_of(bytes), .rank = 2, .extents = { m, n } };
    char *path;
    if (!*pattern)
        return DF_OK;
    if (df_wave_path(call, pattern, &path) != DF_OK)
        return DF_FAILED;
    int status = df_output_open(call, path, &output);
    free(path);
    if (status != DF_OK)
        return status;
    FILE *file = df_output_resume(output);
    df_npy_write(file, &npy);
    fwrite(a, bytes, m * n, file);
    return df_output_close_job(call, output, 1);
}

/* In [-1/2, 1/2): a function of two numbers and the seed (splitmix64's mixer). */
static double noise(uint64_t i, uint64_t j, uint64_t seed)
{
    uint64_t z = (i * 0x9E3779B97F4A7C15u) ^ (j + 1) * 0xBF58476D1CE4E5B9u ^ (seed + 1) * 0x94D049BB133111EBu;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
}

/* Noise, with n added on the diagonal. So it is diagonally dominant and needs no pivoting, and if it is symmetric it is positive
 * definite. */
#define MAKE(NAME, TYPE)                                                                                               \
    static int NAME(struct df_call *call, size_t m, size_t n, TYPE *a, int32_t seed, int symmetric)                    \
    {                                                                                                                  \
        uint64_t s = (uint64_t)seed + (uint64_t)df_wave(call);                                                         \
        for (size_t i = 0; i < m; i++)                                                                                 \
            for (size_t j = 0; j < n; j++)                                                                             \
                a[i * n + j] = (TYPE)((i == j ? (double)n : 0) + (symmetric && j > i ? noise(j, i, s) : noise(i, j, s))); \
        return DF_OK;                                                                                                  \
    }
MAKE(make_f32, float)
MAKE(make_f64, double)
