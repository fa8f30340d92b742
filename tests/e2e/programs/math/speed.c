/* speed.c - nanoseconds an element of exp in a loop, ours and the C library's, and how many times ours is faster. */
#include <stdio.h>
#include <time.h>

#include "loops.h"

float expf(float x);
double exp(double x);

enum { N = 4096, ROUNDS = 400 };
static float x_f32[N], y_f32[N];
static double x_f64[N], y_f64[N];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The quickest of the rounds. */
#define TIME(best, what) do { best = 1e18; for (int round = 0; round < ROUNDS; round++) { double begin = now(), took; what; \
    __asm__ volatile("" ::: "memory"); took = now() - begin; if (took < best) best = took; } } while (0)

int main(void)
{
    double ours, library;
    for (int i = 0; i < N; i++) x_f32[i] = (float)(x_f64[i] = (double)(i * 7919 % N) * 20.0 / N - 10.0);
    TIME(ours, loop_exp_f32(y_f32, x_f32, x_f32, N));
    TIME(library, for (int i = 0; i < N; i++) y_f32[i] = expf(x_f32[i]));
    printf("exp f32 %.2f ns, the library's %.2f ns: %.2f times faster\n", ours / N, library / N, library / ours);
    TIME(ours, loop_exp_f64(y_f64, x_f64, x_f64, N));
    TIME(library, for (int i = 0; i < N; i++) y_f64[i] = exp(x_f64[i]));
    printf("exp f64 %.2f ns, the library's %.2f ns: %.2f times faster\n", ours / N, library / N, library / ours);
    return 0;
}
