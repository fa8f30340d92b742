/* bits.c - prints a line for each function of df_math.h: a hash of its results' bits on the same arguments. Every NaN counts as one.
 * C, C++ and the text that CUDA's compiler reads give the same lines. */
#include <stdio.h>
#include <string.h>

#include "loops.h"

enum { N = 40000 };
static float x_f32[N], z_f32[N], y_f32[N];
static double x_f64[N], z_f64[N], y_f64[N];

static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    return z ^ z >> 31;
}

/* All bit patterns, and numbers of size 1 to 2^20. */
static double argument(uint64_t *seed, int i)
{
    uint64_t r = next_random(seed), kind = next_random(seed) % 4;
    double number = (double)(int64_t)r * 0x1p-63;
    if (kind == 0) { memcpy(&number, &r, sizeof number); return number; }
    return number * (kind == 1 ? 1.0 : kind == 2 ? 700.0 : 0x1p20) + (i == 7 ? 1.0 : 0.0);
}

static uint64_t hash(const void *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) h = (h ^ at[i]) * 0x100000001b3u;
    return h;
}

static void print_f32(const char *name)
{
    for (int i = 0; i < N; i++) if (y_f32[i] != y_f32[i]) { uint32_t nan = 0x7fc00000u; memcpy(&y_f32[i], &nan, sizeof nan); }
    printf("%s f32 %016llx\n", name, (unsigned long long)hash(y_f32, sizeof y_f32));
}

static void print_f64(const char *name)
{
    for (int i = 0; i < N; i++) if (y_f64[i] != y_f64[i]) { uint64_t nan = 0x7ff8000000000000u; memcpy(&y_f64[i], &nan, sizeof nan); }
    printf("%s f64 %016llx\n", name, (unsigned long long)hash(y_f64, sizeof y_f64));
}

#define PRINT(name) loop_##name##_f32(y_f32, x_f32, z_f32, N); print_f32(#name); loop_##name##_f64(y_f64, x_f64, z_f64, N); print_f64(#name);

int main(void)
{
    uint64_t seed = 1;
    for (int i = 0; i < N; i++) {
        x_f64[i] = argument(&seed, i);
        z_f64[i] = argument(&seed, i);
        x_f32[i] = (float)x_f64[i];
        z_f32[i] = (float)z_f64[i];
    }
    PRINT(exp) PRINT(log) PRINT(tanh) PRINT(pow) PRINT(atan2) PRINT(sin) PRINT(cos) PRINT(tan)
    return 0;
}
