/* bench.c - times a factorisation alone: the matrix is in memory, and the result goes to memory. It is run by bench.sh.
 *
 *   bench openblas|dfc N WORKERS TIMES     prints TIMES lines of seconds, after one factorisation that does not count
 *
 * dfc is the library of cholesky.df (dfc --lib), copies between matrix and tiles included. OpenBLAS's potrf works in place.
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cholesky.h"

#ifdef SINGLE                           /* of a library that was made with -D real=f32 */
typedef float real;
#define potrf spotrf_
#else
typedef double real;
#define potrf dpotrf_
#endif
extern void potrf(const char *uplo, const int *n, real *a, const int *lda, int *info);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: bench openblas|dfc N WORKERS TIMES\n");
        return 2;
    }
    int n = atoi(argv[2]), workers = atoi(argv[3]), ours = strcmp(argv[1], "dfc") == 0, info = 0;
    size_t elements = (size_t)n * (size_t)n;
    real *a = malloc(elements * sizeof *a), *l = malloc(elements * sizeof *l);
    struct cholesky_session *session = NULL;
    char options[64];
    snprintf(options, sizeof options, "--workers=%d --device=none", workers);
    if (!a || !l || (ours && cholesky_open(options, &session) != CHOLESKY_OK)) {
        fprintf(stderr, "bench: %s\n", a && l ? cholesky_error() : "out of memory");
        return 1;
    }
    openblas_set_num_threads(ours ? 1 : workers);
    for (size_t i = 0; i < (size_t)n; i++)
        for (size_t j = 0; j < (size_t)n; j++)
            a[i * (size_t)n + j] = (real)((i == j ? n : 0) + 1.0 / (1 + (double)(i > j ? i - j : j - i)));
    for (int t = -1; t < atoi(argv[4]) && info == 0; t++) {
        if (!ours)
            memcpy(l, a, elements * sizeof *l);
        double start = now();
        if (ours)
            info = cholesky_run(session, a, (size_t)n, l) != CHOLESKY_OK;
        else
            potrf("L", &n, l, &n, &info);
        if (t >= 0)
            printf("%.6f\n", now() - start);
    }
    if (info != 0)
        fprintf(stderr, "bench: %s\n", ours ? cholesky_error() : "potrf failed");
    if (session)
        cholesky_close(session);
    free(a);
    free(l);
    return info != 0;
}
