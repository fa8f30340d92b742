/* speed.c - nanoseconds an element of exp, sin and tan in a loop, ours and the C library's, and how many times ours is faster. The arguments are
 * from -10 to 10. */
#include <stdio.h>
#include <time.h>

#include "loops.h"

float expf(float x), sinf(float x), tanf(float x);
double exp(double x), sin(double x), tan(double x);

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

#define COMPARE(name, type, library_name) do { double ours, library; \
    TIME(ours, loop_##name##_##type(y_##type, x_##type, x_##type, N)); \
    TIME(library, for (int i = 0; i < N; i++) y_##type[i] = library_name(x_##type[i])); \
    printf("%s %s %.2f ns, the library's %.2f ns: %.2f times faster\n", #name, #type, ours / N, library / N, library / ours); } while (0)

int main(void)
{
    for (int i = 0; i < N; i++) x_f32[i] = (float)(x_f64[i] = (double)(i * 7919 % N) * 20.0 / N - 10.0);
    COMPARE(exp, f32, expf);
    COMPARE(exp, f64, exp);
    COMPARE(sin, f32, sinf);
    COMPARE(sin, f64, sin);
    COMPARE(tan, f32, tanf);
    COMPARE(tan, f64, tan);
    return 0;
}
