/* hand.c - jacobi.df as a loop in C, one pass for the step and one for the residual: hand N ROUNDS. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void step(size_t n, const float *restrict x, const float *restrict b, float *restrict y, const float *zeros)
{
    for (size_t i = 0; i < n; i++) {
        const float *up = i ? x + (i - 1) * n : zeros, *down = i + 1 < n ? x + (i + 1) * n : zeros, *row = x + i * n, *right = b + i * n;
        float *to = y + i * n;
        to[0] = 0.25f * (up[0] + down[0] + 0 + row[1]) + right[0];
        for (size_t j = 1; j + 1 < n; j++)
            to[j] = 0.25f * (up[j] + down[j] + row[j - 1] + row[j + 1]) + right[j];
        to[n - 1] = 0.25f * (up[n - 1] + down[n - 1] + row[n - 2] + 0) + right[n - 1];
    }
}

static float residual(size_t n, const float *restrict x, const float *restrict y)
{
    float most = 0;
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
    float *x = malloc(n * n * sizeof *x), *y = malloc(n * n * sizeof *y), *b = malloc(n * n * sizeof *b), *zeros = calloc(n, sizeof *zeros), r = 1e9f;
    if (!x || !y || !b || !zeros || n < 2)
        return 1;
    for (size_t i = 0; i < n * n; i++) {
        x[i] = y[i] = 0;
        b[i] = (float)((i * 7) % 11);
    }
    for (int k = 0; k < rounds && r > 0; k++) {
        step(n, x, b, y, zeros);
        r = residual(n, x, y);
        float *z = x;
        x = y;
        y = z;
    }
    printf("%.9g %.9g\n", (double)x[n * n / 2 + n / 2], (double)r);
    free(x);
    free(y);
    free(b);
    free(zeros);
    return 0;
}
