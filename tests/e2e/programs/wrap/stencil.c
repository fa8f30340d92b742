/* A benchmark in the manner of PolyBench: static functions on arrays of fixed extents, and a main(). */
#include <stdio.h>
#include <stdlib.h>

#define H 12
#define W 20
#define ARRAY(name) name[H][W]

static void init_array(int h, int w, double *alpha, double ARRAY(A))
{
    *alpha = 0.25;
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            A[i][j] = (double)(i * w + j % 7) / h;
}

static void print_array(int h, int w, double ARRAY(A))
{
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            printf("%.3f%s", A[i][j], j + 1 < w ? " " : "\n");
}

static void kernel_stencil(int steps, int h, int w, double alpha, const double ARRAY(A), double ARRAY(B))
{
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            B[i][j] = A[i][j];
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < h - 1; i++)
            for (int j = 1; j < w - 1; j++)
                B[i][j] += alpha * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1] - 4 * A[i][j]);
}

int main(int argc, char **argv)
{
    double alpha;
    double(*A)[H][W] = malloc(sizeof *A), (*B)[H][W] = malloc(sizeof *B);
    init_array(H, W, &alpha, *A);
    kernel_stencil(3, H, W, alpha, *A, *B);
    print_array(H, W, *B);
    free(A);
    free(B);
    (void)argv;
    return argc > 42;
}
