/* hand.c - jacobi.df as a loop in C, one pass for the step and one for the residual: hand N ROUNDS. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void step(size_t n, const float *restrict x, const float *restrict b, float *restrict y)
{
#pragma omp parallel for
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const float up = i ? x[(i - 1) * n + j] : 0, down = i + 1 < n ? x[(i + 1) * n + j] : 0;
            const float left = j ? x[i * n + j - 1] : 0, right = j + 1 < n ? x[i * n + j + 1] : 0;
            y[i * n + j] = 0.25f * (up + down + left + right) + b[i * n + j];
        }
}

static float residual(size_t n, const float *restrict x, const float *restrict y)
{
    float most = 0;
#pragma omp parallel for reduction(max : most)
    for (size_t i = 0; i < n * n; i++) {
        const float d = fabsf(x[i] - y[i]);
        most = d > most ? d : most;
    }
    return most;
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? (size_t)atol(argv[1]) : 64;
    const int rounds = argc > 2 ? atoi(argv[2]) : 1;
    float *x = malloc(n * n * sizeof *x), *y = malloc(n * n * sizeof *y), *b = malloc(n * n * sizeof *b), r = 1e9f;
    if (!x || !y || !b)
        return 1;
    for (size_t i = 0; i < n * n; i++) {
        x[i] = y[i] = 0;
        b[i] = (float)((i * 7) % 11);
    }
    for (int k = 0; k < rounds && r > 0; k++) {
        step(n, x, b, y);
        r = residual(n, x, y);
        float *z = x;
        x = y;
        y = z;
    }
    printf("%.9g %.9g\n", (double)x[n * n / 2 + n / 2], (double)r);
    free(x);
    free(y);
    free(b);
    return 0;
}
