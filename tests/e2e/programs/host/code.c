/* Kernels whose results depend on locale, rounding, denormal numbers and the precision of the x87 unit, and which say something on stderr. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int code_cpu(struct df_call *call, size_t n, const float *a, float *b, double gain);
int wide_cpu(struct df_call *call, size_t n, const float *a, double *b);

int code_cpu(struct df_call *call, size_t n, const float *a, float *b, double gain)
{
    const double read = strtod("0.75", NULL);
    char text[32];
    (void)call;
    fputs("noise\n", stderr);
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%.2f", gain);
        b[i] = (float)(a[i] * read / 3 + (text[1] == '.' ? gain : 1000));
    }
    return DF_OK;
}

int wide_cpu(struct df_call *call, size_t n, const float *a, double *b)
{
    volatile double small = 1e-310, zero = 0, halved = small * 0.5, invalid = zero / zero;
    volatile long double third = 1.0L;
    (void)call;
    third /= 3;
    for (size_t i = 0; i < n; i++)
        b[i] = (double)a[i] / 3 + (halved == 0) + (invalid == invalid) + (third * 3 == 1 ? 0.25 : 0);
    return DF_OK;
}
