/* gaussian.c - a Gaussian of sigma 15 as SciPy's gaussian_filter computes it, for taps.py: lines in double with their ends repeated, along columns and then
 * along rows, each element from its symmetric taps, 60 to each side. Prints the least CPU time of an element in ns.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 1024, R = 60, CALLS = 7 };

static double weight[R + 1];

static void filter_lines(const float *in, float *out, long line_step, long step)
{
    static double line[N + 2 * R];
    for (long l = 0; l < N; l++) {
        const float *from = in + l * line_step;
        float *to = out + l * line_step;
        for (long i = -R; i < N + R; i++)
            line[i + R] = from[(i < 0 ? 0 : i >= N ? N - 1 : i) * step];
        for (long i = 0; i < N; i++) {
            const double *at = line + R + i;
            double sum = at[0] * weight[0];
            for (long k = R; k > 0; k--)
                sum += (at[-k] + at[k]) * weight[k];
            to[i * step] = (float)sum;
        }
    }
}

int main(void)
{
    static float in[N * N], middle[N * N], out[N * N];
    double sum = 0, least = INFINITY;
    for (int k = -R; k <= R; k++)
        sum += exp(-k * k / 450.0);
    for (int k = 0; k <= R; k++)
        weight[k] = exp(-k * k / 450.0) / sum;
    for (long i = 0; i < (long)N * N; i++)
        in[i] = (float)(i * 7919 % 1000) / 1000;
    for (int c = 0; c < CALLS; c++) {
        struct timespec from, to;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        filter_lines(in, middle, 1, N);
        filter_lines(middle, out, N, 1);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        const double ns = 1e9 * (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec);
        least = ns / (N * N) < least ? ns / (N * N) : least;
    }
    printf("%.2f\n", out[N] >= 0 ? least : 0);
    return 0;
}
