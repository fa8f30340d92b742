/* vec.c - the kernels of sum.df on the CPU. dfc puts sum.df.h, with their prototypes, before this file. */
#include <df.h>
#include <stdint.h>
#include <stdio.h>

/* Numbers that depend on seed and place alone: a multiplicative hash, its upper 24 bits as a fraction of 1. */
int generate_cpu(struct df_call *call, size_t k, float *v, int32_t seed)
{
    (void)call;
    for (size_t i = 0; i < k; i++) {
        uint32_t x = (uint32_t)i * 2654435761u + (uint32_t)seed * 2246822519u;
        x ^= x >> 15;
        x *= 2654435761u;
        v[i] = (float)(x >> 8) / 16777216.0f;
    }
    return DF_OK;
}

int add_cpu(struct df_call *call, size_t k, const float *a, const float *b, float *c)
{
    (void)call;
    for (size_t i = 0; i < k; i++)
        c[i] = a[i] + b[i];
    return DF_OK;
}

int print_cpu(struct df_call *call, size_t k, const float *v)
{
    for (size_t i = 0; i < k; i++)
        if (printf("%.6f\n", (double)v[i]) < 0)
            return df_fail(call, "cannot write element %zu", i);
    return DF_OK;
}
