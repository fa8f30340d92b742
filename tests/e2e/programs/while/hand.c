/* hand.c - jacobi.df as a loop in C: hand WAVES. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 200, MOST = 300 };
static double x[N][N], y[N][N], b[N][N];

static double at(int i, int j) { return i < 0 || j < 0 || i == N || j == N ? 0 : x[i][j]; }

static double round_of(void)
{
    double change = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            y[i][j] = 0.2 * (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1)) + b[i][j];
            change = fmax(change, fabs(x[i][j] - y[i][j]));
        }
    for (int i = 0; i < N * N; i++)
        x[i / N][i % N] = y[i / N][i % N];
    return change;
}

int main(int argc, char **argv)
{
    for (int wave = 0; wave < (argc > 1 ? atoi(argv[1]) : 1); wave++) {
        double change = 1e9, sum = 0;
        int rounds = 0;
        for (int i = 0; i < N * N; i++) {
            x[i / N][i % N] = 0;
            b[i / N][i % N] = (i * 7 + wave) % 11;
        }
        for (; rounds < MOST && change > 1e-4; rounds++)
            change = round_of();
        for (int i = 0; i < N * N; i++)
            sum += x[i / N][i % N];
        printf("%d rounds: %.17g, last change %.17g\n", rounds, sum, change);
    }
    return 0;
}
