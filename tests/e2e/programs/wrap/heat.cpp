// A simulation in the manner of Rodinia: C++ with OpenMP, files, a global variable and a main() without a return.
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include "heat.h"

int n_threads = 2;

void heat(float *result, float *temp, float *power, int grid_rows, int grid_cols, int iterations)
{
    for (int t = 0; t < iterations; t++) {
#pragma omp parallel for num_threads(n_threads)
        for (int i = 0; i < grid_rows * grid_cols; i++)
            result[i] = temp[i] + STEP * power[i];
        for (int i = 0; i < grid_rows * grid_cols; i++)
            temp[i] = result[i];
    }
}

void fill(float *v, int grid_rows, int grid_cols, int seed)
{
    for (int i = 0; i < grid_rows * grid_cols; i++)
        v[i] = (float)((i * 37 + seed) % 11);
}

float total(const float *v, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

void show(const float *v, int n, char *name)
{
    std::printf("%s %.2f\n", name, v[n - 1]);
}

int main(int argc, char **argv)
{
    enum { H = 8, W = 16 };
    float *t = new float[H * W], *p = new float[H * W], *r = new float[H * W], sum;
    fill(t, H, W, 1);
    fill(p, H, W, 2);
    heat(r, t, p, H, W, argc + 2);
    sum = total(r, H * W);
    show(&sum, 1, argv[1] ? argv[1] : (char *)"total");
}
